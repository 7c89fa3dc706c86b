//! The sessions of a scope together: which there are, what was said in them.

use super::place::{Place, SessionsHead};
use super::record::{SessionRecord, SessionState};
use super::session::{StoredMessage, stored_message};
use super::words;
use crate::Result;
use crate::memory::{Engine, Scope};

/// A session in a list.
#[derive(Debug, Clone)]
pub struct Listed {
    /// Its number: the list goes on behind it.
    pub number: u32,
    /// What is known of it.
    pub record: SessionRecord,
}

/// A message that was found by its words.
#[derive(Debug, Clone)]
pub struct TranscriptHit {
    /// The session.
    pub session_id: String,
    /// The message.
    pub message: StoredMessage,
    /// In units of 2^-32.
    pub score: i64,
}

/// Sessions behind number `after`, in the order in which they were made; at most `limit`.
pub fn list(engine: &Engine, scope: &Scope, after: u32, limit: usize) -> Result<Vec<Listed>> {
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

/// The messages of a scope's sessions that have words of the question, best first.
pub fn search(engine: &Engine, scope: &Scope, question: &str, limit: usize) -> Result<Vec<TranscriptHit>> {
    engine.store().read(|pages| {
        let Some(partition) = scope.find(pages)? else { return Ok(Vec::new()) };
        let mut hits = Vec::new();
        for found in words::search(pages, partition, scope.term_seed(), question, limit)? {
            let Some(record) = SessionRecord::read(pages, found.place)? else { continue };
            if record.state == SessionState::Hidden {
                continue; // being deleted: its words go step by step
            }
            let message = stored_message(pages, found.place, found.index)?;
            hits.push(TranscriptHit { session_id: record.id, message, score: found.score });
        }
        Ok(hits)
    })
}
