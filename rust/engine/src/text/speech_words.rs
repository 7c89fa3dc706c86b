//! The lists that are asked for every word of a text, in one table, so that a word is looked up once.

use std::collections::HashMap;

use super::speech_courtesy::{BESIDE_THANKS, THANKED_FOR, THANKS};
use super::speech_lists::{
    ACKNOWLEDGEMENTS, ARABIC_QUESTIONS, AUXILIARIES, COURTESY_WORDS, DENIALS, DETERMINERS, GOING_ON, IGNORANT, INTERROGATIVES, LEADS,
    OFFERS, ORDERS, QUESTIONS, REQUESTS, SUBJECTS, TELLERS,
};
use crate::process::Lazy;

/// The lists that a word is in.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The lists that it stands in, a bit for each.
    lists: u16,
    /// The phrases that it begins.
    phrases: Vec<(Phrases, &'static str)>,
}

/// A list of words.
#[derive(Debug, Clone, Copy)]
pub(super) enum List {
    Leads,
    Auxiliaries,
    Subjects,
    Determiners,
    Courtesy,
    Acknowledgements,
    /// Words of those who only let the other one go on, beside these.
    GoingOn,
    /// Words that thank.
    Thanks,
    /// Words that deny: no clause without one says that somebody does not know.
    Denials,
    /// Words that ask, of six languages.
    Interrogatives,
    /// First words of orders to be told something.
    Orders,
    /// First words of a request to keep what it says.
    Tellers,
}

/// A list of phrases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phrases {
    Questions,
    Ignorant,
    Offers,
    ThankedFor,
    BesideThanks,
}

impl Known {
    pub(super) fn is_in(&self, list: List) -> bool {
        self.lists & 1 << list as u8 != 0
    }

    /// The phrases of a list that it begins.
    pub(super) fn begins(&self, list: Phrases) -> impl Iterator<Item = &'static str> {
        self.phrases.iter().filter(move |(of, _)| *of == list).map(|(_, phrase)| *phrase)
    }
}

/// The lists that a word is in, all at once.
pub(super) fn known(word: &str) -> &'static Known {
    static NOTHING: Known = Known { lists: 0, phrases: Vec::new() };
    static KNOWN: Lazy<HashMap<&str, Known>> = Lazy::new(|| {
        let mut words: HashMap<&str, Known> = HashMap::new();
        let lists: [(List, &[&'static str]); 12] = [
            (List::Leads, &LEADS),
            (List::Auxiliaries, &AUXILIARIES),
            (List::Subjects, &SUBJECTS),
            (List::Determiners, &DETERMINERS),
            (List::Courtesy, &COURTESY_WORDS),
            (List::Acknowledgements, &ACKNOWLEDGEMENTS),
            (List::GoingOn, &GOING_ON),
            (List::Thanks, &THANKS),
            (List::Denials, &DENIALS),
            (List::Interrogatives, &INTERROGATIVES),
            (List::Orders, &ORDERS),
            (List::Tellers, &TELLERS),
        ];
        for (list, word) in lists.iter().flat_map(|(list, words)| words.iter().map(move |word| (*list, *word))) {
            words.entry(word).or_default().lists |= 1 << list as u8;
        }
        let phrases: [(Phrases, &[&'static str]); 7] = [
            (Phrases::Questions, &QUESTIONS),
            (Phrases::Questions, &ARABIC_QUESTIONS),
            (Phrases::Questions, &REQUESTS),
            (Phrases::Ignorant, &IGNORANT),
            (Phrases::Offers, &OFFERS),
            (Phrases::ThankedFor, &THANKED_FOR),
            (Phrases::BesideThanks, &BESIDE_THANKS),
        ];
        for (list, phrase) in phrases.iter().flat_map(|(list, phrases)| phrases.iter().map(move |phrase| (*list, *phrase))) {
            let first = phrase.split_once(' ').map_or(phrase, |(first, _)| first);
            words.entry(first).or_default().phrases.push((list, phrase));
        }
        words
    });
    KNOWN.get(word).unwrap_or(&NOTHING)
}
