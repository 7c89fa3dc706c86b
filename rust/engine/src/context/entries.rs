//! The entries of tasks and the notes, where a block has no room for all of them.
//!
//! Notes come first, and then what was set last: of a list of steps those are the open ones. The last key of each task has room beside the
//! notes. An entry of more than half of the tokens that the section has is shown by its beginning and its end, and a line says how many
//! notes and keys are left out. Beyond its ceiling the section gets half of the tokens that the block leaves unused and that history does
//! not need before the window is cut, where the caller granted it nothing else and no history could use them.

use std::collections::BTreeMap;

use super::block::{self, Form, Item, chunk};
use super::explain::{Explained, Why};
use super::limit::section::TASK;
use super::select::{Chooser, Chosen};
use super::shorten::{Between, LEAST_TOKENS, shorten};
use crate::Result;

/// Tries with less room: items that count more together than alone.
const MOST_TRIES: usize = 4;
/// The last keys of tasks have one part in so many of what the section has, whatever notes there are.
const LAST_KEYS: u64 = 4;
/// The kinds that a line counts, in its order: the caller's own items, notes and keys of tasks.
const KINDS: [&str; 3] = ["item", "note", "key"];
/// The id of the line.
const LINE: &str = "more";

/// How many entries of each of [`KINDS`] are left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LeftOut([u64; 3]);

impl LeftOut {
    fn of<'a>(entries: impl Iterator<Item = &'a Item>) -> Self {
        let mut left_out = Self::default();
        entries.for_each(|item| left_out.add(item));
        left_out
    }

    /// The counts in a line.
    pub(super) fn told(line: &Item) -> Self {
        let mut left_out = Self::default();
        let words: Vec<&str> = line.text.split_whitespace().collect();
        for three in words.windows(3).filter(|three| three[1] == "more") {
            let kind = three[2].trim_end_matches(',').trim_end_matches('s');
            if let (Ok(count), Some(at)) = (three[0].parse(), KINDS.iter().position(|known| *known == kind)) {
                left_out.0[at] = count;
            }
        }
        left_out
    }

    pub(super) fn add(&mut self, item: &Item) {
        let is_note = item.attributes.iter().any(|(name, _)| &**name == "key");
        self.0[if is_keyed(item) { 2 } else { usize::from(is_note) }] += 1;
    }

    /// The line that says it.
    pub(super) fn line(self) -> Item {
        let counts = KINDS.iter().zip(self.0).filter(|(_, count)| *count > 0);
        let mut parts: Vec<String> =
            counts.map(|(kind, count)| format!("{count} more {kind}{}", if count == 1 { "" } else { "s" })).collect();
        let last = parts.pop().unwrap_or_default();
        let all = if parts.is_empty() { last } else { format!("{} and {last}", parts.join(", ")) };
        let is_are = if self.0.iter().sum::<u64>() == 1 { "is" } else { "are" };
        Item {
            section: TASK.into(),
            id: LINE.into(),
            attributes: Vec::new(),
            text: format!("{all} {is_are} not shown").into(),
            memory: None,
            message: None,
            document: None,
            form: Form::dated(),
            score: None,
        }
    }
}

