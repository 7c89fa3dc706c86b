//! Random values of every type there and back, also through a body that a later version wrote.

use std::fmt::Debug;

use super::*;
use crate::ErrorKind;
use crate::context::message::Media;
use crate::context::testing::{Random, nasty};

const KEY: &[u8] = b"key";

fn number(random: &mut Random) -> u64 {
    let bits = random.below(64);
    random.next() >> bits
}

fn index(random: &mut Random) -> u64 {
    number(random) >> 1
}

fn text(random: &mut Random) -> String {
    let pieces = random.below(4);
    nasty(random, pieces)
}

fn maybe<T>(random: &mut Random, make: impl FnOnce(&mut Random) -> T) -> Option<T> {
    random.chance(50).then(|| make(random))
}

fn some<T>(random: &mut Random, mut make: impl FnMut(&mut Random) -> T) -> Vec<T> {
    (0..random.below(4)).map(|_| make(random)).collect()
}

fn grant(random: &mut Random) -> Grant {
    Grant { floor: number(random), weight: number(random) as u32, ceiling: if random.chance(30) { u64::MAX } else { number(random) } }
}

fn memory(random: &mut Random) -> MemoryRef {
    MemoryRef { partition: number(random), memory: number(random), revision: number(random) }
}

fn score(random: &mut Random) -> Option<i64> {
    maybe(random, |random| random.next() as i64)
}

fn model(random: &mut Random) -> Model {
    let images = match random.below(5) {
        0 => ImageRule::Tiles { base: number(random), tile: number(random) },
        1 => ImageRule::Patches { per_mille: number(random) },
        2 => ImageRule::GeminiTiles,
        3 => ImageRule::GeminiResolution,
        _ => ImageRule::Anthropic,
    };
    let framing = Framing {
        format: *random.pick(&Format::ALL),
        per_message: number(random),
        per_name: number(random),
        per_tool_call: number(random),
        reply: number(random),
        per_tool: number(random),
        images,
        media: Media { images: random.chance(50), documents: random.chance(50), audio: random.chance(50) },
    };
    Model {
        name: text(random).into(),
        context_window: number(random),
        max_output_tokens: number(random),
        encoding: *random.pick(&Encoding::ALL),
        factor: Factor::new(number(random) as u32),
        framing,
        append_only: random.chance(50),
        min_cached_tokens: number(random),
        max_input_tokens: number(random),
        // A version that adds a field writes this before it, whatever it is; here an empty one is not written.
        base_url: format!("http://{}", text(random)).into(),
    }
}

fn budget(random: &mut Random) -> Budget {
    Budget {
        order: *random.pick(&[Order::CacheFirst, Order::Classic]),
        cut_step: Share::new(number(random) as u32),
        grants: some(random, |random| (text(random).into(), grant(random))),
        relevance: RelevanceFloor { min_score: random.next() as i64, of_best: Share::new(number(random) as u32) },
        // A version that adds a field writes this before it, whatever it is; here only 2 and more are written.
        keep_rounds: number(random).max(2),
    }
}

fn epoch(random: &mut Random) -> Epoch {
    Epoch {
        number: number(random),
        reason: reason_of(random.below(8)).unwrap(),
        origin: number(random),
        pinned: some(random, memory),
        summary_version: number(random),
        system_version: number(random),
        tools_version: number(random),
        renderer_version: number(random) as u32,
        factor: Factor::new(number(random) as u32),
        fixed_tokens: number(random),
        cut: Cut { start: number(random), resume: maybe(random, index), shortened: random.chance(50) },
    }
}

fn message(random: &mut Random) -> MessageRef {
    MessageRef { partition: number(random), session: number(random), index: number(random), document: number(random) }
}

fn document(random: &mut Random) -> DocumentRef {
    DocumentRef { partition: number(random), document: number(random) }
}

fn item(random: &mut Random) -> Item {
    let memory = maybe(random, memory);
    let message = if memory.is_some() { None } else { maybe(random, message) };
    let document = if memory.is_some() || message.is_some() { None } else { maybe(random, document) };
    Item {
        section: text(random).into(),
        id: text(random).into(),
        attributes: some(random, |random| (text(random).into(), text(random).into())),
        text: text(random).into(),
        memory,
        message,
        document,
        form: form(random),
        score: score(random),
    }
}

