//! The state around a call of a model: the lease of a session, the partial reply, waiting tool calls, refusals.

pub(super) mod lease;
pub(super) mod open_calls;
pub(super) mod partial;
pub(super) mod refused;
