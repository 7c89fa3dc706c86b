//! A summary for somebody else who takes over a task.

use super::{Chooser, Compacted, Source};
use crate::compaction::summary::{Line, Section, Summary};
use crate::compaction::terms::Reader;
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
}

/// Compacts messages for somebody who takes over a task: what shares its rare terms comes first, and standing lines have up to half of the
/// limit.
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
            let whole = one_line(text);
            let short = shorten(&whole, None, self.limit / 4, self.counter, Between::Clusters);
            let text = short.map_or(whole, |short| one_line(&short.text));
            if let Some(cost) = self.cost(Section::Constraints, &text, room.min(self.left)) {
                room -= cost;
                self.covered.add(&reader.terms(&text).all, &[]);
                let line = Line { section: Section::Constraints, text: text.into(), sources: Vec::new(), score: STANDING, by_model: false };
                self.show(line, cost);
            }
        }
    }
}
