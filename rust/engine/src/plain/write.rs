//! Writing: values of the caller's language as JSON, which messages and tools are, or as MessagePack, which metadata is.
//!
//! Nothing is changed or left out. A value that a form cannot say is an error that names it.

use rmp::encode;

use super::{Plain, Whole};
use crate::limits::MAX_METADATA_DEPTH;
use crate::units::clip::first_chars;
use crate::{Error, Result};

/// How deep lists and maps may stand in one another in JSON: what any parser of a provider takes.
const MAX_GIVEN_JSON_DEPTH: usize = 100;

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The JSON that providers are sent.
    Json,
    /// The MessagePack that metadata is stored as.
    MessagePack,
}

impl Form {
    fn most_levels(self) -> usize {
        if self == Self::Json { MAX_GIVEN_JSON_DEPTH } else { MAX_METADATA_DEPTH }
    }

    /// Why a value cannot be written; `given` is itself and its type.
    fn rule(self, cannot: Cannot, given: &str) -> String {
        match (cannot, self) {
            (Cannot::Kind, Self::Json) => {
                let rule = "it is made of None, bool, int, float, str, lists and dicts, or objects with model_dump()";
                format!("{rule}, and {given}: convert it")
            }
            (Cannot::Kind, Self::MessagePack) => {
                format!("a value is None, a bool, int, float, str or bytes, or a list or dict of these, and {given}: convert it")
            }
            (Cannot::Surrogate, _) => {
                "text must be what UTF-8 can hold, and one has a lone surrogate: decode it with errors=\"replace\"".to_owned()
            }
            (Cannot::LongNumber, _) => "a whole number has at most 4,300 digits, and one has more: give it as a str".to_owned(),
        }
    }
}

/// The reason why a value cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cannot {
    /// The form has nothing of its type.
    Kind,
    /// A text that UTF-8 does not hold.
    Surrogate,
    /// A whole number of more digits than its language writes.
    LongNumber,
}

/// A value of the caller's language, while it is written.
pub trait Given: Sized {
    /// An error of that language, or one of the engine's.
    type Error: From<Error>;

    /// Its kind. An object that stands for others is treated as those.
    fn look(&self, form: Form) -> std::result::Result<std::result::Result<Whole<'_, Self>, Cannot>, Self::Error>;

    /// Itself and its type, in a few words.
    fn in_words(&self) -> String;
}

/// Writes a value; `what` names it in errors.
pub fn write<G: Given>(what: &str, form: Form, given: &G) -> std::result::Result<Vec<u8>, G::Error> {
    let mut writer = Writer { what, key: None, form, bytes: Vec::with_capacity(if form == Form::Json { 256 } else { 0 }) };
    writer.value(given, 1)?;
    Ok(writer.bytes)
}

// Writing to a vector cannot fail, which is why results of the writers below are dropped.
struct Writer<'a> {
    what: &'a str,
    /// The key of the outermost map whose value is being written, for errors.
    key: Option<String>,
    form: Form,
    bytes: Vec<u8>,
}

