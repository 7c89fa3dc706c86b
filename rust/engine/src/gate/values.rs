//! Of what kind a value is, so that a passing remark takes the place of no name: "my flight is delayed" says nothing of which flight it is.
//!
//! ```text
//! state   an adjective, a preposition and no name ("in the garage"), an age: it passes, and gives a slot no value
//! place   a preposition and a name: "in Berlin"
//! time    a day, a date, a time of day
//! number  digits or a word for a number, with or without a unit
//! name    a capital inside, letters with digits: "Joana", "eu-2"
//! thing   any other words: "blue", "software engineer"
//! ```

use super::assign::{JUDGEMENTS, KINDS};
use super::beings::{is_being, is_living};
use super::elsewhere::{is_state_elsewhere, is_trade_elsewhere};
use super::health::{CONDITIONS, is_degree};
use super::lexicon::{NUMBERS, STATES};
use super::lists::lists;
use super::told::{NO_NAMES, TRADES};
use super::words::{Word, among, starts, words};
use crate::units::calendar::{MONTHS, is_named};

lists! { "values":
    /// Prepositions behind which a state or a place follows.
    pub(super) PREPOSITIONS,
    /// Words before an adjective. None of them begins a name.
    ADVERBS,
    /// Openings of words that give no value to anything: "a secret", "none of your business".
    NO_VALUE,
    /// Words that praise or blame. Nobody's favourite is one of them.
    pub(super) PRAISE,
    /// Attributes that hold an amount, a zone, a date, or a name for something. No adjective gives them a value.
    HOLDS,
    /// Attributes that hold an amount.
    AMOUNTS,
    /// Words that say how much without a number.
    NO_NUMBER,
    /// Words behind an adjective that end what it says: "hard to say", "tight for now".
    BEHIND,
    /// Positions at work, in which no name ends: "CEO", "Team Lead".
    pub(super) TITLES,
    /// Signs of the zodiac.
    ZODIAC,
    /// Adjectives behind which a preposition and one of many things follow: "allergic to", "good at".
    MANY,
    /// Words of [`KINDS`] that name a thing, of which one says how it is: "our cluster is down". Of the others any word is a value.
    pub(super) THINGS,
    /// Values that say that the thing is had no more, or is not as it was.
    GONE,
    /// Attributes of which a place or a time is the value.
    OF_PLACE,
}

/// The kinds of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// How something is for now.
    State,
    /// When something is.
    Time,
    /// How much.
    Number,
    /// Where it is, or what it is for, by a name.
    Place,
    /// A name for something.
    Name,
    /// The thing itself.
    Thing,
}

/// Colors, which say how a thing looks: "my car is red" says of no other car.
pub(super) const COLORS: [&str; 16] = [
    "red",
    "black",
    "blue",
    "white",
    "green",
    "gray",
    "grey",
    "silver",
    "yellow",
    "orange",
    "purple",
    "pink",
    "brown",
    "beige",
    "golden",
    "turquoise",
];
/// Attributes whose value is a color.
const COLORED: [&str; 12] =
    ["lights", "light", "lamp", "lamps", "led", "leds", "background", "wallpaper", "accent", "highlight", "hair", "eyes"];
/// Words behind "on" that say when, or where it is shown: "on tonight", "on TV".
const SHOWN_ON: [&str; 7] = ["tv", "netflix", "again", "now", "tonight", "today", "tomorrow"];

/// Endings of words that say how something is. A name has a capital, so that it is not asked for them.
const STATE_ENDINGS: [&str; 5] = ["ful", "less", "ous", "ible", "able"];
/// More attributes of which any word is a value.
const QUALITIES: [&str; 8] = ["seat", "mood", "weather", "taste", "pronouns", "drink", "unit", "units"];
/// British spellings in the names of attributes, and what a slot is called: "favourite colour" and "favorite color" are one.
const SPELLINGS: [(&str, &str); 15] = [
    ("favourite", "favorite"),
    ("colour", "color"),
    ("colours", "colors"),
    ("neighbour", "neighbor"),
    ("neighbours", "neighbors"),
    ("neighbourhood", "neighborhood"),
    ("flavour", "flavor"),
    ("behaviour", "behavior"),
    ("centre", "center"),
    ("theatre", "theater"),
    ("licence", "license"),
    ("programme", "program"),
    ("organisation", "organization"),
    ("grey", "gray"),
    ("tyre", "tire"),
];

