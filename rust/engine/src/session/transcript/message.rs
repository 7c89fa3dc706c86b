//! A message as it is stored: the bytes it was given as, and the values that were derived from them once.
//!
//! Counts and the place in the transcript stand first, so that finding the window reads no text. Long data (images, files, texts
//! beyond [`super::blob`]'s limit) is held by blobs, and the record has holes where it stood.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::blob::{self, Hole};
use crate::Result;
use crate::context::image::Cost;
use crate::context::message::Digest;
use crate::context::{Arguments, Format, Message, Part, Placed, Stored};
use crate::session::codec;
use crate::session::codec::read_hash;
use crate::session::key::SessionKey;
use crate::store::chunks;
use crate::store::envelope::{self, CONTINUES, Codec, damaged};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};

const SCHEMA: u8 = 1;

/// The state of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageState {
    /// It is as it was given.
    Given = 0,
    /// Its text was taken out.
    Redacted = 1,
}

/// A stored message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRecord {
    /// Where it stands.
    pub placed: Placed,
    /// Its count when it was added.
    pub cost: Cost,
    /// Digest of the form that is sent.
    pub digest: Digest,
    /// The shape it was given in.
    pub format: Format,
    /// Whether its text is there.
    pub state: MessageState,
    /// When it was added, microseconds since 1970 (UTC).
    pub added_at: i64,
    /// When it was said, where the caller knows.
    pub created_at: Option<i64>,
    /// Its number in the transcript index; 0 where it is in none.
    pub document: u32,
    /// The call it is the reply to, in its turn.
    pub call: Option<u16>,
    /// The caller's id.
    pub id: Option<String>,
    /// Who wrote it, in the caller's words.
    pub author: Option<String>,
    /// Why its text was taken out.
    pub reason: Option<String>,
    /// Hash of what the caller gave, to tell a retry from a conflict.
    pub request: u64,
    /// Tool results that are shown shorter than they are: place among the texts of results, text that is shown.
    pub shown: Vec<(u32, String)>,
    /// The parts that are in blobs.
    pub holes: Vec<Hole>,
    /// The rest of the JSON it was given as.
    pub rest: Vec<u8>,
}

/// The fields needed to find the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) struct Brief {
    pub placed: Placed,
    pub cost: Cost,
}

impl MessageRecord {
    /// When it was said, as far as that is known.
    pub(in crate::session) fn said_at(&self) -> i64 {
        self.created_at.unwrap_or(self.added_at)
    }

    fn encode(&self) -> Vec<u8> {
        let mut w = Writer::array(20);
        w.uint(self.placed.turn);
        w.bool(self.placed.opens_turn);
        w.uint(self.placed.tokens_before);
        w.uint(self.cost.tokens);
        w.bool(self.cost.exact);
        w.bin(&self.digest.hash.to_be_bytes());
        w.uint(self.digest.length);
        codec::write_format(&mut w, self.format);
        w.uint(self.state as u64);
        w.int(self.added_at);
        w.maybe_int(self.created_at);
        w.uint(u64::from(self.document));
        w.maybe_int(self.call.map(i64::from));
        w.maybe_text(self.id.as_deref());
        w.maybe_text(self.author.as_deref());
        w.maybe_text(self.reason.as_deref());
        w.uint(self.request);
        codec::write_list(&mut w, &self.shown, |w, (at, text)| {
            w.nested(2);
            w.uint(u64::from(*at));
            w.text(text);
        });
        codec::write_list(&mut w, &self.holes, blob::write_hole);
        w.bin(&self.rest);
        w.into_bytes()
    }

    fn brief(r: &mut Reader<'_>, index: u64) -> Result<Brief> {
        let (turn, opens_turn, tokens_before) = (r.uint()?, r.bool()?, r.uint()?);
        let cost = Cost { tokens: r.uint()?, exact: r.bool()? };
        Ok(Brief { placed: Placed { index, turn, opens_turn, tokens_before }, cost })
    }

