//! Requests not to keep what is said: "don't store this, but I take antidepressants", "my PIN is 4471, please don't remember that", "off the
//! record: ...".
//!
//! ```text
//! this      all of its message is kept out, unless the message asks to remember something as well
//! that      what stands before it in its message; at the beginning of one it speaks of another message, and keeps nothing out
//! it        only with "here", "anywhere" or "in your memory": many things are not to be stored
//! remember  only with "please", or at the beginning with "but" or a colon behind it: who does not remember has forgotten
//! ```
//!
//! Quotations, code, conditions, questions, rules ("our rule: do not store that") and the words of others ask for nothing.
//!
//! In other languages a request is a clause of its own ("bitte nicht speichern", "no lo guardes"), and keeps all of its message out: their
//! pronouns do not tell what they point at. Beside English it is the last clause of its sentence, or opens the message: elsewhere English
//! mostly tells of such words as of a text.

use super::guards::{certain, is_code};
use super::lists::lists;
use super::sentence::Sentence;
use super::values::is_no_name;
use super::words::{Span, Word, among, starts, within};
use crate::process::Lazy;

lists! { "off_record":
    /// Requests of other languages not to keep something.
    NOT_TO_KEEP,
    /// Words of other languages that may stand beside such a request: "please", "this".
    BESIDE,
    /// Words of other languages by which a sentence supposes something, or tells what somebody said.
    SUPPOSES,
    /// Words of English by which a sentence tells of a text: what somebody wrote, the label of a button, the title of a song.
    OF_TEXTS,
}

/// Whether a text has the beginning of a word by which such a request is made, or of a request in another language; most do not, and none
/// of these is cut into words. The letters of ASCII are compared without their case.
pub(super) fn may_ask(text: &str) -> bool {
    const VERBS: [[u8; 4]; 7] = [*b"stor", *b"save", *b"reco", *b"reme", *b"memo", *b"writ", *b"note"];
    let verbs = VERBS.map(u32::from_ne_bytes);
    let is_verb = |four: &[u8; 4]| verbs.contains(&(u32::from_ne_bytes(*four) | u32::from_ne_bytes([b' '; 4])));
    any_word(text, |rest| rest.first_chunk().is_some_and(is_verb) || begins_elsewhere(rest))
}

/// Whether a text is what is looked for from its beginning or from another place where a word may begin: behind a byte that is not a letter of
/// ASCII.
fn any_word(text: &str, is_it: impl Fn(&[u8]) -> bool) -> bool {
    let bytes = text.as_bytes();
    // Eight bytes are compared at once: to each its difference to the letters is added, and its highest bit tells.
    let highest = u64::from_ne_bytes([0x80; 8]);
    let over = |eight: u64, most: u8| eight + u64::from_ne_bytes([0x7f - most; 8]);
    let (groups, rest) = bytes.as_chunks::<8>();
    let in_group = |(at, group): (usize, &[u8; 8])| {
        let eight = u64::from_le_bytes(*group) | u64::from_ne_bytes([b' '; 8]);
        let plain = eight & !highest;
        let mut others = (eight | !over(plain, b'a' - 1) | over(plain, b'z')) & highest;
        while others != 0 {
            let next = 8 * at + others.trailing_zeros() as usize / 8 + 1;
            if is_it(&bytes[next..]) {
                return true;
            }
            others &= others - 1;
        }
        false
    };
    let from = bytes.len() - rest.len();
    let in_rest = |at: usize| !bytes[at].is_ascii_alphabetic() && is_it(&bytes[at + 1..]);
    is_it(bytes) || groups.iter().enumerate().any(in_group) || (from..bytes.len()).any(in_rest)
}

/// Whether a text begins with the first bytes of a request in another language.
fn begins_elsewhere(text: &[u8]) -> bool {
    static BEGINNINGS: Lazy<(u64, Vec<u64>)> = Lazy::new(|| {
        let mut all: Vec<u64> = NOT_TO_KEEP.iter().filter_map(|request| request.as_bytes().first_chunk().copied()).map(small).collect();
        all.sort_unstable();
        all.dedup();
        (all.iter().fold(0, |bits, eight| bits | bit(*eight)), all)
    });
    let (bits, beginnings) = &*BEGINNINGS;
    let begins = |eight: u64| bits & bit(eight) != 0 && beginnings.binary_search(&eight).is_ok();
    text.first_chunk().copied().map(small).is_some_and(begins)
}

/// Eight bytes, letters of ASCII in lowest case.
fn small(eight: [u8; 8]) -> u64 {
    u64::from_ne_bytes(eight) | u64::from_ne_bytes([b' '; 8])
}

/// A bit for eight bytes, which few others share.
fn bit(eight: u64) -> u64 {
    1 << (eight.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58)
}

