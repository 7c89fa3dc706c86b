//! Looking up and listing documents.

use super::head::Head;
use super::name::CollectionName;
use super::record::{self, Document};
use crate::Result;
use crate::scope::{self, Row};
use crate::store::keys::Partition;
use crate::store::pages::Pages;

const PAGE: usize = 256;

/// The document of that id, without its text.
pub fn info<P: Pages>(pages: &P, name: &CollectionName, id: &str, now: i64) -> Result<Option<Document>> {
    let Some(partition) = name.find(pages)? else { return Ok(None) };
    Ok(record::by_id(pages, partition, name.seed(pages.secret()), id)?.filter(|document| !document.is_expired(now)))
}

/// Whether a collection has no document of that id, or is not there at all. One that expired is there until maintenance removes it.
pub(crate) fn is_missing<P: Pages>(pages: &P, name: &CollectionName, id: &str) -> Result<bool> {
    let Some(partition) = name.find(pages)? else { return Ok(true) };
    Ok(record::by_id(pages, partition, name.seed(pages.secret()), id)?.is_none())
}

/// Whether a document is gone for good: its collection is nobody's any more, or does not have it. Neither of the numbers is given twice.
/// One that expired is there until maintenance removes it.
pub(crate) fn is_gone<P: Pages>(pages: &P, partition: Partition, number: u32) -> Result<bool> {
    let is_there = matches!(scope::row(pages, partition)?, Some(Row::Collection { .. }));
    Ok(!is_there || !Document::is_stored(pages, partition, number)?)
}

/// The document of that id with its text.
pub fn get<P: Pages>(pages: &P, name: &CollectionName, id: &str, now: i64) -> Result<Option<(Document, String)>> {
    let Some(document) = info(pages, name, id, now)? else { return Ok(None) };
    let partition = name.find(pages)?.unwrap_or_default();
    let text = record::text(pages, partition, document.revision, 0..document.bytes as usize)?;
    Ok(Some((document, text)))
}

/// Documents from number `first` on, in the order in which their ids were first added, and the number to go on from.
pub fn page<P: Pages>(pages: &P, name: &CollectionName, first: u32, limit: usize, now: i64) -> Result<(Vec<Document>, Option<u32>)> {
    let Some(partition) = name.find(pages)? else { return Ok((Vec::new(), None)) };
    let mut page = Document::page(pages, partition, first, limit)?;
    let next = page.last().filter(|_| page.len() == limit).and_then(|last| last.number.checked_add(1));
    page.retain(|document| !document.is_expired(now));
    Ok((page, next))
}

/// The counters of a collection: how many documents, chunks, bytes. Expired documents count until maintenance removes them.
pub fn count<P: Pages>(pages: &P, name: &CollectionName) -> Result<Head> {
    name.find(pages)?.map_or(Ok(Head::default()), |partition| Head::read(pages, partition))
}

/// How many collections a store has, and their counters together.
pub fn contents<P: Pages>(pages: &P) -> Result<(u64, Head)> {
    let (mut collections, mut sum, mut after) = (0, Head::default(), 0);
    loop {
        let rows = scope::rows(pages, after, PAGE)?;
        let Some((last, _)) = rows.last() else { return Ok((collections, sum)) };
        after = *last;
        for (partition, row) in rows {
            if matches!(row, Row::Collection { .. }) {
                let head = Head::read(pages, partition)?;
                collections += 1;
                sum.documents += head.documents;
                sum.chunks += head.chunks;
                sum.vectors += head.vectors;
                sum.bytes += head.bytes;
            }
        }
    }
}
