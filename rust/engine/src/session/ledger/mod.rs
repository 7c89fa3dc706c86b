//! What was sent and what came back: the calls of each turn, replies taken apart, tokens planned and billed, prompts composed again.

mod call;
pub(crate) mod passages;
pub(super) mod replay;
pub(super) mod response;
pub(super) mod usage;

pub use call::{Call, SentPrompt};
pub(super) use call::{count, find_response, shown};
