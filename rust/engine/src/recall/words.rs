//! The words of a text as questions and memories are compared: between spaces, without marks, in small letters. The index has terms
//! (`text`), and the embedding tokens; these are for rules that look at a text word by word.

/// The words of one text, which is cut once for all that look at them.
#[derive(Debug, Default)]
pub(super) struct Words<'t> {
    /// Those between spaces, without the marks around them.
    pub bare: Vec<&'t str>,
    /// The words before "'s", with the marks in front of them.
    pub owners: Vec<&'t str>,
    /// The bare ones, those with a hyphen in their parts, where one has one or is a mark.
    parts: Option<Vec<&'t str>>,
}

impl<'t> Words<'t> {
    pub fn of(text: &'t str) -> Self {
        let mut words = Self { bare: Vec::with_capacity(text.len() / 4 + 1), ..Self::default() };
        let mut is_whole = true;
        let mut from = 0;
        while let Some(marked) = next_word(text, &mut from) {
            if marked.as_bytes().last() == Some(&b's') {
                let owner = without_s(marked);
                words.owners.extend(Some(owner).filter(|owner| owner.len() < marked.len()));
            }
            let bare = bare(marked);
            is_whole &= !bare.is_empty();
            words.bare.push(bare);
        }
        if !is_whole || text.as_bytes().contains(&b'-') {
            let mut parts = Vec::with_capacity(words.bare.len() + 8);
            for word in &words.bare {
                if word.as_bytes().contains(&b'-') {
                    parts.extend(word.split('-').filter(|part| !part.is_empty()));
                } else if !word.is_empty() {
                    parts.push(*word);
                }
            }
            words.parts = Some(parts);
        }
        words
    }

    /// The bare words, those with a hyphen in their parts, and none that is empty.
    pub fn parts(&self) -> &[&'t str] {
        self.parts.as_deref().unwrap_or(&self.bare)
    }
}

/// The words of a text that nothing else looks at, without the marks around them.
pub(super) fn bare_words(text: &str) -> impl Iterator<Item = &str> {
    let mut from = 0;
    std::iter::from_fn(move || next_word(text, &mut from).map(bare))
}

/// The next word of [`str::split_whitespace`] from there on. Bytes of ASCII are compared as bytes.
#[inline]
fn next_word<'t>(text: &'t str, from: &mut usize) -> Option<&'t str> {
    let is_space = |byte: u8| byte == b' ' || (b'\t'..=b'\r').contains(&byte);
    let (bytes, mut begin) = (text.as_bytes(), *from);
    while begin < bytes.len() && is_space(bytes[begin]) {
        begin += 1;
    }
    let mut end = begin;
    while end < bytes.len() && (b'!'..=b'~').contains(&bytes[end]) {
        end += 1;
    }
    if end == bytes.len() || is_space(bytes[end]) {
        *from = end;
        return Some(&text[begin..end]).filter(|word| !word.is_empty());
    }
    *from = begin;
    next_of_any_letters(text, from)
}

/// The next word from there on, among letters and spaces beyond ASCII.
#[inline(never)]
fn next_of_any_letters<'t>(text: &'t str, from: &mut usize) -> Option<&'t str> {
    let rest = text[*from..].trim_start();
    let word = rest.split_whitespace().next()?;
    *from = text.len() - rest.len() + word.len();
    Some(word)
}

/// A word without the marks around it.
#[inline]
pub(super) fn bare(word: &str) -> &str {
    let (bytes, mut begin, mut end) = (word.as_bytes(), 0, word.len());
    if let (Some(first), Some(last)) = (bytes.first(), bytes.last())
        && first.is_ascii_alphanumeric()
        && last.is_ascii_alphanumeric()
    {
        return word; // as mostly
    }
    let is_mark = |byte: u8| byte.is_ascii() && !byte.is_ascii_alphanumeric();
    while begin < end && is_mark(bytes[begin]) {
        begin += 1;
    }
    while begin < end && is_mark(bytes[end - 1]) {
        end -= 1;
    }
    let word = &word[begin..end];
    if begin == end || bytes[begin].is_ascii() && bytes[end - 1].is_ascii() {
        return word;
    }
    word.trim_matches(|letter: char| !letter.is_alphanumeric())
}

/// A bare word in small letters, with the apostrophe of ASCII.
pub(super) fn normal(word: &str) -> String {
    if word.is_ascii() { word.to_ascii_lowercase() } else { word.to_lowercase().replace('\u{2019}', "'") }
}

/// Whether a bare word is one of some words of ASCII in small letters.
pub(super) fn is_any(word: &str, known: &[&str]) -> bool {
    known.iter().any(|one| word.eq_ignore_ascii_case(one))
}

/// A word without the ending of a possessive.
pub(super) fn without_s(word: &str) -> &str {
    if word.as_bytes().last() != Some(&b's') {
        return word;
    }
    word.strip_suffix("'s").or_else(|| word.strip_suffix("\u{2019}s")).unwrap_or(word)
}

/// The first two letters of a word as one of 64 bits, large or small; all of them where one is none of ASCII. A stem has those of its word.
pub(super) fn begins(word: &[u8]) -> u64 {
    match word {
        [] => 0,
        [first] if first.is_ascii() => 1 << (first & 31),
        [first, second, ..] if first.is_ascii() && second.is_ascii() => 1 << (((first & 31) * 2 + (second & 31)) & 63),
        _ => u64::MAX,
    }
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
            "(a) --- -\u{e9}- .\u{201c}.b.\u{201d}. \u{2026}",
        ] {
            let words = Words::of(text);
            let marked = |text: &'static str| {
                let mut from = 0;
                std::iter::from_fn(move || next_word(text, &mut from)).collect::<Vec<_>>()
            };
            assert_eq!(marked(text), text.split_whitespace().collect::<Vec<_>>(), "{text:?}");
            let bare = |word: &'static str| word.trim_matches(|letter: char| !letter.is_alphanumeric());
            assert_eq!(words.bare, text.split_whitespace().map(bare).collect::<Vec<_>>(), "{text:?}");
            assert_eq!(words.bare, bare_words(text).collect::<Vec<_>>(), "{text:?}");
        }
    }

    #[test]
    fn words_with_a_hyphen_have_parts() {
        let parts = |text| Words::of(text).parts().to_vec();
        assert_eq!(parts("a (well-known) \u{2013} mother-in-law's -x-"), ["a", "well", "known", "mother", "in", "law's", "x"]);
        assert_eq!((parts("two words."), parts("\u{2026}")), (vec!["two", "words"], vec![]));
    }

    #[test]
    fn owners_stand_before_an_apostrophe_and_an_s() {
        assert_eq!(Words::of("(Bob's Ann\u{2019}s Eva's. James' is 's's").owners, ["(Bob", "Ann", "'s"]);
    }
}
