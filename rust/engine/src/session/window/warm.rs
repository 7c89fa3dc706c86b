//! What a process has read of its sessions and keeps: messages ready for prompts, the fixed sections of the epoch.
//!
//! A message never changes but by an edit (rewind, redact, a switch of models), and every edit counts up in the session's record:
//! what is kept holds for as long as the number does. So a prompt of a session that goes on reads only what is new. The cache is
//! bounded: the sessions used longest ago go first.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use super::pinned::Pinned;
use crate::context::{Fixed, Stored};
use crate::session::key::SessionKey;
use crate::session::transcript::message::Brief;
use crate::session::transcript::view::{KeptBlock, TurnRecord};

/// Sessions that are kept.
const SESSIONS: usize = 256;
/// Messages that are kept, of all sessions together.
const MESSAGES: usize = 100_000;

/// What is known under numbers that follow each other.
#[derive(Debug, Clone)]
pub(in crate::session) struct Span<T> {
    first: u64,
    known: Vec<Option<T>>,
}

impl<T> Default for Span<T> {
    fn default() -> Self {
        Self { first: 0, known: Vec::new() }
    }
}

impl<T: Clone> Span<T> {
    pub fn get(&self, number: u64) -> Option<&T> {
        self.known.get(usize::try_from(number.checked_sub(self.first)?).ok()?)?.as_ref()
    }

    /// The number behind the last.
    fn end(&self) -> u64 {
        self.first + self.known.len() as u64
    }

    fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        (self.first..).zip(&self.known).filter_map(|(number, known)| Some((number, known.as_ref()?)))
    }

    /// It and `more`, from `first` on.
    fn with(&self, first: u64, more: &HashMap<u64, T>) -> Self {
        let end = more.keys().map(|number| number + 1).max().unwrap_or(0).max(self.end());
        let mut known = Vec::with_capacity(end.saturating_sub(first) as usize);
        known.resize_with(self.first.clamp(first, end.max(first)).saturating_sub(first) as usize, || None);
        known.extend_from_slice(self.known.get(first.saturating_sub(self.first) as usize..).unwrap_or_default());
        known.resize_with(end.saturating_sub(first) as usize, || None);
        for (number, value) in more.iter().filter(|(number, _)| **number >= first) {
            known[(number - first) as usize] = Some(value.clone());
        }
        Self { first, known }
    }
}

/// What was read of one session.
#[derive(Debug, Clone, Default)]
pub(in crate::session) struct Warm {
    of: Option<(SessionKey, u64)>,
    pub messages: Span<Arc<Stored>>,
    pub turns: Span<TurnRecord>,
    pub blocks: Span<Arc<KeptBlock>>,
    /// Where messages stand that the last prompt asked for, be they in the window or before it.
    pub briefs: BTreeMap<u64, Brief>,
    pub fixed: Option<WarmFixed>,
}

/// What was read of a session beside what was warm.
#[derive(Default)]
pub(in crate::session) struct ReadNow {
    pub messages: HashMap<u64, Arc<Stored>>,
    pub turns: HashMap<u64, TurnRecord>,
    pub blocks: HashMap<u64, Arc<KeptBlock>>,
    /// All that were asked for, and whether any was not warm.
    pub briefs: BTreeMap<u64, Brief>,
    pub has_new_briefs: bool,
}

/// The fixed sections of an epoch, and what was pinned when they were made.
#[derive(Debug, Clone)]
pub(in crate::session) struct WarmFixed {
    pub epoch: u64,
    pub fixed: Arc<Fixed>,
    pub pinned: Arc<Pinned>,
}

impl WarmFixed {
    /// Whether it is that very value.
    fn is(&self, other: &Self) -> bool {
        self.epoch == other.epoch && Arc::ptr_eq(&self.fixed, &other.fixed) && Arc::ptr_eq(&self.pinned, &other.pinned)
    }
}

impl Warm {
    /// It, if it is of this session, edited so often; else nothing.
    pub fn of(self: Arc<Self>, place: SessionKey, edits: u64) -> Arc<Self> {
        if self.of == Some((place, edits)) { self } else { Arc::default() }
    }

    /// The same without the blocks that stayed in their turns.
    pub fn without_blocks(&self) -> Self {
        Self { blocks: Span::default(), ..self.clone() }
    }

