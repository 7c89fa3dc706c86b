//! What is on disk: the key space, the envelope of every value, the LMDB environment behind one gate.

pub mod envelope;
pub mod keys;
pub mod pages;
pub mod verified;
