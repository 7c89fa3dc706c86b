//! Gemini's tools: a list of function declarations in an object, perhaps beside tools that run at Google.
//!
//! The parameters of a declaration are JSON Schema (`parametersJsonSchema`), or the API's own `Schema` (`parameters`): types in capitals,
//! `nullable`, limits as texts, and in Python's SDK keywords with underscores. That is turned into JSON Schema, which every vendor takes; the
//! order of its keys stays. Source: Gemini API reference, "Tool", "`FunctionDeclaration`", "Schema".

use std::borrow::Cow;

use super::json::{self, Object, Position};
use super::message::Format;
use super::tools::{DOING, Function, Tool};
use crate::Result;

const LISTS: [&str; 2] = ["functionDeclarations", "function_declarations"];

/// The functions that an object declares, and the same object without them where it has something else; none where it declares none.
pub(super) fn declared(object: &Object<'_>, at: &str) -> Result<Option<(Vec<Tool>, Option<String>)>> {
    let Some((key, raw)) = LISTS.into_iter().find_map(|key| Some((key, object.get(key)?))) else { return Ok(None) };
    let place = Position { doing: DOING, at };
    let list = json::list(raw).ok_or_else(|| place.wrong(key, "must be a list", raw))?;
    let function = |(index, raw)| function(raw, &format!("{at}.{key}[{index}]"));
    let functions = list.into_iter().enumerate().map(function).collect::<Result<_>>()?;
    let rest: Vec<_> = object.fields().filter(|(name, raw)| !LISTS.contains(name) && *raw != "null").collect();
    let rest = (!rest.is_empty()).then(|| written(rest.into_iter().map(|(name, raw)| (name, raw.into()))));
    Ok(Some((functions, rest)))
}

fn function(raw: &str, at: &str) -> Result<Tool> {
    let place = Position { doing: DOING, at };
    let object = json::object(raw).ok_or_else(|| place.error("a function declaration must be an object", raw, "pass its schema"))?;
    let own = object.get("parametersJsonSchema").or_else(|| object.get("parameters_json_schema"));
    let schema = own.map(Cow::Borrowed).or_else(|| object.get("parameters").map(|raw| schema(raw).into()));
    let function = Function::read(&object, schema.as_deref(), place)?;
    Ok(Tool { format: Format::Gemini, given: raw.into(), function: Some(function) })
}

/// A `Schema` as JSON Schema, which stays as it is.
fn schema(raw: &str) -> String {
    let Some(object) = json::object(raw) else { return raw.into() };
    let nullable = object.get("nullable") == Some("true");
    let says = |field: &(&str, &str)| field.0 != "nullable" && field.1 != "\"TYPE_UNSPECIFIED\"";
    let fields = object.fields().filter(says).map(|(name, raw)| {
        let name = keyword(name);
        let value = match name {
            "type" => types(raw, nullable).into(),
            "properties" | "$defs" => named(raw).into(),
            "items" | "additionalProperties" => schema(raw).into(),
            "anyOf" => any_of(raw, nullable).into(),
            _ if name.starts_with("max") || name.starts_with("min") => number(raw),
            _ => raw.into(),
        };
        (name, value)
    });
    written(fields)
}

/// The keyword of JSON Schema for one in the spelling of Python's SDK.
fn keyword(name: &str) -> &str {
    match name {
        "additional_properties" => "additionalProperties",
        "any_of" => "anyOf",
        "defs" => "$defs",
        "max_items" => "maxItems",
        "max_length" => "maxLength",
        "max_properties" => "maxProperties",
        "min_items" => "minItems",
        "min_length" => "minLength",
        "min_properties" => "minProperties",
        "property_ordering" => "propertyOrdering",
        "ref" => "$ref",
        other => other,
    }
}

/// `STRING` as `string`, with `null` where that is allowed too.
fn types(raw: &str, nullable: bool) -> String {
    let small = raw.to_ascii_lowercase();
    if nullable && !small.starts_with('[') { format!("[{small},\"null\"]") } else { small }
}

/// Schemas by name.
fn named(raw: &str) -> String {
    json::object(raw).map_or_else(|| raw.into(), |object| written(object.fields().map(|(name, raw)| (name, schema(raw).into()))))
}

fn any_of(raw: &str, nullable: bool) -> String {
    let Some(list) = json::list(raw) else { return raw.into() };
    let null = nullable.then(|| "{\"type\":\"null\"}".to_owned());
    format!("[{}]", list.into_iter().map(schema).chain(null).collect::<Vec<_>>().join(","))
}

/// A limit, which REST writes as a text where it has 64 bits.
fn number(raw: &str) -> Cow<'_, str> {
    let digits = raw.trim_matches('"');
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.into() } else { raw.into() }
}

fn written<'f>(fields: impl Iterator<Item = (&'f str, Cow<'f, str>)>) -> String {
    let mut out = b"{".to_vec();
    for (at, (name, raw)) in fields.enumerate() {
        out.extend_from_slice(if at > 0 { b"," } else { b"" });
        json::write_text(&mut out, name);
        out.push(b':');
        out.extend_from_slice(raw.as_bytes());
    }
    out.push(b'}');
    String::from_utf8_lossy(&out).into_owned()
}
