//! LMDB's tree, read without trusting it.
//!
//! LMDB checks nothing of what it walks: one flipped bit in the header of a page ends the process or hides stored values. So
//! every read goes through here instead, over a map of our own, and every write asks here first whether the pages that LMDB is
//! about to walk are whole ([`Tree::secure`]). A page is checked when this process first meets it ([`page::Page::check`]).
//!
//! The absence of a key is an answer too, and a flipped bit must not give it. For such an answer the keys on both sides of the gap are
//! checked (their checksums cover them), the leaf must lie between the keys that all branches above it name, and if the gap is
//! at the end of the leaf, the next one must begin behind it (`Tree::confirm`).
//!
//! A key is an answer as well: a walk over it may skip its value. So every entry that is handed out was compared with its
//! checksum, which covers the key, once in this process ([`verified::intact`]). The doctor, copies and erasures take what is there
//! ([`Tree::tolerate`], [`Tree::scan_stored`]). So does a walk that opens every value that it comes to, which compares it.
//!
//! Two kinds of damage are not noticed: a child that points to an older version of the same page, and damage to a page
//! after it was checked. [`free`] looks after LMDB's list of free pages.

pub mod changed;
pub mod free;
pub mod map;
pub mod page;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use self::map::Mapped;
use self::page::{HEADER, Kind, Order, Page, Sought, Value};
use super::prefetch::prefetch;
use super::vault::is_encrypted;
use super::{envelope, verified};
use crate::{Error, ErrorKind, Result, interrupt};

/// LMDB's trees have at most 32 levels; ten hold more than a file can.
const MAX_DEPTH: usize = 10;

/// How many entries ahead of a walk its values are fetched.
const AHEAD: usize = 2;

/// No page.
const NONE: u64 = u64::MAX;

/// Where a tree begins, as a meta page says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Root {
    /// Its first page, or [`u64::MAX`] where it is empty.
    pub page: u64,
    /// Its levels.
    pub depth: u16,
    /// Its entries.
    pub entries: u64,
}

/// A tree of one snapshot.
#[derive(Debug)]
pub struct Tree {
    mapped: Mapped,
    root: Root,
    last_page: u64,
    tolerant: AtomicBool,
    /// Whether encrypted values go to a vault, whose cipher notices every change of key and bytes: their checksum would say it twice.
    has_vault: bool,
    /// Where the last descent went, at each level: the next one mostly goes there or close behind it.
    near: [AtomicU64; MAX_DEPTH],
}

/// From the root to an entry of a leaf: page and index at each level.
#[derive(Clone, Copy)]
struct Way {
    pages: [u64; MAX_DEPTH],
    indexes: [u16; MAX_DEPTH],
    leaf: usize,
}

impl Way {
    fn index(&self) -> usize {
        usize::from(self.indexes[self.leaf])
    }
}

impl Tree {
    /// The tree at `root` in a file of `last_page` + 1 pages.
    pub fn new(mapped: Mapped, root: Root, last_page: u64, has_vault: bool) -> Result<Self> {
        let tree =
            Self { mapped, root, last_page, tolerant: AtomicBool::new(false), has_vault, near: [const { AtomicU64::new(0) }; MAX_DEPTH] };
        let empty = root.page == NONE;
        if !empty && !(1..=MAX_DEPTH as u16).contains(&root.depth) {
            return Err(tree.damaged(root.page, "the meta page names a tree of an impossible depth"));
        }
        Ok(tree)
    }

    /// Hands out damaged entries, too, from now on: the doctor looks at them and goes on behind them.
    pub fn tolerate(&self) {
        self.tolerant.store(true, Relaxed);
    }

    /// Refuses an entry that is not what was written.
    fn intact(&self, key: &[u8], value: &[u8]) -> Result<()> {
        let is_left_to_others = self.tolerant.load(Relaxed) || self.has_vault && is_encrypted(value);
        if is_left_to_others { Ok(()) } else { verified::intact(key, value) }
    }

