//! Whose something is that a text speaks of, where it is not the user's: "Bob's", "my mother's", "my daughter is allergic to ...".

use super::newest::says_change;
use super::words::{Words, in_small_letters, is_any, normal, without_s};
use crate::gate::{Beginnings, is_being, may_be_being};
use crate::process::Lazy;
use crate::text::is_filler_written;

/// Words of who asks, and of how others write of them.
pub(super) const OWN: [&str; 12] = ["i", "me", "my", "mine", "we", "us", "our", "ours", "i'm", "i've", "user", "user's"];

/// Their first letters.
const OWN_BEGINS: [u8; 5] = *b"imwou";
/// Bytes of the longest of them, with a typographic apostrophe.
const LONGEST_OWN: usize = "user\u{2019}s".len();
/// Words by which people speak of somebody beside themselves. Those of one line are one person to them.
const PERSONS: [&[&str]; 31] = [
    &["mother", "mum", "mom", "mama", "mummy", "mommy"],
    &["father", "dad", "papa", "daddy"],
    &["parents", "parent"],
    &["partner", "spouse", "wife", "husband", "hubby", "girlfriend", "boyfriend", "fianc\u{e9}", "fianc\u{e9}e", "fiance", "fiancee"],
    &["child", "children", "kid", "kids"],
    &["baby", "toddler"],
    &["daughter"],
    &["daughters"],
    &["son"],
    &["sons"],
    &["sister", "sis"],
    &["sisters"],
    &["brother", "bro"],
    &["brothers"],
    &["sibling", "siblings"],
    &["twin", "twins"],
    &["grandmother", "grandma", "granny", "gran", "nan", "nana"],
    &["grandfather", "grandpa", "granddad", "grandad"],
    &["grandparents"],
    &["grandson", "grandsons"],
    &["granddaughter", "granddaughters"],
    &["grandchild", "grandchildren", "grandkid", "grandkids"],
    &["aunt", "auntie", "aunts", "aunties"],
    &["uncle", "uncles"],
    &["cousin", "cousins"],
    &["nephew", "nephews"],
    &["niece", "nieces"],
    &["friend", "friends"],
    &["neighbour", "neighbor", "neighbours", "neighbors"],
    &["colleague", "colleagues", "coworker", "coworkers"],
    &["flatmate", "flatmates", "roommate", "roommates", "housemate", "housemates"],
];
/// Each of them with the first of its line, in order.
static SORTED: Lazy<Vec<(&str, &str)>> = Lazy::new(|| {
    let mut sorted: Vec<_> = PERSONS.iter().flat_map(|words| words.iter().map(|word| (*word, words[0]))).collect();
    sorted.sort_unstable();
    sorted
});
/// How they begin, those of another family as well.
static BEGINNINGS: [Beginnings; 2] = [Beginnings::of(&PERSONS), Beginnings::of(&[&[STEP]])];
/// Before such a word, it is for somebody of another family.
const STEP: &str = "step";
/// Between "my" and such a word are at most so many others ("my two older brothers").
const MOST_BETWEEN: usize = 2;
/// Owners whose apostrophe is that of "is".
const NOBODY: [&str; 10] = ["it", "that", "what", "here", "there", "let", "who", "where", "how", "when"];
/// Times that have something: "today's", "this year's".
const TIMES: [&str; 14] = [
    "today",
    "yesterday",
    "tomorrow",
    "tonight",
    "week",
    "month",
    "year",
    "day",
    "night",
    "morning",
    "evening",
    "weekend",
    "now",
    "season",
];
/// Words by which a text speaks of the user, and not only of something of the user's.
const ONESELF: [&str; 8] = ["i", "me", "we", "us", "i'm", "i've", "mine", "ours"];
/// Letters of the shortest verb by which somebody does something: "owns".
const SHORTEST_VERB: usize = 4;
/// Verbs by which a text says how somebody is, or what they do each time.
const SAYS_HOW: [&str; 13] = ["is", "are", "was", "has", "have", "lives", "works", "prefers", "likes", "takes", "drinks", "eats", "weighs"];

/// Those whose something a text speaks of, and whom its first words are about: "daughter" of "My daughter is ...".
pub(super) fn others(text: &Words<'_>) -> Vec<String> {
    let persons = text.owners.iter().filter_map(|word| person(word.trim_start_matches(|letter: char| !letter.is_alphanumeric())));
    let others = owners(text).chain(persons).chain(owners_behind_of(text)).chain(first_owner(text)).chain(first_spoken_of(text));
    others.chain(first_doer(text)).collect()
}

