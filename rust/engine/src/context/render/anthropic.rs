//! Anthropic messages: `model`, `tools`, `system`, `messages`, then what changes from call to call.
//!
//! System messages go on top; those amid the conversation become user text that says what it is. Neighbours of one role are merged. In a
//! user message tool results stand first, in an assistant message calls stand last, so that each call is followed by its result.
//! Breakpoints become `cache_control` on the last block before them. A conversation that would begin with the assistant begins with a short
//! user text. Source: Anthropic API reference, "Messages"; "Tool use"; "Prompt caching".

use std::fmt::Write as _;

use super::super::dialect::called;
use super::super::escape::escape_attribute;
use super::super::json;
use super::super::lower::{Piece, pieces, result_pieces};
use super::super::message::{Document, Format, Image, Message, Role, Shape, Source, ToolCall, ToolResult};
use super::super::prompt::Prompt;
use super::super::segment::{Body, Segment};
use super::super::tools::{Function, Tool};
use super::{Commas, GO_ON, NOTHING_YET, RequestOptions, beginning, input, write_field, write_text_part};

const CACHE_CONTROL: &[u8] = b",\"cache_control\":{\"type\":\"ephemeral\"}}";

/// The keyword arguments of `client.messages.create` as JSON.
#[must_use]
pub fn to_anthropic(prompt: &Prompt, options: RequestOptions<'_>) -> Vec<u8> {
    let shape = Shape { format: Format::Anthropic, ..prompt.shape };
    let mut blocks = Blocks { beginning: beginning(prompt), ..Blocks::default() };
    for (index, segment) in prompt.segments.iter().enumerate() {
        blocks.segment(segment, shape);
        if prompt.breakpoints.iter().any(|breakpoint| breakpoint.segments == index + 1) {
            blocks.mark();
        }
    }
    blocks.end(prompt, options);
    let mut out = Vec::with_capacity(1024 + blocks.bytes());
    out.push(b'{');
    if let Some(model) = options.model {
        write_field(&mut out, "model", model);
        out.push(b',');
    }
    write_list(&mut out, "tools", &blocks.tools);
    write_list(&mut out, "system", &blocks.system);
    blocks.write_messages(&mut out);
    out.extend_from_slice(format!("\"max_tokens\":{}", prompt.max_output_tokens).as_bytes());
    if options.stream {
        out.extend_from_slice(b",\"stream\":true");
    }
    out.push(b'}');
    out
}

fn write_list(out: &mut Vec<u8>, key: &str, blocks: &[Vec<u8>]) {
    if blocks.is_empty() {
        return;
    }
    out.extend_from_slice(format!("\"{key}\":[").as_bytes());
    let mut commas = Commas::new();
    for block in blocks {
        commas.next(out);
        out.extend_from_slice(block);
    }
    out.extend_from_slice(b"],");
}

/// The content blocks of a request; each is one JSON object.
#[derive(Default)]
struct Blocks {
    tools: Vec<Vec<u8>>,
    system: Vec<Vec<u8>>,
    turns: Vec<Turn>,
    last: Last,
    /// What the user says first, where the assistant would.
    beginning: &'static str,
}

/// Neighbouring messages of one role.
struct Turn {
    user: bool,
    /// Blocks that must stand first (results) or last (calls), and the others.
    tool: Vec<Vec<u8>>,
    rest: Vec<Vec<u8>>,
}

/// Where the newest block went.
#[derive(Default, Clone, Copy)]
enum Last {
    #[default]
    Nowhere,
    Tools,
    System,
    Turn,
}

impl Blocks {
    fn segment(&mut self, segment: &Segment, shape: Shape) {
        match &segment.body {
            Body::Tools(tools) => {
                let sent = tools.tools.tools.iter().filter(|tool| tool.function.is_some() || tool.format == Format::Anthropic);
                self.tools.extend(sent.map(tool_block));
                self.last = if self.tools.is_empty() { Last::Nowhere } else { Last::Tools };
            }
            Body::Text(text) => {
                self.system.push(text_block(&text.text));
                self.last = Last::System;
            }
            Body::Block(block) => self.push(true, false, text_block(&block.text)),
            Body::Message(_, stored) => self.message(&stored.message, shape),
        }
    }

