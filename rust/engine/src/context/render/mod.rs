//! The request body for a provider: a pure function of a prompt's segments.
//!
//! Equal neutral prefixes render to equal bytes, since each segment is written without looking ahead further than the message
//! it travels with. Options that change from call to call stand behind the messages.

mod anthropic;
mod arrange;
mod gemini;
mod openai;
mod responses;
mod text;

pub use anthropic::to_anthropic;
pub use gemini::to_gemini;
pub use openai::{openai_prefix, to_openai};
pub use responses::to_responses;
pub use text::to_text;

use std::borrow::Cow;

use super::dialect::Dialect;
use super::json;
use super::message::ToolCall;
use super::prompt::Prompt;

/// What stands in a request besides the prompt.
#[derive(Debug, Clone, Copy, Default)]
pub struct RequestOptions<'a> {
    /// The model's name as the provider spells it; left out if `None`.
    pub model: Option<&'a str>,
    /// Ask for a stream.
    pub stream: bool,
    /// The server's own rules of a chat completion; `None` is `OpenAI`'s.
    pub dialect: Option<&'a Dialect>,
    /// The model takes no reply that is begun for it: the request must end with the user.
    pub ends_with_user: bool,
    /// The model thinks before it answers: its encrypted reasoning is asked for.
    pub reasons: bool,
}

impl<'a> RequestOptions<'a> {
    /// A model's name and whether to stream; everything else as `OpenAI` has it.
    #[must_use]
    pub const fn new(model: Option<&'a str>, stream: bool) -> Self {
        Self { model, stream, dialect: None, ends_with_user: false, reasons: false }
    }
}

/// What the user says first where history begins with the assistant because it was cut.
const CUT: &str = "(The conversation so far was cut; it goes on with the assistant's message.)";
/// The same where the assistant did begin.
const ASSISTANT_FIRST: &str = "(The assistant speaks first.)";
/// What the user says where nobody has said anything.
const NOTHING_YET: &str = "(Nothing was said yet.)";
/// What the user says last where the assistant would.
const GO_ON: &str = "(Go on.)";

/// What a user says before the assistant's first message.
fn beginning(prompt: &Prompt) -> &'static str {
    if prompt.is_cut() { CUT } else { ASSISTANT_FIRST }
}

/// Writes the elements of a JSON list or the fields of an object with commas between.
struct Commas {
    first: bool,
}

impl Commas {
    fn new() -> Self {
        Self { first: true }
    }

    fn next(&mut self, out: &mut Vec<u8>) {
        if !std::mem::take(&mut self.first) {
            out.push(b',');
        }
    }
}

fn write_field(out: &mut Vec<u8>, key: &str, text: &str) {
    out.push(b'"');
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":");
    json::write_text(out, text);
}

/// `{"type":"text","text":...}`: the same in both formats.
fn write_text_part(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(b"{\"type\":\"text\",");
    write_field(out, "text", text);
    out.push(b'}');
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
    let mut wrapped = b"{".to_vec();
    write_field(&mut wrapped, "input", &call.arguments);
    wrapped.push(b'}');
    String::from_utf8_lossy(&wrapped).into_owned().into()
}
