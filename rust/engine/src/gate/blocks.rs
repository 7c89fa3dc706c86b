//! Blocks that a prompt shows: their words were remembered or retrieved, and nobody says them.

use std::borrow::Cow;

const NAMES: [&str; 8] = ["context", "recalled", "retrieved", "pinned", "memory", "newer", "summary", "items"];

/// A text with a space in place of each letter of such a block, so that every other letter keeps its place.
#[must_use]
pub fn without_blocks(text: &str) -> Cow<'_, str> {
    let (mut out, mut copied, mut at) = (String::new(), 0, 0);
    if !text.contains("</") {
        return Cow::Borrowed(text);
    }
    while let Some(open) = text[at..].find('<').map(|found| at + found) {
        at = open + 1;
        if let Some(end) = end_of_block(text, open) {
            out.push_str(&text[copied..open]);
            out.extend(text[open..end].chars().map(|_| ' '));
            (copied, at) = (end, end);
        }
    }
    if copied == 0 { Cow::Borrowed(text) } else { Cow::Owned(out + &text[copied..]) }
}

/// Where the block that opens at `open` is over; `None` where none does, or it is never closed.
fn end_of_block(text: &str, open: usize) -> Option<usize> {
    let inside = &text[open + 1..];
    let name = NAMES.iter().find(|name| inside.strip_prefix(**name).is_some_and(ends_word))?;
    let begin = inside.find('>')? + 1;
    let close = format!("</{name}>");
    inside[begin..].find(&close).map(|found| open + 1 + begin + found + close.len())
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
        ] {
            assert_eq!(without_blocks(text), left);
            assert_eq!(without_blocks(text).chars().count(), text.chars().count());
        }
    }
}
