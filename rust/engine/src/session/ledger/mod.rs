//! The ledger of prompts and replies: the calls of each turn, parsed replies, planned and billed tokens, prompts composed again.

mod call;
pub(crate) mod passages;
pub(crate) mod remains;
pub(super) mod replay;
pub(super) mod response;
pub(super) mod usage;

pub use call::{Call, CallId, SentPrompt};
pub(super) use call::{MOST, Shown, count, find_response, is_taken_out};
