//! What stands around a call of a model: who answers a session, what came of a reply so far, which calls wait, what was refused.

pub(super) mod lease;
pub(super) mod open_calls;
pub(super) mod partial;
pub(super) mod refused;
