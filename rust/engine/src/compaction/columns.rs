//! Columns of a tool's result: "crate-01f2", "crate-9ac0", ... Values of one shape of which a result has very many are its data, and a
//! summary that lists them has no room for what somebody looked for.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::Xxh3Default;

use super::rules::Unit;
use crate::interrupt;
use crate::text::exact_identifiers;

/// Different identifiers of one shape that a result may have before they are a column.
const MOST_ALIKE: usize = 24;

/// The columns of the results among some units.
#[derive(Default)]
pub(super) struct Columns(HashSet<(u64, u64)>);

impl Columns {
    pub fn of(units: &[Unit]) -> Self {
        let mut alike: HashMap<(u64, u64), HashSet<&str>> = HashMap::new();
        for unit in units.iter().filter(|unit| !unit.spoken) {
            interrupt::step();
            exact_identifiers(&unit.text, |range| {
                let identifier = &unit.text[range];
                if is_number(identifier) {
                    return;
                }
                alike.entry((unit.index, shape(identifier))).or_default().insert(identifier);
            });
        }
        Self(alike.into_iter().filter(|(_, values)| values.len() > MOST_ALIKE).map(|(column, _)| column).collect())
    }

    /// Whether an identifier of a unit stands in one.
    pub fn have(&self, unit: &Unit, identifier: &str) -> bool {
        !unit.spoken && !self.0.is_empty() && !is_number(identifier) && self.0.contains(&(unit.index, shape(identifier)))
    }
}

/// Bare numbers are counted by a rule of their own.
fn is_number(identifier: &str) -> bool {
    identifier.bytes().all(|byte| byte.is_ascii_digit())
}

/// Equal of identifiers that differ in the parts with a digit alone: "crate-01f2" and "crate-9ac0", "/v1/orders/25" and "/v1/orders/26".
fn shape(identifier: &str) -> u64 {
    let mut hasher = Xxh3Default::new();
    let part_of = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    let mut rest = identifier.as_bytes();
    while let Some(first) = rest.first() {
        let length = if part_of(first) { rest.iter().take_while(|byte| part_of(byte)).count() } else { 1 };
        let (part, behind) = rest.split_at(length);
        hasher.update(if part.iter().any(u8::is_ascii_digit) { b"0" } else { part });
        rest = behind;
    }
    hasher.digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_leaves_out_what_counts() {
        for (one, other) in
            [("crate-01f2", "crate-9ac0"), ("/v1/orders/25", "/v1/orders/1026"), ("reg/svc-7:1.7", "reg/svc-12:1.12"), ("0.3s", "12.9s")]
        {
            assert_eq!(shape(one), shape(other), "{one} {other}");
        }
        for (one, other) in [("crate-01f2", "host-01f2"), ("/v1/orders/25", "/v1/users/25"), ("v1", "v1.2"), ("ERROR", "WARN")] {
            assert_ne!(shape(one), shape(other), "{one} {other}");
        }
    }
}
