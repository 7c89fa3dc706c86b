//! `OpenAI` responses: `model`, `tools`, `input` as items, then what changes from call to call.
//!
//! Nothing is stored at the provider (`store: false`), so every call says everything: a model's reasoning goes back as the encrypted
//! item that it came as, before the calls that it led to. A call and its output are items of their own. Source: `OpenAI` API reference,
//! "Create a model response"; guide "Reasoning models", encrypted reasoning items.

use super::super::dialect::{CallIds, called};
use super::super::json;
use super::super::lower::{Piece, pieces, result_pieces};
use super::super::message::{Detail, Document, Format, Image, Message, Role, Shape, Source, ToolCall, ToolResult};
use super::super::prompt::Prompt;
use super::super::segment::Body;
use super::super::tools::{Function, Tool};
use super::{Commas, GO_ON, NOTHING_YET, RequestOptions, write_field};

/// Ids of calls have at most 64 bytes.
const IDS: CallIds = CallIds::Any(64);

/// The keyword arguments of `client.responses.create` as JSON.
#[must_use]
pub fn to_responses(prompt: &Prompt, options: RequestOptions<'_>) -> Vec<u8> {
    let mut items = Items { shape: Shape { format: Format::Responses, ..prompt.shape }, ..Items::default() };
    let mut block = None;
    for segment in &prompt.segments {
        match &segment.body {
            Body::Tools(tools) => items.tools.extend(tools.tools.tools.iter().filter_map(tool_item)),
            Body::Text(text) => items.plain(Role::System, &text.text),
            Body::Block(waiting) => block = Some(&*waiting.text),
            Body::Message(_, stored) => items.message(&stored.message, block.take()),
        }
    }
    if let Some(text) = block {
        items.plain(Role::User, text);
    }
    match items.last {
        None | Some(Role::System) => items.plain(Role::User, NOTHING_YET),
        Some(Role::Assistant) if options.ends_with_user => items.plain(Role::User, GO_ON),
        _ => {}
    }
    items.write(prompt, options)
}

struct Items {
    shape: Shape,
    tools: Vec<Vec<u8>>,
    input: Vec<Vec<u8>>,
    /// Ids of calls that took free text: their outputs are of another kind.
    custom: Vec<Box<str>>,
    /// Who spoke last.
    last: Option<Role>,
}

impl Default for Items {
    fn default() -> Self {
        Self { shape: Format::Responses.into(), tools: Vec::new(), input: Vec::new(), custom: Vec::new(), last: None }
    }
}

impl Items {
    fn plain(&mut self, role: Role, text: &str) {
        let mut out = begin(role);
        json::write_text(&mut out, text);
        out.push(b'}');
        self.push(role, out);
    }

    fn push(&mut self, role: Role, item: Vec<u8>) {
        self.input.push(item);
        self.last = Some(if role == Role::Developer { Role::System } else { role });
    }

    fn message(&mut self, message: &Message, block: Option<&str>) {
        let own: Vec<Piece<'_>> = pieces(message, self.shape).collect();
        if message.role == Role::Assistant { self.assistant(&own) } else { self.given(message, &own, block) }
    }

