//! What goes into the volatile block: candidates against grants, each one explained.
//!
//! Sections in order: newer pinned memory, task state, recalled memories, the caller's own sections, retrieved documents.
//! Within a section candidates stand by score, those of the caller first; one that does not fit is passed over for a smaller
//! one. A recalled memory must also reach the relevance floor: a prompt is not filled up with weak memories. Text that is
//! pinned, or chosen before, is not shown twice. What a section does not use goes to those that left something out.
//!
//! Models attend most to the start and the end of what they are given (Liu et al., "Lost in the Middle", 2023), so recalled
//! and retrieved texts alternate: best first, second best last, the weakest in the middle.

use std::collections::HashSet;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use super::block::{self, Block, Item, chunk};
use super::budget::{Ask, Grant, allocate};
use super::explain::{Explained, SectionUse, Why};
use super::framing::Counter;
use super::limit::{Budget, section};
use crate::Result;

/// What the block became, and why.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    pub(super) block: Option<Arc<Block>>,
    pub(super) sections: Vec<SectionUse>,
    pub(super) explained: Vec<Explained>,
}

/// What choosing needs to know.
pub(super) struct Chooser<'a> {
    pub(super) budget: &'a Budget,
    /// What the fixed sections leave of the limit: the base of default grants.
    pub(super) space: u64,
    /// What the block may have.
    pub(super) room: u64,
    pub(super) counter: &'a dyn Counter,
    /// What is pinned already.
    pub(super) pinned: &'a [Item],
}

/// A section while it is filled. `ranked` holds indices of candidates, best first.
struct Filling {
    name: Arc<str>,
    grant: Grant,
    overhead: u64,
    ranked: Vec<Ranked>,
    granted: u64,
    used: u64,
}

struct Ranked {
    candidate: usize,
    tokens: u64,
    taken: bool,
}

impl Chooser<'_> {
    /// Chooses among fresh candidates.
    pub(super) fn choose(&self, candidates: &[Item]) -> Result<Chosen> {
        let mut explained: Vec<Option<Why>> = vec![None; candidates.len()];
        let room = self.room.saturating_sub(block::wrapper_tokens(self.counter));
        let mut fillings = self.rank(candidates, room, &mut explained);
        award(room, &mut fillings)?;
        let mut left = room;
        for filling in &mut fillings {
            let most = filling.granted.min(left);
            filling.fill(most);
            left -= filling.used;
        }
        for filling in &mut fillings {
            let most = filling.grant.ceiling.min(filling.used + left);
            left += filling.used;
            filling.fill(most);
            left -= filling.used;
        }
        Ok(self.finish(candidates, &fillings, explained))
    }

    /// Shows the same items as before in this turn, less what no longer fits: the lowest score of the last section goes first.
    pub(super) fn repeat(&self, items: &[Item]) -> Chosen {
        let mut kept = items.to_vec();
        let mut chosen = Chosen::default();
        while !kept.is_empty() {
            let block = self.build(kept, None);
            if block.tokens <= self.room {
                chosen.sections = sections_of(&block, self.counter);
                let included = block.items.iter().map(|item| Explained::of(item, 0, Why::Frozen));
                chosen.explained.splice(0..0, included);
                chosen.block = Some(block);
                return chosen;
            }
            kept = Arc::try_unwrap(block).map_or_else(|shared| shared.items.clone(), |own| own.items);
            let dropped = kept.remove(weakest(&kept));
            chosen.explained.push(Explained::of(&dropped, self.counter.count(&chunk(&dropped)), Why::OverRoom { left: self.room }));
        }
        chosen
    }

    fn rank(&self, candidates: &[Item], room: u64, explained: &mut [Option<Why>]) -> Vec<Filling> {
        let pinned: HashSet<_> =
            self.pinned.iter().filter_map(|item| item.memory).map(|memory| (memory.partition, memory.memory)).collect();
        let mut seen: HashSet<u128> = HashSet::new();
        let mut fillings = Vec::new();
        for name in section_order(candidates) {
            let grant = self.budget.grant(&name, self.space);
            let mut order: Vec<usize> = (0..candidates.len()).filter(|index| candidates[*index].section == name).collect();
            order.sort_by_key(|index| (candidates[*index].score.is_some(), std::cmp::Reverse(candidates[*index].score), *index));
            let best = order.iter().filter_map(|index| candidates[*index].score).max();
            let overhead = block::section_tokens(&name, self.counter);
            let mut ranked = Vec::new();
            for index in order {
                let item = &candidates[index];
                let is_pinned =
                    &*name != section::NEWER && item.memory.is_some_and(|memory| pinned.contains(&(memory.partition, memory.memory)));
                explained[index] = self.refuse(item, best, is_pinned, &mut seen);
                if explained[index].is_some() {
                    continue;
                }
                match self.counter.count_within(&chunk(item), grant.ceiling.min(room)) {
                    Some(tokens) => ranked.push(Ranked { candidate: index, tokens, taken: false }),
                    None => explained[index] = Some(Why::OverCeiling { ceiling: grant.ceiling.min(room) }),
                }
            }
            fillings.push(Filling { name, grant, overhead, ranked, granted: 0, used: 0 });
        }
        fillings
    }

    fn refuse(&self, item: &Item, best: Option<i64>, is_pinned: bool, seen: &mut HashSet<u128>) -> Option<Why> {
        let floor = self.relevance_floor(best);
        match item.score {
            _ if item.text.is_empty() => Some(Why::Empty),
            _ if is_pinned => Some(Why::Pinned),
            Some(score) if &*item.section == section::RECALLED && score < floor => Some(Why::BelowFloor { floor }),
            _ if !seen.insert(xxh3_128(item.text.as_bytes())) => Some(Why::Repeated),
            _ => None,
        }
    }

    fn relevance_floor(&self, best: Option<i64>) -> i64 {
        let best = u64::try_from(best.unwrap_or(0)).unwrap_or(0);
        let share = i64::try_from(self.budget.relevance.of_best.of(best)).unwrap_or(i64::MAX);
        share.max(self.budget.relevance.min_score)
    }

    fn finish(&self, candidates: &[Item], fillings: &[Filling], mut whys: Vec<Option<Why>>) -> Chosen {
        let mut items = Vec::new();
        let mut sections = Vec::new();
        let mut tokens = vec![0; candidates.len()];
        for filling in fillings {
            for ranked in &filling.ranked {
                tokens[ranked.candidate] = ranked.tokens;
                let left = filling.granted.saturating_sub(filling.used);
                whys[ranked.candidate] = Some(if ranked.taken { Why::Chosen } else { Why::OverGrant { granted: filling.granted, left } });
            }
            let taken = filling.ranked.iter().filter(|ranked| ranked.taken).map(|ranked| candidates[ranked.candidate].clone()).collect();
            let placed = place(&filling.name, taken);
            sections.push(filling.section_use(placed.len() as u64));
            items.extend(placed);
        }
        let explained = |((item, why), tokens): ((&Item, Option<Why>), u64)| Explained::of(item, tokens, why.unwrap_or(Why::Empty));
        let explained = candidates.iter().zip(whys).zip(tokens).map(explained).collect();
        let used = block::wrapper_tokens(self.counter) + fillings.iter().map(|filling| filling.used).sum::<u64>();
        let known = self.counter.splits_at_tags().then_some(used);
        let block = (!items.is_empty()).then(|| self.build_within(items, known, &mut sections));
        Chosen { block: block.flatten(), sections, explained }
    }

    /// The block of the items. Where counts of parts do not add up to the count of the whole, items go until it fits.
    fn build_within(&self, mut items: Vec<Item>, mut known: Option<u64>, sections: &mut [SectionUse]) -> Option<Arc<Block>> {
        while !items.is_empty() {
            let block = self.build(items, known.take());
            if block.tokens <= self.room {
                return Some(block);
            }
            items = Arc::try_unwrap(block).map_or_else(|shared| shared.items.clone(), |own| own.items);
            let dropped = items.remove(weakest(&items));
            sections.iter_mut().filter(|section| section.name == dropped.section).for_each(|section| section.items -= 1);
        }
        None
    }

    fn build(&self, items: Vec<Item>, known: Option<u64>) -> Arc<Block> {
        let text = block::render(&items).unwrap_or_default();
        let tokens = known.unwrap_or_else(|| self.counter.count(&text));
        Block::counted(items, text, tokens)
    }
}