impl Writer<'_> {
    fn value<G: Given>(&mut self, given: &G, depth: usize) -> std::result::Result<(), G::Error> {
        match given.look(self.form)?.map_err(|cannot| self.wrong(&self.form.rule(cannot, &given.in_words())))? {
            Plain::List(items) => self.list(&items, depth)?,
            Plain::Map(entries) => self.map(&entries, depth)?,
            Plain::Null => self.either("null", |bytes| drop(encode::write_nil(bytes))),
            Plain::Bool(yes) => self.either(if yes { "true" } else { "false" }, |bytes| drop(encode::write_bool(bytes, yes))),
            Plain::Int(number) => self.int(number),
            Plain::Uint(number) => self.uint(number),
            Plain::Float(number) => self.float(number)?,
            Plain::Text(text) => self.text(&text),
            Plain::Digits(digits) => self.digits(&digits, given)?,
            Plain::Bytes(raw) => drop(encode::write_bin(&mut self.bytes, &raw)),
        }
        Ok(())
    }

    fn either(&mut self, json: &str, pack: impl FnOnce(&mut Vec<u8>)) {
        if self.form == Form::Json { self.bytes.extend_from_slice(json.as_bytes()) } else { pack(&mut self.bytes) }
    }

    fn list<G: Given>(&mut self, items: &[G], depth: usize) -> std::result::Result<(), G::Error> {
        self.check_depth(depth)?;
        self.either("[", |bytes| drop(encode::write_array_len(bytes, items.len() as u32)));
        for (at, item) in items.iter().enumerate() {
            self.either(if at > 0 { "," } else { "" }, |_| {});
            self.value(item, depth + 1)?;
        }
        self.either("]", |_| {});
        Ok(())
    }

    fn map<G: Given>(&mut self, entries: &[(G, G)], depth: usize) -> std::result::Result<(), G::Error> {
        self.check_depth(depth)?;
        self.either("{", |bytes| drop(encode::write_map_len(bytes, entries.len() as u32)));
        for (at, (key, value)) in entries.iter().enumerate() {
            self.either(if at > 0 { "," } else { "" }, |_| {});
            self.key = self.key.take().filter(|_| depth > 1);
            match key.look(self.form)? {
                Ok(Plain::Text(name)) => {
                    self.text(&name);
                    if depth == 1 {
                        self.key = Some(name.to_string());
                    }
                }
                Err(Cannot::Surrogate) => return Err(self.wrong(&self.form.rule(Cannot::Surrogate, "")).into()),
                _ => return Err(self.wrong(&format!("every key must be a str, and {}: make it a str", key.in_words())).into()),
            }
            self.either(":", |_| {});
            self.value(value, depth + 1)?;
        }
        self.either("}", |_| {});
        Ok(())
    }

    fn check_depth(&self, depth: usize) -> Result<()> {
        let most = self.form.most_levels();
        if depth <= most {
            return Ok(());
        }
        let next = if self.form == Form::Json { "flatten them" } else { "flatten them, or store them as one str" };
        Err(self.wrong(&format!("dicts and lists stand at most {most} deep in one another, and these stand deeper: {next}")))
    }

    fn text(&mut self, text: &str) {
        match self.form {
            Form::Json => drop(serde_json::to_writer(&mut self.bytes, text)), // any text has a JSON form
            Form::MessagePack => drop(encode::write_str(&mut self.bytes, text)),
        }
    }

    fn int(&mut self, number: i64) {
        self.either(&number.to_string(), |bytes| drop(encode::write_sint(bytes, number)));
    }

    fn uint(&mut self, number: u64) {
        self.either(&number.to_string(), |bytes| drop(encode::write_uint(bytes, number)));
    }

    fn float(&mut self, number: f64) -> Result<()> {
        match self.form {
            Form::MessagePack => drop(encode::write_f64(&mut self.bytes, number)),
            Form::Json if number.is_finite() => drop(serde_json::to_writer(&mut self.bytes, &number)),
            Form::Json => return Err(self.wrong(&format!("JSON has no number like {number}: leave it out, or give it as a str"))),
        }
        Ok(())
    }

    /// Digits as the caller's language writes them; MessagePack has no such number.
    fn digits<G: Given>(&mut self, digits: &str, given: &G) -> Result<()> {
        match self.form {
            Form::Json => self.bytes.extend_from_slice(digits.as_bytes()),
            Form::MessagePack => {
                let words = given.in_words();
                return Err(self.wrong(&format!("an int has at most 64 bits, and {words} with more: store it as a str")));
            }
        }
        Ok(())
    }

    fn wrong(&self, rule: &str) -> Error {
        let place = self.key.as_ref().map_or_else(String::new, |key| format!(", in {:?}", first_chars(key, 80)));
        Error::invalid(format!("reading {}{place}: {rule}", self.what))
    }
}
