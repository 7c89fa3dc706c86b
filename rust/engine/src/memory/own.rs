//! The memories of one of several speakers, seen as if they were the only user: the rules that serve one user serve each of them then. The
//! text of a memory and its slot say of whom it is told.

use super::kind::Kind;
use super::near::Statement;
use super::record::Memory;
use crate::gate;
use crate::text::slot_key;

/// A claim that is read once to be compared with many memories.
#[derive(Debug)]
pub(super) struct Said {
    /// The claim as it is stored.
    pub statement: Statement,
    /// The claim as its speaker would make it alone, where it is told of them.
    pub own: Option<Statement>,
    /// The slot that it gives a value to in plain words.
    pub attribute: Option<String>,
    /// The name of its speaker, where several share the scope.
    by: Option<String>,
}

/// Of whom a known memory is told, as the speaker of a claim sees it.
pub(super) enum Whose {
    /// It is told of that speaker: the memory as they would have said it alone.
    Own(Box<Memory>),
    /// It is told of another speaker.
    Another,
    /// It is told of no speaker, or no speaker has a name.
    All,
}

impl Said {
    pub fn of(memory: &Memory, by: Option<&str>) -> Self {
        let own = by.and_then(|name| own(memory, name)).map(|own| Statement::of(&own.text, own.kind));
        let mut said = Self { statement: Statement::of(&memory.text, memory.kind), own, attribute: None, by: by.map(str::to_owned) };
        said.attribute = said.slot_of(said.own.as_ref().unwrap_or(&said.statement), said.own.is_some());
        said
    }

    /// The name of the speaker of whom it is told; empty where it is told of nobody.
    pub fn of_whom(&self) -> &str {
        self.by.as_deref().filter(|_| self.own.is_some()).unwrap_or_default()
    }

    /// A memory as its speaker would have said it alone.
    pub fn own(&self, memory: &Memory) -> Option<Memory> {
        own(memory, self.by.as_deref()?)
    }

    pub fn whose(&self, known: &Memory) -> Whose {
        match self.own(known) {
            Some(own) => Whose::Own(Box::new(own)),
            None if self.by.is_some() && gate::is_told(&known.text, known.slot.as_deref()) => Whose::Another,
            None => Whose::All,
        }
    }

    /// The claim and a known memory as the two are compared.
    pub fn beside(&self, known: &Memory) -> (&Statement, Statement) {
        let own = self.own.as_ref().zip(self.own(known));
        own.map_or_else(
            || (&self.statement, Statement::of(&known.text, known.kind)),
            |(claim, own)| (claim, Statement::of(&own.text, own.kind)),
        )
    }

    /// The speaker's own slot of that name.
    pub fn own_slot(&self, name: &str) -> Option<String> {
        self.by.as_deref().map(|by| format!("{}'s {name}", slot_key(by)))
    }

    /// The slot that a statement gives a value to in plain words: where it is told of the speaker, their own.
    pub fn slot_of(&self, statement: &Statement, is_own: bool) -> Option<String> {
        let name = statement.attribute.as_ref()?;
        if is_own { self.own_slot(name) } else { Some(name.clone()) }
    }

    /// The class of the tool that it says its speaker has.
    pub fn class(&self) -> Option<&String> {
        self.own.as_ref().unwrap_or(&self.statement).tool.as_ref().map(|tool| &tool.class)
    }

    /// Keys of its statement, and those of it as its speaker would make it alone.
    pub fn links(&self, of: fn(&Statement) -> Vec<String>) -> Vec<String> {
        let own = self.own.iter().flat_map(of).map(|link| format!("{}: {link}", slot_key(self.of_whom())));
        of(&self.statement).into_iter().chain(own).collect()
    }

    /// Whether it gives a time, a day or a number of people.
    pub fn names_occasion(&self) -> bool {
        self.statements().any(|statement| statement.occasion.has_values())
    }

    /// Whether it may correct one.
    pub fn corrects_occasion(&self) -> bool {
        self.statements().any(|statement| statement.occasion.is_correction())
    }

    fn statements(&self) -> impl Iterator<Item = &Statement> {
        [&self.statement].into_iter().chain(&self.own)
    }

