//! Rules for facts of somebody or something that has a name: "Luca is allergic to shellfish", "Mia's teacher is Mrs. Bianchi", "Tom is my
//! manager", "payments-api runs on vega-05", "INV-2031 is due on May 3".
//!
//! A name has a capital, or is written as identifiers are: with a digit, a hyphen or an underscore. Sentences about what everybody knows have
//! names, too ("Linux runs on phones"), so that of a thing only what it has ("Acme's contract") or what an identifier does is kept.

use super::family::{OfOthers, as_oneself, as_over, is_all_of_it, read_as, says_no_more};
use super::guards::ASKS;
use super::health::is_degree;
use super::lexicon::FILLERS;
use super::lists::lists;
use super::reading::Reading;
use super::sentence::Sentence;
use super::told::NO_NAMES;
use super::tools::Tool;
use super::values::{identifies, spelled};
use super::words::{Word, among, starts, words};
use super::{Category, DENIAL};
use crate::units::calendar::is_named;

lists! { "named":
    /// Words with a capital at the beginning of a sentence that name nobody.
    NOBODY,
    /// Verbs of what somebody does or likes for long.
    DOES,
    /// Verbs by which a service, a host or a document of work is told of.
    OF_SERVICES,
    /// Verbs of whatever has a number in its name.
    OF_THINGS,
    /// How a ticket, a release or a document with a number ends.
    ENDS,
    /// Roles that somebody is alone in at a time.
    ROLES,
    /// Attributes that everybody knows of a country or a work.
    KNOWN,
    /// Words by which a sentence tells of this moment, or supposes something.
    PASSES,
}

/// Words behind how something ended.
const HOW_ENDED: [&str; 11] = ["now", "again", "by", "on", "as", "since", "with", "in", "already", "after", "and"];
/// Words of a name at most.
const MOST_NAME: usize = 2;
/// Words of such a sentence at most.
const MOST_WORDS: usize = 14;

/// The health of somebody by name: "Luca is allergic to shellfish". A fact, as that of others whom somebody knows.
pub(super) fn health_of_named(s: &Sentence<'_>) -> Option<Reading> {
    const TELLS: [&str; 13] =
        ["is", "isn't", "no", "has", "can't", "cannot", "doesn't", "never", "eats", "drinks", "avoids", "also", "still"];
    let is_all = |behind: usize| s.word(behind) != "isn't" || !["only", "just"].contains(&s.word(behind + 1));
    let spoken = somebody(s).filter(|behind| among(&TELLS, s.word(*behind)) && is_all(*behind)); // "latex gives me a rash"
    if let Some(behind) = spoken.or_else(|| contracted(s)) {
        return health_behind(s, behind);
    }
    let named = in_small_letters(s)?;
    let s = &Sentence { text: s.text, words: &named };
    health_behind(s, somebody(s).or_else(|| contracted(s))?)
}

/// The words of a sentence in small letters that says of somebody what they are allergic to, the name with its capital: "lena's allergic to
/// eggs".
fn in_small_letters(s: &Sentence<'_>) -> Option<Vec<Word>> {
    let name = s.word(0).strip_suffix("'s");
    let at = if name.is_some() { 1 } else { starts(s.words, 1, "is")? };
    let how = starts(s.words, at, "no longer").unwrap_or(at + usize::from(is_degree(s.word(at))));
    let allergic = starts(s.words, how, "allergic to");
    let name = name.unwrap_or_else(|| s.word(0));
    let somebody = name.len() > 2 && !among(&FILLERS, name) && !among(&ASKS, name) && !name.ends_with("body") && !name.ends_with("one");
    (allergic.is_some() && somebody && !s.words.iter().any(|word| word.capital)).then(|| {
        let mut words = s.words.to_vec();
        words[0].capital = true;
        words
    })
}

/// The health of somebody by a pronoun: "she's allergic to shellfish", "he can't eat gluten".
pub(super) fn health_of_somebody(s: &Sentence<'_>) -> Option<Reading> {
    if !["he", "he's", "she", "she's", "they"].contains(&s.word(0)) || s.words.len() < 2 {
        return None;
    }
    health_behind(s, 1)
}

