//! Short-term memory: sessions, their transcripts, epochs and ledgers, on disk.
//!
//! A session is a conversation of one scope. Everything it holds lives in the scope's partition, so one transaction writes a
//! message, its words and the session's state. The rules of a prompt are in [`crate::context`], which opens no store; this
//! module feeds it from a snapshot and keeps what it decides.

#![cfg_attr(test, allow(clippy::unwrap_used))] // a test that unwraps fails, as it should

#[allow(dead_code)]
mod blob;
#[allow(dead_code)]
mod codec;
#[allow(dead_code)]
mod response;
#[allow(dead_code)]
mod task;
