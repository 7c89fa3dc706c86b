//! The messages of a session, as a program adds and reads them.

use std::borrow::Cow;
use std::sync::Arc;

use super::add::{NewMessage, Prepared, check_name};
use super::key::SessionKey;
use super::policy::Policy;
use super::record;
use super::session::{Session, Status};
use super::transcript::blob;
use super::transcript::message::{MessageRecord, MessageState, read_result_key};
use super::writer::{Added, moved};
use crate::context::message::Part;
use crate::context::turns::cancelled;
use crate::context::{Arguments, Format, Message, Role};
use crate::gate::{self, Heard, Speaker};
use crate::life::judgement::{Judgement, ReadFrom};
use crate::limits::{self, MAX_BATCH_BYTES, MAX_BATCH_ROWS};
use crate::store::pages::Pages;
use crate::units::clip::first_chars;
use crate::units::clock::told;
use crate::{Error, ErrorKind, Result, interrupt};

/// Above so many bytes a blob is written ahead, before the transaction that refers to it.
const AHEAD_BYTES: usize = 256 << 10;

/// Chunks that one transaction writes ahead.
const AHEAD_CHUNKS: usize = 64;
const CANCELLING: &str = "cancelling tool calls";

/// A message with the JSON it was given as.
#[derive(Debug, Clone)]
pub struct StoredMessage {
    /// Its record.
    pub record: MessageRecord,
    /// Its JSON, byte for byte as it was given, or as little as is left of it.
    pub given: String,
    /// Its texts.
    pub text: String,
}

impl Session<'_> {
    /// The claims of its messages from `begin` to before `end`. Only those from `first` on count; the ones before are read for their
    /// questions.
    pub fn judged(&self, begin: u64, end: u64, first: usize, discards: bool, now: i64) -> Result<Judgement> {
        let (status, messages) = self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let end = status.record.tally.messages.min(end);
            let messages: Vec<_> = (begin..end).map(|index| stored_message(pages, status.place, index)).collect::<Result<_>>()?;
            Ok((status, messages))
        })?;
        let said_in = |index| status.record.origin_of(index).map(str::to_owned);
        let heard = messages.iter().map(|message| {
            let record = &message.record;
            // It was said before now, whatever the clock was when it came.
            let at = record.created_at.unwrap_or_else(|| told(record.added_at, now));
            Ok(Heard { origin: said_in(record.placed.index), at: Some(at), ..message.heard()? })
        });
        let heard = heard.collect::<Result<_>>()?;
        let (place, mark) = (status.place, status.learn_mark());
        let from = ReadFrom { partition: Some(place.partition), session: Some((place.session, mark.edits, mark.created_at)) };
        Ok(Judgement::noted(self.engine, self.scope, from, heard, first, discards, now))
    }
}

impl StoredMessage {
    /// As a message of any provider.
    pub(super) fn neutral(&self) -> Result<Message> {
        Message::parse(self.given.as_bytes(), Some(self.record.format), Arguments::Keep)
    }

    /// Who speaks: a tool where the message holds results of tools alone, in whichever shape.
    pub fn role(&self) -> Result<Role> {
        self.neutral().map(|message| message.speaker())
    }

    /// The words of a message for the write gate, without tool calls, their results, and blocks that a prompt showed.
    pub fn heard(&self) -> Result<Heard> {
        let (record, message) = (&self.record, self.neutral()?);
        let text = if record.state == MessageState::Redacted { String::new() } else { message.spoken() };
        Ok(Heard {
            index: record.placed.index,
            by: message.name.as_deref().or(record.author.as_deref()).map(str::to_owned),
            speaker: Speaker::of_role(message.role.name()),
            text: match gate::without_blocks(&text) {
                Cow::Borrowed(_) => text,
                Cow::Owned(left) => left,
            },
            at: Some(record.said_at()),
            added_at: Some(record.added_at),
            origin: None,
        })
    }
}

/// A part of a tool result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultText {
    /// The text.
    pub text: String,
    /// Where the next part begins, in characters; `None` at the end.
    pub next_offset: Option<usize>,
    /// Characters of the whole.
    pub total_characters: usize,
}

