//! The tokens that are kept beside a text, so that no question cuts it into tokens again.
//!
//! ```text
//! distinct   version u8, then the first 256 distinct tokens, u16 each, in the text's order
//! repeats    version u8, then for each of these that stands there again: its place u8, how often again u8
//! ```
//!
//! Both together are the text as a bag of tokens, which is all that its vector is made of. Where the list is full, or a token stands there
//! more often than a byte can say, one byte behind the version says so instead, and the text is cut.

use std::borrow::Cow;
use std::cell::Cell;

use super::forms::forms;
use super::table::{self, Sum};
use super::wordpiece::{self, Token};
use crate::index::vectors::UnitVector;
use crate::interrupt;

/// The most tokens of a text that are compared with a question's.
const MOST_COMPARED: usize = 256;
/// Which vocabulary and rules made what is kept: others make other tokens.
const VERSION: u8 = 1;
/// The repeats of a text that has too many.
const TOO_MANY: [u8; 2] = [VERSION, 0];
/// Bytes of a text that are cut into tokens at a time, where it has more than are wanted.
const PART_BYTES: usize = 8 << 10;

thread_local! {
    /// Which tokens a text has had, and where in the list: one more than the place; all 0 between two texts.
    static PLACES: Cell<Option<Vec<u16>>> = const { Cell::new(None) };
}

/// The distinct tokens of a text in the order of its words, at most `most`, each as two bytes, little-endian.
#[must_use]
pub(crate) fn distinct_tokens(text: &str, most: usize) -> Vec<u8> {
    each_distinct(text, most, &mut |_| {})
}

/// The distinct tokens of a text, as [`distinct_tokens`] has them; calls `again` with the place of each token that stands there again.
fn each_distinct(text: &str, most: usize, again: &mut impl FnMut(usize)) -> Vec<u8> {
    let mut places = PLACES.take().unwrap_or_else(|| vec![0; wordpiece::count()]);
    let mut found: Vec<u8> = Vec::with_capacity(2 * most.min(text.len() / 2 + 1));
    let mut rest = text;
    while !rest.is_empty() && found.len() < most * 2 {
        let (part, behind) = rest.split_at(end_of_part(rest));
        wordpiece::each_token(part, &mut |token| {
            let place = &mut places[token as usize];
            if *place > 0 {
                again(usize::from(*place) - 1);
            } else if found.len() < most * 2 {
                found.extend(token.to_le_bytes());
                *place = (found.len() / 2) as u16;
            }
        });
        rest = behind;
        interrupt::step(); // a text of many megabytes may have few tokens
    }
    found.as_chunks::<2>().0.iter().for_each(|token| places[Token::from_le_bytes(*token) as usize] = 0);
    PLACES.set(Some(places));
    found
}

/// Where a part of a text ends: at a space, which ends every word.
fn end_of_part(text: &str) -> usize {
    let behind = text.as_bytes().get(PART_BYTES..).unwrap_or_default();
    behind.iter().position(|byte| matches!(byte, b' ' | b'\n')).map_or(text.len(), |at| PART_BYTES + at)
}

/// The tokens of a text that are compared with a question's, as [`distinct_tokens`] has them.
#[must_use]
pub(crate) fn compared_tokens(text: &str) -> Vec<u8> {
    distinct_tokens(text, MOST_COMPARED)
}

/// The tokens of a text as they are kept. Nothing of a text without any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KeptTokens {
    pub distinct: Vec<u8>,
    pub repeats: Vec<u8>,
}

impl KeptTokens {
    /// The tokens that are kept of a text.
    pub fn of(text: &str) -> Self {
        let mut times = [0_usize; MOST_COMPARED];
        let mut distinct = each_distinct(text, MOST_COMPARED, &mut |place| times[place] += 1);
        if distinct.is_empty() {
            return Self::default();
        }
        distinct.insert(0, VERSION);
        Self { repeats: repeats(distinct.len() > 2 * MOST_COMPARED, &times), distinct }
    }

    /// These tokens, to be read.
    #[cfg(test)]
    pub fn tokens(&self) -> Tokens<'_> {
        Tokens { distinct: &self.distinct, repeats: &self.repeats }
    }
}

fn repeats(is_full: bool, times: &[usize; MOST_COMPARED]) -> Vec<u8> {
    if is_full || times.iter().any(|times| *times > usize::from(u8::MAX)) {
        return TOO_MANY.to_vec();
    }
    let again = times.iter().enumerate().filter(|(_, times)| **times > 0);
    std::iter::once(VERSION).chain(again.flat_map(|(place, times)| [place as u8, *times as u8])).collect()
}

