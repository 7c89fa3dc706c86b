//! When a session is to be compacted and how much of a tool result it shows, as its caller wants it; and where its last task ended.
//!
//! Kept beside the record, because most sessions have none.

use super::key::SessionKey;
use crate::Result;
use crate::context::Share;
use crate::store::envelope::{self, Codec};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};

/// A caller's settings for a session's compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Policy {
    /// From this share of a prompt's limit on a compaction is due; 0 for never.
    pub at: Share,
    /// After so many turns since the last; 0 for never.
    pub every_turns: u64,
    /// Tokens that are shown of one tool result; 0 for the engine's own rule.
    pub result_tokens: u64,
    /// How long the session was when its last task ended; 0 for none.
    pub task_ended: u64,
}

impl Policy {
    /// The share from which on a compaction is due, where one is named.
    #[must_use]
    pub fn compact_at(&self) -> Option<f64> {
        (self.at.millionths() > 0).then(|| self.at.as_f64())
    }

    /// After how many turns it is due, where that is named.
    #[must_use]
    pub fn compact_every_turns(&self) -> Option<u64> {
        (self.every_turns > 0).then_some(self.every_turns)
    }

    /// How much of a tool result is shown, where that is named.
    #[must_use]
    pub fn most_of_result(&self) -> Option<u64> {
        (self.result_tokens > 0).then_some(self.result_tokens)
    }

    /// This policy for the messages before `end` alone: a task that ended behind them did not end.
    #[must_use]
    pub(super) fn before(self, end: u64) -> Self {
        Self { task_ended: if self.task_ended > end { 0 } else { self.task_ended }, ..self }
    }

    /// The policy of a session.
    pub(super) fn read<P: Pages>(pages: &P, place: SessionKey) -> Result<Self> {
        let key = place.policy();
        let Some(value) = pages.get(key.as_slice())? else { return Ok(Self::default()) };
        let mut r = Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?;
        let at = Share::new(u32::try_from(r.uint()?).unwrap_or(0));
        Ok(Self { at, every_turns: r.uint()?, result_tokens: r.uint()?, task_ended: r.uint()? })
    }

    /// Writes it; what says nothing takes no place.
    pub(super) fn write(self, pages: &mut impl PagesMut, place: SessionKey) -> Result<()> {
        let key = place.policy();
        if self == Self::default() {
            return pages.delete(key.as_slice()).map(drop);
        }
        let mut w = Writer::array(4);
        w.uint(self.at.millionths().into());
        for number in [self.every_turns, self.result_tokens, self.task_ended] {
            w.uint(number);
        }
        pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, w.bytes()))
    }
}
