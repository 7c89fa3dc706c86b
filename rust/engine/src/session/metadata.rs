//! The caller's own metadata of a session, which no model ever sees: one map in MessagePack.
//!
//! It is kept beside the record, because most sessions have none.

use super::key::SessionKey;
use super::session::Session;
use crate::limits::MAX_METADATA_BYTES;
use crate::store::chunks;
use crate::store::envelope::Codec;
use crate::store::pages::{Pages, PagesMut};
use crate::{Error, Result};

/// The metadata of a session; empty where it has none.
pub(super) fn read<P: Pages>(pages: &P, place: SessionKey) -> Result<Vec<u8>> {
    Ok(chunks::get(pages, place.metadata())?.map(|(_, body)| body.to_vec()).unwrap_or_default())
}

/// Writes it; an empty one takes no room.
pub(super) fn write(pages: &mut impl PagesMut, place: SessionKey, metadata: &[u8]) -> Result<()> {
    chunks::remove(pages, place.metadata())?;
    if metadata.is_empty() {
        return Ok(());
    }
    chunks::put(pages, place.metadata(), 1, Codec::MessagePack, metadata)
}

impl Session<'_> {
    /// The caller's metadata, as MessagePack; empty where there is none.
    pub fn metadata(&self) -> Result<Vec<u8>> {
        self.engine.store().read(|pages| read(pages, self.expect(pages)?.place))
    }

    /// Replaces it. Nothing is written where it stays the same.
    pub fn set_metadata(&self, metadata: Vec<u8>, now: i64) -> Result<()> {
        if metadata.len() > MAX_METADATA_BYTES {
            return Err(Error::invalid(format!(
                "opening session {:?}: metadata has at most {MAX_METADATA_BYTES} bytes as MessagePack, and it has {}: keep large things elsewhere and a reference here",
                self.id,
                metadata.len()
            ))
            .with("bytes", metadata.len() as i64));
        }
        if self.metadata()? == metadata {
            return Ok(());
        }
        self.edit("keeping metadata", now, move |writer| {
            let place = writer.place;
            write(writer.pages, place, &metadata)
        })
    }

    /// The system prompt and the tools, as JSON, of its present epoch.
    pub fn instructions(&self) -> Result<(Option<String>, Option<String>)> {
        self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let text = |blob: Option<super::stored_epoch::BlobRef>| {
                let bytes = blob.map(|blob| super::transcript::blob::get(pages, status.place.partition, blob.hash)).transpose()?;
                Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
            };
            Ok((text(status.epoch.system)?, text(status.epoch.tools)?))
        })
    }
}
