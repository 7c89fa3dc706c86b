//! Adding a document: from a text to a revision that is found, in transactions of bounded size.
//!
//! A short document is one transaction. Of a long one the text and the chunks are written ahead, 32 chunks or 1 MiB at a time; other
//! writers come between, and readers see the version before until the last transaction has switched.

use std::ops::Range;
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::chunk::{self, Chunk, Format};
use super::head::Head;
use super::name::CollectionName;
use super::record::{self, ChunkRecord, Document, Revision};
use super::remove;
use super::writer::{NewChunk, STEP_CHUNKS, STEP_PARTS, Writer};
use crate::index::vectors::UnitVector;
use crate::interrupt;
use crate::limits::{MAX_DOCUMENT_BYTES, MAX_METADATA_BYTES};
use crate::memory::Core;
use crate::scope::check_id;
use crate::store::identity::Seed;
use crate::store::keys::Partition;
use crate::store::load;
use crate::store::metrics::add as count;
use crate::store::pages::{Pages, PagesMut};
use crate::text::analyze;
use crate::units::clip::first_chars;
use crate::{Error, ErrorKind, Result};

/// A document to be added.
#[derive(Debug, Clone)]
pub struct NewDocument {
    /// Unique in the collection.
    pub id: String,
    /// Its text.
    pub text: String,
    /// Its version; made of the content where the caller gives none.
    pub version: Option<String>,
    /// MessagePack of a mapping; empty for none.
    pub metadata: Vec<u8>,
    /// How it is read; guessed from the id where the caller does not say.
    pub format: Option<Format>,
    /// Where it comes from.
    pub source: Option<String>,
    /// Microseconds until it is removed.
    pub ttl: Option<i64>,
    /// Tokens that a chunk aims at.
    pub chunk_tokens: usize,
    /// Only if the stored version is this one, or, where it is `Some(None)`, if there is none: for what is read, changed and written back.
    pub if_version: Option<Option<String>>,
}

impl NewDocument {
    /// One with nothing but an id and a text.
    #[must_use]
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            text: text.into(),
            version: None,
            metadata: Vec::new(),
            format: None,
            source: None,
            ttl: None,
            chunk_tokens: chunk::DEFAULT_TOKENS,
            if_version: None,
        }
    }

    /// Checks what needs no transaction: lengths and ranges.
    pub fn check(&self) -> Result<()> {
        check_id("document", &self.id)?;
        self.version.as_deref().map_or(Ok(()), |version| check_id("version", version))?;
        self.source.as_deref().map_or(Ok(()), |source| check_id("source", source))?;
        if self.text.len() > MAX_DOCUMENT_BYTES {
            return Err(Error::invalid(format!(
                "adding document {:?}: a text has at most {MAX_DOCUMENT_BYTES} bytes of UTF-8 (64 MiB), and it has {}: split it into several documents",
                shown(&self.id),
                self.text.len()
            ))
            .with("size_bytes", self.text.len()));
        }
        if self.metadata.len() > MAX_METADATA_BYTES {
            return Err(Error::invalid(format!(
                "adding document {:?}: metadata has at most {MAX_METADATA_BYTES} bytes as MessagePack, and it has {}: put the rest into the text",
                shown(&self.id),
                self.metadata.len()
            )));
        }
        if self.ttl.is_some_and(|ttl| ttl <= 0) {
            return Err(Error::invalid("adding a document: ttl_seconds must be above 0: leave it out to keep the document"));
        }
        if !chunk::TOKENS.contains(&self.chunk_tokens) {
            return Err(Error::invalid(format!(
                "adding document {:?}: chunk_tokens must be from {} to {}, and it is {}: change it",
                shown(&self.id),
                chunk::TOKENS.start,
                chunk::TOKENS.end - 1,
                self.chunk_tokens
            )));
        }
        Ok(())
    }
}

fn shown(id: &str) -> String {
    first_chars(id, 80).to_owned()
}

/// The outcome of adding a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Its id is new.
    Added,
    /// It took the place of another version.
    Replaced,
    /// This version was there already.
    Duplicate,
}

impl Action {
    /// Its name in the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Replaced => "replaced",
            Self::Duplicate => "duplicate",
        }
    }
}

/// The answer to an `add`.
#[derive(Debug, Clone)]
pub struct Added {
    /// Its outcome.
    pub action: Action,
    /// The document as it is stored now.
    pub document: Document,
}

