//! The nearest vectors of a set: by its graph where there is one, else by the scan.
//!
//! A filter never loses results. Of what a walk with ef nodes in sight finds, the better half is taken at its word; where
//! the filter leaves too little of that, the walk is repeated with as many nodes as the filter seems to ask for, and where that
//! comes near the cost of a scan, everything is scanned.

use super::super::block::Block;
use super::super::kernel::{Kernel, ROWS};
use super::super::some::Multiplier;
use super::super::{Query, Scored, Scores, VectorSet, select};
use super::catalog::InUse;
use super::changes::Changes;
use super::search::{Probe, Sight, with_scratch};
use super::segment::Segment;
use crate::Result;
use crate::store::pages::Pages;

/// Vectors that are scanned in the time in which one node in sight is widened: 0.6 us and 10 ns (measured, 2026-11).
const SCANNED_PER_SIGHT: usize = 60;

/// Vectors that are scanned in the time in which one is looked up in its block.
const SCANNED_PER_LOOK_UP: u64 = 20;

/// The nearest vectors, and a way to score others.
#[derive(Debug, Default)]
pub struct Nearest {
    /// Score descending, number ascending.
    pub best: Vec<Scored>,
    /// The scores, where vectors were scanned.
    scanned: Option<Scanned>,
}

#[derive(Debug)]
struct Scanned {
    scores: Scores,
    /// The first of all, in order: as many as were asked for, or as there are.
    first: Vec<Scored>,
    asked: usize,
}

impl Drop for Nearest {
    fn drop(&mut self) {
        if let Some(scores) = self.scanned.take() {
            scores.scores.give_back();
        }
    }
}

impl Nearest {
    /// Whether every vector of the set was scored, so that the answer is exact (of the int8 scores).
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.scanned.is_some()
    }

    /// Puts what [`VectorSet::nearest`] finds with this filter in the place of `best`; what was scanned before is not scanned again.
    pub fn find<P: Pages + ?Sized>(
        &mut self,
        set: VectorSet,
        pages: &P,
        query: &Query,
        n: usize,
        keep: impl FnMut(u32) -> bool,
    ) -> Result<()> {
        match &mut self.scanned {
            Some(scanned) => self.best = scanned.best(n, keep),
            None => *self = set.nearest(pages, query, n, keep)?,
        }
        Ok(())
    }

    /// The int8 score of one memory; `None` where it has no vector. Up to a look-up and a block's time.
    pub fn score<P: Pages + ?Sized>(&self, set: VectorSet, pages: &P, query: &Query, number: u32) -> Result<Option<i32>> {
        match &self.scanned {
            Some(scanned) => Ok(scanned.scores.get(number)),
            None => set.score_of(pages, query, number),
        }
    }
}

impl Scanned {
    /// The first `n` that `keep` lets through: mostly the first of all.
    fn best(&self, n: usize, mut keep: impl FnMut(u32) -> bool) -> Vec<Scored> {
        let first = &self.first[..n.min(self.first.len())];
        if n <= self.asked && first.iter().all(|scored| keep(scored.number)) { first.to_vec() } else { self.scores.best(n, keep) }
    }
}

impl VectorSet {
    /// The first `n` vectors that `keep` lets through, score descending, number ascending: exact without a graph, and with one
    /// approximate, but never fewer than a scan would find. `keep` may be asked about a number more than once.
    pub fn nearest<P: Pages + ?Sized>(&self, pages: &P, query: &Query, n: usize, mut keep: impl FnMut(u32) -> bool) -> Result<Nearest> {
        if n > 0
            && let Some(best) = self.nearest_by_graph(pages, query, n, &mut keep)?
        {
            return Ok(Nearest { best, scanned: None });
        }
        let mut scores = Scores::with_spare_room();
        self.scan(pages, query, &mut scores)?;
        let scanned = Scanned { first: scores.best(n, |_| true), asked: n, scores };
        Ok(Nearest { best: scanned.best(n, keep), scanned: Some(scanned) })
    }

