//! A sentence as rules read it: where a value begins and is over, where a list goes on, and whether more is said than the value.

use super::lists::lists;
use super::signs::{dashed, parts, straight, widened};
use super::words::{Word, among, starts};

lists! { "sentence":
    /// Words behind which a value is over.
    pub(super) ENDS_VALUE,
    /// Words behind "and" that begin another clause.
    JOINED,
    /// Words that no item of a list has.
    NO_ITEM,
    /// Words behind a value that add nothing to it.
    IDLE,
    /// Words that begin a request that stands beside a value: "my name is Ana and I need help".
    REQUESTS,
    /// Words that follow "live in" and "work at" and name neither a place nor an employer, where nothing is written with a capital.
    NO_PLACE,
}

/// A sentence as the rules see it.
pub struct Sentence<'a> {
    /// The whole message.
    pub text: &'a str,
    /// Words of this sentence; their places are in the message.
    pub words: &'a [Word],
}

/// Words of an item at most.
const MOST_ITEM: usize = 4;

impl Sentence<'_> {
    pub(super) fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| word.lower.as_str())
    }

    /// Behind the longest of some phrases at a word.
    pub(super) fn behind(&self, at: usize, phrases: &[&str]) -> Option<usize> {
        phrases.iter().filter_map(|phrase| starts(self.words, at, phrase)).max()
    }

    /// The text of words `from..to`, with the signs that stand against them.
    pub(super) fn between(&self, from: usize, to: usize) -> Option<String> {
        let (first, last) = (self.words.get(from)?, self.words.get(to.checked_sub(1)?)?);
        let (start, end) = (from < to).then(|| widened(self.text, first.start, last.end))?;
        Some(self.text[start..end].to_owned())
    }

    /// Whether a comma or another sign that parts stands before a word.
    pub(super) fn parted(&self, at: usize) -> bool {
        let between = at.checked_sub(1).map_or("", |before| &self.text[self.words[before].end..self.words[at].start]);
        // "9:30 - 17:00" is one value, and "1,200" behind a currency's sign.
        let number = at > 1 && self.words[at].is_number();
        between.contains('(') || parts(between) && !(number && (between == "," || dashed(between)))
    }

    /// Whether a place or a list goes on behind the comma before a word, and where it is over then: "Lyon, | France", "peanuts, | tree nuts
    /// and shellfish".
    pub(super) fn goes_on(&self, at: usize) -> Option<usize> {
        let between = &self.text[self.words[at - 1].end..self.words[at].start];
        if between.trim() != "," {
            return None;
        }
        let region =
            self.words[at].capital && (self.words[at].lower.len() == 2 || self.words[at - 1].capital && at + 1 == self.words.len());
        if region { Some(at + 1) } else { self.list_end(at) }
    }

    /// Where a list is over whose next item begins here. It is one where "and" or "or" stands before its last item.
    fn list_end(&self, begin: usize) -> Option<usize> {
        let (mut at, mut item, mut joined) = (begin, 0, false);
        while at < self.words.len() {
            let word = self.word(at);
            let joins = ["and", "or"].contains(&word);
            if joined && item > 0 && (joins || self.parted(at) || among(&ENDS_VALUE, word) || self.words[at].is_mark()) {
                return (!joins).then_some(at);
            }
            if among(&NO_ITEM, word) || !joins && !joined && among(&ENDS_VALUE, word) || self.words[at].is_mark() || item == MOST_ITEM {
                return None;
            }
            let begins = at > begin && self.parted(at);
            item = if joins { 0 } else { usize::from(!begins) * item + 1 };
            joined |= joins;
            at += 1;
        }
        (joined && item > 0).then_some(at)
    }

    /// Whether what stands behind a value says more than when it was so, and thanks: a rule that leaves it out would say something else.
    pub(super) fn says_more(&self, end: usize) -> bool {
        let rest = self.words.get(end..).unwrap_or_default();
        let begin = usize::from(rest.first().is_some_and(|word| ["and", "so", "but"].contains(&word.lower.as_str())));
        // "..., when does it start?" asks, and "when Dr Kay is away" does not.
        let is_question = |phrase: &str| !["what", "how", "where", "who", "when"].contains(&phrase);
        let parted = begin > 0 || end < self.words.len() && self.parted(end);
        let asks = REQUESTS.iter().any(|phrase| (parted || is_question(phrase)) && starts(rest, begin, phrase).is_some());
        !asks && rest.iter().any(|word| !word.is_mark() && !among(&IDLE, &word.lower))
    }

    /// Whether what stands behind a value says more than when it was so, and thanks, where a time does not belong to the value: "I moved to
    /// Porto last week".
    pub(super) fn says_more_than_when(&self, end: usize) -> bool {
        let rest = self.words.get(end..).unwrap_or_default();
        let dated =
            rest.first().is_some_and(|word| ["last", "yesterday", "ago", "this", "next", "tomorrow"].contains(&word.lower.as_str()));
        !(dated && rest.len() <= 2) && self.says_more(end)
    }

    /// Where the value that begins at `from` is over: at a word that parts, at a sign, after eight words.
    fn value_end(&self, from: usize) -> usize {
        let mut at = from;
        while at < self.words.len() && at < from + 8 {
            let word = self.word(at);
            let is_over = among(&ENDS_VALUE, word) || self.words[at].is_mark() || at > from && self.parted(at);
            let joins_clause = word == "and" && among(&JOINED, self.word(at + 1));
            if let Some(end) = (at > from && self.parted(at)).then(|| self.goes_on(at)).flatten() {
                return end;
            }
            if at > from && (is_over || joins_clause) || at == from && is_over && word != "not" && word != "over" {
                break;
            }
            at += 1;
        }
        at
    }

    pub(super) fn value(&self, from: usize) -> Option<(String, usize)> {
        if from < self.words.len() && self.parted(from) {
            return None;
        }
        let end = self.value_end(from);
        self.between(from, end).map(|value| (value, end))
    }

    /// Whether the "for" at a word excepts what is behind it: "except for", "but not for".
    pub(super) fn excepts(&self, at: usize) -> bool {
        const EXCEPTS: [&str; 10] = ["except", "excepting", "not", "never", "but", "than", "besides", "save", "apart", "instead"];
        self.word(at) == "for" && self.words[..at].iter().rev().take(2).any(|word| among(&EXCEPTS, &word.lower))
    }

    /// The words behind "for" in the rest of the sentence: "for scripting". "Except for scripting" names no purpose.
    pub(super) fn purpose(&self, from: usize) -> Option<String> {
        let at = (from..self.words.len()).find(|at| self.word(*at) == "for").filter(|at| !self.excepts(*at))?;
        if at > 0 && ["a", "an"].contains(&self.word(at - 1)) {
            return None; // "a for loop"
        }
        let begin = at + 1 + usize::from(["the", "my", "our", "a", "all", "any"].contains(&self.word(at + 1)));
        let end = self.value_end(begin).min(begin + 4);
        let purpose = self.between(begin, end)?;
        let is_time = ["now", "years", "me", "us", "days", "weeks", "months", "it", "that", "this"].contains(&self.word(end - 1))
            || self.words[begin].is_number();
        (!is_time && !self.is_for_all(from)).then(|| straight(&purpose.to_lowercase()))
    }

    /// Whether the rest of the sentence says "for everything I write".
    pub(super) fn is_for_all(&self, from: usize) -> bool {
        const ALL: [&str; 3] = ["everything", "anything", "most"];
        let for_all = |at: usize| self.word(at) == "for" && (among(&ALL, self.word(at + 1)) || among(&ALL, self.word(at + 2)));
        (from..self.words.len()).any(for_all)
    }

    pub(super) fn negated(&self, at: usize) -> bool {
        ["not", "no", "never", "isn't", "aren't", "neither"].contains(&self.word(at))
    }

    /// Whether a name begins at a word: with a capital, or in a sentence whose writer uses none.
    pub(super) fn names(&self, at: usize) -> bool {
        let plain = self.words.iter().all(|word| !word.capital);
        let begin = at + usize::from(self.word(at) == "the");
        let foreign = |word: &Word| !word.lower.as_bytes()[0].is_ascii();
        self.words.get(begin).is_some_and(|word| word.capital || word.is_number() || foreign(word))
            || plain && self.words.get(at).is_some_and(|word| !among(&NO_PLACE, &word.lower))
    }
}
