//! The words of a text as questions and memories are compared: between spaces, without marks, in small letters. The index has terms
//! (`text`), and the embedding tokens; these are for rules that look at a text word by word.

/// The text between spaces, without the marks around it.
pub(super) fn bare_words(text: &str) -> impl Iterator<Item = &str> {
    let bare = |word: &str| {
        let (first, last) = (word.as_bytes().first(), word.as_bytes().last());
        first.is_some_and(u8::is_ascii_alphanumeric) && last.is_some_and(u8::is_ascii_alphanumeric)
    };
    between_spaces(text).map(move |word| if bare(word) { word } else { word.trim_matches(|letter: char| !letter.is_alphanumeric()) })
}

/// The words of [`str::split_whitespace`]. Bytes of ASCII are compared as bytes.
fn between_spaces(text: &str) -> impl Iterator<Item = &str> {
    let is_space = |byte: u8| byte == b' ' || (b'\t'..=b'\r').contains(&byte);
    let mut rest = text;
    std::iter::from_fn(move || {
        let begin = rest.bytes().position(|byte| !is_space(byte))?;
        let long = rest.bytes().skip(begin).position(|byte| is_space(byte) || !byte.is_ascii());
        let mut end = long.map_or(rest.len(), |long| begin + long);
        let mut word = &rest[begin..end];
        if rest[end..].starts_with(|letter: char| !letter.is_ascii()) {
            word = rest[begin..].split_whitespace().next()?;
            end = rest.len() - rest[begin..].trim_start().len() + word.len();
        }
        rest = &rest[end..];
        Some(word)
    })
}

/// A bare word in small letters, with the apostrophe of ASCII.
pub(super) fn normal(word: &str) -> String {
    word.to_lowercase().replace('\u{2019}', "'")
}

/// A word without the ending of a possessive.
pub(super) fn without_s(word: &str) -> &str {
    word.strip_suffix("'s").or_else(|| word.strip_suffix("\u{2019}s")).unwrap_or(word)
}

/// Calls `of` with a word in small letters.
pub(super) fn in_small_letters<R>(word: &str, of: impl FnOnce(&[u8]) -> R) -> R {
    let mut letters = [0; 32];
    match letters.get_mut(..word.len()).filter(|_| word.is_ascii()) {
        Some(letters) => {
            letters.copy_from_slice(word.as_bytes());
            letters.make_ascii_lowercase();
            of(letters)
        }
        None => of(word.to_lowercase().as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_between_the_spaces_of_unicode() {
        for text in [
            "",
            " \t a b\u{b}c\u{1c}d\n",
            "\u{a0}a\u{a0} \u{3000}",
            "caf\u{e9} au\u{2003}lait\u{85}x",
            "\u{1f600}\u{2028}y \u{c9}",
            "it\u{2019}s \u{201c}so\u{201d}",
        ] {
            assert_eq!(between_spaces(text).collect::<Vec<_>>(), text.split_whitespace().collect::<Vec<_>>(), "{text:?}");
        }
    }
}
