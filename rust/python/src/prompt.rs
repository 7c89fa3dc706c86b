//! `PromptCore`: a prompt with its model, as the package's `Prompt` shows it. Nothing is rendered that is not asked for.

use std::sync::Arc;

use memspan_engine::context::render;
use memspan_engine::context::segment::{Body, Segment, SegmentKind, shared_segments};
use memspan_engine::context::{self, Format, Prompt};
use memspan_engine::session::{Assembled, Replayed, format_named};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arguments::{text_of, whole};
use crate::budget::score;
use crate::errors::{Hold, corrupt, run, to_python};
use crate::from_json;
use crate::session::Named;
use crate::value::{Tuple, shows, value};

/// Up to so many tokens a prompt is assembled and rendered in well under a millisecond, and the interpreter is kept.
pub const ATTACHED_TOKENS: u64 = 40_000;

value! {
    /// What rules the size of a section: `memspan.Grant`, as a prompt used it. Private.
    UsedGrant("memspan._core") { floor: u64, weight: u32, ceiling: Option<u64> }
}

value! {
    /// A part of a prompt: what `memspan.working.Section` shows. Private.
    UsedSection("memspan._core") { name: String, tokens: u64, grant: Option<UsedGrant>, asked: u64, granted: u64, items: u64 }
}

value! {
    /// One candidate for a prompt, and what became of it.
    Explained("memspan.working") {
        section: String, id: String, included: bool, why: String, tokens: u64, score: Option<f64>, memory: Option<String>,
        revision: Option<u64>
    }

    fn __str__(&self) -> String {
        let score = self.score.map_or_else(String::new, |score| format!(", score {score:.3}"));
        let fate = if self.included { "included" } else { "left out" };
        format!("{} {}: {fate}, {} tokens{score}: {}", self.section, self.id, grouped(self.tokens), self.why)
    }
}

value! {
    /// A place where a provider may keep what stands before it.
    Breakpoint("memspan.working") { segments: usize, tokens: u64, hash: String, lasting: bool }
}

value! {
    /// Leading segments that two prompts share, their tokens, and what the newer one has where they part. Private.
    SharedSegments("memspan._core") { segments: usize, tokens: u64, broken_by: Option<String> }
}

#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct PromptCore {
    pub assembled: Arc<Assembled>,
    /// The session that it is of, for what only the store knows.
    named: Arc<Named>,
    degraded: Option<String>,
    erased: Vec<String>,
    same_bytes: bool,
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

    fn render(&self, py: Python<'_>, format: Format, dialect: Option<&str>, stream: bool) -> PyResult<String> {
        let hold = if self.prompt().total_tokens > ATTACHED_TOKENS { Hold::Detached } else { Hold::Attached };
        let bytes = run(py, hold, || self.assembled.request(format, dialect, stream))?;
        String::from_utf8(bytes).map_err(|_| corrupt(py, "rendering a prompt: a text in it is not UTF-8: restore the store from a backup"))
    }

    fn format(&self) -> Format {
        self.assembled.model.framing.format
    }
}

