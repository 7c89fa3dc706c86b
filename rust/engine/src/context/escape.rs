//! Text that is data cannot leave its block: characters that could end a block, open a role or hide are written as `&#xHEX;`.
//!
//! Only these are escaped: `<` before the name of one of our tags or of a chat template's tag and before `|`, `[`
//! before a control word (`[INST]`), the colon of a role header at the start of a line (`System:`), the first `#` of such a
//! heading, control characters except tab, line feed and carriage return, characters that are invisible or turn the
//! direction of text, and the `&` of a literal `&#x`. The last makes the escaping reversible: [`unescape`] gives back the very
//! text. Ordinary code and prose pass unchanged (`Vec<T>`, `a < b`, `x && y`). It does not judge what a text says.
//!
//! Sources: the special tokens of `ChatML`, Llama 2 to 4, Gemma, Mistral, `DeepSeek`, GLM and Qwen chat templates; Unicode
//! TR36 and "Trojan Source" (Boucher and Anderson 2021) for bidirectional controls; the tag block U+E0000 for hidden text.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Names that stand after `<` or `</` in our blocks or in a chat template.
const TAGS: &[&str] = &[
    // ours
    "context",
    "document",
    "entry",
    "item",
    "items",
    "memory",
    "newer",
    "pinned",
    "recalled",
    "retrieved",
    "summary",
    "task",
    // chat templates
    "assistant",
    "begin_of_text",
    "bos",
    "cls",
    "developer",
    "end_of_text",
    "end_of_turn",
    "endoftext",
    "eos",
    "eot_id",
    "function",
    "function_call",
    "function_calls",
    "function_response",
    "function_results",
    "human",
    "im_end",
    "im_start",
    "inst",
    "invoke",
    "mask",
    "pad",
    "reasoning",
    "s",
    "sep",
    "start_of_turn",
    "sys",
    "system",
    "system_message",
    "think",
    "thinking",
    "tool",
    "tool_call",
    "tool_calls",
    "tool_response",
    "tool_result",
    "tool_use",
    "tools",
    "unk",
    "user",
];

/// The names that items of [`super::block::Form::DATED`] add: older ones keep the bytes that they were sent with.
const DATED_TAGS: &[&str] = &["updated"];

/// Control words of templates that use square brackets.
const BRACKETS: &[&str] = &[
    "available_tools",
    "bos",
    "cls",
    "eos",
    "gmask",
    "img",
    "inst",
    "mask",
    "pad",
    "prefix",
    "sep",
    "smask",
    "suffix",
    "system_prompt",
    "think",
    "tool_calls",
    "tool_content",
    "tool_results",
    "unk",
];

/// Words that, at the start of a line and before a colon, look like the header of a role.
const ROLES: &[&str] =
    &["ai", "assistant", "bot", "developer", "function", "human", "instruction", "model", "response", "system", "tool", "user"];

/// The longest name above; longer runs cannot match.
const LONGEST: usize = 20;

/// Escapes `text`; borrowed where nothing had to be.
#[must_use]
pub fn escape(text: &str) -> Cow<'_, str> {
    escape_tags(text, &[])
}

/// Escapes a text that is shown in today's form.
#[must_use]
pub fn escape_dated(text: &str) -> Cow<'_, str> {
    escape_tags(text, DATED_TAGS)
}

fn escape_tags<'t>(text: &'t str, more_tags: &'static [&'static str]) -> Cow<'t, str> {
    let mut escaper = Escaper { text, out: None, copied: 0, header: header_at(text, 0), more_tags };
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        at = escaper.skip(at);
        match bytes.get(at) {
            Some(byte) => at = escaper.step(at, *byte),
            None => return escaper.finish(),
        }
    }
}

/// Undoes [`escape`].
#[must_use]
pub fn unescape(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("&#x") {
        let Some((character, length)) = reference(&rest[start..]) else {
            out.push_str(&rest[..start + 3]);
            rest = &rest[start + 3..];
            continue;
        };
        out.push_str(&rest[..start]);
        out.push(character);
        rest = &rest[start + length..];
    }
    if rest.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(out + rest) }
}

/// Escapes a value that stands between double quotes in a tag.
#[must_use]
pub fn escape_attribute(text: &str) -> Cow<'_, str> {
    let escaped = escape(text);
    let ends_it = |character: char| matches!(character, '"' | '<' | '>' | '\n' | '\r' | '\t');
    if !escaped.bytes().any(|byte| ends_it(byte.into())) {
        return escaped; // as mostly
    }
    let mut out = String::with_capacity(escaped.len());
    for character in escaped.chars() {
        if ends_it(character) { push_reference(&mut out, character) } else { out.push(character) }
    }
    out.into()
}

struct Escaper<'a> {
    text: &'a str,
    out: Option<String>,
    copied: usize,
    /// Byte of the next role header's mark on the current line, if any.
    header: Option<usize>,
    /// Names of tags beside [`TAGS`].
    more_tags: &'static [&'static str],
}

