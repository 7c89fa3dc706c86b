//! The life of a memory, as the package calls it: screening, what the gate claims, how far a session was learnt from, relations.

use memspan_engine::gate::{self, Category, Claim, Heard, Speaker};
use memspan_engine::life::cluster::{Points, dbscan as cluster_of_each};
use memspan_engine::life::judgement::{Decided, Judgement, Placed, Writer};
use memspan_engine::memory::{self, LearnMark};
use memspan_engine::text::screening::{self, Detected, Screened, Screening, Treatment};
use pyo3::prelude::*;

use crate::arguments::{Argument, checked, extracted, field};
use crate::errors::{Pace, run};
use crate::memory::{Memory, Remembered};
use crate::value::{Moment, Show, as_is, shows};

/// A message to be judged.
pub struct Said(pub Heard);

impl<'py> Argument<'py> for Said {
    fn read(_: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        let speaker = Speaker::of_role(&field::<String>(value, "role")?);
        let text = gate::without_blocks(&field::<String>(value, "text")?).into_owned();
        let at = field::<Option<Moment>>(value, "at")?.map(|at| at.0);
        Ok(Self(Heard { index: field(value, "index")?, speaker, text, at, added_at: None }))
    }
}

/// What is to become of a page of messages. Frozen: whoever checks it makes another one of it.
#[pyclass(frozen, module = "memspan._core")]
pub struct Judged(pub Judgement);
as_is!(Judged);
extracted!(Py<Judged>);

#[pymethods]
impl Judged {
    /// The decisions as planned, in the order of the conversation.
    fn decisions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.decided(Vec::new()).show(py)
    }

    /// Why each of them must be approved first, where it must.
    fn doubts(&self) -> Vec<Option<&str>> {
        self.0.claims().iter().map(|placed| placed.claim.doubt).collect()
    }

    /// The messages.
    fn heard<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.heard().iter().collect::<Vec<_>>().show(py)
    }

    /// Places of the decisions that are to be stored and rest on the assistant's words.
    fn of_assistant(&self) -> Vec<usize> {
        let wanted = |placed: &Placed| placed.is_wanted() && self.0.message(placed).speaker == Speaker::Assistant;
        (0..).zip(self.0.claims()).filter(|(_, placed)| wanted(placed)).map(|(at, _)| at).collect()
    }

    /// Of each decision that is to be stored where it comes from.
    fn wanted<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.wanted().map(|placed| Wanted(placed, self.0.message(placed))).collect::<Vec<_>>().show(py)
    }

    /// Their texts.
    fn wanted_texts(&self) -> Vec<&str> {
        self.0.wanted().map(|placed| placed.claim.text.as_str()).collect()
    }

    /// The same with some decisions discarded.
    fn without(&self, decisions: Vec<usize>, reason: &str) -> Self {
        Self(self.0.without(&decisions, reason))
    }

    /// Those at these places, and those that a model made.
    fn refined(&self, kept: Vec<usize>, added: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        Ok(Self(self.0.refined(&kept, added.iter().map(|one| self.of_model(one)).collect::<PyResult<_>>()?)))
    }
}

impl Judged {
    /// Each decision with what was done.
    pub fn decided(&self, done: Vec<Remembered>) -> Vec<Decision> {
        let spanned = |one: Decided<Remembered>| {
            let (heard, (start, end)) = (self.0.message(&one.placed), one.placed.claim.span);
            Decision { index: heard.index, span: (letters(&heard.text, start), letters(&heard.text, end)), decided: one }
        };
        self.0.decided(done).into_iter().map(spanned).collect()
    }

