//! Anthropic messages: `model`, `tools`, `system`, `messages`, then the fields that change from call to call.
//!
//! System messages go on top; those amid the conversation become user text that says what it is. Neighbours of one role are merged. In a
//! user message tool results stand first, in an assistant message calls stand last, so that each call is followed by its result. A reply of
//! Claude's with thinking or tools of Anthropic's keeps its order, because it must go back as it came.
//! Breakpoints become `cache_control` on the last block before them. A conversation that would begin with the assistant begins with a short
//! user text. Source: Anthropic API reference, "Messages", "Tool use" and "Prompt caching".

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::super::dialect::{CallIds, called};
use super::super::escape::escape_attribute;
use super::super::json;
use super::super::lower::{Piece, piece, result_pieces};
use super::super::message::{Document, Format, Message, Part, Role, Shape, Source, ToolResult, value_beside};
use super::super::prompt::Prompt;
use super::super::segment::{Body, Segment};
use super::super::tools::{Function, Tool};
use super::{GO_ON, NO_PARAMETERS, NOTHING_YET, RequestOptions, STOPPED, beginning, input, say_named, say_text, say_type};
use crate::plain::make::Parts;

/// The end of a block with a breakpoint.
const CACHE_CONTROL: &str = ",\"cache_control\":{\"type\":\"ephemeral\"}}";

pub(super) fn say(prompt: &Prompt, options: RequestOptions<'_>, out: &mut impl Parts) {
    let converse = options.dialect.is_some_and(|dialect| &*dialect.name == "bedrock");
    let shape = Shape { format: Format::Anthropic, converse, ..prompt.shape };
    let mut blocks = Blocks { beginning: beginning(prompt), ..Blocks::default() };
    for (index, segment) in prompt.segments.iter().enumerate() {
        blocks.segment(segment, shape);
        if prompt.breakpoints.iter().any(|breakpoint| breakpoint.segments == index + 1) {
            blocks.mark();
        }
    }
    blocks.end(prompt, options);
    out.map(|out| {
        if let Some(model) = options.model {
            out.field("model", model);
        }
        if !blocks.tools.is_empty() {
            out.key("tools");
            out.list(|out| blocks.tools.iter().for_each(|tool| say_tool(out, tool.of, tool.marked)));
        }
        if !blocks.system.is_empty() {
            out.key("system");
            out.list(|out| blocks.system.iter().for_each(|block| say_block(out, block, shape)));
        }
        out.key("messages");
        out.list(|out| blocks.turns.iter().for_each(|turn| say_turn(out, turn, shape)));
        out.key("max_tokens");
        out.json(&prompt.max_output_tokens.to_string());
        if options.stream {
            out.key("stream");
            out.json("true");
        }
    });
}

/// The content blocks of a request.
#[derive(Default)]
struct Blocks<'a> {
    tools: Vec<Block<&'a Tool>>,
    system: Vec<Block<Piece<'a>>>,
    turns: Vec<Turn<'a>>,
    last: Last,
    /// The user's first text, where the assistant would speak first.
    beginning: &'static str,
    /// How many calls had an id so far. Servers that number the calls of each reply give one twice, and Anthropic refuses that.
    ids: BTreeMap<&'a str, usize>,
}

