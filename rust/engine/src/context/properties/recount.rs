//! Counts a rendered request by the stated rules, from its JSON alone: shares nothing with the code under test but the counter.

use serde_json::Value;

use crate::tokens::Counter;

/// Tokens of an `OpenAI` request whose images are given by size or by low detail, without files.
pub(crate) fn openai(body: &[u8], counter: &dyn Counter) -> u64 {
    let request: Value = serde_json::from_slice(body).unwrap();
    let messages: u64 = request["messages"].as_array().unwrap().iter().map(|one| message(one, counter)).sum();
    let tools = request["tools"].as_array().map_or(0, |tools| tools.iter().map(|one| tool(one, counter)).sum::<u64>() + 12);
    3 + messages + tools
}

fn count(value: &Value, counter: &dyn Counter) -> u64 {
    value.as_str().map_or(0, |text| counter.count(text))
}

fn message(message: &Value, counter: &dyn Counter) -> u64 {
    let mut tokens = 3 + count(&message["role"], counter) + content(&message["content"], counter) + count(&message["refusal"], counter);
    if !message["name"].is_null() {
        tokens += 1 + count(&message["name"], counter);
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        tokens += 3 + 2 * count(&function["name"], counter) + count(&function["arguments"], counter);
    }
    tokens
}

fn content(content: &Value, counter: &dyn Counter) -> u64 {
    let part = |part: &Value| match part["type"].as_str().unwrap() {
        "text" => count(&part["text"], counter),
        "refusal" => count(&part["refusal"], counter),
        "image_url" if part["image_url"]["detail"] == "low" => 85,
        other => panic!("no rule here for {other}"),
    };
    count(content, counter) + content.as_array().into_iter().flatten().map(part).sum::<u64>()
}

/// Flat schemas only.
fn tool(tool: &Value, counter: &dyn Counter) -> u64 {
    let function = &tool["function"];
    let line = |parts: &[&Value]| parts.iter().map(|part| part.as_str().unwrap_or("").trim_end_matches('.')).collect::<Vec<_>>().join(":");
    let mut tokens = 7 + counter.count(&line(&[&function["name"], &function["description"]]));
    let properties = function["parameters"]["properties"].as_object();
    tokens += u64::from(properties.is_some_and(|properties| !properties.is_empty())) * 3;
    for (name, property) in properties.into_iter().flatten() {
        tokens += 3 + counter.count(&line(&[&Value::from(&**name), &property["type"], &property["description"]]));
        if let Some(values) = property["enum"].as_array() {
            tokens = tokens - 3 + values.iter().map(|value| 3 + count(value, counter)).sum::<u64>();
        }
    }
    tokens
}
