//! Tool schemas: read from either vendor's shape, sent as the bytes they were given, hashed by what they mean.
//!
//! They stand first in a prompt, so one changed byte in them costs the whole cache: the order is the caller's, the bytes are
//! frozen. Two spellings of one schema have one hash ([`canonical_json`]), so that reopening a session with the same tools
//! from another process is not a new version.

use std::borrow::Cow;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use super::canonical_json::canonical_json;
use super::declared::declared;
use super::dialect::called;
use super::json::{self, Position};
use super::message::{Digest, Format};
use crate::Result;

pub(super) const DOING: &str = "read tools";

/// The tools that run at Google, in both spellings. Their objects have no other keys but declarations of functions. Source: Gemini API reference, "Tool".
const GEMINIS: [&str; 23] = [
    "google_search",
    "googleSearch",
    "google_search_retrieval",
    "googleSearchRetrieval",
    "google_maps",
    "googleMaps",
    "code_execution",
    "codeExecution",
    "computer_use",
    "computerUse",
    "file_search",
    "fileSearch",
    "url_context",
    "urlContext",
    "retrieval",
    "enterprise_web_search",
    "enterpriseWebSearch",
    "parallel_ai_search",
    "parallelAiSearch",
    "exa_ai_search",
    "exaAiSearch",
    "mcp_servers",
    "mcpServers",
];

/// The forms of tools, for errors.
const FORMS: &str = "pass {\"type\": \"function\", \"function\": {...}} (OpenAI), {\"type\": \"function\", \"name\": ...} (responses), \
                     {\"name\": ..., \"input_schema\": ...} (Anthropic), {\"function_declarations\": [...]} (Gemini) or a tool that a provider runs";

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

impl Tool {
    /// The schema as it was given, with another name of its function: a vendor may not take the one that it has.
    pub(super) fn given_as(&self, name: &str) -> Cow<'_, str> {
        let renamed = || {
            let mut quoted = Vec::with_capacity(name.len() + 2);
            json::write_text(&mut quoted, name);
            let (quoted, object) = (String::from_utf8_lossy(&quoted), json::object(&self.given)?);
            if self.format != Format::OpenAi {
                return Some(object.with("name", &quoted));
            }
            Some(object.with("function", &json::object(object.get("function")?)?.with("name", &quoted)))
        };
        let is_other = self.function.as_ref().is_some_and(|function| &*function.name != name);
        is_other.then(renamed).flatten().map_or(Cow::Borrowed(&*self.given), Cow::Owned)
    }
}

