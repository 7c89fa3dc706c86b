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
//! about a time, is answered without this step.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use super::Question;
use super::bygone::tells_of_past;
use super::closer::names;
use super::contenders::Contender;
use super::contrast::{Contrast, Told};
use super::manner::Manner;
use super::own::Own;
use super::ranking::memories::newest as weights;
use super::restated::{is_in_other_state, is_moved, is_restated};
use super::several::{are_two_things, asks_for_several, have_other_limits, have_other_names, is_of_part, part_of};
use super::sure::is_of_speaker;
use super::whose::{is_called, living_ones, others, persons};
use super::words::{Words, bare_words, normal, without_s};
use crate::embedding::{self, APOSTROPHE, Tokens};
use crate::memory::{Kind, Outline};
use crate::text::{QueryTerm, Role, Sought, analyze, folded};
use crate::units::score::SCORE_ONE;
use crate::units::term_key::TermKey;

/// Parts of 1 in which scores are shown.
const SHOWN: i64 = 1000;
/// Words of who asks, and of how others write of them.
pub(super) const OWN: [&str; 12] = ["i", "me", "my", "mine", "we", "us", "our", "ours", "i'm", "i've", "user", "user's"];

/// Their first letters.
const OWN_BEGINS: [u8; 5] = *b"imwou";
/// Bytes of the longest of them, with a typographic apostrophe.
const LONGEST_OWN: usize = "user\u{2019}s".len();

/// Words with which two values of one thing begin alike: "my favourite colours".
const SAME_BEGIN: usize = 3;
/// More names and identifiers than these are looked for by one analysis.
const MOST_SOUGHT: usize = 8;

/// Puts the two newest of each thing before what they replace, by its score, and notes at the older ones when something newer was said. A
/// newest one for which the question does not speak comes right behind the older one. The question is [of now](super::is_of_now), and
/// `answers` says whether a hit answers it by itself.
pub(super) fn lift(question: &Question, own: &Own, hits: &mut [Contender<'_>], answers: impl Fn(&Contender<'_>) -> bool) {
    settle(hits);
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
        if is_newer {
            hits[older].newer_at = Some(hits[first].memory.occurred_at);
        }
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
/// of it, nor does "I'm allergic to latex" of "I'm allergic to penicillin".
fn says_newer(asked: &Asked, seen: &[Option<Seen>], newer: usize, older: usize) -> bool {
    let (Some(new), Some(old)) = (&seen[newer], &seen[older]) else { return false };
    !asked.are_several(new, old) && old.others(asked).iter().all(|other| new.others(asked).contains(other))
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
    if seen.iter().flatten().any(is_behind) { first(Asked::is_right).map(|right| (right, wrong)) } else { None }
}

/// The first that is of now, and the best of all where that is not ([`Asked::keeps_manner`]), though both say the same of one thing: "I live
/// in Rome" comes before "I want to live in Paris", whichever is newer.
fn plain_before_aside(asked: &Asked, seen: &[Option<Seen>], answers: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
    let (aside, best) = seen.iter().enumerate().find_map(|(at, one)| Some((at, one.as_ref()?)))?;
    if !asked.may_be_aside(best) {
        return None; // as mostly, and no other text is cut into words
    }
    let is_plain = |one: &Seen| one.score <= best.score && asked.may_replace(one, best) && !asked.keeps_manner(best, one);
    let is_it = |one: &Seen| is_plain(one) && asked.is_of_same(one, best) && asked.is_of_one(one, best);
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
        (answers(older) && answers(*at) || asked.restates(new, old)) && asked.is_of_same(new, old) && asked.is_of_one(new, old)
    };
    let may_answer = |_: &(usize, &Seen<'_, '_>)| answers(older) || asked.may_restate();
    let mut newest = newer.filter(may_be).take_while(may_answer).filter(is_newer).map(|(at, _)| at);
    [newest.next(), newest.next()]
}

