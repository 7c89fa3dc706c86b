//! The doctor's look at the sessions of a scope: each record is compared with its transcript, ledger, epochs, ids and tasks.
//!
//! It reads one session after the other, message by message. It collects the values that sessions share (names, words, blobs) on the way,
//! and compares them at the end, in both directions. A hidden session is being deleted or copied: its messages must be whole and findable,
//! so that taking it away leaves nothing, and its other parts may be missing. Nothing is repaired.

mod blobs;
mod ledger;
mod session;
mod sums;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use self::blobs::References;
use super::key::{SaidOrder, SessionKey, SessionsHead};
use super::record::{SessionRecord, SessionState};
use super::search::row::{self, Row, Rows};
use super::transcript::words;
use crate::ErrorKind;
use crate::Result;
use crate::audit::{Index, Report};
use crate::context::Message;
use crate::index::bm25::IndexId;
use crate::store::envelope;
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table, u32_at};
use crate::store::msgpack::Reader;
use crate::store::pages::Pages;

/// The tables whose keys begin with a session's number.
pub(super) const PARTS: [Table; 14] = [
    Table::Transcript,
    Table::Turn,
    Table::Recount,
    Table::Call,
    Table::Epoch,
    Table::MessageId,
    Table::Task,
    Table::Lease,
    Table::PartialReply,
    Table::RefusedLimit,
    Table::Summary,
    Table::SessionPolicy,
    Table::Note,
    Table::SessionMetadata,
];

/// The tables of a session whose values stand beside the messages: nothing else says what is in them.
pub(super) const BESIDE: [Table; 5] = [Table::Task, Table::Note, Table::Summary, Table::PartialReply, Table::SessionMetadata];

/// Checks the sessions of one scope; `seed` is its term seed.
pub(crate) fn check<P: Pages>(pages: &P, report: &mut Report, partition: Partition, seed: Seed) -> Result<()> {
    let Some(head) = report.read(partition, "head", SessionsHead::read(pages, partition))? else { return Ok(()) };
    let index = Index::read_runs(pages, report, IndexId { partition, index: words::TRANSCRIPTS })?;
    let documents = report.read(partition, "document", row::rows(pages, partition, 0, usize::MAX, |_| true))?.unwrap_or_default();
    check_order(report, &head, partition, &documents);
    let audited = words::vectors(partition).audit(pages);
    let vectors = report.read(partition, "vector", audited)?.map(|numbers| numbers.into_iter().collect());
    let (names, references) = (BTreeMap::new(), References::default());
    let mut visit = Visit { pages, partition, seed, report, head, index, documents, vectors, names, references };
    visit.read_names()?;
    for session in visit.sessions()? {
        visit.session(session)?;
    }
    visit.finish()
}

/// The counters must say no less of the order in which messages were said than these say themselves; of those that are gone they say more.
fn check_order(report: &mut Report, head: &SessionsHead, partition: Partition, documents: &Rows) {
    let times = documents.values().filter_map(|row| row.at);
    let least = times.fold(SaidOrder::NONE, SaidOrder::and);
    if let Some(said) = head.said
        && (said.newest_at < least.newest_at || said.most_behind < least.most_behind)
    {
        report.note(partition, "head", format!("its messages were said in another order than it counts: {least:?}, and it has {said:?}"));
    }
}

/// A scope while its sessions are checked.
struct Visit<'v, P> {
    pages: &'v P,
    partition: Partition,
    seed: Seed,
    report: &'v mut Report,
    head: SessionsHead,
    index: Index<'v, P>,
    /// The references of the index; each message takes its own.
    documents: Rows,
    /// The documents that have a vector; each message takes its own. `None` where the vectors are damaged.
    vectors: Option<BTreeSet<u32>>,
    /// The hashes of names that lead to a session; each session takes its own.
    names: BTreeMap<u32, Vec<u128>>,
    references: References,
}

