//! Every limit and default that a caller can meet, in one place: lengths, counts, batches, times, budgets.
//!
//! Constants of the order of answers, of formats and of the disk are where they are used: nobody outside can reach them.
//! Bytes are those of UTF-8 unless it says otherwise. Python has them all as `memspan._core.LIMITS`.

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
/// The largest weight of a grant.
pub const MAX_GRANT_WEIGHT: u32 = 1_000_000;
/// The largest score of an item, either way: more tells nothing apart.
pub const MAX_ITEM_SCORE: f64 = 1e6;
/// The longest time to live: 100 years.
pub const MAX_TTL: Duration = Duration::from_secs(3_155_760_000);
/// The most of a source that prompts may recall.
pub const MAX_RECALLS: usize = 1_000;
/// The most days that a call may look back: 100 years.
pub const MAX_DAYS: f64 = 36_525.0;
/// The longest that a write may queue: a day.
pub const MAX_BUSY_TIMEOUT: Duration = Duration::from_secs(86_400);
/// Levels of a message, a tool schema or metadata.
pub const MAX_JSON_DEPTH: usize = 128;

/// Rows of one transaction.
pub const MAX_BATCH_ROWS: usize = 1_000;
/// Bytes of text in one transaction.
pub const MAX_BATCH_BYTES: usize = 256 << 10;

/// How much of a model's window a prompt may fill, in millionths, where no limit is named.
pub const DEFAULT_FILL: u32 = 700_000;
/// What is kept free for a reply, where nothing is named; less where the model cannot write so much.
pub const DEFAULT_OUTPUT_TOKENS: u64 = 4_096;
/// Shares of a model's window that are told when the prompts of a session reach them, in per cent.
pub const WINDOW_SHARES: [u64; 2] = [70, 85];
/// How far the window of history moves at a time, in millionths of what history may have.
pub const DEFAULT_CUT_STEP: u32 = 250_000;
/// Tokens of a chunk of a document.
pub const DEFAULT_CHUNK_TOKENS: usize = 300;
/// How long a write may queue.
pub const DEFAULT_BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a write may queue, from seconds; an error where it is beyond [`MAX_BUSY_TIMEOUT`].
pub fn busy_timeout(seconds: f64) -> Result<Duration> {
    if (0.0..=MAX_BUSY_TIMEOUT.as_secs_f64()).contains(&seconds) {
        return Ok(Duration::from_secs_f64(seconds));
    }
    Err(Error::invalid(format!(
        "opening a store: busy_timeout_seconds must be from 0 to {} (a day), and it is {seconds}: change it",
        MAX_BUSY_TIMEOUT.as_secs()
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
