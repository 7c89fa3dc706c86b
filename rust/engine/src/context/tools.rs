//! Tool schemas: read from either vendor's shape, sent as the bytes they were given, hashed by what they mean.
//!
//! They stand first in a prompt, so one changed byte in them costs the whole cache: the order is the caller's, the bytes are
//! frozen. Two spellings of one schema have one hash ([`canonical_json`]), so that reopening a session with the same tools
//! from another process is not a new version.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use super::canonical_json::canonical_json;
use super::json::{self, Position};
use super::message::{Digest, Format};
use crate::Result;

const DOING: &str = "read tools";

/// One tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// The shape it was given in.
    pub format: Format,
    /// The schema, byte for byte.
    pub given: Box<str>,
    /// The part that both vendors have; `None` for tools that run at one vendor, which are sent to that one only.
    pub function: Option<Function>,
}

/// A tool that the caller runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: Box<str>,
    /// Its description.
    pub description: Option<Box<str>>,
    /// JSON Schema of its arguments, raw.
    pub parameters: Option<Box<str>>,
}

/// The tools of a session, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tools {
    /// Each tool.
    pub tools: Vec<Tool>,
    /// Hash of their meaning ([`canonical_json`]): another one is another version of the session's tools.
    pub meaning: u128,
    /// Digest of the bytes as given, for the prefix chain: the sent bytes must not differ where the chain does not.
    pub digest: Digest,
}

impl Tools {
    /// Reads a JSON list of tools; an empty list means no tools.
    pub fn parse(bytes: &[u8]) -> Result<Option<Arc<Self>>> {
        let place = Position { doing: DOING, at: "tools" };
        let next = "pass the list that the provider's SDK takes";
        let raw = std::str::from_utf8(bytes).map_err(|error| place.error("tools must be JSON", &error.to_string(), next))?;
        let list = json::list(raw).ok_or_else(|| place.error("tools must be a JSON list", raw, next))?;
        let tools = list.iter().enumerate().map(|(index, raw)| tool(raw, &format!("tools[{index}]"))).collect::<Result<Vec<_>>>()?;
        check_names(&tools)?;
        let canonical = canonical_json(raw)?;
        Ok((!tools.is_empty()).then(|| Arc::new(Self { tools, meaning: xxh3_128(&canonical), digest: Digest::of_text(raw) })))
    }

    /// Whether a function of that name is among them.
    #[must_use]
    pub fn offer(&self, name: &str) -> bool {
        self.tools.iter().filter_map(|tool| tool.function.as_ref()).any(|function| &*function.name == name)
    }
}

fn check_names(tools: &[Tool]) -> Result<()> {
    let mut names: Vec<&str> = tools.iter().filter_map(|tool| tool.function.as_ref()).map(|function| &*function.name).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(Position { doing: DOING, at: "tools" }.error("names of tools must differ", pair[0], "rename one of the two")),
    }
}

fn tool(raw: &str, at: &str) -> Result<Tool> {
    let place = Position { doing: DOING, at };
    let object = json::object(raw).ok_or_else(|| place.error("a tool must be an object", raw, "pass its schema"))?;
    if let Some(function) = object.object("function", place)? {
        let parameters = function.get("parameters");
        return Ok(Tool { format: Format::OpenAi, given: raw.into(), function: Some(read_function(&function, parameters, place)?) });
    }
    if let Some(schema) = object.get("input_schema") {
        return Ok(Tool { format: Format::Anthropic, given: raw.into(), function: Some(read_function(&object, Some(schema), place)?) });
    }
    if object.get("type") == Some("\"function\"") && object.get("name").is_some() {
        let parameters = object.get("parameters");
        return Ok(Tool { format: Format::Responses, given: raw.into(), function: Some(read_function(&object, parameters, place)?) });
    }
    let kind = object.need("type", place)?;
    let format = if object.get("name").is_some() { Format::Anthropic } else { Format::OpenAi };
    if kind == "function" {
        return Err(place.wrong("function", "must be present and an object", "nothing"));
    }
    Ok(Tool { format, given: raw.into(), function: None })
}

fn read_function(object: &json::Object<'_>, parameters: Option<&str>, place: Position<'_>) -> Result<Function> {
    if let Some(raw) = parameters.filter(|raw| !json::is_object(raw)) {
        return Err(place.wrong("parameters", "must be a JSON Schema object", raw));
    }
    let description = object.text("description", place)?.map(|text| text.as_ref().into());
    Ok(Function { name: object.need("name", place)?.as_ref().into(), description, parameters: parameters.map(Into::into) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_meaning_has_one_hash() {
        let a = Tools::parse(br#"[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}]"#).unwrap();
        let b = Tools::parse(br#"[ {"function":{"parameters":{"properties":{},"type":"object"},"name":"f"},"type":"function"} ]"#).unwrap();
        assert_eq!(a.as_ref().map(|tools| tools.meaning), b.as_ref().map(|tools| tools.meaning));
        assert_ne!(a, b);
        assert_eq!(Tools::parse(b"[]").unwrap(), None);
    }

    #[test]
    fn bad_tools_are_named() {
        for (raw, part) in [
            ("{}", "JSON list"),
            ("[1]", "tools[0]"),
            (r#"[{"type":"function"}]"#, "\"function\" must be present"),
            (r#"[{"name":"a","input_schema":{}},{"name":"a","input_schema":{}}]"#, "must differ"),
            (r#"[{"name":"a","input_schema":[]}]"#, "JSON Schema object"),
        ] {
            let error = Tools::parse(raw.as_bytes()).unwrap_err();
            assert!(error.message().contains(part), "{error}");
        }
    }
}
