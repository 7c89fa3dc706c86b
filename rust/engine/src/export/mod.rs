//! A whole store as a file of JSON lines, and back into an empty one.
//!
//! ```text
//! {"memspan":"export","version":1,"format":5,"created_at":...,"secret":"<base64>","keyed":true}
//! {"table":"ScopeByName","partition":0,...}                  one line for each value, in the order of the keys
//! ...
//! {"end":{"lines":1234,"crc32":"89abcdef"}}                  of all lines before this one
//! ```
//!
//! Every value of every table is there, indexes too: what was derived need not be made again, and an answer is the same to the bit.
//! The lines are a function of what is stored, so that a store which was loaded is exported to the same bytes. Left out are the records
//! of a generation about itself, whose part that matters is the first line. [`line`] says how a value is written, [`schema`] what
//! its fields are called; docs/format.md has both for readers without memspan.
//!
//! Deliberately not here: where the lines come from and go to (`engine/export.rs`), and the switch to what was loaded (`store/load.rs`).

mod base64;
mod json;
mod line;
mod read;
mod schema;
mod write;

pub use read::Loading;
pub use write::write;

use serde::{Deserialize, Serialize};

use crate::store::identity::Secret;

/// The version of the lines.
pub const VERSION: u32 = 1;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    memspan: String,
    version: u32,
    /// The format of the store: of its keys and bodies.
    format: u32,
    created_at: i64,
    /// What the hashes in its keys are keyed with.
    secret: String,
    keyed: bool,
}

impl Header {
    fn secret(&self) -> Option<Secret> {
        Some(Secret { key: base64::decode(&self.secret)?.try_into().ok()?, keyed: self.keyed })
    }
}

/// The last line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Trailer {
    end: End,
}

/// What vouches for the lines before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct End {
    lines: u64,
    crc32: String,
}
