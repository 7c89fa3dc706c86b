//! The usage that a provider reports for a request, in one form for all providers.
//!
//! `OpenAI` counts cached tokens within its prompt tokens; Moonshot and `DeepSeek` tell them beside these, not in their details. Anthropic
//! counts three kinds of input apart, which add up. Gemini counts as `OpenAI` does, under other names, and its thoughts apart from the reply;
//! `xAI` counts reasoning apart in chat completions, and within the reply in responses. Numbers that contradict each other are refused,
//! because factors learned from them would be wrong.

use serde_json::Value;

use crate::units::clip::first_chars;
use crate::{Error, Result};

/// The cost of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// All tokens of the prompt, cached or not.
    pub input_tokens: u64,
    /// Tokens of the input that the provider's cache had.
    pub cache_read_tokens: u64,
    /// Tokens of the input that went into the cache.
    pub cache_write_tokens: u64,
    /// Tokens of the reply, reasoning included.
    pub output_tokens: u64,
    /// Tokens of the input that came from tools which run at the provider: no prompt can plan them.
    pub tool_tokens: u64,
}

/// No request of today comes near.
const MOST: u64 = 1 << 40;

/// Reads the `usage` object of a response of any provider.
pub fn usage(json: &str) -> Result<Usage> {
    let value: Value = serde_json::from_str(json).map_err(|error| wrong("it must be a JSON object", &error.to_string()))?;
    let fields = Fields(&value);
    let read = if value.get("cache_read_input_tokens").is_some() || value.get("cache_creation_input_tokens").is_some() {
        fields.anthropic()
    } else if value.get("promptTokenCount").is_some() || value.get("prompt_token_count").is_some() {
        fields.gemini()
    } else {
        fields.openai()
    }?;
    let cached = read.cache_read_tokens + read.cache_write_tokens;
    if cached > read.input_tokens {
        return Err(wrong("cached tokens are a part of the prompt's", &format!("{cached} of {}", read.input_tokens)));
    }
    Ok(read)
}

struct Fields<'a>(&'a Value);

impl Fields<'_> {
    fn anthropic(&self) -> Result<Usage> {
        let [uncached, read, write] =
            [self.need(&["input_tokens"])?, self.get(&["cache_read_input_tokens"])?, self.get(&["cache_creation_input_tokens"])?];
        Ok(Usage {
            input_tokens: uncached + read + write,
            cache_read_tokens: read,
            cache_write_tokens: write,
            output_tokens: self.get(&["output_tokens"])?,
            tool_tokens: 0,
        })
    }

    /// The usage of chat completions, and of responses.
    fn openai(&self) -> Result<Usage> {
        let of = |keys: [&str; 2]| Fields(keys.into_iter().find_map(|key| self.0.get(key)).unwrap_or(&Value::Null));
        let details = of(["prompt_tokens_details", "input_tokens_details"]);
        let within = details.get(&["cached_tokens"])?;
        let input_tokens = self.need(&["prompt_tokens", "input_tokens"])?;
        let reply = self.get(&["completion_tokens", "output_tokens"])?;
        let reasoning = of(["completion_tokens_details", "output_tokens_details"]).get(&["reasoning_tokens"])?;
        let apart = self.get(&["total_tokens"])? == input_tokens + reply + reasoning;
        Ok(Usage {
            input_tokens,
            cache_read_tokens: if within > 0 { within } else { self.get(&["cached_tokens", "prompt_cache_hit_tokens"])? },
            cache_write_tokens: details.get(&["cache_write_tokens"])?,
            output_tokens: if apart { reply + reasoning } else { reply },
            tool_tokens: 0,
        })
    }

    fn gemini(&self) -> Result<Usage> {
        let thoughts = self.get(&["thoughtsTokenCount", "thoughts_token_count"])?;
        let tool_tokens = self.get(&["toolUsePromptTokenCount", "tool_use_prompt_token_count"])?;
        Ok(Usage {
            input_tokens: self.need(&["promptTokenCount", "prompt_token_count"])? + tool_tokens,
            cache_read_tokens: self.get(&["cachedContentTokenCount", "cached_content_token_count"])?,
            cache_write_tokens: 0,
            output_tokens: self.get(&["candidatesTokenCount", "candidates_token_count"])? + thoughts,
            tool_tokens,
        })
    }

    /// A number that may be missing or null.
    fn get(&self, names: &[&str]) -> Result<u64> {
        let Some(value) = names.iter().find_map(|name| self.0.get(name)).filter(|value| !value.is_null()) else { return Ok(0) };
        let number = value.as_u64().filter(|number| *number <= MOST);
        number.ok_or_else(|| wrong(&format!("{} must be a whole number from 0 to 2**40", names[0]), &value.to_string()))
    }

    fn need(&self, names: &[&str]) -> Result<u64> {
        if names.iter().all(|name| self.0.get(name).is_none_or(Value::is_null)) {
            return Err(wrong(&format!("it must have {}", names.join(" or ")), "none"));
        }
        self.get(names)
    }
}