    /// The words with which others begin that it may do something to.
    pub fn begins(&self) -> impl Iterator<Item = String> {
        let own = self.own.as_ref().map(|own| format!("{}: {}", slot_key(self.of_whom()), own.begin()));
        [self.statement.begin()].into_iter().chain(own)
    }
}

/// A memory that is told of a speaker, as they would have said it alone. A wish for all answers is a preference there.
fn own(memory: &Memory, name: &str) -> Option<Memory> {
    let text = gate::untold(&memory.text, name)?;
    let slot = memory.slot.as_deref().map(|slot| slot.strip_prefix(&*slot_key(name))?.strip_prefix("'s "));
    let slot = match slot {
        Some(own) => Some(own?.to_owned()),
        None => None,
    };
    let is_wish = memory.kind == Kind::Semantic && (gate::order_of(&text).is_some() || gate::begins_as_order(&text));
    let kind = if is_wish { Kind::Preference } else { memory.kind };
    Some(Memory { text, kind, slot, ..memory.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::msgpack::Writer;

    fn memory(text: &str, slot: Option<&str>) -> Memory {
        let mut body = Writer::array(3);
        body.nil();
        body.text(text);
        body.uint(Kind::Semantic as u64);
        Memory { slot: slot.map(str::to_owned), ..Memory::decode(b"key", 7, &body.into_bytes()).unwrap() }
    }

    #[test]
    fn a_speaker_sees_their_own_memories_as_the_only_user_would() {
        let said = Said::of(&memory("Priya: I left Acme.", None), Some("priya"));
        let own = |text, slot| match said.whose(&memory(text, slot)) {
            Whose::Own(own) => Some((own.text, own.slot)),
            _ => None,
        };
        for (text, slot, own_text, own_slot) in [
            ("Priya works for Acme.", Some("priya's employer"), "The user works for Acme.", Some("employer")),
            ("PRIYA: I use Vim.", None, "I use Vim.", None),
            ("Priya's mom lives in Rome.", Some("priya's mom's home"), "The user's mom lives in Rome.", Some("mom's home")),
        ] {
            assert_eq!(own(text, slot), Some((own_text.to_owned(), own_slot.map(str::to_owned))), "{text}");
        }
        for (text, slot) in [("Tom works for Acme.", Some("tom's employer")), ("Tom: I work at Acme.", None)] {
            assert!(matches!(said.whose(&memory(text, slot)), Whose::Another), "{text}");
        }
        for (text, slot) in [("We use Kafka.", None), ("Acme has 40 people.", None), ("The user works for Acme.", Some("employer"))] {
            assert!(matches!(said.whose(&memory(text, slot)), Whose::All), "{text}");
        }
    }

    #[test]
    fn who_is_the_only_speaker_sees_all_memories_as_they_are() {
        let said = Said::of(&memory("I left Acme.", None), None);
        for (text, slot) in [("Tom: I work at Acme.", None), ("Priya works for Acme.", Some("priya's employer"))] {
            assert!(matches!(said.whose(&memory(text, slot)), Whose::All), "{text}");
        }
        assert!(said.own.is_none() && said.of_whom().is_empty());
    }

    #[test]
    fn the_name_of_a_slot_in_plain_words_is_the_speakers_own() {
        let slot = |text, by| Said::of(&memory(text, None), by).attribute;
        assert_eq!(slot("Priya's phone number is 555-0101.", Some("Priya")).as_deref(), Some("priya's phone number"));
        assert_eq!(slot("The deploy region is eu-west-1.", Some("Priya")).as_deref(), Some("deploy region"));
        assert_eq!(slot("The user's phone number is 555-0101.", None).as_deref(), Some("phone number"));
    }

    #[test]
    fn a_wish_for_all_answers_is_a_preference_of_its_speaker() {
        let kind = |text| own(&memory(text, None), "priya").unwrap().kind;
        assert_eq!(kind("Priya: Please answer me in French."), Kind::Preference);
        assert_eq!(kind("Priya: I run tests each time."), Kind::Semantic);
    }
}
