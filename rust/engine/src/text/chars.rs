//! The classes of characters for the analyzer: one table for ASCII, a few ranges for the rest.

use unicode_normalization::char::is_combining_mark;

/// White space and control characters: end a chunk.
pub(super) const SPACE: u8 = 1;
/// `a` to `z`.
pub(super) const LOWER: u8 = 2;
/// `A` to `Z`.
pub(super) const UPPER: u8 = 4;
/// `0` to `9`.
pub(super) const DIGIT: u8 = 8;
/// Joins the pieces of an identifier.
pub(super) const CONNECTOR: u8 = 16;
/// Joins them only inside a URL.
pub(super) const URL_CONNECTOR: u8 = 32;
/// May stand before a plain word without meaning anything.
pub(super) const OPENER: u8 = 64;
/// May stand after a plain word without meaning anything.
pub(super) const CLOSER: u8 = 128;

/// A letter of ASCII.
pub(super) const LETTER: u8 = LOWER | UPPER;
/// A letter or a digit of ASCII.
pub(super) const ALNUM: u8 = LETTER | DIGIT;

const TABLE: [u8; 256] = table();

const fn table() -> [u8; 256] {
    let mut table = [0; 256];
    table = mark(table, b"-./\\:@#$+~&_", CONNECTOR);
    table = mark(table, b"=?%", URL_CONNECTOR);
    table = mark(table, b"\"'([{*`<", OPENER);
    table = mark(table, b".,;:!?)]}\"'*`>", CLOSER);
    table = mark(table, b"abcdefghijklmnopqrstuvwxyz", LOWER);
    table = mark(table, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", UPPER);
    table = mark(table, b"0123456789", DIGIT);
    let mut control = 0;
    while control <= 0x20 {
        table[control] = SPACE;
        control += 1;
    }
    table[0x7f] = SPACE;
    table
}

const fn mark(mut table: [u8; 256], bytes: &[u8], flag: u8) -> [u8; 256] {
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] |= flag;
        at += 1;
    }
    table
}

/// Whether a byte has one of the flags; bytes of longer characters have none.
#[inline]
pub(super) fn is(byte: u8, flags: u8) -> bool {
    TABLE[byte as usize] & flags != 0
}

/// A letter, a digit or a mark on one: the parts of words. `_` is a connector.
pub(super) fn is_word(c: char) -> bool {
    if c.is_ascii() { is(c as u8, ALNUM) } else { c.is_alphanumeric() || is_combining_mark(c) }
}

/// A character of a script that writes no spaces between words, or (Hangul) glues its particles to them: such text becomes bigrams.
#[inline]
pub(super) fn is_gram(c: char) -> bool {
    c >= '\u{E00}' && is_high_gram(c)
}

fn is_high_gram(c: char) -> bool {
    matches!(c as u32,
        0x0E00..=0x0EFF          // Thai, Lao
        | 0x1000..=0x109F        // Myanmar
        | 0x1100..=0x11FF        // Hangul jamo
        | 0x1780..=0x17FF        // Khmer
        | 0x1980..=0x19DF        // New Tai Lue
        | 0x1A20..=0x1AAF        // Tai Tham
        | 0x3005..=0x3007        // iteration mark, closing mark, zero
        | 0x3041..=0x31FF        // kana, bopomofo, Hangul compatibility jamo
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF // Han
        | 0xA000..=0xA4CF        // Yi
        | 0xA960..=0xA97F | 0xAC00..=0xD7FF // Hangul
        | 0xA9E0..=0xA9FF | 0xAA60..=0xAA7F // Myanmar extended
        | 0xF900..=0xFAFF        // Han compatibility
        | 0x1AFF0..=0x1B16F      // kana extended
        | 0x20000..=0x3FFFF      // Han extensions
    ) && (c.is_alphanumeric() || is_combining_mark(c))
}

/// A mark that leaves a readable word when it is dropped: accents, Hebrew points, Arabic vowel signs. Marks that are letters of
/// their own (Indic vowels, the voicing marks of kana) are not here.
pub(super) fn is_accent(c: char) -> bool {
    matches!(c as u32,
        0x0300..=0x036F | 0x0483..=0x0487 | 0x1AB0..=0x1ACE | 0x1DC0..=0x1DFF | 0x20D0..=0x20F0 | 0xFE20..=0xFE2F
        | 0x0591..=0x05BD | 0x05BF | 0x05C1..=0x05C2 | 0x05C4..=0x05C5 | 0x05C7
        | 0x0610..=0x061A | 0x064B..=0x065F | 0x0670 | 0x06D6..=0x06DC | 0x06DF..=0x06E4 | 0x06E7..=0x06E8 | 0x06EA..=0x06ED)
}

/// A character that is drawn as nothing: soft hyphen, zero-width spaces and joiners, direction marks, variation selectors, tatweel.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c as u32,
        0x00AD | 0x034F | 0x061C | 0x0640 | 0x180B..=0x180F | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F
        | 0xFE00..=0xFE0F | 0xFEFF | 0xE0000..=0xE0FFF)
}

/// The ASCII digit of a decimal digit of another script.
pub(super) fn ascii_digit(c: char) -> Option<char> {
    const ZEROS: [u32; 18] =
        [0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xE50, 0xED0, 0xF20, 0x1040, 0x17E0, 0x1810];
    let zero = ZEROS.into_iter().find(|zero| (*zero..zero + 10).contains(&(c as u32)))?;
    char::from_digit(c as u32 - zero, 10)
}
