//! The limit of a prompt, and the caller's budget, which grants tokens to the sections within it.
//!
//! Default limit: `min(floor(fill * window), window - reserve)`. A limit that the caller names is the limit itself. Shares are
//! in millionths, so that no float decides about a token. Defaults of the volatile sections are shares of the room that the
//! fixed sections leave; they are small, because their reserve is taken from the history for good (with steps,
//! history never depends on the contents of the volatile sections).

use super::budget::Grant;
use crate::limits::{DEFAULT_CUT_STEP, DEFAULT_FILL, DEFAULT_OUTPUT_TOKENS, MAX_KEPT_ROUNDS, within};
use crate::{Error, ErrorKind, Result};

/// Names of the sections that a prompt can have, in the order of `cache_first`; others are the caller's own.
pub mod section {
    /// Tool schemas.
    pub const TOOLS: &str = "tools";
    /// The system prompt.
    pub const SYSTEM: &str = "system";
    /// Constraints, profile and preferences as of the epoch's beginning.
    pub const PINNED: &str = "pinned";
    /// The summary of what compaction took out.
    pub const SUMMARY: &str = "summary";
    /// The transcript's window, without the newest turn.
    pub const HISTORY: &str = "history";
    /// The newest turn, without the volatile block.
    pub const TURN: &str = "turn";
    /// Pinned memory that changed since the epoch began.
    pub const UPDATED: &str = "updated";
    /// Pinned memory that changed since the epoch began, as blocks and budgets of version 0.3.0 call it.
    pub const NEWER: &str = "newer";
    /// Task state.
    pub const TASK: &str = "task";
    /// Recalled memories.
    pub const RECALLED: &str = "recalled";
    /// Retrieved documents, and the caller's items by default.
    pub const RETRIEVED: &str = "retrieved";

    /// The parts that belong to no section: the reply's frame, the tags around a block.
    pub const FRAME: &str = "frame";

    /// Sections whose size is not the allocator's to decide.
    pub(in super::super) const FIXED: &[&str] = &[TOOLS, SYSTEM, PINNED, SUMMARY, TURN];
    /// Volatile sections that every prompt has room for.
    pub(in super::super) const VOLATILE: &[&str] = &[UPDATED, TASK, RECALLED, RETRIEVED];

    /// Whether no item can go there.
    pub(in super::super) fn is_reserved(name: &str) -> bool {
        name == HISTORY || name == FRAME || FIXED.contains(&name)
    }
}

/// The order of a prompt's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// The parts that change least stand first. The volatile block travels with the newest user message.
    #[default]
    CacheFirst,
    /// System, long-term memory, short-term memory, retrieval, recent turns; one boundary, after the system prompt.
    Classic,
}

impl Order {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CacheFirst => "cache_first",
            Self::Classic => "classic",
        }
    }

    /// The order of that name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "cache_first" => Ok(Self::CacheFirst),
            "classic" => Ok(Self::Classic),
            other => Err(Error::invalid(format!(
                "reading budget: order must be \"cache_first\" or \"classic\", and it is {other:?}: choose one"
            ))),
        }
    }
}

/// A share in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Share(u32);

impl Share {
    /// A share of `millionths`; above a million it is the whole.
    #[must_use]
    pub const fn new(millionths: u32) -> Self {
        Self(if millionths > 1_000_000 { 1_000_000 } else { millionths })
    }

    /// A share from 0 to 1, for the field of a budget.
    pub fn parse(field: &str, share: f64) -> Result<Self> {
        if (0.0..=1.0).contains(&share) {
            return Ok(Self::new((share * 1e6).round() as u32));
        }
        Err(Error::invalid(format!("reading budget: {field} must be from 0 to 1, and it is {share}: give a share")))
    }

    /// How much of a window is filled where no limit is named.
    pub const FILL: Self = Self::new(DEFAULT_FILL);

    /// Millionths.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / 1e6
    }

    /// In millionths.
    #[must_use]
    pub fn millionths(self) -> u32 {
        self.0
    }

    /// `floor(share * whole)`.
    #[must_use]
    pub fn of(self, whole: u64) -> u64 {
        u64::try_from(u128::from(whole) * u128::from(self.0) / 1_000_000).unwrap_or(u64::MAX)
    }
}

/// When a recalled memory is good enough to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelevanceFloor {
    /// The least score, in the fixed point of the recall.
    pub min_score: i64,
    /// The least share of the best candidate's score.
    pub of_best: Share,
}

/// A caller's settings for a prompt's sections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// The order of the parts.
    pub order: Order,
    /// How far the window moves at a time, as a share of the history's grant; 0 slides.
    pub cut_step: Share,
    /// Grants by section; others have their default.
    pub grants: Vec<(Box<str>, Grant)>,
    /// The score that recalled memories must reach.
    pub relevance: RelevanceFloor,
    /// Newest tool rounds of a turn that stay, where they fit, when others leave it; the last one always does.
    pub keep_rounds: u64,
}

impl Default for Budget {
    fn default() -> Self {
        let relevance = RelevanceFloor { min_score: 0, of_best: Share::new(500_000) };
        Self { order: Order::CacheFirst, cut_step: Share::new(DEFAULT_CUT_STEP), grants: Vec::new(), relevance, keep_rounds: 1 }
    }
}

impl Budget {
    /// The grant of `section`, where `space` is what the fixed sections leave of the limit.
    #[must_use]
    pub fn grant(&self, section: &str, space: u64) -> Grant {
        let own = self.grants.iter().rev().find(|(name, _)| current_name(name) == current_name(section)).map(|(_, grant)| *grant);
        own.unwrap_or_else(|| default_grant(section, space))
    }

