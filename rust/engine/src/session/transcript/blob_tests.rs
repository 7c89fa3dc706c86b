//! Blobs against a map in memory, at every place where a process can die, and texts that must come back.

use crate::store::identity::{Secret, Seed};
use std::collections::BTreeMap;

use super::*;
use crate::ErrorKind;
use crate::context::testing::{Random, nasty};
use crate::context::{Arguments, Format};
use crate::store::pages::MemoryPages;

const PARTITION: Partition = 3;
/// That of a scope of one store.
fn seed(scope: &str) -> Seed {
    Secret { key: [17; 16], keyed: true, terms_keyed: false }.seed(scope.as_bytes())
}

/// Bytes whose length is `chunks` pages, less a few.
fn bytes(chunks: usize, salt: u64) -> Vec<u8> {
    let mut random = Random::new(salt);
    (0..(chunks * ONE_PAGE_BODY).saturating_sub(salt as usize % 3)).map(|_| random.next() as u8).collect()
}

fn staged(pages: &mut MemoryPages, content: &[u8], most: usize, now: i64) -> u128 {
    let hash = hash(seed("own"), content);
    while !stage(pages, PARTITION, hash, content, most, now).unwrap() {}
    hash
}

struct Modelled {
    content: Vec<u8>,
    references: u64,
    created_at: i64,
}

/// The expected content of the store, blob by blob, and nothing else.
fn check(pages: &MemoryPages, model: &BTreeMap<u128, Modelled>) {
    let mut values = 0;
    for (hash, blob) in model {
        assert_eq!(get(pages, PARTITION, *hash).unwrap(), blob.content);
        assert_eq!(read(pages, PARTITION, *hash).unwrap().unwrap().references, blob.references);
        values += 1 + blob.content.len().div_ceil(ONE_PAGE_BODY);
    }
    assert_eq!(pages.len(), values);
}

#[test]
fn references_are_counted_as_in_a_map() {
    let contents: Vec<Vec<u8>> = [0, 1, 1, 2, 3, 66, 70].into_iter().zip(0..).map(|(chunks, salt)| bytes(chunks, salt)).collect();
    let mut random = Random::new(11);
    let (mut pages, mut model) = (MemoryPages::new(), BTreeMap::<u128, Modelled>::new());
    for now in 0..1_500 {
        let content = random.pick(&contents).clone();
        let hash = hash(seed("own"), &content);
        let fresh = Modelled { content: content.clone(), references: 0, created_at: now };
        match random.below(9) {
            0 | 1 => {
                put(&mut pages, PARTITION, hash, &content, now).unwrap();
                model.entry(hash).or_insert(fresh).references += 1;
            }
            2 => {
                staged(&mut pages, &content, 1 + random.below(30) as usize, now);
                model.entry(hash).or_insert(fresh).created_at = now;
            }
            3 => {
                let there = reference(&mut pages, PARTITION, hash, content.len() as u64).unwrap();
                assert_eq!(there, model.contains_key(&hash));
                model.entry(hash).and_modify(|blob| blob.references += 1);
            }
            4 => {
                let before = now - random.below(200) as i64;
                while sweep(&mut pages, PARTITION, before, 1 + random.below(40) as usize).unwrap() {}
                model.retain(|_, blob| blob.references > 0 || blob.created_at >= before);
            }
            _ => {
                let released = release(&mut pages, PARTITION, hash);
                let expected = model.get_mut(&hash).filter(|blob| blob.references > 0);
                assert_eq!(released.is_ok(), expected.is_some());
                let gone = expected.is_some_and(|blob| {
                    blob.references -= 1;
                    blob.created_at = RELEASED; // counts where nothing refers to it: the next sweep takes it, however young it is
                    blob.references == 0 && content.len() <= REMOVED_AT_ONCE * ONE_PAGE_BODY
                });
                if gone {
                    model.remove(&hash);
                }
            }
        }
        if now % 8 == 0 {
            check(&pages, &model);
        }
    }
    check(&pages, &model);
}

/// A crash loses the transaction it hits, so the state after each call is one that the next process may find.
#[test]
fn a_crash_at_any_step_leaves_a_beginning_that_goes_on_or_goes_away() {
    let content = bytes(9, 1);
    let hash = hash(seed("own"), &content);
    for step in 1..=4 {
        let mut pages = MemoryPages::new();
        let mut whole = false;
        while !whole {
            whole = stage(&mut pages, PARTITION, hash, &content, step, 100).unwrap();
            let mut next = pages.clone();
            assert_eq!(reference(&mut next, PARTITION, hash, content.len() as u64).unwrap(), whole, "nobody refers to a part");
            assert_eq!(get(&pages, PARTITION, hash).is_ok(), whole);
            let mut next = pages.clone();
            staged(&mut next, &content, 2, 200);
            assert_eq!(get(&next, PARTITION, hash).unwrap(), content);
            let mut next = pages.clone();
            put(&mut next, PARTITION, hash, &content, 200).unwrap();
            assert_eq!(get(&next, PARTITION, hash).unwrap(), content);
            crash_while_sweeping(&pages, &content, hash);
        }
    }
}

