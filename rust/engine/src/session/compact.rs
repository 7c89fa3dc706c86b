//! Compacting a session: a snapshot is read, the work is done outside of any transaction, and one epoch is committed.
//!
//! Reading gives a [`Draft`]: the summary before and the messages that are to leave, up to the beginning of a turn, or of a round where the
//! newest turn alone is too large, so that no tool round is ever parted. Messages that come meanwhile stay behind the boundary. Another compaction, a rewind, a redaction or a switch of models
//! in between makes the draft stale: `SessionMoved`, and nothing is changed.

use std::sync::Arc;

use super::edit::check_not_hidden;
use super::key::SessionKey;
use super::notes;
use super::policy::Policy;
use super::record::{SessionBudget, SessionRecord, SessionState};
use super::session::{Session, Status};
use super::stored_epoch::StoredEpoch;
use super::summary::{self, StoredSummary};
use super::summary_room::{fitting, limit_in_force, limit_kept, stand_in};
use super::switch::SwitchPlan;
use super::task;
use super::transcript::message::{MessageRecord, MessageState};
use super::transcript::view::View;
use super::window::assemble::check_fits;
use super::window::fixed::{fixed_for, scopes};
use super::window::pinned::Pinned;
use super::window::{epochs, recount};
use super::writer::{SessionWriter, moved};
use crate::compaction::{Aim, Source, Summary, TaskLines};
use crate::context::cut::{first_round, head_of, tokens_from, tokens_of};
use crate::context::rounds::TOKENS as ROUNDS_LINE;
use crate::context::turns::opens_round;
use crate::context::{Epoch, History, Item, Message, Opening, Reason, Role, Share, Transcript};
use crate::limits;
use crate::memory::Kind;
use crate::models::Model;
use crate::store::pages::{Pages, PagesMut};
use crate::tokens::CachedCounter;
use crate::{Error, ErrorKind, Result, interrupt};

/// Newest exchanges that stay as they are, at most, where the caller names no number.
const KEPT_EXCHANGES: u64 = 3;
/// A summary has this part of a prompt's limit, where the caller names no number.
const LIMIT_SHARE: u64 = 8;
/// The least and the most tokens of a summary, where the caller names no number.
const SUMMARY_TOKENS: std::ops::RangeInclusive<u64> = 200..=2_000;
/// Rounds of a running turn leave from one part in so many of the threshold on.
const LEAST_LEAVING: u64 = 8;
/// The largest that may be asked for, as a part of the limit: history needs room too.
const MOST_OF_LIMIT: u64 = 2;

/// The input of a compaction.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The session.
    pub place: SessionKey,
    /// How often it was edited, and which summary it showed.
    pub seen: (u64, u64),
    /// The summary before.
    pub previous: Option<Summary>,
    /// The messages that leave.
    pub sources: Vec<Source>,
    /// Their ids, where their callers gave some.
    pub ids: Vec<Option<String>>,
    /// The first message that stays.
    pub boundary: u64,
    /// Tokens that the summary may have.
    pub max_tokens: u64,
    /// The model whose tokens they are.
    pub model: Model,
    /// The purpose, of a brief.
    pub aim: Option<Aim>,
}

impl Draft {
    /// A draft of plain messages, without a store, and the place of the first that stays. Leading system messages are the caller's own and
    /// no part of it; the newest `keep` exchanges stay as they are.
    pub fn of_messages(
        previous: Option<Summary>,
        messages: Vec<Message>,
        keep: u64,
        max_tokens: u64,
        model: Model,
    ) -> Result<(Self, usize)> {
        limits::within("keep_exchanges", keep, 0..=limits::MAX_KEPT_EXCHANGES)?;
        limits::within("max_tokens", max_tokens, 1..=limits::MAX_SUMMARY_TOKENS)?;
        let first = previous.as_ref().map_or(0, |before| before.covers.end);
        let numbered = |(at, message): (usize, Message)| Source { index: first + at as u64, message: Arc::new(message.without_beside()) };
        let mut messages: Vec<Source> = messages.into_iter().enumerate().map(numbered).collect();
        let end = newest_exchanges(&messages, keep as usize);
        let system = messages.iter().take_while(|source| source.message.role == Role::System).count();
        messages.truncate(end);
        let sources = messages.split_off(system.min(end));
        let (place, ids) = (SessionKey { partition: 0, session: 0 }, vec![None; sources.len()]);
        Ok((Self { place, seen: (0, 0), previous, sources, ids, boundary: first + end as u64, max_tokens, model, aim: None }, end))
    }
}

