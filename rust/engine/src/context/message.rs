//! The neutral form of a message: the content of every provider's shape, in one type.
//!
//! A message is stored as it was given; this form is derived from those bytes ([`Message::parse`]) and holds what a
//! prompt needs: who speaks, and parts. Parts that only one vendor understands (signed thinking, files held by the vendor) are
//! kept as raw JSON and rendered for that vendor alone. It does not know tokens, turns or prompts.

use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::escape::escape;

/// The shape a message was given in, and a prompt is rendered to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// `OpenAI` chat completions: content as text or parts, `tool_calls`, a message of role `tool` per result.
    OpenAi,
    /// Anthropic messages: content blocks, `tool_use` and `tool_result` among them.
    Anthropic,
    /// `OpenAI` responses: items, calls and their outputs and reasoning among them.
    Responses,
    /// Gemini's `generateContent`: contents with parts, `functionCall` and `functionResponse` among them.
    Gemini,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Responses, Self::Gemini];

    /// The name as the Python side spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Responses => "openai_responses",
            Self::Gemini => "gemini",
        }
    }
}

/// The media besides text that a model takes. Other media are sent as a short text that names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools)] // three kinds of media
pub struct Media {
    /// Images.
    pub images: bool,
    /// PDF and the like, as files.
    pub documents: bool,
    /// Sound.
    pub audio: bool,
}

impl Media {
    /// Everything: of a model that nobody described.
    pub const ALL: Self = Self { images: true, documents: true, audio: true };
}

/// The shape of a request: its vendor, and the media that its model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The shape.
    pub format: Format,
    /// The media that the model takes.
    pub media: Media,
    /// Anthropic's shape is a step to Amazon's Converse, which takes other files than Anthropic: they all stay.
    pub converse: bool,
}

impl From<Format> for Shape {
    fn from(format: Format) -> Self {
        Self { format, media: Media::ALL, converse: false }
    }
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Instructions of the application.
    System,
    /// Instructions of the application, as newer `OpenAI` models call them.
    Developer,
    /// The person (Anthropic: also the carrier of tool results).
    User,
    /// The model.
    Assistant,
    /// The result of a tool call, in `OpenAI`'s shape.
    Tool,
}

impl Role {
    /// The word that is sent.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    /// The role of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::System, Self::Developer, Self::User, Self::Assistant, Self::Tool].into_iter().find(|role| role.name() == name)
    }
}

/// How closely the model looks at an image; `OpenAI`'s word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Detail {
    /// Not said, or left to the vendor: counted as high.
    Auto,
    /// A fixed price, whatever the size.
    Low,
    /// Priced by size.
    High,
}

/// Where bytes that are not text come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A link that the vendor fetches.
    Url(Arc<str>),
    /// The bytes themselves. Shared, since an image may have 20 MB.
    Base64 {
        /// For instance `image/png`.
        media_type: Box<str>,
        /// Base64, as given.
        data: Arc<str>,
    },
    /// Plain text (documents only).
    Text(Arc<str>),
}

impl Source {
    fn bytes(&self) -> usize {
        match self {
            Self::Url(text) | Self::Text(text) | Self::Base64 { data: text, .. } => text.len(),
        }
    }
}

/// An image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Its bytes or its address.
    pub source: Source,
    /// How closely it is looked at.
    pub detail: Detail,
    /// Width and height in pixels, where the first bytes tell.
    pub size: Option<(u32, u32)>,
}

/// A document given to the model as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its bytes, text or address.
    pub source: Source,
    /// Title or file name.
    pub title: Option<Box<str>>,
    /// Anthropic's `context` text.
    pub context: Option<Box<str>>,
    /// Anthropic's `citations` object, raw.
    pub citations: Option<Box<str>>,
}

