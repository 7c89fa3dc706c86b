//! How the plain types of prompts are stored: nested MessagePack arrays inside the bodies of sessions, epochs and calls.
//!
//! Every type is an array of its own, so that a later format may append to any of them: a reader takes the fields it knows and
//! leaves the others; a field that is missing is 0, empty or none. Enums have numbers that never change, whatever their order
//! in the source; a number that is not known is damage, since a guess would be another prompt. An item that is a memory is
//! stored without its text and attributes: they are the memory's, and what is forgotten must be gone from here too.
//!
//! Not here: which bodies hold these arrays, and under which keys.

use std::sync::Arc;

use crate::context::image::ImageRule;
use crate::context::{
    Budget, Cut, Epoch, Explained, Factor, Format, Framing, Grant, Item, MemoryRef, Order, Reason, RelevanceFloor, SectionUse, SetAside,
    Share, Tally, Why,
};
use crate::models::Model;
use crate::store::envelope::damaged;
use crate::store::msgpack::{Reader, Writer};
use crate::tokens::Encoding;
use crate::{Error, Result};

/// The array that is the next field, as a reader of its own; `None` where it is missing or nil.
fn maybe_inner<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Option<Reader<'b>>> {
    let raw = r.raw()?;
    if raw.is_empty() { Ok(None) } else { Reader::array(key, raw).map(Some) }
}

/// The same; an empty one where it is missing.
fn inner<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Reader<'b>> {
    const EMPTY: &[u8] = &[0x90];
    maybe_inner(r, key)?.map_or_else(|| Reader::array(key, EMPTY), Ok)
}

/// A list, each element written by `write`.
pub(super) fn write_list<T>(w: &mut Writer, list: &[T], mut write: impl FnMut(&mut Writer, &T)) {
    w.nested(list.len() as u32);
    for one in list {
        write(w, one);
    }
}

/// A list, each element read by `read`.
pub(super) fn read_list<'b, T>(r: &mut Reader<'b>, mut read: impl FnMut(&mut Reader<'b>) -> Result<T>) -> Result<Vec<T>> {
    (0..r.nested()?).map(|_| read(r)).collect()
}

fn read_u32(r: &mut Reader<'_>, key: &[u8]) -> Result<u32> {
    u32::try_from(r.uint()?).map_err(|_| damaged(key, "a number in it is above 32 bits"))
}

fn unknown(key: &[u8], what: &str, number: u64) -> Error {
    damaged(key, &format!("it names no {what}: {number}"))
}

fn maybe_index(index: Option<u64>) -> Option<i64> {
    index.map(|index| i64::try_from(index).unwrap_or(i64::MAX))
}

fn read_maybe_index(r: &mut Reader<'_>, key: &[u8]) -> Result<Option<u64>> {
    r.maybe_int()?.map(|index| u64::try_from(index).map_err(|_| damaged(key, "an index in it is below 0"))).transpose()
}

/// The format of a message or a request.
pub(super) fn write_format(w: &mut Writer, format: Format) {
    w.uint(match format {
        Format::OpenAi => 0,
        Format::Anthropic => 1,
    });
}

/// See [`write_format`].
pub(super) fn read_format(r: &mut Reader<'_>, key: &[u8]) -> Result<Format> {
    match r.uint()? {
        0 => Ok(Format::OpenAi),
        1 => Ok(Format::Anthropic),
        other => Err(unknown(key, "format", other)),
    }
}

/// `[name, window, most output, encoding, factor, framing, append only, least cached]`.
pub(super) fn write_model(w: &mut Writer, model: &Model) {
    w.nested(8);
    w.text(&model.name);
    w.uint(model.context_window);
    w.uint(model.max_output_tokens);
    w.text(model.encoding.name());
    w.uint(model.factor.per_mille().into());
    write_framing(w, &model.framing);
    w.bool(model.append_only);
    w.uint(model.min_cached_tokens);
}

