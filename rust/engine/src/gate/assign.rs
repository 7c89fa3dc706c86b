//! Rules for a value that is given to something by its name: "change the party size to 4", "the region should be eu-west-1", "for the
//! genre, I want Rock". The name is the slot, so that the newest value takes the place of the one before.

use super::Category;
use super::attribute::category_of;
use super::beings::is_living;
use super::guards::is_comparative;
use super::lexicon::NO_ATTRIBUTE;
use super::lists::lists;
use super::reading::Reading;
use super::sentence::Sentence;
use super::signs::{has_colon, straight};
use super::values::{COLORS, PREPOSITIONS, THINGS, ValueKind, identifies, kind_of, present, spelled};
use super::words::{Word, among, has, sentences, starts, words};
use crate::units::calendar::{MONTHS, WEEKDAYS, is_named};

lists! { "assign":
    /// Words that stand before such a verb.
    ASKS,
    /// Words that stand between a name and its value.
    GIVES,
    /// Words that stand between "for the NAME" and its value.
    CHOOSES,
    /// Words that a value begins with, beside months: "the 6th", "next Friday", "day after tomorrow", "san Jose".
    BEGINS,
    /// Words that say of what kind a value is, and so end a name.
    pub(super) KINDS,
    /// Words of amounts and numbers of something, which stand before what it is: "the fee for the permit".
    MEASURES,
    /// Words of things that have names of their own, which end a name where it is given a value: "make the hotel comfort inn".
    NAMED,
    /// Settings that many things have, whose bare names do not say of what they are: "the batch size".
    SETTINGS,
    /// Words of a sentence that says that a value is another one than before: "the port is now 6544".
    OTHERWISE,
    /// Words of somebody who corrects what they said.
    CORRECTS,
    /// Words for what something is made to do, and does not become: "make the font match".
    HAPPENS,
    /// Words that judge, and give no value: "the price is fine".
    pub(super) JUDGEMENTS,
}

/// Attributes that the user has, and things as well: "the name" is not the user's.
const OF_A_PERSON: [&str; 12] = [
    "name",
    "first name",
    "last name",
    "full name",
    "email",
    "email address",
    "timezone",
    "time zone",
    "age",
    "birthday",
    "pronouns",
    "phone number",
];
/// Words of a name at most.
const MOST_NAME: usize = 4;
/// Words at most of a name that says of what something is measured: "the rate limit on the partner gateway".
pub(crate) const MOST_MEASURED: usize = 8;

/// Verbs that give a value with "to".
const CHANGES: [&str; 13] =
    ["change", "set", "switch", "update", "adjust", "correct", "move", "changed", "updated", "set", "switched", "moved", "reset"];
/// Words before a name that is to be something.
const WISHES: [&str; 10] =
    ["i'd like", "i would like", "i want", "i need", "i'd prefer", "we want", "we need", "we'd like", "i would prefer", "i prefer"];
/// Words that say which one of several is meant.
const WHICH: [&str; 10] = ["first", "second", "third", "last", "main", "default", "primary", "backup", "new", "current"];
/// Words that no name has.
const NO_NAME: [&str; 13] = ["is", "are", "was", "were", "has", "have", "had", "been", "got", "be", "will", "moved", "changed"];

/// A name: whose it is, its first word and the one behind its last.
struct Name<'a> {
    owner: &'a str,
    from: usize,
    to: usize,
}

/// Whether a text gives a setting of that name a value, and does not say of what: "The port is 6544." is of what was at hand where it was
/// said. "The staging port" and "our port" say whose it is, and "the new port" that it is the one of before.
#[must_use]
pub fn is_of_thing_at_hand(text: &str, name: &str) -> bool {
    const OWNERS: [&str; 7] = ["my", "our", "your", "his", "her", "their", "its"];
    if !among(&SETTINGS, name) {
        return false;
    }
    let (own, first) = (words(text), name.split(' ').next().unwrap_or_default());
    let says_whose = |word: &Word| among(&OWNERS, &word.lower) || word.lower == "new" || word.lower.ends_with("'s");
    let at = own.iter().position(|word| spelled(&word.lower) == first).filter(|at| *at > 0);
    at.is_some_and(|at| !own[at.saturating_sub(2)..at].iter().any(says_whose))
}

