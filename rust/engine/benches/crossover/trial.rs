//! A set of vectors in a store of its own, so that scan and graph can be measured at any size.
//!
//! Nothing is synced: it is thrown away afterwards.

use std::path::Path;

use memspan_engine::index::vectors::graph::{Build, GraphOptions};
use memspan_engine::index::vectors::{Query, Scored, Scores, UnitVector, VectorSet};
use memspan_engine::store::environment::{Environment, Mode};
use memspan_engine::store::folder::FORMAT_VERSION;
use memspan_engine::{Error, Result};

/// Candidates that are compared once more, exactly: as many as a recall of ten takes.
const CANDIDATES: usize = 40;

/// A set of vectors, numbered from 1.
pub struct Trial {
    environment: Environment,
    set: VectorSet,
    next: u32,
}

impl Trial {
    /// An empty set in `folder`, an empty folder.
    pub fn new(folder: &Path, dims: usize) -> Result<Self> {
        let mode = Mode { read_only: false, relaxed: false, building: true, format: FORMAT_VERSION };
        Ok(Self { environment: Environment::create(folder, 1, mode)?, set: VectorSet::new(1, 1, dims)?, next: 1 })
    }

    /// Adds vectors, as the next numbers.
    pub fn add(&mut self, vectors: &[UnitVector]) -> Result<()> {
        for batch in vectors.chunks(1000) {
            let numbered: Vec<_> = (self.next..).zip(batch).collect();
            let mut txn = self.environment.write()?;
            self.set.put_many(&mut txn, &numbered)?;
            txn.commit()?;
            self.next += batch.len() as u32;
        }
        Ok(())
    }

    /// Builds the graph over everything that was added, as maintenance does.
    pub fn build(&self, options: &GraphOptions) -> Result<()> {
        options.check()?;
        let mut txn = self.environment.write()?;
        let begun = self.set.begin_graph(&mut txn, i64::from(self.next))?;
        txn.commit()?;
        let nothing = || Error::invalid("building a trial's graph: it must have vectors, and another build must not be under way");
        let (segment, last) = begun.ok_or_else(nothing)?;
        let mut build = Build::read(self.set, &self.environment.snapshot()?, segment, last, options)?.ok_or_else(nothing)?;
        while build.insert(u32::MAX)? {}
        for at in 0..build.values() {
            let mut txn = self.environment.write()?;
            build.put(&mut txn, at)?;
            txn.commit()?;
        }
        let mut txn = self.environment.write()?;
        build.finish(&mut txn)?;
        txn.commit()
    }

    /// The nearest `n`, by exact cosines of the best int8 candidates: by the graph with `ef` nodes in sight, or by a scan.
    pub fn search(&self, query: &Query, n: usize, ef: Option<usize>) -> Result<Vec<Scored>> {
        let (pages, wanted) = (self.environment.snapshot()?, CANDIDATES.max(n));
        let mut best = if let Some(ef) = ef {
            self.set.with_ef_search(ef).nearest(&pages, query, wanted, |_| true)?.best.clone()
        } else {
            let mut scores = Scores::new();
            self.set.scan(&pages, query, &mut scores)?;
            scores.best(wanted, |_| true)
        };
        self.set.rerank(&pages, query, &mut best)?;
        best.truncate(n);
        Ok(best)
    }
}
