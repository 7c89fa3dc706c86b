//! The factors learned for closed tokenizers, in the store: one record for each model and address, and in each session the content of its
//! window with the last cost that a provider reported.
//!
//! Both change in the transaction that adds a reply. Nothing is counted twice. The arithmetic is in
//! [`crate::tokens::bound`] and [`crate::context::bounded`].

use std::ops::ControlFlow;

use crate::Result;
use crate::audit::Report;
use crate::context::{Factor, KnownCost};
use crate::memory::Core;
use crate::models::Model;
use crate::session::codec;
use crate::store::envelope::{self, Codec, damaged};
use crate::store::identity::Secret;
use crate::store::keys::{Key, STORE, Table};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};
use crate::tokens::bound::{Class, Learned, Open, Ratio, State, Tally};

/// The factors learned for one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearnedModel {
    /// Its name, and the address where it has one of its own.
    pub model: String,
    /// The encoding that its text was counted by.
    pub encoding: String,
    /// The learned factors.
    pub learned: Learned,
}

fn key(model: &str, secret: Secret) -> Key {
    Key::new(STORE, Table::Learned).u128(secret.hash128(model.as_bytes()))
}

/// The factors learned for `model`; none where it is counted by another encoding now.
pub(in crate::session) fn read<P: Pages>(pages: &P, model: &Model) -> Result<Learned> {
    let (name, secret) = (model.learned_as(), pages.secret());
    let key = key(&name, secret);
    let Some(value) = pages.get(key.as_slice())? else { return Ok(Learned::new(model.factor)) };
    let found = decode(key.as_slice(), value)?;
    if *found.model != *name || found.encoding != model.encoding.name() {
        return Ok(Learned::new(model.factor));
    }
    let mut state = found.learned.state();
    if found.learned.prior() != model.factor {
        // Another prior was given since: a factor that was held below it is that of the prior before.
        state.held = State::default().held;
    }
    Ok(Learned::from_state(model.factor, &state).unwrap_or_else(|| Learned::new(model.factor)))
}

/// Keeps what was learned.
pub(in crate::session) fn write(pages: &mut impl PagesMut, model: &Model, learned: &Learned) -> Result<()> {
    let name = model.learned_as();
    let (key, state) = (key(&name, pages.secret()), learned.state());
    let mut w = Writer::array(5);
    w.text(&name);
    w.text(model.encoding.name());
    w.uint(learned.prior().per_mille().into());
    w.uint(state.exceeded);
    w.nested(Class::ALL.len() as u32);
    for ((ratios, open), held) in state.ratios.iter().zip(state.open).zip(state.held) {
        w.nested(4 + u32::from(held.is_some()));
        w.bin(&ratios.iter().flat_map(|ratio| [ratio.most, ratio.least]).flat_map(|one| (one as u16).to_be_bytes()).collect::<Vec<u8>>());
        for number in [open.tokens, open.most, open.least] {
            w.uint(number);
        }
        if let Some(held) = held {
            w.uint(held.per_mille().into());
        }
    }
    pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, w.bytes()))
}

fn decode(key: &[u8], value: &[u8]) -> Result<LearnedModel> {
    let mut r = Reader::array(key, envelope::open(key, value)?.body)?;
    let (model, encoding) = (r.text()?.to_owned(), r.text()?.to_owned());
    let prior = Factor::new(u32::try_from(r.uint()?).map_err(|_| damaged(key, "its prior is not a factor"))?);
    let mut state = State { exceeded: r.uint()?, ..State::default() };
    let mut classes = codec::inner(&mut r, key)?;
    for class in Class::ALL {
        let mut r = codec::inner(&mut classes, key)?;
        let (ratios, rest) = r.bin()?.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(damaged(key, "a ratio in it does not have four bytes"));
        }
        let ratio =
            |[a, b, c, d]: &[u8; 4]| Ratio { most: u16::from_be_bytes([*a, *b]).into(), least: u16::from_be_bytes([*c, *d]).into() };
        state.ratios[class as usize] = ratios.iter().map(ratio).collect();
        state.open[class as usize] = Open { tokens: r.uint()?, most: r.uint()?, least: r.uint()? };
        let held = u32::try_from(r.uint()?).map_err(|_| damaged(key, "what is held of it is not a factor"))?;
        state.held[class as usize] = (held > 0).then(|| Factor::new(held));
    }
    let learned = Learned::from_state(prior, &state).ok_or_else(|| damaged(key, "it has more samples of a class than are kept"))?;
    Ok(LearnedModel { model, encoding, learned })
}

/// All that was learned, in the order of the models' names.
fn all<P: Pages>(pages: &P) -> Result<Vec<LearnedModel>> {
    let range = Key::new(STORE, Table::Learned).prefix_range();
    let mut found = Vec::new();
    pages.scan(&range.start, &range.end, &mut |key, value| {
        found.push(decode(key, value)?);
        Ok(ControlFlow::Continue(()))
    })?;
    found.sort_by(|one, other| one.model.cmp(&other.model));
    Ok(found)
}

