//! How a server's chat completions differ from `OpenAI`'s: data, one row for each server, in `models/data/dialects.tsv`.
//!
//! `render/arrange.rs` applies a row. Facts that no rendering needs (strict schemas, values of a tool choice, how reasoning is
//! requested) are kept for programs that choose by them.

use std::borrow::Cow;

use xxhash_rust::xxh3::xxh3_64;

use super::json;

/// Which ids of tool calls a server takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallIds {
    /// Any text of at most so many bytes.
    Any(usize),
    /// Exactly so many letters and digits.
    Alphanumeric(usize),
    /// Letters, digits, `_` and `-`, at most so many.
    Word(usize),
}

/// A server's rules.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // rules are kept or not
pub struct Dialect {
    /// Its name.
    pub name: Box<str>,
    /// The vendors whose models it serves by default.
    pub vendors: Vec<Box<str>>,
    /// The name of the parameter for the most tokens of the reply.
    pub output_parameter: Box<str>,
    /// Its ids of tool calls.
    pub call_ids: CallIds,
    /// A conversation may begin with the assistant.
    pub begins_with_assistant: bool,
    /// It may end with the assistant, whose reply then goes on.
    pub ends_with_assistant: bool,
    /// User and assistant must take turns.
    pub alternates: bool,
    /// A user may speak right after a tool's result.
    pub user_after_tool: bool,
    /// An assistant's message may have neither text nor calls.
    pub empty_assistant: bool,
    /// System messages may stand anywhere; else there is one, and it stands first.
    pub system_anywhere: bool,
    /// Content may be a list of parts where it is text alone.
    pub text_parts: bool,
    /// `stream_options` is known, and brings the usage of a stream.
    pub stream_usage: bool,
    /// Schemas of tools may be strict.
    pub strict: bool,
    /// The values that `tool_choice` may have.
    pub tool_choice: Vec<Box<str>>,
    /// The parameter that says how much to reason; empty where there is none.
    pub reasoning: Box<str>,
    /// Parts and fields of its models' messages that it wants back, and that no other server takes: `thinking`, `reasoning_content`.
    pub sent_back: Vec<Box<str>>,
    /// The JSON of `reasoning_content` in a message that calls tools and has no thinking, such as another model's: `DeepSeek` refuses one
    /// without the field, and Moonshot also one where it is empty. None where the field may be missing.
    pub no_thinking: Option<Box<str>>,
}

/// The server that a model is asked at: what it is sent of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Server {
    /// Its rules of chat completions.
    pub dialect: &'static Dialect,
    /// The parts of `OpenAI`'s responses that its model is sent.
    pub responses: Responses,
}

/// The parts of `OpenAI`'s responses that a model is sent besides texts, files and calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Responses {
    /// Items of `OpenAI`'s own, and images in results: its models alone.
    pub own: bool,
    /// Encrypted reasoning: those of them that reason. `OpenAI` answers 400 to others ("Reasoning input items can only be provided to a
    /// reasoning or computer use model").
    pub reasoning: bool,
}

impl Responses {
    /// All of them: of a model that nobody described.
    pub const ALL: Self = Self { own: true, reasoning: true };

    /// Whether an item that is neither a message nor a call is sent.
    #[must_use]
    pub fn takes(self, item: &str) -> bool {
        if is_reasoning(item) { self.reasoning } else { self.own }
    }
}

impl Default for Responses {
    fn default() -> Self {
        Self::ALL
    }
}

/// Whether an item of a response is a model's encrypted reasoning.
pub(super) fn is_reasoning(item: &str) -> bool {
    json::object(item).and_then(|item| item.get("type")) == Some("\"reasoning\"")
}

impl Dialect {
    /// Whether it wants a part or a field of that name back.
    #[must_use]
    pub fn wants(&self, name: &str) -> bool {
        self.sent_back.iter().any(|own| **own == *name)
    }
}

