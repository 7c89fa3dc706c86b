//! Clauses that say how a thing of a team's is for long: "react is at 17", "tech lead of atlas is jonas", "we keep logs for 14 days".
//!
//! They hold until something else is said of the thing, as no event does.

use super::lists::lists;
use super::named::is_identifier;
use super::sentence::Sentence;
use super::shift::may_be;
use super::things::OF_TASK;
use super::words::{Word, among};
use crate::units::calendar::is_named;

lists! { "states":
    /// Words for those who answer for something.
    ROLES,
    /// Verbs of how something is.
    HOLDS,
    /// Words of what is so for a while, of wishes, and of people.
    PASSES,
}

/// Words of such a clause at most.
const MOST_WORDS: usize = 14;
/// Words before its verb at most.
const MOST_SUBJECT: usize = 6;

/// Whether a clause says how a thing is, and not how somebody is or what happens for a while.
pub(super) fn is_state(s: &Sentence<'_>) -> bool {
    let plain = s.words.iter().filter(|word| !word.is_mark()).count();
    if !(3..=MOST_WORDS).contains(&plain) || s.words.iter().any(|word| among(&PASSES, &word.lower) || word.lower == "?") || may_be(s.words)
    {
        return false;
    }
    let contracts = |at: usize| s.word(at).ends_with("'s") && !["it's", "let's", "what's", "who's"].contains(&s.word(at));
    let is_verb = |at: &usize| *at > 0 && among(&HOLDS, s.word(*at)) || contracts(*at) || s.word(*at) == "we're";
    let Some(verb) = (0..s.words.len().min(MOST_SUBJECT + 1)).find(is_verb) else { return false };
    let is_pronoun = ["it", "they", "they're", "it's"].contains(&s.word(0));
    let is_value = |word: &Word| {
        let day = word.lower.strip_suffix('s').unwrap_or(&word.lower);
        let is_named = is_named(&word.lower) || is_named(day);
        is_named || word.is_number() || is_identifier(&word.lower) || word.lower.contains(['.', '_', '/'])
    };
    let switches = |names: &[&str]| s.words.get(verb + 1..).unwrap_or_default().iter().any(|word| names.contains(&word.lower.as_str()));
    let is_switch =
        || switches(&["on", "off"]) && s.words[..verb].iter().any(is_value) || switches(&["enabled", "disabled", "true", "false"]);
    let has_role = || s.words.iter().any(|word| among(&ROLES, &word.lower)) || ["owns", "reviews", "maintains"].contains(&s.word(verb));
    let tail = s.words.get(verb + 1..).unwrap_or_default();
    !is_pronoun && !tail.is_empty() && (tail.iter().any(is_value) || has_role() || is_switch())
}

/// Whether such a clause names a place of a computer's, a version or who answers for a thing, or whether something of one is on: "config is in
/// /etc/app/app.toml", "the app runs rails 6.1".
pub(super) fn is_of_computer(s: &Sentence<'_>) -> bool {
    let said = s.words.first().zip(s.words.last()).map_or("", |(first, last)| &s.text[first.start..last.end]);
    let is_place = |word: &str| word.contains("://") || word.starts_with('/') && word.len() > 2 || word.matches('.').count() > 1;
    let is_on = |word: &Word| ["enabled", "disabled", "true", "false"].contains(&word.lower.as_str());
    let of_task = || s.words.iter().any(|word| among(&OF_TASK, &word.lower));
    let owns = || (1..=2).any(|at| ["owns", "maintains", "reviews"].contains(&s.word(at)));
    let is_version = |at: usize| {
        s.words[at].is_number() && s.word(at).contains('.') && ["on", "runs", "at", "uses"].contains(&s.word(at - 1).trim_end_matches("'s"))
    };
    let named =
        |at: usize| at > 1 && s.words[at].is_number() && s.word(at).contains('.') && ["runs", "on", "uses"].contains(&s.word(at - 2));
    let versions = || (1..s.words.len()).any(|at| is_version(at) || named(at));
    (said.split_whitespace().any(is_place) || owns() || versions() || s.words.iter().any(is_on)) && is_state(s) && !of_task()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::words::words;

    #[test]
    fn how_a_thing_is_holds() {
        let is = |text: &str| is_state(&Sentence { text, words: &words(text) });
        for text in [
            "react is at 17",
            "tech lead of search is ines",
            "we keep traces for 14 days",
            "cluster's on 1.31",
            "dark_mode is off in prod",
            "we ship v5 on may 4",
            "retro is on fridays",
            "kim reviews frontend prs",
            "The SDK is at v2.4.1.",
        ] {
            assert!(is(text), "{text}");
        }
        for text in [
            "the server is slow",
            "it is at 10",
            "the tests are broken on 3.13",
            "I'm 40",
            "we deployed 3 times",
            "is react at 17?",
            "the app was at 17",
            "lunch is at 12 today",
            "the light is on",
            "the build may break 3 apps",
        ] {
            assert!(!is(text), "{text}");
        }
        let of_computer = |text: &str| is_of_computer(&Sentence { text, words: &words(text) });
        for text in [
            "the app runs rails 6.1",
            "kai maintains the sdk",
            "dashboards are at graphs.corp.internal",
            "secrets are in /etc/app/keys",
            "rate limiting is disabled on the gateway",
        ] {
            assert!(of_computer(text), "{text}");
        }
        for text in ["the bug is in /src/lexer.py", "react is at 17", "the button is disabled when it loads", "is the config in /etc/app?"]
        {
            assert!(!of_computer(text), "{text}");
        }
    }
}
