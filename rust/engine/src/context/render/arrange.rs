//! From segments to the messages of a chat completion, and to the order that a server takes them in.
//!
//! `OpenAI`'s own rules leave everything where it is. Elsewhere system messages that may stand first alone become one, and later ones
//! become user text that says what it is. A server that wants turns gets neighbours of one role joined. Where a conversation must begin or
//! end with another role, a short text in brackets takes that place. An assistant's message that says nothing is left out where a server
//! refuses one. Source: `models/data/dialects.tsv`, column `source`.

use std::borrow::Cow;

use super::super::dialect::Dialect;
use super::super::lower::{Piece, pieces, takes};
use super::super::message::{Message, Role, Shape, ToolResult};
use super::super::prompt::Prompt;
use super::super::segment::{Body, Segment};
use super::openai::is_openais;
use super::rounds::{Step, steps};
use super::{GO_ON, NOTHING_YET, beginning};

/// The assistant's text between a tool's result and a user, where a server requires one.
const INTERRUPTED: &str = "(interrupted)";

/// A message of a chat completion.
pub(super) enum Entry<'a> {
    /// Text, or text with calls and other parts.
    Message { role: Role, name: Option<&'a str>, pieces: Vec<Piece<'a>> },
    /// The result of a call.
    Result(&'a ToolResult),
}

impl<'a> Entry<'a> {
    fn text(role: Role, text: impl Into<Cow<'a, str>>) -> Self {
        Self::Message { role, name: None, pieces: vec![Piece::Text(text.into())] }
    }

    pub(super) fn role(&self) -> Role {
        match self {
            Self::Message { role, .. } => *role,
            Self::Result(_) => Role::Tool,
        }
    }

    /// Whether it has anything but empty texts.
    fn says(&self) -> bool {
        let Self::Message { pieces, .. } = self else { return true };
        pieces.iter().any(|piece| match piece {
            Piece::Text(text) => !text.is_empty(),
            Piece::Beside(..) => false,
            _ => true,
        })
    }

    fn calls(&self) -> bool {
        matches!(self, Self::Message { pieces, .. } if pieces.iter().any(|piece| matches!(piece, Piece::Call(_))))
    }
}

/// The messages of segments, with what a server takes of models' own parts; else as `OpenAI` takes them. A refusal is a text where another
/// server is asked.
pub(super) fn entries<'a>(segments: &'a [Segment], shape: Shape, dialect: Option<&Dialect>) -> Vec<Entry<'a>> {
    let takes_refusals = is_openais(dialect);
    let said = move |piece| match piece {
        Piece::Refusal(text) if !takes_refusals => Piece::Text(text.into()),
        piece => piece,
    };
    let own = |message: &'a Message| pieces(message, shape).filter(|piece| takes(piece, dialect)).map(said).collect();
    let mut entries = Vec::with_capacity(segments.len());
    let mut block = None;
    for step in steps(segments) {
        match step {
            Step::Results(message) => entries.extend(message.tool_results().map(Entry::Result)),
            Step::Rest(message) => push(&mut entries, message, own(message), &mut block),
            Step::Whole(segment) => match &segment.body {
                Body::Tools(_) => {}
                Body::Text(text) => entries.push(Entry::text(Role::System, &*text.text)),
                Body::Block(waiting) => block = Some(&*waiting.text),
                Body::Message(_, stored) => push(&mut entries, &stored.message, own(&stored.message), &mut block),
            },
        }
    }
    if let Some(text) = block {
        entries.push(Entry::text(Role::User, text));
    }
    entries
}

/// Adds everything that a message says besides results.
fn push<'a>(entries: &mut Vec<Entry<'a>>, message: &'a Message, mut own: Vec<Piece<'a>>, block: &mut Option<&'a str>) {
    own.retain(|piece| !matches!(piece, Piece::Result(_)));
    if own.is_empty() && message.tool_results().next().is_some() {
        return;
    }
    if let Some(text) = block.take() {
        if own.is_empty() {
            own.push(Piece::Text("".into()));
        }
        own.insert(0, Piece::Text(text.into()));
    }
    entries.push(Entry::Message { role: message.role, name: message.name.as_deref(), pieces: own });
}

