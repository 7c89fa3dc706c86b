//! What was said: messages on disk, what is too large for their records, the words they are found by, and how a prompt reads them.

pub(super) mod blob;
pub(super) mod message;
pub(super) mod view;
pub(super) mod words;
