//! What of a neutral message one vendor's shape can say: the one place that counting and rendering share.
//!
//! Because both work on the same pieces, a count is always the count of what is sent. What a vendor has no shape for becomes
//! a short text that says so (an image inside an `OpenAI` tool result) or is left out (another vendor's signed thinking).

use std::borrow::Cow;

use super::json;
use super::message::{Document, Format, Image, Message, Part, Source, ToolCall, ToolResult};

/// A part as one vendor takes it.
#[derive(Debug)]
pub(super) enum Piece<'a> {
    Text(Cow<'a, str>),
    Refusal(&'a str),
    Image(&'a Image),
    Document(&'a Document),
    Call(&'a ToolCall),
    Result(&'a ToolResult),
    Vendor(&'a str),
}

/// The pieces of a message, tool results included.
pub(super) fn pieces(message: &Message, format: Format) -> impl Iterator<Item = Piece<'_>> {
    message.parts.iter().filter_map(move |part| lower(part, format))
}

/// The pieces inside a tool result.
pub(super) fn result_pieces(result: &ToolResult, format: Format) -> impl Iterator<Item = Piece<'_>> {
    result.parts.iter().filter_map(move |part| match (lower(part, format)?, format) {
        (Piece::Image(_), Format::OpenAi) => Some(Piece::Text("[image]".into())),
        (Piece::Document(_), Format::OpenAi) => Some(Piece::Text("[document]".into())),
        (Piece::Vendor(_), Format::OpenAi) => None,
        (piece, _) => Some(piece),
    })
}

fn lower(part: &Part, format: Format) -> Option<Piece<'_>> {
    match (part, format) {
        (Part::Text(text), Format::OpenAi) => Some(Piece::Text(text.as_ref().into())),
        (Part::Refusal(text), Format::OpenAi) => Some(Piece::Refusal(text)),
        (Part::Text(text) | Part::Refusal(text), Format::Anthropic) => said(text),
        (Part::Image(image), _) => Some(Piece::Image(image)),
        (Part::Document(document), Format::OpenAi) => Some(openai_document(document)),
        (Part::Document(document), Format::Anthropic) => Some(Piece::Document(document)),
        (Part::ToolCall(call), _) => Some(Piece::Call(call)),
        (Part::ToolResult(result), _) => Some(Piece::Result(result)),
        (Part::Vendor { format: of, raw }, _) if *of == format => Some(Piece::Vendor(raw)),
        (Part::Vendor { raw, .. }, _) => named(raw),
    }
}

/// What stands for a vendor's part where another vendor is asked: a name for what a person gave, nothing for a model's own notes.
fn named(raw: &str) -> Option<Piece<'_>> {
    let kind = json::object(raw).and_then(|block| block.get("type")).and_then(json::text).unwrap_or_default();
    let name = match &*kind {
        "input_audio" => "[audio]",
        "file" | "document" | "container_upload" => "[file]",
        "image" => "[image]",
        "search_result" => "[search result]",
        _ => return None,
    };
    Some(Piece::Text(name.into()))
}

/// Anthropic refuses text blocks without a visible character.
fn said(text: &str) -> Option<Piece<'_>> {
    (!text.trim().is_empty()).then(|| Piece::Text(text.into()))
}

/// `OpenAI` takes files as base64; a text becomes a text, a link a text that names it.
fn openai_document(document: &Document) -> Piece<'_> {
    let title = document.title.as_deref().unwrap_or("document");
    match &document.source {
        Source::Base64 { .. } => Piece::Document(document),
        Source::Text(text) => Piece::Text(format!("{title}\n{text}").into()),
        Source::Url(url) => Piece::Text(format!("[{title}: {url}]").into()),
    }
}
