//! One page of LMDB's tree, believed in nothing: every offset is compared with the page's end before it is followed.
//!
//! ```text
//! 0  u64  its own number                8+ksize   value, or the number of the overflow page that holds it
//! 8  u16  (unused)                      ┌ u16 ×2  size of the value, or child page (with the flags: 48 bits)
//! 10 u16  1 branch, 2 leaf, 4 overflow  │ u16     1: the value lies in an overflow page
//! 12 u16  where the offsets end         │ u16     ksize
//! 14 u16  where the entries begin       └ key
//! 16 u16… offset of each entry, in key order; the entries fill the page from `upper` to its end
//! ```
//! (`MDB_page` and `MDB_node` of lmdb's mdb.c, in the machine's byte order.) It does not find a bit that was
//! flipped in a key and leaves the order right. Values carry checksums over their keys: `super` asks for those beside a gap.

use std::cmp::Ordering;

/// Bytes before a page's offsets.
pub const HEADER: usize = 16;
const NODE: usize = 8;
const BRANCH: u16 = 1;
const LEAF: u16 = 2;
const OVERFLOW: u16 = 4;
const IN_OVERFLOW: u16 = 1;

/// The expected kind of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Keys and child pages.
    Branch,
    /// Keys and values.
    Leaf,
}

/// How keys of a tree compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As byte strings.
    Bytes,
    /// As one native u64: the tree of free pages.
    Numbers,
}

/// Where the value of an entry lies.
#[derive(Debug, Clone, Copy)]
pub enum Value<'m> {
    /// Beside its key.
    Here(&'m [u8]),
    /// In the overflow pages from `page` on.
    Overflow {
        /// The first of them.
        page: u64,
        /// Bytes of the value.
        size: usize,
    },
}

/// A page's bytes.
#[derive(Debug, Clone, Copy)]
pub struct Page<'m>(&'m [u8]);

impl<'m> Page<'m> {
    /// The page of these bytes, as long as a page is.
    #[must_use]
    pub fn new(bytes: &'m [u8]) -> Self {
        Self(bytes)
    }

    #[inline]
    fn u16(self, at: usize) -> Option<u16> {
        Some(u16::from_ne_bytes(self.0.get(at..at + 2)?.try_into().ok()?))
    }

    #[inline]
    fn u64(self, at: usize) -> Option<u64> {
        Some(u64::from_ne_bytes(self.0.get(at..at + 8)?.try_into().ok()?))
    }

    /// Where its offsets end and its entries begin: what changes with most changes of a page.
    #[must_use]
    #[inline]
    pub fn bounds(self) -> Option<(u16, u16)> {
        Some((self.u16(12)?, self.u16(14)?))
    }

    /// How many entries it has.
    #[must_use]
    #[inline]
    pub fn entries(self) -> usize {
        usize::from(self.u16(12).unwrap_or(0)).saturating_sub(HEADER) / 2
    }

    #[inline]
    fn node(self, index: usize) -> Option<usize> {
        self.u16(HEADER + 2 * index).map(usize::from)
    }

