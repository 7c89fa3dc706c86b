//! Rules for what somebody prefers, likes, uses and switches to, and for the slot that such a value has.

use super::Category;
use super::health::before_so;
use super::lexicon::{CLASSES, FILLERS};
use super::lists::lists;
use super::orders;
use super::person::{home, is_place};
use super::reading::Reading;
use super::rules::preamble;
use super::sentence::Sentence;
use super::tools::Tool;
use super::words::{among, starts, words};

lists! { "prefers":
    /// How somebody says what they prefer.
    PREFERS,
    /// How somebody says what they like and dislike.
    TASTES,
    /// Words behind a value of a class that leave it what it is: "dark MODE", "Visual Studio CODE".
    OF_CLASS,
    /// Such words behind a diet: "vegan FOOD".
    FOODS,
    /// Last words of reasons for which people move house.
    WHY_MOVED,
    /// How somebody says by what they want to be reached.
    CONTACTS,
}

/// The slot of a value: its purpose, else the class of things that it is one of. "Dark mode" is a theme. In "dark chocolate" another noun
/// follows the word, and it names none.
pub(super) fn slot_of(value: &str, purpose: Option<&str>) -> Option<String> {
    let value = value.to_lowercase();
    let words: Vec<&str> = value.split_whitespace().map(|word| word.trim_matches([',', '.', '!', '(', ')'])).collect();
    let goes_on = |class: &str, word: &str| {
        let of_class = among(&OF_CLASS, word) || class == "diet" && among(&FOODS, word);
        of_class || word.is_empty() || word.starts_with(|first: char| first.is_ascii_digit())
    };
    let is_one = |class: &str, values: &[&str], at: usize| {
        values.contains(&words[at]) && words[at + 1..].iter().all(|next| goes_on(class, next) || values.contains(next))
    };
    let class = CLASSES.iter().find(|(class, values)| (0..words.len()).any(|at| is_one(class, values, at)));
    match (class, purpose) {
        (Some((class, _)), Some(purpose)) => Some(format!("{class} for {purpose}")),
        (Some((class, _)), None) => Some((*class).to_owned()),
        (None, purpose) => purpose.map(str::to_owned),
    }
}

/// "I prefer tabs over spaces", "I like tea better", "my favourite is", "I hate", "I'd rather".
pub(super) fn prefers(s: &Sentence<'_>) -> Option<Reading> {
    if let Some(at) = CONTACTS.iter().filter_map(|opening| starts(s.words, 0, opening)).max() {
        let by = ["by", "via", "through", "on", "over"].contains(&s.word(at)) && at + 1 < s.words.len() && s.words.len() <= at + 4;
        return by.then(|| Reading { importance: 600, ..Reading::new(Category::Preference, "how to be reached").slot("contact") });
    }
    // "I use light mode now" is "I now use light mode".
    let ends_now = || s.words.iter().rfind(|word| !word.is_mark()).is_some_and(|word| word.lower == "now");
    let uses = || starts(s.words, 0, "i use").filter(|at| ends_now() && !among(&NO_TASTE, s.word(*at)));
    let opening = PREFERS.iter().find_map(|opening| starts(s.words, 0, opening)).or_else(uses);
    if let Some(at) = opening {
        // "I prefer Rust for scripts now": the purpose is over before it.
        let last = s.words.iter().rposition(|word| !word.is_mark() && word.lower != "now").map_or(0, |last| last + 1);
        let s = &Sentence { text: s.text, words: &s.words[..last.max(at)] };
        if s.negated(at) {
            return Some(Reading::new(Category::Preference, "dislike"));
        }
        let (value, end) = s.value(at)?;
        if is_choice(&value) || stands_for(s, at) {
            return None;
        }
        let mut reading = Reading::new(Category::Preference, "prefers");
        reading.slot = slot_of(&value, s.purpose(end).as_deref());
        return Some(reading);
    }
    let taste = TASTES.iter().find_map(|opening| starts(s.words, 0, opening))?;
    let idle = among(&NO_TASTE, s.word(taste)) && !is_named_taste(s, taste) || before_so(s, taste - 1) > 14;
    if s.word(taste - 1).starts_with("veg") {
        return Some(Reading::new(Category::Preference, "diet").slot("diet"));
    }
    (!idle && taste < s.words.len()).then(|| Reading { importance: 600, ..Reading::new(Category::Preference, "taste") })
}