impl Session<'_> {
    /// Adds a message. `expect_index` is the index it is to have.
    pub fn add(&self, new: NewMessage, expect_index: Option<u64>, now: i64) -> Result<Added> {
        let prepared = self.prepare(new, Arguments::MustBeJson, now)?;
        self.edit("adding a message", now, move |writer| writer.add(&prepared, expect_index, None))
    }

    /// Adds messages in order; up to 1,000 of them and 256 KB are one transaction, more are several. The error of a message has
    /// its place as field `row`; those of earlier transactions are stored then, none of its own.
    pub fn add_many(&self, messages: Vec<NewMessage>, now: i64) -> Result<Vec<Added>> {
        let (status, mut added) = (self.status()?, Vec::with_capacity(messages.len()));
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for (row, new) in messages.into_iter().enumerate() {
            let size = new.given.len();
            if !batch.is_empty() && (batch.len() == MAX_BATCH_ROWS || bytes + size > MAX_BATCH_BYTES) {
                added.extend(self.add_batch(std::mem::take(&mut batch), now)?);
                bytes = 0;
            }
            interrupt::check()?;
            let prepared = self.prepare_as(&status, new, Arguments::MustBeJson, now).map_err(|error| error.with("row", row))?;
            batch.push((row, prepared));
            bytes += size;
        }
        added.extend(self.add_batch(batch, now)?);
        Ok(added)
    }

    fn add_batch(&self, batch: Vec<(usize, Prepared)>, now: i64) -> Result<Vec<Added>> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        self.edit("adding messages", now, move |writer| {
            let add = |(row, prepared): &(usize, Prepared)| writer.add(prepared, None, None).map_err(|error| error.with("row", *row));
            batch.iter().map(add).collect()
        })
    }

    pub(super) fn prepare(&self, new: NewMessage, arguments: Arguments, now: i64) -> Result<Prepared> {
        self.prepare_as(&self.status()?, new, arguments, now)
    }

    /// Gets a message ready for a session that is as `status` says; the transaction counts it again where it is not.
    fn prepare_as(&self, status: &Status, new: NewMessage, arguments: Arguments, now: i64) -> Result<Prepared> {
        let prepared = Prepared::new(new, arguments, self.scope.seed(self.engine.store().secret()), &status.record, &status.epoch)?;
        for (hole, data) in &prepared.blobs {
            if data.len() > AHEAD_BYTES {
                self.write_ahead(status, hole.hash, data, now)?;
            }
        }
        Ok(prepared)
    }

    /// Writes a blob in bounded transactions; nothing refers to it yet. Each looks whether the session is still there, so that
    /// nothing is written to a session that was deleted or to a scope that was erased.
    pub(super) fn write_ahead(&self, status: &Status, hash: u128, data: &Arc<[u8]>, now: i64) -> Result<()> {
        let (place, messages) = (status.place, status.record.tally.messages);
        loop {
            let data = Arc::clone(data);
            let whole = self.write(move |txn, scope, id| {
                let (found, record) = record::find_in(txn, scope, id)?.ok_or_else(|| record::no_such_session(id))?;
                if found != place {
                    return Err(moved(&record, messages));
                }
                blob::stage(txn, place.partition, hash, &data, AHEAD_CHUNKS, now)
            })?;
            if whole {
                return Ok(());
            }
        }
    }

    /// Messages from `first` on, at most `limit`, with their JSON.
    pub fn messages(&self, first: u64, limit: u64) -> Result<Vec<StoredMessage>> {
        self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let end = status.record.tally.messages.min(first.saturating_add(limit));
            (first..end).map(|index| stored_message(pages, status.place, index)).collect()
        })
    }

    /// The texts of a message's tool results that prompts would show shortened, by their places among the texts of results.
    pub fn long_results(&self, new: &NewMessage) -> Result<Vec<(u32, String)>> {
        let status = self.status()?;
        let most = self.engine.store().read(|pages| Policy::read(pages, status.place))?.result_tokens;
        let prepared = self.prepare_as(&status, new.clone(), Arguments::MustBeJson, 0)?;
        prepared.long_results(&status.record, &status.epoch, (most > 0).then_some(most))
    }

    /// The text of a tool result by the key that its shortened form shows, from character `offset` on.
    pub fn tool_result(&self, key: &str, offset: usize, max_tokens: usize) -> Result<ResultText> {
        limits::within("max_tokens", max_tokens as u64, 1..=u64::MAX)?;
        let (text, encoding) = self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let found = read_result_key(key).filter(|(index, _)| *index < status.record.tally.messages);
            let (index, number) = found.ok_or_else(|| no_result(key))?;
            let record = MessageRecord::expect(pages, status.place, index)?;
            let message = record.whole(pages, status.place)?;
            let result = message.tool_results().nth(number).ok_or_else(|| no_result(key))?;
            let texts: Vec<&str> =
                result.parts.iter().filter_map(|part| if let Part::Text(text) = part { Some(&**text) } else { None }).collect();
            Ok((texts.join("\n"), status.epoch.model.encoding))
        })?;
        let total_characters = text.chars().count();
        let start = text.char_indices().nth(offset).map_or(text.len(), |(at, _)| at);
        let part = crate::tokens::truncate_end(encoding, &text[start..], max_tokens);
        let next = offset.saturating_add(part.chars().count());
        Ok(ResultText { text: part.to_owned(), next_offset: (next < total_characters).then_some(next), total_characters })
    }

    /// Answers every call that waits for a result with one that says it was cancelled; the ids of those calls.
    pub fn cancel_tool_calls(&self, reason: &str, now: i64) -> Result<Vec<String>> {
        check_name("reason", Some(reason))?;
        let status = self.status()?;
        let ids: Vec<String> = status.record.tally.open.iter().map(ToString::to_string).collect();
        if ids.is_empty() {
            return status.record.check_live(CANCELLING).map(|()| ids);
        }
        let mut prepared = Vec::new();
        for id in &ids {
            let content = cancelled(reason);
            let given = serde_json::json!({"role": "tool", "tool_call_id": id, "content": content}).to_string();
            interrupt::check()?;
            prepared.push(self.prepare_as(&status, NewMessage::given(given), Arguments::MustBeJson, now)?);
        }
        let (messages, closed) = (status.record.tally.messages, ids.clone());
        self.edit(CANCELLING, now, move |writer| {
            writer.check_index(Some(messages))?;
            for prepared in &prepared {
                writer.add(prepared, None, None)?;
            }
            writer.record.tally.closed.extend(closed.iter().map(|id| id.as_str().into())); // so that a late result is known
            Ok(())
        })?;
        Ok(ids)
    }
}

