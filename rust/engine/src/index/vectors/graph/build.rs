//! A segment under construction: records in memory as they will be stored, nodes linked in one after the other.
//!
//! The order is that of the layers from the top down, and within a layer that of a hash of the number: neighbouring numbers
//! are often neighbours in space, and a graph built in their order is a worse one. The hash alone decides a node's layer,
//! so the same vectors under the same numbers give the same bytes. One thread; memory is what the segment takes on disk.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use super::super::VectorSet;
use super::super::kernel::{Dots, Kernel, ROWS, prefetch};
use super::GraphOptions;
use super::search::{Graph, Probe, Scratch, Sight};
use super::segment::SCHEMA;
use super::shape::{MAX_LAYERS, PADDING, Shape, fill, layer_starts, present, records_shift};
use crate::Result;
use crate::store::envelope::{self, Codec, ENVELOPE_BYTES};
use crate::store::keys::{Key, Table};
use crate::store::pages::Pages;

/// Records of one length, the first at a cache line.
#[derive(Debug)]
struct Arena {
    buffer: Vec<u8>,
    start: usize,
    stride: usize,
}

impl Arena {
    fn new(count: usize, stride: usize, byte: u8) -> Self {
        let buffer = vec![byte; count * stride + 64];
        let start = buffer.as_ptr().align_offset(64).min(64);
        Self { buffer, start, stride }
    }

    #[inline]
    fn get(&self, at: usize) -> &[u8] {
        &self.buffer[self.start + at * self.stride..][..self.stride]
    }

    fn get_mut(&mut self, at: usize) -> &mut [u8] {
        &mut self.buffer[self.start + at * self.stride..][..self.stride]
    }
}

/// A segment under construction.
#[derive(Debug)]
pub struct Build {
    set: VectorSet,
    pub(super) segment: u32,
    pub(super) last: u32,
    graph: Arenas,
    kernel: Kernel,
    ef: usize,
    linked: u32,
    scratch: Scratch,
    probe: Probe,
    other: Probe,
}

#[derive(Debug)]
struct Arenas {
    shape: Shape,
    nodes: Arena,
    upper: Arena,
    count: usize,
    /// Nodes of each upper layer, from layer 1 up.
    layers: Vec<u32>,
    starts: Vec<usize>,
}

/// 64 well-mixed bits of a number (splitmix64).
fn mix(number: u32) -> u64 {
    let mut x = u64::from(number).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ x >> 31
}

/// The top layer of a number: one in M reaches the next.
fn layer_of(number: u32, m: usize) -> usize {
    let (mut hash, mut layer) = (mix(number) >> 8, 0);
    while layer < MAX_LAYERS && hash.is_multiple_of(m as u64) {
        hash /= m as u64;
        layer += 1;
    }
    layer
}

impl Build {
    /// Reads the vectors up to number `last` from a snapshot. `None` where there is none.
    pub fn read<P: Pages + ?Sized>(set: VectorSet, pages: &P, segment: u32, last: u32, options: &GraphOptions) -> Result<Option<Self>> {
        let mut numbers = Vec::new();
        set.visit_blocks(pages, last, &mut |block| {
            numbers.extend(block.numbers().iter().map(|n| u32::from_le_bytes(*n)).filter(|n| *n <= last));
        })?;
        let count = numbers.len().min(1 << 31);
        if count == 0 {
            return Ok(None);
        }
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_by_cached_key(|&at| {
            let number = numbers[at as usize];
            (Reverse(layer_of(number, options.m)), mix(number), number)
        });
        let top = layer_of(numbers[order[0] as usize], options.m);
        let layers: Vec<u32> =
            (1..=top).map(|layer| order.partition_point(|&at| layer_of(numbers[at as usize], options.m) >= layer) as u32).collect();
        let mut ids = vec![0; count];
        for (id, &at) in order.iter().enumerate() {
            ids[at as usize] = id;
        }
        let (shape, starts) = (Shape::new(set.dims, options.m), layer_starts(&layers));
        let mut nodes = Arena::new(count, shape.stride, 0);
        let mut ids = ids.into_iter();
        set.visit_blocks(pages, last, &mut |block| {
            for entry in block.entries().filter(|entry| entry.number <= last) {
                let Some(id) = ids.next() else { break };
                let node = nodes.get_mut(id);
                node[..shape.head - 8].fill(u8::MAX);
                node[shape.head - 8..shape.head - 4].copy_from_slice(&entry.number.to_le_bytes());
                node[shape.head - 4..shape.head].copy_from_slice(&entry.scale.to_le_bytes());
                node[shape.head..shape.head + set.dims].copy_from_slice(entry.row);
            }
        })?;
        let upper = Arena::new(starts[top], shape.upper_stride(), u8::MAX);
        Ok(Some(Self {
            set,
            segment,
            last,
            graph: Arenas { shape, nodes, upper, count, layers, starts },
            kernel: Kernel::best(),
            ef: options.ef_construction,
            linked: 0,
            scratch: Scratch::default(),
            probe: Probe::empty(),
            other: Probe::empty(),
        }))
    }

