//! Which of what is known a statement ends: "I left Acme" the employer, "I'm not diabetic" an allergy or illness, "stop citing your
//! sources" an order.

use super::Statement;
use super::words::{MOST_NAME, Token, affirmed, forms, is_denial, lowered, tokens};
use crate::gate;
use crate::memory::kind::Kind;
use crate::memory::record::Memory;

/// The name of a thing of the user, read once to be looked for in many statements.
#[derive(Debug)]
pub struct Named {
    words: Vec<String>,
    /// Its words as they are told of somebody: who is diabetic has diabetes.
    as_told: Vec<String>,
}

impl Named {
    pub fn of(named: &str) -> Self {
        let as_told = lowered(&tokens(&format!("I am {named}")));
        Self { words: lowered(&tokens(named)), as_told: as_told.get(2..).unwrap_or_default().to_vec() }
    }

    /// The runs of words of which a statement has one that speaks of it.
    pub fn runs(&self) -> [&[String]; 2] {
        [&self.words, &self.as_told]
    }
}

/// Words of a decision before what was decided on, beside those of a name.
const MOST_DECIDED: usize = 3;

impl Statement {
    /// Its words in small letters.
    pub fn words(&self) -> Vec<String> {
        lowered(&self.tokens)
    }

    /// Whether it speaks of what a user names: all its words are there, in order.
    pub fn speaks_of(&self, named: &Named) -> bool {
        let text = lowered(&self.tokens);
        named.runs().iter().any(|run| !run.is_empty() && text.windows(run.len()).any(|window| window == *run))
    }

    /// Whether what it says is over can be what a memory says, by its verb: who does not work at a place any more lives where they lived.
    /// A slot's value is over only where that value itself is: who stopped taking a pill has measured what they measured.
    pub fn fits(&self, known: &Memory, other: &Self, named: &str) -> bool {
        let slot = known.slot.as_deref().unwrap_or_default();
        let mut words = affirmed(&self.tokens);
        if words.next() == Some("my") {
            let name: Vec<&str> = words.take_while(|word| *word != "is").collect();
            return name.join(" ") == slot;
        }
        let (verb, behind) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let is_plain = verb == "is" && slot.is_empty() && !["in", "at", "with"].contains(&behind);
        if known.kind == Kind::Constraint || is_plain || gate::ends_allergy(named) {
            // "I don't have asthma, that was a misdiagnosis": all that is known is denied. "I'm not diabetic" says nothing of "my son is".
            let is_all = |own: &mut dyn Iterator<Item = &str>| {
                affirmed(&other.tokens).filter(|word| !gate::is_degree(word)).all(|word| own.next() == Some(word))
            };
            let is_so = tokens(&format!("I am {named}"));
            return is_all(&mut affirmed(&self.tokens)) || is_all(&mut forms(&is_so));
        }
        let fits = match (verb, behind) {
            _ if self.leaves() => match slot {
                "home" => self.leaves_home(),
                "employer" => !self.has("moved"),
                "occupation" => !self.has("moved") && !self.has("left"),
                _ => false,
            },
            ("live" | "stay" | "reside", _) | ("is", "in") => slot == "home",
            ("work", _) | ("is", "at" | "with") => matches!(slot, "employer" | "occupation"),
            ("like" | "love" | "enjoy" | "want", _) => known.kind == Kind::Preference,
            _ => !matches!(slot, "home" | "employer" | "name" | "age"),
        };
        fits && if slot.is_empty() { !other.prefers_another(named) } else { other.begins_value(named) }
    }

    /// Whether it says what somebody uses, likes or is on, so that it is over where they switched from what a user names to another: who
    /// switched from milk to oat milk has a daughter who is allergic to milk, and works where they worked.
    pub fn is_switched(&self, known: &Memory, named: &str) -> bool {
        const PERSONAL: [&str; 5] = ["home", "employer", "occupation", "name", "age"];
        const OTHER: [&str; 10] = ["teach", "write", "wrote", "know", "learn", "study", "work", "live", "sell", "own"];
        let is_personal = known.slot.as_deref().is_some_and(|slot| PERSONAL.iter().any(|personal| slot.ends_with(personal)));
        let (first, verb) = {
            let mut words = affirmed(&self.tokens);
            (words.next().unwrap_or_default(), words.next().unwrap_or_default())
        };
        let is_own = known.slot.is_some() || ["i", "we", "my", "our"].contains(&first) && !OTHER.contains(&verb);
        let is_of_use = matches!(known.kind, Kind::Preference | Kind::Semantic | Kind::Decision);
        // "We decided to use Kafka"
        let most = if known.kind == Kind::Decision { MOST_NAME + MOST_DECIDED } else { MOST_NAME };
        is_of_use && is_own && !is_personal && self.begins_value_within(named, most)
    }

    /// Whether it says all that an older order does but for the value that it puts in another one's place: "run ruff before you commit, not
    /// black" beside "Always run black before you commit."
    pub fn covers(&self, old: &Self, named: &str) -> bool {
        let (own, named) = (lowered(&self.tokens), lowered(&tokens(named)));
        let is_said = |word: &String| own.contains(word) || named.contains(word) || ["from", "on"].contains(&word.as_str());
        !old.denies && lowered(&old.tokens).iter().all(is_said)
    }

    fn has(&self, form: &str) -> bool {
        self.tokens.iter().take(MOST_NAME + 1).any(|token| token.form == form)
    }

