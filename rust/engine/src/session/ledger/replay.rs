//! An old call, again: the ledger's entry, the epoch and the transcript of that time give back what the model saw.

use std::sync::Arc;

use super::call::{Call, SentPrompt, Shown, shown};
use crate::Result;
use crate::context::explain::SectionUse;
use crate::context::limit::section;
use crate::context::{Inputs, Prompt, Volatile, compose};
use crate::scope::Scope;
use crate::session::key::{SessionKey, cache_key};
use crate::session::record::SessionRecord;
use crate::session::stored_epoch::StoredEpoch;
use crate::session::summary::StoredSummary;
use crate::session::transcript::message::{MessageRecord, MessageState};
use crate::session::transcript::view::{Extent, TurnRecord, View};
use crate::session::window::assemble::{Assembled, others};
use crate::session::window::fixed::fixed;
use crate::session::window::pinned;
use crate::store::pages::Pages;
use crate::tokens::CachedCounter;

/// A prompt that was sent.
#[derive(Debug, Clone)]
pub struct Replayed {
    /// The prompt.
    pub assembled: Assembled,
    /// The items that it showed and that were erased since: ids of memories, `message 31`. Empty where the bytes are those that were sent.
    pub erased: Vec<String>,
    /// Whether the bytes are proven to be those that were sent.
    pub same_bytes: bool,
}

/// A prompt that was assembled now: nothing of it is erased, and its bytes are its own.
impl From<Assembled> for Replayed {
    fn from(assembled: Assembled) -> Self {
        Self { assembled, erased: Vec::new(), same_bytes: true }
    }
}

/// Composes the prompt of a call again; `None` where the caller did not say what was sent.
pub(in crate::session) fn replay<P: Pages>(
    pages: &P,
    scope: &Scope,
    place: SessionKey,
    record: &SessionRecord,
    call: &Call,
    now: i64,
) -> Result<Option<Replayed>> {
    let Some(sent) = &call.sent else { return Ok(None) };
    let epoch = StoredEpoch::read(pages, place, sent.epoch)?;
    let pinned = pinned::snapshot(pages, &epoch, place.partition, now)?;
    let Shown { items, gone: mut erased, .. } = shown(pages, &sent.items, now)?;
    let lost = epoch.epoch.pinned.iter().filter(|memory| pinned.iter().all(|item| item.memory != Some(**memory)));
    erased.extend(lost.map(|memory| format!("memory mem-{}", memory.memory)));
    let prompt = again(pages, place, &epoch, sent, pinned, &items, now)?;
    for turn in prompt.window.first_turn..sent.turns.saturating_sub(1) {
        if let Some(kept) = TurnRecord::read(pages, place, turn)?.kept {
            erased.extend(Call::read(pages, place, turn, kept)?.shown(pages, now)?.gone);
        }
    }
    let opening = Some(prompt.window.cut.start).filter(|_| prompt.window.cut.shortened);
    for index in opening.into_iter().chain(prompt.message_indices()) {
        if MessageRecord::expect(pages, place, index)?.state == MessageState::Redacted {
            erased.push(format!("message {index}"));
        }
    }
    let stored = StoredSummary::read(pages, place, epoch.epoch.summary_version)?;
    erased.extend(stored.iter().flat_map(|stored| &stored.summary.erased).map(|index| format!("message {index}")));
    let same_bytes = prompt.chain.last() == Some(&sent.chain);
    let assembled = Assembled {
        prompt,
        model: epoch.model,
        place,
        session_id: record.id.clone(),
        cache_key: cache_key(pages, scope, &record.id),
        epoch: sent.epoch,
        sent: Arc::new(sent.clone()),
        degraded: None,
        ask: Arc::default(),
        question: sent.query.clone(),
        others: others(pages, record)?,
    };
    Ok(Some(Replayed { assembled, erased, same_bytes }))
}

fn again<P: Pages>(
    pages: &P,
    place: SessionKey,
    epoch: &StoredEpoch,
    sent: &SentPrompt,
    pinned: Vec<crate::context::Item>,
    items: &[crate::context::Item],
    now: i64,
) -> Result<Prompt> {
    let extent = Extent { messages: sent.messages, turns: sent.turns, tokens: sent.tokens, is_answered: !sent.carried, held: 0 };
    let view = View::new(pages, place, extent, epoch, Arc::default(), now);
    let factor = sent.factor.unwrap_or(epoch.epoch.factor);
    // A prompt of version 0.19.0 shows nothing of a turn that was taken back to the end of its summary. A later one shows its user message.
    let is_of_history = |uses: &&SectionUse| [section::HISTORY, section::TURN].contains(&&*uses.name);
    let shows_none = sent.messages == epoch.epoch.origin && sent.sections.iter().filter(is_of_history).all(|uses| uses.items == 0);
    let origin = epoch.epoch.origin + u64::from(shows_none);
    let cut_by = crate::context::Epoch { origin, factor, ..epoch.epoch.clone() };
    let mut prompt = compose(&Inputs {
        framing: &epoch.model.framing,
        counter: &CachedCounter::new(epoch.model.encoding),
        limit: sent.limit,
        output_tokens: sent.output_tokens,
        budget: &sent.budget,
        epoch: &cut_by,
        fixed: &fixed(pages, place, epoch, pinned)?,
        history: &view,
        volatile: Volatile::Sent(items, sent.set_aside),
        append_only: epoch.model.append_only,
        bounds: None,
    })?;
    (prompt.total_tokens, prompt.exact) = (sent.planned, sent.exact || prompt.exact);
    prompt.explained.retain(|line| line.why.is_of_blocks());
    prompt.explained.extend(sent.explained.iter().cloned());
    prompt.sections.clone_from(&sent.sections);
    Ok(prompt)
}
