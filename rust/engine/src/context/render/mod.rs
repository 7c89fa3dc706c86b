//! The request body for a provider: a pure function of a prompt's segments.
//!
//! Equal neutral prefixes render to equal bytes, since each segment is written without looking ahead further than the message
//! it travels with. Options that change from call to call stand behind the messages.

mod anthropic;
mod arrange;
mod body;
mod gemini;
mod openai;
mod responses;
mod rounds;
mod text;

pub use openai::openai_prefix;
pub use text::to_text;

use std::borrow::Cow;

use super::dialect::{Dialect, Responses, called};
use super::json;
use super::message::{Format, Source, ToolCall};
use super::prompt::Prompt;
use super::tools::Function;
use crate::plain::make::Parts;
use body::Body;

/// The fields of a request besides the prompt.
#[derive(Debug, Clone, Copy, Default)]
pub struct RequestOptions<'a> {
    /// The model's name as the provider spells it; left out if `None`.
    pub model: Option<&'a str>,
    /// Ask for a stream.
    pub stream: bool,
    /// The server's own rules of a chat completion; `None` is `OpenAI`'s.
    pub dialect: Option<&'static Dialect>,
    /// The model takes no reply that is begun for it: the request must end with the user.
    pub ends_with_user: bool,
    /// The model thinks before it answers: its encrypted reasoning is asked for.
    pub reasons: bool,
    /// The parts of `OpenAI`'s responses that the model is sent.
    pub responses: Responses,
}

impl<'a> RequestOptions<'a> {
    /// A model's name and whether to stream; everything else as `OpenAI` has it.
    #[must_use]
    pub const fn new(model: Option<&'a str>, stream: bool) -> Self {
        Self { model, stream, dialect: None, ends_with_user: false, reasons: false, responses: Responses::ALL }
    }
}

/// The schema of a function that takes nothing, where there must be one.
const NO_PARAMETERS: &str = "{\"type\":\"object\",\"properties\":{}}";

/// Says the keyword arguments of the call that sends a prompt, part by part.
pub fn say(prompt: &Prompt, format: Format, options: RequestOptions<'_>, out: &mut impl Parts) {
    match format {
        Format::OpenAi => openai::say(prompt, options, out),
        Format::Anthropic => anthropic::say(prompt, options, out),
        Format::Responses => responses::say(prompt, options, out),
        Format::Gemini => gemini::say(prompt, options, out),
    }
}

/// The keyword arguments of a call as JSON.
#[must_use]
pub fn to_json(prompt: &Prompt, format: Format, options: RequestOptions<'_>) -> Vec<u8> {
    Body::of(&prompt.segments, |out| say(prompt, format, options, out))
}

/// The keyword arguments of `client.chat.completions.create` as JSON: for tests and benches. Programs call [`say`].
#[must_use]
pub fn to_openai(prompt: &Prompt, options: RequestOptions<'_>) -> Vec<u8> {
    to_json(prompt, Format::OpenAi, options)
}

/// The keyword arguments of `client.messages.create` as JSON: for tests and benches. Programs call [`say`].
#[must_use]
pub fn to_anthropic(prompt: &Prompt, options: RequestOptions<'_>) -> Vec<u8> {
    to_json(prompt, Format::Anthropic, options)
}

/// The user's first text where history begins with the assistant because it was cut.
const CUT: &str = "(The conversation so far was cut; it goes on with the assistant's message.)";
/// The user's first text where the assistant did begin the conversation.
const ASSISTANT_FIRST: &str = "(The assistant speaks first.)";
/// The user's text where nobody has said anything.
const NOTHING_YET: &str = "(Nothing was said yet.)";
/// The user's last text where the assistant would speak last.
const GO_ON: &str = "(Go on.)";
/// The text in the place of the call of a vendor's own tool whose result never came.
const STOPPED: &str = "(Stopped here.)";

/// The user's text before the assistant's first message.
fn beginning(prompt: &Prompt) -> &'static str {
    if prompt.is_cut() { CUT } else { ASSISTANT_FIRST }
}

fn say_type(out: &mut impl Parts, kind: &'static str) {
    out.key("type");
    out.word(kind);
}

/// The fields of a text part: the same in both formats.
fn say_text(out: &mut impl Parts, text: &str) {
    say_type(out, "text");
    out.field("text", text);
}

/// The name of a function, as [`called`] spells it in calls, and its description: the same in all formats.
fn say_named(out: &mut impl Parts, function: &Function, most: usize, dotted: bool) {
    out.field("name", &called(&function.name, most, dotted));
    if let Some(description) = &function.description {
        out.field("description", description);
    }
}

/// A link, or the bytes themselves in one.
fn say_source(out: &mut impl Parts, key: &'static str, source: &Source) {
    match source {
        Source::Url(text) | Source::Text(text) => out.field(key, text),
        Source::Base64 { media_type, data } => out.field(key, &format!("data:{media_type};base64,{data}")),
    }
}

/// Arguments stand at most so deep: a request must be read again where it is sent, and no reader goes as deep as a model may write.
const DEEPEST_ARGUMENTS: usize = crate::limits::MAX_JSON_DEPTH - 28;

/// The arguments of a call as a JSON object, as everybody but `OpenAI` takes them: what is not an object, is one too deep, or has numbers that
/// no reader holds, is wrapped.
fn input(call: &ToolCall) -> Cow<'_, str> {
    let given = call.arguments.trim();
    if given.is_empty() {
        return "{}".into();
    }
    let can_be_read = || json::depth(given) <= DEEPEST_ARGUMENTS && serde_json::from_str::<serde_json::Value>(given).is_ok();
    if !call.custom && json::is_object(given) && can_be_read() {
        return given.into();
    }
    let mut wrapped = b"{\"input\":".to_vec();
    json::write_text(&mut wrapped, &call.arguments);
    wrapped.push(b'}');
    String::from_utf8_lossy(&wrapped).into_owned().into()
}
