//! The patterns that this crate has a scanner for, by the regular expressions that files name them with.

use super::super::ascii::Cuts;
use super::super::cl100k::{Cl100k, Llama3, Qwen2};
use super::super::deepseek::DeepSeek;
use super::super::gpt2::Gpt2;
use super::super::o200k::{O200k, Tekken};

/// A pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Cut {
    Cl100k,
    O200k,
    Llama3,
    Qwen2,
    Tekken,
    DeepSeek,
    Gpt2,
}

/// The names that a `.tiktoken` file's pattern can have.
const NAMES: &[(&str, Cut)] = &[
    ("cl100k_base", Cut::Cl100k),
    ("o200k_base", Cut::O200k),
    ("llama3", Cut::Llama3),
    // llama-models, llama4/tokenizer.py: the very pattern.
    ("llama4", Cut::O200k),
    ("qwen2", Cut::Qwen2),
    ("tekken", Cut::Tekken),
    ("deepseek_v3", Cut::DeepSeek),
    ("gpt2", Cut::Gpt2),
];

const LOWER: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+";
const UPPER: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*";
const CONTRACTIONS: &str = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const REST: &str = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const REST_SLASH: &str = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const DEEPSEEK: [&str; 3] = [
    r"\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
];

impl Cut {
    /// The pattern of a name.
    pub(super) fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, cut)| *cut)
    }

    /// All names, for errors.
    pub(super) fn names() -> String {
        NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }

    /// The pattern that a file spells as these regular expressions, each cutting what the ones before left whole.
    pub(super) fn spelled(patterns: &[&str]) -> Option<Self> {
        // Some files have the line ends themselves where others have their escapes.
        let escaped: Vec<String> = patterns.iter().map(|pattern| pattern.replace('\r', r"\r").replace('\n', r"\n")).collect();
        let patterns: Vec<&str> = escaped.iter().map(String::as_str).collect();
        if patterns == DEEPSEEK {
            return Some(Self::DeepSeek);
        }
        let [pattern] = &*patterns else { return None };
        let words = |digits: &str| format!(r"{CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{digits}{REST}");
        let cased = |contractions: &str, digits: &str| format!("{LOWER}{contractions}|{UPPER}{contractions}|{digits}{REST_SLASH}");
        let optional = format!("{CONTRACTIONS}?");
        let spellings = [
            (words(r"\p{N}{1,3}"), Self::Llama3),
            (words(r"\p{N}"), Self::Qwen2),
            (cased(&optional, r"\p{N}{1,3}"), Self::O200k),
            (cased("", r"\p{N}"), Self::Tekken),
            (
                r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
                    .into(),
                Self::Cl100k,
            ),
            (r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+".into(), Self::Gpt2),
        ];
        spellings.into_iter().find(|(spelling, _)| spelling == pattern).map(|(_, cut)| cut)
    }

    /// The end of the pretoken at `start`.
    pub(super) fn end(self, cuts: &mut Cuts<'_>, start: usize) -> usize {
        match self {
            Self::Cl100k => cuts.end::<Cl100k>(start),
            Self::O200k => cuts.end::<O200k>(start),
            Self::Llama3 => cuts.end::<Llama3>(start),
            Self::Qwen2 => cuts.end::<Qwen2>(start),
            Self::Tekken => cuts.end::<Tekken>(start),
            Self::DeepSeek => cuts.end::<DeepSeek>(start),
            Self::Gpt2 => cuts.end::<Gpt2>(start),
        }
    }
}
