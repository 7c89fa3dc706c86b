//! The fixed sections: tools, system prompt, pinned memory, summary. Made once an epoch, shared by all its prompts.
//!
//! Each is counted and digested when it is made, so that assembling a prompt does not touch its text.

use std::sync::Arc;

use super::block::{Item, chunk};
use super::escape::escape;
use super::framing::Framing;
use super::limit::section;
use super::message::{Digest, Role};
use super::tools::Tools;
use crate::tokens::Counter;

/// A section that is sent as a system message of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedText {
    /// The text as it is sent.
    pub text: Arc<str>,
    /// The memories that it shows; empty for a system prompt.
    pub items: Vec<Item>,
    /// Its count, frame included.
    pub tokens: u64,
    /// Its digest.
    pub digest: Digest,
}

impl FixedText {
    fn new(text: String, items: Vec<Item>, framing: &Framing, counter: &dyn Counter) -> Arc<Self> {
        let (tokens, digest) = (framing.text(Role::System, &text, counter), Digest::of_text(&text));
        Arc::new(Self { text: text.into(), items, tokens, digest })
    }

    /// The application's system prompt: sent as it is.
    #[must_use]
    pub fn system(text: &str, framing: &Framing, counter: &dyn Counter) -> Arc<Self> {
        Self::new(text.to_owned(), Vec::new(), framing, counter)
    }

    /// Pinned memory, in the order of the epoch's snapshot; `None` if there is none.
    #[must_use]
    pub fn pinned(items: Vec<Item>, framing: &Framing, counter: &dyn Counter) -> Option<Arc<Self>> {
        if items.is_empty() {
            return None;
        }
        let chunks: String = items.iter().map(|item| chunk(&Item { section: section::PINNED.into(), ..item.clone() })).collect();
        Some(Self::new(format!("<pinned note=\"what holds for this user\">\n{chunks}</pinned>\n"), items, framing, counter))
    }

    /// The summary of what compaction took out.
    #[must_use]
    pub fn summary(text: &str, framing: &Framing, counter: &dyn Counter) -> Arc<Self> {
        Self::new(format!("<summary note=\"of the conversation so far\">\n{}\n</summary>\n", escape(text)), Vec::new(), framing, counter)
    }
}

/// Tools with their count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedTools {
    /// The schemas.
    pub tools: Arc<Tools>,
    /// Their count.
    pub tokens: u64,
}

impl FixedTools {
    /// Counts `tools`.
    #[must_use]
    pub fn new(tools: Arc<Tools>, framing: &Framing, counter: &dyn Counter) -> Arc<Self> {
        let tokens = framing.tools(&tools, counter);
        Arc::new(Self { tools, tokens })
    }
}

/// The fixed sections of an epoch.
#[derive(Debug, Clone, Default)]
pub struct Fixed {
    /// Tool schemas.
    pub tools: Option<Arc<FixedTools>>,
    /// The system prompt.
    pub system: Option<Arc<FixedText>>,
    /// Pinned memory.
    pub pinned: Option<Arc<FixedText>>,
    /// The summary.
    pub summary: Option<Arc<FixedText>>,
}

impl Fixed {
    /// Counted tokens of all of them and of the reply's frame: what an epoch records.
    #[must_use]
    pub fn tokens(&self, framing: &Framing) -> u64 {
        let texts = [&self.system, &self.pinned, &self.summary].into_iter().flatten().map(|text| text.tokens).sum::<u64>();
        framing.reply + texts + self.tools.as_ref().map_or(0, |tools| tools.tokens)
    }
}

/// Which candidates for pinned memory fit into `room` tokens, in their order; `by_worth` has the place of each, the most needed first. One too
/// large is passed over.
///
/// A memory that does not fit is not lost: it is a candidate of the volatile block like any other memory.
#[must_use]
pub fn choose_pinned(candidates: Vec<Item>, by_worth: &[usize], room: u64, framing: &Framing, counter: &dyn Counter) -> Vec<Item> {
    let mut left = room.saturating_sub(framing.text(Role::System, "<pinned note=\"what holds for this user\">\n</pinned>\n", counter));
    let mut chosen = vec![false; candidates.len()];
    for &at in by_worth {
        let text = chunk(&Item { section: section::PINNED.into(), ..candidates[at].clone() });
        if let Some(tokens) = counter.count_within(&text, left) {
            left -= tokens;
            chosen[at] = true;
        }
    }
    candidates.into_iter().zip(chosen).filter_map(|(item, is_chosen)| is_chosen.then_some(item)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::block::read;
    use super::super::testing::{Random, WordCounter, nasty};
    use super::*;

    #[test]
    fn pinned_memory_reads_back() {
        let mut random = Random::new(12);
        for _ in 0..2_000 {
            let items: Vec<Item> = (0..=random.below(5))
                .map(|_| Item {
                    section: section::PINNED.into(),
                    id: "1".into(),
                    attributes: vec![("kind".into(), "constraint".into())],
                    text: nasty(&mut random, 4).into(),
                    memory: None,
                    message: None,
                    document: None,
                    form: super::super::block::Form::default(),
                    score: None,
                })
                .collect();
            let fixed = FixedText::pinned(items.clone(), &Framing::GPT_4O, &WordCounter).unwrap();
            let texts: Vec<String> = read(&fixed.text).unwrap().into_iter().map(|item| item.text).collect();
            assert_eq!(texts, items.iter().map(|item| item.text.to_string()).collect::<Vec<_>>());
        }
    }
}
