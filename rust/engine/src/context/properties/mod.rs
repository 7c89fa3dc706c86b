//! What must hold of every prompt, held against simulated sessions with hostile texts.

mod cache;
pub(crate) mod recount;
pub(super) mod session;
mod shapes;
mod tight;
