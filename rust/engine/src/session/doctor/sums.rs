//! The sums of a transcript, made again: every message is pushed through a fresh tally, as it was when it was added.
//!
//! Sums are compared message by message, each against the one before, so that one wrong number is one finding. Where a text was
//! erased since (a redacted message, a forgotten memory in a block that stayed) the stored sum may be above the true one, and
//! is never below. Each switch of models began counts of its own: all are checked, since old calls are composed with theirs.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::Result;
use crate::context::{Stored, Tally};
use crate::models::Model;
use crate::session::key::SessionKey;
use crate::session::ledger::Call;
use crate::session::record::SessionRecord;
use crate::session::stored_epoch::StoredEpoch;
use crate::session::transcript::message::{MessageRecord, MessageState};
use crate::session::transcript::view::View;
use crate::store::pages::Pages;
use crate::tokens::CachedCounter;

/// A contradiction: its area and its text.
type Found = (&'static str, String);

/// The tallies of a session for the counts of one model, while its messages are pushed.
pub(super) struct Sums<'v, P> {
    view: View<'v, P>,
    model: Model,
    counter: CachedCounter,
    /// The messages whose counts are this model's.
    counted: Range<u64>,
    /// Whether the session still runs on it.
    current: bool,
    /// Turns and calls, from the first message on; its tokens mean nothing.
    turns: Tally,
    /// Tokens, from the first counted message on.
    tokens: Tally,
    /// Something between the sum before and the next was erased since.
    erased: bool,
    /// A message could not be read: nothing can be compared any more.
    broken: bool,
}

/// The sums to be made: for each model that the session ran on, from the last epoch with it. `epochs` are all, oldest first.
pub(super) fn of_models<'v, P: Pages>(pages: &'v P, place: SessionKey, record: &SessionRecord, epochs: &[StoredEpoch]) -> Vec<Sums<'v, P>> {
    let newest = epochs.iter().map(|epoch| (epoch.switch, epoch)).collect::<BTreeMap<_, _>>();
    let until = |switch: u16| epochs.iter().filter(|epoch| epoch.switch > switch).map(|epoch| epoch.recounted.1).min();
    let sums = newest.into_iter().map(|(switch, epoch)| {
        let start = if switch == 0 { 0 } else { epoch.recounted.0 };
        Sums {
            view: View::cold(pages, place, record, epoch),
            model: epoch.model.clone(),
            counter: epoch.model.counter(),
            counted: start..until(switch).unwrap_or(u64::MAX),
            current: until(switch).is_none(),
            turns: Tally::default(),
            tokens: Tally::default(),
            erased: false,
            broken: false,
        }
    });
    sums.collect()
}

impl<P: Pages> Sums<'_, P> {
    /// A message is damaged.
    pub fn skip(&mut self) {
        self.broken = true;
    }

    /// The next message. An error where it cannot stand where it stands, or what it is counted with is damaged.
    pub fn push(&mut self, record: &MessageRecord, stored: &Stored) -> Result<Vec<Found>> {
        if self.broken || record.placed.index >= self.counted.end {
            return Ok(Vec::new());
        }
        self.next(record, stored).inspect_err(|_| self.broken = true)
    }

    fn next(&mut self, record: &MessageRecord, stored: &Stored) -> Result<Vec<Found>> {
        let (index, mut found) = (record.placed.index, Vec::new());
        if index > self.counted.start && stored.message.opens_turn() && self.turns.has_user {
            self.keep_block(self.turns.turns - 1)?;
        }
        let placed = self.turns.push(&stored.message, 0, &self.model.framing, &self.counter)?;
        let (turn, opens_turn) = (record.placed.turn, record.placed.opens_turn);
        if self.current && (placed.turn, placed.opens_turn) != (turn, opens_turn) {
            found.push(("turn", format!("it says turn {turn}, begun there: {opens_turn}; it is in turn {}", placed.turn)));
        }
        if index >= self.counted.start {
            found.extend(self.count(record, stored)?);
        }
        Ok(found)
    }

    fn count(&mut self, record: &MessageRecord, stored: &Stored) -> Result<Vec<Found>> {
        let (brief, redacted) = (self.view.brief(record.placed.index)?, record.state == MessageState::Redacted);
        let mut found = Vec::new();
        // A message redacted later has the count of the model of that time, or none of this model.
        if !self.model.counts(&stored.message, brief.cost) && (self.current || !redacted) {
            let tokens = self.model.cost(&stored.message).tokens;
            found.push(("tokens", format!("it says {} tokens and has {tokens}", brief.cost.tokens)));
        }
        let sum = self.tokens.push(&stored.message, brief.cost.tokens, &self.model.framing, &self.counter)?;
        found.extend(self.compare(sum.tokens_before, brief.placed.tokens_before));
        self.erased = redacted;
        Ok(found)
    }

    /// Compares a sum and goes on from what is stored.
    fn compare(&mut self, sum: u64, stored: u64) -> Option<Found> {
        let sound = stored == sum || self.erased && (stored > sum || !self.current);
        self.erased = false;
        self.tokens.tokens = self.tokens.tokens.wrapping_add(stored.wrapping_sub(sum));
        (!sound).then(|| ("tokens", format!("{stored} tokens are said to stand before it, and there are {sum}")))
    }

    /// A block stayed in `turn`, which ends here.
    fn keep_block(&mut self, turn: u64) -> Result<()> {
        let Some(kept) = self.view.turn(turn)?.kept else { return Ok(()) };
        self.tokens.keep_block(self.view.sent_block(turn)?.map_or(0, |block| block.tokens));
        let call = Call::read(self.view.pages, self.view.place, turn, kept)?;
        self.erased |= call.sent.is_none() || !call.shown(self.view.pages, i64::MIN)?.gone.is_empty();
        Ok(())
    }

    /// Compares the end with what the session's record says.
    pub fn finish(mut self, tally: &Tally) -> Vec<String> {
        if self.broken || !self.current {
            return Vec::new();
        }
        let mut found = Vec::new();
        let (turns, stored) = (&self.turns, tally);
        if (turns.turns, turns.has_user) != (stored.turns, stored.has_user) {
            found.push(format!("it counts {} turns and has {}", stored.turns, turns.turns));
        }
        if (&turns.open, &turns.answered) != (&stored.open, &stored.answered) {
            found.push(format!("it says that {:?} wait for results, and {:?} do", stored.open, turns.open));
        }
        let sum = self.tokens.tokens;
        if self.compare(sum, tally.tokens).is_some() {
            found.push(format!("it sums {} tokens and has {sum}", tally.tokens));
        }
        found
    }
}
