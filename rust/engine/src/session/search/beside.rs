//! The rows of candidates and of the messages beside them, each found by its place in its session.
//!
//! ```text
//! near   documents are numbered as they are added, so those of a session mostly follow each other: one scan reads a candidate and those beside it
//! far    another session went on at the same time, or this one was taken up again: the record of the message beside it knows its document
//! ```
//!
//! First sight asks for no sessions, so it misses a reply without a word of the question whose question is far: [`Finder::complete`] tells
//! of it. Each far message costs two reads, so they are looked up for the most promising candidates alone.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::ControlFlow;

use super::super::key::SessionKey;
use super::super::transcript::message::MessageRecord;
use super::row::{self, Row};
use super::sight::Field;
use crate::Result;
use crate::embedding::{Nearness, Wanted};
use crate::recall::ranking::BESIDE;
use crate::store::keys::{Key, Partition, Table, u32_at};
use crate::store::pages::Pages;

/// Places on either side of a message, and its own.
const PLACES: usize = 2 * BESIDE as usize + 1;

/// The row of a candidate or of a message beside one.
pub(super) struct ReadRow<'r> {
    pub number: u32,
    pub row: Row<'r>,
    /// The parts of the question that it has; `None` for a message two places away.
    nearness: Option<Nearness>,
}

impl<'r> ReadRow<'r> {
    fn whole(number: u32, row: Row<'r>, wanted: &Wanted) -> Self {
        let nearness = Some(wanted.nearness(&row.tokens));
        Self { number, row, nearness }
    }

    fn read<P: Pages>(pages: &'r P, partition: Partition, number: u32, wanted: &Wanted) -> Result<Self> {
        #[allow(clippy::redundant_closure_for_method_calls)] // the method is not general enough
        let row = Row::expect(pages, partition, number, |row| row.owned())?;
        Ok(Self::whole(number, row, wanted))
    }
}

/// The rows that are read for some candidates.
pub(super) struct ReadRows<'r> {
    /// The first [`Self::near`] ascend by number: those of candidates and of the documents beside them. The others are of far messages.
    rows: Vec<ReadRow<'r>>,
    near: usize,
    /// The number of each far message, ascending, and where its row stands.
    far: Vec<(u32, usize)>,
    /// Session and place of each row, ascending, and where it stands; empty where no message beside a candidate is far.
    places: Vec<(u32, u64, usize)>,
}

impl<'r> ReadRows<'r> {
    /// The rows of these documents, which ascend, and of those beside them. Of those that are two places away from each only where they
    /// stand.
    pub fn read<P: Pages>(pages: &'r P, partition: Partition, numbers: &[u32], wanted: &Wanted) -> Result<Self> {
        // Room for all, because a row is large and none should move.
        let (mut rows, mut from, mut next) = (Vec::with_capacity(numbers.len() * PLACES), 0, 0);
        let end = Key::new(partition, Table::Document).prefix_range().end;
        while from < numbers.len() {
            let mut to = from + 1;
            while to < numbers.len() && numbers[to] - numbers[to - 1] <= 2 * BESIDE + 1 {
                to += 1;
            }
            let last = numbers[to - 1].saturating_add(BESIDE);
            let first = row::key(partition, numbers[from].saturating_sub(BESIDE));
            pages.scan(first.as_slice(), &end, &mut |key, value| {
                let number = u32_at(key, 5).unwrap_or(u32::MAX);
                if number > last {
                    return Ok(ControlFlow::Break(()));
                }
                next += numbers[next..].iter().take_while(|candidate| candidate.saturating_add(1) < number).count();
                rows.push(match numbers.get(next).filter(|candidate| candidate.saturating_sub(1) <= number) {
                    Some(_) => ReadRow::whole(number, Row::decode(key, value)?, wanted),
                    None => ReadRow { number, row: Row::decode_place(key, value)?, nearness: None },
                });
                Ok(ControlFlow::Continue(()))
            })?;
            from = to;
        }
        Ok(Self { near: rows.len(), rows, far: Vec::new(), places: Vec::new() })
    }

    /// Where a document's row stands.
    pub fn find(&self, number: u32) -> Option<usize> {
        let near = self.rows[..self.near].binary_search_by_key(&number, |other| other.number);
        let far = || self.far.binary_search_by_key(&number, |other| other.0).map(|at| self.far[at].1);
        near.or_else(|_| far()).ok()
    }

