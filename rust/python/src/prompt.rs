//! `PromptCore`: a prompt with its model, as the package's `Prompt` shows it. Nothing is rendered that is not asked for.

use std::sync::Arc;

use memspan_engine::context::{Breakpoint, Format, Grant, Prompt, SectionUse, Shared, render};
use memspan_engine::session::{Assembled, Candidate, Replayed};
use memspan_engine::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arguments::{Argument, Tokens};
use crate::errors::{Hold, run};
use crate::from_json;
use crate::session::Named;
use crate::value::{Hex, Show, Tuple, plain, properties, shows};

/// Up to so many tokens a prompt is assembled and rendered in well under a millisecond, and the interpreter is kept.
pub const ATTACHED_TOKENS: u64 = 40_000;

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
    assembled: Arc<Assembled>,
    /// The session that it is of, for what only the store knows.
    named: Arc<Named>,
    degraded: Option<String>,
    erased: Vec<String>,
    same_bytes: bool,
}
plain!(PromptCore);

impl<'py> Argument<'py> for Arc<Assembled> {
    fn read(_: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        Ok(Arc::clone(&value.cast::<PromptCore>()?.get().assembled))
    }
}

impl PromptCore {
    /// A prompt that was assembled now; `degraded` is what the embedder did, if it failed.
    pub fn assembled(named: &Arc<Named>, assembled: Assembled, degraded: Option<&str>) -> Self {
        let why = assembled.degraded.as_deref().map(|why| degraded.unwrap_or(why).to_owned());
        Self { named: Arc::clone(named), assembled: Arc::new(assembled), degraded: why, erased: Vec::new(), same_bytes: true }
    }

    /// A prompt that was sent once.
    pub fn replayed(named: &Arc<Named>, replayed: Replayed) -> Self {
        let Replayed { assembled, erased, same_bytes } = replayed;
        Self { named: Arc::clone(named), assembled: Arc::new(assembled), degraded: None, erased, same_bytes }
    }

    fn prompt(&self) -> &Prompt {
        &self.assembled.prompt
    }

    /// The request as JSON; `format` is the model's own by default.
    fn render(&self, py: Python<'_>, format: &Bound<'_, PyAny>, dialect: Option<&str>, stream: bool) -> PyResult<String> {
        let format = Option::<Format>::read("format", format)?.unwrap_or(self.assembled.model.framing.format);
        let hold = if self.prompt().total_tokens > ATTACHED_TOKENS { Hold::Detached } else { Hold::Attached };
        let damaged =
            |_| Error::new(ErrorKind::StoreCorrupt, "rendering a prompt: a text in it is not UTF-8: restore the store from a backup");
        run(py, hold, || String::from_utf8(self.assembled.request(format, dialect, stream)?).map_err(damaged))
    }
}

properties! {
    PromptCore |it| {
        total_tokens: u64 = it.prompt().total_tokens;
        /// What the counter said, by the reference encoding where the tokenizer is closed.
        counted_tokens: u64 = it.prompt().counted_tokens;
        max_input_tokens: u64 = it.prompt().max_input_tokens;
        max_output_tokens: u64 = it.prompt().max_output_tokens;
        exact: bool = it.prompt().exact;
        degraded: Option<&str> = it.degraded.as_deref();
        erased: Vec<String> = it.erased.clone();
        same_bytes: bool = it.same_bytes;
        session_id: &str = &it.assembled.session_id;
        model: &str = &it.assembled.model.name;
        epoch: u64 = it.assembled.epoch;
        /// The format that the model's provider takes.
        format: &'static str = it.assembled.model.framing.format.name();
        /// Hash of what stands before the cache boundary.
        prefix_hash: Hex = Hex(it.prompt().prefix_hash());
        /// Its tokens.
        prefix_tokens: u64 = it.prompt().boundary().map_or(0, |boundary| boundary.tokens);
        /// Hash of the whole.
        digest: Hex = Hex(it.prompt().digest());
    }

    /// The same prompt, counted by its provider.
    fn costing(&self, py: Python<'_>, tokens: &Bound<'_, PyAny>) -> PyResult<Self> {
        let tokens = Tokens::read("the provider's count", tokens)?.0;
        let counted = run(py, Hold::Attached, || self.assembled.costing(tokens))?;
        let (named, degraded) = (Arc::clone(&self.named), self.degraded.clone());
        Ok(Self { named, assembled: Arc::new(counted), degraded, erased: Vec::new(), same_bytes: true })
    }

    fn breakpoints<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Tuple(self.prompt().breakpoints.clone()).show(py)
    }

    fn sections<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Tuple(self.prompt().sections.clone()).show(py)
    }

    fn explained<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.assembled.candidates().show(py)
    }

    /// Why a memory that is no candidate of it is none, as the store is now.
    fn why(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<String> {
        let id = String::read("a memory's id", id)?;
        self.named.run(py, Hold::Detached, |session| session.why(&self.assembled, &id))
    }

    fn shared_with<'py>(&self, py: Python<'py>, other: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        self.prompt().shared_with(other.get().prompt()).show(py)
    }

    fn body<'py>(&self, py: Python<'py>, format: &Bound<'py, PyAny>, stream: bool) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.render(py, format, None, stream)?.as_bytes()))
    }

    /// The bytes of an OpenAI request up to the end of so many segments.
    fn prefix_body<'py>(&self, py: Python<'py>, segments: usize) -> Bound<'py, PyBytes> {
        let segments = &self.prompt().segments[..segments.min(self.prompt().segments.len())];
        PyBytes::new(py, &render::openai_prefix(segments, Some(&self.assembled.model.name), self.prompt().shape))
    }

    /// The request as keyword arguments of the provider's SDK.
    #[pyo3(signature = (format, stream, dialect = None))]
    fn request<'py>(&self, py: Python<'py>, format: &Bound<'py, PyAny>, stream: bool, dialect: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        from_json::decode(py, &self.render(py, format, dialect, stream)?)
    }

    fn text(&self, py: Python<'_>) -> PyResult<String> {
        run(py, Hold::Attached, || Ok(render::to_text(self.prompt())))
    }

    fn __len__(&self) -> usize {
        self.prompt().segments.len()
    }
}
