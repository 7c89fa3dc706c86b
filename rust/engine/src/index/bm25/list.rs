//! How a term's postings are coded: a short list as bytes, a longer one as runs that can be skipped.
//!
//! A *short list* is, for each posting, a variable-length number `gap << 1 | counted`, and a count byte where `counted` is set
//! (elsewhere the count is 1). The first gap is the first document's number, each other one the difference to the
//! number before, less 1, so that numbers ascend whatever the bytes are.
//!
//! A *run* is up to 128 postings: their gaps less 1, each in `gap_bits` bits, then their counts. Its [`RunHead`] stands apart,
//! with the greatest count and a lower bound of the lengths, so that a query can pass over a run without decoding it.

use super::bits::{LANES, pack, packed_bytes, unpack, width};

/// The most postings of a run.
pub(super) const RUN: usize = 128;

/// A list of fewer postings than this is short.
pub(super) const SHORT: usize = 24;

/// A document that has a term. A count of 0 is a key: it can be looked up and adds nothing to a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Posting {
    pub number: u32,
    pub count: u8,
}

/// Appends a short list.
pub(super) fn encode_short(postings: &[Posting], out: &mut Vec<u8>) {
    let mut next = 0u32;
    for posting in postings {
        let counted = posting.count != 1;
        push_varint(((posting.number - next) as u64) << 1 | counted as u64, out);
        if counted {
            out.push(posting.count);
        }
        next = posting.number.wrapping_add(1);
    }
}

/// The postings of a short list, each to `visit`; `None` if the bytes are not a list.
#[inline]
pub(super) fn decode_short(mut bytes: &[u8], mut visit: impl FnMut(Posting)) -> Option<()> {
    let mut next = 0u64;
    while !bytes.is_empty() {
        let coded = take_varint(&mut bytes)?;
        let number = u32::try_from(next + (coded >> 1)).ok()?;
        let count = if coded & 1 == 0 { 1 } else { take_byte(&mut bytes)? };
        visit(Posting { number, count });
        next = number as u64 + 1;
    }
    Some(())
}

fn push_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// At most five bytes: 33 bits are the most that a list needs.
#[inline]
fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in [0, 7, 14, 21, 28] {
        let byte = take_byte(bytes)?;
        value |= ((byte & 0x7f) as u64) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[inline]
fn take_byte(bytes: &mut &[u8]) -> Option<u8> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(first)
}

/// The facts about a run before a query decodes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RunHead {
    /// The first document.
    pub first: u32,
    /// Where the run's bytes end, counted from the first run's first byte.
    pub end: u16,
    /// 1 to 128.
    pub postings: u8,
    /// Bits of a gap, 0 to 32.
    pub gap_bits: u8,
    /// Bits of a count, or 0: counts are 1 but for `counted` exceptions.
    pub count_bits: u8,
    /// Exceptions: pairs of a position and a count.
    pub counted: u8,
    /// The greatest count.
    pub max_count: u8,
    /// Code of a length that no document of the run is below.
    pub length_code: u8,
}

