//! Words of a question that nobody wrote: each is read as the commonest word one edit away that somebody did.
//!
//! ```text
//! tried     plain words of four and more ASCII letters that no text has in any form and that the vocabulary of the built-in embedding does
//!           not have whole: what it has is a word, and missing is not misspelt. Never identifiers, nor what stands in one; at most MOST_TRIED,
//!           of the first MOST_LOOKED_UP that may be such: what is longer is a text and no question. None of a question in another
//!           language, whose every word may be missing there
//! edits     one letter out, in, or another, or two neighbours exchanged: 53 x length + 25 spellings, looked up in the index. A word with
//!           a capital keeps its first letter: it may be a name, and Tanja is not Anja
//! chosen    the spelling that most texts have; of equals the first in the alphabet
//! plurals   a word in small letters without such a spelling, whose singular the vocabulary has whole, is read as that, and "allergies" as
//!           "allergy" in any case: its pieces there say less
//! ```
//!
//! An index holds hashes and no words, so the spellings of all words that are tried are made from the question and looked up at once. Source: Norvig, "How to write a spelling
//! corrector", 2007.

use super::TermClass;
use super::abroad::is_abroad;
use super::filler::is_filler;
use super::porter::stem;
use crate::Result;
use crate::units::term_key::TermKey;

/// Words of a question that are tried.
const MOST_TRIED: usize = 8;
/// Words of a question that are looked for to tell whether any text has them.
const MOST_LOOKED_UP: usize = 256;
const SHORTEST: usize = 4;
/// Above it a word is not a word.
const LONGEST: usize = 24;

/// A question as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repaired {
    /// The question with other words in it.
    pub text: String,
    /// The written words and their readings, in order.
    pub changes: Vec<(String, String)>,
}

/// Looks up how many texts have each of some words: in any form, or as they are spelt.
pub(crate) trait Frequencies {
    /// Whether any text has a word in any of its forms.
    fn has_form(&mut self, word: &str) -> Result<bool>;
    /// How often each of some words occurs, as they are spelt, in their order.
    fn of_spellings(&mut self, words: &[Spelling]) -> Result<Vec<u64>>;
}

/// The question with its misspelt words read as what is there; `None` where nothing changed.
pub(crate) fn repair(question: &str, is_word: impl Fn(&str) -> bool, frequencies: &mut impl Frequencies) -> Result<Option<Repaired>> {
    let (mut tried, mut spellings, mut lower, mut looked_up, mut is_ours) = (Vec::new(), Vec::new(), String::new(), 0, None);
    for (start, word) in plain_words(question) {
        lower.clear();
        lower.push_str(word);
        lower.make_ascii_lowercase();
        if is_filler(lower.as_bytes()) || is_word(&lower) {
            continue;
        }
        if tried.len() == MOST_TRIED || looked_up == MOST_LOOKED_UP {
            break;
        }
        looked_up += 1;
        if frequencies.has_form(&lower)? {
            continue;
        }
        if !*is_ours.get_or_insert_with(|| !is_abroad(question)) {
            break;
        }
        edits(lower.as_bytes(), usize::from(lower != word), &mut spellings);
        tried.push(Tried { start, word, end: spellings.len(), singular: singular(word, &is_word) });
    }
    if tried.is_empty() {
        return Ok(None);
    }
    let counts = frequencies.of_spellings(&spellings)?;
    Ok(replaced(question, &tried, &spellings, &counts))
}

/// A word that is tried: where it begins, where its spellings end, and its singular where that is a word.
struct Tried<'q> {
    start: usize,
    word: &'q str,
    end: usize,
    singular: Option<String>,
}

/// The singular of a plural in small letters, where it is a word or ends in "y".
fn singular(word: &str, is_word: impl Fn(&str) -> bool) -> Option<String> {
    let stem = word.strip_suffix('s').filter(|stem| !word.starts_with(|first: char| first.is_ascii_uppercase()) && !stem.ends_with('s'))?;
    let known = |one: &str| (one.len() >= SHORTEST && is_word(one)).then(|| one.to_owned());
    let of_y = || stem.strip_suffix("ie").filter(|stem| stem.len() + 1 >= SHORTEST).map(|stem| format!("{stem}y"));
    known(stem).or_else(of_y).or_else(|| stem.strip_suffix('e').and_then(known))
}

