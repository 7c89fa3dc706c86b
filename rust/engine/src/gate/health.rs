//! Rules for what a model must know of somebody's health: what they are allergic to, have, take, and may not eat.

use super::Category;
use super::clauses::MOST_CLAUSES;
use super::habits::AT_ONCE;
use super::lexicon::{FILLERS, TIMES};
use super::lists::lists;
use super::medicine;
use super::reading::Reading;
use super::rules;
use super::sentence::{ENDS_VALUE, Sentence};
use super::values::PREPOSITIONS;
use super::words::{Word, among, has, starts, words};

lists! { "health":
    /// Conditions of which a model should know before it recommends anything.
    pub(super) CONDITIONS,
    /// More of them, of several words.
    CONDITION_PHRASES,
    /// Words before "of" and "with" that somebody has of a condition: "a history of asthma", "problems with anemia".
    OF_CONDITION,
    /// Words behind the name of a condition with which it is one still: "asthma attacks".
    WITH_CONDITION,
    /// Words for how much somebody has a condition.
    DEGREES,
    /// Words that follow "I can't eat" and name nothing to eat.
    NO_FOOD,
    /// Words that begin a sentence about one's health.
    OF_HEALTH,
    /// Words that begin a sentence about what one does not eat.
    EATS_NO,
    /// Words that begin a sentence about what one may eat again.
    EATS,
    /// Food that somebody may have to avoid.
    FOODS,
    /// Words behind food that somebody does not eat.
    REFUSED,
    /// How somebody says how they react to what they eat.
    REACTS,
    /// Words that follow "I take" and "I'm on", and none is a medicine.
    pub(super) NO_MEDICINE,
    /// How often a medicine is taken.
    pub(super) OFTEN,
    /// Units of a medicine.
    pub(super) DOSES,
    /// Words of what is not sure, acted, or for a time.
    DOUBTS,
}

/// The reading of a sentence that has one of these forms.
pub(super) fn of_health(s: &Sentence<'_>) -> Option<Reading> {
    diet(s).or_else(|| aided(s)).or_else(|| health(s)).or_else(|| medicated(s)).or_else(|| avoids(s)).or_else(|| eats_again(s))
}

/// "I'm severely allergic to peanuts".
pub(super) fn allergic(s: &Sentence<'_>) -> Option<Reading> {
    let (how, at) = allergy(s)?;
    let (value, end) = s.value(at)?;
    let text = format!("The user is {how}allergic to {value}.");
    Some(Reading::new(Category::Constraint, "allergy").told(text, !s.says_more(end)))
}

/// How somebody says what they are, and were before.
const I_AM: [&str; 6] = ["i'm", "i am", "i've always been", "i have always been", "i've been", "i have been"];

/// Whether a word says how much somebody has a condition.
#[must_use]
pub fn is_degree(word: &str) -> bool {
    among(&DEGREES, word)
}

/// Whether a value is a condition, whatever its degree: who is not severely allergic may be allergic.
pub(super) fn is_condition(value: &str) -> bool {
    let words = words(value);
    !words.iter().any(|word| is_degree(&word.lower)) && is_for_condition(&words)
}

pub(super) fn is_for_condition(words: &[Word]) -> bool {
    words.iter().any(|word| among(&CONDITIONS, &word.lower)) || CONDITION_PHRASES.iter().any(|phrase| has(words, phrase))
}

/// Whether a text says that somebody is allergic to something.
#[must_use]
pub fn is_allergy(text: &str) -> bool {
    text.contains(" allergic to ") && !text.contains(" not ")
}

/// How somebody is allergic, and where what they are allergic to begins.
fn allergy(s: &Sentence<'_>) -> Option<(String, usize)> {
    if let Some(at) = starts(s.words, 0, "i have an allergy to") {
        return Some((String::new(), at));
    }
    let at = I_AM.iter().find_map(|opening| starts(s.words, 0, opening))?;
    let at = at + usize::from(["also", "actually", "still"].contains(&s.word(at)));
    let degree = usize::from(is_degree(s.word(at)));
    let how = if degree > 0 { format!("{} ", s.word(at)) } else { String::new() };
    starts(s.words, at + degree, "allergic to").map(|behind| (how, behind))
}

/// Aids that are used by those who need them.
const AIDS: [&str; 9] = ["wheelchair", "cane", "crutches", "walker", "pacemaker", "inhaler", "epipen", "insulin", "braille"];
/// Aids of two words.
const AID_PHRASES: [&str; 5] = ["hearing aid", "hearing aids", "insulin pump", "screen reader", "oxygen tank"];
/// How somebody says that they have or use one.
const HAS_AID: [&str; 9] = ["i use a", "i use an", "i need a", "i wear a", "i have a", "i have an", "i've got a", "i wear", "i use"];