    /// How many entries the meta page counts.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.root.entries
    }

    /// The number of the last page of the file.
    #[must_use]
    pub fn last_page(&self) -> u64 {
        self.last_page
    }

    #[cold]
    #[inline(never)]
    fn damaged(&self, page: u64, why: &str) -> Error {
        Error::new(
            ErrorKind::StoreCorrupt,
            format!(
                "reading the store: page {page} of {}/data.mdb is damaged: {why}; nothing was changed: restore the store from a backup, \
                 or save what is intact with `memspan check STORE --repair NEW`",
                self.mapped.path.display()
            ),
        )
        .with("page", page as i64)
    }

    #[inline]
    fn bytes(&self, page: u64, pages: u64) -> Result<&[u8]> {
        let last = page.saturating_add(pages - 1);
        if page >= 2 && last <= self.last_page {
            let size = self.mapped.page_size;
            if let Some(bytes) = self.mapped.map.bytes(page as usize * size, pages as usize * size) {
                return Ok(bytes);
            }
        }
        Err(self.outside(page))
    }

    #[cold]
    fn outside(&self, page: u64) -> Error {
        self.damaged(page, "it lies outside of the file, and another page refers to it")
    }

    /// A page, checked when this process meets it for the first time.
    #[inline]
    fn page(&self, number: u64, kind: Kind) -> Result<Page<'_>> {
        let page = Page::new(self.bytes(number, 1)?);
        let (is_leaf, bounds) = (kind == Kind::Leaf, page.bounds().unwrap_or_default());
        if !self.mapped.map.checked.has(number, is_leaf, bounds) {
            page.check(number, kind, Order::Bytes).map_err(|why| self.damaged(number, why))?;
            self.mapped.map.checked.note(number, is_leaf, bounds);
        }
        Ok(page)
    }

    /// A page of a way that was gone: it was checked then.
    #[inline]
    fn known(&self, number: u64) -> Result<Page<'_>> {
        Ok(Page::new(self.bytes(number, 1)?))
    }

    fn kind(&self, level: usize) -> Kind {
        if level + 1 == usize::from(self.root.depth) { Kind::Leaf } else { Kind::Branch }
    }

    /// A value that a checked page must have. It is missing only if the page was damaged since.
    #[inline]
    fn some<T>(&self, page: u64, there: Option<T>) -> Result<T> {
        there.ok_or_else(|| self.changed(page))
    }

    #[cold]
    fn changed(&self, page: u64) -> Error {
        self.damaged(page, "it changed after it was read for the first time")
    }

    /// The way to `key`, or to the first key above it in the leaf where it belongs; whether it is that key.
    #[inline]
    fn seek(&self, key: &[u8]) -> Result<Option<(Way, Page<'_>, bool)>> {
        let mut way = Way { pages: [0; MAX_DEPTH], indexes: [0; MAX_DEPTH], leaf: usize::from(self.root.depth).saturating_sub(1) };
        let leaf = self.walk(key, |level, number, index| (way.pages[level], way.indexes[level]) = (number, index as u16))?;
        Ok(leaf.map(|(page, exact)| (way, page, exact)))
    }

    /// Goes from the root to `key`, or to the first key above it in the leaf where it belongs, and tells `step` of each level the page and the
    /// index in it. The leaf; whether it has that key.
    #[inline]
    fn walk(&self, key: &[u8], mut step: impl FnMut(usize, u64, usize)) -> Result<Option<(Page<'_>, bool)>> {
        interrupt::check()?;
        if self.root.page == NONE {
            return Ok(None);
        }
        let (sought, leaf, mut number) = (Sought::new(key), usize::from(self.root.depth) - 1, self.root.page);
        for level in 0..leaf {
            let (page, near) = self.page_near(level, number, Kind::Branch)?;
            let index = self.some(number, page.way_to(&sought, near))?;
            self.near[level].store(number << 16 | index as u64, Relaxed);
            step(level, number, index);
            number = self.some(number, page.child(index))?;
        }
        let (page, near) = self.page_near(leaf, number, Kind::Leaf)?;
        let (index, exact) = self.some(number, page.search(&sought, 0, near))?;
        self.near[leaf].store(number << 16 | index as u64, Relaxed);
        step(leaf, number, index);
        Ok(Some((page, exact)))
    }

    /// A page on the way down, and where the last descent found its key, if that came by here: the page was checked then.
    #[inline]
    fn page_near(&self, level: usize, number: u64, kind: Kind) -> Result<(Page<'_>, Option<usize>)> {
        let last = self.near[level].load(Relaxed);
        if last >> 16 == number { Ok((self.known(number)?, Some((last & 0xffff) as usize))) } else { Ok((self.page(number, kind)?, None)) }
    }

    /// From the child at `level` of a way down to its first or last entry.
    fn descend(&self, way: &mut Way, mut level: usize, first: bool) -> Result<()> {
        let page = self.known(way.pages[level - 1])?;
        let mut number = self.some(way.pages[level - 1], page.child(usize::from(way.indexes[level - 1])))?;
        loop {
            let page = self.page(number, self.kind(level))?;
            let index = if first { 0 } else { page.entries().saturating_sub(1) };
            (way.pages[level], way.indexes[level]) = (number, index as u16);
            if level == way.leaf {
                return Ok(());
            }
            number = self.some(number, page.child(index))?;
            level += 1;
        }
    }

    /// The way to the first entry of the leaf behind, or to the last of the leaf before.
    fn beside(&self, way: &Way, forward: bool) -> Result<Option<Way>> {
        for level in (0..way.leaf).rev() {
            let page = self.known(way.pages[level])?;
            let index = usize::from(way.indexes[level]);
            if if forward { index + 1 < page.entries() } else { index > 0 } {
                let mut next = *way;
                next.indexes[level] = if forward { index + 1 } else { index - 1 } as u16;
                self.descend(&mut next, level + 1, forward)?;
                return Ok(Some(next));
            }
        }
        Ok(None)
    }

    fn leaf(&self, way: &Way) -> Result<Page<'_>> {
        self.known(way.pages[way.leaf])
    }

    /// The entry at a way.
    fn entry(&self, way: &Way) -> Result<(&[u8], &[u8])> {
        let (number, page) = (way.pages[way.leaf], self.leaf(way)?);
        self.entry_of(number, page, way.index())
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // a scan calls it for every block, and its result would pass through memory
    fn entry_of<'m>(&'m self, number: u64, page: Page<'m>, index: usize) -> Result<(&'m [u8], &'m [u8])> {
        let (key, value) = self.some(number, page.entry(index))?;
        Ok((key, self.stored(value)?))
    }

    #[inline]
    fn value<'m>(&'m self, number: u64, page: Page<'m>, index: usize) -> Result<&'m [u8]> {
        self.stored(self.some(number, page.value(index))?)
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn stored<'m>(&'m self, value: Value<'m>) -> Result<&'m [u8]> {
        match value {
            Value::Here(value) => Ok(value),
            Value::Overflow { page, size } => self.overflow(page, size),
        }
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn overflow(&self, page: u64, size: usize) -> Result<&[u8]> {
        let (bytes, _) = self.value_pages(page, size)?;
        Ok(&bytes[HEADER..HEADER + size])
    }

    /// The pages that a value of `size` bytes needs from `page` on, and how many it has.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn value_pages(&self, page: u64, size: usize) -> Result<(&[u8], u64)> {
        let needed = Page::pages_of(size, self.mapped.page_size);
        let bytes = self.bytes(page, needed)?;
        let pages = Page::new(bytes).overflow_pages(page, needed).map_err(|why| self.damaged(page, why))?;
        if pages > needed {
            self.bytes(page, pages)?;
        }
        Ok((bytes, pages))
    }

    /// Asks memory for the beginning of a value that has pages of its own, because a walk comes to it soon.
    fn fetch(&self, page: Page<'_>, index: usize) {
        if let Some(page) = page.overflow(index)
            && let Ok(bytes) = self.bytes(page, 1)
        {
            prefetch(bytes, 0, HEADER);
        }
    }

    /// Whether a leaf lies between the keys that the branches above it name: all of them, because one of them may be the wrong one.
    fn check_fences(&self, way: &Way, page: Page<'_>) -> Result<()> {
        let Some(last) = page.entries().checked_sub(1) else { return Ok(()) };
        for level in (0..way.leaf).rev() {
            let branch = self.known(way.pages[level])?;
            let index = usize::from(way.indexes[level]);
            let below = index > 0 && page.key(0) < branch.key(index);
            let above = index + 1 < branch.entries() && page.key(last) >= branch.key(index + 1);
            if below || above {
                return Err(self.damaged(way.pages[way.leaf], "its keys lie outside of what a branch above it names"));
            }
        }
        Ok(())
    }

    /// The entries before and behind the gap at `way`, where `key` is not: both intact, and on its two sides.
    #[allow(clippy::type_complexity)] // two entries, each of a key and a value
    fn confirm<'m>(&'m self, way: &Way, page: Page<'m>, key: &[u8]) -> Result<Option<(&'m [u8], &'m [u8])>> {
        let [before, behind] = self.around(way, page)?;
        if before.is_some_and(|(before, _)| before >= key) || behind.is_some_and(|(behind, _)| behind <= key) {
            return Err(self.damaged(way.pages[way.leaf], "the branch above it leads to the wrong leaf"));
        }
        for (key, value) in before.iter().chain(&behind) {
            verified::intact(key, value)?;
        }
        Ok(before)
    }

    /// The entries before and behind the gap at `way`, whatever they are.
    #[allow(clippy::type_complexity)] // two entries, each of a key and a value
    fn around<'m>(&'m self, way: &Way, page: Page<'m>) -> Result<[Option<(&'m [u8], &'m [u8])>; 2]> {
        self.check_fences(way, page)?;
        let (number, index) = (way.pages[way.leaf], way.index());
        let beside = |forward| self.beside(way, forward)?.map(|way| self.entry(&way)).transpose();
        let before = if index > 0 { Some(self.entry_of(number, page, index - 1)?) } else { beside(false)? };
        let behind = if index < page.entries() { Some(self.entry_of(number, page, index)?) } else { beside(true)? };
        Ok([before, behind])
    }

    /// Checks every page that LMDB may walk or free when it puts or, where `removes`, deletes `key`.
    pub fn secure(&self, key: &[u8], removes: bool) -> Result<()> {
        let Some((way, page, exact)) = self.seek(key)? else { return Ok(()) };
        if exact {
            self.value(way.pages[way.leaf], page, way.index())?;
        }
        if removes { self.secure_siblings(&way) } else { Ok(()) }
    }

    /// A page that gets too empty is merged with one beside it, at each level; for a branch LMDB looks up its lowest key.
    fn secure_siblings(&self, way: &Way) -> Result<()> {
        for level in 0..way.leaf {
            let (number, index) = (way.pages[level], usize::from(way.indexes[level]));
            let len = self.page(number, Kind::Branch)?.entries();
            for sibling in [index.checked_sub(1), Some(index + 1).filter(|index| *index < len)].into_iter().flatten() {
                let mut beside = *way;
                beside.indexes[level] = sibling as u16;
                self.descend(&mut beside, level + 1, true)?;
            }
        }
        Ok(())
    }

    /// Checks every page that LMDB may walk from the entry before `from` to the one behind `to`.
    pub fn secure_range(&self, from: &[u8], to: &[u8]) -> Result<()> {
        let Some((start, _, _)) = self.seek(from)? else { return Ok(()) };
        self.beside(&start, false)?;
        let mut way = Some(start);
        while let Some(at) = way {
            let page = self.leaf(&at)?;
            for index in at.index()..page.entries() {
                self.value(at.pages[at.leaf], page, index)?;
            }
            way = self.beside(&at, true)?;
            if page.entries().checked_sub(1).and_then(|last| page.key(last)).is_some_and(|last| last >= to) {
                break;
            }
        }
        Ok(())
    }

    /// Calls `visit` for every leaf that can be reached, in key order, and `lost` for every page that cannot be read.
    pub fn salvage<'m>(&'m self, leaf: &mut dyn FnMut(u64, Page<'m>) -> Result<()>, lost: &mut dyn FnMut(Error)) -> Result<()> {
        let mut ahead = if self.root.page == NONE { Vec::new() } else { vec![(self.root.page, 0)] };
        while let Some((number, level)) = ahead.pop() {
            match self.page(number, self.kind(level)) {
                Err(error) => lost(error),
                Ok(page) if self.kind(level) == Kind::Leaf => leaf(number, page)?,
                Ok(page) => ahead.extend((0..page.entries()).rev().filter_map(|index| Some((page.child(index)?, level + 1)))),
            }
        }
        Ok(())
    }

    /// The entries of a leaf; those whose values cannot be read as errors.
    #[allow(clippy::type_complexity)] // entries of a key and a value
    pub fn leaf_entries(&self, number: u64) -> Result<impl Iterator<Item = Result<(&[u8], &[u8])>>> {
        let page = self.page(number, Kind::Leaf)?;
        Ok((0..page.entries()).map(move |index| Ok((self.some(number, page.key(index))?, self.value(number, page, index)?))))
    }

    /// The bytes of neighbouring pages.
    pub fn run(&self, run: changed::Run) -> Result<&[u8]> {
        self.bytes(run.first, run.pages)
    }

    /// The bytes of a page, whatever they are.
    pub fn raw(&self, number: u64) -> Result<&[u8]> {
        self.bytes(number, 1)
    }
}

