//! A memory that was told later of the same as the best hit (`telling`) takes the fifth place of an answer, the tenth or the fifteenth, or
//! stands at its end: "fired tobias" behind "my agent is Tobias Frell". These places do not depend on the limit, so that fewer answers are
//! the first of more. An event stays as it was, so that only what holds until something else is said leads on.

use super::candidates::Opened;
use super::disputed::{LATER, behind, fits};
use super::nominees::has_metadata;
use super::ranking::SURE_ENOUGH;
use super::ranking::later::{MOST_HAVING, MOST_OF_ONE, MOST_READ, ONE_IN};
use super::same::{print, signature};
use super::words::bare_words;
use super::{Asked, Hit, Recall, may_be_of_now, newest, telling};
use crate::Result;
use crate::index::bm25::Row;
use crate::memory::{Memory, Outline, record};
use crate::store::pages::Pages;

/// Puts those that are later than the best hit that holds in their places, which are behind it. The answer keeps its limits.
pub(super) fn bring<P: Pages>(snapshot: &P, scopes: &mut [Option<Opened<'_, P>>], asked: &Asked<'_>, recall: &mut Recall) -> Result<()> {
    let request = asked.request;
    // How much of the question such a memory has nobody asks.
    if request.min_score > 0.0 || recall.hits.len().min(ONE_IN - 1) >= request.limit || !may_be_of_now(&request.filter, asked.question) {
        return Ok(());
    }
    bring_by_rare_words(snapshot, scopes, asked, recall)?;
    if request.filter.fills { note_changes(scopes, &mut recall.hits) } else { Ok(()) }
}

/// Puts later memories in their places that have words of the best hit that holds which the question lacks.
fn bring_by_rare_words<P: Pages>(snapshot: &P, scopes: &mut [Option<Opened<'_, P>>], asked: &Asked<'_>, recall: &mut Recall) -> Result<()> {
    let request = asked.request;
    let leads =
        |hit: &&Hit| newest::holds(hit.memory.kind) && hit.memory.ending.is_none() && hit.newer_at.is_none() && hit.parts.is_relevant();
    let Some(older) = recall.hits.iter().take(ONE_IN - 1).find(leads) else { return Ok(()) };
    let Some(opened) = scopes.get_mut(older.scope).and_then(Option::as_mut) else { return Ok(()) };
    let (scope, led_by) = (older.scope, older.memory.number);
    let related = format!("{LATER}{}, with which it shares a rare word", older.memory.id());
    let numbers = later(snapshot, opened, asked, &older.memory)?;
    // Behind those that answer stands what fills an answer up, if anything.
    let is_sure = numbers.is_empty() || request.filter.relevant_only || recall.confidence() >= SURE_ENOUGH;
    let answers = |hit: &Hit| request.filter.relevant_only || hit.parts.is_relevant() || is_sure && hit.parts.is_fairly_relevant();
    let (hits, mut place) = (&mut recall.hits, ONE_IN - 1);
    for number in numbers {
        let at = place.min(hits.iter().rposition(answers).map_or(0, |last| last + 1));
        if at >= request.limit {
            break;
        }
        let is_it = |hit: &Hit| hit.scope == scope && hit.memory.number == number;
        let mut known = hits.iter().position(is_it);
        let mut memory = None;
        if known.is_none() {
            memory = record::current(snapshot, opened.partition, number)?.filter(|memory| request.filter.keeps_memory(memory));
            let says_it = memory.as_ref().map(says_the_same);
            known = says_it.and_then(|says_it| hits.iter().position(|hit| hit.scope == scope && says_it(&hit.memory)));
        }
        let hit = match (known, memory) {
            (Some(known), _) if known < at => {
                hits[known].told_after = Some(led_by);
                continue;
            }
            (Some(known), _) => {
                let mut hit = hits.remove(known);
                hit.parts.raise_to(hits[at - 1].parts.fixed);
                hit.leads_from(related.clone());
                Hit { score: hit.parts.score(), ..hit }
            }
            (None, Some(memory)) if fits(request, hits, &memory) => Hit { scope, ..behind(&hits[at - 1], memory, related.clone()) },
            _ => continue,
        };
        hits.insert(at, Hit { told_after: Some(led_by), ..hit });
        place += ONE_IN;
    }
    if hits.len() > request.limit {
        hits.truncate(request.limit);
        let kept = hits.iter().map(|hit| (hit.scope, hit.memory.number)).collect();
        recall.keep_recalled(&kept);
    }
    Ok(())
}

/// The numbers of memories that were told later of the same as one, and that a question may be answered with: the first of them.
fn later<P: Pages>(snapshot: &P, opened: &mut Opened<'_, P>, asked: &Asked<'_>, older: &Memory) -> Result<Vec<u32>> {
    let of_rare = |hashes: &[u64], most: usize| opened.reader.of_rare(hashes, most);
    let documents = telling::led_to(std::iter::once(&*older.text), opened.seed.terms, asked.question, of_rare)?;
    let is_later = |number: u32, row: &Row| (row.occurred_at, number) > (older.occurred_at, older.number) && row.trust >= older.trust;
    let (filter, mut later) = (&asked.request.filter, Vec::new());
    for (words, number) in documents.into_iter().flatten().take(MOST_READ) {
        let Some(row) = opened.reader.row(number)?.filter(|row| is_later(number, row) && filter.keeps_row(row)) else { continue };
        if filter.metadata.is_empty() || has_metadata(snapshot, opened.partition, filter, number)? {
            later.push((telling::place(words, row.length as usize, number), number));
        }
    }
    later.sort_unstable();
    Ok(later.into_iter().take(MOST_OF_ONE).map(|(_, number)| number).collect())
}

/// Notes which hits were told later than the best one of any kind, say that something is otherwise now, and share with it a word that few
/// memories have, be it one of the question: "audit got moved up to march 24" behind "the soc2 audit starts april 1". They keep their places.
fn note_changes<P: Pages>(scopes: &[Option<Opened<'_, P>>], hits: &mut [Hit]) -> Result<()> {
    let leads = |hit: &&Hit| hit.memory.ending.is_none() && hit.newer_at.is_none() && hit.parts.is_relevant();
    let Some(older) = hits.iter().take(ONE_IN - 1).find(leads) else { return Ok(()) };
    let Some(opened) = scopes.get(older.scope).and_then(Option::as_ref) else { return Ok(()) };
    let is_change = |hit: &&Hit| {
        hit.scope == older.scope
            && (hit.memory.occurred_at, hit.memory.number) > (older.memory.occurred_at, older.memory.number)
            && hit.memory.trust >= older.memory.trust
            && hit.told_after.is_none()
            && hit.newer_at.is_none()
            && newest::says_change(&bare_words(&hit.memory.text).collect::<Vec<_>>())
    };
    if !hits.iter().any(|hit| is_change(&hit)) {
        return Ok(()); // as mostly
    }
    let having = opened.reader.of_rare(&telling::words(&older.memory.text, opened.seed.terms), MOST_HAVING)?;
    let shares = |hit: &&Hit| having.iter().any(|documents| documents.binary_search(&hit.memory.number).is_ok());
    let later: Vec<u32> = hits.iter().filter(is_change).filter(shares).map(|hit| hit.memory.number).collect();
    let (scope, led_by) = (older.scope, older.memory.number);
    let most = MOST_OF_ONE.saturating_sub(hits.iter().filter(|hit| hit.told_after.is_some()).count());
    let is_it = |hit: &&mut Hit| hit.scope == scope && later.contains(&hit.memory.number);
    hits.iter_mut().filter(is_it).take(most).for_each(|hit| hit.told_after = Some(led_by));
    Ok(())
}

/// Whether another memory of its scope says the same as one.
fn says_the_same(one: &Memory) -> impl Fn(&Memory) -> bool {
    let one = Outline::of(one);
    let own = print(&one);
    move |other| {
        let other = Outline::of(other);
        own == print(&other) && signature(&one).is_some_and(|own| Some(own) == signature(&other))
    }
}
