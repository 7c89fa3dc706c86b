//! The effect of a claim that was heard on what is known: it says it again, takes the place of something, ends it, or stands beside it.
//!
//! All of it happens in the transaction that stores the claim, so that no other writer comes between the look and the write. The
//! candidates are the memories that the caller found near, and those that the same batch has just written.

use super::claims::Asked;
use super::heard;
use super::kind::Kind;
use super::near::{Moved, Named, Relation, Statement};
use super::outcome::{Action, Remembered};
use super::own::{Said, Whose};
use super::record::{self, Memory};
use super::slots::Slot;
use super::writer::PartitionWriter;
use crate::Result;
use crate::gate::{self, Change, Lift};
use crate::store::pages::PagesMut;
use crate::units::calendar::DAY;
use crate::units::days::ranges;

/// The part of a new memory that makes it a claim: what it is compared with, and what it says about others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Learning {
    /// Numbers of memories that may say the same or otherwise.
    pub near: Vec<u32>,
    /// The value that it replaces, in the user's words.
    pub replaces: Option<String>,
    /// The value that no longer holds, in the user's words.
    pub ends: Option<String>,
    /// Why somebody must approve it first.
    pub doubt: Option<String>,
    /// Whether it is a name by its form alone ("I'm Marta"), which takes the place of no other name.
    pub introduces: bool,
    /// The plan of which it says that it was moved to another day or is called off.
    pub moved: Option<Moved>,
    /// The change of which it tells.
    pub changed: Option<Change>,
    /// Whether its sentence merely states or sets a value, and does not say that it is another one than before.
    pub merely_gives: bool,
    /// The value that a thing had before, where it says so.
    pub was: Option<String>,
    /// The name of its speaker, where several share the scope. It ends nothing that another one said of themselves.
    pub by: Option<String>,
}

/// The memories that a claim meets.
#[derive(Default)]
pub(super) struct Met {
    /// A memory that says the same.
    pub same: Option<Memory>,
    /// A memory whose place it takes.
    pub ended: Option<Memory>,
    /// Memories that may not hold along with it.
    pub disputed: Vec<u32>,
    /// Whether a name is known that shares no word with the one that it gives.
    pub named: bool,
    /// The holder of its slot that stays without it, because it is of another thing.
    pub left: Option<u32>,
}

impl Met {
    fn dispute(&mut self, number: u32) {
        if !self.disputed.contains(&number) {
            self.disputed.push(number);
        }
    }
}

/// The effect of a claim on one memory.
enum Effect {
    Nothing,
    SaysTheSame,
    Ends,
    /// It says that this plan was moved or is called off.
    Moves,
    Disputes,
}

/// Memories that were written last: what a correction may be about.
const RECENT: u32 = 24;
/// The source of what a model says.
const ASSISTANT: &str = "assistant";

