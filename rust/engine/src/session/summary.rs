//! Summaries as they are stored: a version for each compaction, named by the epochs that show it.
//!
//! A version is never changed, but for lines whose message was redacted: those leave every version at once. Versions that cover messages
//! which were taken back are removed with them; no call that is left was sent one.

use std::ops::ControlFlow;

use super::codec;
use super::key::SessionKey;
use crate::Result;
use crate::compaction::{Line, Section, Summary};
use crate::store::chunks;
use crate::store::envelope::{Codec, damaged};
use crate::store::keys::{Table, u32_at};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};

const SCHEMA: u8 = 1;

/// A summary with how it was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredSummary {
    /// The summary.
    pub summary: Summary,
    /// When, microseconds since 1970 (UTC).
    pub made_at: i64,
    /// How: by rules, by a model whose words were checked, or by rules since the model failed.
    pub checked: String,
    /// Hash of the prompt that the model was given; empty without one.
    pub prompt: String,
    /// Lines of the model that were refused.
    pub refused: u64,
}

fn write_numbers(w: &mut Writer, numbers: &[u64]) {
    codec::write_list(w, numbers, |w, number| w.uint(*number));
}

fn write_line(w: &mut Writer, line: &Line) {
    w.nested(5);
    w.uint(line.section as u64);
    w.text(&line.text);
    write_numbers(w, &line.sources);
    w.int(line.score);
    w.bool(line.by_model);
}

fn read_line<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Line> {
    let mut r = codec::inner(r, key)?;
    let section = Section::from_number(r.uint()?).ok_or_else(|| damaged(key, "it names no section of a summary"))?;
    let (text, sources) = (r.text()?.into(), codec::read_list(&mut r, Reader::uint)?);
    Ok(Line { section, text, sources, score: r.int()?, by_model: r.bool()? })
}

impl StoredSummary {
    fn encode(&self) -> Vec<u8> {
        let mut w = Writer::array(10);
        w.uint(self.summary.covers.start);
        w.uint(self.summary.covers.end);
        codec::write_list(&mut w, &self.summary.lines, write_line);
        codec::write_list(&mut w, &self.summary.calls, |w, (name, count)| {
            w.nested(2);
            w.text(name);
            w.uint(*count);
        });
        w.uint(self.summary.left_out);
        write_numbers(&mut w, &self.summary.erased);
        w.int(self.made_at);
        w.text(&self.checked);
        w.text(&self.prompt);
        w.uint(self.refused);
        w.into_bytes()
    }

    fn decode(key: &[u8], body: &[u8]) -> Result<Self> {
        let mut r = Reader::array(key, body)?;
        let covers = r.uint()?..r.uint()?;
        let lines = codec::read_list(&mut r, |r| read_line(r, key))?;
        let calls = codec::read_list(&mut r, |r| {
            let mut r = codec::inner(r, key)?;
            Ok((r.text()?.into(), r.uint()?))
        })?;
        let summary = Summary { covers, lines, calls, left_out: r.uint()?, erased: codec::read_list(&mut r, Reader::uint)? };
        let (made_at, checked, prompt) = (r.int()?, r.text()?.to_owned(), r.text()?.to_owned());
        Ok(Self { summary, made_at, checked, prompt, refused: r.uint()? })
    }

    /// A version; `None` for version 0.
    pub(super) fn read<P: Pages>(pages: &P, place: SessionKey, version: u64) -> Result<Option<Self>> {
        if version == 0 {
            return Ok(None);
        }
        let key = place.summary(version);
        let missing = || damaged(key.as_slice(), "its epoch refers to it and it is missing");
        let (_, body) = chunks::get(pages, key)?.ok_or_else(missing)?;
        Self::decode(key.as_slice(), &body).map(Some)
    }

    /// Writes it.
    pub(super) fn write(&self, pages: &mut impl PagesMut, place: SessionKey, version: u64) -> Result<()> {
        chunks::put(pages, place.summary(version), SCHEMA, Codec::MessagePack, &self.encode())
    }
}

/// The newest version of a session, 0 for none. One look-up, however many there are.
pub(super) fn newest<P: Pages>(pages: &P, place: SessionKey) -> Result<u64> {
    let prefix = place.all(Table::Summary);
    let last = place.summary(u64::from(u32::MAX)).u16(u16::MAX);
    let found = pages.floor(last.as_slice())?.filter(|(key, _)| key.starts_with(prefix.as_slice()));
    Ok(found.and_then(|(key, _)| u32_at(key, 9)).map_or(0, u64::from))
}

/// The versions of a session, ascending.
pub(super) fn versions<P: Pages>(pages: &P, place: SessionKey) -> Result<Vec<u64>> {
    let (range, mut found) = (place.all(Table::Summary).prefix_range(), Vec::new());
    pages.scan(&range.start, &range.end, &mut |key, _| {
        found.extend(u32_at(key, 9).map(u64::from).filter(|version| found.last() != Some(version)));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// A version that lacks more than so many of the last messages of the shown one is not gone back to: they would be read anew.
const MOST_LACKING: u64 = 64;

/// The newest version that `is_richer` accepts, of those that cover the messages before `end`, or lack a few of the last.
pub(super) fn richer<P: Pages>(pages: &P, place: SessionKey, end: u64, is_richer: impl Fn(&Summary) -> bool) -> Result<Option<Summary>> {
    for version in versions(pages, place)?.into_iter().rev() {
        let Some(StoredSummary { summary, .. }) = StoredSummary::read(pages, place, version)? else { continue };
        if summary.covers.end + MOST_LACKING < end {
            break; // and so do those before it
        }
        if summary.covers.end <= end && is_richer(&summary) {
            return Ok(Some(summary));
        }
    }
    Ok(None)
}

/// Takes what message `index` said out of every version; says whether there was anything.
pub(super) fn erase(pages: &mut impl PagesMut, place: SessionKey, index: u64) -> Result<bool> {
    let mut changed = false;
    for version in versions(&*pages, place)? {
        let Some(mut stored) = StoredSummary::read(&*pages, place, version)? else { continue };
        if stored.summary.erase(index) {
            stored.write(pages, place, version)?;
            changed = true;
        }
    }
    Ok(changed)
}

/// Removes the versions that cover message `at` or later; the newest that is left, 0 for none.
pub(super) fn cut_back(pages: &mut impl PagesMut, place: SessionKey, at: u64) -> Result<u64> {
    let mut newest = 0;
    for version in versions(&*pages, place)? {
        let covers = StoredSummary::read(&*pages, place, version)?.map_or(0, |stored| stored.summary.covers.end);
        if covers > at {
            chunks::remove(pages, place.summary(version))?;
        } else {
            newest = version;
        }
    }
    Ok(newest)
}

/// Copies the versions that cover nothing from message `at` on; the newest of them.
pub(super) fn copy(pages: &mut impl PagesMut, from: SessionKey, to: SessionKey, at: u64) -> Result<u64> {
    let mut newest = 0;
    for version in versions(&*pages, from)? {
        let Some(stored) = StoredSummary::read(&*pages, from, version)? else { continue };
        if stored.summary.covers.end <= at {
            stored.write(pages, to, version)?;
            newest = version;
        }
    }
    Ok(newest)
}

/// Where the messages begin that no summary stands for.
pub(super) fn covered<P: Pages>(pages: &P, place: SessionKey, version: u64) -> Result<u64> {
    Ok(StoredSummary::read(pages, place, version)?.map_or(0, |stored| stored.summary.covers.end))
}
