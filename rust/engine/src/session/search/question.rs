//! The question of a search of transcripts: its terms in one scope, the persons it names, and its meaning without these names. This module
//! reads no message.

use std::sync::Arc;

use crate::embedding::{Wanted, distinct_tokens, near_cosine_of};
use crate::index::bm25::QueryTerm;
use crate::index::vectors::Query;
use crate::recall::{self, when};
use crate::text::{self, with_analyzer};
use crate::units::clip::clip;
use crate::units::kept::Kept;
use crate::units::score::SCORE_ONE;
use crate::units::term_key::TermKey;

/// Tokens of a name that are left out of the meaning of a question.
const MAX_NAME_TOKENS: usize = 64;

/// The most bytes of a message that are looked through for an identifier.
const MOST_LOOKED_THROUGH: usize = 16 << 10;

/// It is kept of so many messages whether they have one: 48 KiB.
const TEXTS_KEPT: usize = 1 << 10;

/// Words that speak to the model, or of it, in languages that mostly say the pronoun.
const TO_THE_MODEL: [&str; 26] = [
    "you",
    "your",
    "yours",
    "yourself",
    "assistant",
    "du",
    "dir",
    "dich",
    "dein",
    "deine",
    "deinen",
    "deinem",
    "deiner",
    "tu",
    "te",
    "toi",
    "vous",
    "votre",
    "vos",
    "t\u{fa}",
    "ti",
    "usted",
    "ustedes",
    "voc\u{ea}",
    "voc\u{ea}s",
    "lei",
];

/// The words of a question, before anybody is known.
pub(super) struct Question<'q> {
    asked: &'q recall::Question,
    pub terms: Vec<QueryTerm>,
    query: Arc<text::Query>,
    key: TermKey,
}

impl<'q> Question<'q> {
    pub fn new(asked: &'q recall::Question, key: TermKey) -> Self {
        let query = asked.terms(key);
        let terms = query.terms.iter().map(|term| QueryTerm { hash: term.hash, weight: term.weight }).collect();
        Self { asked, terms, query, key }
    }

    /// Whether the built-in embedding knows it.
    pub fn is_known(&self) -> bool {
        self.asked.is_known()
    }

    /// The hashes of its identifiers.
    pub fn identifiers(&self) -> &[u64] {
        &self.query.identifiers
    }

    /// The hashes of its identifiers that say what it is about.
    pub fn identifiers_beside_times(&self) -> Vec<u64> {
        beside_times(self.asked.text(), &self.query)
    }

    /// Whether a term is asked for on its own, as a stem or an accented form is not.
    pub fn asks_for(&self, term: usize) -> bool {
        !matches!(self.query.terms[term].role, text::Role::Stem | text::Role::Accent)
    }

    /// Whether it asks for a time.
    pub fn asks_when(&self) -> bool {
        self.asked.asks_when()
    }

    /// Whether it speaks to the model, or of it, so that what the model said may be asked for; true where that cannot be told.
    pub fn speaks_to_model(&self) -> bool {
        let mut words = self.asked.text().split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty());
        !self.asked.is_known() || words.any(|word| TO_THE_MODEL.contains(&&*word.to_lowercase()))
    }

    /// The terms of the question that are a word of that name; none where it is not named.
    pub fn named(&self, speaker: &str) -> Vec<u64> {
        if speaker.is_empty() {
            return Vec::new();
        }
        let name = with_analyzer(|analyzer| analyzer.query(speaker, self.key));
        let is_asked = |hash: u64| self.terms.iter().any(|asked| asked.hash == hash);
        let is_named = name.terms.iter().any(|term| term.weight >= 1.0 && is_asked(term.hash));
        name.terms.iter().map(|term| term.hash).filter(|hash| is_named && is_asked(*hash)).collect()
    }

    /// Its meaning without the persons that it names. `rarity` is that of each of its terms.
    pub fn meaning(&self, names: &[String], rarity: &[f64]) -> Meaning {
        self.meaning_without(&tokens_of(names), rarity)
    }

    /// The same without the words of the time that it asks about.
    pub fn meaning_beside_time(&self, names: &[String], rarity: &[f64]) -> Meaning {
        let mut left_out = tokens_of(names);
        left_out.extend(tokens_of(&when::within(self.asked.text())));
        self.meaning_without(&left_out, rarity)
    }

    fn meaning_without(&self, left_out: &[u8], rarity: &[f64]) -> Meaning {
        let content = self.asked.content(left_out);
        let rarest = rarity.iter().copied().fold(0.0, f64::max).max(1.0 / SCORE_ONE as f64);
        let rarity_of = |word: &[u8]| {
            let term = self.query.terms.iter().position(|term| term.role == text::Role::Word && term.text.as_bytes() == word);
            term.and_then(|term| rarity.get(term)).map_or(rarest, |rarity| *rarity)
        };
        let rarities: Vec<f64> = content.words.iter().map(|word| rarity_of(word)).collect();
        Meaning { vector: content.vector().map(Query::from_unit), wanted: Wanted::new(&content, &rarities) }
    }
}

