//! The facts about one memory among those that answer. Each is found out once, when it is first asked for.

use std::cell::OnceCell;

use super::super::closer::names;
use super::super::contenders::Contender;
use super::super::contrast::Told;
use super::super::whose::{is_called, living_ones, others, speaks_of_own};
use super::super::words::{Words, bare_words, is_any, normal};
use super::asked::Asked;
use super::lasts;
use super::manner::Manner;
use crate::embedding::{self, APOSTROPHE, Tokens};
use crate::text::analyze;
use crate::text::is_abroad;

/// More names and identifiers than these are looked for by one analysis.
const MOST_SOUGHT: usize = 8;

/// The known facts about a memory of a lasting kind.
pub(super) struct Seen<'w, 'h> {
    pub(super) text: &'h str,
    words: &'w OnceCell<Words<'h>>,
    tokens: Tokens<'h>,
    pub(super) scope: usize,
    pub(super) slot: Option<&'h str>,
    pub(super) occurred_at: i64,
    pub(super) trust: u8,
    pub(super) score: i64,
    kinds: OnceCell<u8>,
    required: OnceCell<Vec<u64>>,
    own: OnceCell<bool>,
    named: OnceCell<Vec<String>>,
    others: OnceCell<Vec<String>>,
    persons: OnceCell<Vec<String>>,
    told: OnceCell<Told<'w>>,
    begin: OnceCell<Option<&'h str>>,
    manner: OnceCell<Manner>,
    abroad: OnceCell<bool>,
}

impl<'w, 'h> Seen<'w, 'h> {
    pub(super) fn of(hit: &Contender<'h>, words: &'w OnceCell<Words<'h>>) -> Option<Self> {
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
            abroad: OnceCell::new(),
        })
    }

    /// Whether it is in another language, as far as its small words tell.
    pub(super) fn is_abroad(&self) -> bool {
        *self.abroad.get_or_init(|| is_abroad(self.text))
    }

    /// The names and identifiers of the question that it has. Where there are many, the text is analysed once.
    pub(super) fn required(&self, asked: &Asked) -> &[u64] {
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
    pub(super) fn own(&self, asked: &Asked) -> bool {
        let is_own = |word: &str| asked.own_names.iter().any(|name| *name == normal(word).trim_end_matches("'s"));
        let is_named = || !asked.own_names.is_empty() && bare_words(self.text).any(is_own);
        *self.own.get_or_init(|| self.may_have(embedding::OWN) && speaks_of_own(bare_words(self.text)) || is_named())
    }

    /// The names of it that a question in small letters has: "how much do i owe omar?".
    pub(super) fn named(&self, asked: &Asked) -> &[String] {
        let found = || names(self.text).into_iter().map(normal).filter(|name| asked.words.contains(name)).collect();
        self.named.get_or_init(|| if asked.is_small { found() } else { Vec::new() })
    }

    /// Whether it may have a word of that kind: its tokens tell mostly that it has none, and then its words are not looked at.
    fn may_have(&self, kind: u8) -> bool {
        self.kinds.get_or_init(|| self.tokens.kinds_in(self.text)) & kind != 0
    }

    /// Whether both begin with the same word, but for an article: what is about nobody that is asked for is then of the same thing.
    pub(super) fn begins_as(&self, other: &Seen<'_, '_>) -> bool {
        match (self.begin(), other.begin()) {
            (Some(own), Some(other)) if own.is_ascii() && other.is_ascii() => own.eq_ignore_ascii_case(other),
            (own, other) => own.map(normal) == other.map(normal),
        }
    }

    /// Whether it begins with a thing, and speaks of nobody: "The rent is 900 euros" may be the rent of anybody.
    pub(super) fn is_of_thing(&self, asked: &Asked) -> bool {
        let begins = || bare_words(self.text).next().is_some_and(|word| is_any(word, &["the", "our"]));
        begins() && names(self.text).is_empty() && self.persons().is_empty() && self.others(asked).is_empty()
    }

    fn begin(&self) -> Option<&'h str> {
        let begin = || bare_words(self.text).find(|word| !is_any(word, &["the", "a", "an", "our"]));
        *self.begin.get_or_init(begin)
    }

    /// The persons whom it mentions as "my mother" or the like.
    pub(super) fn persons(&self) -> &[String] {
        self.persons.get_or_init(|| living_ones(self.words()).collect())
    }

    pub(super) fn manner(&self) -> &Manner {
        self.manner.get_or_init(|| Manner::of(self.words()))
    }

    /// Its words, cut when they are first looked at.
    pub(super) fn words(&self) -> &'w Words<'h> {
        self.words.get_or_init(|| Words::of(self.text))
    }

    /// Its words, as they are compared with the question's.
    pub(super) fn told(&self, asked: &Asked) -> &Told<'w> {
        self.told.get_or_init(|| asked.contrast.told(self.words()))
    }

    /// Those whom it speaks of and whom the question has neither by that word nor by their name.
    pub(super) fn others(&self, asked: &Asked) -> &[String] {
        let has = |other: &String| asked.names.contains(other) || asked.persons.contains(other) || asked.words.contains(other);
        let found = || if self.may_have(embedding::OWN | APOSTROPHE) { others(self.words()) } else { Vec::new() };
        let of = |one: &String, names: &[String]| !names.is_empty() && is_called(self.words(), one, names);
        // "my sister Elin's birthday", of which a question for Elin's or for my sister's birthday asks.
        let by_role = |other: &String| asked.persons.iter().any(|person| of(person, std::slice::from_ref(other)));
        let is_asked = |other: &String| has(other) || of(other, &asked.names) || by_role(other);
        self.others.get_or_init(|| found().into_iter().filter(|other| !is_asked(other)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::whose::{OWN, owners};
    use super::*;

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
}
