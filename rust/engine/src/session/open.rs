//! Making a session, and what it means to open one again: an option that is not named stays, another model is refused, other instructions
//! are a new version and begin an epoch.

use std::sync::Arc;

use super::recalls::Recalls;
use super::record::{self, SessionRecord, SessionState};
use super::session::{Options, Status};
use super::stored_epoch::BlobRef;
use super::writer::SessionWriter;
use crate::collection::CollectionName;
use crate::context::{Reason, Tally, Tools};
use crate::limits::{MAX_COLLECTIONS, MAX_INSTRUCTION_BYTES, MAX_READS};
use crate::models::Model;
use crate::scope::Scope;
use crate::store::identity::Seed;
use crate::store::pages::PagesMut;
use crate::{Error, ErrorKind, Result};

impl Options {
    /// These options, checked, with the grants in the order of their names: a budget is no other for the order in which it was written.
    pub(super) fn checked(mut self) -> Result<Self> {
        self.recalls.as_ref().map_or(Ok(()), Recalls::validate)?;
        if let Some(budget) = &mut self.budget {
            budget.sections.validate()?;
            budget.sections.grants.sort_by(|(one, _), (other, _)| one.cmp(other));
        }
        Ok(self)
    }
}

/// The tool that takes the id of a memory.
const FORGETS: &str = "forget";

/// Tools as given, and what they mean.
#[derive(Debug, Clone)]
pub(super) struct GivenTools {
    pub given: Vec<u8>,
    pub parsed: Arc<Tools>,
}

/// Reads tools; none for an empty list.
pub(super) fn read_tools(given: Option<&[u8]>) -> Result<Option<GivenTools>> {
    let Some(given) = given else { return Ok(None) };
    check_size("tools", given.len())?;
    let Some(parsed) = Tools::parse(given)? else { return Ok(None) };
    parsed.check_spellings()?;
    Ok(Some(GivenTools { given: given.to_vec(), parsed }))
}

fn check_size(what: &'static str, bytes: usize) -> Result<()> {
    if bytes <= MAX_INSTRUCTION_BYTES {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "opening a session: {what} may have at most {MAX_INSTRUCTION_BYTES} bytes, and they have {bytes}: shorten them, because no model reads that much"
    ))
    .with("size_bytes", bytes))
}

/// Whether opening a session so would write anything. `stored` are its tools as they are stored, `seed` its scope's.
pub(super) fn changes(status: &Status, options: &Options, tools: Option<&GivenTools>, stored: &[u8], seed: Seed) -> Result<bool> {
    check_model(&status.record.id, &status.epoch.model, options.model.as_ref())?;
    let reads = options.reads.as_ref().is_some_and(|reads| *reads != status.record.reads);
    let budget = options.budget.as_ref().is_some_and(|budget| *budget != status.record.budget);
    let told = new_system(status.epoch.system, seed, options).is_some() || new_tools(stored, options, tools)?.is_some();
    let collections = options.collections.as_ref().is_some_and(|collections| *collections != status.record.collections);
    let recalls = options.recalls.is_some_and(|recalls| recalls != status.record.recalls);
    Ok(told || reads || budget || collections || recalls || moved_to(&status.epoch.model, options).is_some())
}

/// Whether tools mean what stored ones mean.
fn same_tools(tools: Option<&GivenTools>, stored: &[u8]) -> Result<bool> {
    let stored = if stored.is_empty() { None } else { Tools::parse(stored)? };
    Ok(tools.map(|tools| tools.parsed.meaning) == stored.map(|tools| tools.meaning))
}

fn check_model(id: &str, stored: &Model, asked: Option<&Model>) -> Result<()> {
    match asked {
        Some(asked) if asked.name != stored.name => Err(Error::new(
            ErrorKind::ModelMismatch,
            format!(
                "opening session {id:?}: the model must be the one it runs on, {:?}, or left out, and it is {:?}: call switch_model() to \
                 change it, or open the session by open_session(default_model=), which takes the model that it runs on",
                stored.name, asked.name
            ),
        )
        .with("session_id", id)
        .with("stored", &*stored.name)
        .with("model", &*asked.name)),
        _ => Ok(()),
    }
}