    pub fn at(&self, at: usize) -> &ReadRow<'r> {
        &self.rows[at]
    }

    /// A message and those beside it.
    pub fn beside(&self, at: usize) -> Beside<'_, 'r> {
        let (mut beside, own) = (Beside([None; PLACES]), &self.rows[at]);
        if at < self.near {
            for other in &self.rows[at.saturating_sub(BESIDE as usize)..self.near.min(at + BESIDE as usize + 1)] {
                if other.row.session == own.row.session {
                    beside.put(own, other);
                }
            }
        }
        let first = (own.row.session, own.row.index.saturating_sub(BESIDE.into()));
        let from = self.places.partition_point(|&(session, index, _)| (session, index) < first);
        let last = (own.row.session, own.row.index.saturating_add(BESIDE.into()));
        let near = self.places[from..].iter().take_while(|&&(session, index, _)| (session, index) <= last);
        for &(.., other) in near {
            beside.put(own, &self.rows[other]);
        }
        beside
    }

    /// Whether the document of the place `by` beside a row may be one that was not read with it: another session's is in between.
    fn may_be_far(&self, at: usize, by: i64) -> bool {
        let own = &self.rows[at];
        for step in 1..=BESIDE as isize {
            let next = at.checked_add_signed(step * by.signum() as isize).filter(|_| at < self.near);
            let is_next = |next: &&ReadRow<'_>| next.number.abs_diff(own.number) <= BESIDE && next.row.session == own.row.session;
            let Some(next) = next.and_then(|at| self.rows[..self.near].get(at)).filter(is_next) else { return true };
            if next.row.index.abs_diff(own.row.index) >= by.unsigned_abs() {
                return false; // documents of one session ascend with its places
            }
        }
        false
    }

    /// Adds the row of a far message, or puts it in place of one that lacks something.
    fn put(&mut self, one: ReadRow<'r>) {
        if let Some(at) = self.find(one.number) {
            self.rows[at] = one;
            return;
        }
        let (number, place, at) = (one.number, (one.row.session, one.row.index), self.rows.len());
        self.rows.push(one);
        let to = self.far.partition_point(|other| other.0 < number);
        self.far.insert(to, (number, at));
        let to = self.places.partition_point(|&(session, index, _)| (session, index) < place);
        self.places.insert(to, (place.0, place.1, at));
    }

    /// Finds all rows by their places from now on.
    fn find_by_place(&mut self) {
        if self.places.is_empty() {
            let places = self.rows.iter().enumerate().map(|(at, one)| (one.row.session, one.row.index, at));
            self.places = places.collect();
            self.places.sort_unstable();
        }
    }
}

/// A message and those beside it in its session, the first [`BESIDE`] places before it.
pub(super) struct Beside<'b, 'r>([Option<&'b ReadRow<'r>>; PLACES]);

impl<'b, 'r> Beside<'b, 'r> {
    /// Puts one of the same session where it stands beside the message itself.
    fn put(&mut self, own: &ReadRow<'_>, other: &'b ReadRow<'r>) {
        let by = (other.row.index as i64).wrapping_sub(own.row.index as i64).wrapping_add(BESIDE.into());
        if let Some(place) = usize::try_from(by).ok().and_then(|by| self.0.get_mut(by)) {
            *place = Some(other);
        }
    }

    /// The message `by` places behind it.
    pub fn other(&self, by: i64) -> Option<&'b ReadRow<'r>> {
        self.0[(by + i64::from(BESIDE)) as usize]
    }

    pub fn nearness_of(&self, by: i64) -> Option<&'b Nearness> {
        self.other(by).and_then(|other| other.nearness.as_ref())
    }

    /// Whether it, or a message close to it in its session, has any word of the question.
    pub fn has_words(&self, field: &Field) -> bool {
        self.0.iter().flatten().any(|other| field.words(other.number) > 0.0)
    }
}

/// A message whose document is far from that of one beside it.
pub(super) struct Far {
    pub number: u32,
    /// Places that it stands behind the other.
    pub by: i64,
    pub beside: u32,
}

/// Finds messages whose documents are far from those of the messages beside them. Each place is looked up once.
pub(super) struct Finder<'r, P> {
    pages: &'r P,
    partition: Partition,
    known: BTreeMap<(u32, u64), Option<u32>>,
}

impl<'r, P: Pages> Finder<'r, P> {
    pub fn new(pages: &'r P, partition: Partition) -> Self {
        Self { pages, partition, known: BTreeMap::new() }
    }

    /// Reads what lacks beside some rows, of each of which the count of its session's messages is given: messages right beside one whole, and
    /// those two places away, if these are `wide`, where they stand. Those that are far.
    pub fn complete(&mut self, rows: &mut ReadRows<'r>, of: &[(usize, u64)], wide: bool, wanted: &Wanted) -> Result<Vec<Far>> {
        let places: &[i64] = if wide { &[0, -1, 1, -2, 2] } else { &[0, -1, 1] };
        let mut far = Vec::new();
        for &(at, messages) in of {
            for &by in places {
                let (is_whole, may_be_far) = (by.abs() <= 1, rows.may_be_far(at, by));
                if may_be_far {
                    rows.find_by_place();
                }
                let (known, own) = (rows.beside(at).other(by), &rows.rows[at].row);
                let is_complete = known.is_some_and(|other| !is_whole || other.nearness.is_some());
                let (session, index) = (own.session, own.index.checked_add_signed(by).filter(|index| may_be_far && *index < messages));
                let number = match (known, index) {
                    (Some(other), _) => other.number,
                    (None, Some(index)) => match self.document_at(session, index)? {
                        Some(number) => number,
                        None => continue,
                    },
                    (None, None) => continue,
                };
                if may_be_far {
                    far.push(Far { number, by, beside: rows.rows[at].number });
                }
                match index {
                    _ if is_complete => {}
                    Some(index) if !is_whole => rows.put(ReadRow { number, row: Row::at_place(session, index), nearness: None }),
                    _ => rows.put(ReadRow::read(self.pages, self.partition, number, wanted)?),
                }
            }
        }
        Ok(far)
    }

    /// The document of the message at a place of a session.
    fn document_at(&mut self, session: u32, index: u64) -> Result<Option<u32>> {
        Ok(match self.known.entry((session, index)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let place = SessionKey { partition: self.partition, session };
                *new.insert(MessageRecord::document_at(self.pages, place, index)?)
            }
        })
    }
}
