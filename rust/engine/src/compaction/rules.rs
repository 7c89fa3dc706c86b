//! The compactor without a model: units are scored, told apart and chosen into sections, each within its grant.
//!
//! `score = mass * 1024 / (bytes / 4 + 8)`, times what the unit is; `mass` is the sum of its terms' idf, so that rare and dense wins.
//! Units are taken best first, each weighed by the share of its mass that no chosen line has said (`novelty`). What a section leaves of
//! its grant goes to the next in order of what binds most. Lines of the summary before compete with their old scores.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use super::Source;
use super::cues::{Cue, asks, cue_of, is_labelled};
use super::questions;
use super::summary::{Line, Section, Summary};
use super::terms::{Covered, Frequencies, Reader};
use super::units::{one_line, sentences, units};
use crate::context::message::Part;
use crate::context::{Counter, Message, Role};
use crate::text::exact_identifiers;

/// Shares of the limit, in per cent.
pub(super) fn share(section: Section) -> u64 {
    match section {
        Section::Summary => 25,
        Section::Decisions => 20,
        Section::Identifiers => 25,
        Section::Constraints => 22,
        Section::Questions => 8,
    }
}

/// What binds most comes first where room is left.
const BY_WEIGHT: [Section; 4] = [Section::Constraints, Section::Decisions, Section::Questions, Section::Summary];
/// A unit of which less is new (in 1/256) says nothing new.
const LEAST_NOVELTY: i64 = 40;
/// Units of one compaction that compete for a section: the best by score alone, so that a huge message costs what it is long.
const MOST_CANDIDATES: usize = 2_048;
/// Bytes of the phrase around an identifier.
const PHRASE_BYTES: usize = 120;
/// Identifiers looked at of one message: of a log only the first are likely to be asked for, the others stay in the transcript.
const MOST_OF_MESSAGE: usize = 512;

/// A unit of a message.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    pub text: Arc<str>,
    pub index: u64,
    pub role: Role,
    /// Somebody said it: it is no tool result.
    pub spoken: bool,
    pub asks: bool,
    pub cue: Cue,
    pub terms: Vec<u64>,
}

/// What became of the messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compacted {
    /// The summary.
    pub summary: Summary,
    /// Different identifiers that the messages and the summary before have.
    pub identifiers: u64,
    /// Of these, how many are in the text of the new summary.
    pub kept: u64,
}

/// Compacts messages onto the summary before, within `limit` tokens. `written` are lines of a model that were checked
/// ([`super::check`]): they come first, and the rules fill up.
#[must_use]
pub fn compact(previous: Option<&Summary>, sources: &[Source], written: &[Line], limit: u64, counter: &dyn Counter) -> Compacted {
    let mut chooser = Chooser::new(previous, sources, written, limit, counter);
    chooser.choose();
    chooser.finish(previous, sources)
}

struct Candidate {
    line: Line,
    terms: Vec<u64>,
    /// Of a model, or of the summary before: it is taken before anything new of its section.
    rank: u8,
}

struct Chooser<'a> {
    counter: &'a dyn Counter,
    limit: u64,
    frequencies: Frequencies,
    covered: Covered,
    waiting: BTreeMap<Section, BinaryHeap<(u8, i64, Reverse<u64>, Reverse<usize>)>>,
    candidates: Vec<Candidate>,
    /// By identifier: its best phrase.
    identifiers: BTreeMap<Box<str>, Line>,
    chosen: Vec<Line>,
    left: BTreeMap<Section, u64>,
}

impl<'a> Chooser<'a> {
    fn new(previous: Option<&Summary>, sources: &[Source], written: &[Line], limit: u64, counter: &'a dyn Counter) -> Self {
        let mut reader = Reader::default();
        let units = units_of(sources, &mut reader);
        let mut chooser = Self {
            counter,
            limit,
            frequencies: Frequencies::default(),
            covered: Covered::default(),
            waiting: BTreeMap::new(),
            candidates: Vec::new(),
            identifiers: BTreeMap::new(),
            chosen: Vec::new(),
            left: BTreeMap::new(),
        };
        units.iter().for_each(|unit| chooser.frequencies.add(&unit.terms));
        let old: Vec<(&Line, Vec<u64>)> =
            previous.iter().flat_map(|before| &before.lines).map(|line| (line, reader.terms(&line.text))).collect();
        old.iter().for_each(|(_, terms)| chooser.frequencies.add(terms));
        for line in written {
            let terms = reader.terms(&line.text);
            chooser.candidates.push(Candidate { line: line.clone(), terms, rank: 2 });
        }
        for (line, terms) in old {
            chooser.keep(line, terms, &units);
        }
        chooser.read(&units, written.is_empty());
        chooser.find_identifiers(&units, sources, written);
        chooser
    }

