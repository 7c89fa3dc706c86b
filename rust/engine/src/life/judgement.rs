//! The decisions on a page of messages: their claims as the gate reads them, sent where the policy says, until one write stores them.
//!
//! A judgement is a value. A check (against the texts of a prompt, or with a language model) makes another value of it.

use std::iter;
use std::sync::Arc;

use crate::Result;
use crate::gate::{self, Category, Change, Claim, Heard, Speaker, judge_among};
use crate::memory::{Answered, Core, Kind, Learning, Moved, Named, NewMemory, Provenance};
use crate::scope::{Scope, ScopeType};
use crate::store::keys::Partition;
use crate::text::screening::{Detected, Screening};
use crate::units::calendar::DAY;
use crate::units::clip::{byte_of, chars_before};

/// Who read a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    /// The gate.
    Rules,
    /// A model of language.
    Model,
}

impl Writer {
    /// Its name in the provenance of a memory.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::Model => "model",
        }
    }
}

/// A claim, and the message that it rests on by its place among those that were heard.
#[derive(Debug, Clone)]
pub struct Placed {
    /// The place.
    pub place: usize,
    /// The claim.
    pub claim: Claim,
    /// Who read it.
    pub writer: Writer,
}

impl Placed {
    /// The plan: "added", "quarantined" or "discarded".
    #[must_use]
    pub fn plan(&self) -> &'static str {
        match (self.is_wanted(), self.claim.doubt) {
            (false, _) => "discarded",
            (true, None) => "added",
            (true, Some(_)) => "quarantined",
        }
    }

    /// Whether it is to be stored, if only for approval.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.claim.category != Category::Discard
    }

    fn discard(&mut self, reason: &str) {
        self.claim.category = Category::Discard;
        reason.clone_into(&mut self.claim.reason);
    }

    /// A doubted claim says why. Where it is dropped, that is the reason.
    fn doubted(mut self, discards: bool) -> Self {
        match self.claim.doubt {
            Some(doubt) if discards => self.discard(doubt),
            Some(doubt) if !self.claim.reason.ends_with(doubt) => {
                self.claim.reason.push_str("; ");
                self.claim.reason.push_str(doubt);
            }
            _ => {}
        }
        self
    }
}

/// The outcome of a claim, or its plan, for the caller.
#[derive(Debug, Clone)]
pub struct Decision {
    /// The action: that of the write, or the plan ([`Placed::plan`]).
    pub action: &'static str,
    /// The category of the claim.
    pub category: Category,
    /// The stored text; where nothing is stored, the words themselves.
    pub text: String,
    /// The attribute that it gives a value to.
    pub slot: Option<String>,
    /// From 0 to 1.
    pub importance: f64,
    /// From 0 to 1.
    pub confidence: f64,
    /// The message's place in the conversation.
    pub index: u64,
    /// The characters of the message that it rests on.
    pub span: (usize, usize),
    /// Which rule, or why nothing is stored.
    pub reason: String,
    /// The memory, where one was stored or stood there already.
    pub memory: Option<Arc<Named>>,
}

/// A claim that is to be stored, by what names it: the place of its message among those heard, the message, and its first character.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The place.
    pub place: usize,
    /// The message.
    pub message: &'a Heard,
    /// The first character of the message that the claim rests on.
    pub begin: usize,
}

/// A claim that a model of language read.
#[derive(Debug, Clone)]
pub struct ModelClaim {
    /// The place of its message among those that were heard.
    pub place: usize,
    /// The place of the rules' claim whose doubt it shares, or whose place it takes.
    pub like: Option<usize>,
    /// Its category.
    pub category: Category,
    /// The claim to be stored.
    pub text: String,
    /// The attribute that it gives a value to.
    pub slot: Option<String>,
    /// From 0 to 1.
    pub importance: f64,
    /// From 0 to 1.
    pub confidence: f64,
    /// The characters of the message that it rests on.
    pub span: (usize, usize),
    /// The model's name and its reason.
    pub reason: String,
}

