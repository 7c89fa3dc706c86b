//! How the user wants to be answered: "keep answers under 100 words", "reply in French", "don't use emojis". Only what speaks of all
//! answers is read: "make the answer shorter" is about one.

use super::Category;
use super::lists::lists;
use super::rules::Reading;
use super::sentence::Sentence;
use super::words::{among, has, starts};

lists! { "manner":
    /// Features that an answer may have.
    LOOKS,
    /// How an answer may be given.
    WAYS,
}

/// Answers, more than one.
const ANSWERS: [&str; 9] =
    ["answers", "replies", "responses", "explanations", "summaries", "messages", "outputs", "sentences", "paragraphs"];
/// Verbs that ask for a manner.
const SHAPES: [&str; 7] = ["keep", "make", "write", "format", "limit", "give me", "phrase"];
/// Verbs that ask for a manner of answering.
const SPEAKS: [&str; 9] =
    ["answer me", "answer", "reply to me", "reply", "respond to me", "respond", "speak to me", "talk to me", "write to me"];
/// Words that ask that something be left out.
const OMITS: [&str; 8] = ["don't", "do not", "avoid", "stop", "no more", "skip", "leave out", "no"];

/// The manner that a sentence asks of every answer.
pub(super) fn manner(s: &Sentence<'_>) -> Option<Reading> {
    let at = starts(s.words, 0, "please").unwrap_or(0);
    let opens = |phrases: &[&str]| phrases.iter().find_map(|phrase| starts(s.words, at, phrase));
    let looks = LOOKS.iter().any(|look| has(s.words, look));
    let own = opens(&SHAPES).is_some_and(|from| {
        let named = from + usize::from(["your", "all", "the", "my"].contains(&s.word(from)));
        among(&ANSWERS, s.word(named)) && s.words.len() > named + 1
    });
    let way = |from: usize| among(&WAYS, s.word(from)) && s.words.get(from + 1).is_none_or(|next| !next.is_number());
    let spoken = opens(&SPEAKS).is_some_and(|from| from < s.words.len() && way(from)) && s.words.len() <= 10;
    let omitted = opens(&OMITS).is_some_and(|from| from + 5 > s.words.len() || has(s.words, "answers") || has(s.words, "replies")) && looks;
    let used = opens(&["use"]).is_some_and(|from| LOOKS.iter().any(|look| starts(s.words, from, look).is_some()));
    let one = s.text[s.words.first()?.start..s.words.last()?.end].contains(':');
    (s.words.len() >= 3 && !one && (own || spoken || omitted || used)).then(|| {
        let reading = Reading::new(Category::Preference, "how to answer");
        let counted =
            s.words.iter().any(super::words::Word::is_number) && ["words", "sentences", "lines"].iter().any(|unit| has(s.words, unit));
        if counted { reading.slot("answer length") } else { reading }
    })
}
