//! How many tokens a summary may have, so that the newest message keeps its place beside it.
//!
//! A prompt that fits before a compaction must fit afterwards. The limit is that of [`refused`]: what a provider refused counts where the
//! newest message fits it, and else the session's own. Whether a size fits is not computed but composed, with a summary of that size that
//! says nothing.

use super::key::SessionKey;
use super::reply::refused;
use super::session::{Session, Status};
use super::stored_epoch::StoredEpoch;
use super::summary::StoredSummary;
use super::window::assemble::check_fits;
use super::window::epochs;
use super::window::fixed::{fixed_for, fixed_of, scopes};
use crate::compaction::{Line, Section, Summary};
use crate::context::{Epoch, Fixed, History, Opening, Reason};
use crate::error::Field;
use crate::models::Model;
use crate::session::record::{SessionRecord, SessionState};
use crate::session::transcript::view::View;
use crate::store::pages::Pages;
use crate::tokens::CachedCounter;
use crate::{Error, ErrorKind, Result};

/// A compaction waits where a summary could have less than one part in so many of what it wants: the turns that a prompt has no room for
/// would be lost to all later ones, and the next message may be shorter.
const LEAST_PART: u64 = 4;

/// The least that a summary of `wanted` tokens is made smaller to.
pub(super) fn least_of(wanted: u64) -> u64 {
    wanted.div_ceil(LEAST_PART).max(1)
}

/// The limit of a session's prompts with a model: its own, or less where as much was refused.
pub(super) fn limit_in_force<P: Pages>(pages: &P, place: SessionKey, record: &SessionRecord, model: &Model) -> Result<u64> {
    refused::limit(pages, place, &model.name, record.limit(model)?.0)
}

/// The limit that the prompts of a session keep now; `None` where the newest message does not fit any.
pub(super) fn limit_kept<P: Pages>(
    pages: &P,
    place: SessionKey,
    record: &SessionRecord,
    epoch: &StoredEpoch,
    fixed: &Fixed,
    history: &dyn History,
) -> Result<Option<u64>> {
    for limit in [limit_in_force(pages, place, record, &epoch.model)?, u64::MAX] {
        match check_fits(pages, record, epoch, fixed, history, limit) {
            Err(error) if error.kind() == ErrorKind::BudgetExceeded => {}
            fits => return fits.map(|()| Some(limit)),
        }
    }
    Ok(None)
}

/// The most tokens up to `wanted` that pass a check of the prompt; `None` where fewer than `least` would.
pub(super) fn fitting(wanted: u64, least: u64, check: impl Fn(u64) -> Result<()>) -> Result<Option<u64>> {
    let mut tokens = wanted;
    loop {
        match check(tokens) {
            Err(error) if error.kind() == ErrorKind::BudgetExceeded => match less(tokens, &error, least) {
                Some(fewer) => tokens = fewer,
                None => return Ok(None),
            },
            fits => return fits.map(|()| Some(tokens)),
        }
    }
}

/// Fewer tokens than those of a summary that was too large by what the error says; `None` below `least`.
pub(super) fn less(tokens: u64, error: &Error, least: u64) -> Option<u64> {
    let number = |name: &str| {
        let found = error.fields().iter().find(|(field, _)| *field == name);
        found.and_then(|(_, value)| if let Field::Int(number) = value { Some(*number) } else { None })
    };
    let over = number("needed_tokens").zip(number("limit_tokens")).and_then(|(needed, limit)| u64::try_from(needed - limit).ok());
    tokens.checked_sub(over.unwrap_or(tokens / 4).max(1)).filter(|fewer| *fewer >= least)
}

/// A summary of about so many tokens, which says nothing.
pub(super) fn stand_in(tokens: u64, covers_end: u64) -> Summary {
    let text = "word ".repeat(usize::try_from(tokens).unwrap_or_default()).trim_end().into();
    let line = Line { section: Section::Summary, text, sources: vec![0], score: 0, by_model: false };
    let lines = if tokens == 0 { Vec::new() } else { vec![line] };
    Summary { covers: 0..covers_end, lines, ..Summary::default() }
}

