//! The factors learned for one model: for each class of content, how many real tokens a counted one was lately.
//!
//! They are learned from a request that extends the one before: from the added content and its cost. That counts for the class that most
//! of it belongs to; additions are put together until they make a sample of [`BLOCK`] tokens, since the ratio of a short text says more
//! of the text than of its class. From `n` samples of a class:
//!
//! ```text
//! factor = max of the samples * (1 + margin)      margin = 0.03 + 1 / n
//! least  = min of the samples / (1 + margin)
//! ```
//!
//! A bill within its bound raises nothing: a factor stays what it was where the samples would say more ([`Learned::held`]). A bill
//! beyond its bound makes a sample at once of what it proves, and the factor is what the samples say again.
//!
//! One reply is not a law: samples above [`ODD`] times the median of the newest are left out, and no factor is above that. Where there are
//! few, the prior stands in for the others ([`Learned::median`]). So one odd bill changes next to nothing, and a tokenizer that has changed
//! is believed once most of the newest samples say so.
//!
//! With exchangeable samples the largest of `n` is exceeded by the next with probability `1 / (n + 1)` (Vovk, Gammerman and Shafer,
//! "Algorithmic Learning in a Random World", 2005, 2.2); the margin is for what is not exchangeable. Fewer than [`FEW`] samples only raise the
//! prior, where a bill was beyond it, and never lower it. Samples older than the last [`WINDOW`] of their class are forgotten, so that
//! a factor follows its model down again. A number that is sure begins its class anew where it is beyond the bound.

use std::collections::VecDeque;

use super::{Anchor, Class, Counted, Tally, slack};
use crate::tokens::Factor;

/// Samples of a class that are kept.
const WINDOW: usize = 64;
/// How many samples are needed to go below the prior.
const FEW: usize = 5;
/// A sample has at least so many counted tokens.
const BLOCK: u64 = 512;
/// The class of an addition has at least this share of it, in percent.
const DOMINANT: u64 = 60;
/// The most and the least of a sample that says enough are so close, in percent.
const CLOSE: u32 = 8;
/// A class with so much of a mixture, in percent, may be why it was dearer than its bound.
const SUSPECT: u64 = 10;
/// No byte-level tokenizer is known that makes fewer than half as many tokens as o200k or cl100k.
const LEAST_RATIO: u64 = 500;
/// A ratio above is a mistake of the caller's or of the provider's, in thousandths.
const MOST_RATIO: u64 = 20_000;

/// A sample so many times as large as the median, in thousandths, is not believed.
const ODD: u64 = 1_400;
/// The median is that of so many of the newest samples.
const NEWEST: usize = 9;
/// A number that is sure counts as so many samples: the median of a class that begins with it.
const SURE: usize = 2;
/// The largest factor that is learned, or twice the prior where that is more.
const MOST_FACTOR: u32 = 4_000;

/// The largest ratio that is kept: two bytes.
const MOST_STORED: u32 = u16::MAX as u32;

/// The cost of a counted token of a sample, in thousandths. A sample that is not of one class alone leaves open what of its cost the
/// others had: `most` takes them for cheap, `least` for dear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ratio {
    /// At most.
    pub most: u32,
    /// At least.
    pub least: u32,
}

impl Ratio {
    /// It says enough of its class: one that does not serves until there are others.
    fn is_close(self) -> bool {
        (self.most - self.least.min(self.most)) * 100 <= self.most * CLOSE
    }
}

/// Content that does not make a sample yet: counted tokens, and the most and the least that they cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Open {
    /// Counted.
    pub tokens: u64,
    /// At most.
    pub most: u64,
    /// At least.
    pub least: u64,
}

/// Factors of one model, learned or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learned {
    prior: Factor,
    /// The ratios of each class, oldest first.
    ratios: [VecDeque<Ratio>; Class::ALL.len()],
    /// The tokens that do not make a sample yet.
    open: [Open; Class::ALL.len()],
    /// The factor of a class whose samples say more, although no bill was beyond it.
    held: [Option<Factor>; Class::ALL.len()],
    /// How often the truth was above a bound.
    exceeded: u64,
}

