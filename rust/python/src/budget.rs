//! The limits of a prompt and the caller's own chunks: `memspan.Budget`, `Recalls` and `Item` as the engine takes them.

use memspan_engine::context::{Budget, Grant, Item};
use memspan_engine::session::{Recalls, Roles, SessionBudget};
use pyo3::prelude::*;

use crate::arguments::{Argument, Tokens, checked, field, reads};
use crate::errors::{invalid, type_name};

reads! {
    SessionBudget: |name, value| {
        must_have(value, "sections", name, "memspan.Budget")?;
        let results = value.getattr("tool_results")?;
        let grants = value.getattr("sections")?.call_method0("items")?.try_iter()?.map(|pair| Argument::read("sections", &pair?));
        Ok(Self {
            max_input_tokens: field::<Option<Tokens>>(value, "max_input_tokens")?.map(|tokens| tokens.0),
            output_tokens: field::<Option<Tokens>>(value, "output_tokens")?.map(|tokens| tokens.0),
            fill: field(value, "fill")?,
            sections: Budget {
                order: field(value, "order")?,
                cut_step: field(value, "cut_step")?,
                grants: grants.map(|grant| grant.map(|GivenGrant(name, grant)| (name, grant))).collect::<PyResult<_>>()?,
                keep_rounds: if results.is_none() { Budget::default().keep_rounds } else { field(&results, "keep_rounds")? },
                ..Self::default().sections
            },
        })
    };
    GivenGrant: |name, value| {
        let (section, grant): (Bound<'_, PyAny>, Bound<'_, PyAny>) = value.extract()?;
        let ceiling = field::<Option<Tokens>>(&grant, "ceiling")?.map_or(u64::MAX, |tokens| tokens.0);
        let grant = Grant { floor: field::<Tokens>(&grant, "floor")?.0, weight: field(&grant, "weight")?, ceiling };
        Ok(Self(String::read("a section's name", &section)?.into(), grant))
    };
    Recalls: |name, value| {
        must_have(value, "roles", name, "memspan.Recalls")?;
        let roles: Vec<String> = Argument::read("a role", &value.getattr("roles")?)?;
        Ok(Self {
            memories: field::<Option<_>>(value, "memories")?.unwrap_or_default(),
            messages: field(value, "messages")?,
            passages: field::<Option<_>>(value, "passages")?.unwrap_or_default(),
            other_sessions: value.getattr("other_sessions")?.is_truthy()?,
            roles: checked(value, Roles::named(roles.iter().map(String::as_str)))?,
            min_confidence: field(value, "min_confidence")?,
        })
    };
}

/// The grant of a section, by its name.
struct GivenGrant(Box<str>, Grant);

fn must_have(value: &Bound<'_, PyAny>, attribute: &str, name: &str, class: &str) -> PyResult<()> {
    let error = || invalid(value.py(), format!("reading {name}: it must be a {class}, and it is {}: make one of it", type_name(value)));
    value.getattr(attribute).map(drop).map_err(|_| error())
}

/// A chunk of the caller's own, by its place among them.
pub fn item((place, item): (usize, Bound<'_, PyAny>)) -> PyResult<Item> {
    let id = Option::<String>::read("an item's id", &item.getattr("id")?)?;
    let section = String::read("an item's section", &item.getattr("section")?)?;
    let score = Option::<f64>::read("an item's score", &item.getattr("score")?)?;
    Ok(Item::given(place, &section, id.as_deref(), &String::read("an item's text", &item.getattr("text")?)?, score))
}
