//! Corrections that do not say of what: "Sorry, I meant Lisbon.", "It's June 21, sorry.", "It's been moved to Thursday.".
//!
//! The value is given to what the user said just before, in this message or in theirs before it, where that has a value of the same kind.
//! The words that were said then are said again with the new value, so that it takes the place of the old one. A value that is known by its
//! form ("X4471229") needs no more than an opening: "sorry, X4471229".

use super::lists::lists;
use super::sentence::Sentence;
use super::shapes::{Shape, alone, followed};
use super::values::{ValueKind, kind_of, may_follow};
use super::words::{Word, among, starts, words};
use super::{Category, Claim};
use crate::units::calendar::{MONTHS, WEEKDAYS, is_short_month};
use crate::units::days::behind_day;

lists! { "corrects":
    /// Words that open a correction.
    OPENINGS,
    IS,
    MOVED,
    MOVES,
    /// Words of [`OPENINGS`] that surely open a correction. "No" and "wait" stand before many things.
    SURE,
    /// Words behind a value that say that it is one: "X4471229, sorry".
    CLOSINGS,
    /// Words before a value that say what another one should be.
    SHOULD,
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
    /// How it stands alone, where it does.
    bare: Option<Bare>,
}

/// A value that stands alone as a correction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bare {
    /// It is said to be one.
    Sure,
    /// It stands behind a word that stands before other things as well.
    Maybe,
}

/// The correction that a sentence is which is nothing but a value of a known form, in words of any language.
pub(super) fn bare(s: &Sentence<'_>) -> Option<Correction> {
    let starred = s.words.first().is_some_and(|first| s.text[..first.start].trim_start() == "*");
    let (mut at, mut said) = (0, starred.then_some(Bare::Sure));
    while let Some((opening, next)) = OPENINGS.iter().find_map(|opening| starts(s.words, at, opening).map(|next| (opening, next))) {
        let is = if among(&SURE, opening) { Some(Bare::Sure) } else { among(&WEAK, opening).then_some(Bare::Maybe) };
        (at, said) = (next, if said == Some(Bare::Sure) { said } else { is.or(said) });
    }
    if let Some(next) = SHOULD.iter().chain(&MEANT).find_map(|phrase| starts(s.words, at, phrase)) {
        (at, said) = (next, Some(Bare::Sure));
    }
    let mut end = s.words.iter().rposition(|word| !word.is_mark())? + 1;
    let closing = |end: usize| {
        CLOSINGS.iter().find_map(|phrase| end.checked_sub(phrase.split(' ').count()).filter(|at| starts(s.words, *at, phrase) == Some(end)))
    };
    while let Some(begin) = closing(end) {
        (end, said) = (begin, Some(Bare::Sure));
    }
    let not = (at + 1..end).find(|place| s.word(*place) == "not" || s.word(*place) == "instead" && s.word(*place + 1) == "of");
    let behind = |not: usize| not + 1 + usize::from(s.word(not) == "instead");
    let instead_of = not.and_then(|not| s.between(behind(not), end));
    let value = s.between(at, not.unwrap_or(end))?.trim_matches('*').to_owned();
    let shape = alone(&value);
    let counted = || is_counted(&s.words[at..not.unwrap_or(end)]) && said == Some(Bare::Sure);
    let is_value = shape.is_some() || counted();
    let wrong = instead_of.as_ref().is_none_or(|wrong| alone(wrong).is_some());
    let bare = if instead_of.is_some() { Some(Bare::Sure) } else { said };
    (is_value && wrong).then_some(Correction { value, instead_of, meant: true, small: false, bare: Some(bare?) })
}

/// "1,540 euro": a number and its unit.
fn is_counted(words: &[Word]) -> bool {
    let [number, unit] = words else { return false };
    number.is_number() && unit.lower.chars().all(char::is_alphabetic)
}

/// Openings that say that something was wrong, and stand before other things as well.
const WEAK: [&str; 6] = ["no", "nope", "wait", "actually", "hold on", "on second thought"];
const MEANT: [&str; 6] = ["i meant to say", "i meant to write", "what i meant was", "what i meant is", "i meant", "i mean"];
/// Words that stand before a value in the texts that rules write.
const BEFORE_VALUE: [&str; 6] =
    ["The user lives in ", "The user works for ", "The user works as ", "The user is allergic to ", " is ", " are "];

/// Words of a value at most.
const MOST_WORDS: usize = 6;

/// The correction that a sentence is.
pub(super) fn correction(s: &Sentence<'_>) -> Option<Correction> {
    bare(s).or_else(|| of_words(s))
}

/// The correction that a sentence is which says more than a value.
fn of_words(s: &Sentence<'_>) -> Option<Correction> {
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
    (!refers && known && words(&value).len() <= MOST_WORDS).then_some(Correction { value, instead_of, meant, small, bare: None })
}

