//! The state of a task: short-lived entries of a session that stand in every prompt until the task is over.
//!
//! A task has a name, entries in the order in which they were first set, and perhaps a time to live. Values are JSON text, kept as given.
//! One that has expired is not shown any more, whether or not its record is gone: the clock decides what is seen, [`expire`] only gives the
//! room back. The ledger, not this module, knows what it was when a prompt was sent.
//!
//! Not here: the calls by which a program reads and changes tasks, which are in `tasks.rs`.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};

use super::codec;
use crate::context::json;
use crate::context::limit::section;
use crate::context::{Form, Item};
use crate::limits::{MAX_NAME_BYTES, MAX_TASK_BYTES, MAX_TASK_ENTRIES, MAX_TASK_VALUE_BYTES};
use crate::store::chunks;
use crate::store::envelope::{self, Codec, damaged};
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table, u32_at};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};
use crate::units::clip::first_chars;
use crate::{Error, Result};

/// Layout of the body. 1: the first.
const SCHEMA: u8 = 1;

/// A task of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskState {
    /// Its name in the session.
    pub name: String,
    /// When it is over, in microseconds since 1970; `None` where only its end is.
    pub expires_at: Option<i64>,
    /// Counts its changes. A caller that computes a new value from an old one compares it.
    pub version: u64,
    /// Keys and values, in the order in which the keys were first set. A value is JSON text.
    pub entries: Vec<(String, String)>,
}

impl TaskState {
    /// Whether its time to live is over.
    #[must_use]
    pub fn is_expired(&self, now: i64) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    /// The value of a key.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&str> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Gives a key its value: in its old place, or behind all others.
    pub fn set(&mut self, key: &str, value: &str) {
        match self.entries.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => value.clone_into(old),
            None => self.entries.push((key.to_owned(), value.to_owned())),
        }
    }

    /// Checks the limits, and that every value is JSON.
    pub fn validate(&self) -> Result<()> {
        self.check_length("a name", &self.name, MAX_NAME_BYTES, "choose a shorter name")?;
        let refuse = |rule: &str, got: &str, next: &str| Err(self.error(rule, got, next));
        if self.entries.len() > MAX_TASK_ENTRIES {
            return refuse(
                "a task has at most 1,024 entries",
                &self.entries.len().to_string(),
                "keep lists in one value, or make a second task",
            );
        }
        for (key, value) in &self.entries {
            self.check_length("a key", key, MAX_NAME_BYTES, "choose a shorter key")?;
            self.check_length(
                "a value",
                value,
                MAX_TASK_VALUE_BYTES,
                "keep what the prompt needs, and the rest as a document or a tool result",
            )?;
            if !json::is_json(value) {
                return refuse("a value must be JSON", &shown(value), "encode it with json.dumps");
            }
        }
        let total: usize = self.entries.iter().map(|(key, value)| key.len() + value.len()).sum();
        if total > MAX_TASK_BYTES {
            return refuse("the entries of a task have at most 4 MiB together", &format!("{total} bytes"), "make a second task");
        }
        Ok(())
    }

    fn check_length(&self, what: &str, text: &str, most: usize, next: &str) -> Result<()> {
        if (1..=most).contains(&text.len()) {
            return Ok(());
        }
        let next = if text.is_empty() { "give at least one character" } else { next };
        let got = format!("{} ({})", text.len(), shown(text));
        Err(self.error(&format!("{what} has 1 to {most} bytes of UTF-8"), &got, next).with("size_bytes", text.len()))
    }

    fn error(&self, rule: &str, got: &str, next: &str) -> Error {
        let name = shown(&self.name);
        Error::invalid(format!("cannot set the state of a task: {rule}, got {got} (task {name}): {next}")).with("task", name)
    }

    fn encode(&self) -> Vec<u8> {
        let mut w = Writer::array(4);
        w.text(&self.name);
        w.maybe_int(self.expires_at);
        w.uint(self.version);
        codec::write_list(&mut w, &self.entries, |w, (key, value)| {
            w.nested(2);
            w.text(key);
            w.text(value);
        });
        w.into_bytes()
    }

    fn decode(key: &[u8], body: &[u8]) -> Result<Self> {
        let mut r = Reader::array(key, body)?;
        Ok(Self {
            name: r.text()?.to_owned(),
            expires_at: r.maybe_int()?,
            version: r.uint()?,
            entries: codec::read_list(&mut r, |r| {
                let mut r = codec::inner(r, key)?;
                Ok((r.text()?.to_owned(), r.text()?.to_owned()))
            })?,
        })
    }

    fn items(&self) -> impl Iterator<Item = Item> {
        self.entries.iter().map(|(key, value)| Item {
            section: section::TASK.into(),
            id: format!("{}/{key}", self.name).into(),
            attributes: vec![("task".into(), self.name.as_str().into()), ("key".into(), key.as_str().into())],
            text: json::text(value).map_or_else(|| value.as_str().into(), Into::into),
            memory: None,
            message: None,
            document: None,
            form: Form::dated(),
            score: None,
        })
    }
}

