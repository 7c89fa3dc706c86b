//! Requests for work on a text that is handed over: "proofread this please", "can you tidy up this text", "tl;dr", "is this review
//! positive?". `handed` finds the text.

use super::guards::{is_lasting, without_polite};
use super::lexicon::FIRST;
use super::lists::lists;
use super::others::{is_passed_on, is_text, points};
use super::quoted::is_from;
use super::words::{Word, among, has, starts};

lists! { "tasks":
    /// Words before a request, beside the polite ones of `guards`.
    PREFACES,
    /// Verbs that ask for work on a text, whatever stands behind them.
    WORKS,
    /// Verbs of [`WORKS`] without "up" and "down", which may stand behind the text: "tidy this up".
    WORKS_APART,
    /// Verbs that ask for work on a text where the request names one.
    EDITS,
    /// Words behind a verb that names no text: "summarise for me".
    ALONE,
    /// How a text may be made: "make this sound friendlier".
    MANNERS,
    /// Forms into which a text may be put: "convert this to bullet points".
    FORMS,
    /// First words of a question about a text.
    STARTS,
    /// Words by which it asks about one: "the main point of this article".
    RELATIONS,
    /// Verbs by which it asks for an answer to one.
    REPLIES,
    /// More names of texts, beside those of `others`.
    MORE_TEXTS,
    /// Names of texts that a model wrote, or of what belongs to a program.
    NO_TEXTS,
    /// Words of a request for work on something else: "your last message", "this function".
    ELSEWHERE,
    /// How a text is handed over: "here's an email from Bob".
    FORWARDS,
    /// Words of a request for work on the user's own words: "tidy this up and save it", "translate this for the waiter".
    OWN_USES,
    /// Words behind "tl;dr" that ask for a summary. Any other is of the summary itself.
    SUMMED_UP,
}

/// Words of a request at most.
const MOST_WORDS: usize = 16;
/// Words of a request at most that names no text: "translate into German for me".
const MOST_ALONE: usize = 6;
/// Words between a word that points and the name of a text: "this | very long | letter".
const MOST_BETWEEN: usize = 2;
/// Words between a verb and a text that somebody passed on, with the text: "sent me this".
const MOST_PASSED: usize = 3;

/// The text that a request works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// A text that it names or points at.
    Text,
    /// The text beside it: "proofread please".
    Alone,
    /// The text beside it, or what was said before: "make it shorter".
    It,
    /// A text that it asks about.
    Question,
    /// A text that it asks how to answer, which may have been handed over before.
    Reply,
    /// Words that may be a text, or the user's own: "what do you think of this".
    Thought,
    /// A summary of the text beside it: "tl;dr". Before a colon it is the user's own.
    Summary,
}

/// The task of a sentence that asks for work on a text and says nothing else. `words` may be all of it, or those before its colon.
pub(super) fn of(text: &str, words: &[Word]) -> Option<Task> {
    let end = words.iter().rposition(|word| !word.is_mark())? + 1;
    let asks = words.len() > end;
    let words = without_prefaces(&words[..end]);
    if words.is_empty() || words.len() > MOST_WORDS || is_lasting(words) {
        return None;
    }
    if passes_on(text, words, asks) || hands_over(words, asks) {
        return Some(Task::Text);
    }
    if words.iter().any(|word| among(&ELSEWHERE, &word.lower)) || ["about me", "about myself", "about us"].iter().any(|own| has(words, own))
    {
        return None;
    }
    // "Translate this for the waiter", and not "translate this letter for the doctor"
    let is_use = |at: usize| OWN_USES.iter().any(|phrase| starts(words, at, phrase).is_some()) && !names_text(&words[..at]);
    if (0..words.len()).any(is_use) {
        return None;
    }
    if let Some(at) = ["tl dr", "tldr", "eli5"].iter().find_map(|short| starts(words, 0, short)) {
        return sums_up(text, words, at);
    }
    works(text, words).or_else(|| remakes(text, words)).or_else(|| edits(text, words)).or_else(|| question(text, words, asks))
}

