//! Sentences and words of a message, with their place in it.

use super::signs::{begins_word, is_apostrophe, is_of_word, joins, straight};
use crate::interrupt::Steps;
use crate::units::abbreviations;
use crate::units::calendar::is_short_month;

/// A word, a number, or one of `?` and `!`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// In lowest case.
    pub lower: String,
    /// Its first byte.
    pub start: usize,
    /// Behind its last.
    pub end: usize,
    /// Whether it begins with a capital.
    pub capital: bool,
}

impl Word {
    /// Whether it is a number.
    pub fn is_number(&self) -> bool {
        self.lower.as_bytes()[0].is_ascii_digit()
    }

    /// Whether it ends a sentence and says nothing.
    pub fn is_mark(&self) -> bool {
        matches!(self.lower.as_str(), "?" | "!")
    }
}

/// The words of a text. Letters of every script count; an apostrophe, a hyphen or a point inside joins.
pub fn words(text: &str) -> Vec<Word> {
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::with_capacity(text.len() / 5), 0);
    let mut steps = Steps::default();
    while at < bytes.len() {
        steps.reach(at);
        let end = match bytes[at] {
            byte if byte.is_ascii_digit() => {
                at + run(bytes, at, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b',' | b':' | b'-' | b'/'))
            }
            byte if byte.is_ascii_alphabetic() || begins(text, at) => letters(text, at),
            b'?' | b'!' => at + 1,
            _ => {
                at += text[at..].chars().next().map_or(1, char::len_utf8);
                continue;
            }
        };
        let mut last = end;
        while last > at + 1 && matches!(bytes[last - 1], b'.' | b',' | b':' | b'-' | b'/' | b'\'') {
            last -= 1;
        }
        let capital = text[at..].starts_with(char::is_uppercase);
        out.push(Word { lower: straight(&text[at..last].to_lowercase()), start: at, end: last, capital });
        at = end;
    }
    for at in 0..out.len() {
        spell_out(&mut out, at);
    }
    out
}

/// Contractions that are typed without their apostrophe, and mean nothing else.
const CONTRACTED: [(&str, &str); 22] = [
    ("im", "i'm"),
    ("ive", "i've"),
    ("dont", "don't"),
    ("cant", "can't"),
    ("wont", "won't"),
    ("isnt", "isn't"),
    ("didnt", "didn't"),
    ("arent", "aren't"),
    ("wasnt", "wasn't"),
    ("hasnt", "hasn't"),
    ("weve", "we've"),
    ("doesnt", "doesn't"),
    ("havent", "haven't"),
    ("werent", "weren't"),
    ("couldnt", "couldn't"),
    ("wouldnt", "wouldn't"),
    ("shouldnt", "shouldn't"),
    ("youre", "you're"),
    ("youve", "you've"),
    ("theyre", "they're"),
    ("thats", "that's"),
    ("shes", "she's"),
];

/// A contraction with its apostrophe, of one that is typed without.
#[must_use]
pub fn contraction(typed: &str) -> Option<&'static str> {
    CONTRACTED.iter().find(|(known, _)| *known == typed).map(|(_, meant)| *meant)
}

/// Gives a contraction its apostrophe. "Im" before a capital is a word of German.
fn spell_out(words: &mut [Word], at: usize) {
    let Some((typed, meant)) = CONTRACTED.iter().find(|(typed, _)| *typed == words[at].lower) else { return };
    let is_german = *typed == "im" && words.get(at + 1).is_none_or(|next| next.capital);
    if !is_german {
        (*meant).clone_into(&mut words[at].lower);
    }
}

/// Whether a word begins at a place with a letter outside ASCII.
fn begins(text: &str, at: usize) -> bool {
    !text.as_bytes()[at].is_ascii() && text[at..].starts_with(begins_word)
}

fn run(bytes: &[u8], at: usize, class: impl Fn(u8) -> bool) -> usize {
    bytes[at..].iter().take_while(|byte| class(**byte)).count()
}

/// Letters, joined by `'`, `-`, `_` or a point between two of them ("node.js", "prod-eu-west-1", "don't").
fn letters(text: &str, mut at: usize) -> usize {
    loop {
        at += text[at..].chars().take_while(|letter| is_of_word(*letter)).map(char::len_utf8).sum::<usize>();
        let mut rest = text[at..].chars();
        let joint = rest.next().filter(|sign| joins(*sign) && rest.next().is_some_and(begins_word));
        let Some(joint) = joint else {
            // "C++" and "C#" end in their signs.
            return at + run(text.as_bytes(), at, |byte| byte == b'+' || byte == b'#').min(2);
        };
        at += joint.len_utf8();
    }
}

