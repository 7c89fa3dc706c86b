//! Claims of one of several speakers, told of them by name: in a scope that many share, "I live in Lisbon" says where Priya lives, and
//! nothing of "the user".

use super::words::words;
use super::{Category, Claim};

/// Words by which a speaker means themselves alone. "We" and "our" are those who share the scope.
const OF_ONESELF: [&str; 9] = ["i", "i'm", "i've", "i'd", "i'll", "my", "me", "mine", "myself"];
/// How the gate begins what it makes of "I ...", and of an answer in a few words.
const OF_USER: &str = "The user";
const ASKED: &str = "Asked \u{201C}";

/// A claim that somebody of that name made, who `said` all of its message. Where it is of themselves, it stands in no other one's place:
/// its slot is theirs, and it is nothing that every prompt must show.
#[must_use]
pub fn told_of(claim: Claim, said: &str, name: &str) -> Claim {
    let is_told = claim.text.starts_with(OF_USER) && !said.to_lowercase().contains("the user");
    let is_of_speaker = || claim.text.starts_with(ASKED) || words(&claim.text).iter().any(|word| OF_ONESELF.contains(&&*word.lower));
    if claim.category == Category::Discard || !is_told && !is_of_speaker() {
        return claim;
    }
    let shown = capital(name);
    let category = match claim.category {
        Category::Profile | Category::Constraint | Category::Preference => Category::Semantic,
        other => other,
    };
    Claim {
        text: if is_told { format!("{shown}{}", &claim.text[OF_USER.len()..]) } else { format!("{shown}: {}", claim.text) },
        slot: claim.slot.map(|slot| format!("{}'s {slot}", name.to_lowercase())),
        replaces: None,
        ends: None,
        category,
        ..claim
    }
}

/// A name of letters in small letters with a capital, as people write it.
fn capital(name: &str) -> String {
    let mut letters = name.chars();
    match letters.next() {
        Some(first) if name.chars().all(char::is_lowercase) => first.to_uppercase().chain(letters).collect(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Heard, judge_among};
    use super::*;

    fn told(text: &str) -> Claim {
        let heard = [Heard::new(0, "user", text, Some(0))];
        told_of(judge_among(&heard, 0, 0).remove(0), text, "priya")
    }

    #[test]
    fn what_speakers_say_of_themselves_is_theirs() {
        for (said, text, slot) in [
            ("I live in Lisbon.", "Priya lives in Lisbon.", Some("priya's home")),
            ("My phone number is 555-0101.", "Priya's phone number is 555-0101.", Some("priya's phone number")),
            ("I'm allergic to nuts.", "Priya is allergic to nuts.", None),
            ("I prefer tabs over spaces.", "Priya: I prefer tabs over spaces.", Some("priya's indentation")),
        ] {
            let claim = told(said);
            assert_eq!((&*claim.text, claim.slot.as_deref(), claim.category), (text, slot, Category::Semantic), "{said}");
        }
        for said in ["Remember that the user service runs on vega-05.", "We decided that the user gets an email."] {
            assert!(!told(said).text.contains("Priya"), "{said}");
        }
        let heard = [Heard::new(0, "assistant", "Any allergies?", Some(0)), Heard::new(1, "user", "yes, peanuts", Some(0))];
        let answer = told_of(judge_among(&heard, 1, 0).remove(0), "yes, peanuts", "priya");
        assert!(answer.text.starts_with("Priya: Asked") && answer.category == Category::Semantic, "{}", answer.text);
        let of_all = told("Never deploy on Fridays.");
        assert_eq!((&*of_all.text, of_all.category), ("Never deploy on Fridays.", Category::Constraint), "what is said of all stays");
        assert_eq!((capital("u-7"), capital("Ana"), capital("\u{e9}va")), ("u-7".into(), "Ana".into(), "\u{c9}va".into()));
    }

    #[test]
    fn nobody_corrects_what_somebody_else_said() {
        let said = |by: &str, text: &str| Heard::new(0, "user", text, Some(0)).said_by(Some(by.to_owned()));
        let heard = |by: &str| [said("priya", "My flight is at 15:30."), said(by, "Sorry, I meant 16:30.")];
        let replaced = |by: &str| judge_among(&heard(by), 1, 0).iter().any(|claim| claim.text.contains("flight"));
        assert!(replaced("priya") && !replaced("tom"));
    }
}
