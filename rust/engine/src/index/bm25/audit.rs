//! Everything that an index holds, for the doctor: blocks and tail read as one, in an order that can be compared.
//!
//! Not for queries: it decodes the whole index, and takes 16 bytes of memory for each posting.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::block::{Block, List};
use super::layout::{self, BlockKeys, PostingKey, malformed};
use super::list::{Posting, Run, decode_short};
use super::reader::Reader;
use super::row::{BLOCK_ROWS, ROW_BYTES, Row};
use crate::Result;
use crate::store::envelope::damaged;
use crate::store::keys::{Key, Table, u32_at};
use crate::store::pages::Pages;

/// A document that has a term, or a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Indexed {
    /// The document.
    pub number: u32,
    /// The hash of the term or key.
    pub hash: u64,
    /// How often it has the term; 0 for a key.
    pub count: u8,
}

/// The state of one posting by the tail: present with that count, or gone.
type Newer = BTreeMap<(u32, u64), Option<u8>>;

impl<P: Pages> Reader<'_, P> {
    /// Every posting, by document, then hash. Blocks that are out of order, so that a look-up would pass over a posting, are damage.
    pub fn postings(&self) -> Result<Vec<Indexed>> {
        let newer = self.newer();
        let mut found = stored(self.pages, self.index.postings())?;
        found.retain(|posting| !newer.contains_key(&(posting.number, posting.hash)));
        found.extend(newer.into_iter().filter_map(|((number, hash), count)| Some(Indexed { number, hash, count: count? })));
        found.sort_unstable();
        Ok(found)
    }

    fn newer(&self) -> Newer {
        let mut newer = Newer::new();
        for record in &self.tail {
            for term in record.terms() {
                let count = record.kind.adds().then_some(term.count);
                newer.insert((record.number, term.hash), count);
            }
        }
        newer
    }

    /// The numbers of the documents that are present, ascending.
    pub fn present(&mut self) -> Result<Vec<u32>> {
        let mut end = self.tail.iter().map(|record| record.number.saturating_add(1)).max().unwrap_or(0);
        let prefix = Key::new(self.index.partition, Table::Attributes).u8(self.index.index);
        let range = prefix.prefix_range();
        self.pages.scan(&range.start, &range.end, &mut |key, value| {
            let rows = layout::body(key, value)?.len() / ROW_BYTES;
            let block = u32_at(key, prefix.as_slice().len()).ok_or_else(|| malformed(key))?;
            end = end.max(block.saturating_mul(BLOCK_ROWS).saturating_add(rows as u32));
            Ok(ControlFlow::Continue(()))
        })?;
        let mut numbers = Vec::new();
        for number in 0..end {
            if self.rows.row(number)?.as_ref().is_some_and(Row::is_present) {
                numbers.push(number);
            }
        }
        Ok(numbers)
    }
}

/// Every posting of the blocks.
pub(super) fn stored<P: Pages>(pages: &P, keys: BlockKeys) -> Result<Vec<Indexed>> {
    let range = keys.range();
    let (mut found, mut run, mut before) = (Vec::new(), Run::new(), None);
    pages.scan(&range.start, &range.end, &mut |key, value| {
        let from = keys.place(key).ok_or_else(|| malformed(key))?;
        let block = Block::parse(key, layout::body(key, value)?)?;
        for at in 0..block.len() {
            let term = block.term(at);
            let mut ascending = true;
            let decoded = each(block.list(at)?, &mut run, &mut |posting| {
                let place = PostingKey { term, number: posting.number };
                ascending &= place >= from && before.is_none_or(|before| before < place);
                before = Some(place);
                found.push(Indexed { number: posting.number, hash: term, count: posting.count });
            })?;
            decoded.ok_or_else(|| malformed(key))?;
            if !ascending {
                return Err(damaged(key, "its postings are out of order, so that a look-up misses some"));
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Every posting of a list. The inner result is `None` where its bytes are not a list.
fn each(list: List<'_>, run: &mut Run, visit: &mut dyn FnMut(Posting)) -> Result<Option<()>> {
    match list {
        List::Short(bytes) => Ok(decode_short(bytes, visit)),
        List::Packed(packed) => {
            for at in 0..packed.runs() {
                let Some(()) = packed.head(at)?.decode(packed.bytes_from(at)?, run) else { return Ok(None) };
                run.postings().for_each(&mut *visit);
            }
            Ok(Some(()))
        }
    }
}