/// Of whom and of what a question asks.
#[allow(clippy::struct_excessive_bools)] // facts that do not depend on each other
struct Asked {
    /// The parts that a newer memory must have if the older one has them.
    required: Vec<Sought>,
    key: TermKey,
    names: Vec<String>,
    /// It asks of the user: in the first person, or by name.
    own: bool,
    /// The names of it that are the user's.
    own_names: Vec<String>,
    /// It has an identifier, and the older one must have one, too, where nobody is named.
    identifies: bool,
    /// Whom it mentions as "my mother", "my vet" or the like.
    persons: Vec<String>,
    /// It has no capital letter but that of "I", so that names have none, either.
    is_small: bool,
    /// It asks for several things at a time.
    several: bool,
    /// It asks when or how often.
    asks_when: bool,
    /// It asks where or when.
    asks_where: bool,
    /// Its last word.
    last: String,
    /// The manner of the question itself.
    manner: Manner,
    /// Its words: whatever has something may stand among them.
    words: Vec<String>,
    /// The same, as they are compared with those of memories.
    contrast: Contrast,
}

impl Asked {
    fn of(question: &Question, own: &Own) -> Self {
        let names: Vec<String> = question.names().iter().map(|name| name.to_lowercase()).collect();
        let own_names: Vec<String> = names.iter().filter(|name| own.has(name)).cloned().collect();
        let text = Words::of(question.text());
        let is_own = speaks_of_own(text.bare.iter().copied()) || !own_names.is_empty();
        let (key, query) = question.known_terms();
        // Terms have no accents.
        let [bare, own_bare] = [&names, &own_names].map(|names| names.iter().map(|name| folded(name)).collect::<Vec<String>>());
        let is_required = |term: &QueryTerm| match term.role {
            Role::Whole => true,
            Role::Word => {
                bare.contains(&term.text) && !own_bare.contains(&term.text) || term.text.bytes().any(|byte| byte.is_ascii_digit())
            } // "20dfcccfde" is a word
            _ => false,
        };
        let required: Vec<&QueryTerm> = query.terms.iter().filter(|term| is_required(term)).collect();
        let identifies = required.iter().any(|term| term.text.bytes().any(|byte| byte.is_ascii_alphabetic()) && !bare.contains(&term.text));
        let beside: Vec<String> = names.iter().cloned().chain(required.iter().map(|term| term.text.clone())).collect();
        Self {
            required: required.into_iter().map(Sought::of).collect(),
            key,
            own: is_own,
            own_names,
            identifies,
            persons: living_ones(&text).collect(),
            is_small: !text.bare.iter().any(|word| word.contains(char::is_uppercase) && !is_first_person(word)),
            several: asks_for_several(&text.bare),
            asks_where: text.bare.iter().any(|word| is(word, "where") || is(word, "when")),
            asks_when: text.bare.iter().any(|word| ["when", "often", "time"].iter().any(|when| is(word, when))),
            last: text.bare.iter().rfind(|word| !is(word, "now")).map_or_else(String::new, |word| normal(word)),
            manner: Manner::of(&text),
            words: text.bare.iter().map(|word| normal(without_s(word))).collect(),
            contrast: Contrast::of(&text, &beside),
            names,
        }
    }

    /// Whether a memory is about the very person who is asked for: it has all that the question names, or is the user's own where that
    /// asks of the user alone.
    fn is_right(&self, one: &Seen) -> bool {
        (self.names_others() || one.own(self)) && one.required(self).len() == self.required.len() && one.others(self).is_empty()
    }

    /// Whether it is about somebody else.
    fn is_wrong(&self, one: &Seen) -> bool {
        if self.names_others() { one.required(self).is_empty() } else { !one.own(self) }
    }

    /// Whether the question names somebody who is not the user.
    fn names_others(&self) -> bool {
        self.names.len() > self.own_names.len()
    }

    /// Whether two memories of the same person, which both answer the question, are of one thing by their words. Where the question is of
    /// nobody, the newer one has all of its words that the older one has.
    fn is_of_one(&self, new: &Seen, old: &Seen) -> bool {
        let (told, old_told) = (new.told(self), old.told(self));
        let covers = || self.contrast.is_question && told.covers(old_told);
        (self.is_of_somebody() || covers() || self.restates(new, old)) && !self.contrast.is_between(told, old_told)
    }

    /// Whether the question names somebody or asks of the user.
    fn is_of_somebody(&self) -> bool {
        self.own || !self.names.is_empty()
    }

