//! Matches in the tail: its documents that have terms of a query, and its changes to their frequencies.

use super::tail::{Kind, Record};

/// A document that the tail adds, and which of the query's terms it has.
#[derive(Debug, Clone)]
pub(super) struct Newer {
    pub number: u32,
    pub length: u32,
    pub counts: Vec<(usize, u8)>,
}

/// The matches of a query's terms in the tail.
#[derive(Debug, Clone)]
pub(super) struct TailMatches {
    /// For each term, how many more documents have it than the blocks say.
    pub more: Vec<i64>,
    pub documents: Vec<Newer>,
    /// Documents whose postings in the blocks are dead, sorted.
    pub removed: Vec<u32>,
}

impl TailMatches {
    /// `hashes` are sorted.
    pub fn new(tail: &[Record<'_>], hashes: &[u64]) -> Self {
        if hashes.len() <= FEW { Self::by::<{ 1 << 12 }>(tail, hashes) } else { Self::by::<{ 1 << 16 }>(tail, hashes) }
    }

    /// Looks for the hashes in the tail by a sieve of `BYTES` bytes.
    fn by<const BYTES: usize>(tail: &[Record<'_>], hashes: &[u64]) -> Self {
        let mut matches = Self { more: vec![0; hashes.len()], documents: Vec::with_capacity(tail.len()), removed: Vec::new() };
        let sieve = &Sieve::<BYTES>::of(hashes);
        for record in tail {
            match record.kind {
                Kind::Add | Kind::Document => {
                    matches.documents.push(Newer { number: record.number, length: record.length, counts: Vec::new() });
                    matches.add(record, hashes, sieve);
                }
                Kind::AddMore => matches.add(record, hashes, sieve),
                Kind::Remove | Kind::RemoveMore => matches.remove(record, hashes, sieve),
                Kind::Update => {}
            }
        }
        matches.removed.sort_unstable();
        matches
    }

    fn add<const BYTES: usize>(&mut self, record: &Record<'_>, hashes: &[u64], sieve: &Sieve<BYTES>) {
        sieve.each_passing(record, |place, hash| {
            let count = record.count(place);
            for at in places(hashes, hash).filter(|_| count > 0) {
                self.more[at] += 1;
                if let Some(newest) = self.documents.last_mut() {
                    newest.counts.push((at, count));
                }
            }
        });
    }

    fn remove<const BYTES: usize>(&mut self, record: &Record<'_>, hashes: &[u64], sieve: &Sieve<BYTES>) {
        sieve.each_passing(record, |_, hash| {
            for at in places(hashes, hash) {
                self.more[at] -= 1;
            }
        });
        if record.kind == Kind::Remove {
            self.documents.retain(|document| document.number != record.number);
            self.removed.push(record.number);
        }
    }
}

/// The documents that a tail adds with each of some terms, which are sorted and stand once, and those whose postings in the blocks are dead,
/// sorted: what [`TailMatches`] tells of them, without their counts.
pub(super) fn having(tail: &[Record<'_>], hashes: &[u64]) -> (Vec<Vec<u32>>, Vec<u32>) {
    let (mut having, mut removed) = (vec![Vec::<u32>::new(); hashes.len()], Vec::new());
    let sieve = &Sieve::<{ 1 << 12 }>::of(hashes);
    for record in tail {
        match record.kind {
            Kind::Add | Kind::Document | Kind::AddMore => sieve.each_passing(record, |place, hash| {
                if let Ok(at) = hashes.binary_search(&hash)
                    && record.count(place) > 0
                {
                    having[at].push(record.number);
                }
            }),
            Kind::Remove => {
                for numbers in &mut having {
                    numbers.retain(|number| *number != record.number);
                }
                removed.push(record.number);
            }
            Kind::RemoveMore | Kind::Update => {}
        }
    }
    removed.sort_unstable();
    (having, removed)
}

/// How many more documents have one term than the blocks say.
pub(super) fn more_of(tail: &[Record<'_>], hash: u64) -> i64 {
    let mut more = 0;
    for record in tail.iter().filter(|record| record.kind != Kind::Update) {
        for (place, _) in record.hashes().enumerate().filter(|(_, other)| *other == hash) {
            more += if record.kind.adds() { i64::from(record.count(place) > 0) } else { -1 };
        }
    }
    more
}

/// The places of hashes in the order of these, of equal ones the first before the others.
pub(super) fn in_order(hashes: &[u64]) -> Vec<usize> {
    // Hash and place in one number, which is put in order faster than the two. Hashes that differ in their last bits alone are rare.
    let numbered = hashes.iter().zip(0_u64..).map(|(hash, place)| hash & !MOST_NUMBERED | place & MOST_NUMBERED);
    let mut numbered: Vec<u64> = numbered.collect();
    numbered.sort_unstable();
    let mut places: Vec<usize> = numbered.into_iter().map(|one| (one & MOST_NUMBERED) as usize).collect();
    if hashes.len() as u64 > MOST_NUMBERED || !places.is_sorted_by_key(|place| hashes[*place]) {
        places = (0..hashes.len()).collect();
        places.sort_by_key(|place| hashes[*place]);
    }
    places
}

/// The greatest place that stands in the last bits of a hash.
const MOST_NUMBERED: u64 = (1 << 14) - 1;

/// Up to so many hashes a sieve is small.
const FEW: usize = 64;

/// Hashes of the tail that are tried together.
const TOGETHER: usize = 8;

/// One bit for each hash of a query: the low bits of the hash say in which byte, the next three in which bit. Of the tail's other hashes
/// one in hundreds needs a search.
struct Sieve<const BYTES: usize>(Vec<u8>);

impl<const BYTES: usize> Sieve<BYTES> {
    fn of(hashes: &[u64]) -> Self {
        let mut sieve = vec![0; BYTES];
        for hash in hashes {
            sieve[*hash as usize % BYTES] |= Self::bit(*hash);
        }
        Self(sieve)
    }

    #[inline]
    fn bit(hash: u64) -> u8 {
        1 << (hash / BYTES as u64 % 8)
    }

    /// Calls `visit` with each hash of a record that may be among those that it was made of, and its place there. Of several at once it is
    /// tried whether any byte is not 0, so that nothing waits for a branch.
    #[inline]
    fn each_passing(&self, record: &Record<'_>, mut visit: impl FnMut(usize, u64)) {
        let Some(sieve) = self.0.first_chunk::<BYTES>() else { return };
        let byte = |hash: &[u8; 8]| sieve[u64::from_le_bytes(*hash) as usize % BYTES];
        let any = |hashes: &[[u8; 8]]| hashes.iter().fold(0, |any, hash| any | byte(hash)) != 0;
        let mut each = |first: usize, hashes: &[[u8; 8]]| {
            for (place, hash) in (first..).zip(hashes) {
                let (byte, hash) = (byte(hash), u64::from_le_bytes(*hash));
                if byte != 0 && byte & Self::bit(hash) != 0 {
                    visit(place, hash);
                }
            }
        };
        let (groups, rest) = record.hash_bytes().as_chunks::<TOGETHER>();
        for (at, group) in groups.iter().enumerate().filter(|(_, group)| any(*group)) {
            each(at * TOGETHER, group);
        }
        if any(rest) {
            each(groups.len() * TOGETHER, rest);
        }
    }
}

/// Where `hash` stands in `hashes`: nowhere, at one place, or at several neighbouring ones.
fn places(hashes: &[u64], hash: u64) -> std::ops::Range<usize> {
    let start = hashes.partition_point(|&other| other < hash);
    start..start + hashes[start..].iter().take_while(|other| **other == hash).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_put_in_order_whatever_they_are() {
        for (count, step) in
            [(0, 1), (1, 1), (900, 0x9E37_79B9_7F4A_7C15), (900, 5), (900, 0), (1 << 15, 0x9E37_79B9_7F4A_7C15), (70, 1 << 13)]
        {
            let hashes: Vec<u64> = (0..count).map(|at: u64| at.wrapping_mul(step) % 1_000_003_u64.wrapping_mul(step | 1).max(7)).collect();
            let mut expected: Vec<usize> = (0..hashes.len()).collect();
            expected.sort_by_key(|place| hashes[*place]);
            assert_eq!(in_order(&hashes), expected, "{count} {step}");
        }
    }
}
