//! Gemini: `model`, `contents`, then `config` with the system instruction, the tools and the reply's length.
//!
//! Neighbours of one role are joined, results of calls stand in a content of their own, right after the calls, in their order; a content
//! that a model signed goes back with its signatures (`thought_signature`), which the API checks from Gemini 3 on. Calls that another
//! vendor's model made carry the word that the documentation gives for that. Bytes are base64, as in the REST API; Python's SDK wants
//! bytes, and `Prompt.to_gemini` makes them. Source: Gemini API, "Generating content", "Function calling", "Thought signatures".

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::super::dialect::called;
use super::super::image::ImageRule;
use super::super::json;
use super::super::lower::{Piece, piece, result_text};
use super::super::media;
use super::super::message::{Format, Message, Part, Role, Shape, Source, ToolResult, value_beside};
use super::super::prompt::Prompt;
use super::super::segment::Body;
use super::super::tools::{Function, Tool};
use super::rounds::{Step, steps};
use super::{GO_ON, NOTHING_YET, RequestOptions, beginning, input, say_named};
use crate::plain::make::Parts;

/// Says that a call has no signature because another model made it.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// Byte fields are base64.
pub(super) fn say(prompt: &Prompt, options: RequestOptions<'_>, out: &mut impl Parts) {
    let mut contents = Contents {
        shape: Shape { format: Format::Gemini, ..prompt.shape },
        signs: matches!(prompt.images, ImageRule::GeminiResolution),
        beginning: beginning(prompt),
        system: Vec::new(),
        functions: Vec::new(),
        others: Vec::new(),
        turns: Vec::new(),
        names: BTreeMap::new(),
    };
    for step in steps(&prompt.segments) {
        match step {
            Step::Results(message) => contents.results(message),
            Step::Rest(message) => contents.message(message),
            Step::Whole(segment) => match &segment.body {
                Body::Tools(tools) => tools.tools.tools.iter().for_each(|tool| contents.tool(tool)),
                Body::Text(text) => contents.system.push(&text.text),
                Body::Block(block) => contents.push(Kind::User, Said::text(&*block.text)),
                Body::Message(_, stored) => contents.message(&stored.message),
            },
        }
    }
    match contents.turns.last().map(|turn| turn.kind) {
        None => contents.push(Kind::User, Said::text(NOTHING_YET)),
        Some(Kind::Model) => contents.push(Kind::User, Said::text(GO_ON)),
        _ => {}
    }
    out.map(|out| {
        if let Some(model) = options.model {
            out.field("model", model);
        }
        out.key("contents");
        out.list(|out| contents.turns.iter().for_each(|turn| say_turn(out, turn, contents.shape)));
        out.key("config");
        out.map(|out| {
            contents.say_config(out);
            out.key("max_output_tokens");
            out.json(&prompt.max_output_tokens.to_string());
        });
    });
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    User,
    Model,
    Results,
}

/// Neighbouring parts of one kind.
struct Turn<'a> {
    kind: Kind,
    parts: Vec<Said<'a>>,
}

/// A part of a content.
enum Said<'a> {
    /// The text and its signature, or a file and its type.
    Piece(Piece<'a>, Option<&'a str>),
    /// The result of a tool of that name.
    Result(&'a ToolResult, Cow<'a, str>),
}

impl<'a> Said<'a> {
    fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Piece(Piece::Text(text.into()), None)
    }
}

struct Contents<'a> {
    shape: Shape,
    /// The model checks signatures.
    signs: bool,
    beginning: &'static str,
    system: Vec<&'a str>,
    functions: Vec<&'a Function>,
    others: Vec<&'a str>,
    turns: Vec<Turn<'a>>,
    /// The tools of calls: a result names its tool.
    names: BTreeMap<&'a str, Cow<'a, str>>,
}

impl<'a> Contents<'a> {
    fn tool(&mut self, tool: &'a Tool) {
        match &tool.function {
            Some(function) => self.functions.push(function),
            None if tool.format == Format::Gemini => self.others.push(&tool.given),
            None => {}
        }
    }

    fn push(&mut self, kind: Kind, part: Said<'a>) {
        if self.turns.is_empty() && kind == Kind::Model {
            self.turns.push(Turn { kind: Kind::User, parts: vec![Said::text(self.beginning)] });
        }
        match self.turns.last_mut().filter(|turn| turn.kind == kind) {
            Some(turn) => turn.parts.push(part),
            None => self.turns.push(Turn { kind, parts: vec![part] }),
        }
    }

    fn results(&mut self, message: &'a Message) {
        for result in message.tool_results() {
            let name = self.names.get(&*result.call_id).cloned().unwrap_or_else(|| "tool".into());
            self.push(Kind::Results, Said::Result(result, name));
        }
    }

    /// Adds everything that a message says besides results.
    fn message(&mut self, message: &'a Message) {
        let kind = if message.role == Role::Assistant { Kind::Model } else { Kind::User };
        let instruction = matches!(message.role, Role::System | Role::Developer);
        let mut name = message.name.as_deref();
        let mut first_call = true;
        for (index, part) in message.parts.iter().enumerate() {
            let signature = signature_after(message, index);
            let said = match piece(part, self.shape) {
                Some(Piece::Text(text)) if instruction => Said::text(format!("<system_message>\n{text}\n</system_message>")),
                Some(Piece::Text(text)) => {
                    let text = name.take().map(|name| format!("({name}) {text}").into()).unwrap_or(text);
                    Said::Piece(Piece::Text(text), signature)
                }
                Some(Piece::Call(call)) => {
                    self.names.insert(&call.id, called(&call.name, 64, true));
                    let unsigned = (self.signs && first_call).then_some(UNSIGNED);
                    first_call = false;
                    Said::Piece(Piece::Call(call), signature.or(unsigned))
                }
                Some(Piece::Vendor(raw)) if is_signature(raw) => continue,
                Some(Piece::Result(_) | Piece::Beside(..)) | None => continue,
                Some(file @ (Piece::Image(_) | Piece::Document(_))) => Said::Piece(file, type_after(message, index)),
                Some(other) => Said::Piece(other, None),
            };
            self.push(kind, said);
        }
    }

