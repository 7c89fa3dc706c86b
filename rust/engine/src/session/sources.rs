//! One question to memories, transcripts and collections of several scopes: asked once, answered from one snapshot, in one order.
//!
//! ```text
//! question   one text, one vector, one time, one set of filters for every source
//! weighed    score of a hit / score of the best of its answer * how sure that answer is (docs/ranking.md)
//! outdated   a message that told the older value of a slot whose current one is among the hits has a quarter of that, and no more than it
//! order      weighed score descending; of equals the source that comes first, then the answer, then the place in it
//! once       a text that a better hit of another source has is left out, as a message that a memory was learnt from (`context/repeats.rs`)
//! ```
//!
//! It ranks nothing itself: `recall`, `session/search` and `collection` do, each within its own source.

use std::collections::{BTreeMap, HashMap};

use super::search::{self, FEATURES, Features, SCORE_ONE, TranscriptHit};
use super::window::replaced::{Replaced, Said, said_before, speaker_of};
use crate::Result;
use crate::collection::{self, CollectionName};
use crate::context::print;
use crate::index::vectors::Query;
use crate::memory::Core;
use crate::recall::ranking::{BEHIND_THE_CURRENT, LEAST_ASKED};
use crate::recall::when::Range;
use crate::recall::{self, HitExplanation, Question, about, spread, tokens_of};
use crate::store::keys::Partition;
use crate::store::metrics::add;
use crate::store::pages::Pages;

/// A kind of text that is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Long-term memories.
    Memories,
    /// Messages of sessions.
    Transcripts,
    /// Documents.
    Collections,
}

impl Source {
    /// Its name in the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Memories => "memories",
            Self::Transcripts => "transcripts",
            Self::Collections => "collections",
        }
    }

    /// Those of these names, in the engine's order.
    #[must_use]
    pub fn named(names: &[String]) -> Vec<Self> {
        let all = [Self::Memories, Self::Transcripts, Self::Collections];
        all.into_iter().filter(|source| names.iter().any(|wanted| wanted == source.name())).collect()
    }
}

/// A question to several sources.
#[derive(Debug, Clone)]
pub struct Request {
    /// The question with its scopes, limit and filters, which hold for every source: a document's time is that of its version, a
    /// message's metadata that of its session.
    pub question: recall::Request,
    /// Which are asked.
    pub sources: Vec<Source>,
    /// Why the question has no vector, where a caller's embedder made none.
    pub embedder_failed: Option<String>,
}

/// A hit: where it stands among the answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Its source.
    pub source: Source,
    /// Which answer of its source has it: of transcripts one a scope, of collections one each.
    pub answer: usize,
    /// Its place there.
    pub place: usize,
    /// 0 to 1: what compares it with hits of other sources.
    pub score: f64,
}

/// The answer of a search.
#[derive(Debug, Default)]
pub struct Answer {
    /// Of memories.
    pub memories: Option<recall::Answer>,
    /// Of the transcripts of each scope.
    pub transcripts: Vec<Vec<TranscriptHit>>,
    /// Of each collection.
    pub passages: Vec<collection::Search>,
    /// The hits, best first.
    pub order: Vec<Ranked>,
    /// Why vectors are missing that could have been used.
    pub degraded: Option<String>,
    /// Whether vectors were used.
    pub hybrid: bool,
    /// The messages, by answer and place, that told what a memory that was found says otherwise now, with the place of that.
    outdated: BTreeMap<(usize, usize), usize>,
}

/// Asks them.
pub fn ask(core: &Core, request: &Request) -> Result<Answer> {
    let asked = &request.question;
    asked.check("searching")?;
    let question = Question::new(&asked.text);
    let vector = asked.vector.clone().or_else(|| about(core, &question));
    // The least score and the most tokens are of the order of all, not of one source.
    let every = recall::Request { vector, min_score: 0.0, max_tokens: None, limit: asked.limit.max(LEAST_ASKED), ..asked.clone() };
    let has = |source: Source| request.sources.contains(&source);
    let (mut answer, recalled) = core.store().read(|pages| {
        let (mut answer, mut recalled) = (Answer::default(), None);
        if has(Source::Memories) {
            let (memories, recall) = recall::ask_in(core, pages, &every, &question, request.embedder_failed.as_deref())?;
            (answer.memories, recalled) = (Some(memories), Some(recall));
        }
        if has(Source::Transcripts) {
            let of = |scope| search::search_in(pages, scope, &transcript_request(&every), &question);
            answer.transcripts = every.scopes.iter().map(of).collect::<Result<_>>()?;
            let partitions = recalled.as_ref().map_or(&[][..], |recall| &recall.partitions);
            answer.outdated = outdated(pages, &every, &question, &answer, partitions)?;
        }
        if has(Source::Collections) {
            answer.passages = passages(core, pages, &every, &question, (asked.vector.as_ref(), request.embedder_failed.as_deref()))?;
        }
        Ok((answer, recalled))
    })?;
    let metrics = core.store().metrics();
    add(&metrics.searches, answer.passages.len() as u64);
    add(&metrics.searches_degraded, answer.passages.iter().filter(|one| one.degraded.is_some()).count() as u64);
    answer.put_in_order(asked);
    if let (Some(mut recall), Some(memories)) = (recalled, &mut answer.memories) {
        let places = answer.order.iter().filter(|one| one.source == Source::Memories).map(|one| &memories.found[one.place]);
        recall.keep_recalled(&places.map(|one| (one.scope, one.named.memory.number)).collect());
        recall::add_recalls(core, memories, &recall);
        recall::note(core, &every, &recall);
    }
    Ok(answer)
}

