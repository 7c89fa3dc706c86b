//! Of whom and of what a question asks, and by which rules a newer memory replaces an older one for it.

use super::super::Question;
use super::super::bygone::tells_of_past;
use super::super::contrast::Contrast;
use super::super::own::Own;
use super::super::ranking::memories::newest::LEAST_SHARE;
use super::super::sure::is_of_speaker;
use super::super::whose::{living_ones, persons, speaks_of_own};
use super::super::words::{Words, is_any, normal, without_s};
use super::denied::denies_another;
use super::manner::Manner;
use super::restated::{is_in_other_state, is_moved, is_restated};
use super::seen::Seen;
use super::several::{are_of_other_stages, are_two_things, asks_for_several, have_other_limits, have_other_names, is_of_part, part_of};
use crate::memory::holds_beside;
use crate::text::{QueryTerm, Role, Sought, folded};
use crate::units::term_key::TermKey;

/// Words with which two values of one thing begin alike: "my favourite colours".
const SAME_BEGIN: usize = 3;

/// Of whom and of what a question asks.
#[allow(clippy::struct_excessive_bools)] // facts that do not depend on each other
pub(super) struct Asked {
    /// The parts that a newer memory must have if the older one has them.
    pub(super) required: Vec<Sought>,
    pub(super) key: TermKey,
    pub(super) names: Vec<String>,
    /// It asks of the user: in the first person, or by name.
    own: bool,
    /// The names of it that are the user's.
    pub(super) own_names: Vec<String>,
    /// It has an identifier, and the older one must have one, too, where nobody is named.
    identifies: bool,
    /// Whom it mentions as "my mother", "my vet" or the like.
    pub(super) persons: Vec<String>,
    /// It has no capital letter but that of "I", so that names have none, either.
    pub(super) is_small: bool,
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
    pub(super) words: Vec<String>,
    /// Its words, as they are compared with those of memories.
    pub(super) contrast: Contrast,
}

