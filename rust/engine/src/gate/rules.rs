//! Rules: what a sentence of a user claims, where its form says it plainly. A rule gives the category, the slot with its value, and what
//! the claim replaces or ends. Sentences that no rule reads are left to the model.

use super::Category;
use super::assign::assigned;
use super::guards::{among, has, starts};
use super::lexicon::{CLASSES, NO_ATTRIBUTE, PROFILE};
use super::words::Word;

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

    pub(super) fn slot(mut self, slot: impl Into<String>) -> Self {
        self.slot = Some(slot.into());
        self
    }
}

/// A sentence as the rules see it.
pub struct Sentence<'a> {
    /// The whole message.
    pub text: &'a str,
    /// Words of this sentence; their places are in the message.
    pub words: &'a [Word],
}

/// Words behind which a value is over.
const ENDS_VALUE: [&str; 39] = [
    "but",
    "because",
    "since",
    "so",
    "instead",
    "rather",
    "over",
    "for",
    "when",
    "while",
    "now",
    "not",
    "although",
    "though",
    "if",
    "than",
    "these",
    "please",
    "anymore",
    "any",
    "lately",
    "nowadays",
    "which",
    "who",
    "where",
    "until",
    "unless",
    "today",
    "as",
    "from",
    "last",
    "yesterday",
    "recently",
    "next",
    "ago",
    "tomorrow",
    "this",
    "already",
    "currently",
];

impl Sentence<'_> {
    pub(super) fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| word.lower.as_str())
    }

    /// The text of words `from..to`.
    pub(super) fn between(&self, from: usize, to: usize) -> Option<String> {
        let (first, last) = (self.words.get(from)?, self.words.get(to.checked_sub(1)?)?);
        (from < to).then(|| self.text[first.start..last.end].to_owned())
    }

    /// Whether a comma or another sign that parts stands before a word.
    pub(super) fn parted(&self, at: usize) -> bool {
        let between = at.checked_sub(1).map_or("", |before| &self.text[self.words[before].end..self.words[at].start]);
        between.contains([',', ';', '(', '\u{2014}']) || between.contains(" - ")
    }

    /// Where the value that begins at `from` is over: at a word that parts, at a sign, after eight words.
    fn value_end(&self, from: usize) -> usize {
        let mut at = from;
        while at < self.words.len() && at < from + 8 {
            let word = self.word(at);
            let is_over = among(&ENDS_VALUE, word) || self.words[at].is_mark() || at > from && self.parted(at);
            let joins_clause =
                word == "and" && ["i", "my", "we", "i'm", "it", "you", "the", "don't", "please", "our", "not"].contains(&self.word(at + 1));
            if at > from && (is_over || joins_clause) || at == from && is_over && word != "not" && word != "over" {
                break;
            }
            at += 1;
        }
        at
    }

    pub(super) fn value(&self, from: usize) -> Option<(String, usize)> {
        if from < self.words.len() && self.parted(from) {
            return None;
        }
        let end = self.value_end(from);
        self.between(from, end).map(|value| (value, end))
    }

    /// The words behind "for" in the rest of the sentence: "for scripting".
    fn purpose(&self, from: usize) -> Option<String> {
        let at = (from..self.words.len()).find(|at| self.word(*at) == "for")?;
        let begin = at + 1 + usize::from(["the", "my", "our", "a", "all", "any"].contains(&self.word(at + 1)));
        let end = self.value_end(begin).min(begin + 4);
        let purpose = self.between(begin, end)?;
        let is_time = ["now", "years", "me", "us", "days", "weeks", "months", "it", "that", "this"].contains(&self.word(end - 1))
            || self.words[begin].is_number();
        (!is_time).then(|| purpose.to_lowercase())
    }

    pub(super) fn negated(&self, at: usize) -> bool {
        ["not", "no", "never", "isn't", "aren't", "neither"].contains(&self.word(at))
    }
}

