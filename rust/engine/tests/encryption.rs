//! Encrypted stores from outside: what the files show without the key, which keys open them, and that everything that copies, repairs or
//! replaces a store keeps both promises.

mod support;

use std::path::{Path, PathBuf};
use std::time::Duration;

use memspan_engine::ErrorKind;
use memspan_engine::engine::{Engine, mend};
use memspan_engine::models::Model;
use memspan_engine::session::{NewMessage, Options, Session};
use memspan_engine::store::folder::FORMAT_VERSION;
use memspan_engine::store::identity::Seed;
use memspan_engine::store::repair::repair;
use memspan_engine::store::vault::StoreKey;
use memspan_engine::text::{Analysis, Analyzer};
use support::{ALL_KINDS, Folder, ask, assert_sound, copy_folder, embed, memories, one, open, options, user, with_vector};

const FACT: &str = "payments-api listens on port 8443 in prod-eu-west-1";
const SAID: &str = "my grandmother's maiden name is Featherstonehaugh";
const PATIENCE: Duration = Duration::from_secs(20);

fn key(byte: u8) -> StoreKey {
    StoreKey::new(&[byte; 32]).expect("a key")
}

fn open_with(path: &Path, byte: u8) -> memspan_engine::Result<Engine> {
    Engine::open_encrypted(path, options(true), false, key(byte))
}

