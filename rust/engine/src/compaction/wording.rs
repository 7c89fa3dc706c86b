//! Orders, permissions and reports: whether a statement orders or allows what an earlier one speaks of, or only tells of it.
//!
//! Not here: whether two statements have the same words ([`super::stated`]), or say the same in different ones.

use super::check::NUMBER_WORDS;
use super::cues::words;
use super::stated::{denies, is_idle};
use super::terms::filler;
use super::units::sentences;

/// Words that may stand before the verb of an order or a permission, or before that of a prohibition.
const LEADS: [&str; 34] = [
    "please", "do", "just", "then", "now", "ok", "okay", "yes", "yeah", "no", "so", "and", "but", "sorry", "wait", "oops", "may", "can",
    "could", "should", "must", "let", "lets", "us", "feel", "free", "to", "go", "ahead", "not", "never", "dont", "always", "only",
];
/// More words that stand there, around a word that allows or forbids: "you are allowed to", "it is fine to".
const FRAMES: [&str; 12] = ["it", "its", "is", "are", "youre", "theyre", "im", "fine", "allowed", "permitted", "longer", "welcome"];
/// More words that stand before a verb that is forbidden, beside denials.
const FORBIDDING: [&str; 4] = ["want", "avoid", "forbidden", "prohibited"];
/// Words that begin what an order adds.
const JOINS: [&str; 25] = [
    "after", "before", "if", "when", "once", "as", "and", "but", "or", "unless", "until", "for", "on", "in", "at", "with", "without",
    "from", "to", "because", "since", "instead", "today", "tomorrow", "anyway",
];
/// Who forbids, allows, or is meant.
const SPEAKERS: [&str; 4] = ["i", "we", "you", "they"];
/// Words that allow or order.
const ALLOWING: [&str; 8] = ["may", "can", "could", "should", "must", "allowed", "permitted", "welcome"];
/// Words of those who tell what happened.
const TELLING: [&str; 20] = [
    "did", "didnt", "had", "hadnt", "has", "hasnt", "have", "havent", "was", "wasnt", "were", "werent", "been", "went", "got", "is",
    "isnt", "are", "arent", "says",
];

/// Verbs that tell what was.
const PAST: [&str; 27] = [
    "was", "wasnt", "were", "werent", "did", "didnt", "had", "hadnt", "went", "took", "gave", "came", "saw", "ate", "drove", "flew",
    "bought", "ran", "sat", "told", "said", "wrote", "found", "lost", "sent", "slept", "met",
];
/// Words behind which a word in "-ed" tells what is or shall be.
const PASSIVE: [&str; 9] = ["is", "are", "be", "being", "get", "gets", "the", "a", "to"];

/// Whether a statement orders or allows what an earlier one speaks of: both begin with the same verb, or with the same noun, and nobody
/// is said to have done it. One that has words of its own (`adds`) begins with more of the earlier one, and joins its own behind:
/// "Deploy 412 of Friday hangs" begins with a noun, and "Deploy on Friday, and tell Kim" with the verb of "Never deploy on Friday".
pub(super) fn orders(text: &str, earlier: &str, adds: bool) -> bool {
    let earlier = sentences(earlier);
    sentences(text).into_iter().any(|sentence| earlier.iter().any(|before| orders_of(sentence, before, adds)))
}

fn orders_of(text: &str, earlier: &str, adds: bool) -> bool {
    let (words, earlier) = (plain(text), plain(earlier));
    let before = earlier.iter().take_while(|word| stands_before(word) || denies(word) || FORBIDDING.contains(&&***word)).count();
    let led = lead_of_order(&words, &earlier[..before]);
    let (behind, forbidden) = (&words[led..], &earlier[before..]);
    let stem = |word: &String| word.trim_end_matches('s').to_owned();
    let common = behind.iter().zip(forbidden).take_while(|(one, other)| stem(one) == stem(other)).count();
    if common == 0 || filler(&behind[0]) {
        return false;
    }
    let tells = |word: &String| {
        TELLING.contains(&&**word) || PAST.contains(&&**word) || *word != behind[0] && word.len() > 4 && word.ends_with("ed")
    };
    if !adds {
        return !behind.iter().any(tells);
    }
    let joins = |word: &String| JOINS.contains(&&**word) || word.ends_with("ly");
    let ends = || clause_ends(text).any(|end| end == led + common);
    let goes_on = (common > 1 || common == forbidden.len()) && (behind.get(common).is_none_or(joins) || ends());
    goes_on && !behind[..common].iter().any(tells)
}

/// The words of a text, without idle ones.
fn plain(text: &str) -> Vec<String> {
    words(text).into_iter().filter(|word| word == "and" || !is_idle(word)).collect()
}

/// How many words of [`plain`] stand before each comma or semicolon.
fn clause_ends(text: &str) -> impl Iterator<Item = usize> {
    text.split_inclusive([',', ';']).scan(0, |count, part| {
        *count += plain(part).len();
        Some(*count)
    })
}

fn is_lead(word: &str) -> bool {
    LEADS.contains(&word)
}

