//! The frame that each vendor puts around messages, tool schemas and requests: their cost beyond their texts.
//!
//! `tokens(request) = reply + sum over messages (per_message + role + name + parts) + tools`. Each text is counted by itself,
//! so counts of messages add exactly. The numbers are observed, not published as a contract:
//! - per message 3, per name 1, reply 3; a tool schema: 7 (gpt-4: 10) to begin, 3 for its properties and 3 for each, -3 and 3
//!   per value of an enum, 12 to end all of them, and the lines `name:description` and `property:type:description` without
//!   their full stop: `OpenAI` cookbook, "How to count tokens with tiktoken", sections 6 and 7 (2024-08). Parts for
//!   which that recipe has no rule (nested schemas, defaults, bounds) are counted as their JSON text, which is more than they cost.
//! - per tool call 3, its arguments, and its name twice: once in the call and once in the frame of its result. Makes 35 for
//!   the pair whose `usage` is reported in forestwanglin/openai-java issue 5 (2024-01); 3 also hmarr/openai-chat-tokens.
//! - images: [`super::image`]. Files: Anthropic, "PDF support": up to 3,000 tokens of text a page and the page as an image.
//! - Gemini: Google's SDK (google-genai 3.4, `local_tokenizer.py`) counts the texts of messages, calls, results and schemas by `gemma3`, and
//!   nothing around them; in Google's own example a request bills 11 for a text of 10 ("Understand and count tokens"). No rule is published, so
//!   the frame is a bound, Gemma's own chat template: 4 a message and its role, 3 to begin the reply. Calls and schemas count as above, which
//!   is more than the SDK counts, and the names of a schema's `required` once more. 258 tokens a page of a PDF, 32 a second of audio.
//!
//! For closed tokenizers the same structure is counted with a reference encoding and a [`Factor`](crate::tokens::Factor) bounds what is unknown.
//! It does not tokenise: that is the [`Counter`].

use serde_json::Value;

use super::dialect::{Responses, Server, called};
use super::image::{Cost, ImageRule};
use super::json;
use super::lower::{Piece, is_left_out, pieces, result_pieces, takes};
use super::message::{Document, Format, Media, Message, Part, Role, Shape, Source, ToolCall, ToolResult};
use super::tools::{Function, Tool, Tools};
use crate::tokens::Counter;

/// The frame of one model's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framing {
    /// The shape that is sent.
    pub format: Format,
    /// Tokens around each message.
    pub per_message: u64,
    /// Tokens around a name.
    pub per_name: u64,
    /// Tokens around a tool call.
    pub per_tool_call: u64,
    /// Tokens that begin the reply.
    pub reply: u64,
    /// Tokens that begin each tool schema.
    pub per_tool: u64,
    /// The price of images.
    pub images: ImageRule,
    /// The media besides text that the model takes.
    pub media: Media,
}

impl Framing {
    /// gpt-4o and later; gpt-4o-mini has other [`ImageRule::Tiles`], gpt-4.1-mini and o4-mini [`ImageRule::Patches`].
    pub const GPT_4O: Self = Self {
        format: Format::OpenAi,
        per_message: 3,
        per_name: 1,
        per_tool_call: 3,
        reply: 3,
        per_tool: 7,
        images: ImageRule::Tiles { base: 85, tile: 170 },
        media: Media::ALL,
    };

    /// gpt-4 and gpt-3.5-turbo.
    pub const GPT_4: Self = Self { per_tool: 10, ..Self::GPT_4O };

    /// Claude, to be used with a [`Factor`](crate::tokens::Factor).
    pub const ANTHROPIC: Self = Self { format: Format::Anthropic, per_tool_call: 12, images: ImageRule::Anthropic, ..Self::GPT_4O };

    /// Gemini up to 2.5, a bound.
    pub const GEMINI: Self = Self { per_message: 4, images: ImageRule::GeminiTiles, ..Self::GPT_4O };

    /// Gemini from 3 on, the same with another price of images.
    pub const GEMINI_3: Self = Self { images: ImageRule::GeminiResolution, ..Self::GEMINI };

