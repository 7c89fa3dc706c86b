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
        let mut matches = Self { more: vec![0; hashes.len()], documents: Vec::new(), removed: Vec::new() };
        let sieve = &Sieve::of(hashes);
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

    fn add(&mut self, record: &Record<'_>, hashes: &[u64], sieve: &Sieve) {
        for (place, hash) in record.hashes().enumerate() {
            if !sieve.passes(hash) {
                continue;
            }
            let count = record.count(place);
            for at in places(hashes, hash).filter(|_| count > 0) {
                self.more[at] += 1;
                if let Some(newest) = self.documents.last_mut() {
                    newest.counts.push((at, count));
                }
            }
        }
    }

    fn remove(&mut self, record: &Record<'_>, hashes: &[u64], sieve: &Sieve) {
        for hash in record.hashes().filter(|hash| sieve.passes(*hash)) {
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

/// One bit for the low bits of each hash of a query: of the tail's other hashes one in a hundred needs a search.
struct Sieve(Vec<u64>);

impl Sieve {
    const WORDS: usize = 32;

    fn of(hashes: &[u64]) -> Self {
        let mut sieve = Self(vec![0; hashes.len().next_power_of_two().max(Self::WORDS)]);
        for hash in hashes {
            let word = sieve.word(*hash);
            sieve.0[word] |= 1 << (hash % 64);
        }
        sieve
    }

    #[inline]
    fn word(&self, hash: u64) -> usize {
        (hash >> 6) as usize & (self.0.len() - 1)
    }

    /// Whether `hash` may be among those that it was made of.
    #[inline]
    fn passes(&self, hash: u64) -> bool {
        self.0[self.word(hash)] >> (hash % 64) & 1 == 1
    }
}

/// Where `hash` stands in `hashes`: nowhere, at one place, or at several neighbouring ones.
fn places(hashes: &[u64], hash: u64) -> std::ops::Range<usize> {
    let start = hashes.partition_point(|&other| other < hash);
    start..start + hashes[start..].partition_point(|&other| other == hash)
}
