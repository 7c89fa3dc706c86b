//! The rule of the cut against its words, over random transcripts.

use super::super::framing::Framing;
use super::super::history::Transcript;
use super::super::message::{Message, Part, Role, ToolCall};
use super::super::testing::{Random, WordCounter, words};
use super::*;
use crate::tokens::Counter;

const FRAMING: Framing = Framing::GPT_4O;

fn push(transcript: &mut Transcript, message: Message) {
    transcript.push(message, &FRAMING, &WordCounter).unwrap();
}

fn call(id: &str) -> Message {
    let call = ToolCall { id: id.into(), name: "f".into(), arguments: "{}".into(), custom: false };
    Message { role: Role::Assistant, name: None, parts: vec![Part::ToolCall(call)] }
}

/// A transcript of plain turns and turns with tool rounds.
fn transcript(random: &mut Random, turns: u64) -> Transcript {
    let mut transcript = Transcript::default();
    for turn in 0..turns {
        push(&mut transcript, Message::text(Role::User, &words(1 + random.below(40))));
        for round in 0..random.below(4) {
            let id = format!("{turn}-{round}");
            push(&mut transcript, call(&id));
            if random.chance(80) {
                push(&mut transcript, Message::tool_result(&id, &words(random.below(60)), false));
            }
        }
        if random.chance(90) {
            push(&mut transcript, Message::text(Role::Assistant, &words(random.below(40))));
        }
    }
    transcript
}

/// The rule word by word: every turn, from the first.
fn naive(grid: Grid, history: &Transcript, pending: u64) -> Option<u64> {
    let base = history.tokens_before(grid.origin).unwrap();
    let stored = history.tally().tokens + pending - base;
    let k = if stored > grid.grant { (stored - grid.grant).div_ceil(grid.step) } else { 0 };
    (0..history.turns())
        .map(|turn| history.turn_start(turn).unwrap())
        .find(|start| *start >= grid.origin && history.tokens_before(*start).unwrap() >= base + k * grid.step)
}

#[test]
fn the_gallop_finds_what_the_rule_says() {
    let mut random = Random::new(3);
    for _ in 0..2_000 {
        let turns = 1 + random.below(30);
        let history = transcript(&mut random, turns);
        let origin = history.turn_start(random.below(history.turns())).unwrap();
        let grant = 1 + random.below(2_000);
        let grid = Grid { origin, grant, step: (grant / 4).max(1), rounds: 1, parts_turns: false, keeps_heads: true };
        let pending = history.tally().pending_tokens(&FRAMING, &WordCounter);
        let window = grid.window(&history, pending).unwrap();
        if let Some(start) = naive(grid, &history, pending) {
            assert_eq!(window.cut, Cut { start, ..Cut::default() });
            assert!(window.tokens <= grant);
        } else {
            assert_eq!(window.first_turn, history.turns() - 1);
        }
    }
}

/// A transcript whose window began at a turn before.
struct Before<'t>(&'t Transcript, u64);

impl History for Before<'_> {
    fn messages(&self) -> u64 {
        self.0.messages()
    }

    fn turns(&self) -> u64 {
        self.0.turns()
    }

    fn turn_start(&self, turn: u64) -> Result<u64> {
        self.0.turn_start(turn)
    }
    fn turn_around(&self, index: u64) -> Result<Option<u64>> {
        self.0.turn_around(index)
    }

    fn tokens_before(&self, index: u64) -> Result<u64> {
        self.0.tokens_before(index)
    }

    fn likely_turn(&self) -> Option<u64> {
        Some(self.1)
    }

    fn message(&self, index: u64) -> Result<Arc<Stored>> {
        self.0.message(index)
    }

    fn kept_block(&self, turn: u64) -> Result<Option<Arc<crate::context::Block>>> {
        self.0.kept_block(turn)
    }
}