    /// Whether even a message of plain text is counted by a bound, because nobody has published what stands around it.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        matches!(self.images, ImageRule::GeminiTiles | ImageRule::GeminiResolution)
    }

    /// The shape of its requests.
    #[must_use]
    pub fn shape(&self) -> Shape {
        Shape { format: self.format, media: self.media, converse: false }
    }

    /// A message of plain text, as the fixed sections are sent.
    #[must_use]
    pub fn text(&self, role: Role, text: &str, counter: &dyn Counter) -> u64 {
        self.frame(role, None, counter) + counter.count(text)
    }

    /// The frame of a message.
    #[must_use]
    pub fn frame(&self, role: Role, name: Option<&str>, counter: &dyn Counter) -> u64 {
        let count = |name| counter.count(name).max(counter.count(&called(name, 64, false)));
        self.per_message + counter.count(role.name()) + name.map_or(0, |name| self.per_name + count(name))
    }

    /// A message as it is sent in this format to any server. `OpenAI` takes each tool result as a message of its own.
    #[must_use]
    pub fn message(&self, message: &Message, counter: &dyn Counter) -> Cost {
        self.message_to(None, message, counter)
    }

    /// The cost of a message as a server takes it, where the server is known: without thinking, signatures and images that it is not sent.
    #[must_use]
    pub fn message_to(&self, server: Option<Server>, message: &Message, counter: &dyn Counter) -> Cost {
        let mut tally = CostTally { tokens: 0, bounded: self.is_bound() };
        let mut alone = false;
        let chats = server.filter(|_| self.format == Format::OpenAi).map(|server| server.dialect);
        for piece in pieces(message, self.shape()).filter(|piece| chats.is_none() || takes(piece, chats)) {
            alone |= !matches!(piece, Piece::Result(_));
            self.piece(&piece, counter, &mut tally);
        }
        if alone || message.tool_results().next().is_none() {
            tally.add(self.frame(message.role, message.name.as_deref(), counter));
        }
        for part in &message.parts {
            tally.merge(self.kept(part, server, counter));
        }
        tally.cost()
    }

    /// The text that is shown for `call` if it has no result ([`super::turns::interrupted`]).
    #[must_use]
    pub fn interrupted(&self, call_id: &str, counter: &dyn Counter) -> u64 {
        self.message(&super::turns::interrupted(call_id), counter).tokens
    }

    /// The parts that the model's other APIs take: encrypted reasoning and signatures, about four characters of base64 a token, images of
    /// results, and files.
    fn kept(&self, part: &Part, server: Option<Server>, counter: &dyn Counter) -> Cost {
        match part {
            Part::Vendor { format, raw } | Part::Beside { format: format @ Format::Gemini, raw, .. }
                if self.keeps(*format, raw, server) =>
            {
                Cost { tokens: (raw.len() as u64).div_ceil(4), exact: false }
            }
            Part::ToolResult(result) if result.images && self.format == Format::OpenAi && responses(server).own => {
                let mut tally = CostTally { tokens: 0, bounded: self.is_bound() };
                for piece in result_pieces(result, Shape { format: Format::Responses, ..self.shape() }) {
                    if let Piece::Image(image) = piece {
                        tally.merge(self.images.cost(&image));
                    }
                }
                tally.cost()
            }
            Part::Document(document) if is_left_out(document, self.shape()) => self.document(document, counter),
            _ => Cost { tokens: 0, exact: true },
        }
    }

    /// Whether another API of the model than its chat completions may be sent a part of a shape.
    fn keeps(&self, format: Format, raw: &str, server: Option<Server>) -> bool {
        self.format == Format::OpenAi
            && match format {
                Format::Responses => responses(server).takes(raw),
                Format::Gemini => server.is_none() || self.is_bound(),
                Format::OpenAi | Format::Anthropic => false,
            }
    }

    fn piece(&self, piece: &Piece<'_>, counter: &dyn Counter, tally: &mut CostTally) {
        match piece {
            Piece::Text(text) => tally.add(counter.count(text)),
            Piece::Refusal(text) => tally.add(counter.count(text)),
            Piece::Image(image) => tally.merge(self.images.cost(image)),
            Piece::Document(document) => tally.merge(self.document(document, counter)),
            Piece::Call(call) => tally.add(self.call(call, counter)),
            Piece::Result(result) => self.result(result, counter, tally),
            Piece::Vendor(raw) | Piece::Beside(_, raw) => tally.merge(self.vendor(raw, counter)),
        }
    }

    fn call(&self, call: &ToolCall, counter: &dyn Counter) -> u64 {
        self.per_tool_call + 2 * counter.count(&call.name) + counter.count(&call.arguments)
    }

    fn result(&self, result: &ToolResult, counter: &dyn Counter, tally: &mut CostTally) {
        tally.add(self.frame(Role::Tool, None, counter));
        for piece in result_pieces(result, self.shape()) {
            self.piece(&piece, counter, tally);
        }
    }

    fn document(&self, document: &Document, counter: &dyn Counter) -> Cost {
        let named = [&document.title, &document.context].into_iter().flatten().map(|text| counter.count(text)).sum::<u64>();
        match &document.source {
            Source::Text(text) => Cost { tokens: named + counter.count(text), exact: true },
            Source::Base64 { data, .. } => Cost { tokens: named + pages(data.len() as u64) * self.page(), exact: false },
            Source::Url(_) => Cost { tokens: named + UNSEEN_PAGES * self.page(), exact: false },
        }
    }

    /// The most a page of a PDF costs.
    fn page(&self) -> u64 {
        match self.images {
            ImageRule::GeminiTiles => 258,
            // At the medium resolution, which documents have where none is set.
            ImageRule::GeminiResolution => 560,
            _ => PAGE_TOKENS,
        }
    }

    /// A vendor's own block: its JSON text bounds it, except files, images, and audio of at least 1 KB a second.
    fn vendor(&self, raw: &str, counter: &dyn Counter) -> Cost {
        let kind = json::object(raw).and_then(|block| block.get("type")).and_then(json::text).unwrap_or_default();
        let second = if self.is_bound() { 32 } else { 10 };
        let tokens = match &*kind {
            "input_audio" => (raw.len() as u64 * 3 / 4 * second).div_ceil(1_000),
            "file" | "document" => UNSEEN_PAGES * self.page(),
            "image" => LARGEST_IMAGE,
            _ => counter.count(raw),
        };
        Cost { tokens, exact: false }
    }

    /// All schemas together.
    #[must_use]
    pub fn tools(&self, tools: &Tools, counter: &dyn Counter) -> u64 {
        tools.tools.iter().map(|tool| self.tool(tool, counter)).sum::<u64>() + TOOLS_END
    }

    /// How long names of functions are sent, and whether with their dots ([`called`]). Gemini has an API with dots and one without.
    fn spellings(&self) -> &'static [(usize, bool)] {
        match self.format {
            _ if self.is_bound() => &[(64, false), (64, true)],
            Format::Anthropic => &[(128, false)],
            _ => &[(64, false)],
        }
    }

    fn tool(&self, tool: &Tool, counter: &dyn Counter) -> u64 {
        match &tool.function {
            Some(function) => {
                let repeated = if self.is_bound() { repeated(function, counter) } else { 0 };
                self.per_tool + function_tokens(function, self.spellings(), counter) + repeated
            }
            None if tool.format == self.format || tool.format == Format::Gemini && self.is_bound() => {
                self.per_tool + counter.count(&tool.given)
            }
            None => 0,
        }
    }
}