/// A word in small letters in one spelling.
#[must_use]
pub fn spelling(word: &str) -> &str {
    SPELLINGS.iter().find(|(british, _)| *british == word).map_or(word, |(_, american)| american)
}

/// The name of an attribute in one spelling.
#[must_use]
pub fn spelled(name: &str) -> String {
    name.split(' ').map(spelling).collect::<Vec<_>>().join(" ")
}

/// Words before the name of an attribute that say that it is the one of now.
const PRESENT: [&str; 5] = ["new", "current", "latest", "present", "updated"];

/// Words that "new" makes a name of.
const NAMED_NEW: [&str; 9] = ["year", "york", "zealand", "jersey", "orleans", "delhi", "mexico", "hampshire", "england"];

/// The name of an attribute without a word that says that it is the one of now: "new address" is "address". "New York office" stays, and
/// "new year's resolution".
#[must_use]
pub fn present(name: &str) -> &str {
    name.split_once(' ').filter(|(word, rest)| is_present(word, rest)).map_or(name, |(_, rest)| rest)
}

/// Whether a word before a name says that it is the one of now.
#[must_use]
pub fn is_present(word: &str, name: &str) -> bool {
    let named = |one: &&str| name.get(..one.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(one));
    among(&PRESENT, word) && !NAMED_NEW.iter().any(named)
}

/// The kind of an attribute's value.
#[must_use]
pub fn kind_of(attribute: &str, value: &str) -> ValueKind {
    let all = words(value);
    let own = &all[usize::from(all.first().is_some_and(|word| ["now", "currently", "actually"].contains(&word.lower.as_str())))..];
    let Some(first) = own.first() else { return ValueKind::Thing };
    if describes(attribute, own) || passes(attribute, own) || is_living(attribute) && is_of_somebody(own) {
        return ValueKind::State;
    }
    if is_time(own) {
        return ValueKind::Time;
    }
    if let Some(kind) = number(own) {
        return kind;
    }
    if among(&PREPOSITIONS, &first.lower) && !(first.capital && own.len() == 1) {
        let named = own[1..].iter().any(is_name);
        return if is_quality(attribute) {
            ValueKind::Thing
        } else if named {
            ValueKind::Place
        } else {
            ValueKind::State
        };
    }
    if own.iter().any(is_name) {
        let says_how = among(&STATES, &first.lower) || among(&JUDGEMENTS, &first.lower) && first.lower != "so";
        return if says_how && !first.capital && !is_quality(attribute) { ValueKind::State } else { ValueKind::Name };
    }
    if is_quality(attribute) || !is_state(own) { ValueKind::Thing } else { ValueKind::State }
}

/// Whether a word praises, blames, or says how somebody is: "a terrible cook".
pub(super) fn is_judged(word: &str) -> bool {
    among(&PRAISE, word) || among(&STATES, word) || among(&JUDGEMENTS, word)
}

/// Whether a value may take the place of another one of the same attribute.
#[must_use]
pub fn may_follow(attribute: &str, new: &str, old: &str) -> bool {
    let (new_kind, old_kind) = (kind_of(attribute, new), kind_of(attribute, old));
    let says_how = |own: &[Word]| describes(attribute, own) || passes(attribute, own);
    let (a, b) = (words(new), words(old));
    if says_how(&a) != says_how(&b) {
        // "The sky is vast" stands against "the sky is blue": a plain word names nothing.
        let plain = |own: &[Word]| own.len() == 1 && !own[0].capital && !own[0].is_number();
        return (is_looks(attribute, &a) || is_looks(attribute, &b)) && plain(&a) && plain(&b);
    }
    match (new_kind, old_kind) {
        (ValueKind::State, ValueKind::State) => !is_of_living(attribute) || exclude(attribute, new, old),
        (a, b) if a == b => true,
        (ValueKind::State | ValueKind::Time | ValueKind::Place, _) | (_, ValueKind::State | ValueKind::Time | ValueKind::Place) => {
            is_quality(attribute)
        }
        _ => !is_living(attribute),
    }
}

