//! Exact token counts: `OpenAI`'s encodings and those of Qwen, Mistral, `DeepSeek` and Gemini, embedded, with no download.
//!
//! A hand-written scanner cuts a text into pretokens (`scan`, one file for each family of patterns). A pretoken that is a token is found in
//! a hash table (`pieces`). The others are merged (`merge`, or `backtrack` where they are long). The result is `tiktoken`'s
//! `encode_ordinary`, for every string (for Qwen after its normal form C; for gemma3 `sentencepiece`'s `encode`): the strings of special
//! tokens inside a text are text like any other, and the framing of messages adds its own tokens. `o200k_harmony` cuts and counts
//! ordinary text as `o200k_base` does.
//!
//! [`load()`] reads other tokenizers from a user's file, [`bound`] bounds those that are closed. Message framing is elsewhere.
//!
//! Sources and licences of the vocabularies are in NOTICE. Packed they take 342 KB (`cl100k_base`), 727 KB (`o200k_base`), 568 KB
//! (`qwen2`), 465 KB (`tekken`), 453 KB (`deepseek_v3`) and 1,047 KB (`gemma3`); the first use of an encoding unpacks it into 8 to 20 MB.

#![allow(clippy::inline_always)] // the loop that counts is compiled as one function: its parts are calls for a handful of bytes

mod ascii;
mod backtrack;
mod bigrams;
pub mod bound;
mod cache;
mod cached;
mod cl100k;
mod count;
mod counter;
mod custom;
mod deepseek;
mod encode;
mod encoding;
#[cfg(test)]
pub(crate) mod fuzz;
mod gemma3;
mod gpt2;
mod load;
mod long;
mod marks;
mod measure;
mod merge;
mod o200k;
mod packed;
mod pieces;
mod recent;
mod scan;
mod swar;
mod truncate;
mod unicode;
mod vocabulary;

pub use cache::{CacheMetrics, CountCache};
pub use cached::{CachedCounter, shared_cache};
pub use count::{count, count_until};
pub use counter::TokenCounter;
pub use custom::{Loaded, check_tokenizer, load};
pub use encode::{decode, encode};
pub use encoding::Encoding;
pub use measure::{Counter, Factor};
pub use truncate::{truncate_end, truncate_start};
