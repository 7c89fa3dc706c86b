//! A summary as JSON: how it crosses the border, and how a caller without a store keeps it.

use serde_json::{Value, json};

use super::summary::{Line, Section, Summary};
use crate::{Error, Result};

/// The largest that is read.
const MAX_BYTES: usize = 16 << 20;

/// The JSON of a summary.
#[must_use]
pub fn to_json(summary: &Summary) -> String {
    let line = |line: &Line| json!({"section": line.section.name(), "text": &*line.text, "sources": line.sources, "score": line.score, "by_model": line.by_model});
    let lines: Vec<Value> = summary.lines.iter().map(line).collect();
    let calls: Vec<Value> = summary.calls.iter().map(|(name, count)| json!([&**name, count])).collect();
    json!({
        "covers": [summary.covers.start, summary.covers.end], "lines": lines, "calls": calls,
        "left_out": summary.left_out, "erased": summary.erased,
    })
    .to_string()
}

/// Reads it back.
///
/// # Errors
/// `InvalidInput` for what [`to_json`] did not write.
pub fn from_json(text: &str) -> Result<Summary> {
    if text.len() > MAX_BYTES {
        return Err(bad(&format!("it has {} bytes, and may have {MAX_BYTES}", text.len())));
    }
    let value: Value = serde_json::from_str(text).map_err(|error| bad(&format!("it is no JSON ({error})")))?;
    read(&value).ok_or_else(|| bad("a field is missing or of another type"))
}

fn bad(what: &str) -> Error {
    Error::invalid(format!("reading a summary: it must be what Summary.to_json() wrote, and {what}: pass it unchanged"))
}

fn read(value: &Value) -> Option<Summary> {
    let covers = numbers(value.get("covers")?)?;
    let [start, end] = covers[..] else { return None };
    let lines = value.get("lines")?.as_array()?.iter().map(read_line).collect::<Option<Vec<Line>>>()?;
    let calls = value.get("calls")?.as_array()?.iter().map(read_call).collect::<Option<Vec<_>>>()?;
    let left_out = value.get("left_out")?.as_u64()?;
    (start <= end).then_some(Summary { covers: start..end, lines, calls, left_out, erased: numbers(value.get("erased")?)? })
}

fn read_line(value: &Value) -> Option<Line> {
    let name = value.get("section")?.as_str()?;
    let section = Section::ALL.into_iter().find(|section| section.name() == name)?;
    let text = super::units::one_line(value.get("text")?.as_str()?);
    let sources = numbers(value.get("sources")?)?;
    let (score, by_model) = (value.get("score")?.as_i64()?.clamp(0, 1 << 40), value.get("by_model")?.as_bool()?);
    (!text.is_empty()).then_some(Line { section, text: text.into(), sources, score, by_model })
}

fn read_call(value: &Value) -> Option<(Box<str>, u64)> {
    Some((super::units::one_line(value.get(0)?.as_str()?).into(), value.get(1)?.as_u64()?.min(1 << 40)))
}

fn numbers(value: &Value) -> Option<Vec<u64>> {
    value.as_array()?.iter().map(Value::as_u64).collect()
}
