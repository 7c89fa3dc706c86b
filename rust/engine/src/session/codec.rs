//! How the plain types of prompts are stored: nested MessagePack arrays inside the bodies of sessions, epochs and calls.
//!
//! Every type is an array of its own, so that a later format may append to any of them. A reader takes the fields it knows and
//! leaves the others. A field that is missing is 0, empty or none. Enums have numbers that never change, whatever their order
//! in the source. An unknown number is damage, since a guess would be another prompt. An item that is a memory is stored
//! without its text and attributes: they are the memory's, and a forgotten memory must be gone from here too.
//!
//! This module does not know which bodies hold these arrays, or under which keys.

use std::sync::Arc;

use crate::context::image::ImageRule;
use crate::context::message::Media;
use crate::context::{
    Budget, Cut, DocumentRef, Epoch, Explained, Factor, Form, Format, Framing, Grant, Item, MemoryRef, MessageRef, Order, Origin, Reason,
    RelevanceFloor, SectionUse, SetAside, Share, Tally, Why,
};
use crate::models::Model;
use crate::store::envelope::damaged;
use crate::store::msgpack::{Reader, Writer};
use crate::tokens::Encoding;
use crate::{Error, Result};

/// The array that is the next field, as a reader of its own; `None` where it is missing or nil.
pub(super) fn maybe_inner<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Option<Reader<'b>>> {
    let raw = r.raw()?;
    if raw.is_empty() { Ok(None) } else { Reader::array(key, raw).map(Some) }
}

/// The array that is the next field, as a reader of its own; an empty one where it is missing.
pub(super) fn inner<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Reader<'b>> {
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
        Format::Responses => 2,
        Format::Gemini => 3,
    });
}

/// See [`write_format`].
pub(super) fn read_format(r: &mut Reader<'_>, key: &[u8]) -> Result<Format> {
    match r.uint()? {
        0 => Ok(Format::OpenAi),
        1 => Ok(Format::Anthropic),
        2 => Ok(Format::Responses),
        3 => Ok(Format::Gemini),
        other => Err(unknown(key, "format", other)),
    }
}

/// `[name, window, most output, encoding, factor, framing, append only, least cached, most input]`, and the base URL where there is one.
pub(super) fn write_model(w: &mut Writer, model: &Model) {
    w.nested(9 + u32::from(!model.base_url.is_empty()));
    w.text(&model.name);
    w.uint(model.context_window);
    w.uint(model.max_output_tokens);
    w.text(model.encoding.name());
    w.uint(model.factor.per_mille().into());
    write_framing(w, &model.framing);
    w.bool(model.append_only);
    w.uint(model.min_cached_tokens);
    w.uint(model.max_input_tokens);
    if !model.base_url.is_empty() {
        w.text(&model.base_url);
    }
}

/// See [`write_model`].
pub(super) fn read_model<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Model> {
    let mut r = inner(r, key)?;
    Ok(Model {
        name: r.text()?.into(),
        context_window: r.uint()?,
        max_output_tokens: r.uint()?,
        encoding: read_encoding(&mut r, key)?,
        factor: Factor::new(read_u32(&mut r, key)?),
        framing: read_framing(&mut r, key)?,
        append_only: r.bool()?,
        min_cached_tokens: r.uint()?,
        max_input_tokens: r.uint()?,
        base_url: r.text()?.into(),
    })
}

/// An encoding by its name. One that a caller's file defines is known once the file was loaded.
fn read_encoding(r: &mut Reader<'_>, key: &[u8]) -> Result<Encoding> {
    let name = r.text()?;
    if name.is_empty() { Err(damaged(key, "it names no encoding")) } else { Encoding::from_name(name) }
}

fn write_framing(w: &mut Writer, framing: &Framing) {
    let lacks = lacks(framing.media);
    w.nested(7 + u32::from(lacks != 0));
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
        ImageRule::GeminiTiles => numbered(w, 3, &[]),
        ImageRule::GeminiResolution => numbered(w, 4, &[]),
    }
    if lacks != 0 {
        w.uint(lacks);
    }
}

/// The media that a model does not take, as bits: images, documents, audio. 0, which is not written, means none.
fn lacks(media: Media) -> u64 {
    u64::from(!media.images) | u64::from(!media.documents) << 1 | u64::from(!media.audio) << 2
}

