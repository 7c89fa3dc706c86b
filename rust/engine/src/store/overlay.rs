//! Pages as they would be behind changes that nobody writes down: for one who may only read and has to show what a write would leave.

use std::collections::BTreeMap;
use std::collections::btree_map::Range;
use std::iter::Peekable;
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::ops::ControlFlow;

use super::identity::Secret;
use super::pages::{Pages, PagesMut, in_partition_of};
use crate::Result;

/// Changes over pages that stay as they are. It holds each key that is removed, and each value that is put.
#[derive(Debug)]
pub struct Overlay<'p, P> {
    pages: &'p P,
    changes: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

impl<'p, P: Pages> Overlay<'p, P> {
    /// No changes over `pages`.
    #[must_use]
    pub fn new(pages: &'p P) -> Self {
        Self { pages, changes: BTreeMap::new() }
    }

    fn changes_of(&self, from: &[u8], to: &[u8]) -> Changes<'_> {
        Changes(self.changes.range::<[u8], _>((Included(from), Excluded(to))).peekable())
    }

    /// The greatest key at or below `key` of the pages that was not changed.
    fn floor_of_pages(&self, key: &[u8]) -> Result<Option<(&[u8], &[u8])>> {
        let mut found = self.pages.floor(key)?;
        while let Some((below, _)) = found.filter(|(key, _)| self.changes.contains_key(*key)) {
            found = match before(below) {
                Some(before) => self.pages.floor(&before)?,
                None => None,
            };
        }
        Ok(found)
    }
}

/// The greatest key before one, among those that the store has.
fn before(key: &[u8]) -> Option<Vec<u8>> {
    let (last, rest) = key.split_last()?;
    let mut before = rest.to_vec();
    if let Some(less) = last.checked_sub(1) {
        before.push(less);
        before.resize(super::keys::MAX_KEY.max(key.len()) + 1, u8::MAX);
    }
    Some(before)
}

impl<P: Pages> Pages for Overlay<'_, P> {
    fn secret(&self) -> Secret {
        self.pages.secret()
    }

    fn get(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        self.changes.get(key).map_or_else(|| self.pages.get(key), |changed| Ok(changed.as_deref()))
    }

    fn floor(&self, key: &[u8]) -> Result<Option<(&[u8], &[u8])>> {
        let mut changed = self.changes.range::<[u8], _>((Unbounded, Included(key))).rev();
        let put = changed.find_map(|(key, value)| Some((key.as_slice(), value.as_deref()?)));
        Ok(in_partition_of(key, self.floor_of_pages(key)?.max(put)))
    }

    fn scan<'p>(&'p self, from: &[u8], to: &[u8], visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>) -> Result<()> {
        if from >= to {
            return Ok(());
        }
        let (mut changes, mut flow) = (self.changes_of(from, to), ControlFlow::Continue(()));
        self.pages.scan(from, to, &mut |key, value| {
            flow = changes.merge(key, value, visit)?;
            Ok(flow)
        })?;
        changes.rest(to, flow, visit)
    }

    fn look_through(&self, from: &[u8], to: &[u8], look: &mut dyn FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>>) -> Result<()> {
        if from >= to {
            return Ok(());
        }
        let (mut changes, mut flow) = (self.changes_of(from, to), ControlFlow::Continue(()));
        self.pages.look_through(from, to, &mut |key, value| {
            flow = changes.merge(key, value, &mut |key, value| look(key, value))?;
            Ok(flow)
        })?;
        changes.rest(to, flow, &mut |key, value| look(key, value))
    }
}

/// The changes of a range, in their order, as a walk over the pages meets them.
struct Changes<'p>(Peekable<Range<'p, Vec<u8>, Option<Vec<u8>>>>);

