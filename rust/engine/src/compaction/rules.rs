//! The compactor without a model: units are scored, told apart and chosen into sections, each within its grant.
//!
//! `score = mass * 1024 / (bytes / 4 + 8)`, times a factor for the kind of unit; `mass` is the weight of its terms ([`super::terms`]).
//! Units are taken best first, each weighed by the share of its mass that no chosen line has said (`novelty`). Binding units get their
//! section's grant first. The rest are weighed together. Lines of the summary before compete with their old scores.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};
use std::sync::Arc;

use super::Source;
use super::columns::Columns;
use super::cues::{Correction, Cue, asks, correction, cue_of, demands, is_labelled};
use super::questions::{self, Statements};
use super::revisions::revise;
use super::summary::{Line, Section, Summary};
use super::terms::{Beside, Covered, Frequencies, Reader, Terms, Weights};
use super::units::{one_line, sentences, units};
use crate::context::message::Part;
use crate::context::turns::is_cancelled;
use crate::context::{Counter, Message, Role};
use crate::interrupt;
use crate::text::exact_identifiers;
use crate::units::clusters::{border_at_or_before, border_at_or_behind, cut_at_or_before};

mod brief;

pub use brief::{Aim, TaskLines, brief};

/// Shares of the limit, in per cent.
pub(super) fn share(section: Section) -> u64 {
    match section {
        Section::Decisions => 20,
        Section::Summary => 40,
        Section::Identifiers => 10,
        Section::Constraints => 22,
        Section::Questions => 8,
    }
}

/// The most binding comes first.
const BY_WEIGHT: [Section; 4] = [Section::Constraints, Section::Decisions, Section::Questions, Section::Summary];
/// An event of which less is new (in 1/256) says little that is new, and waits for room that nothing else takes: names that were said weigh
/// more than the verb that changed. A binding unit waits only if every word was said.
const LEAST_NOVELTY: i64 = 40;
/// Constraints have so much of the limit before events, in per cent: the rest of their grant and more.
pub(super) const MOST_CONSTRAINTS: u64 = 60;
/// Lines that are too long for what is left, before it is given up.
const MOST_PASSED_OVER: usize = 8;
/// Units of one compaction that compete: the best by score alone, so that a huge message costs what it is long.
const MOST_CANDIDATES: usize = 2_048;
/// A bare number of fewer digits that only a tool returned is a count or a place in a list, and names nothing.
const NUMBER_DIGITS: usize = 4;
/// The most bare numbers of one result that may name something; more are its data.
const MOST_NUMBERS: usize = 4;
/// The least worth of an identifier that somebody said, and of one that a tool returned.
const OF_SPEECH: i64 = 1_024;
const OF_RESULT: i64 = 64;
/// The worth of one that a model looked for or passed on: more than that of any that a tool returned.
const OF_CALL: i64 = 320;
/// Bytes of the phrase around an identifier.
const PHRASE_BYTES: usize = 120;
/// Bytes of a tool's name that is shown.
const MOST_NAME_BYTES: usize = 64;
/// Identifiers looked at of one message: of a log only the first are likely to be asked for, the others stay in the transcript.
const MOST_OF_MESSAGE: usize = 512;

/// A unit of a message.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools)] // facts that do not depend on each other
pub(super) struct Unit {
    pub text: Arc<str>,
    pub index: u64,
    pub role: Role,
    /// Which of several speakers of that role.
    pub speaker: Option<Box<str>>,
    /// Somebody said it: it is not a tool result.
    pub spoken: bool,
    /// Its message calls tools.
    pub calls: bool,
    /// It is of a result whose call failed or was cancelled.
    pub failed: bool,
    pub asks: bool,
    pub cue: Cue,
    pub terms: Terms,
}

/// The outcome for the messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compacted {
    /// The summary.
    pub summary: Summary,
    /// Different identifiers that the messages and the summary before have.
    pub identifiers: u64,
    /// How many of these identifiers are in the text of the new summary.
    pub kept: u64,
}

