//! Encryption of values: the hierarchy of keys, and the sealing of each value.
//!
//! ```text
//! the caller's key ──opens──> the store's key and the secret of its hashes   (in Meta, and once more beside the data keys)
//! the store's key  ──opens──> a data key for each partition                  (Table::DataKey)
//! a data key       ──opens──> the bodies of the partition's values
//!
//! value = envelope with key id 1 ‖ nonce 12 ‖ ciphertext of the body ‖ tag 16
//! context of a value = its key in the store ‖ bytes 0..4 of its envelope: it opens nowhere else
//! ```
//!
//! The layer lies below [`super::pages::Pages`]: everything above sees plain values. The checksum of the envelope stays, over the
//! ciphertext, so that copies, repairs and the reader of pages need no key. Why: `docs/decisions/0036`.

pub mod cache;
pub mod cipher;
pub mod kept;
pub mod memory;
pub mod rekey;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use self::cache::{Cache, Plain};
use self::cipher::{Cipher, KEY_BYTES, OVERHEAD, TAG_BYTES, random};
use self::kept::Kept;
use self::memory::{Region, Secret, wipe};
use super::envelope::{self, Codec, ENVELOPE_BYTES, damaged};
use super::keys::{Key, Partition, STORE, Table, u32_at};
use super::prefetch::prefetch;
use super::{identity, verified};
use crate::{Error, ErrorKind, Result};

/// The key id of an encrypted value.
pub const ENCRYPTED: u16 = 1;

/// Data keys that are kept ready.
const MOST_KEYS: usize = 10_000;

/// The key that a caller opens a store with.
#[derive(PartialEq, Eq)]
pub struct StoreKey([u8; KEY_BYTES]);

impl StoreKey {
    /// From its 32 bytes.
    pub fn new(bytes: &[u8]) -> Result<Self> {
        bytes.try_into().map(Self).map_err(|_| {
            Error::invalid(format!(
                "taking the key of a store: it must have {KEY_BYTES} bytes, and it has {}: draw it with os.urandom({KEY_BYTES}) and keep it",
                bytes.len()
            ))
        })
    }
}

impl Drop for StoreKey {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl std::fmt::Debug for StoreKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StoreKey")
    }
}

const SALT_BYTES: usize = 16;
/// The store's key, then the secret of its hashes, then whether they are keyed (bit 0), and those of terms, too (bit 1).
const SEALED_TEXT: usize = KEY_BYTES + 16 + 1;

/// The values that the caller's key opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sealed {
    /// Drawn when the store was encrypted: data keys of another store do not open in this one.
    pub salt: [u8; SALT_BYTES],
    /// The store's key and the secret of its hashes.
    pub sealed: [u8; SEALED_TEXT + OVERHEAD],
}

impl Sealed {
    /// From salt and sealed bytes as one.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (salt, sealed) = bytes.split_first_chunk()?;
        Some(Self { salt: *salt, sealed: sealed.try_into().ok()? })
    }

    /// Salt and sealed bytes as one.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        [&self.salt[..], &self.sealed].concat()
    }
}

fn context_of_store(salt: &[u8; SALT_BYTES]) -> Vec<u8> {
    [b"memspan store key", &salt[..]].concat()
}

fn context_of_data_key(salt: &[u8; SALT_BYTES], partition: Partition) -> Vec<u8> {
    [b"memspan data key", &salt[..], &partition.to_be_bytes()].concat()
}

/// Where the data key of a partition stands.
#[must_use]
pub fn record_of(partition: Partition) -> Key {
    Key::new(STORE, Table::DataKey).u32(partition)
}

/// Whether the value at `key` stays plain: it is read before there is a key, or is sealed already.
#[must_use]
pub fn is_exempt(key: &[u8]) -> bool {
    key.get(..4) == Some(&[0; 4])
        && key.get(4).is_some_and(|table| [Table::Meta, Table::Retired, Table::DataKey].map(|t| t as u8).contains(table))
}

/// The keys of an open store, and its cache of decrypted values.
#[derive(Debug)]
pub struct Vault {
    salt: [u8; SALT_BYTES],
    store_key: Secret,
    cipher: Cipher,
    keys: Mutex<BTreeMap<Partition, Arc<Cipher>>>,
    cache: Cache,
    region: Option<Arc<Region>>,
}

impl Vault {
    /// A vault with a new key.
    pub fn new() -> Result<Self> {
        let mut key = random()?;
        let vault = Self::of(random()?, &key);
        wipe(&mut key);
        vault
    }

