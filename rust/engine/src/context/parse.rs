//! From a provider's JSON to the neutral [`Message`]: `OpenAI` chat messages and Anthropic messages; `parse_responses` and `parse_gemini`
//! read the other two shapes.
//!
//! Every shape that the two APIs document is read. A part that is not understood is an error that names it: a prompt that silently drops a
//! part lies. Keys that say nothing to a model (`annotations`, `audio: null`) are passed over. Bytes are not changed: the caller stores
//! them as given, this form is derived whenever it is needed.
//!
//! Sources: `OpenAI` API reference, "Create chat completion", `messages`; Anthropic API reference, "Messages", `messages`.

use super::image;
use super::json::{self, Object, Position};
use super::message::{Detail, Document, Format, Image, Message, Part, RESULT_IMAGES, Role, Source, ToolCall, ToolResult};
use crate::{Error, Result};

pub(super) const DOING: &str = "read a message";
pub(super) const MESSAGE: Position<'static> = Position { doing: DOING, at: "" };

/// The treatment of a tool call whose arguments are not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arguments {
    /// Refuse it: the caller can still fix what it is about to add.
    MustBeJson,
    /// Keep it as text: a reply of a model must not be lost because it was cut off.
    Keep,
}

impl Message {
    /// Reads a message from JSON bytes, without the fields beside its content. Without `format` the shape decides (`detect`).
    pub fn parse(bytes: &[u8], format: Option<Format>, arguments: Arguments) -> Result<Self> {
        Self::parse_whole(bytes, format, arguments).map(|message| message.with_beside(|name| name == RESULT_IMAGES))
    }

    /// Reads a message with the fields that stand beside the content ([`Self::beside`]).
    pub fn parse_whole(bytes: &[u8], format: Option<Format>, arguments: Arguments) -> Result<Self> {
        let raw = std::str::from_utf8(bytes).map_err(|error| not_json(&error.to_string()))?;
        let object = json::object(raw).ok_or_else(|| not_json(raw))?;
        let reader = Reader { format: format.unwrap_or_else(|| detect(&object)), arguments, is_reply: false };
        let message = reader.message(&object)?;
        check_calls(&message)?;
        Ok(message)
    }
}

impl Format {
    /// The format of a message's JSON, by its shape.
    pub fn of(bytes: &[u8]) -> Result<Self> {
        let raw = std::str::from_utf8(bytes).map_err(|error| not_json(&error.to_string()))?;
        json::object(raw).map(|object| detect(&object)).ok_or_else(|| not_json(raw))
    }
}

fn not_json(got: &str) -> Error {
    MESSAGE.error("a message must be one JSON object", got, "pass a mapping with \"role\" and \"content\"")
}

/// The format of a message given without one: Anthropic's if a content block is of a type that only Anthropic has.
pub(crate) fn detect(message: &Object<'_>) -> Format {
    if message.get("parts").is_some() {
        return Format::Gemini;
    }
    if message.get("output").is_some() || message.get("call_id").is_some() {
        return Format::Responses;
    }
    let anthropic = |raw: &str| {
        let Some(block) = json::object(raw) else { return false };
        let kind = block.get("type").and_then(json::text).unwrap_or_default();
        // The thinking of Mistral's chat completions is a list.
        let is_listed = kind == "thinking" && block.get("thinking").is_some_and(|raw| raw.starts_with('['));
        !is_listed && !matches!(&*kind, "text" | "image_url" | "input_audio" | "file" | "refusal" | "reference")
    };
    let items = |raw: &str| {
        let kind = json::object(raw).and_then(|block| block.get("type")).and_then(json::text).unwrap_or_default();
        matches!(&*kind, "input_text" | "output_text" | "input_image" | "input_file" | "reasoning" | "function_call" | "message")
    };
    let blocks = message.get("content").and_then(json::list).unwrap_or_default();
    match () {
        () if blocks.iter().any(|block| items(block)) => Format::Responses,
        () if blocks.into_iter().any(anthropic) => Format::Anthropic,
        () => Format::OpenAi,
    }
}