    /// Whether it says that the user left an employer or a home, by its verb. "I moved from Lyon to Nantes" says where they live.
    fn leaves(&self) -> bool {
        let own = self.tokens.first().is_some_and(|token| ["i", "we", "i've", "we've"].contains(&token.form.as_str()));
        let near = || self.tokens.iter().take(MOST_NAME + 1);
        let other = || near().any(|token| is_denial(token) || !token.value && token.form.ends_with("ing") && token.form != "working");
        let stops = self.has("stopped") && self.has("working") || self.has("moved") && (self.has("out") || self.has("away"));
        own && (stops || near().any(|token| gate::leaves(&token.form))) && !other()
    }

    /// Whether it says that the user left a home. Who left a place, and says no more, may be back in an hour.
    fn leaves_home(&self) -> bool {
        self.has("moved") || self.has("left") && self.tokens.iter().any(|token| token.form == "for")
    }

    /// Whether what a user names is the first that it says of its subject: "Ghent" of "I live in Ghent with Eva".
    fn begins_value(&self, named: &str) -> bool {
        self.begins_value_within(named, MOST_NAME)
    }

    fn begins_value_within(&self, named: &str, most: usize) -> bool {
        let named = lowered(&tokens(named));
        if self.attribute.is_some() {
            return lowered(&tokens(&self.value)).starts_with(&named);
        }
        if self.leaves() {
            // "I left Acme for Globex": they work for the second.
            let behind = self.tokens.iter().position(|token| token.form == "for").map_or(&[][..], |at| &self.tokens[at + 1..]);
            return lowered(behind).starts_with(&named);
        }
        let place = lowered(&self.tokens).windows(named.len().max(1)).position(|window| window == named);
        let leads = |token: &Token| !token.value && !["over", "than", "with"].contains(&token.form.as_str());
        place.is_some_and(|place| place <= most && self.tokens[..place].iter().all(leads))
    }

    /// Whether it prefers something else to what a user names: "I prefer Chrome to Firefox".
    fn prefers_another(&self, named: &str) -> bool {
        let (text, named) = (lowered(&self.tokens), lowered(&tokens(named)));
        let place = text.windows(named.len().max(1)).position(|window| window == named);
        let before = |place: usize| ["to", "over", "than"].contains(&text[place - 1].as_str());
        text.iter().any(|word| word == "prefer") && place.is_some_and(|place| place > 0 && before(place))
    }

    /// Whether it is an order to do what a phrase says, or where the phrase names what is permitted, not to: "answering in French" is what
    /// "answer in French" asks for.
    pub fn orders(&self, phrase: &str, permits: bool) -> bool {
        let (text, named) = (lowered(&self.tokens), lowered(&tokens(phrase)));
        let denies = self.tokens.iter().any(|token| is_denial(token) || ["avoid", "stop", "quit"].contains(&token.form.as_str()));
        let same = |window: &[String]| window[1..] == named[1..] && is_act(&window[0], &named[0]);
        denies == permits && !named.is_empty() && text.windows(named.len()).any(same)
    }
}

/// Whether two words are one verb, also where one of them ends in "ing".
fn is_act(one: &str, other: &str) -> bool {
    let of = |verb: &str, act: &str| {
        act.strip_suffix("ing").is_some_and(|root| {
            let doubled = verb.chars().last().is_some_and(|last| root.strip_suffix(last) == Some(verb));
            root == verb || verb.strip_suffix('e') == Some(root) || doubled
        })
    };
    one == other || of(one, other) || of(other, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_a_value_is_the_value() {
        let begins = |text, named| Statement::of(text, Kind::Profile).begins_value(named);
        assert!(begins("I live in Ghent with Eva", "Ghent") && !begins("I live in Ghent with Eva", "Eva"));
        assert!(begins("The user's favorite editor is Vim.", "vim") && begins("We use Kafka for events", "Kafka"));
        assert!(!begins("The user's weight is 80 kg, since the new pills.", "new pills"));
        assert!(!begins("I prefer coffee over tea", "tea"));
        let prefers = |text, named| Statement::of(text, Kind::Preference).prefers_another(named);
        assert!(prefers("I prefer Chrome to Firefox", "Firefox") && !prefers("I prefer Chrome to Firefox", "Chrome"));
    }

    #[test]
    fn who_left_one_for_another_has_the_second() {
        let begins = |text, named| Statement::of(text, Kind::Profile).begins_value(named);
        for (text, left, new) in [("I left Acme for Globex.", "Acme", "Globex"), ("We left Boeing for Airbus.", "Boeing", "Airbus")] {
            assert!(begins(text, new) && !begins(text, left), "{text}");
        }
        assert!(!begins("I was laid off from Acme.", "Acme") && !begins("I moved out of Lisbon.", "Lisbon"));
        assert!(begins("I moved to Lisbon last week, by train.", "Lisbon"));
    }

    #[test]
    fn an_order_is_known_by_what_is_to_be_done() {
        let orders = |text, phrase, permits| Statement::of(text, Kind::Constraint).orders(phrase, permits);
        assert!(orders("Always cite your sources.", "citing your sources", false));
        assert!(orders("Never deploy on Fridays.", "deploy on Fridays", true));
        assert!(orders("Don't run tests here.", "run tests", true) && orders("Run tests each time.", "running tests", false));
        assert!(!orders("Never deploy on Fridays.", "deploying on Fridays", false), "what is forbidden needs no stopping");
        assert!(!orders("Always deploy on Fridays.", "deploy on Mondays", false));
    }
}