/// The messages of an answer that told the older value of a slot whose current one was found in these partitions, one for each scope. Of a
/// question about the past there are none.
fn outdated<P: Pages>(
    pages: &P,
    every: &recall::Request,
    question: &Question,
    answer: &Answer,
    partitions: &[Option<Partition>],
) -> Result<BTreeMap<(usize, usize), usize>> {
    let (filter, mut replaced, mut newer) = (&every.filter, Vec::new(), Vec::new());
    if !recall::is_of_now(filter, question) {
        return Ok(BTreeMap::new());
    }
    for (place, found) in answer.memories.iter().flat_map(|memories| &memories.found).enumerate() {
        if let Some(partition) = partitions[found.scope] {
            Replaced::by(pages, partition, &found.named.memory, &mut replaced)?;
            newer.resize(replaced.len(), place);
        }
    }
    if replaced.is_empty() {
        return Ok(BTreeMap::new());
    }
    let told_by = |scope: usize, hit: &TranscriptHit| {
        let Some(partition) = partitions[scope] else { return Ok(None) };
        let (index, at) = (hit.message.record.placed.index, hit.message.record.said_at());
        let by = || Ok(speaker_of(&hit.message.neutral()?, &hit.message.record));
        let behind = || said_before(pages, hit.place, index);
        let said = Said { partition, session: hit.session_id.as_str(), index, at, by: &by, behind: &behind };
        for (one, place) in replaced.iter().zip(&newer) {
            if one.is_told(&said, &hit.message.text)? {
                return Ok(Some(*place));
            }
        }
        Ok::<_, crate::Error>(None)
    };
    let mut told = BTreeMap::new();
    for (scope, hits) in answer.transcripts.iter().enumerate() {
        for (place, hit) in hits.iter().enumerate() {
            if let Some(newer) = told_by(scope, hit)? {
                told.insert((scope, place), newer);
            }
        }
    }
    Ok(told)
}

fn transcript_request(every: &recall::Request) -> search::Request {
    let (filter, limit) = (&every.filter, every.limit);
    let said = Range { since: filter.since, until: filter.until };
    let asked = search::Request::new(&every.text, limit, filter.now);
    search::Request { said, preferred: filter.preferred, metadata: filter.metadata.clone(), ..asked }
}

fn passages<P: Pages>(
    core: &Core,
    pages: &P,
    every: &recall::Request,
    question: &Question,
    (vector, embedder_failed): (Option<&Query>, Option<&str>),
) -> Result<Vec<collection::Search>> {
    let mut names = Vec::new();
    for scope in &every.scopes {
        for (_, name) in collection::list(pages, scope)? {
            names.push(CollectionName::new(scope, &name)?);
        }
    }
    // A word that any of them has is not misspelt.
    let repaired = collection::repaired(pages, &names, question)?;
    let question = repaired.as_ref().map_or(question, |(read, _)| read);
    let mut answers = Vec::with_capacity(names.len());
    for name in names {
        let mut request = collection::Request::new(every.text.as_str(), vec![name], every.limit, every.filter.now);
        request.vector = vector.cloned();
        request.embedder_failed = embedder_failed.map(str::to_owned);
        request.metadata.clone_from(&every.filter.metadata);
        request.relevant_only = every.filter.relevant_only;
        request.updated = Range { since: every.filter.since, until: every.filter.until };
        if repaired.is_some() {
            request = request.read_otherwise(core);
        }
        answers.push(collection::search::search(core, pages, &request, question)?);
    }
    Ok(answers)
}

/// That of memories alone, whose scores are their own.
impl From<recall::Answer> for Answer {
    fn from(memories: recall::Answer) -> Self {
        let (degraded, hybrid) = (memories.degraded.clone(), memories.hybrid);
        let order = ranked(Source::Memories, memories.found.iter().map(|hit| hit.parts.score()));
        Self { memories: Some(memories), order, degraded, hybrid, ..Self::default() }
    }
}

