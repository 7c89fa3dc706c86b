//! Units that several rooms share: of a score, of a day.

pub mod calendar;
pub mod score;