    /// A line of the summary before competes again; one that is only there for its identifiers does so among those.
    fn keep(&mut self, line: &Line, terms: Vec<u64>, units: &[Unit]) {
        if line.section == Section::Identifiers {
            exact_identifiers(&line.text, |range| self.identify(&line.text[range], line.clone()));
            return;
        }
        if line.section == Section::Questions && questions::is_closed(&terms, units, &self.frequencies) {
            return;
        }
        exact_identifiers(&line.text, |range| {
            let line = Line { section: Section::Identifiers, ..line.clone() };
            self.identify(&line.text[range], line.clone());
        });
        let rank = u8::from(line.section != Section::Summary);
        self.candidates.push(Candidate { line: line.clone(), terms, rank });
    }

    fn read(&mut self, units: &[Unit], all: bool) {
        let open = questions::open(units, &self.frequencies);
        let first = units.iter().position(|unit| unit.role == Role::User);
        for (at, unit) in units.iter().enumerate().filter(|(_, unit)| unit.spoken) {
            let Some(section) = section_of(unit, open[at]) else { continue };
            if !all && section == Section::Summary {
                continue; // the model told what happened
            }
            let goal = first == Some(at);
            let score = self.score(unit, goal);
            let line = Line { section, text: (&*unit.text).into(), sources: vec![unit.index], score, by_model: false };
            self.candidates.push(Candidate { line, terms: unit.terms.clone(), rank: 0 });
        }
    }

    fn score(&self, unit: &Unit, goal: bool) -> i64 {
        let dense = self.frequencies.mass(&unit.terms) * 1024 / (unit.text.len() as i64 / 4 + 8);
        let mut sixteenths = match unit.cue {
            Cue::None => 16,
            Cue::Wish => 20,
            Cue::Goal => 28,
            Cue::Decision | Cue::Constraint => 32,
        };
        sixteenths += if unit.role == Role::User { 6 } else { 0 };
        sixteenths += if is_labelled(&unit.text) { 16 } else { 0 };
        sixteenths += if crate::text::has_identifier(&unit.text) { 6 } else { 0 };
        sixteenths += if goal { 32 } else { 0 };
        dense * sixteenths / 16
    }

    fn find_identifiers(&mut self, units: &[Unit], sources: &[Source], written: &[Line]) {
        for line in written {
            exact_identifiers(&line.text, |range| self.identify(&line.text[range], Line { section: Section::Identifiers, ..line.clone() }));
        }
        let mut of_message = (u64::MAX, 0);
        for unit in units {
            of_message = if of_message.0 == unit.index { of_message } else { (unit.index, 0) };
            exact_identifiers(&unit.text, |range| {
                of_message.1 += 1;
                if of_message.1 <= MOST_OF_MESSAGE {
                    let line = phrase_line(unit, range.start, range.end);
                    self.identify(&unit.text[range], line);
                }
            });
        }
        for source in sources {
            for call in source.message.tool_calls() {
                self.identify_call(source.index, &call.name, &call.arguments);
            }
        }
    }

    fn identify_call(&mut self, index: u64, name: &str, arguments: &str) {
        let text = one_line(&format!("{name} {}", head(arguments, 4 * PHRASE_BYTES)));
        let mut found = Vec::new();
        exact_identifiers(&text, |range| found.push(range));
        for range in found.into_iter().take(MOST_OF_MESSAGE) {
            let text_of = phrase(&text, range.start, range.end);
            let line = Line { section: Section::Identifiers, text: text_of.into(), sources: vec![index], score: 256, by_model: false };
            self.identify(&text[range], line);
        }
    }

    /// The first phrase of an identifier stays; each mention makes it worth more.
    fn identify(&mut self, identifier: &str, line: Line) {
        match self.identifiers.get_mut(identifier) {
            Some(known) => known.score = known.score.saturating_add(line.score / 8).min(1 << 40),
            None => {
                self.identifiers.insert(identifier.into(), line);
            }
        }
    }

    fn choose(&mut self) {
        self.queue();
        for section in Section::ALL {
            self.left.insert(section, self.limit * share(section) / 100);
        }
        for section in BY_WEIGHT {
            self.fill(section);
        }
        let spare = self.take_spare();
        *self.left.entry(Section::Identifiers).or_default() += spare;
        self.fill_identifiers();
        for section in BY_WEIGHT {
            let spare = self.take_spare();
            self.left.insert(section, spare);
            self.fill(section);
        }
    }

    /// What the sections left of their grants; the headings are paid out of it.
    fn take_spare(&mut self) -> u64 {
        self.left.values_mut().map(std::mem::take).sum()
    }

