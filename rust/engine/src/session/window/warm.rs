//! The cache of a process for its sessions: messages ready for prompts, the fixed sections of the epoch.
//!
//! A message never changes but by an edit (rewind, redact, a switch of models), and every edit counts up in the session's record:
//! a cached value is valid as long as that number stays the same. So a prompt of a session that goes on reads only what is new, and a write
//! looks only at the turns that were not over at the one before. The cache is bounded by its sessions, its messages and their bytes: the
//! sessions used longest ago go first. The one used last stays, however large it is.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use super::pinned::Pinned;
use crate::Result;
use crate::context::{Fixed, Stored};
use crate::session::key::SessionKey;
use crate::session::transcript::message::Brief;
use crate::session::transcript::view::{KeptBlock, TurnRecord};

/// Sessions that are kept.
const SESSIONS: usize = 256;
/// Messages that are kept, of all sessions together.
const MESSAGES: usize = 100_000;
/// Bytes of messages that are kept, of all sessions together: those of as many messages of text as may be kept, and of few photographs.
const BYTES: usize = 64 << 20;

/// Values under consecutive numbers.
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

/// The cached parts of one session.
#[derive(Debug, Clone, Default)]
pub(in crate::session) struct Warm {
    of: Option<(SessionKey, u64)>,
    pub messages: Span<Arc<Stored>>,
    /// Bytes of the messages.
    bytes: usize,
    pub turns: Span<TurnRecord>,
    pub blocks: Span<Arc<KeptBlock>>,
    /// Where messages stand that the last prompt asked for, be they in the window or before it.
    pub briefs: BTreeMap<u64, Brief>,
    pub fixed: Option<WarmFixed>,
    /// The first turn of the last prompt's window.
    pub first_turn: Option<u64>,
}

/// The turns of a session as the writers of a process know them. A turn that is not the newest keeps its block, or none, until an edit.
#[derive(Debug, Clone, Default)]
pub(in crate::session) struct PastTurns {
    of: Option<(SessionKey, u64)>,
    /// The first turn of the window.
    first: u64,
    /// Which of the turns from the first up to this one keep a block is known.
    until: u64,
    /// These turns, with the calls of their blocks.
    kept: Vec<(u64, u16)>,
}

impl PastTurns {
    /// It, if it is of this session, edited so often; else nothing.
    pub fn of(self, place: SessionKey, edits: u64) -> Self {
        let of = Some((place, edits));
        if self.of == of { self } else { Self { of, ..Self::default() } }
    }

    /// The first turn of the window when it was last looked at.
    pub fn first(&self, place: SessionKey, edits: u64) -> Option<u64> {
        (self.of == Some((place, edits))).then_some(self.first)
    }

    /// The window begins at a turn.
    pub fn begin(&mut self, first: u64) {
        if first < self.first {
            (self.until, self.kept) = (first, Vec::new());
        }
        self.kept.retain(|(turn, _)| *turn >= first);
        (self.first, self.until) = (first, self.until.max(first));
    }

    /// The turns of the window, up to turn `end`, that keep a block, with its call. Those before turn `settled` will not change.
    pub fn kept(&mut self, end: u64, settled: u64, read: impl Fn(u64, u64) -> Result<Vec<(u64, u16)>>) -> Result<Vec<(u64, u16)>> {
        let new = read(self.until, end)?;
        let all = [&*self.kept, &*new].concat();
        self.kept.extend(new.into_iter().filter(|(turn, _)| *turn < settled));
        self.until = self.until.max(settled);
        Ok(all)
    }
}

/// The parts of a session that were read besides the warm ones.
#[derive(Default)]
pub(in crate::session) struct ReadNow {
    pub messages: HashMap<u64, Arc<Stored>>,
    pub turns: HashMap<u64, TurnRecord>,
    pub blocks: HashMap<u64, Arc<KeptBlock>>,
    /// All that were asked for, and whether any was not warm.
    pub briefs: BTreeMap<u64, Brief>,
    pub has_new_briefs: bool,
}

