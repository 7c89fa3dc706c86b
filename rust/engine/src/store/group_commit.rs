//! Many writers, one sync: concurrent writes of a process share a transaction.
//!
//! The first writer to come leads: it takes the writer lock, runs its own operation and those that queue behind it, commits
//! once, and hands every writer its outcome. While it waits for the disk the next group gathers; its first becomes
//! the next leader. There is no background thread. An operation may run twice (when another of its group fails after it
//! has written something, the group is undone and run again without that one), so it must take nothing but from the transaction.
//!
//! A write gives up only while it queues; once it is taken, it waits for its outcome.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::environment::WriteTransaction;
use super::metrics::{Metrics, add};
use crate::process::lock;
use crate::{Error, ErrorKind, Result, interrupt};

/// How long a group gathers work before it commits: no write transaction should last longer than about 20 ms.
const GATHER: Duration = Duration::from_millis(10);

/// One write: runs inside a transaction, perhaps more than once, and leaves its result where its caller looks.
pub type Operation = Box<dyn FnMut(&mut WriteTransaction<'_>) -> Result<()> + Send>;

/// Where a group gets its transaction from: the gate.
pub trait Committer {
    /// Runs `work` in one write transaction under the writer lock and commits it if it says so.
    fn transact(&self, deadline: Instant, work: &mut dyn FnMut(&mut WriteTransaction<'_>) -> Decision) -> Result<()>;
}

/// The outcome of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Something was written and all of it is whole.
    Commit,
    /// Nothing was written.
    Nothing,
    /// Something half done is in it: undo it and call again.
    Again,
}

/// The writers of one store in one process.
#[derive(Debug, Default)]
pub struct GroupCommit {
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    led: bool,
    waiting: VecDeque<Arc<Ticket>>,
}

struct Ticket {
    state: Mutex<State>,
    changed: Condvar,
}

impl std::fmt::Debug for Ticket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ticket")
    }
}

enum State {
    Queued(Operation),
    Leader(Operation),
    Taken,
    Done(Result<()>),
    GivenUp,
}

struct Member {
    operation: Operation,
    outcome: Option<Result<()>>,
    /// Whether something of it is in the transaction.
    wrote: bool,
    ticket: Option<Arc<Ticket>>,
}

impl GroupCommit {
    /// Runs `operation` in a transaction that others may share; returns when its commit is durable.
    pub fn write(&self, committer: &impl Committer, metrics: &Metrics, deadline: Instant, operation: Operation) -> Result<()> {
        let ticket = {
            let mut queue = lock(&self.queue);
            if queue.led {
                let ticket = Arc::new(Ticket { state: Mutex::new(State::Queued(operation)), changed: Condvar::new() });
                queue.waiting.push_back(Arc::clone(&ticket));
                Ok(ticket)
            } else {
                queue.led = true;
                Err(operation)
            }
        };
        match ticket {
            Err(operation) => self.lead(committer, metrics, deadline, operation),
            Ok(ticket) => match ticket.wait(deadline) {
                Waited::Leads(operation) => self.lead(committer, metrics, deadline, operation),
                Waited::Outcome(outcome) => outcome,
                Waited::Interrupted(error) => Err(error),
                Waited::Resigned(error) => {
                    self.pass_on();
                    Err(error)
                }
                Waited::TimedOut => {
                    add(&metrics.writes_timed_out, 1);
                    Err(queue_timeout())
                }
            },
        }
    }

    fn lead(&self, committer: &impl Committer, metrics: &Metrics, deadline: Instant, operation: Operation) -> Result<()> {
        let succession = Succession(self);
        let mut members = vec![Member { operation, outcome: None, wrote: false, ticket: None }];
        let started = Instant::now();
        let committed = patiently(committer, deadline, &mut |txn| {
            let decision = self.run(txn, &mut members);
            add(&metrics.commits, u64::from(decision == Decision::Commit));
            decision
        });
        drop(succession);
        add(&metrics.commit_microseconds, started.elapsed().as_micros() as u64);
        match &committed {
            Ok(()) => add(&metrics.writes, members.iter().filter(|member| member.wrote).count() as u64),
            Err(error) => add(&metrics.writes_timed_out, u64::from(error.kind() == ErrorKind::StoreBusy)),
        }
        deliver(members, &committed)
    }

    /// Runs the members, then those that queue, until the time to gather is over.
    fn run(&self, txn: &mut WriteTransaction<'_>, members: &mut Vec<Member>) -> Decision {
        let started = Instant::now();
        let mut next = 0;
        loop {
            while next < members.len() {
                if members[next].run(txn) == Decision::Again {
                    return Decision::Again;
                }
                next += 1;
            }
            match self.take_next() {
                Some(member) if started.elapsed() < GATHER => members.push(member),
                Some(member) => {
                    members.push(member);
                    let last = members.len() - 1;
                    if members[last].run(txn) == Decision::Again {
                        return Decision::Again;
                    }
                    break;
                }
                None => break,
            }
        }
        if txn.changes() > 0 { Decision::Commit } else { Decision::Nothing }
    }