impl Compacted {
    /// How many identifiers of the summary a model had left out of its lines; none where it wrote nothing.
    #[must_use]
    pub fn restored(&self, written: &[Line]) -> u64 {
        let text: String = written.iter().flat_map(|line| [&*line.text, "\n"]).collect();
        let left_out = |one: &super::Identifier| !text.is_empty() && !text.contains(&*one.text);
        self.summary.identifiers().iter().filter(|one| left_out(one)).count() as u64
    }
}

/// Compacts messages onto the summary before, within `limit` tokens. `written` are lines of a model that were checked
/// ([`super::check`]): they come first, and the rules fill up.
#[must_use]
pub fn compact(previous: Option<&Summary>, sources: &[Source], written: &[Line], limit: u64, counter: &dyn Counter) -> Compacted {
    let mut chooser = Chooser::new(previous, sources, written, limit, counter);
    chooser.choose();
    chooser.finish(previous, sources)
}

/// A line that may be chosen.
#[derive(Debug)]
pub(super) struct Candidate {
    pub line: Line,
    pub terms: Vec<u64>,
    /// 1 of a model: it is taken first.
    pub rank: u8,
    /// It binds: it has its section's grant before everything else is weighed together.
    pub binds: bool,
    /// It is a constraint, not a wish: it has room before events.
    pub strict: bool,
    pub cue: Cue,
    pub by: By,
    /// Which of several users said it, if its message names one.
    pub speaker: Option<Box<str>>,
    pub beside: Beside,
}

impl Candidate {
    /// Fewer lines than before tell that it is not new.
    pub(super) fn stands_apart(&mut self, beside: Beside) {
        self.beside = self.beside.and(beside);
    }
}

/// Whose words a candidate has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// A user's statement.
    User,
    /// A line of the summary before that may be anybody's.
    Before,
    /// Others'.
    Other,
}

/// Rank, score, oldest message, place: the greatest is taken first.
type Waiting = BinaryHeap<(u8, i64, Reverse<u64>, Reverse<usize>)>;

/// An identifier: the line with its best phrase, and the last message that has it.
struct Known {
    line: Line,
    last: u64,
}

struct Chooser<'a> {
    counter: &'a dyn Counter,
    limit: u64,
    weights: Weights,
    covered: Covered,
    candidates: Vec<Candidate>,
    identifiers: BTreeMap<Box<str>, Known>,
    /// Identifiers that were not looked at, of messages that have very many.
    beyond: u64,
    chosen: Vec<Line>,
    /// Identifiers that the chosen lines have.
    shown: HashSet<Box<str>>,
    /// Tokens that are left of the limit, headings paid.
    left: u64,
    /// Events that say little that is new.
    known: Waiting,
}

impl<'a> Chooser<'a> {
    fn new(previous: Option<&Summary>, sources: &[Source], written: &[Line], limit: u64, counter: &'a dyn Counter) -> Self {
        let mut reader = Reader::default();
        let units = units_of(sources, &mut reader);
        let lines = |lines: &[Line], reader: &mut Reader| -> Vec<(Line, Terms)> {
            lines.iter().map(|line| (line.clone(), reader.terms(&line.text))).collect()
        };
        let old = lines(previous.map_or(&[][..], |before| &before.lines), &mut reader);
        let new = lines(written, &mut reader);
        let mut frequencies = Frequencies::default();
        let all = units.iter().map(|unit| &unit.terms).chain(old.iter().chain(&new).map(|(_, terms)| terms));
        all.for_each(|terms| frequencies.add(terms));
        let mut chooser = Self {
            counter,
            limit,
            weights: frequencies.weigh(),
            covered: Covered::default(),
            candidates: Vec::new(),
            identifiers: BTreeMap::new(),
            beyond: 0,
            chosen: Vec::new(),
            shown: HashSet::new(),
            left: limit,
            known: Waiting::new(),
        };
        for (line, terms) in new {
            chooser.identify_line(&line);
            let (terms, cue, by, speaker, beside) = (terms.all, Cue::None, By::Other, None, Beside::All);
            chooser.candidates.push(Candidate { line, terms, rank: 1, binds: true, strict: false, cue, by, speaker, beside });
        }
        let statements = Statements::of(&units);
        for (line, terms) in old {
            chooser.keep(line, terms.all, &statements);
        }
        chooser.read(&units, &statements, written.is_empty());
        chooser.find_identifiers(&units, sources);
        revise(&mut chooser.candidates, &mut reader);
        chooser
    }

