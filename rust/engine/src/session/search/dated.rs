//! The documents that were said in a time.
//!
//! They are numbered as they were added, which mostly is the order in which they were said: then halving finds them. Where messages were
//! brought along from elsewhere, one may have been said long before those that were added before it. The scope's counters know by how much
//! at most ([`SaidOrder`]), so that halving still tells which documents cannot be of the time and which must be; the rows of all between are
//! looked at.

use std::ops::{ControlFlow, Range as Numbers};

use super::super::key::{SaidOrder, SessionKey, SessionsHead};
use super::super::transcript::message::MessageRecord;
use super::row::{self, Row};
use crate::Result;
use crate::recall::ranking::BEHIND;
use crate::recall::when::Range;
use crate::store::keys::{Key, Partition, Table, u32_at};
use crate::store::pages::Pages;

/// Documents as ranges of their numbers, which ascend and do not meet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Documents(Vec<Numbers<u32>>);

impl Documents {
    /// Those from `first` to before `end`.
    pub fn between(first: u32, end: u32) -> Self {
        let mut one = Self::default();
        one.extend(first..end);
        one
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn count(&self) -> u32 {
        self.0.iter().map(|numbers| numbers.end - numbers.start).sum()
    }

    pub fn contains(&self, number: u32) -> bool {
        self.meet(&(number..number.saturating_add(1)))
    }

    /// Whether any of them is in a range.
    pub fn meet(&self, range: &Numbers<u32>) -> bool {
        let next = self.0.partition_point(|numbers| numbers.end <= range.start);
        self.0.get(next).is_some_and(|numbers| numbers.start < range.end)
    }

    /// Those from one place among them to before another.
    pub fn places(&self, places: &Numbers<u32>) -> impl Iterator<Item = Numbers<u32>> {
        let mut before = 0;
        self.0.iter().filter_map(move |numbers| {
            let (first, length) = (before, numbers.end - numbers.start);
            before += length;
            let (from, to) = (places.start.max(first), places.end.min(before));
            (from < to).then(|| numbers.start + (from - first)..numbers.start + (to - first))
        })
    }

    /// Adds a range behind all others.
    fn extend(&mut self, numbers: Numbers<u32>) {
        match self.0.last_mut() {
            Some(last) if last.end == numbers.start => last.end = numbers.end.max(last.end),
            _ if numbers.is_empty() => {}
            _ => self.0.push(numbers),
        }
    }
}

/// The documents of a time that a question asks about; none where it asks about none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Dated {
    pub within: Documents,
    /// The same, and those of the days behind it.
    pub behind: Documents,
}

impl Dated {
    /// Costs a few look-ups, and the rows of those documents of which the order does not tell when they were said.
    pub fn of<P: Pages>(pages: &P, partition: Partition, head: &SessionsHead, time: Range) -> Result<Self> {
        let (end, most_behind) = (head.last_document.saturating_add(1), head.said.map_or(0, |said| said.most_behind));
        let first = |at: i64| first_said_at(pages, partition, head.last_document, at);
        let edge = |at: Option<i64>, by: i64, open: u32| at.map_or(Ok(open), |at| first(at.saturating_add(by)));
        let longer = extended(time);
        // All before the first edge were said before the time, and all behind the last edge after it.
        let reach = edge(time.since, most_behind.saturating_neg(), 1)?..edge(longer.until, most_behind, end)?;
        if most_behind == 0 {
            let until = edge(time.until, 0, end)?;
            return Ok(Self {
                within: Documents::between(reach.start, until),
                behind: Documents::between(reach.start, reach.end.max(until)),
            });
        }
        let certain = edge(time.since, most_behind, 1)?..edge(time.until, most_behind.saturating_neg(), end)?;
        let certain = if certain.is_empty() { reach.start..reach.start } else { certain };
        let mut dated = Self::default();
        dated.read(pages, partition, reach.start..certain.start, (time, longer))?;
        dated.within.extend(certain.clone());
        dated.behind.extend(certain.clone());
        dated.read(pages, partition, certain.end..reach.end, (time, longer))?;
        Ok(dated)
    }

    /// Adds those of some documents that were said in a time, and in a longer one.
    fn read<P: Pages>(&mut self, pages: &P, partition: Partition, numbers: Numbers<u32>, (time, longer): (Range, Range)) -> Result<()> {
        each_row(pages, partition, numbers, &mut |number, row| {
            let at = said_at(pages, partition, &row)?;
            for (documents, time) in [(&mut self.within, time), (&mut self.behind, longer)] {
                if time.contains(at) {
                    documents.extend(number..number.saturating_add(1));
                }
            }
            Ok(ControlFlow::Continue(()))
        })
    }
}

/// Calls `each` with the rows of some documents, until it breaks.
pub(super) fn each_row<P: Pages>(
    pages: &P,
    partition: Partition,
    numbers: Numbers<u32>,
    each: &mut dyn FnMut(u32, Row<'_>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    if numbers.is_empty() {
        return Ok(());
    }
    let end = Key::new(partition, Table::Document).prefix_range().end;
    pages.scan(row::key(partition, numbers.start).as_slice(), &end, &mut |key, value| {
        let number = u32_at(key, 5).unwrap_or(u32::MAX);
        if number >= numbers.end { Ok(ControlFlow::Break(())) } else { each(number, Row::decode(key, value)?) }
    })
}

