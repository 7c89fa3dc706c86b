//! How sure an answer is: of the first hit alone, and of what stands beside it.
//!
//! ```text
//! sure        the mean of how close the first hit is to the question and of its cosine; where there was no closer look the share of the
//!             question's words (by rarity) that it has, in the place of closeness, and that alone without vectors. What a relation or
//!             the name of its slot leads to is as sure as that says. What is of the time that the question names has no need to say so:
//!             of that the time's words are left out of the question (`closer.rs`). What names whom the question names has a floor
//! margin      how far its relevance is above that of the tenth: an answer stands out of what is merely about the same. Those that have as
//!             much of the question as the first are further answers ("My daughter is allergic to nuts", "... to milk"), and no place counts
//! named       how much closer those memories come that are about somebody whom the question names than those about others: "Bob" is not
//!             "Anna". "Dinner with Anna" is of nobody else, and "Bob: I met Anna" is Bob's
//! confidence  the odds of `sure`, moved by both
//! ```
//!
//! A first hit that lacks an identifier of the question is about another invoice or host, and half as sure; that it stands out says nothing.
//! So is one that tells of station B where station D was asked for (`designated.rs`), and one where the question has names and no hit has any
//! of them.
//!
//! The answer to a question without content ([`super::Overview`]) has a set confidence: it was chosen by when it was, or by what it is.
//!
//! The weights are fitted (`recall/ranking.rs`). Where there are fewer than ten hits, or no closer look, or nobody is named, nothing is moved.

use super::Question;
use super::contenders::Contender;
use super::explain::LexicalQuery;
use super::fusion::Parts;
use super::ranking::memories::sure::{ASKED_FOR_NAMES, BARE, EQUAL_CLOSENESS, EQUAL_WORDS, TENTH};
use super::ranking::memories::{ABOUT_NAMED, Features, MARGIN, NAMED, OF_ANOTHER, OVERVIEW, USUAL_MARGIN};
use super::whose::persons;
use super::words::{Words, bare, bare_words, without_s};
use crate::text::is_filler;

/// Bytes of the shortest such name.
const SHORTEST_NAME: usize = 3;
/// Ends of a sentence, behind which every word has a capital.
const ENDS: [char; 4] = ['.', '!', '?', ':'];
/// Words of the longest name of a speaker.
const SPEAKER: usize = 3;

/// The evidence beside the first hit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Beside {
    /// By how much the margin is above the usual one.
    pub margin: f64,
    /// By how much those with a name of the question come closer.
    pub named: f64,
    /// Whether the question has names and no hit has one of them: "when do I fly to Rome?" and "I fly to Lisbon on June 4".
    pub unnamed: bool,
}

impl Beside {
    /// Of the hits of a closer look, in order.
    pub(super) fn of(hits: &[Contender<'_>], question: &Question) -> Self {
        let margin = hits.first().zip(tenth(hits, question)).map_or(0.0, |(first, tenth)| {
            let relevance = |hit: &Contender<'_>| hit.parts.relevance();
            relevance(first) - relevance(tenth) - USUAL_MARGIN
        });
        if question.names().is_empty() {
            return Self { margin, named: closer_by_small_names(hits, question), unnamed: false };
        }
        let has_name = |hit: &Contender<'_>| hit.parts.closer.is_none_or(|(features, _)| features.name > 0.0);
        let unnamed = !hits.is_empty() && !hits.iter().any(has_name);
        Self { margin, named: closer_by_name(hits), unnamed }
    }

    /// From 0 to 1: how sure an answer is, from what was asked of the scope of its first hit, and the text and the parts of that.
    #[must_use]
    pub fn confidence(&self, query: Option<&LexicalQuery>, text: &str, parts: &Parts) -> f64 {
        let sure = nearness(query, text, parts);
        let is_other = self.unnamed && parts.related <= 0.0 || lacks_identifier(query, text, parts);
        if is_other { sure * OF_ANOTHER } else { self.moved(sure).max(least_sure(text, parts)) }
    }

    fn moved(&self, sure: f64) -> f64 {
        moved_odds(sure, MARGIN * self.margin + NAMED * self.named)
    }
}

/// A confidence whose odds are moved by so much, in logarithms.
pub(crate) fn moved_odds(sure: f64, by: f64) -> f64 {
    let moved = libm::exp(by);
    (sure * moved / (sure * moved + 1.0 - sure).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
}

/// The tenth of an answer, further answers left out. There are none where the first is not about everybody whom the question names.
fn tenth<'h, 'm>(hits: &'h [Contender<'m>], question: &Question) -> Option<&'h Contender<'m>> {
    let (first, tenth) = (hits.first()?, hits.get(TENTH)?);
    let features = |hit: &Contender<'_>| hit.parts.closer.map(|(features, _)| features);
    let is_further = |hit: &Contender<'_>| {
        features(first).zip(features(hit)).is_some_and(|(first, one)| {
            (one.words - first.words).abs() <= EQUAL_WORDS && (one.closeness - first.closeness).abs() <= EQUAL_CLOSENESS
        })
    };
    // Mostly there is none among them, and no text is cut into words.
    if !hits[1..=TENTH].iter().any(is_further) || !is_about_all(first, question) {
        return Some(tenth);
    }
    hits[1..].iter().filter(|hit| !is_further(hit)).nth(TENTH - 1)
}

