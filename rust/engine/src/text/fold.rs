//! Folding: one form for what readers take for the same word.
//!
//! `normalise` runs once over a chunk that is not ASCII and keeps case (camelCase needs it): NFKC, curly quotes and hyphens as
//! their ASCII twins, digits as ASCII digits, invisible characters dropped. `fold` then makes a term: full case folding and no
//! accents. Full case folding is lower(upper(lower(c))) of the standard library, which equals `CaseFolding.txt` (status C and F)
//! as an equivalence, with the dotless i kept; a test holds it to the letters for which the two could differ.

use unicode_normalization::UnicodeNormalization;

use super::chars::{ascii_digit, is_accent, is_invisible};
use super::fold_table::FoldTable;
use super::terms::Term;
use crate::process::Lazy;

static NORMAL: Lazy<FoldTable> = Lazy::new(|| {
    FoldTable::new(|text, out| {
        let mut plain = String::new();
        normalise_any(text, &mut plain);
        out.extend_from_slice(plain.as_bytes());
    })
});
static BARE: Lazy<FoldTable> = Lazy::new(|| FoldTable::new(|text, out| out.extend_from_slice(term_of(text, fold_any).bytes())));
static ACCENTED: Lazy<FoldTable> =
    Lazy::new(|| FoldTable::new(|text, out| out.extend_from_slice(term_of(text, fold_accented_any).bytes())));

fn term_of(text: &str, fold: impl Fn(&str, &mut Term)) -> Term {
    let mut term = Term::default();
    term.clear();
    fold(text, &mut term);
    term
}

/// The chunk in the form that the rest of the analyzer reads.
pub(super) fn normalise(chunk: &str, out: &mut String) {
    let mut bytes = std::mem::take(out).into_bytes();
    bytes.clear();
    let looked_up = NORMAL.push(chunk, |b| b, &mut bytes);
    *out = String::from_utf8(bytes).unwrap_or_default(); // whole characters only: never the default
    if !looked_up {
        normalise_any(chunk, out);
    }
}

fn normalise_any(chunk: &str, out: &mut String) {
    out.clear();
    out.extend(chunk.chars().filter_map(tidy).nfkc());
}

/// A character's plain twin, or nothing if it is invisible.
fn tidy(c: char) -> Option<char> {
    match c {
        '\0'..='\x7f' => Some(c),
        '\u{2018}' | '\u{2019}' | '\u{201B}' | '\u{2BC}' | '\u{B7}' | '\u{5F3}' | '\u{5F4}' => Some('\''),
        '\u{2010}' | '\u{2011}' | '\u{2212}' => Some('-'),
        _ if is_invisible(c) => None,
        _ => Some(ascii_digit(c).unwrap_or(c)),
    }
}

/// Full case folding of one character.
pub(super) fn case_fold(c: char) -> impl Iterator<Item = char> {
    let kept = (c == 'ı').then_some(c);
    let folded = (c != 'ı').then(|| c.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase));
    kept.into_iter().chain(folded.into_iter().flatten())
}

/// A word as the terms of a text have it: case folded and without accents.
pub(crate) fn folded(word: &str) -> String {
    let (mut plain, mut term) = (String::new(), Term::default());
    normalise(word, &mut plain);
    term.clear();
    fold(&plain, &mut term);
    String::from_utf8(term.bytes().to_vec()).unwrap_or_default() // folded text is UTF-8
}

/// Appends a word or an identifier, case folded and without accents; an apostrophe inside is dropped.
pub(super) fn fold(text: &str, term: &mut Term) {
    if text.is_ascii() {
        return text.split('\'').for_each(|piece| term.push_ascii(piece.as_bytes()));
    }
    if text.contains('\'') || !BARE.push(text, |b| b.to_ascii_lowercase(), term.bytes_mut()) {
        fold_any(text, term);
    }
}

fn fold_any(text: &str, term: &mut Term) {
    let bare = text.nfd().filter(|c| !is_accent(*c) && *c != '\'').flat_map(case_fold);
    bare.nfc().for_each(|c| push_plain(c, term));
}

/// The letters whose stroke, bar or ligature Unicode does not decompose.
fn push_plain(c: char, term: &mut Term) {
    match c {
        'ø' => term.push(b"o"),
        'ł' => term.push(b"l"),
        'đ' | 'ð' => term.push(b"d"),
        'ħ' => term.push(b"h"),
        'ŧ' => term.push(b"t"),
        'ı' => term.push(b"i"),
        'æ' => term.push(b"ae"),
        'œ' => term.push(b"oe"),
        'þ' => term.push(b"th"),
        _ => term.push_char(c),
    }
}

/// Appends a word, case folded, accents kept.
pub(super) fn fold_accented(word: &str, term: &mut Term) {
    if word.contains('\'') || !ACCENTED.push(word, |b| b.to_ascii_lowercase(), term.bytes_mut()) {
        fold_accented_any(word, term);
    }
}

fn fold_accented_any(word: &str, term: &mut Term) {
    word.nfd().filter(|c| *c != '\'').flat_map(case_fold).nfc().for_each(|c| term.push_char(c));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_folded_in_full() {
        for (a, b) in [
            ("Straße", "STRASSE"),
            ("STRAẞE", "strasse"),
            ("ΣΊΣΥΦΟΣ", "σίσυφος"),
            ("ſo", "SO"),
            ("ﬁn", "FIN"),
            ("ꭰ", "Ꭰ"),
            ("Ⅷ", "viii"),
            ("K", "k"),
        ] {
            assert_eq!(folded(a), folded(b), "{a} {b}");
        }
    }

    #[test]
    fn accents_and_strokes_go() {
        for (text, bare) in [
            ("café", "cafe"),
            ("cafe\u{301}", "cafe"),
            ("Łódź", "lodz"),
            ("Ørsted", "orsted"),
            ("İSTANBUL", "istanbul"),
            ("ısı", "isi"),
            ("Đặng", "dang"),
            ("Œuvre", "oeuvre"),
            ("ё", "е"),
            ("שָׁלוֹם", "שלום"),
            ("مُحَمَّد", "محمد"),
            ("ｐａｙ", "pay"),
            ("co\u{ad}op", "coop"),
            ("col·lecció", "colleccio"),
        ] {
            assert_eq!(folded(text), bare, "{text}");
        }
    }

    /// Every character of the tables, alone and between neighbours, against the long way.
    #[test]
    fn the_tables_equal_the_long_way() {
        let (mut fast, mut slow) = (String::new(), String::new());
        for c in (0x80..0x560).chain(0x1FF0..0x2050).filter_map(char::from_u32) {
            for text in [format!("{c}"), format!("a{c}É{c}{c}ё"), format!("é{c}\u{301}{c}A")] {
                normalise(&text, &mut fast);
                normalise_any(&text, &mut slow);
                assert_eq!(fast, slow, "{c:?}");
                assert_eq!(term_of(&slow, fold).bytes(), term_of(&slow, fold_any).bytes(), "{c:?}");
                assert_eq!(term_of(&slow, fold_accented).bytes(), term_of(&slow, fold_accented_any).bytes(), "{c:?}");
            }
        }
    }

    #[test]
    fn marks_that_are_letters_stay() {
        for text in ["が", "हिन्दी", "ไทย"] {
            assert_eq!(folded(text), text.nfkc().collect::<String>());
        }
    }
}
