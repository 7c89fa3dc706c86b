//! The words of transcripts: the second index of a scope's partition, and how a message is found by them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::place::{Place, SessionsHead};
use crate::Result;
use crate::context::{Message, Part};
use crate::index::bm25::runs::{Document, Runs};
use crate::index::bm25::{IndexId, Parameters, QueryTerm, TermCount};
use crate::memory::with_analyzer;
use crate::store::envelope::{self, Codec, damaged};
use crate::store::keys::{Key, Partition, Table, u32_at};
use crate::store::msgpack;
use crate::store::pages::{Pages, PagesMut};
use crate::text::Analysis;

/// The index of transcripts among the indexes of a partition.
pub(super) const TRANSCRIPTS: u8 = 1;

/// What a message can be found by: all its text, calls and results included. Not names of files, nor what only a vendor reads.
pub(super) fn text_of(message: &Message) -> String {
    let mut text = String::new();
    for part in &message.parts {
        append(part, &mut text);
    }
    text
}

fn append(part: &Part, text: &mut String) {
    let mut line = |more: &str| {
        if !text.is_empty() && !more.is_empty() {
            text.push('\n');
        }
        text.push_str(more);
    };
    match part {
        Part::Text(said) | Part::Refusal(said) => line(said),
        Part::ToolCall(call) => {
            line(&call.name);
            line(&call.arguments);
        }
        Part::ToolResult(result) => result.parts.iter().for_each(|part| append(part, text)),
        Part::Image(_) | Part::Document(_) | Part::Vendor { .. } => {}
    }
}

/// Changes to the index within one transaction.
#[derive(Debug, Default)]
pub(super) struct Words {
    added: Vec<(u32, Analysis)>,
    removed: Vec<(u32, Analysis)>,
}

impl Words {
    /// Gives a message a number in the index; it is findable once the transaction is [`Self::apply`]d.
    pub fn add(&mut self, pages: &mut impl PagesMut, head: &mut SessionsHead, place: Place, index: u64, words: Analysis) -> Result<u32> {
        head.last_document += 1;
        let (number, key) = (head.last_document, document(place.partition, head.last_document));
        let mut w = msgpack::Writer::array(2);
        w.uint(u64::from(place.session));
        w.uint(index);
        pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, w.bytes()))?;
        self.added.push((number, words));
        Ok(number)
    }

    /// Takes a message out.
    pub fn remove(&mut self, pages: &mut impl PagesMut, partition: Partition, number: u32, words: Analysis) -> Result<()> {
        pages.delete(document(partition, number).as_slice())?;
        self.removed.push((number, words));
        Ok(())
    }

    /// Writes what was collected.
    pub fn apply(self, pages: &mut impl PagesMut, partition: Partition) -> Result<()> {
        if self.added.is_empty() && self.removed.is_empty() {
            return Ok(());
        }
        let mut runs = Runs::open(pages, index(partition))?;
        let removed: Vec<(u32, &[TermCount])> = self.removed.iter().map(|(number, words)| (*number, &*words.terms)).collect();
        runs.delete(pages, &removed)?;
        for (number, words) in &self.added {
            runs.append(pages, &Document { number: *number, length: words.length, terms: &words.terms })?;
        }
        Ok(())
    }
}

fn index(partition: Partition) -> IndexId {
    IndexId { partition, index: TRANSCRIPTS }
}

/// By document, the session and the message that it is.
pub(super) type Documents = BTreeMap<u32, (u32, u64)>;

/// All documents of a partition's transcripts.
pub(super) fn documents<P: Pages>(pages: &P, partition: Partition) -> Result<Documents> {
    let range = Key::new(partition, Table::Document).prefix_range();
    let mut found = Documents::new();
    pages.scan(&range.start, &range.end, &mut |key, value| {
        let mut r = msgpack::Reader::array(key, envelope::open(key, value)?.body)?;
        found.insert(u32_at(key, 5).unwrap_or_default(), (r.uint()? as u32, r.uint()?));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

fn document(partition: Partition, number: u32) -> Key {
    Key::new(partition, Table::Document).u32(number)
}

/// A message that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub place: Place,
    pub index: u64,
    /// In units of 2^-32.
    pub score: i64,
}

/// The messages that have words of the question, best first, of equals the newest.
pub(super) fn search<P: Pages>(pages: &P, partition: Partition, seed: u64, question: &str, limit: usize) -> Result<Vec<Found>> {
    let runs = Runs::open(pages, index(partition))?;
    let query = with_analyzer(|analyzer| analyzer.query(question, seed));
    let terms: Vec<QueryTerm> = query.terms.iter().map(|term| QueryTerm { hash: term.hash, weight: term.weight }).collect();
    let hits = runs.search(pages, &terms, Parameters::default(), limit, &mut |_| Ok(true))?;
    hits.into_iter().map(|hit| found(pages, partition, hit.number, hit.score)).collect()
}

fn found<P: Pages>(pages: &P, partition: Partition, number: u32, score: i64) -> Result<Found> {
    let key = document(partition, number);
    let missing = || damaged(key.as_slice(), "the transcript index refers to it and it is missing");
    let value = pages.get(key.as_slice())?.ok_or_else(missing)?;
    let mut r = msgpack::Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?;
    Ok(Found { place: Place { partition, session: r.uint()? as u32 }, index: r.uint()?, score })
}
