//! Standing orders: what one is about, so that the newer takes the place of the older, and what ends one. "Always answer in French" and
//! "from now on, English please" are about one thing; "you can use emojis again" ends "never use emojis".
//!
//! An order has such a slot only where it says nothing else: "answer in French when I write in French" has none.

use super::lists::lists;
use super::sentence::Sentence;
use super::words::{Word, among, has, starts, words};

lists! { "orders":
    /// Words of an order that say nothing of what it is about.
    PLAIN,
    /// Languages.
    LANGUAGES,
    /// Ways to set an answer.
    FORMS,
    /// Tones of an answer.
    TONES,
    /// How letters are set.
    CASES,
    /// Words for short answers.
    SHORT,
    /// Words for long answers.
    LONG,
    /// Words that stand beside how long an answer is.
    BESIDE_LENGTH,
    /// Units of the length of an answer: it has so many of them.
    LENGTH_UNITS,
    /// How it begins that something need not be done any more.
    STOPS,
    /// How it begins that something may be done again.
    PERMITS,
    /// How it ends that something may be done again: "emojis are fine".
    FINE,
    /// Words that say that it was otherwise before.
    AGAIN,
    /// Objects that point at something that was said before, of which no order speaks.
    POINTS,
}

/// A thing that an order may be about: the slot, the words of a value, and the words that may stand beside one.
struct Topic {
    slot: &'static str,
    values: &'static [&'static str],
    beside: &'static [&'static str],
    /// Whether it is done or not done. Of others an order names one of several values, and one that denies a value gives none.
    toggles: bool,
}