impl CallIds {
    /// `any<=40`, `alnum=9`, `word<=64`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(most) = text.strip_prefix("any<=") {
            return most.parse().ok().map(Self::Any);
        }
        if let Some(length) = text.strip_prefix("alnum=") {
            return length.parse().ok().map(Self::Alphanumeric);
        }
        text.strip_prefix("word<=")?.parse().ok().map(Self::Word)
    }

    /// Whether a server takes an id as it is.
    #[must_use]
    pub fn takes(self, id: &str) -> bool {
        let all = |allowed: fn(u8) -> bool| id.bytes().all(allowed);
        match self {
            Self::Any(most) => !id.is_empty() && id.len() <= most,
            Self::Alphanumeric(length) => id.len() == length && all(|byte| byte.is_ascii_alphanumeric()),
            Self::Word(most) => {
                !id.is_empty() && id.len() <= most && all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
            }
        }
    }

    /// The id as the server takes it: its own where it does, else one made of its hash, the same for a call and its result.
    #[must_use]
    pub fn id(self, id: &str) -> String {
        if self.takes(id) {
            return id.to_owned();
        }
        let length = match self {
            Self::Alphanumeric(length) => length,
            Self::Any(most) | Self::Word(most) => most.min(24),
        };
        digits(xxh3_64(id.as_bytes()), length)
    }
}

/// The name of a called function or of a speaker as vendors take it. A model may make up any, and a request with `""` or `a b` in its
/// history is refused for ever: a character that is not a letter, digit, `_` or `-` becomes `_`, more than `most` are cut. Dots and colons
/// stay where an API documents them, which is Gemini's own.
pub(super) fn called(name: &str, most: usize, dotted: bool) -> Cow<'_, str> {
    let takes = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character) || dotted && ".:".contains(character);
    if name.is_empty() {
        return "unknown".into();
    }
    if name.len() <= most && name.chars().all(takes) {
        return name.into();
    }
    name.chars().map(|character| if takes(character) { character } else { '_' }).take(most).collect::<String>().into()
}

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// `length` letters and digits that tell a hash: 11 tell 2^64 apart, 9 tell 2^53.
fn digits(mut hash: u64, length: usize) -> String {
    let mut digit = || {
        let digit = DIGITS[(hash % 62) as usize];
        hash /= 62;
        char::from(digit)
    };
    (0..length).map(|_| digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_model_made_up_are_bent() {
        for (name, plain, dotted) in [("read_file-2", "read_file-2", "read_file-2"), ("", "unknown", "unknown"), ("a b\0", "a_b_", "a_b_")]
        {
            assert_eq!((called(name, 64, false), called(name, 64, true)), (plain.into(), dotted.into()));
        }
        assert_eq!((called("srv.tool", 64, false), called("srv.tool", 64, true)), ("srv_tool".into(), "srv.tool".into()));
        assert_eq!((called(&"x".repeat(300), 64, false).len(), called("\u{e9}", 64, false)), (64, "_".into()));
    }

    #[test]
    fn ids_are_kept_or_made_to_fit() {
        let mistral = CallIds::parse("alnum=9").unwrap();
        assert_eq!(mistral.id("a1B2c3D4e"), "a1B2c3D4e");
        for id in ["call_PTLP8xhu3uwZk4l3nlnrrJha", "", "é", "turn1_0"] {
            let made = mistral.id(id);
            assert!(mistral.takes(&made) && made == mistral.id(id), "{made}");
        }
        let openai = CallIds::parse("any<=40").unwrap();
        assert_eq!(openai.id("toolu_01A09q90qw90lq917835lq9"), "toolu_01A09q90qw90lq917835lq9");
        assert!(openai.takes(&openai.id(&"x".repeat(41))));
        assert!(CallIds::parse("word<=64").unwrap().takes(&CallIds::Word(64).id("a b")));
        assert_eq!([CallIds::parse("word<=x"), CallIds::parse("")], [None, None]);
    }
}