/// A document, checked and cut.
#[derive(Debug, Clone)]
pub struct Prepared {
    new: NewDocument,
    version: String,
    format: Format,
    request: u64,
    chunks: Vec<Chunk>,
    /// Where each chunk stands, in characters.
    characters: Vec<Range<usize>>,
    all_characters: usize,
}

impl Prepared {
    /// Checks a document, without cutting it yet.
    pub fn new(new: NewDocument) -> Result<Self> {
        new.check()?;
        let format = new.format.unwrap_or_else(|| Format::guess(&new.id, &new.text));
        let request = request_hash(&new, format);
        let version = new.version.clone().unwrap_or_else(|| format!("{request:016x}"));
        Ok(Self { new, version, format, request, chunks: Vec::new(), characters: Vec::new(), all_characters: 0 })
    }

    /// Cuts it into chunks.
    pub fn cut(&mut self) {
        if !self.chunks.is_empty() || self.all_characters > 0 {
            return;
        }
        let text = &self.new.text;
        self.chunks = chunk::chunk(text, self.format, self.new.chunk_tokens);
        let (mut at, mut seen) = (0, 0);
        let mut place = |byte: usize| {
            seen += text[at..byte].chars().count();
            at = byte;
            seen
        };
        self.characters = self.chunks.iter().map(|chunk| place(chunk.span.start)..place(chunk.span.end)).collect();
        self.all_characters = place(text.len());
    }

    /// How many chunks it has, once it is cut.
    #[must_use]
    pub fn chunks(&self) -> usize {
        self.chunks.len()
    }

    /// The text of a chunk that is embedded: its headings and its own text.
    #[must_use]
    pub fn to_embed(&self, chunk: usize) -> String {
        let chunk = &self.chunks[chunk];
        record::indexed(&chunk.path, &self.new.text[chunk.span.clone()])
    }

    /// The stored document, where this one is that one; an error where its version has other content.
    fn known<P: Pages>(&self, pages: &P, partition: Partition, stored: Option<&Document>, now: i64) -> Result<Option<Added>> {
        let Some(stored) = stored.filter(|stored| stored.version == self.version && !stored.is_expired(now)) else { return Ok(None) };
        if stored.request == self.request {
            // Everybody can compute a hash of 64 bits, so the content is compared.
            if stored.bytes == self.new.text.len() as u64
                && record::text(pages, partition, stored.revision, 0..self.new.text.len())? == self.new.text
                && stored.metadata == self.new.metadata
            {
                return Ok(Some(Added { action: Action::Duplicate, document: stored.clone() }));
            }
            if self.new.version.is_none() {
                return Ok(None); // its version was the hash: the new text takes the old one's place
            }
        }
        Err(Error::new(
            ErrorKind::IdConflict,
            format!(
                "adding document {:?}: its version {:?} is stored with another text, format or metadata: give the new content another version, or none",
                shown(&self.new.id),
                shown(&self.version)
            ),
        )
        .with("id", self.new.id.as_str())
        .with("version", self.version.as_str()))
    }

    /// Refuses what was made from another version than the one that is stored.
    fn check_version(&self, stored: Option<&Document>, now: i64) -> Result<()> {
        let stored = stored.filter(|stored| !stored.is_expired(now)).map(|stored| &stored.version);
        match &self.new.if_version {
            Some(expected) if expected.as_ref() != stored => Err(Error::new(
                ErrorKind::IdConflict,
                format!(
                    "adding document {:?}: it was to take the place of version {expected:?}, and {stored:?} is stored: read it again",
                    shown(&self.new.id)
                ),
            )
            .with("id", self.new.id.as_str())),
            _ => Ok(()),
        }
    }

    /// When it is to be removed, if it is added now.
    fn end(&self, now: i64) -> Option<i64> {
        end_of(self.new.ttl, now)
    }

    fn document(&self, now: i64) -> Document {
        Document {
            number: 0,
            id: self.new.id.clone(),
            version: self.version.clone(),
            revision: 0,
            format: self.format,
            source: self.new.source.clone(),
            metadata: self.new.metadata.clone(),
            created_at: now,
            updated_at: now,
            expires_at: self.end(now),
            bytes: self.new.text.len() as u64,
            characters: self.all_characters as u64,
            chunks: self.chunks.len() as u32,
            chunk_tokens: self.new.chunk_tokens as u32,
            request: self.request,
        }
    }

