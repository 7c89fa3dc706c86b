//! The ledger of a session: a call that was lost is there again, without what it was sent and what it cost.

use super::super::key::SessionKey;
use super::super::ledger::Call;
use super::super::record::SessionRecord;
use super::super::transcript::message::MessageRecord;
use super::super::transcript::view::TurnRecord;
use super::super::window::recount;
use super::super::writer::SessionWriter;
use super::readable;
use crate::Result;
use crate::context::Reason;
use crate::scope::Scope;
use crate::store::chunks;
use crate::store::pages::PagesMut;

/// Puts a call without its prompt where one is lost; how many.
pub(super) fn stand_in<P: PagesMut>(pages: &mut P, place: SessionKey, session: &SessionRecord) -> Result<u64> {
    let mut lost = 0;
    for index in 0..session.tally.messages {
        let Some(record) = readable(MessageRecord::expect(&*pages, place, index))? else { continue };
        let (turn, Some(number)) = (record.placed.turn, record.call) else { continue };
        if readable(Call::read(&*pages, place, turn, number))?.is_some() {
            continue;
        }
        chunks::clear(pages, place.call(turn, number))?;
        let mut call = Call {
            number,
            reply: index,
            added_at: record.added_at,
            response_id: None,
            hash: 0,
            model: None,
            finish: None,
            usage: None,
            usage_tokens: None,
            sent: None,
        };
        call.write(pages, place, turn)?;
        lost += 1;
    }
    Ok(lost)
}

/// Takes blocks out of turns whose calls are not there; whether a block that stayed is lost, and so the sums of what stands behind it.
pub(super) fn drop_blocks<P: PagesMut>(pages: &mut P, place: SessionKey, session: &SessionRecord) -> Result<bool> {
    let mut gone = false;
    for turn in 0..session.tally.turns {
        let Some(known) = readable(TurnRecord::read(&*pages, place, turn))? else { continue };
        let Some(number) = known.kept else { continue };
        let call = readable(Call::read(&*pages, place, turn, number))?;
        gone |= !call.as_ref().is_some_and(Call::has_block);
        if call.is_none() {
            TurnRecord { kept: None, ..known }.write(pages, place, turn)?;
        }
    }
    if let Some(newest) = session.sent
        && !readable(Call::read(&*pages, place, newest.turn, newest.call))?.is_some_and(|call| call.has_block())
    {
        SessionRecord { sent: None, ..session.clone() }.write(pages, place)?;
    }
    Ok(gone)
}

/// Counts what the session's prompts show anew.
pub(super) fn count_anew<P: PagesMut>(pages: &mut P, scope: &Scope, place: SessionKey) -> Result<()> {
    let mut writer = SessionWriter::at(pages, scope, place, i64::MIN)?;
    let model = writer.epoch.model.clone();
    recount::switch(&mut writer, model, Reason::Rewound)?;
    writer.epoch.write(writer.pages, place)?;
    writer.finish()
}