/// The reads of [`super::pages::Pages`].
impl Tree {
    /// The value at `key`.
    pub fn get(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        let mut place = (0, 0);
        let Some((page, exact)) = self.walk(key, |_, number, index| place = (number, index))? else { return Ok(None) };
        if !exact {
            return self.absent(key);
        }
        let value = self.value(place.0, page, place.1)?;
        self.intact(key, value)?;
        Ok(Some(value))
    }

    /// Makes sure that `key` is not there.
    #[inline(never)]
    fn absent(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        let Some((way, page, _)) = self.seek(key)? else { return Ok(None) };
        self.confirm(&way, page, key).map(|_| None)
    }

    /// The value at `key`, where damage to a value beside it does not matter: it is not there unless one of the two is it, at a key that
    /// changed.
    pub fn get_beside_damage(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        let Some((way, page, exact)) = self.seek(key)? else { return Ok(None) };
        if exact {
            return self.value(way.pages[way.leaf], page, way.index()).map(Some);
        }
        let beside = self.around(&way, page)?;
        let are_whole = beside.iter().flatten().all(|(key, value)| verified::intact(key, value).is_ok());
        if !are_whole && beside.iter().flatten().any(|(_, value)| envelope::belongs_to(key, value)) {
            return Err(self.damaged(way.pages[way.leaf], "a key in it changed"));
        }
        Ok(None)
    }

