//! Which sealed runs there are, and which of them are being merged: one value of a few hundred bytes.
//!
//! ```text
//! 0    u64       documents of the runs
//! 8    u64       the sum of their lengths
//! 16   u32       number of the next run
//! 20   u32       no document below this number may come any more
//! 24   u16       r: runs
//! 26   u16       m: merges
//! 28   u16       d: runs that were merged, and are being removed
//! 30   u16       0
//! 32   20 x r    runs, in the order of their documents
//! ..   24 x m    merges
//! ..   20 x d    runs that are being removed
//!
//! a run:    u32 its number | u32 first document | u32 last document | u64 postings
//! a merge:  u32 number of its first run | u32 how many | u32 number of the run that is made | u64, u32 first term and document not in it
//! ```

use super::super::Statistics;
use super::super::layout::{IndexId, PostingKey, malformed};
use crate::store::chunks;
use crate::store::envelope::Codec;
use crate::store::pages::{Pages, PagesMut};
use crate::{Error, Result};

const SCHEMA: u8 = 1;
const HEAD_BYTES: usize = 32;

/// A sealed run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SealedRun {
    /// Its number, in its keys.
    pub id: u32,
    /// No document of it is below.
    pub first: u32,
    /// No document of it is above.
    pub last: u32,
    /// How many postings it has.
    pub postings: u64,
}

/// A merge that is under way. Searches read its sources until it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Merge {
    /// Number of the first of the runs that are merged.
    pub first: u32,
    /// How many they are.
    pub sources: u32,
    /// Number of the run that is made of them.
    pub output: u32,
    /// Postings before it are in the output already.
    pub next: PostingKey,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Catalog {
    /// The statistics of all sealed documents.
    pub statistics: Statistics,
    pub next_run: u32,
    pub next_number: u32,
    /// In the order of their documents.
    pub runs: Vec<SealedRun>,
    pub merges: Vec<Merge>,
    /// Runs that nobody reads any more.
    pub dropped: Vec<SealedRun>,
}

impl Catalog {
    pub fn read<P: Pages>(pages: &P, index: IndexId) -> Result<Self> {
        let key = index.catalog();
        let Some((schema, body)) = chunks::get(pages, key)? else { return Ok(Self::default()) };
        let catalog = if schema == SCHEMA { Self::from_bytes(&body) } else { None };
        catalog.filter(Self::is_consistent).ok_or_else(|| malformed(key.as_slice()))
    }

    pub fn write<P: PagesMut>(&self, pages: &mut P, index: IndexId) -> Result<()> {
        chunks::put(pages, index.catalog(), SCHEMA, Codec::Packed, &self.to_bytes())
    }

    /// Whether something is being merged or removed.
    pub fn is_busy(&self) -> bool {
        !(self.merges.is_empty() && self.dropped.is_empty())
    }

    /// A number for a new run.
    pub fn take_run(&mut self) -> Result<u32> {
        let id = self.next_run;
        self.next_run = id.checked_add(1).ok_or_else(|| {
            Error::invalid(format!(
                "sealing run {id} of an index: its number must be below {id}: the partition is full: start another scope"
            ))
        })?;
        Ok(id)
    }

    /// Where the sources of a merge stand among the runs.
    pub fn sources(&self, merge: &Merge) -> Option<std::ops::Range<usize>> {
        let start = self.runs.iter().position(|run| run.id == merge.first)?;
        let end = start.checked_add(merge.sources as usize)?;
        (merge.sources > 0 && end <= self.runs.len()).then_some(start..end)
    }

    /// For each run the merge that it is a source of.
    pub fn merging(&self) -> Vec<Option<usize>> {
        let mut merging = vec![None; self.runs.len()];
        for (at, merge) in self.merges.iter().enumerate() {
            for source in self.sources(merge).into_iter().flatten() {
                merging[source] = Some(at);
            }
        }
        merging
    }

