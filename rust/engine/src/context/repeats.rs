//! Texts that say the same to a reader: no text stands in a block twice. A memory and the message that told it often differ by a capital and
//! a full stop alone ("The owner of billing is Marco." and "the owner of billing is Marco"), or by the days that learning put into it.

use xxhash_rust::xxh3::xxh3_128;

use crate::units::days::without_days;
use crate::units::kept::Kept;

/// Marks that a text may end with or not. A question mark says something.
const ENDS: [char; 9] = ['.', '!', ',', ';', ':', '\u{2026}', '\u{3002}', '\u{ff01}', '\u{ff0e}'];

/// The prints of so many texts are kept: 64 KiB.
const TEXTS_KEPT: usize = 1 << 10;

/// Equal for two texts that say the same.
#[must_use]
pub(crate) fn print(text: &str) -> u128 {
    static KNOWN: Kept<u128, TEXTS_KEPT> = Kept::empty();
    KNOWN.of(text, (), || print_of(text), |_| true)
}

fn print_of(text: &str) -> u128 {
    let bare = without_days(text);
    let bare = bare.trim_end_matches(|end: char| end.is_whitespace() || ENDS.contains(&end));
    match bare.chars().next().filter(|first| first.is_uppercase()) {
        Some(first) => {
            let mut small = String::with_capacity(bare.len());
            small.extend(first.to_lowercase());
            small.push_str(&bare[first.len_utf8()..]);
            xxh3_128(small.as_bytes())
        }
        None => xxh3_128(bare.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::print;

    #[test]
    fn a_capital_and_a_full_stop_make_no_other_text() {
        for (one, other) in [
            ("The owner of billing is Marco.", "the owner of billing is Marco"),
            ("Never on Fridays!", "never on Fridays"),
            ("\u{c9}t\u{e9} in Lyon\u{2026}", "\u{e9}t\u{e9} in Lyon. "),
            ("Standup moved to Monday (2026-03-02).", "standup moved to Monday"),
            ("\u{6e2f}\u{53e3}\u{306f}8443\u{3067}\u{3059}\u{3002}", "\u{6e2f}\u{53e3}\u{306f}8443\u{3067}\u{3059}"),
            ("\u{884c}\u{304f}\u{ff01}", "\u{884c}\u{304f}"),
            ("tea", "tea"),
        ] {
            assert_eq!(print(one), print(other), "{one}");
        }
        for (one, other) in [
            ("The port is 8443?", "The port is 8443"),
            ("the owner is marco", "the owner is Marco"),
            ("DB_URL is gone", "dB_url is gone"),
            ("it is 3.1", "it is 3.10"),
            ("-5", "5"),
            ("the owner of billing is Marco", "so the owner of billing is Marco"),
        ] {
            assert_ne!(print(one), print(other), "{one}");
        }
    }
}
