//! The terms of a document: counted, sorted, unique.

use super::stem::stem;
use super::terms::{Role, Sink, Term, TermClass};
use crate::units::term_key::TermKey;

/// A term of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TermCount {
    /// The keyed hash of the term.
    pub hash: u64,
    /// How often it occurs; 255 stands for 255 and more.
    pub count: u8,
}

/// The figures of a document that BM25 needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Sorted by hash, each hash once.
    pub terms: Vec<TermCount>,
    /// Word positions: one for each plain word, for each part of an identifier between its connectors (`prod-eu-west-1` has four,
    /// `getUserById` one), and for each character of a script without spaces. Stems, accented forms, bigrams and the identifiers
    /// inside identifiers do not count. Saturates.
    pub length: u32,
}

/// Collects the hashes of a document.
#[derive(Debug, Default)]
pub(super) struct Collector {
    key: TermKey,
    hashes: Vec<u64>,
    length: usize,
}

impl Collector {
    pub(super) fn start(&mut self, key: TermKey) {
        self.key = key;
        self.hashes.clear();
        self.length = 0;
    }

    fn stem(&mut self, term: &mut Term) {
        term.stem();
        self.hashes.push(term.hash(TermClass::Stem, self.key));
    }

    pub(super) fn finish(&mut self, out: &mut Analysis) {
        self.hashes.sort_unstable();
        out.length = u32::try_from(self.length).unwrap_or(u32::MAX);
        out.terms.clear();
        for same in self.hashes.chunk_by(|a, b| a == b) {
            out.terms.push(TermCount { hash: same[0], count: u8::try_from(same.len()).unwrap_or(u8::MAX) });
        }
    }
}

impl Sink for Collector {
    const SINGLES: bool = true;

    /// Where words are stems, an identifier of one piece has one too: somebody writes it in small letters.
    #[inline]
    fn term(&mut self, role: Role, class: TermClass, term: &mut Term) {
        let has_stem = self.key.stems && class == TermClass::Word;
        if !(has_stem && role == Role::Part) {
            self.hashes.push(term.hash(class, self.key));
        }
        if has_stem {
            self.stem(term);
        }
    }

    #[inline]
    fn word(&mut self, term: &mut Term) {
        if self.key.stems {
            return self.stem(term);
        }
        self.hashes.push(term.hash(TermClass::Word, self.key));
        if let Some(stem) = stem(term.bytes()) {
            term.truncate(stem.keep);
            term.push(stem.end);
            self.hashes.push(term.hash(TermClass::Stem, self.key));
        }
    }

    #[inline]
    fn advance(&mut self, positions: usize) {
        self.length += positions;
    }
}
