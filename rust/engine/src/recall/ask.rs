//! A question as a caller asks it: the checks and decisions around [`super::answer`], and the whole answer, from one snapshot.

use std::sync::Arc;

use super::fusion::Parts;
use super::when::Range;
use super::{Beside, Hit, LexicalQuery, Question, Recall, Request, answer, has_vector, note};
use crate::memory::access::AccessBlocks;
use crate::memory::{Core, Named, check_conditions};
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::{Error, Result};

/// A memory that was found, with the ids that it names.
#[derive(Debug, Clone)]
pub struct Found {
    /// The memory, and the ids that it names.
    pub named: Arc<Named>,
    /// Place of its scope in the request.
    pub scope: usize,
    /// Where its score comes from.
    pub parts: Box<Parts>,
    /// The ids of memories that were left out because they say the same.
    pub duplicates: Vec<String>,
    /// How it is related to what the question names, in words.
    pub related: Option<String>,
}

/// An answer.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// The best first.
    pub found: Vec<Found>,
    /// The query to each scope's words, for explanations.
    pub queries: Vec<LexicalQuery>,
    /// The evidence beside the first hit.
    pub beside: Beside,
    /// Why vectors are missing that could have been used.
    pub degraded: Option<String>,
    /// Whether the question had a vector.
    pub hybrid: bool,
    /// Current memories of all scopes that were searched.
    pub documents: u64,
}

impl Answer {
    /// 0 to 1: how sure the engine is that the first answers the question. Costs an analysis of it.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        let Some(best) = self.found.first() else { return 0.0 };
        self.beside.confidence(self.queries.get(best.scope), &best.named.memory.text, &best.parts)
    }
}

impl Request {
    /// Prefers the time that its question asks about, as a caller read it. One whose filter says which time is meant is believed.
    pub fn prefer(&mut self, asked: Option<Range>) {
        self.filter.preferred = asked.filter(|_| !self.filter.limits_time());
    }

    /// Refuses what no question may be; `doing` begins the message.
    ///
    /// # Errors
    /// `InvalidInput` for a least score that no hit can have, for conditions that cannot be met, and for a scope that is named twice.
    pub fn check(&self, doing: &str) -> Result<()> {
        check_min_score(doing, self.min_score)?;
        check_conditions(doing, &self.filter.metadata)?;
        for (at, scope) in self.scopes.iter().enumerate() {
            if self.scopes[..at].contains(scope) {
                return Err(Error::invalid(format!(
                    "{doing}: every scope is searched once, and {:?} is named twice: leave it out of also=",
                    scope.id
                )));
            }
        }
        Ok(())
    }
}

/// Refuses a least score that no hit can have; `doing` begins the message.
pub(crate) fn check_min_score(doing: &str, min_score: f64) -> Result<()> {
    if (0.0..=1.0).contains(&min_score) {
        return Ok(());
    }
    Err(Error::invalid(format!("{doing}: min_score is a number from 0 to 1, and it is {min_score}: scale it")))
}

/// Why an answer is less than it could be: the engine's reason, in the words of the embedder that failed where there is one; nothing
/// where nothing was asked.
#[must_use]
pub fn why_degraded(text: &str, engine: Option<String>, embedder: Option<&str>) -> Option<String> {
    if text.trim().is_empty() { None } else { engine.map(|why| embedder.map_or(why, str::to_owned)) }
}

/// Answers a question from one snapshot. `embedder_failed` says why the question has no vector, where a caller's embedder made none.
pub fn ask(core: &Core, request: &Request, embedder_failed: Option<&str>) -> Result<Answer> {
    request.check("recalling")?;
    let question = Question::new(&request.text);
    let (mut asked, recall) = core.store().read(|pages| ask_in(core, pages, request, &question, embedder_failed))?;
    add_recalls(core, &mut asked, &recall);
    note(core, request, &recall);
    Ok(asked)
}

/// Adds the recalls that are not stored yet to those of what was found.
pub(crate) fn add_recalls(core: &Core, asked: &mut Answer, recall: &Recall) {
    for found in &mut asked.found {
        let partition = recall.partitions.get(found.scope).copied().flatten().unwrap_or_default();
        core.add_recalls(partition, Arc::get_mut(&mut found.named).into_iter());
    }
}

/// Answers a question from a snapshot that the caller holds, who [notes](note) what was recalled. The hits stand in the answer, not in the
/// recall.
pub(crate) fn ask_in<P: Pages>(
    core: &Core,
    pages: &P,
    request: &Request,
    question: &Question,
    embedder_failed: Option<&str>,
) -> Result<(Answer, Recall)> {
    let mut recall = answer(core, pages, request, question)?;
    let documents = recall.queries.iter().map(|query| query.statistics.documents).sum();
    let mut asked = Answer { documents, found: Vec::with_capacity(recall.hits.len()), ..Answer::default() };
    let of = |partition: &Option<Partition>| AccessBlocks::new(pages, partition.unwrap_or_default());
    let mut accesses: Vec<AccessBlocks<'_, P>> = recall.partitions.iter().map(of).collect();
    for Hit { memory, scope, parts, duplicates, related, .. } in std::mem::take(&mut recall.hits) {
        let named = Arc::new(Named::read(pages, &mut accesses[scope], memory)?);
        asked.found.push(Found { named, scope, parts, duplicates, related });
    }
    // A vector that no scope has vectors for compares nothing; where nothing is lacking, an empty answer is of both.
    let has_vector = request.vector.is_some() || has_vector(core, question);
    asked.hybrid = recall.by_vectors || (has_vector && recall.degraded.is_none());
    asked.degraded = why_degraded(&request.text, recall.degraded.clone(), embedder_failed);
    asked.queries = std::mem::take(&mut recall.queries);
    asked.beside = recall.beside;
    Ok((asked, recall))
}
