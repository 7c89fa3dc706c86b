//! Bytes as text: base64 of RFC 4648, section 4, with its padding.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends the text of `bytes`.
pub fn encode(bytes: &[u8], text: &mut String) {
    text.reserve(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let number = three.iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let digit = ALPHABET[(number >> (18 - 6 * place)) as usize & 63];
            text.push(if place > three.len() { '=' } else { char::from(digit) });
        }
    }
}

/// The bytes of a text; `None` where it is not base64 as [`encode`] writes it.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for four in text.as_bytes().chunks(4) {
        let padding = four.iter().rev().take_while(|byte| **byte == b'=').count();
        if padding > 2 {
            return None;
        }
        let mut number = 0;
        for byte in &four[..4 - padding] {
            number = number << 6 | digit(*byte)?;
        }
        number <<= 6 * padding;
        bytes.extend_from_slice(&number.to_be_bytes()[1..4 - padding]);
    }
    let mut again = String::new();
    encode(&bytes, &mut again);
    (again == text).then_some(bytes) // padding in the middle, bits that nothing reads
}

fn digit(byte: u8) -> Option<u32> {
    let at = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(at.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_and_the_vectors_of_the_rfc_hold() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            let mut encoded = String::new();
            encode(bytes.as_bytes(), &mut encoded);
            assert_eq!((encoded.as_str(), decode(text)), (text, Some(bytes.as_bytes().to_vec())));
        }
        let all: Vec<u8> = (0..=255).collect();
        let mut encoded = String::new();
        encode(&all, &mut encoded);
        assert_eq!(decode(&encoded), Some(all));
        assert!(["Zg", "Zg=a", "Zh==", "====", "Zm9v!", "Zg==Zg=="].iter().all(|text| decode(text).is_none()));
    }
}