/// Compares a claim with what is near and with what its batch has written. It takes the slot of the memory that it replaces or ends.
pub(super) fn meet<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, memory: &mut Memory, learning: &Learning) -> Result<Met> {
    let said = Said::of(memory, learning.by.as_deref());
    let lift = learning.ends.as_ref().and_then(|_| match said.own(memory) {
        Some(own) => gate::lift_of(&own.text),
        None => gate::lift_of(&memory.text),
    });
    let left = of_another_thing(writer, memory, &said, learning)?;
    let of_profile = leave_slot_of_another_kind(writer, memory, &said, lift.as_ref())?;
    let named = learning.replaces.as_ref().or(learning.ends.as_ref()).map(|named| Named::of(named));
    let slotted = holders(writer, memory, &said, lift.as_ref())?;
    let is_of_any = learning.moved.is_some() || learning.changed.is_some();
    let asked = Asked { said: &said, learning, named: named.as_ref(), lift: lift.as_ref() };
    let batch = writer.claims.beside(&asked, memory.slot.as_ref());
    let next = writer.head.next_number;
    let recent = if said.statement.occasion.is_correction() { next.saturating_sub(RECENT).max(1)..next } else { 0..0 };
    let mut moved = Vec::new();
    let mut met = if learning.introduces { introduced(writer, memory, &said)? } else { Met::default() };
    met.disputed.extend(of_profile);
    met.left = left.filter(|_| memory.slot.is_some());
    for number in learning.near.iter().copied().chain(slotted.into_iter().flatten()).chain(batch).chain(recent) {
        if lift.is_none() && !is_of_any && writer.claims.rules_out(number, &asked, memory.slot.as_ref()) {
            continue;
        }
        let known = record::current(&*writer.pages, writer.partition, number)?.filter(|known| !known.is_expired(writer.clock));
        let Some(known) = known else {
            writer.claims.forget(number);
            continue;
        };
        writer.claims.note(&known, &said);
        respell(memory, &known);
        match effect(&met, memory, &said, &known, learning, lift.as_ref()) {
            Effect::Nothing => {}
            Effect::SaysTheSame => met.same = met.same.take().or(Some(known)),
            Effect::Ends => end(&mut met, memory, &said, known),
            Effect::Moves => moved.extend(Some(known)),
            Effect::Disputes => met.dispute(known.number),
        }
    }
    // Nor is it plain who is meant where two of one name have what is over.
    let by_name = |ended: &Memory| said.statement.denies_by_name(&Statement::of(&ended.text, ended.kind));
    if !met.disputed.is_empty() && met.ended.as_ref().is_some_and(by_name) {
        met = Met { same: met.same, named: met.named, left: met.left, ..Met::default() };
    }
    // Of two such plans it is not plain which one is meant.
    moved.sort_unstable_by_key(|known: &Memory| known.number);
    moved.dedup_by_key(|known| known.number);
    if let (Some(known), true) = (moved.pop(), moved.is_empty() && met.ended.is_none()) {
        end(&mut met, memory, &said, known);
    }
    keep_kind(writer, memory)?;
    Ok(met)
}

/// Gives a plain fact the kind of the value whose slot it takes: "change my editor to Emacs" is the preference that "I prefer Vim as my
/// editor" was, and prompts show it as they did that one. An order's kind is given to an order about the same thing alone. No model's claim
/// has a kind by which every prompt shows it.
fn keep_kind<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, memory: &mut Memory) -> Result<()> {
    let Some(name) = memory.slot.as_deref().filter(|_| memory.kind == Kind::Semantic && memory.source != ASSISTANT) else { return Ok(()) };
    let slot = writer.slot(name)?;
    let Some(known) = value_of(writer, &slot)?.filter(|known| !slot.multi && known.trust <= memory.trust) else { return Ok(()) };
    let is_same_order = || gate::says_value_of(&memory.text, name);
    if matches!(known.kind, Kind::Profile | Kind::Preference) || known.kind == Kind::Constraint && is_same_order() {
        memory.kind = known.kind;
    }
    Ok(())
}

/// The memories that hold slots of which a claim speaks, and which it does not have itself.
fn holders<P: PagesMut>(
    writer: &mut PartitionWriter<'_, P>,
    memory: &Memory,
    said: &Said,
    lift: Option<&Lift>,
) -> Result<[Option<u32>; 2]> {
    let holder = |name: Option<String>| name.map_or(Ok(None), |name| writer.slot(&name).map(|slot| slot.current.last().copied()));
    let ordered = lift.and_then(|lift| lift.order.as_ref()).map(|order| order.slot);
    let plain = holder(said.attribute.clone().filter(|_| memory.slot.is_none()).or(ordered.map(str::to_owned)))?;
    let own = holder(ordered.and_then(|name| said.own_slot(name)))?;
    Ok([plain, own])
}

/// Takes over the spelling of a known memory's slot, where it is that of the claim: a store of before has it in another spelling, or as "new
/// address".
fn respell(memory: &mut Memory, known: &Memory) {
    if let (Some(slot), Some(older)) = (&memory.slot, &known.slot)
        && slot != older
        && gate::spelled(slot) == gate::spelled(gate::present(older))
    {
        memory.slot.clone_from(&known.slot);
    }
}

