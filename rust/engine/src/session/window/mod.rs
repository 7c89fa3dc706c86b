//! The parts of a prompt: the snapshot that feeds it, pinned and retrieved texts, the cache of the process, the bounds of closed
//! tokenizers.

pub(super) mod answered;
pub(super) mod assemble;
pub(crate) mod bounds;
mod called;
pub(in crate::session) mod epochs;
mod excerpt;
mod failures;
pub(super) mod fixed;
mod followed;
pub(super) mod goes_on;
mod of_time;
pub(super) mod pinned;
mod recalled;
pub(super) mod recount;
pub(super) mod replaced;
pub mod request;
pub(super) mod retrieved;
mod room;
pub(super) mod warm;
mod why;
