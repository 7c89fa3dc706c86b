//! `OpenAI` chat completions: `model`, `tools`, `messages`, then what changes from call to call.
//!
//! Fixed sections are system messages of their own; `arrange` says where each thing stands. A volatile block becomes the first text part of the user message it
//! travels with. Each tool result is a message. Source: `OpenAI` API reference, "Create chat completion".

use std::borrow::Cow;

use super::super::dialect::{Dialect, called};
use super::super::image::ImageRule;
use super::super::json;
use super::super::lower::{Piece, kind_of, result_pieces};
use super::super::message::{Detail, Document, Format, Image, Shape, ToolCall, value_beside};
use super::super::prompt::Prompt;
use super::super::segment::{self, Segment};
use super::super::tools::{Function, Tool};
use super::arrange::{self, Entry};
use super::body::Body;
use super::{RequestOptions, input, say_named, say_source, say_text, say_type};
use crate::plain::make::Parts;

const FORMAT: Format = Format::OpenAi;

pub(super) fn say(prompt: &Prompt, options: RequestOptions<'_>, out: &mut impl Parts) {
    let shape = Shape { format: FORMAT, ..prompt.shape };
    let entries = match options.dialect {
        Some(dialect) => arrange::arranged(prompt, shape, dialect),
        None => arrange::entries(&prompt.segments, shape, None),
    };
    let server = Asked { dialect: options.dialect, checks_signatures: matches!(prompt.images, ImageRule::GeminiResolution) };
    out.map(|out| {
        say_segments(out, &prompt.segments, &entries, shape, options.model, server);
        out.key(options.dialect.map_or("max_completion_tokens", |dialect| &*dialect.output_parameter));
        out.json(&prompt.max_output_tokens.to_string());
        if options.stream {
            out.key("stream");
            out.json("true");
            if options.dialect.is_none_or(|dialect| dialect.stream_usage) {
                out.key("stream_options");
                out.json("{\"include_usage\":true}");
            }
        }
    });
}

/// The bytes of a request up to the end of these segments: a request that begins with them begins with these bytes.
#[must_use]
pub fn openai_prefix(segments: &[Segment], model: Option<&str>, shape: Shape) -> Vec<u8> {
    let shape = Shape { format: FORMAT, ..shape };
    let entries = arrange::entries(segments, shape, None);
    let server = Asked { dialect: None, checks_signatures: false };
    let mut body = Body::of(segments, |out| out.map(|out| say_segments(out, segments, &entries, shape, model, server)));
    body.truncate(body.len() - "]}".len());
    body
}

/// The server that is asked.
#[derive(Clone, Copy)]
struct Asked {
    dialect: Option<&'static Dialect>,
    /// Its model checks the signatures of calls.
    checks_signatures: bool,
}

impl Asked {
    /// Whether it takes a tool that it runs itself. The types of `OpenAI`'s are refused elsewhere, and types that are not known here may be
    /// anybody's.
    fn runs(self, tool: &Tool) -> bool {
        let runs = |kind: &str| kind == "code_interpreter" && self.dialect.is_some_and(|dialect| &*dialect.name == "groq");
        tool.format == FORMAT && (is_openais(self.dialect) || openais_type(&tool.given).is_none_or(|kind| runs(&kind)))
    }
}

/// Types of tools that `OpenAI` runs, or that its models alone call. Source: `OpenAI` API reference, "Create a model response", `tools`.
const OPENAIS: [&str; 12] = [
    "apply_patch",
    "code_interpreter",
    "computer",
    "computer_use_preview",
    "file_search",
    "image_generation",
    "local_shell",
    "mcp",
    "namespace",
    "programmatic_tool_calling",
    "shell",
    "tool_search",
];

/// The type of a tool that is `OpenAI`'s. Z.AI has some of these names, and puts what it wants to know under the same name.
fn openais_type(tool: &str) -> Option<Cow<'_, str>> {
    let (kind, object) = (kind_of(tool), json::object(tool)?);
    let is_known = OPENAIS.contains(&&*kind) || kind.starts_with("web_search");
    (kind == "custom" || is_known && object.get(&kind).is_none()).then_some(kind)
}

