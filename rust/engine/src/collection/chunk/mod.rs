//! Cutting a document into chunks along its own structure: sections, fences, tables and lists of Markdown, paragraphs of text,
//! functions and classes of code.
//!
//! ```text
//! lay out   markdown | text | code: the text as blocks in order, each with the path of headings (or def, class, impl lines) above it
//! pack      blocks that follow each other become one chunk while they fit; a section or a function that fits is not cut;
//!           what is longer than a chunk is cut at blank lines, else lines, else sentences, else words
//! ```
//!
//! A chunk is a range of the document's bytes and a path: nothing is rewritten, and chunks do not overlap, because each is shown
//! below its path. Deliberately not here: grammars of programming languages (indentation says where a function ends), and
//! Markdown's inline syntax.

mod code;
mod markdown;
mod pack;
mod plain;
#[cfg(test)]
mod tests;

use crate::units::clip::clip;
use crate::units::lines::lines;
use std::ops::Range;

use crate::{Error, Result};

/// Tokens that a chunk aims at, unless the caller says otherwise.
pub const DEFAULT_TOKENS: usize = crate::limits::DEFAULT_CHUNK_TOKENS;
/// The least and the most that a caller may ask for.
pub const TOKENS: Range<usize> = 16..8193;
/// Bytes of one heading in a path.
const MOST_HEADING: usize = 240;
/// Headings of a path; of deeper ones the last are left out.
const MOST_DEPTH: usize = 8;

/// How a document is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Format {
    /// Paragraphs and sentences.
    Text = 0,
    /// Headings, fences, tables, lists.
    Markdown = 1,
    /// Lines with indentation.
    Code = 2,
}

const MARKDOWN: [&str; 6] = ["md", "markdown", "mdown", "mkd", "mdx", "rmd"];
#[rustfmt::skip]
const CODE: [&str; 62] = [
    "py", "pyi", "pyx", "rs", "js", "mjs", "cjs", "jsx", "ts", "tsx", "go", "java", "kt", "kts", "scala", "c", "h", "cc", "cpp", "cxx",
    "hpp", "hh", "cs", "swift", "m", "mm", "rb", "php", "pl", "pm", "lua", "r", "jl", "ex", "exs", "erl", "hs", "ml", "mli", "clj", "sh",
    "bash", "zsh", "fish", "ps1", "sql", "dart", "zig", "nim", "v", "sv", "vhd", "tf", "proto", "vue", "svelte", "css", "scss", "toml",
    "yaml", "yml", "json",
];

impl Format {
    /// Its name in the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Markdown => "markdown",
            Self::Code => "code",
        }
    }

    /// The format of that name.
    pub fn parse(name: &str) -> Result<Self> {
        [Self::Text, Self::Markdown, Self::Code].into_iter().find(|format| format.name() == name).ok_or_else(|| {
            Error::invalid(format!(
                "reading format: it is \"markdown\", \"text\" or \"code\", and it is {name:?}: choose one, or leave it out"
            ))
        })
    }

    /// The format of a stored number.
    #[must_use]
    pub fn from_number(number: u64) -> Self {
        match number {
            1 => Self::Markdown,
            2 => Self::Code,
            _ => Self::Text,
        }
    }

    /// The format by the ending of a document's id: `notes/today.md` is Markdown, `src/lib.rs` code; without one, whether a line
    /// begins like a heading or a fence.
    #[must_use]
    pub fn guess(id: &str, text: &str) -> Self {
        let name = id.rsplit(['/', '\\']).next().unwrap_or(id);
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        match ending.as_deref() {
            Some(ending) if MARKDOWN.contains(&ending) => Self::Markdown,
            Some(ending) if CODE.contains(&ending) => Self::Code,
            Some("txt" | "text" | "log" | "rst" | "csv" | "tsv" | "html" | "xml") => Self::Text,
            _ if markdown::looks_like(text) => Self::Markdown,
            _ => Self::Text,
        }
    }
}

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Where it stands in the document, in bytes.
    pub span: Range<usize>,
    /// The headings, or the lines that open what encloses it, outermost first.
    pub path: Vec<String>,
}

/// The chunks of a text, in order and without overlap; white space between them belongs to none. `tokens` (`o200k_base`) is what a chunk
/// aims at: only a line of code that cannot be cut is longer.
#[must_use]
pub fn chunk(text: &str, format: Format, tokens: usize) -> Vec<Chunk> {
    let blocks = match format {
        Format::Markdown => markdown::blocks(text),
        Format::Text => plain::blocks(text),
        Format::Code => code::blocks(text),
    };
    pack::pack(text, &blocks, tokens.clamp(TOKENS.start, TOKENS.end - 1), format)
}

/// A block that is not cut where it fits.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Block {
    span: Range<usize>,
    /// Place of its path among [`Blocks::paths`].
    path: usize,
    /// How deep the section or function lies that begins with it; `None` where none does.
    unit: Option<usize>,
}

/// A text, laid out.
#[derive(Debug, Default)]
struct Blocks {
    blocks: Vec<Block>,
    paths: Vec<Vec<String>>,
}

impl Blocks {
    /// The place of a path.
    fn path<'s>(&mut self, path: impl Iterator<Item = &'s str>) -> usize {
        let path: Vec<String> = path.take(MOST_DEPTH).map(str::to_owned).collect();
        if self.paths.last() != Some(&path) {
            self.paths.push(path);
        }
        self.paths.len() - 1
    }

    fn push(&mut self, span: Range<usize>, path: usize, unit: Option<usize>) {
        if !span.is_empty() {
            self.blocks.push(Block { span, path, unit });
        }
    }
}

/// At most so many bytes of a heading, cut between characters.
fn shortened(heading: &str) -> &str {
    clip(heading, MOST_HEADING).trim_end()
}

/// How far a line is indented; a tab reaches to the next multiple of four.
fn indent(line: &str) -> usize {
    let mut width = 0;
    for byte in line.bytes() {
        match byte {
            b' ' => width += 1,
            b'\t' => width = (width / 4 + 1) * 4,
            _ => break,
        }
    }
    width
}
