//! Keeps a process correct across a `fork`.
//!
//! An LMDB environment must not cross a fork: the child would share the parent's reader slot and lock descriptors. So handlers
//! of `pthread_atfork` close every open environment just before any fork of the process (waiting for reads and writes under way),
//! and both sides open theirs again when they next need it. The child gets new locks: the old ones may be awaited
//! by threads that do not exist in it.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, RwLockWriteGuard};
use std::time::Duration;

use super::gate::{Gate, State, Store};
use crate::process::{self, Lazy, Renewable, lock};
use crate::{Result, interrupt};

/// The stores that this process has open, by canonical path.
pub type Registry = Mutex<Vec<std::sync::Weak<Store>>>;

static REGISTRY: Lazy<Renewable<Registry>> = Lazy::new(Renewable::default);
static HANDLERS: Once = Once::new();

/// The registry; the first call installs the handlers.
pub fn registry() -> &'static Registry {
    HANDLERS.call_once(|| {
        process::install(); // first, since who holds a gate may need what these handlers hold
        // SAFETY: the handlers are `extern "C"` functions that never unwind and live as long as the process.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    });
    REGISTRY.get()
}

/// How many forks a long call gives way to, beginning anew behind each; then it goes on to its end.
const MOST_FORKS: usize = 5;

/// Runs a long call that changes nothing before its end. Where a fork comes it ends, and begins anew behind it: the fork waits for the
/// gate, and every thread of the process for the fork.
pub fn giving_way<T>(mut work: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 0..MOST_FORKS {
        match interrupt::giving_way(&mut work) {
            Some(done) => return done,
            None => let_by(),
        }
    }
    work()
}

/// Lets the forks that wait go on, for a second at most: releasing a lock does not hand it over, and a thread that takes it again at once
/// would win.
fn let_by() {
    for _ in 0..1_000 {
        if !interrupt::others_wait() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

struct Held {
    stores: Vec<(Arc<Store>, RwLockWriteGuard<'static, State>)>,
    registry: MutexGuard<'static, Vec<std::sync::Weak<Store>>>,
}

thread_local! {
    /// The guards that the forking thread holds between the handlers.
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

extern "C" fn before() {
    let wait = interrupt::Wait::begin();
    let registry = lock(registry());
    let stores = registry.iter().filter_map(std::sync::Weak::upgrade).map(|store| {
        let guard = store.gate.get().state.write().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the guard borrows from `store`, which is kept beside it and outlives it (see `in_parent` and `in_child`).
        let mut guard = unsafe { std::mem::transmute::<RwLockWriteGuard<'_, State>, RwLockWriteGuard<'static, State>>(guard) };
        guard.suspend();
        (store, guard)
    });
    let held = Held { stores: stores.collect(), registry };
    drop(wait);
    let _ = HELD.try_with(|cell| cell.borrow_mut().replace(held));
}

extern "C" fn in_parent() {
    let Ok(Some(held)) = HELD.try_with(|cell| cell.borrow_mut().take()) else { return };
    for (store, guard) in held.stores {
        drop(guard);
        drop(store);
    }
}

extern "C" fn in_child() {
    let Ok(Some(held)) = HELD.try_with(|cell| cell.borrow_mut().take()) else { return };
    let weak = held.registry.clone();
    for (store, guard) in held.stores {
        let closed = matches!(*guard, State::Closed);
        std::mem::forget(guard);
        store.gate.renew(Gate::new(if closed { State::Closed } else { State::Suspended }));
        // Not dropped: the last reference would run a destructor between fork and exec.
        std::mem::forget(store);
    }
    std::mem::forget(held.registry);
    interrupt::nobody_waits();
    REGISTRY.renew(Mutex::new(weak));
}
