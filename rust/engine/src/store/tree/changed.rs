//! The pages that a commit wrote: those of the trees behind it that the trees before it do not have.
//!
//! LMDB copies a page before it changes it, so a page that both trees have is the same in both, with everything below it. Both trees are
//! walked side by side, level by level down to the leaves, and only below pages that the other one does not have. The lists of pages are in
//! the order of keys, in which common pages keep their order.

use std::collections::BTreeSet;

use super::page::{Kind, Order, Page, Value};
use super::{MAX_DEPTH, NONE, Root, Tree};
use crate::Result;

/// So far ahead in either list the next common page is looked for, before both are compared as sets.
const REACH: usize = 8;

/// Neighbouring pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// The first of them.
    pub first: u64,
    /// How many there are.
    pub pages: u64,
}

/// The two trees of one transaction.
#[derive(Debug, Clone, Copy)]
pub struct Roots<'t> {
    /// The tree of the values.
    pub values: &'t Tree,
    /// The root of that of the free pages.
    pub free: Root,
}

/// The pages of `new` that `old`, the transaction before it, does not have, ascending.
pub fn changed(new: Roots<'_>, old: Roots<'_>) -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    add_changed(&mut runs, (new.values, new.values.root), (old.values, old.values.root), Order::Bytes)?;
    add_changed(&mut runs, (new.values, new.free), (old.values, old.free), Order::Numbers)?;
    runs.sort_unstable();
    Ok(runs)
}

/// A tree of a file: where its pages are read, and its root.
type Rooted<'t> = (&'t Tree, Root);

fn add_changed(runs: &mut Vec<Run>, new: Rooted<'_>, old: Rooted<'_>, order: Order) -> Result<()> {
    let (mut news, mut olds) = (Vec::new(), Vec::new());
    for height in (1..=new.0.height(new.1)?.max(old.0.height(old.1)?)).rev() {
        for (pages, (_, root)) in [(&mut news, new), (&mut olds, old)] {
            if height == usize::from(root.depth) && root.page != NONE {
                pages.push(root.page);
            }
        }
        (news, olds) = differing(&news, &olds, |page| *page);
        runs.extend(news.iter().map(|page| Run { first: *page, pages: 1 }));
        if height > 1 {
            (news, olds) = (new.0.children(&news, order)?, old.0.children(&olds, order)?);
        } else {
            let (overflow, _) = differing(&new.0.overflows(&news, order)?, &old.0.overflows(&olds, order)?, |run| run.first);
            runs.extend(overflow);
        }
    }
    Ok(())
}

/// The members of each list that the other one does not have, where those that both have stand in the same order.
fn differing<T: Copy>(new: &[T], old: &[T], number: impl Fn(&T) -> u64) -> (Vec<T>, Vec<T>) {
    let (mut own, mut other, mut at, mut behind) = (Vec::new(), Vec::new(), 0, 0);
    while at < new.len() && behind < old.len() {
        if number(&new[at]) == number(&old[behind]) {
            (at, behind) = (at + 1, behind + 1);
            continue;
        }
        let steps = (1..2 * REACH).flat_map(|sum| (0..=sum).map(move |step| (step, sum - step)));
        let common = steps.filter(|(step, beside)| {
            let pair = new.get(at + step).zip(old.get(behind + beside));
            pair.is_some_and(|(new, old)| number(new) == number(old))
        });
        let Some((step, beside)) = common.min_by_key(|(step, beside)| step + beside) else { break };
        own.extend_from_slice(&new[at..at + step]);
        other.extend_from_slice(&old[behind..behind + beside]);
        (at, behind) = (at + step, behind + beside);
    }
    let [new, old] = [&new[at..], &old[behind..]];
    let [in_new, in_old]: [BTreeSet<u64>; 2] = [new, old].map(|rest| rest.iter().map(&number).collect());
    own.extend(new.iter().filter(|one| !in_old.contains(&number(one))));
    other.extend(old.iter().filter(|one| !in_new.contains(&number(one))));
    (own, other)
}

impl Tree {
    fn height(&self, root: Root) -> Result<usize> {
        match usize::from(root.depth) {
            _ if root.page == NONE => Ok(0),
            depth if depth <= MAX_DEPTH => Ok(depth),
            _ => Err(self.damaged(root.page, "the meta page names a tree of an impossible depth")),
        }
    }

    fn page_of(&self, number: u64, kind: Kind, order: Order) -> Result<Page<'_>> {
        if order == Order::Bytes {
            return self.page(number, kind);
        }
        let page = Page::new(self.bytes(number, 1)?);
        page.check(number, kind, order).map_err(|why| self.damaged(number, why))?;
        Ok(page)
    }

    /// The child pages of branches.
    fn children(&self, branches: &[u64], order: Order) -> Result<Vec<u64>> {
        let mut children = Vec::new();
        for &branch in branches {
            let page = self.page_of(branch, Kind::Branch, order)?;
            for index in 0..page.entries() {
                children.push(self.some(branch, page.child(index))?);
            }
        }
        Ok(children)
    }

    /// The pages that values of leaves have for themselves.
    fn overflows(&self, leaves: &[u64], order: Order) -> Result<Vec<Run>> {
        let mut runs = Vec::new();
        for &leaf in leaves {
            let page = self.page_of(leaf, Kind::Leaf, order)?;
            for index in 0..page.entries() {
                if let Value::Overflow { page: first, size } = self.some(leaf, page.value(index))? {
                    runs.push(Run { first, pages: self.value_pages(first, size)?.1 });
                }
            }
        }
        Ok(runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_differ_in_what_only_one_of_them_has() {
        let check = |new: &[u64], old: &[u64]| {
            let expected = |own: &[u64], other: &[u64]| own.iter().copied().filter(|one| !other.contains(one)).collect::<Vec<_>>();
            assert_eq!(differing(new, old, |one| *one), (expected(new, old), expected(old, new)), "{new:?} {old:?}");
        };
        let old: Vec<u64> = (0..60).map(|at| at * 7 % 60).collect();
        for (from, taken, put) in [(0, 0, 0), (0, 1, 1), (5, 1, 2), (5, 3, 1), (59, 1, 1), (20, 1, 30), (3, 50, 2), (0, 60, 60), (60, 0, 1)]
        {
            let mut new = old.clone();
            new.splice(from..from + taken, (0..put).map(|at| 100 + at));
            check(&new, &old);
            check(&old, &new);
            let mut twice = new.clone();
            if let Some(last) = twice.last_mut() {
                *last = 500;
            }
            check(&twice, &old);
        }
        check(&[], &old);
        check(&old, &[]);
    }
}
