//! What format 4 added, for its golden store: claims that were heard and where they come from, what waits to be approved, relations, how
//! far a session was learnt from; of sessions the metadata, policy, summary, notes, lease, partial reply, refused limit and what was
//! learned of a model; and a scope that was erased. Not here: what earlier formats know (`golden.rs`).

use std::fmt::Write as _;

use memspan_engine::compaction;
use memspan_engine::context::render::{RequestOptions, to_openai};
use memspan_engine::context::{Factor, Share};
use memspan_engine::engine::Engine;
use memspan_engine::life::relations::{self, Relation};
use memspan_engine::memory::{LearnMark, Learning, NewMemory, Provenance};
use memspan_engine::models::Model;
use memspan_engine::scope::{Scope, ScopeType};
use memspan_engine::session::{self, Ask, NewMessage, Options, PartialReply, Policy, Refusal, Session, StoredSummary};
use memspan_engine::tokens::CachedCounter;

use super::support::{ALL_KINDS, one, with_vector};
use super::{DAY, START};

const NOW: i64 = START + 100 * DAY;

fn listener() -> Scope {
    Scope::new(None, ScopeType::User, "u-43").expect("a name")
}

/// Every kind of record that this format added.
pub fn fill(engine: &Engine) {
    learn(engine);
    relate(engine);
    talk(engine);
    bound(engine);
    let gone = Scope::new(None, ScopeType::User, "gone").expect("a name");
    one(engine, &gone, with_vector("The door code is 4711"), NOW);
    engine.erase(&gone).expect("erased");
}

/// A claim that somebody made in a message of the session.
fn claim(text: &str, message: u64, learning: Learning) -> NewMemory {
    let provenance =
        Provenance { session: Some("talk".into()), message: Some(message), writer: Some("rules".into()), ..Provenance::default() };
    NewMemory { provenance, learning: Some(Box::new(learning)), occurred_at: Some(NOW + message as i64), ..with_vector(text) }
}

fn learn(engine: &Engine) {
    let user = listener();
    let (begun, first) = (LearnMark::default(), LearnMark { next: 2, edits: 1, created_at: NOW });
    let heard = vec![
        claim("Lives in Oslo", 0, Learning::default()),
        claim("Is allergic to nuts", 1, Learning::default()),
        claim("Sends invoices to eve@example.com", 1, Learning { doubt: Some("a web page said so".into()), ..Learning::default() }),
        claim("Has a new card", 1, Learning { doubt: Some("a tool said so".into()), ..Learning::default() }),
    ];
    let heard = engine.learn(&user, heard, Some(("talk".into(), begun, first)), |_| Ok(true), NOW).expect("learnt").expect("first");
    let near: Vec<u32> = heard.iter().map(|one| one.memory.number).collect();
    let again = vec![
        claim("Lives in Oslo", 5, Learning { near: near.clone(), ..Learning::default() }),
        claim("Is not allergic to nuts", 6, Learning { near: near.clone(), ..Learning::default() }),
        claim("Lives in Bergen", 7, Learning { near, replaces: Some("Oslo".into()), ..Learning::default() }),
    ];
    engine
        .learn(&user, again, Some(("talk".into(), first, LearnMark { next: 8, ..first })), |_| Ok(true), NOW + DAY)
        .expect("learnt")
        .expect("second");
    engine.approve(&user, "mem-4", NOW + 2 * DAY).expect("approved");
    let halves =
        ["Walks the dog at seven", "Walks the dog at dawn"].map(|text| one(engine, &user, with_vector(text), NOW + 2 * DAY).memory);
    let originals = halves.iter().map(|memory| (memory.number, memory.revision)).collect();
    engine
        .merge(&user, originals, None, Some(with_vector("Walks the dog at dawn, about seven")), NOW + 3 * DAY)
        .expect("merged")
        .expect("new");
}

fn relate(engine: &Engine) {
    let say = |subject: &str, relation: &str, object: &str, holds: bool, now: i64| {
        let (subject, relation, object) = (subject.to_owned(), relation.to_owned(), object.to_owned());
        let given = Relation { number: 0, subject, relation, object, since: now, until: None, memory: Some(1) };
        relations::relate(engine, &listener(), &given, holds, now).expect("related");
    };
    say("Anna", "works with", "Bob", true, NOW);
    say("Bob", "owns", "payments-api", true, NOW + DAY);
    say("Anna", "works with", "Bob", false, NOW + 2 * DAY);
}

fn opened<'s>(engine: &'s Engine, scope: &'s Scope, id: &'s str, model: &str) -> Session<'s> {
    let session = Session { engine, scope, id };
    session.open(Options { model: Some(Model::named(model).expect("known")), ..Options::default() }, NOW).expect("opened");
    session
}

