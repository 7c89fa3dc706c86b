//! Pinned memory: the constraints, the profile and the preferences that every prompt of a session begins with.
//!
//! They are found by their kind among the scope's keys, most binding kind first, then by importance, then the older first. Where they do not
//! all fit, of equals the newest are kept. A
//! prompt shows revisions: memories that changed since the epoch began are in the volatile block, and forgotten ones are gone at once. A
//! memory that the pinned block had no room for has not changed: it is recalled like any other.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use super::replaced::{Replaced, successor};
use crate::Result;
use crate::context::epoch::since;
use crate::context::limit::section;
use crate::context::{Form, Item, MemoryRef, Origin};
use crate::index::bm25::{IndexId, Reader};
use crate::memory::{Kind, MEMORIES, Memory, PINNED_KINDS, kind_key, record};
use crate::scope::{self, Head, Row, Scope};
use crate::session::stored_epoch::StoredEpoch;
use crate::store::identity::Seed;
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::units::calendar::iso_date;

/// A memory that nobody vouches for (a web page, an upload) is never pinned, whatever its kind: it would speak with the user's voice.
pub(super) const LEAST_TRUST: u8 = 1;

/// The memories that are pinned in some scopes now.
#[derive(Debug, Clone, Default)]
pub(in crate::session) struct Pinned {
    /// In the order they are shown.
    pub items: Vec<Item>,
    /// The time of the write that each scope's answer holds up to: every write of a scope has a later one.
    pub stamps: Vec<(Partition, i64)>,
    /// When the first of them expires.
    pub expires_at: Option<i64>,
    /// When each was written, and since when another memory says otherwise.
    pub changed: HashMap<MemoryRef, (i64, Option<i64>)>,
    /// The places of all, the most needed first.
    pub by_worth: Vec<usize>,
    /// The messages that told what some of them replaced.
    pub replaced: Vec<Replaced>,
}

impl Pinned {
    /// Reads what is pinned in `scopes`. Costs a look-up for each kind and a record for each memory found.
    pub fn read<P: Pages>(pages: &P, scopes: &[Scope], form: impl Fn(Partition) -> Form, now: i64) -> Result<Self> {
        let (mut pinned, mut found) = (Self { stamps: stamps(pages, scopes)?, ..Self::default() }, Vec::new());
        for scope in scopes {
            let Some(partition) = scope.find(pages)? else { continue };
            for number in numbers(pages, partition, scope.seed(pages.secret()))? {
                let Some(memory) = record::current(pages, partition, number)? else { continue };
                if PINNED_KINDS.contains(&memory.kind) && memory.trust >= LEAST_TRUST && !memory.is_expired(now) {
                    pinned.expires_at = [pinned.expires_at, memory.expires_at].into_iter().flatten().min();
                    found.push((partition, memory));
                }
            }
        }
        let rank = |kind: Kind| PINNED_KINDS.iter().position(|pinned| *pinned == kind);
        let importance = |memory: &Memory| (memory.importance * 1e6) as i64;
        found.sort_by_key(|(_, memory)| (rank(memory.kind), -importance(memory)));
        pinned.by_worth = (0..found.len()).collect();
        // Of equals the newest are kept, since old rules are the first that nobody needs any more.
        pinned.by_worth.sort_by_key(|at| {
            let (_, memory) = &found[*at];
            (rank(memory.kind), -importance(memory), Reverse((memory.known_from, memory.number)))
        });
        for (partition, memory) in &found {
            let since = disputed_since(pages, memory, *partition, stamp(&pinned.stamps, *partition))?;
            let item = item(pages, *partition, memory, section::PINNED, None, Form { disputed: since.is_some(), ..form(*partition) })?;
            pinned.changed.extend(item.memory.map(|one| (one, (memory.known_from, since))));
            Replaced::by(pages, *partition, memory, &mut pinned.replaced)?;
            pinned.items.push(item);
        }
        Ok(pinned)
    }

    /// Whether it still holds.
    pub fn holds<P: Pages>(&self, pages: &P, scopes: &[Scope], now: i64) -> Result<bool> {
        Ok(self.expires_at.is_none_or(|at| at > now) && self.stamps == stamps(pages, scopes)?)
    }

