//! The order of a prompt: fixed sections, the window of history, the newest turn with its volatile block.
//!
//! It walks the window once, puts an "interrupted" result behind every call that has none, and each block before the user message it
//! travels with. Its caller has made sure that everything fits.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::block::{self, Block, Item};
use super::breakpoints::Landmarks;
use super::cut::Window;
use super::fixed::{Fixed, FixedText};
use super::framing::Framing;
use super::history::{History, Stored};
use super::limit::{Order, section};
use super::message::{Digest, Role};
use super::segment::{Body, Segment, SegmentKind};
use super::turns::{interrupted, opens_round};
use crate::Result;
use crate::tokens::Counter;

/// Segments beside the messages of the window that most prompts have at most: fixed sections, and blocks that stayed in their turns.
const BESIDE_MESSAGES: usize = 16;

/// Segments, and where in them the parts begin.
pub(super) struct Laid {
    pub(super) segments: Vec<Segment>,
    pub(super) marks: Landmarks,
    /// Messages of the window before the newest turn, and in it.
    pub(super) messages: [u64; 2],
}

/// The parts to lay out.
pub(super) struct Layout<'a> {
    pub(super) framing: &'a Framing,
    pub(super) counter: &'a dyn Counter,
    pub(super) order: Order,
    pub(super) fixed: &'a Fixed,
    pub(super) history: &'a dyn History,
    pub(super) window: &'a Window,
    pub(super) block: Option<&'a Arc<Block>>,
    /// The newest turn has an open user message, which carries the block.
    pub(super) carried: bool,
    pub(super) append_only: bool,
    /// Messages that are shown shorter than they are stored.
    pub(super) squeezed: &'a BTreeMap<u64, Arc<Stored>>,
}

