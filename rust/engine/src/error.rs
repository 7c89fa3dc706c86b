//! The one error of the engine: a kind, a message in five parts, and the values as fields.
//!
//! A message says what was being done, the rule, the value received, where, and what to do next. The binding turns
//! each [`ErrorKind`] into the Python class of the same name and each field into an attribute of the exception.

use std::fmt;

/// The most bytes of a message. A longer one, which has a long value of the caller's in it, loses its middle: what was done stands at its
/// beginning, and what to do next at its end.
const LONGEST: usize = 4_096;

/// The result of every fallible call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an error, by which a caller tells errors apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// An argument breaks a rule that its docstring states.
    InvalidInput,
    /// The memory, session or slot that was named does not exist.
    NotFound,
    /// An `id=` was used before, with other content.
    IdConflict,
    /// Nothing was written: another writer held the store until the timeout ran out.
    StoreBusy,
    /// The store was opened with `read_only=True`, or its folder cannot be written.
    ReadOnly,
    /// The engine, or the scope's partition, is closed; or the session was ended.
    Closed,
    /// The folder holds something that is not a store, or a damaged one.
    StoreCorrupt,
    /// The store was written by a newer version of memspan.
    StoreVersion,
    /// The key is missing, or not the store's; or the store is not encrypted.
    WrongKey,
    /// The store is open where its locks cannot be shared: another container, another libc, a network file system.
    StoreNotShareable,
    /// No room: the disk or the reserved map is full.
    StoreFull,
    /// The caller wants the call to end: Ctrl-C.
    Interrupted,
    /// Another process made the map larger: the gate adopts it and tries again, so that no caller sees this.
    MapResized,
    /// A file of the open store was removed or replaced: the gate opens the store anew and tries again; a caller sees it only where that
    /// does not help.
    FilesReplaced,
    /// The operating system refused an operation on the store's files.
    StoreIo,
    /// A sync failed: whether the write is on disk is unknown.
    OutcomeUnknown,
    /// The embedder raised, timed out, or returned something that is not what it declared.
    Embedder,
    /// The session moved on: `expect_index`, or the prompt, is stale.
    SessionMoved,
    /// The session belongs to another model.
    ModelMismatch,
    /// The fixed parts of a prompt do not fit the limit.
    BudgetExceeded,
    /// A result came for a tool call that was answered or cancelled.
    ToolCallClosed,
    /// The model is not in the registry.
    UnknownModel,
    /// A tokenizer file is not what it should be.
    Tokenizer,
    /// The engine found itself in a state that must not be.
    Internal,
}

impl ErrorKind {
    /// Its name, as callers in other languages tell errors apart.
    #[must_use]
    pub fn name(self) -> String {
        format!("{self:?}")
    }
}

/// A value that belongs to an error, for programs.
#[derive(Debug, Clone, PartialEq)]
pub enum Field {
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text.
    Text(String),
}

/// The engine's error.
#[derive(Debug, Clone)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    fields: Vec<(&'static str, Field)>,
}

impl Error {
    /// An error of `kind` with its message.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: without_middle(message.into()), fields: Vec::new() }))
    }

    /// Bad input: the commonest kind.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidInput, message)
    }

    /// The error that a panic becomes for the caller; `payload` is that of [`std::panic::catch_unwind`]. An error that unwound is itself.
    #[must_use]
    pub fn of_panic(payload: &(dyn std::any::Any + Send)) -> Self {
        if let Some(error) = payload.downcast_ref::<Self>() {
            return error.clone();
        }
        let words = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
        Self::new(
            ErrorKind::Internal,
            format!(
                "running the engine: it found itself in a state that must not be ({}); nothing half done was written: please report this with the steps that led here",
                words.unwrap_or("no message")
            ),
        )
    }

    /// Adds a value for programs.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Field>) -> Self {
        self.0.fields.push((name, value.into()));
        self
    }

    /// Says what is also so.
    #[must_use]
    pub fn and(mut self, more: &str) -> Self {
        self.0.message.push_str("; ");
        self.0.message.push_str(more);
        self
    }

    /// The kind of an error, by which a caller tells errors apart.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The five-part message.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The values, by name.
    #[must_use]
    pub fn fields(&self) -> &[(&'static str, Field)] {
        &self.0.fields
    }
}

/// A message of at most [`LONGEST`] bytes.
fn without_middle(message: String) -> String {
    if message.len() <= LONGEST {
        return message;
    }
    let is_border = |at: &usize| message.is_char_boundary(*at);
    let beginning = (0..=LONGEST / 2).rev().find(is_border).map_or("", |at| &message[..at]);
    let end = (message.len() - LONGEST / 4..message.len()).find(is_border).map_or("", |at| &message[at..]);
    format!("{beginning} [{} bytes more] {end}", message.len() - beginning.len() - end.len())
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

impl From<i64> for Field {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<usize> for Field {
    fn from(value: usize) -> Self {
        Self::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Field {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for Field {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Field {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_does_not_hide_what_to_do_next() {
        let long = "\u{4e2d}".repeat(100_000);
        let error = Error::invalid(format!("remembering: kind must be a word, got {long:?}: pass a name such as fact"));
        assert!(error.message().starts_with("remembering: kind must be a word, got \"\u{4e2d}"));
        assert!(error.message().ends_with("\": pass a name such as fact"));
        assert!(error.message().len() <= LONGEST && error.message().contains(" bytes more] "));
        let short = "a".repeat(LONGEST);
        assert_eq!(Error::invalid(short.clone()).message(), short);
    }

    #[test]
    fn a_panic_is_an_error_with_its_words() {
        let caught = std::panic::catch_unwind(|| std::panic::panic_any("the index was 7")).unwrap_err();
        let error = Error::of_panic(&*caught);
        assert_eq!(error.kind().name(), "Internal");
        assert!(error.message().contains("(the index was 7); nothing half done was written"), "{error}");
        assert!(Error::of_panic(&7).message().contains("(no message)"));
    }
}