impl RunHead {
    /// Bytes of a head.
    pub const BYTES: usize = 12;

    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let [a, b, c, d] = self.first.to_le_bytes();
        let [e, f] = self.end.to_le_bytes();
        [a, b, c, d, e, f, self.postings, self.gap_bits, self.count_bits, self.counted, self.max_count, self.length_code]
    }

    /// `None` if the fields are out of range.
    pub fn from_bytes(b: &[u8; Self::BYTES]) -> Option<Self> {
        let first = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        let end = u16::from_le_bytes([b[4], b[5]]);
        let [postings, gap_bits, count_bits, counted, max_count, length_code] = [b[6], b[7], b[8], b[9], b[10], b[11]];
        let sound = (1..=RUN).contains(&(postings as usize)) && gap_bits <= 32 && count_bits <= 8;
        sound.then_some(Self { first, end, postings, gap_bits, count_bits, counted, max_count, length_code })
    }

    /// No document of the run is shorter.
    pub fn min_length(&self) -> u32 {
        length_of(self.length_code)
    }

    fn gap_bytes(&self) -> usize {
        packed_bytes(self.postings as usize - 1, self.gap_bits)
    }

    fn count_bytes(&self) -> usize {
        if self.count_bits == 0 { 2 * self.counted as usize } else { packed_bytes(self.postings as usize, self.count_bits) }
    }

    /// Decodes the run at the front of `bytes`, which may go on behind it; `None` if that is not a run.
    pub fn decode(&self, bytes: &[u8], run: &mut Run) -> Option<()> {
        let counts = bytes.get(self.gap_bytes()..)?;
        if counts.len() < self.count_bytes() {
            return None;
        }
        run.len = self.postings as usize;
        run.numbers[0] = self.first;
        let last = self.decode_gaps(bytes, &mut run.numbers);
        self.decode_counts(counts, run)?;
        u32::try_from(last).is_ok().then_some(())
    }

    /// Fills in all numbers but the first; returns the last one, which may be too large for a number.
    #[inline]
    fn decode_gaps(&self, bytes: &[u8], numbers: &mut [u32; RUN + LANES]) -> u64 {
        let gaps = self.postings as usize - 1;
        let mut number = self.first as u64;
        let mut last = number;
        for (group, out) in numbers[1..].chunks_exact_mut(LANES).take(gaps.div_ceil(LANES)).enumerate() {
            let gaps_here = unpack(bytes, group, self.gap_bits);
            let mut sums = [0; LANES];
            for ((out, sum), gap) in out.iter_mut().zip(&mut sums).zip(gaps_here) {
                number += gap as u64 + 1;
                (*out, *sum) = (number as u32, number);
            }
            last = sums[(gaps - 1) % LANES];
        }
        last
    }

    #[inline]
    fn decode_counts(&self, bytes: &[u8], run: &mut Run) -> Option<()> {
        if self.count_bits > 0 {
            for (group, out) in run.counts.chunks_exact_mut(LANES).take(run.len.div_ceil(LANES)).enumerate() {
                for (out, count) in out.iter_mut().zip(unpack(bytes, group, self.count_bits)) {
                    *out = count as u8;
                }
            }
            return Some(());
        }
        run.counts = [1; RUN];
        for pair in bytes[..self.count_bytes()].chunks_exact(2) {
            *run.counts[..run.len].get_mut(pair[0] as usize)? = pair[1];
        }
        Some(())
    }
}

/// A decoded run, or short list. Values behind `len` mean nothing.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub numbers: [u32; RUN + LANES],
    pub counts: [u8; RUN],
    pub len: usize,
}

impl Run {
    pub fn new() -> Self {
        Self { numbers: [0; RUN + LANES], counts: [0; RUN], len: 0 }
    }

    /// Decodes a short list; `None` if it is none, or too long for a run.
    pub fn decode_short(&mut self, bytes: &[u8]) -> Option<()> {
        let mut len = 0;
        decode_short(bytes, |posting| {
            if len < RUN {
                self.numbers[len] = posting.number;
                self.counts[len] = posting.count;
            }
            len += 1;
        })?;
        self.len = len;
        (1..=RUN).contains(&len).then_some(())
    }

    pub fn postings(&self) -> impl Iterator<Item = Posting> {
        self.numbers[..self.len].iter().zip(&self.counts).map(|(&number, &count)| Posting { number, count })
    }
}

/// Appends a run of 1 to 128 postings and gives its head; `end` is left to who puts runs together.
pub(super) fn encode_run(postings: &[Posting], min_length: u32, out: &mut Vec<u8>) -> RunHead {
    let gaps = || postings.windows(2).map(|pair| pair[1].number - pair[0].number - 1);
    let gap_bits = gaps().map(width).max().unwrap_or(0);
    let max_count = postings.iter().map(|p| p.count).max().unwrap_or(0);
    let counted = postings.iter().filter(|p| p.count != 1).count();
    let count_bits = width(max_count as u32).max(1);
    let sparse = 2 * counted <= packed_bytes(postings.len(), count_bits);
    pack(gaps(), gap_bits, out);
    if sparse {
        let exceptions = postings.iter().enumerate().filter(|(_, p)| p.count != 1);
        out.extend(exceptions.flat_map(|(i, p)| [i as u8, p.count]));
    } else {
        pack(postings.iter().map(|p| p.count as u32), count_bits, out);
    }
    RunHead {
        first: postings[0].number,
        end: 0,
        postings: postings.len() as u8,
        gap_bits,
        count_bits: if sparse { 0 } else { count_bits },
        counted: if sparse { counted as u8 } else { 0 },
        max_count,
        length_code: length_code(min_length),
    }
}

