//! From blocks to chunks: neighbours go together while they fit.

use crate::interrupt;
use std::ops::Range;

use super::{Block, Blocks, Chunk, Format};
use crate::tokens::{self, Encoding};

/// A chunk below this share of what it aims at is joined with the section or function behind it.
const TINY: usize = 8;

pub(super) fn pack(text: &str, laid: &Blocks, target: usize, format: Format) -> Vec<Chunk> {
    let mut costs = Vec::with_capacity(laid.blocks.len());
    for block in &laid.blocks {
        if interrupt::is_wanted() {
            return Vec::new(); // the caller throws it away
        }
        costs.push(count(&text[block.span.clone()], target));
    }
    let mut packer = Packer { text, laid, target, format, open: None, chunks: Vec::new() };
    for (at, block) in laid.blocks.iter().enumerate() {
        if interrupt::is_wanted() {
            break; // the caller throws away what is cut until here
        }
        let unit = block.unit.map_or(0, |depth| unit_tokens(&laid.blocks[at..], &costs[at..], depth, target));
        packer.add(block, costs[at], unit);
    }
    packer.close();
    packer.chunks
}

/// Bytes of the longest token of `o200k_base`: 128 spaces.
const LONGEST_TOKEN: usize = 128;

/// Tokens of a text; of one that cannot fit only some number above the target, since a text of 64 MiB takes seconds to count.
fn count(text: &str, target: usize) -> usize {
    let least = text.len() / LONGEST_TOKEN;
    if least > target { least } else { tokens::count(Encoding::O200k, text) }
}

/// Tokens of the section or function that begins with the first of the blocks; no more than is needed to know that it does not fit.
fn unit_tokens(blocks: &[Block], costs: &[usize], depth: usize, target: usize) -> usize {
    let mut sum = costs[0];
    for (block, cost) in blocks.iter().zip(costs).skip(1) {
        if sum > target || block.unit.is_some_and(|other| other <= depth) {
            break;
        }
        sum += cost;
    }
    sum
}

struct Open {
    span: Range<usize>,
    path: Vec<String>,
    tokens: usize,
    /// Headings and nothing below them yet.
    only_headings: bool,
}

struct Packer<'t> {
    text: &'t str,
    laid: &'t Blocks,
    target: usize,
    format: Format,
    open: Option<Open>,
    chunks: Vec<Chunk>,
}

impl Packer<'_> {
    fn add(&mut self, block: &Block, tokens: usize, unit: usize) {
        let path = &self.laid.paths[block.path];
        if let Some(open) = &self.open
            && !self.joins(open, block, path, tokens, unit)
        {
            self.close();
        }
        if tokens > self.target {
            return self.add_long(block, path);
        }
        let is_heading = self.format == Format::Markdown && block.unit.is_some();
        match &mut self.open {
            Some(open) => {
                open.span.end = block.span.end;
                open.tokens += tokens;
                // A heading above a lone sub-heading: the path is that of the section which has the words.
                if open.only_headings && path.starts_with(&open.path) {
                    open.path.clone_from(path);
                } else {
                    let shared = open.path.iter().zip(path).take_while(|(a, b)| a == b).count();
                    open.path.truncate(shared);
                }
                open.only_headings &= is_heading;
            }
            None => self.open = Some(Open { span: block.span.clone(), path: path.clone(), tokens, only_headings: is_heading }),
        }
    }

    /// Whether a block goes into the chunk that is open.
    fn joins(&self, open: &Open, block: &Block, path: &[String], tokens: usize, unit: usize) -> bool {
        if open.tokens + tokens > self.target {
            return open.only_headings && tokens <= self.target;
        }
        if block.unit.is_none() {
            return true;
        }
        let tiny = open.tokens * TINY <= self.target;
        let fits = open.tokens + unit <= self.target;
        match self.format {
            Format::Markdown => (open.only_headings && path.starts_with(&open.path)) || (tiny && fits),
            // A class and its methods, or small neighbours, stay together; a function that fits is not cut.
            _ => fits || tiny && unit > self.target,
        }
    }

    /// A block that is longer than a chunk, in pieces.
    fn add_long(&mut self, block: &Block, path: &[String]) {
        let lead = self.open.take();
        let first = self.chunks.len();
        for span in cut(self.text, block.span.clone(), self.target) {
            self.chunks.push(Chunk { span, path: path.to_vec() });
        }
        // A heading right above it belongs to its first piece.
        if let (Some(lead), Some(chunk)) = (lead, self.chunks.get_mut(first)) {
            chunk.span.start = lead.span.start;
        }
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.chunks.push(Chunk { span: open.span, path: open.path });
        }
    }
}

