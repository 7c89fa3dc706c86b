//! Medicines that a sentence says are taken no more, or otherwise than before, in words that are not plain enough to end a memory: "I'm on
//! Xarelto now instead of Eliquis", "Dr Hall swapped Eliquis for Xarelto". A memory of such a one is disputed, and nothing is lost.

use super::{
    BARE_PRESCRIBERS, CHANGES, GOES_ON, IN_PLACE_OF, IS_GONE, IS_NOW, IS_OFF, IS_OVER, MOST_WORDS, NOT_SO, ONE_TIME, PASSING, PRESCRIBERS,
    QUITS, ROSE, SWAPS, TAKEN_BY, TAKES, WITHIN, change, dose, is_medicine, is_mistaken, is_over, opened,
};
use crate::gate::beings::{is_being, is_kin};
use crate::gate::guards::ASKS;
use crate::gate::left::is_unsure;
use crate::gate::lexicon::{FILLERS, TIMES};
use crate::gate::rules;
use crate::gate::sentence::Sentence;
use crate::gate::values::PREPOSITIONS;
use crate::gate::words::{Word, among, words};
use crate::units::calendar::is_named;

/// Letters of a name at least.
const LEAST_NAME: usize = 4;
/// Words from a medicine to the one in its place at most.
const MOST_BETWEEN: usize = 5;

/// The names of the medicines that a part of a message says the user takes no more, or otherwise, in small letters, and behind a name the
/// number of the dose that is taken now ("eliquis 10"). Without "I" or "my" it is about the user where nobody else was spoken of: "My mum
/// is better. Came off metformin."
pub(in crate::gate) fn otherwise(message: &str, part: (usize, usize)) -> Vec<String> {
    let Some(text) = message.get(..part.1) else { return Vec::new() };
    let all = words(text);
    let (before, own) = all.split_at(all.partition_point(|word| word.start < part.0));
    let s = Sentence { text, words: own };
    let s = Sentence { text, words: &own[rules::preamble(&s)..] };
    if s.words.is_empty() || s.words.len() > MOST_WORDS || s.words.iter().any(is_of_another) || among(&ASKS, s.word(0)) {
        return Vec::new();
    }
    // "They want me off Eliquis, so I quit it"
    let quits = (2..s.words.len()).any(|at| s.word(at - 2) == "i" && among(&QUITS, s.word(at - 1)) && s.word(at) == "it");
    let denies = |word: &str| among(&NOT_SO, word) && !(quits && ["want", "wants", "wanted"].contains(&word));
    let is_not = |word: &Word| denies(&word.lower) || word.lower.ends_with("n't") || is_year(&word.lower);
    let is_not_so = is_unsure(s.words) || is_mistaken(&s) || s.words.iter().any(is_not);
    let is_plain = |word: &str| word == "taking" || among(&FILLERS, word) || among(&TIMES, word);
    let is_name = |at: usize| s.word(at).len() >= LEAST_NAME && !s.words[at].is_number() && !is_plain(s.word(at));
    let is_of_user = |at: usize| is_of_user(&s, at, !before.iter().any(is_of_another));
    let is_loose = |at: &usize| !is_not_so && is_name(*at) && !is_before_noun(&s, *at) && is_of_user(*at);
    let loose = (0..s.words.len()).filter(is_loose).filter_map(|at| {
        let named = s.word(at).to_owned();
        if is_otherwise(&s, at) { Some(named) } else { new_dose(&s, at).map(|dose| format!("{named} {dose}")) }
    });
    let ended = change(&s).and_then(|change| {
        let ended = change.ended?;
        let dose = doses(&s, 0..s.words.len()).pop().filter(|_| change.taken == Some(ended));
        Some(dose.map_or_else(|| ended.to_owned(), |dose| format!("{ended} {dose}")))
    });
    loose.chain(ended).collect()
}

/// Whether a word is a year, in which something was otherwise once.
fn is_year(word: &str) -> bool {
    word.len() == 4 && word.parse::<u16>().is_ok_and(|year| (1900..2100).contains(&year))
}

/// The numbers of the doses that begin at these words.
fn doses(s: &Sentence<'_>, places: std::ops::Range<usize>) -> Vec<String> {
    let number = |at: usize| s.word(at).trim_end_matches(|sign: char| !sign.is_ascii_digit()).to_owned();
    places.filter(|at| dose(s, *at).is_some()).map(number).collect()
}

/// Whether a noun stands right behind a word, so that the sentence is about that: "the Eliquis price", "my Eliquis alarm".
fn is_before_noun(s: &Sentence<'_>, at: usize) -> bool {
    let goes_on = |word: &str| [&GOES_ON[..], &FILLERS, &TIMES, &PREPOSITIONS].iter().any(|list| among(list, word)) || is_named(word);
    s.words.get(at + 1).is_some_and(|next| !next.is_mark() && !s.parted(at + 1) && !goes_on(&next.lower)) && dose(s, at + 1).is_none()
}

/// The dose of the medicine at a place where it is another one now: "they raised my Eliquis to 10 mg", "my Eliquis went up to 10 mg".
fn new_dose(s: &Sentence<'_>, at: usize) -> Option<String> {
    let pointed = at > 0 && ["my", "the"].contains(&s.word(at - 1));
    let behind = at + 1 + usize::from(["dose", "dosage", "prescription"].contains(&s.word(at + 1)));
    let raised = pointed && at > 1 && among(&CHANGES, s.word(at - 2)) || opened(s, behind, &ROSE).is_some();
    let is_now = || pointed && opened(s, behind, &IS_NOW).is_some_and(|place| dose(s, place).is_some());
    let end = (at + 1..s.words.len()).find(|next| s.parted(*next)).unwrap_or(s.words.len());
    doses(s, at + 1..end).pop().filter(|_| raised || is_now())
}

