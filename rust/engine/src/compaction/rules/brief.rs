//! A summary for somebody else who takes over a task.

use std::cmp::Reverse;

use super::{Chooser, Compacted, Source};
use crate::compaction::summary::{Line, Section, Summary};
use crate::compaction::terms::{Frequencies, Reader, Terms};
use crate::compaction::units::one_line;
use crate::context::Counter;
use crate::context::shorten::{Between, shorten};

/// The worth of a standing line of a brief: more than that of any other.
const STANDING: i64 = 1 << 40;

/// The purpose of a brief.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Aim {
    /// The task that it is for.
    pub task: String,
    /// Lines that bind those who take it over, the most binding first. No message says them.
    pub standing: Vec<String>,
    /// The tasks of the session.
    pub tasks: Vec<TaskLines>,
}

/// The state of a task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskLines {
    /// Its name.
    pub name: String,
    /// A line for each of its keys, the one that was set last first.
    pub keys: Vec<String>,
}

/// Compacts messages for somebody who takes over a task: what shares its rare terms comes first, and standing lines have up to half of the
/// limit. Of these the keys of the tasks that the task is about come first, and a line counts those that are left out.
#[must_use]
pub fn brief(aim: &Aim, previous: Option<&Summary>, sources: &[Source], written: &[Line], limit: u64, counter: &dyn Counter) -> Compacted {
    let mut chooser = Chooser::new(previous, sources, written, limit, counter);
    chooser.aim(aim);
    chooser.choose();
    chooser.finish(previous, sources)
}

impl Chooser<'_> {
    /// Weighs what shares rare terms with the task up to 17 times, and shows the standing lines.
    fn aim(&mut self, aim: &Aim) {
        let (mut reader, mut room) = (Reader::default(), self.limit / 2);
        let asked = reader.terms(&aim.task).all;
        for candidate in &mut self.candidates {
            candidate.line.score += candidate.line.score * self.weights.shared(&asked, &candidate.terms) / 16;
        }
        for text in aim.standing.iter().filter(|text| !text.trim().is_empty()) {
            self.stand(text, &mut room, &mut reader);
        }
        let keys = nearest_first(&aim.tasks, &asked, &mut reader);
        let costs: Vec<u64> = keys.iter().map(|text| self.counter.count(&self.short(text)) + 2).collect();
        let heading = if self.chosen.is_empty() { 6 } else { 0 };
        if costs.iter().sum::<u64>() + heading <= room.min(self.left) {
            for text in &keys {
                self.stand(text, &mut room, &mut reader);
            }
            return;
        }
        let more = |count: usize| format!("({count} more {} of tasks not shown)", if count == 1 { "key" } else { "keys" });
        let (mut left_out, line) = (0, self.counter.count(&more(keys.len())) + 2);
        let Some(mut for_keys) = room.min(self.left).checked_sub(line) else { return };
        for text in &keys {
            left_out += usize::from(!self.stand(text, &mut for_keys, &mut reader));
        }
        room = for_keys + line;
        self.stand(&more(left_out), &mut room, &mut reader);
    }

    /// Shows a standing line, if there is room for it.
    fn stand(&mut self, text: &str, room: &mut u64, reader: &mut Reader) -> bool {
        let text = self.short(text);
        let Some(cost) = self.cost(Section::Constraints, &text, (*room).min(self.left)) else { return false };
        *room -= cost;
        self.covered.add(&reader.terms(&text).all, &[]);
        let line = Line { section: Section::Constraints, text: text.into(), sources: Vec::new(), score: STANDING, by_model: false };
        self.show(line, cost);
        true
    }

    /// A standing line has a quarter of the limit at most.
    fn short(&self, text: &str) -> String {
        let whole = one_line(text);
        let short = shorten(&whole, None, self.limit / 4, self.counter, Between::Clusters);
        short.map_or(whole, |short| one_line(&short.text))
    }
}

/// The keys of all tasks: first those of tasks whose names `asked` has, then those that share most with it, and of equals the last of
/// each task.
fn nearest_first<'a>(tasks: &'a [TaskLines], asked: &[u64], reader: &mut Reader) -> Vec<&'a str> {
    let mut of_names = Frequencies::default();
    let mut of_lines = Frequencies::default();
    let mut lines: Vec<(usize, usize, Terms)> = Vec::new();
    let names: Vec<Terms> = tasks.iter().map(|task| reader.terms(&task.name)).collect();
    for name in &names {
        of_names.add(name);
    }
    for (at, task) in tasks.iter().enumerate() {
        for (behind, line) in task.keys.iter().enumerate() {
            let terms = reader.terms(line);
            of_lines.add(&terms);
            lines.push((behind, at, terms));
        }
    }
    let (of_names, of_lines) = (of_names.weigh(), of_lines.weigh());
    lines.sort_by_cached_key(|(behind, at, terms)| {
        let named = of_names.shared(asked, &names[*at].all);
        (Reverse(named), Reverse(of_lines.shared(asked, &terms.all)), *behind, *at)
    });
    lines.iter().map(|(behind, at, _)| &*tasks[*at].keys[*behind]).collect()
}
