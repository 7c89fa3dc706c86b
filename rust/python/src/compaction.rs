//! Compaction: a draft while a model writes for it, and summaries as they are read.

use memspan_engine::compaction;
use memspan_engine::compaction::{Identifier, from_json};
use memspan_engine::models::Model;
use memspan_engine::session::{CheckedReply, Draft, MadeSummary, SummaryText, Writing, Written};
use pyo3::prelude::*;

use crate::arguments::{calls, field, functions, holds, reads};
use crate::messages::Conversation;
use crate::value::{Tuple, shows};

shows! {
    Identifier as SummaryIdentifier |it| { text, phrase, messages = Tuple(it.sources) }
    SummaryText as SummaryText |it| { json, text, shown, tokens, identifiers = Tuple(it.identifiers) }
    MadeSummary as MadeSummary |it| { summary, identifiers, kept, restored }
    compaction::check::Refused as RefusedLine |it| { text, reason }
    CheckedReply as CheckedReply |it| { wrong, taken, refused = Tuple(it.refused) }
    (compaction::Source, Option<String>) as LeavingMessage |it| {
        index = it.0.index, id = it.1, role = it.0.message.speaker().name(), text = it.0.message.spoken()
    }
}

holds! {
    /// The input of a compaction, and the lines that a model wrote for it.
    CompactionDraft(Writing);
}

calls! {
    CompactionDraft |it, py| (Ok(&it.0), ()) {
        messages() Short |writing| Ok(writing.draft.sources.iter().cloned().zip(writing.draft.ids.iter().cloned()).collect::<Vec<_>>());
        passes(max_tokens: u64) Long |writing| Ok(writing.passes(max_tokens));
        before() Short |writing| Ok(writing.before());
        check(reply as "a model's reply": String) Long |writing| Ok(writing.check(&reply));
        clear() Short |writing| { writing.clear(); Ok(()) };
        make() Long |writing| Ok(writing.make());
    }

    /// The messages that leave, as a half-open range.
    #[getter]
    fn covers(&self) -> (u64, u64) {
        self.0.covers()
    }

    #[getter]
    fn max_tokens(&self) -> u64 {
        self.0.draft.max_tokens
    }
}

/// How a summary was written: what `memspan.compaction.writing.Written` says.
pub struct GivenWritten(pub Written);

reads! {
    GivenWritten: |name, value| {
        let refused = value.getattr("refused")?.len()? as u64;
        Ok(Self(Written { checked: field(value, "checked")?, prompt: field(value, "prompt")?, refused }))
    };
}

functions! { |py|
    read_summary(json as "a summary": String, model: Model) Short => Ok(SummaryText::new(&from_json(&json)?, &model));
    /// A draft of plain messages, and the place of the first that stays. Leading system messages are the caller's own and no part of it.
    compaction_draft(given: Conversation, model: Model, previous: Option<String>, keep_exchanges: u64, max_tokens: u64) Short => {
        let previous = previous.as_deref().map(from_json).transpose()?;
        let (draft, end) = Draft::of_messages(previous, given.0, keep_exchanges, max_tokens, model)?;
        Ok((CompactionDraft(Writing::new(draft)), end))
    };
    /// The first part of a summary that its text does not have: an identifier, a number, a date, a name or a quotation.
    unsaid(summary: String, text: String) Short => Ok(compaction::check::is_said(&summary, &text).err());
}