/// Whether the sentence of a message in which a claim stands merely states or sets a value, and neither says that it is another one than
/// before nor corrects what was said: "the port is now 6544", "sorry, the port is 6544", "update: the port is 6544".
#[must_use]
pub fn merely_gives(text: &str, span: (usize, usize)) -> bool {
    let spans = sentences(text);
    let Some(at) = spans.iter().position(|sentence| span.0 < sentence.end) else { return false };
    let of = |at: usize| text.get(spans[at].start..spans[at].end).map(words).unwrap_or_default();
    let own = of(at);
    let before = at.checked_sub(1).map(of).unwrap_or_default();
    let says = |words: &[Word], phrases: &[&str]| phrases.iter().any(|phrase| has(words, phrase));
    let is_update = own.first().is_some_and(|word| word.lower == "update" && has_colon(&text[spans[at].start..], word.end));
    !is_update && !says(&own, &OTHERWISE) && ![&own, &before].iter().any(|words| says(words, &CORRECTS))
}

/// The value that something had before, as a sentence says: "8089" of "move the port from 8089 to 8090".
#[must_use]
pub fn value_before(text: &str) -> Option<String> {
    const MOST: usize = 4;
    let own = words(text);
    let s = Sentence { text, words: &own };
    let from = (1..own.len()).find(|at| s.word(*at) == "from")?;
    let to = (from + 2..own.len().min(from + 2 + MOST)).find(|at| s.word(*at) == "to")?;
    s.between(from + 1, to)
}

/// The slot to which a sentence gives a value; `None` where it has none of these forms.
pub(super) fn assigned(s: &Sentence<'_>) -> Option<Reading> {
    changed(s).or_else(|| made(s)).or_else(|| wished(s)).or_else(|| stated(s)).or_else(|| chosen(s)).or_else(|| plain(s))
}

/// "the origin city is Paris": a fact without a slot, which takes that of its name where there is one; "my time is evening 6:30" has its
/// own. The model decides on a sentence that has neither a name of two
/// words, nor one that tells the kind of the value ("the cuisine is noodles"), nor a value that names something ("the movie is great").
fn plain(s: &Sentence<'_>) -> Option<Reading> {
    let at = (2..(3 + MOST_MEASURED).min(s.words.len())).find(|at| ["is", "are"].contains(&s.word(*at)))?;
    let named = name(s, 0, at)?;
    let reading = given(s, &named, at + 1)?;
    let is_value =
        |word: &Word| word.capital || word.lower.bytes().any(|byte| byte.is_ascii_digit()) || WEEKDAYS.contains(&word.lower.as_str());
    let valued = s.words[at + 1..].iter().any(is_value);
    let kind = among(&KINDS, s.word(named.to - 1)) && !among(&JUDGEMENTS, s.word(at + 1));
    let short = s.words.len() - at <= if kind { 8 } else { 5 }; // "half past 1 in the afternoon"
    let slot = reading.slot.filter(|_| named.owner == "my"); // what is somebody's own has one value
    (short && (valued || kind || named.to - named.from > 1)).then_some(Reading { slot, rule: "a plain statement", ..reading })
}

/// Words behind which such a value is over. A time is one: "the show date is Friday next week".
const OVER: [&str; 14] =
    ["but", "because", "since", "so", "instead", "please", "anymore", "although", "though", "if", "unless", "thanks", "rather", "which"];

/// Where the value that begins at `from` is over.
fn end_of(s: &Sentence<'_>, from: usize) -> usize {
    let over = |at: usize| {
        let joins = s.word(at) == "and" && ["i", "my", "we", "the", "our", "it", "please"].contains(&s.word(at + 1));
        let last = s.word(at) == "now" && at + 1 == s.words.len() || starts(s.words, at, "for now").is_some();
        among(&OVER, s.word(at)) || s.words[at].is_mark() || at > from && s.parted(at) || joins || last
    };
    let most = s.words.len().min(from + 8);
    let mut at = from;
    while at < most {
        match (at > from && s.parted(at)).then(|| s.goes_on(at)).flatten() {
            Some(end) => at = end,
            None if over(at) => return at,
            None => at += 1,
        }
    }
    at
}

/// "please change the party size to 4", "I set my budget to 200".
fn changed(s: &Sentence<'_>) -> Option<Reading> {
    let asked = ASKS.iter().find_map(|opening| starts(s.words, 0, opening)).unwrap_or(0);
    let verb = asked + usize::from(["just", "now", "also", "actually"].contains(&s.word(asked)));
    if !among(&CHANGES, s.word(verb)) {
        return None;
    }
    let mut places = (verb + 2..(verb + 3 + MOST_MEASURED).min(s.words.len())).filter(|at| s.word(*at) == "to");
    // "I switched my editor from Vim to Zed", but "I changed the from location to Rome"
    let name_end = |to: usize| (verb + 3..to).find(|at| ["from", "off"].contains(&s.word(*at))).unwrap_or(to);
    let (to, name) = places.find_map(|to| name(s, verb + 1, name_end(to)).map(|name| (to, name)))?;
    let is_one = (name.from..name.to).any(|at| is_living(s.word(at)) || ["team", "family", "company"].contains(&s.word(at)));
    if is_one {
        return None;
    }
    given(s, &name, to + 1)
}

