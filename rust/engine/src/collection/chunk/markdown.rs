//! Markdown's blocks: headings make the path; a fence, a table, a list, a paragraph is one block.
//!
//! Source of the rules: the specification `CommonMark` 0.31, sections 4 and 5, as far as they say where a block ends; tables as in GitHub's dialect.

use super::{Blocks, indent, lines, shortened};
use crate::interrupt;

/// How many lines are looked at to guess.
const GUESSED_LINES: usize = 200;

/// Whether a text without a telling name has a heading or a fence near its beginning.
pub(super) fn looks_like(text: &str) -> bool {
    lines(text).take(GUESSED_LINES).any(|(_, line)| heading(line).is_some() || line.starts_with("```"))
}

/// The kind of a line by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Paragraph,
    List,
    Table,
}

struct Open {
    start: usize,
    end: usize,
    kind: Kind,
    lines: usize,
    /// A blank line came behind it: a list may go on, anything else is over.
    blank: bool,
}

pub(super) fn blocks(text: &str) -> Blocks {
    let mut layout = Layout { text, found: Blocks::default(), headings: Vec::new(), path: 0, open: None, fence: None };
    layout.path = layout.found.path(std::iter::empty());
    let body = layout.front_matter();
    for (start, line) in lines(&text[body..]) {
        if interrupt::is_wanted() {
            break; // the caller throws away what is cut until here
        }
        layout.line(body + start, line);
    }
    if let Some(fence) = layout.fence.take() {
        layout.found.push(fence.start..text.trim_end().len().max(fence.start), layout.path, None);
    }
    layout.close();
    layout.found
}

/// A fence that is open: where it begins, its sign, how many of them.
struct Fence {
    start: usize,
    sign: u8,
    length: usize,
}

struct Layout<'t> {
    text: &'t str,
    found: Blocks,
    headings: Vec<(usize, String)>,
    path: usize,
    open: Option<Open>,
    fence: Option<Fence>,
}

impl Layout<'_> {
    /// A document may begin with `---`, its properties and `---`; returns where it goes on.
    fn front_matter(&mut self) -> usize {
        let mut all = lines(self.text);
        if all.next().is_none_or(|(_, line)| line != "---") {
            return 0;
        }
        let Some((start, line)) = all.take(GUESSED_LINES).find(|(_, line)| *line == "---" || *line == "...") else { return 0 };
        let end = start + line.len();
        self.found.push(0..end, self.path, None);
        self.text[end..].find('\n').map_or(self.text.len(), |at| end + at + 1)
    }

    fn line(&mut self, start: usize, line: &str) {
        let end = start + line.len();
        if let Some(fence) = &self.fence {
            let (sign, length) = fence_of(line).unwrap_or((0, 0));
            if sign == fence.sign && length >= fence.length && line.trim().bytes().all(|byte| byte == sign) {
                self.found.push(fence.start..end, self.path, None);
                self.fence = None;
            }
            return;
        }
        let in_list = self.open.as_ref().is_some_and(|open| open.kind == Kind::List) && indent(line) >= 2;
        if let Some((sign, length)) = fence_of(line).filter(|_| !in_list) {
            self.close();
            self.fence = Some(Fence { start, sign, length });
        } else if line.trim().is_empty() {
            self.blank();
        } else if let Some((level, title)) = heading(line) {
            self.close();
            self.section(start..end, level, title);
        } else if let Some(level) = self.underline(line) {
            self.setext(end, level);
        } else {
            self.text_line(start, end, line);
        }
    }

    fn blank(&mut self) {
        match &mut self.open {
            Some(open) if open.kind == Kind::List => open.blank = true,
            _ => self.close(),
        }
    }

    fn section(&mut self, span: std::ops::Range<usize>, level: usize, title: &str) {
        self.headings.retain(|(above, _)| *above < level);
        self.headings.push((level, shortened(title).to_owned()));
        self.path = self.found.path(self.headings.iter().map(|(_, title)| title.as_str()));
        self.found.push(span, self.path, Some(level));
    }

    /// The level of the heading that a line of `=` or `-` makes of the paragraph above it.
    fn underline(&self, line: &str) -> Option<usize> {
        let open = self.open.as_ref().filter(|open| open.kind == Kind::Paragraph && open.lines <= 2)?;
        debug_assert!(open.start < open.end);
        let sign = line.trim_end();
        match sign.as_bytes() {
            [b'=', b'=', ..] if sign.bytes().all(|byte| byte == b'=') => Some(1),
            [b'-', b'-', ..] if sign.bytes().all(|byte| byte == b'-') => Some(2),
            _ => None,
        }
    }

    fn setext(&mut self, end: usize, level: usize) {
        if let Some(open) = self.open.take() {
            let title = self.text[open.start..open.end].trim().replace(['\n', '\r'], " ");
            self.section(open.start..end, level, &title);
        }
    }

    fn text_line(&mut self, start: usize, end: usize, line: &str) {
        let kind = if line.trim_start().starts_with('|') {
            Kind::Table
        } else if is_item(line) {
            Kind::List
        } else {
            Kind::Paragraph
        };
        let goes_on = self.open.as_ref().is_some_and(|open| match open.kind {
            Kind::List => kind == Kind::List || indent(line) >= 2 || !open.blank,
            Kind::Table => kind == Kind::Table,
            Kind::Paragraph => kind == Kind::Paragraph,
        });
        if !goes_on {
            self.close();
        }
        let open = self.open.get_or_insert(Open { start, end, kind, lines: 0, blank: false });
        (open.end, open.lines, open.blank) = (end, open.lines + 1, false);
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.found.push(open.start..open.end, self.path, None);
        }
    }
}

/// The sign and the length of a fence.
fn fence_of(line: &str) -> Option<(u8, usize)> {
    let line = line.trim_start();
    let sign = *line.as_bytes().first().filter(|sign| matches!(sign, b'`' | b'~'))?;
    let length = line.bytes().take_while(|byte| *byte == sign).count();
    // Behind backticks no other may stand: that is code within a line.
    (length >= 3 && !(sign == b'`' && line[length..].contains('`'))).then_some((sign, length))
}

/// Level and title of `## Title ##`.
fn heading(line: &str) -> Option<(usize, &str)> {
    if indent(line) > 3 {
        return None;
    }
    let line = line.trim();
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &line[level..];
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let title = rest.trim();
    let without = title.trim_end_matches('#');
    Some((level, if without.ends_with(' ') || without.is_empty() { without.trim() } else { title }))
}

/// Whether a line begins an item: `-`, `*`, `+`, `1.`, `1)`.
fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line[digits..];
    let marked = if digits == 0 { rest.starts_with(['-', '*', '+']) } else { digits <= 9 && rest.starts_with(['.', ')']) };
    marked && rest[1..].starts_with([' ', '\t'])
}
