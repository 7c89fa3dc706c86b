//! Messages that told a value which was replaced since: beside the current memory they would say otherwise, and mostly in the very words of
//! the question.

use crate::Result;
use crate::memory::{Memory, record};
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::text::is_filler;

/// A message that told what does not hold any more has one part in so many of its score: it stands behind the current memory. Set.
pub(in crate::session) const BEHIND_THE_CURRENT: i64 = 4;
/// So many values of one slot are looked at, the newest first.
const MOST_VALUES: usize = 8;
/// Bytes by which a message may be longer than the value that was learnt from it, and say little else.
const ABOUT: usize = 40;

/// A message that told what does not hold any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::session) struct Replaced {
    partition: Partition,
    session: Box<str>,
    message: u64,
    /// The words of the value that the current one lacks, in small letters.
    words: Vec<Box<str>>,
    /// The bytes of the value.
    length: usize,
    /// When what holds now began to hold, microseconds since 1970 (UTC).
    pub newer_at: i64,
}

impl Replaced {
    /// The messages that told the values before that of a current memory. Costs a look-up for each value.
    pub fn by<P: Pages>(pages: &P, partition: Partition, current: &Memory, found: &mut Vec<Self>) -> Result<()> {
        let mut before = current.supersedes;
        for _ in 0..MOST_VALUES {
            let Some(number) = before else { break };
            let Some(older) = record::history(pages, partition, number)?.pop() else { break };
            if let (Some(session), Some(message)) = (&older.provenance.session, older.provenance.message) {
                let now: Vec<Box<str>> = words(&current.text).collect();
                let words: Vec<Box<str>> = words(&older.text).filter(|word| !now.contains(word)).collect();
                let newer_at = current.occurred_at;
                found.push(Self { partition, session: session.as_str().into(), message, words, length: older.text.len(), newer_at });
            }
            before = older.supersedes;
        }
        Ok(())
    }

    /// Whether it is this message of a session, and says what does not hold in the part that is shown.
    pub fn is_told(&self, (partition, session, message): (Partition, &str, u64), part: &str) -> bool {
        let is_it = self.partition == partition && self.message == message && *self.session == *session;
        // A short message says nothing else: "My GP is Dr. Hall." behind "Dr. Ames now, Dr. Hall retired".
        is_it && (part.len() <= self.length + ABOUT || words(part).any(|word| self.words.contains(&word)))
    }
}

/// The words of a text in small letters, numbers among them, but for filler, which tells nothing of a value.
fn words(text: &str) -> impl Iterator<Item = Box<str>> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| !word.is_empty() && !is_filler(word.as_bytes())).map(Into::into)
}