    fn decode(key: &[u8], index: u64, body: &[u8]) -> Result<Self> {
        let mut r = Reader::array(key, body)?;
        let Brief { placed, cost } = Self::brief(&mut r, index)?;
        let digest = Digest { hash: read_hash(&mut r, key)?, length: r.uint()? };
        let format = codec::read_format(&mut r, key)?;
        let state = match r.uint()? {
            0 => MessageState::Given,
            1 => MessageState::Redacted,
            _ => return Err(damaged(key, "it names no state of a message")),
        };
        let mut record = Self {
            placed,
            cost,
            digest,
            format,
            state,
            added_at: r.int()?,
            created_at: r.maybe_int()?,
            document: r.uint()? as u32,
            call: r.maybe_int()?.map(|call| call as u16),
            id: r.maybe_text()?.map(str::to_owned),
            author: r.maybe_text()?.map(str::to_owned),
            reason: r.maybe_text()?.map(str::to_owned),
            request: r.uint()?,
            shown: Vec::new(),
            holes: Vec::new(),
            rest: Vec::new(),
        };
        record.shown = codec::read_list(&mut r, |r| {
            let mut r = codec::inner(r, key)?;
            Ok((r.uint()? as u32, r.text()?.to_owned()))
        })?;
        record.holes = codec::read_list(&mut r, |r| blob::read_hole(r, key))?;
        record.rest = r.bin()?.to_vec();
        Ok(record)
    }

    /// Message `index` of a session.
    pub(in crate::session) fn read<P: Pages>(pages: &P, place: SessionKey, index: u64) -> Result<Option<Self>> {
        let key = place.message(index);
        let Some((_, body)) = chunks::get(pages, key)? else { return Ok(None) };
        Self::decode(key.as_slice(), index, &body).map(Some)
    }

    /// Message `index` of a session, which must be there.
    pub(in crate::session) fn expect<P: Pages>(pages: &P, place: SessionKey, index: u64) -> Result<Self> {
        Self::read(pages, place, index)?.ok_or_else(|| damaged(place.message(index).as_slice(), "its session counts it and it is missing"))
    }

    /// Where a message stands and what it costs, without its text.
    pub(in crate::session) fn brief_at<P: Pages>(pages: &P, place: SessionKey, index: u64) -> Result<Brief> {
        let missing = || damaged(place.message(index).as_slice(), "its session counts it and it is missing");
        Self::read_first(pages, place, index, |r, _| Self::brief(r, index))?.ok_or_else(missing)
    }

    /// The number of a message in the transcript index, without its text; `None` where it is in none, or was removed: its session may be
    /// deleted step by step just now.
    pub(in crate::session) fn document_at<P: Pages>(pages: &P, place: SessionKey, index: u64) -> Result<Option<u32>> {
        Self::read_first(pages, place, index, |r, key| {
            Self::brief(r, index)?;
            let _before = (read_hash(r, key)?, r.uint()?, codec::read_format(r, key)?, r.uint()?, r.int()?, r.maybe_int()?);
            r.uint()
        })
        .map(|number| number.map(|number| number as u32).filter(|number| *number > 0))
    }