    /// The run whose range holds `number`.
    pub fn run_of(&self, number: u32) -> Option<usize> {
        let at = self.runs.partition_point(|run| run.last < number);
        self.runs.get(at).filter(|run| run.first <= number).map(|_| at)
    }

    fn is_consistent(&self) -> bool {
        let ranges = self.runs.iter().all(|run| run.first <= run.last && run.last < self.next_number)
            && self.runs.windows(2).all(|pair| pair[0].last < pair[1].first);
        let mut merging = vec![false; self.runs.len()];
        let merges = self.merges.iter().all(|merge| {
            let Some(sources) = self.sources(merge) else { return false };
            merging[sources].iter_mut().all(|merging| !std::mem::replace(merging, true))
        });
        let runs = self.runs.iter().chain(&self.dropped).map(|run| run.id);
        let mut ids: Vec<_> = runs.chain(self.merges.iter().map(|merge| merge.output)).collect();
        ids.sort_unstable();
        ranges && merges && ids.iter().all(|id| *id < self.next_run) && ids.windows(2).all(|pair| pair[0] < pair[1])
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEAD_BYTES + 24 * (self.runs.len() + self.merges.len() + self.dropped.len()));
        out.extend(self.statistics.documents.to_le_bytes());
        out.extend(self.statistics.total_length.to_le_bytes());
        out.extend(self.next_run.to_le_bytes());
        out.extend(self.next_number.to_le_bytes());
        for count in [self.runs.len(), self.merges.len(), self.dropped.len(), 0] {
            out.extend((count as u16).to_le_bytes());
        }
        self.runs.iter().for_each(|run| run.push(&mut out));
        for merge in &self.merges {
            out.extend([merge.first, merge.sources, merge.output].map(u32::to_le_bytes).as_flattened());
            out.extend(merge.next.term.to_le_bytes());
            out.extend(merge.next.number.to_le_bytes());
        }
        self.dropped.iter().for_each(|run| run.push(&mut out));
        out
    }

    fn from_bytes(body: &[u8]) -> Option<Self> {
        let rest = &mut &*body;
        let statistics = Statistics { documents: take_u64(rest)?, total_length: take_u64(rest)? };
        let (next_run, next_number) = (take_u32(rest)?, take_u32(rest)?);
        let [runs, merges, dropped, _] = [take_u16(rest)?, take_u16(rest)?, take_u16(rest)?, take_u16(rest)?];
        let mut list = |n: u16| (0..n).map(|_| SealedRun::take(rest)).collect::<Option<Vec<_>>>();
        let runs = list(runs)?;
        let merges = (0..merges).map(|_| Merge::take(rest)).collect::<Option<Vec<_>>>()?;
        let dropped = (0..dropped).map(|_| SealedRun::take(rest)).collect::<Option<Vec<_>>>()?;
        rest.is_empty().then_some(Self { statistics, next_run, next_number, runs, merges, dropped })
    }
}

impl SealedRun {
    fn push(&self, out: &mut Vec<u8>) {
        out.extend([self.id, self.first, self.last].map(u32::to_le_bytes).as_flattened());
        out.extend(self.postings.to_le_bytes());
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        Some(Self { id: take_u32(rest)?, first: take_u32(rest)?, last: take_u32(rest)?, postings: take_u64(rest)? })
    }
}

impl Merge {
    fn take(rest: &mut &[u8]) -> Option<Self> {
        let (first, sources, output) = (take_u32(rest)?, take_u32(rest)?, take_u32(rest)?);
        Some(Self { first, sources, output, next: PostingKey { term: take_u64(rest)?, number: take_u32(rest)? } })
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, left) = rest.split_first_chunk()?;
    *rest = left;
    Some(*taken)
}

fn take_u16(rest: &mut &[u8]) -> Option<u16> {
    take(rest).map(u16::from_le_bytes)
}

fn take_u32(rest: &mut &[u8]) -> Option<u32> {
    take(rest).map(u32::from_le_bytes)
}

fn take_u64(rest: &mut &[u8]) -> Option<u64> {
    take(rest).map(u64::from_le_bytes)
}
