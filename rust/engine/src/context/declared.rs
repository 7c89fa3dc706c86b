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

/// A `Schema` as JSON Schema, which stays as it is. A keyword that is null says nothing: `model_dump` of Python's SDK has all of them.
fn schema(raw: &str) -> String {
    let Some(object) = json::object(raw) else { return raw.into() };
    let nullable = object.get("nullable") == Some("true");
    let says = |field: &(&str, &str)| field.0 != "nullable" && !matches!(field.1, "\"TYPE_UNSPECIFIED\"" | "null");
    let fields = || object.fields().filter(says).map(|(name, raw)| (keyword(name), raw));
    if nullable && fields().any(|(name, _)| ADMITS_NO_NULL.contains(&name)) {
        return or_null(fields());
    }
    written(fields().map(|(name, raw)| (name, value(name, raw, nullable))))
}

/// Keywords that refuse null whatever type stands beside them.
const ADMITS_NO_NULL: [&str; 5] = ["enum", "$ref", "allOf", "oneOf", "not"];

/// Keywords that say nothing of what is allowed. Definitions stay where references look for them.
const NOTES: [&str; 6] = ["$defs", "default", "description", "example", "propertyOrdering", "title"];

/// A schema of these fields, or null. A null among the values of `enum` would be refused by Gemini (`enum[1]: cannot be empty`).
fn or_null<'f>(fields: impl Iterator<Item = (&'f str, &'f str)>) -> String {
    let (notes, rules): (Vec<_>, Vec<_>) = fields.partition(|(name, _)| NOTES.contains(name));
    let write = |(name, raw): (&'f str, &'f str)| (name, value(name, raw, false));
    let either = format!("[{},{{\"type\":\"null\"}}]", written(rules.into_iter().map(write)));
    written(notes.into_iter().map(write).chain([("anyOf", either.into())]))
}

/// The value of a keyword.
fn value<'f>(name: &str, raw: &'f str, nullable: bool) -> Cow<'f, str> {
    match name {
        "type" => types(raw, nullable).into(),
        "$ref" => reference(raw),
        "properties" | "$defs" | "definitions" | "patternProperties" | "dependentSchemas" => named(raw).into(),
        "items" | "prefixItems" | "allOf" | "oneOf" if raw.starts_with('[') => each(raw, false).into(),
        "items" | "additionalProperties" | "not" | "if" | "then" | "else" | "contains" | "propertyNames" => schema(raw).into(),
        "anyOf" => each(raw, nullable).into(),
        _ if name.starts_with("max") || name.starts_with("min") => number(raw),
        _ => raw.into(),
    }
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

/// A list of schemas, null among them where that is allowed too.
fn each(raw: &str, nullable: bool) -> String {
    let Some(list) = json::list(raw) else { return raw.into() };
    let null = nullable.then(|| "{\"type\":\"null\"}".to_owned());
    format!("[{}]", list.into_iter().map(schema).chain(null).collect::<Vec<_>>().join(","))
}

/// A reference to a definition: `defs` of a `Schema` are `$defs`.
fn reference(raw: &str) -> Cow<'_, str> {
    raw.strip_prefix("\"#/defs/").map_or(raw.into(), |rest| format!("\"#/$defs/{rest}").into())
}

/// A limit, which REST writes as a text where it has 64 bits. A number in JSON begins with no zero.
fn number(raw: &str) -> Cow<'_, str> {
    let Some(text) = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return raw.into() };
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let short = digits.trim_start_matches('0');
    let leads = if short.starts_with(|first: char| first.is_ascii_digit()) { "" } else { "0" };
    let number = format!("{sign}{leads}{short}");
    let is_number = digits.starts_with(|first: char| first.is_ascii_digit()) && serde_json::from_str::<serde_json::Number>(&number).is_ok();
    if is_number { number.into() } else { raw.into() }
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