fn crash_while_sweeping(pages: &MemoryPages, content: &[u8], hash: u128) {
    let mut pages = pages.clone();
    assert!(!sweep(&mut pages, PARTITION, 100, 2).unwrap(), "it is not older than that");
    while sweep(&mut pages, PARTITION, 101, 2).unwrap() {
        let mut next = pages.clone();
        assert!(!reference(&mut next, PARTITION, hash, content.len() as u64).unwrap());
        staged(&mut next, content, 3, 200);
        assert_eq!(get(&next, PARTITION, hash).unwrap(), content);
    }
    assert!(pages.is_empty());
}

#[test]
fn a_sweep_is_bounded_and_spares_what_is_referred_to_or_young() {
    let mut pages = MemoryPages::new();
    for salt in 0..20 {
        staged(&mut pages, &bytes(5, salt), 9, 10);
    }
    let kept = staged(&mut pages, &bytes(5, 20), 9, 10);
    assert!(reference(&mut pages, PARTITION, kept, bytes(5, 20).len() as u64).unwrap());
    let young = staged(&mut pages, &bytes(5, 21), 9, 50);
    let mut before = pages.len();
    while sweep(&mut pages, PARTITION, 50, 7).unwrap() {
        assert!(pages.len() < before && before - pages.len() <= 7 + 7, "at most 7 chunks, and the records of those");
        before = pages.len();
    }
    assert!(get(&pages, PARTITION, kept).is_ok() && get(&pages, PARTITION, young).is_ok());
    assert_eq!(pages.len(), 2 * 6);
}

#[test]
fn damage_is_told() {
    let content = bytes(3, 0);
    let mut pages = MemoryPages::new();
    let hash = hash(seed("own"), &content);
    let corrupt = |result: Result<()>| assert_eq!(result.unwrap_err().kind(), ErrorKind::StoreCorrupt);
    corrupt(get(&pages, PARTITION, hash).map(drop));
    corrupt(release(&mut pages, PARTITION, hash));
    put(&mut pages, PARTITION, hash, &content, 1).unwrap();
    corrupt(put(&mut pages, PARTITION, hash, &content[1..], 1));
    for chunk in 0..3 {
        let mut missing = pages.clone();
        missing.remove(chunk_prefix(PARTITION, hash).u16(chunk).as_slice());
        corrupt(get(&missing, PARTITION, hash).map(drop));
    }
    for value in 0..pages.len() {
        let mut flipped = pages.clone();
        flipped.values_mut().nth(value).unwrap()[9] ^= 1;
        corrupt(get(&flipped, PARTITION, hash).map(drop));
    }
    let long = vec![0; MAX_BLOB_BYTES + 1];
    assert_eq!(put(&mut pages, PARTITION, 7, &long, 1).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_ne!(hash, super::hash(seed("other"), &content), "two scopes cannot be compared");
}

fn data(random: &mut Random, length: u64) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let alike = random.chance(10);
    (0..length).map(|_| char::from(if alike { b'A' } else { *random.pick(LETTERS) })).collect()
}