fn form(random: &mut Random) -> Form {
    let span = maybe(random, |random| (random.below(1 << 40), number(random)));
    let newer_at = maybe(random, |random| random.next() as i64 >> 8);
    let origin = Origin::of_number(random.below(3)).expect("a number of one");
    let called = maybe(random, |random| random.below(40));
    if random.chance(50) {
        Form::default()
    } else {
        Form { version: Form::DATED, span, newer_at, disputed: random.chance(50), origin, called }
    }
}

fn why(random: &mut Random) -> Why {
    match random.below(19) {
        0 => Why::Fixed,
        1 => Why::Chosen,
        2 => Why::Frozen,
        3 => Why::InWindow { start: number(random) },
        4 => Why::BeforeWindow { start: number(random), steps: number(random) },
        5 => Why::RoundsLeftOut,
        6 => Why::Shortened { from: number(random) },
        7 => Why::BelowFloor { floor: random.next() as i64 },
        8 => Why::OverCeiling { ceiling: number(random) },
        9 => Why::OverGrant { granted: number(random), left: number(random), ceiling: number(random) },
        10 => Why::OverRoom { left: number(random) },
        11 => Why::Pinned,
        12 => Why::Repeated,
        13 => Why::Empty,
        14 => Why::NextTurn,
        15 => Why::Retained { turn: number(random) },
        17 => Why::ReadAs { word: text(random).into() },
        16 => Why::Outdated { turn: number(random) },
        _ => Why::BeforeOrigin,
    }
}

fn explained(random: &mut Random) -> Explained {
    Explained {
        section: text(random).into(),
        id: text(random).into(),
        memory: maybe(random, memory),
        score: score(random),
        tokens: number(random),
        why: why(random),
    }
}

fn section_use(random: &mut Random) -> SectionUse {
    SectionUse {
        name: text(random).into(),
        grant: maybe(random, grant),
        asked: number(random),
        granted: number(random),
        tokens: number(random),
        items: number(random),
    }
}

fn tally(random: &mut Random) -> Tally {
    let ids = |random: &mut Random| some(random, |random| text(random).into());
    Tally {
        messages: number(random),
        turns: number(random),
        tokens: number(random),
        has_user: random.chance(50),
        is_answered: true, // a version that adds a field writes this one before it
        open: ids(random),
        answered: ids(random),
        closed: ids(random),
    }
}

/// The value comes back, and so does what stands behind it, when it is whole, longer than this version knows, or nil.
fn round_trips<T: Debug + PartialEq>(
    make: fn(&mut Random) -> T,
    write: impl Fn(&mut Writer, &T),
    read: impl for<'b> Fn(&mut Reader<'b>, &'b [u8]) -> Result<T>,
    expected: impl Fn(&T) -> T,
) {
    let mut random = Random::new(7);
    for _ in 0..500 {
        let value = make(&mut random);
        let mut body = Writer::array(2);
        write(&mut body, &value);
        body.uint(4_711);
        for body in [body.bytes().to_vec(), with_a_field_more(body.bytes())] {
            let mut r = Reader::array(KEY, &body).unwrap();
            assert_eq!(read(&mut r, KEY).unwrap(), expected(&value));
            assert_eq!(r.uint().unwrap(), 4_711, "nothing of it is left, nothing behind it is taken");
            every_truncation_is_an_answer(&body, &read);
        }
    }
}

/// The body of `[value, 4711]` with one more field in the array that is the value.
fn with_a_field_more(body: &[u8]) -> Vec<u8> {
    let end = crate::store::msgpack::skip(body, 1).unwrap();
    assert_eq!(body[1] & 0xF0, 0x90, "an array of fewer than 16 fields");
    [&[0x92, body[1] + 1], &body[2..end], b"\xA5later", &body[end..]].concat()
}

fn every_truncation_is_an_answer<T: Debug>(body: &[u8], read: impl for<'b> Fn(&mut Reader<'b>, &'b [u8]) -> Result<T>) {
    let end = crate::store::msgpack::skip(body, 1).unwrap();
    for length in [1, end / 3, end / 2, end - 1].into_iter().filter(|length| (1..end).contains(length)) {
        let mut r = Reader::array(KEY, &body[..length]).unwrap();
        assert_eq!(read(&mut r, KEY).unwrap_err().kind(), ErrorKind::StoreCorrupt);
    }
}