/// Verbs of a thing that harms those who cannot stand it.
const HARMS: [&str; 4] = ["gives me", "give me", "makes me", "make me"];
/// Words for that harm.
const SYMPTOMS: [&str; 13] = [
    "palpitations",
    "rash",
    "rashes",
    "hives",
    "migraine",
    "migraines",
    "asthma",
    "sick",
    "ill",
    "nauseous",
    "sneeze",
    "itch",
    "anaphylaxis",
];

/// "Latex gives me a rash": what somebody must avoid, said of it.
fn avoids(s: &Sentence<'_>) -> Option<Reading> {
    if told_of_food(s) {
        return Some(Reading::new(Category::Constraint, "health"));
    }
    let harm = (1..s.words.len().min(4)).find_map(|at| HARMS.iter().find_map(|harm| starts(s.words, at, harm)));
    let harmed = harm.is_some_and(|at| s.words.len() <= at + 3 && s.words[at..].iter().any(|word| among(&SYMPTOMS, &word.lower)));
    (harmed && !["it", "that", "this", "you"].contains(&s.word(0))).then(|| Reading::new(Category::Constraint, "health"))
}

/// "No peanuts please", "peanuts are a no-go for me", "I break out in hives from strawberries", "ask me first, shellfish makes me sick", "as
/// a diabetic I have to watch sugar".
fn told_of_food(s: &Sentence<'_>) -> bool {
    let is_food = |at: usize| among(&FOODS, s.word(at));
    let symptoms = |at: usize| s.words[at..s.words.len().min(at + 3)].iter().any(|word| among(&SYMPTOMS, &word.lower));
    let over = |at: usize| at >= s.words.len() || s.words[at].is_mark() || s.parted(at);
    let behind = |at: usize, phrases: &[&str]| phrases.iter().find_map(|phrase| starts(s.words, at, phrase));
    // The "no" is read as one of the words that stand before what is claimed.
    let before = |at: usize| s.text[..s.words[at].start].trim_end_matches(' ').rsplit(char::is_whitespace).next();
    let no = || before(0).is_some_and(|word| word.eq_ignore_ascii_case("no"));
    let banned = is_food(0) && no() && (over(1) || behind(1, &["please", "for me", "in my food"]).is_some_and(over));
    let refused = is_food(0) && behind(1, &REFUSED).is_some_and(over);
    let reacts = behind(0, &REACTS).is_some_and(|at| (at..s.words.len().min(at + 4)).any(is_food));
    let harms = |at: usize| is_food(at) && behind(at + 1, &HARMS).is_some_and(symptoms) && (at == 0 || s.parted(at));
    let being = behind(0, &["as a", "as an", "being a", "being"]).filter(|at| among(&CONDITIONS, s.word(*at)));
    let own = being.is_some_and(|at| ["i", "i'm", "my"].contains(&s.word(at + 1)));
    banned || refused || reacts || own || (0..s.words.len()).any(harms)
}

/// "I don't eat pork", "I can't have dairy", "I can't have grapefruit because of my statins".
fn diet(s: &Sentence<'_>) -> Option<Reading> {
    let at = EATS_NO.iter().find_map(|opening| starts(s.words, 0, opening))?;
    let has = has(&s.words[..at], "have");
    let is_food = names_food(s, at) && (!has || s.words[at..].iter().any(|word| among(&FOODS, &word.lower)));
    is_food.then(|| Reading::new(Category::Constraint, "health"))
}

fn names_food(s: &Sentence<'_>, at: usize) -> bool {
    s.words.get(at).is_some_and(|word| !word.is_mark() && !among(&NO_FOOD, &word.lower))
}

/// "I can eat gluten now", "I eat meat again": what was to be avoided is so no longer. The whole of it must be denied to end it.
fn eats_again(s: &Sentence<'_>) -> Option<Reading> {
    let at = EATS.iter().find_map(|opening| starts(s.words, 0, opening)).filter(|at| names_food(s, *at))?;
    let (value, end) = s.value(at)?;
    let again = [" again", " after all", " once more"].iter().find_map(|again| value.strip_suffix(again));
    let is_new = again.is_some() || s.word(end) == "now" || s.word(at - 2) == "now";
    // "I eat lunch now" and "I drink a coffee now" pass.
    if again.is_none() && s.word(1) != "can" && (among(&AT_ONCE, s.word(at)) || ["a", "an", "my", "the", "some"].contains(&s.word(at))) {
        return None;
    }
    let is_food = s.word(at - 1) != "have" || s.words[at..end].iter().any(|word| among(&FOODS, &word.lower));
    let (verb, can) = (s.word(at - 1), s.word(1) == "can");
    let text = format!("The user {}{verb}{} {}.", if can { "can " } else { "" }, if can { "" } else { "s" }, again.unwrap_or(&value));
    (is_new && is_food).then(|| Reading::new(Category::Semantic, "not any more").told(text, !s.says_more(end)))
}

