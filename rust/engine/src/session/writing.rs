//! A draft while a model writes its summary: replies are checked against the messages, and the lines that pass become the summary once.

use std::sync::{Arc, Mutex};

use super::SwitchPlan;
use super::compact::{Committed, Draft};
use super::session::Session;
use super::summary::StoredSummary;
use super::summary_room::{least_of, less};
use crate::compaction::check::{Refused, check};
use crate::compaction::{self, Compacted, Identifier, Line, Summary, request, to_json};
use crate::context::{Counter, FixedText};
use crate::models::Model;
use crate::process::lock;
use crate::tokens::CachedCounter;
use crate::{Error, ErrorKind, Result};

/// A draft, the lines that a model wrote for it, and the resulting summary.
#[derive(Debug)]
pub struct Writing {
    /// The draft.
    pub draft: Draft,
    written: Mutex<Vec<Line>>,
    /// The tokens that the summary may have: those of the draft, or fewer where it was too large.
    most: Mutex<u64>,
    made: Mutex<Option<Arc<Compacted>>>,
}

/// A reply held against the messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckedReply {
    /// The fault of its shape; no line of it was taken then.
    pub wrong: Option<String>,
    /// Lines that were taken.
    pub taken: usize,
    /// Lines that were not.
    pub refused: Vec<Refused>,
}

/// How a summary was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// By rules, by a model whose words were checked, or by rules since the model failed.
    pub checked: String,
    /// Hash of the prompt that the model was given; empty without one.
    pub prompt: String,
    /// Lines of the model that were refused.
    pub refused: u64,
}

/// A summary in the forms in which somebody reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryText {
    /// As JSON, which [`compaction::from_json`] reads.
    pub json: String,
    /// As text.
    pub text: String,
    /// As a prompt has it.
    pub shown: String,
    /// Tokens of the text, as the model counts a text: the most that they can be where its tokenizer is closed.
    pub tokens: u64,
    /// Its identifiers.
    pub identifiers: Vec<Identifier>,
}

/// A summary that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeSummary {
    /// The summary itself.
    pub summary: SummaryText,
    /// Different identifiers of the messages and of the summary before.
    pub identifiers: u64,
    /// How many of these identifiers the summary has.
    pub kept: u64,
    /// How many of those the model had left out.
    pub restored: u64,
}

impl SummaryText {
    /// A summary for a model.
    #[must_use]
    pub fn new(summary: &Summary, model: &Model) -> Self {
        let (counter, text) = (CachedCounter::new(model.encoding), summary.text());
        let shown = FixedText::summary(&text, &model.framing, &counter).text.to_string();
        let tokens = model.factor.bound(counter.count(&text));
        Self { json: to_json(summary), shown, tokens, identifiers: summary.identifiers(), text }
    }
}

impl Writing {
    /// Begins with a draft.
    #[must_use]
    pub fn new(draft: Draft) -> Self {
        let most = Mutex::new(draft.max_tokens);
        Self { draft, written: Mutex::default(), most, made: Mutex::default() }
    }

    fn counter(&self) -> CachedCounter {
        CachedCounter::new(self.draft.model.encoding)
    }

    /// The messages that leave, as a half-open range.
    #[must_use]
    pub fn covers(&self) -> (u64, u64) {
        (self.draft.sources.first().map_or(self.draft.boundary, |source| source.index), self.draft.boundary)
    }

    /// The blocks that a model is given, each at most so many tokens.
    #[must_use]
    pub fn passes(&self, max_tokens: u64) -> Vec<String> {
        request::passes(&self.draft.sources, max_tokens, &self.counter())
    }

    /// The summary before, as a model is given it.
    #[must_use]
    pub fn before(&self) -> Option<String> {
        self.draft.previous.as_ref().filter(|before| !before.is_empty()).map(request::before)
    }

