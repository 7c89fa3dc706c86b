//! Changes of things that a team works with: "bumped node to 22.3.0", "hermes got renamed to switchboard", "replaced sentry with bugsnag",
//! "priya took over billing", "code freeze got pushed to march 27". Something that was said of such a thing before may be wrong since.
//!
//! The clause says which thing it is, and the value that it has now, or the one that it had. Where it says neither, it tells of no change.

mod known;
mod value;

use self::value::{Kind, Value, values};
use super::lexicon::FILLERS;
use super::lists::lists;
use super::sentence::Sentence;
use super::values::PREPOSITIONS;
use super::words::{Word, among};
use crate::units::calendar::is_named;

lists! { "shift":
    /// Verbs of those who have one thing in the place of another.
    REPLACED,
    /// Verbs of what was brought from one to another.
    MOVED,
    /// Verbs by which something gets another value.
    SET,
    /// Verbs before "on" and "off".
    TURNED,
    /// Verbs by which something is on.
    TURNS_ON,
    /// Verbs by which something is off.
    TURNS_OFF,
    /// How something is called by another name.
    RENAMED,
    /// Words before the name that something has.
    CALLED,
    /// How somebody is there no more.
    GONE,
    /// How somebody has what another one had.
    TOOK_OVER,
    /// Verbs of how something is.
    STATES,
    /// Words for those who answer for something.
    OWNS,
    /// Words with which a clause begins before its verb or its subject.
    LEADS,
    /// Words of a thing that say little of which one it is.
    GENERIC,
    /// Words that tell a thing from others of its kind.
    APART,
    /// Words of what may be, of others, or of the user alone.
    UNSURE,
    /// Words that say nothing of a thing.
    IDLE,
}

/// Words of such a message at most.
const MOST_WORDS: usize = 26;
/// Words of a subject, of an object and of a value at most.
const MOST_SUBJECT: usize = 6;
/// Words behind which a value is over.
const LIMITS: [&str; 16] =
    ["in", "for", "on", "across", "at", "since", "after", "as", "because", "now", "everywhere", "from", "and", "so", "but", "again"];
/// Words of somebody who is meant by them.
const PRONOUNS: [&str; 11] = ["it's", "it", "they're", "they", "i", "he", "she", "that", "that's", "we", "someone"];

/// Words behind which who is there no more stays away: "left last week", "stepped down as lead".
const STILL_GONE: [&str; 11] = ["as", "for", "last", "yesterday", "today", "in", "on", "this", "from", "us", "since"];

/// A change of a thing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // what is over, in several ways
pub(super) struct Shift {
    /// The words of each value that is over.
    olds: Vec<Vec<String>>,
    /// The words of the thing, with those for whom or where that is so.
    thing: Vec<String>,
    /// The value that it has now.
    value: Option<Value>,
    /// The words of that value.
    new: Vec<String>,
    /// The value that is over is a name.
    is_renamed: bool,
    /// Only the name that is over says which thing it is.
    is_bare_rename: bool,
    /// The thing is what somebody answers for.
    is_role: bool,
    /// The one who is over is there no more.
    is_gone: bool,
}

impl Shift {
    /// The change that a message tells of.
    pub fn of(s: &Sentence<'_>) -> Option<Self> {
        let plain = s.words.iter().filter(|word| !word.is_mark()).count();
        if !(3..=MOST_WORDS).contains(&plain) || s.words.iter().any(|word| among(&UNSURE, &word.lower)) || may_be(s.words) {
            return None;
        }
        let undated = if s.text.contains('(') { Some(without_dates(s.text, s.words.to_vec())) } else { None };
        let s = &Sentence { text: s.text, words: undated.as_deref().unwrap_or(s.words) };
        let clauses = clauses(s);
        let mut shift = clauses.iter().find_map(|clause| Self::of_clause(clause));
        let gone: Vec<Vec<String>> = if clauses.len() > 1 { clauses.iter().filter_map(gone).collect() } else { Vec::new() };
        if !gone.is_empty() {
            return Self::of_gone(&clauses, gone, shift);
        }
        let shift = shift.as_mut()?;
        // "standup is at 9:30, moved from 10"
        if shift.thing.is_empty() && shift.new.is_empty() {
            let first = clauses.first().and_then(|first| stated(first, first.words.len()))?;
            *shift = Self { olds: shift.olds.clone(), ..first };
        }
        shift.olds.extend(clauses.iter().filter_map(denied));
        for clause in &clauses {
            shift.follow(clause);
        }
        let is_told =
            !shift.olds.is_empty() || !shift.thing.is_empty() && (shift.value.is_some() || !shift.new.is_empty() || shift.is_role);
        is_told.then(|| shift.clone())
    }

