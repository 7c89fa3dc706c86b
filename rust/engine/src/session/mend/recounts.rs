//! Counts that were made anew at a switch of models: where one is lost, it follows from its message and the one before.

use super::super::key::SessionKey;
use super::super::record::SessionRecord;
use super::super::stored_epoch::StoredEpoch;
use super::super::transcript::message::MessageRecord;
use super::super::transcript::view::{View, find_recount, write_recount};
use super::readable;
use crate::Result;
use crate::store::pages::{Pages, PagesMut};

/// The last epoch of each model that a session ran on, oldest first. Old epochs may be lost.
pub(super) fn epochs<P: Pages>(pages: &P, place: SessionKey, session: &SessionRecord) -> Result<Vec<StoredEpoch>> {
    let mut epochs: Vec<StoredEpoch> = Vec::new();
    for number in 0..=session.epoch {
        let Some(epoch) = readable(StoredEpoch::read(pages, place, number))? else { continue };
        epochs.retain(|known| known.switch != epoch.switch);
        epochs.push(epoch);
    }
    Ok(epochs)
}

/// Writes the counts of every switch anew that are lost. Those of lost messages come with their stand-ins.
pub(super) fn mend<P: PagesMut>(pages: &mut P, place: SessionKey, session: &SessionRecord) -> Result<()> {
    for epoch in epochs(&*pages, place, session)?.iter().filter(|epoch| epoch.switch > 0) {
        let mut before = 0;
        for index in epoch.recounted.0..epoch.recounted.1 {
            let Some(record) = readable(MessageRecord::expect(&*pages, place, index))? else { continue };
            if let Some((cost, sum)) = readable(find_recount(&*pages, place, epoch.switch, index))?.flatten() {
                before = sum + cost.tokens;
                continue;
            }
            let Some(stored) = readable(record.stored(&*pages, place))? else { continue };
            if record.placed.opens_turn && index > epoch.recounted.0 {
                let view = View::cold(&*pages, place, session, epoch);
                let block = readable(view.sent_block(record.placed.turn - 1))?.flatten();
                before += block.map_or(0, |block| block.tokens);
            }
            let cost = epoch.model.cost(&stored.message);
            write_recount(pages, place, epoch.switch, index, cost, before)?;
            before += cost.tokens;
        }
    }
    Ok(())
}

/// Counts the messages again that were added since the last switch that is known: the one whose counts they have is lost.
pub(super) fn sums<P: PagesMut>(pages: &mut P, place: SessionKey, session: &SessionRecord) -> Result<()> {
    let epoch = StoredEpoch::read(&*pages, place, session.epoch)?;
    let first = if epoch.switch == 0 { 0 } else { epoch.recounted.1 };
    let mut before = match first.checked_sub(1) {
        Some(last) => {
            View::cold(&*pages, place, session, &epoch).brief(last).map(|brief| brief.placed.tokens_before + brief.cost.tokens)?
        }
        None => 0,
    };
    for index in first..session.tally.messages {
        let mut record = MessageRecord::expect(&*pages, place, index)?;
        let stored = record.stored(&*pages, place)?;
        let cost = if epoch.model.counts(&stored.message, record.cost) { record.cost } else { epoch.model.cost(&stored.message) };
        if record.placed.opens_turn && index > 0 {
            let block = View::cold(&*pages, place, session, &epoch).sent_block(record.placed.turn - 1)?;
            before += block.map_or(0, |block| block.tokens);
        }
        if record.placed.tokens_before != before || record.cost != cost {
            (record.placed.tokens_before, record.cost) = (before, cost);
            record.write(pages, place)?;
        }
        before += cost.tokens;
    }
    Ok(())
}