/// At most 40 characters of a text that a user gave, quoted.
fn shown(text: &str) -> String {
    format!("{:?}", first_chars(text, 40))
}

pub(super) fn key(partition: Partition, session: u32, seed: Seed, name: &str) -> Key {
    Key::new(partition, Table::Task).u32(session).u64(seed.hash64(name.as_bytes()))
}

fn all(partition: Partition, session: u32) -> Range<Vec<u8>> {
    Key::new(partition, Table::Task).u32(session).prefix_range()
}

/// The task of that name, expired or not; `seed` is the scope's term seed.
pub fn get<P: Pages>(pages: &P, partition: Partition, session: u32, seed: Seed, name: &str) -> Result<Option<TaskState>> {
    let key = key(partition, session, seed, name);
    let Some((_, body)) = chunks::get(pages, key)? else { return Ok(None) };
    let task = TaskState::decode(key.as_slice(), &body)?;
    if task.name == name { Ok(Some(task)) } else { Err(damaged(key.as_slice(), "it belongs to a task of another name")) }
}

/// Stores a task as it is now.
pub fn put(pages: &mut impl PagesMut, partition: Partition, session: u32, seed: Seed, task: &TaskState) -> Result<()> {
    task.validate()?;
    chunks::put(pages, key(partition, session, seed, &task.name), SCHEMA, Codec::MessagePack, &task.encode())
}

/// Ends a task; says whether it was there.
pub fn remove(pages: &mut impl PagesMut, partition: Partition, session: u32, seed: Seed, name: &str) -> Result<bool> {
    chunks::remove(pages, key(partition, session, seed, name))
}

