//! Syncing the log beside the program. A relaxed commit returns at once, and the next one waits for what is left of its sync.
//!
//! The thread is made with the first relaxed commit, and ends with the log, so before a fork.

use std::fs::File;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::store::fork::lock;

/// A thread that syncs a file when it is asked to.
#[derive(Debug)]
pub(super) struct Syncer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// A sync is asked for, or under way.
    is_asked: bool,
    /// One was done, and nobody has waited for it.
    is_done: bool,
    ends: bool,
}

impl Syncer {
    /// None where the system gives no thread: the next writer syncs then.
    pub fn new(file: &File) -> Option<Self> {
        let (shared, file) = (Arc::new(Shared::default()), file.try_clone().ok()?);
        let own = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("memspan-log".into()).spawn(move || own.run(&file)).ok()?;
        Some(Self { shared, thread: Some(thread) })
    }

    /// Asks for a sync of what was written.
    pub fn ask(&self) {
        lock(&self.shared.state).is_asked = true;
        self.shared.changed.notify_all();
    }

    /// Waits for the sync that was asked for since the last wait; `false` where none was, or it failed.
    pub fn wait(&self) -> bool {
        let mut state = lock(&self.shared.state);
        while state.is_asked {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::take(&mut state.is_done)
    }
}

impl Shared {
    fn run(&self, file: &File) {
        let mut state = lock(&self.state);
        loop {
            if state.is_asked {
                drop(state);
                let synced = file.sync_data();
                state = lock(&self.state);
                state.is_asked = false;
                state.is_done = synced.is_ok();
                self.changed.notify_all();
            } else if state.ends {
                return;
            } else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        lock(&self.shared.state).ends = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