/// "make the party size 4": the value begins at a number, a name, a color or a word that begins one, else behind the last word that says of
/// what kind it is ("the playback device bedroom speaker"). "Make the app crash" and "make the test skip Windows" ask for what is to happen:
/// a name of several words must be of such a kind, as must one without an article ("make theme dark").
fn made(s: &Sentence<'_>) -> Option<Reading> {
    let asked = ["please", "can you", "could you", "let's"].iter().find_map(|opening| starts(s.words, 0, opening)).unwrap_or(0);
    if s.word(asked) != "make" || s.words.iter().any(is_comparative) {
        return None;
    }
    let owned = usize::from(["the", "my", "our"].contains(&s.word(asked + 1)));
    let (first, end) = (asked + owned + 2, end_of(s, asked + 2));
    let begins = |at: &usize| is_valued(&s.words[*at]) && !among(&PREPOSITIONS, s.word(*at - 1)) && s.word(*at - 1) != "of";
    let of_kind = |at: &usize| among(&KINDS, s.word(*at - 1)) || among(&NAMED, s.word(*at - 1));
    let is_told = |at: &usize| !among(&PREPOSITIONS, s.word(*at)) && !["of", "to", "as", "and"].contains(&s.word(*at));
    let by_kind = (first..end).rev().find(of_kind).filter(|at| is_told(at) && !(end == at + 1 && happens(s, *at)));
    if owned == 0 {
        return given(s, &bare_name(s, asked + 1, by_kind?)?, by_kind?);
    }
    let is_one = among(&WHICH, s.word(first - 1)) || among(&KINDS, s.word(first - 1)) && s.word(first) == "of"; // "number of guests"
    let value = (first..end).find(begins).filter(|at| *at == first || is_one || of_kind(at)).or(by_kind)?;
    given(s, &name(s, asked + 1, value)?, value)
}

/// Whether a value may begin at a word: a number, a name, a color, or a word that begins one.
fn is_valued(word: &Word) -> bool {
    let lower = word.lower.as_str();
    let digits = lower.bytes().any(|byte| byte.is_ascii_digit());
    word.capital || digits || among(&COLORS, lower) || among(&BEGINS, lower) || MONTHS.contains(&lower)
}

/// Whether one word behind a name is what is to happen. A device does what such a word says ("make the engine start"), and a city nothing.
fn happens(s: &Sentence<'_>, at: usize) -> bool {
    const PLACES: [&str; 7] = ["city", "country", "region", "airport", "airline", "hotel", "restaurant"];
    let named = s.word(at - 1);
    among(&HAPPENS, s.word(at)) || (among(&THINGS, named) || among(&NAMED, named)) && !among(&PLACES, named)
}

/// A name without an article, that ends at a word of [`KINDS`].
fn bare_name<'a>(s: &Sentence<'_>, from: usize, to: usize) -> Option<Name<'a>> {
    let is_name =
        (1..=MOST_NAME).contains(&(to - from)) && !["sure", "it", "that", "this", "a", "an", "me", "us", "some"].contains(&s.word(from));
    is_name.then_some(Name { owner: "the", from, to })
}

/// "I'd like the theme to be dark".
fn wished(s: &Sentence<'_>) -> Option<Reading> {
    let wish = WISHES.iter().find_map(|opening| starts(s.words, 0, opening))?;
    let to = (wish + 2..(wish + 3 + MOST_NAME).min(s.words.len())).find(|at| starts(s.words, *at, "to be").is_some())?;
    given(s, &name(s, wish, to)?, to + 2)
}

/// "the region should be eu-west-1", "our budget is now 300".
fn stated(s: &Sentence<'_>) -> Option<Reading> {
    let verb = |at: usize| GIVES.iter().find_map(|verb| starts(s.words, at, verb));
    let (at, value) = (2..(3 + MOST_MEASURED).min(s.words.len())).find_map(|at| verb(at).map(|value| (at, value)))?;
    given(s, &name(s, 0, at)?, value)
}

