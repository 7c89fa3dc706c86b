//! What is to become of a page of messages: their claims as the gate reads them, sent where the policy says, until one write stores them.
//!
//! A judgement is a value. Whoever checks it (for what a prompt showed, with a model of language) makes another one of it.

use std::sync::Arc;

use crate::Result;
use crate::gate::{Category, Claim, Heard, Speaker, judge_among};
use crate::memory::{Kind, Learning, NewMemory, Provenance};

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
    /// What is planned: "added", "quarantined" or "discarded".
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

    /// What somebody doubts says why; where that is dropped, it is the reason.
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

/// What became of a claim.
#[derive(Debug, Clone)]
pub struct Decided<M> {
    /// The claim.
    pub placed: Placed,
    /// What was done with it, where it was to be stored.
    pub done: Option<M>,
}

/// The messages of a page, and their claims in order.
#[derive(Debug, Clone)]
pub struct Judgement {
    heard: Arc<Vec<Heard>>,
    claims: Vec<Placed>,
}

impl Judgement {
    /// What messages claim: those from `first` on, the ones before are read for what they ask. With `discards` nothing waits for approval.
    #[must_use]
    pub fn of(heard: Vec<Heard>, first: usize, discards: bool, now: i64) -> Self {
        let claimed = |place| judge_among(&heard, place, now).into_iter().map(move |claim| Placed { place, claim, writer: Writer::Rules });
        let claims = (first..heard.len()).flat_map(claimed).map(|placed| placed.doubted(discards)).collect();
        Self { heard: Arc::new(heard), claims }
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

    /// The same with some claims discarded, for this reason.
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
    pub fn refined(&self, kept: &[usize], added: Vec<Placed>) -> Self {
        let mut claims: Vec<Placed> = kept.iter().filter_map(|at| self.claims.get(*at).cloned()).chain(added).collect();
        claims.sort_by_key(|placed| (placed.place, placed.claim.span));
        Self { heard: Arc::clone(&self.heard), claims }
    }

    /// What is to be stored, each with its id, as of a session.
    pub fn memories(&self, ids: Vec<Option<String>>, session: Option<&str>) -> Result<Vec<NewMemory>> {
        self.wanted().zip(ids).map(|(placed, id)| self.memory(placed, id, session)).collect()
    }

    fn memory(&self, placed: &Placed, id: Option<String>, session: Option<&str>) -> Result<NewMemory> {
        let (heard, claim) = (self.message(placed), &placed.claim);
        let learning = Learning {
            replaces: claim.replaces.clone(),
            ends: claim.ends.clone(),
            doubt: claim.doubt.map(str::to_owned),
            near: Vec::new(),
        };
        let provenance = Provenance {
            session: session.map(str::to_owned),
            message: session.map(|_| heard.index),
            writer: Some(placed.writer.name().to_owned()),
            ..Provenance::default()
        };
        Ok(NewMemory {
            kind: Kind::parse(claim.category.name())?,
            slot: claim.slot.clone(),
            importance: f64::from(claim.importance) / 1000.0,
            confidence: f64::from(claim.confidence) / 1000.0,
            source: if heard.speaker == Speaker::Assistant { "assistant" } else { "user" }.to_owned(),
            id,
            occurred_at: heard.at,
            provenance,
            learning: Some(Box::new(learning)),
            ..NewMemory::new(claim.text.clone())
        })
    }

    /// Each claim with what was done with it: `done` has one for each that was wanted, in order.
    #[must_use]
    pub fn decided<M>(&self, done: Vec<M>) -> Vec<Decided<M>> {
        let mut done = done.into_iter();
        let outcome = |placed: &Placed| Decided { placed: placed.clone(), done: if placed.is_wanted() { done.next() } else { None } };
        self.claims.iter().map(outcome).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(index: u64, speaker: Speaker, text: &str) -> Heard {
        Heard { index, speaker, text: text.to_owned(), at: None, added_at: None }
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
        assert!(judged.refined(&[], Vec::new()).claims().is_empty());
    }
}