    /// The key of an entry.
    #[must_use]
    #[inline]
    pub fn key(self, index: usize) -> Option<&'m [u8]> {
        let (at, [.., size]) = self.head(index)?;
        self.0.get(at..at + usize::from(size))
    }

    /// Where the key of an entry begins, and the four numbers before it.
    #[inline]
    fn head(self, index: usize) -> Option<(usize, [u16; 4])> {
        let node = self.node(index)?;
        let head = u64::from_ne_bytes(*self.0.get(node..)?.first_chunk::<NODE>()?);
        let number = |at: u32| (if cfg!(target_endian = "little") { head >> at } else { head >> (48 - at) }) as u16;
        Some((node + NODE, [number(0), number(16), number(32), number(48)]))
    }

    /// The child page of an entry of a branch.
    #[must_use]
    #[inline]
    pub fn child(self, index: usize) -> Option<u64> {
        let (_, [first, second, third, _]) = self.head(index)?;
        Some(low_high(first, second) | u64::from(third) << 32)
    }

    /// The value of an entry of a leaf.
    #[must_use]
    #[inline]
    pub fn value(self, index: usize) -> Option<Value<'m>> {
        self.entry(index).map(|(_, value)| value)
    }

    /// Key and value of an entry of a leaf.
    #[must_use]
    #[inline]
    pub fn entry(self, index: usize) -> Option<(&'m [u8], Value<'m>)> {
        let (at, [first, second, flags, key]) = self.head(index)?;
        let (behind, size) = (at + usize::from(key), low_high(first, second) as usize);
        let value = match flags {
            0 => Value::Here(self.0.get(behind..behind.checked_add(size)?)?),
            IN_OVERFLOW => Value::Overflow { page: self.u64(behind)?, size },
            _ => return None,
        };
        Some((self.0.get(at..behind)?, value))
    }

    /// The first overflow page of an entry of a leaf; `None` where its value stands beside its key.
    #[must_use]
    #[inline]
    pub fn overflow(self, index: usize) -> Option<u64> {
        let (at, [.., flags, key]) = self.head(index)?;
        if flags == IN_OVERFLOW { self.u64(at + usize::from(key)) } else { None }
    }

    /// The index of the first key from `low` on that is not below the one that is looked for, and whether it is that key. It is looked for
    /// from `near` on, in steps that double: what is asked for mostly stands behind what was asked for before.
    #[must_use]
    #[inline]
    pub fn search(self, sought: &Sought<'_>, low: usize, near: Option<usize>) -> Option<(usize, bool)> {
        let offsets = self.offsets()?;
        let at = first_from(offsets.len(), low, near, |index| Some(self.compared(offsets, index, sought)?.is_lt()))?;
        Some((at, at < offsets.len() && self.compared(offsets, at, sought)?.is_eq()))
    }

    /// The index of the last key of a branch that is not above the one that is looked for, the first of all where there is none.
    #[must_use]
    #[inline]
    pub fn way_to(self, sought: &Sought<'_>, near: Option<usize>) -> Option<usize> {
        let offsets = self.offsets()?;
        // The first key of a branch is never compared, and LMDB leaves what it likes there.
        let behind = first_from(offsets.len(), 1, near, |index| Some(self.compared(offsets, index, sought)?.is_le()))?;
        Some(behind - 1)
    }

    #[inline]
    fn offsets(self) -> Option<&'m [[u8; 2]]> {
        Some(self.0.get(HEADER..usize::from(self.u16(12)?).max(HEADER))?.as_chunks::<2>().0)
    }

    /// How the key of an entry compares with the one that is looked for. Where both have one length, two numbers are compared.
    #[inline]
    fn compared(self, offsets: &[[u8; 2]], index: usize, sought: &Sought<'_>) -> Option<Ordering> {
        let (node, more) = (usize::from(u16::from_ne_bytes(*offsets.get(index)?)), usize::from(sought.more));
        if let (Some(entry), Some(number)) = (self.0.get(node..node + NODE + 8 + more), sought.number)
            && u16::from_ne_bytes([entry[6], entry[7]]) == u16::from(sought.more) + 8
            && let (Some(first), Some(last)) = (entry[NODE..].first_chunk(), entry.last_chunk())
        {
            return Some(number_of(*first, *last).cmp(&number));
        }
        Some(self.key(index)?.cmp(sought.key))
    }

    /// Whether it is page `number`, of that kind, its entries lie side by side in it, and its keys ascend; why not.
    pub fn check(self, number: u64, kind: Kind, order: Order) -> Result<(), &'static str> {
        let flags = if kind == Kind::Branch { BRANCH } else { LEAF };
        if self.u64(0) != Some(number) {
            return Err("its header has the number of another page");
        }
        if self.u16(10) != Some(flags) {
            return Err("it is not of the kind that its parent expects");
        }
        let (lower, upper) = self.bounds().ok_or("it is cut off")?;
        let (lower, upper) = (usize::from(lower), usize::from(upper));
        if lower < HEADER || lower % 2 + upper % 2 != 0 || lower > upper || upper > self.0.len() {
            return Err("its bounds contradict each other");
        }
        if kind == Kind::Branch && self.entries() < 2 && order == Order::Bytes {
            return Err("it has fewer than two children");
        }
        self.check_entries(upper, kind, order)
    }

    fn check_entries(self, upper: usize, kind: Kind, order: Order) -> Result<(), &'static str> {
        let (mut used, mut previous) = (0, None);
        for index in 0..self.entries() {
            let node = self.node(index).filter(|node| *node >= upper && node % 2 == 0).ok_or("an entry begins outside of it")?;
            let end = self.end(index, node, kind).filter(|end| *end <= self.0.len()).ok_or("an entry passes its end")?;
            used += (end - node).next_multiple_of(2);
            let key = self.key(index).ok_or("a key passes its end")?;
            // The first key of a branch is never compared, and LMDB leaves what it likes there.
            if !(kind == Kind::Branch && index == 0) {
                if previous.is_some_and(|previous| !ascend(previous, key, order)) {
                    return Err("its keys do not ascend");
                }
                previous = Some(key);
            }
        }
        if used == self.0.len() - upper { Ok(()) } else { Err("its entries do not fill it") }
    }

    fn end(self, index: usize, node: usize, kind: Kind) -> Option<usize> {
        let body = node + NODE + usize::from(self.u16(node + 6)?);
        match kind {
            Kind::Branch => Some(body),
            Kind::Leaf => match self.value(index)? {
                Value::Here(value) => Some(body + value.len()),
                Value::Overflow { .. } => Some(body + 8),
            },
        }
    }

    /// How many overflow pages a value of `size` bytes takes.
    #[must_use]
    #[inline]
    pub fn pages_of(size: usize, page_size: usize) -> u64 {
        ((HEADER - 1 + size) as u64 >> page_size.trailing_zeros()) + 1 // a page has a power of two of bytes
    }

    /// How many overflow pages there are from `number` on, which this is, for a value that needs so many. LMDB leaves a value the pages that
    /// it has where a shorter one takes its place within a transaction. Only values that encryption makes longer than a page are ever
    /// followed by a shorter one, and those take two pages: any other count is damage, and LMDB would free as many.
    #[inline]
    pub fn overflow_pages(self, number: u64, needed: u64) -> Result<u64, &'static str> {
        let Some(header) = self.0.first_chunk::<HEADER>() else { return Err("it is cut off") };
        if self.u64(0) != Some(number) || self.u16(10) != Some(OVERFLOW) {
            return Err("it is not the overflow page that its entry asks for");
        }
        let count = u32::from_ne_bytes([header[12], header[13], header[14], header[15]]);
        match u64::from(count) {
            count if count == needed || (needed, count) == (1, 2) => Ok(count),
            _ => Err("it has another number of pages than its value needs"),
        }
    }
}

