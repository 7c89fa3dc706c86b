//! Signs between words and beside them: what joins a word, what parts two clauses, what belongs to a value.

use unicode_normalization::char::is_combining_mark;

/// Quotation marks of two forms: what opens, and what closes.
const QUOTES: [(char, char); 6] = [
    ('\u{201C}', '\u{201D}'),
    ('\u{201E}', '\u{201C}'),
    ('\u{201E}', '\u{201D}'),
    ('\u{2018}', '\u{2019}'),
    ('\u{AB}', '\u{BB}'),
    ('\u{BB}', '\u{AB}'),
];

/// Whether a character begins a word.
pub fn begins_word(letter: char) -> bool {
    letter.is_alphanumeric() && !is_apostrophe(letter)
}

/// Whether a character goes on with a word.
pub fn is_of_word(letter: char) -> bool {
    letter == '_' || begins_word(letter) || !letter.is_ascii() && is_combining_mark(letter)
}

/// Whether it is an apostrophe: the one of typewriters, that of phones, or the letter.
pub fn is_apostrophe(letter: char) -> bool {
    matches!(letter, '\'' | '\u{2019}' | '\u{2BC}')
}

/// Whether a sign joins two parts of a word where it stands between them: "node.js", "don't", "l\u{B7}l". Hyphens that do not break a
/// line, or may, are some, and joiners that have no width.
pub fn joins(sign: char) -> bool {
    is_apostrophe(sign)
        || matches!(sign, '-' | '.' | '/' | '+' | '#' | '\u{2010}' | '\u{2011}' | '\u{AD}' | '\u{B7}' | '\u{200C}' | '\u{200D}')
}

/// Words with the apostrophes and the hyphens of typewriters: "wife\u{2019}s name" is "wife's name".
pub fn straight(words: &str) -> String {
    if words.is_ascii() {
        return words.to_owned();
    }
    let plain = |letter: char| match letter {
        '\u{2010}' | '\u{2011}' => '-',
        letter if is_apostrophe(letter) => '\'',
        letter => letter,
    };
    words.chars().filter(|letter| *letter != '\u{AD}').map(plain).collect()
}

/// Whether what stands between two words parts them.
pub fn parts(between: &str) -> bool {
    between != " " && (between.contains([',', ';', '\u{2014}']) || dashed(between) || between.contains(is_picture))
}

/// Whether a dash with spaces around it stands between two words.
pub fn dashed(between: &str) -> bool {
    between.contains(" - ") || between.contains(" \u{2013} ")
}

/// Whether a sign is an emoji, or the point of a list.
pub fn is_picture(sign: char) -> bool {
    matches!(sign, '\u{2022}' | '\u{2600}'..='\u{27BF}' | '\u{1F000}'..='\u{1FAFF}')
}

/// Whether a colon stands behind a word, or the end of bold letters and a colon: "Bob:", "**Bob**:".
pub fn has_colon(text: &str, end: usize) -> bool {
    text[end..].trim_start_matches(['*', '_', '`', ')', ']']).starts_with(':')
}

/// Whether a sign that stands against a word belongs to it: "-18", "20 %", "\u{20AC}50", "20\u{B0}". A mark that ends a sentence is
/// none of them.
fn is_beside(sign: char) -> bool {
    match sign {
        ',' | ';' | ':' | '?' | '!' => false,
        '\u{A2}'..='\u{A9}' | '\u{AC}' | '\u{AE}'..='\u{B1}' | '\u{D7}' | '\u{F7}' | '\u{2030}'..='\u{2037}' => true,
        sign => sign.is_ascii_punctuation() || is_quote(sign) || matches!(sign, '\u{20A0}'..='\u{20CF}' | '\u{2100}'..='\u{2328}'),
    }
}

fn is_quote(sign: char) -> bool {
    QUOTES.iter().any(|(open, close)| sign == *open || sign == *close)
}

fn closes(open: char, close: char) -> bool {
    QUOTES.contains(&(open, close))
}

/// The bytes of some words with the signs that stand against them: "-18", "$50", "20 %", "(555) 123", "~/.config". A mark that
/// ends a sentence is none of them, nor is a bracket or a quotation mark without its other half.
pub fn widened(text: &str, start: usize, end: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    let len = |signs: &mut dyn Iterator<Item = char>| signs.take_while(|sign| is_beside(*sign)).map(char::len_utf8).sum::<usize>();
    let (mut from, mut to) = (start - len(&mut text[..start].chars().rev()), end + len(&mut text[end..].chars()));
    // "< 5" and "80 %" have a space between.
    let compares = |byte: &u8| matches!(byte, b'<' | b'>' | b'=' | b'~' | b'$' | b'#');
    if from == start && from > 1 && bytes[from - 1] == b' ' && compares(&bytes[from - 2]) {
        from -= 1 + bytes[..from - 1].iter().rev().take_while(|byte| compares(byte)).count();
    }
    let unit = text[to..].strip_prefix(' ').and_then(|rest| rest.chars().next());
    if let Some(unit) = unit.filter(|unit| to == end && matches!(unit, '%' | '$' | '\u{B0}' | '\u{20AC}' | '\u{A3}')) {
        to += 1 + unit.len_utf8();
    }
    while trim(&text[from..to], (start - from, end - from)).is_some_and(|(front, back)| {
        (from, to) = (from + front, to - back);
        front + back > 0
    }) {}
    (from, to)
}