/// The words of a sentence behind those that greet and ask politely.
fn without_prefaces(words: &[Word]) -> &[Word] {
    let mut rest = without_polite(words);
    while let Some(next) = PREFACES.iter().filter_map(|preface| starts(rest, 0, preface)).max() {
        rest = without_polite(&rest[next..]);
    }
    rest
}

/// "My aunt wrote me this": a text came from somebody, and the sentence points at it.
fn passes_on(text: &str, words: &[Word], asks: bool) -> bool {
    let asks = asks || STARTS.iter().any(|start| starts(words, 0, start).is_some());
    (0..words.len()).filter(|at| is_passed_on(words, *at)).any(|at| {
        let behind = &words[at + 1..];
        let this = behind.iter().take(MOST_PASSED).position(|word| ["this", "these"].contains(&word.lower.as_str()));
        let this = this.map_or(&[][..], |this| &behind[this..]);
        // "Who wrote this?" may ask for anything.
        let is_told = words[0].lower != "who" && !names_text(this);
        let is_text = is_told && points(text, this, &["this", "these"]) || this.last().is_some_and(names) && names_text(this);
        is_text || asks && names_text(words) // "this letter my friend wrote"
    })
}

/// "Here's an email from my landlord, what does he want?"
fn hands_over(words: &[Word], asks: bool) -> bool {
    let Some(at) = FORWARDS.iter().filter_map(|lead| starts(words, 0, lead)).max() else { return false };
    let article = words.get(at).is_some_and(|word| ["a", "an", "the", "some"].contains(&word.lower.as_str()));
    let named = words[at..].iter().take(MOST_BETWEEN + 2).any(names);
    let own = words[at..].iter().any(|word| among(&FIRST, &word.lower) || ["you", "your"].contains(&word.lower.as_str()));
    article && named && (is_from(words) || !own && (asks || has(words, "from")))
}

/// "Tl;dr", "ELI5 this please", and not the summary of the user's own words: "tl;dr: I moved", "tldr fired".
fn sums_up(text: &str, words: &[Word], at: usize) -> Option<Task> {
    let rest = &words[at..];
    let parted = rest.first().is_some_and(|next| text[words[at - 1].end..next.start].contains(':'));
    let asks = |word: &Word| word.is_mark() || among(&ALONE, &word.lower) || among(&SUMMED_UP, &word.lower);
    if parted || !(rest.iter().all(asks) || names_text(rest)) {
        return None;
    }
    let points = rest.iter().any(|word| ["this", "it"].contains(&word.lower.as_str()));
    Some(if points { Task::Text } else { Task::Summary })
}

/// "Proofread please", "translate this into German", "tidy this up".
fn works(text: &str, words: &[Word]) -> Option<Task> {
    let particle = || words.iter().take(5).any(|word| ["up", "down"].contains(&word.lower.as_str()));
    let apart = || words.first().filter(|verb| among(&WORKS_APART, &verb.lower) && particle()).map(|_| 1);
    let at = WORKS.iter().filter_map(|verb| starts(words, 0, verb)).max().or_else(apart)?;
    let rest = &words[at..];
    let alone = || rest.is_empty() || rest.len() <= MOST_ALONE && among(&ALONE, &rest[0].lower);
    object(text, rest).or_else(|| (alone() && words[0].lower != "polish").then_some(Task::Alone))
}

/// "Make this sound friendlier", "turn it into bullet points".
fn remakes(text: &str, words: &[Word]) -> Option<Task> {
    let rest = words.get(1..)?;
    let any = |list: &[&str]| list.iter().any(|phrase| has(rest, phrase));
    let remakes = match words[0].lower.as_str() {
        "make" => any(&MANNERS),
        "convert" | "turn" | "reformat" | "transform" => any(&FORMS),
        _ => false,
    };
    let this = || rest.len() > 1 && rest[0].lower == "this" && among(&MANNERS, &rest[1].lower);
    object(text, rest).or_else(|| this().then_some(Task::Text)).filter(|_| remakes)
}

