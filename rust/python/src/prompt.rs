//! `PromptCore`: a prompt with its model, as the package's `Prompt` shows it. Nothing is rendered that is not asked for.

use std::ops::Deref;
use std::sync::Arc;

use memspan_engine::context::{Breakpoint, Format, Grant, SectionUse, Shared, render};
use memspan_engine::session::{Assembled, Candidate, Replayed};
use pyo3::prelude::*;

use crate::arguments::{Tokens, calls, reads};
use crate::errors::Pace;
use crate::plain::Objects;
use crate::session::SessionId;
use crate::value::{Hex, Raw, Tuple, as_is, keeps, shows};

shows! {
    Grant as UsedGrant |it| { floor, weight, ceiling = it.most() }
    SectionUse as UsedSection |it| { name = it.name.to_string(), tokens, grant, asked, granted, items }
    Candidate as Explained |it| { section, id, included, why, tokens, score, memory, revision }
    Breakpoint as Breakpoint |it| { segments, tokens, hash = Hex(it.hash), lasting }
    Shared as SharedSegments |it| { segments, tokens, broken_by }
}

#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct PromptCore {
    prompt: Arc<Replayed>,
    /// The session that it is of, for what only the store knows.
    named: Arc<SessionId>,
}
as_is!(PromptCore);

/// A prompt that was given back, with what is known of how it was sent.
pub struct GivenPrompt(Arc<Replayed>);

impl Deref for GivenPrompt {
    type Target = Assembled;

    fn deref(&self) -> &Assembled {
        &self.0.assembled
    }
}

reads! {
    GivenPrompt: |name, value| Ok(Self(Arc::clone(&value.cast::<PromptCore>()?.get().prompt)));
}

keeps! {
    Arc<Replayed> as PromptFacts |it, py| {
        total_tokens = it.assembled.prompt.total_tokens, counted_tokens = it.assembled.prompt.counted_tokens,
        max_input_tokens = it.assembled.prompt.max_input_tokens, max_output_tokens = it.assembled.prompt.max_output_tokens,
        exact = it.assembled.prompt.exact, degraded = it.assembled.degraded.as_deref(), erased = Tuple(it.erased.clone()),
        same_bytes = it.same_bytes, session_id = &*it.assembled.session_id, cache_key = Hex(it.assembled.cache_key),
        model = &*it.assembled.model.name, epoch = it.assembled.epoch,
        format = it.assembled.model.framing.format.name(), prefix_hash = Hex(it.assembled.prompt.prefix_hash()),
        prefix_tokens = it.assembled.prompt.boundary().map_or(0, |boundary| boundary.tokens), digest = Hex(it.assembled.prompt.digest()),
        breakpoints = Tuple(it.assembled.prompt.breakpoints.clone()), sections = Tuple(it.assembled.prompt.sections.clone())
    }
}

impl PromptCore {
    pub fn new(named: &Arc<SessionId>, prompt: impl Into<Replayed>) -> Self {
        Self { named: Arc::clone(named), prompt: Arc::new(prompt.into()) }
    }
}

calls! {
    PromptCore |it, py| (Ok(&it.prompt.assembled), ()) {
        facts() Short |_own| Ok(Arc::clone(&it.prompt));
        costing(tokens as "the provider's count": Tokens) Short |own| Ok(Self::new(&it.named, own.costing(tokens.0)?));
        explained() Short |own| Ok(own.candidates());
        why(id as "a memory's id": String) Waits |own| it.named.own()?.why(own, &id);
        shared_with(other: GivenPrompt) Short |own| Ok(own.prompt.shared_with(&other.prompt));
        body(format: Option<Format>, stream: bool) (Pace::of_prompt(it.prompt.assembled.prompt.total_tokens)) |own|
            own.request(format, None, stream).map(Raw);
        prefix_body(segments: usize) Short |own| Ok(Raw(own.prefix(segments)));
        request(format: Option<Format>, stream: bool, dialect: Option<String>) Short |own|
            Ok(Python::attach(|py| own.request_made(format, dialect.as_deref(), stream, &Objects(py)).map(Bound::unbind)));
        text() Short |own| Ok(render::to_text(&own.prompt));
    }

    fn __len__(&self) -> usize {
        self.prompt.assembled.prompt.segments.len()
    }
}