/// Whether a text says that the user takes a medicine, alone or among others, and where a dose is behind its name ("eliquis 10"), whether
/// it is another one.
pub(in crate::gate) fn is_taken_in(text: &str, named: &str) -> bool {
    let own = words(text);
    let s = Sentence { text, words: &own };
    let s = Sentence { text, words: &own[rules::preamble(&s)..] };
    let (named, dosed) = named.split_once(' ').map_or((named, None), |(named, dose)| (named, Some(dose)));
    let known = doses(&s, 0..s.words.len());
    if dosed.is_some_and(|new| known.is_empty() || known.iter().any(|old| old == new)) {
        return false;
    }
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

/// Whether words say of the medicine at a place that it is taken no more.
fn is_otherwise(s: &Sentence<'_>, at: usize) -> bool {
    let begin = at - usize::from(at > 0 && ["my", "the"].contains(&s.word(at - 1)));
    let begin = begin - usize::from(begin > 0 && s.word(begin - 1) == "taking"); // "I quit taking my Eliquis"
    let before = |back: usize| begin.checked_sub(back).map_or("", |place| s.word(place));
    let ends_with = |phrase: &&str| {
        let count = phrase.split(' ').count();
        begin.checked_sub(count).is_some_and(|from| s.behind(from, &[phrase]) == Some(begin))
    };
    let clause = (at + 1..s.words.len()).take_while(|next| !s.parted(*next));
    let passes = || clause.clone().any(|next| among(&PASSING, s.word(next)) && s.word(next + 1) != "good");
    let is_other =
        |place: usize| is_medicine(s.word(place)) || s.words.get(place).is_some_and(|word| word.capital) && !is_named(s.word(place));
    let joins = |next: usize| ["for", "with", "by", "to", "onto"].contains(&s.word(next)) && is_other(next + 1);
    let other = || clause.clone().take(MOST_BETWEEN).any(joins);
    let swaps = among(&SWAPS, before(1)) || before(1) == "from" && (2..5).any(|back| among(&SWAPS, before(back)));
    let is_off = before(1) == "off" && among(&IS_OFF, before(2)) || among(&QUITS, before(1));
    let when = |next: usize| is_named(s.word(next)) || s.words.get(next).is_some_and(Word::is_number);
    let within = || among(&WITHIN, s.word(at + 1)) || ["in", "on"].contains(&s.word(at + 1)) && !when(at + 2);
    let taken = || s.words[..begin].iter().any(|word| among(&TAKEN_BY, &word.lower));
    let one_time = || s.words.iter().any(|word| among(&ONE_TIME, &word.lower));
    let in_place = || IN_PLACE_OF.iter().any(ends_with) && taken() && !one_time() && !passes();
    let gone = || opened(s, at + 1, &IS_GONE).is_some_and(|end| s.parted(end) && s.words[end..].iter().any(is_new));
    let joined =
        |end: usize| s.parted(end) || is_over(s, end) || ["by", "with", "now", "and", "so"].contains(&s.word(end)) || when(end + 1);
    let over = || opened(s, at + 1, &IS_OVER).is_some_and(joined);
    swaps && other() || is_off && !passes() && !within() || in_place() || over() || gone()
}

/// Whether a word says that another medicine is taken: "it's Xarelto now".
fn is_new(word: &Word) -> bool {
    ["now", "instead"].contains(&word.lower.as_str())
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
            "I no longer take Eliquis",
            "Eliquis is gone, it's Xarelto now",
            "the doctor took me off Eliquis on Monday",
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
            "they raised the Eliquis price",
            "they reduced my Eliquis copay to 10 euros",
            "I stopped the Eliquis reminder",
            "I adjusted my Eliquis alarm",
            "I've gone off Eliquis ads",
            "my Eliquis is now in the drawer",
            "my Eliquis is now due",
            "my Eliquis is at the pharmacy",
            "my Eliquis is up to date",
            "my Eliquis went up to 40 euros a month",
            "my Eliquis was stopped at customs",
            "Eliquis is over 40 euros",
            "Eliquis is gone, need a refill",
            "the Eliquis is gone from my bag",
            "I took ibuprofen instead of Eliquis today",
            "I took paracetamol rather than Eliquis",
            "in 2019 they swapped my Eliquis for Xarelto",
            "the pharmacy swapped my Eliquis for a generic",
            "before I came off Eliquis I had bruises",
            "I come off Eliquis in June",
            "I plan to come off Eliquis",
            "my insurance covers Xarelto instead of Eliquis",
            "Dr Hall wants me off Eliquis by June",
            "nobody took me off Eliquis",
            "I stopped taking Eliquis with grapefruit juice",
            "I stopped taking Eliquis at night, now mornings",
            "I cut my Eliquis in half",
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
    fn another_dose_makes_a_medicine_taken_otherwise_and_the_same_does_not() {
        let disputes = |text: &str| otherwise(text).iter().any(|named| is_taken_in("I take Eliquis 5 mg twice a day.", named));
        for text in ["they raised my Eliquis to 10 mg", "my Eliquis went up to 10 mg", "they raised my Eliquis dose from 5 mg to 10 mg"] {
            assert!(disputes(text), "{text}: {:?}", otherwise(text));
        }
        for text in ["my Eliquis is back to 5 mg", "they changed my Eliquis to 5mg", "my Eliquis is now 5 mg twice a day"] {
            assert!(!disputes(text), "{text}: {:?}", otherwise(text));
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