/// See [`write_model`].
pub(super) fn read_model<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Model> {
    let mut r = inner(r, key)?;
    Ok(Model {
        name: r.text()?.into(),
        context_window: r.uint()?,
        max_output_tokens: r.uint()?,
        encoding: Encoding::from_name(r.text()?).map_err(|_| damaged(key, "it names an encoding that this version does not have"))?,
        factor: Factor::new(read_u32(&mut r, key)?),
        framing: read_framing(&mut r, key)?,
        append_only: r.bool()?,
        min_cached_tokens: r.uint()?,
    })
}

fn write_framing(w: &mut Writer, framing: &Framing) {
    w.nested(7);
    write_format(w, framing.format);
    w.uint(framing.per_message);
    w.uint(framing.per_name);
    w.uint(framing.per_tool_call);
    w.uint(framing.reply);
    w.uint(framing.per_tool);
    match framing.images {
        ImageRule::Tiles { base, tile } => numbered(w, 0, &[base, tile]),
        ImageRule::Patches { per_mille } => numbered(w, 1, &[per_mille]),
        ImageRule::Anthropic => numbered(w, 2, &[]),
    }
}

fn read_framing<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Framing> {
    let mut r = inner(r, key)?;
    Ok(Framing {
        format: read_format(&mut r, key)?,
        per_message: r.uint()?,
        per_name: r.uint()?,
        per_tool_call: r.uint()?,
        reply: r.uint()?,
        per_tool: r.uint()?,
        images: read_image_rule(&mut r, key)?,
    })
}

fn read_image_rule<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<ImageRule> {
    let mut r = inner(r, key)?;
    match r.uint()? {
        0 => Ok(ImageRule::Tiles { base: r.uint()?, tile: r.uint()? }),
        1 => Ok(ImageRule::Patches { per_mille: r.uint()? }),
        2 => Ok(ImageRule::Anthropic),
        other => Err(unknown(key, "price of images", other)),
    }
}

/// A variant's number and its fields.
fn numbered(w: &mut Writer, number: u64, fields: &[u64]) {
    w.nested(1 + fields.len() as u32);
    w.uint(number);
    for field in fields {
        w.uint(*field);
    }
}

/// `[order, cut step, [[section, floor, weight, ceiling]], least score, share of the best]`; shares in millionths.
pub(super) fn write_budget(w: &mut Writer, budget: &Budget) {
    w.nested(5);
    w.uint(match budget.order {
        Order::CacheFirst => 0,
        Order::Classic => 1,
    });
    w.uint(budget.cut_step.millionths().into());
    write_list(w, &budget.grants, |w, (section, grant)| {
        w.nested(2);
        w.text(section);
        write_grant(w, grant);
    });
    w.int(budget.relevance.min_score);
    w.uint(budget.relevance.of_best.millionths().into());
}

/// See [`write_budget`].
pub(super) fn read_budget<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Budget> {
    let mut r = inner(r, key)?;
    let order = match r.uint()? {
        0 => Order::CacheFirst,
        1 => Order::Classic,
        other => return Err(unknown(key, "order of a prompt", other)),
    };
    let cut_step = Share::new(read_u32(&mut r, key)?);
    let grants = read_list(&mut r, |r| {
        let mut r = inner(r, key)?;
        let section = r.text()?.into();
        Ok((section, read_grant(&mut inner(&mut r, key)?, key)?))
    })?;
    let relevance = RelevanceFloor { min_score: r.int()?, of_best: Share::new(read_u32(&mut r, key)?) };
    Ok(Budget { order, cut_step, grants, relevance })
}

fn write_grant(w: &mut Writer, grant: &Grant) {
    w.nested(3);
    w.uint(grant.floor);
    w.uint(grant.weight.into());
    w.uint(grant.ceiling);
}