    /// The chunks of a range, analysed.
    fn analysed(&self, range: Range<usize>, seed: Seed, mut vector: impl FnMut(usize, &str) -> Option<UnitVector>) -> Vec<NewChunk> {
        let one = |at: usize| {
            let (chunk, text) = (&self.chunks[at], self.to_embed(at));
            let record =
                ChunkRecord { revision: 0, span: chunk.span.clone(), characters: self.characters[at].clone(), path: chunk.path.clone() };
            NewChunk { record, analysis: analyze(&text, seed.terms), vector: vector(at, &text) }
        };
        range.map(one).collect()
    }
}

fn request_hash(new: &NewDocument, format: Format) -> u64 {
    let mut hasher = Xxh3::new();
    for part in [new.text.as_bytes(), format.name().as_bytes(), new.source.as_deref().unwrap_or_default().as_bytes(), &new.metadata] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.update(&(new.chunk_tokens as u64).to_le_bytes());
    hasher.digest()
}

/// The stored document, where `prepared` is in the collection already: one read.
pub fn known<P: Pages>(pages: &P, name: &CollectionName, prepared: &Prepared, now: i64) -> Result<Option<Added>> {
    let Some(partition) = name.find(pages)? else { return Ok(None) };
    let stored = record::by_id(pages, partition, name.seed(pages.secret()), &prepared.new.id)?;
    prepared.known(pages, partition, stored.as_ref(), now)
}

/// The key of the hashes of a collection's terms, as its analyzer makes them.
fn seed_of_terms<P: Pages>(pages: &P, name: &CollectionName) -> Result<Seed> {
    let head = name.find(pages)?.map_or_else(|| Ok(Head::default()), |partition| Head::read(pages, partition))?;
    Ok(head.seed(name.seed(pages.secret())))
}

impl Prepared {
    /// The texts that a caller's embedder must embed, chunk by chunk; none of a document that is stored already.
    pub fn wanted(&mut self, engine: &Core, name: &CollectionName, now: i64) -> Result<Vec<String>> {
        if engine.store().read(|pages| known(pages, name, self, now))?.is_some() {
            return Ok(Vec::new());
        }
        self.cut();
        interrupt::check()?;
        Ok((0..self.chunks()).map(|chunk| self.to_embed(chunk)).collect())
    }
}

/// Adds a document with the vectors that the embedder at a place made. Those of another embedder than the engine has now are none.
pub fn add_embedded(
    engine: &Core,
    name: &CollectionName,
    prepared: Prepared,
    made: Option<(u32, Vec<Option<UnitVector>>)>,
    now: i64,
) -> Result<Added> {
    let is_own = |place| place == engine.embedding_place();
    let vectors = made.map(|(place, rows)| if is_own(place) { rows } else { vec![None; rows.len()] });
    add(engine, name, prepared, vectors, now)
}

/// Adds a document: durable when it returns, and found at once by every process. `vectors` has one for each chunk where a caller's
/// embedder made them; the built-in embedding makes its own.
///
/// A document that is there already is kept until the later of both ends.
///
/// Cost: one write transaction for up to 32 chunks, and one more for each 32 or each MiB of text beyond; of a version that is replaced,
/// one for each 16 chunks; one for a document that is there already and kept longer, none for another that is there.
pub fn add(
    engine: &Core,
    name: &CollectionName,
    mut prepared: Prepared,
    vectors: Option<Vec<Option<UnitVector>>>,
    now: i64,
) -> Result<Added> {
    let (known, seed) = engine.store().read(|pages| Ok((known(pages, name, &prepared, now)?, seed_of_terms(pages, name)?)))?;
    if let Some(known) = known {
        if outlives(&known.document, prepared.end(now)) {
            return Ok(known);
        }
        if let Some(longer) = kept_longer(engine, name, &prepared, &known, now)? {
            return Ok(longer);
        }
    }
    prepared.cut();
    interrupt::check()?; // a cut that was interrupted is not whole
    let (prepared, vectors) = (Arc::new(prepared), vectors.unwrap_or_default());
    let (mut progress, mut begun) = (Progress::default(), 1);
    loop {
        interrupt::check()?;
        let step = Arc::new(progress.step(engine, &prepared, &vectors, seed));
        let (name, cut, embedding, ahead) = (name.clone(), Arc::clone(&prepared), engine.embedder(), progress.ahead);
        let writes = Arc::clone(&step);
        let outcome = engine.write(move |txn| {
            let embedding = embedding.number_in_write(txn)?;
            write_step(txn, &name, &cut, &writes, ahead, embedding, now)
        })?;
        match outcome {
            Outcome::Goes(ahead) => progress.advance(ahead, &step),
            Outcome::Swept if begun < BEGUN => (progress, begun) = (Progress::default(), begun + 1),
            Outcome::Swept => return Err(swept(&prepared)),
            Outcome::Done(added, left) => {
                if let Some((partition, revision)) = left {
                    remove::revision(engine, partition, revision, now)?;
                }
                let added = added?;
                if added.action != Action::Duplicate {
                    count(&engine.store().metrics().documents_written, 1);
                }
                return Ok(added);
            }
        }
    }
}