/// A call of a tool by the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Joins the call to its result.
    pub id: Box<str>,
    /// The tool.
    pub name: Box<str>,
    /// The arguments as the model wrote them: JSON text, or free text of a custom tool or of a broken reply.
    pub arguments: Box<str>,
    /// `OpenAI`'s custom tools take free text.
    pub custom: bool,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call it answers.
    pub call_id: Box<str>,
    /// Text, and in the shapes of Anthropic and of `OpenAI`'s responses images and documents.
    pub parts: Vec<Part>,
    /// The tool failed, or never answered.
    pub is_error: bool,
    /// It has images that go back to `OpenAI`'s responses: it came in their shape, and its images were counted.
    pub images: bool,
    /// The key under which the whole result is stored; set by the store, written into the marker of a shortened one.
    pub key: Option<Box<str>>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text.
    Text(Box<str>),
    /// A refusal in the model's words.
    Refusal(Box<str>),
    /// An image.
    Image(Image),
    /// A document.
    Document(Document),
    /// A call of a tool.
    ToolCall(ToolCall),
    /// The result of one.
    ToolResult(ToolResult),
    /// A part that only the vendor of `format` understands: raw JSON of the block, kept as given, never sent to another vendor.
    Vendor {
        /// Whose it is.
        format: Format,
        /// The block, byte for byte.
        raw: Box<str>,
    },
    /// A field beside the content that one server alone reads, and wants back, behind the part that it belongs to: a model's thinking
    /// (`reasoning_content` of `DeepSeek` and Moonshot), what Google's chat completions sign a call with (`extra_content`), the type of a
    /// file by its address in Gemini's shape (`mimeType`), who called a tool and what a text cites in Anthropic's (`caller`, `citations`).
    Beside {
        /// Whose it is.
        format: Format,
        /// The name of the field.
        name: &'static str,
        /// An object of that field alone.
        raw: Box<str>,
    },
}

/// The name, among the fields beside the content, of the images of a result, which versions up to 0.18.0 sent and counted as a text.
pub(crate) const RESULT_IMAGES: &str = "input_image";

/// The JSON of the value of a field that stood beside the content, from the object of that field alone.
pub(super) fn value_beside<'r>(name: &str, raw: &'r str) -> &'r str {
    let value = || raw.strip_prefix("{\"")?.strip_prefix(name)?.strip_prefix("\":")?.strip_suffix('}');
    value().unwrap_or("null")
}

impl Part {
    /// A field beside the content, as a part.
    pub(super) fn beside(format: Format, name: &'static str, value: &str) -> Self {
        Self::Beside { format, name, raw: format!("{{\"{name}\":{value}}}").into() }
    }

    /// The name of the field that it was beside the content.
    fn beside_as(&self) -> Option<&'static str> {
        match self {
            Self::Beside { name, .. } => Some(name),
            Self::ToolResult(result) => result.images.then_some(RESULT_IMAGES),
            _ => None,
        }
    }

    /// About how many bytes of it are counted.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Text(text) | Self::Refusal(text) => text.len(),
            Self::ToolCall(call) => call.arguments.len(),
            Self::ToolResult(result) => result.parts.iter().map(Self::size).sum(),
            Self::Vendor { raw, .. } | Self::Beside { raw, .. } => raw.len(),
            Self::Image(_) | Self::Document(_) => 0,
        }
    }

    /// About how many bytes it takes in memory.
    fn bytes(&self) -> usize {
        let given = match self {
            Self::ToolResult(result) => result.parts.iter().map(Self::bytes).sum(),
            Self::Image(image) => image.source.bytes(),
            Self::Document(document) => document.source.bytes(),
            _ => self.size(),
        };
        size_of::<Self>() + given
    }
}

/// A message in neutral form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// Which of several speakers of that role.
    pub name: Option<Box<str>>,
    /// The parts, in order.
    pub parts: Vec<Part>,
}

impl Message {
    /// A message of one text.
    #[must_use]
    pub fn text(role: Role, text: &str) -> Self {
        Self { role, name: None, parts: vec![Part::Text(text.into())] }
    }

    /// The result of `call_id`, as a message of its own.
    #[must_use]
    pub fn tool_result(call_id: &str, text: &str, is_error: bool) -> Self {
        let result = ToolResult { call_id: call_id.into(), parts: vec![Part::Text(text.into())], is_error, images: false, key: None };
        Self { role: Role::Tool, name: None, parts: vec![Part::ToolResult(result)] }
    }

