//! The analyzer: from a text to the terms that BM25 indexes (documents) or looks up (queries).
//!
//! One set of rules for memories, transcripts and collections; the table of them is `docs/analysis.md`. A text is cut at white
//! space into chunks (`scan`), a chunk into runs of letters, digits and connectors (`spans`); a run is a plain word
//! (`words`), an identifier that is kept whole and by its parts (`identifiers`), or text without spaces between words,
//! which becomes bigrams. Case and accents are folded (`fold`), English endings become an extra, lighter term (`stem`). In documents a
//! word is its stem alone (`porter`): they are asked in other forms than they are written in, and are long enough for counts to tell.
//!
//! It deliberately does not rank, does not guess languages and keeps no dictionary. Terms are hashes keyed per scope, so that
//! the postings of one scope say nothing about the words of another.
//!
//! Words follow UAX#29 (Unicode Text Segmentation, word boundaries, with the tailoring of the table), folding follows the
//! Unicode Standard section 3.13, stemming steps 1a, 1b and 5 of Porter, "An algorithm for suffix stripping", 1980.

mod abroad;
mod analyze;
use crate::units::term_key::TermKey;
mod chars;
mod document;
mod exact;
mod filler;
mod fold;
mod fold_table;
mod identifiers;
mod keys;
mod porter;
mod query;
mod scan;
pub mod screening;
mod sought;
mod spans;
pub mod speech;
mod speech_courtesy;
mod speech_forms;
mod speech_ignorance;
mod speech_lists;
mod speech_words;
mod stem;
mod terms;
pub(crate) mod typos;
mod words;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod properties;

pub(crate) use abroad::is_abroad;
pub(crate) use analyze::{analyze, with_analyzer};
pub use document::{Analysis, TermCount};
pub use exact::{exact_identifiers, has_identifier};
pub(crate) use filler::{is_filler, is_filler_written};
pub(crate) use fold::folded;
pub use keys::{duplicate_key, slot_key};
pub use query::{MAX_QUERY_TERMS, MAX_TEXT_BYTES, Query, QueryTerm};
pub(crate) use sought::Sought;
pub(crate) use speech::asks_when;
pub(crate) use stem::with_stem;
pub use terms::{
    ACCENT_WEIGHT, GRAM_WEIGHT, PART_WEIGHT, Role, SEGMENT_WEIGHT, STEM_WEIGHT, TermClass, WHOLE_WEIGHT, WORD_WEIGHT, term_hash,
};

/// Version of the analyzer's output. Any change of the terms of any text must raise it: postings hold the hashes of the version
/// that made them, and a partition whose head names another version is indexed anew before it is searched.
/// A new version of Unicode in a dependency is such a change if the golden test or a letter in use changes.
pub const ANALYZER_VERSION: u16 = 1;

/// The version of an analyzer whose words are their stems alone ([`TermKey::stems`](crate::units::term_key::TermKey)): of collections that
/// are begun now.
pub const STEMS: u16 = 2;

/// Turns texts into terms. Holds nothing but scratch memory: keep one per thread and use it for every scope.
///
/// Cost: linear in the text, about 1 us per 100 bytes of English; a document allocates only while the scratch still grows.
#[derive(Debug, Default)]
pub struct Analyzer {
    scratch: scan::Scratch,
    document: document::Collector,
    query: query::Collector,
}

impl Analyzer {
    /// An analyzer with empty scratch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The terms of a document, into `out` (whose memory is used again). `key` is that of the scope's terms.
    pub fn document(&mut self, text: &str, key: impl Into<TermKey>, out: &mut Analysis) {
        self.document.start(key.into());
        scan::scan(text, &mut self.scratch, &mut self.document);
        self.document.finish(out);
    }

    /// The terms of a query with their weights, strongest first, at most [`MAX_QUERY_TERMS`].
    #[must_use]
    pub fn query(&mut self, text: &str, key: impl Into<TermKey>) -> Query {
        self.query.start(key.into());
        scan::scan(text, &mut self.scratch, &mut self.query);
        self.query.finish()
    }

    /// The hashes of the whole identifiers and of the words that a query of a text has, filler too; ascending, each once.
    pub(crate) fn words(&mut self, text: &str, key: impl Into<TermKey>) -> Vec<u64> {
        self.query.start(key.into());
        scan::scan(text, &mut self.scratch, &mut self.query);
        self.query.words()
    }

    /// As [`Analyzer::new`], without the fast path: the oracle of the differential test.
    #[cfg(test)]
    fn slow() -> Self {
        Self { scratch: scan::Scratch::without_fast_path(), ..Self::default() }
    }
}
