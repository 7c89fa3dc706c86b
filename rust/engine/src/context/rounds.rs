//! The line that stands for tool rounds which left the window of a long turn, so that the model does not begin anew.
//!
//! ```text
//! [Rounds 1 to 36 of this turn are not shown: read_file x 20, grep x 9, run x 7. They have results, which are stored.]
//! [Rounds 1 to 21 of this turn are not shown: read_log x 20, deploy x 1 (cancelled). The others have results, which are stored.]
//! ```
//!
//! It stands between the turn's user message and the rounds that stay, and is a function of where the window begins: within an epoch it
//! never changes. A call that failed, was cancelled or has no result is told apart, and of the others no more is said than that they have
//! results: a chat completion's result has no mark of failure. Where the user message itself is too long to be shown whole, its beginning
//! and its end stand before the line. Epochs of renderer version 1 have none, those before version 5 say of every call that it is done,
//! those before version 6 of every call that is not told apart, and those before version 7 tell apart no call that was cancelled for a
//! reason with an unpaired bracket.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::cut::{OPENING_TOKENS, Window};
use super::epoch::since;
use super::escape::{escape, unescape};
use super::framing::Framing;
use super::history::{History, Stored};
use super::message::{Message, Role, ToolResult};
use super::shorten::{Between, shorten};
use super::turns::{begins_as_cancelled, is_cancelled, is_cancelled_in_pairs, opens_round};
use crate::Result;
use crate::tokens::Counter;

/// The reserve for it.
pub(crate) const TOKENS: u64 = 96;
/// Tokens that a message costs beside its text, at most.
const FRAME_TOKENS: u64 = 16;
/// Tools that are named.
const NAMED: usize = 5;
/// Characters of a tool's name.
const NAME_CHARACTERS: usize = 32;

/// The text that stands for the messages that a window leaves out of its first turn: the line, behind the beginning and the end of the user
/// message where that is too long. `None` where there is nothing to say, or it would be longer than its place. `renderer` is the version
/// of the epoch.
pub(super) fn line(
    history: &dyn History,
    window: &Window,
    renderer: u32,
    framing: &Framing,
    counter: &dyn Counter,
) -> Result<Option<Arc<Stored>>> {
    let rounds = LeftOut::of(history, window.left_out(), renderer)?.lines(renderer);
    let stored = |text: &str| Stored::new(Message::text(Role::User, text), framing, counter);
    let (opening, most) = if window.cut.shortened {
        (Some(opening(&*history.message(window.cut.start)?, counter)), OPENING_TOKENS + TOKENS)
    } else {
        (None, TOKENS)
    };
    if rounds.is_empty() {
        return Ok(opening.map(|opening| stored(&opening)).filter(|stored| stored.cost.tokens <= most).map(Arc::new));
    }
    let texts = rounds.into_iter().map(|line| opening.iter().cloned().chain([line]).collect::<Vec<_>>().join("\n"));
    Ok(texts.map(|text| stored(&text)).find(|stored| stored.cost.tokens <= most).map(Arc::new))
}

/// A text that is as long as such a text can be, and says nothing.
pub(super) fn reserved(window: &Window, framing: &Framing, counter: &dyn Counter) -> Arc<Stored> {
    let most = TOKENS + if window.cut.shortened { OPENING_TOKENS } else { 0 };
    let text = "word ".repeat((most - FRAME_TOKENS) as usize);
    Arc::new(Stored::new(Message::text(Role::User, text.trim_end()), framing, counter))
}

/// The beginning and the end of a user message.
fn opening(stored: &Stored, counter: &dyn Counter) -> String {
    let spoken = stored.message.spoken();
    let text = unescape(&spoken);
    match shorten(&text, None, OPENING_TOKENS - FRAME_TOKENS, counter, Between::Characters) {
        Some(shortened) => shortened.text,
        None if text.trim().is_empty() => "[This message is too large to be shown here. It is stored.]".to_owned(),
        None => text.into_owned(),
    }
}

/// The rounds that a window leaves out of its first turn, and what became of the calls of each tool.
#[derive(Default)]
struct LeftOut {
    rounds: u64,
    calls: BTreeMap<String, Calls>,
}