    fn message(&mut self, message: &Message, shape: Shape) {
        let user = message.role != Role::Assistant;
        let instruction = matches!(message.role, Role::System | Role::Developer);
        let mut name = message.name.as_deref();
        for piece in pieces(message, shape) {
            match &piece {
                Piece::Text(text) if instruction => {
                    self.push(user, false, text_block(&format!("<system_message>\n{text}\n</system_message>")));
                }
                Piece::Text(text) => {
                    let prefix = name.take().map_or_else(String::new, |name| format!("<from name=\"{}\"/>\n", escape_attribute(name)));
                    self.push(user, false, text_block(&format!("{prefix}{text}")));
                }
                Piece::Call(call) => self.push(user, true, call_block(call)),
                Piece::Result(result) => self.push(user, true, result_block(result, shape)),
                other => self.push(user, false, part_block(other, shape)),
            }
        }
    }

    fn push(&mut self, user: bool, tool: bool, block: Vec<u8>) {
        if self.turns.last().is_none_or(|turn| turn.user != user) {
            if self.turns.is_empty() && !user {
                self.turns.push(Turn { user: true, tool: Vec::new(), rest: vec![text_block(self.beginning)] });
            }
            self.turns.push(Turn { user, tool: Vec::new(), rest: Vec::new() });
        }
        let turn = self.turns.last_mut().expect("a turn of this role was pushed if there was none");
        if tool {
            turn.tool.push(block);
        } else {
            turn.rest.push(block);
        }
        self.last = Last::Turn;
    }

    /// A request must say something, and ends with the user unless the model takes a reply that is begun for it.
    fn end(&mut self, prompt: &Prompt, options: RequestOptions<'_>) {
        let silent = matches!(prompt.segments.last(), Some(Segment { body: Body::Block(_), .. }));
        let begun = self.turns.last().is_some_and(|turn| !turn.user && (options.ends_with_user || turn.ends_in_thinking()));
        if self.turns.is_empty() {
            self.push(true, false, text_block(NOTHING_YET));
        } else if silent || begun {
            self.push(true, false, text_block(GO_ON));
        } else if let Some(block) =
            self.turns.last_mut().filter(|turn| !turn.user && turn.tool.is_empty()).and_then(|turn| turn.rest.last_mut())
        {
            trim(block);
        }
    }

    /// Puts a breakpoint on the last block of the request so far that takes one: thinking does not, nor does what stands in it.
    fn mark(&mut self) {
        let block = match self.last {
            Last::Nowhere => None,
            Last::Tools => self.tools.last_mut(),
            Last::System => self.system.last_mut(),
            Last::Turn => self.turns.iter_mut().rev().find_map(Turn::last_block).or(self.system.last_mut()),
        };
        if let Some(block) = block.filter(|block| !block.ends_with(CACHE_CONTROL)) {
            block.pop();
            block.extend_from_slice(CACHE_CONTROL);
        }
    }

    fn write_messages(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\"messages\":[");
        let mut commas = Commas::new();
        for turn in &self.turns {
            commas.next(out);
            out.push(b'{');
            write_field(out, "role", if turn.user { "user" } else { "assistant" });
            out.push(b',');
            let (first, second) = if turn.user { (&turn.tool, &turn.rest) } else { (&turn.rest, &turn.tool) };
            let blocks: Vec<Vec<u8>> = first.iter().chain(second).cloned().collect();
            write_list(out, "content", &blocks);
            out.pop();
            out.push(b'}');
        }
        out.extend_from_slice(b"],");
    }

    fn bytes(&self) -> usize {
        let turns = self.turns.iter().flat_map(|turn| turn.tool.iter().chain(&turn.rest));
        self.tools.iter().chain(&self.system).chain(turns).map(|block| block.len() + 32).sum()
    }
}

impl Turn {
    /// From which no model goes on.
    fn ends_in_thinking(&self) -> bool {
        self.tool.is_empty() && self.rest.last().is_some_and(|block| is_thinking(block))
    }

    /// The last block that takes a breakpoint.
    fn last_block(&mut self) -> Option<&mut Vec<u8>> {
        let (first, second) = if self.user { (&mut self.tool, &mut self.rest) } else { (&mut self.rest, &mut self.tool) };
        second.iter_mut().chain(first.iter_mut()).rev().find(|block| !is_thinking(block))
    }
}

/// A reply that is begun for the model may not end in white space.
fn trim(block: &mut Vec<u8>) {
    let raw = std::str::from_utf8(block).unwrap_or_default();
    let text = json::object(raw).filter(|block| block.get("type") == Some("\"text\"")).and_then(|block| json::text(block.get("text")?));
    let Some(text) = text.filter(|text| text.ends_with(char::is_whitespace)) else { return };
    let (trimmed, marked) = (text_block(text.trim_end()), block.ends_with(CACHE_CONTROL));
    *block = trimmed;
    if marked {
        block.pop();
        block.extend_from_slice(CACHE_CONTROL);
    }
}

