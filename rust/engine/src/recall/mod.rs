//! Recall: from a question to the memories that answer it.
//!
//! ```text
//! overview   a question without content is answered by time, or by what is known of the user; all others go on
//! nominate   every scope: BM25 over its words, an exact scan over its vectors, every memory that holds all identifiers
//! fuse       score = w_lexical * lexical / best lexical + w_dense * (cosine - lowest) / (highest - lowest)
//! weigh      relevance * prior: the time that was asked about, age, importance, use
//! choose     score descending, then scope, then number; the vectors of the best are compared once more, exactly; of those that say
//!            the same the first
//! ```
//!
//! Deliberately not here: asking an embedder (the question comes with its vector, unless the embedding is the built-in one), reranking by a model.
//! Start reading at [`ask()`], which Python's `recall` calls; [`filter`] says what may be found, [`when`] which time a question asks about, `overview` what has no content, [`fusion`] and
//! [`priors`] how it is ranked, [`explain`] why. docs/ranking.md has every rule and constant.

mod ask;
mod asks_of_own;
mod bygone;
pub mod candidates;
mod closer;
mod contenders;
mod contrast;
mod dated;
mod designated;
mod disputed;
pub mod explain;
pub mod filter;
pub mod fusion;
mod later;
mod newest;
mod nominees;
mod overview;
mod own;
mod past;
pub mod priors;
mod question;
pub mod ranking;
mod related;
mod same;
mod shares;
mod slotted;
mod sure;
mod table;
pub(crate) mod telling;
mod typos;
pub mod when;
mod whose;
mod words;

pub use ask::{Answer, Found, ask, why_degraded};
pub(crate) use ask::{add_recalls, ask_in, check_min_score};
pub(crate) use bygone::{is_of_now, may_be_of_now};
pub(crate) use closer::shares_name;
pub(crate) use explain::identifiers_of_time;
pub use explain::{Explanation, TermScore};
pub use filter::Filter;
pub use overview::Overview;
pub(crate) use overview::spread;
pub(crate) use own::asked_by_the_user;
pub use question::Question;
pub(crate) use shares::is_sure;
pub use sure::{Beside, confidence};
pub(crate) use sure::{least_sure, moved_odds};
pub use table::HitExplanation;

use std::cell::OnceCell;
use std::collections::BTreeSet;

use self::contenders::{Contender, Ranked};
use self::shares::Chosen;
use crate::Result;
use crate::index::vectors;
use crate::memory::embedding::Embedding;
use crate::memory::{Core, Memory};
use crate::scope::Scope;
use crate::store::keys::Partition;
use crate::store::metrics::add;
use crate::store::pages::Pages;
use crate::tokens;
use candidates::{Nominated, Opened};
use closer::Look;
use explain::LexicalQuery;
use own::Own;
use priors::Moment;
use ranking::CROWDED_UP_TO;
use ranking::memories::{BEYOND, DISPUTED_AMONG, SAME_BY, SAME_UP_TO};

/// A question.
#[derive(Debug, Clone)]
pub struct Request {
    /// The query.
    pub text: String,
    /// Its embedding, where there is an embedder and it did not fail. The built-in one makes its own where this is `None`.
    pub vector: Option<vectors::Query>,
    /// Whose memory is searched; the first is the one asked, the others are read along.
    pub scopes: Vec<Scope>,
    /// At most so many memories.
    pub limit: usize,
    /// Only what this lets through.
    pub filter: Filter,
    /// Only what scores at least this, 0 to 1.
    pub min_score: f64,
    /// The best whose texts have together at most so many tokens (`o200k_base`); it ends before the first that does not fit.
    pub max_tokens: Option<usize>,
}

impl Request {
    fn depth(&self) -> usize {
        depth(self.limit)
    }
}

/// Candidates are chosen for so many answers: for all limits up to 10 the same ones, and for all of each dozen above, so that fewer answers are
/// mostly the first of more.
pub(crate) fn depth(limit: usize) -> usize {
    if limit <= SAME_UP_TO { SAME_UP_TO } else { limit.div_ceil(SAME_BY).saturating_mul(SAME_BY) }
}

/// A request with its question as it was read.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'q> {
    request: &'q Request,
    question: &'q Question,
    /// Its vector: a caller's, or that of the built-in embedding.
    vector: Option<&'q vectors::Query>,
    /// Candidates are chosen for so many answers.
    depth: usize,
}

