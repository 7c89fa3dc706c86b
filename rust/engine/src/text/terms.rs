//! A term: its class (which is hashed), its role (which gives its weight in a query), its hash.

use crate::units::term_key::TermKey;

/// Weight of a whole identifier in a query. It must outweigh the sum of its parts in a document that only has the parts: an
/// identifier has two to five of them at [`PART_WEIGHT`], and their idf is lower than that of the whole.
pub const WHOLE_WEIGHT: f32 = 3.0;
/// Weight of a plain word: the unit.
pub const WORD_WEIGHT: f32 = 1.0;
/// Weight of a bigram: about a word of a script that does not write spaces.
pub const GRAM_WEIGHT: f32 = 1.0;
/// Weight of an identifier inside a longer one (`payments-api` of `payments-api:8443`): as much as a word, since a document that
/// names it alone may well be the one, and less than the whole.
pub const SEGMENT_WEIGHT: f32 = 1.0;
/// Weight of a part of an identifier: half a word, so that the two to five parts do not outvote the words around them.
pub const PART_WEIGHT: f32 = 0.5;
/// Weight of an accented spelling, on top of the word without accents: breaks the tie between `ano` and `año`, and keeps
/// languages whose accents tell words apart (Vietnamese) from losing them.
pub const ACCENT_WEIGHT: f32 = 0.5;
/// Weight of a stem: another form of the word is worth less than the word.
pub const STEM_WEIGHT: f32 = 0.5;

/// The class of a term, the first byte of what is hashed: terms of different classes never meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum TermClass {
    /// A word, a part of an identifier, or an identifier of one piece (`8443`, `k8s`, `getuserbyid`). Where words are stems only the last.
    Word = 1,
    /// An identifier with connectors, whole (`payments-api`).
    Whole = 2,
    /// The stem of a word, only where it differs from the word. Where words are stems every word, and every part of an identifier.
    Stem = 3,
    /// Two neighbouring characters (or one alone) of a script without spaces.
    Gram = 4,
    /// A word as it is accented, only where that differs from the word.
    Accent = 5,
    /// A key that is looked up and never scored: an id, a duplicate's text.
    Key = 6,
}

/// The roles of a term in a query, strongest first: the order in which terms are kept when there are too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// An identifier of the query, whole.
    Whole,
    /// A plain word.
    Word,
    /// A bigram, or a single character where the query has no neighbour for it.
    Gram,
    /// An identifier inside an identifier.
    Segment,
    /// A part of an identifier.
    Part,
    /// A word as it is accented.
    Accent,
    /// A stem: of a query's word, looked up among stems and among words.
    Stem,
}

impl Role {
    /// The weight of the role; falls, never rises, from one role to the next.
    #[must_use]
    pub const fn weight(self) -> f32 {
        match self {
            Self::Whole => WHOLE_WEIGHT,
            Self::Word => WORD_WEIGHT,
            Self::Gram => GRAM_WEIGHT,
            Self::Segment => SEGMENT_WEIGHT,
            Self::Part => PART_WEIGHT,
            Self::Accent => ACCENT_WEIGHT,
            Self::Stem => STEM_WEIGHT,
        }
    }

    /// The name that `explain()` shows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "identifier",
            Self::Word => "word",
            Self::Gram => "bigram",
            Self::Segment => "identifier segment",
            Self::Part => "identifier part",
            Self::Accent => "accented form",
            Self::Stem => "stem",
        }
    }
}

/// The hash of a term: of its class byte, then the normalised bytes, by the scope's key. Any length: a term of a megabyte is hashed whole.
#[must_use]
pub fn term_hash(class: TermClass, normalised: &str, key: impl Into<TermKey>) -> u64 {
    let mut term = Term::default();
    term.clear();
    term.push(normalised.as_bytes());
    term.hash(class, key.into())
}

/// The normalised bytes of one term under construction; byte 0 is kept free for the class.
#[derive(Debug, Default)]
pub(super) struct Term(Vec<u8>);

impl Term {
    pub(super) fn clear(&mut self) {
        self.0.clear();
        self.0.push(0);
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn push_char(&mut self, c: char) {
        self.push(c.encode_utf8(&mut [0; 4]).as_bytes());
    }

    /// Appends ASCII letters, lower-cased.
    #[inline]
    pub(super) fn push_letters(&mut self, letters: &[u8]) {
        self.0.extend(letters.iter().map(|b| b | 0x20));
    }

    /// Appends ASCII, lower-cased.
    pub(super) fn push_ascii(&mut self, text: &[u8]) {
        self.0.extend(text.iter().map(u8::to_ascii_lowercase));
    }

    /// The normalised bytes, without the class.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        self.0.get(1..).unwrap_or_default()
    }

    /// To append what is known to be UTF-8.
    pub(super) fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }

    /// Keeps the first `len` normalised bytes.
    pub(super) fn truncate(&mut self, len: usize) {
        self.0.truncate(1 + len);
    }

    /// Makes a word its stem.
    pub(super) fn stem(&mut self) {
        let len = super::porter::stem(&mut self.0[1..]);
        self.truncate(len);
    }

    /// Changes or drops bytes one by one, seeing the one kept before it.
    pub(super) fn rewrite(&mut self, mut rule: impl FnMut(u8, u8) -> Option<u8>) {
        let mut kept = 1;
        for at in 1..self.0.len() {
            if let Some(byte) = rule(self.0[kept - 1], self.0[at]) {
                self.0[kept] = byte;
                kept += 1;
            }
        }
        self.0.truncate(kept);
    }

    #[inline]
    pub(super) fn hash(&mut self, class: TermClass, key: TermKey) -> u64 {
        self.0[0] = class as u8;
        key.hash(&self.0)
    }
}

/// Where the terms of a text go: a document counts them, a query weighs them.
pub(super) trait Sink {
    /// Whether single characters of a bigram run are terms too: yes in documents, so that one-character queries find them.
    const SINGLES: bool;

    /// One term.
    fn term(&mut self, role: Role, class: TermClass, term: &mut Term);

    /// A plain word: the term itself and its stem. Leaves the stem in `term`.
    fn word(&mut self, term: &mut Term);

    /// Word positions that the text went on by.
    fn advance(&mut self, positions: usize);
}