/// The parts of responses that a server is sent.
fn responses(server: Option<Server>) -> Responses {
    server.map_or(Responses::ALL, |server| server.responses)
}

const TOOLS_END: u64 = 12;
const PROPERTIES_BEGIN: u64 = 3;
const PER_PROPERTY: u64 = 3;
const ENUM_BEGIN: i64 = -3;
const PER_ENUM_VALUE: u64 = 3;

/// The most a page of a PDF costs: 3,000 tokens of text, and its image.
const PAGE_TOKENS: u64 = 3_000 + 1_568;
/// Pages counted for a file whose size is not known.
const UNSEEN_PAGES: u64 = 8;
/// The most an image costs whose size is not known, with Anthropic.
const LARGEST_IMAGE: u64 = 1_568;

/// Pages that a file of `base64` characters may have: one for each 3 KiB, at most 100.
fn pages(base64: u64) -> u64 {
    (base64 / 4 * 3).div_ceil(3_072).clamp(1, 100)
}

fn function_tokens(function: &Function, spellings: &[(usize, bool)], counter: &dyn Counter) -> u64 {
    let description = function.description.as_deref().unwrap_or_default();
    let line = |name: &str| counter.count(&format!("{name}:{}", without_stop(description)));
    let names = spellings.iter().map(|(most, dotted)| called(&function.name, *most, *dotted));
    names.map(|name| line(&name)).max().unwrap_or_default() + schema_tokens(&schema(function), counter)
}

fn schema(function: &Function) -> Value {
    function.parameters.as_deref().and_then(|raw| serde_json::from_str(raw).ok()).unwrap_or(Value::Null)
}

/// The parts of a schema that Gemini counts and the recipe passes over: the description of all of it, and the names that are required.
fn repeated(function: &Function, counter: &dyn Counter) -> u64 {
    let schema = schema(function);
    counter.count(schema["description"].as_str().unwrap_or_default()) + required(&schema, counter)
}

fn required(schema: &Value, counter: &dyn Counter) -> u64 {
    match schema {
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| match value {
                Value::Array(names) if key == "required" => names.iter().filter_map(Value::as_str).map(|name| counter.count(name)).sum(),
                other => required(other, counter),
            })
            .sum(),
        Value::Array(items) => items.iter().map(|item| required(item, counter)).sum(),
        _ => 0,
    }
}

