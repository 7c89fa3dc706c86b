//! Damaged, foreign and future files: a typed error or the right answer, never a wrong one and never the host's death.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use memspan_engine::engine::Engine;
use memspan_engine::memory::revise::Revision;
use memspan_engine::memory::{Memory, NewMemory};
use memspan_engine::{ErrorKind, Result};
use support::{ALL_KINDS, Chance, Folder, ask, copy_folder, one, open, options, role, spawn, user, with_vector};

const PAGE: usize = 4096;
/// How a manifest names the format that this engine writes.
const FORMAT: &str = "memspan=8";

/// A compacted store with history, slots, vectors, long texts: its data file has no page that is not in use.
fn make(path: &Path) {
    let source = Folder::in_memory();
    let engine = open(&source.0, true);
    for at in 0..90_i64 {
        let new = match at % 10 {
            0 => NewMemory { slot: Some(format!("slot {}", at % 3)), ..with_vector(&format!("value {at} of a slot")) },
            1 => with_vector(&format!("{at} {}", "a long text that takes more than a page ".repeat(150))),
            2 => NewMemory { ttl: Some(1 << 40), ..with_vector(&format!("short-lived {at}")) },
            _ => with_vector(&format!("fact {at} about service-{} on port {}", at % 7, 8000 + at)),
        };
        let id = one(&engine, &user(if at % 2 == 0 { "a" } else { "b" }), new, at).memory.id();
        if at % 25 == 4 {
            let text = Some(format!("fact {at} was corrected"));
            engine.revise(&user("a"), &id, Revision { text, ..Revision::default() }, at).expect("revised");
        }
    }
    engine.backup(path).expect("backup");
}

/// Everything that a user can ask for, as one text.
fn everything(engine: &Engine) -> Result<String> {
    use std::fmt::Write as _;
    let mut all = String::new();
    for scope in [user("a"), user("b")] {
        for memory in engine.memories(&scope, 0, usize::MAX, ALL_KINDS, 0)? {
            let history = engine.history(&scope, &memory.id(), 0)?;
            let _ = writeln!(all, "{memory:?} {history:?} {:?}", engine.get(&scope, &memory.id(), 0)?);
        }
        let _ = writeln!(all, "{:?}", engine.slots(&scope, None, 0)?);
        for query in ["service-3", "port 8043", "value of a slot", "corrected", "a long text", "short-lived 42"] {
            let _ = writeln!(all, "{query}: {:?}", ask(engine, &scope, query, 8, 0)?);
        }
    }
    Ok(all)
}

/// What became of reading a damaged store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Right,
    TypedError,
    /// A wrong answer, which the doctor explains.
    FoundByDoctor,
    /// A wrong answer, and the doctor saw nothing.
    Wrong,
    /// The process that read it died.
    Died,
}

fn read(store: &Path, expected: &str) -> Outcome {
    let engine = match Engine::open(store, options(true)) {
        Ok(engine) => engine,
        Err(error) => return typed(&error),
    };
    match everything(&engine) {
        Ok(all) if all == expected => Outcome::Right,
        Err(error) if error.kind() != ErrorKind::NotFound => typed(&error),
        _ => match engine.check() {
            Ok(report) if report.is_sound() => Outcome::Wrong,
            Ok(_) => Outcome::FoundByDoctor,
            Err(error) => typed(&error),
        },
    }
}

fn typed(error: &memspan_engine::Error) -> Outcome {
    assert!(
        matches!(error.kind(), ErrorKind::StoreCorrupt | ErrorKind::StoreVersion | ErrorKind::StoreIo | ErrorKind::StoreFull),
        "{error}"
    );
    assert!(error.message().len() > 40, "an error says what to do: {error}");
    Outcome::TypedError
}

/// Reads a store whose pages may end the process, in a process of its own.
#[test]
fn reader_process() {
    let Some((_, folder)) = role() else { return };
    let expected = fs::read_to_string(folder.join("expected")).expect("expected");
    fs::write(folder.join("outcome"), format!("{:?}", read(&folder.join("store"), &expected))).expect("noted");
}

