//! A table of the folded forms of single characters of Latin, Greek, Cyrillic and of general punctuation.
//!
//! Normalising composes and reorders marks, so in general a text is not folded character by character. In these ranges, without
//! combining marks, no character composes with its neighbour, and the lookup equals the long way; a text with any other character
//! takes the long way. Tables are made by the long way itself, on first use (about 1,100 characters, well under a millisecond).

use unicode_normalization::char::is_combining_mark;

/// Latin to the end of Cyrillic, then general punctuation.
const RANGES: [(u32, usize); 2] = [(0x80, 0x4B0), (0x2000, 0x40)];
const SIZE: usize = RANGES[0].1 + RANGES[1].1;

/// The most bytes that one character folds to here.
const MOST: usize = 7;

/// Up to [`MOST`] bytes and how many they are; `None` where the long way must be taken.
type Entry = Option<([u8; MOST], u8)>;

/// One kind of folding.
pub(super) struct FoldTable([Entry; SIZE]);

impl FoldTable {
    /// The table of `fold`, which appends what a text becomes.
    pub(super) fn new(fold: impl Fn(&str, &mut Vec<u8>)) -> Self {
        let mut table = [None; SIZE];
        for c in RANGES.into_iter().flat_map(|(from, count)| from..from + count as u32).filter_map(char::from_u32) {
            table[index(c).expect("c is of the ranges")] = entry(c, &fold);
        }
        Self(table)
    }

    /// Appends what `text` becomes, ASCII by `ascii`; appends nothing and says `false` where the long way must be taken.
    pub(super) fn push(&self, text: &str, ascii: impl Fn(u8) -> u8, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        for c in text.chars() {
            if c.is_ascii() {
                out.push(ascii(c as u8));
            } else if let Some((bytes, len)) = index(c).and_then(|at| self.0[at]) {
                out.extend_from_slice(&bytes[..len as usize]);
            } else {
                out.truncate(start);
                return false;
            }
        }
        true
    }
}

fn index(c: char) -> Option<usize> {
    let inside = |(from, count): (u32, usize)| (c as usize).checked_sub(from as usize).filter(|at| *at < count);
    inside(RANGES[0]).or_else(|| inside(RANGES[1]).map(|at| RANGES[0].1 + at))
}

fn entry(c: char, fold: impl Fn(&str, &mut Vec<u8>)) -> Entry {
    let mut folded = Vec::new();
    fold(c.encode_utf8(&mut [0; 4]), &mut folded);
    let mut bytes = [0; MOST];
    bytes.get_mut(..folded.len()).filter(|_| !is_combining_mark(c))?.copy_from_slice(&folded);
    Some((bytes, folded.len() as u8))
}
