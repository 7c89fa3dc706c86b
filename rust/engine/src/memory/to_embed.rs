//! The texts that an embedder is asked for, of rows that are to be written: each text of a scope once, and none whose vector the store has.

use std::collections::HashMap;

use super::NewMemory;
use super::core::Core;
use crate::Result;
use crate::index::vectors::{Made, UnitVector};
use crate::scope::Scope;

/// Where the vector of a row comes from.
#[derive(Debug, Clone)]
enum Source {
    /// A current memory has it.
    Known(UnitVector),
    /// The embedder makes it: the place among the texts that it is asked.
    Asked(usize),
}

/// The texts that an embedder is asked, and where each row's vector comes from.
#[derive(Debug, Clone, Default)]
pub struct ToEmbed {
    /// The texts that the embedder is asked for.
    pub texts: Vec<String>,
    sources: Vec<Source>,
}

impl ToEmbed {
    fn new(rows: &[(&Scope, &NewMemory)], known: Vec<Option<UnitVector>>) -> Self {
        let (mut all, mut asked) = (Self::default(), HashMap::new());
        for ((scope, new), known) in rows.iter().zip(known) {
            let source = known.map_or_else(
                || {
                    Source::Asked(*asked.entry((*scope, new.text.as_str())).or_insert_with(|| {
                        all.texts.push(new.text.clone());
                        all.texts.len() - 1
                    }))
                },
                Source::Known,
            );
            all.sources.push(source);
        }
        all
    }

    /// Rows that want a vector.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Whether none does.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Rows for which nothing need be asked.
    #[must_use]
    pub fn reused(&self) -> usize {
        self.sources.len() - self.texts.len()
    }

    /// A vector for each row, from those of [`Self::texts`].
    #[must_use]
    pub fn completed(&self, made: &Made) -> Made {
        let row = |source: &Source| match source {
            Source::Known(vector) => Some(vector.clone()),
            Source::Asked(at) => made.rows.get(*at).cloned().flatten(),
        };
        Made { rows: self.sources.iter().map(row).collect(), ..made.clone() }
    }
}

/// Gives each row that wants a vector its own of those that were made for them, in order; none, where nobody made any.
pub fn give_vectors<'a>(rows: impl IntoIterator<Item = &'a mut NewMemory>, made: Option<&Made>) {
    let mut made = made.into_iter().flat_map(Made::each);
    for new in rows.into_iter().filter(|new| new.to_embed().is_some()) {
        (new.vector, new.made_by) = made.next().unwrap_or_default();
    }
}

impl Core {
    /// The texts that the embedder at `place` is asked for: those of the rows that have no vector of their own.
    pub fn to_embed(&self, place: u32, rows: &[(&Scope, &NewMemory)]) -> Result<ToEmbed> {
        let rows: Vec<_> = rows.iter().copied().filter(|(_, new)| new.to_embed().is_some()).collect();
        let known = self.known_vectors(place, &rows)?;
        Ok(ToEmbed::new(&rows, known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::ScopeType;

    #[test]
    fn a_text_is_asked_once_a_scope_and_not_at_all_where_it_is_known() {
        let [ann, bob] = ["ann", "bob"].map(|id| Scope::new(None, ScopeType::User, id).unwrap());
        let [tea, milk] = ["tea", "milk"].map(|text| NewMemory::new(text.to_owned()));
        let unit = |x: f32, y: f32| UnitVector::new(&[x, y], 2).unwrap();
        let rows = [(&ann, &tea), (&ann, &tea), (&bob, &tea), (&ann, &milk)];
        let wanted = ToEmbed::new(&rows, vec![None, None, None, Some(unit(0.0, 1.0))]);
        assert_eq!((wanted.texts.as_slice(), wanted.len(), wanted.reused()), (&["tea".to_owned(), "tea".to_owned()][..], 4, 2));
        let made = wanted.completed(&Made { rows: vec![Some(unit(1.0, 0.0)), None], ..Made::default() });
        assert_eq!(made.rows, [Some(unit(1.0, 0.0)), Some(unit(1.0, 0.0)), None, Some(unit(0.0, 1.0))]);
        let own = NewMemory { vector: Some(unit(0.6, 0.8)), ..tea.clone() };
        let mut given = [tea.clone(), own.clone(), milk.clone()];
        give_vectors(&mut given, Some(&made));
        assert_eq!(given.map(|new| new.vector), [Some(unit(1.0, 0.0)), own.vector, Some(unit(1.0, 0.0))], "what has a vector keeps it");
    }
}
