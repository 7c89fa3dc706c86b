//! Messages that are not English as a whole: nothing is read of a sentence in another language, and of the English ones beside it what its
//! user surely says.
//!
//! Who writes in another language mostly writes of a text where English stands beside it ("Übersetze das: ..."). So an English sentence is
//! read as any other only where it comes first, on one line with what follows, and nothing that follows asks for work on a text. Of the
//! others health is read alone, as of what a model is asked to reword.

use super::compose::discarded;
use super::elsewhere::OTHER_STATES;
use super::lists::lists;
use super::person::OTHER_TIMES;
use super::sentence::Sentence;
use super::words::{Span, Word, among, sentences, within};
use super::{Claim, MAX_SENTENCES, Utterance, guards, is_fenced, rules};

lists! { "languages":
    /// Parts of words that ask for work on a text, or for what one means.
    WORKS,
}

/// Why nothing of a sentence is stored.
const REASON: &str = "not English, as far as its words tell";
/// Why no more than health is read of an English one beside it.
const BESIDE: &str = "beside words of another language, which may be about it";
/// Words at most of a sentence that tell nothing of its language: "Hi there!"
const SHORT: usize = 3;

/// Words at most of a name in other letters and behind it: "\u{110}\u{E0} N\u{1EB5}ng now".
const MOST_VALUE: usize = 4;
/// Letters at most of a name in a script that has no capitals and may part no words.
const MOST_LETTERS: usize = 8;

/// A message with sentences in English and in another language.
pub(super) struct Mixed {
    /// The beginnings of its sentences in English.
    english: Vec<usize>,
    /// Where those end that are read as any other.
    open: usize,
}

impl Mixed {
    /// A message that is not English as a whole; `None` where no sentence of it is.
    pub fn of(text: &str, own: &[Word]) -> Option<Self> {
        let spans: Vec<Span> = sentences(text).into_iter().take(MAX_SENTENCES).collect();
        if spans.len() < 2 {
            return None;
        }
        let (english, others): (Vec<Span>, Vec<Span>) = spans.into_iter().partition(|span| is_english(text, *span, own));
        english.first()?;
        let tells = |span: &&Span| {
            let (part, words) = (&text[span.start..span.end], within(own, **span));
            words.len() > SHORT || !guards::may_be_english(part, words)
        };
        let works = |span: &Span| {
            let part = text[span.start..span.end].to_lowercase();
            WORKS.iter().any(|work| part.contains(work))
        };
        let is_apart = |first: &Span| text[..first.start].contains('\n') || others.iter().any(works);
        let open = others.iter().find(tells).map_or(text.len(), |first| if is_apart(first) { 0 } else { first.start });
        Some(Self { english: english.into_iter().map(|span| span.start).collect(), open })
    }

    /// Why nothing of a sentence is read, and whether that is certain: else health is.
    pub fn kept_out(&self, text: &str, span: Span, own: &[Word]) -> Option<(&'static str, bool)> {
        if !self.english.contains(&span.start) {
            return Some((guards::of_any_language(text, span, within(own, span)).unwrap_or(REASON), true));
        }
        (span.start >= self.open).then_some((BESIDE, false))
    }
}

/// Whether a sentence is English by words that other languages do not have: two of them, or one where a rule reads it.
fn is_english(text: &str, span: Span, own: &[Word]) -> bool {
    let words = within(own, span);
    let certain = guards::certain(&text[span.start..span.end], words);
    let s = &Sentence { text, words };
    certain > 1 || certain == 1 && rules::read(s).is_some() || gives_other_letters(s)
}

/// Whether English words give a slot a name in letters of another script, or with marks: "I live in \u{141}\u{F3}d\u{17A}". Its letters
/// tell nothing of the language of the sentence. Of a name in a script without capitals only a slot tells that it is one. Behind "call me"
/// stands a time as often as a name, and nothing tells them apart.
pub(super) fn gives_other_letters(s: &Sentence<'_>) -> bool {
    const NAMED: [&str; 2] = ["name", "home"];
    const CHOSEN: [&str; 4] = ["nickname", "username", "handle", "alias"];
    let is_other = |word: &Word| word.lower.chars().any(|letter| letter.is_alphabetic() && !letter.is_ascii());
    let Some(first) = s.words.iter().position(is_other).filter(|first| *first > 1) else { return false };
    let (opening, value) = (&s.words[..first], &s.words[first]);
    if s.words[first..].iter().filter(|word| !word.is_mark()).count() > MOST_VALUE
        || guards::certain(&s.text[opening[0].start..value.start], opening) == 0
    {
        return false;
    }
    let is_small = s.text[value.start..].starts_with(char::is_lowercase);
    let Some(slot) = rules::read(s).and_then(|reading| reading.slot).filter(|_| !is_small) else { return false };
    let chosen =
        s.word(first - 1) == "me" || CHOSEN.iter().any(|one| slot == *one || slot.strip_suffix(*one).is_some_and(|of| of.ends_with(' ')));
    if chosen || among(&OTHER_TIMES, &value.lower) || among(&OTHER_STATES, &value.lower) || slot == "home" && is_nowhere(&value.lower) {
        return false;
    }
    let goes_on = s.text[value.end..s.words[s.words.len() - 1].end].contains(['\u{3001}', '\u{FF0C}', '\u{3002}', '\u{60C}']);
    value.capital || NAMED.contains(&slot.as_str()) && value.lower.chars().count() <= MOST_LETTERS && !goes_on
}

/// Whether a word in small letters for a place is not the name of one: "at school", "next door", "undecided".
fn is_nowhere(word: &str) -> bool {
    ["\u{672A}\u{5B9A}", "\u{5916}\u{56FD}", "\u{9694}\u{58C1}"].contains(&word) || word.ends_with(['\u{5BB6}', '\u{6821}', '\u{820D}'])
}

/// Why nothing of a message is stored that has no English. Guards that need no English say of each sentence why no model may claim it
/// either.
pub(super) fn of_no_english(said: &Utterance<'_>, own: &[Word]) -> Vec<Claim> {
    let reason = |span: &Span| {
        let other = || guards::of_any_language(said.text, *span, within(own, *span)).unwrap_or(REASON);
        if is_fenced(said.text, *span) { "code" } else { other() }
    };
    let spans: Vec<Span> = sentences(said.text).into_iter().take(MAX_SENTENCES).collect();
    if spans.iter().all(|span| reason(span) == REASON) {
        return vec![discarded(said.text, (0, said.text.len()), REASON)];
    }
    spans.iter().map(|span| discarded(&said.text[span.start..span.end], (span.start, span.end), reason(span))).collect()
}
