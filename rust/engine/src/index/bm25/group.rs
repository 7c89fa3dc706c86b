//! A group: neighbouring blocks taken apart, changed, and put together again as few enough pages.
//!
//! Lists that nothing changes are copied as bytes; of a changed list only the touched runs are decoded.

use super::block::{self, Block, Unit, body_bytes};
use super::layout::{self, BlockKeys, Layout, NO_NUMBER, PostingKey, malformed};
use super::lengths::Lengths;
use super::list::{Posting, Run, SHORT, decode_short, encode_run, encode_short};
use super::merge::{Change, Write};
use crate::Result;

/// A block that is emptier than this part of a page takes in its right neighbour.
const SMALL: usize = 4;

pub(super) struct Group {
    layout: Layout,
    keys: BlockKeys,
    /// The places of the blocks that were taken apart.
    places: Vec<PostingKey>,
    units: Vec<Unit>,
    /// Holds the units' bytes.
    arena: Vec<u8>,
    run: Run,
    /// Postings of a unit before its changes.
    before: Vec<Posting>,
    stored: Vec<Unit>,
    /// Stored postings that changes removed or replaced.
    pub replaced: u64,
}

impl Group {
    pub fn new(layout: Layout, keys: BlockKeys) -> Self {
        let arena = Vec::with_capacity(2 * layout.page_bytes);
        Self {
            layout,
            keys,
            places: Vec::new(),
            units: Vec::new(),
            arena,
            run: Run::new(),
            before: Vec::new(),
            stored: Vec::new(),
            replaced: 0,
        }
    }

    /// Makes the group ready for other blocks.
    pub fn clear(&mut self) {
        self.places.clear();
        self.units.clear();
        self.arena.clear();
    }

    /// Whether the next block should be taken in.
    pub fn is_small(&self) -> bool {
        body_bytes(&self.units) < self.layout.body_bytes() / SMALL
    }

    /// Takes in the next block, or the first of an index, with the changes that belong to it.
    pub fn add(&mut self, place: PostingKey, block: Option<Block<'_>>, changes: &[Change], lengths: &mut impl Lengths) -> Result<()> {
        let mut stored = std::mem::take(&mut self.stored);
        stored.clear();
        if let Some(block) = block {
            self.places.push(place);
            block.units(&mut self.arena, &mut stored)?;
        } else if self.places.is_empty() {
            self.places.push(place);
        }
        let seam = self.units.len();
        self.merge(&stored, changes, lengths)?;
        self.stored = stored;
        let joined = self.units[..seam].last().zip(self.units[seam..].first()).is_some_and(|(a, b)| a.term == b.term);
        if joined {
            self.tidy_around(seam, lengths)?;
        }
        Ok(())
    }

