//! What laying out and rendering a prompt costs, without counting and without a store: `cargo bench --bench context`.
//!
//! Messages of 250 tokens, a limit of 8,000, 20 candidates of 60 tokens. The counter is free (a quarter of the bytes), so the
//! numbers are those of this module alone. Medians of 41 rounds of at least 5 ms.

use std::hint::black_box;
use std::time::{Duration, Instant};

use memspan_engine::context::{
    Budget, Counter, Epoch, Factor, Fixed, FixedText, Form, Framing, History, Inputs, Item, Message, Opening, Prompt, Reason, Role,
    Transcript, Volatile, compose, fit, render,
};

struct Quarter;

impl Counter for Quarter {
    fn count(&self, text: &str) -> u64 {
        text.len() as u64 / 4
    }
    fn splits_at_tags(&self) -> bool {
        true
    }
}

const FRAMING: Framing = Framing::GPT_4O;
const LIMIT: u64 = 8_000;

fn main() {
    if cfg!(debug_assertions) {
        return eprintln!("a debug build is not timed: cargo bench --bench context");
    }
    println!("{:>9} {:>12} {:>12} {:>12}   (microseconds)", "messages", "compose", "to_openai", "to_anthropic");
    for messages in [50, 500, 5_000, 50_000] {
        line(messages);
    }
    fit_line(5_000);
}

fn line(messages: usize) {
    let transcript = transcript(messages);
    let fixed = Fixed { system: Some(FixedText::system(&"You help. ".repeat(40), &FRAMING, &Quarter)), ..Fixed::default() };
    let budget = Budget::default();
    let epoch = epoch(&fixed, &budget, &transcript);
    let candidates: Vec<Item> = (0..20).map(candidate).collect();
    let inputs = Inputs {
        framing: &FRAMING,
        counter: &Quarter,
        limit: LIMIT,
        output_tokens: 500,
        budget: &budget,
        epoch: &epoch,
        fixed: &fixed,
        history: &transcript,
        volatile: Volatile::Fresh(&candidates),
        append_only: false,
        bounds: None,
    };
    let prompt: Prompt = compose(&inputs).expect("8,000 tokens hold a message of 250");
    let composed = median(|| drop(black_box(compose(black_box(&inputs)))));
    let openai = median(|| drop(black_box(render::to_openai(black_box(&prompt), render::RequestOptions::default()))));
    let anthropic = median(|| drop(black_box(render::to_anthropic(black_box(&prompt), render::RequestOptions::default()))));
    println!(
        "{messages:>9} {composed:>12.2} {openai:>12.2} {anthropic:>12.2}   {} tokens, {} segments",
        prompt.total_tokens,
        prompt.segments.len()
    );
}

fn fit_line(count: usize) {
    let messages: Vec<Message> = (0..count).map(message).collect();
    let fit =
        || fit(count, &mut |index| Ok(messages[index].clone()), None, LIMIT, &FRAMING, &Quarter).expect("a message of 250 tokens fits");
    let kept = fit().kept.len();
    println!("fit {count}: {:.2} us, {kept} kept", median(|| drop(black_box(fit()))));
}

fn message(index: usize) -> Message {
    let role = if index.is_multiple_of(2) { Role::User } else { Role::Assistant };
    Message::text(
        role,
        &format!("message {index:>6} {}", "plain words, a \"quoted\" one, of a length that is usual in prose and in replies\n".repeat(13)),
    )
}

fn transcript(messages: usize) -> Transcript {
    let mut transcript = Transcript::default();
    for index in 0..=messages / 2 * 2 {
        transcript.push(message(index), &FRAMING, &Quarter).expect("plain messages");
    }
    transcript
}

fn epoch(fixed: &Fixed, budget: &Budget, history: &dyn History) -> Epoch {
    let fixed_tokens = fixed.tokens(&FRAMING);
    let opening = Opening {
        previous: None,
        reason: Reason::Began,
        origin: 0,
        pinned: Vec::new(),
        versions: [0, 1, 0],
        factor: Factor::EXACT,
        fixed_tokens,
    };
    Epoch::open(opening, LIMIT, budget, history, 0).expect("the system prompt fits")
}

fn candidate(index: u64) -> Item {
    let text = format!("memory {index} {}", "says this and that ".repeat(12)).into();
    let attributes = vec![("kind".into(), "semantic".into())];
    Item {
        section: "recalled".into(),
        id: "m".into(),
        attributes,
        text,
        memory: None,
        message: None,
        document: None,
        form: Form::dated(),
        score: Some(1_000 - index as i64),
    }
}

/// Microseconds of one call.
fn median(mut call: impl FnMut()) -> f64 {
    let mut rounds: Vec<f64> = (0..41).map(|_| round(&mut call)).collect();
    rounds.sort_by(f64::total_cmp);
    rounds[20]
}

fn round(call: &mut impl FnMut()) -> f64 {
    let (start, mut calls) = (Instant::now(), 0u32);
    while start.elapsed() < Duration::from_millis(5) {
        call();
        calls += 1;
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
}
