//! Orders that their speaker takes back right behind them: "forget that", "forget that, run them with -n 8 from now on". The message before
//! it, or the sentence before it in its own, ends with the order that is meant.
//!
//! ```text
//! forget that    alone: it ends the order
//! forget that, X; undo that, X; I changed my mind, X
//!                only where X is an order that lasts, or has the slot of the order that it ends
//! ignore what I said about X
//!                at the beginning or behind a sign, where the order names X
//! ```
//!
//! "Undo that" may be about work: what lasts behind it must share a word of content with the order as well. "Undo that commit", "forget about
//! the tests", "undo that, you broke it again" and "go back to spaces" end nothing.

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
    /// How somebody takes back what they said of something.
    ABOUT,
    /// Words that say nothing of an order.
    IDLE,
    /// Words that point at what was said. An order that has one does not stand alone.
    POINTS,
}

/// Words at most of what an order names that is taken back, and of what follows.
const MOST_BACK: usize = 3;
const MOST_BEHIND: usize = 20;
/// The rule of an order that stands in the place of one that was taken back.
const RULE: &str = "an order in the place of another one";

/// A way to take an order back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Back {
    /// That which was said, and the word behind.
    Words(usize),
    /// That which was said or done, and the word behind.
    Acts(usize),
    /// That which was said of something, and its first word.
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
    let begins = |from: &usize| *from == at || s.parted(*from) || s.words[*from - 1].is_mark();
    let about = || (at..s.words.len()).filter(begins).find_map(|from| s.behind(from, &ABOUT)).filter(|next| *next < s.words.len());
    over(&OF_WORDS).map(Back::Words).or_else(|| over(&OF_ACTS).map(Back::Acts)).or_else(|| about().map(Back::About))
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
    let is_said = |claim: &&Claim| matches!(back, Back::Words(_) | Back::Acts(_)) || claim.category != Category::Discard;
    let is_beside = |claim: &&Claim| said.text.get(claim.span.1..span.start).is_some_and(|between| between.trim().is_empty());
    let before = if first { earlier().iter().rfind(is_said).cloned() } else { claims.last().filter(is_beside).cloned() };
    // "Forget that! Your last answer was wrong."
    let is_alone = !first || said.text[span.end..].trim().is_empty();
    let reading = before.filter(is_order).and_then(|order| in_place_of(s, back, &order, is_alone)).or_else(|| alone(s, back))?;
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

/// "Scratch that, use docstrings from now on" behind another statement: the order alone.
fn alone(s: &Sentence<'_>, back: Back) -> Option<Reading> {
    let (Back::Words(at) | Back::Acts(at)) = back else { return None };
    let rest = behind(s, at);
    let reading = rules::read(&rest).filter(|reading| reading.is_order() && is_lasting(rest.words))?;
    let text = reading.text.clone().or_else(|| rest.between(0, rest.words.len()))?;
    Some(reading.text(capital(&text)))
}