/// "kofi" of "Kofi laughed at my boss", who does something with what is the user's. "Nordbank is my bank" and "Acme hired me" are about the
/// user, as is "Finally sold my car", and "Jonas moved my desk to room 3" says where it is now.
fn first_doer(text: &Words<'_>) -> Option<String> {
    let mut words = text.bare.iter().copied().filter(|word| !word.is_empty());
    let (name, verb) = (words.next()?, words.next()?);
    let mut letters = name.chars();
    let is_capital = letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase);
    let is_name = is_capital && !name.ends_with("ly") && living(name).is_none() && !is_filler_written(name);
    let does = verb.len() >= SHORTEST_VERB
        && verb.bytes().all(|byte| byte.is_ascii_lowercase())
        && (verb.ends_with("ed") || verb.ends_with('s') && !verb.ends_with("ss"));
    let of_user = |word: &&str| is_any(&normal(word), &ONESELF);
    let is_it = is_name && does && words.any(is_own) && !text.bare.iter().any(of_user) && !says_change(&text.bare);
    is_it.then(|| normal(without_s(name)))
}

/// Whether a text calls one of these by one of the names: "My daughter Lea takes lessons".
pub(super) fn is_called(text: &Words<'_>, other: &str, names: &[String]) -> bool {
    let mut pairs = text.bare.iter().zip(text.bare.iter().skip(1));
    pairs.any(|(word, name)| names.contains(&normal(without_s(name))) && living(word).as_deref() == Some(other))
}

/// "client" of "My client's passport number is ...".
fn first_owner(text: &Words<'_>) -> Option<String> {
    let plain =
        behind_owner(text)?.take(MOST_BETWEEN + 1).find_map(|word| Some(without_s(word)).filter(|plain| plain.len() < word.len()))?;
    let is_thing = |owner: &String| plain.starts_with(char::is_lowercase) && !is_nobody(owner) && !TIMES.contains(&owner.as_str());
    if person(plain).is_some() { None } else { Some(normal(plain)).filter(is_thing) }
}

fn is_nobody(owner: &str) -> bool {
    OWN.contains(&owner) || NOBODY.contains(&owner)
}

/// Everybody whom a text mentions by such a word, or by one for an animal or for somebody of a trade.
pub(super) fn living_ones(text: &Words<'_>) -> impl Iterator<Item = String> {
    text.bare.iter().filter_map(|word| living(without_s(word)))
}

/// "wife" of "the shoe size of my wife".
fn owners_behind_of(text: &Words<'_>) -> impl Iterator<Item = String> {
    let mut words = text.bare.iter().copied();
    std::iter::from_fn(move || {
        words.find(|word| word.eq_ignore_ascii_case("of"))?;
        let owner = words.next().filter(|word| is_own(word)).and_then(|_| words.next());
        Some(owner.and_then(living))
    })
    .flatten()
}

/// Whom a word means that has something: a person, or what the write gate knows for living.
fn living(word: &str) -> Option<String> {
    let being = |lower: &[u8]| std::str::from_utf8(lower).ok().filter(|lower| is_being(lower)).map(str::to_owned);
    person(word).or_else(|| if may_be_being(word) { in_small_letters(word, being) } else { None })
}

fn is_own(word: &str) -> bool {
    word.eq_ignore_ascii_case("my") || word.eq_ignore_ascii_case("our")
}

/// The persons whom a text mentions by such a word, anywhere.
pub(super) fn persons(text: &Words<'_>) -> impl Iterator<Item = String> {
    text.bare.iter().filter_map(|word| person(without_s(word)))
}

/// "daughter" of "My daughter is ...", but nobody of "My wife and I moved ...". Of a dog or a boss only where a text says how they are: "My
/// hairdresser is Ann" says who that is, and "My boss moved the meeting" is about the meeting.
fn first_spoken_of(text: &Words<'_>) -> Option<String> {
    let mut words = behind_owner(text)?;
    let one = words.by_ref().take(MOST_BETWEEN + 1).map(without_s).find(|word| living(word).is_some())?;
    let verb = words.next();
    if let Some(person) = person(one) {
        return (verb != Some("and")).then_some(person);
    }
    if is_named(one, verb) {
        return Some(one.to_lowercase());
    }
    let value = words.find(|word| !["now", "called", "named", "still"].contains(word));
    let is_name = value.is_some_and(|value| value.starts_with(char::is_uppercase));
    (verb.is_some_and(|verb| SAYS_HOW.contains(&verb)) && !(is_name && matches!(verb, Some("is" | "are" | "was"))))
        .then(|| one.to_lowercase())
}

