//! Filters of a recall: by kind, trust, time and metadata.
//!
//! There are two times: an event's own (`since`, `until`, `valid_at`) and the store's (`known_at`). A filter never loses results: it is
//! applied while candidates are chosen, not afterwards. One of its times is a preference only: `preferred`.

use super::when::Range;
use crate::index::bm25::Row;
use crate::memory::{Kind, Memory, State};
use crate::store::msgpack::skip;
use crate::{Error, Result};

/// Every kind of memory.
pub const ALL_KINDS: u8 = 0x7f;

/// The conditions for a memory to be found. Times are microseconds since 1970 (UTC).
#[derive(Debug, Clone)]
pub struct Filter {
    /// Bits of the kinds that may be found.
    pub kinds: u8,
    /// Keys of the metadata with the values (MessagePack) of which one must stand there, or be an item of a list that does.
    pub metadata: Vec<(String, Vec<Vec<u8>>)>,
    /// It happened at or after this.
    pub since: Option<i64>,
    /// It happened before this.
    pub until: Option<i64>,
    /// It held at this time.
    pub valid_at: Option<i64>,
    /// The store knew it at this time.
    pub known_at: Option<i64>,
    /// Events in this range come first, and others are not lost. [`super::when`] read it in the question.
    pub preferred: Option<Range>,
    /// At least so trusted.
    pub min_trust: u8,
    /// Only what has a word of the question or is near its meaning: see [`super::fusion::Parts::is_relevant`].
    pub relevant_only: bool,
    /// A question [about the user's own life](super::Question::asks_of_own) takes the next nearest as well.
    pub fills: bool,
    /// The time of the question. Memories that have expired by then are not found.
    pub now: i64,
}

/// Kinds as bits.
pub fn bits(kinds: &[Kind]) -> Result<u8> {
    match kinds.iter().fold(0, |bits, kind| bits | kind.bit()) {
        0 => Err(Error::invalid("reading kinds: at least one kind must be named, and none is: leave kinds out for all of them")),
        bits => Ok(bits),
    }
}

impl Filter {
    /// Lets everything through that is current at `now`.
    #[must_use]
    pub fn all(now: i64) -> Self {
        Self {
            kinds: ALL_KINDS,
            metadata: Vec::new(),
            since: None,
            until: None,
            valid_at: None,
            known_at: None,
            preferred: None,
            min_trust: 0,
            relevant_only: false,
            fills: false,
            now,
        }
    }

    /// Whether a current memory with these attributes may be found; its metadata is asked for separately.
    #[must_use]
    pub fn keeps_row(&self, row: &Row) -> bool {
        self.keeps(row.kind, row.trust, row.occurred_at)
            && row.expires_at > self.now
            && self.known_at.is_none_or(|at| row.known_from <= at)
            && self.valid_at.is_none_or(|at| row.occurred_at <= at)
    }

    /// Whether a current memory may be an answer, of a question that does not reach back.
    #[must_use]
    pub fn keeps_memory(&self, memory: &Memory) -> bool {
        self.keeps(memory.kind as u8, memory.trust, memory.occurred_at)
            && !memory.is_expired(self.now)
            && self.keeps_metadata(&memory.metadata)
    }

    fn keeps(&self, kind: u8, trust: u8, occurred_at: i64) -> bool {
        self.kinds >> kind & 1 == 1
            && trust >= self.min_trust
            && self.since.is_none_or(|since| occurred_at >= since)
            && self.until.is_none_or(|until| occurred_at < until)
    }

    /// Whether the caller says which time is meant, so that the question need not be read for it.
    #[must_use]
    pub fn limits_time(&self) -> bool {
        self.since.is_some() || self.until.is_some() || self.reaches_back()
    }

    /// Whether the question reaches back, so that what is not current any more may answer it.
    #[must_use]
    pub fn reaches_back(&self) -> bool {
        self.valid_at.is_some() || self.known_at.is_some()
    }

    /// Whether a revision that is not current any more may be found; its metadata is asked for separately.
    #[must_use]
    pub fn keeps_past(&self, memory: &Memory) -> bool {
        let Some(ending) = &memory.ending else { return false };
        if matches!(ending.state, State::Forgotten | State::Expired | State::Quarantined)
            || !self.keeps(memory.kind as u8, memory.trust, memory.occurred_at)
        {
            return false;
        }
        // Without `known_at` all that the store knows counts: what it wrote lately may have times after a clock that stands or went back.
        let believed_current = self.known_at.is_some_and(|at| ending.known_until > at);
        let held = match (self.valid_at, believed_current) {
            (Some(at), true) => memory.occurred_at <= at,
            (None, true) => true,
            // By then the store knew of its end: it holds for the past only, and a corrected one not even there.
            (Some(at), false) => ending.state == State::Superseded && memory.occurred_at <= at && at < ending.valid_until,
            (None, false) => false,
        };
        self.known_at.is_none_or(|at| memory.known_from <= at) && held && memory.expires_at.is_none_or(|at| at > self.now)
    }

    /// Whether metadata has one of the wanted values under each wanted key.
    #[must_use]
    pub fn keeps_metadata(&self, metadata: &[u8]) -> bool {
        has_metadata(&self.metadata, metadata)
    }
}

/// The same of keys with the values of which one must stand there.
pub(crate) fn has_metadata(wanted: &[(String, Vec<Vec<u8>>)], metadata: &[u8]) -> bool {
    wanted.iter().all(|(key, wanted)| lookup(metadata, key).is_some_and(|value| wanted.iter().any(|one| has_value(value, one))))
}

