//! Changes to an index: into the tail while they fit, else everything into the blocks, all or nothing.

use super::layout::{IndexId, Layout, NO_NUMBER};
use super::merge::{self, Changes, Write};
use super::row::Row;
use super::rows::Rows;
use super::tail::{Kind, Tail};
use super::{Statistics, TermCount};
use crate::store::envelope::damaged;
use crate::store::pages::{Pages, PagesMut};
use crate::{Error, Result};

/// A change to one document.
#[derive(Debug, Clone, Copy)]
pub enum Op<'a> {
    /// Adds a document that is not present. One that was removed may come back under its number.
    Add {
        /// Its number, below `u32::MAX`.
        number: u32,
        /// Its attributes; [`super::PRESENT`] is set by the index.
        row: Row,
        /// The terms by which it can be found and scored.
        terms: &'a [TermCount],
        /// The keys by which it can only be looked up. Keys and terms share one space of hashes: hash them apart.
        keys: &'a [u64],
    },
    /// Removes a document that is present.
    Remove {
        /// Its number.
        number: u32,
        /// All terms that it was added with; their counts do not matter.
        terms: &'a [TermCount],
        /// The keys that go with it. The others stay, and [`super::Reader::find`] goes on finding the number.
        keys: &'a [u64],
    },
    /// Changes the attributes of a document that is present, all but its length.
    Update {
        /// Its number.
        number: u32,
        /// Its new attributes.
        row: Row,
    },
}

impl Op<'_> {
    fn number(&self) -> u32 {
        match *self {
            Op::Add { number, .. } | Op::Remove { number, .. } | Op::Update { number, .. } => number,
        }
    }
}

