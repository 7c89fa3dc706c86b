//! Another model: the newest messages are counted anew, from the newest back and no further than what its window holds.
//!
//! Messages that do not fit stay in the transcript and can be recalled. Counts are kept beside the messages, by the number of the switch,
//! so that prompts of before are composed with the counts of before.

use crate::Result;
use crate::context::cut::{head_of, origin_within};
use crate::context::turns::{ends_in_answer, opens_round};
use crate::context::{Block, History, Reason, Tally};
use crate::models::Model;
use crate::session::stored_epoch::StoredEpoch;
use crate::session::transcript::view::{View, write_recount};
use crate::session::writer::SessionWriter;
use crate::store::pages::{Pages, PagesMut};
use crate::tokens::CachedCounter;

/// The messages that a switch would keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The first message that stays in prompts.
    pub origin: u64,
    /// Messages before it: out of prompts, still in the transcript.
    pub left_out: u64,
    /// Messages from it on.
    pub kept: u64,
    /// Their tokens, counted for the new model.
    pub tokens: u64,
}

/// Counts of a transcript for another model.
struct Recounted {
    origin: u64,
    /// The first message that is counted: the origin, or the beginning of the turn that it lies in.
    first: u64,
    /// Message by message from that one on: cost, tokens before.
    counts: Vec<(crate::context::image::Cost, u64)>,
    tally: Tally,
}

/// The messages that a history grant of `grant` tokens keeps with `model`; none before message `least`, for which a summary stands.
pub(in crate::session) fn plan<P: Pages>(view: &View<'_, P>, model: &Model, grant: u64, tally: &Tally, least: u64) -> Result<Kept> {
    let recounted = recount(view, model, grant, tally, least)?;
    let all = recounted.tally.tokens;
    let before = recounted.counts.get((recounted.origin - recounted.first) as usize).map_or(all, |(_, before)| *before);
    let (end, tokens) = (view.messages(), all - before);
    Ok(Kept { origin: recounted.origin, left_out: recounted.origin, kept: end - recounted.origin, tokens })
}

fn recount<P: Pages>(view: &View<'_, P>, model: &Model, grant: u64, tally: &Tally, least: u64) -> Result<Recounted> {
    let (framing, counter) = (&model.framing, model.counter());
    let cost = |index: u64| Ok::<_, crate::Error>(model.cost(&view.message(index)?.message));
    let origin = origin_within(view, grant, &mut |index| Ok(cost(index)?.tokens))?.max(least).min(view.messages());
    let (mut fresh, mut counts) = (Tally::default(), Vec::new());
    let end = view.messages();
    let around = if origin < end {
        view.turn_around(origin)?
    } else if ends_in_answer(view, end)? {
        None
    } else {
        view.turns().checked_sub(1) // its user message stays
    };
    let first = around.map_or(Ok(origin), |turn| view.turn_start(turn))?;
    let mut turn = first_turn(view, first)?;
    for index in first..view.messages() {
        let (stored, cost) = (view.message(index)?, cost(index)?);
        if index > first && turn + 1 < view.turns() && view.turn_start(turn + 1)? == index {
            if let Some(block) = view.sent_block(turn)? {
                fresh.keep_block(Block::new(block.items.clone(), &counter).map_or(0, |block| block.tokens));
            }
            turn += 1;
        }
        let placed = fresh.push(&stored.message, cost.tokens, framing, &counter)?;
        counts.push((cost, placed.tokens_before));
    }
    Ok(Recounted { origin, first, counts, tally: Tally { tokens: fresh.tokens, ..tally.clone() } })
}

