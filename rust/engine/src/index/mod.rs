//! (being written)

pub mod vectors;
