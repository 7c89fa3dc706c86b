//! From `OpenAI`'s responses to the neutral [`Message`].
//!
//! A model's answer is a list of items under `output`: messages, calls, reasoning. Reasoning and tools that run at the provider are kept as
//! raw items, in their place. Input of the model may also come in this shape: a message of `input_text` parts, or the output of
//! a call.
//!
//! Source: `OpenAI` API reference, "The response object", "Input item types".

use super::json::{self, Object, Position};
use super::message::{Detail, Document, Format, Message, Part, Role, Source, ToolCall, ToolResult};
use super::parse::{Arguments, DOING, MESSAGE, boxed, check_content, data_url, image_of, role};
use crate::Result;

/// A message in this shape.
pub(super) fn message(object: &Object<'_>, arguments: Arguments) -> Result<Message> {
    if let Some(part) = called(object, MESSAGE, arguments)? {
        return Ok(Message { role: Role::Assistant, name: None, parts: vec![part] });
    }
    if let Some(id) = object.text("call_id", MESSAGE)? {
        return output(object, &id);
    }
    let parts = match (object.get("output"), object.get("content")) {
        (Some(raw), _) => items(raw, arguments)?,
        (None, Some(raw)) => content(raw, "content", arguments)?,
        (None, None) => Vec::new(),
    };
    let message = Message { role: role(object)?, name: None, parts };
    check_content(object, &message, arguments)?;
    Ok(message)
}

/// The output of a call.
fn output(object: &Object<'_>, id: &str) -> Result<Message> {
    let raw = object.get("output").ok_or_else(|| MESSAGE.wrong("output", "must be present", "nothing"))?;
    let parts = match json::text(raw) {
        Some(text) => vec![Part::Text(boxed(&text))],
        None => content(raw, "output", Arguments::MustBeJson)?,
    };
    let images = parts.iter().any(|part| matches!(part, Part::Image(_)));
    let result = ToolResult { call_id: boxed(id), parts, is_error: false, images, key: None };
    Ok(Message { role: Role::Tool, name: None, parts: vec![Part::ToolResult(result)] })
}

fn items(raw: &str, arguments: Arguments) -> Result<Vec<Part>> {
    let list = json::list(raw).ok_or_else(|| MESSAGE.wrong("output", "must be a list of items", raw))?;
    let mut parts = Vec::new();
    for (index, raw) in list.into_iter().enumerate() {
        item(raw, &format!("output[{index}]"), arguments, &mut parts)?;
    }
    Ok(parts)
}

fn item(raw: &str, at: &str, arguments: Arguments, parts: &mut Vec<Part>) -> Result<()> {
    let place = Position { doing: DOING, at };
    let item = json::object(raw).ok_or_else(|| place.error("an item must be an object", raw, "pass the response as it came"))?;
    if let Some(part) = called(&item, place, arguments)? {
        parts.push(part);
        return Ok(());
    }
    match &*item.need("type", place)? {
        "message" => parts.extend(content(item.get("content").unwrap_or("[]"), at, arguments)?),
        _ => parts.push(Part::Vendor { format: Format::Responses, raw: raw.into() }),
    }
    Ok(())
}

/// The call that an item of a response is, or one of a request that goes on from a response.
fn called(item: &Object<'_>, place: Position<'_>, arguments: Arguments) -> Result<Option<Part>> {
    match &*item.text("type", place)?.unwrap_or_default() {
        "function_call" => {
            let given = item.text("arguments", place)?.unwrap_or_default();
            if arguments == Arguments::MustBeJson && !given.is_empty() && !json::is_json(&given) {
                return Err(place.error("the arguments of a tool call must be JSON", &given, "add the reply with add_response"));
            }
            call(item, place, &given, false).map(Some)
        }
        "custom_tool_call" => {
            let given = item.need("input", place)?;
            call(item, place, &given, true).map(Some)
        }
        _ => Ok(None),
    }
}

fn call(item: &Object<'_>, place: Position<'_>, arguments: &str, custom: bool) -> Result<Part> {
    let (id, name) = (item.need("call_id", place)?, item.need("name", place)?);
    Ok(Part::ToolCall(ToolCall { id: boxed(&id), name: boxed(&name), arguments: boxed(arguments), custom }))
}

fn content(raw: &str, at: &str, arguments: Arguments) -> Result<Vec<Part>> {
    if let Some(text) = json::text(raw) {
        return Ok(vec![Part::Text(boxed(&text))]);
    }
    let place = Position { doing: DOING, at };
    let next = "pass text, or parts with a \"type\"";
    let list = json::list(raw).ok_or_else(|| place.error("content must be a string or a list of parts", raw, next))?;
    let mut parts = Vec::new();
    for (index, raw) in list.into_iter().enumerate() {
        part(raw, &format!("{at}[{index}]"), arguments, &mut parts)?;
    }
    Ok(parts)
}

fn part(raw: &str, at: &str, arguments: Arguments, parts: &mut Vec<Part>) -> Result<()> {
    let place = Position { doing: DOING, at };
    let block = json::object(raw).ok_or_else(|| place.error("a part must be an object", raw, "pass for instance an \"input_text\""))?;
    let part = match &*block.need("type", place)? {
        "input_text" | "output_text" | "text" | "summary_text" => Part::Text(boxed(&block.need("text", place)?)),
        "refusal" => Part::Refusal(boxed(&block.need("refusal", place)?)),
        "input_image" => match block.text("image_url", place)? {
            Some(url) => {
                let detail = match block.text("detail", place)?.as_deref() {
                    Some("low") => Detail::Low,
                    Some("high") => Detail::High,
                    _ => Detail::Auto,
                };
                Part::Image(image_of(data_url(&url).unwrap_or_else(|| Source::Url(url.as_ref().into())), detail))
            }
            None => Part::Vendor { format: Format::Responses, raw: raw.into() },
        },
        "input_file" => file(&block, raw, place)?,
        _ => return item(raw, at, arguments, parts),
    };
    parts.push(part);
    Ok(())
}

fn file(block: &Object<'_>, raw: &str, place: Position<'_>) -> Result<Part> {
    let data = block.text("file_data", place)?.and_then(|data| data_url(&data));
    let url = block.text("file_url", place)?.map(|url| Source::Url(url.as_ref().into()));
    let Some(source) = data.or(url) else { return Ok(Part::Vendor { format: Format::Responses, raw: raw.into() }) };
    let title = block.text("filename", place)?.map(|name| boxed(&name));
    Ok(Part::Document(Document { source, title, context: None, citations: None }))
}
