//! Code, of whatever language: blank lines and indentation part it; the lines that open what encloses a block are its path.
//!
//! A line opens something if it begins like a definition (`def`, `class`, `fn`, `impl`, `func`, ...) and what follows lies deeper. Decorators and comments
//! that stand right above it belong to it. Where a language has another way to say so, blocks are still cut at blank lines.

use super::{Blocks, indent, lines, shortened};
use crate::interrupt;

#[rustfmt::skip]
const OPENERS: [&str; 26] = [
    "def", "class", "fn", "impl", "trait", "struct", "enum", "union", "mod", "module", "func", "function", "interface", "namespace", "type",
    "macro_rules!", "protocol", "extension", "object", "record", "package", "contract", "sub", "defmodule", "defp", "resource",
];
#[rustfmt::skip]
const MODIFIERS: [&str; 24] = [
    "pub", "async", "export", "default", "public", "private", "protected", "internal", "static", "abstract", "final", "sealed", "override",
    "unsafe", "const", "extern", "virtual", "inline", "open", "data", "partial", "suspend", "pub(crate)", "pub(super)",
];

struct Line<'t> {
    start: usize,
    text: &'t str,
    indent: usize,
}

pub(super) fn blocks(text: &str) -> Blocks {
    let all: Vec<Line<'_>> = lines(text).map(|(start, text)| Line { start, text, indent: indent(text) }).collect();
    let mut found = Blocks::default();
    let mut above: Vec<(usize, &str)> = Vec::new();
    let mut open: Option<(usize, usize, usize, Option<usize>)> = None; // start, end, path, unit
    let mut at = 0;
    while at < all.len() {
        if interrupt::is_wanted() {
            break; // the caller throws away what is cut until here
        }
        let line = &all[at];
        if line.text.trim().is_empty() {
            close(&mut found, &mut open);
            at += 1;
            continue;
        }
        let opener = if open.is_none() || is_opener(line.text) { opener_from(&all, at) } else { None };
        if let Some(opener) = opener {
            close(&mut found, &mut open);
            above.retain(|(deep, _)| *deep < all[opener].indent);
            let path = found.path(above.iter().map(|(_, title)| *title));
            let unit = Some(above.len() + 1);
            open = Some((line.start, all[opener].start + all[opener].text.len(), path, unit));
            above.push((all[opener].indent, shortened(all[opener].text.trim())));
            at = opener + 1;
            continue;
        }
        let end = line.start + line.text.len();
        if let Some((_, open_end, ..)) = &mut open {
            *open_end = end;
        } else {
            if !closes(line.text) {
                above.retain(|(deep, _)| *deep < line.indent);
            }
            let path = found.path(above.iter().map(|(_, title)| *title));
            let unit = (line.indent == 0 && !closes(line.text)).then_some(1);
            open = Some((line.start, end, path, unit));
        }
        at += 1;
    }
    close(&mut found, &mut open);
    found
}

fn close(found: &mut Blocks, open: &mut Option<(usize, usize, usize, Option<usize>)>) {
    if let Some((start, end, path, unit)) = open.take() {
        found.push(start..end, path, unit);
    }
}

/// The line that opens something, from this one on over decorators, attributes and comments of the same indentation.
fn opener_from(all: &[Line<'_>], at: usize) -> Option<usize> {
    let depth = all[at].indent;
    let mut opener = at;
    while all.get(opener).is_some_and(|line| line.indent == depth && leads(line.text.trim())) && opener < at + 64 {
        opener += 1;
    }
    let line = all.get(opener).filter(|line| line.indent == depth && is_opener(line.text))?;
    let next = all[opener + 1..].iter().find(|next| !next.text.trim().is_empty())?;
    let deeper = next.indent > line.indent || next.text.trim() == "{" || !matches!(line.text.trim_end().bytes().last(), Some(b'{' | b':'));
    deeper.then_some(opener)
}

/// Whether a line leads up to what follows it.
fn leads(line: &str) -> bool {
    ["@", "#", "//", "///", "/*", "*", "--"].iter().any(|sign| line.starts_with(sign))
}

/// Whether a line closes what was opened: it belongs to what it closes.
fn closes(line: &str) -> bool {
    line.trim().bytes().all(|byte| b"})];,".contains(&byte)) || line.trim() == "end"
}

fn is_opener(line: &str) -> bool {
    let mut words = line.trim_start().split([' ', '(', '<', '\t']).filter(|word| !word.is_empty());
    words.by_ref().find(|word| !MODIFIERS.contains(word)).is_some_and(|word| OPENERS.contains(&word.trim_end_matches(['{', ':'])))
}
