//! What a prompt is made of: the snapshot that feeds it, what is pinned and retrieved, what is kept warm, the bounds of closed tokenizers.

pub(super) mod assemble;
pub(crate) mod bounds;
mod excerpt;
pub(super) mod pinned;
pub(super) mod recount;
pub(super) mod retrieved;
mod room;
pub(super) mod warm;
mod why;
