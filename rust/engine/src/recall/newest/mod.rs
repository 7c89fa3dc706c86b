//! Newest first: of memories about the same thing that have no slot, the two newest stand before those that they replace, and each
//! replaced one is marked with the date. Two are raised because the newest may be about another thing after all, and would hide the right
//! one.
//!
//! Before that, the best memory about the person in question is put before memories that say the same of somebody else.
//!
//! Two are such a pair where both are of kinds that hold (facts, preferences, decisions, constraints, the profile), the newer one is
//! trusted as much, is about the same person (or, where neither is about whom is asked, begins with the same word) and the same thing, and
//! it answers the question by itself ([`super::closer::Look::answers`]). The same person: it has every name and identifier of the question
//! that the older one has, speaks of "I" where the older one does, and of nobody else ([`super::whose`]). The same thing: where both have
//! one shape, it has no other word in the place of a word of the question ([`super::contrast`]). Where the question names nobody and does
//! not say "I", the newer one has all of its words that the older one has: "the production server" is not a newer "staging server".
//!
//! A plain statement stands before a wish, before one of some days of the week and before one of a part of the thing
//! ([`Asked::keeps_manner`]), whichever is newer.
//!
//! Of those that hold and have one score as it is shown, the newer stands first, too, and nothing is marked.
//!
//! It forgets nothing and leaves nothing out: near is not the same, and the reader decides. A question about the past, or
//! about a time, is answered without this step. So is one in another language, and no text in one is raised or marked: these rules compare
//! English words.

mod asked;
mod denied;
mod manner;
mod restated;
mod seen;
mod several;

use std::cell::OnceCell;
use std::collections::BTreeMap;

use self::asked::Asked;
pub(super) use self::manner::says_change;
use self::seen::Seen;
use super::Question;
use super::contenders::Contender;
use super::own::Own;
use super::ranking::memories::newest as weights;
use super::words::Words;
use crate::memory::{Kind, Outline, is_of_another_thing};
use crate::text::is_abroad;
use crate::units::score::SCORE_ONE;

/// Parts of 1 in which scores are shown.
const SHOWN: i64 = 1000;

/// Puts the two newest of each thing before what they replace, by its score, and notes at the older ones when something newer was said. A
/// newest one for which the question does not speak comes right behind the older one. The question is [of now](super::is_of_now), and
/// `answers` says whether a hit answers it by itself.
pub(super) fn lift(question: &Question, own: &Own, hits: &mut [Contender<'_>], answers: impl Fn(&Contender<'_>) -> bool) {
    settle(hits);
    if is_abroad(question.text()) {
        return;
    }
    let asked = Asked::of(question, own);
    let words: Vec<OnceCell<Words<'_>>> = hits.iter().map(|_| OnceCell::new()).collect();
    let seen: Vec<Option<Seen<'_, '_>>> = hits.iter().zip(&words).map(|(hit, words)| Seen::of(hit, words)).collect();
    let known: Vec<OnceCell<bool>> = vec![OnceCell::new(); hits.len()];
    let answers = |at: usize| *known[at].get_or_init(|| answers(&hits[at]));
    let before_wrong = if asked.is_of_somebody() { right_before_wrong(&asked, &seen, answers) } else { None };
    let before_aside = plain_before_aside(&asked, &seen, answers);
    let by_time = by_time(&seen);
    let newest: Vec<[Option<usize>; 2]> =
        (0..hits.len()).map(|older| two_newest(older, &asked, &seen, &by_time, &known, answers)).collect();
    if let Some((right, wrong)) = before_wrong {
        raise(hits, right, wrong);
    }
    if let Some((plain, aside)) = before_aside {
        raise(hits, plain, aside);
    }
    let is_of_facts = newest.iter().filter(|newest| newest[0].is_some()).count() <= weights::MOST_REPLACED;
    for (older, [first, second]) in newest.into_iter().enumerate() {
        let Some(first) = first else { continue };
        let is_newer = says_newer(&asked, &seen, first, older);
        let is_spoken_of = |at: usize| seen[at].as_ref().is_some_and(|new| asked.is_spoken_of(new));
        let marking = match second {
            _ if is_newer && is_spoken_of(first) => Some(first),
            Some(second) if says_newer(&asked, &seen, second, older) && is_spoken_of(second) => Some(second),
            _ => None,
        };
        hits[older].newer_at = marking.map(|at| hits[at].memory.occurred_at);
        let speaks_for = |at: usize| !hits[at].parts.succeeds && hits[at].parts.is_relevant();
        if is_newer && speaks_for(older) && !speaks_for(first) {
            let score = hits[older].parts.fixed;
            hits[first].parts.stand_behind(score);
        } else {
            raise(hits, first, older);
        }
        if let Some(second) = second.filter(|_| is_of_facts) {
            raise(hits, second, older);
        }
    }
}

/// Whether what is raised says something newer of what stands behind it: "I take 10 mg" comes before "My mother takes 5 mg" and says nothing
/// of it, nor does "I'm allergic to latex" of "I'm allergic to penicillin", nor the port of another thing.
fn says_newer(asked: &Asked, seen: &[Option<Seen>], newer: usize, older: usize) -> bool {
    let (Some(new), Some(old)) = (&seen[newer], &seen[older]) else { return false };
    let of_another = || old.slot.is_none() && is_of_another_thing(new.text, old.text);
    !asked.are_several(new, old) && !of_another() && old.others(asked).iter().all(|other| new.others(asked).contains(other))
}