/// Where the newest `keep` exchanges begin.
fn newest_exchanges(messages: &[Source], keep: usize) -> usize {
    if keep == 0 {
        return messages.len();
    }
    let opens: Vec<usize> = (0..messages.len()).filter(|at| messages[*at].message.opens_turn()).collect();
    opens.len().checked_sub(keep).map_or(0, |at| if at == 0 { 0 } else { opens[at] })
}

/// The report of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Committed {
    /// The epoch that began.
    pub epoch: u64,
    /// The summary's version.
    pub version: u64,
    /// Counted tokens of the fixed sections and the window before, and after.
    pub tokens: (u64, u64),
}

/// Why a session should be compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// Its prompts are as full as its policy allows.
    Threshold,
    /// As many turns went by as its policy allows.
    Turns,
    /// A task ended.
    TaskEnd,
    /// It ended.
    SessionEnd,
}

impl Due {
    /// Its name in the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Threshold => "threshold",
            Self::Turns => "turns",
            Self::TaskEnd => "task_end",
            Self::SessionEnd => "session_end",
        }
    }
}

impl Session<'_> {
    /// The newest summary with how it was made.
    pub fn summary(&self) -> Result<Option<StoredSummary>> {
        self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            StoredSummary::read(pages, status.place, status.epoch.epoch.summary_version)
        })
    }

    /// Sets what the caller wants; the end of the last task stays.
    pub fn set_policy(&self, policy: Policy, now: i64) -> Result<()> {
        let place = self.status()?.place;
        let stored = self.engine.store().read(|pages| Policy::read(pages, place))?;
        let wanted = Policy { task_ended: stored.task_ended, ..policy };
        if wanted == stored {
            return Ok(());
        }
        self.edit("setting the budget", now, move |writer| {
            let stored = Policy::read(&*writer.pages, writer.place)?;
            Policy { task_ended: stored.task_ended, ..wanted }.write(writer.pages, writer.place)
        })
    }

    /// The limits of its prompts, and when it is to be compacted.
    pub fn budget(&self) -> Result<(SessionBudget, Policy)> {
        self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let policy = Policy::read(pages, status.place)?;
            Ok((status.record.budget, policy))
        })
    }

    /// Notes that a task ended here.
    pub fn task_ended(&self, now: i64) -> Result<()> {
        self.edit("ending a task", now, |writer| {
            let policy = Policy::read(&*writer.pages, writer.place)?;
            Policy { task_ended: writer.record.tally.messages, ..policy }.write(writer.pages, writer.place)
        })
    }

    /// Whether the session should be compacted, and why. A pure read of a few records.
    pub fn compaction_due(&self, now: i64) -> Result<Option<Due>> {
        self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let policy = Policy::read(pages, status.place)?;
            let Some(due) = due(pages, &status, policy)? else {
                let is_open = is_asked(policy) && status.record.state != SessionState::Ended;
                let is_full = is_open && self.too_large(pages, &status, now)?.is_some();
                return Ok(is_full.then_some(Due::Threshold));
            };
            let boundary = own_boundary(pages, &status, policy)?;
            let wanted = wanted(pages, &status, boundary, None)?;
            Ok(self.room_for_summary(pages, &status, boundary, wanted, now)?.map(|_| due))
        })
    }

    /// The turns for a compaction; `None` where no turn is old enough, or the newest leaves a summary no room. An ended session is
    /// compacted whole. `keep_exchanges` stay as they are: by default at most three, and no more than fit half of what prompts may have.
    /// A draft without turns makes a summary smaller that leaves the newest message no room.
    pub fn draft(&self, keep_exchanges: Option<u64>, max_tokens: Option<u64>, now: i64) -> Result<Option<Draft>> {
        if let Some(keep) = keep_exchanges {
            limits::within("keep_exchanges", keep, 0..=limits::MAX_KEPT_EXCHANGES)?;
        }
        self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let boundary = match keep_exchanges {
                Some(keep) => boundary(pages, &status, keep)?,
                None => own_boundary(pages, &status, Policy::read(pages, status.place)?)?,
            };
            let wanted = wanted(pages, &status, boundary, max_tokens)?;
            let before = shown_summary(pages, status.place, &status.epoch, None)?;
            let covered = before.as_ref().map_or(0, |before| before.covers.end);
            if boundary <= covered {
                let Some(fewer) = self.too_large(pages, &status, now)? else { return Ok(None) };
                return make_draft(pages, &status, status.epoch.model.clone(), before, covered, wanted.min(fewer)).map(Some);
            }
            let Some(most) = self.room_for_summary(pages, &status, boundary, wanted, now)? else { return Ok(None) };
            make_draft(pages, &status, status.epoch.model.clone(), before, boundary, most).map(Some)
        })
    }

    /// Everything that was said, as a draft for a brief of so many tokens for a task: with what stands in every prompt of the session,
    /// notes, task state and pinned constraints. It is not to be committed.
    pub fn brief_draft(&self, task: &str, max_tokens: u64, now: i64) -> Result<Draft> {
        limits::within("max_tokens", max_tokens, 1..=limits::MAX_SUMMARY_TOKENS)?;
        self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let boundary = status.record.tally.messages;
            let model = status.epoch.model.clone();
            let previous = StoredSummary::read(pages, status.place, status.epoch.epoch.summary_version)?.map(|stored| stored.summary);
            let (sources, ids) = sources(pages, status.place, previous.as_ref().map_or(0, |before| before.covers.end)..boundary)?;
            let place = SessionKey { partition: 0, session: 0 }; // nowhere: it cannot be committed
            let (standing, tasks) = self.standing(pages, &status, now)?;
            let aim = Some(Aim { task: task.to_owned(), standing, tasks });
            Ok(Draft { place, seen: (0, 0), previous, sources, ids, boundary, max_tokens, model, aim })
        })
    }

    /// Notes and constraints, and the keys of tasks, which bind another agent as they bind this one.
    fn standing<P: Pages>(&self, pages: &P, status: &Status, now: i64) -> Result<(Vec<String>, Vec<TaskLines>)> {
        let Status { place, record, epoch } = status;
        let mut lines: Vec<String> = notes::list(pages, *place)?.into_iter().map(|(_, text)| text).collect();
        let pinned = Pinned::read(pages, &scopes(self.scope, record), |partition| epoch.form_of(partition, place.partition), now)?;
        let binds = |item: &&Item| item.attributes.iter().any(|(name, kind)| &**name == "kind" && **kind == *Kind::Constraint.name());
        lines.extend(pinned.items.iter().filter(binds).map(|item| item.text.to_string()));
        let tasks = task::list(pages, place.partition, place.session, now)?.into_iter().map(|task| {
            let shown = task::items(std::slice::from_ref(&task));
            let keys = task.entries.iter().zip(shown).rev().map(|((key, _), item)| format!("{}, {key}: {}", task.name, item.text));
            TaskLines { keys: keys.collect(), name: task.name }
        });
        Ok((lines, tasks.collect()))
    }

    /// The messages that a switch to `model` would leave out of prompts, as a draft for its tokens; `None` where all of it fits. Rounds
    /// of a newest turn that does not fit are among them. A summary that had to be small for a smaller model is made again from the one
    /// before it, and the few messages since.
    pub fn switch_draft(&self, model: &Model, now: i64) -> Result<Option<Draft>> {
        self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let (place, tokens_of) =
                (status.place, |summary: &Summary| model.factor.bound(summary.tokens(&CachedCounter::new(model.encoding))));
            let shown = shown_summary(pages, place, &status.epoch, None)?.unwrap_or_default();
            // The new summary takes the place of the one before, whose tokens are free for it.
            let bare = self.planned(pages, &status, model, Some(&stand_in(0, shown.covers.end)), now)?;
            let plain = if shown.is_empty() { bare.clone() } else { self.planned(pages, &status, model, None, now)? };
            let most = model.factor.bound(bare.history_tokens / 2);
            let is_richer = |older: &Summary| tokens_of(older).min(most) / 2 >= tokens_of(&shown).max(1);
            let richer = summary::richer(pages, place, shown.covers.end, is_richer)?;
            let view = View::cold(pages, place, &status.record, &status.epoch);
            let leaves_rounds =
                recount::round_within(&view, model, plain.history_tokens.saturating_sub(ROUNDS_LINE), shown.covers.end)?.is_some();
            let leaves = richer.is_some() || leaves_rounds || plain.kept.left_out > shown.covers.end;
            if !leaves && is_within(self.check_planned(pages, &status, &plain, None, now))? {
                return Ok(None);
            }
            let covered = shown.covers.end; // a switch takes no compaction back
            let before = richer.unwrap_or(shown);
            let wanted = summary_tokens(None, status.record.limit(model)?.0, limit_in_force(pages, place, &status.record, model)?)?;
            let wanted = wanted.max(tokens_of(&before)).min(most);
            let fits = |tokens| {
                let new = stand_in(tokens, covered);
                let plan = self.planned(pages, &status, model, Some(&new), now)?;
                self.check_planned(pages, &status, &plan, Some(&new), now)
            };
            let max_tokens = match fitting(wanted, 1, fits)? {
                Some(fitting) => fitting,
                None if leaves => wanted, // other instructions may come with the switch
                None => return Ok(None),
            };
            let room = bare.history_tokens.saturating_sub(model.factor.room(max_tokens));
            let kept = recount::plan(&view, model, room, &status.record.tally, covered)?;
            let round = recount::round_within(&view, model, room.saturating_sub(ROUNDS_LINE), covered)?;
            let before = Some(before).filter(|before| before.covers.end > 0);
            make_draft(pages, &status, model.clone(), before, round.unwrap_or(0).max(kept.origin), max_tokens).map(Some)
        })
    }

    /// The plan of a switch to `model`, with a summary that is not written yet.
    ///
    /// # Errors
    /// `BudgetExceeded` where the fixed sections and the newest message do not fit the model.
    pub fn plan_switch_with(&self, model: &Model, new: Option<&Summary>, now: i64) -> Result<SwitchPlan> {
        self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let plan = self.planned(pages, &status, model, new, now)?;
            self.check_planned(pages, &status, &plan, new, now)?;
            Ok(plan)
        })
    }

    /// The plan of a switch that may bring other instructions, so that nothing is known yet of what fits.
    pub(super) fn plan_without_check(&self, model: &Model, new: Option<&Summary>, now: i64) -> Result<SwitchPlan> {
        self.engine.store().read(|pages| self.planned(pages, &self.expect(pages)?, model, new, now))
    }

    /// Composes the smallest prompt behind a switch: with the newest turn alone, counted for the model.
    fn check_planned<P: Pages>(&self, pages: &P, status: &Status, plan: &SwitchPlan, new: Option<&Summary>, now: i64) -> Result<()> {
        let (model, view) = (&plan.to, View::cold(pages, status.place, &status.record, &status.epoch));
        let mut epoch = StoredEpoch { model: model.clone(), ..status.epoch.clone() };
        let shown = shown_summary(pages, status.place, &epoch, new)?;
        let scopes = scopes(self.scope, &status.record);
        let fixed = fixed_for(pages, status.place, &epoch, &scopes, plan.limit, now, shown.as_ref())?.0;
        let (counter, mut newest) = (CachedCounter::new(model.encoding), Transcript::default());
        let start = view.turns().checked_sub(1).map_or(Ok(0), |turn| view.turn_start(turn))?;
        // Of a turn that was compacted in part the user message stays.
        let origin = plan.kept.origin.min(view.messages());
        let head = if start < origin { head_of(&view, start, origin)? } else { origin..origin };
        for index in head.chain(start.max(origin)..view.messages()) {
            newest.push(view.message(index)?.message.clone(), &model.framing, &counter)?;
        }
        let pending = newest.tally().pending_tokens(&model.framing, &counter);
        let opening = Opening {
            previous: None,
            reason: Reason::ModelSwitched,
            origin: 0,
            pinned: Vec::new(),
            versions: [0; 3],
            factor: epochs::factor_now(pages, model, &status.record)?,
            fixed_tokens: fixed.tokens(&model.framing),
        };
        epoch.epoch = Epoch::open(opening, plan.limit, &status.record.budget.sections, &newest, pending)?;
        let record = SessionRecord { window: None, ..status.record.clone() }; // what is known of its cost is known of the other model
        check_fits(pages, &record, &epoch, &fixed, &newest, u64::MAX)
    }

    fn planned<P: Pages>(&self, pages: &P, status: &Status, model: &Model, new: Option<&Summary>, now: i64) -> Result<SwitchPlan> {
        let epoch = StoredEpoch { model: model.clone(), ..status.epoch.clone() };
        let scopes = scopes(self.scope, &status.record);
        let shown = shown_summary(pages, status.place, &epoch, new)?;
        let (grant, fixed_tokens) = recount::grant_of(pages, status.place, &status.record, &epoch, &scopes, now, shown.as_ref())?;
        let view = View::cold(pages, status.place, &status.record, &status.epoch);
        let least = shown.map_or(0, |summary| summary.covers.end);
        let kept = recount::plan(&view, model, grant, &status.record.tally, least)?;
        let (limit, _) = status.record.limit(model)?;
        Ok(SwitchPlan { from: status.epoch.model.clone(), to: model.clone(), limit, history_tokens: grant, kept, fixed_tokens })
    }

    /// Commits a compaction: the summary, the new origin, the pinned snapshot, in one epoch.
    ///
    /// # Errors
    /// `SessionMoved` where the session was compacted, rewound, redacted or switched since the draft was read; `BudgetExceeded` where the
    /// summary would leave no room for a newest message that fits now. Nothing is changed then.
    pub fn commit(&self, draft: &Draft, made: StoredSummary, now: i64) -> Result<Committed> {
        let (place, seen, boundary) = (draft.place, draft.seen, draft.boundary);
        self.write(move |txn, scope, id| {
            let mut writer = SessionWriter::open(txn, scope, id, now)?;
            check_not_hidden(&writer)?;
            check_fresh(&writer, place, seen)?;
            let before = writer.shown_tokens()?;
            let limit = limit_kept(&*writer.pages, place, &writer.record, &writer.epoch, &writer.fixed()?, &writer.view())?;
            let version = put(&mut writer, &made)?;
            writer.begin(Reason::Compacted, boundary)?;
            if let Some(limit) = limit.filter(|_| writer.record.state != SessionState::Ended) {
                check_fits(&*writer.pages, &writer.record, &writer.epoch, &writer.fixed()?, &writer.view(), limit)?;
            }
            let tokens = (before, writer.shown_tokens()?);
            let epoch = writer.record.epoch;
            writer.finish()?;
            Ok(Committed { epoch, version, tokens })
        })
    }
}