/// Where a text that does not fit may be cut, coarsest first.
#[derive(Clone, Copy)]
enum Seam {
    BlankLine,
    Line,
    Sentence,
    Word,
}

/// Ranges of at most `target` tokens, cut at the coarsest seams that give such.
fn cut(text: &str, span: Range<usize>, target: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    split(text, span, target, Some(Seam::BlankLine), &mut pieces);
    let mut joined: Vec<(Range<usize>, usize)> = Vec::new();
    for (piece, tokens) in pieces {
        match joined.last_mut() {
            Some((last, sum)) if *sum + tokens <= target => {
                last.end = piece.end;
                *sum += tokens;
            }
            _ => joined.push((piece, tokens)),
        }
    }
    joined.into_iter().map(|(span, _)| trimmed(text, span)).filter(|span| !span.is_empty()).collect()
}

fn split(text: &str, span: Range<usize>, target: usize, seam: Option<Seam>, pieces: &mut Vec<(Range<usize>, usize)>) {
    if interrupt::is_wanted() {
        return; // the caller throws away what is cut until here
    }
    let tokens = count(&text[span.clone()], target);
    let Some(seam) = seam.filter(|_| tokens > target) else { return pieces.push((span, tokens)) };
    let (finer, mut from) = (seam.finer(), span.start);
    for end in seam.ends(&text[span.clone()]) {
        split(text, from..span.start + end, target, finer, pieces);
        from = span.start + end;
    }
}

impl Seam {
    fn finer(self) -> Option<Self> {
        match self {
            Self::BlankLine => Some(Self::Line),
            Self::Line => Some(Self::Sentence),
            Self::Sentence => Some(Self::Word),
            Self::Word => None,
        }
    }

    /// Where pieces end; the last is the end of the text.
    fn ends(self, text: &str) -> Vec<usize> {
        let mut ends = match self {
            Self::BlankLine => text.match_indices("\n\n").map(|(at, seam)| at + seam.len()).collect(),
            Self::Line => text.match_indices('\n').map(|(at, _)| at + 1).collect(),
            Self::Sentence => sentence_ends(text),
            Self::Word => word_ends(text),
        };
        if ends.last() != Some(&text.len()) {
            ends.push(text.len());
        }
        ends
    }
}

fn sentence_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut stopped = false;
    for (at, sign) in text.char_indices() {
        if stopped && sign.is_whitespace() {
            ends.push(at + sign.len_utf8());
        }
        if matches!(sign, '。' | '！' | '？') {
            ends.push(at + sign.len_utf8());
        }
        stopped = matches!(sign, '.' | '!' | '?') || stopped && matches!(sign, '"' | '\'' | ')' | ']');
    }
    ends
}

/// Some words at a time; of what has no white space, so many bytes.
fn word_ends(text: &str) -> Vec<usize> {
    const SOME: usize = 24;
    const MOST: usize = 48;
    let (mut ends, mut from) = (Vec::new(), 0);
    for (at, sign) in text.char_indices() {
        let end = at + sign.len_utf8();
        if end - from >= SOME && sign.is_whitespace() || end - from >= MOST {
            ends.push(end);
            from = end;
        }
    }
    ends
}

/// Without white space at its ends.
fn trimmed(text: &str, span: Range<usize>) -> Range<usize> {
    let part = &text[span.clone()];
    let start = span.start + (part.len() - part.trim_start().len());
    start..(start + part.trim().len())
}