/// The first of the newest turn's rounds behind message `least` that fit `room` tokens of `model` beside its user message: the last one at
/// least. `None` where none before it would be left out.
pub(in crate::session) fn round_within<P: Pages>(view: &View<'_, P>, model: &Model, room: u64, least: u64) -> Result<Option<u64>> {
    let Some(newest) = view.turns().checked_sub(1) else { return Ok(None) };
    let head = head_of(view, view.turn_start(newest)?, view.messages())?;
    let (rounds, mut used, mut first) = (head.end.max(least)..view.messages(), 0, None);
    for index in head {
        used += model.cost(&view.message(index)?.message).tokens;
    }
    for index in rounds.clone().rev() {
        let message = &view.message(index)?.message;
        used += model.cost(message).tokens;
        if opens_round(message) && (used <= room || first.is_none()) {
            first = Some(index);
        }
        if used > room && first.is_some() {
            return Ok(first.filter(|first| *first > rounds.start));
        }
    }
    Ok(None)
}

/// The turn that begins at `origin`, or the number of turns where none does.
pub(in crate::session) fn first_turn<P: Pages>(view: &View<'_, P>, origin: u64) -> Result<u64> {
    let (mut low, mut high) = (0, view.turns());
    while low < high {
        let middle = low + (high - low) / 2;
        if view.turn_start(middle)? < origin { low = middle + 1 } else { high = middle }
    }
    Ok(low)
}

/// Moves a session to `model`, or to the same one with the window counted anew.
pub(in crate::session) fn switch<P: PagesMut>(writer: &mut SessionWriter<'_, P>, model: Model, reason: Reason) -> Result<()> {
    let before = writer.epoch.clone();
    let grant = grant(writer, &model)?;
    let view = View::cold(&*writer.pages, writer.place, &writer.record, &before);
    let least = crate::session::summary::covered(&*writer.pages, writer.place, before.epoch.summary_version)?;
    let recounted = recount(&view, &model, grant, &writer.record.tally, least)?;
    let end = view.messages();
    let switch = before.switch.checked_add(1).ok_or_else(|| {
        crate::Error::invalid(format!(
            "switching the model: a session does so at most {} times, and this one did: fork() it to go on",
            u16::MAX
        ))
    })?;
    writer.epoch = StoredEpoch { model, switch, recounted: (recounted.first, end), ..before };
    for (index, (cost, tokens_before)) in (recounted.first..).zip(&recounted.counts) {
        write_recount(writer.pages, writer.place, writer.epoch.switch, index, *cost, *tokens_before)?;
    }
    writer.record.tally = recounted.tally;
    if let Some(sent) = &mut writer.record.sent
        && let Some(block) = crate::session::ledger::Call::read(&*writer.pages, writer.place, sent.turn, sent.call)?.block(
            &*writer.pages,
            &CachedCounter::new(writer.epoch.model.encoding),
            i64::MIN,
        )?
    {
        sent.tokens = block.tokens;
    }
    writer.record.edits += 1;
    writer.begin(reason, recounted.origin)
}

/// The tokens for history with `model`: the limit less the fixed sections and the floors.
pub(in crate::session) fn grant<P: PagesMut>(writer: &SessionWriter<'_, P>, model: &Model) -> Result<u64> {
    let epoch = StoredEpoch { model: model.clone(), ..writer.epoch.clone() };
    let scopes = crate::session::window::fixed::scopes(writer.scope, &writer.record);
    Ok(grant_of(&*writer.pages, writer.place, &writer.record, &epoch, &scopes, writer.told, None)?.0)
}

/// The same from a snapshot, for an epoch that names the model, and the tokens of the fixed sections; with `new` as its summary.
pub(in crate::session) fn grant_of<P: Pages>(
    pages: &P,
    place: crate::session::key::SessionKey,
    record: &crate::session::record::SessionRecord,
    epoch: &StoredEpoch,
    scopes: &[crate::scope::Scope],
    now: i64,
    new: Option<&crate::compaction::Summary>,
) -> Result<(u64, u64)> {
    let (limit, _) = record.limit(&epoch.model)?;
    let fixed = crate::session::window::fixed::fixed_for(pages, place, epoch, scopes, limit, now, new)?.0;
    let mut next = epoch.epoch.clone();
    (next.factor, next.fixed_tokens) = (epoch.model.factor, fixed.tokens(&epoch.model.framing));
    Ok((next.grid(limit, &record.budget.sections)?.grant, next.fixed_tokens))
}
