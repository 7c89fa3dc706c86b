//! Blobs: referred to as often as they say, whole where something refers to them, and the bytes that their hash is of.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::Result;
use crate::audit::Report;
use crate::session::transcript::blob::{self, Blob};
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table};
use crate::store::pages::Pages;

/// The references to blobs: by hash, their number and lengths.
#[derive(Default)]
pub(super) struct References(BTreeMap<u128, (u64, u64)>);

impl References {
    /// Something refers to a blob of that many bytes.
    pub fn add(&mut self, hash: u128, length: u64) {
        let known = self.0.entry(hash).or_insert((0, length));
        known.0 += 1;
        // Two lengths of one hash: one of them is wrong, and will be said to be.
        known.1 = known.1.max(length);
    }
}

/// Checks all blobs of a scope against what refers to them.
pub(super) fn check<P: Pages>(pages: &P, report: &mut Report, partition: Partition, seed: Seed, references: &References) -> Result<()> {
    let (mut chunks, mut expected) = (chunks(pages, partition)?, references.0.clone());
    let mut records = Vec::new();
    let range = Key::new(partition, Table::Blob).prefix_range();
    pages.scan(&range.start, &range.end, &mut |key, value| {
        records.extend(key.last_chunk().map(|hash| (u128::from_be_bytes(*hash), blob::decode(key, value))));
        Ok(ControlFlow::Continue(()))
    })?;
    for (hash, blob) in records {
        report.blobs += 1;
        let (count, length) = expected.remove(&hash).unwrap_or_default();
        let present = chunks.remove(&hash).unwrap_or_default();
        let Some(blob) = report.read(partition, "blob", blob)? else { continue };
        if blob.references != count || count > 0 && blob.length != length {
            let (said, bytes) = (blob.references, blob.length);
            let what = format!("blob {hash:032x} of {bytes} bytes counts {said} references, and there are {count} to {length} bytes");
            report.note(partition, "blob", what);
        }
        if let Some(what) = broken(blob, &present) {
            report.note(partition, "blob", format!("blob {hash:032x}: {what}"));
        } else if present.len() == blob.chunks()
            && let Some(bytes) = report.read(partition, "blob", blob::get(pages, partition, hash))?
            && blob::hash(seed, &bytes) != hash
        {
            report.note(partition, "blob", format!("blob {hash:032x} has other bytes than those of its hash"));
        }
    }
    for (hash, (count, _)) in expected {
        report.note(partition, "blob", format!("blob {hash:032x} is referred to {count} times and is missing"));
    }
    for (hash, present) in chunks {
        report.note(partition, "blob", format!("{} chunks belong to blob {hash:032x}, which is missing", present.len()));
    }
    Ok(())
}

/// The numbers of the chunks that are there, by blob.
fn chunks<P: Pages>(pages: &P, partition: Partition) -> Result<BTreeMap<u128, Vec<u16>>> {
    let (prefix, mut found) = (Key::new(partition, Table::BlobChunk), BTreeMap::<u128, Vec<u16>>::new());
    let range = prefix.prefix_range();
    pages.scan(&range.start, &range.end, &mut |key, _| {
        let rest = key.get(prefix.as_slice().len()..).unwrap_or_default();
        if let Some((hash, number)) = rest.split_first_chunk::<16>()
            && let Some(number) = number.first_chunk::<2>()
        {
            found.entry(u128::from_be_bytes(*hash)).or_default().push(u16::from_be_bytes(*number));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Faults of the present chunks: they must be a prefix of the blob, and all of it where something refers to it.
fn broken(blob: Blob, present: &[u16]) -> Option<&'static str> {
    let in_a_row = present.iter().enumerate().all(|(at, number)| usize::from(*number) == at);
    match () {
        () if !in_a_row => Some("its chunks are not numbered in a row"),
        () if present.len() > blob.chunks() => Some("it has more chunks than its length asks for"),
        () if blob.references > 0 && present.len() < blob.chunks() => Some("something refers to it, and it is not whole"),
        () => None,
    }
}
