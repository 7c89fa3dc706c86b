//! A write transaction seen from one session: messages, words, the window and its epochs, the record.

use super::add::Prepared;
use super::key::{SessionKey, SessionsHead};
use super::ledger::Call;
use super::policy::Policy;
use super::record::{self, SessionRecord};
use super::stored_epoch::{BlobRef, StoredEpoch};
use super::transcript::blob;
use super::transcript::message::{MessageRecord, MessageState};
use super::transcript::view::{TurnRecord, View};
use super::transcript::words::Words;
use super::window::bounds;
use super::window::warm::PastTurns;
use crate::context::{Epoch, Origin, Placed, Reason, bounded};
use crate::models::Model;
use crate::scope::Scope;
use crate::store::envelope::{self, Codec};
use crate::store::identity::Seed;
use crate::store::load;
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};
use crate::tokens::CachedCounter;
use crate::tokens::bound::Class;
use crate::units::clock::told;
use crate::{Error, ErrorKind, Result};

/// The outcome of adding a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddAction {
    /// It is the newest message now.
    Added,
    /// It was added before, under the same id.
    Duplicate,
    /// It was added before, and its text was taken out since.
    Rejected,
}

impl AddAction {
    /// Its name in the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Duplicate => "duplicate",
            Self::Rejected => "rejected",
        }
    }
}

/// A message that was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Added {
    /// Its index.
    pub index: u64,
    /// Its turn.
    pub turn: u64,
    /// Its count.
    pub tokens: u64,
    /// Its outcome.
    pub action: AddAction,
}

/// A session in a write transaction.
pub(super) struct SessionWriter<'t, P: PagesMut> {
    pub pages: &'t mut P,
    pub scope: &'t Scope,
    pub place: SessionKey,
    pub seed: Seed,
    pub record: SessionRecord,
    pub epoch: StoredEpoch,
    pub head: SessionsHead,
    /// Time of this transaction: later than that of every write before it.
    pub now: i64,
    /// The time that people are told, and by which things expire: `now`, or the clock's where `now` ran ahead of it.
    pub told: i64,
    pub words: Words,
    /// Messages were added or the budget changed: the window may have moved.
    pub(super) unsettled: bool,
    /// A turn began: the beginning of its prompts is checked.
    pub(super) turn_opened: bool,
    /// A reply was added whose prompt was of an epoch before this one.
    pub(super) is_late: bool,
    /// Its turns, as far as this process knows them.
    pub(super) past: PastTurns,
    /// Turns before this one have their blocks for good, whatever becomes of this transaction.
    pub(super) settled: u64,
}

impl<'t, P: PagesMut> SessionWriter<'t, P> {
    /// The session of that id, whatever its state.
    pub fn open(pages: &'t mut P, scope: &'t Scope, id: &str, clock: i64) -> Result<Self> {
        let (place, record) = record::find_in(pages, scope, id)?.ok_or_else(|| record::no_such_session(id))?;
        Self::of(pages, scope, place, record, clock)
    }

    /// The session at that place, whatever its state.
    pub fn at(pages: &'t mut P, scope: &'t Scope, place: SessionKey, clock: i64) -> Result<Self> {
        let record = SessionRecord::expect(pages, place)?;
        Self::of(pages, scope, place, record, clock)
    }

    fn of(pages: &'t mut P, scope: &'t Scope, place: SessionKey, record: SessionRecord, clock: i64) -> Result<Self> {
        let epoch = StoredEpoch::read(pages, place, record.epoch)?;
        let head = SessionsHead::read(pages, place.partition)?;
        let now = clock.max(record.last_time + 1);
        let told = told(now, clock);
        let (seed, settled) = (scope.seed(pages.secret()), record.tally.turns.saturating_sub(1));
        let (words, past) = (Words::default(), PastTurns::default());
        Ok(Self {
            pages,
            scope,
            place,
            seed,
            record,
            epoch,
            head,
            now,
            told,
            words,
            unsettled: false,
            turn_opened: false,
            is_late: false,
            past,
            settled,
        })
    }

