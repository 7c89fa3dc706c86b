//! A call of many writes, such as `remember_many` of 10,000 rows, is several transactions. Where its scope is erased between two of them, the
//! next one must not make the scope anew.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering as Memory};

use crate::store::keys::{Partition, STORE};

/// The partition that a call of many writes has met first. Other calls note none. All are equal, since a scope is its name.
#[derive(Debug, Clone, Default)]
pub(super) struct Begun(Option<Arc<AtomicU32>>);

impl Begun {
    /// The mark of a call which begins now.
    pub fn now() -> Self {
        Self(Some(Arc::new(AtomicU32::new(STORE))))
    }

    /// Notes the partition that the scope has, if it is the first.
    pub fn note(&self, partition: Partition) {
        if let Some(first) = &self.0 {
            let _ = first.compare_exchange(STORE, partition, Memory::Relaxed, Memory::Relaxed);
        }
    }

    /// Notes the partition that the call gives it. The transaction may fail, and the next try gives it another one.
    pub fn made(&self, partition: Partition) {
        if let Some(first) = &self.0 {
            first.store(partition, Memory::Relaxed);
        }
    }

    /// The partition that was met.
    pub fn partition(&self) -> Option<Partition> {
        self.0.as_ref().map(|first| first.load(Memory::Relaxed)).filter(|partition| *partition != STORE)
    }
}

impl PartialEq for Begun {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Begun {}

impl PartialOrd for Begun {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Begun {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Equal
    }
}

impl Hash for Begun {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
