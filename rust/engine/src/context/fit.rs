//! The newest part of a conversation that fits a limit, without a session or a store.
//!
//! Leading system messages stay. The newest turns are kept whole. A newest turn that is too large keeps its user message and its newest
//! rounds. Messages that stay are not changed by a byte. Messages are read from the end and only as far as they fit: time and memory are
//! linear in what is kept, not in the conversation.

use super::framing::Framing;
use super::message::{Message, Role};
use super::tools::Tools;
use crate::tokens::Counter;
use crate::{Error, ErrorKind, Result};

/// The part that fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fit {
    /// Indices of the messages to send, ascending.
    pub kept: Vec<usize>,
    /// Tokens of the request with them, tools and the reply's frame included.
    pub tokens: u64,
    /// Whether that number is exact for the counter, and for its model.
    pub exact: bool,
}

/// Chooses among `count` messages that `read` reads by index, newest first.
///
/// # Errors
/// `BudgetExceeded` if tools, system messages, the newest user message and the last round do not fit; `InvalidInput` for a tool
/// result without its call or a call without its result among what is kept; what `read` returns.
pub fn fit(
    count: usize,
    read: &mut dyn FnMut(usize) -> Result<Message>,
    tools: Option<&Tools>,
    limit: u64,
    framing: &Framing,
    counter: &dyn Counter,
) -> Result<Fit> {
    let mut fitter = Fitter { read, framing, counter, limit, kept: Vec::new(), tokens: framing.reply, exact: true };
    fitter.tokens += tools.map_or(0, |tools| framing.tools(tools, counter));
    let system = fitter.keep_system(count)?;
    let fixed = fitter.tokens;
    fitter.keep_newest(system, count)?;
    if fitter.tokens > limit {
        return Err(exceeded(limit, fixed, fitter.tokens));
    }
    fitter.kept.sort_unstable();
    Ok(Fit { kept: fitter.kept, tokens: fitter.tokens, exact: fitter.exact })
}

struct Fitter<'a> {
    read: &'a mut dyn FnMut(usize) -> Result<Message>,
    framing: &'a Framing,
    counter: &'a dyn Counter,
    limit: u64,
    kept: Vec<usize>,
    tokens: u64,
    exact: bool,
}

/// A round, or messages of a user, while they are read backwards.
#[derive(Default)]
struct Unit {
    indices: Vec<usize>,
    tokens: u64,
    bounded: bool,
    /// Results whose call has not been met yet.
    results: Vec<Box<str>>,
    /// It is a user's message.
    opens_turn: bool,
}

impl Fitter<'_> {
    fn keep_system(&mut self, count: usize) -> Result<usize> {
        for index in 0..count {
            let message = (self.read)(index)?;
            if !matches!(message.role, Role::System | Role::Developer) {
                return Ok(index);
            }
            let cost = self.framing.message(&message, self.counter);
            (self.tokens, self.exact) = (self.tokens + cost.tokens, self.exact && cost.exact);
            self.kept.push(index);
        }
        Ok(count)
    }

    /// Reads units from the newest back; a turn is kept when its user message is met and all of it fits. Messages before
    /// the first user message is kept if it fits too.
    fn keep_newest(&mut self, from: usize, count: usize) -> Result<()> {
        let mut turn: Vec<Unit> = Vec::new();
        let (mut newest, mut end, mut needed) = (true, count, self.tokens);
        while end > from {
            let (unit, start) = self.unit(from, end)?;
            (end, needed) = (start, needed + unit.tokens);
            let complete = unit.opens_turn;
            turn.push(unit);
            if needed > self.limit {
                return if newest { self.keep_part_of_newest(turn, from, end) } else { Ok(()) };
            }
            if complete {
                turn.drain(..).for_each(|unit| self.keep(unit));
                newest = false;
            }
        }
        for unit in turn {
            self.keep(unit);
        }
        Ok(())
    }

    /// The newest turn is too large: the last round stays, then the user message, then the rounds that fit, newest first.
    /// Its units come newest first; the user message may still have to be looked for.
    fn keep_part_of_newest(&mut self, mut rounds: Vec<Unit>, from: usize, mut end: usize) -> Result<()> {
        let mut head = if rounds.last().is_some_and(|unit| unit.opens_turn) { rounds.pop() } else { None };
        while head.is_none() && end > from {
            let (unit, start) = self.unit(from, end)?;
            end = start;
            head = Some(unit).filter(|unit| unit.opens_turn);
        }
        let mut rounds = rounds.into_iter();
        [rounds.next(), head].into_iter().flatten().for_each(|unit| self.keep(unit));
        for unit in rounds {
            if self.tokens + unit.tokens > self.limit {
                break;
            }
            self.keep(unit);
        }
        Ok(())
    }

    fn keep(&mut self, unit: Unit) {
        self.tokens += unit.tokens;
        self.exact &= !unit.bounded;
        self.kept.extend(unit.indices);
    }

    /// The unit that ends before `end`: an assistant message with its results, or any other message by itself.
    fn unit(&mut self, from: usize, end: usize) -> Result<(Unit, usize)> {
        let mut unit = Unit::default();
        let mut index = end;
        while index > from {
            index -= 1;
            let message = (self.read)(index)?;
            let cost = self.framing.message(&message, self.counter);
            unit.indices.push(index);
            (unit.tokens, unit.bounded) = (unit.tokens + cost.tokens, unit.bounded || !cost.exact);
            if message.tool_results().next().is_some() {
                unit.results.extend(message.tool_results().map(|result| result.call_id.clone()));
                continue;
            }
            check_pairs(&message, &unit.results, index)?;
            unit.opens_turn = message.opens_turn();
            return Ok((unit, index));
        }
        Err(unpaired(&format!("a result of \"{}\" without its call", unit.results[0]), index))
    }
}