/// Two calls of one message must not share an id: their results could not be told apart.
fn check_calls(message: &Message) -> Result<()> {
    let mut ids: Vec<&str> = message.tool_calls().map(|call| &*call.id).collect();
    ids.sort_unstable();
    match ids.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(MESSAGE.error("the ids of a message's tool calls must differ", pair[0], "give each call an id of its own")),
    }
}

#[derive(Clone, Copy)]
struct Reader {
    format: Format,
    arguments: Arguments,
    /// A model's reply: it was paid for, and is kept with parts that nobody here knows.
    is_reply: bool,
}

impl Reader {
    fn message(self, object: &Object<'_>) -> Result<Message> {
        match self.format {
            Format::Responses => return super::parse_responses::message(object, self.arguments),
            Format::Gemini => return super::parse_gemini::message(object, self.arguments),
            Format::OpenAi | Format::Anthropic => {}
        }
        let role = role(object)?;
        if role == Role::Tool {
            return tool_message(self, object);
        }
        let name = object.text("name", MESSAGE)?.filter(|name| !name.is_empty()).map(|name| name.as_ref().into());
        let reader = Self { is_reply: role == Role::Assistant && self.arguments == Arguments::Keep, ..self };
        let mut parts = reader.content(object.get("content"), "content")?;
        if (role, self.format) == (Role::Assistant, Format::Anthropic) {
            with_fields(object, &mut parts);
        }
        reader.extras(object, &mut parts)?;
        let mut message = Message { role, name, parts };
        check_content(object, &message, self.arguments)?;
        if (role, self.format) == (Role::Assistant, Format::OpenAi) {
            message.parts.extend(beside(object, "reasoning_content"));
        }
        Ok(message)
    }

    /// The parts that `OpenAI` puts beside the content.
    fn extras(self, object: &Object<'_>, parts: &mut Vec<Part>) -> Result<()> {
        if let Some(refusal) = object.text("refusal", MESSAGE)?.filter(|text| !text.is_empty()) {
            parts.push(Part::Refusal(refusal.as_ref().into()));
        }
        if let Some(raw) = object.get("function_call") {
            return Err(MESSAGE.error("\"function_call\" is retired", raw, "give the call in \"tool_calls\", with an id"));
        }
        let Some(raw) = object.get("tool_calls") else { return Ok(()) };
        let calls = json::list(raw).ok_or_else(|| MESSAGE.wrong("tool_calls", "must be a list", raw))?;
        for (index, call) in calls.into_iter().enumerate() {
            self.openai_call(call, &format!("tool_calls[{index}]"), parts)?;
        }
        Ok(())
    }

    fn openai_call(self, raw: &str, at: &str, parts: &mut Vec<Part>) -> Result<()> {
        let place = Position { doing: DOING, at };
        let call =
            json::object(raw).ok_or_else(|| place.error("a tool call must be an object", raw, "pass \"id\", \"type\" and \"function\""))?;
        let id = call.need("id", place)?;
        if let Some(custom) = call.object("custom", place)? {
            let (name, arguments) = (custom.need("name", place)?, custom.need("input", place)?);
            parts.push(Part::ToolCall(ToolCall { id: boxed(&id), name: boxed(&name), arguments: boxed(&arguments), custom: true }));
            return Ok(());
        }
        let function =
            call.object("function", place)?.ok_or_else(|| place.wrong("function", "must be present and an object", "nothing"))?;
        let (name, arguments) = (function.need("name", place)?, function.text("arguments", place)?.unwrap_or_default());
        self.check_arguments(&arguments, place)?;
        parts.push(Part::ToolCall(ToolCall { id: boxed(&id), name: boxed(&name), arguments: boxed(&arguments), custom: false }));
        parts.extend(beside(&call, "extra_content"));
        Ok(())
    }

