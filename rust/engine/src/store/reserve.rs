//! Room that is kept for forgetting: on a full disk what makes room, or must be erased, is written all the same.
//!
//! The data file is grown ahead of its last page (`Environment::grow_ahead`). While that fails, ordinary writes are refused before
//! they begin; those that run under [`freeing`] may use what was grown before.
//!
//! That alone is not enough. The pages that a commit frees serve the next but one, so the commit behind one that took the last of the
//! room has little to write to, and as long as it fails no page becomes free. So there is a second reserve, which LMDB cannot take by itself:
//! the pages of the log, which give way to a commit that cannot be made smaller.

use std::cell::Cell;

/// How far a write may reach into the room that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Not at all: it adds something.
    Nothing,
    /// To what the data file was grown by.
    Grown,
    /// To the pages of the log, too.
    Log,
}

thread_local! {
    static REACH: Cell<Reach> = const { Cell::new(Reach::Nothing) };
}

/// Runs a call that takes something away: its writes may use all that is kept.
pub fn freeing<T>(work: impl FnOnce() -> T) -> T {
    reaching(Reach::Log, work)
}

/// Runs a part of such a call that can be made in smaller parts: its writes leave the log alone.
pub fn in_part<T>(work: impl FnOnce() -> T) -> T {
    reaching(REACH.get().min(Reach::Grown), work)
}

fn reaching<T>(reach: Reach, work: impl FnOnce() -> T) -> T {
    struct Ends(Reach);
    impl Drop for Ends {
        fn drop(&mut self) {
            REACH.set(self.0);
        }
    }
    let _ends = Ends(REACH.replace(reach));
    work()
}

/// How far the writes of this thread may reach.
#[must_use]
pub fn reach() -> Reach {
    REACH.get()
}
