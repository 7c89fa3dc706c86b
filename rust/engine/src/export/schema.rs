//! The names of tables, parts of keys and fields in an export. A field without a name here is written all the same, under its number.

use crate::store::keys::Table;

/// How a table is written.
#[derive(Debug, Clone, Copy)]
pub struct Schema {
    /// The parts of its keys behind the table, with their bytes, big-endian. None: the key in hexadecimal.
    pub key: &'static [(&'static str, usize)],
    /// Whether its keys end with the number of a chunk, so that a body of any length is one line.
    pub chunked: bool,
    /// The names of the fields of its bodies, in order. None: an array, or whatever the body is.
    pub fields: &'static [&'static str],
}

impl Schema {
    const PLAIN: Self = Self { key: &[], chunked: false, fields: &[] };

    const fn of(key: &'static [(&'static str, usize)], chunked: bool, fields: &'static [&'static str]) -> Self {
        Self { key, chunked, fields }
    }
}

/// The table of a name.
pub fn named(name: &str) -> Option<Table> {
    Table::ALL.into_iter().find(|table| format!("{table:?}") == name)
}

/// The table of a byte.
pub fn numbered(byte: u8) -> Option<Table> {
    Table::ALL.into_iter().find(|table| *table as u8 == byte)
}

const REVISION: &[&str] = &[
    "id",
    "text",
    "kind",
    "slot",
    "importance",
    "confidence",
    "trust",
    "source",
    "sequence",
    "revision",
    "created_at",
    "known_from",
    "occurred_at",
    "expires_at",
    "metadata",
    "supersedes",
    "request",
    "state",
    "known_until",
    "valid_until",
    "superseded_by",
    "reason",
    "session",
    "message",
    "writer",
    "derived_from",
    "reinforced",
    "last_seen",
    "disputes",
    "tokens",
];

