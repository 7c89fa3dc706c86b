//! Gemini: `model`, `contents`, then `config` with the system instruction, the tools and the reply's length.
//!
//! Neighbours of one role are joined, results of calls stand in a content of their own, right after the calls, in their order; a content
//! that a model signed goes back with its signatures (`thought_signature`), which the API checks from Gemini 3 on. Calls that another
//! vendor's model made carry the word that the documentation gives for that. Bytes are base64, as in the REST API; Python's SDK wants
//! bytes, and `Prompt.to_gemini` makes them. Source: Gemini API, "Generating content", "Function calling", "Thought signatures".

use std::collections::BTreeMap;

use super::super::dialect::called;
use super::super::image::ImageRule;
use super::super::json;
use super::super::lower::{Piece, pieces, result_pieces};
use super::super::message::{Document, Format, Image, Message, Part, Role, Shape, Source, ToolCall, ToolResult};
use super::super::prompt::Prompt;
use super::super::segment::Body;
use super::super::tools::{Function, Tool};
use super::{Commas, GO_ON, NOTHING_YET, RequestOptions, beginning, input, write_field};

/// Says that a call has no signature because another model made it.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// The keyword arguments of `client.models.generate_content` as JSON, byte fields in base64.
#[must_use]
pub fn to_gemini(prompt: &Prompt, options: RequestOptions<'_>) -> Vec<u8> {
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
    for segment in &prompt.segments {
        match &segment.body {
            Body::Tools(tools) => tools.tools.tools.iter().for_each(|tool| contents.tool(tool)),
            Body::Text(text) => contents.system.push(text_part(&text.text, None)),
            Body::Block(block) => contents.push(Kind::User, text_part(&block.text, None)),
            Body::Message(_, stored) => contents.message(&stored.message),
        }
    }
    match contents.turns.last().map(|turn| turn.kind) {
        None => contents.push(Kind::User, text_part(NOTHING_YET, None)),
        Some(Kind::Model) => contents.push(Kind::User, text_part(GO_ON, None)),
        _ => {}
    }
    contents.write(prompt, options)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    User,
    Model,
    Results,
}

/// Neighbouring parts of one kind.
struct Turn {
    kind: Kind,
    parts: Vec<Vec<u8>>,
}

struct Contents {
    shape: Shape,
    /// The model checks signatures.
    signs: bool,
    beginning: &'static str,
    system: Vec<Vec<u8>>,
    functions: Vec<Vec<u8>>,
    others: Vec<Vec<u8>>,
    turns: Vec<Turn>,
    /// The tools of calls: a result names its tool.
    names: BTreeMap<Box<str>, Box<str>>,
}

impl Contents {
    fn tool(&mut self, tool: &Tool) {
        match &tool.function {
            Some(function) => self.functions.push(declaration(function)),
            None if tool.format == Format::Gemini => self.others.push(tool.given.as_bytes().to_vec()),
            None => {}
        }
    }

    fn push(&mut self, kind: Kind, part: Vec<u8>) {
        if self.turns.is_empty() && kind == Kind::Model {
            self.turns.push(Turn { kind: Kind::User, parts: vec![text_part(self.beginning, None)] });
        }
        match self.turns.last_mut().filter(|turn| turn.kind == kind) {
            Some(turn) => turn.parts.push(part),
            None => self.turns.push(Turn { kind, parts: vec![part] }),
        }
    }

    fn message(&mut self, message: &Message) {
        for result in message.tool_results() {
            let name = self.names.get(&result.call_id).cloned().unwrap_or_else(|| "tool".into());
            self.push(Kind::Results, result_part(result, &name, self.shape));
        }
        let kind = if message.role == Role::Assistant { Kind::Model } else { Kind::User };
        let instruction = matches!(message.role, Role::System | Role::Developer);
        let mut name = message.name.as_deref();
        let mut first_call = true;
        for (index, part) in message.parts.iter().enumerate() {
            let alone = Message { role: message.role, name: None, parts: vec![part.clone()] };
            let Some(piece) = pieces(&alone, self.shape).next() else { continue };
            let signature = signature_after(message, index);
            let out = match &piece {
                Piece::Text(text) if instruction => text_part(&format!("<system_message>\n{text}\n</system_message>"), None),
                Piece::Text(text) => match name.take() {
                    Some(name) => text_part(&format!("({name}) {text}"), signature),
                    None => text_part(text, signature),
                },
                Piece::Refusal(text) => text_part(text, None),
                Piece::Call(call) => {
                    self.names.insert(call.id.clone(), called(&call.name, 64, true).into());
                    let unsigned = (self.signs && first_call).then_some(UNSIGNED);
                    first_call = false;
                    call_part(call, signature.or(unsigned))
                }
                Piece::Image(image) => image_part(image),
                Piece::Document(document) => document_part(document),
                Piece::Vendor(raw) if is_signature(raw) => continue,
                Piece::Vendor(raw) => raw.as_bytes().to_vec(),
                Piece::Result(_) => continue,
            };
            self.push(kind, out);
        }
    }