/// The fields of a grant, whose array `r` is.
fn read_grant(r: &mut Reader<'_>, key: &[u8]) -> Result<Grant> {
    Ok(Grant { floor: r.uint()?, weight: read_u32(r, key)?, ceiling: r.uint()? })
}

/// `[partition, memory, revision]`, or nil.
pub(super) fn write_memory_ref(w: &mut Writer, memory: Option<&MemoryRef>) {
    let Some(memory) = memory else { return w.nil() };
    w.nested(3);
    w.uint(memory.partition);
    w.uint(memory.memory);
    w.uint(memory.revision);
}

/// See [`write_memory_ref`].
pub(super) fn read_memory_ref<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Option<MemoryRef>> {
    let Some(mut r) = maybe_inner(r, key)? else { return Ok(None) };
    Ok(Some(MemoryRef { partition: r.uint()?, memory: r.uint()?, revision: r.uint()? }))
}

fn reason_number(reason: Reason) -> u64 {
    match reason {
        Reason::Began => 0,
        Reason::Cut => 1,
        Reason::Compacted => 2,
        Reason::ModelSwitched => 3,
        Reason::Instructions => 4,
        Reason::Rewound => 5,
        Reason::Forked => 6,
        Reason::Forgotten => 7,
    }
}

fn reason_of(number: u64) -> Option<Reason> {
    use Reason::{Began, Compacted, Cut, Forgotten, Forked, Instructions, ModelSwitched, Rewound};
    [Began, Cut, Compacted, ModelSwitched, Instructions, Rewound, Forked, Forgotten].get(number as usize).copied()
}

/// `[number, reason, origin, [pinned], summary, system, tools, renderer, factor, fixed tokens, [start, resume]]`.
pub(super) fn write_epoch(w: &mut Writer, epoch: &Epoch) {
    w.nested(11);
    w.uint(epoch.number);
    w.uint(reason_number(epoch.reason));
    w.uint(epoch.origin);
    write_list(w, &epoch.pinned, |w, memory| write_memory_ref(w, Some(memory)));
    w.uint(epoch.summary_version);
    w.uint(epoch.system_version);
    w.uint(epoch.tools_version);
    w.uint(epoch.renderer_version.into());
    w.uint(epoch.factor.per_mille().into());
    w.uint(epoch.fixed_tokens);
    w.nested(2);
    w.uint(epoch.cut.start);
    w.maybe_int(maybe_index(epoch.cut.resume));
}

/// See [`write_epoch`].
pub(super) fn read_epoch<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Epoch> {
    let mut r = inner(r, key)?;
    let number = r.uint()?;
    let reason = r.uint()?;
    let reason = reason_of(reason).ok_or_else(|| unknown(key, "reason of an epoch", reason))?;
    Ok(Epoch {
        number,
        reason,
        origin: r.uint()?,
        pinned: read_list(&mut r, |r| read_memory_ref(r, key)?.ok_or_else(|| damaged(key, "a pinned memory in it has no number")))?,
        summary_version: r.uint()?,
        system_version: r.uint()?,
        tools_version: r.uint()?,
        renderer_version: read_u32(&mut r, key)?,
        factor: Factor::new(read_u32(&mut r, key)?),
        fixed_tokens: r.uint()?,
        cut: read_cut(&mut inner(&mut r, key)?, key)?,
    })
}

/// The fields of a cut, whose array `r` is.
fn read_cut(r: &mut Reader<'_>, key: &[u8]) -> Result<Cut> {
    Ok(Cut { start: r.uint()?, resume: read_maybe_index(r, key)? })
}

/// `[section, id, memory, score, [[name, value]], text]`; the last two only of what is no memory.
pub(super) fn write_item(w: &mut Writer, item: &Item) {
    w.nested(if item.memory.is_some() { 4 } else { 6 });
    w.text(&item.section);
    w.text(&item.id);
    write_memory_ref(w, item.memory.as_ref());
    w.maybe_int(item.score);
    if item.memory.is_none() {
        write_list(w, &item.attributes, |w, (name, value)| {
            w.nested(2);
            w.text(name);
            w.text(value);
        });
        w.text(&item.text);
    }
}

