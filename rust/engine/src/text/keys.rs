//! Keys of whole texts: the key of a slot, and the form in which two memories are the same.

use unicode_normalization::UnicodeNormalization;

use super::fold::case_fold;

/// A slot's key: outer white space trimmed, case folded in full, NFC. Accents stay: `año` and `ano` are two slots.
///
/// Canonical caseless matching, Unicode Standard section 3.13, definition D145.
#[must_use]
pub fn slot_key(name: &str) -> String {
    let name = name.trim();
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    name.nfd().flat_map(case_fold).nfc().collect()
}

/// The form in which two memories are exact duplicates: NFC, line ends as `\n`, outer white space trimmed.
///
/// Case and inner white space stay: they are meaning in code, YAML, tables and names, and a memory that is wrongly taken for
/// a duplicate is lost, while one that is missed costs a row.
#[must_use]
pub fn duplicate_key(text: &str) -> String {
    let text = text.trim();
    let lines = || text.chars().zip(text.chars().skip(1).map(Some).chain([None])).filter_map(line_end);
    if text.is_ascii() { lines().collect() } else { lines().nfc().collect() }
}

/// `\r\n` and a lone `\r` are one `\n`.
fn line_end((c, next): (char, Option<char>)) -> Option<char> {
    match (c, next) {
        ('\r', Some('\n')) => None,
        ('\r', _) => Some('\n'),
        _ => Some(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_has_one_key_for_all_its_spellings() {
        for (a, b) in [("Scripting-Language", " scripting-language\n"), ("STRASSE", "Straße"), ("CAFÉ", "cafe\u{301}"), ("ΤΈΛΟΣ", "τέλος")]
        {
            assert_eq!(slot_key(a), slot_key(b), "{a} {b}");
        }
        assert_ne!(slot_key("año"), slot_key("ano"));
        assert_eq!(slot_key(" \t"), "");
    }

    #[test]
    fn a_slot_key_is_its_own_key() {
        for name in ["ΐ", "İ", "ǰ", "ᾳ", "ẞ", "\u{345}α\u{301}", "ﬃ", "가", "Ꭰ"] {
            let key = slot_key(name);
            assert_eq!(slot_key(&key), key, "{name}");
        }
    }

    #[test]
    fn duplicates_differ_in_encoding_and_outer_space_only() {
        assert_eq!(duplicate_key(" a\r\nb\rc\u{a0}"), duplicate_key("a\nb\nc"));
        assert_eq!(duplicate_key("cafe\u{301}"), duplicate_key("café"));
        assert_ne!(duplicate_key("Go"), duplicate_key("go"));
        assert_ne!(duplicate_key("if x:\n  y"), duplicate_key("if x:\n y"));
        assert_ne!(duplicate_key("ﬁ"), duplicate_key("fi"));
    }
}