/// "I use a wheelchair", "I've got a hearing aid".
fn aided(s: &Sentence<'_>) -> Option<Reading> {
    let at = HAS_AID.iter().find_map(|opening| starts(s.words, 0, opening))?;
    let hears = AID_PHRASES.iter().any(|aid| starts(s.words, at, aid).is_some());
    let over = at + 3 > s.words.len() || s.parted(at + 1);
    (hears || among(&AIDS, s.word(at)) && over).then(|| Reading::new(Category::Constraint, "health"))
}

/// "I have celiac disease", "I'm asthmatic", "I'm a bit allergic to peanuts".
fn health(s: &Sentence<'_>) -> Option<Reading> {
    let reading = Reading::new(Category::Constraint, "health");
    let at = OF_HEALTH.iter().find_map(|opening| starts(s.words, 0, opening))?;
    let end = before_so(s, at);
    if s.negated(at) || end > 16 || end < s.words.len() && is_doubted_before_so(s, end) {
        return None;
    }
    let near = &s.words[at..end.min(at + 5)];
    let condition = near.iter().position(|word| among(&CONDITIONS, &word.lower));
    // "I'm diabetic, so no sugar" doubts nothing.
    let over = (at + 1..at + near.len()).find(|next| s.parted(*next) && condition.is_some_and(|place| at + place < *next));
    let near = &near[..over.map_or(near.len(), |over| over - at)];
    let phrase = CONDITION_PHRASES.iter().find_map(|phrase| (0..near.len()).find(|from| starts(near, *from, phrase).is_some()));
    let doubted = near.iter().any(|word| among(&["no", "not", "question", "if", "friend", "about"], &word.lower));
    let diagnosed = has(&s.words[..at], "diagnosed");
    if let Some(to) = condition.filter(|place| near[*place].lower == "allergic").and_then(|place| starts(s.words, at + place + 1, "to")) {
        let of_another = has_opened(s, at) && s.word(at) != "been"; // "I have a son allergic to nuts"
        return if of_another { None } else { allergic_to(s, at, to) };
    }
    let found = condition.into_iter().chain(phrase).min();
    let is_own = found.is_none_or(|place| is_of_user(s, at, at + place));
    ((found.is_some() || diagnosed) && !doubted && is_own).then_some(reading)
}

/// Where a clause is over behind which "so" says what follows of it: "I'm lactose intolerant | so please no dairy". Its end where none
/// does.
pub(super) fn before_so(s: &Sentence<'_>, from: usize) -> usize {
    let concludes = |at: &usize| s.word(*at) == "so" && at + 2 < s.words.len();
    (from + 1..s.words.len()).find(concludes).unwrap_or(s.words.len())
}

/// Whether what is said before "so" is not sure, acted, or for a time: "I'm probably celiac | so no bread", "write a scene: I'm diabetic |
/// so no cake", "I'm intolerant of fools | so no excuses".
fn is_doubted_before_so(s: &Sentence<'_>, end: usize) -> bool {
    let before = &s.text[..s.words[end - 1].end];
    let begin = before.rfind(['.', '!', '?', '\n']).map_or(0, |sign| sign + 1);
    words(&before[begin..]).iter().any(|word| among(&DOUBTS, &word.lower))
}

/// Whether the opening that ends before a word says what somebody has, and not what they are.
fn has_opened(s: &Sentence<'_>, at: usize) -> bool {
    ["have", "had", "got"].contains(&s.word(at - 1))
}

/// "I'm a bit allergic to peanuts": `to` is the place of what is behind "to".
fn allergic_to(s: &Sentence<'_>, at: usize, to: usize) -> Option<Reading> {
    let (value, end) = s.value(to)?;
    let degree = s.between(at, to - 2).map(|degree| degree.to_lowercase()).unwrap_or_default();
    let adds = ["also", "too", "actually", "just", "and"].iter().any(|word| degree == *word) || degree.is_empty();
    let degree = if adds { String::new() } else { format!("{degree} ") };
    let text = format!("The user is {degree}allergic to {value}.");
    Some(Reading::new(Category::Constraint, "health").told(text, !s.says_more(end)))
}

