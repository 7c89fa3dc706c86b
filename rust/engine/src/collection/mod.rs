//! Collections: documents of a scope, cut into chunks that a question finds, each with its place in its document.
//!
//! A collection has a partition of its own, so that its chunks are found and counted apart from memories. A document is stored as a
//! *revision*: its text once, its chunks as ranges of it. A revision is written ahead, in transactions that are bounded however long the
//! document is; then one pointer in the document's record is switched, and from that commit on its chunks are found and those of the
//! revision before are not. No reader sees a chunk that nothing points at. It is removed in bounded steps: by the call itself, or by
//! maintenance where the process died.
//!
//! Start reading at [`add`]; [`chunk`] cuts, [`search`] finds, `record` and `head` are what is stored. Deliberately not here: reading
//! files, and asking a caller's embedder.

pub mod add;
pub mod chunk;
pub(crate) mod doctor;
mod head;
pub(crate) mod mend;
mod name;
mod pending;
mod read;
mod record;
pub(crate) mod rehash;
pub mod remove;
pub mod search;
mod sweep;
mod typos;
mod writer;

pub use add::{Action, Added, NewDocument, Prepared};
pub use chunk::Format;
pub use head::Head;
pub use name::{CollectionName, list};
pub use read::{contents, count, get, info, page};
pub use record::Document;
pub use search::{Hit, Request, Search};

pub(crate) use name::{dropped_of, is_collection, of_owner};
pub(crate) use pending::{adopt, fill, next_pending, pending};
pub(crate) use read::{is_gone, is_missing};
pub(crate) use remove::expire;
pub use sweep::sweep;
pub(crate) use sweep::{drop_unfinished, dropped as sweep_dropped, sweep_unfinished};

/// The words of chunks, among the indexes of a partition.
const CHUNKS: u8 = 2;
pub(crate) use typos::repaired;