/// How a table is written; docs/format.md has what each field says.
#[allow(clippy::too_many_lines, clippy::match_same_arms)] // one arm for each table
pub fn of(table: Table) -> Schema {
    match table {
        Table::ScopeByName => Schema::of(&[("hash", 16)], false, &["partition", "name"]),
        Table::ScopeByNumber => Schema::of(&[("number", 4)], false, &[]),
        Table::Embedding => Schema::of(&[("embedding", 2)], false, &["name", "dimensions", "revision", "probe"]),
        Table::Learned => Schema::of(&[("hash", 16)], false, &["model", "encoding", "prior", "exceeded", "classes"]),
        Table::VectorExact => Schema::of(&[("embedding", 2), ("number", 4), ("chunk", 2)], false, &[]),
        Table::VectorBlock => Schema::of(&[("embedding", 2), ("first", 4)], false, &[]),
        Table::Memory => Schema::of(&[("number", 4)], true, REVISION),
        Table::History => Schema::of(&[("number", 4), ("revision", 4)], true, REVISION),
        Table::Head => Schema::of(
            &[],
            false,
            &[
                "next_number",
                "sequence",
                "last_time",
                "documents",
                "total_length",
                "analyzer",
                "embedding",
                "vectors",
                "ids_taken",
                "kinds_indexed",
                "building",
                "built",
                "leaving",
            ],
        ),
        Table::Slot => Schema::of(&[("hash", 8)], true, &["name", "multi", "current"]),
        Table::Access => Schema::of(&[("rows", 4)], false, &[]),
        Table::Quarantine => Schema::of(&[("number", 4)], false, &[]),
        Table::SaidAgain => Schema::of(&[("hash", 16)], false, &["memory"]),
        Table::LearnMark => Schema::of(&[("hash", 16)], false, &["next", "edits", "created_at"]),
        Table::Relation => Schema::of(&[("number", 4)], true, &["subject", "relation", "object", "since", "until", "memory"]),
        Table::SessionByName => Schema::of(&[("hash", 16)], false, &["session"]),
        // The record of a session stands behind its messages and has other fields: both as arrays.
        Table::Transcript => Schema::of(&[("session", 4), ("index", 4)], true, &[]),
        Table::Turn => Schema::of(&[("session", 4), ("turn", 4)], false, &["start", "kept"]),
        Table::Recount => Schema::of(&[("session", 4), ("switch", 2), ("index", 4)], false, &["tokens", "exact", "tokens_before"]),
        Table::Call => Schema::of(
            &[("session", 4), ("turn", 4), ("call", 2)],
            true,
            &["reply", "added_at", "response_id", "model", "finish", "usage", "usage_tokens", "sent", "hash"],
        ),
        Table::Epoch => Schema::of(
            &[("session", 4), ("epoch", 4)],
            true,
            &["epoch", "model", "system", "tools", "switch", "recounted_from", "recounted_to", "began_at", "stamps"],
        ),
        Table::MessageId => Schema::of(&[("session", 4), ("hash", 8)], false, &["message", "request", "gone"]),
        Table::Task => Schema::of(&[("session", 4), ("hash", 8)], true, &["name", "expires_at", "version", "entries"]),
        Table::Blob => Schema::of(&[("hash", 16)], false, &["references", "length", "created_at"]),
        Table::BlobChunk => Schema::of(&[("hash", 16), ("chunk", 2)], false, &[]),
        Table::Document => Schema::of(&[("number", 4)], false, &["session", "message", "flags", "speaker", "tokens", "said_at"]),
        Table::SessionsHead => Schema::of(&[], false, &["sessions", "last_document", "newest_said_at", "most_behind"]),
        Table::Summary => Schema::of(
            &[("session", 4), ("version", 4)],
            true,
            &["start", "end", "lines", "calls", "left_out", "erased", "made_at", "checked", "prompt", "refused"],
        ),
        Table::SessionPolicy => Schema::of(&[("session", 4)], false, &["at", "every_turns", "result_tokens", "task_ended"]),
        Table::Note => Schema::of(&[("session", 4), ("number", 4)], true, &["text"]),
        Table::SessionMetadata => Schema::of(&[("session", 4)], true, &[]),
        Table::CollectionByName => Schema::of(&[("hash", 16)], false, &["partition", "name"]),
        Table::CollectionHead => Schema::of(
            &[],
            false,
            &[
                "last_document",
                "last_revision",
                "last_chunk",
                "last_time",
                "documents",
                "bytes",
                "chunks",
                "analyzer",
                "embedding",
                "vectors",
            ],
        ),
        Table::CollectionId => Schema::of(&[("hash", 16)], false, &["number"]),
        Table::CollectionDocument => Schema::of(
            &[("number", 4)],
            true,
            &[
                "id",
                "version",
                "revision",
                "format",
                "source",
                "metadata",
                "created_at",
                "updated_at",
                "expires_at",
                "bytes",
                "characters",
                "chunks",
                "chunk_tokens",
                "request",
            ],
        ),
        Table::CollectionText => Schema::of(&[("revision", 4), ("part", 2)], false, &[]),
        Table::CollectionChunk => {
            Schema::of(&[("number", 4)], false, &["revision", "start", "end", "start_character", "end_character", "path"])
        }
        Table::CollectionRevision => Schema::of(&[("revision", 4)], true, &["state", "document", "written_at", "bytes", "chunks"]),
        Table::CollectionWork => Schema::of(&[("revision", 4)], false, &[]),
        Table::Lease => Schema::of(&[("session", 4)], false, &["holder", "since", "until"]),
        Table::PartialReply => Schema::of(&[("session", 4)], true, &["messages", "began_at", "written_at", "error", "response"]),
        Table::RefusedLimit => Schema::of(&[("session", 4)], false, &["model", "input_tokens", "output_tokens"]),
        // Indexes, and tables that are known by their numbers alone.
        _ => Schema::PLAIN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_key_is_called_like_a_field_of_a_line() {
        let taken = ["table", "partition", "key", "schema", "continues", "value", "packed", "raw", "block"];
        for table in Table::ALL {
            let shape = of(table);
            assert!(shape.key.iter().all(|(name, _)| !taken.contains(name)), "{table:?}");
            assert!(shape.fields.iter().enumerate().all(|(at, name)| !shape.fields[..at].contains(name)), "{table:?}");
        }
    }
}
