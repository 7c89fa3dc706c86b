//! Erasing a scope: everything of it, its name included, and the bytes too.
//!
//! | step | transaction | if the process dies behind it |
//! |---|---|---|
//! | unlink | one: the scope and its collections lose their names, also in sessions of others, and their data keys, `Table::Erasing` says what is to be emptied | nobody finds the scope; the next open goes on |
//! | empty | some 1,024 values each, counted in the same record | the same |
//! | compact | the store is rewritten, and the files that had the bytes are removed | the next open compacts again |
//! | end | the record goes | the next open takes it away |
//!
//! ```text
//! Table::Erasing | partition u32 -> stage (0 empty, 1 compact, 2 end), then how many values of each kind are gone
//! ```
//!
//! Each call also continues the erasures that others have begun, and leaves the last step to them: the counts of a partition are in its
//! record, where its own call reads them, no matter which call removed the values.

use std::collections::BTreeMap;
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
    }
}

/// How far the erasure of a partition is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd)]
enum Stage {
    /// Values of it are left.
    #[default]
    Empty = 0,
    /// Nothing is left of it but the bytes.
    Compact = 1,
    /// Nothing is left of it. Versions before 0.11.0 read it as the stage before.
    End = 2,
}

/// A partition that is being erased.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Erasing {
    stage: Stage,
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
        let stage = [Stage::Empty, Stage::Compact].into_iter().nth(r.uint()? as usize).unwrap_or(Stage::End);
        let mut erasing = Self { stage, ..Self::default() };
        for field in erasing.erased.fields() {
            *field = r.uint()?;
        }
        Ok(Some(erasing))
    }

    fn write(mut self, pages: &mut impl PagesMut, partition: Partition) -> Result<()> {
        let key = key_of(partition);
        let mut w = Writer::array(9);
        w.uint(self.stage as u64);
        for field in self.erased.fields() {
            w.uint(*field);
        }
        pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, w.bytes()))
    }
}

impl Engine {
    /// Erases everything of a scope. Returns the counts of this scope and of no other. A scope that was never written to, or that was erased
    /// before, has nothing, and the store is read all the same: `bytes_checked` says how much of it.
    ///
    /// Costs the scope's values in transactions of 1,024, and a compaction of the store. Interrupted, it is gone on with by the next
    /// open for writing, or by the next erasure of whatever scope; what it had removed is in no receipt then.
    pub fn erase(&self, scope: &Scope) -> Result<Erased> {
        reserve::freeing(|| self.erase_whole(scope))
    }

    fn erase_whole(&self, scope: &Scope) -> Result<Erased> {
        self.check_writable()?;
        let owned = scope.clone();
        let partitions = self.write(move |txn| unlink(txn, &owned))?;
        self.forget_warm();
        self.store().forget_decrypted();
        for partition in &partitions {
            self.forget_recalled(*partition);
        }
        self.finish(partitions)
    }

    /// Makes whole what is being erased, and ends the erasure of these partitions; what was erased of them.
    fn finish(&self, partitions: Vec<Partition>) -> Result<Erased> {
        let mut counted = self.finish_under_way()?;
        let mut erased = Erased { bytes_checked: self.store().read(|snapshot| check(snapshot, &partitions))?, ..Erased::default() };
        for partition in partitions {
            // An open by another process may have ended it: what was counted last is told then.
            let done = self.write(move |txn| end(txn, partition))?.or_else(|| counted.remove(&partition));
            erased.add(&done.unwrap_or_default());
        }
        Ok(erased)
    }

    /// Goes on with erasures that were interrupted; how many there were. Costs a look where there are none.
    ///
    /// It ends those that were whole before. Those that it makes whole itself may be another process's, which reads in the record what was
    /// removed: the next call ends them.
    pub fn finish_erasures(&self) -> Result<usize> {
        let found = self.store().read(under_way)?;
        if found.is_empty() {
            return Ok(0);
        }
        for partition in found.iter().filter(|(_, erasing)| erasing.stage == Stage::End).map(|(partition, _)| *partition) {
            self.write(move |txn| end(txn, partition))?;
        }
        self.finish_under_way()?;
        Ok(found.len())
    }

    /// Makes whole what is being erased, but for the ends; what was counted of each partition.
    fn finish_under_way(&self) -> Result<BTreeMap<Partition, Erased>> {
        let found = self.store().read(under_way)?;
        let mut counted = BTreeMap::new();
        for (partition, erasing) in &found {
            let partition = *partition;
            counted.insert(partition, erasing.erased);
            while let Some(erasing) = self.write(move |txn| empty_step(txn, partition))? {
                counted.insert(partition, erasing.erased);
                if erasing.stage != Stage::Empty {
                    break;
                }
            }
        }
        if found.iter().any(|(_, erasing)| erasing.stage != Stage::End) {
            self.compact()?;
            let partitions: Vec<Partition> = found.iter().map(|(partition, _)| *partition).collect();
            self.store().read(|snapshot| check(snapshot, &partitions))?;
            self.write(move |txn| partitions.iter().try_for_each(|partition| compacted(txn, *partition)))?;
        }
        Ok(counted)
    }
}