/// The effect of a claim on a known memory. Where several speakers share the scope, a memory that is told of the claim's speaker is compared
/// as if they were the only user. A claim that is told of its speaker ends only such a memory. One that is told of nobody ends a memory that
/// is told of nobody, and an order such as "stop answering in French" also a wish of its speaker. An allergy ends by no word of another one:
/// "Priya is not allergic to nuts" disputes it where Tom says so.
fn effect(met: &Met, memory: &Memory, said: &Said, known: &Memory, learning: &Learning, lift: Option<&Lift>) -> Effect {
    let lifts = |known: &Memory| lift.is_some_and(|lift| is_lifted(met, memory, known, lift));
    match (said.whose(known), &said.own) {
        (Whose::Own(known), _) if lifts(&known) => Effect::Ends,
        (Whose::All, None) if lifts(known) => Effect::Ends,
        (Whose::Own(known), Some(claim)) => {
            said.own(memory).map_or(Effect::Nothing, |memory| compare(met, &memory, claim, &known, learning, true))
        }
        (Whose::All, None) => match compare(met, memory, &said.statement, known, learning, true) {
            Effect::Ends if learning.by.is_some() && denies(learning) && gate::is_allergy(&known.text) => Effect::Disputes,
            effect => effect,
        },
        (whose, _) => match compare(met, memory, &said.statement, known, learning, false) {
            // "Lena: replaced sentry with bugsnag" is no less true of what all have.
            Effect::Nothing if matches!(whose, Whose::All) && is_shifted(learning, memory, known) => Effect::Disputes,
            effect => effect,
        },
    }
}

/// Whether a claim ends a standing order: it permits what that forbids, or says to stop what that asks for. One that is about a thing with a
/// slot ends an order about that alone: "no more emojis" ends none that says more.
fn is_lifted(met: &Met, memory: &Memory, known: &Memory, lift: &Lift) -> bool {
    let stands = matches!(known.kind, Kind::Constraint | Kind::Preference) && met.ended.is_none() && may_replace(memory, known);
    let is_act = || lift.order.is_none() && Statement::of(&known.text, known.kind).orders(&lift.phrase, lift.permits);
    stands && (lift.lifts(&known.text) || is_act())
}

/// How a name by its form alone ("I'm Ana") meets the one that is known: another one is to be asked about, and "Ana" says nothing that "Ana
/// Lima" does not.
fn introduced<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, memory: &Memory, said: &Said) -> Result<Met> {
    let slot = memory.slot.as_deref().map(|name| writer.slot(name)).transpose()?;
    let Some(known) = slot.map_or(Ok(None), |slot| value_of(writer, &slot))? else { return Ok(Met::default()) };
    let (claim, other) = said.beside(&known);
    let named = !claim.shares_name(&other);
    Ok(Met { named, same: claim.is_part_of(&other).then_some(known), ..Met::default() })
}

/// The newest value of a slot that has not expired.
fn value_of<P: PagesMut>(writer: &PartitionWriter<'_, P>, slot: &Slot) -> Result<Option<Memory>> {
    let Some(number) = slot.current.last() else { return Ok(None) };
    Ok(record::current(&*writer.pages, writer.partition, *number)?.filter(|known| !known.is_expired(writer.clock)))
}

/// The holder of a claim's slot, where it is of another thing: the port of one thing ends no port of another one, of which another session
/// spoke. The newer of both has the slot.
fn of_another_thing<P: PagesMut>(
    writer: &mut PartitionWriter<'_, P>,
    memory: &mut Memory,
    said: &Said,
    learning: &Learning,
) -> Result<Option<u32>> {
    let Some(slot) = memory.slot.as_deref().filter(|_| learning.merely_gives).map(|name| writer.slot(name)).transpose()? else {
        return Ok(None);
    };
    let Some(known) = value_of(writer, &slot)?.filter(|_| !slot.multi) else { return Ok(None) };
    let (claim, other) = said.beside(&known);
    if !is_of_another_thing(memory, claim, &known, &other, learning) || claim.stands_to(&other) == Relation::Same {
        return Ok(None);
    }
    let is_older = known.trust > memory.trust || writer.is_newer(&known, memory)?;
    if is_older {
        memory.slot = None;
    }
    Ok((!is_older).then_some(known.number))
}

/// Takes the slot from a memory that stays.
pub(super) fn leave_slot<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, number: u32) -> Result<()> {
    let Some(known) = record::current(&*writer.pages, writer.partition, number)? else { return Ok(()) };
    writer.leave_slot(&known)?;
    writer.index_anew(&known, &Memory { slot: None, ..known.clone() })
}

