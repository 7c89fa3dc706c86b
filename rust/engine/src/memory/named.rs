//! Memories with the ids of those that they name by number: what a caller sees of a revision.

use std::sync::Arc;

use super::access::{Access, AccessBlocks};
use super::core::Core;
use super::outcome::{Action, Remembered};
use super::record::Memory;
use super::writer::newest;
use crate::scope::Scope;
use crate::store::pages::Pages;
use crate::{Error, Result};

/// A revision with the ids of the memories that it names.
#[derive(Debug, Clone)]
pub struct Named {
    /// The revision.
    pub memory: Memory,
    /// Its id.
    pub id: String,
    /// The id of the memory whose slot it took.
    pub supersedes: Option<String>,
    /// The id of the memory that took its slot.
    pub superseded_by: Option<String>,
    /// The ids of the memories that it was made from.
    pub derived_from: Vec<String>,
    /// The ids of the memories that say otherwise.
    pub disputes: Vec<String>,
    /// How often and when it was recalled, recalls of this process that are not on disk yet included.
    pub access: Access,
}

/// The outcome of a write, with the ids that its memory names.
#[derive(Debug, Clone)]
pub struct Answered {
    /// The action that was taken.
    pub action: Action,
    /// The memory as it is stored now.
    pub memory: Arc<Named>,
    /// Why, where that is not plain.
    pub reason: Option<String>,
}

/// Two are equal where the same was written: how often a memory was recalled makes no other memory of it.
impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        let ids = |one: &Self| [one.derived_from.clone(), one.disputes.clone()];
        self.memory == other.memory
            && (&self.id, &self.supersedes, &self.superseded_by) == (&other.id, &other.supersedes, &other.superseded_by)
            && ids(self) == ids(other)
    }
}

impl Named {
    /// The numbers that a revision names.
    fn numbers(memory: &Memory) -> [Option<u32>; 2] {
        [memory.supersedes, memory.ending.as_ref().and_then(|ending| ending.superseded_by)]
    }

    /// A revision of a partition, read from a snapshot that its caller holds; `accesses` are those of the partition.
    pub(crate) fn read<P: Pages + ?Sized>(pages: &P, accesses: &mut AccessBlocks<'_, P>, memory: Memory) -> Result<Self> {
        let partition = accesses.partition();
        let id_of = |number: Option<u32>| match number {
            Some(number) => Ok(newest(pages, partition, number)?.map(|memory| memory.id())),
            None => Ok(None),
        };
        let [supersedes, superseded_by] = Self::numbers(&memory);
        let ids_of = |numbers: &[u32]| numbers.iter().filter_map(|number| id_of(Some(*number)).transpose()).collect::<Result<Vec<_>>>();
        Ok(Self {
            id: memory.id(),
            supersedes: id_of(supersedes)?,
            superseded_by: id_of(superseded_by)?,
            derived_from: ids_of(&memory.provenance.derived_from)?,
            disputes: ids_of(&memory.provenance.disputes)?,
            access: accesses.get(memory.number)?,
            memory,
        })
    }
}

impl Core {
    /// Revisions of a scope with the ids that they name, from one snapshot.
    pub fn named(&self, scope: &Scope, memories: Vec<Memory>) -> Result<Vec<Named>> {
        let (partition, mut named) = self.store().read(|pages| {
            let partition = scope.find(pages)?.unwrap_or_default();
            let mut accesses = AccessBlocks::new(pages, partition);
            let named = memories.into_iter().map(|memory| Named::read(pages, &mut accesses, memory));
            Ok((partition, named.collect::<Result<Vec<_>>>()?))
        })?;
        self.add_recalls(partition, named.iter_mut());
        Ok(named)
    }

    /// The outcomes of the writes of one batch, with the ids that each memory names.
    pub fn answered(&self, scope: &Scope, done: Vec<Remembered>) -> Result<Vec<Answered>> {
        let (whys, memories): (Vec<_>, Vec<_>) = done.into_iter().map(|one| ((one.action, one.reason), one.memory)).unzip();
        let named = self.named(scope, memories)?.into_iter().map(Arc::new);
        Ok(whys.into_iter().zip(named).map(|((action, reason), memory)| Answered { action, memory, reason }).collect())
    }

    /// The outcome of one write.
    pub fn answered_one(&self, scope: &Scope, done: Remembered) -> Result<Answered> {
        let memory = Arc::new(self.named_one(scope, done.memory)?);
        Ok(Answered { action: done.action, memory, reason: done.reason })
    }

    /// The ids of memories by their numbers, whatever became of them; `None` where there is none of that number.
    pub fn ids(&self, scope: &Scope, numbers: &[u32]) -> Result<Vec<Option<String>>> {
        self.store().read(|pages| {
            let Some(partition) = scope.find(pages)? else { return Ok(vec![None; numbers.len()]) };
            numbers.iter().map(|number| Ok(newest(pages, partition, *number)?.map(|memory| memory.id()))).collect()
        })
    }

    /// A memory with the ids of those that it names by their numbers.
    pub fn named_one(&self, scope: &Scope, memory: Memory) -> Result<Named> {
        let mut named = self.named(scope, vec![memory])?;
        named.pop().ok_or_else(|| Error::invalid("naming a memory: none was given: please report it"))
    }
}
