//! The attribute that a plain sentence gives a value to.

use super::words::MOST_NAME;
use crate::gate;
use crate::text::slot_key;

/// Words of an attribute's value that are looked at.
const MOST_VALUE: usize = 8;

/// The attribute that a plain sentence gives a value to, as a slot is called, and the value: "The deploy region is eu-west-1." is about
/// "deploy region".
pub(super) fn attribute(text: &str) -> Option<(String, String)> {
    let is_begin = |word: &str| ["the", "my", "our"].iter().any(|begin| word.eq_ignore_ascii_case(begin));
    text.split_whitespace().next().filter(|word| is_begin(word))?; // as few texts do, and the others are not cut
    let text = text.replace('\u{2019}', "'");
    let words: Vec<&str> = text.split_whitespace().take(gate::MOST_MEASURED + 3 + MOST_VALUE).collect();
    let begin = match words.first()?.to_lowercase().as_str() {
        "the" if words.get(1).is_some_and(|word| word.to_lowercase() == "user's") => 2,
        "the" | "my" | "our" => 1,
        _ => return None,
    };
    let verb = words
        .iter()
        .position(|word| matches!(*word, "is" | "are"))
        .filter(|verb| (begin + 1..=begin + most(&words, *verb)).contains(verb))?;
    let name = gate::spelled(&gate::present(&words[begin..verb].join(" ")).to_lowercase());
    // "My wife's name is Clara" is about the wife, as its slot is.
    let name = name.strip_suffix("'s name").filter(|bearer| gate::is_living(bearer)).unwrap_or(&name).to_owned();
    let is_name = name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_' | '\''));
    // "My son is not allergic to eggs any more" says what is not so, and gives no value.
    let denies = words.get(verb + 1).is_some_and(|word| *word == "not") || words[verb + 1..].starts_with(&["no", "longer"]);
    (verb + 1 < words.len() && is_name && !denies).then(|| (name, words[verb + 1..].join(" ")))
}

/// The most words of a name before that verb: of one that has a number behind it more, as the write gate reads it.
fn most(words: &[&str], verb: usize) -> usize {
    let counted = words.get(verb + 1).is_some_and(|word| word.bytes().any(|byte| byte.is_ascii_digit()));
    if counted { gate::MOST_MEASURED } else { MOST_NAME }
}

/// Whether a sentence says how something is of which another one says which one it is: "My car is in the garage." and "The user's car is a
/// red Golf." Both hold where nobody asks where it is.
pub(crate) fn holds_beside(new: &str, old: &str, asks_where: bool) -> bool {
    let Some(((name, new), (other, old))) = attribute(new).zip(attribute(old)) else { return false };
    slot_key(&name) == slot_key(&other) && gate::holds_beside(&name, [&new, &old], asks_where)
}

/// Whether two texts give settings of things at hand a value by one name. The older one has no slot: it was left beside the newer because
/// another session spoke of it.
pub(crate) fn is_of_another_thing(new: &str, old: &str) -> bool {
    let Some(((name, _), (other, _))) = attribute(new).zip(attribute(old)) else { return false };
    name == other && gate::is_of_thing_at_hand(new, &name) && gate::is_of_thing_at_hand(old, &name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_thing_is_holds_beside_which_one_it_is() {
        for (new, old) in [
            ("My car is in the garage.", "My car is a red Golf."),
            ("My dentist is closed in August.", "The user's dentist is Dr. Lee."),
            ("The user's manager is on holiday until May.", "The user's manager is Tom."),
            ("My laptop is at the repair shop.", "My laptop is a ThinkPad X1."),
            ("My office is closed on Friday.", "My office is in Ghent."),
            ("My phone is charging in the kitchen.", "My phone is a Pixel 8."),
        ] {
            assert!(holds_beside(new, old, false), "{new} | {old}");
        }
        for (new, old) in [
            ("My car is a blue Polo.", "My car is a red Golf."),
            ("My car is sold.", "My car is a red Golf."),
            ("My bike is in the basement.", "My bike is in the garage."),
            ("My office is in Rome.", "My office is in Ghent."),
            ("The meeting is cancelled.", "The meeting is on Thursday."),
            ("My phone is in the kitchen.", "My car is a red Golf."),
            ("The deploy target is staging.", "The deploy target is prod."),
            ("My rent is rising to 1000 euros.", "My rent is 900 euros."),
            ("My job is teaching.", "My job is accountant."),
            ("My home is in Lisbon.", "My home is Porto."),
            ("My shift is in the morning.", "My shift is the night shift."),
        ] {
            assert!(!holds_beside(new, old, false), "{new} | {old}");
        }
        assert!(!holds_beside("My car is in the garage.", "My car is a red Golf.", true));
    }

    #[test]
    fn a_plain_sentence_names_its_attribute() {
        let named = |text| attribute(text).map(|(name, _)| name);
        assert_eq!(named("The deploy region is eu-west-1.").as_deref(), Some("deploy region"));
        assert_eq!(named("The user's time is 11:45 am.").as_deref(), Some("time"));
        assert_eq!(named("My dog\u{2019}s vet is Dr. Hall.").as_deref(), Some("dog's vet"));
        assert_eq!(named("The user\u{2019}s time is 11:45 am.").as_deref(), Some("time"));
        assert_eq!(attribute("My favourite colour is dark red"), Some(("favorite color".to_owned(), "dark red".to_owned())));
        for other in [
            "payments-api is slow",
            "The sky",
            "The is",
            "The one thing that nobody knows is why",
            "The user's is",
            "I live in Rome",
            "My son is not allergic to eggs",
        ] {
            assert_eq!(attribute(other), None, "{other}");
        }
    }
}