impl Asked {
    pub(super) fn of(question: &Question, own: &Own) -> Self {
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
            asks_where: text.bare.iter().any(|word| is_any(word, &["where", "when"])),
            asks_when: text.bare.iter().any(|word| is_any(word, &["when", "often", "time"])),
            last: text.bare.iter().rfind(|word| !is_any(word, &["now"])).map_or_else(String::new, |word| normal(word)),
            manner: Manner::of(&text),
            words: text.bare.iter().map(|word| normal(without_s(word))).collect(),
            contrast: Contrast::of(&text, &beside),
            names,
        }
    }

    /// Whether a memory is about the very person who is asked for: it has all that the question names, or is the user's own where that
    /// asks of the user alone.
    pub(super) fn is_right(&self, one: &Seen) -> bool {
        (self.names_others() || one.own(self)) && one.required(self).len() == self.required.len() && one.others(self).is_empty()
    }

    /// Whether it is about somebody else.
    pub(super) fn is_wrong(&self, one: &Seen) -> bool {
        if self.names_others() { one.required(self).is_empty() } else { !one.own(self) && !one.is_of_thing(self) }
    }

    /// Whether the question names somebody who is not the user.
    fn names_others(&self) -> bool {
        self.names.len() > self.own_names.len()
    }

    /// Whether two memories of the same person, which both answer the question, are of one thing by their words. Where the question is of
    /// nobody, the newer one has all of its words that the older one has.
    pub(super) fn is_of_one(&self, new: &Seen, old: &Seen) -> bool {
        let (told, old_told) = (new.told(self), old.told(self));
        let covers = || self.contrast.is_question && told.covers(old_told);
        (self.is_of_somebody() || covers() || self.restates(new, old)) && !self.contrast.is_between(told, old_told)
    }

    /// Whether the words of a memory show that it is about what is asked, or otherwise than before. Where they do not, it may be of another
    /// thing, though it is near in meaning: "I travel to Vienna" beside "I live in Graz". Then it marks nothing.
    pub(super) fn is_spoken_of(&self, new: &Seen) -> bool {
        new.told(self).has_content() || new.manner().says_change
    }

    /// Whether a newer memory says how something is, and the older one which one it is: "My car is in the garage", "My car is a red Golf".
    pub(super) fn has_both(&self, new: &Seen, old: &Seen) -> bool {
        holds_beside(new.text, old.text, self.asks_where || self.asks_when)
    }

    /// Whether the question names somebody or asks of the user.
    pub(super) fn is_of_somebody(&self) -> bool {
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
    pub(super) fn keeps_manner(&self, new: &Seen, old: &Seen) -> bool {
        let is_kept = |asked: bool, is: fn(&Manner) -> bool| asked || !is(new.manner()) || is(old.manner());
        is_kept(self.manner.may_be, |manner| manner.may_be)
            && (new.manner().says_change || is_kept(self.manner.at_times || self.asks_when, |manner| manner.at_times))
            && !is_of_part(&new.words().bare, &old.words().bare, &self.words)
    }

    /// Whether there may be a memory of which it does not keep the manner.
    pub(super) fn may_be_aside(&self, one: &Seen) -> bool {
        let manner = one.manner();
        let of_days = manner.at_times && !manner.says_change && !self.manner.at_times && !self.asks_when;
        manner.may_be && !self.manner.may_be || of_days || part_of(&one.words().bare, &self.words).is_some()
    }

    /// Whether both may be so: they tell of two things, or the question asks for several and they do not begin as one does.
    pub(super) fn are_several(&self, new: &Seen, old: &Seen) -> bool {
        let (says_change, are_at_times) = (new.manner().says_change, new.manner().at_times && old.manner().at_times);
        let (new, old) = (&new.words().bare, &old.words().bare);
        let begins = || new.iter().zip(old).take(SAME_BEGIN).take_while(|(new, old)| new.eq_ignore_ascii_case(old)).count() == SAME_BEGIN;
        let are_limited = || (!self.asks_where || are_at_times) && have_other_limits(new, old);
        are_of_other_stages(new, old) || !says_change && (are_two_things(new, old) || self.several && !begins() || are_limited())
    }

    /// Whether the question has an identifier, or asks by yes or no for a state, or on what something is.
    pub(super) fn may_restate(&self) -> bool {
        self.identifies || self.contrast.may_name_value || ["on", "hosted", "deployed"].contains(&self.last.as_str())
    }

    /// Whether a newer memory is an older one about what is identified with another value, or says of the same thing that it is in another
    /// state than the one that is asked for.
    pub(super) fn restates(&self, new: &Seen, old: &Seen) -> bool {
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
    pub(super) fn may_be_newer(&self, new: &Seen<'_, '_>, old: &Seen<'_, '_>) -> bool {
        new.occurred_at > old.occurred_at && self.may_replace(new, old)
    }

    /// Whether one memory may replace another by what is known without their words, whichever is newer.
    pub(super) fn may_replace(&self, new: &Seen<'_, '_>, old: &Seen<'_, '_>) -> bool {
        new.scope == old.scope
            && new.trust >= old.trust
            && (new.slot.is_none() || old.slot.is_none() || new.slot == old.slot)
            && new.score.saturating_mul(100) >= old.score.saturating_mul(LEAST_SHARE)
            && old.required(self).iter().all(|hash| new.required(self).contains(hash))
    }

    /// Whether both are about the same person or thing.
    pub(super) fn is_of_same(&self, new: &Seen<'_, '_>, old: &Seen<'_, '_>) -> bool {
        (!self.own || new.own(self) == old.own(self))
            && (self.is_about(old) || if self.is_of_somebody() { old.begins_as(new) } else { !self.identifies })
            && new.others(self).iter().all(|other| old.others(self).contains(other))
            && self.keeps_persons(new, old)
            && self.keeps_slot(new, old)
            && self.keeps_manner(new, old)
            && !denies_another(&new.words().bare, &old.words().bare, &self.words)
            && (new.manner().says_change || is_of_speaker(new.text) || !have_other_names(&new.words().bare, &old.words().bare))
            && old.named(self).iter().all(|name| new.words().bare.iter().any(|word| normal(without_s(word)) == *name))
            && !(new.manner().may_be_past && tells_of_past((new.text, new.words()), old.words()))
    }
}

/// "I", "I'm", "I've".
fn is_first_person(word: &str) -> bool {
    word.strip_prefix('I').is_some_and(|rest| rest.is_empty() || rest.starts_with(['\'', '\u{2019}']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_of_a_thing_says_whether_it_identifies_it() {
        let asked = |question: &str| Asked::of(&Question::new(question), &Own::default());
        assert!(asked("which port does payments-api listen on?").identifies && !asked("what is the budget?").identifies);
        assert!(!asked("what was the revenue in 2025?").identifies, "a number says no thing");
        assert!(!asked("what is the budget?").is_of_somebody() && asked("what is my budget?").is_of_somebody());
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
