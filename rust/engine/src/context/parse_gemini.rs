//! From Gemini's contents to the neutral [`Message`].
//!
//! A signature belongs to the part it came with: the neutral part is followed by a raw one that holds it, and rendering puts both together
//! again. Thoughts are kept raw. Field names are read in both spellings, the REST API's and Python's.
//!
//! Source: Gemini API reference, "Content", "Part"; guide "Thought signatures".

use super::json::{self, Object, Position};
use super::message::{Detail, Document, Format, Message, Part, Role, Source, ToolCall, ToolResult};
use super::parse::{Arguments, DOING, MESSAGE, boxed, check_content, image_of};
use crate::Result;

/// A content in this shape. A call needs an id: replies are given one where the API gave none.
pub(super) fn message(object: &Object<'_>, arguments: Arguments) -> Result<Message> {
    let role = match object.text("role", MESSAGE)?.as_deref() {
        None | Some("user" | "function") => Role::User,
        Some("model" | "assistant") => Role::Assistant,
        Some(other) => return Err(MESSAGE.error("\"role\" of a content must be user or model", other, "use one of these")),
    };
    let raw = object.get("parts").unwrap_or("[]");
    let list = json::list(raw).ok_or_else(|| MESSAGE.wrong("parts", "must be a list", raw))?;
    let mut parts = Vec::new();
    for (index, raw) in list.into_iter().enumerate() {
        part(raw, index, &mut parts)?;
    }
    let message = Message { role, name: None, parts };
    check_content(object, &message, arguments)?;
    Ok(message)
}

fn either<'a>(object: &Object<'a>, camel: &str, snake: &str) -> Option<&'a str> {
    object.get(camel).or_else(|| object.get(snake))
}

fn part(raw: &str, index: usize, parts: &mut Vec<Part>) -> Result<()> {
    let at = format!("parts[{index}]");
    let place = Position { doing: DOING, at: &at };
    let object = json::object(raw).ok_or_else(|| place.error("a part must be an object", raw, "pass for instance {\"text\": ...}"))?;
    if object.get("thought") == Some("true") {
        parts.push(Part::Vendor { format: Format::Gemini, raw: raw.into() });
        return Ok(());
    }
    let Some(read) = read(&object, index, place)? else {
        parts.push(Part::Vendor { format: Format::Gemini, raw: raw.into() });
        return Ok(());
    };
    parts.push(read);
    if let Some(signature) = either(&object, "thoughtSignature", "thought_signature") {
        parts.push(Part::Vendor { format: Format::Gemini, raw: format!("{{\"thoughtSignature\":{signature}}}").into() });
    }
    Ok(())
}

fn read(object: &Object<'_>, index: usize, place: Position<'_>) -> Result<Option<Part>> {
    let inner = |raw: &str, key: &str| json::object(raw).is_none().then(|| place.wrong(key, "must be an object", raw));
    if let Some(text) = object.text("text", place)? {
        return Ok(Some(Part::Text(boxed(&text))));
    }
    if let Some(raw) = either(object, "functionCall", "function_call") {
        let Some(call) = json::object(raw) else { return Err(inner(raw, "functionCall").expect("it is no object")) };
        let id = call.text("id", place)?.filter(|id| !id.is_empty()).map_or_else(|| format!("call_{index}").into(), |id| boxed(&id));
        let arguments = call.get("args").unwrap_or("{}").into();
        return Ok(Some(Part::ToolCall(ToolCall { id, name: boxed(&call.need("name", place)?), arguments, custom: false })));
    }
    if let Some(raw) = either(object, "functionResponse", "function_response") {
        let Some(response) = json::object(raw) else { return Err(inner(raw, "functionResponse").expect("it is no object")) };
        let call_id = boxed(&response.need("id", place)?);
        let given = response.get("response").unwrap_or("{}");
        let fields = json::object(given);
        let text = fields.as_ref().and_then(|fields| fields.get("output").or_else(|| fields.get("error"))).and_then(json::text);
        let is_error = fields.is_some_and(|fields| fields.get("error").is_some());
        let text = text.map_or_else(|| given.into(), |text| boxed(&text));
        return Ok(Some(Part::ToolResult(ToolResult { call_id, parts: vec![Part::Text(text)], is_error, key: None })));
    }
    let inline = either(object, "inlineData", "inline_data").and_then(json::object);
    let file = either(object, "fileData", "file_data").and_then(json::object);
    let Some(held) = inline.or(file) else { return Ok(None) };
    let media_type = either(&held, "mimeType", "mime_type").and_then(json::text).unwrap_or_default();
    let source = match (held.text("data", place)?, either(&held, "fileUri", "file_uri").and_then(json::text)) {
        (Some(data), _) => Source::Base64 { media_type: boxed(&media_type), data: data.as_ref().into() },
        (None, Some(uri)) => Source::Url(uri.as_ref().into()),
        (None, None) => return Ok(None),
    };
    Ok(match () {
        () if media_type.starts_with("image/") => Some(Part::Image(image_of(source, Detail::Auto))),
        () if media_type == "application/pdf" => Some(Part::Document(Document { source, title: None, context: None, citations: None })),
        () => None,
    })
}
