//! The report of a prompt about itself: the table of its sections, the fate of the history, and errors with every number.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::block::{self, Item};
use super::budget::Grant;
use super::compose::Inputs;
use super::cut::{Grid, Window};
use super::explain::{Explained, SectionUse, Why};
use super::fixed::FixedText;
use super::history::Stored;
use super::layout::Laid;
use super::limit::section;
use super::prompt::Scale;
use super::segment::{Body, Segment, SegmentKind};
use super::select::Chosen;
use crate::{Error, ErrorKind, Result};

/// Reports on a prompt of these inputs.
pub(super) struct Report<'a> {
    pub(super) inputs: &'a Inputs<'a>,
    pub(super) grid: Grid,
    pub(super) space: u64,
    pub(super) scale: Scale,
}

impl Report<'_> {
    /// The table of sections, in the order of the prompt; tokens are bounded so that they add up to the total.
    pub(super) fn sections(&self, laid: &Laid, chosen: &Chosen, counted: u64) -> Vec<SectionUse> {
        let mut rows = self.fixed_rows();
        rows.extend(self.history_rows(laid));
        rows.extend(chosen.sections.iter().cloned());
        let named: u64 = rows.iter().map(|row| row.tokens).sum();
        rows.push(row(section::FRAME, counted.saturating_sub(named), 1));
        let (mut sum, scale) = (0, self.scale);
        for row in &mut rows {
            let next = (sum + row.tokens).min(counted);
            row.tokens = scale.of(next) - scale.of(sum);
            (row.asked, row.granted) = (scale.of(row.asked), scale.of(row.granted).max(row.tokens));
            sum = next;
        }
        rows
    }

    fn fixed_rows(&self) -> Vec<SectionUse> {
        let fixed = self.inputs.fixed;
        let mut rows = Vec::new();
        if let Some(tools) = &fixed.tools {
            rows.push(row(section::TOOLS, tools.tokens, tools.tools.tools.len() as u64));
        }
        for (name, text) in [(section::SYSTEM, &fixed.system), (section::PINNED, &fixed.pinned), (section::SUMMARY, &fixed.summary)] {
            rows.extend(text.as_ref().map(|text| row(name, text.tokens, text.items.len().max(1) as u64)));
        }
        rows
    }

    fn history_rows(&self, laid: &Laid) -> [SectionUse; 2] {
        let (history, turn) = parts(laid);
        let tokens = |segments: &[Segment]| segments.iter().map(|segment| segment.tokens).sum::<u64>();
        let block = |segment: &&Segment| segment.kind == SegmentKind::Block && matches!(segment.body, Body::Block(_));
        let carried: u64 = turn.iter().filter(block).map(|segment| segment.tokens).sum();
        let own = self.inputs.budget.grant(section::HISTORY, self.space);
        let grant = Some(Grant { ceiling: self.grid.grant, ..own });
        let history = SectionUse { grant, granted: self.grid.grant, ..row(section::HISTORY, tokens(history), laid.messages[0]) };
        [history, row(section::TURN, tokens(turn) - carried, laid.messages[1])]
    }

    /// The fixed parts of every prompt of the epoch: the instructions, and each pinned memory by itself.
    pub(super) fn explain_fixed(&self) -> Vec<Explained> {
        let fixed = self.inputs.fixed;
        let mut explained = Vec::new();
        if let Some(tools) = &fixed.tools {
            explained.push(Explained::other(section::TOOLS, section::TOOLS, tools.tokens, Why::Fixed));
        }
        for (name, text) in [(section::SYSTEM, &fixed.system), (section::SUMMARY, &fixed.summary)] {
            explained.extend(text.as_ref().map(|text| Explained::other(name, name, text.tokens, Why::Fixed)));
        }
        for item in fixed.pinned.iter().flat_map(|pinned| &pinned.items) {
            explained.push(Explained::of(item, self.inputs.counter.count(&block::chunk(item)), Why::Fixed));
        }
        explained
    }

    /// The items that blocks of earlier turns in the window still show, and those that they no longer show.
    pub(super) fn explain_blocks(&self, window: &Window) -> Result<Vec<Explained>> {
        let (history, mut explained) = (self.inputs.history, Vec::new());
        for turn in window.first_turn + u64::from(window.cut.shortened)..history.turns().saturating_sub(1) {
            let tokens = |item: &Item| self.inputs.counter.count(&block::chunk(item));
            let block = history.kept_block(turn)?;
            let kept = block.iter().flat_map(|block| &block.items);
            explained.extend(kept.map(|item| Explained::of(item, tokens(item), Why::Retained { turn })));
            explained.extend(history.left_out(turn)?.iter().map(|item| Explained::of(item, 0, Why::Outdated { turn })));
        }
        Ok(explained)
    }

    /// The fate of the history and of the newest turn, by ranges: the part of each message in the window is in the segments. The rows of
    /// a section add up to its messages.
    pub(super) fn explain_history(&self, laid: &Laid, window: &Window, squeezed: &BTreeMap<u64, Arc<Stored>>) -> Result<Vec<Explained>> {
        let (inputs, (start, steps)) = (self.inputs, (window.cut.start, window.steps));
        let (history, turn) = parts(laid);
        let opens = turn.iter().find_map(index_of).unwrap_or(inputs.history.messages());
        let mut explained = Vec::new();
        let origin = inputs.epoch.origin;
        if origin.min(start) > 0 {
            let id = format!("messages 0..{}", origin.min(start));
            explained.push(Explained::other(section::HISTORY, id, 0, Why::BeforeOrigin));
        }
        let before = origin..start.min(inputs.history.messages());
        let ([first, second], left_out) = (window.parts.clone(), window.left_out());
        let ranges = [
            (before, Why::BeforeWindow { start, steps }),
            (first, Why::InWindow { start }),
            (left_out.start..left_out.end.min(origin), Why::BeforeOrigin),
            (left_out.start.max(origin)..left_out.end, Why::RoundsLeftOut),
            (second, Why::InWindow { start }),
        ];
        for (range, why) in ranges.into_iter().filter(|(range, _)| !range.is_empty()) {
            let cut = opens.clamp(range.start, range.end);
            let halves = [(section::HISTORY, history, range.start..cut), (section::TURN, turn, cut..range.end)];
            for (name, segments, range) in halves.into_iter().filter(|(.., range)| !range.is_empty()) {
                let tokens = if why.is_included() {
                    tokens_of(segments, &range, squeezed)
                } else {
                    inputs.history.tokens_before(range.end)?.saturating_sub(inputs.history.tokens_before(range.start)?)
                };
                explained.push(Explained::other(name, format!("messages {}..{}", range.start, range.end), tokens, why.clone()));
            }
        }
        for (index, stored) in squeezed {
            let from = inputs.history.message(*index)?.cost.tokens;
            explained.push(Explained::other(section::TURN, format!("message {index}"), stored.cost.tokens, Why::Shortened { from }));
        }
        Ok(explained)
    }
}

