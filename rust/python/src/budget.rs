//! What a prompt may cost and the caller's own chunks: `memspan.Budget` and `memspan.Item` as the engine takes them.
//!
//! Their classes have checked them already; what comes from somewhere else is checked again by the engine.

use std::sync::Arc;

use memspan_engine::context::{Budget, Form, Grant, Item, Order, Share};
use memspan_engine::limits::{MAX_ITEM_SCORE, MAX_RECALLS, MAX_TOKENS};
use memspan_engine::session::{Recalls, Roles, SessionBudget};
use memspan_engine::units::score::SCORE_UNIT;
use pyo3::prelude::*;

use crate::arguments::{number, text_of, whole};
use crate::errors::{invalid, to_python};

const MILLION: f64 = 1e6;
const MOST_TOKENS: i64 = MAX_TOKENS as i64;

/// Tokens that an argument names.
pub fn tokens(name: &str, value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<u64>> {
    value.map(|value| whole(name, value, 0, MOST_TOKENS).map(|tokens| tokens as u64)).transpose()
}

/// A `memspan.Budget`.
pub fn budget(value: &Bound<'_, PyAny>) -> PyResult<SessionBudget> {
    let py = value.py();
    let Ok(sections) = value.getattr("sections") else {
        return Err(invalid(py, format!("reading budget: it must be a memspan.Budget, and it is {value}: make one of it")));
    };
    let output = value.getattr("output_tokens")?.extract::<Option<Bound<'_, PyAny>>>()?;
    let limit = value.getattr("max_input_tokens")?.extract::<Option<Bound<'_, PyAny>>>()?;
    let SessionBudget { sections: defaults, .. } = SessionBudget::default();
    let own = SessionBudget {
        max_input_tokens: tokens("max_input_tokens", limit.as_ref())?,
        output_tokens: tokens("output_tokens", output.as_ref())?,
        fill: share("fill", &value.getattr("fill")?)?,
        sections: Budget {
            order: order(&value.getattr("order")?)?,
            cut_step: share("cut_step", &value.getattr("cut_step")?)?,
            grants: grants(&sections)?,
            relevance: defaults.relevance,
            keep_rounds: rounds(value)?,
        },
    };
    Budget::validate(&own.sections).map_err(|error| to_python(py, &error))?;
    Ok(own)
}

/// How many newest rounds of a turn stay, by its `ToolResults`.
fn rounds(budget: &Bound<'_, PyAny>) -> PyResult<u64> {
    let results = budget.getattr("tool_results")?;
    if results.is_none() { Ok(1) } else { Ok(whole("keep_rounds", &results.getattr("keep_rounds")?, 1, 1_000)? as u64) }
}

/// A `memspan.Recalls`.
pub fn recalls(value: &Bound<'_, PyAny>) -> PyResult<Recalls> {
    let Ok(roles) = value.getattr("roles") else {
        return Err(invalid(value.py(), format!("reading recalls: it must be a memspan.Recalls, and it is {value}: make one of it")));
    };
    let most = |name: &str| whole(name, &value.getattr(name)?, 0, i64::try_from(MAX_RECALLS).unwrap_or(i64::MAX)).map(|most| most as u64);
    let messages = value.getattr("messages")?.is_none();
    let least = value.getattr("min_confidence")?;
    let names: Vec<String> = roles.try_iter()?.map(|role| text_of("a role", &role?)).collect::<PyResult<_>>()?;
    Ok(Recalls {
        memories: most("memories")?,
        messages: if messages { None } else { Some(most("messages")?) },
        passages: most("passages")?,
        other_sessions: value.getattr("other_sessions")?.is_truthy()?,
        roles: Roles::named(names.iter().map(String::as_str)).map_err(|error| to_python(value.py(), &error))?,
        min_confidence: if least.is_none() { None } else { Some(share("min_confidence", &least)?) },
    })
}

fn order(value: &Bound<'_, PyAny>) -> PyResult<Order> {
    match text_of("order", value)?.as_str() {
        "cache_first" => Ok(Order::CacheFirst),
        "classic" => Ok(Order::Classic),
        other => Err(invalid(
            value.py(),
            format!("reading budget: order must be \"cache_first\" or \"classic\", and it is {other:?}: choose one"),
        )),
    }
}

fn share(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Share> {
    let given = number(name, value)?;
    if (0.0..=1.0).contains(&given) {
        return Ok(Share::new((given * MILLION).round() as u32));
    }
    Err(invalid(value.py(), format!("reading budget: {name} must be from 0 to 1, and it is {given}: give a share")))
}

fn grants(sections: &Bound<'_, PyAny>) -> PyResult<Vec<(Box<str>, Grant)>> {
    let mut grants: Vec<(Box<str>, Grant)> = Vec::new();
    for pair in sections.call_method0("items")?.try_iter()? {
        let (name, grant): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
        let ceiling = grant.getattr("ceiling")?.extract::<Option<Bound<'_, PyAny>>>()?;
        let grant = Grant {
            floor: whole("floor", &grant.getattr("floor")?, 0, MOST_TOKENS)? as u64,
            weight: whole("weight", &grant.getattr("weight")?, 0, i64::from(Grant::MAX_WEIGHT))? as u32,
            ceiling: tokens("ceiling", ceiling.as_ref())?.unwrap_or(u64::MAX),
        };
        grants.push((text_of("a section's name", &name)?.into(), grant));
    }
    grants.sort_by(|(one, _), (other, _)| one.cmp(other)); // the same budget, whatever the order of its dict
    Ok(grants)
}

/// The caller's chunks, in their order. One without an id is called by its place.
pub fn items(given: &Bound<'_, PyAny>) -> PyResult<Vec<Item>> {
    given.try_iter()?.enumerate().map(|(place, item)| read_item(place, &item?)).collect()
}

fn read_item(place: usize, item: &Bound<'_, PyAny>) -> PyResult<Item> {
    let id = item.getattr("id")?.extract::<Option<Bound<'_, PyAny>>>()?.map(|id| text_of("an item's id", &id)).transpose()?;
    let attributes = id.iter().map(|id| ("id".into(), id.as_str().into())).collect();
    let score = item.getattr("score")?.extract::<Option<Bound<'_, PyAny>>>()?.map(|score| number("an item's score", &score)).transpose()?;
    Ok(Item {
        section: text_of("an item's section", &item.getattr("section")?)?.into(),
        id: id.map_or_else(|| Arc::from(format!("items[{place}]")), Arc::from),
        attributes,
        text: text_of("an item's text", &item.getattr("text")?)?.into(),
        memory: None,
        message: None,
        form: Form::dated(),
        score: score.map(|score| (score.clamp(-MAX_ITEM_SCORE, MAX_ITEM_SCORE) * SCORE_UNIT) as i64),
    })
}

/// A score in fixed point as a number.
pub fn score(fixed: i64) -> f64 {
    fixed as f64 / SCORE_UNIT
}
