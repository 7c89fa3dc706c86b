//! A closer look at the best candidates: their texts against the question, token by token.
//!
//! The indexes (words, vectors) choose the candidates. Their texts order them: the parts of the question that a text has, the person it is
//! about and the way it is told. The weights are [`WEIGHTS`]. This works best for English: where the built-in table does not know the words
//! of a question, there is no closer look, and the first order stays.

use std::borrow::Cow;

use super::Question;
use super::contenders::Contender;
use super::explain::LexicalQuery;
use super::fusion::Parts;
use super::newest::holds;
use super::own::Own;
use super::ranking::memories::newest::{CLOSENESS, LEAST, MEANING};
use super::ranking::memories::{BEHIND_IDENTIFIED, Features, IDENTIFIED_LEXICAL, WEIGHTS};
use super::ranking::share_of_pronouns;
use super::when::{self, Range};
use crate::embedding::{self, Content, Wanted, count_forms, distinct_tokens};
use crate::index::bm25::{Formula, Parameters, Statistics};
use crate::index::vectors::{Query, UnitVector};
use crate::memory::Outline;
use crate::text::{Role, is_filler_written};

/// So many of the best memories, by their words, are cut into tokens anew where they have more than are kept.
const LONG_HITS: usize = 8;
/// The most tokens of such a memory that are compared with a question's.
const LONG_TOKENS: usize = 1 << 11;
/// The longest such memory, in bytes.
const LONG_BYTES: usize = 64 << 10;
/// Tokens of a time that are left out of a question.
const TIME_TOKENS: usize = 32;
/// Tokens of a slot that are compared with a question's.
const SLOT_TOKENS: usize = 16;

/// A value so far from [`LEAST`] is on the same side of it by an exact cosine too.
const SURE: f64 = 0.02;

/// The parts of a question that are sought in a text.
pub(super) struct Look<'q> {
    wanted: Wanted,
    question: &'q Question,
    /// A memory holds every identifier of the question.
    identified: bool,
}

impl<'q> Look<'q> {
    /// `None` where the table knows too little of the question.
    pub fn new(question: &'q Question, queries: &[LexicalQuery], identified: bool) -> Option<Self> {
        let content = question.about();
        if !content.is_known || content.words.is_empty() {
            return None;
        }
        Some(Self { wanted: Wanted::new(content, &rarity(content, queries)), question, identified })
    }

    /// How close a hit is to the question.
    fn closeness(&self, hit: &Contender<'_>) -> f64 {
        let anew = || self.wanted.closeness(&self.wanted.nearness(&hit.memory.tokens.compared_of(hit.memory.text)));
        hit.parts.closer.map_or_else(anew, |(features, _)| features.closeness)
    }

    /// Whether a hit answers the question by itself, by its closeness and its cosine by the built-in embedding, which made its vector or
    /// did not: of a text without the names that the question has too, since the question's vector is without them.
    pub fn answers(&self, hit: &Contender<'_>, made: bool) -> bool {
        let closeness = self.closeness(hit);
        let over = |cosine: f64| MEANING * cosine + CLOSENESS * closeness - LEAST;
        let is_named = hit.parts.closer.is_some_and(|(features, _)| features.name > 0.0);
        if let Some(cosine) = hit.parts.cosine().filter(|_| made && !is_named) {
            return over(cosine) > 0.0;
        }
        let Some(about) = self.question.vector() else { return over(0.0) > 0.0 };
        let names = self.question.all_name_tokens();
        let (text, tokens) = (hit.memory.text, hit.memory.tokens);
        let near = embedding::near_cosine_beside(text, tokens, names, about.unit()).map(over);
        near.filter(|over| over.abs() > SURE).unwrap_or_else(|| over(exact_cosine(&embedding::embed_beside(text, tokens, names), about)))
            > 0.0
    }

