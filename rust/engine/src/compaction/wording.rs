//! Orders, permissions and reports: whether a statement orders or allows what an earlier one speaks of, or only tells of it.
//!
//! Not here: whether two statements have the same words ([`super::stated`]), or say the same in different ones.

use super::cues::words;
use super::stated::is_idle;
use super::terms::filler;
use super::units::sentences;

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

/// Whether a statement orders or allows what an earlier one speaks of: both begin with the same verb, or with the same noun, and nobody
/// is said to have done it. One that has words of its own (`adds`) begins with more of the earlier one, and joins its own behind:
/// "Deploy 412 of Friday hangs" begins with a noun, and "Deploy on Friday, and tell Kim" with the verb of "Never deploy on Friday".
pub(super) fn orders(text: &str, earlier: &str, adds: bool) -> bool {
    let earlier = sentences(earlier);
    sentences(text).into_iter().any(|sentence| earlier.iter().any(|before| orders_of(sentence, before, adds)))
}

fn orders_of(text: &str, earlier: &str, adds: bool) -> bool {
    let plain = |text: &str| words(text).into_iter().filter(|word| word == "and" || !is_idle(word)).collect::<Vec<_>>();
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
