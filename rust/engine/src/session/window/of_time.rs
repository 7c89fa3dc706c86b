//! The answers to a question that asks for a time alone ("what did we do in May?"): those that there is room for, from all of that time alike.

use super::retrieved::{LEAST_BYTES_A_TOKEN, LEAST_TOKENS, Shown};
use crate::context::Item;
use crate::recall::{self, Recall};

/// Memories and messages that answer a question for a time alone, in the order of time; where none does, all as they were found. `elsewhere`
/// has what the prompt shows besides.
pub(super) fn of_time(memories: Vec<Item>, answer: &Recall, messages: Vec<Shown>, room: u64, elsewhere: &[&[Item]]) -> Vec<Item> {
    let happened = answer.hits.iter().map(|hit| hit.parts.overview);
    let messages = messages.into_iter().map(|one| (one.said_then, one.item));
    let (mut then, mut others) = (Vec::new(), Vec::new());
    for (at, item) in happened.zip(memories).chain(messages) {
        match at {
            Some(at) => then.push((at, item)),
            None => others.push(item),
        }
    }
    let shows = |one: &Item, item: &Item| one.memory.is_some() && one.memory == item.memory || one.text == item.text;
    let mut items = in_order_of_time(then, room, |item| elsewhere.iter().any(|all| all.iter().any(|one| shows(one, item))));
    items.append(&mut others);
    items
}

/// Memories and messages that answer a question for a time alone, each with when it was: those that there is room for, from all of the time
/// alike, with the scores by which a block puts them in the order of time, of which the first and the last are the best. Behind them
/// those that cannot be shown because the prompt has them elsewhere.
fn in_order_of_time(mut found: Vec<(i64, Item)>, room: u64, is_elsewhere: impl Fn(&Item) -> bool) -> Vec<Item> {
    found.sort_by_key(|(at, _)| *at); // stable: of one time memories come before messages
    let (elsewhere, then): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, item)| is_elsewhere(item));
    let mut once: Vec<Item> = Vec::with_capacity(then.len());
    for (_, item) in then {
        if once.iter().all(|other| other.text != item.text) {
            once.push(item);
        }
    }
    let tokens = |item: &Item| item.text.len() as u64 / LEAST_BYTES_A_TOKEN + LEAST_TOKENS;
    let asked: u64 = once.iter().map(tokens).sum();
    let most = if asked > room { (once.len() as u64 * room / asked.max(1)).max(1) as usize } else { once.len() };
    let mut shown = recall::spread(once, most, |_| 0);
    let (count, best) = (shown.len(), shown.iter().filter_map(|item| item.score).max().unwrap_or(0));
    for (place, item) in shown.iter_mut().enumerate() {
        // A block shows the best first, the second best last, and the weakest in the middle.
        let rank = if place < count.div_ceil(2) { 2 * place } else { 2 * (count - 1 - place) + 1 };
        item.score = Some(best - rank as i64);
    }
    shown.extend(elsewhere.into_iter().map(|(_, item)| item));
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Form;
    use crate::context::limit::section;

    #[test]
    fn what_lies_in_a_time_stands_in_its_order_from_all_of_it() {
        let item = |at: i64| Item {
            section: section::RECALLED.into(),
            id: format!("{at}").into(),
            attributes: Vec::new(),
            text: format!("{at} {}", "x".repeat(60)).into(),
            memory: None,
            message: None,
            document: None,
            form: Form::dated(),
            score: Some(1_000),
        };
        let ids = |items: &[Item]| items.iter().map(|item| item.id.to_string()).collect::<Vec<_>>();
        for (count, room, shown) in
            [(5, 10_000, vec!["0", "1", "2", "3", "4"]), (4, 10_000, vec!["0", "1", "2", "3"]), (40, 140, vec!["0", "13", "26"])]
        {
            let found = (0..count).rev().map(|at| (at, item(at))).collect();
            let items = in_order_of_time(found, room, |_| false);
            assert_eq!(ids(&items), shown);
            // As the block places them: by score, every other one to the end.
            let mut ranked = items.clone();
            ranked.sort_by_key(|item| std::cmp::Reverse(item.score));
            let mut placed: Vec<Item> = ranked.iter().step_by(2).cloned().collect();
            placed.extend(ranked.iter().skip(1).step_by(2).rev().cloned());
            assert_eq!(ids(&placed), shown);
        }
        let twice = vec![(1, item(1)), (2, Item { id: "again".into(), ..item(1) }), (3, item(3)), (0, item(0))];
        assert_eq!(
            ids(&in_order_of_time(twice, 10_000, |item| &*item.id == "3")),
            ["0", "1", "3"],
            "a text once, what is elsewhere behind"
        );
    }
}
