//! Blocks that a prompt shows: their words were remembered or retrieved, and nobody says them.

use std::borrow::Cow;

use crate::interrupt::Steps;

const NAMES: [&str; 8] = ["context", "recalled", "retrieved", "pinned", "memory", "newer", "summary", "items"];

/// A text with a space in place of each letter of such a block, so that every other letter keeps its place.
#[must_use]
pub fn without_blocks(text: &str) -> Cow<'_, str> {
    let (mut out, mut copied, mut at) = (String::new(), 0, 0);
    if !text.contains("</") {
        return Cow::Borrowed(text);
    }
    let (mut ends, mut steps) = (Ends { text, sign: 0, unclosed: [false; NAMES.len()] }, Steps::default());
    while let Some(open) = text[at..].find('<').map(|found| at + found) {
        steps.reach(open);
        at = open + 1;
        if let Some(end) = ends.of_block(open) {
            out.push_str(&text[copied..open]);
            out.extend(text[open..end].chars().map(|_| ' '));
            (copied, at) = (end, end);
        }
    }
    if copied == 0 { Cow::Borrowed(text) } else { Cow::Owned(out + &text[copied..]) }
}

/// The ends of the blocks of a text. It is asked from left to right, and goes through the text once for each name at most.
struct Ends<'a> {
    text: &'a str,
    /// The last `>` that was looked for; the text's length where none follows.
    sign: usize,
    /// The names of which no block ends any more.
    unclosed: [bool; NAMES.len()],
}

impl Ends<'_> {
    /// Where the block that opens at `open` is over; `None` where none does, or it is never closed.
    fn of_block(&mut self, open: usize) -> Option<usize> {
        let inside = &self.text[open + 1..];
        let place = NAMES.iter().position(|name| inside.strip_prefix(*name).is_some_and(ends_word))?;
        if self.unclosed[place] {
            return None;
        }
        if self.sign <= open {
            self.sign = inside.find('>').map_or(self.text.len(), |found| open + 1 + found);
        }
        let (begin, close) = (self.sign + 1, format!("</{}>", NAMES[place]));
        let found = self.text.get(begin..).and_then(|behind| behind.find(&close));
        self.unclosed[place] = found.is_none();
        found.map(|found| begin + found + close.len())
    }
}

fn ends_word(rest: &str) -> bool {
    rest.chars().next().is_none_or(|letter| !letter.is_alphanumeric() && letter != '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_prompt_shows_is_blank_and_the_rest_stays_where_it_is() {
        let spaces = |number| " ".repeat(number);
        for (text, left) in [
            ("a <memory id=\"1\">b</memory> c", &*format!("a{}c", spaces(27))),
            ("<recalled>\n<memory>x</memory>\n</recalled>!", &format!("{}!", spaces(41))),
            ("\u{e9} <items>\u{e9}</items>z", &format!("\u{e9}{}z", spaces(17))),
            ("<memorylane>a</memorylane>", "<memorylane>a</memorylane>"),
            ("<memory>never closed </b>", "<memory>never closed </b>"),
            ("a < b </i>", "a < b </i>"),
            ("<memory <items </memory> <items>a</items> </items", &format!("<memory {} </items", spaces(33))),
            ("<memory <memory>a</memory> <memory>", &format!("{} <memory>", spaces(26))),
        ] {
            assert_eq!(without_blocks(text), left);
            assert_eq!(without_blocks(text).chars().count(), text.chars().count());
        }
    }

    #[test]
    fn each_block_ends_where_it_would_alone() {
        fn end_of_block(text: &str, open: usize) -> Option<usize> {
            let inside = &text[open + 1..];
            let name = NAMES.iter().find(|name| inside.strip_prefix(**name).is_some_and(ends_word))?;
            let begin = inside.find('>')? + 1;
            let close = format!("</{name}>");
            inside[begin..].find(&close).map(|found| open + 1 + begin + found + close.len())
        }
        const PARTS: [&str; 7] = ["<memory", "<items", ">", " a", "</memory>", "</items>", "<items>"];
        for number in 0..PARTS.len().pow(6) {
            let text: String = (0..6).map(|place| PARTS[number / PARTS.len().pow(place) % PARTS.len()]).collect();
            let mut ends = Ends { text: &text, sign: 0, unclosed: [false; NAMES.len()] };
            let mut at = 0;
            while let Some(open) = text[at..].find('<').map(|found| at + found) {
                let end = ends.of_block(open);
                assert_eq!(end, end_of_block(&text, open), "{text} at {open}");
                at = end.unwrap_or(open + 1);
            }
        }
    }
}