    fn write(&self, prompt: &Prompt, options: RequestOptions<'_>) -> Vec<u8> {
        let mut out = Vec::with_capacity(1024);
        out.push(b'{');
        if let Some(model) = options.model {
            write_field(&mut out, "model", model);
            out.push(b',');
        }
        out.extend_from_slice(b"\"contents\":[");
        let mut commas = Commas::new();
        for turn in &self.turns {
            commas.next(&mut out);
            out.push(b'{');
            write_field(&mut out, "role", if turn.kind == Kind::Model { "model" } else { "user" });
            write_list(&mut out, ",\"parts\"", &turn.parts);
            out.push(b'}');
        }
        out.extend_from_slice(b"],\"config\":{");
        if !self.system.is_empty() {
            write_list(&mut out, "\"system_instruction\":{\"parts\"", &self.system);
            out.extend_from_slice(b"},");
        }
        self.write_tools(&mut out);
        out.extend_from_slice(format!("\"max_output_tokens\":{}}}}}", prompt.max_output_tokens).as_bytes());
        out
    }

    fn write_tools(&self, out: &mut Vec<u8>) {
        let mut tools = self.others.clone();
        if !self.functions.is_empty() {
            let mut declarations = b"{".to_vec();
            write_list(&mut declarations, "\"function_declarations\"", &self.functions);
            declarations.push(b'}');
            tools.insert(0, declarations);
        }
        if !tools.is_empty() {
            write_list(out, "\"tools\"", &tools);
            out.push(b',');
        }
    }
}

fn write_list(out: &mut Vec<u8>, key: &str, items: &[Vec<u8>]) {
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b":[");
    let mut commas = Commas::new();
    for item in items {
        commas.next(out);
        out.extend_from_slice(item);
    }
    out.push(b']');
}

/// What the parser puts behind a part that was signed.
fn is_signature(raw: &str) -> bool {
    json::object(raw).is_some_and(|object| object.get("thoughtSignature").is_some() && object.get("text").is_none())
}

/// The signature of a part, which stands behind it.
fn signature_after(message: &Message, index: usize) -> Option<&str> {
    let Some(Part::Vendor { format: Format::Gemini, raw }) = message.parts.get(index + 1) else { return None };
    // Base64 has no escapes.
    is_signature(raw).then(|| json::object(raw)?.get("thoughtSignature")?.strip_prefix('"')?.strip_suffix('"'))?
}

fn signed(mut out: Vec<u8>, signature: Option<&str>) -> Vec<u8> {
    if let Some(signature) = signature {
        out.push(b',');
        write_field(&mut out, "thought_signature", signature);
    }
    out.push(b'}');
    out
}

fn text_part(text: &str, signature: Option<&str>) -> Vec<u8> {
    let mut out = b"{".to_vec();
    write_field(&mut out, "text", text);
    signed(out, signature)
}

fn call_part(call: &ToolCall, signature: Option<&str>) -> Vec<u8> {
    let mut out = b"{\"function_call\":{".to_vec();
    write_field(&mut out, "id", &call.id);
    out.push(b',');
    write_field(&mut out, "name", &called(&call.name, 64, true));
    out.extend_from_slice(b",\"args\":");
    out.extend_from_slice(input(call).as_bytes());
    out.push(b'}');
    signed(out, signature)
}

fn result_part(result: &ToolResult, name: &str, shape: Shape) -> Vec<u8> {
    let texts: Vec<String> = result_pieces(result, shape)
        .filter_map(|piece| if let Piece::Text(text) = piece { Some(text.into_owned()) } else { None })
        .collect();
    let mut out = b"{\"function_response\":{".to_vec();
    write_field(&mut out, "id", &result.call_id);
    out.push(b',');
    write_field(&mut out, "name", name);
    out.extend_from_slice(b",\"response\":{");
    write_field(&mut out, if result.is_error { "error" } else { "output" }, &texts.join("\n"));
    out.extend_from_slice(b"}}}");
    out
}

fn image_part(image: &Image) -> Vec<u8> {
    source_part(&image.source, "image/jpeg")
}

fn document_part(document: &Document) -> Vec<u8> {
    source_part(&document.source, "application/pdf")
}

fn source_part(source: &Source, media_type: &str) -> Vec<u8> {
    let mut out = Vec::new();
    match source {
        Source::Base64 { media_type, data } => {
            out.extend_from_slice(b"{\"inline_data\":{");
            write_field(&mut out, "mime_type", media_type);
            out.push(b',');
            write_field(&mut out, "data", data);
            out.extend_from_slice(b"}}");
        }
        Source::Url(url) => {
            out.extend_from_slice(b"{\"file_data\":{");
            write_field(&mut out, "file_uri", url);
            out.push(b',');
            write_field(&mut out, "mime_type", media_type);
            out.extend_from_slice(b"}}");
        }
        Source::Text(text) => out = text_part(text, None),
    }
    out
}

fn declaration(function: &Function) -> Vec<u8> {
    let mut out = b"{".to_vec();
    write_field(&mut out, "name", &function.name);
    if let Some(description) = &function.description {
        out.push(b',');
        write_field(&mut out, "description", description);
    }
    if let Some(parameters) = &function.parameters {
        // The API's own `parameters` is a dialect of OpenAPI; this field takes JSON Schema.
        out.extend_from_slice(b",\"parameters_json_schema\":");
        out.extend_from_slice(parameters.as_bytes());
    }
    out.push(b'}');
    out
}