/// The kept tokens of a text: none, or those of another version, where another version wrote it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tokens<'b> {
    pub distinct: &'b [u8],
    pub repeats: &'b [u8],
}

impl<'b> Tokens<'b> {
    /// The tokens of the text that are compared with a question's, as [`distinct_tokens`] has them, if this version kept them.
    pub fn compared(self) -> Option<&'b [u8]> {
        of_this_version(self.distinct).filter(|tokens| tokens.len().is_multiple_of(2))
    }

    /// The tokens of `text` that are compared with a question's: those that are kept, or else made of it anew.
    pub fn compared_of(self, text: &str) -> Cow<'b, [u8]> {
        self.compared().map_or_else(|| Cow::Owned(compared_tokens(text)), Cow::Borrowed)
    }

    /// Whether as many are kept as may be: the text may have more.
    pub fn are_full(self) -> bool {
        self.compared().is_some_and(|tokens| tokens.len() >= 2 * MOST_COMPARED)
    }

    /// Every token that the text has, each once, and how often; `None` where that was not kept.
    fn counted(self) -> Option<impl Iterator<Item = (Token, usize)>> {
        let (tokens, again) = (self.compared()?, of_this_version(self.repeats)?);
        let (mut again, rest) = again.as_chunks::<2>();
        let next = move |(place, token): (usize, &[u8; 2])| {
            let mut times = 1;
            if let Some(([at, more], behind)) = again.split_first()
                && usize::from(*at) == place
            {
                (times, again) = (1 + usize::from(*more), behind);
            }
            (Token::from_le_bytes(*token), times)
        };
        rest.is_empty().then(|| tokens.as_chunks::<2>().0.iter().enumerate().map(next))
    }

    /// Every kind of word ([`mod@super::forms`]) that the text has, where its words are cut by these tokens as by white space; all kinds, where
    /// they may not be.
    pub fn kinds_in(self, text: &str) -> u8 {
        let is_plain = text.bytes().fold(true, |is, byte| is & byte.is_ascii() & (byte != b'\x0b') & (byte != b'\x0c'));
        match self.compared().filter(|tokens| is_plain && tokens.len() < 2 * MOST_COMPARED) {
            Some(tokens) => forms(tokens).fold(0, |kinds, kind| kinds | kind),
            None => u8::MAX,
        }
    }

    /// Whether this version would keep more of that text.
    pub fn lacks_some(self, text: &str) -> bool {
        let is_whole = self.compared().is_some() && of_this_version(self.repeats).is_some();
        !is_whole && KeptTokens::of(text) != KeptTokens::default()
    }

    /// Whether what this version kept is not of that text.
    pub fn are_not_of(self, text: &str) -> bool {
        let own = KeptTokens::of(text);
        let differs = |kept, own| of_this_version(kept).is_some() && kept != own;
        differs(self.distinct, &own.distinct) || differs(self.repeats, &own.repeats)
    }

    /// Whether they tell that the table [knows](super::knows) their text: each says something, and one is of a word. If not, its words do.
    pub fn surely_know(self, text: &str) -> bool {
        let says = |token: &[u8; 2]| table::says_something(Token::from_le_bytes(*token));
        let all = |tokens: &[u8]| tokens.len() < 2 * MOST_COMPARED && tokens.as_chunks::<2>().0.iter().all(says);
        self.compared().is_some_and(all) && text.bytes().any(|byte| byte.is_ascii_alphabetic())
    }
}

fn of_this_version(kept: &[u8]) -> Option<&[u8]> {
    kept.split_first().filter(|(version, _)| **version == VERSION).map(|(_, kept)| kept)
}

/// The vector of a text but for `left_out`, tokens as [`distinct_tokens`] has them: of what it says of somebody, not of whom it says it.
#[must_use]
pub(crate) fn embed_beside(text: &str, tokens: Tokens<'_>, left_out: &[u8]) -> UnitVector {
    sum_beside(text, tokens, left_out).finish()
}

/// About the cosine of that vector with another: off by less than a thousandth, in a fraction of the time. `None` where it has no direction.
#[must_use]
pub(crate) fn near_cosine_beside(text: &str, tokens: Tokens<'_>, left_out: &[u8], unit: &UnitVector) -> Option<f64> {
    sum_beside(text, tokens, left_out).near_cosine(unit.as_slice())
}

