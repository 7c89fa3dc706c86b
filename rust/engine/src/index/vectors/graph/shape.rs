//! The shape of a segment: how long its records are and where their parts stand.
//!
//! ```text
//! node    u32 x L   links of the bottom layer, behind the last 2^32 - 1      L = 2 M, rounded so that the codes
//!         u32       number of the memory                                     begin at a cache line: 30 for M = 16
//!         f32       scale
//!         i8 x d'   codes, zeros behind them up to a multiple of 64
//! upper   u32 x M   links of one node in one upper layer
//! ```
//!
//! All little-endian. Nodes are numbered from the top layer down: those of layer l and above are the first, so that the
//! place of a node in a layer is its own number and the way in is node 0. Records stand in values of a power of two of them,
//! behind 40 bytes of zeros: a value begins 16 bytes into its page, the envelope has 8, and so the first record begins at a cache line.

/// No link.
pub(super) const NO_LINK: u32 = u32::MAX;

/// The most upper layers.
pub(super) const MAX_LAYERS: usize = 8;

/// Zeros in front of the records of a value.
pub(super) const PADDING: usize = 40;

/// About how many bytes of records a value has at most.
const VALUE_BYTES: usize = 2 << 20;

const CACHE_LINE: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub m: usize,
    pub dims: usize,
    /// Bytes in front of the codes.
    pub head: usize,
    /// Bytes of a node.
    pub stride: usize,
}

impl Shape {
    pub fn new(dims: usize, m: usize) -> Self {
        // The nearest whole number of lines to 2 M links, number and scale; not less than one.
        let head = ((8 * m + 8 + CACHE_LINE / 2) / CACHE_LINE).max(1) * CACHE_LINE;
        Self { m, dims, head, stride: head + dims.next_multiple_of(CACHE_LINE) }
    }

    /// Links of a node at the bottom.
    pub fn bottom_links(&self) -> usize {
        self.head / 4 - 2
    }

    /// Bytes of a node's links in one upper layer.
    pub fn upper_stride(&self) -> usize {
        4 * self.m
    }

    pub fn codes<'n>(&self, node: &'n [u8]) -> &'n [u8] {
        &node[self.head..]
    }

    pub fn links<'n>(&self, node: &'n [u8]) -> &'n [u8] {
        &node[..self.head - 8]
    }

    pub fn number(&self, node: &[u8]) -> u32 {
        u32_at(node, self.head - 8)
    }

    pub fn scale(&self, node: &[u8]) -> [u8; 4] {
        bytes_at(node, self.head - 4)
    }
}

/// The links that are there, of a place for links.
pub(super) fn present(links: &[u8]) -> impl Iterator<Item = u32> {
    links.as_chunks::<4>().0.iter().map(|link| u32::from_le_bytes(*link)).take_while(|&link| link != NO_LINK)
}

/// Writes `links` into a place for links; there are not more than it has room for.
pub(super) fn fill(place: &mut [u8], links: impl IntoIterator<Item = u32>) {
    place.fill(u8::MAX);
    for (place, link) in place.as_chunks_mut::<4>().0.iter_mut().zip(links) {
        *place = link.to_le_bytes();
    }
}

/// How many records of `stride` bytes a value holds, as a power of two.
pub(super) fn records_shift(stride: usize) -> u32 {
    (VALUE_BYTES / stride).max(1).ilog2()
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes_at(bytes, at))
}

fn bytes_at(bytes: &[u8], at: usize) -> [u8; 4] {
    [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]
}

/// Where the rows of each upper layer begin, from layer 1 up, and behind the last their number.
pub(super) fn layer_starts(counts: &[u32]) -> Vec<usize> {
    let mut starts = vec![0];
    for &count in counts {
        starts.push(starts[starts.len() - 1] + count as usize);
    }
    starts
}
