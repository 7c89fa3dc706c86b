//! Values of a process that belong to no store, whole in the child of a fork too.
//!
//! A fork copies memory and one thread. A value that another thread was making, or had locked, would stay so in the child for ever.

mod forks;
mod once;

pub use forks::{Dear, Renewable, Shared, install, lock};
pub use once::{Lazy, Once};