/// A user message as JSON with images, documents, results with images, long texts, and the same image twice.
fn message(random: &mut Random) -> String {
    let images: Vec<String> = (0..2)
        .map(|_| {
            let length = *random.pick(&[1, 2_047, 2_048, 2_049, 9_000]);
            data(random, length)
        })
        .collect();
    let mut blocks = Vec::new();
    for _ in 0..=random.below(6) {
        let image = random.pick(&images);
        let base64 = format!(r#"{{"type":"base64","media_type":"image/png","data":"{image}"}}"#);
        let pieces = random.below(5);
        let text = serde_json::to_string(&nasty(random, pieces)).unwrap();
        blocks.push(match random.below(6) {
            0 => format!(r#"{{"type":"image","source":{base64}}}"#),
            1 => format!(r#"{{"source":{base64} ,"type":"document"}}"#),
            2 => format!(r#"{{"type":"tool_result","tool_use_id":"t","content":[{{"type":"image","source":{base64}}}]}}"#),
            3 => format!(r#"{{"type":"text","text":"{image}"}}"#),
            4 => format!(r#"{{"type":"image","source":{}}}"#, base64.replace("media_type\":\"image/", "media_type\":\"image\\/")),
            _ => format!(r#"{{"type":"text","text":{text}}}"#),
        });
    }
    if random.chance(20) {
        let length = 100_000 * random.below(5);
        blocks.push(format!(r#"{{"type":"text","text":"{}"}}"#, data(random, length)));
    }
    format!(r#"{{"role":"user",  "content":[{}]}}"#, blocks.join(" ,"))
}

fn parse(given: &str, format: Format) -> Message {
    Message::parse(given.as_bytes(), Some(format), Arguments::Keep).unwrap()
}

fn back(rest: &[u8], parts: &[(Hole, &str)]) -> String {
    let holes: Vec<Hole> = parts.iter().map(|(hole, _)| *hole).collect();
    let get = |hole: &Hole| Ok(parts.iter().find(|(other, _)| other.hash == hole.hash).unwrap().1.as_bytes().to_vec());
    join(b"key", rest, &holes, get).unwrap()
}

#[test]
fn a_message_comes_back_to_the_byte() {
    let mut random = Random::new(21);
    for _ in 0..400 {
        let given = message(&mut random);
        let (rest, parts) = split(&given, &parse(&given, Format::Anthropic), seed("own"));
        assert!(rest.len() <= MOST_REST);
        assert_eq!(back(&rest, &parts), given);
        for (hole, text) in &parts {
            assert!(text.len() >= LEAST_HOLE && hole.length == text.len() as u64);
            assert_eq!(hole.hash, hash(seed("own"), text.as_bytes()));
            assert_eq!(&given[hole.offset as usize..][..text.len()], *text);
        }
        let mut w = Writer::array(parts.len() as u32);
        for (hole, _) in &parts {
            write_hole(&mut w, hole);
        }
        let mut r = Reader::array(b"key", w.bytes()).unwrap();
        assert!(parts.iter().all(|(hole, _)| read_hole(&mut r, b"key").unwrap() == *hole));
    }
}

#[test]
fn every_image_is_taken_out_also_the_second_of_a_kind() {
    let image = data(&mut Random::new(5), 5_000);
    let part = format!(r#"{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{image}"}}}}"#);
    let given = format!(r#"{{"role":"user","content":[{part},{{"type":"text","text":"and"}},{part}]}}"#);
    let (rest, parts) = split(&given, &parse(&given, Format::OpenAi), seed("own"));
    assert!(parts.len() == 2 && parts[0].0.hash == parts[1].0.hash && rest.len() < 250);
    let escaped = given.replace('/', "\\/");
    let (rest, parts) = split(&escaped, &parse(&escaped, Format::OpenAi), seed("own"));
    assert_eq!((rest.len(), parts.len()), (escaped.len(), 0), "not as it stands there, so it stays there");
}

#[test]
fn a_text_that_is_too_long_leaves_a_small_record() {
    let long = data(&mut Random::new(6), 300_000);
    let given = format!(r#"{{"role":"user","content":"{long}"}}"#);
    let (rest, parts) = split(&given, &parse(&given, Format::OpenAi), seed("own"));
    assert_eq!((rest.len(), parts.len()), (0, 1));
    let mut blocks = Vec::new();
    for salt in 0..1_100 {
        let image = data(&mut Random::new(salt), LEAST_HOLE as u64);
        blocks.push(format!(r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{image}"}}}}"#));
    }
    let given = format!(r#"{{"role":"user","content":[{}]}}"#, blocks.join(","));
    let (rest, parts) = split(&given, &parse(&given, Format::Anthropic), seed("own"));
    assert_eq!((rest.len(), parts.len()), (0, 1), "too many images for a record: one blob");
    assert_eq!(back(&rest, &parts), given);
}

#[test]
fn holes_that_do_not_fit_are_damage() {
    let hole = |offset, length| Hole { offset, hash: 1, length };
    let read = |holes: &[Hole], blob: &[u8]| join(b"key", b"abcdef", holes, |_| Ok(blob.to_vec())).map_err(|error| error.kind());
    assert_eq!(read(&[hole(2, 1), hole(3, 1)], b"X").unwrap(), "abXXcdef");
    for holes in [vec![hole(7, 1)], vec![hole(u64::MAX, 1)], vec![hole(2, 2)], vec![hole(2, 1), hole(2, 1)]] {
        assert_eq!(read(&holes, b"X"), Err(ErrorKind::StoreCorrupt));
    }
    assert_eq!(read(&[hole(2, 1)], b"\xFF"), Err(ErrorKind::StoreCorrupt));
}
