//! Memory for decrypted values: one region of a fixed size, locked where the system allows, left out of core dumps, overwritten before it
//! is used again. Values that do not fit lie on the heap, and are overwritten too.

use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a place in the region: a page of the data file.
const PLACE: usize = 4096;
/// Bytes of the region. Untouched pages cost nothing.
const REGION: usize = 64 << 20;
/// A large page of the system: one fault for 512 places, each of which would cost one of its own (1.2 us, against 0.12 us so).
const LARGE: usize = 2 << 20;
/// The least memory that it tries to lock: an unprivileged process may lock 64 KiB to 8 MiB by default.
const LEAST_LOCKED: usize = 64 << 10;

/// The region, and which of its places are free.
#[derive(Debug)]
pub struct Region {
    mapping: NonNull<u8>,
    /// Where the first place lies: at the first large page of the mapping.
    start: NonNull<u8>,
    locked: usize,
    free: Mutex<Vec<u32>>,
}

// SAFETY: the places of the region are handed out one by one, each to one owner; the list of free ones has its lock.
unsafe impl Send for Region {}
// SAFETY: the same.
unsafe impl Sync for Region {}

impl Region {
    /// A new one; none where the system has no room for it, and everything lies on the heap then.
    #[must_use]
    pub fn new() -> Option<Self> {
        // SAFETY: a private anonymous mapping of a fixed size at an address that the system chooses.
        let mapping = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            libc::mmap(std::ptr::null_mut(), REGION + LARGE, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        if mapping == libc::MAP_FAILED {
            return None;
        }
        // SAFETY: the mapping is longer than the region by a large page, so the region ends within it.
        let start = unsafe { mapping.byte_add(mapping.align_offset(LARGE)) };
        // SAFETY: the range lies within the mapping made above. A system without large pages refuses the second, and nothing is lost.
        unsafe {
            libc::madvise(start, REGION, libc::MADV_DONTDUMP);
            libc::madvise(start, REGION, libc::MADV_HUGEPAGE);
        }
        let free = (0..(REGION / PLACE) as u32).rev().collect(); // the locked ones, at the beginning, are used first
        let (mapping, first) = (NonNull::new(mapping.cast())?, NonNull::new(start.cast())?);
        Some(Self { mapping, start: first, locked: lock_prefix(start), free: Mutex::new(free) })
    }

    /// How many of its bytes the system keeps out of swap.
    #[must_use]
    pub fn locked_bytes(&self) -> usize {
        self.locked
    }

    fn list(&self) -> std::sync::MutexGuard<'_, Vec<u32>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn place(&self, number: u32) -> *mut u8 {
        // SAFETY: numbers come from the list of free places, all of which lie within the region.
        unsafe { self.start.as_ptr().add(number as usize * PLACE) }
    }
}

/// Locks as much of the beginning as the system allows, page by page as it is touched.
fn lock_prefix(start: *mut libc::c_void) -> usize {
    let mut bytes = REGION;
    while bytes >= LEAST_LOCKED {
        // SAFETY: the range lies within the mapping; the call changes nothing of what it holds.
        if unsafe { libc::syscall(libc::SYS_mlock2, start, bytes, 1_u32) } == 0 {
            return bytes; // 1: MLOCK_ONFAULT
        }
        bytes /= 2;
    }
    0
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no place of it is in use: each holds a reference.
        unsafe { libc::munmap(self.mapping.as_ptr().cast(), REGION + LARGE) };
    }
}

/// Bytes that are overwritten when nobody needs them any more.
#[derive(Debug)]
pub struct Secret {
    lies: Lies,
    length: usize,
}

#[derive(Debug)]
enum Lies {
    In(Arc<Region>, u32),
    OnHeap(Box<[u8]>),
}

impl Secret {
    /// Room for `length` bytes, in the region where it has a place.
    #[must_use]
    pub fn with_room(region: Option<&Arc<Region>>, length: usize) -> Self {
        let place = region.filter(|_| length <= PLACE).and_then(|region| Some((region, region.list().pop()?)));
        let lies = place.map_or_else(|| Lies::OnHeap(vec![0; length].into()), |(region, number)| Lies::In(Arc::clone(region), number));
        Self { lies, length }
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match &self.lies {
            // SAFETY: the place has PLACE bytes, `length` at most that, zeroed by the system or written before; it is ours alone.
            Lies::In(region, number) => unsafe { std::slice::from_raw_parts(region.place(*number), self.length) },
            Lies::OnHeap(bytes) => &bytes[..self.length],
        }
    }

    /// The bytes, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.lies {
            // SAFETY: as above, and the borrow is exclusive.
            Lies::In(region, number) => unsafe { std::slice::from_raw_parts_mut(region.place(*number), self.length) },
            Lies::OnHeap(bytes) => &mut bytes[..self.length],
        }
    }

    /// Keeps the first `length` bytes.
    pub fn truncate(&mut self, length: usize) {
        let kept = self.length.min(length);
        wipe(&mut self.bytes_mut()[kept..]);
        self.length = kept;
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        wipe(self.bytes_mut());
        if let Lies::In(region, number) = &self.lies {
            region.list().push(*number);
        }
    }
}

/// Overwrites bytes, also where the compiler sees that nobody reads them again.
pub fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
    std::hint::black_box(&*bytes);
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_overwritten_and_given_again() {
        let region = Arc::new(Region::new().expect("room"));
        let before = region.list().len();
        let mut secret = Secret::with_room(Some(&region), 9);
        secret.bytes_mut().copy_from_slice(b"port 8443");
        let Lies::In(_, number) = secret.lies else { panic!("in the region") };
        drop(secret);
        assert_eq!(region.list().len(), before);
        let again = Secret::with_room(Some(&region), 9);
        assert!(matches!(again.lies, Lies::In(_, same) if same == number), "the last one first");
        assert_eq!(again.bytes(), [0; 9]);
        assert!(matches!(Secret::with_room(Some(&region), PLACE + 1).lies, Lies::OnHeap(_)));
        assert!(matches!(Secret::with_room(None, 9).lies, Lies::OnHeap(_)));
    }
}
