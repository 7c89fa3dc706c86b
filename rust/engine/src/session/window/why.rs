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
        let Some(memory) = self.newest_revision(&scopes, id, now)? else { return Ok(not_here(&scopes)) };
        if let Some(why) = gone(&memory, now) {
            return Ok(why);
        }
        if sent.prompt.explained.iter().any(|line| matches!(line.why, Why::Frozen | Why::NextTurn)) {
            return Ok("the block of this turn was sent before, and stays as it was until the turn ends".to_owned());
        }
        let most = record.recalls.memories as usize;
        let Some(question) = sent.question.as_deref().filter(|_| most > 0) else {
            let switched_off = "memories are switched off: raise Recalls(memories=0)";
            let nothing_asked = "memory was not searched: the session has no user message, and query= was not given";
            return Ok(if most == 0 { switched_off } else { nothing_asked }.to_owned());
        };
        let request = memory_request(question.to_owned(), &sent.ask, scopes, most.max(RANKS));
        let answer = self.engine.store().read(|pages| recall::answer(self.engine, pages, &request, &recall::Question::new(question)))?;
        Ok(ranked(&answer, &memory, most))
    }

    fn newest_revision(&self, scopes: &[Scope], id: &str, now: i64) -> Result<Option<Memory>> {
        for scope in scopes {
            match self.engine.history(scope, id, now) {
                Ok(mut revisions) => return Ok(revisions.pop()),
                Err(error) if error.kind() == crate::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

fn not_here(scopes: &[Scope]) -> String {
    let name = |scope: &Scope| format!("{} {:?}", if scope.scope_type == ScopeType::User { "user" } else { "shared" }, scope.id);
    let names: Vec<String> = scopes.iter().map(name).collect();
    format!("no memory of that id is in a scope that this session reads ({}): it is another's, or was never written", names.join(", "))
}

/// Why a memory cannot be recalled at all.
fn gone(memory: &Memory, now: i64) -> Option<String> {
    let ending = memory.ending.as_ref();
    match memory.state() {
        State::Current if memory.is_expired(now) => Some("its time to live is over".to_owned()),
        State::Current => None,
        State::Expired => Some("its time to live is over".to_owned()),
        State::Quarantined => Some("it waits for somebody to approve it".to_owned()),
        State::Forgotten => Some("it was forgotten".to_owned()),
        State::Revised | State::Superseded => Some(match ending.and_then(|ending| ending.superseded_by) {
            Some(number) => format!("a newer value took its place: mem-{number}"),
            None => "a newer value took its place".to_owned(),
        }),
    }
}

/// Where a current memory ranks.
fn ranked(answer: &recall::Recall, memory: &Memory, most: usize) -> String {
    let id = memory.id();
    if let Some(same) = answer.hits.iter().find(|hit| hit.duplicates.contains(&id)) {
        return format!("{} says the same and ranks higher", same.memory.id());
    }
    match answer.hits.iter().position(|hit| hit.memory.id() == id) {
        Some(_) if answer.hits[0].parts.overview => format!(
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
        None => "it does not answer the question: it shares no word with it, and other memories are nearer in meaning".to_owned(),
    }
}