/// A block, and whether a breakpoint is on it.
struct Block<T> {
    of: T,
    marked: bool,
    /// How many calls had the id of this call or result before.
    before: usize,
    /// A field that goes back with it, and its JSON.
    field: Option<(&'static str, Box<str>)>,
}

impl<T> Block<T> {
    fn new(of: T) -> Self {
        Self { of, marked: false, before: 0, field: None }
    }
}

/// Neighbouring messages of one role.
struct Turn<'a> {
    user: bool,
    /// Blocks that must stand first (results) or last (calls), and the others.
    tool: Vec<Block<Piece<'a>>>,
    rest: Vec<Block<Piece<'a>>>,
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

impl<'a> Blocks<'a> {
    fn segment(&mut self, segment: &'a Segment, shape: Shape) {
        match &segment.body {
            Body::Tools(tools) => {
                let sent = tools.tools.tools.iter().filter(|tool| tool.function.is_some() || tool.format == Format::Anthropic);
                self.tools.extend(sent.map(Block::new));
                self.last = if self.tools.is_empty() { Last::Nowhere } else { Last::Tools };
            }
            Body::Text(text) => {
                self.system.push(Block::new(Piece::Text((&*text.text).into())));
                self.last = Last::System;
            }
            Body::Block(block) => self.push(true, Piece::Text((&*block.text).into())),
            Body::Message(_, stored) => self.message(&stored.message, shape),
        }
    }

    fn message(&mut self, message: &'a Message, shape: Shape) {
        let user = message.role != Role::Assistant;
        let instruction = matches!(message.role, Role::System | Role::Developer);
        let mut name = message.name.as_deref();
        let ordered = !user && keeps_order(message);
        for (index, part) in message.parts.iter().enumerate() {
            let piece = match piece(part, shape) {
                None | Some(Piece::Beside(..)) => continue,
                Some(Piece::Text(text)) if instruction => Piece::Text(format!("<system_message>\n{text}\n</system_message>").into()),
                Some(Piece::Text(text)) => Piece::Text(match name.take() {
                    Some(name) => format!("<from name=\"{}\"/>\n{text}", escape_attribute(name)).into(),
                    None => text,
                }),
                Some(other) => other,
            };
            let field = if shape.converse { None } else { field_after(message, index) };
            self.place(user, ordered, Block { field, ..Block::new(piece) });
        }
    }

    fn push(&mut self, user: bool, piece: Piece<'a>) {
        self.place(user, false, Block::new(piece));
    }

    fn place(&mut self, user: bool, ordered: bool, mut block: Block<Piece<'a>>) {
        if self.turns.last().is_none_or(|turn| turn.user != user) {
            if self.turns.is_empty() && !user {
                let first = Block::new(Piece::Text(self.beginning.into()));
                self.turns.push(Turn { user: true, tool: Vec::new(), rest: vec![first] });
            }
            self.turns.push(Turn { user, tool: Vec::new(), rest: Vec::new() });
        }
        let turn = self.turns.last_mut().expect("a turn of this role was pushed if there was none");
        block.before = match &block.of {
            Piece::Call(call) => {
                let calls = self.ids.entry(&call.id).or_default();
                *calls += 1;
                *calls - 1
            }
            Piece::Result(result) => self.ids.get(&*result.call_id).map_or(0, |calls| calls - 1),
            _ => 0,
        };
        let is_tools = matches!(block.of, Piece::Call(_) | Piece::Result(_));
        if is_tools && !ordered {
            turn.tool.push(block);
        } else {
            turn.rest.push(block);
        }
        self.last = Last::Turn;
    }

    /// A call of a tool that Anthropic runs needs its result in the request, unless the request ends with that reply, or the reply calls
    /// tools of the program's as well: then the result comes in a later one. Else the model was stopped there, and a text says so.
    fn close_own_calls(&mut self) {
        self.leave_out_orphans();
        let ends_in_reply = self.turns.last().is_some_and(|turn| !turn.user);
        let before = self.turns.len() - usize::from(ends_in_reply);
        let is_stopped = |turn: &Turn<'a>| !turn.user && !turn.calls() && turn.rest.iter().any(|block| own_call(&block.of).is_some());
        if !self.turns[..before].iter().any(is_stopped) {
            return; // as mostly
        }
        let results: BTreeSet<&str> = self.turns.iter().flat_map(|turn| &turn.rest).filter_map(|block| own_result(&block.of)).collect();
        for block in self.turns[..before].iter_mut().filter(|turn| is_stopped(turn)).flat_map(|turn| &mut turn.rest) {
            if own_call(&block.of).is_some_and(|id| !results.contains(id)) {
                block.of = Piece::Text(STOPPED.into());
            }
        }
    }

