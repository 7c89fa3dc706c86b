//! Whether two texts of one shape say the same of two things: "My home address is ..." and "My office address is ...", where the question
//! asks for the home address.
//!
//! Both have the same words around a place where the older one has a word of the question and the newer one has another word. The place
//! is that of a noun or of what stands before it, directly behind "my", "the", "for" or the like. That tells it from what a change says
//! in other words: "I drink coffee in the morning", "I switched to tea in the morning". Both share a word of the question elsewhere: "My
//! doctor is ..." and "My new physician is ..." may be one thing.

use std::cell::OnceCell;

use super::words::{Words, begins, in_small_letters, normal, without_s};
use crate::text::{is_filler, with_stem};

/// Words of a text that are compared.
const MOST_WORDS: usize = 48;
/// Words of a question that say what is asked for: as many as there are bits.
const MOST_CONTENT: usize = u64::BITS as usize;
/// Words in the place where two texts differ, at most.
const LONGEST: usize = 5;
/// Words that stand for "my", and behind the owner of "Anna's".
const POSSESSIVE: &str = "'s";
/// Words that begin a question which is answered by yes or no, and which may name the value itself ("Do I follow a vegan diet?").
const YES_OR_NO: [&str; 16] =
    ["is", "are", "am", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could", "will", "would", "should"];

/// A word by its stem.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    /// The hash of its stem.
    stem: u64,
    /// Its beginning ([`begins`]).
    begins: u64,
    /// A noun stands behind it.
    leads: bool,
    /// It says something by itself, and does not fill in.
    tells: bool,
    /// It tells, and may name another thing before a noun.
    names: bool,
}

impl Word {
    /// Its beginning ([`begins`]).
    pub(super) fn begins(&self) -> u64 {
        self.begins
    }
}

impl PartialEq for Word {
    fn eq(&self, other: &Self) -> bool {
        self.stem == other.stem
    }
}

/// A memory, for comparisons.
#[derive(Debug)]
pub(super) struct Told<'t> {
    parts: &'t [&'t str],
    /// Which words of the question's content it has, a bit for each.
    held: u64,
    /// Its words, once they are compared: mostly `held` decides.
    words: OnceCell<Vec<Word>>,
}

impl Told<'_> {
    /// Whether it has a word of the question's content.
    pub fn has_content(&self) -> bool {
        self.held != 0
    }

    /// Whether a newer memory has every word of the question's content that an older one has, and one at least.
    pub fn covers(&self, old: &Self) -> bool {
        old.held != 0 && old.held & !self.held == 0
    }

    fn words(&self) -> &[Word] {
        self.words.get_or_init(|| words(self.parts))
    }
}

/// The words of a question, for comparisons.
#[derive(Debug, Default)]
pub(super) struct Contrast {
    words: Vec<Word>,
    /// Those that say what is asked for, but for names and identifiers.
    content: Vec<Word>,
    /// Their beginnings, a bit for each.
    begins: u64,
    /// The question may name the value that an older text has.
    pub may_name_value: bool,
    /// It is put as a question ("which", "is", "the"), and not as words to look for.
    pub is_question: bool,
}

impl Contrast {
    /// The contrast of a question; `beside` are its names and identifiers.
    pub fn of(question: &Words<'_>, beside: &[String]) -> Self {
        let beside: Vec<Word> = beside.iter().flat_map(|name| words(Words::of(name).parts())).collect();
        let words = words(question.parts());
        let content: Vec<Word> = words.iter().filter(|word| word.tells && !beside.contains(word)).take(MOST_CONTENT).copied().collect();
        let begins = content.iter().map(|word| word.begins).fold(0, |all, begins| all | begins);
        let mut first = question.bare.iter().map(|word| normal(word));
        let begin = first.next().unwrap_or_default();
        let may_name_value = YES_OR_NO.contains(&begin.as_str()) && first.next().is_some_and(|word| word != "you");
        Self { content, begins, may_name_value, is_question: is_filler(without_s(&begin).as_bytes()), words }
    }

    /// A memory, with the words of the question's content that it has.
    pub fn told<'t>(&self, text: &'t Words<'t>) -> Told<'t> {
        let bit = |stem: u64| self.content.iter().position(|asked| asked.stem == stem).map_or(0, |at| 1 << at);
        let (parts, mut held) = (text.parts(), 0);
        for part in parts.iter().take(MOST_WORDS).filter(|part| begins(part.as_bytes()) & self.begins != 0) {
            held |= bit(in_small_letters(without_s(part), stem_of));
        }
        Told { parts, held, words: OnceCell::new() }
    }