fn without_stop(text: &str) -> &str {
    text.strip_suffix('.').unwrap_or(text)
}

/// The properties of a schema, and as JSON text what the recipe has no rule for.
fn schema_tokens(schema: &Value, counter: &dyn Counter) -> u64 {
    let Some(fields) = schema.as_object() else { return 0 };
    let mut tokens = 0;
    for (key, value) in fields {
        tokens += match (key.as_str(), value) {
            ("properties", Value::Object(properties)) if properties.is_empty() => 0,
            ("properties", Value::Object(properties)) => {
                PROPERTIES_BEGIN + properties.iter().map(|(name, property)| property_tokens(name, property, counter)).sum::<u64>()
            }
            ("items", Value::Object(_)) => property_tokens("", value, counter),
            ("enum", Value::Array(values)) => enum_tokens(values, counter),
            ("type" | "description" | "required" | "additionalProperties" | "$schema" | "title" | "strict", _) if is_plain(value) => 0,
            _ => counter.count(&format!("{key}:{value}")),
        };
    }
    tokens
}

/// Whether a keyword's value is one the recipe passes over; a schema there would be text the model sees.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Object(_) => false,
        Value::Array(items) => items.iter().all(Value::is_string),
        _ => true,
    }
}

fn property_tokens(name: &str, property: &Value, counter: &dyn Counter) -> u64 {
    let kind = match &property["type"] {
        Value::String(kind) => kind.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let description = property["description"].as_str().unwrap_or_default();
    let line = format!("{name}:{kind}:{}", without_stop(description));
    PER_PROPERTY + counter.count(&line) + schema_tokens(property, counter)
}

fn enum_tokens(values: &[Value], counter: &dyn Counter) -> u64 {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let each = values.iter().map(|value| PER_ENUM_VALUE + counter.count(&text(value))).sum::<u64>();
    each.saturating_add_signed(ENUM_BEGIN)
}

#[derive(Default)]
struct CostTally {
    tokens: u64,
    bounded: bool,
}

impl CostTally {
    fn add(&mut self, tokens: u64) {
        self.tokens += tokens;
    }

    fn merge(&mut self, cost: Cost) {
        self.tokens += cost.tokens;
        self.bounded |= !cost.exact;
    }

    fn cost(&self) -> Cost {
        Cost { tokens: self.tokens, exact: !self.bounded }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A token a byte: what shows every text that is left out.
    struct Bytes;

    impl Counter for Bytes {
        fn count(&self, text: &str) -> u64 {
            text.len() as u64
        }
    }

    /// The texts that Google's SDK counts of a schema (google-genai 3.4, `_TextsAccumulator.add_schema`).
    fn counted(schema: &Value) -> u64 {
        let text = |key: &str| schema[key].as_str().map_or(0, |text| text.len() as u64);
        let texts =
            |key: &str| schema[key].as_array().into_iter().flatten().filter_map(Value::as_str).map(|text| text.len() as u64).sum::<u64>();
        let properties =
            schema["properties"].as_object().into_iter().flatten().map(|(name, property)| name.len() as u64 + counted(property));
        let items = schema.get("items").map_or(0, counted);
        text("format") + text("description") + texts("enum") + texts("required") + items + properties.sum::<u64>()
    }

    #[test]
    fn gemini_counts_no_less_than_googles_sdk() {
        let schema = serde_json::json!({
            "type": "object", "description": "All of it.", "required": ["city", "days", "where"],
            "properties": {
                "city": {"type": "string", "description": "A city", "enum": ["Paris", "Rome"]},
                "days": {"type": "array", "items": {"type": "string", "format": "date", "description": "A day"}},
                "where": {"type": "object", "required": ["at"], "properties": {"at": {"type": "number", "format": "float"}}},
            },
        });
        let tool =
            serde_json::json!([{"type": "function", "function": {"name": "weather", "description": "The weather.", "parameters": schema}}]);
        let tools = Tools::parse(tool.to_string().as_bytes()).expect("tools").expect("a tool");
        let sdk = "weather".len() as u64 + "The weather.".len() as u64 + counted(&schema);
        for framing in [Framing::GEMINI, Framing::GEMINI_3] {
            assert!(framing.tools(&tools, &Bytes) >= sdk && framing.is_bound());
        }
        assert!(Framing::GPT_4O.tools(&tools, &Bytes) < Framing::GEMINI.tools(&tools, &Bytes) && !Framing::GPT_4O.is_bound());
    }
}
