//! Checks the records beside a session's messages against them: turns, calls, ids, tasks.

use std::collections::BTreeSet;

use super::session::Expected;
use super::{Visit, keys, numbers};
use crate::Result;
use crate::session::key::SessionKey;
use crate::session::ledger::Call;
use crate::session::record::SessionRecord;
use crate::session::task;
use crate::session::transcript::view::TurnRecord;
use crate::session::writer::{KnownId, read_id};
use crate::store::keys::Table;
use crate::store::pages::Pages;

/// Checks turns, calls, ids and tasks of one session.
pub(super) fn check<P: Pages>(visit: &mut Visit<'_, P>, place: SessionKey, record: &SessionRecord, expected: Expected) -> Result<()> {
    let name = format!("(session {}, {:?})", place.session, record.id);
    let mut beside = Beside { visit, place, record, name, expected, calls: BTreeSet::new() };
    beside.calls()?;
    beside.turns()?;
    beside.sent();
    beside.ids()?;
    beside.tasks()
}

struct Beside<'b, 'v, P> {
    visit: &'b mut Visit<'v, P>,
    place: SessionKey,
    record: &'b SessionRecord,
    name: String,
    expected: Expected,
    /// Turn and number of every call whose prompt carried a block.
    calls: BTreeSet<(u64, u16)>,
}

impl<P: Pages> Beside<'_, '_, P> {
    fn note(&mut self, part: &'static str, what: &str) {
        self.visit.note(part, format!("{what} {}", self.name));
    }

    fn calls(&mut self) -> Result<()> {
        for key in keys(self.visit.pages, self.place.all(Table::Call), true)? {
            let Some((turn, number)) = key.split_first_chunk::<4>().and_then(|(turn, rest)| Some((turn, rest.first_chunk::<2>()?))) else {
                continue;
            };
            let (turn, number) = (u64::from(u32::from_be_bytes(*turn)), u16::from_be_bytes(*number));
            let call = Call::read(self.visit.pages, self.place, turn, number);
            let reply = self.expected.replies.remove(&(turn, number));
            if let Some(call) = self.visit.read("call", call)? {
                self.call(turn, &call, reply);
            }
        }
        for ((turn, number), index) in std::mem::take(&mut self.expected.replies) {
            self.note("call", &format!("message {index} is the reply to call {number} of turn {turn}, which is missing"));
        }
        Ok(())
    }

    fn call(&mut self, turn: u64, call: &Call, reply: Option<u64>) {
        let number = call.number;
        if reply != Some(call.reply) {
            let what = format!("call {number} of turn {turn} has message {} as its reply, which does not know it", call.reply);
            self.note("call", &what);
        }
        if number > 0 && !self.has_call(turn, number - 1) {
            self.note("call", &format!("call {number} of turn {turn} follows on none"));
        }
        if let Some(sent) = &call.sent
            && (sent.epoch > self.record.epoch || sent.messages != call.reply)
        {
            let what = format!("call {number} of turn {turn} says that it saw {} messages in epoch {}", sent.messages, sent.epoch);
            self.note("call", &what);
        }
        if call.has_block() || call.is_lost() {
            self.calls.insert((turn, number));
        }
        self.expected.ids.insert(call.name_key(self.place, self.visit.seed).as_slice().to_vec(), call.known());
    }

    fn has_call(&self, turn: u64, number: u16) -> bool {
        self.visit.pages.get(self.place.call(turn, number).u16(0).as_slice()).is_ok_and(|value| value.is_some())
    }

    /// Turns begin where a message says so; a block stays only where one was sent.
    fn turns(&mut self) -> Result<()> {
        let found = numbers(self.visit.pages, self.place.all(Table::Turn), false)?;
        let starts = std::mem::take(&mut self.expected.starts);
        if !(0..starts.len() as u64).eq(found.iter().map(|turn| u64::from(*turn))) {
            self.note("turn", &format!("its messages begin {} turns, and {} are stored, or others", starts.len(), found.len()));
        }
        for turn in found.into_iter().map(u64::from) {
            let record = TurnRecord::read(self.visit.pages, self.place, turn);
            let Some(record) = self.visit.read("turn", record)? else { continue };
            if starts.get(turn as usize).is_some_and(|start| *start != record.start) {
                self.note("turn", &format!("turn {turn} is said to begin at message {}, and begins elsewhere", record.start));
            }
            if record.kept.is_some_and(|call| turn + 1 >= starts.len() as u64 || !self.calls.contains(&(turn, call))) {
                self.note("turn", &format!("a block is said to stay in turn {turn}, and it cannot"));
            }
        }
        Ok(())
    }

    /// The block of the newest turn is that of one of its calls.
    fn sent(&mut self) {
        let Some(sent) = self.record.sent else { return };
        if sent.turn + 1 != self.record.tally.turns || !self.calls.contains(&(sent.turn, sent.call)) {
            self.note("call", &format!("its newest block is said to be that of call {} of turn {}, which sent none", sent.call, sent.turn));
        }
    }

    fn ids(&mut self) -> Result<()> {
        let prefix = self.place.all(Table::MessageId);
        for rest in keys(self.visit.pages, prefix, false)? {
            let key = [prefix.as_slice(), &rest].concat();
            let known = read_id(self.visit.pages, &key);
            let Some(Some(known)) = self.visit.read("message id", known)? else { continue };
            match self.expected.ids.remove(&key) {
                Some(expected) if expected == known => {}
                Some(expected) => self.id_differs(known, expected),
                None => self.note("message id", &format!("an id leads to message {}, which does not have it", known.index)),
            }
        }
        for known in std::mem::take(&mut self.expected.ids).into_values() {
            self.note("message id", &format!("message {} is not found by its id", known.index));
        }
        Ok(())
    }

    fn id_differs(&mut self, known: KnownId, expected: KnownId) {
        let what = format!("the id of message {} leads to message {}, or to what it was not given as", expected.index, known.index);
        self.note("message id", &what);
    }

    fn tasks(&mut self) -> Result<()> {
        let (place, seed, mut wrong) = (self.place, self.visit.seed, Vec::new());
        let read = task::each(self.visit.pages, place.partition, place.session, &mut |key, task| {
            if key != task::key(place.partition, place.session, seed, &task.name) || task.validate().is_err() {
                wrong.push(task.name);
            }
        });
        self.visit.read("task", read)?;
        for name in wrong {
            self.note("task", &format!("a task says that it is {name:?}, and it is not, or it holds what no task can"));
        }
        Ok(())
    }
}