    fn of(salt: [u8; SALT_BYTES], key: &[u8; KEY_BYTES]) -> Result<Self> {
        let region = Region::new().map(Arc::new);
        let mut store_key = Secret::with_room(region.as_ref(), KEY_BYTES);
        store_key.bytes_mut().copy_from_slice(key);
        Ok(Self { salt, store_key, cipher: Cipher::new(key)?, keys: Mutex::default(), cache: Cache::default(), region })
    }

    /// The store's key and `secret`, to be opened with `key` from now on.
    pub fn seal_for(&self, key: &StoreKey, secret: identity::Secret) -> Result<Sealed> {
        let mut text = [self.store_key.bytes(), &secret.key, &[u8::from(secret.keyed) | u8::from(secret.terms_keyed) << 1]].concat();
        let mut sealed = Vec::new();
        Cipher::new(&key.0)?.seal(&context_of_store(&self.salt), &text, &mut sealed)?;
        wipe(&mut text);
        let sealed = sealed
            .try_into()
            .map_err(|_| Error::invalid("sealing a key: its length must be 32 bytes, and it is not: please report this"))?;
        Ok(Sealed { salt: self.salt, sealed })
    }

    /// Opens what [`Self::seal_for`] sealed; none where the key is another one.
    pub fn open(key: &StoreKey, sealed: &Sealed) -> Result<Option<(Self, identity::Secret)>> {
        let mut room = [0; SEALED_TEXT + TAG_BYTES];
        let opened = Cipher::new(&key.0)?.open(&context_of_store(&sealed.salt), &sealed.sealed, &mut room);
        let Some((store_key, rest)) = opened.as_deref().and_then(|text| text.split_first_chunk::<KEY_BYTES>()) else { return Ok(None) };
        let secret =
            identity::Secret { key: rest[..16].try_into().unwrap_or_default(), keyed: rest[16] & 1 != 0, terms_keyed: rest[16] & 2 != 0 };
        let vault = Self::of(sealed.salt, store_key);
        wipe(&mut room);
        Ok(Some((vault?, secret)))
    }

    /// How many bytes of decrypted values the system keeps out of swap.
    #[must_use]
    pub fn locked_bytes(&self) -> usize {
        self.region.as_ref().map_or(0, |region| region.locked_bytes())
    }

    /// Forgets data keys and decrypted values.
    pub fn forget(&self) {
        self.keys().clear();
        self.cache.clear();
    }

