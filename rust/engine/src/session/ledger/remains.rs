//! A compaction takes passages of documents that are gone out of the ledgers of a scope, and hashes by which a guess of a text that was taken
//! back could be tested.
//!
//! The hash of a prompt (`SentPrompt::chain`) proves that the prompt which is composed again is the one that was sent. It goes once
//! something of the prompt is gone, since no prompt has that hash any more: a redacted message, a forgotten memory, a passage. The block of
//! an earlier turn counts as well, and so do the memories that its epoch began with.

use std::collections::{BTreeMap, BTreeSet};

use super::call::{Call, SentPrompt, count};
use super::passages::Known;
use crate::context::limit::section;
use crate::context::{Item, MemoryRef, MessageRef, Reason};
use crate::memory::Core;
use crate::scope::{self, Scope};
use crate::session::key::{SessionKey, SessionsHead};
use crate::session::record::SessionRecord;
use crate::session::stored_epoch::StoredEpoch;
use crate::session::transcript::message::{MessageRecord, MessageState};
use crate::session::transcript::view::TurnRecord;
use crate::session::window::{pinned, retrieved};
use crate::store::identity::Seed;
use crate::store::keys::Partition;
use crate::store::pages::{Pages, PagesMut};
use crate::{Error, ErrorKind, Result};

/// Calls that one transaction changes.
const STEP: usize = 256;
/// The references that are remembered, each with whether it is gone. Then all are looked up anew.
const MOST_KNOWN: usize = 1 << 16;

/// Clears the ledgers of a scope's sessions.
pub(crate) fn clear_ledgers(engine: &Core, partition: Partition, scope: &Scope) -> Result<()> {
    let seed = scope.seed(engine.store().secret());
    let sessions = engine.store().read(|pages| Ok(SessionsHead::read(pages, partition)?.sessions))?;
    let mut looked_up = LookedUp::default();
    for session in 1..=sessions {
        let place = SessionKey { partition, session };
        let found = engine.store().read(|pages| Remains::of(pages, place, &mut looked_up))?;
        for some in found.chunks(STEP) {
            let some = some.to_vec();
            engine.write_to(partition, move |txn| clear_some(txn, place, seed, &some))?;
        }
    }
    Ok(())
}

/// A call of which something is to go.
#[derive(Debug, Clone, Copy)]
struct Remain {
    turn: u64,
    call: u16,
    /// Its reply was redacted, and its hash is there.
    reply: bool,
    /// Something of its prompt is gone.
    prompt: bool,
}

fn clear_some<P: PagesMut>(pages: &mut P, place: SessionKey, seed: Seed, found: &[Remain]) -> Result<()> {
    let Some(known) = Known::of(&*pages, place)? else { return Ok(()) };
    for one in found {
        if one.call >= count(&*pages, place, one.turn)? {
            continue; // it was taken back meanwhile
        }
        let mut call = Call::read(&*pages, place, one.turn, one.call)?;
        if let Some(sent) = call.sent.as_mut().filter(|_| one.prompt) {
            sent.chain = 0;
            known.drop_gone(&*pages, sent)?;
        }
        if one.reply && is_redacted(&*pages, place, call.reply)? {
            call.forget_reply(pages, place, seed)?;
        }
        call.write(pages, place, one.turn)?;
    }
    Ok(())
}

/// A session whose ledger is looked through.
struct Remains<'p, P> {
    pages: &'p P,
    place: SessionKey,
    known: Known,
    /// The memories that an epoch began with.
    pinned: BTreeMap<u64, Vec<MemoryRef>>,
    /// The first message that was taken back or redacted when an epoch began, or later.
    taken_back: BTreeMap<u64, u64>,
    /// The messages that were redacted, where an epoch does not say what was taken back: before 0.12.0.
    redacted: BTreeSet<u64>,
}

impl<'p, P: Pages> Remains<'p, P> {
    fn of(pages: &'p P, place: SessionKey, looked_up: &mut LookedUp) -> Result<Vec<Remain>> {
        let (Some(record), Some(known)) = (SessionRecord::read(pages, place)?, Known::of(pages, place)?) else { return Ok(Vec::new()) };
        let mut session = Self { pages, place, known, pinned: BTreeMap::new(), taken_back: BTreeMap::new(), redacted: BTreeSet::new() };
        session.read_epochs(&record)?;
        let (mut found, mut lost_block) = (Vec::new(), false);
        for turn in 0..record.tally.turns {
            let calls = Call::of_turn(pages, place, turn)?;
            for call in &calls {
                let reply = call.has_hash() && session.redacted.contains(&call.reply);
                let prompt = match &call.sent {
                    None => false,
                    Some(sent) => session.has_lost(sent, lost_block, looked_up)?,
                };
                if reply || prompt {
                    found.push(Remain { turn, call: call.number, reply, prompt });
                }
            }
            // A store that was repaired may have lost the record of a turn.
            let kept = TurnRecord::read(pages, place, turn).map_or_else(damaged_or, |turn| Ok(turn.kept))?;
            if let Some(kept) = kept
                && let Some(sent) = calls.get(usize::from(kept)).and_then(|call| call.sent.as_ref())
            {
                lost_block |= session.lacks_item(sent, looked_up)?;
            }
        }
        Ok(found)
    }

