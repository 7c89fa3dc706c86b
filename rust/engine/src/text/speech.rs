//! Speech acts: whether a text only asks, or only says that it does not know. A question is not an answer, and neither is "Sorry, no idea."
//!
//! ```text
//! clauses   cut at . ! ? and their kin of other scripts, at line ends, and before "but", "aber", "pero" ...
//! ignorant  the speaker denies knowing, finding or having information, in fifteen languages (`speech_ignorance.rs`)
//! tells     "can you note that ...", "did you know that ...", "remind me to ..." (`speech_forms.rs`): a statement
//! tag       "..., right?" is cut off, and what stands before it is judged
//! asks      a question mark, unless all else of the clause states a number or a date; a question word or a verb in front of its subject
//!           (English, German, French, Spanish, Portuguese, Italian, Russian); a particle at the end (Japanese, Chinese, Korean); a question
//!           word in front (Arabic); an order to be told something ("give me the name of ...")
//! courtesy  a greeting, an apology, an offer: says nothing either way
//! states    everything else
//! ```
//!
//! A text asks where a clause asks and none states; it does not know where a clause says so and none states. So "I moved to Lisbon. And
//! you?" is a statement. It judges words, not truth, and where it cannot tell it takes a clause for a statement: a prompt would lose a
//! statement that is wrongly taken for a question. Source: the rules are our own; the tests have them as a table.

use unicode_normalization::UnicodeNormalization;

pub use super::speech_courtesy::{acknowledges, goes_on};
use super::speech_forms::{before_tag, orders, states_a_number, tells};
use super::speech_ignorance::is_ignorant;
use super::speech_lists::{BUT, CHINESE_QUESTIONS, COURTESY, QUESTION_ENDS, QUESTIONS_ACCENTED};
use super::speech_words::{Known, List, Phrases, known};
use crate::units::clip::clip;

/// The most bytes of a text that are looked at: a longer one is neither a question nor an excuse.
pub(super) const MOST_BYTES: usize = 2_000;

/// Words between two questions.
const JOINS: [&str; 12] = ["and", "or", "also", "plus", "und", "oder", "et", "ou", "y", "o", "e", "en"];

/// The speech act of a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clause {
    Asks,
    Ignorant,
    Courtesy,
    States,
}

/// Whether a text asks and states nothing.
#[must_use]
pub fn asks(text: &str) -> bool {
    only(text, Clause::Asks)
}

/// Whether a text asks for a time.
#[must_use]
pub fn asks_when(text: &str) -> bool {
    if !text.is_ascii() {
        return asks_when(&words(&text.to_lowercase()).join(" ").replace(|letter: char| !letter.is_ascii(), "x"));
    }
    let is = |word: &[u8], name: &str| word.iter().filter(|byte| **byte != b'\'').map(u8::to_ascii_lowercase).eq(name.bytes());
    let is_word = |word: &&[u8]| word.iter().any(u8::is_ascii_alphanumeric);
    let mut before: &[u8] = b"";
    text.as_bytes().split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'\'')).filter(is_word).any(|word| {
        let one = ["when", "date", "year", "month"].iter().any(|name| is(word, name));
        let two = is(before, "how") && is(word, "long") || is(before, "what") && is(word, "day");
        before = word;
        one || two
    })
}

/// Whether a text asks for more than one thing: a question word begins it, or follows a mark or an "and", twice or more.
#[must_use]
pub fn asks_several(text: &str) -> bool {
    let asks = |word: &str| known(&word.to_lowercase().replace(['\'', '\u{2019}'], "")).is_in(List::Interrogatives);
    let (mut asked, mut begins) = (0, true);
    for chunk in clip(text, MOST_BYTES).split_whitespace() {
        let word = chunk.trim_matches(|letter: char| !letter.is_alphanumeric());
        asked += usize::from(begins && asks(word));
        let joins = || JOINS.iter().any(|join| word.eq_ignore_ascii_case(join));
        begins = chunk.ends_with(['?', '!', '.', ',', ';', ':']) || joins() || begins && word.is_empty();
    }
    asked > 1
}

/// Whether a text asks or says that it does not know, and states nothing: both questions at the price of one.
#[must_use]
pub fn answers_nothing(text: &str) -> bool {
    lack(text).is_some()
}

fn only(text: &str, wanted: Clause) -> bool {
    lack(text) == Some(wanted)
}

