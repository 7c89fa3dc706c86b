//! The entries of tasks and the notes, where a block has no room for all of them.
//!
//! Notes come first, and then what was set last: of a list of steps those are the open ones. An entry of more than half of the tokens that
//! the section has is shown by its beginning and its end, and a line says how many keys are left out. Beyond its ceiling the section gets
//! half of the tokens that the block leaves unused, where the caller granted it nothing else and no history could use them.

use std::collections::BTreeMap;

use super::block::{self, Form, Item, chunk};
use super::explain::{Explained, Why};
use super::limit::section::TASK;
use super::select::{Chooser, Chosen};
use super::shorten::{Between, LEAST_TOKENS, shorten};
use crate::Result;

/// Tries with less room: items that count more together than alone.
const MOST_TRIES: usize = 4;

/// Whether an item is a key of a task: two of them may have the same value.
pub(super) fn is_keyed(item: &Item) -> bool {
    &*item.section == TASK && item.attributes.iter().any(|(name, _)| &**name == "task")
}

/// The items of a block that shows as many entries as fit, and which candidate each of them is; the line is none.
struct Fitted {
    items: Vec<Item>,
    of: Vec<Option<usize>>,
    /// Candidates that are left out.
    left_out: Vec<usize>,
    /// Tokens that are left.
    left: u64,
}

impl Chooser<'_> {
    /// The choice `first`, or where that leaves entries out, one that says so and shows those first that were set last.
    pub(super) fn with_entries(&self, candidates: &[Item], first: Chosen) -> Result<Chosen> {
        let is_out = |why: &Why| matches!(why, Why::OverCeiling { .. } | Why::OverGrant { .. } | Why::OverRoom { .. });
        let rows = || first.explained.iter().enumerate().filter(|(_, row)| &*row.section == TASK);
        if !rows().any(|(_, row)| is_out(&row.why)) {
            return Ok(first);
        }
        let mut entries: Vec<usize> = rows().filter(|(_, row)| is_out(&row.why) || row.why == Why::Chosen).map(|(at, _)| at).collect();
        order(candidates, &mut entries);
        let mut room = self.room_of_entries(&first);
        for _ in 0..MOST_TRIES {
            let Some(fitted) = self.fit_entries(candidates, &entries, room) else { break };
            let again = self.among(&fitted.items, Some(room))?;
            if again.explained.iter().all(|row| &*row.section != TASK || !is_out(&row.why)) {
                return Ok(merged(first, again, &fitted, room));
            }
            room -= room / 8;
        }
        Ok(first)
    }

    /// The tokens that the section may have in all, by a choice that left out some of it.
    fn room_of_entries(&self, first: &Chosen) -> u64 {
        let uses = first.sections.iter().find(|uses| &*uses.name == TASK);
        let (granted, used) = uses.map_or((0, 0), |uses| (uses.granted, uses.tokens));
        let taken = first.block.as_ref().map_or_else(|| block::wrapper_tokens(self.counter), |block| block.tokens);
        let spare = self.room.saturating_sub(taken);
        let within = (used + spare).min(self.budget.grant(TASK, self.space).ceiling).max(granted);
        let is_granted = self.budget.grants.iter().any(|(name, _)| &**name == TASK);
        if self.has_spare && !is_granted { within.max(used + spare / 2) } else { within }
    }

    fn fit_entries(&self, candidates: &[Item], entries: &[usize], room: u64) -> Option<Fitted> {
        let line = self.counter.count(&chunk(&more(entries.len())));
        let mut left = room.checked_sub(block::section_tokens(TASK, self.counter) + line)?;
        let most = if entries.len() == 1 { left } else { left / 2 };
        let mut shown = BTreeMap::new();
        for at in entries {
            let text = chunk(&candidates[*at]);
            let whole = self.counter.count_within(&text, left.min(most)).map(|tokens| (tokens, candidates[*at].clone()));
            let is_long = || self.counter.count_within(&text, most).is_none();
            let found = whole.or_else(|| is_long().then(|| self.shortened(&candidates[*at], left.min(most))).flatten());
            if let Some((tokens, item)) = found {
                left -= tokens;
                shown.insert(*at, item);
            }
        }
        let mut left_out: Vec<usize> = entries.iter().copied().filter(|at| !shown.contains_key(at)).collect();
        left_out.sort_unstable();
        let (mut items, mut of) = (Vec::new(), Vec::new());
        for (at, candidate) in candidates.iter().enumerate() {
            if left_out.first() == Some(&at) {
                items.push(more(left_out.len()));
                of.push(None);
            }
            if left_out.binary_search(&at).is_err() {
                items.push(shown.remove(&at).unwrap_or_else(|| candidate.clone()));
                of.push(Some(at));
            }
        }
        Some(Fitted { items, of, left_out, left })
    }

    /// An entry by its beginning and its end, within so many tokens.
    fn shortened(&self, item: &Item, most: u64) -> Option<(u64, Item)> {
        let frame = self.counter.count(&chunk(&Item { text: "".into(), ..item.clone() }));
        let mut room = most.checked_sub(frame)?;
        while room >= LEAST_TOKENS {
            let text = shorten(&item.text, None, room, self.counter, Between::Clusters)?.text;
            let item = Item { text: text.into(), ..item.clone() };
            let tokens = self.counter.count(&chunk(&item));
            let Some(over) = tokens.checked_sub(most).filter(|over| *over > 0) else { return Some((tokens, item)) };
            room = room.saturating_sub(over);
        }
        None
    }
}

/// Notes and the caller's own items in their order, then the keys of all tasks from the last on.
fn order(candidates: &[Item], entries: &mut [usize]) {
    let (mut behind, mut last) = (BTreeMap::new(), (None, 0));
    for at in entries.iter().rev() {
        let task = candidates[*at].attributes.iter().find(|(name, _)| &**name == "task").map(|(_, task)| task);
        last = if last.0 == task { (task, last.1 + 1) } else { (task, 0) };
        behind.insert(*at, task.map(|_| last.1));
    }
    entries.sort_by_key(|at| (behind[at], *at));
}

/// The line that says that keys are left out.
fn more(keys: usize) -> Item {
    let is_are = if keys == 1 { "key is" } else { "keys are" };
    Item {
        section: TASK.into(),
        id: "more".into(),
        attributes: Vec::new(),
        text: format!("{keys} more {is_are} not shown").into(),
        memory: None,
        message: None,
        document: None,
        form: Form::dated(),
        score: None,
    }
}

/// The second choice, with the grants of the first, and a row for each candidate.
fn merged(first: Chosen, again: Chosen, fitted: &Fitted, room: u64) -> Chosen {
    let Chosen { mut explained, sections: before, .. } = first;
    let mut lines: Vec<Explained> = Vec::new();
    for (of, row) in fitted.of.iter().zip(again.explained) {
        match of {
            Some(at) => explained[*at] = row,
            None => lines.push(row),
        }
    }
    let mut sections = again.sections;
    if let Some((uses, known)) = sections.iter_mut().find(|uses| &*uses.name == TASK).zip(before.iter().find(|known| &*known.name == TASK))
    {
        (uses.grant, uses.asked) = (known.grant, known.asked);
    }
    let ceiling = before.iter().find(|known| &*known.name == TASK).and_then(|known| known.grant).map_or(room, |grant| grant.ceiling);
    for at in &fitted.left_out {
        explained[*at].why = Why::OverGrant { granted: room, left: fitted.left, ceiling: ceiling.max(room) };
    }
    explained.extend(lines);
    Chosen { block: again.block, sections, explained }
}