impl Filling {
    fn asked(&self) -> u64 {
        let items: u64 = self.ranked.iter().map(|ranked| ranked.tokens).fold(0, u64::saturating_add);
        if self.ranked.is_empty() { 0 } else { items.saturating_add(self.overhead) }
    }

    /// Takes what fits into `most`, best first.
    fn fill(&mut self, most: u64) {
        for ranked in self.ranked.iter_mut().filter(|ranked| !ranked.taken) {
            let first = if self.used == 0 { self.overhead } else { 0 };
            if self.used + first + ranked.tokens <= most {
                self.used += first + ranked.tokens;
                ranked.taken = true;
            }
        }
    }

    fn section_use(&self, items: u64) -> SectionUse {
        let grant = Some(self.grant);
        SectionUse {
            name: Arc::clone(&self.name),
            grant,
            asked: self.asked(),
            granted: self.granted.max(self.used),
            tokens: self.used,
            items,
        }
    }
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

fn sections_of(block: &Block, counter: &dyn Counter) -> Vec<SectionUse> {
    let section_use = |name: Arc<str>| {
        let items: Vec<&Item> = block.items.iter().filter(|item| item.section == name).collect();
        let tokens = block::section_tokens(&name, counter) + items.iter().map(|item| counter.count(&chunk(item))).sum::<u64>();
        SectionUse { grant: None, asked: tokens, granted: tokens, tokens, items: items.len() as u64, name }
    };
    section_order(&block.items).into_iter().map(section_use).collect()
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
    match section::VOLATILE.iter().position(|volatile| *volatile == name) {
        Some(rank) if name == section::RETRIEVED => rank + 1,
        Some(rank) => rank,
        None => last - 1,
    }
}

/// The item that goes first when there is no room: of the last section the one with the lowest score, the later of equals.
fn weakest(items: &[Item]) -> usize {
    let key = |index: &usize| (section_rank(&items[*index].section), std::cmp::Reverse(items[*index].score.unwrap_or(i64::MAX)), *index);
    (0..items.len()).max_by_key(key).unwrap_or(0)
}

/// Best first, second best last, the weakest in the middle; task state and newer memory keep their order.
fn place(section_name: &str, ranked: Vec<Item>) -> Vec<Item> {
    if matches!(section_name, section::TASK | section::NEWER) {
        return ranked;
    }
    let (mut front, mut back) = (Vec::new(), Vec::new());
    for (rank, item) in ranked.into_iter().enumerate() {
        if rank % 2 == 0 { front.push(item) } else { back.push(item) }
    }
    front.extend(back.into_iter().rev());
    front
}
