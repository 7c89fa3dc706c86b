//! The facts about a language model that a prompt needs: its window, how its tokens are counted, how its requests are framed.
//!
//! Built-in models are rows of a table; a caller registers others by giving a [`Profile`]. A session stores the model it runs
//! on, so that an old prompt is counted for ever as it was. Prices and the like are in the profile, for those who choose a model.

#![cfg_attr(test, allow(clippy::unwrap_used))] // a test that unwraps fails, as it should

mod address;
mod catalogue;
mod dialects;
mod framings;
mod nearest;
mod profile;
mod registry;
mod text_counter;

pub use address::address;
pub use catalogue::media;
pub use dialects::{dialect, dialect_of, dialects};
pub use framings::{framing, framing_name, nearest_framing_name};
pub use profile::{CacheRules, Prices, Profile};
pub use registry::{check, get, names, register};
pub use text_counter::TextCounter;

use std::sync::Arc;

use crate::context::image::Cost;
use crate::context::limit::{Share, default_output, input_limit};
use crate::context::message::RESULT_IMAGES;
use crate::context::{self, Dialect, Fit, Framing, Message, Responses, Server, Tools};
use crate::tokens::{CachedCounter, Counter, Encoding, Factor, shared_cache, truncate_end, truncate_start};
use crate::{Error, Result};

/// A language model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The name that requests are sent with.
    pub name: Arc<str>,
    /// Tokens of prompt and reply together.
    pub context_window: u64,
    /// The most a request may have; some vendors keep the rest of the window for the reply.
    pub max_input_tokens: u64,
    /// The most a reply may have.
    pub max_output_tokens: u64,
    /// The tokenizer that counts its text: its own, or for a closed one the reference that `factor` bounds.
    pub encoding: Encoding,
    /// [`Factor::EXACT`] where `encoding` is its own.
    pub factor: Factor,
    /// The frame of its requests.
    pub framing: Framing,
    /// Whether sent messages may not change, because the model's signed thinking covers them.
    pub append_only: bool,
    /// The shortest prefix that its provider caches, in tokens; 0 where it caches none.
    pub min_cached_tokens: u64,
    /// The address that it is asked at, where that is not its vendor's own: see [`address`](fn@address).
    pub base_url: Arc<str>,
}

/// Which part of a text stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Its start.
    Start,
    /// Its end.
    End,
}

impl Keep {
    /// The choice of that name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "start" => Ok(Self::Start),
            "end" => Ok(Self::End),
            other => {
                Err(Error::invalid(format!("reading keep: it must be \"start\" or \"end\", and it is {other:?}: say which part stays")))
            }
        }
    }
}

impl Model {
    /// The model of a name, as [`get`] finds it, under the name that was asked for.
    pub fn named(name: &str) -> Result<Self> {
        get(name).map(|profile| Self { name: name.into(), ..profile.model.clone() })
    }

    /// Its vendor's server; none where it is not known who serves it, as of a model that the program registered.
    #[must_use]
    pub fn server(&self) -> Option<Server> {
        let profile = get(&self.name).ok().filter(|profile| !profile.vendor.is_empty())?;
        Some(Server { dialect: dialect_of(&profile), responses: profile.responses() })
    }

    /// Whether its provider refuses thinking behind a prefix that changed since it was made.
    #[must_use]
    pub fn checks_prefix(&self) -> bool {
        get(&self.name).is_ok_and(|profile| profile.capabilities.iter().any(|capability| &**capability == "prefix_check"))
    }

