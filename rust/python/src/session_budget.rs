//! What the prompts of a session may cost, on its way out: what `memspan.Budget` is made of.

use memspan_engine::context::{Order, Share};
use pyo3::prelude::*;

use crate::errors::Hold;
use crate::session::SessionCore;

/// What a section of the prompt may have.
type GrantRow = (String, u64, u32, Option<u64>);

/// A session's budget as it is stored; `None` is the engine's own rule. Frozen.
#[pyclass(frozen, get_all, module = "memspan._core")]
#[derive(Debug)]
pub struct StoredBudget {
    max_input_tokens: Option<u64>,
    order: &'static str,
    fill: f64,
    output_tokens: Option<u64>,
    cut_step: f64,
    /// By section: its name, floor, weight and ceiling.
    sections: Vec<GrantRow>,
    compact_at: Option<f64>,
    compact_every_turns: Option<u64>,
    result_tokens: Option<u64>,
}

fn share(share: Share) -> f64 {
    f64::from(share.millionths()) / 1e6
}

/// The budget of a session.
#[pyfunction]
pub fn session_budget(py: Python<'_>, of: &Bound<'_, SessionCore>) -> PyResult<StoredBudget> {
    let (budget, policy) = of.get().named.run(py, Hold::Attached, |session| session.budget())?;
    let ceiling = |most: u64| (most < u64::MAX).then_some(most);
    let grants = budget.sections.grants.iter();
    Ok(StoredBudget {
        max_input_tokens: budget.max_input_tokens,
        order: match budget.sections.order {
            Order::CacheFirst => "cache_first",
            Order::Classic => "classic",
        },
        fill: share(budget.fill),
        output_tokens: budget.output_tokens,
        cut_step: share(budget.sections.cut_step),
        sections: grants.map(|(name, grant)| (name.to_string(), grant.floor, grant.weight, ceiling(grant.ceiling))).collect(),
        compact_at: (policy.at.millionths() > 0).then(|| share(policy.at)),
        compact_every_turns: (policy.every_turns > 0).then_some(policy.every_turns),
        result_tokens: (policy.result_tokens > 0).then_some(policy.result_tokens),
    })
}
