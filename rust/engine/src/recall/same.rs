//! Near-duplicates: memories that say the same in an answer. The better-ranked one stays.
//!
//! Two say the same where they belong to one scope, have the same slot and metadata, and their words are the same but for case,
//! punctuation around words and articles. Events must also be of the same day (UTC): who ran on Monday and on Tuesday ran twice.
//!
//! Deliberately not by a threshold on cosines or shared words: "port 8443" and "port 9443", "likes" and "dislikes", "Ann pays
//! Bob" and "Bob pays Ann" are near by both, and a fact that is left out of an answer is lost for the caller.

use xxhash_rust::xxh3::Xxh3;

use crate::memory::Outline;

/// Longer texts are compared as they stand.
const MOST_BYTES: usize = 8192;

/// The signature that two memories of a scope share where they say the same. `None` for revisions that are not current, each of which is
/// its own.
pub(super) fn signature(memory: &Outline<'_>) -> Option<u64> {
    if memory.is_ended {
        return None;
    }
    let mut hash = Xxh3::new();
    let day = memory.kind.day(memory.occurred_at).unwrap_or(i64::MIN);
    hash.update(&day.to_le_bytes());
    for part in [memory.slot.unwrap_or_default().as_bytes(), memory.metadata] {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    if memory.text.len() > MOST_BYTES {
        hash.update(memory.text.as_bytes());
        return Some(hash.digest());
    }
    // Hashed once: a call of the hash for each character cost more than everything else here.
    let said = if memory.text.is_ascii() { ascii_words(memory.text) } else { words(memory.text) };
    hash.update(&said);
    (!said.is_empty()).then(|| hash.digest())
}

/// A print that is equal in two memories with one signature, and mostly not in others: the bytes of the text that no rule of [`signature`]
/// drops or changes. 0 of what is compared as it stands.
pub(super) fn print(memory: &Outline<'_>) -> u64 {
    if memory.text.len() > MOST_BYTES {
        return 0;
    }
    let folded = if memory.text.is_ascii() { 0 } else { memory.text.chars().map(folded).fold(0, u64::wrapping_add) };
    memory.text.bytes().map(|byte| PRINTS[usize::from(byte)]).fold(1 << 63 | folded, u64::wrapping_add) | 1 << 63
}

/// The print of a letter whose small form is ASCII: the sign of Kelvin. Other letters that are not of ASCII add nothing.
fn folded(letter: char) -> u64 {
    if letter == '\u{212a}' { PRINTS[usize::from(b'k')] } else { u64::from(letter == '\u{130}') * PRINTS[usize::from(b'i')] }
}

/// The print of each byte: letters in either case alike, nothing for those of articles and for marks.
static PRINTS: [u64; 256] = {
    let (mut prints, mut byte) = ([0; 256], 0);
    while byte < 128 {
        let letter = (byte as u8).to_ascii_lowercase();
        let counts = letter.is_ascii_alphanumeric() && !matches!(letter, b'a' | b'n' | b't' | b'h' | b'e');
        prints[byte] = if counts { (letter as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8 } else { 0 };
        byte += 1;
    }
    prints
};

/// The normal form of a text: its words, each with a space behind it, without case, articles and the marks around words.
fn words(text: &str) -> Vec<u8> {
    let mut said = String::with_capacity(text.len() + 1);
    for chunk in text.split_whitespace() {
        let word = chunk.trim_matches(['.', ',', ';', ':', '!', '?', '"', '\'', '(', ')', '\u{2026}']);
        if word.is_empty() || ["a", "an", "the"].iter().any(|article| article.eq_ignore_ascii_case(word)) {
            continue;
        }
        if !is_plain(word) {
            said.push_str(word);
        } else if word.is_ascii() {
            said.extend(word.bytes().map(|byte| char::from(byte.to_ascii_lowercase())));
        } else {
            said.extend(word.chars().flat_map(char::to_lowercase));
        }
        said.push(' ');
    }
    said.into_bytes()
}

/// The normal form of a text in ASCII, in a quarter of the time.
fn ascii_words(text: &str) -> Vec<u8> {
    let mut said = Vec::with_capacity(text.len() + 1);
    for chunk in text.as_bytes().split(|byte| matches!(byte, b'\t'..=b'\r' | b' ')) {
        let is_mark = |byte: &u8| matches!(byte, b'.' | b',' | b';' | b':' | b'!' | b'?' | b'"' | b'\'' | b'(' | b')');
        let start = chunk.iter().take_while(|byte| is_mark(byte)).count();
        let end = chunk.iter().rposition(|byte| !is_mark(byte)).map_or(start, |last| last + 1);
        let word = &chunk[start..end];
        if word.is_empty() || [&b"a"[..], b"an", b"the"].iter().any(|article| article.eq_ignore_ascii_case(word)) {
            continue;
        }
        let from = said.len();
        said.extend_from_slice(word);
        if word.iter().all(u8::is_ascii_alphabetic) && !word[1..].iter().any(u8::is_ascii_uppercase) {
            said[from].make_ascii_lowercase();
        }
        said.push(b' ');
    }
    said
}

/// A word whose case says nothing: small letters, the first of which may be a capital. `US`, `getUser` and `X1` keep theirs.
fn is_plain(word: &str) -> bool {
    word.chars().all(char::is_alphabetic) && word.chars().skip(1).all(|c| !c.is_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Ending, Kind, Memory, State};
    use crate::units::calendar::DAY;

    fn memory(text: &str) -> Memory {
        Memory {
            number: 1,
            given_id: None,
            text: text.into(),
            kind: Kind::Semantic,
            slot: None,
            importance: 0.5,
            confidence: 1.0,
            trust: 3,
            source: "user".into(),
            sequence: 1,
            revision: 1,
            created_at: 0,
            known_from: 0,
            clock: None,
            occurred_at: 0,
            expires_at: None,
            metadata: Vec::new(),
            supersedes: None,
            request: 0,
            ending: None,
            provenance: crate::memory::Provenance::default(),
        }
    }

    fn signature(memory: &Memory) -> Option<u64> {
        super::signature(&Outline::of(memory))
    }

    fn same(a: &Memory, b: &Memory) -> bool {
        signature(a).is_some() && signature(a) == signature(b)
    }

    #[test]
    fn case_punctuation_and_articles_say_nothing() {
        let pairs = [
            ("Prefers tea", "prefers tea."),
            ("The runbook is \"docs/runbooks/payments.md\"", "runbook is docs/runbooks/payments.md"),
            ("Lives in Porto!", "lives  in\nPorto"),
            ("Ärger mit der Straße", "ärger mit der Straße"),
        ];
        for (a, b) in pairs {
            assert!(same(&memory(a), &memory(b)), "{a} | {b}");
        }
    }

    #[test]
    fn ascii_is_read_as_all_letters_are() {
        let texts = [
            "Prefers tea.",
            "the  \"runbook\"\tis (docs/x.md),\x0b\x0cat 'US' X1 getUser",
            " ... ",
            "",
            "An a THE",
            "(a) b: C++ don't \x1c x",
        ];
        for text in texts {
            assert_eq!(ascii_words(text), words(text), "{text:?}");
        }
    }

    #[test]
    fn everything_else_does() {
        let pairs = [
            ("listens on port 8443", "listens on port 9443"),
            ("likes tea", "dislikes tea"),
            ("Ann pays Bob", "Bob pays Ann"),
            ("moved from Berlin to Porto", "moved to Berlin from Porto"),
            ("deploys to US", "deploys to us"),
            ("calls getUser", "calls getuser"),
            ("prefers C", "prefers C++"),
            ("ab c", "a bc"),
            ("do not deploy", "do deploy"),
        ];
        for (a, b) in pairs {
            assert!(!same(&memory(a), &memory(b)), "{a} | {b}");
        }
        let tea = || memory("tea");
        assert!(!same(&tea(), &Memory { slot: Some("breakfast".into()), ..tea() }));
        assert!(!same(&tea(), &Memory { metadata: b"\x81\xa1n\x01".to_vec(), ..tea() }));
        let ended = |state| Ending { state, known_until: 0, valid_until: 0, superseded_by: None, reason: None };
        assert_eq!(signature(&Memory { ending: Some(ended(State::Superseded)), ..tea() }), None);
        assert_eq!(signature(&memory("the ... a")), None);
    }

    #[test]
    fn what_says_the_same_has_the_same_print() {
        let print = |text: &str| super::print(&Outline::of(&memory(text)));
        for (a, b) in [("Prefers tea", "prefers (the) tea."), ("Lives in Porto!", "lives  in\nA Porto"), ("The US", "an 'US'")] {
            assert!(same(&memory(a), &memory(b)) && print(a) == print(b) && print(a) != 0, "{a} | {b}");
        }
        assert_ne!(print("listens on port 8443"), print("listens on port 9443"));
        assert_eq!(print(&"x".repeat(MOST_BYTES + 1)), 0);
        for (a, b) in [
            ("\u{c4}rger mit K\u{e4}se\u{2026}", "\u{e4}rger (mit) der The K\u{e4}se"),
            ("No. 5\u{2026}", "no.  5"),
            ("3 \u{212a}m\u{2003}x", "3 Km x"),
        ] {
            assert_eq!(same(&memory(a), &memory(b)), print(a) == print(b), "{a} | {b}");
        }
    }

    #[test]
    fn no_letter_beyond_ascii_changes_a_print_when_it_is_made_small() {
        for letter in ('\u{80}'..=char::MAX).filter(|letter| letter.is_alphabetic() || letter.to_lowercase().ne([*letter])) {
            let small: String = letter.to_lowercase().collect();
            let print = |text: &str| super::print(&Outline { text, ..Outline::of(&memory("")) });
            assert_eq!(print(letter.encode_utf8(&mut [0; 4])), print(&small), "{letter:?}");
        }
    }

    #[test]
    fn events_of_two_days_are_two_events() {
        let ran = |occurred_at| Memory { kind: Kind::Episodic, occurred_at, ..memory("Went for a run") };
        assert!(same(&ran(1), &ran(DAY - 1)));
        assert!(!same(&ran(1), &ran(DAY + 1)));
        let long = |end: &str| memory(&format!("{}{end}", "word ".repeat(4000)));
        assert!(same(&long("x"), &long("x")) && !same(&long("x"), &long("X")));
    }
}