    /// Compares with another kernel, for tests: the bytes are the same.
    #[must_use]
    pub fn with_kernel(mut self, kernel: Kernel) -> Self {
        self.kernel = kernel;
        self
    }

    /// Nodes, and how many of them are linked in.
    #[must_use]
    pub fn progress(&self) -> (u32, u32) {
        (self.graph.count as u32, self.linked)
    }

    /// Links in up to `count` more nodes; whether there are more.
    pub fn insert(&mut self, count: u32) -> Result<bool> {
        let until = self.linked.saturating_add(count).min(self.graph.count as u32);
        while self.linked < until {
            self.link(self.linked)?;
            self.linked += 1;
        }
        Ok((self.linked as usize) < self.graph.count)
    }

    fn link(&mut self, id: u32) -> Result<()> {
        if id == 0 {
            return Ok(()); // the way in
        }
        let Self { graph, scratch, probe, other, .. } = self;
        let dots = self.kernel.dots();
        let top = graph.layers.iter().take_while(|&&count| id < count).count();
        let node = graph.nodes.get(id as usize);
        probe.set(graph.shape.codes(node), graph.shape.scale(node));
        scratch.descend(graph, probe, self.kernel, top, self.ef)?;
        for layer in (0..=top).rev() {
            if layer < top {
                scratch.walk(graph, probe, dots, layer, self.ef)?;
            }
            let chosen = graph.diverse(&scratch.sights, graph.shape.m, dots, other);
            fill(graph.place(layer, id), chosen.iter().map(|sight| sight.id()));
            for sight in chosen {
                graph.link_back(layer, sight, id, dots, other);
            }
        }
        Ok(())
    }

    /// How many values the segment has.
    #[must_use]
    pub fn values(&self) -> usize {
        let (nodes, upper) = self.graph.values();
        nodes + upper
    }

    /// One value of the segment with its key, sealed.
    pub(super) fn value(&self, at: usize) -> (Key, Vec<u8>) {
        let (nodes, _) = self.graph.values();
        let (table, at, arena, count) = if at < nodes {
            (Table::GraphNodes, at, &self.graph.nodes, self.graph.count)
        } else {
            (Table::GraphUpper, at - nodes, &self.graph.upper, self.graph.rows())
        };
        let shift = records_shift(arena.stride);
        let records = at << shift..((at + 1) << shift).min(count);
        let key = self.set.segment_key(table, self.segment).u32(at as u32);
        let mut value = vec![0; ENVELOPE_BYTES + PADDING];
        value.reserve_exact(records.len() * arena.stride);
        records.for_each(|record| value.extend_from_slice(arena.get(record)));
        envelope::seal_in_place(key.as_slice(), SCHEMA, Codec::Packed as u8, &mut value);
        (key, value)
    }

    pub(super) fn set(&self) -> VectorSet {
        self.set
    }

    pub(super) fn layers(&self) -> Vec<u32> {
        self.graph.layers.clone()
    }

    pub(super) fn m(&self) -> u16 {
        self.graph.shape.m as u16
    }
}

impl Graph for Arenas {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn nodes(&self) -> usize {
        self.count
    }

    fn layers(&self) -> usize {
        self.layers.len()
    }

    #[inline]
    fn node(&self, id: u32) -> Result<&[u8]> {
        Ok(self.nodes.get(id as usize))
    }

    fn upper(&self, layer: usize, id: u32) -> Result<&[u8]> {
        Ok(self.upper.get(self.starts[layer - 1] + id as usize))
    }

