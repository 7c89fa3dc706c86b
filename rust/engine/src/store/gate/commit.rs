//! One group of writes, committed in the generation that is in use.

use std::time::Instant;

use super::{MOST_REOPENINGS, Opened, Store};
use crate::store::environment::{Environment, WriteTransaction};
use crate::store::folder::{GenerationNumber, is_of_descriptors};
use crate::store::group_commit::{Committer, Decision};
use crate::store::meta;
use crate::store::reserve::Reach;
use crate::{Error, ErrorKind, Result, interrupt};

impl Committer for Store {
    fn transact(&self, deadline: Instant, work: &mut dyn FnMut(&mut WriteTransaction<'_>) -> Decision) -> Result<()> {
        let mut reopened = 0;
        loop {
            let opened = self.opened(self.gate.get())?;
            let attempt = self.attempt(&opened, deadline, work);
            drop(opened);
            match attempt {
                Ok(Attempt::Done) => return Ok(()),
                Ok(Attempt::Retired(next)) => self.follow(next)?,
                Ok(Attempt::FoundRoom) => self.suspend(),
                Err(error) if error.kind() == ErrorKind::MapResized => self.adopt_map_size()?,
                // Told before anything was written.
                Err(error) if error.kind() == ErrorKind::FilesReplaced && reopened < MOST_REOPENINGS => {
                    self.suspend();
                    reopened += 1;
                }
                Err(error) => {
                    self.start_afresh(&error);
                    return Err(error);
                }
            }
        }
    }
}

impl Store {
    /// LMDB refuses every write after it failed to write a meta page, until the environment is opened anew. So the
    /// next call that needs it opens it anew after any failure of the disk. A process that may open nothing more keeps what it has open.
    pub(super) fn start_afresh(&self, error: &Error) {
        let is_of_disk = matches!(error.kind(), ErrorKind::StoreFull | ErrorKind::StoreIo | ErrorKind::OutcomeUnknown);
        if is_of_disk && !is_of_descriptors(error) {
            self.suspend();
        }
    }

    /// One transaction in the open generation.
    fn attempt(&self, opened: &Opened, deadline: Instant, work: &mut dyn FnMut(&mut WriteTransaction<'_>) -> Decision) -> Result<Attempt> {
        let environment = &opened.environment;
        let _guard = self.writer_lock(opened)?.acquire(deadline)?;
        loop {
            let mut txn = environment.write()?;
            // Not for the leader alone: others wait for what its caller may end.
            if let Some(next) = interrupt::never(|| meta::retired(&txn))? {
                return Ok(Attempt::Retired(next));
            }
            match work(&mut txn) {
                Decision::Again => {}
                Decision::Nothing => return Ok(Attempt::Done),
                Decision::Commit => return commit(environment, txn),
            }
        }
    }
}

/// The result of a transaction.
enum Attempt {
    Done,
    /// The generation was replaced by this one before it began.
    Retired(GenerationNumber),
    /// There was no room for its commit, and some was found since. The environment is to be opened anew before it is tried again.
    FoundRoom,
}

fn commit(environment: &Environment, txn: WriteTransaction<'_>) -> Result<Attempt> {
    let (id, reach) = (txn.id(), txn.reach());
    let Err(error) = txn.commit() else {
        let _ = environment.grow_ahead(|| None); // a full disk is told by the next commit that needs the room
        return Ok(Attempt::Done);
    };
    let error = outcome(environment, id, &error, AGAIN);
    let takes_all = error.kind() == ErrorKind::StoreFull && reach == Reach::Log;
    if takes_all && environment.give_room().unwrap_or(false) { Ok(Attempt::FoundRoom) } else { Err(error) }
}

/// The advice for a write of unknown outcome.
const AGAIN: &str = "read it back before writing it again, and give it an id so that a retry is harmless";

/// A failed commit: known not to have happened where the disk was full and it is not in the file, unknown where a sync failed. `next` says
/// what to do then.
pub(in crate::store) fn outcome(environment: &Environment, transaction: u64, error: &Error, next: &str) -> Error {
    let of_the_system = matches!(error.kind(), ErrorKind::StoreIo | ErrorKind::StoreFull | ErrorKind::ReadOnly);
    let may_show = of_the_system && environment.may_show(transaction);
    if !may_show && error.kind() != ErrorKind::StoreIo {
        return error.clone();
    }
    Error::new(
        ErrorKind::OutcomeUnknown,
        format!("{}; whether this write is on disk is unknown (generation {}): {next}", error.message(), environment.number()),
    )
    .with("outcome", "unknown")
}
