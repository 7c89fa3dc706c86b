//! The decoders that read what others wrote, each given any bytes. None may panic, hang, or read past the end; what comes back is not looked at.
//!
//! `fuzz_targets/` runs them under libFuzzer; `rust/engine/tests/fuzz_corpus.rs` replays the corpus, and mutations of it, in the tests.

use memspan_engine::context::{Arguments, Format, Message, Tools, block};
use memspan_engine::memory::Memory;
use memspan_engine::session::Response;
use memspan_engine::store::msgpack::Reader;
use memspan_engine::store::tree::page::{Kind, Order, Page};
use memspan_engine::store::vault::{Sealed, Vault, cipher::Cipher};
use memspan_engine::store::{envelope, keys::Key};
use memspan_engine::text::Analyzer;

/// A target by its name, which is that of its corpus's folder.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: [Target; 8] = [
    ("envelope", stored_value),
    ("msgpack", msgpack),
    ("memory", memory),
    ("message", message),
    ("response", response),
    ("prompt", prompt),
    ("page", page),
    ("text", text),
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
        let _ = (page.check(number, kind, order), page.check_overflow(number, 5000), page.bounds());
        for index in 0..page.entries().min(64) {
            let _ = (page.key(index), page.value(index), page.child(index));
        }
        let _ = page.search(&bytes[16..24], 0, None);
        let _ = page.search(&bytes[16..24], 0, Some(usize::from(bytes[16])));
    }
}

/// A text on its way into the index.
fn text(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut analysis = memspan_engine::text::Analysis::default();
    Analyzer::new().document(&text, 7, &mut analysis);
    let _ = Analyzer::new().query(&text, 7);
}
