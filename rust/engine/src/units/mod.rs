//! Units that several rooms share: of a score, of a day, of a text that is cut.

pub mod calendar;
pub mod clip;
pub mod score;
