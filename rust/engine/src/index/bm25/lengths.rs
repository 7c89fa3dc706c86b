//! The interface to document lengths for scoring and merging, wherever the lengths are stored.

use crate::Result;

/// The lengths of documents.
pub(super) trait Lengths {
    /// The length of a document as it will be once what is being written is written.
    fn length(&mut self, number: u32) -> Result<u32>;

    /// The length of a document that postings in the blocks name.
    fn stored_length(&mut self, number: u32) -> Result<u32>;

    /// Fills in the lengths of `numbers`, which ascend, or says that one is too long for that.
    fn stored_lengths(&mut self, numbers: &[u32], out: &mut [u16]) -> Result<bool>;
}