    fn of_model(&self, accepted: &Bound<'_, PyAny>) -> PyResult<Placed> {
        let (decision, place) = (accepted.getattr("decision")?, field::<usize>(accepted, "place")?);
        let like = field::<Option<usize>>(accepted, "like")?;
        let text = self.0.heard().get(place).map_or("", |heard| heard.text.as_str());
        let (start, end): (usize, usize) = decision.getattr("span")?.extract()?;
        let thousandths = |name: &str| -> PyResult<u16> { Ok((field::<f64>(&decision, name)? * 1000.0).round() as u16) };
        let claim = Claim {
            category: Category::of_kind(&field::<String>(&decision, "category")?).unwrap_or(Category::Episodic),
            text: field(&decision, "text")?,
            slot: field(&decision, "slot")?,
            replaces: None,
            ends: None,
            importance: thousandths("importance")?,
            confidence: thousandths("confidence")?,
            span: (byte_at(text, start), byte_at(text, end)),
            reason: field(&decision, "reason")?,
            doubt: like.and_then(|at| self.0.claims().get(at)).and_then(|placed| placed.claim.doubt),
        };
        Ok(Placed { place, claim, writer: Writer::Model })
    }
}

/// A claim that is to be stored, and its message.
struct Wanted<'a>(&'a Placed, &'a Heard);

/// What became of a claim, with the letters that it rests on.
pub struct Decision {
    index: u64,
    span: (usize, usize),
    decided: Decided<Remembered>,
}

impl Decision {
    fn action(&self) -> &'static str {
        self.decided.done.as_ref().map_or_else(|| self.decided.placed.plan(), |done| done.action.name())
    }

    fn reason(&self) -> String {
        let planned = &self.decided.placed.claim.reason;
        let done = self.decided.done.as_ref().and_then(|done| done.reason.as_deref());
        let done = done.filter(|done| !planned.ends_with(done));
        done.map_or_else(|| planned.clone(), |done| format!("{planned}; {done}"))
    }
}

/// Where on a session is to be learnt from, its mark, and what it is now.
pub struct LearnState {
    pub first: u64,
    pub before: LearnMark,
    pub now: LearnMark,
}

/// Memories that are near each other, and the groups of them that rules merge.
pub struct Cluster {
    pub memories: Vec<Memory>,
    pub groups: Vec<(Vec<usize>, usize)>,
}

/// Memories of a cluster that say the same, by their places, and the place that stands for them.
struct Group(Vec<usize>, usize);

/// A part of a text that is a secret or personal, with the text.
struct Part<'a>(&'a str, screening::Finding);

/// How many letters a text has before a byte.
fn letters(text: &str, to: usize) -> usize {
    text[..to].chars().count()
}

/// The byte at which a letter begins; the end of the text behind its last.
fn byte_at(text: &str, letter: usize) -> usize {
    text.char_indices().nth(letter).map_or(text.len(), |(at, _)| at)
}

shows! {
    &Heard as HeardLine |it| { index, role = it.speaker.name(), text = it.text.as_str() }
    Wanted<'_> as Wanted |it| {
        place = it.0.place, index = it.1.index, added_at = it.1.added_at.map(Moment), begin = letters(&it.1.text, it.0.claim.span.0)
    }
    Decision as Decision |it| {
        action = it.action(), category = it.decided.placed.claim.category.name(), text = it.decided.placed.claim.text.as_str(),
        slot = it.decided.placed.claim.slot.as_deref(), importance = f64::from(it.decided.placed.claim.importance) / 1000.0,
        confidence = f64::from(it.decided.placed.claim.confidence) / 1000.0, index = it.index, span = it.span, reason = it.reason(),
        memory = it.decided.done.map(|done| done.memory)
    }
    LearnMark as Mark |it| { next, edits, created_at }
    LearnState as LearnState |it| { first, before, now }
    Cluster as FoundCluster |it| {
        memories, groups = it.groups.into_iter().map(|(places, stands)| Group(places, stands)).collect::<Vec<_>>()
    }
    Group as Group |it| { places = it.0, stands = it.1 }
    Part<'_> as SensitivePart |it| { what = it.1.what.name(), start = letters(it.0, it.1.start), end = letters(it.0, it.1.end) }
    (memory::Relation, Option<String>) as Relation |it| {
        subject = it.0.subject, relation = it.0.relation, object = it.0.object, since = Moment(it.0.since), until = it.0.until.map(Moment),
        memory_id = it.1
    }
}

