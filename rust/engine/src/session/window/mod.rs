//! What a prompt is made of: the snapshot that feeds it, what is pinned and retrieved, what is kept warm, the bounds of closed tokenizers.

pub(super) mod assemble;
pub(crate) mod bounds;
pub(in crate::session) mod epochs;
mod excerpt;
pub(super) mod fixed;
pub(super) mod pinned;
pub(super) mod recount;
pub mod request;
pub(super) mod retrieved;
mod room;
pub(super) mod warm;
mod why;