impl Layout<'_> {
    pub(super) fn lay(&self) -> Result<Laid> {
        let messages: u64 = self.window.parts.iter().map(|part| part.end.saturating_sub(part.start)).sum();
        let segments = Vec::with_capacity(messages as usize + BESIDE_MESSAGES);
        let mut laid = Laid { segments, marks: Landmarks::default(), messages: [0, 0] };
        self.lay_fixed(&mut laid);
        self.lay_window(&mut laid)?;
        if !self.carried && self.history.block_will_stay() {
            laid.marks.until = Some(laid.marks.turn);
        }
        let alone = self.block.filter(|_| self.order == Order::CacheFirst && !self.carried);
        if let Some(block) = alone {
            (laid.marks.previous_turn, laid.marks.turn) = (laid.marks.turn, laid.segments.len());
            laid.messages = [laid.messages[0] + laid.messages[1], 0];
            let tokens = block.tokens + self.framing.frame(Role::User, None, self.counter);
            laid.segments.push(Segment { kind: SegmentKind::Block, body: Body::Block(Arc::clone(block)), tokens });
        }
        laid.marks.classic = self.order == Order::Classic;
        laid.marks.lasts = self.squeezed.is_empty() && (self.block.is_none() || self.append_only && self.carried);
        laid.marks.rounds = self.carried && (self.fixed.tools.is_some() || laid.marks.before_reply > laid.marks.turn);
        Ok(laid)
    }

    fn lay_fixed(&self, laid: &mut Laid) {
        let segments = &mut laid.segments;
        if let Some(tools) = &self.fixed.tools {
            segments.push(Segment { kind: SegmentKind::Tools, body: Body::Tools(Arc::clone(tools)), tokens: tools.tokens });
        }
        push_text(segments, SegmentKind::System, self.fixed.system.as_ref());
        laid.marks.system = segments.len();
        push_text(segments, SegmentKind::Pinned, self.fixed.pinned.as_ref());
        self.lay_classic(segments, &[section::UPDATED, section::NEWER, section::RECALLED]);
        push_text(segments, SegmentKind::Summary, self.fixed.summary.as_ref());
        self.lay_classic(segments, &[section::TASK]);
        self.lay_classic(segments, &[]);
        laid.marks.fixed = segments.len();
        (laid.marks.turn, laid.marks.previous_turn, laid.marks.before_reply) = (segments.len(), segments.len(), segments.len());
    }

    /// In the classic order the block is taken apart: the named sections, or those that nobody names here.
    fn lay_classic(&self, segments: &mut Vec<Segment>, names: &[&str]) {
        let Some(block) = self.block.filter(|_| self.order == Order::Classic) else { return };
        let elsewhere = [section::UPDATED, section::NEWER, section::RECALLED, section::TASK];
        let here = |item: &&Item| if names.is_empty() { !elsewhere.contains(&&*item.section) } else { names.contains(&&*item.section) };
        let items: Vec<Item> = block.items.iter().filter(here).cloned().collect();
        if let Some(text) = block::render(&items) {
            let (tokens, digest) = (self.framing.text(Role::System, &text, self.counter), Digest::of_text(&text));
            let text = Arc::new(FixedText { text: text.into(), items, tokens, digest });
            segments.push(Segment { kind: SegmentKind::Block, tokens, body: Body::Text(text) });
        }
    }

    fn lay_window(&self, laid: &mut Laid) -> Result<()> {
        let mut walk = Walk { turn: self.window.first_turn, next_start: None, open: Vec::new(), carried: false };
        for index in self.window.parts.iter().flat_map(Clone::clone) {
            let stored = match self.squeezed.get(&index) {
                Some(squeezed) => Arc::clone(squeezed),
                None => self.history.message(index)?,
            };
            if index == self.window.parts[1].start {
                self.lay_line(&mut walk, laid);
            }
            self.enter_turn(index, &mut walk, laid)?;
            self.lay_message(index, stored, &mut walk, laid)?;
        }
        if self.window.parts[1].is_empty() {
            self.lay_line(&mut walk, laid);
        }
        laid.marks.end = laid.segments.len();
        self.close_calls(&mut walk, laid);
        Ok(())
    }

    /// The line that stands for rounds which are left out, where there is one.
    fn lay_line(&self, walk: &mut Walk, laid: &mut Laid) {
        if let Some(line) = &self.window.rounds {
            self.close_calls(walk, laid);
            let body = Body::Message(None, Arc::clone(line));
            laid.segments.push(Segment { kind: SegmentKind::Message, tokens: line.cost.tokens, body });
        }
    }

    /// Notes where turns begin.
    fn enter_turn(&self, index: u64, walk: &mut Walk, laid: &mut Laid) -> Result<()> {
        let turns = self.history.turns();
        loop {
            let next = match walk.next_start {
                Some(next) => next,
                None if walk.turn + 1 < turns => self.history.turn_start(walk.turn + 1)?,
                None => u64::MAX,
            };
            walk.next_start = Some(next);
            if index < next {
                return Ok(());
            }
            self.close_calls(walk, laid);
            (walk.turn, walk.next_start, walk.carried) = (walk.turn + 1, None, false);
            (laid.marks.previous_turn, laid.marks.turn) = (laid.marks.turn, laid.segments.len());
        }
    }

    fn lay_message(&self, index: u64, stored: Arc<Stored>, walk: &mut Walk, laid: &mut Laid) -> Result<()> {
        let message = &stored.message;
        if message.tool_results().next().is_some() {
            walk.open.retain(|id| message.tool_results().all(|result| result.call_id != *id));
        } else {
            self.close_calls(walk, laid);
            walk.open = message.tool_calls().map(|call| call.id.clone()).collect();
        }
        if message.opens_turn() && !walk.carried {
            walk.carried = true;
            self.lay_block(walk.turn, laid)?;
        }
        if opens_round(message) {
            laid.marks.before_reply = laid.segments.len();
        }
        laid.messages[usize::from(walk.turn + 1 == self.history.turns())] += 1;
        laid.segments.push(Segment { kind: SegmentKind::Message, tokens: stored.cost.tokens, body: Body::Message(Some(index), stored) });
        Ok(())
    }

    /// The block that the user message of `turn` carries.
    fn lay_block(&self, turn: u64, laid: &mut Laid) -> Result<()> {
        let newest = turn + 1 == self.history.turns();
        let current = self.block.filter(|_| self.carried && self.order == Order::CacheFirst).map(Arc::clone);
        let block = if newest { current } else { self.history.kept_block(turn)? };
        if let Some(block) = block {
            laid.segments.push(Segment { kind: SegmentKind::Block, tokens: block.tokens, body: Body::Block(block) });
        }
        Ok(())
    }

    fn close_calls(&self, walk: &mut Walk, laid: &mut Laid) {
        for id in walk.open.drain(..) {
            let stored = Stored::new(interrupted(&id), self.framing, self.counter);
            let tokens = stored.cost.tokens;
            laid.segments.push(Segment { kind: SegmentKind::Message, tokens, body: Body::Message(None, Arc::new(stored)) });
        }
    }
}

struct Walk {
    turn: u64,
    next_start: Option<u64>,
    open: Vec<Box<str>>,
    /// The turn's user message has been met.
    carried: bool,
}

fn push_text(segments: &mut Vec<Segment>, kind: SegmentKind, text: Option<&Arc<FixedText>>) {
    if let Some(text) = text {
        segments.push(Segment { kind, tokens: text.tokens, body: Body::Text(Arc::clone(text)) });
    }
}
