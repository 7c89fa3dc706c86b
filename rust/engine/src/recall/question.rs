//! A question, analysed once for everything that answers it: memories, transcripts, the repair of its words, a prompt. Words of a
//! collection have a key of their own.
//!
//! Each part is worked out when something first asks for it, and then kept. It knows no store: which scopes are asked and what may be
//! found is [`super::Request`]'s.

use std::sync::{Arc, OnceLock};

use super::Overview;
use super::asks_of_own::asks_of_own;
use super::bygone::asks_for_past;
use super::closer::names;
use crate::embedding::{Content, Cut, distinct_tokens, has_word};
use crate::index::vectors::{Query, UnitVector};
use crate::text::speech::goes_on;
use crate::text::{self, asks_when, with_analyzer};
use crate::units::term_key::TermKey;

/// Tokens of a name.
const NAME_TOKENS: usize = 16;

/// A question, analysed once.
#[derive(Debug, Default)]
pub struct Question {
    text: String,
    terms: OnceLock<(TermKey, Arc<text::Query>)>,
    cut: OnceLock<Cut>,
    names: OnceLock<Names>,
    about: OnceLock<Content>,
    vector: OnceLock<Option<Query>>,
    whole_vector: OnceLock<Option<Query>>,
    asks_when: OnceLock<bool>,
    asks_for_past: OnceLock<bool>,
    asks_nothing: OnceLock<bool>,
    asks_of_own: OnceLock<bool>,
    overview: OnceLock<Option<Overview>>,
}

/// Whom and what a question names, and the tokens of each.
#[derive(Debug, Default)]
struct Names {
    words: Vec<String>,
    tokens: Vec<Vec<u8>>,
    /// The tokens of all names.
    all: Vec<u8>,
}

impl Question {
    /// The question of a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// This question with words that the scopes know. Whether it asks of the user's life its own words tell: "whats my IBAN".
    #[must_use]
    pub(super) fn repaired(&self, text: &str) -> Self {
        Self { asks_of_own: OnceLock::from(self.asks_of_own()), ..Self::new(text) }
    }

    /// As it was asked.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its terms, as a scope with that key has them.
    #[must_use]
    pub fn terms(&self, key: TermKey) -> Arc<text::Query> {
        let analyzed = || Arc::new(with_analyzer(|analyzer| analyzer.query(&self.text, key)));
        let (known, terms) = self.terms.get_or_init(|| (key, analyzed()));
        if *known == key { Arc::clone(terms) } else { analyzed() }
    }

    /// The hash of a word of it, in small letters, as a scope with that key has it.
    pub(super) fn hash_of(&self, word: &str, key: TermKey) -> Option<u64> {
        let terms = self.terms(key);
        terms.terms.iter().find(|term| term.role == text::Role::Word && term.text == word).map(|term| term.hash)
    }

    /// Its terms, and the key that they have: of the scope that was asked first.
    pub(super) fn known_terms(&self) -> (TermKey, Arc<text::Query>) {
        let key = self.terms.get().map_or_else(TermKey::default, |(key, _)| *key);
        (key, self.terms(key))
    }

    fn cut(&self) -> &Cut {
        self.cut.get_or_init(|| Cut::of(&self.text))
    }

    /// Whether the built-in embedding [knows](crate::embedding::knows) it.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.cut().is_known
    }

    /// Whether the vocabulary of the built-in embedding has a word of it, in small letters, whole.
    #[must_use]
    pub fn is_word(&self, word: &str) -> bool {
        self.cut().has_whole(word).unwrap_or_else(|| has_word(word))
    }

    fn naming(&self) -> &Names {
        self.names.get_or_init(|| {
            let words: Vec<String> = names(&self.text).into_iter().map(str::to_owned).collect();
            let tokens: Vec<Vec<u8>> = words.iter().map(|name| distinct_tokens(name, NAME_TOKENS)).collect();
            Names { words, all: tokens.concat(), tokens }
        })
    }

    /// Whom and what it names: words with a capital letter.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.naming().words
    }

    /// The tokens of each name, as [`distinct_tokens`] has them.
    pub(super) fn name_tokens(&self) -> &[Vec<u8>] {
        &self.naming().tokens
    }

    /// The tokens of all names.
    pub(super) fn all_name_tokens(&self) -> &[u8] {
        &self.naming().all
    }

    /// Its subject, without the persons that it names.
    pub(crate) fn about(&self) -> &Content {
        self.about.get_or_init(|| self.content(self.all_name_tokens()))
    }

    /// Its subject, without these tokens (as [`distinct_tokens`] has them).
    pub(crate) fn content(&self, left_out: &[u8]) -> Content {
        Content::of(self.cut(), left_out)
    }

    /// The vector of what it is [about](Self::about), by the built-in embedding; `None` where that does not know it.
    pub(crate) fn vector(&self) -> Option<&Query> {
        self.vector.get_or_init(|| self.about().vector().map(Query::from_unit)).as_ref()
    }

    /// The vector of all of it, by the built-in embedding; `None` where that does not know it.
    pub(crate) fn whole_vector(&self) -> Option<&Query> {
        self.whole_vector.get_or_init(|| self.content(&[]).vector().filter(UnitVector::has_direction).map(Query::from_unit)).as_ref()
    }

    /// The subject that it asks for where it has no content.
    #[must_use]
    pub fn overview(&self) -> Option<Overview> {
        *self.overview.get_or_init(|| Overview::of(&self.text))
    }

    /// Whether it asks memory nothing: "thanks!", "ok, got it", "yes please, go on".
    #[must_use]
    pub fn asks_nothing(&self) -> bool {
        *self.asks_nothing.get_or_init(|| self.text.trim().is_empty() || goes_on(&self.text))
    }

    /// Whether it asks for something of the user's own life.
    #[must_use]
    pub fn asks_of_own(&self) -> bool {
        *self.asks_of_own.get_or_init(|| asks_of_own(&self.text))
    }

    /// Whether it asks for what was: "where did I live before?".
    pub(super) fn asks_for_past(&self) -> bool {
        *self.asks_for_past.get_or_init(|| asks_for_past(&self.text))
    }

    /// Whether it asks for a time.
    #[must_use]
    pub fn asks_when(&self) -> bool {
        *self.asks_when.get_or_init(|| asks_when(&self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedding::embed_question;

    #[test]
    fn its_parts_are_those_of_its_text() {
        let question = Question::new("When did Caroline visit the museum on Elm Street?");
        assert_eq!(question.names(), ["Caroline", "Elm", "Street"]);
        assert!(question.asks_when() && question.is_known() && question.is_word("museum") && !question.is_word("musuem"));
        for key in [3.into(), 3.into(), 4.into()] {
            assert_eq!(*question.terms(key), with_analyzer(|analyzer| analyzer.query(question.text(), key)), "{key:?}");
        }
        assert_eq!(question.known_terms().0, 3.into(), "the first key stays");
        assert_eq!(question.content(&[]).vector(), Some(embed_question(question.text())));
        assert!(question.whole_vector().is_some());
        assert!(!question.asks_nothing() && Question::new("ok, got it").asks_nothing() && Question::new(" ").asks_nothing());
        for unknown in ["\u{41a}\u{442}\u{43e}?", " "] {
            assert!(Question::new(unknown).vector().is_none() && Question::new(unknown).whole_vector().is_none());
        }
    }
}
