//! A summary for somebody else who takes over a task.

use super::{Chooser, Compacted, Source};
use crate::compaction::summary::{Line, Section, Summary};
use crate::compaction::terms::Reader;
use crate::compaction::units::one_line;
use crate::context::Counter;
use crate::units::clusters::{border_at_or_behind, cut_at_or_before};

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
            let text = ends(&one_line(text), usize::try_from(self.limit).unwrap_or(usize::MAX));
            if let Some(cost) = self.cost(Section::Constraints, &text, room.min(self.left)) {
                room -= cost;
                self.covered.add(&reader.terms(&text).all, &[]);
                let line = Line { section: Section::Constraints, text: text.into(), sources: Vec::new(), score: STANDING, by_model: false };
                self.show(line, cost);
            }
        }
    }
}

/// A text of about so many bytes: its beginning and its end where it has more.
fn ends(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let (start, end) = (cut_at_or_before(text, bytes * 2 / 3), border_at_or_behind(text, text.len() - bytes / 3));
    format!("{} ... {}", text[..start].trim_end(), text[end..].trim_start())
}
