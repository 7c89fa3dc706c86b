//! Questions that stay open: asked and not answered, or said to be open.
//!
//! The reply to a question closes it, unless it asks back or says that it does not know. A user's request to find something out is closed
//! by the reply that ends its turn, if that says something or the turn called tools. Text beside calls of tools tells what is done next:
//! it neither asks nor answers. A question that stayed open is closed by a later statement that shares half of what it is about. Not
//! here: whether an answer is right.

use std::collections::HashMap;

use super::cues::{asks, is_open, is_request};
use super::rules::Unit;
use super::terms::Weights;
use super::units::sentences;
use crate::context::Role;
use crate::interrupt;

/// A later statement closes a question if it has at least one of so many parts of what is rare in it.
const CLOSES: i64 = 2;
/// The terms of a reply that is more than "Noted, thanks.".
const SAYS_SOMETHING: usize = 3;
/// How many roles there are.
const ROLES: usize = Role::Tool as usize + 1;

/// The units, and what questions ask of them, which is read once for all: where there is none, never.
pub(super) struct Talk<'u> {
    units: &'u [Unit],
    read: Option<Read>,
    /// By the terms of a question: the last unit that closes it.
    closers: HashMap<Box<[u64]>, Option<usize>>,
}

/// What is known of the units.
struct Read {
    /// Those that are spoken, of each role, ascending.
    spoken: [Vec<usize>; ROLES],
    /// How many there are before each place, and one more.
    counts: Vec<Counts>,
    /// Those that may close a question, by term, ascending.
    closing: HashMap<u64, Vec<usize>>,
}

/// How many units there are of some kinds.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    /// Results, and units of messages that call tools.
    work: usize,
    /// Spoken ones that state something and leave nothing open.
    says: usize,
    /// Of these, those that do not tell what is done next.
    answers: usize,
    /// Of these that say something, those with enough terms.
    full: usize,
}

impl Read {
    fn of(units: &[Unit]) -> Self {
        let (mut spoken, mut closing) = ([const { Vec::new() }; ROLES], HashMap::<u64, Vec<usize>>::new());
        let (mut counts, mut now) = (Vec::with_capacity(units.len() + 1), Counts::default());
        for (at, unit) in units.iter().enumerate() {
            interrupt::step();
            counts.push(now);
            if unit.spoken {
                spoken[unit.role as usize].push(at);
            }
            let says = states(unit) && !is_open(&unit.text);
            now.work += usize::from(!unit.spoken || unit.calls);
            now.says += usize::from(unit.spoken && says);
            now.answers += usize::from(unit.spoken && says && !narrates(unit));
            now.full += usize::from(unit.spoken && says && unit.terms.all.len() >= SAYS_SOMETHING);
            if says && unit.role != Role::System && !unit.asks {
                unit.terms.all.iter().for_each(|term| closing.entry(*term).or_default().push(at));
            }
        }
        counts.push(now);
        Self { spoken, counts, closing }
    }

    /// The first spoken unit of a role from a place on.
    fn next(&self, role: usize, from: usize) -> Option<usize> {
        let all = &self.spoken[role];
        all.get(all.partition_point(|at| *at < from)).copied()
    }

    /// How many of a kind are between two places.
    fn count(&self, of: impl Fn(&Counts) -> usize, begin: usize, end: usize) -> usize {
        of(&self.counts[end]) - of(&self.counts[begin])
    }
}

impl<'u> Talk<'u> {
    /// The units of a compaction.
    pub fn new(units: &'u [Unit]) -> Self {
        Self { units, read: None, closers: HashMap::new() }
    }

    /// Which units are questions that stay open, by place.
    pub fn open(&mut self, weights: &Weights) -> Vec<bool> {
        let begins_open = |unit: &Unit| {
            interrupt::step();
            unit.spoken && !narrates(unit) && (unit.asks || is_open(&unit.text))
        };
        let mut open: Vec<bool> = self.units.iter().map(begins_open).collect();
        for (at, unit) in self.units.iter().enumerate() {
            interrupt::step();
            open[at] = open[at] && !self.is_settled(at) && self.closer(&unit.terms.all, weights).is_none_or(|closer| closer <= at);
        }
        open
    }

    fn is_settled(&mut self, at: usize) -> bool {
        let unit = &self.units[at];
        match (unit.asks, is_open(&unit.text)) {
            (true, false) => self.is_answered(at),
            _ => unit.role == Role::User && is_request(&unit.text) && self.is_done(at),
        }
    }