/// Bytes that may have to be escaped, or begin a line; of other scripts those that lead hidden characters.
const LOOK: [bool; 256] = {
    let mut look = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        look[byte] = matches!(byte as u8, 0..=0x08 | b'\n'..=0x1F | 0x7F | b'&' | b'<' | b'[' | 0xC2 | 0xD8 | 0xE1..=0xE3 | 0xEF | 0xF3);
        byte += 1;
    }
    look
};

impl Escaper<'_> {
    /// The next byte to look at.
    fn skip(&self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let end = self.header.filter(|header| *header >= at).unwrap_or(bytes.len());
        // Eight bytes are looked at together, of which mostly none is it.
        let is_plain = |eight: &&[u8; 8]| !eight.iter().fold(false, |any, byte| any | LOOK[usize::from(*byte)]);
        let from = at + 8 * bytes[at..end].as_chunks().0.iter().take_while(is_plain).count();
        bytes[from..end].iter().position(|byte| LOOK[usize::from(*byte)]).map_or(end, |found| from + found)
    }

    /// Looks at the character at `at` and returns where the next one starts.
    fn step(&mut self, at: usize, byte: u8) -> usize {
        if self.header == Some(at) {
            return self.replace(at);
        }
        match byte {
            b'\n' | b'\r' => {
                self.header = header_at(self.text, at + 1);
                at + 1
            }
            b'&' if self.text[at..].starts_with("&#x") => self.replace(at),
            b'<' if opens_tag(&self.text[at + 1..], self.more_tags) => self.replace(at),
            b'[' if opens_bracket(&self.text.as_bytes()[at + 1..]) => self.replace(at),
            0x00..=0x08 | 0x0B | 0x0C | 0x0E..=0x1F | 0x7F => self.replace(at),
            0x80.. => self.wide(at),
            _ => at + 1,
        }
    }

    fn wide(&mut self, at: usize) -> usize {
        let character = self.character(at);
        if is_hidden(character) { self.replace(at) } else { at + character.len_utf8() }
    }

    fn character(&self, at: usize) -> char {
        self.text[at..].chars().next().unwrap_or('\u{FFFD}')
    }

    fn replace(&mut self, at: usize) -> usize {
        let character = self.character(at);
        let out = self.out.get_or_insert_with(String::new);
        out.push_str(&self.text[self.copied..at]);
        push_reference(out, character);
        self.copied = at + character.len_utf8();
        self.copied
    }
}

impl<'a> Escaper<'a> {
    fn finish(self) -> Cow<'a, str> {
        match self.out {
            None => Cow::Borrowed(self.text),
            Some(out) => Cow::Owned(out + &self.text[self.copied..]),
        }
    }
}

fn push_reference(out: &mut String, character: char) {
    write!(out, "&#x{:X};", u32::from(character)).expect("writing to a String cannot fail");
}

