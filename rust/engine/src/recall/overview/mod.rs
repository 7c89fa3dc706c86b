//! Questions that have nothing to look for: "What did I do yesterday?" asks for what lies in a time, "What do you know about me?" for the user.
//!
//! ```text
//! which      every word is filler or of the lists below, beside expressions of time (`when`); it asks, or requests an account
//! done       it names a time, and that something was done or happened: events, then what else is of that time or names a day of it
//! ahead      it names a time, and asks for what is to come: what names a day of that time, and events that are still to happen in it
//! said       it names a time, and that something was said: all that is of that time; of messages the user's own statements
//! asked      it names a time, and that the user asked for something: the same, and of messages the user's questions and requests as well
//! user       "about me" and knowing, or "who am I": what binds, who the user is, preferences, decisions, facts, events
//! ```
//!
//! Words and vectors say nothing of what answers them: they are answered by when it was, or by what kind it is. One that has a single word of
//! content is not of these, and one that nothing answers is answered as any other. English only. A pure function of the text; what is
//! chosen is in `chosen`, of messages in `session/search/overview.rs`. docs/ranking.md has the rules.

mod chosen;

pub(super) use chosen::hits;

use super::when;
use crate::text::{is_filler, speech};

/// A longer text is none of these questions.
const MOST_BYTES: usize = 200;

/// The subject of a question without content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overview {
    /// The things that were done or happened in a time.
    Done,
    /// The things that are planned for a time.
    Ahead,
    /// The things that were said in a time.
    Said,
    /// The things that the user asked for in a time.
    Asked,
    /// The user.
    User,
}

/// Who is neither the user nor the assistant is somebody whom only the conversation before knows.
const OTHERS: [&str; 12] = ["he", "him", "his", "she", "her", "hers", "it", "its", "they", "them", "their", "theirs"];
/// Words that request an account of something.
const RECAPS: [&str; 6] = ["recap", "summarise", "summarize", "summary", "sum", "overview"];
/// Words that request anything.
#[rustfmt::skip]
const REQUESTS: [&str; 12] = [
    "tell", "remind", "recap", "list", "show", "give", "describe", "summarise", "summarize", "summary", "sum", "overview",
];
/// Words that say nothing of what is looked for, beside question filler, requests, and the words of doing, saying and knowing.
#[rustfmt::skip]
const EMPTY: [&str; 28] = [
    "all", "everything", "anything", "something", "things", "thing", "stuff", "else", "exactly", "just", "far", "already", "up", "out", "get",
    "got", "together", "short", "brief", "quick", "myself", "let", "hi", "hey", "hello", "ok", "okay", "thanks",
];
const DONE: [&str; 11] = ["did", "done", "doing", "happen", "happens", "happened", "happening", "went", "going", "gone", "been"];
#[rustfmt::skip]
const SAID: [&str; 25] = [
    "say", "said", "saying", "told", "telling", "talk", "talked", "talking", "discuss", "discussed", "discussing", "mention", "mentioned",
    "mentioning", "speak", "spoke", "spoken", "speaking", "chat", "chatted", "chatting", "write", "wrote", "written", "conversation",
];
const ASKED: [&str; 5] = ["ask", "asked", "asking", "request", "requested"];
#[rustfmt::skip]
const KNOWN: [&str; 18] = [
    "know", "known", "remember", "remembered", "recall", "learn", "learned", "learnt", "learning", "store", "stored", "save", "saved", "noted",
    "memories", "information", "facts", "profile",
];

impl Overview {
    /// The subject of a question without content; `None` of one that has something to look for.
    #[must_use]
    pub fn of(question: &str) -> Option<Self> {
        let is_own = |word: &[u8]| [&b"me"[..], b"myself", b"am"].iter().any(|own| own.eq_ignore_ascii_case(word));
        let mut words = question.as_bytes().split(|byte| !byte.is_ascii_alphabetic());
        // Most questions are none of these, and need not be cut into words that are kept.
        if question.len() > MOST_BYTES || !(when::may_name_time(question) || words.any(is_own)) {
            return None;
        }
        let (names_time, words) = when::beside(question);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let is_empty = |word: &&str| {
            let lists: [&[&str]; 6] = [&REQUESTS, &EMPTY, &DONE, &SAID, &ASKED, &KNOWN];
            is_filler(word.as_bytes()) && !OTHERS.contains(word) || lists.iter().any(|list| list.contains(word)) || when::is_of_ahead(word)
        };
        if words.is_empty() || !words.iter().all(is_empty) {
            return None;
        }
        let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
        let follow = |first: &[&str], second: &[&str]| words.windows(2).any(|pair| first.contains(&pair[0]) && second.contains(&pair[1]));
        if !speech::asks(question) && !has(&REQUESTS) {
            return None;
        }
        let is_told = follow(&["i", "we"], &["tell"]) || has(&SAID);
        let is_about_user = follow(&["about", "of"], &["me", "myself"]);
        match (names_time, is_told) {
            (true, false) if when::asks_ahead(question) => Some(Self::Ahead),
            (true, false) if follow(&["i", "we"], &ASKED) => Some(Self::Asked),
            (true, true) => Some(Self::Said),
            (true, false) if is_about_user && has(&["learn", "learned", "learnt"]) => Some(Self::Said),
            (true, false) if has(&DONE) || has(&RECAPS) && !is_about_user || follow(&["was", "were"], &["i", "we"]) => Some(Self::Done),
            _ if is_about_user && (has(&KNOWN) || has(&REQUESTS)) => Some(Self::User),
            _ if follow(&["describe"], &["me"]) || follow(&["who"], &["am"]) && follow(&["am"], &["i"]) => Some(Self::User),
            _ => None,
        }
    }

