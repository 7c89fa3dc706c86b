//! Writing an export: one walk over a snapshot, one line after the other.

use std::collections::BTreeSet;
use std::io::Write;
use std::ops::ControlFlow;

use super::line::{self, Stored};
use super::{Header, Trailer};
use crate::interrupt;
use crate::store::envelope::{self, CONTINUES, damaged};
use crate::store::keys::{Key, Partition, STORE, Table, u32_at};
use crate::store::meta::Meta;
use crate::store::pages::Pages;
use crate::store::vault::is_exempt;
use crate::{Error, Result};

/// Writes every value of a snapshot to `out`, but none of the partitions that are `gone`, whose values are being removed; how many lines
/// have one. Holds one line at a time.
pub fn write<P: Pages>(snapshot: &P, gone: &BTreeSet<Partition>, out: &mut dyn Write) -> Result<u64> {
    let mut lines = Lines { out, crc: crc32fast::Hasher::new(), count: 0 };
    lines.write(&header(snapshot)?)?;
    lines.count = 0;
    let (mut pending, mut line) = (None, String::new());
    let mut visit = |key: &[u8], value: &[u8]| {
        interrupt::check()?;
        line::table_of(key).ok_or_else(|| damaged(key, "this format has no such table"))?;
        if is_exempt(key) || is_of(key, gone) {
            return Ok(ControlFlow::Continue(())); // records of the generation about itself, and keys
        }
        if let Some(whole) = join(&mut pending, key, value)? {
            line::write(&whole, &mut line).ok_or_else(|| damaged(key, "its table does not hold such a value"))?;
            lines.write(&line)?;
        }
        Ok(ControlFlow::Continue(()))
    };
    // Of a partition that is being erased the key is gone, so that nobody can look at its values.
    let mut from = vec![0];
    for partition in gone {
        snapshot.look_through(&from, &partition.to_be_bytes(), &mut visit)?;
        from = partition.saturating_add(1).to_be_bytes().to_vec();
    }
    snapshot.look_through(&from, &[u8::MAX; 32], &mut visit)?;
    if let Some(Stored { key, .. }) = pending {
        return Err(damaged(&key, "a chunk of a long body is missing"));
    }
    lines.end()
}

/// Whether a value of the store itself is about a partition that is gone: when something of it expires, or how far its erasure is.
fn is_of(key: &[u8], gone: &BTreeSet<Partition>) -> bool {
    let about = |at| u32_at(key, at).is_some_and(|partition| gone.contains(&partition));
    let is = |table: Table| key.starts_with(Key::new(STORE, table).as_slice());
    is(Table::Expiry) && about(13) || is(Table::Erasing) && about(5)
}

fn header<P: Pages>(snapshot: &P) -> Result<String> {
    let meta = Meta::read(snapshot)?.ok_or_else(|| damaged(Key::new(STORE, Table::Meta).as_slice(), "it is missing"))?;
    Ok(Header::of(&Meta { secret: snapshot.secret(), ..meta }).write()) // in an encrypted store the record has it sealed
}

/// The whole value at `key`, once its last chunk has come.
fn join(pending: &mut Option<Stored>, key: &[u8], value: &[u8]) -> Result<Option<Stored>> {
    let opened = envelope::open(key, value)?;
    if opened.key_id != 0 {
        return Err(damaged(key, "it is encrypted with a key that this engine does not have"));
    }
    if !line::is_chunked(key) {
        return Ok(Some(Stored { key: key.to_vec(), schema: opened.schema, codec: opened.codec, body: opened.body.to_vec() }));
    }
    let (name, chunk) = key.split_last_chunk::<2>().ok_or_else(|| damaged(key, "its key is too short"))?;
    let mut whole = match pending.take() {
        Some(before) if before.key == name => before,
        None if *chunk == [0, 0] => {
            Stored { key: name.to_vec(), schema: opened.schema, codec: opened.codec & !CONTINUES, body: Vec::new() }
        }
        _ => return Err(damaged(key, "a chunk of a long body is missing")),
    };
    if whole.body.len() != usize::from(u16::from_be_bytes(*chunk)) * envelope::ONE_PAGE_BODY {
        return Err(damaged(key, "the chunks before it are not full"));
    }
    whole.body.extend_from_slice(opened.body);
    if opened.codec & CONTINUES == 0 {
        return Ok(Some(whole));
    }
    *pending = Some(whole);
    Ok(None)
}

struct Lines<'o> {
    out: &'o mut dyn Write,
    crc: crc32fast::Hasher,
    count: u64,
}

impl Lines<'_> {
    fn write(&mut self, line: &str) -> Result<()> {
        for bytes in [line.as_bytes(), b"\n"] {
            self.crc.update(bytes);
            self.out.write_all(bytes).map_err(|error| failed(&error))?;
        }
        self.count += 1;
        Ok(())
    }

    fn end(mut self) -> Result<u64> {
        let (lines, crc32) = (self.count, self.crc.clone().finalize());
        self.write(&Trailer { lines, crc32 }.write())?;
        Ok(lines)
    }
}

/// The error of a write that the operating system refused. The caller that knows the file names it.
fn failed(error: &std::io::Error) -> Error {
    crate::store::folder::io_error("exporting a store", std::path::Path::new("the file"), error)
}
