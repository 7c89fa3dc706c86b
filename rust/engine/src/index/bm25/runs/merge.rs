//! Merging runs a step at a time, and removing those that were merged.
//!
//! A step reads blocks of all sources from the place where the last one ended, always the block that comes first, until it has its share.
//! Everything before the first unread block is complete, and goes to the new run. Until a merge is done, searches read its sources; a death
//! between steps loses nothing, as each step is part of a transaction.

use std::ops::ControlFlow;

use super::super::block::Block;
use super::super::group::Group;
use super::super::layout::{BlockKeys, PostingKey};
use super::super::lookup;
use super::super::merge::Write;
use super::Runs;
use super::append::apply;
use super::catalog::{Merge, SealedRun};
use super::lengths::RunLengths;
use super::tiers::next_merge;
use crate::Result;
use crate::store::keys::Key;
use crate::store::pages::{Pages, PagesMut};

/// Blocks of dropped runs that one write removes, for each that it may merge.
const REMOVED_PER_MERGED: usize = 2;

const START: PostingKey = PostingKey { term: 0, number: 0 };

impl Runs {
    /// Begins a merge that is due, goes on with the smallest by a step, and removes some of what was merged.
    pub(super) fn advance<P: PagesMut>(&mut self, pages: &mut P, at_least: usize) -> Result<()> {
        let blocks = at_least.max(self.shape.step_blocks);
        let begun = self.begin()?;
        if !begun && !self.catalog.is_busy() {
            return Ok(());
        }
        self.remove(pages, blocks * REMOVED_PER_MERGED)?;
        if let Some(merge) = self.smallest() {
            self.step(pages, merge, blocks)?;
        }
        self.catalog.write(pages, self.index)
    }

    fn begin(&mut self) -> Result<bool> {
        let merging = self.catalog.merging();
        let Some(window) = next_merge(&self.shape, &self.catalog.runs, |at| merging[at].is_none()) else { return Ok(false) };
        let output = self.catalog.take_run()?;
        let first = self.catalog.runs[window.start].id;
        self.catalog.merges.push(Merge { first, sources: window.len() as u32, output, next: START });
        Ok(true)
    }

    /// The merge with the fewest postings: larger ones can wait, while the many small runs slow every search down.
    fn smallest(&self) -> Option<usize> {
        (0..self.catalog.merges.len()).min_by_key(|&at| (postings_of(self.sources(&self.catalog.merges[at])), at))
    }

    fn sources(&self, merge: &Merge) -> &[SealedRun] {
        self.catalog.sources(merge).map_or(&[], |sources| &self.catalog.runs[sources])
    }

    fn step<P: PagesMut>(&mut self, pages: &mut P, at: usize, blocks: usize) -> Result<()> {
        let merge = self.catalog.merges[at];
        let (writes, next) = self.plan_step(pages, &merge, blocks)?;
        apply(pages, &writes)?;
        match next {
            Some(next) => self.catalog.merges[at].next = next,
            None => self.finish(at),
        }
        Ok(())
    }

    fn plan_step<P: Pages>(&self, pages: &P, merge: &Merge, blocks: usize) -> Result<(Vec<Write>, Option<PostingKey>)> {
        let keys = self.sources(merge).iter().map(|run| self.index.run(run.id));
        let mut sources = keys.map(|keys| Source::open(pages, keys, merge.next)).collect::<Result<Vec<_>>>()?;
        for _ in 0..blocks {
            let Some(source) = sources.iter_mut().filter(|source| source.next.is_some()).min_by_key(|source| source.place()) else {
                break;
            };
            source.take(pages)?;
        }
        let next = sources.iter().filter_map(Source::place).min();
        let mut group = Group::new(self.shape.layout, self.index.run(merge.output));
        let blocks = sources.iter().flat_map(|source| source.blocks.iter().copied());
        group.concatenate(merge.next, next, blocks, &mut RunLengths::new(pages, self.index))?;
        let mut writes = Vec::new();
        group.write(&mut writes);
        Ok((writes, next))
    }

    /// Puts the output in the place of its sources.
    fn finish(&mut self, at: usize) {
        let merge = self.catalog.merges.remove(at);
        let Some(sources) = self.catalog.sources(&merge) else { return };
        let runs = &self.catalog.runs[sources.clone()];
        let (Some(first), Some(last)) = (runs.first(), runs.last()) else { return };
        let postings = postings_of(runs);
        let output = SealedRun { id: merge.output, first: first.first, last: last.last, postings };
        let merged = self.catalog.runs.splice(sources, (postings > 0).then_some(output));
        self.catalog.dropped.extend(merged);
    }

    /// Removes at most so many blocks of runs that nobody reads any more.
    fn remove<P: PagesMut>(&mut self, pages: &mut P, blocks: usize) -> Result<()> {
        let Some(run) = self.catalog.dropped.last() else { return Ok(()) };
        let mut keys = Vec::new();
        let range = self.index.run(run.id).range();
        pages.scan(&range.start, &range.end, &mut |key, _| {
            keys.push(Key::from_slice(key)?);
            Ok(if keys.len() < blocks { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        if keys.len() < blocks {
            self.catalog.dropped.pop();
        }
        for key in keys {
            pages.delete(key.as_slice())?;
        }
        Ok(())
    }
}

fn postings_of(runs: &[SealedRun]) -> u64 {
    runs.iter().fold(0, |sum, run| sum.saturating_add(run.postings))
}

/// A run that is merged: the blocks that were read, and the one behind them.
struct Source<'p> {
    keys: BlockKeys,
    blocks: Vec<Block<'p>>,
    next: Option<(PostingKey, Block<'p>)>,
}

impl<'p> Source<'p> {
    /// Reads the block that `from` belongs to.
    fn open<P: Pages>(pages: &'p P, keys: BlockKeys, from: PostingKey) -> Result<Self> {
        let found = lookup::block_at(pages, keys, from)?;
        let place = found.map_or(from, |(place, _)| place);
        let next = lookup::block_after(pages, keys, place)?;
        Ok(Self { keys, blocks: found.map(|(_, block)| block).into_iter().collect(), next })
    }

    fn place(&self) -> Option<PostingKey> {
        self.next.map(|(place, _)| place)
    }

    fn take<P: Pages>(&mut self, pages: &'p P) -> Result<()> {
        if let Some((place, block)) = self.next {
            self.blocks.push(block);
            self.next = lookup::block_after(pages, self.keys, place)?;
        }
        Ok(())
    }
}