/// The messages in the order and the roles that a server takes.
pub(super) fn arranged<'a>(prompt: &'a Prompt, shape: Shape, dialect: &Dialect) -> Vec<Entry<'a>> {
    let mut entries = entries(&prompt.segments, shape, Some(dialect));
    if !dialect.empty_assistant {
        entries.retain(|entry| entry.role() != Role::Assistant || entry.says());
    }
    if !dialect.system_anywhere {
        entries = one_system(entries);
    }
    let first = entries.iter().position(|entry| !is_system(entry));
    match first {
        None if !dialect.system_anywhere || entries.is_empty() => entries.push(Entry::text(Role::User, NOTHING_YET)),
        Some(at) if !dialect.begins_with_assistant && entries[at].role() == Role::Assistant => {
            entries.insert(at, Entry::text(Role::User, beginning(prompt)));
        }
        _ => {}
    }
    if !dialect.user_after_tool {
        entries = answered(entries);
    }
    if dialect.alternates {
        entries = taking_turns(entries);
    }
    if !dialect.ends_with_assistant && entries.last().is_some_and(|entry| entry.role() == Role::Assistant && !entry.calls()) {
        entries.push(Entry::text(Role::User, GO_ON));
    }
    entries
}

fn is_system(entry: &Entry<'_>) -> bool {
    matches!(entry.role(), Role::System | Role::Developer)
}

/// The system messages in front as one; later ones as user text.
fn one_system(entries: Vec<Entry<'_>>) -> Vec<Entry<'_>> {
    let front = entries.iter().take_while(|entry| is_system(entry)).count();
    let (mut text, mut out) = (String::new(), Vec::with_capacity(entries.len()));
    for (index, entry) in entries.into_iter().enumerate() {
        match entry {
            Entry::Message { role: Role::System | Role::Developer, pieces, .. } => {
                let own = texts(&pieces);
                if index < front {
                    text = if text.is_empty() { own } else { format!("{text}\n\n{own}") };
                } else {
                    out.push(Entry::text(Role::User, format!("<system_message>\n{own}\n</system_message>")));
                }
            }
            other => out.push(other),
        }
    }
    if front > 0 {
        out.insert(0, Entry::text(Role::System, text));
    }
    out
}

fn texts(pieces: &[Piece<'_>]) -> String {
    let texts: Vec<&str> = pieces.iter().filter_map(|piece| if let Piece::Text(text) = piece { Some(&**text) } else { None }).collect();
    texts.join("\n\n")
}

/// With an assistant's word between a tool's result and a user.
fn answered(entries: Vec<Entry<'_>>) -> Vec<Entry<'_>> {
    let mut out: Vec<Entry<'_>> = Vec::with_capacity(entries.len());
    for entry in entries {
        if entry.role() == Role::User && out.last().is_some_and(|before| before.role() == Role::Tool) {
            out.push(Entry::text(Role::Assistant, INTERRUPTED));
        }
        out.push(entry);
    }
    out
}

/// With neighbours of one role joined. An assistant's calls end its turn: what it says before them joins them.
fn taking_turns(entries: Vec<Entry<'_>>) -> Vec<Entry<'_>> {
    let mut out: Vec<Entry<'_>> = Vec::with_capacity(entries.len());
    for entry in entries {
        match (entry, out.last_mut()) {
            (Entry::Message { pieces, role, name }, Some(before)) if joins_with(before, role) => {
                let Entry::Message { pieces: own, .. } = before else { continue };
                if let Some(name) = name {
                    own.push(Piece::Text(format!("({name})").into()));
                }
                own.extend(pieces);
            }
            (entry, _) => out.push(entry),
        }
    }
    out
}

fn joins_with(before: &Entry<'_>, role: Role) -> bool {
    matches!(role, Role::User | Role::Assistant) && before.role() == role && !before.calls()
}
