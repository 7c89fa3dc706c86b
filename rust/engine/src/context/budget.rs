//! The shares of tokens: floors first, the rest by weight up to ceilings. Tokens that one section does not use go to the others.
//!
//! A section asks for the tokens that it could use. It first gets `min(floor, asked)`; then tokens are handed out one at a time to the
//! section that has the least per weight beyond its floor (D'Hondt's divisor rule), until it has what it asked for or its
//! ceiling. The rule is computed without the loop: section i has `min(need_i, t * weight_i / SCALE)` at level `t`, and the
//! level is found by binary search. Divisor rules are house-monotone (Balinski and Young, "Fair Representation", 1982):
//! with more room nobody gets less, which largest-remainder rounding does not promise. Integers only.

use crate::{Error, ErrorKind, Result};

/// The grant of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    /// Tokens it has for certain, if it asks for them.
    pub floor: u64,
    /// Its share of what is left; 0 gets its floor and no more. At most [`Grant::MAX_WEIGHT`].
    pub weight: u32,
    /// The most it gets.
    pub ceiling: u64,
}

impl Grant {
    /// The largest weight.
    pub const MAX_WEIGHT: u32 = crate::limits::MAX_GRANT_WEIGHT;

    /// The most it gets, where that is named.
    #[must_use]
    pub fn most(&self) -> Option<u64> {
        (self.ceiling < u64::MAX).then_some(self.ceiling)
    }

    /// Checks the grant of `section`.
    pub fn validate(&self, section: &str) -> Result<()> {
        let (rule, got) = if self.floor > self.ceiling {
            ("a floor must not exceed its ceiling", format!("floor {} and ceiling {}", self.floor, self.ceiling))
        } else if self.weight > Self::MAX_WEIGHT {
            ("a weight must be at most 1,000,000", format!("weight {}", self.weight))
        } else {
            return Ok(());
        };
        let message = format!("cannot allocate the budget: {rule}, got {got} (section \"{section}\"): change the grant of that section");
        Err(Error::invalid(message).with("section", section))
    }
}

/// The request of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask<'a> {
    /// Its name, for errors.
    pub section: &'a str,
    /// Its grant.
    pub grant: Grant,
    /// Tokens it could use.
    pub asked: u64,
}

impl Ask<'_> {
    fn base(&self) -> u64 {
        self.asked.min(self.grant.floor)
    }

    /// The tokens that it can take beyond its floor.
    fn need(&self) -> u64 {
        if self.grant.weight == 0 { 0 } else { self.asked.min(self.grant.ceiling).saturating_sub(self.base()) }
    }

    fn at_level(&self, level: u128) -> u64 {
        let share = level * u128::from(self.grant.weight) / u128::from(Grant::MAX_WEIGHT);
        u64::try_from(share).unwrap_or(u64::MAX).min(self.need())
    }
}

/// Hands out `room` tokens; the answer has one number per ask, in order, and adds up to at most `room`.
///
/// # Errors
/// `BudgetExceeded` if the floors that are asked for do not fit; `InvalidInput` for a grant that contradicts itself.
pub fn allocate(room: u64, asks: &[Ask<'_>]) -> Result<Vec<u64>> {
    for ask in asks {
        ask.grant.validate(ask.section)?;
    }
    let floors: u64 = asks.iter().map(Ask::base).sum();
    let Some(spare) = room.checked_sub(floors) else { return Err(floors_exceed(room, floors, asks)) };
    let level = level(spare, asks);
    let mut left = spare - handed_out(level, asks);
    let next = |ask: &Ask<'_>| ask.at_level(level + 1) - ask.at_level(level);
    let award = |ask: &Ask<'_>| {
        let more = next(ask).min(left);
        left -= more;
        ask.base() + ask.at_level(level) + more
    };
    Ok(asks.iter().map(award).collect())
}