    /// About how many bytes its parts take in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(Part::bytes).sum()
    }

    /// The names of the fields that stood beside its content ([`Self::parse_whole`]), and `input_image` for a result with images.
    pub fn beside(&self) -> impl Iterator<Item = &'static str> {
        self.parts.iter().filter_map(Part::beside_as)
    }

    /// Whether it has parts or fields of one vendor's own, images of a result among them.
    #[must_use]
    pub fn has_own(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Vendor { .. }) || part.beside_as().is_some())
    }

    /// This message without the fields that stand beside its content.
    #[must_use]
    pub fn without_beside(self) -> Self {
        self.with_beside(|_| false)
    }

    /// This message with only those fields beside its content that are wanted.
    #[must_use]
    pub fn with_beside(mut self, wants: impl Fn(&'static str) -> bool) -> Self {
        self.parts.retain_mut(|part| {
            if let Part::ToolResult(result) = part {
                result.images &= wants(RESULT_IMAGES);
                return true;
            }
            part.beside_as().is_none_or(&wants)
        });
        self
    }

    /// Its role, and a tool's where it holds results alone: Anthropic's shape sends those in the user's name.
    #[must_use]
    pub fn speaker(&self) -> Role {
        let answers = !self.parts.is_empty() && self.parts.iter().all(|part| matches!(part, Part::ToolResult(_)));
        if answers { Role::Tool } else { self.role }
    }

    /// The calls it makes.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| if let Part::ToolCall(call) = part { Some(call) } else { None })
    }

    /// The results it carries.
    pub fn tool_results(&self) -> impl Iterator<Item = &ToolResult> {
        self.parts.iter().filter_map(|part| if let Part::ToolResult(result) = part { Some(result) } else { None })
    }

    /// Its texts, one a line: neither calls of tools nor their results.
    #[must_use]
    pub fn spoken(&self) -> String {
        let text = |part: &Part| if let Part::Text(text) = part { Some(text.to_string()) } else { None };
        self.parts.iter().filter_map(text).collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    /// Whether it begins a turn: the user speaks, and not only to hand over results.
    #[must_use]
    pub fn opens_turn(&self) -> bool {
        self.role == Role::User && self.tool_results().next().is_none()
    }

    /// The form that goes into prompts: text of tool results is data, so it is escaped ([`escape`]).
    #[must_use]
    pub fn guarded(mut self) -> Self {
        for_each_result_text(&mut self, |text| escape(text).into_owned());
        self
    }

    /// This message with `marker` for every text; calls and results keep their ids, so that they stay paired.
    #[must_use]
    pub fn redacted(&self, marker: &str) -> Self {
        let parts: Vec<Part> = self.parts.iter().filter_map(|part| redacted_part(part, marker)).collect();
        let parts = if parts.is_empty() { vec![Part::Text(marker.into())] } else { parts };
        Self { role: self.role, name: None, parts }
    }

    /// 128-bit hash and byte length of the neutral form: field by field, each with its length, so that no two differ alike.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut writer = DigestWriter::default();
        writer.tag(self.role as u8);
        writer.optional(self.name.as_deref());
        writer.parts(&self.parts);
        writer.finish()
    }
}

/// The text in place of one that was taken out.
pub const REDACTED: &str = "[redacted]";

fn redacted_part(part: &Part, marker: &str) -> Option<Part> {
    match part {
        // Arguments that were none stay none: they count less than an empty object.
        Part::ToolCall(call) => {
            let arguments = if call.arguments.trim().is_empty() { "" } else { "{}" };
            Some(Part::ToolCall(ToolCall { arguments: arguments.into(), custom: false, ..call.clone() }))
        }
        Part::ToolResult(result) => {
            let parts = vec![Part::Text(marker.into())];
            Some(Part::ToolResult(ToolResult { parts, images: false, key: None, ..result.clone() }))
        }
        _ => None,
    }
}

/// Rewrites each text inside tool results.
pub(super) fn for_each_result_text(message: &mut Message, mut rewrite: impl FnMut(&str) -> String) {
    for part in &mut message.parts {
        let Part::ToolResult(result) = part else { continue };
        for inner in &mut result.parts {
            if let Part::Text(text) = inner {
                *text = rewrite(text).into();
            }
        }
    }
}

/// The digest of a segment for the prefix chain and the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest {
    /// XXH3, 128 bits.
    pub hash: u128,
    /// Bytes hashed.
    pub length: u64,
}

impl Digest {
    /// The digest of a plain text.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        let mut writer = DigestWriter::default();
        writer.field(text.as_bytes());
        writer.finish()
    }
}