/// The question with the best spelling of each word that was tried.
fn replaced(question: &str, tried: &[Tried<'_>], spellings: &[Spelling], counts: &[u64]) -> Option<Repaired> {
    let (mut text, mut changes, mut copied, mut first) = (String::new(), Vec::new(), 0, 0);
    for Tried { start, word, end, singular } in tried {
        let known = spellings[first..*end].iter().zip(&counts[first..*end]).filter(|(_, count)| **count > 0);
        let best = known.max_by_key(|(spelling, count)| (*count, std::cmp::Reverse(spelling.as_str())));
        if let Some(best) = best.map(|(best, _)| best.as_str()).or(singular.as_deref()) {
            text.push_str(&question[copied..*start]);
            text.push_str(best);
            copied = start + word.len();
            changes.push(((*word).to_owned(), best.to_owned()));
        }
        first = *end;
    }
    text.push_str(&question[copied..]);
    (!changes.is_empty()).then_some(Repaired { text, changes })
}

/// Words of letters alone between white space, with the marks of a sentence around them and `'s` behind: where each begins.
fn plain_words(question: &str) -> impl Iterator<Item = (usize, &str)> {
    let around = |mark: char| matches!(mark, '?' | '!' | '.' | ',' | ';' | ':' | '"' | '(' | ')' | '\u{2019}' | '\'');
    question.split_whitespace().filter_map(move |chunk| {
        let word = chunk.trim_matches(around);
        let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("\u{2019}s")).unwrap_or(word);
        let is_plain = (SHORTEST..=LONGEST).contains(&word.len())
            && word.bytes().enumerate().all(|(at, byte)| byte.is_ascii_lowercase() || at == 0 && byte.is_ascii_uppercase());
        is_plain.then(|| (word.as_ptr() as usize - question.as_ptr() as usize, word))
    })
}

/// A word of small ASCII letters, one edit away from one that is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spelling {
    /// The class of a word, then the letters: the input of a term's hash.
    bytes: [u8; LONGEST + 2],
    length: u8,
}

impl Spelling {
    fn of(parts: [&[u8]; 3]) -> Self {
        let mut spelling = Self { bytes: [TermClass::Word as u8; LONGEST + 2], length: 1 };
        for part in parts {
            let at = spelling.length as usize;
            spelling.bytes[at..at + part.len()].copy_from_slice(part);
            spelling.length += part.len() as u8;
        }
        spelling
    }

    /// This spelling with another letter at a place.
    fn with(mut self, at: usize, letter: u8) -> Self {
        self.bytes[(at + 1).min(LONGEST + 1)] = letter;
        self
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[1..self.length as usize]).unwrap_or_default() // ASCII
    }

    /// The hash of the word as a term, by the scope's key: of its stem, where words are indexed by that alone.
    pub fn hash(mut self, key: TermKey) -> u64 {
        let mut length = self.length as usize;
        if key.stems {
            self.bytes[0] = TermClass::Stem as u8;
            length = 1 + stem(&mut self.bytes[1..length]);
        }
        key.hash(&self.bytes[..length])
    }
}

