//! The transcript: messages on disk, blobs for data too large for their records, their index, and the view that a prompt reads.

pub(super) mod blob;
pub(super) mod message;
pub(super) mod view;
pub(super) mod words;
