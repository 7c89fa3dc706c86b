//! Why a memory or a message was not a candidate of a prompt: the prompt says what became of its candidates, and the store what became of the
//! others.

use std::sync::Arc;

use super::answered::memory_request;
use super::assemble::{self, Ask, Assembled};
use crate::Result;
use crate::context::limit::section;
use crate::context::{Explained, Why, print};
use crate::memory::{Memory, State};
use crate::recall::{self, Question};
use crate::scope::{Scope, ScopeType};
use crate::session::record::{self, SessionRecord};
use crate::session::search::Row;
use crate::session::session::{Session, Status};
use crate::session::transcript::message::{MessageRecord, MessageState};
use crate::session::transcript::words::text_of;
use crate::session::window::fixed::scopes;
use crate::session::window::retrieved::is_short;

/// Ranks that are looked through.
const RANKS: usize = 2_000;
const ASKS_NOTHING: &str = "the message asks memory nothing";
const HIGH_ENOUGH_NOW: &str = "it ranks high enough now: it was written, or others were forgotten, after the prompt was made";
const IN_THE_NEXT: &str = "the next prompt has it: it was written after this one was made";

impl Session<'_> {
    /// Why the memory or the message (`session#index`) of that id is not among the candidates of a prompt of this session, in words: as the
    /// store is now. And whether it is that of a memory.
    ///
    /// Costs a look-up in each scope that the session reads, and another prompt and one recall of `RANKS` answers where it is a current memory.
    pub fn why(&self, sent: &Assembled, id: &str) -> Result<(String, bool)> {
        let record = self.status()?.record;
        let (scopes, now) = (scopes(self.scope, &record), sent.ask.now);
        if let Some(found) = self.newest_revision(&scopes, id, now)? {
            return Ok((self.of_memory(sent, &record, scopes, found)?, true));
        }
        let of_message = self.of_message(sent, &record, id)?;
        Ok((of_message.map_or_else(|| self.not_here(&scopes, id, now), Ok)?, false))
    }

    fn of_memory(&self, sent: &Assembled, record: &SessionRecord, scopes: Vec<Scope>, (place, memory): (usize, Memory)) -> Result<String> {
        if let Some(why) = self.gone(&scopes, (place, &memory), sent.ask.now)? {
            return Ok(why);
        }
        if let Some(why) = said_in(sent, place == 0, &memory) {
            return Ok(why);
        }
        if sent.prompt.explained.iter().any(|line| matches!(line.why, Why::Frozen | Why::NextTurn)) {
            return Ok("the block of this turn was sent before, and stays as it was until the turn ends".to_owned());
        }
        let most = record.recalls.memories as usize;
        let Some(question) = sent.question.as_deref().filter(|_| most > 0) else {
            let switched_off = "memories are switched off: raise Recalls(memories=0)";
            let nothing_asked = "memory was not searched: the session has no user message, and query= was not given; or the prompt was composed \
                                 again from the ledger, which keeps what was shown and not what was asked: ask a prompt that assemble() returned";
            return Ok(if most == 0 { switched_off } else { nothing_asked }.to_owned());
        };
        let asked = Question::new(question);
        if asked.asks_nothing() {
            return Ok(ASKS_NOTHING.to_owned());
        }
        if let Some(why) = self.of_a_fresh_prompt(sent, question, (&scopes[place], &memory))? {
            return Ok(why);
        }
        let mut request = memory_request(question.to_owned(), &sent.ask, scopes, &record.recalls);
        request.limit = most.max(RANKS);
        let answer = self.engine.store().read(|pages| recall::answer(self.engine, pages, &request, &asked))?;
        Ok(ranked(&answer, &request.scopes, (place, &memory), most))
    }

    /// The fate of a memory in a prompt that is made now for the same question; `None` where it is not a candidate there either, or where such a
    /// prompt cannot be made any more.
    fn of_a_fresh_prompt(&self, sent: &Assembled, question: &str, (scope, memory): (&Scope, &Memory)) -> Result<Option<String>> {
        let ask = Ask { query: Some(question.to_owned()), ..(*sent.ask).clone() };
        let row = self.engine.store().read(|pages| {
            let Status { place, record, epoch } = self.expect(pages)?;
            let status = Status { record: SessionRecord { sent: None, ..record }, place, epoch };
            let Some(partition) = scope.find(pages)? else { return Ok(None) };
            let fresh = assemble::assemble(self.engine, pages, self.scope, status, &ask, Arc::default());
            let is_it =
                |row: &Explained| row.memory.is_some_and(|one| (one.partition, one.memory) == (partition.into(), memory.number.into()));
            let mut rows = fresh.map_or_else(|_| Vec::new(), |fresh| fresh.assembled.prompt.explained);
            rows.retain(is_it);
            rows.sort_by_key(|row| !row.why.is_included());
            Ok(rows.into_iter().next())
        })?;
        Ok(row.map(|row| match row.why.is_included() {
            true if &*row.section == section::RECALLED => HIGH_ENOUGH_NOW.to_owned(),
            true => IN_THE_NEXT.to_owned(),
            false => row.reason(),
        }))
    }

    /// `None` where no session of the scope has such a message.
    fn of_message(&self, sent: &Assembled, own: &SessionRecord, id: &str) -> Result<Option<String>> {
        let (recalls, window) = (&own.recalls, &sent.prompt.window.parts);
        let named = id.rsplit_once('#').and_then(|(session, index)| Some((session, index.parse::<u64>().ok()?)));
        let Some((session_id, index)) = named else { return Ok(None) };
        let asks_nothing = || sent.question.as_deref().is_none_or(|question| Question::new(question).asks_nothing());
        self.engine.store().read(|pages| {
            let Some((place, session)) = record::find_in(pages, self.scope, session_id)? else { return Ok(None) };
            if index >= session.tally.messages {
                return Ok(Some(format!("session {session_id:?} has {} messages, and none of that number", session.tally.messages)));
            }
            let is_own = place == sent.place;
            let message = MessageRecord::expect(pages, place, index)?;
            let tells_nothing = |row: Row<'_>| row.is_empty == Some(true) || row.is_courtesy;
            let tells_nothing = Row::look(pages, place.partition, message.document, tells_nothing)?.unwrap_or(true);
            let is_shown = is_own && window.iter().any(|part| part.contains(&index));
            Ok(Some(if is_shown {
                "the prompt has it in its history".to_owned()
            } else if message.state == MessageState::Redacted {
                "its text was taken out".to_owned()
            } else if recalls.messages == Some(0) {
                "messages are switched off: raise Recalls(messages=0)".to_owned()
            } else if !is_own && !recalls.other_sessions {
                "it is of another session: Recalls(other_sessions=True) recalls these".to_owned()
            } else if !recalls.roles.have(&message.whole(pages, place)?) {
                "Recalls(roles=...) leaves out who said it".to_owned()
            } else if asks_nothing() {
                ASKS_NOTHING.to_owned()
            } else if tells_nothing {
                "it only asks, or says nothing that answers".to_owned()
            } else if is_short(&text_of(&message.whole(pages, place)?)) {
                "it has a word or two, and is shown only where the question asks for its words or its time".to_owned()
            } else if let Some(most) = recalls.messages {
                format!("others are nearer to the question, or it is not near enough; at most {most} are shown")
            } else {
                "others are nearer to the question, or it is not near enough".to_owned()
            }))
        })
    }

    /// A memory with the place of its scope: one of the session's own by its id, one of another scope by that scope's id, a slash and its
    /// own.
    fn newest_revision(&self, scopes: &[Scope], id: &str, now: i64) -> Result<Option<(usize, Memory)>> {
        for (place, scope) in scopes.iter().enumerate() {
            let own = if place == 0 { Some(id) } else { id.strip_prefix(&*scope.id).and_then(|rest| rest.strip_prefix('/')) };
            if let Some(own) = own
                && let Some(memory) = self.newest_in(scope, own, now)?
            {
                return Ok(Some((place, memory)));
            }
        }
        Ok(None)
    }

    fn newest_in(&self, scope: &Scope, id: &str, now: i64) -> Result<Option<Memory>> {
        match self.engine.history(scope, id, now) {
            Ok(mut revisions) => Ok(revisions.pop()),
            Err(error) if error.kind() == crate::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn not_here(&self, scopes: &[Scope], id: &str, now: i64) -> Result<String> {
        let name = |scope: &Scope| format!("{} {:?}", if scope.scope_type == ScopeType::User { "user" } else { "shared" }, scope.id);
        for (place, scope) in scopes.iter().enumerate().skip(1) {
            if self.newest_in(scope, id, now)?.is_some() {
                let (own, other, full) = (name(&scopes[0]), name(scope), shown_id(scopes, place, id));
                return Ok(format!("no memory of that id is in {own}, and one is in {other}: ask for {full:?}"));
            }
        }
        let names: Vec<String> = scopes.iter().map(name).collect();
        let names = names.join(", ");
        Ok(format!(
            "no memory or message of that id is in a scope that this session reads ({names}): it is another's, or was never written"
        ))
    }

    /// Why a memory cannot be recalled at all.
    fn gone(&self, scopes: &[Scope], (place, memory): (usize, &Memory), now: i64) -> Result<Option<String>> {
        Ok(Some(match memory.state() {
            State::Current if !memory.is_expired(now) => return Ok(None),
            State::Current | State::Expired => "its time to live is over".to_owned(),
            State::Quarantined => "it waits for somebody to approve it".to_owned(),
            State::Forgotten => "it was forgotten".to_owned(),
            State::Revised | State::Superseded => {
                let number = memory.ending.as_ref().and_then(|ending| ending.superseded_by);
                match self.engine.ids(&scopes[place], number.as_slice())?.pop().flatten() {
                    Some(id) => format!("a newer value took its place: {}", shown_id(scopes, place, &id)),
                    None => "a newer value took its place".to_owned(),
                }
            }
        }))
    }
}

/// The id of a memory as a prompt of the session names it.
fn shown_id(scopes: &[Scope], place: usize, id: &str) -> String {
    if place == 0 { id.to_owned() } else { format!("{}/{id}", scopes[place].id) }
}

/// Where a current memory ranks.
fn ranked(answer: &recall::Recall, scopes: &[Scope], (place, memory): (usize, &Memory), most: usize) -> String {
    let id = memory.id();
    let of_scope = |hit: &&recall::Hit| hit.scope == place;
    if let Some(same) = answer.hits.iter().filter(of_scope).find(|hit| hit.duplicates.contains(&id)) {
        return format!("{} says the same and ranks higher", shown_id(scopes, place, &same.memory.id()));
    }
    match answer.hits.iter().position(|hit| hit.scope == place && hit.memory.number == memory.number) {
        Some(_) if answer.hits[0].parts.overview.is_some() => format!(
            "it is one of {} memories that answer a question without content, and at most {most} of them are shown: ask for something that it \
             says, or raise Recalls(memories={most})",
            answer.hits.len()
        ),
        Some(rank) if rank >= most => format!(
            "it ranks {} of the memories, with a score of {:.3}, and {most} may be recalled: raise Recalls(memories={most})",
            rank + 1,
            answer.hits[rank].score
        ),
        Some(_) => format!("others of as many as may be recalled rank before it: raise Recalls(memories={most})"),
        None if answer.hits.len() >= RANKS => format!("it ranks behind {RANKS} other memories"),
        None if answer.hits.first().is_some_and(|hit| hit.parts.overview.is_some()) => {
            "the question asks for a time, or for the user, and for nothing else: it is of another time, or says nothing of the user"
                .to_owned()
        }
        None => "it does not answer the question: it shares no word with it, and other memories are nearer in meaning".to_owned(),
    }
}

/// Where a prompt says already what a memory says: the same text, or the message that it was learnt from. `is_own` says whether it is of the
/// session's own scope.
fn said_in(sent: &Assembled, is_own: bool, memory: &Memory) -> Option<String> {
    let (prompt, text) = (&sent.prompt, print(&memory.text));
    if prompt.block.iter().flat_map(|block| &block.items).any(|item| print(&item.text) == text) {
        return Some(Why::Repeated.to_string());
    }
    let (session, index) = memory.provenance.session.as_deref().zip(memory.provenance.message).filter(|_| is_own)?;
    if session == sent.session_id && prompt.window.parts.iter().any(|part| part.contains(&index)) {
        return Some("the prompt has the message that told it in its history".to_owned());
    }
    let id = format!("{session}#{index}");
    let is_shown = |row: &Explained| row.memory.is_none() && row.why.is_included() && &*row.section == section::RECALLED && *row.id == *id;
    prompt.explained.iter().any(is_shown).then(|| format!("the prompt shows the message that told it: {id}"))
}