#[test]
fn wherever_the_last_window_began_this_one_begins_where_the_rule_says() {
    let mut random = Random::new(8);
    for _ in 0..500 {
        let turns = 1 + random.below(30);
        let history = transcript(&mut random, turns);
        let origin = history.turn_start(random.below(history.turns())).unwrap();
        let grant = 1 + random.below(2_000);
        let grid = Grid { origin, grant, step: (grant / 4).max(1), rounds: 1, parts_turns: false, keeps_heads: true };
        let expected = grid.window(&history, 0).unwrap();
        for before in 0..=turns {
            assert_eq!(grid.window(&Before(&history, before), 0).unwrap(), expected, "{before} of {turns}");
        }
    }
}

#[test]
fn once_cut_history_holds_more_than_a_step_less_than_its_grant_less_one_turn() {
    let mut random = Random::new(4);
    for _ in 0..2_000 {
        let turns = 5 + random.below(60);
        let history = transcript(&mut random, turns);
        let grant = 500 + random.below(2_000);
        let grid = Grid { origin: 0, grant, step: grant / 4, rounds: 1, parts_turns: false, keeps_heads: true };
        let window = grid.window(&history, 0).unwrap();
        if window.steps == 0 || window.cut.resume.is_some() {
            continue;
        }
        let largest = (0..history.turns()).map(|turn| turn_tokens(&history, turn)).max().unwrap();
        assert!(window.tokens + largest > grant - grid.step, "{} of {grant}", window.tokens);
    }
}

fn turn_tokens(history: &Transcript, turn: u64) -> u64 {
    let start = history.tokens_before(history.turn_start(turn).unwrap()).unwrap();
    let next = history.turn_start(turn + 1).map_or(history.tally().tokens, |next| history.tokens_before(next).unwrap());
    next - start
}

#[test]
fn a_turn_larger_than_its_place_is_cut_at_rounds() {
    let mut random = Random::new(5);
    for _ in 0..500 {
        let mut history = transcript(&mut random, 2);
        push(&mut history, Message::text(Role::User, &words(10)));
        let user = history.messages() - 1;
        for round in 0..=random.below(30) {
            let id = format!("r{round}");
            push(&mut history, call(&id));
            push(&mut history, Message::tool_result(&id, &words(random.below(100)), false));
            let grid = Grid { origin: 0, grant: 400, step: 100, rounds: 1, parts_turns: false, keeps_heads: true };
            let window = grid.window(&history, 0).unwrap();
            assert!(window.tokens <= 400, "every round is at most 210");
            let Some(resume) = window.cut.resume else { continue };
            assert_eq!(window.parts, [user..user + 1, resume..history.messages()]);
            assert!(opens_round(&history.message(resume).unwrap().message));
        }
    }
}

#[test]
fn a_parted_window_fits_and_holds_the_last_answer_where_there_is_room() {
    let (mut random, mut parted, mut shortened) = (Random::new(12), 0, 0);
    for _ in 0..3_000 {
        let turns = 1 + random.below(6);
        let mut history = transcript(&mut random, turns);
        push(&mut history, Message::text(Role::User, &words(1 + random.below(600))));
        for round in 0..random.below(6) {
            push(&mut history, call(&format!("r{round}")));
            push(&mut history, Message::tool_result(&format!("r{round}"), &words(random.below(300)), false));
        }
        push(&mut history, Message::text(Role::Assistant, &words(1 + random.below(40))));
        let answer = history.messages() - 1;
        push(&mut history, Message::text(Role::User, &words(1 + random.below(300))));
        let grant = 300 + random.below(900);
        let grid = Grid { origin: 0, grant, step: grant / 4, rounds: 1, parts_turns: true, keeps_heads: true };
        let window = grid.window(&history, 0).unwrap();
        let newest = history.tally().tokens - history.tokens_before(answer + 1).unwrap();
        let with_answer = history.tally().tokens - history.tokens_before(answer).unwrap();
        assert!(window.tokens <= grant.max(newest), "{} of {grant}", window.tokens);
        if with_answer + OPENING_TOKENS <= grant {
            assert!(window.parts.iter().any(|part| part.contains(&answer)), "{window:?} of {grant}");
        }
        if window.first_turn + 1 < history.turns() && window.cut.resume.is_some() {
            (parted, shortened) = (parted + 1, shortened + u64::from(window.cut.shortened));
            assert!(opens_round(&history.message(window.parts[1].start).unwrap().message) || window.cut.shortened);
            assert_eq!(window.left_out(), window.parts[0].end..window.parts[1].start);
        }
    }
    assert!(parted > 300 && shortened > 30, "{parted}, {shortened}");
}

