//! Removing documents: every page that has a term of one is written anew at once, so that there is nothing to subtract later.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::super::layout::{BlockKeys, IndexId};
use super::super::merge::{self as blocks, Change, Changes, Write};
use super::super::tail::{Appended, Kind, Record};
use super::super::{Statistics, TermCount};
use super::append::{apply, check_terms, push};
use super::lengths::RunLengths;
use super::{Document, Runs};
use crate::store::envelope::damaged;
use crate::store::keys::{Key, Table};
use crate::store::pages::{Pages, PagesMut};
use crate::{Error, Result};

impl Runs {
    /// Removes documents, each with all terms that it was added with; their counts do not matter. Those that are not there,
    /// because they were removed before or never added, are passed over. Returns how many were removed.
    ///
    /// Costs a page for each block that has a term of them: about as many as a message has terms, fewer for many messages in
    /// one call than one by one.
    pub fn delete<P: PagesMut>(&mut self, pages: &mut P, documents: &[(u32, &[TermCount])]) -> Result<usize> {
        for (number, terms) in documents {
            check_terms(*number, terms)?;
        }
        if documents.is_empty() {
            return Ok(0);
        }
        let mut writes = Vec::new();
        let mut removed = self.delete_from_tail(pages, documents, &mut writes)?;
        removed += self.delete_sealed(pages, documents, &mut writes)?;
        if removed > 0 {
            apply(pages, &writes)?;
            self.catalog.write(pages, self.index)?;
        }
        Ok(removed)
    }

    /// Removes everything that an index has: it is empty then, and may begin at any number. For a transcript that is to be
    /// indexed anew, as by another analyzer. Costs all of its pages.
    pub fn clear<P: PagesMut>(pages: &mut P, index: IndexId) -> Result<()> {
        let mut keys = Vec::new();
        for table in [Table::Tail, Table::RunPages, Table::RunCatalog, Table::RunLengths] {
            let range = Key::new(index.partition, table).u8(index.index).prefix_range();
            pages.scan(&range.start, &range.end, &mut |key, _| {
                keys.push(Key::from_slice(key)?);
                Ok(ControlFlow::Continue(()))
            })?;
        }
        for key in keys {
            pages.delete(key.as_slice())?;
        }
        Ok(())
    }

    /// Writes the tail anew without the documents.
    fn delete_from_tail<P: Pages>(&self, pages: &P, documents: &[(u32, &[TermCount])], writes: &mut Vec<Write>) -> Result<usize> {
        let tail = self.tail(pages)?;
        let goes = |number: u32| documents.iter().any(|(gone, _)| *gone == number);
        let mut appended = Appended { capacity: self.shape.layout.body_bytes(), pages: vec![Vec::new()] };
        let mut removed = 0;
        for records in tail.records.chunk_by(|a, b| a.number == b.number) {
            let (number, length) = (records[0].number, records[0].length);
            if goes(number) {
                removed += 1;
                continue;
            }
            let mut terms: Vec<TermCount> = records.iter().flat_map(Record::terms).collect();
            terms.sort_unstable();
            debug_assert_eq!(records[0].kind, Kind::Document);
            push(&mut appended, &Document { number, length, terms: &terms });
        }
        if removed > 0 {
            appended.pages.retain(|page| !page.is_empty());
            writes.extend(appended.writes(self.index, 0));
            writes.extend((appended.pages.len()..tail.pages()).map(|page| Write::Delete(self.index.tail(page))));
        }
        Ok(removed)
    }

    fn delete_sealed<P: Pages>(&mut self, pages: &P, documents: &[(u32, &[TermCount])], writes: &mut Vec<Write>) -> Result<usize> {
        let mut lengths = RunLengths::new(pages, self.index);
        let mut of_runs: BTreeMap<usize, Changes> = BTreeMap::new();
        let mut removed = 0;
        for &(number, terms) in documents {
            let Some(length) = lengths.find(number)? else { continue };
            lengths.set(number, None);
            removed += 1;
            self.catalog.statistics = self.without(length)?;
            if !terms.is_empty() {
                let run = self.catalog.run_of(number).ok_or_else(|| self.disagree())?;
                of_runs.entry(run).or_default().push(number, false, terms.iter().copied());
            }
        }
        let mut changes = Vec::new();
        for (run, of_run) in of_runs {
            changes.push((run, of_run.sorted()?));
        }
        self.delete_from_runs(pages, &changes, &mut lengths, writes)?;
        self.delete_from_copies(pages, &changes, &mut lengths, writes)?;
        writes.extend(lengths.writes()?);
        self.drop_empty();
        Ok(removed)
    }

    fn without(&self, length: u32) -> Result<Statistics> {
        let Statistics { documents, total_length } = self.catalog.statistics;
        match (documents.checked_sub(1), total_length.checked_sub(u64::from(length))) {
            (Some(documents), Some(total_length)) => Ok(Statistics { documents, total_length }),
            _ => Err(self.disagree()),
        }
    }

    fn delete_from_runs<P: Pages>(
        &mut self,
        pages: &P,
        changes: &[(usize, Vec<Change>)],
        lengths: &mut RunLengths<'_, P>,
        writes: &mut Vec<Write>,
    ) -> Result<()> {
        for (run, changes) in changes {
            let keys = self.index.run(self.catalog.runs[*run].id);
            let left = self.catalog.runs[*run].postings.checked_sub(changes.len() as u64);
            let replaced = blocks::plan(self.shape.layout, pages, keys, lengths, changes, writes)?;
            self.catalog.runs[*run].postings = left.filter(|_| replaced == changes.len() as u64).ok_or_else(|| self.disagree())?;
        }
        Ok(())
    }

    /// Removes the same from runs that are being made or removed: nobody searches them, but nothing of a document may stay.
    fn delete_from_copies<P: Pages>(
        &self,
        pages: &P,
        changes: &[(usize, Vec<Change>)],
        lengths: &mut RunLengths<'_, P>,
        writes: &mut Vec<Write>,
    ) -> Result<()> {
        let of_runs = |keep: &dyn Fn(usize, &Change) -> bool| {
            let kept = changes.iter().flat_map(|(run, changes)| changes.iter().filter(|change| keep(*run, change)).copied());
            let mut kept: Vec<Change> = kept.collect();
            kept.sort_unstable_by_key(|change| change.place());
            kept
        };
        let mut plan = |keys: BlockKeys, changes: &[Change]| blocks::plan(self.shape.layout, pages, keys, lengths, changes, writes);
        for merge in &self.catalog.merges {
            let sources = self.catalog.sources(merge).unwrap_or_default();
            let changes = of_runs(&|run, change| sources.contains(&run) && change.place() < merge.next);
            if plan(self.index.run(merge.output), &changes)? != changes.len() as u64 {
                return Err(self.disagree());
            }
        }
        for dropped in &self.catalog.dropped {
            let changes = of_runs(&|_, change| (dropped.first..=dropped.last).contains(&change.number));
            plan(self.index.run(dropped.id), &changes)?;
        }
        Ok(())
    }

    /// A run without postings has no blocks either. One that is being merged stays until that is done.
    fn drop_empty(&mut self) {
        let merging = self.catalog.merging();
        let mut merging = merging.iter();
        self.catalog.runs.retain(|run| merging.next().is_some_and(Option::is_some) || run.postings > 0);
    }

    /// Documents and index were written together, so they agree unless the store is damaged.
    fn disagree(&self) -> Error {
        let key = self.index.catalog();
        damaged(key.as_slice(), "the terms of a removed document differ from those of its text")
    }
}
