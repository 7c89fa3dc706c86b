//! How much of a partition that goes one transaction removes.

use std::ops::ControlFlow;

use super::keys::{Key, Table};
use crate::Result;

/// Values that one transaction removes.
const VALUES: usize = 1024;
/// The count of one graph value among them: it has up to 2 MiB.
const GRAPH_VALUE: usize = VALUES / 8;

/// The values that one transaction removes, gathered by a scan.
#[derive(Default)]
pub(crate) struct Step {
    pub keys: Vec<Key>,
    counted: usize,
}

impl Step {
    /// Takes one more value, and says whether there is room for another.
    pub fn take(&mut self, key: &[u8]) -> Result<ControlFlow<()>> {
        self.keys.push(Key::from_slice(key)?);
        let is_large = key.get(4).is_some_and(|table| [Table::GraphNodes as u8, Table::GraphUpper as u8].contains(table));
        self.counted += if is_large { GRAPH_VALUE } else { 1 };
        Ok(if self.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Whether more may be left for a next step.
    pub fn is_full(&self) -> bool {
        self.counted >= VALUES
    }
}
