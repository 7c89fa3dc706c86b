//! An assistant's statements: facts that somebody has to approve.

use super::compose::discarded;
use super::question::agrees;
use super::words::{sentences, words};
use super::{Category, Claim, MAX_SENTENCES, Utterance, dates, guards, model};

/// Claims of an assistant that are kept for approval, of one message.
const MAX_UNCONFIRMED: usize = 3;
/// From here on an assistant's sentence says enough to be worth approving, in thousandths of [`model::matters`].
const UNCONFIRMED_MATTERS: u16 = 600;

/// An assistant's statement: a fact that somebody has to approve, unless the user just did.
pub(super) fn of_assistant(said: &Utterance<'_>) -> Vec<Claim> {
    let mut claims = Vec::new();
    let confirmed = confirms(said.after);
    for span in sentences(said.text).into_iter().take(MAX_SENTENCES) {
        let text = &said.text[span.start..span.end];
        let own = words(text);
        if text.len() > 400
            || text.ends_with('?')
            || own.len() < 5
            || guards::is_code(text)
            || guards::is_unknown(&own)
            || claims.len() == MAX_UNCONFIRMED
        {
            continue;
        }
        let names = own.iter().skip(1).any(|word| word.is_number() || word.capital || word.lower.contains(['-', '_', '/']));
        let matters = model::matters(text, &own, "");
        let offers =
            own[0].lower.starts_with("i'") || ["i", "let", "would", "please", "sure", "here", "you"].contains(&own[0].lower.as_str());
        if names && matters >= UNCONFIRMED_MATTERS && !offers && guards::is_english(text, &own, false) {
            claims.push(Claim {
                category: Category::Semantic,
                text: dates::resolved(text, &own, 0, said.at),
                slot: None,
                replaces: None,
                ends: None,
                importance: 400,
                confidence: if confirmed { 700 } else { 400 },
                span: (span.start, span.end),
                days_ago: 0,
                reason: if confirmed { "the assistant said it, and the user agreed" } else { "the assistant said it" }.to_owned(),
                doubt: (!confirmed).then_some("the assistant said it, and nobody confirmed it"),
            });
        }
    }
    if claims.is_empty() {
        claims.push(discarded(said.text, (0, said.text.len()), "the assistant's words"));
    }
    claims
}

/// Whether the user's next message agrees, and does little else.
fn confirms(after: &str) -> bool {
    let own = words(after);
    own.len() <= 6 && agrees(&own)
}
