//! Blobs of a store whose secret was lost: a repair gave it another, so each has another name.

use std::collections::BTreeMap;

use super::super::key::SessionKey;
use super::super::record::SessionRecord;
use super::super::stored_epoch::StoredEpoch;
use super::super::transcript::blob;
use super::super::transcript::message::MessageRecord;
use super::{readable, sessions};
use crate::Result;
use crate::store::identity::Seed;
use crate::store::keys::Partition;
use crate::store::pages::PagesMut;

pub(crate) use super::super::transcript::blob::hashes;

/// Writes a blob under the name that its bytes have now; that name where it is another.
pub(crate) fn rename<P: PagesMut>(pages: &mut P, partition: Partition, seed: Seed, name: u128) -> Result<Option<u128>> {
    let Some(bytes) = readable(blob::get(&*pages, partition, name))? else { return Ok(None) };
    let now = blob::hash(seed, &bytes);
    if now == name {
        return Ok(None);
    }
    blob::stage(pages, partition, now, &bytes, usize::MAX >> 1, i64::MIN)?;
    Ok(Some(now))
}

/// Says the new names wherever a session says an old one.
pub(crate) fn refer<P: PagesMut>(pages: &mut P, partition: Partition, renamed: &BTreeMap<u128, u128>) -> Result<()> {
    for session in sessions(&*pages, partition)? {
        let place = SessionKey { partition, session };
        let Some(record) = readable(SessionRecord::read(&*pages, place))?.flatten() else { continue };
        for index in 0..record.tally.messages {
            let Some(mut message) = readable(MessageRecord::expect(&*pages, place, index))? else { continue };
            let before = message.holes.clone();
            message.holes.iter_mut().for_each(|hole| hole.hash = *renamed.get(&hole.hash).unwrap_or(&hole.hash));
            if message.holes != before {
                message.write(pages, place)?;
            }
        }
        for number in 0..=record.epoch {
            let Some(mut epoch) = readable(StoredEpoch::read(&*pages, place, number))? else { continue };
            let before = (epoch.system, epoch.tools);
            for text in [&mut epoch.system, &mut epoch.tools].into_iter().flatten() {
                text.hash = *renamed.get(&text.hash).unwrap_or(&text.hash);
            }
            if (epoch.system, epoch.tools) != before {
                epoch.write(pages, place)?;
            }
        }
    }
    Ok(())
}
