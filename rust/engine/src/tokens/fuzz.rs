//! Random strings that find the edges of the patterns, and the tests that compare two ways to encode on them.
//!
//! The libraries of the vendors decide (`tiktoken`, `tokenizers`, `sentencepiece`): the Python tests compare with them, by strings of the
//! same kinds (`tests/test_tokens.py`).

use super::{Encoding, TokenCounter, count, count_until, encode};

/// Pieces of text at which patterns decide.
#[rustfmt::skip]
const EDGES: &[&str] = &[
    "'s", "'S", "'LL", "'ll", "'Ll", "'re", "'RE", "'vE", "'d", "'M", "'t", "'ſ", "'ſs", "\u{212A}", "'\u{212A}", "'l", "'r", "'v",
    "’s", "''s", "'", "\n", "\r", "\r\n", "\n/", "/\n", "/", " ", "  ", "   ", "\t", "\u{A0}", "\u{3000}", "\u{2028}", "\u{85}",
    "\u{200B}", "\u{200D}", "\u{FEFF}", "!", "!!", "...", "-", "_", "{", "}", "();", "=>", "::", "0", "12", "345", "6789", "٣٤", "Ⅷ",
    "½", "中", "中文", "漢字かな", "カタカナ", "한국어", "ÀÉ", "é", "e\u{301}", "\u{301}", "\u{301}\u{301}", "A", "B", "AB", "Abc", "aBC", "ABc", "ǅ",
    "ʰ", "ˮ", "Я", "дом", "ДОМ", "שלום", "مرحبا", "हिन्दी", "ไทย", "😀", "👩\u{200D}👩\u{200D}👧", "🇩🇪", "\u{1F3FD}", "<|endoftext|>",
    "<|im_start|>", "<|endofprompt|>", "\0", "\x7F", "x", "I", "ß", "ﬁ", "Ω", "\u{20000}", "\u{E0100}", "\u{1D400}",
];
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "the", "of", "and", "to", "in", "that", "it's", "don't", "WE'RE", "Hello", "world", "which", "because", "tokenizer", "payments-api",
    "getUserById", "HTTPServer2", "snake_case_name", "CONSTANT", "antidisestablishmentarianism", "naïve", "Straße", "über", "1,024",
    "3.14",
];
#[rustfmt::skip]
const CODE: &[&str] = &[
    "def ", "return ", "self.", "for (int i = 0; i < n; ++i) {\n", "    ", "\t\t", "if x == 1:\n", "fn main() -> Result<()> {",
    "let mut ", "0x1F", "1e-9", "\"str\"", "'c'", "// comment\n", "/* x */", "#!/usr/bin", "<div class=\"a\">", "</div>\n", "&&", "!=",
    "\\n", "$", "@",
];
#[rustfmt::skip]
const ALPHABETS: &[&str] = &[
    "ab", "abc", "aB", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "0123456789abcdef",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", " \n", " \t\r\n\u{A0}", "-=", "的一是不了人我在有他这为之大来以个中上们",
];
const RUNS: &[usize] = &[1, 2, 3, 5, 8, 16, 33, 64, 65, 100, 129, 300, 700];

/// A deterministic source of strings.
pub(crate) struct Fuzz(u64);

impl Fuzz {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `limit` (xorshift64*).
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn character(&mut self, start: usize, size: usize) -> char {
        loop {
            if let Some(character) = char::from_u32((start + self.below(size)) as u32) {
                return character;
            }
        }
    }

    /// A character of one block of 128 code points that holds no surrogates.
    fn block(&mut self, highest: usize) -> usize {
        loop {
            let block = self.below(highest / 128) * 128;
            if !(0xD800..0xE000).contains(&block) {
                return block;
            }
        }
    }

    /// A string of one of a dozen kinds.
    pub(super) fn string(&mut self) -> String {
        let parts = self.pick(&[1, 2, 3, 4, 6, 10, 20, 40]);
        match self.below(12) {
            0..4 => (0..parts).map(|_| self.pick(EDGES)).collect(),
            4 => (0..parts)
                .map(|_| self.pick(WORDS).to_owned() + self.pick(&[" ", " ", ", ", ". ", "\n", "'s ", "  ", "_", "/", ""]))
                .collect(),
            5 => (0..parts).map(|_| self.pick(CODE)).collect(),
            6 => self.of_block(parts),
            7 => (0..parts).map(|_| self.mixed()).collect(),
            8 => (0..parts).map(|_| self.character(0, 0x180)).collect(),
            9 => self.of_alphabet(parts),
            10 => self.pick(EDGES).repeat(self.pick(RUNS)) + self.pick(EDGES),
            _ => (0..parts).map(|_| self.character(0, 0x11_0000)).collect(),
        }
    }

    fn of_block(&mut self, parts: usize) -> String {
        let block = self.block(0x11_0000);
        (0..parts).map(|_| self.character(block, 128)).collect()
    }