/// A session that claims come from: how far it was learnt from before, and after.
pub struct LearnedFrom(pub (String, LearnMark, LearnMark));

impl<'py> Argument<'py> for LearnedFrom {
    fn read(_: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        let mark = |name: &str| -> PyResult<LearnMark> {
            let mark = value.getattr(name)?;
            Ok(LearnMark { next: field(&mark, "next")?, edits: field(&mark, "edits")?, created_at: mark.getattr("created_at")?.extract()? })
        };
        Ok(Self((field(value, "session")?, mark("before")?, mark("after")?)))
    }
}

/// A `memspan.Policy`, as far as the engine carries it out.
impl<'py> Argument<'py> for Screening {
    fn read(_: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        let treatment = |name| {
            let given = value.getattr(name)?;
            checked(&given, Treatment::parse(name, &String::read(name, &given)?))
        };
        Ok(Self { secrets: treatment("secrets")?, personal_data: treatment("personal_data")?, detected: treatment("detected")? })
    }
}

/// A part of a text that a detector found, in letters.
pub struct Found(usize, usize, String);

impl<'py> Argument<'py> for Found {
    fn read(_: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        Ok(Self(field(value, "start")?, field(value, "end")?, field(value, "what")?))
    }
}

/// What detectors found in a text; `None` where none was asked.
pub type FoundParts = Option<Vec<Found>>;

/// The same in bytes.
pub fn detected(text: &str, found: FoundParts) -> Vec<Detected> {
    let in_bytes = |Found(start, end, what)| Detected { what, start: byte_at(text, start), end: byte_at(text, end) };
    found.into_iter().flatten().map(in_bytes).collect()
}

/// Secrets and personal data in a text.
#[pyfunction]
pub fn screen<'py>(text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let given = String::read("text", text)?;
    screening::screen(&given).into_iter().map(|one| Part(&given, one)).collect::<Vec<_>>().show(text.py())
}

/// A text as a policy leaves it, and the types that it minded; `None` where nothing of it may be stored.
#[pyfunction]
#[pyo3(signature = (text, policy, found=None))]
pub fn screened(
    text: &Bound<'_, PyAny>,
    policy: &Bound<'_, PyAny>,
    found: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Option<String>, Vec<String>)> {
    let (policy, text, found) = (
        Screening::read("policy", policy)?,
        String::read("text", text)?,
        found.map_or(Ok(None), |found| FoundParts::read("found", found))?,
    );
    Ok(match policy.apply(&text, &detected(&text, found)) {
        Screened::Clean => (Some(text), Vec::new()),
        Screened::Redacted(left, types) => (Some(left), types),
        Screened::Rejected(types) => (None, types),
    })
}

/// What the gate's models see of a message: names of features, and numbers. For whoever fits their weights.
#[pyfunction]
pub fn gate_features(text: &Bound<'_, PyAny>, before: &Bound<'_, PyAny>) -> PyResult<(Vec<String>, Vec<f64>)> {
    Ok(gate::described(&String::read("text", text)?, &String::read("before", before)?))
}

/// DBSCAN over rows of float32, as `consolidate` runs it: the cluster of each, `None` for noise.
#[pyfunction]
pub fn dbscan(py: Python<'_>, vectors: Vec<Vec<f32>>, closeness: f64, min_points: usize) -> PyResult<Vec<Option<u32>>> {
    run(py, Pace::Waits, || {
        let mut points = Points::new(vectors.first().map_or(0, Vec::len));
        for vector in &vectors {
            points.push(vector);
        }
        cluster_of_each(&points, closeness, min_points)
    })
}