/// The speech act of a text that states nothing: it asks, or does not know. Most texts state something in their first clause.
fn lack(text: &str) -> Option<Clause> {
    if text.len() > MOST_BYTES {
        return None;
    }
    let mut lack = None;
    for clause in clauses(text) {
        match classify(clause) {
            Clause::States => return None,
            Clause::Courtesy => {}
            // "I don't know which one you mean. The old one?" is not knowing, and so is "Which one? I don't know."
            kind => lack = if lack == Some(Clause::Ignorant) { lack } else { Some(kind) },
        }
    }
    lack
}

/// The clauses of a text with their end marks.
fn clauses(text: &str) -> Vec<&str> {
    let (mut found, mut start) = (Vec::new(), 0);
    let mut characters = text.char_indices().peekable();
    while let Some((at, one)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        let ends = match one {
            '\n' | '\u{3002}' | '\u{ff1f}' | '\u{ff01}' | '\u{61f}' | '\u{964}' => true,
            '.' if is_title(&text[start..at]) => false,
            '.' | '!' | '?' | '\u{2026}' | ';' => next.is_none_or(|next| next.is_whitespace() || next == '"' || next == '\u{201d}'),
            _ => false,
        };
        if ends {
            let end = at + one.len_utf8();
            split_at_but(&text[start..end], &mut found);
            start = end;
        }
    }
    split_at_but(&text[start..], &mut found);
    found
}

/// Whether a text ends in a title before a name: "contact person at Dr". "30 ms" and "Main St" end a sentence.
fn is_title(text: &str) -> bool {
    const TITLES: [&str; 4] = ["dr", "mr", "mrs", "prof"];
    let last = text.rsplit(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
    last == "Ms" || TITLES.iter().any(|title| last.eq_ignore_ascii_case(title))
}

fn split_at_but<'t>(sentence: &'t str, found: &mut Vec<&'t str>) {
    let but_at = |at: usize| BUT.iter().find(|but| sentence[at..].starts_with(**but)).map(|but| (at, at + but.len()));
    let at = sentence.match_indices([' ', ',', '\u{ff0c}']).find_map(|(at, _)| but_at(at));
    let (first, rest) = at.map_or((sentence, ""), |(end, start)| (&sentence[..end], &sentence[start..]));
    found.extend([first, rest].into_iter().filter(|clause| clause.chars().any(|one| one.is_alphanumeric() || is_question_mark(one))));
}

pub(super) fn is_question_mark(one: char) -> bool {
    matches!(one, '?' | '\u{ff1f}' | '\u{61f}' | '\u{37e}')
}

fn classify(clause: &str) -> Clause {
    let lower = clause.to_lowercase();
    judge(&lower, &Word::all(&lower))
}

/// The speech act of a clause in lower case, and its words.
fn judge(lower: &str, words: &[Word]) -> Clause {
    if !is_courteous_start(words) && is_ignorant(lower, words) {
        return if states_behind(lower) { Clause::States } else { Clause::Ignorant };
    }
    if tells(words) {
        return Clause::States;
    }
    if is_marked_as_question(lower)
        && let Some(head) = before_tag(lower)
    {
        let kind = classify(head);
        return if kind == Clause::Courtesy { Clause::Asks } else { kind };
    }
    if is_question(lower, words) || orders(lower, words) {
        return Clause::Asks;
    }
    if says_nothing(lower, words) { Clause::Courtesy } else { Clause::States }
}

/// "I'm not sure about that, we prefer the green ones": whether a part behind the one that does not know begins a statement of its own.
fn states_behind(lower: &str) -> bool {
    let mut parts = lower.split(", ").map(|part| (part, Word::all(part)));
    let begins = |words: &[Word]| words.len() > 2 && (is_in(words, 0, List::Subjects) || is_in(words, 0, List::Determiners));
    parts.any(|(part, words)| is_ignorant(part, &words))
        && parts.any(|(part, words)| begins(&words) && judge(part, &words) == Clause::States)
}

/// Words in lower case, without accents and apostrophes: `don't` is `dont`.
fn words(lower: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for one in lower.chars() {
        match one {
            '\'' | '\u{2019}' => {}
            '\u{df}' => words.last_mut().expect("there is one").push_str("ss"),
            '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => {
                words.last_mut().expect("there is one").extend(one.nfd().filter(|part| !('\u{300}'..='\u{36f}').contains(part)));
            }
            _ if one.is_alphanumeric() || !one.is_ascii() && !one.is_whitespace() && !one.is_ascii_punctuation() => {
                words.last_mut().expect("there is one").push(one);
            }
            _ => words.push(String::new()),
        }
    }
    words.retain(|word| word.chars().any(char::is_alphanumeric));
    words
}

