//! Small numbers in a fixed number of bits each, little-endian: value i stands at bit `i * bits`.

/// Bytes that `n` values of `bits` take.
pub(super) fn packed_bytes(n: usize, bits: u8) -> usize {
    (n * bits as usize).div_ceil(8)
}

/// The bits that `value` needs; 0 for 0.
pub(super) fn width(value: u32) -> u8 {
    (u32::BITS - value.leading_zeros()) as u8
}

/// Appends `values`, each of at most `bits` bits.
pub(super) fn pack(values: impl Iterator<Item = u32>, bits: u8, out: &mut Vec<u8>) {
    let (mut pending, mut held) = (0u64, 0u32);
    for value in values {
        pending |= (value as u64) << held;
        held += bits as u32;
        while held >= 8 {
            out.push(pending as u8);
            pending >>= 8;
            held -= 8;
        }
    }
    if held > 0 {
        out.push(pending as u8);
    }
}

/// Calls `put` with each of `n` values of `bits` (at most 32) at the front of `bytes`.
///
/// `bytes` may go on behind them, and better does: a value is then one eight-byte load. Bytes that are missing read as 0.
#[inline]
pub(super) fn unpack(bytes: &[u8], n: usize, bits: u8, mut put: impl FnMut(usize, u32)) {
    let mask = (1u64 << bits) - 1;
    let bits = bits as usize;
    let mut i = 0;
    // Eight small values stand in one word. Frequent terms have small gaps, and most postings are theirs.
    while bits <= 8 && i + 8 <= n {
        let word = load(bytes, i / 8 * bits);
        for j in 0..8 {
            put(i + j, ((word >> (j * bits)) & mask) as u32);
        }
        i += 8;
    }
    while i < n {
        put(i, ((load(bytes, i * bits / 8) >> (i * bits % 8)) & mask) as u32);
        i += 1;
    }
}

#[inline]
fn load(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    if let Some(word) = rest.first_chunk::<8>() {
        return u64::from_le_bytes(*word);
    }
    let mut word = [0; 8];
    word[..rest.len()].copy_from_slice(rest);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_comes_back() {
        for bits in 0..=32u8 {
            let top = if bits == 0 { 0 } else { u32::MAX >> (32 - bits) };
            let values: Vec<u32> = (0..97u32).map(|i| i.wrapping_mul(0x9e37_79b9) & top).chain([top, 0]).collect();
            let mut bytes = Vec::new();
            pack(values.iter().copied(), bits, &mut bytes);
            assert_eq!(bytes.len(), packed_bytes(values.len(), bits));
            let mut back = vec![7; values.len()];
            unpack(&bytes, values.len(), bits, |i, v| back[i] = v);
            assert_eq!(back, values, "{bits} bits");
            bytes.extend([0xff; 9]);
            unpack(&bytes, values.len(), bits, |i, v| back[i] = v);
            assert_eq!(back, values, "{bits} bits before others");
        }
    }

    #[test]
    fn missing_bytes_read_as_zero() {
        let mut seen = Vec::new();
        unpack(&[0xff], 3, 8, |_, v| seen.push(v));
        assert_eq!(seen, [255, 0, 0]);
    }
}