/// Words behind "I love" and "I hate" that name no taste.
const NO_TASTE: [&str; 18] =
    ["it", "that", "this", "to", "how", "them", "your", "the", "what", "you", "when", "if", "where", "these", "those", "him", "her", "us"];

/// Whether a word of [`NO_TASTE`] begins a name: "US history", "The Wire". "I LOVE IT" and "I hate THIS so much" have none.
fn is_named_taste(s: &Sentence<'_>, at: usize) -> bool {
    const PERSONS: [&str; 5] = ["you", "your", "him", "her", "them"];
    let is_object = ["it", "this", "that", "us", "these", "those"].contains(&s.word(at));
    let goes_on = s.words.get(at + 1).is_some_and(|next| !(next.is_mark() || is_object && among(&FILLERS, &next.lower)));
    s.words[at].capital && !s.words[at - 1].capital && !among(&PERSONS, s.word(at)) && goes_on
}

/// "Option B", "the second one", "the latter": one of what was just named, which says nothing of another day.
fn is_choice(value: &str) -> bool {
    let words = words(value);
    let first = words.iter().position(|word| word.lower != "the").unwrap_or(0);
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let numbered = ["option", "choice", "variant", "version", "number", "answer"].contains(&word(first))
        && (words.len() == first + 1 || word(first + 1).len() <= 2);
    let points =
        ["latter", "former", "first", "second", "third", "last", "other", "original"].contains(&word(first)) && words.len() <= first + 2;
    let last = words.last().filter(|word| !word.capital);
    numbered || points && first > 0 || last.is_some_and(|word| ["one", "ones"].contains(&word.lower.as_str()))
}

/// "I prefer it on Saturday", "I would prefer one that is held on Monday": something that was just spoken of, on this occasion. "I prefer it
/// when you ask first" says how things are to be.
fn stands_for(s: &Sentence<'_>, at: usize) -> bool {
    let lasts = ["when", "if", "that", "as"].contains(&s.word(at + 1));
    s.word(at) == "one" || ["it", "them"].contains(&s.word(at)) && !lasts
}

/// "we use Kafka for events": the slot is what it is for.
pub(super) fn uses(s: &Sentence<'_>) -> Option<Reading> {
    let at = ["we use", "we're using", "we are using", "i use", "we now use", "we run"]
        .iter()
        .find_map(|opening| starts(s.words, 0, opening))?;
    let (value, end) = s.value(at)?;
    let mut reading = Reading::new(if s.word(0) == "i" { Category::Preference } else { Category::Semantic }, "used for");
    let is_new = s.word(0) == "we" && s.words.iter().any(|word| word.lower == "now");
    reading.replaces = orders::denied_at_end(s).filter(|_| is_new);
    if (end..s.words.len()).any(|at| s.excepts(at)) {
        return Some(reading);
    }
    reading.slot = match s.purpose(end) {
        Some(purpose) => slot_of(&value, Some(&purpose)),
        None if s.is_for_all(end) => slot_of(&value, None),
        None => return None,
    };
    Some(reading)
}

