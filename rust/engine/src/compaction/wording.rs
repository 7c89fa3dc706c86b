//! How two statements are worded: whether one says the other again, and whether it orders or allows what the other forbids.
//!
//! Both are read from the words in their order, with their signs: "from A to B" is not "from B to A", and "C" is not "C++". Not here:
//! whether statements of different words say the same.

use super::cues::words;
use super::terms::filler;
use super::units::sentences;

/// Words without which a statement says the same.
const IDLE: [&str; 17] =
    ["a", "an", "the", "please", "now", "then", "just", "so", "ok", "okay", "yes", "yeah", "also", "again", "well", "and", "thanks"];
/// Words that only deny, or stand beside one that does.
const DENYING: [&str; 10] = ["not", "never", "dont", "do", "ne", "pas", "jamais", "nicht", "nie", "niemals"];
/// Words that may stand before the verb of an order or a permission, or before that of a prohibition.
const LEADS: [&str; 33] = [
    "please", "do", "just", "then", "now", "ok", "okay", "yes", "yeah", "no", "so", "and", "but", "sorry", "wait", "oops", "may", "can",
    "could", "should", "must", "let", "lets", "us", "feel", "free", "to", "go", "ahead", "not", "never", "dont", "always",
];
/// Words that begin what an order adds.
const JOINS: [&str; 24] = [
    "after", "before", "if", "when", "once", "as", "and", "but", "or", "unless", "until", "for", "on", "in", "at", "with", "without",
    "from", "to", "because", "instead", "today", "tomorrow", "anyway",
];
/// Who forbids, or is forbidden to.
const SPEAKERS: [&str; 4] = ["i", "we", "you", "they"];
/// Words that allow, where "you" stands with them.
const ALLOWING: [&str; 5] = ["may", "can", "could", "should", "must"];
/// Words of those who tell what happened.
const TELLING: [&str; 20] = [
    "did", "didnt", "had", "hadnt", "has", "hasnt", "have", "havent", "was", "wasnt", "were", "werent", "been", "went", "got", "is",
    "isnt", "are", "arent", "says",
];

/// Whether a statement says what another says, or denies it, in the same words and the same order, but for words that are idle.
pub(super) fn restates(one: &str, other: &str) -> bool {
    let (one, other) = (marked_words(one), marked_words(other));
    one == other || {
        let denies = |words: &[String]| words.iter().any(|word| DENYING.contains(&&**word));
        let plain = |words: Vec<String>| words.into_iter().filter(|word| !DENYING.contains(&&**word)).collect::<Vec<_>>();
        (!denies(&one) || !denies(&other)) && plain(one) == plain(other)
    }
}

/// The words of a text with their signs, without idle ones. Only capitals that begin a word are folded: the others may name something.
fn marked_words(text: &str) -> Vec<String> {
    text.split_whitespace()
        .map(|word| word.trim_start_matches(['"', '(', '\u{201c}']))
        .map(|word| word.trim_end_matches(['.', ',', ';', ':', '!', '?', '"', ')', '\u{201d}', '\u{3002}']))
        .filter(|word| !word.is_empty())
        .map(|word| {
            let mut letters = word.chars();
            let first = letters.next().into_iter().flat_map(char::to_lowercase);
            let plain = letters.clone().all(|letter| !letter.is_uppercase());
            let folded: String = if plain { first.chain(letters).collect() } else { word.to_owned() };
            folded.replace(['\'', '\u{2019}'], "")
        })
        .filter(|word| !IDLE.contains(&&**word))
        .collect()
}

/// Whether a statement orders or allows what an earlier one speaks of: both begin with the same verb, or with the same noun, and nobody
/// is said to have done it. One that has words of its own (`adds`) begins with more of the earlier one, and joins its own behind:
/// "Deploy 412 of Friday hangs" begins with a noun, and "Deploy on Friday, and tell Kim" with the verb of "Never deploy on Friday".
pub(super) fn orders(text: &str, earlier: &str, adds: bool) -> bool {
    let earlier = sentences(earlier);
    sentences(text).into_iter().any(|sentence| earlier.iter().any(|before| orders_of(sentence, before, adds)))
}

