//! Cutting a text at a character, by bytes or by characters; places in it by either.

/// The longest beginning of `text` of at most `most` bytes that ends between two characters.
#[must_use]
pub fn clip(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The first `most` characters of a text, for a message.
#[must_use]
pub fn first_chars(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

/// How many characters stand before a byte, which begins one or ends the text.
#[must_use]
pub fn chars_before(text: &str, byte: usize) -> usize {
    text[..byte].chars().count()
}

/// The byte at which a character begins; the end of the text behind its last.
#[must_use]
pub fn byte_of(text: &str, character: usize) -> usize {
    text.char_indices().nth(character).map_or(text.len(), |(at, _)| at)
}

/// The bytes at many characters, in rising order, in one pass.
#[must_use]
pub(crate) fn bytes_of(text: &str, characters: &[usize]) -> Vec<usize> {
    let mut left = text.char_indices().map(|(at, _)| at).enumerate().peekable();
    let byte_at = |wanted: &usize| {
        while left.next_if(|(number, _)| number < wanted).is_some() {}
        left.peek().map_or(text.len(), |(_, at)| *at)
    };
    characters.iter().map(byte_at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_never_cut() {
        let text = "aé中🦀";
        for most in 0..=text.len() + 2 {
            let expected = text.char_indices().map(|(at, _)| at).chain([text.len()]).filter(|at| *at <= most).max().unwrap_or(0);
            assert_eq!(clip(text, most), &text[..expected]);
        }
        for most in 0..=5 {
            assert_eq!(first_chars(text, most), text.chars().take(most).collect::<String>());
            assert_eq!(chars_before(text, byte_of(text, most)), most.min(4));
            assert_eq!(bytes_of(text, &[0, most, most + 2]), [0, most, most + 2].map(|one| byte_of(text, one)));
        }
    }
}
