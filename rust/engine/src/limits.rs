//! Limits and defaults that callers of the API meet, in one place: lengths, counts, batches, times, budgets. Those of one part of it, such as a
//! note or a tokenizer's file, stand beside that part.
//!
//! Constants of the order of answers, of formats and of the disk are where they are used: nobody outside can reach them.
//! Bytes are those of UTF-8 unless it says otherwise. Python has them as `memspan._core.Limits`.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::{Error, Result};

/// The longest id, name, slot, source, version or reason, in bytes; the shortest has one.
pub const MAX_NAME_BYTES: usize = 1_024;
/// The longest text of a memory, in bytes.
pub const MAX_TEXT_BYTES: usize = 1 << 20;
/// The most metadata of a memory or document, in bytes of MessagePack.
pub const MAX_METADATA_BYTES: usize = 64 << 10;
/// The most trust.
pub const MAX_TRUST: u8 = 3;
/// The longest message, in bytes of JSON.
pub const MAX_MESSAGE_BYTES: usize = 64 << 20;
/// The longest system prompt, and the longest list of tools, in bytes.
pub const MAX_INSTRUCTION_BYTES: usize = 16 << 20;
/// Scopes that a session may read along.
pub const MAX_READS: usize = 64;
/// Collections that a session may show passages of.
pub const MAX_COLLECTIONS: usize = 16;
/// The longest document, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 64 << 20;
/// The longest value of a task, in bytes of JSON.
pub const MAX_TASK_VALUE_BYTES: usize = 1 << 20;
/// Values of a task.
pub const MAX_TASK_ENTRIES: usize = 1_024;
/// Keys and values of a task together, in bytes.
pub const MAX_TASK_BYTES: usize = 4 << 20;
/// The most dimensions of a vector.
pub const MAX_DIMENSIONS: usize = 8_192;
/// The largest window of a model, and the largest number of tokens that a budget may name.
pub const MAX_TOKENS: u64 = 1 << 40;
/// The newest exchanges that a compaction may be told to keep.
pub const MAX_KEPT_EXCHANGES: u64 = 1 << 20;
/// The largest summary, in tokens.
pub const MAX_SUMMARY_TOKENS: u64 = 1 << 30;
/// Newest rounds of a turn whose tool results may be kept whole.
pub const MAX_KEPT_ROUNDS: u64 = 1_000;
/// The largest weight of a grant.
pub const MAX_GRANT_WEIGHT: u32 = 1_000_000;
/// The largest score of an item, either way: more tells nothing apart.
pub const MAX_ITEM_SCORE: f64 = 1e6;
/// The longest name of a relation or of one of its ends, in bytes.
pub const MAX_ENTITY_BYTES: usize = 256;
/// Relations of a scope: what an answer reads of them stays within a few milliseconds.
pub const MAX_RELATIONS: u32 = 100_000;
/// The longest path between two ends that is looked for.
pub const MAX_HOPS: usize = 8;
/// The longest time to live: 100 years.
pub const MAX_TTL: Duration = Duration::from_secs(3_155_760_000);
/// The most of a source that prompts may recall.
pub const MAX_RECALLS: usize = 1_000;
/// The most days that a call may look back: 100 years.
pub const MAX_DAYS: f64 = 36_525.0;
/// The longest that a call may wait, for a lock, a lease, a model or a tool: a day.
pub const MAX_WAIT: Duration = Duration::from_secs(86_400);
/// Levels of a message or a tool schema.
pub const MAX_JSON_DEPTH: usize = 128;
/// Levels of metadata.
pub const MAX_METADATA_DEPTH: usize = 32;

/// The most hits of a question to transcripts, whatever it asks for.
pub const MAX_HITS: usize = 1 << 20;

/// Rows of one transaction.
pub const MAX_BATCH_ROWS: usize = 1_000;
/// Bytes of text in one transaction.
pub const MAX_BATCH_BYTES: usize = 256 << 10;

/// How much of a model's window a prompt may fill, in millionths, where no limit is named.
pub const DEFAULT_FILL: u32 = 700_000;
/// The reserve for a reply, where none is named; less where the model cannot write so much.
pub const DEFAULT_OUTPUT_TOKENS: u64 = 4_096;
/// Shares of a model's window that are told when the prompts of a session reach them, in per cent.
pub const WINDOW_SHARES: [u64; 2] = [70, 85];
/// How far the window of history moves at a time, in millionths of what history may have.
pub const DEFAULT_CUT_STEP: u32 = 250_000;
/// Tokens of a chunk of a document.
pub const DEFAULT_CHUNK_TOKENS: usize = 300;
/// How long a write may queue.
pub const DEFAULT_BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a write may queue, from seconds; an error where it is beyond [`MAX_WAIT`].
pub fn busy_timeout(seconds: f64) -> Result<Duration> {
    if (0.0..=MAX_WAIT.as_secs_f64()).contains(&seconds) {
        return Ok(Duration::from_secs_f64(seconds));
    }
    Err(Error::invalid(format!(
        "opening a store: busy_timeout_seconds must be from 0 to {} (a day), and it is {seconds}: change it",
        MAX_WAIT.as_secs()
    )))
}

/// How long a lease lasts, in microseconds; an error where it is not above 0, or longer than [`MAX_WAIT`]: a worker that answers for longer
/// takes it again.
pub fn lease(seconds: f64) -> Result<i64> {
    const { assert!(MAX_WAIT.as_secs() == 86_400, "the message below names it") };
    if seconds > 0.0 && seconds <= MAX_WAIT.as_secs_f64() {
        return Ok((seconds * 1e6) as i64);
    }
    Err(Error::invalid(format!(
        "taking a lease: seconds must be above 0 and at most 86,400, and it is {seconds}: give the time that one reply may take"
    )))
}

/// A time to live in microseconds; an error where it is not above 0, or beyond [`MAX_TTL`].
pub fn ttl(seconds: f64) -> Result<i64> {
    let most = MAX_TTL.as_secs();
    if seconds > 0.0 && seconds <= most as f64 {
        return Ok((seconds * 1e6).ceil() as i64);
    }
    Err(Error::invalid(format!(
        "reading ttl_seconds: it must be above 0 and at most {most} (100 years), and it is {seconds}: leave it out to keep it for ever"
    )))
}

/// A whole number that a caller named, where it lies in its range.
pub fn within(name: &str, number: u64, range: RangeInclusive<u64>) -> Result<u64> {
    if range.contains(&number) {
        return Ok(number);
    }
    let (least, most) = (range.start(), range.end());
    let rule = if *most == u64::MAX { format!("at least {least}") } else { format!("from {least} to {most}") };
    Err(Error::invalid(format!("reading {name}: it must be {rule}, and it is {number}: change it")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_outside_of_its_range_is_named() {
        assert_eq!(within("limit", 3, 1..=3).ok(), Some(3));
        let message = |range| within("limit", 4, range).err().map_or_else(String::new, |error| error.to_string());
        assert!(message(1..=3).contains("limit: it must be from 1 to 3, and it is 4"), "{}", message(1..=3));
        assert!(message(5..=u64::MAX).contains("at least 5"), "{}", message(5..=u64::MAX));
    }
}
