//! Why a memory was not a candidate of a prompt: the prompt says what became of its candidates, and the store what became of the others.

use super::assemble::{Assembled, memory_request};
use crate::Result;
use crate::context::Why;
use crate::memory::{Memory, State};
use crate::recall;
use crate::scope::{Scope, ScopeType};
use crate::session::session::Session;
use crate::session::window::fixed::scopes;

/// Ranks that are looked through.
const RANKS: usize = 2_000;

impl Session<'_> {
    /// Why the memory of that id is not among the candidates of a prompt of this session, in words: as the store is now.
    ///
    /// Costs a look-up in each scope that the session reads, and one recall of `RANKS` answers where the memory is current.
    pub fn why(&self, sent: &Assembled, id: &str) -> Result<String> {
        let record = self.status()?.record;
        let (scopes, now) = (scopes(self.scope, &record), sent.ask.now);
        let Some((place, memory)) = self.newest_revision(&scopes, id, now)? else { return self.not_here(&scopes, id, now) };
        if let Some(why) = self.gone(&scopes, (place, &memory), now)? {
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
        let mut request = memory_request(question.to_owned(), &sent.ask, scopes, &record.recalls);
        request.limit = most.max(RANKS);
        let answer = self.engine.store().read(|pages| recall::answer(self.engine, pages, &request, &recall::Question::new(question)))?;
        Ok(ranked(&answer, &request.scopes, (place, &memory), most))
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
        Ok(format!("no memory of that id is in a scope that this session reads ({names}): it is another's, or was never written"))
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
        Some(_) => "it ranks high enough now: it was written, or others were forgotten, after the prompt was made".to_owned(),
        None if answer.hits.len() >= RANKS => format!("it ranks behind {RANKS} other memories"),
        None => "it does not answer the question: it shares no word with it, and other memories are nearer in meaning".to_owned(),
    }
}
