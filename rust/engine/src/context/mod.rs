//! From a transcript and memories to the bytes of a request: the pure half of prompt assembly.
//!
//! Nothing here opens a store, asks a clock or calls a model: inputs in, prompt out, the same bytes for the same inputs in
//! every process. Start reading at [`mod@compose`], which lays a prompt out; [`cut`] and [`epoch`] decide where history begins,
//! [`budget`] and `select` what the volatile block may hold, [`render`] writes it for a provider. [`mod@fit`] is the same
//! for a plain list of messages without a session. The rules, with a worked example, are in `docs/prompt.md`.

#![cfg_attr(test, allow(clippy::unwrap_used))] // a test that unwraps fails, as it should

pub mod block;
pub mod bounded;
mod breakpoints;
pub mod budget;
pub mod canonical_json;
pub mod compose;
pub mod cut;
mod declared;
pub mod dialect;
mod entries;
pub mod epoch;
pub mod escape;
pub mod explain;
pub mod fit;
pub mod fixed;
pub mod framing;
pub mod history;
pub mod image;
pub(crate) mod json;
mod layout;
pub mod limit;
mod lower;
mod media;
pub mod message;
mod parse;
mod parse_gemini;
mod parse_responses;
pub mod prompt;
pub mod render;
mod repeats;
mod report;
pub(crate) mod rounds;
pub mod segment;
mod select;
pub mod shorten;
mod squeeze;
pub mod tools;
pub mod turns;

#[cfg(test)]
pub(crate) mod properties;
#[cfg(test)]
pub(crate) mod testing;

pub use crate::tokens::{Counter, Factor};
pub use block::{Block, DocumentRef, Form, Item, MessageRef, Origin};
pub use bounded::{Bounds, Content, KnownCost, KnownWindow};
pub use budget::Grant;
pub use compose::{Inputs, Volatile, carries_block, check, compose};
pub use cut::{Cut, Grid, Window};
pub use dialect::{Dialect, Responses, Server};
pub use epoch::{Epoch, MemoryRef, Opening, Reason};
pub use explain::{Explained, SectionUse, Why};
pub use fit::{Fit, fit};
pub use fixed::{Fixed, FixedText, FixedTools};
pub use framing::Framing;
pub use history::{History, Stored, Transcript};
pub use limit::{Budget, Order, RelevanceFloor, Share, input_limit};
pub(crate) use lower::{images_by_id, is_thinking};
pub use message::{Format, Message, Part, Role};
pub use parse::Arguments;
pub(crate) use parse::detect;
pub use prompt::{Breakpoint, Prompt, SetAside, Shared};
pub(crate) use repeats::print;
pub use tools::Tools;
pub use turns::{Placed, Tally};
