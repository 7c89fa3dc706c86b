//! The fixed sections before the window in every prompt of an epoch: tools, system prompt, pinned memory, summary.

use std::sync::Arc;

use crate::Result;
use crate::compaction::Summary;
use crate::context::fixed::choose_pinned;
use crate::context::{Fixed, FixedText, FixedTools, Item, Tools};
use crate::models::Model;
use crate::scope::Scope;
use crate::session::key::SessionKey;
use crate::session::record::SessionRecord;
use crate::session::stored_epoch::{BlobRef, StoredEpoch};
use crate::session::summary::StoredSummary;
use crate::session::transcript::blob;
use crate::session::window::pinned::{self, Pinned};
use crate::store::envelope;
use crate::store::pages::Pages;
use crate::tokens::CachedCounter;

/// The fixed sections of an epoch that begins now, and what is pinned in them: as much as an eighth of what the instructions leave
/// (of little a quarter), so that what somebody remembers can never make a session's instructions too large; `new` is a summary that is not written yet.
pub(in crate::session) fn fixed_for<P: Pages>(
    pages: &P,
    place: SessionKey,
    epoch: &StoredEpoch,
    scopes: &[Scope],
    limit: u64,
    now: i64,
    new: Option<&Summary>,
) -> Result<(Fixed, Pinned)> {
    let form = |partition| epoch.form_of(partition, place.partition);
    let (model, mut pinned) = (&epoch.model, Pinned::read(pages, scopes, form, now)?);
    let (framing, counter) = (&model.framing, CachedCounter::new(model.encoding));
    let mut fixed = fixed(pages, place, epoch, Vec::new())?;
    if let Some(new) = new {
        fixed.summary = summary_text(new, model);
    }
    let left = model.factor.room(limit).saturating_sub(fixed.tokens(framing));
    let room = (left / PINNED_SHARE).max((left / PINNED_SHARE_OF_LITTLE).min(PINNED_OF_LITTLE));
    let items = choose_pinned(std::mem::take(&mut pinned.items), &pinned.by_worth, room, framing, &counter);
    fixed.pinned = FixedText::pinned(items.clone(), framing, &counter);
    Ok((fixed, Pinned { items, ..pinned }))
}

/// Pinned memory may have one part in so many.
const PINNED_SHARE: u64 = 8;
/// Of little room it may have one part in so many, up to so many tokens: some twenty constraints, of which each may be vital.
const PINNED_SHARE_OF_LITTLE: u64 = 4;
const PINNED_OF_LITTLE: u64 = 1_000;

/// The scopes whose memory a session sees: its own first.
pub(in crate::session) fn scopes(own: &Scope, record: &SessionRecord) -> Vec<Scope> {
    std::iter::once(own).chain(&record.reads).cloned().collect()
}

/// A summary as a prompt shows it.
fn summary_text(summary: &Summary, model: &Model) -> Option<Arc<FixedText>> {
    let shown = || FixedText::summary(&summary.text(), &model.framing, &CachedCounter::new(model.encoding));
    (!summary.is_empty()).then(shown)
}

/// The fixed sections of an epoch, less what was forgotten since it began.
pub(in crate::session) fn fixed_of<P: Pages>(pages: &P, place: SessionKey, epoch: &StoredEpoch, now: i64) -> Result<Fixed> {
    fixed(pages, place, epoch, pinned::snapshot(pages, epoch, place.partition, now)?)
}

/// The fixed sections of an epoch with these pinned memories.
pub(in crate::session) fn fixed<P: Pages>(pages: &P, place: SessionKey, epoch: &StoredEpoch, pinned: Vec<Item>) -> Result<Fixed> {
    let (framing, counter) = (&epoch.model.framing, CachedCounter::new(epoch.model.encoding));
    let text = |blob: Option<BlobRef>| blob.map(|blob| blob::get(pages, place.partition, blob.hash)).transpose();
    let system = text(epoch.system)?.map(|bytes| utf8(place, bytes)).transpose()?;
    // Anthropic and Gemini refuse one without a visible character.
    let system = system.filter(|text| !text.trim().is_empty()).map(|text| FixedText::system(&text, framing, &counter));
    let tools = match text(epoch.tools)? {
        Some(bytes) => Tools::parse(&bytes)?.map(|tools| FixedTools::new(tools, framing, &counter)),
        None => None,
    };
    let stored = StoredSummary::read(pages, place, epoch.epoch.summary_version)?;
    let summary = stored.and_then(|stored| summary_text(&stored.summary, &epoch.model));
    Ok(Fixed { tools, system, pinned: FixedText::pinned(pinned, framing, &counter), summary })
}

fn utf8(place: SessionKey, bytes: Vec<u8>) -> Result<Arc<str>> {
    String::from_utf8(bytes).map(Arc::from).map_err(|_| envelope::damaged(place.record().as_slice(), "its system prompt is not UTF-8"))
}
