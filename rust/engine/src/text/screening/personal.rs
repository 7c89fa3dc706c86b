//! Personal data: cards, accounts and social security numbers by their check digits and ranges, phone numbers, e-mail, addresses.

use super::secrets::is_an_id;
use super::validators::{iban_length, is_card, is_north_american, is_social_security, mod97};
use super::{Finding, Sensitive, abroad, before, follows_word, has_cue, is_word, is_word_at};

/// How far back a cue may stand, in bytes.
const CUE_BYTES: usize = 48;

/// The personal data that begins at a token's begin.
pub fn at(text: &str, at: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    match bytes[at] {
        b'@' => email(text, at),
        b'+' => international(bytes, at),
        b'0'..=b'9' | b'(' => number(text, at).or_else(|| address(text, at)),
        b'A'..=b'Z' | b'a'..=b'z' => iban(bytes, at),
        0x80.. => abroad::card(text, at),
        _ => None,
    }
}

/// `local@domain.tld` around the sign at `at`.
fn email(text: &str, at: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let local = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-');
    let start = at - bytes[..at].iter().rev().take_while(|byte| local(**byte)).count();
    let mut end = at + 1 + bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')).count();
    while end > at + 1 && matches!(bytes[end - 1], b'.' | b'-') {
        end -= 1;
    }
    let domain = &bytes[at + 1..end];
    let top = domain.iter().rposition(|byte| *byte == b'.').map(|dot| &domain[dot + 1..])?;
    let has_name = start < at && bytes[start..at].iter().any(u8::is_ascii_alphanumeric);
    let is_domain =
        domain.len() > top.len() + 1 && domain[0] != b'.' && (2..=24).contains(&top.len()) && top.iter().all(u8::is_ascii_alphabetic);
    // `git@github.com:owner/name` names a repository, `logo@2x.png` a file.
    let is_repository =
        &bytes[start..at] == b"git" || bytes.get(end) == Some(&b':') && bytes.get(end + 1).is_some_and(u8::is_ascii_alphabetic);
    let is_file = [&b"png"[..], b"jpg", b"svg", b"webp"].contains(&top);
    (has_name && is_domain && !is_repository && !is_file).then_some(Finding { what: Sensitive::Email, start, end })
}

/// Digits from `at` on, with the separators between them: digits, separators, where it ends. A space may be one that does not break.
fn digits_at(bytes: &[u8], at: usize, separators: &[u8]) -> (Vec<u8>, Vec<u8>, usize) {
    let (mut digits, mut between, mut end, mut here) = (Vec::new(), Vec::new(), at, at);
    while here < bytes.len() && digits.len() < 24 {
        match bytes[here] {
            byte if byte.is_ascii_digit() => {
                digits.push(byte);
                end = here + 1;
            }
            byte if separators.contains(&byte) && (here == end || byte == b' ' && bytes[here - 1] == b')') => between.push(byte),
            0x80.. if here == end && abroad::blank(&bytes[here..]) > 0 => {
                between.push(b' ');
                here += abroad::blank(&bytes[here..]) - 1;
            }
            _ => break,
        }
        here += 1;
    }
    between.truncate(between.len().saturating_sub(usize::from(here > end)));
    (digits, between, end)
}

/// Whether nothing that belongs to it follows: a letter, or a sign that joins it to more.
fn ends_free(bytes: &[u8], end: usize) -> bool {
    let next = bytes.get(end).copied().unwrap_or(b' ');
    let joined = matches!(next, b'-' | b'.' | b'/' | b':' | b'@' | b',') && bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
    !is_word_at(bytes, end) && !joined
}

/// Whether nothing that belongs to it stands before.
fn begins_free(bytes: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|at| bytes[at]) else { return true };
    let joined = matches!(before, b'-' | b'.' | b'/' | b'#' | b'$' | b'%' | b'&' | b',' | b':');
    !(joined || follows_word(bytes, at) || before >= 0x80 && abroad::ends_currency(&bytes[..at]))
}

