//! The past: questions that ask for it, and memories that tell of it alone. "I used to live in Madrid", told later than "I live in Porto",
//! is nothing newer.

use super::Question;
use super::filter::Filter;
use super::when::{self, Range};
use super::words::{Words, bare_words, is_any, normal};
use crate::text::is_filler;

/// Words that ask for what was.
const PAST: [&str; 14] = [
    "used",
    "before",
    "previous",
    "previously",
    "former",
    "formerly",
    "earlier",
    "old",
    "originally",
    "original",
    "past",
    "ago",
    "history",
    "then",
];
/// Words by which a memory says that something is over, wherever they stand.
const OVER: [&str; 3] = ["formerly", "previously", "originally"];
/// Words by which a memory says that something is over, behind its first word alone: "my old boss was Omar". "I left the old company for
/// Hooli" says what holds now.
const OVER_IN_FRONT: [&str; 3] = ["former", "previous", "old"];
/// Before "used to" they say what somebody is accustomed to.
const ACCUSTOMED: [&str; 14] = ["am", "is", "are", "was", "were", "be", "been", "i'm", "we're", "he's", "she's", "get", "got", "getting"];
/// Behind "used to", where that is said of a thing.
const A_THING: [&str; 8] = ["the", "a", "an", "my", "our", "it", "this", "that"];
/// Before these, where they say which one.
const WHICH: [&str; 6] = ["my", "our", "the", "his", "her", "their"];
/// Verbs of what was, beside those in "-ed".
const WAS: [&str; 6] = ["was", "were", "had", "used", "ran", "did"];
/// Letters of the shortest of these, less one: "red" is none.
const SHORTEST_PAST: usize = 4;
/// Words by which a memory says what holds now, beside what was.
const NOW: [&str; 15] = [
    "now",
    "instead",
    "anymore",
    "longer",
    "since",
    "switched",
    "moved",
    "changed",
    "replaced",
    "became",
    "new",
    "nowadays",
    "today",
    "currently",
    "days",
];
/// Words that begin a question which may be of now.
const ASKS: [&str; 20] = [
    "who", "whom", "whose", "what", "what's", "who's", "where", "where's", "when", "which", "how", "do", "does", "is", "are", "am", "have",
    "has", "can", "should",
];
/// Words of the shortest sentence that asks.
const FEWEST: usize = 3;
/// Words and marks between two clauses.
const AND: [&str; 3] = ["and", "but", "so"];
const MARKS: [char; 6] = [',', ';', ':', '.', '\u{2013}', '\u{2014}'];

/// Whether a question is about what holds now: neither it nor the caller names a time, and it does not ask for what was.
pub(crate) fn is_of_now(filter: &Filter, question: &Question) -> bool {
    !filter.limits_time() && filter.preferred.is_none() && !question.asks_for_past()
}

/// Whether what was said later of the same may answer a question: it does not ask for what was, and neither it nor the caller names a time
/// that is over. "My aunt asked yesterday. Who is my agent?" names one beside the question.
pub(crate) fn may_be_of_now(filter: &Filter, question: &Question) -> bool {
    let is_over = |range: &Range| range.until.is_some_and(|until| until <= filter.now);
    let names_past = || filter.preferred.as_ref().is_some_and(is_over) && !names_time_beside(question.text(), filter.now);
    !filter.limits_time() && !question.asks_for_past() && !names_past()
}

/// Whether a text names its times in other sentences than the one that asks, which is of now: "My aunt asked yesterday. Who is my agent?" An
/// abbreviation ends no sentence that asks: it has few words, or begins as no question does.
fn names_time_beside(text: &str, now: i64) -> bool {
    let begins = |sentence: &str| bare_words(sentence).find(|word| !word.is_empty()).map(|word| is_any(word, &ASKS));
    let asks = |sentence: &&str| begins(sentence).is_some_and(|begins| begins || sentence.ends_with('?'));
    let asking: Vec<&str> = text.split_inclusive(['.', '!', '?', '\n']).filter(asks).collect();
    let is_of_now = |sentence: &&str| {
        let was = bare_words(sentence).any(|word| is_any(word, &WAS));
        begins(sentence) == Some(true) && !was && when::read(sentence, now, 0).is_none()
    };
    let is_whole = |sentence: &&str| sentence.ends_with('?') && bare_words(sentence).count() >= FEWEST;
    asking.iter().all(is_of_now) && asking.iter().any(is_whole)
}

/// Whether a question asks for what was: "where did I live before?".
pub(super) fn asks_for_past(question: &str) -> bool {
    bare_words(question).any(|word| is_any(word, &PAST))
}

