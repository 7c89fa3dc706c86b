//! Sessions that read a scope which is being erased: they read it no more, and its name goes with the transaction that erases it.

use super::key::{SessionKey, SessionsHead};
use super::record::SessionRecord;
use crate::scope::Scope;
use crate::store::keys::Partition;
use crate::store::pages::PagesMut;
use crate::{ErrorKind, Result};

/// Takes `scope` and its collections out of what the sessions of a partition read; how many of them read it. A record that is damaged
/// cannot be read, and does not keep anybody from being erased.
pub(crate) fn unread<P: PagesMut>(pages: &mut P, partition: Partition, scope: &Scope) -> Result<u64> {
    let mut changed = 0;
    for session in 1..=SessionsHead::read(&*pages, partition)?.sessions {
        let place = SessionKey { partition, session };
        let record = match SessionRecord::read(&*pages, place) {
            Err(error) if error.kind() == ErrorKind::StoreCorrupt => None,
            other => other?,
        };
        if let Some(left) = record.and_then(|record| without(record, scope)) {
            left.write(pages, place)?;
            changed += 1;
        }
    }
    Ok(changed)
}

/// The record without the scope; none where it did not read it.
fn without(mut record: SessionRecord, scope: &Scope) -> Option<SessionRecord> {
    let before = record.reads.len() + record.collections.len();
    record.reads.retain(|read| read != scope);
    record.collections.retain(|collection| collection.scope != *scope);
    record.edits += 1;
    (record.reads.len() + record.collections.len() < before).then_some(record)
}