    #[inline]
    fn hint(&self, id: u32) {
        prefetch(self.nodes.get(id as usize), 0, self.shape.stride);
    }
}

impl Arenas {
    /// Rows of all upper layers together.
    fn rows(&self) -> usize {
        self.starts[self.layers.len()]
    }

    fn values(&self) -> (usize, usize) {
        let values = |count: usize, stride: usize| count.div_ceil(1 << records_shift(stride));
        (values(self.count, self.shape.stride), values(self.rows(), self.shape.upper_stride()))
    }

    /// Where the links of a node in a layer stand.
    fn place(&mut self, layer: usize, id: u32) -> &mut [u8] {
        if layer == 0 {
            let end = self.shape.head - 8;
            return &mut self.nodes.get_mut(id as usize)[..end];
        }
        let row = self.starts[layer - 1] + id as usize;
        self.upper.get_mut(row)
    }

    /// Of nodes in order, best first, at most `most` that are nearer to the one they are for than to each other
    /// (Algorithm 4 of the paper). An equally near node counts as nearer. Otherwise copies of one vector would link to nothing else.
    fn diverse(&self, sights: &[Sight], most: usize, dots: Dots, other: &mut Probe) -> Vec<Sight> {
        let mut chosen: Vec<Sight> = Vec::with_capacity(most);
        for &sight in sights {
            if chosen.len() == most {
                break;
            }
            let node = self.nodes.get(sight.id() as usize);
            if !chosen.is_empty() {
                other.set(self.shape.codes(node), self.shape.scale(node));
            }
            let apart = chosen.chunks(ROWS).all(|chosen| {
                let scores = self.scores(other, chosen.iter().map(|sight| sight.id()), dots);
                scores[..chosen.len()].iter().all(|&score| score < sight.score())
            });
            if apart {
                chosen.push(sight);
            }
        }
        chosen
    }

    /// Scores of up to [`ROWS`] nodes.
    fn scores(&self, probe: &Probe, ids: impl Iterator<Item = u32>, dots: Dots) -> [i32; ROWS] {
        let mut nodes = [&[][..]; ROWS];
        let mut first = None;
        let mut ids = ids.map(|id| self.nodes.get(id as usize));
        for node in &mut nodes {
            let record = ids.next().or(first).unwrap_or_else(|| self.nodes.get(0));
            first.get_or_insert(record);
            *node = record;
        }
        probe.scores(dots, &self.shape, nodes)
    }

    /// Links `at` back to `id`. Where its place is full, the diverse ones of all stay.
    fn link_back(&mut self, layer: usize, at: Sight, id: u32, dots: Dots, other: &mut Probe) {
        let most = if layer == 0 { self.shape.bottom_links() } else { self.shape.m };
        let mut links: Vec<u32> = present(self.place(layer, at.id())).collect();
        if links.len() < most {
            links.push(id);
            return fill(self.place(layer, at.id()), links);
        }
        let node = self.nodes.get(at.id() as usize);
        other.set(self.shape.codes(node), self.shape.scale(node));
        let mut sights = vec![Sight::new(at.score(), id)];
        for ids in links.chunks(ROWS) {
            let scores = self.scores(other, ids.iter().copied(), dots);
            sights.extend(ids.iter().zip(scores).map(|(&id, score)| Sight::new(score, id)));
        }
        sights.sort_unstable_by(|a, b| b.cmp(a));
        let chosen = self.diverse(&sights, most, dots, other);
        fill(self.place(layer, at.id()), chosen.into_iter().map(Sight::id));
    }
}

impl VectorSet {
    /// Calls `visit` for every block that may have a number up to `last`, in order.
    fn visit_blocks<P: Pages + ?Sized>(&self, pages: &P, last: u32, visit: &mut dyn FnMut(&super::super::block::Block<'_>)) -> Result<()> {
        let to = match last.checked_add(1) {
            Some(end) => self.block_key(end).as_slice().to_vec(),
            None => self.blocks().prefix_range().end,
        };
        pages.scan(self.blocks().as_slice(), &to, &mut |key, value| {
            visit(&self.open_block(key, value)?);
            Ok(ControlFlow::Continue(()))
        })
    }
}