/// The summary that an epoch shows, or one that is to be written.
fn shown_summary<P: Pages>(pages: &P, place: SessionKey, epoch: &StoredEpoch, new: Option<&Summary>) -> Result<Option<Summary>> {
    match new {
        Some(new) => Ok(Some(new.clone())),
        None => Ok(StoredSummary::read(pages, place, epoch.epoch.summary_version)?.map(|stored| stored.summary)),
    }
}

/// Whether a check found that it fits.
fn is_within(checked: Result<()>) -> Result<bool> {
    match checked {
        Err(error) if error.kind() == ErrorKind::BudgetExceeded => Ok(false),
        checked => checked.map(|()| true),
    }
}

/// Writes a summary as the newest version; the caller begins the epoch that shows it.
pub(super) fn put<P: PagesMut>(writer: &mut SessionWriter<'_, P>, made: &StoredSummary) -> Result<u64> {
    let version = summary::newest(&*writer.pages, writer.place)? + 1;
    StoredSummary { made_at: writer.told, ..made.clone() }.write(writer.pages, writer.place, version)?;
    writer.epoch.epoch.summary_version = version;
    Ok(version)
}

/// The session must be what the draft was read from, but for messages that came since.
pub(super) fn check_fresh<P: PagesMut>(writer: &SessionWriter<'_, P>, place: SessionKey, seen: (u64, u64)) -> Result<()> {
    if writer.place == place && (writer.record.edits, writer.epoch.epoch.summary_version) == seen {
        return Ok(());
    }
    Err(moved(&writer.record, writer.record.tally.messages))
}

