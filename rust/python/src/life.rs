//! The life of a memory, as the package calls it: screening, what the gate claims, how far a session was learnt from, relations.

use memspan_engine::gate::{self, Claim};
use memspan_engine::life::cluster;
use memspan_engine::memory::{self, LearnMark, Learning, NewMemory, Provenance};
use memspan_engine::text::screening::{self, Screening, Sensitive};
use pyo3::prelude::*;

use crate::arguments::{Argument, checked, field, functions};
use crate::memory::Memory;
use crate::rows::Draft;
use crate::value::{Moment, shows};

/// A message to be judged.
pub struct Heard {
    pub role: String,
    pub text: String,
    pub at: Option<Moment>,
}

impl<'py> Argument<'py> for Heard {
    fn read(_: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        let text = String::read("a message's text", &value.getattr("text")?)?;
        Ok(Self { role: field(value, "role")?, text, at: Argument::read("created_at", &value.getattr("at")?)? })
    }
}

/// What a message claims.
pub struct Judged {
    pub index: usize,
    pub text: String,
    pub claim: Claim,
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

shows! {
    Judged as Judged |it| {
        index, category = it.claim.category.name(), span = (letters(&it.text, it.claim.span.0), letters(&it.text, it.claim.span.1)),
        importance = f64::from(it.claim.importance) / 1000.0, confidence = f64::from(it.claim.confidence) / 1000.0, text = it.claim.text,
        slot = it.claim.slot, replaces = it.claim.replaces, ends = it.claim.ends, reason = it.claim.reason, doubt = it.claim.doubt
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

/// What a draft says of others, and where it comes from.
pub struct Beside(Provenance, Learning);

impl<'py> Argument<'py> for Beside {
    fn read(_: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        let (session, message, writer) = (field(value, "session")?, field(value, "message")?, field(value, "writer")?);
        let learning =
            Learning { near: Vec::new(), replaces: field(value, "replaces")?, ends: field(value, "ends")?, doubt: field(value, "doubt")? };
        Ok(Self(Provenance { session, message, writer, ..Provenance::default() }, learning))
    }
}

impl Beside {
    pub fn claim(self, draft: &Draft) -> NewMemory {
        NewMemory { provenance: self.0, learning: Some(Box::new(self.1)), ..draft.new.clone() }
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
        checked(value, Self::named(&field::<String>(value, "secrets")?, &field::<String>(value, "personal_data")?))
    }
}

functions! { |py|
    screen(text: String) Short => Ok(screening::screen(&text).into_iter().map(|one| Part(&text, one)).collect::<Vec<_>>());
    screened(text: String, secrets: String, personal_data: String) Short => {
        let (left, types) = Screening::named(&secrets, &personal_data)?.leaves(&text);
        Ok((left, types.into_iter().map(Sensitive::name).collect::<Vec<_>>()))
    };
    gate_features(text: String, before: String) Short => Ok(gate::described(&text, &before));
    dbscan(vectors: Vec<Vec<f64>>, closeness: f64, min_points: usize) Waits => {
        let rows: Vec<Vec<f32>> = vectors.iter().map(|row| row.iter().map(|x| *x as f32).collect()).collect();
        cluster::dbscan_of_rows(&rows, closeness, min_points)
    };
}
