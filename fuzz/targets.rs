//! The decoders that read what others wrote, each given any bytes. None may panic, hang, or read past the end; what comes back is not looked at.
//!
//! `fuzz_targets/` runs them under libFuzzer; `rust/engine/tests/fuzz_corpus.rs` replays the corpus, and mutations of it, in the tests.

use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use memspan_engine::Result;
use memspan_engine::context::{Arguments, Format, Message, Tools, block};
use memspan_engine::engine::doctor;
use memspan_engine::export::Loading;
use memspan_engine::index::bm25::runs::Runs;
use memspan_engine::index::bm25::{IndexId, Reader as Postings};
use memspan_engine::memory::Memory;
use memspan_engine::session::Response;
use memspan_engine::store::files::FileId;
use memspan_engine::store::folder::FORMAT_VERSION;
use memspan_engine::store::identity::{Secret, StoreId};
use memspan_engine::store::keys::{Key, Table};
use memspan_engine::store::log::{self, Log};
use memspan_engine::store::meta_pages::{FIELD_BYTES, MetaPages};
use memspan_engine::store::msgpack::Reader;
use memspan_engine::store::pages::Pages;
use memspan_engine::store::progress::{self, Progress};
use memspan_engine::store::tree::page::{Kind, Order, Page, Sought};
use memspan_engine::store::vault::{Sealed, Vault, cipher::Cipher};
use memspan_engine::store::{envelope, pages::MemoryPages};
use memspan_engine::text::Analyzer;

/// A target by its name, which is that of its corpus's folder.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: [Target; 13] = [
    ("envelope", stored_value),
    ("msgpack", msgpack),
    ("memory", memory),
    ("message", message),
    ("response", response),
    ("prompt", prompt),
    ("page", page),
    ("text", text),
    ("index", index),
    ("tokenizer", tokenizer),
    ("export", export),
    ("records", records),
    ("log", log),
];

/// A key of the store and the value at it, split by the first byte.
fn split(data: &[u8]) -> (&[u8], &[u8]) {
    let Some((length, rest)) = data.split_first() else { return (&[], &[]) };
    rest.split_at(usize::from(*length).min(rest.len()))
}

/// What stands at a key: its envelope, and what an encrypted store makes of it.
fn stored_value(data: &[u8]) {
    let (key, value) = split(data);
    let _ = envelope::open(key, value);
    let _ = Key::from_slice(key);
    let _ = Sealed::from_bytes(value);
    if let (Ok(cipher), Ok(vault)) = (Cipher::new(&[7; 32]), Vault::new()) {
        let _ = vault.decrypt(&cipher, key, value);
    }
}

/// Every field of an array, as it comes.
fn msgpack(data: &[u8]) {
    let Ok(mut reader) = Reader::array(b"key", data) else { return };
    for _ in 0..64 {
        if reader.raw().is_err() {
            return;
        }
    }
    let Ok(mut typed) = Reader::array(b"key", data) else { return };
    let _ = (typed.uint(), typed.int(), typed.maybe_text(), typed.bin(), typed.float(), typed.bool(), typed.nested());
}

/// The record of a memory.
fn memory(data: &[u8]) {
    let _ = Memory::decode(b"key", 7, data);
}

/// A message of any vendor's form, and tools.
fn message(data: &[u8]) {
    for arguments in [Arguments::MustBeJson, Arguments::Keep] {
        let _ = Message::parse(data, None, arguments);
    }
    for format in [Format::OpenAi, Format::Anthropic] {
        let _ = Message::parse(data, Some(format), Arguments::Keep);
    }
    let _ = Tools::parse(data);
}

/// A provider's response.
fn response(data: &[u8]) {
    let _ = Response::read(data);
}

/// A block of a prompt, read back.
fn prompt(data: &[u8]) {
    let _ = block::read(&String::from_utf8_lossy(data));
}

/// A page of LMDB's file: whatever its bytes say, nothing outside of it is read.
fn page(data: &[u8]) {
    let mut bytes = [0; 4096];
    let length = data.len().min(bytes.len());
    bytes[..length].copy_from_slice(&data[..length]);
    let number = u64::from_le_bytes(bytes[..8].try_into().unwrap_or_default());
    for (kind, order) in [(Kind::Leaf, Order::Bytes), (Kind::Branch, Order::Bytes), (Kind::Leaf, Order::Numbers)] {
        let page = Page::new(&bytes);
        let _ = (page.check(number, kind, order), page.overflow_pages(number, Page::pages_of(5000, bytes.len())), page.bounds());
        for index in 0..page.entries().min(64) {
            let _ = (page.key(index), page.value(index), page.child(index));
        }
        for sought in [&bytes[16..24], &bytes[16..27], &bytes[16..40]].map(Sought::new) {
            for near in [None, Some(usize::from(bytes[16]))] {
                let _ = (page.search(&sought, 0, near), page.way_to(&sought, near));
            }
        }
    }
}

/// A text on its way into the index.
fn text(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut analysis = memspan_engine::text::Analysis::default();
    Analyzer::new().document(&text, 7, &mut analysis);
    let _ = Analyzer::new().query(&text, 7);
}

