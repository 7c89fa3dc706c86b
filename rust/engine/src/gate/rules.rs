//! Rules: what a sentence of a user claims, where its form says it plainly. A rule gives the category, the slot with its value, and what
//! the claim replaces or ends. Sentences that no rule reads are left to the model.

use super::assign::assigned;
use super::beings::is_living;
use super::guards::{LABELS, is_lasting};
use super::health::allergic;
use super::left::left;
use super::lexicon::{CLASSES, FILLERS, NO_ATTRIBUTE, PAST, PROFILE};
use super::lists::lists;
use super::manner::manner;
use super::orders;
use super::others::TEXTS;
use super::over::{no_longer, not_allergic};
use super::sentence::Sentence;
use super::signs::{has_colon, straight};
use super::told::of_oneself;
use super::values::{PRAISE, identifies, present, spelled};
use super::words::{Word, among, has, starts, words};
use super::{Category, LIFTED};
use crate::units::calendar::is_named;

lists! { "rules":
    /// Words before what is claimed.
    OPENINGS,
    /// How a rule of the user begins.
    RULE_OPENINGS,
    /// Parts of what is written: an answer's, a text's, a program's.
    PARTS,
    /// How an instruction to a model begins that holds where it says "always", "from now on", ...
    INSTRUCTS,
    /// Names of things that teams move to, and nobody lives in.
    NO_HOME,
    /// How somebody says where they live.
    LIVES,
    /// How somebody says whom they work for.
    WORKS,
    /// How somebody says where another one lives.
    OTHERS_LIVE,
    /// How somebody says whom another one works for.
    OTHERS_WORK,
    /// How somebody says what they prefer.
    PREFERS,
    /// How somebody says what they like and dislike.
    TASTES,
    /// How somebody says what they are called.
    NAMES,
    /// Words behind "call me" that name nobody: "call me back", "call me old-fashioned".
    NO_CALL,
    /// Nouns behind "I work for a" that are nobody: "a living", "a while".
    NO_EMPLOYER,
    /// How a decision begins.
    DECIDED,
    /// Words that say how something ended.
    ENDED,
}

/// The claims of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Its category.
    pub category: Category,
    /// Said so that it stands alone; `None` keeps the sentence.
    pub text: Option<String>,
    /// The attribute that it gives a value to.
    pub slot: Option<String>,
    /// The value that it replaces, in the user's words.
    pub replaces: Option<String>,
    /// Something that holds no longer, in the user's words.
    pub ends: Option<String>,
    /// In thousandths.
    pub importance: u16,
    /// In thousandths.
    pub confidence: u16,
    /// Which rule read it.
    pub rule: &'static str,
}

impl Reading {
    pub(super) fn new(category: Category, rule: &'static str) -> Self {
        let importance = match category {
            Category::Constraint => 900,
            Category::Profile => 800,
            Category::Preference | Category::Decision => 700,
            Category::TaskOutcome => 600,
            Category::Semantic | Category::Episodic | Category::Discard => 500,
        };
        Self { category, text: None, slot: None, replaces: None, ends: None, importance, confidence: 900, rule }
    }

    pub(super) fn text(mut self, text: String) -> Self {
        self.text = Some(text);
        self
    }

    /// The text where it says all that its sentence does; else the sentence is kept.
    pub(super) fn told(mut self, text: String, whole: bool) -> Self {
        self.text = whole.then_some(text);
        self
    }

    /// Whether it tells a model, or those who work with the user, what to do each time.
    pub(super) fn is_order(&self) -> bool {
        ["rule", "how to answer"].contains(&self.rule)
    }

    /// Whether it says something of somebody's health, or of what they must avoid.
    pub(super) fn is_of_health(&self) -> bool {
        ["allergy", "health", "diet", "medicine", "health of others"].contains(&self.rule)
    }

    pub(super) fn slot(mut self, slot: impl Into<String>) -> Self {
        self.slot = Some(slot.into());
        self
    }
}

/// The slot of a value: its purpose, else the class of things that it is one of.
pub(super) fn slot_of(value: &str, purpose: Option<&str>) -> Option<String> {
    let class = CLASSES
        .iter()
        .find(|(_, values)| value.to_lowercase().split_whitespace().any(|word| values.contains(&word.trim_matches([',', '.']))));
    match (class, purpose) {
        (Some((class, _)), Some(purpose)) => Some(format!("{class} for {purpose}")),
        (Some((class, _)), None) => Some((*class).to_owned()),
        (None, purpose) => purpose.map(str::to_owned),
    }
}

