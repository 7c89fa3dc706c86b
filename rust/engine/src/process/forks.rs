//! Values that threads share, and a fork finds whole: it waits for the thread that has one in hand.

use std::cell::RefCell;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError, RwLock, RwLockWriteGuard};

use super::Lazy;

/// A lock that a panic elsewhere does not spoil: the guarded value is whole between any two statements.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A value that the child of a fork replaces by a new one.
#[derive(Debug)]
pub struct Renewable<T>(AtomicPtr<T>);

impl<T> Renewable<T> {
    /// Holds `value`.
    pub fn new(value: T) -> Self {
        Self(AtomicPtr::new(Box::into_raw(Box::new(value))))
    }

    /// The value.
    pub fn get(&self) -> &T {
        // SAFETY: the pointer comes from a Box that only Drop frees; what `renew` replaces is leaked.
        unsafe { &*self.0.load(Ordering::Acquire) }
    }

    /// Puts `value` in its place and leaks the old one, which threads of the parent may have been using.
    pub fn renew(&self, value: T) {
        self.0.store(Box::into_raw(Box::new(value)), Ordering::Release);
    }
}

impl<T: Default> Default for Renewable<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Drop for Renewable<T> {
    fn drop(&mut self) {
        // SAFETY: made by Box::into_raw, and nobody has a reference while the holder is being dropped.
        drop(unsafe { Box::from_raw(*self.0.get_mut()) });
    }
}

/// A thread reads it while it has a shared value in hand, and writes it while it forks.
static GATE: Lazy<Renewable<RwLock<()>>> = Lazy::new(Renewable::default);
static HANDLERS: Once = Once::new();

thread_local! {
    /// The guard that the forking thread holds between the handlers.
    static HELD: RefCell<Option<RwLockWriteGuard<'static, ()>>> = const { RefCell::new(None) };
}

/// Installs the handlers of `pthread_atfork`. Handlers that wait for anything that uses a [`Shared`] are installed behind these: the last
/// ones are the first to be called before a fork.
pub fn install() {
    HANDLERS.call_once(|| {
        // SAFETY: the handlers are `extern "C"` functions that never unwind and live as long as the process.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    });
}

/// A value behind a lock that is free in every child of a fork.
#[derive(Debug, Default)]
pub struct Shared<T>(Mutex<T>);

impl<T> Shared<T> {
    /// Holds `value`.
    pub const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// Runs `work` with the value; other threads that want it, and forks, wait. It must be short, and use no store and nothing else that is
    /// shared.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        install();
        let _no_fork = GATE.get().read().unwrap_or_else(PoisonError::into_inner);
        work(&mut lock(&self.0))
    }
}

/// The places of [`Dear`] values among the locks that are held while one is made: two values that share one wait for each other.
const LOCKS: usize = 16;
static MAKING: Lazy<[Renewable<Mutex<()>>; LOCKS]> = Lazy::new(Default::default);

/// A value of a static that is dear to make: of threads that come at once, one makes it, and the others wait for it. The child of a fork
/// waits for nobody.
#[derive(Debug, Default)]
pub struct Dear<T>(super::Once<T>);

impl<T> Dear<T> {
    /// Nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(super::Once::new())
    }

    /// The value; made now where it is missing. `make` must look at no other value of this kind.
    #[inline]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        self.0.get().unwrap_or_else(|| self.made(make))
    }

    #[cold]
    fn made(&self, make: impl FnOnce() -> T) -> &T {
        install();
        let place = std::ptr::from_ref(self).addr() / size_of::<Self>() % LOCKS;
        let _alone = lock(MAKING[place].get());
        self.0.get_or_init(make)
    }
}

extern "C" fn before() {
    let guard = GATE.get().write().unwrap_or_else(PoisonError::into_inner);
    let _ = HELD.try_with(|held| held.borrow_mut().replace(guard));
}

extern "C" fn in_parent() {
    let _ = HELD.try_with(|held| held.borrow_mut().take());
}

extern "C" fn in_child() {
    let _ = HELD.try_with(|held| held.borrow_mut().take().map(std::mem::forget));
    GATE.renew(RwLock::default());
    MAKING.iter().for_each(|making| making.renew(Mutex::default()));
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize};
    use std::sync::mpsc;
    use std::time::{Duration, Instant};
    use std::{hint, thread};

    use super::*;

    /// The exit status of a child that runs `work`; -1 where it was still running after ten seconds.
    fn in_a_child(work: impl FnOnce()) -> i32 {
        // SAFETY: the child runs `work` and `_exit`, never the test harness.
        let child = match unsafe { libc::fork() } {
            0 => {
                work();
                // SAFETY: ends the child without its destructors.
                unsafe { libc::_exit(0) }
            }
            child => child,
        };
        let (begun, mut status) = (Instant::now(), 0);
        // SAFETY: our own child, and a status to write to.
        while unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == 0 {
            if begun.elapsed() > Duration::from_secs(10) {
                // SAFETY: our own child.
                unsafe { libc::kill(child, libc::SIGKILL) };
                // SAFETY: as above.
                unsafe { libc::waitpid(child, &raw mut status, 0) };
                return -1;
            }
            thread::sleep(Duration::from_millis(1));
        }
        status
    }

    #[test]
    fn a_dear_value_is_made_once_and_a_child_waits_for_nobody() {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        static VALUE: Dear<usize> = Dear::new();
        static HELD_UP: Dear<u8> = Dear::new();
        let make = || {
            thread::sleep(Duration::from_millis(20));
            MADE.fetch_add(1, Ordering::Relaxed)
        };
        thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(|| VALUE.get_or_init(make)))));
        assert_eq!((*VALUE.get_or_init(make), MADE.load(Ordering::Relaxed)), (0, 1));
        let (begun, told) = mpsc::channel();
        let (ends, ended) = mpsc::channel::<()>();
        thread::scope(|scope| {
            scope.spawn(move || {
                HELD_UP.get_or_init(|| {
                    begun.send(()).expect("the test waits");
                    let _ = ended.recv(); // the parent makes it meanwhile
                    1
                })
            });
            told.recv().expect("the thread began");
            assert_eq!(in_a_child(|| assert_eq!(*HELD_UP.get_or_init(|| 2), 2)), 0, "-1: the child waits for a thread of its parent");
            drop(ends);
        });
        assert_eq!(*HELD_UP.get_or_init(|| 3), 1);
    }

    #[test]
    fn a_child_finds_no_value_in_the_hand_of_another_thread() {
        let (shared, ends) = (Shared::new((0_u64, 0_u64)), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                while !ends.load(Ordering::Relaxed) {
                    shared.with(|(one, other)| {
                        *one += 1;
                        for _ in 0..1_000 {
                            hint::black_box(&one);
                        }
                        *other += 1;
                    });
                }
            });
            for _ in 0..100 {
                let status = in_a_child(|| shared.with(|(one, other)| assert_eq!(one, other)));
                assert_eq!(status, 0, "-1: the child waits for a thread that it does not have; else: it has half of a change");
            }
            ends.store(true, Ordering::Relaxed);
        });
    }
}
