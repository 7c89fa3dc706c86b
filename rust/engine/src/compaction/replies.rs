//! Reads a reply to a request, clause by clause: an answer, a failure, a promise, or what was tried.
//!
//! A failure in front of every answer is the reply. Behind an answer it is a caveat ("It covers ten visits, but I can't see the
//! co-payment"), unless it speaks of what was asked as much as the answer does. A clause behind "because" is a cause, not a failure of
//! the speaker. Not here: whether an answer is right.

use super::cues::{asks, is_open, words};
use super::requests::{DONE, begins, has_one, puts_off};
use super::terms::{Reader, Terms, filler};
use super::units::sentences;
use crate::text::speech::acknowledges;

/// A clause that begins so says that nothing came of it.
const GIVES_UP_FIRST: [&str; 17] = [
    "stopped",
    "cancelled",
    "canceled",
    "aborted",
    "interrupted",
    "nothing",
    "could not",
    "couldnt",
    "unable",
    "failed to",
    "found nothing",
    "no results",
    "no luck",
    "havent",
    "have not",
    "not yet",
    "not found",
];
/// A clause with one of these gives up.
const GIVES_UP: [&str; 73] = [
    "i could not",
    "i couldnt",
    "we could not",
    "we couldnt",
    "i cannot",
    "i cant",
    "i was not able",
    "i wasnt able",
    "i am not able",
    "im not able",
    "i was unable",
    "i am unable",
    "im unable",
    "i did not find",
    "i didnt find",
    "i did not get",
    "i didnt get",
    "i found nothing",
    "found no",
    "i was stopped",
    "i was interrupted",
    "i was cancelled",
    "i stopped",
    "i gave up",
    "i failed to",
    "tool timed out",
    "call timed out",
    "tool failed",
    "call failed",
    "tool crashed",
    "will try",
    "ill try",
    "try again",
    "try once more",
    "came back empty",
    "came up empty",
    "no information",
    "no info",
    "led nowhere",
    "led to nothing",
    "im stuck",
    "i am stuck",
    "ran out of time",
    "i havent",
    "i have not",
    "we havent",
    "we have not",
    "i have nothing",
    "i have no",
    "still looking",
    "still searching",
    "still investigating",
    "need more information",
    "need more details",
    "need more time",
    "dont have access",
    "do not have access",
    "no access",
    "dont have permission",
    "blocked me",
    "locked me out",
    "would not load",
    "wouldnt load",
    "did not load",
    "didnt load",
    "nobody answered",
    "no one answered",
    "requires a login",
    "needs a login",
    "behind a login",
    "i only got",
    "i got an error",
    "i got no",
];
/// So does one with these, unless a cause was asked for, which they may be.
const ERRORS: [&str; 14] = [
    "permission denied",
    "access denied",
    "was rejected",
    "was refused",
    "there was an error",
    "timed out",
    "returns 401",
    "returns 403",
    "returns 404",
    "returns 500",
    "returned 401",
    "returned 403",
    "returned 404",
    "returned 500",
];
/// Words before a cause.
const CAUSES: [&str; 4] = ["because", "since", "due", "as"];
/// A clause that begins so says what its speaker is going to do.
const PROMISES: [&str; 21] = [
    "ill",
    "i will",
    "im going to",
    "i am going to",
    "im looking",
    "i am looking",
    "im on it",
    "i am on it",
    "we will",
    "let me",
    "on it",
    "will do",
    "looking into",
    "checking",
    "working on",
    "give me",
    "hold on",
    "one moment",
    "one second",
    "sure",
    "of course",
];
/// A clause that begins so says what was tried.
const ATTEMPTS: [&str; 20] = [
    "looked",
    "checked",
    "searched",
    "tried",
    "read",
    "ran",
    "opened",
    "asked",
    "called",
    "went",
    "grepped",
    "queried",
    "examined",
    "reviewed",
    "scanned",
    "contacted",
    "mailed",
    "emailed",
    "started",
    "wrote",
];
/// Words that answer whether something is so.
const YES: [&str; 9] = ["yes", "yep", "yeah", "no", "nope", "correct", "indeed", "covered", "better not"];
/// Words for what was asked about.
const IT: [&str; 5] = ["it", "its", "they", "theyre", "because"];
/// Words by which a clause tells what its speaker or its hearer does.
const SPEAKERS: [&str; 9] = ["i", "im", "ive", "id", "we", "weve", "were", "you", "please"];
/// The words that ask.
const INTERROGATIVES: [&str; 9] = ["why", "who", "whom", "when", "where", "which", "how", "whether", "if"];
/// Clauses of each kind that are held against a request.
const MOST_CLAUSES: usize = 16;
/// Words of a name that answers alone, at most.
const NAME_WORDS: usize = 3;
/// Terms that a clause about "it" has at least, so that it tells something.
const OF_IT: usize = 2;