    /// An empty text counts as no arguments: models send it for tools that take none.
    fn check_arguments(self, arguments: &str, place: Position<'_>) -> Result<()> {
        if self.arguments == Arguments::Keep || arguments.is_empty() || json::is_json(arguments) {
            return Ok(());
        }
        Err(place.error(
            "the arguments of a tool call must be JSON",
            arguments,
            "encode them with json.dumps, or add the reply with add_response",
        ))
    }

    fn content(self, raw: Option<&str>, at: &str) -> Result<Vec<Part>> {
        let Some(raw) = raw else { return Ok(Vec::new()) };
        if let Some(text) = json::text(raw) {
            return Ok(vec![Part::Text(boxed(&text))]);
        }
        let place = Position { doing: DOING, at };
        let blocks = json::list(raw)
            .ok_or_else(|| place.error("content must be a string or a list of parts", raw, "pass text, or parts with a \"type\""))?;
        blocks.into_iter().enumerate().map(|(index, block)| self.part(block, &format!("{at}[{index}]"))).collect()
    }

    fn part(self, raw: &str, at: &str) -> Result<Part> {
        let place = Position { doing: DOING, at };
        let block = json::object(raw)
            .ok_or_else(|| place.error("a content part must be an object", raw, "pass for instance {\"type\": \"text\", \"text\": ...}"))?;
        let kind = block.need("type", place)?;
        match (&*kind, self.format) {
            ("text", _) => Ok(Part::Text(boxed(&block.need("text", place)?))),
            ("image_url", Format::OpenAi) => openai_image(&block, place),
            ("file", Format::OpenAi) => openai_file(&block, raw, place),
            ("refusal", Format::OpenAi) => Ok(Part::Refusal(boxed(&block.need("refusal", place)?))),
            ("image", Format::Anthropic) => anthropic_image(&block, raw, place),
            ("document", Format::Anthropic) => anthropic_document(&block, raw, place),
            ("tool_use", Format::Anthropic) => anthropic_call(&block, place),
            ("tool_result", Format::Anthropic) => self.anthropic_result(&block, place, at),
            _ if is_vendor_kind(&kind, self.format) || self.is_reply && !ELSEWHERE.contains(&&*kind) => {
                Ok(Part::Vendor { format: self.format, raw: raw.into() })
            }
            _ => Err(self.unknown_part(&kind, place)),
        }
    }

    /// A misspelt type is told for one of Anthropic's: then the types of both formats are named.
    fn unknown_part(self, kind: &str, place: Position<'_>) -> Error {
        let got = format!("\"{kind}\"");
        if self.format == Format::Anthropic && !OPENAI_PARTS.split(", ").any(|one| one == kind) {
            let rule = format!("the type of a part must be one of {OPENAI_PARTS} (OpenAI), or of {ANTHROPIC_PARTS} (Anthropic)");
            return place.error(&rule, &got, "use one of these");
        }
        let known = if self.format == Format::OpenAi { OPENAI_PARTS } else { ANTHROPIC_PARTS };
        let rule = format!("the type of a part in the {} format must be one of {known}", self.format.name());
        place.error(&rule, &got, "use one of these, or name the other format")
    }

    fn anthropic_result(self, block: &Object<'_>, place: Position<'_>, at: &str) -> Result<Part> {
        let call_id = boxed(&block.need("tool_use_id", place)?);
        let parts = self.content(block.get("content"), &format!("{at}.content"))?;
        if parts.iter().any(|part| matches!(part, Part::ToolCall(_) | Part::ToolResult(_))) {
            return Err(place.error(
                "a tool result holds text, images and documents",
                "a tool block",
                "put it beside the result, not into it",
            ));
        }
        let is_error = block.get("is_error") == Some("true");
        Ok(Part::ToolResult(ToolResult { call_id, parts, is_error, images: false, key: None }))
    }
}

pub(super) fn role(object: &Object<'_>) -> Result<Role> {
    let role = object.need("role", MESSAGE)?;
    Role::from_name(&role).ok_or_else(|| {
        let next = if role == "function" { "use \"tool\" with the \"tool_call_id\"" } else { "use one of these" };
        MESSAGE.error("\"role\" must be one of system, developer, user, assistant, tool", &format!("\"{role}\""), next)
    })
}