    /// Scores the hits anew. A memory that speaks of the user has the user's own names.
    pub fn weigh(&self, own: &Own, queries: &[LexicalQuery], hits: &mut [Contender<'_>]) {
        let best = hits.iter().filter_map(|hit| hit.parts.cosine()).fold(0.0, f64::max);
        let long = long_ones(hits);
        let of = |(at, hit): (usize, &Contender<'_>)| {
            let (scope, memory) = (hit.scope, &hit.memory);
            let anew = || Cow::Owned(distinct_tokens(memory.text, LONG_TOKENS));
            let tokens = if long.contains(&at) { anew() } else { memory.tokens.compared_of(memory.text) };
            let features = self.features(&self.with_slot(hit, tokens), &hit.parts, best, own.in_text(scope, memory.text));
            Features { words: features.words * own.share_beside(hit, queries), ..features }
        };
        let features: Vec<Features> = hits.iter().enumerate().map(of).collect();
        let weights = self.weights(&features);
        let holds: Vec<bool> = hits.iter().map(|hit| hit.parts.identified).collect();
        let share = share_behind(&features, &holds, &weights);
        let behind = weights.map(|weight| weight * share);
        for (hit, features) in hits.iter_mut().zip(features) {
            hit.parts.look_closer(features, if hit.parts.identified { weights } else { behind });
        }
    }

    /// Notes how sure those are that are of the time which the question asks about, without its words for that time: a memory of March
    /// does not say "March". A fact that holds is of every time from its own on.
    pub fn weigh_time(&self, then: Range, queries: &[LexicalQuery], hits: &mut [Contender<'_>]) {
        let is_of_then = |memory: &Outline<'_>| {
            then.contains(memory.occurred_at) || holds(memory.kind) && then.until.is_some_and(|until| memory.occurred_at < until)
        };
        let time = distinct_tokens(&when::within(self.question.text()).join(" "), TIME_TOKENS);
        if time.is_empty() || !hits.iter().any(|hit| is_of_then(&hit.memory)) {
            return;
        }
        let names = self.question.all_name_tokens();
        let content = self.question.content(&[names, &time].concat());
        let (wanted, about) = (Wanted::new(&content, &rarity(&content, queries)), content.vector());
        for hit in hits.iter_mut().filter(|hit| is_of_then(&hit.memory)) {
            let (text, tokens) = (hit.memory.text, hit.memory.tokens);
            let close = wanted.closeness(&wanted.nearness(&tokens.compared_of(text)));
            let cosine = about.as_ref().and_then(|about| embedding::near_cosine_beside(text, tokens, names, about));
            hit.parts.then = f64::midpoint(close, cosine.unwrap_or(close).max(0.0));
        }
    }

    /// The tokens of a hit, with those of its slot where the question has a word of it: the slot says what the text is a value of.
    fn with_slot<'t>(&self, hit: &Contender<'_>, tokens: Cow<'t, [u8]>) -> Cow<'t, [u8]> {
        let is_asked = |word: &str| self.question.about().words.iter().any(|asked| **asked == *word.as_bytes());
        match hit.memory.slot.filter(|slot| slot.split(|letter: char| !letter.is_alphanumeric()).any(is_asked)) {
            Some(slot) => Cow::Owned([&*tokens, &distinct_tokens(slot, SLOT_TOKENS)].concat()),
            None => tokens,
        }
    }

    fn features(&self, tokens: &[u8], parts: &Parts, best_cosine: f64, own: usize) -> Features {
        let (count, nearness) = (tokens.len() / 2, self.wanted.nearness(tokens));
        let is = |is: bool| f64::from(u8::from(is));
        let [first_person, second_person, times] = count_forms(tokens);
        let has = |name: &Vec<u8>| name.as_chunks::<2>().0.iter().all(|token| tokens.as_chunks::<2>().0.contains(token));
        let names = self.question.name_tokens();
        let is_named = names.iter().any(|name| !name.is_empty() && tokens.starts_with(name));
        let cosine = parts.cosine().unwrap_or(0.0).max(0.0);
        Features {
            words: parts.lexical_normalised,
            meaning: if best_cosine > 0.0 { cosine / best_cosine } else { 0.0 },
            around: parts.around,
            closeness: self.wanted.closeness(&nearness),
            phrase: nearness.phrase,
            name: own.max(names.iter().filter(|name| has(name)).count()).min(names.len()) as f64 / names.len().max(1) as f64,
            subject: is(is_named || own > 0),
            own_words: if is_named { share_of_pronouns(first_person, count) } else { 0.0 },
            second_person: share_of_pronouns(second_person, count),
            time_asked: is(times > 0 && self.question.asks_when()),
        }
    }

    /// The weight of each feature: the words weigh more where the question names an identifier that is there. All are brought to a scale on
    /// which a memory with everything that a fact can have of the question is 1, or the best of these, where it has more.
    fn weights(&self, features: &[Features]) -> [f64; WEIGHTS.len()] {
        let mut weights = WEIGHTS;
        if self.identified && weights[0] < IDENTIFIED_LEXICAL {
            let rest = (1.0 - IDENTIFIED_LEXICAL) / (1.0 - weights[0]);
            weights.iter_mut().skip(1).for_each(|weight| *weight *= rest);
            weights[0] = IDENTIFIED_LEXICAL;
        }
        let whole = Features { words: 1.0, meaning: 1.0, closeness: 1.0, ..Features::default() }.weighed(&weights);
        let unit = features.iter().map(|one| one.weighed(&weights)).fold(whole, f64::max);
        weights.map(|weight| weight / unit)
    }
}

/// The places of the best hits, by their words, that may have more tokens than are kept.
fn long_ones(hits: &[Contender<'_>]) -> Vec<usize> {
    let is_long = |hit: &Contender<'_>| hit.memory.text.len() <= LONG_BYTES && hit.memory.tokens.are_full();
    let mut long: Vec<usize> = (0..hits.len()).filter(|at| is_long(&hits[*at])).collect();
    let words = |at: usize| hits[at].parts.lexical_normalised;
    long.sort_by(|a, b| words(*b).total_cmp(&words(*a)).then(a.cmp(b)));
    long.truncate(LONG_HITS);
    long
}

fn exact_cosine(text: &UnitVector, about: &Query) -> f64 {
    about.unit().as_slice().iter().zip(text.as_slice()).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

/// The share of its weights that a memory which lacks an identifier of the question keeps: so much that the best of these stays clearly
/// behind the last that holds them all, and all of it where it does so anyway.
fn share_behind(features: &[Features], holds: &[bool], weights: &[f64; WEIGHTS.len()]) -> f64 {
    let relevance = |of: bool| features.iter().zip(holds).filter(move |(_, holds)| **holds == of).map(|(one, _)| one.weighed(weights));
    let (last, best) = (relevance(true).fold(f64::INFINITY, f64::min), relevance(false).fold(0.0, f64::max));
    if best > 0.0 { (BEHIND_IDENTIFIED * last.max(0.0) / best).min(1.0) } else { 1.0 }
}

/// The rarity of each word of the content, over all scopes that were asked.
fn rarity(content: &Content, queries: &[LexicalQuery]) -> Vec<f64> {
    let documents = queries.iter().map(|query| query.statistics.documents).sum();
    let formula = Formula::new(Parameters::default(), Statistics { documents, total_length: 0 });
    let of_word = |word: &[u8]| {
        let mut frequency = 0;
        for query in queries {
            let at = query.terms().iter().position(|term| term.role == Role::Word && term.text.as_bytes() == word);
            frequency += at.and_then(|at| query.frequencies.get(at)).copied().unwrap_or(0);
        }
        formula.idf(frequency)
    };
    content.words.iter().map(|word| of_word(word)).collect()
}

/// The most names of a question: a long paste may have thousands.
const MOST_NAMES: usize = 64;

/// Words of a question that name somebody or something: with a capital letter, and no filler. The first word has one anyway, unless
/// something is its own ("Anna's job").
pub(super) fn names(question: &str) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (at, chunk) in question.split_whitespace().enumerate() {
        if names.len() == MOST_NAMES {
            break;
        }
        names.extend(name(at, chunk).filter(|name| !names.contains(name)));
    }
    names
}

/// The name that a text has at a place among its words.
pub(super) fn name(at: usize, chunk: &str) -> Option<&str> {
    if chunk.starts_with(|letter: char| letter.is_ascii_lowercase()) {
        return None; // as most are
    }
    let (whole, word) = word_of(chunk);
    let mut letters = word.chars();
    let is_capital = letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase);
    let is_name = is_capital && (at > 0 || whole != word) && !is_filler_written(word) && !embedding::is_of_time(word);
    is_name.then_some(word)
}

/// Whether a text has a name of another one, in whatever letters: "joost upped it" and "accountant is Joost".
pub(crate) fn shares_name(text: &str, other: &str) -> bool {
    let names = names(other);
    let is_name = |chunk: &str| names.iter().any(|name| word_of(chunk).1.eq_ignore_ascii_case(name));
    !names.is_empty() && text.split_whitespace().any(is_name)
}

/// The word of what stands between two spaces, with a possessive's ending and without.
pub(super) fn word_of(chunk: &str) -> (&str, &str) {
    let whole = chunk.trim_matches(|letter: char| !letter.is_alphanumeric());
    let owner = whole.strip_suffix("'s").or_else(|| whole.strip_suffix("\u{2019}s"));
    (whole, owner.unwrap_or(whole))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedding::compared_tokens;

    #[test]
    fn names_have_a_capital_and_say_something() {
        assert_eq!(names("When did Caroline go to Paris in May?"), ["Caroline", "Paris"]);
        assert_eq!(names("What is Anna's job? Does Anna like it?"), ["Anna"]);
        assert_eq!(names("Anna's job?"), ["Anna"]);
        assert!(names("After the game, where do I live").is_empty() && names("").is_empty());
    }

    #[test]
    fn what_lacks_an_identifier_stays_behind() {
        let of = |words: f64, around: f64| Features { words, around, ..Features::default() };
        let (features, weights) = ([of(1.0, 0.0), of(0.5, 0.0), of(0.4, 1.0)], WEIGHTS);
        let share = share_behind(&features, &[true, true, false], &weights);
        assert!(features[2].weighed(&weights) > features[0].weighed(&weights), "without it");
        assert!(share * features[2].weighed(&weights) < features[1].weighed(&weights));
        assert!((share_behind(&features[..2], &[true, false], &weights) - 1.0).abs() < 1e-12, "it is far behind anyway");
        assert!((share_behind(&features, &[false; 3], &weights) - 1.0).abs() < 1e-12, "nothing holds it");
    }

    #[test]
    fn who_is_named_and_comes_close_is_seen() {
        let question = Question::new("Where does Anna work?");
        let look = Look::new(&question, &[LexicalQuery::default()], false).expect("it is English");
        let of = |text: &str| look.features(&compared_tokens(text), &Parts::default(), 0.0, 0);
        let (hers, his) = (of("Anna works at Acme."), of("Bob works at Initech."));
        assert!(hers.subject > 0.5 && hers.name > 0.5 && his.subject < 0.5 && his.name < 0.5);
        assert!(hers.closeness > 0.5 && of("The invoice is due.").closeness < 0.3);
        assert!(Look::new(&Question::new("\u{41a}\u{442}\u{43e}?"), &[], false).is_none());
    }
}
