//! The call that a recalled result of a tool is of: "ok 1 (14 ms)" means nothing without it. A result says it in an attribute,
//! `of="bash: cargo test -p store"`, with the name of the tool and a short form of its arguments. So does a part of a long call.
//!
//! The item keeps how far before the message the call stands ([`called`](crate::context::Form::called)), and the text is made again from
//! there. So a call that is redacted leaves the prompts of its results as well.

use std::fmt::Write as _;
use std::ops::Range;

use super::retrieved::Span;
use crate::Result;
use crate::context::message::{ToolCall, ToolResult};
use crate::context::{Message, Part, json};
use crate::session::key::SessionKey;
use crate::session::transcript::message::{MessageRecord, MessageState};
use crate::session::transcript::words::append;
use crate::store::pages::Pages;
use crate::units::clip::clip;

/// The attribute's name.
const OF: &str = "of";
/// So many messages before a result are looked at for its call: results of calls that were made together stand behind one another.
const MOST_BEFORE: u64 = 128;
/// The most bytes of a call's arguments, of all calls that an item names together.
const MOST_BYTES: usize = 100;
/// The most bytes of a tool's name.
const MOST_OF_NAME: usize = 64;
/// The most calls that an item names.
const MOST_CALLS: usize = 4;
/// Arguments that say most of what a call does, in this order.
const FIRST: [&str; 13] =
    ["command", "cmd", "script", "pattern", "query", "sql", "url", "path", "file_path", "filepath", "filename", "file", "code"];
/// Marks that something was left out.
const CUT: &str = "\u{2026}";

/// The calls that an item may say.
pub(super) struct Before {
    /// How many messages before that of the item they stand; 0 where it is a part of a call itself.
    pub distance: u64,
    /// The message that has them, where it is another.
    message: Option<Message>,
}

/// The calls of which the shown part of message `index` is a result, or a part; `None` where it is neither, or its call is not found.
pub(super) fn find<P: Pages>(pages: &P, place: SessionKey, index: u64, message: &Message, span: Span) -> Result<Option<Before>> {
    if !message.parts.iter().any(|part| matches!(part, Part::ToolCall(_) | Part::ToolResult(_))) {
        return Ok(None); // as mostly
    }
    let Some(result) = results(message, span).next() else {
        return Ok(span.and_then(|_| calls(message, span).next()).map(|_| Before { distance: 0, message: None }));
    };
    for distance in 1..=MOST_BEFORE.min(index) {
        let Some(record) = MessageRecord::read(pages, place, index - distance)? else { return Ok(None) };
        if record.state == MessageState::Given {
            let message = record.whole(pages, place)?;
            if message.tool_calls().any(|call| call.id == result.call_id) {
                return Ok(Some(Before { distance, message: Some(message) }));
            }
        }
        if record.placed.opens_turn {
            break;
        }
    }
    Ok(None)
}

/// The calls that stand so many messages before message `index`; `None` where they are not there any more.
pub(super) fn at<P: Pages>(pages: &P, place: SessionKey, index: u64, distance: u64) -> Result<Option<Before>> {
    if distance == 0 {
        return Ok(Some(Before { distance, message: None }));
    }
    let Some(record) = given(pages, place, index, distance)? else { return Ok(None) };
    Ok(Some(Before { distance, message: Some(record.whole(pages, place)?) }))
}

/// Whether the call that an item says is not there any more.
pub(super) fn is_gone<P: Pages>(pages: &P, place: SessionKey, index: u64, called: Option<u64>) -> Result<bool> {
    called.filter(|distance| *distance > 0).map_or(Ok(false), |distance| Ok(given(pages, place, index, distance)?.is_none()))
}

fn given<P: Pages>(pages: &P, place: SessionKey, index: u64, distance: u64) -> Result<Option<MessageRecord>> {
    let Some(at) = index.checked_sub(distance) else { return Ok(None) };
    Ok(MessageRecord::read(pages, place, at)?.filter(|record| record.state == MessageState::Given))
}