    /// This writer with what this process knows of its turns.
    pub fn knowing(self, past: &PastTurns) -> Self {
        Self { past: past.clone(), ..self }
    }

    /// A session that is made now. Its first epoch is begun by the caller.
    pub fn make(pages: &'t mut P, scope: &'t Scope, record: SessionRecord, model: Model, clock: i64) -> Result<Self> {
        let partition = scope.find_or_make(pages)?;
        let mut head = SessionsHead::read(pages, partition)?;
        head.sessions += 1;
        let place = SessionKey { partition, session: head.sessions };
        let seed = scope.seed(pages.secret());
        let epoch = StoredEpoch {
            epoch: no_epoch(&model),
            model,
            system: None,
            tools: None,
            switch: 0,
            recounted: (0, 0),
            began_at: clock,
            stamps: Vec::new(),
            names_memories: false,
            own_names: false,
            taken_back: None,
            origin: Origin::Unsaid,
            thinking_from: None,
        };
        Ok(Self {
            pages,
            scope,
            place,
            seed,
            record,
            epoch,
            head,
            now: clock,
            told: clock,
            words: Words::default(),
            unsettled: false,
            turn_opened: false,
            is_late: false,
            past: PastTurns::default(),
            settled: 0,
        })
    }

    /// The clock's time, where that of this transaction ran ahead of it.
    pub fn behind(&self) -> Option<i64> {
        (self.told != self.now).then_some(self.told)
    }

    pub fn counter(&self) -> CachedCounter {
        CachedCounter::new(self.epoch.model.encoding)
    }