/// "I switched from Python to Go for scripting", "we moved to Postgres", "I now use Zed", "I'm back to Vim".
pub(super) fn switched(s: &Sentence<'_>) -> Option<Reading> {
    let subject = starts(s.words, 0, "i")
        .or_else(|| starts(s.words, 0, "we"))
        .or_else(|| starts(s.words, 0, "i've"))
        .or_else(|| starts(s.words, 0, "we've"))?;
    let at = subject + usize::from(["have", "just", "recently", "finally", "actually", "also"].contains(&s.word(subject)));
    let at = at + usize::from(["just", "recently", "finally", "now"].contains(&s.word(at)));
    if let Some(reading) = traded(s, at) {
        return Some(reading);
    }
    let verb = ["switched", "migrated", "changed", "converted", "moved", "went back", "gone back"]
        .iter()
        .find_map(|verb| starts(s.words, at, verb))?;
    let verb = starts(s.words, verb, "over").or_else(|| starts(s.words, verb, "back")).unwrap_or(verb);
    let from = ["from", "away from", "out of"].iter().find_map(|from| starts(s.words, verb, from));
    let begin = verb;
    let (old, verb) = match from {
        Some(from) => {
            let to = (from..s.words.len()).find(|at| s.word(*at) == "to")?;
            (s.between(from, to), to)
        }
        None => (None, moved_thing(s, verb).filter(|_| s.word(verb - 1) != "changed").unwrap_or(verb)),
    };
    let to = starts(s.words, verb, "to")?;
    let (value, end) = s.value(to)?;
    let is_reason = |purpose: &String| purpose.split(' ').next_back().is_some_and(|last| among(&WHY_MOVED, last));
    let thing = || {
        (from.is_none() && begin + 1 < to)
            .then(|| s.between(begin, to - 1))
            .flatten()
            .map(|thing| without_article(&thing.to_lowercase()).to_owned())
    };
    let purpose = s.purpose(end).or_else(thing).filter(|purpose| s.word(at) != "moved" || !is_reason(purpose));
    let slot = slot_of(&value, purpose.as_deref());
    let left_place = from.is_none_or(|from| is_place(s, from)); // "we moved from Heroku to Fly"
    if left_place && slot.is_none() && s.word(at) == "moved" {
        let is_tool = s.word(0) == "we" && s.words[to].capital && end == s.words.len();
        return if is_place(s, to) {
            Some(home(s, &value, end))
        } else {
            is_tool.then(|| Reading::new(Category::Semantic, "switched")) // "we moved to Azure DevOps"
        };
    }
    let category = if is_taste(s, old.as_deref(), &value) { Category::Preference } else { Category::Semantic };
    let replaces = old.or_else(|| instead_of(s));
    Some(Reading { slot, replaces, importance: 700, ..Reading::new(category, "switched") })
}

/// Whether somebody went over to a thing of their own choice, as a tool. Things of "us" are facts, and so are a room, a team, a time
/// and a number: "I switched from the 10:00 to the 11:00 standup".
fn is_taste(s: &Sentence<'_>, old: Option<&str>, new: &str) -> bool {
    if s.word(0).starts_with("we") {
        return false;
    }
    let Some(old) = old else { return true };
    let first = |value: &str| value.split(' ').next().unwrap_or_default().to_lowercase();
    let is_same = first(old) == first(new) || new.bytes().any(|byte| byte.is_ascii_digit()) || new.starts_with("the ");
    !is_same || slot_of(new, None).is_some() || Tool::has_class(&new.to_lowercase())
}

/// Whether a text says that somebody went from one thing to another. It says so of what they use or have, and of nothing else that is known.
#[must_use]
pub fn is_switch(text: &str) -> bool {
    let own = words(text);
    let s = Sentence { text, words: &own };
    let rest = Sentence { text, words: &own[preamble(&s)..] };
    switched(&rest).is_some_and(|reading| reading.replaces.is_some())
}

/// "I ditched | Clockify for Toggl": one for another, and nothing else.
fn traded(s: &Sentence<'_>, verb: usize) -> Option<Reading> {
    const MOST: usize = 2;
    if !["ditched", "dumped", "dropped", "swapped", "traded", "binned"].contains(&s.word(verb)) {
        return None;
    }
    let to = (verb + 2..=verb + 1 + MOST).find(|at| s.word(*at) == "for")?;
    let last = s.words.iter().rposition(|word| !word.is_mark() && word.lower != "now")? + 1;
    let is_name = |from: usize, end: usize| {
        let plain = |at: usize| s.word(at).chars().all(char::is_alphanumeric) && !among(&FILLERS, s.word(at));
        (1..=MOST).contains(&end.saturating_sub(from)) && (from..end).all(plain) && !(from + 1..end).any(|at| s.parted(at))
    };
    let (old, new) = (s.between(verb + 1, to)?, s.between(to + 1, last)?);
    (is_name(verb + 1, to) && is_name(to + 1, last)).then(|| {
        let slot = slot_of(&new, None);
        let category = if is_taste(s, Some(&old), &new) { Category::Preference } else { Category::Semantic };
        Reading { slot, replaces: Some(old), importance: 700, ..Reading::new(category, "switched") }
    })
}

fn without_article(thing: &str) -> &str {
    ["my ", "our ", "the ", "all "].iter().find_map(|article| thing.strip_prefix(article)).unwrap_or(thing)
}

