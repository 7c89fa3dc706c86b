//! Rules for what a model must know of somebody's health: what they are allergic to, have, take, and may not eat.

use super::lists::lists;
use super::rules::{self, Reading};
use super::sentence::Sentence;
use super::values::LIVING;
use super::words::{among, has, starts};
use super::{Category, MOST_CLAUSES};

lists! { "health":
    /// Conditions of which a model should know before it recommends anything.
    pub(super) CONDITIONS,
    /// More of them, of several words.
    CONDITION_PHRASES,
    /// Words that follow "I can't eat" and name nothing to eat.
    NO_FOOD,
    /// Words that begin a sentence about one's health.
    OF_HEALTH,
    /// Words that begin a sentence about what one does not eat.
    EATS_NO,
    /// Food that somebody may have to avoid.
    FOODS,
    /// Words that follow "I take" and "I'm on", and none is a medicine.
    NO_MEDICINE,
    /// How often a medicine is taken.
    OFTEN,
    /// Units of a medicine.
    DOSES,
}

/// The reading of a sentence that has one of these forms.
pub(super) fn of_health(s: &Sentence<'_>) -> Option<Reading> {
    health(s).or_else(|| medicated(s)).or_else(|| avoids(s))
}

/// "I'm severely allergic to peanuts".
pub(super) fn allergic(s: &Sentence<'_>) -> Option<Reading> {
    let (how, at) = allergy(s)?;
    let (value, end) = s.value(at)?;
    let text = format!("The user is {how}allergic to {value}.");
    Some(Reading::new(Category::Constraint, "allergy").told(text, !s.says_more(end)))
}

/// How somebody says what they are, and were before.
const I_AM: [&str; 7] = ["i'm", "i am", "im", "i've always been", "i have always been", "i've been", "i have been"];

/// How somebody is allergic, and where what they are allergic to begins.
fn allergy(s: &Sentence<'_>) -> Option<(String, usize)> {
    const HOW: [&str; 9] = ["severely", "very", "highly", "extremely", "seriously", "deathly", "mildly", "slightly", "really"];
    if let Some(at) = starts(s.words, 0, "i have an allergy to") {
        return Some((String::new(), at));
    }
    let at = I_AM.iter().find_map(|opening| starts(s.words, 0, opening))?;
    let at = at + usize::from(["also", "actually", "still"].contains(&s.word(at)));
    let degree = usize::from(among(&HOW, s.word(at)));
    let how = if degree > 0 { format!("{} ", s.word(at)) } else { String::new() };
    starts(s.words, at + degree, "allergic to").map(|behind| (how, behind))
}

/// Aids that are used by those who need them.
const AIDS: [&str; 9] = ["wheelchair", "cane", "crutches", "walker", "pacemaker", "inhaler", "epipen", "insulin", "braille"];

/// Verbs of a thing that harms those who cannot stand it.
const HARMS: [&str; 4] = ["gives me", "give me", "makes me", "make me"];
/// Words for that harm.
const SYMPTOMS: [&str; 12] =
    ["rash", "rashes", "hives", "migraine", "migraines", "asthma", "sick", "ill", "nauseous", "sneeze", "itch", "anaphylaxis"];

/// "Latex gives me a rash", "my mother can't eat gluten": what somebody must avoid, said of it or of whom they care for.
fn avoids(s: &Sentence<'_>) -> Option<Reading> {
    let harm = (1..s.words.len().min(4)).find_map(|at| HARMS.iter().find_map(|harm| starts(s.words, at, harm)));
    let harmed = harm.is_some_and(|at| s.words.len() <= at + 3 && s.words[at..].iter().any(|word| among(&SYMPTOMS, &word.lower)));
    if harmed && !["it", "that", "this", "you"].contains(&s.word(0)) {
        return Some(Reading::new(Category::Constraint, "health"));
    }
    let theirs = ["my", "our"].contains(&s.word(0)) && among(&LIVING, s.word(1));
    let eats_no = ["can't eat", "cannot eat", "can't have", "doesn't eat", "never eats", "is allergic to"]
        .iter()
        .find_map(|no| starts(s.words, 2, no))?;
    let is_food = s.words.get(eats_no).is_some_and(|word| !word.is_mark() && !among(&NO_FOOD, &word.lower));
    (theirs && is_food && s.words.len() <= 16).then(|| Reading { importance: 700, ..Reading::new(Category::Semantic, "health of others") })
}

