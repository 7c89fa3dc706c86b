//! Nominating by slots: a memory may be a bare value, and the name of its slot says what it is the value of. "What is my favourite
//! number?" has no word of "42", and each of "favourite number".
//!
//! A value is as relevant as its slot's name is asked for, or as its own words are, whichever is more. A scope without slots costs one
//! look-up, and each slot the comparison of a few letters.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;

use super::Question;
use super::contrast::{Word, content_of};
use super::ranking::memories::{FEWEST, SLOTTED, slotted};
use super::related::Related;
use super::whose::living_ones;
use super::whose::speaks_of_own;
use super::words::{Words, begins};
use crate::Result;
use crate::memory::slots;
use crate::store::identity::Seed;
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::text::{folded, slot_key};

/// Slots of a scope whose names are compared. Of more, those are looked up that the question names as they are.
const MOST_SLOTS: usize = 128;
/// Words of a question that such names are made of, filler left out.
const MOST_WORDS: usize = 40;
/// Words of such a name.
const NAME_WORDS: usize = 3;
/// Between these stand the words of such a name.
const JOINED_BY: [&str; 3] = [" ", "_", "-"];
/// Slots that `learn` gives, and the words by which people ask for what stands in them: "where do I live?" asks for a home that was told as
/// "I moved to Porto".
const ASKED_BY: [(&str, &str); 2] = [("home", "live reside address city"), ("employer", "work job company")];
/// Words that may stand beside these. With any other one a question asks for another thing: "what's my IP address?".
const BESIDE: &str = "now current currently today moment country town place";
/// Words by which a question that has one of these asks for somebody else.
const WITH: [&str; 2] = ["with", "whom"];
/// Words that ask how something is called, whatever it is: they take nothing from the slot that is named beside them.
const NAMING: &str = "called name named";
/// "My" in other languages.
const MY: [&str; 15] = [
    "mein",
    "meine",
    "meiner",
    "mon",
    "ma",
    "mes",
    "mi",
    "mis",
    "meu",
    "minha",
    "mio",
    "mia",
    "mijn",
    "\u{43c}\u{43e}\u{439}",
    "\u{43c}\u{43e}\u{44f}",
];

/// Adds the values of the slots that a question asks for, by number.
pub(super) fn nominate<P: Pages>(
    pages: &P,
    partition: Partition,
    seed: Seed,
    question: &Question,
    found: &mut BTreeMap<u32, Related>,
) -> Result<()> {
    let asked = OnceCell::new();
    let asked = || asked.get_or_init(|| Asked::of(question.text()));
    let mut named: Vec<(slots::Slot, f64)> = Vec::new();
    if !slots::named(pages, partition, MOST_SLOTS, |name| asked().relevance(name), &mut |slot, relevance| named.push((slot, relevance)))? {
        named.clear();
        let names = asked().names();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let slots = slots::of_names(pages, partition, seed, &names)?.into_iter();
        named.extend(slots.filter_map(|slot| asked().relevance(&slot.name).map(|relevance| (slot, relevance))));
    }
    named.sort_by(|(a, more), (b, less)| less.total_cmp(more).then_with(|| a.name.cmp(&b.name)));
    let values = named.iter().flat_map(|(slot, relevance)| slot.current.iter().rev().map(move |number| (*number, slot, *relevance)));
    for (number, slot, relevance) in values.take(FEWEST) {
        let own = || Related { relevance, path: format!("the slot \u{201C}{}\u{201D}", slot.name) };
        let one = found.entry(number).or_insert_with(own);
        if one.relevance < relevance {
            *one = own();
        }
    }
    Ok(())
}

/// A question, as the names of slots are compared with it.
struct Asked {
    /// Its words, but for filler, each with the number of its letters.
    words: Vec<(Word, usize)>,
    /// The words of each of its clauses: one message may ask for several things, and its first sentence for none.
    clauses: Vec<Vec<(Word, usize)>>,
    /// The beginnings of these.
    begins: u64,
    /// Those that ask how something is called.
    naming: Vec<(Word, usize)>,
    /// It is about the user, and mentions nobody else.
    own: bool,
    /// Whom it mentions.
    living: Vec<String>,
    /// All of it as the names of slots are written.
    text: String,
    /// The slots that it asks for by other words than their names.
    by_other_words: Vec<&'static str>,
}