/// The slot of a value: its purpose, else the class of things that it is one of.
fn slot_of(value: &str, purpose: Option<&str>) -> Option<String> {
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
    let reading = constraint(&rest)
        .or_else(|| no_longer(&rest))
        .or_else(|| switched(&rest))
        .or_else(|| name(&rest))
        .or_else(|| person(&rest))
        .or_else(|| prefers(&rest))
        .or_else(|| attribute(&rest))
        .or_else(|| decision(&rest))
        .or_else(|| assigned(&rest))
        .or_else(|| uses(&rest))
        .or_else(|| outcome(&rest));
    match reading {
        Some(reading) => Some(reading),
        None if told && rest.words.len() >= 3 => {
            let text = rest.between(0, rest.words.len())?;
            Some(Reading { importance: 700, ..Reading::new(Category::Semantic, "asked to remember") }.text(capital(&text)))
        }
        None => None,
    }
}

/// Whether words begin a clause of their own: the user, or what is the user's, or a rule.
pub fn opens_clause(words: &[Word]) -> bool {
    const SUBJECTS: [&str; 15] =
        ["i", "i'm", "i've", "i'd", "i'll", "my", "we", "we're", "we've", "we'll", "our", "call", "never", "always", "let's"];
    words.first().is_some_and(|word| among(&SUBJECTS, &word.lower))
}

