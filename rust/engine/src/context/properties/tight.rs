//! Limits that hardly hold anything: what gives way, in which order, and what the error says.

use super::super::message::ToolCall;
use super::super::testing::{Random, WordCounter, words};
use super::super::*;
use super::session::{FRAMING, Session, check, item};
use crate::ErrorKind;

fn call(id: &str) -> Message {
    let call = ToolCall { id: id.into(), name: "find".into(), arguments: "{}".into(), custom: false };
    Message { role: Role::Assistant, name: None, parts: vec![Part::ToolCall(call)] }
}

#[test]
fn any_limit_gives_a_prompt_or_every_number() {
    let mut random = Random::new(31);
    let mut exceeded = 0;
    for seed in 0..300 {
        let mut session = Session::new(seed, 5_000, Budget::default(), seed % 2 == 0);
        for _ in 0..random.below(4) {
            session.turn(30, |_, _| {});
        }
        session.add(Message::text(Role::User, &words(random.below(60))));
        if random.chance(50) {
            session.add(call("big"));
            session.add(Message::tool_result("big", &words(random.below(400)), false));
        }
        let candidates = session.candidates();
        for _ in 0..10 {
            let limit = random.below(700);
            match compose(&Inputs { limit, ..session.inputs(Volatile::Fresh(&candidates)) }) {
                Ok(prompt) => {
                    check(&prompt);
                    let items = prompt.block.as_ref().map_or(&[][..], |block| &block.items);
                    let sent = Volatile::Sent(items, prompt.set_aside);
                    let replayed = compose(&Inputs { limit, ..session.inputs(sent) }).unwrap();
                    assert_eq!(replayed.chain, prompt.chain, "an old call gives the same bytes");
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::BudgetExceeded, "{error}");
                    assert!(error.fields().iter().any(|(name, _)| *name == "limit_tokens"));
                    exceeded += 1;
                }
            }
        }
    }
    assert!(exceeded > 100, "the control: some limits are too small");
}

#[test]
fn a_sliding_window_is_cut_again_where_it_was_cut() {
    let mut differs = 0;
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let sliding = Budget { cut_step: Share::new(0), ..Budget::default() };
        let mut session = Session::new(seed, 1_000, sliding, false);
        session.append_only = seed % 5 == 0;
        session.add(Message::text(Role::User, "hi"));
        session.add(Message::text(Role::Assistant, "ok"));
        session.add(Message::text(Role::User, &words(400 + random.below(90))));
        let candidates = [item("recalled", &words(random.below(60)), 1, Some(9)), item("notes", &words(random.below(60)), 2, None)];
        let Ok(prompt) = compose(&session.inputs(Volatile::Fresh(&candidates))) else { continue };
        let items = prompt.block.as_ref().map_or(&[][..], |block| &block.items);
        let replayed = |set_aside| compose(&session.inputs(Volatile::Sent(items, set_aside))).unwrap().chain;
        assert_eq!(replayed(prompt.set_aside), prompt.chain, "an old call gives the same bytes");
        differs += u64::from(replayed(SetAside { for_history: None, ..prompt.set_aside }) != prompt.chain);
    }
    assert!(differs > 0, "the control: beside the block as it was sent, some windows are cut elsewhere");
}

#[test]
fn a_result_too_large_is_shortened_before_it_is_first_sent() {
    let mut session = Session::new(1, 1_000, Budget::default(), true);
    session.add(Message::text(Role::User, "find it"));
    session.add(call("c"));
    let mut message = Message::tool_result("c", &format!("BEGIN {} END", words(3_000)), false);
    if let Part::ToolResult(result) = &mut message.parts[0] {
        result.key = Some("r-7".into());
    }
    session.add(message);
    let candidates = [item("recalled", "a memory that keeps its place", 1, Some(9))];
    let prompt = session.assemble_with(&candidates);
    let body = String::from_utf8(render::to_openai(&prompt, render::RequestOptions::default())).unwrap();
    assert!(body.contains("BEGIN") && body.contains("END") && body.contains("stored as \\\"r-7\\\""));
    assert!(prompt.block.is_some() && prompt.total_tokens > 900);
    assert!(prompt.explained.iter().any(|line| matches!(line.why, Why::Shortened { .. })));
}

