//! The entries by which messages are found, and the blobs that they refer to, made anew of the messages themselves.

use std::collections::BTreeMap;

use super::super::key::{SessionKey, SessionsHead};
use super::super::record::SessionRecord;
use super::super::stored_epoch::StoredEpoch;
use super::super::transcript::blob;
use super::super::transcript::message::MessageRecord;
use super::super::transcript::words::{self, Findable};
use super::{readable, sessions};
use crate::index::bm25::runs::Runs;
use crate::store::chunks;
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table};
use crate::store::pages::{Pages, PagesMut};
use crate::{Result, interrupt};

/// Messages in one transaction.
pub(crate) const PAGE: usize = 1_000;

/// Where the message of each document stands: session and index. A session that could not be mended may lack some.
pub(crate) fn documents<P: Pages>(pages: &P, partition: Partition) -> Result<BTreeMap<u32, (u32, u64)>> {
    let mut found = BTreeMap::new();
    for session in sessions(pages, partition)? {
        let place = SessionKey { partition, session };
        let Some(record) = readable(SessionRecord::read(pages, place))?.flatten() else { continue };
        for index in 0..record.tally.messages {
            interrupt::check()?;
            let Some(message) = readable(MessageRecord::expect(pages, place, index))? else { continue };
            if message.document != 0 && readable(message.whole(pages, place))?.is_some() {
                found.insert(message.document, (session, index));
            }
        }
    }
    Ok(found)
}

/// Takes everything out that messages are found by.
pub(crate) fn forget_words<P: PagesMut>(pages: &mut P, partition: Partition) -> Result<()> {
    Runs::clear(pages, words::index(partition))?;
    for table in [Table::MessageVector, Table::Document] {
        chunks::clear(pages, Key::new(partition, table))?;
    }
    Ok(())
}

/// Makes the next of these documents findable, in the order of their numbers.
pub(crate) fn find_anew<P: PagesMut>(pages: &mut P, partition: Partition, seed: Seed, some: &[(u32, (u32, u64))]) -> Result<()> {
    let (mut words, mut head) = (words::Words::default(), SessionsHead::read(&*pages, partition)?);
    for &(number, (session, index)) in some {
        interrupt::check()?;
        let place = SessionKey { partition, session };
        let record = MessageRecord::expect(&*pages, place, index)?;
        let message = record.whole(&*pages, place)?;
        let found_by = Findable::new(&message, record.author.as_deref(), seed);
        words.add_again(pages, place, (number, index, record.said_at()), found_by)?;
        head.said = head.said.map(|said| said.and(record.said_at()));
    }
    words.apply(pages, partition)?;
    head.write(pages, partition)
}

/// Counts the references of every blob of a scope anew, and removes those that nothing refers to.
pub(crate) fn recount_blobs<P: PagesMut>(pages: &mut P, partition: Partition) -> Result<()> {
    let mut references: BTreeMap<u128, u64> = BTreeMap::new();
    for session in sessions(&*pages, partition)? {
        let place = SessionKey { partition, session };
        let Some(record) = readable(SessionRecord::read(&*pages, place))?.flatten() else { continue };
        for index in 0..record.tally.messages {
            let Some(message) = readable(MessageRecord::expect(&*pages, place, index))? else { continue };
            message.holes.iter().for_each(|hole| *references.entry(hole.hash).or_default() += 1);
        }
        for number in 0..=record.epoch {
            for text in readable(StoredEpoch::texts(&*pages, place, number))?.unwrap_or_default() {
                *references.entry(text.hash).or_default() += 1;
            }
        }
    }
    blob::count_anew(pages, partition, &references)
}