/// Where messages were read: what is learnt from them is stored only where all of that is as it was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadFrom {
    /// The scope's partition; `None` where it had none.
    pub partition: Option<Partition>,
    /// The session's number, its count of changes, and when it was made; `None` for messages of no session.
    pub session: Option<(u32, u64, i64)>,
}

/// The messages of a page, and their claims in order.
#[derive(Debug, Clone)]
pub struct Judgement {
    heard: Arc<Vec<Heard>>,
    claims: Vec<Placed>,
    how: How,
    from: ReadFrom,
}

/// How messages were judged: from which on, whether nothing waits for approval, and when that was.
#[derive(Debug, Clone, Copy)]
struct How {
    first: usize,
    discards: bool,
    now: i64,
}

impl Judgement {
    /// The claims of messages from `first` on. The ones before are read for their questions. With `discards` nothing waits for approval.
    #[must_use]
    pub fn of(heard: Vec<Heard>, first: usize, discards: bool, now: i64) -> Self {
        Self::judged(Arc::new(heard), How { first, discards, now }, &[])
    }

    /// `clocks` has of each message what the speaker's clock showed; where there is none, that was UTC.
    fn judged(heard: Arc<Vec<Heard>>, how: How, clocks: &[i64]) -> Self {
        let at = |place: usize| clocks.get(place).copied().or(heard[place].at).unwrap_or(how.now);
        let placed = |place| move |claim| Placed { place, claim, writer: Writer::Rules };
        let claimed = |place: usize| judge_among(&heard, place, at(place)).into_iter().map(told(&heard[place])).map(placed(place));
        let claims = (how.first..heard.len()).flat_map(claimed).map(|placed| placed.doubted(how.discards)).collect();
        Self { heard, claims, how, from: ReadFrom::default() }
    }

    /// When each message was said; those of which nobody knows, when they were judged.
    pub fn times(&self) -> impl Iterator<Item = i64> {
        self.heard.iter().map(|heard| heard.at.unwrap_or(self.how.now))
    }

    /// This judgement made again, with "tomorrow" as the speakers' clocks have it: `clocks` are the times that they showed at each message,
    /// as if those were UTC.
    #[must_use]
    pub fn by_clocks(&self, clocks: &[i64]) -> Self {
        Self { from: self.from, ..Self::judged(Arc::clone(&self.heard), self.how, clocks) }
    }

    /// A judgement of messages for an open store, which counts what was judged. All user messages in the scope of one user are that user's,
    /// whatever name they have.
    #[must_use]
    pub fn noted(engine: &Core, scope: &Scope, from: ReadFrom, mut heard: Vec<Heard>, first: usize, discards: bool, now: i64) -> Self {
        if scope.scope_type == ScopeType::User {
            for heard in &mut heard {
                heard.by = None;
            }
        }
        let judged = Self { from, ..Self::of(heard, first, discards, now) };
        engine.note_judged(judged.claims.iter().map(|placed| placed.claim.category));
        judged
    }

    /// A judgement of messages that a program gave for a scope; an open store counts it.
    pub fn given(engine: &Core, scope: &Scope, heard: Vec<Heard>, first: usize, discards: bool, now: i64) -> Result<Self> {
        let partition = engine.store().read(|snapshot| scope.find(snapshot))?;
        Ok(Self::noted(engine, scope, ReadFrom { partition, session: None }, heard, first, discards, now))
    }

    /// Where its messages were read.
    #[must_use]
    pub fn from(&self) -> ReadFrom {
        self.from
    }

    /// The messages.
    #[must_use]
    pub fn heard(&self) -> &[Heard] {
        &self.heard
    }

    /// The claims.
    #[must_use]
    pub fn claims(&self) -> &[Placed] {
        &self.claims
    }

