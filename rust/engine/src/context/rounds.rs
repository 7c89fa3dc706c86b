//! The line that stands for tool rounds which left the window of a long turn, so that the model does not begin anew.
//!
//! ```text
//! [Rounds 1 to 36 of this turn are not shown: read_file x 20, grep x 9, run x 7. They are done; their results are stored.]
//! ```
//!
//! It stands between the turn's user message and the rounds that stay, and is a function of where the window begins: within an epoch
//! it never changes. Where the user message itself is too long to be shown whole, its beginning and its end stand before the line. Epochs
//! of renderer version 1 have none.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::cut::{OPENING_TOKENS, Window};
use super::escape::{escape, unescape};
use super::framing::Framing;
use super::history::{History, Stored};
use super::message::{Message, Role};
use super::shorten::{Between, shorten};
use super::turns::opens_round;
use crate::Result;
use crate::tokens::Counter;

/// From this version of the renderer on the line is shown.
pub(super) const SINCE_RENDERER: u32 = 2;
/// The reserve for it.
pub(super) const TOKENS: u64 = 96;
/// Tokens that a message costs beside its text, at most.
const FRAME_TOKENS: u64 = 16;
/// Tools that are named.
const NAMED: usize = 5;
/// Characters of a tool's name.
const NAME_CHARACTERS: usize = 32;

/// The text that stands for the messages that a window leaves out of its first turn: the line, behind the beginning and the end of the user
/// message where that is too long. `None` where there is nothing to say, or it would be longer than its place.
pub(super) fn line(history: &dyn History, window: &Window, framing: &Framing, counter: &dyn Counter) -> Result<Option<Arc<Stored>>> {
    let rounds = left_out_rounds(history, window.left_out())?;
    if window.cut.shortened {
        let opening = opening(&*history.message(window.cut.start)?, counter);
        let text = [Some(opening), rounds].into_iter().flatten().collect::<Vec<_>>().join("\n");
        let stored = Stored::new(Message::text(Role::User, &text), framing, counter);
        return Ok((stored.cost.tokens <= OPENING_TOKENS + TOKENS).then(|| Arc::new(stored)));
    }
    let Some(text) = rounds else { return Ok(None) };
    let stored = Stored::new(Message::text(Role::User, &text), framing, counter);
    Ok((stored.cost.tokens <= TOKENS).then(|| Arc::new(stored)))
}

/// The beginning and the end of a user message.
fn opening(stored: &Stored, counter: &dyn Counter) -> String {
    let spoken = stored.message.spoken();
    let text = unescape(&spoken);
    match shorten(&text, None, OPENING_TOKENS - FRAME_TOKENS, counter, Between::Characters) {
        Some(shortened) => shortened.text,
        None if text.trim().is_empty() => "[This message is too large to be shown here. It is stored.]".to_owned(),
        None => text.into_owned(),
    }
}

/// The line that says which rounds are not shown; `None` where none of the messages opens one.
fn left_out_rounds(history: &dyn History, left_out: Range<u64>) -> Result<Option<String>> {
    let (mut rounds, mut calls) = (0_u64, BTreeMap::<String, u64>::new());
    for index in left_out {
        let stored = history.message(index)?;
        rounds += u64::from(opens_round(&stored.message));
        for call in stored.message.tool_calls() {
            *calls.entry(call.name.chars().take(NAME_CHARACTERS).collect()).or_default() += 1;
        }
    }
    if rounds == 0 {
        return Ok(None);
    }
    let which = if rounds == 1 { "Round 1 of this turn is".to_owned() } else { format!("Rounds 1 to {rounds} of this turn are") };
    Ok(Some(format!("[{which} not shown{}. They are done; their results are stored.]", named(calls))))
}

fn named(calls: BTreeMap<String, u64>) -> String {
    let mut calls: Vec<(String, u64)> = calls.into_iter().collect();
    calls.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    let others: u64 = calls.iter().skip(NAMED).map(|(_, count)| count).sum();
    let mut parts: Vec<String> = calls.iter().take(NAMED).map(|(name, count)| format!("{} x {count}", escape(name))).collect();
    if others > 0 {
        parts.push(format!("others x {others}"));
    }
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
}
