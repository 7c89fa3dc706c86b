//! Who answers a session now: one worker at a time, until it says that it is done or its time is over.
//!
//! A lease keeps two workers from asking a model the same thing. It stands in nobody's way otherwise: messages are added while it is
//! held, and a reply is refused for its prompt's age alone. Times are the store's clock; a holder that died holds until its time.

use crate::Result;
use crate::session::place::Place;
use crate::session::session::Session;
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
    fn read<P: Pages>(pages: &P, place: Place) -> Result<Option<Self>> {
        let key = place.lease();
        let Some(value) = pages.get(key.as_slice())? else { return Ok(None) };
        let mut r = Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?;
        Ok(Some(Self { holder: r.text()?.to_owned(), since: r.int()?, until: r.int()? }))
    }

    fn write(&self, pages: &mut impl PagesMut, place: Place) -> Result<()> {
        let (key, mut w) = (place.lease(), Writer::array(3));
        w.text(&self.holder);
        w.int(self.since);
        w.int(self.until);
        pages.put(key.as_slice(), &envelope::seal(key.as_slice(), SCHEMA, Codec::MessagePack, w.bytes()))
    }
}

impl Session<'_> {
    /// Takes the lease until `until`, or prolongs it; the lease of whoever holds it, where that is another.
    pub fn take_lease(&self, holder: &str, until: i64, now: i64) -> Result<Option<Lease>> {
        crate::scope::check_id("lease", holder)?;
        let (holder, id, scope) = (holder.to_owned(), self.id.to_owned(), self.scope.clone());
        self.engine.write(move |txn| {
            let place = crate::session::record::locate(&*txn, &scope, &id)?.ok_or_else(|| crate::session::record::no_such_session(&id))?;
            let known = Lease::read(&*txn, place)?.filter(|lease| lease.until > now);
            if let Some(other) = known.as_ref().filter(|lease| lease.holder != holder) {
                return Ok(Some(other.clone()));
            }
            let since = known.map_or(now, |lease| lease.since);
            Lease { holder: holder.clone(), since, until }.write(txn, place)?;
            Ok(None)
        })
    }

    /// Whoever holds the lease now.
    pub fn lease(&self, now: i64) -> Result<Option<Lease>> {
        self.engine.store().read(|pages| {
            let place = self.expect(pages)?.place;
            Ok(Lease::read(pages, place)?.filter(|lease| lease.until > now))
        })
    }

    /// Gives the lease back; `false` where it was another's or nobody's by now.
    pub fn release_lease(&self, holder: &str) -> Result<bool> {
        let (holder, id, scope) = (holder.to_owned(), self.id.to_owned(), self.scope.clone());
        self.engine.write(move |txn| {
            let Some(place) = crate::session::record::locate(&*txn, &scope, &id)? else { return Ok(false) };
            let own = Lease::read(&*txn, place)?.is_some_and(|lease| lease.holder == holder);
            if own {
                txn.delete(place.lease().as_slice())?;
            }
            Ok(own)
        })
    }
}