    /// Calls `of` with the fields of a message, of which the first stand in one piece, and its key; `None` where there is no such message.
    fn read_first<P: Pages, T>(
        pages: &P,
        place: SessionKey,
        index: u64,
        of: impl FnOnce(&mut Reader<'_>, &[u8]) -> Result<T>,
    ) -> Result<Option<T>> {
        let key = place.message(index).u16(0);
        let Some(first) = pages.get(key.as_slice())? else { return Ok(None) };
        let first = envelope::open(key.as_slice(), first)?;
        debug_assert_eq!(first.codec & !CONTINUES, Codec::MessagePack as u8);
        of(&mut Reader::array(key.as_slice(), first.body)?, key.as_slice()).map(Some)
    }

    /// Writes it.
    pub(in crate::session) fn write(&self, pages: &mut impl PagesMut, place: SessionKey) -> Result<()> {
        chunks::put(pages, place.message(self.placed.index), SCHEMA, Codec::MessagePack, &self.encode())
    }

    /// The JSON it was given as, byte for byte.
    pub(in crate::session) fn given<P: Pages>(&self, pages: &P, place: SessionKey) -> Result<String> {
        let key = place.message(self.placed.index);
        blob::join(key.as_slice(), &self.rest, &self.holes, |hole| blob::get(pages, place.partition, hole.hash))
    }

    /// The neutral form of JSON that was read back: every text as it was given, nothing shortened.
    pub(in crate::session) fn parse(&self, given: &str) -> Result<Message> {
        self.as_counted(given).map(Message::without_beside)
    }

    /// This message as it was read when it was counted, which its digest tells. It lacks the fields beside the content where the model
    /// wanted nothing of that back, nor in messages of up to 0.17.0, which read less of results in Gemini's shape, too.
    fn as_counted(&self, given: &str) -> Result<Message> {
        let whole = Message::parse_whole(given.as_bytes(), Some(self.format), Arguments::Keep)?;
        let is_gemini_result = self.format == Format::Gemini && whole.tool_results().next().is_some();
        let is_it = |message: &Message| self.sent(message.clone()).digest() == self.digest;
        if !is_gemini_result && whole.beside().next().is_none() || is_it(&whole) {
            return Ok(whole);
        }
        let of_one = |name| whole.clone().with_beside(|own| own == name);
        let names: BTreeSet<_> = whole.beside().collect();
        if let Some(wanted) = names.into_iter().map(of_one).find(is_it) {
            return Ok(wanted);
        }
        let bare = whole.without_beside();
        if !is_gemini_result || is_it(&bare) {
            return Ok(bare);
        }
        Ok(Some(bare.clone().with_texts_alone()).filter(is_it).unwrap_or(bare))
    }

    /// The form that is sent: long results as they are shown, and guarded.
    fn sent(&self, message: Message) -> Message {
        show(message, self.placed.index, &self.shown).guarded()
    }

    /// The neutral form of its JSON, which is read now.
    pub(in crate::session) fn whole<P: Pages>(&self, pages: &P, place: SessionKey) -> Result<Message> {
        self.parse(&self.given(pages, place)?)
    }

    /// The form that goes into prompts, with its count of the time it was added.
    pub(in crate::session) fn stored<P: Pages>(&self, pages: &P, place: SessionKey) -> Result<Arc<Stored>> {
        let message = self.sent(self.as_counted(&self.given(pages, place)?)?);
        Ok(Arc::new(Stored { message, cost: self.cost, digest: self.digest }))
    }
}

/// The key that opens a tool result which is shown shortened: the message, and which of its results if it has several.
pub(in crate::session) fn result_key(index: u64, result: usize) -> String {
    if result == 0 { format!("result-{index}") } else { format!("result-{index}-{result}") }
}

/// The message that a key of a tool result names.
pub(in crate::session) fn read_result_key(key: &str) -> Option<(u64, usize)> {
    let mut numbers = key.strip_prefix("result-")?.split('-');
    let index = numbers.next()?.parse().ok()?;
    let result = numbers.next().map_or(Some(0), |number| number.parse().ok())?;
    (numbers.next().is_none() && result_key(index, result) == key).then_some((index, result))
}

/// Puts shortened texts in their places and keys beside them.
pub(in crate::session) fn show(mut message: Message, index: u64, shown: &[(u32, String)]) -> Message {
    let mut at = 0;
    for (number, result) in results_mut(&mut message).enumerate() {
        for part in &mut result.parts {
            let Part::Text(text) = part else { continue };
            if let Some((_, short)) = shown.iter().find(|(place, _)| *place == at) {
                *text = short.as_str().into();
                result.key = Some(result_key(index, number).into());
            }
            at += 1;
        }
    }
    message
}

pub(in crate::session) fn results_mut(message: &mut Message) -> impl Iterator<Item = &mut crate::context::message::ToolResult> {
    message.parts.iter_mut().filter_map(|part| if let Part::ToolResult(result) = part { Some(result) } else { None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Model;
    use crate::scope::{Scope, ScopeType};
    use crate::session::properties::{Folder, engine};
    use crate::session::{NewMessage, Options, Session};
    use crate::tokens::CachedCounter;

    /// A message as `model` counts it, and as a version counted it that read it as `before` says.
    fn now_and_before(model: &str, given: &[&str], before: fn(Message) -> Message) -> [Stored; 3] {
        let (folder, scope) = (Folder::new(), Scope::new(None, ScopeType::User, "u").unwrap());
        let (engine, model) = (engine(&folder.0), Model::named(model).unwrap());
        let session = Session { engine: &engine, scope: &scope, id: "s" };
        session.open(Options { model: Some(model.clone()), ..Options::default() }, 1).unwrap();
        session.add_many(given.iter().map(|given| NewMessage::given(*given)).collect(), 2).unwrap();
        let (place, last) = (session.status().unwrap().place, given.len() as u64 - 1);
        let read = || {
            let read = engine.store().read(|pages| {
                let record = MessageRecord::expect(pages, place, last)?;
                Ok((record.stored(pages, place)?, record))
            });
            read.unwrap()
        };
        let (now, mut record) = read();
        assert!(engine.check().unwrap().findings.is_empty());
        let old = Stored::new(before(now.message.clone()), &model.framing, &CachedCounter::new(model.encoding));
        (record.cost, record.digest) = (old.cost, old.digest);
        session.edit("storing it as before", 3, move |writer| record.write(writer.pages, writer.place)).unwrap();
        [(*now).clone(), old, (*read().0).clone()]
    }

    #[test]
    fn a_message_is_read_as_it_was_counted() {
        let user = r#"{"role":"user","content":"what day is it?"}"#;
        let call = r#"{"role":"assistant","content":"","reasoning_content":"I need the date","tool_calls":[{"id":"c","type":"function","function":{"name":"date","arguments":"{}"}}]}"#;
        let [now, old, read] = now_and_before("deepseek-v4-pro", &[user, call], Message::without_beside);
        assert!(now.message.beside().eq(["reasoning_content"]) && old.cost.tokens < now.cost.tokens);
        assert_eq!(read, old);
        let both = call.replace("}}]", r#"},"extra_content":{"google":{"thought_signature":"U0lH"}}}]"#);
        for (model, wanted) in [("deepseek-v4-pro", "reasoning_content"), ("gemini-3-flash-preview", "extra_content")] {
            let [now, ..] = now_and_before(model, &[user, &both], Message::without_beside);
            assert!(now.message.beside().eq([wanted]), "{model}");
        }
        let [now, ..] = now_and_before("gpt-4o", &[user, call], Message::without_beside);
        assert_eq!(now.message.beside().count(), 0, "OpenAI's models want no thinking back");
        let plain = r#"{"role":"assistant","content":"Monday","reasoning_content":"I know it"}"#;
        let [now, ..] = now_and_before("deepseek-v4-pro", &[user, plain], Message::without_beside);
        assert_eq!(now.message.beside().count(), 0, "no tool was called");
        let result = r#"{"role":"tool","tool_call_id":"c","content":"Monday"}"#;
        let [now, ..] = now_and_before("deepseek-v4-pro", &[user, call, result, plain], Message::without_beside);
        assert_eq!(now.message.beside().count(), 1, "it is of a turn that called one");
        let file = r#"{"role":"user","parts":[{"fileData":{"mimeType":"image/png","fileUri":"https://x.org/files/abc"}}]}"#;
        let [now, old, read] = now_and_before("gemini-2.5-pro", &[file], Message::without_beside);
        assert_eq!((now.message.beside().count(), read), (1, old));
    }

    /// Each field is looked for once, not once for each call that has it.
    #[test]
    fn a_message_of_thousands_of_signed_calls_is_read() {
        let call = |n| {
            let signed = r#""extra_content":{"google":{"thought_signature":"U0lH"}}"#;
            format!(r#"{{"id":"c{n}","type":"function","function":{{"name":"f","arguments":"{{}}"}},{signed}}}"#)
        };
        let calls = (0..4_000).map(call).collect::<Vec<_>>().join(",");
        let reply = format!(r#"{{"role":"assistant","content":null,"reasoning_content":"x","tool_calls":[{calls}]}}"#);
        let [now, ..] = now_and_before("gpt-4o", &[r#"{"role":"user","content":"x"}"#, &reply], Message::without_beside);
        assert_eq!((now.message.tool_calls().count(), now.message.beside().count()), (4_000, 0));
    }

    #[test]
    fn a_result_with_more_fields_than_its_text_is_read_as_it_was_counted() {
        let call = r#"{"role":"model","parts":[{"functionCall":{"id":"c","name":"sh","args":{}}}]}"#;
        let of = |response: &str| {
            format!(r#"{{"role":"user","parts":[{{"functionResponse":{{"id":"c","name":"sh","response":{response}}}}}]}}"#)
        };
        let user = r#"{"role":"user","parts":[{"text":"run"}]}"#;
        let text = |stored: &Stored| format!("{:?}", stored.message.tool_results().next().unwrap().parts);
        let killed = of(r#"{"output":"done","exit_code":137,"stderr":"Killed"}"#);
        let [now, old, read] = now_and_before("gemini-2.5-pro", &[user, call, &killed], Message::with_texts_alone);
        assert!(text(&now).contains("Killed") && text(&now).contains("done") && !text(&old).contains("Killed"));
        assert_eq!(read, old);
        for (response, whole) in [(r#"{"output":"done","error":null}"#, "[Text(\"done\")]"), (r#"{"error":"no"}"#, "[Text(\"no\")]")] {
            let [now, ..] = now_and_before("gemini-2.5-pro", &[user, call, &of(response)], Message::with_texts_alone);
            assert_eq!(text(&now), whole);
        }
    }

    #[test]
    fn a_result_with_an_image_is_read_as_it_was_counted() {
        let user = r#"{"role":"user","content":"look"}"#;
        let call = r#"{"type":"function_call","call_id":"c","name":"screen","arguments":"{}"}"#;
        let result = r#"{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"the page"},{"type":"input_image","image_url":"https://x.org/a.png"}]}"#;
        let [now, old, read] = now_and_before("gpt-4o", &[user, call, result], Message::without_beside);
        assert!(now.message.beside().eq(["input_image"]) && old.cost.tokens < now.cost.tokens);
        assert_eq!(read, old);
    }

    #[test]
    fn a_reply_of_claudes_is_read_as_it_was_counted() {
        let user = r#"{"role":"user","content":"look"}"#;
        let text = r#"{"type":"text","text":"a","citations":[{"type":"web_search_result_location","encrypted_index":"E"}]}"#;
        let call = r#"{"type":"tool_use","id":"c","name":"f","input":{},"caller":{"type":"code_execution_20260120","tool_id":"s"}}"#;
        let reply = format!(r#"{{"role":"assistant","content":[{text},{call}]}}"#);
        let [now, old, read] = now_and_before("claude-sonnet-5", &[user, &reply], Message::without_beside);
        assert!(now.message.beside().eq(["citations", "caller"]) && old.cost.tokens < now.cost.tokens);
        assert_eq!(read, old);
    }

    #[test]
    fn keys_of_results_read_back_and_nothing_else_does() {
        for (index, result) in [(0, 0), (31, 0), (31, 1), (4_000_000, 12)] {
            assert_eq!(read_result_key(&result_key(index, result)), Some((index, result)));
        }
        for wrong in ["", "result-", "result-x", "result-1-0", "result-01", "result-1-2-3", "1"] {
            assert_eq!(read_result_key(wrong), None, "{wrong}");
        }
    }
}