/// All that was learned of models in a store, in the order of their names.
pub fn learned(engine: &Core) -> Result<Vec<LearnedModel>> {
    engine.store().read(all)
}

/// Forgets what was learned of a model, from its next epoch on; whether there was something.
pub fn forget_learned(engine: &Core, model: &str) -> Result<bool> {
    let model = model.to_owned();
    engine.write(move |txn| reset(txn, &model))
}

/// Forgets what was learned of a model; whether there was something.
fn reset(pages: &mut impl PagesMut, model: &str) -> Result<bool> {
    let key = key(model, pages.secret());
    let known = pages.get(key.as_slice())?.is_some();
    if known {
        pages.delete(key.as_slice())?;
    }
    Ok(known)
}

/// The doctor's look: each record can be read, and is at the key of its name.
pub(crate) fn check<P: Pages>(pages: &P, report: &mut Report) -> Result<()> {
    let range = Key::new(STORE, Table::Learned).prefix_range();
    let mut found = Vec::new();
    pages.scan(&range.start, &range.end, &mut |at, value| {
        let same = decode(at, value).map(|one| (key(&one.model, pages.secret()).as_slice() == at, one.model));
        found.push(same);
        Ok(ControlFlow::Continue(()))
    })?;
    for one in found {
        if let Some((false, model)) = report.read(STORE, "learned", one)? {
            report.note(STORE, "learned", format!("what was learned of {model:?} is at the key of another name"));
        }
    }
    Ok(())
}

/// The content of a session's window, as its epoch's record names it, and its last known cost. Of closed tokenizers only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowContent {
    /// Fixed sections, messages, blocks that stayed.
    pub content: Tally,
    /// The last cost that a provider told of it.
    pub anchor: Option<StoredAnchor>,
}

/// A cost that a provider told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAnchor {
    /// Of what the window was then, and of the block.
    pub cost: u64,
    /// The content added since.
    pub since: Tally,
    /// The block of the turn that goes on; empty once it is over.
    pub block: Tally,
}

impl WindowContent {
    /// Something was added at the end.
    pub(in crate::session) fn extend(&mut self, added: &Tally) {
        self.content = self.content.plus(added);
        if let Some(anchor) = &mut self.anchor {
            anchor.since = anchor.since.plus(added);
        }
    }

    /// The turn is over; `kept` is its block, where it stays.
    pub(in crate::session) fn end_turn(&mut self, kept: Option<&Tally>, learned: &Learned) {
        let held = self.anchor.as_mut().map(|anchor| std::mem::take(&mut anchor.block)).filter(|block| *block != Tally::default());
        if let Some(kept) = kept {
            self.content = self.content.plus(kept);
        }
        match (&mut self.anchor, held, kept) {
            (Some(anchor), Some(held), None) => anchor.cost = anchor.cost.saturating_sub(learned.least_of(&held)),
            (Some(anchor), None, Some(kept)) => anchor.since = anchor.since.plus(kept),
            _ => {}
        }
    }

    /// The known part of its cost; `goes_on` in a turn whose block was sent.
    pub(in crate::session) fn known(&self, goes_on: bool, learned: &Learned) -> Option<KnownCost> {
        let anchor = self.anchor.as_ref()?;
        let holds_block = anchor.block != Tally::default();
        let gone = if holds_block && !goes_on { learned.least_of(&anchor.block) } else { 0 };
        Some(KnownCost { cost: anchor.cost.saturating_sub(gone), since: anchor.since, holds_block: holds_block && goes_on })
    }

    pub(in crate::session) fn write(&self, w: &mut Writer) {
        w.nested(2);
        write_tally(w, &self.content);
        match &self.anchor {
            None => w.nil(),
            Some(anchor) => {
                w.nested(3);
                w.uint(anchor.cost);
                write_tally(w, &anchor.since);
                write_tally(w, &anchor.block);
            }
        }
    }

    pub(in crate::session) fn read<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Option<Self>> {
        let Some(mut inner) = codec::maybe_inner(r, key)? else { return Ok(None) };
        let content = read_tally(&mut inner, key)?;
        let anchor = match codec::maybe_inner(&mut inner, key)? {
            None => None,
            Some(mut r) => Some(StoredAnchor { cost: r.uint()?, since: read_tally(&mut r, key)?, block: read_tally(&mut r, key)? }),
        };
        Ok(Some(Self { content, anchor }))
    }
}

/// Frames, then tokens and bytes of each class.
fn write_tally(w: &mut Writer, tally: &Tally) {
    w.nested(1 + 2 * Class::ALL.len() as u32);
    w.uint(tally.frames);
    for class in tally.classes {
        w.uint(class.tokens);
        w.uint(class.bytes);
    }
}

fn read_tally<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Tally> {
    let mut tally = Tally::default();
    let Some(mut r) = codec::maybe_inner(r, key)? else { return Ok(tally) };
    tally.frames = r.uint()?;
    for class in &mut tally.classes {
        (class.tokens, class.bytes) = (r.uint()?, r.uint()?);
    }
    Ok(tally)
}