fn check_pairs(message: &Message, results: &[Box<str>], index: usize) -> Result<()> {
    let mut calls: Vec<&str> = message.tool_calls().map(|call| &*call.id).collect();
    for result in results {
        let Some(at) = calls.iter().position(|id| **id == **result) else {
            return Err(unpaired(&format!("a result of \"{result}\" without its call"), index));
        };
        calls.remove(at);
    }
    match calls.first() {
        None => Ok(()),
        Some(id) => Err(unpaired(&format!("a call \"{id}\" without its result"), index)),
    }
}

fn unpaired(got: &str, index: usize) -> Error {
    Error::invalid(format!(
        "cannot fit the messages: every tool call must be followed by its result, got {got} (message {index}): add the result \
         directly behind its call, or take both out"
    ))
    .with("index", index)
}

fn exceeded(limit: u64, fixed: u64, needed: u64) -> Error {
    let message = format!(
        "cannot fit the messages: tools, system messages, the newest user message and the last round must fit the limit, got {needed} \
         tokens for {limit} (tools, system and frame {fixed}, newest {}): shorten one of them or raise max_input_tokens by {}",
        needed - fixed,
        needed - limit
    );
    Error::new(ErrorKind::BudgetExceeded, message)
        .with("needed_tokens", needed as i64)
        .with("limit_tokens", limit as i64)
        .with("fixed_tokens", fixed as i64)
}

#[cfg(test)]
mod tests {
    use super::super::message::{Part, ToolCall};
    use super::super::testing::{Random, WordCounter, words};
    use super::*;

    const FRAMING: Framing = Framing::GPT_4O;

    fn call(id: &str) -> Message {
        let call = ToolCall { id: id.into(), name: "f".into(), arguments: "{}".into(), custom: false };
        Message { role: Role::Assistant, name: None, parts: vec![Part::ToolCall(call)] }
    }

    fn conversation(random: &mut Random) -> Vec<Message> {
        let mut messages = Vec::new();
        if random.chance(60) {
            messages.push(Message::text(Role::System, &words(random.below(20))));
        }
        if random.chance(30) {
            messages.push(Message::text(Role::Assistant, "Hello!"));
        }
        for turn in 0..random.below(8) {
            messages.push(Message::text(Role::User, &words(1 + random.below(30))));
            for round in 0..random.below(4) {
                let id = format!("{turn}-{round}");
                messages.push(call(&id));
                messages.push(Message::tool_result(&id, &words(random.below(40)), false));
            }
            if random.chance(80) {
                messages.push(Message::text(Role::Assistant, &words(random.below(30))));
            }
        }
        messages
    }

