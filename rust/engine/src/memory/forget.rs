//! `forget`: removes the words of a memory from every index and every revision, and leaves a tombstone without text.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow::Continue;
use std::ops::Range;
use std::sync::Arc;

use super::ages::Ages;
use super::kind::Kind;
use super::merge::CONSOLIDATION;
use super::record::{self, Ending, Memory, State};
use super::succession::{expire, expiry};
use super::writer::PartitionWriter;
use crate::limits::MAX_DAYS;
use crate::scope::Scope;
use crate::store::identity::Seed;
use crate::store::keys::Partition;
use crate::store::pages::{Pages, PagesMut};
use crate::units::calendar::DAY;
use crate::units::clock::AHEAD;
use crate::{Error, Result};

/// Forgets one memory, current or not; `false` where it was forgotten before.
pub(super) fn forget<P: PagesMut>(pages: &mut P, scope: &Scope, id: &str, reason: Option<&str>, clock: i64) -> Result<bool> {
    let Some(partition) = scope.find(pages)? else { return Err(super::read::no_such_memory(id)) };
    let mut writer = PartitionWriter::at(pages, partition, scope.seed(pages.secret()), clock, None)?;
    let memory = super::read::find(writer.pages, partition, writer.seed, id)?.ok_or_else(|| super::read::no_such_memory(id))?;
    if matches!(memory.state(), State::Forgotten | State::Expired) {
        return Ok(false);
    }
    let expired = memory.ending.is_none() && memory.is_expired(writer.clock);
    if expired {
        expire(&mut writer, memory)?;
    } else {
        forget_one(&mut writer, memory, reason)?;
    }
    writer.finish()?;
    Ok(!expired)
}

/// Which revisions [`forget_many`] takes.
#[derive(Debug, Clone)]
pub(super) enum Which {
    /// Those that are current; one whose time is over expires, and is none of those forgotten.
    Current,
    /// All that still have words, current or not.
    WithWords,
    /// Those that are older than this by [`is_old`], current or not.
    Old(i64, Arc<Ages>),
}

/// Whether a memory is older than `before`: a current one by its newest revision, a superseded one by when it was superseded, and one
/// that waits for approval by when it came. A memory that its time to live ended is old in any case.
pub(super) fn is_old(memory: &Memory, before: i64, ages: &Ages, now: i64) -> bool {
    let old = |own| ages.of(own).is_some_and(|at| at < before);
    match &memory.ending {
        None => old(memory.known_from),
        Some(ending) => {
            matches!(ending.state, State::Superseded | State::Quarantined) && (old(ending.known_until) || memory.is_expired(now))
        }
    }
}

/// Notes in revisions from the future when they were met: nothing was written since that would tell how old they are.
pub(super) fn meet_ahead<P: PagesMut>(pages: &mut P, partition: Partition, numbers: &[u32], now: i64) -> Result<()> {
    for number in numbers {
        let found = super::writer::newest(&*pages, partition, *number)?;
        if let Some(memory) = found.filter(|memory| memory.known_from > now.saturating_add(AHEAD)) {
            record::put(pages, partition, &Memory { clock: Some(now), ..memory })?;
        }
    }
    Ok(())
}

/// Forgets those of `numbers` that are still there; what they were.
pub(super) fn forget_many<P: PagesMut>(
    pages: &mut P,
    partition: Partition,
    seed: Seed,
    (numbers, which): (&[u32], Which),
    reason: &str,
    clock: i64,
) -> Result<Vec<Memory>> {
    let mut writer = PartitionWriter::at(pages, partition, seed, clock, None)?;
    let mut forgotten = Vec::new();
    for number in numbers {
        let found = match &which {
            Which::Current => record::current(writer.pages, partition, *number)?,
            Which::WithWords => super::writer::newest(writer.pages, partition, *number)?
                .filter(|memory| !matches!(memory.state(), State::Forgotten | State::Expired)),
            Which::Old(before, ages) => {
                super::writer::newest(writer.pages, partition, *number)?.filter(|memory| is_old(memory, *before, ages, clock))
            }
        };
        let ends = !matches!(which, Which::WithWords);
        match found {
            Some(memory) if ends && memory.ending.is_none() && memory.is_expired(writer.clock) => expire(&mut writer, memory)?,
            Some(memory) => {
                forgotten.push(memory.clone());
                forget_one(&mut writer, memory, Some(reason))?;
            }
            None => {}
        }
    }
    writer.finish()?;
    Ok(forgotten)
}

