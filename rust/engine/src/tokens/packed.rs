//! The bytes of a packed vocabulary, which `tools/build_vocabularies.py` writes and documents.
//!
//! They are embedded and checked by a test, so a damaged one is a bug and not an input: missing bytes read as zeros.

use super::vocabulary::FIRST_MERGED;

/// The header before the bits.
pub(super) struct Packed {
    /// How many tokens there are.
    pub(super) count: u32,
    /// The tokens that no merge makes, one behind the other, and where each starts: first the single bytes.
    pub(super) bytes: Vec<u8>,
    pub(super) offsets: Vec<u32>,
    /// Tokens whose packed parents only spell them.
    pub(super) odd: Box<[u32]>,
    /// The parents of all other tokens.
    pub(super) bits: Bits<'static>,
}

impl Packed {
    /// Reads the head; `characters` tells that characters are merged rather than bytes.
    pub(super) fn read(packed: &'static [u8], characters: bool) -> Self {
        let mut rest = Bits { bytes: packed, held: 0, have: 0 };
        // Behind the count stands a checksum of the tokens: the tests compare it, nobody else.
        let (count, _) = (rest.take(32), rest.take(32));
        let mut read = Self { count, bytes: Vec::with_capacity(count as usize * 8), offsets: Vec::new(), odd: Box::default(), bits: rest };
        for _ in 0..FIRST_MERGED {
            let byte = [read.bits.take(8) as u8];
            read.push(&byte);
        }
        if characters {
            read.characters();
            read.words();
            let odd = read.bits.take(8);
            read.odd = (0..odd).map(|_| read.bits.take(32)).collect();
        }
        read
    }

    fn push(&mut self, token: &[u8]) {
        self.offsets.push(self.bytes.len() as u32);
        self.bytes.extend_from_slice(token);
    }

    fn characters(&mut self) {
        let mut code_point = 128;
        for _ in 0..self.bits.take(32) {
            code_point += self.bits.groups();
            if let Some(character) = char::from_u32(code_point) {
                self.push(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }

    fn words(&mut self) {
        for _ in 0..self.bits.take(32) {
            let word: Vec<u8> = (0..self.bits.take(8)).map(|_| self.bits.take(8) as u8).collect();
            self.push(&word);
        }
        for number in 0..self.bits.take(32) {
            self.push(format!("<unused{number}>").as_bytes());
        }
    }
}

/// Bits of a byte string, low first.
#[derive(Clone)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    held: u64,
    have: u32,
}

impl Bits<'_> {
    fn take(&mut self, width: u32) -> u32 {
        if self.have < width {
            self.refill();
        }
        let value = self.held & ((1 << width) - 1);
        self.held >>= width;
        self.have -= width;
        value as u32
    }

    /// Makes at least 56 bits of them.
    #[inline]
    fn refill(&mut self) {
        if let Some(next) = self.bytes.first_chunk::<8>() {
            let taken = (63 - self.have) / 8;
            self.held |= (u64::from_le_bytes(*next) & (u64::MAX >> (64 - 8 * taken))) << self.have;
            (self.bytes, self.have) = (&self.bytes[taken as usize..], self.have + 8 * taken);
            return;
        }
        while self.have <= 56 {
            let (byte, rest) = self.bytes.split_first().map_or((0, self.bytes), |(&byte, rest)| (byte, rest));
            self.held |= u64::from(byte) << self.have;
            (self.bytes, self.have) = (rest, self.have + 8);
        }
    }

    /// An id: its magnitude, then the bits below its leading one.
    pub(super) fn id(&mut self) -> u32 {
        match self.take(4) {
            0 => self.take(3),
            magnitude => 1 << (magnitude + 2) | self.take(magnitude + 2),
        }
    }

    /// A number in groups of seven bits, low first, each but the last with its top bit set.
    fn groups(&mut self) -> u32 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.take(8);
            value |= (byte & 127) << shift;
            if byte < 128 {
                return value;
            }
            shift = (shift + 7).min(28);
        }
    }
}
