//! The newest first: of memories that say something of the same thing, where no slot says so, the newest stands before those that it
//! replaces, and each of these says when.
//!
//! Before that, the best of those that are about whom the question asks for stands before what says the same of somebody else.
//!
//! Two are such a pair where both are of kinds that hold (facts, preferences, decisions, constraints, the profile), the newer one is
//! trusted as much, is about the same person (or, where neither is about whom is asked, begins with the same word), and it answers the
//! question by itself ([`answers_by`]). The same person: it has every name
//! and identifier of the question that the older one has, speaks of "I" where the older one does, and of nobody else's. A question that
//! names nobody and says nothing of "I" is answered as it ranks: "the production server" is no newer "staging server".
//!
//! It forgets nothing and leaves nothing out: near is not the same, and the reader decides. What asks for the past, or for a time, is
//! answered as it ranks.

use std::cell::OnceCell;

use super::Question;
use super::contenders::Contender;
use super::own::Own;
use super::ranking::memories::newest::{CLOSENESS, LEAST, MEANING};
use crate::memory::Kind;
use crate::text::{MAX_TEXT_BYTES, QueryTerm, Role, analyze};
use crate::units::term_key::TermKey;

/// So many hundredths of the older one's score has what is newer, at least.
const LEAST_SHARE: i64 = 10;
/// Words that ask for what was.
const PAST: [&str; 14] = [
    "used",
    "before",
    "previous",
    "previously",
    "former",
    "formerly",
    "earlier",
    "old",
    "originally",
    "original",
    "past",
    "ago",
    "history",
    "then",
];
/// Words of who asks, and of how others write of them.
const OWN: [&str; 12] = ["i", "me", "my", "mine", "we", "us", "our", "ours", "i'm", "i've", "user", "user's"];

/// Bytes of the longest of them, with a typographic apostrophe.
const LONGEST_OWN: usize = "user\u{2019}s".len();

/// Puts the newest of each thing before what it replaces, by its score, and notes at the older ones when something newer was said.
/// `near` has the closeness of a hit, and its cosine by the built-in embedding.
pub(super) fn lift(question: &Question, own: &Own, hits: &mut [Contender<'_>], near: impl Fn(&Contender<'_>) -> (f64, f64)) {
    if words(question.text()).any(|word| PAST.contains(&word.as_str())) {
        return;
    }
    let asked = Asked::of(question, own);
    if !asked.own && asked.names.is_empty() {
        return;
    }
    let seen: Vec<Option<Seen>> = hits.iter().map(Seen::of).collect();
    let answers: Vec<OnceCell<bool>> = vec![OnceCell::new(); hits.len()];
    let answers = |at: usize| *answers[at].get_or_init(|| answers_by(near(&hits[at])));
    let [right, wrong] = [Asked::is_right, Asked::is_wrong].map(|is| asked.first(&seen, is, answers));
    let newest: Vec<Option<usize>> = (0..hits.len()).map(|older| newest_of(older, &asked, &seen, answers)).collect();
    if let Some((right, wrong)) = right.zip(wrong) {
        raise(hits, right, wrong);
    }
    for (older, newest) in newest.into_iter().enumerate() {
        let Some(newest) = newest else { continue };
        hits[older].newer_at = Some(hits[newest].memory.occurred_at);
        raise(hits, newest, older);
    }
}