fn add(session: &Session<'_>, role: &str, text: &str, now: i64) {
    let message = format!(r#"{{"role":"{role}","content":"{text}"}}"#);
    session.add(NewMessage::given(message), None, now).expect("added");
}

fn talk(engine: &Engine) {
    let scope = listener();
    let session = opened(engine, &scope, "talk", "gpt-4o");
    session.set_metadata(b"\x81\xa5topic\xa6deploy".to_vec(), NOW).expect("kept");
    session.set_policy(Policy { at: Share::new(500_000), every_turns: 30, result_tokens: 900, task_ended: 0 }, NOW).expect("set");
    for at in 0..8_i64 {
        let ask = format!("Step {at}: we decided that service-{at} listens on port {}. What is next?", 9000 + at);
        add(&session, "user", &ask, NOW + at * 2);
        add(&session, "assistant", &format!("I will deploy service-{at} on Friday."), NOW + at * 2 + 1);
    }
    let draft = session.draft(Some(2), Some(300), 1).expect("read").expect("old turns");
    let counter = CachedCounter::new(draft.model.encoding);
    let made = compaction::compact(draft.previous.as_ref(), &draft.sources, &[], draft.max_tokens, &counter).summary;
    let made = StoredSummary { summary: made, checked: "rules".into(), ..StoredSummary::default() };
    session.commit(&draft, made, NOW + DAY).expect("compacted");
    session.add_note("Never deploy on a Friday", NOW + DAY).expect("noted");
    add(&session, "user", "And now?", NOW + DAY);
    session.take_lease("worker-1", NOW + 1000 * DAY, NOW + DAY).expect("free");
    let response = r#"{"choices":[{"message":{"role":"assistant","content":"Now we"}}]}"#.to_owned();
    let partial = PartialReply { messages: 17, began_at: NOW + DAY, written_at: NOW + DAY + 1, error: Some("reset".into()), response };
    session.keep_partial(partial, None).expect("kept");
}

/// A model whose tokenizer is not known: what was learned of it, and a prompt that its provider refused.
fn bound(engine: &Engine) {
    let scope = listener();
    let session = opened(engine, &scope, "bound", "claude-sonnet-4-5");
    for at in 0..12_i64 {
        let text = format!("paragraph {at} of a long story that goes on and on. ").repeat(60);
        add(&session, "user", &text, NOW + at * 2);
        add(&session, "assistant", "So it is.", NOW + at * 2 + 1);
    }
    add(&session, "user", "Go on.", NOW + 30);
    let prompt = session.assemble(&Ask { now: NOW + 31, ..Ask::default() }).expect("assembled");
    let (input, limit) = (prompt.prompt.counted_tokens * 13 / 10, prompt.prompt.counted_tokens / 2);
    let refusal = Refusal { input_tokens: Some(input), limit_tokens: Some(limit), output_tokens: None };
    session.refused(&prompt, refusal, NOW + 32).expect("smaller");
}

/// What the store answers of all that, a line each.
pub fn lines(engine: &Engine) -> String {
    let (user, now, mut lines) = (listener(), NOW + 10 * DAY, String::new());
    for memory in engine.memories(&user, 0, usize::MAX, ALL_KINDS, now).expect("listed") {
        let from = &memory.provenance;
        let _ = writeln!(
            lines,
            "{} {:?} {:.3} {:?} {:?} {:?} {:?} {} {} {:?}",
            memory.id(),
            memory.text,
            memory.confidence,
            from.session,
            from.message,
            from.writer,
            from.derived_from,
            from.reinforced,
            from.last_seen,
            from.disputes
        );
    }
    for memory in engine.quarantined(&user).expect("listed") {
        let _ = writeln!(lines, "waits: {} {:?} {:?}", memory.id(), memory.text, memory.ending.and_then(|ending| ending.reason));
    }
    let mark = engine.learn_mark(&user, "talk").expect("read");
    let _ = writeln!(lines, "learnt: {} {} {}", mark.next, mark.edits, mark.created_at);
    for at in [Some(NOW), None] {
        for one in ["Anna", "Bob"].iter().flat_map(|name| relations::neighbors(engine, &user, name, at, NOW + 10 * DAY).expect("read")) {
            let _ = writeln!(lines, "{} {} {} {} {:?} {:?}", one.subject, one.relation, one.object, one.since, one.until, one.memory);
        }
    }
    session_lines(&Session { engine, scope: &user, id: "talk" }, &mut lines);
    session_lines(&Session { engine, scope: &user, id: "bound" }, &mut lines);
    for one in session::learned(engine).expect("read") {
        let _ = writeln!(lines, "{}: {:?} {}", one.model, one.learned.factors().map(Factor::per_mille), one.learned.exceeded());
    }
    lines
}

fn session_lines(session: &Session<'_>, lines: &mut String) {
    let now = NOW + 10 * DAY;
    let _ = writeln!(lines, "{} {:02x?} {:?}", session.id, session.metadata().expect("read"), session.notes().expect("read"));
    if let Some(stored) = session.summary().expect("read") {
        let _ = writeln!(lines, "summary of {:?} by {} at {}", stored.summary.covers, stored.checked, stored.made_at);
        for line in &stored.summary.lines {
            let _ = writeln!(lines, "  {} {:?} {:?}", line.section as u8, line.text, line.sources);
        }
    }
    if let Some(lease) = session.lease(now).expect("read") {
        let _ = writeln!(lines, "lease {} {} {}", lease.holder, lease.since, lease.until);
    }
    if let Some(reply) = session.partial_reply().expect("read") {
        let _ = writeln!(lines, "{} {} {} {:?} {}", reply.messages, reply.began_at, reply.written_at, reply.error, reply.response);
    }
    let prompt = session.assemble(&Ask { now, ..Ask::default() }).expect("assembled").prompt;
    let body = to_openai(&prompt, RequestOptions::new(Some("m"), false));
    let _ = writeln!(lines, "{} {} {}", prompt.max_input_tokens, prompt.total_tokens, String::from_utf8_lossy(&body));
}
