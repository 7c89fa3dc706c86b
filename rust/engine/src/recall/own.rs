//! Who the user is: "where does Ana live?" is answered by "The user lives in Porto." where Ana is the user whose memory is asked.
//!
//! The user's names are what the slots of a name hold, and what the scope is called. They are looked up only where the question names
//! somebody.

use super::newest::speaks_of_own;
use crate::Result;
use crate::memory::{record, slots};
use crate::scope::{Scope, ScopeType};
use crate::store::keys::Partition;
use crate::store::pages::Pages;

/// Slots that hold a name of the user.
const SLOTS: [&str; 4] = ["name", "first name", "full name", "nickname"];

/// Which names of a question are the user's own, in each scope that is asked.
#[derive(Debug, Default)]
pub(super) struct Own(Vec<Vec<String>>);

impl Own {
    /// Of the names of a question; `partitions` are those of the scopes.
    pub fn of<P: Pages>(pages: &P, scopes: &[Scope], partitions: &[Option<Partition>], names: &[String]) -> Result<Self> {
        if names.is_empty() {
            return Ok(Self::default());
        }
        let of_scope = |(scope, partition): (&Scope, &Option<Partition>)| match partition {
            Some(partition) if scope.scope_type == ScopeType::User => known(pages, scope, *partition, names),
            _ => Ok(Vec::new()),
        };
        scopes.iter().zip(partitions).map(of_scope).collect::<Result<_>>().map(Self)
    }

    /// Whether a name is the user's in any scope.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().flatten().any(|own| own.eq_ignore_ascii_case(name))
    }

    /// How many of the names a text of a scope has by speaking of the user.
    pub fn in_text(&self, scope: usize, text: &str) -> usize {
        let names = self.0.get(scope).map_or(0, Vec::len);
        if names > 0 && speaks_of_own(text) { names } else { 0 }
    }
}

/// Those of the names that are the user's.
fn known<P: Pages>(pages: &P, scope: &Scope, partition: Partition, names: &[String]) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for slot in SLOTS {
        for number in slots::get(pages, partition, scope.seed(pages.secret()), slot)?.current {
            texts.extend(record::current(pages, partition, number)?.map(|memory| memory.text));
        }
    }
    let has = |text: &String, name: &str| text.split(|letter: char| !letter.is_alphanumeric()).any(|word| word.eq_ignore_ascii_case(name));
    let is_own = |name: &&String| scope.id.eq_ignore_ascii_case(name) || texts.iter().any(|text| has(text, name));
    Ok(names.iter().filter(is_own).cloned().collect())
}