fn tool_message(reader: Reader, object: &Object<'_>) -> Result<Message> {
    let call_id = boxed(&object.need("tool_call_id", MESSAGE)?);
    let raw = object.get("content").ok_or_else(|| no_content("tool"))?;
    let parts = reader.content(Some(raw), "content")?;
    let result = ToolResult { call_id, parts, is_error: false, images: false, key: None };
    Ok(Message { role: Role::Tool, name: None, parts: vec![Part::ToolResult(result)] })
}

pub(super) fn check_content(object: &Object<'_>, message: &Message, arguments: Arguments) -> Result<()> {
    if message.role != Role::Assistant && message.tool_calls().next().is_some() {
        return Err(MESSAGE.error("only an assistant calls tools", message.role.name(), "give the call the role \"assistant\""));
    }
    if message.role != Role::User && message.tool_results().next().is_some() {
        return Err(MESSAGE.error("tool results come from \"tool\" or \"user\"", message.role.name(), "give the result that role"));
    }
    // A model that ran out of tokens while it thought says nothing; its reply was paid for all the same.
    let silent = object.get("audio").is_some() || object.get("content") == Some("[]") || arguments == Arguments::Keep;
    if message.parts.is_empty() && !(message.role == Role::Assistant && silent) { Err(no_content(message.role.name())) } else { Ok(()) }
}

fn no_content(role: &str) -> Error {
    MESSAGE.error(
        "a message must have content",
        &format!("a {role} message without any"),
        "pass \"content\" (for an assistant \"tool_calls\" will do)",
    )
}

const OPENAI_PARTS: &str = "text, image_url, input_audio, file, refusal, thinking, reference";
const ANTHROPIC_PARTS: &str =
    "text, image, document, thinking, redacted_thinking, tool_use, tool_result, search_result and the server tools' blocks";

/// Parts that say something in another format. They are not kept unread, because a reply would lose what it says.
const ELSEWHERE: [&str; 12] = [
    "document",
    "function_call",
    "image",
    "image_url",
    "input_file",
    "input_image",
    "input_text",
    "message",
    "output_text",
    "refusal",
    "tool_result",
    "tool_use",
];

/// Blocks that go back to their vendor as they came, and to nobody else.
fn is_vendor_kind(kind: &str, format: Format) -> bool {
    if format == Format::OpenAi {
        // The last two are Mistral's.
        return matches!(kind, "input_audio" | "file" | "thinking" | "reference");
    }
    matches!(
        kind,
        "thinking"
            | "redacted_thinking"
            | "search_result"
            | "server_tool_use"
            | "container_upload"
            | "compaction"
            | "mcp_tool_use"
            | "mcp_tool_result"
            | "tool_reference"
    ) || kind.ends_with("_tool_result")
}

/// A field that stands beside the content, as a part.
fn beside(object: &Object<'_>, name: &'static str) -> Option<Part> {
    object.get(name).map(|value| Part::beside(Format::OpenAi, name, value))
}

/// Adds the fields of Claude's blocks that must go back with them, each behind its block: which of Anthropic's tools called one of the
/// program's, and which of its search results a text cites. Source: Anthropic, "Programmatic tool calling", "Web search tool"
/// (`encrypted_index`).
fn with_fields(message: &Object<'_>, parts: &mut Vec<Part>) {
    let has_fields = |raw: &&str| raw.contains("\"tool_id\"") || raw.contains("\"encrypted_index\"");
    let blocks = message.get("content").filter(has_fields).and_then(json::list).unwrap_or_default();
    if blocks.len() != parts.len() {
        return;
    }
    let given = std::mem::take(parts);
    for (part, raw) in given.into_iter().zip(blocks) {
        let (name, says) = match &part {
            Part::ToolCall(_) => ("caller", "\"tool_id\""),
            Part::Text(_) => ("citations", "\"encrypted_index\""),
            _ => ("", ""),
        };
        parts.push(part);
        if !name.is_empty() && raw.contains(says) {
            let value = json::object(raw).and_then(|block| block.get(name)).filter(|value| value.contains(says));
            parts.extend(value.map(|value| Part::beside(Format::Anthropic, name, value)));
        }
    }
}

