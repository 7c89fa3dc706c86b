//! Assembling a prompt: one snapshot is asked for everything it may be made of (`gather`), the rest is
//! [`compose`](crate::context::compose()), which opens no store. Nothing is written.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::answered::{Answered, Answers, AskedFor};
use super::bounds;
use super::goes_on::{asked_before, goes_on};
use super::pinned::{self, Pinned};
use super::room;
use super::warm::{Warm, WarmFixed};
use crate::context::explain::{Explained, Why};
use crate::context::limit::{Share, section};
use crate::context::{Bounds, Factor, Fixed, History, Inputs, Item, KnownWindow, Prompt, Volatile, carries_block, check};
use crate::index::vectors;
use crate::limits;
use crate::memory::Core;
use crate::models::Model;
use crate::recall::ranking::SEVERAL_ASKED;
use crate::recall::when::Range;
use crate::recall::{Recall, Request};
use crate::scope::Scope;
use crate::session::key::{SessionKey, cache_key};
use crate::session::ledger::SentPrompt;
use crate::session::notes;
use crate::session::record::{SessionBudget, SessionRecord};
use crate::session::reply::refused;
use crate::session::session::Status;
use crate::session::stored_epoch::StoredEpoch;
use crate::session::task;
use crate::session::transcript::view::{Extent, View};
use crate::session::window::fixed::{fixed, scopes};
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::text::speech;
use crate::tokens::CachedCounter;
use crate::{Error, ErrorKind, Result};

/// A provider may count one part in so many of the tokens that are counted here.
const LESS: u64 = 4;
/// Or so many times as many.
const MORE: u64 = 20;
/// And so many beside them, which its own frame of a request may have.
const FRAME: u64 = 4_000;

/// The request for a prompt.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    /// The question to memory; `None` is the newest user message. Never sent.
    pub query: Option<String>,
    /// Its embedding, where there is an embedder.
    pub vector: Option<vectors::Query>,
    /// Why it has none, where the embedder failed.
    pub embedder_failed: Option<String>,
    /// The caller's own chunks.
    pub items: Vec<Item>,
    /// Another budget for this call.
    pub budget: Option<SessionBudget>,
    /// Another limit for this call.
    pub max_input_tokens: Option<u64>,
    /// Another reserve for the reply of this call.
    pub max_output_tokens: Option<u64>,
    /// The time, microseconds since 1970 (UTC).
    pub now: i64,
    /// The time that a question names by the user's clock, where that is not one of UTC, and the question: "yesterday" is a day there.
    pub time: Option<(Option<Range>, String)>,
}

/// A prompt of a session.
#[derive(Debug, Clone)]
pub struct Assembled {
    /// The prompt.
    pub prompt: Prompt,
    /// The model it is for.
    pub model: Model,
    /// The session.
    pub place: SessionKey,
    /// Its id.
    pub session_id: String,
    /// A name of its conversation, for providers.
    pub cache_key: u128,
    /// Number of the epoch.
    pub epoch: u64,
    /// The part that the ledger keeps.
    pub sent: Arc<SentPrompt>,
    /// Why memory was searched by words alone, or in part, where that is so.
    pub degraded: Option<String>,
    /// The request.
    pub ask: Arc<Ask>,
    /// The question that memory was asked; none where it was asked nothing now.
    pub question: Option<String>,
    /// The partitions and ids of the other scopes that it reads.
    pub others: Vec<(Partition, String)>,
}

impl Assembled {
    /// The range of its possible cost. A provider that reports another cost speaks of another prompt, and is not believed.
    fn possible_costs(&self) -> RangeInclusive<u64> {
        let (counted, bytes) = match &self.prompt.content {
            Some(content) => (content.request.tokens(), content.request.bytes()),
            None => (self.prompt.counted_tokens, u64::MAX),
        };
        counted / LESS..=bytes.min(counted.saturating_mul(MORE)).saturating_add(FRAME)
    }

    /// Whether it can cost that.
    pub(in crate::session) fn can_cost(&self, tokens: u64) -> bool {
        self.possible_costs().contains(&tokens)
    }