    /// "marco left, priya owns billing now", "`DB_URL` is gone, it's `DATABASE_URL` now".
    fn of_gone(clauses: &[Sentence<'_>], olds: Vec<Vec<String>>, shift: Option<Self>) -> Option<Self> {
        let others = || clauses.iter().filter(|clause| gone(clause).is_none());
        let of_name = |old: &Vec<String>| old.iter().any(|word| word.contains(['_', '-', '.', '/']));
        let thing: Vec<String> = others().flat_map(|clause| content(clause.words)).collect();
        if thing.is_empty() {
            return None;
        }
        let is_thing = olds.iter().all(of_name) || clauses.iter().any(|clause| clause.words.iter().any(|word| word.lower == "gone"));
        if is_thing {
            return Some(Self { olds, new: shift.map_or(Vec::new(), |shift| shift.new), is_bare_rename: true, ..Self::default() });
        }
        Some(Self { olds, thing, is_gone: true, is_role: true, ..Self::default() })
    }

    /// "..., it's at o11y.atlas.io now", "..., it's off again" behind a clause that names the thing.
    fn follow(&mut self, clause: &Sentence<'_>) {
        let is_it = ["it's", "they're", "its"].contains(&clause.word(0)) || ["it", "they"].contains(&clause.word(0));
        let is_open = self.value.is_none() || self.new.is_empty();
        if let Some(value) = values(clause).into_iter().next().filter(|_| is_it && is_open) {
            (self.new, self.value) = (told(&clause.words[value.from..value.to]), Some(value));
        }
    }

    fn of_clause(s: &Sentence<'_>) -> Option<Self> {
        let at = s.words.iter().position(|word| !among(&LEADS, &word.lower)).filter(|at| *at < s.words.len())?;
        let rest = &Sentence { text: s.text, words: &s.words[at..] };
        by_verb(rest).or_else(|| of_subject(rest)).or_else(|| owned(s)).or_else(|| stated(s, now(s)?)).or_else(|| announced(s))
    }

    fn new(thing: &[Word], old: &[Word], new: &Sentence<'_>) -> Self {
        let old = told(old);
        let mut shift = Self { olds: if old.is_empty() { Vec::new() } else { vec![old] }, thing: content(thing), ..Self::default() };
        shift.gets(new);
        shift
    }

    /// Gives it the value with which some words begin. The rest of them says where that is so.
    fn gets(&mut self, s: &Sentence<'_>) {
        let value = values(s).into_iter().find(|value| value.from <= MOST_SUBJECT);
        let begin = usize::from(["at", "on", "in", "to", "port"].contains(&s.word(0)));
        let end = (begin..s.words.len()).find(|at| *at > begin && (among(&LIMITS, s.word(*at)) || s.parted(*at))).unwrap_or(s.words.len());
        if let Some(value) = value {
            // "upgraded to python 3.13" is of Python, and "is off in prod" of production.
            self.thing.extend(content(&s.words[..value.from]));
            self.thing.extend(content(limits(&s.words[value.to..])));
            self.new = told(&s.words[value.from..value.to]);
            self.value = Some(value);
        } else {
            self.new = told(&s.words[begin..end.min(begin + MOST_SUBJECT)]);
            self.thing.extend(content(limits(s.words.get(end..).unwrap_or_default())));
        }
    }
}

/// The words behind a value that say for what or where it is so.
fn limits(words: &[Word]) -> &[Word] {
    const OVER: [&str; 12] = ["since", "because", "as", "so", "and", "but", "after", "now", "again", "from", "instead", "by"];
    let end = words.iter().position(|word| OVER.contains(&word.lower.as_str())).unwrap_or(words.len());
    &words[..end]
}

/// "replaced sentry with bugsnag", "bumped node to 22.3.0", "moved ci from jenkins to github actions", "flipped `new_checkout` on".
fn by_verb(s: &Sentence<'_>) -> Option<Shift> {
    let place = |known: &[&str], from: usize| (from..s.words.len().min(from + MOST_SUBJECT)).find(|at| known.contains(&s.word(*at)));
    let (words, behind) = (s.words, |from: usize| Sentence { text: s.text, words: &s.words[from..] });
    let with = |at: usize| place(&["with", "for", "by"], at + 1).filter(|with| with + 1 < words.len());
    if let Some((at, with)) = s.behind(0, &REPLACED).and_then(|at| Some((at, with(at)?))) {
        return Some(Shift::new(&[], &words[at..with], &behind(with + 1)));
    }
    if s.word(0) == "renamed" {
        let to = place(&["to"], 2).filter(|to| to + 1 < words.len())?;
        return Some(Shift { is_renamed: true, is_bare_rename: true, value: None, ..Shift::new(&[], &words[1..to], &behind(to + 1)) });
    }
    if let Some(shift) = moved(s, 0) {
        return Some(shift);
    }
    if among(&SET, s.word(0)) {
        let to = place(&["to"], 1).filter(|to| to + 1 < words.len())?;
        let shift = Shift::new(&words[1..to], &[], &behind(to + 1));
        let is_named = among(&MOVED, s.word(0)) && to > 1;
        return (shift.value.is_some() || is_named && !shift.new.is_empty()).then_some(shift);
    }
    turned(s)
}

/// "(ci) moved (billing) from jenkins to github actions", "switched to zed from emacs", "moved off grafana".
fn moved(s: &Sentence<'_>, verb: usize) -> Option<Shift> {
    if !among(&MOVED, s.word(verb)) {
        return None;
    }
    let place = |known: &[&str], from: usize| (from..s.words.len().min(from + MOST_SUBJECT)).find(|at| known.contains(&s.word(*at)));
    let from = place(&["from", "off", "away"], verb + 1)?;
    let to = place(&["to", "onto"], verb + 1);
    let thing = [&s.words[..verb], &s.words[verb + 1..from.min(to.unwrap_or(from))]].concat();
    let rest = |at: usize| Sentence { text: s.text, words: &s.words[at..] };
    match to {
        Some(to) if to > from && to + 1 < s.words.len() => Some(Shift::new(&thing, &s.words[from + 1..to], &rest(to + 1))),
        Some(to) if to < from => {
            let new = Sentence { text: s.text, words: &s.words[to + 1..from] };
            Some(Shift::new(&thing, &s.words[from + 1..], &new))
        }
        None => Some(Shift::new(&thing, &s.words[from + 1..], &rest(s.words.len()))),
        _ => None,
    }
}

/// "flipped `new_checkout` on in prod", "turned on dark mode", "re-enabled rate limiting on the gateway", "killed the `dark_mode` flag".
fn turned(s: &Sentence<'_>) -> Option<Shift> {
    let verb = s.word(0);
    let place = |at: usize| ["on", "off"].contains(&s.word(at));
    let (is_on, mut thing) = if among(&TURNED, verb) {
        let at = (1..s.words.len()).find(|at| place(*at))?;
        (s.word(at) == "on", [&s.words[1..at], &s.words[at + 1..]].concat())
    } else if among(&TURNS_ON, verb) || among(&TURNS_OFF, verb) {
        (among(&TURNS_ON, verb), s.words[1..].to_vec())
    } else {
        return None;
    };
    let is_switch = |word: &Word| {
        word.lower.contains(['_', '-'])
            || ["flag", "toggle", "feature", "switch", "canary", "logging", "mode", "limiting"].contains(&&*word.lower)
    };
    if !thing.iter().any(is_switch) {
        return None;
    }
    thing.retain(|word| !word.is_mark());
    let value = Value { kind: Kind::Switch, text: if is_on { "on" } else { "off" }.to_owned(), from: 0, to: 0 };
    Some(Shift { thing: content(&thing), value: Some(value), ..Shift::default() })
}

/// "hermes got renamed to switchboard", "code freeze got pushed to march 27", "pool size went up to 45", "priya took over billing".
fn of_subject(s: &Sentence<'_>) -> Option<Shift> {
    let most = s.words.len().min(MOST_SUBJECT + 1);
    let named = |at: usize| !among(&PRONOUNS, s.word(0)) && at > 0;
    let rest = |at: usize| Sentence { text: s.text, words: &s.words[at..] };
    for at in 0..most {
        if let Some(behind) = s.behind(at, &TOOK_OVER).filter(|behind| *behind < s.words.len()) {
            return Some(took_over(s, at, behind));
        }
        if let Some(behind) = s.behind(at, &RENAMED).filter(|behind| named(at) && *behind < s.words.len()) {
            let old = told(&s.words[..at]);
            let is_bare_rename = !s.words[at..behind].iter().any(|word| word.lower == "now");
            let shift = Shift::new(&s.words[..at], &[], &rest(behind));
            return Some(Shift { olds: vec![old], is_renamed: true, is_bare_rename, value: None, ..shift });
        }
        if let Some(shift) = moved(s, at).filter(|_| named(at)) {
            return Some(shift);
        }
    }
    let to = (2..s.words.len()).find(|at| s.word(*at) == "to" && at + 1 < s.words.len())?;
    let is_way = |at: &usize| ["up", "down", "back", "out", "forward", "over"].contains(&s.word(*at));
    let verb = (1..to).rev().find(|at| !is_way(at))?;
    let is_set = among(&SET, s.word(verb)) || s.word(verb) == "brought" || to > verb + 1 && ["is", "are"].contains(&s.word(verb));
    let shift = Shift::new(&s.words[..verb], &[], &rest(to + 1));
    let is_value = shift.value.as_ref().is_some_and(|value| value.from <= 2);
    (named(verb) && verb <= MOST_SUBJECT && is_set && is_value && !shift.thing.is_empty()).then_some(shift)
}

/// "priya | took over | billing from marco": also without who did.
fn took_over(s: &Sentence<'_>, at: usize, behind: usize) -> Shift {
    let from = (behind..s.words.len()).find(|at| s.word(*at) == "from").unwrap_or(s.words.len());
    Shift { olds: Vec::new(), thing: content(&s.words[behind..from]), new: content(&s.words[..at]), is_role: true, ..Shift::default() }
}

/// "priya owns billing now", "search-indexer is tomas's now".
fn owned(s: &Sentence<'_>) -> Option<Shift> {
    let end = now(s)?;
    let s = &Sentence { text: s.text, words: &s.words[..end] };
    if let Some(is) = (1..end).find(|at| ["is", "are"].contains(&s.word(*at))).filter(|is| is + 2 == end && s.word(is + 1).ends_with("'s"))
    {
        return Some(Shift { thing: content(&s.words[..is]), new: content(&s.words[is + 1..]), is_role: true, ..Shift::default() });
    }
    let is_verb = |at: &usize| among(&OWNS, s.word(*at)) && s.word(*at).ends_with('s') && s.word(*at) != "runs";
    let verb =
        (1..=2).find(is_verb).filter(|verb| verb + 1 < end && !among(&PRONOUNS, s.word(0)) && !["the", "our"].contains(&s.word(0)))?;
    let mut thing = content(&s.words[verb + 1..]);
    thing.retain(|word| !among(&OWNS, word));
    (!thing.is_empty()).then(|| Shift { thing, new: content(&s.words[..verb]), is_role: true, ..Shift::default() })
}

/// "cluster's on 1.31 since tuesday", "the owner of billing is priya now", "images go to ghcr.io now", "we're on pnpm now instead of yarn".
fn stated(s: &Sentence<'_>, end: usize) -> Option<Shift> {
    let instead = s.behind(end.min(s.words.len()), &["now instead of", "instead of"]);
    let old = instead.map_or(&[][..], |at| &s.words[at..]);
    let begin = s.words.iter().position(|word| !among(&LEADS, &word.lower) || word.lower == "we").unwrap_or(0);
    let tail = |at: usize| Sentence { text: s.text, words: &s.words[at..end] };
    if ["we're", "we"].contains(&s.word(0)) || s.word(begin) == "we" {
        let at = (begin..end.min(begin + 3)).find(|at| ["on", "in", "use", "at"].contains(&s.word(*at)))? + 1;
        return (at < end).then(|| Shift::new(&[], old, &tail(at)));
    }
    let contracts =
        |at: usize| s.word(at).ends_with("'s") && !among(&PRONOUNS, s.word(at)) && !["let's", "there's", "what's"].contains(&s.word(at));
    let is_verb = |at: &usize| *at > begin && among(&STATES, s.word(*at));
    let verb = (begin..end).find(|at| is_verb(at) || contracts(*at))?;
    let subject = if contracts(verb) { &s.words[begin..=verb] } else { &s.words[begin..verb] };
    if verb + 1 >= end || subject.len() > MOST_SUBJECT || subject.first().is_some_and(|word| among(&PRONOUNS, &word.lower)) {
        return None;
    }
    let counts = ["retries", "retry"].contains(&s.word(verb));
    let mut shift = Shift::new(if counts { &s.words[begin..=verb] } else { subject }, old, &tail(verb + 1));
    if ["now", "again"].contains(&s.word(end)) && instead.is_none() {
        shift.thing.extend(content(limits(&s.words[end + 1..])));
    }
    if s.word(end.saturating_sub(1)) == "called" || tail(verb + 1).word(0) == "called" {
        shift.new.retain(|word| word != "called");
        (shift.is_renamed, shift.value) = (true, None);
        shift.olds.push(content(subject));
    }
    Some(shift)
}

/// "new vpn endpoint: vpn2.atlas.io".
fn announced(s: &Sentence<'_>) -> Option<Shift> {
    let new = (0..2).find(|at| s.word(*at) == "new")?;
    let colon = (new + 2..s.words.len().min(new + MOST_SUBJECT)).find(|at| {
        s.text[s.words[at - 1].end..s.words[*at].start].contains(':') || ["is", "are"].contains(&s.word(at - 1)) && new + 2 < *at
    })?;
    let is = usize::from(["is", "are"].contains(&s.word(colon - 1)));
    let shift = Shift::new(&s.words[new + 1..colon - is], &[], &Sentence { text: s.text, words: &s.words[colon..] });
    (shift.value.is_some()).then_some(shift)
}

/// Where the words begin that say that it is so now: "since tuesday", "as of today", "now".
fn now(s: &Sentence<'_>) -> Option<usize> {
    const NOW: [&str; 14] = [
        "now",
        "again",
        "since",
        "as of today",
        "as of now",
        "as of yesterday",
        "from today",
        "from now",
        "from tomorrow",
        "starting today",
        "these days",
        "instead of",
        "as of this",
        "going forward",
    ];
    let begins = |at: usize| s.behind(at, &NOW).is_some() || s.word(at) == "from" && s.words.last().is_some_and(|word| word.lower == "on");
    // "now" may stand before the value: "ci now runs on".
    (1..s.words.len()).find(|at| begins(*at))
}

/// Who or what is there no more: "marco left", "tomas is off call", "eva's out".
fn gone(s: &Sentence<'_>) -> Option<Vec<String>> {
    const CONTRACTED: [&str; 5] = ["out", "gone", "off", "leaving", "away"];
    const MOST_BEHIND: usize = 3;
    for at in 1..s.words.len().min(3) {
        let name = &s.words[..at];
        let is_name = |word: &Word| is_content(&word.lower) && !among(&PRONOUNS, &word.lower) && !among(&SET, &word.lower);
        if !name.iter().all(is_name) {
            return None;
        }
        let contracted = s.word(at - 1).ends_with("'s") && CONTRACTED.contains(&s.word(at));
        let behind = s.behind(at, &GONE).or(contracted.then_some(at + 1));
        let is_switch = || s.words[..at].iter().any(|word| word.lower.contains('_')) && s.word(s.words.len() - 1) != "gone";
        let is_moved = || s.word(at) == "moved" && !values(s).is_empty();
        // "bo left a comment" is there.
        let is_left = |behind: usize| {
            s.word(behind - 1) == "moved"
                || s.word(behind - 1) == "to"
                || s.words.get(behind).is_none_or(|next| among(&STILL_GONE, &next.lower))
        };
        if behind.is_some_and(|behind| s.words.len() <= behind + MOST_BEHIND && is_left(behind)) && !is_switch() && !is_moved() {
            return Some(content(name));
        }
    }
    None
}

/// "..., not docker hub".
fn denied(s: &Sentence<'_>) -> Option<Vec<String>> {
    let old = if s.word(0) == "not" { told(&s.words[1..]) } else { Vec::new() };
    (1..=3).contains(&old.len()).then_some(old)
}

/// The clauses of a message.
fn clauses<'s>(s: &'s Sentence<'_>) -> Vec<Sentence<'s>> {
    let mut begins: Vec<usize> = (1..s.words.len()).filter(|at| parted(s, *at)).collect();
    begins.push(s.words.len());
    let mut from = 0;
    let clause = |to: usize| {
        let clause = Sentence { text: s.text, words: &s.words[from..to] };
        from = to;
        clause
    };
    begins.into_iter().map(clause).collect()
}

/// Whether a comma or the end of a sentence stands before a word.
fn parted(s: &Sentence<'_>, at: usize) -> bool {
    s.parted(at) || s.text[s.words[at - 1].end..s.words[at].start].contains(['.', '!', '\n'])
}

/// The words of content, as they are compared.
fn content(words: &[Word]) -> Vec<String> {
    words.iter().filter(|word| is_content(&word.lower) && !is_amount(&word.lower)).map(|word| norm(&word.lower)).collect()
}

/// The words of a value, as they are compared.
fn told(words: &[Word]) -> Vec<String> {
    words.iter().filter(|word| is_content(&word.lower)).map(|word| norm(&word.lower)).collect()
}

/// Whether words say "may" of what is possible, and not of the month ("may 18"), or tell of a plan ("planning to").
pub(super) fn may_be(words: &[Word]) -> bool {
    words.iter().enumerate().any(|(at, word)| match (word.lower.as_str(), words.get(at + 1)) {
        ("may", next) => !next.is_some_and(Word::is_number),
        ("plan" | "planning", Some(next)) => ["to", "on"].contains(&next.lower.as_str()),
        _ => false,
    })
}

/// Whether a text tells by a word of one of several things of a kind, and another one by another: "in staging", "in prod".
pub(super) fn tells_apart(changed: &[String], known: &[Word]) -> bool {
    let is_there = |word: &str| known.iter().any(|other| norm(&other.lower) == word);
    let lacks = || changed.iter().any(|word| among(&APART, word) && !is_there(word));
    let has_other = |word: &Word| among(&APART, &word.lower) && !changed.iter().any(|other| *other == norm(&word.lower));
    lacks() && known.iter().any(has_other)
}

/// Whether a word is a number, with or without a unit, or a day.
fn is_amount(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_digit()) || is_named(word) || is_named(word.strip_suffix('s').unwrap_or(word))
}