fn openai_image(block: &Object<'_>, place: Position<'_>) -> Result<Part> {
    let image = block.object("image_url", place)?.ok_or_else(|| place.wrong("image_url", "must be present and an object", "nothing"))?;
    let url = image.need("url", place)?;
    let detail = match image.text("detail", place)?.as_deref() {
        None | Some("auto") => Detail::Auto,
        Some("low") => Detail::Low,
        Some("high" | "original") => Detail::High,
        Some(other) => return Err(place.error("\"detail\" must be auto, low, high or original", other, "use one of these")),
    };
    Ok(Part::Image(image_of(data_url(&url).unwrap_or_else(|| Source::Url(url.as_ref().into())), detail)))
}

pub(super) fn image_of(source: Source, detail: Detail) -> Image {
    let size = if let Source::Base64 { data, .. } = &source { image::size(data) } else { None };
    Image { source, detail, size }
}

/// `data:image/png;base64,...` as its two parts.
pub(super) fn data_url(url: &str) -> Option<Source> {
    let (media_type, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    Some(Source::Base64 { media_type: media_type.into(), data: data.into() })
}

fn openai_file(block: &Object<'_>, raw: &str, place: Position<'_>) -> Result<Part> {
    let file = block.object("file", place)?.ok_or_else(|| place.wrong("file", "must be present and an object", "nothing"))?;
    let Some(source) = file.text("file_data", place)?.and_then(|data| data_url(&data)) else {
        return Ok(Part::Vendor { format: Format::OpenAi, raw: raw.into() });
    };
    let title = file.text("filename", place)?.map(|name| boxed(&name));
    Ok(Part::Document(Document { source, title, context: None, citations: None }))
}

/// The source of an Anthropic block; `None` where the vendor holds the bytes (files, nested content).
fn anthropic_source(block: &Object<'_>, place: Position<'_>) -> Result<Option<Source>> {
    let source = block.object("source", place)?.ok_or_else(|| place.wrong("source", "must be present and an object", "nothing"))?;
    Ok(match &*source.need("type", place)? {
        "base64" => Some(Source::Base64 {
            media_type: boxed(&source.need("media_type", place)?),
            data: source.need("data", place)?.as_ref().into(),
        }),
        "url" => Some(Source::Url(source.need("url", place)?.as_ref().into())),
        "text" => Some(Source::Text(source.need("data", place)?.as_ref().into())),
        _ => None,
    })
}

fn anthropic_image(block: &Object<'_>, raw: &str, place: Position<'_>) -> Result<Part> {
    Ok(match anthropic_source(block, place)? {
        Some(source) => Part::Image(image_of(source, Detail::Auto)),
        None => Part::Vendor { format: Format::Anthropic, raw: raw.into() },
    })
}

fn anthropic_document(block: &Object<'_>, raw: &str, place: Position<'_>) -> Result<Part> {
    let Some(source) = anthropic_source(block, place)? else {
        return Ok(Part::Vendor { format: Format::Anthropic, raw: raw.into() });
    };
    let title = block.text("title", place)?.map(|text| boxed(&text));
    let context = block.text("context", place)?.map(|text| boxed(&text));
    Ok(Part::Document(Document { source, title, context, citations: block.get("citations").map(Into::into) }))
}

fn anthropic_call(block: &Object<'_>, place: Position<'_>) -> Result<Part> {
    let (id, name) = (block.need("id", place)?, block.need("name", place)?);
    let input = block.get("input").unwrap_or("{}");
    if !json::is_object(input) {
        return Err(place.wrong("input", "must be an object", input));
    }
    Ok(Part::ToolCall(ToolCall { id: boxed(&id), name: boxed(&name), arguments: input.into(), custom: false }))
}

pub(super) fn boxed(text: &str) -> Box<str> {
    text.into()
}
