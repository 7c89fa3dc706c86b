//! Who answers a session now: one worker at a time, until it says that it is done or its time is over.
//!
//! A lease keeps two workers from asking a model the same thing. It stands in nobody's way otherwise: messages are added while it is
//! held, and a reply is refused for its prompt's age alone. Times are the store's clock; a holder that died holds until its time, or
//! until a claim names it as dead.
//!
//! It costs no transaction of its own where it is taken with the message that is to be answered and ends with the reply.

use crate::Result;
use crate::context::Arguments;
use crate::limits;
use crate::session::add::NewMessage;
use crate::session::key::SessionKey;
use crate::session::record::{locate, no_such_session};
use crate::session::session::Session;
use crate::session::writer::{Added, SessionWriter};
use crate::store::envelope::{self, Codec};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};

const SCHEMA: u8 = 1;

/// A lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Whose it is: a name that no other holder has.
    pub holder: String,
    /// Since when, microseconds since 1970 (UTC).
    pub since: i64,
    /// Until when.
    pub until: i64,
}

impl Lease {
    fn read<P: Pages>(pages: &P, place: SessionKey) -> Result<Option<Self>> {
        let key = place.lease();
        let Some(value) = pages.get(key.as_slice())? else { return Ok(None) };
        let mut r = Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?;
        Ok(Some(Self { holder: r.text()?.to_owned(), since: r.int()?, until: r.int()? }))
    }

    fn write(&self, pages: &mut impl PagesMut, place: SessionKey) -> Result<()> {
        let (key, mut w) = (place.lease(), Writer::array(3));
        w.text(&self.holder);
        w.int(self.since);
        w.int(self.until);
        pages.put(key.as_slice(), &envelope::seal(key.as_slice(), SCHEMA, Codec::MessagePack, w.bytes()))
    }
}

/// Who wants a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// A name that no other holder has.
    pub holder: String,
    /// A holder that is known to be dead: its lease counts as none.
    pub dead: Option<String>,
    /// Until when it is wanted, microseconds since 1970 (UTC).
    pub until: i64,
    /// The time now.
    pub now: i64,
}

impl Claim {
    /// A claim that lasts so many seconds.
    pub fn lasting(holder: String, dead: Option<String>, seconds: f64, now: i64) -> Result<Self> {
        Ok(Self { holder, dead, until: now.saturating_add(limits::lease(seconds)?), now })
    }

    /// Takes the lease, or prolongs it. Returns the lease of its holder, where that is another that lives.
    fn take(&self, pages: &mut impl PagesMut, place: SessionKey) -> Result<Option<Lease>> {
        let known = self.held(Lease::read(&*pages, place)?);
        if let Some(other) = known.as_ref().filter(|lease| lease.holder != self.holder) {
            return Ok(Some(other.clone()));
        }
        let since = known.map_or(self.now, |lease| lease.since);
        Lease { holder: self.holder.clone(), since, until: self.until }.write(pages, place)?;
        Ok(None)
    }

    fn held(&self, lease: Option<Lease>) -> Option<Lease> {
        lease.filter(|lease| lease.until > self.now && self.dead.as_ref() != Some(&lease.holder))
    }
}

/// The outcome of a message that was to be added with a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leased {
    /// It was added, and the lease is the claim's.
    Added(Added),
    /// Another holds the lease. Nothing was written.
    Held(Lease),
}

/// Gives a lease back; `false` where it was another's or nobody's by now.
pub(in crate::session) fn end(pages: &mut impl PagesMut, place: SessionKey, holder: &str) -> Result<bool> {
    let own = Lease::read(&*pages, place)?.is_some_and(|lease| lease.holder == holder);
    if own {
        pages.delete(place.lease().as_slice())?;
    }
    Ok(own)
}

impl Session<'_> {
    /// Takes the lease until `until`, or prolongs it. Returns the lease of its holder, where that is another.
    pub fn take_lease(&self, holder: &str, until: i64, now: i64) -> Result<Option<Lease>> {
        self.claim_lease(Claim { holder: holder.to_owned(), dead: None, until, now })
    }

    /// Takes the lease for a caller that knows that a holder died. Returns the lease of its holder, where that is another.
    pub fn claim_lease(&self, claim: Claim) -> Result<Option<Lease>> {
        crate::scope::check_id("lease", &claim.holder)?;
        self.write(move |txn, scope, id| {
            let place = locate(&*txn, scope, id)?.ok_or_else(|| no_such_session(id))?;
            claim.take(txn, place)
        })
    }

    /// Takes the lease and adds the message that is to be answered, in one transaction: both are there, or neither.
    pub fn add_leased(&self, new: NewMessage, claim: Claim) -> Result<Leased> {
        crate::scope::check_id("lease", &claim.holder)?;
        // A waiting caller asks often, and asks before the message is made ready.
        if let Some(other) = claim.held(self.lease(claim.now)?).filter(|lease| lease.holder != claim.holder) {
            return Ok(Leased::Held(other));
        }
        let prepared = self.prepare(new, Arguments::MustBeJson, claim.now)?;
        self.write(move |txn, scope, id| {
            let place = locate(&*txn, scope, id)?.ok_or_else(|| no_such_session(id))?;
            if let Some(other) = claim.take(txn, place)? {
                return Ok(Leased::Held(other));
            }
            let mut writer = SessionWriter::at(txn, scope, place, claim.now)?;
            writer.record.check_live("adding a message")?;
            let added = writer.add(&prepared, None, None)?;
            writer.finish()?;
            Ok(Leased::Added(added))
        })
    }

    /// The present holder of the lease.
    pub fn lease(&self, now: i64) -> Result<Option<Lease>> {
        self.engine.store().read(|pages| {
            let place = self.expect(pages)?.place;
            Ok(Lease::read(pages, place)?.filter(|lease| lease.until > now))
        })
    }

    /// Gives the lease back; `false` where it was another's or nobody's by now.
    pub fn release_lease(&self, holder: &str) -> Result<bool> {
        let holder = holder.to_owned();
        self.write(move |txn, scope, id| match locate(&*txn, scope, id)? {
            Some(place) => end(txn, place, &holder),
            None => Ok(false),
        })
    }
}
