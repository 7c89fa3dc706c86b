//! Whether a text has a term of a question, without analysing all of it.
//!
//! White space ends a chunk, and each chunk gives its terms by itself (`scan`). So only the chunks that have the letters of the term are
//! looked at, and of these only those that are not plain words are analysed. The answer is that of [`analyze()`].

use super::analyze::analyze;
use super::chars::{SPACE, is};
use super::query::{MAX_TEXT_BYTES, QueryTerm};
use super::scan::simple_word;
use super::terms::TermClass;
use crate::units::term_key::TermKey;

/// How many bytes of a text are passed over at a time.
const STRIDE: usize = 32;

/// A term that is looked for.
#[derive(Debug)]
pub(crate) struct Sought {
    /// Its hash by the key of its question.
    pub hash: u64,
    /// Its letters and digits: a chunk in ASCII that has it has these in a row, with nothing but marks between them. Empty where it has
    /// others, is a stem, or is too long to be known whole.
    letters: String,
    /// It is a word of letters, which a plain word is or is not.
    is_word: bool,
}

impl Sought {
    /// The form in which a question's term is sought.
    pub fn of(term: &QueryTerm) -> Self {
        let is_whole = matches!(term.class, TermClass::Word | TermClass::Whole) && term.text.len() < MAX_TEXT_BYTES;
        let text = if is_whole && term.text.is_ascii() { term.text.as_str() } else { "" };
        let letters = text.chars().filter(char::is_ascii_alphanumeric).collect();
        Self { hash: term.hash, letters, is_word: term.class == TermClass::Word && text.bytes().all(|byte| byte.is_ascii_lowercase()) }
    }

    /// Whether a text has it; `key` is that of its question.
    pub fn is_in(&self, text: &str, key: TermKey) -> bool {
        if self.letters.is_empty() || !text.is_ascii() {
            return chunks(text).any(|chunk| self.is_in_chunk(chunk, key));
        }
        let mut at = 0;
        while let Some(next) = self.next_like(text.as_bytes(), at) {
            let (start, end) = chunk_around(text.as_bytes(), next);
            if self.is_in_chunk(&text[start..end], key) {
                return true;
            }
            at = end;
        }
        false
    }

    fn is_in_chunk(&self, chunk: &str, key: TermKey) -> bool {
        match simple_word(chunk.as_bytes()) {
            // Such a chunk has its word, and of other classes the stem of it.
            Some((word, _)) if self.is_word && !self.letters.is_empty() && !key.stems => word.eq_ignore_ascii_case(self.letters.as_bytes()),
            _ if chunk.is_ascii() && !self.letters.is_empty() && self.next_like(chunk.as_bytes(), 0).is_none() => false,
            _ => analyze(chunk, key).terms.binary_search_by_key(&self.hash, |term| term.hash).is_ok(),
        }
    }

    /// Where its letters next stand in a row.
    fn next_like(&self, text: &[u8], mut at: usize) -> Option<usize> {
        let [first, second] = [0, 1].map(|at| self.letters.as_bytes().get(at).copied());
        let first = first?;
        while at < text.len() {
            let stride = text[at..].first_chunk::<{ STRIDE + 1 }>();
            if stride.is_some_and(|stride| !may_begin(stride, first, second.unwrap_or(first))) && second.is_some() {
                at += STRIDE;
                continue;
            }
            let end = text.len().min(at + STRIDE);
            if let Some(like) = (at..end).find(|at| text[*at] | 0x20 == first && self.begins(&text[*at..])) {
                return Some(like);
            }
            at = end;
        }
        None
    }

    /// Whether a text begins with its letters but for marks between them.
    fn begins(&self, text: &[u8]) -> bool {
        let mut letters = self.letters.bytes();
        let mut wanted = letters.next();
        for &byte in text {
            let Some(letter) = wanted else { break };
            if byte.is_ascii_alphanumeric() {
                if byte.to_ascii_lowercase() != letter {
                    return false;
                }
                wanted = letters.next();
            } else if is(byte, SPACE) {
                return false;
            }
        }
        wanted.is_none()
    }
}

