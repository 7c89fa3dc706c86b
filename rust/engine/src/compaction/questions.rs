//! Questions that stay open: asked and not answered, or said to be open.
//!
//! The reply to a question closes it, unless it asks back or says that it does not know. A question that stayed open is closed by a
//! later statement that shares half of what it is about. Not here: whether an answer is right.

use super::cues::{asks, is_open};
use super::rules::Unit;
use super::terms::Weights;
use super::units::sentences;
use crate::context::Role;
use crate::interrupt;

/// The share of a question's mass that a later statement must have to close it, in 1/256.
const CLOSES: i64 = 128;

/// Which units are questions that stay open, by place.
pub(super) fn open(units: &[Unit], weights: &Weights) -> Vec<bool> {
    let begins_open = |unit: &Unit| {
        interrupt::step();
        unit.spoken && (unit.asks || is_open(&unit.text))
    };
    let mut open: Vec<bool> = units.iter().map(begins_open).collect();
    for (at, unit) in units.iter().enumerate() {
        interrupt::step();
        if open[at] && unit.asks && !is_open(&unit.text) && is_answered(units, at) {
            open[at] = false;
        }
        open[at] = open[at] && !is_closed(&unit.terms.all, &units[at + 1..], weights);
    }
    open
}

/// Whether the next one to speak answers.
fn is_answered(units: &[Unit], at: usize) -> bool {
    let asked = &units[at];
    let Some(reply) = units[at + 1..].iter().position(|unit| unit.spoken && unit.role != asked.role) else { return false };
    let reply = &units[at + 1 + reply..];
    let message = reply[0].index;
    reply.iter().take_while(|unit| unit.index == message).any(|unit| states(unit) && !is_open(&unit.text))
}

/// Whether something in a unit is a statement.
fn states(unit: &Unit) -> bool {
    sentences(&unit.text).iter().any(|sentence| !asks(sentence) && sentence.chars().any(char::is_alphanumeric))
}

/// Whether one of `later` says what was asked.
pub(super) fn is_closed(terms: &[u64], later: &[Unit], weights: &Weights) -> bool {
    let answers = |unit: &Unit| unit.role != Role::System && states(unit) && !unit.asks && !is_open(&unit.text);
    later.iter().any(|unit| {
        interrupt::step();
        answers(unit) && weights.shared(terms, &unit.terms.all) >= CLOSES
    })
}
