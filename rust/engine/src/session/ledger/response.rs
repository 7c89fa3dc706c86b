//! Parses a provider's response: the assistant's message as it stands in the response, its usage, why it ended.
//!
//! It reads chat completions (of `OpenAI` and compatible servers), Anthropic messages, responses, Gemini's answers, and an assistant
//! message alone. The message is not rewritten: it is the very bytes of the answer, or for Anthropic its `content` with the role in front.
//! Calls without an id are given one.
//! A bill is read leniently, because a reply must not be lost over a counter. The reply itself is not.
//!
//! It reads no streams (a chunk is an error that says so) and no other APIs, and it does not store the reply.
//!
//! Sources: `OpenAI` API reference, "The chat completion object"; Anthropic API reference, "Messages", response and usage.

use std::borrow::Cow;

use xxhash_rust::xxh3::xxh3_128;

use crate::context::json::{self, Object, Position};
use crate::context::{Arguments, Format, Message, Part, detect};
use crate::tokens::bound::usage;
use crate::{Error, Result};

const DOING: &str = "read a response";
const RESPONSE: Position<'static> = Position { doing: DOING, at: "the response" };
const ALONE: &str =
    "pass what the SDK returned: a chat completion, an Anthropic message, a response, Gemini's answer; or the assistant message alone";

/// The bill of a call of a model, in the provider's own tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::struct_field_names)] // units travel in names
pub struct UsageTokens {
    /// The whole prompt, with the tokens read from a cache and written to it.
    pub input_tokens: u64,
    /// The reply, hidden thinking included.
    pub output_tokens: u64,
    /// Tokens of the prompt that were read from a cache.
    pub cached_tokens: u64,
    /// Tokens of the prompt that were written to a cache.
    pub cache_write_tokens: u64,
}

/// A provider's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The assistant's message, JSON.
    pub message: Vec<u8>,
    /// The shape of that message.
    pub format: Format,
    /// The provider's id of the answer.
    pub id: Option<String>,
    /// The model that answered, as the provider names it.
    pub model: Option<String>,
    /// The usage, JSON as it stands in the answer.
    pub usage: Option<Vec<u8>>,
    /// The usage as it was read; `None` where it is not in a known form.
    pub usage_tokens: Option<UsageTokens>,
    /// Why the reply ended, in the provider's word.
    pub finish: Option<String>,
    /// XXH3, 128 bits, of the bytes that were read.
    pub hash: u128,
}

