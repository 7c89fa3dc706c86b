//! The newest turn goes on, once a prompt of it was sent, with its block, and in another epoch with the caller's question and items.

use super::assemble::Ask;
use crate::Result;
use crate::context::Item;
use crate::session::key::SessionKey;
use crate::session::ledger::Call;
use crate::session::record::{SentBlock, SessionRecord};
use crate::session::stored_epoch::StoredEpoch;
use crate::session::transcript::view::View;
use crate::store::pages::Pages;

/// The call whose block the newest turn goes on with, as long as its user message is open. In an epoch that began since then the prompt
/// begins with other bytes, so that an old block would save nothing, and would show what may be no longer true.
pub(in crate::session) fn goes_on<P: Pages>(view: &View<'_, P>, record: &SessionRecord, epoch: &StoredEpoch) -> Result<Option<Call>> {
    let Some(sent) = sent_in_turn(record) else { return Ok(None) };
    let call = Call::read(view.pages, view.place, sent.turn, sent.call)?;
    Ok(Some(call).filter(|call| call.sent.as_ref().is_some_and(|sent| sent.epoch == epoch.epoch.number)))
}

/// Whether [`goes_on`] finds a call, without reading the whole of its record.
pub(in crate::session) fn is_going_on<P: Pages>(view: &View<'_, P>, record: &SessionRecord, epoch: &StoredEpoch) -> Result<bool> {
    let Some(sent) = sent_in_turn(record) else { return Ok(false) };
    Ok(Call::sent_in(view.pages, view.place, sent.turn, sent.call)? == Some(epoch.epoch.number))
}

/// The request of a call that chooses the block of a running turn anew: for what `ask` does not say it asks as the turn's first call did,
/// with the question of that call and those of the caller's items that it showed. `None` where `ask` stands as it is.
pub(in crate::session) fn asked_before<P: Pages>(pages: &P, place: SessionKey, record: &SessionRecord, ask: &Ask) -> Result<Option<Ask>> {
    if ask.query.is_some() && !ask.items.is_empty() {
        return Ok(None);
    }
    let Some(sent) = sent_in_turn(record) else { return Ok(None) };
    for number in 0..=sent.call {
        let Some(first) = Call::read(pages, place, sent.turn, number)?.sent.filter(|sent| sent.carried) else { continue };
        let items = if ask.items.is_empty() { first.items.into_iter().filter(Item::is_given).collect() } else { ask.items.clone() };
        return Ok(Some(Ask { query: ask.query.clone().or(first.query), items, ..ask.clone() }));
    }
    Ok(None)
}

fn sent_in_turn(record: &SessionRecord) -> Option<SentBlock> {
    record.sent.filter(|sent| sent.turn + 1 == record.tally.turns)
}