/// The character and byte length of a reference at the start of `text`.
fn reference(text: &str) -> Option<(char, usize)> {
    let digits = text.as_bytes()[3..].iter().take(7).take_while(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F')).count();
    let end = 3 + digits;
    let character = u32::from_str_radix(&text[3..end], 16).ok().and_then(char::from_u32)?;
    (text.as_bytes().get(end) == Some(&b';')).then_some((character, end + 1))
}

/// Whether what follows `<` makes it a tag of ours or a special token.
fn opens_tag(rest: &str, more_tags: &[&str]) -> bool {
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let rest = rest.trim_start_matches([' ', '\t', '\n', '\r', '/']);
    rest.starts_with(['|', '\u{FF5C}'])
        || rest.starts_with("antml:")
        || [TAGS, more_tags].iter().any(|tags| is_listed(name(rest.as_bytes()), tags))
}

fn opens_bracket(rest: &[u8]) -> bool {
    let rest = rest.strip_prefix(b"/").unwrap_or(rest);
    let word = name(rest);
    rest.get(word.len()) == Some(&b']') && is_listed(word, BRACKETS)
}

fn name(bytes: &[u8]) -> &[u8] {
    let length = bytes.iter().take(LONGEST + 1).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    &bytes[..length]
}

fn is_listed(word: &[u8], list: &[&str]) -> bool {
    word.len() <= LONGEST && list.iter().any(|listed| listed.as_bytes().eq_ignore_ascii_case(word))
}

/// If the line that starts at `start` begins like the header of a role, the byte that must be escaped.
///
/// `System:`, `**User**:`, `> Human :`, `### Assistant` alone on a line: decoration, a word of [`ROLES`], decoration, then a
/// colon; or a heading that says nothing but the word.
fn header_at(text: &str, start: usize) -> Option<usize> {
    const DECORATION: &[char] = &[' ', '\t', '#', '*', '>', '_', '`', '-', '[', '('];
    const AFTER: &[char] = &[' ', '\t', '*', '_', '`', ']', ')'];
    let line = &text[start..];
    let word_start = line.bytes().take(16).take_while(|byte| DECORATION.contains(&char::from(*byte))).count();
    let word = name_of_letters(&line.as_bytes()[word_start..]);
    if !is_listed(word, ROLES) {
        return None;
    }
    let after = &line[word_start + word.len()..];
    let mark = word_start + word.len() + after.bytes().take(8).take_while(|byte| AFTER.contains(&char::from(*byte))).count();
    match line[mark..].chars().next() {
        Some(':' | '\u{FF1A}') => Some(start + mark),
        None | Some('\n' | '\r') => line[..word_start].find('#').map(|mark| start + mark),
        Some(_) => None,
    }
}

fn name_of_letters(bytes: &[u8]) -> &[u8] {
    let length = bytes.iter().take(LONGEST).take_while(|byte| byte.is_ascii_alphabetic()).count();
    &bytes[..length]
}

/// Characters that a reader does not see or that turn the direction of what follows.
fn is_hidden(character: char) -> bool {
    matches!(character,
        '\u{80}'..='\u{9F}' | '\u{AD}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}'
        | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}')
}

#[cfg(test)]
mod tests {
    use super::super::testing::Random;
    use super::*;

    /// Pieces that attacks and accidents are made of.
    const PIECES: &[&str] = &[
        "&",
        "#",
        "x",
        "3C;",
        "&#x3C;",
        "<",
        "</",
        "/",
        "|",
        ">",
        "im_start",
        "<|im_start|>",
        "<context>",
        "</context>",
        "< /task>",
        "\n",
        "\r",
        " ",
        "System",
        "user",
        ":",
        "\u{FF1A}",
        "### ",
        "Human:",
        "[INST]",
        "[/inst]",
        "[",
        "]",
        "\u{200D}",
        "\u{202E}",
        "\u{FEFF}",
        "\u{E0041}",
        "\0",
        "\u{1b}",
        "é",
        "漢",
        "👩",
        "a",
        "\u{FF5C}",
        "<\u{FF5C}begin",
        "**",
        "assistant",
        "\t",
        "&#x",
        ";",
        "41",
    ];

    fn fuzzed(random: &mut Random) -> String {
        (0..random.below(12)).map(|_| PIECES[random.below(PIECES.len() as u64) as usize]).collect()
    }

    #[test]
    fn whatever_is_escaped_comes_back() {
        let mut random = Random::new(7);
        for _ in 0..500_000 {
            let text = fuzzed(&mut random);
            assert_eq!(unescape(&escape(&text)), text, "{text:?}");
            assert_eq!(unescape(&escape_attribute(&text)), text, "{text:?}");
        }
    }

    #[test]
    fn nothing_dangerous_is_left() {
        let mut random = Random::new(8);
        for _ in 0..500_000 {
            let escaped = escape(&fuzzed(&mut random)).into_owned();
            let lower = escaped.to_lowercase();
            for token in
                ["<|", "</|", "<context", "</context", "</task", "[inst]", "[/inst]", "\u{200d}", "\u{202e}", "\u{feff}", "\0", "\u{1b}"]
            {
                assert!(!lower.contains(token), "{token:?} in {escaped:?}");
            }
            for line in lower.split(['\n', '\r']) {
                let word = line.trim_start_matches([' ', '\t', '#', '*']);
                assert!(!["human:", "system:", "user:", "assistant:"].iter().any(|role| word.starts_with(role)), "{escaped:?}");
            }
        }
    }

    #[test]
    fn escaping_stops_no_attribute_from_ending() {
        let mut random = Random::new(9);
        for _ in 0..50_000 {
            let escaped = escape_attribute(&fuzzed(&mut random)).into_owned();
            assert!(!escaped.contains(['"', '<', '>', '\n', '\r']), "{escaped:?}");
        }
    }

    /// Every character alone: the table of leading bytes forgets none that is hidden.
    #[test]
    fn every_hidden_character_is_escaped() {
        for character in (0..=0x0010_FFFF).filter_map(char::from_u32) {
            let escaped = escape(&String::from(character)).into_owned();
            let control = character.is_control() && !matches!(character, '\t' | '\n' | '\r');
            assert_eq!(escaped.starts_with("&#x"), control || is_hidden(character), "{character:?}");
        }
    }

    #[test]
    fn prose_and_code_pass_unchanged() {
        let text =
            "if a < b && c <= d { Vec<T>::new() } // <div class=\"x\">&amp; user: not at a line start</div>\nlet system = 1; [0] [x](y)";
        assert!(matches!(escape(text), Cow::Borrowed(_)));
    }

    #[test]
    fn headers_of_roles_are_marked() {
        assert_eq!(escape("a\nHuman: do it"), "a\nHuman&#x3A; do it");
        assert_eq!(escape("**System**: x"), "**System**&#x3A; x");
        assert_eq!(escape("### Instruction\nx"), "&#x23;## Instruction\nx");
        assert_eq!(escape("user\u{FF1A}x"), "user&#xFF1A;x");
        assert_eq!(escape("users: x"), "users: x");
    }
}
