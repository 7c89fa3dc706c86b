//! The terms of a query: weighed, merged, filler dropped, strongest first.

use super::filler::is_filler;
use super::stem::stem;
use super::terms::{Role, Sink, Term, TermClass};
use crate::units::term_key::TermKey;

/// The most distinct terms of a query. Of more, those with the strongest role are kept (whole identifiers, then words and bigrams,
/// then what is inside identifiers, accented forms, stems), and within a role the first in the text.
pub const MAX_QUERY_TERMS: usize = 256;

/// The most bytes of a term that [`QueryTerm::text`] shows; the hash is of all of it.
pub const MAX_TEXT_BYTES: usize = 256;

/// How many content words a query needs for its filler to be dropped.
const ENOUGH_CONTENT: usize = 2;

/// A term of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// The keyed hash, as documents have it.
    pub hash: u64,
    /// The weight of a match; that of `role`.
    pub weight: f32,
    /// The role of the term in this query.
    pub role: Role,
    /// The class that was hashed.
    pub class: TermClass,
    /// The normalised term, for `explain()`; at most [`MAX_TEXT_BYTES`].
    pub text: String,
}

/// An analysed query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// Strongest role first, then in the order of the text; each hash once, with the strongest of its roles.
    pub terms: Vec<QueryTerm>,
    /// The hashes of the whole identifiers among `terms`, and of numbers of things ("port 80"), in their order: a document that holds all of
    /// them is always a candidate.
    pub identifiers: Vec<u64>,
}

/// Nouns of things of which each has a number.
const NUMBERED: [&[u8]; 24] = [
    b"port",
    b"step",
    b"gate",
    b"rack",
    b"room",
    b"line",
    b"chapter",
    b"page",
    b"floor",
    b"platform",
    b"seat",
    b"exit",
    b"lane",
    b"desk",
    b"locker",
    b"slot",
    b"terminal",
    b"track",
    b"building",
    b"unit",
    b"channel",
    b"sprint",
    b"bus",
    b"tram",
];

/// One find of a term. `order` holds filler, role and position, so that entries sort by whole numbers.
#[derive(Debug, Clone, Copy)]
struct Entry {
    hash: u64,
    order: u64,
    start: usize,
    len: u16,
    role: Role,
    class: TermClass,
}

/// The bit of `order` that puts filler behind all else.
const FILLER: u64 = 1 << 63;
/// Where the role stands in `order`, above the position.
const ROLE_SHIFT: u32 = 56;

/// Collects the terms of a query; their texts stand in one arena until the few that are kept get strings of their own.
#[derive(Debug, Default)]
pub(super) struct Collector {
    key: TermKey,
    entries: Vec<Entry>,
    arena: Vec<u8>,
}

impl Collector {
    pub(super) fn start(&mut self, key: TermKey) {
        self.key = key;
        self.entries.clear();
        self.arena.clear();
    }

    fn push(&mut self, role: Role, class: TermClass, term: &mut Term, filler: u64) {
        let start = self.arena.len();
        let bytes = term.bytes();
        self.arena.extend_from_slice(&bytes[..bytes.len().min(MAX_TEXT_BYTES)]);
        let order = filler | (role as u64) << ROLE_SHIFT | self.entries.len() as u64;
        self.entries.push(Entry { hash: term.hash(class, self.key), order, start, len: (self.arena.len() - start) as u16, role, class });
    }

    pub(super) fn finish(&mut self) -> Query {
        let numbers = self.numbers();
        let entries = &mut self.entries;
        entries.sort_unstable_by_key(|e| (e.hash, e.order));
        entries.dedup_by_key(|e| e.hash);
        if entries.iter().filter(|e| is_content(e)).count() >= ENOUGH_CONTENT {
            entries.retain(|e| e.order & FILLER == 0);
        }
        for entry in entries.iter_mut() {
            entry.order &= !FILLER;
        }
        entries.sort_unstable_by_key(|e| e.order);
        entries.truncate(MAX_QUERY_TERMS);
        let identifiers = entries.iter().filter(|e| e.role == Role::Whole || numbers.contains(&e.hash)).map(|e| e.hash).collect();
        Query { terms: entries.iter().map(|e| to_term(e, &self.arena)).collect(), identifiers }
    }

    /// The hashes of whole identifiers and of words, ascending, each once.
    pub(super) fn words(&self) -> Vec<u64> {
        let is_word = |entry: &&Entry| matches!(entry.role, Role::Whole | Role::Word);
        let mut words: Vec<u64> = self.entries.iter().filter(is_word).map(|entry| entry.hash).collect();
        words.sort_unstable();
        words.dedup();
        words
    }

    /// The hashes of short numbers behind a noun of what has one: "port 80" is another thing than "port 8080".
    fn numbers(&self) -> Vec<u64> {
        let text = |entry: &Entry| &self.arena[entry.start..entry.start + entry.len as usize];
        let mut noun = false;
        let mut numbers = Vec::new();
        for entry in self.entries.iter().filter(|entry| entry.role == Role::Word) {
            let word = text(entry);
            if noun && word.iter().all(u8::is_ascii_digit) {
                numbers.push(entry.hash);
            }
            noun = NUMBERED.contains(&word);
        }
        numbers
    }
}

fn is_content(entry: &Entry) -> bool {
    entry.order & FILLER == 0 && matches!(entry.role, Role::Whole | Role::Word | Role::Gram)
}

fn to_term(entry: &Entry, arena: &[u8]) -> QueryTerm {
    let bytes = &arena[entry.start..entry.start + entry.len as usize];
    let whole = |cut: std::str::Utf8Error| std::str::from_utf8(&bytes[..cut.valid_up_to()]).unwrap_or_default();
    let text = std::str::from_utf8(bytes).unwrap_or_else(whole).to_owned(); // the limit may have cut a character
    QueryTerm { hash: entry.hash, weight: entry.role.weight(), role: entry.role, class: entry.class, text }
}

impl Sink for Collector {
    const SINGLES: bool = false;

    fn term(&mut self, role: Role, class: TermClass, term: &mut Term) {
        if self.key.stems && role == Role::Part {
            term.stem();
            return self.push(role, TermClass::Stem, term, 0);
        }
        self.push(role, class, term, 0);
    }

    /// Documents have a stem only where it differs from the word. So `payment` also asks for the stem of `payments`, and
    /// `payments` also asks for the word `payment`; a document with the very word is paid for the word once. Where words are stems there is
    /// one term.
    fn word(&mut self, term: &mut Term) {
        let filler = if is_filler(term.bytes()) { FILLER } else { 0 };
        if self.key.stems {
            term.stem();
            return self.push(Role::Word, TermClass::Stem, term, filler);
        }
        self.push(Role::Word, TermClass::Word, term, filler);
        if let Some(stem) = stem(term.bytes()) {
            term.truncate(stem.keep);
            term.push(stem.end);
            self.push(Role::Stem, TermClass::Word, term, filler);
        }
        self.push(Role::Stem, TermClass::Stem, term, filler);
    }

    fn advance(&mut self, _: usize) {}
}
