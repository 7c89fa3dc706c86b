//! An epoch as it is stored: what a session's prompts begin with, and the texts that it refers to.

use super::codec::{self, read_hash};
use super::key::SessionKey;
use crate::Result;
use crate::context::{Epoch, Form, Origin};
use crate::models::Model;
use crate::store::chunks;
use crate::store::envelope::{Codec, damaged};
use crate::store::keys::Partition;
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};

const SCHEMA: u8 = 1;

/// A text that is stored once for all who use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobRef {
    /// Its hash.
    pub hash: u128,
    /// Its bytes.
    pub length: u64,
}

/// An epoch with what only a store must know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEpoch {
    /// The epoch.
    pub epoch: Epoch,
    /// The model of its prompts.
    pub model: Model,
    /// The system prompt.
    pub system: Option<BlobRef>,
    /// The tools, as the JSON they were given in.
    pub tools: Option<BlobRef>,
    /// How often the session had switched models: names the counts made anew.
    pub switch: u16,
    /// The messages that were counted anew at the last switch, as a half-open range.
    pub recounted: (u64, u64),
    /// When it began.
    pub began_at: i64,
    /// The partitions that it read, each with the time of its last write: what those writes ended is no longer true in it.
    pub stamps: Vec<(Partition, i64)>,
    /// Memories are shown with their ids, since one of its tools takes one.
    pub names_memories: bool,
    /// They are, where they are memories of the session's own scope: an id says nothing of another's. Not so before 0.10.0.
    pub own_names: bool,
    /// The message of an epoch that began with a redaction, or the first that was taken back of one that began with a rewind. Not so before
    /// 0.12.0.
    pub taken_back: Option<u64>,
    /// How memories of the other scopes that it reads say which they are of. Not at all before 0.16.0.
    pub origin: Origin,
    /// Messages before this one go without their thinking: it was made behind another prefix, and the model's provider checks that. `None` of
    /// other models, and before 0.21.0.
    pub thinking_from: Option<u64>,
}

/// Fields of a stored epoch before [`StoredEpoch::taken_back`].
const FIELDS_BEFORE_TAKEN_BACK: usize = 11;

fn read_taken_back(r: &mut Reader<'_>) -> Result<Option<u64>> {
    Ok(r.maybe_int()?.map(|message| message as u64))
}

impl StoredEpoch {
    fn encode(&self) -> Vec<u8> {
        let has_thinking = self.thinking_from.is_some();
        let has_origin = self.origin != Origin::Unsaid || has_thinking;
        let has_taken_back = self.taken_back.is_some() || has_origin;
        let fields =
            10 + u32::from(self.own_names || has_taken_back) + u32::from(has_taken_back) + u32::from(has_origin) + u32::from(has_thinking);
        let mut w = Writer::array(fields);
        codec::write_epoch(&mut w, &self.epoch);
        codec::write_model(&mut w, &self.model);
        write_blob_ref(&mut w, self.system);
        write_blob_ref(&mut w, self.tools);
        w.uint(u64::from(self.switch));
        w.uint(self.recounted.0);
        w.uint(self.recounted.1);
        w.int(self.began_at);
        codec::write_list(&mut w, &self.stamps, |w, (partition, time)| {
            w.nested(2);
            w.uint(u64::from(*partition));
            w.int(*time);
        });
        w.bool(self.names_memories);
        if self.own_names || has_taken_back {
            w.bool(self.own_names);
        }
        if has_taken_back {
            w.maybe_int(self.taken_back.map(|message| message as i64));
        }
        if has_origin {
            w.uint(self.origin as u64);
        }
        if let Some(message) = self.thinking_from {
            w.uint(message);
        }
        w.into_bytes()
    }

