//! Everything a Python user has, from Rust: memories, a session with its prompt and what is found of it, a collection, an embedder of one's own, maintenance.
//!
//! `cargo run -p memspan-engine --example tour`

use std::time::Duration;

use memspan_engine::collection::{self, CollectionName, NewDocument, Prepared, search};
use memspan_engine::context::render::{RequestOptions, to_openai};
use memspan_engine::engine::{Embed, Engine, EngineOptions};
use memspan_engine::index::vectors::UnitVector;
use memspan_engine::limits;
use memspan_engine::memory::embedding::Embedding;
use memspan_engine::memory::maintain::Pending;
use memspan_engine::memory::{NewMemory, Remembered};
use memspan_engine::models::{Keep, Model};
use memspan_engine::recall::{self, Filter, Request};
use memspan_engine::scope::{Scope, ScopeType};
use memspan_engine::session::{Ask, NewMessage, Options, Session, TranscriptRequest, WindowWatch, Writing};
use memspan_engine::store::Durability;
use memspan_engine::{Error, Result};

/// The time now, microseconds since 1970: every call is told.
const NOW: i64 = 1_760_000_000_000_000;
const DIMENSIONS: usize = 32;

/// An embedder of one's own: letters counted.
struct Letters;

impl Embed for Letters {
    fn embed(&mut self, texts: &[Pending]) -> Result<Vec<Option<UnitVector>>> {
        texts.iter().map(|one| vector(&one.text).map(Some)).collect()
    }
}

fn vector(text: &str) -> Result<UnitVector> {
    let mut counts = [0.1; DIMENSIONS];
    text.bytes().for_each(|byte| counts[usize::from(byte) % DIMENSIONS] += 1.0);
    UnitVector::new(&counts, DIMENSIONS)
}

fn question(text: &str, scope: &Scope) -> Request {
    Request {
        text: text.to_owned(),
        vector: None,
        scopes: vec![scope.clone()],
        limit: 5,
        filter: Filter::all(NOW),
        min_score: 0.0,
        max_tokens: None,
    }
}

fn memories(engine: &Engine, user: &Scope) -> Result<()> {
    let slot = |text: &str| NewMemory { slot: Some("editor".into()), ..NewMemory::new(text) };
    engine.remember(user, slot("uses vim"), NOW)?;
    let wanted = engine.to_embed(0, &[(user, &slot("uses helix")), (user, &slot("uses helix"))])?;
    println!("an embedder of one's own is asked for {:?}, of {} rows", wanted.texts, wanted.len());
    let Remembered { action, memory, .. } = engine.remember(user, slot("uses helix"), NOW + 1)?;
    println!("{}: {:?}", action.name(), memory.text);
    engine.remember(user, NewMemory { ttl: Some(limits::ttl(3600.0)?), ..NewMemory::new("the build is red") }, NOW + 2)?;
    let answer = recall::ask(engine, &question("which editor?", user), None)?;
    let best = answer.found.first().ok_or_else(|| Error::invalid("recalling: nothing was found"))?;
    println!("{:?} supersedes {:?}, sure {:.2}", best.named.memory.text, best.named.supersedes, answer.confidence());
    Ok(())
}

fn conversation(engine: &Engine, user: &Scope) -> Result<()> {
    let session = Session { engine, scope: user, id: "support-1" };
    session.open(Options { model: Some(Model::named("gpt-4o")?), ..Options::default() }, NOW + 3)?;
    session.add(NewMessage::given(r#"{"role":"user","content":"Which editor do I use?"}"#.to_owned()), None, NOW + 4)?;
    let assembled = session.assemble(&Ask { now: NOW + 5, ..Ask::default() })?;
    let body = to_openai(&assembled.prompt, RequestOptions::new(Some("gpt-4o"), false));
    println!("a request of {} tokens in {} bytes", assembled.prompt.total_tokens, body.len());
    for one in assembled.candidates() {
        println!("{} {}: {}", one.section, one.id, one.why);
    }
    let text = "a text of which the end is of interest";
    println!("{:?} ends {:?}", text, assembled.model.truncate(text, 3, Keep::End));
    let writing = Writing::new(session.brief_draft("choose an editor", 200, NOW + 5)?); // a model may write for it: `writing.check(reply)`
    println!("a summary of {} tokens: {:?}", writing.make().summary.tokens, writing.covers());
    for one in WindowWatch::default().look(&session, Some(100_000))? {
        println!("a prompt of {} tokens reaches {} % of the window of {}", one.tokens, one.percent, one.window);
    }
    let request = TranscriptRequest::new("editor", 5, NOW + 5);
    for hit in memspan_engine::session::search(engine, user, &request)? {
        println!("{}: {:?}", hit.session_id, hit.message.text);
    }
    Ok(())
}

fn documents(engine: &Engine, user: &Scope) -> Result<()> {
    let docs = CollectionName::new(user, "docs")?;
    let text = "# Deploys\n\nWe deploy on Tuesdays, after the review.\n";
    collection::add::add(engine, &docs, Prepared::new(NewDocument::new("deploys.md", text))?, None, NOW + 6)?;
    let answer = search::ask(engine, &search::Request::new("when do we deploy?", vec![docs], 1, NOW + 7))?;
    println!("{:?}, sure {:.2}", answer.hits.first().map(|hit| &hit.text), answer.confidence());
    Ok(())
}

fn main() -> Result<()> {
    run()
}

/// What the tests run.
pub fn run() -> Result<()> {
    let folder = std::env::temp_dir().join(format!("memspan-tour-{}", std::process::id()));
    let options = EngineOptions {
        durability: Durability::Full,
        read_only: false,
        busy_timeout: limits::busy_timeout(limits::DEFAULT_BUSY_TIMEOUT.as_secs_f64())?,
        embedding: None,
        now: NOW,
    };
    let engine = Engine::open_by_default(&folder, &options)?;
    let user = Scope::new(None, ScopeType::User, "ann")?;
    memories(&engine, &user)?;
    conversation(&engine, &user)?;
    documents(&engine, &user)?;

    engine.exchange_embedding(&Embedding::new("letters".into(), DIMENSIONS as u32, String::new())?);
    let made = engine.reembed(Some(&mut Letters), &mut |step| {
        println!("{step} vectors more");
        Ok(())
    })?;
    let later = NOW + i64::try_from(Duration::from_secs(7200).as_micros()).unwrap_or(i64::MAX);
    let done = engine.maintain(Some(&mut Letters), later, &mut || Ok(()))?;
    for (name, value) in engine.metrics()?.iter().filter(|(name, _)| matches!(*name, "memories" | "documents" | "commits")) {
        println!("{name}: {value}");
    }
    println!("{made} vectors made anew, {} memory expired, sound: {}", done.expired, engine.check()?.is_sound());
    let (file, copy) = (folder.with_extension("jsonl"), folder.with_extension("copy"));
    let values = engine.export(&file)?;
    let second = Engine::open(&copy, options)?;
    println!("{values} values exported, {} loaded", second.load(&file)?);
    second.close()?;
    engine.close()?;
    std::fs::remove_file(&file).and_then(|()| std::fs::remove_dir_all(&copy)).map_err(|error| Error::invalid(error.to_string()))?;
    std::fs::remove_dir_all(&folder).map_err(|error| Error::invalid(format!("removing the example's folder: {error}")))
}
