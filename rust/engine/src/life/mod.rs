//! The life of memories beyond one write: what is near a claim, what clusters, what is related to what.
//!
//! Each function reads one snapshot, or is one write transaction. What a message claims is [`crate::gate`]'s to say, what a claim does to
//! what is known [`crate::memory::learn`]'s.

pub mod cluster;
pub mod consolidate;
pub mod relations;

use crate::Result;
use crate::memory::{Core, LearnMark, NewMemory, Remembered};
use crate::recall::{self, Filter, Fusion, Question, Request};
use crate::scope::{Head, Scope};

/// Memories that a claim is compared with.
const NEAR: usize = 8;

/// Stores claims in one transaction, each beside what it may repeat or contradict; `None` where another process learnt from the session
/// meanwhile. `mark` is the session, how far it was learnt from, and how far it is then.
pub fn learn(
    engine: &Core,
    scope: &Scope,
    mut claims: Vec<NewMemory>,
    mark: Option<(String, LearnMark, LearnMark)>,
    now: i64,
) -> Result<Option<Vec<Remembered>>> {
    let texts: Vec<String> = claims.iter().map(|claim| claim.text.clone()).collect();
    for (claim, near) in claims.iter_mut().zip(near(engine, scope, &texts, now)?) {
        if let Some(learning) = &mut claim.learning {
            learning.near = near;
        }
    }
    engine.learn(scope, claims, mark, now)
}

/// The numbers of the memories of a scope that each text may repeat or contradict: the best answers to it, best first. One snapshot.
pub fn near(engine: &Core, scope: &Scope, texts: &[String], now: i64) -> Result<Vec<Vec<u32>>> {
    engine.store().read(|snapshot| {
        let partition = scope.find(snapshot)?;
        if partition.map_or(Ok(true), |partition| Head::read(snapshot, partition).map(|head| head.documents == 0))? {
            return Ok(vec![Vec::new(); texts.len()]);
        }
        let ask = |text: &String| {
            let request = Request {
                text: text.clone(),
                vector: None,
                scopes: vec![scope.clone()],
                limit: NEAR,
                filter: Filter::all(now),
                fusion: Fusion::default(),
                min_score: 0.0,
                max_tokens: None,
            };
            let answer = recall::answer(engine, snapshot, &request, &Question::new(text))?;
            Ok(answer.hits.into_iter().map(|hit| hit.memory.number).collect())
        };
        texts.iter().map(ask).collect()
    })
}