impl Asked {
    fn of(question: &str) -> Self {
        let plain = plain(question);
        let words = content_of(&plain);
        let begins = words.iter().fold(0, |all, (word, _)| all | word.begins());
        let clauses: Vec<Vec<(Word, usize)>> = clauses(&plain).map(content_of).filter(|clause| !clause.is_empty()).collect();
        let text = Words::of(question);
        let own = speaks_of_own(text.bare.iter().copied()) || text.bare.iter().any(|word| MY.contains(&&*word.to_lowercase()));
        let living: Vec<String> = living_ones(&text).collect();
        let is_own = own && living.is_empty() && !text.bare.iter().any(|word| WITH.contains(&&*word.to_lowercase()));
        let is_asked = |(slot, asking): &(&'static str, &str)| {
            let (asking, beside) = (content_of(asking), content_of(BESIDE));
            let is_one = |of: &[(Word, usize)], word: &Word| of.iter().any(|(one, _)| one == word);
            let asks = |clause: &Vec<(Word, usize)>| {
                clause.iter().any(|(word, _)| is_one(&asking, word))
                    && clause.iter().all(|(word, _)| is_one(&asking, word) || is_one(&beside, word))
            };
            clauses.iter().any(asks).then_some(*slot)
        };
        let by_other_words = ASKED_BY.iter().filter(|_| is_own).filter_map(is_asked).collect();
        let asks_who = text.bare.iter().any(|word| word.eq_ignore_ascii_case("who"));
        let naming = if asks_who { Vec::new() } else { content_of(NAMING) };
        Self { words, clauses, naming, begins, own, living, text: slot_key(question), by_other_words }
    }

    /// The names that slots may have which it names as they are, and those that it asks for by other words.
    fn names(&self) -> Vec<String> {
        let words = self.text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !content_of(word).is_empty());
        let words: Vec<&str> = words.take(MOST_WORDS).collect();
        let runs = (2..=NAME_WORDS).flat_map(|length| words.windows(length));
        let joined = runs.flat_map(|run| JOINED_BY.map(|between| run.join(between)));
        let named = words.iter().map(|word| (*word).to_owned()).chain(joined);
        named.chain(self.by_other_words.iter().map(|slot| (*slot).to_owned())).collect()
    }

    /// How relevant the value of a slot is: by the share of its name that is asked for, and by that of the question which the name has.
    fn relevance(&self, name: &str) -> Option<f64> {
        if name.chars().any(is_written_together) {
            let share = name.chars().count() as f64 / self.text.chars().filter(|letter| letter.is_alphanumeric()).count() as f64;
            return (name.chars().nth(1).is_some() && share >= slotted::OF_TEXT && self.text.contains(name))
                .then_some(SLOTTED * share.min(1.0));
        }
        if self.by_other_words.contains(&name) {
            return Some(SLOTTED);
        }
        let plain = plain(name);
        let apart = || plain.split(|letter: char| !letter.is_alphanumeric()).filter(|part| !part.is_empty());
        if !apart().any(|part| begins(part.as_bytes()) & self.begins != 0) {
            return None;
        }
        let words: Vec<(Word, usize)> = apart().flat_map(content_of).collect();
        let has = |words: &[(Word, usize)], word: &Word| words.iter().any(|(own, _)| own == word);
        let letters = |words: &[(Word, usize)]| words.iter().map(|(_, letters)| *letters).sum::<usize>() as f64;
        let held = words.iter().filter(|(word, _)| has(&self.words, word)).count() as f64 / words.len().max(1) as f64;
        let share_of = |clause: &Vec<(Word, usize)>| {
            let matched: Vec<(Word, usize)> = clause.iter().filter(|(word, _)| has(&words, word)).copied().collect();
            let asks_its_name = clause.iter().all(|(word, _)| has(&self.naming, word) || has(&words, word));
            let asked = if asks_its_name && !matched.is_empty() { &matched } else { clause };
            letters(&matched) / letters(asked).max(1.0)
        };
        let share = self.clauses.iter().map(share_of).fold(0.0, f64::max);
        let is_own = self.own && self.living.iter().all(|one| apart().any(|part| living_ones(&Words::of(part)).any(|own| own == *one)));
        (held >= slotted::OF_NAME && share >= if is_own { slotted::OF_OWN_QUESTION } else { slotted::OF_QUESTION })
            .then_some(SLOTTED * held * share)
    }
}

/// A text without accents, in small letters: "Straße" and "strasse", "café" and "cafe" are one name.
fn plain(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(folded(text)) }
}

/// The clauses of a question: between the marks of a sentence, and at "and".
fn clauses(question: &str) -> impl Iterator<Item = &str> {
    let ends = |mark: char| matches!(mark, '.' | '?' | '!' | ';' | ':' | ',' | '\n');
    question.split(ends).flat_map(|part| part.split(" and "))
}

