//! Selection for the volatile block: candidates compete for grants, and each gets an explanation.
//!
//! The sections are, in order: newer pinned memory, task state, recalled memories, the caller's own sections, retrieved documents. Within a
//! section candidates stand by score, those of the caller first; one that does not fit is passed over for a smaller one. A recalled memory
//! must also reach the relevance floor: a prompt is not filled up with weak memories. Text that is pinned, or chosen before, is not shown
//! twice; text that did not fit one section competes in the next. Of tasks the keys that were set last come first where there is no room
//! for all ([`super::entries`]), and two keys may have the same value. Sections that left something out share the tokens that others do not
//! use.
//!
//! Models attend most to the start and the end of what they are given (Liu et al., "Lost in the Middle", 2023), so recalled
//! and retrieved texts alternate: best first, second best last, the weakest in the middle.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::block::{self, Block, Item, chunk};
use super::budget::{Ask, Grant, allocate};
use super::entries::{self, LeftOut, is_keyed, is_line};
use super::epoch::MemoryRef;
use super::explain::{Explained, SectionUse, Why};
use super::limit::{Budget, section};
use super::repeats::print;
use crate::Result;
use crate::tokens::Counter;

/// The resulting block, and the reasons.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    pub(super) block: Option<Arc<Block>>,
    pub(super) sections: Vec<SectionUse>,
    pub(super) explained: Vec<Explained>,
}

/// The inputs of the selection.
pub(super) struct Chooser<'a> {
    pub(super) budget: &'a Budget,
    /// The tokens that the fixed sections leave of the limit: the base of default grants.
    pub(super) space: u64,
    /// The most tokens of the block.
    pub(super) room: u64,
    pub(super) counter: &'a dyn Counter,
    /// The memories that are pinned already.
    pub(super) pinned: &'a [Item],
    /// Tokens that the block leaves stay unused: no window of history takes them.
    pub(super) has_spare: bool,
    /// The tokens by which history may grow before the window is cut again.
    pub(super) step: u64,
    /// The room that is left once history has all that it may; with a window that slides, as much as there is.
    pub(super) at_cut: u64,
}

/// Where a recalled text comes from: each source has its own floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Caller,
    Memory,
    Message,
}

impl Source {
    const ALL: [Self; 3] = [Self::Caller, Self::Memory, Self::Message];

    fn of(item: &Item) -> Self {
        match (item.memory, item.message) {
            (Some(_), _) => Self::Memory,
            (None, Some(_)) => Self::Message,
            (None, None) => Self::Caller,
        }
    }
}

/// A section while it is filled; `ranked` is best first.
struct Filling {
    name: Arc<str>,
    grant: Grant,
    overhead: u64,
    ranked: Vec<Ranked>,
    /// Tokens of those that are larger than the ceiling, as far as they could be shown.
    longer: u64,
    granted: u64,
    used: u64,
}

struct Ranked {
    candidate: usize,
    chunk: String,
    tokens: u64,
    /// The [`print()`] of the text: none is shown twice, but under two keys.
    text: u128,
    keyed: bool,
    taken: bool,
}

/// An item on its way into the block.
struct Rendered<'a> {
    /// None of a line that is new.
    candidate: Option<usize>,
    item: Cow<'a, Item>,
    chunk: String,
    tokens: u64,
}