    /// Whether a newer memory has everybody of the question whom the older one has: of the family, and of a trade or an animal ("my vet")
    /// where it says nothing of a change. "I switched to Dr. Lee" needs no "dentist".
    fn keeps_persons(&self, new: &Seen, old: &Seen) -> bool {
        let lost = self.persons.iter().find(|asked| old.persons().contains(*asked) && !new.persons().contains(*asked));
        lost.is_none_or(|_| {
            new.manner().says_change && !persons(old.words()).any(|one| self.persons.contains(&one) && !new.persons().contains(&one))
        })
    }

    /// Whether a newer memory without a slot has the words of the question that name the older one's slot: "My cat is called Momo" says
    /// nothing newer of the value of the slot "vet".
    fn keeps_slot(&self, new: &Seen, old: &Seen) -> bool {
        let Some(slot) = old.slot.filter(|_| new.slot.is_none()) else { return true };
        let parts = slot.split(|letter: char| !letter.is_alphanumeric()).map(|part| normal(without_s(part)));
        let mut asked = parts.filter(|part| self.words.contains(part)).peekable();
        asked.peek().is_none() || asked.any(|part| new.words().bare.iter().any(|word| normal(without_s(word)) == part))
    }

    /// Whether a newer memory is as much of now as an older one, where the question does not ask for its manner: wishes, days of the week
    /// and parts of the thing say less.
    fn keeps_manner(&self, new: &Seen, old: &Seen) -> bool {
        let is_kept = |asked: bool, is: fn(&Manner) -> bool| asked || !is(new.manner()) || is(old.manner());
        is_kept(self.manner.may_be, |manner| manner.may_be)
            && (new.manner().says_change || is_kept(self.manner.at_times || self.asks_when, |manner| manner.at_times))
            && !is_of_part(&new.words().bare, &old.words().bare, &self.words)
    }

    /// Whether there may be a memory of which it does not keep the manner.
    fn may_be_aside(&self, one: &Seen) -> bool {
        let manner = one.manner();
        let of_days = manner.at_times && !manner.says_change && !self.manner.at_times && !self.asks_when;
        manner.may_be && !self.manner.may_be || of_days || part_of(&one.words().bare, &self.words).is_some()
    }

    /// Whether both may be so: they tell of two things, or the question asks for several and they do not begin as one does.
    fn are_several(&self, new: &Seen, old: &Seen) -> bool {
        let (says_change, are_at_times) = (new.manner().says_change, new.manner().at_times && old.manner().at_times);
        let (new, old) = (&new.words().bare, &old.words().bare);
        let begins = || new.iter().zip(old).take(SAME_BEGIN).take_while(|(new, old)| new.eq_ignore_ascii_case(old)).count() == SAME_BEGIN;
        let are_limited = || (!self.asks_where || are_at_times) && have_other_limits(new, old);
        !says_change && (are_two_things(new, old) || self.several && !begins() || are_limited())
    }

    /// Whether the question has an identifier, or asks by yes or no for a state, or on what something is.
    fn may_restate(&self) -> bool {
        self.identifies || self.contrast.may_name_value || ["on", "hosted", "deployed"].contains(&self.last.as_str())
    }

    /// Whether a newer memory is an older one about what is identified with another value, or says of the same thing that it is in another
    /// state than the one that is asked for.
    fn restates(&self, new: &Seen, old: &Seen) -> bool {
        let is_other_value = || self.identifies && self.is_about(old) && is_restated(&new.words().bare, &old.words().bare);
        let is_other_state =
            || self.contrast.may_name_value && new.begins_as(old) && is_in_other_state(&new.words().bare, &old.words().bare, &self.last);
        let is_moved = || new.manner().says_change && is_moved(&new.words().bare, &old.words().bare, &self.words);
        self.may_restate() && (is_other_value() || is_other_state() || is_moved())
    }

    /// Whether a memory is about whom or what is asked.
    fn is_about(&self, one: &Seen) -> bool {
        self.own && one.own(self) || !one.required(self).is_empty()
    }

    /// Whether one may be newer than another, by what is known without their words.
    fn may_be_newer(&self, new: &Seen<'_, '_>, old: &Seen<'_, '_>) -> bool {
        new.occurred_at > old.occurred_at && self.may_replace(new, old)
    }

    /// The same, whichever is newer.
    fn may_replace(&self, new: &Seen<'_, '_>, old: &Seen<'_, '_>) -> bool {
        new.scope == old.scope
            && new.trust >= old.trust
            && (new.slot.is_none() || old.slot.is_none() || new.slot == old.slot)
            && new.score.saturating_mul(100) >= old.score.saturating_mul(weights::LEAST_SHARE)
            && old.required(self).iter().all(|hash| new.required(self).contains(hash))
    }