    pub(super) fn view(&self) -> View<'_, P> {
        let likely_turn = self.past.first(self.place, self.record.edits);
        View::cold(&*self.pages, self.place, &self.record, &self.epoch).beginning(likely_turn)
    }

    /// Adds a message. `call` is the call in its turn that it is the reply to.
    pub fn add(&mut self, prepared: &Prepared, expect_index: Option<u64>, call: Option<u16>) -> Result<Added> {
        load::check_seed(prepared.seed, self.seed)?;
        if let Some(known) = self.known(prepared)? {
            return Ok(known);
        }
        self.check_index(expect_index)?;
        let index = self.record.tally.messages;
        let shown = prepared.shown(index, &self.record, &self.epoch, self.most_of_result(&prepared.message)?)?;
        let (framing, counter) = (self.epoch.model.framing, self.counter());
        // The state is changed only once nothing can refuse the message any more.
        let (kept, before) = (self.block_that_stays(prepared)?, self.record.tally.tokens);
        self.record.tally.keep_block(kept.map_or(0, |block| block.1));
        let pushed = self.record.tally.push(&shown.stored.message, shown.stored.cost.tokens, &framing, &counter);
        let placed = pushed.inspect_err(|_| self.record.tally.tokens = before)?;
        let others = (self.record.tally.tokens - before).saturating_sub(shown.stored.cost.tokens + kept.map_or(0, |block| block.1));
        self.enter_turn(placed, kept.map(|block| block.0))?;
        if let Some(window) = &mut self.record.window {
            let own = bounded::message(&shown.stored.message, shown.stored.cost.tokens, framing.shape(), &counter);
            window.extend(&own.plus(&bounded::like(Class::Prose, others)));
        }
        let document = match &prepared.findable {
            Some(findable) => {
                let at = prepared.new.created_at.unwrap_or(self.told);
                self.words.add(self.pages, &mut self.head, self.place, (index, at), findable.clone())?
            }
            None => 0,
        };
        for (hole, data) in &prepared.blobs {
            blob::put(self.pages, self.place.partition, hole.hash, data, self.told)?;
        }
        MessageRecord {
            placed,
            cost: shown.stored.cost,
            digest: shown.stored.digest,
            format: prepared.format,
            state: MessageState::Given,
            added_at: self.now,
            created_at: prepared.new.created_at.or(self.behind()),
            document,
            call,
            id: prepared.new.id.clone(),
            author: prepared.new.author.clone(),
            reason: None,
            request: prepared.request,
            shown: shown.texts,
            holes: prepared.blobs.iter().map(|(hole, _)| *hole).collect(),
            rest: prepared.rest.clone(),
        }
        .write(self.pages, self.place)?;
        if let Some(id) = &prepared.new.id {
            put_id(self.pages, self.place, self.seed, id, KnownId { index, request: prepared.request, gone: false })?;
        }
        self.unsettled = true;
        Ok(Added { index, turn: placed.turn, tokens: shown.stored.cost.tokens, action: AddAction::Added })
    }

    /// The tokens that the caller's budget gives a tool result; only asked for messages that have one.
    fn most_of_result(&self, message: &crate::context::Message) -> Result<Option<u64>> {
        if message.tool_results().next().is_none() {
            return Ok(None);
        }
        let most = Policy::read(&*self.pages, self.place)?.result_tokens;
        Ok((most > 0).then_some(most))
    }

    /// The message that has the id already.
    fn known(&self, prepared: &Prepared) -> Result<Option<Added>> {
        let Some(id) = &prepared.new.id else { return Ok(None) };
        let Some(known) = find_id(&*self.pages, self.place, self.seed, id)? else { return Ok(None) };
        if known.gone {
            return Ok(Some(Added { index: known.index, turn: 0, tokens: 0, action: AddAction::Rejected }));
        }
        // A hash of 64 bits says that it may be the same id; the message says which one it has.
        let message = MessageRecord::read(&*self.pages, self.place, known.index)?;
        let is_its_own = message.as_ref().is_none_or(|message| message.id.as_ref() == Some(id));
        let (index, session) = (known.index, &self.record.id);
        let refused = |rule: String| {
            let error =
                Error::new(ErrorKind::IdConflict, format!("adding a message: an id is given once in its session, and {id:?} is {rule}"));
            Err(error.with("id", id.as_str()).with("index", index as i64))
        };
        if known.request != prepared.request || !is_its_own {
            return refused(format!("that of message {index} with other content (session {session:?}): give another id"));
        }
        if prepared.new.created_at.zip(message.and_then(|message| message.created_at)).is_some_and(|(given, known)| given != known) {
            return refused(format!(
                "that of message {index} with another created_at (session {session:?}): give the one that it has, or none; where that one is \
                 wrong, rewind({index}) and add it and what follows it again"
            ));
        }
        let brief = MessageRecord::brief_at(&*self.pages, self.place, known.index)?;
        Ok(Some(Added { index: known.index, turn: brief.placed.turn, tokens: brief.cost.tokens, action: AddAction::Duplicate }))
    }

    /// Refuses an index that is not the next one.
    pub fn check_index(&self, expected: Option<u64>) -> Result<()> {
        match expected {
            Some(expected) if expected != self.record.tally.messages => Err(moved(&self.record, expected)),
            _ => Ok(()),
        }
    }

    /// Call and tokens of the block that stays in the turn that this message ends.
    fn block_that_stays(&self, prepared: &Prepared) -> Result<Option<(u16, u64)>> {
        let ends = prepared.message.opens_turn() && self.record.tally.has_user;
        if ends { self.view().block_that_stays(&self.record, &self.epoch) } else { Ok(None) }
    }

    fn enter_turn(&mut self, placed: Placed, kept: Option<u16>) -> Result<()> {
        if !placed.opens_turn {
            return Ok(());
        }
        if let (Some(kept), Some(before)) = (kept, placed.turn.checked_sub(1)) {
            let turn = TurnRecord::read(&*self.pages, self.place, before)?;
            TurnRecord { kept: Some(kept), ..turn }.write(self.pages, self.place, before)?;
        }
        self.end_turn(kept.zip(placed.turn.checked_sub(1)))?;
        (self.record.sent, self.turn_opened) = (None, true);
        TurnRecord { start: placed.index, kept: None }.write(self.pages, self.place, placed.turn)
    }

    /// The block of the turn before leaves the window, or stays in it: `kept` are its call and its turn.
    fn end_turn(&mut self, kept: Option<(u16, u64)>) -> Result<()> {
        if self.record.window.is_none() {
            return Ok(());
        }
        let (counter, learned) = (self.counter(), bounds::read(&*self.pages, &self.epoch.model)?);
        let block = match kept {
            Some((call, turn)) => Call::read(&*self.pages, self.place, turn, call)?.block(&*self.pages, &counter, self.told)?,
            None => None,
        };
        let block = block.map(|block| bounded::block(&block, 0, &counter));
        if let Some(window) = &mut self.record.window {
            window.end_turn(block.as_ref(), &learned);
        }
        Ok(())
    }

    /// Stores a text for the epoch that begins next, which refers to it.
    pub fn put_text(&mut self, text: &[u8]) -> Result<BlobRef> {
        let blob = BlobRef { hash: blob::hash(self.seed, text), length: text.len() as u64 };
        blob::stage(self.pages, self.place.partition, blob.hash, text, usize::MAX >> 1, self.told)?;
        Ok(blob)
    }

    /// The window may have moved.
    pub fn unsettle(&mut self) {
        self.unsettled = true;
    }

    /// Applies the collected changes: the last step of every transaction. Returns the known turns, valid once that is committed.
    pub fn finish_knowing(mut self) -> Result<PastTurns> {
        if self.unsettled {
            self.settle()?;
        }
        std::mem::take(&mut self.words).apply(self.pages, self.place.partition)?;
        self.head.write(self.pages, self.place.partition)?;
        (self.record.last_time, self.record.clock) = (self.now, self.behind());
        self.record.write(self.pages, self.place)?;
        Ok(self.past)
    }

    /// Applies the collected changes, where nothing is known: the last step of every transaction.
    pub fn finish(self) -> Result<()> {
        self.finish_knowing().map(|_| ())
    }
}

