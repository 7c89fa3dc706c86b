//! Loads of 8 and 16 bytes at any position of a text, zeros past its end.

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

#[cold]
fn load_tail(bytes: &[u8], at: usize) -> u128 {
    let rest = bytes.get(at..).unwrap_or_default();
    let size = rest.len().min(16);
    let mut padded = [0; 16];
    padded[..size].copy_from_slice(&rest[..size]);
    u128::from_le_bytes(padded)
}