impl Response {
    /// Reads an answer from JSON bytes.
    ///
    /// # Errors
    /// `InvalidInput` for a shape that is not one of these, and for a reply that says nothing.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let raw = std::str::from_utf8(bytes).map_err(|error| no_object(&error.to_string()))?;
        let object = json::object(raw).ok_or_else(|| no_object(raw))?;
        refuse_other_shapes(&object)?;
        let mut response = if let Some(choices) = object.get("choices") {
            completion(&object, choices)?
        } else if word(&object, "object") == Some("response") || object.get("output").is_some() {
            responses(&object)?
        } else if object.get("candidates").is_some() || object.get("promptFeedback").is_some() || object.get("prompt_feedback").is_some() {
            gemini(&object)?
        } else if word(&object, "type") == Some("message") || object.get("stop_reason").is_some() {
            anthropic(&object)?
        } else if object.get("role").is_some() {
            alone(raw.trim_ascii(), detect(&object))
        } else {
            return Err(RESPONSE.error("an answer has \"choices\", or is a message", raw, ALONE));
        };
        response.hash = xxh3_128(bytes);
        response.check()?;
        Ok(response)
    }

    fn of(message: Vec<u8>, format: Format) -> Self {
        Self { message, format, id: None, model: None, usage: None, usage_tokens: None, finish: None, hash: 0 }
    }

    /// Where the answer has more to tell than the message.
    fn about(object: &Object<'_>, message: Vec<u8>, format: Format, finish: Option<String>) -> Self {
        let usage = object.get("usage");
        Self {
            id: owned(object, "id").filter(|id| !id.is_empty()),
            model: owned(object, "model"),
            usage_tokens: usage.and_then(usage_tokens),
            usage: usage.map(Into::into),
            finish,
            ..Self::of(message, format)
        }
    }

    /// The message is one, of the assistant, and says something.
    fn check(&self) -> Result<()> {
        let raw = std::str::from_utf8(&self.message).unwrap_or_default();
        let object = json::object(raw).ok_or_else(|| RESPONSE.error("a reply must be an object", raw, ALONE))?;
        if !matches!(word(&object, "role"), Some("assistant" | "model")) {
            let next = "pass what the model answered; other messages go to session.add";
            return Err(RESPONSE.error("a reply has the role \"assistant\"", object.get("role").unwrap_or("no role"), next));
        }
        if self.says_nothing(&object) {
            return Err(self.empty());
        }
        Message::parse(&self.message, Some(self.format), Arguments::Keep).map(drop)
    }

    /// No content at all, or nothing but empty texts in a reply that did not end. Anthropic ends turns with an empty list.
    fn says_nothing(&self, object: &Object<'_>) -> bool {
        let beside = ["tool_calls", "refusal", "audio", "function_call"].into_iter().filter_map(|key| object.get(key));
        if beside.into_iter().any(|raw| !matches!(raw, "[]" | "\"\"")) {
            return false;
        }
        if ["content", "output", "parts"].into_iter().all(|key| object.get(key).is_none()) {
            return true;
        }
        let parsed = Message::parse(&self.message, Some(self.format), Arguments::Keep);
        let empty = |part: &Part| matches!(part, Part::Text(text) if text.is_empty());
        self.finish.is_none() && parsed.is_ok_and(|message| message.parts.iter().all(empty))
    }

    fn empty(&self) -> Error {
        match &self.finish {
            None => RESPONSE.error(
                "a reply must say something",
                "one without text, calls and finish reason, as an interrupted stream leaves it",
                "send the request again; pass an empty message that you mean to session.add",
            ),
            Some(finish) => RESPONSE.error(
                "a reply must say something",
                &format!("one without content that ended with \"{finish}\""),
                advice(Some(finish)),
            ),
        }
    }
}

/// The next step after a reply that ended without content.
fn advice(finish: Option<&str>) -> &'static str {
    let finish = finish.unwrap_or_default().to_ascii_lowercase();
    match &*finish {
        "length" | "max_tokens" | "max_output_tokens" | "incomplete" => {
            "send the request again with more max_output_tokens, because thinking took all that the reply had"
        }
        "content_filter" | "refusal" | "safety" | "recitation" | "blocklist" | "prohibited_content" | "spii" | "image_safety" => {
            "ask another model, or word the message otherwise, because the provider's filter withheld the reply"
        }
        _ => "send the request again, or ask another model",
    }
}

/// A message alone.
fn alone(raw: &str, format: Format) -> Response {
    let message = if format == Format::OpenAi { with_call_ids(raw) } else { raw.into() };
    Response::of(message.as_bytes().into(), format)
}

/// A chat completion.
fn completion(object: &Object<'_>, choices: &str) -> Result<Response> {
    let choices = json::list(choices).ok_or_else(|| RESPONSE.wrong("choices", "must be a list", choices))?;
    let [choice] = choices[..] else {
        let got = format!("{} choices", choices.len());
        let next = "ask for one reply (n=1), or pass the message of the choice that was taken";
        return Err(RESPONSE.error("a turn has one reply", &got, next));
    };
    let place = Position { doing: DOING, at: "choices[0]" };
    let choice = json::object(choice).ok_or_else(|| place.error("a choice must be an object", choice, ALONE))?;
    if choice.get("delta").is_some() {
        return Err(chunk("a choice with a \"delta\""));
    }
    let Some(message) = choice.get("message") else {
        return Err(place.error(
            "a choice has a \"message\"",
            "none",
            "use the chat completions API: a text completion does not reply to messages",
        ));
    };
    Ok(Response::about(object, with_call_ids(message).as_bytes().into(), Format::OpenAi, owned(&choice, "finish_reason")))
}