/// Whether a value says how something is, where or when, and an older one of the same attribute says which one it is: "in the garage" and "a
/// red Golf". Both hold, unless the thing is had no more. Who asks where or when looks for just that, and of some attributes it is the value.
#[must_use]
pub fn holds_beside(attribute: &str, [new, old]: [&str; 2], asks_where: bool) -> bool {
    let own = words(new);
    let word = |at: usize| own.get(at).map_or("", |word| word.lower.as_str());
    let does = word(0).ends_with("ing") && !own[0].capital && ["in", "at", "on"].contains(&word(1)); // "charging in the kitchen"
    let leads = does || among(&PREPOSITIONS, word(0));
    if leads && (asks_where || among(&OF_PLACE, last(attribute))) {
        return false;
    }
    let of_now = does || [ValueKind::State, ValueKind::Time, ValueKind::Place].contains(&kind_of(attribute, new));
    let which = ![ValueKind::State, ValueKind::Time].contains(&kind_of(attribute, old));
    of_now && which && (does || !may_follow(attribute, new, old)) && !own.iter().any(|word| among(&GONE, &word.lower))
}

/// States of which one has one at a time. Of others, as "allergic to nuts" and "diabetic", both hold.
const OPPOSED: [&[&str]; 10] = [
    &["sick", "ill", "injured", "hurt", "healthy", "well", "better", "worse", "fine", "recovered"],
    &["single", "married", "divorced", "engaged", "widowed", "separated"],
    &["unemployed", "employed", "retired"],
    &["alive", "dead"],
    &["asleep", "awake"],
    &["busy", "free", "available", "unavailable"],
    &["up", "down", "online", "offline", "broken", "fixed", "unstable", "stable"],
    &["delayed", "late", "early", "cancelled", "canceled", "on"],
    &["open", "closed"],
    &["full", "empty"],
];

/// Whether two values of one attribute cannot both hold: all but states, and of these ages, trades and those that are opposed.
#[must_use]
pub fn exclude(attribute: &str, new: &str, old: &str) -> bool {
    if kind_of(attribute, new) != ValueKind::State || kind_of(attribute, old) != ValueKind::State {
        return true;
    }
    let (new, old) = (words(new), words(old));
    let works_as = |own: &[Word]| own.last().is_some_and(|word| among(&TRADES, &word.lower));
    if works_as(&new) && works_as(&old) {
        return true;
    }
    let says = |own: &[Word]| own.iter().find(|word| !among(&ADVERBS, &word.lower)).map(|word| word.lower.clone()).unwrap_or_default();
    let (new, old) = (says(&new), says(&old));
    let is_number = |word: &str| word.starts_with(|first: char| first.is_ascii_digit()) || among(&NUMBERS, word);
    is_number(&new) && is_number(&old) || OPPOSED.iter().any(|group| among(group, &new) && among(group, &old))
}

/// Whether a word and the preposition behind it take many things, one beside the other: who is allergic to nuts may be allergic to eggs.
#[must_use]
pub fn takes_many(word: &str, preposition: &str) -> bool {
    among(&MANY, word) && ["to", "of", "at", "with", "about", "in", "on", "by", "from"].contains(&preposition)
}

/// Whether a value says what something is, and so has its slot: no state of it, and no age of somebody.
#[must_use]
pub fn identifies(attribute: &str, value: &str) -> bool {
    match kind_of(attribute, value) {
        ValueKind::State => false,
        ValueKind::Number | ValueKind::Place => !is_living(attribute), // "our daughter is in Paris" says not who she is
        _ => true,
    }
}

/// Whether it says of an attribute how it is, and gives no value of the type that the attribute holds: "the budget is tight", "the zone is
/// irrelevant", "the name is a secret".
fn describes(attribute: &str, own: &[Word]) -> bool {
    let last = last(attribute);
    let Some(first) = own.first().filter(|first| !first.capital) else { return false };
    if NO_VALUE.iter().any(|phrase| starts(own, 0, phrase).is_some()) {
        return true;
    }
    if among(&AMOUNTS, last) {
        return !says_how_much(own);
    }
    if attribute.starts_with("favorite ") || attribute.starts_with("favourite ") {
        return own.len() == 1 && among(&PRAISE, &first.lower);
    }
    let article = ["a", "an"].contains(&first.lower.as_str()) && own.get(1).is_some_and(|word| !word.capital);
    let named = among(&["name", "nickname", "surname"], last);
    (named && article && !own.iter().any(is_name)) || (named || among(&HOLDS, last)) && is_adjective(own)
}

/// "on tonight", "playing at the Odeon", "set wrong", and the color of what has a name: how something is for now, whatever it is.
fn passes(attribute: &str, own: &[Word]) -> bool {
    let word = |at: usize| own.get(at).map_or("", |word| word.lower.as_str());
    let is_favorite = attribute.starts_with("favorite ") || attribute.starts_with("favourite ");
    let shown = among(&["playing", "showing", "streaming", "airing"], word(0))
        || word(0) == "on" && (own.len() == 1 || among(&SHOWN_ON, word(1)) || is_time(&own[1..]));
    let set = word(0) == "set" && (among(&STATES, word(1)) || word(1).ends_with("ly"));
    is_favorite && shown || set || is_looks(attribute, own) || is_state_elsewhere(attribute, own) && !is_quality(attribute)
}

