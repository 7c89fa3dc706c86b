//! Taking a whole set away, a bounded step at a time: each step leaves a set without contradictions.

use std::ops::ControlFlow;

use super::VectorSet;
use crate::Result;
use crate::store::pages::PagesMut;

impl VectorSet {
    /// Removes some values of the set's graph, or at most `blocks` blocks with their exact vectors; whether any are left.
    pub fn clear_some<P: PagesMut + ?Sized>(&self, pages: &mut P, blocks: usize) -> Result<bool> {
        if self.is_exact() && self.clear_graph(pages)? {
            return Ok(true);
        }
        let range = self.blocks().prefix_range();
        let (mut keys, mut numbers, mut left) = (Vec::new(), Vec::new(), false);
        pages.scan(&range.start, &range.end, &mut |key, value| {
            left = keys.len() == blocks;
            if left {
                return Ok(ControlFlow::Break(()));
            }
            numbers.extend(self.open_block(key, value)?.entries().map(|entry| entry.number));
            keys.push(key.to_vec());
            Ok(ControlFlow::Continue(()))
        })?;
        keys.iter().try_for_each(|key| pages.delete(key).map(drop))?;
        if self.is_exact() {
            numbers.into_iter().try_for_each(|number| self.delete_exact(pages, number))?;
            if !left {
                self.forget_graph(pages)?;
            }
        }
        Ok(left)
    }
}