const fn choice(slot: &'static str, values: &'static [&'static str], beside: &'static [&'static str]) -> Topic {
    Topic { slot, values, beside, toggles: false }
}

const fn toggle(slot: &'static str, values: &'static [&'static str], beside: &'static [&'static str]) -> Topic {
    Topic { slot, values, beside, toggles: true }
}

/// The slot of how long answers are.
const LENGTH: &str = "answer length";
/// The slot of how answers are set.
const FORM: &str = "answer form";

static TOPICS: [Topic; 13] = [
    choice("spelling", &["british", "american", "canadian", "australian"], &["spelling", "spellings", "english"]),
    choice("answer language", &LANGUAGES, &["language"]),
    choice("units", &["metric", "imperial", "si"], &["units", "unit", "system", "measurements"]),
    choice("temperature unit", &["celsius", "fahrenheit", "kelvin"], &["temperatures", "temperature", "degrees"]),
    choice("distance unit", &["miles", "kilometers", "kilometres", "km"], &["distances", "distance"]),
    choice("currency", &["euros", "dollars", "pounds", "eur", "usd", "gbp"], &["prices", "price", "amounts", "costs", "us"]),
    choice("clock", &["24-hour", "12-hour", "24h", "12h"], &["clock", "time", "times"]),
    choice("tone", &TONES, &["tone", "style", "manner", "register", "voice"]),
    choice("letter case", &CASES, &["normal", "normally", "proper", "regular", "standard", "letters", "case"]),
    toggle(FORM, &FORMS, &["points", "text", "short"]),
    toggle("emojis", &["emojis", "emoji", "emoticons", "emoticon", "smileys"], &[]),
    toggle("markdown", &["markdown"], &["syntax"]),
    toggle("tables", &["tables"], &[]),
];

/// Bytes of the way to write a date at most.
const MOST_DATE: usize = 24;
/// Words that deny.
const DENIES: [&str; 12] = ["never", "not", "don't", "no", "without", "stop", "avoid", "quit", "skip", "mustn't", "shouldn't", "enough"];

/// An order, by the thing that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The slot of what it is about.
    pub slot: &'static str,
    /// The word that it names of it.
    value: String,
    /// Whether it forbids.
    denies: bool,
    /// Whether what it is about is done or not done.
    pub(super) toggles: bool,
    /// The number of words or lines that it names.
    count: Option<u32>,
}

impl Order {
    /// The slot that it gives a value to. An order not to speak a language names none.
    #[must_use]
    pub fn gives(&self) -> Option<&'static str> {
        (self.toggles || !self.denies).then_some(self.slot)
    }

    /// Whether it is what another one permits or says to stop.
    fn is_lifted_by(&self, other: &Self, permits: bool) -> bool {
        // "You can write longer answers again" ends "answer briefly".
        let is_longer = permits && self.slot == LENGTH && !self.denies && self.value != other.value;
        self.slot == other.slot && (is_longer || self.denies == permits && self.value == other.value)
    }

    /// Whether it and an older one of its slot both hold: "be brief" says nothing against "under 200 words", nor "at least 20 words", nor
    /// "no bullets" against "write paragraphs".
    #[must_use]
    pub fn stands_beside(&self, older: &Self) -> bool {
        let is_range = |least: &Self, most: &Self| {
            let both = least.count.zip(most.count);
            least.value == "long" && most.value == "short" && both.is_some_and(|(least, most)| least <= most)
        };
        let is_of_length = |one: &Self| one.slot == LENGTH && !one.denies;
        if is_of_length(self) && is_of_length(older) {
            let says_less = self.value == older.value && self.count.is_none() && older.count.is_some();
            return says_less || is_range(self, older) || is_range(older, self);
        }
        // Bullets are lists, and paragraphs have sentences.
        let is_list = |one: &Self| ["bullet", "list"].contains(&one.value.as_str());
        let are_forms = self.slot == FORM && older.slot == FORM;
        are_forms && is_list(self) != is_list(older) && (self.denies || older.denies)
    }

    /// Whether what permits or stops it has its slot.
    pub(super) fn is_of_slot(&self) -> bool {
        self.toggles || self.slot == LENGTH
    }
}

/// How dates are written has as many values as there are ways.
const DATES: [&str; 4] = ["dates as", "dates in", "dates like", "the date as"];

/// The order that words give, where they say nothing else.
pub(super) fn order(words: &[Word]) -> Option<Order> {
    if tells(words) { None } else { said(words) }
}

/// The order that words give where they say nothing else, or the value of its topic that words only tell: "the units are metric".
fn said(words: &[Word]) -> Option<Order> {
    if let Some(order) = length(words) {
        return Some(order);
    }
    if let Some((topic, value)) = in_place_of_another(words) {
        return Some(Order { slot: topic.slot, value: singular(value), denies: false, toggles: topic.toggles, count: None });
    }
    let denies = words.iter().any(|word| among(&DENIES, &word.lower));
    let mut rest = words.iter().filter(|word| !word.is_mark() && !among(&PLAIN, &word.lower)).map(|word| word.lower.as_str());
    if (0..words.len()).any(|at| DATES.iter().any(|dates| starts(words, at, dates).is_some())) {
        let is_date = rest.next().is_some_and(|word| word.starts_with("date"));
        let value = rest.collect::<Vec<_>>().join(" ");
        let short = (1..=MOST_DATE).contains(&value.len());
        return (is_date && short).then_some(Order { slot: "date format", value, denies, toggles: false, count: None });
    }
    let rest: Vec<&str> = telling(words).into_iter().map(|(_, word)| word).collect();
    TOPICS.iter().find_map(|topic| {
        let mut values = rest.iter().filter(|word| among(topic.values, word));
        let value = values.next()?;
        let only = values.next().is_none() && rest.iter().all(|word| among(topic.values, word) || among(topic.beside, word));
        only.then(|| Order { slot: topic.slot, value: singular(value), denies, toggles: topic.toggles, count: None })
    })
}

/// Whether words tell how something is, or what somebody does, and order nothing: "your answers are in Dutch", "you use bullets", "I speak
/// German". "Your answers may be longer" and "I want all answers in French" are orders.
fn tells(words: &[Word]) -> bool {
    const ALLOWS: [&str; 6] = ["should", "must", "shall", "may", "can", "could"];
    const WISHES: [&str; 6] = ["i want", "i need", "i'd like", "i would like", "i prefer", "i'd prefer"];
    const OF_ANSWERS: [&str; 9] = ["you", "answers", "replies", "responses", "explanations", "messages", "output", "outputs", "everything"];
    let Some(first) = words.first().map(|word| word.lower.as_str()) else { return false };
    let any = |list: &[&str]| words.iter().any(|word| among(list, &word.lower));
    if ["i", "i'm", "i've", "i'd", "i'll"].contains(&first) {
        return !WISHES.iter().any(|wish| starts(words, 0, wish).is_some()) || !any(&OF_ANSWERS);
    }
    let is_told = any(&["used", "was", "were"]) || any(&["is", "are"]) && !begins_with_verb(words) || ["you", "my"].contains(&first);
    is_told && !any(&ALLOWS) && !has(words, "from now on") && !has(words, "going forward")
}

/// Verbs that ask for something.
const ASKS: [&str; 21] = [
    "use", "answer", "reply", "respond", "speak", "talk", "write", "explain", "give", "keep", "put", "format", "send", "show", "display",
    "switch", "go", "change", "set", "make", "let's",
];

/// Whether words begin with a verb that asks for something, possibly behind "please".
fn begins_with_verb(words: &[Word]) -> bool {
    const BEFORE: [&str; 9] = ["please", "and", "ok", "okay", "now", "so", "but", "then", "actually"];
    let begins = |word: &Word| among(&ASKS, &word.lower) || ["be", "always", "never"].contains(&word.lower.as_str());
    words.iter().find(|word| !among(&BEFORE, &word.lower)).is_some_and(begins)
}

/// The words that say what an order is about, with their places. "Full sentences" are one.
fn telling(words: &[Word]) -> Vec<(usize, &str)> {
    let is_whole = |at: usize| {
        let whole = words.get(at).is_some_and(|word| ["full", "complete", "whole"].contains(&word.lower.as_str()));
        whole && words.get(at + 1).is_some_and(|next| next.lower == "sentences")
    };
    let tells = |at: &usize| {
        let word = &words[*at];
        let says_nothing = word.is_mark() || among(&PLAIN, &word.lower);
        !says_nothing && (*at == 0 || !is_whole(at - 1))
    };
    let told = |at: usize| (at, if is_whole(at) { "full-sentences" } else { words[at].lower.as_str() });
    (0..words.len()).filter(tells).map(told).collect()
}

fn singular(value: &str) -> String {
    value.strip_suffix('s').unwrap_or(value).to_owned()
}

/// How long answers are to be, where words say nothing else: "give me long detailed answers", "keep your answers under 50 words". "You no
/// longer have to" says nothing of it.
fn length(words: &[Word]) -> Option<Order> {
    let no_longer = |at: usize| words[at].lower == "longer" && at > 0 && ["no", "any"].contains(&words[at - 1].lower.as_str());
    let said = |list: &[&str]| (0..words.len()).any(|at| among(list, &words[at].lower) && !no_longer(at));
    let counted = |at: usize| words[at].is_number() && words.get(at + 1).is_some_and(|unit| among(&LENGTH_UNITS, &unit.lower));
    let number = (0..words.len()).find(|at| counted(*at));
    let is_of_length = |at: usize| {
        let word = words[at].lower.as_str();
        let is_counted = number.is_some_and(|number| at == number || at == number + 1);
        words[at].is_mark() || is_counted || [&PLAIN[..], &SHORT, &LONG, &BESIDE_LENGTH].iter().any(|list| among(list, word))
    };
    let at_most = has(words, "no more than") || has(words, "not more than");
    let at_least = said(&["least"]) || !at_most && (has(words, "more than") || said(&["over"]));
    let (short, long) = (said(&SHORT) || number.is_some() && !at_least, said(&LONG) && number.is_none() || at_least);
    let denies =
        words.iter().enumerate().any(|(at, word)| among(&DENIES, &word.lower) && !words.get(at + 1).is_some_and(|_| no_longer(at + 1)));
    let count = number.and_then(|at| words[at].lower.replace(',', "").parse().ok());
    let value = if short { "short" } else { "long" }.to_owned();
    let order = Order { slot: LENGTH, value, denies: denies && !at_most, toggles: false, count };
    (short != long && (0..words.len()).all(is_of_length)).then_some(order)
}

/// The value that an order puts in the place of another one of its topic, which it denies: "full sentences please, no bullets".
fn in_place_of_another(words: &[Word]) -> Option<(&'static Topic, &str)> {
    let rest = telling(words);
    TOPICS.iter().find_map(|topic| {
        let mut values = rest.iter().filter(|(_, word)| among(topic.values, word));
        let (Some((first, one)), Some((second, other)), None) = (values.next(), values.next(), values.next()) else { return None };
        let only = rest.iter().all(|(_, word)| among(topic.values, word) || among(topic.beside, word));
        let denied = |from: usize, to: usize| {
            words[from..to].iter().any(|word| among(&DENIES, &word.lower) || ["instead", "rather"].contains(&word.lower.as_str()))
        };
        match (denied(0, *first), denied(*first, *second)) {
            (true, false) if only => Some((topic, *other)),
            (false, true) if only => Some((topic, *one)),
            _ => None,
        }
    })
}

/// Whether words ask for a value in the place of another one, or for one again: "please write full sentences again". They begin with the verb:
/// "bullets again!" complains. An order about a text or about one answer holds for that alone, as one without "again" may that stands beside
/// other words in its message: "write me an email. Use full sentences, no bullets".
pub(super) fn is_back(text: &str, words: &[Word]) -> bool {
    const ONE: [&str; 6] = ["answer", "reply", "response", "output", "explanation", "message"];
    let own = words.iter().any(|word| ["i", "i'm", "i've", "i'd", "we", "we're", "can", "may"].contains(&word.lower.as_str()));
    let of_one = (0..words.len()).any(|at| {
        let word = words[at].lower.as_str();
        let pointed = at > 0 && ["the", "your", "my", "an", "a", "this", "that"].contains(&words[at - 1].lower.as_str());
        word == "text" || pointed && ONE.contains(&word)
    });
    let again = words.iter().rev().find(|word| !word.is_mark() && word.lower != "please").is_some_and(|word| word.lower == "again");
    let in_place = in_place_of_another(words).is_some() && (again || is_alone(text, words));
    // "No more bullets please, write full sentences": the verb stands behind that which is denied.
    let denies = words.iter().find(|word| word.lower != "please").is_some_and(|word| among(&["no", "don't", "stop"], &word.lower));
    let asks = || words.iter().any(|word| among(&ASKS, &word.lower));
    !own && !of_one && (begins_with_verb(words) && (again || in_place) || denies && in_place && asks())
}

/// The value that a sentence denies at its end, behind one that it puts in the place of it: "black" of "run ruff before you commit, not
/// black".
pub(super) fn denied_at_end(s: &Sentence<'_>) -> Option<String> {
    const MOST: usize = 3;
    let not = (2..s.words.len()).find(|at| s.word(*at) == "not" && s.parted(*at))?;
    let (value, end) = s.value(not + 1)?;
    let lasts = ["from now on", "any more", "anymore", "please", "now"].iter().find_map(|phrase| starts(s.words, end, phrase));
    let is_last = s.words[lasts.unwrap_or(end)..].iter().all(Word::is_mark);
    (is_last && (1..=MOST).contains(&(end - not - 1))).then_some(value)
}

/// Whether words are all of a message but for a greeting or thanks.
fn is_alone(text: &str, own: &[Word]) -> bool {
    const IDLE: [&str; 12] = ["ok", "okay", "thanks", "thank", "you", "hi", "hey", "hello", "great", "please", "sorry", "hm"];
    let (Some(first), Some(last)) = (own.first(), own.last()) else { return false };
    let is_idle = |part: &str| words(part).iter().all(|word| word.is_mark() || among(&IDLE, &word.lower));
    is_idle(&text[..first.start]) && is_idle(&text[last.end..])
}

/// The order that a text gives.
#[must_use]
pub fn order_of(text: &str) -> Option<Order> {
    order(&words(text))
}

/// Whether a text orders a value of a slot, or tells one: "use metric units", "the units are metric".
#[must_use]
pub fn says_value_of(text: &str, slot: &str) -> bool {
    said(&words(text)).is_some_and(|order| order.gives() == Some(slot))
}

/// Words that end a standing order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lift {
    /// Whether it permits what was forbidden; else it says to stop what was asked for.
    pub permits: bool,
    /// The act that they speak of, in the user's words: "use emojis", "answering in French".
    pub phrase: String,
    /// The thing that it is about.
    pub order: Option<Order>,
}

impl Lift {
    /// The words by which what is over is known. One that is about a thing with a slot ends by no mention of that, and has all its own words.
    pub(super) fn ends(self, text: &str) -> String {
        if self.order.is_some() { text.trim().to_owned() } else { self.phrase }
    }

    /// Whether it ends an order that is about something with a slot, and about nothing else.
    #[must_use]
    pub fn lifts(&self, text: &str) -> bool {
        self.order.as_ref().is_some_and(|own| order_of(text).is_some_and(|order| order.is_lifted_by(own, self.permits)))
    }
}

/// The standing order that words end: "stop answering in French", "you don't have to add tests any more", "you can use emojis again".
pub(super) fn lift(text: &str, own: &[Word]) -> Option<Lift> {
    let mut begin = 0;
    while let Some(next) = ["from now on", "going forward", "please", "ok", "okay", "actually", "now", "and", "so", "also", "yes"]
        .iter()
        .find_map(|opening| starts(own, begin, opening))
    {
        begin = next;
    }
    let again = |at: usize| AGAIN.iter().filter_map(|phrase| starts(own, at, phrase)).max();
    let last = own.iter().rposition(|word| !word.is_mark())? + 1;
    let mut end = last;
    while let Some(at) =
        (begin + 1..end).find(|at| again(*at).is_some_and(|next| next >= end) || *at + 1 == end && own[*at].lower == "please")
    {
        end = at;
    }
    let changes = end < last || (0..begin).any(|at| again(at).is_some());
    let made = |from: usize, to: usize, permits: bool| {
        let points = own[from..to].iter().any(|word| among(&POINTS, &word.lower));
        let phrase = (from < to && !points).then(|| text[own[from].start..own[to - 1].end].to_owned())?;
        let order = order(&own[from..to]);
        Some(Lift { permits, phrase, order })
    };
    if let Some(at) = (begin + 1..end).find(|at| FINE.iter().any(|fine| starts(own, *at, fine) == Some(end))) {
        return made(begin, at, true).filter(|lift| lift.order.is_some());
    }
    let opened = |openings: &[&str]| openings.iter().filter_map(|opening| starts(own, begin, opening)).max();
    if let Some(at) = opened(&STOPS) {
        // "You don't have to come" says nothing of what was.
        let says_so =
            changes || ["stop", "quit", "longer", "enough", "more"].iter().any(|word| own[begin..at].iter().any(|own| own.lower == *word));
        let stops = ["stop", "quit"].contains(&own[at - 1].lower.as_str());
        let is_act = !stops || own.get(at).is_some_and(|word| word.lower.ends_with("ing"));
        // "Don't call me any more" is about no order.
        let of_thing = ["with", "of", "no", "more", "don't", "not"].contains(&own[at - 1].lower.as_str());
        // "No emojis from now on" is an order of its own, and "no emojis any more" ends one.
        let is_own = ["no", "don't", "not"].contains(&own[at - 1].lower.as_str());
        let over = !is_own || own[end..last].iter().any(|word| ["more", "anymore", "longer", "again"].contains(&word.lower.as_str()));
        // "No more than 50 words" is an order of its own.
        let over = over && own.get(at).is_none_or(|next| next.lower != "than");
        return made(at, end, false).filter(|lift| says_so && over && is_act && (!of_thing || lift.order.is_some()));
    }
    let at = opened(&PERMITS)?;
    let changes = changes || own[begin..at].iter().any(|word| word.lower == "now");
    if own[at..end].iter().any(|word| word.lower == "stop") {
        return None;
    }
    made(at, end, true).filter(|lift| changes && (lift.order.is_some() || end > at + 1))
}

/// The standing order that a text ends.
#[must_use]
pub fn lift_of(text: &str) -> Option<Lift> {
    lift(text, &words(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_about_one_thing_and_says_nothing_else() {
        for (text, slot) in [
            ("Always answer in French.", "answer language"),
            ("From now on, English please.", "answer language"),
            ("I want all answers in French from now on.", "answer language"),
            ("Always use metric units.", "units"),
            ("Always give temperatures in Celsius.", "temperature unit"),
            ("Never use emojis in your answers.", "emojis"),
            ("From now on, no tables please", "tables"),
            ("Always answer in bullet points.", "answer form"),
            ("From now on use British spelling.", "spelling"),
            ("Always write dates as DD/MM.", "date format"),
            ("Always use a formal tone.", "tone"),
            ("No more bullet points please, write full sentences.", "answer form"),
            ("Answer me in full sentences again please, no bullets.", "answer form"),
            ("Always answer in English, not French.", "answer language"),
            ("Please answer briefly.", "answer length"),
            ("Please give me long detailed answers from now on.", "answer length"),
            ("Your answers may be longer from now on.", "answer length"),
            ("Keep your answers under 50 words.", "answer length"),
            ("Answer in lowercase only.", "letter case"),
            ("Use normal capitalisation again.", "letter case"),
        ] {
            assert_eq!(order_of(text).and_then(|order| order.gives()), Some(slot), "{text}");
        }
        for text in [
            "Answer in French when I write in French.",
            "Always answer in English and French.",
            "Never use emojis in commit messages.",
            "From now on write all comments in English.",
            "Always answer in plain English.",
            "Always answer in English just this once.",
            "Never answer in French.",
            "Never deploy on Fridays.",
            "Use bullets or paragraphs.",
            "No bullets, no paragraphs.",
            "Keep commit messages under 50 words.",
            "Always keep sentences short.",
            "You no longer have to answer.",
            "Answer briefly when I'm at work.",
            "Never write long answers in English.",
            "Use 50 words of French.",
            "The sentences are long.",
            "Your answers are in Dutch again!",
            "Your reply is in Dutch, not English.",
            "You used emojis again.",
            "You are using bullets again.",
            "I speak German.",
            "I earn in dollars.",
        ] {
            assert_eq!(order_of(text).and_then(|order| order.gives()), None, "{text}");
        }
    }

    #[test]
    fn a_value_is_denied_at_the_end() {
        let denied = |text: &str| denied_at_end(&Sentence { text, words: &words(text) });
        for (text, value) in [
            ("Run ruff format before you commit, not black.", "black"),
            ("Use tabs, not spaces, from now on.", "spaces"),
            ("We use psycopg now, not asyncpg", "asyncpg"),
        ] {
            assert_eq!(denied(text).as_deref(), Some(value), "{text}");
        }
        for text in
            ["Do not use black.", "Use tabs, not spaces, in Go files.", "Use tabs not spaces.", "Ask first, not when it is too late to ask"]
        {
            assert_eq!(denied(text), None, "{text}");
        }
    }

    #[test]
    fn only_what_begins_with_a_verb_asks_for_something_again() {
        for text in [
            "Please write full sentences again.",
            "Use normal capitalisation again please.",
            "Write full sentences, no bullets.",
            "No more bullet points please, write full sentences.",
        ] {
            assert!(is_back(text, &words(text)), "{text}");
        }
        for text in [
            "Emojis again!",
            "No emojis again!",
            "The answer is in prose again.",
            "Your answers are long again.",
            "Your reply is in Dutch, not English.",
            "Full sentences please, no bullets.",
            "Give me the text in paragraphs, no bullets.",
            "Write the answer in prose again.",
        ] {
            assert!(!is_back(text, &words(text)), "{text}");
        }
    }

    #[test]
    fn two_lengths_hold_where_neither_denies_the_other() {
        let beside = |new, older| order_of(new).unwrap().stands_beside(&order_of(older).unwrap());
        let under = "Keep answers under 200 words.";
        assert!(beside("Please always be brief.", under) && beside("Always write at least 20 words.", under));
        assert!(beside("Write more than 20 words.", under) && !beside("Write no more than 50 words.", under));
        assert!(!beside("Keep answers under 100 words.", under) && !beside("Give me long answers.", under));
        assert!(!beside("Always write at least 300 words.", under), "no answer has more and less");
        assert!(beside("Never use bullets.", "Write in paragraphs.") && !beside("Never use bullets.", "Always use bullets."));
        assert!(!beside("Write in prose.", "Always use bullets.") && !beside("Never use lists.", "Always use bullets."));
        assert!(!beside("No emoticons please.", "Always use emojis."));
    }

    #[test]
    fn an_order_is_ended_by_what_says_so() {
        for (text, permits, phrase) in [
            ("Stop answering in French.", false, "answering in French"),
            ("Please stop using metric units.", false, "using metric units"),
            ("You don't have to add tests any more.", false, "add tests"),
            ("You can use emojis again from now on.", true, "use emojis"),
            ("From now on you may deploy on Fridays.", true, "deploy on Fridays"),
            ("It's fine to deploy on Fridays now!", true, "deploy on Fridays"),
            ("Emojis are fine again.", true, "Emojis"),
            ("Don't use bullets any more.", false, "use bullets"),
            ("No more bullet points please.", false, "bullet points"),
            ("You can write longer answers again.", true, "write longer answers"),
        ] {
            let lift = lift_of(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((lift.permits, lift.phrase.as_str()), (permits, phrase), "{text}");
        }
        for text in [
            "You can use emojis.",
            "You don't have to come.",
            "You can do it again.",
            "Stop it.",
            "Stop the car.",
            "You can start now.",
            "Don't call me any more.",
            "No milk any more.",
            "No more meetings please.",
            "Don't use bullets.",
            "No emojis please.",
            "From now on, no emojis please.",
            "Don't use bullets from now on.",
        ] {
            assert_eq!(lift_of(text), None, "{text}");
        }
        let lifts = |text, order| lift_of(text).unwrap().lifts(order);
        assert!(lifts("Stop replying in German.", "Always answer in German."));
        assert!(!lifts("Stop replying in German.", "Always answer in French."), "another value is not ended");
        assert!(!lifts("Stop using emojis.", "Never use emojis."), "what is not done needs no stopping");
        assert!(lifts("No more bullet points please.", "Always answer in bullet points."));
        assert!(lifts("Don't use bullets any more.", "please always answer me in short bullet points"));
        assert!(!lifts("No more bullet points please.", "Never use bullet points."));
        assert!(lifts("You can write longer answers again.", "Keep your answers under 50 words."));
        assert!(lifts("You can write longer answers again.", "Please answer briefly."));
        assert!(
            !lifts("You can write longer answers again.", "Give me long answers.")
                && !lifts("You may use long answers now.", "Answer in French.")
        );
        assert!(lifts("You may use emojis again.", "Never use emojis.") && !lifts("You may use emojis again.", "Always use emojis."));
    }
}