fn is_asked(policy: Policy) -> bool {
    policy.at != Share::default() || policy.every_turns > 0
}

fn due<P: Pages>(pages: &P, status: &Status, policy: Policy) -> Result<Option<Due>> {
    let covered = summary::covered(pages, status.place, status.epoch.epoch.summary_version)?;
    let messages = status.record.tally.messages;
    if status.record.state == SessionState::Ended {
        return Ok((messages > covered).then_some(Due::SessionEnd));
    }
    let boundary = if is_asked(policy) { own_boundary(pages, status, policy)? } else { covered };
    if boundary <= covered {
        return Ok(None); // nobody asks for it, or what is full is what stays
    }
    let view = View::cold(pages, status.place, &status.record, &status.epoch);
    let epoch = &status.epoch.epoch;
    let origin = epoch.origin.max(covered).min(messages);
    let stored = tokens_from(&view, origin)?;
    let limit = limit_in_force(pages, status.place, &status.record, &status.epoch.model)?;
    let full = epoch.factor.bound(epoch.fixed_tokens + stored);
    let threshold = policy.at.of(limit).max(1);
    if policy.at != Share::default()
        && full >= threshold
        && !can_wait(status, &view, origin..boundary, &Figures { limit, threshold, stored })?
    {
        return Ok(Some(Due::Threshold));
    }
    let turns = status.record.tally.turns.saturating_sub(recount::first_turn(&view, covered)?);
    if policy.every_turns > 0 && turns > policy.every_turns {
        return Ok(Some(Due::Turns));
    }
    Ok((policy.task_ended > covered && policy.task_ended <= messages).then_some(Due::TaskEnd))
}

