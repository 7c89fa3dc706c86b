//! The question that a message answers, the text of an answer that is kept with it, and what only asks for knowledge.

use super::lexicon::{FILLERS, PAST};
use super::lists::lists;
use super::manner::names_answers;
use super::sentence::Sentence;
use super::signs::has_colon;
use super::words::{self, Word, among, has, sentences, starts, words};

lists! { "question":
    /// Words that may stand before a question.
    LEADS,
    /// Verbs that change places with their subject in a question.
    TURNED,
    /// Pronouns that are a subject: none of whom the user speaks to.
    SUBJECTS,
    /// Words that begin a subject of several words.
    BEGINS_SUBJECT,
    /// "What" and its kin with a verb in one word.
    CONTRACTED,
    /// Words behind "how" that ask for an amount or a degree.
    AMOUNTS,
    /// Words of a request for more of what was offered.
    OF_OFFERS,
    /// Words that begin a clause of its own behind a question: "what can I bake, | he's allergic to eggs".
    TELLS_BEHIND,
    /// Words behind which a clause tells nothing of its own: "why does it hurt | when I'm sitting".
    SUBORDINATES,
    /// Verbs by which somebody tells a fact.
    HOLDS,
    /// Verbs of a past without "ed" behind "what", with which it is a subject: "what broke is the pump".
    CLEFT,
    /// Words behind the sign at the end of a question that add nothing to it.
    COURTESIES,
}

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

/// Words between "what" or "which" and its verb at most: "what room temperature | is".
const MOST_NOUN: usize = 4;

/// Whether a clause asks for knowledge and tells nothing beside it, with its mark or without: "what room temperature is best for a baby",
/// "can my mother fly with a cold?". A request to whom the user speaks is none: "can you find a table for two on Friday?" says what they
/// want, as do "is there a bus at 9?" and "how about Monday?".
pub(super) fn only_asks(s: &Sentence<'_>) -> bool {
    let begin = s.words.iter().take_while(|word| among(&LEADS, &word.lower)).count();
    let end = s.words.iter().rposition(|word| !word.is_mark()).map_or(0, |last| last + 1);
    if begin + 2 > end || s.words[begin..end].iter().any(|word| word.is_mark() || among(&OF_OFFERS, &word.lower)) {
        return false;
    }
    let marked = s.words.get(end).is_some_and(|word| word.lower == "?");
    let asked = Sentence { text: s.text, words: &s.words[begin..end] };
    !is_request(&asked) && (is_wh_question(&asked) || is_turned(&asked, marked)) && !tells_beside(&asked)
}

/// Whether a question asks for something to be done, or to last: "could we move the dentist to 4 May", "can I get metric units", "is it
/// possible to call me Max".
fn is_request(s: &Sentence<'_>) -> bool {
    const BEGINS: [&str; 8] = ["can", "could", "shall", "should", "may", "would", "is", "will"];
    let begins = among(&BEGINS, s.word(0));
    let proposes = begins && s.word(1) == "we";
    let of_answers = || begins && ["i", "it"].contains(&s.word(1)) && names_answers(s.words);
    let named = || (1..s.words.len()).any(|at| ["call me", "be called"].iter().any(|call| starts(s.words, at, call).is_some()));
    begins && named() || proposes || of_answers() || ["always", "from now on"].iter().any(|lasts| has(s.words, lasts))
}

/// Whether a subject begins at a word, as behind the verb of a question.
fn is_subject(s: &Sentence<'_>, at: usize) -> bool {
    among(&SUBJECTS, s.word(at)) || among(&BEGINS_SUBJECT, s.word(at)) || s.words.get(at).is_some_and(|word| word.capital)
}