/// A memory that was found.
#[derive(Debug, Clone)]
pub struct Hit {
    /// The memory that was found.
    pub memory: Memory,
    /// Place of its scope in the request.
    pub scope: usize,
    /// 0 to 1: how it compares with the other answers to this question.
    pub score: f64,
    /// Where the score comes from.
    pub parts: Box<fusion::Parts>,
    /// The ids of memories that were left out because they say the same.
    pub duplicates: Vec<String>,
    /// How it is related to what the question names, in words.
    pub related: Option<String>,
    /// When something newer was said of the same thing, if it was.
    pub newer_at: Option<i64>,
    /// The number of the memory of its scope that led to it, where it was told later of the same (`recall/later.rs`).
    pub told_after: Option<u32>,
}

/// Words of a question that no text has, and the reading of each, in order.
pub type Corrections = Vec<(String, String)>;

/// The answer.
#[derive(Debug, Clone, Default)]
pub struct Recall {
    /// The best first.
    pub hits: Vec<Hit>,
    /// Why vectors were not used where they could have been; `None` where nothing is missing.
    pub degraded: Option<String>,
    /// Words of the question that no memory has, and the reading of each.
    pub corrections: Corrections,
    /// Whether vectors of any scope were searched.
    pub by_vectors: bool,
    /// The query to each scope's words, for explanations.
    pub queries: Vec<LexicalQuery>,
    /// The hits that count as recalled: scope and number. They are current, and no filling.
    recalled: Vec<(usize, u32)>,
    /// The evidence beside the first hit.
    pub beside: Beside,
    /// The partition of each scope; `None` where nothing was ever written.
    pub partitions: Vec<Option<Partition>>,
}

impl Recall {
    /// Keeps which of its hits were recalled: of those that are current, the ones that count.
    fn note_hits(&mut self, counts: impl Fn(&Hit) -> bool) {
        let current = self.hits.iter().filter(|hit| hit.memory.ending.is_none() && counts(hit));
        self.recalled = current.map(|hit| (hit.scope, hit.memory.number)).collect();
    }

    /// Keeps of those that were recalled the given ones: the scope and the number of each.
    pub(crate) fn keep_recalled(&mut self, shown: &BTreeSet<(usize, u32)>) {
        self.recalled.retain(|one| shown.contains(one));
    }

    /// Where the memory of a hit lives.
    pub(crate) fn partition_of(&self, hit: &Hit) -> Partition {
        self.partitions.get(hit.scope).copied().flatten().unwrap_or_default()
    }

    /// 0 to 1: how sure the engine is that the first hit answers the question (`recall/sure.rs`). Costs an analysis of that hit.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        let Some(best) = self.hits.first() else { return 0.0 };
        self.beside.confidence(self.queries.get(best.scope), &best.memory.text, &best.parts)
    }
}

/// Answers a question from one snapshot, and does not check the request: for tests and benches. Programs call [`ask()`].
pub fn recall(engine: &Core, request: &Request) -> Result<Recall> {
    let question = Question::new(&request.text);
    let answer = engine.store().read(|snapshot| answer(engine, snapshot, request, &question))?;
    note(engine, request, &answer);
    Ok(answer)
}

/// Counts a recall, and that its memories were recalled.
pub(crate) fn note(engine: &Core, request: &Request, answer: &Recall) {
    let metrics = engine.store().metrics();
    add(&metrics.recalls, 1);
    add(&metrics.recalls_degraded, u64::from(answer.degraded.is_some()));
    for (place, partition) in answer.partitions.iter().enumerate() {
        if let Some(partition) = partition {
            let own = answer.recalled.iter().filter(|(scope, _)| *scope == place);
            engine.note_recalled(*partition, own.map(|(_, number)| *number), request.filter.now);
        }
    }
}

/// The vector of all of a question by the built-in embedding; none for a blank one, or where the store's embedding is another.
pub(crate) fn question_vector(engine: &Core, question: &Question) -> Option<vectors::Query> {
    made(engine, || question.whole_vector())
}

/// The vector of a question for memories: of what is asked about those whom it names, where it asks anything. Who they are the words know
/// better.
#[must_use]
pub fn about(engine: &Core, question: &Question) -> Option<vectors::Query> {
    made(engine, || question.vector())
}

fn made<'q>(engine: &Core, vector: impl FnOnce() -> Option<&'q vectors::Query>) -> Option<vectors::Query> {
    is_built_in(engine).then(vector).flatten().map(|query| query.clone().made_by(engine.embedding_place()))
}

/// Whether the engine's own embedding is the built-in one, and knows the question.
pub(crate) fn has_vector(engine: &Core, question: &Question) -> bool {
    is_built_in(engine) && question.vector().is_some()
}