/// A color of what has another value: "my car is red".
fn is_looks(attribute: &str, own: &[Word]) -> bool {
    own.len() == 1 && !own[0].capital && among(&COLORS, &own[0].lower) && !is_quality(attribute) && !among(&COLORED, last(attribute))
}

/// "Spanish", "Autistic", "CEO", "good at chess", "a Buddhist nun": of what people or faith somebody is, what they have, what they do. All but
/// the last may have a capital, and none is a name. "A labrador called Rex" has one.
fn is_of_somebody(own: &[Word]) -> bool {
    let thing = own[0].lower == "the" && own.get(1).is_some_and(|word| !word.capital || among(&TITLES, &word.lower));
    if ["a", "an"].contains(&own[0].lower.as_str()) || thing {
        let titled = own.get(1).is_some_and(|word| among(&HONORIFICS, &word.lower));
        return !titled && !own.iter().any(|word| ["called", "named"].contains(&word.lower.as_str()));
    }
    let said: Vec<&str> = own.iter().map(|word| word.lower.as_str()).collect();
    let alone = is_no_name(&said.join(" ")) || own.len() == 1 && is_trade_elsewhere(said[0], own[0].capital);
    let second = own.get(1).map_or("", |word| word.lower.as_str());
    let does = !own[0].capital && own[0].lower != "the" && takes_many(&own[0].lower, second);
    alone || does || own.last().is_some_and(|word| among(&TITLES, &word.lower)) && own.len() <= 3
}

/// Words before the name of somebody.
const HONORIFICS: [&str; 6] = ["mr", "mrs", "ms", "dr", "prof", "professor"];

/// Whether words with a capital say what somebody is, and do not name them: "Cuban", "French-Canadian", "Costa Rican".
pub(super) fn is_no_name(word: &str) -> bool {
    let peoples = |word: &str| word.contains('-') && word.split('-').all(|part| among(&NO_NAMES, part));
    among(&NO_NAMES, word)
        || peoples(word)
        || among(&CONDITIONS, word)
        || among(&TITLES, word)
        || among(&ZODIAC, word)
        || is_trade_elsewhere(word, true)
}

/// "tight", "very unclear", "hard to say": an adjective alone. "Late afternoon" is a time.
fn is_adjective(own: &[Word]) -> bool {
    let adverbs = own.iter().take_while(|word| among(&ADVERBS, &word.lower)).count();
    let Some(word) = own.get(adverbs).filter(|word| !word.capital) else { return adverbs > 0 };
    let is_over = own.get(adverbs + 1).is_none_or(|next| next.is_mark() || among(&BEHIND, &next.lower));
    is_over && (among(&PRAISE, &word.lower) || is_state(&own[adverbs..]))
}

/// An amount: a number among its first words, or a word for one.
fn says_how_much(own: &[Word]) -> bool {
    let is_amount = |word: &&Word| word.is_number() || among(&NUMBERS, &word.lower) || among(&NO_NUMBER, &word.lower);
    let near = own.iter().take(4).position(|word| is_amount(&word));
    let is_state = |word: &Word| {
        let lower = word.lower.as_str();
        !word.capital && (among(&STATES, lower) && !among(&PREPOSITIONS, lower) || lower.ends_with("ed"))
    };
    near.is_some_and(|at| !own[..at].iter().any(is_state))
}

/// The last word of an attribute.
pub(super) fn last(attribute: &str) -> &str {
    attribute.rsplit(' ').next().unwrap_or(attribute)
}

/// Whether an attribute is somebody, also where a name stands behind: "sister Ann".
pub(super) fn is_of_living(attribute: &str) -> bool {
    attribute.split(' ').any(is_being)
}

fn is_quality(attribute: &str) -> bool {
    let first = attribute.split(' ').next().unwrap_or_default();
    let last = last(attribute);
    let favourite = ["favorite", "favourite", "preferred", "usual", "default"].contains(&first);
    favourite || among(&QUALITIES, last) || among(&KINDS, last) && last != "name" && !among(&THINGS, last)
}

