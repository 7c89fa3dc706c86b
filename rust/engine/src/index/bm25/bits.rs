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

/// Values that are unpacked at once.
pub(super) const LANES: usize = 8;

/// The values from `group * 8` on of those packed in `bits` (at most 32) each at the front of `bytes`.
///
/// Values behind the last one mean nothing, and bytes that are missing read as 0. `bytes` may go on behind the values, and
/// better does: a load is then one instruction.
#[expect(clippy::inline_always, reason = "a call for eight values costs as much as they do")]
#[inline(always)]
pub(super) fn unpack(bytes: &[u8], group: usize, bits: u8) -> [u32; LANES] {
    let mask = (1u64 << bits) - 1;
    let (bits, mut values) = (bits as usize, [0; LANES]);
    // Loops, not `array::from_fn`, which is not always inlined.
    if bits <= 8 {
        // All eight stand in one word. Frequent terms have small gaps, and most postings are theirs.
        let word = load(bytes, group * bits);
        for (lane, value) in values.iter_mut().enumerate() {
            *value = ((word >> (lane * bits)) & mask) as u32;
        }
        return values;
    }
    for (lane, value) in values.iter_mut().enumerate() {
        let at = (group * LANES + lane) * bits;
        *value = ((load(bytes, at / 8) >> (at % 8)) & mask) as u32;
    }
    values
}

#[expect(clippy::inline_always, reason = "one instruction, where the bytes go on")]
#[inline(always)]
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
            assert_eq!(unpacked(&bytes, values.len(), bits), values, "{bits} bits");
            bytes.extend([0xff; 9]);
            assert_eq!(unpacked(&bytes, values.len(), bits), values, "{bits} bits before others");
        }
    }

    fn unpacked(bytes: &[u8], n: usize, bits: u8) -> Vec<u32> {
        (0..n.div_ceil(LANES)).flat_map(|group| unpack(bytes, group, bits)).take(n).collect()
    }

    #[test]
    fn missing_bytes_read_as_zero() {
        assert_eq!(unpacked(&[0xff], 3, 8), [255, 0, 0]);
        assert_eq!(unpacked(&[0xff, 1], 2, 12), [0x1ff, 0]);
    }
}
