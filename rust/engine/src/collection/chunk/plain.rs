//! Plain text: paragraphs, which blank lines part.

use super::{Blocks, lines};
use crate::interrupt;

pub(super) fn blocks(text: &str) -> Blocks {
    let mut found = Blocks::default();
    let path = found.path(std::iter::empty());
    let mut open: Option<(usize, usize)> = None;
    for (start, line) in lines(text) {
        if interrupt::is_wanted() {
            break; // the caller throws away what is cut until here
        }
        if line.trim().is_empty() {
            if let Some((from, to)) = open.take() {
                found.push(from..to, path, None);
            }
        } else {
            let from = open.map_or(start, |(from, _)| from);
            open = Some((from, start + line.len()));
        }
    }
    if let Some((from, to)) = open {
        found.push(from..to, path, None);
    }
    found
}
