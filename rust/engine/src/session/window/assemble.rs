//! Assembling a prompt: one snapshot is asked for everything it may be made of (`gather`), the rest is
//! [`compose`](crate::context::compose()), which opens no store. Nothing is written.

use std::cell::OnceCell;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::bounds;
use super::goes_on::{asked_before, goes_on};
use super::pinned::{self, Pinned};
use super::recalled::Recalled;
use super::replaced::Replaced;
use super::retrieved::{self, Asked, Shown};
use super::room::{self, RoomLeft};
use super::warm::{Warm, WarmFixed};
use crate::context::explain::{Explained, Why};
use crate::context::limit::{Share, section};
use crate::context::message::Part;
use crate::context::{
    Bounds, Factor, Fixed, History, Inputs, Item, KnownWindow, MemoryRef, Message, Prompt, Role, Volatile, carries_block, check,
};
use crate::index::vectors;
use crate::limits;
use crate::memory::Core;
use crate::models::Model;
use crate::recall::ranking::SURE_ENOUGH;
use crate::recall::when::Range;
use crate::recall::{self, Filter, Overview, Question, Recall, Request};
use crate::scope::Scope;
use crate::session::asking::asking;
use crate::session::key::{SessionKey, cache_key};
use crate::session::ledger::SentPrompt;
use crate::session::notes;
use crate::session::recalls::Recalls;
use crate::session::record::{SessionBudget, SessionRecord};
use crate::session::reply::refused;
use crate::session::search::{Asking, Transcripts};
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
        counted / 4..=bytes.min(counted.saturating_mul(20)).saturating_add(4_000)
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
        *floor = Share::new(floor.millionths() / 2); // what answers the second question has little of the first
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
    let stands: Vec<MemoryRef> = items_of(&fixed.fixed).iter().chain(&volatile).filter_map(|item| item.memory).collect();
    let mut recalled = recall(engine, pages, scopes, &view, ask, (&record.recalls, &stands))?;
    let mut memories = Vec::new();
    if let Some((request, question, answer, _)) = &recalled {
        let least = if recall::is_filled(request, question) { SURE_ENOUGH } else { 0.0 };
        let asked = Recalled { now: ask.now, least, follows: request.filter.fills };
        memories = asked.items(pages, answer, |partition| epoch.form_of(partition, place.partition))?;
    }
    let (mut left_out_passages, mut degraded, mut most_recalled) = (Vec::new(), None, u64::MAX);
    if let Some((request, question, answer, asking)) = &mut recalled {
        let passages = retrieved::passages(engine, pages, &record, request, question)?;
        let budget = effective(&record.budget, &epoch.model, ask);
        let limit = refused::limit(pages, place, &epoch.model.name, budget.limit(&epoch.model)?.0)?;
        let room = RoomLeft::of(limit, &budget.sections, &epoch, &fixed.fixed, &view)?;
        most_recalled = room.most_recalled;
        let (start, left_out, preferred) = (room.start, room.left_out, request.filter.preferred);
        let mut replaced = fixed.pinned.replaced.clone();
        for hit in &answer.hits {
            Replaced::by(pages, answer.partition_of(hit), &hit.memory, &mut replaced)?;
        }
        let (replaced, room) = (&replaced[..], room.tokens);
        let (excerpts, asking, of_now) = (OnceCell::new(), *asking, recall::is_of_now(&request.filter, question));
        let (record, superseded) = (&record, &*engine.superseded(pages, place.partition)?);
        let transcripts = Transcripts::new(pages, place.partition);
        let asked = Asked {
            superseded,
            scope,
            place,
            record,
            start,
            left_out,
            question,
            excerpts,
            asking,
            now: ask.now,
            preferred,
            room,
            replaced,
            of_now,
            follows: recall::may_be_of_now(&request.filter, question),
        };
        let (mut messages, corrections) = retrieved::messages((pages, &transcripts), &asked, &view)?;
        for one in corrections.into_iter().chain(passages.corrections) {
            if !answer.corrections.contains(&one) {
                answer.corrections.push(one);
            }
        }
        if question.overview().is_some_and(Overview::is_of_time) {
            memories = of_time(memories, answer, messages, room, &[items_of(&fixed.fixed), &volatile]);
        } else {
            asked.follow((pages, &transcripts), (answer, &mut memories), &mut messages, &view)?;
            memories.extend(messages.into_iter().map(|one| one.item));
        }
        memories.extend(passages.shown);
        (left_out_passages, degraded) = (passages.left_out, passages.degraded);
    }
    volatile.append(&mut memories);
    volatile.extend(ask.items.iter().cloned());
    let recalled = recalled.map(|(request, _, answer, _)| (request, answer));
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

