//! Both forms there and back, with a value of this test's own for every part.

use std::borrow::Cow;

use super::make::{Make, Maker, Parts};
use super::write::{Cannot, Form, Given, write};
use super::{Plain, Whole, read};
use crate::limits::MAX_METADATA_DEPTH;
use crate::{Error, Result};

#[derive(Debug, Clone, PartialEq)]
struct Value(Whole<'static, Value>);

impl Given for Value {
    type Error = Error;

    fn look(&self, _: Form) -> Result<std::result::Result<Whole<'_, Self>, Cannot>> {
        Ok(match &self.0 {
            Plain::Text(text) if text == "a set" => Err(Cannot::Kind),
            other => Ok(other.clone()),
        })
    }

    fn in_words(&self) -> String {
        format!("{:?} is a value", self.0)
    }
}

struct Values;

impl Make for Values {
    type Value = Value;
    type Error = Error;

    fn make(&self, plain: Plain<'_>) -> Value {
        Value(match plain.into_owned() {
            Plain::List(()) => Plain::List(Vec::new()),
            Plain::Map(()) => Plain::Map(Vec::new()),
            Plain::Null => Plain::Null,
            Plain::Bool(yes) => Plain::Bool(yes),
            Plain::Int(number) => Plain::Int(number),
            Plain::Uint(number) => Plain::Uint(number),
            Plain::Digits(digits) => Plain::Digits(digits),
            Plain::Float(number) => Plain::Float(number),
            Plain::Text(text) => Plain::Text(text),
            Plain::Bytes(bytes) => Plain::Bytes(bytes),
        })
    }

    fn put(&self, into: &mut Value, key: Option<Value>, value: Value) -> Result<()> {
        match (&mut into.0, key) {
            (Plain::List(items), None) => items.push(value),
            (Plain::Map(entries), Some(key)) => entries.push((key, value)),
            (other, key) => panic!("{value:?} was put into {other:?} under {key:?}"),
        }
        Ok(())
    }
}

fn text(text: &'static str) -> Value {
    Value(Plain::Text(Cow::Borrowed(text)))
}

fn json(given: &str) -> Result<Value> {
    read::json(given, &Values)
}

fn written(form: Form, value: &Value) -> std::result::Result<Vec<u8>, String> {
    write("a message", form, value).map_err(|error| error.to_string())
}

#[test]
fn json_comes_back_byte_by_byte() -> Result<()> {
    let given = r#"{"a":[null,true,-7,18446744073709551616,1.5,"ä\n"],"b":{},"a":[]}"#;
    assert_eq!(String::from_utf8(write("it", Form::Json, &json(given)?)?).ok().as_deref(), Some(given));
    Ok(())
}

#[test]
fn numbers_that_no_type_holds_keep_their_digits() -> Result<()> {
    let long = "9".repeat(5_000);
    assert_eq!(json(&format!("[{long},1e999]"))?, {
        let texts = [long, "1e999".to_owned()].map(|one| Value(Plain::Text(Cow::Owned(one))));
        Value(Plain::List(texts.to_vec()))
    });
    Ok(())
}

#[test]
fn damaged_json_names_the_byte() {
    for given in ["[1,", "{\"a\" 1}", "[1] 2", &"[".repeat(200)] {
        let message = json(given).err().map_or_else(String::new, |error| error.to_string());
        assert!(message.contains("is not at byte"), "{given}: {message}");
    }
}

#[test]
fn metadata_comes_back_and_damage_is_an_error() -> Result<()> {
    let values = vec![
        Value(Plain::Uint(u64::MAX)),
        Value(Plain::Int(-5)),
        Value(Plain::Float(f64::INFINITY)),
        Value(Plain::Bytes(Cow::Borrowed(b"\0"))),
        Value(Plain::Null),
    ];
    let map = Value(Plain::Map(vec![(text("key"), Value(Plain::List(values)))]));
    let bytes = write("metadata", Form::MessagePack, &map)?;
    assert_eq!(read::metadata(&bytes, &Values)?, map);
    for cut in 1..bytes.len() {
        assert!(read::metadata(&bytes[..cut], &Values).is_err(), "cut at {cut}");
    }
    assert!(read::metadata(&bytes[5..], &Values).is_err());
    assert_eq!(read::metadata(b"", &Values)?, Value(Plain::Map(Vec::new())));
    Ok(())
}

#[test]
fn what_a_form_cannot_say_is_named() {
    let refused = |form, value: Value, rule: &str| {
        let message = written(form, &value).err().unwrap_or_default();
        assert!(message.contains("reading a message: ") && message.contains(rule), "{message}");
    };
    refused(Form::Json, Value(Plain::List(vec![text("a set")])), "convert it");
    refused(Form::Json, Value(Plain::Float(f64::NAN)), "no number like NaN");
    refused(Form::Json, Value(Plain::Map(vec![(Value(Plain::Int(1)), text("x"))])), "every key must be a str");
    refused(Form::MessagePack, Value(Plain::Digits(Cow::Borrowed("99999999999999999999"))), "at most 64 bits");
    let deep = |levels: usize| (0..levels).fold(text("x"), |inner, _| Value(Plain::List(vec![inner])));
    assert!(written(Form::MessagePack, &deep(MAX_METADATA_DEPTH)).is_ok());
    refused(Form::MessagePack, deep(MAX_METADATA_DEPTH + 1), "at most 32 deep");
    refused(Form::Json, deep(101), "at most 100 deep");
}

#[test]
fn what_is_said_part_by_part_is_made() -> Result<()> {
    let mut maker = Maker::new(&Values);
    maker.map(|out| {
        out.field("a", "x");
        out.key("b");
        out.list(|out| {
            out.list(|_| {});
            out.json("[1.0,{\"c\":null}]");
            out.map(|out| out.field("a", "y"));
            out.word("a");
        });
        out.key("d");
        out.json("7");
    });
    assert_eq!(maker.finish()?, json(r#"{"a":"x","b":[[],[1.0,{"c":null}],{"a":"y"},"a"],"d":7}"#)?);
    let mut maker = Maker::new(&Values);
    maker.text("x");
    assert_eq!(maker.finish()?, text("x"));
    Ok(())
}

#[test]
fn the_first_damage_is_the_error_of_what_was_said() {
    let mut maker = Maker::new(&Values);
    maker.list(|out| ["1", "[2", "{", "3"].into_iter().for_each(|raw| out.json(raw)));
    let message = maker.finish().err().map_or_else(String::new, |error| error.to_string());
    assert!(message.contains("is not at byte 2"), "{message}");
}