    /// The message of a claim.
    #[must_use]
    pub fn message(&self, placed: &Placed) -> &Heard {
        &self.heard[placed.place]
    }

    /// The claims that are to be stored.
    pub fn wanted(&self) -> impl Iterator<Item = &Placed> {
        self.claims.iter().filter(|placed| placed.is_wanted())
    }

    /// The claims that are to be stored, as the values that their ids are made of.
    #[must_use]
    pub fn wanted_by_name(&self) -> Vec<Wanted<'_>> {
        let of = |placed| {
            let message = self.message(placed);
            Wanted { place: placed.place, message, begin: chars_before(&message.text, placed.claim.span.0) }
        };
        self.wanted().map(of).collect()
    }

    /// Places of the claims that are to be stored and rest on the assistant's words.
    #[must_use]
    pub fn of_assistant(&self) -> Vec<usize> {
        let rests = |placed: &Placed| placed.is_wanted() && self.message(placed).speaker == Speaker::Assistant;
        (0..).zip(&self.claims).filter(|(_, placed)| rests(placed)).map(|(at, _)| at).collect()
    }

    /// This judgement with some claims discarded, for this reason.
    #[must_use]
    pub fn without(&self, claims: &[usize], reason: &str) -> Self {
        let mut other = self.clone();
        for at in claims {
            if let Some(placed) = other.claims.get_mut(*at) {
                placed.discard(reason);
            }
        }
        other
    }

    /// The claims at these places, and those that a model read, in the order of the conversation.
    #[must_use]
    pub fn refined(&self, kept: &[usize], added: Vec<ModelClaim>) -> Self {
        let kept = kept.iter().filter_map(|at| self.claims.get(*at).cloned());
        let mut claims: Vec<Placed> = kept.chain(added.into_iter().map(|read| self.placed(read))).collect();
        claims.sort_by_key(|placed| (placed.place, placed.claim.span));
        Self { heard: Arc::clone(&self.heard), claims, how: self.how, from: self.from }
    }

    fn placed(&self, read: ModelClaim) -> Placed {
        let text = self.heard.get(read.place).map_or("", |heard| heard.text.as_str());
        let thousandths = |share: f64| (share * 1000.0).round() as u16;
        let like = read.like.and_then(|at| self.claims.get(at)).map(|placed| &placed.claim);
        let claim = Claim {
            category: read.category,
            text: read.text,
            slot: read.slot,
            replaces: like.and_then(|claim| claim.replaces.clone()),
            ends: like.and_then(|claim| claim.ends.clone()),
            importance: thousandths(read.importance),
            confidence: thousandths(read.confidence),
            span: (byte_of(text, read.span.0), byte_of(text, read.span.1)),
            days_ago: like.map_or(0, |claim| claim.days_ago),
            reason: read.reason,
            doubt: like.and_then(|claim| claim.doubt),
        };
        let claim = match self.heard.get(read.place) {
            Some(heard) => told(heard)(claim),
            None => claim,
        };
        Placed { place: read.place, claim, writer: Writer::Model }
    }

    /// The claims to be stored, each with its id, as of a session.
    pub fn memories(&self, ids: Vec<Option<String>>, session: Option<&str>) -> Result<Vec<NewMemory>> {
        self.wanted().zip(ids).map(|(placed, id)| self.memory(placed, id, session)).collect()
    }

    /// This judgement as a policy leaves it; `detected` has of each claim the findings of the caller's detectors in its text, or nothing at
    /// all.
    pub fn screened(
        &self,
        policy: Screening,
        ids: Vec<Option<String>>,
        session: Option<&str>,
        detected: Vec<Option<Vec<Detected>>>,
    ) -> Result<Vec<NewMemory>> {
        let mut memories = self.memories(ids, session)?;
        for (new, detected) in memories.iter_mut().zip(detected.into_iter().chain(iter::repeat(None))) {
            new.detected = detected.unwrap_or_default();
            new.screen(policy);
        }
        Ok(memories)
    }

    /// The plan of which the words of a claim say that it was moved or is called off.
    fn moved(&self, heard: &Heard, claim: &Claim) -> Option<Moved> {
        let said = heard.text.get(claim.span.0..claim.span.1)?;
        if heard.speaker == Speaker::User { Moved::of(&gate::with_days(said, heard.at.unwrap_or(self.how.now))) } else { None }
    }

    fn memory(&self, placed: &Placed, id: Option<String>, session: Option<&str>) -> Result<NewMemory> {
        let (heard, claim) = (self.message(placed), &placed.claim);
        let merely_gives = claim.text.starts_with("The ") && gate::merely_gives(&heard.text, claim.span);
        let learning = Learning {
            replaces: claim.replaces.clone(),
            ends: claim.ends.clone(),
            doubt: claim.doubt.map(str::to_owned),
            introduces: claim.reason == gate::INTRODUCTION,
            moved: self.moved(heard, claim),
            changed: changed(heard, claim),
            merely_gives,
            was: heard.text.get(claim.span.0..claim.span.1).filter(|_| merely_gives).and_then(gate::value_before),
            by: heard.by.clone().filter(|_| heard.speaker == Speaker::User),
            near: Vec::new(),
        };
        let provenance = Provenance {
            session: session.map(str::to_owned),
            message: session.map(|_| heard.index),
            writer: Some(placed.writer.name().to_owned()),
            ..Provenance::default()
        };
        let is_passed = claim.days_ago > 0 && matches!(claim.category, Category::Episodic | Category::TaskOutcome);
        Ok(NewMemory {
            kind: Kind::parse(claim.category.name())?,
            slot: claim.slot.clone(),
            importance: f64::from(claim.importance) / 1000.0,
            confidence: f64::from(claim.confidence) / 1000.0,
            source: if heard.speaker == Speaker::Assistant { "assistant" } else { "user" }.to_owned(),
            id,
            occurred_at: if is_passed { Some(heard.at.unwrap_or(self.how.now) - claim.days_ago * DAY) } else { heard.at },
            provenance,
            learning: Some(Box::new(learning)),
            ..NewMemory::new(claim.text.clone())
        })
    }

    /// Each claim with what became of it: `done` has an answer for each that was wanted, in order, or none for what is only planned.
    #[must_use]
    pub fn decisions(&self, done: Vec<Answered>) -> Vec<Decision> {
        let mut done = done.into_iter();
        let decided = |placed| self.decision(placed, if placed.is_wanted() { done.next() } else { None });
        self.claims.iter().map(decided).collect()
    }

    fn decision(&self, placed: &Placed, done: Option<Answered>) -> Decision {
        let (heard, claim) = (self.message(placed), &placed.claim);
        let why = done.as_ref().and_then(|done| done.reason.as_deref()).filter(|why| !claim.reason.ends_with(why));
        Decision {
            action: done.as_ref().map_or_else(|| placed.plan(), |done| done.action.name()),
            category: claim.category,
            text: claim.text.clone(),
            slot: claim.slot.clone(),
            importance: f64::from(claim.importance) / 1000.0,
            confidence: f64::from(claim.confidence) / 1000.0,
            index: heard.index,
            span: (chars_before(&heard.text, claim.span.0), chars_before(&heard.text, claim.span.1)),
            reason: why.map_or_else(|| claim.reason.clone(), |why| format!("{}; {why}", claim.reason)),
            memory: done.map(|done| done.memory),
        }
    }
}