fn orders_of(text: &str, earlier: &str, adds: bool) -> bool {
    let plain = |text: &str| words(text).into_iter().filter(|word| word == "and" || !IDLE.contains(&&**word)).collect::<Vec<_>>();
    let (words, earlier) = (plain(text), plain(earlier));
    let is_lead = |word: &String| LEADS.contains(&&**word);
    let allows = words.iter().any(|word| ALLOWING.contains(&&**word));
    let led = words.iter().take_while(|word| is_lead(word) || allows && *word == "you").count();
    let before = earlier.iter().take_while(|word| is_lead(word) || SPEAKERS.contains(&&***word)).count();
    let (behind, forbidden) = (&words[led..], &earlier[before..]);
    let stem = |word: &String| word.trim_end_matches('s').to_owned();
    let common = behind.iter().zip(forbidden).take_while(|(one, other)| stem(one) == stem(other)).count();
    if common == 0 || filler(&behind[0]) {
        return false;
    }
    let tells = |word: &String| TELLING.contains(&&**word) || *word != behind[0] && word.len() > 4 && word.ends_with("ed");
    if !adds {
        return !words.iter().any(tells);
    }
    let joins = |word: &String| JOINS.contains(&&**word) || word.ends_with("ly");
    let goes_on = (common > 1 || common == forbidden.len()) && behind.get(common).is_none_or(joins);
    goes_on && !words[..led + common].iter().any(tells)
}

/// Whether somebody tells what was.
pub(super) fn tells_of_past(text: &str) -> bool {
    words(text).iter().any(|word| matches!(&**word, "was" | "wasnt" | "were" | "werent" | "did" | "didnt" | "had" | "hadnt" | "went"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_in_the_same_order_say_the_same() {
        for [one, other] in [
            ["Use port 8080 for the proxy.", "please use port 8080 for the proxy"],
            ["Deploy on Friday.", "Don't deploy on Friday."],
            ["Never touch audit_log.", "Touch audit_log!"],
            ["Ticket QX-9 is solved.", "Ticket QX-9 is not solved now."],
            ["Red\u{e9}marre le service api-3.", "Ne red\u{e9}marre pas le service api-3."],
        ] {
            assert!(restates(one, other) && restates(other, one), "{one} {other}");
        }
        for [one, other] in [
            ["Bob sent the contract to Alice.", "Alice sent the contract to Bob."],
            ["I am allergic to peanuts.", "She is allergic to peanuts."],
            ["Use C for the firmware.", "Use C++ for the firmware."],
            ["The fee is $100.", "The fee is \u{20ac}100."],
            ["The freezer stays at -20 degrees.", "The freezer stays at 20 degrees."],
            ["Alert if the load is > 80.", "Alert if the load is < 80."],
            ["Turn the boiler on at 6.", "Turn the boiler off at 6."],
            ["The pill is before breakfast.", "The pill is after breakfast."],
            ["Send it to Ann, not to Bob.", "Send it not to Ann, to Bob."],
            ["Key aB3 is lost.", "Key Ab3 is lost."],
            ["Delete .env of api-3.", "Delete env of api-3."],
        ] {
            assert!(!restates(one, other), "{one} {other}");
        }
    }

    #[test]
    fn orders_begin_as_the_prohibition_does() {
        for [text, earlier] in [
            ["You can mirror the bucket acme-eu again.", "Never mirror the bucket acme-eu."],
            ["Do archive the mails.", "Don't archive the mails."],
            ["Ok, you may log tokens.", "We must never log tokens."],
            ["Secrets may leave the vault.", "Secrets must never leave the vault."],
        ] {
            assert!(orders(text, earlier, false), "{text}");
        }
        for [text, earlier] in [
            ["Restart worker-12 after it crashed, and tell Kim.", "Don't restart worker-12."],
            ["You may deploy on Fridays from now on.", "Never deploy on Friday."],
            ["You may share the payroll file with Ann.", "Never share the payroll file."],
            ["Ok, go ahead and restart worker-12.", "Don't restart worker-12."],
        ] {
            assert!(orders(text, earlier, true), "{text}");
        }
        for [text, earlier] in [
            ["But you did touch audit_log!", "Never touch audit_log."],
            ["You touched audit_log!", "Never touch audit_log."],
            ["I restart worker-12.", "Don't restart worker-12."],
            ["The baby did wake.", "Do not wake the baby."],
            ["You can see the Hotel Astoria.", "Do not book the Hotel Astoria."],
            ["The report is not done.", "The report must be done."],
            ["Deploy on Friday failed.", "Never deploy on Friday."],
        ] {
            assert!(!orders(text, earlier, false), "{text}");
        }
        for [text, earlier] in [
            ["Deploy 412 of Friday hangs with code 7.", "Never deploy on Friday."],
            ["Merge request 4 waits for review since Monday.", "Do not merge without review."],
            ["Deploy on Friday failed with code 7.", "Never deploy on Friday."],
            ["Deploy on Friday takes 9 hours.", "Never deploy on Friday."],
            ["Log tokens: 812 of Monday.", "Never log tokens."],
            ["Delete backups job ran at 3.", "Never delete backups."],
        ] {
            assert!(!orders(text, earlier, true), "{text}");
        }
    }
}
