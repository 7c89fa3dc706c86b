//! Medicines that a sentence says are taken no more, or otherwise than before, in words that are not plain enough to end a memory: "I'm on
//! Xarelto now instead of Eliquis", "Dr Hall swapped Eliquis for Xarelto". A memory of such a one is disputed, and nothing is lost.

use super::{
    BARE_PRESCRIBERS, CHANGES, IN_PLACE_OF, IS_NOW, IS_OFF, IS_OVER, MOST_WORDS, NOT_SO, PASSING, PRESCRIBERS, QUITS, SWAPS, TAKES, change,
    dose, is_medicine, is_mistaken, opened,
};
use crate::gate::beings::{is_being, is_kin};
use crate::gate::guards::ASKS;
use crate::gate::left::is_unsure;
use crate::gate::lexicon::{FILLERS, TIMES};
use crate::gate::rules;
use crate::gate::sentence::Sentence;
use crate::gate::words::{Word, among, words};
use crate::units::calendar::is_named;

/// Letters of a name at least.
const LEAST_NAME: usize = 4;
/// Words from a medicine to the one in its place at most.
const MOST_BETWEEN: usize = 5;

/// The names of the medicines that a part of a message says the user takes no more, or otherwise, in small letters. Without "I" or "my" it
/// is about the user where nobody else was spoken of: "My mum is better. Came off metformin."
pub(in crate::gate) fn otherwise(message: &str, part: (usize, usize)) -> Vec<String> {
    let Some(text) = message.get(..part.1) else { return Vec::new() };
    let all = words(text);
    let (before, own) = all.split_at(all.partition_point(|word| word.start < part.0));
    let s = Sentence { text, words: own };
    let s = Sentence { text, words: &own[rules::preamble(&s)..] };
    if s.words.is_empty() || s.words.len() > MOST_WORDS || s.words.iter().any(is_of_another) || among(&ASKS, s.word(0)) {
        return Vec::new();
    }
    let ended = change(&s).and_then(|change| change.ended);
    let is_not_so =
        is_unsure(s.words) || is_mistaken(&s) || s.words.iter().any(|word| among(&NOT_SO, &word.lower) || word.lower.ends_with("n't"));
    let is_plain = |word: &str| word == "taking" || among(&FILLERS, word) || among(&TIMES, word);
    let is_name = |at: usize| s.word(at).len() >= LEAST_NAME && !s.words[at].is_number() && !is_plain(s.word(at));
    let is_of_user = |at: usize| is_of_user(&s, at, !before.iter().any(is_of_another));
    let loose = |at: &usize| !is_not_so && is_name(*at) && is_otherwise(&s, *at) && is_of_user(*at);
    let named = (0..s.words.len()).filter(loose).map(|at| s.word(at));
    named.chain(ended).map(str::to_owned).collect()
}

/// Whether a text says that the user takes a medicine, alone or among others.
pub(in crate::gate) fn is_taken_in(text: &str, named: &str) -> bool {
    let own = words(text);
    let s = Sentence { text, words: &own };
    let s = Sentence { text, words: &own[rules::preamble(&s)..] };
    let takes = || opened(&s, 0, &TAKES).is_some() || (0..s.words.len()).any(|at| dose(&s, at).is_some());
    let is_denied = || s.words.iter().any(|word| ["allergic", "not", "never", "?"].contains(&&*word.lower) || word.lower.ends_with("n't"));
    let has_name = s.words.iter().any(|word| word.lower == named);
    has_name
        && !s.words.iter().any(is_of_another)
        && !is_denied()
        && takes()
        && !otherwise(text, (0, text.len())).iter().any(|over| over == named)
}

/// Whether a word is for somebody else, and not for one who prescribes.
fn is_of_another(word: &Word) -> bool {
    let name = word.lower.strip_suffix("'s").unwrap_or(&word.lower);
    is_being(name) && !among(&BARE_PRESCRIBERS, name)
        || is_kin(name)
        || ["she", "he", "her", "his", "him", "them", "their", "patient", "patients"].contains(&name)
}

/// Whether words say of the medicine at a place that it is taken no more, or otherwise.
fn is_otherwise(s: &Sentence<'_>, at: usize) -> bool {
    let pointed = at > 0 && ["my", "the"].contains(&s.word(at - 1));
    let begin = at - usize::from(pointed);
    let begin = begin - usize::from(begin > 0 && s.word(begin - 1) == "taking"); // "I quit taking my Eliquis"
    let before = |back: usize| begin.checked_sub(back).map_or("", |place| s.word(place));
    let ends_with = |phrase: &&str| {
        let count = phrase.split(' ').count();
        begin.checked_sub(count).is_some_and(|from| s.behind(from, &[phrase]) == Some(begin))
    };
    let clause = (at + 1..s.words.len()).take_while(|next| !s.parted(*next));
    let passes = || clause.clone().any(|next| among(&PASSING, s.word(next)) && s.word(next + 1) != "good");
    let other = || clause.clone().take(MOST_BETWEEN).any(|next| ["for", "with", "by", "to", "onto"].contains(&s.word(next)));
    let swaps = among(&SWAPS, before(1)) || before(1) == "from" && (2..5).any(|back| among(&SWAPS, before(back)));
    let is_off = before(1) == "off" && among(&IS_OFF, before(2)) || among(&QUITS, before(1));
    let dosed = pointed && (among(&CHANGES, before(1)) || opened(s, at + 1, &IS_NOW).is_some());
    IN_PLACE_OF.iter().any(ends_with) || swaps && other() || is_off && !passes() || dosed || opened(s, at + 1, &IS_OVER).is_some()
}