    /// The tokens set aside for the volatile sections before history gets its grant.
    #[must_use]
    pub fn volatile_floors(&self, space: u64) -> u64 {
        let own = self.grants.iter().map(|(name, _)| &**name).filter(|name| is_own_volatile(name));
        let mut names: Vec<&str> = section::VOLATILE.iter().copied().chain(own).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().map(|name| self.grant(name, space).floor).fold(0, u64::saturating_add)
    }

    /// Checks every grant, and how many rounds are kept.
    pub fn validate(&self) -> Result<()> {
        within("keep_rounds", self.keep_rounds, 1..=MAX_KEPT_ROUNDS)?;
        for (name, grant) in &self.grants {
            grant.validate(name)?;
            if section::FIXED.contains(&&**name) {
                let message = format!(
                    "cannot plan the prompt: a grant is for history or a volatile section, got one for \"{name}\" (budget.sections): \
                     leave it out, this section is as large as it is"
                );
                return Err(Error::invalid(message).with("section", &**name));
            }
        }
        Ok(())
    }
}

fn is_own_volatile(name: &str) -> bool {
    !section::is_reserved(name) && !section::VOLATILE.contains(&current_name(name))
}

/// A section's name of today.
fn current_name(name: &str) -> &str {
    if name == section::NEWER { section::UPDATED } else { name }
}

/// The most tokens that recalled texts have where history leaves room. Of the evidence of LoCoMo's development questions the first hits
/// hold 76 % in 1,000 tokens, 82 % in 2,000 and 87 % in 4,000: a further thousand is worth less than two points and costs the same.
pub(in super::super) const MOST_RECALLED: u64 = 4_096;

/// Floors are 1/128 of the space, but as much as one memory needs (96 tokens) where 1/16 allows it.
fn default_grant(section: &str, space: u64) -> Grant {
    let floor = (space / 128).max(96.min(space / 16));
    match section {
        section::HISTORY => Grant { floor: 0, weight: 16, ceiling: u64::MAX },
        section::UPDATED | section::NEWER | section::TASK => Grant { floor: floor / 2, weight: 8, ceiling: space / 8 },
        section::RECALLED => Grant { floor, weight: 4, ceiling: MOST_RECALLED.min(space - space / 16).max(floor) },
        section::RETRIEVED => Grant { floor, weight: 4, ceiling: space / 4 },
        _ => Grant { floor: 0, weight: 4, ceiling: space / 4 },
    }
}

/// The limit of a prompt in the model's own tokens.
///
/// # Errors
/// `BudgetExceeded` if a named limit and the reserve together exceed the window, or the reserve alone fills it.
pub fn input_limit(window: u64, output_tokens: u64, fill: Share, named: Option<u64>) -> Result<u64> {
    let room = window.saturating_sub(output_tokens);
    match named {
        Some(limit) if limit > room => Err(exceeds_window(window, output_tokens, limit)),
        Some(limit) => Ok(limit),
        None if room == 0 => Err(exceeds_window(window, output_tokens, 0)),
        None => Ok(fill.of(window).min(room)),
    }
}

/// The reserve for the reply where the caller names none: a model that writes less keeps less.
#[must_use]
pub fn default_output(max_output_tokens: u64) -> u64 {
    DEFAULT_OUTPUT_TOKENS.min(max_output_tokens)
}

fn exceeds_window(window: u64, output_tokens: u64, limit: u64) -> Error {
    let message = format!(
        "cannot plan the prompt: input and output must fit the model's window, got max_input_tokens {limit} and output_tokens \
         {output_tokens} for a window of {window} (budget): lower one of the two by {}",
        (limit + output_tokens).saturating_sub(window).max(1)
    );
    Error::new(ErrorKind::BudgetExceeded, message)
        .with("window_tokens", window as i64)
        .with("limit_tokens", limit as i64)
        .with("output_tokens", output_tokens as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_limit_is_the_smaller_of_two() {
        let fill = Share::new(700_000);
        assert_eq!(input_limit(128_000, 4_096, fill, None).unwrap(), 89_600);
        assert_eq!(input_limit(8_192, 4_096, fill, None).unwrap(), 4_096);
        assert_eq!(input_limit(8_192, 4_096, fill, Some(4_096)).unwrap(), 4_096);
        assert_eq!(input_limit(8_192, 4_096, fill, Some(4_097)).unwrap_err().kind(), ErrorKind::BudgetExceeded);
        assert!(input_limit(4_096, 4_096, fill, None).is_err());
    }

    #[test]
    fn default_floors_are_a_small_share() {
        let budget = Budget::default();
        for space in [0, 10, 100, 1_000, 5_000, 89_600, 1_000_000] {
            let floors = budget.volatile_floors(space);
            assert!(floors <= space / 5, "{floors} of {space}");
            for name in section::VOLATILE {
                budget.grant(name, space).validate(name).unwrap();
            }
        }
        assert!(budget.volatile_floors(89_600) <= 89_600 / 40);
    }

    #[test]
    fn fixed_sections_take_no_grant() {
        let grant = Grant { floor: 0, weight: 1, ceiling: 5 };
        let budget = Budget { grants: vec![("system".into(), grant)], ..Budget::default() };
        assert!(budget.validate().unwrap_err().message().contains("\"system\""));
        let budget = Budget { grants: vec![("notes".into(), Grant { floor: 7, ..grant })], ..Budget::default() };
        assert!(budget.validate().is_err(), "a floor above its ceiling");
    }
}