/// Calls, and those of them that are not done.
#[derive(Clone, Copy, Default)]
struct Calls {
    all: u64,
    failed: u64,
    cancelled: u64,
    without_result: u64,
}

impl LeftOut {
    fn of(history: &dyn History, left_out: Range<u64>, renderer: u32) -> Result<Self> {
        let (mut found, mut open) = (Self::default(), Vec::<(Box<str>, String)>::new());
        for index in left_out {
            let stored = history.message(index)?;
            found.rounds += u64::from(opens_round(&stored.message));
            for call in stored.message.tool_calls() {
                let name: String = call.name.chars().take(NAME_CHARACTERS).collect();
                let calls = found.calls.entry(name.clone()).or_default();
                (calls.all, calls.without_result) = (calls.all + 1, calls.without_result + 1);
                open.push((call.id.clone(), name));
            }
            for result in stored.message.tool_results() {
                let Some(at) = open.iter().rposition(|(id, _)| *id == result.call_id) else { continue };
                let calls = found.calls.entry(open.remove(at).1).or_default();
                calls.without_result -= 1;
                let is_cancelled = was_cancelled(result, renderer);
                calls.cancelled += u64::from(is_cancelled);
                calls.failed += u64::from(result.is_error && !is_cancelled);
            }
        }
        Ok(found)
    }

    /// The lines that say it, the one that says most first; none where no round is left out.
    fn lines(self, renderer: u32) -> Vec<String> {
        if self.rounds == 0 {
            return Vec::new();
        }
        let which =
            if self.rounds == 1 { "Round 1 of this turn is".to_owned() } else { format!("Rounds 1 to {} of this turn are", self.rounds) };
        if renderer < since::OUTCOMES {
            return vec![format!("[{which} not shown{}. They are done; their results are stored.]", named(&self.calls, false))];
        }
        let all = self.calls.values().fold(Calls::default(), |sum, calls| sum.and(*calls));
        let end = match all.done() {
            0 => "All of it is stored",
            done if renderer < since::RESULTS && done == all.all => "They are done; their results are stored",
            _ if renderer < since::RESULTS => "The others are done; their results are stored",
            done if done == all.all => "They have results, which are stored",
            _ => "The others have results, which are stored",
        };
        let counted = format!(": {} calls{}", all.all, all.outcomes());
        [named(&self.calls, true), counted].map(|calls| format!("[{which} not shown{calls}. {end}.]")).into()
    }
}

impl Calls {
    fn and(self, other: Self) -> Self {
        Self {
            all: self.all + other.all,
            failed: self.failed + other.failed,
            cancelled: self.cancelled + other.cancelled,
            without_result: self.without_result + other.without_result,
        }
    }

    fn done(self) -> u64 {
        self.all - self.failed - self.cancelled - self.without_result
    }

    /// The fate of those that are not done, in brackets.
    fn outcomes(self) -> String {
        let outcomes = [(self.failed, "failed"), (self.cancelled, "cancelled"), (self.without_result, "no result")];
        let told = outcomes.iter().filter(|(count, _)| *count > 0);
        let texts: Vec<String> =
            told.map(|(count, what)| if *count == self.all { (*what).to_owned() } else { format!("{count} {what}") }).collect();
        if texts.is_empty() { String::new() } else { format!(" ({})", texts.join(", ")) }
    }
}

/// Whether a result says that its call was cancelled. Before renderer 6 one that begins so did.
fn was_cancelled(result: &ToolResult, renderer: u32) -> bool {
    match renderer {
        ..since::RESULTS => begins_as_cancelled(result),
        since::RESULTS..since::UNPAIRED => is_cancelled_in_pairs(result),
        since::UNPAIRED.. => is_cancelled(result),
    }
}