/// About the cosine of a text with another vector, of its distinct tokens, each once. `None` where it has no direction.
#[must_use]
pub(crate) fn near_cosine_of(tokens: &[u8], unit: &UnitVector) -> Option<f64> {
    let mut sum = Sum::new();
    tokens.as_chunks::<2>().0.iter().for_each(|token| sum.add(Token::from_le_bytes(*token)));
    sum.near_cosine(unit.as_slice())
}

fn sum_beside(text: &str, tokens: Tokens<'_>, left_out: &[u8]) -> Sum {
    let mut sum = Sum::new();
    let mut add = |token: Token, times: usize| {
        if !left_out.as_chunks::<2>().0.contains(&token.to_le_bytes()) {
            (0..times).for_each(|_| sum.add(token));
        }
    };
    match tokens.counted() {
        Some(counted) => counted.for_each(|(token, times)| add(token, times)),
        None => wordpiece::each_token(text, &mut |token| add(token, 1)),
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedding::{DIMENSIONS, embed, embed_question};

    fn texts() -> Vec<String> {
        let words = ["Anna", "works", "at", "Acme", ",", "she", "\u{1f600}", "8443", "Zo\u{eb}", "payments-api's"];
        let mut texts: Vec<String> =
            (0..40).map(|at| (0..at).map(|of| words[of * (at + 1) % words.len()]).collect::<Vec<_>>().join(" ")).collect();
        texts.extend(["the ".repeat(256), "the ".repeat(257), "\u{41a}\u{442}\u{43e}?".to_owned(), " ".to_owned()]);
        texts.push((1..wordpiece::count() as Token).take(300).map(wordpiece::spelling).collect::<Vec<_>>().join(" "));
        texts
    }

    #[test]
    fn a_text_and_what_is_kept_of_it_make_one_vector() {
        let question = embed_question("Where does Anna work?");
        let (left_out, mut kept) = (distinct_tokens("Anna's", 8), 0);
        for text in texts() {
            let (none, own) = (Tokens::default(), KeptTokens::of(&text));
            kept += usize::from(own.tokens().counted().is_some());
            for left_out in [&left_out[..], &[]] {
                assert_eq!(embed_beside(&text, own.tokens(), left_out), embed_beside(&text, none, left_out), "{text:?}");
                let near = |tokens| near_cosine_beside(&text, tokens, left_out, &question);
                assert_eq!(near(own.tokens()), near(none), "{text:?}");
            }
            assert_eq!(own.tokens().compared().unwrap_or_default(), compared_tokens(&text));
            if !own.distinct.is_empty() && embed(&text) != UnitVector::without_direction(DIMENSIONS) {
                assert_eq!(embed_beside(&text, own.tokens(), &[]), embed(&text));
            }
        }
        assert_eq!(kept, texts().len() - 4, "but of two that are too long, a blank one and one of nothing");
    }

    #[test]
    fn what_is_missing_and_what_is_wrong_is_told() {
        for text in texts().iter().filter(|text| !KeptTokens::of(text).distinct.is_empty()) {
            let own = KeptTokens::of(text);
            let (whole, older) = (own.tokens(), Tokens { repeats: &[], ..own.tokens() });
            assert!(!whole.lacks_some(text) && !whole.are_not_of(text), "{text:?}");
            assert!(older.lacks_some(text) && !older.are_not_of(text) && Tokens::default().lacks_some(text));
            assert!(older.counted().is_none() && !Tokens { distinct: &[9, 1, 0], repeats: &[9] }.are_not_of(text), "of another version");
            let wrong = Tokens { repeats: &[VERSION, 0, 7], ..whole };
            assert!(wrong.are_not_of(text) && Tokens { distinct: &[VERSION, 1, 2], ..whole }.are_not_of(text), "{text:?}");
        }
        assert!(!Tokens::default().lacks_some("") && !Tokens::default().are_not_of(" "));
        assert_eq!(Tokens { distinct: &[9, 1, 0], repeats: &[] }.compared(), None, "of another version");
    }

    #[test]
    fn a_list_of_tokens_ends_where_it_is_full() {
        let text = "one two three two one four five";
        assert_eq!(distinct_tokens(text, 3), distinct_tokens("one two three", 9));
        let of = |count: usize| (1..wordpiece::count() as Token).take(count).map(wordpiece::spelling).collect::<Vec<_>>().join(" ");
        assert!(!KeptTokens::of(text).tokens().are_full() && !Tokens::default().are_full());
        assert!(KeptTokens::of(&of(1_000)).tokens().are_full());
        assert_eq!(KeptTokens::of(text).repeats, [VERSION, 0, 1, 1, 1]);
        assert_eq!(KeptTokens::of("one two").repeats, [VERSION]);
    }
}