/// Whether a value is the wanted one, or a list with it.
fn has_value(value: &[u8], wanted: &[u8]) -> bool {
    let mut cursor = value;
    let Ok(items) = rmp::decode::read_array_len(&mut cursor) else { return same_value(wanted, value) };
    let mut at = value.len() - cursor.len();
    (0..items).any(|_| {
        let end = skip(value, at).unwrap_or(value.len());
        let item = value.get(at..end).unwrap_or_default();
        at = end;
        same_value(wanted, item)
    })
}

/// Refuses conditions on metadata that no equality can mean: operators, and values that hold others. `doing` begins the message.
pub(crate) fn check_conditions(doing: &str, conditions: &[(String, Vec<Vec<u8>>)]) -> Result<()> {
    for (key, values) in conditions {
        let operator = key.starts_with('$');
        if operator || values.iter().any(|value| holds_others(value)) {
            let got = if operator { format!("the operator {key:?}") } else { format!("a dict, or a list inside the list, for {key:?}") };
            return Err(Error::invalid(format!(
                "{doing}: where= gives each key the value that the metadata must have, or a list of such values, and it has {got}: name \
                 the values that are meant, or compare hit.memory.metadata (hit.document.metadata) of the answer yourself"
            ))
            .with("key", key.as_str()));
        }
    }
    Ok(())
}

/// Whether a value (MessagePack) is a map or an array.
fn holds_others(value: &[u8]) -> bool {
    use rmp::Marker::{Array16, Array32, FixArray, FixMap, Map16, Map32};
    let marker = value.first().map(|byte| rmp::Marker::from_u8(*byte));
    matches!(marker, Some(FixMap(_) | Map16 | Map32 | FixArray(_) | Array16 | Array32))
}

/// Whether two values (MessagePack) are equal: the same bytes, or the same number, whether whole or not.
fn same_value(one: &[u8], other: &[u8]) -> bool {
    one == other || number(one).zip(number(other)).is_some_and(|(one, other)| one == other)
}

/// A number that is whole, or the bits of one that is not.
#[derive(PartialEq)]
enum Number {
    Whole(i128),
    Broken(u64),
}

fn number(value: &[u8]) -> Option<Number> {
    if let Ok(whole) = rmp::decode::read_int::<i128, _>(&mut &*value) {
        return Some(Number::Whole(whole));
    }
    let float = rmp::decode::read_f64(&mut &*value).ok()?;
    let whole = float.fract() == 0.0 && float.abs() < 2f64.powi(64);
    Some(if whole { Number::Whole(float as i128) } else { Number::Broken(float.to_bits()) })
}

/// The MessagePack of the value under `key` of a MessagePack map with text keys.
fn lookup<'m>(map: &'m [u8], key: &str) -> Option<&'m [u8]> {
    let mut cursor = map;
    let entries = rmp::decode::read_map_len(&mut cursor).ok()?;
    let mut at = map.len() - cursor.len();
    for _ in 0..entries {
        let value = skip(map, at)?;
        let end = skip(map, value)?;
        let mut name = &map[at..value];
        let length = rmp::decode::read_str_len(&mut name).ok();
        if length.is_some_and(|length| name.get(..length as usize) == Some(key.as_bytes())) {
            return Some(&map[value..end]);
        }
        at = end;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_looked_up_by_key() {
        // {"a": [1, "x"], "project": "memspan", "n": 5}
        let map = [&b"\x83\xa1a\x92\x01\xa1x\xa7project\xa7memspan\xa1n\x05"[..]].concat();
        assert_eq!(lookup(&map, "project"), Some(&b"\xa7memspan"[..]));
        assert_eq!(lookup(&map, "n"), Some(&b"\x05"[..]));
        assert_eq!(lookup(&map, "x"), None);
        assert_eq!(lookup(b"", "x"), None);
        let mut filter = Filter::all(0);
        filter.metadata.push(("n".to_owned(), vec![b"\x06".to_vec(), b"\x05".to_vec()]));
        assert!(filter.keeps_metadata(&map));
        assert!(!filter.keeps_metadata(b""));
        // {"a": [1, "x"]}: a list has its items, and no others.
        for (wanted, has) in
            [(&b"\xa1x"[..], true), (b"\x01", true), (b"\xcb\x3f\xf0\0\0\0\0\0\0", true), (b"\xa1y", false), (b"\x02", false)]
        {
            assert_eq!(has_metadata(&[("a".to_owned(), vec![wanted.to_vec()])], &map), has, "{wanted:?}");
        }
        assert!(!has_value(b"\x90", b"\xc0") && !has_value(b"\x92\x01", b"\x02"), "no items, and fewer than it says");
    }

    #[test]
    fn a_whole_number_equals_the_same_number_as_a_float() {
        let packed = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = Vec::new();
            write(&mut bytes);
            bytes
        };
        let int = |n: i64| packed(&|bytes| drop(rmp::encode::write_sint(bytes, n)));
        let float = |x: f64| packed(&|bytes| drop(rmp::encode::write_f64(bytes, x)));
        for n in [0, 1, -1, 127, 128, -33, 65_536, 1 << 53, -(1 << 53)] {
            assert!(same_value(&int(n), &float(n as f64)) && same_value(&float(n as f64), &int(n)) && same_value(&int(n), &int(n)), "{n}");
            assert!(!same_value(&int(n), &float(n as f64 + 1024.0)) && !same_value(&int(n + 1), &int(n)), "{n}");
        }
        assert!(!same_value(&int((1 << 53) + 1), &float((1i64 << 53) as f64)), "no rounding");
        assert!(same_value(&float(0.5), &float(0.5)) && !same_value(&float(0.5), &int(0)) && !same_value(b"\xc3", &int(1)), "True is no 1");
    }
}