/// Takes a claim's slot away where the slot has a value of another kind: "the flight is at 14:20" stands beside "the flight is TP1234". A
/// wish that does not say that it lasts takes no place of an order that does, unless it ends it. "Change the city to Rome" takes no place
/// of the user's own city: it may be about another one, and disputes the memory that is returned. An order that may hold beside the older one
/// leaves it there.
fn leave_slot_of_another_kind<P: PagesMut>(
    writer: &mut PartitionWriter<'_, P>,
    memory: &mut Memory,
    said: &Said,
    lift: Option<&Lift>,
) -> Result<Option<u32>> {
    let Some(slot) = memory.slot.as_deref().map(|name| writer.slot(name)).transpose()?.filter(|slot| !slot.multi) else { return Ok(None) };
    let Some(known) = value_of(writer, &slot)? else { return Ok(None) };
    let ends = lift.is_some_and(|lift| is_lifted(&Met::default(), memory, &known, lift));
    let is_weaker = known.kind == Kind::Constraint && memory.kind == Kind::Preference && !ends;
    let is_of_thing = known.kind == Kind::Profile && memory.kind == Kind::Semantic && !gate::is_of_user(&memory.text);
    let (claim, other) = said.beside(&known);
    let may_follow = claim.may_follow(&other);
    let order = |memory: &Memory| gate::order_of(&memory.text);
    let both_hold = !ends && order(memory).zip(order(&known)).is_some_and(|(new, older)| new.stands_beside(&older));
    if is_weaker || is_of_thing || both_hold || !may_follow {
        memory.slot = None;
    }
    Ok((is_of_thing && may_follow).then_some(known.number))
}

/// The effect of a claim on a memory, in the words in which they are compared. A claim that `may_end` nothing there can still give another
/// value.
fn compare(met: &Met, memory: &Memory, claim: &Statement, known: &Memory, learning: &Learning, may_end: bool) -> Effect {
    let other = Statement::of(&known.text, known.kind);
    // "No more emojis" ends nothing that merely names them.
    let of_order = || gate::lift_of(&memory.text).is_some_and(|lift| lift.order.is_some());
    if is_of_another_thing(memory, claim, known, &other, learning) && claim.stands_to(&other) != Relation::Same {
        return Effect::Nothing;
    }
    let value = learning.replaces.as_ref().filter(|_| may_end);
    let over = learning.ends.as_ref().filter(|_| may_end && !of_order());
    let (named, ends) = (value.or(over), value.is_none());
    let is_whole = |named: &String| known.text.trim_end_matches(['.', '!']) == named;
    // "NATS instead of Kafka" says so of all that Kafka was for. An order says so within its limits.
    let is_for_all = value.is_some_and(is_whole) || value.is_some() && claim.limits.are_none() && memory.kind != Kind::Constraint;
    // "Swapped metformin for jardiance" has no purpose.
    let of_medicine = || ends && named.is_some() && gate::ends_medicine(&memory.text);
    let is_beside =
        !is_for_all && !claim.takes_over(&other) && claim.limits.are_beside(&other.limits, known.slot.as_deref()) && !of_medicine();
    let replaces = may_replace(memory, known) && met.ended.is_none() && !is_beside;
    let is_over = |named: &String| {
        // "Run ruff before you commit, not black" ends an order to run black then, and nothing else that names it.
        if !ends && [memory.kind, known.kind].contains(&Kind::Constraint) && !is_whole(named) {
            return known.kind == Kind::Constraint && claim.covers(&other, named);
        }
        let is_choice =
            || (matches!(memory.kind, Kind::Preference | Kind::Decision) || !ends && gate::is_switch(&memory.text)) && !is_whole(named);
        let may_end = || if ends { claim.fits(known, &other, named) } else { !is_choice() || other.is_switched(known, named) };
        if of_medicine() { gate::takes(&known.text, named) } else { may_end() }
    };
    if replaces && named.is_some_and(|named| other.speaks_of(&Named::of(named)) && is_over(named)) {
        return Effect::Ends;
    }
    let is_plan = || matches!(known.kind, Kind::Episodic | Kind::Semantic);
    if let Some(moved) = learning.moved.as_ref().filter(|_| may_replace(memory, known) && may_end && is_plan())
        && moved.is_of(&known.text, memory.occurred_at.div_euclid(DAY))
    {
        return Effect::Moves;
    }
    if replaces && value.is_none() && may_end && claim.has_instead(&other) && (known.slot.is_none() || memory.slot.is_none()) {
        return Effect::Ends;
    }
    let comparable = known.slot == memory.slot || known.slot.is_none() || memory.slot.is_none();
    match claim.stands_to(&other) {
        Relation::Same if known.slot == memory.slot && same_event(memory, known) => Effect::SaysTheSame,
        // The port of another thing had the slot meanwhile.
        Relation::Same if known.slot.is_none() && replaces && is_of_another_thing(memory, claim, known, &other, learning) => Effect::Ends,
        Relation::Same => Effect::Nothing,
        _ if !claim.may_follow(&other) => Effect::Nothing,
        _ if replaces && !denies(learning) && gives_same_attribute(memory, claim, known, &other) => Effect::Ends,
        Relation::Contradicts if comparable && replaces => Effect::Ends,
        Relation::Contradicts | Relation::Disputes if comparable && (known.slot != memory.slot || known.slot.is_none()) => Effect::Disputes,
        _ if same_talk(memory, known) && claim.occasion.corrects(&other.occasion) => Effect::Disputes,
        _ if may_end && learning.changed.as_ref().is_some_and(|changed| is_changed(changed, memory, known)) => Effect::Disputes,
        _ => Effect::Nothing,
    }
}

