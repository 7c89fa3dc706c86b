//! The messages that were said later than a statement and have a rare word of it (`recall/telling.rs`): "my agent is Tobias Frell" leads to
//! "fired tobias".

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::Found;
use super::rank::glance;
use super::row::Row;
use crate::Result;
use crate::index::bm25::runs::{Runs, Snapshot};
use crate::recall::ranking::later::{MOST_OF_ONE, MOST_READ};
use crate::recall::{self, telling};
use crate::scope::Scope;
use crate::session::key::SessionKey;
use crate::session::transcript::words::index;
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
    words: Snapshot<'l, P>,
    /// Statements mostly lead to the same few messages.
    rows: BTreeMap<u32, Row<'l>>,
}

/// Calls `of` with the later messages of a scope. Costs the index's tail.
pub(in crate::session) fn with_later<P: Pages, T>(
    pages: &P,
    (scope, partition): (&Scope, Partition),
    asked: &recall::Question,
    of: impl FnOnce(&mut Later<'_, P>) -> Result<T>,
) -> Result<T> {
    let runs = Runs::open(pages, index(partition))?;
    let (words, key) = (runs.snapshot(pages)?, scope.seed(pages.secret()).terms);
    of(&mut Later { pages, partition, key, asked, words, rows: BTreeMap::new() })
}

impl<'l, P: Pages> Later<'l, P> {
    /// For each statement the messages that others than the model said later and that share a rare word with it which the question lacks,
    /// each with when it was said: those with most of such words first, of equals the shortest. A question of the model leads to what was
    /// answered ("Is Tobias still your agent?"). Costs an analysis of the telling words of all statements, a look-up for each of these words,
    /// and the rows of some documents.
    pub fn of(&mut self, statements: &[Statement<'_>]) -> Result<Vec<Vec<(Found, i64)>>> {
        let texts = statements.iter().map(|one| one.text);
        let documents = telling::led_to(texts, self.key, self.asked, |hashes, most| self.words.of_rare(hashes, most))?;
        statements.iter().zip(documents).map(|(one, documents)| self.behind(documents, one.at)).collect()
    }

    /// The next message behind another that others than the model said, where it states something, and when it was said.
    pub fn next_statement(&mut self, found: &Found) -> Result<Option<(Found, i64)>> {
        let Some(number) = self.behind_it(found.number, NEXT)? else { return Ok(None) };
        let row = self.row(number)?;
        Ok(row.at.filter(|_| states(row)).map(|at| (Found::of(found.place, row.index, number), at)))
    }

    fn row(&mut self, number: u32) -> Result<&Row<'l>> {
        Ok(match self.rows.entry(number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(Row::expect(self.pages, self.partition, number)?),
        })
    }

    /// Those of some documents, each with how many words it shares, that state something and were said later than a time.
    fn behind(&mut self, documents: Vec<(usize, u32)>, at: i64) -> Result<Vec<(Found, i64)>> {
        let (mut stating, partition) = (Vec::new(), self.partition);
        for (words, mut number) in documents.into_iter().take(MOST_READ) {
            let row = self.row(number)?;
            if row.by_model == Some(true) && row.asks && row.at.is_some_and(|then| then > at) {
                let Some(answer) = self.behind_it(number, 1)? else { continue };
                number = answer;
            }
            let row = self.row(number)?;
            if let Some(then) = row.at.filter(|then| states(row) && *then > at) {
                let place = SessionKey { partition, session: row.session };
                stating.push((telling::place(words, row.tokens.len(), number), Found::of(place, row.index, number), then));
            }
        }
        stating.sort_unstable_by_key(|(place, ..)| *place);
        let mut found: Vec<(Found, i64)> = Vec::new();
        for (_, one, then) in stating {
            if found.iter().all(|(known, _)| known.number != one.number) && glance(self.pages, one.place, &[])?.is_visible {
                found.push((one, then));
            }
            if found.len() == MOST_OF_ONE {
                break;
            }
        }
        Ok(found)
    }

    /// The first message that others than the model said in a session behind another, so many places at most.
    fn behind_it(&mut self, number: u32, most: u32) -> Result<Option<u32>> {
        let (session, index) = self.row(number).map(|row| (row.session, row.index))?;
        for by in 1..=most {
            let Some(next) = Row::read(self.pages, self.partition, number.saturating_add(by))? else { return Ok(None) };
            if next.session != session || next.index != index + u64::from(by) {
                return Ok(None);
            }
            let is_of_others = next.by_model == Some(false);
            self.rows.insert(number + by, next);
            if is_of_others {
                return Ok(Some(number + by));
            }
        }
        Ok(None)
    }
}

/// Whether somebody else than the model said it, and it states something.
fn states(row: &Row<'_>) -> bool {
    row.by_model == Some(false) && row.is_empty == Some(false) && !row.is_courtesy && !row.asks
}
