//! The upper bound of a prompt's cost for a closed tokenizer, from its content by class and a provider's bill for an earlier prompt.
//!
//! There are two bounds, and the smaller one counts: every class of content by its own factor, and the known cost of an earlier request
//! that this one begins with, plus what was added since by its factors ([`crate::tokens::bound`]). The epoch's one factor decides
//! where history begins; these numbers decide only how much the volatile block may hold, so the prefix stays what it was.
//!
//! It does not learn, and does not know where the numbers are kept: that is `session::bounds`.

use super::block::{Block, chunk};
use super::cut::Cut;
use super::fixed::Fixed;
use super::framing::Framing;
use super::lower::{Piece, pieces, result_pieces};
use super::message::{Message, Shape, Source};
use super::segment::{Body, Segment};
use crate::tokens::bound::{Class, Counted, Tally, bound};
use crate::tokens::{Counter, Factor};

/// The known costs of a model's tokenizer and of a session's window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// The most that a counted token of each class costs.
    pub factors: [Factor; Class::ALL.len()],
    /// Something was learned: else the model's prior stands for all, as the epoch's factor does.
    pub learned: bool,
    /// One factor for content like that of the session: for windows that slide.
    pub overall: Factor,
    /// The window that the epoch's record names, as of now.
    pub window: Option<KnownWindow>,
}

/// The content of a window that was summed up as it grew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownWindow {
    /// Where it begins.
    pub cut: Cut,
    /// The messages of the session until then.
    pub messages: u64,
    /// Fixed sections, messages and the blocks that stayed in their turns.
    pub content: Tally,
    /// The known part of its cost.
    pub anchor: Option<KnownCost>,
}

/// The cost of a request that a provider has counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownCost {
    /// In the model's own tokens.
    pub cost: u64,
    /// The content added since.
    pub since: Tally,
    /// The block of this turn was in that request.
    pub holds_block: bool,
}

/// The content of a prompt, with which a provider's count of it is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    /// All of it.
    pub request: Tally,
    /// The part of the request that is the volatile block.
    pub block: Tally,
    /// It is the epoch's own window, whole: its cost predicts that of the next prompt.
    pub anchors: bool,
}

impl Bounds {
    /// Whether these numbers say more than the epoch's factor.
    #[must_use]
    pub fn informed(&self) -> bool {
        self.learned || self.window.as_ref().is_some_and(|window| window.anchor.is_some())
    }

    /// The known costs of the model without any figure of a provider.
    #[must_use]
    pub fn unlearned(&self, prior: Factor) -> Self {
        let window = self.window.clone().map(|window| KnownWindow { anchor: None, ..window });
        Self { factors: [prior; Class::ALL.len()], learned: false, overall: prior, window }
    }

    /// The most that a request costs: history with its fixed sections, and a block.
    #[must_use]
    pub fn of(&self, history: &Tally, anchor: Option<&KnownCost>, block: &Tally) -> u64 {
        let alone = bound(&history.plus(block), None, &self.factors);
        let Some(known) = anchor else { return alone };
        let since = if known.holds_block { known.since } else { known.since.plus(block) };
        let anchored = known.cost.saturating_add(bound(&since, None, &self.factors));
        // Where the truth was above what the factors say, they are wrong, not it.
        if alone < known.cost { anchored } else { anchored.min(alone) }
    }

    /// The largest factor.
    #[must_use]
    pub fn most(&self) -> Factor {
        self.factors.into_iter().max_by_key(|factor| factor.per_mille()).unwrap_or(Factor::EXACT)
    }
}

/// The content of a message as it is sent.
#[must_use]
pub fn message(message: &Message, tokens: u64, shape: Shape, counter: &dyn Counter) -> Tally {
    let mut tally = Tally::default();
    for piece in pieces(message, shape) {
        texts(&piece, shape, &mut |text| tally.text_by(counter, text));
    }
    rest(tally, tokens)
}

fn texts(piece: &Piece<'_>, shape: Shape, add: &mut dyn FnMut(&str)) {
    match piece {
        Piece::Text(text) => add(text),
        Piece::Refusal(text) => add(text),
        Piece::Call(call) => {
            add(&call.name);
            add(&call.name);
            add(&call.arguments);
        }
        Piece::Result(result) => {
            for piece in result_pieces(result, shape) {
                texts(&piece, shape, add);
            }
        }
        Piece::Document(document) => {
            if let Source::Text(text) = &document.source {
                add(text);
            }
        }
        Piece::Image(_) | Piece::Vendor(_) | Piece::Beside(..) => {}
    }
}

/// The content of a block: each item by itself, since they are of different kinds.
#[must_use]
pub fn block(block: &Block, overhead: u64, counter: &dyn Counter) -> Tally {
    let mut tally = Tally::default();
    for item in &block.items {
        tally.text_by(counter, &chunk(item));
    }
    rest(tally, block.tokens + overhead)
}

/// The content of fixed sections, the reply's frame included.
#[must_use]
pub fn fixed(fixed: &Fixed, framing: &Framing, counter: &dyn Counter) -> Tally {
    let mut tally = Tally::default();
    for text in [&fixed.system, &fixed.pinned, &fixed.summary].into_iter().flatten() {
        tally.text_by(counter, &text.text);
    }
    if let Some(tools) = &fixed.tools {
        tally = tally.plus(&like(Class::Code, tools.tokens));
    }
    rest(tally, fixed.tokens(framing))
}

/// A tally of `tokens` counted tokens of one class, of texts that are not at hand.
#[must_use]
pub fn like(class: Class, tokens: u64) -> Tally {
    let mut tally = Tally::default();
    // No text has more bytes a token than any factor.
    tally.classes[class as usize] = Counted { tokens, bytes: tokens.saturating_mul(32) };
    tally
}

/// The content of a prompt as it is laid out.
pub(super) fn segments(segments: &[Segment], framing: &Framing, counter: &dyn Counter) -> Tally {
    let mut sum = Tally::default();
    for segment in segments {
        let content = match &segment.body {
            Body::Tools(tools) => rest(like(Class::Code, tools.tokens), segment.tokens),
            Body::Text(text) => {
                let mut tally = Tally::default();
                tally.text_by(counter, &text.text);
                rest(tally, segment.tokens)
            }
            Body::Message(_, stored) => message(&stored.message, segment.tokens, framing.shape(), counter),
            Body::Block(shown) => block(shown, segment.tokens.saturating_sub(shown.tokens), counter),
        };
        sum = sum.plus(&content);
    }
    rest(sum, sum.tokens() + framing.reply)
}

/// All that is not text is frames: together `tokens`.
fn rest(mut tally: Tally, tokens: u64) -> Tally {
    tally.frame(tokens.saturating_sub(tally.tokens()));
    tally
}
