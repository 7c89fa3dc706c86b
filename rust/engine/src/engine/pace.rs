//! How long a call may take, judged before it runs. The Python border releases the interpreter for the long ones.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use std::time::{Duration, Instant};

use super::Engine;
use crate::context::{Message, Part};
use crate::gate::Heard;
use crate::scope::Scope;
use crate::session::{Ask, NewMessage};
use crate::{Result, recall};

/// Above so many bytes a text takes long enough to analyse or count.
const SHORT_TEXT: usize = 16 << 10;
/// Above so many bytes it takes milliseconds, and hundreds of them where it is much more.
const LONG_TEXT: usize = 64 << 10;
/// Up to so many rows are stored in a few milliseconds.
const FEW_ROWS: usize = 64;
/// A text up to so many bytes is looked up in the cache of counts at once: hashing it takes 25 us.
const SOON_HASHED: usize = 256 << 10;
/// Texts of so many bytes take a millisecond if the cache of counts knows none of them.
const SOON_COUNTED: usize = 64 << 10;
/// Up to so many memories in its scopes, a read is over in well under a millisecond.
const FEW_DOCUMENTS: u64 = 20_000;
/// A chunk of a document is longer than a memory.
const FEW_CHUNKS: u64 = FEW_DOCUMENTS / 4;
/// A call that took longer is not short, whatever its size says.
const SHORT: Duration = Duration::from_millis(1);
/// Up to so many tokens a prompt is assembled and rendered in well under a millisecond.
const FEW_TOKENS: u64 = 40_000;

/// How long a call takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pace {
    /// Microseconds: giving something up and taking it back would cost more, and much more where others are busy.
    Short,
    /// It may wait for a disk or a lock, or take longer than a millisecond.
    Waits,
    /// It may take longer than anybody wants to wait.
    Long,
    /// It may take longer than anybody wants to wait, and behind it nothing is left to be done of what the caller asked for.
    Whole,
}

impl Pace {
    fn short_if(short: bool) -> Self {
        if short { Self::Short } else { Self::Waits }
    }

    /// The pace of analysing or counting a text.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        Self::of_bytes(text.len(), SHORT_TEXT)
    }

    /// The pace of storing `bytes` bytes, or of answering from a store that has them.
    #[must_use]
    pub fn of_work(bytes: usize) -> Self {
        if bytes > LONG_TEXT { Self::Long } else { Self::Waits }
    }

    /// The pace of adding a message.
    #[must_use]
    pub fn of_new(new: &NewMessage) -> Self {
        Self::of_work(new.given.len())
    }

    /// The pace of storing `rows` rows at once.
    #[must_use]
    pub fn of_rows(rows: usize) -> Self {
        if rows > FEW_ROWS { Self::Long } else { Self::Waits }
    }

    /// The pace of judging messages for what is to be learnt.
    #[must_use]
    pub fn of_heard(heard: &[Heard]) -> Self {
        let bytes: usize = heard.iter().map(|heard| heard.text.len()).sum();
        if bytes > SHORT_TEXT { Self::Long } else { Self::of_rows(heard.len()) }
    }

    fn of_bytes(bytes: usize, short: usize) -> Self {
        if bytes <= short { Self::Short } else { Self::of_work(bytes) }
    }

    /// Whether looking for a text's count is short, whatever counting it would be.
    #[must_use]
    pub fn is_soon_hashed(text: &str) -> bool {
        text.len() <= SOON_HASHED
    }

    /// The pace of counting messages.
    #[must_use]
    pub fn of_messages(messages: &[Message]) -> Self {
        Self::of_bytes(messages.iter().flat_map(|message| &message.parts).map(Part::size).sum(), SOON_COUNTED)
    }

    /// The pace of reading `messages` messages back.
    #[must_use]
    pub fn of_page(messages: u64) -> Self {
        if messages == 1 { Self::Short } else { Self::Long }
    }

    /// The pace of rendering a prompt of `tokens` tokens.
    #[must_use]
    pub fn of_prompt(tokens: u64) -> Self {
        Self::short_if(tokens <= FEW_TOKENS)
    }

    /// The pace of a recall, by what its scope had at the last one.
    #[must_use]
    pub fn of_recall(request: &recall::Request, last: &Last) -> Self {
        Self::of_text(&request.text).max(Self::short_if(request.scopes.len() == 1 && last.size() <= FEW_DOCUMENTS))
    }

    /// The pace of a search in a collection of `chunks` chunks.
    #[must_use]
    pub fn of_chunks(chunks: u64, query: &str) -> Self {
        Self::of_text(query).max(Self::short_if(chunks <= FEW_CHUNKS))
    }

    /// The pace of assembling a prompt that recalls from `scopes`, by the tokens of the last one.
    pub fn of_assembly(engine: &Engine, scopes: &[Scope], ask: &Ask, last: &Last) -> Result<Self> {
        let items = Self::of_bytes(ask.items.iter().map(|item| item.text.len()).sum(), SOON_COUNTED);
        let found = Self::short_if(engine.documents(scopes)? <= FEW_DOCUMENTS);
        let asked = ask.query.as_deref().map_or(Self::Short, Self::of_text);
        Ok(Self::of_prompt(last.size()).max(items).max(found).max(asked))
    }
}

