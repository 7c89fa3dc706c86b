//! Rules for what is so of the things of a team or a home for long: "the repo uses npm", "CI runs on GitHub Actions", "on-call is Ines",
//! "we migrated CI to GitHub Actions"; and for events that name their day: "the certificate expired last week".
//!
//! Talk of the task at hand is told by its words: "the server is slow", "the test fails".

use super::Category;
use super::dates;
use super::lexicon::NUMBERS;
use super::lists::lists;
use super::named::is_identifier;
use super::reading::Reading;
use super::sentence::Sentence;
use super::words::{Word, among, starts};

lists! { "things":
    /// Nouns of things that last.
    NOUNS,
    /// Such nouns that need no article.
    BARE,
    /// Verbs of what is so for long.
    LASTS,
    /// Words by which a sentence is about the task at hand.
    pub(super) OF_TASK,
    /// Verbs by which somebody brings a thing elsewhere.
    MOVES,
    /// Verbs of what a customer or a company did.
    GROWS,
}

/// Words of such a sentence at most.
const MOST_WORDS: usize = 14;
/// Words of a subject at most, with its article.
const MOST_SUBJECT: usize = 4;
/// Those who answer for the alarms of a night.
const ON_CALL: &str = "on-call";

/// The reading of a sentence about a thing.
pub(super) fn of_thing(s: &Sentence<'_>) -> Option<Reading> {
    let end = s.words.iter().rposition(|word| !word.is_mark())? + 1;
    let asks = s.words.last().is_some_and(|word| word.lower == "?");
    if asks || end > MOST_WORDS {
        return None;
    }
    let s = &Sentence { text: s.text, words: &s.words[..end] };
    dated(s).or_else(|| on_call(s)).or_else(|| grown(s)).or_else(|| moved(s)).or_else(|| lasting(s))
}

fn fact(category: Category, rule: &'static str) -> Reading {
    Reading { importance: 550, ..Reading::new(category, rule) }
}

fn is_of_task(words: &[Word]) -> bool {
    words.iter().any(|word| among(&OF_TASK, &word.lower))
}

/// "The repo uses npm for installs", "Tests are run with nox".
fn lasting(s: &Sentence<'_>) -> Option<Reading> {
    let owned = ["the", "our", "my", "this"].contains(&s.word(0));
    let verb = (1..=MOST_SUBJECT).find_map(|at| Some((at, LASTS.iter().filter_map(|verb| starts(s.words, at, verb)).max()?)));
    let (verb, behind) = verb.filter(|(_, behind)| *behind < s.words.len() || s.words.len() > 3)?;
    let noun = s.word(verb - 1);
    // "Needs two approvals", and not "needs a restart".
    let is_counted = |at: usize| s.words.get(at).is_some_and(Word::is_number) || among(&NUMBERS, s.word(at));
    let is_passing = ["need", "needs", "require", "requires"].contains(&s.word(verb)) && !is_counted(behind);
    let tail = s.words.get(behind..).unwrap_or_default();
    let is_thing = owned && verb > 1 && (among(&NOUNS, noun) || is_identifier(noun)) || among(&BARE, noun) && (verb <= 2 || owned);
    let whole = (1..s.words.len()).all(|at| !s.parted(at));
    (is_thing && whole && !is_passing && !is_of_task(tail) && !is_of_task(&s.words[1..verb]))
        .then(|| fact(Category::Semantic, "of a thing"))
}

/// "On-call is now Ines".
fn on_call(s: &Sentence<'_>) -> Option<Reading> {
    let at = starts(s.words, 0, "on-call is").or_else(|| starts(s.words, 0, "on-call this week is"))?;
    let at = at + usize::from(s.word(at) == "now");
    let named = s.words.len() > at && s.words.len() <= at + MOST_SUBJECT && s.words[at..].iter().all(|word| word.capital);
    named.then(|| fact(Category::Semantic, "of a thing").slot(ON_CALL))
}

