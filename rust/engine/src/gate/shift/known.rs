//! Whether an older text says of a thing what a change says is otherwise.

use super::value::{Kind, Value, values};
use super::{APART, CALLED, GENERIC, OWNS, STATES, Shift, is_amount, is_content, norm, without_dates};
use crate::gate::sentence::Sentence;
use crate::gate::words::{among, words};

/// Words of a text at most that states something of one thing.
const MOST_WORDS: usize = 20;
/// How many words both must have to show that they are of one thing, though the older one has two words more.
const SURELY: usize = 3;
/// Words before a value that something has.
const VALUED: [&str; 24] = [
    "is", "are", "called", "named", "use", "uses", "using", "on", "in", "at", "to", "with", "via", "by", "from", "through", "run", "runs",
    "into", "i'm", "we're", "be", "it's", "have",
];
/// Words by which a text states nothing of how a thing is.
const NO_STATE: [&str; 12] = ["?", "if", "was", "were", "used", "did", "had", "not", "never", "would", "could", "should"];

/// A statement of how a thing is.
struct Known<'s, 'a> {
    s: &'s Sentence<'a>,
    values: Vec<Value>,
    /// The place of its verb.
    verb: Option<usize>,
}

impl Shift {
    /// Groups of words, of which a text that may be wrong has all of one.
    pub fn groups(&self) -> Vec<Vec<String>> {
        let telling = |word: &&String| !among(&GENERIC, word);
        let is_vague = !self.thing.iter().any(|word| telling(&word));
        let thing = self.thing.iter().filter(|word| is_vague || telling(word)).cloned().collect();
        self.olds.iter().cloned().chain([thing]).collect()
    }

    /// Whether a text may be wrong since: it says that a thing has the value that it had, or another value of the same kind.
    pub fn is_of(&self, text: &str) -> bool {
        let own = without_dates(text, words(text));
        let s = &Sentence { text, words: &own };
        let is_none = |at: usize| among(&NO_STATE, s.word(at));
        if own.len() > MOST_WORDS || own.len() < 2 || (0..own.len()).any(is_none) || s.word(0) == "i" && s.word(1) != "use" {
            return false;
        }
        let verb = (1..own.len()).find(|at| among(&STATES, s.word(*at)));
        let known = Known { s, values: values(s), verb };
        self.is_new_to(&known) && (self.is_left(&known) || self.is_of_thing(&known))
    }

    /// Whether a statement lacks the new value: "we use bugsnag instead of sentry" has it.
    fn is_new_to(&self, known: &Known<'_, '_>) -> bool {
        let is_there = || known.runs(&self.new).any(|at| known.is_valued(at, self.new.len()));
        !self.value.as_ref().is_some_and(|value| known.values.iter().any(|other| other.text == value.text)) && !is_there()
    }

    /// Whether a statement gives the value that is over to the same thing.
    fn is_left(&self, known: &Known<'_, '_>) -> bool {
        let has_old = |old: &Vec<String>| {
            known.runs(old).any(|at| {
                let is_called = || at > 0 && among(&CALLED, known.s.word(at - 1));
                if self.is_gone { !known.owning().is_empty() } else { known.is_valued(at, old.len()) && (!self.is_renamed || is_called()) }
            })
        };
        if !self.olds.iter().any(has_old) {
            return false;
        }
        if self.is_gone {
            return self.is_of_role(known);
        }
        let is_vague = self.thing.is_empty() || self.is_renamed;
        let tells = || !self.thing.is_empty() || self.is_renamed || self.is_bare_rename || known.tells_of_use();
        if is_vague && known.is_of_somebody() || !tells() {
            return false; // "moved from oslo to bergen" may be about anybody
        }
        self.is_renamed || self.thing.iter().filter(|word| !among(&GENERIC, word)).all(|word| known.has(word))
    }

    /// Whether a statement is of the role for which somebody else is there now.
    fn is_of_role(&self, known: &Known<'_, '_>) -> bool {
        let is_person = |word: &String| self.olds.iter().any(|old| old.contains(word));
        let of_role = |word: &String| among(&OWNS, word);
        let shares = |roles: bool| self.thing.iter().any(|word| of_role(word) == roles && known.has(word));
        let has_roles = self.thing.iter().any(of_role);
        let others = || known.content().any(|word| !of_role(&word) && !is_person(&word) && !among(&GENERIC, &word));
        let own_roles = || known.owning().iter().all(|role| self.thing.iter().any(|word| same_role(word, role)));
        shares(false) && (!has_roles || shares(true) || own_roles()) || shares(true) && !others()
    }

    /// Whether a statement gives the thing another value of the same kind.
    fn is_of_thing(&self, known: &Known<'_, '_>) -> bool {
        if self.is_gone || self.is_bare_rename || self.thing.is_empty() || !self.covers(known) {
            return false;
        }
        if self.is_role {
            return !known.owning().is_empty() && self.extras(known, true) == Some(0);
        }
        let followed = |value: &Value| {
            let is_other = |other: &&Value| value.kind.follows(other.kind) && !self.is_part(known, other);
            known.values.iter().any(|other| is_other(&other))
        };
        // "Mom is retired now" has no value, and says nothing of where she lives.
        self.value.as_ref().is_some_and(|value| followed(value) && self.may_be_one(known))
    }

