//! Words of a question that nobody wrote: each is read as the commonest word one edit away that somebody did.
//!
//! ```text
//! tried     plain words of four and more ASCII letters that no text has in any form and that the vocabulary of the built-in embedding does
//!           not have whole: what it has is a word, and missing is not misspelt. Never identifiers, nor what stands in one; at most MOST_TRIED
//! edits     one letter out, in, or another, or two neighbours exchanged: 53 x length + 25 spellings, looked up in the index
//! chosen    the spelling that most texts have; of equals the first in the alphabet
//! ```
//!
//! An index holds hashes and no words, so the spellings are made from the question and looked up. Source: Norvig, "How to write a spelling
//! corrector", 2007.

use super::filler::is_filler;
use crate::Result;

/// Words of a question that are tried.
const MOST_TRIED: usize = 8;
const SHORTEST: usize = 4;
/// Above it a word is no word.
const LONGEST: usize = 24;

/// A question as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repaired {
    /// The question with other words in it.
    pub text: String,
    /// What was written and what it was read as, in order.
    pub changes: Vec<(String, String)>,
}

/// What looks up how many texts have each of some words: in any form, or as they are spelt.
pub(crate) trait Frequencies {
    /// Whether any text has a word in any of its forms.
    fn has_form(&mut self, word: &str) -> Result<bool>;
    /// Of words as they are spelt.
    fn of_spellings(&mut self, words: &[String]) -> Result<Vec<u64>>;
}

/// The question with its misspelt words read as what is there; `None` where nothing changed.
pub(crate) fn repair(question: &str, is_word: impl Fn(&str) -> bool, frequencies: &mut impl Frequencies) -> Result<Option<Repaired>> {
    let (mut text, mut changes, mut copied, mut tried) = (String::new(), Vec::new(), 0, 0);
    for (start, word) in plain_words(question) {
        let lower = word.to_ascii_lowercase();
        if tried == MOST_TRIED || is_filler(lower.as_bytes()) || is_word(&lower) || frequencies.has_form(&lower)? {
            continue;
        }
        tried += 1;
        let spellings = edits(&lower);
        let counts = frequencies.of_spellings(&spellings)?;
        let best =
            spellings.iter().zip(counts).filter(|(_, count)| *count > 0).max_by_key(|(word, count)| (*count, std::cmp::Reverse(*word)));
        if let Some((best, _)) = best {
            text.push_str(&question[copied..start]);
            text.push_str(best);
            copied = start + word.len();
            changes.push((word.to_owned(), best.clone()));
        }
    }
    text.push_str(&question[copied..]);
    Ok((!changes.is_empty()).then_some(Repaired { text, changes }))
}

/// Words of letters alone between white space, with the marks of a sentence around them and `'s` behind: where each begins.
fn plain_words(question: &str) -> Vec<(usize, &str)> {
    const AROUND: &[char] = &['?', '!', '.', ',', ';', ':', '"', '(', ')', '\u{2019}', '\''];
    let mut words = Vec::new();
    for chunk in question.split_whitespace() {
        let word = chunk.trim_matches(AROUND);
        let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("\u{2019}s")).unwrap_or(word);
        let inner = word.get(1..).unwrap_or_default();
        if (SHORTEST..=LONGEST).contains(&word.len())
            && word.bytes().all(|byte| byte.is_ascii_alphabetic())
            && !inner.bytes().any(|byte| byte.is_ascii_uppercase())
        {
            words.push((word.as_ptr() as usize - question.as_ptr() as usize, word));
        }
    }
    words
}

/// Every spelling one edit away, in the order of the alphabet, each once.
fn edits(word: &str) -> Vec<String> {
    const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
    let mut spellings = Vec::with_capacity(word.len() * 54 + 26);
    let mut push = |parts: &[&str]| spellings.push(parts.concat());
    for at in 0..=word.len() {
        let (before, after) = word.split_at(at);
        let rest = after.get(1..);
        for letter in 0..LETTERS.len() {
            let letter = &LETTERS[letter..=letter];
            push(&[before, letter, after]);
            if let Some(rest) = rest {
                push(&[before, letter, rest]);
            }
        }
        if let Some(rest) = rest {
            push(&[before, rest]);
        }
        if after.len() >= 2 {
            push(&[before, &after[1..2], &after[..1], &after[2..]]);
        }
    }
    spellings.sort_unstable();
    spellings.dedup();
    spellings.retain(|spelling| spelling != word);
    spellings
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Texts(&'static [(&'static str, u64)]);

    impl Frequencies for Texts {
        fn has_form(&mut self, word: &str) -> Result<bool> {
            Ok(self.of_spellings(&[word.to_owned()])?[0] > 0)
        }

        fn of_spellings(&mut self, words: &[String]) -> Result<Vec<u64>> {
            Ok(words.iter().map(|word| self.0.iter().find(|(known, _)| known == word).map_or(0, |(_, count)| *count)).collect())
        }
    }

    fn read(question: &str) -> Option<String> {
        let mut texts = Texts(&[("garden", 5), ("gardens", 5), ("gardn", 0), ("museum", 3), ("caroline", 9), ("carolina", 2)]);
        repair(question, |word| word == "boat", &mut texts).unwrap().map(|repaired| repaired.text)
    }

    #[test]
    fn a_word_that_nobody_wrote_is_read_as_the_commonest_near_one() {
        assert_eq!(read("Which gardne did Carolin visit?").as_deref(), Some("Which garden did caroline visit?"));
        assert_eq!(read("the musem's hall"), Some("the museum's hall".to_owned()));
        assert_eq!(read("musuem").as_deref(), Some("museum"));
    }

    #[test]
    fn words_that_are_there_words_of_the_language_and_identifiers_stay() {
        for question in
            ["Which garden did she visit?", "a boat", "gardne-api", "src/gardne.rs", "getGardne", "gardne4", "GARDNE", "the", "gar", ""]
        {
            assert_eq!(read(question), None, "{question}");
        }
        assert_eq!(read("elephant zebra"), None, "nothing near is there");
    }

    #[test]
    fn edits_are_all_there_are() {
        let edits = edits("ab");
        assert_eq!(edits.len(), 25 + 25 + 2 + 1 + 26 * 3 - 2);
        assert!(["a", "b", "ba", "cab", "abz", "axb", "az"].iter().all(|word| edits.iter().any(|edit| edit == word)));
    }
}
