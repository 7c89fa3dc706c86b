//! Frames: "in my novel, my name is Zed", "for the test account, ...". A sentence in one is true in a tale or
//! for a trial, and not of the user: it is kept whole, without a slot, and stands in no prompt by itself.

use super::Category;
use super::clauses::MOST_CLAUSES;
use super::lists::lists;
use super::reading::Reading;
use super::rules;
use super::sentence::Sentence;
use super::words::{among, starts};
use crate::units::calendar::is_named;

lists! { "frames":
    /// Works and worlds that are made up.
    FICTION,
    /// Things that are done or made up to try something.
    TRIALS,
    /// Words that say of what follows that it is made up: "the test account".
    MADE_UP,
    /// Words behind the noun of a frame that do not belong to its name. "The game industry" is not a game.
    BEHIND,
    /// Texts for which one makes somebody up: "for this story".
    WRITTEN,
    /// Talks that go on just now: "in this chat".
    HERE,
    /// Times that come again, and where one is at times: "on weekends", "at work".
    AT_TIMES,
}

/// Prepositions before a tale.
const IN: [&str; 5] = ["in", "inside", "within", "throughout", "on"];
/// Prepositions before a trial.
const FOR: [&str; 6] = ["in", "within", "for", "on", "during", "with"];
/// Somebody who is played.
const PLAYED: [&str; 4] = ["character", "persona", "avatar", "alter ego"];
/// Words before the noun of a frame.
const OWNERS: [&str; 12] = ["the", "my", "our", "this", "that", "a", "an", "his", "her", "your", "their", "one"];
/// Words between those and the noun at most: "the short fantasy novel".
const MOST_BETWEEN: usize = 3;

/// The frame of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    /// Whether it is a tale; else it is a trial.
    fiction: bool,
    /// Behind its last word, where the frame stands before what is said.
    leads: Option<usize>,
}

impl Frame {
    /// Whether it stands before what is said, so that all of the sentence is in it.
    pub(super) fn leads(self) -> bool {
        self.leads.is_some()
    }
}

/// The frame of a sentence, before what it says or behind it.
pub(super) fn frame(s: &Sentence<'_>) -> Option<Frame> {
    let begin = rules::preamble(s);
    if let Some((fiction, end)) = opened(s, begin) {
        return Some(Frame { fiction, leads: Some(end) });
    }
    if let Some(end) = elsewhere(s, begin) {
        return Some(Frame { fiction: false, leads: Some(end) });
    }
    let last = s.words.iter().rposition(|word| !word.is_mark())? + 1;
    let closes = |at: usize| opened(s, at).filter(|(_, end)| *end == last && !["a", "an"].contains(&s.word(at + 1)));
    (begin + 3..last).find_map(closes).map(|(fiction, _)| Frame { fiction, leads: None })
}

/// Whether a frame begins at a word: if it is a tale, and where its noun is over.
fn opened(s: &Sentence<'_>, at: usize) -> Option<(bool, usize)> {
    let preposition = s.word(at);
    let owner = s.word(at + 1);
    if !(among(&OWNERS, owner) || owner.ends_with("'s")) || !(among(&IN, preposition) || among(&FOR, preposition) || preposition == "as") {
        return None;
    }
    let is_over = |end: &usize| *end >= s.words.len() || s.parted(*end) || s.words[*end].capital || among(&BEHIND, s.word(*end));
    let noun = |place: usize, nouns: &[&str]| nouns.iter().filter_map(|noun| starts(s.words, place, noun)).find(is_over);
    if among(&FOR, preposition) && among(&MADE_UP, s.word(at + 2)) {
        let end = (at + 3..s.words.len()).take(MOST_BETWEEN + 1).find(is_over).unwrap_or(s.words.len());
        return Some((false, end));
    }
    let pointed = ["this", "my", "our"].contains(&owner);
    for place in at + 2..=at + 2 + MOST_BETWEEN {
        if owner == "this"
            && let Some(end) = noun(place, &HERE)
        {
            return Some((false, end));
        }
        if preposition == "for"
            && pointed
            && let Some(end) = noun(place, &WRITTEN)
        {
            return Some((true, end));
        }
        if preposition == "as" {
            return noun(place, &PLAYED).map(|end| (true, end));
        }
        if among(&IN, preposition)
            && let Some(end) = noun(place, &FICTION)
        {
            return Some((true, end));
        }
        if among(&FOR, preposition)
            && let Some(end) = noun(place, &TRIALS)
        {
            return Some((false, end));
        }
        if place < s.words.len() && s.parted(place) {
            return None;
        }
    }
    None
}

