//! The allocator of a host process: the system's, with freed blocks kept by the thread that freed them.
//!
//! One recall asks for some 450 small blocks and gives all of them back before it ends. Rust says the size of a block when it is
//! freed, which C's `free` has to find out, so that a block goes to a list of its size and comes from there again in a few
//! instructions. A block is always one of the system's own, so that any thread may free it, and whatever is not kept goes back.
//!
//! A thread keeps at most [`MOST_KEPT`] bytes, and gives them back when it ends.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

/// Sizes are rounded up to a multiple of it, which is also the alignment of every block that is kept.
const STEP: usize = 16;
/// Greater blocks are the system's alone.
const LARGEST: usize = 2 << 10;
/// Bytes that a thread keeps at most.
pub const MOST_KEPT: usize = 256 << 10;

/// The system's allocator with lists of freed blocks for each thread. Use: `#[global_allocator] static ALLOCATOR: Allocator = Allocator;`
#[derive(Debug, Clone, Copy)]
pub struct Allocator;

/// A freed block: where the next of its size is.
struct Free {
    next: Option<NonNull<Free>>,
}

/// The blocks that a thread keeps.
struct Kept {
    /// The freed blocks of each size, the last first.
    lists: [Option<NonNull<Free>>; LARGEST / STEP],
    bytes: usize,
    is_known: IsKnown,
}

/// Whether this thread has registered its destructor.
#[derive(Clone, Copy, PartialEq)]
enum IsKnown {
    NotYet,
    Yes,
    /// It cannot be, or it is ending: nothing is kept.
    Never,
}

thread_local! {
    static KEPT: UnsafeCell<Kept> = const {
        UnsafeCell::new(Kept { lists: [None; LARGEST / STEP], bytes: 0, is_known: IsKnown::NotYet })
    };
}

impl Kept {
    /// Runs `work` with what this thread keeps.
    fn with<T>(work: impl FnOnce(&mut Self) -> T) -> T {
        // SAFETY: the value has no destructor, so that it is there for as long as the thread, which alone has it. No `work` below
        // allocates by this allocator, so that none runs within another.
        KEPT.with(|kept| work(unsafe { &mut *kept.get() }))
    }

    fn take(&mut self, list: usize) -> Option<NonNull<Free>> {
        let first = self.lists[list]?;
        // SAFETY: every entry of a list is a block of at least a pointer's size that nobody else has.
        self.lists[list] = unsafe { first.as_ref().next };
        self.bytes -= size(list);
        Some(first)
    }

    /// Whether the block is kept now.
    fn keep(&mut self, list: usize, block: NonNull<Free>) -> bool {
        if self.bytes + size(list) > MOST_KEPT || self.is_known != IsKnown::Yes && !self.is_known_now() {
            return false;
        }
        // SAFETY: the block was just freed by its owner, and is large and aligned enough for a pointer.
        unsafe { block.write(Free { next: self.lists[list] }) };
        self.lists[list] = Some(block);
        self.bytes += size(list);
        true
    }

    /// Registers a destructor that gives the blocks back when the thread ends.
    #[cold]
    fn is_known_now(&mut self) -> bool {
        if self.is_known == IsKnown::NotYet {
            self.is_known = IsKnown::Never; // for what the calls below may free
            // SAFETY: the key was made; the value is not null, and is looked at by nobody.
            let is_known = key().is_some_and(|key| unsafe { libc::pthread_setspecific(key, ptr::from_mut(self).cast()) } == 0);
            self.is_known = if is_known { IsKnown::Yes } else { IsKnown::Never };
        }
        self.is_known == IsKnown::Yes
    }

    fn give_back(&mut self) {
        self.is_known = IsKnown::Never;
        for list in 0..self.lists.len() {
            while let Some(block) = self.take(list) {
                // SAFETY: every block in a list is the system's, of the list's size.
                unsafe { System.dealloc(block.as_ptr().cast(), layout(list)) };
            }
        }
    }
}

