//! The messages that taught what was superseded since.
//!
//! A prompt that shows such a message marks it, whether or not the question finds what took the place of its memory. No table has memories by
//! their messages. So the ended ones of a scope are read when one more of them ended, and the engine keeps what it found.

use std::collections::BTreeMap;
use std::ops::ControlFlow::Continue;
use std::sync::Arc;

use super::record::{self, State};
use crate::Result;
use crate::process::Shared;
use crate::scope::Head;
use crate::store::keys::Partition;
use crate::store::msgpack::Reader;
use crate::store::pages::Pages;

/// The numbers of superseded memories by the session and the message that taught them. Some of them may be forgotten by now.
pub(crate) type ByMessage = BTreeMap<(Box<str>, u64), Vec<u32>>;

/// Scopes of which it is kept: when there are more, all are found out anew.
const KEPT: usize = 256;

/// The superseded memories of each scope, beside how many numbers of it were of no current memory when they were found.
#[derive(Debug, Default)]
pub(super) struct Superseded(Shared<BTreeMap<Partition, (u64, Arc<ByMessage>)>>);

impl Superseded {
    /// The memories that are kept of a scope of which so many numbers are of no current memory.
    pub fn kept(&self, partition: Partition, ended: u64) -> Option<Arc<ByMessage>> {
        self.0.with(|kept| kept.get(&partition).filter(|(known, _)| *known == ended).map(|(_, found)| Arc::clone(found)))
    }

    /// Keeps what was found.
    pub fn keep(&self, partition: Partition, ended: u64, found: &Arc<ByMessage>) {
        self.0.with(|kept| {
            if kept.len() >= KEPT && !kept.contains_key(&partition) {
                kept.clear();
            }
            kept.insert(partition, (ended, Arc::clone(found)));
        });
    }
}

/// How many numbers of a scope are of no current memory. A memory that ends makes it one more, and nothing makes it less: each new memory
/// has a number of its own. So nothing was superseded as long as it stays.
pub(super) fn ended<P: Pages + ?Sized>(pages: &P, partition: Partition) -> Result<u64> {
    let head = Head::read(pages, partition)?;
    Ok(u64::from(head.next_number).saturating_sub(head.documents))
}

/// The superseded memories of a scope. Reads all that ended.
pub(super) fn read<P: Pages + ?Sized>(pages: &P, partition: Partition) -> Result<ByMessage> {
    let mut found = ByMessage::new();
    record::each_ended_body(pages, partition, &mut |key, number, body| {
        if let Some((session, message)) = taught_by(key, body)? {
            found.entry((session.into(), message)).or_default().push(number);
        }
        Ok(Continue(()))
    })?;
    Ok(found)
}

/// The session and the message that taught a superseded memory, read from its body where it lies; `encode` of a memory has its fields.
fn taught_by<'b>(key: &'b [u8], body: &'b [u8]) -> Result<Option<(&'b str, u64)>> {
    let mut r = Reader::array(key, body)?;
    r.pass(17)?; // all before its state
    if r.uint()? != State::Superseded as u64 {
        return Ok(None);
    }
    r.pass(4)?; // the rest of its ending
    let (session, message) = (r.maybe_text()?, r.maybe_int()?);
    Ok(session.zip(message.map(|message| message as u64)))
}
