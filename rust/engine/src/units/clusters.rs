//! Where a text may be cut so that nothing is torn that a reader takes for one character: the borders of the extended grapheme clusters of
//! UAX #29. A flag is two characters, a family of emoji up to seven, and a letter stands before its marks.

use unicode_segmentation::GraphemeCursor;

use super::clip::clip;

/// The last border at a byte or before it; the start of the text is one. Linear in the cluster, and in a row of flags.
#[must_use]
pub fn border_at_or_before(text: &str, byte: usize) -> usize {
    let mut at = byte.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    if is_border(text, at) { at } else { cursor(text, at).prev_boundary(text, 0).ok().flatten().unwrap_or(0) }
}

/// The first border at a byte or behind it; the end of the text is one. Linear in the cluster, and in a row of flags.
#[must_use]
pub fn border_at_or_behind(text: &str, byte: usize) -> usize {
    let mut at = byte.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    if is_border(text, at) { at } else { cursor(text, at).next_boundary(text, 0).ok().flatten().unwrap_or(text.len()) }
}

/// The end of a beginning of at most `most` bytes: between two clusters; between two characters where the first cluster alone is longer.
#[must_use]
pub fn cut_at_or_before(text: &str, most: usize) -> usize {
    match border_at_or_before(text, most) {
        0 => clip(text, most).len(),
        border => border,
    }
}

/// Whether two clusters meet where a character begins, or the text ends. It looks back as far as a cluster or a row of flags goes.
#[must_use]
pub fn is_border(text: &str, at: usize) -> bool {
    match (text.as_bytes()[..at].last(), text.as_bytes().get(at)) {
        (Some(before), Some(behind)) if before.is_ascii() && behind.is_ascii() => (*before, *behind) != (b'\r', b'\n'),
        (Some(_), Some(_)) => cursor(text, at).is_boundary(text, 0) != Ok(false),
        _ => true,
    }
}

fn cursor(text: &str, at: usize) -> GraphemeCursor {
    GraphemeCursor::new(at, text.len(), true)
}

#[cfg(test)]
mod tests {
    use unicode_segmentation::UnicodeSegmentation;

    use super::*;

    #[test]
    fn the_borders_are_those_of_the_clusters() {
        let texts = [
            "abc\r\nd\n\re",
            "e\u{301}\u{323}a \u{301}",
            "\u{1f469}\u{1f3fd}\u{200d}\u{1f4bb} \u{1f3f3}\u{fe0f}\u{200d}\u{1f308}1\u{fe0f}\u{20e3}",
            "\u{1f1e9}\u{1f1ea}\u{1f1eb}\u{1f1f7}\u{1f1ef}",
            "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}",
            "\u{915}\u{94d}\u{937}\u{924}\u{94d}\u{930}\u{93f}\u{92f}",
            "\u{e19}\u{e49}\u{e33}\u{e40}\u{e07}\u{e34}\u{e19}",
            "\u{600}1\u{600}\u{600}x",
        ];
        for text in texts {
            let borders: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect();
            for byte in 0..text.len() + 2 {
                let before = borders.iter().rev().find(|at| **at <= byte);
                let behind = borders.iter().find(|at| **at >= byte).copied().unwrap_or(text.len());
                assert_eq!(Some(&border_at_or_before(text, byte)), before, "{text:?} at {byte}");
                assert_eq!(border_at_or_behind(text, byte), behind, "{text:?} at {byte}");
            }
        }
        assert_eq!((border_at_or_before("", 3), border_at_or_behind("", 3)), (0, 0));
    }

    #[test]
    fn a_cluster_that_is_too_long_is_cut_between_characters() {
        let text = "e\u{301}\u{323}a\u{301}";
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(|most| cut_at_or_before(text, most)), [0, 1, 1, 3, 3, 5, 5, 5, 8, 8]);
    }

    #[test]
    fn borders_are_found_in_a_cluster_of_a_million_characters() {
        for one in ["\u{301}", "\u{1f1e9}", "\u{915}\u{94d}", "\u{200d}\u{1f469}", "\u{1f469}\u{1f3fd}"] {
            let text = format!("a{}", one.repeat(1_000_000));
            for byte in [text.len() / 3, text.len() / 2 + 1, text.len() - 3] {
                assert!(border_at_or_before(&text, byte) <= byte && border_at_or_behind(&text, byte) >= byte);
            }
        }
    }
}