/// The fixed sections of an epoch, and the memories pinned when they were made.
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

    /// The same with what was read since, from message `first` on, the first turn of the window, and the fixed sections.
    pub fn with(
        self: &Arc<Self>,
        (first, first_turn): (u64, u64),
        of: (SessionKey, u64),
        read: &mut ReadNow,
        fixed: WarmFixed,
    ) -> Arc<Self> {
        let is_new = !(read.messages.is_empty() && read.turns.is_empty() && read.blocks.is_empty()) || read.has_new_briefs;
        if !is_new && self.of == Some(of) && self.messages.first == first && self.fixed.as_ref().is_some_and(|known| known.is(&fixed)) {
            return Arc::clone(self);
        }
        let read_turns = read.turns.iter().map(|(number, turn)| (*number, turn));
        let oldest = self.turns.iter().chain(read_turns).filter(|(_, turn)| turn.start >= first).map(|(number, _)| number).min();
        let (messages, briefs) = (self.messages.with(first, &read.messages), std::mem::take(&mut read.briefs));
        let bytes = messages.iter().map(|(_, stored)| stored.message.bytes()).sum();
        let mut warm = Self { of: Some(of), messages, bytes, briefs, fixed: Some(fixed), first_turn: Some(first_turn), ..Self::default() };
        if let Some(oldest) = oldest {
            warm.turns = self.turns.with(oldest, &read.turns);
            warm.blocks = self.blocks.with(oldest, &read.blocks);
            warm.blocks.known.truncate(warm.turns.known.len());
        }
        Arc::new(warm)
    }
}

/// The cache of all sessions.
#[derive(Debug, Default)]
pub struct WarmSessions(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    sessions: HashMap<u128, (u64, Arc<Warm>)>,
    past: HashMap<u128, (u64, Arc<PastTurns>)>,
    uses: u64,
    messages: usize,
    bytes: usize,
}

impl Kept {
    /// A session's parts are kept no more.
    fn left(&mut self, gone: &Warm) {
        self.messages -= gone.messages.known.len();
        self.bytes -= gone.bytes;
    }
}