/// A word, with what it is known for.
pub(super) struct Word {
    pub text: String,
    pub known: &'static Known,
}

impl Word {
    /// The words of a text in lower case.
    pub(super) fn all(lower: &str) -> Vec<Self> {
        words(lower).into_iter().map(Self::of).collect()
    }

    fn of(text: String) -> Self {
        Self { known: known(&text), text }
    }
}

pub(super) fn text_at(words: &[Word], at: usize) -> &str {
    words.get(at).map_or("", |word| &word.text)
}

pub(super) fn is_in(words: &[Word], at: usize, list: List) -> bool {
    words.get(at).is_some_and(|word| word.known.is_in(list))
}

/// Whether a phrase of a list stands in front.
pub(super) fn begins(words: &[Word], list: Phrases) -> bool {
    begins_with(words, list).is_some()
}

/// How many words the first phrase of a list has that stands in front.
pub(super) fn begins_with(words: &[Word], list: Phrases) -> Option<usize> {
    let is_here = |phrase: &&str| {
        let mut rest = words.iter();
        phrase.split(' ').all(|wanted| rest.next().is_some_and(|word| word.text == wanted))
    };
    words.first()?.known.begins(list).find(is_here).map(|phrase| phrase.split(' ').count())
}

/// `if I don't know ...` tells of a condition.
fn is_courteous_start(words: &[Word]) -> bool {
    matches!(text_at(words, 0), "if" | "when" | "because" | "since")
}

/// Whether one of these stands in a text; each has a letter that is not ASCII.
pub(super) fn has_any(text: &str, parts: &[&str]) -> bool {
    !text.is_ascii() && parts.iter().any(|part| text.contains(part))
}

pub(super) fn without_closing_marks(clause: &str) -> &str {
    clause.trim_end_matches(|one: char| one.is_whitespace() || matches!(one, '!' | '"' | '\'' | ')' | '\u{201d}' | '\u{300d}'))
}

/// Whether a clause ends with a question mark: it asks, or says that it does not know, and is not a courtesy.
fn is_marked_as_question(clause: &str) -> bool {
    without_closing_marks(clause).ends_with(is_question_mark)
}

fn is_question(lower: &str, words: &[Word]) -> bool {
    let end = without_closing_marks(lower);
    let bare = end.trim_end_matches(['\u{3002}', '.']);
    let is_marked = is_marked_as_question(lower) && !states_a_number(lower, words);
    if is_marked || lower.trim_start().starts_with('\u{bf}') || QUESTION_ENDS.iter().any(|end| bare.ends_with(end)) {
        return true;
    }
    let leads = words.iter().take_while(|word| word.known.is_in(List::Leads)).count();
    let words = &words[leads..];
    let first = lower.split(|one: char| !one.is_alphanumeric()).find(|word| !word.is_empty()).unwrap_or_default();
    QUESTIONS_ACCENTED.contains(&first)
        || begins(words, Phrases::Questions)
        || is_english_question(words) && !is_name_before_comma(lower)
        || is_german_question(words)
        || asks_in_chinese(bare)
}

/// "\u{4ec0}\u{4e48}" asks; with "no" before it, it is nothing, and with "all" behind it anything.
fn asks_in_chinese(text: &str) -> bool {
    const NO_QUESTION: [&str; 2] = ["\u{6ca1}\u{4ec0}\u{4e48}", "\u{4ec0}\u{4e48}\u{90fd}"];
    let without = || NO_QUESTION.iter().fold(text.to_owned(), |text, said| text.replace(said, ""));
    is_told_to_tell(text) || has_any(text, &CHINESE_QUESTIONS) && has_any(&without(), &CHINESE_QUESTIONS)
}

/// "\u{544a}\u{8bc9}\u{6211}\u{6211}\u{7684}\u{53f7}\u{7801}": an order to tell something of the speaker's.
fn is_told_to_tell(text: &str) -> bool {
    const TELL: [&str; 4] = [
        "\u{544a}\u{8bc9}\u{6211}\u{6211}",
        "\u{8bf7}\u{544a}\u{8bc9}\u{6211}",
        "\u{544a}\u{8a34}\u{6211}\u{6211}",
        "\u{8acb}\u{544a}\u{8a34}\u{6211}",
    ];
    TELL.iter().any(|tell| text.trim_start().starts_with(tell))
}

/// "will, my brother, lives in Ghent": a name, and no verb before its subject.
fn is_name_before_comma(lower: &str) -> bool {
    lower.trim_start().strip_prefix("will").is_some_and(|rest| rest.starts_with(','))
}