/// Words before what is claimed: "remember that", "actually,", "by the way".
fn preamble(sentence: &Sentence<'_>) -> usize {
    const OPENINGS: [&str; 33] = [
        "please remember that",
        "please remember",
        "remember that",
        "remember",
        "keep in mind that",
        "keep in mind",
        "note that",
        "please note that",
        "for the record",
        "for future reference",
        "fyi",
        "just so you know",
        "by the way",
        "btw",
        "actually",
        "oh",
        "also",
        "and",
        "well",
        "ok",
        "okay",
        "hi",
        "hey",
        "hello",
        "yes",
        "no",
        "so",
        "from now on",
        "as of today",
        "please note",
        "sorry",
        "wait",
        "on second thought",
    ];
    let mut at = 0;
    while let Some(next) = OPENINGS.iter().find_map(|opening| starts(sentence.words, at, opening)) {
        at = next;
    }
    at
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

/// How a rule of the user begins.
const RULE_OPENINGS: [&str; 16] = [
    "never",
    "always",
    "don't ever",
    "do not ever",
    "please never",
    "please always",
    "you must",
    "you must never",
    "make sure you never",
    "make sure to always",
    "make sure you always",
    "we must",
    "we must not",
    "we never",
    "under no circumstances",
    "it must",
];

/// "never deploy on Fridays", "I'm allergic to nuts", "you must ...".
fn constraint(s: &Sentence<'_>) -> Option<Reading> {
    for opening in ["i'm allergic to", "i am allergic to", "i have an allergy to"] {
        if let Some(at) = starts(s.words, 0, opening) {
            let (value, _) = s.value(at)?;
            return Some(Reading::new(Category::Constraint, "allergy").text(format!("The user is allergic to {value}.")));
        }
    }
    let is_rule = RULE_OPENINGS.iter().any(|opening| starts(s.words, 0, opening).is_some()) && s.words.len() >= 3;
    let idle = ["never mind", "never mind that", "always happy", "never heard", "always good", "never been"]
        .iter()
        .any(|phrase| starts(s.words, 0, phrase).is_some());
    (is_rule && !idle).then(|| Reading::new(Category::Constraint, "rule"))
}

/// "I don't use Python any more", "I no longer live in Berlin".
fn no_longer(s: &Sentence<'_>) -> Option<Reading> {
    if !["i", "we", "i'm", "we're"].contains(&s.word(0)) {
        return None;
    }
    let over = has(s.words, "any more") || has(s.words, "anymore") || has(s.words, "any longer");
    let at = if over && ["don't", "not", "do", "won't", "can't"].contains(&s.word(1)) {
        1 + usize::from(s.word(1) == "do") + 1
    } else {
        starts(s.words, 1, "no longer").or_else(|| starts(s.words, 1, "stopped").or_else(|| starts(s.words, 1, "quit")))?
    };
    let object = at + 1 + usize::from(["in", "at", "for", "to", "with"].contains(&s.word(at + 1)));
    let (value, _) = s.value(object)?;
    let mut reading = Reading::new(Category::Preference, "not any more");
    reading.ends = Some(value);
    Some(reading)
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
    let verb = starts(s.words, verb, "over").unwrap_or(verb);
    let (old, verb) = match starts(s.words, verb, "from").or_else(|| starts(s.words, verb, "away from")) {
        Some(from) => {
            let to = (from..s.words.len()).find(|at| s.word(*at) == "to")?;
            (s.between(from, to), to)
        }
        None => (None, verb),
    };
    let (value, end) = s.value(starts(s.words, verb, "to")?)?;
    let slot = slot_of(&value, s.purpose(end).as_deref());
    if old.is_none() && slot.is_none() && s.word(at) == "moved" {
        return (s.word(0) == "i" || s.word(0) == "i've").then(|| home(&value));
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

fn home(place: &str) -> Reading {
    let place = place.split(" with ").next().unwrap_or(place);
    Reading::new(Category::Profile, "home").text(format!("The user lives in {place}.")).slot("home")
}

fn name(s: &Sentence<'_>) -> Option<Reading> {
    let at = ["call me", "my name is", "my name's", "i'm called", "i am called", "i go by", "you can call me", "please call me"]
        .iter()
        .find_map(|opening| starts(s.words, 0, opening))?;
    if s.negated(at) || ["when", "if", "at", "back", "a", "later", "on", "tomorrow", "crazy"].contains(&s.word(at)) {
        return None;
    }
    let (value, end) = s.value(at)?;
    (end - at <= 4).then(|| Reading::new(Category::Profile, "name").text(format!("The user's name is {value}.")).slot("name"))
}

/// Where somebody lives and works, how old they are.
fn person(s: &Sentence<'_>) -> Option<Reading> {
    let at = |openings: &[&str]| openings.iter().find_map(|opening| starts(s.words, 0, opening));
    let profile = |rule, text: String, slot: &str| Some(Reading::new(Category::Profile, rule).text(text).slot(slot));
    if let Some(at) = at(&[
        "i live in",
        "i'm living in",
        "i am living in",
        "i now live in",
        "i live near",
        "i'm based in",
        "i am based in",
        "we live in",
        "i relocated to",
    ]) {
        return s.value(at).map(|(place, _)| home(&place));
    }
    if let Some(at) = at(&[
        "i work at",
        "i work for",
        "i'm working at",
        "i'm working for",
        "i joined",
        "i just joined",
        "i now work at",
        "i now work for",
        "i started at",
    ]) {
        let (company, _) = s.value(at)?;
        return profile("employer", format!("The user works for {company}."), "employer");
    }
    if let Some(at) = at(&["i work as", "i'm working as", "i now work as"]) {
        let (job, _) = s.value(at)?;
        return profile("occupation", format!("The user works as {job}."), "occupation");
    }
    let aged = at(&["i'm", "i am", "i turned", "i just turned"])?;
    let years = s.words.get(aged).filter(|word| word.is_number() && word.lower.len() <= 3)?;
    let says_age = starts(s.words, aged + 1, "years old").is_some() || s.word(1) == "turned" || s.word(1) == "just";
    if says_age {
        return profile("age", format!("The user is {} years old.", years.lower), "age");
    }
    None
}

/// "I prefer tabs over spaces", "I like tea better", "my favourite is", "I hate", "I'd rather".
fn prefers(s: &Sentence<'_>) -> Option<Reading> {
    let opening = [
        "i prefer",
        "i'd prefer",
        "i now prefer",
        "i would prefer",
        "i'd rather use",
        "i'd rather have",
        "i always use",
        "i usually use",
        "we prefer",
        "i like to use",
        "i now use",
        "i'm using",
    ]
    .iter()
    .find_map(|opening| starts(s.words, 0, opening));
    if let Some(at) = opening {
        if s.negated(at) {
            return Some(Reading::new(Category::Preference, "dislike"));
        }
        let (value, end) = s.value(at)?;
        let mut reading = Reading::new(Category::Preference, "prefers");
        reading.slot = slot_of(&value, s.purpose(end).as_deref());
        return Some(reading);
    }
    let taste = [
        "i love",
        "i hate",
        "i dislike",
        "i like",
        "i don't like",
        "i do not like",
        "i really like",
        "i really love",
        "i can't stand",
        "i enjoy",
        "i'm a fan of",
        "i'm not a fan of",
        "i really hate",
        "i'm vegetarian",
        "i'm vegan",
        "i am vegetarian",
        "i am vegan",
    ]
    .iter()
    .find_map(|opening| starts(s.words, 0, opening))?;
    let idle = ["it", "that", "this", "to", "how", "them", "your", "the", "what"].contains(&s.word(taste)) || s.words.len() > 14;
    if s.word(taste - 1).starts_with("veg") {
        return Some(Reading::new(Category::Preference, "diet").slot("diet"));
    }
    (!idle && taste < s.words.len()).then(|| Reading { importance: 600, ..Reading::new(Category::Preference, "taste") })
}

/// "my timezone is CET", "our staging cluster is eu-2": the words between are the slot.
fn attribute(s: &Sentence<'_>) -> Option<Reading> {
    let mine = ["my", "our"].contains(&s.word(0));
    if !mine {
        return None;
    }
    let verb = (2..s.words.len().min(7)).find(|at| ["is", "are", "was"].contains(&s.word(*at)))?;
    let attribute = s.between(1, verb)?.to_lowercase();
    let first = s.word(1);
    if s.word(verb) == "was"
        || NO_ATTRIBUTE.contains(&first)
        || s.negated(verb + 1)
        || ["that", "to", "how", "why", "if", "whether", "what"].contains(&s.word(verb + 1))
    {
        return None;
    }
    let verb = verb + usize::from(["now", "currently"].contains(&s.word(verb + 1)));
    let (value, end) = s.value(verb + 1)?;
    if s.word(verb + 1).ends_with("ing") || end - verb > 8 {
        return None;
    }
    let favourite = ["favorite", "favourite", "preferred", "usual", "default"].contains(&first);
    let category = if favourite {
        Category::Preference
    } else if s.word(0) == "my" && PROFILE.contains(&attribute.as_str()) {
        Category::Profile
    } else {
        Category::Semantic
    };
    let owner = if s.word(0) == "my" { "The user's" } else { "Our" };
    let slot = attribute.replace("favourite", "favorite");
    Some(Reading::new(category, "attribute").text(format!("{owner} {attribute} is {value}.")).slot(slot))
}

/// "we decided to ...", "let's go with ...".
fn decision(s: &Sentence<'_>) -> Option<Reading> {
    const DECIDED: [&str; 27] = [
        "we decided",
        "we've decided",
        "i decided",
        "i've decided",
        "we agreed",
        "we chose",
        "we've agreed",
        "let's go with",
        "lets go with",
        "we'll go with",
        "i'll go with",
        "we're going with",
        "we are going with",
        "decision",
        "i'm going with",
        "we settled on",
        "we have decided",
        "we go with",
        "i go with",
        "we will go with",
        "we'll use",
        "we will use",
        "let's use",
        "lets use",
        "we picked",
        "we opted for",
        "agreed",
    ];
    let at = DECIDED.iter().find_map(|opening| starts(s.words, 0, opening))?;
    (at < s.words.len() && s.words.len() >= 4).then(|| Reading::new(Category::Decision, "decided"))
}

/// "we use Kafka for events": the slot is what it is for.
fn uses(s: &Sentence<'_>) -> Option<Reading> {
    let at = ["we use", "we're using", "we are using", "i use", "we now use", "we run"]
        .iter()
        .find_map(|opening| starts(s.words, 0, opening))?;
    let (value, end) = s.value(at)?;
    let purpose = s.purpose(end)?;
    let mut reading = Reading::new(if s.word(0) == "i" { Category::Preference } else { Category::Semantic }, "used for");
    reading.slot = slot_of(&value, Some(&purpose));
    Some(reading)
}

/// "that fixed it", "the deploy failed": how something ended.
fn outcome(s: &Sentence<'_>) -> Option<Reading> {
    const ENDED: [&str; 16] = [
        "fixed it",
        "it worked",
        "that worked",
        "works now",
        "tests pass",
        "deploy failed",
        "deploy succeeded",
        "build failed",
        "build passed",
        "was fixed by",
        "we shipped",
        "i shipped",
        "is resolved",
        "was resolved",
        "rolled back",
        "went live",
    ];
    (s.words.len() >= 4 && ENDED.iter().any(|phrase| has(s.words, phrase))).then(|| Reading::new(Category::TaskOutcome, "outcome"))
}