fn no_result(key: &str) -> Error {
    let shown = first_chars(key, 80);
    Error::new(
        ErrorKind::NotFound,
        format!("reading a tool result: the key must be one that a shortened result shows, and this session has no result {shown:?}: copy the key from the marker"),
    )
    .with("key", shown)
}

pub(super) fn stored_message<P: Pages>(pages: &P, place: SessionKey, index: u64) -> Result<StoredMessage> {
    let record = MessageRecord::expect(pages, place, index)?;
    let given = record.given(pages, place)?;
    let text = super::transcript::words::text_of(&record.parse(&given)?);
    Ok(StoredMessage { record, given, text })
}

/// Reads the shape of a message that a caller names.
pub fn format_named(name: &str) -> Result<Format> {
    Format::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
        let known: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        Error::invalid(format!("reading format={name:?}: it must be one of {}: leave it out where the shape tells", known.join(", ")))
            .with("format", name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Model;
    use crate::scope::{Scope, ScopeType};
    use crate::session::Options;
    use crate::session::properties::{Folder, engine};

    /// The session is read once, not once for each call, and no result copies the ids of the others.
    #[test]
    fn thousands_of_calls_of_a_reply_are_cancelled_and_answered() {
        let (folder, scope) = (Folder::new(), Scope::new(None, ScopeType::User, "u").unwrap());
        let engine = engine(&folder.0);
        let call = |n| format!(r#"{{"id":"c{n}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}"#);
        let calls = (0..4_000).map(call).collect::<Vec<_>>().join(",");
        let reply = format!(r#"{{"role":"assistant","content":null,"tool_calls":[{calls}]}}"#);
        let begun = |id| {
            let session = Session { engine: &engine, scope: &scope, id };
            session.open(Options { model: Some(Model::named("gpt-4o").unwrap()), ..Options::default() }, 1).unwrap();
            let given = [r#"{"role":"user","content":"x"}"#, &reply].map(NewMessage::given);
            session.add_many(given.into(), 2).unwrap();
            session
        };
        let (cancelled, answered) = (begun("cancelled"), begun("answered"));
        assert_eq!(cancelled.cancel_tool_calls("no", 3).unwrap().len(), 4_000);
        let result = |n| NewMessage::given(format!(r#"{{"role":"tool","tool_call_id":"c{n}","content":"ok"}}"#));
        assert_eq!(answered.add_many((0..4_000).rev().map(result).collect(), 3).unwrap().len(), 4_000);
        for session in [cancelled, answered] {
            let status = session.status().unwrap();
            assert_eq!((status.record.tally.open.len(), status.record.tally.messages), (0, 4_002));
        }
        assert!(engine.check().unwrap().findings.is_empty());
    }
}
