//! Versions of a session's instructions: which system prompts and tool schemas it had, and since when. Epochs refer to them; nothing else
//! is stored, and a version lasts as long as its session.

use std::ops::ControlFlow;

use super::key::SessionKey;
use super::session::Session;
use super::stored_epoch::{BlobRef, StoredEpoch};
use super::transcript::blob;
use crate::Result;
use crate::store::envelope::damaged;
use crate::store::keys::{Table, u32_at};
use crate::store::pages::Pages;

/// A system prompt or tool schemas, as they were given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionsVersion {
    /// Tools, or else a system prompt.
    pub is_tools: bool,
    /// Its number, from 1 for each of the two.
    pub number: u64,
    /// The first epoch with it.
    pub epoch: u64,
    /// When that began, microseconds since 1970 (UTC).
    pub since: i64,
    /// The text; of tools their JSON.
    pub text: String,
}

impl Session<'_> {
    /// Every version that the session had, oldest first. Reads every epoch.
    pub fn versions(&self) -> Result<Vec<InstructionsVersion>> {
        self.engine.store().read(|pages| {
            let place = self.expect(pages)?.place;
            let mut versions: Vec<InstructionsVersion> = Vec::new();
            for number in epochs(pages, place)? {
                let stored = StoredEpoch::read(pages, place, number)?;
                let of = [(false, stored.epoch.system_version, stored.system), (true, stored.epoch.tools_version, stored.tools)];
                for (is_tools, number, text) in of {
                    let Some(text) = text else { continue };
                    if versions.iter().any(|known| (known.is_tools, known.number) == (is_tools, number)) {
                        continue;
                    }
                    let text = text_of(pages, place, text)?;
                    versions.push(InstructionsVersion { is_tools, number, epoch: stored.epoch.number, since: stored.began_at, text });
                }
            }
            Ok(versions)
        })
    }
}

/// The numbers of the epochs that are stored, ascending.
fn epochs<P: Pages>(pages: &P, place: SessionKey) -> Result<Vec<u64>> {
    let (range, mut numbers) = (place.all(Table::Epoch).prefix_range(), Vec::new());
    pages.scan(&range.start, &range.end, &mut |key, _| {
        numbers.extend(u32_at(key, 9).map(u64::from).filter(|number| numbers.last() != Some(number)));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(numbers)
}

fn text_of<P: Pages>(pages: &P, place: SessionKey, text: BlobRef) -> Result<String> {
    String::from_utf8(blob::get(pages, place.partition, text.hash)?)
        .map_err(|_| damaged(place.record().as_slice(), "its instructions are not UTF-8"))
}