/// Letters of scripts that put no spaces between words: Chinese, Japanese, Thai.
fn is_written_together(letter: char) -> bool {
    matches!(letter, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::slots::Slot;
    use crate::store::identity::Secret;
    use crate::store::pages::MemoryPages;

    fn nominated(pages: &MemoryPages, seed: Seed, question: &str) -> BTreeMap<u32, Related> {
        let mut found = BTreeMap::new();
        nominate(pages, 3, seed, &Question::new(question), &mut found).expect("read");
        found
    }

    #[test]
    fn values_are_found_by_the_names_of_their_slots() {
        let (mut pages, seed) = (MemoryPages::new(), Secret::default().seed(b"u"));
        let japanese = "\u{597d}\u{304d}\u{306a}\u{8272}";
        let names = ["favourite number", "dog name", "home_city", japanese, "the", "lieblingsfarbe", "strasse", "caf\u{e9}"];
        for (at, name) in names.iter().enumerate() {
            let slot = Slot { name: (*name).to_owned(), multi: false, current: vec![at as u32] };
            slots::put(&mut pages, 3, seed, &slot).expect("put");
        }
        for (question, number) in [
            ("What is my favourite number?", 0),
            ("favourite numbers", 0),
            ("What's my dog's name?", 1),
            ("What is my dog called?", 1),
            ("Which city do I live in?", 2),
            ("Which city is my home?", 2),
            ("\u{79c1}\u{306e}\u{597d}\u{304d}\u{306a}\u{8272}\u{306f}\u{ff1f}", 3),
            ("Was ist meine Lieblingsfarbe?", 5),
            ("Was ist meine Stra\u{df}e?", 6),
            ("Wo ist mein Caf\u{e9}?", 7),
            ("Wo ist mein Cafe?", 7),
            ("I'm planning a long trip with many friends next year. What is my favourite number?", 0),
            ("What should I cook for the big dinner tomorrow, and what is my dog's name?", 1),
        ] {
            let found = nominated(&pages, seed, question);
            assert_eq!(found.keys().copied().collect::<Vec<_>>(), [number], "{question}");
        }
        for question in
            ["What is the plan for the day?", "Which number is on the bus to Ghent?", "What is my mother's home city?", "\u{8272}?"]
        {
            assert!(nominated(&pages, seed, question).is_empty(), "{question}");
        }
        assert!(nominated(&pages, seed, "").is_empty());
        let (whole, part) = (nominated(&pages, seed, "What's my dog's name?"), nominated(&pages, seed, "What is my dog called?"));
        assert!(whole[&1].relevance > part[&1].relevance);
        assert_eq!(whole[&1].path, "the slot \u{201C}dog name\u{201D}");
    }

    #[test]
    fn a_home_and_an_employer_are_asked_for_by_other_words() {
        let (mut pages, seed) = (MemoryPages::new(), Secret::default().seed(b"u"));
        for (at, name) in ["home", "employer", "gym"].iter().enumerate() {
            let slot = Slot { name: (*name).to_owned(), multi: false, current: vec![at as u32] };
            slots::put(&mut pages, 3, seed, &slot).expect("put");
        }
        for (question, number) in [
            ("Where do I live?", 0),
            ("What city do I live in?", 0),
            ("what's my address?", 0),
            ("Where am I living now?", 0),
            ("Who do I work for?", 1),
            ("Which company do I work for?", 1),
            ("I'm filling in a form. Where do I live?", 0),
        ] {
            let found = nominated(&pages, seed, question);
            assert_eq!(found.keys().copied().collect::<Vec<_>>(), [number], "{question}");
        }
        for question in [
            "Where does my sister live?",
            "Who do I live with?",
            "Whom do I work with?",
            "Where do you live?",
            "Which city is the largest?",
            "What's my IP address?",
            "What is my email address?",
            "Which city should I visit?",
            "Which company makes my car?",
            "How do I get to work?",
            "Do I have to work on Friday?",
            "Can I get tickets to the live broadcast of the championship final?",
        ] {
            assert!(nominated(&pages, seed, question).is_empty(), "{question}");
        }
    }

    #[test]
    fn of_many_slots_those_are_found_that_are_named_as_they_are() {
        let (mut pages, seed) = (MemoryPages::new(), Secret::default().seed(b"u"));
        for at in 0..2 * MOST_SLOTS as u32 {
            let slot = Slot { name: format!("setting {at}"), multi: false, current: vec![at, 10_000 + at] };
            slots::put(&mut pages, 3, seed, &slot).expect("put");
        }
        slots::put(&mut pages, 3, seed, &Slot { name: "night_mode".to_owned(), multi: false, current: vec![7] }).expect("put");
        slots::put(&mut pages, 3, seed, &Slot { name: "home".to_owned(), multi: false, current: vec![8] }).expect("put");
        assert!(nominated(&pages, seed, "Where do I live?").contains_key(&8), "by other words");
        let found = nominated(&pages, seed, "What is setting 200?");
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), [200, 10_200], "each value of a slot of many");
        assert!(nominated(&pages, seed, "is night mode on?").contains_key(&7));
        let filled = |words: usize| (0..words).map(|word| format!("word{word}")).collect::<Vec<_>>().join(" ");
        let names = |words| Asked::of(&format!("night mode {}", filled(words))).names();
        assert_eq!(names(38), names(4_000), "of a long question the first words");
        assert_eq!(names(0), ["night", "mode", "night mode", "night_mode", "night-mode"], "each name once");
    }
}
