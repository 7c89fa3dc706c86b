//! The life of a segment: due, begun, written ahead, taken into use, swept.
//!
//! | step | transaction | if the process dies behind it |
//! |---|---|---|
//! | `begin_graph` | small: the catalog says what is being built, and writers tell it their changes | after [`LEASE`] another begins |
//! | `Build::read`, `insert` | a snapshot, then none | the same |
//! | `Build::put` | one value each, refused once another has begun | the values are swept |
//! | `Build::finish` | small: the segment is in use, the one before it is not | the old values are swept |
//! | `sweep_graph` | a few values each | the rest is swept the next time |

use std::ops::ControlFlow;

use super::super::VectorSet;
use super::GraphOptions;
use super::build::Build;
use super::catalog::{Catalog, InUse, UnderWay};
use crate::Result;
use crate::store::keys::{Table, u32_at};
use crate::store::pages::{Pages, PagesMut};

/// Microseconds for which nobody else begins what one has begun: an hour.
pub(super) const LEASE: i64 = 3_600_000_000;

/// Values that one step of a sweep removes.
const SWEPT: usize = 8;

const TABLES: [Table; 3] = [Table::GraphNodes, Table::GraphUpper, Table::GraphChanges];

/// The work that a set's graph needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// Nothing.
    Nothing,
    /// There is none and should be one, or it has aged.
    Build,
    /// So few vectors are left that a scan is better: none is needed.
    Drop,
}

impl VectorSet {
    /// The work that the graph of a set with `vectors` vectors needs. Reads the changes since it was built.
    pub fn graph_due<P: Pages + ?Sized>(&self, pages: &P, vectors: u64, options: &GraphOptions) -> Result<Due> {
        let catalog = self.graph_catalog(pages)?.unwrap_or_default();
        let Some(in_use) = &catalog.in_use else { return Ok(if vectors >= options.threshold { Due::Build } else { Due::Nothing }) };
        let nodes = u64::from(in_use.nodes);
        if vectors < options.threshold {
            // Another process may have built it by a lower threshold: it stays until most of it is gone.
            return Ok(if vectors < nodes / 2 { Due::Drop } else { Due::Nothing });
        }
        let (stale, _) = self.graph_changes(pages, in_use.segment)?.counts();
        let newer = vectors.saturating_sub(nodes.saturating_sub(stale));
        let aged = (newer + stale) as f64 > options.rebuild_share * nodes as f64;
        Ok(if aged { Due::Build } else { Due::Nothing })
    }

    /// Begins a segment, to be read from a snapshot that is taken afterwards: its number and the greatest number that it will
    /// know. `None` where there is no vector, where the set is one of messages, or another process has begun one within the last hour.
    pub fn begin_graph<P: PagesMut + ?Sized>(&self, pages: &mut P, now: i64) -> Result<Option<(u32, u32)>> {
        if !self.is_exact() {
            return Ok(None);
        }
        let mut catalog = self.graph_catalog(pages)?.unwrap_or_default();
        let leased = |under_way: UnderWay| (0..LEASE).contains(&now.saturating_sub(under_way.begun));
        let Some(last) = self.last_number(pages)?.filter(|_| !catalog.under_way.is_some_and(leased)) else { return Ok(None) };
        let segment = catalog.next;
        catalog.next += 1;
        catalog.under_way = Some(UnderWay { segment, last, begun: now });
        self.put_graph_catalog(pages, &catalog)?;
        Ok(Some((segment, last)))
    }

    /// Gives up a segment that was begun: its values are swept.
    pub fn abandon_graph<P: PagesMut + ?Sized>(&self, pages: &mut P, segment: u32) -> Result<()> {
        self.change_catalog(pages, |catalog| {
            catalog.under_way = catalog.under_way.filter(|under_way| under_way.segment != segment);
        })
    }

    /// Takes the segment out of use: searches scan again, and its values are swept.
    pub fn drop_graph<P: PagesMut + ?Sized>(&self, pages: &mut P) -> Result<()> {
        self.change_catalog(pages, |catalog| catalog.in_use = None)
    }

    /// Removes some values of a set that goes altogether, its graph taken out of use first; whether there may be more. A graph
    /// that is being built is given up.
    pub(in super::super) fn clear_graph<P: PagesMut + ?Sized>(&self, pages: &mut P) -> Result<bool> {
        if self.graph_catalog(pages)?.is_some_and(|catalog| catalog.told().next().is_some()) {
            self.change_catalog(pages, |catalog| (catalog.in_use, catalog.under_way) = (None, None))?;
        }
        self.sweep_graph(pages)
    }

