//! Bodies of any length as one-page values: `key | chunk u16`.
//!
//! LMDB keeps a value above half a page in a run of whole pages, and finds runs of free pages badly. So a body longer
//! than a page becomes several values; every chunk but the last has [`envelope::CONTINUES`] set.

use std::borrow::Cow;
use std::ops::ControlFlow;

use super::envelope::{self, CONTINUES, Codec, Envelope, ONE_PAGE_BODY, damaged};
use super::keys::Key;
use super::pages::{Pages, PagesMut};
use super::verified;
use crate::{Error, ErrorKind, Result};

/// Chunks are numbered by 16 bits.
const MAX_CHUNKS: usize = 1 << 16;

/// Stores `body` under `key`, replacing all chunks of what was there.
pub fn put(pages: &mut impl PagesMut, key: Key, schema: u8, codec: Codec, body: &[u8]) -> Result<()> {
    let count = body.len().div_ceil(ONE_PAGE_BODY).max(1);
    if count > MAX_CHUNKS {
        return Err(Error::invalid(format!(
            "storing a value: it may have {} bytes, and it has {}: store less at once",
            MAX_CHUNKS * ONE_PAGE_BODY,
            body.len()
        )));
    }
    for index in 0..count {
        let part = &body[index * ONE_PAGE_BODY..body.len().min((index + 1) * ONE_PAGE_BODY)];
        let chunk = key.u16(index as u16);
        let mut value = vec![0; envelope::ENVELOPE_BYTES + part.len()];
        value[envelope::ENVELOPE_BYTES..].copy_from_slice(part);
        let goes_on = if index + 1 < count { CONTINUES } else { 0 };
        envelope::seal_in_place(chunk.as_slice(), schema, codec as u8 | goes_on, &mut value);
        pages.put(chunk.as_slice(), &value)?;
    }
    remove_from(pages, key, count)
}

/// Removes every chunk of `key`; says whether there was one.
pub fn remove(pages: &mut impl PagesMut, key: Key) -> Result<bool> {
    let was = pages.delete(key.u16(0).as_slice())?;
    if was {
        remove_from(pages, key, 1)?;
    }
    Ok(was)
}

fn remove_from(pages: &mut impl PagesMut, key: Key, first: usize) -> Result<()> {
    for index in first..=usize::from(u16::MAX) {
        if !pages.delete(key.u16(index as u16).as_slice())? {
            break;
        }
    }
    Ok(())
}

/// The schema and the whole body at `key`; borrowed where it fits one chunk.
pub fn get<P: Pages + ?Sized>(pages: &P, key: Key) -> Result<Option<(u8, Cow<'_, [u8]>)>> {
    let first = key.u16(0);
    let Some(value) = pages.get(first.as_slice())? else { return Ok(None) };
    let head = envelope::open(first.as_slice(), value)?;
    join(pages, key, head).map(Some)
}

/// The schema and the whole body at `key`, of what is read often: the checksum of its first chunk is compared once in this process.
pub fn get_known<P: Pages + ?Sized>(pages: &P, key: Key) -> Result<Option<(u8, Cow<'_, [u8]>)>> {
    let first = key.u16(0);
    let Some(value) = pages.get(first.as_slice())? else { return Ok(None) };
    verified::intact(first.as_slice(), value)?;
    join(pages, key, envelope::open_unverified(first.as_slice(), value)?).map(Some)
}

/// The whole body of which `first` is chunk 0.
pub fn join<'p, P: Pages + ?Sized>(pages: &'p P, key: Key, first: Envelope<'p>) -> Result<(u8, Cow<'p, [u8]>)> {
    if first.codec & CONTINUES == 0 {
        return Ok((first.schema, Cow::Borrowed(first.body)));
    }
    let mut body = first.body.to_vec();
    for index in 1..=u16::MAX {
        let chunk = key.u16(index);
        let Some(value) = pages.get(chunk.as_slice())? else { return Err(damaged(chunk.as_slice(), "a chunk of a long body is missing")) };
        let part = envelope::open(chunk.as_slice(), value)?;
        body.extend_from_slice(part.body);
        if part.codec & CONTINUES == 0 {
            break;
        }
    }
    Ok((first.schema, Cow::Owned(body)))
}

/// Removes the bodies under `prefix` that cannot be read. Their keys.
pub fn sift<P: PagesMut>(pages: &mut P, prefix: Key, read: impl Fn(&P, Key) -> Result<bool>) -> Result<Vec<Key>> {
    let broken = broken(&*pages, prefix, read)?;
    for key in &broken {
        clear(pages, *key)?;
    }
    Ok(broken)
}

/// The keys of the bodies under `prefix` that cannot be read: chunks of them are missing, or `read` says that they are damaged.
pub fn broken<P: Pages>(pages: &P, prefix: Key, read: impl Fn(&P, Key) -> Result<bool>) -> Result<Vec<Key>> {
    let (range, mut bodies, mut broken) = (prefix.prefix_range(), Vec::<Vec<u8>>::new(), Vec::new());
    pages.scan(&range.start, &range.end, &mut |key, _| {
        let body = &key[..key.len().saturating_sub(2)];
        if bodies.last().is_none_or(|last| last != body) {
            bodies.push(body.to_vec());
        }
        Ok(ControlFlow::Continue(()))
    })?;
    for body in bodies {
        let key = Key::from_slice(&body)?;
        match read(pages, key) {
            Ok(true) => {}
            Err(error) if error.kind() != ErrorKind::StoreCorrupt => return Err(error),
            _ => broken.push(key),
        }
    }
    Ok(broken)
}

/// Removes every value under `prefix`.
pub fn clear(pages: &mut impl PagesMut, prefix: Key) -> Result<()> {
    let (range, mut keys) = (prefix.prefix_range(), Vec::new());
    pages.scan_stored(&range.start, &range.end, &mut |key, _| {
        keys.push(key.to_vec());
        Ok(ControlFlow::Continue(()))
    })?;
    keys.iter().try_for_each(|key| pages.delete(key).map(drop))
}

#[cfg(test)]
mod tests {
    use super::super::keys::Table;
    use super::super::pages::MemoryPages;
    use super::*;

    #[test]
    fn bodies_around_the_page_size_come_back_whole_and_shrink_clean() {
        let key = Key::new(3, Table::Memory).u32(9);
        let mut pages = MemoryPages::new();
        for length in [0, 1, ONE_PAGE_BODY - 1, ONE_PAGE_BODY, ONE_PAGE_BODY + 1, 3 * ONE_PAGE_BODY, 100_000, 5] {
            let body: Vec<u8> = (0..length).map(|i| (i * 31 % 251) as u8).collect();
            put(&mut pages, key, 1, Codec::Raw, &body).expect("put");
            assert!(pages.values().all(|value| value.len() <= envelope::ONE_PAGE));
            assert_eq!(pages.len(), length.div_ceil(ONE_PAGE_BODY).max(1), "{length}");
            assert_eq!(get(&pages, key).expect("get").expect("there").1.as_ref(), body);
        }
        assert!(remove(&mut pages, key).expect("remove"));
        assert!(pages.is_empty());
    }

    #[test]
    fn a_missing_chunk_is_damage() {
        let key = Key::new(3, Table::Memory).u32(9);
        let mut pages = MemoryPages::new();
        put(&mut pages, key, 1, Codec::Raw, &[7; 10_000]).expect("put");
        pages.remove(key.u16(1).as_slice());
        assert!(get(&pages, key).is_err());
    }
}
