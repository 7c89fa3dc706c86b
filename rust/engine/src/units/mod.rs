//! Units that several rooms share: of a score, of a day, of the two times of a write, of a text that is cut, of the characters as a reader
//! sees them and of the lines, days and numbers in it, of bytes as text; the key of a scope's terms; facts of texts that are kept.

pub mod abbreviations;
pub mod base64;
pub mod calendar;
pub mod clip;
pub mod clock;
pub mod clusters;
pub mod days;
pub mod kept;
pub mod lines;
pub mod numbers;
pub mod score;
pub mod term_key;
