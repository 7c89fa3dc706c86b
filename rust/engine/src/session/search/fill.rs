//! Rows and vectors of messages that an older version added: made by maintenance, a step at a time. It also finds out in which order they were said.

use super::super::key::{SessionKey, SessionsHead};
use super::super::transcript::message::MessageRecord;
use super::super::transcript::words::{speaker, text_of, vector, vectors};
use super::dated::said_order;
use super::row::{Row, Rows, rows};
use crate::Result;
use crate::index::vectors::UnitVector;
use crate::memory::Core;
use crate::store::keys::Partition;
use crate::store::pages::{Pages, PagesMut};

/// Messages in one transaction: each costs a page or two.
const STEP: usize = 128;
const SCOPES: usize = 256;

/// Makes what messages of an older version lack, in every scope; how many there were. Their words stay as they are: a speaker's
/// name is among the words of newer messages only.
pub fn fill_rows(engine: &Core) -> Result<u64> {
    let (mut after, mut filled) = (0, 0);
    loop {
        let page = engine.scopes(after, SCOPES)?;
        let Some((last, _)) = page.last() else { return Ok(filled) };
        after = *last;
        for (partition, _) in page {
            let mut first = 0;
            loop {
                let bare = engine.store().read(|pages| rows(pages, partition, first, STEP, |row| !row.is_full()))?;
                let Some((&last, _)) = bare.last_key_value() else { break };
                filled += engine.write_to(partition, move |txn| fill(txn, partition, &bare))?;
                first = last.saturating_add(1);
            }
            put_in_order(engine, partition)?;
        }
    }
}

/// Counts anew in which order the messages of a scope were said: an older version did not count it, and messages that are gone count no longer.
fn put_in_order(engine: &Core, partition: Partition) -> Result<()> {
    if engine.store().read(|pages| ordered(pages, partition))?.is_none() {
        return Ok(());
    }
    engine.write_to(partition, move |txn| ordered(&*txn, partition)?.map_or(Ok(()), |head| head.write(txn, partition)))
}

/// The counters of a scope with the order of the messages that it has; `None` where they have it, or there are none to count.
fn ordered<P: Pages>(pages: &P, partition: Partition) -> Result<Option<SessionsHead>> {
    let head = SessionsHead::read(pages, partition)?;
    if head.last_document == 0 {
        return Ok(None);
    }
    let said = Some(said_order(pages, partition)?);
    Ok((head.said != said).then_some(SessionsHead { said, ..head }))
}

/// The same for a scope of a store that nobody sees yet, which was loaded or repaired: only where its version did not count it.
pub(crate) fn count_order<P: PagesMut>(pages: &mut P, partition: Partition) -> Result<()> {
    ordered(&*pages, partition)?.map_or(Ok(()), |head| head.write(pages, partition))
}

/// Whether a scope has messages of which no order was counted.
pub(crate) fn has_no_order<P: Pages>(pages: &P, partition: Partition) -> Result<bool> {
    let head = SessionsHead::read(pages, partition)?;
    Ok(head.last_document > 0 && head.said.is_none())
}

/// Writes rows and vectors of documents, as far as they are still there.
pub(super) fn fill(pages: &mut impl PagesMut, partition: Partition, bare: &Rows) -> Result<u64> {
    let (mut filled, mut made): (u64, Vec<(u32, UnitVector)>) = (0, Vec::with_capacity(bare.len()));
    for &number in bare.keys() {
        let bare = |row: Row<'_>| (!row.is_full()).then(|| row.owned());
        let Some(row) = Row::look(&*pages, partition, number, bare)?.flatten() else { continue };
        let record = MessageRecord::expect(&*pages, SessionKey { partition, session: row.session }, row.index)?;
        let message = record.whole(&*pages, SessionKey { partition, session: row.session })?;
        let text = text_of(&message);
        let full = Row::of(&message, speaker(&message, record.author.as_deref()), &text).placed(row.session, row.index, record.said_at());
        Row { named: row.named, ..full }.write(pages, partition, number)?;
        if !row.embedded {
            made.push((number, vector(&text)));
        }
        filled += 1;
    }
    let vectors_made: Vec<(u32, &UnitVector)> = made.iter().map(|(number, vector)| (*number, vector)).collect();
    vectors(partition).put_many(pages, &vectors_made)?;
    Ok(filled)
}