/// A clause of a reply.
pub(super) struct Clause {
    pub text: String,
    pub terms: Terms,
}

/// A reply that is more than a failure: its answers, and the failures behind the first of them.
pub(super) struct Reply {
    pub told: Vec<Clause>,
    failed: Vec<Clause>,
    /// Errors, which fail where no cause was asked for, and how many answers stand before the first.
    errors: Option<usize>,
    /// Its first clause answers.
    at_once: bool,
}

impl Reply {
    /// `None` where it fails before it says anything.
    pub fn of(texts: &[&str], reader: &mut Reader) -> Option<Self> {
        let mut reply = Self { told: Vec::new(), failed: Vec::new(), errors: None, at_once: false };
        let (mut tried, mut first) = (Vec::new(), true);
        let stated = texts.iter().flat_map(|text| sentences(text)).filter(|sentence| !asks(sentence));
        for text in stated.flat_map(clauses).filter(|text| !acknowledges(text) || begins(&words(text), &DONE)) {
            let (words, clause) = (words(behind_yes(text)), Clause { text: text.to_owned(), terms: reader.terms(text) });
            if gives_up(&words) || puts_off(text) || is_open(text) {
                if reply.told.is_empty() {
                    return None;
                }
                reply.failed.push(clause);
            } else if is_attempt(&words) {
                tried.push(clause);
            } else if !begins(&words, &PROMISES) {
                if has_one(before_cause(&words), &ERRORS) {
                    reply.errors.get_or_insert(reply.told.len());
                }
                reply.at_once |= first;
                reply.told.push(clause);
            }
            first = false;
        }
        if reply.failed.is_empty() {
            reply.told.append(&mut tried);
        }
        Some(reply)
    }

    /// Whether it fails at a request, of which the terms are given.
    pub fn fails(&self, request: &str, terms: &[u64]) -> bool {
        let asking = words(request);
        let shared = |clause: &Clause| clause.terms.all.iter().filter(|term| terms.contains(term)).count();
        let answered = self.told.iter().take(MOST_CLAUSES).map(shared).max().unwrap_or(0);
        let asked = |clause: &Clause| {
            let words = words(&clause.text);
            let is_asked = |word: &String| INTERROGATIVES.contains(&&**word) && words.contains(word);
            asking.iter().any(is_asked) || asking.iter().any(|word| word == "why") && has_one(&words, &["cause", "reason"])
        };
        let is_of_request = |clause: &Clause| shared(clause) > 0 && shared(clause) >= answered || asked(clause);
        let has_error = self.errors == Some(0) && !asking.iter().any(|word| matches!(&**word, "why" | "what"));
        has_error || self.failed.iter().take(MOST_CLAUSES).any(is_of_request)
    }

    /// Whether it answers a request, of which the terms are given, in few words: with a number or a name that was not asked about, with
    /// yes or no, or with what "it" does.
    pub fn is_terse(&self, request: &str, terms: &[u64]) -> bool {
        let Some(clause) = self.told.first().filter(|_| self.at_once) else { return false };
        let body = behind_yes(&clause.text);
        let (spoken, asking) = (words(&clause.text), words(request));
        let asks = |some: &[&str]| asking.iter().any(|word| some.contains(&&**word));
        if begins(&words(body), &SPEAKERS) {
            return false;
        }
        if body.len() < clause.text.len() && !body.contains(' ') && !body.contains(char::is_numeric) {
            return false; // "OK, Kim."
        }
        let is_new = |term: &u64| !terms.contains(term);
        let says_yes = || asks(&["if", "whether"]) && begins(&spoken, &YES);
        let of_it = || begins(&spoken, &IT) && !has_one(&spoken, &["will", "would"]) && clause.terms.all.len() >= OF_IT;
        clause.terms.facts.iter().any(is_new) || says_yes() || of_it() || asks(&["who", "which", "where"]) && is_name(&clause.text)
    }
}

/// The parts of a sentence before and behind "but", "though" and a semicolon.
fn clauses(sentence: &str) -> Vec<&str> {
    let parts = sentence.split(';').flat_map(|part| part.split(" but ")).flat_map(|part| part.split(" though "));
    parts.filter(|part| part.chars().any(char::is_alphanumeric)).collect()
}

/// A clause without the "Yes," or "Great," in front of it.
fn behind_yes(clause: &str) -> &str {
    let is_yes = |first: &str| acknowledges(first) || begins(&words(first), &YES) && !first.contains(' ');
    clause.split_once(',').filter(|(first, _)| is_yes(first)).map_or(clause, |(_, rest)| rest.trim_start())
}

