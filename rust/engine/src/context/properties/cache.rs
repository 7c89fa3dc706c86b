//! What a cache keeps: the prefix within an epoch, the share before the boundary, the use of the limit.

use super::super::testing::words;
use super::super::*;
use super::session::{Session, check};

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

#[test]
fn a_sliding_window_uses_the_limit_less_one_turn() {
    for seed in 0..20 {
        let mut session = Session::new(seed, 3_000, sliding(), false);
        let mut largest = 0;
        for turn in 0..60 {
            let before = session.transcript.tally().tokens;
            session.turn(40, |session, prompt| {
                if turn > 40 && session.transcript.tally().tokens > 3_000 {
                    assert!(prompt.total_tokens + largest.max(700) >= 2_850, "{} of 3,000", prompt.total_tokens);
                }
            });
            largest = largest.max(session.transcript.tally().tokens - before);
        }
    }
}

#[test]
fn a_stepping_window_holds_its_share_once_it_is_cut() {
    for seed in 0..20 {
        let mut session = Session::new(seed, 3_000, Budget::default(), seed % 2 == 0);
        let mut largest = 0;
        for _ in 0..60 {
            let before = session.transcript.tally().tokens;
            session.turn(20, |session, prompt| {
                let grid = session.epoch.grid(3_000, &session.budget).unwrap();
                let newest = session.transcript.tally().tokens - before;
                if prompt.window.steps > 0 && prompt.window.cut.resume.is_none() {
                    assert!(
                        prompt.window.tokens + largest.max(newest) > grid.grant - grid.step,
                        "{} of {}",
                        prompt.window.tokens,
                        grid.grant
                    );
                }
            });
            largest = largest.max(session.transcript.tally().tokens - before);
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
