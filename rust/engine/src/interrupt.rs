//! Ctrl-C as a flag that long work checks.
//!
//! The caller gives the thread of a call a flag ([`under`]) and sets it from another thread. The work asks [`check`] between its
//! steps, each of which is whole. A check reads one word, so that it may be done under any lock. A short call has no such flag:
//! while it queues it lets the caller look for itself ([`ask`]), between two tries and without any lock.
//!
//! Counting or analysing a text returns no error and must not return a part of its result. It ends by unwinding ([`step`]), as after a
//! panic, so that no cache, cell or transaction keeps a part of its result. The caller that catches the panic of a call makes an
//! error of it by [`crate::Error::of_panic`].

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;

use crate::{Error, ErrorKind, Result};

thread_local! {
    static FLAG: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
    static WAY: Cell<Way> = const { Cell::new(Way::Kept) };
}

/// Threads that wait for the long calls of the process to pause: a fork waits, and every other thread for it.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Whether the work of a thread ends where somebody waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Kept,
    Given,
    /// It was to end for that.
    Taken,
}

/// Waits, as [`others_wait`] says as long as this value exists.
#[derive(Debug)]
pub struct Wait(());

impl Wait {
    /// Somebody begins to wait.
    #[must_use]
    pub fn begin() -> Self {
        WAITING.fetch_add(1, Relaxed);
        Self(())
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Relaxed);
    }
}

/// In the child of a fork: the threads that waited are not there.
pub fn nobody_waits() {
    WAITING.store(0, Relaxed);
}

/// Whether somebody waits for long calls to pause.
#[must_use]
pub fn others_wait() -> bool {
    WAITING.load(Relaxed) > 0
}

/// Runs `work`, which ends as if it were interrupted where somebody waits; none where it did. It can be run again then.
pub fn giving_way<T>(work: impl FnOnce() -> Result<T>) -> Option<Result<T>> {
    let before = WAY.replace(Way::Given);
    let done = catch_unwind(AssertUnwindSafe(work));
    let was_taken = WAY.replace(before) == Way::Taken;
    match done {
        Ok(Ok(value)) => Some(Ok(value)),
        _ if was_taken && !wants_an_end() => None,
        Ok(failed) => Some(failed),
        Err(panic) => resume_unwind(panic),
    }
}

/// How long a wait may last before the caller is asked.
pub const SLICE: Duration = Duration::from_millis(100);

static QUESTION: OnceLock<fn() -> bool> = OnceLock::new();

/// Has every long wait call `question` on its thread, whether the caller wants it to end. The first call counts.
pub fn ask_by(question: fn() -> bool) {
    let _ = QUESTION.set(question);
}

/// Asks the caller. To be called without any lock: the question may wait for somebody who waits for that lock.
pub fn ask() -> Result<()> {
    check()?;
    if QUESTION.get().is_some_and(|question| question()) { Err(interrupted()) } else { Ok(()) }
}

/// Whether this is the thread that a process began with, the one that gets signals of Python's.
#[must_use]
pub fn on_main_thread() -> bool {
    #[cfg(target_os = "linux")]
    // SAFETY: neither call has preconditions.
    let is_main = unsafe { libc::gettid() == libc::getpid() };
    #[cfg(not(target_os = "linux"))]
    // SAFETY: the call has no preconditions.
    let is_main = unsafe { libc::pthread_main_np() } != 0;
    is_main
}

/// Runs what belongs to others too, and must not end because this thread's caller wants to.
pub fn never<T>(work: impl FnOnce() -> T) -> T {
    under(Arc::default(), work)
}

/// Runs `work` on this thread; [`check`] fails in it once `flag` is set.
pub fn under<T>(flag: Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    struct Ends(Option<Arc<AtomicBool>>, Way);
    impl Drop for Ends {
        fn drop(&mut self) {
            FLAG.with_borrow_mut(|flag| *flag = self.0.take());
            WAY.set(self.1);
        }
    }
    let _ends = Ends(FLAG.replace(Some(flag)), WAY.replace(Way::Kept));
    work()
}

/// How often a long call lets its caller look.
const LOOK: Duration = Duration::from_millis(50);

