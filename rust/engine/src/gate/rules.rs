//! Rules: what a sentence of a user claims, where its form says it plainly. A rule gives the category, the slot with its value, and what
//! the claim replaces or ends. Sentences that no rule reads are left to the model.

use super::assign::assigned;
use super::guards::{among, has, is_lasting, starts};
use super::lexicon::{CLASSES, NO_ATTRIBUTE, PROFILE};
use super::manner::manner;
use super::told::of_oneself;
use super::values::{identifies, spelled};
use super::words::{Word, widened};
use super::{Category, DENIAL};
use crate::units::calendar::is_named;

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

/// Words behind "and" that begin another clause.
const JOINED: [&str; 34] = [
    "i", "my", "we", "i'm", "it", "you", "the", "don't", "please", "our", "not", "am", "have", "work", "live", "teach", "study", "love",
    "like", "hate", "own", "drive", "weigh", "speak", "prefer", "use", "can", "will", "do", "also", "usually", "was", "want", "need",
];
/// Words that no item of a list has.
const NO_ITEM: [&str; 26] = [
    "i", "i'm", "i've", "i'd", "i'll", "my", "we", "we're", "our", "it", "it's", "you", "your", "is", "are", "was", "were", "have", "has",
    "do", "don't", "am", "will", "can", "nice", "thanks",
];
/// Words of an item at most.
const MOST_ITEM: usize = 4;
/// Words behind a value that add nothing to it.
const IDLE: [&str; 23] = [
    "now",
    "please",
    "thanks",
    "thank",
    "you",
    "anymore",
    "any",
    "more",
    "lately",
    "nowadays",
    "these",
    "days",
    "today",
    "already",
    "currently",
    "recently",
    "though",
    "too",
    "instead",
    "again",
    "and",
    "so",
    "btw",
];
/// Words that begin a request that stands beside a value: "my name is Ana and I need help".
const REQUESTS: [&str; 16] = [
    "i need",
    "i want",
    "i'd like",
    "i would like",
    "i'm looking",
    "can you",
    "could you",
    "what",
    "how",
    "where",
    "who",
    "when",
    "nice to meet",
    "pleased to meet",
    "happy to",
    "please",
];

