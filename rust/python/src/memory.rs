//! Memories as Python reads them: one revision, and what became of a write.

use std::sync::Arc;

use memspan_engine::Result;
use memspan_engine::engine::Engine;
use memspan_engine::memory::{self, Action, Named};
use memspan_engine::scope::Scope;

use crate::value::{Attached, Moment, keeps};

/// One revision of a memory.
#[derive(Clone)]
pub struct Memory(pub Arc<Named>);

/// What became of a write.
pub struct Remembered {
    pub action: Action,
    pub memory: Memory,
    pub reason: Option<String>,
}

impl Memory {
    pub fn new(named: Named) -> Self {
        Self(Arc::new(named))
    }

    fn inner(&self) -> &memory::Memory {
        &self.0.memory
    }
}

impl Remembered {
    /// The answers to the writes of one batch, their ids looked up in one snapshot.
    pub fn several(engine: &Engine, scope: &Scope, remembered: Vec<memory::Remembered>) -> Result<Vec<Self>> {
        let (whys, memories): (Vec<_>, _) = remembered.into_iter().map(|one| ((one.action, one.reason), one.memory)).unzip();
        let named = engine.named(scope, memories)?.into_iter().map(Memory::new);
        Ok(whys.into_iter().zip(named).map(|((action, reason), memory)| Self { action, memory, reason }).collect())
    }

    /// The answer to a write, its ids looked up.
    pub fn new(engine: &Engine, scope: &Scope, remembered: memory::Remembered) -> Result<Self> {
        let memory = Memory::new(engine.named_one(scope, remembered.memory)?);
        Ok(Self { action: remembered.action, memory, reason: remembered.reason })
    }
}

keeps! {
    Memory as Memory |it, py| {
        id = &*it.0.id, text = &*it.inner().text, kind = it.inner().kind.name(), slot = it.inner().slot.as_deref(),
        importance = it.inner().importance, confidence = it.inner().confidence, trust = it.inner().trust, source = &*it.inner().source,
        revision = it.inner().revision, sequence = it.inner().sequence,
        created_at = Moment(it.inner().created_at), known_from = Moment(it.inner().known_from),
        known_until = it.inner().ending.as_ref().map(|ending| Moment(ending.known_until)),
        occurred_at = Moment(it.inner().occurred_at),
        valid_until = it.inner().ending.as_ref().map(|ending| Moment(ending.valid_until)),
        expires_at = it.inner().expires_at.map(Moment), metadata = Attached(it.inner().metadata.clone()),
        state = it.inner().state().name(), reason = it.inner().ending.as_ref().and_then(|ending| ending.reason.as_deref()),
        supersedes = it.0.supersedes.as_deref(), superseded_by = it.0.superseded_by.as_deref(),
        session = it.inner().provenance.session.as_deref(), message = it.inner().provenance.message,
        writer = it.inner().provenance.writer.as_deref(), derived_from = it.0.derived_from.clone(), disputes = it.0.disputes.clone(),
        reinforced = it.inner().provenance.reinforced, last_seen = Moment(it.inner().last_seen()),
        access_count = it.0.access.recalls, last_recalled_at = it.0.access.last_at().map(Moment), _number = it.inner().number
    }
    Remembered as Remembered |it, py| { action = it.action.name(), memory = it.memory.clone(), reason = it.reason.as_deref() }
}
