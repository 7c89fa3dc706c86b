//! Words that a file wants to find in any text before it is cut: added tokens that are not special, and `SentencePiece`'s user-defined pieces.

use std::collections::HashMap;

/// Such words with their ids.
#[derive(Default)]
pub(super) struct Literals {
    ids: HashMap<Box<str>, u32>,
    /// By first byte: how long the words are that begin so, longest first.
    lengths: Box<[Vec<usize>]>,
}

/// A part of a text.
pub(super) enum Segment<'a> {
    Text(&'a str),
    Literal(u32),
}

impl Literals {
    /// The id of a word that stands twice is that of its first.
    pub(super) fn new(words: Vec<(Box<str>, u32)>) -> Self {
        let (mut ids, mut lengths) = (HashMap::new(), vec![Vec::new(); 256]);
        for (word, id) in words {
            let Some(first) = word.bytes().next() else { continue };
            lengths[usize::from(first)].push(word.len());
            ids.entry(word).or_insert(id);
        }
        for lengths in &mut lengths {
            lengths.sort_unstable_by(|one, other| other.cmp(one));
            lengths.dedup();
        }
        Self { ids, lengths: lengths.into() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The parts of a text, each with where it starts: leftmost words, the longest of those at one place.
    pub(super) fn segments<'a>(&self, text: &'a str) -> Vec<(usize, Segment<'a>)> {
        let (mut segments, mut from, mut at) = (Vec::new(), 0, 0);
        while !self.ids.is_empty() && at < text.len() {
            if let Some((width, id)) = self.at(text, at) {
                segments.extend((from < at).then(|| (from, Segment::Text(&text[from..at]))));
                segments.push((at, Segment::Literal(id)));
                at += width;
                from = at;
            } else {
                at += 1;
            }
        }
        segments.extend((from < text.len()).then(|| (from, Segment::Text(&text[from..]))));
        segments
    }

    /// Width and id of the longest word at `at`.
    fn at(&self, text: &str, at: usize) -> Option<(usize, u32)> {
        let lengths = &self.lengths[usize::from(text.as_bytes()[at])];
        lengths.iter().find_map(|&width| self.ids.get(text.get(at..at + width)?).map(|id| (width, *id)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leftmost_and_longest_word_is_found() {
        let words = [("ab", 1), ("abc", 2), ("é", 3), ("", 4), ("ab", 5)].map(|(word, id)| (word.into(), id));
        let literals = Literals::new(words.into());
        let shown: Vec<String> = literals
            .segments("xabcabyéz")
            .into_iter()
            .map(|(at, segment)| match segment {
                Segment::Text(text) => format!("{at}:{text}"),
                Segment::Literal(id) => format!("{at}={id}"),
            })
            .collect();
        assert_eq!(shown, ["0:x", "1=2", "4=1", "6:y", "7=3", "9:z"]);
        assert_eq!(Literals::default().segments("abc").len(), 1);
        assert!(literals.segments("").is_empty());
    }
}
