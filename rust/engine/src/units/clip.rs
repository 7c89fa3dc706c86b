//! Cutting a text at a character, by bytes or by characters.

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
        }
    }
}