    /// Takes in what blocks of several runs hold from `from` up to `to`. The runs come in the order of their documents, so that
    /// the lists of a term are one behind the other.
    pub fn concatenate<'p>(
        &mut self,
        from: PostingKey,
        to: Option<PostingKey>,
        blocks: impl Iterator<Item = Block<'p>>,
        lengths: &mut impl Lengths,
    ) -> Result<()> {
        self.places.push(from);
        let (mut stored, mut kept) = (Vec::new(), Vec::new());
        for block in blocks {
            block.units(&mut self.arena, &mut stored)?;
        }
        for unit in stored {
            if unit.term >= from.term && self.is_before(&unit, to)? {
                kept.push(unit);
            }
        }
        // Stable, so that units of one term stay in order.
        kept.sort_by_key(|unit| unit.term);
        for units in kept.chunk_by(|a, b| a.term == b.term) {
            let start = self.units.len();
            if units[0].term == from.term && from.number > 0 {
                self.rest_of(units, from.number, lengths)?;
                continue;
            }
            self.units.extend_from_slice(units);
            if units.len() > 1 {
                self.tidy(start, self.units.len(), lengths)?;
            }
        }
        Ok(())
    }

    fn is_before(&mut self, unit: &Unit, to: Option<PostingKey>) -> Result<bool> {
        match (to, unit.head) {
            (Some(to), _) if unit.term != to.term => Ok(unit.term < to.term),
            (Some(to), Some(head)) => Ok(head.first < to.number),
            (Some(to), None) => {
                let mut postings = Vec::new();
                self.decode(unit, &mut postings)?;
                Ok(postings.first().is_some_and(|posting| posting.number < to.number))
            }
            (None, _) => Ok(true),
        }
    }

    /// Takes in the postings of one term from document `number` on: a unit may have come to reach across it.
    fn rest_of(&mut self, units: &[Unit], number: u32, lengths: &mut impl Lengths) -> Result<()> {
        let mut postings = Vec::new();
        for unit in units {
            self.decode(unit, &mut postings)?;
        }
        postings.retain(|posting| posting.number >= number);
        self.encode(units[0].term, &postings, true, true, lengths)
    }

    fn merge(&mut self, mut stored: &[Unit], mut changes: &[Change], lengths: &mut impl Lengths) -> Result<()> {
        while let Some(change) = changes.first() {
            let before = stored.partition_point(|unit| unit.term < change.term);
            self.units.extend_from_slice(&stored[..before]);
            let same = stored[before..].partition_point(|unit| unit.term == change.term);
            let changed = changes.partition_point(|other| other.term == change.term);
            self.merge_term(&stored[before..before + same], &changes[..changed], lengths)?;
            stored = &stored[before + same..];
            changes = &changes[changed..];
        }
        self.units.extend_from_slice(stored);
        Ok(())
    }

    fn merge_term(&mut self, stored: &[Unit], changes: &[Change], lengths: &mut impl Lengths) -> Result<()> {
        let start = self.units.len();
        let term = changes[0].term;
        let mut rest = changes;
        let mut postings = Vec::new();
        for (i, unit) in stored.iter().enumerate() {
            let upper = stored.get(i + 1).and_then(|unit| unit.head).map_or(NO_NUMBER, |head| head.first);
            let (mine, others) = rest.split_at(rest.partition_point(|change| change.number < upper));
            rest = others;
            if mine.is_empty() {
                self.units.push(*unit);
                continue;
            }
            let mut before = std::mem::take(&mut self.before);
            before.clear();
            self.decode(unit, &mut before)?;
            postings.clear();
            self.replaced += merge_postings(&before, mine, &mut postings);
            self.before = before;
            self.encode(term, &postings, stored.len() == 1, i + 1 == stored.len(), lengths)?;
        }
        if stored.is_empty() {
            merge_postings(&[], changes, &mut postings);
            self.encode(term, &postings, true, true, lengths)?;
        }
        self.tidy(start, self.units.len(), lengths)
    }

    fn decode(&mut self, unit: &Unit, out: &mut Vec<Posting>) -> Result<()> {
        let bytes = unit.bytes(&self.arena);
        let decoded = match unit.head {
            None => decode_short(bytes, |posting| out.push(posting)),
            Some(head) => head.decode(bytes, &mut self.run).map(|()| out.extend(self.run.postings())),
        };
        decoded.ok_or_else(|| self.malformed())
    }

    /// Appends units of `term`: a short list if they are `whole`, else runs; even ones, but for the last of a list, which
    /// is filled up first because new documents come behind it.
    fn encode(&mut self, term: u64, postings: &[Posting], whole: bool, last: bool, lengths: &mut impl Lengths) -> Result<()> {
        if !postings.is_sorted_by(|a, b| a.number < b.number) {
            return Err(self.malformed());
        }
        let n = postings.len();
        if n == 0 {
            return Ok(());
        }
        let start = self.arena.len() as u32;
        if whole && n < SHORT {
            encode_short(postings, &mut self.arena);
            self.units.push(Unit { term, start, end: self.arena.len() as u32, head: None });
            return Ok(());
        }
        let full = self.layout.run_postings;
        let size = if last { full } else { n.div_ceil(n.div_ceil(full)) };
        for run in postings.chunks(size) {
            let start = self.arena.len() as u32;
            let head = encode_run(run, min_length(run, lengths)?, &mut self.arena);
            self.units.push(Unit { term, start, end: self.arena.len() as u32, head: Some(head) });
        }
        Ok(())
    }

    /// Tidies the term whose units from two blocks meet at `seam`.
    fn tidy_around(&mut self, seam: usize, lengths: &mut impl Lengths) -> Result<()> {
        let term = self.units[seam].term;
        let start = self.units.partition_point(|unit| unit.term < term);
        let end = self.units.partition_point(|unit| unit.term <= term);
        self.tidy(start, end, lengths)
    }

    /// Joins small units of the one term that `start..end` holds, and makes a short list of a run that became short.
    fn tidy(&mut self, start: usize, end: usize, lengths: &mut impl Lengths) -> Result<()> {
        let tidy = match &self.units[start..end] {
            [] => true,
            [unit] => !self.should_be_short(unit),
            many => many.windows(2).all(|pair| !self.should_join(&pair[0], &pair[1])),
        };
        if tidy {
            return Ok(());
        }
        let after = self.units.split_off(end);
        let units = self.units.split_off(start);
        let mut from = 0;
        while from < units.len() {
            let mut to = from + 1;
            while to < units.len() && self.should_join(&units[to - 1], &units[to]) {
                to += 1;
            }
            self.join(&units[from..to], to - from == units.len(), to == units.len(), lengths)?;
            from = to;
        }
        self.units.extend(after);
        Ok(())
    }

    fn join(&mut self, units: &[Unit], whole: bool, last: bool, lengths: &mut impl Lengths) -> Result<()> {
        if let [unit] = units
            && !(whole && self.should_be_short(unit))
        {
            self.units.push(*unit);
            return Ok(());
        }
        let mut postings = Vec::new();
        for unit in units {
            self.decode(unit, &mut postings)?;
        }
        self.encode(units[0].term, &postings, whole, last, lengths)
    }

    #[expect(clippy::unused_self, reason = "stands beside should_join")]
    fn should_be_short(&self, unit: &Unit) -> bool {
        unit.head.is_some_and(|head| (head.postings as usize) < SHORT)
    }

    fn should_join(&self, a: &Unit, b: &Unit) -> bool {
        let (Some(a), Some(b)) = (a.head, b.head) else { return true };
        (a.postings as usize + b.postings as usize) * 2 <= self.layout.run_postings
    }

    fn malformed(&self) -> crate::Error {
        malformed(self.keys.at(self.places[0]).as_slice())
    }

    /// Puts the pages of the group in `writes`, and deletes the blocks that are not written again.
    pub fn write(&self, writes: &mut Vec<Write>) {
        let mut unused = self.places.clone();
        let mut start = 0;
        for end in self.cuts() {
            let place = if start == 0 { self.first_place() } else { self.place_of(start) };
            unused.retain(|old| *old != place);
            let key = self.keys.at(place);
            let page = layout::value(&key, self.layout.body_bytes(), |out| block::write(&self.units[start..end], &self.arena, out));
            writes.push(Write::Put(key, page));
            start = end;
        }
        writes.extend(unused.into_iter().map(|place| Write::Delete(self.keys.at(place))));
    }

    /// The lower bound of the first block. Where the term that it was named after is gone, it is named after the one that comes first now:
    /// the hash of a forgotten word stays in no key.
    fn first_place(&self) -> PostingKey {
        let place = self.places[0];
        let first = self.units.first().filter(|unit| place.term != 0 && unit.term != place.term);
        first.map_or(place, |unit| PostingKey { term: unit.term, number: 0 })
    }

    /// The lower bound of a block that begins with the unit at `at`, not the first.
    fn place_of(&self, at: usize) -> PostingKey {
        let (before, unit) = (&self.units[at - 1], &self.units[at]);
        let number = if before.term == unit.term { unit.head.map_or(0, |head| head.first) } else { 0 };
        PostingKey { term: unit.term, number }
    }

    /// Where pages end: at even sizes, as terms are hashes and grow everywhere; but the blocks of one long list are
    /// filled, as it grows at its end, and so are all in a dense layout.
    fn cuts(&self) -> Vec<usize> {
        let (capacity, total) = (self.layout.body_bytes(), body_bytes(&self.units));
        match (self.units.first(), self.units.last()) {
            (Some(_), Some(_)) if total <= capacity => vec![self.units.len()],
            (Some(first), Some(last)) if self.layout.dense || first.term == last.term => self.cuts_at(capacity, capacity),
            (Some(_), Some(_)) => self.cuts_at(capacity, even_size(capacity, total)),
            _ => Vec::new(),
        }
    }

    fn cuts_at(&self, capacity: usize, target: usize) -> Vec<usize> {
        let mut cuts = Vec::new();
        let mut size = block::HEAD_BYTES;
        for (at, unit) in self.units.iter().enumerate() {
            let before = at.checked_sub(1).filter(|_| size > block::HEAD_BYTES).map(|before| &self.units[before]);
            let cost = unit.cost(before);
            if size + cost > capacity || size >= target {
                cuts.push(at);
                size = block::HEAD_BYTES + unit.cost(None);
            } else {
                size += cost;
            }
        }
        cuts.push(self.units.len());
        cuts
    }
}

/// Two halves, or as many pages as leave 15 % for what comes next.
fn even_size(capacity: usize, total: usize) -> usize {
    let pages = if total <= 2 * capacity { 2 } else { total.div_ceil(capacity * 85 / 100) };
    total.div_ceil(pages)
}

/// Returns how many of `old` are not in `out` as they were.
fn merge_postings(mut old: &[Posting], changes: &[Change], out: &mut Vec<Posting>) -> u64 {
    let mut replaced = 0;
    for change in changes {
        let (before, rest) = old.split_at(old.partition_point(|posting| posting.number < change.number));
        out.extend_from_slice(before);
        old = match rest.split_first() {
            Some((first, rest)) if first.number == change.number => {
                replaced += 1;
                rest
            }
            _ => rest,
        };
        out.extend(change.count.map(|count| Posting { number: change.number, count }));
    }
    out.extend_from_slice(old);
    replaced
}

fn min_length(run: &[Posting], lengths: &mut impl Lengths) -> Result<u32> {
    run.iter().try_fold(u32::MAX, |min, posting| Ok(min.min(lengths.length(posting.number)?)))
}
