//! Rules for what the user says of themselves along with others: "my wife and I are allergic to peanuts", "we're both vegan".
//!
//! Such a sentence is read as if the user spoke of themselves alone, and is kept whole: what holds for the others is nowhere else.

use super::Category;
use super::beings::{is_being, is_kin};
use super::family::{self, of_kin};
use super::health::is_for_condition;
use super::lexicon::{FILLERS, GREETINGS, TIMES};
use super::lists::lists;
use super::reading::Reading;
use super::rules;
use super::sentence::Sentence;
use super::words::{Word, among, starts, words};

lists! { "together":
    /// How somebody begins who speaks of themselves and of those with them, and is one of them by that.
    ALL_ARE,
    /// The same before a verb.
    ALL_DO,
    /// The same where none does.
    NONE_DOES,
    /// How somebody begins who says that "we" do not eat or drink something.
    WE_DO_NOT,
    /// Those whom somebody belongs to.
    GROUPS,
}

/// Others of a subject at most.
const MOST_OTHERS: usize = 6;
/// Words before somebody whom "my" names: "my older twin | brothers".
const MOST_NAME: usize = 4;

/// "My wife and I are allergic to peanuts", "me and Joris moved to Ghent", "we're both diabetic".
pub(super) fn together(s: &Sentence<'_>) -> Option<Reading> {
    let of_health = |text: String| read(&text).filter(|reading| reading.is_of_health() && reading.rule != "medicine");
    let reading = match subject(s.words) {
        Some((at, true)) => read(&of_one(s, at)?)?,
        Some((at, false)) => return of_others(s, at),
        None => of_health(of_all(s)?)?,
    };
    if reading.ends.is_some() || reading.replaces.is_some() {
        return None;
    }
    // Where others are what the slot is about as well, its next value may be the user's alone.
    let slot = reading.slot.clone().filter(|_| !reading.is_of_health());
    let category = if reading.is_of_health() { Category::Constraint } else { reading.category };
    Some(Reading { text: None, slot, category, ..reading })
}

fn read(text: &str) -> Option<Reading> {
    rules::read(&Sentence { text, words: &words(text) })
}

/// "My wife and my son are allergic to nuts": several others, of whom the sentence is kept whole.
fn of_others(s: &Sentence<'_>, at: usize) -> Option<Reading> {
    let health = read(&of_one(s, at)?).is_some_and(|reading| reading.is_of_health());
    let own = s.words[..at].iter().any(|word| ["my", "our"].contains(&word.lower.as_str()));
    let kin = || s.words[..at].iter().any(|word| is_kin(&word.lower));
    match (own, health) {
        (true, true) if kin() => Some(of_kin()),
        (true, true) => Some(Reading { importance: 700, ..Reading::new(Category::Semantic, family::RULE) }),
        (true, false) => (s.word(at) == "are").then(|| Reading::new(Category::Semantic, "of others")),
        _ => None,
    }
}

/// The sentence as the user would say it of themselves alone; `at` is its verb.
fn of_one(s: &Sentence<'_>, at: usize) -> Option<String> {
    let none = s.word(0) == "neither";
    let verb = at + usize::from(["both", "all", "also"].contains(&s.word(at)));
    if s.word(verb) == "are" {
        let begin = verb + 1 + usize::from(["both", "all"].contains(&s.word(verb + 1)));
        return Some(format!("I'm {}{}", if none { "not " } else { "" }, s.between(begin, s.words.len())?));
    }
    Some(format!("I {}{}", if none { "never " } else { "" }, s.between(verb, s.words.len())?))
}

/// The same of "we're both ...".
fn of_all(s: &Sentence<'_>) -> Option<String> {
    let opened = |openings: &[&str]| openings.iter().filter_map(|opening| starts(s.words, 0, opening)).max();
    let behind = |at: usize| s.between(at, s.words.len());
    let plain = || opened(&["we're", "we are"]).filter(|at| is_for_condition(&s.words[*at..s.words.len().min(at + 3)]));
    if let Some(at) = opened(&ALL_ARE).or_else(plain) {
        let figurative = ["blind", "deaf"].contains(&s.word(at)); // "we're blind without metrics"
        return if figurative { None } else { Some(format!("I'm {}", behind(at)?)) };
    }
    if let Some(at) = opened(&NONE_DOES) {
        let verb = s.word(at).strip_suffix('s').unwrap_or(s.word(at)).to_owned();
        return Some(format!("I never {verb} {}", behind(at + 1)?));
    }
    opened(&ALL_DO).or_else(|| opened(&WE_DO_NOT).map(|_| 1)).and_then(|at| Some(format!("I {}", behind(at)?)))
}