    fn read_epochs(&mut self, record: &SessionRecord) -> Result<()> {
        let mut unsaid = Vec::new();
        for number in 0..=record.epoch {
            let Some((epoch, taken_back)) = StoredEpoch::read_edit(self.pages, self.place, number)? else { continue };
            if let Some(message) = taken_back {
                self.taken_back.insert(number, message);
            } else if epoch.reason == Reason::Rewound {
                unsaid.push(number);
            }
            self.pinned.insert(number, epoch.pinned);
        }
        if !unsaid.is_empty() {
            for index in 0..record.tally.messages {
                self.redacted.extend(is_redacted(self.pages, self.place, index)?.then_some(index));
            }
        }
        let first = self.redacted.first().copied();
        self.taken_back.extend(unsaid.into_iter().filter_map(|number| Some((number, first?))));
        let mut first = u64::MAX;
        for message in self.taken_back.values_mut().rev() {
            first = first.min(*message);
            *message = first;
        }
        Ok(())
    }

    /// Whether something of a prompt is gone, and its hash or its passages are there.
    fn has_lost(&self, sent: &SentPrompt, lost_block: bool, looked_up: &mut LookedUp) -> Result<bool> {
        let passage = |item: &Item| self.known.is_gone(self.pages, item);
        if sent.chain == 0 {
            return any(&sent.items, passage);
        }
        Ok(lost_block || self.saw_taken_back(sent) || self.lacks_item(sent, looked_up)? || self.lacks_pinned(sent, looked_up)?)
    }

    /// Whether it saw a message that was taken back or redacted later.
    fn saw_taken_back(&self, sent: &SentPrompt) -> bool {
        self.taken_back.range(sent.epoch + 1..).next().is_some_and(|(_, first)| *first < sent.messages)
    }

    fn lacks_item(&self, sent: &SentPrompt, looked_up: &mut LookedUp) -> Result<bool> {
        any(&sent.items, |item| match (item.memory, item.message) {
            (Some(memory), _) => looked_up.memory(self.pages, memory),
            (None, Some(message)) => looked_up.message(self.pages, (message, item.form.called)),
            (None, None) if item.text.is_empty() => Ok(&*item.section == section::RETRIEVED),
            (None, None) => self.known.is_gone(self.pages, item),
        })
    }

    fn lacks_pinned(&self, sent: &SentPrompt, looked_up: &mut LookedUp) -> Result<bool> {
        let pinned = self.pinned.get(&sent.epoch).map_or(&[][..], Vec::as_slice);
        any(pinned, |memory| looked_up.memory(self.pages, *memory))
    }
}

fn is_redacted<P: Pages>(pages: &P, place: SessionKey, index: u64) -> Result<bool> {
    Ok(MessageRecord::read(pages, place, index)?.is_some_and(|message| message.state == MessageState::Redacted))
}

fn damaged_or<T>(error: Error) -> Result<Option<T>> {
    if error.kind() == ErrorKind::StoreCorrupt { Ok(None) } else { Err(error) }
}

fn any<T>(all: &[T], mut is: impl FnMut(&T) -> Result<bool>) -> Result<bool> {
    for one in all {
        if is(one)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// References that were looked up already, since many prompts show the same. True is gone.
#[derive(Default)]
struct LookedUp {
    memories: BTreeMap<MemoryRef, bool>,
    /// Each with the place of the call that its item says.
    messages: BTreeMap<(MessageRef, Option<u64>), bool>,
}

impl LookedUp {
    fn memory<P: Pages>(&mut self, pages: &P, memory: MemoryRef) -> Result<bool> {
        let read = || {
            let erased = scope::is_dropped(pages, memory.partition as Partition)?;
            Ok(erased || pinned::revision(pages, memory, i64::MIN)?.is_none())
        };
        look_up(&mut self.memories, memory, read)
    }

    fn message<P: Pages>(&mut self, pages: &P, said: (MessageRef, Option<u64>)) -> Result<bool> {
        look_up(&mut self.messages, said, || retrieved::is_gone(pages, said.0, said.1))
    }
}

fn look_up<K: Ord + Copy>(known: &mut BTreeMap<K, bool>, key: K, read: impl FnOnce() -> Result<bool>) -> Result<bool> {
    if let Some(gone) = known.get(&key) {
        return Ok(*gone);
    }
    if known.len() >= MOST_KNOWN {
        known.clear();
    }
    let gone = read()?;
    known.insert(key, gone);
    Ok(gone)
}