impl Learned {
    /// Nothing yet: the factors are the model's prior.
    #[must_use]
    pub fn new(prior: Factor) -> Self {
        Self { prior, ratios: Default::default(), open: Default::default(), held: Default::default(), exceeded: 0 }
    }

    /// The factor of a class: what a counted token costs at most.
    #[must_use]
    pub fn factor(&self, class: Class) -> Factor {
        if self.prior == Factor::EXACT {
            return Factor::EXACT;
        }
        let sampled = self.sampled(class);
        self.held[class as usize].map_or(sampled, |held| held.min(sampled))
    }

    /// The factor that the samples of a class would have by themselves.
    fn sampled(&self, class: Class) -> Factor {
        let ratios = &self.ratios[class as usize];
        let Some((most, count)) = self.most_of(ratios) else { return self.prior };
        let learned = (u64::from(most) * (1_000 + margin(count)) / 1_000).min(self.believed(ratios)).min(u64::from(self.ceiling()));
        let learned = Factor::new(u32::try_from(learned).unwrap_or(u32::MAX));
        let surprised = u64::from(most) * (1_000 + MARGIN) / 1_000 > u64::from(self.prior.per_mille());
        if count >= FEW || surprised { learned } else { self.prior }
    }

    /// The largest sample that is believed, and how many are.
    fn most_of(&self, ratios: &VecDeque<Ratio>) -> Option<(u32, usize)> {
        let most = self.believed(ratios);
        let believed = || ratios.iter().map(|ratio| ratio.most).filter(|ratio| u64::from(*ratio) <= most);
        believed().max().map(|largest| (largest, believed().count()))
    }

    /// The most of a sample that is believed, in thousandths.
    fn believed(&self, ratios: &VecDeque<Ratio>) -> u64 {
        u64::from(self.median(ratios)) * ODD / 1_000
    }

    /// The median of the newest samples; the prior stands for those that are missing of three.
    fn median(&self, ratios: &VecDeque<Ratio>) -> u32 {
        let mut newest: Vec<u32> = ratios.iter().rev().take(NEWEST).map(|ratio| ratio.most).collect();
        newest.resize(newest.len().max(2 * SURE - 1), self.prior.per_mille());
        newest.sort_unstable();
        newest[newest.len() / 2]
    }

    /// No usage makes a token cost more: wrong ones must not shrink prompts without end.
    fn ceiling(&self) -> u32 {
        self.prior.per_mille().saturating_mul(2).max(MOST_FACTOR)
    }

    /// All factors, in the order of [`Class::ALL`].
    #[must_use]
    pub fn factors(&self) -> [Factor; Class::ALL.len()] {
        Class::ALL.map(|class| self.factor(class))
    }

    /// One factor for a whole request: that of its classes together, rounded up. It is for callers that count without classes.
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

    /// The factors while nothing is learned.
    #[must_use]
    pub fn prior(&self) -> Factor {
        self.prior
    }

    /// Whether there is a sample of any class.
    #[must_use]
    pub fn has_samples(&self) -> bool {
        self.ratios.iter().any(|ratios| !ratios.is_empty())
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
        Some(Anchor { counted, truth: anchor.truth.saturating_sub(self.least_of(end)) })
    }

    /// The least that content costs.
    #[must_use]
    pub fn least_of(&self, content: &Tally) -> u64 {
        Class::ALL.iter().map(|class| content.classes[*class as usize].tokens * self.least(*class) / 1_000).sum()
    }

    /// The least cost of a counted token, in thousandths.
    fn least(&self, class: Class) -> u64 {
        let ratios = &self.ratios[class as usize];
        match ratios.iter().map(|ratio| ratio.least).min() {
            _ if self.prior == Factor::EXACT => 1_000,
            Some(least) if ratios.len() >= FEW => u64::from(least) * 1_000 / (1_000 + margin(ratios.len())),
            _ => LEAST_RATIO,
        }
    }

    /// Learns from a request that extends the one of `before`, or from a first one; gives whether it cost more than the factors said.
    pub fn observe(&mut self, before: Option<&Anchor>, now: &Anchor) -> bool {
        let exceeded = self.learn(before, now, 1);
        self.exceeded += u64::from(exceeded);
        exceeded
    }