    /// The changes since an epoch began, as items of the section `updated`: the memories that took the place of one in its snapshot, of
    /// whichever kind, then those of it that are disputed since, then those written since. Where there is no room for all of them, the
    /// prompt is not left with an older value alone.
    pub fn newer<P: Pages>(&self, pages: &P, epoch: &StoredEpoch, form: impl Fn(Partition) -> Form, now: i64) -> Result<Vec<Item>> {
        let began = |memory: &MemoryRef| stamp(&epoch.stamps, memory.partition as Partition);
        let (snapshot, mut newer) = (&epoch.epoch.pinned, Vec::<Item>::new());
        for memory in snapshot.iter().filter(|memory| self.shown(memory).is_none()) {
            let partition = memory.partition as Partition;
            let Some(now_there) = successor(pages, *memory, now)? else { continue };
            let place = place_of(partition, &now_there);
            if !snapshot.contains(&place) && newer.iter().all(|other| other.memory != Some(place)) {
                newer.push(match self.shown(&place) {
                    Some(pinned) => updated(pinned),
                    None => item(pages, partition, &now_there, section::UPDATED, None, form(partition))?,
                });
            }
        }
        let is_new = |item: &&Item| {
            let Some((memory, &(written, disputed))) = item.memory.and_then(|memory| Some((memory, self.changed.get(&memory)?))) else {
                return false;
            };
            // An epoch of an old format has no stamp: everything in its snapshot would be new by that.
            let at = if snapshot.contains(&memory) { disputed } else { disputed.max(Some(written)) };
            at.is_some_and(|at| at > began(&memory)) && newer.iter().all(|other| other.memory != item.memory)
        };
        let mut others: Vec<Item> = self.items.iter().filter(is_new).map(updated).collect();
        others.sort_by_key(|item| !item.memory.is_some_and(|memory| snapshot.contains(&memory)));
        newer.extend(others);
        Ok(newer)
    }

    fn shown(&self, memory: &MemoryRef) -> Option<&Item> {
        self.items.iter().find(|item| item.memory == Some(*memory))
    }
}

/// The current memory that took the place of one that was replaced; `None` where nothing holds any more that did, so that a prompt cannot
/// say what holds instead.
pub(in crate::session) fn newer_than<P: Pages>(pages: &P, memory: MemoryRef, now: i64) -> Result<Option<MemoryRef>> {
    Ok(successor(pages, memory, now)?.map(|newer| place_of(memory.partition as Partition, &newer)))
}

fn place_of(partition: Partition, memory: &Memory) -> MemoryRef {
    MemoryRef { partition: partition.into(), memory: memory.number.into(), revision: memory.revision.into() }
}

/// A pinned memory as what is newer than the epoch.
fn updated(item: &Item) -> Item {
    let mut updated = Item { section: section::UPDATED.into(), ..item.clone() };
    name_updated(&mut updated.attributes);
    updated
}

/// The date of what was updated stands first, and says so.
fn name_updated(attributes: &mut Vec<(Box<str>, Box<str>)>) {
    if let Some(at) = attributes.iter().position(|(name, _)| &**name == "date") {
        let (_, date) = attributes.remove(at);
        attributes.insert(0, ("at".into(), date));
    }
}

/// The memories of a scope that may be pinned. Those of a scope of format 1 have no key of their kind: its rows are looked through.
fn numbers<P: Pages>(pages: &P, partition: Partition, seed: Seed) -> Result<Vec<u32>> {
    let (head, mut found) = (Head::read(pages, partition)?, Vec::new());
    let mut reader = Reader::open(pages, IndexId { partition, index: MEMORIES })?;
    if head.kinds_indexed {
        for kind in PINNED_KINDS {
            found.extend(reader.find(kind_key(seed, kind))?);
        }
        return Ok(found);
    }
    for number in 1..head.next_number {
        let row = reader.row(number)?;
        found.extend(row.filter(|row| PINNED_KINDS.iter().any(|kind| *kind as u8 == row.kind)).map(|_| number));
    }
    Ok(found)
}

fn stamps<P: Pages>(pages: &P, scopes: &[Scope]) -> Result<Vec<(Partition, i64)>> {
    let mut stamps = Vec::with_capacity(scopes.len());
    for scope in scopes {
        let partition = scope.find(pages)?.unwrap_or_default();
        stamps.push((partition, Head::read(pages, partition)?.last_time));
    }
    Ok(stamps)
}

/// The memories of an epoch's snapshot as they were then, less what was forgotten since or has expired.
pub(in crate::session) fn snapshot<P: Pages>(pages: &P, epoch: &StoredEpoch, own: Partition, now: i64) -> Result<Vec<Item>> {
    let version = epoch.epoch.renderer_version;
    let form = |partition| if version >= since::DATES { epoch.form_of(partition, own) } else { Form::default() };
    let refs = &epoch.epoch.pinned;
    let mut items = Vec::with_capacity(refs.len());
    for memory in refs {
        let (partition, Some(found)) = (memory.partition as Partition, revision(pages, *memory, now)?) else { continue };
        let disputed = version >= since::DISPUTES && disputed_since(pages, &found, partition, stamp(&epoch.stamps, partition))?.is_some();
        items.push(item(pages, partition, &found, section::PINNED, None, Form { disputed, ..form(partition) })?);
    }
    Ok(items)
}