/// The message of a chat completion with an id for each call that has none, as some servers leave it out. Other servers refuse a call
/// without one later on. It is the id that the same reply gets as a stream: `call_` and its place.
fn with_call_ids(message: &str) -> Cow<'_, str> {
    let id_of = |raw| json::object(raw).and_then(|call| call.get("id").map_or(Some(Cow::Borrowed("")), json::text));
    let calls = json::object(message).and_then(|object| object.get("tool_calls")).and_then(json::list).unwrap_or_default();
    let Some(ids) = calls.into_iter().map(id_of).collect::<Option<Vec<_>>>() else { return message.into() };
    if ids.iter().all(|id| !id.is_empty()) {
        return message.into();
    }
    let Ok(mut value) = serde_json::from_str::<serde_json::Value>(message) else { return message.into() };
    for place in (0..ids.len()).filter(|place| ids[*place].is_empty()) {
        let mut made = format!("call_{place}");
        while ids.iter().any(|id| **id == *made) {
            made.push('_');
        }
        value["tool_calls"][place]["id"] = made.into();
    }
    value.to_string().into()
}

/// An Anthropic message: its role and content, without what only an answer has.
fn anthropic(object: &Object<'_>) -> Result<Response> {
    let content = object.get("content").ok_or_else(|| RESPONSE.wrong("content", "must be present and a list of blocks", "nothing"))?;
    let role = object.get("role").unwrap_or("\"assistant\"");
    let message = format!("{{\"role\":{role},\"content\":{content}}}");
    Ok(Response::about(object, message.into(), Format::Anthropic, owned(object, "stop_reason")))
}

/// A response of the Responses API: its items, reasoning and calls among them.
fn responses(object: &Object<'_>) -> Result<Response> {
    let output = object.get("output").ok_or_else(|| RESPONSE.wrong("output", "must be present and a list of items", "nothing"))?;
    let items = json::list(output).ok_or_else(|| RESPONSE.wrong("output", "must be a list of items", output))?;
    let finish = object.get("incomplete_details").and_then(json::object).and_then(|details| owned(&details, "reason"));
    let finish = finish.or_else(|| owned(object, "status"));
    if items.is_empty() {
        let got = format!("one without items that ended with {:?}", finish.as_deref().unwrap_or("nothing"));
        return Err(RESPONSE.error("a reply must say something", &got, advice(finish.as_deref())));
    }
    let message = format!("{{\"role\":\"assistant\",\"output\":{output}}}");
    Ok(Response::about(object, message.into(), Format::Responses, finish))
}

/// An answer of the Gemini API: the content of its one candidate. Calls without an id are given one, of the answer's own.
fn gemini(object: &Object<'_>) -> Result<Response> {
    let candidates = object.get("candidates").and_then(json::list).unwrap_or_default();
    let [candidate] = candidates[..] else {
        let feedback = object.get("promptFeedback").or_else(|| object.get("prompt_feedback")).unwrap_or("no feedback");
        let got = format!("{} candidates ({feedback})", candidates.len());
        return Err(RESPONSE.error(
            "a turn has one reply",
            &got,
            "ask for one candidate, or another question where the prompt was blocked",
        ));
    };
    let place = Position { doing: DOING, at: "candidates[0]" };
    let candidate = json::object(candidate).ok_or_else(|| place.error("a candidate must be an object", candidate, ALONE))?;
    let finish = owned(&candidate, "finishReason").or_else(|| owned(&candidate, "finish_reason"));
    let parts = candidate.get("content").and_then(json::object).and_then(|content| content.get("parts").map(str::to_owned));
    let Some(parts) = parts.filter(|parts| parts != "[]") else {
        let got = format!("a candidate without parts that ended with {:?}", finish.as_deref().unwrap_or("nothing"));
        return Err(place.error("a reply must say something", &got, advice(finish.as_deref())));
    };
    let id = owned(object, "responseId").or_else(|| owned(object, "response_id"));
    let base = id.clone().unwrap_or_else(|| format!("{:032x}", xxh3_128(parts.as_bytes())));
    let message = format!("{{\"role\":\"model\",\"parts\":{}}}", with_ids(&parts, &base)?);
    let usage = object.get("usageMetadata").or_else(|| object.get("usage_metadata"));
    Ok(Response {
        id: id.filter(|id| !id.is_empty()),
        model: owned(object, "modelVersion").or_else(|| owned(object, "model_version")),
        usage_tokens: usage.and_then(usage_tokens),
        usage: usage.map(Into::into),
        finish,
        ..Response::of(message.into(), Format::Gemini)
    })
}

