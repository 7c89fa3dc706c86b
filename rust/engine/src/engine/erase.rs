//! Erasing a scope: everything of it, its name included, and the bytes too.
//!
//! | step | transaction | if the process dies behind it |
//! |---|---|---|
//! | unlink | one: the scope and its collections lose their names, also in sessions of others, and their data keys, `Table::Erasing` says what is to be emptied | nobody finds the scope; the next open goes on |
//! | empty | some 1,024 values each, counted in the same record | the same |
//! | compact | the store is rewritten, and the files that had the bytes are removed | the next open compacts again |
//! | end | the record goes | it is done |
//!
//! ```text
//! Table::Erasing | partition u32 -> stage (0 empty, 1 compact), then how many values of each kind are gone
//! ```

use std::ops::ControlFlow;

use super::Engine;
use crate::collection;
use crate::scope::{self, Row, Scope};
use crate::session;
use crate::store::envelope::{self, Codec};
use crate::store::keys::{Key, Partition, STORE, Table, u32_at};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};
use crate::store::step::Step;
use crate::store::{reserve, vault};
use crate::{Error, ErrorKind, Result};

/// The counts of an erasure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Erased {
    /// Current memories.
    pub memories: u64,
    /// Their earlier revisions, and the tombstones of forgotten ones.
    pub revisions: u64,
    /// Messages of its sessions.
    pub messages: u64,
    /// Documents of its collections.
    pub documents: u64,
    /// Calls of models.
    pub ledger_entries: u64,
    /// Values of its indexes of words.
    pub terms: u64,
    /// Vectors of memories and chunks, and blocks of vectors of messages.
    pub vectors: u64,
    /// All values, these included.
    pub values: u64,
    /// Bytes of the store that were read afterwards without meeting anything of it.
    pub bytes_checked: u64,
}

impl Erased {
    fn fields(&mut self) -> [&mut u64; 8] {
        let Self { memories, revisions, messages, documents, ledger_entries, terms, vectors, values, .. } = self;
        [memories, revisions, messages, documents, ledger_entries, terms, vectors, values]
    }

    /// Counts the value at `key`; only the first chunk of a long body.
    fn count(&mut self, key: &[u8]) {
        let table = key.get(4).copied().unwrap_or_default();
        let is = |one: Table| table == one as u8;
        let first_chunk = key.ends_with(&[0, 0]);
        let is_record = key.get(9..13) == Some(&[u8::MAX; 4]);
        self.values += 1;
        self.memories += u64::from(is(Table::Memory) && first_chunk);
        self.revisions += u64::from(is(Table::History) && first_chunk);
        self.messages += u64::from(is(Table::Transcript) && first_chunk && !is_record);
        self.documents += u64::from(is(Table::CollectionDocument) && first_chunk);
        self.ledger_entries += u64::from(is(Table::Call) && first_chunk);
        self.terms += u64::from(is(Table::Postings) || is(Table::RunPages) || is(Table::Tail));
        self.vectors += u64::from(is(Table::VectorExact) && first_chunk || is(Table::MessageVector));
    }

    fn add(&mut self, other: &Self) {
        let mut other = *other;
        for (one, more) in self.fields().into_iter().zip(other.fields()) {
            *one += *more;
        }
        self.bytes_checked += other.bytes_checked;
    }
}

/// A partition that is being erased.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Erasing {
    /// Nothing is left of it but the bytes.
    emptied: bool,
    erased: Erased,
}

fn key_of(partition: Partition) -> Key {
    Key::new(STORE, Table::Erasing).u32(partition)
}

impl Erasing {
    fn read<P: Pages + ?Sized>(pages: &P, partition: Partition) -> Result<Option<Self>> {
        let key = key_of(partition);
        let Some(value) = pages.get(key.as_slice())? else { return Ok(None) };
        let mut r = Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?;
        let mut erasing = Self { emptied: r.uint()? > 0, ..Self::default() };
        for field in erasing.erased.fields() {
            *field = r.uint()?;
        }
        Ok(Some(erasing))
    }

    fn write(mut self, pages: &mut impl PagesMut, partition: Partition) -> Result<()> {
        let key = key_of(partition);
        let mut w = Writer::array(9);
        w.uint(u64::from(self.emptied));
        for field in self.erased.fields() {
            w.uint(*field);
        }
        pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, w.bytes()))
    }
}

impl Engine {
    /// Erases everything of a scope. Returns the counts. A scope that was never written to has nothing, and that is checked, too.
    ///
    /// Costs the scope's values in transactions of 1,024, and a compaction of the store. Interrupted, it is gone on with by the next
    /// open for writing, or by this call.
    pub fn erase(&self, scope: &Scope) -> Result<Erased> {
        reserve::freeing(|| self.erase_whole(scope))
    }