/// Whether a word says something of a thing.
fn is_content(word: &str) -> bool {
    let bare = word.strip_suffix("'s").unwrap_or(word);
    let is_sign = !bare.chars().any(char::is_alphanumeric);
    !is_sign && !among(&FILLERS, bare) && !among(&PREPOSITIONS, bare) && !is_idle(bare)
}

fn is_idle(word: &str) -> bool {
    among(&IDLE, word)
}

/// A word as it is compared: without the ending of a plural or a possessive.
pub(super) fn norm(word: &str) -> String {
    let word = word.strip_suffix("'s").unwrap_or(word);
    if ["on-call", "oncall", "pager", "off-call"].contains(&word) {
        return "oncall".to_owned();
    }
    if word.contains(['_', '-', '.', '/']) || word.bytes().any(|byte| byte.is_ascii_digit()) || word.len() <= 3 {
        return word.to_owned();
    }
    match word.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") => word.to_owned(),
        None => word.strip_suffix('s').unwrap_or(word).to_owned(),
    }
}

/// The words without the days that the gate has put in brackets: "march 13 (2026-03-13)".
fn without_dates(text: &str, mut words: Vec<Word>) -> Vec<Word> {
    words.retain(|word| !(word.lower.len() == 10 && word.is_number() && text[..word.start].ends_with('(')));
    words
}