    /// Holds a reply against the messages and takes the lines that pass.
    pub fn check(&self, reply: &str) -> CheckedReply {
        match check(reply, self.draft.previous.as_ref(), &self.draft.sources) {
            Err(wrong) => CheckedReply { wrong: Some(wrong), ..CheckedReply::default() },
            Ok(checked) => {
                let taken = checked.lines.len();
                if taken > 0 {
                    lock(&self.written).extend(checked.lines);
                    *lock(&self.made) = None; // a plan was made without them
                }
                CheckedReply { wrong: None, taken, refused: checked.refused }
            }
        }
    }

    /// Forgets what a model wrote.
    pub fn clear(&self) {
        lock(&self.written).clear();
        *lock(&self.made) = None;
    }

    /// Makes the summary, once: the shown one is the committed one. Lines that a model writes later change it, as behind a plan, and so
    /// does a commit that makes it smaller.
    pub fn make(&self) -> MadeSummary {
        let made = self.compacted();
        let Compacted { summary, identifiers, kept } = &*made;
        let restored = made.restored(&lock(&self.written));
        MadeSummary { summary: SummaryText::new(summary, &self.draft.model), identifiers: *identifiers, kept: *kept, restored }
    }

    fn compacted(&self) -> Arc<Compacted> {
        Arc::clone(lock(&self.made).get_or_insert_with(|| self.compact(*lock(&self.most))))
    }

    fn compact(&self, max_tokens: u64) -> Arc<Compacted> {
        let Draft { previous, sources, boundary, model, aim, .. } = &self.draft;
        let limit = model.factor.room(max_tokens);
        let (previous, written, counter) = (previous.as_ref(), lock(&self.written), self.counter());
        let mut made = match aim {
            Some(aim) => compaction::brief(aim, previous, sources, &written, limit, &counter),
            None => compaction::compact(previous, sources, &written, limit, &counter),
        };
        made.summary.covers.end = *boundary; // a message that was redacted is no source, and left all the same
        Arc::new(made)
    }

    /// Lets the summary be made again, smaller by what an error says that it was too large; whether it may be, with `least` tokens.
    fn shrink(&self, error: &Error, least: u64) -> bool {
        let has = SummaryText::new(&self.compacted().summary, &self.draft.model).tokens.min(*lock(&self.most));
        let Some(fewer) = less(has, error, least) else { return false };
        *lock(&self.most) = fewer;
        *lock(&self.made) = None;
        true
    }

    /// The summary as it is stored.
    #[must_use]
    pub fn stored(&self, Written { checked, prompt, refused }: Written) -> StoredSummary {
        StoredSummary { summary: self.compacted().summary.clone(), made_at: 0, checked, prompt, refused }
    }
}

