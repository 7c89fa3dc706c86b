//! Rules for what is over, and for what is denied: "I don't use Python any more", "I'm not vegan", "my name is not Bob".

use super::family::is_all_of_it;
use super::health::{is_condition, is_degree, is_for_condition};
use super::left::is_unsure;
use super::lexicon::CLASSES;
use super::lists::lists;
use super::medicine::resumes;
use super::plain::ALONE;
use super::reading::Reading;
use super::sentence::Sentence;
use super::values::PREPOSITIONS;
use super::words::{Word, among, has, starts};
use super::{Category, DENIAL};

lists! { "over":
    /// Verbs of what somebody does with something, or has: where they do not any more, what says that they do is over. Of others, as "I don't
    /// trust Acme any more", it says nothing.
    DOES,
    /// How access to something is named, or what it does. Where it cannot be had any more, that is a fault: "I can't reach the staging database
    /// any more".
    ACCESS,
    /// How somebody begins who denies an allergy, which they name next.
    NO_ALLERGY,
    /// Words behind an allergy that say that it is none, or none any more.
    IS_OVER,
    /// Words behind what is denied that add nothing to it.
    STILL,
    /// Words before "allergy", and behind "allergy to", that are not what it is to.
    NO_NAME,
}

/// The words before the cause of an allergy in what a claim ends that denies it.
const ALLERGIC_TO: &str = "allergic to ";

/// Whether what a claim ends is an allergy.
#[must_use]
pub fn ends_allergy(ended: &str) -> bool {
    ended.starts_with(ALLERGIC_TO)
}

/// "I don't use Python any more", "I no longer live in Berlin", "I'm not vegan anymore".
pub(super) fn no_longer(s: &Sentence<'_>) -> Option<Reading> {
    const PLANS: [&str; 9] = ["going", "flying", "driving", "traveling", "travelling", "moving", "visiting", "attending", "staying"];
    if !["i", "we", "i'm", "we're", "i've", "we've"].contains(&s.word(0)) {
        return None;
    }
    // "I don't need any more help" says nothing of what is over.
    let is_last = |at: usize| at >= s.words.len() || s.parted(at) || ["because", "since", "so", "but", "and"].contains(&s.word(at));
    let ends = |phrase: &str| (2..s.words.len()).any(|at| starts(s.words, at, phrase).is_some_and(is_last));
    let is_act =
        |at: usize| PLANS.contains(&s.word(at)) && (s.word(at + 1) != "to" || s.words.get(at + 2).is_some_and(|place| place.capital));
    let is_plan = (1..4).any(|at| s.word(at) == "not" && is_act(at + 1));
    let over = ["any more", "anymore", "any longer"].iter().any(|phrase| ends(phrase)) || is_plan && ends("after all");
    let is = usize::from(["am", "are", "have"].contains(&s.word(1)));
    let at = if over && ["don't", "not", "do", "won't", "can't"].contains(&s.word(1 + is)) {
        2 + is + usize::from(s.word(1) == "do")
    } else {
        starts(s.words, 1 + is, "no longer").or_else(|| starts(s.words, 1 + is, "stopped").or_else(|| starts(s.words, 1 + is, "quit")))?
    };
    let mut reading = Reading::new(Category::Preference, "not any more");
    if is == 1 || ["i'm", "we're"].contains(&s.word(0)) {
        let begin = at + usize::from(["in", "at", "with"].contains(&s.word(at)));
        let (value, _) = s.value(begin)?;
        let condition = is_condition(&value);
        let says_what = begin > at || ["a", "an", "the"].contains(&s.word(at)) || of_class("diet", &value) || condition;
        if !says_what && s.word(at).ends_with("ing") && at + 1 < s.words.len() {
            return Some(Reading { category: Category::Semantic, ..reading }); // "I'm not flying to Rome anymore": see `otherwise`
        }
        reading.category = if begin > at || condition { Category::Semantic } else { reading.category };
        reading.ends = Some(value);
        return says_what.then_some(reading);
    }
    if !among(&DOES, s.word(at)) {
        let stops = s.word(at).ends_with("ing") && at + 1 == s.words.len();
        if over && tells_of_a_fault(s, at) {
            reading = Reading { importance: 600, ..Reading::new(Category::Episodic, "not any more") };
        }
        return (over || stops).then_some(reading);
    }
    if at + 1 == s.words.len()
        && let Some(verb) = habit_of(s.word(at))
    {
        return Some(reading.text(format!("I no longer {verb}.")));
    }
    let object = at + 1 + usize::from(["in", "at", "for", "to", "with"].contains(&s.word(at + 1)));
    reading.ends = s.value(object).map(|(value, _)| value).filter(|_| !resumes(&s.words[at..]));
    Some(reading)
}