#[cfg(test)]
mod tests {
    use super::super::otherwise::Change;

    /// Whether a change says that an older text may be wrong.
    fn is_of(known: &str, change: &str) -> bool {
        Change::of(change).is_some_and(|change| change.is_of(known))
    }

    #[test]
    fn a_state_is_no_other_value_of_what_was_told_of_the_same() {
        for (known, later) in [
            ("Leo is allergic to penicillin", "Leo is sick again"),
            ("mom is allergic to cats", "mom is retired now"),
            ("Mia is diabetic", "Mia is in Bergen now"),
            ("the dog needs insulin", "the dog needs a bath again"),
            ("the budget for the kitchen is 20k", "the kitchen is painted now"),
            ("ci runs on jenkins", "ci is green again"),
            ("the bike is blue", "the bike is in the shed now"),
            ("Grandma is in Oslo", "moved from oslo to bergen"),
            ("I'm from Oslo", "moved from oslo to bergen"),
            ("The user's son is called Leo", "we renamed leo to orion in staging"),
            ("yoga is on monday", "switched from monday to friday"),
        ] {
            assert!(!is_of(known, later), "{known} / {later}: {:?}", Change::of(later));
        }
    }

    #[test]
    fn a_change_is_of_an_older_value_of_the_same_thing() {
        for (known, change) in [
            ("we use statsd for metrics", "replaced statsd with otel"),
            ("the queue runs on rabbitmq", "moved the queue from rabbitmq to sqs"),
            ("builds run on circleci", "builds run on buildkite now, not circleci"),
            ("we're on ruby 3.2", "upgraded to ruby 3.4"),
            ("django is at 4.2", "we bumped django to 5.1 yesterday"),
            ("the mobile app is at v3.1", "mobile app is at v3.2 as of today"),
            ("the owner of search is ines", "tom took over search"),
            ("tom owns ledger-sync", "ledger-sync is mia's now"),
            ("the em of payments is sasha", "sasha left, the em of payments is noor"),
            ("quick_pay is off in prod", "flipped quick_pay on in prod"),
            ("tracing is enabled for ledger-sync", "disabled the tracing flag for ledger-sync"),
            ("the cache size is 512mb", "raised the cache size to 2gb"),
            ("the upload limit is 5 mb", "upload limit went up to 20 mb"),
            ("the broker is at mq-1.corp.io", "broker moved to mq-2.corp.io"),
            ("the beta is due march 3 (2026-03-03)", "beta slipped to march 17 (2026-03-17)"),
            ("grooming is on mondays at 10", "grooming is on tuesdays now"),
            ("the orders service is called zeus", "zeus got renamed to orderly"),
            ("the release branch is trunk", "renamed trunk to main"),
            ("planning is on mondays", "planning moved to tuesdays"),
            ("the config variable is APP_KEY", "APP_KEY is gone, it's APP_SECRET now"),
        ] {
            assert!(is_of(known, change), "{known} / {change}: {:?}", Change::of(change));
        }
    }