/// The health of somebody who is named before a word.
fn health_behind(s: &Sentence<'_>, behind: usize) -> Option<Reading> {
    let own = as_oneself(s, behind)?;
    let read = match read_as(&own, false)? {
        OfOthers::Denied(denied) => {
            let who = s.between(0, behind).filter(|_| says_no_more(s, behind))?;
            return Some(Reading::new(Category::Semantic, DENIAL).text(format!("{who} {}", as_over(s, &denied))));
        }
        OfOthers::Told(read) => read,
    };
    let tells = ["allergy", "health", "diet"].contains(&read.rule) && read.ends.is_none();
    (tells && is_all_of_it(s, behind)).then(|| Reading { importance: 700, ..Reading::new(Category::Semantic, super::family::RULE) })
}

/// A fact of somebody or something by name.
pub(super) fn of_named(s: &Sentence<'_>) -> Option<Reading> {
    let last = s.words.iter().rposition(|word| !word.is_mark())? + 1;
    let whole = (1..last).all(|at| !s.parted(at)) && s.words.last().is_none_or(|word| word.lower != "?");
    if !whole || !(3..=MOST_WORDS).contains(&last) || s.words.iter().any(|word| among(&PASSES, &word.lower)) {
        return None;
    }
    let s = &Sentence { text: s.text, words: &s.words[..last] };
    let fact = || Reading { importance: 500, ..Reading::new(Category::Semantic, "of a name") };
    if let Some(reading) = mine(s).or_else(|| reassigned(s)) {
        return Some(reading);
    }
    (owned(s) || does(s)).then(fact)
}

/// A fact of somebody or something by name, of a sentence that says in its middle that it is so now: "INC-482 is now assigned to Chen",
/// "ledger-db now runs on vega-05".
pub(super) fn now_of_named(s: &Sentence<'_>) -> Option<Reading> {
    let at = (1..4.min(s.words.len())).find(|at| s.word(*at) == "now")?;
    let words = [&s.words[..at], &s.words[at + 1..]].concat();
    of_named(&Sentence { text: s.text, words: &words })
}

/// Whether a text begins with the name of somebody or something: it may say many things of it, and one value is none of another.
#[must_use]
pub fn begins_with_name(text: &str) -> bool {
    let own = words(text);
    let s = &Sentence { text, words: &own };
    let Some(first) = own.first() else { return false };
    let owner = first.capital && first.lower.strip_suffix("'s").is_some_and(|name| !among(&NOBODY, name));
    owner || somebody(s).is_some() || is_identifier(&first.lower)
}

/// Whether a word is written as identifiers are: "payments-api", "INV-2031".
pub(super) fn is_identifier(word: &str) -> bool {
    let signs = |sign: char| matches!(sign, '-' | '_') || sign.is_ascii_digit();
    word.contains(signs) && word.chars().any(char::is_alphabetic) && word.len() > 3
}

/// "INC-219 is resolved", "v2.4.0 is out": how something with a number in its name ended, where it says no more than by whom, when or how.
pub(super) fn has_ended(s: &Sentence<'_>) -> bool {
    let behind = s.behind(1, &ENDS);
    let goes_on = |at: usize| {
        s.word(at - 1) == "to" || s.words.get(at).is_none_or(|next| next.is_mark() || s.parted(at) || among(&HOW_ENDED, &next.lower))
    };
    let first = s.word(0);
    is_identifier(first) && first.bytes().any(|byte| byte.is_ascii_digit()) && behind.is_some_and(goes_on)
}

/// Behind the name of somebody with which a sentence begins: "Luca", "Anna Roe".
pub(super) fn somebody(s: &Sentence<'_>) -> Option<usize> {
    let is_name = |word: &Word| {
        let letters = word.lower.chars().all(|letter| letter.is_alphabetic() || letter == '-');
        word.capital && letters && word.lower.len() > 1 && !among(&NOBODY, &word.lower) && !among(&ASKS, &word.lower)
    };
    let named = |word: &Word| is_name(word) && !is_named(&word.lower) && !among(&NO_NAMES, &word.lower);
    let behind = s.words.iter().take(MOST_NAME).take_while(|word| named(word)).count();
    (behind > 0 && behind < s.words.len()).then_some(behind)
}

