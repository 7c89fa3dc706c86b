//! What was learned of one model: for each class of content, how many real tokens a counted one was lately.
//!
//! It learns from a request that extends the one before: what was added, and what that did cost. That counts for the class that most
//! of it belongs to; additions are put together until they make a sample of [`BLOCK`] tokens, since the ratio of a short text says more
//! of the text than of its class. From `n` samples of a class:
//!
//! ```text
//! factor = max of the samples * (1 + margin)      margin = 0.03 + 1 / n
//! least  = min of the samples / (1 + margin)
//! ```
//!
//! With exchangeable samples the largest of `n` is exceeded by the next with probability `1 / (n + 1)` (Vovk, Gammerman and Shafer,
//! "Algorithmic Learning in a Random World", 2005, 2.2); the margin is for what is not exchangeable. Fewer than [`FEW`] samples only raise the
//! prior, never lower it. Samples older than the last [`WINDOW`] of their class are forgotten, so that a factor follows its model down again.
//! One that is exceeded begins anew: what it was learned from is not what comes now.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::{Anchor, Class, Tally, slack};
use crate::context::Factor;
use crate::{Error, ErrorKind, Result};

/// Samples of a class that are kept.
const WINDOW: usize = 64;
/// So many are needed to go below the prior.
const FEW: usize = 5;
/// A sample has at least so many counted tokens.
const BLOCK: u64 = 256;
/// The class of an addition has at least this share of it, in percent, and classes that are not known yet have at most this one.
const DOMINANT: u64 = 60;
const UNKNOWN: u64 = 10;
/// No byte-level tokenizer is known that makes fewer than half as many tokens as o200k or cl100k.
const LEAST_RATIO: u64 = 500;
/// A ratio above is a mistake of the caller's or of the provider's, in thousandths.
const MOST_RATIO: u64 = 20_000;

/// Factors of one model, learned or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learned {
    prior: Factor,
    /// Thousandths, oldest first, of each class.
    ratios: [VecDeque<u32>; Class::ALL.len()],
    /// What does not make a sample yet: counted tokens, and what they did cost. Not kept with the store.
    open: [(u64, u64); Class::ALL.len()],
    /// How often the truth was above a bound.
    exceeded: u64,
}

impl Learned {
    /// Nothing yet: the factors are the model's prior.
    #[must_use]
    pub fn new(prior: Factor) -> Self {
        Self { prior, ratios: Default::default(), open: Default::default(), exceeded: 0 }
    }

    /// The factor of a class: what a counted token costs at most.
    #[must_use]
    pub fn factor(&self, class: Class) -> Factor {
        if self.prior == Factor::EXACT {
            return Factor::EXACT;
        }
        let ratios = &self.ratios[class as usize];
        let Some(most) = ratios.iter().max() else { return self.prior };
        let learned = u64::from(*most) * (1_000 + margin(ratios.len())) / 1_000;
        let learned = Factor::new(u32::try_from(learned).unwrap_or(u32::MAX));
        if ratios.len() < FEW { Factor::new(learned.per_mille().max(self.prior.per_mille())) } else { learned }
    }

    /// All factors, in the order of [`Class::ALL`].
    #[must_use]
    pub fn factors(&self) -> [Factor; Class::ALL.len()] {
        Class::ALL.map(|class| self.factor(class))
    }

    /// One factor for a whole request: what its classes make together, rounded up. For whoever counts without classes.
    #[must_use]
    pub fn factor_of(&self, request: &Tally) -> Factor {
        let counted = request.tokens().max(1);
        let bound = request.bound(&self.factors());
        Factor::new(u32::try_from((u128::from(bound) * 1_000).div_ceil(u128::from(counted))).unwrap_or(u32::MAX))
    }

    /// How many samples a class has.
    #[must_use]
    pub fn samples(&self, class: Class) -> usize {
        self.ratios[class as usize].len()
    }

    /// How often the truth was above what the factors had said.
    #[must_use]
    pub fn exceeded(&self) -> u64 {
        self.exceeded
    }

    /// The anchor of what remains of a request when its end is taken off: at least `least` of what was counted there goes.
    #[must_use]
    pub fn shortened(&self, anchor: &Anchor, end: &Tally) -> Option<Anchor> {
        let counted = anchor.counted.beyond(end)?;
        let gone: u64 = Class::ALL.iter().map(|class| end.classes[*class as usize].tokens * self.least(*class) / 1_000).sum();
        Some(Anchor { counted, truth: anchor.truth.saturating_sub(gone) })
    }

