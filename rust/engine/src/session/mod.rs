//! Short-term memory: sessions, their transcripts, epochs and ledgers, on disk.
//!
//! A session is a conversation of one scope. Everything it holds lives in the scope's partition, so one transaction writes a
//! message, its words and the session's state. The rules of a prompt are in [`crate::context`], which opens no store; this
//! module feeds it from a snapshot ([`assemble`]) and keeps what it decides ([`writer`], [`ledger`]).
//!
//! Start reading at [`session::Session`]; `add` and `writer` are what a message goes through, `view` is how a prompt reads it.

#![cfg_attr(test, allow(clippy::unwrap_used))] // a test that unwraps fails, as it should

mod add;
mod assemble;
mod blob;
pub(crate) mod bounds;
mod codec;
pub(crate) mod doctor;
mod edit;
mod fork;
mod lease;
mod ledger;
mod message;
mod open;
mod open_calls;
mod partial;
mod pinned;
mod place;
#[cfg(test)]
mod properties;
mod record;
mod recount;
mod refused;
mod replay;
mod response;
mod retrieved;
mod scope_sessions;
mod search;
#[allow(clippy::module_inception)] // the type is looked for under its name
mod session;
#[cfg(test)]
mod simulation;
mod sweep;
mod task;
mod tasks;
mod usage;
mod view;
mod warm;
mod words;
mod writer;

pub use add::{MAX_MESSAGE_BYTES, NewMessage};
pub use assemble::{Ask, Assembled};
pub use bounds::{LearnedModel, StoredAnchor, WindowContent, forget_learned, learned};
pub use lease::Lease;
pub use ledger::{Call, SentPrompt};
pub use message::{MessageRecord, MessageState};
pub use open_calls::OpenCall;
pub use partial::PartialReply;
pub use place::Place;
pub use record::{SessionBudget, SessionRecord, SessionState, StoredEpoch};
pub use recount::Kept;
pub use refused::Refusal;
pub use replay::Replayed;
pub use response::{Response, UsageTokens};
pub use scope_sessions::{Listed, list};
pub use search::{FEATURES, Features, SCORE_ONE as TRANSCRIPT_SCORE_ONE, TranscriptHit, fill_rows, search};
pub use session::{Options, Replied, ResultText, Session, Status, StoredMessage, SwitchPlan, TurnView, format_named};
pub use sweep::sweep;
pub use task::TaskState;
pub use tasks::TaskEdit;
pub use usage::{CallUsage, Fill};
pub use warm::WarmSessions;
pub use writer::{AddAction, Added};
