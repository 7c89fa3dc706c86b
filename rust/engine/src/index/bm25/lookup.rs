//! Finding blocks, and the lists of a term.

use std::ops::ControlFlow;

use super::block::{Block, List};
use super::layout::{self, BlockKeys, NO_NUMBER, PostingKey, malformed};
use super::list::decode_short;
use crate::Result;
use crate::store::pages::Pages;

/// The block that `place` belongs to, with its own place; `None` in an index without blocks.
pub(super) fn block_at<P: Pages>(pages: &P, keys: BlockKeys, place: PostingKey) -> Result<Option<(PostingKey, Block<'_>)>> {
    let Some((key, value)) = pages.floor(keys.at(place).as_slice())? else { return Ok(None) };
    let Some(place) = keys.place(key) else { return Ok(None) };
    Ok(Some((place, Block::parse(key, layout::body(key, value)?)?)))
}

/// The block behind the one at `place`.
pub(super) fn block_after<P: Pages>(pages: &P, keys: BlockKeys, place: PostingKey) -> Result<Option<(PostingKey, Block<'_>)>> {
    let (from, to) = (keys.at(place).u8(0), keys.range().end);
    let mut found = None;
    pages.scan(from.as_slice(), &to, &mut |key, value| {
        let place = keys.place(key).ok_or_else(|| malformed(key))?;
        found = Some((place, Block::parse(key, layout::body(key, value)?)?));
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

/// How many postings the lists of a term have.
pub(super) fn postings<P: Pages>(pages: &P, keys: BlockKeys, term: u64) -> Result<u64> {
    let mut count = 0;
    lists(pages, keys, term, &mut None, |key, list| {
        count += postings_of(key, list)?;
        Ok(())
    })?;
    Ok(count)
}

/// How many postings a list has.
pub(super) fn postings_of(key: &[u8], list: List<'_>) -> Result<u64> {
    let mut short = 0;
    match list {
        List::Packed(packed) => return Ok(u64::from(packed.postings)),
        List::Short(bytes) => decode_short(bytes, |_| short += 1).ok_or_else(|| malformed(key))?,
    }
    Ok(short)
}

/// The block that a look-up found, and its place: the next term often falls into it as well.
pub(super) type Met<'p> = Option<(PostingKey, Block<'p>)>;

/// Calls `visit` with every list of `term`, in the order of documents, and the key of the block that has it. `met` is the block that the
/// look-up before found in the same blocks.
///
/// One look-up at most, unless `term` is the last of its block: only then can its list go on in the next one.
pub(super) fn lists<'p, P: Pages>(
    pages: &'p P,
    keys: BlockKeys,
    term: u64,
    met: &mut Met<'p>,
    mut visit: impl FnMut(&'p [u8], List<'p>) -> Result<()>,
) -> Result<()> {
    let place = PostingKey { term, number: 0 };
    if !met.as_ref().is_some_and(|(first, block)| *first <= place && is_within(block, term)) {
        *met = block_at(pages, keys, place)?;
    }
    let Some((_, block)) = met else { return Ok(()) };
    let found = block.find(term);
    if let Ok(at) = found {
        visit(block.key, block.list(at)?)?;
    }
    let (Ok(at) | Err(at)) = found;
    if at + found.map_or(0, |_| 1) < block.len() {
        return Ok(());
    }
    let (from, to) = (keys.at(PostingKey { term, number: 1 }), keys.at(PostingKey { term, number: NO_NUMBER }));
    pages.scan(from.as_slice(), to.as_slice(), &mut |key, value| {
        let block = Block::parse(key, layout::body(key, value)?)?;
        if let Ok(at) = block.find(term) {
            visit(key, block.list(at)?)?;
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// How many postings each of `terms`, which ascend, has in these blocks. A block costs one or two look-ups, whatever terms fall into it or
/// into the gap behind it.
pub(super) fn count<P: Pages>(pages: &P, keys: BlockKeys, terms: &[u64], counts: &mut [u64]) -> Result<()> {
    let Some(&first) = terms.first() else { return Ok(()) };
    let mut here = Here::at(pages, keys, first)?;
    for (&term, count) in terms.iter().zip(counts) {
        *count += here.postings(pages, keys, term)?;
    }
    Ok(())
}

/// A block on the way of [`count`] and the one behind it.
struct Here<'p> {
    /// Where it begins; before any block, where the look-up began.
    place: PostingKey,
    block: Option<Block<'p>>,
    /// No term before it in the block is looked for.
    at: usize,
    behind: Behind<'p>,
}

/// The block behind another, as far as it is known.
enum Behind<'p> {
    Unread,
    Nothing,
    Next(PostingKey, Block<'p>),
}

impl<'p> Here<'p> {
    fn at<P: Pages>(pages: &'p P, keys: BlockKeys, term: u64) -> Result<Self> {
        let wanted = PostingKey { term, number: 0 };
        let (place, block) = block_at(pages, keys, wanted)?.map_or((wanted, None), |(place, block)| (place, Some(block)));
        Ok(Self { place, block, at: 0, behind: Behind::Unread })
    }

    /// How many postings a term has that is not below those asked before.
    fn postings<P: Pages>(&mut self, pages: &'p P, keys: BlockKeys, term: u64) -> Result<u64> {
        if self.block.as_ref().is_some_and(|block| is_within(block, term)) {
            return self.within(term);
        }
        if self.block.as_ref().and_then(last_of) == Some(term) {
            return postings(pages, keys, term); // its list may go on in other blocks
        }
        if matches!(self.behind, Behind::Unread) {
            let next = block_after(pages, keys, self.place)?;
            self.behind = next.map_or(Behind::Nothing, |(place, block)| Behind::Next(place, block));
        }
        match &self.behind {
            Behind::Next(place, _) if place.term < term => {}
            Behind::Next(place, _) if place.term == term => return postings(pages, keys, term),
            _ => return Ok(0),
        }
        *self = match std::mem::replace(&mut self.behind, Behind::Nothing) {
            Behind::Next(place, block) if is_within(&block, term) => Self { place, block: Some(block), at: 0, behind: Behind::Unread },
            _ => Self::at(pages, keys, term)?,
        };
        if self.block.as_ref().is_some_and(|block| is_within(block, term)) { self.within(term) } else { postings(pages, keys, term) }
    }

    /// How many postings a term has that sorts before the last term of the block.
    fn within(&mut self, term: u64) -> Result<u64> {
        let Some(block) = &self.block else { return Ok(0) };
        self.at = block.first_from(self.at, term);
        if block.term(self.at) == term { postings_of(block.key, block.list(self.at)?) } else { Ok(0) }
    }
}

fn last_of(block: &Block<'_>) -> Option<u64> {
    block.len().checked_sub(1).map(|last| block.term(last))
}

/// Whether a term is below the last of a block that begins at or before it: then no other block has it.
fn is_within(block: &Block<'_>, term: u64) -> bool {
    last_of(block).is_some_and(|last| term < last)
}
