//! The store on disk: the key space, the envelope of every value, the LMDB environment behind one gate.
//!
//! From the outside in: the rest of the engine holds a [`gate::Store`], which runs reads on a snapshot and hands writes
//! to [`group_commit`], which shares one sync among concurrent writers. [`folder`] knows the files of a store and its
//! generations, [`environment`] one generation, [`writer_lock`] and [`presence`] the two locks between processes.

pub mod changes;
pub mod chunks;
pub mod copy;
pub mod door;
pub mod envelope;
pub mod environment;
pub mod files;
pub mod folder;
pub mod fork;
pub mod gate;
mod generation;
pub mod group_commit;
pub mod identity;
pub mod keys;
pub mod load;
pub mod log;
pub mod meta;
pub mod meta_pages;
pub mod metrics;
pub mod migrate;
pub mod msgpack;
pub(crate) mod overlay;
pub mod pages;
pub mod prefetch;
pub mod presence;
pub mod progress;
pub mod read_lock;
pub mod repair;
pub mod reserve;
pub(crate) mod step;
pub mod tree;
pub mod vault;
pub mod verified;
pub mod waiting;
pub mod writer_lock;

pub use environment::{Snapshot, WriteTransaction};
pub use gate::{Durability, Store, StoreOptions};
