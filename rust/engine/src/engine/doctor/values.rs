//! Every value for itself: its checksum, its key, its chunks.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::Result;
use crate::audit::Report;
use crate::store::envelope::{self, CONTINUES};
use crate::store::keys::{Partition, STORE, Table, u32_at};
use crate::store::pages::Pages;

/// Checks every value of the store; the partitions that have one, the store's own left out.
pub(super) fn check<P: Pages>(pages: &P, report: &mut Report) -> Result<BTreeSet<Partition>> {
    let mut partitions = BTreeSet::new();
    let mut chunks = Chunks::default();
    pages.scan_stored(&[0], &[u8::MAX; 32], &mut |key, value| {
        report.values += 1;
        let partition = u32_at(key, 0).unwrap_or(STORE);
        partitions.insert(partition);
        let table = key.get(4).and_then(|byte| Table::ALL.into_iter().find(|table| *table as u8 == *byte));
        match table {
            Some(table) if (table < Table::VectorExact) == (partition == STORE) => {
                if let Some(envelope) = report.read(partition, "checksum", envelope::open(key, value))? {
                    chunks.next(report, key, table, envelope.codec);
                    report.read(partition, "encryption", pages.authenticate(key, value))?;
                } else {
                    chunks = Chunks::default();
                }
            }
            _ => report.note(partition, "key", format!("no table of this partition has the key {key:02x?}")),
        }
        Ok(ControlFlow::Continue(()))
    })?;
    chunks.end(report);
    partitions.remove(&STORE);
    Ok(partitions)
}

/// Follows the chunks of long bodies: each must be the next one of its body, and the last must say so.
#[derive(Default)]
struct Chunks {
    expected: Option<Vec<u8>>,
}

impl Chunks {
    fn next(&mut self, report: &mut Report, key: &[u8], table: Table, codec: u8) {
        // Not the chunks of blobs: chunks that were staged and never used are only a beginning.
        let memory = matches!(table, Table::Memory | Table::History | Table::Slot | Table::VectorExact | Table::Relation);
        let session =
            matches!(table, Table::Transcript | Table::Call | Table::Epoch | Table::Task | Table::PartialReply | Table::RunCatalog);
        let beside = matches!(table, Table::Summary | Table::Note | Table::SessionMetadata);
        let chunked = memory || session || beside || matches!(table, Table::CollectionDocument | Table::CollectionRevision);
        let expected = self.expected.take();
        let Some((prefix, chunk)) = key.split_last_chunk::<2>().filter(|_| chunked) else { return missing(report, expected) };
        match expected {
            Some(expected) if expected == key => {}
            _ if u16::from_be_bytes(*chunk) == 0 => missing(report, expected),
            _ => report.note(u32_at(key, 0).unwrap_or(0), "key", format!("the chunk at {key:02x?} follows on nothing")),
        }
        if codec & CONTINUES != 0 {
            self.expected = Some([prefix, &u16::from_be_bytes(*chunk).wrapping_add(1).to_be_bytes()].concat());
        }
    }

    fn end(&mut self, report: &mut Report) {
        missing(report, self.expected.take());
    }
}

fn missing(report: &mut Report, expected: Option<Vec<u8>>) {
    if let Some(key) = expected {
        report.note(u32_at(&key, 0).unwrap_or(0), "key", format!("the chunk at {key:02x?} is missing"));
    }
}