/// The parts with an id for each call that has none: results are joined to calls by it, in every other vendor's shape too.
fn with_ids(parts: &str, base: &str) -> Result<String> {
    let wrong = || RESPONSE.wrong("parts", "must be a list of parts", parts);
    let mut value: serde_json::Value = serde_json::from_str(parts).map_err(|_| wrong())?;
    let mut changed = false;
    for (index, part) in value.as_array_mut().ok_or_else(wrong)?.iter_mut().enumerate() {
        let key = if part.get("functionCall").is_some() { "functionCall" } else { "function_call" };
        let Some(call) = part.get_mut(key).and_then(serde_json::Value::as_object_mut) else { continue };
        if call.get("id").and_then(serde_json::Value::as_str).is_none_or(str::is_empty) {
            let id = format!("call_{:012x}_{index}", xxh3_128(base.as_bytes()) & 0xffff_ffff_ffff);
            call.insert("id".to_owned(), serde_json::Value::String(id));
            changed = true;
        }
    }
    Ok(if changed { value.to_string() } else { parts.to_owned() })
}

/// Shapes that are known, and are not the answer to a list of messages.
fn refuse_other_shapes(object: &Object<'_>) -> Result<()> {
    if let Some(error) = object.get("error") {
        let next = "nothing was said: handle the error, and send the request again";
        return Err(RESPONSE.error("an answer is a reply", &format!("the provider's error {error}"), next));
    }
    let kinds = [word(object, "object"), word(object, "type")];
    if let Some(kind) = kinds.into_iter().flatten().find(|kind| is_chunk(kind)) {
        return Err(chunk(&format!("\"{kind}\"")));
    }
    Ok(())
}

fn is_chunk(kind: &str) -> bool {
    let event = ["message_start", "message_delta", "message_stop", "ping"].contains(&kind) || kind.starts_with("content_block_");
    event || kind == "chat.completion.chunk" || kind.starts_with("response.")
}

fn chunk(got: &str) -> Error {
    let next = "gather the stream first: the SDKs hand out the whole message at its end";
    RESPONSE.error("an answer is whole", &format!("a piece of a stream, {got}"), next)
}

fn no_object(raw: &str) -> Error {
    let got = match json::list(raw) {
        Some(list) => format!("a list of {}", list.len()),
        None => raw.to_owned(),
    };
    RESPONSE.error("an answer is one JSON object", &got, "pass the response as the SDK returned it, and a text to session.add")
}

/// The text at `key` where it is one without escapes, as the words that tell shapes apart are.
fn word<'a>(object: &Object<'a>, key: &str) -> Option<&'a str> {
    object.get(key)?.strip_prefix('"')?.strip_suffix('"')
}

fn owned(object: &Object<'_>, key: &str) -> Option<String> {
    object.get(key).and_then(json::text).map(std::borrow::Cow::into_owned)
}

impl Response {
    /// The tokens of the billed prompt that a prompt can plan: without those of tools that run at the provider.
    pub(in crate::session) fn planned_tokens(&self) -> Option<u64> {
        let usage = usage(std::str::from_utf8(self.usage.as_deref()?).ok()?).ok()?;
        Some(usage.input_tokens - usage.tool_tokens)
    }
}