/// "which port does it use", "did we deploy", "how to restart it"; not "what I need is rest", "when the server was down".
fn is_english_question(words: &[Word]) -> bool {
    let word = |at| text_at(words, at);
    match word(0) {
        "how" if matches!(word(1), "to" | "many" | "much" | "long" | "often" | "old") => true,
        "what" if matches!(word(1), "happened" | "happens" | "changed") => true,
        "what" | "how" | "which" | "whose" | "who" if matches!(word(1), "a" | "an") => false,
        "when" | "where" | "why" => is_in(words, 1, List::Auxiliaries) && word(1) != "is" || word(1) == "is" && words.len() > 2,
        "who" => words.len() <= 12 && words.len() > 1 && !is_in(words, 1, List::Subjects),
        "what" | "how" => auxiliary_before_subject(words, 1),
        "which" | "whose" => auxiliary_before_subject(words, 2),
        "do" | "have" | "may" | "might" => matches!(word(1), "you" | "we" | "they" | "i" | "anyone" | "anybody"),
        "am" => word(1) == "i",
        "is" | "are" | "was" | "were" | "does" | "did" | "can" | "could" | "will" | "would" | "should" | "has" | "had" | "isnt"
        | "arent" | "didnt" | "doesnt" | "dont" | "wasnt" | "cant" | "couldnt" | "wont" => {
            // "had my appendix removed" has no subject
            is_in(words, 1, List::Subjects) || is_in(words, 1, List::Determiners) && !matches!(word(0), "has" | "had")
        }
        _ => false,
    }
}

/// Whether an auxiliary stands at `from` or within three words behind it, and no subject before it.
fn auxiliary_before_subject(words: &[Word], from: usize) -> bool {
    let before = words.iter().skip(1).take(from + 3);
    let at = before.clone().position(|word| word.known.is_in(List::Auxiliaries)).map(|at| at + 1);
    at.is_some_and(|at| {
        // "what fixed the bug was clearing the cache" turns nothing round, "what kind of dog do I have" does
        let is_turned = at <= from + 1 || is_in(words, at + 1, List::Subjects) || matches!(text_at(words, at), "do" | "does" | "did");
        at >= from && is_turned && !words[1..at].iter().any(|word| word.known.is_in(List::Subjects))
    })
}

/// "wann war das", "kannst du"; not "was ich brauche", "wie immer".
fn is_german_question(words: &[Word]) -> bool {
    const ASK: [&str; 16] = [
        "wie", "was", "wer", "wo", "wann", "warum", "wieso", "wohin", "woher", "wem", "wessen", "welche", "welcher", "welches", "welchen",
        "welchem",
    ];
    const NOT_AFTER: [&str; 14] = ["ich", "du", "er", "sie", "es", "wir", "ihr", "man", "immer", "gesagt", "schon", "auch", "the", "a"];
    const VERBS: [&str; 20] = [
        "ist",
        "sind",
        "hat",
        "habt",
        "hast",
        "haben",
        "kann",
        "kannst",
        "konnen",
        "konnt",
        "weisst",
        "wisst",
        "war",
        "waren",
        "wird",
        "soll",
        "darf",
        "kennst",
        "kennt",
        "erinnerst",
    ];
    const BEHIND_WAS: [&str; 14] = [
        "macht",
        "machst",
        "kostet",
        "heisst",
        "bedeutet",
        "passiert",
        "passierte",
        "gibt",
        "steht",
        "fur",
        "mochte",
        "willst",
        "magst",
        "mag",
    ];
    let word = |at| text_at(words, at);
    let subject =
        |word: &str| matches!(word, "ich" | "du" | "er" | "sie" | "es" | "wir" | "ihr" | "man" | "der" | "die" | "das" | "mein" | "unser");
    // "was told to rest" is English
    let is_german = || word(0) != "was" || VERBS.contains(&word(1)) || BEHIND_WAS.contains(&word(1));
    ASK.contains(&word(0)) && words.len() > 2 && !NOT_AFTER.contains(&word(1)) && !is_in(words, 1, List::Auxiliaries) && is_german()
        || VERBS.contains(&word(0)) && subject(word(1))
}

fn says_nothing(lower: &str, words: &[Word]) -> bool {
    words.iter().all(|word| word.known.is_in(List::Courtesy))
        || begins(words, Phrases::Offers)
        || words.len() <= 8 && COURTESY.iter().any(|part| lower.contains(part))
}

#[cfg(test)]
#[path = "speech_tests.rs"]
mod tests;