impl Chooser<'_> {
    /// Chooses among fresh candidates.
    pub(super) fn choose(&self, candidates: &[Item]) -> Result<Chosen> {
        self.with_entries(candidates, self.among(candidates, None)?)
    }

    /// Chooses among candidates; `of_tasks` are the tokens that tasks have for certain.
    pub(super) fn among(&self, candidates: &[Item], of_tasks: Option<u64>) -> Result<Chosen> {
        let mut whys: Vec<Option<Why>> = vec![None; candidates.len()];
        let room = self.room.saturating_sub(block::wrapper_tokens(self.counter));
        let mut fillings = self.rank(candidates, room, of_tasks, &mut whys);
        award(room, &mut fillings)?;
        // A pinned memory may stand in the block once more, where something else is known of it. A message that says the same may not.
        let pinned: BTreeSet<u128> = self.pinned.iter().map(|item| print(&item.text)).collect();
        for filling in &mut fillings {
            let says_it = |ranked: &mut Ranked| candidates[ranked.candidate].message.is_some() && pinned.contains(&ranked.text);
            for repeated in filling.ranked.extract_if(.., says_it) {
                whys[repeated.candidate] = Some(Why::Repeated);
            }
        }
        let (mut left, mut shown) = (room, BTreeSet::new());
        for filling in &mut fillings {
            let most = filling.granted.min(left);
            filling.fill(most, &mut shown);
            left -= filling.used;
        }
        for filling in &mut fillings {
            let most = filling.grant.ceiling.min(filling.used + left);
            left += filling.used;
            filling.fill(most, &mut shown);
            left -= filling.used;
        }
        for filling in &mut fillings {
            for repeated in filling.ranked.extract_if(.., |ranked| !ranked.taken && !ranked.keyed && shown.contains(&ranked.text)) {
                whys[repeated.candidate] = Some(Why::Repeated);
            }
        }
        Ok(self.finish(candidates, fillings, whys))
    }

    /// Shows the same items as before in this turn, less what no longer fits: the lowest score of the last section goes first. Each time
    /// that something goes the prompt breaks with what a provider has cached, so that the block gives way as far as it must before the
    /// window is cut, or by its half where it is much larger than that.
    pub(super) fn repeat(&self, items: &[Item]) -> Chosen {
        let tokens: Vec<u64> = items.iter().map(|item| self.counter.count(&chunk(item))).collect();
        let (mut block, mut whys) = self.frozen(items);
        if whys.iter().any(|why| *why != Why::Frozen) {
            let whole = block::wrapper_tokens(self.counter) + tokens.iter().sum::<u64>();
            let room = self.room.min(if self.at_cut >= whole / 4 { self.at_cut } else { whole / 2 });
            let fewer = Chooser { room, ..*self }.frozen(items);
            (block, whys) = if fewer.0.is_some() { fewer } else { (block, whys) };
        }
        let sections = block.as_ref().map_or_else(Vec::new, |block| sections_of(&block.items, self.counter));
        let mut explained: Vec<Explained> =
            items.iter().zip(tokens).zip(whys).map(|((item, tokens), why)| Explained::of(item, tokens, why)).collect();
        if !items.iter().any(is_line)
            && let Some(line) = block.iter().flat_map(|block| &block.items).find(|item| is_line(item))
        {
            explained.push(Explained::of(line, self.counter.count(&chunk(line)), Why::Frozen));
        }
        Chosen { block, sections, explained }
    }

    /// The block of as many of these items as fit, with a line for the entries that go.
    fn frozen(&self, items: &[Item]) -> (Option<Arc<Block>>, Vec<Why>) {
        let mut whys = vec![Why::Frozen; items.len()];
        let shown = items.iter().enumerate().map(|(candidate, item)| self.shown(Some(candidate), Cow::Borrowed(item))).collect();
        (self.block_within(shown, &mut whys, true), whys)
    }

    fn shown<'i>(&self, candidate: Option<usize>, item: Cow<'i, Item>) -> Rendered<'i> {
        let chunk = chunk(&item);
        Rendered { candidate, item, tokens: self.counter.count(&chunk), chunk }
    }

    fn rank(&self, candidates: &[Item], room: u64, of_tasks: Option<u64>, whys: &mut [Option<Why>]) -> Vec<Filling> {
        let filling = |name: Arc<str>| {
            let mut grant = self.budget.grant(&name, self.space);
            if let Some(floor) = of_tasks.filter(|_| &*name == section::TASK) {
                grant = Grant { floor, ceiling: grant.ceiling.max(floor), ..grant };
            }
            let overhead = block::section_tokens(&name, self.counter);
            let most = grant.ceiling.min(room).saturating_sub(overhead);
            let order = best_first(candidates, &name);
            let best = Source::ALL.map(|source| {
                order.iter().map(|index| &candidates[*index]).filter(|item| Source::of(item) == source).filter_map(|item| item.score).max()
            });
            let (mut ranked, mut longer) = (Vec::new(), 0_u64);
            for candidate in order {
                match self.admit(&candidates[candidate], best, most) {
                    Ok((chunk, tokens)) => {
                        let (text, keyed) = (print(&candidates[candidate].text), is_keyed(&candidates[candidate]));
                        ranked.push(Ranked { candidate, chunk, tokens, text, keyed, taken: false });
                    }
                    Err(why) => {
                        let is_shortened = &*name == section::TASK && matches!(why, Why::OverCeiling { .. });
                        longer = longer.saturating_add(if is_shortened { most } else { 0 });
                        whys[candidate] = Some(why);
                    }
                }
            }
            Filling { name, grant, overhead, ranked, longer, granted: 0, used: 0 }
        };
        section_order(candidates).into_iter().map(filling).collect()
    }

    /// The chunk and the tokens of an item that may be shown, or why it may not.
    fn admit(&self, item: &Item, best: [Option<i64>; 3], most: u64) -> Result<(String, u64), Why> {
        let floor = self.relevance_floor(Source::of(item), best);
        if item.text.is_empty() {
            return Err(Why::Empty);
        }
        if &*item.section != section::UPDATED && self.is_pinned(item) {
            return Err(Why::Pinned);
        }
        if &*item.section == section::RECALLED && item.score.is_some_and(|score| score < floor) {
            return Err(Why::BelowFloor { floor });
        }
        let chunk = chunk(item);
        let tokens = self.counter.count_within(&chunk, most).ok_or(Why::OverCeiling { ceiling: most })?;
        Ok((chunk, tokens))
    }

    fn is_pinned(&self, item: &Item) -> bool {
        let same = |pinned: &MemoryRef, memory: &MemoryRef| (pinned.partition, pinned.memory) == (memory.partition, memory.memory);
        let pinned = |memory: &MemoryRef| self.pinned.iter().filter_map(|item| item.memory.as_ref()).any(|pinned| same(pinned, memory));
        item.memory.as_ref().is_some_and(pinned)
    }

    /// The least score of an item of a source. A memory is measured by the best memory. A message is not, since what was said before may be
    /// the question itself: how sure it is was asked before it became a candidate, and behind the best a quarter is enough.
    fn relevance_floor(&self, source: Source, best: [Option<i64>; 3]) -> i64 {
        if source == Source::Message {
            return 0;
        }
        let best = u64::try_from(best[source as usize].unwrap_or(0)).unwrap_or(0);
        let share = i64::try_from(self.budget.relevance.of_best.of(best)).unwrap_or(i64::MAX);
        share.max(self.budget.relevance.min_score)
    }

    fn finish(&self, candidates: &[Item], fillings: Vec<Filling>, whys: Vec<Option<Why>>) -> Chosen {
        let mut chosen = Chosen::default();
        let mut shown = Vec::new();
        let mut tokens = vec![0; candidates.len()];
        let mut whys: Vec<Why> = whys.into_iter().map(|why| why.unwrap_or(Why::Chosen)).collect();
        for filling in fillings {
            chosen.sections.push(filling.section_use());
            let (granted, left) = (filling.granted.max(filling.used), filling.granted.saturating_sub(filling.used));
            let ceiling = filling.grant.ceiling;
            let mut taken = Vec::new();
            for Ranked { candidate, chunk, tokens: counted, taken: is_taken, .. } in filling.ranked {
                tokens[candidate] = counted;
                if is_taken {
                    taken.push(Rendered {
                        candidate: Some(candidate),
                        item: Cow::Borrowed(&candidates[candidate]),
                        chunk,
                        tokens: counted,
                    });
                } else {
                    whys[candidate] = Why::OverGrant { granted, left, ceiling };
                }
            }
            shown.extend(place(&filling.name, taken));
        }
        let fitting = shown.len();
        chosen.block = self.block_within(shown, &mut whys, false);
        if chosen.block.as_ref().is_some_and(|block| block.items.len() < fitting) {
            chosen.sections = chosen.block.as_ref().map_or_else(Vec::new, |block| sections_of(&block.items, self.counter));
        }
        self.note_repeated(&chosen, candidates, &mut whys);
        chosen.explained = candidates.iter().zip(tokens).zip(whys).map(|((item, tokens), why)| Explained::of(item, tokens, why)).collect();
        chosen
    }

    /// Says of what is left out that its text is shown, exactly where that is so: what is below the floor may stand there as a message.
    fn note_repeated(&self, chosen: &Chosen, candidates: &[Item], whys: &mut [Why]) {
        let block = chosen.block.as_ref().map_or(&[][..], |block| &block.items);
        let shown: BTreeSet<u128> = block.iter().chain(self.pinned).map(|item| print(&item.text)).collect();
        for (item, why) in candidates.iter().zip(whys) {
            match why {
                Why::Repeated if !shown.contains(&print(&item.text)) => *why = Why::OverRoom { left: self.room },
                Why::BelowFloor { .. } if shown.contains(&print(&item.text)) => *why = Why::Repeated,
                _ => {}
            }
        }
    }

    /// The block of what is shown. Where it does not fit, because the room shrank or counts of parts do not add up to the count
    /// of the whole, items go until it does. A block that `tells` has a line for the entries of tasks that go.
    fn block_within(&self, shown: Vec<Rendered<'_>>, whys: &mut [Why], tells: bool) -> Option<Arc<Block>> {
        let mut slots: Vec<Option<Rendered<'_>>> = shown.into_iter().map(Some).collect();
        if let Some(block) = self.fitting(&slots) {
            return Some(block);
        }
        for at in weakest_first(&slots) {
            let Some(dropped) = slots[at].take() else { continue };
            if let Some(candidate) = dropped.candidate {
                whys[candidate] = Why::OverRoom { left: self.room };
            }
            if tells && &*dropped.item.section == section::TASK {
                self.tell(&mut slots, at, &dropped.item);
            }
            if let Some(block) = self.fitting(&slots) {
                return Some(block);
            }
        }
        None
    }

    /// The block of what is left, if it fits and there is anything.
    fn fitting(&self, slots: &[Option<Rendered<'_>>]) -> Option<Arc<Block>> {
        let left: Vec<&Rendered<'_>> = slots.iter().flatten().collect();
        let text = || block::join(left.iter().map(|shown| (&*shown.item.section, &*shown.chunk)));
        let (text, tokens) = if left.is_empty() {
            return None;
        } else if self.counter.splits_at_tags() {
            let tokens = self.sum(&left);
            if tokens > self.room {
                return None;
            }
            (text(), tokens)
        } else {
            let text = text();
            let tokens = self.counter.count(&text);
            (text, tokens)
        };
        (tokens <= self.room).then(|| Block::counted(left.iter().map(|shown| (*shown.item).clone()).collect(), text, tokens))
    }

    /// Counts an entry among those that are not shown, in the line for them or in a new one at its place.
    fn tell(&self, slots: &mut [Option<Rendered<'_>>], at: usize, dropped: &Item) {
        let line = slots.iter().position(|slot| slot.as_ref().is_some_and(|shown| is_line(&shown.item))).unwrap_or(at);
        let known = slots[line].take();
        let mut left_out = known.as_ref().map(|known| LeftOut::told(&known.item)).unwrap_or_default();
        left_out.add(dropped);
        slots[line] = Some(self.shown(known.and_then(|known| known.candidate), Cow::Owned(left_out.line())));
    }

    fn sum(&self, shown: &[&Rendered<'_>]) -> u64 {
        let mut tokens = block::wrapper_tokens(self.counter);
        for (index, one) in shown.iter().enumerate() {
            if index == 0 || shown[index - 1].item.section != one.item.section {
                tokens += block::section_tokens(&one.item.section, self.counter);
            }
            tokens += one.tokens;
        }
        tokens
    }
}

impl Filling {
    fn asked(&self) -> u64 {
        let mut once = BTreeSet::new();
        let texts = self.ranked.iter().filter(|ranked| once.insert(ranked.text) || ranked.keyed);
        let items: u64 = texts.map(|ranked| ranked.tokens).fold(self.longer, u64::saturating_add);
        if items == 0 { 0 } else { items.saturating_add(self.overhead) }
    }

    /// Takes what fits into `most` and is not `shown` yet, best first.
    fn fill(&mut self, most: u64, shown: &mut BTreeSet<u128>) {
        for ranked in self.ranked.iter_mut().filter(|ranked| !ranked.taken) {
            let first = if self.used == 0 { self.overhead } else { 0 };
            if self.used + first + ranked.tokens <= most && (shown.insert(ranked.text) || ranked.keyed) {
                self.used += first + ranked.tokens;
                ranked.taken = true;
            }
        }
    }

    fn section_use(&self) -> SectionUse {
        let (name, granted) = (Arc::clone(&self.name), self.granted.max(self.used));
        let items = self.ranked.iter().filter(|ranked| ranked.taken).count() as u64;
        SectionUse { name, grant: Some(self.grant), asked: self.asked(), granted, tokens: self.used, items }
    }
}

/// Candidates of a section: the caller's own first, then by score, the earlier of equals first.
fn best_first(candidates: &[Item], section: &str) -> Vec<usize> {
    let mut order: Vec<usize> = (0..candidates.len()).filter(|index| &*candidates[*index].section == section).collect();
    order.sort_by_key(|index| (candidates[*index].score.is_some(), Reverse(candidates[*index].score), *index));
    order
}

/// Floors that the room cannot hold are cut down in the order of the sections: the newest message comes before them.
fn award(room: u64, fillings: &mut [Filling]) -> Result<()> {
    let mut left = room;
    let mut asks = Vec::with_capacity(fillings.len());
    for filling in fillings.iter() {
        let asked = filling.asked();
        let floor = filling.grant.floor.min(left);
        left -= floor.min(asked);
        let grant = Grant { floor, ceiling: filling.grant.ceiling.max(floor), ..filling.grant };
        asks.push(Ask { section: &filling.name, grant, asked });
    }
    let awards = allocate(room, &asks)?;
    for (filling, award) in fillings.iter_mut().zip(awards) {
        filling.granted = award;
    }
    Ok(())
}

fn sections_of(items: &[Item], counter: &dyn Counter) -> Vec<SectionUse> {
    let section_use = |name: Arc<str>| {
        let items: Vec<&Item> = items.iter().filter(|item| item.section == name).collect();
        let tokens = block::section_tokens(&name, counter) + items.iter().map(|item| counter.count(&chunk(item))).sum::<u64>();
        SectionUse { grant: None, asked: tokens, granted: tokens, tokens, items: items.len() as u64, name }
    };
    section_order(items).into_iter().map(section_use).collect()
}

/// The sections that occur, in the order they are shown.
fn section_order(items: &[Item]) -> Vec<Arc<str>> {
    let mut names: Vec<Arc<str>> = Vec::new();
    for item in items {
        if !names.contains(&item.section) {
            names.push(Arc::clone(&item.section));
        }
    }
    names.sort_by_key(|name| section_rank(name));
    names
}

fn section_rank(name: &str) -> usize {
    let last = section::VOLATILE.len();
    let name = if name == section::NEWER { section::UPDATED } else { name };
    match section::VOLATILE.iter().position(|volatile| *volatile == name) {
        Some(rank) if name == section::RETRIEVED => rank + 1,
        Some(rank) => rank,
        None => last - 1,
    }
}

/// The items, where no slot is empty, in the order in which they go when there is no room: those of the last section first, and of them the
/// one with the lowest score, the later of equals. Of entries of tasks [`entries::weakest_first`] says it.
fn weakest_first(slots: &[Option<Rendered<'_>>]) -> Vec<usize> {
    let shown: Vec<&Rendered<'_>> = slots.iter().flatten().collect();
    let entries = entries::weakest_first(&shown.iter().map(|shown| (&*shown.item, shown.tokens)).collect::<Vec<_>>());
    let places: BTreeMap<usize, usize> = entries.into_iter().enumerate().map(|(place, at)| (at, place)).collect();
    let mut order: Vec<usize> = (0..shown.len()).filter(|at| !is_line(&shown[*at].item)).collect();
    order.sort_by_key(|at| {
        let item = &shown[*at].item;
        (Reverse(section_rank(&item.section)), item.score.unwrap_or(i64::MAX), places.get(at).copied(), Reverse(*at))
    });
    order
}

/// Best first, second best last, the weakest in the middle; task state and newer memory keep their order.
fn place<T>(section_name: &str, ranked: Vec<T>) -> Vec<T> {
    if matches!(section_name, section::TASK | section::UPDATED | section::NEWER) {
        return ranked;
    }
    let (mut front, mut back) = (Vec::new(), Vec::new());
    for (rank, item) in ranked.into_iter().enumerate() {
        if rank % 2 == 0 { front.push(item) } else { back.push(item) }
    }
    front.extend(back.into_iter().rev());
    front
}

#[cfg(test)]
mod tests {
    use super::super::block::MessageRef;
    use super::super::properties::session::item;
    use super::super::testing::{Random, WordCounter, words};
    use super::*;

    fn chooser<'a>(budget: &'a Budget, room: u64, pinned: &'a [Item]) -> Chooser<'a> {
        Chooser { budget, space: 4_000, room, counter: &WordCounter, pinned, has_spare: true, step: 0, at_cut: u64::MAX }
    }

    fn why(chosen: &Chosen, index: usize) -> &Why {
        &chosen.explained[index].why
    }

    #[test]
    fn recalled_memories_earn_their_place() {
        let candidates =
            [item("recalled", "best", 1, Some(800)), item("recalled", "half", 2, Some(400)), item("recalled", "weak", 3, Some(399))];
        let chosen = chooser(&Budget::default(), 1_000, &[]).choose(&candidates).unwrap();
        assert_eq!(why(&chosen, 1), &Why::Chosen);
        assert_eq!(why(&chosen, 2), &Why::BelowFloor { floor: 400 });
        let retrieved = [item("retrieved", "best", 1, Some(800)), item("retrieved", "weak", 3, Some(1))];
        let chosen = chooser(&Budget::default(), 1_000, &[]).choose(&retrieved).unwrap();
        assert_eq!(why(&chosen, 1), &Why::Chosen, "the floor is for memories");
    }

    #[test]
    fn nothing_is_shown_twice() {
        let pinned = [item("pinned", "the rule", 7, None)];
        let candidates =
            [item("recalled", "the rule", 7, Some(9)), item("recalled", "same", 1, Some(9)), item("retrieved", "same", 2, None)];
        let chosen = chooser(&Budget::default(), 1_000, &pinned).choose(&candidates).unwrap();
        assert_eq!([why(&chosen, 0), why(&chosen, 1), why(&chosen, 2)], [&Why::Pinned, &Why::Chosen, &Why::Repeated]);
    }

    #[test]
    fn what_is_below_the_floor_may_stand_there_as_a_message() {
        let said = Item {
            memory: None,
            message: Some(MessageRef { partition: 1, session: 1, index: 0, document: 1 }),
            ..item("recalled", "standup is at ten", 4, Some(300))
        };
        let candidates = [
            item("recalled", "best", 1, Some(800)),
            item("recalled", "Standup is at ten.", 2, Some(300)),
            item("recalled", "weak", 3, Some(300)),
            said,
        ];
        let chosen = chooser(&Budget::default(), 1_000, &[]).choose(&candidates).unwrap();
        let below = Why::BelowFloor { floor: 400 };
        assert_eq!([0, 1, 2, 3].map(|index| why(&chosen, index)), [&Why::Chosen, &Why::Repeated, &below, &Why::Chosen]);
    }

    #[test]
    fn text_that_does_not_fit_one_section_competes_in_the_next() {
        let updated = (0..30).map(|n| item(section::UPDATED, &format!("rule {n} {}", words(20)), n, None));
        let mut candidates: Vec<Item> = updated.collect();
        let wanted = Item { section: section::RECALLED.into(), score: Some(800), ..candidates[29].clone() };
        let shown = Item { section: section::RECALLED.into(), score: Some(790), ..candidates[0].clone() };
        candidates.extend([wanted, shown]);
        let chosen = chooser(&Budget::default(), 1_000, &[]).choose(&candidates).unwrap();
        assert!(matches!(why(&chosen, 28), Why::OverGrant { .. }), "the control: {:?}", why(&chosen, 28));
        assert_eq!([why(&chosen, 29), why(&chosen, 30)], [&Why::Repeated, &Why::Chosen], "it is shown as recalled");
        assert_eq!([why(&chosen, 0), why(&chosen, 31)], [&Why::Chosen, &Why::Repeated]);
    }

    #[test]
    fn the_best_stand_at_both_ends() {
        let candidates: Vec<Item> = (0..5).map(|n| item("retrieved", &format!("text {n}"), n, Some(100 - n as i64))).collect();
        let chosen = chooser(&Budget::default(), 1_000, &[]).choose(&candidates).unwrap();
        let shown: Vec<&str> = chosen.block.as_ref().unwrap().items.iter().map(|item| &*item.text).collect();
        assert_eq!(shown, ["text 0", "text 2", "text 4", "text 3", "text 1"]);
    }

    #[test]
    fn one_that_does_not_fit_is_passed_over_for_a_smaller_one() {
        let candidates =
            [item("recalled", &words(60), 1, Some(9)), item("recalled", "small", 2, Some(8)), item("recalled", &words(40), 3, Some(7))];
        let chosen = chooser(&Budget::default(), 170, &[]).choose(&candidates).unwrap();
        let texts: Vec<&str> = chosen.block.as_ref().unwrap().items.iter().map(|item| &*item.text).collect();
        assert_eq!(texts.len(), 2);
        assert!(texts.contains(&"small"));
        assert!(chosen.explained.iter().filter(|line| matches!(line.why, Why::OverGrant { .. } | Why::OverCeiling { .. })).count() == 1);
    }

    #[test]
    fn a_frozen_block_loses_its_weakest_first_and_nothing_else_changes() {
        let mut random = Random::new(51);
        let items: Vec<Item> = (0..6)
            .map(|n| item(["task", "recalled", "retrieved"][n / 2], &format!("t{n} {}", words(20)), n as u64, Some(n as i64)))
            .collect();
        let whole = Block::new(items.clone(), &WordCounter).unwrap();
        let mut before = items.len();
        for room in (0..=whole.tokens).rev().step_by(1 + random.below(3) as usize) {
            let chosen = chooser(&Budget::default(), room, &[]).repeat(&items);
            assert!(chosen.block.as_ref().is_none_or(|block| block.tokens <= room));
            let shown: Vec<Item> = chosen.block.map_or_else(Vec::new, |block| block.items.clone());
            let left = shown.iter().filter(|item| items.contains(item)).count();
            assert!(left <= before && shown.iter().all(|item| items.contains(item) || is_line(item)));
            before = left;
        }
        let chosen = chooser(&Budget::default(), whole.tokens - 1, &[]).repeat(&items);
        assert_eq!(why(&chosen, 4), &Why::OverRoom { left: whole.tokens - 1 }, "the lower score of the last section");
        assert_eq!(chooser(&Budget::default(), whole.tokens, &[]).repeat(&items).block.unwrap().text, whole.text);
    }

    #[test]
    fn a_frozen_block_that_gives_way_does_so_until_the_window_is_cut() {
        let items: Vec<Item> = (0..20).map(|n| item("recalled", &format!("t{n} {}", words(20)), n, Some(n as i64))).collect();
        let whole = Block::new(items.clone(), &WordCounter).unwrap().tokens;
        let budget = Budget::default();
        let tokens = |room, at_cut| {
            let block = Chooser { at_cut, ..chooser(&budget, room, &[]) }.repeat(&items).block.unwrap();
            block.tokens
        };
        assert_eq!(tokens(whole, 100), whole, "as long as it fits it stands still");
        assert!(tokens(whole - 1, whole / 3) <= whole / 3);
        let half = tokens(whole - 1, whole / 8);
        assert!(half <= whole / 2 && half > whole / 3, "{half} of {whole}");
        assert!(tokens(whole / 3, whole / 8) <= whole / 3);
        assert_eq!(tokens(whole - 1, u64::MAX), tokens(whole - 1, whole), "a window that slides takes what it needs");
    }
}