    /// The same, now that its provider has counted it: so many tokens, exactly.
    pub fn costing(&self, tokens: u64) -> Result<Self> {
        limits::within("the provider's count", tokens, 1..=limits::MAX_TOKENS)?;
        limits::within("the provider's count of this prompt", tokens, self.possible_costs())?;
        let mut counted = self.clone();
        counted.prompt.costs(tokens);
        let sent = Arc::make_mut(&mut counted.sent);
        (sent.planned, sent.exact) = (tokens, true);
        sent.sections.clone_from(&counted.prompt.sections);
        Ok(counted)
    }
}

/// Everything that one snapshot says.
struct Gathered<'s, P> {
    view: View<'s, P>,
    record: SessionRecord,
    epoch: StoredEpoch,
    fixed: WarmFixed,
    /// The caller's question, of this call or of the turn's first.
    query: Option<String>,
    volatile: Vec<Item>,
    frozen: bool,
    recalled: Option<(Request, Recall)>,
    /// Passages that are not sure enough.
    left_out_passages: Vec<Explained>,
    /// Why collections were searched by words alone, where they were.
    degraded: Option<String>,
    /// The most that recalled text may have.
    most_recalled: u64,
}

impl<'s, P> Gathered<'s, P> {
    /// The same without a block, and without anything that was recalled.
    fn bare(view: View<'s, P>, record: SessionRecord, epoch: StoredEpoch, fixed: WarmFixed, ask: &Ask) -> Self {
        Self {
            view,
            record,
            epoch,
            fixed,
            query: ask.query.clone(),
            volatile: Vec::new(),
            frozen: false,
            recalled: None,
            left_out_passages: Vec::new(),
            degraded: None,
            most_recalled: u64::MAX,
        }
    }
}

/// A prompt, and the work that is left for outside of the snapshot.
pub(in crate::session) struct Done {
    pub assembled: Assembled,
    /// To be kept for the next.
    pub warm: Arc<Warm>,
    /// To be noted.
    pub recalled: Option<(Request, Recall)>,
}

/// Assembles a prompt from a snapshot.
pub(in crate::session) fn assemble<P: Pages>(
    engine: &Core,
    pages: &P,
    scope: &Scope,
    status: Status,
    ask: &Ask,
    warm: Arc<Warm>,
) -> Result<Done> {
    let place = status.place;
    let gathered = gather(engine, pages, scope, status, ask, warm)?;
    let Gathered { view, record, epoch, fixed, query, volatile, frozen, recalled, left_out_passages, degraded, most_recalled } = gathered;
    let mut budget = effective(&record.budget, &epoch.model, ask);
    budget.sections = record.recalls.floored(budget.sections);
    if recalled.as_ref().is_some_and(|(request, _)| speech::asks_several(&request.text)) {
        let floor = &mut budget.sections.relevance.of_best;
        *floor = Share::new(floor.millionths() / SEVERAL_ASKED);
    }
    let (limit, output_tokens) = budget.limit(&epoch.model)?;
    // The reserve for recalled text is a share of the tokens to come. The history has the rest.
    let least = refused::limit(pages, place, &epoch.model.name, limit)?;
    let space = epoch.epoch.factor.room(least).saturating_sub(fixed.fixed.tokens(&epoch.model.framing));
    room::bound(&mut budget.sections, space, most_recalled);
    let bounds = bounds_of(pages, &record, &epoch, frozen)?;
    let counter = CachedCounter::new(epoch.model.encoding);
    let (mut prompt, output_tokens) = trusting(bounds.as_ref(), epoch.model.factor, |bounds| {
        let inputs = Inputs {
            framing: &epoch.model.framing,
            counter: &counter,
            limit,
            output_tokens,
            budget: &budget.sections,
            epoch: &epoch.epoch,
            fixed: &fixed.fixed,
            history: &view,
            volatile: if frozen { Volatile::Frozen(&volatile) } else { Volatile::Fresh(&volatile) },
            append_only: epoch.model.append_only,
            bounds,
        };
        refused::compose_within(pages, place, &epoch.model.name, &inputs)
    })?;
    if frozen {
        let waits = |item: &Item| Explained::other(&item.section, Arc::clone(&item.id), 0, Why::NextTurn);
        prompt.explained.extend(ask.items.iter().map(waits));
    }
    let sent = SentPrompt::of(&record, &epoch, &prompt, output_tokens, budget.sections, query);
    let first = prompt.window.cut.start.min(epoch.epoch.cut.start);
    let warm = view.warmed((first, prompt.window.first_turn), record.edits, fixed);
    let corrections = recalled.iter().flat_map(|(_, answer)| &answer.corrections);
    let read_as =
        |(from, to): &(String, String)| Explained::other(section::RECALLED, from.as_str(), 0, Why::ReadAs { word: to.as_str().into() });
    prompt.explained.extend(corrections.map(read_as));
    prompt.explained.extend(left_out_passages);
    let question = recalled.as_ref().map(|(request, _)| request.text.clone());
    let degraded = recalled.as_ref().and_then(|(_, answer)| answer.degraded.clone()).or(degraded);
    let degraded = degraded.map(|why| ask.embedder_failed.clone().unwrap_or(why));
    let others = others(pages, &record)?;
    let cache_key = cache_key(pages, scope, &record.id);
    let (model, session_id, epoch, sent, ask) = (epoch.model, record.id, record.epoch, Arc::new(sent), Arc::new(ask.clone()));
    let assembled = Assembled { prompt, model, place, session_id, cache_key, epoch, sent, degraded, ask, question, others };
    Ok(Done { assembled, warm, recalled })
}