/// "Joana", "eu-2", "TP1234": a capital, or letters with digits.
fn is_name(word: &Word) -> bool {
    let letters = word.lower.bytes().any(|byte| byte.is_ascii_alphabetic() || byte >= 0x80);
    let signs = word.lower.bytes().any(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.' | b'/'));
    let is_speaker = word.lower == "i" || word.lower.starts_with("i'");
    word.capital && !is_speaker
        || letters && signs && word.lower.bytes().any(|byte| byte.is_ascii_digit())
        || word.lower.bytes().any(|byte| byte >= 0xc3 && !word.lower.is_ascii())
}

/// "on Tuesday", "June 12", "at 14:20", "tomorrow at 9 am".
fn is_time(own: &[Word]) -> bool {
    let leads = |word: &&Word| {
        ["on", "at", "in", "by", "for", "until", "from", "next", "this", "around", "about", "the"].contains(&word.lower.as_str())
    };
    let behind = own.iter().take(3).take_while(leads).count();
    let Some(word) = own.get(behind) else { return false };
    let lower = word.lower.as_str();
    let clock = lower.as_bytes()[0].is_ascii_digit() && (lower.contains(':') || lower.ends_with("am") || lower.ends_with("pm"))
        || word.is_number()
            && own
                .get(behind + 1)
                .is_some_and(|next| ["am", "pm", "o'clock"].contains(&next.lower.as_str()) || MONTHS.contains(&next.lower.as_str()));
    let ordinal = word.is_number() && ["st", "nd", "rd", "th"].iter().any(|ending| lower.ends_with(ending));
    let date = lower.len() == 10 && lower.as_bytes()[4] == b'-' && lower.as_bytes()[7] == b'-';
    let hour = behind == 1 && own[0].lower == "at" && word.is_number() && word.lower.len() <= 2;
    let named =
        ["today", "tomorrow", "tonight", "noon", "midnight", "week", "month", "year", "weekend", "half", "quarter"].contains(&lower);
    clock || ordinal || date || hour || named && (behind == 0 || lower != "half") || is_named(lower) || MONTHS.contains(&lower)
}

/// A number: how much, or the age of somebody.
fn number(own: &[Word]) -> Option<ValueKind> {
    let digits = own[0].lower.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','));
    if !digits && !among(&NUMBERS, &own[0].lower) {
        return None;
    }
    let is_age = own.get(1).is_some_and(|word| ["years", "months", "weeks"].contains(&word.lower.as_str()));
    let names = own[1..].iter().any(is_name);
    Some(if is_age {
        ValueKind::State
    } else if names {
        ValueKind::Name
    } else {
        ValueKind::Number
    })
}

