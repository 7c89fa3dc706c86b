//! Taking away: documents, whole collections, and what expired. Nobody sees it from the first commit on; the bytes go in bounded steps.

use super::name::CollectionName;
use super::record::{self, Document, Revision, State};
use super::writer::{STEP_REMOVED, Writer};
use crate::Result;
use crate::memory::Core;
use crate::scope::{self, Row};
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table, u32_at};
use crate::store::pages::{Pages, PagesMut};
use crate::store::reserve;
use crate::store::step::Step;

/// The seed of a collection by its partition; `None` where it was dropped, or is not a collection.
pub(super) fn seed_of<P: Pages + ?Sized>(pages: &P, partition: Partition) -> Result<Option<Seed>> {
    let Some(Row::Collection { owner, name }) = scope::row(pages, partition)? else { return Ok(None) };
    let Some(Row::Scope(scope)) = scope::row(pages, owner)? else { return Ok(None) };
    Ok(Some(CollectionName { scope, name }.seed(pages.secret())))
}

/// Removes a revision that nobody sees, step by step.
pub(super) fn revision(engine: &Core, partition: Partition, number: u32, now: i64) -> Result<()> {
    while engine.write(move |txn| step(txn, partition, number, now))? {}
    Ok(())
}

pub(super) fn step<P: PagesMut>(pages: &mut P, partition: Partition, number: u32, now: i64) -> Result<bool> {
    let Some(seed) = seed_of(pages, partition)? else { return Ok(false) };
    let mut writer = Writer::at(pages, partition, seed, now, None)?;
    let revision = Revision::read(writer.pages, partition, number)?.filter(|revision| revision.state != State::Current);
    let Some(revision) = revision else { return Ok(false) };
    let more = writer.remove_step(revision, STEP_REMOVED)?;
    writer.finish()?;
    Ok(more)
}

/// Removes a document; `false` where there is none of that id.
pub fn delete(engine: &Core, name: &CollectionName, id: &str, now: i64) -> Result<bool> {
    reserve::freeing(|| delete_one(engine, name, id, now))
}

fn delete_one(engine: &Core, name: &CollectionName, id: &str, now: i64) -> Result<bool> {
    let (owned, id) = (name.clone(), id.to_owned());
    let gone = engine.write(move |txn| {
        let Some(partition) = owned.find(txn)? else { return Ok(None) };
        let Some(document) = record::by_id(txn, partition, owned.seed(txn.secret()), &id)? else { return Ok(None) };
        unlink(txn, partition, owned.seed(txn.secret()), &document, now)
            .map(|revision| Some((partition, revision, document.is_expired(now))))
    })?;
    let Some((partition, number, expired)) = gone else { return Ok(false) };
    revision(engine, partition, number, now)?;
    Ok(!expired)
}

fn unlink<P: PagesMut>(pages: &mut P, partition: Partition, seed: Seed, document: &Document, now: i64) -> Result<u32> {
    let mut writer = Writer::at(pages, partition, seed, now, None)?;
    let revision = writer.unlink(document)?;
    writer.finish()?;
    Ok(revision.number)
}

/// Says when a document is to be removed, or that it is to be kept; `None` where there is none of that id.
pub fn expire_at(engine: &Core, name: &CollectionName, id: &str, at: Option<i64>, now: i64) -> Result<Option<Document>> {
    let (name, id) = (name.clone(), id.to_owned());
    engine.write(move |txn| {
        let Some(partition) = name.find(txn)? else { return Ok(None) };
        let stored = record::by_id(txn, partition, name.seed(txn.secret()), &id)?;
        let Some(document) = stored.filter(|document| !document.is_expired(now)) else { return Ok(None) };
        let mut writer = Writer::at(txn, partition, name.seed(txn.secret()), now, None)?;
        let document = writer.expire_at(document, at)?;
        writer.finish()?;
        Ok(Some(document))
    })
}

/// Removes documents of a partition whose time is over; how many. For a partition that was dropped, what the index of expiry says of it.
pub(crate) fn expire(engine: &Core, partition: Partition, numbers: &[u32], now: i64) -> Result<u64> {
    let mut expired = 0;
    for number in numbers.iter().copied() {
        let gone = engine.write(move |txn| {
            let Some(seed) = seed_of(txn, partition)? else { return Ok(None) };
            let document = Document::read(txn, partition, number)?.filter(|document| document.is_expired(now));
            document.map(|document| unlink(txn, partition, seed, &document, now)).transpose()
        })?;
        if let Some(number) = gone {
            revision(engine, partition, number, now)?;
            expired += 1;
        }
    }
    Ok(expired)
}

/// Removes a collection with everything in it; how many documents it had.
pub fn drop_collection(engine: &Core, name: &CollectionName) -> Result<u64> {
    reserve::freeing(|| drop_whole(engine, name))
}

fn drop_whole(engine: &Core, name: &CollectionName) -> Result<u64> {
    let owned = name.clone();
    let gone = engine.write(move |txn| {
        let Some(partition) = owned.find(txn)? else { return Ok(None) };
        let documents = super::Head::read(txn, partition)?.documents;
        owned.unlink(txn)?;
        Ok(Some((partition, documents)))
    })?;
    let Some((partition, documents)) = gone else { return Ok(0) };
    empty(engine, partition)?;
    Ok(documents)
}

/// Removes every value of a partition that was dropped, step by step.
pub(super) fn empty(engine: &Core, partition: Partition) -> Result<()> {
    while engine.write(move |txn| empty_step(txn, partition))? {}
    Ok(())
}

fn empty_step<P: PagesMut>(pages: &mut P, partition: Partition) -> Result<bool> {
    if !matches!(scope::row(pages, partition)?, Some(Row::Dropped { .. })) {
        return Ok(false);
    }
    let from = partition.to_be_bytes();
    let to = partition.saturating_add(1).to_be_bytes();
    let mut step = Step::default();
    pages.scan(&from, &to, &mut |key, _| step.take(key))?;
    for key in &step.keys {
        let bytes = key.as_slice();
        if bytes[4] == Table::CollectionDocument as u8
            && bytes.ends_with(&[0, 0])
            && let Some(number) = u32_at(bytes, 5)
            && let Some(document) = Document::read(pages, partition, number)?
            && let Some(at) = document.expires_at
        {
            pages.delete(Key::of_expiry(at, partition, number).as_slice())?;
        }
        pages.delete(bytes)?;
    }
    Ok(step.is_full())
}
