//! The core of sessions: an open store, and the cached parts of its sessions that this process has read.

use std::ops::Deref;
use std::sync::atomic::AtomicUsize;

use super::window::warm::WarmSessions;
use crate::memory::Core;

/// The core, and the cached parts of its sessions.
#[derive(Debug)]
pub struct SessionCore {
    core: Core,
    warm: WarmSessions,
    /// As of which opening of the store's files.
    warm_of: AtomicUsize,
}

impl SessionCore {
    /// A core with nothing read of its sessions yet.
    #[must_use]
    pub fn new(core: Core) -> Self {
        Self { core, warm: WarmSessions::default(), warm_of: AtomicUsize::default() }
    }

    /// The core, to be set up before it is shared.
    pub fn core_mut(&mut self) -> &mut Core {
        &mut self.core
    }

    /// Drops what this process has read of its sessions: some of it was erased.
    pub(crate) fn forget_warm(&self) {
        self.core.store().unforked(|| self.warm.forget());
    }

    /// The cached parts of its sessions that this process has read.
    pub(super) fn warm(&self) -> &WarmSessions {
        if self.core.store().is_reopened(&self.warm_of) {
            self.warm.forget();
        }
        &self.warm
    }
}

/// A caller that takes a core takes this, too.
impl Deref for SessionCore {
    type Target = Core;

    fn deref(&self) -> &Core {
        &self.core
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::memory::core::EngineOptions;
    use crate::store::{Durability, copy};

    #[test]
    fn what_is_kept_of_texts_goes_when_the_files_are_opened_anew() {
        let folder = std::env::temp_dir().join(format!("memspan-kept-{}", std::process::id()));
        let busy_timeout = Duration::from_secs(5);
        let options = EngineOptions { durability: Durability::Relaxed, read_only: false, busy_timeout, embedding: None, now: 1 };
        let core = SessionCore::new(Core::open(&folder, options).unwrap());
        core.warm().put(7, std::sync::Arc::default());
        let first = core.warm().get(7);
        assert!(std::sync::Arc::ptr_eq(&core.warm().get(7), &first), "it is kept");
        copy::compact(core.store(), busy_timeout).unwrap();
        core.store().read(|_| Ok(())).unwrap();
        assert!(!std::sync::Arc::ptr_eq(&core.warm().get(7), &first));
        core.close().unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