    /// The result of a tool that Anthropic runs needs its call in the request. Of a reply that paused between both the window or a summary
    /// may have taken the first part.
    fn leave_out_orphans(&mut self) {
        let mut called: BTreeSet<&str> = BTreeSet::new();
        for turn in self.turns.iter_mut().filter(|turn| !turn.user) {
            let mut has_orphans = false;
            for block in &turn.rest {
                called.extend(own_call(&block.of));
                has_orphans |= own_result(&block.of).is_some_and(|id| !called.contains(id));
            }
            if has_orphans {
                turn.rest.retain(|block| own_result(&block.of).is_none_or(|id| called.contains(id)));
                if turn.rest.is_empty() && turn.tool.is_empty() {
                    turn.rest.push(Block::new(Piece::Text(STOPPED.into())));
                }
            }
        }
    }

    /// A request must say something, and ends with the user unless the model takes a reply that is begun for it, or paused in one.
    fn end(&mut self, prompt: &Prompt, options: RequestOptions<'_>) {
        self.close_own_calls();
        let silent = matches!(prompt.segments.last(), Some(Segment { body: Body::Block(_), .. }));
        let begun =
            self.turns.last().is_some_and(|turn| !turn.user && (options.ends_with_user && !turn.is_paused() || turn.ends_in_thinking()));
        if self.turns.is_empty() {
            self.push(true, Piece::Text(NOTHING_YET.into()));
        } else if silent || begun {
            self.push(true, Piece::Text(GO_ON.into()));
        } else if let Some(block) =
            self.turns.last_mut().filter(|turn| !turn.user && turn.tool.is_empty()).and_then(|turn| turn.rest.last_mut())
        {
            trim(&mut block.of);
        }
    }

    /// Puts a breakpoint on the last block of the request so far that takes one: thinking does not, nor does what stands in it.
    fn mark(&mut self) {
        let marked = match self.last {
            Last::Nowhere => None,
            Last::Tools => self.tools.last_mut().map(|block| &mut block.marked),
            Last::System => self.system.last_mut().map(|block| &mut block.marked),
            Last::Turn => {
                let block = self.turns.iter_mut().rev().find_map(Turn::last_block).or(self.system.last_mut());
                block.map(|block| &mut block.marked)
            }
        };
        if let Some(marked) = marked {
            *marked = true;
        }
    }
}

impl<'a> Turn<'a> {
    /// From which no model goes on.
    fn ends_in_thinking(&self) -> bool {
        self.tool.is_empty() && self.rest.last().is_some_and(|block| is_thinking(&block.of))
    }

    /// Whether it calls tools of the program's.
    fn calls(&self) -> bool {
        !self.tool.is_empty() || self.rest.iter().any(|block| matches!(block.of, Piece::Call(_)))
    }

    /// In which the model paused for a tool that Anthropic runs, and from which it goes on.
    fn is_paused(&self) -> bool {
        let own = |block: &Block<Piece<'a>>| own_call(&block.of).is_some() || own_result(&block.of).is_some();
        !self.calls() && self.rest.iter().rev().find(|block| own(block)).is_some_and(|block| own_call(&block.of).is_some())
    }

    /// The last block that takes a breakpoint.
    fn last_block(&mut self) -> Option<&mut Block<Piece<'a>>> {
        let (first, second) = if self.user { (&mut self.tool, &mut self.rest) } else { (&mut self.rest, &mut self.tool) };
        second.iter_mut().chain(first.iter_mut()).rev().find(|block| !is_thinking(&block.of))
    }
}

/// Whether a reply of Claude's says something behind a call and must go back in its order, because thinking or a tool of Anthropic's
/// stands in it.
fn keeps_order(message: &Message) -> bool {
    let is_own = |part: &Part| matches!(part, Part::Vendor { format: Format::Anthropic, .. });
    let mut behind = message.parts.iter().skip_while(|part| !matches!(part, Part::ToolCall(_)));
    message.parts.iter().any(is_own) && behind.any(|part| is_own(part) || matches!(part, Part::Text(_)))
}