/// A card, a social security number, or a phone number without its country.
fn number(text: &str, at: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let separated = |what, end| Some(Finding { what, start: at, end });
    if !(begins_free(bytes, at) || at > 0 && bytes[at - 1] == b':') {
        return None;
    }
    let context = || before(text, at, CUE_BYTES);
    if bytes[at] != b'(' {
        if let Some(end) = card(bytes, at) {
            return if named_card(text, at) { separated(Sensitive::PaymentCard, end) } else { None };
        }
        if let Some(end) = social_security(bytes, at) {
            let context = context();
            let says_so = has_cue(&context, &["ssn", "social", "social security"]);
            return if says_so || !(is_an_id(&context) || abroad::is_numbered(&context)) {
                separated(Sensitive::SocialSecurity, end)
            } else {
                None
            };
        }
    }
    local_phone(text, at)
}

/// Whether the words before the number of a card do not call it an id, or call it a card.
pub fn named_card(text: &str, at: usize) -> bool {
    let context = before(text, at, CUE_BYTES);
    let says_card = || has_cue(&context, &["card", "visa", "mastercard", "amex", "credit", "debit", "cc", "pay", "charge", "pan"]);
    !(is_an_id(&context) || abroad::is_numbered(&context)) || says_card()
}

fn card(bytes: &[u8], at: usize) -> Option<usize> {
    let (digits, between, end) = digits_at(bytes, at, b" -");
    let one_kind = between.windows(2).all(|pair| pair[0] == pair[1]) && between.len() <= 4;
    if is_card(&digits) && one_kind && ends_free(bytes, end) {
        return Some(end);
    }
    // "4111 1111 1111 1111 12/26": the expiry is not of the number.
    let grouped = between.first() == Some(&b' ') && digits.len() > 16;
    (grouped && is_card(&digits[..16]) && bytes.get(at + 4) == Some(&b' ') && bytes.get(at + 19).is_some_and(|byte| *byte == b' '))
        .then_some(at + 19)
}

/// `ddd-dd-dddd`, with `-` or spaces.
fn social_security(bytes: &[u8], at: usize) -> Option<usize> {
    let shape = bytes.get(at..at + 11)?;
    let sign = shape[3];
    let fits = (sign == b'-' || sign == b' ')
        && shape[6] == sign
        && shape.iter().enumerate().all(|(place, byte)| matches!(place, 3 | 6) || byte.is_ascii_digit());
    let digits: Vec<u8> = shape.iter().copied().filter(u8::is_ascii_digit).collect();
    (fits && is_social_security(&digits) && ends_free(bytes, at + 11)).then_some(at + 11)
}

/// `415-555-0132`, `(415) 555-0132`; with points, spaces or nothing between only where a word says that it is one.
fn local_phone(text: &str, at: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let opened = bytes[at] == b'(';
    let (digits, between, end) = digits_at(bytes, at + usize::from(opened), b") -.");
    let national = digits.strip_prefix(b"1").filter(|rest| rest.len() == 10).unwrap_or(&digits);
    if !is_north_american(national) || !ends_free(bytes, end) {
        return None;
    }
    let grouped = |sign: u8| between.len() >= 2 && between.iter().all(|one| *one == sign);
    let plain = opened && between.first() == Some(&b')') || grouped(b'-') && group_sizes(&bytes[at..end]);
    let context = before(text, at, CUE_BYTES);
    let says_phone = has_cue(
        &context,
        &[
            "phone",
            "call",
            "tel",
            "telephone",
            "mobile",
            "cell",
            "text me",
            "reach",
            "fax",
            "whatsapp",
            "sms",
            "dial",
            "number",
            "contact",
            "ring",
        ],
    );
    let names_id = is_an_id(&context);
    ((plain || says_phone) && (!names_id || says_phone && !context.contains("order") && !context.contains("invoice"))).then_some(Finding {
        what: Sensitive::Phone,
        start: at,
        end,
    })
}

