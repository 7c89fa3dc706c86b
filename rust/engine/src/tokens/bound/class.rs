//! Classes of content, as far as tokenizers treat them differently.

/// A kind of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Words of an alphabet.
    Prose,
    /// Programs, markup and data: punctuation and indentation.
    Code,
    /// Identifiers, numbers, hashes, encoded bytes.
    Dense,
    /// Scripts in which a character is a syllable or a word.
    Cjk,
}

/// Texts are judged by so many bytes from their start, middle and end each.
const SAMPLE: usize = 1_024;

impl Class {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Prose, Self::Code, Self::Dense, Self::Cjk];

    /// The name that learned factors are kept under.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Prose => "prose",
            Self::Code => "code",
            Self::Dense => "dense",
            Self::Cjk => "cjk",
        }
    }

    /// The kind of a text: by its bytes, in whole numbers.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut seen = Seen::default();
        let bytes = text.as_bytes();
        for start in [0, (bytes.len() / 2).saturating_sub(SAMPLE / 2), bytes.len().saturating_sub(SAMPLE)] {
            seen.add(&bytes[start..bytes.len().min(start + SAMPLE)]);
            if bytes.len() <= SAMPLE {
                break;
            }
        }
        seen.class()
    }
}

/// How many bytes of each sort.
#[derive(Default)]
struct Seen {
    all: usize,
    /// First bytes of characters from U+0800 on.
    wide: usize,
    digits: usize,
    signs: usize,
    spaces: usize,
    /// Lower case or digit before upper case, digit beside letter: borders inside words.
    turns: usize,
}

impl Seen {
    fn add(&mut self, bytes: &[u8]) {
        self.all += bytes.len();
        for pair in bytes.windows(2) {
            let (before, byte) = (pair[0], pair[1]);
            self.wide += usize::from(byte >= 0xE0);
            self.digits += usize::from(byte.is_ascii_digit());
            self.signs += usize::from(byte.is_ascii_punctuation());
            self.spaces += usize::from(byte.is_ascii_whitespace());
            let letter_beside_digit =
                before.is_ascii_alphabetic() && byte.is_ascii_digit() || before.is_ascii_digit() && byte.is_ascii_alphabetic();
            self.turns += usize::from(letter_beside_digit || before.is_ascii_lowercase() && byte.is_ascii_uppercase());
        }
    }

    fn class(&self) -> Class {
        let share = |part: usize| part * 100 / self.all.max(1);
        if share(self.wide) >= 10 {
            Class::Cjk
        } else if share(self.digits + 2 * self.turns) >= 20 || share(self.spaces) < 6 && self.all > 32 {
            Class::Dense
        } else if share(self.signs) >= 8 {
            Class::Code
        } else {
            Class::Prose
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_apart() {
        let code = "fn main() -> Result<()> {\n    let x = self.items.get(0).unwrap();\n    println!(\"{x}\");\n}\n";
        for (text, class) in [
            ("The quick brown fox jumps over the lazy dog, and nobody was surprised.", Class::Prose),
            ("Naïve façade über Straße; très bien, dit-elle.", Class::Prose),
            (code, Class::Code),
            ("{\"user\": {\"name\": \"x\", \"tags\": [\"a\", \"b\"]}, \"ok\": true}", Class::Code),
            ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", Class::Dense),
            ("QmFzZTY0IGlzIG5vdCBwcm9zZQ0KQmFzZTY0IGlzIG5vdCBwcm9zZQ0K", Class::Dense),
            ("2026-11-22 03:20:55 10.0.0.17 8443 200 1532 0.004", Class::Dense),
            ("今天天气很好，我们去公园散步吧。", Class::Cjk),
            ("カタカナとひらがな", Class::Cjk),
            ("", Class::Prose),
        ] {
            assert_eq!(Class::of(text), class, "{text}");
        }
        assert_eq!(Class::of(&code.repeat(1_000)), Class::Code);
        assert_eq!(Class::ALL.map(|class| class as usize), [0, 1, 2, 3]);
    }
}
