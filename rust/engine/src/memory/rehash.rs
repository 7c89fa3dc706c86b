//! The words and keys that find the memories of a scope, under the hashes that their store has now.

use std::collections::BTreeMap;

use super::doctor::{merged, numbers_in};
use super::record;
use super::writer::{MEMORIES, id_key, keys_of};
use crate::index::bm25::{self, IndexId, Statistics, TermCount};
use crate::scope::Head;
use crate::store::identity::Seed;
use crate::store::keys::{Partition, Table};
use crate::store::pages::{Pages, PagesMut};
use crate::text::analyze;
use crate::{Result, interrupt};

/// Writes the words and keys of all memories of a scope anew. `seed` is what the store's hashes are keyed with from now on.
pub(crate) fn rehash<P: PagesMut>(pages: &mut P, partition: Partition, seed: Seed) -> Result<()> {
    let head = Head::read(pages, partition)?;
    let mut documents = BTreeMap::new();
    for (number, revision) in numbers_in(pages, partition, Table::History)? {
        documents.extend(ended(pages, (partition, seed), number, revision)?);
    }
    for (number, _) in numbers_in(pages, partition, Table::Memory)? {
        interrupt::check()?;
        let Some(memory) = record::current(pages, partition, number)? else { continue };
        documents.insert(number, merged(analyze(&memory.text, seed.terms).terms, &keys_of(seed, &memory, &head)));
    }
    let documents: Vec<(u32, Vec<TermCount>)> = documents.into_iter().collect();
    let statistics = Statistics { documents: head.documents, total_length: head.total_length };
    bm25::rehash(pages, IndexId { partition, index: MEMORIES }, statistics, &documents)
}

/// A memory that ended is found by the id that it was given, and by nothing else.
fn ended<P: Pages>(pages: &P, (partition, seed): (Partition, Seed), number: u32, revision: u32) -> Result<Option<(u32, Vec<TermCount>)>> {
    let memory = record::ended(pages, partition, number, revision)?;
    let id = memory.and_then(|memory| memory.given_id);
    Ok(id.map(|id| (number, vec![TermCount { hash: id_key(seed, &id), count: 0 }])))
}