/// Behind the name of somebody who is contracted with "is" or "has": "Oscar's | allergic to peanuts".
fn contracted(s: &Sentence<'_>) -> Option<usize> {
    let last = (0..MOST_NAME.min(s.words.len())).find(|at| s.word(*at).ends_with("'s"))?;
    let mut name = s.words[..=last].to_vec();
    name[last].lower = name[last].lower.replace("'s", "");
    name.push(Word { lower: "is".to_owned(), ..name[last].clone() });
    let behind = somebody(&Sentence { text: s.text, words: &name })?;
    (behind == last + 1 && behind < s.words.len()).then_some(behind)
}

/// "My new manager's Oleg": whom the user has, where the verb is part of the word before the name. "My manager's Dacia" is a thing.
pub(super) fn mine_contracted(s: &Sentence<'_>) -> Option<Reading> {
    let begin = s.behind(0, &["my new", "our new", "my", "our"])?;
    let attribute = s.word(begin).strip_suffix("'s").filter(|attribute| among(&ROLES, attribute))?;
    let at = begin + 1 + usize::from(s.word(begin + 1) == "now");
    let last = s.words.iter().rposition(|word| !word.is_mark() && word.lower != "now")? + 1;
    // "My wife's Scouse" says no name.
    let is_told = s.word(begin - 1) == "new" || s.words[last..].iter().any(|word| word.lower == "now") || at > begin + 1 || last > at + 1;
    let is_name = is_told && (at..last).all(|at| s.words[at].capital && !s.parted(at) && !is_named(s.word(at)) && !Tool::names(s.word(at)));
    let value = s.between(at, last).filter(|value| is_name && last - at <= MOST_NAME + 1 && identifies(attribute, value))?;
    Some(of_role(s.word(0) == "my", attribute, &value))
}

/// Whom somebody has in a role.
fn of_role(is_mine: bool, role: &str, value: &str) -> Reading {
    let owner = if is_mine { "The user's" } else { "Our" };
    Reading::new(Category::Semantic, "attribute").text(format!("{owner} {role} is {value}.")).slot(spelled(&role.to_lowercase()))
}

/// "Tom is my manager", "Tom is now our new accountant": what is the user's, told from its value.
fn mine(s: &Sentence<'_>) -> Option<Reading> {
    const MINE: [&str; 8] = ["is my new", "is our new", "is my", "is our", "is now my new", "is now our new", "is now my", "is now our"];
    let behind = somebody(s)?;
    let my = s.behind(behind, &MINE)?;
    let last = s.words.len() - usize::from(s.words.last().is_some_and(|word| word.lower == "now"));
    let s = &Sentence { text: s.text, words: &s.words[..last] };
    let (named, end) = s.value(my)?;
    let value = s.between(0, behind)?;
    let is_mine = s.words[behind..my].iter().any(|word| word.lower == "my");
    let attribute = named.to_lowercase();
    // "Tom is my brother" says nothing of another one.
    (end == s.words.len() && among(&ROLES, &attribute) && identifies(&attribute, &value)).then(|| of_role(is_mine, &named, &value))
}

/// "INC-482 got reassigned to Chen": whose it is from now on.
fn reassigned(s: &Sentence<'_>) -> Option<Reading> {
    const REASSIGNED: [&str; 4] = ["was reassigned to", "got reassigned to", "is reassigned to", "has been reassigned to"];
    let to = s.behind(1, &REASSIGNED).filter(|_| is_identifier(s.word(0)))?;
    let (what, whom) = (s.between(0, 1)?, s.between(to, s.words.len())?);
    Some(Reading { importance: 500, ..Reading::new(Category::Semantic, "of a name").text(format!("{what} is now assigned to {whom}.")) })
}

/// "Mia's teacher is Mrs. Bianchi", "Leo's swimming is on Wednesdays": one value by its name, and no state.
fn owned(s: &Sentence<'_>) -> bool {
    let owner = &s.words[0];
    let named = owner.lower.strip_suffix("'s").filter(|name| owner.capital && !among(&NOBODY, name) && !is_named(name));
    let Some(verb) = (2..s.words.len().min(5)).find(|at| ["is", "are"].contains(&s.word(*at))) else { return false };
    let begin = verb + 1 + usize::from(["on", "at", "in", "now"].contains(&s.word(verb + 1)));
    let valued =
        |word: &Word| word.capital || is_named(word.lower.trim_end_matches('s')) || word.lower.bytes().any(|byte| byte.is_ascii_digit());
    let negated = s.negated(verb + 1);
    let known = (1..verb).any(|at| among(&KNOWN, s.word(at)));
    named.is_some() && !negated && !known && s.words.get(begin..).is_some_and(|value| value.iter().any(valued))
}