/// Applies `ops` in order and brings `statistics` up to date. On an error nothing is changed.
///
/// Costs a page or two while the tail has room. When it has not, tail and `ops` are merged at once, each touched block
/// written once: give many documents in one call.
pub fn apply<P: PagesMut>(pages: &mut P, index: IndexId, statistics: &mut Statistics, ops: &[Op<'_>]) -> Result<()> {
    apply_with(Layout::default(), pages, index, statistics, ops)
}

pub(super) fn apply_with<P: PagesMut>(
    layout: Layout,
    pages: &mut P,
    index: IndexId,
    statistics: &mut Statistics,
    ops: &[Op<'_>],
) -> Result<()> {
    if ops.is_empty() {
        return Ok(());
    }
    let (writes, after) = plan(layout, pages, index, *statistics, ops)?;
    for write in writes {
        write.apply(pages)?;
    }
    *statistics = after;
    Ok(())
}

/// Whether the tail still holds the terms of a document that was removed: twice, as they were added and as they were removed.
pub fn is_unsettled<P: Pages>(pages: &P, index: IndexId) -> Result<bool> {
    Ok(Tail::read(pages, index)?.records.iter().any(|record| matches!(record.kind, Kind::Remove | Kind::RemoveMore)))
}

/// Merges the tail into the blocks, which keep no term of a document that was removed.
pub fn settle<P: PagesMut>(pages: &mut P, index: IndexId, statistics: Statistics) -> Result<()> {
    let layout = Layout::default();
    let tail = Tail::read(pages, index)?;
    let batch = Batch { rows: Rows::new(&*pages, index, &tail.records), statistics };
    for write in merged(layout, &*pages, index, batch, &tail, &[])? {
        write.apply(pages)?;
    }
    Ok(())
}

fn plan<P: Pages>(layout: Layout, pages: &P, index: IndexId, statistics: Statistics, ops: &[Op<'_>]) -> Result<(Vec<Write>, Statistics)> {
    let tail = Tail::read(pages, index)?;
    let mut batch = Batch { rows: Rows::new(pages, index, &tail.records), statistics };
    for op in ops {
        batch.record(op)?;
    }
    let most = layout.tail_pages(batch.statistics.total_length);
    if let Some(writes) = tail.append(layout, index, most, ops) {
        return Ok((writes, batch.statistics));
    }
    let after = batch.statistics;
    Ok((merged(layout, pages, index, batch, &tail, ops)?, after))
}

/// The blocks after the tail, and `ops` behind it, are merged into them.
fn merged<P: Pages>(
    layout: Layout,
    pages: &P,
    index: IndexId,
    mut batch: Batch<'_, P>,
    tail: &Tail<'_>,
    ops: &[Op<'_>],
) -> Result<Vec<Write>> {
    let mut changes = Changes::default();
    for record in &tail.records {
        changes.push(record.number, record.kind.adds(), record.terms());
    }
    each_distinct(ops, |op, terms| changes.push(op.number(), matches!(op, Op::Add { .. }), terms.iter().copied()));
    let mut writes = batch.rows.writes()?;
    merge::plan(layout, pages, index.postings(), &mut batch.rows, &changes.sorted()?, &mut writes)?;
    writes.extend((0..tail.pages()).map(|page| Write::Delete(index.tail(page))));
    Ok(writes)
}

/// Calls `visit` with each operation and its distinct hashes, ascending; keys have a count of 0.
pub(super) fn each_distinct(ops: &[Op<'_>], mut visit: impl FnMut(&Op<'_>, &[TermCount])) {
    let mut distinct: Vec<TermCount> = Vec::new();
    for op in ops {
        distinct.clear();
        if let Op::Add { terms, keys, .. } | Op::Remove { terms, keys, .. } = op {
            distinct.extend(terms.iter().map(|term| TermCount { count: term.count.max(1), ..*term }));
            distinct.extend(keys.iter().map(|&hash| TermCount { hash, count: 0 }));
            distinct.sort_unstable();
            distinct.dedup_by(|later, kept| {
                let same = later.hash == kept.hash;
                if same {
                    kept.count = kept.count.saturating_add(later.count);
                }
                same
            });
        }
        visit(op, &distinct);
    }
}

/// Attributes and statistics as they are after some of the operations.
struct Batch<'p, P> {
    rows: Rows<'p, P>,
    statistics: Statistics,
}

impl<P: Pages> Batch<'_, P> {
    fn record(&mut self, op: &Op<'_>) -> Result<()> {
        let number = op.number();
        if number == NO_NUMBER {
            return Err(Error::invalid(format!("indexing document {number}: a number must be below {NO_NUMBER}: the partition is full")));
        }
        let before = self.rows.row(number)?.filter(Row::is_present);
        match (*op, before) {
            (Op::Add { row, .. }, None) => self.add(number, row),
            (Op::Remove { .. }, Some(row)) => self.remove(number, row)?,
            (Op::Update { row, .. }, Some(before)) if row.length == before.length => self.rows.set(number, row.present().to_bytes()),
            (_, before) => return Err(self.disagree(op, before)),
        }
        Ok(())
    }

    fn add(&mut self, number: u32, row: Row) {
        self.rows.set(number, row.present().to_bytes());
        self.statistics.documents += 1;
        self.statistics.total_length += row.length as u64;
    }

    fn remove(&mut self, number: u32, row: Row) -> Result<()> {
        let documents = self.statistics.documents.checked_sub(1);
        let total_length = self.statistics.total_length.checked_sub(row.length as u64);
        let (Some(documents), Some(total_length)) = (documents, total_length) else {
            return Err(self.missing(number, "its partition counts fewer documents than its index holds"));
        };
        self.statistics = Statistics { documents, total_length };
        self.rows.remove(number);
        Ok(())
    }

    /// Records and index were written together, so they agree unless the store is damaged.
    fn disagree(&self, op: &Op<'_>, before: Option<Row>) -> Error {
        let why = match (op, before) {
            (Op::Add { .. }, _) => "the document is added, and is present already",
            (_, None) => "the document is changed or removed, and is not present",
            (_, Some(_)) => "an update changes the document's length",
        };
        self.missing(op.number(), why)
    }

    fn missing(&self, number: u32, why: &str) -> Error {
        damaged(self.rows.key_of(number).as_slice(), &format!("document {number}: {why}"))
    }
}