/// That of one transcript, or of all of a scope.
impl From<Vec<TranscriptHit>> for Answer {
    fn from(hits: Vec<TranscriptHit>) -> Self {
        let order = ranked(Source::Transcripts, hits.iter().map(score_of));
        let hybrid = hits.is_empty() || by_meaning(&hits);
        let degraded = (!hybrid).then(|| BY_WORDS.to_owned());
        Self { transcripts: vec![hits], order, degraded, hybrid, ..Self::default() }
    }
}

/// That of one search of collections.
impl From<collection::Search> for Answer {
    fn from(passages: collection::Search) -> Self {
        let (degraded, hybrid) = (passages.degraded.clone(), passages.hybrid);
        let order = ranked(Source::Collections, passages.hits.iter().map(|hit| hit.score));
        Self { passages: vec![passages], order, degraded, hybrid, ..Self::default() }
    }
}

/// Why messages were found by their words alone.
const BY_WORDS: &str = "the built-in embedding knows too little of the question or of what was found: messages were found by words alone";

/// Whether any message was found by its meaning, too.
fn by_meaning(hits: &[TranscriptHit]) -> bool {
    hits.iter().any(|hit| hit.features.meaning > 0.0)
}

/// The hits of the first answer of a source, with their own scores.
fn ranked(source: Source, scores: impl Iterator<Item = f64>) -> Vec<Ranked> {
    scores.enumerate().map(|(place, score)| Ranked { source, answer: 0, place, score }).collect()
}

fn score_of(hit: &TranscriptHit) -> f64 {
    hit.score as f64 / SCORE_ONE as f64
}

