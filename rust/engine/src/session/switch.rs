//! Another model for a session: what a switch keeps, and the switch.

use super::compact::{self, Draft, check_fresh};
use super::open::{Instructions, ToolsChange, instruct};
use super::session::Session;
use super::summary::StoredSummary;
use super::window::assemble::check_fits;
use super::window::fixed::fixed_of;
use super::window::recount::{self, Kept};
use crate::Result;
use crate::context::Reason;
use crate::models::Model;

/// The plan of a switch of models.
#[derive(Debug, Clone)]
pub struct SwitchPlan {
    /// The model of now.
    pub from: Model,
    /// The model of then.
    pub to: Model,
    /// The limit of prompts for it.
    pub limit: u64,
    /// The tokens of it that history may have.
    pub history_tokens: u64,
    /// The messages that stay.
    pub kept: Kept,
    /// Counted tokens of tools, system prompt, pinned memory, summary and the reply's frame.
    pub fixed_tokens: u64,
}

/// The instructions of the model after a switch; `None` keeps the present ones.
#[derive(Debug, Clone, Copy, Default)]
pub struct NewInstructions<'a> {
    /// The system prompt.
    pub system: Option<&'a str>,
    /// The tools as JSON.
    pub tools: Option<&'a [u8]>,
}

impl Session<'_> {
    /// The plan of a switch to `model`: the messages that it would keep.
    pub fn plan_switch(&self, model: &Model, now: i64) -> Result<SwitchPlan> {
        self.plan_switch_with(model, None, now)
    }

    /// Moves the session to another model: recounted inside its window, a new budget, a new epoch; `compacted` is a summary of what
    /// does not fit it, made from [`Self::switch_draft`], committed with the switch.
    ///
    /// # Errors
    /// `BudgetExceeded` where the fixed sections and the newest message do not fit the model. Nothing is written then.
    pub fn switch_model(
        &self,
        model: &Model,
        told: NewInstructions<'_>,
        compacted: Option<(&Draft, StoredSummary)>,
        now: i64,
    ) -> Result<SwitchPlan> {
        let new = compacted.as_ref().map(|(_, made)| &made.summary);
        let plan = self.plan_without_check(model, new, now)?; // counts outside of the transaction: a second count finds the cache
        let (model, parsed) = (model.clone(), super::open::read_tools(told.tools)?);
        let (system, replaces) = (told.system.map(str::to_owned), told.tools.is_some());
        let compacted = compacted.map(|(draft, made)| (draft.place, draft.seen, made));
        self.edit("switching the model", now, move |writer| {
            if system.is_some() || replaces {
                let tools = replaces.then(|| ToolsChange::to(parsed.as_ref()));
                instruct(writer, &Instructions { system: system.clone(), tools })?;
            }
            if let Some((place, seen, made)) = &compacted {
                check_fresh(writer, *place, *seen)?;
                compact::put(writer, made)?;
            }
            recount::switch(writer, model.clone(), Reason::ModelSwitched)?;
            let fixed = fixed_of(&*writer.pages, writer.place, &writer.epoch, writer.now)?;
            check_fits(&*writer.pages, &writer.record, &writer.epoch, &fixed, &writer.view(), u64::MAX)
        })?;
        Ok(plan)
    }
}