/// Appends every spelling one edit away behind the first `kept` letters, each once: of the places where an edit would make the same, the last.
fn edits(word: &[u8], kept: usize, spellings: &mut Vec<Spelling>) {
    spellings.reserve(word.len() * 53 + 25);
    for at in kept..=word.len() {
        let (before, after) = word.split_at(at);
        let (inserted, replaced) = (Spelling::of([before, b" ", after]), Spelling::of([before, after, &[]]));
        for letter in (b'a'..=b'z').filter(|letter| after.first() != Some(letter)) {
            spellings.push(inserted.with(at, letter));
            if !after.is_empty() {
                spellings.push(replaced.with(at, letter));
            }
        }
        let Some((&first, rest)) = after.split_first() else { break };
        if rest.first() != Some(&first) {
            spellings.push(Spelling::of([before, &[], rest]));
            if let Some((&second, rest)) = rest.split_first() {
                spellings.push(Spelling::of([before, &[second, first], rest]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::term_hash;

    struct Texts(&'static [(&'static str, u64)]);

    impl Frequencies for Texts {
        fn has_form(&mut self, word: &str) -> Result<bool> {
            Ok(self.frequency(word) > 0)
        }

        fn of_spellings(&mut self, words: &[Spelling]) -> Result<Vec<u64>> {
            Ok(words.iter().map(|word| self.frequency(word.as_str())).collect())
        }
    }

    impl Texts {
        fn frequency(&self, word: &str) -> u64 {
            self.0.iter().find(|(known, _)| *known == word).map_or(0, |(_, count)| *count)
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
    fn a_plural_that_is_no_word_is_read_as_its_singular() {
        assert_eq!(read("Which boats do I have?").as_deref(), Some("Which boat do I have?"));
        assert_eq!(read("museus and boats").as_deref(), Some("museum and boat"), "what a text has comes first");
        assert_eq!(read("Boats, zebras").as_deref(), None, "a name stays, and so does what is no word either way");
        let is_word = |word: &str| ["match", "horse"].contains(&word);
        assert_eq!(
            ["allergies", "matches", "horses", "gasses"].map(|word| singular(word, is_word).unwrap_or_default()),
            ["allergy", "match", "horse", ""]
        );
    }

    #[test]
    fn another_name_and_a_word_of_another_language_stay() {
        let mut texts = Texts(&[("anja", 3), ("pumpe", 2), ("keller", 2), ("deine", 1), ("aufgabe", 1), ("perro", 1), ("garden", 2)]);
        let mut read = |question: &str| repair(question, |word| word == "boat", &mut texts).unwrap().map(|repaired| repaired.text);
        for question in [
            "Where does Tanja live?",
            "Wann ist Sanja geboren?",
            "Ist die Puppe im Keller?",
            "Was ist meine Aufgabe?",
            "\u{bf}Cu\u{e1}nto cuesta el pero?",
            "Vem har en gaden?",
            "Onde fica o gardem?",
            "Gdzie jest garde?",
            "Garde nerede?",
            "Gardem kaha hai?",
            "Was frisst mein Pero?",
        ] {
            assert_eq!(read(question), None, "{question}");
        }
        assert_eq!(read("Where does Amja live?").as_deref(), Some("Where does anja live?"));
        assert_eq!(read("Is the gadren of the caf\u{e9} open?").as_deref(), Some("Is the garden of the caf\u{e9} open?"));
        assert_eq!(read("gadren perro").as_deref(), Some("garden perro"), "no word of any language");
    }

    #[test]
    fn a_text_in_place_of_a_question_is_not_looked_up_to_its_end() {
        let behind = |words: usize| read(&format!("{}musem", "garden ".repeat(words)));
        assert_eq!(behind(MOST_LOOKED_UP - 1), Some(format!("{}museum", "garden ".repeat(MOST_LOOKED_UP - 1))));
        assert_eq!(behind(MOST_LOOKED_UP), None);
    }

    #[test]
    fn edits_are_all_there_are() {
        let of = |word: &str| {
            let mut spellings = Vec::new();
            edits(word.as_bytes(), 0, &mut spellings);
            let mut words: Vec<String> = spellings.iter().map(|spelling| spelling.as_str().to_owned()).collect();
            assert!(spellings.iter().all(|one| one.hash(7.into()) == term_hash(TermClass::Word, one.as_str(), 7)));
            words.sort_unstable();
            words
        };
        let edits = of("ab");
        assert_eq!(edits.len(), 25 + 25 + 2 + 1 + 26 * 3 - 2);
        assert!(["a", "b", "ba", "cab", "abz", "axb", "az"].iter().all(|word| edits.iter().any(|edit| edit == word)));
        for word in ["ab", "aa", "aab", "baab", "abab"] {
            let edits = of(word);
            assert!(edits.windows(2).all(|pair| pair[0] < pair[1]) && !edits.iter().any(|edit| edit == word), "each once: {word}");
        }
        assert_eq!(of(&"x".repeat(LONGEST)).len(), 25 * LONGEST + 26 + 25 * LONGEST + 1, "the longest has room");
    }
}