/// Whether an item is the line that says how many entries are left out. One of the caller's has another id, or says it.
pub(super) fn is_line(item: &Item) -> bool {
    &*item.section == TASK && &*item.id == LINE && item.attributes.is_empty()
}

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
        let behind = order(&candidates.iter().collect::<Vec<_>>(), &mut entries);
        let last: Vec<usize> = entries.iter().copied().filter(|at| behind[at] == Some(0)).collect();
        let mut room = self.room_of_entries(&first);
        for _ in 0..MOST_TRIES {
            let Some(fitted) = self.fit_entries(candidates, (&entries, &last), room) else { break };
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
        if self.has_spare && !is_granted { within.max(used + spare.saturating_sub(self.step) / 2) } else { within }
    }

    /// Fills so much room with entries in their order, those that are the last of a task among them.
    fn fit_entries(&self, candidates: &[Item], (entries, last): (&[usize], &[usize]), room: u64) -> Option<Fitted> {
        let line = self.counter.count(&chunk(&LeftOut::of(entries.iter().map(|at| &candidates[*at])).line()));
        let mut left = room.checked_sub(block::section_tokens(TASK, self.counter) + line)?;
        let most = if entries.len() == 1 { left } else { left / 2 };
        let part = left / LAST_KEYS;
        let of_last =
            last.iter().map(|at| self.counter.count_within(&chunk(&candidates[*at]), part).unwrap_or(part)).sum::<u64>().min(part);
        let mut shown = BTreeMap::new();
        // Notes get the room that the last keys leave of their part.
        let twice = entries.iter().map(|at| (at, of_last)).chain(entries.iter().map(|at| (at, 0)));
        for (at, kept) in twice {
            if shown.contains_key(at) {
                continue;
            }
            let (text, is_last) = (chunk(&candidates[*at]), last.contains(at));
            let free = if is_keyed(&candidates[*at]) { left } else { left.saturating_sub(kept) }.min(most);
            let whole = self.counter.count_within(&text, free).map(|tokens| (tokens, candidates[*at].clone()));
            let is_long = || self.counter.count_within(&text, if is_last { part } else { most }).is_none();
            let found = whole.or_else(|| is_long().then(|| self.shortened(&candidates[*at], free)).flatten());
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
                items.push(LeftOut::of(left_out.iter().map(|at| &candidates[*at])).line());
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

/// Notes and the caller's own items in their order, then the keys of all tasks from the last on: how many keys of its task stand behind
/// each.
fn order(candidates: &[&Item], entries: &mut [usize]) -> BTreeMap<usize, Option<u64>> {
    let (mut behind, mut last) = (BTreeMap::new(), (None, 0));
    for at in entries.iter().rev() {
        let task = candidates[*at].attributes.iter().find(|(name, _)| &**name == "task").map(|(_, task)| task);
        last = if last.0 == task { (task, last.1 + 1) } else { (task, 0) };
        behind.insert(*at, task.map(|_| last.1));
    }
    entries.sort_by_key(|at| (behind[at], *at));
    behind
}

/// The entries among `items`, each with its tokens, in the order in which they go when there is no room: the keys of tasks from the first
/// on, then notes from the last on, as long as the last keys of tasks have no more than their part, and those. The line never goes.
pub(super) fn weakest_first(items: &[(&Item, u64)]) -> Vec<usize> {
    let all: Vec<&Item> = items.iter().map(|(item, _)| *item).collect();
    let mut entries: Vec<usize> = (0..all.len()).filter(|at| &*all[*at].section == TASK && !is_line(all[*at])).collect();
    let behind = order(&all, &mut entries);
    let mut going: Vec<usize> = entries.iter().rev().copied().filter(|at| behind[at].is_some_and(|behind| behind > 0)).collect();
    let (mut keys, mut notes): (Vec<usize>, Vec<usize>) =
        entries.into_iter().filter(|at| behind[at].is_none_or(|behind| behind == 0)).partition(|at| behind[at].is_some());
    let tokens = |some: &[usize]| some.iter().map(|at| items[*at].1).sum::<u64>();
    let (mut of_keys, mut of_notes) = (tokens(&keys), tokens(&notes));
    while !keys.is_empty() || !notes.is_empty() {
        let note_goes = !notes.is_empty() && (keys.is_empty() || of_notes >= of_keys * (LAST_KEYS - 1));
        let (from, left) = if note_goes { (&mut notes, &mut of_notes) } else { (&mut keys, &mut of_keys) };
        if let Some(at) = from.pop() {
            *left -= items[at].1;
            going.push(at);
        }
    }
    going
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

#[cfg(test)]
mod tests {
    use super::super::block::Block;
    use super::super::limit::Budget;
    use super::super::properties::session::item;
    use super::super::testing::{WordCounter, words};
    use super::*;

    fn chooser(budget: &Budget, room: u64) -> Chooser<'_> {
        Chooser { budget, space: 4_000, room, counter: &WordCounter, pinned: &[], has_spare: true, step: 0, at_cut: u64::MAX }
    }

    #[test]
    fn a_frozen_block_loses_the_keys_that_were_set_first_and_counts_them() {
        let budget = Budget::default();
        let entry = |id: &str, attributes: &[(&str, &str)], n: u64| {
            let attributes = attributes.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
            Item { id: id.into(), attributes, memory: None, ..item("task", &format!("{id} {}", words(20)), n, None) }
        };
        let mut items: Vec<Item> = (0..6).map(|n| entry(&format!("note-{n}"), &[("key", "note")], n)).collect();
        items.extend((0..8).map(|n| entry(&format!("plan/{n}"), &[("task", "plan"), ("key", &n.to_string())], n)));
        let ids = |block: &Block| block.items.iter().map(|item| item.id.to_string()).collect::<Vec<_>>();
        let whole = Block::new(items.clone(), &WordCounter).unwrap();
        let mut seen = std::collections::BTreeSet::new();
        let (mut shown, mut left_out) = (items.clone(), [0, 0]);
        for room in (0..whole.tokens).rev() {
            let chosen = chooser(&budget, room).repeat(&shown);
            let Some(block) = chosen.block else { break };
            assert!(block.tokens <= room);
            let of = |kind: &str| block.items.iter().filter(|item| item.id.starts_with(kind)).count();
            let line = block.items.iter().find(|item| is_line(item)).unwrap();
            let counts = LeftOut::told(line);
            assert_eq!(counts.line().text, line.text, "what a line says can be read");
            assert!(of("note") + of("plan") == 0 || ids(&block).contains(&"plan/7".to_owned()) || of("note") < 4, "{:?}", ids(&block));
            let now = [6 - of("note"), 8 - of("plan")];
            assert!(now[0] >= left_out[0] && now[1] >= left_out[1]);
            let said = |count: usize, kind: &str| if count == 1 { format!("1 more {kind} ") } else { format!("{count} more {kind}s ") };
            assert!(now[1] == 0 || line.text.contains(&said(now[1], "key")), "{} of {now:?}", line.text);
            assert!(now[0] == 0 || line.text.contains(&said(now[0], "note")), "{} of {now:?}", line.text);
            seen.insert(now);
            (shown, left_out) = (block.items.clone(), now);
        }
        assert!(seen.contains(&[0, 7]) && seen.len() > 8, "keys go first, and the last stays beside the notes: {seen:?}");
    }
}
