//! Denials of something else: "I don't eat gluten any more" says nothing newer of "I eat oatmeal", nor "I no longer surf" of "I swim on
//! Tuesdays", though both have a verb of the question or are near to it.

use super::super::contrast::stem_of;
use super::super::words::{in_small_letters, is_any, normal, without_s};
use crate::text::is_filler_written;

/// Who denies.
const SUBJECTS: [&str; 5] = ["i", "we", "user", "the", "also"];
/// How a denial begins behind its subject.
const DENIES: [&[&str]; 10] = [
    &["don't"],
    &["do", "not"],
    &["doesn't"],
    &["does", "not"],
    &["no", "longer"],
    &["never"],
    &["can't"],
    &["cannot"],
    &["stopped"],
    &["quit"],
];
/// Words of the longest of these.
const LONGEST: usize = 2;
/// Words that say nothing of the thing that is denied.
const IDLE: [&str; 14] =
    ["any", "more", "anymore", "longer", "now", "at", "all", "either", "really", "actually", "have", "has", "use", "go"];
/// Words with which another clause begins, which may say how it is instead.
const GOES_ON: [&str; 7] = ["and", "but", "so", "because", "since", "instead", "only"];
/// Words for a class of things, of which an older memory may have one by its own name: "I don't drink alcohol any more" is newer than "I drink
/// wine with dinner".
const CLASSES: [&str; 32] = [
    "alcohol",
    "caffeine",
    "coffee",
    "meat",
    "fish",
    "seafood",
    "dairy",
    "sugar",
    "sweets",
    "carbs",
    "bread",
    "fruit",
    "vegetables",
    "sport",
    "sports",
    "pill",
    "pills",
    "medicine",
    "medication",
    "meds",
    "drugs",
    "car",
    "cars",
    "cigarettes",
    "tobacco",
    "games",
    "instrument",
    "instruments",
    "music",
    "books",
    "tv",
    "pets",
];
/// The longest denial, in words.
const MOST_WORDS: usize = 14;

/// Whether a newer memory only denies something that neither an older one nor the question speaks of. Of a denial of a verb alone, the verb
/// is that thing; otherwise its object.
pub(super) fn denies_another(new: &[&str], old: &[&str], asked: &[String]) -> bool {
    let subject = new.iter().take(2).take_while(|word| is_any(word, &SUBJECTS)).count();
    if subject == 0 || new.len() > MOST_WORDS {
        return false;
    }
    let behind: Vec<String> = new[subject..].iter().take(LONGEST).map(|word| normal(word)).collect();
    let begins = |denies: &&&[&str]| behind.len() >= denies.len() && denies.iter().zip(&behind).all(|(one, word)| word == one);
    let Some(denies) = DENIES.iter().find(begins) else { return false };
    let verb = subject + denies.len();
    if verb >= new.len() || new[verb..].iter().any(|word| is_any(word, &GOES_ON)) {
        return false;
    }
    let tells = |word: &&&str| !is_any(word, &IDLE) && !is_filler_written(without_s(word));
    let mut things: Vec<&str> = new[verb + 1..].iter().filter(tells).copied().collect();
    if things.is_empty() {
        things.extend(new[verb..].iter().take(1).filter(tells));
    }
    let is_spoken_of = |thing: &&str| {
        let stem = stem(thing);
        old.iter().any(|word| stem == self::stem(word)) || asked.iter().any(|word| stem == self::stem(word))
    };
    let may_be_class = things.iter().any(|thing| is_any(thing, &CLASSES)) && is_spoken_of(&new[verb]);
    !things.is_empty() && !things.iter().any(is_spoken_of) && !may_be_class
}

fn stem(word: &str) -> u64 {
    in_small_letters(without_s(word), stem_of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::words::Words;

    fn denies(new: &str, old: &str, question: &str) -> bool {
        let asked: Vec<String> = Words::of(question).bare.iter().map(|word| normal(without_s(word))).collect();
        denies_another(&Words::of(new).bare, &Words::of(old).bare, &asked)
    }

    #[test]
    fn no_denial_is_longer_than_those_that_are_compared() {
        assert_eq!(DENIES.iter().map(|words| words.len()).max(), Some(LONGEST));
    }

    #[test]
    fn a_denial_of_another_thing_is_no_newer_value() {
        for (new, old, question) in [
            ("I don't play tennis any more", "I play chess at the Eagle club", "where do I play chess?"),
            ("I don't eat gluten anymore", "I eat oatmeal for breakfast", "what do I eat for breakfast?"),
            ("I no longer surf", "I swim on Tuesdays", "when do I swim?"),
            ("The user doesn't eat fish any more.", "I swim on Tuesdays", "when do I swim?"),
            ("I don\u{2019}t wear a watch any more", "I wear contact lenses", "which lenses do I wear?"),
            ("I stopped wearing a watch", "I wear contact lenses", "which lenses do I wear?"),
            ("I never drink beer", "I drink tea in the morning", "what do I drink in the morning?"),
        ] {
            assert!(denies(new, old, question), "{new} | {old}");
        }
        for (new, old, question) in [
            ("I don't play the cello any more", "I play the cello on Mondays", "when do I play the cello?"),
            ("I don't drive any more", "I drive a Golf", "which car do I drive?"),
            ("I stopped driving", "I drive a Golf", "which car do I drive?"),
            ("I don't have a dog any more", "My dog is Rex", "what's my dog's name?"),
            ("I don't drink coffee any more, only tea", "I drink espresso", "what do I drink?"),
            ("I don't live in Delft and moved to Ghent", "I live in Utrecht", "where do I live?"),
            ("I moved to Ghent", "I live in Delft", "where do I live?"),
            ("I never", "I live in Delft", "where do I live?"),
            ("I don't drink alcohol any more", "I drink wine with dinner", "what do I drink with dinner?"),
            ("I stopped smoking cigarettes", "I smoke Marlboro", "what do I smoke?"),
            ("I don't drive a car any more", "I drive a Golf", "what do I drive?"),
            ("Lea doesn't eat fish", "I swim on Tuesdays", "when do I swim?"),
        ] {
            assert!(!denies(new, old, question), "{new} | {old}");
        }
    }
}