fn items_of(fixed: &Fixed) -> &[Item] {
    fixed.pinned.as_ref().map_or(&[], |pinned| &pinned.items)
}

fn recall<P: Pages>(
    engine: &Core,
    pages: &P,
    scopes: Vec<Scope>,
    view: &View<'_, P>,
    ask: &Ask,
    (recalls, stands): (&Recalls, &[MemoryRef]),
) -> Result<Option<(Request, Question, Recall, Asking)>> {
    let asked = match &ask.query {
        Some(query) => Some((query.clone(), Asking::ByCaller)),
        None => newest_question(view)?.map(|(index, text)| (text, Asking::ByMessage(view.place.session, index))),
    };
    let Some((text, asking)) = asked.filter(|(text, _)| !text.trim().is_empty()) else { return Ok(None) };
    let mut request = memory_request(text, ask, scopes, recalls);
    let memories = request.limit;
    let question = Question::new(&request.text);
    let is_of_user = question.overview() == Some(Overview::User);
    if is_of_user {
        request.limit += stands.len(); // these are among the first of what answers, and stand in the prompt already
    }
    let asks_nothing = memories == 0 || question.asks_nothing();
    let mut answer = if asks_nothing { Recall::default() } else { recall::answer(engine, pages, &request, &question)? };
    if is_of_user {
        let (mut hits, mut left) = (std::mem::take(&mut answer.hits), memories);
        hits.retain(|hit| {
            let place = (u64::from(answer.partition_of(hit)), u64::from(hit.memory.number));
            let stands = stands.iter().any(|one| (one.partition, one.memory) == place);
            let stays = stands || left > 0;
            left = if stands { left } else { left.saturating_sub(1) };
            stays
        });
        answer.hits = hits;
    }
    Ok(Some((request, question, answer, asking)))
}

/// A question to the memory of some scopes.
pub(super) fn memory_request(text: String, ask: &Ask, scopes: Vec<Scope>, recalls: &Recalls) -> Request {
    let by_clock = ask.time.as_ref().filter(|(_, question)| *question == text);
    let preferred = by_clock.map_or_else(|| recall::when::read(&text, ask.now, 0), |(time, _)| *time);
    Request {
        text,
        vector: ask.vector.clone(),
        scopes,
        limit: recalls.memories as usize,
        filter: Filter { preferred, relevant_only: true, fills: recalls.fills(), ..Filter::all(ask.now) },
        min_score: 0.0,
        max_tokens: None,
    }
}

/// The index of the user's last message, and what it asks memory.
pub(in crate::session) fn newest_question(history: &dyn History) -> Result<Option<(u64, String)>> {
    let Some(turn) = history.turns().checked_sub(1) else { return Ok(None) };
    let start = history.turn_start(turn)?;
    for index in (start..history.messages()).rev() {
        let stored = history.message(index)?;
        if stored.message.opens_turn() {
            return Ok(Some((index, question(&stored.message))));
        }
    }
    Ok(None)
}

/// The question that a message [asks](asking) memory.
fn question(message: &Message) -> String {
    debug_assert_eq!(message.role, Role::User);
    let texts = message.parts.iter().filter_map(|part| if let Part::Text(said) = part { Some(&**said) } else { None });
    let text: String = texts.flat_map(|said| [said, "\n"]).collect();
    asking(&text).into_owned()
}

/// Memories and messages that answer a question for a time alone, in the order of time; where none does, all as they were found. `elsewhere`
/// has what the prompt shows besides.
fn of_time(memories: Vec<Item>, answer: &Recall, messages: Vec<Shown>, room: u64, elsewhere: &[&[Item]]) -> Vec<Item> {
    let happened = answer.hits.iter().map(|hit| hit.parts.overview);
    let messages = messages.into_iter().map(|one| (one.said_then, one.item));
    let (mut then, mut others) = (Vec::new(), Vec::new());
    for (at, item) in happened.zip(memories).chain(messages) {
        match at {
            Some(at) => then.push((at, item)),
            None => others.push(item),
        }
    }
    let shows = |one: &Item, item: &Item| one.memory.is_some() && one.memory == item.memory || one.text == item.text;
    let mut items = retrieved::in_order_of_time(then, room, |item| elsewhere.iter().any(|all| all.iter().any(|one| shows(one, item))));
    items.append(&mut others);
    items
}

/// The session's budget with what this call asks for otherwise.
fn effective(own: &SessionBudget, model: &Model, ask: &Ask) -> SessionBudget {
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
