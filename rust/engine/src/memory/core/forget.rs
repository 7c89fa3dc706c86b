//! Forgetting: one memory, what comes from somewhere, what is stale, and what a kind has too much of.

use std::sync::Arc;

use super::Core;
use crate::Result;
use crate::memory::access::{self, Accesses};
use crate::memory::ages::{Ages, may_be_right};
use crate::memory::forget::{self, Origin, Stale, Which};
use crate::memory::kind::{Kind, KindRule};
use crate::memory::maintain;
use crate::memory::record::{self, Memory, State};
use crate::memory::writer::newest;
use crate::scope::Scope;
use crate::store::environment::WriteTransaction;
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::store::reserve;

impl Core {
    /// Forgets a memory; `false` where it was forgotten before.
    pub fn forget(&self, scope: &Scope, id: &str, reason: Option<&str>, now: i64) -> Result<bool> {
        let (scope, id, reason) = (scope.clone(), id.to_owned(), reason.map(str::to_owned));
        reserve::freeing(|| self.write(move |txn| forget::forget(txn, &scope, &id, reason.as_deref(), now)))
    }

    /// Forgets all that comes from there; what was (or, in a dry run, would be) forgotten. One transaction a step of [`maintain::STEP`].
    pub fn forget_from(&self, scope: &Scope, origin: &Origin, now: i64, dry_run: bool) -> Result<Vec<Memory>> {
        let found = self.store.read(|snapshot| {
            let Some(partition) = scope.find(snapshot)? else { return Ok(None) };
            let numbers = forget::from_origin(snapshot, partition, origin, now)?;
            let memories = numbers.iter().map(|number| newest(snapshot, partition, *number)).collect::<Result<Vec<_>>>()?;
            Ok(Some((partition, numbers, memories.into_iter().flatten().collect::<Vec<_>>())))
        })?;
        let Some((partition, numbers, memories)) = found else { return Ok(Vec::new()) };
        if dry_run {
            return Ok(memories);
        }
        self.forget_numbers(scope, partition, (numbers, Which::WithWords), "its origin is not trusted any more", now)
    }

    /// Forgets memories by their numbers, one transaction for each step of [`maintain::STEP`]; what they were.
    fn forget_numbers(
        &self,
        scope: &Scope,
        partition: Partition,
        (numbers, which): (Vec<u32>, Which),
        reason: &'static str,
        now: i64,
    ) -> Result<Vec<Memory>> {
        let seed = scope.seed(self.store.secret());
        let forgotten = reserve::freeing(|| {
            maintain::in_steps(&numbers, |step| {
                let which = which.clone();
                let forget =
                    move |txn: &mut WriteTransaction<'_>| forget::forget_many(txn, partition, seed, (&step, which.clone()), reason, now);
                self.write_to(partition, forget)
            })
        });
        Ok(forgotten?.into_iter().flatten().collect())
    }

    /// Forgets what is neither used nor important; what was (or, in a dry run, would be) forgotten.
    pub fn forget_stale(&self, scope: &Scope, stale: Stale, now: i64, dry_run: bool) -> Result<Vec<Memory>> {
        // Recalls that are not on disk yet count in both cases, so that a dry run names what the call removes.
        let buffered = if dry_run || self.read_only { self.store.unforked(|| self.accesses.buffered()) } else { Accesses::default() };
        self.flush_accesses_if_writable(dry_run)?;
        let (partition, found) = self.store.read(|snapshot| {
            let Some(partition) = scope.find(snapshot)? else { return Ok((None, Vec::new())) };
            let ages = Ages::read(snapshot, partition, now)?;
            let written_at = |memory: &Memory| ages.of(memory.known_from).unwrap_or(memory.known_from);
            let mut candidates = Vec::new();
            record::each_current(snapshot, partition, 0, &mut |memory| {
                if stale.takes(&memory, written_at(&memory), 0) && !memory.is_expired(now) {
                    candidates.push(memory);
                }
                std::ops::ControlFlow::Continue(())
            })?;
            let mut found = Vec::new();
            for memory in candidates {
                let waiting = buffered.get(&(partition, memory.number)).map_or(0, |access| access.last_seconds);
                let recalled_at = i64::from(access::get(snapshot, partition, memory.number)?.last_seconds.max(waiting)) * 1_000_000;
                if stale.takes(&memory, written_at(&memory), recalled_at) {
                    found.push(memory);
                }
            }
            Ok((Some(partition), found))
        })?;
        let Some(partition) = partition.filter(|_| !dry_run) else { return Ok(found) };
        let numbers = found.iter().map(|memory| memory.number).collect();
        self.forget_numbers(scope, partition, (numbers, Which::Current), "stale", now)
    }

