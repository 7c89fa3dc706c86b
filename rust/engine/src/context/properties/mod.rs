//! Properties of every prompt, tested against simulated sessions with hostile texts.

mod cache;
pub(crate) mod recount;
mod servers;
pub(super) mod session;
mod shapes;
mod tight;