fn read_elsewhere(folder: &Path) -> Outcome {
    let _ = fs::remove_file(folder.join("outcome"));
    let status = spawn("reader_process", "reader", folder).wait().expect("waited");
    match fs::read_to_string(folder.join("outcome")).as_deref() {
        Ok("Right") => Outcome::Right,
        Ok("TypedError") => Outcome::TypedError,
        Ok("FoundByDoctor") => Outcome::FoundByDoctor,
        Err(_) if status.signal().is_some() => Outcome::Died,
        other => panic!("{other:?}, {status}"),
    }
}

/// Where our values lie in a data file, as LMDB's leaf pages say (`MDB_page` and `MDB_node` in lmdb's mdb.c).
fn values(data: &[u8]) -> Vec<std::ops::Range<usize>> {
    let u16_at = |at: usize| u16::from_le_bytes([data[at], data[at + 1]]) as usize;
    let mut found = Vec::new();
    let mut page = 2 * PAGE;
    while page < data.len() {
        let (flags, entries) = (u16_at(page + 10), u16_at(page + 12).saturating_sub(16) / 2);
        if flags & 0x04 != 0 {
            let pages = u16_at(page + 12) | u16_at(page + 14) << 16;
            page += PAGE * pages.max(1);
            continue;
        }
        for entry in (0..entries).filter(|_| flags & 0x02 != 0) {
            let node = page + u16_at(page + 16 + 2 * entry);
            let (size, value) = (u16_at(node) | u16_at(node + 2) << 16, node + 8 + u16_at(node + 6));
            if u16_at(node + 4) & 1 == 0 {
                found.push(value..value + size);
            } else {
                let overflow = PAGE * (u16_at(value) | u16_at(value + 2) << 16) + 16;
                found.push(overflow..overflow + size);
            }
        }
        page += PAGE;
    }
    found
}

struct Specimen {
    folder: Folder,
    data: Vec<u8>,
    expected: String,
}

impl Specimen {
    fn new() -> Self {
        let folder = Folder::in_memory();
        make(&folder.0.join("store"));
        let expected = everything(&open(&folder.0.join("store"), true)).expect("intact");
        fs::write(folder.0.join("expected"), &expected).expect("noted");
        let data = fs::read(folder.0.join("store/gen-1/data.mdb")).expect("its data");
        Self { folder, data, expected }
    }

    fn store(&self) -> std::path::PathBuf {
        self.folder.0.join("store")
    }

    fn put(&self, data: &[u8]) {
        fs::write(self.store().join("gen-1/data.mdb"), data).expect("written");
    }

    fn with_flip(&self, byte: usize, bit: usize) {
        let mut data = self.data.clone();
        data[byte] ^= 1 << bit;
        self.put(&data);
    }
}

/// The overflow pages that values begin in.
fn overflows(data: &[u8]) -> Vec<usize> {
    let begins = |value: std::ops::Range<usize>| value.start - 16;
    let is_overflow = |page: &usize| page.is_multiple_of(PAGE) && data[page + 10] & 0x04 != 0;
    values(data).into_iter().filter(|value| value.start >= 16).map(begins).filter(is_overflow).collect()
}

#[test]
fn a_value_with_another_number_of_pages_is_damage_to_who_reads_it() {
    let specimen = Specimen::new();
    let pages = overflows(&specimen.data);
    for bit in 0..3 {
        let told = pages.iter().filter(|page| {
            specimen.with_flip(**page + 12, bit);
            let outcome = read(&specimen.store(), &specimen.expected);
            assert!(matches!(outcome, Outcome::Right | Outcome::TypedError), "page {} bit {bit}: {outcome:?}", **page / PAGE);
            outcome == Outcome::TypedError
        });
        let told = told.count();
        assert!(pages.len() > 5 && told * 2 > pages.len(), "bit {bit}: {told} of {}", pages.len());
    }
}

fn flips() -> usize {
    std::env::var("MEMSPAN_FLIPS").ok().and_then(|n| n.parse().ok()).unwrap_or(200)
}

