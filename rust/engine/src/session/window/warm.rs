//! What a process has read of its sessions and keeps: messages ready for prompts, the fixed sections of the epoch.
//!
//! A message never changes but by an edit (rewind, redact, a switch of models), and every edit counts up in the session's record:
//! what is kept holds for as long as the number does. So a prompt of a session that goes on reads only what is new. The cache is
//! bounded: the sessions used longest ago go first.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::pinned::Pinned;
use crate::context::{Fixed, Stored};
use crate::session::key::SessionKey;
use crate::session::transcript::view::{KeptBlock, TurnRecord};

/// Sessions that are kept.
const SESSIONS: usize = 256;
/// Messages that are kept, of all sessions together.
const MESSAGES: usize = 100_000;

/// What was read of one session.
#[derive(Debug, Default)]
pub(in crate::session) struct Warm {
    of: Option<(SessionKey, u64)>,
    /// Index of the first of `messages`.
    first: u64,
    messages: Vec<Option<Arc<Stored>>>,
    pub turns: HashMap<u64, TurnRecord>,
    pub blocks: HashMap<u64, Arc<KeptBlock>>,
    pub fixed: Option<WarmFixed>,
}

/// The fixed sections of an epoch, and what was pinned when they were made.
#[derive(Debug, Clone)]
pub(in crate::session) struct WarmFixed {
    pub epoch: u64,
    pub fixed: Arc<Fixed>,
    pub pinned: Arc<Pinned>,
}

impl Warm {
    pub fn message(&self, index: u64) -> Option<&Arc<Stored>> {
        self.messages.get(usize::try_from(index.checked_sub(self.first)?).ok()?)?.as_ref()
    }

    /// It, if it is of this session, edited so often; else nothing.
    pub fn of(self: Arc<Self>, place: SessionKey, edits: u64) -> Arc<Self> {
        if self.of == Some((place, edits)) { self } else { Arc::default() }
    }

    /// The same without the blocks that stayed in their turns.
    pub fn without_blocks(&self) -> Self {
        let (messages, turns, fixed) = (self.messages.clone(), self.turns.clone(), self.fixed.clone());
        Self { of: self.of, first: self.first, messages, turns, blocks: HashMap::new(), fixed }
    }

    /// The same with what was read since, from message `first` on.
    pub fn with(
        &self,
        first: u64,
        of: (SessionKey, u64),
        messages: &HashMap<u64, Arc<Stored>>,
        turns: &HashMap<u64, TurnRecord>,
        blocks: &HashMap<u64, Arc<KeptBlock>>,
    ) -> Self {
        let end = messages.keys().map(|index| index + 1).max().unwrap_or(0).max(self.first + self.messages.len() as u64);
        let kept = |index| messages.get(&index).or_else(|| self.message(index)).map(Arc::clone);
        let mut warm = Self { of: Some(of), first, messages: (first..end).map(kept).collect(), ..Self::default() };
        let start = |turn: &TurnRecord| turn.start >= first;
        warm.turns = self.turns.iter().chain(turns).filter(|(_, turn)| start(turn)).map(|(number, turn)| (*number, *turn)).collect();
        let shown = self.blocks.iter().chain(blocks).filter(|(turn, _)| warm.turns.contains_key(turn));
        warm.blocks = shown.map(|(turn, block)| (*turn, Arc::clone(block))).collect();
        warm
    }
}

/// What is kept of all sessions.
#[derive(Debug, Default)]
pub struct WarmSessions(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    sessions: HashMap<u128, (u64, Arc<Warm>)>,
    uses: u64,
    messages: usize,
}

impl WarmSessions {
    /// What is kept under a key; empty where that is nothing.
    pub(in crate::session) fn get(&self, key: u128) -> Arc<Warm> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses += 1;
        let now = kept.uses;
        let Some((used, warm)) = kept.sessions.get_mut(&key) else { return Arc::default() };
        *used = now;
        Arc::clone(warm)
    }

    /// Forgets everything, as a new process would know it.
    pub(in crate::session) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Kept::default();
    }

    /// Keeps it. Where two threads read at once the later one wins: both are right.
    pub(in crate::session) fn put(&self, key: u128, warm: Warm) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses += 1;
        let now = kept.uses;
        kept.messages += warm.messages.len();
        if let Some((_, old)) = kept.sessions.insert(key, (now, Arc::new(warm))) {
            kept.messages -= old.messages.len();
        }
        while kept.sessions.len() > SESSIONS || kept.messages > MESSAGES && kept.sessions.len() > 1 {
            let oldest = kept.sessions.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| *key);
            let Some((_, gone)) = oldest.and_then(|key| kept.sessions.remove(&key)) else { return };
            kept.messages -= gone.messages.len();
        }
    }
}
