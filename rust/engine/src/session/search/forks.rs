//! The documents of messages that forks copied, where another session has the message too.
//!
//! A search that meets copies leaves all of them out before it reads and compares them: twenty forks have twenty times the messages of a session.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Range};

use super::super::copies::is_same;
use super::super::key::{SessionKey, SessionsHead};
use super::super::record::{self, SessionRecord};
use super::super::transcript::message::MessageRecord;
use super::Request;
use super::rank::glance;
use super::row::{self, Row};
use crate::Result;
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table, u32_at};
use crate::store::pages::Pages;

/// Messages of a session that were said in one, which may be that session itself.
struct Segment {
    place: SessionKey,
    messages: Range<u64>,
    is_own: bool,
}

/// The documents of messages that another session has too. One session keeps each: the preferred one, or that in which it was said, or the fork
/// that has most of it. Costs a look at every session of the scope.
pub(super) fn copied<P: Pages>(pages: &P, partition: Partition, seed: Seed, request: &Request) -> Result<Vec<Range<u32>>> {
    let mut copied = Vec::new();
    for (_, mut segments) in segments(pages, partition, seed, request)? {
        let is_preferred = |segment: &Segment| Some(segment.place.session) == request.preferred_session;
        let length = |segment: &Segment| segment.messages.end - segment.messages.start;
        segments.sort_by_key(|segment| Reverse((is_preferred(segment), segment.is_own, length(segment)))); // stable: of equals the oldest
        let mut keepers: Vec<Segment> = Vec::new();
        for segment in segments {
            let mut is_kept = true;
            for keeper in &keepers {
                let shared = shared(pages, keeper, &segment)?;
                is_kept &= shared != segment.messages;
                documents(pages, segment.place, shared, &mut copied)?;
                if !is_kept {
                    break;
                }
            }
            if is_kept {
                keepers.push(segment);
            }
        }
    }
    Ok(copied)
}

/// The messages that forks have of each session, and its own, by its id.
fn segments<P: Pages>(pages: &P, partition: Partition, seed: Seed, request: &Request) -> Result<BTreeMap<String, Vec<Segment>>> {
    let mut sessions = BTreeMap::new();
    for session in 1..=SessionsHead::read(pages, partition)?.sessions {
        let place = SessionKey { partition, session };
        sessions.extend(SessionRecord::read_fork(pages, place)?.map(|fork| (session, fork)));
    }
    let names: BTreeSet<String> = sessions.values().flat_map(|fork| &fork.origins).map(|origin| origin.session.clone()).collect();
    for name in &names {
        sessions.extend(record::find(pages, partition, seed, name)?.map(|(place, record)| (place.session, record)));
    }
    let mut segments: BTreeMap<String, Vec<Segment>> = BTreeMap::new();
    for (session, record) in sessions {
        let place = SessionKey { partition, session };
        if !glance(pages, place, &request.metadata)?.is_visible {
            continue;
        }
        let (mut start, end) = (0, record.tally.messages);
        let origins = record.origins.iter().map(|origin| (&origin.session, origin.end.min(end)));
        for (of, end) in origins.chain(names.get(&record.id).map(|id| (id, end))) {
            let segment = Segment { place, messages: start..end.max(start), is_own: *of == record.id };
            start = segment.messages.end;
            segments.entry(of.clone()).or_default().push(segment);
        }
    }
    Ok(segments)
}

/// The messages of a segment that another one has too. Where they have one message, they have all of those before it.
fn shared<P: Pages>(pages: &P, keeper: &Segment, segment: &Segment) -> Result<Range<u64>> {
    let start = keeper.messages.start.max(segment.messages.start);
    let end = keeper.messages.end.min(segment.messages.end).max(start);
    let has = |index: u64| -> Result<bool> {
        let (kept, copy) = (MessageRecord::read(pages, keeper.place, index)?, MessageRecord::read(pages, segment.place, index)?);
        Ok(kept.zip(copy).is_some_and(|(kept, copy)| is_same(&kept, &copy)))
    };
    let (mut low, mut high) = (start, end);
    while low < high {
        let middle = if high == end { end - 1 } else { low + (high - low) / 2 };
        if has(middle)? {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(start..low)
}

/// Appends the numbers of the documents of messages. They ascend; where there are as many as messages, nothing else is among them.
fn documents<P: Pages>(pages: &P, place: SessionKey, messages: Range<u64>, found: &mut Vec<Range<u32>>) -> Result<()> {
    let (Some(first), Some(last)) = (document(pages, place, messages.clone())?, document(pages, place, messages.rev())?) else {
        return Ok(());
    };
    if u64::from(last.1 - first.1) == last.0 - first.0 {
        found.push(first.1..last.1 + 1);
        return Ok(());
    }
    let end = Key::new(place.partition, Table::Document).prefix_range().end;
    pages.scan(row::key(place.partition, first.1).as_slice(), &end, &mut |key, value| {
        let number = u32_at(key, 5).unwrap_or(u32::MAX);
        if number > last.1 {
            return Ok(ControlFlow::Break(()));
        }
        if Row::decode_place(key, value)?.session == place.session {
            found.push(number..number + 1);
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// The first of these messages that has a document, and its number.
fn document<P: Pages>(pages: &P, place: SessionKey, messages: impl Iterator<Item = u64>) -> Result<Option<(u64, u32)>> {
    for index in messages {
        if let Some(message) = MessageRecord::read(pages, place, index)?.filter(|message| message.document != 0) {
            return Ok(Some((index, message.document)));
        }
    }
    Ok(None)
}
