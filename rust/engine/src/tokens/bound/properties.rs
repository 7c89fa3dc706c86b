//! Properties of the learned factors under bills of random mixtures of the classes.

use super::super::fuzz::Fuzz;
use super::{Anchor, Class, Counted, Learned, Tally, slack};
use crate::tokens::Factor;

const PRIORS: [usize; 3] = [1_350, 1_700, 2_500];

/// The cost of a counted token of each class, in thousandths.
type Truth = [usize; Class::ALL.len()];

/// The share of the main class and that of each other one: one class alone, all alike, one above all.
const SHARES: [[usize; 2]; 4] = [[1, 0], [1, 1], [9, 1], [5, 1]];

/// Content of any such shares.
fn mixture(source: &mut Fuzz) -> Tally {
    let shares = SHARES[source.below(SHARES.len())];
    mixture_of(source, shares)
}

fn mixture_of(source: &mut Fuzz, [own, other]: [usize; 2]) -> Tally {
    let (most, main) = ([60, 400, 3_000][source.below(3)], source.below(Class::ALL.len()));
    let mut tally = Tally::default();
    for (class, counted) in tally.classes.iter_mut().enumerate() {
        let tokens = ((1 + source.below(most)) * if class == main { own } else { other }) as u64;
        *counted = Counted { tokens, bytes: tokens * 8 };
    }
    tally.frame(source.below(40) as u64);
    tally
}

/// A truth that a prior is above, as a prior must be.
fn truth(source: &mut Fuzz, prior: usize) -> Truth {
    Class::ALL.map(|_| 600 + source.below(prior - 599))
}

fn cost(truth: &Truth, content: &Tally) -> u64 {
    let texts = content.classes.iter().zip(truth).map(|(counted, truth)| (counted.tokens * *truth as u64).div_ceil(1_000));
    texts.sum::<u64>() + content.frames
}

/// The most that content may cost without being beyond the bound.
fn bound(learned: &Learned, content: &Tally) -> u64 {
    content.bound(&learned.factors()) + slack(content)
}

fn observe(learned: &mut Learned, content: &Tally, truth: u64, is_sure: bool) -> bool {
    let now = Anchor { counted: *content, truth };
    if is_sure { learned.observe_sure(None, &now) } else { learned.observe(None, &now) }
}

/// A learner of honest bills, and their truth. Some have seen mixtures alone.
fn taught(source: &mut Fuzz) -> (Learned, Truth) {
    let prior = PRIORS[source.below(PRIORS.len())];
    let (mut learned, truth) = (Learned::new(Factor::new(prior as u32)), truth(source, prior));
    let kinds = [&SHARES[..], &SHARES[2..], &SHARES[3..]][source.below(3)];
    for _ in 0..source.below(200) {
        let shares = kinds[source.below(kinds.len())];
        let content = mixture_of(source, shares);
        let is_sure = source.below(10) == 0;
        assert!(!observe(&mut learned, &content, cost(&truth, &content), is_sure), "an honest bill is within its bound");
    }
    (learned, truth)
}

#[test]
fn a_bill_within_its_bound_raises_no_factor() {
    let mut seen = [0, 0];
    for seed in 0..200 {
        let mut source = Fuzz::new(seed);
        let mut learned = Learned::new(Factor::new(PRIORS[source.below(PRIORS.len())] as u32));
        for bill in 0..200 {
            let content = mixture(&mut source);
            let (before, bound) = (learned.factors(), bound(&learned, &content));
            // Some are beyond it, so that there are factors above the prior, and samples that nobody believes yet.
            let most = if source.below(8) == 0 { bound * 2 } else { bound };
            let cost = [most, most - source.below(most as usize / 2 + 1) as u64][source.below(2)];
            let is_sure = source.below(10) == 0;
            let exceeded = observe(&mut learned, &content, cost, is_sure);
            seen[usize::from(exceeded)] += 1;
            if cost <= bound {
                assert!(!exceeded);
                let rose = Class::ALL.into_iter().find(|class| learned.factor(*class) > before[*class as usize]);
                assert_eq!(rose, None, "seed {seed}, bill {bill}: {cost} within {bound}, {before:?} -> {:?}", learned.factors());
            }
        }
    }
    assert!(seen.into_iter().all(|bills| bills > 500), "{seen:?}");
}

#[test]
fn what_a_bill_beyond_its_bound_was_for_is_within_it_from_then_on() {
    let mut seen = [0, 0];
    for seed in 0..3_000 {
        let mut source = Fuzz::new(seed);
        let (mut learned, truth) = taught(&mut source);
        let (content, is_sure) = (mixture(&mut source), source.below(2) == 0);
        let bound_before = bound(&learned, &content);
        // A bill that is not sure is believed up to two fifths above the others of its class.
        let most = if is_sure {
            bound_before + content.bound(&learned.factors()).saturating_sub(content.frames) / 2
        } else {
            believed(&learned, &truth, &content)
        };
        let most = most.min(content.bytes());
        // Frames are counted by published rules: no factor is to blame for those that cost more.
        if most <= bound_before || content.tokens() < 4 * content.frames {
            continue;
        }
        let cost = bound_before + 1 + source.below((most - bound_before) as usize) as u64;
        assert!(observe(&mut learned, &content, cost, is_sure));
        let after = bound(&learned, &content);
        assert!(after >= cost, "seed {seed}: {cost} beyond {bound_before} -> {after}, sure {is_sure}, {content:?}");
        seen[usize::from(is_sure)] += 1;
    }
    assert!(seen.into_iter().all(|bills| bills > 200), "{seen:?}");
}

/// The most of content that cannot be odd beside bills of a truth: its main class, or all of a mixture, may cost two fifths more.
fn believed(learned: &Learned, truth: &Truth, content: &Tally) -> u64 {
    let factors = learned.factors();
    if let Some(main) = Class::ALL.into_iter().find(|class| content.classes[*class as usize].tokens * 100 >= content.tokens() * 60) {
        let mut odd = *truth;
        odd[main as usize] = odd[main as usize] * 139 / 100;
        return cost(&odd, content);
    }
    let shares = || content.classes.iter().zip(truth).zip(&factors).filter(|((counted, _), _)| counted.tokens > 0);
    let least = shares().map(|((_, truth), factor)| *truth as u64 * 1_300 / u64::from(factor.per_mille())).min().unwrap_or(0);
    content.bound(&factors) * least / 1_000
}

#[test]
fn what_honest_bills_taught_covers_their_truth() {
    let mut lowered = 0;
    for seed in 0..1_000 {
        let (learned, truth) = taught(&mut Fuzz::new(seed));
        for class in Class::ALL {
            let factor = learned.factor(class);
            assert!(factor.per_mille() as usize >= truth[class as usize], "seed {seed}, {class:?}: {factor:?} of {truth:?}");
            lowered += usize::from(factor < learned.prior());
        }
    }
    assert!(lowered > 1_000, "{lowered}");
}