impl Sentence<'_> {
    pub(super) fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| word.lower.as_str())
    }

    /// The text of words `from..to`, with the signs that stand against them.
    pub(super) fn between(&self, from: usize, to: usize) -> Option<String> {
        let (first, last) = (self.words.get(from)?, self.words.get(to.checked_sub(1)?)?);
        let (start, end) = (from < to).then(|| widened(self.text, first.start, last.end))?;
        Some(self.text[start..end].to_owned())
    }

    /// Whether a comma or another sign that parts stands before a word.
    pub(super) fn parted(&self, at: usize) -> bool {
        let between = at.checked_sub(1).map_or("", |before| &self.text[self.words[before].end..self.words[at].start]);
        // "9:30 - 17:00" is one value, and "1,200" behind a currency's sign.
        let number = at > 1 && self.words[at].is_number();
        between.contains([',', ';', '(', '\u{2014}']) && !(number && between == ",") || between.contains(" - ") && !number
    }

    /// Whether a place or a list goes on behind the comma before a word, and where it is over then: "Lyon, | France", "peanuts, | tree nuts
    /// and shellfish".
    pub(super) fn goes_on(&self, at: usize) -> Option<usize> {
        let between = &self.text[self.words[at - 1].end..self.words[at].start];
        if between.trim() != "," {
            return None;
        }
        let region =
            self.words[at].capital && (self.words[at].lower.len() == 2 || self.words[at - 1].capital && at + 1 == self.words.len());
        if region { Some(at + 1) } else { self.list_end(at) }
    }

    /// Where a list is over whose next item begins here. It is one where "and" or "or" stands before its last item.
    fn list_end(&self, begin: usize) -> Option<usize> {
        let (mut at, mut item, mut joined) = (begin, 0, false);
        while at < self.words.len() {
            let word = self.word(at);
            let joins = ["and", "or"].contains(&word);
            if joined && item > 0 && (joins || self.parted(at) || among(&ENDS_VALUE, word) || self.words[at].is_mark()) {
                return (!joins).then_some(at);
            }
            if among(&NO_ITEM, word) || !joins && !joined && among(&ENDS_VALUE, word) || self.words[at].is_mark() || item == MOST_ITEM {
                return None;
            }
            let begins = at > begin && self.parted(at);
            item = if joins { 0 } else { usize::from(!begins) * item + 1 };
            joined |= joins;
            at += 1;
        }
        (joined && item > 0).then_some(at)
    }

    /// Whether what stands behind a value says more than when it was so, and thanks: a rule that leaves it out would say something else.
    pub(super) fn says_more(&self, end: usize) -> bool {
        let rest = self.words.get(end..).unwrap_or_default();
        let begin = usize::from(rest.first().is_some_and(|word| ["and", "so", "but"].contains(&word.lower.as_str())));
        let asks = REQUESTS.iter().any(|phrase| starts(rest, begin, phrase).is_some());
        !asks && rest.iter().any(|word| !word.is_mark() && !among(&IDLE, &word.lower))
    }

    /// The same where a time does not belong to the value: "I moved to Porto last week".
    pub(super) fn says_more_than_when(&self, end: usize) -> bool {
        let rest = self.words.get(end..).unwrap_or_default();
        let dated =
            rest.first().is_some_and(|word| ["last", "yesterday", "ago", "this", "next", "tomorrow"].contains(&word.lower.as_str()));
        !(dated && rest.len() <= 2) && self.says_more(end)
    }

    /// Where the value that begins at `from` is over: at a word that parts, at a sign, after eight words.
    fn value_end(&self, from: usize) -> usize {
        let mut at = from;
        while at < self.words.len() && at < from + 8 {
            let word = self.word(at);
            let is_over = among(&ENDS_VALUE, word) || self.words[at].is_mark() || at > from && self.parted(at);
            let joins_clause = word == "and" && among(&JOINED, self.word(at + 1));
            if let Some(end) = (at > from && self.parted(at)).then(|| self.goes_on(at)).flatten() {
                return end;
            }
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
        .or_else(|| manner(&rest))
        .or_else(|| lasting(sentence, &rest))
        .or_else(|| not_allergic(&rest))
        .or_else(|| no_longer(&rest))
        .or_else(|| switched(&rest))
        .or_else(|| name(&rest))
        .or_else(|| person(&rest))
        .or_else(|| prefers(&rest))
        .or_else(|| attribute(&rest))
        .or_else(|| decision(&rest))
        .or_else(|| assigned(&rest))
        .or_else(|| uses(&rest))
        .or_else(|| outcome(&rest))
        .or_else(|| of_oneself(&rest));
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
    const OPENINGS: [&str; 36] = [
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
        "turns out",
        "it turns out that",
        "it turns out",
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
    if let Some((how, at)) = allergy(s) {
        let (value, end) = s.value(at)?;
        let text = format!("The user is {how}allergic to {value}.");
        return Some(Reading::new(Category::Constraint, "allergy").told(text, !s.says_more(end)));
    }
    let is_rule = RULE_OPENINGS.iter().any(|opening| starts(s.words, 0, opening).is_some()) && s.words.len() >= 3;
    let idle = ["never mind", "never mind that", "always happy", "never heard", "always good", "never been"]
        .iter()
        .any(|phrase| starts(s.words, 0, phrase).is_some());
    (is_rule && !idle).then(|| Reading::new(Category::Constraint, "rule"))
}

/// How somebody is allergic, and where what they are allergic to begins.
fn allergy(s: &Sentence<'_>) -> Option<(String, usize)> {
    const HOW: [&str; 9] = ["severely", "very", "highly", "extremely", "seriously", "deathly", "mildly", "slightly", "really"];
    if let Some(at) = starts(s.words, 0, "i have an allergy to") {
        return Some((String::new(), at));
    }
    let at = starts(s.words, 0, "i'm").or_else(|| starts(s.words, 0, "i am"))?;
    let at = at + usize::from(s.word(at) == "also");
    let degree = usize::from(among(&HOW, s.word(at)));
    let how = if degree > 0 { format!("{} ", s.word(at)) } else { String::new() };
    starts(s.words, at + degree, "allergic to").map(|behind| (how, behind))
}

/// Verbs of what somebody does with something, or has: where they do not any more, what says that they do is over. Of others, as "I don't
/// trust Acme any more", it says nothing.
const DOES: [&str; 44] = [
    "use", "using", "have", "having", "own", "owning", "need", "prefer", "live", "living", "stay", "staying", "reside", "work", "working",
    "like", "love", "enjoy", "want", "drive", "driving", "play", "playing", "take", "taking", "drink", "drinking", "eat", "eating", "run",
    "running", "smoke", "smoking", "support", "go", "going", "attend", "study", "studying", "learning", "follow", "wear", "speak", "teach",
];

/// "I don't use Python any more", "I no longer live in Berlin", "I'm not vegan anymore".
fn no_longer(s: &Sentence<'_>) -> Option<Reading> {
    if !["i", "we", "i'm", "we're", "i've", "we've"].contains(&s.word(0)) {
        return None;
    }
    // "I don't need any more help" says nothing of what is over.
    let is_last = |at: usize| at >= s.words.len() || s.parted(at) || ["because", "since", "so", "but", "and"].contains(&s.word(at));
    let over = ["any more", "anymore", "any longer"]
        .iter()
        .any(|phrase| (2..s.words.len()).any(|at| starts(s.words, at, phrase).is_some_and(is_last)));
    let is = usize::from(["am", "are", "have"].contains(&s.word(1)));
    let at = if over && ["don't", "not", "do", "won't", "can't"].contains(&s.word(1 + is)) {
        2 + is + usize::from(s.word(1) == "do")
    } else {
        starts(s.words, 1 + is, "no longer").or_else(|| starts(s.words, 1 + is, "stopped").or_else(|| starts(s.words, 1 + is, "quit")))?
    };
    let mut reading = Reading::new(Category::Preference, "not any more");
    if is == 1 || ["i'm", "we're"].contains(&s.word(0)) {
        let begin = at + usize::from(["in", "at", "with"].contains(&s.word(at)));
        let (value, _) = s.value(begin)?;
        let says_what = begin > at || ["a", "an", "the"].contains(&s.word(at)) || of_class("diet", &value);
        reading.category = if begin > at { Category::Semantic } else { reading.category };
        reading.ends = Some(value);
        return says_what.then_some(reading);
    }
    if !among(&DOES, s.word(at)) {
        let stops = s.word(at).ends_with("ing") && at + 1 == s.words.len();
        return (over || stops).then_some(reading);
    }
    let object = at + 1 + usize::from(["in", "at", "for", "to", "with"].contains(&s.word(at + 1)));
    reading.ends = s.value(object).map(|(value, _)| value);
    Some(reading)
}

/// Whether a word of a value is one of a class.
fn of_class(class: &str, value: &str) -> bool {
    let words = CLASSES.iter().find(|(name, _)| *name == class).map_or(&[][..], |(_, words)| *words);
    value.to_lowercase().split_whitespace().any(|word| words.contains(&word))
}

/// How an instruction to a model begins that holds where it says "always", "from now on", ...
const INSTRUCTS: [&str; 38] = [
    "answer",
    "reply",
    "respond",
    "speak",
    "talk",
    "write",
    "explain",
    "use",
    "keep",
    "format",
    "translate",
    "summarize",
    "summarise",
    "call",
    "address",
    "include",
    "add",
    "show",
    "give",
    "tell",
    "ask",
    "run",
    "check",
    "be",
    "start",
    "end",
    "put",
    "name",
    "list",
    "describe",
    "convert",
    "send",
    "remind",
    "make",
    "avoid",
    "stop",
    "don't",
    "do",
];

/// "From now on write all comments in English", "answer in German, always".
fn lasting(whole: &Sentence<'_>, s: &Sentence<'_>) -> Option<Reading> {
    let at = starts(s.words, 0, "please").unwrap_or(0);
    (among(&INSTRUCTS, s.word(at)) && s.words.len() >= 3 && is_lasting(whole.words)).then(|| Reading::new(Category::Constraint, "rule"))
}

/// "I'm not allergic to nuts": what must hold does not, or does so no longer.
fn not_allergic(s: &Sentence<'_>) -> Option<Reading> {
    const NOT: [&str; 4] = ["i'm not allergic to", "i am not allergic to", "i'm not actually allergic to", "i was never allergic to"];
    const NO_LONGER: [&str; 3] = ["i'm no longer allergic to", "i am no longer allergic to", "i'm not allergic any more to"];
    let opened = |openings: &[&str]| openings.iter().find_map(|opening| starts(s.words, 0, opening));
    let is_over = ["any more", "anymore", "any longer", "after all"].iter().any(|phrase| has(s.words, phrase));
    let (at, rule) = match opened(&NO_LONGER) {
        Some(at) => (at, "no allergy any more"),
        None => (opened(&NOT)?, if is_over { "no allergy any more" } else { DENIAL }),
    };
    let (value, _) = s.value(at)?;
    let value = value.strip_suffix(" after all").unwrap_or(&value);
    Some(Reading::new(Category::Constraint, rule).text(format!("The user is not allergic to {value}.")))
}

/// The value that a denial names: "I don't live in Berlin", "I'm not vegan", "my name is not Bob".
pub fn denied(s: &Sentence<'_>) -> Option<String> {
    let opened = |openings: &[&str]| openings.iter().find_map(|opening| starts(s.words, 0, opening));
    if let Some(at) = opened(&["i'm not", "we're not", "i am not", "we are not"]) {
        let begin = at + usize::from(["in", "at", "with"].contains(&s.word(at)));
        let (value, _) = s.value(begin)?;
        return (begin > at || ["a", "an", "the"].contains(&s.word(at)) || of_class("diet", &value)).then_some(value);
    }
    if let Some(verb) = opened(&["i don't", "i do not", "we don't", "we do not"]).filter(|verb| among(&DOES, s.word(*verb))) {
        let object = verb + 1 + usize::from(["in", "at", "for", "to", "with"].contains(&s.word(verb + 1)));
        return s.value(object).map(|(value, _)| value);
    }
    let verb = (2..s.words.len().min(7)).find(|at| ["is", "are", "isn't", "aren't"].contains(&s.word(*at)))?;
    let value = verb + 1 + usize::from(s.word(verb + 1) == "not");
    ["my", "our"].contains(&s.word(0)).then(|| s.value(value)).flatten().map(|(value, _)| value)
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
    let to = starts(s.words, verb, "to")?;
    let (value, end) = s.value(to)?;
    let slot = slot_of(&value, s.purpose(end).as_deref());
    if old.is_none() && slot.is_none() && s.word(at) == "moved" {
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

/// Names of things that teams move to, and nobody lives in.
const NO_HOME: [&str; 48] = [
    "kubernetes",
    "k8s",
    "github",
    "gitlab",
    "bitbucket",
    "aws",
    "azure",
    "gcp",
    "google",
    "amazon",
    "microsoft",
    "kafka",
    "docker",
    "terraform",
    "slack",
    "teams",
    "discord",
    "zoom",
    "jira",
    "linear",
    "notion",
    "confluence",
    "asana",
    "trello",
    "bazel",
    "react",
    "vue",
    "angular",
    "svelte",
    "graphql",
    "grpc",
    "rest",
    "s3",
    "bigquery",
    "snowflake",
    "databricks",
    "jenkins",
    "circleci",
    "vercel",
    "netlify",
    "heroku",
    "cloudflare",
    "figma",
    "hetzner",
    "oracle",
    "sap",
    "salesforce",
    "stripe",
];

/// Whether somebody who moved to what begins at a word lives there now: a name, and where "we" moved none of a tool.
fn is_place(s: &Sentence<'_>, at: usize) -> bool {
    let word = s.word(at);
    let is_tool = among(&NO_HOME, word)
        || word.contains(['.', '-', '/'])
        || s.words[at..].iter().any(|word| word.is_number() && word.lower.len() < 4);
    s.names(at) && !(["we", "we've"].contains(&s.word(0)) && (is_tool || !s.words[at].capital))
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
    let at = ["call me", "my name is", "my name's", "i'm called", "i am called", "i go by", "you can call me", "please call me"]
        .iter()
        .find_map(|opening| starts(s.words, 0, opening))?;
    if s.negated(at) || ["when", "if", "at", "back", "a", "later", "on", "tomorrow", "crazy"].contains(&s.word(at)) {
        return None;
    }
    let (value, end) = s.value(at)?;
    let whole = !s.says_more(end);
    (end - at <= 4 && identifies("name", &value))
        .then(|| Reading::new(Category::Profile, "name").told(format!("The user's name is {value}."), whole).slot("name"))
}

/// Words that follow "I work at the ..." and are nobody's name.
const NO_EMPLOYER: [&str; 14] =
    ["moment", "weekend", "weekends", "office", "night", "time", "same", "minute", "desk", "kitchen", "table", "end", "beginning", "day"];
/// Words that follow "live in" and "work at" and name neither a place nor an employer, where nothing is written with a capital.
const NO_PLACE: [&str; 33] = [
    "fear", "pain", "hope", "peace", "poverty", "luxury", "denial", "silence", "harmony", "misery", "terror", "comfort", "exile",
    "constant", "sin", "debt", "night", "nights", "home", "weekends", "weekend", "times", "day", "days", "noon", "dawn", "least", "most",
    "all", "a", "an", "the", "my",
];

impl Sentence<'_> {
    /// Whether a name begins at a word: with a capital, or in a sentence whose writer uses none.
    fn names(&self, at: usize) -> bool {
        let plain = self.words.iter().all(|word| !word.capital);
        let begin = at + usize::from(self.word(at) == "the");
        let foreign = |word: &Word| !word.lower.as_bytes()[0].is_ascii();
        self.words.get(begin).is_some_and(|word| word.capital || word.is_number() || foreign(word))
            || plain && self.words.get(at).is_some_and(|word| !among(&NO_PLACE, &word.lower))
    }
}

/// Where somebody lives and works, how old they are.
fn person(s: &Sentence<'_>) -> Option<Reading> {
    let at = |openings: &[&str]| openings.iter().find_map(|opening| starts(s.words, 0, opening));
    let profile = |rule, text: String, end, slot: &str| {
        Some(Reading::new(Category::Profile, rule).told(text, !s.says_more_than_when(end)).slot(slot))
    };
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
        let (place, end) = s.value(at)?;
        // "I live in fear" and "I live in a small flat" say how somebody lives, and not where.
        return Some(if s.names(at) { home(s, &place, end) } else { Reading::new(Category::Semantic, "how somebody lives") });
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
        let (company, end) = s.value(at)?;
        let employs = among(&["a", "an", "the", "my", "our", "myself"], s.word(at)) && !among(&NO_EMPLOYER, s.word(at + 1));
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
    let named = s.between(1, verb)?;
    let attribute = named.to_lowercase();
    let first = s.word(1);
    if s.word(verb) == "was"
        || NO_ATTRIBUTE.contains(&first)
        || s.negated(verb + 1)
        || ["that", "to", "how", "why", "if", "whether", "what"].contains(&s.word(verb + 1))
    {
        return None;
    }
    let is = s.word(verb);
    let verb = verb + usize::from(["now", "currently"].contains(&s.word(verb + 1)));
    let (value, end) = s.value(verb + 1)?;
    if s.word(verb + 1).ends_with("ing") || end - verb > 8 && !(verb + 2..end).any(|at| s.parted(at)) {
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
    let text = format!("{owner} {named} {is} {value}.");
    let reading = Reading::new(category, "attribute").told(text, !s.says_more(end));
    // How something is for now stands beside what it is.
    Some(if identifies(&attribute, &value) { reading.slot(spelled(&attribute)) } else { reading })
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
