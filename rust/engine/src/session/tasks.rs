//! The calls of a session on its tasks (`Session::tasks`, `task`, `edit_task`): each is one transaction.
//!
//! Not here: the record of a task, its limits and its items in a prompt, which are in `task.rs`.

use super::record;
use super::session::Session;
use super::task::{self, TaskState};
use crate::Result;
use crate::store::identity::Seed;
use crate::store::pages::Pages;

/// A change to a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskEdit {
    /// Makes the task where there is none, and lets it live on.
    Touch,
    /// Sets a key to a value, which is JSON.
    Set(String, String),
    /// Takes a key out.
    Remove(String),
}

impl Session<'_> {
    /// The tasks that live, by name.
    pub fn tasks(&self, now: i64) -> Result<Vec<TaskState>> {
        let place = self.status()?.place;
        self.engine.store().read(|pages| task::list(pages, place.partition, place.session, now))
    }

    /// A task, where it lives.
    pub fn task(&self, name: &str, now: i64) -> Result<Option<TaskState>> {
        let (place, seed) = (self.status()?.place, self.scope.seed(self.engine.store().secret()));
        self.engine.store().read(|pages| live(pages, place.partition, place.session, seed, name, now))
    }

    /// Changes a task, which lives until `expires_at` then; `false` where its version is not the one expected, and nothing is written.
    pub fn edit_task(&self, name: &str, edit: TaskEdit, expires_at: Option<i64>, version: Option<u64>, now: i64) -> Result<bool> {
        let (place, seed, name, id) =
            (self.status()?.place, self.scope.seed(self.engine.store().secret()), name.to_owned(), self.id.to_owned());
        self.engine.write(move |txn| {
            let record = record::SessionRecord::read(&*txn, place)?.ok_or_else(|| record::no_such_session(&id))?;
            record.check_live("changing a task")?;
            task::expire(txn, place.partition, place.session, now)?;
            let mut state = live(&*txn, place.partition, place.session, seed, &name, now)?.unwrap_or_else(|| new(&name));
            if version.is_some_and(|version| version != state.version) {
                return Ok(false);
            }
            match &edit {
                TaskEdit::Touch => {}
                TaskEdit::Set(key, value) => state.set(key, value),
                TaskEdit::Remove(key) => state.entries.retain(|(known, _)| known != key),
            }
            (state.version, state.expires_at) = (state.version + 1, expires_at);
            state.validate()?;
            task::put(txn, place.partition, place.session, seed, &state)?;
            Ok(true)
        })
    }

    /// Clears a task; `false` where there was none.
    pub fn clear_task(&self, name: &str) -> Result<bool> {
        let (place, seed, name) = (self.status()?.place, self.scope.seed(self.engine.store().secret()), name.to_owned());
        self.engine.write(move |txn| task::remove(txn, place.partition, place.session, seed, &name))
    }
}

fn new(name: &str) -> TaskState {
    TaskState { name: name.to_owned(), expires_at: None, version: 0, entries: Vec::new() }
}

fn live<P: Pages>(pages: &P, partition: u32, session: u32, seed: Seed, name: &str, now: i64) -> Result<Option<TaskState>> {
    Ok(task::get(pages, partition, session, seed, name)?.filter(|state| !state.is_expired(now)))
}