/// Whether a claim gives a setting of a thing at hand a value, and a memory of another session gives one to that of another thing, as far
/// as is known: "move the port from 6543 to 6544" beside "The port is 8089." Where it names that value, both are of one thing.
fn is_of_another_thing(memory: &Memory, claim: &Statement, known: &Memory, other: &Statement, learning: &Learning) -> bool {
    let sessions = memory.provenance.session.as_ref().zip(known.provenance.session.as_ref());
    let Some(name) = memory.slot.as_ref().or(claim.attribute.as_ref()) else { return false };
    let is_same_name = known.slot.as_ref() == Some(name) || other.attribute.as_ref() == Some(name);
    learning.merely_gives
        && sessions.is_some_and(|(new, old)| new != old)
        && is_same_name
        && learning.was.as_ref().is_none_or(|was| !other.speaks_of(&Named::of(was)))
        && gate::is_of_thing_at_hand(&memory.text, name)
}

/// Whether a claim says what is not so: "my budget is not important" gives no value.
fn denies(learning: &Learning) -> bool {
    learning.doubt.as_deref() == Some(gate::DENIAL)
}

/// Whether a memory may be wrong about what a claim says is otherwise than it was. Conditions end by rules of their own alone, and a
/// medicine that is taken otherwise is disputed.
fn is_changed(changed: &Change, memory: &Memory, known: &Memory) -> bool {
    let is_medicine = || known.kind == Kind::Constraint && is_older(memory, known) && changed.is_of_medicine(&known.text);
    may_be_changed(memory, known) && changed.is_of(&known.text) || is_medicine()
}

/// Whether a memory of a thing of a team's may be wrong about what a claim says is otherwise than it was; it does not matter who tells.
fn is_shifted(learning: &Learning, memory: &Memory, known: &Memory) -> bool {
    may_be_changed(memory, known) && learning.changed.as_ref().is_some_and(|changed| changed.is_of_thing(&known.text))
}

fn is_older(memory: &Memory, known: &Memory) -> bool {
    known.occurred_at <= memory.occurred_at && known.trust <= memory.trust
}

fn may_be_changed(memory: &Memory, known: &Memory) -> bool {
    is_older(memory, known) && !matches!(known.kind, Kind::Constraint | Kind::TaskOutcome)
}

/// Whether two were said in one session, or where nobody says in which, on one day.
fn same_talk(new: &Memory, known: &Memory) -> bool {
    let apart = new.occurred_at.saturating_sub(known.occurred_at);
    new.provenance.session == known.provenance.session && (0..DAY).contains(&apart)
}