    /// A line of the summary before competes again; one that is only there for its identifiers does so among those.
    fn keep(&mut self, line: Line, terms: Vec<u64>, statements: &Statements<'_>) {
        self.identify_line(&line);
        let closed = line.section == Section::Questions && statements.close(&terms, 0, &self.weights);
        if line.section != Section::Identifiers && !closed {
            let binds = line.section != Section::Summary;
            let (cue, is_constraint) = (cue_of(&line.text), line.section == Section::Constraints);
            let strict = is_constraint && (line.by_model || cue == Cue::Constraint && demands(&line.text));
            let by = if is_constraint && !line.by_model { By::User } else { By::Before };
            let (speaker, beside) = (None, Beside::All);
            self.candidates.push(Candidate { line, terms, rank: 0, binds, strict, cue, by, speaker, beside });
        }
    }

    fn read(&mut self, units: &[Unit], statements: &Statements<'_>, all: bool) {
        let open = questions::open(units, statements, &self.weights);
        let first = units.iter().position(|unit| unit.role == Role::User);
        for (at, unit) in units.iter().enumerate().filter(|(_, unit)| unit.spoken) {
            interrupt::step();
            let Some(section) = section_of(unit, open[at]) else { continue };
            if !all && section == Section::Summary {
                continue; // the model told what happened
            }
            let score = self.score(unit, first == Some(at));
            let line = Line { section, text: (&*unit.text).into(), sources: vec![unit.index], score, by_model: false };
            let binds = section != Section::Summary && matches!(unit.cue, Cue::Decision | Cue::Constraint | Cue::Wish);
            let by = if unit.role == Role::User && !unit.asks && !open[at] { By::User } else { By::Other };
            let strict = section == Section::Constraints && unit.cue == Cue::Constraint && demands(&unit.text);
            let (terms, cue, speaker, beside) = (unit.terms.all.clone(), unit.cue, unit.speaker.clone(), Beside::All);
            self.candidates.push(Candidate { line, terms, rank: 0, binds, strict, cue, by, speaker, beside });
        }
    }

    fn score(&self, unit: &Unit, goal: bool) -> i64 {
        let dense = self.weights.mass(&unit.terms.all) * 1024 / (unit.text.len() as i64 / 4 + 8);
        let mut sixteenths = match unit.cue {
            Cue::None => 16,
            Cue::Wish | Cue::Goal => 20,
            Cue::Decision | Cue::Constraint => 24,
        };
        sixteenths += if unit.role == Role::User { 8 } else { 0 };
        sixteenths += if is_labelled(&unit.text) { 16 } else { 0 };
        sixteenths += if goal { 16 } else { 0 };
        dense * sixteenths / 16
    }

    fn find_identifiers(&mut self, units: &[Unit], sources: &[Source]) {
        let (mut of_message, mut numbers, columns) = ((u64::MAX, 0), 0, Columns::of(units));
        for unit in units {
            interrupt::step();
            if of_message.0 != unit.index {
                (of_message, numbers) = ((unit.index, 0), 0);
            }
            exact_identifiers(&unit.text, |range| {
                let is_number = !unit.spoken && unit.text[range.clone()].bytes().all(|byte| byte.is_ascii_digit());
                numbers += usize::from(is_number && range.len() >= NUMBER_DIGITS);
                let is_level = !unit.spoken && unit.text[range.clone()].bytes().all(|byte| byte.is_ascii_uppercase()); // `ERROR`
                if is_level || is_number && (range.len() < NUMBER_DIGITS || numbers > MOST_NUMBERS) {
                    return;
                }
                of_message.1 += 1;
                if of_message.1 > MOST_OF_MESSAGE {
                    self.beyond += 1;
                } else {
                    let identifier = &unit.text[range.clone()];
                    let worth = if columns.have(unit, identifier) { 0 } else { worth(unit, identifier) };
                    self.identify(identifier, (unit.index, worth), |score| phrase_line(unit, range.start, range.end, score));
                }
            });
        }
        for source in sources {
            for call in source.message.tool_calls() {
                self.identify_call(source.index, &call.name, &call.arguments);
            }
        }
    }

