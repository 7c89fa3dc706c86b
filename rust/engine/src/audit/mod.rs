//! The report of an audit, and the reading of a whole index for one. It is below the doctor, so that each module checks its own values.

mod index;

use crate::store::keys::Partition;
use crate::{ErrorKind, Result};

pub(crate) use index::Index;

/// Findings that are kept in full; the others are counted.
const MOST_FINDINGS: usize = 1000;

/// Something that should not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The partition it was found in; 0 is the store's own.
    pub partition: Partition,
    /// Its area: "checksum", "key", "scope", "head", "memory", "postings", "row", "vector", "graph", "slot", "expiry", "history",
    /// "session", "message", "tokens", "turn", "call", "epoch", "message id", "task", "document", "blob", "learned", "page" (of LMDB), and of a collection
    /// "document", "revision", "chunk".
    pub part: &'static str,
    /// The contradiction.
    pub what: String,
}

/// The report of the doctor.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Values whose checksum was compared.
    pub values: u64,
    /// Scopes.
    pub scopes: u64,
    /// Current memories.
    pub memories: u64,
    /// Revisions that are not current, and tombstones.
    pub ended: u64,
    /// Postings, keys included.
    pub postings: u64,
    /// Vectors.
    pub vectors: u64,
    /// Sessions, those included that are being deleted or copied.
    pub sessions: u64,
    /// Their messages.
    pub messages: u64,
    /// Blobs of their messages, system prompts and tools.
    pub blobs: u64,
    /// Documents of collections.
    pub documents: u64,
    /// Chunks, those of revisions included that are being written or removed.
    pub chunks: u64,
    /// The findings, in the order of partitions; at most 1,000.
    pub findings: Vec<Finding>,
    /// How many more there were.
    pub more_findings: u64,
}

impl Report {
    /// Whether nothing was found.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }

    /// How much was read, by name.
    #[must_use]
    pub fn counted(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("values", self.values),
            ("scopes", self.scopes),
            ("memories", self.memories),
            ("ended", self.ended),
            ("postings", self.postings),
            ("vectors", self.vectors),
            ("documents", self.documents),
            ("chunks", self.chunks),
        ]
    }

    /// The findings, a line each.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let line = |one: &Finding| format!("{} of partition {}: {}", one.part, one.partition, one.what);
        let more = (self.more_findings > 0).then(|| format!("and {} more", self.more_findings));
        self.findings.iter().map(line).chain(more).collect()
    }

    pub(crate) fn note(&mut self, partition: Partition, part: &'static str, what: impl Into<String>) {
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(Finding { partition, part, what: what.into() });
        } else {
            self.more_findings += 1;
        }
    }

    /// The value, or a finding where it could not be read because it is damaged.
    pub(crate) fn read<T>(&mut self, partition: Partition, part: &'static str, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.kind() == ErrorKind::StoreCorrupt => {
                self.note(partition, part, error.message());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}
