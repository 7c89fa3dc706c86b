//! Orders that their speaker takes back right behind them: "undo that, spaces again", "no, go back to spaces", "forget that, run them with
//! -n 8". The message before it, or the sentence before it in its own, ends with the order that is meant.
//!
//! ```text
//! forget that    of words: it ends the order, and what follows stands in its place
//! undo that      of acts as well: only where what follows speaks of the order ("spaces again")
//! go back to X   only where the order denies X ("tabs, not spaces")
//! ignore what I said about X   anywhere in the sentence, where the order names X
//! ```
//!
//! What follows speaks of the order where it shares a word of content with it, or is an order of its own that points at what was said.
//! "Undo that commit", "forget about the tests" and "go back to the previous file" end nothing.

use super::compose::claimed;
use super::constraint::INSTRUCTS;
use super::guards::{self, Guard, is_lasting};
use super::lexicon::FILLERS;
use super::lists::lists;
use super::reading::Reading;
use super::rules::{self, capital};
use super::sentence::Sentence;
use super::signs::has_colon;
use super::words::{Span, Word, among, starts, within, words};
use super::{Category, Claim, Earlier, LIFTED, Utterance, orders};

lists! { "taken_back":
    /// Words before what takes back.
    BEFORE,
    /// How somebody takes back what they said.
    OF_WORDS,
    /// How somebody takes back what was said or done.
    OF_ACTS,
    /// How somebody goes back to what was before.
    BACK_TO,
    /// How somebody takes back what they said of something.
    ABOUT,
    /// Words that say nothing of an order.
    IDLE,
    /// Words that point at what was said.
    POINTS,
}

/// Words of what somebody goes back to at most, and of what follows.
const MOST_BACK: usize = 3;
const MOST_BEHIND: usize = 20;
/// Words that deny what is behind them in an order.
const DENIES: [&str; 11] = ["not", "never", "no", "don't", "without", "over", "of", "avoid", "stop", "than", "from"];
/// The rule of an order that stands in the place of one that was taken back.
const RULE: &str = "an order in the place of another one";

/// What takes an order back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Back {
    /// What was said, and the word behind.
    Words(usize),
    /// What was said or done, and the word behind.
    Acts(usize),
    /// What was before, and its first word.
    To(usize),
    /// What was said of something, and its first word.
    About(usize),
}

/// Whether a sentence may take an order back.
pub(super) fn opens(s: &Sentence<'_>) -> bool {
    opening(s).is_some()
}

/// The first word that does not merely stand before what takes back.
fn begin(s: &Sentence<'_>) -> usize {
    let mut at = 0;
    while let Some(next) = BEFORE.iter().find_map(|before| starts(s.words, at, before)) {
        at = next;
    }
    at
}

fn opening(s: &Sentence<'_>) -> Option<Back> {
    let at = begin(s);
    // "Undo that commit" speaks of a commit.
    let is_over =
        |next: usize| next >= s.words.len() || s.parted(next) || has_colon(s.text, s.words[next - 1].end) || s.word(next) == "and";
    let over = |phrases: &[&str]| s.behind(at, phrases).filter(|next| is_over(*next) || s.words[*next].is_mark());
    over(&OF_WORDS)
        .map(Back::Words)
        .or_else(|| over(&OF_ACTS).map(Back::Acts))
        .or_else(|| s.behind(at, &BACK_TO).filter(|next| *next < s.words.len()).map(Back::To))
        .or_else(|| (0..s.words.len()).find_map(|at| s.behind(at, &ABOUT)).filter(|next| *next < s.words.len()).map(Back::About))
}

/// The claim of a sentence that takes back the order before it; `first` says whether it is the first of its message.
pub(super) fn taken_back(
    said: &Utterance<'_>,
    (span, first): (Span, bool),
    own: &[Word],
    claims: &[Claim],
    earlier: Earlier<'_>,
) -> Option<Claim> {
    let (text, own) = (&said.text[span.start..span.end], within(own, span));
    let s = &Sentence { text: said.text, words: own };
    let back = opening(s)?;
    if text.ends_with('?') || guards::of_sentence(said.text, span, own) != Guard::Open {
        return None;
    }
    let is_said = |claim: &&Claim| claim.category != Category::Discard;
    let is_beside = |claim: &&Claim| said.text.get(claim.span.1..span.start).is_some_and(|between| between.trim().is_empty());
    let before = if first { earlier().iter().rfind(is_said).cloned() } else { claims.last().filter(is_beside).cloned() };
    let order = before.filter(is_order);
    let reading = match order {
        Some(order) => in_place_of(s, back, &order),
        None => alone(s, back),
    }?;
    let doubt = (reading.rule == LIFTED).then_some(LIFTED);
    Some(claimed(said, span, own, reading, doubt))
}

/// Whether a claim orders what to do each time.
fn is_order(claim: &Claim) -> bool {
    let rules = ["rule: rule", "rule: how to answer"];
    claim.doubt.is_none() && (rules.contains(&&*claim.reason) || claim.reason.strip_prefix("rule: ") == Some(RULE))
}

