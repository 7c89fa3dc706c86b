//! Where turns begin, and which blocks stayed in them: said again by their messages and by the ledger.

use std::collections::BTreeMap;

use super::super::key::SessionKey;
use super::super::ledger::Call;
use super::super::record::SessionRecord;
use super::super::stored_epoch::StoredEpoch;
use super::super::transcript::message::MessageRecord;
use super::super::transcript::view::{TurnRecord, View};
use super::{readable, recounts};
use crate::Result;
use crate::store::pages::{Pages, PagesMut};
use crate::tokens::CachedCounter;

/// Writes the turns anew that are lost.
pub(super) fn mend<P: PagesMut>(pages: &mut P, place: SessionKey, session: &SessionRecord) -> Result<()> {
    let mut lost = Vec::new();
    for turn in 0..session.tally.turns {
        if readable(TurnRecord::read(&*pages, place, turn))?.is_none() {
            lost.push(turn);
        }
    }
    if lost.is_empty() {
        return Ok(());
    }
    let starts = starts(&*pages, place, session)?;
    for turn in &lost {
        if let Some(&start) = starts.get(turn) {
            TurnRecord { start, kept: None }.write(pages, place, *turn)?;
        }
    }
    let epochs = recounts::epochs(&*pages, place, session)?;
    for turn in lost {
        if let (Some(&start), Some(&next)) = (starts.get(&turn), starts.get(&(turn + 1))) {
            let kept = kept(&*pages, place, (session, &epochs), turn, next)?;
            TurnRecord { start, kept }.write(pages, place, turn)?;
        }
    }
    Ok(())
}

/// The first message of each turn whose first message is there.
fn starts<P: Pages>(pages: &P, place: SessionKey, session: &SessionRecord) -> Result<BTreeMap<u64, u64>> {
    let mut starts = BTreeMap::new();
    for index in 0..session.tally.messages {
        let placed = readable(MessageRecord::brief_at(pages, place, index))?.map(|brief| brief.placed);
        if let Some(placed) = placed.filter(|placed| placed.opens_turn) {
            starts.insert(placed.turn, index);
        }
    }
    Ok(starts)
}

/// The call whose block has as many tokens as stand between a turn and the next, which begins at `next`. Where none has, something of the
/// block is gone, and it is the last one's. The tokens are those of the last model that counted both messages around it: a switch counts
/// the window anew, and its first message then has another model's sum than the one before.
fn kept<P: Pages>(
    pages: &P,
    place: SessionKey,
    (session, epochs): (&SessionRecord, &[StoredEpoch]),
    turn: u64,
    next: u64,
) -> Result<Option<u16>> {
    let counted = |epoch: &&StoredEpoch| epoch.switch == 0 || epoch.recounted.0 < next;
    let Some(epoch) = epochs.iter().rev().find(counted).or(epochs.last()) else { return Ok(None) };
    let view = View::cold(pages, place, session, epoch);
    let (Some(last), Some(next)) = (readable(view.brief(next - 1))?, readable(view.brief(next))?) else { return Ok(None) };
    let gap = next.placed.tokens_before.saturating_sub(last.placed.tokens_before + last.cost.tokens);
    if gap == 0 {
        return Ok(None);
    }
    let counter = CachedCounter::new(epoch.model.encoding);
    let calls = readable(Call::of_turn(pages, place, turn))?.unwrap_or_default();
    for call in calls.iter().rev() {
        if readable(call.block(pages, &counter, i64::MIN))?.flatten().is_some_and(|block| block.tokens == gap) {
            return Ok(Some(call.number));
        }
    }
    Ok(calls.iter().rev().find(|call| call.has_block() || call.is_lost()).map(|call| call.number))
}