#[test]
fn a_flipped_bit_in_a_value_is_a_typed_error_or_changes_nothing() {
    let specimen = Specimen::new();
    let values: Vec<usize> = values(&specimen.data).into_iter().flatten().collect();
    assert!(values.len() * 2 > specimen.data.len(), "most of the file is values of ours");
    let (mut chance, mut outcomes) = (Chance(7), BTreeMap::new());
    for _ in 0..flips() {
        let (byte, bit) = (values[chance.below(values.len())], chance.below(8));
        specimen.with_flip(byte, bit);
        // In this process: whatever is wrong with a value of ours must not hurt the host.
        let outcome = read(&specimen.store(), &specimen.expected);
        assert!(matches!(outcome, Outcome::Right | Outcome::TypedError), "{outcome:?}: bit {bit} of byte {byte}");
        *outcomes.entry(outcome).or_insert(0) += 1;
    }
    assert!(outcomes[&Outcome::TypedError] * 2 > flips(), "most damage is met: {outcomes:?}");
}

#[test]
fn a_flipped_bit_anywhere_is_a_typed_error_or_changes_nothing() {
    let specimen = Specimen::new();
    let (mut chance, mut outcomes) = (Chance(11), BTreeMap::new());
    for at in 0..flips() {
        // Every second one in LMDB's own bytes, which are few: meta pages, heads of pages, keys.
        let byte = if at % 2 == 0 {
            chance.below(specimen.data.len())
        } else {
            PAGE * chance.below(specimen.data.len() / PAGE) + chance.below(160)
        };
        specimen.with_flip(byte, chance.below(8));
        *outcomes.entry(read_elsewhere(&specimen.folder.0)).or_insert(0) += 1;
    }
    println!("flips anywhere: {outcomes:?}");
    assert_only_right_or_typed(&outcomes);
    specimen.put(&specimen.data);
    assert_eq!(read_elsewhere(&specimen.folder.0), Outcome::Right, "the store as it was");
}

fn assert_only_right_or_typed(outcomes: &BTreeMap<Outcome, usize>) {
    let wrong = outcomes.keys().find(|outcome| !matches!(outcome, Outcome::Right | Outcome::TypedError));
    assert_eq!(wrong, None, "{outcomes:?}");
}

/// Damage to whole pages behind the two meta pages, as disks, controllers and copies do it; the bytes, damaged.
fn damaged_pages(data: &[u8], chance: &mut Chance, kind: usize) -> Vec<u8> {
    let (mut data, pages) = (data.to_vec(), data.len() / PAGE);
    let mut page = || 2 + chance.below(pages - 2);
    let (one, other) = (page() * PAGE, page() * PAGE);
    match kind % 5 {
        0 => data[one..one + PAGE].fill(0),
        1 => (one..one + PAGE).for_each(|at| data[at] = chance.below(256) as u8),
        2 => data.copy_within(other..other + PAGE, one),
        3 => {
            let kept = data[one..one + PAGE].to_vec();
            data.copy_within(other..other + PAGE, one);
            data[other..other + PAGE].copy_from_slice(&kept);
        }
        // Half a page was written.
        _ => data[one + PAGE / 2..one + PAGE].fill(0),
    }
    data
}

#[test]
fn pages_that_are_zeroed_random_copied_swapped_or_half_written_are_typed_errors() {
    let specimen = Specimen::new();
    let (mut chance, mut outcomes) = (Chance(13), BTreeMap::new());
    for at in 0..flips() / 2 {
        specimen.put(&damaged_pages(&specimen.data, &mut chance, at));
        *outcomes.entry(read_elsewhere(&specimen.folder.0)).or_insert(0) += 1;
    }
    println!("damaged pages: {outcomes:?}");
    assert_only_right_or_typed(&outcomes);
}

