//! The rows of candidates and of the messages beside them, each found by its place in its session.
//!
//! ```text
//! near   documents are numbered as they are added, so those of a session mostly follow each other: one scan reads a candidate and those beside it
//! far    another session went on at the same time, or this one was taken up again: the record of the message beside it knows its document
//! ```
//!
//! First sight asks for no sessions, so it misses a reply without a word of the question whose question is far: [`Finder::far`] adds it.

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
    /// Ascending by number.
    rows: Vec<ReadRow<'r>>,
    /// Session and place of each row, and where it stands; empty where no message beside a candidate is far.
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
        Ok(Self { rows, places: Vec::new() })
    }

    /// Where a document's row stands.
    pub fn find(&self, number: u32) -> Option<usize> {
        self.rows.binary_search_by_key(&number, |other| other.number).ok()
    }

    pub fn at(&self, at: usize) -> &ReadRow<'r> {
        &self.rows[at]
    }

    /// A message and those beside it.
    pub fn beside(&self, at: usize) -> Beside<'_, 'r> {
        let (mut beside, own) = (Beside([None; PLACES]), &self.rows[at]);
        for other in &self.rows[at.saturating_sub(BESIDE as usize)..self.rows.len().min(at + BESIDE as usize + 1)] {
            if other.row.session == own.row.session {
                beside.put(own, other);
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
            let next = at.checked_add_signed(step * by.signum() as isize).and_then(|at| self.rows.get(at));
            let is_next = |next: &&ReadRow<'_>| next.number.abs_diff(own.number) <= BESIDE && next.row.session == own.row.session;
            let Some(next) = next.filter(is_next) else { return true };
            if next.row.index.abs_diff(own.row.index) >= by.unsigned_abs() {
                return false; // documents of one session ascend with its places
            }
        }
        false
    }

    /// Adds rows, or puts them in place of those that lack something.
    fn join(&mut self, more: Vec<ReadRow<'r>>) {
        for one in more {
            match self.rows.binary_search_by_key(&one.number, |other| other.number) {
                Ok(at) => self.rows[at] = one,
                Err(at) => self.rows.insert(at, one),
            }
        }
        self.find_by_place();
    }

    /// Finds all rows by their places from now on.
    pub fn find_by_place(&mut self) {
        let places = self.rows.iter().enumerate().map(|(at, one)| (one.row.session, one.row.index, at));
        self.places = places.collect();
        self.places.sort_unstable();
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

    /// The document of the message `by` places beside that of a row, where it is far; `messages` is the count of its session.
    pub fn far(&mut self, rows: &ReadRows<'_>, at: usize, by: i64, messages: u64) -> Result<Option<u32>> {
        let own = &rows.rows[at].row;
        let Some(index) = own.index.checked_add_signed(by).filter(|index| *index < messages) else { return Ok(None) };
        if !rows.may_be_far(at, by) {
            return Ok(None);
        }
        let place = SessionKey { partition: self.partition, session: own.session };
        Ok(match self.known.entry((own.session, index)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => *new.insert(MessageRecord::document_at(self.pages, place, index)?),
        })
    }

    /// Reads whole the messages right beside some rows, as far as they were not.
    pub fn complete(&mut self, rows: &mut ReadRows<'r>, of: &[(usize, u64)], wanted: &Wanted) -> Result<Vec<u32>> {
        let mut missing = Vec::new();
        for &(at, messages) in of {
            let beside = rows.beside(at);
            for by in [-1, 1] {
                missing.extend(match beside.other(by) {
                    Some(other) if other.nearness.is_some() => None,
                    Some(other) => Some(other.number),
                    None => self.far(rows, at, by, messages)?,
                });
            }
        }
        missing.sort_unstable();
        missing.dedup();
        if missing.is_empty() {
            return Ok(missing);
        }
        let read: Result<Vec<_>> = missing.iter().map(|number| ReadRow::read(self.pages, self.partition, *number, wanted)).collect();
        rows.join(read?);
        Ok(missing)
    }
}