/// Whether a name stands right behind the word for somebody: "My dog Rex sees the vet".
fn is_named(one: &str, next: Option<&str>) -> bool {
    one.starts_with(char::is_lowercase) && next.is_some_and(|next| next.starts_with(char::is_uppercase))
}

/// The words behind "My", "The user's" and the like with which a text begins.
fn behind_owner<'t>(text: &Words<'t>) -> Option<impl Iterator<Item = &'t str>> {
    let mut words = text.bare.iter().copied().filter(|word| !word.is_empty());
    let is_owner = |word: &str| is_own(word) || without_s(word) != word && !NOBODY.contains(&normal(without_s(word)).as_str());
    (words.next().is_some_and(is_owner) || words.next().is_some_and(is_owner)).then_some(words)
}

/// Whether a word means somebody of whom people speak so.
pub(super) fn is_person(word: &str) -> bool {
    person(word).is_some()
}

/// The person whom a word means, by the first word for that person. Of in-laws and of step-children, the word itself.
fn person(word: &str) -> Option<String> {
    if !BEGINNINGS.iter().any(|known| known.may_have(word)) {
        return None;
    }
    in_small_letters(word, |lower| {
        let lower = std::str::from_utf8(lower).ok()?;
        match lower.strip_suffix("-in-law").or_else(|| lower.strip_prefix(STEP)) {
            Some(plain) => first_word(plain.trim_start_matches('-')).map(|_| lower.to_owned()),
            None => first_word(lower).map(str::to_owned),
        }
    })
}

/// The first word for the person whom a word in small letters means.
fn first_word(word: &str) -> Option<&'static str> {
    let at = SORTED.binary_search_by_key(&word, |(known, _)| known).ok()?;
    Some(SORTED[at].1)
}

/// Those with a capital letter whose something is spoken of: "Anna" of "Anna's".
pub(super) fn owners(text: &Words<'_>) -> impl Iterator<Item = String> {
    let owners = text.owners.iter().filter(|word| word.starts_with(char::is_uppercase)).map(|word| word.to_lowercase());
    owners.filter(|owner| !is_nobody(owner))
}

/// Whether one of some bare words is of who asks.
pub(super) fn speaks_of_own<'t>(mut words: impl Iterator<Item = &'t str>) -> bool {
    let is_own = |word: &str| OWN.iter().any(|own| word.chars().map(plain).eq(own.chars()));
    let may_be = |word: &str| word.len() <= LONGEST_OWN && word.bytes().next().is_some_and(|first| OWN_BEGINS.contains(&(first | 0x20)));
    words.any(|word| may_be(word) && is_own(word))
}

fn plain(letter: char) -> char {
    if letter == '\u{2019}' { '\'' } else { letter.to_ascii_lowercase() }
}

#[cfg(test)]
mod tests {
    use super::super::words::bare_words;
    use super::*;

    #[test]
    fn words_of_who_asks_begin_with_few_letters() {
        assert!(OWN.iter().all(|own| OWN_BEGINS.contains(&own.as_bytes()[0])));
    }

    #[test]
    fn whose_something_is_told_by_words() {
        let is_own = |text: &str| speaks_of_own(bare_words(text));
        assert!(is_own("I\u{2019}ve moved") && is_own("The USER\u{2019}S editor"));
        assert!(is_own("Where do I work?") && is_own("My job") && is_own("The user's editor is Vim."));
        assert!(!is_own("MySQL runs on port 3306") && !is_own("Anna works at Acme."));
        assert_eq!(owners(&Words::of("Bob's project uses it, and it's Anna's.")).collect::<Vec<_>>(), ["bob"]);
    }