/// A model's thinking, which must go back as it came.
fn is_thinking(block: &[u8]) -> bool {
    let raw = std::str::from_utf8(block).unwrap_or_default();
    let kind = json::object(raw).and_then(|block| block.get("type"));
    matches!(kind, Some("\"thinking\"" | "\"redacted_thinking\""))
}

fn tool_block(tool: &Tool) -> Vec<u8> {
    match &tool.function {
        Some(function) if tool.format != Format::Anthropic => function_block(function),
        _ => tool.given.as_bytes().to_vec(),
    }
}

fn function_block(function: &Function) -> Vec<u8> {
    let mut out = vec![b'{'];
    write_field(&mut out, "name", &function.name);
    if let Some(description) = &function.description {
        out.push(b',');
        write_field(&mut out, "description", description);
    }
    out.extend_from_slice(b",\"input_schema\":");
    out.extend_from_slice(function.parameters.as_deref().unwrap_or("{\"type\":\"object\",\"properties\":{}}").as_bytes());
    out.push(b'}');
    out
}

fn text_block(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 32);
    write_text_part(&mut out, text);
    out
}

fn call_block(call: &ToolCall) -> Vec<u8> {
    let mut out = b"{\"type\":\"tool_use\",".to_vec();
    write_field(&mut out, "id", &tool_id(&call.id));
    out.push(b',');
    write_field(&mut out, "name", &called(&call.name, 128, false));
    out.extend_from_slice(b",\"input\":");
    out.extend_from_slice(input(call).as_bytes());
    out.push(b'}');
    out
}

fn result_block(result: &ToolResult, shape: Shape) -> Vec<u8> {
    let mut out = b"{\"type\":\"tool_result\",".to_vec();
    write_field(&mut out, "tool_use_id", &tool_id(&result.call_id));
    let blocks: Vec<Vec<u8>> = result_pieces(result, shape).map(|piece| part_block(&piece, shape)).collect();
    if !blocks.is_empty() {
        out.push(b',');
        write_list(&mut out, "content", &blocks);
        out.pop();
    }
    if result.is_error {
        out.extend_from_slice(b",\"is_error\":true");
    }
    out.push(b'}');
    out
}

/// Anthropic takes letters, digits, `_` and `-`; other characters are spelled by their number, so that ids stay distinct.
fn tool_id(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    for character in id.chars() {
        if character.is_ascii_alphanumeric() || matches!(character, '_' | '-') {
            out.push(character);
        } else {
            write!(out, "_x{:X}_", u32::from(character)).expect("writing to a String cannot fail");
        }
    }
    out
}

fn part_block(piece: &Piece<'_>, shape: Shape) -> Vec<u8> {
    match piece {
        Piece::Text(text) => text_block(text),
        Piece::Refusal(text) => text_block(text),
        Piece::Image(image) => image_block(image),
        Piece::Document(document) => document_block(document),
        Piece::Vendor(raw) => raw.as_bytes().to_vec(),
        Piece::Call(call) => call_block(call),
        Piece::Result(result) => result_block(result, shape),
    }
}

fn image_block(image: &Image) -> Vec<u8> {
    let mut out = b"{\"type\":\"image\",\"source\":{".to_vec();
    write_source(&mut out, &image.source);
    out.extend_from_slice(b"}}");
    out
}

fn document_block(document: &Document) -> Vec<u8> {
    let mut out = b"{\"type\":\"document\",\"source\":{".to_vec();
    write_source(&mut out, &document.source);
    out.push(b'}');
    for (key, text) in [("title", &document.title), ("context", &document.context)] {
        if let Some(text) = text {
            out.push(b',');
            write_field(&mut out, key, text);
        }
    }
    if let Some(citations) = &document.citations {
        out.extend_from_slice(b",\"citations\":");
        out.extend_from_slice(citations.as_bytes());
    }
    out.push(b'}');
    out
}

fn write_source(out: &mut Vec<u8>, source: &Source) {
    match source {
        Source::Url(url) => {
            out.extend_from_slice(b"\"type\":\"url\",");
            write_field(out, "url", url);
        }
        Source::Base64 { media_type, data } => write_data(out, "base64", media_type, data),
        Source::Text(text) => write_data(out, "text", "text/plain", text),
    }
}

fn write_data(out: &mut Vec<u8>, kind: &str, media_type: &str, data: &str) {
    write_field(out, "type", kind);
    out.push(b',');
    write_field(out, "media_type", media_type);
    out.push(b',');
    write_field(out, "data", data);
}