/// "for the genre, I want Rock".
fn chosen(s: &Sentence<'_>) -> Option<Reading> {
    let begin = starts(s.words, 0, "for").or_else(|| starts(s.words, 0, "as for"))?;
    let verb = |at: usize| CHOOSES.iter().find_map(|verb| starts(s.words, at, verb));
    let (at, value) = (begin + 2..(begin + 3 + MOST_MEASURED).min(s.words.len())).find_map(|at| verb(at).map(|value| (at, value)))?;
    given(s, &name(s, begin, at)?, value)
}

/// Whether a name is no longer than names are: one that says of what something is measured may be.
fn is_short(s: &Sentence<'_>, from: usize, to: usize) -> bool {
    const OF: [&str; 7] = ["of", "for", "on", "in", "at", "per", "with"];
    let measures = |at: usize| among(&KINDS, s.word(at)) || among(&MEASURES, s.word(at));
    let is_measured = || (from + 1..to - 1).any(|at| OF.contains(&s.word(at)) && measures(at - 1));
    let length = to.saturating_sub(from);
    (1..=MOST_NAME).contains(&length) || length > 0 && length <= MOST_MEASURED && is_measured()
}

/// The name between two words: "the", "my" or "our", and the words that name something.
fn name<'a>(s: &'a Sentence<'_>, from: usize, to: usize) -> Option<Name<'a>> {
    let owner = s.word(from);
    let is_name = ["the", "my", "our"].contains(&owner)
        && is_short(s, from + 1, to)
        && !among(&NO_ATTRIBUTE, s.word(from + 1))
        && !["rest", "same", "thing", "way", "other", "one"].contains(&s.word(from + 1))
        && !(from + 1..to).any(|at| among(&NO_NAME, s.word(at)) || ["i", "we", "you"].contains(&s.word(at)));
    is_name.then_some(Name { owner, from: from + 1, to })
}

/// Things that stand somewhere, and may move to another place.
const PLACED: [&str; 14] = [
    "office",
    "headquarters",
    "hq",
    "store",
    "shop",
    "studio",
    "gym",
    "clinic",
    "lab",
    "practice",
    "warehouse",
    "bakery",
    "school",
    "salon",
];

/// Whether the value that begins at a word is where something went by itself: "moved to", and not "was moved to".
fn went(s: &Sentence<'_>, value: usize) -> bool {
    let before = |back: usize| value.checked_sub(back).map_or("", |at| s.word(at));
    before(1) == "to" && before(2) == "moved" && !["was", "been", "is", "got", "were", "are"].contains(&before(3))
}

/// Whether it is a time, a number, or one word with digits: what a flight or a cluster moves to.
fn is_moment(attribute: &str, value: &str) -> bool {
    let one = || value.bytes().any(|byte| byte.is_ascii_digit()) && words(value).len() == 1;
    matches!(kind_of(attribute, value), ValueKind::Time | ValueKind::Number) || one()
}

/// Whether the value that begins at a word is another thing with its number, to which something was moved: "my flight was moved to gate B12"
/// says nothing of which flight it is.
fn is_elsewhere(s: &Sentence<'_>, value: usize, end: usize) -> bool {
    let moved = value > 1 && s.word(value - 1) == "to" && s.word(value - 2) == "moved";
    let letters = |at: usize| s.word(at).chars().all(char::is_alphabetic);
    let timed = |at: usize| is_named(s.word(at)) || among(&BEGINS, s.word(at));
    let numbered = |at: usize| s.word(at).contains(|sign: char| sign.is_ascii_digit());
    moved && end == value + 2 && letters(value) && !timed(value) && numbered(value + 1)
}

