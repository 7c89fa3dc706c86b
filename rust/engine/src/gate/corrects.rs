//! Corrections that do not say of what: "Sorry, I meant Lisbon.", "It's June 21, sorry.", "It's been moved to Thursday.".
//!
//! The value is given to what the user said just before, in this message or in theirs before it, where that has a value of the same kind.
//! The words that were said then are said again with the new value, so that it takes the place of the old one.

use super::lists::lists;
use super::sentence::Sentence;
use super::values::{ValueKind, kind_of, may_follow};
use super::words::{Word, among, starts, words};
use super::{Category, Claim};
use crate::units::calendar::{MONTHS, WEEKDAYS};

lists! { "corrects":
    /// Words that open a correction.
    OPENINGS,
    IS,
    MOVED,
    MOVES,
}

/// A correction: the value that a sentence corrects, and how surely it does so.
pub(super) struct Correction {
    /// The value that holds.
    value: String,
    /// The one that does not.
    instead_of: Option<String>,
    /// "I meant ...": it is a correction, of whatever.
    meant: bool,
    /// Whether its speaker writes no capitals.
    small: bool,
}

const MEANT: [&str; 6] = ["i meant to say", "i meant to write", "what i meant was", "what i meant is", "i meant", "i mean"];
/// Words that stand before a value in the texts that rules write.
const BEFORE_VALUE: [&str; 6] =
    ["The user lives in ", "The user works for ", "The user works as ", "The user is allergic to ", " is ", " are "];

/// Words of a value at most.
const MOST_WORDS: usize = 6;

/// The correction that a sentence is.
pub(super) fn correction(s: &Sentence<'_>) -> Option<Correction> {
    let mut at = 0;
    while let Some(next) = OPENINGS.iter().find_map(|opening| starts(s.words, at, opening)) {
        at = next;
    }
    let first = |phrases: &[&str]| phrases.iter().find_map(|phrase| starts(s.words, at, phrase));
    let plain = s.words.iter().rposition(|word| !word.is_mark())?;
    let marked = at > 0 || s.word(plain) == "sorry";
    let not = (at + 1..s.words.len()).find(|place| s.word(*place) == "not" && s.parted(*place));
    let instead_of = not.and_then(|place| s.value(place + 1)).map(|(value, _)| value);
    let (begin, meant) = if let Some(begin) = first(&MEANT) {
        (begin, at > 0 || s.word(begin - 1) != "mean")
    } else if let Some(begin) = first(&IS).filter(|_| marked || instead_of.is_some()) {
        (begin, false)
    } else if let Some(begin) = moved(s, at) {
        (begin, false)
    } else if at > 0 && is_moment_alone(s, at) {
        (at, true)
    } else {
        let named = at > 0 && among(&["correction", "typo"], s.word(at - 1));
        (named.then_some(at)?, true)
    };
    let refers = ["to", "it", "that", "this", "what", "the", "you", "well", "not", "when", "how"].contains(&s.word(begin));
    let value = if s.words[..begin].last().is_some_and(|word| word.lower == "correction") {
        s.between(begin, s.words.len())?
    } else if at > 0 && begin == at && is_moment_alone(s, at) {
        s.between(begin, (begin..s.words.len()).find(|end| !is_plain(&s.words[*end])).unwrap_or(s.words.len()))?
    } else {
        s.value(begin)?.0
    };
    let known = begin > at || meant;
    let small = s.words.iter().all(|word| !word.capital);
    (!refers && known && words(&value).len() <= MOST_WORDS).then_some(Correction { value, instead_of, meant, small })
}

/// "Sorry, 13 March, typo": a day or a time, and nothing else.
fn is_moment_alone(s: &Sentence<'_>, at: usize) -> bool {
    let rest: Vec<Word> = s.words[at..].iter().filter(|word| is_plain(word)).cloned().collect();
    !rest.is_empty() && moments(&rest).iter().map(|(from, to, _)| to - from).sum::<usize>() == rest.len()
}

fn is_plain(word: &Word) -> bool {
    !word.is_mark() && !among(&["typo", "sorry", "oops"], &word.lower)
}

/// "it's been moved to", "the doctor changed it to": the place behind it.
fn moved(s: &Sentence<'_>, at: usize) -> Option<usize> {
    let passive = ["it's been", "it has been", "it was", "it got", "it has now been", "it's now"]
        .iter()
        .find_map(|phrase| starts(s.words, at, phrase));
    if let Some(behind) = passive {
        let behind = MOVED.iter().rev().find_map(|verb| starts(s.words, behind, verb))?;
        return starts(s.words, behind, "to");
    }
    let verb = (at + 1..(at + 5).min(s.words.len())).find(|place| among(&MOVES, s.word(*place)))?;
    let behind = starts(s.words, verb + 1, "it").or_else(|| starts(s.words, verb + 1, "that"))?;
    starts(s.words, behind, "to").or_else(|| starts(s.words, behind + 1, "to").filter(|_| ["up", "down", "back"].contains(&s.word(behind))))
}

