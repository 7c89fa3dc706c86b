//! Keys by which statements find each other: of two that do not stand to each other as [`Relation::Different`](super::Relation) does, the
//! older one is filed under a key that the newer one asks for. So a claim is not compared with all others of its batch.
//!
//! Each key belongs to one rule of [`Statement::stands_to`]. A new rule there needs a key here; the tests compare both.

use super::words::{Token, affirmed, forms, is_denial};
use super::{ONE_VALUE, Statement, called_otherwise, habits, is_counted, names_subject, numbered, tastes, without_lasting};
use crate::gate;

impl Statement {
    /// The keys under which it is filed.
    pub fn links(&self) -> Vec<String> {
        let (mut out, tokens) = (self.common_links(), &self.tokens);
        out.extend(habits::links(tokens));
        if let [first, second, rest @ ..] = &tokens[..] {
            out.extend(rest.iter().map(|word| corrected(first, second, word)));
        }
        out
    }

    /// The keys under which those are filed that it may do something to.
    pub fn sought(&self) -> Vec<String> {
        let (mut out, tokens) = (self.common_links(), &self.tokens);
        if self.is_of_now {
            out.extend(habits::links(tokens));
        }
        // A statement that says the right value before it says which one is wrong.
        let not = tokens.iter().position(is_denial).filter(|not| *not > 2 && tokens[*not].form == "not");
        if let (Some(not), [first, second, ..]) = (not, &tokens[..]) {
            out.extend(tokens.get(not + 1).map(|wrong| corrected(first, second, wrong)));
        }
        out
    }

    fn common_links(&self) -> Vec<String> {
        let tokens = &self.tokens;
        let said: Vec<&str> = affirmed(tokens).filter(|word| !gate::is_degree(word)).collect();
        let others = called_otherwise(&said).into_iter().flatten().map(|said| format!("= {}", said.join(" ")));
        let mut out: Vec<String> = others.collect();
        out.push(format!("= {}", said.join(" ")));
        out.extend(tastes::links(tokens));
        out.extend(numbered(tokens).map(|(subject, noun, _)| format!("number {subject} {noun}")));
        if tokens.len() > 3 && tokens[1].form == "take" {
            out.push(format!("dose {}", uncounted(tokens)));
        }
        if self.is_order {
            out.push(format!("count {}", uncounted(without_lasting(tokens))));
        }
        let verb = tokens.iter().position(|token| ONE_VALUE.contains(&token.form.as_str()));
        if let Some(verb) = verb.filter(|verb| names_subject(&tokens[..*verb])) {
            out.push(format!("value {}", joined(forms(&tokens[..=verb]))));
        }
        out
    }
}

/// "The bug is in lexer.py, not parser.py" seeks what begins alike and has the word behind "not".
fn corrected(first: &Token, second: &Token, word: &Token) -> String {
    format!("not {} {} {}", first.form, second.form, word.form)
}

/// Words with one sign for each that is counted.
fn uncounted(tokens: &[Token]) -> String {
    joined(tokens.iter().map(|token| if is_counted(token) { "#" } else { &token.form }))
}

pub(super) fn joined<'w>(words: impl Iterator<Item = &'w str>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::Relation;
    use super::*;
    use crate::memory::kind::Kind;

    /// Tests of the rules, with statements of all the forms that these know.
    const TESTED: [&str; 5] = [
        include_str!("mod.rs"),
        include_str!("ends.rs"),
        include_str!("habits.rs"),
        include_str!("moved.rs"),
        include_str!("../../gate/otherwise.rs"),
    ];

    #[test]
    fn statements_that_may_not_both_hold_share_a_key() {
        let mut found = 0;
        let said: HashSet<&str> = TESTED
            .iter()
            .flat_map(|text| text.lines())
            .filter(|line| !line.trim_start().starts_with("//"))
            .flat_map(|line| line.split('"').skip(1).step_by(2))
            .filter(|text| text.contains(' '))
            .collect();
        for kind in [Kind::Semantic, Kind::Constraint, Kind::Episodic] {
            let all: Vec<Statement> = said.iter().map(|line| Statement::of(line, kind)).collect();
            let keys: Vec<_> = all.iter().map(|one| (one.links(), one.sought())).collect();
            for (new, (_, sought)) in all.iter().zip(&keys) {
                for (old, (links, _)) in all.iter().zip(&keys) {
                    let relation = new.stands_to(old);
                    let meet = || sought.iter().any(|key| links.contains(key));
                    assert!(
                        relation == Relation::Different || meet(),
                        "{relation:?}: {} | {}",
                        joined(forms(&new.tokens)),
                        joined(forms(&old.tokens))
                    );
                    found += usize::from(relation != Relation::Different && !std::ptr::eq(new, old));
                }
            }
        }
        assert!(found > 100, "the statements are compared with each other: {found}");
    }

    #[test]
    fn statements_of_one_form_about_different_things_share_no_key() {
        let all: Vec<Statement> =
            (0..50).map(|number| Statement::of(&format!("I no longer use Tool{number}x for Task{number}y."), Kind::Semantic)).collect();
        for (at, new) in all.iter().enumerate() {
            assert!(all[..at].iter().all(|old| !new.sought().iter().any(|key| old.links().contains(key))));
        }
    }
}
