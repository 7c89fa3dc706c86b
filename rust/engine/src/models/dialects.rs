//! The dialects of chat completions: the table `data/dialects.tsv`, a server a line, with where its rules are published.

use super::Profile;
use crate::context::Dialect;
use crate::context::dialect::CallIds;
use crate::process::Lazy;
use crate::{Error, Result};

const TABLE: &str = include_str!("data/dialects.tsv");

static DIALECTS: Lazy<Vec<Dialect>> = Lazy::new(|| {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| read(line).expect("the table is embedded, and a test reads every line of it")).collect()
});

fn read(line: &str) -> Option<Dialect> {
    let fields: [&str; 18] = line.split('\t').collect::<Vec<_>>().try_into().ok()?;
    let yes = |column: usize| matches!(fields[column], "y" | "n").then(|| fields[column] == "y");
    let list = |column: usize| fields[column].split(',').filter(|item| *item != "-").map(Into::into).collect();
    Some(Dialect {
        name: fields[0].into(),
        vendors: list(1),
        output_parameter: fields[2].into(),
        call_ids: CallIds::parse(fields[3])?,
        begins_with_assistant: yes(4)?,
        ends_with_assistant: yes(5)?,
        alternates: yes(6)?,
        user_after_tool: yes(7)?,
        empty_assistant: yes(8)?,
        system_anywhere: yes(9)?,
        text_parts: yes(10)?,
        stream_usage: yes(11)?,
        strict: yes(12)?,
        tool_choice: list(13),
        reasoning: if fields[14] == "-" { "".into() } else { fields[14].into() },
        sent_back: list(15),
        no_thinking: (fields[16] != "-").then(|| fields[16].into()),
    })
}

/// All of them, `OpenAI`'s first, then by name.
#[must_use]
pub fn dialects() -> &'static [Dialect] {
    &DIALECTS
}

/// The dialect of a name.
pub fn dialect(name: &str) -> Result<&'static Dialect> {
    DIALECTS.iter().find(|dialect| &*dialect.name == name).ok_or_else(|| {
        let known: Vec<&str> = DIALECTS.iter().map(|dialect| &*dialect.name).collect();
        Error::invalid(format!("choosing a dialect: it must be one of {}, got {name:?}: name the server that is asked", known.join(", ")))
            .with("dialect", name)
    })
}

/// The dialect of a vendor's models by default.
#[must_use]
pub fn dialect_of(profile: &Profile) -> &'static Dialect {
    let served = |dialect: &&Dialect| dialect.vendors.iter().any(|vendor| **vendor == *profile.vendor);
    DIALECTS.iter().find(served).unwrap_or(&DIALECTS[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_dialect() {
        assert!(TABLE.lines().filter(|line| !line.starts_with('#')).all(|line| read(line).is_some()));
        assert!(dialects().len() >= 17 && &*dialects()[0].name == "openai" && dialects()[1..].is_sorted_by_key(|dialect| &dialect.name));
        assert!(dialects().iter().all(|dialect| dialect.output_parameter.starts_with("max_")));
        assert_eq!(&*dialect_of(&crate::models::get("mistral-large-3").unwrap()).name, "mistral");
        assert_eq!(&*dialect_of(&crate::models::get("gpt-4o").unwrap()).name, "openai");
        assert!(dialect("nobody").is_err());
    }
}
