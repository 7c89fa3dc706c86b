//! Questions that stay open: asked and not answered, or said to be open.
//!
//! The reply to a question closes it, unless it asks back, puts off or says that it does not know. A user's request to find something out
//! is closed by the reply that ends its turn (`requests.rs`). Text beside calls of tools tells what is done next: it neither asks nor
//! answers. A question that stayed open is closed by a later statement that shares half of what it is about. Not here: whether an answer
//! is right.

use std::collections::HashMap;

use super::cues::{asks, is_open, is_request};
use super::replies::is_failure;
use super::requests::{Requests, puts_off};
use super::rules::Unit;
use super::terms::Weights;
use super::units::sentences;
use crate::context::Role;
use crate::interrupt;

/// The share of a question's mass that a later statement must have to close it, in 1/256.
const CLOSES: i64 = 128;

/// Which units are questions that stay open, by place.
pub(super) fn open(units: &[Unit], statements: &Statements<'_>, weights: &Weights) -> Vec<bool> {
    let begins_open = |unit: &Unit| {
        interrupt::step();
        unit.spoken && !narrates(unit) && (unit.asks || is_open(&unit.text))
    };
    let mut open: Vec<bool> = units.iter().map(begins_open).collect();
    let mut requests = Requests::default();
    for (at, unit) in units.iter().enumerate() {
        interrupt::step();
        let is_settled = match (unit.asks, is_open(&unit.text)) {
            (true, false) => is_answered(units, at),
            _ => unit.role == Role::User && is_request(&unit.text) && requests.is_done(units, at, turn(units, at)),
        };
        if open[at] && is_settled {
            open[at] = false;
        }
        open[at] = open[at] && !statements.close(&unit.terms.all, at + 1, weights);
    }
    open
}

/// An assistant tells what it is about to do with its tools.
pub(super) fn narrates(unit: &Unit) -> bool {
    unit.calls && unit.role == Role::Assistant
}

/// The units between that of a place and the next message of the same role, without those of the same message.
fn turn(units: &[Unit], at: usize) -> &[Unit] {
    let asked = &units[at];
    let is_other = |unit: &Unit| !unit.spoken || unit.role != asked.role && unit.role != Role::System;
    let Some(begin) = units[at + 1..].iter().position(is_other) else { return &[] };
    let rest = &units[at + 1 + begin..];
    let end = rest.iter().position(|unit| unit.spoken && unit.role == asked.role).unwrap_or(rest.len());
    &rest[..end]
}

/// Whether the next one to speak answers.
fn is_answered(units: &[Unit], at: usize) -> bool {
    turn(units, at)
        .iter()
        .filter(|unit| unit.spoken && !narrates(unit))
        .any(|unit| states(unit) && !is_open(&unit.text) && !puts_off(&unit.text))
}

/// Whether something in a unit is a statement.
pub(super) fn states(unit: &Unit) -> bool {
    sentences(&unit.text).iter().any(|sentence| !asks(sentence) && sentence.chars().any(char::is_alphanumeric))
}

/// The units that state something, by their terms, so that each question is compared with few of them.
pub(super) struct Statements<'u> {
    units: &'u [Unit],
    /// The places of those that have a term, ascending.
    having: HashMap<u64, Vec<usize>>,
}

impl<'u> Statements<'u> {
    pub fn of(units: &'u [Unit]) -> Self {
        let answers = |unit: &Unit| {
            interrupt::step();
            unit.role != Role::System && !unit.asks && states(unit) && !is_open(&unit.text)
        };
        let mut having: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, unit) in units.iter().enumerate().filter(|(_, unit)| answers(unit)) {
            for term in &unit.terms.all {
                having.entry(*term).or_default().push(at);
            }
        }
        Self { units, having }
    }

    /// Whether one of the units from a place on says what was asked in `terms`.
    pub fn close(&self, terms: &[u64], from: usize, weights: &Weights) -> bool {
        let says = |at: &usize| {
            interrupt::step();
            let unit = &self.units[*at];
            weights.shared(terms, &unit.terms.all) >= CLOSES && !is_failure(&unit.text)
        };
        let places = |term: &u64| self.having.get(term).map_or(&[][..], |places| &places[places.partition_point(|at| *at < from)..]);
        weights.rarest(terms, CLOSES).iter().any(|term| places(term).iter().any(says))
    }
}
