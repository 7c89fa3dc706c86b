//! The question that a message answers, and the text of an answer that is kept with it.

use super::words::{self, Word, sentences, words};

/// Bytes of a question at most that stands before its answer.
pub(super) const MOST_QUESTION: usize = 200;

/// How an assistant tells something in the form of a question.
const TELLS: [&str; 5] = ["did you know", "do you know that", "did you notice", "are you aware", "do you remember that"];
/// How it asks whether what it just told is so.
const TAGS: [&str; 6] = ["right ?", "correct ?", "isn't it ?", "aren't you ?", "don't you ?", "is that right ?"];
/// How it asks for something without a question mark.
const WANTS: [&str; 8] = ["tell me", "let me know", "give me", "show me", "provide", "specify", "share", "confirm"];

/// The question that the other side asked last, where `answer` answers it.
pub(super) fn question<'b>(before: &'b str, answer: &[Word]) -> Option<&'b str> {
    let last = sentences(before).into_iter().next_back().map(|span| &before[span.start..span.end])?;
    is_question(last, answer).then_some(last)
}

/// Whether a sentence asks what `answer` answers. One that tells something and asks whether it is so is answered by yes or no: another
/// sentence of the user's would make the assistant's words the user's own.
fn is_question(sentence: &str, answer: &[Word]) -> bool {
    let own = words(sentence);
    let ends = |tag: &&str| own.len().checked_sub(tag.split(' ').count()).is_some_and(|at| words::starts(&own, at, tag).is_some());
    let tells = TELLS.iter().any(|phrase| words::starts(&own, 0, phrase).is_some()) || TAGS.iter().any(ends);
    let decides = agrees(answer) || answer.first().is_some_and(|word| ["no", "nope"].contains(&word.lower.as_str()));
    let at = usize::from(own.first().is_some_and(|word| word.lower == "please"));
    let wants = WANTS.iter().any(|phrase| words::starts(&own, at, phrase).is_some());
    (wants || own.last().is_some_and(|word| word.lower == "?")) && (!tells || decides)
}

/// Whether a question asks the user for something that they alone know: "When does the workshop start?", "tell me the time", and
/// not "How can I help?"
pub(super) fn asks_user(question: &str) -> bool {
    const ASKS: [&str; 8] = ["when", "where", "who", "which", "what", "how", "whose", "why"];
    const OFFERS: [&str; 6] = ["help", "assist", "should i", "can i", "like me to", "want me to"];
    let own = words(question);
    let wants = own.last().is_some_and(|word| word.lower != "?");
    (wants || own.iter().any(|word| ASKS.contains(&&*word.lower))) && !OFFERS.iter().any(|phrase| words::has(&own, phrase))
}

/// Whether words begin by agreeing.
pub(super) fn agrees(own: &[Word]) -> bool {
    let agreement = ["yes", "correct", "right", "exactly", "that's right", "that's correct", "yep", "indeed", "confirmed"];
    agreement.iter().any(|word| words::starts(own, 0, word).is_some())
}

/// An answer as it is kept with its question.
pub(super) fn with_question(question: &str, answer: &str) -> String {
    format!("Asked \u{201C}{question}\u{201D}: {answer}")
}
