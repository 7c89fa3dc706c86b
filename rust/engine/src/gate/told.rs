//! Rules for what somebody tells of themselves in few words: what they may not eat, what they do, whom they have, what befell them.

use super::Category;
use super::lexicon::NUMBERS;
use super::lists::lists;
use super::rules::Reading;
use super::sentence::Sentence;
use super::values::{LIVING, is_judged, is_no_name};
use super::words::{Word, among, has, starts};

lists! { "told":
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
    /// Words that follow "I take" and "I'm on", and are no medicine.
    NO_MEDICINE,
    /// How often a medicine is taken.
    OFTEN,
    /// Units of a medicine.
    DOSES,
    /// How somebody says that they have a new job.
    HIRED,
    /// Last words of what somebody is by trade.
    TRADES,
    /// Words that follow "I'm a" and say nothing lasting.
    NOT_LASTING,
    /// Words with a capital behind "I'm" that do not name a person: peoples, faiths and moods.
    pub(super) NO_NAMES,
    /// Whom somebody has.
    KIN,
    /// Words that say what somebody does for longer, or what they are at.
    DOES,
    /// Events that befall somebody.
    EVENTS,
}

/// The reading of a sentence that has one of these forms.
pub(super) fn of_oneself(s: &Sentence<'_>) -> Option<Reading> {
    health(s)
        .or_else(|| medicated(s))
        .or_else(|| avoids(s))
        .or_else(|| job(s))
        .or_else(|| trade(s))
        .or_else(|| introduced(s))
        .or_else(|| kin(s))
        .or_else(|| measured(s))
        .or_else(|| occupied(s))
        .or_else(|| event(s))
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

/// "I got a new job at Siemens", "I got a new job as a teacher". "... but turned it down" takes the place of nothing.
fn job(s: &Sentence<'_>) -> Option<Reading> {
    let opened = |openings: &[&str]| openings.iter().find_map(|opening| starts(s.words, 0, opening));
    let begun = opened(&HIRED)?;
    let verb = s.word(begun);
    let (value, end) = s.value(begun + 1)?;
    let (rule, text) = match verb {
        "as" => ("occupation", format!("The user works as {value}.")),
        "at" | "with" if s.words[begun + 1].capital => ("employer", format!("The user works for {value}.")),
        _ => return None,
    };
    if is_taken_back(s, end) {
        return Some(Reading::new(Category::Semantic, "how somebody works"));
    }
    let whole = !s.says_more(end) && (verb != "as" || !value.contains(" at "));
    Some(Reading::new(Category::Profile, rule).told(text, whole).slot(rule))
}

/// Whether what stands behind a value says that it is not quite so: "... but turned it down", "... , not by trade".
fn is_taken_back(s: &Sentence<'_>, end: usize) -> bool {
    s.words[end..].iter().any(|word| among(&["but", "not", "though", "although", "however"], &word.lower))
}

/// Adjectives before a trade that leave it one: "a new teacher".
const OF_TRADE: [&str; 4] = ["new", "young", "old", "free"];

/// "I'm a nurse": the occupation where it is a trade, else a fact of somebody. "A terrible cook" names no trade.
fn trade(s: &Sentence<'_>) -> Option<Reading> {
    let at = ["i'm a", "i'm an", "i am a", "i am an", "i'm now a", "i became a", "i became an"]
        .iter()
        .find_map(|opening| starts(s.words, 0, opening))?;
    let (value, end) = s.value(at)?;
    let retired = among(&["retired", "former", "ex", "aspiring"], s.word(at));
    let place = (at..end.min(at + 4)).find(|place| among(&TRADES, s.word(*place)))?;
    let judged = place > at && is_judged(s.word(at)) && !among(&OF_TRADE, s.word(at));
    if retired || among(&NOT_LASTING, s.word(at)) || end - place > 6 {
        return retired.then(|| Reading::new(Category::Profile, "what somebody is"));
    }
    if judged || is_taken_back(s, end) {
        return Some(Reading::new(Category::Semantic, "what somebody is"));
    }
    let article = s.word(at - 1);
    let text = format!("The user works as {article} {value}.");
    Some(Reading::new(Category::Profile, "occupation").told(text, !s.says_more(end)).slot("occupation"))
}

/// "I'm Maria": a name alone.
fn introduced(s: &Sentence<'_>) -> Option<Reading> {
    let at = ["i'm", "i am", "this is", "it's"].iter().take(2).find_map(|opening| starts(s.words, 0, opening))?;
    let (value, end) = s.value(at)?;
    let is_name = |word: &Word| {
        let tail = &s.text[word.start..word.end];
        word.capital
            && tail.chars().skip(1).all(|letter| letter.is_lowercase() || letter == '-' || letter == '\'')
            && !is_no_name(&word.lower)
            && tail.len() > 1
    };
    let over = end == s.words.len() || s.parted(end) || s.words[end].is_mark();
    let known = crate::units::calendar::is_named(s.word(at));
    (over && !known && end - at <= 2 && s.words[at..end].iter().all(is_name))
        .then(|| Reading::new(Category::Profile, "introduction").told(format!("The user's name is {value}."), !s.says_more(end)))
        .map(|reading| reading.slot("name"))
}

/// "We have a dog called Rex", "I have two kids".
fn kin(s: &Sentence<'_>) -> Option<Reading> {
    let at = ["i have", "we have", "i've got", "we've got", "i got", "we got", "we adopted", "i adopted"]
        .iter()
        .find_map(|opening| starts(s.words, 0, opening))?;
    let counted =
        ["a", "an", "one", "several"].contains(&s.word(at)) || among(&NUMBERS, s.word(at)) || s.words.get(at).is_some_and(Word::is_number);
    let whom = (at + 1..(at + 4).min(s.words.len())).find(|place| among(&KIN, s.word(*place)))?;
    let thing =
        s.words.get(whom + 1).is_some_and(|word| ["food", "show", "video", "seat", "question", "problem"].contains(&word.lower.as_str()));
    (counted && !thing && s.words.len() <= 20).then(|| Reading::new(Category::Profile, "whom somebody has"))
}

/// "I weigh 82 kg now", "I'm 180 cm tall".
fn measured(s: &Sentence<'_>) -> Option<Reading> {
    let number = |at: usize| s.words.get(at).is_some_and(Word::is_number);
    let profile = |rule, value, end| {
        Reading::new(Category::Profile, rule).told(format!("The user's {rule} is {value}."), !s.says_more(end)).slot(rule)
    };
    if let Some(at) = starts(s.words, 0, "i weigh").filter(|at| number(*at)) {
        return s.value(at).map(|(value, end)| profile("weight", value, end));
    }
    let at = starts(s.words, 0, "i'm").or_else(|| starts(s.words, 0, "i am")).filter(|at| number(*at) && has(s.words, "tall"))?;
    let tall = s.words.iter().position(|word| word.lower == "tall")?;
    s.between(at, tall).map(|value| profile("height", value, tall + 1))
}

/// "I'm learning German", "I work on the payments team": a fact of somebody.
fn occupied(s: &Sentence<'_>) -> Option<Reading> {
    let at = DOES.iter().find_map(|opening| starts(s.words, 0, opening))?;
    let names = s.words[at..].iter().any(|word| word.capital || word.lower == "team");
    let refers = ["it", "this", "that", "you", "how"].contains(&s.word(at));
    (!refers && names && s.words.len() <= 16).then(|| Reading::new(Category::Profile, "what somebody does"))
}

/// Words for things that die and move as well, and are nobody.
const NOBODY: [&str; 14] = ["the", "it", "this", "that", "server", "battery", "process", "if", "when", "who", "what", "did", "has", "had"];

/// Whether a name in small letters stands before what befell it, in a sentence without capitals: "miso passed away". "Tests died" has none.
fn is_small_name(s: &Sentence<'_>) -> bool {
    const OF_PEOPLE: [&str; 6] = ["passed away", "was born", "gave birth", "got married", "got engaged", "got divorced"];
    let small = s.words.iter().all(|word| !word.capital) && !among(&NOBODY, s.word(0));
    small && OF_PEOPLE.iter().any(|event| starts(s.words, 1, event).is_some())
}

/// "Tom died yesterday", "we got divorced".
fn event(s: &Sentence<'_>) -> Option<Reading> {
    let somebody = s
        .words
        .first()
        .is_some_and(|word| !among(&NOBODY, &word.lower) && (word.capital || ["i", "we", "my", "our"].contains(&word.lower.as_str())))
        || is_small_name(s);
    let removed = starts(s.words, 0, "i had my").is_some_and(|at| (at + 1..s.words.len().min(at + 4)).any(|at| s.word(at) == "removed"));
    let happened = removed || EVENTS.iter().any(|phrase| (1..s.words.len().min(5)).any(|at| starts(s.words, at, phrase).is_some()));
    let machine =
        s.words.iter().any(|word| among(&["laptop", "phone", "battery", "server", "computer", "process", "car", "tv", "app"], &word.lower));
    (somebody && happened && !machine && s.words.len() <= 16)
        .then(|| Reading { importance: 700, ..Reading::new(Category::Episodic, "what befell somebody") })
}
