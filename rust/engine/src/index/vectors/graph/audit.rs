//! A graph as the doctor sees it: every vector that the set has is in it or known not to be, and nothing else is.

use std::collections::BTreeSet;

use super::super::VectorSet;
use super::search::Graph;
use crate::Result;
use crate::store::envelope::damaged;
use crate::store::keys::Table;
use crate::store::pages::Pages;

impl VectorSet {
    /// Reads the whole segment in use; `numbers` are those that have a vector, ascending. Returns its nodes.
    ///
    /// Damage: a value that does not match its checksum or holds links to nowhere, a node whose codes are not those of its memory's
    /// block and of which nothing says that they are stale, a vector that is neither a node, nor noted as changed, nor newer.
    pub fn audit_graph<P: Pages + ?Sized>(&self, pages: &P, numbers: &[u32]) -> Result<u64> {
        let Some(in_use) = self.graph_catalog(pages)?.and_then(|catalog| catalog.in_use) else { return Ok(0) };
        let (segment, changes) = (self.open_segment(pages, &in_use)?, self.graph_changes(pages, in_use.segment)?);
        let at = self.segment_key(Table::GraphNodes, in_use.segment);
        let wrong = |what: String| Err(damaged(at.as_slice(), &what));
        let mut known: BTreeSet<u32> = changes.live().collect();
        if let Some(number) = known.iter().find(|number| numbers.binary_search(number).is_err()) {
            return wrong(format!("memory {number} is noted as changed and has no vector"));
        }
        for id in 0..in_use.nodes {
            let node = segment.node(id)?;
            let number = segment.shape.number(node);
            if changes.is_stale(number) {
                continue;
            }
            if number > in_use.last || !known.insert(number) {
                return wrong(format!("memory {number} is in it twice, or newer than it"));
            }
            if !self.stands_in_block(pages, number, segment.shape.scale(node), &segment.shape.codes(node)[..self.dims])? {
                return wrong(format!("its codes of memory {number} are not those of the block, and nothing says that they changed"));
            }
        }
        for (layer, &count) in in_use.layers.iter().enumerate() {
            (0..count).try_for_each(|id| segment.upper(layer + 1, id).map(|_| ()))?;
        }
        match numbers.iter().find(|number| **number <= in_use.last && !known.contains(number)) {
            Some(number) => wrong(format!("memory {number} has a vector that it does not know, so that no search finds it")),
            None => Ok(u64::from(in_use.nodes)),
        }
    }

    fn stands_in_block<P: Pages + ?Sized>(&self, pages: &P, number: u32, scale: [u8; 4], codes: &[u8]) -> Result<bool> {
        let Some((key, value)) = pages.floor(self.block_key(number).as_slice())?.filter(|(key, _)| self.first_of(key).is_some()) else {
            return Ok(false);
        };
        let same =
            |entry: super::super::block::Entry<'_>| entry.number == number && entry.scale.to_le_bytes() == scale && entry.row == codes;
        Ok(self.open_block(key, value)?.entries().any(same))
    }
}
