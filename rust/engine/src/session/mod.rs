//! Short-term memory: sessions, their transcripts, epochs and ledgers, on disk.
//!
//! A session is a conversation of one scope. Everything it holds lives in the scope's partition, so one transaction writes a
//! message, its words and the session's state. The rules of a prompt are in [`crate::context`], which opens no store; this
//! module feeds it from a snapshot (`window/assemble`) and keeps what it decides (`writer`, `ledger`).
//!
//! Start reading at [`session::Session`]; `add` and `writer` are what a message goes through, `transcript/view` is how a prompt reads it.
//! `window` makes prompts, `ledger` keeps them with their replies, `search` finds what was said.

#![cfg_attr(test, allow(clippy::unwrap_used))] // a test that unwraps fails, as it should

mod add;
mod asking;
mod codec;
mod compact;
mod copies;
mod core;
pub(crate) mod doctor;
mod edit;
#[cfg(test)]
mod fits_tests;
mod fork;
#[cfg(test)]
mod interrupted_tests;
mod key;
mod learning;
mod ledger;
pub(crate) mod mend;
mod messages;
mod metadata;
mod notes;
mod open;
#[cfg(test)]
mod orders_tests;
mod policy;
mod prompt_texts;
#[cfg(test)]
mod prompts_tests;
#[cfg(test)]
mod properties;
mod recalls;
mod record;
pub(crate) mod rehash;
#[cfg(test)]
mod remains_tests;
mod reply;
mod responses;
mod scope_sessions;
mod search;
#[allow(clippy::module_inception)] // the type is looked for under its name
mod session;
#[cfg(test)]
mod simulation;
pub mod sources;
mod stored_epoch;
mod summary;
mod summary_room;
mod sweep;
mod switch;
#[cfg(test)]
mod taken_back_tests;
mod task;
mod tasks;
mod transcript;
mod unread;
mod versions;
mod watch;
pub(crate) mod window;
mod writer;
mod writing;

pub use add::NewMessage;
pub use compact::{Committed, Draft, Due};
pub use core::SessionCore;
pub use key::SessionKey;
pub use learning::learn;
pub(crate) use ledger::remains::clear_ledgers;
pub use ledger::replay::Replayed;
pub use ledger::response::{Response, UsageTokens};
pub use ledger::usage::{CallUsage, Fill};
pub use ledger::{Call, CallId, SentPrompt};
pub use messages::{ResultText, StoredMessage, format_named};
pub use policy::Policy;
pub use prompt_texts::PromptTexts;
pub use recalls::{Recalls, Roles};
pub use record::{SessionBudget, SessionRecord, SessionState};
pub use reply::lease::{Claim, Lease, Leased};
pub use reply::open_calls::OpenCall;
pub use reply::partial::PartialReply;
pub use reply::refused::Refusal;
pub use responses::Replied;
pub use scope_sessions::{Listed, Listing, delete_old, list};
pub use search::{FEATURES, Features, Request as TranscriptRequest, SCORE_ONE as TRANSCRIPT_SCORE_ONE, TranscriptHit, fill_rows, search};
pub(crate) use search::{count_order, has_no_order};
pub use session::{Options, Session, Status, TurnView};
pub use stored_epoch::StoredEpoch;
pub use summary::StoredSummary;
pub use sweep::sweep;
pub(crate) use sweep::{drop_unfinished, sweep_unfinished};
pub use switch::{NewInstructions, SwitchPlan};
pub use task::TaskState;
pub use tasks::TaskEdit;
pub use transcript::message::{MessageRecord, MessageState};
pub(crate) use unread::unread;
pub use versions::InstructionsVersion;
pub use watch::{Reached, WindowWatch};
pub use window::assemble::{Ask, Assembled};
pub use window::bounds::{LearnedModel, StoredAnchor, WindowContent, forget_learned, learned};
pub use window::recount::Kept;
pub use window::request::Candidate;
pub use window::warm::WarmSessions;
pub use writer::{AddAction, Added};
pub use writing::{CheckedReply, MadeSummary, SummaryText, Writing, Written};