/// "Improve this paragraph", "fix the grammar", "extract the dates from the following text".
fn edits(text: &str, words: &[Word]) -> Option<Task> {
    const SPELLING: [&str; 4] = ["grammar", "spelling", "punctuation", "wording"];
    let at = EDITS.iter().filter_map(|verb| starts(words, 0, verb)).max()?;
    let rest = &words[at..];
    let spells = |at: &usize| among(&SPELLING, &rest[*at].lower) && rest.get(at + 1).is_none_or(|next| next.lower != "of");
    let mends = ["fix", "correct", "check", "improve"].contains(&words[0].lower.as_str());
    if names_text(rest) || has(rest, "the text") || mends && (0..rest.len()).any(|at| spells(&at)) {
        return Some(Task::Text);
    }
    // "Fix this:" is for a program as well, but where a colon stands behind it.
    let ends_line = |behind: &str| behind.trim_start_matches([' ', '\r']).starts_with('\n') || behind.trim().is_empty();
    let ends = words.last().is_some_and(|last| text[last.end..].strip_prefix(':').is_some_and(ends_line));
    let mends = ends && ["fix", "correct", "edit", "improve", "expand"].contains(&words[0].lower.as_str());
    (mends && points(text, &rest[..rest.len().min(3)], &["this", "these", "following", "below"])).then_some(Task::Text)
}

/// "What's the main point of this article?", "how should I reply to this mail?"
fn question(text: &str, words: &[Word], asks: bool) -> Option<Task> {
    if !STARTS.iter().any(|start| starts(words, 0, start).is_some()) {
        return None;
    }
    let any = |list: &[&str]| list.iter().any(|phrase| has(words, phrase));
    if names_text(words) {
        let tells = words.iter().any(|word| ["i", "i'm", "i've", "we"].contains(&word.lower.as_str()));
        return if any(&REPLIES) {
            Some(Task::Reply)
        } else {
            let about = any(&RELATIONS) || words.last().is_some_and(|last| last.lower == "about");
            (!tells && about).then_some(Task::Question)
        };
    }
    let last = words.last().filter(|last| last.lower == "this")?;
    let ends = !asks && text[last.end..].starts_with(':');
    let thinks = ["think of this", "make of this"].iter().any(|phrase| has(words, phrase));
    let sums_up = ["gist of this", "summary of this", "translation of this"].iter().any(|phrase| has(words, phrase));
    if sums_up { Some(Task::Text) } else { (ends && thinks).then_some(Task::Thought) }
}

/// The object of a verb that works on a text.
fn object(text: &str, rest: &[Word]) -> Option<Task> {
    let near = &rest[..rest.len().min(4)];
    let is_at = |word: &Word, list: &[&str]| among(list, &word.lower);
    let at = near.iter().position(|word| is_at(word, &["this", "these", "following"]));
    if at.is_some_and(|at| rest[at + 1..].iter().take(MOST_BETWEEN).any(|word| is_at(word, &NO_TEXTS))) {
        return None; // "this conversation"
    }
    if names_text(rest) || has(rest, "the text") || points(text, near, &["this", "these", "following", "below"]) {
        return Some(Task::Text);
    }
    // "Make it shorter", and not "make it a habit"
    near.first().is_some_and(|word| ["it", "that"].contains(&word.lower.as_str())).then_some(Task::It)
}

/// Whether words name a text that stands beside them: "this cover letter", "the message below", "the following text".
fn names_text(words: &[Word]) -> bool {
    let is = |at: usize, list: &[&str]| words.get(at).is_some_and(|word| list.contains(&word.lower.as_str()));
    (0..words.len()).any(|at| {
        let pointed = is(at, &["this", "these", "following", "attached"]) && words[at + 1..].iter().take(MOST_BETWEEN + 1).any(names);
        let placed = || names(&words[at]) && is(at + 1, &["below", "above"]);
        pointed || placed()
    })
}

/// Whether a word is the name of a text that people hand over.
fn names(word: &Word) -> bool {
    let lower = word.lower.as_str();
    let among = |list: &[&str]| among(list, lower) || lower.strip_suffix('s').is_some_and(|one| among(list, one));
    is_text(word) && !among(&NO_TEXTS) || among(&MORE_TEXTS)
}

/// The name of the text that a question is about.
pub(super) fn named(words: &[Word]) -> Option<&str> {
    words.iter().find(|word| names(word)).map(|word| word.lower.as_str())
}