/// Takes the names of a scope and of its collections away, also where sessions of others read them; the partitions that are to be emptied.
pub(super) fn unlink<P: PagesMut>(pages: &mut P, scope: &Scope) -> Result<Vec<Partition>> {
    let Some(partition) = scope.find(&*pages)? else { return Ok(Vec::new()) };
    let mut partitions = vec![partition];
    partitions.extend(collection::list(&*pages, scope)?.into_iter().map(|(partition, _)| partition));
    partitions.extend(collection::dropped_of(&*pages, partition)?);
    scope.unlink(pages)?;
    for partition in &partitions {
        scope::put_row(pages, *partition, &Row::Dropped { owner: partitions[0] })?;
    }
    for (reader, _) in scope::list(&*pages, 0, usize::MAX)?.into_iter().filter(|(reader, _)| *reader != partition) {
        session::unread(pages, reader, scope)?;
    }
    for partition in &partitions {
        pages.delete(vault::record_of(*partition).as_slice())?;
        Erasing::default().write(pages, *partition)?;
    }
    Ok(partitions)
}

/// The partitions that are being erased.
pub(super) fn under_way<P: Pages>(pages: &P) -> Result<Vec<(Partition, Erasing)>> {
    let range = Key::new(STORE, Table::Erasing).prefix_range();
    let mut partitions = Vec::new();
    pages.scan_stored(&range.start, &range.end, &mut |key, _| {
        partitions.extend(u32_at(key, 5));
        Ok(ControlFlow::Continue(()))
    })?;
    let mut found = Vec::new();
    for partition in partitions {
        found.extend(Erasing::read(pages, partition)?.map(|erasing| (partition, erasing)));
    }
    Ok(found)
}

/// Removes some values of a partition; how far it is then. `None` where its erasure has ended.
pub(super) fn empty_step<P: PagesMut>(pages: &mut P, partition: Partition) -> Result<Option<Erasing>> {
    let Some(mut erasing) = Erasing::read(&*pages, partition)? else { return Ok(None) };
    if erasing.stage != Stage::Empty {
        return Ok(Some(erasing));
    }
    let (from, to) = (partition.to_be_bytes(), partition.saturating_add(1).to_be_bytes());
    let mut step = Step::default();
    expiries(&*pages, partition, &mut step)?;
    if !step.is_full() {
        pages.scan_stored(&from, &to, &mut |key, _| step.take(key))?;
    }
    for key in &step.keys {
        pages.delete(key.as_slice())?;
        if key.as_slice().starts_with(&from) {
            erasing.erased.count(key.as_slice());
        }
    }
    erasing.stage = if step.is_full() { Stage::Empty } else { Stage::Compact };
    erasing.write(pages, partition)?;
    Ok(Some(erasing))
}

/// Says that no file has a byte of a partition any more, unless its erasure has ended.
fn compacted<P: PagesMut>(pages: &mut P, partition: Partition) -> Result<()> {
    match Erasing::read(&*pages, partition)? {
        Some(erasing) if erasing.stage == Stage::Compact => Erasing { stage: Stage::End, ..erasing }.write(pages, partition),
        _ => Ok(()),
    }
}