impl WarmSessions {
    /// The value kept under a key; empty where there is none.
    pub(in crate::session) fn get(&self, key: u128) -> Arc<Warm> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses += 1;
        let now = kept.uses;
        let Some((used, warm)) = kept.sessions.get_mut(&key) else { return Arc::default() };
        *used = now;
        Arc::clone(warm)
    }

    /// The turns of a session that writers know; empty where there are none.
    pub(in crate::session) fn past(&self, key: u128) -> Arc<PastTurns> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.past.get(&key).map_or_else(Arc::default, |(_, past)| Arc::clone(past))
    }

    /// Keeps what a writer knows, now that what it wrote is there.
    pub(in crate::session) fn put_past(&self, key: u128, past: PastTurns) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses += 1;
        let now = kept.uses;
        kept.past.insert(key, (now, Arc::new(past)));
        if kept.past.len() > SESSIONS {
            let oldest = kept.past.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| *key);
            oldest.and_then(|key| kept.past.remove(&key));
        }
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
        kept.bytes += warm.bytes;
        if let Some((_, old)) = kept.sessions.insert(key, (now, warm)) {
            kept.left(&old);
        }
        while kept.sessions.len() > SESSIONS || (kept.messages > MESSAGES || kept.bytes > BYTES) && kept.sessions.len() > 1 {
            let oldest = kept.sessions.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| *key);
            let Some((_, gone)) = oldest.and_then(|key| kept.sessions.remove(&key)) else { return };
            kept.left(&gone);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::image::Cost;
    use crate::context::message::{Document, Message, Part, Role, Source, ToolResult};

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
    fn the_sessions_used_longest_ago_go_where_the_bytes_of_all_are_too_many() {
        let data: Arc<str> = "A".repeat(BYTES / 4).into();
        let photograph = || {
            let source = Source::Base64 { media_type: "image/png".into(), data: Arc::clone(&data) };
            let file = Part::Document(Document { source, title: None, context: None, citations: None });
            let result = Part::ToolResult(ToolResult { call_id: "c".into(), parts: vec![file], is_error: false, images: false, key: None });
            let message = Message { role: Role::Tool, name: None, parts: vec![result] };
            let digest = Message::text(Role::Tool, "").digest();
            Arc::new(Stored { message, cost: Cost { tokens: 1, exact: true }, digest })
        };
        let fixed = WarmFixed { epoch: 0, fixed: Arc::default(), pinned: Arc::default() };
        let session = |photographs: u64| {
            let mut read = ReadNow { messages: (0..photographs).map(|number| (number, photograph())).collect(), ..ReadNow::default() };
            Arc::new(Warm::default()).with((0, 0), (SessionKey { partition: 1, session: 2 }, 0), &mut read, fixed.clone())
        };
        let kept = WarmSessions::default();
        let is_kept = |key: u128| !kept.get(key).messages.known.is_empty();
        (1..=3).for_each(|key| kept.put(key, session(1)));
        kept.put(3, session(1));
        assert!([1, 2, 3].into_iter().all(is_kept), "a session that is put again counts once");
        kept.get(1);
        kept.put(4, session(1));
        assert!(!is_kept(2) && [1, 3, 4].into_iter().all(is_kept));
        kept.put(5, session(5));
        assert!([1, 3, 4].into_iter().all(|key| !is_kept(key)) && is_kept(5), "the newest one stays, however large it is");
        kept.put(6, session(3));
        assert!(!is_kept(5) && is_kept(6));
    }

    #[test]
    fn turns_begin_in_the_window_and_blocks_stand_in_known_turns() {
        let warm = Arc::new(Warm { turns: Span::default().with(0, &turns(&[(0, 0), (1, 2), (2, 4)])), ..Warm::default() });
        let block = || Arc::new(KeptBlock::default());
        let blocks = HashMap::from([(1, block()), (2, block()), (4, block())]);
        let mut read = ReadNow { turns: turns(&[(3, 6)]), blocks, ..ReadNow::default() };
        let fixed = WarmFixed { epoch: 0, fixed: Arc::default(), pinned: Arc::default() };
        let of = (SessionKey { partition: 1, session: 2 }, 0);
        let next = warm.with((3, 2), of, &mut read, fixed.clone());
        assert_eq!(next.turns.iter().map(|(turn, _)| turn).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(next.blocks.iter().map(|(turn, _)| turn).collect::<Vec<_>>(), [2], "turn 4 is not final");
        assert!(Arc::ptr_eq(&next, &next.with((3, 2), of, &mut ReadNow::default(), fixed.clone())), "nothing is new");
        assert!(!Arc::ptr_eq(&next, &next.with((4, 2), of, &mut ReadNow::default(), fixed)));
    }

    #[test]
    fn a_turn_is_read_again_until_no_block_can_stay_in_it() {
        let stored =
            |from: u64, end: u64| Ok([(2, 7), (5, 0), (9, 1)].into_iter().filter(|(turn, _)| (from..end).contains(turn)).collect());
        let unread = |from: u64, end: u64| if from < end { panic!("{from} to {end} is known") } else { Ok(Vec::new()) };
        let place = SessionKey { partition: 1, session: 2 };
        let mut past = PastTurns::default().of(place, 3);
        past.begin(1);
        assert_eq!(past.kept(6, 5, stored).unwrap(), [(2, 7), (5, 0)]);
        assert_eq!(past.kept(5, 5, unread).unwrap(), [(2, 7)], "turn 5 was the newest");
        assert_eq!(past.kept(10, 9, stored).unwrap(), [(2, 7), (5, 0), (9, 1)]);
        past.begin(4);
        assert_eq!(past.kept(9, 9, unread).unwrap(), [(5, 0)]);
        past.begin(2);
        assert_eq!(past.kept(9, 9, stored).unwrap(), [(2, 7), (5, 0)], "the window begins before what is known");
        assert_eq!((past.first(place, 3), past.first(place, 4), past.of(place, 4).first(place, 4)), (Some(2), None, Some(0)));
    }
}
