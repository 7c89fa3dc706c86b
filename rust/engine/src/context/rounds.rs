//! The line that stands for tool rounds which left the window of a long turn, so that the model does not begin anew.
//!
//! ```text
//! [Rounds 1 to 36 of this turn are not shown: read_file x 20, grep x 9, run x 7. They are done; their results are stored.]
//! ```
//!
//! It stands between the turn's user message and the rounds that stay, and is a function of where the window begins: within an epoch
//! it never changes. Epochs of renderer version 1 have none.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::escape::escape;
use super::framing::Framing;
use super::history::{History, Stored};
use super::message::{Message, Role};
use super::turns::opens_round;
use crate::Result;
use crate::tokens::Counter;

/// From this version of the renderer on the line is shown.
pub(super) const SINCE_RENDERER: u32 = 2;
/// The reserve for it.
pub(super) const TOKENS: u64 = 96;
/// Tools that are named.
const NAMED: usize = 5;
/// Characters of a tool's name.
const NAME_CHARACTERS: usize = 32;

/// The line for the messages that were left out; `None` where none of them opens a round, or the line would be longer than its place.
pub(super) fn line(history: &dyn History, left_out: Range<u64>, framing: &Framing, counter: &dyn Counter) -> Result<Option<Arc<Stored>>> {
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
    let text = format!("[{which} not shown{}. They are done; their results are stored.]", named(calls));
    let stored = Stored::new(Message::text(Role::User, &text), framing, counter);
    Ok((stored.cost.tokens <= TOKENS).then(|| Arc::new(stored)))
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