/// How large the answer to the last call was; larger than any before the first, and where that was not short after all: long messages were
/// cut to the part that answers, or many hits were wanted.
#[derive(Debug)]
pub struct Last(AtomicU64);

impl Default for Last {
    fn default() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }
}

impl Last {
    /// Makes a call, and notes how large its answer is by `size`, and how long it took.
    pub fn noted<T>(&self, call: impl FnOnce() -> Result<T>, size: impl FnOnce(&T) -> u64) -> Result<T> {
        let started = Instant::now();
        let answer = call()?;
        self.note(size(&answer), started.elapsed());
        Ok(answer)
    }

    fn note(&self, size: u64, took: Duration) {
        self.0.store(if took <= SHORT { size } else { u64::MAX }, Relaxed);
    }

    /// The next one may be of any size.
    pub fn forget(&self) {
        self.0.store(u64::MAX, Relaxed);
    }

    /// How large it was.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::{Filter, Request};
    use crate::scope::ScopeType;

    fn request(text: String, scopes: usize) -> Request {
        let scopes = vec![Scope::new(None, ScopeType::User, "u").expect("a scope"); scopes];
        let filter = Filter::all(0);
        Request { text, vector: None, scopes, limit: 10, filter, min_score: 0.0, max_tokens: None }
    }

    #[test]
    fn a_recall_is_short_once_its_scope_is_known_to_be_small() {
        let last = Last::default();
        let of = |text: &str, scopes, last: &Last| Pace::of_recall(&request(text.to_owned(), scopes), last);
        assert_eq!(of("tea?", 1, &last), Pace::Waits, "the first");
        last.note(FEW_DOCUMENTS, SHORT);
        assert_eq!(of("tea?", 1, &last), Pace::Short);
        assert_eq!(of("tea?", 2, &last), Pace::Waits, "of two scopes");
        assert_eq!(of(&"tea ".repeat(5_000), 1, &last), Pace::Waits, "a long question");
        assert_eq!(of(&"tea ".repeat(50_000), 1, &last), Pace::Long, "a very long one");
        last.note(FEW_DOCUMENTS + 1, SHORT);
        assert_eq!(of("tea?", 1, &last), Pace::Waits, "a large scope");
        last.note(FEW_DOCUMENTS, SHORT + Duration::from_micros(1));
        assert_eq!(of("tea?", 1, &last), Pace::Waits, "the last one took long");
        last.note(FEW_DOCUMENTS, SHORT);
        last.forget();
        assert_eq!(of("tea?", 1, &last), Pace::Waits);
    }

    #[test]
    fn what_is_large_waits() {
        assert_eq!([FEW_TOKENS, FEW_TOKENS + 1].map(Pace::of_prompt), [Pace::Short, Pace::Waits]);
        assert_eq!([FEW_CHUNKS, FEW_CHUNKS + 1].map(|chunks| Pace::of_chunks(chunks, "tea?")), [Pace::Short, Pace::Waits]);
        assert_eq!([1, 2].map(Pace::of_page), [Pace::Short, Pace::Long]);
        assert_eq!([FEW_ROWS, FEW_ROWS + 1].map(Pace::of_rows), [Pace::Waits, Pace::Long]);
        assert_eq!([LONG_TEXT, LONG_TEXT + 1].map(Pace::of_work), [Pace::Waits, Pace::Long]);
        let heard = |messages: usize, bytes: usize| vec![Heard::new(0, "user", &"a".repeat(bytes / messages), None); messages];
        let few = [heard(4, SHORT_TEXT), heard(4, SHORT_TEXT + 4), heard(FEW_ROWS, FEW_ROWS), heard(FEW_ROWS + 1, FEW_ROWS + 1)];
        assert_eq!(few.map(|heard| Pace::of_heard(&heard)), [Pace::Waits, Pace::Long, Pace::Waits, Pace::Long]);
        let message = |length: usize| [Message::text(crate::context::Role::User, &"x".repeat(length))];
        assert_eq!([SOON_COUNTED, SOON_COUNTED + 1].map(|length| Pace::of_messages(&message(length))), [Pace::Short, Pace::Long]);
    }
}