/// Whether the groups are 3-3-4, with a 1 before or not.
fn group_sizes(shape: &[u8]) -> bool {
    let sizes: Vec<usize> = shape.split(|byte| *byte == b'-').map(<[u8]>::len).collect();
    sizes == [3, 3, 4] || sizes == [1, 3, 3, 4]
}

/// `+49 30 901820`: a plus, a country, 8 to 15 digits.
fn international(bytes: &[u8], at: usize) -> Option<Finding> {
    let (digits, between, end) = digits_at(bytes, at + 1, b") (-.");
    let zeros = digits.iter().rev().take_while(|digit| **digit == b'0').count();
    let length_fits = (9..=15).contains(&digits.len()) || digits.len() == 8 && !between.is_empty();
    (length_fits && digits[0] != b'0' && zeros < 6 && ends_free(bytes, end)).then_some(Finding { what: Sensitive::Phone, start: at, end })
}

/// An IBAN, in one piece or in groups of four.
fn iban(bytes: &[u8], at: usize) -> Option<Finding> {
    let head = bytes.get(at..at + 4)?;
    if !head[..2].iter().all(u8::is_ascii_alphabetic) || !head[2..].iter().all(u8::is_ascii_digit) {
        return None;
    }
    let length = iban_length([head[0].to_ascii_uppercase(), head[1].to_ascii_uppercase()])?;
    let (mut kept, mut end) = (Vec::with_capacity(length), at);
    while kept.len() < length && end < bytes.len() {
        match bytes[end] {
            byte if byte.is_ascii_alphanumeric() => kept.push(byte),
            b' ' | b'-' => {}
            _ if abroad::blank(&bytes[end..]) > 0 => end += abroad::blank(&bytes[end..]) - 1,
            _ => return None,
        }
        end += 1;
    }
    (kept.len() == length && !bytes.get(end).is_some_and(u8::is_ascii_alphanumeric) && mod97(&kept)).then_some(Finding {
        what: Sensitive::Iban,
        start: at,
        end,
    })
}

const STREETS: [&str; 32] = [
    "street",
    "st",
    "avenue",
    "ave",
    "road",
    "rd",
    "lane",
    "ln",
    "drive",
    "dr",
    "boulevard",
    "blvd",
    "court",
    "ct",
    "way",
    "place",
    "pl",
    "square",
    "sq",
    "terrace",
    "crescent",
    "close",
    "parkway",
    "pkwy",
    "highway",
    "hwy",
    "circle",
    "trail",
    "alley",
    "row",
    "walk",
    "gardens",
];

/// A number, one to four words and the word for a street, where the words before say that somebody lives or receives there.
fn address(text: &str, at: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 || digits > 5 || bytes.get(at + digits) != Some(&b' ') {
        return None;
    }
    let context = before(text, at, CUE_BYTES);
    let cues = [
        "address",
        "live at",
        "lives at",
        "living at",
        "reside at",
        "ship to",
        "deliver to",
        "moved to",
        "home is",
        "mail to",
        "send it to",
    ];
    if !has_cue(&context, &cues) {
        return None;
    }
    let mut end = at + digits;
    for _ in 0..5 {
        if bytes.get(end) != Some(&b' ') {
            return None;
        }
        let word = bytes[end + 1..].iter().take_while(|byte| is_word(**byte) || matches!(byte, b'\'' | b'-' | 0x80..)).count();
        let name = text.get(end + 1..end + 1 + word)?.to_ascii_lowercase();
        if word == 0 {
            return None;
        }
        end += 1 + word;
        if STREETS.contains(&name.as_str()) && end > at + digits + 1 + word {
            return Some(Finding { what: Sensitive::Address, start: at, end });
        }
    }
    None
}