/// The tasks of a session that live, by name.
pub fn list<P: Pages>(pages: &P, partition: Partition, session: u32, now: i64) -> Result<Vec<TaskState>> {
    let mut found = Vec::new();
    each(pages, partition, session, &mut |_, task| {
        if !task.is_expired(now) {
            found.push(task);
        }
    })?;
    found.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Removes the tasks of a session that have expired; says how many.
pub fn expire(pages: &mut impl PagesMut, partition: Partition, session: u32, now: i64) -> Result<usize> {
    let mut over = Vec::new();
    each(pages, partition, session, &mut |key, task| {
        if task.is_expired(now) {
            over.push(key);
        }
    })?;
    for key in &over {
        chunks::remove(pages, *key)?;
    }
    Ok(over.len())
}

/// The sessions of a scope that have a task whose time is over.
pub(super) fn over<P: Pages>(pages: &P, partition: Partition, now: i64) -> Result<BTreeSet<u32>> {
    let mut sessions = BTreeSet::new();
    each_within(pages, &Key::new(partition, Table::Task).prefix_range(), &mut |key, task| {
        sessions.extend(u32_at(key.as_slice(), 5).filter(|_| task.is_expired(now)));
    })?;
    Ok(sessions)
}

/// Every task of a session, expired or not, with its key.
pub(super) fn each<P: Pages>(pages: &P, partition: Partition, session: u32, visit: &mut dyn FnMut(Key, TaskState)) -> Result<()> {
    each_within(pages, &all(partition, session), visit)
}

fn each_within<P: Pages>(pages: &P, range: &Range<Vec<u8>>, visit: &mut dyn FnMut(Key, TaskState)) -> Result<()> {
    pages.scan(&range.start, &range.end, &mut |key, value| {
        let (prefix, chunk) = key.split_at(key.len().saturating_sub(2));
        if chunk == [0, 0] {
            let prefix = Key::from_slice(prefix)?;
            let (_, body) = chunks::join(pages, prefix, envelope::open(key, value)?)?;
            visit(prefix, TaskState::decode(key, &body)?);
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// The items of tasks in a prompt, one for each entry. A JSON string is shown as its text, anything else as JSON.
#[must_use]
pub fn items(tasks: &[TaskState]) -> Vec<Item> {
    tasks.iter().flat_map(TaskState::items).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::ErrorKind;
    use crate::context::testing::{Random, nasty};
    use crate::store::identity::Secret;
    use crate::store::pages::MemoryPages;

    /// That of a scope of one store.
    fn seed() -> Seed {
        Secret { key: [9; 16], keyed: true, terms_keyed: false }.seed(b"a scope")
    }

    fn task(name: &str, entries: &[(&str, &str)]) -> TaskState {
        let mut task = TaskState { name: name.to_owned(), ..TaskState::default() };
        for (key, value) in entries {
            task.set(key, value);
        }
        task
    }

    fn value(random: &mut Random) -> String {
        let pieces = random.below(400);
        let text = serde_json::to_string(&nasty(random, pieces)).unwrap();
        if random.chance(50) { text } else { format!("[{text},  {}]", random.next()) }
    }

    #[test]
    fn tasks_are_kept_as_in_a_map() {
        let mut random = Random::new(31);
        let (mut pages, mut model) = (MemoryPages::new(), BTreeMap::<(u32, String), TaskState>::new());
        for now in 0..1_500_i64 {
            let (session, name) = (random.below(3) as u32, format!("task {}", random.below(5)));
            match random.below(6) {
                0 => {
                    let removed = remove(&mut pages, 1, session, seed(), &name).unwrap();
                    assert_eq!(removed, model.remove(&(session, name)).is_some());
                }
                1 => {
                    let over = |at: &(u32, String), task: &TaskState| at.0 == session && task.is_expired(now);
                    let expected = model.iter().filter(|(at, task)| over(at, task)).count();
                    assert_eq!(expire(&mut pages, 1, session, now).unwrap(), expected);
                    model.retain(|at, task| !over(at, task));
                }
                _ => {
                    let mut task = get(&pages, 1, session, seed(), &name).unwrap().unwrap_or_else(|| task(&name, &[]));
                    assert_eq!(model.get(&(session, name.clone())).cloned().unwrap_or_else(|| self::task(&name, &[])), task);
                    task.set(&format!("key {}", random.below(4)), &value(&mut random));
                    task.version += 1;
                    task.expires_at = random.chance(50).then(|| now + random.below(20) as i64);
                    put(&mut pages, 1, session, seed(), &task).unwrap();
                    model.insert((session, name), task);
                }
            }
            let live: Vec<TaskState> =
                model.iter().filter(|(at, task)| at.0 == session && !task.is_expired(now)).map(|(_, task)| task.clone()).collect();
            assert_eq!(list(&pages, 1, session, now).unwrap(), live);
        }
        assert!(list(&pages, 2, 0, 0).unwrap().is_empty(), "another scope has none");
        for (session, name) in model.keys() {
            remove(&mut pages, 1, *session, seed(), name).unwrap();
        }
        assert!(pages.is_empty());
    }

    #[test]
    fn a_key_keeps_its_place() {
        let mut task = task("review", &[("plan", "1"), ("files", "2"), ("plan", "3")]);
        assert_eq!(task.value("plan"), Some("3"));
        task.set("notes", "4");
        let keys: Vec<&str> = task.entries.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!((keys, task.value("none")), (vec!["plan", "files", "notes"], None));
    }

    #[test]
    fn a_string_is_shown_as_its_text_and_anything_else_as_it_is() {
        let tasks =
            [task("review", &[("plan", r#""read \"a.rs\"\nthen \u00e9""#), ("open", "[4521,  8443]")]), task("b", &[("k", "null")])];
        let items = items(&tasks);
        let texts: Vec<(&str, &str)> = items.iter().map(|item| (&*item.id, &*item.text)).collect();
        assert_eq!(texts, [("review/plan", "read \"a.rs\"\nthen é"), ("review/open", "[4521,  8443]"), ("b/k", "null")]);
        assert!(items.iter().all(|item| &*item.section == section::TASK && item.memory.is_none() && item.score.is_none()));
        let attributes: Vec<(&str, &str)> = items[1].attributes.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(attributes, [("task", "review"), ("key", "open")]);
    }

    #[test]
    fn limits_are_told() {
        let mut pages = MemoryPages::new();
        let mut refused = |task: &TaskState, word: &str| {
            let error = put(&mut pages, 1, 1, seed(), task).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert!(error.message().starts_with("cannot set the state of a task: ") && error.message().contains(word), "{error}");
            assert!(error.message().len() < 600 && pages.is_empty(), "{error}");
        };
        let long = "n".repeat(MAX_NAME_BYTES);
        let value = |bytes: usize| format!("\"{}\"", "v".repeat(bytes - 2));
        let many = |count: usize, bytes: usize| {
            let entries = (0..count).map(|n| (n.to_string(), value(bytes))).collect();
            TaskState { entries, ..task("many", &[]) }
        };
        refused(&task("", &[]), "a name");
        refused(&task(&format!("{long}n"), &[]), "1025");
        refused(&task("t", &[("", "1")]), "a key");
        refused(&task("t", &[(&format!("{long}n"), "1")]), "a key");
        refused(&task("t", &[("k", "")]), "a value");
        refused(&task("t", &[("k", "{\"a\":")]), "json.dumps");
        refused(&many(1, MAX_TASK_VALUE_BYTES + 1), "1048577");
        refused(&many(MAX_TASK_ENTRIES + 1, 2), "1025");
        refused(&many(5, 900_000), "4 MiB");
        for task in [task(&long, &[(&long, "1")]), many(MAX_TASK_ENTRIES, 2), many(3, MAX_TASK_VALUE_BYTES)] {
            put(&mut pages, 1, 1, seed(), &task).unwrap();
            assert_eq!(get(&pages, 1, 1, seed(), &task.name).unwrap().unwrap(), task);
        }
    }

    #[test]
    fn a_task_under_the_key_of_another_is_damage() {
        let mut pages = MemoryPages::new();
        let at = key(1, 1, seed(), "a");
        chunks::put(&mut pages, at, SCHEMA, Codec::MessagePack, &task("b", &[]).encode()).unwrap();
        assert_eq!(get(&pages, 1, 1, seed(), "a").unwrap_err().kind(), ErrorKind::StoreCorrupt);
    }
}