/// Whether one letter stands in these bytes before the other, or before a mark. All are looked at, so that many are at a time.
fn may_begin(bytes: &[u8; STRIDE + 1], first: u8, second: u8) -> bool {
    let mut any = false;
    for at in 0..STRIDE {
        let (one, next) = (bytes[at] | 0x20, bytes[at + 1] | 0x20);
        let is_mark = (next.wrapping_sub(b'a') > b'z' - b'a') & (bytes[at + 1] != b' ');
        any |= (one == first) & ((next == second) | is_mark);
    }
    any
}

fn chunks(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| letter.is_ascii() && is(letter as u8, SPACE)).filter(|chunk| !chunk.is_empty())
}

/// Where the chunk begins and ends in which a letter stands.
fn chunk_around(text: &[u8], at: usize) -> (usize, usize) {
    let is_space = |byte: &u8| is(*byte, SPACE);
    let start = text[..at].iter().rposition(is_space).map_or(0, |space| space + 1);
    (start, text[at..].iter().position(is_space).map_or(text.len(), |space| at + space))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Role, with_analyzer};

    const WORDS: [&str; 22] = [
        "payments-api",
        "U.S.A",
        "O'Brien's",
        "getUserById",
        "python3",
        "8443",
        "v1.2.3",
        "$HOME/x_y",
        "don't",
        "APIs",
        "l'Oreal",
        "Mel",
        "Melanie",
        "caroline",
        "Caroline\u{2019}s",
        "Zo\u{e9}",
        "C++",
        "a",
        "X1",
        "1,200",
        "https://Mel.io:8443/anna?x=1",
        "\u{6771}\u{4eac}",
    ];

    fn assert_same(text: &str, query: &crate::text::Query, key: TermKey) -> usize {
        let analysis = analyze(text, key);
        let mut found = 0;
        for term in &query.terms {
            let has = analysis.terms.binary_search_by_key(&term.hash, |known| known.hash).is_ok();
            assert_eq!(Sought::of(term).is_in(text, key), has, "{text:?} {term:?}");
            found += usize::from(has && matches!(term.role, Role::Word | Role::Whole));
        }
        found
    }

    #[test]
    fn what_is_sought_is_found_where_an_analysis_has_it() {
        for key in [TermKey::from(3), TermKey::from(3).with_stems(true)] {
            let query = with_analyzer(|analyzer| analyzer.query(&WORDS.join(" "), key));
            let mut found = 0;
            for one in WORDS {
                for around in
                    ["X", "The X, (Y) is it.", "XY", "X-Y", "X/Y's", "Y\u{a0}X\u{2026}", "\tX\n\u{7f}Y!?", "X.Y", "YX", "\"X's\" mElAnIe"]
                {
                    for other in ["Mel", "melting", "CAROLINE", "M.el", "mel's", "caroLine", "", "8"] {
                        let text = around.replace('X', one).replace('Y', other);
                        found += assert_same(&text, &query, key);
                        found +=
                            assert_same(&format!("{}{text}", "What is told of a long day in May, ".repeat(other.len() % 3)), &query, key);
                    }
                }
            }
            assert!(found > 1000, "{found}");
            assert_same("", &query, key);
        }
    }

    #[test]
    fn it_is_found_wherever_it_stands() {
        let query = with_analyzer(|analyzer| analyzer.query("Melanie x 84432", TermKey::from(3)));
        for before in 0..70 {
            for text in ["Melanie", "x", "me lanie", "84432", "8443", "Mel", "(m'elanie)"] {
                for behind in ["", " and", ".-!", &" ".repeat(40)] {
                    assert_same(&format!("{}{text}{behind}", "mexx x1 meme ".repeat(6)[..before].to_owned()), &query, TermKey::from(3));
                }
            }
        }
    }
}
