//! Messages on their way in, each converted when it is looked at and not before.

use std::sync::Arc;

use memspan_engine::context::{Arguments, Message, Role, Tools};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping, PySequence, PyString, PyTuple};

use crate::errors::{invalid, to_python, type_name};
use crate::json;

/// A message of either provider's shape: a mapping, or an object of an SDK.
pub fn message(value: &Bound<'_, PyAny>) -> PyResult<Message> {
    if let Some(plain) = plain(value)? {
        return Ok(plain);
    }
    let bytes = json::encode("a message", value)?;
    Message::parse(&bytes, None, Arguments::Keep).map_err(|error| to_python(value.py(), &error))
}

/// `{"role": ..., "content": "..."}` and nothing else, as nearly all messages are: what parsing its JSON would give.
fn plain(value: &Bound<'_, PyAny>) -> PyResult<Option<Message>> {
    let py = value.py();
    let Ok(map) = value.cast::<PyDict>() else { return Ok(None) };
    if map.len() != 2 {
        return Ok(None);
    }
    let (Some(role), Some(content)) = (map.get_item(intern!(py, "role"))?, map.get_item(intern!(py, "content"))?) else { return Ok(None) };
    let (Ok(role), Ok(content)) = (role.cast::<PyString>(), content.cast::<PyString>()) else { return Ok(None) };
    let (Ok(role), Ok(content)) = (role.to_str(), content.to_str()) else { return Ok(None) };
    Ok(Role::from_name(role).filter(|role| *role != Role::Tool).map(|role| Message::text(role, content)))
}

/// The message at a place of a list; an error tells which.
pub fn message_at(items: &Bound<'_, PySequence>, index: usize) -> PyResult<Message> {
    message(&items.get_item(index)?).inspect_err(|error| {
        let note = format!("in messages[{index}]");
        // An error without its note is better than an error about a note.
        let _ = error.value(items.py()).call_method1(intern!(items.py(), "add_note"), (note,));
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
pub fn tools(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Arc<Tools>>> {
    let Some(value) = value else { return Ok(None) };
    Tools::parse(&tools_json(value)?).map_err(|error| to_python(value.py(), &error))
}

/// The same as JSON: a list, and whatever else gives one tool after the other.
pub fn tools_json(value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if value.is_instance_of::<PyString>() || value.cast::<PyMapping>().is_ok() {
        return json::encode("tools", value); // the engine says what is wrong with it
    }
    match value.try_iter() {
        Ok(tools) => {
            let tools = tools.collect::<PyResult<Vec<_>>>()?;
            json::encode("tools", PyList::new(value.py(), tools)?.as_any())
        }
        Err(_) => json::encode("tools", value),
    }
}