/// Whether a hit has every name of the question, and everybody whom that mentions as "my son" or the like.
fn is_about_all(hit: &Contender<'_>, question: &Question) -> bool {
    let has_names = || question.names().is_empty() || hit.parts.closer.is_some_and(|(features, _)| features.name >= 1.0);
    let (own, asked) = (Words::of(hit.memory.text), Words::of(question.text()));
    has_names() && persons(&asked).all(|asked| persons(&own).any(|own| own == asked))
}

/// Whether a text is what somebody said, by their name in front: "Anna: I moved."
pub(super) fn is_of_speaker(text: &str) -> bool {
    let speaker = text.split_once(':').map(|(speaker, _)| speaker).filter(|speaker| speaker.starts_with(char::is_uppercase));
    speaker.is_some_and(|speaker| speaker.split_whitespace().nth(SPEAKER).is_none())
}

/// How much closer to the question those come that begin with a name of it, or, where none does, that have one; 0 where none has. One that
/// has a name further on ("Dinner with Anna is on Friday") is of nobody else, and stands on neither side.
fn closer_by_name(hits: &[Contender<'_>]) -> f64 {
    // A bare value, such as that of a slot, tells of nobody.
    let tells = |(text, _): &(&str, &Features)| text.split_whitespace().nth(BARE).is_some();
    let features = hits.iter().filter_map(|hit| hit.parts.closer.as_ref().map(|(features, _)| (hit.memory.text, features)));
    let telling: Vec<(&str, &Features)> = features.filter(tells).collect();
    let by = |is: fn(&Features) -> bool| {
        let is_of_others = |text: &str, one: &Features| !is(one) && (one.name <= 0.0 || is_of_speaker(text));
        let named = telling.iter().filter(|(_, one)| is(one)).map(|(_, one)| one.closeness).reduce(f64::max);
        let others = telling.iter().filter(|(text, one)| is_of_others(text, one)).map(|(_, one)| one.closeness).fold(0.0, f64::max);
        named.map(|named| named - others)
    };
    by(|one| one.subject > 0.0).or_else(|| by(|one| one.name > 0.0)).unwrap_or(0.0)
}

/// The same of a question that is written in small letters, such as "what is abe allergic to?", 0 at most: that a word is a name is likely
/// enough to doubt an answer, and not to trust it.
fn closer_by_small_names(hits: &[Contender<'_>], question: &Question) -> f64 {
    let (hits, text) = (&hits[..hits.len().min(ASKED_FOR_NAMES)], question.text());
    if !text.starts_with(char::is_lowercase) || text.contains(|letter: char| letter.is_uppercase() && letter != 'I') {
        return 0.0;
    }
    let is_small = |word: &&str| word.len() >= SHORTEST_NAME && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let may_be = |word: &&str| is_small(word) && !is_filler(word.as_bytes());
    let names: Vec<&str> = bare_words(text).map(without_s).filter(may_be).filter(|word| is_name_in(hits, word)).collect();
    if names.is_empty() {
        return 0.0; // as mostly
    }
    let has = |word: &str| names.iter().any(|name| word.eq_ignore_ascii_case(name));
    let has_name = |hit: &&Contender<'_>| bare_words(hit.memory.text).map(without_s).any(has);
    let closeness = |hit: &Contender<'_>| hit.parts.closer.map(|(features, _)| features.closeness);
    let (of_name, of_others): (Vec<_>, Vec<_>) = hits.iter().partition(has_name);
    let best = |hits: &[&Contender<'_>]| hits.iter().copied().filter_map(closeness).reduce(f64::max);
    // One that names nobody is of whom the other is of: "I drive a Ford", "the car needs new tyres".
    let of_others: Vec<_> = of_others.into_iter().filter(|hit| !super::closer::names(hit.memory.text).is_empty()).collect();
    best(&of_name).zip(best(&of_others)).map_or(0.0, |(named, other)| named - other).min(0.0)
}

/// Whether hits have a word with a capital letter where others have none, within a sentence or before "'s", and never without.
fn is_name_in(hits: &[Contender<'_>], word: &str) -> bool {
    let mut is_name = false;
    for hit in hits {
        let mut begins = true;
        for marked in hit.memory.text.split_whitespace() {
            let whole = bare(marked);
            let owner = without_s(whole);
            if owner.eq_ignore_ascii_case(word) {
                if owner.starts_with(|letter: char| letter.is_ascii_lowercase()) {
                    return false;
                }
                is_name |= !begins || owner.len() < whole.len();
            }
            begins = marked.ends_with(ENDS);
        }
    }
    is_name
}

/// Whether the question has an identifier that a hit lacks.
fn lacks_identifier(query: Option<&LexicalQuery>, text: &str, parts: &Parts) -> bool {
    !parts.identified && query.is_some_and(|query| query.lacks_identifier(text))
}

/// From 0 to 1: how sure a first hit alone is, from what was asked of its scope, its text and the parts of its score.
#[must_use]
pub fn confidence(query: Option<&LexicalQuery>, text: &str, parts: &Parts) -> f64 {
    let sure = nearness(query, text, parts);
    if lacks_identifier(query, text, parts) { sure * OF_ANOTHER } else { sure }
}

/// The same, whatever identifiers it lacks.
fn nearness(query: Option<&LexicalQuery>, text: &str, parts: &Parts) -> f64 {
    if parts.overview.is_some() {
        return OVERVIEW;
    }
    let by_words = || query.map_or(0.0, |query| query.coverage(text));
    let close = || parts.closer.map_or_else(by_words, |(features, _)| features.closeness);
    let near = parts.cosine().map_or_else(close, |cosine| f64::midpoint(close(), cosine.max(0.0)));
    near.max(parts.related).max(parts.then).max(least_sure(text, parts)).clamp(0.0, 1.0)
}

/// How sure a memory is at least that names whom the question names: "Anna is allergic to nuts" matters to "I'm having dinner with Anna,
/// what should I cook?", which asks nothing of her. So is an event of the few days that the question names. A line of talk, with its speaker
/// in front, has no such floor.
pub(crate) fn least_sure(text: &str, parts: &Parts) -> f64 {
    let is_named = parts.closer.is_some_and(|(features, _)| features.name > 0.0);
    if (is_named || parts.prior.is_of_days()) && !is_of_speaker(text) { ABOUT_NAMED } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_out_and_who_is_named_move_the_odds() {
        let plain = Beside::default();
        assert!((plain.moved(0.4) - 0.4).abs() < 1e-12);
        assert!(Beside { margin: 0.1, ..plain }.moved(0.4) > 0.4 && Beside { named: -0.5, ..plain }.moved(0.4) < 0.4);
        assert!(plain.moved(0.0).abs() < 1e-12 && (Beside { margin: -1.0, named: -1.0, unnamed: false }.moved(1.0) - 1.0).abs() < 1e-12);
        assert_eq!(Beside::of(&[], &Question::new("Where does Anna live?")), plain);
    }

    #[test]
    fn a_speaker_stands_in_front_of_a_colon() {
        assert!(is_of_speaker("Bob: I met Anna") && is_of_speaker("Anna Maria Roe: hello"));
        assert!(
            !is_of_speaker("Dinner with Anna is at 8")
                && !is_of_speaker("note: call Anna")
                && !is_of_speaker("The plan for the week: rest")
        );
    }
}