/// The words behind an opening, without those that join them to it.
fn behind<'a>(s: &Sentence<'a>, mut at: usize) -> Sentence<'a> {
    while s.words.get(at).is_some_and(|word| word.is_mark() || ["and", "please", "just"].contains(&word.lower.as_str())) {
        at += 1;
    }
    Sentence { text: s.text, words: &s.words[at..] }
}

/// "Scratch that, use docstrings from now on" behind what is no order: the order alone.
fn alone(s: &Sentence<'_>, back: Back) -> Option<Reading> {
    let (Back::Words(at) | Back::Acts(at)) = back else { return None };
    let rest = behind(s, at);
    let reading = rules::read(&rest).filter(|reading| reading.is_order() && is_lasting(rest.words))?;
    let text = reading.text.clone().or_else(|| rest.between(0, rest.words.len()))?;
    Some(reading.text(capital(&text)))
}

/// The reading of a sentence that takes this order back.
fn in_place_of(s: &Sentence<'_>, back: Back, order: &Claim) -> Option<Reading> {
    let whole = order.text.trim_end_matches(['.', '!']).to_owned();
    let ordered = words(&order.text);
    let quoted = bare(&order.text, &ordered)?;
    let reading = |text: String, category| Reading { replaces: Some(whole.clone()), ..Reading::new(category, RULE) }.text(text);
    let in_place = |text: &str| format!("{} (instead of \u{201C}{quoted}\u{201D})", capital(text.trim_end_matches(['.', '!'])));
    let taken = || {
        let text = format!("Taken back: \u{201C}{quoted}\u{201D}");
        Reading { rule: LIFTED, importance: 400, ..reading(text, Category::Episodic) }
    };
    let at = match back {
        Back::To(at) | Back::About(at) => {
            let end = (at..s.words.len()).find(|end| s.words[*end].is_mark() || *end > at && s.parted(*end) || among(&IDLE, s.word(*end)));
            let end = end.unwrap_or(s.words.len());
            let value: Vec<&str> = (at..end).map(|at| s.word(at)).collect();
            let is_all = (1..=MOST_BACK).contains(&value.len()) && s.words[end..].iter().all(is_idle);
            let is_to = matches!(back, Back::To(_));
            if !is_all || !is_named(&ordered, &value, is_to) {
                return None;
            }
            // "Print is fine, ignore what I said about print" says what holds instead.
            if !is_to && !s.words[..at].iter().any(|word| word.lower == value[0]) {
                return Some(taken());
            }
            let text = if is_to { in_place(&format!("back to {}", s.between(at, end)?)) } else { s.between(0, s.words.len())? };
            return Some(reading(text, order.category));
        }
        Back::Words(at) | Back::Acts(at) => at,
    };
    let rest = behind(s, at);
    if rest.words.iter().all(is_idle) {
        return matches!(back, Back::Words(_)).then(taken);
    }
    let begins = among(&INSTRUCTS, rest.word(0)) || ["always", "never"].contains(&rest.word(0));
    let points = rest.words.iter().any(|word| among(&POINTS, &word.lower));
    let own = rules::read(&rest).filter(Reading::is_order);
    let speaks_of_it = rest.words.iter().any(|word| is_content(word) && ordered.iter().any(|other| other.lower == word.lower));
    let slot = |words: &[Word]| orders::order(words).map(|order| order.slot);
    let speaks_of_it = speaks_of_it || slot(rest.words).is_some_and(|own| slot(&ordered) == Some(own));
    // "Undo that, and write tests for the parser first" asks for work.
    let is_work = matches!(back, Back::Acts(_)) && !["mind", "minds"].contains(&s.word(at - 1));
    let lasts = || is_lasting(rest.words) || rest.words.iter().any(|word| ["again", "instead"].contains(&word.lower.as_str()));
    let is_told = is_work && !lasts()
        || ["i", "i'm", "i've", "we", "he", "she", "they", "the", "it", "it's", "what", "why", "how"].contains(&rest.word(0));
    if rest.words.len() > MOST_BEHIND || is_told || !(speaks_of_it || begins && points) {
        return None;
    }
    let said = rest.between(0, rest.words.len())?;
    let stands = (begins || own.is_some()) && !points;
    let mut reading = reading(if stands { capital(&said) } else { in_place(&said) }, order.category);
    reading.slot = orders::order(rest.words).and_then(|order| order.gives()).map(str::to_owned);
    Some(reading)
}

/// An order without the words that say that it lasts: "use tabs, not spaces" of "From now on use tabs, not spaces."
fn bare(text: &str, own: &[Word]) -> Option<String> {
    const LAST: [&str; 5] = ["from now on", "going forward", "from here on", "in future", "please"];
    let s = Sentence { text, words: own };
    let first = rules::preamble(&s);
    let mut end = own.iter().rposition(|word| !word.is_mark())? + 1;
    while let Some(last) = (first + 1..end).find(|at| LAST.iter().any(|phrase| starts(own, *at, phrase) == Some(end))) {
        end = last;
    }
    s.between(first, end).map(|text| text.trim_end_matches([',', ';', '.', '!']).to_owned())
}

