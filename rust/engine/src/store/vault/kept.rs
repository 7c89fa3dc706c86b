//! The decrypted values that a snapshot or transaction has handed out: they stay until it ends. One who goes through a whole store looks at
//! each value without having it handed out ([`super::Vault::show`]).

use std::sync::{Arc, Mutex, PoisonError};

use super::cache::Plain;

/// Values that somebody may still look at.
#[derive(Debug, Default)]
pub struct Kept(Mutex<Vec<Arc<Plain>>>);

/// Above so many a transaction forgets them at its next write.
const MANY: usize = 1024;

impl Kept {
    /// Keeps a value; its bytes.
    pub fn keep(&self, plain: Arc<Plain>) -> &[u8] {
        let bytes: *const [u8] = plain.value.bytes();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(plain);
        // SAFETY: the bytes belong to the value behind the Arc and move with nothing. It is let go of by `let_go`, which needs an exclusive
        // borrow and so ends all that were handed out, or with `self`. Nobody writes to a value that is behind an Arc.
        unsafe { &*bytes }
    }

    /// How many there are.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Lets go of them where they are many: nobody looks at one any more, since the borrow is exclusive.
    pub fn let_go(&mut self) {
        let kept = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if kept.len() > MANY {
            kept.clear();
        }
    }
}
