//! The memories that answer a question without content: by when they happened, or by what they are.

use std::collections::BTreeMap;

use super::{Overview, spread};
use crate::Result;
use crate::index::bm25::Row;
use crate::memory::{Kind, Memory, record};
use crate::recall::candidates::Opened;
use crate::recall::fusion::Parts;
use crate::recall::nominees::has_metadata;
use crate::recall::priors::Prior;
use crate::recall::ranking::memories::{FEWEST, OVERVIEW_OF};
use crate::recall::{Hit, Request, dated, tokens_of};
use crate::scope::{Head, ScopeType};
use crate::store::pages::Pages;
use crate::text::speech;
use crate::units::calendar::DAY;
use crate::units::clock::AHEAD;
use crate::units::score::SCORE_ONE;

/// Kinds in the order in which they say who the user is.
const KINDS: [Kind; 7] =
    [Kind::Constraint, Kind::Profile, Kind::Preference, Kind::Decision, Kind::Semantic, Kind::Episodic, Kind::TaskOutcome];
/// Kinds that happen.
const EVENTS: [Kind; 2] = [Kind::Episodic, Kind::TaskOutcome];

/// A memory that may answer.
struct One {
    scope: usize,
    number: u32,
    row: Row,
    /// When it is: when it happened, or on which day that it names.
    at: i64,
}

impl One {
    fn is(&self, kinds: &[Kind]) -> bool {
        kinds.iter().any(|kind| *kind as u8 == self.row.kind)
    }

    /// Its place in the order of those that say who the user is.
    fn place(&self) -> (usize, u8, i64) {
        let rank = KINDS.iter().position(|kind| *kind as u8 == self.row.kind).unwrap_or(KINDS.len());
        (rank, u8::MAX - self.row.importance, self.row.occurred_at.saturating_neg())
    }
}

/// A memory that answers.
struct Answer {
    scope: usize,
    /// As of [`One`].
    at: i64,
    memory: Memory,
}

