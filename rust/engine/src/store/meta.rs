//! The two records of a generation about itself: its identity, and whether it has been retired.

use super::envelope::{self, Codec};
use super::folder::GenerationNumber;
use super::identity::{Secret, StoreId};
use super::keys::{Key, STORE, Table};
use super::msgpack::{Reader, Writer};
use super::pages::{Pages, PagesMut};
use super::vault::{self, Sealed};
use crate::Result;

/// The record of a store about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// The layout of its bytes.
    pub format: u32,
    /// When it was made, microseconds since 1970 (UTC).
    pub created_at: i64,
    /// Which store it is; none in formats before 4.
    pub store: Option<StoreId>,
    /// The number of the generation that the record is in.
    pub generation: GenerationNumber,
    /// The key of its hashes; in an encrypted store it is sealed.
    pub secret: Secret,
    /// The values that the caller's key opens; none in a store that is not encrypted.
    pub sealed: Option<Sealed>,
}

/// Where the second copy of what is sealed stands: a store whose record of itself is damaged can still be saved.
fn copy_of_sealed() -> Key {
    vault::record_of(u32::MAX)
}

impl Meta {
    /// Writes it.
    pub fn write(&self, pages: &mut impl PagesMut) -> Result<()> {
        let key = Key::new(STORE, Table::Meta);
        let mut body = Writer::array(if self.sealed.is_some() || self.secret.terms_keyed { 8 } else { 6 });
        let secret = if self.sealed.is_some() { Secret::default() } else { self.secret };
        body.uint(u64::from(self.format));
        body.int(self.created_at);
        body.bin(self.store.as_ref().map_or(&[], |id| &id.0));
        body.uint(u64::from(self.generation));
        body.bin(&secret.key);
        body.bool(secret.keyed);
        if let Some(sealed) = &self.sealed {
            let (copy, sealed) = (copy_of_sealed(), sealed.bytes());
            body.bin(&sealed);
            body.bool(false);
            pages.put(copy.as_slice(), &envelope::seal(copy.as_slice(), 1, Codec::Raw, &sealed))?;
        } else if self.secret.terms_keyed {
            body.bin(&[]);
            body.bool(true);
        }
        pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, body.bytes()))
    }

    /// Reads it; a store without one was never finished.
    pub fn read(pages: &(impl Pages + ?Sized)) -> Result<Option<Self>> {
        let key = Key::new(STORE, Table::Meta);
        let Some(value) = pages.get(key.as_slice())? else { return Ok(None) };
        let mut body = Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?;
        let mut meta = Self {
            format: body.uint()? as u32,
            created_at: body.int()?,
            store: body.bin()?.try_into().ok().map(StoreId),
            generation: body.uint()? as GenerationNumber,
            secret: Secret { key: body.bin()?.try_into().unwrap_or_default(), keyed: body.bool()?, terms_keyed: false },
            sealed: sealed_of(key.as_slice(), body.bin()?)?,
        };
        meta.secret.terms_keyed = body.bool()?;
        Ok(Some(meta))
    }

    /// Reads it where it must be.
    pub fn expect(pages: &(impl Pages + ?Sized)) -> Result<Self> {
        Self::read(pages)?.ok_or_else(|| envelope::damaged(Key::new(STORE, Table::Meta).as_slice(), "it is missing"))
    }

    /// Which store it is of.
    pub fn identity(&self) -> Result<StoreId> {
        self.store.ok_or_else(|| envelope::damaged(Key::new(STORE, Table::Meta).as_slice(), "it does not say which store it is"))
    }

    /// The sealed values, from their second copy.
    pub fn read_copy_of_sealed(pages: &(impl Pages + ?Sized)) -> Result<Option<Sealed>> {
        let key = copy_of_sealed();
        let Some(value) = pages.get(key.as_slice())? else { return Ok(None) };
        sealed_of(key.as_slice(), envelope::open(key.as_slice(), value)?.body)
    }
}

fn sealed_of(key: &[u8], bytes: &[u8]) -> Result<Option<Sealed>> {
    if bytes.is_empty() {
        return Ok(None);
    }
    Sealed::from_bytes(bytes).map(Some).ok_or_else(|| envelope::damaged(key, "the key that it has is of another length"))
}

/// The generation that replaced this one, if any.
pub fn retired(pages: &(impl Pages + ?Sized)) -> Result<Option<GenerationNumber>> {
    let key = Key::new(STORE, Table::Retired);
    let Some(value) = pages.get_beside_damage(key.as_slice())? else { return Ok(None) };
    Ok(Some(Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?.uint()? as GenerationNumber))
}

/// Marks this generation as replaced by `next`: its last write.
pub fn retire(pages: &mut impl PagesMut, next: GenerationNumber) -> Result<()> {
    let key = Key::new(STORE, Table::Retired);
    let mut body = Writer::array(1);
    body.uint(u64::from(next));
    pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, body.bytes()))
}