#[test]
fn a_turn_that_was_compacted_in_part_keeps_its_user_message() {
    let (mut random, mut whole, mut cut, mut behind) = (Random::new(14), 0, 0, 0);
    for _ in 0..2_000 {
        let turns = random.below(4);
        let mut history = transcript(&mut random, turns);
        push(&mut history, Message::text(Role::User, &words(1 + random.below(60))));
        let (user, turn) = (history.messages() - 1, history.turns() - 1);
        let rounds = 2 + random.below(12);
        for round in 0..rounds {
            push(&mut history, call(&format!("r{round}")));
            push(&mut history, Message::tool_result(&format!("r{round}"), &words(random.below(100)), false));
        }
        let origin = user + 1 + 2 * (1 + random.below(rounds - 1));
        for _ in 0..random.below(4) {
            push(&mut history, Message::text(Role::Assistant, &words(1 + random.below(80))));
            push(&mut history, Message::text(Role::User, &words(1 + random.below(80))));
        }
        let grant = 500 + random.below(1_500);
        let grid = Grid { origin, grant, step: grant / 4, rounds: 1, parts_turns: true, keeps_heads: true };
        let window = grid.window(&history, 0).unwrap();
        let shown: u64 = window.parts.iter().map(|part| tokens_of(&history, part).unwrap()).sum();
        assert_eq!(window.tokens, shown, "{window:?}");
        assert!(window.tokens <= grant, "the user message and the last round always fit here: {window:?}");
        if window.first_turn == turn {
            assert!(window.cut.start == user && window.cut.resume.is_some_and(|resume| resume >= origin), "{window:?}");
            assert!(window.cut.shortened || window.parts[0] == (user..user + 1), "{window:?}");
            assert!(opens_round(&history.message(window.parts[1].start).unwrap().message) || window.parts[1].is_empty());
        } else {
            assert!(window.first_turn > turn && window.cut.start > origin, "{window:?}");
        }
        let stored = history.tally().tokens - history.tokens_before(origin).unwrap() + tokens_of(&history, &(user..user + 1)).unwrap();
        assert_eq!(window.stored_tokens, stored);
        if stored <= grant {
            assert_eq!((window.cut.resume, window.parts), (Some(origin), [user..user + 1, origin..history.messages()]));
            whole += 1;
        } else {
            cut += 1;
            behind += u64::from(window.first_turn > turn);
        }
        let older = Grid { keeps_heads: false, ..grid }.window(&history, 0).unwrap();
        assert!(older.cut.start >= origin, "as in epochs of older renderers");
    }
    assert!(whole > 300 && cut > 300 && behind > 100, "{whole}, {cut}, {behind}");
}