    /// Whether a time answers it.
    #[must_use]
    pub fn is_of_time(self) -> bool {
        self != Self::User
    }
}

/// `most` of what stands in the order of time, from all of it alike: as many parts as are wanted, and of each part the one that weighs most,
/// of equals the first. So of a month that holds more than there is room for no week is left out.
pub(crate) fn spread<T, W: Ord>(all: Vec<T>, most: usize, weight: impl Fn(&T) -> W) -> Vec<T> {
    if all.len() <= most {
        return all;
    }
    let (count, mut rest, mut chosen) = (all.len(), all.into_iter(), Vec::with_capacity(most));
    for part in 0..most {
        let size = (part + 1) * count / most - part * count / most;
        let heaviest = rest.by_ref().take(size).reduce(|best, next| if weight(&next) > weight(&best) { next } else { best });
        chosen.extend(heaviest);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::Overview::{Ahead, Asked, Done, Said, User};
    use super::*;

    #[test]
    fn a_question_without_content_asks_for_a_time_or_for_the_user() {
        for (question, asked) in [
            ("What did I do yesterday?", Done),
            ("what happened in May", Done),
            ("Where was I on 24 May?", Done),
            ("Could you recap last week?", Done),
            ("Tell me what happened between 20 May and 30 May.", Done),
            ("What do I have next week?", Ahead),
            ("What do I have coming up?", Ahead),
            ("what's on my calendar", Ahead),
            ("Am I busy on Friday?", Ahead),
            ("What's on tomorrow?", Ahead),
            ("what will happen on May 25?", Ahead),
            ("Is there anything on my calendar for next month?", Ahead),
            ("What are my plans for June?", Ahead),
            ("What am I doing on Friday?", Ahead),
            ("What did I tell you yesterday?", Said),
            ("What did we talk about on 24 May?", Said),
            ("Can you summarise what I said last week?", Said),
            ("What did you learn about me last week?", Said),
            ("What did I ask you to do on May 25?", Asked),
            ("what did I ask you yesterday", Asked),
            ("What do you know about me?", User),
            ("summarise what you know about me", User),
            ("Tell me about myself.", User),
            ("Who am I?", User),
        ] {
            assert_eq!(Overview::of(question), Some(asked), "{question}");
        }
    }

    #[test]
    fn one_word_of_content_or_no_question_is_none_of_these() {
        for question in [
            "What did I buy yesterday?",
            "What did Marco ask me yesterday?",
            "What did she say yesterday?",
            "How did it go yesterday?",
            "What did I do?",
            "What date was yesterday?",
            "I told you all about me yesterday.",
            "Yesterday I was out.",
            "What do you know about me and Marco?",
            "Do you remember me?",
            "Tell me about you.",
            "What did I not do yesterday?",
            "Do I have a meeting on Friday?",
            "Is Ana free on Friday?",
            "What do I have?",
            "yesterday?",
            "",
        ] {
            assert_eq!(Overview::of(question), None, "{question}");
        }
        let long = format!("What did I do {}yesterday?", "or do ".repeat(40));
        assert_eq!(Overview::of(&long), None);
    }

    #[test]
    fn what_is_spread_is_of_all_parts_and_in_order() {
        let of = |count: u32, most| spread((0..count).collect(), most, |one| one % 10);
        assert_eq!(of(5, 7), [0, 1, 2, 3, 4]);
        assert_eq!(of(40, 4), [9, 19, 29, 39]);
        assert!(of(40, 0).is_empty());
        for (count, most) in [(7, 3), (100, 99), (1_000, 12)] {
            let chosen = of(count, most);
            assert!(chosen.len() == most && chosen.is_sorted(), "{count} {most}");
        }
        assert_eq!(spread(vec![1, 2, 3, 4], 2, |_| 0), [1, 3], "of equals the first");
    }
}