    fn queue(&mut self) {
        let mut order: Vec<usize> = (0..self.candidates.len()).collect();
        order.sort_by_key(|at| (Reverse(self.candidates[*at].rank), Reverse(self.candidates[*at].line.score), *at));
        for at in order {
            let Candidate { line, rank, .. } = &self.candidates[at];
            let heap = self.waiting.entry(line.section).or_default();
            if heap.len() < MOST_CANDIDATES {
                heap.push((*rank, line.score, Reverse(line.sources[0]), Reverse(at)));
            }
        }
    }

    /// Takes the best of a section while it fits. Scores only fall as more is said, so one that is still the best after it was weighed
    /// anew is the best of all.
    fn fill(&mut self, section: Section) {
        let Some(mut heap) = self.waiting.remove(&section) else { return };
        let mut passed_over = Vec::new();
        while let Some((rank, known, order, Reverse(at))) = heap.pop() {
            let novelty = self.covered.novelty(&self.candidates[at].terms, &self.frequencies);
            let needed = if rank == 0 { LEAST_NOVELTY } else { 1 };
            if novelty < needed && (section == Section::Summary || novelty == 0) {
                continue;
            }
            let now = self.candidates[at].line.score * (64 + novelty * 3 / 4) / 256;
            if now < known && heap.peek().is_some_and(|next| (next.0, next.1) > (rank, now)) {
                heap.push((rank, now, order, Reverse(at)));
                continue;
            }
            if !self.take(at, section) {
                passed_over.push((rank, now, order, Reverse(at)));
                if passed_over.len() > 8 {
                    break; // nothing short enough is near
                }
            }
        }
        heap.extend(passed_over);
        self.waiting.insert(section, heap);
    }

    fn take(&mut self, at: usize, section: Section) -> bool {
        let line = self.candidates[at].line.clone();
        if !self.pay(section, &line.text) {
            return false;
        }
        self.covered.add(&self.candidates[at].terms);
        self.chosen.push(line);
        true
    }

    fn pay(&mut self, section: Section, text: &str) -> bool {
        let left = self.left.entry(section).or_default();
        let heading = if self.chosen.iter().any(|line| line.section == section) { 0 } else { 6 };
        match self.counter.count_within(text, left.saturating_sub(2 + heading)) {
            Some(tokens) => {
                *left -= tokens + 2 + heading;
                true
            }
            None => false,
        }
    }

    /// Identifiers that no chosen line has get a line with their phrase, worth most first.
    fn fill_identifiers(&mut self) {
        let mut text = self.chosen_text();
        let mut lines: Vec<(Box<str>, Line)> = std::mem::take(&mut self.identifiers).into_iter().collect();
        lines.sort_by_key(|(_, line)| (Reverse(line.score), line.sources[0]));
        for (identifier, line) in lines {
            if text.contains(&*identifier) {
                continue;
            }
            let line = Line { section: Section::Identifiers, ..line };
            if self.pay(Section::Identifiers, &line.text) {
                text.push_str(&line.text);
                text.push('\n');
                self.chosen.push(line);
            } else if self.left.get(&Section::Identifiers).is_none_or(|left| *left < 12) {
                break;
            }
        }
    }

    fn chosen_text(&self) -> String {
        self.chosen.iter().map(|line| format!("{}\n", line.text)).collect()
    }

    fn finish(self, previous: Option<&Summary>, sources: &[Source]) -> Compacted {
        let mut summary = Summary { covers: covered(previous, sources), lines: self.chosen, ..Summary::default() };
        summary.calls = calls(previous, sources);
        summary.erased = previous.map_or_else(Vec::new, |before| before.erased.clone());
        let known = all_identifiers(previous, sources);
        let before = previous.map_or(0, |before| before.left_out);
        let left_out = |summary: &Summary| {
            let text = summary.text();
            known.iter().filter(|identifier| !text.contains(&***identifier)).count() as u64
        };
        summary.left_out = before + left_out(&summary);
        let mut summary = summary.within(self.limit, self.counter);
        summary.left_out = before + left_out(&summary);
        let kept = known.len() as u64 - left_out(&summary);
        Compacted { summary: summary.within(self.limit, self.counter), identifiers: known.len() as u64, kept }
    }
}

fn section_of(unit: &Unit, open: bool) -> Option<Section> {
    Some(match unit.cue {
        _ if unit.role == Role::System => return None,
        _ if open => Section::Questions,
        Cue::Constraint | Cue::Wish => Section::Constraints,
        Cue::Decision => Section::Decisions,
        Cue::Goal | Cue::None => Section::Summary,
    })
}