fn wrong(rule: &str, got: &str) -> Error {
    let got = first_chars(got, 100);
    Error::invalid(format!(
        "reading the usage of a response: {rule}, got {got} (usage): pass the provider's object as it came, or leave it out"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_vendors_usage_is_read() {
        let expected = Usage { input_tokens: 1_500, cache_read_tokens: 1_000, cache_write_tokens: 0, output_tokens: 70, tool_tokens: 0 };
        for json in [
            r#"{"prompt_tokens":1500,"completion_tokens":70,"total_tokens":1570,"prompt_tokens_details":{"cached_tokens":1000}}"#,
            r#"{"input_tokens":1500,"output_tokens":70,"input_tokens_details":{"cached_tokens":1000}}"#,
            r#"{"input_tokens":500,"cache_read_input_tokens":1000,"cache_creation_input_tokens":0,"output_tokens":70}"#,
            r#"{"promptTokenCount":1500,"cachedContentTokenCount":1000,"candidatesTokenCount":50,"thoughtsTokenCount":20}"#,
            // Moonshot, DeepSeek, xAI, and OpenAI, which counts reasoning within the reply.
            r#"{"prompt_tokens":1500,"completion_tokens":70,"total_tokens":1570,"cached_tokens":1000}"#,
            r#"{"prompt_tokens":1500,"completion_tokens":70,"prompt_cache_hit_tokens":1000,"prompt_cache_miss_tokens":500,"prompt_tokens_details":null}"#,
            r#"{"prompt_tokens":1500,"completion_tokens":7,"total_tokens":1570,"completion_tokens_details":{"reasoning_tokens":63},"prompt_tokens_details":{"cached_tokens":1000}}"#,
            r#"{"prompt_tokens":1500,"completion_tokens":70,"total_tokens":1570,"completion_tokens_details":{"reasoning_tokens":63},"cached_tokens":1000}"#,
            r#"{"prompt_tokens":1500,"completion_tokens":70,"completion_tokens_details":{"reasoning_tokens":0},"prompt_tokens_details":{"cached_tokens":1000}}"#,
            r#"{"input_tokens":1500,"output_tokens":70,"total_tokens":1570,"output_tokens_details":{"reasoning_tokens":63},"input_tokens_details":{"cached_tokens":1000}}"#,
        ] {
            assert_eq!(usage(json).unwrap(), expected, "{json}");
        }
        let searched = r#"{"promptTokenCount":100,"toolUsePromptTokenCount":5000,"candidatesTokenCount":3,"totalTokenCount":5103}"#;
        let searched = usage(searched).unwrap();
        assert_eq!((searched.input_tokens, searched.tool_tokens, searched.output_tokens), (5_100, 5_000, 3));
        let three = r#"{"input_tokens":7,"cache_read_input_tokens":1000,"cache_creation_input_tokens":200,"output_tokens":null}"#;
        assert_eq!(usage(three).unwrap().input_tokens, 1_207);
        assert_eq!(usage(r#"{"prompt_tokens":5,"prompt_tokens_details":null}"#).unwrap().input_tokens, 5);
    }

    #[test]
    fn contradictions_and_nonsense_are_errors() {
        for json in [
            "",
            "[]",
            "{}",
            r#"{"prompt_tokens":-1}"#,
            r#"{"prompt_tokens":1.5}"#,
            r#"{"prompt_tokens":"5"}"#,
            r#"{"prompt_tokens":9007199254740993000}"#,
            r#"{"prompt_tokens":5,"prompt_tokens_details":{"cached_tokens":6}}"#,
            r#"{"cache_read_input_tokens":6}"#,
        ] {
            assert!(usage(json).is_err(), "{json}");
        }
    }
}