/// "I'm severely allergic to peanuts", "I have celiac disease", "I don't eat pork", "I use a wheelchair".
fn health(s: &Sentence<'_>) -> Option<Reading> {
    let reading = Some(Reading::new(Category::Constraint, "health"));
    if let Some(at) = EATS_NO.iter().find_map(|opening| starts(s.words, 0, opening)) {
        let is_food = s.words.get(at).is_some_and(|word| !word.is_mark() && !among(&NO_FOOD, &word.lower));
        let has = has(&s.words[..at], "have");
        return reading.filter(|_| is_food && (!has || s.words[at..].iter().any(|word| among(&FOODS, &word.lower))));
    }
    if let Some(at) = ["i use a", "i use an", "i need a", "i wear a", "i have a", "i have an", "i've got a", "i wear", "i use"]
        .iter()
        .find_map(|opening| starts(s.words, 0, opening))
    {
        let hears = ["hearing aid", "hearing aids", "insulin pump", "screen reader", "oxygen tank"]
            .iter()
            .any(|aid| starts(s.words, at, aid).is_some());
        if hears || among(&AIDS, s.word(at)) && at + 3 > s.words.len() {
            return reading;
        }
    }
    let at = OF_HEALTH.iter().find_map(|opening| starts(s.words, 0, opening))?;
    if s.negated(at) || s.words.len() > 16 {
        return None;
    }
    let near = &s.words[at..s.words.len().min(at + 5)];
    let condition = near.iter().position(|word| among(&CONDITIONS, &word.lower));
    // "I'm diabetic, so no sugar" doubts nothing.
    let over = (at + 1..at + near.len()).find(|next| s.parted(*next) && condition.is_some_and(|place| at + place < *next));
    let near = &near[..over.map_or(near.len(), |over| over - at)];
    let phrase = CONDITION_PHRASES.iter().any(|phrase| has(near, phrase));
    let doubted = near.iter().any(|word| among(&["no", "not", "question", "if", "friend", "about"], &word.lower));
    let diagnosed = has(&s.words[..at], "diagnosed");
    if let Some(to) = condition.filter(|place| near[*place].lower == "allergic").and_then(|place| starts(s.words, at + place + 1, "to")) {
        let (value, end) = s.value(to)?;
        let degree = s.between(at, to - 2).map(|degree| degree.to_lowercase()).unwrap_or_default();
        let adds = ["also", "too", "actually", "just", "and"].iter().any(|word| degree == *word) || degree.is_empty();
        let degree = if adds { String::new() } else { format!("{degree} ") };
        return reading.map(|reading| reading.told(format!("The user is {degree}allergic to {value}."), !s.says_more(end)));
    }
    reading.filter(|_| (condition.is_some() || phrase || diagnosed) && !doubted)
}

/// "I take warfarin every day", "I was prescribed enalapril": a medicine, by how often it is taken or how much of it.
fn medicated(s: &Sentence<'_>) -> Option<Reading> {
    let prescribed =
        ["i was prescribed", "i've been prescribed", "i got prescribed"].iter().find_map(|opening| starts(s.words, 0, opening));
    let at = prescribed.or_else(|| {
        ["i take", "i'm taking", "i am taking", "i'm on", "i am on", "im on", "i have to take"]
            .iter()
            .find_map(|opening| starts(s.words, 0, opening))
    })?;
    let dosed = (at..s.words.len()).any(|at| s.words[at].is_number() && among(&DOSES, s.word(at + 1)));
    let often = (at + 1..s.words.len().min(at + 5)).any(|at| OFTEN.iter().any(|often| starts(s.words, at, often).is_some()));
    let is_medicine = s.words.get(at).is_some_and(|word| !word.is_mark() && !among(&NO_MEDICINE, &word.lower));
    let says_so = prescribed.is_some() || dosed || often;
    (says_so && is_medicine && s.words.len() <= 16).then(|| Reading { importance: 800, ..Reading::new(Category::Semantic, "medicine") })
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