    /// Observes a number that is sure: where it is beyond its bound, it stands for what was learned before of its class.
    pub fn observe_sure(&mut self, before: Option<&Anchor>, now: &Anchor) -> bool {
        let exceeded = self.learn(before, now, SURE);
        self.exceeded += u64::from(exceeded);
        exceeded
    }

    /// Learns from `weight` samples that say the same; sure ones where they are more than one.
    fn learn(&mut self, before: Option<&Anchor>, now: &Anchor, weight: usize) -> bool {
        let nothing = Anchor { counted: Tally::default(), truth: 0 };
        let before = before.unwrap_or(&nothing);
        let (Some(new), Some(cost)) = (now.counted.beyond(&before.counted), now.truth.checked_sub(before.truth)) else { return false };
        if self.prior == Factor::EXACT {
            return false;
        }
        // More tokens than bytes: a proxy that adds up, or a hostile endpoint. It says nothing of the tokenizer.
        if cost > new.bytes().saturating_add(slack(&new)) {
            return false;
        }
        let factors = self.factors();
        let exceeded = cost > new.bound(&factors).saturating_add(slack(&new));
        // A short text is further from its class: what the slack covers of it says nothing of the class.
        let told = if exceeded && new.tokens() < BLOCK { cost - slack(&new) } else { cost };
        if let Some((class, sample)) = self.attributed(&new, told) {
            self.add(class, sample, exceeded, weight);
        } else if exceeded && cost.saturating_mul(1_000) <= new.tokens().saturating_mul(MOST_RATIO) {
            self.raise(&new, cost, &factors, weight);
        }
        if !exceeded {
            self.hold(&factors);
        }
        exceeded
    }

    /// A bill was within its bound: it proves nothing against the factors that made the bound, so none of them rises.
    fn hold(&mut self, factors: &[Factor; Class::ALL.len()]) {
        for (class, factor) in Class::ALL.into_iter().zip(factors) {
            self.held[class as usize] = (self.sampled(class) > *factor).then_some(*factor);
        }
    }

    /// A bill was beyond the bound of a class: its factor is what the samples say again. A bill that is sure stands for those before it.
    fn let_go(&mut self, class: Class, weight: usize) {
        self.held[class as usize] = None;
        if weight > 1 {
            self.ratios[class as usize].clear();
        }
    }

    /// A mixture cost more than its bound, and nobody knows which class of it: each that is more than a tenth of it is taken to have.
    fn raise(&mut self, new: &Tally, cost: u64, factors: &[Factor; Class::ALL.len()], weight: usize) {
        let all = new.tokens();
        let suspects = || Class::ALL.into_iter().filter(|class| new.classes[*class as usize].tokens * 100 >= (all * SUSPECT).max(1));
        let mut others = *new;
        for class in suspects() {
            others.classes[class as usize] = Counted::default();
        }
        let others = others.bound(factors);
        let (own, bound) = (cost - others, (new.bound(factors) - others).max(1));
        for class in suspects() {
            let ratio = u128::from(factors[class as usize].per_mille()) * u128::from(own) / u128::from(bound) + 1;
            let most = u32::try_from(ratio).unwrap_or(u32::MAX).min(MOST_STORED);
            self.let_go(class, weight);
            self.keep(class, Ratio { most, least: LEAST_RATIO as u32 }, weight);
        }
    }

    /// Keeps a sample so many times, and forgets the oldest where there are too many.
    fn keep(&mut self, class: Class, ratio: Ratio, weight: usize) {
        let ratios = &mut self.ratios[class as usize];
        ratios.extend(std::iter::repeat_n(ratio, weight));
        ratios.drain(..ratios.len().saturating_sub(WINDOW));
    }

