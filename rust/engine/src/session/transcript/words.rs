//! Indexes a message: its words in the second index of a scope's partition, its vector, its row. [`mod@crate::session::search`] finds it by
//! them.

use crate::Result;
use crate::context::{Message, Part};
use crate::embedding::{DIMENSIONS, embed};
use crate::index::bm25::runs::{Document, Runs};
use crate::index::bm25::{IndexId, TermCount};
use crate::index::vectors::{UnitVector, VectorSet};
use crate::session::key::{SessionKey, SessionsHead};
use crate::session::search::row::{self, Row};
use crate::store::identity::Seed;
use crate::store::keys::Partition;
use crate::store::pages::PagesMut;
use crate::text::Analysis;
use crate::text::analyze;
use crate::units::clip::clip;

/// The index of transcripts among the indexes of a partition.
pub(in crate::session) const TRANSCRIPTS: u8 = 1;
/// Which table of the built-in embedding made the vectors: `embedding::REVISION` as a number, part of their keys.
const VECTORS_REVISION: u16 = 1;
/// How much of a message is embedded.
const MAX_EMBEDDED_BYTES: usize = 16 << 10;
/// How much of a speaker's name counts.
const MAX_SPEAKER_BYTES: usize = 64;

/// The searchable text of a message, calls and results included. It has no names of files, and no parts that only a vendor reads.
pub(in crate::session) fn text_of(message: &Message) -> String {
    let mut text = String::new();
    for part in &message.parts {
        append(part, &mut text);
    }
    text
}

/// Appends what [`text_of`] has of a part.
pub(in crate::session) fn append(part: &Part, text: &mut String) {
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
        Part::Image(_) | Part::Document(_) | Part::Vendor { .. } | Part::Beside { .. } => {}
    }
}

/// The index entries of a message, made before the transaction that stores it.
#[derive(Debug, Clone)]
pub(in crate::session) struct Findable {
    words: Analysis,
    row: Row<'static>,
    vector: UnitVector,
}

impl Findable {
    /// `author` speaks where the message itself names nobody.
    pub fn new(message: &Message, author: Option<&str>, seed: Seed) -> Self {
        let text = text_of(message);
        let speaker = speaker(message, author);
        let words = analyze(&with_speaker(&speaker, &text), seed.terms);
        Self { words, row: Row::of(message, speaker, &text), vector: vector(&text) }
    }
}

/// The words of a message as the index has them.
pub(in crate::session) fn words_of(message: &Message, author: Option<&str>, seed: Seed, named: bool) -> Analysis {
    let text = text_of(message);
    if named { analyze(&with_speaker(&speaker(message, author), &text), seed.terms) } else { analyze(&text, seed.terms) }
}

/// Who speaks, as far as it is said, cut to [`MAX_SPEAKER_BYTES`].
pub(in crate::session) fn speaker(message: &Message, author: Option<&str>) -> String {
    let name = message.name.as_deref().or(author).unwrap_or_default();
    clip(name, MAX_SPEAKER_BYTES).to_owned()
}

fn with_speaker(speaker: &str, text: &str) -> String {
    if speaker.is_empty() { text.to_owned() } else { format!("{speaker}\n{text}") }
}

/// The vector of a message's beginning: what follows would change little in the mean of so many words.
pub(in crate::session) fn vector(text: &str) -> UnitVector {
    embed(clip(text, MAX_EMBEDDED_BYTES))
}

/// Changes to the index within one transaction.
#[derive(Debug, Default)]
pub(in crate::session) struct Words {
    added: Vec<(u32, Analysis)>,
    removed: Vec<(u32, Analysis)>,
    vectors: Vec<(u32, UnitVector)>,
}

impl Words {
    /// Gives message `index`, said at a time, a number in the index; it is findable once the transaction is [`Self::apply`]d.
    pub fn add(
        &mut self,
        pages: &mut impl PagesMut,
        head: &mut SessionsHead,
        place: SessionKey,
        (index, at): (u64, i64),
        found_by: Findable,
    ) -> Result<u32> {
        let number = head.counts(at);
        self.add_again(pages, place, (number, index, at), found_by)?;
        Ok(number)
    }

    /// Makes a message findable again under the number that it was given; numbers ascend. It is findable once the transaction is
    /// [`Self::apply`]d.
    pub fn add_again(
        &mut self,
        pages: &mut impl PagesMut,
        place: SessionKey,
        (number, index, at): (u32, u64, i64),
        found_by: Findable,
    ) -> Result<()> {
        found_by.row.placed(place.session, index, at).write(pages, place.partition, number)?;
        self.added.push((number, found_by.words));
        self.vectors.push((number, found_by.vector));
        Ok(())
    }

    /// Takes a message out; `message` and `author` are what it was added with.
    pub fn remove(
        &mut self,
        pages: &mut impl PagesMut,
        (partition, seed): (Partition, Seed),
        number: u32,
        message: &Message,
        author: Option<&str>,
    ) -> Result<()> {
        let (named, has_vector) = Row::expect(&*pages, partition, number, |row| (row.named, row.embedded))?;
        pages.delete(row::key(partition, number).as_slice())?;
        if has_vector {
            vectors(partition).remove(pages, number)?;
        }
        self.removed.push((number, words_of(message, author, seed, named)));
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
        let added: Vec<(u32, &UnitVector)> = self.vectors.iter().map(|(number, vector)| (*number, vector)).collect();
        vectors(partition).put_many(pages, &added)
    }
}

/// The vectors of a scope's messages.
pub(in crate::session) fn vectors(partition: Partition) -> VectorSet {
    VectorSet::of_messages(partition, VECTORS_REVISION, DIMENSIONS)
}

pub(in crate::session) fn index(partition: Partition) -> IndexId {
    IndexId { partition, index: TRANSCRIPTS }
}
