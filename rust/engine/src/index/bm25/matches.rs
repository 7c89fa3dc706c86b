//! What the tail says of the terms of a query: its documents that have them, and how frequencies change.

use super::tail::{Kind, Record};

/// A document that the tail adds, and which of the query's terms it has.
pub(super) struct Newer {
    pub number: u32,
    pub length: u32,
    pub counts: Vec<(usize, u8)>,
}

/// What the tail says of the terms of a query.
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
        let mut matches = Self { more: vec![0; hashes.len()], documents: Vec::new(), removed: Vec::new() };
        // One bit for the low bits of each hash: most of the tail's hashes need no search.
        let sieve = hashes.iter().fold(0u64, |sieve, hash| sieve | 1 << (hash % 64));
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

    fn add(&mut self, record: &Record<'_>, hashes: &[u64], sieve: u64) {
        for (place, hash) in record.hashes().enumerate().filter(|(_, hash)| passes(sieve, *hash)) {
            let count = record.count(place);
            for at in places(hashes, hash).filter(|_| count > 0) {
                self.more[at] += 1;
                if let Some(newest) = self.documents.last_mut() {
                    newest.counts.push((at, count));
                }
            }
        }
    }

    fn remove(&mut self, record: &Record<'_>, hashes: &[u64], sieve: u64) {
        for hash in record.hashes().filter(|hash| passes(sieve, *hash)) {
            for at in places(hashes, hash) {
                self.more[at] -= 1;
            }
        }
        if record.kind == Kind::Remove {
            self.documents.retain(|document| document.number != record.number);
            self.removed.push(record.number);
        }
    }
}

/// Whether `hash` may be among those that `sieve` was made of.
#[inline]
fn passes(sieve: u64, hash: u64) -> bool {
    sieve >> (hash % 64) & 1 == 1
}

/// Where `hash` stands in `hashes`: nowhere, at one place, or at several neighbouring ones.
fn places(hashes: &[u64], hash: u64) -> std::ops::Range<usize> {
    let start = hashes.partition_point(|&other| other < hash);
    start..start + hashes[start..].partition_point(|&other| other == hash)
}