impl Session<'_> {
    /// The newest summary, for the model that the session runs on now.
    pub fn summary_text(&self) -> Result<Option<SummaryText>> {
        let Some(stored) = self.summary()? else { return Ok(None) };
        Ok(Some(SummaryText::new(&stored.summary, &self.status()?.epoch.model)))
    }

    /// Commits the summary of a draft. Where it leaves the newest message no room, because more was said since or its words cost more than
    /// was planned, it is made again, smaller.
    ///
    /// # Errors
    /// Those of [`Self::commit`].
    pub fn commit_written(&self, writing: &Writing, written: &Written, now: i64) -> Result<Committed> {
        loop {
            match self.commit(&writing.draft, writing.stored(written.clone()), now) {
                Err(error) if error.kind() == ErrorKind::BudgetExceeded && writing.shrink(&error, least_of(writing.draft.max_tokens)) => {}
                committed => return committed,
            }
        }
    }

    /// The messages that a switch would keep, with the summary that is being written, which gets smaller where it leaves the newest message
    /// no room.
    pub fn plan_switch_written(&self, model: &Model, writing: Option<&Writing>, now: i64) -> Result<SwitchPlan> {
        loop {
            let made = writing.map(Writing::compacted);
            match self.plan_switch_with(model, made.as_ref().map(|made| &made.summary), now) {
                Err(error) if error.kind() == ErrorKind::BudgetExceeded && writing.is_some_and(|writing| writing.shrink(&error, 1)) => {}
                planned => return planned,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Message, Role};

    fn writing() -> Writing {
        let said = ["payments-api listens on port 8443", "Noted.", "And the queue?"];
        let role = |index: usize| if index == 1 { Role::Assistant } else { Role::User };
        let messages = said.iter().enumerate().map(|(index, text)| Message::text(role(index), text)).collect();
        Writing::new(Draft::of_messages(None, messages, 1, 200, Model::named("gpt-4o").unwrap()).unwrap().0)
    }

    #[test]
    fn what_is_shown_is_what_is_committed() {
        let writing = writing();
        assert_eq!((writing.covers(), writing.before()), ((0, 2), None));
        let made = writing.make();
        assert!(made.summary.text.contains("8443"), "{}", made.summary.text);
        writing.check("nothing that a summary is made of");
        assert_eq!(writing.make().summary, made.summary);
        assert_eq!(writing.stored(Written::default()).summary.text(), made.summary.text);
    }

    #[test]
    fn lines_of_a_model_are_in_a_summary_that_was_planned_without_them() {
        let writing = writing();
        let planned = writing.make().summary.text;
        let line = r#"{"text": "payments-api uses port 8443.", "messages": [0]}"#;
        let reply = format!(r#"{{"summary": [{line}], "decisions": [], "constraints": [], "open_questions": []}}"#);
        assert_eq!(writing.check(&reply).taken, 1);
        let made = writing.make().summary.text;
        assert!(made.contains("payments-api uses port 8443.") && !planned.contains("uses"), "{planned}\n{made}");
        writing.clear();
        assert_eq!(writing.make().summary.text, planned);
    }

    #[test]
    fn a_summary_shrinks_to_what_an_error_leaves_and_no_further_than_it_may() {
        let said = |n: u64| Message::text(Role::User, &format!("We must run build {n} on host-{n}, and never deploy service-{n}."));
        let draft = Draft::of_messages(None, (0..60).map(said).collect(), 0, 400, Model::named("gpt-4o").unwrap()).unwrap().0;
        let writing = Writing::new(draft);
        let too_large =
            |over: i64| Error::new(ErrorKind::BudgetExceeded, "").with("needed_tokens", 900 + over).with("limit_tokens", 900_i64);
        let before = writing.make().summary.tokens;
        assert!(writing.shrink(&too_large(150), 100));
        let after = writing.make().summary.tokens;
        assert!(after <= before - 150 && after > 150, "{before} -> {after}");
        assert!(!writing.shrink(&too_large(150), 100) && writing.make().summary.tokens == after);
    }

    #[test]
    fn a_summary_is_within_its_limit_in_the_models_tokens() {
        let said = |n: u64| Message::text(Role::User, &format!("We must run build {n} on host-{n}, and never deploy service-{n}."));
        for name in ["gpt-4o", "claude-sonnet-4-5"] {
            let model = Model::named(name).unwrap();
            for most in (1..40).chain([100, 500]) {
                let draft = Draft::of_messages(None, (0..60).map(said).collect(), 0, most, model.clone()).unwrap().0;
                let summary = Writing::new(draft).make().summary;
                assert!(summary.tokens <= most, "{name}: {} tokens of {most}", summary.tokens);
                assert_eq!(summary.tokens, model.count_text(&summary.text), "{name}: as count_tokens counts");
                assert!(most < 500 || summary.tokens > 350, "the control: {}", summary.tokens);
            }
        }
    }

    #[test]
    fn a_reply_without_a_shape_gives_no_line() {
        let checked = writing().check("I cannot do that.");
        assert!(checked.wrong.is_some() || checked.taken == 0);
        assert_eq!(checked.taken, 0);
    }
}