fn named(calls: &BTreeMap<String, Calls>, outcomes: bool) -> String {
    let mut calls: Vec<(&String, &Calls)> = calls.iter().collect();
    let is_done = |calls: &Calls| !outcomes || calls.done() == calls.all;
    calls.sort_by(|one, other| (is_done(one.1), other.1.all, one.0).cmp(&(is_done(other.1), one.1.all, other.0)));
    let others = calls.iter().skip(NAMED).fold(Calls::default(), |sum, (_, calls)| sum.and(**calls));
    let outcome = |calls: &Calls| if outcomes { calls.outcomes() } else { String::new() };
    let mut parts: Vec<String> =
        calls.iter().take(NAMED).map(|(name, calls)| format!("{} x {}{}", escape(name), calls.all, outcome(calls))).collect();
    if others.all > 0 {
        parts.push(format!("others x {}{}", others.all, outcome(&others)));
    }
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::super::history::Transcript;
    use super::super::message::{Part, ToolCall};
    use super::super::testing::WordCounter;
    use super::super::turns::cancelled;
    use super::*;

    #[test]
    fn epochs_that_earlier_versions_began_keep_their_words() {
        let (framing, mut transcript) = (Framing::GPT_4O, Transcript::default());
        let mut push = |message| transcript.push(message, &framing, &WordCounter).unwrap();
        push(Message::text(Role::User, "go"));
        let cancelled = ("[cancelled: stop]", false);
        for (name, result) in [("read", Some(("ok", false))), ("ask", None), ("send", Some(cancelled)), ("send", Some(("no", true)))] {
            let call = ToolCall { id: "c".into(), name: name.into(), arguments: "{}".into(), custom: false };
            push(Message { role: Role::Assistant, name: None, parts: vec![Part::ToolCall(call)] });
            if let Some((text, is_error)) = result {
                push(Message::tool_result("c", text, is_error));
            }
        }
        let lines = |messages, renderer| LeftOut::of(&transcript, 1..messages, renderer).unwrap().lines(renderer);
        let all = transcript.messages();
        assert_eq!(
            lines(all, 4),
            ["[Rounds 1 to 4 of this turn are not shown: send x 2, ask x 1, read x 1. They are done; their results are stored.]"]
        );
        assert_eq!(
            lines(all, 5),
            [
                "[Rounds 1 to 4 of this turn are not shown: send x 2 (1 failed, 1 cancelled), ask x 1 (no result), read x 1. The others \
                 are done; their results are stored.]",
                "[Rounds 1 to 4 of this turn are not shown: 4 calls (1 failed, 1 cancelled, 1 no result). The others are done; their \
                 results are stored.]"
            ]
        );
        assert_eq!(
            lines(all, 6)[0],
            "[Rounds 1 to 4 of this turn are not shown: send x 2 (1 failed, 1 cancelled), ask x 1 (no result), read x 1. The others have \
             results, which are stored.]"
        );
        assert_eq!(lines(3, 4), lines(3, 5)[..1], "where all is done nothing changes");
        assert_eq!(lines(3, 6)[0], "[Round 1 of this turn is not shown: read x 1. They have results, which are stored.]");
        assert!(lines(1, 5).is_empty());
    }

    #[test]
    fn a_text_that_only_begins_as_that_of_a_cancelled_call_is_a_result() {
        let is = |text: &str, renderer| {
            let message = Message::tool_result("c", text, false);
            was_cancelled(message.tool_results().next().unwrap(), renderer)
        };
        for text in ["[cancelled: stop]", "[cancelled: the user said [stop]]"] {
            assert!(is(text, since::RESULTS) && is(text, since::OUTCOMES), "{text}");
        }
        for text in ["[cancelled: the queue was emptied] deployed build 7", "[cancelled: 3 jobs] deployed [7]", "[cancelled: 3 jobs"] {
            assert!(!is(text, since::UNPAIRED) && !is(text, since::RESULTS) && is(text, since::OUTCOMES), "{text}");
        }
        for reason in ["the user said [stop", "see ticket 7] and wait", "a :] smile", "see [7] and 8]"] {
            let stored = format!("[cancelled: {reason}]");
            assert!(is(&stored, since::UNPAIRED) && !is(&stored, since::RESULTS), "{stored}");
        }
        for reason in ["the user said [stop", "see ticket 7] and wait", "a] or b [c", "]", "the user said [stop]", "stop"] {
            assert!(
                [since::OUTCOMES, since::RESULTS, since::UNPAIRED].iter().all(|renderer| is(&cancelled(reason), *renderer)),
                "{reason}"
            );
        }
        assert_eq!(cancelled("the user said [stop]"), "[cancelled: the user said [stop]]");
        assert_eq!(cancelled("see ticket 7] and wait"), "[cancelled: see ticket 7) and wait]");
    }
}
