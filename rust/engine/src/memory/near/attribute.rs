//! The attribute that a plain sentence gives a value to.

use super::words::MOST_NAME;
use crate::gate;

/// Words of an attribute's value that are looked at.
const MOST_VALUE: usize = 8;

/// The attribute that a plain sentence gives a value to, as a slot is called, and the value: "The deploy region is eu-west-1." is about
/// "deploy region".
pub(super) fn attribute(text: &str) -> Option<(String, String)> {
    let text = text.replace('\u{2019}', "'");
    let words: Vec<&str> = text.split_whitespace().take(MOST_NAME + 3 + MOST_VALUE).collect();
    let begin = match words.first()?.to_lowercase().as_str() {
        "the" if words.get(1).is_some_and(|word| word.to_lowercase() == "user's") => 2,
        "the" | "my" | "our" => 1,
        _ => return None,
    };
    let verb = words.iter().position(|word| matches!(*word, "is" | "are")).filter(|verb| (begin + 1..=begin + MOST_NAME).contains(verb))?;
    let name = gate::spelled(&gate::present(&words[begin..verb].join(" ")).to_lowercase());
    // "My wife's name is Clara" is about the wife, as its slot is.
    let name = name.strip_suffix("'s name").filter(|bearer| gate::is_living(bearer)).unwrap_or(&name).to_owned();
    let is_name = name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_' | '\''));
    // "My son is not allergic to eggs any more" says what is not so, and gives no value.
    let denies = words.get(verb + 1).is_some_and(|word| *word == "not") || words[verb + 1..].starts_with(&["no", "longer"]);
    (verb + 1 < words.len() && is_name && !denies).then(|| (name, words[verb + 1..].join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

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