/// Forgets those of `numbers` whose time to live is over, current or superseded.
pub(crate) fn expire_many<P: PagesMut>(pages: &mut P, partition: Partition, seed: Seed, numbers: &[u32], clock: i64) -> Result<u64> {
    let mut writer = PartitionWriter::at(pages, partition, seed, clock, None)?;
    let mut expired = 0;
    for number in numbers {
        let Some(memory) = super::writer::newest(writer.pages, partition, *number)?.filter(|memory| memory.is_expired(clock)) else {
            continue;
        };
        if matches!(memory.state(), State::Forgotten | State::Expired) {
            continue; // it went with one that said the same
        }
        expire_any(&mut writer, memory)?;
        expired += 1;
    }
    writer.finish()?;
    Ok(expired)
}

/// Forgets a memory whose time to live is over, whether it is current, was superseded or waits for approval.
pub(super) fn expire_any<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, memory: Memory) -> Result<()> {
    if memory.ending.is_none() {
        return expire(writer, memory);
    }
    let ending = expiry(&memory, writer.now);
    forget_ended(writer, memory, ending)
}

/// The memories of a partition that were superseded, or wait for approval, and whose time to live is over: no table names them, as one does
/// those that are current.
pub(crate) fn ended_due<P: Pages + ?Sized>(pages: &P, partition: Partition, now: i64) -> Result<Vec<u32>> {
    let mut numbers = Vec::new();
    record::each_ended(pages, partition, &mut |memory| {
        if matches!(memory.state(), State::Superseded | State::Quarantined) && memory.is_expired(now) {
            numbers.push(memory.number);
        }
        Continue(())
    })?;
    Ok(numbers)
}

fn forget_one<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, memory: Memory, reason: Option<&str>) -> Result<()> {
    let ending = Ending {
        state: State::Forgotten,
        known_until: writer.now,
        valid_until: memory.occurred_at,
        superseded_by: memory.ending.as_ref().and_then(|ending| ending.superseded_by),
        reason: reason.map(str::to_owned),
    };
    if memory.ending.is_none() {
        writer.leave_slot(&memory)?;
        return writer.end(memory, ending);
    }
    forget_ended(writer, memory, ending)
}

/// Forgets what was superseded before, or never approved: it is in no index, only its words are left.
fn forget_ended<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, mut memory: Memory, ending: Ending) -> Result<()> {
    super::quarantine::leave(writer, memory.number)?;
    writer.end_same_before(&memory, &ending)?;
    writer.erase(&mut memory)?;
    writer.forget_vector(memory.number);
    memory.ending = Some(ending);
    record::put(writer.pages, writer.partition, &memory)
}

/// The origin whose memories `forget_from` takes: what comes from there, by all that is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// Who said it.
    pub source: Option<String>,
    /// The session in which it was said.
    pub session: Option<String>,
    /// Written at or after this, microseconds since 1970.
    pub since: Option<i64>,
    /// Also what was made of it.
    pub derived: bool,
}

impl Origin {
    fn has(&self, memory: &Memory, ages: &Ages, now: i64) -> bool {
        // A time after now is one of the scope's own, as a memory shows it.
        let told = ages.of(memory.created_at).filter(|_| self.since.is_some_and(|since| since <= now));
        let created_at = told.unwrap_or(memory.created_at);
        self.source.as_ref().is_none_or(|source| *source == memory.source)
            && self.session.as_ref().is_none_or(|session| Some(session) == memory.provenance.session.as_ref())
            && self.since.is_none_or(|since| created_at >= since)
    }
}