    fn read(&mut self) -> &Read {
        self.read.get_or_insert_with(|| Read::of(self.units))
    }

    /// The places between that of a unit and the next message of the same role, without those of the same message.
    fn turn(&mut self, at: usize) -> (usize, usize) {
        let (units, own) = (self.units, self.units[at].role as usize);
        let read = self.read();
        let others = (0..ROLES).filter(|role| *role != own && *role != Role::System as usize);
        let begin = others.filter_map(|role| read.next(role, at + 1)).min().unwrap_or(units.len());
        (begin, read.next(own, begin).unwrap_or(units.len()))
    }

    /// Whether the next one to speak answers.
    fn is_answered(&mut self, at: usize) -> bool {
        let (begin, end) = self.turn(at);
        self.read().count(|counts| counts.answers, begin, end) > 0
    }

    /// Whether the message that ends the turn of a request says something of it.
    fn is_done(&mut self, at: usize) -> bool {
        let (units, (begin, end)) = (self.units, self.turn(at));
        let read = self.read();
        let before = |all: &Vec<usize>| all[..all.partition_point(|at| *at < end)].last().copied();
        let last = read.spoken.iter().filter_map(before).max().filter(|last| *last >= begin);
        let Some(last) = last.filter(|last| !narrates(&units[*last])) else { return false };
        let reply = units[begin..last].partition_point(|unit| unit.index < units[last].index) + begin;
        let worked = read.count(|counts| counts.work, begin, end) > 0;
        read.count(|counts| if worked { counts.says } else { counts.full }, reply, end) > 0
    }

    /// The last unit that says what was asked: it has half or more of what is rare in it. So it has one of the rarest terms that make more
    /// than a half, and only units with one of these are looked at.
    pub fn closer(&mut self, terms: &[u64], weights: &Weights) -> Option<usize> {
        if let Some(known) = self.closers.get(terms) {
            return *known;
        }
        let (units, mut left) = (self.units, weights.rarity(terms));
        let (closing, all) = (&self.read().closing, left);
        let mut rarest: Vec<u64> = terms.iter().copied().filter(|term| weights.idf(*term) > 0).collect();
        rarest.sort_unstable_by_key(|term| (std::cmp::Reverse(weights.idf(*term)), *term));
        let telling = rarest.iter().take_while(|term| {
            let is_needed = all > 0 && left * CLOSES >= all;
            left -= weights.idf(**term);
            is_needed
        });
        let mut places: Vec<usize> = telling.filter_map(|term| closing.get(term)).flatten().copied().collect();
        places.sort_unstable();
        places.dedup();
        let closes = |at: &usize| {
            interrupt::step();
            weights.shared(terms, &units[*at].terms.all) * CLOSES >= all
        };
        let found = places.into_iter().rev().find(closes);
        self.closers.insert(terms.into(), found);
        found
    }
}

/// An assistant tells what it is about to do with its tools.
fn narrates(unit: &Unit) -> bool {
    unit.calls && unit.role == Role::Assistant
}