    /// Text that a model wrote into a call may be copied from anywhere, so its identifiers stand without the words around them.
    fn identify_call(&mut self, index: u64, name: &str, arguments: &str) {
        let (name, arguments) = (one_line(name), one_line(head(arguments, 4 * PHRASE_BYTES)));
        let line = |text: String, score: i64| Line {
            section: Section::Identifiers,
            text: text.into(),
            sources: vec![index],
            score,
            by_model: false,
        };
        let by = (index, OF_CALL);
        exact_identifiers(&name, |range| self.identify(&name[range.clone()], by, |score| line(name[range].to_owned(), score)));
        let called = if name.len() <= MOST_NAME_BYTES { &*name } else { "" };
        exact_identifiers(&arguments, |range| {
            let text = || format!("{called} {}", &arguments[range.clone()]).trim_start().to_owned();
            self.identify(&arguments[range.clone()], by, |score| line(text(), score));
        });
    }

    fn identify_line(&mut self, line: &Line) {
        exact_identifiers(&line.text, |range| {
            let by = (line.first(), line.score.min(OF_SPEECH));
            self.identify(&line.text[range], by, |score| Line { section: Section::Identifiers, score, ..line.clone() });
        });
    }

    /// The first phrase of an identifier stays, where it has one; each message that mentions it makes it worth more, unless it is worth
    /// nothing there. `line` makes the line for a worth.
    fn identify(&mut self, identifier: &str, (message, worth): (u64, i64), line: impl FnOnce(i64) -> Line) {
        let Some(Known { line: known, last }) = self.identifiers.get_mut(identifier) else {
            self.identifiers.insert(identifier.into(), Known { line: line(worth), last: message });
            return;
        };
        if std::mem::replace(last, message) != message && worth > 0 {
            known.score = known.score.saturating_add(64).min(1 << 20);
        }
        if *known.text == *identifier {
            let line = line(worth);
            if line.text.len() > identifier.len() {
                *known = Line { score: known.score.max(line.score), ..line };
            }
        }
    }

    /// Binding units get their section's grant. Then everything is weighed together, less the reserve for identifiers, and then those,
    /// and what is left. Events that say little that is new come last.
    fn choose(&mut self) {
        let (mut together, mut apart) = (Waiting::new(), BTreeMap::<Section, Waiting>::new());
        let mut order: Vec<usize> = (0..self.candidates.len()).collect();
        order.sort_by_key(|at| (Reverse(self.candidates[*at].rank), Reverse(self.candidates[*at].line.score), *at));
        for at in order.into_iter().take(MOST_CANDIDATES) {
            let Candidate { line, rank, binds, .. } = &self.candidates[at];
            let heap = if *binds { apart.entry(line.section).or_default() } else { &mut together };
            heap.push((*rank, line.score, Reverse(line.first()), Reverse(at)));
        }
        let (mut strict, mut of_constraints) = (Waiting::new(), 0);
        for section in BY_WEIGHT {
            let (room, before) = (self.limit * share(section) / 100, self.left);
            if let Some(mut heap) = apart.remove(&section) {
                self.fill(&mut heap, room.min(self.left));
                let (first, mut others): (Waiting, Waiting) = heap.into_iter().partition(|waiting| self.candidates[waiting.3.0].strict);
                strict.extend(first);
                together.append(&mut others);
            }
            of_constraints += if section == Section::Constraints { before - self.left } else { 0 };
        }
        let most = (self.limit * MOST_CONSTRAINTS / 100).saturating_sub(of_constraints);
        self.fill(&mut strict, most.min(self.left));
        together.append(&mut strict);
        let kept_free = self.limit * share(Section::Identifiers) / 100;
        self.fill(&mut together, self.left.saturating_sub(kept_free));
        self.fill_identifiers();
        self.fill(&mut together, self.left);
        let mut known = std::mem::take(&mut self.known);
        self.fill_above(&mut known, self.left, 1);
    }

    /// Takes the best while it fits `room`. Events that say little that is new are put aside.
    fn fill(&mut self, heap: &mut Waiting, room: u64) {
        self.fill_above(heap, room, LEAST_NOVELTY);
    }