    fn erase_whole(&self, scope: &Scope) -> Result<Erased> {
        self.check_writable()?;
        let owned = scope.clone();
        let partitions = self.write(move |txn| unlink(txn, &owned))?;
        self.forget_warm();
        self.store().forget_decrypted();
        for partition in partitions {
            self.forget_recalled(partition);
        }
        self.finish_erasures()
    }

    /// Goes on with erasures that were interrupted. Returns their counts. Costs a look where there are none.
    pub fn finish_erasures(&self) -> Result<Erased> {
        let mut erased = Erased::default();
        let partitions = self.store().read(under_way)?;
        if partitions.is_empty() {
            return Ok(erased);
        }
        for partition in &partitions {
            let partition = *partition;
            while self.write(move |txn| empty_step(txn, partition))? {}
        }
        self.compact()?;
        let bytes = self.store().read(|snapshot| check(snapshot, &partitions))?;
        for partition in partitions {
            let done = self.write(move |txn| end(txn, partition))?;
            erased.add(&done);
        }
        erased.bytes_checked = bytes;
        Ok(erased)
    }
}

/// Takes the names of a scope and of its collections away, also where sessions of others read them; the partitions that are to be emptied.
fn unlink<P: PagesMut>(pages: &mut P, scope: &Scope) -> Result<Vec<Partition>> {
    let Some(partition) = scope.find(&*pages)? else { return Ok(Vec::new()) };
    let mut partitions = vec![partition];
    partitions.extend(collection::list(&*pages, scope)?.into_iter().map(|(partition, _)| partition));
    scope.unlink(pages)?;
    for (reader, _) in scope::list(&*pages, 0, usize::MAX)? {
        session::unread(pages, reader, scope)?;
    }
    for partition in &partitions {
        scope::put_row(pages, *partition, &Row::Dropped { owner: partitions[0] })?;
        pages.delete(vault::record_of(*partition).as_slice())?;
        Erasing::default().write(pages, *partition)?;
    }
    Ok(partitions)
}

/// The partitions that are being erased.
fn under_way<P: Pages>(pages: &P) -> Result<Vec<Partition>> {
    let range = Key::new(STORE, Table::Erasing).prefix_range();
    let mut found = Vec::new();
    pages.scan_stored(&range.start, &range.end, &mut |key, _| {
        found.extend(u32_at(key, 5));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Removes some values of a partition; whether there are more.
fn empty_step<P: PagesMut>(pages: &mut P, partition: Partition) -> Result<bool> {
    let Some(mut erasing) = Erasing::read(&*pages, partition)?.filter(|erasing| !erasing.emptied) else { return Ok(false) };
    let (from, to) = (partition.to_be_bytes(), partition.saturating_add(1).to_be_bytes());
    let mut step = Step::with(expiries(&*pages, partition)?);
    pages.scan_stored(&from, &to, &mut |key, _| step.take(key))?;
    for key in &step.keys {
        pages.delete(key.as_slice())?;
        if key.as_slice().starts_with(&from) {
            erasing.erased.count(key.as_slice());
        }
    }
    erasing.emptied = !step.is_full();
    erasing.write(pages, partition)?;
    Ok(!erasing.emptied)
}

/// Some entries of the index of expiry that name a partition.
fn expiries<P: Pages>(pages: &P, partition: Partition) -> Result<Vec<Key>> {
    let (range, mut found) = (Key::new(STORE, Table::Expiry).prefix_range(), Vec::new());
    pages.scan_stored(&range.start, &range.end, &mut |key, _| {
        if u32_at(key, 13) == Some(partition) {
            found.push(Key::from_slice(key)?);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Reads the whole store and refuses where anything of the partitions is left; the bytes that were read.
fn check<P: Pages>(pages: &P, partitions: &[Partition]) -> Result<u64> {
    let mut bytes = 0;
    pages.scan_stored(&[0], &[u8::MAX; 32], &mut |key, value| {
        bytes += (key.len() + value.len()) as u64;
        let own = u32_at(key, 0).is_some_and(|partition| partitions.contains(&partition));
        if own { Err(left_behind(key)) } else { Ok(ControlFlow::Continue(())) }
    })?;
    Ok(bytes)
}

fn left_behind(key: &[u8]) -> Error {
    Error::new(
        ErrorKind::StoreBusy,
        format!(
            "erasing a scope: nothing of it may be left, and a value of it is ({key:02x?}): another process wrote to it meanwhile: erase it again"
        ),
    )
}

/// Takes the record of an erasure away; what it counted.
fn end<P: PagesMut>(pages: &mut P, partition: Partition) -> Result<Erased> {
    let erasing = Erasing::read(&*pages, partition)?.unwrap_or_default();
    pages.delete(key_of(partition).as_slice())?;
    Ok(erasing.erased)
}
