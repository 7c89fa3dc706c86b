//! Values that a process makes once, when it first needs them.
//!
//! `std::sync::OnceLock` is locked while its value is made. A child that is forked meanwhile by another thread would find it locked by a
//! thread that it does not have, and wait for ever. Here nothing is locked: threads that come at once each make the value, and all of them
//! get the one that was kept. So a value must not be dear, and making it must do nothing else. A dear one is a [`super::Dear`].

use std::ops::Deref;

use once_cell::race::OnceBox;

/// A value of a static, made by its first use.
#[derive(Debug)]
pub struct Once<T>(OnceBox<T>);

impl<T> Once<T> {
    /// Nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(OnceBox::new())
    }

    /// The value, where it was made.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        self.0.get()
    }

    /// The value; made now where it is missing.
    #[inline]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(|| Box::new(make()))
    }

    /// The value; made now where it is missing, which can fail. Another call tries again then.
    ///
    /// # Errors
    ///
    /// The error of `make`.
    #[inline]
    pub fn get_or_try_init<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        self.0.get_or_try_init(|| make().map(Box::new))
    }
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// A value of a static, with the way to make it.
#[derive(Debug)]
pub struct Lazy<T> {
    value: Once<T>,
    make: fn() -> T,
}

impl<T> Lazy<T> {
    /// A value that `make` makes when it is first looked at.
    pub const fn new(make: fn() -> T) -> Self {
        Self { value: Once::new(), make }
    }
}

impl<T> Deref for Lazy<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.value.get_or_init(self.make)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Barrier, mpsc};
    use std::thread;

    use super::*;

    #[test]
    fn threads_that_come_at_once_get_the_same_value() {
        let (value, together) = (Once::new(), Barrier::new(4));
        let seen: Vec<usize> = thread::scope(|scope| {
            let come = |own: usize| {
                let (value, together) = (&value, &together);
                scope.spawn(move || {
                    let made = value.get_or_init(|| {
                        together.wait(); // all of them are making it
                        own
                    });
                    (*made, std::ptr::from_ref(made) as usize)
                })
            };
            let (kept, places): (Vec<usize>, Vec<usize>) =
                [0, 1, 2, 3].map(come).map(|thread| thread.join().expect("no panic")).into_iter().unzip();
            assert!(kept.iter().all(|value| *value == kept[0]), "{kept:?}");
            places
        });
        assert!(seen.iter().all(|place| *place == seen[0]), "one place for all: {seen:?}");
    }

    /// As the child of a fork has it: the thread that makes the value never comes back.
    #[test]
    fn a_value_that_another_thread_never_ends_making_is_made_without_it() {
        static VALUE: Once<u8> = Once::new();
        let (begun, told) = mpsc::channel();
        thread::spawn(move || {
            VALUE.get_or_init(|| {
                begun.send(()).expect("the test waits");
                loop {
                    thread::park();
                }
            })
        });
        told.recv().expect("the thread began");
        assert_eq!(*VALUE.get_or_init(|| 7), 7);
    }

    #[test]
    fn a_lazy_value_is_made_once_and_a_failure_is_tried_again() {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        static LAZY: Lazy<usize> = Lazy::new(|| MADE.fetch_add(1, Ordering::Relaxed));
        assert_eq!((*LAZY, *LAZY, MADE.load(Ordering::Relaxed)), (0, 0, 1));
        let value = Once::new();
        assert_eq!(value.get_or_try_init(|| Err::<u8, _>("not now")), Err("not now"));
        assert_eq!(value.get_or_try_init(|| Ok::<_, &str>(3)), Ok(&3));
    }
}