/// The numbers of all memories that come from there, current or not, and of what was made of them; in order.
pub(super) fn from_origin<P: Pages>(pages: &P, partition: Partition, origin: &Origin, now: i64) -> Result<Vec<u32>> {
    let ages = Ages::read(pages, partition, now)?;
    let (mut numbers, mut parents) = (BTreeSet::new(), Vec::new());
    let mut visit = |memory: Memory| {
        if !matches!(memory.state(), State::Forgotten | State::Expired) {
            if origin.has(&memory, &ages, now) {
                numbers.insert(memory.number);
            }
            if !memory.provenance.derived_from.is_empty() {
                parents.push((memory.number, memory.provenance.derived_from));
            }
        }
        Continue(())
    };
    record::each_current(pages, partition, 0, &mut visit)?;
    record::each_ended(pages, partition, &mut visit)?;
    // Memories may be derived from derived ones: as often as there are generations.
    let mut grew = origin.derived;
    while grew {
        let before = numbers.len();
        for (number, from) in &parents {
            if from.iter().any(|parent| numbers.contains(parent)) {
                numbers.insert(*number);
            }
        }
        grew = numbers.len() > before;
    }
    Ok(numbers.into_iter().collect())
}

/// Messages of a session that are taken back.
pub(crate) struct TakenBack<'a, P> {
    /// Its id.
    pub session: &'a str,
    /// When it was made.
    pub begun: i64,
    /// The messages.
    pub messages: Range<u64>,
    /// When a message was added that it has from another session, which may have taught before this one was made.
    pub copied: &'a dyn Fn(&P, u64) -> Result<Option<i64>>,
    /// Another session that has a message too, and keeps it.
    pub kept_in: &'a dyn Fn(&P, u64) -> Result<Option<String>>,
}

impl<P: Pages> TakenBack<'_, P> {
    /// Whether a memory that this session taught at that time may be of that message, and not of a deleted session of its id.
    fn taught(&self, pages: &P, message: u64, at: i64, clock: i64) -> Result<bool> {
        // Of a session from the future nobody knows when it was made.
        let since = at >= self.begun || self.begun > clock.saturating_add(AHEAD);
        Ok(since || (self.copied)(pages, message)?.is_some_and(|added| at >= added))
    }
}

/// A memory as far as it says where it comes from.
struct Traced {
    /// The message that is asked for in which it was said, and when it was stored.
    said: Option<(u64, i64)>,
    /// A model's sentence made of others.
    made: bool,
    reinforced: usize,
    derived_from: Vec<u32>,
}

impl Traced {
    /// Whether it goes with `gone`: it was said in those messages, and by nobody again who is not of them; or it was made of one of them.
    fn goes_with(&self, gone: &BTreeSet<u32>) -> bool {
        let parents = self.derived_from.iter().filter(|parent| gone.contains(parent)).count();
        if self.made { parents > 0 } else { self.said.is_some() && self.reinforced <= parents }
    }
}

/// Forgets what was learnt from messages that are taken back, and from nothing else. A memory that was said again elsewhere stays: who said
/// it last is not known. So does what a program remembered itself, too, what a deleted session of that id taught, and what another session
/// still says, whose it is from now on. Costs a look at every memory of the scope, where anything may have been learnt from them.
pub(crate) fn forget_said<P: PagesMut>(
    pages: &mut P,
    partition: Partition,
    seed: Seed,
    taken: &TakenBack<'_, P>,
    reason: &str,
    clock: i64,
) -> Result<()> {
    let first = taken.messages.start;
    if super::heard::mark(&*pages, partition, seed, taken.session)?.next <= first && (taken.copied)(&*pages, first)?.is_none() {
        return Ok(());
    }
    let traced = traced(pages, partition, seed, taken, clock)?;
    let mut gone = BTreeSet::new();
    loop {
        let goes = |(number, traced): (&u32, &Traced)| traced.goes_with(&gone).then_some(*number);
        let more: Vec<u32> = traced.iter().filter_map(goes).filter(|number| !gone.contains(number)).collect();
        if more.is_empty() {
            break;
        }
        gone.extend(more);
    }
    if gone.is_empty() {
        return Ok(());
    }
    let numbers: Vec<u32> = gone.into_iter().collect();
    forget_many(pages, partition, seed, (&numbers, Which::WithWords), reason, clock).map(drop)
}