/// Whether what somebody cannot do any more is a fault, and not a trait of theirs: "I can't build the sidecar any more" names the thing, and
/// "I can't open jars any more" does not.
fn tells_of_a_fault(s: &Sentence<'_>, at: usize) -> bool {
    let behind = ACCESS.iter().filter_map(|phrase| starts(s.words, at, phrase)).max();
    let is_named =
        |at: usize| ["the", "this", "that", "my", "our"].contains(&s.word(at)) || s.words.get(at).is_some_and(|word| word.capital);
    s.word(at - 1) == "can't" && behind.is_some_and(is_named)
}

/// The habit that a word ending in "ing" names: "smoke" of "smoking".
fn habit_of(act: &str) -> Option<&'static str> {
    let root = act.strip_suffix("ing")?;
    let is_one =
        |verb: &str| verb == root || verb.strip_suffix('e') == Some(root) || root.strip_suffix(|last| verb.ends_with(last)) == Some(verb);
    ALONE.iter().copied().find(|verb| is_one(verb))
}

/// Whether a word of a value is one of a class.
fn of_class(class: &str, value: &str) -> bool {
    let words = CLASSES.iter().find(|(name, _)| *name == class).map_or(&[][..], |(_, words)| *words);
    value.to_lowercase().split_whitespace().any(|word| words.contains(&word))
}

/// "I'm not allergic to nuts", "I don't have a nut allergy": what must hold does not, or does so no longer. "..., just to peanuts" also says
/// what holds instead.
pub(super) fn not_allergic(s: &Sentence<'_>) -> Option<Reading> {
    const NOT: [&str; 5] = [
        "i'm not allergic to",
        "i am not allergic to",
        "i'm not actually allergic to",
        "i'm actually not allergic to",
        "i was never allergic to",
    ];
    const NO_LONGER: [&str; 3] = ["i'm no longer allergic to", "i am no longer allergic to", "i'm not allergic any more to"];
    const INSTEAD: [&str; 4] = ["just", "only", "but", "rather"];
    let opened = |openings: &[&str]| openings.iter().find_map(|opening| starts(s.words, 0, opening));
    let Some(at) = opened(&NO_LONGER).or_else(|| opened(&NOT)) else { return no_allergy(s).or_else(|| no_condition(s)) };
    let (value, end) = s.value(at)?;
    let value = without_after_all(&value);
    if !s.says_more(end) {
        return Some(not_allergic_to(value));
    }
    let instead = s.words[end..].iter().any(|word| among(&INSTEAD, &word.lower));
    let mut reading = Reading::new(Category::Constraint, if instead { "allergic to another thing" } else { DENIAL });
    reading.ends = Some(format!("{ALLERGIC_TO}{value}"));
    Some(reading)
}

fn not_allergic_to(value: &str) -> Reading {
    Reading::new(Category::Constraint, DENIAL).text(format!("The user is not allergic to {value}."))
}

/// "I don't have a nut allergy after all", "I outgrew my allergy to nuts", "my nut allergy was a misdiagnosis". A sentence that doubts it, or
/// is about a thing ("a nut allergy card"), denies nothing.
fn no_allergy(s: &Sentence<'_>) -> Option<Reading> {
    let opened = |openings: &[&str]| openings.iter().filter_map(|opening| starts(s.words, 0, opening)).max();
    let (value, end) = if let Some(at) = opened(&NO_ALLERGY) {
        an_allergy(s, at)?
    } else {
        let (value, end) = an_allergy(s, opened(&["my"])?)?;
        (value, IS_OVER.iter().filter_map(|over| starts(s.words, end, over)).max()?)
    };
    let end = behind_still(s, end);
    let rest = s.words.get(end..).unwrap_or_default();
    let plain = rest.iter().all(Word::is_mark);
    if !plain && (!is_reason(s, end) || is_unsure(rest)) {
        return None;
    }
    if plain || !s.says_more(end) {
        return Some(not_allergic_to(&value));
    }
    Some(Reading { ends: Some(format!("{ALLERGIC_TO}{value}")), ..Reading::new(Category::Constraint, DENIAL) })
}

/// Behind the words that add nothing to what is denied before a word: "... any more | because ...".
fn behind_still(s: &Sentence<'_>, mut end: usize) -> usize {
    while let Some(next) = STILL.iter().find_map(|still| starts(s.words, end, still)).filter(|_| !s.parted(end)) {
        end = next;
    }
    end
}