/// The provider's account in one vocabulary; `None` where it is of no known form or contradicts itself.
fn usage_tokens(raw: &str) -> Option<UsageTokens> {
    let usage = usage(raw).ok()?;
    Some(UsageTokens {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cached_tokens: usage.cache_read_tokens,
        cache_write_tokens: usage.cache_write_tokens,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::context::Role;

    /// As `client.chat.completions.create(...)` returns it.
    const COMPLETION: &str = r#"{
  "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
  "object": "chat.completion",
  "created": 1741569952,
  "model": "gpt-4o-2024-08-06",
  "choices": [
    {
      "index": 0,
      "message": {"role": "assistant", "content": "Hello!  How can I assist you today?", "refusal": null, "annotations": [], "audio": null, "function_call": null, "tool_calls": null},
      "logprobs": null,
      "finish_reason": "stop"
    }
  ],
  "usage": {
    "prompt_tokens": 1117,
    "completion_tokens": 46,
    "total_tokens": 1163,
    "prompt_tokens_details": {"cached_tokens": 1024, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}
  },
  "service_tier": "default",
  "system_fingerprint": "fp_fc9f1d7035"
}"#;

    /// As `client.messages.create(...)` returns it.
    const ANTHROPIC: &str = r#"{
  "id": "msg_01XFDUDYJgAACzvnptvVoYEL",
  "type": "message",
  "role": "assistant",
  "model": "claude-sonnet-4-5-20250929",
  "content": [
    {"type": "thinking", "thinking": "Which file?", "signature": "EqoBCkgIARABGAIiQL2U"},
    {"type": "text", "text": "I look it up.", "citations": null},
    {"type": "tool_use", "id": "toolu_01A09q90qw90lq917835lq9", "name": "read_file", "input": {"path": "/etc/hosts"}}
  ],
  "stop_reason": "tool_use",
  "stop_sequence": null,
  "usage": {"input_tokens": 21, "cache_creation_input_tokens": 188086, "cache_read_input_tokens": 1500, "output_tokens": 393, "service_tier": "standard"}
}"#;

    fn read(body: &str) -> Response {
        Response::read(body.as_bytes()).unwrap()
    }

    fn parse(response: &Response) -> Message {
        Message::parse(&response.message, Some(response.format), Arguments::Keep).unwrap()
    }

    fn refused(body: &str) -> String {
        let error = Response::read(body.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let message = error.message().to_owned();
        assert!(message.starts_with("cannot read a ") && message.contains(", got ") && message.contains("): "), "{message}");
        message
    }

    fn completion_of(message: &str, finish: &str) -> String {
        format!(
            r#"{{"id":"c","object":"chat.completion","model":"m","choices":[{{"index":0,"message":{message},"finish_reason":{finish}}}]}}"#
        )
    }

    #[test]
    fn a_chat_completion_is_taken_apart() {
        let response = read(COMPLETION);
        let stored = std::str::from_utf8(&response.message).unwrap();
        assert!(COMPLETION.contains(stored) && stored.starts_with("{\"role\"") && stored.ends_with("null}"), "byte for byte");
        assert_eq!(parse(&response), Message::text(Role::Assistant, "Hello!  How can I assist you today?"));
        assert_eq!(response.id.as_deref(), Some("chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT"));
        assert_eq!((response.model.as_deref(), response.finish.as_deref()), (Some("gpt-4o-2024-08-06"), Some("stop")));
        let tokens = UsageTokens { input_tokens: 1_117, output_tokens: 46, cached_tokens: 1_024, cache_write_tokens: 0 };
        assert_eq!(response.usage_tokens, Some(tokens));
        let usage: serde_json::Value = serde_json::from_slice(&response.usage.unwrap()).unwrap();
        assert_eq!(usage["total_tokens"], 1_163);
    }

    #[test]
    fn tool_calls_come_without_content_and_even_cut_off() {
        let call = r#"{"id":"call_62","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Par"}}"#;
        for content in [r#""content":null,"#, "", r#""content":"","#] {
            let message = format!(r#"{{"role":"assistant",{content}"tool_calls":[{call}],"refusal":null}}"#);
            let response = read(&completion_of(&message, "\"length\""));
            assert_eq!(response.message, message.as_bytes());
            assert_eq!(parse(&response).tool_calls().next().map(|call| &*call.arguments), Some("{\"city\":\"Par"));
            assert_eq!((response.usage, response.usage_tokens), (None, None));
        }
    }

    #[test]
    fn calls_without_an_id_get_one_that_no_other_has() {
        let call = |id: &str| format!(r#"{{{id}"type":"function","function":{{"name":"f","arguments":"{{}}"}}}}"#);
        let calls = [call(r#""id":"","#), call(r#""id":null,"#), call(""), call(r#""id":"call_1","#)].join(",");
        let message = format!(r#"{{"role":"assistant","content":null,"tool_calls":[{calls}]}}"#);
        for body in [completion_of(&message, "\"tool_calls\""), message] {
            let message = parse(&read(&body));
            let ids: Vec<&str> = message.tool_calls().map(|call| &*call.id).collect();
            assert_eq!(ids, ["call_0", "call_1_", "call_2", "call_1"]);
        }
    }

    #[test]
    fn an_anthropic_message_keeps_its_content_and_its_numbers_add_up() {
        let response = read(ANTHROPIC);
        let stored = std::str::from_utf8(&response.message).unwrap();
        let content = stored.strip_prefix("{\"role\":\"assistant\",\"content\":").and_then(|rest| rest.strip_suffix('}')).unwrap();
        assert!(ANTHROPIC.contains(content), "byte for byte");
        let message = parse(&response);
        assert!(matches!(&message.parts[..], [Part::Vendor { .. }, Part::Text(_), Part::ToolCall(_)]), "{message:?}");
        assert_eq!((response.format, response.finish.as_deref()), (Format::Anthropic, Some("tool_use")));
        let tokens = UsageTokens { input_tokens: 189_607, output_tokens: 393, cached_tokens: 1_500, cache_write_tokens: 188_086 };
        assert_eq!(response.usage_tokens, Some(tokens));
        let empty = ANTHROPIC.replace(&ANTHROPIC[ANTHROPIC.find("[\n").unwrap()..=ANTHROPIC.rfind(']').unwrap()], "[]");
        assert!(parse(&read(&empty)).parts.is_empty(), "Claude ends a turn with nothing to say");
    }

    #[test]
    fn a_message_alone_is_an_answer() {
        for (body, format) in [
            (r#"{"role":"assistant","content":"It listens on port 8443."}"#, Format::OpenAi),
            (r#"{"content":[{"type":"text","text":"hi"}],"role":"assistant"}"#, Format::OpenAi),
            (r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]}"#, Format::Anthropic),
            (r#"{"role":"assistant","content":null,"refusal":"I cannot help with that."}"#, Format::OpenAi),
            (r#"{"role":"assistant","content":"\n\nHi","reasoning_content":"They greet me.","x_groq":{"id":1}}"#, Format::OpenAi),
        ] {
            let response = read(&format!(" {body}\n"));
            assert_eq!((response.message.as_slice(), response.format), (body.as_bytes(), format));
            assert_eq!((response.id, response.finish, response.usage_tokens), (None, None, None));
            assert_ne!(response.hash, read(body).hash, "of the bytes as they came");
        }
    }

    #[test]
    fn odd_counters_do_not_lose_a_reply() {
        for usage in [
            "17",
            "{}",
            r#"{"prompt_tokens":-1}"#,
            r#"{"prompt_tokens":"7"}"#,
            r#"{"prompt_tokens":7,"prompt_tokens_details":{"cached_tokens":8}}"#,
            r#"{"input_tokens":18446744073709551615,"cache_read_input_tokens":1}"#,
        ] {
            let body = format!(r#"{{"choices":[{{"message":{{"role":"assistant","content":"x"}}}}],"usage":{usage}}}"#);
            let response = read(&body);
            assert_eq!((response.usage.as_deref(), response.usage_tokens), (Some(usage.as_bytes()), None));
        }
        let body =
            r#"{"choices":[{"message":{"role":"assistant","content":"x"}}],"usage":{"prompt_tokens":7,"prompt_tokens_details":null}}"#;
        assert_eq!(read(body).usage_tokens, Some(UsageTokens { input_tokens: 7, ..UsageTokens::default() }));
    }

    #[test]
    fn an_empty_reply_says_why() {
        let empty = r#"{"role":"assistant","content":null,"refusal":null,"tool_calls":[]}"#;
        assert!(refused(&completion_of(empty, "\"length\"")).contains("\"length\""));
        assert!(refused(&completion_of(empty, "null")).contains("interrupted stream"));
        assert!(refused(r#"{"role":"assistant","content":""}"#).contains("interrupted stream"));
        assert!(refused(r#"{"type":"message","role":"assistant","content":[],"stop_reason":null}"#).contains("interrupted stream"));
        let ended = read(&completion_of(r#"{"role":"assistant","content":""}"#, "\"stop\""));
        assert_eq!(parse(&ended), Message::text(Role::Assistant, ""), "a model may have nothing to say");
    }

    #[test]
    fn other_shapes_are_named() {
        let message = r#"{"role":"assistant","content":"x"}"#;
        for (body, word) in [
            (r#"{"id":"resp_1","object":"response","output":[],"error":null}"#.to_owned(), "without items"),
            (r#"{"id":"resp_1","object":"response","output":{},"error":null}"#.to_owned(), "list of items"),
            (r#"{"candidates":[{"content":{"parts":[]},"finishReason":"SAFETY"}],"usageMetadata":{}}"#.to_owned(), "SAFETY"),
            (r#"{"candidates":[],"promptFeedback":{"blockReason":"OTHER"}}"#.to_owned(), "blocked"),
            (r#"{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hel"}}]}"#.to_owned(), "stream"),
            (r#"{"choices":[{"index":0,"delta":{"content":"Hel"}}]}"#.to_owned(), "stream"),
            (r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}"#.to_owned(), "stream"),
            (r#"{"type":"message_start","message":{"type":"message","role":"assistant","content":[]}}"#.to_owned(), "stream"),
            (r#"{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}"#.to_owned(), "Rate limit"),
            (r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#.to_owned(), "Overloaded"),
            (r#"{"object":"text_completion","choices":[{"text":"hi","index":0}]}"#.to_owned(), "text completion"),
            (format!(r#"{{"choices":[{{"message":{message}}},{{"message":{message}}}]}}"#), "2 choices"),
            (r#"{"choices":[]}"#.to_owned(), "0 choices"),
            (r#"{"choices":[{"message":"hi"}]}"#.to_owned(), "object"),
            (r#"{"choices":["hi"]}"#.to_owned(), "object"),
            (r#"{"choices":"hi"}"#.to_owned(), "list"),
            (r#"{"role":"user","content":"hi"}"#.to_owned(), "assistant"),
            (r#"{"choices":[{"message":{"content":"hi"}}]}"#.to_owned(), "no role"),
            (r#"{"type":"message","role":"user","content":[]}"#.to_owned(), "assistant"),
            (r#"{"type":"message","role":"assistant"}"#.to_owned(), "content"),
            (r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}"#.to_owned(), "output_text"),
            (format!("[{message}]"), "a list of 1"),
            ("\"It listens on port 8443.\"".to_owned(), "8443"),
            ("It listens".to_owned(), "It listens"),
            (String::new(), "object"),
            ("{}".to_owned(), "choices"),
            (r#"{"role":"assistant","content":7}"#.to_owned(), "content"),
            (COMPLETION[..COMPLETION.len() - 9].to_owned(), "object"),
        ] {
            assert!(refused(&body).contains(word), "{body}: {}", refused(&body));
        }
        assert!(Response::read(b"{\"role\":\"assistant\",\"content\":\"\xFF\"}").is_err());
    }
}