    fn say_config(&self, out: &mut impl Parts) {
        if !self.system.is_empty() {
            out.key("system_instruction");
            out.map(|out| {
                out.key("parts");
                out.list(|out| self.system.iter().for_each(|text| out.map(|out| out.field("text", text))));
            });
        }
        if self.functions.is_empty() && self.others.is_empty() {
            return;
        }
        out.key("tools");
        out.list(|out| {
            if !self.functions.is_empty() {
                out.map(|out| {
                    out.key("function_declarations");
                    out.list(|out| self.functions.iter().for_each(|function| say_function(out, function)));
                });
            }
            self.others.iter().for_each(|raw| out.json(raw));
        });
    }
}

/// Whether a part is the mark that the parser puts behind a signed part. A part of Google's own that is signed has other fields too.
fn is_signature(raw: &str) -> bool {
    json::object(raw).is_some_and(|object| object.get("thoughtSignature").is_some() && object.fields().count() == 1)
}

/// The signature of a part, which stands behind it.
fn signature_after(message: &Message, index: usize) -> Option<&str> {
    let Some(Part::Vendor { format: Format::Gemini, raw }) = message.parts.get(index + 1) else { return None };
    // Base64 has no escapes.
    is_signature(raw).then(|| json::object(raw)?.get("thoughtSignature")?.strip_prefix('"')?.strip_suffix('"'))?
}

/// The type of a file by its address, which stands behind it.
fn type_after(message: &Message, index: usize) -> Option<&str> {
    let Some(Part::Beside { format: Format::Gemini, name: name @ "mimeType", raw }) = message.parts.get(index + 1) else { return None };
    // A type has no escapes.
    value_beside(name, raw).strip_prefix('"')?.strip_suffix('"')
}

fn say_turn(out: &mut impl Parts, turn: &Turn<'_>, shape: Shape) {
    out.map(|out| {
        out.key("role");
        out.word(if turn.kind == Kind::Model { "model" } else { "user" });
        out.key("parts");
        out.list(|out| turn.parts.iter().for_each(|part| say_part(out, part, shape)));
    });
}

fn say_part(out: &mut impl Parts, part: &Said<'_>, shape: Shape) {
    match part {
        Said::Result(result, name) => say_result(out, result, name, shape),
        Said::Piece(Piece::Vendor(raw), _) => out.json(raw),
        Said::Piece(Piece::Image(image), told) => out.map(|out| say_source(out, &image.source, *told, media::JPEG)),
        Said::Piece(Piece::Document(document), told) => out.map(|out| say_source(out, &document.source, *told, media::PDF)),
        Said::Piece(piece, signature) => out.map(|out| {
            say_piece(out, piece);
            if let Some(signature) = signature {
                out.field("thought_signature", signature);
            }
        }),
    }
}

/// The fields of a part, in its map.
fn say_piece(out: &mut impl Parts, piece: &Piece<'_>) {
    match piece {
        Piece::Text(text) => out.field("text", text),
        Piece::Refusal(text) => out.field("text", text),
        Piece::Call(call) => {
            out.key("function_call");
            out.map(|out| {
                out.field("id", &call.id);
                out.field("name", &called(&call.name, 64, true));
                out.key("args");
                out.json(&input(call));
            });
        }
        Piece::Image(_) | Piece::Document(_) | Piece::Vendor(_) | Piece::Beside(..) | Piece::Result(_) => {}
    }
}

fn say_result(out: &mut impl Parts, result: &ToolResult, name: &str, shape: Shape) {
    out.map(|out| {
        out.key("function_response");
        out.map(|out| {
            out.field("id", &result.call_id);
            out.field("name", name);
            out.key("response");
            out.map(|out| out.field(if result.is_error { "error" } else { "output" }, &result_text(result, shape)));
        });
    });
}

/// The type of a link is the one that was `told`, that of its address, or else `by_default`.
fn say_source(out: &mut impl Parts, source: &Source, told: Option<&str>, by_default: &str) {
    match source {
        Source::Base64 { media_type, data } => {
            out.key("inline_data");
            out.map(|out| {
                out.field("mime_type", media_type);
                out.field("data", data);
            });
        }
        Source::Url(url) => {
            out.key("file_data");
            out.map(|out| {
                out.field("file_uri", url);
                out.field("mime_type", told.or_else(|| media::of_address(url)).unwrap_or(by_default));
            });
        }
        Source::Text(text) => out.field("text", text),
    }
}

fn say_function(out: &mut impl Parts, function: &Function) {
    out.map(|out| {
        say_named(out, function, 64, true);
        if let Some(parameters) = &function.parameters {
            // The API's own `parameters` is a dialect of OpenAPI; this field takes JSON Schema.
            out.key("parameters_json_schema");
            out.json(parameters);
        }
    });
}
