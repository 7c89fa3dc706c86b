//! An index as the doctor sees it: each document takes what is its own, and nothing must be left.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use super::Report;
use crate::Result;
use crate::index::bm25::runs::Runs;
use crate::index::bm25::{IndexId, Indexed, PRESENT, Reader, Row};
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::text::TermCount;

/// The content of an index, by document.
pub(crate) struct Index<'p, P> {
    partition: Partition,
    reader: Option<Reader<'p, P>>,
    /// The length of each document, where the index has runs.
    lengths: BTreeMap<u32, u32>,
    /// Whether all postings could be read.
    whole: bool,
    postings: BTreeMap<u32, Vec<TermCount>>,
    present: BTreeSet<u32>,
}

impl<'p, P: Pages> Index<'p, P> {
    /// Everything that is in it.
    pub fn read(pages: &'p P, report: &mut Report, id: IndexId) -> Result<Self> {
        let partition = id.partition;
        let mut index =
            Self { partition, reader: None, lengths: BTreeMap::new(), whole: false, postings: BTreeMap::new(), present: BTreeSet::new() };
        let Some(mut reader) = report.read(partition, "postings", Reader::open(pages, id))? else { return Ok(index) };
        if let Some(postings) = report.read(partition, "postings", reader.postings())? {
            index.whole = true;
            report.postings += postings.len() as u64;
            for Indexed { number, hash, count } in postings {
                index.postings.entry(number).or_default().push(TermCount { hash, count });
            }
        }
        if let Some(present) = report.read(partition, "row", reader.present())? {
            index.present.extend(present);
        }
        index.reader = Some(reader);
        Ok(index)
    }

    /// Everything that is in an index of sealed runs, which has lengths and no rows.
    pub fn read_runs(pages: &'p P, report: &mut Report, id: IndexId) -> Result<Self> {
        let partition = id.partition;
        let mut index =
            Self { partition, reader: None, lengths: BTreeMap::new(), whole: false, postings: BTreeMap::new(), present: BTreeSet::new() };
        let Some(audit) = report.read(partition, "postings", Runs::verify(pages, id))? else { return Ok(index) };
        index.whole = audit.findings.is_empty();
        report.postings += audit.postings.len() as u64;
        for finding in audit.findings {
            report.note(partition, "postings", finding);
        }
        for Indexed { number, hash, count } in audit.postings {
            index.postings.entry(number).or_default().push(TermCount { hash, count });
        }
        index.present.extend(audit.lengths.keys());
        index.lengths = audit.lengths;
        Ok(index)
    }

    /// Takes the length of a document, which must be the expected one.
    pub fn length(&mut self, report: &mut Report, document: &impl Display, number: u32, expected: u32) {
        let found = self.lengths.get(&number);
        if !self.present.remove(&number) {
            report.note(self.partition, "row", format!("{document} has no length"));
        } else if found != Some(&expected) {
            report.note(self.partition, "row", format!("{document} has the length {found:?}, and its text has {expected} words"));
        }
    }

    /// Takes the row of a document, which must be the expected one.
    pub fn row(&mut self, report: &mut Report, document: &impl Display, number: u32, expected: Row) -> Result<()> {
        if !self.present.remove(&number) {
            report.note(self.partition, "row", format!("{document} has no row"));
        } else if let Some(reader) = &mut self.reader {
            let row = reader.row(number);
            let expected = Row { flags: expected.flags | PRESENT, ..expected };
            // Versions before 0.5 wrote no other flag than the first.
            let older = Row { flags: PRESENT, ..expected };
            if let Some(row) = report.read(self.partition, "row", row)?
                && row != Some(expected)
                && row != Some(older)
            {
                report.note(self.partition, "row", format!("the row of {document} is {row:?}, and its record says {expected:?}"));
            }
            let scored = reader.length(number);
            if let Some(length) = report.read(self.partition, "row", scored)?
                && length != expected.length
            {
                let what = format!("{document} is scored with the length {length}, and its record says {}", expected.length);
                report.note(self.partition, "row", what);
            }
        }
        Ok(())
    }

    /// Takes the terms of a document, which must be the expected ones: sorted, each hash once.
    pub fn terms(&mut self, report: &mut Report, document: &impl Display, number: u32, expected: &[TermCount]) {
        let found = self.postings.remove(&number).unwrap_or_default();
        if self.whole && found != expected {
            let lost = expected.iter().filter(|term| !found.contains(term)).count();
            let extra = found.iter().filter(|term| !expected.contains(term)).count();
            let what = format!("{document} lacks {lost} of its {} terms and keys and has {extra} others", expected.len());
            report.note(self.partition, "postings", what);
        }
    }

    /// Takes the terms of a document that cannot be compared.
    pub fn skip_terms(&mut self, number: u32) {
        self.postings.remove(&number);
    }

    /// The entries that nobody took; `kind` is the kind of its documents.
    pub fn leftovers(self, report: &mut Report, kind: &str) {
        for (number, terms) in self.postings {
            report.note(self.partition, "postings", format!("{} terms and keys lead to {kind} {number}, which has no record", terms.len()));
        }
        for number in self.present {
            report.note(self.partition, "row", format!("a row says that {kind} {number} is present, and it is not current"));
        }
    }
}
