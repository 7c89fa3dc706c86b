//! How old the records of a scope are, where the clock once ran ahead.
//!
//! The store's own times never go back. After one write by a clock that ran ahead, those of the next are only ahead, a microsecond each, until
//! the clock has come so far; what the clock said stands in their records. A scope whose times are all in the past costs one look at its head.

use std::ops::ControlFlow;

use super::record::{self, Memory};
use crate::Result;
use crate::scope::Head;
use crate::store::keys::Partition;
use crate::store::meta::Meta;
use crate::store::pages::Pages;
use crate::units::clock::AHEAD;

/// When the writes of a scope were whose own time is still to come.
#[derive(Debug, Clone, Default)]
pub struct Ages {
    now: i64,
    /// Times up to this one are believed.
    latest: i64,
    /// The time of a write, and what the clock said; `None` where that was not right either. In order.
    ahead: Vec<(i64, Option<i64>)>,
}

impl Ages {
    /// The ages of a partition, as the clock is at `now`.
    pub fn read<P: Pages + ?Sized>(pages: &P, partition: Partition, now: i64) -> Result<Self> {
        let mut ages = Self { now, latest: now.saturating_add(AHEAD), ahead: Vec::new() };
        if Head::read(pages, partition)?.last_time <= ages.latest {
            return Ok(ages);
        }
        let mut latest = i64::MIN;
        each(pages, partition, &mut |memory| {
            if memory.known_from <= ages.latest {
                latest = latest.max(memory.known_from);
            } else {
                ages.ahead.push((memory.known_from, memory.clock.filter(|at| *at <= ages.latest)));
            }
        })?;
        ages.ahead.sort_unstable();
        // No write is older than one before it: a clock that says so ran behind, and tells nothing.
        for (_, at) in &mut ages.ahead {
            *at = at.filter(|at| *at >= latest);
            latest = at.unwrap_or(latest);
        }
        Ok(ages)
    }

    /// When a write was, by its own time. The first write behind it that tells dates it, as the latest that it can be; `None` where none does.
    pub fn of(&self, own: i64) -> Option<i64> {
        if own <= self.latest {
            return Some(own);
        }
        let first = self.ahead.partition_point(|(at, _)| *at < own);
        self.ahead[first..].iter().find_map(|(_, at)| *at)
    }

    /// The latest time of the scope's own that `asked`, a time of the clock, stands for. From the first write on that was ahead it is taken
    /// as one of the scope's own.
    pub fn own(&self, asked: i64) -> i64 {
        if self.ahead.first().is_none_or(|(first, _)| asked >= *first) {
            return asked;
        }
        let known = self.ahead.iter().rev().find(|(own, _)| self.of(*own).unwrap_or(self.now) <= asked);
        known.map_or(asked, |(own, _)| *own)
    }
}

/// Whether a clock may be right: it is not behind the time at which the store was made.
pub(crate) fn may_be_right<P: Pages + ?Sized>(pages: &P, now: i64) -> Result<bool> {
    Ok(Meta::read(pages)?.is_none_or(|meta| meta.created_at <= now))
}

/// The latest time of the clock, up to `now`, of the writes of a partition before `own`.
pub(super) fn told_before<P: Pages + ?Sized>(pages: &P, partition: Partition, own: i64, now: i64) -> Result<Option<i64>> {
    let mut latest = None;
    each(pages, partition, &mut |memory| {
        if memory.known_from < own {
            latest = latest.max(Some(memory.written_at(now)).filter(|at| *at <= now));
        }
    })?;
    Ok(latest)
}

fn each<P: Pages + ?Sized>(pages: &P, partition: Partition, visit: &mut dyn FnMut(Memory)) -> Result<()> {
    let mut visit = |memory| {
        visit(memory);
        ControlFlow::Continue(())
    };
    record::each_current(pages, partition, 0, &mut visit)?;
    record::each_ended(pages, partition, &mut visit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ages(now: i64, ahead: &[(i64, Option<i64>)]) -> Ages {
        Ages { now, latest: now, ahead: ahead.to_vec() }
    }

    #[test]
    fn a_write_from_the_future_is_as_old_as_the_next_that_tells() {
        let known = ages(100, &[(500, None), (501, Some(40)), (502, Some(60)), (503, None)]);
        let times: Vec<_> = [30, 100, 500, 501, 502, 503].map(|own| known.of(own)).into();
        assert_eq!(times, [Some(30), Some(100), Some(40), Some(40), Some(60), None]);
    }

    #[test]
    fn a_time_of_the_clock_stands_for_all_that_was_written_by_then() {
        let known = ages(100, &[(500, None), (501, Some(40)), (502, Some(60)), (503, None)]);
        assert_eq!([30, 40, 59, 60, 99, 100, 499, 500, 502].map(|at| known.own(at)), [30, 501, 501, 502, 502, 503, 503, 500, 502]);
        assert_eq!(ages(100, &[]).own(40), 40, "all is in the past");
    }
}