    /// Scores only fall as more is said, so one that is still the best after it was weighed anew is the best of all.
    fn fill_above(&mut self, heap: &mut Waiting, mut room: u64, least: i64) {
        let mut passed_over = Vec::new();
        while let Some((rank, known, order, Reverse(at))) = heap.pop() {
            let candidate = &self.candidates[at];
            let message = candidate.line.sources.last().copied().unwrap_or(0);
            let novelty = self.covered.novelty(&candidate.terms, (message, candidate.beside), &self.weights);
            let told = rank == 0 && candidate.line.section == Section::Summary;
            let now = candidate.line.score * (16 + novelty * 15 / 16) / 256;
            if novelty < if told { least } else { 1 } {
                if novelty > 0 {
                    self.known.push((rank, now, order, Reverse(at)));
                }
                continue;
            }
            if now < known && heap.peek().is_some_and(|next| (next.0, next.1) > (rank, now)) {
                heap.push((rank, now, order, Reverse(at)));
            } else if let Some(cost) = self.cost(candidate.line.section, &candidate.line.text, room) {
                room -= cost;
                self.take(at, cost);
            } else {
                passed_over.push((rank, now, order, Reverse(at)));
                if passed_over.len() > MOST_PASSED_OVER {
                    break; // nothing short enough is near
                }
            }
        }
        heap.extend(passed_over);
    }

    fn take(&mut self, at: usize, cost: u64) {
        let line = self.candidates[at].line.clone();
        self.covered.add(&self.candidates[at].terms, &line.sources);
        self.show(line, cost);
    }

    fn show(&mut self, line: Line, cost: u64) {
        self.left -= cost;
        exact_identifiers(&line.text, |range| {
            self.shown.insert(line.text[range].into());
        });
        self.chosen.push(line);
    }

    /// The cost of a line with its dash, its line feed and, if it is the first of its section, the heading; `None` above `room`.
    fn cost(&self, section: Section, text: &str, room: u64) -> Option<u64> {
        let heading = if self.chosen.iter().any(|line| line.section == section) { 0 } else { 6 };
        let tokens = self.counter.count_within(text, room.saturating_sub(2 + heading))?;
        Some(tokens + 2 + heading).filter(|cost| *cost <= room)
    }

    /// Identifiers that no chosen line has get a line with their phrase, worth most first. Those that are worth nothing get none.
    fn fill_identifiers(&mut self) {
        let lines = self.identifiers.iter().map(|(one, known)| (one, &known.line));
        let mut lines: Vec<(&Box<str>, &Line)> = lines.filter(|(_, line)| line.score > 0).collect();
        lines.sort_by_key(|(_, line)| (Reverse(line.score), line.first()));
        let lines: Vec<(Box<str>, Line)> = lines.into_iter().map(|(one, line)| (one.clone(), line.clone())).collect();
        let mut passed_over = 0;
        for (identifier, line) in lines {
            if self.shown.contains(&identifier) {
                continue;
            }
            let line = Line { section: Section::Identifiers, ..line };
            if let Some(cost) = self.cost(Section::Identifiers, &line.text, self.left) {
                self.show(line, cost);
            } else {
                passed_over += 1;
                if passed_over > MOST_PASSED_OVER {
                    break;
                }
            }
        }
    }

    fn finish(self, previous: Option<&Summary>, sources: &[Source]) -> Compacted {
        let mut summary = Summary { covers: covered(previous, sources), lines: self.chosen, ..Summary::default() };
        summary.calls = calls(previous, sources);
        summary.erased = previous.map_or_else(Vec::new, |before| before.erased.clone());
        let before = previous.map_or(0, |before| before.left_out);
        let total = self.identifiers.len() as u64 + self.beyond;
        let missing = |summary: &Summary| {
            let shown: HashSet<Box<str>> = summary.identifiers().into_iter().map(|one| one.text).collect();
            self.identifiers.keys().filter(|identifier| !shown.contains(*identifier)).count() as u64 + self.beyond
        };
        summary.left_out = before + missing(&summary);
        let mut summary = summary.within(self.limit, self.counter);
        summary.left_out = before + missing(&summary);
        let mut summary = summary.within(self.limit, self.counter);
        let missing = missing(&summary);
        summary.left_out = summary.left_out.min(before + missing);
        Compacted { summary, identifiers: total, kept: total - missing }
    }
}