/// The claims of a sentence; `None` where no rule reads it.
pub fn read(sentence: &Sentence<'_>) -> Option<Reading> {
    let skip = preamble(sentence);
    let told = skip > 0 && is_request_to_remember(sentence, skip);
    let rest = Sentence { text: sentence.text, words: &sentence.words[skip..] };
    let reading = manner(sentence, &rest)
        .or_else(|| allergic(&rest))
        .or_else(|| constraint(&rest))
        .or_else(|| name(&rest)) // before what lasts: "Call me Annie from now on."
        .or_else(|| lasting(sentence, &rest))
        .or_else(|| not_allergic(&rest))
        .or_else(|| no_longer(&rest))
        .or_else(|| switched(&rest))
        .or_else(|| person(&rest))
        .or_else(|| left(&rest))
        .or_else(|| another(&rest))
        .or_else(|| prefers(&rest))
        .or_else(|| attribute(&rest))
        .or_else(|| decision(&rest))
        .or_else(|| assigned(&rest))
        .or_else(|| uses(&rest))
        .or_else(|| outcome(&rest))
        .or_else(|| of_oneself(&rest));
    let reading = reading.map(|reading| ordered(sentence, &rest, reading)).or_else(|| lifted(sentence)).or_else(|| order(sentence));
    match reading {
        Some(reading) => Some(reading),
        None if told && rest.words.len() >= 3 => {
            let text = rest.between(0, rest.words.len())?;
            Some(Reading { importance: 700, ..Reading::new(Category::Semantic, "asked to remember") }.text(capital(&text)))
        }
        None => None,
    }
}

/// "Could you answer in English from now on?": an order in the form of a question. A question tells nothing else.
pub fn asked(s: &Sentence<'_>) -> Option<Reading> {
    let at = ["can you", "could you", "would you", "will you", "can we", "could we", "may i ask you to"]
        .iter()
        .find_map(|opening| starts(s.words, 0, opening))?;
    let at = starts(s.words, at, "please").unwrap_or(at);
    let end = s.words.iter().rposition(|word| !word.is_mark())? + 1;
    let rest = Sentence { text: s.text, words: s.words.get(at..end)? };
    let lasts = is_lasting(rest.words) || switches(&rest) || rest.word(0) == "stop"; // "could you answer in English?" is about one answer
    let reading = manner(&rest, &rest).or_else(|| lasting(&rest, &rest)).or_else(|| order(&rest)).filter(|one| lasts && one.is_order())?;
    let text = format!("{}.", capital(&rest.between(0, rest.words.len())?));
    Some(ordered(&rest, &rest, reading.text(text)))
}

/// An order with the slot of the thing that it is about, and with the order that it ends.
fn ordered(whole: &Sentence<'_>, s: &Sentence<'_>, mut reading: Reading) -> Reading {
    if reading.is_order() {
        let order = orders::order(whole.words).or_else(|| orders::order(s.words));
        reading.slot = reading.slot.or_else(|| order.and_then(|order| order.gives()).map(str::to_owned));
        reading.ends = orders::lift(whole.text, whole.words).map(|lift| lift.phrase);
    }
    reading
}

/// "Stop replying in German", "you can use emojis again": the end of an order. Of answers, to stop something is an order, too.
fn lifted(s: &Sentence<'_>) -> Option<Reading> {
    let lift = orders::lift(s.text, s.words)?;
    let wish = lift.order.is_some() && !lift.permits;
    let mut reading = Reading::new(Category::Preference, if wish { "how to answer" } else { LIFTED });
    reading.slot = lift.order.filter(|order| order.toggles).map(|order| order.slot.to_owned());
    reading.ends = Some(lift.phrase);
    Some(reading)
}

/// "From now on, no tables please": an order that has no verb.
fn order(s: &Sentence<'_>) -> Option<Reading> {
    let order = orders::order(s.words).filter(|_| (is_lasting(s.words) || switches(s)) && s.words.len() > 2)?;
    let reading = Reading::new(Category::Constraint, "rule");
    Some(Reading { slot: order.gives().map(str::to_owned), ..reading })
}

