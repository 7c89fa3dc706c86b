//! What was told later of the same as the best hits (`telling`) stands behind all hits, where the question does not find it: "fired tobias"
//! behind "my agent is Tobias Frell". Of an answer that is full one hit in five makes room. An event stays as it was, so that only what holds
//! until something else is said leads on.

use super::candidates::Opened;
use super::disputed::behind;
use super::ranking::later::{MOST_OF_ONE, MOST_READ, ONE_IN, STATEMENTS};
use super::same::signature;
use super::{Asked, Hit, Request, may_be_of_now, newest, telling, tokens_of};
use crate::Result;
use crate::index::bm25::Row;
use crate::memory::{Memory, Outline, record};
use crate::store::pages::Pages;

/// A memory that a hit led to.
struct Brought {
    scope: usize,
    memory: Memory,
    /// How it is related to that hit, in words.
    related: String,
}

/// Puts behind the hits what was told later of the same as the best of them. The answer keeps its limits.
pub(super) fn bring<P: Pages>(snapshot: &P, scopes: &mut [Option<Opened<'_, P>>], asked: &Asked<'_>, hits: &mut Vec<Hit>) -> Result<()> {
    let request = asked.request;
    let most = (request.limit / ONE_IN).max(request.limit.saturating_sub(hits.len()).min(MOST_OF_ONE));
    // How much of the question such a memory has nobody asks.
    if most == 0 || request.min_score > 0.0 || !may_be_of_now(&request.filter, asked.question) {
        return Ok(());
    }
    let leads =
        |hit: &&Hit| newest::holds(hit.memory.kind) && hit.memory.ending.is_none() && hit.newer_at.is_none() && hit.parts.is_relevant();
    let mut brought: Vec<Brought> = Vec::new();
    for (place, opened) in scopes.iter_mut().enumerate() {
        let Some(opened) = opened else { continue };
        let leading: Vec<&Hit> = hits.iter().filter(leads).take(STATEMENTS).filter(|hit| hit.scope == place).collect();
        let texts = leading.iter().map(|hit| &*hit.memory.text);
        let of_rare = |hashes: &[u64], most: usize| opened.reader.of_rare(hashes, most);
        let documents = telling::led_to(texts, opened.seed.terms, asked.question, of_rare)?;
        for (older, documents) in leading.into_iter().zip(documents) {
            let is_known = |number: u32, brought: &[Brought]| {
                let is_it = |scope: usize, memory: &Memory| scope == place && memory.number == number;
                hits.iter().any(|hit| is_it(hit.scope, &hit.memory)) || brought.iter().any(|one| is_it(one.scope, &one.memory))
            };
            let is_later = |number: u32, row: &Row| {
                (row.occurred_at, number) > (older.memory.occurred_at, older.memory.number) && row.trust >= older.memory.trust
            };
            let mut later = Vec::new();
            for (words, number) in documents.into_iter().take(MOST_READ) {
                let row = if is_known(number, &brought) { None } else { opened.reader.row(number)? };
                let row = row.filter(|row| is_later(number, row) && request.filter.keeps_row(row));
                later.extend(row.map(|row| (telling::place(words, row.length as usize, number), number)));
            }
            later.sort_unstable();
            for (_, number) in later.into_iter().take(MOST_OF_ONE) {
                let memory = record::current(snapshot, opened.partition, number)?.filter(|memory| request.filter.keeps_memory(memory));
                let memory = memory.filter(|memory| says_new(memory, hits, &brought));
                let related = || format!("told later than {}, with which it shares a rare word", older.memory.id());
                brought.extend(memory.map(|memory| Brought { scope: place, memory, related: related() }));
            }
            if brought.len() >= most {
                break;
            }
        }
    }
    brought.truncate(most);
    add(request, hits, brought);
    Ok(())
}

/// Whether neither the hits nor what was brought say the same.
fn says_new(memory: &Memory, hits: &[Hit], brought: &[Brought]) -> bool {
    let own = signature(&Outline::of(memory));
    let mut known = hits.iter().map(|hit| &hit.memory).chain(brought.iter().map(|one| &one.memory));
    own.is_some() && known.all(|known| signature(&Outline::of(known)) != own)
}

/// Adds memories behind the hits, with the score of the last. The last of these make room for them, but not for their tokens.
fn add(request: &Request, hits: &mut Vec<Hit>, mut brought: Vec<Brought>) {
    let Some(last) = hits.last().cloned().filter(|_| !brought.is_empty()) else { return };
    if let Some(most) = request.max_tokens {
        let mut used = hits.iter().map(|hit| tokens_of(&hit.memory.text)).sum::<usize>();
        brought.retain(|one| {
            let fits = used + tokens_of(&one.memory.text) <= most;
            used += if fits { tokens_of(&one.memory.text) } else { 0 };
            fits
        });
    }
    hits.truncate(request.limit.saturating_sub(brought.len()));
    hits.extend(brought.into_iter().map(|Brought { scope, memory, related }| Hit { scope, ..behind(&last, memory, related) }));
}