/// "What time does the pharmacy close", "why does my knee hurt", "which of my plants need water"; not "what I need is rest", "when I was in
/// Riga", "which is why I moved", "what does the trick is tea".
fn is_wh_question(s: &Sentence<'_>) -> bool {
    let is = |at: usize| ["is", "are", "was", "were"].contains(&s.word(at));
    let is_later = |at: usize| (at + 1..s.words.len()).any(is);
    let turned = |at: usize| among(&TURNED, s.word(at)) && is_subject(s, at + 1);
    let verb = |from: usize| (from..=from + MOST_NOUN).find(|at| among(&TURNED, s.word(*at)));
    let has_subject = |from: usize, to: usize| (from..to).any(|at| is_subject(s, at));
    let names = |word: &Word| {
        let plain = !among(&FILLERS, &word.lower) && !among(&LEADS, &word.lower) && !word.lower.contains('\'');
        plain && !word.lower.ends_with("ly") || ["one", "ones", "name"].contains(&word.lower.as_str())
    };
    match s.word(0) {
        asks if among(&CONTRACTED, asks) => is_subject(s, 1),
        "when" | "where" | "why" => turned(1),
        "who" => turned(1) && !(is(1) && ["a", "an"].contains(&s.word(2))),
        "how" => turned(1) || among(&AMOUNTS, s.word(1)) && verb(2).is_some_and(|at| turned(at) && !has_subject(2, at)),
        "which" if s.word(1) == "of" => ["my", "our", "the", "these", "those", "them"].contains(&s.word(2)),
        "which" | "whose" if turned(1) => false,
        "what" if turned(1) => is(1) || !["do", "does", "did", "have", "has", "had"].contains(&s.word(1)) || !is_later(1),
        asks @ ("what" | "which" | "whose") => verb(2).is_some_and(|at| {
            let first = s.word(1);
            // "What matters is the price", "what broke is the pump".
            let is_verb = asks == "what" && (first.ends_with('s') || first.ends_with("ed") || among(&PAST, first) || among(&CLEFT, first));
            let does = ["do", "does", "did"].contains(&s.word(at)) && is_subject(s, at + 1) && !has_subject(1, at);
            let is = s.words[1..at].iter().all(names) && (is(at) || turned(at));
            !is_verb && (does || is)
        }),
        _ => false,
    }
}

/// "Can my mother fly", "do I need a visa", "is it safe"; not "do the dishes", "does the trick", "have a meeting at 5". Without its mark a
/// verb with which a sentence begins that leaves out its subject is followed by a person: "did it in 24:10" tells.
fn is_turned(s: &Sentence<'_>, marked: bool) -> bool {
    let next = s.word(1);
    let own = ["my", "our", "his", "her", "their"].contains(&next);
    match s.word(0) {
        _ if s.words.len() < 3 => false,
        "can" | "could" | "will" | "would" => among(&SUBJECTS, next) || among(&BEGINS_SUBJECT, next) || marked && is_subject(s, 1),
        "is" | "are" | "does" | "did" | "was" | "were" | "has" if marked => is_subject(s, 1),
        "is" | "are" | "isn't" | "aren't" => own || among(&SUBJECTS, next),
        "does" | "did" | "was" | "has" | "doesn't" | "didn't" | "wasn't" | "hasn't" => ["i", "he", "she", "we", "they"].contains(&next),
        "should" | "shall" | "do" | "have" | "am" | "may" => ["i", "we", "they"].contains(&next),
        _ => false,
    }
}

/// Whether something is told beside a question: behind a sign ("..., he's 12"), for a reason ("... because he's 12"), or without either
/// ("... he is 12").
fn tells_beside(s: &Sentence<'_>) -> bool {
    let behind_sign = |at: usize| s.parted(at) && !among(&COURTESIES, s.word(at)) || has_colon(s.text, s.words[at - 1].end);
    let tells = |at: usize| among(&TELLS_BEHIND, s.word(at));
    let is_reason = |at: usize| ["because", "since", "cause", "cuz"].contains(&s.word(at));
    // "For my wife and my son" is a list.
    let joins = |at: usize| ["and", "but", "so", "as"].contains(&s.word(at)) && !["my", "our", "mine"].contains(&s.word(at + 1));
    let holds = |at: usize| s.word(at).contains('\'') || among(&HOLDS, s.word(at + 1));
    let runs_on = |at: usize| holds(at) && !among(&SUBORDINATES, s.word(at - 1)) && !among(&TURNED, s.word(at - 1));
    // "Is it a problem that I'm allergic to latex", "can my son who is allergic to nuts eat this", not "the book that I read".
    let is_own = |at: usize| ["i'm", "i've", "my"].contains(&s.word(at)) || s.word(at) == "i" && among(&HOLDS, s.word(at + 1));
    let states = |at: usize| match s.word(at) {
        "that" => is_own(at + 1),
        "who" => ["is", "has"].contains(&s.word(at + 1)),
        "who's" | "given" | "mention" | "mentioned" => true,
        "like" => s.word(at + 1) == "me",
        _ => false,
    };
    let dashed = s.words.first().zip(s.words.last()).is_some_and(|(first, last)| s.text[first.start..last.end].contains(" - "));
    dashed
        || (1..s.words.len())
            .any(|at| states(at) || behind_sign(at) || at > 2 && tells(at) && (is_reason(at - 1) || joins(at - 1) || runs_on(at)))
}