    /// What a counted token costs at least, in thousandths.
    fn least(&self, class: Class) -> u64 {
        let ratios = &self.ratios[class as usize];
        match ratios.iter().min() {
            _ if self.prior == Factor::EXACT => 1_000,
            Some(least) if ratios.len() >= FEW => u64::from(*least) * 1_000 / (1_000 + margin(ratios.len())),
            _ => LEAST_RATIO,
        }
    }

    /// Learns from a request that extends the one of `before`, or from a first one; gives whether it cost more than the factors said.
    pub fn observe(&mut self, before: Option<&Anchor>, now: &Anchor) -> bool {
        let nothing = Anchor { counted: Tally::default(), truth: 0 };
        let before = before.unwrap_or(&nothing);
        let (Some(new), Some(cost)) = (now.counted.beyond(&before.counted), now.truth.checked_sub(before.truth)) else { return false };
        if self.prior == Factor::EXACT {
            return false;
        }
        let exceeded = cost > new.bound(&self.factors()).saturating_add(slack(&new));
        self.exceeded += u64::from(exceeded);
        if let Some((class, own, cost)) = self.attributed(&new, cost) {
            if exceeded {
                self.ratios[class as usize].clear();
            }
            self.add(class, own, cost, exceeded);
        }
        exceeded
    }

    /// Adds to the open sample of a class, and closes it if it is large enough, or if it cannot wait.
    fn add(&mut self, class: Class, own: u64, cost: u64, at_once: bool) {
        let open = &mut self.open[class as usize];
        *open = (open.0 + own, open.1 + cost);
        if open.0 < BLOCK && !at_once {
            return;
        }
        let (tokens, cost) = std::mem::take(open);
        let ratios = &mut self.ratios[class as usize];
        ratios.push_back((cost.saturating_mul(1_000).div_ceil(tokens)) as u32);
        ratios.drain(..ratios.len().saturating_sub(WINDOW));
    }

    /// The class that most of it belongs to, its tokens, and what they did cost if the others cost what they usually do.
    fn attributed(&self, new: &Tally, cost: u64) -> Option<(Class, u64, u64)> {
        let tokens = |class: Class| new.classes[class as usize].tokens;
        let class = Class::ALL.into_iter().max_by_key(|class| (tokens(*class), std::cmp::Reverse(*class)))?;
        let others = || Class::ALL.into_iter().filter(|other| *other != class);
        let unknown: u64 = others().filter(|other| self.samples(*other) < FEW).map(tokens).sum();
        let (own, all) = (tokens(class), new.tokens());
        if own == 0 || own * 100 < all * DOMINANT || unknown * 100 > all * UNKNOWN {
            return None;
        }
        let others: u64 = others().map(|other| tokens(other) * self.usual(other) / 1_000).sum();
        let cost = cost.saturating_sub(new.frames).saturating_sub(others);
        (own * LEAST_RATIO / 2..=own * MOST_RATIO).contains(&(cost * 1_000)).then_some((class, own, cost))
    }

    /// What a counted token usually costs, in thousandths; as little as it can while that is not known.
    fn usual(&self, class: Class) -> u64 {
        let ratios = &self.ratios[class as usize];
        if ratios.len() < FEW { LEAST_RATIO } else { ratios.iter().map(|ratio| u64::from(*ratio)).sum::<u64>() / ratios.len() as u64 }
    }

    /// All of it as JSON, to be kept with the store.
    #[must_use]
    pub fn to_json(&self) -> String {
        let classes: serde_json::Map<String, Value> =
            Class::ALL.into_iter().map(|class| (class.name().to_owned(), json!(self.ratios[class as usize]))).collect();
        json!({ "version": 1, "prior": self.prior.per_mille(), "exceeded": self.exceeded, "ratios": classes }).to_string()
    }

    /// Reads what [`Self::to_json`] wrote.
    pub fn from_json(text: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(text).map_err(|error| corrupt(&error.to_string()))?;
        let prior = value["prior"].as_u64().and_then(|prior| u32::try_from(prior).ok());
        let (Some(1), Some(prior), Some(exceeded)) = (value["version"].as_u64(), prior, value["exceeded"].as_u64()) else {
            return Err(corrupt("another version, or none"));
        };
        let mut learned = Self { exceeded, ..Self::new(Factor::new(prior)) };
        for class in Class::ALL {
            let ratios = value["ratios"][class.name()].as_array().filter(|ratios| ratios.len() <= WINDOW);
            for ratio in ratios.ok_or_else(|| corrupt(class.name()))? {
                let ratio = ratio.as_u64().filter(|ratio| *ratio <= MOST_RATIO).ok_or_else(|| corrupt(class.name()))?;
                learned.ratios[class as usize].push_back(ratio as u32);
            }
        }
        Ok(learned)
    }
}

