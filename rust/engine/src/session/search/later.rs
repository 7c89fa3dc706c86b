//! The messages that were said later than a statement and have a rare word of it (`recall/telling.rs`): "my agent is Tobias Frell" leads to
//! "fired tobias".

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::rank::glance;
use super::row::Row;
use super::{Found, Transcripts};
use crate::Result;
use crate::index::bm25::runs::Snapshot;
use crate::recall::ranking::later::MOST_READ;
use crate::recall::{self, telling};
use crate::scope::Scope;
use crate::session::key::SessionKey;
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::units::term_key::TermKey;

/// Places behind a message in which what its speaker says next stands, beside an answer.
const NEXT: u32 = 2;

/// A statement that was found.
pub(in crate::session) struct Statement<'s> {
    pub text: &'s str,
    /// When it was made, in microseconds since 1970.
    pub at: i64,
}

/// The later messages of a scope, looked up in one snapshot.
pub(in crate::session) struct Later<'l, P> {
    pages: &'l P,
    partition: Partition,
    key: TermKey,
    asked: &'l recall::Question,
    words: &'l Snapshot<'l, P>,
    /// Statements mostly lead to the same few messages.
    glimpses: BTreeMap<u32, Glimpse>,
    /// The sessions of these, and whether they may be in an answer.
    visible: BTreeMap<u32, bool>,
}

/// The facts that tell whether a message may be a later one.
#[derive(Clone, Copy)]
struct Glimpse {
    session: u32,
    index: u64,
    at: Option<i64>,
    by_model: Option<bool>,
    asks: bool,
    /// Whether somebody else than the model said it, and it states something.
    states: bool,
    /// Bytes of its distinct tokens.
    length: usize,
}

impl Glimpse {
    fn of(row: &Row<'_>) -> Self {
        let states = row.by_model == Some(false) && row.is_empty == Some(false) && !row.is_courtesy && !row.asks;
        let length = row.tokens.len();
        Self { session: row.session, index: row.index, at: row.at, by_model: row.by_model, asks: row.asks, states, length }
    }
}

impl<'l, P: Pages> Later<'l, P> {
    pub fn new(transcripts: &'l Transcripts<'_, P>, scope: &Scope, asked: &'l recall::Question) -> Result<Self> {
        let (pages, partition, words) = (transcripts.pages, transcripts.partition, transcripts.words()?);
        let key = scope.seed(pages.secret()).terms;
        Ok(Self { pages, partition, key, asked, words, glimpses: BTreeMap::new(), visible: BTreeMap::new() })
    }

    /// For each statement the messages that others than the model said later and that share a rare word with it which the question lacks,
    /// each with when it was said: those with most of such words first, of equals the shortest. There may be more than are to be shown, since
    /// the caller may leave some out. A question of the model leads to what was answered ("Is Tobias still your agent?"). Costs an analysis of
    /// the telling words of all statements, a look-up for each of these words, and the rows of some documents.
    pub fn of(&mut self, statements: &[Statement<'_>]) -> Result<Vec<Vec<(Found, i64)>>> {
        let texts = statements.iter().map(|one| one.text);
        let documents = telling::led_to(texts, self.key, self.asked, |hashes, most| self.words.of_rare(hashes, most))?;
        statements.iter().zip(documents).map(|(one, documents)| self.behind(documents, one.at)).collect()
    }

    /// The next message behind another that others than the model said, where it states something, and when it was said.
    pub fn next_statement(&mut self, found: &Found) -> Result<Option<(Found, i64)>> {
        let Some(number) = self.behind_it(found.number, NEXT)? else { return Ok(None) };
        let said = self.glimpse(number)?;
        Ok(said.at.filter(|_| said.states).map(|at| (Found::of(found.place, said.index, number), at)))
    }

    fn glimpse(&mut self, number: u32) -> Result<Glimpse> {
        Ok(match self.glimpses.entry(number) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(unknown) => *unknown.insert(Row::expect(self.pages, self.partition, number, |row| Glimpse::of(&row))?),
        })
    }

    /// Those of some documents, each with how many words it shares, that state something and were said later than a time.
    fn behind(&mut self, documents: Vec<(usize, u32)>, at: i64) -> Result<Vec<(Found, i64)>> {
        let mut stating = Vec::new();
        for (words, mut number) in documents.into_iter().take(MOST_READ) {
            let mut said = self.glimpse(number)?;
            if said.by_model == Some(true) && said.asks && said.at.is_some_and(|then| then > at) {
                let Some(answer) = self.behind_it(number, 1)? else { continue };
                (number, said) = (answer, self.glimpse(answer)?);
            }
            if let Some(then) = said.at.filter(|then| said.states && *then > at) {
                stating.push((telling::place(words, said.length, number), number, said, then));
            }
        }
        stating.sort_unstable_by_key(|(place, ..)| *place);
        let mut found: Vec<(Found, i64)> = Vec::with_capacity(stating.len());
        for (_, number, said, then) in stating {
            if found.iter().all(|(known, _)| known.number != number) && self.is_visible(said.session)? {
                let place = SessionKey { partition: self.partition, session: said.session };
                found.push((Found::of(place, said.index, number), then));
            }
        }
        Ok(found)
    }

    fn is_visible(&mut self, session: u32) -> Result<bool> {
        Ok(match self.visible.entry(session) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(unknown) => {
                let place = SessionKey { partition: self.partition, session };
                *unknown.insert(glance(self.pages, place, &[])?.is_visible)
            }
        })
    }

    /// The first message that others than the model said in a session behind another, so many places at most.
    fn behind_it(&mut self, number: u32, most: u32) -> Result<Option<u32>> {
        let first = self.glimpse(number)?;
        for (number, by) in (number.saturating_add(1)..).zip(1..=u64::from(most)) {
            let Some(next) = Row::look(self.pages, self.partition, number, |row| Glimpse::of(&row))? else { return Ok(None) };
            if next.session != first.session || next.index != first.index + by {
                return Ok(None);
            }
            self.glimpses.insert(number, next);
            if next.by_model == Some(false) {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }
}
