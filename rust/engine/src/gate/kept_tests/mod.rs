//! The gate on what a hasty reader would cut in half, or put in the place of something else.

mod any_text;
mod health;
mod orders;
mod others;
mod people;
mod places;
mod typed;
mod values;

use super::*;

const AT: i64 = 1_735_689_600_000_000; // Wednesday, 2025-01-01

/// The claims of a message that are not discarded.
fn kept(text: &str) -> Vec<Claim> {
    let claims = judge(&Utterance { text, speaker: Speaker::User, before: "", after: "", at: AT });
    claims.into_iter().filter(|claim| claim.category != Category::Discard).collect()
}

/// The only one of them.
fn one(text: &str) -> Claim {
    let mut claims = kept(text);
    assert_eq!(claims.len(), 1, "{text}: {claims:?}");
    claims.remove(0)
}