/// Opens a session in a transaction.
pub(super) fn open<P: PagesMut>(
    pages: &mut P,
    scope: &Scope,
    id: &str,
    options: &Options,
    tools: Option<&GivenTools>,
    now: i64,
) -> Result<()> {
    match record::locate(pages, scope, id)? {
        None => make(pages, scope, id, options, tools, now),
        Some(place) => reopen(SessionWriter::at(pages, scope, place, now)?, options, tools),
    }
}

fn make<P: PagesMut>(pages: &mut P, scope: &Scope, id: &str, options: &Options, tools: Option<&GivenTools>, now: i64) -> Result<()> {
    let model = options.model.clone().ok_or_else(|| record::no_such_session(id))?;
    if let Some(budget) = &options.budget {
        budget.limit(&model)?; // who asks for it learns of it; with a later model it gives way
    }
    let record = SessionRecord {
        id: id.to_owned(),
        state: SessionState::Live,
        created_at: now,
        last_time: now,
        clock: None,
        epoch: 0,
        edits: 0,
        tally: Tally::default(),
        sent: None,
        budget: options.budget.clone().unwrap_or_default(),
        reads: checked_reads(options.reads.clone().unwrap_or_default(), scope)?,
        collections: checked_collections(options.collections.clone().unwrap_or_default())?,
        window: None,
        recalls: options.recalls.unwrap_or_default(),
        origins: Vec::new(),
    };
    let mut writer = SessionWriter::make(pages, scope, record, model, now)?;
    record::name(writer.pages, writer.place, writer.seed, id)?;
    let tools = options.tools.is_some().then(|| ToolsChange::to(tools));
    instruct(&mut writer, &Instructions { system: options.system.clone(), tools })?;
    writer.begin(Reason::Began, 0)?;
    writer.finish()
}

fn reopen<P: PagesMut>(mut writer: SessionWriter<'_, P>, options: &Options, tools: Option<&GivenTools>) -> Result<()> {
    check_model(&writer.record.id, &writer.epoch.model, options.model.as_ref())?;
    let stored = match writer.epoch.tools {
        Some(stored) => super::transcript::blob::get(&*writer.pages, writer.place.partition, stored.hash)?,
        None => Vec::new(),
    };
    let system = new_system(writer.epoch.system, writer.seed, options);
    let new = Instructions { system, tools: new_tools(&stored, options, tools)? };
    let reads = match &options.reads {
        Some(reads) if *reads != writer.record.reads => Some(checked_reads(reads.clone(), writer.scope)?),
        _ => None,
    };
    let budget = options.budget.clone().filter(|budget| *budget != writer.record.budget);
    let collections = match &options.collections {
        Some(collections) if *collections != writer.record.collections => Some(checked_collections(collections.clone())?),
        _ => None,
    };
    let recalls = options.recalls.filter(|recalls| *recalls != writer.record.recalls);
    let address = moved_to(&writer.epoch.model, options);
    let unsaid = address.is_none() && reads.is_none() && budget.is_none() && collections.is_none() && recalls.is_none();
    if new.system.is_none() && new.tools.is_none() && unsaid {
        return Ok(()); // nothing is new: nothing is written
    }
    writer.record.check_live("opening a session with something new")?;
    if let Some(budget) = budget {
        budget.limit(&writer.epoch.model)?;
        writer.record.budget = budget;
        writer.unsettle();
    }
    if let Some(address) = address {
        writer.ask_at(address)?;
    }
    if let Some(collections) = collections {
        writer.record.collections = collections; // they stand in the volatile block: no epoch begins
    }
    writer.record.recalls = recalls.unwrap_or(writer.record.recalls); // the same
    let others = reads.is_some();
    if let Some(reads) = reads {
        writer.record.reads = reads;
    }
    if new.system.is_some() || new.tools.is_some() || others {
        instruct(&mut writer, &new)?;
        let origin = writer.epoch.epoch.origin;
        writer.begin(Reason::Instructions, origin)?;
    }
    writer.finish()
}

