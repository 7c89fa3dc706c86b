//! Stores that lost values, and what a repair made of them.

use std::time::Duration;

use memspan_engine::engine::{Engine, mend};
use memspan_engine::store::pages::{Pages, PagesMut};
use memspan_engine::store::repair::Repaired;

use super::{Folder, open, values};

/// The keys of a store.
pub fn keys(engine: &Engine) -> Vec<Vec<u8>> {
    values(engine).into_iter().map(|(key, _)| key).collect()
}

/// Copies the store, loses `lost` of the copy, and repairs that.
pub fn repaired_without(source: &Engine, lost: &[Vec<u8>], saved: &Folder) -> Repaired {
    let damaged = Folder::in_memory();
    source.backup(&damaged.0).expect("copied");
    let engine = open(&damaged.0, true);
    let lost = lost.to_vec();
    engine
        .store()
        .write(Duration::from_secs(5), move |txn| {
            for key in &lost {
                let mut value = txn.get(key)?.expect("it is there").to_vec();
                value[4] ^= 1; // of its checksum
                txn.put(key, &value)?;
            }
            Ok(())
        })
        .expect("damaged");
    engine.close().expect("closed");
    mend::repair(&damaged.0, &saved.0, None, 9).expect("repaired")
}
