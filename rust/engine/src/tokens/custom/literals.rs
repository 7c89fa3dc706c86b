//! Added tokens that are not special: words that a file wants to find in any text before it is cut.

/// Such words with their ids.
#[derive(Default)]
pub(super) struct Literals {
    /// Longest first, so that the first that fits is the one.
    words: Vec<(Box<str>, u32)>,
    /// By first byte: whether any word begins so.
    begins: Vec<bool>,
}

/// A part of a text.
pub(super) enum Segment<'a> {
    Text(&'a str),
    Literal(u32),
}

impl Literals {
    pub(super) fn new(mut words: Vec<(Box<str>, u32)>) -> Self {
        words.retain(|(word, _)| !word.is_empty());
        words.sort_unstable_by(|one, other| other.0.len().cmp(&one.0.len()).then_with(|| one.cmp(other)));
        let mut begins = vec![false; 256];
        for (word, _) in &words {
            begins[usize::from(word.as_bytes()[0])] = true;
        }
        Self { words, begins }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The parts of a text, each with where it starts: leftmost words, the longest of those at one place.
    pub(super) fn segments<'a>(&self, text: &'a str) -> Vec<(usize, Segment<'a>)> {
        let (mut segments, mut from, mut at) = (Vec::new(), 0, 0);
        while !self.words.is_empty() && at < text.len() {
            if self.begins[usize::from(text.as_bytes()[at])]
                && let Some((word, id)) = self.words.iter().find(|(word, _)| text.as_bytes()[at..].starts_with(word.as_bytes()))
            {
                segments.extend((from < at).then(|| (from, Segment::Text(&text[from..at]))));
                segments.push((at, Segment::Literal(*id)));
                at += word.len();
                from = at;
            } else {
                at += 1;
            }
        }
        segments.extend((from < text.len()).then(|| (from, Segment::Text(&text[from..]))));
        segments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leftmost_and_longest_word_is_found() {
        let literals = Literals::new(vec![("ab".into(), 1), ("abc".into(), 2), ("é".into(), 3), ("".into(), 4)]);
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
