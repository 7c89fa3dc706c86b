//! Rules for what is otherwise than it was, where no other rule gives it a value: "payments-api runs on port 9443 now", "the launch got
//! cancelled", "OPS-771 was merged into OPS-802". They also read a proposal of a model's that the user took: "Shall we use Postgres
//! 16?" - "yes, let's do that".

use super::Category;
use super::constraint::INSTRUCTS;
use super::guards::{ASKS, WORK};
use super::habits::habit;
use super::lists::lists;
use super::reading::Reading;
use super::rules::capital;
use super::sentence::Sentence;
use super::told::TRADES;
use super::values::{TITLES, ValueKind, kind_of, spelled};
use super::words::{Word, among, has, sentences, starts, words};

lists! { "changes":
    /// How somebody says what their work is now.
    PROMOTED,
    /// Verbs by which a day or a time of day becomes another.
    MOVED,
    /// Verbs of what became something else, or will not be.
    HAPPENED,
    /// How somebody says what they do not have any more.
    CANCELLED,
    /// How somebody says what they use.
    IS_ON,
    /// Verbs of what a thing or another one does for long.
    VERBS,
    /// Words that stand for something, and name nothing.
    NO_SUBJECT,
    /// How a proposal begins.
    PROPOSES,
    /// How something is offered.
    OFFERS,
    /// Words of somebody who decides for it.
    DECIDES,
    /// How somebody takes a proposal.
    ACCEPTS,
    /// Words of an answer that takes it only in part, or asks for something.
    NO_ACCEPT,
}

/// Words of a sentence at most, of which each says something of one change.
const MOST_WORDS: usize = 16;
/// Words at the end of a sentence that say that it is so from now on.
pub(super) const NOW: [&str; 6] = ["now", "now on", "since today", "as of today", "from today on", "since yesterday"];
/// Words of a name before a verb at most.
const MOST_NAME: usize = 4;
/// Words of an answer at most that only takes a proposal.
const MOST_ACCEPT: usize = 8;
/// Bytes of a proposal at most.
const MOST_PROPOSAL: usize = 200;

/// "I've been promoted to staff engineer", "I'm now lead data engineer": what somebody does by trade from now on.
pub(super) fn promoted(s: &Sentence<'_>) -> Option<Reading> {
    let now = ["i'm now", "i am now"].iter().find_map(|opening| starts(s.words, 0, opening));
    let at = PROMOTED.iter().find_map(|opening| starts(s.words, 0, opening)).or(now)?;
    let (value, end) = s.value(at)?;
    let trade = (at..end.min(at + MOST_NAME)).any(|at| among(&TRADES, s.word(at)) || among(&TITLES, s.word(at)));
    let article = ["a", "an"].contains(&s.word(at));
    if now.is_some() && (!trade || article) {
        return None;
    }
    Some(
        Reading::new(Category::Profile, "occupation")
            .told(format!("The user works as {value}."), !s.says_more_than_when(end))
            .slot("occupation"),
    )
}

/// The reading of a sentence that says what changed.
pub(super) fn changed(s: &Sentence<'_>) -> Option<Reading> {
    let plain = s.words.iter().filter(|word| !word.is_mark()).count();
    let begins = s.word(0);
    let asks =
        among(&ASKS, begins) || among(&WORK, begins) || among(&INSTRUCTS, begins) || s.words.last().is_some_and(|word| word.lower == "?");
    if !(3..=MOST_WORDS).contains(&plain) || asks || begins == "if" || begins == "when" {
        return None;
    }
    moved(s).or_else(|| happened(s)).or_else(|| is_now(s)).or_else(|| habit(s)).or_else(|| renewed(s)).or_else(|| contrasted(s))
}

/// "Changed our flour supplier, it's Moagem Ceres now": whom or what the user has in place of another.
pub(super) fn replaced(s: &Sentence<'_>) -> Option<Reading> {
    const NO_THING: [&str; 9] = ["mind", "variable", "class", "function", "method", "shirt", "order", "clothes", "tone"];
    let verb = s.behind(0, &["i", "we", "i've", "we've", "i just", "we just", "i've just", "we've just"]).unwrap_or(0);
    let owner = verb + 1;
    let changes = ["changed", "switched", "swapped", "replaced"].contains(&s.word(verb)) && ["my", "our"].contains(&s.word(owner));
    let comma = (owner + 2..=owner + 1 + MOST_NAME).find(|at| changes && *at < s.words.len() && s.parted(*at))?;
    let thing = s.between(owner + 1, comma).filter(|_| !among(&NO_THING, s.word(comma - 1)))?;
    let at = s.behind(
        comma,
        &[
            "it's",
            "it is",
            "it's now",
            "now it's",
            "now we have",
            "now i have",
            "the new one is",
            "the new one's",
            "now with",
            "we have",
            "we're with",
            "we're now with",
        ],
    )?;
    let end = s.words.iter().rposition(|word| !word.is_mark() && word.lower != "now")? + 1;
    let value =
        s.between(at, end).filter(|_| at < end && s.words[at].capital && !s.words[at..end].iter().any(|word| word.lower == "now"))?;
    let is = format!("{} {} is {value}", s.word(owner), thing.trim_end_matches([',', ';']));
    let own = words(&is);
    let reading = super::attribute::attribute(&Sentence { text: &is, words: &own })?;
    reading.slot.is_some().then_some(reading)
}

fn told(category: Category) -> Reading {
    Reading { importance: 600, ..Reading::new(category, "what changed") }
}

/// Whether the words before a verb name something.
fn is_subject(s: &Sentence<'_>, verb: usize) -> bool {
    let first = s.word(usize::from(["the", "our", "my"].contains(&s.word(0))));
    (1..=MOST_NAME + 1).contains(&verb) && !among(&NO_SUBJECT, first) && !(1..verb).any(|at| s.parted(at))
}