/// Gives one hit at least the score of another, before which it stands.
fn raise(hits: &mut [Contender<'_>], one: usize, above: usize) {
    let least = hits[above].parts.fixed;
    hits[one].parts.raise_to(least);
}

/// The newest of what replaces one.
fn newest_of(older: usize, asked: &Asked, seen: &[Option<Seen>], answers: impl Fn(usize) -> bool) -> Option<usize> {
    let old = seen[older].as_ref()?;
    let newer = seen.iter().enumerate().filter_map(|(place, new)| Some((place, new.as_ref()?)));
    let newer = newer.filter(|(place, new)| asked.is_newer(new, old) && answers(older) && answers(*place));
    newer.max_by_key(|(_, new)| new.occurred_at).map(|(place, _)| place)
}

/// Whether a memory answers the question by itself.
fn answers_by((closeness, cosine): (f64, f64)) -> bool {
    MEANING * cosine + CLOSENESS * closeness > LEAST
}

/// Of whom and of what a question asks.
struct Asked {
    /// What a newer memory must have if the older one has it.
    required: Vec<Required>,
    key: TermKey,
    names: Vec<String>,
    /// It asks of the user: in the first person, or by name.
    own: bool,
    /// The names of it that are the user's.
    own_names: Vec<String>,
}

impl Asked {
    fn of(question: &Question, own: &Own) -> Self {
        let names: Vec<String> = question.names().iter().map(|name| name.to_lowercase()).collect();
        let own_names: Vec<String> = names.iter().filter(|name| own.has(name)).cloned().collect();
        let is_own = speaks_of_own(question.text()) || !own_names.is_empty();
        let (key, query) = question.known_terms();
        let is_required = |term: &QueryTerm| match term.role {
            Role::Whole => true,
            Role::Word => {
                names.contains(&term.text) && !own_names.contains(&term.text) || term.text.bytes().any(|byte| byte.is_ascii_digit())
            } // "20dfcccfde" is a word
            _ => false,
        };
        Self {
            required: query.terms.iter().filter(|term| is_required(term)).map(Required::of).collect(),
            key,
            names,
            own: is_own,
            own_names,
        }
    }

    /// The first that is so and answers the question.
    fn first(&self, seen: &[Option<Seen>], is: fn(&Self, &Seen) -> bool, answers: impl Fn(usize) -> bool) -> Option<usize> {
        seen.iter().enumerate().position(|(at, one)| one.as_ref().is_some_and(|one| is(self, one)) && answers(at))
    }

    /// Whether a memory is about the very person who is asked for: it has all that the question names, or is the user's own where that
    /// asks of the user alone.
    fn is_right(&self, one: &Seen) -> bool {
        (self.names_others() || one.own(self)) && one.required(self).len() == self.required.len() && !one.others(self)
    }

    /// Whether it is about somebody else.
    fn is_wrong(&self, one: &Seen) -> bool {
        if self.names_others() { one.required(self).is_empty() } else { !one.own(self) }
    }

    /// Whether the question names somebody who is not the user.
    fn names_others(&self) -> bool {
        self.names.len() > self.own_names.len()
    }

    /// Whether a memory is about whom or what is asked.
    fn is_about(&self, one: &Seen) -> bool {
        self.own && one.own(self) || !one.required(self).is_empty()
    }

    /// Whether one is newer than another and about the same person or thing. What is cheap comes first: mostly no text is read.
    fn is_newer(&self, new: &Seen, old: &Seen) -> bool {
        new.occurred_at > old.occurred_at
            && new.scope == old.scope
            && new.trust >= old.trust
            && (new.slot.is_none() || old.slot.is_none() || new.slot == old.slot)
            && new.score.saturating_mul(100) >= old.score.saturating_mul(LEAST_SHARE)
            && (!self.own || new.own(self) == old.own(self))
            && (self.is_about(old) || old.begins_as(new))
            && (!new.others(self) || old.others(self))
            && old.required(self).iter().all(|hash| new.required(self).contains(hash))
    }
}

/// A name or an identifier of the question.
struct Required {
    hash: u64,
    /// Its letters and digits, where a text in ASCII that has it has these in a row.
    letters: Option<String>,
}

impl Required {
    fn of(term: &QueryTerm) -> Self {
        let letters = if term.text.len() < MAX_TEXT_BYTES { letters(&term.text) } else { None };
        Self { hash: term.hash, letters: letters.filter(|letters| !letters.is_empty()) }
    }

    /// Whether a text with these letters may have it.
    fn may_be_in(&self, text: &str) -> bool {
        self.letters.as_ref().is_none_or(|own| text.contains(own.as_str()))
    }
}

/// The letters and digits of a text in ASCII, in small letters: the analyzer changes nothing else of them, and drops none between others.
fn letters(text: &str) -> Option<String> {
    let kept = |byte: &u8| byte.is_ascii_alphanumeric();
    text.is_ascii().then(|| text.bytes().filter(kept).map(|byte| char::from(byte.to_ascii_lowercase())).collect())
}

/// What is known of a memory that holds.
struct Seen<'h> {
    text: &'h str,
    scope: usize,
    slot: Option<&'h str>,
    occurred_at: i64,
    trust: u8,
    score: i64,
    required: OnceCell<Vec<u64>>,
    own: OnceCell<bool>,
    others: OnceCell<bool>,
    begin: OnceCell<Option<String>>,
}

impl<'h> Seen<'h> {
    fn of(hit: &Contender<'h>) -> Option<Self> {
        let memory = &hit.memory;
        if !holds(memory.kind) || memory.is_ended {
            return None;
        }
        Some(Self {
            text: memory.text,
            scope: hit.scope,
            slot: memory.slot,
            occurred_at: memory.occurred_at,
            trust: memory.trust,
            score: hit.parts.fixed,
            required: OnceCell::new(),
            own: OnceCell::new(),
            others: OnceCell::new(),
            begin: OnceCell::new(),
        })
    }

