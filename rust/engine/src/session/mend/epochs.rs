//! Epochs: one that was lost is again what its neighbour was, without the texts that are lost.

use super::super::key::SessionKey;
use super::super::record::SessionRecord;
use super::super::stored_epoch::{BlobRef, StoredEpoch};
use super::super::summary::{self, StoredSummary};
use super::super::transcript::blob;
use super::readable;
use crate::Result;
use crate::store::chunks;
use crate::store::pages::{Pages, PagesMut};

/// The epochs of a session, mended.
#[derive(Default)]
pub(super) struct Mended {
    /// The newest is that of another time, maybe with another model.
    pub newest_is_lost: bool,
    /// Prompts lack a text that they had.
    pub texts_are_lost: bool,
    /// The losses, in words.
    pub lost: Vec<String>,
}

/// Writes every epoch anew that is lost or shows a text that is; `None` where all of them are lost.
pub(super) fn mend<P: PagesMut>(pages: &mut P, place: SessionKey, session: &SessionRecord) -> Result<Option<Mended>> {
    let mut found = Vec::new();
    for number in 0..=session.epoch {
        found.push(readable(StoredEpoch::read(&*pages, place, number))?);
    }
    let Some(mut neighbour) = found.iter().flatten().next().cloned() else { return Ok(None) };
    let mut mended = Mended { newest_is_lost: found.last().is_none_or(Option::is_none), ..Mended::default() };
    let gone = found.iter().filter(|epoch| epoch.is_none()).count();
    if gone > 0 {
        mended.lost.push(format!("{gone} of {} epochs", found.len()));
    }
    let mut texts = [false; 3];
    for (number, epoch) in (0..).zip(found) {
        let known = epoch.is_some();
        let mut epoch = epoch.unwrap_or_else(|| neighbour.clone());
        epoch.epoch.number = number;
        let before = epoch.clone();
        epoch.system = there(&*pages, place, epoch.system)?;
        epoch.tools = there(&*pages, place, epoch.tools)?;
        if number == session.epoch {
            // Only the newest needs its summary: a rewind removes those of before, too.
            epoch.epoch.summary_version = newest_summary(&*pages, place, epoch.epoch.summary_version)?;
        }
        texts[0] |= epoch.system != before.system;
        texts[1] |= epoch.tools != before.tools;
        texts[2] |= epoch.epoch.summary_version != before.epoch.summary_version;
        if !known {
            chunks::clear(pages, place.epoch(number))?;
        }
        if !known || epoch != before {
            epoch.write(pages, place)?;
        }
        neighbour = epoch;
    }
    let names = ["the system prompt", "the tools", "a summary"];
    mended.lost.extend(names.into_iter().zip(texts).filter(|(_, gone)| *gone).map(|(name, _)| name.to_owned()));
    mended.texts_are_lost = texts.contains(&true);
    Ok(Some(mended))
}

fn there<P: Pages>(pages: &P, place: SessionKey, text: Option<BlobRef>) -> Result<Option<BlobRef>> {
    let Some(text) = text else { return Ok(None) };
    Ok(readable(blob::get(pages, place.partition, text.hash))?.map(|_| text))
}

/// The newest summary up to a version that can be read; 0 for none.
fn newest_summary<P: Pages>(pages: &P, place: SessionKey, version: u64) -> Result<u64> {
    if version == 0 || readable(StoredSummary::read(pages, place, version))?.flatten().is_some() {
        return Ok(version);
    }
    let mut versions = summary::versions(pages, place)?;
    versions.retain(|known| *known < version);
    for known in versions.into_iter().rev() {
        if readable(StoredSummary::read(pages, place, known))?.flatten().is_some() {
            return Ok(known);
        }
    }
    Ok(0)
}
