//! A copy of a session up to a message, under another id: transcript, ledger and epochs, each its own from then on.
//!
//! It is copied in bounded transactions, hidden until the last one names it. A copy that fails on the way is purged. A compaction removes a
//! copy that is not whole, since it cannot tell whether anybody works on it: then the copy begins anew.

use super::edit::{STEP, sent_block, tally_before, whole_until};
use super::key::{SessionKey, SessionsHead};
use super::ledger::{self, Call};
use super::metadata;
use super::policy::Policy;
use super::record::{self, Origin, SessionRecord, SessionState};
use super::session::{Session, Status};
use super::stored_epoch::StoredEpoch;
use super::sweep::{REMOVED, purge};
use super::transcript::blob;
use super::transcript::message::MessageRecord;
use super::transcript::view::{TurnRecord, View, find_recount, write_recount};
use super::transcript::words::{Findable, Words};
use super::writer::{KnownId, SessionWriter, moved, put_id};
use crate::context::{History, Reason, Tally};
use crate::scope::Scope;
use crate::store::identity::Seed;
use crate::store::pages::PagesMut;
use crate::units::clock::told;
use crate::{Error, ErrorKind, Result};

/// How often a copy is begun, where compactions come between.
const BEGUN: usize = 3;

/// Copies a session up to message `at`.
pub(super) fn fork(source: &Session<'_>, new_id: &str, at: Option<u64>, now: i64) -> Result<()> {
    crate::scope::check_id("session", new_id)?;
    let status = source.status()?;
    let end = status.record.tally.messages;
    let at = at.unwrap_or(end);
    if at > end {
        let message =
            format!("forking session {:?}: at must be at most its {end} messages, and it is {at}: leave it out for all of them", source.id);
        return Err(Error::new(ErrorKind::NotFound, message).with("index", at as i64).with("messages", end as i64));
    }
    let scope = source.scope.clone();
    let copy = Copy { source: status, at, new_id: new_id.to_owned() };
    for _ in 0..BEGUN {
        let place = {
            let (copy, scope) = (copy.clone(), scope.clone());
            source.engine.write(move |txn| copy.begin(txn, &scope, now))?
        };
        let copied = copy_all(source, &copy, place, now);
        let is_whole = copied.inspect_err(|_| {
            // The rest is hidden, and maintenance removes it.
            let _ = purge(source.engine, place, scope.seed(source.engine.store().secret()));
        })?;
        if is_whole {
            return Ok(());
        }
    }
    Err(Error::new(
        ErrorKind::StoreBusy,
        format!(
            "forking session {:?}: the store was compacted {BEGUN} times meanwhile, each time the copy began anew: call it again",
            source.id
        ),
    ))
}

/// Copies what there is; `false` where the copy was swept meanwhile.
fn copy_all(source: &Session<'_>, copy: &Copy, place: SessionKey, now: i64) -> Result<bool> {
    let mut first = 0;
    while first < copy.at {
        let (step, scope) = (copy.clone(), source.scope.clone());
        let end = copy.at.min(first + STEP);
        if !source.engine.write(move |txn| step.messages(txn, &scope, place, first, end, now))? {
            return Ok(false);
        }
        first = end;
    }
    let (last, scope) = (copy.clone(), source.scope.clone());
    source.engine.write(move |txn| last.finish(txn, &scope, place, now))
}

#[derive(Clone)]
struct Copy {
    source: Status,
    at: u64,
    new_id: String,
}

impl Copy {
    fn begin<P: PagesMut>(&self, pages: &mut P, scope: &Scope, now: i64) -> Result<SessionKey> {
        self.check_source(pages, scope)?;
        self.check_name(pages, scope)?;
        let partition = self.source.place.partition;
        let mut head = SessionsHead::read(&*pages, partition)?;
        head.sessions += 1;
        head.write(pages, partition)?;
        let place = SessionKey { partition, session: head.sessions };
        let source = &self.source.record;
        for number in 0..=source.epoch {
            let epoch = StoredEpoch::read(&*pages, self.source.place, number)?;
            for text in [epoch.system, epoch.tools].into_iter().flatten() {
                blob::refer(pages, partition, text.hash, text.length)?;
            }
            epoch.write(pages, place)?;
        }
        let last_time = now.max(source.last_time);
        let record = SessionRecord {
            id: self.new_id.clone(),
            state: SessionState::Hidden,
            created_at: now,
            last_time, // its messages are not newer than it, whatever the clock says
            clock: Some(told(last_time, now)).filter(|told| *told != last_time),
            edits: 0,
            tally: Tally::default(),
            sent: None,
            window: None,
            origins: self.origins(),
            ..source.clone()
        };
        record.write(pages, place)?;
        metadata::write(pages, place, &metadata::read(&*pages, self.source.place)?)?;
        Ok(place)
    }

