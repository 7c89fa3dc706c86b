//! The words that the user said in a time: the messages that answer a question which names one and has no content.
//!
//! ```text
//! documents   those of the time (`dated.rs`). Where the scope has few, all are looked at
//! looked at   up to MOST_ROWS rows; of more the first of each of PARTS parts of the time
//! answers     said in the time, by the user, and neither a question nor a courtesy; a question too, where it is asked what was asked
//! chosen      from all of the time alike, of each part the longest (what was asked: the longest question), in the order of time
//! ```
//!
//! So a month costs what a day of `MOST_ROWS` messages costs, and its answer has something of each week.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

use super::super::key::{SessionKey, SessionsHead};
use super::super::recalls::role_of;
use super::super::transcript::message::{MessageRecord, MessageState};
use super::super::transcript::words::text_of;
use super::dated::{Dated, Documents, each_row, said_at};
use super::rank::{Known, glance};
use super::row::Row;
use super::score::{Features, SCORE_ONE};
use super::{Found, Request};
use crate::Result;
use crate::recall::ranking::LONG;
use crate::recall::ranking::memories::OVERVIEW;
use crate::recall::when;
use crate::recall::{Overview, spread};
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::text::speech;

/// Rows that are looked at, about.
const MOST_ROWS: u32 = 4_096;
/// Parts of a time that has more.
const PARTS: u32 = 256;
/// Messages that are read for who said them: so many of each part.
const READ_OF_PART: usize = 4;

/// A message that may answer.
struct One {
    at: i64,
    number: u32,
    place: SessionKey,
    index: u64,
    tokens: usize,
    is_empty: Option<bool>,
}

/// The messages that answer, in the order of time; none where nobody said anything then.
pub(super) fn found<P: Pages>(pages: &P, partition: Partition, request: &Request, of: Overview) -> Result<Vec<Found>> {
    let answers = |is_empty: Option<bool>| of == Overview::Asked || is_empty != Some(true);
    let is_said = request.said == when::Range::default() && of != Overview::Ahead; // what was said today does not tell of today
    let Some(asked) = request.preferred.filter(|_| is_said) else { return Ok(Vec::new()) };
    let head = SessionsHead::read(pages, partition)?;
    let all = || Documents::between(1, head.last_document.saturating_add(1));
    let documents = if head.last_document > MOST_ROWS { Dated::of(pages, partition, &head, asked)?.within } else { all() };
    let (count, mut sessions, mut ones) = (documents.count(), BTreeMap::new(), Vec::new());
    let parts = if count > MOST_ROWS { PARTS } else { 1 };
    let first_of = |part: u32| (u64::from(count) * u64::from(part) / u64::from(parts)) as u32;
    for part in 0..parts {
        let most = if parts == 1 { count } else { MOST_ROWS / PARTS };
        rows(pages, partition, documents.places(&(first_of(part)..first_of(part + 1))), most, &mut |number, row| {
            let place = SessionKey { partition, session: row.session };
            let at = said_at(pages, partition, &row)?;
            let is_stated = !row.is_courtesy && answers(row.is_empty) && row.by_model != Some(true);
            if asked.contains(at) && is_stated && is_visible(pages, place, request, &mut sessions)? {
                let tokens = (row.tokens.len() / 2).min(LONG);
                ones.push(One { at, number, place, index: row.index, tokens, is_empty: row.is_empty });
            }
            Ok(())
        })?;
    }
    ones.sort_by_key(|one| (one.at, one.number));
    let mut said = Vec::new();
    for one in thinned(ones) {
        if is_of_the_user(pages, &one, of)? {
            said.push(one);
        }
    }
    let chosen = spread(said, request.limit, |one| (of == Overview::Asked && one.is_empty == Some(true), one.tokens));
    Ok(chosen.into_iter().enumerate().map(|(place, one)| one.found(SCORE_ONE - place as i64)).collect())
}

/// The rows of some documents, the first `most` of them.
fn rows<P: Pages>(
    pages: &P,
    partition: Partition,
    documents: impl Iterator<Item = Range<u32>>,
    most: u32,
    each: &mut dyn FnMut(u32, Row<'_>) -> Result<()>,
) -> Result<()> {
    let mut left = most;
    for numbers in documents {
        each_row(pages, partition, numbers, &mut |number, row| {
            if left == 0 {
                return Ok(ControlFlow::Break(()));
            }
            left -= 1;
            each(number, row)?;
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(())
}

fn is_visible<P: Pages>(pages: &P, place: SessionKey, request: &Request, known: &mut BTreeMap<u32, Known>) -> Result<bool> {
    if let Some(known) = known.get(&place.session) {
        return Ok(known.is_visible);
    }
    let made = glance(pages, place, &request.metadata)?;
    known.insert(place.session, made);
    Ok(made.is_visible)
}

/// No more than are read: of more some that follow each other of each part, since who speaks changes from one message to the next.
fn thinned(ones: Vec<One>) -> Vec<One> {
    let (count, parts) = (ones.len(), PARTS as usize);
    if count <= parts * READ_OF_PART {
        return ones;
    }
    let of_part = |at: usize| {
        let part = at * parts / count;
        at - (part * count).div_ceil(parts)
    };
    ones.into_iter().enumerate().filter(|(at, _)| of_part(*at) < READ_OF_PART).map(|(_, one)| one).collect()
}

/// Whether the user said it, and, where it is not asked what was asked, states something.
fn is_of_the_user<P: Pages>(pages: &P, one: &One, of: Overview) -> Result<bool> {
    let Some(record) = MessageRecord::read(pages, one.place, one.index)?.filter(|record| record.state == MessageState::Given) else {
        return Ok(false);
    };
    let message = record.whole(pages, one.place)?;
    let states = || of == Overview::Asked || one.is_empty.is_some() || !speech::answers_nothing(&text_of(&message));
    Ok(role_of(&message).0 == "user" && states())
}

impl One {
    fn found(self, score: i64) -> Found {
        let features = Features { within: 1.0, ..Features::default() };
        let own = Found::of(self.place, self.index, self.number);
        Found { score, confidence: OVERVIEW, features, said_then: Some(self.at), ..own }
    }
}
