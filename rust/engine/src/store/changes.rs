//! The changes of a transaction, in their order. They are recorded only where somebody asked for it, and else cost nothing.

/// A value that was put, or a key that was deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The whole key, partition first.
    pub key: Vec<u8>,
    /// The whole value, envelope included; `None` where it was deleted.
    pub value: Option<Vec<u8>>,
}
