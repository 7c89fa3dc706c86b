//! What was told later of the same as the best hits (`telling`) stands right behind them, where the question does not find it: "fired
//! tobias" behind "my agent is Tobias Frell". Of an answer that is full the last hits make room. An event stays as it was, so that only what
//! holds until something else is said leads on.

use super::candidates::Opened;
use super::disputed::behind;
use super::ranking::later::{MOST_OF_ONE, MOST_READ, ONE_IN, STATEMENTS};
use super::{Asked, Hit, may_be_of_now, newest, telling, tokens_of};
use crate::Result;
use crate::memory::{Memory, record};
use crate::store::pages::Pages;

/// Puts behind each of the best hits what was told later of the same. The answer keeps its limits.
pub(super) fn bring<P: Pages>(snapshot: &P, scopes: &[Option<Opened<'_, P>>], asked: &Asked<'_>, hits: &mut Vec<Hit>) -> Result<()> {
    let request = asked.request;
    let most = request.limit / ONE_IN;
    if most == 0 || !may_be_of_now(&request.filter, asked.question) {
        return Ok(());
    }
    let holds = |memory: &Memory| newest::holds(memory.kind) && memory.ending.is_none();
    let leads = |hit: &Hit| holds(&hit.memory) && hit.newer_at.is_none() && hit.parts.is_relevant();
    let leading: Vec<usize> = (0..hits.len()).filter(|at| leads(&hits[*at])).take(STATEMENTS).collect();
    let mut brought: Vec<(usize, Memory)> = Vec::new();
    for (place, opened) in scopes.iter().enumerate() {
        let Some(opened) = opened else { continue };
        let own: Vec<usize> = leading.iter().copied().filter(|at| hits[*at].scope == place).collect();
        let texts = own.iter().map(|at| &*hits[*at].memory.text);
        let of_rare = |hashes: &[u64], most: usize| opened.reader.of_rare(hashes, most);
        let documents = telling::led_to(texts, opened.seed.terms, asked.question, of_rare)?;
        for (at, documents) in own.into_iter().zip(documents) {
            let older = &hits[at].memory;
            let may_be = |memory: &Memory| {
                (memory.occurred_at, memory.number) > (older.occurred_at, older.number)
                    && memory.trust >= older.trust
                    && request.filter.keeps_memory(memory)
                    && brought.iter().all(|(_, other)| other.text != memory.text)
                    && hits.iter().all(|hit| hit.memory.text != memory.text)
            };
            let mut found = Vec::new();
            for (words, number) in documents.into_iter().take(MOST_READ) {
                if !hits.iter().any(|hit| hit.scope == place && hit.memory.number == number) {
                    let memory = record::current(snapshot, opened.partition, number)?.filter(may_be);
                    found.extend(memory.map(|memory| (telling::place(words, memory.text.len(), number), memory)));
                }
            }
            found.sort_unstable_by_key(|(place, _)| *place);
            brought.extend(found.into_iter().take(MOST_OF_ONE).map(|(_, memory)| (at, memory)));
        }
    }
    brought.sort_by_key(|(at, _)| *at); // stable: of one hit in their order
    brought.truncate(most);
    for (at, memory) in brought.into_iter().rev() {
        let related = format!("told later than {}, with which it shares a rare word", hits[at].memory.id());
        hits.insert(at + 1, behind(&hits[at], memory, related));
    }
    keep_limits(asked, hits);
    Ok(())
}

/// Leaves out the last hits beyond the limits of an answer.
fn keep_limits(asked: &Asked<'_>, hits: &mut Vec<Hit>) {
    hits.truncate(asked.request.limit);
    if let Some(most) = asked.request.max_tokens {
        let mut used = 0;
        let fits = |hit: &&Hit| {
            used += tokens_of(&hit.memory.text);
            used <= most
        };
        let count = hits.iter().take_while(fits).count();
        hits.truncate(count);
    }
}
