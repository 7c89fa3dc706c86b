//! When something is, by the words beside it: it was, or it is to come.

use super::{AHEAD, APPOINTED, APPOINTING, PARTS, PASSED, PLANS};
use crate::gate::constraint::ends_in_past;
use crate::gate::lexicon::PAST;
use crate::gate::words::{Word, among};

/// Words behind a day that are looked at, where none before it tells when it was.
const MOST_BEHIND: usize = 8;
/// Words before a participle that stands for an adjective: "the signed contract".
const ARTICLES: [&str; 10] = ["a", "an", "the", "my", "our", "your", "his", "her", "their", "this"];

/// Words right behind which a verb is in its plain form, and tells of what is to come: "can shut it down on Friday". "Will" is a name as well.
const MODALS: [&str; 7] = ["can", "could", "must", "should", "shall", "would", "will"];
/// Verbs whose past is as their plain form.
const UNCHANGED: [&str; 10] = ["quit", "cut", "hit", "put", "read", "beat", "split", "shut", "hurt", "set"];

/// Participles that say what something is, and not when.
const NAMING: [&str; 3] = ["named", "called", "titled"];

/// When something on a weekday is, by the words beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Passed,
    Ahead,
    Unsaid,
}

/// Whether the verb before a day is one of those who arrange what is to come: "signed up for", "booked", "bought tickets".
pub(super) fn is_arranged(words: &[Word], here: usize) -> bool {
    const ARRANGES: [&str; 6] = ["booked", "reserved", "registered", "invited", "rebooked", "planned"];
    const RACES: [&str; 5] = ["10k", "5k", "half", "triathlon", "ride"];
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let clause = (0..here).rev().find(|at| among(&PARTS, word(*at))).map_or(0, |at| at + 1);
    let arranged = (clause..here)
        .find(|at| ARRANGES.contains(&word(*at)) || among(&APPOINTING, word(*at)) || word(*at) == "signed" && word(at + 1) == "up");
    arranged.is_some_and(|verb| (verb + 1..here).any(|at| among(&APPOINTED, word(at)) || RACES.contains(&word(at))))
}

/// When something on the weekday is whose words begin at `here`: by the nearest verb before it, or else by the first behind it.
pub(super) fn when(words: &[Word], here: usize) -> When {
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    // "a startup named Sunpeg" tells of no time.
    let names = |at: usize| {
        let has_article = (at.saturating_sub(3)..at.saturating_sub(1)).any(|at| ARTICLES.contains(&word(at)));
        NAMING.contains(&word(at)) && has_article && !words[at - 1].capital && words.get(at + 1).is_some_and(|next| next.capital)
    };
    let is_past = |at: usize| (ends_in_past(word(at)) || among(&PAST, word(at)) || among(&PASSED, word(at))) && !names(at);
    let verb = |at: usize| {
        let before = |back: usize| at.checked_sub(back).map_or("", word);
        let begins = ["have", "has", "i", "we", "he", "she", "they", "you"].contains(&word(at));
        // "I see him", "we have to", "she has surgery", and not "we have signed".
        let of_now = || begins && at + 1 < here && !is_past(at + 1) && !["have", "has", "just", "never"].contains(&word(at + 1));
        // "We were going to meet on Monday" tells of a plan.
        if word(at) == "going" && ["was", "were"].contains(&before(1)) {
            return Some(When::Unsaid);
        }
        // "right eye to be done on Monday", and not "it used to be open on Mondays"
        if word(at) == "be" && before(1) == "to" && !["used", "was", "were", "had"].contains(&before(2)) {
            return Some(When::Ahead);
        }
        // "I had to move it to Monday" is told of what is to come as well.
        if word(at) == "had" && word(at + 1) == "to" {
            return Some(When::Unsaid);
        }
        if among(&AHEAD, word(at)) || of_now() {
            return Some(When::Ahead);
        }
        let in_ed = ends_in_past(word(at));
        if among(&PLANS, word(at)) || ["was", "were", "been"].contains(&word(at)) && among(&PLANS, word(at + 1)) {
            return Some(When::Unsaid);
        }
        let is_adjective = || in_ed && ARTICLES.contains(&before(1));
        // "The eye is to be done on Friday", "it will be shipped on Friday"
        let of_modal = || UNCHANGED.contains(&word(at)) && MODALS.contains(&before(1)) && !words[at - 1].capital;
        let of_present = || before(1) == "be" || of_modal() || in_ed && (among(&AHEAD, before(1)) || among(&AHEAD, before(2)));
        match is_past(at) && !is_adjective() {
            true if of_present() => Some(When::Ahead),
            // "They gave me an appointment on Thursday" and "I got tickets for Thursday" tell of what is to come.
            true if ["gave", "given"].contains(&word(at)) && (at + 1..here).any(|at| word(at) == "appointment") => Some(When::Unsaid),
            true if among(&APPOINTING, word(at)) && (at + 1..here).any(|at| among(&APPOINTED, word(at))) => Some(When::Unsaid),
            true => Some(When::Passed),
            false => None,
        }
    };
    let clause = (0..here).rev().find(|at| among(&PARTS, word(*at))).map_or(0, |at| at + 1);
    let behind = || (here + 2..words.len().min(here + 2 + MOST_BEHIND)).find_map(verb);
    (clause..here).rev().find_map(verb).or_else(behind).unwrap_or(When::Ahead)
}
