//! Relations that a plain statement says: "payments-api runs on prod-eu-west-1", "checkout depends on payments-api".
//!
//! Both ends must be names: an identifier, a capital, or at most three words behind "the" or "our". "It depends on the weather" says
//! nothing of anybody.

use super::lists::lists;
use super::words::{Span, Word, among, sentences, words};

lists! { "relates":
    /// Words that name nothing.
    NO_NAME,
}

/// Verbs, and how the relation is called.
const VERBS: [(&str, &str); 28] = [
    ("depends on", "depends on"),
    ("relies on", "depends on"),
    ("runs on", "runs on"),
    ("runs in", "runs on"),
    ("is running on", "runs on"),
    ("is deployed on", "runs on"),
    ("is deployed to", "runs on"),
    ("is deployed in", "runs on"),
    ("is hosted on", "runs on"),
    ("is hosted in", "runs on"),
    ("is part of", "is part of"),
    ("belongs to", "belongs to"),
    ("is owned by", "is owned by"),
    ("is maintained by", "is maintained by"),
    ("is written in", "is written in"),
    ("connects to", "connects to"),
    ("talks to", "connects to"),
    ("writes to", "writes to"),
    ("reads from", "reads from"),
    ("is stored in", "is stored in"),
    ("listens on", "listens on"),
    ("reports to", "reports to"),
    ("works for", "works for"),
    ("works at", "works for"),
    ("works with", "works with"),
    ("lives in", "lives in"),
    ("is married to", "is married to"),
    ("is located in", "is located in"),
];
/// Texts that are read for relations, in bytes.
const MOST_BYTES: usize = 1_000;
/// Words of an end at most, its article not counted.
const MOST_WORDS: usize = 3;

/// That something stands to something, as a text says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stated {
    /// The subject.
    pub subject: String,
    /// How it stands.
    pub relation: String,
    /// To what.
    pub object: String,
}

/// The relations that a text says, in order.
#[must_use]
pub fn related(text: &str) -> Vec<Stated> {
    if text.len() > MOST_BYTES || !VERBS.iter().any(|(verb, _)| text.contains(verb)) {
        return Vec::new();
    }
    let all = words(text);
    let told = sentences(text).into_iter().filter(|span| !text[span.start..span.end].ends_with('?'));
    told.filter_map(|span| stated(text, &all, span)).collect()
}

/// The relations in a profile's or a slot's sentence: "The user's timezone is CET." relates the user to it by the slot's name.
#[must_use]
pub fn of_slot(text: &str, slot: &str) -> Option<Stated> {
    let named = text.strip_prefix("The user's ")?;
    let rest = named.get(..slot.len()).filter(|name| name.to_lowercase() == slot).and_then(|_| named[slot.len()..].strip_prefix(" is "))?;
    let object = rest.trim_end_matches('.').trim();
    let short = (1..=100).contains(&object.len());
    short.then(|| Stated { subject: "user".to_owned(), relation: slot.to_owned(), object: object.to_owned() })
}

fn stated(text: &str, all: &[Word], span: Span) -> Option<Stated> {
    let from = all.partition_point(|word| word.start < span.start);
    let own = &all[from..from + all[from..].partition_point(|word| word.end <= span.end)];
    let verb = |at: usize| VERBS.iter().find_map(|(verb, name)| super::words::starts(own, at, verb).map(|end| (*name, end)));
    let (at, (relation, behind)) = (1..own.len().min(8)).find_map(|at| verb(at).map(|found| (at, found)))?;
    let begin = usize::from(own[0].lower == "the" || own[0].lower == "our");
    let begin = begin + usize::from(super::words::starts(own, 0, "remember that").is_some()) * 2;
    let end = ending(text, own, behind)?;
    let article = usize::from(["the", "our", "a", "an"].contains(&own[behind].lower.as_str()));
    Some(Stated { subject: named(text, own, begin, at)?, relation: relation.to_owned(), object: named(text, own, behind + article, end)? })
}

/// Where the object is over: at a word or a sign that parts.
fn ending(text: &str, own: &[Word], from: usize) -> Option<usize> {
    const PARTS: [&str; 16] =
        ["and", "but", "because", "since", "so", "for", "when", "while", "now", "which", "where", "as", "with", "if", "until", "instead"];
    own.get(from)?;
    let parts = |at: &usize| {
        among(&PARTS, &own[*at].lower) || own[*at].is_mark() || text[own[*at - 1].end..own[*at].start].contains([',', ';', '(', '.'])
    };
    Some((from + 1..own.len()).find(parts).unwrap_or(own.len()))
}

/// The words between two places, where they name something.
fn named(text: &str, own: &[Word], from: usize, to: usize) -> Option<String> {
    let name = own.get(from..to).filter(|name| (1..=MOST_WORDS).contains(&name.len()))?;
    let names = name.iter().all(|word| !among(&NO_NAME, &word.lower));
    names.then(|| text[name[0].start..name[name.len() - 1].end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<(String, String, String)> {
        related(text).into_iter().map(|one| (one.subject, one.relation, one.object)).collect()
    }

    #[test]
    fn plain_statements_relate_what_they_name() {
        for (text, subject, relation, object) in [
            ("payments-api runs on prod-eu-west-1.", "payments-api", "runs on", "prod-eu-west-1"),
            ("The checkout service depends on payments-api, since 2024.", "checkout service", "depends on", "payments-api"),
            ("Our billing is deployed to the staging cluster now", "billing", "runs on", "staging cluster"),
            ("Priya works for Acme Corp and likes it", "Priya", "works for", "Acme Corp"),
        ] {
            assert_eq!(of(text), [(subject.to_owned(), relation.to_owned(), object.to_owned())], "{text}");
        }
    }

    #[test]
    fn a_slot_relates_the_user_to_its_value() {
        let zone = of_slot("The user's timezone is CET.", "timezone").map(|one| (one.subject, one.relation, one.object));
        assert_eq!(zone, Some(("user".to_owned(), "timezone".to_owned(), "CET".to_owned())));
        assert_eq!(of_slot("I prefer Vim.", "editor"), None);
    }

    #[test]
    fn what_names_nothing_relates_nothing() {
        for text in [
            "It depends on the weather.",
            "Does checkout run on prod?",
            "checkout depends on payments-api?",
            "What matters depends on whether they agree",
            "runs on",
            "depends on x depends on",
            "checkout never runs on Fridays",
            "",
        ] {
            assert_eq!(of(text), [], "{text}");
        }
    }
}