    fn take_next(&self) -> Option<Member> {
        let mut queue = lock(&self.queue);
        while let Some(ticket) = queue.waiting.pop_front() {
            let mut state = lock(&ticket.state);
            if let State::Queued(operation) = std::mem::replace(&mut *state, State::Taken) {
                drop(state);
                return Some(Member { operation, outcome: None, wrote: false, ticket: Some(ticket) });
            }
            *state = State::GivenUp;
        }
        None
    }

    fn pass_on(&self) {
        let mut queue = lock(&self.queue);
        while let Some(ticket) = queue.waiting.pop_front() {
            let mut state = lock(&ticket.state);
            match std::mem::replace(&mut *state, State::Taken) {
                State::Queued(operation) => {
                    *state = State::Leader(operation);
                    ticket.changed.notify_one();
                    return;
                }
                other => *state = other,
            }
        }
        queue.led = false;
    }
}

/// Queues for the writer lock until `deadline`, in slices, between which nothing is held and the caller is asked whether to go on.
fn patiently(committer: &impl Committer, deadline: Instant, work: &mut dyn FnMut(&mut WriteTransaction<'_>) -> Decision) -> Result<()> {
    let started = Instant::now();
    loop {
        match committer.transact(deadline.min(Instant::now() + interrupt::SLICE), work) {
            Err(error) if error.kind() == ErrorKind::StoreBusy && Instant::now() < deadline => interrupt::ask()?,
            Err(error) if error.kind() == ErrorKind::StoreBusy => return Err(error.with("waited_seconds", started.elapsed().as_secs_f64())),
            other => return other,
        }
    }
}

/// Passes the lead on when the leader is done, whatever happened to it.
struct Succession<'g>(&'g GroupCommit);

impl Drop for Succession<'_> {
    fn drop(&mut self) {
        self.0.pass_on();
    }
}

enum Waited {
    Leads(Operation),
    Outcome(Result<()>),
    Interrupted(Error),
    /// It was to lead when its caller was interrupted: somebody else must.
    Resigned(Error),
    TimedOut,
}

impl Ticket {
    fn wait(&self, deadline: Instant) -> Waited {
        let mut state = lock(&self.state);
        loop {
            match std::mem::replace(&mut *state, State::Taken) {
                State::Done(outcome) => return Waited::Outcome(outcome),
                State::Leader(operation) => return Waited::Leads(operation),
                State::Queued(operation) if Instant::now() >= deadline => {
                    *state = State::GivenUp;
                    drop(operation);
                    return Waited::TimedOut;
                }
                other => *state = other,
            }
            state = if matches!(*state, State::Queued(_)) {
                let left = deadline.saturating_duration_since(Instant::now()).min(interrupt::SLICE);
                let (state, slice) = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
                drop(state);
                let asked = if slice.timed_out() { interrupt::ask() } else { Ok(()) };
                let mut state = lock(&self.state);
                match (asked, &*state) {
                    (Err(error), State::Queued(_)) => {
                        *state = State::GivenUp;
                        return Waited::Interrupted(error);
                    }
                    (Err(error), State::Leader(_)) => return Waited::Resigned(error),
                    _ => state,
                }
            } else {
                self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
            };
        }
    }
}

impl Member {
    /// Runs the operation unless it has failed before; `Again` where it failed and left something behind.
    fn run(&mut self, txn: &mut WriteTransaction<'_>) -> Decision {
        if matches!(self.outcome, Some(Err(_))) {
            return Decision::Nothing;
        }
        let before = txn.changes();
        let mut run = || (self.operation)(txn);
        // Work of another writer must not end because this thread's caller wants to.
        let own = self.ticket.is_none();
        let outcome = catch_unwind(AssertUnwindSafe(|| if own { run() } else { interrupt::never(run) }));
        let outcome = outcome.unwrap_or_else(|panic| Err(Error::of_panic(&*panic)));
        let changed = txn.changes() != before;
        let half_done = outcome.is_err() && changed;
        self.wrote = outcome.is_ok() && changed;
        self.outcome = Some(outcome);
        if half_done { Decision::Again } else { Decision::Commit }
    }
}

fn deliver(members: Vec<Member>, committed: &Result<()>) -> Result<()> {
    let mut own = Ok(());
    for member in members {
        let outcome = match (committed, member.outcome) {
            (_, Some(Err(error))) => Err(error),
            (Ok(()), Some(Ok(()))) => Ok(()),
            (Err(error), _) => Err(error.clone()),
            (Ok(()), None) => Err(queue_timeout()),
        };
        match member.ticket {
            None => own = outcome,
            Some(ticket) => {
                *lock(&ticket.state) = State::Done(outcome);
                ticket.changed.notify_one();
            }
        }
    }
    own
}

fn queue_timeout() -> Error {
    Error::new(
        ErrorKind::StoreBusy,
        "writing to the store: other writes of this process were ahead in the queue for as long as this one was allowed to wait; \
         nothing was written: try again, or raise busy_timeout_seconds",
    )
    .with("holder", i64::from(std::process::id()))
}
