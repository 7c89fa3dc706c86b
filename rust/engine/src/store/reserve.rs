//! Room that is kept for forgetting: on a full disk what makes room, or must be erased, is written all the same.
//!
//! The data file is grown ahead of its last page (`Environment::grow_ahead`). While that fails, ordinary writes are refused before
//! they begin; those that run under [`freeing`] may use what was grown before.

use std::cell::Cell;

thread_local! {
    static FREEING: Cell<bool> = const { Cell::new(false) };
}

/// Runs a call that takes something away: its writes may use the reserve.
pub fn freeing<T>(work: impl FnOnce() -> T) -> T {
    struct Ends(bool);
    impl Drop for Ends {
        fn drop(&mut self) {
            FREEING.set(self.0);
        }
    }
    let _ends = Ends(FREEING.replace(true));
    work()
}

/// Whether this thread runs such a call.
#[must_use]
pub fn is_freeing() -> bool {
    FREEING.get()
}
