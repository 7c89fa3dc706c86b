//! Who the user is: "where does Ana live?" is answered by "The user lives in Porto." where Ana is the user whose memory is asked.
//!
//! The user's names are the values of name slots, and the name of the scope. They are looked up only where the question names
//! somebody.

use super::closer::word_of;
use super::contenders::Contender;
use super::whose::speaks_of_own;
use super::words::bare_words;
use super::{LexicalQuery, Question, TermScore};
use crate::Result;
use crate::memory::{record, slots};
use crate::scope::{Scope, ScopeType};
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::text::folded;

/// Slots that hold a name of the user.
const SLOTS: [&str; 4] = ["name", "first name", "full name", "nickname"];

/// Which names of a question are the user's own, in each scope that is asked.
#[derive(Debug, Default)]
pub(super) struct Own(Vec<Vec<String>>);

impl Own {
    /// The names of a question that are the user's own, scope by scope; `partitions` are those of the scopes.
    pub fn of<P: Pages>(pages: &P, scopes: &[Scope], partitions: &[Option<Partition>], names: &[String]) -> Result<Self> {
        if names.is_empty() {
            return Ok(Self::default());
        }
        let of_scope = |(scope, partition): (&Scope, &Option<Partition>)| match partition {
            Some(partition) if scope.scope_type == ScopeType::User => known(pages, scope, *partition, names),
            _ => Ok(Vec::new()),
        };
        scopes.iter().zip(partitions).map(of_scope).collect::<Result<_>>().map(Self)
    }

    /// Whether a name is the user's in any scope.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().flatten().any(|own| own.eq_ignore_ascii_case(name))
    }

    /// The share of a hit's words that are not a name of the user's: a memory that speaks of the user has these names implicitly.
    pub fn share_beside(&self, hit: &Contender<'_>, queries: &[LexicalQuery]) -> f64 {
        let names = self.0.get(hit.scope).filter(|names| !names.is_empty());
        let Some((names, query)) = names.zip(queries.get(hit.scope)) else { return 1.0 };
        let is_name = |term: &TermScore| names.iter().any(|name| folded(name).starts_with(&term.text));
        let (own, others): (Vec<TermScore>, Vec<TermScore>) = query.terms_of(hit.memory.text).into_iter().partition(is_name);
        let sum = |terms: &[TermScore]| terms.iter().map(|term| term.score).sum::<i64>() as f64;
        if own.is_empty() { 1.0 } else { sum(&others) / (sum(&own) + sum(&others)) }
    }

    /// How many of the names a text of a scope has by speaking of the user.
    pub fn in_text(&self, scope: usize, text: &str) -> usize {
        let names = self.0.get(scope).map_or(0, Vec::len);
        if names > 0 && speaks_of_own(bare_words(text)) { names } else { 0 }
    }
}

/// The question as the user asks it, where it names the user: "Where do I live?" of "Where does Ana live?". Every message has a
/// speaker, but no message says who the user is.
pub(crate) fn asked_by_the_user<P: Pages>(pages: &P, scope: &Scope, partition: Partition, question: &Question) -> Result<Option<Question>> {
    if scope.scope_type != ScopeType::User || question.names().is_empty() {
        return Ok(None);
    }
    let names = known(pages, scope, partition, question.names())?;
    Ok((!names.is_empty()).then(|| Question::new(&in_first_person(question.text(), &names))))
}

fn in_first_person(question: &str, names: &[String]) -> String {
    let of = |chunk: &str| {
        let (whole, word) = word_of(chunk);
        let is_own = names.iter().any(|name| name.eq_ignore_ascii_case(word));
        if is_own { chunk.replace(whole, if whole == word { "I" } else { "my" }) } else { chunk.to_owned() }
    };
    question.split_whitespace().map(of).collect::<Vec<_>>().join(" ")
}

/// The names of a question that are the user's.
fn known<P: Pages>(pages: &P, scope: &Scope, partition: Partition, names: &[String]) -> Result<Vec<String>> {
    let (mut texts, seed) = (Vec::new(), scope.seed(pages.secret()));
    for slot in slots::of_names(pages, partition, seed, &SLOTS)? {
        for number in slot.current {
            texts.extend(record::current(pages, partition, number)?.map(|memory| memory.text));
        }
    }
    let has = |text: &String, name: &str| text.split(|letter: char| !letter.is_alphanumeric()).any(|word| word.eq_ignore_ascii_case(name));
    let is_own = |name: &&String| scope.id.eq_ignore_ascii_case(name) || texts.iter().any(|text| has(text, name));
    Ok(names.iter().filter(is_own).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_asks_in_the_first_person() {
        let names = ["Ana".to_owned()];
        assert_eq!(in_first_person("where does Ana live?", &names), "where does I live?");
        assert_eq!(in_first_person("What is Ana's employer, Anabel?", &names), "What is my employer, Anabel?");
        for question in ["Ana's home?", "is (Ana) there", "of \"Ana\u{2019}s\" dog, Ana's, ana.", "Ana/Bob and Ana-Maria"] {
            let named = |question: &str| Question::new(question).names().iter().any(|name| names.contains(name));
            assert!(!named(&in_first_person(question, &names)), "nobody is named by what is asked again: {question}");
        }
    }
}
