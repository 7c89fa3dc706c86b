//! Priors, the factors of a score besides relevance: the time that was asked about, age, importance, use.
//!
//! ```text
//! score      = relevance * prior / highest prior of the candidates
//! prior      = time * recency * importance * use * certainty
//! time       = 0.9 - 0.4 * (1 - 2^(-days from the range / 7))        1 within the range, and where none was asked for
//! recency    = 1 - 0.1 * (1 - 2^(-age / half-life))                  for events only
//! importance = 1 + 0.05 * (importance - 0.5) / 0.5
//! use        = 1 + 0.03 * min(1, log2(1 + recalls + reinforcements) / 6)
//! certainty  = 1 - 0.1 * (1 - confidence)
//! ```
//!
//! A kind to which the program gives a half-life of its own decays by it, whatever kind it is, and by half at most: the program said so.
//!
//! A fact (`semantic`) has the first and the last factor alone: it is as true when it is old, and not truer because it was asked for often.
//! Because priors are compared with the highest, a question whose candidates are alike in them has its plain relevance as score,
//! and one whose range holds nothing falls back to everything. Powers and logarithms are `libm`'s: the same bits on every CPU.
//!
//! Relevance is in `fusion`, and hard limits of time are in `filter`. docs/ranking.md says where each number was measured.

use super::ranking::memories::{
    CERTAINTY_WEIGHT, EVENT_HALF_LIFE_DAYS, IMPORTANCE_WEIGHT, OUTCOME_HALF_LIFE_DAYS, OWN_RECENCY_WEIGHT, RECENCY_WEIGHT, TIME_EDGE_DAYS,
    TIME_STEP, TIME_WEIGHT, USE_SATURATION, USE_WEIGHT,
};
use super::when::Range;
use crate::memory::Kind;
use crate::units::calendar::DAY;

const DAY_MICROSECONDS: f64 = 86_400e6;

/// The longest time of which each event answers a question for it: set.
const LONGEST_DAYS: i64 = 8 * DAY;

/// The inputs of a candidate's prior.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attributes {
    /// Its kind.
    pub kind: Kind,
    /// 0 to 255.
    pub importance: u8,
    /// When it happened, microseconds since 1970.
    pub occurred_at: i64,
    /// How often it was recalled, as stored.
    pub recalls: u32,
    /// How far it is doubted: 0 not at all, 15 wholly.
    pub doubt: u8,
    /// How often it was said again: 0 never, n at least 2^(n - 1) times.
    pub said_again: u8,
    /// It names a day of the time that is asked about (`recall/dated.rs`).
    pub names_day: bool,
    /// Who vouches for it: 0 nobody. It is not part of the prior; `recall/shares.rs` looks at it.
    pub trust: u8,
}

impl Attributes {
    /// The attributes of what is ranked by relevance alone: a chunk of a document.
    pub const NONE: Self =
        Self { kind: Kind::Semantic, importance: 128, occurred_at: 0, recalls: 0, doubt: 0, said_again: 0, names_day: false, trust: 3 };
}

/// The question's part in its priors.
#[derive(Debug, Clone, Copy, Default)]
pub struct Moment {
    /// The time of the question.
    pub now: i64,
    /// The time that it asks about.
    pub asked: Option<Range>,
    /// Days in which kinds of memory lose half of what they can lose, where the program says so: by [`Kind`].
    pub half_lives: [Option<f64>; 7],
}

/// Every factor of one memory's prior.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// The time that the question asks about, where it names one.
    pub asked: Option<Range>,
    /// It names a day of that time.
    pub names_day: bool,
    /// 0.5 to 1: how near to that time it happened.
    pub time: f64,
    /// Days since it happened; 0 in the future.
    pub age_days: f64,
    /// Days in which recency loses half of what it can lose; `None` for what does not age.
    pub half_life_days: Option<f64>,
    /// 0.9 to 1, with a half-life of the program's own 0.5 to 1.
    pub recency: f64,
    /// 0.95 to 1.05.
    pub importance: f64,
    /// How often it was recalled.
    pub recalls: u32,
    /// 1 to 1.03.
    pub usage: f64,
    /// 0.9 to 1.
    pub certainty: f64,
    /// The highest prior among the candidates.
    pub highest: f64,
}

