//! The doctor: reads a whole store and reports contradictions.
//!
//! It compares every value with its checksum. Then, scope by scope, it compares the records with counters, postings, rows,
//! vectors, slots, the expiry index and history. `session/doctor` looks at the sessions, `collection/doctor.rs` at the
//! collections. A text is analysed again, and the index must hold exactly its terms. The doctor repairs nothing. It lists the damaged
//! parts, which only a backup can restore, and the intact ones.
//!
//! It holds one snapshot to its end. Writers go on meanwhile, and the file grows by what they replace. Damage to
//! LMDB's own pages can end the process: the command `memspan check` lets another process do the reading.

mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use crate::Result;
use crate::audit::Report;
use crate::collection::{self, CollectionName};
use crate::interrupt;
use crate::memory;
use crate::scope::{self, Row};
use crate::session;
use crate::store::keys::{Key, Partition, STORE, Table, u32_at};
use crate::store::pages::Pages;

/// When memories expire, by partition, as the store-wide index says.
type Expiry = BTreeMap<Partition, BTreeSet<(i64, u32)>>;

/// Checks everything that a snapshot shows. Costs the whole store, and memory for one scope's postings.
pub fn check<P: Pages>(pages: &P) -> Result<Report> {
    let mut report = Report::default();
    // A search that ends beside a damaged value is refused, and its findings until then are reported.
    let walked = walk(pages, &mut report);
    report.read(STORE, "key", walked)?;
    Ok(report)
}

fn walk<P: Pages>(pages: &P, report: &mut Report) -> Result<()> {
    let mut partitions = values::check(pages, report)?;
    let mut expiry = expiry_of(pages)?;
    let mut after = 0;
    while let Some((partition, row)) = next_row(pages, report, after)? {
        interrupt::check()?;
        after = partition;
        partitions.remove(&partition);
        report.scopes += u64::from(matches!(row, None | Some(Row::Scope(_))));
        let Some(row) = row else { continue };
        let expiry = expiry.remove(&partition).unwrap_or_default();
        match row {
            Row::Scope(scope) => {
                memory::doctor::check(pages, report, partition, &scope, &expiry)?;
                session::doctor::check(pages, report, partition, scope.seed(pages.secret()))?;
            }
            Row::Collection { owner, name } => collection_of(pages, report, partition, owner, &name, &expiry)?,
            Row::Dropped { .. } => {} // whatever is left of it is being removed
        }
    }
    session::window::bounds::check(pages, report)?;
    for partition in partitions {
        report.note(partition, "scope", "the partition has values and belongs to no scope");
    }
    for partition in expiry.keys() {
        report.note(*partition, "expiry", "memories are to expire in a partition that belongs to no scope");
    }
    Ok(())
}

/// Whose the partition behind `after` is, `None` in its place where that is damaged.
fn next_row<P: Pages>(pages: &P, report: &mut Report, after: Partition) -> Result<Option<(Partition, Option<Row>)>> {
    let table = Key::new(STORE, Table::ScopeByNumber);
    let Some(first) = after.checked_add(1) else { return Ok(None) };
    let mut found = None;
    pages.scan(table.u32(first).as_slice(), &table.prefix_range().end, &mut |key, _| {
        found = u32_at(key, 5);
        Ok(ControlFlow::Break(()))
    })?;
    let Some(partition) = found else { return Ok(None) };
    let row = report.read(partition, "scope", scope::row(pages, partition))?.flatten();
    if let Some(Row::Scope(scope)) = &row
        && let Some(by_name) = report.read(partition, "scope", scope.find(pages))?
        && by_name != Some(partition)
    {
        report.note(partition, "scope", format!("its name leads to partition {by_name:?}"));
    }
    Ok(Some((partition, row)))
}

/// A collection, and whether its scope knows it.
fn collection_of<P: Pages>(
    pages: &P,
    report: &mut Report,
    partition: Partition,
    owner: Partition,
    name: &str,
    expiry: &BTreeSet<(i64, u32)>,
) -> Result<()> {
    let Some(Some(Row::Scope(scope))) = report.read(owner, "scope", scope::row(pages, owner))? else {
        report.note(partition, "scope", format!("its collection belongs to partition {owner}, which is not a scope"));
        return Ok(());
    };
    let name = CollectionName { scope, name: name.to_owned() };
    if let Some(by_name) = report.read(partition, "scope", name.find(pages))?
        && by_name != Some(partition)
    {
        report.note(partition, "scope", format!("its collection's name leads to partition {by_name:?}"));
    }
    collection::doctor::check(pages, report, partition, name.seed(pages.secret()), expiry)
}

fn expiry_of<P: Pages>(pages: &P) -> Result<Expiry> {
    let range = Key::new(STORE, Table::Expiry).prefix_range();
    let mut expiry = Expiry::new();
    pages.scan(&range.start, &range.end, &mut |key, _| {
        let at = key.get(5..13).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| (u64::from_be_bytes(*bytes) ^ 1 << 63) as i64);
        if let (Some(partition), Some(number)) = (u32_at(key, 13), u32_at(key, 17)) {
            expiry.entry(partition).or_default().insert((at, number));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(expiry)
}