    /// The rules of that server's chat completions.
    #[must_use]
    pub fn dialect(&self) -> Option<&'static Dialect> {
        self.server().map(|server| server.dialect)
    }

    /// The name that learned factors are kept under: servers of one model need not have one tokenizer, nor tell the truth.
    #[must_use]
    pub fn learned_as(&self) -> Arc<str> {
        if self.base_url.is_empty() { Arc::clone(&self.name) } else { format!("{} at {}", self.name, self.base_url).into() }
    }

    /// The limit of a request where the caller names none: the share of the window that a prompt may fill, with the default reserve for a
    /// reply.
    pub fn default_input_limit(&self) -> Result<u64> {
        let limit = input_limit(self.context_window, default_output(self.max_output_tokens), Share::FILL, None)?;
        Ok(limit.min(self.max_input_tokens))
    }

    /// The count of a message in prompts, as its vendor's server takes it: thinking and signatures that it is not sent count nothing.
    #[must_use]
    pub fn cost(&self, message: &Message) -> Cost {
        self.framing.message_to(message.has_own().then(|| self.server()).flatten(), message, &self.counter())
    }

    /// Whether a message has, or had, that count: the server may have been another, up to version 0.18.0 parts counted that were not
    /// sent to any, and up to 0.19.0 images by id had no name.
    #[must_use]
    pub fn counts(&self, message: &Message, cost: Cost) -> bool {
        let names = context::images_by_id(message) as u64 * self.counter().count("[image]");
        let nameless = Cost { tokens: cost.tokens + names, ..cost };
        let counted = |server| [cost, nameless].contains(&self.framing.message_to(server, message, &self.counter()));
        let of = |dialect| move |responses| Server { dialect, responses };
        let known = || dialects().iter().flat_map(|dialect| RESPONSES.map(of(dialect)));
        counted(None) || message.has_own() && known().any(|server| counted(Some(server)))
    }

    /// Tokens of messages with their frames: a bound where the tokenizer is closed.
    #[must_use]
    pub fn count_messages(&self, messages: &[Message]) -> u64 {
        self.factor.bound(self.sum(messages))
    }

    /// Tokens of a text; a bound where the tokenizer is closed.
    #[must_use]
    pub fn count_text(&self, text: &str) -> u64 {
        self.factor.bound(shared_cache().count(self.encoding, text) as u64)
    }

    /// The longest start or end of a text that is at most so many tokens.
    #[must_use]
    pub fn truncate<'t>(&self, text: &'t str, max_tokens: u64, keep: Keep) -> &'t str {
        let room = usize::try_from(self.factor.room(max_tokens)).unwrap_or(usize::MAX);
        match keep {
            Keep::Start => truncate_end(self.encoding, text, room),
            Keep::End => truncate_start(self.encoding, text, room),
        }
    }

    /// Tokens of a whole request: messages, tools and the frame of the reply; a bound where the tokenizer is closed.
    #[must_use]
    pub fn count_request(&self, messages: &[Message], tools: Option<&Tools>) -> u64 {
        let tools = tools.map_or(0, |tools| self.framing.tools(tools, &self.counter()));
        self.factor.bound(self.sum(messages) + tools + self.framing.reply)
    }

    /// Which of `count` messages, which `read` reads by index, fit a request of `limit` tokens; of what a prompt may fill where there is
    /// none.
    ///
    /// # Errors
    /// Those of [`context::fit()`].
    pub fn fit(
        &self,
        count: usize,
        read: &mut dyn FnMut(usize) -> Result<Message>,
        tools: Option<&Tools>,
        limit: Option<u64>,
    ) -> Result<Fit> {
        let room = self.factor.room(limit.map_or_else(|| self.default_input_limit(), Ok)?);
        let server = self.server();
        let mut wanted = |index| read(index).map(|message| message.with_beside(|name| wants(server, name)));
        let fit = context::fit(count, &mut wanted, tools, room, &self.framing, &self.counter())?;
        Ok(Fit { tokens: self.factor.bound(fit.tokens), exact: fit.exact && self.factor == Factor::EXACT, ..fit })
    }

    /// The sum over messages that are sent as they are, with the fields beside their content that the model's server reads.
    fn sum(&self, messages: &[Message]) -> u64 {
        let (counter, server) = (self.counter(), self.server());
        let count = |message: &Message| {
            if message.beside().all(|name| wants(server, name)) {
                return self.framing.message(message, &counter).tokens;
            }
            self.framing.message(&message.clone().with_beside(|name| wants(server, name)), &counter).tokens
        };
        messages.iter().map(count).sum()
    }

    /// The counter of its text.
    #[must_use]
    pub fn counter(&self) -> CachedCounter {
        CachedCounter::new(self.encoding)
    }
}