/// See [`write_item`]; one that is a memory comes back without attributes and text, which the caller fills in.
pub(super) fn read_item<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Item> {
    let mut r = inner(r, key)?;
    Ok(Item {
        section: r.text()?.into(),
        id: r.text()?.into(),
        memory: read_memory_ref(&mut r, key)?,
        score: r.maybe_int()?,
        attributes: read_list(&mut r, |r| {
            let mut r = inner(r, key)?;
            Ok((r.text()?.into(), r.text()?.into()))
        })?,
        text: r.text()?.into(),
    })
}

/// `[section, id, memory, score, tokens, why]`.
pub(super) fn write_explained(w: &mut Writer, line: &Explained) {
    w.nested(6);
    w.text(&line.section);
    w.text(&line.id);
    write_memory_ref(w, line.memory.as_ref());
    w.maybe_int(line.score);
    w.uint(line.tokens);
    write_why(w, &line.why);
}

/// See [`write_explained`].
pub(super) fn read_explained<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Explained> {
    let mut r = inner(r, key)?;
    Ok(Explained {
        section: r.text()?.into(),
        id: r.text()?.into(),
        memory: read_memory_ref(&mut r, key)?,
        score: r.maybe_int()?,
        tokens: r.uint()?,
        why: read_why(&mut inner(&mut r, key)?, key)?,
    })
}

fn write_why(w: &mut Writer, why: &Why) {
    match *why {
        Why::Fixed => numbered(w, 0, &[]),
        Why::Chosen => numbered(w, 1, &[]),
        Why::Frozen => numbered(w, 2, &[]),
        Why::InWindow { start } => numbered(w, 3, &[start]),
        Why::BeforeWindow { start, steps } => numbered(w, 4, &[start, steps]),
        Why::RoundsLeftOut => numbered(w, 5, &[]),
        Why::Shortened { from } => numbered(w, 6, &[from]),
        Why::BelowFloor { floor } => {
            w.nested(2);
            w.uint(7);
            w.int(floor);
        }
        Why::OverCeiling { ceiling } => numbered(w, 8, &[ceiling]),
        Why::OverGrant { granted, left } => numbered(w, 9, &[granted, left]),
        Why::OverRoom { left } => numbered(w, 10, &[left]),
        Why::Pinned => numbered(w, 11, &[]),
        Why::Repeated => numbered(w, 12, &[]),
        Why::Empty => numbered(w, 13, &[]),
    }
}

/// The fields of a reason, whose array `r` is.
fn read_why(r: &mut Reader<'_>, key: &[u8]) -> Result<Why> {
    Ok(match r.uint()? {
        0 => Why::Fixed,
        1 => Why::Chosen,
        2 => Why::Frozen,
        3 => Why::InWindow { start: r.uint()? },
        4 => Why::BeforeWindow { start: r.uint()?, steps: r.uint()? },
        5 => Why::RoundsLeftOut,
        6 => Why::Shortened { from: r.uint()? },
        7 => Why::BelowFloor { floor: r.int()? },
        8 => Why::OverCeiling { ceiling: r.uint()? },
        9 => Why::OverGrant { granted: r.uint()?, left: r.uint()? },
        10 => Why::OverRoom { left: r.uint()? },
        11 => Why::Pinned,
        12 => Why::Repeated,
        13 => Why::Empty,
        other => return Err(unknown(key, "reason of an explanation", other)),
    })
}

/// `[name, grant or nil, asked, granted, tokens, items]`.
pub(super) fn write_section_use(w: &mut Writer, section: &SectionUse) {
    w.nested(6);
    w.text(&section.name);
    match &section.grant {
        Some(grant) => write_grant(w, grant),
        None => w.nil(),
    }
    w.uint(section.asked);
    w.uint(section.granted);
    w.uint(section.tokens);
    w.uint(section.items);
}