    /// The epoch of that number.
    pub(super) fn read<P: Pages>(pages: &P, place: SessionKey, number: u64) -> Result<Self> {
        let key = place.epoch(number);
        let Some((_, body)) = chunks::get(pages, key)? else {
            return Err(damaged(key.as_slice(), "its session refers to it and it is missing"));
        };
        let mut r = Reader::array(key.as_slice(), &body)?;
        Ok(Self {
            epoch: codec::read_epoch(&mut r, key.as_slice())?,
            model: codec::read_model(&mut r, key.as_slice())?,
            system: read_blob_ref(&mut r, key.as_slice())?,
            tools: read_blob_ref(&mut r, key.as_slice())?,
            switch: r.uint()? as u16,
            recounted: (r.uint()?, r.uint()?),
            began_at: r.int()?,
            stamps: codec::read_list(&mut r, |r| {
                let mut r = codec::inner(r, key.as_slice())?;
                Ok((r.uint()? as Partition, r.int()?))
            })?,
            names_memories: r.bool()?,
            own_names: r.bool()?,
            taken_back: read_taken_back(&mut r)?,
            origin: codec::read_origin(&mut r, key.as_slice())?,
            thinking_from: r.maybe_int()?.map(|message| message as u64),
        })
    }

    /// How its prompts show the memories of a partition, where that of the session is `own`.
    pub(super) fn form_of(&self, partition: Partition, own: Partition) -> Form {
        let form = if self.names_memories && (partition == own || !self.own_names) { Form::named() } else { Form::dated() };
        Form { origin: if partition == own { Origin::Unsaid } else { self.origin }, ..form }
    }

    /// Whether its prompts show ids of memories of other scopes, which say the same of another memory in the session's own.
    pub(super) fn names_others(&self) -> bool {
        self.names_memories && !self.own_names && self.stamps.len() > 1
    }

    /// The texts that the epoch of that number refers to; also where its model's tokenizer is not loaded in this process.
    pub(super) fn texts<P: Pages>(pages: &P, place: SessionKey, number: u64) -> Result<Vec<BlobRef>> {
        let key = place.epoch(number);
        let Some((_, body)) = chunks::get(pages, key)? else { return Ok(Vec::new()) };
        let mut r = Reader::array(key.as_slice(), &body)?;
        r.raw()?; // the epoch
        r.raw()?; // the model
        let texts = [read_blob_ref(&mut r, key.as_slice())?, read_blob_ref(&mut r, key.as_slice())?];
        Ok(texts.into_iter().flatten().collect())
    }

    /// The epoch of that number with its [`Self::taken_back`], and without the model, whose tokenizer need not be loaded in this process.
    pub(super) fn read_edit<P: Pages>(pages: &P, place: SessionKey, number: u64) -> Result<Option<(Epoch, Option<u64>)>> {
        let key = place.epoch(number);
        let Some((_, body)) = chunks::get(pages, key)? else { return Ok(None) };
        let mut r = Reader::array(key.as_slice(), &body)?;
        let epoch = codec::read_epoch(&mut r, key.as_slice())?;
        for _ in 1..FIELDS_BEFORE_TAKEN_BACK {
            r.raw()?;
        }
        Ok(Some((epoch, read_taken_back(&mut r)?)))
    }

    /// Writes it.
    pub(super) fn write(&self, pages: &mut impl PagesMut, place: SessionKey) -> Result<()> {
        chunks::put(pages, place.epoch(self.epoch.number), SCHEMA, Codec::MessagePack, &self.encode())
    }
}

fn write_blob_ref(w: &mut Writer, blob: Option<BlobRef>) {
    match blob {
        None => w.nil(),
        Some(blob) => {
            w.nested(2);
            w.bin(&blob.hash.to_be_bytes());
            w.uint(blob.length);
        }
    }
}

fn read_blob_ref<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Option<BlobRef>> {
    let Some(mut r) = codec::maybe_inner(r, key)? else { return Ok(None) };
    Ok(Some(BlobRef { hash: read_hash(&mut r, key)?, length: r.uint()? }))
}