fn handed_out(level: u128, asks: &[Ask<'_>]) -> u64 {
    asks.iter().map(|ask| ask.at_level(level)).fold(0, u64::saturating_add)
}

/// The highest level whose shares fit into `spare`.
fn level(spare: u64, asks: &[Ask<'_>]) -> u128 {
    let (mut low, mut high) = (0, u128::from(u64::MAX) * u128::from(Grant::MAX_WEIGHT));
    while low < high {
        let middle = high - (high - low) / 2;
        if handed_out(middle, asks) <= spare { low = middle } else { high = middle - 1 }
    }
    low
}

fn floors_exceed(room: u64, floors: u64, asks: &[Ask<'_>]) -> Error {
    let each: Vec<String> = asks.iter().filter(|ask| ask.base() > 0).map(|ask| format!("{} {}", ask.section, ask.base())).collect();
    let message = format!(
        "cannot allocate the budget: the floors of the sections must fit the room, got {floors} tokens of floors for {room} \
         ({}): lower a floor or raise max_input_tokens",
        each.join(", ")
    );
    Error::new(ErrorKind::BudgetExceeded, message).with("needed_tokens", floors as i64).with("room_tokens", room as i64)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Random;
    use super::*;

    fn asks(random: &mut Random) -> Vec<Ask<'static>> {
        let one = |random: &mut Random| {
            let floor = random.below(50);
            let ceiling = if random.chance(30) { u64::MAX } else { floor + random.below(200) };
            Ask { section: "s", grant: Grant { floor, weight: random.below(5) as u32 * 7, ceiling }, asked: random.below(300) }
        };
        (0..random.below(6)).map(|_| one(random)).collect()
    }

    /// The rule as it is stated: one token after the other to the section that has the least per weight, the first of equals.
    fn naive(room: u64, asks: &[Ask<'_>]) -> Vec<u64> {
        let mut extra = vec![0u64; asks.len()];
        let mut left = room - asks.iter().map(Ask::base).sum::<u64>();
        while left > 0 {
            let open = (0..asks.len()).filter(|i| extra[*i] < asks[*i].need());
            let next = |i: &usize| ((extra[*i] + 1) * u64::from(Grant::MAX_WEIGHT)).div_ceil(asks[*i].grant.weight.into());
            let Some(first) = open.min_by_key(|i| (next(i), *i)) else { break };
            extra[first] += 1;
            left -= 1;
        }
        asks.iter().zip(extra).map(|(ask, extra)| ask.base() + extra).collect()
    }

    #[test]
    fn the_search_finds_what_the_loop_finds() {
        let mut random = Random::new(1);
        for _ in 0..3_000 {
            let asks = asks(&mut random);
            let floors: u64 = asks.iter().map(Ask::base).sum();
            let room = floors + random.below(400);
            assert_eq!(allocate(room, &asks).unwrap(), naive(room, &asks), "{room} {asks:?}");
        }
    }

    #[test]
    fn conserved_bounded_and_monotone() {
        let mut random = Random::new(2);
        for _ in 0..2_000 {
            let asks = asks(&mut random);
            let floors: u64 = asks.iter().map(Ask::base).sum();
            let most: u64 = asks.iter().map(|ask| ask.base() + ask.need()).sum();
            let mut before = vec![0; asks.len()];
            for room in floors..floors + 40 {
                let awards = allocate(room, &asks).unwrap();
                assert_eq!(awards.iter().sum::<u64>(), room.min(most), "all of it is used, or nobody wants more");
                for (ask, award) in asks.iter().zip(&awards) {
                    assert!(*award >= ask.base() && *award <= ask.asked.min(ask.grant.ceiling).max(ask.base()));
                }
                assert!(before.iter().zip(&awards).all(|(before, now)| before <= now), "more room, and nobody gets less");
                before = awards;
            }
        }
    }

    #[test]
    fn errors_have_the_numbers() {
        let grant = Grant { floor: 100, weight: 1, ceiling: 200 };
        let error = allocate(150, &[Ask { section: "a", grant, asked: 500 }, Ask { section: "b", grant, asked: 500 }]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BudgetExceeded);
        assert!(error.message().contains("200") && error.message().contains("150") && error.message().contains("b 100"), "{error}");
        let upside_down = Grant { floor: 2, weight: 1, ceiling: 1 };
        assert!(allocate(9, &[Ask { section: "a", grant: upside_down, asked: 1 }]).is_err());
    }

    #[test]
    fn huge_numbers_do_not_overflow() {
        let grant = Grant { floor: 0, weight: Grant::MAX_WEIGHT, ceiling: u64::MAX };
        let asks = [Ask { section: "a", grant, asked: u64::MAX }, Ask { section: "b", grant, asked: u64::MAX }];
        assert_eq!(allocate(u64::MAX, &asks).unwrap().iter().fold(0u64, |sum, award| sum.saturating_add(*award)), u64::MAX);
    }
}