/// See [`write_section_use`].
pub(super) fn read_section_use<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<SectionUse> {
    let mut r = inner(r, key)?;
    Ok(SectionUse {
        name: Arc::from(r.text()?),
        grant: maybe_inner(&mut r, key)?.map(|mut grant| read_grant(&mut grant, key)).transpose()?,
        asked: r.uint()?,
        granted: r.uint()?,
        tokens: r.uint()?,
        items: r.uint()?,
    })
}

/// `[for the block, as history]`.
pub(super) fn write_set_aside(w: &mut Writer, set_aside: SetAside) {
    w.nested(2);
    w.uint(set_aside.for_block);
    w.uint(set_aside.as_history);
}

/// See [`write_set_aside`].
pub(super) fn read_set_aside<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<SetAside> {
    let mut r = inner(r, key)?;
    Ok(SetAside { for_block: r.uint()?, as_history: r.uint()? })
}

/// `[messages, turns, tokens, has a user message, [open], [answered], [closed]]`.
pub(super) fn write_tally(w: &mut Writer, tally: &Tally) {
    w.nested(7);
    w.uint(tally.messages);
    w.uint(tally.turns);
    w.uint(tally.tokens);
    w.bool(tally.has_user);
    for ids in [&tally.open, &tally.answered, &tally.closed] {
        write_list(w, ids, |w, id| w.text(id));
    }
}

