//! Texts that nobody writes: the gate ends with each, in a bounded time.

use super::*;
use crate::context::testing::Random;
use crate::gate::clauses::{MOST_CLAUSES, clauses};

/// A rule was asked of every rest of a sentence, so that the time grew with its square.
#[test]
fn a_sentence_is_cut_at_a_bounded_number_of_places() {
    let text = "i, ".repeat(1_300);
    let whole = "i prefer tea, ".repeat(250);
    let own = words(&whole);
    assert_eq!(clauses(&whole, Span { start: 0, end: whole.len() }, &own).len(), MOST_CLAUSES + 1);
    assert!(kept(&text).len() < 2);
}

#[test]
fn whatever_is_said_is_judged() {
    // Signs before, inside and behind words, cuts where no space is, and openings that rules look behind.
    const PIECES: [&str; 64] = [
        "I live in Rome",
        "my name is Ann",
        "'I am",
        "\"I live",
        "\u{201C}I prefer",
        "\u{2018}my",
        "\u{AB} je",
        "\u{201E}ich",
        "\u{1F600}",
        "\u{1F600}\u{1F600} ",
        "\u{4F60}\u{597D}\u{3002}",
        "\u{3002}",
        "\u{2026}",
        "\u{2014}",
        "rewrite",
        "Rewrite this",
        "draft an email",
        ": ",
        "fix the grammar",
        "please",
        "can you",
        "\n",
        "\n\n",
        "Here is the email I got:\n",
        "Hi, ",
        "moved to",
        "allergic to",
        "nuts",
        "I'm",
        "not",
        "but to",
        "except for",
        "?",
        "!",
        ".",
        ",",
        ";",
        "(",
        ")",
        "-",
        "/",
        "13 March",
        "typo",
        "sorry, ",
        "never use",
        "always",
        "e.g.",
        "3.5",
        "10:30",
        "'",
        "\"",
        "\u{2019}s",
        "\u{E9}t\u{E9}",
        "\u{130}",
        "\u{1E9E}",
        "Since I'm allergic to oats, what can I take?",
        "I take",
        "20 mg",
        "daily",
        "my son is",
        "stopped taking",
        "no longer",
        "```",
        "Bob: ",
    ];
    let mut random = Random::new(11);
    for _ in 0..20_000 {
        let count = 1 + random.below(8);
        let text: String = (0..count).map(|_| [PIECES[random.below(64) as usize], ["", " "][random.below(2) as usize]].concat()).collect();
        for claim in judge(&Utterance { text: &text, speaker: Speaker::User, before: "", after: "", at: AT }) {
            assert!(text.get(claim.span.0..claim.span.1).is_some(), "{text:?}: {claim:?}");
        }
    }
}
