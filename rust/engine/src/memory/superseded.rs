//! The messages that taught what was superseded since.
//!
//! A prompt that shows such a message marks it, whether or not the question finds what took the place of its memory. No table has memories by
//! their messages. So the ended ones of a scope are read once for each state of it, and the engine keeps what it found.

use std::collections::BTreeMap;
use std::ops::ControlFlow::Continue;
use std::sync::Arc;

use super::record::{self, State};
use crate::Result;
use crate::process::Shared;
use crate::scope::Head;
use crate::store::keys::Partition;
use crate::store::pages::Pages;

/// The numbers of superseded memories by the session and the message that taught them. Some of them may be forgotten by now.
pub(crate) type ByMessage = BTreeMap<(Box<str>, u64), Vec<u32>>;

/// Scopes of which it is kept: when there are more, all are found out anew.
const KEPT: usize = 256;

/// The superseded memories of each scope, beside the place of the last write at which they were found.
#[derive(Debug, Default)]
pub(super) struct Superseded(Shared<BTreeMap<Partition, (u64, Arc<ByMessage>)>>);

impl Superseded {
    /// The memories that are kept of a scope whose last write has that place.
    pub fn kept(&self, partition: Partition, sequence: u64) -> Option<Arc<ByMessage>> {
        self.0.with(|kept| kept.get(&partition).filter(|(known, _)| *known == sequence).map(|(_, found)| Arc::clone(found)))
    }

    /// Keeps what was found.
    pub fn keep(&self, partition: Partition, sequence: u64, found: &Arc<ByMessage>) {
        self.0.with(|kept| {
            if kept.len() >= KEPT && !kept.contains_key(&partition) {
                kept.clear();
            }
            kept.insert(partition, (sequence, Arc::clone(found)));
        });
    }
}

/// The place of the last write of a scope.
pub(super) fn sequence<P: Pages + ?Sized>(pages: &P, partition: Partition) -> Result<u64> {
    Ok(Head::read(pages, partition)?.sequence)
}

/// The superseded memories of a scope. Reads all that ended.
pub(super) fn read<P: Pages + ?Sized>(pages: &P, partition: Partition) -> Result<ByMessage> {
    let mut found = ByMessage::new();
    record::each_ended(pages, partition, &mut |memory| {
        if memory.state() == State::Superseded
            && let Some((session, message)) = memory.provenance.session.zip(memory.provenance.message)
        {
            found.entry((session.into(), message)).or_default().push(memory.number);
        }
        Continue(())
    })?;
    Ok(found)
}