    /// Forgets the memories of some kinds (bits) that are older than `before`, current or not, with their histories; how many.
    pub fn forget_old(&self, scope: &Scope, kinds: u8, before: i64, now: i64) -> Result<u64> {
        let found = self.store.read(|snapshot| {
            let Some(partition) = scope.find(snapshot)? else { return Ok(None) };
            let ages = Ages::read(snapshot, partition, now)?;
            let (mut numbers, mut ahead) = (Vec::new(), Vec::new());
            let mut visit = |memory: Memory| {
                let gone = matches!(memory.state(), State::Forgotten | State::Expired);
                let wanted = memory.kind.bit() & kinds != 0 && !gone;
                if wanted && forget::is_old(&memory, before, &ages, now) {
                    numbers.push(memory.number);
                } else if wanted && ages.of(memory.known_from).is_none() {
                    ahead.push(memory.number);
                }
                std::ops::ControlFlow::Continue(())
            };
            record::each_current(snapshot, partition, 0, &mut visit)?;
            record::each_ended(snapshot, partition, &mut visit)?;
            ahead.truncate(if may_be_right(snapshot, now)? { usize::MAX } else { 0 });
            Ok(Some((partition, numbers, ahead, ages)))
        })?;
        let Some((partition, numbers, ahead, ages)) = found else { return Ok(0) };
        maintain::in_steps(&ahead, |step| self.write_to(partition, move |txn| forget::meet_ahead(txn, partition, &step, now)))?;
        let which = Which::Old(before, Arc::new(ages));
        Ok(self.forget_numbers(scope, partition, (numbers, which), "its retention is over", now)?.len() as u64)
    }

    /// Forgets, of each kind that has more memories in a scope than its rule allows, the least valuable; how many.
    pub fn forget_over_cap(&self, scope: &Scope, now: i64) -> Result<u64> {
        let mut forgotten = 0;
        for kind in Kind::ALL {
            let rule = self.rules[kind as usize];
            let Some(cap) = rule.cap else { continue };
            let Some((partition, numbers)) = self.store.read(|snapshot| over_cap(snapshot, scope, kind, rule, cap, now))? else { continue };
            forgotten += self.forget_numbers(scope, partition, (numbers, Which::Current), "over the cap of its kind", now)?.len() as u64;
        }
        Ok(forgotten)
    }

    fn flush_accesses_if_writable(&self, dry_run: bool) -> Result<()> {
        if dry_run || self.read_only { Ok(()) } else { reserve::freeing(|| self.flush_accesses()).map(drop) }
    }
}

/// The memories of a kind that a scope has above a cap, the least valuable first.
fn over_cap<P: Pages>(
    snapshot: &P,
    scope: &Scope,
    kind: Kind,
    rule: KindRule,
    cap: usize,
    now: i64,
) -> Result<Option<(Partition, Vec<u32>)>> {
    let Some(partition) = scope.find(snapshot)? else { return Ok(None) };
    let (mut values, mut blocks) = (Vec::new(), access::AccessBlocks::new(snapshot, partition));
    let mut memories = Vec::new();
    record::each_current(snapshot, partition, 0, &mut |memory| {
        if memory.kind == kind && !memory.is_expired(now) {
            let uses = memory.provenance.reinforced;
            let age = now - memory.occurred_at.max(memory.provenance.last_seen);
            memories.push((memory.number, memory.importance, memory.confidence, uses, age));
        }
        std::ops::ControlFlow::Continue(())
    })?;
    for (number, importance, confidence, uses, age) in memories {
        let recalls = blocks.get(number)?.recalls;
        let value = rule.value(importance, confidence, uses.saturating_add(recalls), age);
        values.push(((value * f64::from(1u32 << 31)) as u64, number)); // fixed point before values are compared
    }
    values.sort_unstable();
    values.truncate(values.len().saturating_sub(cap));
    Ok(Some((partition, values.into_iter().map(|(_, number)| number).collect())))
}