/// The newest of some claims that has a value of the kind, said again with the new one.
pub(super) fn applied(correction: &Correction, earlier: &[Claim], asked: bool) -> Option<Claim> {
    let fits = |claim: &&Claim| claim.category != Category::Discard && claim.doubt.is_none() && claim.ends.is_none();
    earlier.iter().rev().filter(fits).find_map(|old| {
        let text = said_again(old, correction, asked)?;
        let replaces = Some(old.text.trim_end_matches(['.', '!']).to_owned());
        Some(Claim { text, replaces, reason: "rule: a correction of what was said before".to_owned(), ..old.clone() })
    })
}

fn said_again(old: &Claim, correction: &Correction, asked: bool) -> Option<String> {
    let text = old.text.as_str();
    let value = correction.value.as_str();
    if let Some(wrong) = &correction.instead_of {
        let at = text.to_ascii_lowercase().find(&wrong.to_ascii_lowercase())?;
        return Some(format!("{}{value}{}", &text[..at], &text[at + wrong.len()..]));
    }
    let (new, own) = (words(value), words(text));
    let times = moments(&new);
    if let (Some((from, ..)), Some((_, to, _))) = (times.first(), times.last()) {
        let alike = |(.., clock): &(usize, usize, bool)| times.iter().any(|(.., other)| other == clock);
        let mut old = moments(&own).into_iter().filter(alike);
        let first = old.next()?;
        let last = old.next_back().filter(|_| times.len() > 1).unwrap_or(first);
        let rest = without_day(&text[own[last.1 - 1].end..]);
        return Some(format!("{}{}{rest}", &text[..own[first.0].start], &value[new[*from].start..new[to - 1].end]));
    }
    if new.first().is_some_and(Word::is_number) {
        let unit = |words: &[Word], at: usize| words.get(at + 1).map(|word| word.lower.trim_end_matches('s').to_owned());
        let mut places = (0..own.len()).filter(|at| own[*at].is_number() && (new.len() == 1 || unit(&own, *at) == unit(&new, 0)));
        let place = places.next()?;
        let end = if new.len() == 1 { own[place].end } else { own[place + 1].end };
        let short = new.len() <= 2;
        return (short && places.next().is_none()).then(|| format!("{}{value}{}", &text[..own[place].start], &text[end..]));
    }
    let begin = BEFORE_VALUE.iter().find_map(|before| text.find(before).map(|at| at + before.len()))?;
    let (told, known) = (&text[..begin], text[begin..].trim_end_matches('.'));
    // A longer one says more than the value.
    if words(known).len() > MOST_WORDS {
        return None;
    }
    let attribute = old.slot.as_deref().unwrap_or_default();
    let kind = kind_of(attribute, value);
    let names = kind == ValueKind::Name && kind_of(attribute, known) == ValueKind::Name && old.slot.is_some() && !asked;
    let told_of = old.slot.is_some() || told.ends_with("allergic to ");
    let known_kind = kind_of(attribute, known);
    let alike = kind == known_kind || correction.small || known_kind != ValueKind::Name;
    let follows = correction.meant && kind != ValueKind::State && alike && told_of && may_follow(attribute, value, known);
    (names || follows).then(|| format!("{told}{value}."))
}

/// The rest of a text without the day that the gate put behind a word for one: " (2025-01-03)".
fn without_day(rest: &str) -> &str {
    let day =
        rest.strip_prefix(" (").and_then(|inside| inside.split_once(')')).filter(|(day, _)| day.bytes().any(|byte| byte.is_ascii_digit()));
    day.map_or(rest, |(_, rest)| rest)
}

/// Times of day and days among words: from, to, and whether it is a time of day.
fn moments(words: &[Word]) -> Vec<(usize, usize, bool)> {
    let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let is_number = |at: usize| words.get(at).is_some_and(Word::is_number);
    let (mut out, mut at) = (Vec::new(), 0);
    while at < words.len() {
        let word = lower(at);
        let ordinal = is_number(at) && ["st", "nd", "rd", "th"].iter().any(|ending| word.ends_with(ending));
        let (len, clock) = if is_number(at) && ["am", "pm", "o'clock"].contains(&lower(at + 1)) {
            (2, true)
        } else if is_number(at) && (word.contains(':') || word.ends_with("am") || word.ends_with("pm")) {
            (1, true)
        } else if MONTHS.contains(&word) {
            (1 + usize::from(is_number(at + 1)), false)
        } else if is_number(at) && MONTHS.contains(&lower(at + 1)) {
            (2, false)
        } else if ordinal && lower(at + 1) == "of" {
            (3.min(words.len() - at), false)
        } else if ordinal || WEEKDAYS.contains(&word) || ["tomorrow", "today", "tonight"].contains(&word) {
            (1, false)
        } else {
            (0, false)
        };
        if len > 0 {
            out.push((at, at + len, clock));
        }
        at += len.max(1);
    }
    out
}