/// "My asthma was a misdiagnosis", "coeliac was ruled out": what somebody has they do not have, or no longer.
fn no_condition(s: &Sentence<'_>) -> Option<Reading> {
    const MOST: usize = 3;
    let first = usize::from(s.word(0) == "my");
    let over = |at: usize| IS_OVER.iter().filter_map(|over| starts(s.words, at, over)).max();
    let (last, end) = (first + 1..=first + MOST).find_map(|at| over(at).map(|end| (at, end)))?;
    let end = behind_still(s, end);
    let rest = s.words.get(end..).unwrap_or_default();
    let value = s
        .between(first, last)
        .filter(|value| is_condition(value) && !value.contains("allerg") && !among(&NO_NAME, s.word(first)) && !value.contains("'s"))?;
    let is_whole = rest.iter().all(Word::is_mark) || is_reason(s, end) && !is_unsure(rest);
    is_whole.then(|| Reading::new(Category::Constraint, DENIAL).text(format!("The user does not have {value}.")))
}

/// Whether nothing but the reason stands behind a word: "because I was tested", ", the test was negative". Whatever else is said may take the
/// denial back, and then it is not certain.
fn is_reason(s: &Sentence<'_>, at: usize) -> bool {
    const TESTS: [&str; 8] = ["test", "tests", "doctor", "allergist", "result", "results", "diagnosis", "bloodwork"];
    const ARTICLES: [&str; 4] = ["the", "my", "a", "that"];
    if ["because", "since"].contains(&s.word(at)) {
        return true;
    }
    let noun = at + usize::from(ARTICLES.contains(&s.word(at)));
    s.parted(at) && (TESTS.contains(&s.word(noun)) || starts(s.words, at, "that was").is_some())
}

/// The cause of the allergy that is named at a word, and where its name is over: "a | nut allergy", "an | allergy to nuts". Who has no
/// severe nut allergy may have a mild one, and "a contact allergy" has no cause.
fn an_allergy(s: &Sentence<'_>, at: usize) -> Option<(String, usize)> {
    const IS: [&str; 2] = ["allergy", "allergies"];
    const MOST: usize = 3;
    let from = at + usize::from(["a", "an", "any", "the", "my"].contains(&s.word(at)));
    let noun = (from..s.words.len().min(from + MOST + 1)).find(|noun| IS.contains(&s.word(*noun)))?;
    let (first, last, end) = if noun > from {
        (from, noun, noun + 1)
    } else {
        let first = starts(s.words, noun + 1, "to").or_else(|| starts(s.words, noun + 1, "against"))?;
        let ends = |end: &usize| among(&PREPOSITIONS, s.word(*end)) || among(&NO_NAME, s.word(*end)) || s.parted(*end);
        let last = s.value(first)?.1.min(first + MOST + 1);
        let says = |end: usize, phrases: &[&str]| phrases.iter().any(|phrase| starts(s.words, end, phrase).is_some());
        let last = (first + 1..last).find(|end| ends(end) || says(*end, &STILL) || says(*end, &IS_OVER)).unwrap_or(last);
        (first, last, last)
    };
    let named = s.words.get(first..last)?.iter().all(|word| {
        !is_degree(&word.lower) && !among(&NO_NAME, &word.lower) && !among(&PREPOSITIONS, &word.lower) && !word.lower.ends_with("'s")
    });
    let apart = (first + 1..last).any(|word| s.parted(word));
    (named && !apart).then(|| s.between(first, last)).flatten().map(|value| (value, end))
}

fn without_after_all(value: &str) -> &str {
    value.strip_suffix(" after all").unwrap_or(value)
}

/// The condition or diet that a sentence denies of its speaker, as it is said of others: "is not vegetarian" of "I'm not vegetarian anymore", "does not have
/// asthma" of "I no longer have asthma". It says no more than that.
pub(super) fn denied_condition(s: &Sentence<'_>, of_several: bool) -> Option<String> {
    const IS: [&str; 4] = ["i'm not", "i'm no longer", "i am not", "i am no longer"];
    const HAS: [&str; 4] = ["i don't have", "i do not have", "i no longer have", "i outgrew my"];
    let opened = |openings: &[&str]| openings.iter().find_map(|opening| starts(s.words, 0, opening));
    let (is, at) = opened(&IS).map(|at| (true, at)).or_else(|| opened(&HAS).map(|at| (false, at)))?;
    let mut end = s.words.iter().rposition(|word| !word.is_mark())? + 1;
    let still = |end: usize| STILL.iter().find_map(|phrase| (at + 1..end).find(|from| starts(s.words, *from, phrase) == Some(end)));
    while let Some(from) = still(end) {
        end = from;
    }
    let at = at + usize::from(["a", "an"].contains(&s.word(at)));
    let limits = |at: usize| ["in", "at", "on", "only", "during", "when", "or", "but"].contains(&s.word(at));
    let value = s.between(at, end).filter(|_| at < end && !(at..end).any(|at| s.parted(at) || limits(at)))?;
    if (end..s.words.len()).any(|at| s.parted(at)) {
        return None;
    }
    let is_diet = is && at + 1 == end && of_class("diet", &value);
    let is_ill =
        || is_condition(&value) && !value.contains("allerg") && is_all_of_it(&Sentence { text: s.text, words: &s.words[..end] }, at);
    let verb = match (is, of_several) {
        (true, false) => "is not",
        (true, true) => "are not",
        (false, false) => "does not have",
        (false, true) => "do not have",
    };
    (is_diet || is_ill()).then(|| format!("{verb} {}", value.trim()))
}