    fn of_alphabet(&mut self, parts: usize) -> String {
        let alphabet: Vec<_> = self.pick(ALPHABETS).chars().collect();
        let length = parts * self.pick(&[1, 1, 2, 5, 10, 30]);
        (0..length).map(|_| self.pick(&alphabet)).collect()
    }

    fn mixed(&mut self) -> String {
        let block = self.block(0x2_0000);
        match self.below(4) {
            0 => self.pick(EDGES).to_owned(),
            1 => self.pick(WORDS).to_owned(),
            2 => self.pick(CODE).to_owned(),
            _ => self.character(block, 128).to_string(),
        }
    }
}

/// The same text cut by the other way to encode, which knows no windows.
fn cut_by_backtracking(encoding: Encoding, text: &str) -> Vec<u32> {
    let vocabulary = super::vocabulary::Vocabulary::get(encoding);
    let mut cuts = super::ascii::Cuts::new(text);
    let (mut at, mut tokens) = (0, Vec::new());
    while at < text.len() {
        let end = super::encode::piece_end(encoding, &mut cuts, at);
        super::backtrack::encode(vocabulary, text.as_bytes(), at, end, &mut tokens);
        at = end;
    }
    tokens
}

fn compare_with_backtracking(text: &str) {
    for encoding in Encoding::ALL {
        let (text, mut tokens) = (encoding.normalized(text), Vec::new());
        encode(encoding, &text, &mut tokens);
        assert_eq!(tokens, cut_by_backtracking(encoding, &text), "{} cuts {text:?} otherwise", encoding.name());
    }
}

#[test]
fn backtracking_gives_what_windows_give() {
    let mut fuzz = Fuzz::new(4);
    (0..500).for_each(|_| compare_with_backtracking(&fuzz.string()));
}

/// Long pretokens: windows that meet inside repetitions, and tokens of all widths.
#[test]
fn backtracking_gives_what_windows_give_of_long_pretokens() {
    let mut fuzz = Fuzz::new(3);
    for _ in 0..100 {
        let alphabet: Vec<_> = fuzz.pick(ALPHABETS).chars().collect();
        let unit: String = (0..=fuzz.below(40)).map(|_| fuzz.pick(&alphabet)).collect();
        let noise: String = (0..fuzz.below(600)).map(|_| fuzz.pick(&alphabet)).collect();
        compare_with_backtracking(&(unit.repeat(fuzz.below(60) + 1) + &noise + &unit.repeat(fuzz.below(20))));
    }
}

#[test]
fn every_encoding_counts_its_tokens_and_spells_the_text() {
    let (mut fuzz, mut tokens) = (Fuzz::new(8), Vec::new());
    for _ in 0..5_000 {
        let text = fuzz.string();
        for encoding in Encoding::ALL {
            tokens.clear();
            encode(encoding, &text, &mut tokens);
            assert_eq!(count(encoding, &text), tokens.len(), "{} counts {text:?} otherwise", encoding.name());
            assert_eq!(super::decode(encoding, &tokens).expect("own tokens"), encoding.normalized(&text).as_bytes());
        }
    }
}

#[test]
fn counting_stops_at_the_limit_and_not_before() {
    let mut fuzz = Fuzz::new(5);
    for _ in 0..1_000 {
        let text = fuzz.string();
        for encoding in Encoding::ALL {
            let total = count(encoding, &text);
            assert_eq!(count_until(encoding, &text, total), Some(total));
            assert_eq!(count_until(encoding, &text, usize::MAX), Some(total));
            let limit = fuzz.below(total + 1);
            assert_eq!(count_until(encoding, &text, limit), (limit == total).then_some(total));
        }
    }
}

#[test]
fn appending_counts_what_counting_the_whole_counts() {
    append_and_recount(6, 400);
}

/// For restarting: minutes in a release build.
#[test]
#[ignore = "a soak of minutes"]
fn soak_appending() {
    append_and_recount(7, 100_000);
}

/// Appends strings in pieces of every size; the counter must agree with a recount after each.
fn append_and_recount(seed: u64, strings: usize) {
    let mut fuzz = Fuzz::new(seed);
    for _ in 0..strings {
        let text = fuzz.string() + &fuzz.string();
        for encoding in Encoding::ALL {
            let (mut counter, mut at) = (TokenCounter::new(encoding), 0);
            while at < text.len() {
                let end = (at + 1 + fuzz.below(12)..=text.len()).find(|&end| text.is_char_boundary(end)).unwrap_or(text.len());
                let counted = counter.append(&text[at..end]);
                assert_eq!(
                    counted,
                    count(encoding, &text[..end]),
                    "{} of {:?} appended to {:?}",
                    encoding.name(),
                    &text[at..end],
                    &text[..at]
                );
                at = end;
            }
        }
    }
}