/// Whether what is said of the medicine at a place is said of the user: they do it, or those who prescribe, or it stands alone where that
/// may be. "Birgitta was taken off Waran" names somebody else.
fn is_of_user(s: &Sentence<'_>, at: usize, may_be_alone: bool) -> bool {
    let is_title = |at: usize| ["dr", "doctor", "prof", "professor"].contains(&s.word(at));
    let own = |word: &Word| ["i", "i'm", "i've", "i'd", "me", "my", "we", "we've"].contains(&word.lower.as_str());
    let prescribed = || is_title(0) || opened(s, 0, &PRESCRIBERS).or_else(|| opened(s, 0, &BARE_PRESCRIBERS)).is_some();
    let names = |place: usize| {
        let word = &s.words[place];
        let is_known = own(word) || is_medicine(&word.lower) || is_named(&word.lower) || is_title(place);
        let begins = place == 0 && [&FILLERS[..], &TIMES, &SWAPS, &QUITS, &CHANGES, &IS_OFF].iter().any(|list| among(list, &word.lower));
        let is_titled = place > 0 && is_title(place - 1);
        word.capital && !(is_known || begins || is_titled)
    };
    let alone = at <= 1 || [&SWAPS[..], &QUITS, &IS_OFF].iter().any(|list| among(list, s.word(0)));
    (s.words.iter().any(own) || may_be_alone && (alone || prescribed())) && !(0..at).any(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn otherwise(text: &str) -> Vec<String> {
        super::otherwise(text, (0, text.len()))
    }

    #[test]
    fn a_medicine_that_is_taken_otherwise_is_named() {
        for text in [
            "The doctor has taken me off Eliquis, I have Xarelto instead, 20 mg with my dinner.",
            "I stopped taking Eliquis last week.",
            "I'm on Xarelto now instead of Eliquis.",
            "Dr Hall swapped Eliquis for Xarelto.",
            "they raised my Eliquis to 10 mg",
            "my Eliquis went up to 10 mg",
            "I no longer take Eliquis",
            "Eliquis is gone, it's Xarelto now",
            "the cardiologist wants me off Eliquis, so I quit it",
            "Eliquis got replaced by Xarelto",
            "They switched me from Eliquis to Xarelto on Monday",
            "I don't take Eliquis any more",
            "quit Eliquis in May",
        ] {
            assert!(!otherwise(text).is_empty() && otherwise(text).iter().all(|named| named == "eliquis"), "{text}: {:?}", otherwise(text));
        }
        for text in [
            "Birgitta was taken off Eliquis",
            "Tom swapped Eliquis for Xarelto",
            "My mum swapped Eliquis for Xarelto",
            "They raised her Eliquis to 10 mg",
            "should I stop Eliquis?",
            "should i stop eliquis",
            "Is Xarelto better instead of Eliquis?",
            "forgot my Eliquis",
            "I forgot to take my Eliquis instead of the aspirin",
            "Xarelto too",
            "I take Eliquis and Xarelto",
            "I'm off Eliquis for two days",
            "They might swap Eliquis for Xarelto",
            "I have not stopped Eliquis",
            "I ran out of Eliquis",
            "came off Eliquis once and felt awful",
            "GP switched me from Eliquis to Xarelto by mistake",
            "I take my Eliquis with food",
        ] {
            assert!(otherwise(text).is_empty(), "{text}: {:?}", otherwise(text));
        }
        for (before, part, named) in [
            ("Saw the cardiologist. ", "Dr Hall swapped Eliquis for Xarelto.", 1),
            ("My mum had a fall. ", "They replaced Eliquis with Xarelto.", 0),
            ("My mum had a fall. ", "They raised my Eliquis to 10 mg.", 1),
            ("My mum is doing better. ", "Swapped Eliquis for Xarelto.", 0),
        ] {
            let message = format!("{before}{part}");
            assert_eq!(super::otherwise(&message, (before.len(), message.len())).len(), named, "{message}");
        }
    }

    #[test]
    fn what_says_that_a_medicine_is_taken_has_it_among_others() {
        for text in ["I take Eliquis 5 mg twice a day.", "I take Metoprolol 50 mg in the morning and Eliquis 5 mg twice a day."] {
            assert!(is_taken_in(text, "eliquis"), "{text}");
        }
        for text in [
            "The user is allergic to Eliquis.",
            "My mother takes Eliquis 5 mg",
            "I'm on Xarelto 20 mg instead of Eliquis",
            "I don't take Eliquis 5 mg",
            "I take Xarelto 20 mg",
            "Never take Eliquis with grapefruit",
        ] {
            assert!(!is_taken_in(text, "eliquis"), "{text}");
        }
    }
}
