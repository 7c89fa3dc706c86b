//! The sessions of a scope together: which there are. What was said in them is found by [`super::search`].

use super::place::{Place, SessionsHead};
use super::record::{SessionRecord, SessionState};
use crate::Result;
use crate::memory::Core;
use crate::scope::Scope;

/// A session in a list.
#[derive(Debug, Clone)]
pub struct Listed {
    /// Its number: the list goes on behind it.
    pub number: u32,
    /// What is known of it.
    pub record: SessionRecord,
}

/// Sessions behind number `after`, in the order in which they were made; at most `limit`.
pub fn list(engine: &Core, scope: &Scope, after: u32, limit: usize) -> Result<Vec<Listed>> {
    engine.store().read(|pages| {
        let Some(partition) = scope.find(pages)? else { return Ok(Vec::new()) };
        let last = SessionsHead::read(pages, partition)?.sessions;
        let mut found = Vec::new();
        for number in after.saturating_add(1)..=last {
            let record = SessionRecord::read(pages, Place { partition, session: number })?;
            if let Some(record) = record.filter(|record| record.state != SessionState::Hidden) {
                found.push(Listed { number, record });
            }
            if found.len() == limit {
                break;
            }
        }
        Ok(found)
    })
}