/// In thousandths.
fn margin(samples: usize) -> u64 {
    30 + 1_000 / samples.max(1) as u64
}

fn corrupt(got: &str) -> Error {
    Error::new(
        ErrorKind::StoreCorrupt,
        format!("reading learned token factors: they must be what this version wrote, got {got}: reset them, and they are learned again"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::Counted;
    use super::*;

    fn of(class: Class, tokens: u64) -> Tally {
        let mut tally = Tally::default();
        tally.classes[class as usize] = Counted { tokens, bytes: tokens * 4 };
        tally
    }

    fn taught(class: Class, ratios: &[u64]) -> Learned {
        let mut learned = Learned::new(Factor::new(2_500));
        for ratio in ratios {
            learned.observe(None, &Anchor { counted: of(class, 1_000), truth: *ratio });
        }
        learned
    }

    #[test]
    fn few_samples_raise_and_many_lower_the_factor() {
        assert_eq!(taught(Class::Prose, &[1_200; 4]).factor(Class::Prose).per_mille(), 2_500);
        assert_eq!(taught(Class::Prose, &[2_600]).factor(Class::Prose).per_mille(), 2_600 * 2_030 / 1_000);
        let many = taught(Class::Prose, &[1_200; 64]);
        assert_eq!(many.factor(Class::Prose).per_mille(), 1_200 * 1_045 / 1_000);
        assert_eq!(many.factor(Class::Cjk).per_mille(), 2_500);
    }

    #[test]
    fn old_samples_are_forgotten_and_an_exceeded_factor_begins_anew() {
        let mut learned = taught(Class::Code, &[[1_900].as_slice(), &[1_300; 64]].concat());
        assert_eq!(learned.factor(Class::Code).per_mille(), 1_300 * 1_045 / 1_000);
        assert!(learned.observe(None, &Anchor { counted: of(Class::Code, 1_000), truth: 1_600 }));
        assert_eq!((learned.samples(Class::Code), learned.exceeded()), (1, 1));
        assert!(learned.factor(Class::Code).per_mille() > 2_500);
    }

    #[test]
    fn mixed_small_and_impossible_samples_teach_nothing() {
        let mut learned = Learned::new(Factor::new(2_500));
        let mixed = of(Class::Prose, 500).plus(&of(Class::Code, 500));
        for (counted, truth) in
            [(mixed, 1_200), (of(Class::Prose, 200), 240), (of(Class::Prose, 1_000), 40_000), (of(Class::Prose, 1_000), 3)]
        {
            learned.observe(None, &Anchor { counted, truth });
        }
        let later = Anchor { counted: of(Class::Prose, 100), truth: 900 };
        learned.observe(Some(&Anchor { counted: of(Class::Prose, 1_000), truth: 1_000 }), &later);
        assert_eq!(Class::ALL.map(|class| learned.samples(class)), [0; 4]);
    }

    #[test]
    fn an_open_tokenizer_has_nothing_to_learn() {
        let mut learned = Learned::new(Factor::EXACT);
        learned.observe(None, &Anchor { counted: of(Class::Prose, 1_000), truth: 1_300 });
        assert_eq!(learned, Learned::new(Factor::EXACT));
        assert_eq!(learned.factors(), [Factor::EXACT; 4]);
    }

    #[test]
    fn it_is_read_back_and_damage_is_an_error() {
        let learned = taught(Class::Dense, &[1_400, 1_500, 1_600]);
        assert_eq!(Learned::from_json(&learned.to_json()).unwrap(), learned);
        for bad in ["", "{}", "{\"version\":2}", &learned.to_json().replace("1400", "-1"), &learned.to_json().replace("prose", "poem")] {
            assert_eq!(Learned::from_json(bad).unwrap_err().kind(), ErrorKind::StoreCorrupt, "{bad}");
        }
    }

    #[test]
    fn one_factor_for_a_request_is_that_of_its_classes() {
        let learned = taught(Class::Prose, &[1_200; 64]);
        let request = of(Class::Prose, 1_000).plus(&of(Class::Cjk, 1_000));
        assert!(learned.factor_of(&request).bound(request.tokens()) >= request.bound(&learned.factors()));
        assert_eq!(learned.factor_of(&of(Class::Cjk, 1_000)).per_mille(), 2_500);
    }
}