fn given(s: &Sentence<'_>, name: &Name<'_>, value: usize) -> Option<Reading> {
    let went = went(s, value);
    if went && is_living(s.word(name.to - 1)) {
        return None; // "my mom moved to Warsaw": she is not the value
    }
    if s.negated(value) || ["that", "how", "why", "if", "whether", "what", "able", "something"].contains(&s.word(value)) {
        return None;
    }
    if value < s.words.len() && s.parted(value) && s.text[s.words[value - 1].end..s.words[value].start].contains(" - ") {
        return None; // a dash, or a minus: nobody knows
    }
    let counted = |at: usize| s.word(at).contains(|sign: char| sign.is_ascii_digit()) || is_named(s.word(at));
    if name.to - name.from > MOST_NAME {
        // "The fee for the permit to park here is 2 days overdue" gives no value.
        let last = s.words.iter().rposition(|word| !word.is_mark() && word.lower != "now")? + 1;
        if last > value + 2 || !counted(value) && !counted(value + 1) {
            return None;
        }
    }
    let (begin, end) = (value, end_of(s, value));
    let mut value = s.between(value, end)?;
    let named = straight(&s.between(name.from, name.to)?);
    let attribute = present(&named).to_lowercase();
    let last = s.word(name.to - 1);
    let elsewhere = !among(&KINDS, last) && is_elsewhere(s, begin, end);
    if elsewhere || went && !among(&KINDS, last) && !is_moment(&attribute, &value) {
        // "Our office moved to Ghent" is in Ghent; "my team moved to Slack" does not become Slack.
        if elsewhere || !among(&PLACED, last) || !s.words[begin].capital {
            return Some(Reading { importance: 600, ..Reading::new(Category::Semantic, "what moved") });
        }
        value = format!("in {value}");
    }
    let identifies = identifies(&named.to_lowercase(), &value) && identifies(&attribute, &value);
    let named = if identifies && name.owner != "the" { present(&named) } else { &named }; // "the new hire is Tom" has no other name
    let owner = match name.owner {
        "my" => "The user's",
        "our" => "Our",
        _ => "The",
    };
    let of = attribute.split_once(" of ").or_else(|| attribute.split_once(" for ")).or_else(|| attribute.split_once(" on "));
    let head = of.map_or(&*attribute, |(head, _)| head);
    let verb = if head.ends_with('s') && !["ss", "us", "is"].iter().any(|ending| head.ends_with(ending)) { "are" } else { "is" };
    let text = format!("{owner} {named} {verb} {value}.");
    let mut reading = Reading::new(Category::Semantic, "a value by its name").told(text, !s.says_more(end));
    // "Change the name to Foo" is about something at hand, and no value of who says it.
    let is_of_another = name.owner != "my" && among(&OF_A_PERSON, &attribute);
    reading.slot = (identifies && !is_of_another).then(|| spelled(&attribute));
    // A wish tells nothing of who somebody is: "my job should be easier".
    if name.owner != "the" && reading.slot.is_some() && s.word(begin - 1) != "be" {
        reading.category = category_of(name.owner == "my", &attribute); // "change my name to Anna" is as "my name is Anna"
    }
    reading.importance = 600;
    Some(reading)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_of_what_is_at_hand_says_not_whose_it_is() {
        for (text, name) in [
            ("The port is 6544.", "port"),
            ("The batch size is 100.", "batch size"),
            ("The replicas are 6.", "replicas"),
            ("Change the default branch to trunk, the old one is gone", "default branch"),
        ] {
            assert!(is_of_thing_at_hand(text, name), "{text}");
        }
        for (text, name) in [
            ("The staging port is 6544.", "staging port"),
            ("The redis port is 6380.", "redis port"),
            ("Our default branch is main.", "default branch"),
            ("Our new port is 6544.", "port"),
            ("Change the sidecar's port to 6544 for now", "port"),
            ("The port of the sidecar is 8089.", "port of the sidecar"),
            ("The party size is 4.", "party size"),
            ("The budget is 300.", "budget"),
            ("The user's port is 22.", "port"),
            ("The new port is 6544.", "port"),
            ("The memory limit is 2 GB.", "memory limit"),
            ("The read timeout is 5s.", "read timeout"),
            ("The font size is 12.", "font size"),
            ("The color is blue.", "color"),
        ] {
            assert!(!is_of_thing_at_hand(text, name), "{text}");
        }
        for text in ["The port is 6544.", "move the port from 8089 to 8090", "Update the timeout to 15s.", "Here we go. Set the port to 1."]
        {
            assert!(merely_gives(text, (text.rfind(". ").map_or(0, |end| end + 2), text.len())), "{text}");
        }
        for text in [
            "The port is 6544 now.",
            "The port is now 6544.",
            "The timeout was raised to 60s.",
            "The port changed to 6544.",
            "The new port is 6544.",
            "Update: the port is 6544.",
            "Correction: the port is 6544.",
            "Actually the port is 6544.",
            "Sorry. The port is 6544.",
        ] {
            assert!(!merely_gives(text, (text.rfind(". ").map_or(0, |end| end + 2), text.len())), "{text}");
        }
        assert_eq!(value_before("move the port from 8089 to 8090").as_deref(), Some("8089"));
        assert_eq!(value_before("change the port to 8090"), None);
        assert_eq!(value_before("I got it from Sam"), None);
    }
}
