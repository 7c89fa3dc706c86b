//! Which segment of a set is in use, and which is being built: one value, read by every search and every write.
//!
//! ```text
//! 0   u32      the number that the next segment gets, from 1        all little-endian, after the envelope
//! 4   u32      the segment in use; 0, and zeros up to 52, where there is none
//! 8   u32      the greatest number of a memory it knows: what is greater is the tail
//! 12  u32      its nodes
//! 16  u16      M
//! 18  u16      its upper layers, at most 8
//! 20  u32 x 8  nodes of each of them, from layer 1 up
//! 52  u32      the segment being built; 0, and zeros behind it, where there is none
//! 56  u32      the greatest number that it will know
//! 60  i64      when that was begun
//! ```

use super::super::VectorSet;
use super::shape::{MAX_LAYERS, u32_at};
use crate::Result;
use crate::store::envelope::{self, Codec};
use crate::store::keys::{Key, Table};
use crate::store::pages::{Pages, PagesMut};

const SCHEMA: u8 = 1;
const BYTES: usize = 68;

/// The segment in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InUse {
    pub segment: u32,
    pub last: u32,
    pub nodes: u32,
    pub m: u16,
    /// Nodes of each upper layer, from layer 1 up: falling, none of them 0.
    pub layers: Vec<u32>,
}

/// A segment that is being built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnderWay {
    pub segment: u32,
    pub last: u32,
    pub begun: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Catalog {
    pub next: u32,
    pub in_use: Option<InUse>,
    pub under_way: Option<UnderWay>,
}

impl Default for Catalog {
    fn default() -> Self {
        Self { next: 1, in_use: None, under_way: None }
    }
}

impl VectorSet {
    fn catalog_key(&self) -> Key {
        self.graph_table(Table::GraphCatalog)
    }

    /// The beginning of the set's keys in one of the tables of graphs.
    pub(super) fn graph_table(&self, table: Table) -> Key {
        Key::new(self.partition, table).u16(self.embedding)
    }

    /// The catalog; `None` where the set never had a graph, or is one of messages: their embeddings are numbered otherwise.
    pub(super) fn graph_catalog<P: Pages + ?Sized>(&self, pages: &P) -> Result<Option<Catalog>> {
        if !self.is_exact() {
            return Ok(None);
        }
        let key = self.catalog_key();
        let Some(value) = pages.get(key.as_slice())? else { return Ok(None) };
        let opened = envelope::open(key.as_slice(), value)?;
        let known = (opened.schema, opened.codec) == (SCHEMA, Codec::Packed as u8);
        let catalog = if known { Catalog::parse(opened.body) } else { None };
        catalog.map(Some).ok_or_else(|| envelope::damaged(key.as_slice(), "its fields contradict each other"))
    }

    pub(super) fn put_graph_catalog<P: PagesMut + ?Sized>(&self, pages: &mut P, catalog: &Catalog) -> Result<()> {
        let key = self.catalog_key();
        pages.put(key.as_slice(), &envelope::seal(key.as_slice(), SCHEMA, Codec::Packed, &catalog.encode()))
    }
}

impl Catalog {
    fn parse(body: &[u8]) -> Option<Self> {
        if body.len() != BYTES {
            return None;
        }
        let u16_at = |at: usize| u16::from_le_bytes([body[at], body[at + 1]]);
        let layers: Vec<u32> = (0..usize::from(u16_at(18)).min(MAX_LAYERS)).map(|layer| u32_at(body, 20 + 4 * layer)).collect();
        let in_use = InUse { segment: u32_at(body, 4), last: u32_at(body, 8), nodes: u32_at(body, 12), m: u16_at(16), layers };
        let begun = i64::from_le_bytes(body[60..].try_into().ok()?);
        let under_way = UnderWay { segment: u32_at(body, 52), last: u32_at(body, 56), begun };
        let catalog = Self {
            next: u32_at(body, 0),
            in_use: (in_use.segment > 0).then_some(in_use),
            under_way: (under_way.segment > 0).then_some(under_way),
        };
        (usize::from(u16_at(18)) <= MAX_LAYERS && catalog.is_consistent()).then_some(catalog)
    }

    fn is_consistent(&self) -> bool {
        let below = |segment: u32| segment < self.next;
        let sound = |in_use: &InUse| {
            let falling = in_use.layers.iter().try_fold(in_use.nodes, |above, &count| (count > 0 && count <= above).then_some(count));
            below(in_use.segment) && (4..=64).contains(&in_use.m) && (1..=1 << 31).contains(&in_use.nodes) && falling.is_some()
        };
        self.in_use.as_ref().is_none_or(sound) && self.under_way.is_none_or(|under_way| below(under_way.segment))
    }

    fn encode(&self) -> Vec<u8> {
        let mut body = self.next.to_le_bytes().to_vec();
        if let Some(in_use) = &self.in_use {
            for field in [in_use.segment, in_use.last, in_use.nodes] {
                body.extend(field.to_le_bytes());
            }
            body.extend(in_use.m.to_le_bytes());
            body.extend((in_use.layers.len() as u16).to_le_bytes());
            body.extend(in_use.layers.iter().flat_map(|count| count.to_le_bytes()));
        }
        body.resize(52, 0);
        if let Some(under_way) = self.under_way {
            body.extend(under_way.segment.to_le_bytes());
            body.extend(under_way.last.to_le_bytes());
            body.extend(under_way.begun.to_le_bytes());
        }
        body.resize(BYTES, 0);
        body
    }

    /// Every segment that a write must tell of its changes: its number and the greatest number that it knows.
    pub fn told(&self) -> impl Iterator<Item = (u32, u32)> {
        let in_use = self.in_use.as_ref().map(|in_use| (in_use.segment, in_use.last));
        in_use.into_iter().chain(self.under_way.map(|under_way| (under_way.segment, under_way.last)))
    }
}
