//! Filters of a recall: by kind, trust, time and metadata.
//!
//! There are two times: an event's own (`since`, `until`, `valid_at`) and the store's (`known_at`). A filter never loses results: it is
//! applied while candidates are chosen, not afterwards. One of its times is a preference only: `preferred`.

use super::when::Range;
use crate::index::bm25::Row;
use crate::memory::{Kind, Memory, State, has_metadata};
use crate::{Error, Result};

/// Every kind of memory.
pub const ALL_KINDS: u8 = 0x7f;

/// The conditions for a memory to be found. Times are microseconds since 1970 (UTC).
#[derive(Debug, Clone)]
pub struct Filter {
    /// Bits of the kinds that may be found.
    pub kinds: u8,
    /// Keys of the metadata with the values (MessagePack) of which one must stand there, or be an item of a list that does.
    pub metadata: Vec<(String, Vec<Vec<u8>>)>,
    /// It happened at or after this.
    pub since: Option<i64>,
    /// It happened before this.
    pub until: Option<i64>,
    /// It held at this time.
    pub valid_at: Option<i64>,
    /// The store knew it at this time.
    pub known_at: Option<i64>,
    /// Events in this range come first, and others are not lost. [`super::when`] read it in the question.
    pub preferred: Option<Range>,
    /// At least so trusted.
    pub min_trust: u8,
    /// Only what has a word of the question or is near its meaning: see [`super::fusion::Parts::is_relevant`].
    pub relevant_only: bool,
    /// A question [about the user's own life](super::Question::asks_of_own) takes the next nearest as well.
    pub fills: bool,
    /// The time of the question. Memories that have expired by then are not found.
    pub now: i64,
}

/// Kinds as bits.
pub fn bits(kinds: &[Kind]) -> Result<u8> {
    match kinds.iter().fold(0, |bits, kind| bits | kind.bit()) {
        0 => Err(Error::invalid("reading kinds: at least one kind must be named, and none is: leave kinds out for all of them")),
        bits => Ok(bits),
    }
}

impl Filter {
    /// Lets everything through that is current at `now`.
    #[must_use]
    pub fn all(now: i64) -> Self {
        Self {
            kinds: ALL_KINDS,
            metadata: Vec::new(),
            since: None,
            until: None,
            valid_at: None,
            known_at: None,
            preferred: None,
            min_trust: 0,
            relevant_only: false,
            fills: false,
            now,
        }
    }

    /// Whether a current memory with these attributes may be found; its metadata is asked for separately.
    #[must_use]
    pub fn keeps_row(&self, row: &Row) -> bool {
        self.keeps(row.kind, row.trust, row.occurred_at)
            && row.expires_at > self.now
            && self.known_at.is_none_or(|at| row.known_from <= at)
            && self.valid_at.is_none_or(|at| row.occurred_at <= at)
    }

    /// Whether a current memory may be an answer, of a question that does not reach back.
    #[must_use]
    pub fn keeps_memory(&self, memory: &Memory) -> bool {
        self.keeps(memory.kind as u8, memory.trust, memory.occurred_at)
            && !memory.is_expired(self.now)
            && self.keeps_metadata(&memory.metadata)
    }

    fn keeps(&self, kind: u8, trust: u8, occurred_at: i64) -> bool {
        self.kinds >> kind & 1 == 1
            && trust >= self.min_trust
            && self.since.is_none_or(|since| occurred_at >= since)
            && self.until.is_none_or(|until| occurred_at < until)
    }

    /// Whether the caller says which time is meant, so that the question need not be read for it.
    #[must_use]
    pub fn limits_time(&self) -> bool {
        self.since.is_some() || self.until.is_some() || self.reaches_back()
    }

    /// Whether the question reaches back, so that what is not current any more may answer it.
    #[must_use]
    pub fn reaches_back(&self) -> bool {
        self.valid_at.is_some() || self.known_at.is_some()
    }

    /// Whether a revision that is not current any more may be found; its metadata is asked for separately.
    #[must_use]
    pub fn keeps_past(&self, memory: &Memory) -> bool {
        let Some(ending) = &memory.ending else { return false };
        if matches!(ending.state, State::Forgotten | State::Expired | State::Quarantined)
            || !self.keeps(memory.kind as u8, memory.trust, memory.occurred_at)
        {
            return false;
        }
        // Without `known_at` all that the store knows counts: what it wrote lately may have times after a clock that stands or went back.
        let believed_current = self.known_at.is_some_and(|at| ending.known_until > at);
        let held = match (self.valid_at, believed_current) {
            (Some(at), true) => memory.occurred_at <= at,
            (None, true) => true,
            // By then the store knew of its end: it holds for the past only, and a corrected one not even there.
            (Some(at), false) => ending.state == State::Superseded && memory.occurred_at <= at && at < ending.valid_until,
            (None, false) => false,
        };
        self.known_at.is_none_or(|at| memory.known_from <= at) && held && memory.expires_at.is_none_or(|at| at > self.now)
    }

    /// Whether metadata has one of the wanted values under each wanted key.
    #[must_use]
    pub fn keeps_metadata(&self, metadata: &[u8]) -> bool {
        has_metadata(&self.metadata, metadata)
    }
}