#[cfg(test)]
mod tests {
    use crate::gate::tests::stored;
    use crate::gate::words::words;

    use super::*;

    #[test]
    fn a_question_for_knowledge_is_not_stored_with_its_mark_or_without() {
        for text in [
            "what room temperature is best for a baby",
            "what is the weather like in Oslo in may",
            "What time does the pharmacy on my street close on sundays",
            "which of my plants need water in winter",
            "can my mother fly two weeks after her hip operation",
            "when is the best time to plant tulips in my garden",
            "ok so why does my knee hurt after running 5 km",
            "how do my kids get a library card in Leeds",
            "how much should my son drink in a day when it's hot",
            "what did people in Riga eat in 1990",
            "what name did we choose for the baby",
            "whats the best way to get to Kyoto from Osaka, thanks",
            "will the cat be fine alone for a weekend",
            "what can I eat when I have a fever",
        ] {
            assert!(stored(text).is_empty() && stored(&format!("{text}?")).is_empty(), "{text}: {:?}", stored(text));
            let beside = stored(&format!("The audit is on 3 June and Bob leads it. {text}"));
            assert!(beside.len() == 1 && beside[0].text.ends_with("Bob leads it."), "{text}: {beside:?}");
        }
    }

    #[test]
    fn what_looks_like_a_question_and_tells_or_wants_something_is_none() {
        for text in [
            "what I need is a flat in Leeds",
            "what matters is the price",
            "what helped was ibuprofen",
            "what broke is the pump",
            "what does the trick for me is ginger tea",
            "When I was in Riga I ate pelmeni",
            "when my father died I took over his shop",
            "which is why I moved",
            "which luckily is fixed now",
            "how much I owe is a lot",
            "does the trick",
            "will do",
            "Will Smith starts on Monday",
            "Will, my brother, lives in Ghent",
            "did it in 24:10",
            "did the dishes and my taxes today",
            "was the best man at Tom's wedding",
            "were the new tenants on the second floor",
            "has the flu since Monday",
            "have a meeting at 5",
            "have the boys every other week",
            "do the dishes on Friday",
            "had my gallbladder out in 2022",
            "can't stand gels",
            "can you note that my locker is 212",
            "can you find me a table for two on Friday?",
            "is there a bus to Leeds at 9?",
            "how about Monday at 10?",
            "what other flights are there on 4 May?",
            "what do you recommend for my wife's birthday on Friday?",
            "what can I cook on Friday, we're 6 and Ana is vegan",
            "what can I give my dog he is 12",
            "can my mother fly because she had a hip operation on 4 May",
            "where is my passport: in the drawer",
            "what's the wifi code - hunter22",
            "can we speak French from now on",
            "is it possible to call me Max from now on",
            "could we move the dentist to 4 May at 9",
            "shall we use Postgres for the API",
            "would it be possible to keep answers short",
            "is it a problem that I'm allergic to latex?",
            "does it matter that my son is allergic to nuts?",
            "can my son who is allergic to nuts eat almond milk",
            "did I mention I'm vegan",
            "should I go given that I have asthma",
            "when's my birthday - 3 May",
        ] {
            assert!(!only_asks(&Sentence { text, words: &words(text) }), "{text}");
        }
    }
}