    /// Whether both are about the same person or thing.
    fn is_of_same(&self, new: &Seen<'_, '_>, old: &Seen<'_, '_>) -> bool {
        (!self.own || new.own(self) == old.own(self))
            && (self.is_about(old) || if self.is_of_somebody() { old.begins_as(new) } else { !self.identifies })
            && new.others(self).iter().all(|other| old.others(self).contains(other))
            && self.keeps_persons(new, old)
            && self.keeps_slot(new, old)
            && self.keeps_manner(new, old)
            && (new.manner().says_change || is_of_speaker(new.text) || !have_other_names(&new.words().bare, &old.words().bare))
            && old.named(self).iter().all(|name| new.words().bare.iter().any(|word| normal(without_s(word)) == *name))
            && !(new.manner().may_be_past && tells_of_past((new.text, new.words()), old.words()))
    }
}

/// The known facts about a memory of a lasting kind.
struct Seen<'w, 'h> {
    text: &'h str,
    words: &'w OnceCell<Words<'h>>,
    tokens: Tokens<'h>,
    scope: usize,
    slot: Option<&'h str>,
    occurred_at: i64,
    trust: u8,
    score: i64,
    kinds: OnceCell<u8>,
    required: OnceCell<Vec<u64>>,
    own: OnceCell<bool>,
    named: OnceCell<Vec<String>>,
    others: OnceCell<Vec<String>>,
    persons: OnceCell<Vec<String>>,
    told: OnceCell<Told<'w>>,
    begin: OnceCell<Option<&'h str>>,
    manner: OnceCell<Manner>,
}

impl<'w, 'h> Seen<'w, 'h> {
    fn of(hit: &Contender<'h>, words: &'w OnceCell<Words<'h>>) -> Option<Self> {
        let memory = &hit.memory;
        if !lasts(memory) {
            return None;
        }
        Some(Self {
            text: memory.text,
            words,
            tokens: memory.tokens,
            scope: hit.scope,
            slot: memory.slot,
            occurred_at: memory.occurred_at,
            trust: memory.trust,
            score: hit.parts.fixed,
            kinds: OnceCell::new(),
            required: OnceCell::new(),
            own: OnceCell::new(),
            named: OnceCell::new(),
            others: OnceCell::new(),
            persons: OnceCell::new(),
            told: OnceCell::new(),
            begin: OnceCell::new(),
            manner: OnceCell::new(),
        })
    }

    /// The names and identifiers of the question that it has. Where there are many, the text is analysed once.
    fn required(&self, asked: &Asked) -> &[u64] {
        self.required.get_or_init(|| {
            let hashes = || asked.required.iter().map(|one| one.hash);
            if asked.required.len() > MOST_SOUGHT {
                let analysis = analyze(self.text, asked.key);
                return hashes().filter(|hash| analysis.terms.binary_search_by_key(hash, |term| term.hash).is_ok()).collect();
            }
            asked.required.iter().filter(|one| one.is_in(self.text, asked.key)).map(|one| one.hash).collect()
        })
    }

    /// Whether it speaks of the user, by a name that is asked for or without.
    fn own(&self, asked: &Asked) -> bool {
        let is_own = |word: &str| asked.own_names.iter().any(|name| *name == normal(word).trim_end_matches("'s"));
        let is_named = || !asked.own_names.is_empty() && bare_words(self.text).any(is_own);
        *self.own.get_or_init(|| self.may_have(embedding::OWN) && speaks_of_own(bare_words(self.text)) || is_named())
    }

    /// The names of it that a question in small letters has: "how much do i owe omar?".
    fn named(&self, asked: &Asked) -> &[String] {
        let found = || names(self.text).into_iter().map(normal).filter(|name| asked.words.contains(name)).collect();
        self.named.get_or_init(|| if asked.is_small { found() } else { Vec::new() })
    }

    /// Whether it may have a word of that kind: its tokens tell mostly that it has none, and then its words are not looked at.
    fn may_have(&self, kind: u8) -> bool {
        self.kinds.get_or_init(|| self.tokens.kinds_in(self.text)) & kind != 0
    }

