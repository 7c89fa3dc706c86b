//! A summary: lines by section, each with the messages that it comes from. Its text is a function of them.

use std::ops::Range;

use crate::context::Counter;
use crate::interrupt;
use crate::text::exact_identifiers;

/// A part of a summary. Numbers are stored, and never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// Events.
    Summary = 0,
    /// Decisions.
    Decisions = 1,
    /// Identifiers that no other line has, with the phrase that says what they name.
    Identifiers = 2,
    /// Constraints and wishes.
    Constraints = 3,
    /// Questions that nobody answered.
    Questions = 4,
}

impl Section {
    /// All, in the order they are shown.
    pub const ALL: [Self; 5] = [Self::Summary, Self::Decisions, Self::Identifiers, Self::Constraints, Self::Questions];

    /// The heading.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Summary => "Summary",
            Self::Decisions => "Decisions Made",
            Self::Identifiers => "Exact Identifiers",
            Self::Constraints => "Constraints & Requirements",
            Self::Questions => "Open Questions",
        }
    }

    /// The name in the API and in a model's reply.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Decisions => "decisions",
            Self::Identifiers => "identifiers",
            Self::Constraints => "constraints",
            Self::Questions => "open_questions",
        }
    }

    /// The section of that number.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|section| *section as u64 == number)
    }
}

/// A line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Where it stands.
    pub section: Section,
    /// Its text: one line.
    pub text: Box<str>,
    /// Indices of the messages that it comes from, ascending; none of a note, a task's key or a memory in a brief.
    pub sources: Vec<u64>,
    /// How much it is worth against others of its section.
    pub score: i64,
    /// A model wrote it.
    pub by_model: bool,
}

impl Line {
    /// Its first message.
    pub(super) fn first(&self) -> u64 {
        self.sources.first().copied().unwrap_or_default()
    }
}

/// An identifier, and the line that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identifier {
    /// Byte for byte.
    pub text: Box<str>,
    /// The line.
    pub phrase: Box<str>,
    /// Its messages.
    pub sources: Vec<u64>,
}

/// A summary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// The messages that it stands for, as a half-open range.
    pub covers: Range<u64>,
    /// Its lines, by section, then by their first message.
    pub lines: Vec<Line>,
    /// Tools that were called, and how often, by name.
    pub calls: Vec<(Box<str>, u64)>,
    /// Identifiers of those messages that found no room: they are in the transcript only.
    pub left_out: u64,
    /// Messages whose lines were taken out since, because their text was.
    pub erased: Vec<u64>,
}

/// Tools that are named; the others are counted together.
const NAMED_TOOLS: usize = 8;

impl Summary {
    /// The text. Lines begin with `- `, so that no line of a user can be a heading. A summary without anything in it has none, because a
    /// note of what it left out could be larger than its limit.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        if self.is_empty() {
            return out;
        }
        for section in Section::ALL {
            let mut lines: Vec<String> = self.of(section).map(|line| format!("- {}\n", line.text)).collect();
            match section {
                Section::Summary => lines.extend(self.calls_line().map(|line| format!("- {line}\n"))),
                Section::Identifiers if self.left_out > 0 => {
                    lines.push(format!("- ({} more are in the transcript: ask for what they belong to)\n", self.left_out));
                }
                _ => {}
            }
            if !lines.is_empty() {
                out.extend(["## ", section.title(), "\n", &lines.concat()]);
            }
        }
        out.truncate(out.trim_end().len());
        out
    }

    /// The lines of a section.
    pub fn of(&self, section: Section) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(move |line| line.section == section)
    }

    fn calls_line(&self) -> Option<String> {
        if self.calls.is_empty() {
            return None;
        }
        let mut calls: Vec<&(Box<str>, u64)> = self.calls.iter().collect();
        calls.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        let mut named: Vec<String> = calls.iter().take(NAMED_TOOLS).map(|(name, count)| format!("{name} x {count}")).collect();
        let others: u64 = calls.iter().skip(NAMED_TOOLS).map(|(_, count)| count).sum();
        if others > 0 {
            named.push(format!("others x {others}"));
        }
        Some(format!("Tools called: {}", named.join(", ")))
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.calls.is_empty()
    }

    /// Its tokens.
    #[must_use]
    pub fn tokens(&self, counter: &dyn Counter) -> u64 {
        counter.count(&self.text())
    }

    /// Its identifiers, each once, in the order of its lines.
    #[must_use]
    pub fn identifiers(&self) -> Vec<Identifier> {
        let (mut known, mut found) = (std::collections::HashSet::new(), Vec::new());
        for line in &self.lines {
            exact_identifiers(&line.text, |range| {
                let text = &line.text[range];
                if known.insert(text) {
                    found.push(Identifier { text: text.into(), phrase: line.text.clone(), sources: line.sources.clone() });
                }
            });
        }
        found
    }

    /// Takes out what comes from message `index`; says whether there was anything.
    pub fn erase(&mut self, index: u64) -> bool {
        if !self.covers.contains(&index) {
            return false;
        }
        let before = self.lines.len();
        self.lines.retain(|line| !line.sources.contains(&index));
        let changed = self.lines.len() != before;
        if changed && !self.erased.contains(&index) {
            self.erased.push(index);
        }
        changed
    }

    /// This summary cut to `limit` tokens: of each kind the lines that are worth least go first, and binding lines go last.
    #[must_use]
    pub fn within(mut self, limit: u64, counter: &dyn Counter) -> Self {
        self.sort();
        while !self.is_empty() && counter.count_within(&self.text(), limit).is_none() {
            interrupt::step();
            self.drop_least();
        }
        self
    }

    fn drop_least(&mut self) {
        let order = [Section::Summary, Section::Questions, Section::Identifiers, Section::Decisions, Section::Constraints];
        // A section gives way while it is larger than its share of what is there.
        let size = |section: Section| self.of(section).map(|line| line.text.len() as u64 + 3).sum::<u64>();
        let over = |section: &Section| size(*section) * 100 / super::rules::share(*section).max(1);
        // Constraints do so only where they are most of it.
        let total: u64 = order.into_iter().map(size).sum();
        let binding = size(Section::Constraints) * 100 <= total * super::rules::MOST_CONSTRAINTS;
        let gives_way = |section: &Section| size(*section) > 0 && !(binding && *section == Section::Constraints);
        let Some(section) = order.into_iter().filter(gives_way).max_by_key(|section| (over(section), std::cmp::Reverse(*section))) else {
            self.calls.clear();
            return;
        };
        let least = self.lines.iter().enumerate().filter(|(_, line)| line.section == section).min_by_key(|(at, line)| (line.score, *at));
        if let Some((at, _)) = least {
            let line = self.lines.remove(at);
            exact_identifiers(&line.text, |_| self.left_out += 1);
        }
    }

    /// Puts lines into their order.
    pub(super) fn sort(&mut self) {
        self.lines.sort_by(|one, other| (one.section, &one.sources, &one.text).cmp(&(other.section, &other.sources, &other.text)));
    }
}