#[test]
fn every_type_comes_back() {
    round_trips(model, write_model, read_model, Clone::clone);
    round_trips(budget, write_budget, read_budget, Clone::clone);
    round_trips(epoch, write_epoch, read_epoch, Clone::clone);
    round_trips(explained, write_explained, read_explained, Clone::clone);
    round_trips(section_use, write_section_use, read_section_use, Clone::clone);
    round_trips(tally, write_tally, read_tally, Clone::clone);
    let set_aside =
        |random: &mut Random| SetAside { for_block: number(random), as_history: number(random), for_history: Some(number(random) >> 1) };
    round_trips(set_aside, |w, value| write_set_aside(w, *value), read_set_aside, |value| *value);
}

#[test]
fn an_item_comes_back_but_what_is_referred_to_leaves_its_text_where_it_is() {
    fn refers(item: &Item) -> bool {
        item.memory.is_some() || item.message.is_some()
    }
    let without_text = |item: &Item| {
        if refers(item) { Item { attributes: Vec::new(), text: "".into(), ..item.clone() } } else { item.clone() }
    };
    let make = |random: &mut Random| loop {
        let item = item(random);
        // A version that adds a field writes the document before it, whatever that is.
        if !refers(&item) && item.document.is_some() {
            return item;
        }
    };
    round_trips(make, write_item, read_item, Clone::clone);
    let mut random = Random::new(8);
    for _ in 0..500 {
        let item = Item { text: "the secret".into(), ..item(&mut random) };
        let mut body = Writer::array(1);
        write_item(&mut body, &item);
        assert_eq!(refers(&item), !body.bytes().windows(10).any(|part| part == b"the secret"));
        assert_eq!(read_item(&mut Reader::array(KEY, body.bytes()).unwrap(), KEY).unwrap(), without_text(&item));
    }
}

#[test]
fn a_missing_field_is_its_default_and_an_unknown_number_is_damage() {
    let budget = read_budget(&mut Reader::array(KEY, &[0x91, 0x91, 0]).unwrap(), KEY).unwrap();
    assert_eq!((budget.order, budget.cut_step.millionths(), budget.grants.len(), budget.keep_rounds), (Order::CacheFirst, 0, 0, 1));
    assert_eq!(read_tally(&mut Reader::array(KEY, &[0x90]).unwrap(), KEY).unwrap(), Tally::default());
    let read = |body: &[u8], what: fn(&mut Reader<'_>, &[u8]) -> Result<()>| what(&mut Reader::array(KEY, body).unwrap(), KEY);
    let wrong = [
        read(&[0x91, 0x91, 2], |r, _| read_budget(r, KEY).map(drop)),
        read(&[0x91, 0x92, 0, 8], |r, _| read_epoch(r, KEY).map(drop)),
        read(&[0x91, 0x96, 0xA0, 0xA0, 0xC0, 0xC0, 0, 0x91, 19], |r, _| read_explained(r, KEY).map(drop)),
        read(&[0x91, 4], |r, key| read_format(r, key).map(drop)),
        read(&[0x91, 0x91, 0xA0], |r, _| read_model(r, KEY).map(drop)),
    ];
    for wrong in wrong {
        assert_eq!(wrong.unwrap_err().kind(), ErrorKind::StoreCorrupt);
    }
}

#[test]
fn a_budget_that_keeps_one_round_is_written_as_before_0_5_0() {
    let mut w = Writer::array(1);
    write_budget(&mut w, &Budget::default());
    assert_eq!(w.bytes()[1], 0x95, "five fields");
    assert_eq!(read_budget(&mut Reader::array(KEY, w.bytes()).unwrap(), KEY).unwrap(), Budget::default());
}

#[test]
fn what_needs_no_later_field_is_written_as_before_0_14_0() {
    let mut w = Writer::array(2);
    write_tally(&mut w, &Tally::default());
    write_set_aside(&mut w, SetAside::default());
    let fields = |at: usize| w.bytes()[at];
    assert_eq!((fields(1), fields(w.bytes().len() - 3)), (0x97, 0x92), "seven fields, and two");
    let mut r = Reader::array(KEY, w.bytes()).unwrap();
    assert_eq!(read_tally(&mut r, KEY).unwrap(), Tally::default());
    assert_eq!(read_set_aside(&mut r, KEY).unwrap(), SetAside::default());
}

#[test]
fn numbers_never_change() {
    for number in 0..8 {
        assert_eq!(reason_number(reason_of(number).unwrap()), number);
    }
    assert!(reason_of(8).is_none());
    let mut w = Writer::array(1);
    write_why(&mut w, &Why::OverGrant { granted: 5, left: 2, ceiling: 9 });
    assert_eq!(w.bytes(), [0x91, 0x94, 9, 5, 2, 9]);
}
