//! Makes values of the caller's language part by part, for code that reads or emits them.

use std::borrow::Cow;

use super::{Plain, read};
use crate::Error;

/// The maker of a language's values.
pub trait Make {
    /// Its values.
    type Value: Clone;
    /// An error of that language, or one of the engine's.
    type Error: From<Error>;

    /// A value; a list or a map is empty.
    fn make(&self, plain: Plain<'_>) -> Self::Value;

    /// Puts a value at the end of a list, or under its key into a map.
    fn put(&self, into: &mut Self::Value, key: Option<Self::Value>, value: Self::Value) -> Result<(), Self::Error>;
}

/// Takes the parts of a value in their order. One emission becomes JSON, or values of a language ([`Maker`]).
pub trait Parts: Sized {
    /// A text.
    fn text(&mut self, text: &str);

    /// A text that is said often, and needs no escape in JSON.
    fn word(&mut self, word: &'static str);

    /// A value as JSON.
    fn json(&mut self, json: &str);

    /// A key of a map, like a word; its value comes next.
    fn key(&mut self, key: &'static str);

    /// A list of what `fill` says.
    fn list(&mut self, fill: impl FnOnce(&mut Self));

    /// A map of the keys and values that `fill` says.
    fn map(&mut self, fill: impl FnOnce(&mut Self));

    /// A key and its text.
    fn field(&mut self, key: &'static str, text: &str) {
        self.key(key);
        self.text(text);
    }
}

/// Makes values of the parts that it is told.
pub struct Maker<'m, M: Make> {
    make: &'m M,
    /// Each word is made once, and known by its place.
    words: Vec<(&'static str, M::Value)>,
    /// The value that is being filled; in the end, the finished value.
    into: Option<M::Value>,
    /// The key of the next value of a map.
    key: Option<M::Value>,
    failed: Option<M::Error>,
}

impl<'m, M: Make> Maker<'m, M> {
    /// Nothing was said yet.
    #[must_use]
    pub fn new(make: &'m M) -> Self {
        Self { make, words: Vec::new(), into: None, key: None, failed: None }
    }

    /// The finished value, or the first error.
    pub fn finish(self) -> Result<M::Value, M::Error> {
        match self.failed {
            Some(error) => Err(error),
            None => Ok(self.into.unwrap_or_else(|| self.make.make(Plain::Null))),
        }
    }

    fn put(&mut self, value: M::Value) {
        let key = self.key.take();
        match &mut self.into {
            None => self.into = Some(value),
            Some(into) => {
                let done = self.make.put(into, key, value);
                self.note(done);
            }
        }
    }

    fn note(&mut self, done: Result<(), M::Error>) {
        if let Err(error) = done {
            self.failed.get_or_insert(error);
        }
    }

    fn made_once(&mut self, word: &'static str) -> M::Value {
        if let Some((_, made)) = self.words.iter().find(|(known, _)| std::ptr::eq(*known, word)) {
            return made.clone();
        }
        let made = self.make.make(Plain::Text(Cow::Borrowed(word)));
        self.words.push((word, made.clone()));
        made
    }

    fn filled(&mut self, empty: Plain<'_>, fill: impl FnOnce(&mut Self)) {
        let key = self.key.take();
        let outer = self.into.replace(self.make.make(empty));
        fill(self);
        if let Some(inner) = std::mem::replace(&mut self.into, outer) {
            self.key = key;
            self.put(inner);
        }
    }
}

impl<M: Make> Parts for Maker<'_, M> {
    fn text(&mut self, text: &str) {
        self.put(self.make.make(Plain::Text(Cow::Borrowed(text))));
    }

    fn word(&mut self, word: &'static str) {
        let made = self.made_once(word);
        self.put(made);
    }

    fn json(&mut self, json: &str) {
        match read::json(json, self.make) {
            Ok(made) => self.put(made),
            Err(error) => self.note(Err(error)),
        }
    }

    fn key(&mut self, key: &'static str) {
        self.key = Some(self.made_once(key));
    }

    fn list(&mut self, fill: impl FnOnce(&mut Self)) {
        self.filled(Plain::List(()), fill);
    }

    fn map(&mut self, fill: impl FnOnce(&mut Self)) {
        self.filled(Plain::Map(()), fill);
    }
}
