//! Properties that a cache relies on: the prefix within an epoch, the share before the boundary, the use of the limit.

use super::super::testing::{WordCounter, words};
use super::super::*;
use super::session::{FRAMING, OPTIONS, Session, check};

fn sliding() -> Budget {
    Budget { cut_step: Share::new(0), ..Budget::default() }
}

#[test]
fn every_prompt_of_many_sessions_holds() {
    for seed in 0..60 {
        let budget = match seed % 4 {
            0 => sliding(),
            1 => Budget { order: Order::Classic, ..Budget::default() },
            _ => Budget::default(),
        };
        let mut session = Session::new(seed, 700 + 150 * (seed % 7), budget, seed % 3 != 0);
        session.append_only = seed % 5 == 4;
        for _ in 0..25 {
            session.turn(60, |_, prompt| assert!(prompt.total_tokens > 0));
        }
    }
}

#[test]
fn a_prompt_without_an_open_user_message_ends_with_its_block() {
    let mut session = Session::new(5, 900, Budget::default(), true);
    for _ in 0..20 {
        session.turn(50, |_, _| {});
        let prompt = session.assemble();
        if prompt.block.is_some() {
            assert!(matches!(
                prompt.segments.last().map(|segment| segment.kind),
                Some(segment::SegmentKind::Block | segment::SegmentKind::Message)
            ));
        }
    }
}

/// The block of an answered turn stands at the end of the prompt, and stays out of what was answered.
#[test]
fn a_turn_that_goes_on_behind_its_answer_keeps_its_prefix() {
    let mut blocks = 0;
    for seed in 0..30 {
        let mut session = Session::new(seed, 3_000, Budget::default(), true);
        session.turn(40, |_, _| {});
        for _ in 0..4 {
            session.add(Message::text(Role::User, "which port does payments-api use?"));
            session.assemble();
            session.add(Message::text(Role::Assistant, "I will look it up."));
            session.assemble(); // each prompt is held against the one before
            if session.random.chance(30) {
                session.add(Message::text(Role::System, "a note"));
                session.assemble();
            }
            for _ in 0..=session.random.below(2) {
                session.round(40);
                let prompt = session.assemble();
                assert!(!prompt.carried);
                blocks += u64::from(prompt.segments.last().is_some_and(|last| last.kind == segment::SegmentKind::Block));
            }
            if session.random.chance(50) {
                session.add(Message::text(Role::Assistant, "It is 8443."));
                session.assemble();
            }
        }
    }
    assert!(blocks > 50, "the control: {blocks} blocks were shown");
}

/// 1,000 turns of 500 tokens at gpt-4o's default limit.
#[test]
fn nine_tenths_of_all_tokens_stand_before_the_boundary() {
    let limit = input_limit(128_000, 4_096, Share::new(700_000), None).unwrap();
    let mut session = Session::new(1, limit, Budget::default(), false);
    session.check_every = 40;
    let (mut sent, mut before, mut reread, mut fullest, mut emptiest) = (0, 0, 0, 0, u64::MAX);
    let mut previous: Option<Prompt> = None;
    for turn in 0..1_000 {
        session.add(Message::text(Role::User, &words(123)));
        let memories: Vec<Item> = (0..8)
            .map(|n| super::session::item("recalled", &format!("memory {turn} {n} {}", words(15)), n + 8 * turn, Some(900)))
            .collect();
        let prompt = session.assemble_with(&memories);
        assert!(prompt.block.as_ref().is_some_and(|block| block.items.len() == 8));
        sent += prompt.total_tokens;
        before += prompt.boundary().map_or(0, |boundary| boundary.tokens);
        if let Some(previous) = &previous {
            let shared = segment::shared_segments(&previous.chain, &prompt.chain);
            reread += prompt.segments[..shared].iter().map(|segment| segment.tokens).sum::<u64>();
        }
        if session.epoch.number > 0 {
            (fullest, emptiest) = (fullest.max(prompt.total_tokens), emptiest.min(prompt.total_tokens));
        }
        previous = Some(prompt);
        session.add(Message::text(Role::Assistant, &words(123)));
    }
    println!(
        "before the boundary {:.4}, the same bytes as before {:.4}, fill {:.3} to {:.3}, {} epochs",
        before as f64 / sent as f64,
        reread as f64 / sent as f64,
        emptiest as f64 / limit as f64,
        fullest as f64 / limit as f64,
        session.epoch.number + 1
    );
    assert!(before * 10 >= sent * 9);
    assert!(reread * 10 >= sent * 9, "and they are the bytes of the call before");
    assert!(fullest <= limit);
}

/// Tokens of the largest turn so far, with the block that stayed in it.
fn largest_turn(transcript: &Transcript) -> u64 {
    let start = |turn: u64| transcript.turn_start(turn).map_or(transcript.messages(), |start| start);
    let before = |turn: u64| transcript.tokens_before(start(turn)).unwrap();
    (0..transcript.turns()).map(|turn| before(turn + 1) - before(turn)).max().unwrap_or(0)
}