    fn fit_all(messages: &[Message], limit: u64) -> Result<(Fit, usize)> {
        let mut reads = 0;
        let mut read = |index: usize| {
            reads += 1;
            Ok(messages[index].clone())
        };
        let fit = fit(messages.len(), &mut read, None, limit, &FRAMING, &WordCounter)?;
        Ok((fit, reads))
    }

    fn tokens(messages: &[Message], indices: impl IntoIterator<Item = usize>) -> u64 {
        FRAMING.reply + indices.into_iter().map(|index| FRAMING.message(&messages[index], &WordCounter).tokens).sum::<u64>()
    }

    /// Whole turns from the newest, by trying every start.
    fn naive(messages: &[Message], limit: u64) -> Option<Vec<usize>> {
        let system = messages.iter().take_while(|message| message.role == Role::System).count();
        let starts = (system..=messages.len()).filter(|start| *start == system || messages.get(*start).is_none_or(Message::opens_turn));
        let kept = |start: usize| (0..system).chain(start..messages.len()).collect::<Vec<_>>();
        let best = starts.map(kept).find(|kept| tokens(messages, kept.iter().copied()) <= limit)?;
        (best.len() > system || messages.len() == system).then_some(best)
    }

    #[test]
    fn whole_turns_are_those_that_trying_every_start_finds() {
        let mut random = Random::new(21);
        for _ in 0..5_000 {
            let messages = conversation(&mut random);
            let limit = 10 + random.below(600);
            let Some(expected) = naive(&messages, limit) else { continue };
            let (fit, _) = fit_all(&messages, limit).unwrap();
            assert_eq!(fit.kept, expected);
            assert_eq!(fit.tokens, tokens(&messages, fit.kept.iter().copied()));
        }
    }

    #[test]
    fn never_over_never_orphaned_and_errors_only_when_nothing_fits() {
        let mut random = Random::new(22);
        for _ in 0..5_000 {
            let messages = conversation(&mut random);
            let limit = 5 + random.below(300);
            match fit_all(&messages, limit) {
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::BudgetExceeded);
                    assert!(naive(&messages, limit).is_none());
                }
                Ok((fit, _)) => {
                    assert!(fit.tokens <= limit && fit.tokens == tokens(&messages, fit.kept.iter().copied()));
                    let kept = |id: &str| fit.kept.iter().any(|index| messages[*index].tool_results().any(|result| &*result.call_id == id));
                    let calls: Vec<_> = fit.kept.iter().flat_map(|index| messages[*index].tool_calls()).collect();
                    let results = fit.kept.iter().flat_map(|index| messages[*index].tool_results());
                    assert_eq!(calls.len(), results.count());
                    assert!(calls.iter().all(|call| kept(&call.id)));
                }
            }
        }
    }

    #[test]
    fn time_depends_on_what_is_kept() {
        let long: Vec<Message> = (0..5_000).map(|_| Message::text(Role::User, &words(20))).collect();
        let (fit, reads) = fit_all(&long, 1_000).unwrap();
        assert!(reads <= fit.kept.len() + 3, "{reads} reads for {} kept", fit.kept.len());
    }

    #[test]
    fn a_turn_too_large_keeps_its_user_message_and_its_newest_rounds() {
        let mut messages = vec![Message::text(Role::User, "question")];
        for round in 0..50 {
            messages.push(call(&round.to_string()));
            messages.push(Message::tool_result(&round.to_string(), &words(20), false));
        }
        let (fit, _) = fit_all(&messages, 300).unwrap();
        assert_eq!(fit.kept[0], 0);
        assert!(fit.kept[1] > 1 && fit.kept[1] % 2 == 1, "the window opens on a call: {:?}", fit.kept);
        assert_eq!(fit.kept.last(), Some(&100));
        assert!(fit.tokens > 250);
    }

    #[test]
    fn unpaired_tools_are_named() {
        let orphan = [Message::text(Role::User, "x"), Message::tool_result("nobody", "y", false)];
        assert!(fit_all(&orphan, 100).unwrap_err().message().contains("\"nobody\" without its call"));
        let open = [Message::text(Role::User, "x"), call("c9")];
        assert!(fit_all(&open, 100).unwrap_err().message().contains("\"c9\" without its result"));
        assert!(fit_all(&[], 100).unwrap().0.kept.is_empty());
    }
}