    /// The same with what was read since, from message `first` on, and the fixed sections.
    pub fn with(self: &Arc<Self>, first: u64, of: (SessionKey, u64), read: &mut ReadNow, fixed: WarmFixed) -> Arc<Self> {
        let is_new = !(read.messages.is_empty() && read.turns.is_empty() && read.blocks.is_empty()) || read.has_new_briefs;
        if !is_new && self.of == Some(of) && self.messages.first == first && self.fixed.as_ref().is_some_and(|known| known.is(&fixed)) {
            return Arc::clone(self);
        }
        let read_turns = read.turns.iter().map(|(number, turn)| (*number, turn));
        let first_turn = self.turns.iter().chain(read_turns).filter(|(_, turn)| turn.start >= first).map(|(number, _)| number).min();
        let (messages, briefs) = (self.messages.with(first, &read.messages), std::mem::take(&mut read.briefs));
        let mut warm = Self { of: Some(of), messages, briefs, fixed: Some(fixed), ..Self::default() };
        if let Some(first_turn) = first_turn {
            warm.turns = self.turns.with(first_turn, &read.turns);
            warm.blocks = self.blocks.with(first_turn, &read.blocks);
            warm.blocks.known.truncate(warm.turns.known.len());
        }
        Arc::new(warm)
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
    pub(in crate::session) fn put(&self, key: u128, warm: Arc<Warm>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses += 1;
        let now = kept.uses;
        kept.messages += warm.messages.known.len();
        if let Some((_, old)) = kept.sessions.insert(key, (now, warm)) {
            kept.messages -= old.messages.known.len();
        }
        while kept.sessions.len() > SESSIONS || kept.messages > MESSAGES && kept.sessions.len() > 1 {
            let oldest = kept.sessions.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| *key);
            let Some((_, gone)) = oldest.and_then(|key| kept.sessions.remove(&key)) else { return };
            kept.messages -= gone.messages.known.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(starts: &[(u64, u64)]) -> HashMap<u64, TurnRecord> {
        starts.iter().map(|(turn, start)| (*turn, TurnRecord { start: *start, kept: None })).collect()
    }

    #[test]
    fn what_is_before_the_window_goes_and_what_is_new_comes() {
        let known = Span { first: 3, known: vec![Some('a'), None, Some('b')] };
        assert_eq!([2, 3, 4, 5, 6].map(|number| known.get(number).copied()), [None, Some('a'), None, Some('b'), None]);
        let more = known.with(4, &HashMap::from([(3, 'x'), (7, 'c')]));
        assert_eq!(more.iter().collect::<Vec<_>>(), [(5, &'b'), (7, &'c')]);
        assert!(known.with(9, &HashMap::new()).known.is_empty());
        let before = known.with(1, &HashMap::from([(4, 'd')]));
        assert_eq!(before.iter().collect::<Vec<_>>(), [(3, &'a'), (4, &'d'), (5, &'b')]);
        assert_eq!(known.with(7, &HashMap::from([(9, 'e')])).iter().collect::<Vec<_>>(), [(9, &'e')]);
    }

    #[test]
    fn turns_begin_in_the_window_and_blocks_stand_in_known_turns() {
        let warm = Arc::new(Warm { turns: Span::default().with(0, &turns(&[(0, 0), (1, 2), (2, 4)])), ..Warm::default() });
        let block = || Arc::new(KeptBlock::default());
        let blocks = HashMap::from([(1, block()), (2, block()), (4, block())]);
        let mut read = ReadNow { turns: turns(&[(3, 6)]), blocks, ..ReadNow::default() };
        let fixed = WarmFixed { epoch: 0, fixed: Arc::default(), pinned: Arc::default() };
        let of = (SessionKey { partition: 1, session: 2 }, 0);
        let next = warm.with(3, of, &mut read, fixed.clone());
        assert_eq!(next.turns.iter().map(|(turn, _)| turn).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(next.blocks.iter().map(|(turn, _)| turn).collect::<Vec<_>>(), [2], "turn 4 is not final");
        assert!(Arc::ptr_eq(&next, &next.with(3, of, &mut ReadNow::default(), fixed.clone())), "nothing is new");
        assert!(!Arc::ptr_eq(&next, &next.with(4, of, &mut ReadNow::default(), fixed)));
    }
}