    /// `None` where there is no graph, or a scan is better.
    fn nearest_by_graph<P: Pages + ?Sized>(
        &self,
        pages: &P,
        query: &Query,
        n: usize,
        keep: &mut impl FnMut(u32) -> bool,
    ) -> Result<Option<Vec<Scored>>> {
        self.check_query(query)?;
        let Some(in_use) = self.graph_catalog(pages)?.and_then(|catalog| catalog.in_use) else { return Ok(None) };
        let changes = self.graph_changes(pages, in_use.segment)?;
        if changes.counts().1 * SCANNED_PER_LOOK_UP > u64::from(in_use.nodes) {
            return Ok(None);
        }
        let segment = self.open_segment(pages, &in_use)?;
        let newer = self.newer(pages, query, n, &in_use, &changes, keep)?;
        let probe = Probe::of(query);
        let mut ef = self.ef_search.max(2 * n);
        while ef * SCANNED_PER_SIGHT <= (in_use.nodes as usize).max(self.ef_search * SCANNED_PER_SIGHT) {
            let seen = sights(&segment, &probe, ef)?;
            let whole = seen.len() == in_use.nodes as usize;
            let bar = if whole { i32::MIN } else { seen.get(ef / 2).map_or(i32::MAX, |scored| scored.score) };
            let (mut best, mut asked) = (newer.clone(), 0);
            for scored in seen.into_iter().filter(|scored| !changes.is_stale(scored.number)) {
                if best.len() == newer.len() + n {
                    break;
                }
                asked += 1;
                if keep(scored.number) {
                    best.push(scored);
                }
            }
            let kept = best.len() - newer.len();
            select::sort(&mut best);
            best.truncate(n);
            if whole || (best.len() == n && best[n - 1].score >= bar) {
                return Ok(Some(best));
            }
            ef = (2 * ef).max(3 * n * asked / kept.max(1));
        }
        Ok(None)
    }

    /// The best `n` of what the segment does not know: the tail, and numbers that got another vector.
    fn newer<P: Pages + ?Sized>(
        &self,
        pages: &P,
        query: &Query,
        n: usize,
        in_use: &InUse,
        changes: &Changes<'_>,
        keep: &mut impl FnMut(u32) -> bool,
    ) -> Result<Vec<Scored>> {
        let mut tail = Scores::new();
        let mut best = Vec::new();
        if let Some(first) = in_use.last.checked_add(1) {
            self.scan_from(pages, query, first, &mut tail)?;
            best = tail.best(n, |number| number >= first && keep(number));
        }
        for number in changes.live() {
            if keep(number)
                && let Some(score) = self.score_of(pages, query, number)?
            {
                best.push(Scored { number, score });
            }
        }
        select::sort(&mut best);
        best.truncate(n);
        Ok(best)
    }

    /// The int8 score of one vector, from its block.
    fn score_of<P: Pages + ?Sized>(&self, pages: &P, query: &Query, number: u32) -> Result<Option<i32>> {
        self.check_query(query)?;
        let Some((key, value)) = pages.floor(self.block_key(number).as_slice())?.filter(|(key, _)| self.first_of(key).is_some()) else {
            return Ok(None);
        };
        let block: Block<'_> = self.open_block(key, value)?;
        let Some(at) = block.place(number) else { return Ok(None) };
        let [score, ..] = Multiplier::new(query).scores([block.row(at); ROWS], [block.scales()[at]; ROWS]);
        Ok(Some(score))
    }
}

/// The nodes that a walk with `ef` nodes in sight finds, in order.
fn sights(segment: &Segment<'_>, probe: &Probe, ef: usize) -> Result<Vec<Scored>> {
    with_scratch(|scratch| {
        scratch.descend(segment, probe, Kernel::best(), 0, ef)?;
        let scored = |sight: &Sight| {
            let node = segment.nodes_at(sight.id())?;
            Ok(Scored { number: segment.shape.number(node), score: sight.score() })
        };
        let mut seen = scratch.sights.iter().map(scored).collect::<Result<Vec<_>>>()?;
        select::sort(&mut seen);
        Ok(seen)
    })
}