    /// What a model said and called, in its order.
    fn assistant(&mut self, pieces: &[Piece<'_>]) {
        // Reasoning is refused without the item that it led to.
        let mut held: Vec<&str> = Vec::new();
        for piece in pieces {
            if let Piece::Vendor(raw) = piece
                && is_reasoning(raw)
            {
                held.push(raw);
                continue;
            }
            for raw in held.drain(..) {
                self.push(Role::Tool, raw.as_bytes().to_vec());
            }
            match piece {
                Piece::Text(text) => self.plain(Role::Assistant, text),
                Piece::Refusal(text) => self.plain(Role::Assistant, text),
                Piece::Call(call) => {
                    if call.custom {
                        self.custom.push(call.id.clone());
                    }
                    self.push(Role::Tool, call_item(call));
                }
                Piece::Vendor(raw) => self.push(Role::Tool, raw.as_bytes().to_vec()),
                Piece::Image(_) => self.plain(Role::Assistant, "[image]"),
                Piece::Document(_) => self.plain(Role::Assistant, "[document]"),
                Piece::Result(_) => {}
            }
        }
    }

    /// What was said to the model: results first, then a message of parts.
    fn given(&mut self, message: &Message, pieces: &[Piece<'_>], block: Option<&str>) {
        for result in message.tool_results() {
            let custom = self.custom.contains(&result.call_id);
            self.push(Role::Tool, output_item(result, custom, self.shape));
        }
        let parts: Vec<Vec<u8>> = block.map(text_part).into_iter().chain(pieces.iter().filter_map(part)).collect();
        if parts.is_empty() {
            return;
        }
        let name = message.name.as_deref().map(|name| text_part(&format!("({name})")));
        let mut out = begin(message.role);
        write_parts(&mut out, name.iter().chain(&parts));
        out.push(b'}');
        self.push(message.role, out);
    }

    fn write(&self, prompt: &Prompt, options: RequestOptions<'_>) -> Vec<u8> {
        let bytes = self.tools.iter().chain(&self.input).map(|item| item.len() + 1).sum::<usize>();
        let mut out = Vec::with_capacity(256 + bytes);
        out.push(b'{');
        if let Some(model) = options.model {
            write_field(&mut out, "model", model);
            out.push(b',');
        }
        if !self.tools.is_empty() {
            out.extend_from_slice(b"\"tools\":");
            write_parts(&mut out, self.tools.iter());
            out.push(b',');
        }
        out.extend_from_slice(b"\"input\":");
        write_parts(&mut out, self.input.iter());
        out.extend_from_slice(format!(",\"max_output_tokens\":{},\"store\":false", prompt.max_output_tokens.max(16)).as_bytes());
        if options.reasons {
            out.extend_from_slice(b",\"include\":[\"reasoning.encrypted_content\"]");
        }
        if options.stream {
            out.extend_from_slice(b",\"stream\":true");
        }
        out.push(b'}');
        out
    }
}

fn is_reasoning(raw: &str) -> bool {
    json::object(raw).and_then(|item| item.get("type")) == Some("\"reasoning\"")
}

fn begin(role: Role) -> Vec<u8> {
    let mut out = b"{\"type\":\"message\",".to_vec();
    write_field(&mut out, "role", if role == Role::Tool { "user" } else { role.name() });
    out.extend_from_slice(b",\"content\":");
    out
}

fn write_parts<'a>(out: &mut Vec<u8>, parts: impl Iterator<Item = &'a Vec<u8>>) {
    out.push(b'[');
    let mut commas = Commas::new();
    for part in parts {
        commas.next(out);
        out.extend_from_slice(part);
    }
    out.push(b']');
}

fn text_part(text: &str) -> Vec<u8> {
    let mut out = b"{\"type\":\"input_text\",".to_vec();
    write_field(&mut out, "text", text);
    out.push(b'}');
    out
}

fn part(piece: &Piece<'_>) -> Option<Vec<u8>> {
    match piece {
        Piece::Text(text) => Some(text_part(text)),
        Piece::Refusal(text) => Some(text_part(text)),
        Piece::Image(image) => Some(image_part(image)),
        Piece::Document(document) => Some(file_part(document)),
        Piece::Vendor(raw) => Some(raw.as_bytes().to_vec()),
        Piece::Call(_) | Piece::Result(_) => None,
    }
}

fn image_part(image: &Image) -> Vec<u8> {
    let mut out = b"{\"type\":\"input_image\",".to_vec();
    write_source(&mut out, "image_url", &image.source);
    let detail = match image.detail {
        Detail::Auto => "auto",
        Detail::Low => "low",
        Detail::High => "high",
    };
    out.push(b',');
    write_field(&mut out, "detail", detail);
    out.push(b'}');
    out
}

fn file_part(document: &Document) -> Vec<u8> {
    let mut out = b"{\"type\":\"input_file\",".to_vec();
    if let Source::Url(url) = &document.source {
        write_field(&mut out, "file_url", url);
    } else {
        write_field(&mut out, "filename", document.title.as_deref().unwrap_or("document"));
        out.push(b',');
        write_source(&mut out, "file_data", &document.source);
    }
    out.push(b'}');
    out
}

fn write_source(out: &mut Vec<u8>, key: &str, source: &Source) {
    match source {
        Source::Url(text) | Source::Text(text) => write_field(out, key, text),
        Source::Base64 { media_type, data } => write_field(out, key, &format!("data:{media_type};base64,{data}")),
    }
}

fn call_item(call: &ToolCall) -> Vec<u8> {
    let (kind, arguments) = if call.custom { ("custom_tool_call", "input") } else { ("function_call", "arguments") };
    let mut out = b"{".to_vec();
    write_field(&mut out, "type", kind);
    for (key, text) in [("call_id", &*IDS.id(&call.id)), ("name", &*called(&call.name, 64, false)), (arguments, &*call.arguments)] {
        out.push(b',');
        write_field(&mut out, key, text);
    }
    out.push(b'}');
    out
}

fn output_item(result: &ToolResult, custom: bool, shape: Shape) -> Vec<u8> {
    let mut out = b"{".to_vec();
    write_field(&mut out, "type", if custom { "custom_tool_call_output" } else { "function_call_output" });
    out.push(b',');
    write_field(&mut out, "call_id", &IDS.id(&result.call_id));
    let texts: Vec<String> = result_pieces(result, shape)
        .filter_map(|piece| if let Piece::Text(text) = piece { Some(text.into_owned()) } else { None })
        .collect();
    out.push(b',');
    write_field(&mut out, "output", &texts.join("\n"));
    out.push(b'}');
    out
}

fn tool_item(tool: &Tool) -> Option<Vec<u8>> {
    match &tool.function {
        Some(function) => Some(function_item(function)),
        None if matches!(tool.format, Format::OpenAi | Format::Responses) => Some(tool.given.as_bytes().to_vec()),
        None => None,
    }
}

fn function_item(function: &Function) -> Vec<u8> {
    let mut out = b"{\"type\":\"function\",".to_vec();
    write_field(&mut out, "name", &function.name);
    if let Some(description) = &function.description {
        out.push(b',');
        write_field(&mut out, "description", description);
    }
    out.extend_from_slice(b",\"parameters\":");
    out.extend_from_slice(function.parameters.as_deref().unwrap_or("{\"type\":\"object\",\"properties\":{}}").as_bytes());
    // Where it is left out, schemas of this API are strict, and most are not written for that.
    out.extend_from_slice(b",\"strict\":false}");
    out
}
