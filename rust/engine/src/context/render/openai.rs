//! `OpenAI` chat completions: `model`, `tools`, `messages`, then what changes from call to call.
//!
//! Fixed sections are system messages of their own. A volatile block becomes the first text part of the user message it
//! travels with. Each tool result is a message. Source: `OpenAI` API reference, "Create chat completion".

use super::super::lower::{Piece, pieces, result_pieces};
use super::super::message::{Detail, Document, Format, Image, Message, Role, Source, ToolCall, ToolResult};
use super::super::prompt::Prompt;
use super::super::segment::{Body, Segment};
use super::super::tools::{Function, Tool};
use super::{Commas, RequestOptions, write_field, write_text_part};

const FORMAT: Format = Format::OpenAi;

/// The keyword arguments of `client.chat.completions.create` as JSON.
#[must_use]
pub fn to_openai(prompt: &Prompt, options: RequestOptions<'_>) -> Vec<u8> {
    let mut out = openai_prefix(&prompt.segments, options.model);
    out.extend_from_slice(b"],");
    out.extend_from_slice(format!("\"max_completion_tokens\":{}", prompt.max_output_tokens).as_bytes());
    if options.stream {
        out.extend_from_slice(b",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
    }
    out.push(b'}');
    out
}

/// The bytes of a request up to the end of these segments: a request that begins with them begins with these bytes.
#[must_use]
pub fn openai_prefix(segments: &[Segment], model: Option<&str>) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024 + segments.iter().map(|segment| segment.digest().length as usize).sum::<usize>() * 9 / 8);
    out.push(b'{');
    if let Some(model) = model {
        write_field(&mut out, "model", model);
        out.push(b',');
    }
    let mut segments = segments;
    if let Some((Segment { body: Body::Tools(tools), .. }, rest)) = segments.split_first() {
        write_tools(&mut out, &tools.tools.tools);
        segments = rest;
    }
    out.extend_from_slice(b"\"messages\":[");
    write_messages(&mut out, segments);
    out
}

fn write_tools(out: &mut Vec<u8>, tools: &[Tool]) {
    let start = out.len();
    out.extend_from_slice(b"\"tools\":[");
    let mut commas = Commas::new();
    for tool in tools.iter().filter(|tool| tool.function.is_some() || tool.format == FORMAT) {
        commas.next(out);
        match &tool.function {
            Some(function) if tool.format != FORMAT => write_function(out, function),
            _ => out.extend_from_slice(tool.given.as_bytes()),
        }
    }
    if commas.first { out.truncate(start) } else { out.extend_from_slice(b"],") }
}

fn write_function(out: &mut Vec<u8>, function: &Function) {
    out.extend_from_slice(b"{\"type\":\"function\",\"function\":{");
    write_field(out, "name", &function.name);
    if let Some(description) = &function.description {
        out.push(b',');
        write_field(out, "description", description);
    }
    if let Some(parameters) = &function.parameters {
        out.extend_from_slice(b",\"parameters\":");
        out.extend_from_slice(parameters.as_bytes());
    }
    out.extend_from_slice(b"}}");
}

fn write_messages(out: &mut Vec<u8>, segments: &[Segment]) {
    let mut commas = Commas::new();
    let mut block = None;
    for segment in segments {
        match &segment.body {
            Body::Tools(_) => {}
            Body::Text(text) => write_plain(out, &mut commas, Role::System, &text.text),
            Body::Block(waiting) => block = Some(&*waiting.text),
            Body::Message(_, stored) => write_message(out, &mut commas, &stored.message, block.take()),
        }
    }
    if let Some(text) = block {
        write_plain(out, &mut commas, Role::User, text);
    }
}

fn write_plain(out: &mut Vec<u8>, commas: &mut Commas, role: Role, text: &str) {
    begin_message(out, commas, role);
    out.push(b',');
    write_field(out, "content", text);
    out.push(b'}');
}

fn begin_message(out: &mut Vec<u8>, commas: &mut Commas, role: Role) {
    commas.next(out);
    out.push(b'{');
    write_field(out, "role", role.name());
}

fn write_message(out: &mut Vec<u8>, commas: &mut Commas, message: &Message, block: Option<&str>) {
    for result in message.tool_results() {
        write_result(out, commas, result);
    }
    let pieces: Vec<Piece<'_>> = pieces(message, FORMAT).filter(|piece| !matches!(piece, Piece::Result(_))).collect();
    if pieces.is_empty() && message.tool_results().next().is_some() {
        return;
    }
    begin_message(out, commas, message.role);
    if let Some(name) = &message.name {
        out.push(b',');
        write_field(out, "name", name);
    }
    write_content(out, &pieces, block);
    write_calls(out, &pieces);
    out.push(b'}');
}