impl<P: Pages> Visit<'_, P> {
    fn note(&mut self, part: &'static str, what: impl Into<String>) {
        self.report.note(self.partition, part, what);
    }

    /// The value, or a finding where it is damaged or says what no session can say.
    fn read<T>(&mut self, part: &'static str, result: Result<T>) -> Result<Option<T>> {
        match result {
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::ToolCallClosed | ErrorKind::NotFound) => {
                self.note(part, error.message());
                Ok(None)
            }
            other => self.report.read(self.partition, part, other),
        }
    }

    fn read_names(&mut self) -> Result<()> {
        let range = Key::new(self.partition, Table::SessionByName).prefix_range();
        let mut found = Vec::new();
        self.pages.scan(&range.start, &range.end, &mut |key, value| {
            let number = envelope::open(key, value).and_then(|envelope| Reader::array(key, envelope.body)?.uint());
            found.push((key.last_chunk().map(|hash| u128::from_be_bytes(*hash)), number));
            Ok(ControlFlow::Continue(()))
        })?;
        for (hash, number) in found {
            if let (Some(hash), Some(number)) = (hash, self.read("session", number)?) {
                self.names.entry(number as u32).or_default().push(hash);
            }
        }
        Ok(())
    }

    /// The numbers of all sessions that have a value.
    fn sessions(&self) -> Result<BTreeSet<u32>> {
        let mut found = BTreeSet::new();
        for table in PARTS {
            let (prefix, mut next) = (Key::new(self.partition, table), Some(0_u32));
            while let Some(from) = next {
                let mut first = None;
                self.pages.scan(prefix.u32(from).as_slice(), &prefix.prefix_range().end, &mut |key, _| {
                    first = u32_at(key, 5);
                    Ok(ControlFlow::Break(()))
                })?;
                found.extend(first);
                next = first.and_then(|session| session.checked_add(1));
            }
        }
        Ok(found)
    }

    fn session(&mut self, number: u32) -> Result<()> {
        let place = SessionKey { partition: self.partition, session: number };
        self.report.sessions += 1;
        if number == 0 || number > self.head.sessions {
            self.note("head", format!("session {number} is newer than its counters say: it counts {} sessions", self.head.sessions));
        }
        let record = SessionRecord::read(self.pages, place);
        match self.read("session", record)? {
            Some(Some(record)) => {
                self.named(number, &record);
                session::check(self, place, record)
            }
            Some(None) => {
                self.note("session", format!("session {number} has values and no record"));
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// A session is found by its name; a hidden one by none.
    fn named(&mut self, number: u32, record: &SessionRecord) {
        let names = self.names.remove(&number).unwrap_or_default();
        let own = super::key::by_name(self.partition, self.seed, &record.id);
        let is_own = |hash: &u128| own.as_slice().ends_with(&hash.to_be_bytes());
        match (record.state, names.as_slice()) {
            (SessionState::Hidden, []) => {}
            (SessionState::Hidden, _) => self.note("session", format!("session {number} is hidden, and a name leads to it")),
            (_, [name]) if is_own(name) => {}
            (_, []) => self.note("session", format!("session {number}, {:?}, is not found by its name", record.id)),
            _ => self.note("session", format!("session {number}, {:?}, is found by a name that is not its own", record.id)),
        }
    }

    /// The references that no message took, and the counters.
    fn finish(mut self) -> Result<()> {
        for number in std::mem::take(&mut self.names).into_keys() {
            self.note("session", format!("a name leads to session {number}, which is not there"));
        }
        for (number, Row { session, index, .. }) in std::mem::take(&mut self.documents) {
            self.note("document", format!("document {number} is message {index} of session {session}, which does not know it"));
        }
        for number in self.vectors.take().unwrap_or_default() {
            self.note("vector", format!("document {number} has a vector, and no message is that document"));
        }
        let Self { pages, partition, seed, report, index, references, .. } = self;
        index.leftovers(report, "document");
        blobs::check(pages, report, partition, seed, &references)
    }

    /// Takes out what a message is found by, which must be exactly what its text gives: words, row, vector.
    fn findable(&mut self, place: SessionKey, index: u64, document: u32, given: &Message, author: Option<&str>) {
        let message = format!("message {index} of session {}", place.session);
        if document > self.head.last_document {
            self.note("head", format!("{message} is document {document}, and it counts {}", self.head.last_document));
        }
        let row = self.documents.remove(&document);
        let (named, embedded) = row.as_ref().map_or((false, false), |row| (row.named, row.embedded));
        if row.as_ref().is_none_or(|row| (row.session, row.index) != (place.session, index)) {
            self.note("document", format!("{message} is document {document}, which is not known as that"));
        }
        let given_row = Row::of(given, words::speaker(given, author), &words::text_of(given));
        // Rules say which messages answer nothing, and a later version may have better rules. A row of an older version says of no
        // message who said it.
        let is_full = |row: Row<'_>| {
            let by_model = row.by_model.and(given_row.by_model);
            row == Row { named, session: place.session, index, at: row.at, is_empty: row.is_empty, by_model, ..given_row }
        };
        if embedded && !row.is_some_and(is_full) {
            self.note("document", format!("{message} is document {document}, whose row is not what its text gives"));
        }
        if self.vectors.as_mut().is_some_and(|vectors| vectors.remove(&document) != embedded) {
            self.note("vector", format!("{message} is document {document}, which has a vector or has none against its row"));
        }
        let words = words::words_of(given, author, self.seed, named);
        self.index.length(self.report, &message, document, words.length);
        self.index.terms(self.report, &message, document, &words.terms);
    }
}

/// The keys under a prefix that end in chunk 0, or in no chunk, each without its prefix.
fn keys<P: Pages>(pages: &P, prefix: Key, chunked: bool) -> Result<Vec<Vec<u8>>> {
    let (range, mut found) = (prefix.prefix_range(), Vec::new());
    pages.scan(&range.start, &range.end, &mut |key, _| {
        let rest = key.get(prefix.as_slice().len()..).unwrap_or_default();
        match rest.split_last_chunk::<2>().filter(|_| chunked) {
            Some((rest, [0, 0])) => found.push(rest.to_vec()),
            Some(_) => {}
            None => found.push(rest.to_vec()),
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// The keys under a prefix, as numbers of four bytes.
fn numbers<P: Pages>(pages: &P, prefix: Key, chunked: bool) -> Result<Vec<u32>> {
    Ok(keys(pages, prefix, chunked)?.iter().filter_map(|rest| u32_at(rest, 0)).collect())
}

#[cfg(test)]
mod tests;
