//! Whether a newer memory is an older one with another value: the same sentence but for a word or two, the same thing in another state, or
//! brought elsewhere.
//! Then it is newer also where the words of the question are too few to tell by, or name the older value itself ("Is the gate open?").

use super::super::words::{is_any, normal, without_s};

/// States of which a thing has one at a time.
const STATES: [&[&str]; 13] = [
    &["open", "closed", "shut", "resolved", "done", "fixed", "merged", "finished"],
    &["blocked", "stuck", "pending", "unblocked", "closed", "resolved", "done", "fixed", "merged", "finished", "cancelled"],
    &["on", "off"],
    &["up", "down", "running", "stopped"],
    &["enabled", "disabled"],
    &["active", "inactive", "paused", "archived"],
    &["free", "taken", "booked", "busy", "occupied"],
    &["available", "unavailable", "sold"],
    &["locked", "unlocked"],
    &["frozen", "unfrozen"],
    &["paid", "unpaid", "overdue"],
    &["online", "offline"],
    &["valid", "invalid", "expired"],
];
/// Verbs by which somebody brings a thing elsewhere.
const MOVES: [&str; 5] = ["migrated", "moved", "switched", "ported", "changed"];
/// Prepositions before where something is.
const PLACED: [&str; 4] = ["on", "in", "at", "by"];
/// Words up to the thing that was moved, at most.
const MOST_OBJECT: usize = 3;
/// Words that two texts share at least, where one is the other with another value.
const SAME: usize = 3;

/// Whether a newer memory that ends with "now" is an older one with another word or two in one place of it: "The repo acme/web uses npm",
/// "... uses pnpm now". Without that word it may tell of something else that it uses.
pub(super) fn is_restated(new: &[&str], old: &[&str]) -> bool {
    let Some(new) = new.strip_suffix(&["now"]) else { return false };
    let pairs = || new.iter().zip(old);
    let before = pairs().take_while(|(new, old)| new.eq_ignore_ascii_case(old)).count();
    let behind = new.iter().rev().zip(old.iter().rev()).take_while(|(new, old)| new.eq_ignore_ascii_case(old)).count();
    let left = new.len().min(old.len()).saturating_sub(before);
    let behind = behind.min(left);
    before + behind >= SAME && (1..=2).contains(&(new.len() - before - behind)) && (1..=2).contains(&(old.len() - before - behind))
}

/// Whether a newer memory has another state of the thing in place of the one that a question asks for and an older one has: "INC-101 is
/// closed" and "INC-101 is open".
pub(super) fn is_in_other_state(new: &[&str], old: &[&str], asked: &str) -> bool {
    let Some(at) = old.iter().position(|word| word.eq_ignore_ascii_case(asked)) else { return false };
    let has = |state: &str| {
        let place = new.iter().position(|word| word.eq_ignore_ascii_case(state));
        // "Busy on Friday" and "up to date" say something else.
        place.is_some_and(|at| new.get(at + 1).is_none_or(|next| ["now", "again", "since", "anymore", "any", "and"].contains(next)))
    };
    let is_other = |states: &&[&str]| states.contains(&asked) && states.iter().any(|state| *state != asked && has(state));
    let is_one_thing = at > 0 && new.get(..at).is_some_and(|new| same(new, &old[..at]));
    is_one_thing && if has(asked) { new.contains(&"not") } else { STATES.iter().any(is_other) }
}

/// Whether a newer memory says that what an older one places was brought elsewhere: "We migrated CI to GitHub Actions" and "CI runs on
/// Jenkins". The thing is a word of the question.
pub(super) fn is_moved(new: &[&str], old: &[&str], asked: &[String]) -> bool {
    let is = |word: Option<&&str>, known: &[&str]| word.is_some_and(|word| is_any(word, known));
    let Some(verb) = new.iter().position(|word| is(Some(word), &MOVES)) else { return false };
    let thing = (verb + 1..new.len().min(verb + MOST_OBJECT + 1)).find(|at| is(new.get(at + 1), &["to", "from"])).map(|at| new[at]);
    let Some(thing) = thing.filter(|thing| asked.contains(&normal(without_s(thing)))) else { return false };
    let place = old.iter().take(MOST_OBJECT).position(|word| word.eq_ignore_ascii_case(thing));
    place.is_some_and(|at| is(old.get(at + 2), &PLACED) || is(old.get(at + 3), &PLACED))
}

/// Whether two runs of words are one, in large or small letters.
pub(super) fn same(one: &[&str], two: &[&str]) -> bool {
    one.len() == two.len() && one.iter().zip(two).all(|(one, two)| one.eq_ignore_ascii_case(two))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::words::Words;

    #[test]
    fn a_sentence_with_another_value_is_the_same_sentence() {
        let is = |old: &str, new: &str| is_restated(&Words::of(new).bare, &Words::of(old).bare);
        assert!(is("The repo acme/web uses npm", "The repo acme/web uses pnpm now"));
        assert!(is("OPS-1 is assigned to Bob", "OPS-1 is assigned to Ana Roe now"));
        assert!(!is("The repo acme/web uses npm", "The repo acme/web uses Vite"));
        assert!(!is("The repo acme/web uses npm", "The repo acme/web uses npm"));
        assert!(!is("Bob works", "Bob sleeps") && !is("", "") && !is("a b c d", "a b c d e f g h"));
    }

    #[test]
    fn what_was_moved_is_elsewhere() {
        let asked = ["what", "does", "ci", "billing", "run", "on"].map(str::to_owned);
        let is = |new: &str, old: &str| is_moved(&Words::of(new).bare, &Words::of(old).bare, &asked);
        assert!(is("We migrated CI to GitHub Actions", "CI runs on Jenkins"));
        assert!(is("We moved billing from Heroku to Fly", "billing is hosted on Heroku"));
        assert!(!is("We migrated CI secrets to Vault", "CI runs on Jenkins"));
        assert!(!is("We migrated CI to GitHub Actions", "Tom owns CI"));
        assert!(!is("We moved the office to Bonn", "The office is in Trier"), "the question does not have it");
    }

    #[test]
    fn a_thing_is_in_one_state_at_a_time() {
        let is = |new: &str, old: &str, asked: &str| is_in_other_state(&Words::of(new).bare, &Words::of(old).bare, asked);
        assert!(is("INC-101 is resolved.", "INC-101 is open.", "open") && is("The flag is off", "The flag is on", "on"));
        assert!(is("INC-101 is not open any more", "INC-101 is open", "open"));
        assert!(is("DATA-438 is done", "DATA-438 is blocked", "blocked") && !is("DATA-438 is open", "DATA-438 is blocked", "blocked"));
        assert!(!is("INC-101 is urgent", "INC-101 is open", "open") && !is("INC-101 is open again", "INC-101 is open", "open"));
        assert!(!is("INC-101 is closed", "INC-101 is mine", "open"));
        assert!(!is("The room is busy on Friday", "The room is free", "free") && !is("The site is up to date", "The site is down", "down"));
        assert!(!is("The server is running Debian", "The server is up", "up"));
    }
}