/// The segments of the history, and those of the newest turn.
fn parts(laid: &Laid) -> (&[Segment], &[Segment]) {
    laid.segments[laid.marks.fixed..].split_at(laid.marks.turn - laid.marks.fixed)
}

/// The index of a message of the session.
fn index_of(segment: &Segment) -> Option<u64> {
    if let Body::Message(index, _) = &segment.body { *index } else { None }
}

/// Tokens of the messages of a range among the segments of a part, without those that were shortened, which have rows of their own. The
/// result of a call that has none belongs to the message before it.
fn tokens_of(segments: &[Segment], range: &Range<u64>, squeezed: &BTreeMap<u64, Arc<Stored>>) -> u64 {
    let (mut tokens, mut is_in) = (0, segments.iter().find_map(index_of).is_some_and(|first| range.contains(&first)));
    for segment in segments.iter().filter(|segment| segment.kind == SegmentKind::Message) {
        let index = index_of(segment);
        is_in = index.map_or(is_in, |index| range.contains(&index));
        if is_in && index.is_none_or(|index| !squeezed.contains_key(&index)) {
            tokens += segment.tokens;
        }
    }
    tokens
}

fn row(name: &str, tokens: u64, items: u64) -> SectionUse {
    SectionUse { name: name.into(), grant: None, asked: tokens, granted: tokens, tokens, items }
}

/// The fixed sections and the newest message and round, of `whole` counted tokens and of `least` with their results shortened, do not fit.
pub(super) fn exceeded(inputs: &Inputs<'_>, whole: u64, least: u64) -> Error {
    let factor = inputs.epoch.factor;
    let fixed = inputs.fixed;
    let text = |text: &Option<Arc<FixedText>>| text.as_ref().map_or(0, |text| text.tokens);
    let tools = fixed.tools.as_ref().map_or(0, |tools| tools.tokens);
    let limit = inputs.limit;
    // A round that fits by its bound may be a token too long when it is shortened to that.
    let needed = factor.bound(fixed.tokens(inputs.framing) + least).max(limit + 1);
    // Each is bounded where it stands in the sum, so that they add up to it.
    let mut sum = 0;
    let [tools, system, pinned, summary, newest] =
        [tools, text(&fixed.system), text(&fixed.pinned), text(&fixed.summary), least].map(|tokens| {
            sum += tokens;
            factor.bound(sum) - factor.bound(sum - tokens)
        });
    let frame = needed - factor.bound(sum);
    let shortened = if least < whole { format!(", of {} before its results are shortened", factor.bound(whole)) } else { String::new() };
    let smaller = if summary > 0 { ", call session.compact() for a smaller summary," } else { "," };
    let message = format!(
        "cannot assemble the prompt: fixed sections and the newest message must fit the limit, got {needed} tokens for {limit} \
         (tools {tools}, system {system}, pinned {pinned}, summary {summary}, newest message and round {newest}{shortened}, frame \
         {frame}): shorten one of them{smaller} or raise max_input_tokens by {}",
        needed.saturating_sub(limit)
    );
    Error::new(ErrorKind::BudgetExceeded, message)
        .with("needed_tokens", needed as i64)
        .with("limit_tokens", limit as i64)
        .with("tools_tokens", tools as i64)
        .with("system_tokens", system as i64)
        .with("pinned_tokens", pinned as i64)
        .with("summary_tokens", summary as i64)
        .with("newest_tokens", newest as i64)
        .with("frame_tokens", frame as i64)
}

/// The sent prompt was counted again, and has more tokens than the stored counts.
pub(super) fn disagrees(counted: u64, room: u64) -> Error {
    let message = format!(
        "cannot assemble the prompt: stored token counts must be those of the messages, got {counted} tokens where the counts \
         promise at most {room} (session transcript): run the doctor on this store, or switch_model to count anew"
    );
    Error::new(ErrorKind::StoreCorrupt, message).with("counted_tokens", counted as i64).with("room_tokens", room as i64)
}