/// The question's vector for scopes that are searched by the built-in embedding, whatever the engine's own is.
fn built_in_question(question: &Question) -> Option<vectors::Query> {
    question.vector().filter(|_| question.is_known()).cloned()
}

/// Answers a question from a snapshot; `question` is what the request asks.
pub(crate) fn answer<P: Pages>(engine: &Core, snapshot: &P, request: &Request, question: &Question) -> Result<Recall> {
    let mut scopes = request.scopes.iter().map(|scope| Opened::new(snapshot, scope)).collect::<Result<Vec<_>>>()?;
    let hits = overview::hits(snapshot, request, question.overview(), &mut scopes)?;
    if !hits.is_empty() {
        return answered_at_once(snapshot, &scopes, question, hits);
    }
    // The words of today do not tell how those of then were spelt.
    let repaired = if request.filter.reaches_back() { None } else { typos::repaired(&scopes, question)? };
    let (question, corrections) = repaired.as_ref().map_or((question, &[][..]), |(question, changes)| (question, changes));
    // The vector of a caller's own embedder stays as it was made; that of the built-in one is made anew of a question that was read otherwise.
    let vector = if repaired.is_some() && is_built_in(engine) { None } else { request.vector.as_ref() };
    let about = if vector.is_none() { about(engine, question) } else { None };
    let asked = Asked { request, question, vector: vector.or(about.as_ref()), depth: request.depth() };
    let mut recall = deep_enough(request.depth(), |depth| weighed(engine, snapshot, &Asked { depth, ..asked }, &mut scopes))?;
    recall.corrections = corrections.to_vec();
    // One that only fills a prompt was not recalled.
    recall.note_hits(|hit| !request.filter.fills || hit.parts.is_fairly_relevant());
    later::bring(snapshot, &mut scopes, &asked, &mut recall)?; // nobody asked for these
    Ok(recall)
}

/// An answer from the candidates of a depth, or of a greater one where copies took more places than are set aside for them, so that it came out
/// short: `of` tells that beside the answer.
pub(crate) fn deep_enough<T>(mut depth: usize, mut of: impl FnMut(usize) -> Result<(T, bool)>) -> Result<T> {
    loop {
        let (answer, is_crowded) = of(depth)?;
        if !is_crowded || depth >= CROWDED_UP_TO {
            return Ok(answer);
        }
        depth = depth.saturating_mul(4).min(CROWDED_UP_TO);
    }
}

/// The memories of one depth that answer a question by their words and their meaning; and whether more of them would make the answer longer.
fn weighed<P: Pages>(engine: &Core, snapshot: &P, asked: &Asked<'_>, scopes: &mut [Option<Opened<'_, P>>]) -> Result<(Recall, bool)> {
    let Asked { request, question, .. } = *asked;
    let (mut found, mut recall) = (Nominated::default(), Recall::default());
    for (place, scope) in scopes.iter_mut().enumerate() {
        recall.partitions.push(scope.as_ref().map(|scope| scope.partition));
        let query = match scope {
            Some(scope) => candidates::nominate(engine, snapshot, asked, place, scope, &mut found)?,
            None => LexicalQuery::default(),
        };
        recall.queries.push(query);
    }
    let moment = Moment { now: request.filter.now, asked: request.filter.preferred, half_lives: engine.half_lives() };
    let ranked = Ranked::new(snapshot, &mut found, asked, &moment, &recall.partitions)?;
    recall.by_vectors = found.sets.iter().any(Option::is_some);
    let mut contenders = ranked.contenders(is_built_in(engine))?;
    if let Some(look) = Look::new(question, &recall.queries, found.identified) {
        let own = Own::of(snapshot, &request.scopes, &recall.partitions, question.names())?;
        recall.beside = looked_closer(asked, &look, &own, &recall, is_built_in(engine), &mut contenders);
    }
    contenders::sort(&mut contenders);
    contenders::newest_of_equals(&mut contenders);
    // A memory that disputes one of the best comes before it from wherever it stands, also where few are asked for.
    let of_now = !request.filter.limits_time() && request.filter.preferred.is_none();
    let disputes = of_now && contenders.iter().take(request.limit.saturating_add(BEYOND)).any(|one| one.memory.is_disputed);
    let most = if disputes { request.limit.max(DISPUTED_AMONG) } else { request.limit };
    let (chosen, is_crowded) = chosen((asked, most), &recall, contenders);
    recall.hits.reserve_exact(chosen.len());
    for one in chosen {
        recall.hits.extend(ranked.hit(one)?);
    }
    if disputes {
        disputed::lift(&mut recall.hits);
        disputed::bring(snapshot, &recall.partitions, request, &mut recall.hits)?;
        recall.hits.truncate(request.limit);
    }
    let is_cut = ranked.is_cut();
    recall.degraded = found.degraded;
    Ok((recall, is_crowded && is_cut))
}

