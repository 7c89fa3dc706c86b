//! Graphs over the vectors of large scopes and collections: built, rebuilt and dropped by maintenance.
//!
//! A build holds no transaction and no snapshot while it works. It writes in transactions of one value of at most 2 MiB, so that other
//! writers come between. A build that is interrupted is given up, and one that was killed is taken up anew by maintenance an hour later;
//! searches scan meanwhile.

use std::sync::Arc;

use super::Engine;
use crate::collection;
use crate::index::vectors::VectorSet;
use crate::index::vectors::graph::{Build, Due};
use crate::memory::maintain::STEP;
use crate::scope::{self, Head, Row};
use crate::store::keys::Partition;
use crate::store::metrics::add;
use crate::{ErrorKind, Result};

/// Nodes that are linked in between two calls of `between`: some tens of milliseconds.
const NODES: u32 = 256;

impl Engine {
    /// Gives every scope and every collection the graph that it should have; how many were built. `between` is called now and then, outside of any
    /// transaction; its error ends the work and is returned.
    ///
    /// Costs one or two reads a scope; a build about 0.2 ms a vector (256 dimensions) and, while it goes on, as much memory as the
    /// segment takes on disk: 0.4 GB for a million vectors.
    pub fn maintain_graphs(&self, now: i64, between: &mut dyn FnMut() -> Result<()>) -> Result<u64> {
        let (mut built, mut after) = (0, 0);
        loop {
            let page = self.store().read(|snapshot| scope::rows(snapshot, after, STEP))?;
            let Some((last, _)) = page.last() else { return Ok(built) };
            after = *last;
            for (partition, row) in page {
                if matches!(row, Row::Dropped { .. }) {
                    continue;
                }
                built += match self.maintain_graph(partition, now, between) {
                    // It was erased or dropped meanwhile.
                    Err(error) if error.kind() == ErrorKind::NotFound => 0,
                    other => u64::from(other?),
                };
            }
        }
    }

    /// Gives one partition the graph that it should have; whether it was built.
    pub fn maintain_graph(&self, partition: Partition, now: i64, between: &mut dyn FnMut() -> Result<()>) -> Result<bool> {
        let looked = self.store().read(|snapshot| {
            let (searched, vectors) = if collection::is_collection(snapshot, partition)? {
                let head = collection::Head::read(snapshot, partition)?;
                (head.embedding, head.vectors)
            } else {
                let head = Head::read(snapshot, partition)?;
                (head.embedding, head.vectors)
            };
            let set = self.vector_set(snapshot, partition)?.filter(|(number, _)| *number == searched);
            let Some((_, set)) = set else { return Ok(None) };
            let garbage = !set.graph_garbage(snapshot)?.is_empty();
            Ok(Some((set, set.graph_due(snapshot, vectors, self.graph())?, garbage)))
        })?;
        let Some((set, due, garbage)) = looked else { return Ok(false) };
        let built = match due {
            Due::Nothing => false,
            Due::Drop => self.write(move |txn| set.drop_graph(txn)).map(|()| false)?,
            Due::Build => self.build_graph(set, now, between)?,
        };
        while (garbage || due != Due::Nothing) && self.write(move |txn| set.sweep_graph(txn))? {
            between()?;
        }
        add(&self.store().metrics().graphs_built, u64::from(built));
        Ok(built)
    }

    fn build_graph(&self, set: VectorSet, now: i64, between: &mut dyn FnMut() -> Result<()>) -> Result<bool> {
        let Some((segment, last)) = self.write(move |txn| set.begin_graph(txn, now))? else { return Ok(false) };
        let built = self.store().read(|snapshot| Build::read(set, snapshot, segment, last, self.graph()));
        let built = built.and_then(|build| build.map_or(Ok(false), |build| self.write_graph(build, between)));
        if !matches!(built, Ok(true)) {
            self.write(move |txn| set.abandon_graph(txn, segment))?;
        }
        built
    }

    fn write_graph(&self, mut build: Build, between: &mut dyn FnMut() -> Result<()>) -> Result<bool> {
        while build.insert(NODES)? {
            between()?;
        }
        let build = Arc::new(build);
        for at in 0..build.values() {
            between()?;
            let build = Arc::clone(&build);
            if !self.write(move |txn| build.put(txn, at))? {
                return Ok(false);
            }
        }
        self.write(move |txn| build.finish(txn))
    }
}