/// Bytes of LMDB's own in pages of its tree: headers, offsets of entries, heads of entries and their keys.
fn of_the_tree(data: &[u8]) -> Vec<usize> {
    let u16_at = |at: usize| u16::from_le_bytes([data[at], data[at + 1]]) as usize;
    let mut bytes = Vec::new();
    for page in (2 * PAGE..data.len()).step_by(PAGE).filter(|page| matches!(u16_at(page + 10), 1 | 2)) {
        let offsets = page + 16..page + u16_at(page + 12);
        bytes.extend(page..offsets.end);
        for offset in offsets.step_by(2) {
            let node = page + u16_at(offset);
            bytes.extend(node..node + 8 + u16_at(node + 6));
        }
    }
    bytes
}

/// Forgets, revises and adds in a damaged store, and reads everything again: nothing but what was damaged may be lost.
#[test]
fn writer_process() {
    let Some((_, folder)) = role() else { return };
    let Ok(engine) = Engine::open(&folder.join("store"), options(false)) else { return };
    let ids: Vec<String> =
        engine.memories(&user("b"), 0, usize::MAX, ALL_KINDS, 0).map_or(Vec::new(), |all| all.iter().map(Memory::id).collect());
    for (at, id) in ids.iter().enumerate().take(12) {
        let _ = engine.forget(&user("b"), id, None, at as i64);
        let _ = engine.remember(&user("new"), with_vector(&format!("new {at} {}", "words of some length ".repeat(40))), at as i64);
    }
}

/// Which memories of a scope that was not written to can be read, and say what they said.
fn intact(store: &Path, expected: &BTreeMap<String, String>) -> usize {
    let Ok(engine) = Engine::open(store, options(true)) else { return 0 };
    let said = |id: &str| engine.get(&user("a"), id, 0).ok().flatten().map(|memory| memory.text);
    expected.iter().filter(|(id, text)| said(id).as_ref() == Some(*text)).count()
}

#[test]
fn writing_to_a_damaged_store_damages_nothing_else() {
    let specimen = Specimen::new();
    let engine = open(&specimen.store(), true);
    let all = engine.memories(&user("a"), 0, usize::MAX, ALL_KINDS, 0).expect("intact");
    let expected: BTreeMap<String, String> = all.into_iter().map(|memory| (memory.id(), memory.text)).collect();
    drop(engine);
    let (bytes, mut chance) = (of_the_tree(&specimen.data), Chance(17));
    for _ in 0..flips() / 4 {
        let (byte, bit) = (bytes[chance.below(bytes.len())], chance.below(8));
        specimen.with_flip(byte, bit);
        let before = intact(&specimen.store(), &expected);
        let status = spawn("writer_process", "writer", &specimen.folder.0).wait().expect("waited");
        assert_eq!(status.signal(), None, "bit {bit} of byte {byte}");
        let after = intact(&specimen.store(), &expected);
        assert!(after >= before, "bit {bit} of byte {byte}: {before} could be read before the writes, {after} after them");
    }
}

#[test]
fn a_flipped_bit_in_a_page_of_the_tree_is_a_typed_error_or_changes_nothing() {
    let specimen = Specimen::new();
    let (bytes, mut chance, mut outcomes) = (of_the_tree(&specimen.data), Chance(19), BTreeMap::new());
    for _ in 0..flips() {
        specimen.with_flip(bytes[chance.below(bytes.len())], chance.below(8));
        *outcomes.entry(read_elsewhere(&specimen.folder.0)).or_insert(0) += 1;
    }
    println!("flips in the tree: {outcomes:?}");
    assert_only_right_or_typed(&outcomes);
}

#[test]
fn a_file_cut_off_anywhere_is_a_typed_error() {
    let specimen = Specimen::new();
    let length = specimen.data.len();
    for cut in [0, 1, 100, 151, PAGE, PAGE + 151, 2 * PAGE - 1, 2 * PAGE, 2 * PAGE + 1, length / 3, length / 2, length - PAGE, length - 1] {
        specimen.put(&specimen.data[..cut]);
        assert_eq!(read(&specimen.store(), &specimen.expected), Outcome::TypedError, "cut off at {cut} of {length}");
    }
}