/// The claim takes the slot of the memory that it ends. An event that ends a value of a person says what holds in its place: "I left Acme for
/// Globex". An order that is told of nobody stands where the wish of its speaker stood.
fn end(met: &mut Met, memory: &mut Memory, said: &Said, known: Memory) {
    let is_own = said.own(&known).is_some();
    let stands_there = is_own && said.own.is_none();
    let is_value = known.slot.is_some() && (known.kind == Kind::Profile || is_own);
    if stands_there || memory.kind == Kind::Episodic && is_value {
        memory.kind = known.kind;
    }
    if stands_there || memory.slot.is_none() {
        memory.slot.clone_from(&known.slot);
    }
    met.ended = Some(known);
}

/// Whether one has the slot that the other gives a value to in plain words: "The party size is 4." and the slot "party size"; or both give
/// one to a name of several words, or to a setting, which has one at a time. A profile's value is somebody's own, and no "the name is" is
/// about it.
fn gives_same_attribute(new: &Memory, claim: &Statement, known: &Memory, other: &Statement) -> bool {
    let about = |slot: &Option<String>, plain: &Option<String>, statement: &Statement| {
        plain.is_none() && slot.is_some() && statement.attribute == *slot && statement.identifies()
    };
    let named = |statement: &Statement| {
        statement.attribute.as_ref().is_some_and(|name| name.contains(' ') || gate::is_of_thing_at_hand(&new.text, name))
    };
    let both_plain = new.slot.is_none() && known.slot.is_none() && claim.attribute == other.attribute && named(claim);
    (new.kind == Kind::Profile) == (known.kind == Kind::Profile)
        && (both_plain || about(&new.slot, &known.slot, other) || about(&known.slot, &new.slot, claim))
}

/// Events are told again on their day; on another day something happened again. One that names its day is the same whenever it is told.
pub(super) fn same_event(new: &Memory, known: &Memory) -> bool {
    if !ranges(&new.text).is_empty() {
        return true;
    }
    new.kind.day(new.occurred_at).is_none_or(|day| day == known.occurred_at.div_euclid(DAY))
}

/// A claim ends nothing that is trusted more. A memory that stands in every prompt is ended by a model's claim only where that is of the
/// same kind, which its program has allowed it.
fn may_replace(new: &Memory, known: &Memory) -> bool {
    let is_guarded = matches!(known.kind, Kind::Constraint | Kind::Profile) && new.kind != known.kind;
    new.trust >= known.trust && !(is_guarded && new.source == ASSISTANT)
}

/// Counts that a memory was said again, where that was later than the last time, and by somebody who is trusted as much: what an assistant
/// repeats of its prompt makes nothing truer. A learnt memory is then kept as long as if it were heard now for the first time. The end that
/// a program gave stays.
pub(super) fn reinforce<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, before: &Memory, again: &Memory) -> Result<Remembered> {
    let mut known = before.clone();
    if let Some(id) = &again.given_id {
        heard::put_again(writer.pages, writer.partition, id, known.number)?;
    }
    let last = known.provenance.last_seen.max(known.occurred_at);
    if again.occurred_at > last && again.trust >= known.trust {
        known.provenance.reinforced = known.provenance.reinforced.saturating_add(1);
        known.provenance.last_seen = again.occurred_at;
        // Half of what was missing, for a source as sure as the first; the sum never passes 1.
        known.confidence += (1.0 - known.confidence) * again.confidence * 0.5;
        if known.provenance.writer.is_some() {
            known.expires_at = known.expires_at.and_then(|end| again.expires_at.map(|later| later.max(end)));
        }
        writer.index_anew(before, &known)?;
    }
    let reason = Some(format!("{} says the same", known.id()));
    Ok(Remembered { action: Action::Reinforced, memory: known, reason })
}

/// Marks two memories as saying otherwise.
pub(super) fn dispute<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, number: u32, others: &[u32]) -> Result<()> {
    for other in others {
        if let Some(mut known) = record::current(&*writer.pages, writer.partition, *other)?
            && !known.provenance.disputes.contains(&number)
        {
            known.provenance.disputes.push(number);
            record::put(writer.pages, writer.partition, &known)?;
        }
    }
    Ok(())
}