/// Tokens that say whether a session is full.
struct Figures {
    /// Of its prompts, at most.
    limit: u64,
    /// From which on it is compacted.
    threshold: u64,
    /// Of its messages behind the summary.
    stored: u64,
}

/// Whether so little of a running turn would leave that a new summary is not worth the prefix before it, while prompts show all of
/// the turn.
fn can_wait<P: Pages>(
    status: &Status,
    view: &View<'_, P>,
    leaving: std::ops::Range<u64>,
    Figures { limit, threshold, stored }: &Figures,
) -> Result<bool> {
    let is_of_turn = view.turns() > 0 && view.turn_start(view.turns() - 1)? < leaving.end;
    let grid = status.epoch.epoch.grid(*limit, &status.record.budget.sections);
    let shows_all = grid.is_ok_and(|grid| stored.saturating_add(ROUNDS_LINE) <= grid.grant);
    Ok(is_of_turn && shows_all && tokens_of(view, &leaving)? < threshold / LEAST_LEAVING)
}

/// The tokens of a summary for prompts of `limit` tokens, of the `own` that the session may have.
pub(super) fn summary_tokens(asked: Option<u64>, own: u64, limit: u64) -> Result<u64> {
    let most = own / MOST_OF_LIMIT;
    match asked {
        None => Ok((limit / LIMIT_SHARE).clamp(*SUMMARY_TOKENS.start(), *SUMMARY_TOKENS.end()).min(limit / MOST_OF_LIMIT)),
        Some(asked) if (1..=most).contains(&asked) => Ok(asked.min(limit / MOST_OF_LIMIT)),
        Some(asked) => Err(Error::new(
            if asked == 0 { ErrorKind::InvalidInput } else { ErrorKind::BudgetExceeded },
            format!("compacting: max_tokens of the summary must be from 1 to {most}, half of the prompts' limit, and it is {asked}: choose another"),
        )
        .with("limit_tokens", own as i64)),
    }
}