/// Composes by what was learned of a tokenizer. A provider's figure may be wrong: it makes prompts smaller, and never impossible.
fn trusting<T>(bounds: Option<&Bounds>, prior: Factor, composed: impl Fn(Option<&Bounds>) -> Result<T>) -> Result<T> {
    composed(bounds).or_else(|error| match bounds {
        Some(bounds) if error.kind() == ErrorKind::BudgetExceeded && bounds.informed() => composed(Some(&bounds.unlearned(prior))),
        _ => Err(error),
    })
}

/// Refuses a session of which not even the fixed sections and the newest message fit a prompt of at most `most` tokens.
///
/// # Errors
/// `BudgetExceeded` with every number.
pub(in crate::session) fn check_fits<P: Pages>(
    pages: &P,
    record: &SessionRecord,
    epoch: &StoredEpoch,
    fixed: &Fixed,
    history: &dyn History,
    most: u64,
) -> Result<()> {
    let budget = effective(&record.budget, &epoch.model, &Ask::default());
    let (limit, output_tokens) = budget.limit(&epoch.model)?;
    let limit = limit.min(most);
    let (bounds, counter) = (bounds_of(pages, record, epoch, false)?, CachedCounter::new(epoch.model.encoding));
    trusting(bounds.as_ref(), epoch.model.factor, |bounds| {
        check(&Inputs {
            framing: &epoch.model.framing,
            counter: &counter,
            limit,
            output_tokens,
            budget: &budget.sections,
            epoch: &epoch.epoch,
            fixed,
            history,
            volatile: Volatile::Fresh(&[]),
            append_only: epoch.model.append_only,
            bounds,
        })
    })
}

/// The partitions and ids of the other scopes that a session reads, as far as there is something in them.
pub(in crate::session) fn others<P: Pages>(pages: &P, record: &SessionRecord) -> Result<Vec<(Partition, String)>> {
    let mut found = Vec::with_capacity(record.reads.len());
    for scope in &record.reads {
        found.extend(scope.find(pages)?.map(|partition| (partition, scope.id.clone())));
    }
    Ok(found)
}

/// The known costs of a closed tokenizer; `goes_on` in a turn whose block was sent.
fn bounds_of<P: Pages>(pages: &P, record: &SessionRecord, epoch: &StoredEpoch, goes_on: bool) -> Result<Option<Bounds>> {
    if epoch.model.factor == Factor::EXACT {
        return Ok(None);
    }
    let learned = bounds::read(pages, &epoch.model)?;
    let content = record.window.as_ref().map(|window| window.content).unwrap_or_default();
    let window = record.window.as_ref().map(|window| KnownWindow {
        cut: epoch.epoch.cut,
        messages: record.tally.messages,
        content: window.content,
        anchor: window.known(goes_on, &learned),
    });
    let overall = if learned.has_samples() { learned.factor_of(&content) } else { epoch.model.factor };
    Ok(Some(Bounds { factors: learned.factors(), learned: learned.has_samples(), overall, window }))
}