/// "Sorry, 13 March, typo": a day or a time, and nothing else.
fn is_moment_alone(s: &Sentence<'_>, at: usize) -> bool {
    let rest: Vec<Word> = s.words[at..].iter().filter(|word| is_plain(word)).cloned().collect();
    !rest.is_empty() && moments(&rest).iter().map(|moment| moment.to - moment.from).sum::<usize>() == rest.len()
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

/// The newest of some claims that has a value of the kind, said again with the new one. `before` is what the other side said last.
pub(super) fn applied(correction: &Correction, earlier: &[Claim], before: &str) -> Option<Claim> {
    let fits = |claim: &&Claim| claim.category != Category::Discard && claim.doubt.is_none() && claim.ends.is_none();
    let mut found = earlier.iter().rev().filter(fits).filter_map(|old| {
        let text = said_again(old, correction, before)?;
        let replaces = Some(old.text.trim_end_matches(['.', '!']).to_owned());
        Some(text.map(|text| Claim { text, replaces, reason: "rule: a correction of what was said before".to_owned(), ..old.clone() }))
    });
    let corrected = found.next()?;
    // Of two values of one form it is not plain which one is meant.
    corrected.filter(|_| correction.bare.is_none() || correction.instead_of.is_some() || found.next().is_none())
}

/// A claim with the new value: `None` where it has no value of the kind, nothing in it where it is not plain which one is meant.
#[allow(clippy::option_option)]
fn said_again(old: &Claim, correction: &Correction, before: &str) -> Option<Option<String>> {
    let text = old.text.as_str();
    let value = correction.value.as_str();
    let asked = before.trim_end().ends_with('?');
    if let Some(shape) = alone(value).filter(|_| correction.instead_of.is_none()) {
        let wrong = followed(text, value).filter(|wrong| corrects_shape(correction, &shape, asked && !before.contains(wrong)));
        if wrong.is_some() || correction.bare.is_some() {
            return wrong.and_then(|wrong| exchanged(text, wrong, value)).map(Some);
        }
    }
    if let Some(wrong) = &correction.instead_of {
        return exchanged(text, wrong, value).map(Some);
    }
    let (new, own) = (words(value), words(text));
    let times = moments(&new);
    if times.is_empty() {
        return with_value(old, correction, &new, &own, asked).map(Some);
    }
    let same = |moment: &Moment| times.iter().any(|time| time.clock == moment.clock);
    let known: Vec<Moment> = moments(&own).into_iter().filter(same).collect();
    (!known.is_empty()).then(|| at_another_time((text, &own, &known), (value, &new, &times)))
}

/// Whether a value takes the place of another one of its form. An answer to a question may be another number, and so may the words behind "no".
fn corrects_shape(correction: &Correction, shape: &Shape, answers: bool) -> bool {
    !answers || correction.bare == Some(Bare::Sure) && !shape.is_small()
}

/// A claim with another number, name or thing as its value.
fn with_value(old: &Claim, correction: &Correction, new: &[Word], own: &[Word], asked: bool) -> Option<String> {
    let (text, value) = (old.text.as_str(), correction.value.as_str());
    if new.first().is_some_and(Word::is_number) {
        let unit = |words: &[Word], at: usize| words.get(at + 1).map(|word| word.lower.trim_end_matches('s').to_owned());
        let mut places = (0..own.len()).filter(|at| own[*at].is_number() && (new.len() == 1 || unit(own, *at) == unit(new, 0)));
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

/// Words before a day or a time of day, of which one takes the place of another: "on Wednesday" becomes "at 3 pm".
const BEFORE_MOMENT: [&str; 7] = ["on", "at", "in", "by", "until", "from", "since"];

/// A text with the only run of words that is `wrong` exchanged: "not Max" says nothing of Maxine. The signs of both stand once ("$50"), and
/// so do the words that the value has in common with what stands beside that run: "on", "euros". The day of another one goes with it.
fn exchanged(text: &str, wrong: &str, value: &str) -> Option<String> {
    let (own, new) = (words(text), words(value));
    let wrong = match (&new[..], &words(wrong)[..]) {
        // "950, not 900 euros": the unit stays.
        ([number], [old, _]) if number.is_number() && old.is_number() => &wrong[..old.end],
        _ => wrong,
    };
    let old = words(wrong);
    let (first, last) = (old.first()?, old.last()?);
    let is_run = |at: &usize| own[*at..].iter().zip(&old).filter(|(a, b)| a.lower == b.lower).count() == old.len();
    let mut places = (0..own.len()).filter(is_run);
    let at = places.next().filter(|_| places.next().is_none())?;
    let behind = at + old.len();
    let (mut start, mut end) = (own[at].start, own[behind - 1].end);
    let leads = [&wrong[..first.start], new.first().map_or("", |word| &value[..word.start])];
    let tails = [&wrong[last.end..], new.last().map_or("", |word| &value[word.end..])];
    start -= leads.into_iter().find(|lead| !lead.is_empty() && text[..start].ends_with(*lead)).map_or(0, str::len);
    end += tails.into_iter().find(|tail| !tail.is_empty() && text[end..].starts_with(*tail)).map_or(0, str::len);
    if let (Some(before), [opening, _, ..]) = (at.checked_sub(1).map(|before| &own[before]), &new[..])
        && (before.lower == opening.lower || [before, opening].iter().all(|word| among(&BEFORE_MOMENT, &word.lower)))
    {
        start = before.start;
    }
    if let (Some(unit), [_, .., closing]) = (own.get(behind), &new[..])
        && unit.lower.trim_end_matches('s') == closing.lower.trim_end_matches('s')
    {
        end = unit.end;
    }
    Some(format!("{}{value}{}", &text[..start], behind_day(&text[end..])))
}

/// A text with its words and its moments.
type Timed<'a> = (&'a str, &'a [Word], &'a [Moment]);

/// A text with another day or time of day in the place of its own. `None` where one of them has several of the kind, or where a day of the
/// week would take the place of a date.
fn at_another_time((text, own, known): Timed<'_>, (value, new, times): Timed<'_>) -> Option<String> {
    let several = |moments: &[Moment], clock: bool| moments.iter().filter(|moment| moment.clock == clock).count() > 1;
    let undated = !times.iter().any(|time| time.dated && !time.clock) && known.iter().any(|moment| moment.dated && !moment.clock);
    if undated || [known, times].iter().any(|moments| several(moments, false) || several(moments, true)) {
        return None;
    }
    let whole = Moment { to: times.last()?.to, ..*times.first()? };
    let (mut said, mut end) = (String::new(), 0);
    for moment in known {
        let time = times.iter().find(|time| known.len() == times.len() && time.clock == moment.clock).unwrap_or(&whole);
        // The year stays where the correction has none.
        let last = moment.to - usize::from(moment.year && !time.year);
        said += &text[end..own[moment.from].start];
        said += &value[new[time.from].start..new[time.to - 1].end];
        said += &text[own[last - 1].end..own[moment.to - 1].end];
        end = text.len() - behind_day(&text[own[moment.to - 1].end..]).len();
    }
    Some(said + &text[end..])
}

/// A day or a time of day among words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Moment {
    /// Its first word.
    from: usize,
    /// Behind its last.
    to: usize,
    /// Whether it is a time of day.
    clock: bool,
    /// Whether it has a number.
    dated: bool,
    /// Whether it ends in a year.
    year: bool,
}

/// Days and times of day among words. "Friday, June 12" is one.
fn moments(words: &[Word]) -> Vec<Moment> {
    let (mut out, mut at): (Vec<Moment>, usize) = (Vec::new(), 0);
    while at < words.len() {
        let (len, clock) = moment(words, at);
        if len == 0 {
            at += 1;
            continue;
        }
        let year = !clock && is_year(words, at + len) && (at..at + len).any(|at| MONTHS.contains(&words[at].lower.as_str()));
        let dated = words[at..at + len].iter().any(Word::is_number);
        let one = Moment { from: at, to: at + len + usize::from(year), clock, dated, year };
        match out.last_mut().filter(|last| !clock && !last.clock && joined(words, last.to, at) && last.dated != dated) {
            Some(last) => *last = Moment { from: last.from, dated: true, year: last.year || year, ..one },
            None => out.push(one),
        }
        at = one.to;
    }
    out
}

/// Whether nothing but "the", "of", "on" or the day that the gate put behind a word stands between two moments: "Friday (2025-01-03), June 13".
fn joined(words: &[Word], from: usize, to: usize) -> bool {
    let is_day = |word: &Word| word.is_number() && word.lower.len() == 10 && word.lower.contains('-');
    words[from..to].iter().all(|word| ["the", "of", "on"].contains(&word.lower.as_str()) || is_day(word))
}

fn is_year(words: &[Word], at: usize) -> bool {
    words.get(at).is_some_and(|word| word.lower.len() == 4 && word.lower.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Words before a month that is also a verb: "we may move in May".
const BEFORE_MONTH: [&str; 18] = [
    "in", "of", "on", "until", "till", "since", "by", "before", "after", "from", "through", "during", "this", "next", "last", "early",
    "mid", "late",
];

/// How many words a day or a time of day has that begins here, and whether it is a time of day.
fn moment(words: &[Word], at: usize) -> (usize, bool) {
    let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let is_number = |at: usize| words.get(at).is_some_and(Word::is_number);
    let word = lower(at);
    let alone = words.len() == 1 || at > 0 && among(&BEFORE_MONTH, lower(at - 1));
    let is_name = |word: &str| MONTHS.contains(&word) || is_short_month(word);
    let is_month = MONTHS.contains(&word) && (alone || is_number(at + 1) || !["may", "march"].contains(&word));
    let ordinal = is_number(at) && ["st", "nd", "rd", "th"].iter().any(|ending| word.ends_with(ending));
    if is_number(at) && ["am", "pm", "o'clock"].contains(&lower(at + 1)) {
        (2, true)
    } else if is_number(at) && (word.contains(':') || word.ends_with("am") || word.ends_with("pm")) {
        (1, true)
    } else if is_month || is_short_month(word) && is_number(at + 1) {
        (1 + usize::from(is_number(at + 1)), false)
    } else if is_number(at) && word.len() <= 4 && is_name(lower(at + 1)) {
        (2, false)
    } else if ordinal && lower(at + 1) == "of" {
        (3.min(words.len() - at), false)
    } else if let Some(end) = ["day after tomorrow", "day before yesterday"].iter().find_map(|day| starts(words, at, day)) {
        (end - at, false)
    } else {
        (usize::from(ordinal || WEEKDAYS.contains(&word) || ["tomorrow", "today", "tonight"].contains(&word)), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_days_and_times_of_day() {
        for (text, found) in [
            ("we may be there on Tuesday", "Tuesday"),
            ("they march on 4 May", "4 May"),
            ("in May or so", "May"),
            ("May", "May"),
            ("on May 4 at 9:15", "May 4|9:15"),
            ("4 March 2027", "4 March 2027"),
            ("the 4th of March 2027", "4th of March 2027"),
            ("on Friday, June 12", "Friday, June 12"),
            ("on Friday (2025-06-13), June 13", "Friday (2025-06-13), June 13"),
            ("from 9am to 5pm", "9am|5pm"),
            ("Monday or Tuesday", "Monday|Tuesday"),
            ("on 3 June and 4 June", "3 June|4 June"),
            ("the day after tomorrow", "day after tomorrow"),
        ] {
            let own = words(text);
            let all: Vec<&str> = moments(&own).iter().map(|moment| &text[own[moment.from].start..own[moment.to - 1].end]).collect();
            assert_eq!(all.join("|"), found, "{text}");
        }
    }

    #[test]
    fn whole_words_are_exchanged() {
        for (text, wrong, value, said) in [
            ("The user's dog is called Max.", "Max", "Rex", Some("The user's dog is called Rex.")),
            ("The user's budget is $50.", "$50", "$60", Some("The user's budget is $60.")),
            ("The user's budget is $50.", "50", "$60", Some("The user's budget is $60.")),
            ("The user's rate is 20%.", "20", "30%", Some("The user's rate is 30%.")),
            ("The user lives in New York.", "new york", "Newark", Some("The user lives in Newark.")),
            ("The user's dog is called Maxine.", "Max", "Rex", None),
            ("The user's flight is at 15:30.", "5:30", "16:30", None),
            ("We use MySQL for orders.", "SQL", "Postgres", None),
            ("The user's address is 15 Mill Lane.", "5", "7", None),
            ("Ann knows Ann.", "Ann", "Bea", None),
            ("The demo is on Wednesday (2026-05-06) at 3 pm", "Wednesday", "on Thursday", Some("The demo is on Thursday at 3 pm")),
            ("The user's dentist is at 3 pm on Monday.", "3 pm", "at 4 pm", Some("The user's dentist is at 4 pm on Monday.")),
            ("The user's dentist is at 3 pm.", "3", "4 pm", Some("The user's dentist is at 4 pm.")),
            ("The user's rent is 900 euros.", "900", "950 euros", Some("The user's rent is 950 euros.")),
            ("The user's rent is 900 euros.", "900 euros", "950", Some("The user's rent is 950 euros.")),
            ("The party is on Friday (2026-05-08).", "Friday", "on Saturday", Some("The party is on Saturday.")),
            ("The party is on Friday (2026-05-08).", "on Friday", "Saturday", Some("The party is Saturday.")),
            ("The party is on Friday (2026-05-08).", "on Friday", "in June", Some("The party is in June.")),
            ("The trip starts in March.", "March", "on April 3", Some("The trip starts on April 3.")),
            ("The launch is in two weeks (2026-12-12).", "two", "three weeks", Some("The launch is in three weeks.")),
            ("The user works for Acme (2019).", "Acme", "Globex", Some("The user works for Globex (2019).")),
        ] {
            assert_eq!(exchanged(text, wrong, value).as_deref(), said, "{text} {wrong}");
        }
    }
}