/// The tokens that a summary of the messages before `boundary` is to have: those that the caller asks for; else as many as the limit gives
/// it, and no more than are worth their place, those of the one before and half of those that leave.
fn wanted<P: Pages>(pages: &P, status: &Status, boundary: u64, asked: Option<u64>) -> Result<u64> {
    let (own, _) = status.record.limit(&status.epoch.model)?;
    let most = summary_tokens(asked, own, limit_in_force(pages, status.place, &status.record, &status.epoch.model)?)?;
    if asked.is_some() {
        return Ok(most);
    }
    let view = View::cold(pages, status.place, &status.record, &status.epoch);
    let before = shown_summary(pages, status.place, &status.epoch, None)?.unwrap_or_default();
    let leaving = view.tokens_before(boundary)?.saturating_sub(view.tokens_before(before.covers.end)?);
    let before = before.tokens(&CachedCounter::new(status.epoch.model.encoding));
    Ok(most.min(status.epoch.model.factor.bound(before + leaving / 2).max(*SUMMARY_TOKENS.start())))
}

/// The first message that stays: the beginning of the oldest of the newest exchanges. A turn without its answer always stays.
fn boundary<P: Pages>(pages: &P, status: &Status, keep: u64) -> Result<u64> {
    let messages = status.record.tally.messages;
    if status.record.state == SessionState::Ended {
        return Ok(messages);
    }
    let view = View::cold(pages, status.place, &status.record, &status.epoch);
    if keep == 0 && messages > 0 && status.record.tally.open.is_empty() && opens_round(&view.message(messages - 1)?.message) {
        return Ok(messages);
    }
    match view.turns().checked_sub(keep.max(1)) {
        Some(turn) => view.turn_start(turn),
        None => Ok(0),
    }
}

