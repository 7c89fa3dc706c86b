//! The planned and the billed tokens of a session's calls, call by call, and how full its model's window is.
//!
//! All of it is read from the ledger on demand. No sums are stored beside it.

use super::call::Call;
use super::response::UsageTokens;
use crate::Result;
use crate::session::session::Session;
use crate::session::stored_epoch::StoredEpoch;
use crate::session::transcript::view::View;

/// The planned and the billed cost of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallUsage {
    /// Its turn.
    pub turn: u64,
    /// Its place in the turn.
    pub call: u16,
    /// The model that the prompt was made for; where that is not known, the one that answered in the provider's words.
    pub model: Option<String>,
    /// The planned cost of the prompt: its count, or its upper bound.
    pub planned: Option<u64>,
    /// Its counted tokens.
    pub counted: Option<u64>,
    /// The provider's bill.
    pub billed: Option<UsageTokens>,
}

/// How full a model's window is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fill {
    /// The session's epoch.
    pub epoch: u64,
    /// The most that the fixed sections and the window of history can be.
    pub tokens: u64,
    /// The model's window.
    pub window: u64,
}

impl Session<'_> {
    /// The calls of at most `limit` turns from `first` on, in order. Cost: one read of each ledger entry.
    pub fn usage(&self, first: u64, limit: u64) -> Result<Vec<CallUsage>> {
        self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let (mut rows, mut known) = (Vec::new(), None::<(u64, String)>);
            for turn in first..status.record.tally.turns.min(first.saturating_add(limit)) {
                for call in Call::of_turn(pages, status.place, turn)? {
                    let model = match &call.sent {
                        None => call.model.clone(),
                        Some(sent) => {
                            if known.as_ref().is_none_or(|(epoch, _)| *epoch != sent.epoch) {
                                let epoch = StoredEpoch::read(pages, status.place, sent.epoch)?;
                                known = Some((sent.epoch, epoch.model.name.to_string()));
                            }
                            known.as_ref().map(|(_, name)| name.clone())
                        }
                    };
                    let sent = call.sent.as_ref();
                    let (planned, counted) = (sent.map(|sent| sent.planned), sent.map(|sent| sent.counted).filter(|counted| *counted > 0));
                    rows.push(CallUsage { turn, call: call.number, model, planned, counted, billed: call.usage_tokens });
                }
            }
            Ok(rows)
        })
    }

    /// How full the model's window is by a prompt of the session's own limit. Messages that were cut do not count.
    pub fn fill(&self) -> Result<Fill> {
        self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let epoch = &status.epoch.epoch;
            let view = View::cold(pages, status.place, &status.record, &status.epoch);
            let (limit, _) = status.record.limit(&status.epoch.model)?;
            let window = epoch.window(limit, &status.record.budget.sections, &view, 0)?;
            let tokens = epoch.factor.bound(epoch.fixed_tokens + window.tokens);
            Ok(Fill { epoch: epoch.number, tokens, window: status.epoch.model.context_window })
        })
    }
}