    /// The sessions that its messages were said in: the source, behind those that the source was itself copied from.
    fn origins(&self) -> Vec<Origin> {
        let mut origins = self.source.record.origins_before(self.at);
        if origins.last().map_or(0, |origin| origin.end) < self.at {
            origins.push(Origin { end: self.at, session: self.source.record.id.clone() });
        }
        origins
    }

    /// The source must be unchanged: a message that was taken back meanwhile must not live on in a copy.
    fn check_source<P: PagesMut>(&self, pages: &P, scope: &Scope) -> Result<()> {
        let is_erased = scope.find(pages)? != Some(self.source.place.partition);
        let now = if is_erased { None } else { SessionRecord::read(pages, self.source.place)? };
        let now = now.filter(|record| record.state != SessionState::Hidden);
        let now = now.ok_or_else(|| record::no_such_session(&self.source.record.id))?;
        if now.edits == self.source.record.edits { Ok(()) } else { Err(moved(&now, self.source.record.tally.messages)) }
    }

    fn check_name<P: PagesMut>(&self, pages: &P, scope: &Scope) -> Result<()> {
        if record::find(pages, self.source.place.partition, scope.seed(pages.secret()), &self.new_id)?.is_none() {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::IdConflict,
            format!(
                "forking session {:?}: the id of the copy must be new, and {:?} is that of a session: give another",
                self.source.record.id, self.new_id
            ),
        )
        .with("session_id", self.new_id.as_str()))
    }

    /// The record of the copy; `None` where it was swept meanwhile, or is being swept.
    fn own<P: PagesMut>(pages: &P, place: SessionKey) -> Result<Option<SessionRecord>> {
        Ok(SessionRecord::read(pages, place)?.filter(|record| record.last_time != REMOVED))
    }

    fn messages<P: PagesMut>(&self, pages: &mut P, scope: &Scope, place: SessionKey, first: u64, end: u64, now: i64) -> Result<bool> {
        self.check_source(pages, scope)?;
        let Some(mut copy) = Self::own(&*pages, place)? else { return Ok(false) };
        let (mut head, mut words) = (SessionsHead::read(&*pages, place.partition)?, Words::default());
        for index in first..end {
            self.message(pages, scope, place, index, &mut head, &mut words)?;
        }
        words.apply(pages, place.partition)?;
        head.write(pages, place.partition)?;
        (copy.tally.messages, copy.last_time) = (end, copy.last_time.max(now)); // so that a purge knows how far it got
        copy.clock = Some(told(copy.last_time, now)).filter(|told| *told != copy.last_time);
        copy.write(pages, place)?;
        Ok(true)
    }

    fn message<P: PagesMut>(
        &self,
        pages: &mut P,
        scope: &Scope,
        place: SessionKey,
        index: u64,
        head: &mut SessionsHead,
        words: &mut Words,
    ) -> Result<()> {
        let seed = scope.seed(pages.secret());
        let mut record = MessageRecord::expect(&*pages, self.source.place, index)?;
        if record.document != 0 {
            let message = record.whole(&*pages, self.source.place)?;
            let findable = Findable::new(&message, record.author.as_deref(), seed);
            record.document = words.add(pages, head, place, (index, record.said_at()), findable)?;
        }
        for hole in &record.holes {
            blob::refer(pages, place.partition, hole.hash, hole.length)?;
        }
        if let Some(id) = &record.id {
            put_id(
                pages,
                place,
                seed,
                id,
                KnownId { index, request: record.request, gone: record.state == super::transcript::message::MessageState::Redacted },
            )?;
        }
        for switch in 1..=self.source.epoch.switch {
            if let Some((cost, before)) = find_recount(&*pages, self.source.place, switch, index)? {
                write_recount(pages, place, switch, index, cost, before)?;
            }
        }
        if record.placed.opens_turn {
            self.turn(pages, place, seed, record.placed.turn)?;
        }
        record.write(pages, place)
    }

    fn turn<P: PagesMut>(&self, pages: &mut P, place: SessionKey, seed: Seed, turn: u64) -> Result<()> {
        for number in 0..ledger::count(&*pages, self.source.place, turn)? {
            let mut call = Call::read(&*pages, self.source.place, turn, number)?;
            if call.reply < self.at {
                call.write(pages, place, turn)?;
                call.put_name(pages, place, seed)?;
            }
        }
        TurnRecord::read(&*pages, self.source.place, turn)?.write(pages, place, turn)
    }

    fn finish<P: PagesMut>(&self, pages: &mut P, scope: &Scope, place: SessionKey, now: i64) -> Result<bool> {
        self.check_source(pages, scope)?;
        self.check_name(pages, scope)?;
        if Self::own(&*pages, place)?.is_none() {
            return Ok(false);
        }
        let source = SessionRecord::read(&*pages, self.source.place)?.unwrap_or_else(|| self.source.record.clone());
        let epoch = StoredEpoch::read(&*pages, self.source.place, source.epoch)?;
        let view = View::cold(&*pages, self.source.place, &source, &epoch);
        let tally = if self.at == view.messages() { source.tally.clone() } else { tally_before(&view, &epoch, self.at)? };
        let whole = whole_until(&view, self.at, &tally)?;
        let mut writer = SessionWriter::at(pages, scope, place, now)?;
        (writer.record.state, writer.record.tally) = (SessionState::Live, tally);
        writer.epoch.recounted.1 = writer.epoch.recounted.1.min(self.at);
        if let Some(newest) = writer.record.tally.turns.checked_sub(1) {
            let turn = TurnRecord::read(&*writer.pages, place, newest)?;
            TurnRecord { kept: None, ..turn }.write(writer.pages, place, newest)?;
        }
        writer.record.sent = sent_block(&*writer.pages, place, writer.record.tally.turns, &writer.epoch)?;
        record::name(writer.pages, place, writer.seed, &self.new_id)?;
        let origin = writer.epoch.epoch.origin;
        let covered = super::summary::copy(writer.pages, self.source.place, place, whole)?;
        writer.epoch.epoch.summary_version = writer.epoch.epoch.summary_version.min(covered);
        super::notes::copy(writer.pages, self.source.place, place)?;
        Policy::read(&*writer.pages, self.source.place)?.before(self.at).write(writer.pages, place)?;
        if origin > 0 && (self.at <= origin || whole < origin) {
            let model = writer.epoch.model.clone();
            super::window::recount::switch(&mut writer, model, Reason::Forked)?;
        } else {
            writer.begin(Reason::Forked, origin)?;
        }
        writer.finish()?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::properties::{Folder, engine};
    use super::*;
    use crate::models::Model;
    use crate::scope::ScopeType;
    use crate::session::{NewMessage, Options};

    #[test]
    fn a_copy_that_a_compaction_swept_is_noticed_and_begun_anew() {
        let (folder, scope) = (Folder::new(), Scope::new(None, ScopeType::User, "u").unwrap());
        let engine = engine(&folder.0);
        let session = Session { engine: &engine, scope: &scope, id: "s" };
        session.open(Options { model: Some(Model::named("gpt-4o").unwrap()), ..Options::default() }, 1).unwrap();
        let said = |n: u64| NewMessage::given(serde_json::json!({"role": "user", "content": format!("message {n}")}).to_string());
        session.add_many((0..STEP + 9).map(said).collect(), 2).unwrap();
        let copy = Copy { source: session.status().unwrap(), at: STEP + 9, new_id: "copy".to_owned() };
        let begin = || {
            let (copy, scope) = (copy.clone(), scope.clone());
            engine.write(move |txn| copy.begin(txn, &scope, 3)).unwrap()
        };
        let place = begin();
        engine.compact().unwrap();
        assert!(!copy_all(&session, &copy, place, 3).unwrap(), "it is swept");
        let (place, step, owned) = (begin(), copy.clone(), scope.clone());
        assert!(engine.write(move |txn| step.messages(txn, &owned, place, 0, STEP, 3)).unwrap());
        engine.compact().unwrap();
        let (last, owned) = (copy.clone(), scope.clone());
        assert!(!engine.write(move |txn| last.finish(txn, &owned, place, 3)).unwrap(), "nor is half of it named");
        session.fork("copy", None, 4).unwrap();
        let copied = Session { id: "copy", ..session };
        assert_eq!(copied.status().unwrap().record.tally.messages, STEP + 9);
        assert!(engine.check().unwrap().findings.is_empty());
    }
}
