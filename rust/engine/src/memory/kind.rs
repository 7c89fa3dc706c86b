//! The kinds of memory, and how far a source is trusted.

use crate::units::calendar::DAY;
use crate::{Error, Result};

/// The kind of a memory: what it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Something that happened.
    Episodic = 0,
    /// A fact.
    Semantic = 1,
    /// Something that somebody likes or wants.
    Preference = 2,
    /// Something that was decided.
    Decision = 3,
    /// Something that must hold.
    Constraint = 4,
    /// How a task ended.
    TaskOutcome = 5,
    /// Who somebody is.
    Profile = 6,
}

impl Kind {
    /// Every kind, in the order of its number.
    pub const ALL: [Self; 7] =
        [Self::Episodic, Self::Semantic, Self::Preference, Self::Decision, Self::Constraint, Self::TaskOutcome, Self::Profile];

    /// Its name in the API and in exports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Episodic => "episodic",
            Self::Semantic => "semantic",
            Self::Preference => "preference",
            Self::Decision => "decision",
            Self::Constraint => "constraint",
            Self::TaskOutcome => "task_outcome",
            Self::Profile => "profile",
        }
    }

    /// The kind of that name.
    pub fn parse(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|kind| kind.name()).collect();
            Error::invalid(format!("reading kind={name:?}: a kind of memory is one of {}: choose one of them", names.join(", ")))
        })
    }

    /// The kind of that number, as stored.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// The day (UTC) of what happened then; `None` where it is not an event. Events of two days are two, also in the same words.
    #[must_use]
    pub fn day(self, occurred_at: i64) -> Option<i64> {
        matches!(self, Self::Episodic | Self::TaskOutcome).then(|| occurred_at.div_euclid(DAY))
    }

    /// Its bit in a set of kinds.
    #[must_use]
    pub fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// How long memories of a kind live.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct KindRule {
    /// Microseconds until one is forgotten that was given no time of its own.
    pub ttl: Option<i64>,
    /// Microseconds in which its value halves.
    pub half_life: Option<i64>,
    /// How many a scope has at most.
    pub cap: Option<usize>,
}

impl KindRule {
    /// A rule in days; what no clock reaches is as long as one can.
    #[must_use]
    pub fn of_days(ttl: Option<f64>, half_life: Option<f64>, cap: Option<usize>) -> Self {
        let micros = |days: f64| (days * DAY as f64).min(i64::MAX as f64 / 4.0) as i64;
        Self { ttl: ttl.map(micros), half_life: half_life.map(micros), cap }
    }

    /// The value of a memory, of which the least valuable leave first: importance, confidence, how often it was said or recalled, age.
    #[must_use]
    pub fn value(&self, importance: f64, confidence: f64, uses: u32, age: i64) -> f64 {
        let halvings = self.half_life.map_or(0.0, |half_life| age.max(0) as f64 / half_life as f64);
        importance.max(0.01) * confidence.max(0.01) * (1.0 + libm::log(1.0 + f64::from(uses))) * libm::exp2(-halvings)
    }
}

/// How far a source is trusted where nothing else is said: the user 3, a tool 2, the assistant 1, anything else 0.
#[must_use]
pub fn trust_of(source: &str) -> u8 {
    match source {
        "user" => 3,
        "tool" => 2,
        "assistant" => 1,
        _ => 0,
    }
}
