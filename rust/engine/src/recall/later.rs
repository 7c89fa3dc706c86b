//! A memory that was told later of the same as the best hit (`telling`) takes the fifth place of an answer, the tenth or the fifteenth, or
//! stands at its end: "fired tobias" behind "my agent is Tobias Frell". These places do not depend on the limit, so that fewer answers are
//! the first of more. An event stays as it was, so that only what holds until something else is said leads on.

use super::candidates::Opened;
use super::disputed::{behind, fits};
use super::ranking::later::{MOST_OF_ONE, MOST_READ, ONE_IN};
use super::same::{print, signature};
use super::{Asked, Hit, may_be_of_now, newest, telling};
use crate::Result;
use crate::index::bm25::Row;
use crate::memory::{Memory, Outline, record};
use crate::store::pages::Pages;

/// Puts those that were told later of the same as the best hit that holds in their places. The answer keeps its limits.
pub(super) fn bring<P: Pages>(snapshot: &P, scopes: &mut [Option<Opened<'_, P>>], asked: &Asked<'_>, hits: &mut Vec<Hit>) -> Result<()> {
    let request = asked.request;
    // How much of the question such a memory has nobody asks.
    if request.min_score > 0.0 || hits.len().min(ONE_IN - 1) >= request.limit || !may_be_of_now(&request.filter, asked.question) {
        return Ok(());
    }
    let leads =
        |hit: &&Hit| newest::holds(hit.memory.kind) && hit.memory.ending.is_none() && hit.newer_at.is_none() && hit.parts.is_relevant();
    let Some(older) = hits.iter().find(leads) else { return Ok(()) };
    let Some(opened) = scopes.get_mut(older.scope).and_then(Option::as_mut) else { return Ok(()) };
    let (scope, related) = (older.scope, format!("told later than {}, with which it shares a rare word", older.memory.id()));
    let mut place = ONE_IN - 1;
    for number in later(opened, asked, &older.memory)? {
        let at = place.min(hits.len());
        if at >= request.limit {
            break;
        }
        let is_it = |hit: &Hit| hit.scope == scope && hit.memory.number == number;
        let mut known = hits.iter().position(is_it);
        let mut memory = None;
        if known.is_none() {
            memory = record::current(snapshot, opened.partition, number)?.filter(|memory| request.filter.keeps_memory(memory));
            let says_it = |hit: &Hit| hit.scope == scope && memory.as_ref().is_some_and(|memory| say_the_same(&hit.memory, memory));
            known = hits.iter().position(says_it);
        }
        let hit = match (known, memory) {
            (Some(known), _) if known < at => continue,
            (Some(known), _) => {
                let mut hit = hits.remove(known);
                hit.parts.raise_to(hits[at - 1].parts.fixed);
                Hit { score: hit.parts.score(), ..hit }
            }
            (None, Some(memory)) if fits(request, hits, &memory) => Hit { scope, ..behind(&hits[at - 1], memory, related.clone()) },
            _ => continue,
        };
        hits.insert(at, hit);
        hits.truncate(request.limit);
        place += ONE_IN;
    }
    Ok(())
}

/// The numbers of memories that were told later of the same as one, and that a question may be answered with: the first of them.
fn later<P: Pages>(opened: &mut Opened<'_, P>, asked: &Asked<'_>, older: &Memory) -> Result<Vec<u32>> {
    let of_rare = |hashes: &[u64], most: usize| opened.reader.of_rare(hashes, most);
    let documents = telling::led_to(std::iter::once(&*older.text), opened.seed.terms, asked.question, of_rare)?;
    let is_later = |number: u32, row: &Row| (row.occurred_at, number) > (older.occurred_at, older.number) && row.trust >= older.trust;
    let mut later = Vec::new();
    for (words, number) in documents.into_iter().flatten().take(MOST_READ) {
        let row = opened.reader.row(number)?.filter(|row| is_later(number, row) && asked.request.filter.keeps_row(row));
        later.extend(row.map(|row| (telling::place(words, row.length as usize, number), number)));
    }
    later.sort_unstable();
    Ok(later.into_iter().take(MOST_OF_ONE).map(|(_, number)| number).collect())
}

/// Whether two memories of one scope say the same.
fn say_the_same(one: &Memory, other: &Memory) -> bool {
    let (one, other) = (Outline::of(one), Outline::of(other));
    print(&one) == print(&other) && signature(&one).is_some_and(|own| Some(own) == signature(&other))
}