/// The units of all messages.
fn units_of(sources: &[Source], reader: &mut Reader) -> Vec<Unit> {
    let mut found = Vec::new();
    for source in sources {
        for part in &source.message.parts {
            read_part(part, source, true, reader, &mut found);
        }
    }
    found
}

fn read_part(part: &Part, source: &Source, spoken: bool, reader: &mut Reader, found: &mut Vec<Unit>) {
    match part {
        Part::Text(text) | Part::Refusal(text) => {
            let role = source.message.role;
            found.extend(units(text).into_iter().map(|text| unit(text, source.index, role, spoken && role != Role::Tool, reader)));
        }
        Part::ToolResult(result) => result.parts.iter().for_each(|part| read_part(part, source, false, reader, found)),
        _ => {}
    }
}

fn unit(text: String, index: u64, role: Role, spoken: bool, reader: &mut Reader) -> Unit {
    let stated: Vec<&str> = sentences(&text).into_iter().filter(|sentence| !asks(sentence)).collect();
    let asks = spoken && asks(&text);
    let cue = if spoken { stated.into_iter().map(cue_of).max().unwrap_or(Cue::None) } else { Cue::None };
    let terms = reader.terms(&text);
    Unit { text: text.into(), index, role, spoken, asks, cue, terms }
}

/// The line that keeps an identifier of a unit: what somebody said is worth more than what a tool returned, more shape more than less.
fn phrase_line(unit: &Unit, start: usize, end: usize) -> Line {
    let identifier = &unit.text[start..end];
    let said = if unit.spoken { 1_024 } else { 128 };
    let shape = (identifier.chars().count().min(12) as i64) * 16;
    let text = phrase(&unit.text, start, end).into();
    Line { section: Section::Identifiers, text, sources: vec![unit.index], score: said + shape, by_model: false }
}

/// The words around `start..end`, at most [`PHRASE_BYTES`] of them where that is between words.
fn phrase(text: &str, start: usize, end: usize) -> &str {
    if text.len() <= PHRASE_BYTES {
        return text;
    }
    let room = PHRASE_BYTES.saturating_sub(end - start);
    let (mut from, mut to) = (start.saturating_sub(room * 2 / 3), end);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    if from > 0
        && let Some(space) = text[from..start].find(' ')
    {
        from += space + 1;
    }
    let last = (from + PHRASE_BYTES).clamp(end, text.len());
    while to < last
        && let Some(next) = text[to..].chars().next()
    {
        to += next.len_utf8();
    }
    if to < text.len()
        && let Some(space) = text[end..to].rfind(' ')
    {
        to = end + space;
    }
    text[from..to].trim()
}

fn covered(previous: Option<&Summary>, sources: &[Source]) -> std::ops::Range<u64> {
    let first = sources.first().map_or(0, |source| source.index);
    let start = previous.map_or(first, |before| before.covers.start.min(first));
    let end = sources.last().map_or_else(|| previous.map_or(0, |before| before.covers.end), |source| source.index + 1);
    start.min(end)..end
}

fn calls(previous: Option<&Summary>, sources: &[Source]) -> Vec<(Box<str>, u64)> {
    let mut calls: BTreeMap<Box<str>, u64> = previous.iter().flat_map(|before| before.calls.iter().cloned()).collect();
    for call in sources.iter().flat_map(|source| source.message.tool_calls()) {
        let name = one_line(&call.name);
        *calls.entry(if name.len() <= 64 { name.into() } else { "others".into() }).or_default() += 1;
    }
    calls.into_iter().collect()
}

/// The different identifiers of messages and of the summary before.
fn all_identifiers(previous: Option<&Summary>, sources: &[Source]) -> std::collections::BTreeSet<Box<str>> {
    let mut all = std::collections::BTreeSet::new();
    for line in previous.iter().flat_map(|before| &before.lines) {
        exact_identifiers(&line.text, |range| {
            all.insert(Box::from(&line.text[range]));
        });
    }
    for source in sources {
        for_each_text(&source.message, &mut |text| {
            exact_identifiers(text, |range| {
                all.insert(Box::from(&text[range]));
            });
        });
    }
    all
}

/// Calls `each` with every text of a message: what is said, results, arguments of calls.
pub(super) fn for_each_text(message: &Message, each: &mut dyn FnMut(&str)) {
    fn part_texts(part: &Part, each: &mut dyn FnMut(&str)) {
        match part {
            Part::Text(text) | Part::Refusal(text) => each(text),
            Part::ToolCall(call) => each(&call.arguments),
            Part::ToolResult(result) => result.parts.iter().for_each(|part| part_texts(part, each)),
            _ => {}
        }
    }
    message.parts.iter().for_each(|part| part_texts(part, each));
}

/// The first bytes of a text, between characters.
fn head(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}