/// An index of words: catalogs, tails and blocks, each with a right checksum and any body.
fn index(data: &[u8]) {
    let id = IndexId { partition: 1, index: 1 };
    let (mut pages, mut rest) = (MemoryPages::new(), data);
    while let Some((&[table, codec, length, place], after)) = rest.split_first_chunk::<4>() {
        let (body, after) = after.split_at((usize::from(length) * 8).min(after.len()));
        let of = |table| Key::new(id.partition, table).u8(id.index);
        let key = match table % 6 {
            0 => of(Table::Tail),
            1 => of(Table::Postings).u64(u64::from(place)).u32(0),
            2 => of(Table::RunCatalog).u16(0),
            3 => of(Table::RunPages).u32(u32::from(place)).u64(0).u32(0),
            4 => of(Table::RunLengths).u32(u32::from(place)),
            _ => of(Table::Lengths).u32(u32::from(place)),
        };
        let mut value = envelope::seal(key.as_slice(), 1, envelope::Codec::Packed, body);
        envelope::seal_in_place(key.as_slice(), 1, codec % 3, &mut value);
        pages.insert(key.as_slice().to_vec(), value);
        rest = after;
    }
    if let Ok(reader) = Postings::open(&pages, id) {
        let _ = (reader.find(7), reader.postings());
    }
    if let Ok(runs) = Runs::open(&pages, id) {
        let _ = runs.statistics(&pages);
    }
    let _ = Runs::verify(&pages, id);
}

/// A file that a caller says is a tokenizer.
fn tokenizer(data: &[u8]) {
    let path = std::path::Path::new("tokenizer");
    for pattern in [None, Some("o200k_base")] {
        let _ = memspan_engine::tokens::check_tokenizer(path, data, pattern);
    }
}

/// The lines of an export, as far as they are believed.
fn export(data: &[u8]) {
    let Ok(mut loading) = Loading::begin(data, "export", FORMAT_VERSION) else { return };
    while let Ok(true) = loading.next(|_, _| Ok(())) {}
}

/// A store in memory, with the key of its hashes.
struct InMemory {
    secret: Secret,
    values: MemoryPages,
}

impl Pages for InMemory {
    fn secret(&self) -> Secret {
        self.secret
    }

    fn get(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        Pages::get(&self.values, key)
    }

    fn floor(&self, key: &[u8]) -> Result<Option<(&[u8], &[u8])>> {
        self.values.floor(key)
    }

    fn scan<'p>(&'p self, from: &[u8], to: &[u8], visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>) -> Result<()> {
        self.values.scan(from, to, visit)
    }
}

/// A small store that has every kind of record, of which `store.py` wrote the export.
fn small_store() -> InMemory {
    let lines = include_bytes!("corpus/export/store.jsonl");
    let mut loading = Loading::begin(&lines[..], "store.jsonl", FORMAT_VERSION).expect("of this format: run fuzz/store.py again");
    let mut store = InMemory { secret: loading.secret(), values: MemoryPages::new() };
    let mut put = |key: &[u8], value: &[u8]| {
        store.values.insert(key.to_vec(), value.to_vec());
        Ok(())
    };
    while loading.next(&mut put).expect("whole") {}
    store
}

/// Records of a whole store, each with a right checksum and any body. The doctor reads every one, and what it leads to.
fn records(data: &[u8]) {
    static STORE: OnceLock<InMemory> = OnceLock::new();
    let InMemory { secret, values } = STORE.get_or_init(small_store);
    let (mut store, mut rest) = (InMemory { secret: *secret, values: values.clone() }, data);
    while let Some((&[low, high, length, more], after)) = rest.split_first_chunk::<4>() {
        let (body, after) = after.split_at(usize::from(u16::from_le_bytes([length, more])).min(after.len()));
        let at = usize::from(u16::from_le_bytes([low, high])) % store.values.len();
        if let Some((key, value)) = store.values.iter_mut().nth(at) {
            value.truncate(envelope::ENVELOPE_BYTES);
            value.extend_from_slice(body);
            envelope::seal_in_place(key, value[0], value[1], value);
        }
        rest = after;
    }
    let _ = doctor::check(&store);
}

/// The log of a generation and its file `progress`, with right checksums over any fields, beside a data file whose meta pages they name.
fn log(data: &[u8]) {
    const PAGE: usize = 512;
    let mut noted = [0; progress::BYTES];
    let (said, pages) = data.split_at(data.len().min(noted.len()));
    noted[..said.len()].copy_from_slice(said);
    progress::seal(&mut noted);
    let mut pages = pages.to_vec();
    pages.resize(pages.len().next_multiple_of(PAGE).max(2 * PAGE), 0);
    log::seal_all(&mut pages, PAGE);
    let folder = std::env::temp_dir().join(format!("memspan-fuzz-{}", std::process::id()));
    let read = || -> std::io::Result<()> {
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("progress"), noted)?;
        std::fs::write(folder.join("log"), &pages)?;
        let file = std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(true).open(folder.join("data.mdb"))?;
        for (page, meta) in pages[40..].chunks_exact(FIELD_BYTES).take(2).enumerate() {
            file.write_all_at(meta, (page * PAGE + 16) as u64)?; // those that the first head names
        }
        file.set_len(128 * PAGE as u64)?;
        let (store, generation) = (StoreId([0; 16]), 0);
        let meta_pages = || MetaPages::read(&file, PAGE as u64, &folder);
        if let Ok(progress) = Progress::open(&folder, store, generation, FileId::of(&file)?, false) {
            let _ = (progress.judge(meta_pages), progress.standing(progress.acknowledged(), || Ok(0)));
        }
        if let Ok(Some(log)) = Log::open(&folder, store, generation, PAGE, false) {
            let _ = (log.newest(), log.wanted(8), log.recover(&folder, &file, 0, true), log.write_again(&file));
        }
        std::fs::remove_dir_all(&folder)
    };
    read().expect("a folder for temporary files");
}