/// See [`write_tally`].
pub(super) fn read_tally<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Tally> {
    fn ids(r: &mut Reader<'_>) -> Result<Vec<Box<str>>> {
        read_list(r, |r| Ok(r.text()?.into()))
    }
    let mut r = inner(r, key)?;
    Ok(Tally {
        messages: r.uint()?,
        turns: r.uint()?,
        tokens: r.uint()?,
        has_user: r.bool()?,
        open: ids(&mut r)?,
        answered: ids(&mut r)?,
        closed: ids(&mut r)?,
    })
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;
    use crate::ErrorKind;
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
        let images = match random.below(3) {
            0 => ImageRule::Tiles { base: number(random), tile: number(random) },
            1 => ImageRule::Patches { per_mille: number(random) },
            _ => ImageRule::Anthropic,
        };
        let framing = Framing {
            format: *random.pick(&[Format::OpenAi, Format::Anthropic]),
            per_message: number(random),
            per_name: number(random),
            per_tool_call: number(random),
            reply: number(random),
            per_tool: number(random),
            images,
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
        }
    }

    fn budget(random: &mut Random) -> Budget {
        Budget {
            order: *random.pick(&[Order::CacheFirst, Order::Classic]),
            cut_step: Share::new(number(random) as u32),
            grants: some(random, |random| (text(random).into(), grant(random))),
            relevance: RelevanceFloor { min_score: random.next() as i64, of_best: Share::new(number(random) as u32) },
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
            cut: Cut { start: number(random), resume: maybe(random, index) },
        }
    }

    fn item(random: &mut Random) -> Item {
        Item {
            section: text(random).into(),
            id: text(random).into(),
            attributes: some(random, |random| (text(random).into(), text(random).into())),
            text: text(random).into(),
            memory: maybe(random, memory),
            score: score(random),
        }
    }

    fn why(random: &mut Random) -> Why {
        match random.below(14) {
            0 => Why::Fixed,
            1 => Why::Chosen,
            2 => Why::Frozen,
            3 => Why::InWindow { start: number(random) },
            4 => Why::BeforeWindow { start: number(random), steps: number(random) },
            5 => Why::RoundsLeftOut,
            6 => Why::Shortened { from: number(random) },
            7 => Why::BelowFloor { floor: random.next() as i64 },
            8 => Why::OverCeiling { ceiling: number(random) },
            9 => Why::OverGrant { granted: number(random), left: number(random) },
            10 => Why::OverRoom { left: number(random) },
            11 => Why::Pinned,
            12 => Why::Repeated,
            _ => Why::Empty,
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
        round_trips(model, write_model, |r, key| read_model(r, key), Clone::clone);
        round_trips(budget, write_budget, |r, key| read_budget(r, key), Clone::clone);
        round_trips(epoch, write_epoch, |r, key| read_epoch(r, key), Clone::clone);
        round_trips(explained, write_explained, |r, key| read_explained(r, key), Clone::clone);
        round_trips(section_use, write_section_use, |r, key| read_section_use(r, key), Clone::clone);
        round_trips(tally, write_tally, |r, key| read_tally(r, key), Clone::clone);
        let set_aside = |random: &mut Random| SetAside { for_block: number(random), as_history: number(random) };
        round_trips(set_aside, |w, value| write_set_aside(w, *value), |r, key| read_set_aside(r, key), |value| *value);
    }

    #[test]
    fn an_item_comes_back_but_a_memory_leaves_its_text_where_it_is() {
        let without_text = |item: &Item| match item.memory {
            Some(_) => Item { attributes: Vec::new(), text: "".into(), ..item.clone() },
            None => item.clone(),
        };
        let make = |random: &mut Random| loop {
            let item = item(random);
            if item.memory.is_none() {
                return item;
            }
        };
        round_trips(make, write_item, |r, key| read_item(r, key), Clone::clone);
        let mut random = Random::new(8);
        for _ in 0..500 {
            let item = Item { text: "the secret".into(), ..item(&mut random) };
            let mut body = Writer::array(1);
            write_item(&mut body, &item);
            assert_eq!(item.memory.is_some(), !body.bytes().windows(10).any(|part| part == b"the secret"));
            assert_eq!(read_item(&mut Reader::array(KEY, body.bytes()).unwrap(), KEY).unwrap(), without_text(&item));
        }
    }

    #[test]
    fn a_missing_field_is_its_default_and_an_unknown_number_is_damage() {
        let budget = read_budget(&mut Reader::array(KEY, &[0x91, 0x91, 0]).unwrap(), KEY).unwrap();
        assert_eq!((budget.order, budget.cut_step.millionths(), budget.grants.len()), (Order::CacheFirst, 0, 0));
        assert_eq!(read_tally(&mut Reader::array(KEY, &[0x90]).unwrap(), KEY).unwrap(), Tally::default());
        let read = |body: &[u8], what: fn(&mut Reader<'_>, &[u8]) -> Result<()>| what(&mut Reader::array(KEY, body).unwrap(), KEY);
        let wrong = [
            read(&[0x91, 0x91, 2], |r, _| read_budget(r, KEY).map(drop)),
            read(&[0x91, 0x92, 0, 8], |r, _| read_epoch(r, KEY).map(drop)),
            read(&[0x91, 0x96, 0xA0, 0xA0, 0xC0, 0xC0, 0, 0x91, 14], |r, _| read_explained(r, KEY).map(drop)),
            read(&[0x91, 2], |r, key| read_format(r, key).map(drop)),
            read(&[0x91, 0x91, 0xA0], |r, _| read_model(r, KEY).map(drop)),
        ];
        for wrong in wrong {
            assert_eq!(wrong.unwrap_err().kind(), ErrorKind::StoreCorrupt);
        }
    }

    #[test]
    fn numbers_never_change() {
        for number in 0..8 {
            assert_eq!(reason_number(reason_of(number).unwrap()), number);
        }
        assert!(reason_of(8).is_none());
        let mut w = Writer::array(1);
        write_why(&mut w, &Why::OverGrant { granted: 5, left: 2 });
        assert_eq!(w.bytes(), [0x91, 0x93, 9, 5, 2]);
    }
}