/// Whether a condition is the user's: "I have a talk on asthma" and "I have a blind dog" say of something else, and who is blind to something
/// sees. `at` is the place behind the opening.
fn is_of_user(s: &Sentence<'_>, at: usize, condition: usize) -> bool {
    const BEFORE: [&str; 12] = ["on", "with", "of", "for", "to", "in", "at", "by", "from", "against", "over", "who"];
    if !has_opened(s, at) {
        return !(["blind", "deaf"].contains(&s.word(condition)) && s.word(condition + 1) == "to");
    }
    let is_other = |place: usize| among(&BEFORE, s.word(place)) && !among(&OF_CONDITION, s.word(place - 1));
    let is_own = condition > at && s.word(condition - 1) == "my";
    (is_own || !(at + 1..condition).any(is_other)) && is_head(s, at, condition)
}

/// Whether no other noun stands behind a condition and makes it say of which kind that noun is: "a cancer ward", "deaf aunts". Where no article
/// stands before it, only an adjective does so: "I have diabetes mellitus".
fn is_head(s: &Sentence<'_>, at: usize, condition: usize) -> bool {
    let phrase = CONDITION_PHRASES.iter().find_map(|phrase| starts(s.words, condition, phrase)).unwrap_or(condition + 1);
    let behind = (phrase..s.words.len()).find(|at| !among(&CONDITIONS, s.word(*at))).unwrap_or(s.words.len());
    let describes = ["ic", "ant", "deaf", "blind"].iter().any(|end| s.word(behind - 1).ends_with(end));
    let article = (at..condition).any(|place| ["a", "an", "the", "this", "some"].contains(&s.word(place)));
    let word = s.word(behind);
    let takes_object = word.ends_with("ing") && among(&["my", "the", "our", "both", "me"], s.word(behind + 1)); // "affecting my eyes"
    let goes_on = || {
        [&WITH_CONDITION[..], &FILLERS, &TIMES, &PREPOSITIONS, &ENDS_VALUE].iter().any(|words| among(words, word))
            || takes_object
            || ["ly", "ed"].iter().any(|end| word.ends_with(end))
    };
    let ends = behind == s.words.len() || s.words[behind].is_mark() || s.words[behind].is_number() || s.parted(behind);
    !describes && !article || ends || goes_on()
}

/// "I take warfarin every day", "I was prescribed enalapril".
fn medicated(s: &Sentence<'_>) -> Option<Reading> {
    taken(s).map(|_| Reading { importance: 800, ..Reading::new(Category::Constraint, "medicine") })
}

/// Where the medicine begins that a sentence says the user takes: it is one by how often it is taken, or how much of it.
pub(super) fn taken(s: &Sentence<'_>) -> Option<usize> {
    let prescribed =
        ["i was prescribed", "i've been prescribed", "i got prescribed"].iter().find_map(|opening| starts(s.words, 0, opening));
    let at = prescribed.or_else(|| {
        ["i take", "i'm taking", "i am taking", "i'm on", "i am on", "i have to take"]
            .iter()
            .find_map(|opening| starts(s.words, 0, opening))
    })?;
    // "I take 200 g of flour" is of a recipe.
    let in_grams = |end: usize| s.word(end - 1).trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == '.') == "g";
    let known = s.words.iter().any(|word| medicine::is_medicine(&word.lower));
    let dosed = (at..s.words.len()).filter_map(|at| medicine::dose(s, at)).any(|end| known || !in_grams(end));
    let often = (at + 1..s.words.len().min(at + 5)).any(|at| OFTEN.iter().any(|often| starts(s.words, at, often).is_some()));
    let is_medicine = s.words.get(at).is_some_and(|word| !word.is_mark() && !among(&NO_MEDICINE, &word.lower));
    let is_known = s.words.get(at).is_some_and(|word| medicine::is_medicine(&word.lower)) && s.words.len() <= at + 2;
    let says_so = prescribed.is_some() || dosed || often || is_known;
    (says_so && is_medicine && s.words.len() <= 16).then_some(at)
}

/// The first clause of a sentence that tells of somebody's health, and where it begins: "shorten this for me, | I'm allergic to
/// nuts".
pub(super) fn told_anywhere(s: &Sentence<'_>) -> Option<(Reading, usize)> {
    let joins = |at: usize| among(&["and", "but", "so", "because", "since", "as", "that"], s.word(at));
    let begins = |at: &usize| *at == 0 || s.parted(*at) || joins(at - 1);
    let opens = |at: &usize| begins(at) && (*at == 0 || rules::opens_clause(&s.words[*at..]));
    let read = |at: usize| rules::read(&Sentence { text: s.text, words: &s.words[at..] }).map(|reading| (reading, at));
    (0..s.words.len()).filter(opens).take(MOST_CLAUSES).filter_map(read).find(|(reading, _)| reading.is_of_health())
}