    /// What it has of the names and identifiers of the question. The text is analysed only where its letters have one of them.
    fn required(&self, asked: &Asked) -> &[u64] {
        self.required.get_or_init(|| {
            let letters = letters(self.text);
            if letters.is_some_and(|letters| !asked.required.iter().any(|one| one.may_be_in(&letters))) {
                return Vec::new();
            }
            let analysis = analyze(self.text, asked.key);
            let has = |hash: &u64| analysis.terms.binary_search_by_key(hash, |term| term.hash).is_ok();
            asked.required.iter().map(|one| one.hash).filter(has).collect()
        })
    }

    /// Whether it speaks of the user, by a name that is asked for or without.
    fn own(&self, asked: &Asked) -> bool {
        let is_named = || words(self.text).any(|word| asked.own_names.iter().any(|name| *name == word.trim_end_matches("'s")));
        *self.own.get_or_init(|| speaks_of_own(self.text) || !asked.own_names.is_empty() && is_named())
    }

    /// Whether both begin with the same word, but for an article: what is about nobody that is asked for is then of the same thing.
    fn begins_as(&self, other: &Self) -> bool {
        self.begin() == other.begin()
    }

    fn begin(&self) -> Option<&str> {
        let begin = || words(self.text).find(|word| !matches!(word.as_str(), "the" | "a" | "an" | "our"));
        self.begin.get_or_init(begin).as_deref()
    }

    /// Whether it speaks of what is somebody's whom the question does not name.
    fn others(&self, asked: &Asked) -> bool {
        *self.others.get_or_init(|| owners(self.text).any(|owner| !asked.names.contains(&owner)))
    }
}

/// Whether what a memory of that kind says holds until something else is said.
pub(super) fn holds(kind: Kind) -> bool {
    matches!(kind, Kind::Semantic | Kind::Preference | Kind::Decision | Kind::Constraint | Kind::Profile)
}

pub(super) fn speaks_of_own(text: &str) -> bool {
    let is_own = |word: &str| OWN.iter().any(|own| word.chars().map(plain).eq(own.chars()));
    text.split_whitespace().map(bare).filter(|word| word.len() <= LONGEST_OWN).any(is_own)
}

fn plain(letter: char) -> char {
    if letter == '\u{2019}' { '\'' } else { letter.to_ascii_lowercase() }
}

fn bare(word: &str) -> &str {
    word.trim_matches(|letter: char| !letter.is_alphanumeric())
}

/// Those with a capital letter whose something is spoken of.
fn owners(text: &str) -> impl Iterator<Item = String> + '_ {
    let owned = |word: &str| word.strip_suffix("'s").or_else(|| word.strip_suffix("\u{2019}s")).map(str::to_lowercase);
    let named = text.split_whitespace().filter(|word| word.starts_with(char::is_uppercase));
    named
        .filter_map(owned)
        .filter(|owner| !OWN.contains(&owner.as_str()) && !matches!(owner.as_str(), "it" | "that" | "what" | "here" | "there" | "let"))
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split_whitespace().map(|word| bare(word).to_lowercase().replace('\u{2019}', "'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_something_is_told_by_words() {
        assert!(speaks_of_own("I\u{2019}ve moved") && speaks_of_own("The USER\u{2019}S editor"));
        assert!(speaks_of_own("Where do I work?") && speaks_of_own("My job") && speaks_of_own("The user's editor is Vim."));
        assert!(!speaks_of_own("MySQL runs on port 3306") && !speaks_of_own("Anna works at Acme."));
        assert_eq!(owners("Bob's project uses it, and it's Anna's.").collect::<Vec<_>>(), ["bob"]);
    }

    #[test]
    fn what_a_text_has_its_letters_tell_first() {
        let words =
            ["payments-api", "U.S.A", "O'Brien's", "getUserById", "python3", "8443", "v1.2.3", "$HOME/x_y", "don't", "APIs", "l'Oreal"];
        let texts =
            words.iter().flat_map(|one| words.iter().map(move |other| format!("The {one}, ({other}) is it."))).chain([String::new()]);
        let question = words.join(" ");
        let (key, query) = Question::new(&question).known_terms();
        for text in texts {
            let (analysis, letters) = (analyze(&text, key), letters(&text).expect("ASCII"));
            for term in query.terms.iter().filter(|term| matches!(term.role, Role::Whole | Role::Word)) {
                let has = analysis.terms.binary_search_by_key(&term.hash, |known| known.hash).is_ok();
                assert!(!has || Required::of(term).may_be_in(&letters), "{text} has {}", term.text);
            }
        }
        assert_eq!(letters("Zo\u{e9}"), None);
    }

    #[test]
    fn a_newer_one_needs_every_name_and_identifier() {
        let required = |question: &str| Asked::of(&Question::new(question), &Own::default()).required.len();
        assert_eq!((required("Where does Anna work?"), required("Where do I work?")), (1, 0));
        assert!(required("Where do I deploy payments-api?") >= 1);
        assert_eq!(required("what did we say about 20dfcccfde in the meeting?"), 1);
    }
}