/// The time of the write up to which something of a scope holds.
fn stamp(stamps: &[(Partition, i64)], partition: Partition) -> i64 {
    stamps.iter().find(|(one, _)| *one == partition).map_or(0, |(_, at)| *at)
}

/// Since when a memory was disputed as of a write of its scope: since the last of those that say otherwise, and were current then, was
/// written.
fn disputed_since<P: Pages>(pages: &P, memory: &Memory, partition: Partition, at: i64) -> Result<Option<i64>> {
    let mut since = None;
    for other in &memory.provenance.disputes {
        let known = match record::current(pages, partition, *other)? {
            Some(known) => Some(known),
            None => record::history(pages, partition, *other)?.pop(),
        };
        let held = |known: &Memory| known.created_at <= at && known.ending.as_ref().is_none_or(|ending| ending.known_until > at);
        since = since.max(known.filter(held).map(|known| known.created_at));
    }
    Ok(since)
}

/// A revision of a memory; `None` where its text is gone.
pub(in crate::session) fn revision<P: Pages>(pages: &P, memory: MemoryRef, now: i64) -> Result<Option<Memory>> {
    let (partition, number, revision) = (memory.partition as Partition, memory.memory as u32, memory.revision as u32);
    let current = record::current(pages, partition, number)?.filter(|memory| memory.revision == revision);
    let found = match current {
        Some(memory) => Some(memory),
        None => record::ended(pages, partition, number, revision)?,
    };
    Ok(found.filter(|memory| !memory.text.is_empty() && !memory.is_expired(now)))
}

/// When a revision that is there was replaced by another; `None` of a current one.
pub(in crate::session) fn ended_at<P: Pages>(pages: &P, memory: MemoryRef) -> Result<Option<i64>> {
    let (partition, number, revision) = (memory.partition as Partition, memory.memory as u32, memory.revision as u32);
    let ended = record::ended(pages, partition, number, revision)?;
    Ok(ended.and_then(|memory| memory.ending).map(|ending| ending.known_until))
}

/// When the text of a revision was lost, to forgetting or to time; `None` where it is there.
pub(in crate::session) fn lost_at<P: Pages>(pages: &P, memory: MemoryRef, now: i64) -> Result<Option<i64>> {
    let (partition, number) = (memory.partition as Partition, memory.memory as u32);
    if let Some(current) = record::current(pages, partition, number)? {
        return Ok(current.expires_at.filter(|at| *at <= now));
    }
    if let Some(ended) = record::ended(pages, partition, number, memory.revision as u32)?
        && !ended.text.is_empty()
    {
        return Ok(ended.expires_at.filter(|at| *at <= now));
    }
    let tombstone = record::history(pages, partition, number)?.pop();
    Ok(Some(tombstone.and_then(|memory| memory.ending).map_or(i64::MAX, |ending| ending.known_until)))
}

/// The name by which memories of a partition say which scope they are of; `None` where they do not.
fn origin<P: Pages>(pages: &P, partition: Partition, form: Form) -> Result<Option<Box<str>>> {
    if form.origin == Origin::Unsaid {
        return Ok(None);
    }
    Ok(match scope::row(pages, partition)? {
        Some(Row::Scope(scope)) if form.origin == Origin::TypeAndId => Some(format!("{} {}", scope.scope_type.name(), scope.id).into()),
        Some(Row::Scope(scope)) => Some(scope.id.into()),
        _ => None,
    })
}

/// A memory as a prompt shows it.
pub(in crate::session) fn item<P: Pages>(
    pages: &P,
    partition: Partition,
    memory: &Memory,
    section: &str,
    score: Option<i64>,
    form: Form,
) -> Result<Item> {
    let mut attributes: Vec<(Box<str>, Box<str>)> = Vec::with_capacity(3);
    if form.version >= Form::NAMED {
        attributes.push(("id".into(), memory.id().into()));
    }
    attributes.push(("kind".into(), memory.kind.name().into()));
    if let Some(slot) = &memory.slot {
        attributes.push(("slot".into(), slot.as_str().into()));
    }
    attributes.extend(origin(pages, partition, form)?.map(|scope| ("scope".into(), scope)));
    if memory.kind == Kind::Episodic || form.version >= Form::DATED {
        attributes.push(("date".into(), iso_date(memory.occurred_at).into()));
    }
    if let Some(newer_at) = form.newer_at {
        attributes.push(("newer_on".into(), iso_date(newer_at).into()));
    }
    if form.disputed {
        attributes.push(("disputed".into(), "yes".into()));
    }
    if section == section::UPDATED {
        name_updated(&mut attributes);
    }
    Ok(Item {
        section: section.into(),
        id: memory.id().into(),
        attributes,
        text: Arc::from(memory.text.as_str()),
        memory: Some(place_of(partition, memory)),
        message: None,
        document: None,
        form,
        score,
    })
}
