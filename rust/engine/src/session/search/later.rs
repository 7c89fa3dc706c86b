//! The messages that were said later than a statement and have a rare word of it (`recall/telling.rs`): "my agent is Tobias Frell" leads to
//! "fired tobias".

use super::Found;
use super::rank::glance;
use super::row::Row;
use crate::Result;
use crate::index::bm25::runs::Runs;
use crate::recall::ranking::later::{MOST_OF_ONE, MOST_READ};
use crate::recall::{self, telling};
use crate::scope::Scope;
use crate::session::key::SessionKey;
use crate::session::transcript::words::index;
use crate::store::keys::Partition;
use crate::store::pages::Pages;

/// A statement that was found.
pub(in crate::session) struct Statement<'s> {
    pub text: &'s str,
    /// When it was made, in microseconds since 1970.
    pub at: i64,
}

/// For each statement the messages that others than the model said later and that share a rare word with it which the question lacks: those
/// with most of such words first, of equals the shortest. Costs an analysis of the telling words of all statements, the index's tail, a
/// look-up for each of these words, and the rows of some documents.
pub(in crate::session) fn later<P: Pages>(
    pages: &P,
    (scope, partition): (&Scope, Partition),
    asked: &recall::Question,
    statements: &[Statement<'_>],
) -> Result<Vec<Vec<(Found, i64)>>> {
    let runs = Runs::open(pages, index(partition))?;
    let of_rare = |hashes: &[u64], most: usize| runs.snapshot(pages)?.of_rare(hashes, most);
    let texts = statements.iter().map(|one| one.text);
    let documents = telling::led_to(texts, scope.seed(pages.secret()).terms, asked, of_rare)?;
    statements.iter().zip(documents).map(|(one, documents)| behind(pages, partition, documents, one.at)).collect()
}

/// Those of some documents, each with how many words it shares, that state something and were said later than a time, with when that was.
fn behind<P: Pages>(pages: &P, partition: Partition, documents: Vec<(usize, u32)>, at: i64) -> Result<Vec<(Found, i64)>> {
    let mut stating = Vec::new();
    for (words, number) in documents.into_iter().take(MOST_READ) {
        let row = Row::expect(pages, partition, number)?;
        let states = row.by_model == Some(false) && row.is_empty == Some(false) && !row.is_courtesy && !row.asks;
        if let Some(then) = row.at.filter(|then| states && *then > at) {
            let place = SessionKey { partition, session: row.session };
            stating.push((telling::place(words, row.tokens.len(), number), Found::of(place, row.index, number), then));
        }
    }
    stating.sort_unstable_by_key(|(place, ..)| *place);
    let mut found = Vec::new();
    for (_, one, then) in stating {
        if glance(pages, one.place, &[])?.is_visible {
            found.push((one, then));
        }
        if found.len() == MOST_OF_ONE {
            break;
        }
    }
    Ok(found)
}