/// Whether the words hold this run of words somewhere.
pub fn has(words: &[Word], phrase: &str) -> bool {
    (0..words.len()).any(|at| starts(words, at, phrase).is_some())
}

/// Whether a list has a word. Most of a list differs in length or in the first letter, and is not compared.
pub fn among(list: &[&str], word: &str) -> bool {
    let first = word.as_bytes().first();
    list.iter().any(|one| one.len() == word.len() && one.as_bytes().first() == first && *one == word)
}

/// The first two letters of the words of some lists, a bit for each pair: most words of a text are in none of them.
pub struct Beginnings([u32; 32]);

impl Beginnings {
    /// The beginnings of some lists, whose words have two letters or more.
    #[must_use]
    pub const fn of(lists: &[&[&str]]) -> Self {
        let (mut all, mut list) = ([0; 32], 0);
        while list < lists.len() {
            let mut at = 0;
            while at < lists[list].len() {
                let word = lists[list][at].as_bytes();
                all[(word[0] & 31) as usize] |= 1 << (word[1] & 31);
                at += 1;
            }
            list += 1;
        }
        Self(all)
    }

    /// Whether one of them may begin as a word does, in small letters or large.
    #[inline]
    #[must_use]
    pub fn may_have(&self, word: &str) -> bool {
        matches!(word.as_bytes(), [first, second, ..] if self.0[usize::from(first & 31)] >> (second & 31) & 1 == 1)
    }
}

/// The place behind a run of words that begins at `at`. Most phrases end at their first letter.
pub fn starts(words: &[Word], at: usize, phrase: &str) -> Option<usize> {
    if words.get(at)?.lower.as_bytes().first() != phrase.as_bytes().first() {
        return None;
    }
    let mut here = at;
    for wanted in phrase.split(' ') {
        if words.get(here)?.lower != wanted {
            return None;
        }
        here += 1;
    }
    Some(here)
}

/// A sentence of a text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Its first byte.
    pub start: usize,
    /// Behind its last.
    pub end: usize,
}

/// More abbreviations, behind which only a word of [`SUBJECTS`] begins a sentence.
const ABBREVIATIONS: [&str; 2] = ["etc", "inc"];
/// Abbreviations at the end of a firm's name, behind which a word with a capital begins a sentence.
const OF_FIRMS: [&str; 4] = ["ltd", "co", "corp", "bros"];
/// Abbreviations behind which the same sentence goes on, whatever follows.
const GO_ON: [&str; 5] = ["e.g", "i.e", "vs", "no", "approx"];
/// Words with a capital that begin a sentence also behind an abbreviation: "... at Acme Inc. | My name is ...".
const SUBJECTS: [&str; 12] = ["I", "I'm", "I've", "I'd", "I'll", "My", "We", "We're", "We've", "We'd", "We'll", "Our"];

/// The sentences of a text: they end at `.`, `?`, `!` and an ellipsis before white space, and at line breaks.
pub fn sentences(text: &str) -> Vec<Span> {
    let (mut out, mut start, mut steps) = (Vec::new(), 0, Steps::default());
    for (at, sign) in text.char_indices().filter(|(_, sign)| matches!(sign, '\n' | '.' | '?' | '!' | '\u{2026}')) {
        steps.reach(at);
        let behind = at + sign.len_utf8();
        let ends = || text[behind..].chars().next().is_none_or(char::is_whitespace);
        if sign == '\n' || ends() && !(sign == '.' && is_abbreviation(text, start, at)) {
            push(text, start, behind, &mut out);
            start = behind;
        }
    }
    push(text, start, text.len(), &mut out);
    out
}

/// The words of a span.
pub fn within(own: &[Word], span: Span) -> &[Word] {
    let from = own.partition_point(|word| word.start < span.start);
    &own[from..from + own[from..].partition_point(|word| word.end <= span.end)]
}

/// A part of a sentence with the signs before its first word, which may open a quotation.
pub fn with_signs(sentence: Span, words: &[Word], first: usize, part: Span) -> Span {
    Span { start: first.checked_sub(1).map_or(sentence.start, |before| words[before].end), ..part }
}