/// Whether a text has a word without which it does not [tell of what was](tells_of_past).
pub(super) fn may_tell_of_past(text: &Words<'_>) -> bool {
    text.bare.iter().any(|word| [&OVER, &OVER_IN_FRONT, &["used", "before", "until"]].into_iter().any(|known| is_any(word, known)))
}

/// Whether a memory, given as its text and the words of that, is one clause which tells of what was. Of "before Acme" that is known where
/// another memory has "Acme".
pub(super) fn tells_of_past((text, own): (&str, &Words<'_>), other: &Words<'_>) -> bool {
    let mut before_last = text.trim_end().rsplit(char::is_whitespace).skip(1);
    if before_last.any(|word| word.ends_with(MARKS)) || text.contains(" (") {
        return false;
    }
    let words: Vec<String> = own.bare.iter().map(|word| normal(word)).filter(|word| !word.is_empty()).collect();
    let word = |at: usize| words.get(at).map_or("", |word| &**word);
    if words.iter().any(|word| NOW.contains(&&**word) || AND.contains(&&**word)) {
        return false;
    }
    let is_of_other = |word: &str| !is_filler(word.as_bytes()) && other.bare.iter().any(|other| normal(other) == word);
    let was = || words.iter().any(|word| WAS.contains(&&**word) || word.len() > SHORTEST_PAST && word.ends_with("ed"));
    (0..words.len()).any(|at| {
        let (one, next) = (word(at), word(at + 1));
        let is_accustomed = || at > 0 && ACCUSTOMED.contains(&word(at - 1)) || A_THING.contains(&word(at + 2));
        OVER.contains(&one)
            || one == "used" && next == "to" && !is_accustomed()
            || at == 1 && OVER_IN_FRONT.contains(&one) && WHICH.contains(&word(0))
            || at > 0 && one == "before" && (next.is_empty() || is_of_other(next)) && was()
            || at == 0 && one == "until" && was()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_is_nothing_newer() {
        let tells = |text: &str, other: &str| {
            let words = Words::of(text);
            let tells = tells_of_past((text, &words), &Words::of(other));
            assert!(may_tell_of_past(&words) || !tells, "{text}");
            tells
        };
        for (text, other) in [
            ("I used to live in Madrid", "I live in Porto"),
            ("We used to drink tea.", "We drink coffee."),
            ("My former boss was Omar", "My boss is Priya"),
            ("The staging server previously ran Debian 10", "The staging server runs Debian 12"),
            ("I worked at Initech before Acme", "I work at Acme"),
            ("The wifi network was called Stork before", "The wifi network is called Heron"),
            ("The old password policy required 8 characters", "The password policy requires 12 characters"),
            ("Until 2023 our rent was 700 euros", "Our rent is 900 euros"),
            ("Standup used to be at 9:30.", "Standup is at 10:00"),
            ("Our rate used to be 7.5 euros!", "Our rate is 9 euros"),
        ] {
            assert!(tells(text, other), "{text}");
        }
        for (text, other) in [
            ("I live in Porto", "I used to live in Madrid"),
            ("I used to live in Madrid, now in Ghent", "I live in Porto"),
            ("I no longer live in Porto", "I live in Porto"),
            ("I'm used to the cold in Oslo", "I live in Porto"),
            ("I got used to working at night", "I work by day"),
            ("I eat before 8", "I eat at 7"),
            ("My old phone broke and I bought a Pixel", "My phone is a Nokia"),
            ("My old pair broke and I ordered Asics", "I run in Hokas"),
            ("My previous plan was replaced by Pro", "I am on the Basic plan"),
            ("Until Friday I work from home", "I work in Ghent"),
            ("My boss is Priya, previously it was Omar", "My boss is Omar"),
            ("Our rent is 900 euros (previously 700)", "Our rent is 700 euros"),
            ("I used to live in Madrid but I live in Porto", "I live in Madrid"),
            ("I used to drive a Golf, these days a Tesla", "I drive a Golf"),
            ("I take my pills before breakfast", "I take my pills after breakfast"),
            ("I left the old company for Hooli", "I work at Initech"),
            ("I left my former employer for Hooli", "I work at Initech"),
        ] {
            assert!(!tells(text, other), "{text}");
        }
    }

    #[test]
    fn some_questions_ask_for_what_was() {
        let asks = |text: &str| asks_for_past(text);
        assert!(asks("Where did I live before?") && asks("my OLD number?") && !asks("Where do I live?") && !asks("Where am I based?"));
    }
}