/// The epoch before the first.
fn no_epoch(model: &Model) -> Epoch {
    Epoch {
        number: 0,
        reason: Reason::Began,
        origin: 0,
        pinned: Vec::new(),
        summary_version: 0,
        system_version: 0,
        tools_version: 0,
        renderer_version: 0,
        factor: model.factor,
        fixed_tokens: 0,
        cut: crate::context::Cut::default(),
    }
}

/// The error of a session that went on meanwhile.
pub(super) fn moved(record: &SessionRecord, expected: u64) -> Error {
    let messages = record.tally.messages;
    let is_now =
        if messages == expected { "it was compacted, rewound or redacted meanwhile".to_owned() } else { format!("it has {messages}") };
    Error::new(
        ErrorKind::SessionMoved,
        format!(
            "writing to session {:?}: it must be as the caller saw it, with {expected} messages, and {is_now}: read it again, assemble() or compact() it again, and decide anew",
            record.id
        ),
    )
    .with("session_id", record.id.as_str())
    .with("expected_index", expected as i64)
    .with("messages", messages as i64)
}

/// The record of a caller's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KnownId {
    pub index: u64,
    pub request: u64,
    /// The text was taken out.
    pub gone: bool,
}

pub(super) fn find_id<P: Pages>(pages: &P, place: SessionKey, seed: Seed, id: &str) -> Result<Option<KnownId>> {
    read_id(pages, place.id(seed, id).as_slice())
}

/// The index and the request of an id, by the key of the id.
pub(super) fn read_id<P: Pages>(pages: &P, key: &[u8]) -> Result<Option<KnownId>> {
    let Some(value) = pages.get(key)? else { return Ok(None) };
    let mut r = Reader::array(key, envelope::open(key, value)?.body)?;
    Ok(Some(KnownId { index: r.uint()?, request: r.uint()?, gone: r.bool()? }))
}

pub(super) fn put_id(pages: &mut impl PagesMut, place: SessionKey, seed: Seed, id: &str, known: KnownId) -> Result<()> {
    let key = place.id(seed, id);
    let mut w = Writer::array(3);
    w.uint(known.index);
    w.uint(known.request);
    w.bool(known.gone);
    pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, w.bytes()))
}