impl Session<'_> {
    /// The tokens, at most `wanted`, that a summary of the messages before `boundary` may have beside the newest message; `None` where
    /// it is better made later. Where no prompt fits now, as many as let one fit, or all of `wanted` where nothing helps.
    pub(super) fn room_for_summary<P: Pages>(
        &self,
        pages: &P,
        status: &Status,
        boundary: u64,
        wanted: u64,
        now: i64,
    ) -> Result<Option<u64>> {
        let (place, record) = (status.place, &status.record);
        let view = View::cold(pages, place, record, &status.epoch);
        let fixed = fixed_of(pages, place, &status.epoch, now)?;
        let most = |limit, least| {
            fitting(wanted, least, |tokens| self.check_compacted(pages, status, (boundary, &stand_in(tokens, boundary)), limit, now))
        };
        if let Some(limit) = limit_kept(pages, place, record, &status.epoch, &fixed, &view)? {
            // A session that ended has no next message.
            let least = Some(least_of(wanted)).filter(|_| record.state == SessionState::Ended);
            return Ok(most(limit, least_of(wanted))?.or(least));
        }
        let within = most(limit_in_force(pages, place, record, &status.epoch.model)?, 1)?;
        Ok(within.or(most(u64::MAX, 1)?).or(Some(wanted)))
    }

    /// The tokens that the summary of now has to come down to, so that the newest message fits beside it: it was made for another model,
    /// or the message came later. `None` where a prompt fits, or no smaller summary would help.
    pub(super) fn too_large<P: Pages>(&self, pages: &P, status: &Status, now: i64) -> Result<Option<u64>> {
        let Status { place, record, epoch } = status;
        let Some(StoredSummary { summary, .. }) = StoredSummary::read(pages, *place, epoch.epoch.summary_version)? else { return Ok(None) };
        let view = View::cold(pages, *place, record, epoch);
        if limit_kept(pages, *place, record, epoch, &fixed_of(pages, *place, epoch, now)?, &view)?.is_some() {
            return Ok(None);
        }
        let tokens = epoch.model.factor.bound(summary.tokens(&CachedCounter::new(epoch.model.encoding)));
        let usual =
            super::compact::summary_tokens(None, record.limit(&epoch.model)?.0, limit_in_force(pages, *place, record, &epoch.model)?)?;
        Ok(self.room_for_summary(pages, status, summary.covers.end, tokens.min(usual), now)?.filter(|fewer| *fewer < tokens))
    }

    /// Composes the smallest prompt behind a compaction, as [`super::writer::SessionWriter::begin`] would begin its epoch.
    fn check_compacted<P: Pages>(
        &self,
        pages: &P,
        status: &Status,
        (boundary, summary): (u64, &Summary),
        most: u64,
        now: i64,
    ) -> Result<()> {
        let Status { place, record, epoch } = status;
        let (model, view) = (&epoch.model, View::cold(pages, *place, record, epoch));
        let (limit, _) = record.limit(model)?;
        let fixed = fixed_for(pages, *place, epoch, &scopes(self.scope, record), limit, now, Some(summary))?.0;
        let opening = Opening {
            previous: Some(&epoch.epoch),
            reason: Reason::Compacted,
            origin: boundary,
            pinned: Vec::new(),
            versions: [0; 3],
            factor: epochs::factor_now(pages, model, record)?,
            fixed_tokens: fixed.tokens(&model.framing),
        };
        let pending = record.tally.pending_tokens(&model.framing, &CachedCounter::new(model.encoding));
        let next = Epoch::open(opening, limit, &record.budget.sections, &view, pending)?;
        let record = SessionRecord { window: None, ..record.clone() };
        check_fits(pages, &record, &StoredEpoch { epoch: next, ..epoch.clone() }, &fixed, &view, most)
    }
}
