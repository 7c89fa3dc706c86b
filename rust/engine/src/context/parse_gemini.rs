//! From Gemini's contents to the neutral [`Message`].
//!
//! A signature belongs to the part it came with: the neutral part is followed by a raw one that holds it, and rendering puts both together
//! again. So are types of files that their addresses do not tell. Thoughts are kept raw. A result with other fields than its text is the
//! whole of them, as JSON. Field names are read in both spellings, the REST API's and Python's.
//!
//! Source: Gemini API reference, "Content", "Part"; guide "Thought signatures".

use super::json::{self, Object, Position};
use super::media;
use super::message::{Detail, Document, Format, Image, Message, Part, Role, Source, ToolCall, ToolResult, for_each_result_text};
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

impl Message {
    /// This message with the results of tools as they were read up to 0.17.0: of a response with other fields than its text, the text
    /// alone.
    #[must_use]
    pub fn with_texts_alone(mut self) -> Self {
        for_each_result_text(&mut self, |text| {
            json::object(text).as_ref().and_then(text_in).map_or_else(|| text.to_owned(), std::borrow::Cow::into_owned)
        });
        self
    }
}

/// The text of a response that has one.
fn text_in<'a>(response: &Object<'a>) -> Option<std::borrow::Cow<'a, str>> {
    response.get("output").or_else(|| response.get("error")).and_then(json::text)
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
    let told = type_of_file(&read, &object);
    parts.push(read);
    parts.extend(told);
    if let Some(signature) = either(&object, "thoughtSignature", "thought_signature") {
        parts.push(Part::Vendor { format: Format::Gemini, raw: format!("{{\"thoughtSignature\":{signature}}}").into() });
    }
    Ok(())
}

/// The type of a file by its address, where the address does not tell it.
fn type_of_file(part: &Part, object: &Object<'_>) -> Option<Part> {
    let (source, by_default) = match part {
        Part::Image(Image { source, .. }) => (source, media::JPEG),
        Part::Document(Document { source, .. }) => (source, media::PDF),
        _ => return None,
    };
    let Source::Url(url) = source else { return None };
    let told = either(&either(object, "fileData", "file_data").and_then(json::object)?, "mimeType", "mime_type")?;
    let is_told = json::text(told)? == media::of_address(url).unwrap_or(by_default);
    (!is_told).then(|| Part::beside(Format::Gemini, "mimeType", told))
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
        let is_alone = |fields: &&Object<'_>| fields.fields().filter(|(_, raw)| *raw != "null").count() == 1;
        let text = fields.as_ref().filter(is_alone).and_then(text_in);
        let is_error = fields.is_some_and(|fields| fields.get("error").is_some());
        let text = text.map_or_else(|| given.into(), |text| boxed(&text));
        return Ok(Some(Part::ToolResult(ToolResult { call_id, parts: vec![Part::Text(text)], is_error, images: false, key: None })));
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