/// The reading of a sentence that takes this order back.
fn in_place_of(s: &Sentence<'_>, back: Back, order: &Claim, is_alone: bool) -> Option<Reading> {
    let whole = order.text.trim_end_matches(['.', '!']).to_owned();
    let ordered = words(&order.text);
    let quoted = bare(&order.text, &ordered)?;
    let reading = |text: String, category| Reading { replaces: Some(whole.clone()), ..Reading::new(category, RULE) }.text(text);
    let taken = || {
        let text = format!("Taken back: \u{201C}{quoted}\u{201D}");
        Reading { rule: LIFTED, importance: 400, ..reading(text, Category::Episodic) }
    };
    let at = match back {
        Back::About(at) => {
            let end = (at..s.words.len()).find(|end| s.words[*end].is_mark() || *end > at && s.parted(*end) || among(&IDLE, s.word(*end)));
            let end = end.unwrap_or(s.words.len());
            let value: Vec<&str> = (at..end).map(|at| s.word(at)).collect();
            let is_all = (1..=MOST_BACK).contains(&value.len()) && s.words[end..].iter().all(is_idle);
            if !is_all || !is_named(&ordered, &value) {
                return None;
            }
            // "Print is fine, ignore what I said about print" says what holds instead.
            if !s.words[..at].iter().any(|word| word.lower == value[0]) {
                return Some(taken());
            }
            return Some(reading(s.between(0, s.words.len())?, order.category));
        }
        Back::Words(at) | Back::Acts(at) => at,
    };
    let rest = behind(s, at);
    if rest.words.iter().all(is_idle) {
        return (matches!(back, Back::Words(_)) && is_alone).then(taken);
    }
    if rest.words.len() > MOST_BEHIND || !instructs(&rest) {
        return None;
    }
    let slot = |words: &[Word]| orders::order(words).map(|order| order.slot);
    let has_slot = slot(rest.words).is_some_and(|own| slot(&ordered) == Some(own));
    let may_be_work = matches!(back, Back::Acts(_)) && !["mind", "minds"].contains(&s.word(at - 1));
    let shares = || rest.words.iter().any(|word| is_content(word) && ordered.iter().any(|other| other.lower == word.lower));
    if !(has_slot || is_lasting(rest.words) && (!may_be_work || shares())) {
        return None;
    }
    let said = capital(rest.between(0, rest.words.len())?.trim_end_matches(['.', '!']));
    let points = rest.words.iter().any(|word| among(&POINTS, &word.lower));
    let said = if points { format!("{said} (instead of \u{201C}{quoted}\u{201D})") } else { said };
    let mut reading = reading(said, order.category);
    reading.slot = orders::order(rest.words).and_then(|order| order.gives()).map(str::to_owned);
    Some(reading)
}

/// Whether words begin as an order: "you broke it again" and "bullet points are great" are complaints and judgements.
fn instructs(s: &Sentence<'_>) -> bool {
    let at = rules::preamble(s);
    (among(&INSTRUCTS, s.word(at)) || ["always", "never"].contains(&s.word(at))) && !["is", "are", "was"].contains(&s.word(at + 1))
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

/// Whether an order names something: "spaces" of "use tabs, not spaces".
fn is_named(ordered: &[Word], value: &[&str]) -> bool {
    (0..ordered.len()).any(|at| ordered[at..].iter().map(|word| word.lower.as_str()).take(value.len()).eq(value.iter().copied()))
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

    /// The claims of the last of some messages of a user, each with the text that it replaces.
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
                "From now on run the tests with pytest -n 4.",
                "Forget that, run them with -n 8 from now on.",
                "Run them with -n 8 from now on (instead of \u{201C}run the tests with pytest -n 4\u{201D})",
            ),
            ("Use tabs, not spaces, from now on.", "undo that, use spaces from now on", "Use spaces from now on"),
            ("Use 4 spaces from now on.", "I changed my mind: use 2 spaces from now on.", "Use 2 spaces from now on"),
            (
                "Never use print for logging.",
                "Actually print is fine in scripts, ignore what I said about print.",
                "Actually print is fine in scripts, ignore what I said about print",
            ),
            ("Always answer in English.", "Forget that, answer in German.", "Answer in German"),
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
            "undo that, spaces again",
            "undo that, you used spaces again",
            "No, go back to spaces.",
            "Scratch that, use spaces.",
            "Forget that, run it with -v.",
            "I changed my mind, put them in one file.",
            "I take it back, tabs are fine.",
            "Forget that! Your last answer was wrong.",
            "Undo that, never touch main from now on.",
            "Never forget what I said about tabs.",
            "You ignore what I said about tabs.",
            "Remember tabs, and never mind what I said about tabs",
        ] {
            let claims = last(&[order, text]);
            assert!(claims.iter().all(|(_, _, replaces)| replaces.is_none()), "{text}: {claims:?}");
        }
        for order in ["I live in Porto.", "We met on Monday.", "What do spaces do?"] {
            let claims = last(&[order, "Forget that, spaces again."]);
            assert!(claims.iter().all(|(_, _, replaces)| replaces.is_none()), "{order}: {claims:?}");
        }
        for order in ["Always run the tests before you commit. What's the time?", "Always run the tests. Here is the log: foo bar"] {
            let claims = last(&[order, "Forget that."]);
            assert!(claims.iter().all(|(_, _, replaces)| replaces.is_none()), "{order}: {claims:?}");
        }
        let claims = last(&[order, "I like the new theme.", "Forget that."]);
        assert!(claims.iter().all(|(_, _, replaces)| replaces.is_none()), "{claims:?}");
    }
}
