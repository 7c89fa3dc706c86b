//! Why each thing is in a prompt or is not: one line for each candidate, one for each section.

use std::fmt;
use std::sync::Arc;

use super::block::Item;
use super::budget::Grant;
use super::epoch::MemoryRef;
use crate::units::score::SCORE_UNIT;

/// Why something was shown or left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// Stands in every prompt of the epoch.
    Fixed,
    /// It fits its section's grant and ranks high enough.
    Chosen,
    /// Shown earlier in this turn; stays until the turn ends.
    Frozen,
    /// In the window of history.
    InWindow {
        /// The first message of the window.
        start: u64,
    },
    /// Before the window of history.
    BeforeWindow {
        /// The first message of the window.
        start: u64,
        /// How often the window has moved.
        steps: u64,
    },
    /// Rounds of the newest turn that is larger than its place.
    RoundsLeftOut,
    /// A tool result of the newest round, shortened to fit.
    Shortened {
        /// Its tokens before.
        from: u64,
    },
    /// Less relevant than a recalled memory must be.
    BelowFloor {
        /// The least score.
        floor: i64,
    },
    /// Larger than its section may be.
    OverCeiling {
        /// The most the section may have.
        ceiling: u64,
    },
    /// Others that rank higher used its section's grant.
    OverGrant {
        /// The section's grant.
        granted: u64,
        /// The tokens left of it.
        left: u64,
        /// The most that the section may be granted; 0 where that was not kept.
        ceiling: u64,
    },
    /// The room of the whole block shrank below it.
    OverRoom {
        /// The most tokens of the block.
        left: u64,
    },
    /// It is pinned, and stands before the history already.
    Pinned,
    /// Another item with the same text is shown already.
    Repeated,
    /// It has no text.
    Empty,
    /// The turn's block was sent already, and stays as it is until the turn ends.
    NextTurn,
    /// In the block of an earlier turn, which stays there because taking it out is dearer.
    Retained {
        /// The turn.
        turn: u64,
    },
    /// The block of an earlier turn showed it, and the epoch began when it was no longer true, or pinned.
    Outdated {
        /// The turn.
        turn: u64,
    },
    /// A word of the question that no memory has, read as one that some have.
    ReadAs {
        /// That one.
        word: Box<str>,
    },
    /// Left behind when the model was switched or the session compacted.
    BeforeOrigin,
}

impl Why {
    /// Whether it is in the prompt.
    #[must_use]
    pub fn is_included(&self) -> bool {
        matches!(
            self,
            Self::Fixed
                | Self::Chosen
                | Self::Frozen
                | Self::InWindow { .. }
                | Self::Shortened { .. }
                | Self::Retained { .. }
                | Self::ReadAs { .. }
        )
    }

    /// Whether it is about a block of an earlier turn: such lines follow from the transcript, and the ledger has none of them.
    #[must_use]
    pub fn is_of_blocks(&self) -> bool {
        matches!(self, Self::Retained { .. } | Self::Outdated { .. })
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed => f.write_str("stands in every prompt of this epoch"),
            Self::Chosen => f.write_str("ranks within its section's grant"),
            Self::Frozen => f.write_str("stands in this turn's block, which stays as it was sent until the turn ends"),
            Self::InWindow { start } => write!(f, "in the window, which begins at message {start}"),
            Self::BeforeWindow { start, steps } => write!(f, "before the window, which begins at message {start} after {steps} steps"),
            Self::RoundsLeftOut => f.write_str("earlier rounds of a turn that is larger than its share"),
            Self::Shortened { from } => write!(f, "a result of the newest round, shortened from {from} tokens"),
            Self::BelowFloor { floor } => write!(f, "its score is below the relevance floor of {:.3}", *floor as f64 / SCORE_UNIT),
            Self::OverCeiling { ceiling } => write!(f, "larger than its section may be ({ceiling} tokens)"),
            Self::OverGrant { granted, left, ceiling } if *ceiling > *granted || *ceiling == 0 => {
                write!(f, "others rank higher: {left} of the {granted} tokens that the prompt had room for remained")
            }
            Self::OverGrant { left, ceiling, .. } => write!(f, "others rank higher: {left} of the section's {ceiling} tokens remained"),
            Self::OverRoom { left } => write!(f, "the block has room for {left} more tokens"),
            Self::Pinned => f.write_str("is pinned, and stands before the history"),
            Self::Repeated => f.write_str("the same text is shown already"),
            Self::Empty => f.write_str("has no text"),
            Self::NextTurn => f.write_str("the block of this turn was sent already: it can be shown in the next turn"),
            Self::Retained { turn } => write!(f, "stands in turn {turn}, whose block stays: taking it out would cost more"),
            Self::Outdated { turn } => {
                write!(f, "turn {turn} showed it, and this epoch leaves it out: it was replaced since, or is pinned now")
            }
            Self::ReadAs { word } => write!(f, "the search does not know this word of the question, and read it as {word:?}"),
            Self::BeforeOrigin => f.write_str("left behind when the model was switched or the session compacted"),
        }
    }
}

impl Explained {
    /// Why, and what would change it.
    #[must_use]
    pub fn reason(&self) -> String {
        let section = &self.section;
        let cure = match self.why {
            Why::OverGrant { granted, ceiling, .. } if ceiling > granted => "raise max_input_tokens, or the section's floor".to_owned(),
            Why::OverGrant { ceiling: 0, .. } => return self.why.to_string(),
            Why::OverGrant { .. } | Why::OverCeiling { .. } => {
                format!("raise its ceiling, Budget(sections={{\"{section}\": Grant(ceiling=...)}}), or max_input_tokens")
            }
            Why::BelowFloor { .. } => "Recalls(min_confidence=0) leaves nothing out".to_owned(),
            Why::OverRoom { .. } => "raise max_input_tokens".to_owned(),
            _ => return self.why.to_string(),
        };
        format!("{}: {cure}", self.why)
    }
}

/// One candidate and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// The section it was a candidate for.
    pub section: Arc<str>,
    /// Its name: a memory's id, a task's key, `messages 0..42`.
    pub id: Arc<str>,
    /// The memory, if it is one.
    pub memory: Option<MemoryRef>,
    /// Its score, if it has one.
    pub score: Option<i64>,
    /// Its counted tokens; 0 where it was not counted.
    pub tokens: u64,
    /// Its outcome.
    pub why: Why,
}

impl Explained {
    /// The fate of an item.
    #[must_use]
    pub fn of(item: &Item, tokens: u64, why: Why) -> Self {
        let (section, id) = (Arc::clone(&item.section), Arc::clone(&item.id));
        Self { section, id, memory: item.memory, score: item.score, tokens, why }
    }

    /// The fate of something that is not an item.
    #[must_use]
    pub fn other(section: &str, id: impl Into<Arc<str>>, tokens: u64, why: Why) -> Self {
        Self { section: section.into(), id: id.into(), memory: None, score: None, tokens, why }
    }
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.why.is_included() { "included" } else { "left out" };
        write!(f, "{} {}: {verdict}, {} tokens, {}", self.section, self.id, self.tokens, self.why)
    }
}

/// The tokens that a section was granted and used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionUse {
    /// Its name.
    pub name: Arc<str>,
    /// Its grant; `None` where its size is not the allocator's to decide.
    pub grant: Option<Grant>,
    /// The tokens that it could have used.
    pub asked: u64,
    /// The tokens that it was granted.
    pub granted: u64,
    /// The tokens that it uses.
    pub tokens: u64,
    /// How many items: messages, memories, tools.
    pub items: u64,
}
