//! The life of a memory, as the package calls it: screening, what the gate claims, how far a session was learnt from, relations.

use memspan_engine::gate::{self, Category, Heard};
use memspan_engine::life::cluster::{self, Points};
use memspan_engine::life::consolidate::{Cluster, Group};
use memspan_engine::life::judgement::{Decision, Judgement, ModelClaim, Wanted};
use memspan_engine::memory::{self, LearnMark};
use memspan_engine::text::screening::{Detected, Screening, Treatment};
use pyo3::prelude::*;

use crate::arguments::{calls, checked, field, functions, holds, moment, reads};
use crate::value::{Moment, shows};
use crate::vectors::Numbers;

holds! {
    /// The decisions on a page of messages. A check makes another value of it.
    Judged(Judgement);
}

calls! {
    Judged |it, py| (Ok(&it.0), ()) {
        decisions() Short |own| Ok(own.decisions(Vec::new()));
        doubts() Short |own| Ok(own.claims().iter().map(|placed| placed.claim.doubt).collect::<Vec<_>>());
        heard() Short |own| Ok(own.heard().to_vec());
        of_assistant() Short |own| Ok(own.of_assistant());
        wanted() Short |own| Ok(own.wanted_by_name());
        wanted_texts() Short |own| Ok(own.wanted().map(|placed| placed.claim.text.as_str()).collect::<Vec<_>>());
        without(decisions: Vec<usize>, reason: String) Short |own| Ok(Self(own.without(&decisions, &reason)));
        refined(kept: Vec<usize>, added: Vec<ModelClaim>) Short |own| Ok(Self(own.refined(&kept, added)));
        times() Short |own| Ok(own.times().map(Moment).collect::<Vec<_>>());
        by_clocks(clocks: Vec<Moment>) Waits |own| Ok(Self(own.by_clocks(&clocks.iter().map(|at| at.0).collect::<Vec<_>>())));
    }
}

shows! {
    Heard as HeardLine |it| { index, role = it.speaker.name(), by, text }
    Wanted<'_> as Wanted |it| {
        place, index = it.message.index, added_at = it.message.added_at.map(Moment), begin, origin = it.message.origin.as_deref()
    }
    Decision as Decision |it| { action, category = it.category.name(), text, slot, importance, confidence, index, span, reason, memory }
    LearnMark as Mark |it| { next, edits, created_at }
    (u64, LearnMark, LearnMark) as LearnState |it| { first = it.0, before = it.1, now = it.2 }
    Cluster as FoundCluster |it| { memories, groups }
    Group as Group |it| { places, stands }
    Detected as SensitivePart |it| { what, start, end }
    (memory::Relation, Option<String>) as Relation |it| {
        subject = it.0.subject, relation = it.0.relation, object = it.0.object, since = Moment(it.0.since), until = it.0.until.map(Moment),
        memory_id = it.1
    }
}

/// A session that claims come from: how far it was learnt from before, and after.
pub struct LearnedFrom(pub (String, LearnMark, LearnMark));

reads! {
    Heard: |name, value|
        Ok(Self::new(field(value, "index")?, &field::<String>(value, "role")?, &field::<String>(value, "text")?, moment(value, "at")?)
            .said_by(field(value, "by")?));
    ModelClaim: |name, value| {
        let decision = value.getattr("decision")?;
        Ok(Self {
            place: field(value, "place")?, like: field(value, "like")?,
            category: checked(value, Category::of_kind(&field::<String>(&decision, "category")?))?,
            text: field(&decision, "text")?, slot: field(&decision, "slot")?, importance: field(&decision, "importance")?,
            confidence: field(&decision, "confidence")?, span: field(&decision, "span")?, reason: field(&decision, "reason")?,
        })
    };
    LearnMark: |name, value|
        Ok(Self { next: field(value, "next")?, edits: field(value, "edits")?, created_at: value.getattr("created_at")?.extract()? });
    LearnedFrom: |name, value| Ok(Self((field(value, "session")?, field(value, "before")?, field(value, "after")?)));
    // A `memspan.Policy`, as far as the engine carries it out.
    Screening: |name, value| {
        let treatment = |name| checked(value, Treatment::parse(name, &field::<String>(value, name)?));
        Ok(Self { secrets: treatment("secrets")?, personal_data: treatment("personal_data")?, detected: treatment("detected")? })
    };
    Detected: |name, value| Ok(Self { start: field(value, "start")?, end: field(value, "end")?, what: field(value, "what")? });
}

functions! { |py|
    /// Secrets and personal data in a text.
    screen(text: String) (crate::errors::Pace::of_text(&text)) => Ok(Detected::in_text(&text));
    /// A text as a policy leaves it, and the types that it minded; `None` where nothing of it may be stored.
    screened(text: String, policy: Screening, found: Option<Vec<Detected>>)
        (crate::errors::Pace::of_text(&text)) => Ok(policy.left(text, &found.unwrap_or_default()));
    /// A message as the gate's models see it: names of features, and numbers. It is for fitting their weights.
    gate_features(text: String, before: String) Short => Ok(gate::described(&text, &before));
    /// DBSCAN over rows of float32, as `consolidate` runs it: the cluster of each, `None` for noise.
    dbscan(vectors: Numbers, closeness: f64, min_points: usize) Waits => {
        cluster::dbscan(&Points::of_rows(&vectors.values, vectors.dimensions()), closeness, min_points)
    };
}
