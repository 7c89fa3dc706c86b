//! The partial reply of a stream, written down while it arrives: after a crash the words that a user has read are still there.
//!
//! There is one for each session. Each checkpoint replaces it, and the reply itself removes it. So does every call that takes messages
//! back or their text out, because it may answer them. It is not a message: no prompt shows it, and a session that went on since says so
//! by its length.

use std::sync::Arc;
use std::time::Duration;

use crate::session::key::SessionKey;
use crate::session::record::{self, SessionRecord};
use crate::session::responses::is_taken_back;
use crate::session::session::Session;
use crate::session::window::assemble::Assembled;
use crate::store::chunks;
use crate::store::envelope::Codec;
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};
use crate::{Error, Result};

const SCHEMA: u8 = 1;
/// How long a checkpoint may wait for other writers.
const CHECKPOINT_WAIT: Duration = Duration::from_millis(50);

/// A reply that is not whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialReply {
    /// How many messages the session had when its prompt was assembled.
    pub messages: u64,
    /// When the first piece came, microseconds since 1970 (UTC).
    pub began_at: i64,
    /// When this was written.
    pub written_at: i64,
    /// Why the stream ended before the reply did, where that is known.
    pub error: Option<String>,
    /// The response as far as it came, JSON in its provider's shape.
    pub response: String,
}

impl PartialReply {
    fn read<P: Pages>(pages: &P, place: SessionKey) -> Result<Option<Self>> {
        let key = place.partial();
        let Some((_, body)) = chunks::get(pages, key)? else { return Ok(None) };
        let mut r = Reader::array(key.as_slice(), &body)?;
        Ok(Some(Self {
            messages: r.uint()?,
            began_at: r.int()?,
            written_at: r.int()?,
            error: r.maybe_text()?.map(str::to_owned),
            response: r.text()?.to_owned(),
        }))
    }

    fn write(&self, pages: &mut impl PagesMut, place: SessionKey) -> Result<()> {
        let mut w = Writer::array(5);
        w.uint(self.messages);
        w.int(self.began_at);
        w.int(self.written_at);
        w.maybe_text(self.error.as_deref());
        w.text(&self.response);
        chunks::put(pages, place.partial(), SCHEMA, Codec::MessagePack, &w.into_bytes())
    }
}

/// Removes it: the reply is there, or nobody wants the rest.
pub(in crate::session) fn remove(pages: &mut impl PagesMut, place: SessionKey) -> Result<bool> {
    chunks::remove(pages, place.partial())
}

impl Session<'_> {
    /// Keeps what came so far of the reply to `prompt`. Nothing is kept where what it answers was taken back since.
    ///
    /// # Errors
    /// `InvalidInput` where it is larger than a message may be.
    pub fn keep_partial(&self, partial: PartialReply, prompt: Option<&Assembled>) -> Result<()> {
        if partial.response.len() > crate::limits::MAX_MESSAGE_BYTES {
            let bytes = partial.response.len();
            return Err(Error::invalid(format!(
                "keeping a reply while it comes: it may have {} bytes, and it has {bytes} (session {:?}): end the stream",
                crate::limits::MAX_MESSAGE_BYTES,
                self.id
            ))
            .with("size_bytes", bytes));
        }
        let (id, scope) = (self.id.to_owned(), self.scope.clone());
        let asked = prompt.map(|prompt| (prompt.place, Arc::clone(&prompt.sent)));
        // While it comes, its feeder must not stand still: the next checkpoint keeps more.
        let most = if partial.error.is_none() { CHECKPOINT_WAIT } else { Duration::MAX };
        self.engine.write_within(most, move |txn| {
            let place = record::locate(&*txn, &scope, &id)?.ok_or_else(|| record::no_such_session(&id))?;
            if let Some((own, sent)) = &asked {
                let now = SessionRecord::read(&*txn, place)?.ok_or_else(|| record::no_such_session(&id))?;
                if *own != place || is_taken_back(&*txn, place, sent, &now)? {
                    return Ok(());
                }
            }
            partial.write(txn, place)
        })
    }

    /// The partial reply; `None` where there is none.
    pub fn partial_reply(&self) -> Result<Option<PartialReply>> {
        self.engine.store().read(|pages| PartialReply::read(pages, self.expect(pages)?.place))
    }

    /// Drops it; `false` where there was none.
    pub fn drop_partial(&self) -> Result<bool> {
        let (id, scope) = (self.id.to_owned(), self.scope.clone());
        self.engine.write(move |txn| match record::locate(&*txn, &scope, &id)? {
            Some(place) => remove(txn, place),
            None => Ok(false),
        })
    }
}