/// "Switch back to English": what is switched stays so.
fn switches(s: &Sentence<'_>) -> bool {
    let at = ["please", "let's", "ok", "okay", "now"].iter().find_map(|opening| starts(s.words, 0, opening)).unwrap_or(0);
    ["switch to", "switch back to", "go back to", "change back to", "change to"].iter().any(|verb| starts(s.words, at, verb).is_some())
}

/// Words that begin a clause of the user's own.
const SUBJECTS: [&str; 15] =
    ["i", "i'm", "i've", "i'd", "i'll", "my", "we", "we're", "we've", "we'll", "our", "call", "never", "always", "let's"];

/// Prepositions behind "never" and "always" with which a clause goes on.
const AFTER_NEVER: [&str; 12] = ["to", "in", "on", "at", "with", "for", "by", "about", "from", "before", "after", "of"];

/// Whether words begin a clause of their own: the user, or what is the user's, or a rule.
pub fn opens_clause(words: &[Word]) -> bool {
    let at = usize::from(words.first().is_some_and(|word| ["now", "currently", "nowadays"].contains(&word.lower.as_str())));
    // "... but never to dogs", "... but never tried it" go on with what was said.
    let goes_on = || {
        let opens = ["never", "always"].contains(&words[at].lower.as_str());
        opens && words.get(at + 1).is_some_and(|next| among(&AFTER_NEVER, &next.lower) || is_past(&words[at..]))
    };
    words.get(at).is_some_and(|word| among(&SUBJECTS, &word.lower)) && !goes_on()
}

/// Words before what is claimed: "remember that", "actually,", "by the way".
pub(super) fn preamble(sentence: &Sentence<'_>) -> usize {
    let mut at = 0;
    while let Some(next) = OPENINGS.iter().find_map(|opening| starts(sentence.words, at, opening)).or_else(|| labelled(sentence, at)) {
        at = next;
    }
    at
}

/// Where a label is over that says what follows: "Reminder: ...", "Quick note: ...".
fn labelled(s: &Sentence<'_>, at: usize) -> Option<usize> {
    let ends = |last: &usize| last + 1 < s.words.len() && has_colon(s.text, s.words[*last].end);
    (at..at + 2).find(ends).filter(|last| among(&LABELS, s.word(*last))).map(|last| last + 1)
}

/// Whether a text begins as an order: "never use ...", "from now on write ...".
#[must_use]
pub fn begins_as_order(text: &str) -> bool {
    let words = words(text);
    let at = preamble(&Sentence { text, words: &words });
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    RULE_OPENINGS.iter().any(|opening| starts(&words, at, opening).is_some())
        || among(&INSTRUCTS, word(at)) && !["is", "are", "was"].contains(&word(at + 1))
}