    /// Whether both begin with the same word, but for an article: what is about nobody that is asked for is then of the same thing.
    fn begins_as(&self, other: &Seen<'_, '_>) -> bool {
        match (self.begin(), other.begin()) {
            (Some(own), Some(other)) if own.is_ascii() && other.is_ascii() => own.eq_ignore_ascii_case(other),
            (own, other) => own.map(normal) == other.map(normal),
        }
    }

    fn begin(&self) -> Option<&'h str> {
        let begin = || bare_words(self.text).find(|word| !["the", "a", "an", "our"].iter().any(|article| is(word, article)));
        *self.begin.get_or_init(begin)
    }

    /// The persons whom it mentions as "my mother" or the like.
    fn persons(&self) -> &[String] {
        self.persons.get_or_init(|| living_ones(self.words()).collect())
    }

    fn manner(&self) -> &Manner {
        self.manner.get_or_init(|| Manner::of(self.words()))
    }

    /// Its words, cut when they are first looked at.
    fn words(&self) -> &'w Words<'h> {
        self.words.get_or_init(|| Words::of(self.text))
    }

    /// The same, as they are compared with the question's.
    fn told(&self, asked: &Asked) -> &Told<'w> {
        self.told.get_or_init(|| asked.contrast.told(self.words()))
    }

    /// Those whom it speaks of and whom the question has neither by that word nor by their name.
    fn others(&self, asked: &Asked) -> &[String] {
        let has = |other: &String| asked.names.contains(other) || asked.persons.contains(other) || asked.words.contains(other);
        let found = || if self.may_have(embedding::OWN | APOSTROPHE) { others(self.words()) } else { Vec::new() };
        let is_asked = |other: &String| has(other) || !asked.names.is_empty() && is_called(self.words(), other, &asked.names);
        self.others.get_or_init(|| found().into_iter().filter(|other| !is_asked(other)).collect())
    }
}

/// Whether what a memory of that kind says holds until something else is said.
pub(super) fn holds(kind: Kind) -> bool {
    matches!(kind, Kind::Semantic | Kind::Preference | Kind::Decision | Kind::Constraint | Kind::Profile)
}

/// The same of a memory, which nothing has ended.
pub(super) fn lasts(memory: &Outline<'_>) -> bool {
    holds(memory.kind) && !memory.is_ended
}

/// Whether one of some bare words is of who asks.
pub(super) fn speaks_of_own<'t>(mut words: impl Iterator<Item = &'t str>) -> bool {
    let is_own = |word: &str| OWN.iter().any(|own| word.chars().map(plain).eq(own.chars()));
    let may_be = |word: &str| word.len() <= LONGEST_OWN && word.bytes().next().is_some_and(|first| OWN_BEGINS.contains(&(first | 0x20)));
    words.any(|word| may_be(word) && is_own(word))
}

fn plain(letter: char) -> char {
    if letter == '\u{2019}' { '\'' } else { letter.to_ascii_lowercase() }
}

/// "I", "I'm", "I've".
fn is_first_person(word: &str) -> bool {
    word.strip_prefix('I').is_some_and(|rest| rest.is_empty() || rest.starts_with(['\'', '\u{2019}']))
}

/// Whether a bare word is one of ASCII in normal form.
fn is(word: &str, known: &str) -> bool {
    if word.is_ascii() { word.eq_ignore_ascii_case(known) } else { normal(word) == known }
}

#[cfg(test)]
mod tests {
    use super::super::whose::owners;
    use super::*;

    #[test]
    fn whose_something_is_told_by_words() {
        let is_own = |text: &str| speaks_of_own(bare_words(text));
        assert!(is_own("I\u{2019}ve moved") && is_own("The USER\u{2019}S editor"));
        assert!(is_own("Where do I work?") && is_own("My job") && is_own("The user's editor is Vim."));
        assert!(!is_own("MySQL runs on port 3306") && !is_own("Anna works at Acme."));
        assert_eq!(owners(&Words::of("Bob's project uses it, and it's Anna's.")).collect::<Vec<_>>(), ["bob"]);
    }