    #[test]
    fn whose_something_it_is_is_told_as_word_by_word() {
        let plain = |text: &str| -> Vec<String> {
            let owned = |word: &str| word.strip_suffix("'s").or_else(|| word.strip_suffix("\u{2019}s")).map(str::to_lowercase);
            let owners = text.split_whitespace().filter(|word| word.starts_with(char::is_uppercase)).filter_map(owned);
            let is_nobody =
                |owner: &String| OWN.contains(&owner.as_str()) || ["it", "that", "what", "here", "there", "let"].contains(&owner.as_str());
            owners.filter(|owner| !is_nobody(owner)).collect()
        };
        let words = ["Bob", "\u{c9}va", "It", "anna", "O'Brien", "", "'", "We", "\u{2019}", "X's", "Y\u{99}"];
        let ends = ["'s", "\u{2019}s", "'s.", "s", "'S", "\u{2019}", "'s's", "\u{99}s"];
        let spaces = [" ", "\u{a0}", "\n", "", "\u{3000}"];
        for (word, end) in words.iter().flat_map(|word| ends.map(|end| (word, end))) {
            for (space, other) in spaces.iter().flat_map(|space| words.map(|other| (space, other))) {
                let text = format!("{word}{end}{space}{other}{end}");
                assert_eq!(owners(&Words::of(&text)).collect::<Vec<_>>(), plain(&text), "{text:?}");
            }
        }
    }

    #[test]
    fn who_is_spoken_of_beside_the_user_is_told() {
        for (text, told) in [
            ("My father's blood group is O.", &["father", "father"][..]),
            ("The user's son has shoe size 38", &["son"]),
            ("My dog Rex sees the vet each May.", &["dog"]),
            ("Anna\u{2019}s older brother works at Acme.", &["anna", "brother"]),
            ("Our two daughters go to Oak Hill", &["daughters"]),
            ("My mother-in-law is here, and my stepson's bike", &["stepson", "mother-in-law"]),
            ("I know my mum's number", &["mother"]),
            ("My doctor's phone number is 555-0199.", &["doctor"]),
            ("Our cat's vet is nearby", &["cat"]),
            ("My client's passport number is X1, and this year's fee 5.", &["client"]),
            ("My boss prefers window seats", &["boss"]),
            ("Anna's dog is allergic to chicken.", &["anna", "dog"]),
            ("The shoe size of my wife is 33, and of the hat 57.", &["partner"]),
            ("Kofi laughed at my boss", &["kofi"]),
            ("Joost works at my old school", &["joost"]),
        ] {
            assert_eq!(others(&Words::of(text)), told, "{text}");
        }
    }

    #[test]
    fn who_is_called_by_a_name_is_no_other() {
        let lea = ["lea".to_owned()];
        let is_called = |text: &str, other: &str| is_called(&Words::of(text), other, &lea);
        assert!(is_called("My daughter Lea takes lessons", "daughter") && is_called("Our dog Lea\u{2019}s vet is near", "dog"));
        assert!(!is_called("My daughter takes lessons with Lea", "daughter") && !is_called("My son Lea", "daughter"));
    }

    #[test]
    fn each_word_for_a_person_is_found() {
        for words in PERSONS {
            assert!(words.iter().all(|word| person(&word.to_uppercase()).as_deref() == Some(words[0])), "{words:?}");
        }
        for (word, known) in
            [("Step-Mother", Some("step-mother")), ("brother-in-law", Some("brother-in-law")), ("mothers", None), ("", None)]
        {
            assert_eq!(person(word).as_deref(), known);
        }
        assert!(person(&"mother".repeat(20)).is_none());
    }

    #[test]
    fn what_is_the_users_own_is_nobody_elses() {
        for text in [
            "My wife and I moved to Oslo.",
            "I moved in with my girlfriend.",
            "My rent for this year's 900, and it's due.",
            "It's a child seat that I use.",
            "My new physician is Dr. Silva, of the clinic.",
            "My hairdresser is Ann.",
            "My boss moved the free day to Friday since the doctor's advice.",
            "The user's new address is in Porto",
            "Nordbank is my bank",
            "Acme hired me, as my brother knows",
            "Finally sold my car",
            "Jonas moved my desk to room 3",
            "Doctor called my dose high",
            "Switched my gym to FitNow",
            "My new favourite place for a son",
            "",
        ] {
            assert_eq!(others(&Words::of(text)), [""; 0], "{text}");
        }
        assert_eq!(persons(&Words::of("What is my dad's name, and my sister's?")).collect::<Vec<_>>(), ["father", "sister"]);
        assert_eq!(living_ones(&Words::of("What is my boss's name, and my dad's?")).collect::<Vec<_>>(), ["boss", "father"]);
    }
}
