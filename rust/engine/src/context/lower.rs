//! The parts of a neutral message that one vendor's shape can express. Counting and rendering share this one place.
//!
//! Because both work on the same pieces, a count is always the count of the sent message. A part that a vendor has no shape for becomes a
//! short text that says so (an image inside an `OpenAI` tool result) or is left out (another vendor's signed thinking).

use std::borrow::Cow;

use super::dialect::Dialect;
use super::json;
use super::media::{self, Sent};
use super::message::{Document, Format, Image, Message, Part, Shape, Source, ToolCall, ToolResult, value_beside};

/// A part as one vendor takes it.
#[derive(Debug)]
pub(super) enum Piece<'a> {
    Text(Cow<'a, str>),
    Refusal(&'a str),
    Image(Cow<'a, Image>),
    Document(Cow<'a, Document>),
    Call(&'a ToolCall),
    Result(&'a ToolResult),
    Vendor(&'a str),
    /// A field beside the content: its name, and an object of it alone.
    Beside(&'static str, &'a str),
}

/// The pieces of a message, tool results included.
pub(super) fn pieces(message: &Message, shape: impl Into<Shape>) -> impl Iterator<Item = Piece<'_>> {
    let shape = shape.into();
    message.parts.iter().filter_map(move |part| piece(part, shape))
}

/// The pieces inside a tool result. Only Anthropic takes more than text there, and `OpenAI`'s responses images that were counted and files
/// that it keeps.
pub(super) fn result_pieces(result: &ToolResult, shape: impl Into<Shape>) -> impl Iterator<Item = Piece<'_>> {
    let shape = shape.into();
    result.parts.iter().filter_map(move |part| match (part, shape.format) {
        (_, Format::Anthropic) => piece(part, shape),
        (Part::Image(_), Format::Responses) if result.images => piece(part, shape),
        (Part::Image(_), _) => Some(Piece::Text("[image]".into())),
        // A file's text would come from the tool as it is, without the escapes of its other texts.
        (Part::Document(Document { source: Source::Base64 { .. }, .. }), _) if shape.media.documents => {
            Some(Piece::Text("[document]".into()))
        }
        (Part::Vendor { format: Format::Responses, raw }, Format::Responses) if name_of(raw).is_some() => Some(Piece::Vendor(raw)),
        _ => match piece(part, shape)? {
            Piece::Document(_) => Some(Piece::Text("[document]".into())),
            Piece::Vendor(_) | Piece::Beside(..) => None,
            piece => Some(piece),
        },
    })
}

/// The texts of a tool result, one a line.
pub(super) fn result_text(result: &ToolResult, shape: Shape) -> String {
    let text = |piece| if let Piece::Text(text) = piece { Some(text) } else { None };
    result_pieces(result, shape).filter_map(text).collect::<Vec<_>>().join("\n")
}

/// The media of a message that are sent as a text because their API does not take their type, by name.
pub(super) fn of_other_types(message: &Message, shape: Shape) -> Vec<Cow<'static, str>> {
    let named = |part: &Part| match part {
        Part::Image(image) if shape.media.images && media::image(image, shape).is_none() => Some(media::described("image", &image.source)),
        Part::Document(document) if is_left_out(document, shape) => Some(media::described("document", &document.source)),
        // A file that another vendor keeps under an id.
        Part::Vendor { format, raw } if *format != shape.format && kind_of(raw) != "input_audio" => {
            name_of(raw).map(|name| name.trim_matches(['[', ']']).into())
        }
        _ => None,
    };
    message.parts.iter().filter_map(named).collect()
}

/// Whether a document is named only, though the model takes documents.
pub(super) fn is_left_out(document: &Document, shape: Shape) -> bool {
    shape.media.documents && matches!(media::document(document, shape), Sent::Named)
}

/// The media of a message that its model does not take, by name: they were sent as a text.
pub(super) fn as_text(message: &Message, shape: Shape) -> Vec<&'static str> {
    let mut found = Vec::new();
    for part in &message.parts {
        match part {
            Part::Image(_) if !shape.media.images => found.push("image"),
            Part::Document(Document { source: Source::Base64 { .. } | Source::Url(_), .. }) if !shape.media.documents => {
                found.push("document");
            }
            Part::Vendor { raw, .. } if !shape.media.audio && kind_of(raw) == "input_audio" => found.push("audio"),
            _ => {}
        }
    }
    found
}

/// A part of a message as one vendor takes it, if it does.
pub(super) fn piece(part: &Part, shape: Shape) -> Option<Piece<'_>> {
    let Shape { format, media, .. } = shape;
    match (part, format) {
        (Part::Text(text), Format::OpenAi) => Some(Piece::Text(text.as_ref().into())),
        (Part::Refusal(text), Format::OpenAi | Format::Responses) => Some(Piece::Refusal(text)),
        (Part::Text(text) | Part::Refusal(text), _) => said(text),
        (Part::Image(_), _) if !media.images => Some(Piece::Text("[image]".into())),
        (Part::Image(image), _) => Some(media::image(image, shape).map_or(Piece::Text("[image]".into()), Piece::Image)),
        (Part::Document(document), _) if !media.documents => Some(document_text(document)),
        (Part::Document(document), _) => Some(match media::document(document, shape) {
            Sent::File(document) if has_shape(&document, format) => Piece::Document(document),
            Sent::File(_) | Sent::Named => document_text(document),
            Sent::Text(text) => titled(document, &text),
        }),
        (Part::ToolCall(call), _) => Some(Piece::Call(call)),
        (Part::ToolResult(result), _) => Some(Piece::Result(result)),
        (Part::Vendor { format: of, raw }, _) if *of == format && (media.audio || kind_of(raw) != "input_audio") => {
            is_sent_back(raw, format).then_some(Piece::Vendor(raw))
        }
        (Part::Vendor { raw, .. }, _) => named(raw),
        (Part::Beside { format: of, name, raw }, _) => (*of == format).then_some(Piece::Beside(name, raw)),
    }
}

/// Whether a part is Claude's thinking, which is signed for what stands before it.
pub(crate) fn is_thinking(part: &Part) -> bool {
    matches!(part, Part::Vendor { format: Format::Anthropic, raw } if matches!(&*kind_of(raw), "thinking" | "redacted_thinking"))
}

/// A vendor takes its model's thinking back only with what proves it: a signature, or the encrypted text.
fn is_sent_back(raw: &str, format: Format) -> bool {
    let has = |key: &str| json::object(raw).and_then(|block| block.get(key)).is_some_and(|value| !matches!(value, "null" | "\"\""));
    match (&*kind_of(raw), format) {
        ("thinking", Format::Anthropic) => has("signature"),
        ("reasoning", Format::Responses) => has("encrypted_content"),
        _ => true,
    }
}

/// Whether a server takes a piece in chat completions. Sound and files are everybody's; a model's own parts, and the fields beside its
/// content, are only sent to a server that wants them back, and thinking beside it where it is a text.
pub(super) fn takes(piece: &Piece<'_>, dialect: Option<&Dialect>) -> bool {
    let kind = match piece {
        Piece::Vendor(raw) => kind_of(raw),
        Piece::Beside(name @ "reasoning_content", raw) if !value_beside(name, raw).starts_with('"') => return false,
        Piece::Beside(name, _) => (*name).into(),
        _ => return true,
    };
    matches!(&*kind, "input_audio" | "file") || dialect.is_some_and(|dialect| dialect.wants(&kind))
}

/// The type of a vendor's part; empty where it has none.
pub(super) fn kind_of(raw: &str) -> Cow<'_, str> {
    json::object(raw).and_then(|block| block.get("type")).and_then(json::text).unwrap_or_default()
}

