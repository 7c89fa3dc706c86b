//! Blocks of fixed-width items, numbered by the documents they hold, read when first asked for.

use super::layout::{self, IndexId};
use crate::Result;
use crate::store::envelope::{ONE_PAGE_BODY, damaged};
use crate::store::keys::{Key, Table};
use crate::store::pages::Pages;

/// Blocks from this number on are read every time, so that a forged number cannot claim memory.
const REMEMBERED_BLOCKS: u32 = 1 << 20;

pub(super) struct Blocks<'p, P> {
    pages: &'p P,
    index: IndexId,
    table: Table,
    item_bytes: usize,
    known: Vec<Option<&'p [u8]>>,
}

impl<'p, P: Pages> Blocks<'p, P> {
    pub fn new(pages: &'p P, index: IndexId, table: Table, item_bytes: usize) -> Self {
        Self { pages, index, table, item_bytes, known: Vec::new() }
    }

    pub fn key(&self, block: u32) -> Key {
        self.index.block(self.table, block)
    }

    /// The items of a block: whole ones, as many as it holds.
    #[inline]
    pub fn get(&mut self, block: u32) -> Result<Option<&'p [u8]>> {
        match self.known.get(block as usize) {
            Some(&Some(items)) => Ok(Some(items)),
            _ => self.read(block),
        }
    }

    #[cold]
    fn read(&mut self, block: u32) -> Result<Option<&'p [u8]>> {
        let key = self.key(block);
        let Some(value) = self.pages.get(key.as_slice())? else { return Ok(None) };
        let items = layout::body(key.as_slice(), value)?;
        if items.len() % self.item_bytes != 0 || items.len() > ONE_PAGE_BODY {
            return Err(damaged(key.as_slice(), "it does not hold whole items"));
        }
        if block < REMEMBERED_BLOCKS {
            if self.known.len() <= block as usize {
                self.known.resize(block as usize + 1, None);
            }
            self.known[block as usize] = Some(items);
        }
        Ok(Some(items))
    }

    /// A copy of a block, to be changed.
    pub fn copy(&mut self, block: u32) -> Result<Vec<u8>> {
        Ok(self.get(block)?.unwrap_or_default().to_vec())
    }
}

/// Puts an item in a copied block, which grows to hold it.
pub(super) fn put(items: &mut Vec<u8>, at: usize, item: &[u8]) {
    let start = at * item.len();
    if items.len() < start + item.len() {
        items.resize(start + item.len(), 0);
    }
    items[start..start + item.len()].copy_from_slice(item);
}