/// The word "to" behind a thing that was moved to a tool: "we migrated billing | to `MySQL`".
fn moved_thing(s: &Sentence<'_>, at: usize) -> Option<usize> {
    const MOST_THING: usize = 3;
    let to = (at + 1..=at + MOST_THING).find(|to| s.word(*to) == "to")?;
    let (value, end) = s.value(to + 1)?;
    let is_thing = (at..to).all(|word| !s.words[word].capital && !s.parted(word));
    let of_work = slot_of(&value, None).is_some_and(|class| ["database", "programming language", "operating system"].contains(&&*class));
    (is_thing && end == s.words.len() && of_work).then_some(to)
}

/// "Kafka" of "we decided for NATS instead of Kafka".
pub(super) fn instead_of(s: &Sentence<'_>) -> Option<String> {
    let at = s.words.iter().position(|word| word.lower == "instead").filter(|at| s.word(at + 1) == "of")?;
    s.value(at + 2).map(|(old, _)| old)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::tests::stored;

    #[test]
    fn a_thing_that_was_moved_to_a_tool_is_what_that_is_for() {
        let slot = |text: &str| stored(text).into_iter().next().and_then(|claim| claim.slot);
        assert_eq!(slot("We migrated billing to MySQL.").as_deref(), Some("database for billing"));
        assert_eq!(slot("We use Postgres for billing.").as_deref(), Some("database for billing"));
        assert_eq!(slot("I've gone vegan.").as_deref(), Some("diet"));
        assert_eq!(slot("I'm dating Sam.").as_deref(), Some("partner"));
        assert_eq!(slot("I'm dating someone new."), None);
        assert_eq!(slot("We moved my mother to Ghent.").as_deref(), None);
        assert_eq!(slot("I changed the cuisine to vegetarian.").as_deref(), Some("cuisine"));
    }

    #[test]
    fn what_we_went_over_to_is_a_fact_and_what_somebody_chose_a_preference() {
        let one = |text: &str| stored(text).into_iter().find(|claim| claim.reason == "rule: switched");
        for text in [
            "we moved from room 4 to room 5",
            "we moved from jenkins to github actions",
            "we moved from 3 replicas to 5",
            "I switched from the 10:00 to the 11:00 standup",
            "we switched from us-east-1 to eu-west-1",
            "i switched from team identity to team billing",
            "we moved from mondays to thursdays for retro",
            "we migrated from travis to circleci",
            "We switched from feature branches to trunk.",
            "we ditched jenkins for buildkite",
            "I moved from desk 12 to desk 40",
        ] {
            let claim = one(text).unwrap_or_else(|| panic!("{text}: {:?}", stored(text)));
            assert_eq!(claim.category, Category::Semantic, "{text}");
            assert!(claim.replaces.is_some(), "{text}");
        }
        for text in [
            "i moved from python to rust",
            "I switched from Vim to Emacs.",
            "I switched from Windows 10 to Windows 11.",
            "I switched from coffee to tea",
            "I've switched from cow's milk to oat milk",
            "I ditched Clockify for Toggl",
        ] {
            assert_eq!(one(text).map(|claim| claim.category), Some(Category::Preference), "{text}: {:?}", stored(text));
        }
    }

    #[test]
    fn a_class_has_what_is_of_it_and_no_word_that_merely_stands_there() {
        for (value, class) in [
            ("dark mode", Some("theme")),
            ("Python 3.12", Some("programming language")),
            ("VS Code", Some("editor")),
            ("the Rust language", Some("programming language")),
            ("tea and coffee", Some("hot drink")),
            ("dark roast coffee", Some("hot drink")),
            ("vegan food", Some("diet")),
            ("dark chocolate", None),
            ("light beer", None),
            ("light meals", None),
            ("Go board games", None),
            ("imperial stouts", None),
            ("spaces with a view", None),
        ] {
            assert_eq!(slot_of(value, None).as_deref(), class, "{value}");
        }
    }

    #[test]
    fn what_is_used_for_everything_is_kept() {
        for (text, slot) in [
            ("I use Vim for everything I write.", Some("editor")),
            ("We use Postgres for everything.", Some("database")),
            ("I use Vim for coding.", Some("editor for coding")),
        ] {
            let claims = stored(text);
            assert!(claims.len() == 1 && claims[0].slot.as_deref() == slot, "{text}: {claims:?}");
        }
    }
}