/// The replacement of a vendor's part where another vendor is asked: a name for what a person gave, nothing for a model's own notes.
fn named(raw: &str) -> Option<Piece<'_>> {
    name_of(raw).map(|name| Piece::Text(name.into()))
}

/// How many images `OpenAI` keeps under an id, in a message and its results. Up to version 0.19.0 they had no name, which counts.
pub(crate) fn images_by_id(message: &Message) -> usize {
    let within = message.tool_results().flat_map(|result| &result.parts);
    let is_kept = |part: &&Part| matches!(part, Part::Vendor { format: Format::Responses, raw } if kind_of(raw) == "input_image");
    message.parts.iter().chain(within).filter(is_kept).count()
}

fn name_of(raw: &str) -> Option<&'static str> {
    match &*kind_of(raw) {
        "input_audio" => Some("[audio]"),
        "file" | "document" | "container_upload" | "input_file" => Some("[file]"),
        "image" | "input_image" => Some("[image]"),
        "search_result" => Some("[search result]"),
        _ => None,
    }
}

/// Anthropic and Gemini refuse texts without a visible character.
fn said(text: &str) -> Option<Piece<'_>> {
    (!text.trim().is_empty()).then(|| Piece::Text(text.into()))
}

/// Anthropic has a shape for every source of a document that holds something. A text is a text elsewhere, and chat completions have no
/// links to files.
fn has_shape(document: &Document, format: Format) -> bool {
    match &document.source {
        Source::Base64 { .. } => true,
        Source::Url(_) => format != Format::OpenAi,
        Source::Text(text) => format == Format::Anthropic && !text.trim().is_empty(),
    }
}

fn titled<'a>(document: &Document, text: &str) -> Piece<'a> {
    Piece::Text(format!("{}\n{text}", document.title.as_deref().unwrap_or("document")).into())
}

/// A document in words.
fn document_text(document: &Document) -> Piece<'_> {
    let title = document.title.as_deref().unwrap_or("document");
    Piece::Text(match &document.source {
        Source::Text(text) => return titled(document, text),
        Source::Url(url) if !url.starts_with("data:") => format!("[{title}: {url}]").into(),
        Source::Url(_) | Source::Base64 { .. } => format!("[{title}]").into(),
    })
}