/// "We migrated CI to GitHub Actions".
fn moved(s: &Sentence<'_>) -> Option<Reading> {
    let subject = ["we", "we've", "we have"].iter().filter_map(|one| starts(s.words, 0, one)).max()?;
    let verb = subject + usize::from(["just", "finally", "recently"].contains(&s.word(subject)));
    if !among(&MOVES, s.word(verb)) {
        return None;
    }
    let to = (verb + 2..=verb + 1 + MOST_SUBJECT).find(|at| s.word(*at) == "to")?;
    let value = s.words.get(to + 1)?;
    let is_named = value.capital || value.lower.bytes().any(|byte| byte.is_ascii_digit());
    let from = (verb + 1..to).find(|at| s.word(*at) == "from");
    let object = &s.words[verb + 1..from.unwrap_or(to)];
    let is_thing = object.iter().any(|word| word.capital || among(&NOUNS, &word.lower) || among(&BARE, &word.lower));
    (is_named && is_thing && !is_of_task(object)).then(|| fact(Category::Semantic, "what changed"))
}

/// "Acme Corp upgraded to the Enterprise plan".
fn grown(s: &Sentence<'_>) -> Option<Reading> {
    let verb = (1..=MOST_SUBJECT).find(|at| GROWS.iter().any(|verb| starts(s.words, *at, verb).is_some()))?;
    let is_named = s.words[..verb].iter().all(|word| word.capital) && !["i", "we", "it", "he", "she", "they"].contains(&s.word(0));
    (is_named && s.words.len() > verb + 1 && !s.parted(verb)).then(|| fact(Category::Episodic, "what changed"))
}

/// "The certificate expired last week", "I ordered the laptop last Friday".
fn dated(s: &Sentence<'_>) -> Option<Reading> {
    let begins = ["i", "we", "the", "our", "my"].contains(&s.word(0)) || s.words[0].capital && s.words.len() > 3;
    let talk = s.words.iter().any(|word| ["you", "your", "this", "it", "that"].contains(&word.lower.as_str()));
    let told = begins && !talk && dates::tells_of_past_day(s.words) && (2..s.words.len()).all(|at| !s.parted(at));
    (told && !among(&["what", "when", "why", "how", "who", "did", "was", "were", "has", "have"], s.word(0)))
        .then(|| fact(Category::Episodic, "an event with its day"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::words::words;

    fn rule(text: &str) -> Option<(Category, &'static str)> {
        of_thing(&Sentence { text, words: &words(text) }).map(|reading| (reading.category, reading.rule))
    }

    #[test]
    fn what_is_so_of_a_thing_is_a_fact() {
        for text in [
            "The repo uses npm for installs.",
            "Our CI runs on GitHub Actions.",
            "Tests are run with nox in this repo.",
            "Main branch is protected.",
            "Code reviews are done by two people.",
            "Deploys need two approvals.",
            "The gym opens at 6.",
            "We migrated CI to GitHub Actions.",
            "On-call is now Ines.",
        ] {
            assert_eq!(rule(text).map(|(category, _)| category), Some(Category::Semantic), "{text}");
        }
        for text in [
            "The server is slow.",
            "The server uses 100% CPU.",
            "The function uses recursion.",
            "The tests need a fix.",
            "Does the repo use npm?",
            "We moved on to the next topic.",
            "The app is in a loop.",
            "The server is in maintenance mode.",
            "The service needs a restart.",
            "The cluster uses too much RAM.",
            "The restaurant closes at 10 tonight.",
            "I asked you this yesterday.",
        ] {
            assert_eq!(rule(text), None, "{text}");
        }
    }

    #[test]
    fn what_happened_on_a_day_is_an_event() {
        for text in
            ["The certificate expired last week.", "I ordered the laptop last Friday.", "Acme Corp upgraded to the Enterprise plan."]
        {
            assert_eq!(rule(text).map(|(category, _)| category), Some(Category::Episodic), "{text}");
        }
        for text in ["I need it next week.", "What did I order last week?", "Yesterday."] {
            assert_eq!(rule(text), None, "{text}");
        }
    }
}
