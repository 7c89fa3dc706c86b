//! LMDB's list of free pages, checked before the first write of a process: the pages that it names are overwritten next.
//!
//! A second tree holds it: transaction number -> (count, page numbers, descending). Its values have no checksums of ours. In a
//! file of up to [`SMALL`] pages every page is looked up, and one that is both free and in use is refused; in larger ones
//! `check()` does it.

use std::collections::BTreeSet;

use super::page::{Kind, Order, Page, Value};
use super::{MAX_DEPTH, NONE, Root, Tree};
use crate::Result;

/// Pages of a file that are all looked at before the first write: 16 MiB, some milliseconds.
pub const SMALL: u64 = 4096;

/// Which pages of a file are taken.
struct Taken(Vec<u64>);

impl Taken {
    /// Takes `page`; `false` where it was taken.
    fn take(&mut self, page: u64) -> bool {
        let (word, bit) = (page as usize / 64, 1 << (page % 64));
        let free = self.0.get(word).is_some_and(|word| word & bit == 0);
        if free {
            self.0[word] |= bit;
        }
        free
    }
}

impl Tree {
    /// The pages that are free, and those of their tree; none where it cannot be read.
    #[must_use]
    pub fn free_pages(&self, root: Root) -> Option<BTreeSet<u64>> {
        let mut taken = Taken(vec![0; self.last_page as usize / 64 + 1]);
        self.take_free(root, &mut taken).ok()?;
        let is_taken = |page: &u64| taken.0[*page as usize / 64] >> (page % 64) & 1 == 1;
        Some((2..=self.last_page).filter(is_taken).collect())
    }

    /// How many pages are free, and take part in their tree; none where it cannot be read.
    #[must_use]
    pub fn count_free(&self, root: Root) -> Option<u64> {
        let mut taken = Taken(vec![0; self.last_page as usize / 64 + 1]);
        self.take_free(root, &mut taken).ok()?;
        Some(taken.0.iter().map(|word| u64::from(word.count_ones())).sum())
    }

    /// Checks the tree of free pages that begins at `root`, and with `whole` that no page is used twice.
    pub fn check_free(&self, root: Root, whole: bool) -> Result<()> {
        let mut taken = Taken(vec![0; self.last_page as usize / 64 + 1]);
        self.take_free(root, &mut taken)?;
        if whole { self.take_used(&mut taken) } else { Ok(()) }
    }

    fn take_free(&self, root: Root, taken: &mut Taken) -> Result<()> {
        let twice = |page| self.damaged(page, "it is used twice");
        let mut ahead = if root.page == NONE { Vec::new() } else { vec![(root.page, 1_u16)] };
        while let Some((number, level)) = ahead.pop() {
            if level > root.depth || usize::from(level) > MAX_DEPTH || !taken.take(number) {
                return Err(twice(number));
            }
            let kind = if level == root.depth { Kind::Leaf } else { Kind::Branch };
            let page = Page::new(self.bytes(number, 1)?);
            page.check(number, kind, Order::Numbers).map_err(|why| self.damaged(number, why))?;
            for index in 0..page.entries() {
                match kind {
                    Kind::Branch => ahead.push((self.some(number, page.child(index))?, level + 1)),
                    Kind::Leaf => self.take_list(number, page, index, taken)?,
                }
            }
        }
        Ok(())
    }

    fn take_list(&self, number: u64, page: Page<'_>, index: usize, taken: &mut Taken) -> Result<()> {
        self.take_overflow(number, page, index, taken)?;
        let list = self.value(number, page, index)?;
        let mut ids = list.chunks_exact(8).map(|id| u64::from_ne_bytes(id.try_into().expect("eight bytes")));
        let count = ids.next().filter(|count| (*count as usize) < list.len() / 8);
        let count = count.ok_or_else(|| self.damaged(number, "a list of free pages is longer than its value"))?;
        let mut previous = u64::MAX;
        for id in ids.take(count as usize) {
            if id < 2 || id > self.last_page || id >= previous || !taken.take(id) {
                return Err(self.damaged(number, &format!("it lists page {id} as free, which cannot be free")));
            }
            previous = id;
        }
        Ok(())
    }

    fn take_overflow(&self, number: u64, page: Page<'_>, index: usize, taken: &mut Taken) -> Result<()> {
        if let Value::Overflow { page: first, size } = self.some(number, page.value(index))? {
            let needed = Page::pages_of(size, self.mapped.page_size);
            // LMDB frees as many pages as the first of them says.
            let pages = Page::new(self.bytes(first, needed)?).overflow_pages(first, needed).unwrap_or(needed);
            self.bytes(first, pages)?;
            if let Some(page) = (first..first + pages).find(|page| !taken.take(*page)) {
                return Err(self.damaged(page, "it is used twice"));
            }
        }
        Ok(())
    }

    fn take_used(&self, taken: &mut Taken) -> Result<()> {
        let mut ahead = if self.root.page == NONE { Vec::new() } else { vec![(self.root.page, 0)] };
        while let Some((number, level)) = ahead.pop() {
            if !taken.take(number) {
                return Err(self.damaged(number, "it is used twice"));
            }
            // Reads and writes report damage within a page. This checks only damage that a write would spread.
            let Ok(page) = self.page(number, self.kind(level)) else { continue };
            for index in 0..page.entries() {
                match self.kind(level) {
                    Kind::Branch => ahead.extend(page.child(index).map(|child| (child, level + 1))),
                    Kind::Leaf => self.take_overflow(number, page, index, taken)?,
                }
            }
        }
        Ok(())
    }
}