    /// Whether the newer of two texts says the same of another thing than the older one, which the question asks for.
    pub fn is_between(&self, new: &Told<'_>, old: &Told<'_>) -> bool {
        let (kept, lost) = (old.held & new.held, old.held & !new.held);
        if self.may_name_value || kept == 0 || lost == 0 {
            return false;
        }
        let (new, old) = (new.words(), old.words());
        let mut from = 0;
        while let Some(start) = (from..old.len()).find(|at| !new.contains(&old[*at])) {
            let end = (start..old.len()).find(|at| new.contains(&old[*at])).unwrap_or(old.len());
            if self.is_asked(old, start, end) && differs(new, old, start, end) {
                return true;
            }
            from = end;
        }
        false
    }

    /// Whether the question has a word of that place of the older text, beside the same neighbour. A place that has filler may reach into a
    /// value ("at night is 8 units"), unless a word of the question ends it ("licence was renewed and expires").
    fn is_asked(&self, old: &[Word], start: usize, end: usize) -> bool {
        let is_pair = |pair: &[Word]| self.words.windows(2).any(|own| own == pair);
        let ends = || old.get(end).is_some_and(|behind| self.content.contains(behind));
        end - start <= LONGEST
            && (old[start..end].iter().all(|word| word.tells) || ends())
            && old[start..end].iter().any(|word| self.content.contains(word))
            && old[start.saturating_sub(1)..old.len().min(end + 1)].windows(2).any(is_pair)
    }
}

/// Whether a text has other words than an older one between the words around that place of it, of which one names something, and the
/// place is that of a noun.
fn differs(new: &[Word], old: &[Word], start: usize, end: usize) -> bool {
    let (before, Some(behind)) = (start.checked_sub(1).map(|at| old[at]), old.get(end)) else { return false };
    if before.is_some_and(|before| !before.leads) {
        return false;
    }
    let is_here = |at: &usize| at.checked_sub(1).map(|at| new[at]) == before;
    // A text that begins with "I" or "my" does not begin with its noun.
    let is_bare = |place: &[Word]| before.is_some() || place.iter().all(|word| word.tells);
    (0..new.len()).filter(is_here).any(|at| {
        let count = new[at..].iter().take_while(|word| !old.contains(word)).take(LONGEST + 1).count();
        let place = &new[at..at + count];
        let is_named = count <= LONGEST && new.get(at + count) == Some(behind) && place.iter().any(|word| word.names);
        is_named && is_bare(place) && is_bare(&old[start..end])
    })
}

/// The first words of a text that say something by themselves, each with the number of its letters.
pub(super) fn content_of(text: &str) -> Vec<(Word, usize)> {
    let of = |part: &str| word(part).0.filter(|word| word.tells).map(|word| (word, without_s(part).chars().count()));
    Words::of(text).parts().iter().take(MOST_WORDS).copied().filter_map(of).collect()
}

/// The first words of a text, with a mark behind each owner and in the place of "my".
fn words(parts: &[&str]) -> Vec<Word> {
    let mut words = Vec::with_capacity(MOST_WORDS.min(parts.len() + 1));
    for part in parts.iter().take(MOST_WORDS) {
        let (word, owns) = word(part);
        words.extend(word);
        words.extend(owns.then(possessive));
    }
    words
}

/// A word, and whether it is an owner; of "my" and the like no word.
fn word(part: &str) -> (Option<Word>, bool) {
    let plain = without_s(part);
    let mut word = in_small_letters(plain, word_of);
    if let Some(word) = word.as_mut().filter(|_| is_acronym(plain)) {
        (word.tells, word.names) = (true, true);
    }
    (word, word.is_none() || plain.len() < part.len())
}

