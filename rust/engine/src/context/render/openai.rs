//! `OpenAI` chat completions: `model`, `tools`, `messages`, then what changes from call to call.
//!
//! Fixed sections are system messages of their own; `arrange` says where each thing stands. A volatile block becomes the first text part of the user message it
//! travels with. Each tool result is a message. Source: `OpenAI` API reference, "Create chat completion".

use std::borrow::Cow;

use super::super::dialect::{Dialect, called};
use super::super::json;
use super::super::lower::{Piece, result_pieces};
use super::super::message::{Detail, Document, Format, Image, Role, Shape, Source, ToolCall, ToolResult};
use super::super::prompt::Prompt;
use super::super::segment::{Body, Segment};
use super::super::tools::{Function, Tool};
use super::arrange::{self, Entry};
use super::{Commas, RequestOptions, input, write_field, write_text_part};

const FORMAT: Format = Format::OpenAi;

/// The keyword arguments of `client.chat.completions.create` as JSON.
#[must_use]
pub fn to_openai(prompt: &Prompt, options: RequestOptions<'_>) -> Vec<u8> {
    let shape = Shape { format: FORMAT, ..prompt.shape };
    let mut out = begin(&prompt.segments, options.model);
    let entries = match options.dialect {
        Some(dialect) => arrange::arranged(prompt, shape, dialect),
        None => arrange::entries(&prompt.segments, shape),
    };
    write_entries(&mut out, &entries, shape, options.dialect);
    out.extend_from_slice(b"],");
    let parameter = options.dialect.map_or("max_completion_tokens", |dialect| &*dialect.output_parameter);
    out.extend_from_slice(format!("\"{parameter}\":{}", prompt.max_output_tokens).as_bytes());
    if options.stream {
        out.extend_from_slice(b",\"stream\":true");
        if options.dialect.is_none_or(|dialect| dialect.stream_usage) {
            out.extend_from_slice(b",\"stream_options\":{\"include_usage\":true}");
        }
    }
    out.push(b'}');
    out
}

/// The bytes of a request up to the end of these segments: a request that begins with them begins with these bytes.
#[must_use]
pub fn openai_prefix(segments: &[Segment], model: Option<&str>, shape: Shape) -> Vec<u8> {
    let mut out = begin(segments, model);
    let shape = Shape { format: FORMAT, ..shape };
    write_entries(&mut out, &arrange::entries(segments, shape), shape, None);
    out
}

fn begin(segments: &[Segment], model: Option<&str>) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024 + segments.iter().map(|segment| segment.digest().length as usize).sum::<usize>() * 9 / 8);
    out.push(b'{');
    if let Some(model) = model {
        write_field(&mut out, "model", model);
        out.push(b',');
    }
    if let Some(Segment { body: Body::Tools(tools), .. }) = segments.first() {
        write_tools(&mut out, &tools.tools.tools);
    }
    out.extend_from_slice(b"\"messages\":[");
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

fn write_entries(out: &mut Vec<u8>, entries: &[Entry<'_>], shape: Shape, dialect: Option<&Dialect>) {
    let mut commas = Commas::new();
    for entry in entries {
        match entry {
            Entry::Result(result) => write_result(out, &mut commas, result, shape, dialect),
            Entry::Message { role, name, pieces } => {
                begin_message(out, &mut commas, *role);
                if let Some(name) = name {
                    out.push(b',');
                    write_field(out, "name", name);
                }
                write_content(out, pieces, dialect);
                write_calls(out, pieces, dialect);
                out.push(b'}');
            }
        }
    }
}

fn begin_message(out: &mut Vec<u8>, commas: &mut Commas, role: Role) {
    commas.next(out);
    out.push(b'{');
    write_field(out, "role", role.name());
}

/// A single text is a string; anything else a list of parts. An assistant that only calls tools has no content.
fn write_content(out: &mut Vec<u8>, pieces: &[Piece<'_>], dialect: Option<&Dialect>) {
    let parts: Vec<&Piece<'_>> = pieces.iter().filter(|piece| !matches!(piece, Piece::Call(_))).collect();
    out.extend_from_slice(b",\"content\":");
    match parts[..] {
        [] if pieces.is_empty() => out.extend_from_slice(b"\"\""),
        [] => out.extend_from_slice(b"null"),
        [Piece::Text(text)] => json::write_text(out, text),
        _ if dialect.is_some_and(|dialect| !dialect.text_parts) => json::write_text(out, &joined(&parts)),
        _ => {
            out.push(b'[');
            let mut commas = Commas::new();
            for piece in parts {
                commas.next(out);
                write_part(out, piece);
            }
            out.push(b']');
        }
    }
}

/// All parts as one text, for servers that take nothing else.
fn joined(parts: &[&Piece<'_>]) -> String {
    let text = |piece: &&Piece<'_>| match piece {
        Piece::Text(text) => text.to_string(),
        Piece::Refusal(text) => (*text).to_owned(),
        Piece::Image(_) => "[image]".to_owned(),
        _ => "[file]".to_owned(),
    };
    parts.iter().map(text).collect::<Vec<_>>().join("\n\n")
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

fn write_calls(out: &mut Vec<u8>, pieces: &[Piece<'_>], dialect: Option<&Dialect>) {
    let mut calls = pieces.iter().filter_map(|piece| if let Piece::Call(call) = piece { Some(*call) } else { None }).peekable();
    if calls.peek().is_none() {
        return;
    }
    out.extend_from_slice(b",\"tool_calls\":[");
    let mut commas = Commas::new();
    for call in calls {
        commas.next(out);
        write_call(out, call, dialect);
    }
    out.push(b']');
}

/// `OpenAI` takes arguments as its model wrote them. Other servers read them as JSON for the model's template, and refuse what is none
/// (llama.cpp answers 500 to "{", which a reply that was cut leaves behind); they know no custom tools either.
fn write_call(out: &mut Vec<u8>, call: &ToolCall, dialect: Option<&Dialect>) {
    let own = dialect.is_none_or(|dialect| &*dialect.name == "openai");
    let (kind, arguments) = if call.custom && own { ("custom", "input") } else { ("function", "arguments") };
    out.push(b'{');
    write_field(out, "id", &id(&call.id, dialect));
    out.push(b',');
    write_field(out, "type", kind);
    out.extend_from_slice(format!(",\"{kind}\":{{").as_bytes());
    write_field(out, "name", &called(&call.name, 64, dialect.is_none_or(|dialect| &*dialect.name != "openai")));
    out.push(b',');
    write_field(out, arguments, &if own { Cow::Borrowed(&*call.arguments) } else { input(call) });
    out.extend_from_slice(b"}}");
}

/// The id of a call as the server takes it.
fn id<'a>(id: &'a str, dialect: Option<&Dialect>) -> Cow<'a, str> {
    match dialect {
        Some(dialect) if !dialect.call_ids.takes(id) => dialect.call_ids.id(id).into(),
        _ => id.into(),
    }
}

/// A result with one text is a string; several texts are parts.
fn write_result(out: &mut Vec<u8>, commas: &mut Commas, result: &ToolResult, shape: Shape, dialect: Option<&Dialect>) {
    begin_message(out, commas, Role::Tool);
    out.push(b',');
    write_field(out, "tool_call_id", &id(&result.call_id, dialect));
    let pieces: Vec<Piece<'_>> = result_pieces(result, shape).collect();
    write_content(out, &pieces, dialect);
    out.push(b'}');
}