/// The key that reports the end of a thread; `None` where the system has no more such keys.
fn key() -> Option<libc::pthread_key_t> {
    extern "C" fn ends(_: *mut libc::c_void) {
        Kept::with(Kept::give_back);
    }
    static KEY: OnceLock<Option<libc::pthread_key_t>> = OnceLock::new();
    *KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: the key is written to; the destructor reads only what outlives it.
        (unsafe { libc::pthread_key_create(&raw mut key, Some(ends)) } == 0).then_some(key)
    })
}

/// The list of blocks for that layout; `None` where it is the system's alone.
fn list_of(layout: Layout) -> Option<usize> {
    (layout.size() <= LARGEST && layout.align() <= STEP).then(|| layout.size().saturating_sub(1) / STEP)
}

const fn size(list: usize) -> usize {
    (list + 1) * STEP
}

/// The layout that the system is asked for.
fn layout(list: usize) -> Layout {
    // SAFETY: the alignment is a power of two, and the size small.
    unsafe { Layout::from_size_align_unchecked(size(list), STEP) }
}

// SAFETY: every block is one of the system's that is at least as large and as aligned as was asked for, and is in one hand: its owner's, or
// the list's that its owner freed it to. The lists belong to one thread.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, wanted: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are the system's conditions.
        let Some(list) = list_of(wanted) else { return unsafe { System.alloc(wanted) } };
        match Kept::with(|kept| kept.take(list)) {
            Some(block) => block.as_ptr().cast(),
            // SAFETY: its size is not 0.
            None => unsafe { System.alloc(layout(list)) },
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, of: Layout) {
        // SAFETY: the block came from the system with that layout.
        let Some(list) = list_of(of) else { return unsafe { System.dealloc(block, of) } };
        let is_kept = NonNull::new(block).is_some_and(|block| Kept::with(|kept| kept.keep(list, block.cast())));
        if !is_kept {
            // SAFETY: every block of that layout was asked for with its list's.
            unsafe { System.dealloc(block, layout(list)) };
        }
    }

    unsafe fn alloc_zeroed(&self, wanted: Layout) -> *mut u8 {
        if list_of(wanted).is_none() {
            // SAFETY: the caller's promises are the system's conditions.
            return unsafe { System.alloc_zeroed(wanted) };
        }
        // SAFETY: the same, and the block is as large as was asked for.
        unsafe {
            let block = self.alloc(wanted);
            if !block.is_null() {
                block.write_bytes(0, wanted.size());
            }
            block
        }
    }

    unsafe fn realloc(&self, block: *mut u8, of: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the size, rounded up to the alignment, does not overflow.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, of.align()) };
        match (list_of(of), list_of(wanted)) {
            // SAFETY: the block came from the system with that layout.
            (None, None) => unsafe { System.realloc(block, of, size) },
            (one, other) if one == other => block,
            // SAFETY: the new block is another one, and the copied bytes fit both.
            _ => unsafe {
                let new = self.alloc(wanted);
                if !new.is_null() {
                    ptr::copy_nonoverlapping(block, new, of.size().min(size));
                    self.dealloc(block, of);
                }
                new
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout_of(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).expect("a layout")
    }

    fn kept_bytes() -> usize {
        Kept::with(|kept| kept.bytes)
    }

    /// A block that is written from end to end, and freed when it is dropped.
    struct Block(*mut u8, Layout, u8);

    // SAFETY: a block belongs to its holder.
    unsafe impl Send for Block {}

    impl Block {
        fn new(layout: Layout, mark: u8, is_zeroed: bool) -> Self {
            // SAFETY: the size is not 0, and all of the block is written to.
            unsafe {
                let block = if is_zeroed { Allocator.alloc_zeroed(layout) } else { Allocator.alloc(layout) };
                assert!(!block.is_null() && block.addr().is_multiple_of(layout.align()), "{layout:?}");
                assert!(!is_zeroed || (0..layout.size()).all(|at| block.add(at).read() == 0), "{layout:?}");
                block.write_bytes(mark, layout.size());
                Self(block, layout, mark)
            }
        }

        fn resize(&mut self, size: usize) {
            // SAFETY: the block is of that layout, and the new size not 0.
            self.0 = unsafe { Allocator.realloc(self.0, self.1, size) };
            self.assert_own(size.min(self.1.size()));
            self.1 = layout_of(size, self.1.align());
            // SAFETY: the block has that size.
            unsafe { self.0.write_bytes(self.2, size) };
        }

        fn assert_own(&self, size: usize) {
            // SAFETY: as much was written.
            assert!((0..size).all(|at| unsafe { self.0.add(at).read() } == self.2), "{:?}", self.1);
        }
    }

    impl Drop for Block {
        fn drop(&mut self) {
            self.assert_own(self.1.size());
            // SAFETY: the block is of that layout, and nobody else's.
            unsafe { Allocator.dealloc(self.0, self.1) };
        }
    }

    #[test]
    fn blocks_of_any_size_keep_what_is_written_to_them() {
        let mut state = 7_u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let mut blocks: Vec<Block> = Vec::new();
        let turns: usize = if cfg!(miri) { 400 } else { 20_000 };
        for turn in 0..turns {
            let size = 1 + next([16, 64, 300, LARGEST + 40, 9_000][turn % 5]);
            match next(5) {
                0 if !blocks.is_empty() => drop(blocks.swap_remove(next(blocks.len()))),
                1 if !blocks.is_empty() => {
                    let at = next(blocks.len());
                    blocks[at].resize(size);
                }
                _ => blocks.push(Block::new(layout_of(size, 1 << next(8)), turn as u8, turn % 3 == 0)),
            }
            if blocks.len() == 200 {
                blocks.truncate(20);
            }
        }
        drop(blocks);
        assert!(kept_bytes() <= MOST_KEPT);
    }

    #[test]
    fn a_freed_block_comes_again_for_its_size() {
        let first = Block::new(layout_of(100, 8), 1, false);
        let place = first.0;
        drop(first);
        let (other, same) = (Block::new(layout_of(90, 8), 2, false), Block::new(layout_of(97, 16), 3, true));
        assert!(other.0 != place && same.0 == place, "112 bytes, not 96");
        let mut grown = Block::new(layout_of(33, 1), 4, false);
        let place = grown.0;
        grown.resize(48);
        assert_eq!(grown.0, place, "a block has room up to the next multiple of sixteen");
        let large = layout_of(LARGEST + 1, 8);
        let before = kept_bytes();
        drop(Block::new(large, 5, false));
        assert_eq!(kept_bytes(), before, "the system's");
    }

    #[test]
    fn a_thread_keeps_what_it_may_and_gives_it_back() {
        let work = || {
            let blocks: Vec<Block> = (0..600).map(|at| Block::new(layout_of(LARGEST - at, 8), at as u8, false)).collect();
            drop(blocks);
            assert!(kept_bytes() <= MOST_KEPT && kept_bytes() > MOST_KEPT - LARGEST, "{}", kept_bytes());
            Kept::with(Kept::give_back);
            assert!(kept_bytes() == 0 && Kept::with(|kept| kept.lists.iter().all(Option::is_none)));
            drop(Block::new(layout_of(64, 8), 1, false));
            assert_eq!(kept_bytes(), 0, "nothing is kept where a thread ends");
        };
        std::thread::spawn(work).join().expect("no panic");
    }

    #[test]
    fn a_block_may_be_freed_by_another_thread() {
        let (send, receive) = std::sync::mpsc::channel::<Block>();
        let frees = std::thread::spawn(move || receive.into_iter().map(|block| block.1.size()).sum::<usize>());
        for at in 0..5_000_usize {
            send.send(Block::new(layout_of(1 + at % 700, 8), at as u8, false)).expect("sent");
        }
        drop(send);
        assert_eq!(frees.join().expect("no panic"), (0..5_000_usize).map(|at| 1 + at % 700).sum::<usize>());
    }
}