fn is_request_to_remember(sentence: &Sentence<'_>, skip: usize) -> bool {
    let before = &sentence.words[..skip];
    ["remember", "mind", "note", "record", "reference", "fyi", "know"].iter().any(|word| has(before, word))
        && sentence.words.last().is_none_or(|word| word.lower != "?")
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// "never deploy on Fridays", "you must ...".
fn constraint(s: &Sentence<'_>) -> Option<Reading> {
    let is_rule = RULE_OPENINGS.iter().any(|opening| starts(s.words, 0, opening).is_some()) && s.words.len() >= 3;
    let idle = ["never mind", "never mind that", "always happy", "never heard", "always good", "never been"]
        .iter()
        .any(|phrase| starts(s.words, 0, phrase).is_some());
    if is_rule && is_past(s.words) {
        // "Never had the time to visit": an event of the user's, who leaves out the "I".
        return (!idle && s.words.len() > 3).then(|| Reading::new(Category::Episodic, "what never was"));
    }
    (is_rule && !idle && !is_complaint(s)).then(|| Reading::new(Category::Constraint, "rule"))
}

/// "Never tried ...": "never" or "always" with a verb in the past, which orders nothing.
fn is_past(words: &[Word]) -> bool {
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let next = word(1);
    ["never", "always"].contains(&word(0)) && (ends_in_past(next) || among(&PAST, next) || ["seen", "heard", "done", "saw"].contains(&next))
}

/// Whether the "ed" of a word is the ending of a past. "Exceed" and "shred" end so themselves: one has an "e" before it, the other no vowel.
fn ends_in_past(word: &str) -> bool {
    const OF_EE: [&str; 6] = ["agreed", "disagreed", "freed", "guaranteed", "decreed", "refereed"];
    let Some(root) = word.strip_suffix("ed").filter(|root| root.len() > 1) else { return false };
    let plain = root.ends_with('e') && !among(&OF_EE, word) || ["embed", "imbed"].iter().any(|verb| word.ends_with(verb));
    !plain && root.contains(['a', 'e', 'i', 'o', 'u', 'y'])
}

/// "Always the same error...": how something always is, and no order. An order has a verb in its plain form, or says where a part of an
/// answer is to stand.
fn is_complaint(s: &Sentence<'_>) -> bool {
    const NO_VERB: [&str; 18] =
        ["the", "a", "an", "my", "our", "your", "this", "that", "these", "those", "it", "i", "you", "same", "been", "again", "too", "so"];
    ["never", "always"].contains(&s.word(0)) && among(&NO_VERB, s.word(1)) && !places_a_part(s)
}

/// "Always a short summary at the end", "never the word synergy": an order without a verb, about a part of what is written.
fn places_a_part(s: &Sentence<'_>) -> bool {
    const BESIDE: [&str; 8] = ["in", "on", "before", "after", "behind", "between", "above", "below"];
    let is_part = |at: &usize| among(&PARTS, s.word(*at));
    let Some(part) = (2..s.words.len().min(5)).find(is_part).filter(|_| ["the", "a", "an"].contains(&s.word(1))) else { return false };
    let judged = s.words[2..part].iter().any(|word| among(&PRAISE, &word.lower) || ["same", "other", "different"].contains(&&*word.lower));
    let behind = s.word(part + 1);
    let over = |at: usize| s.words.get(at).is_none_or(Word::is_mark);
    let ends = ["end", "beginning", "start", "top", "bottom", "front"].iter().any(|end| s.word(part + 3) == *end);
    let placed = behind == "at" && s.word(part + 2) == "the" && ends
        || among(&BESIDE, behind) && (part + 2..part + 5).any(|at| is_part(&at) || among(&TEXTS, s.word(at)));
    let named = part == 2 && ["word", "words", "phrase", "term"].contains(&s.word(part)) && !over(part + 1) && over(part + 2);
    !judged && (placed || named || ["first", "last"].contains(&behind) && over(part + 2))
}

/// "From now on write all comments in English", "answer in German, always".
fn lasting(whole: &Sentence<'_>, s: &Sentence<'_>) -> Option<Reading> {
    let at = starts(s.words, 0, "please").unwrap_or(0);
    (among(&INSTRUCTS, s.word(at)) && s.words.len() >= 3 && is_lasting(whole.words)).then(|| Reading::new(Category::Constraint, "rule"))
}

/// "I switched from Python to Go for scripting", "we moved to Postgres", "I now use Zed", "I'm back to Vim".
fn switched(s: &Sentence<'_>) -> Option<Reading> {
    let subject = starts(s.words, 0, "i")
        .or_else(|| starts(s.words, 0, "we"))
        .or_else(|| starts(s.words, 0, "i've"))
        .or_else(|| starts(s.words, 0, "we've"))?;
    let at = subject + usize::from(["have", "just", "recently", "finally", "actually", "also"].contains(&s.word(subject)));
    let at = at + usize::from(["just", "recently", "finally", "now"].contains(&s.word(at)));
    let verb = ["switched", "migrated", "changed", "converted", "moved", "went back", "gone back"]
        .iter()
        .find_map(|verb| starts(s.words, at, verb))?;
    let verb = starts(s.words, verb, "over").or_else(|| starts(s.words, verb, "back")).unwrap_or(verb);
    let from = ["from", "away from", "out of"].iter().find_map(|from| starts(s.words, verb, from));
    let (old, verb) = match from {
        Some(from) => {
            let to = (from..s.words.len()).find(|at| s.word(*at) == "to")?;
            (s.between(from, to), to)
        }
        None => (None, verb),
    };
    let to = starts(s.words, verb, "to")?;
    let (value, end) = s.value(to)?;
    let purpose = s.purpose(end).filter(|purpose| s.word(at) != "moved" || !among(&WHY_MOVED, purpose));
    let slot = slot_of(&value, purpose.as_deref());
    let left_place = from.is_none_or(|from| is_place(s, from)); // "we moved from Heroku to Fly"
    if left_place && slot.is_none() && s.word(at) == "moved" {
        return is_place(s, to).then(|| home(s, &value, end));
    }
    let mut reading = Reading::new(Category::Preference, "switched");
    reading.replaces = old.or_else(|| {
        s.words
            .iter()
            .position(|word| word.lower == "instead")
            .filter(|at| s.word(at + 1) == "of")
            .and_then(|at| s.value(at + 2))
            .map(|(old, _)| old)
    });
    reading.slot = slot;
    Some(reading)
}

/// Reasons for which people move house.
const WHY_MOVED: [&str; 9] = ["work", "school", "family", "university", "college", "uni", "love", "retirement", "job"];

/// Whether somebody who moved to what begins at a word lives there now: a name, of no tool, and where "we" moved, none that looks like one.
fn is_place(s: &Sentence<'_>, at: usize) -> bool {
    let seems_tool = s.word(at).contains(['.', '-', '/']) || s.words[at..].iter().any(|word| word.is_number() && word.lower.len() < 4);
    s.names(at) && !is_tool(s.word(at)) && !(["we", "we've"].contains(&s.word(0)) && (seems_tool || !s.words[at].capital))
}

/// Whether a word names what one works with, and nobody lives in: "VS Code", "Kubernetes".
fn is_tool(word: &str) -> bool {
    const OF_WORK: [&str; 3] = ["editor", "operating system", "database"];
    among(&NO_HOME, word) || CLASSES.iter().any(|(class, words)| OF_WORK.contains(class) && words.contains(&word))
}

fn home(s: &Sentence<'_>, place: &str, end: usize) -> Reading {
    // "We moved to York in May": the month says when.
    let dated = |when: &str| {
        when.split(' ').next().is_some_and(|word| word.starts_with(|first: char| first.is_ascii_digit()) || is_named(&word.to_lowercase()))
    };
    let place = place.rsplit_once(" in ").filter(|(_, when)| dated(when)).map_or(place, |(place, _)| place);
    let whole = !s.says_more_than_when(end) && !place.contains(" with ");
    Reading::new(Category::Profile, "home").told(format!("The user lives in {place}."), whole).slot("home")
}

fn name(s: &Sentence<'_>) -> Option<Reading> {
    let at = NAMES.iter().find_map(|opening| starts(s.words, 0, opening))?;
    let thing = ["a", "an"].contains(&s.word(at)) || s.word(at) == "the" && s.words.get(at + 1).is_some_and(|word| !word.capital);
    if s.negated(at) || among(&NO_CALL, s.word(at)) || thing && !s.words[at].capital {
        return None;
    }
    let (value, end) = s.value(at)?;
    if let Some((first, _)) = value.split_once('/') {
        // "I go by they/them"
        let pronouns = among(&["he", "she", "they", "it", "ze", "xe", "any"], &first.to_lowercase());
        return pronouns.then(|| {
            Reading::new(Category::Profile, "pronouns")
                .told(format!("The user's pronouns are {value}."), !s.says_more(end))
                .slot("pronouns")
        });
    }
    let whole = !s.says_more(end);
    (end - at <= 4 && identifies("name", &value))
        .then(|| Reading::new(Category::Profile, "name").told(format!("The user's name is {value}."), whole).slot("name"))
}

/// Whether words that begin with an article or "my" name no employer, by their noun ("a good cause"), or because they end in "of it".
fn is_no_employer(s: &Sentence<'_>, at: usize, end: usize) -> bool {
    const OVER: [&str; 17] = [
        "of", "in", "with", "without", "that", "from", "at", "on", "to", "before", "after", "until", "during", "each", "every", "per", "or",
    ];
    let over = |at: &usize| among(&OVER, s.word(*at));
    let noun = (at + 1..end).find(over).unwrap_or(end) - 1;
    among(&NO_EMPLOYER, s.word(noun)) || starts(s.words, noun + 1, "of it").is_some()
}

/// Where the new employer begins: "I left Siemens and joined Bosch", "I quit my job to work for Bosch".
fn joined(s: &Sentence<'_>) -> Option<usize> {
    const JOINS: [&str; 8] =
        ["and joined", "to join", "and i joined", "and started at", "and now work at", "and now work for", "to work at", "to work for"];
    let left = ["i left", "i've left", "i quit", "i've quit"].iter().find_map(|opening| starts(s.words, 0, opening))?;
    let at = (left..s.words.len().min(left + 5)).find_map(|at| JOINS.iter().find_map(|joins| starts(s.words, at, joins)))?;
    s.words.get(at).filter(|word| word.capital).map(|_| at) // and not "to join my wife"
}

/// Where somebody lives and works, how old they are.
fn person(s: &Sentence<'_>) -> Option<Reading> {
    let at = |openings: &[&str]| openings.iter().find_map(|opening| starts(s.words, 0, opening));
    let profile = |rule, text: String, end, slot: &str| {
        Some(Reading::new(Category::Profile, rule).told(text, !s.says_more_than_when(end)).slot(slot))
    };
    if let Some(at) = at(&LIVES) {
        let (place, end) = s.value(at)?;
        // "I live in fear" and "I live in a small flat" say how somebody lives, and not where.
        return Some(if s.names(at) && !is_tool(s.word(at)) {
            home(s, &place, end)
        } else {
            Reading::new(Category::Semantic, "how somebody lives")
        });
    }
    if let Some(at) = at(&WORKS).or_else(|| joined(s)) {
        let (company, end) = s.value(at)?;
        let employs = among(&["a", "an", "the", "my", "our", "myself"], s.word(at)) && !is_no_employer(s, at, end);
        if !employs && !s.names(at) {
            return Some(Reading::new(Category::Semantic, "how somebody works"));
        }
        return profile("employer", format!("The user works for {company}."), end, "employer");
    }
    if let Some(at) = at(&["i work as", "i'm working as", "i now work as"]) {
        let (job, end) = s.value(at)?;
        return profile("occupation", format!("The user works as {job}."), end, "occupation");
    }
    let aged = at(&["i'm", "i am", "i turned", "i just turned"])?;
    let years = s.words.get(aged).filter(|word| word.is_number() && word.lower.len() <= 3)?;
    let says_age = starts(s.words, aged + 1, "years old").is_some() || s.word(1) == "turned" || s.word(1) == "just";
    if says_age {
        let end = starts(s.words, aged + 1, "years old").unwrap_or(aged + 1);
        return profile("age", format!("The user is {} years old.", years.lower), end, "age");
    }
    None
}

/// "My mom lives in Kyiv", "my sister works at Google now": where those live and work who are the user's.
fn another(s: &Sentence<'_>) -> Option<Reading> {
    let verb = (2..5).find(|at| s.word(0) == "my" && is_living(s.word(at - 1)))?;
    let behind = |verbs: &[&str]| verbs.iter().find_map(|phrase| starts(s.words, verb, phrase)).filter(|at| s.names(*at));
    let (at, does, slot) =
        behind(&OTHERS_LIVE).map(|at| (at, "lives in", "home")).or_else(|| behind(&OTHERS_WORK).map(|at| (at, "works for", "employer")))?;
    let (named, (value, end)) = (straight(&s.between(1, verb)?), s.value(at)?);
    let plural = is_of_several(&s.words[..at], verb);
    let does = match (plural, does) {
        (true, "lives in") => "live in",
        (true, _) => "work for",
        (false, does) => does,
    };
    let possessive = if plural && named.ends_with('s') { "'" } else { "'s" };
    let reading = Reading::new(Category::Semantic, "of another")
        .told(format!("The user's {named} {does} {value}."), !s.says_more_than_when(end))
        .slot(spelled(&format!("{}{possessive} {slot}", named.to_lowercase())));
    Some(reading)
}

/// Whether the verb of some words is one of several subjects: "live" is, "lives" is not. A past does not tell, and the word before it does.
fn is_of_several(words: &[Word], verb: usize) -> bool {
    let says = |verbs: &[&str]| words[verb..].iter().any(|word| among(verbs, &word.lower));
    let subject = words[verb - 1].lower.as_str();
    let ends = subject.ends_with('s') && !subject.ends_with("ss") || subject == "children";
    !says(&["lives", "works", "is", "has"]) && (says(&["live", "work", "are", "have"]) || ends)
}

/// Words behind "I love" and "I hate" that name no taste.
const NO_TASTE: [&str; 18] =
    ["it", "that", "this", "to", "how", "them", "your", "the", "what", "you", "when", "if", "where", "these", "those", "him", "her", "us"];

/// "I prefer tabs over spaces", "I like tea better", "my favourite is", "I hate", "I'd rather".
fn prefers(s: &Sentence<'_>) -> Option<Reading> {
    let opening = PREFERS.iter().find_map(|opening| starts(s.words, 0, opening));
    if let Some(at) = opening {
        if s.negated(at) {
            return Some(Reading::new(Category::Preference, "dislike"));
        }
        let (value, end) = s.value(at)?;
        if is_choice(&value) {
            return None;
        }
        let mut reading = Reading::new(Category::Preference, "prefers");
        reading.slot = slot_of(&value, s.purpose(end).as_deref());
        return Some(reading);
    }
    let taste = TASTES.iter().find_map(|opening| starts(s.words, 0, opening))?;
    let idle = among(&NO_TASTE, s.word(taste)) && !is_named_taste(s, taste) || s.words.len() > 14;
    if s.word(taste - 1).starts_with("veg") {
        return Some(Reading::new(Category::Preference, "diet").slot("diet"));
    }
    (!idle && taste < s.words.len()).then(|| Reading { importance: 600, ..Reading::new(Category::Preference, "taste") })
}

/// Whether a word of [`NO_TASTE`] begins a name: "US history", "The Wire". "I LOVE IT" and "I hate THIS so much" have none.
fn is_named_taste(s: &Sentence<'_>, at: usize) -> bool {
    const PERSONS: [&str; 5] = ["you", "your", "him", "her", "them"];
    let is_object = ["it", "this", "that", "us", "these", "those"].contains(&s.word(at));
    let goes_on = s.words.get(at + 1).is_some_and(|next| !(next.is_mark() || is_object && among(&FILLERS, &next.lower)));
    s.words[at].capital && !s.words[at - 1].capital && !among(&PERSONS, s.word(at)) && goes_on
}

/// "Option B", "the second one", "the latter": one of what was just named, which says nothing of another day.
fn is_choice(value: &str) -> bool {
    let words = words(value);
    let first = words.iter().position(|word| word.lower != "the").unwrap_or(0);
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let numbered = ["option", "choice", "variant", "version", "number", "answer"].contains(&word(first))
        && (words.len() == first + 1 || word(first + 1).len() <= 2);
    let points =
        ["latter", "former", "first", "second", "third", "last", "other", "original"].contains(&word(first)) && words.len() <= first + 2;
    let last = words.last().filter(|word| !word.capital);
    numbered || points && first > 0 || last.is_some_and(|word| ["one", "ones"].contains(&word.lower.as_str()))
}

/// "my timezone is CET", "our staging cluster is eu-2": the words between are the slot.
fn attribute(s: &Sentence<'_>) -> Option<Reading> {
    let mine = ["my", "our"].contains(&s.word(0));
    if !mine {
        return titled(s);
    }
    let (named, verb, value) = named(s)?;
    let first = s.word(1);
    if s.word(verb) == "was"
        || NO_ATTRIBUTE.contains(&first)
        || s.negated(value)
        || ["that", "to", "how", "why", "if", "whether", "what"].contains(&s.word(value))
    {
        return None;
    }
    let is = if s.word(verb) == "are" { "are" } else { "is" };
    let begin = value + usize::from(["now", "currently"].contains(&s.word(value)));
    let (value, end) = s.value(begin)?;
    if s.word(begin).ends_with("ing") || end - begin > 7 && !(begin + 1..end).any(|at| s.parted(at)) {
        return None;
    }
    let whole = named.to_lowercase();
    let identifies = identifies(&present(&named).to_lowercase(), &value) && identifies(&whole, &value);
    // How something is for now is said of the new one alone: "my new boss is strict".
    let named = if identifies { present(&named) } else { &named };
    let owner = if s.word(0) == "my" { "The user's" } else { "Our" };
    let (named, text) = match named.strip_suffix("'s name").filter(|bearer| identifies && is_living(&bearer.to_lowercase())) {
        Some(bearer) => (bearer, format!("{owner} {bearer} is called {value}.")),
        None => (named, format!("{owner} {named} {is} {value}.")),
    };
    let attribute = named.to_lowercase();
    let favourite = ["favorite ", "favourite ", "preferred ", "usual ", "default "].iter().any(|word| attribute.starts_with(word));
    let category = if favourite {
        Category::Preference
    } else if s.word(0) == "my" && PROFILE.contains(&attribute.as_str()) {
        Category::Profile
    } else {
        Category::Semantic
    };
    // How something is for now stands beside what it is, and tells nothing of who somebody is.
    let category = if !identifies && category == Category::Profile && !is_living(&attribute) { Category::Semantic } else { category };
    let reading = Reading::new(category, "attribute").told(text, !s.says_more(end));
    Some(if identifies { reading.slot(spelled(&attribute)) } else { reading })
}

/// "timezone: CET", "new address: 2 High Street": an attribute of the user by its name alone, in small letters and a message of one line.
fn titled(s: &Sentence<'_>) -> Option<Reading> {
    let colon = (0..s.words.len().min(4)).find(|at| s.text[s.words[*at].end..].starts_with(": "))?;
    let named = straight(&s.between(0, colon + 1)?);
    let attribute = present(&named).to_owned();
    let is_config = among(&["name", "title", "role", "language"], &attribute); // keys of any file
    let alone = !s.text.trim_end().contains('\n') && !s.words[0].capital && !is_config && PROFILE.contains(&attribute.as_str());
    let last = s.words.iter().rposition(|word| !word.is_mark())? + 1;
    let value = s.between(colon + 1, last).filter(|value| alone && last - colon <= 8 && identifies(&attribute, value))?;
    let text = format!("The user's {attribute} is {value}.");
    Some(Reading::new(Category::Profile, "attribute").text(text).slot(spelled(&attribute)))
}

/// The name of an attribute behind "my" or "our", its verb, and where its value begins: "my birthday's on May 3" has both in one word.
fn named(s: &Sentence<'_>) -> Option<(String, usize, usize)> {
    let most = s.words.len().min(7);
    if let Some(verb) = (2..most).find(|at| ["is", "are", "was"].contains(&s.word(*at))) {
        return Some((straight(&s.between(1, verb)?), verb, verb + 1));
    }
    let is_when = |at: usize| ["on", "at", "in"].contains(&s.word(at)) || s.words[at].is_number();
    let last = (1..most.saturating_sub(1)).find(|at| s.word(*at).ends_with("'s")).filter(|at| is_when(at + 1))?;
    Some((straight(&s.between(1, last + 1)?).strip_suffix("'s")?.to_owned(), last, last + 1))
}

/// "we decided to ...", "let's go with ...".
fn decision(s: &Sentence<'_>) -> Option<Reading> {
    let at = DECIDED.iter().find_map(|opening| starts(s.words, 0, opening))?;
    (at < s.words.len() && s.words.len() >= 4).then(|| Reading::new(Category::Decision, "decided"))
}

/// "we use Kafka for events": the slot is what it is for.
fn uses(s: &Sentence<'_>) -> Option<Reading> {
    let at = ["we use", "we're using", "we are using", "i use", "we now use", "we run"]
        .iter()
        .find_map(|opening| starts(s.words, 0, opening))?;
    let (value, end) = s.value(at)?;
    let mut reading = Reading::new(if s.word(0) == "i" { Category::Preference } else { Category::Semantic }, "used for");
    if (end..s.words.len()).any(|at| s.excepts(at)) {
        return Some(reading);
    }
    let purpose = s.purpose(end)?;
    reading.slot = slot_of(&value, Some(&purpose));
    Some(reading)
}

/// "that fixed it", "the deploy failed": how something ended.
fn outcome(s: &Sentence<'_>) -> Option<Reading> {
    (s.words.len() >= 4 && ENDED.iter().any(|phrase| has(s.words, phrase))).then(|| Reading::new(Category::TaskOutcome, "outcome"))
}