fn say_segments(out: &mut impl Parts, segments: &[Segment], entries: &[Entry<'_>], shape: Shape, model: Option<&str>, server: Asked) {
    if let Some(model) = model {
        out.field("model", model);
    }
    if let Some(Segment { body: segment::Body::Tools(tools), .. }) = segments.first() {
        say_tools(out, &tools.tools.tools, server);
    }
    out.key("messages");
    out.list(|out| entries.iter().for_each(|entry| say_entry(out, entry, shape, server)));
}

fn say_tools(out: &mut impl Parts, tools: &[Tool], server: Asked) {
    let mut sent = tools.iter().filter(|tool| tool.function.is_some() || server.runs(tool)).peekable();
    if sent.peek().is_none() {
        return;
    }
    out.key("tools");
    out.list(|out| {
        sent.for_each(|tool| match &tool.function {
            Some(function) if tool.format != FORMAT => say_function(out, function),
            Some(function) => out.json(&tool.given_as(&called(&function.name, 64, false))),
            None => out.json(&tool.given),
        });
    });
}

fn say_function(out: &mut impl Parts, function: &Function) {
    out.map(|out| {
        say_type(out, "function");
        out.key("function");
        out.map(|out| {
            say_named(out, function, 64, false);
            if let Some(parameters) = &function.parameters {
                out.key("parameters");
                out.json(parameters);
            }
        });
    });
}

fn say_entry(out: &mut impl Parts, entry: &Entry<'_>, shape: Shape, server: Asked) {
    let dialect = server.dialect;
    out.map(|out| {
        out.key("role");
        out.word(entry.role().name());
        match entry {
            Entry::Result(result) => {
                out.field("tool_call_id", &id(&result.call_id, dialect));
                let pieces: Vec<Piece<'_>> = result_pieces(result, shape).collect();
                say_content(out, &pieces, dialect);
            }
            Entry::Message { name, pieces, .. } => {
                if let Some(name) = name {
                    out.field("name", &if is_openais(dialect) { called(name, 64, false) } else { Cow::Borrowed(*name) });
                }
                say_content(out, pieces, dialect);
                if let Some(thinking) = thinking(pieces, dialect) {
                    out.key("reasoning_content");
                    out.json(thinking);
                }
                say_calls(out, pieces, server);
            }
        }
    });
}

/// A single text is a string; anything else a list of parts. An assistant that only calls tools has no content.
fn say_content(out: &mut impl Parts, pieces: &[Piece<'_>], dialect: Option<&Dialect>) {
    out.key("content");
    let parts = pieces.iter().filter(|piece| !matches!(piece, Piece::Call(_) | Piece::Beside(..)));
    let mut first = parts.clone();
    match (first.next(), first.next()) {
        (None, _) if !pieces.iter().any(|piece| matches!(piece, Piece::Call(_))) => out.text(""),
        (None, _) => out.json("null"),
        (Some(Piece::Text(text)), None) => out.text(text),
        _ if dialect.is_some_and(|dialect| !dialect.text_parts) => out.text(&parts.map(as_text).collect::<Vec<_>>().join("\n\n")),
        _ => out.list(|out| parts.for_each(|piece| say_part(out, piece))),
    }
}

/// A part for servers that take nothing but text.
fn as_text<'p>(piece: &'p Piece<'_>) -> &'p str {
    match piece {
        Piece::Text(text) => text,
        Piece::Refusal(text) => text,
        Piece::Image(_) => "[image]",
        _ => "[file]",
    }
}

fn say_part(out: &mut impl Parts, piece: &Piece<'_>) {
    match piece {
        Piece::Text(text) => out.map(|out| say_text(out, text)),
        Piece::Refusal(text) => out.map(|out| {
            say_type(out, "refusal");
            out.field("refusal", text);
        }),
        Piece::Image(image) => say_image(out, image),
        Piece::Document(document) => say_file(out, document),
        Piece::Vendor(raw) => out.json(raw),
        Piece::Call(_) | Piece::Result(_) | Piece::Beside(..) => {}
    }
}

fn say_image(out: &mut impl Parts, image: &Image) {
    out.map(|out| {
        say_type(out, "image_url");
        out.key("image_url");
        out.map(|out| {
            say_source(out, "url", &image.source);
            match image.detail {
                Detail::Auto => {}
                Detail::Low => out.field("detail", "low"),
                Detail::High => out.field("detail", "high"),
            }
        });
    });
}

fn say_file(out: &mut impl Parts, document: &Document) {
    out.map(|out| {
        say_type(out, "file");
        out.key("file");
        out.map(|out| {
            out.field("filename", document.title.as_deref().unwrap_or("document"));
            say_source(out, "file_data", &document.source);
        });
    });
}

/// Says that a call has no signature because another model made it. Google documents the word.
const UNSIGNED: &str = "{\"google\":{\"thought_signature\":\"skip_thought_signature_validator\"}}";

fn say_calls(out: &mut impl Parts, pieces: &[Piece<'_>], server: Asked) {
    // The first call of a message is the one that must be signed.
    let signs = server.checks_signatures && server.dialect.is_some_and(|dialect| dialect.wants("extra_content"));
    let signed = |at: usize| pieces.get(at + 1).and_then(|piece| beside_as(piece, "extra_content"));
    let call = |(at, piece)| if let &Piece::Call(call) = piece { Some((call, signed(at))) } else { None };
    let mut calls = pieces.iter().enumerate().filter_map(call).peekable();
    if calls.peek().is_none() {
        return;
    }
    out.key("tool_calls");
    out.list(|out| {
        for (number, (call, signed)) in calls.enumerate() {
            say_call(out, call, signed.or((signs && number == 0).then_some(UNSIGNED)), server.dialect);
        }
    });
}

/// The JSON of a message's thinking, or of what a server takes in its place; none where it is empty and nobody asks for it.
fn thinking<'a>(pieces: &[Piece<'a>], dialect: Option<&'a Dialect>) -> Option<&'a str> {
    let own = pieces.iter().find_map(|piece| beside_as(piece, "reasoning_content"));
    let calls = || pieces.iter().any(|piece| matches!(piece, Piece::Call(_)));
    let stands_in = || dialect.filter(|_| calls())?.no_thinking.as_deref();
    own.filter(|thinking| !matches!(*thinking, "null" | "\"\"")).or_else(stands_in)
}

/// The JSON of a field that stood beside the content.
fn beside_as<'a>(piece: &Piece<'a>, name: &str) -> Option<&'a str> {
    if let Piece::Beside(own, raw) = piece { (*own == name).then(|| value_beside(own, raw)) } else { None }
}