/// Where the subject of words is over that begin with several, and whether the user is one of them: "my wife and I | are", "me and my son |
/// can't", "my wife and my son | are".
pub(super) fn subject(words: &[Word]) -> Option<(usize, bool)> {
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let mut at = usize::from(["both", "neither"].contains(&word(0)));
    let (mut user, mut others) = (false, 0);
    loop {
        let is_user = ["i", "me", "myself"].contains(&word(at));
        if is_user && others > 0 && !["and", "nor"].contains(&word(at - 1)) {
            return None; // "forget Porto, I live in Lisbon"
        }
        user |= is_user;
        others += usize::from(!is_user);
        at = if is_user { at + 1 } else { somebody(words, at)? };
        let joined = ["and", "nor"].contains(&word(at));
        if others > MOST_OTHERS || !joined && others + usize::from(user) > 1 {
            break;
        }
        at += usize::from(joined);
    }
    let alone = ["am", "was", "will", "would", "is", "has"].contains(&word(at)); // "she is a friend of Tom and I am ..."
    (others > 0 && at < words.len() && !alone && !words[at].is_mark()).then_some((at, user))
}

/// Where somebody is over whose name, or what they are to the user, begins at a word: "Joris", "my wife Els", "the kids".
fn somebody(words: &[Word], at: usize) -> Option<usize> {
    let named = |at: usize| {
        words.get(at).is_some_and(|word| {
            let idle = [&FILLERS[..], &GREETINGS, &TIMES].iter().any(|list| among(list, &word.lower));
            word.capital && !word.is_number() && !idle
        })
    };
    let behind_name = |at: usize| at + usize::from(named(at)) + usize::from(named(at) && named(at + 1));
    let owner = words.get(at)?;
    if ["my", "our", "the"].contains(&owner.lower.as_str()) {
        let is_one = |at: &usize| words.get(*at).is_some_and(|word| is_being(&word.lower) || among(&GROUPS, &word.lower));
        let first = (at + 1..words.len().min(at + 1 + MOST_NAME)).find(is_one)?;
        let joined = words[at + 1..first].iter().any(|word| ["and", "is", "are", "with"].contains(&word.lower.as_str()));
        let behind = (first..words.len()).find(|at| !is_one(at)).unwrap_or(words.len());
        return (!joined).then(|| behind_name(behind));
    }
    let idle = |word: &Word| [&FILLERS[..], &GREETINGS, &TIMES].iter().any(|list| among(list, &word.lower));
    let small = !words.iter().any(|word| word.capital) && !idle(owner);
    if small && ["and i are", "and i both"].iter().any(|behind| starts(words, at + 1, behind).is_some()) {
        return Some(at + 1); // "joris and i are vegan"
    }
    named(at).then(|| behind_name(at))
}

#[cfg(test)]
mod tests {
    use crate::gate::Category;
    use crate::gate::tests::stored;

    #[test]
    fn what_is_said_of_the_user_and_others_is_kept_whole() {
        for (text, category, slot) in [
            ("Joris and I are vegan", Category::Constraint, None),
            ("joris and i are vegan", Category::Constraint, None),
            ("My wife and I are allergic to peanuts.", Category::Constraint, None),
            ("Both my brother and I are allergic to bees", Category::Constraint, None),
            ("Me and my son are lactose intolerant", Category::Constraint, None),
            ("My daughter and I can't eat gluten", Category::Constraint, None),
            ("My wife Els and I are both celiac", Category::Constraint, None),
            ("Tom, Anna and I are vegetarian", Category::Constraint, None),
            ("My kids, my wife and I are all lactose intolerant", Category::Constraint, None),
            ("My dad and I both have asthma", Category::Constraint, None),
            ("I and my brother have diabetes", Category::Constraint, None),
            ("Neither Tom nor I eat pork", Category::Constraint, None),
            ("Neither of us drinks alcohol", Category::Constraint, None),
            ("We're both allergic to shellfish", Category::Constraint, None),
            ("We are diabetic", Category::Constraint, None),
            ("We can't eat gluten", Category::Constraint, None),
            ("Lisa and I broke up", Category::Episodic, None),
            ("My husband and I have two cats", Category::Profile, None),
            ("My wife and I live in Bruges", Category::Profile, Some("home")),
            ("My team and I use Kafka for events", Category::Preference, Some("events")),
            ("My boss and I decided to use Postgres", Category::Decision, None),
            ("My wife and my son are allergic to nuts", Category::Constraint, None),
            ("My boss and my neighbour are allergic to cats", Category::Semantic, None),
        ] {
            let claims = stored(text);
            let found: Vec<_> = claims.iter().map(|claim| (claim.text.as_str(), claim.category, claim.slot.as_deref())).collect();
            assert_eq!(found, [(text, category, slot)], "{text}");
        }
    }

    #[test]
    fn who_is_named_before_another_clause_is_not_of_its_subject() {
        for (text, second) in [
            ("My husband is celiac and I am diabetic", "I am diabetic"),
            ("I like Tom and I am vegan", "I am vegan"),
            ("My name is Ana and I am allergic to nuts", "The user is allergic to nuts."),
            ("My name is Tom and my son and I are celiac", "my son and I are celiac"),
        ] {
            let claims = stored(text);
            assert_eq!(claims.last().map(|claim| claim.text.as_str()), Some(second), "{text}: {claims:?}");
            assert_eq!(claims.len(), 2, "{text}: {claims:?}");
        }
        for text in [
            "We're all blind without metrics",
            "We're blind without metrics",
            "We have a blind spot in our monitoring",
            "We take backups every day",
        ] {
            assert!(stored(text).iter().all(|claim| claim.category != Category::Constraint), "{text}: {:?}", stored(text));
        }
    }
}
