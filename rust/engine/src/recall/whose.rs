//! Whose something is that a text speaks of, where it is not the user's: "Bob's", "my mother's", "my daughter is allergic to ...".

use super::newest::OWN;

/// Words by which people speak of somebody beside themselves. Those of one line are one person to them.
const PERSONS: [&[&str]; 31] = [
    &["mother", "mum", "mom", "mama", "mummy", "mommy"],
    &["father", "dad", "papa", "daddy"],
    &["parents", "parent"],
    &["partner", "spouse", "wife", "husband", "girlfriend", "boyfriend", "fianc\u{e9}", "fianc\u{e9}e", "fiance", "fiancee"],
    &["child", "children", "kid", "kids"],
    &["baby", "toddler"],
    &["daughter"],
    &["daughters"],
    &["son"],
    &["sons"],
    &["sister"],
    &["sisters"],
    &["brother"],
    &["brothers"],
    &["sibling", "siblings"],
    &["twin", "twins"],
    &["grandmother", "grandma", "granny", "gran", "nan"],
    &["grandfather", "grandpa", "granddad", "grandad"],
    &["grandparents"],
    &["grandson"],
    &["granddaughter"],
    &["grandchild", "grandchildren"],
    &["aunt", "auntie"],
    &["uncle"],
    &["cousin", "cousins"],
    &["nephew"],
    &["niece"],
    &["friend", "friends"],
    &["neighbour", "neighbor", "neighbours", "neighbors"],
    &["colleague", "colleagues", "coworker", "coworkers"],
    &["flatmate", "flatmates", "roommate", "roommates", "housemate", "housemates"],
];
/// Between "my" and such a word are at most so many others ("my two older brothers").
const MOST_BETWEEN: usize = 2;
/// Owners whose apostrophe is that of "is".
const NOBODY: [&str; 6] = ["it", "that", "what", "here", "there", "let"];
/// The last byte of a typographic apostrophe.
const MARK_END: u8 = 0x99;

/// Those whose something a text speaks of, and the person whom its first words are about: "daughter" of "My daughter is ...".
pub(super) fn others(text: &str) -> Vec<String> {
    let persons = possessives(text).filter_map(|word| person(word.trim_start_matches(|letter: char| !letter.is_alphanumeric())));
    owners(text).chain(persons).chain(first_person_spoken_of(text)).collect()
}

/// The persons whom a text mentions by such a word, anywhere.
pub(super) fn persons(text: &str) -> impl Iterator<Item = String> + '_ {
    bare_words(text).filter_map(|word| person(without_s(word)))
}

/// "daughter" of "My daughter is ...", but nobody of "My wife and I moved ...".
fn first_person_spoken_of(text: &str) -> Option<String> {
    let mut words = bare_words(text).filter(|word| !word.is_empty());
    let is_owner = |word: &str| word.eq_ignore_ascii_case("my") || word.eq_ignore_ascii_case("our") || without_s(word) != word;
    if !words.next().is_some_and(is_owner) && !words.next().is_some_and(is_owner) {
        return None;
    }
    let person = words.by_ref().take(MOST_BETWEEN + 1).find_map(|word| person(without_s(word)))?;
    (words.next() != Some("and")).then_some(person)
}

/// A word without the ending of a possessive.
pub(super) fn without_s(word: &str) -> &str {
    word.strip_suffix("'s").or_else(|| word.strip_suffix("\u{2019}s")).unwrap_or(word)
}

/// The person whom a word means, by the first word for that person. Of in-laws and of step-children, the word itself.
fn person(word: &str) -> Option<String> {
    let lower = word.to_lowercase();
    let first = |word: &str| PERSONS.iter().find(|words| words.contains(&word)).map(|words| words[0]);
    match lower.strip_suffix("-in-law").or_else(|| lower.strip_prefix("step")) {
        Some(plain) => first(plain.trim_start_matches('-')).map(|_| lower.clone()),
        None => first(&lower).map(str::to_owned),
    }
}

/// Those with a capital letter whose something is spoken of: "Anna" of "Anna's".
pub(super) fn owners(text: &str) -> impl Iterator<Item = String> + '_ {
    let owners = possessives(text).filter(|word| word.starts_with(char::is_uppercase)).map(str::to_lowercase);
    owners.filter(|owner| !OWN.contains(&owner.as_str()) && !NOBODY.contains(&owner.as_str()))
}

/// The words before "'s". Each is found by its apostrophe.
fn possessives(text: &str) -> impl Iterator<Item = &str> {
    let ends = text.bytes().enumerate().filter(|(_, byte)| [b'\'', MARK_END].contains(byte)).map(|(at, _)| at);
    ends.filter_map(|at| possessive(text, at))
}

/// The word before the apostrophe whose last byte is there.
fn possessive(text: &str, apostrophe: usize) -> Option<&str> {
    let behind = text.get(apostrophe + 1..)?.strip_prefix('s')?;
    let before = text[..=apostrophe].strip_suffix(['\'', '\u{2019}'])?;
    if !behind.is_empty() && !behind.starts_with(char::is_whitespace) {
        return None;
    }
    before.rsplit(char::is_whitespace).next()
}

/// The text between spaces, without the marks around it.
pub(super) fn bare_words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()))
}

/// A bare word in small letters, with the apostrophe of ASCII.
pub(super) fn normal(word: &str) -> String {
    word.to_lowercase().replace('\u{2019}', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_spoken_of_beside_the_user_is_told() {
        for (text, told) in [
            ("My father's blood group is O.", &["father", "father"][..]),
            ("The user's son has shoe size 38", &["son"]),
            ("Anna\u{2019}s older brother works at Acme.", &["anna", "brother"]),
            ("Our two daughters go to Oak Hill", &["daughters"]),
            ("My mother-in-law is here, and my stepson's bike", &["stepson", "mother-in-law"]),
            ("I know my mum's number", &["mother"]),
        ] {
            assert_eq!(others(text), told, "{text}");
        }
    }

    #[test]
    fn what_is_the_users_own_is_nobody_elses() {
        for text in [
            "My wife and I moved to Oslo.",
            "I moved in with my girlfriend.",
            "My dog's vet is nearby, and it's open.",
            "The user's new address is in Porto",
            "My new favourite place for a son",
            "",
        ] {
            assert_eq!(others(text), [""; 0], "{text}");
        }
        assert_eq!(persons("What is my dad's name, and my sister's?").collect::<Vec<_>>(), ["father", "sister"]);
    }
}