/// The change of which the words of a claim tell.
fn changed(heard: &Heard, claim: &Claim) -> Option<Change> {
    if heard.speaker == Speaker::User && claim.doubt.is_none() { Change::of_part(&heard.text, claim.span) } else { None }
}

/// The claims of a message, told of its speaker by name where there are several.
fn told(heard: &Heard) -> impl Fn(Claim) -> Claim {
    move |claim| match &heard.by {
        Some(name) if heard.speaker == Speaker::User => gate::told_of(claim, &heard.text, name),
        _ => claim,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(index: u64, speaker: Speaker, text: &str) -> Heard {
        Heard { index, speaker, by: None, text: text.to_owned(), at: None, added_at: None, origin: None }
    }

    #[test]
    fn what_is_doubted_waits_or_is_dropped_and_says_why() {
        let heard = || vec![said(4, Speaker::User, "My boss said I hate Python."), said(5, Speaker::User, "Call me Ana.")];
        let plans = |discards| {
            let judged = Judgement::of(heard(), 0, discards, 0);
            judged.claims().iter().map(|placed| (placed.plan(), placed.claim.reason.clone())).collect::<Vec<_>>()
        };
        assert_eq!(plans(true)[0], ("discarded", "words of somebody else".to_owned()));
        assert_eq!(plans(false)[0], ("quarantined", "rule: words of somebody else".to_owned()), "a reason is said once");
        assert_eq!(plans(false)[1].0, "added");
        let judged = Judgement::of(heard(), 1, false, 0);
        assert_eq!(judged.claims().len(), 1, "what is before is only read");
        let [memory] = &judged.memories(vec![None], Some("s-1")).unwrap()[..] else { panic!("one is stored") };
        assert_eq!((memory.provenance.message, memory.kind, memory.source.as_str()), (Some(5), Kind::Profile, "user"));
        assert_eq!(judged.without(&[0], "repeated").claims()[0].plan(), "discarded");
        let Decision { action, index, span, memory, .. } = &judged.decisions(Vec::new())[0];
        assert_eq!((*action, *index, *span, memory.is_none()), ("added", 5, (0, 12), true));
        assert_eq!(judged.wanted_by_name().iter().map(|one| (one.place, one.begin)).collect::<Vec<_>>(), [(1, 0)]);
        assert!(judged.refined(&[], Vec::new()).claims().is_empty());
    }

    #[test]
    fn days_are_those_of_the_speakers_clock() {
        let evening = 1_777_863_600_000_000; // 2026-05-04 03:00 in UTC, the evening before in California
        let heard = Heard { at: Some(evening), ..said(0, Speaker::User, "My flight to Boston is tomorrow at 7 am.") };
        let judged = Judgement::of(vec![heard], 0, false, 0);
        let text = |judged: &Judgement| judged.claims()[0].claim.text.clone();
        assert_eq!(text(&judged), "The user's flight to Boston is tomorrow (2026-05-05) at 7 am.");
        assert_eq!(judged.times().collect::<Vec<_>>(), [evening]);
        let there = judged.by_clocks(&[evening - 7 * 3_600_000_000]);
        assert_eq!(text(&there), "The user's flight to Boston is tomorrow (2026-05-04) at 7 am.");
        assert_eq!(there.memories(vec![None], None).unwrap()[0].occurred_at, Some(evening), "an event is when it was");
    }

    #[test]
    fn a_models_claim_rests_on_characters_and_shares_a_doubt() {
        let judged = Judgement::of(vec![said(0, Speaker::User, "Ünder \u{fc}s: my boss said I hate Python.")], 0, false, 0);
        let read = ModelClaim {
            place: 0,
            like: Some(0),
            category: Category::Preference,
            text: "The user hates Python.".to_owned(),
            slot: None,
            importance: 0.7,
            confidence: 0.9,
            span: (10, 12),
            reason: "model: told".to_owned(),
        };
        let refined = judged.refined(&[], vec![read]);
        let placed = &refined.claims()[0];
        assert_eq!((placed.claim.span, placed.writer, placed.plan()), ((12, 14), Writer::Model, "quarantined"));
        let decision = &refined.decisions(Vec::new())[0];
        assert_eq!((decision.span, decision.importance, decision.confidence), ((10, 12), 0.7, 0.9));
    }
}
