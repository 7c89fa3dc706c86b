//! Loads of 8 and 16 bytes at any position of a text, zeros past its end, and of what is needed soon.

/// Eight bytes from `at` on, the first in the low bits.
#[inline]
pub(super) fn load_8(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => load_tail(bytes, at) as u64,
    }
}

/// Sixteen bytes from `at` on, the first in the low bits.
#[inline]
pub(super) fn load_16(bytes: &[u8], at: usize) -> u128 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
        Some(chunk) => u128::from_le_bytes(*chunk),
        None => load_tail(bytes, at),
    }
}

/// Brings what is at an address nearer, for a load soon after. It may be any address: nothing is read.
#[inline]
pub(super) fn bring<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint to the caches of every x86-64, without an effect on memory.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the same of aarch64.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) std::ptr::from_ref(value), options(nostack, readonly, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = value;
}

#[cold]
fn load_tail(bytes: &[u8], at: usize) -> u128 {
    let rest = bytes.get(at..).unwrap_or_default();
    let size = rest.len().min(16);
    let mut padded = [0; 16];
    padded[..size].copy_from_slice(&rest[..size]);
    u128::from_le_bytes(padded)
}