    fn keys(&self) -> std::sync::MutexGuard<'_, BTreeMap<Partition, Arc<Cipher>>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The data key of a partition, whose record `committed` looks up among what is committed; none where it has none.
    pub fn data_key<'v>(
        &self,
        partition: Partition,
        committed: impl FnOnce(&[u8]) -> Result<Option<&'v [u8]>>,
    ) -> Result<Option<Arc<Cipher>>> {
        if let Some(known) = self.keys().get(&partition) {
            return Ok(Some(Arc::clone(known)));
        }
        let record = record_of(partition);
        let Some(value) = committed(record.as_slice())? else { return Ok(None) };
        let cipher = Arc::new(self.unwrap(partition, envelope::open(record.as_slice(), value)?.body)?);
        let mut keys = self.keys();
        if keys.len() >= MOST_KEYS {
            keys.clear();
        }
        keys.insert(partition, Arc::clone(&cipher));
        Ok(Some(cipher))
    }

    fn unwrap(&self, partition: Partition, wrapped: &[u8]) -> Result<Cipher> {
        let mut room = [0; KEY_BYTES + TAG_BYTES];
        let opened = self.cipher.open(&context_of_data_key(&self.salt, partition), wrapped, &mut room);
        let key = opened.as_deref().and_then(|key| key.try_into().ok());
        let cipher = key.map_or_else(|| Err(damaged(record_of(partition).as_slice(), "the store's key does not open it")), Cipher::new);
        wipe(&mut room);
        cipher
    }

    /// A new data key for a partition, and the value of its record.
    pub fn new_data_key(&self, partition: Partition) -> Result<(Arc<Cipher>, Vec<u8>)> {
        let (mut key, mut wrapped) = (random()?, Vec::new());
        let cipher = Cipher::new(&key);
        let sealed = self.cipher.seal(&context_of_data_key(&self.salt, partition), &key, &mut wrapped);
        wipe(&mut key);
        sealed?;
        Ok((Arc::new(cipher?), envelope::seal(record_of(partition).as_slice(), 1, Codec::Raw, &wrapped)))
    }

    /// The plain value of what is stored at `key`.
    pub fn reveal<'s>(
        &'s self,
        kept: &'s Kept,
        key: &[u8],
        stored: &'s [u8],
        committed: impl FnOnce(&[u8]) -> Result<Option<&'s [u8]>>,
    ) -> Result<&'s [u8]> {
        if is_exempt(key) {
            return Ok(stored);
        }
        let tag = tag_of(key, stored)?;
        if let Some(plain) = self.cache.get(&tag, key) {
            return Ok(kept.keep(plain));
        }
        let data_key = self.data_key_of(key, committed)?;
        self.reveal_anew(kept, &data_key, key, tag, stored)
    }

    /// Shows the plain value of what is stored at `key`, and keeps it nowhere: one who goes through a store reads each value once.
    pub fn show<'s, T>(
        &'s self,
        key: &[u8],
        stored: &[u8],
        committed: impl FnOnce(&[u8]) -> Result<Option<&'s [u8]>>,
        look: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<T> {
        if is_exempt(key) {
            return look(stored);
        }
        let tag = tag_of(key, stored)?;
        match self.cache.get(&tag, key) {
            Some(plain) => look(plain.value.bytes()),
            None => look(self.vouched(&*self.data_key_of(key, committed)?, key, stored)?.bytes()),
        }
    }

    fn data_key_of<'s>(&self, key: &[u8], committed: impl FnOnce(&[u8]) -> Result<Option<&'s [u8]>>) -> Result<Arc<Cipher>> {
        let partition = u32_at(key, 0).ok_or_else(|| damaged(key, "its key is too short"))?;
        let data_key = self.data_key(partition, committed)?;
        data_key.ok_or_else(|| damaged(key, "the data key of its partition is not there: it was erased, or is damaged"))
    }

    /// Reveals a value with its data key.
    pub fn reveal_with<'s>(&'s self, kept: &'s Kept, data_key: &Cipher, key: &[u8], stored: &[u8]) -> Result<&'s [u8]> {
        let tag = tag_of(key, stored)?;
        match self.cache.get(&tag, key) {
            Some(plain) => Ok(kept.keep(plain)),
            None => self.reveal_anew(kept, data_key, key, tag, stored),
        }
    }

    fn reveal_anew<'s>(&'s self, kept: &'s Kept, data_key: &Cipher, key: &[u8], tag: cache::Tag, stored: &[u8]) -> Result<&'s [u8]> {
        let plain = Arc::new(Plain { key: Key::from_slice(key)?, tag, value: self.vouched(data_key, key, stored)? });
        self.cache.put(&plain);
        Ok(kept.keep(plain))
    }

    /// The plain value, with an envelope that needs no check and must not be stored.
    fn vouched(&self, data_key: &Cipher, key: &[u8], stored: &[u8]) -> Result<Secret> {
        let mut value = self.opened(data_key, key, stored)?;
        envelope::seal_vouched(stored[0], stored[1], value.bytes_mut());
        verified::note(value.bytes()); // nothing is known any more of what lay here before
        Ok(value)
    }

    /// The plain value as it may be stored, envelope included.
    pub fn decrypt(&self, data_key: &Cipher, key: &[u8], stored: &[u8]) -> Result<Secret> {
        let mut value = self.opened(data_key, key, stored)?;
        envelope::seal_in_place(key, stored[0], stored[1], value.bytes_mut());
        Ok(value)
    }

    /// Its body, behind room for an envelope.
    fn opened(&self, data_key: &Cipher, key: &[u8], stored: &[u8]) -> Result<Secret> {
        let (head, sealed) = stored.split_at_checked(ENVELOPE_BYTES).ok_or_else(|| damaged(key, "it is shorter than its envelope"))?;
        prefetch(sealed, 0, sealed.len()); // the copy below asks for one line after another
        let length = sealed.len().checked_sub(OVERHEAD).ok_or_else(|| damaged(key, "it is shorter than what encryption adds"))?;
        let mut value = Secret::with_room(self.region.as_ref(), ENVELOPE_BYTES + length + TAG_BYTES);
        let opened = data_key.open(&context_of(key, head), sealed, &mut value.bytes_mut()[ENVELOPE_BYTES..]);
        if opened.is_none() {
            return Err(damaged(key, "it was not encrypted with its key at this place, or its bytes changed"));
        }
        value.truncate(ENVELOPE_BYTES + length);
        Ok(value)
    }

    /// The stored form of a plain value at `key`.
    pub fn encrypt(data_key: &Cipher, key: &[u8], value: &[u8]) -> Result<Vec<u8>> {
        let (head, body) = value.split_at_checked(ENVELOPE_BYTES).ok_or_else(|| damaged(key, "it is shorter than its envelope"))?;
        let head = [head[0], head[1], ENCRYPTED as u8, 0];
        let mut stored = Vec::with_capacity(value.len() + OVERHEAD);
        stored.extend_from_slice(&[0; ENVELOPE_BYTES]);
        data_key.seal(&context_of(key, &head), body, &mut stored)?;
        envelope::seal_with_key(key, head, &mut stored);
        Ok(stored)
    }

    /// Keeps a value that was just encrypted, because its writer reads it next.
    pub fn remember(&self, key: &[u8], value: &[u8], stored: &[u8]) -> Result<()> {
        let mut plain = Secret::with_room(self.region.as_ref(), value.len());
        plain.bytes_mut().copy_from_slice(value);
        self.cache.put(&Arc::new(Plain { key: Key::from_slice(key)?, tag: tag_of(key, stored)?, value: plain }));
        Ok(())
    }
}

