//! What was told later of the same as the best hit (`telling`) stands behind all hits, where the question does not find it: "fired tobias"
//! behind "my agent is Tobias Frell". Of an answer that is full one hit in five makes room. An event stays as it was, so that only what holds
//! until something else is said leads on.

use super::candidates::Opened;
use super::disputed::behind;
use super::ranking::later::{MOST_OF_ONE, MOST_READ, ONE_IN};
use super::same::{self, print, signature};
use super::{Asked, Hit, Request, may_be_of_now, newest, telling, tokens_of};
use crate::Result;
use crate::index::bm25::Row;
use crate::memory::{Memory, Outline, record};
use crate::store::pages::Pages;

/// Puts behind the hits what was told later of the same as the best of them that holds. The answer keeps its limits.
pub(super) fn bring<P: Pages>(snapshot: &P, scopes: &mut [Option<Opened<'_, P>>], asked: &Asked<'_>, hits: &mut Vec<Hit>) -> Result<()> {
    let request = asked.request;
    let most = (request.limit / ONE_IN).max(request.limit.saturating_sub(hits.len())).min(MOST_OF_ONE);
    // How much of the question such a memory has nobody asks.
    if most == 0 || request.min_score > 0.0 || !may_be_of_now(&request.filter, asked.question) {
        return Ok(());
    }
    let leads =
        |hit: &&Hit| newest::holds(hit.memory.kind) && hit.memory.ending.is_none() && hit.newer_at.is_none() && hit.parts.is_relevant();
    let Some(older) = hits.iter().find(leads) else { return Ok(()) };
    let Some(opened) = scopes.get_mut(older.scope).and_then(Option::as_mut) else { return Ok(()) };
    let of_rare = |hashes: &[u64], most: usize| opened.reader.of_rare(hashes, most);
    let documents = telling::led_to(std::iter::once(&*older.memory.text), opened.seed.terms, asked.question, of_rare)?;
    let is_later = |number: u32, row: &Row| {
        (row.occurred_at, number) > (older.memory.occurred_at, older.memory.number) && row.trust >= older.memory.trust
    };
    let mut later = Vec::new();
    for (words, number) in documents.into_iter().flatten().take(MOST_READ) {
        if hits.iter().all(|hit| hit.scope != older.scope || hit.memory.number != number) {
            let row = opened.reader.row(number)?.filter(|row| is_later(number, row) && request.filter.keeps_row(row));
            later.extend(row.map(|row| (telling::place(words, row.length as usize, number), number)));
        }
    }
    later.sort_unstable();
    let mut brought: Vec<Memory> = Vec::new();
    for (_, number) in later.into_iter().take(MOST_OF_ONE) {
        let memory = record::current(snapshot, opened.partition, number)?.filter(|memory| request.filter.keeps_memory(memory));
        brought.extend(memory.filter(|memory| says_new(memory, hits, &brought)));
    }
    brought.truncate(most);
    let (scope, related) = (older.scope, format!("told later than {}, with which it shares a rare word", older.memory.id()));
    add(request, hits, brought.into_iter().map(|memory| (scope, memory, related.clone())).collect());
    Ok(())
}

/// Whether neither the hits nor what was brought say the same.
fn says_new(memory: &Memory, hits: &[Hit], brought: &[Memory]) -> bool {
    let own = Outline::of(memory);
    let mut known = hits.iter().map(|hit| &hit.memory).chain(brought).map(Outline::of);
    let (print, signed) = (print(&own), signature(&own));
    signed.is_some() && known.all(|known| same::print(&known) != print || signature(&known) != signed)
}

/// Adds memories of a scope behind the hits, with the score of the last. The last of these make room for them, but not for their tokens.
fn add(request: &Request, hits: &mut Vec<Hit>, mut brought: Vec<(usize, Memory, String)>) {
    let Some(last) = hits.last().cloned().filter(|_| !brought.is_empty()) else { return };
    if let Some(most) = request.max_tokens {
        let mut used = hits.iter().map(|hit| tokens_of(&hit.memory.text)).sum::<usize>();
        brought.retain(|(_, memory, _)| {
            let tokens = tokens_of(&memory.text);
            let fits = used + tokens <= most;
            used += if fits { tokens } else { 0 };
            fits
        });
    }
    hits.truncate(request.limit.saturating_sub(brought.len()));
    hits.extend(brought.into_iter().map(|(scope, memory, related)| Hit { scope, ..behind(&last, memory, related) }));
}
