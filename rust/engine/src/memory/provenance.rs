//! Where a memory comes from, and how often it was heard: fields behind those of a plain record (docs/format.md).

use crate::Result;
use crate::store::msgpack::{Reader, Writer};

/// Where a memory comes from. The default says nothing, and is not stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Provenance {
    /// The session in which it was said.
    pub session: Option<String>,
    /// The message of that session.
    pub message: Option<u64>,
    /// Its writer: "rules", "model", "consolidation", "tool"; `None` for a caller.
    pub writer: Option<String>,
    /// The numbers of the memories that it was made from.
    pub derived_from: Vec<u32>,
    /// How often it was said again.
    pub reinforced: u32,
    /// When it was said last, microseconds since 1970; 0 where that is when it was first.
    pub last_seen: i64,
    /// The numbers of memories that say otherwise, where neither is known to be newer or truer.
    pub disputes: Vec<u32>,
}

impl Provenance {
    /// Whether there is nothing to store.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn write(&self, body: &mut Writer) {
        body.maybe_text(self.session.as_deref());
        body.maybe_int(self.message.map(|message| message as i64));
        body.maybe_text(self.writer.as_deref());
        write_numbers(body, &self.derived_from);
        body.uint(u64::from(self.reinforced));
        body.int(self.last_seen);
        write_numbers(body, &self.disputes);
    }

    /// How many fields [`write`](Self::write) writes.
    pub(super) const FIELDS: u32 = 7;

    pub(super) fn read(r: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            session: r.maybe_text()?.map(str::to_owned),
            message: r.maybe_int()?.map(|message| message as u64),
            writer: r.maybe_text()?.map(str::to_owned),
            derived_from: read_numbers(r)?,
            reinforced: r.uint()? as u32,
            last_seen: r.int()?,
            disputes: read_numbers(r)?,
        })
    }
}

fn write_numbers(body: &mut Writer, numbers: &[u32]) {
    body.nested(numbers.len() as u32);
    for number in numbers {
        body.uint(u64::from(*number));
    }
}

fn read_numbers(r: &mut Reader<'_>) -> Result<Vec<u32>> {
    (0..r.nested()?).map(|_| r.uint().map(|number| number as u32)).collect()
}