/// "sick", "very noisy", "delayed", "stressful", "a good boy".
fn is_state(own: &[Word]) -> bool {
    let first = own[0].lower.as_str();
    let adverb = among(&ADVERBS, first) || is_degree(first);
    let article = usize::from(["a", "an", "the"].contains(&first) && own.len() > 1);
    let word = own[article].lower.as_str();
    let says_how = |word: &str| {
        let ends = STATE_ENDINGS.iter().any(|ending| word.len() > ending.len() + 2 && word.ends_with(ending));
        among(&STATES, word) || among(&JUDGEMENTS, word) || ends
    };
    // "closed", "delayed by an hour"; "red" and "bed" are not such words.
    let done = article == 0 && word.len() > 5 && word.ends_with("ed");
    adverb || says_how(word) || done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_no_value_and_a_name_is_one() {
        for (attribute, value) in [
            ("son", "allergic to eggs"),
            ("son", "7"),
            ("flight", "delayed"),
            ("staging cluster", "down"),
            ("wife", "pregnant"),
            ("dog", "sick"),
            ("laptop", "broken"),
            ("car", "in the garage"),
            ("job", "stressful"),
            ("name", "spelled with an i"),
            ("cat", "12 years old"),
            ("doctor", "great"),
            ("train", "late by an hour"),
            ("boss", "angry with Tom"),
            ("hotel", "very noisy"),
            ("dog", "a good boy"),
            ("budget", "tight"),
            ("budget", "pretty flexible"),
            ("salary", "too low"),
            ("timezone", "irrelevant"),
            ("time zone", "hard to explain"),
            ("deadline", "unrealistic"),
            ("name", "unusual"),
            ("name", "a secret"),
            ("name", "an odd one"),
            ("dog's name", "silly"),
            ("favorite color", "a secret"),
            ("favorite movie", "awesome"),
            ("favorite color", "hard to choose"),
            ("favorite show", "on at 9 pm"),
            ("favorite show", "playing downtown"),
            ("time zone", "set incorrectly"),
            ("car", "red"),
            ("wife", "Portuguese"),
            ("niece", "Deaf"),
            ("boss", "CTO"),
            ("friend", "Sagittarius"),
            ("uncle", "a Catholic"),
            ("husband", "fluent in Welsh"),
            ("son", "severely allergic to eggs"),
            ("boss", "the CEO of Acme"),
            ("sister", "the youngest of us in Rome"),
            ("wife", "a Java developer"),
            ("wife", "a Beatles fan"),
            ("sister", "a Buddhist nun"),
            ("husband", "a New Yorker"),
            ("boss", "a German citizen"),
            ("dog", "a Labrador"),
            ("grandma", "Argentine"),
            ("wife", "French-Canadian"),
            ("nanny", "Costa Rican"),
            ("grandma", "80"),
            ("hamster", "2"),
        ] {
            assert!(!identifies(attribute, value), "{attribute} is {value}");
        }
        for (attribute, value) in [
            ("flight", "TP1234"),
            ("flight", "at 14:20"),
            ("staging cluster", "eu-2"),
            ("wife", "Joana"),
            ("dog", "a labrador called Rex"),
            ("boss", "a German named Jo"),
            ("dentist", "a Dr. Hall"),
            ("grandma", "Ruth"),
            ("hamster", "called Bo"),
            ("wife", "Ana-Lena"),
            ("phone", "a Pixel 8"),
            ("job", "software engineer"),
            ("car", "a Golf"),
            ("favorite color", "green"),
            ("favorite spot", "on the balcony"),
            ("eyes", "green"),
            ("son", "Christian Bale"),
            ("preferred speed", "slow"),
            ("theme", "light"),
            ("party size", "4"),
            ("hotel", "the Grand Budapest"),
            ("office", "in Berlin"),
            ("visit", "on the 3rd"),
            ("reservation", "for March 14th"),
            ("exam", "on June 4"),
            ("address", "14 Canal Street"),
            ("budget", "unlimited"),
            ("budget", "around 700 dollars"),
            ("budget", "up to 800 dollars"),
            ("salary", "50k"),
            ("timezone", "pst"),
            ("timezone", "Europe/Lisbon"),
            ("deadline", "in two weeks"),
            ("time", "late afternoon"),
            ("destination", "new york"),
            ("name", "faith"),
            ("name", "Rich"),
            ("favorite movie", "Frozen"),
            ("favorite color", "deep red"),
        ] {
            assert!(identifies(attribute, value), "{attribute} is {value}");
        }
    }

    #[test]
    fn a_value_follows_one_of_its_kind() {
        for (attribute, new, old) in [
            ("flight", "TP999", "TP1234"),
            ("flight", "16:45", "at 14:20"),
            ("manager", "Tom Okafor", "Petra Vogel"),
            ("budget", "unlimited", "300"),
            ("editor", "zed", "Vim"),
            ("job", "a teacher", "nurse"),
            ("son", "8", "7"),
            ("dog", "healthy", "sick"),
            ("sister", "divorced", "married"),
            ("sister", "a Java developer", "a nurse"),
            ("cat", "4 years old", "3 years old"),
            ("address", "9 Mill Lane", "14 Canal Street"),
            ("meeting", "on Thursday", "tomorrow"),
        ] {
            assert!(may_follow(attribute, new, old), "{attribute}: {new} | {old}");
        }
        for (attribute, new, old) in [
            ("flight", "delayed", "TP1234"),
            ("flight", "at 14:20", "TP1234"),
            ("son", "7", "allergic to eggs"),
            ("son", "allergic to soy", "allergic to eggs"),
            ("niece", "deaf", "allergic to eggs"),
            ("sister Ann", "asthmatic", "diabetic"),
            ("wife", "Clara", "diabetic"),
            ("husband", "a diabetic", "Karl"),
            ("car", "in the garage", "a Golf"),
            ("dog", "Rex", "sick"),
            ("budget", "tight", "$500"),
            ("timezone", "irrelevant", "CET"),
            ("favorite color", "a secret", "blue"),
            ("timezone", "set wrong", "CET"),
            ("favorite show", "on tonight", "Dark"),
            ("car", "red", "a Kona"),
            ("wife", "Dutch", "Ann"),
            ("wife", "a Java developer", "Ann"),
            ("dog", "a Labrador", "Rex"),
            ("hamster", "2", "Bo"),
        ] {
            assert!(!may_follow(attribute, new, old), "{attribute}: {new} | {old}");
        }
    }
}