/// A single text is a string; anything else a list of parts. An assistant that only calls tools has no content.
fn write_content(out: &mut Vec<u8>, pieces: &[Piece<'_>], block: Option<&str>) {
    let mut parts = pieces.iter().filter(|piece| !matches!(piece, Piece::Call(_)));
    let calls = pieces.iter().any(|piece| matches!(piece, Piece::Call(_)));
    out.extend_from_slice(b",\"content\":");
    match (parts.next(), parts.next(), block) {
        (None, _, None) if calls => out.extend_from_slice(b"null"),
        (None, _, None) => out.extend_from_slice(b"\"\""),
        (Some(Piece::Text(text)), None, None) => super::super::json::write_text(out, text),
        _ => {
            out.push(b'[');
            let mut commas = Commas::new();
            if let Some(block) = block {
                commas.next(out);
                write_text_part(out, block);
            }
            for piece in pieces.iter().filter(|piece| !matches!(piece, Piece::Call(_))) {
                commas.next(out);
                write_part(out, piece);
            }
            out.push(b']');
        }
    }
}

fn write_part(out: &mut Vec<u8>, piece: &Piece<'_>) {
    match piece {
        Piece::Text(text) => write_text_part(out, text),
        Piece::Refusal(text) => {
            out.extend_from_slice(b"{\"type\":\"refusal\",");
            write_field(out, "refusal", text);
            out.push(b'}');
        }
        Piece::Image(image) => write_image(out, image),
        Piece::Document(document) => write_file(out, document),
        Piece::Vendor(raw) => out.extend_from_slice(raw.as_bytes()),
        Piece::Call(_) | Piece::Result(_) => {}
    }
}

fn write_image(out: &mut Vec<u8>, image: &Image) {
    out.extend_from_slice(b"{\"type\":\"image_url\",\"image_url\":{");
    write_source(out, "url", &image.source);
    match image.detail {
        Detail::Auto => {}
        Detail::Low => out.extend_from_slice(b",\"detail\":\"low\""),
        Detail::High => out.extend_from_slice(b",\"detail\":\"high\""),
    }
    out.extend_from_slice(b"}}");
}

fn write_file(out: &mut Vec<u8>, document: &Document) {
    out.extend_from_slice(b"{\"type\":\"file\",\"file\":{");
    write_field(out, "filename", document.title.as_deref().unwrap_or("document"));
    out.push(b',');
    write_source(out, "file_data", &document.source);
    out.extend_from_slice(b"}}");
}

fn write_source(out: &mut Vec<u8>, key: &str, source: &Source) {
    match source {
        Source::Url(text) | Source::Text(text) => write_field(out, key, text),
        Source::Base64 { media_type, data } => write_field(out, key, &format!("data:{media_type};base64,{data}")),
    }
}

fn write_calls(out: &mut Vec<u8>, pieces: &[Piece<'_>]) {
    let mut calls = pieces.iter().filter_map(|piece| if let Piece::Call(call) = piece { Some(*call) } else { None }).peekable();
    if calls.peek().is_none() {
        return;
    }
    out.extend_from_slice(b",\"tool_calls\":[");
    let mut commas = Commas::new();
    for call in calls {
        commas.next(out);
        write_call(out, call);
    }
    out.push(b']');
}

fn write_call(out: &mut Vec<u8>, call: &ToolCall) {
    let (kind, arguments) = if call.custom { ("custom", "input") } else { ("function", "arguments") };
    out.push(b'{');
    write_field(out, "id", &call.id);
    out.push(b',');
    write_field(out, "type", kind);
    out.extend_from_slice(format!(",\"{kind}\":{{").as_bytes());
    write_field(out, "name", &call.name);
    out.push(b',');
    write_field(out, arguments, &call.arguments);
    out.extend_from_slice(b"}}");
}

/// A result with one text is a string; several texts are parts.
fn write_result(out: &mut Vec<u8>, commas: &mut Commas, result: &ToolResult) {
    begin_message(out, commas, Role::Tool);
    out.push(b',');
    write_field(out, "tool_call_id", &result.call_id);
    let pieces: Vec<Piece<'_>> = result_pieces(result, FORMAT).collect();
    write_content(out, &pieces, None);
    out.push(b'}');
}