impl<'p> Changes<'p> {
    /// Visits an entry of the pages as it is now, behind what was put before it.
    fn merge<'v>(
        &mut self,
        key: &'v [u8],
        value: &'v [u8],
        visit: &mut dyn FnMut(&'v [u8], &'v [u8]) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>>
    where
        'p: 'v,
    {
        while let Some((put, changed)) = self.put_before(key) {
            if visit(put, changed)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        match self.put_at(key) {
            Some(changed) => changed.map_or(Ok(ControlFlow::Continue(())), |changed| visit(key, changed)),
            None => visit(key, value),
        }
    }

    /// Visits what was put behind the last entry of the pages, unless the visit ended before.
    fn rest(
        &mut self,
        to: &[u8],
        mut flow: ControlFlow<()>,
        visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        while let Some((put, changed)) = self.put_before(to).filter(|_| flow.is_continue()) {
            flow = visit(put, changed)?;
        }
        Ok(())
    }

    /// The next value that was put before a key.
    fn put_before(&mut self, key: &[u8]) -> Option<(&'p [u8], &'p [u8])> {
        loop {
            let (put, changed) = self.0.next_if(|(changed, _)| changed.as_slice() < key)?;
            if let Some(changed) = changed {
                return Some((put, changed));
            }
        }
    }

    /// Where a key was changed: what was put there, if it was not removed.
    #[allow(clippy::option_option)] // whether it was changed, and whether it is there
    fn put_at(&mut self, key: &[u8]) -> Option<Option<&'p [u8]>> {
        self.0.next_if(|(changed, _)| changed.as_slice() == key).map(|(_, changed)| changed.as_deref())
    }
}

impl<P: Pages> PagesMut for Overlay<'_, P> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.changes.insert(key.to_vec(), Some(value.to_vec()));
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool> {
        let was_there = self.get(key)?.is_some();
        self.changes.insert(key.to_vec(), None);
        Ok(was_there)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::pages::MemoryPages;

    /// A key whose partition is the first byte.
    fn at(place: &[u8]) -> Vec<u8> {
        [&[0; 3], place].concat()
    }

    /// The first entries from a key on.
    fn entries<P: Pages>(pages: &P, from: &[u8], most: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
        let (mut found, mut seen) = (Vec::new(), Vec::new());
        let take = |all: &mut Vec<(Vec<u8>, Vec<u8>)>, key: &[u8], value: &[u8]| {
            all.push((key.to_vec(), value.to_vec()));
            Ok(if all.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        };
        pages.scan(from, &at(&[6, 2]), &mut |key, value| take(&mut found, key, value)).unwrap();
        pages.look_through(from, &at(&[6, 2]), &mut |key, value| take(&mut seen, key, value)).unwrap();
        assert_eq!(found, seen);
        found
    }

    /// Both must give the same at a key, and from it on.
    fn compare(overlay: &Overlay<'_, MemoryPages>, model: &MemoryPages, key: &[u8], most: usize) {
        assert_eq!(Pages::get(overlay, key).unwrap(), Pages::get(model, key).unwrap(), "{key:?}");
        assert_eq!(overlay.floor(key).unwrap(), model.floor(key).unwrap(), "{key:?}");
        let expected = if key < &at(&[6, 2])[..] { entries(model, key, most) } else { Vec::new() };
        assert_eq!(entries(overlay, key, most), expected, "{key:?}");
    }

    #[test]
    fn it_reads_like_pages_that_were_written_to() {
        let mut random = 7_u64;
        let mut below = |end: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % end
        };
        for _ in 0..40 {
            let mut base = MemoryPages::new();
            for _ in 0..30 {
                base.insert(at(&[below(8) as u8, below(4) as u8]), vec![below(256) as u8]);
            }
            let (mut overlay, mut model) = (Overlay::new(&base), base.clone());
            for step in 0..60 {
                let key = at(&[below(8) as u8, below(4) as u8, 0][..=below(3) as usize]);
                if below(3) > 0 {
                    assert_eq!(overlay.delete(&key).unwrap(), PagesMut::delete(&mut model, &key).unwrap());
                } else {
                    overlay.put(&key, &[step]).unwrap();
                    model.put(&key, &[step]).unwrap();
                }
                for first in 0..8 {
                    compare(&overlay, &model, &at(&[first]), 1 + below(9) as usize);
                    compare(&overlay, &model, &at(&[first, below(4) as u8]), usize::MAX);
                }
            }
        }
    }
}