/// The attribute by which the shown part of a message says its calls.
pub(super) fn attribute(message: &Message, span: Span, before: &Before) -> Option<(Box<str>, Box<str>)> {
    let all: Vec<&ToolCall> = match &before.message {
        None => calls(message, span).collect(),
        Some(before) => results(message, span).filter_map(|result| before.tool_calls().find(|call| call.id == result.call_id)).collect(),
    };
    (!all.is_empty()).then(|| (OF.into(), named(&all).into()))
}

/// The results that a part of a message is of.
fn results(message: &Message, span: Span) -> impl Iterator<Item = &ToolResult> {
    shown(message, span).filter_map(|part| if let Part::ToolResult(result) = part { Some(result) } else { None })
}

/// The calls that a part of a message is of.
fn calls(message: &Message, span: Span) -> impl Iterator<Item = &ToolCall> {
    shown(message, span).filter_map(|part| if let Part::ToolCall(call) = part { Some(call) } else { None })
}

/// The parts of a message of which something is shown.
fn shown(message: &Message, span: Span) -> impl Iterator<Item = &Part> {
    let shown: Range<usize> = span.map_or(0..usize::MAX, |(start, length)| start as usize..start.saturating_add(length) as usize);
    let mut text = String::new();
    message.parts.iter().filter(move |part| {
        let start = text.len();
        if span.is_some() {
            append(part, &mut text);
        }
        span.is_none() || start < shown.end && shown.start < text.len()
    })
}

/// Calls as a reader knows them: the name and the arguments of each.
fn named(calls: &[&ToolCall]) -> String {
    let most = MOST_BYTES / calls.len().clamp(1, MOST_CALLS);
    let mut text = String::new();
    for (place, call) in calls.iter().enumerate() {
        if place == MOST_CALLS {
            text.push_str(CUT);
            break;
        }
        let arguments = readable(&call.arguments, most);
        let _ = write!(text, "{}{}", if place == 0 { "" } else { "; " }, clip(&call.name, MOST_OF_NAME));
        if !arguments.is_empty() {
            let _ = write!(text, ": {arguments}");
        }
    }
    text
}

/// Arguments on one line, of at most `most` bytes and a mark: the one that says most, and behind it the others that there is room for.
fn readable(arguments: &str, most: usize) -> String {
    let Some(fields) = json::object(arguments) else { return cut_to(&on_one_line(arguments, most), most) };
    let fields: Vec<(&str, &str)> = fields.fields().collect();
    let first = FIRST.iter().find_map(|name| fields.iter().position(|(known, _)| known == name)).unwrap_or(0);
    let Some((_, value)) = fields.get(first) else { return String::new() };
    let (mut line, mut is_whole) = (cut_to(&value_of(value, most), most), true);
    for (_, (name, value)) in fields.iter().enumerate().filter(|(place, _)| *place != first) {
        let more = format!("{}{name}={}", if line.is_empty() { "" } else { ", " }, value_of(value, most));
        if line.len() + more.len() <= most { line.push_str(&more) } else { is_whole = false }
    }
    if !is_whole && !line.ends_with(CUT) {
        line.push_str(if line.is_empty() { CUT } else { " \u{2026}" });
    }
    line
}

/// A value as it reads: a string decoded, the strings of a list one behind the other, all else as it was written.
fn value_of(raw: &str, most: usize) -> String {
    let strings = || json::list(raw)?.into_iter().map(json::text).collect::<Option<Vec<_>>>();
    match json::text(raw) {
        Some(text) => on_one_line(&text, most),
        None => on_one_line(&strings().map_or_else(|| raw.to_owned(), |strings| strings.join(" ")), most),
    }
}

/// The words of a text with a space between them, as far as there is room for one byte more than `most`.
fn on_one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if line.len() > most {
            break;
        }
        line.push_str(if line.is_empty() { "" } else { " " });
        line.push_str(word);
    }
    line
}