    /// Whether a value of a statement is part of the name of the thing: "v1" of "the v1 api".
    fn is_part(&self, known: &Known<'_, '_>, value: &Value) -> bool {
        value.kind != Kind::Switch && (value.from..value.to).all(|at| self.thing.contains(&norm(known.s.word(at))))
    }

    /// Whether a statement has each word of the thing. Of words that say little the statement needs all where there are no others.
    fn covers(&self, known: &Known<'_, '_>) -> bool {
        let (generic, telling): (Vec<&String>, Vec<&String>) = self.thing.iter().partition(|word| among(&GENERIC, word));
        if telling.is_empty() { generic.iter().all(|word| known.has(word)) } else { telling.iter().all(|word| known.has(word)) }
    }

    fn may_be_one(&self, known: &Known<'_, '_>) -> bool {
        let shared = self.thing.iter().filter(|word| known.has(word)).count();
        let is_vague = self.thing.iter().all(|word| among(&GENERIC, word));
        let most = if is_vague { 0 } else { 1 + usize::from(shared >= SURELY) };
        self.extras(known, false).is_some_and(|extras| extras <= most)
    }

    /// How many words a statement has beside those of the thing and its value; `None` where one of them tells it from others of its kind.
    fn extras(&self, known: &Known<'_, '_>, by_name: bool) -> Option<usize> {
        let is_role = |word: &str| self.is_role && among(&OWNS, word);
        let in_value = |at: usize| known.values.iter().any(|value| (value.from..value.to).contains(&at) && !self.is_part(known, value));
        let (mut extras, name) = (0, if by_name { known.name(self.is_role) } else { 0..0 });
        for at in (0..known.s.words.len()).filter(|at| !name.contains(at) && !in_value(*at)) {
            let word = norm(known.s.word(at));
            let is_known = self.thing.contains(&word) || self.new.contains(&word) || is_role(&word);
            if is_known || !is_content(known.s.word(at)) || is_amount(known.s.word(at)) {
                continue;
            }
            if among(&APART, &word) {
                return None;
            }
            let is_verb = known.verb == Some(at);
            extras += usize::from(!is_verb && !among(&GENERIC, &word));
        }
        Some(extras)
    }
}

/// Whether two words are of one role: "owner" and "owns".
fn same_role(one: &str, other: &str) -> bool {
    one == other || one.len() > 2 && other.len() > 2 && one.as_bytes()[..3] == other.as_bytes()[..3]
}

impl Known<'_, '_> {
    fn content(&self) -> impl Iterator<Item = String> {
        self.s.words.iter().filter(|word| is_content(&word.lower)).map(|word| norm(&word.lower))
    }

    fn has(&self, word: &str) -> bool {
        self.s.words.iter().any(|other| norm(&other.lower) == word)
    }

    /// Whether it says with what work is done: "we use sentry for errors".
    fn tells_of_use(&self) -> bool {
        const OF_USE: [&str; 7] = ["use", "uses", "using", "run", "runs", "running", "called"];
        self.s.words.iter().any(|word| among(&OF_USE, &word.lower))
    }

    /// Whether it is of the user, or of what is theirs alone.
    fn is_of_somebody(&self) -> bool {
        const ONES_OWN: [&str; 7] = ["i", "i'm", "my", "his", "her", "user", "user's"];
        self.s.words.iter().any(|word| among(&ONES_OWN, &word.lower))
    }

    /// The words for a role that it has.
    fn owning(&self) -> Vec<String> {
        self.s.words.iter().map(|word| norm(&word.lower)).filter(|word| among(&OWNS, word)).collect()
    }

    /// The places where it has some words in a row.
    fn runs(&self, run: &[String]) -> impl Iterator<Item = usize> {
        let is_run = |at: &usize| !run.is_empty() && run.iter().enumerate().all(|(behind, word)| norm(self.s.word(at + behind)) == *word);
        (0..self.s.words.len()).filter(is_run).collect::<Vec<_>>().into_iter()
    }

    /// Whether the words at a place are the value of something, and not a part of a longer name.
    fn is_valued(&self, at: usize, len: usize) -> bool {
        let before = at.checked_sub(1).map_or("", |before| self.s.word(before));
        let next = self.s.words.get(at + len).filter(|_| !self.s.parted(at + len));
        let goes_on = next.is_some_and(|next| !next.is_number() && is_content(&next.lower));
        (among(&VALUED, before) || before.ends_with("'s")) && !goes_on
    }

    /// The words that name somebody or something: those behind the verb, or of a role those before it ("marco owns billing").
    fn name(&self, is_role: bool) -> std::ops::Range<usize> {
        let Some(verb) = self.verb else { return 0..0 };
        let is_owner = is_role && among(&OWNS, &norm(self.s.word(verb)));
        if is_owner {
            0..verb
        } else {
            self.s.words[verb..].iter().position(|word| word.lower == "by").map_or(verb, |by| verb + by) + 1..self.s.words.len()
        }
    }
}