/// The address that the model is asked at from now on, if it is another than the stored one.
fn moved_to(stored: &Model, options: &Options) -> Option<Arc<str>> {
    let asked = &options.model.as_ref()?.base_url;
    (!asked.is_empty() && *asked != stored.base_url).then(|| Arc::clone(asked))
}

/// The system prompt that is asked for, if it is another than the stored one.
fn new_system(stored: Option<BlobRef>, seed: Seed, options: &Options) -> Option<String> {
    let system = options.system.as_deref()?;
    let asked = (!system.is_empty()).then(|| super::transcript::blob::hash(seed, system.as_bytes()));
    (asked != stored.map(|blob| blob.hash)).then(|| system.to_owned())
}

/// The tools that are asked for, if they mean something else than the stored ones.
fn new_tools(stored: &[u8], options: &Options, tools: Option<&GivenTools>) -> Result<Option<ToolsChange>> {
    Ok(if options.tools.is_none() || same_tools(tools, stored)? { None } else { Some(ToolsChange::to(tools)) })
}

/// The instructions of a session from now on; `None` keeps the present ones.
#[derive(Debug, Clone, Default)]
pub(super) struct Instructions {
    /// The system prompt; an empty one is none.
    pub system: Option<String>,
    /// The tools.
    pub tools: Option<ToolsChange>,
}

/// Other tools.
#[derive(Debug, Clone)]
pub(super) enum ToolsChange {
    /// None from now on.
    Removed,
    /// These.
    Replaced(GivenTools),
}

impl ToolsChange {
    pub fn to(tools: Option<&GivenTools>) -> Self {
        tools.map_or(Self::Removed, |tools| Self::Replaced(tools.clone()))
    }
}

/// Gives a session other instructions. The caller begins the epoch, which refers to them.
pub(super) fn instruct<P: PagesMut>(writer: &mut SessionWriter<'_, P>, new: &Instructions) -> Result<()> {
    if let Some(system) = &new.system {
        check_size("the system prompt", system.len())?;
        writer.epoch.system = if system.is_empty() { None } else { Some(writer.put_text(system.as_bytes())?) };
        writer.epoch.epoch.system_version += u64::from(writer.epoch.system.is_some() || writer.epoch.epoch.system_version > 0);
    }
    if let Some(tools) = &new.tools {
        writer.epoch.names_memories = matches!(tools, ToolsChange::Replaced(given) if given.parsed.offer(FORGETS));
        writer.epoch.tools = match tools {
            ToolsChange::Removed => None,
            ToolsChange::Replaced(tools) => Some(writer.put_text(&tools.given)?),
        };
        writer.epoch.epoch.tools_version += u64::from(writer.epoch.tools.is_some() || writer.epoch.epoch.tools_version > 0);
    }
    Ok(())
}

fn checked_collections(collections: Vec<CollectionName>) -> Result<Vec<CollectionName>> {
    if let Some(twice) = collections.iter().find(|one| collections.iter().filter(|other| other == one).count() > 1) {
        return Err(Error::invalid(format!(
            "opening a session: collections= names each collection once, and {:?} is named twice: leave one out",
            twice.name
        ))
        .with("collection", twice.name.as_str()));
    }
    if collections.len() > MAX_COLLECTIONS {
        return Err(Error::invalid(format!(
            "opening a session: it may have at most {MAX_COLLECTIONS} collections, and {} are named: put documents that are asked together into one",
            collections.len()
        )));
    }
    Ok(collections)
}

fn checked_reads(reads: Vec<Scope>, own: &Scope) -> Result<Vec<Scope>> {
    let twice = |scope: &Scope| scope == own || reads.iter().filter(|other| *other == scope).count() > 1;
    if let Some(scope) = reads.iter().find(|scope| twice(scope)) {
        return Err(Error::invalid(format!(
            "opening a session: reads= names scopes beside its own, each once, and {:?} is its own or named twice: leave it out",
            scope.id
        ))
        .with("scope_id", scope.id.as_str()));
    }
    if reads.len() > MAX_READS {
        return Err(Error::invalid(format!(
            "opening a session: it may read at most {MAX_READS} other scopes, and {} are named: leave out those that it needs least",
            reads.len()
        )));
    }
    Ok(reads)
}