/// A length in one byte, rounded down: exact to 15, then three bits behind the leading one.
pub(super) fn length_code(length: u32) -> u8 {
    if length < 8 {
        return length as u8;
    }
    let shift = u32::BITS - 4 - length.leading_zeros();
    (((shift + 1) << 3) | ((length >> shift) & 7)) as u8
}

/// The least length with this code.
pub(super) fn length_of(code: u8) -> u32 {
    let (exponent, mantissa) = ((code >> 3) as u32, (code & 7) as u64);
    if exponent == 0 { mantissa as u32 } else { u32::try_from((8 | mantissa) << (exponent - 1)).unwrap_or(u32::MAX) }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Random;
    use super::*;

    fn some_postings(random: &mut Random, n: usize, max_gap: u32, max_count: u32) -> Vec<Posting> {
        let mut number = random.below(max_gap);
        (0..n)
            .map(|_| {
                number += 1 + random.below(max_gap);
                Posting { number, count: random.below(max_count + 1) as u8 }
            })
            .collect()
    }

    #[test]
    fn short_lists_and_runs_come_back() {
        let mut random = Random::new(1);
        for round in 0..2000 {
            let n = 1 + random.below(RUN as u32) as usize;
            let gap = [1, 3, 300, 70_000, 30_000_000][round % 5];
            let postings = some_postings(&mut random, n, gap, [1, 2, 9, 255][round % 4]);
            let mut bytes = Vec::new();
            encode_short(&postings, &mut bytes);
            let mut back = Vec::new();
            decode_short(&bytes, |p| back.push(p)).expect("a list");
            assert_eq!(back, postings);

            bytes.clear();
            let head = encode_run(&postings, 17, &mut bytes);
            assert_eq!(RunHead::from_bytes(&head.to_bytes()), Some(head));
            assert_eq!(head.gap_bytes() + head.count_bytes(), bytes.len());
            let mut run = Run::new();
            head.decode(&bytes, &mut run).expect("a run");
            assert_eq!(run.postings().collect::<Vec<_>>(), postings);
        }
    }

    #[test]
    fn the_last_numbers_come_back() {
        let postings = [Posting { number: 0, count: 1 }, Posting { number: u32::MAX - 1, count: 255 }];
        let mut bytes = Vec::new();
        encode_short(&postings, &mut bytes);
        let mut back = Vec::new();
        decode_short(&bytes, |p| back.push(p)).expect("a list");
        assert_eq!(back, postings);
        bytes.clear();
        let mut run = Run::new();
        encode_run(&postings, 0, &mut bytes).decode(&bytes, &mut run).expect("a run");
        assert_eq!(run.postings().collect::<Vec<_>>(), postings);
    }

    #[test]
    fn a_length_code_is_a_close_lower_bound() {
        for length in (0..5000).chain((12..32).flat_map(|s| [1 << s, (1 << s) - 1, (1 << s) + 1])).chain([u32::MAX]) {
            let floor = length_of(length_code(length));
            assert!(floor <= length && length - floor <= length / 8, "{length} {floor}");
        }
        assert!((0..=255).map(length_of).is_sorted());
    }

    #[test]
    fn any_bytes_give_postings_or_nothing() {
        let mut random = Random::new(2);
        let mut run = Run::new();
        for _ in 0..20_000 {
            let bytes: Vec<u8> = (0..random.below(60)).map(|_| random.below(256) as u8).collect();
            let mut last = None;
            let _ = decode_short(&bytes, |p| {
                assert!(last < Some(p.number));
                last = Some(p.number);
            });
            let head = std::array::from_fn(|_| random.below(256) as u8 >> random.below(8));
            if RunHead::from_bytes(&head).and_then(|head| head.decode(&bytes, &mut run)).is_some() {
                assert!(run.numbers[..run.len].is_sorted());
            }
        }
    }
}