impl Answer {
    /// 0 to 1: how sure the surest source is that its first hit answers the question; 0 without a hit. Costs an analysis of that hit.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        if self.order.is_empty() {
            return 0.0;
        }
        self.sureness().map(|(_, _, confidence)| confidence).fold(0.0, f64::max)
    }

    /// How it was searched: "hybrid" by words and meaning, "lexical" by words alone.
    #[must_use]
    pub fn mode(&self) -> &'static str {
        if self.hybrid { "hybrid" } else { "lexical" }
    }

    /// Every number of a hit's score.
    ///
    /// # Panics
    /// Where the hit is of another answer.
    #[must_use]
    pub fn explain(&self, one: Ranked) -> HitExplanation {
        match one.source {
            Source::Memories => {
                let all = self.memories.as_ref().expect("a ranked memory is of an answer of memories");
                let hit = &all.found[one.place];
                let explanation = all.queries[hit.scope].explain(*hit.parts, &hit.named.memory.text);
                HitExplanation::new(explanation, "scope's memories", hit.duplicates.clone(), hit.related.clone())
            }
            Source::Transcripts => {
                let hit = &self.transcripts[one.answer][one.place];
                HitExplanation::of_message(score_of(hit), FEATURES.into_iter().zip(hit.features.values()).collect())
            }
            Source::Collections => {
                let all = &self.passages[one.answer];
                let hit = &all.hits[one.place];
                let explanation = all.queries[hit.collection].explain(hit.parts, &hit.indexed());
                HitExplanation::new(explanation, "collection's chunks", Vec::new(), None)
            }
        }
    }

    fn put_in_order(&mut self, asked: &recall::Request) {
        self.hybrid = self.transcripts.iter().any(|hits| by_meaning(hits))
            || self.memories.as_ref().is_some_and(|one| one.hybrid)
            || self.passages.iter().any(|one| one.hybrid);
        let degraded = self.memories.iter().map(|one| &one.degraded).chain(self.passages.iter().map(|one| &one.degraded));
        let by_words = self.transcripts.iter().any(|hits| !hits.is_empty() && !by_meaning(hits));
        self.degraded = degraded.flatten().next().cloned().or_else(|| by_words.then(|| BY_WORDS.to_owned()));
        let weighed = |(source, answer, confidence)| self.weighed(source, answer, confidence);
        let mut order: Vec<Ranked> = self.sureness().flat_map(weighed).collect();
        self.put_behind_the_current(&mut order);
        order.sort_by(|a, b| b.score.total_cmp(&a.score)); // stable: of equals the source that comes first
        if order.iter().any(|one| self.said_or_done(*one).is_some()) {
            order = self.in_order_of_time(order, asked.limit);
        }
        self.leave_out_repeated(&mut order);
        order.truncate(asked.limit);
        let mut left = asked.max_tokens;
        let mut fits = |one: &Ranked| {
            left = left.and_then(|left| left.checked_sub(tokens_of(self.text(*one))));
            one.score >= asked.min_score && left.is_some() == asked.max_tokens.is_some()
        };
        let count = order.iter().take_while(|one| fits(one)).count();
        order.truncate(count);
        self.order = order;
    }

    /// Leaves out what a better hit of another source says in the same words. A source itself tells its hits apart: two messages may say the same.
    fn leave_out_repeated(&self, order: &mut Vec<Ranked>) {
        let mut known = HashMap::with_capacity(order.len());
        order.retain(|one| *known.entry(print(self.text(*one).trim())).or_insert(one.source) == one.source);
    }

    /// Gives what told an older value a quarter of its score, and no more than the memory has that says otherwise now. Of equals memories come
    /// first.
    fn put_behind_the_current(&self, order: &mut [Ranked]) {
        let memories: Vec<f64> = order.iter().filter(|one| one.source == Source::Memories).map(|one| one.score).collect();
        for one in order.iter_mut().filter(|one| one.source == Source::Transcripts) {
            if let Some(newer) = self.outdated.get(&(one.answer, one.place)) {
                one.score = (one.score / BEHIND_THE_CURRENT as f64).min(memories[*newer]);
            }
        }
    }

    /// When a hit was said or done that answers a question for a time alone; `None` of every other.
    fn said_or_done(&self, one: Ranked) -> Option<i64> {
        match one.source {
            Source::Memories => {
                let hit = self.memories.as_ref().map(|all| &all.found[one.place])?;
                hit.parts.overview.filter(|_| hit.parts.prior.asked.is_some())
            }
            Source::Transcripts => self.transcripts[one.answer][one.place].said_then,
            Source::Collections => None,
        }
    }

    /// The answers to a question for a time alone, in the order of time, from all of it alike and each text once; all others behind them.
    fn in_order_of_time(&self, order: Vec<Ranked>, limit: usize) -> Vec<Ranked> {
        let (mut then, mut others): (Vec<(i64, Ranked)>, Vec<Ranked>) = (Vec::new(), Vec::new());
        for one in order {
            match self.said_or_done(one) {
                Some(at) if then.iter().all(|(_, other)| self.text(*other) != self.text(one)) => then.push((at, one)),
                Some(_) => {}
                None => others.push(one),
            }
        }
        then.sort_by_key(|(at, _)| *at); // stable: of one time memories come before messages
        let mut chosen = spread(then, limit, |_| 0);
        let best = chosen.iter().map(|(_, one)| one.score).fold(0.0, f64::max);
        for (place, (_, one)) in chosen.iter_mut().enumerate() {
            one.score = best - place as f64 / SCORE_ONE as f64;
        }
        let least = chosen.last().map_or(best, |(_, one)| one.score);
        let behind = others.into_iter().map(|one| Ranked { score: one.score.min(least), ..one });
        chosen.into_iter().map(|(_, one)| one).chain(behind).collect()
    }

    /// Each answer: its source, its number, how sure it is.
    fn sureness(&self) -> impl Iterator<Item = (Source, usize, f64)> {
        let memories = self.memories.iter().map(|one| (Source::Memories, 0, one.confidence()));
        let transcripts = self.transcripts.iter().map(|hits| hits.first().map_or(0.0, |hit| hit.confidence)).enumerate();
        let passages = self.passages.iter().map(collection::Search::confidence).enumerate();
        memories
            .chain(transcripts.map(|(at, confidence)| (Source::Transcripts, at, confidence)))
            .chain(passages.map(|(at, confidence)| (Source::Collections, at, confidence)))
    }

    /// The hits of an answer, beside those of others.
    fn weighed(&self, source: Source, answer: usize, confidence: f64) -> Vec<Ranked> {
        let scores: Vec<f64> = match source {
            Source::Memories => self.memories.iter().flat_map(|one| &one.found).map(|hit| hit.parts.score()).collect(),
            // Of a message nothing may speak but where it stands.
            Source::Transcripts => self.transcripts[answer].iter().map(|hit| Features::above_nothing(hit.score)).collect(),
            Source::Collections => self.passages[answer].hits.iter().map(|hit| hit.score).collect(),
        };
        let best = scores.first().copied().filter(|best| *best > 0.0).unwrap_or(1.0);
        let answers = |place: usize| source != Source::Transcripts || self.transcripts[answer][place].confidence > 0.0;
        let weighed = |(place, score): (usize, &f64)| {
            let sure = if answers(place) { confidence } else { 0.0 };
            Ranked { source, answer, place, score: score / best * sure }
        };
        scores.iter().enumerate().map(weighed).collect()
    }

    /// The text of a hit.
    fn text(&self, one: Ranked) -> &str {
        match one.source {
            Source::Memories => self.memories.as_ref().map_or("", |all| &all.found[one.place].named.memory.text),
            Source::Transcripts => &self.transcripts[one.answer][one.place].message.text,
            Source::Collections => &self.passages[one.answer].hits[one.place].text,
        }
    }
}
