//! Passages of documents that are gone: the ledger keeps passages as text, and none of a document that is gone.
//!
//! An item that is a passage has the number of its document's collection and of the document itself. An entry is written without those that
//! are gone ([`drop_gone`]), so that a reply that comes late brings nothing back, and a compaction takes them out of those that were written
//! before (`remains`), no matter what a session reads by then. That something stood there stays, and `Turn.prompt.erased` names it.
//!
//! Before 0.12.0 an item had no numbers. Its attribute `source` is `collection/document`, and its text goes once none of the collections of
//! that name that its session reads has such a document.

use std::sync::Arc;

use super::call::{Call, SentPrompt, count};
use crate::Result;
use crate::collection::{self, CollectionName};
use crate::context::Item;
use crate::context::limit::section;
use crate::session::key::SessionKey;
use crate::session::record::SessionRecord;
use crate::store::keys::Partition;
use crate::store::pages::{Pages, PagesMut};

/// Takes what is gone out of some turns of a session, in one transaction; how many passages.
pub(in crate::session) fn drop_some<P: PagesMut>(pages: &mut P, place: SessionKey, turns: std::ops::Range<u64>) -> Result<u64> {
    let Some(known) = Known::of(&*pages, place)? else { return Ok(0) };
    let mut dropped = 0;
    for turn in turns {
        for number in 0..count(&*pages, place, turn)? {
            let mut call = Call::read(&*pages, place, turn, number)?;
            let Some(sent) = &mut call.sent else { continue };
            let gone = known.drop_gone(&*pages, sent)?;
            if gone > 0 {
                call.write(pages, place, turn)?;
            }
            dropped += gone;
        }
    }
    Ok(dropped)
}

/// Takes the passages out of a prompt whose documents are known to be gone, by their numbers.
pub(super) fn drop_gone<P: Pages>(pages: &P, sent: &mut SentPrompt) -> Result<()> {
    blank(sent, |item| Ok(!item.text.is_empty() && is_gone(pages, item)? == Some(true))).map(drop)
}

fn blank(sent: &mut SentPrompt, is_gone: impl Fn(&Item) -> Result<bool>) -> Result<u64> {
    let mut gone = 0;
    for item in &mut sent.items {
        if is_gone(item)? {
            item.text = Arc::from("");
            item.attributes.retain(|(name, _)| &**name == SOURCE);
            sent.chain = 0; // that of the prompt with its text, which nobody composes again
            gone += 1;
        }
    }
    Ok(gone)
}

/// Whether the document of a passage is gone; `None` where the item does not have its number.
fn is_gone<P: Pages>(pages: &P, item: &Item) -> Result<Option<bool>> {
    item.document.map(|of| collection::is_gone(pages, of.partition as Partition, of.document as u32)).transpose()
}

/// The attribute that names a passage's origin.
const SOURCE: &str = "source";

/// The collections that a session reads now.
pub(super) struct Known(Vec<CollectionName>);

impl Known {
    /// Takes the passages of a prompt whose documents are gone out of it; how many.
    pub(super) fn drop_gone<P: Pages>(&self, pages: &P, sent: &mut SentPrompt) -> Result<u64> {
        blank(sent, |item| self.is_gone(pages, item))
    }

    pub(super) fn of<P: Pages>(pages: &P, place: SessionKey) -> Result<Option<Self>> {
        Ok(SessionRecord::read(pages, place)?.map(|record| Self(record.collections)))
    }

    /// Whether an item is a passage with a text whose document is gone.
    pub(super) fn is_gone<P: Pages>(&self, pages: &P, item: &Item) -> Result<bool> {
        if &*item.section != section::RETRIEVED || item.memory.is_some() || item.message.is_some() || item.text.is_empty() {
            return Ok(false);
        }
        is_gone(pages, item)?.map_or_else(|| self.lacks(pages, item), Ok)
    }

    /// Whether a document that an item without numbers names is gone: some collection could be meant, and none of those has the document. A
    /// collection that the session does not read any more leaves open what it was.
    fn lacks<P: Pages>(&self, pages: &P, item: &Item) -> Result<bool> {
        let Some((_, source)) = item.attributes.iter().find(|(name, _)| &**name == SOURCE) else { return Ok(false) };
        let mut is_known = false;
        for (at, _) in source.match_indices('/') {
            for collection in self.0.iter().filter(|collection| collection.name == source[..at]) {
                if !collection::is_missing(pages, collection, &source[at + 1..])? {
                    return Ok(false);
                }
                is_known = true;
            }
        }
        Ok(is_known)
    }
}
