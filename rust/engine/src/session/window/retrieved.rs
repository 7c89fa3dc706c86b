//! What a prompt may show beside memories: what was said outside of its window, and passages of the session's collections.
//!
//! Both are candidates of the volatile block like recalled memories: the best few, by a score that says how sure the answer is, so that a
//! question which nothing answers brings nothing. A message is kept in the ledger by reference, so that redacting it takes it out of old
//! prompts; a passage is kept as text, because documents are replaced.

use std::sync::Arc;

use super::pinned::date;
use crate::Result;
use crate::collection;
use crate::context::limit::section;
use crate::context::{Item, MessageRef};
use crate::memory::Core;
use crate::recall::{self, Request};
use crate::scope::Scope;
use crate::session::place::{Place, SessionsHead};
use crate::session::record::SessionRecord;
use crate::session::search;
use crate::session::transcript::message::{MessageRecord, MessageState};
use crate::session::transcript::words::text_of;
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::units::score::SCORE_UNIT;

/// Messages that may be shown.
const MESSAGES: usize = 4;
/// Messages that are looked at, since the best are often in the window.
const LOOKED_AT: usize = 16;
/// Bytes that are shown of a message.
const EXCERPT_BYTES: usize = 1_200;
/// A message without a word of the question must mean it: "yes" is near to every short question.
const NEAR: f64 = 0.5;
/// Passages that may be shown.
const PASSAGES: usize = 6;
/// What is less sure than this is no answer.
const LEAST: f64 = 0.2;

/// What was said before the window of a session begins, at message `start`, or in other sessions of its scope.
pub(in crate::session) fn messages<P: Pages>(
    pages: &P,
    scope: &Scope,
    place: Place,
    record: &SessionRecord,
    start: u64,
    question: &str,
) -> Result<Vec<Item>> {
    let elsewhere = SessionsHead::read(pages, place.partition)?.last_document as u64 > record.tally.messages;
    if start == 0 && !elsewhere {
        return Ok(Vec::new());
    }
    let mut items = Vec::new();
    for found in search::found(pages, place.partition, scope.term_seed(), question, LOOKED_AT)? {
        let sure = found.features.sureness();
        let near = found.features.words() > 0.0 || found.features.meaning() >= NEAR;
        if !near || sure < LEAST || (found.place.session == place.session && found.index >= start) {
            continue;
        }
        let message = MessageRef {
            partition: found.place.partition.into(),
            session: found.place.session.into(),
            index: found.index,
            document: found.number.into(),
        };
        items.extend(said(pages, message, Some((sure * SCORE_UNIT) as i64))?);
        if items.len() == MESSAGES {
            break;
        }
    }
    Ok(items)
}

/// A message as a prompt shows it; `None` where it is not there any more, or not what it was.
pub(in crate::session) fn said<P: Pages>(pages: &P, message: MessageRef, score: Option<i64>) -> Result<Option<Item>> {
    let place = Place { partition: message.partition as Partition, session: message.session as u32 };
    let Some(session) = SessionRecord::read(pages, place)? else { return Ok(None) };
    let found = MessageRecord::read(pages, place, message.index)?;
    let Some(record) = found.filter(|record| u64::from(record.document) == message.document && record.state == MessageState::Given) else {
        return Ok(None);
    };
    let whole = record.whole(pages, place)?;
    let mut attributes: Vec<(Box<str>, Box<str>)> = vec![("kind".into(), "message".into()), ("role".into(), whole.role.name().into())];
    if let Some(name) = &whole.name {
        attributes.push(("name".into(), (&**name).into()));
    }
    attributes.push(("session".into(), session.id.as_str().into()));
    attributes.push(("date".into(), date(record.created_at.unwrap_or(record.added_at)).into()));
    Ok(Some(Item {
        section: section::RECALLED.into(),
        id: format!("{}#{}", session.id, message.index).into(),
        attributes,
        text: excerpt(&text_of(&whole)),
        memory: None,
        message: Some(message),
        score,
    }))
}

fn excerpt(text: &str) -> Arc<str> {
    if text.len() <= EXCERPT_BYTES {
        return text.into();
    }
    let mut end = EXCERPT_BYTES;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}\u{2026}", &text[..end]).into()
}

/// Passages of the session's collections that answer the question, and why vectors were not used where that is so.
pub(in crate::session) fn passages<P: Pages>(
    engine: &Core,
    pages: &P,
    record: &SessionRecord,
    request: &Request,
) -> Result<(Vec<Item>, Option<String>)> {
    if record.collections.is_empty() {
        return Ok((Vec::new(), None));
    }
    let mut asked = collection::Request::new(request.text.clone(), record.collections.clone(), PASSAGES, request.filter.now);
    asked.vector.clone_from(&request.vector);
    let answer = collection::search::search(engine, pages, &asked)?;
    let mut items = Vec::with_capacity(answer.hits.len());
    for hit in &answer.hits {
        let sure = recall::confidence(answer.queries.get(hit.collection), &hit.indexed(), &hit.parts);
        if sure < LEAST {
            continue;
        }
        let (document, collection) = (&hit.document, &record.collections[hit.collection].name);
        let mut attributes: Vec<(Box<str>, Box<str>)> =
            vec![("source".into(), format!("{collection}/{}", document.id).into()), ("version".into(), document.version.as_str().into())];
        if !hit.path.is_empty() {
            attributes.push(("heading".into(), hit.path.join(" > ").into()));
        }
        items.push(Item {
            section: section::RETRIEVED.into(),
            id: format!("{collection}/{}#{}-{}", document.id, hit.characters.start, hit.characters.end).into(),
            attributes,
            text: hit.text.as_str().into(),
            memory: None,
            message: None,
            score: Some((sure * SCORE_UNIT) as i64),
        });
    }
    Ok((items, answer.degraded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_ends_between_characters() {
        assert_eq!(&*excerpt("short"), "short");
        let long = "\u{e9}".repeat(EXCERPT_BYTES);
        let shown = excerpt(&long);
        assert!(shown.len() <= EXCERPT_BYTES + 3 && shown.ends_with('\u{2026}'));
        assert!(shown.trim_end_matches('\u{2026}').chars().all(|one| one == '\u{e9}'));
    }
}
