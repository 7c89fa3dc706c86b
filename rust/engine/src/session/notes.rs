//! Notes of a session: shown in its prompts whatever leaves the window, gone with it, and no memory.

use std::ops::ControlFlow;

use super::key::SessionKey;
use super::session::Session;
use super::writer::SessionWriter;
use crate::context::Item;
use crate::context::limit::section;
use crate::store::chunks;
use crate::store::envelope::Codec;
use crate::store::keys::{Table, u32_at};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};
use crate::{Error, Result};

/// The longest note.
const MAX_BYTES: usize = 16 << 10;
/// Notes of a session.
const MOST: usize = 64;

/// The notes of a session, in the order they were made: number, text.
pub(super) fn list<P: Pages>(pages: &P, place: SessionKey) -> Result<Vec<(u32, String)>> {
    let (range, mut numbers) = (place.all(Table::Note).prefix_range(), Vec::new());
    pages.scan(&range.start, &range.end, &mut |key, _| {
        numbers.extend(u32_at(key, 9).filter(|number| numbers.last() != Some(number)));
        Ok(ControlFlow::Continue(()))
    })?;
    let mut notes = Vec::with_capacity(numbers.len());
    for number in numbers {
        let key = place.note(number);
        if let Some((_, body)) = chunks::get(pages, key)? {
            notes.push((number, Reader::array(key.as_slice(), &body)?.text()?.to_owned()));
        }
    }
    Ok(notes)
}

/// The notes of a session as a prompt shows them.
pub(super) fn items<P: Pages>(pages: &P, place: SessionKey) -> Result<Vec<Item>> {
    let item = |(number, text): (u32, String)| Item {
        section: section::TASK.into(),
        id: format!("note-{number}").into(),
        attributes: vec![("key".into(), "note".into())],
        text: text.into(),
        memory: None,
        message: None,
        document: None,
        form: crate::context::Form::dated(),
        score: None,
    };
    Ok(list(pages, place)?.into_iter().map(item).collect())
}

fn write(pages: &mut impl PagesMut, place: SessionKey, number: u32, text: &str) -> Result<()> {
    let mut w = Writer::array(1);
    w.text(text);
    chunks::put(pages, place.note(number), 1, Codec::MessagePack, w.bytes())
}

/// Copies the notes of a session to another.
pub(super) fn copy(pages: &mut impl PagesMut, from: SessionKey, to: SessionKey) -> Result<()> {
    list(&*pages, from)?.into_iter().try_for_each(|(number, text)| write(pages, to, number, &text))
}

impl Session<'_> {
    /// Notes of the session: number, text.
    pub fn notes(&self) -> Result<Vec<(u32, String)>> {
        let place = self.status()?.place;
        self.engine.store().read(|pages| list(pages, place))
    }

    /// Adds a note; one that is there already is not added twice. Its number.
    pub fn add_note(&self, text: &str, now: i64) -> Result<u32> {
        let text = check(text)?.to_owned();
        self.edit("adding a note", now, move |writer| add(writer, &text))
    }

    /// Takes a note out; `false` where there was none of that number.
    pub fn remove_note(&self, number: u32, now: i64) -> Result<bool> {
        self.edit("removing a note", now, move |writer| chunks::remove(writer.pages, writer.place.note(number)))
    }
}

fn add<P: PagesMut>(writer: &mut SessionWriter<'_, P>, text: &str) -> Result<u32> {
    let notes = list(&*writer.pages, writer.place)?;
    if let Some((number, _)) = notes.iter().find(|(_, known)| known == text) {
        return Ok(*number);
    }
    if notes.len() == MOST {
        return Err(Error::invalid(format!(
            "adding a note to session {:?}: it may have at most {MOST} notes, and it has that many: remove one, or remember() what is true beyond the session",
            writer.record.id
        )));
    }
    let number = notes.last().map_or(1, |(number, _)| number + 1);
    write(writer.pages, writer.place, number, text)?;
    Ok(number)
}

fn check(text: &str) -> Result<&str> {
    if text.trim().is_empty() || text.len() > MAX_BYTES {
        return Err(Error::invalid(format!(
            "adding a note: it must have 1 to {MAX_BYTES} bytes of text, and it has {}: give a sentence or two",
            text.len()
        ))
        .with("size_bytes", text.len()));
    }
    Ok(text)
}