/// Memories, one of them too long for a page, and a session.
fn fill(engine: &Engine) {
    one(engine, &user("u-42-visible-name"), with_vector(FACT), 1);
    one(engine, &user("u-42-visible-name"), with_vector(&format!("{FACT} {}", "and so on ".repeat(2000))), 2);
    one(engine, &user("other"), with_vector("Drinks tea with Eve"), 3);
    let scope = user("u-42-visible-name");
    let session = Session { engine, scope: &scope, id: "a-session-id" };
    session.open(Options { model: Some(Model::named("gpt-4o").expect("known")), ..Options::default() }, 4).expect("opened");
    session.add(NewMessage::given(format!(r#"{{"role":"user","content":"{SAID}"}}"#)), None, 5).expect("added");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("listed").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// How often `needle` stands in any file of the store.
fn seen(folder: &Path, needle: &[u8]) -> usize {
    files(folder).iter().map(|file| std::fs::read(file).expect("read").windows(needle.len()).filter(|bytes| *bytes == needle).count()).sum()
}

/// What must not be seen of the content of [`fill`]: texts, names, ids, a vector as it is stored exactly.
fn needles() -> Vec<Vec<u8>> {
    let texts = ["payments-api", "Featherstonehaugh", "u-42-visible-name", "a-session-id", "Drinks tea"];
    let unit = embed(FACT);
    let inverse = 32_767.0 / f64::from(unit.as_slice().iter().fold(0.0_f32, |most, value| most.max(value.abs())));
    let code = |value: &f32| ((f64::from(*value) * inverse + 32_768.5) as i32 - 32_768) as i16; // 16 bits: docs/format.md
    let vector: Vec<u8> = unit.as_slice().iter().flat_map(|value| code(value).to_le_bytes()).take(64).collect();
    texts.iter().map(|text| text.as_bytes().to_vec()).chain([vector]).collect()
}

#[test]
fn files_of_an_encrypted_store_show_nothing_of_what_is_in_it() {
    let (plain, encrypted, copy) = (Folder::new(), Folder::new(), Folder::new());
    fill(&open(&plain.0, true));
    let engine = open_with(&encrypted.0, 1).expect("open");
    fill(&engine);
    assert_eq!(ask(&engine, &user("u-42-visible-name"), "port 8443", 1, 9).expect("answered")[0], FACT);
    engine.backup(&copy.0).expect("copied");
    for needle in needles() {
        assert!(seen(&plain.0, &needle) > 0, "the control: {needle:?} stands in the plain store");
        assert_eq!(seen(&encrypted.0, &needle), 0, "{:?}", String::from_utf8_lossy(&needle));
        assert_eq!(seen(&copy.0, &needle), 0, "in the backup: {:?}", String::from_utf8_lossy(&needle));
    }
    engine.compact().expect("compacted");
    assert_sound(&engine);
    engine.close().expect("closed");
    let again = open_with(&copy.0, 1).expect("the backup has the same key");
    assert_eq!(memories(&again, &user("u-42-visible-name"), 9).len(), 2);
    assert_sound(&again);
}

#[test]
fn an_export_is_plain_and_what_is_loaded_is_encrypted() {
    let (plain, encrypted, again, files) = (Folder::new(), Folder::new(), Folder::new(), Folder::new());
    fill(&open(&plain.0, true));
    std::fs::create_dir_all(&files.0).expect("made");
    let (first, second) = (files.0.join("first.jsonl"), files.0.join("second.jsonl"));
    let values = open(&plain.0, true).export(&first).expect("exported");
    let engine = open_with(&encrypted.0, 1).expect("open");
    assert_eq!(engine.load(&first).expect("loaded"), values);
    assert_sound(&engine);
    for needle in needles() {
        assert_eq!(seen(&encrypted.0, &needle), 0, "{:?}", String::from_utf8_lossy(&needle));
    }
    engine.export(&second).expect("exported");
    assert!(but_hashes(&second) == but_hashes(&first), "keys are in neither, and what is searched by is under keyed hashes");
    // Only now: an export holds how often a memory was recalled.
    assert_eq!(ask(&engine, &user("u-42-visible-name"), "port 8443", 1, 9).expect("answered")[0], FACT);
    engine.close().expect("closed");
    let engine = open_with(&encrypted.0, 1).expect("opened again");
    one(&engine, &user("other"), with_vector("It can be written to"), 10);
    assert_sound(&engine);
    let engine = open(&again.0, true);
    engine.load(&second).expect("loaded");
    assert_eq!(memories(&engine, &user("u-42-visible-name"), 9).len(), 2);
    assert!(seen(&again.0, b"payments-api") > 0, "the control");
}

/// The lines of an export, without its first and last, and without those of indexes of words, which are written anew.
fn but_hashes(path: &Path) -> Vec<String> {
    const OF_WORDS: [&str; 7] = ["Tail", "Postings", "Attributes", "Lengths", "RunPages", "RunCatalog", "RunLengths"];
    let is_of_words = |line: &str| OF_WORDS.iter().any(|table| line.starts_with(&format!("{{\"table\":\"{table}\"")));
    let text = std::fs::read_to_string(path).expect("read");
    text.lines().skip(1).filter(|line| !is_of_words(line) && !line.starts_with("{\"end\"")).map(str::to_owned).collect()
}

/// Texts of words that no other has: so many that tails are sealed and blocks are split.
fn wordy(number: u32) -> String {
    (0..60).fold(String::from("payments"), |text, word| format!("{text} w{:x}x{word}", number.wrapping_mul(2_654_435_761)))
}

/// The hashes of its words.
fn words(number: u32, seed: Seed) -> Vec<u64> {
    let mut analysis = Analysis::default();
    Analyzer::new().document(&wordy(number), seed.terms, &mut analysis);
    analysis.terms.iter().map(|term| term.hash).collect()
}

/// The words that the keys of the blocks of all indexes name, as hashes.
fn named_in_keys(engine: &Engine) -> Vec<u64> {
    use memspan_engine::store::keys::Table;
    use memspan_engine::store::pages::Pages;
    let mut hashes = Vec::new();
    let scan = engine.store().read(|snapshot| {
        snapshot.scan_stored(&[0, 0, 0, 1], &[u8::MAX; 24], &mut |key, _| {
            let at = match key[4] {
                table if table == Table::Postings as u8 => 6,
                table if table == Table::RunPages as u8 => 10,
                _ => return Ok(std::ops::ControlFlow::Continue(())),
            };
            hashes.extend(key.get(at..at + 8).map(|hash| u64::from_be_bytes(hash.try_into().expect("eight"))).filter(|hash| *hash > 0));
            Ok(std::ops::ControlFlow::Continue(()))
        })
    });
    scan.expect("read");
    hashes
}

#[test]
fn a_store_that_gets_a_key_tells_no_word_of_what_was_plain() {
    use memspan_engine::collection::{self, CollectionName, NewDocument, Prepared};
    let store = Folder::new();
    let (engine, scope) = (open(&store.0, true), user("u-42-visible-name"));
    fill(&engine);
    let (session, docs) =
        (Session { engine: &engine, scope: &scope, id: "a-session-id" }, CollectionName::new(&scope, "docs").expect("a name"));
    for number in 0..200 {
        one(&engine, &scope, with_vector(&wordy(number)), 10 + i64::from(number));
        session
            .add(NewMessage::given(format!(r#"{{"role":"user","content":"{}"}}"#, wordy(number))), None, 10 + i64::from(number))
            .expect("added");
    }
    for number in 0..150 {
        let new = NewDocument::new(format!("d{number}"), wordy(number));
        collection::add::add(&engine, &docs, Prepared::new(new).expect("prepared"), None, 1000).expect("added");
    }
    engine.forget(&scope, "mem-7", None, 2000).expect("forgotten");
    let of_words = |seed: Seed| -> std::collections::BTreeSet<u64> { (0..200).flat_map(|number| words(number, seed)).collect() };
    let plain = engine.store().secret();
    let told = |engine: &Engine| {
        let known = &of_words(scope.seed(plain)) | &of_words(docs.seed(plain));
        named_in_keys(engine).iter().filter(|hash| known.contains(hash)).count()
    };
    assert!(told(&engine) > 20, "the control: {} keys of a plain store name a word", told(&engine));
    let questions = ["payments", "port 8443", "w9e3779b1x7"];
    let answers = |engine: &Engine| questions.map(|question| ask(engine, &scope, question, 5, 3000).expect("answered"));
    let before = answers(&engine);
    engine.rekey(Some(key(1))).expect("encrypted");
    assert!(named_in_keys(&engine).len() > 20, "there are blocks still");
    assert_eq!(told(&engine), 0);
    assert_eq!(answers(&engine), before);
    assert_sound(&engine);
    for number in [0, 150, 199] {
        for hash in words(number, scope.seed(plain)) {
            assert_eq!(seen(&store.0, &hash.to_be_bytes()) + seen(&store.0, &hash.to_le_bytes()), 0);
        }
    }
    engine.forget(&scope, "mem-9", None, 4000).expect("forgotten under its new hashes");
    session.add(NewMessage::given(r#"{"role":"user","content":"one more"}"#), None, 4001).expect("added");
    assert_sound(&engine);
    engine.rekey(None).expect("plain again");
    assert_eq!(told(&engine), 0, "its hashes stay keyed");
    assert_sound(&engine);
}

/// The store is of memspan 0.7.0, which kept the hashes of a plain store that got a key: 60 times `wordy`, then
/// `maintain(compact=True)` and `rekey(bytes([1]) * 32)`.
#[test]
fn a_store_that_an_earlier_version_encrypted_late_gets_new_hashes_by_the_same_key() {
    let (store, scope) = (Folder::new(), user("u-42-visible-name"));
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/encrypted-late-by-0.7.0");
    copy_folder(&kept, &store.0);
    let open = || Engine::open_encrypted(&store.0, options(false), false, key(1)).expect("open");
    let engine = open();
    let before = engine.store().secret();
    let words: std::collections::BTreeSet<u64> = (0..60).flat_map(|number| words(number, scope.seed(before))).collect();
    let told = |engine: &Engine| named_in_keys(engine).iter().filter(|hash| words.contains(hash)).count();
    assert!(before.tells_words() && told(&engine) > 5, "the control: {} keys name a word", told(&engine));
    let answers = |engine: &Engine| ["payments", "w9e3779b1x7"].map(|question| ask(engine, &scope, question, 5, 9).expect("answered"));
    let (texts, found) = (memories(&engine, &scope, 9), answers(&engine));
    assert_eq!(texts.len(), 60);
    engine.rekey(Some(key(1))).expect("the same key");
    engine.close().expect("closed");
    let engine = open();
    assert!(!engine.store().secret().tells_words() && named_in_keys(&engine).len() > 5);
    assert_eq!(told(&engine), 0);
    assert_eq!((memories(&engine, &scope, 9), answers(&engine)), (texts, found));
    assert_sound(&engine);
}

#[test]
fn every_other_key_is_a_typed_error_and_changes_nothing() {
    let (store, plain) = (Folder::new(), Folder::new());
    let engine = open_with(&store.0, 1).expect("open");
    fill(&engine);
    let reason = |error: memspan_engine::Error| {
        assert_eq!(error.kind(), ErrorKind::WrongKey, "{error}");
        format!("{:?}", error.fields())
    };
    // While this process has it open, and after.
    for _ in 0..2 {
        assert!(reason(open_with(&store.0, 2).expect_err("another")).contains("wrong"));
        assert!(reason(Engine::open(&store.0, options(true)).expect_err("none")).contains("missing"));
        engine.close().ok();
    }
    assert!(open_with(&store.0, 1).is_ok());
    fill(&open(&plain.0, true));
    assert!(reason(open_with(&plain.0, 1).expect_err("a key too many")).contains("not encrypted"));
    assert_eq!(StoreKey::new(&[1; 31]).expect_err("31 bytes").kind(), ErrorKind::InvalidInput);
}

#[test]
fn a_store_gets_another_key_or_one_or_none() {
    let store = Folder::new();
    fill(&open(&store.0, true));
    let expected = memories(&open(&store.0, true), &user("u-42-visible-name"), 9);
    let check = |engine: &Engine| {
        assert_eq!(memories(engine, &user("u-42-visible-name"), 9), expected);
        assert_eq!(ask(engine, &user("u-42-visible-name"), "port 8443", 2, 9).expect("answered").len(), 2);
        one(engine, &user("other"), with_vector("It can be written to"), 10);
        assert_sound(engine);
    };
    let engine = open(&store.0, true);
    engine.rekey(Some(key(1))).expect("encrypted");
    check(&engine);
    assert_eq!(seen(&store.0, b"payments-api"), 0, "what was plain is gone");
    engine.rekey(Some(key(2))).expect("another key");
    check(&engine);
    engine.close().expect("closed");
    assert_eq!(open_with(&store.0, 1).expect_err("the old key").kind(), ErrorKind::WrongKey);
    let engine = open_with(&store.0, 2).expect("the new key");
    check(&engine);
    engine.rekey(None).expect("plain");
    check(&engine);
    engine.close().expect("closed");
    check(&open(&store.0, true));
}

#[test]
fn another_process_follows_to_a_new_key_only_with_it() {
    let store = Folder::new();
    if let Some((_, path)) = support::role() {
        let engine = open_with(&path, 1).expect("open");
        engine.rekey(Some(key(2))).expect("another key");
        return;
    }
    let engine = open_with(&store.0, 1).expect("open");
    fill(&engine);
    support::join(support::spawn("another_process_follows_to_a_new_key_only_with_it", "rekey", &store.0));
    let error = engine.memories(&user("other"), 0, 10, ALL_KINDS, 9).expect_err("its key is the old one");
    assert_eq!(error.kind(), ErrorKind::WrongKey);
    // Also while the engine with the old key is there, and its recalls, which cannot be stored, keep nobody from closing it.
    let kind = |opened: memspan_engine::Result<Engine>| opened.expect_err("not its key").kind();
    assert_eq!((kind(open_with(&store.0, 1)), kind(open_with(&store.0, 3))), (ErrorKind::WrongKey, ErrorKind::WrongKey));
    let again = open_with(&store.0, 2).expect("the new key");
    assert_eq!(memories(&again, &user("other"), 9).len(), 1);
    assert_eq!(kind(open_with(&store.0, 1)), ErrorKind::WrongKey);
    again.close().expect("closed");
    engine.close().expect("closed");
    assert_eq!(memories(&open_with(&store.0, 2).expect("open"), &user("other"), 9).len(), 1);
}

#[test]
fn what_was_moved_swapped_or_written_without_the_key_is_damage() {
    use memspan_engine::store::keys::{Key, Table};
    use memspan_engine::store::pages::Pages;
    let store = Folder::new();
    let engine = open_with(&store.0, 1).expect("open");
    fill(&engine);
    // The record of one memory at the place of another: with a checksum that is right there, as somebody with the files can compute it.
    let place = |number: u32| Key::new(1, Table::Memory).u32(number).u16(0);
    let stored = |key: Key| {
        let mut bytes = Vec::new();
        let read = engine.store().read(|snapshot| {
            snapshot.scan_stored(key.as_slice(), &key.prefix_range().end, &mut |_, stored| {
                bytes = stored.to_vec();
                Ok(std::ops::ControlFlow::Break(()))
            })
        });
        read.map(|()| bytes).expect("read")
    };
    let mut moved = stored(place(1));
    let head = [moved[0], moved[1], moved[2], moved[3]];
    memspan_engine::store::envelope::seal_with_key(place(2).as_slice(), head, &mut moved);
    let put = move |bytes: Vec<u8>| {
        let write = engine.store().write(PATIENCE, move |txn| txn.put_stored(place(2).as_slice(), &bytes));
        write.expect("written");
        let error = engine.get(&user("u-42-visible-name"), "mem-2", 9).expect_err("not its own");
        assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "{error}");
        let report = engine.check().expect("checked");
        assert!(report.findings.iter().any(|finding| finding.part == "encryption"), "{:#?}", report.findings);
        engine
    };
    let engine = put(moved);
    let plain = memspan_engine::store::envelope::seal(
        place(2).as_slice(),
        1,
        memspan_engine::store::envelope::Codec::Raw,
        b"a plain value in an encrypted store",
    );
    let write = engine.store().write(PATIENCE, move |txn| txn.put_stored(place(2).as_slice(), &plain));
    write.expect("written");
    assert_eq!(engine.get(&user("u-42-visible-name"), "mem-2", 9).expect_err("plain").kind(), ErrorKind::StoreCorrupt);
}

#[test]
fn erasing_a_scope_destroys_its_key_and_the_rest_stays() {
    use memspan_engine::store::pages::Pages;
    use memspan_engine::store::vault::record_of;
    let store = Folder::new();
    let engine = open_with(&store.0, 1).expect("open");
    fill(&engine);
    let has_key = |partition| engine.store().read(|snapshot| Ok(snapshot.get(record_of(partition).as_slice())?.is_some())).expect("read");
    assert!(has_key(1) && has_key(2));
    let erased = engine.erase(&user("u-42-visible-name")).expect("erased");
    assert_eq!((erased.memories, erased.messages), (2, 1));
    assert!(!has_key(1) && has_key(2));
    assert_eq!(memories(&engine, &user("other"), 9).len(), 1);
    assert_sound(&engine);
    one(&engine, &user("u-42-visible-name"), with_vector("A new one of this name"), 20);
    assert_sound(&engine);
}

#[test]
fn an_encrypted_store_is_repaired_without_its_key() {
    let (store, saved) = (Folder::new(), Folder::new());
    let engine = open_with(&store.0, 1).expect("open");
    fill(&engine);
    engine.close().expect("closed");
    let repaired = repair(&store.0, &saved.0, FORMAT_VERSION, 9).expect("repaired");
    assert_eq!(repaired.lost, Vec::<String>::new());
    let engine = open_with(&saved.0, 1).expect("the same key");
    assert_eq!(memories(&engine, &user("u-42-visible-name"), 9).len(), 2);
    assert_sound(&engine);
    let other = Folder::new();
    assert_eq!(mend::repair(&store.0, &other.0, Some(&key(2)), 9).expect_err("another key").kind(), ErrorKind::WrongKey);
    assert!(std::fs::read_dir(&other.0).is_ok_and(|mut entries| entries.next().is_none()) || !other.0.exists(), "it may be repaired into");
}