    #[test]
    fn whose_something_it_is_is_told_as_word_by_word() {
        let plain = |text: &str| -> Vec<String> {
            let owned = |word: &str| word.strip_suffix("'s").or_else(|| word.strip_suffix("\u{2019}s")).map(str::to_lowercase);
            let owners = text.split_whitespace().filter(|word| word.starts_with(char::is_uppercase)).filter_map(owned);
            let is_nobody =
                |owner: &String| OWN.contains(&owner.as_str()) || ["it", "that", "what", "here", "there", "let"].contains(&owner.as_str());
            owners.filter(|owner| !is_nobody(owner)).collect()
        };
        let words = ["Bob", "\u{c9}va", "It", "anna", "O'Brien", "", "'", "We", "\u{2019}", "X's", "Y\u{99}"];
        let ends = ["'s", "\u{2019}s", "'s.", "s", "'S", "\u{2019}", "'s's", "\u{99}s"];
        let spaces = [" ", "\u{a0}", "\n", "", "\u{3000}"];
        for (word, end) in words.iter().flat_map(|word| ends.map(|end| (word, end))) {
            for (space, other) in spaces.iter().flat_map(|space| words.map(|other| (space, other))) {
                let text = format!("{word}{end}{space}{other}{end}");
                assert_eq!(owners(&Words::of(&text)).collect::<Vec<_>>(), plain(&text), "{text:?}");
            }
        }
    }

    #[test]
    fn tokens_tell_of_no_text_that_it_has_not_what_it_has() {
        let words = OWN.iter().map(|own| own.to_uppercase()).chain(OWN.map(str::to_owned)).chain(["Bob's".into(), "mystery".into()]);
        let mut told = 0;
        for word in words {
            for around in
                ["X", "(X)", "It's X.", "-X_", "\u{2019}X\u{2019}", "a\x0bX\x0cb", "X\u{20ac}", "\x01X\x1f", "no\tX\n", "a X\u{301}", "aXb"]
            {
                let text = around.replace('X', &word);
                let kept = embedding::KeptTokens::of(&text);
                let kinds = kept.tokens().kinds_in(&text);
                assert!(kinds & embedding::OWN != 0 || !speaks_of_own(bare_words(&text)), "{text:?}");
                assert!(kinds & APOSTROPHE != 0 || owners(&Words::of(&text)).next().is_none(), "{text:?}");
                told += usize::from(kinds & embedding::OWN == 0);
            }
        }
        assert!(told > 20, "{told}");
        assert_eq!(Tokens::default().kinds_in("none is kept"), u8::MAX);
    }

    #[test]
    fn words_of_who_asks_begin_with_few_letters() {
        assert!(OWN.iter().all(|own| OWN_BEGINS.contains(&own.as_bytes()[0])));
        assert!(is("Ago", "ago") && !is("\u{e1}go", "ago") && is("I\u{2019}m", "i'm"));
    }

    #[test]
    fn a_question_of_a_thing_says_whether_it_identifies_it() {
        let asked = |question: &str| Asked::of(&Question::new(question), &Own::default());
        assert!(asked("which port does payments-api listen on?").identifies && !asked("what is the budget?").identifies);
        assert!(!asked("what was the revenue in 2025?").identifies, "a number says no thing");
        assert!(!asked("what is the budget?").is_of_somebody() && asked("what is my budget?").is_of_somebody());
    }

    #[test]
    fn scores_are_one_as_they_are_shown() {
        let of = |score: f64| shown((score * f64::from(SCORE_ONE)) as i64);
        assert!(of(0.9998) == 1000 && of(0.9996) == 1000 && of(0.9994) == 999 && of(0.0) == 0);
    }

    #[test]
    fn a_question_in_small_letters_names_nobody_by_a_capital() {
        let is_small = |question: &str| Asked::of(&Question::new(question), &Own::default()).is_small;
        assert!(is_small("how much do i owe omar?") && is_small("how much do I owe omar, and I\u{2019}m late"));
        assert!(!is_small("Which gym do I go to?") && !is_small("where does Ilse live?"));
    }

    #[test]
    fn a_newer_one_needs_every_name_and_identifier() {
        let required = |question: &str| Asked::of(&Question::new(question), &Own::default()).required.len();
        assert_eq!((required("Where does Anna work?"), required("Where do I work?")), (1, 0));
        assert!(required("Where do I deploy payments-api?") >= 1);
        assert_eq!(required("what did we say about 20dfcccfde in the meeting?"), 1);
    }
}