/// The parts of responses that servers are sent.
const RESPONSES: [Responses; 3] = [Responses::ALL, Responses { own: true, reasoning: false }, Responses { own: false, reasoning: false }];

/// Whether a server wants a field beside the content back, or the images of a result.
fn wants(server: Option<Server>, name: &str) -> bool {
    match name {
        RESULT_IMAGES => server.is_none_or(|server| server.responses.own),
        _ => server.is_some_and(|server| server.dialect.wants(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_server_is_sent_counts() {
        let read = |raw: &str| Message::parse_whole(raw.as_bytes(), None, context::Arguments::Keep).unwrap();
        let long = "think hard ".repeat(1_000);
        let call =
            r#"{"id":"c","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":""#;
        let beside = format!(r#"{{"role":"assistant","content":null,"reasoning_content":"{long}","tool_calls":[{call}SIGN"}}}}}}]}}"#);
        let signed = format!(r#"{{"role":"assistant","content":null,"tool_calls":[{call}{}"}}}}}}]}}"#, "QUJD".repeat(1_000));
        let thinking = format!(
            r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":[{{"type":"text","text":"{long}"}}]}},{{"type":"text","text":"A"}}]}}"#
        );
        let broken = format!(r#"{{"role":"assistant","content":"x","reasoning_content":["{long}"]}}"#);
        let encrypted = format!(
            r#"{{"role":"assistant","output":[{{"type":"reasoning","id":"r","summary":[],"encrypted_content":"{}"}}]}}"#,
            "x".repeat(9_000)
        );
        let of_gemini = format!(r#"{{"role":"model","parts":[{{"text":"A","thoughtSignature":"{}"}}]}}"#, "x".repeat(9_000));
        let shot = r#"{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"https://x.org/a.png"}]}"#;
        let searched = encrypted.replace("reasoning", "web_search_call");
        let all = [&beside, &signed, &thinking, &broken, &encrypted, &of_gemini, shot, &searched].map(&read);
        for (name, counted) in [
            ("gpt-5", [false, false, false, false, true, false, true, true]),
            ("gpt-4o", [false, false, false, false, false, false, true, true]),
            ("deepseek-chat", [true, false, false, false, false, false, false, false]),
            ("kimi-k3", [true, false, false, false, false, false, false, false]),
            ("gemini-2.5-pro", [false, true, false, false, false, true, false, false]),
            ("mistral-large-latest", [false, false, true, false, false, false, false, false]),
            ("qwen3-max", [false; 8]),
            ("grok-4.6", [false; 8]),
            ("llama-4-scout", [false; 8]),
            ("gpt-oss-120b", [false, false, false, false, true, false, false, true]),
        ] {
            let model = Model::named(name).unwrap();
            let tokens = all.each_ref().map(|message| model.cost(message).tokens);
            assert_eq!(tokens.map(|tokens| tokens > 500), counted, "{name}: {tokens:?}");
            let before = |message| model.framing.message(message, &model.counter());
            assert!(all.iter().all(|message| model.counts(message, before(message)) && model.counts(message, model.cost(message))));
            assert!(!model.counts(&all[0], Cost { tokens: 7, exact: true }));
        }
        let own = Model { name: "of-nobody-known".into(), ..Model::named("gpt-4o").unwrap() };
        assert!(all.iter().all(|message| own.cost(message).tokens > 500), "it may be any server's");
        let [gpt, kimi] = ["gpt-4o", "kimi-k3"].map(|name| Model::named(name).unwrap());
        assert_eq!(gpt.count_messages(&all[6..7]), gpt.cost(&all[6]).tokens);
        assert_eq!(kimi.count_messages(&all[6..7]), kimi.factor.bound(kimi.cost(&all[6]).tokens));
        let sound = read(r#"{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}]}"#);
        assert_eq!(own.cost(&sound), Model::named("gpt-4o").unwrap().cost(&sound));
    }

    #[test]
    fn a_text_keeps_the_part_that_is_named() {
        let model = Model::named("gpt-4o").unwrap();
        let kept = |keep| model.truncate("one two three", 1, Keep::parse(keep).unwrap());
        assert_eq!((kept("start"), kept("end")), ("one", " three"));
        assert_eq!(model.count_text("one two three"), 3);
        assert!(Keep::parse("middle").is_err());
    }

    #[test]
    fn an_image_by_id_counts_its_name() {
        let read = |raw: &str| Message::parse_whole(raw.as_bytes(), None, context::Arguments::Keep).unwrap();
        let said = read(r#"{"role":"user","content":[{"type":"input_image","file_id":"file-1"}]}"#);
        let shot = read(r#"{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","file_id":"file-1"}]}"#);
        for name in ["gpt-5", "kimi-k3", "claude-sonnet-5"] {
            let model = Model::named(name).unwrap();
            let name_tokens = model.counter().count("[image]");
            for message in [&said, &shot] {
                let now = model.cost(message);
                let before = Cost { tokens: now.tokens - name_tokens, ..now };
                assert!(model.counts(message, now) && model.counts(message, before), "{name}: stored counts hold");
                assert!(!model.counts(message, Cost { tokens: now.tokens + 1, ..now }));
            }
        }
    }

    #[test]
    fn images_of_results_count_in_what_fits() {
        let call = r#"{"type":"function_call","call_id":"c","name":"shot","arguments":"{}"}"#;
        let shot = r#"{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"https://x.org/a.png"}]}"#;
        let all = [r#"{"role":"user","content":"go"}"#, call, shot, call, shot];
        let fitted = |name: &str, limit| {
            let mut read = |index: usize| Message::parse_whole(all[index].as_bytes(), None, context::Arguments::Keep);
            Model::named(name).unwrap().fit(all.len(), &mut read, None, Some(limit)).unwrap()
        };
        let image = Model::named("gpt-5").unwrap().framing.images.cost(&context::message::Image {
            source: context::message::Source::Url("https://x.org/a.png".into()),
            detail: context::message::Detail::Auto,
            size: None,
        });
        let (whole, half) = (fitted("gpt-5", 10_000), fitted("gpt-5", image.tokens * 3 / 2));
        assert!(whole.kept.len() == 5 && whole.tokens > 2 * image.tokens && whole.exact == image.exact, "{whole:?}");
        assert!(half.kept == [0, 3, 4], "{half:?}");
        assert!(fitted("kimi-k3", 10_000).tokens < image.tokens, "it is sent a text");
    }

    #[test]
    fn what_fits_is_exact_where_the_tokenizer_is_the_models_own() {
        let fitted = |name: &str, limit| {
            let mut read = |index: usize| Ok(Message::text(context::Role::User, &format!("message {index}")));
            Model::named(name).unwrap().fit(3, &mut read, None, limit)
        };
        assert_eq!((fitted("gpt-4o", None).unwrap().kept, fitted("gpt-4o", None).unwrap().exact), (vec![0, 1, 2], true));
        assert!(!fitted("claude-sonnet-4-5", None).unwrap().exact, "a bound");
        assert_eq!(fitted("gpt-4o", Some(12)).unwrap().kept, [2]);
        assert_eq!(fitted("gpt-4o", Some(1)).unwrap_err().kind(), crate::ErrorKind::BudgetExceeded);
    }
}
