//! The walk: from the way in down to the bottom, then from the best known node to its neighbours until none is better.
//!
//! The nodes in sight are one sorted array of at most ef ranks, best first: score descending, node ascending, so that the
//! same graph and question visit the same nodes in the same order on every machine.

use std::cell::RefCell;

use super::super::Query;
use super::super::kernel::{Dots, Kernel, ROWS, row_factor, score_factor, to_score};
use super::super::query::QUERY_ALIGN;
use super::shape::{Shape, present};
use crate::Result;

/// The interface of a graph for a walk, stored or under construction.
pub(super) trait Graph {
    fn shape(&self) -> &Shape;
    /// How many nodes there are.
    fn nodes(&self) -> usize;
    /// Upper layers.
    fn layers(&self) -> usize;
    /// The record of a node.
    fn node(&self, id: u32) -> Result<&[u8]>;
    /// The links of a node in an upper layer, from 1.
    fn upper(&self, layer: usize, id: u32) -> Result<&[u8]>;
    /// Says that the node will be read soon.
    fn hint(&self, id: u32);
}

/// The target that nodes are compared with.
#[derive(Debug, Clone)]
pub(super) struct Probe {
    buffer: Vec<u8>,
    start: usize,
    len: usize,
    sum: i32,
    factor: f64,
}

impl Probe {
    pub fn empty() -> Self {
        Self { buffer: Vec::new(), start: 0, len: 0, sum: 0, factor: 0.0 }
    }

    pub fn of(query: &Query) -> Self {
        let mut probe = Self::empty();
        probe.fill(query.codes().iter().map(|&code| code as u8));
        probe.factor = score_factor(query);
        probe
    }

    /// Becomes the vector of a node.
    pub fn set(&mut self, codes: &[u8], scale: [u8; 4]) {
        self.fill(codes.iter().copied());
        self.factor = row_factor(f32::from_le_bytes(scale));
    }

    fn fill(&mut self, codes: impl ExactSizeIterator<Item = u8>) {
        self.len = codes.len();
        if self.buffer.len() < self.len + QUERY_ALIGN {
            self.buffer.resize(self.len + QUERY_ALIGN, 0);
            self.start = self.buffer.as_ptr().align_offset(QUERY_ALIGN).min(QUERY_ALIGN);
        }
        let place = &mut self.buffer[self.start..self.start + self.len];
        place.iter_mut().zip(codes).for_each(|(place, code)| *place = code);
        self.sum = place.iter().map(|&code| i32::from(code as i8)).sum();
    }

    fn codes(&self) -> &[u8] {
        &self.buffer[self.start..self.start + self.len]
    }

    /// Scores of up to [`ROWS`] nodes; what stands behind them means nothing.
    #[inline]
    pub fn scores(&self, dots: Dots, shape: &Shape, nodes: [&[u8]; ROWS]) -> [i32; ROWS] {
        let products = dots.of(self.codes(), self.sum, nodes.map(|node| shape.codes(node)));
        std::array::from_fn(|at| to_score(products[at], shape.scale(nodes[at]), self.factor))
    }
}

/// A node in sight: score, node, and whether its neighbours are still to be looked at, so that greater is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sight(u64);

impl Sight {
    pub fn new(score: i32, id: u32) -> Self {
        Self(u64::from(score as u32 ^ 1 << 31) << 32 | u64::from(!id << 1) | 1)
    }

    pub fn score(self) -> i32 {
        ((self.0 >> 32) as u32 ^ 1 << 31) as i32
    }

    pub fn id(self) -> u32 {
        (!(self.0 as u32)) >> 1
    }

    fn is_due(self) -> bool {
        self.0 & 1 == 1
    }
}

/// Memory that searches use again.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// The nodes in sight, best first.
    pub sights: Vec<Sight>,
    visited: Vec<u64>,
    fresh: Vec<u32>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Runs `work` with this thread's scratch memory.
pub(super) fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> T) -> T {
    SCRATCH.with_borrow_mut(work)
}

impl Scratch {
    /// From the way in to the `ef` best nodes of layer `to` that a walk sees; they are in `sights`.
    pub fn descend<G: Graph>(&mut self, graph: &G, probe: &Probe, kernel: Kernel, to: usize, ef: usize) -> Result<()> {
        let dots = kernel.dots();
        self.start(graph, probe, dots)?;
        for layer in (to.max(1)..=graph.layers()).rev() {
            self.walk(graph, probe, dots, layer, if layer == to { ef } else { 1 })?;
        }
        if to == 0 { self.walk(graph, probe, dots, 0, ef) } else { Ok(()) }
    }

    fn start<G: Graph>(&mut self, graph: &G, probe: &Probe, dots: Dots) -> Result<()> {
        let node = graph.node(0)?;
        let [score, ..] = probe.scores(dots, graph.shape(), [node; ROWS]);
        self.sights.clear();
        self.sights.push(Sight::new(score, 0));
        Ok(())
    }

    /// Widens what is in sight to the `ef` best nodes of a layer.
    pub fn walk<G: Graph>(&mut self, graph: &G, probe: &Probe, dots: Dots, layer: usize, ef: usize) -> Result<()> {
        let Self { sights, visited, fresh } = self;
        visited.clear();
        visited.resize(graph.nodes().div_ceil(64), 0);
        sights.truncate(ef);
        for sight in sights.iter_mut() {
            sight.0 |= 1;
            visited[sight.id() as usize / 64] |= 1 << (sight.id() % 64);
        }
        let mut next = 0;
        while let Some(due) = sights.get(next).copied() {
            if !due.is_due() {
                next += 1;
                continue;
            }
            sights[next].0 &= !1;
            fresh.clear();
            let links = if layer == 0 { graph.shape().links(graph.node(due.id())?) } else { graph.upper(layer, due.id())? };
            for link in present(links) {
                let (word, bit) = (link as usize / 64, 1 << (link % 64));
                if let Some(word) = visited.get_mut(word).filter(|word| **word & bit == 0) {
                    *word |= bit;
                    fresh.push(link);
                }
            }
            next += 1;
            next = score_fresh(graph, probe, dots, fresh, ef, sights)?.min(next);
        }
        Ok(())
    }
}

/// Nodes whose cache lines are asked for before they are read.
const AHEAD: usize = 2 * ROWS;

/// Scores `fresh` and puts what is among the `ef` best into sight; the first place that changed.
fn score_fresh<G: Graph>(graph: &G, probe: &Probe, dots: Dots, fresh: &[u32], ef: usize, sights: &mut Vec<Sight>) -> Result<usize> {
    let mut first = usize::MAX;
    fresh.iter().take(AHEAD).for_each(|&id| graph.hint(id));
    for (at, ids) in fresh.chunks(ROWS).enumerate() {
        fresh.iter().skip(at * ROWS + AHEAD).take(ROWS).for_each(|&id| graph.hint(id));
        let mut nodes = [graph.node(ids[0])?; ROWS];
        for (node, &id) in nodes.iter_mut().zip(ids).skip(1) {
            *node = graph.node(id)?;
        }
        for (&id, score) in ids.iter().zip(probe.scores(dots, graph.shape(), nodes)) {
            let sight = Sight::new(score, id);
            if sights.len() == ef && sights.last().is_some_and(|worst| sight < *worst) {
                continue;
            }
            let place = sights.partition_point(|other| *other > sight);
            if sights.len() == ef {
                sights.pop();
            }
            sights.insert(place, sight);
            first = first.min(place);
        }
    }
    Ok(first)
}