#[test]
fn a_turn_of_many_rounds_keeps_its_question_and_its_block() {
    let mut session = Session::new(2, 1_500, Budget::default(), true);
    session.add(Message::text(Role::User, "THE QUESTION"));
    let candidates = [item("recalled", "THE MEMORY", 19, Some(9)), item("task", "THE PLAN", 2, None)];
    for round in 0..60 {
        let prompt = session.assemble_with(&candidates);
        let body = String::from_utf8(render::to_openai(&prompt, render::RequestOptions::default())).unwrap();
        assert!(["THE QUESTION", "THE MEMORY", "THE PLAN"].iter().all(|text| body.contains(text)), "round {round}");
        session.add(call(&format!("c{round}")));
        session.add(Message::tool_result(&format!("c{round}"), &words(20 + round % 7 * 10), false));
    }
    assert!(session.epoch.number > 2, "rounds were left out in steps");
}

/// Two processes, rewinds, a kill -9 amid a tool round: whatever was taken, calls and results are paired at every point.
#[test]
fn any_interleaving_that_is_taken_is_paired_at_every_point() {
    let mut random = Random::new(35);
    let (mut taken, mut refused) = (0, 0);
    for seed in 0..150 {
        let mut session = Session::new(seed, 900, Budget::default(), true);
        for _ in 0..30 {
            let id = format!("c{}", random.below(6));
            let message = match random.below(5) {
                0 => Message::text(Role::User, &words(random.below(30))),
                1 => Message::text(Role::Assistant, &words(random.below(30))),
                2 => call(&id),
                _ => Message::tool_result(&id, &words(random.below(30)), false),
            };
            match session.transcript.clone().push(message.clone(), &FRAMING, &WordCounter) {
                Ok(_) => session.add(message),
                Err(error) => {
                    assert!(matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::ToolCallClosed), "{error}");
                    refused += 1;
                    continue;
                }
            }
            taken += 1;
            check(&compose(&session.inputs(Volatile::Fresh(&[]))).unwrap());
        }
    }
    assert!(taken > 1_000 && refused > 1_000, "the control: both happen");
}

#[test]
fn an_error_names_every_number() {
    let session = Session::new(3, 1_000, Budget::default(), true);
    let mut transcript = Transcript::default();
    transcript.push(Message::text(Role::User, &words(1_000)), &FRAMING, &WordCounter).unwrap();
    let error = compose(&Inputs { history: &transcript, ..session.inputs(Volatile::Fresh(&[])) }).unwrap_err();
    for name in [
        "needed_tokens",
        "limit_tokens",
        "tools_tokens",
        "system_tokens",
        "pinned_tokens",
        "summary_tokens",
        "newest_tokens",
        "frame_tokens",
    ] {
        assert!(error.fields().iter().any(|(field, _)| *field == name), "{name}");
    }
    assert!(error.message().contains("newest message and round 2004"), "{error}");
}

#[test]
fn without_messages_the_fixed_sections_are_assembled() {
    let mut session = Session::new(4, 1_000, Budget::default(), true);
    let prompt = session.assemble_with(&[]);
    assert_eq!(prompt.segments.len(), 2);
    let prompt = session.assemble_with(&[item("recalled", "a memory", 1, Some(9))]);
    assert_eq!(prompt.segments.len(), 3, "the block is a message of its own");
}

#[test]
fn a_bound_is_never_below_and_within_the_limit() {
    let mut random = Random::new(33);
    for seed in 0..40 {
        let mut session = Session::new(seed, 4_000, Budget::default(), true);
        for _ in 0..6 {
            session.turn(30, |_, _| {});
        }
        session.add(Message::text(Role::User, "now"));
        let factor = Factor::new(1_000 + random.below(2_000) as u32);
        let epoch = Epoch { factor, ..session.epoch.clone() };
        let candidates = session.candidates();
        let prompt = compose(&Inputs { epoch: &epoch, ..session.inputs(Volatile::Fresh(&candidates)) }).unwrap();
        let counted = super::recount::openai(&render::to_openai(&prompt, super::session::OPTIONS), &WordCounter);
        assert_eq!(prompt.total_tokens, factor.bound(counted));
        assert!(prompt.total_tokens <= 4_000 && prompt.exact == (factor == Factor::EXACT));
        assert_eq!(prompt.sections.iter().map(|section| section.tokens).sum::<u64>(), prompt.total_tokens);
    }
}