    #[test]
    fn a_change_of_another_thing_is_of_no_older_value() {
        for (known, change) in [
            ("prod runs 1.28", "upgraded staging to 1.31"),
            ("the gateway is called hermes", "renamed the api module to core"),
            ("the owner of billing is marco", "priya took over the standup notes"),
            ("we use statsd for metrics", "replaced the statsd host with a socket"),
            ("search runs on rabbitmq", "moved billing from rabbitmq to sqs"),
            ("the android app is at 4.2", "bumped the ios app to 5.0"),
            ("quick_pay is off in prod", "flipped quick_pay on in staging"),
            ("zeus runs on port 8443", "zeus got renamed to orderly"),
            ("zeus is down", "zeus got renamed to orderly"),
            ("the owner of search is ines", "marco left, the owner of billing is priya now"),
            ("the db timeout is 5s", "lowered the api timeout to 10s"),
            ("log retention is 30 days", "trace retention is 7 days now"),
            ("retro is on fridays", "demo moved to thursdays"),
            ("the owner of ledger is bo", "bo left a comment, ledger tests are green now"),
            ("django is at 4.2", "we're planning to move django to 5.1"),
            ("django is at 5.1", "we bumped django to 5.1 yesterday"),
            ("i use rabbitmq for my thesis", "we should move from rabbitmq to sqs"),
        ] {
            assert!(!is_of(known, change), "{known} / {change}: {:?}", Change::of(change));
        }
    }
}