#[test]
fn a_file_of_something_else_is_a_typed_error() {
    let specimen = Specimen::new();
    let length = specimen.data.len();
    for foreign in [
        b"SQLite format 3\0".repeat(1000),
        vec![0; length],
        vec![0xff; length],
        b"\x89PNG\r\n".repeat(5000),
        "text\n".repeat(9999).into_bytes(),
    ] {
        specimen.put(&foreign);
        assert_eq!(read(&specimen.store(), &specimen.expected), Outcome::TypedError);
    }
    fs::remove_file(specimen.store().join("gen-1/data.mdb")).expect("removed");
    assert_eq!(read(&specimen.store(), &specimen.expected), Outcome::TypedError, "no data file");
    fs::create_dir(specimen.store().join("gen-1/data.mdb")).expect("made");
    assert_eq!(read(&specimen.store(), &specimen.expected), Outcome::TypedError, "a folder in its place");
}

#[test]
fn a_damaged_meta_page_is_a_typed_error_or_changes_nothing() {
    let specimen = Specimen::new();
    let mut outcomes = BTreeMap::new();
    for byte in (0..2).flat_map(|page| (page * PAGE..page * PAGE + 152).step_by(3)) {
        specimen.with_flip(byte, byte % 8);
        *outcomes.entry(read_elsewhere(&specimen.folder.0)).or_insert(0) += 1;
    }
    println!("flips in meta pages: {outcomes:?}");
    assert_eq!(outcomes.get(&Outcome::Died), None, "{outcomes:?}");
}

#[test]
fn a_manifest_of_the_future_or_of_garbage_is_a_typed_error() {
    let specimen = Specimen::new();
    let path = specimen.store().join("gen-1/manifest");
    let manifest = fs::read_to_string(&path).expect("its manifest");
    assert!(manifest.contains(FORMAT), "{manifest}");
    let opened = || Engine::open(&specimen.store(), options(true)).map(|engine| everything(&engine));
    fs::write(&path, manifest.replace(FORMAT, "memspan=99")).expect("written");
    let error = opened().expect_err("of the future");
    assert_eq!(error.kind(), ErrorKind::StoreVersion);
    assert!(error.message().contains("99") && error.message().contains("upgrade"), "{error}");
    let others = [
        String::new(),
        "memspan=\n".into(),
        "\0\0\0\0".into(),
        manifest.replace(FORMAT, "memspan=0"),
        manifest.replace("page_size=4096", "page_size=0"),
        manifest.replace("page_size=4096", "page_size=16384"),
        manifest.replace("page_size=4096", "page_size=4294967295"),
        manifest.replace("little", "big"),
    ];
    for text in others {
        fs::write(&path, &text).expect("written");
        assert_eq!(opened().expect_err("garbage").kind(), ErrorKind::StoreCorrupt, "{text:?}");
    }
    fs::write(&path, [0xff, 0xfe, 0x00]).expect("written");
    assert!(matches!(opened().expect_err("no text").kind(), ErrorKind::StoreCorrupt | ErrorKind::StoreIo));
    fs::remove_file(&path).expect("removed");
    assert_eq!(opened().expect_err("missing").kind(), ErrorKind::StoreCorrupt);
    fs::write(&path, manifest).expect("written");
    assert_eq!(opened().expect("as it was").expect("read"), specimen.expected);
}

#[test]
fn what_is_not_a_store_is_said_to_be_none_and_left_alone() {
    let folder = Folder::in_memory();
    fs::create_dir(&folder.0).expect("made");
    let file = folder.0.join("notes.txt");
    fs::write(&file, "mine").expect("written");
    for path in [&file, &folder.0] {
        assert_eq!(Engine::open(path, options(true)).expect_err("no store").kind(), ErrorKind::StoreCorrupt);
    }
    assert_eq!(fs::read_to_string(&file).expect("still there"), "mine");
    assert_eq!(fs::read_dir(&folder.0).expect("listed").count(), 1, "nothing was made");
    let other = Folder::in_memory();
    copy_folder(&folder.0, &other.0);
    fs::write(other.0.join("CURRENT"), "gen-1\n").expect("written");
    assert_eq!(Engine::open(&other.0, options(true)).expect_err("no generation").kind(), ErrorKind::StoreCorrupt);
}
