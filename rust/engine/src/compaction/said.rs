//! The text of a message, read once for all lines that name it.
//!
//! A line is held against the texts of its messages as if they stood in one text, one after the other. Each text but the last ends with a
//! line feed, and nothing that is looked for goes over one, save a quotation: all else is looked for in each text by itself.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use super::check::Words;
use super::cues::asks;
use super::measures::Measures;
use super::terms::Reader;
use super::units::{flat, sentences, units};

/// A text and what was read in it so far.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub text: String,
    words: OnceCell<Words>,
    lower: OnceCell<String>,
    flat: OnceCell<String>,
    measures: OnceCell<Measures>,
    statements: OnceCell<Statements>,
}

impl Said {
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// Its words.
    pub fn words(&self) -> &Words {
        self.words.get_or_init(|| Words::of(&self.text))
    }

    /// In small letters.
    pub fn lower(&self) -> &str {
        self.lower.get_or_init(|| self.text.to_lowercase())
    }

    /// On one line.
    pub fn flat(&self) -> &str {
        self.flat.get_or_init(|| flat(&self.text))
    }

    /// Its numbers with their units.
    pub fn measures(&self) -> &Measures {
        self.measures.get_or_init(|| Measures::of(&self.text))
    }

    /// Its terms and its statements.
    pub fn statements(&self, reader: &mut Reader) -> &Statements {
        self.statements.get_or_init(|| Statements::of(&self.text, reader))
    }
}

/// The sentences of a text that do not ask, and its terms.
#[derive(Debug)]
pub(super) struct Statements {
    terms: HashSet<u64>,
    sentences: Vec<String>,
    /// The places of the statements that have a term, ascending.
    of_term: HashMap<u64, Vec<usize>>,
}

impl Statements {
    fn of(text: &str, reader: &mut Reader) -> Self {
        let (mut stated, mut of_term) = (Vec::new(), HashMap::<u64, Vec<usize>>::new());
        for unit in units(text) {
            for sentence in sentences(&unit).into_iter().filter(|sentence| !asks(sentence)) {
                reader.every(sentence).into_iter().for_each(|term| of_term.entry(term).or_default().push(stated.len()));
                stated.push(sentence.to_owned());
            }
        }
        Self { terms: reader.every(text).into_iter().collect(), sentences: stated, of_term }
    }

    /// Whether the text has a term.
    pub fn has(&self, term: u64) -> bool {
        self.terms.contains(&term)
    }

    /// The first statement with the greatest share of some terms, and the share in 1/256; none where no statement has any.
    pub fn closest(&self, terms: &[u64]) -> Option<(usize, &str)> {
        let mut common: HashMap<usize, usize> = HashMap::new();
        for at in terms.iter().filter_map(|term| self.of_term.get(term)).flatten() {
            *common.entry(*at).or_default() += 1;
        }
        let share = |common: usize| common * 256 / terms.len().max(1);
        let best = common.into_iter().map(|(at, common)| (share(common), std::cmp::Reverse(at))).max()?;
        Some((best.0, &*self.sentences[best.1.0])).filter(|(share, _)| *share > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::compaction::Source;
    use crate::compaction::check::{check, is_supported};
    use crate::compaction::units::{one_line, without_markers};
    use crate::context::testing::{Random, nasty};
    use crate::context::{Message, Role};
    use crate::interrupt::counted;

    const PIECES: [&str; 44] = [
        "The timeout",
        "is",
        "30 seconds",
        "30",
        "minutes",
        "$30",
        "5 p.m.",
        "100 requests per minute",
        "per second",
        "not",
        "never",
        "payments-db",
        "Payments-DB",
        "v15",
        "host-7",
        "8443",
        "8443.5",
        "Anna",
        "anna",
        "\u{201e}gut\u{201c}",
        "\"use it\"",
        "`a b`",
        "use it",
        "a b",
        "Friday",
        "fri",
        "October",
        "oct",
        "twelve",
        "12",
        "we",
        "deploy",
        "deployed",
        ".",
        "?",
        "!",
        "\n",
        "\n- ",
        "* ",
        "\u{2022}",
        "- ",
        "\u{39f}\u{394}\u{39f}\u{3a3}",
        "\u{6211}\u{4eec}\u{3002}",
        "\t",
    ];

    fn text(random: &mut Random, most: u64) -> String {
        let mut text = String::new();
        for _ in 0..random.below(most) {
            match random.below(12) {
                0 => text.push_str(&nasty(random, 2)),
                at => text.extend([PIECES[random.below(PIECES.len() as u64) as usize], if at < 3 { "" } else { " " }]),
            }
        }
        text
    }

    #[test]
    fn texts_one_by_one_are_as_one_text() {
        let (mut random, mut reader, mut refused, mut kept) = (Random::new(11), Reader::default(), 0, 0);
        for _ in 0..4_000 {
            let texts: Vec<String> = (0..=random.below(4)).map(|_| text(&mut random, 12)).map(|text| text + "\n").collect();
            let line = match random.below(3) {
                0 => one_line(&text(&mut random, 8)),
                1 => one_line(&texts[0]),
                _ => format!("The \"{}\" is {}", one_line(&texts.concat()), one_line(&text(&mut random, 3))),
            };
            let (apart, whole) = (texts.iter().map(|text| Said::new(text)).collect::<Vec<_>>(), Said::new(&texts.concat()));
            let one = is_supported(&line, &apart.iter().collect::<Vec<_>>(), &mut reader);
            assert_eq!(one, is_supported(&line, &[&whole], &mut reader), "{line:?} {texts:?}");
            refused += usize::from(one.is_err());
            kept += usize::from(one.is_ok());
        }
        assert!(refused > 200 && kept > 200, "{refused} {kept}");
    }

    #[test]
    fn a_flat_text_without_its_markers_is_on_one_line() {
        let mut random = Random::new(12);
        for _ in 0..4_000 {
            let text = text(&mut random, 6);
            assert_eq!(without_markers(&flat(&text)), one_line(&text), "{text:?}");
        }
    }

    #[test]
    fn a_message_is_read_once_for_all_lines_that_name_it() {
        let long = "The service listens on the port of its region and waits.\n".repeat(300);
        let message = |at: u64| Source { index: at, message: Arc::new(Message::text(Role::User, &long)) };
        let sources = [message(0), message(1), message(2)];
        let looks = |lines: u64| {
            let line = |at: u64| json!({"text": "A service listens on the port.", "messages": [at % 2, 2]});
            let reply =
                json!({"summary": (0..lines).map(line).collect::<Vec<_>>(), "decisions": [], "constraints": [], "open_questions": []});
            let (checked, looks) = counted::after(1 << 40, || Ok(check(&reply.to_string(), None, &sources)));
            let checked = checked.unwrap().unwrap();
            assert_eq!(checked.lines.len() as u64, lines, "{:?}", checked.refused);
            looks
        };
        assert!(looks(200) - looks(2) < looks(2) / 2, "{} {}", looks(200), looks(2));
    }
}