fn context_of(key: &[u8], head: &[u8]) -> Vec<u8> {
    [key, &head[..4]].concat()
}

/// Whether a stored value says that it is encrypted.
#[must_use]
pub fn is_encrypted(stored: &[u8]) -> bool {
    stored.get(2..4) == Some(&ENCRYPTED.to_le_bytes())
}

/// The tag of an encrypted value; anything else is not a value of an encrypted store.
fn tag_of(key: &[u8], stored: &[u8]) -> Result<cache::Tag> {
    let tag = stored.last_chunk().filter(|_| is_encrypted(stored) && stored.len() >= ENVELOPE_BYTES + OVERHEAD);
    tag.copied().ok_or_else(|| damaged(key, "it is not encrypted, and the store is"))
}

/// The error of a key that does not fit a store.
#[must_use]
pub fn wrong_key(store: &std::path::Path, reason: &str, why: &str) -> Error {
    Error::new(ErrorKind::WrongKey, format!("opening {}: {why}", store.display())).with("reason", reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: identity::Secret = identity::Secret { key: [9; 16], keyed: true, terms_keyed: true };

    #[test]
    fn only_the_key_that_sealed_it_opens_a_store() {
        let (key, other) = (StoreKey::new(&[1; 32]).expect("a key"), StoreKey::new(&[2; 32]).expect("a key"));
        let vault = Vault::new().expect("a vault");
        let sealed = vault.seal_for(&key, SECRET).expect("sealed");
        assert_eq!(Sealed::from_bytes(&sealed.bytes()), Some(sealed));
        let (opened, secret) = Vault::open(&key, &sealed).expect("opened").expect("the right key");
        assert_eq!((opened.store_key.bytes(), secret), (vault.store_key.bytes(), SECRET));
        assert!(Vault::open(&other, &sealed).expect("tried").is_none());
        assert_eq!(StoreKey::new(b"short").expect_err("too short").kind(), ErrorKind::InvalidInput);
    }

    #[test]
    fn a_value_opens_at_its_own_place_alone_and_a_plain_one_nowhere() {
        let vault = Vault::new().expect("a vault");
        let (cipher, record) = vault.new_data_key(7).expect("a key");
        let (here, there) = (Key::new(7, Table::Head), Key::new(7, Table::Head).u8(1));
        let plain = envelope::seal(here.as_slice(), 1, Codec::Raw, &[5; 4072]);
        let stored = Vault::encrypt(&cipher, here.as_slice(), &plain).expect("encrypted");
        assert_eq!(stored.len(), plain.len() + OVERHEAD);
        assert!(envelope::open(here.as_slice(), &stored).is_ok(), "the checksum needs no key");
        let read = |key: &Key, stored: &[u8]| {
            let kept = Kept::default();
            let value = vault.reveal(&kept, key.as_slice(), stored, |_| Ok(Some(&record)))?;
            envelope::open(key.as_slice(), value).map(|envelope| envelope.body.to_vec())
        };
        assert_eq!(read(&here, &stored).expect("opened"), plain[ENVELOPE_BYTES..]);
        assert_eq!(read(&here, &stored).expect("from the cache"), plain[ENVELOPE_BYTES..]);
        let opened = vault.decrypt(&cipher, here.as_slice(), &stored).expect("opened");
        assert_eq!(opened.bytes(), plain, "as it may be stored");
        assert!(read(&there, &stored).is_err());
        assert!(read(&here, &plain).is_err(), "somebody put a value there that was never encrypted");
        vault.forget();
        assert!(vault.reveal(&Kept::default(), here.as_slice(), &stored, |_| Ok(None)).is_err(), "without its data key");
    }
}