/// Whether a stored document is kept at least as long as one with that end; one without an end is kept for ever.
fn outlives(stored: &Document, end: Option<i64>) -> bool {
    stored.expires_at.is_none_or(|own| end.is_some_and(|end| own >= end))
}

/// Keeps a document that is stored until the end that is asked for; `None` where it is not there any more, or another version is.
fn kept_longer(engine: &Core, name: &CollectionName, prepared: &Prepared, known: &Added, now: i64) -> Result<Option<Added>> {
    let (owned, id, revision, ttl) = (name.clone(), prepared.new.id.clone(), known.document.revision, prepared.new.ttl);
    engine.write(move |txn| {
        let Some(partition) = owned.find(txn)? else { return Ok(None) };
        let seed = owned.seed(txn.secret());
        let stored = record::by_id(txn, partition, seed, &id)?.filter(|stored| stored.revision == revision && !stored.is_expired(now));
        let Some(stored) = stored else { return Ok(None) };
        let mut writer = Writer::at(txn, partition, seed, now, None)?;
        let document = keep_until(&mut writer, stored, ttl)?;
        writer.finish()?;
        Ok(Some(Added { action: Action::Duplicate, document }))
    })
}

/// Keeps a stored document for so long, if it would end before.
fn keep_until<P: PagesMut>(writer: &mut Writer<'_, P>, stored: Document, ttl: Option<i64>) -> Result<Document> {
    let end = end_of(ttl, writer.told);
    if outlives(&stored, end) { Ok(stored) } else { writer.expire_at(stored, end) }
}

fn end_of(ttl: Option<i64>, now: i64) -> Option<i64> {
    ttl.map(|ttl| now.saturating_add(ttl))
}

/// How far a document is written.
#[derive(Default)]
struct Progress {
    ahead: Option<Ahead>,
    chunks: usize,
    text: usize,
}

/// The writes of one transaction.
struct Step {
    chunks: Vec<NewChunk>,
    /// Whether all chunks and all of the text are there after it.
    last: bool,
    parts: usize,
    /// The key that their words were hashed with.
    seed: Seed,
}

impl Progress {
    fn step(&self, engine: &Core, prepared: &Prepared, vectors: &[Option<UnitVector>], seed: Seed) -> Step {
        let all = record::parts(prepared.new.text.len() as u64);
        let parts = (all - self.text).min(STEP_PARTS);
        let text_is_long = all - self.text > STEP_PARTS / 4;
        let until = if text_is_long { self.chunks } else { prepared.chunks().min(self.chunks + STEP_CHUNKS) };
        let vector = |at: usize, text: &str| vectors.get(at).cloned().unwrap_or_else(|| engine.embed(text));
        let last = until == prepared.chunks() && self.text + parts == all;
        Step { chunks: prepared.analysed(self.chunks..until, seed, vector), last, parts, seed }
    }

    fn advance(&mut self, ahead: Ahead, step: &Step) {
        self.ahead = Some(ahead);
        self.chunks += step.chunks.len();
        self.text += step.parts;
    }
}

/// A revision that is being written: partition and number.
type Ahead = (Partition, u32);

/// The result of one transaction.
enum Outcome {
    /// It goes on with this revision.
    Goes(Ahead),
    /// A compaction removed what was written ahead, since it cannot tell whether anybody works on it: it begins anew.
    Swept,
    /// It is over; what is left to remove.
    Done(Result<Added>, Option<Ahead>),
}

/// How often a document is begun, where compactions come between.
const BEGUN: usize = 3;

