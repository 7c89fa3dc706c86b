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
    lists(pages, keys, term, |key, list| {
        count += postings_of(key, list)?;
        Ok(())
    })?;
    Ok(count)
}

fn postings_of(key: &[u8], list: List<'_>) -> Result<u64> {
    let mut short = 0;
    match list {
        List::Packed(packed) => return Ok(u64::from(packed.postings)),
        List::Short(bytes) => decode_short(bytes, |_| short += 1).ok_or_else(|| malformed(key))?,
    }
    Ok(short)
}

/// Calls `visit` with every list of `term`, in the order of documents, and the key of the block that has it.
///
/// One look-up, unless `term` is the last of its block: only then can its list go on in the next one.
pub(super) fn lists<'p, P: Pages>(
    pages: &'p P,
    keys: BlockKeys,
    term: u64,
    mut visit: impl FnMut(&'p [u8], List<'p>) -> Result<()>,
) -> Result<()> {
    let Some((_, block)) = block_at(pages, keys, PostingKey { term, number: 0 })? else { return Ok(()) };
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

/// How many postings each of `terms`, which ascend, has in these blocks. The terms of one block cost one look-up together.
pub(super) fn count<P: Pages>(pages: &P, keys: BlockKeys, terms: &[u64], counts: &mut [u64]) -> Result<()> {
    let (mut block, mut at): (Option<Block<'_>>, usize) = (None, 0);
    // A term below the last of its block is in no other.
    let is_within = |block: &Block<'_>, term| block.len() > 0 && term < block.term(block.len() - 1);
    for (&term, count) in terms.iter().zip(counts) {
        if !block.as_ref().is_some_and(|block| is_within(block, term)) {
            (block, at) = (block_at(pages, keys, PostingKey { term, number: 0 })?.map(|(_, block)| block), 0);
        }
        *count += match &block {
            None => 0,
            Some(block) if is_within(block, term) => {
                at = block.first_from(at, term);
                if block.term(at) == term { postings_of(block.key, block.list(at)?)? } else { 0 }
            }
            Some(_) => postings(pages, keys, term)?,
        };
    }
    Ok(())
}