impl Default for Prior {
    fn default() -> Self {
        Self {
            asked: None,
            names_day: false,
            time: 1.0,
            age_days: 0.0,
            half_life_days: None,
            recency: 1.0,
            importance: 1.0,
            recalls: 0,
            usage: 1.0,
            certainty: 1.0,
            highest: 1.0,
        }
    }
}

impl Prior {
    /// Whether it names a day of the time that the question names, or is of an event within it, and that is no longer than a week: "What did I buy on June 1?" and
    /// "I got a bike" share no word, and the date takes the meaning of the question away from that of the bike.
    pub(super) fn is_of_days(&self) -> bool {
        let length = self.asked.and_then(|asked| Some(asked.until?.saturating_sub(asked.since?)));
        (self.names_day || self.half_life_days.is_some() && self.time >= 1.0) && length.is_some_and(|length| length <= LONGEST_DAYS)
    }

    /// The prior of a memory at the moment of a question.
    #[must_use]
    pub fn of(attributes: &Attributes, moment: &Moment) -> Self {
        let days = |microseconds: i64| microseconds.max(0) as f64 / DAY_MICROSECONDS;
        let (at, age_days) = (attributes.occurred_at, days(moment.now.saturating_sub(attributes.occurred_at)));
        let distance = moment.asked.filter(|_| !attributes.names_day).map_or(0.0, |range| {
            let before = range.since.map_or(0, |since| since.saturating_sub(at));
            let after = range.until.map_or(0, |until| at.saturating_sub(until).saturating_add(1));
            days(before.max(after))
        });
        let own = moment.half_lives[attributes.kind as usize];
        let half_life_days = own.or_else(|| half_life_days(attributes.kind));
        let weight = if own.is_some() { OWN_RECENCY_WEIGHT } else { RECENCY_WEIGHT };
        let fact = attributes.kind == Kind::Semantic && own.is_none();
        // 128 is 0.5, the default, as a row stores it.
        let importance = ((f64::from(attributes.importance) - 128.0) / 127.0).max(-1.0);
        let recalls = if fact { 0 } else { attributes.recalls };
        let uses = if fact { 0.0 } else { f64::from(recalls) + libm::exp2(f64::from(attributes.said_again)) - 1.0 };
        Self {
            asked: moment.asked,
            names_day: attributes.names_day,
            time: if distance > 0.0 { 1.0 - TIME_STEP - (TIME_WEIGHT - TIME_STEP) * lost(distance, TIME_EDGE_DAYS) } else { 1.0 },
            age_days,
            half_life_days,
            recency: half_life_days.map_or(1.0, |half_life| 1.0 - weight * lost(age_days, half_life)),
            importance: if fact { 1.0 } else { 1.0 + IMPORTANCE_WEIGHT * importance },
            recalls,
            usage: if uses > 0.0 { 1.0 + USE_WEIGHT * (libm::log2(1.0 + uses) / USE_SATURATION).min(1.0) } else { 1.0 },
            certainty: 1.0 - CERTAINTY_WEIGHT * f64::from(attributes.doubt) / 15.0,
            highest: 1.0,
        }
    }

    /// All factors together.
    #[must_use]
    pub fn product(&self) -> f64 {
        self.time * self.recency * self.importance * self.usage * self.certainty
    }

    /// The factor of relevance: above 0, at most 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.product() / self.highest
    }
}

/// The half-life of a kind of memory: events age, lasting facts do not.
fn half_life_days(kind: Kind) -> Option<f64> {
    match kind {
        Kind::Episodic => Some(EVENT_HALF_LIFE_DAYS),
        Kind::TaskOutcome => Some(OUTCOME_HALF_LIFE_DAYS),
        Kind::Semantic | Kind::Preference | Kind::Decision | Kind::Constraint | Kind::Profile => None,
    }
}

