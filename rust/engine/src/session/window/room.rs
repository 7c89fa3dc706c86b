//! How much of a prompt recalled text may have: what the history leaves, and less the more the session itself says.
//!
//! Recalled text is sent afresh with every turn, while the history before it is read from a provider's cache. In a new session it is all
//! that a prompt knows, and has its whole ceiling. Every token of history and summary takes two of it away, down to a share of both:
//! `max(said / SHARE, LEAST, ceiling - 2 * said)`. docs/decisions/0046 has the figures. A caller who grants the section something else has that.

use std::ops::Range;

use crate::Result;
use crate::context::limit::{Budget, section};
use crate::context::{Fixed, Grant};
use crate::session::stored_epoch::StoredEpoch;
use crate::session::transcript::view::View;
use crate::store::pages::Pages;

/// Of what the session says, recalled text may be one part in so many.
const SHARE: u64 = 32;
/// And always so many tokens: some ten messages.
const LEAST: u64 = 512;
/// Of the tokens to come one part in so many is worth reading candidates for where recalled text takes them from history.
const WHERE_COSTLY: u64 = 16;

/// The approximate room that the window leaves for recalled text.
pub(super) struct RoomLeft {
    /// The first message of the window.
    pub start: u64,
    /// How many tokens of messages are worth reading.
    pub tokens: u64,
    /// Messages behind the first that it leaves out.
    pub left_out: Range<u64>,
    /// The most that recalled text may have.
    pub most_recalled: u64,
}

impl RoomLeft {
    /// About how much there is room for: `compose` decides, this says how many candidates are worth reading. A window that slides, and a
    /// block that can never leave the history again, take from what history could have: there it is [a share](WHERE_COSTLY).
    /// `limit` is what the prompt is held to, which may be less than the budget's where more was refused.
    pub fn of<P: Pages>(limit: u64, budget: &Budget, epoch: &StoredEpoch, fixed: &Fixed, view: &View<'_, P>) -> Result<Self> {
        let window = epoch.epoch.window(limit, budget, view, 0)?;
        let space = epoch.epoch.factor.room(limit).saturating_sub(fixed.tokens(&epoch.model.framing));
        let ceiling = budget.grant(section::RECALLED, space).ceiling;
        let said = window.tokens + fixed.summary.as_ref().map_or(0, |summary| summary.tokens);
        let most_recalled = if is_granted(budget) { ceiling } else { most_recalled(said, ceiling) };
        let costly = budget.cut_step.millionths() == 0 || epoch.model.append_only;
        let tokens = if costly { space / WHERE_COSTLY } else { space.saturating_sub(window.tokens) };
        Ok(Self { start: window.cut.start, left_out: window.left_out(), tokens: tokens.min(most_recalled), most_recalled })
    }
}

/// The most tokens of recalled text beside `said` tokens of the session.
fn most_recalled(said: u64, ceiling: u64) -> u64 {
    let share = (said / SHARE).max(LEAST);
    ceiling.saturating_sub(said.saturating_mul(2)).max(share).min(ceiling)
}

/// Whether the caller decided what recalled text may have.
fn is_granted(budget: &Budget) -> bool {
    budget.grants.iter().any(|(name, _)| &**name == section::RECALLED)
}

/// The budget of a call with that bound.
pub(super) fn bound(budget: &mut Budget, space: u64, most_recalled: u64) {
    let grant = budget.grant(section::RECALLED, space);
    if most_recalled < grant.ceiling && !is_granted(budget) {
        budget.grants.push((section::RECALLED.into(), Grant { ceiling: most_recalled.max(grant.floor), ..grant }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_session_recalls_most_and_a_long_one_a_share() {
        let of = |said| most_recalled(said, 4_096);
        assert_eq!([0, 500, 1_000, 2_000, 8_000, 32_000, 200_000].map(of), [4_096, 3_096, 2_096, 512, 512, 1_000, 4_096]);
        assert_eq!(most_recalled(0, 300), 300);
        let falls = (0..5_000).map(of).collect::<Vec<_>>();
        assert!(falls.windows(2).all(|pair| pair[0] >= pair[1]), "it falls steadily while history is short");
    }

    #[test]
    fn a_grant_of_the_callers_stands() {
        let own = Grant { floor: 10, weight: 1, ceiling: 3_000 };
        let mut budget = Budget { grants: vec![(section::RECALLED.into(), own)], ..Budget::default() };
        bound(&mut budget, 10_000, 512);
        assert_eq!(budget.grant(section::RECALLED, 10_000), own);
        let mut budget = Budget::default();
        let before = budget.grant(section::RECALLED, 10_000);
        bound(&mut budget, 10_000, 512);
        assert_eq!(budget.grant(section::RECALLED, 10_000), Grant { ceiling: 512, ..before });
    }
}
