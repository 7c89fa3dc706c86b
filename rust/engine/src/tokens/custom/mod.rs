//! Tokenizers from a user's own file: byte-pair encodings that are not embedded, for licences or for size.
//!
//! [`load`] reads a `tokenizer.json` of Hugging Face (byte-level, or `SentencePiece` with byte fallback), a `.model` of `SentencePiece`, a
//! `tekken.json` or a `.tiktoken` file. A pretoken is cut by one of the patterns that this crate has a scanner for ([`cut`]), then merged
//! by the file's own rule ([`merges`]), which is exact for any vocabulary and slower than the embedded ones: the cache of counts makes up
//! for it. A part of a file that is not understood is an error: a tokenizer that is almost right counts wrongly without a sign.
//!
//! Special tokens are not looked for: text is text. Loaded tokenizers stay for the life of the process.

mod cut;
mod file;
mod json;
mod literals;
mod merges;
mod protobuf;
mod ranks;
mod sentencepiece;
mod space;

use std::hash::{Hash, Hasher};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

pub(super) use cut::Cut;
use literals::{Literals, Segment};
use merges::Merges;
use sentencepiece::Pieces;
use space::Space;

use super::Encoding;
use super::ascii::Cuts;
use crate::Result;
use crate::interrupt::{self, Steps};
use crate::process::Shared;

/// A tokenizer that was loaded.
#[derive(Clone, Copy)]
pub struct Loaded(&'static Tokenizer);

/// The content of a file.
struct Tokenizer {
    /// The file's name and the hash of its bytes: its counts are never taken for those of another one.
    name: String,
    hash: u64,
    parsed: Parsed,
}

/// The content of a file's bytes.
struct Parsed {
    /// Texts are brought into normal form C first.
    normalizes: bool,
    literals: Literals,
    way: Way,
}

/// How a text becomes tokens.
enum Way {
    /// Cut by a pattern, then merged from bytes.
    Bytes { cut: Cut, merges: Merges },
    /// Spaces shown, then merged from characters.
    Characters { space: Space, merges: Merges },
    /// Pieces, cut as `SentencePiece` cuts them.
    Pieces(Box<Pieces>),
}

static LOADED: Shared<Vec<Loaded>> = Shared::new(Vec::new());

/// Loads a tokenizer from a file, or finds it again; `pattern` names one for a `.tiktoken` file, which says none.
pub fn load(path: &Path, pattern: Option<&str>) -> Result<Encoding> {
    let bytes = file::read(path)?;
    let hash = xxh3_64(&bytes) ^ pattern.map_or(0, |pattern| xxh3_64(pattern.as_bytes()));
    if let Some(known) = find(|loaded| loaded.0.hash == hash) {
        return Ok(Encoding::Loaded(known));
    }
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let parsed = file::parse(path, &bytes, pattern)?;
    let loaded = Loaded(Box::leak(Box::new(Tokenizer { name: format!("{stem}@{hash:016x}"), hash, parsed })));
    LOADED.with(|all| all.push(loaded));
    Ok(Encoding::Loaded(loaded))
}

/// Whether the bytes of a file are a tokenizer; nothing of it is kept.
pub fn check_tokenizer(path: &Path, bytes: &[u8], pattern: Option<&str>) -> Result<()> {
    file::parse(path, bytes, pattern).map(drop)
}

/// The loaded tokenizer of a name.
pub(super) fn named(name: &str) -> Option<Loaded> {
    find(|loaded| loaded.0.name == name)
}

fn find(is: impl Fn(&Loaded) -> bool) -> Option<Loaded> {
    LOADED.with(|all| all.iter().find(|loaded| is(loaded)).copied())
}

impl Loaded {
    pub(super) fn name(self) -> &'static str {
        &self.0.name
    }

    /// Its number, which no other encoding has.
    pub(super) fn number(self) -> u64 {
        self.0.hash | 1 << 63
    }

    pub(super) fn normalizes(self) -> bool {
        self.0.parsed.normalizes
    }

    /// Calls `visit` with the start of each pretoken and its tokens, until it returns `false`.
    pub(super) fn each_piece(self, text: &str, mut visit: impl FnMut(usize, &[u32]) -> bool) {
        let Parsed { literals, way, .. } = &self.0.parsed;
        for (start, segment) in literals.segments(text) {
            let goes_on = match segment {
                Segment::Literal(id) => visit(start, &[id]),
                Segment::Text(part) => way.each_piece(part, start == 0, |at, tokens| visit(start + at, tokens)),
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Whether a pretoken depends only on what stands right behind it, as in the embedded encodings.
    pub(super) fn is_local(self) -> bool {
        matches!(self.0.parsed.way, Way::Bytes { .. }) && self.0.parsed.literals.is_empty()
    }
}

impl Parsed {
    /// Bytes, without anything before.
    fn of_bytes(cut: Cut, merges: Merges) -> Self {
        Self { normalizes: false, literals: Literals::default(), way: Way::Bytes { cut, merges } }
    }
}

impl Way {
    /// The same for a part of a text, which may be its first; whether `visit` wants more.
    fn each_piece(&self, part: &str, first: bool, mut visit: impl FnMut(usize, &[u32]) -> bool) -> bool {
        let mut tokens = Vec::new();
        match self {
            // Where a pretoken of the shown text stands in the given one nobody needs: all of it may still change.
            Self::Characters { space, merges } => {
                for pretoken in space.pretokens(&space.shown(part, first)) {
                    interrupt::step();
                    merges.encode_characters(pretoken, &mut tokens);
                }
                visit(0, &tokens)
            }
            Self::Pieces(pieces) => {
                pieces.encode(part, &mut tokens);
                visit(0, &tokens)
            }
            Self::Bytes { cut, merges } => {
                let (mut cuts, mut at, mut steps) = (Cuts::new(part), 0, Steps::default());
                while at < part.len() {
                    steps.reach(at);
                    let end = cut.end(&mut cuts, at);
                    tokens.clear();
                    merges.encode_bytes(&part.as_bytes()[at..end], &mut tokens);
                    if !visit(at, &tokens) {
                        return false;
                    }
                    at = end;
                }
                true
            }
        }
    }
}

impl PartialEq for Loaded {
    fn eq(&self, other: &Self) -> bool {
        self.0.hash == other.0.hash
    }
}

impl Eq for Loaded {}

impl Hash for Loaded {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash.hash(state);
    }
}

impl std::fmt::Debug for Loaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.name)
    }
}
