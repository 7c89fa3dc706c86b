//! Passages of documents that were deleted: the ledger kept them as text, and forgets them with the next compaction.
//!
//! A passage says where it is from (its attribute `source` is `collection/document`). Where the session's collections have no such
//! document any more, the text goes; that something stood there stays, and `Turn.prompt.erased` names it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::call::{Call, count};
use crate::Result;
use crate::collection::{self, CollectionName};
use crate::context::Item;
use crate::context::limit::section;
use crate::memory::Core;
use crate::session::key::{SessionKey, SessionsHead};
use crate::session::record::SessionRecord;
use crate::store::keys::Partition;
use crate::store::pages::{Pages, PagesMut};

/// Turns that one transaction looks through.
const STEP: u64 = 256;

/// Takes what is gone out of the ledgers of a scope's sessions; how many passages.
pub(crate) fn drop_deleted(engine: &Core, partition: Partition) -> Result<u64> {
    let sessions = engine.store().read(|pages| Ok(SessionsHead::read(pages, partition)?.sessions))?;
    let mut dropped = 0;
    for session in 1..=sessions {
        let place = SessionKey { partition, session };
        let Some(turns) = engine.store().read(|pages| Ok(SessionRecord::read(pages, place)?.map(|record| record.tally.turns)))? else {
            continue;
        };
        for first in (0..turns).step_by(STEP as usize) {
            let last = turns.min(first + STEP);
            if engine.store().read(|pages| any_gone(pages, place, first..last))? {
                dropped += engine.write_to(partition, move |txn| drop_some(txn, place, first..last))?;
            }
        }
    }
    Ok(dropped)
}

fn any_gone<P: Pages>(pages: &P, place: SessionKey, turns: std::ops::Range<u64>) -> Result<bool> {
    let Some(known) = Known::of(pages, place)? else { return Ok(false) };
    for turn in turns {
        for call in Call::of_turn(pages, place, turn)? {
            for item in call.sent.iter().flat_map(|sent| &sent.items) {
                if known.is_gone(pages, item)? {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// The same of some turns of a session, in one transaction.
pub(in crate::session) fn drop_some<P: PagesMut>(pages: &mut P, place: SessionKey, turns: std::ops::Range<u64>) -> Result<u64> {
    let Some(known) = Known::of(&*pages, place)? else { return Ok(0) };
    let mut dropped = 0;
    for turn in turns {
        for number in 0..count(&*pages, place, turn)? {
            let mut call = Call::read(&*pages, place, turn, number)?;
            let before = dropped;
            for item in call.sent.iter_mut().flat_map(|sent| &mut sent.items) {
                if known.is_gone(&*pages, item)? {
                    item.text = Arc::from("");
                    item.attributes.retain(|(name, _)| &**name == SOURCE);
                    dropped += 1;
                }
            }
            if dropped > before {
                call.write(pages, place, turn)?;
            }
        }
    }
    Ok(dropped)
}

/// The attribute that names a passage's origin.
const SOURCE: &str = "source";

/// The collections that a session's prompts showed passages of, by name.
struct Known(BTreeMap<String, CollectionName>);

impl Known {
    fn of<P: Pages>(pages: &P, place: SessionKey) -> Result<Option<Self>> {
        let Some(record) = SessionRecord::read(pages, place)? else { return Ok(None) };
        Ok(Some(Self(record.collections.into_iter().map(|collection| (collection.name.clone(), collection)).collect())))
    }

    /// Whether an item is a passage of a document that its collection does not have. A collection that the session does not know any more
    /// leaves open what it was.
    fn is_gone<P: Pages>(&self, pages: &P, item: &Item) -> Result<bool> {
        if &*item.section != section::RETRIEVED || item.memory.is_some() || item.message.is_some() || item.text.is_empty() {
            return Ok(false);
        }
        let Some((_, source)) = item.attributes.iter().find(|(name, _)| &**name == SOURCE) else { return Ok(false) };
        for (at, _) in source.match_indices('/') {
            let Some(collection) = self.0.get(&source[..at]) else { continue };
            return collection::is_missing(pages, collection, &source[at + 1..]);
        }
        Ok(false)
    }
}