/// How many bytes at the two ends of a text say nothing of it. `kept` are the words.
fn trim(text: &str, kept: (usize, usize)) -> Option<(usize, usize)> {
    let (front, back) = (kept.0 > 0, kept.1 < text.len());
    let (first, last) = (text.chars().next()?, text.chars().next_back()?);
    if front && back && is_pair(text, first, last) {
        return Some((first.len_utf8(), last.len_utf8()));
    }
    let closed = |close: char| text.chars().any(|open| closes(open, close));
    let opened = |open: char| text.chars().any(|close| closes(open, close));
    if back && (matches!(last, '.' | '-' | '(' | '[' | '{') || is_alone(text, last) || is_quote(last) && !closed(last)) {
        return Some((0, last.len_utf8()));
    }
    let dots = text.starts_with("...") || matches!(first, ')' | ']' | '}' | '&');
    (front && (dots || is_alone(text, first) || is_quote(first) && !opened(first))).then_some((first.len_utf8(), 0))
}

/// Whether the signs at the two ends of a text are the two halves of one.
fn is_pair(text: &str, first: char, last: char) -> bool {
    let plain = matches!((first, last), ('"', '"') | ('\'', '\'') | ('`', '`') | ('*', '*') | ('_', '_') | ('(', ')'));
    // \u{201C}Dune\u{201D} and \u{201C}Emma\u{201D} are two. An apostrophe closes nothing.
    let inside = || text[first.len_utf8()..text.len() - last.len_utf8()].chars();
    plain || closes(first, last) && (last == '\u{2019}' || !inside().any(|sign| closes(first, sign)))
}

/// Whether a sign of a text lacks its other half.
fn is_alone(text: &str, sign: char) -> bool {
    let count = |wanted: char| text.chars().filter(|sign| *sign == wanted).count();
    let other = match sign {
        '"' | '\'' | '`' => return count(sign) % 2 == 1,
        '(' => ')',
        '[' => ']',
        '{' => '}',
        ')' => '(',
        ']' => '[',
        '}' => '{',
        _ => return false,
    };
    count(sign) != count(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_widened_by_signs_that_belong_to_them() {
        for (text, word, wide) in [
            ("is -18.", "18", "-18"),
            ("is $50, ok", "50", "$50"),
            ("is (555), 12", "555", "555"),
            ("is 5) or", "5", "5"),
            ("is \"Red\".", "Red", "Red"),
            ("at < 5 MB", "5", "< 5"),
            ("is .5...", "5", ".5"),
            ("the **bold** one", "bold", "bold"),
            ("dial *12#.", "12", "*12#"),
            ("is 80 %!", "80", "80 %"),
            ("is \u{20AC}50.", "50", "\u{20AC}50"),
            ("is 50\u{20AC}.", "50", "50\u{20AC}"),
            ("is 50 \u{20AC}.", "50", "50 \u{20AC}"),
            ("is \u{2212}18\u{B0}.", "18", "\u{2212}18\u{B0}"),
            ("is \u{2318}K", "K", "\u{2318}K"),
            ("is \u{201C}Red\u{201D}.", "Red", "Red"),
            ("is \u{2018}Red\u{2019}.", "Red", "Red"),
            ("is \u{AB}Red\u{BB}", "Red", "Red"),
            ("is \u{201E}Red\u{201C}", "Red", "Red"),
            (
                "see \u{201C}Red\u{201D} or \u{201C}Blue\u{201D}",
                "Red\u{201D} or \u{201C}Blue",
                "\u{201C}Red\u{201D} or \u{201C}Blue\u{201D}",
            ),
            ("see \u{201C}Red\u{201D} by Ann", "Red\u{201D} by Ann", "\u{201C}Red\u{201D} by Ann"),
            ("my parents\u{2019}", "parents", "parents"),
            ("to Porto\u{2026}", "Porto", "Porto"),
            ("to Porto\u{1F389}", "Porto", "Porto"),
        ] {
            let at = text.find(word).unwrap();
            let (from, to) = widened(text, at, at + word.len());
            assert_eq!(&text[from..to], wide, "{text}");
        }
    }

    #[test]
    fn signs_part_or_join() {
        for between in [", ", "; ", "\u{2014}", " \u{2014} ", " - ", " \u{2013} ", " \u{1F389} ", " \u{2022} "] {
            assert!(parts(between), "{between:?}");
        }
        for between in [" ", "-", "\u{2013}", ". ", "\u{A0}", " \u{20AC}"] {
            assert!(!parts(between), "{between:?}");
        }
        assert_eq!(straight("wife\u{2019}s e\u{2011}mail"), "wife's e-mail");
        assert!(has_colon("**Bob**: hi", 5) && has_colon("Bob: hi", 3) && !has_colon("Bob hi: ho", 3));
    }
}