    /// The entry with the greatest key at or below `key`.
    #[allow(clippy::type_complexity)] // a key and a value
    pub fn floor(&self, key: &[u8]) -> Result<Option<(&[u8], &[u8])>> {
        let Some((way, page, exact)) = self.seek(key)? else { return Ok(None) };
        if !exact {
            return self.confirm(&way, page, key);
        }
        let entry = self.entry_of(way.pages[way.leaf], page, way.index())?;
        self.intact(entry.0, entry.1)?;
        Ok(Some(entry))
    }

    /// Calls `visit` for every entry with `from <= key < to` in key order until it breaks.
    pub fn scan<'p>(&'p self, from: &[u8], to: &[u8], visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>) -> Result<()> {
        self.scan_stored(from, to, &mut |key, value| {
            self.intact(key, value)?;
            visit(key, value)
        })
    }

    /// Calls `visit` for every entry with `from <= key < to` in key order until it breaks, whatever stands in the values.
    pub fn scan_stored<'p>(
        &'p self,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let Some((mut way, mut page, exact)) = self.seek(from)? else { return Ok(()) };
        if !exact {
            self.confirm(&way, page, from)?;
        }
        loop {
            let (number, first) = (way.pages[way.leaf], way.index());
            let last =
                page.entries().checked_sub(1).filter(|last| first <= *last).map(|last| self.some(number, page.key(last))).transpose()?;
            let ends = last.is_some_and(|last| last >= to);
            let end = if ends { self.some(number, page.search(&Sought::new(to), first, None))?.0 } else { page.entries() };
            for index in first..end {
                self.fetch(page, index + AHEAD);
                let (key, value) = self.entry_of(number, page, index)?;
                if visit(key, value)?.is_break() {
                    return Ok(());
                }
            }
            if ends {
                let (key, value) = self.entry_of(number, page, end)?;
                return verified::intact(key, value);
            }
            interrupt::check()?;
            let Some(next) = self.beside(&way, true)? else { return Ok(()) };
            page = self.leaf(&next)?;
            self.check_fences(&next, page)?;
            if last.is_some_and(|last| page.key(0).is_none_or(|first| first <= last)) {
                return Err(self.damaged(next.pages[next.leaf], "its keys lie before those of the page before it"));
            }
            way = next;
        }
    }
}