/// The answer to a question that asks for no words.
fn answered_at_once<P: Pages>(snapshot: &P, scopes: &[Option<Opened<'_, P>>], question: &Question, hits: Vec<Hit>) -> Result<Recall> {
    let mut recall = Recall { hits, ..Recall::default() };
    for scope in scopes {
        recall.partitions.push(scope.as_ref().map(|scope| scope.partition));
        recall.queries.push(match scope {
            Some(scope) => candidates::lexical_query(snapshot, scope.partition, scope.seed, question)?.1,
            None => LexicalQuery::default(),
        });
    }
    recall.note_hits(|_| true);
    Ok(recall)
}

/// Scores the contenders anew by a closer look at them, where there are vectors, and puts the newest first of what says the same; what
/// stands beside the best.
fn looked_closer(
    asked: &Asked<'_>,
    look: &Look<'_>,
    own: &Own,
    recall: &Recall,
    built_in: bool,
    contenders: &mut Vec<Contender<'_>>,
) -> Beside {
    let mut beside = Beside::default();
    if recall.by_vectors {
        look.weigh(own, &recall.queries, contenders);
        if let Some(then) = asked.request.filter.preferred {
            look.weigh_time(then, &recall.queries, contenders);
        }
        contenders::sort(contenders);
        beside = Beside::of(contenders, asked.question);
    }
    if is_of_now(&asked.request.filter, asked.question) {
        newest::lift(asked.question, own, contenders, |one| look.answers(one, built_in));
    }
    beside
}

/// Whether the next nearest answers as well: the request may be filled, and its question is about the user's own life and asks for more than
/// what was in a time. Of another day no memory is an answer to that.
pub(crate) fn is_filled(request: &Request, question: &Question) -> bool {
    request.filter.fills && question.asks_of_own() && (request.filter.preferred.is_none() || question.overview().is_none())
}

/// Those that are answered with: the best that may be, of what says the same the first, within the tokens that there may be. And whether copies
/// took more places than are set aside for them, while some stay free.
fn chosen<'m>((asked, most): (&Asked<'_>, usize), recall: &Recall, contenders: Vec<Contender<'m>>) -> (Vec<Contender<'m>>, bool) {
    let Asked { request, question, .. } = *asked;
    let mut chosen = Chosen::new(most, &contenders);
    let best = contenders.iter().find(|one| one.parts.is_fairly_relevant());
    let best = best.map(|best| (best.scope, best.memory.text, *best.parts));
    // Behind an answer that is sure enough the next nearest is worth more than nothing.
    let sure = OnceCell::new();
    let is_sure = || {
        let confidence =
            |(scope, text, parts): &(usize, &str, fusion::Parts)| recall.beside.confidence(recall.queries.get(*scope), text, parts);
        *sure.get_or_init(|| best.as_ref().map_or(0.0, confidence) >= ranking::SURE_ENOUGH)
    };
    let fills = is_filled(request, question);
    for one in contenders {
        if chosen.is_full() || one.parts.score() < request.min_score {
            break;
        }
        if !request.filter.relevant_only
            || fills && one.memory.trust > 0
            || one.parts.is_relevant()
            || one.parts.is_fairly_relevant() && is_sure()
        {
            chosen.offer(one);
        }
    }
    let (kept, copies) = (chosen.kept(), chosen.copies());
    let mut chosen = chosen.contenders();
    let is_crowded = copies > BEYOND && chosen.len() < request.limit;
    if let Some(most) = request.max_tokens {
        shares::leave_room(&mut chosen, kept, most);
    }
    let mut tokens_left = request.max_tokens;
    let fits = |one: &&Contender<'_>| {
        let rest = tokens_left.map(|left| left.checked_sub(tokens_of(one.memory.text)));
        tokens_left = rest.flatten();
        rest.is_none_or(|rest| rest.is_some())
    };
    let count = chosen.iter().take_while(fits).count();
    chosen.truncate(count);
    (chosen, is_crowded)
}

/// Whether the engine embeds with the built-in embedding.
pub(crate) fn is_built_in(engine: &Core) -> bool {
    engine.embedding().is_some_and(Embedding::is_built_in)
}

/// Tokens of a text as recalls count them: exact for GPT-4o and later, near for others.
#[must_use]
pub fn tokens_of(text: &str) -> usize {
    tokens::count(tokens::Encoding::O200k, text)
}