fn swept(prepared: &Prepared) -> Error {
    Error::new(
        ErrorKind::StoreBusy,
        format!(
            "adding document {:?}: the store was compacted {BEGUN} times meanwhile, each time it began anew: add it again",
            shown(&prepared.new.id)
        ),
    )
}

fn write_step<P: PagesMut>(
    pages: &mut P,
    name: &CollectionName,
    prepared: &Prepared,
    step: &Step,
    ahead: Option<Ahead>,
    embedding: Option<(u16, usize)>,
    clock: i64,
) -> Result<Outcome> {
    if let Some((partition, _)) = ahead
        && name.find(pages)? != Some(partition)
    {
        return Err(name.missing());
    }
    let mut writer = Writer::open(pages, name, clock, embedding)?;
    load::check_seed(step.seed, writer.seed)?;
    let stored = record::by_id(writer.pages, writer.partition, writer.seed, &prepared.new.id)?;
    let known = prepared.known(&*writer.pages, writer.partition, stored.as_ref(), clock);
    let known =
        known.and_then(|known| if known.is_none() { prepared.check_version(stored.as_ref(), clock).map(|()| None) } else { Ok(known) });
    match (known, ahead) {
        (Ok(None), _) => {}
        (Err(error), None) => return Err(error),
        // Another writer was faster: nobody sees the chunks that this one wrote ahead, and they go.
        (Ok(Some(added)), ahead) => {
            let document = keep_until(&mut writer, added.document, prepared.new.ttl)?;
            writer.finish()?;
            return Ok(Outcome::Done(Ok(Added { document, ..added }), ahead));
        }
        (Err(error), ahead) => return Ok(Outcome::Done(Err(error), ahead)),
    }
    let mut written: Revision = match ahead {
        None => writer.begin(),
        Some((_, number)) => match writer.resume(number)? {
            Some(written) => written,
            None => return Ok(Outcome::Swept),
        },
    };
    writer.put_text(&mut written, &prepared.new.text, step.parts)?;
    writer.append(&mut written, &step.chunks)?;
    if !step.last {
        written.write(writer.pages, writer.partition)?;
        let ahead = (writer.partition, written.number);
        writer.finish()?;
        return Ok(Outcome::Goes(ahead));
    }
    let document = prepared.document(writer.told);
    let (document, replaced) = writer.switch(written, document, stored.as_ref())?;
    let left = replaced.map_or(Ok(None), |old| writer.remove_short(old))?.map(|old| (writer.partition, old));
    let was_there = stored.is_some_and(|stored| !stored.is_expired(clock));
    let action = if was_there { Action::Replaced } else { Action::Added };
    writer.finish()?;
    Ok(Outcome::Done(Ok(Added { action, document }), left))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Engine, EngineOptions};
    use crate::scope::{Scope, ScopeType};

    #[test]
    fn a_compaction_removes_what_was_written_ahead_and_the_document_begins_anew() {
        let folder = std::env::temp_dir().join(format!("memspan-ahead-{}", std::process::id()));
        let engine = Engine::open(&folder, EngineOptions::default()).unwrap();
        let name = CollectionName::new(&Scope::new(None, ScopeType::User, "u").unwrap(), "c").unwrap();
        let prepared = || Prepared::new(NewDocument::new("long", "A paragraph of many.\n\n".repeat(10_000))).unwrap();
        let write = |ahead| {
            let (mut cut, owned) = (prepared(), name.clone());
            cut.cut();
            let seed = engine.store().read(|pages| seed_of_terms(pages, &name)).unwrap();
            let step = Progress::default().step(&engine, &cut, &[], seed);
            engine.write(move |txn| write_step(txn, &owned, &cut, &step, ahead, None, 2)).unwrap()
        };
        let Outcome::Goes(ahead) = write(None) else { panic!("it is too long for one transaction") };
        let unfinished = || engine.store().read(|pages| Revision::unfinished(pages, ahead.0)).unwrap();
        assert_eq!(super::super::sweep(&engine, 3).unwrap(), 0, "it may be going on");
        assert_eq!(unfinished(), [ahead.1]);
        engine.compact().unwrap();
        assert_eq!(unfinished(), [0_u32; 0]);
        assert!(matches!(write(Some(ahead)), Outcome::Swept), "whoever still works on it is told");
        assert_eq!(add(&engine, &name, prepared(), None, 4).unwrap().action, Action::Added);
        assert!(engine.check().unwrap().findings.is_empty());
        drop(engine);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
