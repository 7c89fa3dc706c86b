//! The last way to make the newest round fit: its results, which no model has seen yet, are shortened further.
//!
//! All are held to one number of tokens, the highest at which they fit together, so that a short result is not cut to make
//! room for a long one.

use std::iter::successors;
use std::sync::Arc;

use super::escape::{escape, unescape};
use super::framing::Framing;
use super::history::Stored;
use super::message::Part;
use super::shorten::{Between, LEAST_TOKENS, shorten};
use crate::tokens::Counter;

/// Shortens the results in `messages` so that together they lose at least `over` tokens; `None` if that cannot be.
pub(super) fn squeeze(messages: &[Arc<Stored>], over: u64, framing: &Framing, counter: &dyn Counter) -> Option<Vec<Arc<Stored>>> {
    let texts: Vec<u64> = messages.iter().flat_map(|stored| result_texts(stored)).map(|text| counter.count(text)).collect();
    let target = texts.iter().sum::<u64>().checked_sub(over)?;
    let cap = cap(&texts, target)?;
    let squeezed = messages.iter().map(|stored| shortened(stored, cap, framing, counter)).collect::<Option<Vec<_>>>()?;
    let before: u64 = messages.iter().map(|stored| stored.cost.tokens).sum();
    let after: u64 = squeezed.iter().map(|stored| stored.cost.tokens).sum();
    (after + over <= before).then_some(squeezed)
}

/// The most tokens that [`squeeze`] takes off messages.
pub(super) fn most_saved(messages: &[Arc<Stored>], framing: &Framing, counter: &dyn Counter) -> u64 {
    let texts: Vec<u64> = messages.iter().flat_map(|stored| result_texts(stored)).map(|text| counter.count(text)).collect();
    let saved = |cap: u64| {
        let mut saved = 0;
        for stored in messages {
            saved += stored.cost.tokens.saturating_sub(shortened(stored, cap, framing, counter)?.cost.tokens);
        }
        Some(saved.min(texts.iter().map(|tokens| tokens.saturating_sub(cap)).sum()))
    };
    let longest = texts.iter().copied().max().unwrap_or_default();
    // A marker may take more than the least.
    successors(Some(LEAST_TOKENS), |cap| Some(cap * 2)).take_while(|cap| *cap < longest).find_map(saved).unwrap_or_default()
}

fn result_texts(stored: &Stored) -> impl Iterator<Item = &str> {
    let parts = stored.message.tool_results().flat_map(|result| &result.parts);
    parts.filter_map(|part| if let Part::Text(text) = part { Some(&**text) } else { None })
}

/// The highest cap at which the texts together are within `target`.
fn cap(texts: &[u64], target: u64) -> Option<u64> {
    let sum = |cap: u64| texts.iter().map(|tokens| (*tokens).min(cap)).sum::<u64>();
    let (mut low, mut high) = (LEAST_TOKENS, texts.iter().copied().max()?.max(LEAST_TOKENS));
    if sum(low) > target {
        return None;
    }
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if sum(middle) <= target { low = middle } else { high = middle - 1 }
    }
    Some(low)
}

fn shortened(stored: &Arc<Stored>, cap: u64, framing: &Framing, counter: &dyn Counter) -> Option<Arc<Stored>> {
    if result_texts(stored).all(|text| counter.count_within(text, cap).is_some()) {
        return Some(Arc::clone(stored));
    }
    let mut message = stored.message.clone();
    for part in &mut message.parts {
        let Part::ToolResult(result) = part else { continue };
        let key = result.key.clone();
        for inner in &mut result.parts {
            let Part::Text(text) = inner else { continue };
            if counter.count_within(text, cap).is_none() {
                *text = escape(&shorten(&unescape(text), key.as_deref(), cap, counter, Between::Characters)?.text).into();
            }
        }
    }
    let (cost, digest) = (framing.message(&message, counter), message.digest());
    Some(Arc::new(Stored { message, cost, digest }))
}