/// Gives what was learnt from the messages of a session that is deleted to another one that has them. Nothing is forgotten.
pub(crate) fn leave_said<P: PagesMut>(pages: &mut P, partition: Partition, seed: Seed, taken: &TakenBack<'_, P>, clock: i64) -> Result<()> {
    traced(pages, partition, seed, taken, clock).map(drop)
}

/// The memories that were said in messages that are taken back, and those that a model made of any. A message that another session
/// has too is said there from now on.
fn traced<P: PagesMut>(
    pages: &mut P,
    partition: Partition,
    seed: Seed,
    taken: &TakenBack<'_, P>,
    clock: i64,
) -> Result<BTreeMap<u32, Traced>> {
    let said = |memory: &Memory| {
        let from = &memory.provenance;
        // Where nobody wrote it on the program's behalf, the program told it too.
        let own = from.session.as_deref() == Some(taken.session) && from.writer.is_some();
        from.message.filter(|message| own && taken.messages.contains(message)).map(|message| (message, memory.created_at))
    };
    let (mut current, mut ended) = (BTreeMap::new(), BTreeMap::new());
    let trace = |known: &mut BTreeMap<u32, Traced>, memory: Memory| {
        let (made, said) = (memory.provenance.writer.as_deref() == Some(CONSOLIDATION), said(&memory));
        if said.is_some() || made {
            let reinforced = memory.provenance.reinforced as usize;
            known.insert(memory.number, Traced { said, made, reinforced, derived_from: memory.provenance.derived_from });
        }
        Continue(())
    };
    record::each_current(&*pages, partition, 0, &mut |memory| trace(&mut current, memory))?;
    record::each_ended(&*pages, partition, &mut |memory| trace(&mut ended, memory))?;
    ended.append(&mut current); // the newest revision of each
    for (number, traced) in &mut ended {
        let Some((message, at)) = traced.said else { continue };
        if !taken.taught(&*pages, message, at, clock)? {
            traced.said = None;
        } else if let Some(other) = (taken.kept_in)(&*pages, message)? {
            traced.said = None;
            hand_over(pages, partition, *number, taken.session, &other)?;
            super::heard::reach(pages, partition, seed, &other, message)?;
        }
    }
    Ok(ended)
}

/// Says of each revision of a memory that another session taught it, which has the same message.
fn hand_over(pages: &mut impl PagesMut, partition: Partition, number: u32, session: &str, other: &str) -> Result<()> {
    let mut revisions = record::history(&*pages, partition, number)?;
    revisions.extend(record::current(&*pages, partition, number)?);
    for mut memory in revisions {
        if memory.provenance.session.as_deref() == Some(session) {
            memory.provenance.session = Some(other.to_owned());
            record::put(pages, partition, &memory)?;
        }
    }
    Ok(())
}

/// The conditions that `forget_stale` takes.
#[derive(Debug, Clone, Copy)]
pub struct Stale {
    /// Not written and not recalled since, microseconds since 1970 (UTC).
    pub unused_since: i64,
    /// Not more important than this.
    pub max_importance: f64,
}

impl Stale {
    /// The conditions for memories that were not used for so many days before `now`, and are no more important than that.
    pub fn new(unused_days: f64, max_importance: f64, now: i64) -> Result<Self> {
        if !(0.0..=MAX_DAYS).contains(&unused_days) {
            return Err(Error::invalid(format!(
                "forgetting what is stale: unused_days must be from 0 to {MAX_DAYS} (100 years), and it is {unused_days}: change it"
            )));
        }
        if !(0.0..=1.0).contains(&max_importance) {
            return Err(Error::invalid(format!(
                "forgetting what is stale: max_importance is a number from 0 to 1, and it is {max_importance}: scale it"
            )));
        }
        Ok(Self { unused_since: now - (unused_days * DAY as f64) as i64, max_importance })
    }

    /// Whether a memory that was written and last recalled at these times is stale. One that was said again later is not. Constraints and
    /// profiles never are.
    #[must_use]
    pub fn takes(&self, memory: &Memory, written_at: i64, recalled_at: i64) -> bool {
        !matches!(memory.kind, Kind::Constraint | Kind::Profile)
            && memory.importance <= self.max_importance
            && written_at.max(recalled_at).max(memory.provenance.last_seen) < self.unused_since
    }
}