/// 0 at once, a half after one half-life, towards 1.
fn lost(days: f64, half_life: f64) -> f64 {
    if days > 0.0 { 1.0 - libm::exp2(-days / half_life) } else { 0.0 }
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // exactly 1 is what is promised
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000_000;

    fn of(kind: Kind, occurred_at: i64, asked: Option<Range>) -> Prior {
        Prior::of(
            &Attributes { kind, importance: 128, occurred_at, recalls: 0, doubt: 0, said_again: 0, names_day: false, trust: 3 },
            &Moment { now: 100 * DAY, asked, ..Moment::default() },
        )
    }

    #[test]
    fn events_age_and_facts_do_not() {
        assert!((of(Kind::Episodic, 70 * DAY, None).product() - 0.95).abs() < 1e-12, "one half-life");
        assert!((of(Kind::TaskOutcome, 10 * DAY, None).product() - 0.95).abs() < 1e-12);
        for kind in [Kind::Semantic, Kind::Preference, Kind::Decision, Kind::Constraint, Kind::Profile] {
            assert_eq!(of(kind, i64::MIN, None).product(), 1.0);
        }
        assert_eq!(of(Kind::Episodic, 200 * DAY, None).recency, 1.0, "the future is new");
        assert!(of(Kind::Episodic, i64::MIN, None).recency >= 0.9);
    }

    #[test]
    fn what_decays_by_the_programs_own_half_life_loses_more_and_doubt_counts_for_it() {
        let mut moment = Moment { now: 100 * DAY, ..Moment::default() };
        let of = |kind, at, doubt, moment: &Moment| {
            Prior::of(
                &Attributes { kind, importance: 128, occurred_at: at, recalls: 0, doubt, said_again: 0, names_day: false, trust: 3 },
                moment,
            )
            .product()
        };
        assert_eq!(of(Kind::Semantic, 0, 0, &moment), 1.0, "a fact does not decay");
        assert!((of(Kind::Semantic, 0, 15, &moment) - 0.9).abs() < 1e-12, "and can be doubted");
        assert!((of(Kind::Episodic, 100 * DAY, 15, &moment) - 0.9).abs() < 1e-12);
        moment.half_lives[Kind::Semantic as usize] = Some(10.0);
        assert!((of(Kind::Semantic, 90 * DAY, 0, &moment) - 0.75).abs() < 1e-12, "one half-life of ten days");
        assert!((of(Kind::Semantic, 100 * DAY, 15, &moment) - 0.9).abs() < 1e-12);
    }

    #[test]
    fn the_asked_time_has_a_soft_edge() {
        let asked = Some(Range { since: Some(50 * DAY), until: Some(60 * DAY) });
        assert_eq!(of(Kind::Semantic, 50 * DAY, asked).time, 1.0);
        assert_eq!(of(Kind::Semantic, 60 * DAY - 1, asked).time, 1.0);
        assert!((of(Kind::Semantic, 60 * DAY, asked).time - 0.9).abs() < 1e-9);
        assert!((of(Kind::Semantic, 43 * DAY, asked).time - 0.7).abs() < 1e-12);
        assert!((of(Kind::Semantic, 67 * DAY - 1, asked).time - 0.7).abs() < 1e-12);
        assert!(of(Kind::Semantic, i64::MAX, asked).time >= 0.5 && of(Kind::Semantic, i64::MIN, asked).time >= 0.5);
    }

    #[test]
    fn importance_and_use_are_small_and_not_for_facts() {
        let prior = |kind, importance, recalls| {
            Prior::of(
                &Attributes { kind, importance, occurred_at: 0, recalls, doubt: 0, said_again: 0, names_day: false, trust: 3 },
                &Moment::default(),
            )
            .product()
        };
        assert_eq!(prior(Kind::Preference, 128, 0), 1.0);
        assert!((prior(Kind::Preference, 255, 0) - 1.05).abs() < 1e-12);
        assert!((prior(Kind::Preference, 0, 0) - 0.95).abs() < 1e-12);
        assert!((prior(Kind::Decision, 128, 7) - 1.015).abs() < 1e-12);
        assert!((prior(Kind::Decision, 128, u32::MAX) - 1.03).abs() < 1e-12);
        assert_eq!(prior(Kind::Semantic, 255, 1000), 1.0);
    }
}
