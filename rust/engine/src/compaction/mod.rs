//! Compaction: what old turns become when they leave a prompt. Pure: messages and the summary before in, a [`Summary`] out.
//!
//! [`compact`] works by rules, without a model: the text of each message is cut into units ([`units`]), units are told apart by cues
//! ([`cues`]), scored by how specific they are and how much of them is new (`terms`), and chosen into sections of fixed grants (`rules`).
//! Identifiers are kept byte for byte, each with the phrase that says what it names. [`check`] holds what a model wrote against the
//! messages, and refuses what they do not say. [`request`] makes the text that a model is given.
//!
//! It is rolling: the summary before and the new messages are all it reads, so the k-th compaction costs what is new. It opens no store,
//! calls no model and knows no clock; the same input gives the same bytes. The rules and every constant: `docs/compaction.md`.

#![cfg_attr(test, allow(clippy::unwrap_used))] // a test that unwraps fails, as it should

pub mod check;
mod columns;
pub mod cues;
mod json;
mod measures;
mod questions;
mod replies;
pub mod request;
mod requests;
mod revisions;
mod rules;
mod said;
mod stated;
mod summary;
mod terms;
#[cfg(test)]
mod tests;
pub mod units;
mod wording;

pub use json::{from_json, to_json};
pub use rules::{Aim, Compacted, TaskLines, brief, compact};
pub use summary::{Identifier, Line, Section, Summary};

use std::sync::Arc;

use crate::context::Message;

/// A message that is compacted, with its index in its conversation.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its index.
    pub index: u64,
    /// The message.
    pub message: Arc<Message>,
}