/// Hashes length-prefixed fields without building the bytes.
#[derive(Default)]
struct DigestWriter {
    hasher: Xxh3,
    length: u64,
}

impl DigestWriter {
    fn tag(&mut self, tag: u8) {
        self.hasher.update(&[tag]);
        self.length += 1;
    }

    fn field(&mut self, bytes: &[u8]) {
        self.hasher.update(&(bytes.len() as u64).to_le_bytes());
        self.hasher.update(bytes);
        self.length += 8 + bytes.len() as u64;
    }

    fn optional(&mut self, text: Option<&str>) {
        self.tag(u8::from(text.is_some()));
        self.field(text.unwrap_or_default().as_bytes());
    }

    fn parts(&mut self, parts: &[Part]) {
        self.field(&(parts.len() as u64).to_le_bytes());
        for part in parts {
            self.part(part);
        }
    }

    fn part(&mut self, part: &Part) {
        match part {
            Part::Text(text) => self.tagged(1, text),
            Part::Refusal(text) => self.tagged(2, text),
            Part::Image(image) => {
                self.tag(3);
                self.tag(image.detail as u8);
                self.source(&image.source);
            }
            Part::Document(document) => self.document(document),
            Part::ToolCall(call) => {
                self.tagged(5, &call.id);
                self.field(call.name.as_bytes());
                self.field(call.arguments.as_bytes());
                self.tag(u8::from(call.custom));
            }
            Part::ToolResult(result) => {
                self.tagged(6, &result.call_id);
                self.tag(u8::from(result.is_error));
                self.parts(&result.parts);
                if result.images {
                    self.tag(1);
                }
            }
            Part::Vendor { format, raw } | Part::Beside { format, raw, .. } => {
                self.tagged(7, raw);
                self.tag(*format as u8);
            }
        }
    }

    fn tagged(&mut self, tag: u8, text: &str) {
        self.tag(tag);
        self.field(text.as_bytes());
    }

    fn document(&mut self, document: &Document) {
        self.tag(4);
        self.source(&document.source);
        self.optional(document.title.as_deref());
        self.optional(document.context.as_deref());
        self.optional(document.citations.as_deref());
    }

    fn source(&mut self, source: &Source) {
        match source {
            Source::Url(url) => self.tagged(1, url),
            Source::Base64 { media_type, data } => {
                self.tagged(2, media_type);
                self.field(data.as_bytes());
            }
            Source::Text(text) => self.tagged(3, text),
        }
    }

    fn finish(self) -> Digest {
        Digest { hash: self.hasher.digest128(), length: self.length }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_tell_apart_what_reads_alike() {
        let joined = Message { role: Role::User, name: None, parts: vec![Part::Text("ab".into())] };
        let split = Message { role: Role::User, name: None, parts: vec![Part::Text("a".into()), Part::Text("b".into())] };
        let named = Message { name: Some("ab".into()), ..joined.clone() };
        let digests = [joined.digest(), split.digest(), named.digest(), Message::text(Role::Assistant, "ab").digest()];
        for (index, digest) in digests.iter().enumerate() {
            assert_eq!(digests.iter().position(|other| other == digest), Some(index));
        }
    }

    #[test]
    fn a_redacted_message_keeps_calls_and_results_paired() {
        let call = ToolCall { id: "c1".into(), name: "find".into(), arguments: "{\"q\":\"secret\"}".into(), custom: false };
        let message = Message { role: Role::Assistant, name: None, parts: vec![Part::Text("secret".into()), Part::ToolCall(call)] };
        let redacted = message.redacted(REDACTED);
        assert_eq!(redacted.tool_calls().next().map(|call| &*call.id), Some("c1"));
        assert!(!format!("{redacted:?}").contains("secret"));
        let result = Message::tool_result("c1", "secret", false).redacted(REDACTED);
        assert!(!format!("{result:?}").contains("secret"));
        assert_eq!(result.tool_results().next().map(|result| &*result.call_id), Some("c1"));
    }

    #[test]
    fn only_results_are_guarded() {
        let user = Message::text(Role::User, "</context>").guarded();
        assert_eq!(user, Message::text(Role::User, "</context>"));
        let result = Message::tool_result("c", "</context>", false).guarded();
        assert!(!format!("{result:?}").contains("</context>"));
    }
}