/// "Luca prefers window seats", "payments-api runs on vega-05".
fn does(s: &Sentence<'_>) -> bool {
    let behind_one_of =
        |at: usize, verbs: &[&str]| verbs.iter().any(|verb| starts(s.words, at, verb).is_some_and(|end| end < s.words.len()));
    if somebody(s).is_some_and(|behind| behind_one_of(behind, &DOES)) {
        return true;
    }
    let first = s.word(0);
    let numbered = first.bytes().any(|byte| byte.is_ascii_digit());
    // "checkout-api is on v3.14.0", and not "auth-gw is on fire"
    let placed =
        || s.behind(1, &["is on", "is at"]).is_some_and(|at| s.word(at) == "port" || s.word(at).contains('.') && is_identifier(s.word(at)));
    // "Chen owns auth-gw", and not "Google owns YouTube"
    let owned = || {
        let at = somebody(s).and_then(|behind| s.behind(behind, &["owns", "leads", "manages", "runs", "maintains"]));
        at.is_some_and(|at| s.words.len() == at + 1 && s.word(at).contains(['-', '_']) && is_identifier(s.word(at)))
    };
    is_identifier(first) && (behind_one_of(1, &OF_SERVICES) || numbered && behind_one_of(1, &OF_THINGS) || placed()) || owned()
}

#[cfg(test)]
mod tests {
    use crate::gate::Category;
    use crate::gate::tests::stored;

    #[test]
    fn a_fact_of_somebody_by_name_is_one() {
        for text in [
            "Luca is allergic to shellfish.",
            "lena's allergic to eggs",
            "lena is severely allergic to eggs",
            "Anna has celiac disease.",
            "Nadia is vegan.",
            "Leo has asthma.",
            "Mia's teacher is Mrs. Bianchi.",
            "Leo's swimming is on Wednesdays.",
            "Luca prefers window seats.",
            "Leo goes to the Girasole kindergarten.",
            "Anna Roe works at Acme.",
            "payments-api runs on vega-05.",
            "INV-2031 is due January 31.",
        ] {
            let claims = stored(text);
            let is_fact = |claim: &crate::gate::Claim| claim.category == Category::Semantic && claim.reason.starts_with("rule: ");
            assert!(claims.len() == 1 && is_fact(&claims[0]), "{text}: {claims:?}");
        }
        for text in ["Noa isn't allergic to eggs.", "Noa is not allergic to eggs."] {
            assert_eq!(stored(text).remove(0).text, "Noa is not allergic to eggs.", "{text}");
        }
        let claim = stored("Tom is my manager.").remove(0);
        assert_eq!((claim.slot.as_deref(), claim.text.as_str()), (Some("manager"), "The user's manager is Tom."));
        assert!(stored("Tom is my brother.").iter().all(|claim| claim.slot.is_none()));
    }

    #[test]
    fn a_state_a_plan_or_a_known_thing_is_none() {
        for text in [
            "Leo's shoes are wet.",
            "Leo's fever is high.",
            "OPS-7731 is blocked.",
            "That's my point.",
            "It's my turn.",
            "Kubernetes runs on Linux.",
            "Kafka supports transactions.",
            "React has a virtual DOM.",
            "Germany's capital is Berlin.",
            "b-tree uses pages.",
            "quick-sort uses a pivot.",
            "Patient has diabetes.",
            "Customer is allergic to nuts.",
            "Python uses indentation.",
            "Anna works late tonight.",
            "Maybe Luca prefers tea.",
            "What's my name is unclear.",
            "Does Luca like tea?",
            "Monday is my birthday.",
            "English is my favourite.",
        ] {
            let by_name = |claim: &crate::gate::Claim| ["rule: of a name", "rule: health of others"].contains(&claim.reason.as_str());
            assert!(!stored(text).iter().any(by_name), "{text}: {:?}", stored(text));
        }
    }
}
