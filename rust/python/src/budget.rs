//! What a prompt may cost and the caller's own chunks: `memspan.Budget`, `Recalls` and `Item` as the engine takes them.
//!
//! Their classes have checked them already; what comes from somewhere else is checked again by the engine.

use memspan_engine::context::{Budget, Grant, Item};
use memspan_engine::limits::{MAX_KEPT_ROUNDS, MAX_RECALLS, within};
use memspan_engine::session::{Recalls, Roles, SessionBudget};
use pyo3::prelude::*;

use crate::arguments::{Argument, Tokens, checked, field};
use crate::errors::invalid;

impl<'py> Argument<'py> for SessionBudget {
    fn read(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        must_have(value, "sections", name, "memspan.Budget")?;
        let rounds = match value.getattr("tool_results")? {
            results if results.is_none() => 1,
            results => checked(value, within("keep_rounds", field(&results, "keep_rounds")?, 1..=MAX_KEPT_ROUNDS))?,
        };
        let mut grants: Vec<(Box<str>, Grant)> =
            value.getattr("sections")?.call_method0("items")?.try_iter()?.map(grant).collect::<PyResult<_>>()?;
        grants.sort_by(|(one, _), (other, _)| one.cmp(other)); // the same budget, whatever the order of its dict
        let sections = Budget {
            order: field(value, "order")?,
            cut_step: field(value, "cut_step")?,
            grants,
            keep_rounds: rounds,
            ..Self::default().sections
        };
        checked(value, sections.validate())?;
        Ok(Self {
            max_input_tokens: field::<Option<Tokens>>(value, "max_input_tokens")?.map(Tokens::number),
            output_tokens: field::<Option<Tokens>>(value, "output_tokens")?.map(Tokens::number),
            fill: field(value, "fill")?,
            sections,
        })
    }
}

fn grant(pair: PyResult<Bound<'_, PyAny>>) -> PyResult<(Box<str>, Grant)> {
    let (name, grant): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
    let ceiling = field::<Option<Tokens>>(&grant, "ceiling")?.map_or(u64::MAX, Tokens::number);
    let grant = Grant { floor: field::<Tokens>(&grant, "floor")?.0, weight: field(&grant, "weight")?, ceiling };
    Ok((String::read("a section's name", &name)?.into(), grant))
}

impl<'py> Argument<'py> for Recalls {
    fn read(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        must_have(value, "roles", name, "memspan.Recalls")?;
        let most = |name: &str| {
            let most: Option<u64> = field(value, name)?;
            most.map(|most| checked(value, within(name, most, 0..=MAX_RECALLS as u64))).transpose()
        };
        let roles: Vec<String> = Argument::read("a role", &value.getattr("roles")?)?;
        Ok(Self {
            memories: most("memories")?.unwrap_or_default(),
            messages: most("messages")?,
            passages: most("passages")?.unwrap_or_default(),
            other_sessions: value.getattr("other_sessions")?.is_truthy()?,
            roles: checked(value, Roles::named(roles.iter().map(String::as_str)))?,
            min_confidence: field(value, "min_confidence")?,
        })
    }
}

fn must_have(value: &Bound<'_, PyAny>, attribute: &str, name: &str, class: &str) -> PyResult<()> {
    let error = || invalid(value.py(), format!("reading {name}: it must be a {class}, and it is {value}: make one of it"));
    value.getattr(attribute).map(drop).map_err(|_| error())
}

/// A chunk of the caller's own, by its place among them.
pub fn item((place, item): (usize, Bound<'_, PyAny>)) -> PyResult<Item> {
    let id = Option::<String>::read("an item's id", &item.getattr("id")?)?;
    let section = String::read("an item's section", &item.getattr("section")?)?;
    let score = Option::<f64>::read("an item's score", &item.getattr("score")?)?;
    Ok(Item::given(place, &section, id.as_deref(), &String::read("an item's text", &item.getattr("text")?)?, score))
}