fn takes(lacks: u64) -> Media {
    Media { images: lacks & 1 == 0, documents: lacks & 2 == 0, audio: lacks & 4 == 0 }
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
        media: takes(r.uint()?),
    })
}

fn read_image_rule<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<ImageRule> {
    let mut r = inner(r, key)?;
    match r.uint()? {
        0 => Ok(ImageRule::Tiles { base: r.uint()?, tile: r.uint()? }),
        1 => Ok(ImageRule::Patches { per_mille: r.uint()? }),
        2 => Ok(ImageRule::Anthropic),
        3 => Ok(ImageRule::GeminiTiles),
        4 => Ok(ImageRule::GeminiResolution),
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

/// `[order, cut step, [[section, floor, weight, ceiling]], least score, share of the best, rounds kept]`.
/// Shares in millionths; the last field only where it is above 1.
pub(super) fn write_budget(w: &mut Writer, budget: &Budget) {
    w.nested(5 + u32::from(budget.keep_rounds > 1));
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
    if budget.keep_rounds > 1 {
        w.uint(budget.keep_rounds);
    }
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
    Ok(Budget { order, cut_step, grants, relevance, keep_rounds: r.uint()?.max(1) })
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

/// `[number, reason, origin, [pinned], summary, system, tools, renderer, factor, fixed tokens, [start, resume, shortened]]`; the last only where it is true.
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
    w.nested(2 + u32::from(epoch.cut.shortened));
    w.uint(epoch.cut.start);
    w.maybe_int(maybe_index(epoch.cut.resume));
    if epoch.cut.shortened {
        w.bool(true);
    }
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
    Ok(Cut { start: r.uint()?, resume: read_maybe_index(r, key)?, shortened: r.bool()? })
}

/// `[section, id, memory, score, [[name, value]], text, message, form, [partition, document]]`; attributes and text only of what is neither
/// memory nor message, the last field only of a passage.
pub(super) fn write_item(w: &mut Writer, item: &Item) {
    let formed = item.form != Form::default();
    w.nested(if item.document.is_some() {
        9
    } else if formed {
        8
    } else if item.memory.is_some() {
        4
    } else {
        7
    });
    w.text(&item.section);
    w.text(&item.id);
    write_memory_ref(w, item.memory.as_ref());
    w.maybe_int(item.score);
    if let Some(message) = &item.message {
        w.nested(0);
        w.text("");
        w.nested(4);
        for number in [message.partition, message.session, message.index, message.document] {
            w.uint(number);
        }
    } else if item.memory.is_none() {
        write_list(w, &item.attributes, |w, (name, value)| {
            w.nested(2);
            w.text(name);
            w.text(value);
        });
        w.text(&item.text);
        w.nil();
    } else if formed || item.document.is_some() {
        w.nested(0);
        w.text("");
        w.nil();
    }
    if formed || item.document.is_some() {
        write_form(w, item.form);
    }
    if let Some(of) = item.document {
        w.nested(2);
        w.uint(of.partition);
        w.uint(of.document);
    }
}

/// `[version, start or nil, length, newer at or nil, disputed, origin, called]`; the last three only as far as one of them is set.
fn write_form(w: &mut Writer, form: Form) {
    let (has_called, has_origin) = (form.called.is_some(), form.called.is_some() || form.origin != Origin::Unsaid);
    w.nested(4 + u32::from(form.disputed || has_origin) + u32::from(has_origin) + u32::from(has_called));
    w.uint(form.version.into());
    w.maybe_int(form.span.map(|span| span.0 as i64));
    w.uint(form.span.map_or(0, |span| span.1));
    w.maybe_int(form.newer_at);
    if form.disputed || has_origin {
        w.bool(form.disputed);
    }
    if has_origin {
        w.uint(form.origin as u64);
    }
    if let Some(called) = form.called {
        w.uint(called);
    }
}

/// How memories say which scope they are of; where the number is missing, not at all.
pub(super) fn read_origin(r: &mut Reader<'_>, key: &[u8]) -> Result<Origin> {
    let number = r.uint()?;
    Origin::of_number(number).ok_or_else(|| unknown(key, "way to say a scope", number))
}

/// See [`write_form`]; what 0.3.0 wrote has none.
fn read_form<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Form> {
    let Some(mut r) = maybe_inner(r, key)? else { return Ok(Form::default()) };
    let version = r.uint()?;
    if version > Form::NAMED.into() {
        return Err(unknown(key, "form of an item", version));
    }
    let (start, length) = (r.maybe_int()?, r.uint()?);
    let span = start.map(|start| (start as u64, length));
    let (newer_at, disputed, origin, called) = (r.maybe_int()?, r.bool()?, read_origin(&mut r, key)?, r.maybe_int()?);
    Ok(Form { version: version as u8, span, newer_at, disputed, origin, called: called.map(|called| called as u64) })
}

/// See [`write_item`]; one that is a memory or a message comes back without attributes and text, which the caller fills in.
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
        message: match maybe_inner(&mut r, key)? {
            None => None,
            Some(mut r) => Some(MessageRef { partition: r.uint()?, session: r.uint()?, index: r.uint()?, document: r.uint()? }),
        },
        form: read_form(&mut r, key)?,
        document: match maybe_inner(&mut r, key)? {
            None => None,
            Some(mut r) => Some(DocumentRef { partition: r.uint()?, document: r.uint()? }),
        },
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
        Why::OverGrant { granted, left, ceiling } => numbered(w, 9, &[granted, left, ceiling]),
        Why::OverRoom { left } => numbered(w, 10, &[left]),
        Why::Pinned => numbered(w, 11, &[]),
        Why::Repeated => numbered(w, 12, &[]),
        Why::Empty => numbered(w, 13, &[]),
        Why::NextTurn => numbered(w, 14, &[]),
        Why::BeforeOrigin => numbered(w, 15, &[]),
        Why::Retained { turn } => numbered(w, 16, &[turn]),
        Why::Outdated { turn } => numbered(w, 17, &[turn]),
        Why::ReadAs { ref word } => {
            w.nested(2);
            w.uint(18);
            w.text(word);
        }
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
        9 => Why::OverGrant { granted: r.uint()?, left: r.uint()?, ceiling: r.uint()? },
        10 => Why::OverRoom { left: r.uint()? },
        11 => Why::Pinned,
        12 => Why::Repeated,
        13 => Why::Empty,
        14 => Why::NextTurn,
        15 => Why::BeforeOrigin,
        16 => Why::Retained { turn: r.uint()? },
        17 => Why::Outdated { turn: r.uint()? },
        18 => Why::ReadAs { word: r.text()?.into() },
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

/// `[for the block, as history]`, and behind it what history was granted, where that is needed.
pub(super) fn write_set_aside(w: &mut Writer, set_aside: SetAside) {
    w.nested(2 + u32::from(set_aside.for_history.is_some()));
    w.uint(set_aside.for_block);
    w.uint(set_aside.as_history);
    if let Some(grant) = set_aside.for_history {
        w.uint(grant);
    }
}

/// See [`write_set_aside`].
pub(super) fn read_set_aside<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<SetAside> {
    let mut r = inner(r, key)?;
    let (for_block, as_history) = (r.uint()?, r.uint()?);
    let for_history = r.maybe_int()?.and_then(|grant| u64::try_from(grant).ok());
    Ok(SetAside { for_block, as_history, for_history })
}

/// `[messages, turns, tokens, has a user message, [open], [answered], [closed]]`, and behind it whether the turn was answered, if it was.
pub(super) fn write_tally(w: &mut Writer, tally: &Tally) {
    w.nested(7 + u32::from(tally.is_answered));
    w.uint(tally.messages);
    w.uint(tally.turns);
    w.uint(tally.tokens);
    w.bool(tally.has_user);
    for ids in [&tally.open, &tally.answered, &tally.closed] {
        write_list(w, ids, |w, id| w.text(id));
    }
    if tally.is_answered {
        w.bool(true);
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
        is_answered: r.bool()?,
    })
}

#[cfg(test)]
#[path = "codec_tests.rs"]
mod tests;

/// A 128-bit hash.
pub(super) fn read_hash(r: &mut Reader<'_>, key: &[u8]) -> Result<u128> {
    let bytes = r.bin()?;
    bytes.try_into().map(u128::from_be_bytes).map_err(|_| damaged(key, "a hash in it does not have 16 bytes"))
}
