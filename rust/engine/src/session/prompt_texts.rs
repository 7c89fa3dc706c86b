//! The texts that prompts of a session showed beside its messages, so that nothing learns them again from a reply.

use super::ledger::Call;
use super::session::Session;
use super::transcript::view::TurnRecord;
use super::window::pinned;
use crate::Result;

/// The texts that the calls of one turn showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptTexts {
    /// The turn's first message.
    pub start: u64,
    /// The texts of memories, messages of elsewhere, passages and items.
    pub texts: Vec<String>,
}

impl Session<'_> {
    /// The texts that calls of the turns with messages from `first` to before `end` showed, newest turn first, without those forgotten
    /// since.
    pub fn shown_texts(&self, first: u64, end: u64, now: i64) -> Result<Vec<PromptTexts>> {
        self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let fixed = pinned::snapshot(pages, &status.epoch, status.place.partition, now)?;
            let mut found = Vec::new();
            for turn in (0..status.record.tally.turns).rev() {
                let start = TurnRecord::read(pages, status.place, turn)?.start;
                if start < end {
                    let mut items = fixed.clone();
                    for call in Call::of_turn(pages, status.place, turn)? {
                        items.extend(call.items(pages, now)?);
                    }
                    found.push(PromptTexts { start, texts: items.into_iter().map(|item| item.text.to_string()).collect() });
                }
                if start <= first {
                    break;
                }
            }
            Ok(found)
        })
    }
}