#[test]
fn a_sliding_window_uses_the_limit_less_one_turn() {
    let mut on_offer = 0;
    for seed in 0..20 {
        let mut session = Session::new(seed, 3_000, sliding(), false);
        for _ in 0..60 {
            session.turn(120, |session, prompt| {
                if session.transcript.tally().tokens > 3_000 {
                    on_offer += 1;
                    let used = prompt.total_tokens + largest_turn(&session.transcript);
                    assert!(used >= 2_850, "{} of 3,000", prompt.total_tokens);
                }
            });
        }
    }
    assert!(on_offer > 500, "the control: that much history was on offer");
}

#[test]
fn a_stepping_window_holds_its_share_once_it_is_cut() {
    let mut cut = 0;
    for seed in 0..20 {
        let mut session = Session::new(seed, 3_000, Budget::default(), seed % 2 == 0);
        for _ in 0..60 {
            session.turn(20, |session, prompt| {
                let grid = session.epoch.grid(3_000, &session.budget).unwrap();
                if prompt.window.steps > 0 && prompt.window.cut.resume.is_none() {
                    cut += 1;
                    let held = prompt.window.tokens + largest_turn(&session.transcript);
                    assert!(held > grid.grant - grid.step, "{} of {}", prompt.window.tokens, grid.grant);
                }
            });
        }
    }
    assert!(cut > 500, "the control: windows were cut");
}

/// The transcript as it was when it had `1` messages.
struct Then<'a>(&'a Transcript, u64);

impl History for Then<'_> {
    fn messages(&self) -> u64 {
        self.1
    }
    fn turns(&self) -> u64 {
        (0..self.0.turns()).take_while(|turn| self.0.turn_start(*turn).unwrap() < self.1).count() as u64
    }
    fn turn_start(&self, turn: u64) -> crate::Result<u64> {
        assert!(turn < self.turns(), "later turns did not exist");
        self.0.turn_start(turn)
    }
    fn turn_around(&self, index: u64) -> crate::Result<Option<u64>> {
        self.0.turn_around(index)
    }
    fn tokens_before(&self, index: u64) -> crate::Result<u64> {
        assert!(index <= self.1, "later messages did not exist");
        if index < self.1 { self.0.tokens_before(index) } else { Ok(Tally::resume(self.0, index, &FRAMING, &WordCounter)?.tokens) }
    }
    fn message(&self, index: u64) -> crate::Result<std::sync::Arc<Stored>> {
        assert!(index < self.1, "later messages did not exist");
        self.0.message(index)
    }
    fn kept_block(&self, turn: u64) -> crate::Result<Option<std::sync::Arc<Block>>> {
        self.0.kept_block(turn)
    }
}

/// A ledger keeps, of each call: the epoch, the fixed sections, the number of messages, the items shown, the tokens set aside.
#[test]
fn an_old_call_is_composed_again_from_its_ledger_entry() {
    for seed in 0..8 {
        let mut session = Session::new(seed, 1_200, Budget::default(), true);
        let mut ledger = Vec::new();
        for _ in 0..25 {
            session.turn(40, |session, prompt| {
                ledger.push((session.epoch.clone(), session.fixed.clone(), session.transcript.messages(), prompt.clone()));
            });
        }
        for (epoch, fixed, messages, prompt) in ledger {
            let (history, items) = (Then(&session.transcript, messages), prompt.block.as_ref().map_or(&[][..], |block| &block.items));
            let volatile = Volatile::Sent(items, prompt.set_aside);
            let again = compose(&Inputs { epoch: &epoch, fixed: &fixed, history: &history, ..session.inputs(volatile) }).unwrap();
            assert_eq!(again.chain, prompt.chain);
            assert!(render::to_openai(&again, OPTIONS) == render::to_openai(&prompt, OPTIONS), "the same bytes, after the session went on");
        }
    }
}

#[test]
fn another_limit_for_one_call_has_its_own_grid_and_keeps_its_own_prefix() {
    let mut session = Session::new(3, 4_000, Budget::default(), true);
    for _ in 0..40 {
        session.turn(30, |_, _| {});
    }
    session.add(Message::text(Role::User, "now"));
    let own = session.assemble();
    let epoch = session.epoch.clone();
    let small = compose(&Inputs { limit: 1_500, ..session.inputs(Volatile::Fresh(&[])) }).unwrap();
    check(&small);
    assert!(small.window.cut.start > own.window.cut.start);
    assert_eq!(session.epoch, epoch, "a call with a limit of its own writes nothing");
    let same = compose(&Inputs { limit: 4_000, ..session.inputs(Volatile::Fresh(&[])) }).unwrap();
    let boundary = own.boundary().unwrap();
    assert_eq!(same.chain[boundary.segments], boundary.hash, "equal limits, equal prefixes");
    assert_eq!(same.window.cut, own.window.cut, "equal limits, equal windows");
}

#[test]
fn forgetting_something_pinned_does_not_move_the_cut() {
    let mut session = Session::new(9, 2_000, Budget::default(), false);
    for _ in 0..60 {
        session.turn(30, |_, _| {});
    }
    session.add(Message::text(Role::User, "now"));
    let before = compose(&session.inputs(Volatile::Fresh(&[]))).unwrap();
    assert!(session.fixed.pinned.is_some());
    let forgotten = Fixed { pinned: None, ..session.fixed.clone() };
    let after = compose(&Inputs { fixed: &forgotten, ..session.inputs(Volatile::Fresh(&[])) }).unwrap();
    check(&after);
    assert_eq!(before.window, after.window);
    assert!(after.total_tokens < before.total_tokens);
}
