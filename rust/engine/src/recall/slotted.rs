//! Nominating by slots: a memory may be a bare value, and the name of its slot says what it is the value of. "What is my favourite
//! number?" has no word of "42", and each of "favourite number".
//!
//! A value is as relevant as its slot's name is asked for, or as its own words are, whichever is more. A scope without slots costs one
//! look-up, and each slot the comparison of a few letters.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use super::Question;
use super::contrast::{Word, telling};
use super::ranking::memories::{FEWEST, SLOTTED};
use super::related::Related;
use crate::Result;
use crate::memory::slots;
use crate::store::identity::Seed;
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::text::slot_key;

/// Slots of a scope whose names are compared. Of more, those are looked up that the question names as they are.
const MOST_SLOTS: usize = 256;
/// A question asks for a slot by so much of its name: one part in so many.
const LEAST: usize = 2;

/// Adds the values of the slots that a question asks for, by number.
pub(super) fn nominate<P: Pages>(
    pages: &P,
    partition: Partition,
    seed: Seed,
    question: &Question,
    found: &mut BTreeMap<u32, Related>,
) -> Result<()> {
    let asked = OnceCell::new();
    let relevance = |name: &str| asked.get_or_init(|| Asked::of(question.text())).relevance(name);
    let mut add = |slot: slots::Slot, relevance: f64| {
        for number in slot.current.into_iter().rev().take(FEWEST) {
            let own = Related { relevance, path: format!("the slot \u{201C}{}\u{201D}", slot.name) };
            let one = found.entry(number).or_insert_with(|| own.clone());
            if one.relevance < relevance {
                *one = own;
            }
        }
    };
    if !slots::named(pages, partition, MOST_SLOTS, relevance, &mut add)? {
        let names = super::related::names(question.text());
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for slot in slots::of_names(pages, partition, seed, &names)? {
            if let Some(relevance) = relevance(&slot.name) {
                add(slot, relevance);
            }
        }
    }
    Ok(())
}

/// A question, as the names of slots are compared with it.
struct Asked {
    /// Its words, but for filler.
    words: Vec<Word>,
    /// Their first letters.
    begins: u32,
    /// All of it as the names of slots are written.
    text: String,
}

impl Asked {
    fn of(question: &str) -> Self {
        let words = telling(question);
        let begins = words.iter().fold(0, |all, word| all | word.begins());
        Self { words, begins, text: slot_key(question) }
    }

    /// How relevant the value of a slot is: by the share of its name that is asked for, and by that of the question which the name has.
    fn relevance(&self, name: &str) -> Option<f64> {
        let apart = || name.split(|letter: char| !letter.is_alphanumeric()).filter(|part| !part.is_empty());
        if !name.is_ascii() && self.text.contains(name) {
            return Some(SLOTTED);
        }
        if !apart().any(|part| super::contrast::begins(part.as_bytes()) & self.begins != 0) {
            return None;
        }
        let words: Vec<Word> = apart().flat_map(telling).collect();
        let held = words.iter().filter(|word| self.words.contains(word)).count();
        if held == 0 || held * LEAST < words.len() {
            return None;
        }
        let of_question = self.words.iter().filter(|word| words.contains(word)).count() as f64 / self.words.len() as f64;
        Some(SLOTTED * (held as f64 / words.len() as f64) * of_question)
    }
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
        let names = ["favourite number", "dog name", "home_city", "\u{597d}\u{304d}\u{306a}\u{8272}", "the", "lieblingsfarbe"];
        for (at, name) in names.iter().enumerate() {
            let slot = Slot { name: (*name).to_owned(), multi: false, current: vec![at as u32] };
            slots::put(&mut pages, 3, seed, &slot).expect("put");
        }
        for (question, number) in [
            ("What is my favourite number?", 0),
            ("favourite numbers", 0),
            ("What's my dog's name?", 1),
            ("What is my dog called?", 1),
            ("Which city is my home?", 2),
            ("\u{79c1}\u{306e}\u{597d}\u{304d}\u{306a}\u{8272}\u{306f}\u{ff1f}", 3),
            ("Was ist meine Lieblingsfarbe?", 5),
        ] {
            let found = nominated(&pages, seed, question);
            assert_eq!(found.keys().copied().collect::<Vec<_>>(), [number], "{question}");
        }
        assert!(nominated(&pages, seed, "What is the plan for the day?").is_empty(), "filler names nothing");
        assert!(nominated(&pages, seed, "").is_empty());
        let (whole, part) = (nominated(&pages, seed, "What's my dog's name?"), nominated(&pages, seed, "What is my dog called?"));
        assert!(whole[&1].relevance > part[&1].relevance);
        assert_eq!(whole[&1].path, "the slot \u{201C}dog name\u{201D}");
    }

    #[test]
    fn of_many_slots_those_are_found_that_are_named_as_they_are() {
        let (mut pages, seed) = (MemoryPages::new(), Secret::default().seed(b"u"));
        for at in 0..2 * MOST_SLOTS as u32 {
            let slot = Slot { name: format!("setting {at}"), multi: false, current: vec![at, 10_000 + at] };
            slots::put(&mut pages, 3, seed, &slot).expect("put");
        }
        let found = nominated(&pages, seed, "What is setting 300?");
        assert!(found.contains_key(&300) && found.contains_key(&10_300), "each value of a slot of many: {found:?}");
        assert!(found[&300].relevance >= found.values().map(|one| one.relevance).fold(0.0, f64::max), "{found:?}");
    }
}