/// Up to which byte nothing of a message is kept; `None` where nobody asks for it. `spans` are its sentences in the user's own words.
pub(super) fn end(text: &str, spans: &[Span], own: &[Word]) -> Option<usize> {
    const MARKS: [&str; 5] = ["```", "\"\"\"", "\"", "\u{201C}", "`"];
    if MARKS.iter().any(|mark| text.contains(mark)) {
        return None;
    }
    let may_be_elsewhere = any_word(text, begins_elsewhere);
    let ends = spans.iter().filter_map(|span| {
        let (sentence, words) = (&text[span.start..span.end], within(own, *span));
        let supposes = ["if", "when", "whenever", "says", "said", "told", "tell", "tells", "?"];
        let is_open = !is_code(sentence) && !sentence.starts_with(['>', '#', '-', '*', '/']);
        let is_plain = is_open && !words.iter().any(|word| supposes.contains(&&*word.lower));
        let leads = text[..span.start].trim().is_empty();
        let s = &Sentence { text, words };
        let of = |at: usize| of_request(s, at, leads);
        let off = |at: &usize| has_sign(s, *at, &[',', ':', ';', '-', '\u{2013}', '\u{2014}']);
        let off_record = || starts(words, 0, "off the record").filter(off).map(|_| usize::MAX);
        let in_another = || may_be_elsewhere && (0..words.len()).any(|at| of_another_language(s, at, leads));
        let elsewhere = || in_another().then_some(usize::MAX);
        is_plain.then(|| off_record().or_else(|| (0..words.len()).find_map(of)).or_else(elsewhere)).flatten()
    });
    let end = ends.max()?;
    let is_denied = |at: usize| at.checked_sub(1).is_some_and(|before| ["don't", "not"].contains(&&*own[before].lower));
    let asks = |phrase: &str| (0..own.len()).any(|at| starts(own, at, phrase).is_some() && !is_denied(at));
    let remembers = || ["remember that", "remember this", "save this", "do remember"].into_iter().any(asks);
    (end < usize::MAX || !remembers()).then_some(end)
}

/// Whether a request of another language not to keep something begins at a word: it is a clause, with words beside it at most. `leads` says
/// whether its sentence is the first of its message.
fn of_another_language(s: &Sentence<'_>, at: usize, leads: bool) -> bool {
    const SIGNS: [char; 12] = [',', ';', '.', '-', '\u{2013}', '\u{2014}', '(', ')', '\n', '\u{3002}', '\u{FF0C}', '\u{60C}'];
    const QUOTES: [char; 5] = ['\u{AB}', '\u{BB}', '\u{201E}', '\u{300C}', '\u{300E}'];
    let Some(end) = s.behind(at, &NOT_TO_KEEP) else { return false };
    let over = |at: usize| s.words.get(at).is_none_or(Word::is_mark) || has_sign(s, at, &SIGNS) || has_sign(s, at, &[':', '\u{FF1A}']);
    let is_beside = |at: &usize| among(&BESIDE, s.word(*at));
    let behind = (end..s.words.len()).find(|at| over(*at) || !is_beside(at)).unwrap_or(s.words.len());
    let begins = (0..=at).rev().find(|at| *at == 0 || has_sign(s, *at, &SIGNS) || !is_beside(&(at - 1)));
    let Some(begin) = begins.filter(|begin| (*begin == 0 || has_sign(s, *begin, &SIGNS)) && over(behind)) else { return false };
    let (from, to) = (s.words[0].start, s.words[s.words.len() - 1].end);
    let is_quoted = s.text[from..to].contains(QUOTES) || s.text[..from].ends_with(QUOTES) || s.text[to..].starts_with(QUOTES);
    let says_how = begin == 2 && s.word(0) == "in" && is_no_name(s.word(1)); // "In Italian, non salvare"
    let tells = s.words.iter().any(|word| among(&SUPPOSES, &word.lower) || among(&OF_TEXTS, &word.lower));
    !tells && !says_how && !is_quoted && !is_beside_its_verb(s, at, end) && is_asked_beside_english(s, (begin, behind), leads)
}

/// Whether the verb of a request stands beside it without a "not", as on buttons: "Speichern, nicht speichern".
fn is_beside_its_verb(s: &Sentence<'_>, at: usize, end: usize) -> bool {
    const NOT: [&str; 5] = ["nicht", "niet", "inte", "ikke", "jangan"];
    let request = s.words[at..end].iter().map(|word| word.lower.as_str()).collect::<Vec<_>>().join(" ");
    let is_verb = |word: &str| {
        let letters = word.chars().count();
        let is_long = letters > 3 || letters > 1 && !word.is_ascii();
        is_long && word != request && !among(&NOT, word) && (request.starts_with(word) || request.ends_with(word))
    };
    s.words[..at].iter().chain(&s.words[end..]).any(|word| is_verb(&word.lower))
}