/// Whether something in a unit is a statement.
fn states(unit: &Unit) -> bool {
    sentences(&unit.text).iter().any(|sentence| !asks(sentence) && sentence.chars().any(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::compaction::cues::Cue;
    use crate::compaction::terms::{Frequencies, Reader};
    use crate::context::testing::Random;
    use crate::interrupt::counted;

    /// The same, unit by unit.
    fn plainly(units: &[Unit], weights: &Weights) -> Vec<bool> {
        let says = |unit: &Unit| states(unit) && !is_open(&unit.text);
        let turn = |at: usize| {
            let is_other = |unit: &Unit| unit.spoken && unit.role != units[at].role && unit.role != Role::System;
            let Some(begin) = units[at + 1..].iter().position(is_other) else { return &[][..] };
            let rest = &units[at + 1 + begin..];
            &rest[..rest.iter().position(|unit| unit.spoken && unit.role == units[at].role).unwrap_or(rest.len())]
        };
        let is_answered = |at: usize| turn(at).iter().any(|unit| unit.spoken && !narrates(unit) && says(unit));
        let is_done = |at: usize| {
            let turn = turn(at);
            let Some(last) = turn.iter().rfind(|unit| unit.spoken).filter(|unit| !narrates(unit)) else { return false };
            let worked = turn.iter().any(|unit| !unit.spoken || unit.calls);
            let is_reply = |unit: &&Unit| unit.spoken && unit.index == last.index && says(unit);
            turn.iter().filter(is_reply).any(|unit| worked || unit.terms.all.len() >= SAYS_SOMETHING)
        };
        let is_closed = |at: usize| {
            let (terms, all) = (&units[at].terms.all, weights.rarity(&units[at].terms.all));
            let closes = |unit: &Unit| all > 0 && weights.shared(terms, &unit.terms.all) * 256 / all >= 128;
            units[at + 1..].iter().any(|unit| unit.role != Role::System && says(unit) && !unit.asks && closes(unit))
        };
        let is_open_at = |at: usize| {
            let unit = &units[at];
            let is_settled = match (unit.asks, is_open(&unit.text)) {
                (true, false) => is_answered(at),
                _ => unit.role == Role::User && is_request(&unit.text) && is_done(at),
            };
            unit.spoken && !narrates(unit) && (unit.asks || is_open(&unit.text)) && !is_settled && !is_closed(at)
        };
        (0..units.len()).map(is_open_at).collect()
    }

    fn unit(text: &str, (index, role): (u64, Role), (spoken, calls): (bool, bool), reader: &mut Reader) -> Unit {
        let terms = reader.terms(text);
        Unit { text: Arc::from(text), index, role, spoken, calls, asks: spoken && asks(text), cue: Cue::None, terms }
    }

    fn weights(units: &[Unit]) -> Weights {
        let mut frequencies = Frequencies::default();
        units.iter().for_each(|unit| frequencies.add(&unit.terms));
        frequencies.weigh()
    }

    #[test]
    fn each_is_open_as_it_is_when_read_by_itself() {
        const ROLE: [Role; 5] = [Role::User, Role::Assistant, Role::Tool, Role::System, Role::Developer];
        const WORDS: [&str; 12] =
            ["pager", "lock", "region", "port", "8443", "api-2", "nightly", "Marta", "invoice", "ledger", "cluster", "who"];
        let (mut random, mut reader, mut opened, mut closed) = (Random::new(5), Reader::default(), 0, 0);
        for _ in 0..2_000 {
            let (mut units, mut index, mut turn) = (Vec::new(), 0, (Role::User, false));
            for _ in 0..random.below(40) {
                if random.below(3) == 0 {
                    (index, turn) = (index + 1, (ROLE[random.below(5) as usize], random.below(4) == 0));
                }
                let words: Vec<&str> = (0..random.below(4)).map(|_| WORDS[random.below(12) as usize]).collect();
                let words = words.join(" ");
                let text = match random.below(7) {
                    0 | 1 => format!("Which {words}?"),
                    2 => format!("Find out why {words} is red."),
                    3 => format!("I'm not sure about {words}."),
                    4 => "Ok.".to_owned(),
                    5 => "...".to_owned(),
                    _ => format!("The {words} is fine."),
                };
                let spoken = turn.0 != Role::Tool && random.below(9) > 0;
                units.push(unit(&text, (index, turn.0), (spoken, turn.1), &mut reader));
            }
            let (weights, mut talk) = (weights(&units), Talk::new(&units));
            let open = talk.open(&weights);
            assert_eq!(open, plainly(&units, &weights), "{units:?}");
            opened += open.iter().filter(|open| **open).count();
            closed += open.iter().filter(|open| !**open).count();
        }
        assert!(opened > 2_000 && closed > 2_000, "{opened} {closed}");
    }

    #[test]
    fn each_question_looks_at_the_units_that_share_what_is_rare_in_it() {
        let looks = |count: u64| {
            let mut reader = Reader::default();
            let mut texts: Vec<(String, Role)> = (0..count).map(|at| (format!("Who owns the pager of api-{at}?"), Role::User)).collect();
            texts.extend((0..count).map(|at| (format!("The log of db-{at} has a page of the api."), Role::User)));
            let one = |(at, (text, role)): (usize, &(String, Role))| unit(text, (at as u64, *role), (true, false), &mut reader);
            let units: Vec<Unit> = texts.iter().enumerate().map(one).collect();
            let (weights, mut talk) = (weights(&units), Talk::new(&units));
            let (open, looks) = counted::after(1 << 40, || Ok(talk.open(&weights)));
            assert_eq!(open.unwrap().len() as u64, 2 * count);
            looks
        };
        assert!(looks(1_000) <= 11 * looks(100), "{} {}", looks(1_000), looks(100));
    }
}