fn cut_to(line: &str, most: usize) -> String {
    if line.len() <= most { line.to_owned() } else { format!("{}{CUT}", clip(line, most).trim_end()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall { id: "c".into(), name: name.into(), arguments: arguments.into(), custom: false }
    }

    #[test]
    fn a_call_is_said_by_its_command_or_its_path() {
        for (name, arguments, said) in [
            ("bash", r#"{"command": "cargo test -p store"}"#, "bash: cargo test -p store"),
            ("bash", r#"{"description": "Run the tests", "command": "make test"}"#, "bash: make test, description=Run the tests"),
            ("shell", r#"{"command": ["bash", "-lc", "ls \"a b\""], "timeout": 30}"#, "shell: bash -lc ls \"a b\", timeout=30"),
            ("read", r#"{"offset": 10, "path": "src/a.rs"}"#, "read: src/a.rs, offset=10"),
            ("grep", r#"{"path": "src", "pattern": "fn\tmain"}"#, "grep: fn main, path=src"),
            ("edit", "{\"path\": \"a.py\", \"old\": \"x = 1\\ny = 2\", \"new\": \"\u{e9}\"}", "edit: a.py, old=x = 1 y = 2, new=\u{e9}"),
            ("list", "{}", "list"),
            ("list", "", "list"),
            ("ask", r#"{"deep": {"a": [1, 2]}}"#, r#"ask: {"a": [1, 2]}"#),
            ("patch", "*** Begin Patch\n+a", "patch: *** Begin Patch +a"),
            ("broken", r#"{"path": "a"#, r#"broken: {"path": "a"#),
        ] {
            assert_eq!(named(&[&call(name, arguments)]), said);
        }
    }

    #[test]
    fn long_arguments_are_cut_between_characters_and_marked() {
        let content = "x = 1\\n".repeat(500);
        assert_eq!(named(&[&call("write", &format!(r#"{{"path": "src/a.py", "content": "{content}"}}"#))]), "write: src/a.py \u{2026}");
        for most in 0..=MOST_BYTES {
            for text in ["\u{e9}".repeat(200), "word ".repeat(60), "\u{1f600} ".repeat(60), String::new()] {
                for arguments in [text.clone(), format!(r#"{{"command": "{text}"}}"#), format!(r#"{{"a": "{text}", "b": "{text}"}}"#)] {
                    let line = readable(&arguments, most);
                    assert!(line.trim_end_matches(CUT).len() <= most + 1, "{line:?} of {most}");
                    assert!(text.is_empty() || line.contains(CUT), "{line:?} of {most}");
                }
            }
        }
    }

    #[test]
    fn calls_that_were_made_together_share_the_room() {
        let long = format!(r#"{{"command": "{}"}}"#, "a".repeat(300));
        let all: Vec<ToolCall> = (0..6).map(|_| call("bash", &long)).collect();
        let all: Vec<&ToolCall> = all.iter().collect();
        let two = named(&all[..2]);
        assert_eq!(two, format!("bash: {0}\u{2026}; bash: {0}\u{2026}", "a".repeat(50)));
        let many = named(&all);
        assert_eq!(many.matches("bash").count(), 4);
        assert!(many.len() < 150 && many.ends_with(CUT), "{many}");
    }

    #[test]
    fn a_part_is_of_the_results_that_stand_in_it() {
        let result = |id: &str, text: &str| {
            let parts = vec![Part::Text(text.into())];
            Part::ToolResult(ToolResult { call_id: id.into(), parts, is_error: false, images: false, key: None })
        };
        let parts = vec![result("a", "0123456789"), result("b", "0123456789"), result("c", ""), result("d", "01234")];
        let message = Message { role: crate::context::Role::User, name: None, parts };
        let ids = |span| results(&message, span).map(|result| &*result.call_id).collect::<String>();
        assert_eq!(ids(None), "abcd");
        assert_eq!(ids(Some((0, 10))), "a");
        assert_eq!(ids(Some((3, 9))), "ab");
        assert_eq!(ids(Some((12, 3))), "b");
        assert_eq!(ids(Some((21, 9))), "d");
        assert_eq!(ids(Some((400, 1))), "");
    }
}