/// Whether the clause between two words is asked, and not told of, where the rest of its sentence is English.
fn is_asked_beside_english(s: &Sentence<'_>, (begin, behind): (usize, usize), leads: bool) -> bool {
    let is_english =
        |words: &[Word]| words.first().is_some_and(|first| certain(&s.text[first.start..words[words.len() - 1].end], words) > 0);
    if !is_english(&s.words[..begin]) && !is_english(&s.words[behind..]) {
        return true;
    }
    let is_last = s.words[behind..].iter().all(Word::is_mark);
    let is_bracketed = has_sign(s, begin, &['(']) || begin == 0 && s.text[..s.words[0].start].ends_with('(');
    // "No guardes, no anotes" is a lesson.
    let others = || (0..begin).chain(behind..s.words.len()).any(|at| s.behind(at, &NOT_TO_KEEP).is_some());
    (is_last || leads && begin == 0) && !is_bracketed && !others()
}

/// Whether one of some signs stands before a word that is not the first.
fn has_sign(s: &Sentence<'_>, at: usize, signs: &[char]) -> bool {
    (1..s.words.len()).contains(&at) && s.text[s.words[at - 1].end..s.words[at].start].contains(signs)
}

/// Up to which byte a request that begins at a word keeps things out. `leads` says whether its sentence is the first of its message.
fn of_request(s: &Sentence<'_>, at: usize, leads: bool) -> Option<usize> {
    const FOLLOWS: [&str; 7] = ["but", "please", "anywhere", "here", "though", "ok", "okay"];
    let begin = at - usize::from(at > 0 && s.word(at - 1) == "please");
    let before = begin.checked_sub(1).map_or("", |before| s.word(before));
    let begins =
        begin == 0 || ["but", "and", "so"].contains(&before) || has_sign(s, begin, &[',', ';', '-', '\u{2013}', '\u{2014}', '(', '\n']);
    let verb = s.behind(at, &["don't", "do not"]).filter(|_| begins)?;
    let written = || s.behind(verb, &["write this down", "write that down", "write it down", "note this down", "note that down"]);
    let (stored, remembered) = (s.behind(verb, &["store", "save", "record"]), s.behind(verb, &["remember", "memorize", "memorise"]));
    let end = stored.or(remembered).and_then(|at| s.behind(at, &["this", "that", "any of this", "any of that", "it"])).or_else(written)?;
    let points = if s.word(end - 1) == "down" { s.word(end - 2) } else { s.word(end - 1) };
    let in_memory = s.behind(end, &["in your memory", "in memory", "here", "anywhere"]).is_some();
    // ", hash it" and ", it's wrong" say what is meant.
    let goes_on = |next: usize| ["i", "i'm", "i've", "my", "we", "we're", "our", "but", "please"].contains(&s.word(next));
    let is_parted = has_sign(s, end, &[',', ';', '-', '\u{2013}', '\u{2014}']) && goes_on(end);
    let is_told = has_sign(s, end, &[':']);
    let over = s.words.get(end).is_none_or(|next| next.is_mark() || among(&FOLLOWS, &next.lower)) || is_parted || is_told;
    let is_said = match (remembered, points) {
        _ if in_memory => true,
        (Some(_), _) => begin < at || leads && begin == 0 && (is_told || s.word(end) == "but"),
        (None, "it") => false,
        _ => over,
    };
    let is_back = points == "that" && !is_told && s.word(end) != "but" && !in_memory;
    let whole = if is_back { s.words[begin].start } else { usize::MAX };
    (is_said && (over || in_memory) && !(is_back && leads && begin == 0)).then_some(whole)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::super::words::words;
    use super::*;

    #[test]
    fn words_may_begin_behind_all_that_is_no_letter() {
        let signs: String = (0..0x180).filter_map(char::from_u32).collect();
        for text in ["", "a", "-", "don't-store", "I\u{2019}m (in) the hall, I think", &signs, &signs[1..], &signs[5..]] {
            let met = RefCell::new(Vec::new());
            any_word(text, |rest| {
                met.borrow_mut().push(text.len() - rest.len());
                false
            });
            let expected = (0..=text.len()).filter(|at| at.checked_sub(1).is_none_or(|last| !text.as_bytes()[last].is_ascii_alphabetic()));
            assert_eq!(met.into_inner(), expected.collect::<Vec<_>>(), "{text:?}");
        }
    }

    #[test]
    fn a_request_of_any_language_is_met() {
        for request in &NOT_TO_KEEP {
            assert!(request.len() >= 8 && may_ask(&format!("I take Prozac. {request}")), "{request}");
            let text = format!("My PIN is 4471, {request}");
            assert_eq!(end(&text, &[Span { start: 0, end: text.len() }], &words(&text)), Some(usize::MAX), "{request}");
        }
        assert!(!may_ask("I live in Lisbon, and I was here in the nicht of the gardens."));
    }
}