/// The field that goes back with a block, which stands behind it.
fn field_after(message: &Message, index: usize) -> Option<(&'static str, Box<str>)> {
    let Some(Part::Beside { format: Format::Anthropic, name, raw }) = message.parts.get(index + 1) else { return None };
    Some((name, value_beside(name, raw).into()))
}

/// A reply that is begun for the model may not end in white space.
fn trim(piece: &mut Piece<'_>) {
    let text = match piece {
        Piece::Text(text) => Some(text.clone()),
        Piece::Vendor(raw) => json::object(raw).filter(|_| kind(raw) == Some("\"text\"")).and_then(|block| json::text(block.get("text")?)),
        _ => None,
    };
    if let Some(text) = text.filter(|text| text.ends_with(char::is_whitespace)) {
        *piece = Piece::Text(text.trim_end().to_owned().into());
    }
}

/// A model's thinking, which must go back as it came.
fn is_thinking(piece: &Piece<'_>) -> bool {
    matches!(piece, Piece::Vendor(raw) if matches!(kind(raw), Some("\"thinking\"" | "\"redacted_thinking\"")))
}

/// The id of a call of a tool that Anthropic runs, as JSON.
fn own_call<'a>(piece: &Piece<'a>) -> Option<&'a str> {
    own(piece, "_tool_use\"", "id")
}

/// The id of the call whose result a block of Anthropic's is, as JSON.
fn own_result<'a>(piece: &Piece<'a>) -> Option<&'a str> {
    own(piece, "_tool_result\"", "tool_use_id")
}

fn own<'a>(piece: &Piece<'a>, ends: &str, id: &str) -> Option<&'a str> {
    let Piece::Vendor(raw) = piece else { return None };
    let block = Some(raw).filter(|raw| raw.contains(ends)).and_then(|raw| json::object(raw))?;
    block.get(id).filter(|_| block.get("type").is_some_and(|kind| kind.ends_with(ends)))
}

/// The type of a vendor's block, as JSON.
fn kind(raw: &str) -> Option<&str> {
    json::object(raw)?.get("type")
}

fn say_turn(out: &mut impl Parts, turn: &Turn<'_>, shape: Shape) {
    out.map(|out| {
        out.key("role");
        out.word(if turn.user { "user" } else { "assistant" });
        let (first, second) = if turn.user { (&turn.tool, &turn.rest) } else { (&turn.rest, &turn.tool) };
        out.key("content");
        out.list(|out| first.iter().chain(second).for_each(|block| say_block(out, block, shape)));
    });
}

fn say_block(out: &mut impl Parts, block: &Block<Piece<'_>>, shape: Shape) {
    let Block { of, marked, before, field } = block;
    let marked = *marked;
    match of {
        Piece::Text(text) => say_marked(out, marked, |out| {
            say_text(out, text);
            say_field(out, field.as_ref());
        }),
        Piece::Refusal(text) => say_marked(out, marked, |out| say_text(out, text)),
        Piece::Image(image) => say_marked(out, marked, |out| {
            say_type(out, "image");
            say_source(out, &image.source);
        }),
        Piece::Document(document) => say_marked(out, marked, |out| say_document(out, document)),
        Piece::Vendor(raw) | Piece::Beside(_, raw) => say_given(out, marked, raw),
        Piece::Call(call) => say_marked(out, marked, |out| {
            say_type(out, "tool_use");
            out.field("id", &tool_id(&call.id, *before));
            out.field("name", &called(&call.name, 128, false));
            out.key("input");
            out.json(&input(call));
            say_field(out, field.as_ref());
        }),
        Piece::Result(result) => say_marked(out, marked, |out| say_result(out, result, *before, shape)),
    }
}