#[test]
fn a_turn_that_goes_on_keeps_its_user_message_where_nothing_stands_behind_the_origin() {
    let mut history = Transcript::default();
    push(&mut history, Message::text(Role::User, "before"));
    push(&mut history, Message::text(Role::Assistant, "done"));
    let grid = |history: &Transcript, keeps_heads| {
        let grid = Grid { origin: history.messages(), grant: 400, step: 100, rounds: 1, parts_turns: true, keeps_heads };
        grid.window(history, 0).unwrap()
    };
    assert_eq!(grid(&history, true), grid(&history, false), "it was answered");
    assert_eq!(grid(&history, true).tokens, 0);
    push(&mut history, Message::text(Role::User, "fix it"));
    let window = grid(&history, true);
    assert_eq!((window.cut, window.parts), (Cut { start: 2, ..Cut::default() }, [2..3, 3..3]));
    for round in 0..3 {
        push(&mut history, call(&format!("r{round}")));
        push(&mut history, Message::tool_result(&format!("r{round}"), &words(60), false));
    }
    let (window, end) = (grid(&history, true), history.messages());
    assert_eq!((window.cut.start, window.cut.resume, window.first_turn), (2, Some(end), 1));
    assert_eq!((window.left_out(), window.parts), (3..end, [2..3, end..end]));
    assert_eq!(window.tokens, tokens_of(&history, &(2..3)).unwrap());
    assert!(grid(&history, false).parts.iter().all(Range::is_empty), "as in epochs of older renderers");
    // The next round stands behind it, and the window begins alike.
    let origin = Grid { origin: end, grant: 400, step: 100, rounds: 1, parts_turns: true, keeps_heads: true };
    push(&mut history, call("next"));
    assert_eq!(origin.window(&history, 0).unwrap().cut, window.cut);
    push(&mut history, Message::tool_result("next", "done", false));
    // An answer ends the turn, and rounds behind it go on with it.
    push(&mut history, Message::text(Role::Assistant, "half of it is fixed"));
    assert!(grid(&history, true).parts.iter().all(Range::is_empty));
    push(&mut history, call("more"));
    push(&mut history, Message::tool_result("more", "done", false));
    assert_eq!(grid(&history, true).parts[0], 2..3);
}

#[test]
fn windows_with_the_same_cut_begin_alike_however_they_grow() {
    let (mut random, mut alike, mut turned) = (Random::new(13), 0, 0);
    for _ in 0..400 {
        let mut history = transcript(&mut random, 2);
        let grant = 300 + random.below(900);
        let grid = Grid { origin: 0, grant, step: grant / 4, rounds: 1, parts_turns: true, keeps_heads: true };
        let mut before: Option<Window> = None;
        for round in 0..12 {
            if random.chance(30) {
                push(&mut history, Message::text(Role::User, &words(1 + random.below(400))));
            } else {
                push(&mut history, call(&format!("c{round}")));
                push(&mut history, Message::tool_result(&format!("c{round}"), &words(random.below(300)), false));
            }
            let window = grid.window(&history, 0).unwrap();
            if let Some(before) = before.filter(|before| before.cut == window.cut && window.cut.resume.is_some()) {
                assert_eq!((&before.parts[0], before.parts[1].start), (&window.parts[0], window.parts[1].start), "{grid:?}");
                alike += 1;
                turned += u64::from(window.cut.shortened);
            }
            before = Some(window);
        }
    }
    assert!(alike > 50 && turned > 5, "{alike}, {turned}");
}

#[test]
fn an_origin_is_found_by_recounting_what_fits() {
    let mut random = Random::new(6);
    for _ in 0..500 {
        let turns = 1 + random.below(20);
        let history = transcript(&mut random, turns);
        let grant = random.below(1_500);
        let mut asked = 0;
        let mut recount = |index: u64| {
            asked += 1;
            Ok(history.message(index)?.cost.tokens * 2)
        };
        let origin = origin_within(&history, grant, &mut recount).unwrap();
        let from = |start: u64| (start..history.messages()).map(|index| history.message(index).unwrap().cost.tokens * 2).sum::<u64>();
        let starts = (0..history.turns()).map(|turn| history.turn_start(turn).unwrap());
        let newest = history.turn_start(history.turns() - 1).unwrap();
        let fitting = starts.clone().find(|start| from(*start) <= grant).unwrap_or(newest);
        let before_newest = history.turn_start(history.turns().saturating_sub(2)).unwrap();
        assert_eq!(origin, if fitting == newest { before_newest } else { fitting });
        let before = starts.filter(|start| *start < origin).max().unwrap_or(0);
        assert!(asked <= history.messages() - before, "no further than the first turn that does not fit");
    }
}

