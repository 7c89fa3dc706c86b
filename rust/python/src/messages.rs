//! Messages on their way in, each converted when it is looked at and not before; and those that are read back.

use std::sync::Arc;

use memspan_engine::context::{self, Arguments, Role, Tools};
use memspan_engine::session::{MessageState, NewMessage, StoredMessage};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping, PySequence, PyString, PyTuple};

use crate::arguments::{Argument, checked, field, moment, reads};
use crate::errors::{invalid, to_python, type_name};
use crate::plain;
use crate::value::{Json, Moment, interned, keeps};

/// A message of either provider's shape: a mapping, or an object of an SDK.
pub fn message(value: &Bound<'_, PyAny>) -> PyResult<context::Message> {
    if let Some(plain) = plain_message(value)? {
        return Ok(plain);
    }
    let bytes = plain::json("a message", value)?;
    checked(value, context::Message::parse_whole(&bytes, None, Arguments::Keep))
}

/// `{"role": ..., "content": "..."}` and nothing else, as nearly all messages are: what parsing its JSON would give.
fn plain_message(value: &Bound<'_, PyAny>) -> PyResult<Option<context::Message>> {
    let py = value.py();
    let Ok(map) = value.cast::<PyDict>() else { return Ok(None) };
    if map.len() != 2 {
        return Ok(None);
    }
    let (role, content) = (map.get_item(interned!(py, "role"))?, map.get_item(interned!(py, "content"))?);
    let (Some(role), Some(content)) = (role, content) else { return Ok(None) };
    let (Ok(role), Ok(content)) = (role.cast::<PyString>(), content.cast::<PyString>()) else { return Ok(None) };
    let (Ok(role), Ok(content)) = (role.to_str(), content.to_str()) else { return Ok(None) };
    Ok(Role::from_name(role).filter(|role| *role != Role::Tool).map(|role| context::Message::text(role, content)))
}

/// The message at a place of a list; an error tells which.
pub fn message_at(items: &Bound<'_, PySequence>, index: usize) -> PyResult<context::Message> {
    message(&items.get_item(index)?).inspect_err(|error| {
        let note = format!("in messages[{index}]");
        // An error without its note is better than an error about a note.
        let _ = error.value(items.py()).call_method1(interned!(items.py(), "add_note"), (note,));
    })
}

/// A list or tuple of messages, not copied: a conversation may be long. Anything else that can be iterated is made a list.
pub fn items<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PySequence>> {
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return Ok(value.cast::<PySequence>()?.clone());
    }
    let iterator = value.try_iter().map_err(|_| {
        let message = format!("reading messages: they must be a list, and it is {}: pass a list of messages", type_name(value));
        invalid(value.py(), message)
    })?;
    let items = PyList::new(value.py(), iterator.collect::<PyResult<Vec<_>>>()?)?;
    Ok(items.cast_into::<PySequence>()?)
}

/// Tool schemas of either provider's shape; none, where the list is empty.
pub fn tools(value: &Bound<'_, PyAny>) -> PyResult<Option<Arc<Tools>>> {
    match Option::<ToolsJson>::read("tools", value)? {
        None => Ok(None),
        Some(tools) => checked(value, Tools::parse(&tools.0)),
    }
}

/// All messages of a list.
pub struct Conversation(pub Vec<context::Message>);

/// Tools as JSON: a list, or any iterable of tools. The engine reports their faults.
pub struct ToolsJson(pub Vec<u8>);

/// A caller's value, as JSON.
pub struct Given(pub Vec<u8>);

impl Given {
    pub fn text(self) -> String {
        String::from_utf8_lossy(&self.0).into_owned() // UTF-8 already: it was made of Python's text
    }
}

/// Messages to be added; an error has the place of its message as field `row`.
pub struct Messages(pub Vec<NewMessage>);

reads! {
    Conversation: |name, value| {
        let items = items(value)?;
        (0..items.len()?).map(|index| message_at(&items, index)).collect::<PyResult<_>>().map(Self)
    };
    ToolsJson: |name, value| {
        let one = value.is_instance_of::<PyString>() || value.cast::<PyMapping>().is_ok();
        let tools = match value.try_iter() {
            Ok(tools) if !one => PyList::new(value.py(), tools.collect::<PyResult<Vec<_>>>()?)?.into_any(),
            _ => value.clone(),
        };
        plain::json("tools", &tools).map(Self)
    };
    Given: |name, value| plain::json(name, value).map(Self);
    NewMessage: |name, value| Ok(Self {
        given: Given::read("a message", &value.getattr("message")?)?.text(), format: field(value, "format")?, id: field(value, "id")?,
        author: field(value, "author")?, created_at: moment(value, "created_at")?, shortened: Vec::new(),
    });
    Messages: |name, value| {
        let read = |(place, row): (usize, PyResult<Bound<'py, PyAny>>)| {
            NewMessage::read(name, &row?).inspect_err(|error| {
                // An error without its place is better than an error about a place.
                let _ = error.value(value.py()).getattr("fields").and_then(|fields| fields.set_item("row", place));
            })
        };
        value.try_iter()?.enumerate().map(read).collect::<PyResult<_>>().map(Self)
    };
}

keeps! {
    StoredMessage as Message |it, py| {
        index = it.record.placed.index, role = it.role().map_err(|error| to_python(py, &error))?.name(), given = Json(&*it.given),
        text = &*it.text, format = it.record.format.name(), tokens = it.record.cost.tokens, turn = it.record.placed.turn,
        author = it.record.author.as_deref(), created_at = it.record.created_at.map(Moment), added_at = Moment(it.record.added_at),
        redacted = it.record.state == MessageState::Redacted, reason = it.record.reason.as_deref(), id = it.record.id.as_deref()
    }
}
