//! An index under other hashes: its documents, rows and lengths stay as they are, and its postings are written anew.

use super::TermCount;
use super::layout::{IndexId, Layout};
use super::merge::{self, Changes, Write};
use super::rows::Rows;
use super::{Statistics, settle};
use crate::Result;
use crate::store::keys::Key;
use crate::store::pages::PagesMut;
use std::ops::ControlFlow;

/// Replaces all postings by those of `documents`: the hashes of each, keys with a count of 0.
///
/// Costs the whole index, and 16 bytes of memory for each posting.
pub fn rehash<P: PagesMut>(pages: &mut P, index: IndexId, statistics: Statistics, documents: &[(u32, Vec<TermCount>)]) -> Result<()> {
    settle(pages, index, statistics)?;
    clear(pages, index)?;
    for write in postings(&*pages, index, documents)? {
        write.apply(pages)?;
    }
    Ok(())
}

fn clear<P: PagesMut>(pages: &mut P, index: IndexId) -> Result<()> {
    let (range, mut keys) = (index.postings().range(), Vec::new());
    pages.scan(&range.start, &range.end, &mut |key, _| {
        keys.push(Key::from_slice(key)?);
        Ok(ControlFlow::Continue(()))
    })?;
    keys.iter().try_for_each(|key| pages.delete(key.as_slice()).map(drop))
}

fn postings<P: PagesMut>(pages: &P, index: IndexId, documents: &[(u32, Vec<TermCount>)]) -> Result<Vec<Write>> {
    let mut changes = Changes::default();
    for (number, terms) in documents {
        changes.push(*number, true, terms.iter().copied());
    }
    let (mut rows, mut writes) = (Rows::new(pages, index, &[]), Vec::new());
    merge::plan(Layout::default(), pages, index.postings(), &mut rows, &changes.sorted()?, &mut writes)?;
    Ok(writes)
}
