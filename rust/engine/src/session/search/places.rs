//! The places of an answer: messages that only ask must not take all of them.
//!
//! A question that was asked often is the best message for itself, a hundred times. So what answers nothing takes at most half of the places
//! while there is something else. Places that stay free go to those that waited: an answer never gets shorter, and its order stays that of
//! the scores.

use super::Found;

/// Takes out of messages in their order those of no use that would have more than half of the places.
pub(super) fn surplus(found: &mut Vec<Found>, limit: usize, is_of_no_use: impl Fn(&Found) -> bool) -> Vec<Found> {
    let mut left = limit.div_ceil(2);
    let waits = |one: &mut Found| {
        let is_in_place = !is_of_no_use(one) || left > 0;
        left -= usize::from(is_in_place && is_of_no_use(one));
        !is_in_place
    };
    found.extract_if(.., waits).collect()
}

/// Whether those of the first `limit` that only ask have more than half of the places.
pub(super) fn may_be_crowded(found: &[Found], limit: usize) -> bool {
    found.iter().take(limit).filter(|one| one.is_empty == Some(true)).count() > limit.div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::key::SessionKey;

    fn found(number: u32, asks: bool) -> Found {
        let place = SessionKey { partition: 1, session: 1 };
        Found { is_empty: Some(asks), score: -i64::from(number), ..Found::of(place, u64::from(number), number) }
    }

    #[test]
    fn what_asks_has_half_of_the_places() {
        let all = |asking: &[bool]| -> Vec<Found> { (1..).zip(asking).map(|(number, asks)| found(number, *asks)).collect() };
        let numbers = |found: &[Found]| found.iter().map(|one| one.number).collect::<Vec<_>>();
        for (limit, crowded, kept, waiting) in [(1, false, vec![1, 5], vec![2, 3, 4]), (3, true, vec![1, 2, 5], vec![3, 4])] {
            let mut found = all(&[true, true, true, true, false]);
            assert_eq!(may_be_crowded(&found, limit), crowded);
            assert!(surplus(&mut found, limit, |_| false).is_empty());
            let others = surplus(&mut found, limit, |one| one.is_empty == Some(true));
            assert_eq!((numbers(&found), numbers(&others)), (kept, waiting));
        }
        assert!(!may_be_crowded(&all(&[true, false, true, false]), 4));
    }
}