/// Words of a denial that does not deny all of it.
const LIMITED: [&str; 11] = ["because", "from", "unless", "as", "if", "except", "like", "badly", "joking", "ass", "ever"];

/// The value that a denial names: "I don't live in Berlin", "I'm not vegan", "my name is not Bob".
pub fn denied(s: &Sentence<'_>) -> Option<String> {
    let opened = |openings: &[&str]| openings.iter().find_map(|opening| starts(s.words, 0, opening));
    // "I don't have asthma because of smoking" denies the cause.
    let limited = s.words.iter().any(|word| among(&LIMITED, &word.lower))
        || ["for fun", "for attention", "said no"].iter().any(|phrase| has(s.words, phrase));
    if limited && is_for_condition(s.words) {
        return None;
    }
    if let Some(at) = opened(&["i'm not", "we're not", "i am not", "we are not"]) {
        let begin = at + usize::from(["in", "at", "with"].contains(&s.word(at)));
        let (value, _) = s.value(begin)?;
        let says_what = begin > at || ["a", "an", "the"].contains(&s.word(at)) || of_class("diet", &value) || is_condition(&value);
        return says_what.then(|| without_after_all(&value).to_owned());
    }
    if let Some(verb) = opened(&["i don't", "i do not", "we don't", "we do not"]).filter(|verb| among(&DOES, s.word(*verb))) {
        let object = verb + 1 + usize::from(["in", "at", "for", "to", "with"].contains(&s.word(verb + 1)));
        return s.value(object).map(|(value, _)| without_after_all(&value).to_owned());
    }
    let verb = (2..s.words.len().min(7)).find(|at| ["is", "are", "isn't", "aren't"].contains(&s.word(*at)))?;
    let value = verb + 1 + usize::from(s.word(verb + 1) == "not");
    ["my", "our"].contains(&s.word(0)).then(|| s.value(value)).flatten().map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::Claim;
    use crate::gate::tests::stored;

    #[test]
    fn an_allergy_is_denied_by_its_name_in_every_form() {
        for text in [
            "I don't have a penicillin allergy.",
            "I don't have a penicillin allergy after all.",
            "I do not have a penicillin allergy any more.",
            "I don't actually have a penicillin allergy",
            "I no longer have a penicillin allergy.",
            "I have no penicillin allergy.",
            "I never had a penicillin allergy.",
            "I don't have any penicillin allergy.",
            "I don't have an allergy to penicillin any more.",
            "I don't have an allergy to penicillin.",
            "I have no allergy to penicillin at all.",
            "Turns out I'm not allergic to penicillin.",
            "It turns out I don't have a penicillin allergy.",
            "I'm actually not allergic to penicillin.",
            "My penicillin allergy was a misdiagnosis.",
            "My penicillin allergy is gone.",
            "My penicillin allergy turned out to be wrong.",
            "My allergy to penicillin went away.",
            "My penicillin allergy has been ruled out!",
            "I was misdiagnosed with a penicillin allergy.",
            "I outgrew my penicillin allergy.",
            "I've outgrown my allergy to penicillin.",
            "I grew out of my penicillin allergy.",
            "I'm over my penicillin allergy now.",
        ] {
            let claims = stored(text);
            let found: Vec<_> = claims.iter().map(|claim| (claim.text.as_str(), claim.doubt)).collect();
            assert_eq!(found, [("The user is not allergic to penicillin.", Some(DENIAL))], "{text}");
        }
        for text in [
            "I don't have a penicillin allergy after all, the test was negative.",
            "My penicillin allergy was a misdiagnosis, the test was wrong",
        ] {
            let claims = stored(text);
            let found: Vec<_> = claims.iter().map(|claim| (claim.text.as_str(), claim.ends.as_deref())).collect();
            assert_eq!(found, [(text, Some("allergic to penicillin"))]);
        }
    }

    #[test]
    fn what_cannot_be_reached_any_more_is_an_event() {
        let category = |text: &str| stored(text).into_iter().find(|claim| claim.reason == "rule: not any more").map(|claim| claim.category);
        for text in [
            "I can't reach the staging database from my machine any more.",
            "I can't build the sidecar any more.",
            "I can't log into the vault anymore.",
            "I can't open GitHub any more.",
            "I can't get into my account anymore.",
            "We can't see the dashboard any more.",
        ] {
            assert_eq!(category(text), Some(Category::Episodic), "{text}: {:?}", stored(text));
        }
        for text in [
            "I can't eat gluten any more.",
            "I can't drink coffee anymore.",
            "I can't tolerate lactose any more.",
            "I don't smoke cigars any more.",
            "I don't like coffee any more.",
            "I don't trust Siemens anymore.",
            "I don't buy from Acme any more.",
            "We don't deploy on Fridays any more.",
            "I don't collect stamps any more.",
            "I don't see the therapist any more.",
            "I can't see well any more.",
            "I can't jog anymore.",
            "I can't open jars any more.",
            "I can't keep pets any more.",
            "I can't make the Monday call any more.",
        ] {
            assert_eq!(category(text), Some(Category::Preference), "{text}: {:?}", stored(text));
        }
    }

    #[test]
    fn a_condition_that_was_none_is_denied() {
        for text in ["My coeliac was a misdiagnosis.", "my asthma turned out to be a false alarm", "coeliac was a misdiagnosis apparently"]
        {
            let claims = stored(text);
            assert!(claims[0].doubt == Some(DENIAL) && claims[0].text.starts_with("The user does not have "), "{text}: {claims:?}");
        }
        for text in ["The asthma was a misdiagnosis.", "My son's asthma was a misdiagnosis.", "My asthma was a misdiagnosis, or was it"] {
            let claims = stored(text);
            assert!(!claims.iter().any(|claim| claim.text.starts_with("The user does not have ")), "{text}: {claims:?}");
        }
    }

    #[test]
    fn an_allergy_of_others_in_part_in_doubt_or_of_a_thing_is_not() {
        for text in [
            "My sister doesn't have a penicillin allergy.",
            "My sister's penicillin allergy was a misdiagnosis.",
            "My son's allergy to penicillin is gone.",
            "The penicillin allergy turned out to be wrong.",
            "I don't have a penicillin allergy card with me.",
            "I don't have a penicillin allergy bracelet.",
            "I don't have a penicillin allergy on file.",
            "I don't have a penicillin allergy listed in my chart.",
            "I don't have an allergy to penicillin on my chart.",
            "I don't have a severe penicillin allergy.",
            "I don't have a known penicillin allergy.",
            "I don't have a penicillin allergy if you ask my doctor.",
            "I don't have a penicillin allergy, I think.",
            "I don't have a penicillin allergy as far as I know.",
            "I don't have a penicillin allergy, but I get a rash.",
            "I don't think I have a penicillin allergy.",
            "I might not have a penicillin allergy.",
            "If I don't have a penicillin allergy, what can I take?",
            "If my penicillin allergy is gone, can I take it?",
            "Do I have a penicillin allergy?",
            "I don't have a penicillin allergy, do I?",
            "I have a penicillin allergy.",
            "My penicillin allergy is not gone.",
            "My penicillin allergy was not a misdiagnosis.",
            "My penicillin allergy is gone from the system.",
            "My penicillin allergy bracelet is gone.",
            "My penicillin allergy is bad.",
            "My doctor says I don't have a penicillin allergy.",
            "I wish I had no penicillin allergy.",
            "I never had an allergy test.",
            "I don't have an allergy.",
            "I got over my cold, my penicillin allergy stays.",
            "I never had a penicillin allergy and now I do.",
            "I never had a penicillin allergy, so this reaction is new.",
            "I don't have a penicillin allergy, I have a severe one.",
            "I don't have a penicillin allergy, it's anaphylaxis.",
            "I don't have a penicillin allergy so much as an anaphylaxis risk.",
            "I don't have a penicillin allergy test result yet.",
            "I was misdiagnosed with a penicillin allergy, it's penicillin and latex.",
            "In my novel, I don't have a penicillin allergy.",
        ] {
            let denies = |claim: &Claim| {
                claim.text == "The user is not allergic to penicillin." || claim.ends.as_deref() == Some("allergic to penicillin")
            };
            assert!(!stored(text).iter().any(denies), "{text}: {:?}", stored(text));
        }
    }
}