/// "Standup was moved to 9:30": a name without "my" before it has the slot that it has with it.
fn moved(s: &Sentence<'_>) -> Option<Reading> {
    let (verb, behind) = (1..=2).find_map(|at| MOVED.iter().find_map(|verb| starts(s.words, at, verb)).map(|behind| (at, behind)))?;
    let letters = s.words[..verb].iter().all(|word| word.lower.chars().all(char::is_alphabetic));
    let (value, end) = s.value(behind)?;
    let name = spelled(&s.between(0, verb)?.to_lowercase());
    let timed = kind_of(&name, &value) == ValueKind::Time && !s.says_more_than_when(end);
    (timed && letters && is_subject(s, verb) && !["the", "our", "my", "a", "an"].contains(&s.word(0)))
        .then(|| told(Category::Semantic).slot(name))
}

/// "The launch got cancelled", "I cancelled Netflix".
fn happened(s: &Sentence<'_>) -> Option<Reading> {
    let verb = (1..=MOST_NAME + 1).find(|at| HAPPENED.iter().any(|verb| starts(s.words, *at, verb).is_some()));
    let own = CANCELLED.iter().find_map(|opening| starts(s.words, 0, opening));
    let names = own.is_some_and(|at| s.words.get(at).is_some_and(|word| !word.is_mark() && !among(&NO_SUBJECT, &word.lower)));
    (names || verb.is_some_and(|verb| is_subject(s, verb))).then(|| told(Category::Episodic))
}

/// "payments-api runs on port 9443 now", "We're on GitHub Actions now", "Pieter owns checkout now".
fn is_now(s: &Sentence<'_>) -> Option<Reading> {
    let end = s.words.iter().rposition(|word| !word.is_mark())? + 1;
    let since = NOW.iter().find_map(|now| end.checked_sub(now.split(' ').count()).filter(|at| starts(s.words, *at, now) == Some(end)))?;
    let names = |from: usize| s.words[from..since].iter().any(|word| word.capital || word.lower.bytes().any(|byte| byte.is_ascii_digit()));
    let used = IS_ON.iter().find_map(|opening| starts(s.words, 0, opening)).filter(|at| *at < since && !among(&NO_SUBJECT, s.word(*at)));
    if used.is_some_and(names) {
        return Some(told(Category::Semantic));
    }
    let verb = (1..=MOST_NAME).find(|at| among(&VERBS, s.word(*at)))?;
    let named = s.words[0].capital || ["the", "our", "my"].contains(&s.word(0)) || s.word(0).contains(['-', '_', '.']);
    (named && verb < since && is_subject(s, verb)).then(|| told(Category::Semantic))
}

/// "They reissued the order, the new number is A-21007".
fn renewed(s: &Sentence<'_>) -> Option<Reading> {
    let new = (1..s.words.len()).find(|at| s.word(*at) == "new" && ["the", "our", "my"].contains(&s.word(at - 1)))?;
    let is = (new + 2..=new + 1 + MOST_NAME).find(|at| ["is", "are"].contains(&s.word(*at)))?;
    let value = s.words.get(is + 1)?;
    let valued = value.capital || value.lower.bytes().any(|byte| byte.is_ascii_digit());
    (valued && !s.negated(is + 1)).then(|| told(Category::Semantic))
}

/// "The bug is in lexer.py, not parser.py": what is so, and what is not.
fn contrasted(s: &Sentence<'_>) -> Option<Reading> {
    let is = (2..=MOST_NAME + 1).find(|at| ["is", "are", "was", "were"].contains(&s.word(*at)))?;
    let not = (is + 2..s.words.len().saturating_sub(1)).find(|at| s.word(*at) == "not" && s.parted(*at))?;
    let owned = ["the", "our", "my"].contains(&s.word(0)) && is_subject(s, is);
    let short = s.words.len() - not <= MOST_NAME + 1;
    let valued = |word: &Word| word.capital || word.lower.contains(['.', '-', '_', '/']) || word.is_number();
    let contrasts = owned && short && s.words[is + 1..not].iter().any(valued) && s.words[not + 1..].iter().any(valued);
    Some(told(Category::Semantic).text(capital(&s.between(0, s.words.len()).filter(|_| contrasts)?)))
}

/// The proposal of a model's that a short answer takes.
pub(super) fn accepted<'b>(before: &'b str, answer: &[Word]) -> Option<&'b str> {
    let plain = answer.iter().filter(|word| !word.is_mark()).count();
    let takes = ACCEPTS.iter().any(|phrase| starts(answer, 0, phrase).is_some()) && plain <= MOST_ACCEPT;
    let doubts = answer.iter().any(|word| among(&NO_ACCEPT, &word.lower) || word.lower == "?");
    if !takes || doubts {
        return None;
    }
    let last = sentences(before).into_iter().next_back().map(|span| &before[span.start..span.end])?;
    let own = words(last);
    // An offer may be one of many ("How about the Eagles?"): only who decides takes it.
    let decides = || OFFERS.iter().find_map(|phrase| starts(&own, 0, phrase)).filter(|_| DECIDES.iter().any(|phrase| has(answer, phrase)));
    let begins = PROPOSES.iter().find_map(|phrase| starts(&own, 0, phrase)).or_else(decides)?;
    let names = |word: &Word| {
        word.capital && word.lower != "i" && !word.lower.starts_with("i'") || word.lower.bytes().any(|byte| byte.is_ascii_digit())
    };
    let named = own[begins..].iter().any(names) || last.contains(['"', '\u{201C}', '/', '_']);
    (named && last.len() <= MOST_PROPOSAL).then_some(last)
}