/// When a message was said: its row has it, or, in a store of an older version, its record.
pub(super) fn said_at<P: Pages>(pages: &P, partition: Partition, row: &Row<'_>) -> Result<i64> {
    if let Some(at) = row.at {
        return Ok(at);
    }
    let place = SessionKey { partition, session: row.session };
    Ok(MessageRecord::read(pages, place, row.index)?.map_or(0, |record| record.said_at()))
}

/// The time of the message of a scope that was said last; of a scope of an older version, of the one that was added last.
pub(super) fn newest_at<P: Pages>(pages: &P, partition: Partition, head: &SessionsHead) -> Result<Option<i64>> {
    match head.said {
        Some(said) => Ok(Some(said.newest_at).filter(|_| said != SaidOrder::NONE)),
        None => Ok(time_of(pages, partition, head.last_document)?.map(|(_, at)| at)),
    }
}

/// In which order the messages of a scope were said.
pub(super) fn said_order<P: Pages>(pages: &P, partition: Partition) -> Result<SaidOrder> {
    let mut order = SaidOrder::NONE;
    each_row(pages, partition, 0..u32::MAX, &mut |_, row| {
        order = order.and(said_at(pages, partition, &row)?);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(order)
}

/// The first document up to `last` that was said at a time or later, if documents stand in the order of time. Otherwise all before it were
/// added before one that was said earlier, and all from it on behind one that was not.
fn first_said_at<P: Pages>(pages: &P, partition: Partition, last: u32, time: i64) -> Result<u32> {
    let (mut low, mut high) = (1, last.saturating_add(1));
    while low < high {
        let middle = low + (high - low) / 2;
        match time_of(pages, partition, middle)? {
            Some((number, at)) if at < time && number < high => low = number.saturating_add(1),
            _ => high = middle,
        }
    }
    Ok(low)
}

/// The first document from a number on, and when it was said.
fn time_of<P: Pages>(pages: &P, partition: Partition, number: u32) -> Result<Option<(u32, i64)>> {
    let mut next = None;
    each_row(pages, partition, number..u32::MAX, &mut |number, row| {
        next = Some((number, said_at(pages, partition, &row)?));
        Ok(ControlFlow::Break(()))
    })?;
    Ok(next)
}

/// The time that a question asks about, and some days more.
pub(super) fn extended(asked: Range) -> Range {
    Range { since: asked.since, until: asked.until.map(|until| until.saturating_add(BEHIND)) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::context::testing::Random;

    const OWN: Partition = 7;

    /// A scope whose messages were said at these times.
    fn scope(times: &[i64]) -> (BTreeMap<Vec<u8>, Vec<u8>>, SessionsHead) {
        let (mut pages, mut head) = (BTreeMap::new(), SessionsHead::default());
        for at in times {
            let number = head.counts(*at);
            let row = Row::of(&crate::context::Message::text(crate::context::Role::User, "x"), String::new(), "x");
            row.placed(1, u64::from(number), *at).write(&mut pages, OWN, number).unwrap();
        }
        (pages, head)
    }

    fn numbers(documents: &Documents) -> Vec<u32> {
        documents.0.iter().flat_map(Clone::clone).collect()
    }

    #[test]
    fn every_document_of_a_time_is_found_in_whatever_order_they_were_added() {
        for seed in 0..60 {
            let mut random = Random::new(seed);
            let jitter = [0, 0, 3, 40, 4_000][seed as usize % 5] * BEHIND / 100;
            let times: Vec<i64> =
                (0..200).map(|at| at * BEHIND / 10 + if jitter > 0 { random.below(jitter as u64) as i64 } else { 0 }).collect();
            let (mut pages, head) = scope(&times);
            pages.remove(row::key(OWN, 50).as_slice()); // it was taken back
            assert_eq!(Some(said_order(&scope(&times).0, OWN).unwrap()), head.said);
            for _ in 0..20 {
                let mut side = || (random.below(10) > 0).then(|| random.below(210) as i64 * BEHIND / 10);
                let time = Range { since: side(), until: side() };
                let dated = Dated::of(&pages, OWN, &head, time).unwrap();
                let expected =
                    |time: Range| -> Vec<u32> { (1..=200).filter(|number| time.contains(times[*number as usize - 1])).collect() };
                let there = |documents: &Documents| -> Vec<u32> { numbers(documents).into_iter().filter(|number| *number != 50).collect() };
                let without = |mut all: Vec<u32>| {
                    all.retain(|number| *number != 50);
                    all
                };
                assert_eq!(there(&dated.within), without(expected(time)), "{seed} {time:?}");
                assert_eq!(there(&dated.behind), without(expected(extended(time))), "{seed} {time:?}");
            }
        }
    }

    #[test]
    fn ranges_are_looked_up_by_number_and_by_place() {
        let mut documents = Documents::between(3, 6);
        for numbers in [6..7, 9..9, 10..12, 20..21] {
            documents.extend(numbers);
        }
        assert_eq!(numbers(&documents), [3, 4, 5, 6, 10, 11, 20]);
        assert_eq!(documents.count(), 7);
        assert!((0..30).all(|number| documents.contains(number) == numbers(&documents).contains(&number)));
        assert!(documents.meet(&(0..4)) && !documents.meet(&(7..10)) && documents.meet(&(7..11)) && !documents.meet(&(21..30)));
        assert_eq!(documents.places(&(0..7)).collect::<Vec<_>>(), [3..7, 10..12, 20..21]);
        assert_eq!(documents.places(&(3..5)).collect::<Vec<_>>(), [6..7, 10..11]);
        assert!(documents.places(&(7..9)).next().is_none() && Documents::default().is_empty());
    }
}