/// Counts how often the history is asked.
struct Counted<'a>(&'a Transcript, std::cell::Cell<u64>);

impl History for Counted<'_> {
    fn messages(&self) -> u64 {
        self.0.messages()
    }
    fn turns(&self) -> u64 {
        self.0.turns()
    }
    fn turn_start(&self, turn: u64) -> crate::Result<u64> {
        self.1.set(self.1.get() + 1);
        self.0.turn_start(turn)
    }
    fn turn_around(&self, index: u64) -> crate::Result<Option<u64>> {
        self.0.turn_around(index)
    }
    fn tokens_before(&self, index: u64) -> crate::Result<u64> {
        self.1.set(self.1.get() + 1);
        self.0.tokens_before(index)
    }
    fn message(&self, index: u64) -> crate::Result<std::sync::Arc<super::super::history::Stored>> {
        self.1.set(self.1.get() + 1);
        self.0.message(index)
    }
    fn is_answered(&self) -> crate::Result<bool> {
        self.0.is_answered()
    }
    fn kept_block(&self, turn: u64) -> crate::Result<Option<std::sync::Arc<super::super::block::Block>>> {
        self.0.kept_block(turn)
    }
}

#[test]
fn the_search_costs_the_logarithm_of_the_window() {
    let mut history = Transcript::default();
    let mut look_ups = Vec::new();
    for turn in 0..50_000 {
        push(&mut history, Message::text(Role::User, "word word"));
        if [999, 49_999].contains(&turn) {
            let counted = Counted(&history, std::cell::Cell::new(0));
            Grid { origin: 0, grant: 1_000, step: 250, rounds: 1, parts_turns: false, keeps_heads: true }.window(&counted, 0).unwrap();
            look_ups.push(counted.1.get());
        }
    }
    assert!(look_ups.iter().all(|count| *count < 50), "{look_ups:?}");
    assert!(look_ups[1] <= look_ups[0] + 6, "flat in the length of the history: {look_ups:?}");
    assert!(WordCounter.count("word word") > 0);
}

#[test]
fn whether_a_prompt_fits_costs_the_window_and_not_the_turn() {
    let (budget, fixed, mut look_ups) = (super::super::limit::Budget::default(), super::super::fixed::Fixed::default(), Vec::new());
    let mut history = Transcript::default();
    push(&mut history, Message::text(Role::User, "fix it"));
    for round in 0..4_000 {
        push(&mut history, call(&format!("r{round}")));
        push(&mut history, Message::tool_result(&format!("r{round}"), &words(40), false));
        if ![199, 3_999].contains(&round) {
            continue;
        }
        let opening = super::super::epoch::Opening {
            previous: None,
            reason: super::super::epoch::Reason::Compacted,
            origin: history.messages() - 6,
            pinned: Vec::new(),
            versions: [0; 3],
            factor: crate::tokens::Factor::EXACT,
            fixed_tokens: 0,
        };
        let epoch = super::super::epoch::Epoch::open(opening, 2_000, &budget, &history, 0).unwrap();
        let counted = Counted(&history, std::cell::Cell::new(0));
        let inputs = super::super::compose::Inputs {
            framing: &FRAMING,
            counter: &WordCounter,
            limit: 2_000,
            output_tokens: 0,
            budget: &budget,
            epoch: &epoch,
            fixed: &fixed,
            history: &counted,
            volatile: super::super::compose::Volatile::Fresh(&[]),
            append_only: false,
            bounds: None,
        };
        super::super::compose::check(&inputs).unwrap();
        look_ups.push(counted.1.get());
        let prompt = super::super::compose::compose(&inputs).unwrap();
        assert!(prompt.window.rounds.is_some_and(|line| line.cost.tokens <= 96));
        let least = super::super::compose::Inputs { limit: 8, ..inputs };
        assert!(super::super::compose::check(&least).is_err() && super::super::compose::compose(&least).is_err());
    }
    assert!(look_ups[1] <= look_ups[0] + 20, "{look_ups:?}");
}
