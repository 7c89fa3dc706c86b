//! Syncing the log beside the program. A relaxed commit returns at once, and the next one waits for what is left of its sync.
//!
//! The thread is made with the first relaxed commit, and ends with the log, so before a fork.

use std::fs::File;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::Place;
use crate::process::lock;

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
    /// A sync is asked for, or under way, of all that stands before this place.
    asked: Option<Place>,
    /// One is over, and nobody has waited for it.
    over: Option<Synced>,
    ends: bool,
}

/// A sync that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Synced {
    /// All that stands before this place is on disk. Another process may have written behind it.
    Upto(Place),
    /// The system refused, and has forgotten what it had still to write: another sync would say that all is well.
    Failed,
}

impl Syncer {
    /// None where the system gives no thread: the next writer syncs then.
    pub fn new(file: &File) -> Option<Self> {
        let (shared, file) = (Arc::new(Shared::default()), file.try_clone().ok()?);
        let own = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("memspan-log".into()).spawn(move || own.run(&file)).ok()?;
        Some(Self { shared, thread: Some(thread) })
    }

    /// Asks for a sync of what was written, before `place`.
    pub fn ask(&self, place: Place) {
        lock(&self.shared.state).asked = Some(place);
        self.shared.changed.notify_all();
    }

    /// Waits for the sync that was asked for since the last wait; none where none was.
    pub fn wait(&self) -> Option<Synced> {
        let mut state = lock(&self.shared.state);
        while state.asked.is_some() {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.over.take()
    }
}

impl Shared {
    fn run(&self, file: &File) {
        let mut state = lock(&self.state);
        loop {
            if let Some(place) = state.asked {
                drop(state);
                let synced = file.sync_data();
                state = lock(&self.state);
                state.asked = None;
                state.over = Some(if synced.is_ok() { Synced::Upto(place) } else { Synced::Failed });
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
