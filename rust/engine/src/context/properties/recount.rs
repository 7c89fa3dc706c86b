//! Counts a rendered request by the stated rules, from its JSON alone: shares nothing with the code under test but the counter.

use serde_json::Value;

use super::super::framing::Counter;
use super::super::testing::WordCounter;

/// Tokens of an `OpenAI` request whose images are given by size or by low detail, without files.
pub(super) fn openai(body: &[u8]) -> u64 {
    let request: Value = serde_json::from_slice(body).unwrap();
    let messages: u64 = request["messages"].as_array().unwrap().iter().map(message).sum();
    let tools = request["tools"].as_array().map_or(0, |tools| tools.iter().map(tool).sum::<u64>() + 12);
    3 + messages + tools
}

fn count(value: &Value) -> u64 {
    value.as_str().map_or(0, |text| WordCounter.count(text))
}

fn message(message: &Value) -> u64 {
    let mut tokens = 3 + count(&message["role"]) + content(&message["content"]) + count(&message["refusal"]);
    if !message["name"].is_null() {
        tokens += 1 + count(&message["name"]);
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        tokens += 3 + 2 * count(&function["name"]) + count(&function["arguments"]);
    }
    tokens
}

fn content(content: &Value) -> u64 {
    let part = |part: &Value| match part["type"].as_str().unwrap() {
        "text" => count(&part["text"]),
        "refusal" => count(&part["refusal"]),
        "image_url" if part["image_url"]["detail"] == "low" => 85,
        other => panic!("no rule here for {other}"),
    };
    count(content) + content.as_array().into_iter().flatten().map(part).sum::<u64>()
}

/// Flat schemas only.
fn tool(tool: &Value) -> u64 {
    let function = &tool["function"];
    let line = |parts: &[&Value]| parts.iter().map(|part| part.as_str().unwrap_or("").trim_end_matches('.')).collect::<Vec<_>>().join(":");
    let mut tokens = 7 + WordCounter.count(&line(&[&function["name"], &function["description"]]));
    let properties = function["parameters"]["properties"].as_object();
    tokens += u64::from(properties.is_some_and(|properties| !properties.is_empty())) * 3;
    for (name, property) in properties.into_iter().flatten() {
        tokens += 3 + WordCounter.count(&line(&[&Value::from(&**name), &property["type"], &property["description"]]));
        if let Some(values) = property["enum"].as_array() {
            tokens = tokens - 3 + values.iter().map(|value| 3 + count(value)).sum::<u64>();
        }
    }
    tokens
}