/// The memories that answer; none where the question has content, its time is not known, or nothing is there. Reads the row of each of the
/// newest `OVERVIEW_OF` memories of a scope, and the records of as many as are wanted, at least `FEWEST`: a question answers nothing, no
/// matter who remembered it.
pub(in crate::recall) fn hits<P: Pages>(
    snapshot: &P,
    request: &Request,
    overview: Option<Overview>,
    scopes: &mut [Option<Opened<'_, P>>],
) -> Result<Vec<Hit>> {
    let filter = &request.filter;
    let Some(overview) = overview.filter(|one| !filter.reaches_back() && (*one == Overview::User || filter.preferred.is_some())) else {
        return Ok(Vec::new());
    };
    let mut found: Vec<One> = Vec::new();
    for (scope, opened) in scopes.iter_mut().enumerate() {
        let about_user = request.scopes[scope].scope_type == ScopeType::User;
        let Some(opened) = opened.as_mut().filter(|_| about_user || overview.is_of_time()) else { continue };
        let dated = named_days(snapshot, opened, request, overview)?;
        let end = Head::read(snapshot, opened.partition)?.next_number;
        for number in end.saturating_sub(OVERVIEW_OF).max(1)..end {
            let Some(row) = opened.reader.row(number)?.filter(|row| filter.keeps_row(row)) else { continue };
            let day = dated.get(&number);
            let answers = match overview {
                // A memory that nobody vouches for does not say who the user is.
                Overview::User => row.trust > 0,
                Overview::Ahead if row.occurred_at <= filter.now.saturating_add(AHEAD) => day.is_some(),
                _ => day.is_some() || filter.preferred.is_some_and(|range| range.contains(row.occurred_at)),
            };
            let at = day.map_or(row.occurred_at, |day| day.saturating_mul(DAY));
            if answers && (filter.metadata.is_empty() || has_metadata(snapshot, opened.partition, filter, number)?) {
                found.push(One { scope, number, row, at });
            }
        }
    }
    let mut memories: Vec<Answer> = Vec::with_capacity(request.limit.min(FEWEST));
    for one in choose(found, overview, request.limit.max(FEWEST), request.limit) {
        let partition = scopes[one.scope].as_ref().map_or_else(Default::default, |opened| opened.partition);
        let Some(memory) = record::current(snapshot, partition, one.number)? else { continue };
        if memories.iter().all(|other| other.memory.text != memory.text) && !speech::answers_nothing(&memory.text) {
            memories.push(Answer { scope: one.scope, at: one.at, memory });
        }
    }
    let memories = fewer(memories, overview, request.limit);
    Ok(scored(within_tokens(memories, overview, request.max_tokens), request, overview))
}

/// The memories of a scope that name a day of the time that is asked about, with that day; none where it is asked what was said then.
fn named_days<P: Pages>(snapshot: &P, opened: &Opened<'_, P>, request: &Request, overview: Overview) -> Result<BTreeMap<u32, i64>> {
    match overview {
        Overview::Done | Overview::Ahead => {
            dated::named(snapshot, &opened.reader, opened.partition, opened.seed.terms, request.filter.preferred)
        }
        Overview::Said | Overview::Asked | Overview::User => Ok(BTreeMap::new()),
    }
}

/// At most `most` of the memories: of a time from all of it, of what is to come and of the user the first.
fn fewer(mut memories: Vec<Answer>, overview: Overview, most: usize) -> Vec<Answer> {
    if overview.is_of_time() && overview != Overview::Ahead {
        return spread(memories, most, |one| (one.memory.trust > 0, (one.memory.importance * 1e6) as i64));
    }
    memories.truncate(most);
    memories
}

/// Those whose records are read, at most `most`, for an answer of `limit`: of a time from all of it alike and in its order, of what is to come
/// the first, of the user what says most of who that is.
fn choose(mut found: Vec<One>, overview: Overview, most: usize, limit: usize) -> Vec<One> {
    if overview == Overview::User {
        found.sort_by_key(One::place); // stable: of equals in the order asked
        found.truncate(most);
        return found;
    }
    if overview == Overview::Done && found.iter().any(|one| one.is(&EVENTS)) {
        found.retain(|one| one.is(&EVENTS));
    }
    // However much of nobody's there is, what somebody vouches for has its place.
    if found.iter().filter(|one| one.row.trust > 0).count() >= limit {
        found.retain(|one| one.row.trust > 0);
    }
    found.sort_by_key(|one| one.at);
    if overview == Overview::Ahead {
        found.truncate(most);
        return found;
    }
    spread(found, most, |one| (one.row.trust > 0, one.row.importance))
}

/// As many of the memories as have at most `most` tokens together.
fn within_tokens(mut memories: Vec<Answer>, overview: Overview, most: Option<usize>) -> Vec<Answer> {
    let Some(most) = most else { return memories };
    loop {
        let tokens: usize = memories.iter().map(|one| tokens_of(&one.memory.text)).sum();
        let Some(less) = memories.len().checked_sub(1).filter(|_| tokens > most) else { return memories };
        // The tokens above the limit are a share of all; the rest is seen in the next round.
        let less = (memories.len() * most / tokens.max(1)).min(less);
        memories = fewer(memories, overview, less);
    }
}

/// Each with its place as its score: all answer alike, and the order stays.
fn scored(memories: Vec<Answer>, request: &Request, overview: Overview) -> Vec<Hit> {
    let hit = |(place, Answer { scope, at, memory }): (usize, Answer)| {
        let fixed = i64::from(SCORE_ONE) - place as i64;
        let related = fixed as f64 / f64::from(SCORE_ONE);
        let asked = request.filter.preferred.filter(|_| overview.is_of_time());
        let parts = Parts { fixed, related, overview: Some(at), prior: Prior { asked, ..Prior::default() }, ..Parts::default() };
        let why =
            if overview.is_of_time() { "it is of the time, and nothing else is asked for" } else { "all about the user is asked for" };
        let (score, parts) = (parts.score(), Box::new(parts));
        Hit { memory, scope, score, parts, duplicates: Vec::new(), related: Some(why.to_owned()), newer_at: None, told_after: None }
    };
    let hits = memories.into_iter().enumerate().map(hit);
    hits.filter(|hit| hit.score >= request.min_score).collect()
}