/// Whether a word is of capitals alone, as "US" and "IT" are, which mean something else in small letters.
fn is_acronym(word: &str) -> bool {
    word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// A word in small letters; `None` where it is "my" or the like.
fn word_of(word: &[u8]) -> Option<Word> {
    if matches!(word, b"my" | b"our" | b"your" | b"his" | b"her" | b"their") {
        return None;
    }
    let tells = !is_filler(word);
    Some(Word { stem: stem_of(word), begins: begins(word), leads: leads(word), tells, names: tells && !is_neutral(word) })
}

/// Whether a noun stands behind a word, beside possessives.
fn leads(word: &[u8]) -> bool {
    matches!(word, b"the" | b"a" | b"an" | b"this" | b"that" | b"every")
        || matches!(word, b"to" | b"for" | b"in" | b"on" | b"at" | b"of" | b"from" | b"with" | b"by" | b"into")
}

/// Whether a word names no other thing before a noun: "my new address" is an address.
fn is_neutral(word: &[u8]) -> bool {
    matches!(word, b"new" | b"newest" | b"current" | b"latest" | b"present" | b"actual" | b"now" | b"next" | b"other" | b"own")
        || matches!(word, b"favourite" | b"favorite" | b"preferred" | b"usual" | b"regular" | b"default" | b"main" | b"primary")
}

/// The hash of a word's stem.
pub(super) fn stem_of(word: &[u8]) -> u64 {
    with_stem(word, hash)
}

fn possessive() -> Word {
    Word { stem: hash([POSSESSIVE.as_bytes(), b""]), begins: 0, leads: true, tells: false, names: false }
}

/// FNV-1a: words of one question and its candidates are compared, and nothing is stored.
fn hash(parts: [&[u8]; 2]) -> u64 {
    let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    parts.into_iter().flatten().fold(0xcbf2_9ce4_8422_2325, add)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the newer text is of another thing, for a question.
    fn is_other(question: &str, old: &str, new: &str) -> bool {
        let contrast = Contrast::of(&Words::of(question), &[]);
        contrast.is_between(&contrast.told(&Words::of(new)), &contrast.told(&Words::of(old)))
    }

    #[test]
    fn another_word_in_the_place_of_an_asked_one_is_another_thing() {
        for (question, old, new) in [
            ("What is my front door code?", "My front door code is 2580.", "My garage door code is 8642."),
            ("What is the user's ring finger size?", "The user's ring finger size is 54.", "The user\u{2019}s index finger size is 58."),
            ("When was my upper denture fitted?", "My upper denture was fitted in 2018.", "My lower bridge was fitted in 2021."),
            ("Where do I keep the key for the cellar?", "I keep the key for the cellar here.", "I keep the key for the shed here."),
            ("When does my licence expire?", "My licence was renewed and expires in May.", "My visa expires in August."),
            ("Which winter tyres do I have?", "Winter tyres: Nokian", "Summer tyres: Pirelli"),
            ("What is the EU price of the Pro plan?", "The EU price of the Pro plan is 20.", "The US price of the Pro plan is 25."),
            ("What is the IT budget of Heron?", "The IT budget of Heron is 5.", "The HR budget of Heron is 9."),
            ("Can you tell me my test-run price?", "My test-run price is 5.", "My full-run price is 9."),
        ] {
            assert!(is_other(question, old, new), "{new}");
            assert!(!is_other(question, old, old), "{old}");
        }
    }

    #[test]
    fn a_change_in_other_words_is_of_the_same_thing() {
        for (question, old, new) in [
            ("What do I drink in the morning?", "I drink coffee in the morning.", "I switched to tea in the morning."),
            ("What do I drink in the morning?", "My morning drink is coffee.", "My breakfast drink became tea."),
            ("Who is my doctor?", "My doctor is Dr. Meyer.", "My new physician is Dr. Silva."),
            ("What is my current address?", "My current address is 4 Elm Street.", "My new address is 9 King Road."),
            ("Where do I live?", "I live in Porto.", "I moved to Oslo."),
            ("Which mobile carrier do I use?", "My mobile carrier is Movistar.", "I changed carriers to Verizon."),
            ("Which programming language do I prefer?", "My preferred programming language is Go.", "My favourite language is Python."),
            ("How much iron do I take at night?", "My iron dose at night is 8 units.", "I cut the iron at bedtime to 4 units."),
            ("Where do I buy groceries?", "I buy groceries at Migros.", "My groceries come from Spar now."),
            ("Do I follow a vegan diet?", "I follow a vegan diet.", "I follow a keto diet."),
            ("What is my front door code?", "My front door code is 2580.", "The code of my front door is 1379."),
        ] {
            assert!(!is_other(question, old, new), "{new}");
        }
    }

    #[test]
    fn what_is_covered_is_covered_by_stems_and_without_names() {
        let covers = |question: &str, new: &str| {
            let contrast = Contrast::of(&Words::of(question), &["order-sync".to_owned()]);
            let old = Words::of("The upload limit of order-sync is 20 MB.");
            contrast.told(&Words::of(new)).covers(&contrast.told(&old))
        };
        assert!(covers("What is the upload limit of order-sync?", "The limit for uploads was raised to 50 MB."));
        assert!(!covers("What is the upload limit of order-sync?", "The download limit of order-sync is 200 MB."));
        assert!(!covers("What is order-sync?", "order-sync is new."), "nothing is asked but the name");
    }
}