/// Whether an order names something, or denies it: "spaces" of "use tabs, not spaces".
fn is_named(ordered: &[Word], value: &[&str], denied: bool) -> bool {
    let is_it = |at: usize| ordered[at..].iter().map(|word| word.lower.as_str()).take(value.len()).eq(value.iter().copied());
    let is_denied = |at: usize| ordered[at.saturating_sub(3)..at].iter().any(|word| among(&DENIES, &word.lower));
    (0..ordered.len()).any(|at| is_it(at) && (!denied || is_denied(at)))
}

fn is_content(word: &Word) -> bool {
    !word.is_mark() && word.lower.len() > 2 && ![&FILLERS[..], &INSTRUCTS, &IDLE].iter().any(|list| among(list, &word.lower))
}

fn is_idle(word: &Word) -> bool {
    word.is_mark() || among(&IDLE, &word.lower)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Heard, Speaker, judge_among};

    /// What the last of some messages of a user claims, with what it replaces.
    fn last(messages: &[&str]) -> Vec<(String, Category, Option<String>)> {
        let heard = |(at, text): (usize, &&str)| Heard {
            index: at as u64,
            speaker: Speaker::User,
            by: None,
            text: (*text).to_owned(),
            at: None,
            added_at: None,
            origin: None,
        };
        let heard: Vec<Heard> = messages.iter().enumerate().map(heard).collect();
        let claims = judge_among(&heard, heard.len() - 1, 0);
        claims
            .into_iter()
            .filter(|claim| claim.category != Category::Discard)
            .map(|claim| (claim.text, claim.category, claim.replaces))
            .collect()
    }

    #[test]
    fn an_order_is_taken_back_right_behind_it() {
        for (order, back, text) in [
            (
                "Use tabs, not spaces, from now on.",
                "undo that, spaces again",
                "Spaces again (instead of \u{201C}Use tabs, not spaces\u{201D})",
            ),
            (
                "use tabs not spaces from now on in Go files",
                "No, go back to spaces.",
                "Back to spaces (instead of \u{201C}use tabs not spaces from now on in Go files\u{201D})",
            ),
            (
                "From now on run the tests with pytest -n 4.",
                "Forget that, run them with -n 8.",
                "Run them with -n 8 (instead of \u{201C}run the tests with pytest -n 4\u{201D})",
            ),
            ("Use 4 spaces from now on.", "I changed my mind: use 2 spaces from now on.", "Use 2 spaces from now on"),
            (
                "Never use print for logging.",
                "Actually print is fine in scripts, ignore what I said about print.",
                "Actually print is fine in scripts, ignore what I said about print",
            ),
            ("Always answer in English.", "Forget that, answer in German.", "Answer in German"),
            ("Never use mocks in tests.", "Scratch that, use mocks in tests again.", "Use mocks in tests again"),
        ] {
            let claims = last(&[order, back]);
            let [(said, category, replaces)] = &claims[..] else { panic!("{back}: {claims:?}") };
            assert_eq!((said.trim_end_matches('.'), *category), (text, Category::Constraint), "{back}");
            assert_eq!(replaces.as_deref(), Some(order.trim_end_matches('.')), "{back}");
        }
        for back in ["Actually, forget that.", "Forget what I said about tabs."] {
            let claims = last(&["Use tabs from now on.", back]);
            let [(said, category, replaces)] = &claims[..] else { panic!("{claims:?}") };
            assert_eq!((said.as_str(), *category), ("Taken back: \u{201C}Use tabs\u{201D}", Category::Episodic));
            assert_eq!(replaces.as_deref(), Some("Use tabs from now on"));
        }
    }

    #[test]
    fn what_speaks_of_something_else_takes_no_order_back() {
        let order = "Use tabs, not spaces, from now on.";
        for text in [
            "Undo that commit.",
            "Undo that.",
            "undo that please",
            "Forget about the tests for now.",
            "Forget that I live in Porto.",
            "Go back to the previous file.",
            "Go back to tabs.",
            "Let's go back to the login page.",
            "Revert that, the build is red.",
            "Never mind that, I found the bug.",
            "Forget that, show me the diff.",
            "Ignore that warning.",
            "Forget that?",
            "Cancel that, the deploy is red",
            "Back to work!",
            "Undo that, and use tabs in the parser first",
            "Undo that, and move the spaces to the end",
            "Ignore what I said about the invoice.",
            "I changed my mind, deploy to staging first.",
        ] {
            let claims = last(&[order, text]);
            assert!(claims.iter().all(|(_, _, replaces)| replaces.is_none()), "{text}: {claims:?}");
        }
        for order in ["I live in Porto.", "We met on Monday.", "What do spaces do?"] {
            let claims = last(&[order, "Forget that, spaces again."]);
            assert!(claims.iter().all(|(_, _, replaces)| replaces.is_none()), "{order}: {claims:?}");
        }
        let claims = last(&[order, "I like the new theme.", "Forget that."]);
        assert!(claims.iter().all(|(_, _, replaces)| replaces.is_none()), "{claims:?}");
    }
}