fn tokens_of(words: &[String]) -> Vec<u8> {
    words.iter().flat_map(|word| distinct_tokens(word, MAX_NAME_TOKENS)).collect()
}

/// Whether a text has an identifier that says what it is about.
pub(super) fn has_identifier(text: &str) -> bool {
    static KNOWN: Kept<bool, TEXTS_KEPT> = Kept::empty();
    let text = clip(text, MOST_LOOKED_THROUGH);
    let find = || !beside_times(text, &with_analyzer(|analyzer| analyzer.query(text, TermKey::default()))).is_empty();
    KNOWN.of(text, (), find, |_| true)
}

/// The hashes of a text's identifiers, but for those of a time, such as "9:40" and the year of "in 2023".
fn beside_times(text: &str, query: &text::Query) -> Vec<u64> {
    if query.identifiers.is_empty() {
        return Vec::new();
    }
    let of_time = recall::identifiers_of_time(text, query);
    let is_clock = |hash: &u64| query.terms.iter().any(|term| term.hash == *hash && is_clock(&term.text));
    query.identifiers.iter().copied().filter(|hash| !of_time.contains(hash) && !is_clock(hash)).collect()
}

/// Whether a word is a time of day: "9:40", "18:05:30".
fn is_clock(word: &str) -> bool {
    let is_part = |part: &str| (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    (1..=2).contains(&word.matches(':').count()) && word.split(':').all(is_part)
}

/// The meaning of a question, as far as the built-in embedding knows it.
pub(super) struct Meaning {
    /// `None` where the table has none of its words.
    pub vector: Option<Query>,
    pub wanted: Wanted,
}

impl Meaning {
    /// From 0 to 1: how near a message with these distinct tokens is to it: the mean of what it has of the question and its cosine.
    pub fn nearness(&self, tokens: &[u8]) -> f64 {
        let close = self.wanted.closeness(&self.wanted.nearness(tokens));
        let cosine = self.vector.as_ref().and_then(|vector| near_cosine_of(tokens, vector.unit()));
        f64::midpoint(close, cosine.unwrap_or(0.0).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_in_the_question_or_not() {
        let asked = recall::Question::new("When did Caroline Smith visit the museum?");
        let question = Question::new(&asked, 7.into());
        assert_eq!((question.named("Caroline").is_empty(), question.named("Melanie").is_empty()), (false, true));
        let to_model = |text: &str| Question::new(&recall::Question::new(text), 7.into()).speaks_to_model();
        assert!(to_model("Which tyres did you recommend?") && to_model("what's YOUR advice on tyres") && !question.speaks_to_model());
        assert!(!to_model("Which tyres did I buy for the young driver?") && to_model("\u{41a}\u{442}\u{43e}?"));
        for (text, has) in [("order 48810", true), ("the standup is at 9:40", false), ("in March 2023", false), ("I use Rust", false)] {
            assert_eq!(has_identifier(text), has, "{text}");
        }
        assert!(question.asks_when() && !Question::new(&recall::Question::new("What was the port?"), 7.into()).asks_when());
    }
}