/// Gives what holds and has one score as it is shown the highest of these scores, so that the newer stands first ([`super::contenders::newest_of_equals`]).
fn settle(hits: &mut [Contender<'_>]) {
    let mut best: BTreeMap<(usize, i64), (u8, i64)> = BTreeMap::new();
    let place = |hit: &Contender<'_>| (hit.scope, shown(hit.parts.fixed));
    for hit in hits.iter().filter(|hit| lasts(&hit.memory)) {
        let own = best.entry(place(hit)).or_default();
        *own = (own.0.max(hit.memory.trust), own.1.max(hit.parts.fixed));
    }
    for hit in hits.iter_mut().filter(|hit| lasts(&hit.memory)) {
        if let Some(&(_, score)) = best.get(&place(hit)).filter(|(trust, _)| *trust == hit.memory.trust) {
            hit.parts.settle_at(score);
        }
    }
}

/// A score in thousandths, as answers show it.
fn shown(score: i64) -> i64 {
    (score * SHOWN + i64::from(SCORE_ONE) / 2) / i64::from(SCORE_ONE)
}

/// Gives one hit at least the score of another, before which it stands.
fn raise(hits: &mut [Contender<'_>], one: usize, above: usize) {
    let least = hits[above].parts.fixed;
    hits[one].parts.raise_to(least);
}

/// The first that is about whom the question asks for and the first that is about somebody else, where both answer it; `None` where the
/// right one scores more anyway. Who is wrong is cheaper to tell.
fn right_before_wrong(asked: &Asked, seen: &[Option<Seen>], answers: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
    let first = |is: fn(&Asked, &Seen) -> bool| {
        seen.iter().enumerate().position(|(at, one)| one.as_ref().is_some_and(|one| is(asked, one)) && answers(at))
    };
    let wrong = first(Asked::is_wrong)?;
    let most = seen[wrong].as_ref()?.score;
    let is_behind = |one: &Seen| one.score <= most && asked.is_right(one);
    let right = if seen.iter().flatten().any(is_behind) { first(Asked::is_right)? } else { return None };
    seen[right].as_ref().is_some_and(|one| !one.is_abroad()).then_some((right, wrong))
}

/// The first that is of now, and the best of all where that is not ([`Asked::keeps_manner`]), though both say the same of one thing: "I live
/// in Rome" comes before "I want to live in Paris", whichever is newer.
fn plain_before_aside(asked: &Asked, seen: &[Option<Seen>], answers: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
    let (aside, best) = seen.iter().enumerate().find_map(|(at, one)| Some((at, one.as_ref()?)))?;
    if !asked.may_be_aside(best) {
        return None; // as mostly, and no other text is cut into words
    }
    let is_plain = |one: &Seen| one.score <= best.score && asked.may_replace(one, best) && !asked.keeps_manner(best, one);
    let is_it = |one: &Seen| is_plain(one) && asked.is_of_same(one, best) && asked.is_of_one(one, best) && !one.is_abroad();
    let plain = (0..seen.len()).find(|at| *at != aside && seen[*at].as_ref().is_some_and(is_it) && answers(*at))?;
    answers(aside).then_some((plain, aside))
}

/// The places of what holds, the newest first, and of those of one time the last.
fn by_time(seen: &[Option<Seen>]) -> Vec<usize> {
    let mut places: Vec<(i64, usize)> = seen.iter().enumerate().filter_map(|(at, one)| Some((one.as_ref()?.occurred_at, at))).collect();
    places.sort_unstable_by(|a, b| b.cmp(a));
    places.into_iter().map(|(_, at)| at).collect()
}

/// The two newest of what replaces one; `by_time` has the newest first, and `known` which of them answer, as far as that was asked.
fn two_newest(
    older: usize,
    asked: &Asked,
    seen: &[Option<Seen>],
    by_time: &[usize],
    known: &[OnceCell<bool>],
    answers: impl Fn(usize) -> bool,
) -> [Option<usize>; 2] {
    let Some(old) = seen[older].as_ref() else { return [None; 2] };
    let new = |at: usize| seen[at].as_ref().filter(|new| new.occurred_at > old.occurred_at);
    let newer = by_time.iter().copied().map_while(|at| Some((at, new(at)?)));
    // Numbers are compared first, and words last: mostly no text is cut. An older one that does not answer is compared with no
    // other, and a newer one of which that is known with none.
    let may_be =
        |(at, new): &(usize, &Seen<'_, '_>)| (asked.may_restate() || known[*at].get() != Some(&false)) && asked.may_be_newer(new, old);
    // Beside an identifier the rest of a question may be too little to tell by whether one answers it, as the word for another state is.
    let is_newer = |(at, new): &(usize, &Seen<'_, '_>)| {
        let may_replace = answers(older) && answers(*at) || asked.restates(new, old);
        let is_it = may_replace && asked.is_of_same(new, old) && asked.is_of_one(new, old) && !asked.has_both(new, old);
        is_it && !new.is_abroad() && !old.is_abroad()
    };
    let may_answer = |_: &(usize, &Seen<'_, '_>)| answers(older) || asked.may_restate();
    let mut newest = newer.filter(may_be).take_while(may_answer).filter(is_newer).map(|(at, _)| at);
    [newest.next(), newest.next()]
}

/// Whether what a memory of that kind says holds until something else is said.
pub(super) fn holds(kind: Kind) -> bool {
    matches!(kind, Kind::Semantic | Kind::Preference | Kind::Decision | Kind::Constraint | Kind::Profile)
}

/// Whether a memory holds until something else is said, and nothing has ended it.
pub(super) fn lasts(memory: &Outline<'_>) -> bool {
    holds(memory.kind) && !memory.is_ended
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_one_as_they_are_shown() {
        let of = |score: f64| shown((score * f64::from(SCORE_ONE)) as i64);
        assert!(of(0.9998) == 1000 && of(0.9996) == 1000 && of(0.9994) == 999 && of(0.0) == 0);
    }
}