/// The number that two halves are, of which the lower stands first where the machine puts the lower byte first.
#[inline]
fn low_high(first: u16, second: u16) -> u64 {
    let (first, second) = (u64::from(first), u64::from(second));
    if cfg!(target_endian = "little") { first | second << 16 } else { second | first << 16 }
}

/// The first index from `low` on that is not below, of `count`. It is looked for from `near` on, in steps that double.
#[inline]
fn first_from(count: usize, mut low: usize, near: Option<usize>, is_below: impl Fn(usize) -> Option<bool>) -> Option<usize> {
    let mut high = count;
    if let Some(near) = near {
        let (mut at, mut step) = (near.max(low), 1);
        while at < high {
            if !is_below(at)? {
                high = at;
                break;
            }
            low = at + 1;
            at += step;
            step *= 2;
        }
    }
    while low < high {
        let middle = usize::midpoint(low, high);
        if is_below(middle)? { low = middle + 1 } else { high = middle }
    }
    Some(low)
}

/// A key that is looked for. Most keys have eight to sixteen bytes, and those of one table have one length: then their first eight bytes and
/// their last eight tell their order, as one number.
#[derive(Debug, Clone, Copy)]
pub struct Sought<'k> {
    key: &'k [u8],
    /// Its number, where it has one, and the bytes that it has beyond eight then.
    number: Option<u128>,
    more: u8,
}

impl<'k> Sought<'k> {
    /// A key to look for.
    #[must_use]
    #[inline]
    pub fn new(key: &'k [u8]) -> Self {
        match (key.first_chunk(), key.last_chunk()) {
            (Some(first), Some(last)) if key.len() <= 16 => {
                Self { key, number: Some(number_of(*first, *last)), more: (key.len() - 8) as u8 }
            }
            _ => Self { key, number: None, more: 0 },
        }
    }
}

/// The number by which keys of one length of up to sixteen bytes are in order: their first eight bytes and their last eight.
#[inline]
fn number_of(first: [u8; 8], last: [u8; 8]) -> u128 {
    u128::from(u64::from_be_bytes(first)) << 64 | u128::from(u64::from_be_bytes(last))
}

