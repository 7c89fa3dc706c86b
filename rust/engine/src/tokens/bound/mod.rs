//! Bounds for models whose tokenizer is closed: the most that a request can cost, from the costs of earlier ones.
//!
//! A reference encoding counts; the provider's `usage` tells the truth, afterwards and for whole requests. So:
//! 1. *Anchor.* The truth of the last request is exact for the part that the next one shares with it. Only the new part is bounded.
//! 2. *Factor.* The new part costs at most `factor(class) * counted`, one factor for each [`Class`] of content, since tokenizers differ
//!    most in how they treat digits, code and CJK. It begins at the model's prior and is learned (`learned`).
//!    When content leaves the end of a request, the truth drops by at least `least(class) * counted`.
//! 3. *Cap.* No byte-level tokenizer makes more than one token of a byte.
//!
//! ```text
//! bound(request) = truth(anchor) + sum over classes of min(factor * counted, bytes) + slack
//! ```
//!
//! Messages are counted one by one, so the counts of a prefix and of the rest add up. The module is pure: no store, no clock, no model.
//! The session decides when a factor may change (between epochs) and keeps [`Learned`] in its store.

mod class;
mod learned;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod simulation;
mod usage;

pub use class::Class;
pub use learned::{Learned, Open, Ratio, State};
pub use usage::{Usage, usage};

use super::{CachedCounter, Counter, Encoding, Factor};

/// The cost of frames and borders beyond the counted tokens: short texts are further from their class than long ones, as the root of
/// their length.
fn slack(new: &Tally) -> u64 {
    16 + new.tokens().isqrt()
}

/// The counts of a request or of a part of it, by class. Sums and differences of prefixes are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Reference tokens and bytes of each class, in the order of [`Class::ALL`].
    pub classes: [Counted; Class::ALL.len()],
    /// Tokens of frames, images and documents: counted by published rules, and not multiplied.
    pub frames: u64,
}

/// Reference tokens and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counted {
    /// Tokens of the reference encoding.
    pub tokens: u64,
    /// Bytes of UTF-8.
    pub bytes: u64,
}

/// A request whose cost is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// Its counted tokens.
    pub counted: Tally,
    /// Its cost: [`Usage::input_tokens`].
    pub truth: u64,
}

impl Anchor {
    /// The anchor of a request that goes on from this one, where that is not the request itself: what was added may have been bounded, or be
    /// the difference of two truths.
    #[must_use]
    pub fn extended(&self, added: &Tally, cost: u64) -> Self {
        Self { counted: self.counted.plus(added), truth: self.truth.saturating_add(cost) }
    }

    /// The one of two anchors of one prefix that says less: both bound it.
    #[must_use]
    pub fn nearer(self, other: Option<Self>) -> Self {
        other.filter(|other| other.counted == self.counted && other.truth < self.truth).unwrap_or(self)
    }
}

impl Tally {
    /// Adds a text.
    pub fn text(&mut self, encoding: Encoding, text: &str) {
        self.text_by(&CachedCounter::new(encoding), text);
    }

    /// Adds a text, counted by the reference counter.
    pub fn text_by(&mut self, counter: &dyn Counter, text: &str) {
        let counted = &mut self.classes[Class::of(text) as usize];
        counted.tokens += counter.count(text);
        counted.bytes += text.len() as u64;
    }

    /// Adds what is not text.
    pub fn frame(&mut self, tokens: u64) {
        self.frames += tokens;
    }

    /// Both together.
    #[must_use]
    pub fn plus(mut self, other: &Self) -> Self {
        for (own, added) in self.classes.iter_mut().zip(other.classes) {
            *own = Counted { tokens: own.tokens.saturating_add(added.tokens), bytes: own.bytes.saturating_add(added.bytes) };
        }
        self.frames = self.frames.saturating_add(other.frames);
        self
    }

    /// The difference to a prefix of it; `None` if that is not a prefix.
    #[must_use]
    pub fn beyond(mut self, prefix: &Self) -> Option<Self> {
        for (own, less) in self.classes.iter_mut().zip(prefix.classes) {
            *own = Counted { tokens: own.tokens.checked_sub(less.tokens)?, bytes: own.bytes.checked_sub(less.bytes)? };
        }
        self.frames = self.frames.checked_sub(prefix.frames)?;
        Some(self)
    }

    /// The most tokens that it can be: its bytes, and its frames.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.classes.iter().map(|class| class.bytes).fold(self.frames, u64::saturating_add)
    }

    /// All reference tokens.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.classes.iter().map(|counted| counted.tokens).sum::<u64>() + self.frames
    }

    /// The most that this can cost by these factors.
    #[must_use]
    pub fn bound(&self, factors: &[Factor; Class::ALL.len()]) -> u64 {
        let texts =
            self.classes.iter().zip(factors).map(|(counted, factor)| factor.bound(counted.tokens).min(counted.bytes.max(counted.tokens)));
        texts.fold(self.frames, u64::saturating_add)
    }
}

/// The most that a request can cost: from the truth of the last one where that is a prefix of it, else from the factors alone.
#[must_use]
pub fn bound(request: &Tally, anchor: Option<&Anchor>, factors: &[Factor; Class::ALL.len()]) -> u64 {
    let alone = request.bound(factors).saturating_add(slack(request));
    let anchored = anchor.and_then(|anchor| {
        let new = request.beyond(&anchor.counted)?;
        Some(anchor.truth.saturating_add(new.bound(factors)).saturating_add(slack(&new)))
    });
    // Both bound it, so the smaller one does. The truth itself may be above what the factors say: then they are wrong, not it.
    match (anchored, anchor) {
        (Some(anchored), Some(anchor)) => anchored.min(alone.max(anchor.truth)),
        _ => alone,
    }
}
