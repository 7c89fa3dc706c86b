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

/// How many postings the lists of each of these terms have, which ascend. Terms of one block are looked up with it.
pub(super) fn postings<P: Pages>(pages: &P, keys: BlockKeys, terms: &[u64]) -> Result<Vec<u64>> {
    let mut current: Option<Block<'_>> = None;
    let mut counts = Vec::with_capacity(terms.len());
    for &term in terms {
        // Between two terms of the block of one before it: then it is there or nowhere, and its list does not go on behind.
        let inside = |block: &Block<'_>| match block.find(term) {
            Ok(at) if at + 1 < block.len() => Some(Some(at)),
            Err(at) if at < block.len() => Some(None),
            _ => None,
        };
        let mut found = current.and_then(|block| Some((block, inside(&block)?)));
        if found.is_none() {
            current = block_at(pages, keys, PostingKey { term, number: 0 })?.map(|(_, block)| block);
            found = current.and_then(|block| Some((block, inside(&block)?)));
        }
        counts.push(match found {
            Some((_, None)) => 0,
            Some((block, Some(at))) => count(block.key, block.list(at)?)?,
            None => {
                let mut sum = 0;
                lists(pages, keys, term, |key, list| count(key, list).map(|more| sum += more))?;
                sum
            }
        });
    }
    Ok(counts)
}

fn count(key: &[u8], list: List<'_>) -> Result<u64> {
    match list {
        List::Packed(packed) => Ok(u64::from(packed.postings)),
        List::Short(bytes) => {
            let mut count = 0;
            decode_short(bytes, |_| count += 1).ok_or_else(|| malformed(key))?;
            Ok(count)
        }
    }
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