fn ascend(previous: &[u8], key: &[u8], order: Order) -> bool {
    let number = |key: &[u8]| key.try_into().map(u64::from_ne_bytes).ok();
    match order {
        Order::Bytes => previous < key,
        Order::Numbers => number(previous).zip(number(key)).is_some_and(|(previous, key)| previous < key),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::*;

    /// A leaf of these keys, each with an empty value.
    fn leaf(keys: &[Vec<u8>]) -> Vec<u8> {
        let mut page = vec![0; 4096];
        let mut at = page.len();
        for (index, key) in keys.iter().enumerate() {
            at -= (NODE + key.len()).next_multiple_of(2);
            page[at + 6..at + 8].copy_from_slice(&(key.len() as u16).to_ne_bytes());
            page[at + NODE..at + NODE + key.len()].copy_from_slice(key);
            page[HEADER + 2 * index..HEADER + 2 * index + 2].copy_from_slice(&(at as u16).to_ne_bytes());
        }
        let bounds = [LEAF, (HEADER + 2 * keys.len()) as u16, at as u16];
        page[0] = 7;
        bounds.iter().enumerate().for_each(|(field, value)| page[10 + 2 * field..12 + 2 * field].copy_from_slice(&value.to_ne_bytes()));
        page
    }

    #[test]
    fn a_value_has_the_pages_that_it_needs_or_one_more_for_a_second() {
        let overflow = |count: u32| {
            let mut page = vec![0; 4096];
            page[..8].copy_from_slice(&7_u64.to_ne_bytes());
            page[10..12].copy_from_slice(&OVERFLOW.to_ne_bytes());
            page[12..16].copy_from_slice(&count.to_ne_bytes());
            page
        };
        for (needed, taken) in [(1, vec![1, 2]), (2, vec![2]), (3, vec![3]), (513, vec![513])] {
            let is_taken = |count: &u32| Page::new(&overflow(*count)).overflow_pages(7, needed).is_ok();
            assert_eq!((0..2_000).filter(is_taken).collect::<Vec<_>>(), taken, "{needed}");
        }
        // A bit that flips makes neither of the other.
        assert_eq!((1_u64 ^ 2).count_ones(), 2);
    }

    #[test]
    fn keys_compare_as_byte_strings_do() {
        let mut keys: Vec<Vec<u8>> = (0..20).map(|length| vec![7; length]).collect();
        for at in 0..20 {
            keys.extend((0..20).filter(|length| at < *length).flat_map(|length| {
                [0, 6, 8, 255].map(|byte| {
                    let mut key = vec![7; length];
                    key[at] = byte;
                    key
                })
            }));
        }
        let step = if cfg!(miri) { 29 } else { 1 }; // an interpreter takes hours for all of them
        for a in keys.iter().step_by(step) {
            let bytes = leaf(std::slice::from_ref(a));
            for b in keys.iter().step_by(step) {
                let found = Page::new(&bytes).search(&Sought::new(b), 0, None);
                assert_eq!(found, Some((usize::from(a < b), a == b)), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn a_search_finds_the_same_from_wherever_it_begins() {
        let parts: [&[u8]; 7] = [b"", b"\0", b"\0\0\0\x01\x10", b"\xff", b"\0\0\0\x01\x10\0\0\0", b"abcdefgh", b"zz\0"];
        let mut keys: Vec<Vec<u8>> = parts.iter().flat_map(|a| parts.iter().map(move |b| [*a, b"k", *b].concat())).collect();
        keys.sort_unstable();
        keys.dedup();
        let asked: Vec<Vec<u8>> =
            keys.iter().flat_map(|key| [key.clone(), [key, &b"\0"[..]].concat(), key[..key.len() - 1].to_vec()]).collect();
        for stored in [&keys[..0], &keys[..1], &keys[..2], &keys] {
            let bytes = leaf(stored);
            let page = Page::new(&bytes);
            page.check(7, Kind::Leaf, Order::Bytes).unwrap();
            for key in asked.iter().step_by(if cfg!(miri) { 13 } else { 1 }) {
                let expected = stored.binary_search(key).map_or_else(|at| (at, false), |at| (at, true));
                for near in (0..stored.len() + 2).map(Some).chain([None]) {
                    assert_eq!(page.search(&Sought::new(key), 0, near), Some(expected), "{key:?} near {near:?}");
                }
                let last = stored.iter().skip(1).rposition(|stored| stored <= key).map_or(0, |at| at + 1);
                for near in (0..stored.len() + 2).map(Some).chain([None]) {
                    assert_eq!(page.way_to(&Sought::new(key), near), Some(last), "{key:?} near {near:?}");
                }
                assert_eq!(page.search(&Sought::new(key), stored.len().min(1), Some(0)).unwrap().0, expected.0.max(stored.len().min(1)));
            }
        }
    }
}