shows! {
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
        /// Hash of what stands before the cache boundary.
        prefix_hash: String = hex(it.prompt().prefix_hash());
        /// Its tokens.
        prefix_tokens: u64 = it.prompt().boundary().map_or(0, |boundary| boundary.tokens);
    }

    /// The same prompt, counted by its provider.
    fn costing(&self, tokens: &Bound<'_, PyAny>) -> PyResult<Self> {
        let tokens = whole("the provider's count", tokens, 1, 1 << 40)? as u64;
        Ok(Self {
            named: Arc::clone(&self.named),
            assembled: Arc::new(self.assembled.costing(tokens)),
            degraded: self.degraded.clone(),
            erased: Vec::new(),
            same_bytes: true,
        })
    }

    /// The format that the model's provider takes.
    #[getter(format)]
    fn format_name(&self) -> &'static str {
        self.format().name()
    }

    /// Hash of the whole.
    fn digest(&self) -> String {
        hex(self.prompt().chain.last().copied().unwrap_or_default())
    }

    fn breakpoints(&self) -> Tuple<Breakpoint> {
        let place = |one: &context::Breakpoint| Breakpoint {
            segments: one.segments,
            tokens: one.tokens,
            hash: hex(one.hash),
            lasting: one.lasting,
        };
        self.prompt().breakpoints.iter().map(place).collect()
    }

    fn sections(&self) -> Tuple<UsedSection> {
        self.prompt().sections.iter().map(UsedSection::from).collect()
    }

    fn explained(&self) -> Vec<Explained> {
        let mut rows: Vec<Explained> = self.prompt().explained.iter().map(Explained::from).collect();
        for (index, what) in self.prompt().as_text() {
            let id = index.map_or_else(|| "interrupted result".to_owned(), |index| format!("message {index}"));
            let why = format!("{} is sent as a text that names it: {} takes none", what.join(", "), self.assembled.model.name);
            let section = "history".to_owned();
            rows.push(Explained { section, id, included: true, why, tokens: 0, score: None, memory: None, revision: None });
        }
        rows
    }

    /// Why a memory that is no candidate of it is none, as the store is now.
    fn why(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<String> {
        let id = text_of("a memory's id", id)?;
        self.named.run(py, Hold::Detached, |session| session.why(&self.assembled, &id))
    }

    fn shared_with(&self, other: &Bound<'_, Self>) -> SharedSegments {
        let prompt = self.prompt();
        let same = shared_segments(&prompt.chain, &other.get().prompt().chain).min(prompt.segments.len());
        let tokens: u64 = prompt.segments[..same].iter().map(|segment| segment.tokens).sum();
        SharedSegments { segments: same, tokens: prompt.scale().of(tokens), broken_by: prompt.segments.get(same).map(segment_name) }
    }

    /// The request as JSON bytes; `format` is the model's own by default.
    fn body<'py>(&self, py: Python<'py>, format: Option<&Bound<'py, PyAny>>, stream: bool) -> PyResult<Bound<'py, PyBytes>> {
        let json = self.render(py, self.named(py, format)?, None, stream)?;
        Ok(PyBytes::new(py, json.as_bytes()))
    }

    /// The bytes of an OpenAI request up to the end of so many segments.
    fn prefix_body<'py>(&self, py: Python<'py>, segments: usize) -> Bound<'py, PyBytes> {
        let segments = &self.prompt().segments[..segments.min(self.prompt().segments.len())];
        PyBytes::new(py, &render::openai_prefix(segments, Some(&self.assembled.model.name), self.prompt().shape))
    }

    /// The request as keyword arguments of the provider's SDK.
    #[pyo3(signature = (format, stream, dialect = None))]
    fn request<'py>(
        &self,
        py: Python<'py>,
        format: Option<&Bound<'py, PyAny>>,
        stream: bool,
        dialect: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let json = self.render(py, self.named(py, format)?, dialect, stream)?;
        from_json::decode(py, &json)
    }

    fn text(&self, py: Python<'_>) -> PyResult<String> {
        run(py, Hold::Attached, || Ok(render::to_text(self.prompt())))
    }

    fn __len__(&self) -> usize {
        self.prompt().segments.len()
    }
}

impl PromptCore {
    fn named(&self, py: Python<'_>, format: Option<&Bound<'_, PyAny>>) -> PyResult<Format> {
        let Some(format) = format else { return Ok(self.format()) };
        format_named(&text_of("format", format)?).map_err(|error| to_python(py, &error))
    }
}

impl From<&context::SectionUse> for UsedSection {
    fn from(row: &context::SectionUse) -> Self {
        let grant = row.grant.map(|grant| UsedGrant {
            floor: grant.floor,
            weight: grant.weight,
            ceiling: (grant.ceiling < u64::MAX).then_some(grant.ceiling),
        });
        Self { name: row.name.to_string(), tokens: row.tokens, grant, asked: row.asked, granted: row.granted, items: row.items }
    }
}

impl From<&context::Explained> for Explained {
    fn from(one: &context::Explained) -> Self {
        Self {
            section: one.section.to_string(),
            id: one.id.to_string(),
            included: one.why.is_included(),
            why: one.reason(),
            tokens: one.tokens,
            score: one.score.map(score),
            memory: one.memory.map(|_| one.id.to_string()),
            revision: one.memory.map(|memory| memory.revision),
        }
    }
}

/// A number as people write it: 12,345.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let group = |(at, digit): (usize, char)| (at > 0 && (digits.len() - at).is_multiple_of(3)).then_some(',').into_iter().chain([digit]);
    digits.chars().enumerate().flat_map(group).collect()
}

fn hex(hash: u128) -> String {
    format!("{hash:032x}")
}

fn segment_name(segment: &Segment) -> String {
    match (segment.kind, &segment.body) {
        (SegmentKind::Tools, _) => "tools".to_owned(),
        (SegmentKind::System, _) => "system".to_owned(),
        (SegmentKind::Pinned, _) => "pinned".to_owned(),
        (SegmentKind::Summary, _) => "summary".to_owned(),
        (SegmentKind::Block, _) => "block".to_owned(),
        (SegmentKind::Message, Body::Message(Some(index), _)) => format!("message {index}"),
        (SegmentKind::Message, _) => "interrupted result".to_owned(),
    }
}