fn section_of(unit: &Unit, open: bool) -> Option<Section> {
    Some(match unit.cue {
        _ if unit.role == Role::System => return None,
        _ if open => Section::Questions,
        // An assistant may repeat a page's demands, so only the user states constraints.
        Cue::Constraint | Cue::Wish if unit.role == Role::User => Section::Constraints,
        Cue::Decision => Section::Decisions,
        _ => Section::Summary,
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
            let spoken = spoken && source.message.role != Role::Tool;
            found.extend(units(text).into_iter().map(|text| unit(text, source, spoken, reader)));
        }
        Part::ToolResult(result) => {
            let (from, failed) = (found.len(), result.is_error || is_cancelled(result));
            result.parts.iter().for_each(|part| read_part(part, source, false, reader, found));
            found[from..].iter_mut().for_each(|unit| unit.failed = failed);
        }
        _ => {}
    }
}

fn unit(text: String, source: &Source, spoken: bool, reader: &mut Reader) -> Unit {
    let (index, role, calls) = (source.index, source.message.role, source.message.tool_calls().next().is_some());
    let stated: Vec<&str> = sentences(&text).into_iter().filter(|sentence| !asks(sentence)).collect();
    let asks = spoken && asks(&text);
    let kind = |sentence: &str| {
        let cue = cue_of(sentence);
        if role == Role::User && correction(sentence) == Some(Correction::Sure) { cue.max(Cue::Decision) } else { cue }
    };
    let cue = if spoken { stated.into_iter().map(kind).max().unwrap_or(Cue::None) } else { Cue::None };
    let terms = reader.terms(&text);
    let speaker = source.message.name.clone();
    Unit { text: text.into(), index, role, speaker, spoken, calls, failed: false, asks, cue, terms }
}

/// The worth of an identifier of a unit: a sentence of a person is worth more than a tool's result, and more shape more than less.
fn worth(unit: &Unit, identifier: &str) -> i64 {
    let said = if unit.spoken { OF_SPEECH } else { OF_RESULT };
    said + (identifier.chars().count().min(12) as i64) * 16
}

/// The line that keeps an identifier of a unit. A tool's words are nobody's in the conversation, and the summary is a system message: of
/// those the identifier stands alone.
fn phrase_line(unit: &Unit, start: usize, end: usize, score: i64) -> Line {
    let text = if unit.spoken { phrase(&unit.text, start, end) } else { &unit.text[start..end] };
    Line { section: Section::Identifiers, text: one_line(text).into(), sources: vec![unit.index], score, by_model: false }
}

/// The words around `start..end`, at most [`PHRASE_BYTES`] of them where that is between words.
fn phrase(text: &str, start: usize, end: usize) -> &str {
    if text.len() <= PHRASE_BYTES {
        return text;
    }
    let room = PHRASE_BYTES.saturating_sub(end - start);
    let (mut from, mut to) = (start.saturating_sub(room * 2 / 3), end);
    from = border_at_or_behind(text, from).min(start);
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
    to = border_at_or_before(text, to).max(end);
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
        *calls.entry(if name.len() <= MOST_NAME_BYTES { name.into() } else { "others".into() }).or_default() += 1;
    }
    calls.into_iter().collect()
}

/// Calls `each` with every text of a message, and whether somebody said it: arguments of calls and results may be copied from anywhere.
pub(super) fn for_each_text(message: &Message, each: &mut dyn FnMut(&str, bool)) {
    fn part_texts(part: &Part, said: bool, each: &mut dyn FnMut(&str, bool)) {
        match part {
            Part::Text(text) | Part::Refusal(text) => each(text, said),
            Part::ToolCall(call) => each(&call.arguments, false),
            Part::ToolResult(result) => result.parts.iter().for_each(|part| part_texts(part, false, each)),
            _ => {}
        }
    }
    message.parts.iter().for_each(|part| part_texts(part, message.role != Role::Tool, each));
}

/// The first bytes of a text.
fn head(text: &str, bytes: usize) -> &str {
    &text[..cut_at_or_before(text, bytes)]
}