fn stands_before(word: &str) -> bool {
    is_lead(word) || SPEAKERS.contains(&word) || FRAMES.contains(&word)
}

/// How many words stand before the verb of an order or a permission. Of those who are allowed something, "I" and "they" must be who was
/// forbidden it: "I can restart it" takes back "I can't restart it", and not "Don't restart it".
fn lead_of_order(words: &[String], ban: &[String]) -> usize {
    let all = words.iter().take_while(|word| stands_before(word)).count();
    let lead = &words[..all];
    let speaker = |lead: &[String]| lead.iter().rev().find(|word| SPEAKERS.contains(&&***word)).cloned();
    let fits = match (speaker(lead).as_deref(), speaker(ban).as_deref()) {
        (None | Some("you"), _) => true,
        (Some("we"), forbidden) => !matches!(forbidden, Some("i" | "they")) && !lead.iter().any(|word| word == "could"),
        (allowed, forbidden) => allowed == forbidden,
    };
    let is_fine = || matches!(lead.first().map(|word| &**word), Some("it" | "its")) && lead.last().is_some_and(|word| word == "to");
    let allows = lead.iter().any(|word| ALLOWING.contains(&&**word)) || is_fine();
    if fits && allows { all } else { words.iter().take_while(|word| is_lead(word)).count() }
}

/// Whether somebody tells what was: by one of these verbs, or by one in "-ed" that nothing is done to.
pub(super) fn tells_of_past(text: &str) -> bool {
    let words = words(text);
    words.iter().enumerate().any(|(at, word)| {
        let regular = word.len() > 4 && word.ends_with("ed") && !word.ends_with("eed");
        let before = at.checked_sub(1).map_or("", |before| &*words[before]);
        PAST.contains(&&**word) || regular && !PASSIVE.contains(&before)
    })
}

/// How many words that say something a statement has of an earlier one; "worker-9" is one.
pub(super) fn shares_words(text: &str, earlier: &str) -> usize {
    let of = |text: &str| -> Vec<String> {
        let trimmed = text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
        trimmed.filter(|word| !word.is_empty() && !filler(word) && !is_idle(word) && !denies(word)).collect()
    };
    let known = of(earlier);
    of(text).iter().filter(|word| known.contains(word)).count()
}

/// Whether a statement names a value that an earlier one lacks: a number, a name, or something that was "meant".
pub(super) fn names_another(text: &str, earlier: &str) -> bool {
    let known = words(earlier);
    let is_value = |(at, word): &(usize, &str)| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let named = *at > 0 && word.starts_with(char::is_uppercase) && word.len() > 1;
        named || word.contains(char::is_numeric) || NUMBER_WORDS.iter().any(|(number, _)| word.eq_ignore_ascii_case(number))
    };
    let is_new = |word: &String| !known.contains(word) && !filler(word) && word != "im";
    let mut values = text.split_whitespace().enumerate().filter(is_value);
    values.any(|(_, word)| words(word).iter().any(is_new)) || words(text).iter().any(|word| word == "meant")
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
            ["We can log tokens now.", "We can't log tokens."],
            ["We can log tokens now.", "Never log tokens."],
            ["I may lift more than 5 kg again.", "I mustn't lift more than 5 kg."],
            ["It is okay to log tokens.", "You shouldn't log tokens."],
            ["It's fine to log tokens now.", "I don't want you to log tokens."],
            ["You are allowed to log tokens.", "It is forbidden to log tokens."],
            ["You're permitted to log tokens.", "You aren't allowed to log tokens."],
            ["They may log tokens.", "They cannot log tokens."],
            ["Run the slow tests at noon instead.", "Only run the slow tests at night."],
        ] {
            assert!(orders(text, earlier, false), "{text}");
        }
        for [text, earlier] in [
            ["Restart worker-12 after it crashed, and tell Kim.", "Don't restart worker-12."],
            ["You may deploy on Fridays from now on.", "Never deploy on Friday."],
            ["You may share the payroll file with Ann.", "Never share the payroll file."],
            ["Ok, go ahead and restart worker-12.", "Don't restart worker-12."],
            ["We can hire contractors from Poland, legal agreed.", "We can't hire contractors from Poland."],
            ["We can share salaries with Kilo since it signed.", "We cannot share salaries with Kilo."],
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
            ["I can restart worker-12.", "Don't restart worker-12."],
            ["They may log tokens.", "Never log tokens."],
            ["We were allowed to log tokens.", "Never log tokens."],
            ["We are logging tokens.", "Never log tokens."],
            ["It is said to log tokens.", "Never log tokens."],
            ["It logs tokens.", "Never log tokens."],
            ["We can see the Hotel Astoria.", "We can't book the Hotel Astoria."],
            ["We can log that tokens expired.", "We can't log tokens."],
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
            ["We can hire Ann, legal agreed.", "We can't hire contractors from Poland."],
            ["We could log tokens if QA agreed.", "Never log tokens."],
        ] {
            assert!(!orders(text, earlier, true), "{text}");
        }
    }
}