/// Whether a text fails before it says anything but what was tried.
pub(super) fn is_failure(text: &str) -> bool {
    let fails = |clause: &&str| gives_up(&words(behind_yes(clause))) || puts_off(clause);
    let says = |clause: &&str| fails(clause) || !acknowledges(clause) && !asks(clause) && !is_attempt(&words(behind_yes(clause)));
    sentences(text).into_iter().flat_map(clauses).find(says).is_some_and(|clause| fails(&clause))
}

/// The words before a cause.
fn before_cause(words: &[String]) -> &[String] {
    let end = words.iter().position(|word| CAUSES.contains(&&**word)).filter(|at| *at > 0);
    &words[..end.unwrap_or(words.len())]
}

fn gives_up(words: &[String]) -> bool {
    begins(words, &GIVES_UP_FIRST) || has_one(before_cause(words), &GIVES_UP)
}

/// "I looked into it", "Checked the wiki".
fn is_attempt(words: &[String]) -> bool {
    let behind = usize::from(words.first().is_some_and(|word| matches!(&**word, "i" | "we" | "ive" | "weve")));
    begins(&words[behind..], &ATTEMPTS)
}

/// "Ann.", "Ann Becker of platform."
fn is_name(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default().trim_matches(|c: char| !c.is_alphanumeric());
    let plain = first.ends_with("ed") || first.ends_with("ing") || filler(first);
    text.split_whitespace().count() <= NAME_WORDS && first.starts_with(char::is_uppercase) && !plain
}

#[cfg(test)]
mod tests {
    use super::super::requests::ASKING;
    use super::*;

    /// Whether a reply answers in few words, and whether it fails, at a request.
    fn judged(request: &str, reply: &str) -> (bool, bool) {
        let mut reader = Reader::default();
        let asking = reader.every(ASKING);
        let terms: Vec<u64> = reader.terms(request).all.into_iter().filter(|term| !asking.contains(term)).collect();
        let Some(read) = Reply::of(&[reply], &mut reader) else { return (false, true) };
        (read.is_terse(request, &terms), read.fails(request, &terms))
    }

    #[test]
    fn a_number_a_name_or_a_yes_answers() {
        for [request, reply] in [
            ["Find out who maintains libfoo.", "Marta."],
            ["Find out who maintains libfoo.", "Marta Ruiz, but I couldn't find her number."],
            ["Figure out which port the proxy uses.", "8443, though I cannot rule out a second one."],
            ["Find out whether Kim is in.", "Yes, until noon."],
            ["Find out if the pool is heated.", "It is heated from May on. I can't see the temperature."],
            ["Find out why login fails.", "The token expired on 3 May; I have not renewed it."],
            ["I'm not sure which plan we have.", "Business, with 40 seats."],
        ] {
            assert_eq!(judged(request, reply), (true, false), "{request} {reply}");
        }
        for [request, reply] in [
            ["Find out who maintains libfoo.", "Noted."],
            ["Find out who maintains libfoo.", "Will do."],
            ["Find out who maintains libfoo.", "Yes, I'll look at 5."],
            ["Find out who maintains libfoo.", "OK, Kim."],
            ["Find out whether Kim is in.", "Great, I'm on it."],
            ["Find out if the pool is heated.", "Let me call Hotel Mundial."],
        ] {
            assert!(!judged(request, reply).0, "{request} {reply}");
        }
    }

    #[test]
    fn a_failure_that_names_its_subject_is_one() {
        for reply in [
            "The search for checkout-7 came back empty.",
            "I looked at checkout-7. I couldn't find the cause.",
            "checkout-7 runs in eu-1. I could not find out why it is slow.",
            "Still looking into checkout-7.",
            "We don't have access to checkout-7.",
            "I ran out of time before I got to checkout-7.",
        ] {
            assert!(judged("Find out why checkout-7 is slow.", reply).1, "{reply}");
            assert!(is_failure(reply) || reply.contains(". "), "{reply}");
        }
        assert!(judged("Find out who owns checkout-7.", "Permission denied for checkout-7.").1);
        for reply in [
            "checkout-7 is slow because the call timed out.",
            "checkout-7 waits for a lock. I can't see any other reason.",
            "checkout-7 is slow: permission denied on /srv/cache.",
            "You have access to checkout-7 now, so it is slow for want of an index.",
        ] {
            assert!(!is_failure(reply), "{reply}");
        }
        assert!(!judged("Find out why checkout-7 is slow.", "checkout-7 waits for a lock. I can't see anything else.").1);
        assert!(!judged("Find out why checkout-7 fails.", "checkout-7 gets permission denied on /srv.").1);
    }
}