/// Where a place or a time is over that stands before what somebody is called, or where they live or work, and within which alone it is so:
/// "In Skyrim, | I live in Whiterun", "On weekends, | I live in Lyon". A date says since when: "in May, I moved to Ghent".
fn elsewhere(s: &Sentence<'_>, at: usize) -> Option<usize> {
    if !["in", "on", "at", "during", "inside", "within"].contains(&s.word(at)) {
        return None;
    }
    let first = at + 1 + usize::from(["the", "my", "our", "a"].contains(&s.word(at + 1)));
    let end = (first + 1..s.words.len().min(first + 1 + MOST_BETWEEN)).find(|end| s.parted(*end))?;
    let is_one = s.words[first].capital && !is_named(s.word(first)) || among(&AT_TIMES, s.word(first));
    let reading = rules::read(&Sentence { text: s.text, words: &s.words[end..] })?;
    let personal = reading.slot.as_deref().is_some_and(|slot| ["home", "employer", "occupation", "name"].contains(&slot));
    let began = ["moved", "joined", "started", "relocated", "got"]
        .iter()
        .any(|verb| (end..s.words.len().min(end + 4)).any(|at| s.word(at) == *verb));
    (personal && is_one && !began).then_some(end)
}

/// The reading of what is said in a frame. Where the frame is a trial, an order for it stays one.
pub(super) fn read(frame: Frame, s: &Sentence<'_>) -> Option<Reading> {
    let Some(end) = frame.leads else {
        return rules::read(s).map(|reading| if is_fact(&reading) { framed(frame, &reading) } else { reading });
    };
    let clause = |at: usize| Sentence { text: s.text, words: &s.words[at..] };
    let begins = |at: &usize| *at == end || s.parted(*at) || rules::opens_clause(&s.words[*at..]);
    (end..s.words.len()).filter(begins).take(MOST_CLAUSES).find_map(|at| rules::read(&clause(at))).map(|reading| framed(frame, &reading))
}

/// Whether it says how the user, or what is theirs, is. A purpose is not a frame: "we use Kafka for the demo".
fn is_fact(reading: &Reading) -> bool {
    reading.category == Category::Profile || reading.category == Category::Constraint || reading.rule == "attribute"
}

fn framed(frame: Frame, reading: &Reading) -> Reading {
    let category = match reading.category {
        Category::Constraint if !frame.fiction && reading.is_order() => Category::Constraint,
        Category::Constraint | Category::Profile | Category::Preference => Category::Semantic,
        other => other,
    };
    let importance = if category == reading.category { reading.importance } else { 400 };
    Reading { importance, ..Reading::new(category, "said in a frame") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::Claim;
    use crate::gate::tests::stored;
    use crate::gate::words::words;

    #[test]
    fn a_frame_is_told_by_its_noun() {
        let of = |text: &str| frame(&Sentence { text, words: &words(text) });
        for text in [
            "In my novel, my name is Zed.",
            "in the fantasy novel that I write my name is Zed",
            "For the test account, my name is Tester.",
            "Actually, for the demo tomorrow, my name is Tester.",
            "As my character, I live in Rivendell.",
            "In Ana's story, I work for Globex.",
            "For this story, call me Ishmael.",
            "In this chat, call me Neo.",
            "In Skyrim, I live in Whiterun.",
            "On weekends, I live in Lyon.",
            "During the week, I live in Lyon.",
            "At work, call me Robert.",
        ] {
            assert!(of(text).is_some_and(Frame::leads), "{text}");
        }
        assert!(of("My name is Tester for the demo.").is_some_and(|frame| !frame.leads()));
        for text in [
            "In the game industry, I work for Valve.",
            "In games, my favorite hero is Link.",
            "For the trip, my budget is $900.",
            "For example, my sister is allergic to nuts.",
            "For the movie, my seat is 12B.",
            "In May, I moved to Ghent.",
            "In 2020, I live in Ghent.",
            "In fact, I live in Ghent.",
            "At the moment, I live in Ghent.",
            "In Python, I prefer tabs.",
            "In the movie theater, my seat is 12B.",
            "For the driving test, my instructor is Bob.",
            "My name is Ana.",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_said_in_a_frame_has_no_slot_and_stands_in_no_prompt_by_itself() {
        for text in [
            "In my novel, my name is Zed.",
            "In our story, I'm allergic to silver.",
            "For the test account, my timezone is UTC.",
            "As my character, I live in Rivendell and my name is Zed.",
            "My name is Tester for the demo.",
            "In our story, never call me Ana.",
        ] {
            let claims = stored(text);
            let plain = |claim: &Claim| claim.slot.is_none() && claim.text == text && claim.category == Category::Semantic;
            assert!(claims.len() == 1 && claims.iter().all(plain), "{text}: {claims:?}");
        }
        // An order for a trial stays one, with what it is for.
        let [order] = &stored("In the unit tests, never use mocks.")[..] else { panic!("one claim") };
        assert_eq!((order.category, order.text.as_str()), (Category::Constraint, "In the unit tests, never use mocks."));
        assert_eq!(stored("We use Kafka for the demo.")[0].slot.as_deref(), Some("demo"), "a purpose is no frame");
    }
}