/// The most characters of a tool's name at the vendors, and whether dots may stand in it.
const SPELLINGS: [(usize, bool); 3] = [(64, false), (128, false), (64, true)];

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
        let canonical = canonical_json(raw)?; // it refuses what nests too deep
        let mut tools = Vec::with_capacity(list.len());
        for (index, raw) in list.iter().enumerate() {
            read(raw, &format!("tools[{index}]"), &mut tools)?;
        }
        check_names(&tools)?;
        Ok((!tools.is_empty()).then(|| Arc::new(Self { tools, meaning: xxh3_128(&canonical), digest: Digest::of_text(raw) })))
    }

    /// Whether no two functions have one name where a vendor bends the names that it does not take.
    ///
    /// # Errors
    /// `InvalidInput` where two do.
    pub fn check_spellings(&self) -> Result<()> {
        let functions = || self.tools.iter().filter_map(|tool| tool.function.as_ref());
        let mut sent: Vec<_> = functions().map(|function| (called(&function.name, 64, false), &*function.name)).collect();
        sent.sort_unstable();
        let Some(pair) = sent.windows(2).find(|pair| pair[0].0 == pair[1].0) else { return Ok(()) };
        let rule = "names of tools must differ in their first 64 letters, digits, _ and -, where other characters are sent as _";
        Err(Position { doing: DOING, at: "tools" }.error(rule, &format!("{} and {}", pair[0].1, pair[1].1), "rename one of the two"))
    }

    /// The name of the function that a model called so: a vendor that takes no dots is sent `fs_read` for `fs.read`. The same where
    /// no function, or more than one, is sent so.
    #[must_use]
    pub fn declared<'a>(&'a self, name: &'a str) -> &'a str {
        let names = || self.tools.iter().filter_map(|tool| tool.function.as_ref()).map(|function| &*function.name);
        let mut sent_so = names().filter(|own| SPELLINGS.iter().any(|(most, dotted)| called(own, *most, *dotted) == name));
        match (self.offer(name), sent_so.next(), sent_so.next()) {
            (false, Some(own), None) => own,
            _ => name,
        }
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

/// The tools of an object: one, or those of Gemini's, which declares several functions at once.
fn read(raw: &str, at: &str, tools: &mut Vec<Tool>) -> Result<()> {
    let declared = json::object(raw).map(|object| declared(&object, at)).transpose()?.flatten();
    let Some((functions, rest)) = declared else { return tool(raw, at).map(|tool| tools.push(tool)) };
    tools.extend(functions);
    rest.map_or(Ok(()), |rest| tool(&rest, at).map(|tool| tools.push(tool)))
}

fn tool(raw: &str, at: &str) -> Result<Tool> {
    let place = Position { doing: DOING, at };
    let object = json::object(raw).ok_or_else(|| place.error("a tool must be an object", raw, "pass its schema"))?;
    if let Some(function) = object.object("function", place)? {
        let parameters = function.get("parameters");
        return Ok(Tool { format: Format::OpenAi, given: raw.into(), function: Some(Function::read(&function, parameters, place)?) });
    }
    if let Some(schema) = object.get("input_schema") {
        return Ok(Tool { format: Format::Anthropic, given: raw.into(), function: Some(Function::read(&object, Some(schema), place)?) });
    }
    if object.get("type") == Some("\"function\"") && object.get("name").is_some() {
        let parameters = object.get("parameters");
        return Ok(Tool { format: Format::Responses, given: raw.into(), function: Some(Function::read(&object, parameters, place)?) });
    }
    let mut own = object.fields().filter(|(_, raw)| *raw != "null").map(|(key, _)| key).peekable();
    if own.peek().is_some() && own.all(|key| GEMINIS.contains(&key)) {
        return Ok(Tool { format: Format::Gemini, given: raw.into(), function: None });
    }
    let kind = object.text("type", place)?.ok_or_else(|| place.error("a tool must have a form that a provider takes", raw, FORMS))?;
    let format = match (&*kind, object.get("name")) {
        ("custom" | "namespace", Some(_)) => Format::Responses,
        ("mcp_toolset", _) | (_, Some(_)) => Format::Anthropic,
        (kind, None) if is_dated(kind) => Format::Anthropic,
        (_, None) => Format::OpenAi,
    };
    if kind == "function" {
        return Err(place.wrong("function", "must be present and an object", "nothing"));
    }
    Ok(Tool { format, given: raw.into(), function: None })
}

/// Whether a type has the day of its version, as Anthropic's have: `computer_toolset_20260801`.
fn is_dated(kind: &str) -> bool {
    kind.rsplit_once('_').is_some_and(|(_, day)| day.len() == 8 && day.bytes().all(|byte| byte.is_ascii_digit()))
}

impl Function {
    /// The function of an object with its name and its description.
    pub(super) fn read(object: &json::Object<'_>, parameters: Option<&str>, place: Position<'_>) -> Result<Self> {
        if let Some(raw) = parameters.filter(|raw| !json::is_object(raw)) {
            return Err(place.wrong("parameters", "must be a JSON Schema object", raw));
        }
        let description = object.text("description", place)?.map(|text| text.as_ref().into());
        Ok(Self { name: object.need("name", place)?.as_ref().into(), description, parameters: parameters.map(Into::into) })
    }
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
    fn a_call_by_the_name_that_was_sent_is_one_of_the_tool() {
        let of = |names: &[&str]| {
            let tools: Vec<String> = names.iter().map(|name| format!(r#"{{"name":"{name}","input_schema":{{}}}}"#)).collect();
            Tools::parse(format!("[{}]", tools.join(",")).as_bytes()).unwrap().unwrap()
        };
        let tools = of(&["fs.read", "git.log", "git_log", "a:b", "a.b"]);
        for (called, name) in [("fs_read", "fs.read"), ("fs.read", "fs.read"), ("git_log", "git_log"), ("a_b", "a_b"), ("other", "other")] {
            assert_eq!(tools.declared(called), name);
        }
        assert!(tools.check_spellings().unwrap_err().message().contains("a.b and a:b"));
        assert!(of(&["fs.read", "fs_write"]).check_spellings().is_ok());
        let long = "x".repeat(100);
        assert_eq!(of(&[&long]).declared(&long[..64]), long);
    }

    #[test]
    fn a_schema_keeps_everything_but_the_name() {
        for (given, renamed) in [
            (
                r#"{"type":"function","function":{"name":"fs.read","strict":true,"parameters":{"a": 1.0}}}"#,
                r#"{"type":"function","function":{"name":"fs_read","strict":true,"parameters":{"a": 1.0}}}"#,
            ),
            (r#"{"name":"fs.read","input_schema":{},"x":null}"#, r#"{"name":"fs_read","input_schema":{},"x":null}"#),
        ] {
            let tool = tool(given, "").unwrap();
            assert_eq!((tool.given_as("fs_read"), tool.given_as("fs.read")), (renamed.into(), given.into()));
        }
    }

    #[test]
    fn a_vendors_own_tool_has_its_format() {
        for (raw, format) in [
            (r#"{"type":"custom","name":"grep","description":"x"}"#, Format::Responses),
            (r#"{"type":"namespace","name":"crm","description":"d","tools":[]}"#, Format::Responses),
            (r#"{"type":"custom","custom":{"name":"grep"}}"#, Format::OpenAi),
            (r#"{"type":"custom","name":"grep","input_schema":{}}"#, Format::Anthropic),
            (r#"{"type":"web_search_20250305","name":"web_search"}"#, Format::Anthropic),
            (r#"{"type":"web_search"}"#, Format::OpenAi),
            (r#"{"type":"web_search_preview_2025_03_11"}"#, Format::OpenAi),
            (r#"{"type":"mcp_toolset","mcp_server_name":"x"}"#, Format::Anthropic),
            (r#"{"type":"computer_toolset_20260801"}"#, Format::Anthropic),
            (r#"{"google_search":{}}"#, Format::Gemini),
            (r#"{"urlContext":{},"codeExecution":{},"googleMaps":null}"#, Format::Gemini),
        ] {
            assert_eq!(tool(raw, "").unwrap().format, format, "{raw}");
        }
        for raw in ["{}", r#"{"google_search":null}"#, r#"{"name":"f","parameters":{}}"#, r#"{"function_declarations":[],"x":{}}"#] {
            let error = Tools::parse(format!("[{raw}]").as_bytes()).unwrap_err();
            assert!(error.message().contains("function_declarations") && error.message().contains("input_schema"), "{error}");
        }
    }

    #[test]
    fn geminis_declarations_are_functions() {
        let parsed = Tools::parse(
            br#"[{"functionDeclarations":[{"name":"f","description":"d","parameters":{"type":"OBJECT","properties":{
                "type":{"type":"STRING","nullable":true,"max_length":"5","format":"enum","enum":["A"]},
                "max_items":{"any_of":[{"type":"INTEGER"},{"type":"ARRAY","items":{"type":"NUMBER"},"minItems":"1"}],"nullable":true},
                "n":{"type":"TYPE_UNSPECIFIED","default":{"type":"STRING"}}
            },"required":["type"]}},{"name":"g"}],"googleSearch":{},"retrieval":null},
            {"function_declarations":[{"name":"h","parameters":{"type":"OBJECT"},"parameters_json_schema":{"type": "object","minimum":"5"}}]},
            {"type":"function","function":{"name":"i"}},{"function_declarations":[]}]"#,
        );
        let tools = parsed.unwrap().unwrap();
        let functions: Vec<_> = tools.tools.iter().filter_map(|tool| tool.function.as_ref()).collect();
        assert!(functions.iter().map(|function| &*function.name).eq(["f", "g", "h", "i"]));
        let expected = concat!(
            r#"{"type":"object","properties":{"type":{"anyOf":[{"type":"string","maxLength":5,"format":"enum","enum":["A"]},{"type":"null"}]},"#,
            r#""max_items":{"anyOf":[{"type":"integer"},{"type":"array","items":{"type":"number"},"minItems":1},{"type":"null"}]},"#,
            r#""n":{"default":{"type":"STRING"}}},"required":["type"]}"#
        );
        let parameters: Vec<_> = functions.iter().map(|function| function.parameters.as_deref()).collect();
        assert_eq!(parameters, [Some(expected), None, Some(r#"{"type": "object","minimum":"5"}"#), None]);
        assert_eq!((&*tools.tools[2].given, tools.tools[2].format), (r#"{"googleSearch":{}}"#, Format::Gemini));
        assert_eq!(Tools::parse(br#"[{"function_declarations":[]}]"#).unwrap(), None);
        let deep =
            format!(r#"[{{"function_declarations":[{{"name":"f","parameters":{}{}}}]}}]"#, "{\"items\":".repeat(9_999), "}".repeat(9_999));
        assert!(Tools::parse(deep.as_bytes()).is_err());
    }

    /// The parameters of a declaration as they are sent.
    fn parameters(schema: &str) -> String {
        let declared = format!(r#"[{{"function_declarations":[{{"name":"f","parameters":{schema}}}]}}]"#);
        let tools = Tools::parse(declared.as_bytes()).unwrap_or_else(|error| panic!("{schema}: {error}")).unwrap();
        tools.tools[0].function.as_ref().unwrap().parameters.as_deref().unwrap().to_owned()
    }

    #[test]
    fn a_schema_of_geminis_means_the_same_as_json_schema() {
        for (given, sent) in [
            // `model_dump` of Python's SDK has every keyword.
            (
                r#"{"type":"OBJECT","any_of":null,"default":null,"properties":{"a":{"type":"STRING","enum":null,"nullable":null}},"required":null}"#,
                r#"{"type":"object","properties":{"a":{"type":"string"}}}"#,
            ),
            (r#"{"properties":{"nullable":{"type":"BOOLEAN"},"a":null}}"#, r#"{"properties":{"nullable":{"type":"boolean"},"a":null}}"#),
            (
                r##"{"properties":{"a":{"ref":"#/defs/P"},"b":{"$ref":"#/$defs/P"},"c":{"description":"#/defs/P"}},"defs":{"P":{"type":"STRING"}}}"##,
                r##"{"properties":{"a":{"$ref":"#/$defs/P"},"b":{"$ref":"#/$defs/P"},"c":{"description":"#/defs/P"}},"$defs":{"P":{"type":"string"}}}"##,
            ),
            (
                r#"{"prefixItems":[{"type":"STRING"}],"items":[{"type":"STRING"}],"oneOf":[{"type":"NUMBER"}],"allOf":[{"not":{"type":"ARRAY"}}]}"#,
                r#"{"prefixItems":[{"type":"string"}],"items":[{"type":"string"}],"oneOf":[{"type":"number"}],"allOf":[{"not":{"type":"array"}}]}"#,
            ),
            (r#"{"enum":["STRING"],"default":{"type":"STRING"}}"#, r#"{"enum":["STRING"],"default":{"type":"STRING"}}"#),
            (
                r#"{"type":"STRING","description":"d","enum":["x"],"nullable":true}"#,
                r#"{"description":"d","anyOf":[{"type":"string","enum":["x"]},{"type":"null"}]}"#,
            ),
            (r#"{"enum":["x"],"nullable":true}"#, r#"{"anyOf":[{"enum":["x"]},{"type":"null"}]}"#),
            (r#"{"enum":["x"],"nullable":false}"#, r#"{"enum":["x"]}"#),
            (
                r##"{"ref":"#/defs/P","nullable":true,"defs":{"P":{"type":"STRING"}}}"##,
                r##"{"$defs":{"P":{"type":"string"}},"anyOf":[{"$ref":"#/$defs/P"},{"type":"null"}]}"##,
            ),
            (r#"{"type":"STRING","nullable":true}"#, r#"{"type":["string","null"]}"#),
        ] {
            assert_eq!(parameters(given), sent, "{given}");
        }
    }

    #[test]
    fn a_limit_is_a_number_of_json() {
        for (given, sent) in [
            (r#""007""#, "7"),
            (r#""0""#, "0"),
            (r#""000""#, "0"),
            (r#""-01""#, "-1"),
            (r#""0.50""#, "0.50"),
            (r#""1e2""#, "1e2"),
            ("5.0", "5.0"),
            (r#""""#, r#""""#),
            (r#""-""#, r#""-""#),
            (r#""-.5""#, r#""-.5""#),
            (r#""0x7""#, r#""0x7""#),
            (r#""many""#, r#""many""#),
            (r#""+5""#, r#""+5""#),
        ] {
            assert_eq!(parameters(&format!(r#"{{"minimum":{given}}}"#)), format!(r#"{{"minimum":{sent}}}"#));
        }
    }

    #[test]
    fn tools_that_run_at_google_are_read_in_both_spellings() {
        for name in GEMINIS {
            let parsed = Tools::parse(format!(r#"[{{"{name}":{{}}}}]"#).as_bytes()).unwrap().unwrap();
            assert_eq!((parsed.tools[0].format, parsed.tools[0].function.is_none()), (Format::Gemini, true), "{name}");
            let (head, rest) = name.split_once('_').unwrap_or((name, ""));
            let humps = rest.split('_').filter(|part| !part.is_empty()).map(|part| part[..1].to_uppercase() + &part[1..]);
            assert!(GEMINIS.contains(&&*(head.to_owned() + &humps.collect::<String>())), "{name}");
        }
    }

    #[test]
    fn bad_tools_are_named() {
        for (raw, part) in [
            ("{}", "JSON list"),
            (r#"[{"function_declarations":{}}]"#, "must be a list"),
            (r#"[{"function_declarations":[{"description":"d"}]}]"#, "tools[0].function_declarations[0]"),
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