/// The first message that stays where the caller names no number: so many of the newest exchanges stay that they leave half of the prompts'
/// limit, or of the share of it from which on a compaction is due. Turns before the end of a task leave with it. Of a newest turn that is
/// larger than that, rounds leave.
fn own_boundary<P: Pages>(pages: &P, status: &Status, policy: Policy) -> Result<u64> {
    let most = if policy.every_turns > 0 { KEPT_EXCHANGES.min(policy.every_turns) } else { KEPT_EXCHANGES };
    let limit = limit_in_force(pages, status.place, &status.record, &status.epoch.model)?;
    let full = if policy.at == Share::default() { limit } else { policy.at.of(limit) };
    let room = (full / 2).saturating_sub(status.epoch.epoch.fixed_tokens);
    let view = View::cold(pages, status.place, &status.record, &status.epoch);
    let (messages, newest) = (status.record.tally.messages, boundary(pages, status, 1)?);
    let stored = view.tokens_before(messages)?;
    if newest < messages && stored.saturating_sub(view.tokens_before(newest)?) > room {
        return round_boundary(status, &view, newest, limit, (room, full));
    }
    let covered = summary::covered(pages, status.place, status.epoch.epoch.summary_version)?.min(messages);
    let mut first = newest;
    for keep in 2..=most {
        let start = boundary(pages, status, keep)?;
        // Of an exchange that was compacted in part as much stays as prompts show.
        let kept = if start < covered { tokens_from(&view, covered)? } else { stored.saturating_sub(view.tokens_before(start)?) };
        if kept > room || start < policy.task_ended.min(newest) {
            break;
        }
        first = start;
    }
    Ok(first)
}

/// The first round that stays of the newest turn, which begins at `start` and is larger than its `room`: the first of so many of its newest
/// rounds that they fit it beside the user message, and up to as many as the session keeps, where they leave a quarter of `full`, and room
/// for another one like the last. Without an older round, its beginning.
fn round_boundary<P: Pages>(status: &Status, view: &View<'_, P>, start: u64, limit: u64, (room, full): (u64, u64)) -> Result<u64> {
    let head = head_of(view, start, view.messages())?;
    if head.is_empty() || head.end >= view.messages() {
        return Ok(start);
    }
    let head_tokens = tokens_of(view, &head)?;
    let total = view.tokens_before(view.messages())?;
    let target = total.saturating_sub(room.saturating_sub(head_tokens));
    let Some(first) = first_round(view, head.end..view.messages(), target)? else { return Ok(start) };
    let last = first_round(view, head.end..view.messages(), u64::MAX)?.map_or(Ok(total), |last| view.tokens_before(last))?;
    let most = full.saturating_sub((full / 4).max(total - last)).saturating_sub(status.epoch.epoch.fixed_tokens);
    let first = match status.epoch.epoch.grid(limit, &status.record.budget.sections) {
        Ok(grid) => grid.newest_rounds(view, head.end..first, total, grid.grant.min(most).saturating_sub(head_tokens))?,
        Err(_) => first, // no prompt fits now
    };
    Ok(if first > head.end { first } else { start })
}

fn make_draft<P: Pages>(
    pages: &P,
    status: &Status,
    model: Model,
    previous: Option<Summary>,
    boundary: u64,
    max_tokens: u64,
) -> Result<Draft> {
    let place = status.place;
    let (sources, ids) = sources(pages, place, previous.as_ref().map_or(0, |before| before.covers.end)..boundary)?;
    let seen = (status.record.edits, status.epoch.epoch.summary_version);
    Ok(Draft { place, seen, previous, sources, ids, boundary, max_tokens, model, aim: None })
}

/// Messages as they were given, and the ids that their callers gave them.
fn sources<P: Pages>(pages: &P, place: SessionKey, indices: std::ops::Range<u64>) -> Result<(Vec<Source>, Vec<Option<String>>)> {
    let (mut sources, mut ids) = (Vec::new(), Vec::new());
    for index in indices {
        interrupt::check()?;
        let record = MessageRecord::expect(pages, place, index)?;
        if record.state == MessageState::Redacted {
            continue;
        }
        sources.push(Source { index, message: Arc::new(record.whole(pages, place)?) });
        ids.push(record.id);
    }
    Ok((sources, ids))
}
