//! `OpenAI` responses: `model`, `tools`, `input` as items, then what changes from call to call.
//!
//! Nothing is stored at the provider (`store: false`), so every call says everything: a model's reasoning goes back as the encrypted
//! item that it came as, before the calls that it led to. A call and its output are items of their own. Source: `OpenAI` API reference,
//! "Create a model response"; guide "Reasoning models", encrypted reasoning items.

use std::borrow::Cow;

use super::super::dialect::{CallIds, Responses, called, is_reasoning};
use super::super::lower::{Piece, pieces, result_pieces, result_text};
use super::super::message::{Detail, Document, Format, Image, Message, Role, Shape, Source, ToolCall, ToolResult};
use super::super::prompt::Prompt;
use super::super::segment::Body;
use super::super::tools::{Function, Tool};
use super::rounds::{Step, steps};
use super::{GO_ON, NO_PARAMETERS, NOTHING_YET, RequestOptions, say_named, say_source, say_type};
use crate::plain::make::Parts;

/// Ids of calls have at most 64 bytes.
const IDS: CallIds = CallIds::Any(64);

pub(super) fn say(prompt: &Prompt, options: RequestOptions<'_>, out: &mut impl Parts) {
    let shape = Shape { format: Format::Responses, ..prompt.shape };
    let mut items = Items { shape, takes: options.responses, ..Items::default() };
    let mut block = None;
    for step in steps(&prompt.segments) {
        match step {
            Step::Results(message) => items.results(message),
            Step::Rest(message) => items.message(message, block.take()),
            Step::Whole(segment) => match &segment.body {
                Body::Tools(tools) => items.tools.extend(tools.tools.tools.iter().filter(|tool| is_sent(tool))),
                Body::Text(text) => items.plain(Role::System, &*text.text),
                Body::Block(waiting) => block = Some(&*waiting.text),
                Body::Message(_, stored) => items.message(&stored.message, block.take()),
            },
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
    out.map(|out| {
        if let Some(model) = options.model {
            out.field("model", model);
        }
        if !items.tools.is_empty() {
            out.key("tools");
            out.list(|out| items.tools.iter().for_each(|tool| say_tool(out, tool)));
        }
        out.key("input");
        out.list(|out| items.input.iter().for_each(|item| say_item(out, item, &items)));
        out.key("max_output_tokens");
        out.json(&prompt.max_output_tokens.max(16).to_string());
        out.key("store");
        out.json("false");
        if options.reasons {
            out.key("include");
            out.json("[\"reasoning.encrypted_content\"]");
        }
        if options.stream {
            out.key("stream");
            out.json("true");
        }
    });
}

struct Items<'a> {
    shape: Shape,
    /// The other parts than texts and calls that the model is sent.
    takes: Responses,
    tools: Vec<&'a Tool>,
    input: Vec<Item<'a>>,
    /// Ids of calls that took free text: their outputs are of another kind.
    custom: Vec<&'a str>,
    /// Who spoke last.
    last: Option<Role>,
}

enum Item<'a> {
    Text(Role, Cow<'a, str>),
    Parts(Role, Vec<Piece<'a>>),
    Call(&'a ToolCall),
    /// The result of a call, and whether that took free text.
    Output(&'a ToolResult, bool),
    Vendor(&'a str),
}

impl Default for Items<'_> {
    fn default() -> Self {
        Self {
            shape: Format::Responses.into(),
            takes: Responses::ALL,
            tools: Vec::new(),
            input: Vec::new(),
            custom: Vec::new(),
            last: None,
        }
    }
}

impl<'a> Items<'a> {
    fn plain(&mut self, role: Role, text: impl Into<Cow<'a, str>>) {
        self.push(role, Item::Text(role, text.into()));
    }

    fn push(&mut self, role: Role, item: Item<'a>) {
        self.input.push(item);
        self.last = Some(if role == Role::Developer { Role::System } else { role });
    }

    fn message(&mut self, message: &'a Message, block: Option<&'a str>) {
        let own = pieces(message, self.shape);
        if message.role == Role::Assistant { self.assistant(own) } else { self.given(message, own, block) }
    }

    /// The texts and calls of a model, in its order.
    fn assistant(&mut self, pieces: impl Iterator<Item = Piece<'a>>) {
        // Reasoning is refused without the item that it led to.
        let mut held: Vec<&str> = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Vendor(raw) if !self.takes.takes(raw) => continue,
                Piece::Vendor(raw) if is_reasoning(raw) => {
                    held.push(raw);
                    continue;
                }
                _ => {}
            }
            for raw in held.drain(..) {
                self.push(Role::Tool, Item::Vendor(raw));
            }
            match piece {
                Piece::Text(text) => self.plain(Role::Assistant, text),
                Piece::Refusal(text) => self.plain(Role::Assistant, text),
                Piece::Call(call) => {
                    if call.custom {
                        self.custom.push(&call.id);
                    }
                    self.push(Role::Tool, Item::Call(call));
                }
                Piece::Vendor(raw) => self.push(Role::Tool, Item::Vendor(raw)),
                Piece::Image(_) => self.plain(Role::Assistant, "[image]"),
                Piece::Document(_) => self.plain(Role::Assistant, "[document]"),
                Piece::Result(_) | Piece::Beside(..) => {}
            }
        }
    }

    fn results(&mut self, message: &'a Message) {
        for result in message.tool_results() {
            let custom = self.custom.contains(&&*result.call_id);
            self.push(Role::Tool, Item::Output(result, custom));
        }
    }

    /// The input of the model besides results, as a message of parts.
    fn given(&mut self, message: &'a Message, pieces: impl Iterator<Item = Piece<'a>>, block: Option<&'a str>) {
        let own = pieces.filter(|piece| !matches!(piece, Piece::Call(_) | Piece::Result(_)));
        let mut parts: Vec<Piece<'_>> = block.map(|text| Piece::Text(text.into())).into_iter().chain(own).collect();
        if parts.is_empty() {
            return;
        }
        if let Some(name) = &message.name {
            parts.insert(0, Piece::Text(format!("({name})").into()));
        }
        self.push(message.role, Item::Parts(message.role, parts));
    }
}

fn say_item(out: &mut impl Parts, item: &Item<'_>, items: &Items<'_>) {
    match item {
        Item::Text(role, text) => say_message(out, *role, |out| out.text(text)),
        Item::Parts(role, parts) => say_message(out, *role, |out| out.list(|out| parts.iter().for_each(|piece| say_part(out, piece)))),
        Item::Call(call) => say_call(out, call),
        Item::Output(result, custom) => say_output(out, result, *custom, items),
        Item::Vendor(raw) => out.json(raw),
    }
}

fn say_message<P: Parts>(out: &mut P, role: Role, content: impl FnOnce(&mut P)) {
    out.map(|out| {
        say_type(out, "message");
        out.key("role");
        out.word(if role == Role::Tool { "user" } else { role.name() });
        out.key("content");
        content(out);
    });
}

fn say_part(out: &mut impl Parts, piece: &Piece<'_>) {
    match piece {
        Piece::Text(text) => say_text(out, text),
        Piece::Refusal(text) => say_text(out, text),
        Piece::Image(image) => say_image(out, image),
        Piece::Document(document) => say_file(out, document),
        Piece::Vendor(raw) => out.json(raw),
        Piece::Call(_) | Piece::Result(_) | Piece::Beside(..) => {}
    }
}

fn say_text(out: &mut impl Parts, text: &str) {
    out.map(|out| {
        say_type(out, "input_text");
        out.field("text", text);
    });
}

fn say_image(out: &mut impl Parts, image: &Image) {
    out.map(|out| {
        say_type(out, "input_image");
        say_source(out, "image_url", &image.source);
        out.key("detail");
        out.word(match image.detail {
            Detail::Auto => "auto",
            Detail::Low => "low",
            Detail::High => "high",
        });
    });
}

fn say_file(out: &mut impl Parts, document: &Document) {
    out.map(|out| {
        say_type(out, "input_file");
        if let Source::Url(url) = &document.source {
            out.field("file_url", url);
        } else {
            out.field("filename", document.title.as_deref().unwrap_or("document"));
            say_source(out, "file_data", &document.source);
        }
    });
}

fn say_call(out: &mut impl Parts, call: &ToolCall) {
    let (kind, arguments) = if call.custom { ("custom_tool_call", "input") } else { ("function_call", "arguments") };
    out.map(|out| {
        say_type(out, kind);
        out.field("call_id", &IDS.id(&call.id));
        out.field("name", &called(&call.name, 64, false));
        out.field(arguments, &call.arguments);
    });
}

fn say_output(out: &mut impl Parts, result: &ToolResult, custom: bool, items: &Items<'_>) {
    let named = (!items.takes.own && result.images).then(|| ToolResult { images: false, ..result.clone() });
    let result = named.as_ref().unwrap_or(result);
    out.map(|out| {
        say_type(out, if custom { "custom_tool_call_output" } else { "function_call_output" });
        out.field("call_id", &IDS.id(&result.call_id));
        let pieces: Vec<Piece<'_>> = result_pieces(result, items.shape).collect();
        if pieces.iter().any(|piece| matches!(piece, Piece::Image(_) | Piece::Vendor(_))) {
            out.key("output");
            out.list(|out| pieces.iter().for_each(|piece| say_part(out, piece)));
        } else {
            out.field("output", &result_text(result, items.shape));
        }
    });
}

fn is_sent(tool: &Tool) -> bool {
    tool.function.is_some() || matches!(tool.format, Format::OpenAi | Format::Responses)
}

fn say_tool(out: &mut impl Parts, tool: &Tool) {
    match &tool.function {
        Some(function) => say_function(out, function),
        None => out.json(&tool.given),
    }
}

fn say_function(out: &mut impl Parts, function: &Function) {
    out.map(|out| {
        say_type(out, "function");
        say_named(out, function, 64, false);
        out.key("parameters");
        out.json(function.parameters.as_deref().unwrap_or(NO_PARAMETERS));
        // Where it is left out, schemas of this API are strict, and most are not written for that.
        out.key("strict");
        out.json("false");
    });
}