fn say_field(out: &mut impl Parts, field: Option<&(&'static str, Box<str>)>) {
    if let Some((name, json)) = field {
        out.key(name);
        out.json(json);
    }
}

/// A block of these fields; a breakpoint on it is one more.
fn say_marked<P: Parts>(out: &mut P, marked: bool, fields: impl FnOnce(&mut P)) {
    out.map(|out| {
        fields(out);
        if marked {
            out.key("cache_control");
            out.json("{\"type\":\"ephemeral\"}");
        }
    });
}

/// A block that goes as it was given, perhaps with a breakpoint of its own.
fn say_given(out: &mut impl Parts, marked: bool, raw: &str) {
    match raw.strip_suffix('}').filter(|_| marked && !raw.ends_with(CACHE_CONTROL)) {
        Some(open) => out.json(&[open, CACHE_CONTROL].concat()),
        None => out.json(raw),
    }
}

fn say_tool(out: &mut impl Parts, tool: &Tool, marked: bool) {
    match &tool.function {
        Some(function) if tool.format != Format::Anthropic => say_marked(out, marked, |out| say_function(out, function)),
        Some(function) => say_given(out, marked, &tool.given_as(&called(&function.name, 128, false))),
        None => say_given(out, marked, &tool.given),
    }
}

fn say_function(out: &mut impl Parts, function: &Function) {
    say_named(out, function, 128, false);
    out.key("input_schema");
    out.json(function.parameters.as_deref().unwrap_or(NO_PARAMETERS));
}

fn say_result(out: &mut impl Parts, result: &ToolResult, before: usize, shape: Shape) {
    say_type(out, "tool_result");
    out.field("tool_use_id", &tool_id(&result.call_id, before));
    let pieces: Vec<Piece<'_>> = result_pieces(result, shape).collect();
    // Anthropic refuses an error that says nothing, and one with anything but text: such a result is sent as it is, and not marked.
    let marked = result.is_error && !pieces.is_empty() && pieces.iter().all(|piece| matches!(piece, Piece::Text(_)));
    if !pieces.is_empty() {
        out.key("content");
        out.list(|out| pieces.into_iter().for_each(|piece| say_block(out, &Block::new(piece), shape)));
    }
    if marked {
        out.key("is_error");
        out.json("true");
    }
}

/// Anthropic takes letters, digits, `_` and `-`; other characters are spelled by their number, so that ids stay distinct. An empty one is
/// a hash, as elsewhere, and one that `before` calls had is numbered.
fn tool_id(id: &str, before: usize) -> String {
    let mut out = if id.is_empty() { CallIds::Word(24).id(id) } else { String::with_capacity(id.len()) };
    for character in id.chars() {
        if character.is_ascii_alphanumeric() || matches!(character, '_' | '-') {
            out.push(character);
        } else {
            write!(out, "_x{:X}_", u32::from(character)).expect("writing to a String cannot fail");
        }
    }
    if before > 0 {
        write!(out, "_again_{before}").expect("writing to a String cannot fail");
    }
    out
}

fn say_document(out: &mut impl Parts, document: &Document) {
    say_type(out, "document");
    say_source(out, &document.source);
    for (key, text) in [("title", &document.title), ("context", &document.context)] {
        if let Some(text) = text {
            out.field(key, text);
        }
    }
    if let Some(citations) = &document.citations {
        out.key("citations");
        out.json(citations);
    }
}

fn say_source(out: &mut impl Parts, source: &Source) {
    out.key("source");
    out.map(|out| match source {
        Source::Url(url) => {
            say_type(out, "url");
            out.field("url", url);
        }
        Source::Base64 { media_type, data } => say_data(out, "base64", media_type, data),
        Source::Text(text) => say_data(out, "text", "text/plain", text),
    });
}

fn say_data(out: &mut impl Parts, kind: &'static str, media_type: &str, data: &str) {
    say_type(out, kind);
    out.field("media_type", media_type);
    out.field("data", data);
}