    /// Adds to the open sample of a class, and closes it if it is large enough. A cost beyond its bound is a sample by itself, since the
    /// others would hide it.
    fn add(&mut self, class: Class, sample: Open, exceeded: bool, weight: usize) {
        let open = &mut self.open[class as usize];
        let together = Open { tokens: open.tokens + sample.tokens, most: open.most + sample.most, least: open.least + sample.least };
        let Open { tokens, most, least } = if exceeded {
            // It counts as what it proves. A sample that leaves much open is dropped for others, or not believed.
            self.let_go(class, weight);
            Open { most: sample.least, ..sample }
        } else if together.tokens < BLOCK {
            *open = together;
            return;
        } else {
            *open = Open::default();
            together
        };
        let ratio = |cost: u64| (cost.saturating_mul(1_000).div_ceil(tokens) as u32).min(MOST_STORED);
        self.keep(class, Ratio { most: ratio(most), least: ratio(least) }, weight);
        let ratios = &mut self.ratios[class as usize];
        if ratios.iter().filter(|ratio| ratio.is_close()).count() >= FEW {
            ratios.retain(|ratio| ratio.is_close());
        }
    }

    /// The class that most of it belongs to, and the cost of its tokens, if the others cost what they usually do. Of a class that is
    /// not known yet, that is anything from the least that tokenizers make of it to the prior.
    fn attributed(&self, new: &Tally, cost: u64) -> Option<(Class, Open)> {
        let tokens = |class: Class| new.classes[class as usize].tokens;
        let class = Class::ALL.into_iter().max_by_key(|class| (tokens(*class), std::cmp::Reverse(*class)))?;
        let (own, all) = (tokens(class), new.tokens());
        if own == 0 || own * 100 < all * DOMINANT {
            return None;
        }
        let mut others = [0, 0];
        for other in Class::ALL.into_iter().filter(|other| *other != class) {
            let [cheap, dear] = self.usual(other);
            others = [others[0] + tokens(other) * cheap / 1_000, others[1] + tokens(other) * dear / 1_000];
        }
        let cost = cost.saturating_sub(new.frames);
        let most = cost.saturating_sub(others[0]);
        let least = cost.saturating_sub(others[1]).max(own * LEAST_RATIO / 1_000).min(most);
        let sample = Open { tokens: own, most, least };
        (own * LEAST_RATIO / 2..=own * MOST_RATIO).contains(&(most * 1_000)).then_some((class, sample))
    }

    /// The usual cost of a counted token, in thousandths: the least and the most while that is not known.
    fn usual(&self, class: Class) -> [u64; 2] {
        let ratios = &self.ratios[class as usize];
        if ratios.len() < FEW {
            return [LEAST_RATIO, u64::from(self.factor(class).per_mille())];
        }
        let mean = |pick: fn(&Ratio) -> u32| ratios.iter().map(|ratio| u64::from(pick(ratio))).sum::<u64>() / ratios.len() as u64;
        let usual = u64::midpoint(mean(|ratio| ratio.least), mean(|ratio| ratio.most));
        [usual, usual]
    }

    /// The learned factors, to be kept with the store.
    #[must_use]
    pub fn state(&self) -> State {
        let ratios = Class::ALL.map(|class| self.ratios[class as usize].iter().copied().collect());
        State { ratios, open: self.open, held: self.held, exceeded: self.exceeded }
    }

    /// The factors of a model from what was kept; `None` where no such thing can have been learned.
    #[must_use]
    pub fn from_state(prior: Factor, state: &State) -> Option<Self> {
        let sound = |ratios: &Vec<Ratio>| ratios.len() <= WINDOW && ratios.iter().all(|ratio| ratio.most.max(ratio.least) <= MOST_STORED);
        let ratios = || Class::ALL.map(|class| state.ratios[class as usize].iter().copied().collect());
        state.ratios.iter().all(sound).then(|| Self {
            prior,
            ratios: ratios(),
            open: state.open,
            held: state.held,
            exceeded: state.exceeded,
        })
    }
}

/// The factors learned for a model, without its prior.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    /// Oldest first, of each class in the order of [`Class::ALL`].
    pub ratios: [Vec<Ratio>; Class::ALL.len()],
    /// The tokens that do not make a sample yet.
    pub open: [Open; Class::ALL.len()],
    /// The factor of a class whose samples say more, although no bill was beyond it.
    pub held: [Option<Factor>; Class::ALL.len()],
    /// How often the truth was above a bound.
    pub exceeded: u64,
}