/// Runs `work` in a thread of its own, and asks `ends` on this one, now and again, whether it is to end; an error is its panic. Where the
/// system has no more threads, it runs on this one, and nobody is asked.
pub fn watched<T: Send>(work: impl FnOnce() -> T + Send, ends: impl Fn() -> bool) -> std::thread::Result<T> {
    let (flag, work) = (Arc::new(AtomicBool::new(false)), Mutex::new(Some(work)));
    std::thread::scope(|scope| {
        let (finished, finish) = mpsc::channel::<()>();
        let theirs = Arc::clone(&flag);
        let spawned = std::thread::Builder::new().spawn_scoped(scope, || {
            let _finished = finished; // its end is told by being dropped
            under(theirs, taken(&work))
        });
        let Ok(worker) = spawned else { return catch_unwind(AssertUnwindSafe(taken(&work))) };
        while matches!(finish.recv_timeout(LOOK), Err(mpsc::RecvTimeoutError::Timeout)) {
            if ends() {
                flag.store(true, Relaxed);
            }
        }
        worker.join()
    })
}

fn taken<F>(work: &Mutex<Option<F>>) -> F {
    work.lock().unwrap_or_else(PoisonError::into_inner).take().expect("whoever runs it takes it, once")
}

/// An error where the caller wants the call to end.
pub fn check() -> Result<()> {
    if is_wanted() { Err(interrupted()) } else { Ok(()) }
}

/// Whether the caller wants the work to end, for loops that stop early and are followed by [`check`].
#[must_use]
pub fn is_wanted() -> bool {
    #[cfg(test)]
    if counted::is_due() {
        return true;
    }
    if WAY.get() != Way::Kept && others_wait() {
        WAY.set(Way::Taken);
        return true;
    }
    wants_an_end()
}

fn wants_an_end() -> bool {
    FLAG.with_borrow(|flag| flag.as_ref().is_some_and(|flag| flag.load(Relaxed)))
}

/// Ends the work of this thread, by unwinding, where its caller wants it to. To be called where nothing shared is half changed.
#[inline]
pub fn step() {
    if is_wanted() && cfg!(panic = "unwind") {
        std::panic::resume_unwind(Box::new(interrupted()));
    }
}

/// Bytes of text between two looks: less than a millisecond of work.
const STEP_BYTES: usize = 64 << 10;

/// [`step`] for work that goes through a text.
#[derive(Debug)]
pub struct Steps(usize);

impl Default for Steps {
    fn default() -> Self {
        Self(STEP_BYTES)
    }
}

impl Steps {
    /// The work has come to byte `at`.
    #[inline]
    pub fn reach(&mut self, at: usize) {
        if at >= self.0 {
            self.0 = at + STEP_BYTES;
            step();
        }
    }
}

fn interrupted() -> Error {
    Error::new(
        ErrorKind::Interrupted,
        "running a call: its caller interrupted it. What it had finished is stored whole, and the rest was not begun: call it again to continue",
    )
}

/// Interruptions by count, so that a test says how far a call got without a clock.
#[cfg(test)]
pub(crate) mod counted {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use crate::{Error, Result};

    thread_local! {
        /// Looks that are left; very many where nobody counts.
        static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
    }

    pub(super) fn is_due() -> bool {
        LEFT.with(|left| left.replace(left.get().saturating_sub(1)) == 0)
    }

    /// Runs `work`, whose caller wants it to end from its look number `looks` on; how often it looked.
    pub(crate) fn after<T>(looks: usize, work: impl FnOnce() -> Result<T>) -> (Result<T>, usize) {
        LEFT.set(looks);
        let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Error::of_panic(&*panic)));
        (outcome, looks - LEFT.replace(usize::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_when_its_own_flag_is_set() {
        let flag = Arc::new(AtomicBool::new(false));
        assert!(check().is_ok());
        let outcome = under(Arc::clone(&flag), || {
            assert!(check().is_ok());
            flag.store(true, Relaxed);
            check().map_err(|error| error.kind())
        });
        assert_eq!(outcome, Err(ErrorKind::Interrupted));
        assert!(check().is_ok(), "the flag belonged to that work");
    }

    #[test]
    fn watched_work_ends_when_its_caller_wants_it_to() {
        let until_asked = || loop {
            if let Err(error) = check() {
                return error.kind();
            }
        };
        assert_eq!(watched(until_asked, || true).ok(), Some(ErrorKind::Interrupted));
        assert_eq!(watched(|| 7, || true).ok(), Some(7), "what is short is not asked");
        assert!(watched(|| -> u8 { panic!("it broke") }, || false).is_err());
    }

    #[test]
    fn work_without_an_error_of_its_own_ends_too_and_says_why() {
        let without_end = || -> u8 {
            let mut steps = Steps::default();
            (0..).step_by(1_000).for_each(|at| steps.reach(at));
            7
        };
        let ended = watched(without_end, || true).expect_err("it has no end of its own");
        assert_eq!(Error::of_panic(&*ended).kind(), ErrorKind::Interrupted);
        step(); // nobody wants this thread's work to end
    }
}