fn gather<'s, P: Pages>(
    engine: &Core,
    pages: &'s P,
    scope: &Scope,
    Status { place, record, epoch }: Status,
    ask: &Ask,
    warm: Arc<Warm>,
) -> Result<Gathered<'s, P>> {
    let scopes = scopes(scope, &record);
    let fixed = fixed_now(pages, place, &epoch, &scopes, &warm, ask.now)?;
    // A write to the scopes may have taken a text out of a block that stayed, and an epoch leaves out what is no longer true.
    let same_epoch = |known: &WarmFixed| known.epoch == fixed.epoch && Arc::ptr_eq(&known.pinned, &fixed.pinned);
    let unchanged = warm.fixed.as_ref().is_none_or(same_epoch);
    let warm = if unchanged { warm } else { Arc::new(warm.without_blocks()) };
    let mut view = View::new(pages, place, Extent::of(&record), &epoch, warm, ask.now);
    let open = carries_block(&view)?;
    if !open {
        view = view.lasting(&record, &epoch)?;
    }
    if open && let Some(call) = goes_on(&view, &record, &epoch)? {
        let volatile = call.items(pages, ask.now)?;
        return Ok(Gathered { volatile, frozen: true, ..Gathered::bare(view, record, epoch, fixed, ask) });
    }
    let as_before = if open { asked_before(pages, place, &record, ask)? } else { None };
    let ask = as_before.as_ref().unwrap_or(ask);
    let mut volatile = fixed.pinned.newer(pages, &epoch, |partition| epoch.form_of(partition, place.partition), ask.now)?;
    volatile.extend(notes::items(pages, place)?);
    volatile.extend(task::items(&task::list(pages, place.partition, place.session, ask.now)?));
    let asked =
        AskedFor { engine, pages, scope, place, record: &record, epoch: &epoch, fixed: &fixed, volatile: &volatile, view: &view, ask };
    let mut answered = asked.memory(scopes)?;
    let Answers { items, left_out_passages, degraded, most_recalled } = match &mut answered {
        Some(answered) => asked.answers(answered)?,
        None => Answers::none(),
    };
    volatile.extend(items);
    volatile.extend(ask.items.iter().cloned());
    let recalled = answered.map(|Answered { request, answer, .. }| (request, answer));
    Ok(Gathered { volatile, recalled, left_out_passages, degraded, most_recalled, ..Gathered::bare(view, record, epoch, fixed, ask) })
}

/// The fixed sections, as they were when the epoch began, less what was forgotten since.
fn fixed_now<P: Pages>(pages: &P, place: SessionKey, epoch: &StoredEpoch, scopes: &[Scope], warm: &Warm, now: i64) -> Result<WarmFixed> {
    if let Some(known) = &warm.fixed
        && known.epoch == epoch.epoch.number
        && known.pinned.holds(pages, scopes, now)?
    {
        return Ok(known.clone());
    }
    let form = |partition| epoch.form_of(partition, place.partition);
    let pinned = Arc::new(Pinned::read(pages, scopes, form, now)?);
    let shown = pinned::snapshot(pages, epoch, place.partition, now)?;
    let same = warm.fixed.as_ref().filter(|known| known.epoch == epoch.epoch.number && items_of(&known.fixed) == shown);
    let fixed = match same {
        Some(known) => Arc::clone(&known.fixed),
        None => Arc::new(fixed(pages, place, epoch, shown)?),
    };
    Ok(WarmFixed { epoch: epoch.epoch.number, fixed, pinned })
}

pub(super) fn items_of(fixed: &Fixed) -> &[Item] {
    fixed.pinned.as_ref().map_or(&[], |pinned| &pinned.items)
}

/// The session's budget with what this call asks for otherwise.
pub(super) fn effective(own: &SessionBudget, model: &Model, ask: &Ask) -> SessionBudget {
    let mut budget = ask.budget.clone().unwrap_or_else(|| own.fitted(model));
    budget.max_input_tokens = ask.max_input_tokens.or(budget.max_input_tokens);
    budget.output_tokens = ask.max_output_tokens.or(budget.output_tokens);
    budget
}

/// Refuses what cannot be an item.
pub fn check_items(items: &[Item]) -> Result<()> {
    const MOST_BYTES: usize = 64 << 20;
    let bytes: usize = items.iter().map(|item| item.text.len()).sum();
    if bytes > MOST_BYTES {
        return Err(Error::invalid(format!(
            "assembling a prompt: items may have at most {MOST_BYTES} bytes of text together, and these {} have {bytes}: choose among them first",
            items.len()
        ))
        .with("size_bytes", bytes));
    }
    Ok(())
}