/// `OpenAI` takes arguments as its model wrote them. Other servers read them as JSON for the model's template, and refuse what is none
/// (llama.cpp answers 500 to "{", which a reply that was cut leaves behind); they know no custom tools either.
fn say_call(out: &mut impl Parts, call: &ToolCall, signed: Option<&str>, dialect: Option<&Dialect>) {
    let own = is_openais(dialect);
    let (kind, arguments) = if call.custom && own { ("custom", "input") } else { ("function", "arguments") };
    out.map(|out| {
        out.field("id", &id(&call.id, dialect));
        say_type(out, kind);
        out.key(kind);
        out.map(|out| {
            out.field("name", &called(&call.name, 64, false));
            out.field(arguments, &if own { Cow::Borrowed(&*call.arguments) } else { input(call) });
        });
        if let Some(signed) = signed {
            out.key("extra_content");
            out.json(signed);
        }
    });
}

/// `OpenAI`'s own server is asked, which refuses a speaker's name with anything but letters, digits, `_` and `-`. Others leave names to the
/// model's template.
pub(super) fn is_openais(dialect: Option<&Dialect>) -> bool {
    dialect.is_none_or(|dialect| &*dialect.name == "openai")
}

/// The id of a call as the server takes it.
fn id<'a>(id: &'a str, dialect: Option<&Dialect>) -> Cow<'a, str> {
    match dialect {
        Some(dialect) if !dialect.call_ids.takes(id) => dialect.call_ids.id(id).into(),
        _ => id.into(),
    }
}
