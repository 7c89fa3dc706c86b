//! The attribute row of a document: 32 fixed bytes with what filters and the formula ask for.

/// Bytes of a row.
pub(super) const ROW_BYTES: usize = 32;

/// Rows of a block: what fits one page.
pub(super) const BLOCK_ROWS: u32 = 127;

/// Set in [`Row::flags`] of every document that can be found.
pub const PRESENT: u8 = 1;

/// [`Row::expires_at`] of what never expires.
pub const NEVER: i64 = i64::MAX;

/// The attributes of one document. Times are microseconds since 1970, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Kind of memory, as the caller numbers kinds.
    pub kind: u8,
    /// Trust in its source, 0 to 3.
    pub trust: u8,
    /// Bit 0: [`PRESENT`], kept by the index; the others are the caller's.
    pub flags: u8,
    /// 0 to 255.
    pub importance: u8,
    /// Terms of the document, as the formula's length.
    pub length: u32,
    /// When what it says happened.
    pub occurred_at: i64,
    /// When the store came to know it.
    pub known_from: i64,
    /// From when it is not to be found, or [`NEVER`].
    pub expires_at: i64,
}

impl Row {
    /// Whether the document is in the index.
    #[must_use]
    pub fn is_present(&self) -> bool {
        self.flags & PRESENT != 0
    }

    pub(super) fn present(self) -> Self {
        Self { flags: self.flags | PRESENT, ..self }
    }

    pub(super) fn to_bytes(self) -> [u8; ROW_BYTES] {
        let mut bytes = [0; ROW_BYTES];
        bytes[..4].copy_from_slice(&[self.kind, self.trust, self.flags, self.importance]);
        bytes[4..8].copy_from_slice(&self.length.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.occurred_at.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.known_from.to_le_bytes());
        bytes[24..].copy_from_slice(&self.expires_at.to_le_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; ROW_BYTES]) -> Self {
        let time = |word: usize| i64::from_le_bytes(bytes.as_chunks::<8>().0[word]);
        Self {
            kind: bytes[0],
            trust: bytes[1],
            flags: bytes[2],
            importance: bytes[3],
            length: u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
            occurred_at: time(1),
            known_from: time(2),
            expires_at: time(3),
        }
    }
}