fn is_abbreviation(text: &str, start: usize, at: usize) -> bool {
    let word = text[start..at].rsplit(|letter: char| letter.is_whitespace()).next().unwrap_or_default().to_ascii_lowercase();
    let initial = word.len() == 1 && !text[..at].ends_with('I') && word.as_bytes()[0].is_ascii_alphabetic();
    let over = || !GO_ON.contains(&word.as_str()) && begins_sentence(&text[at + 1..]);
    // "Dec. 3"
    let is_month = || is_short_month(&word) && text[at + 1..].trim_start_matches(' ').starts_with(|sign: char| sign.is_ascii_digit());
    let behind = || text[at + 1..].trim_start();
    let is_firm = || OF_FIRMS.contains(&word.as_str()) && behind().starts_with(char::is_lowercase);
    // "Dr. med. Weber"
    let is_doctor = || {
        let title = text.as_bytes()[start..at].last_chunk::<7>();
        word == "med" && title.is_some_and(|title| title.eq_ignore_ascii_case(b"dr. med"))
    };
    let is_short = || ABBREVIATIONS.contains(&word.as_str()) || abbreviations::goes_on(&text[start..at], &text[at + 1..]);
    (initial || is_short()) && !over() || is_month() || is_firm() || is_doctor()
}

/// Whether a text begins with a word that begins a sentence. The "I." of "J. I. Case" begins none.
fn begins_sentence(text: &str) -> bool {
    let text = text.trim_start();
    let end = text.find(|letter: char| !letter.is_alphanumeric() && !is_apostrophe(letter)).unwrap_or(text.len());
    SUBJECTS.contains(&straight(&text[..end]).as_str()) && !text[end..].starts_with('.')
}

fn push(text: &str, start: usize, end: usize, out: &mut Vec<Span>) {
    let piece = &text[start..end];
    let trimmed = piece.trim();
    if trimmed.contains(char::is_alphanumeric) {
        let start = start + (piece.len() - piece.trim_start().len());
        out.push(Span { start, end: start + trimmed.len() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_letters_of_any_script_and_no_signs() {
        for (text, found) in [
            ("Porto\u{2014}Ana \u{2026} \u{201C}Rex\u{201D} \u{1F389}", "porto|ana|rex"),
            ("don\u{2019}t \u{2019}cause parents\u{2019} l\u{2BC}eau", "don't|cause|parents|l'eau"),
            ("\u{C9}va ra\u{301} col\u{B7}lega e\u{2011}mail al\u{AD}lergic", "\u{E9}va|ra\u{301}|col\u{B7}lega|e-mail|allergic"),
            (
                "\u{6771}\u{4EAC}\u{3002} \u{928}\u{92E}\u{938}\u{94D}\u{924}\u{947}",
                "\u{6771}\u{4EAC}|\u{928}\u{92E}\u{938}\u{94D}\u{924}\u{947}",
            ),
            ("\u{20AC}50 20\u{B0}C \u{2764}\u{FE0F}!", "50|20|c|!"),
            ("C++ node.js 3.5, a/b", "c++|node.js|3.5|a/b"),
        ] {
            let words: Vec<String> = words(text).into_iter().map(|word| word.lower).collect();
            assert_eq!(words.join("|"), found, "{text}");
        }
    }

    #[test]
    fn sentences_end_at_marks_and_behind_some_abbreviations() {
        for (text, count) in [
            ("I work for Acme Inc. My name is Ana.", 2),
            ("I use Vim, Emacs, etc. I'm fine.", 2),
            ("Take vitamin C. We\u{2019}re fine.", 2),
            ("No. I moved.", 1),
            ("I saw Dr. Hall.", 1),
            ("Ask J. Case, not St. Mary.", 1),
            ("Ask, e.g. I need help", 1),
            ("It's no. 5 at Acme Inc. Europe", 1),
            ("Well\u{2026} I moved.", 2),
            ("Well.\u{A0}I moved.", 2),
            ("3.5\u{2026}4 or so", 1),
            ("It is on Dec. 3 at 9. I may.", 2),
            ("So we did. 3 came.", 2),
            ("My birthday is on 3. Mai 1990. I may.", 2),
            ("My wife is Fr. Klein, at Hauptstr. 5, for ca. 500.", 1),
            ("My son is Max. 3 of us came. My art. 2 kids", 4),
            ("Hi! \u{1F389}\nYes", 2),
        ] {
            assert_eq!(sentences(text).len(), count, "{text}");
        }
    }
}
