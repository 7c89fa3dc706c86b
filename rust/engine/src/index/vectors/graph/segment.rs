//! A stored segment, borrowed from a snapshot: records by their place, values verified as they are touched.

use std::cell::Cell;
use std::ops::ControlFlow;

use super::super::VectorSet;
use super::super::kernel::prefetch;
use super::catalog::InUse;
use super::search::Graph;
use super::shape::{NO_LINK, PADDING, Shape, layer_starts, records_shift, u32_at};
use crate::Result;
use crate::store::envelope::{Codec, damaged};
use crate::store::keys::{Key, Table};
use crate::store::pages::Pages;
use crate::store::verified;

/// Layout of the values of nodes and of upper layers.
pub(super) const SCHEMA: u8 = 1;

/// A value as it is stored, and its body once that was verified.
struct Value<'p> {
    bytes: &'p [u8],
    body: Cell<Option<&'p [u8]>>,
}

/// Records of one length in values of a power of two of them.
pub(super) struct Records<'p> {
    prefix: Key,
    values: Vec<Value<'p>>,
    shift: u32,
    stride: usize,
    count: usize,
    /// The number of nodes, which no link may reach.
    nodes: u32,
    /// Where the links end in a record.
    links: usize,
}

impl<'p> Records<'p> {
    fn open<P: Pages + ?Sized>(pages: &'p P, prefix: Key, stride: usize, links: usize, count: usize, nodes: u32) -> Result<Self> {
        let shift = records_shift(stride);
        let mut values = Vec::with_capacity(count.div_ceil(1 << shift));
        let range = prefix.prefix_range();
        pages.scan(&range.start, &range.end, &mut |key, value| {
            if key != prefix.u32(values.len() as u32).as_slice() {
                return Err(damaged(key, "a value of the graph before it is missing"));
            }
            values.push(Value { bytes: value, body: Cell::new(None) });
            Ok(ControlFlow::Continue(()))
        })?;
        if values.len() == count.div_ceil(1 << shift) {
            return Ok(Self { prefix, values, shift, stride, count, nodes, links });
        }
        Err(damaged(prefix.as_slice(), &format!("the graph has {} values there, and its catalog says {count} records", values.len())))
    }

    #[inline]
    fn get(&self, at: usize) -> Result<&'p [u8]> {
        let value = at >> self.shift;
        let body = match self.values.get(value).map(|value| value.body.get()) {
            Some(Some(body)) => body,
            _ => self.verify(value)?,
        };
        let start = PADDING + (at & ((1 << self.shift) - 1)) * self.stride;
        body.get(start..start + self.stride).ok_or_else(|| damaged(self.prefix.as_slice(), "the graph has no such record"))
    }

    /// Where a record lies, whether or not its value was verified: for a hint to the processor.
    #[inline]
    fn hint(&self, at: usize) {
        if let Some(value) = self.values.get(at >> self.shift) {
            prefetch(value.bytes, 8 + PADDING + (at & ((1 << self.shift) - 1)) * self.stride, self.stride);
        }
    }

    #[cold]
    fn verify(&self, value: usize) -> Result<&'p [u8]> {
        let key = self.prefix.u32(value as u32);
        let Some(stored) = self.values.get(value) else { return Err(damaged(key.as_slice(), "the graph has no such value")) };
        let records = self.count.saturating_sub(value << self.shift).min(1 << self.shift);
        let body = verified::open(key.as_slice(), stored.bytes, SCHEMA, Codec::Packed as u8, |body| {
            body.len() == PADDING + records * self.stride && body[PADDING..].chunks(self.stride).all(|record| self.is_consistent(record))
        })?;
        stored.body.set(Some(body));
        Ok(body)
    }

    /// Links lead to nodes, and a node has a scale.
    fn is_consistent(&self, record: &[u8]) -> bool {
        let linked = record[..self.links].as_chunks::<4>().0.iter().all(|link| {
            let link = u32::from_le_bytes(*link);
            link < self.nodes || link == NO_LINK
        });
        let scale = |at: usize| f32::from_bits(u32_at(record, at));
        linked && (self.links == self.stride || (scale(self.links + 4) > 0.0 && scale(self.links + 4) <= 1.0))
    }
}

/// The segment in use.
pub(super) struct Segment<'p> {
    pub shape: Shape,
    nodes: Records<'p>,
    upper: Records<'p>,
    starts: Vec<usize>,
    layers: usize,
}

impl VectorSet {
    /// The prefix of the keys of a segment's values.
    pub(super) fn segment_key(&self, table: Table, segment: u32) -> Key {
        self.graph_table(table).u32(segment)
    }

    pub(super) fn open_segment<'p, P: Pages + ?Sized>(&self, pages: &'p P, in_use: &InUse) -> Result<Segment<'p>> {
        let shape = Shape::new(self.dims, usize::from(in_use.m));
        let starts = layer_starts(&in_use.layers);
        let nodes_at = self.segment_key(Table::GraphNodes, in_use.segment);
        let nodes = Records::open(pages, nodes_at, shape.stride, shape.head - 8, in_use.nodes as usize, in_use.nodes)?;
        let rows = starts[in_use.layers.len()];
        let upper_at = self.segment_key(Table::GraphUpper, in_use.segment);
        let upper = Records::open(pages, upper_at, shape.upper_stride(), shape.upper_stride(), rows, in_use.nodes)?;
        Ok(Segment { shape, nodes, upper, layers: in_use.layers.len(), starts })
    }
}

impl<'p> Segment<'p> {
    /// The record of a node.
    pub fn nodes_at(&self, id: u32) -> Result<&'p [u8]> {
        self.nodes.get(id as usize)
    }
}

impl Graph for Segment<'_> {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn nodes(&self) -> usize {
        self.nodes.count
    }

    fn layers(&self) -> usize {
        self.layers
    }

    #[inline]
    fn node(&self, id: u32) -> Result<&[u8]> {
        self.nodes.get(id as usize)
    }

    fn upper(&self, layer: usize, id: u32) -> Result<&[u8]> {
        let row = self.starts[layer - 1] + id as usize;
        if row >= self.starts[layer] {
            return Err(damaged(self.upper.prefix.as_slice(), &format!("node {id} is linked in layer {layer} and does not reach it")));
        }
        self.upper.get(row)
    }

    #[inline]
    fn hint(&self, id: u32) {
        self.nodes.hint(id as usize);
    }
}
