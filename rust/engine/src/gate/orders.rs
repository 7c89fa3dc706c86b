//! Standing orders: what one is about, so that the newer takes the place of the older, and what ends one. "Always answer in French" and
//! "from now on, English please" are about one thing; "you can use emojis again" ends "never use emojis".
//!
//! An order has such a slot only where it says nothing else: "answer in French when I write in French" has none.

use super::lists::lists;
use super::words::{Word, among, starts, words};

lists! { "orders":
    /// Words of an order that say nothing of what it is about.
    PLAIN,
    /// Languages.
    LANGUAGES,
    /// Ways to set an answer.
    FORMS,
    /// Tones of an answer.
    TONES,
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

static TOPICS: [Topic; 12] = [
    choice("spelling", &["british", "american", "canadian", "australian"], &["spelling", "spellings", "english"]),
    choice("answer language", &LANGUAGES, &["language"]),
    choice("units", &["metric", "imperial", "si"], &["units", "unit", "system", "measurements"]),
    choice("temperature unit", &["celsius", "fahrenheit", "kelvin"], &["temperatures", "temperature", "degrees"]),
    choice("distance unit", &["miles", "kilometers", "kilometres", "km"], &["distances", "distance"]),
    choice("currency", &["euros", "dollars", "pounds", "eur", "usd", "gbp"], &["prices", "price", "amounts", "costs", "us"]),
    choice("clock", &["24-hour", "12-hour", "24h", "12h"], &["clock", "time", "times"]),
    choice("tone", &TONES, &["tone", "style", "manner", "register", "voice"]),
    toggle("answer form", &FORMS, &["points", "text"]),
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
}

impl Order {
    /// The slot that it gives a value to. An order not to speak a language names none.
    #[must_use]
    pub fn gives(&self) -> Option<&'static str> {
        (self.toggles || !self.denies).then_some(self.slot)
    }

    /// Whether it is what another one permits or says to stop.
    fn is_lifted_by(&self, other: &Self, permits: bool) -> bool {
        self.slot == other.slot && self.denies == permits && self.value == other.value
    }
}

/// How dates are written has as many values as there are ways.
const DATES: [&str; 4] = ["dates as", "dates in", "dates like", "the date as"];

/// The order that words give, where they say nothing else.
pub(super) fn order(words: &[Word]) -> Option<Order> {
    let denies = words.iter().any(|word| among(&DENIES, &word.lower));
    let mut rest = words.iter().filter(|word| !word.is_mark() && !among(&PLAIN, &word.lower)).map(|word| word.lower.as_str());
    if (0..words.len()).any(|at| DATES.iter().any(|dates| starts(words, at, dates).is_some())) {
        let is_date = rest.next().is_some_and(|word| word.starts_with("date"));
        let value = rest.collect::<Vec<_>>().join(" ");
        let short = (1..=MOST_DATE).contains(&value.len());
        return (is_date && short).then_some(Order { slot: "date format", value, denies, toggles: false });
    }
    let rest: Vec<&str> = rest.collect();
    TOPICS.iter().find_map(|topic| {
        let mut values = rest.iter().filter(|word| among(topic.values, word));
        let value = values.next()?;
        let only = values.next().is_none() && rest.iter().all(|word| among(topic.values, word) || among(topic.beside, word));
        let value = value.strip_suffix('s').unwrap_or(value).to_owned();
        only.then_some(Order { slot: topic.slot, value, denies, toggles: topic.toggles })
    })
}

/// The same of a text.
#[must_use]
pub fn order_of(text: &str) -> Option<Order> {
    order(&words(text))
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
    /// Whether it ends an order that is about something with a slot.
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
            changes || ["stop", "quit", "longer", "enough"].iter().any(|word| own[begin..at].iter().any(|own| own.lower == *word));
        let stops = ["stop", "quit"].contains(&own[at - 1].lower.as_str());
        let is_act = !stops || own.get(at).is_some_and(|word| word.lower.ends_with("ing"));
        return made(at, end, false)
            .filter(|lift| says_so && is_act && (!["with", "of"].contains(&own[at - 1].lower.as_str()) || lift.order.is_some()));
    }
    let at = opened(&PERMITS)?;
    let changes = changes || own[begin..at].iter().any(|word| word.lower == "now");
    if own[at..end].iter().any(|word| word.lower == "stop") {
        return None;
    }
    made(at, end, true).filter(|lift| changes && (lift.order.is_some() || end > at + 1))
}

/// The same of a text.
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
        ] {
            assert_eq!(order_of(text).and_then(|order| order.gives()), None, "{text}");
        }
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
        ] {
            let lift = lift_of(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((lift.permits, lift.phrase.as_str()), (permits, phrase), "{text}");
        }
        for text in
            ["You can use emojis.", "You don't have to come.", "You can do it again.", "Stop it.", "Stop the car.", "You can start now."]
        {
            assert_eq!(lift_of(text), None, "{text}");
        }
        let lifts = |text, order| lift_of(text).unwrap().lifts(order);
        assert!(lifts("Stop replying in German.", "Always answer in German."));
        assert!(!lifts("Stop replying in German.", "Always answer in French."), "another value is not ended");
        assert!(!lifts("Stop using emojis.", "Never use emojis."), "what is not done needs no stopping");
        assert!(lifts("You may use emojis again.", "Never use emojis.") && !lifts("You may use emojis again.", "Always use emojis."));
    }
}