/// Takes entries of the index of expiry that name a partition, as far as the step has room.
fn expiries<P: Pages>(pages: &P, partition: Partition, step: &mut Step) -> Result<()> {
    let range = Key::new(STORE, Table::Expiry).prefix_range();
    pages.scan_stored(&range.start, &range.end, &mut |key, _| {
        if u32_at(key, 13) == Some(partition) { step.take(key) } else { Ok(ControlFlow::Continue(())) }
    })
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

/// Takes the record of an erasure away; what it counted. `None` where it had ended.
fn end<P: PagesMut>(pages: &mut P, partition: Partition) -> Result<Option<Erased>> {
    let erasing = Erasing::read(&*pages, partition)?;
    pages.delete(key_of(partition).as_slice())?;
    Ok(erasing.map(|erasing| erasing.erased))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{EngineOptions, NewMemory};
    use crate::scope::ScopeType;
    use crate::store::environment::WriteTransaction;
    use crate::store::vault::StoreKey;

    fn user(name: &str) -> Scope {
        Scope::new(None, ScopeType::User, name).unwrap()
    }

    fn store(name: &str) -> (std::path::PathBuf, Engine) {
        let folder = std::env::temp_dir().join(format!("memspan-erase-{name}-{}", std::process::id()));
        let engine = Engine::open(&folder, EngineOptions::default()).unwrap();
        for (scope, count) in [("alice", 3), ("bob", 1)] {
            for number in 0..count {
                engine.remember(&user(scope), NewMemory::new(format!("fact {number}")), 1).unwrap();
            }
        }
        (folder, engine)
    }

    #[test]
    fn a_receipt_counts_its_own_scope_whoever_removed_the_values() {
        let (folder, engine) = store("receipts");
        // Alice's erasure has begun, in another thread or in a process that died.
        let alice = engine.write(|txn| unlink(txn, &user("alice"))).unwrap();
        let bob = engine.erase(&user("bob")).unwrap();
        assert_eq!(bob.memories, 1, "and none of alice's");
        let erased = engine.finish(alice).unwrap();
        assert_eq!((erased.memories, erased.bytes_checked > 0), (3, true), "though bob's removed them");
        assert!(engine.store().read(under_way).unwrap().is_empty());
        drop(engine);
        std::fs::remove_dir_all(folder).unwrap();
    }

    /// It may be that of a process which empties it just now. The next partition looked for its own values, and met those.
    #[test]
    fn a_partition_that_is_being_erased_is_in_nobodys_way() {
        let folder = std::env::temp_dir().join(format!("memspan-erase-beside-{}", std::process::id()));
        let key = || StoreKey::new(&[7; 32]).unwrap();
        let engine = Engine::open_encrypted(&folder, EngineOptions::default(), false, key()).unwrap();
        engine.remember(&user("alice"), NewMemory::new("Prefers tea"), 1).unwrap();
        engine.write(|txn| unlink(txn, &user("alice"))).unwrap();
        engine.store().forget_decrypted(); // as in another process, which never had its key
        for name in ["alice", "bob"] {
            engine.remember(&user(name), NewMemory::new("Prefers coffee"), 2).unwrap();
            assert_eq!(engine.documents(&[user(name)]).unwrap(), 1);
        }
        assert_eq!(engine.finish_erasures().unwrap(), 1);
        drop(engine);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn memories_that_expire_go_in_bounded_steps() {
        let (folder, engine) = store("expiries");
        let partition = engine.write(|txn| unlink(txn, &user("alice"))).unwrap()[0];
        let entry = move |txn: &mut WriteTransaction<'_>, number: u32| {
            let key = Key::of_expiry(i64::from(number), partition + number % 2, number);
            txn.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::Raw, &[]))
        };
        engine.write(move |txn| (1..=3_000).try_for_each(|number| entry(txn, number))).unwrap();
        let left = || {
            let range = Key::new(STORE, Table::Expiry).prefix_range();
            let mut own = [0; 2];
            let each = &mut |key: &[u8], _: &[u8]| {
                own[usize::from(u32_at(key, 13) == Some(partition))] += 1;
                Ok(ControlFlow::Continue(()))
            };
            engine.store().read(|pages| pages.scan_stored(&range.start, &range.end, each)).unwrap();
            own
        };
        let mut steps = Vec::new();
        while left()[1] > 0 {
            let before = left();
            assert_eq!(
                engine.write(move |txn| empty_step(txn, partition)).unwrap().map(|one| one.stage == Stage::Empty),
                Some(left()[1] > 0)
            );
            steps.push(before[1] - left()[1]);
        }
        assert_eq!((steps, left()[0]), (vec![1_024, 476], 1_500), "and nobody else's");
        drop(engine);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_an_interrupted_deletion_of_a_collection_left_is_erased_with_its_scope() {
        let (folder, engine) = store("dropped");
        for (owner, text) in [("alice", "zqdocument of alice"), ("bob", "zqdocument of bob")] {
            let name = collection::CollectionName::new(&user(owner), "letters").unwrap();
            let document = collection::NewDocument::new("a.md", text);
            collection::add::add(&engine, &name, collection::Prepared::new(document).unwrap(), None, 1).unwrap();
            engine.write(move |txn| name.unlink(txn)).unwrap();
        }
        let erased = engine.erase(&user("alice")).unwrap();
        assert_eq!((erased.memories, erased.documents), (3, 1));
        let files = std::fs::read_dir(&folder).unwrap().flat_map(|entry| std::fs::read_dir(entry.unwrap().path()).into_iter().flatten());
        let left = files.map(|file| std::fs::read(file.unwrap().path()).unwrap_or_default());
        assert!(!left.into_iter().any(|bytes| bytes.windows(10).any(|window| window == b"zqdocument")), "nor is what bob's left copied");
        drop(engine);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_scope_that_nobody_knows_has_nothing_and_that_is_looked_at() {
        let (folder, engine) = store("unknown");
        for _ in 0..2 {
            let erased = engine.erase(&user("nobody")).unwrap();
            assert!(erased.bytes_checked > 0);
            assert_eq!(erased, Erased { bytes_checked: erased.bytes_checked, ..Erased::default() });
        }
        drop(engine);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_open_ends_what_was_interrupted() {
        let (folder, engine) = store("open");
        engine.write(|txn| unlink(txn, &user("alice"))).unwrap();
        drop(engine);
        let open = || Engine::open(&folder, EngineOptions::default()).unwrap();
        let engine = open();
        let found = engine.store().read(under_way).unwrap();
        let stages: Vec<Stage> = found.iter().map(|(_, erasing)| erasing.stage).collect();
        assert_eq!(stages, [Stage::End], "whoever began it may still want the counts");
        drop(engine);
        assert!(open().store().read(under_way).unwrap().is_empty());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