    /// Removes the catalog of a set of which nothing else is left.
    pub(in super::super) fn forget_graph<P: PagesMut + ?Sized>(&self, pages: &mut P) -> Result<()> {
        pages.delete(self.graph_table(Table::GraphCatalog).as_slice()).map(drop)
    }

    fn change_catalog<P: PagesMut + ?Sized>(&self, pages: &mut P, change: impl FnOnce(&mut Catalog)) -> Result<()> {
        let Some(mut catalog) = self.graph_catalog(pages)? else { return Ok(()) };
        change(&mut catalog);
        self.put_graph_catalog(pages, &catalog)
    }

    /// Removes some values of segments that are neither in use nor being built; whether there may be more.
    pub fn sweep_graph<P: PagesMut + ?Sized>(&self, pages: &mut P) -> Result<bool> {
        let garbage = self.graph_garbage(pages)?;
        for key in &garbage {
            pages.delete(key)?;
        }
        Ok(garbage.len() == SWEPT)
    }

    /// Keys of values that a sweep would remove, the first few.
    pub fn graph_garbage<P: Pages + ?Sized>(&self, pages: &P) -> Result<Vec<Vec<u8>>> {
        let mut garbage = Vec::new();
        let Some(catalog) = self.graph_catalog(pages)? else { return Ok(garbage) };
        let kept: Vec<u32> = catalog.told().map(|(segment, _)| segment).collect();
        for table in TABLES {
            let (prefix, mut from) = (self.graph_table(table), 0);
            // From one segment to the next: those that are kept are not walked through.
            while let Some(segment) = self.next_segment(pages, table, from)? {
                from = segment + 1;
                let range = prefix.u32(segment).prefix_range();
                if kept.contains(&segment) {
                    continue;
                }
                pages.scan(&range.start, &range.end, &mut |key, _| {
                    garbage.push(key.to_vec());
                    Ok(if garbage.len() < SWEPT { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
                })?;
                if garbage.len() == SWEPT {
                    return Ok(garbage);
                }
            }
        }
        Ok(garbage)
    }

    fn next_segment<P: Pages + ?Sized>(&self, pages: &P, table: Table, from: u32) -> Result<Option<u32>> {
        let (prefix, mut found) = (self.graph_table(table), None);
        pages.scan(prefix.u32(from).as_slice(), &prefix.prefix_range().end, &mut |key, _| {
            found = u32_at(key, prefix.as_slice().len());
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// The greatest number that has a vector.
    pub(super) fn last_number<P: Pages + ?Sized>(&self, pages: &P) -> Result<Option<u32>> {
        let Some((key, value)) = pages.floor(&self.blocks().prefix_range().end)? else { return Ok(None) };
        if self.first_of(key).is_none() {
            return Ok(None);
        }
        let block = self.open_block(key, value)?;
        Ok(Some(block.number(block.len() - 1)))
    }
}

impl Build {
    /// Writes one value of the segment, `at` below [`values`](Self::values). `false` where another has begun meanwhile: give up.
    pub fn put<P: PagesMut + ?Sized>(&self, pages: &mut P, at: usize) -> Result<bool> {
        if !self.is_under_way(pages)? {
            return Ok(false);
        }
        let (key, value) = self.value(at);
        pages.put(key.as_slice(), &value)?;
        Ok(true)
    }

    /// Takes the segment into use, all of whose values are written. `false` where another has begun meanwhile.
    pub fn finish<P: PagesMut + ?Sized>(&self, pages: &mut P) -> Result<bool> {
        if !self.is_under_way(pages)? {
            return Ok(false);
        }
        let in_use = InUse { segment: self.segment, last: self.last, nodes: self.progress().0, m: self.m(), layers: self.layers() };
        self.set().change_catalog(pages, |catalog| {
            catalog.in_use = Some(in_use);
            catalog.under_way = None;
        })?;
        Ok(true)
    }

    fn is_under_way<P: Pages + ?Sized>(&self, pages: &P) -> Result<bool> {
        let catalog = self.set().graph_catalog(pages)?;
        Ok(catalog.and_then(|catalog| catalog.under_way).is_some_and(|under_way| under_way.segment == self.segment))
    }
}