/// For what is not exchangeable, in thousandths.
const MARGIN: u64 = 30;

/// In thousandths.
fn margin(samples: usize) -> u64 {
    MARGIN + 1_000 / samples.max(1) as u64
}

#[cfg(test)]
mod tests {
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
        assert_eq!(taught(Class::Prose, &[2_450]).factor(Class::Prose).per_mille(), 2_500, "it was within the prior");
        assert_eq!(
            taught(Class::Prose, &[2_600]).factor(Class::Prose).per_mille(),
            3_500,
            "one sample makes it 1.4 times the prior at most"
        );
        let many = taught(Class::Prose, &[1_200; 64]);
        assert_eq!(many.factor(Class::Prose).per_mille(), 1_200 * 1_045 / 1_000);
        assert_eq!(many.factor(Class::Cjk).per_mille(), 2_500);
    }

    #[test]
    fn a_mixture_within_its_bound_leaves_open_what_its_classes_cost_and_raises_none() {
        let mut learned = Learned::new(Factor::new(1_350));
        let mixed = of(Class::Dense, 600).plus(&of(Class::Prose, 280));
        for bill in 0..WINDOW {
            assert!(!learned.observe(None, &Anchor { counted: mixed, truth: 970 }));
            assert_eq!(learned.factor(Class::Prose).per_mille(), 1_350);
            assert!((1_100..=1_350).contains(&learned.factor(Class::Dense).per_mille()), "after {bill}: {:?}", learned.factors());
        }
        assert_eq!(learned.samples(Class::Dense), WINDOW);
    }

    #[test]
    fn a_factor_that_was_held_follows_its_samples_down_and_gives_way_to_a_bill_beyond_it() {
        let mut learned = taught(Class::Prose, &[1_000; FEW]);
        let held = learned.factor(Class::Prose);
        learned.observe(None, &Anchor { counted: of(Class::Prose, 1_000), truth: 1_200 });
        assert_eq!((learned.factor(Class::Prose), held.per_mille()), (held, 1_230));
        let mut dearer = learned.clone();
        assert!(dearer.observe(None, &Anchor { counted: of(Class::Prose, 1_000), truth: 1_300 }));
        assert!(dearer.factor(Class::Prose).per_mille() >= 1_339, "with its margin: {:?}", dearer.factors());
        for _ in 0..WINDOW {
            learned.observe(None, &Anchor { counted: of(Class::Prose, 1_000), truth: 1_100 });
        }
        assert_eq!(learned.factor(Class::Prose).per_mille(), 1_100 * 1_045 / 1_000);
    }

    #[test]
    fn a_bill_beyond_its_bound_is_not_hidden_by_what_waits_for_a_sample() {
        let mut learned = taught(Class::Prose, &[1_200; WINDOW]);
        learned.observe(None, &Anchor { counted: of(Class::Prose, BLOCK - 1), truth: 520 });
        let dear = of(Class::Prose, 200);
        assert!(learned.observe(None, &Anchor { counted: dear, truth: 320 }));
        assert!(dear.bound(&learned.factors()) + slack(&dear) >= 320);
        assert_eq!(learned.samples(Class::Prose), WINDOW);
    }

    #[test]
    fn old_samples_are_forgotten_and_a_tokenizer_that_changed_is_believed_once_most_of_the_newest_say_so() {
        let mut learned = taught(Class::Code, &[[1_900].as_slice(), &[1_300; 64]].concat());
        assert_eq!(learned.factor(Class::Code).per_mille(), 1_300 * 1_045 / 1_000);
        for sample in 0..NEWEST {
            let bound = learned.factor(Class::Code).per_mille();
            assert_eq!(bound >= 2_200, sample > NEWEST / 2, "after {sample} samples: {bound}");
            learned.observe(None, &Anchor { counted: of(Class::Code, 1_000), truth: 2_200 });
        }
    }

    #[test]
    fn one_odd_bill_moves_a_factor_by_two_fifths_at_most_whatever_it_says() {
        for known in [&[][..], &[1_200], &[1_200; 4], &[1_200; 5], &[1_150, 1_250, 1_200, 1_180, 1_240, 1_210], &[1_200; 64]] {
            let before = taught(Class::Prose, known).factor(Class::Prose).per_mille();
            for odd in (100..3_990).step_by(10) {
                let mut learned = taught(Class::Prose, known);
                learned.observe(None, &Anchor { counted: of(Class::Prose, 1_000), truth: odd });
                let after = learned.factor(Class::Prose).per_mille();
                assert!(after * 10 <= before * 14, "{odd} after {known:?}: {before} -> {after}");
            }
        }
    }

    #[test]
    fn a_number_that_is_sure_is_believed_at_once_and_bounded() {
        let mut learned = taught(Class::Prose, &[1_200; 64]);
        assert!(learned.observe_sure(None, &Anchor { counted: of(Class::Prose, 1_000), truth: 3_000 }));
        assert!((3_000..=4_200).contains(&learned.factor(Class::Prose).per_mille()));
        assert_eq!(learned.samples(Class::Prose), SURE);
    }

    #[test]
    fn mixed_small_and_impossible_samples_teach_nothing() {
        let mut learned = Learned::new(Factor::new(2_500));
        let mixed = of(Class::Prose, 500).plus(&of(Class::Code, 500));
        for (counted, truth) in
            [(mixed, 1_200), (of(Class::Prose, 100), 120), (of(Class::Prose, 1_000), 40_000), (of(Class::Prose, 1_000), 3)]
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
    fn it_is_read_back_and_what_cannot_be_is_not() {
        let mut learned = taught(Class::Dense, &[1_400, 1_500, 1_600]);
        learned.observe(None, &Anchor { counted: of(Class::Code, 100), truth: 120 });
        learned.observe(None, &Anchor { counted: of(Class::Prose, 1_000), truth: 2_490 });
        let state = learned.state();
        assert_eq!(Learned::from_state(Factor::new(2_500), &state), Some(learned));
        let mut many = state.clone();
        many.ratios[0] = vec![Ratio { most: 1_000, least: 900 }; WINDOW + 1];
        let mut large = state;
        large.ratios[2].push(Ratio { most: MOST_STORED + 1, least: 0 });
        assert_eq!([many, large].map(|bad| Learned::from_state(Factor::new(2_500), &bad)), [None, None]);
    }

    #[test]
    fn a_bound_that_failed_on_a_mixture_raises_all_that_was_in_it() {
        let mut learned = taught(Class::Prose, &[1_200; 64]);
        let mixed = of(Class::Prose, 5_000).plus(&of(Class::Code, 5_000));
        assert!(learned.observe(None, &Anchor { counted: mixed, truth: 24_000 }));
        assert!(mixed.bound(&learned.factors()) >= 24_000);
        assert_eq!(learned.samples(Class::Cjk), 0);
    }

    #[test]
    fn a_mixture_far_above_its_bound_waits_for_others_that_say_the_same_and_is_kept() {
        let mut learned = taught(Class::Prose, &[1_200; WINDOW]);
        let mixed = of(Class::Prose, 5_000).plus(&of(Class::Code, 5_000));
        assert!(learned.observe(None, &Anchor { counted: mixed, truth: 30_000 }));
        assert!(mixed.bound(&learned.factors()) < 30_000, "one reply is no law");
        assert_eq!(Learned::from_state(Factor::new(2_500), &learned.state()).as_ref(), Some(&learned), "no more samples than are kept");
        for _ in 0..NEWEST {
            learned.observe(None, &Anchor { counted: mixed, truth: 30_000 });
        }
        assert!(mixed.bound(&learned.factors()) >= 30_000);
    }

    #[test]
    fn one_factor_for_a_request_is_that_of_its_classes() {
        let learned = taught(Class::Prose, &[1_200; 64]);
        let request = of(Class::Prose, 1_000).plus(&of(Class::Cjk, 1_000));
        assert!(learned.factor_of(&request).bound(request.tokens()) >= request.bound(&learned.factors()));
        assert_eq!(learned.factor_of(&of(Class::Cjk, 1_000)).per_mille(), 2_500);
    }
}
