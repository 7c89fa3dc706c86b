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

use super::guards::is_code;
use super::sentence::Sentence;
use super::words::{Span, Word, among, starts, within};

/// Whether a text has the beginning of a word by which such a request is made; most do not, and none of these is cut into words. The letters
/// of ASCII are compared without their case.
pub(super) fn may_ask(text: &str) -> bool {
    const VERBS: [[u8; 4]; 7] = [*b"stor", *b"save", *b"reco", *b"reme", *b"memo", *b"writ", *b"note"];
    let verbs = VERBS.map(u32::from_ne_bytes);
    let is_verb = |four: &[u8; 4]| verbs.contains(&(u32::from_ne_bytes(*four) | u32::from_ne_bytes([b' '; 4])));
    text.as_bytes().windows(4).filter_map(<[u8]>::first_chunk).any(is_verb)
}

/// Up to which byte nothing of a message is kept; `None` where nobody asks for it. `spans` are its sentences in the user's own words.
pub(super) fn end(text: &str, spans: &[Span], own: &[Word]) -> Option<usize> {
    const MARKS: [&str; 5] = ["```", "\"\"\"", "\"", "\u{201C}", "`"];
    if MARKS.iter().any(|mark| text.contains(mark)) {
        return None;
    }
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
        is_plain.then(|| off_record().or_else(|| (0..words.len()).find_map(of))).flatten()
    });
    let end = ends.max()?;
    let is_denied = |at: usize| at.checked_sub(1).is_some_and(|before| ["don't", "not"].contains(&&*own[before].lower));
    let asks = |phrase: &str| (0..own.len()).any(|at| starts(own, at, phrase).is_some() && !is_denied(at));
    let remembers = || ["remember that", "remember this", "save this", "do remember"].into_iter().any(asks);
    (end < usize::MAX || !remembers()).then_some(end)
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
