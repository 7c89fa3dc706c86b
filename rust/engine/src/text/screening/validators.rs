//! Check digits and shapes: what tells a number that means something from any other.

/// Luhn's check (ISO/IEC 7812-1, annex B) over ASCII digits.
pub fn luhn(digits: &[u8]) -> bool {
    let mut sum = 0u32;
    for (place, digit) in digits.iter().rev().enumerate() {
        let value = u32::from(digit - b'0');
        let doubled = if place % 2 == 1 { value * 2 } else { value };
        sum += doubled / 10 + doubled % 10;
    }
    sum.is_multiple_of(10)
}

/// Whether an issuer of payment cards has such numbers: prefix and length.
pub fn is_card(digits: &[u8]) -> bool {
    let number = |count: usize| digits[..count].iter().fold(0u32, |all, digit| all * 10 + u32::from(digit - b'0'));
    if !(13..=19).contains(&digits.len()) {
        return false;
    }
    let (two, three, four) = (number(2), number(3), number(4));
    let issued = match digits.len() {
        13 => digits[0] == b'4',
        14 => two == 36 || two == 38 || (300..=305).contains(&three),
        15 => two == 34 || two == 37,
        16 => {
            digits[0] == b'4'
                || (51..=55).contains(&two)
                || (2221..=2720).contains(&four)
                || four == 6011
                || two == 65
                || (644..=649).contains(&three)
                || (3528..=3589).contains(&four)
                || two == 62
        }
        _ => digits[0] == b'4' && digits.len() == 19 || two == 62,
    };
    issued && luhn(digits)
}

/// Lengths of IBANs by country (ISO 13616 registry, release 98).
const IBAN_LENGTHS: [(&[u8; 2], usize); 79] = [
    (b"AD", 24),
    (b"AE", 23),
    (b"AL", 28),
    (b"AT", 20),
    (b"AZ", 28),
    (b"BA", 20),
    (b"BE", 16),
    (b"BG", 22),
    (b"BH", 22),
    (b"BR", 29),
    (b"BY", 28),
    (b"CH", 21),
    (b"CR", 22),
    (b"CY", 28),
    (b"CZ", 24),
    (b"DE", 22),
    (b"DK", 18),
    (b"DO", 28),
    (b"EE", 20),
    (b"EG", 29),
    (b"ES", 24),
    (b"FI", 18),
    (b"FO", 18),
    (b"FR", 27),
    (b"GB", 22),
    (b"GE", 22),
    (b"GI", 23),
    (b"GL", 18),
    (b"GR", 27),
    (b"GT", 28),
    (b"HR", 21),
    (b"HU", 28),
    (b"IE", 22),
    (b"IL", 23),
    (b"IQ", 23),
    (b"IS", 26),
    (b"IT", 27),
    (b"JO", 30),
    (b"KW", 30),
    (b"KZ", 20),
    (b"LB", 28),
    (b"LC", 32),
    (b"LI", 21),
    (b"LT", 20),
    (b"LU", 20),
    (b"LV", 21),
    (b"LY", 25),
    (b"MC", 27),
    (b"MD", 24),
    (b"ME", 22),
    (b"MK", 19),
    (b"MR", 27),
    (b"MT", 31),
    (b"MU", 30),
    (b"NL", 18),
    (b"NO", 15),
    (b"PK", 24),
    (b"PL", 28),
    (b"PS", 29),
    (b"PT", 25),
    (b"QA", 29),
    (b"RO", 24),
    (b"RS", 22),
    (b"SA", 24),
    (b"SC", 31),
    (b"SD", 18),
    (b"SE", 24),
    (b"SI", 19),
    (b"SK", 24),
    (b"SM", 27),
    (b"ST", 25),
    (b"SV", 28),
    (b"TL", 23),
    (b"TN", 24),
    (b"TR", 26),
    (b"UA", 29),
    (b"VA", 22),
    (b"VG", 24),
    (b"XK", 20),
];

/// How long an IBAN of that country is.
pub fn iban_length(country: [u8; 2]) -> Option<usize> {
    IBAN_LENGTHS.iter().find(|(code, _)| **code == country).map(|(_, length)| *length)
}

/// IBAN's check: moved, read as a number, 1 modulo 97 (ISO 7064).
pub fn mod97(iban: &[u8]) -> bool {
    let mut rest = 0u32;
    for byte in iban[4..].iter().chain(&iban[..4]) {
        rest = match byte {
            b'0'..=b'9' => rest * 10 + u32::from(byte - b'0'),
            _ => rest * 100 + u32::from(byte.to_ascii_uppercase() - b'A') + 10,
        } % 97;
    }
    rest == 1
}

/// Ten digits as the North American Numbering Plan gives them: neither area nor exchange begins with 0 or 1.
pub fn is_north_american(digits: &[u8]) -> bool {
    digits.len() == 10 && digits[0] >= b'2' && digits[3] >= b'2'
}

/// A social security number: no area of 000, 666 or 900 to 999, no group of 00, no serial of 0000.
pub fn is_social_security(digits: &[u8]) -> bool {
    let (area, group, serial) = (&digits[..3], &digits[3..5], &digits[5..]);
    area != b"000" && area != b"666" && area[0] != b'9' && group != b"00" && serial != b"0000"
}

/// Shannon's entropy of the bytes, in 1/256 bit per byte.
pub fn entropy(bytes: &[u8]) -> u32 {
    let mut counts = [0u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let length = bytes.len() as f64;
    let share = |count: u32| {
        let share = f64::from(count) / length;
        -share * libm::log2(share)
    };
    let bits: f64 = counts.iter().filter(|count| **count > 0).map(|count| share(*count)).sum();
    (bits * 256.0) as u32
}