#[test]
fn counts_that_lie_are_found_out() {
    struct Lying(Transcript);
    impl History for Lying {
        fn messages(&self) -> u64 {
            self.0.messages()
        }
        fn turns(&self) -> u64 {
            self.0.turns()
        }
        fn turn_start(&self, turn: u64) -> crate::Result<u64> {
            self.0.turn_start(turn)
        }
        fn turn_around(&self, index: u64) -> crate::Result<Option<u64>> {
            self.0.turn_around(index)
        }
        fn tokens_before(&self, index: u64) -> crate::Result<u64> {
            Ok(self.0.tokens_before(index)? / 10)
        }
        fn message(&self, index: u64) -> crate::Result<std::sync::Arc<Stored>> {
            self.0.message(index)
        }
        fn kept_block(&self, turn: u64) -> crate::Result<Option<std::sync::Arc<Block>>> {
            self.0.kept_block(turn)
        }
    }
    let mut transcript = Transcript::default();
    for _ in 0..100 {
        transcript.push(Message::text(Role::User, &words(20)), &FRAMING, &WordCounter).unwrap();
    }
    let session = Session::new(5, 1_000, Budget::default(), false);
    let error = compose(&Inputs { history: &Lying(transcript), ..session.inputs(Volatile::Fresh(&[])) }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "never over the limit, whatever the store says");
}

/// Advice that is followed helps: with the limit raised by what the error says, the prompt fits.
#[test]
fn what_exceeds_the_limit_is_told_with_the_newest_message() {
    let mut session = Session::new(11, 400, Budget::default(), true);
    session.add(Message::text(Role::User, &words(40)));
    let small = Inputs { limit: 20, ..session.inputs(Volatile::Fresh(&[])) };
    let error = compose(&small).unwrap_err();
    let needed = error.fields().iter().find(|(name, _)| *name == "needed_tokens").map(|(_, value)| value.clone());
    let Some(crate::Field::Int(needed)) = needed else { panic!("{error}") };
    let enough = compose(&Inputs { limit: needed as u64, ..session.inputs(Volatile::Fresh(&[])) }).unwrap();
    assert_eq!(enough.total_tokens, needed as u64);
}

/// Neither more nor less is asked for than the prompt needs with its newest results shortened as far as they can be.
#[test]
fn what_exceeds_the_limit_is_told_with_shortened_results() {
    let call = |id: &str| Part::ToolCall(ToolCall { id: id.into(), name: "f".into(), arguments: "{}".into(), custom: false });
    for lengths in [[900, 3], [900, 400], [3, 4], [60, 49]] {
        let mut session = Session::new(11, 4_000, Budget::default(), true);
        session.add(Message::text(Role::User, "go"));
        session.add(Message { role: Role::Assistant, name: None, parts: vec![call("a"), call("b")] });
        for (id, length) in ["a", "b"].into_iter().zip(lengths) {
            session.add(Message::tool_result(id, &words(length), false));
        }
        let within = |limit: u64| compose(&Inputs { limit, ..session.inputs(Volatile::Fresh(&[])) });
        let error = within(20).unwrap_err();
        let of = |wanted: &str| error.fields().iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.clone());
        let Some(crate::Field::Int(needed)) = of("needed_tokens") else { panic!("{error}") };
        assert!(within(needed as u64).unwrap().total_tokens <= needed as u64);
        assert!(within(needed as u64 - 1).is_err(), "{lengths:?}: {needed}");
        let parts = ["tools_tokens", "system_tokens", "pinned_tokens", "summary_tokens", "newest_tokens", "frame_tokens"];
        let sum: i64 = parts.iter().map(|name| if let Some(crate::Field::Int(tokens)) = of(name) { tokens } else { 0 }).sum();
        assert_eq!((sum, error.message().contains("before its results are shortened")), (needed, lengths[0] > 48));
    }
}
