//! Rules for the health of those whom somebody has: "my son has a peanut allergy", "my daughter Lea is allergic to penicillin", "my kids
//! can't eat gluten".
//!
//! Such a sentence is read as if they spoke of themselves. Of the family and of animals at home it is a constraint, as the user's own
//! health is: it must stand in every prompt. Of others whom somebody knows it is a fact.

use super::attribute::attribute;
use super::beings::{is_being, is_kin};
use super::habits::AT_ONCE;
use super::health::{CONDITIONS, is_degree};
use super::lexicon::FIRST;
use super::over::denied_condition;
use super::reading::Reading;
use super::rules;
use super::sentence::Sentence;
use super::words::{Word, among, has, starts, words};
use super::{Category, DENIAL};

/// Words before somebody whom "my" names: "my older twin | brother".
const MOST_BEFORE: usize = 3;
/// Words of a name at most.
const MOST_NAME: usize = 2;
/// Words behind a condition that do not make another thing of it.
const GOES_ON: [&str; 25] = [
    "and", "or", "so", "but", "too", "since", "from", "for", "because", "as", "to", "now", "that", "which", "when", "at", "after", "in",
    "with", "again", "though", "type", "what", "is", "very",
];
/// Those whom somebody calls so who has them at home: "the kids".
const AT_HOME: [&str; 7] = ["kids", "children", "twins", "baby", "toddler", "dog", "cat"];
/// The rule of such a reading.
pub(super) const RULE: &str = "health of others";

/// The reading of a sentence about the health of somebody whom the user names by what they are to them.
pub(super) fn of_family(s: &Sentence<'_>) -> Option<Reading> {
    let skip = ["one of", "both of", "all of", "both", "all"].iter().find_map(|several| starts(s.words, 0, several)).unwrap_or(0);
    let s = &Sentence { text: s.text, words: &s.words[skip..] };
    let (being, behind) = subject(s)?;
    let own = as_oneself(s, behind)?;
    let read = read_as(&own, ["are", "have", "aren't", "don't"].contains(&s.word(behind)))?;
    let read = match read {
        OfOthers::Denied(denied) => {
            let who = s.between(1, behind).filter(|_| says_no_more(s, behind))?;
            let owner = if s.word(0) == "our" { "Our" } else { "The user's" };
            return is_kin(being)
                .then(|| Reading::new(Category::Constraint, DENIAL).text(format!("{owner} {who} {}", as_over(s, &denied))));
        }
        OfOthers::Told(read) => read,
    };
    if !read.is_of_health() || read.rule == "medicine" || read.rule == "diet" && !is_whole_diet(s, behind) {
        return None;
    }
    if !is_all_of_it(s, behind) {
        return None;
    }
    let says_how = own.starts_with("I'm ");
    let aside = (1..s.words.len().min(behind + 1)).any(|at| s.parted(at));
    let told = attribute(s).filter(|_| says_how && skip == 0 && !aside);
    // "My dog is Rex and is allergic to chicken" says who it is.
    if told.as_ref().is_some_and(|told| told.slot.is_some()) {
        return None;
    }
    if is_kin(being) {
        return Some(Reading { text: told.and_then(|told| told.text), ..of_kin() });
    }
    (!says_how).then(|| Reading { importance: 700, ..Reading::new(Category::Semantic, RULE) })
}

/// The result of reading a sentence about somebody's health as if they spoke of themselves.
pub(super) enum OfOthers {
    /// They are not so, or do not have something: "is not allergic to nuts.".
    Denied(String),
    /// They tell it.
    Told(Reading),
}

/// Reads a sentence [as they would say it](as_oneself).
pub(super) fn read_as(own: &str, of_several: bool) -> Option<OfOthers> {
    let s = Sentence { text: own, words: &words(own) };
    if let Some(denied) = denied_condition(&s, of_several) {
        return Some(OfOthers::Denied(format!("{denied}.")));
    }
    let read = rules::read(&s)?;
    let denied = read.text.as_ref().and_then(|text| text.strip_prefix("The user is not "));
    let is = if of_several { "are" } else { "is" };
    Some(match denied {
        Some(denied) => OfOthers::Denied(format!("{is} not {denied}")),
        None => OfOthers::Told(read),
    })
}

/// The denial of a sentence, as it says it: that it is so no longer, or that it is not so.
pub(super) fn as_over(s: &Sentence<'_>, denied: &str) -> String {
    const OVER: [&str; 6] = ["anymore", "any more", "any longer", "no longer", "outgrew", "outgrown"];
    const NO_LONGER: [(&str, &str); 4] = [
        ("is not ", "is no longer "),
        ("are not ", "are no longer "),
        ("does not have ", "no longer has "),
        ("do not have ", "no longer have "),
    ];
    let over = OVER.iter().any(|phrase| has(s.words, phrase));
    let said = NO_LONGER.iter().filter(|_| over).find_map(|(not, longer)| Some(format!("{longer}{}", denied.strip_prefix(not)?)));
    said.unwrap_or_else(|| denied.to_owned())
}

/// Whether a denial goes on with nothing that may take it back: "Leo isn't allergic to nuts, I hope", "... or is he".
pub(super) fn says_no_more(s: &Sentence<'_>, from: usize) -> bool {
    const OVER: [&str; 3] = ["any", "anymore", "after"];
    let goes_on = |at: usize| s.parted(at) && !among(&OVER, s.word(at)) || ["or", "but", "except", "unless"].contains(&s.word(at));
    !(from + 1..s.words.len()).any(goes_on) && !s.text[s.words[from].start..].trim_end_matches('.').contains("..")
}

/// The reading of what those have whom somebody cares for.
pub(super) fn of_kin() -> Reading {
    Reading { importance: 800, ..Reading::new(Category::Constraint, RULE) }
}

/// The word for somebody of whom a sentence speaks, and the place behind their name. The verb may be part of the word before that place:
/// "my daughter's | allergic to eggs".
pub(super) fn subject<'s>(s: &'s Sentence<'_>) -> Option<(&'s str, usize)> {
    let at_home = s.word(0) == "the" && among(&AT_HOME, s.word(1));
    if !["my", "our"].contains(&s.word(0)) && !at_home {
        return None;
    }
    let being = |at: usize| s.word(at).strip_suffix("'s").unwrap_or(s.word(at));
    let first = (1..s.words.len().min(2 + MOST_BEFORE)).find(|at| is_being(being(*at)))?;
    let joins = |word: &Word| word.lower.contains('\'') || ["and", "or", "is", "are", "has", "with", "of"].contains(&word.lower.as_str());
    if s.words[1..first].iter().any(joins) {
        return None; // "my teacher's son"
    }
    let over = |at: &usize| s.word(at - 1).ends_with("'s") || !is_being(being(*at)); // "my teacher's | son"
    let mut at = (first + 1..s.words.len()).find(over).unwrap_or(s.words.len());
    let who = being(at - 1);
    at = starts(s.words, at, "in law").unwrap_or(at);
    let small = s.words.iter().all(|word| !word.capital);
    let is_name = |at: usize| {
        let word = &s.words[at];
        let over = s.word(at - 1).ends_with("'s");
        !over && !among(&FIRST, &word.lower) && (word.capital && !word.is_number() || small && is_verb(s, at + 1) && !is_verb(s, at))
    };
    let from = at;
    while at < s.words.len() && at < from + MOST_NAME && is_name(at) {
        at += 1;
    }
    let aside = at < s.words.len() && s.parted(at) && (s.words[at].is_number() || ["who", "aged"].contains(&s.word(at)));
    if aside {
        at = (at + 1..s.words.len()).find(|at| s.parted(*at))?; // "my daughter Mia, who is 4, | has ..."
    }
    Some((who, at))
}

/// Whether a word is a verb behind which somebody's health is told.
fn is_verb(s: &Sentence<'_>, at: usize) -> bool {
    const VERBS: [&str; 13] = ["is", "are", "has", "have", "can't", "cannot", "can", "doesn't", "don't", "does", "do", "never", "was"];
    among(&VERBS, s.word(at))
}

/// The sentence as they would say it of themselves; `at` is the place behind their name.
pub(super) fn as_oneself(s: &Sentence<'_>, at: usize) -> Option<String> {
    // In "my son is Max, | he's allergic to nuts" the first clause tells of no health.
    let end = (at + 1..s.words.len()).find(|at| s.parted(*at)).unwrap_or(s.words.len());
    let behind = |opening: &str, from: usize| Some(format!("{opening} {}", s.between(from, end)?));
    if s.word(at - 1).ends_with("'s") {
        let got = s.word(at) == "got";
        return if got { behind("I've", at) } else { behind("I'm", at).filter(|_| says_how(s, at)) };
    }
    let at = at + usize::from(["also", "both", "all", "still", "actually"].contains(&s.word(at)));
    let verb = s.word(at);
    match verb {
        "is" | "are" => behind("I'm", at + 1),
        "isn't" | "aren't" => behind("I'm not", at + 1),
        "outgrew" | "outgrown" => behind("I outgrew my", at + 2),
        "has" if s.word(at + 1) == "outgrown" => behind("I outgrew my", at + 3),
        "no" if starts(s.words, at, "no longer has").is_some() => behind("I no longer have", at + 3),
        "has" | "have" if ["been", "had", "got", "always"].contains(&s.word(at + 1)) => behind("I've", at + 1),
        "has" | "have" => behind("I have", at + 1),
        "doesn't" | "does" => behind(if verb == "does" { "I do" } else { "I don't" }, at + 1),
        "never" => behind(&format!("I never {}", s.word(at + 1).strip_suffix('s')?), at + 2),
        _ if is_verb(s, at) => behind("I", at),
        _ => behind(&format!("I {}", verb.strip_suffix('s').filter(|verb| !verb.ends_with('s'))?), at + 1),
    }
}

/// Whether the words say their health alone. "A diabetes nurse" and "asthma class" are other things, nobody avoids "breakfast", and who has no
/// "allergies to speak of" has none.
pub(super) fn is_all_of_it(s: &Sentence<'_>, from: usize) -> bool {
    let goes_on = |at: usize| among(&GOES_ON, s.word(at));
    let ends = |at: usize| s.words.get(at + 1).is_none_or(Word::is_mark) || s.parted(at + 1) || goes_on(at + 1);
    let is_of_thing = |at: usize| among(&CONDITIONS, s.word(at)) && !ends(at) && !among(&CONDITIONS, s.word(at + 1));
    let is_meal = |at: usize| (s.word(at).starts_with("eat") || s.word(at).starts_with("drink")) && among(&AT_ONCE, s.word(at + 1));
    let late = |at: usize| s.word(at).starts_with("eat") && ["late", "early", "alone", "enough", "well"].contains(&s.word(at + 1));
    !(from..s.words.len()).any(|at| is_of_thing(at) || is_meal(at) || late(at) || starts(s.words, at, "to speak of").is_some())
}

/// Whether the words behind "'s" say how somebody is. "My son's allergic reaction" and "my mother's celiac disease" are things of theirs.
fn says_how(s: &Sentence<'_>, at: usize) -> bool {
    let at = at + usize::from(is_degree(s.word(at)) || ["also", "lactose", "gluten", "a", "both"].contains(&s.word(at)));
    let over = s.words.get(at + 1).is_none_or(Word::is_mark) || s.words.get(at + 1).is_some_and(|_| s.parted(at + 1));
    let goes_on = || ["and", "so", "but", "too", "since", "to"].contains(&s.word(at + 1));
    let is_condition = among(&CONDITIONS, s.word(at)) || is_diet(s.word(at));
    starts(s.words, at, "allergic to").is_some() || is_condition && (over || goes_on())
}

fn is_diet(word: &str) -> bool {
    ["vegan", "vegetarian"].contains(&word)
}

/// Whether a diet is all that is said: "my sister is a vegan chef" says something else.
fn is_whole_diet(s: &Sentence<'_>, from: usize) -> bool {
    let Some(at) = (from..s.words.len()).find(|at| is_diet(s.word(*at))) else { return false };
    let goes_on = ["and", "so", "but", "too", "since", "now", "for", "because", "as"].contains(&s.word(at + 1));
    s.words.get(at + 1).is_none_or(Word::is_mark) || s.parted(at + 1) || goes_on
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::tests::stored;

    /// The claims of a text: what each says, and of which category.
    fn told(text: &str) -> Vec<(String, Category)> {
        stored(text).into_iter().map(|claim| (claim.text, claim.category)).collect()
    }

    #[test]
    fn the_health_of_the_family_is_a_constraint_however_it_is_told() {
        for text in [
            "My son has a peanut allergy.",
            "My daughter has a nut allergy.",
            "My wife has a shellfish allergy.",
            "My mother has celiac disease.",
            "My daughter has asthma.",
            "My son has type 1 diabetes.",
            "My daughter's allergic to eggs.",
            "my son's severely allergic to eggs",
            "My kids can't eat gluten.",
            "My son Max can't eat gluten.",
            "My son Max has a peanut allergy.",
            "my son max has a peanut allergy",
            "My husband's got asthma.",
            "Our youngest daughter Ida doesn't eat pork.",
            "My 4-year-old son cannot have dairy.",
            "My mother in law has high blood pressure.",
            "My dad suffers from epilepsy.",
            "My sister has been diagnosed with celiac disease.",
            "My grandmother uses a wheelchair.",
            "My husband, Tom, has a heart condition.",
            "My brother also has diabetes.",
            "My cat Miso has diabetes.",
            "My partner never eats pork.",
            "One of my kids has a nut allergy.",
            "Both my kids have celiac disease.",
            "The kids are allergic to nuts.",
            "My daughter Mia, who is 4, has a nut allergy.",
            "My son Max, 7, is allergic to eggs.",
        ] {
            assert_eq!(told(text), [(text.to_owned(), Category::Constraint)]);
        }
        for (text, said) in [
            ("My daughter is allergic to penicillin.", "The user's daughter is allergic to penicillin."),
            ("My daughter Lea is allergic to penicillin.", "The user's daughter Lea is allergic to penicillin."),
            ("Our daughter is allergic to eggs.", "Our daughter is allergic to eggs."),
            ("My wife Clara is vegan.", "The user's wife Clara is vegan."),
            ("My kids are lactose intolerant.", "The user's kids are lactose intolerant."),
            ("My son has a peanut allergy, what can I cook?", "My son has a peanut allergy"),
            ("My son Max has a peanut allergy, what can I cook?", "My son Max has a peanut allergy"),
            ("My daughter's allergic to eggs, so which cake is safe?", "My daughter's allergic to eggs"),
        ] {
            assert_eq!(told(text), [(said.to_owned(), Category::Constraint)], "{text}");
        }
        let beside = told("My son is Max, who has a peanut allergy");
        assert_eq!(beside[1], ("My son has a peanut allergy".to_owned(), Category::Constraint), "{beside:?}");
    }

    #[test]
    fn what_is_of_others_or_of_no_health_is_none() {
        for text in [
            "My boss's neighbour is allergic to cats.",
            "My teacher's son has asthma.",
            "My boss has a peanut allergy.",
            "My colleague can't eat gluten.",
            "My daughter's allergic reaction was mild.",
            "My mother's celiac disease clinic is in Ghent.",
            "My son has a blind date on Friday.",
            "My son has an allergy appointment on Monday.",
            "My mom has a cancer screening on Monday.",
            "My daughter has a talk on asthma.",
            "My son has no allergies.",
            "My son doesn't have a nut allergy.",
            "My son had asthma.",
            "My brother has a friend with diabetes.",
            "My sister is a vegan chef.",
            "My wife is blind to my faults.",
            "My son doesn't eat his dinner.",
            "My son takes swimming lessons every week.",
            "My mother can't eat right now.",
            "Does my son have a peanut allergy?",
            "If my son has a peanut allergy, what can I cook?",
            "My cousin says my son has a peanut allergy, can that be?",
        ] {
            let pinned = stored(text).into_iter().any(|claim| claim.category == Category::Constraint && claim.doubt.is_none());
            assert!(!pinned, "{text}: {:?}", stored(text));
        }
        assert_eq!(told("My colleague can't eat gluten.")[0].1, Category::Semantic);
    }

    #[test]
    fn what_is_no_health_of_theirs_is_no_constraint() {
        for text in [
            "My brother is a diabetes nurse.",
            "My mother is a cancer survivor.",
            "My sister has diabetes training on Friday.",
            "The kids have asthma class on Monday.",
            "My kids don't eat breakfast.",
            "My mother never eats late.",
            "My dad never drinks and drives.",
        ] {
            assert!(told(text).iter().all(|(_, category)| *category != Category::Constraint), "{text}: {:?}", told(text));
        }
    }

    #[test]
    fn health_of_theirs_that_is_over_is_denied_by_its_name() {
        for (text, said) in [
            ("My son outgrew his nut allergy.", "The user's son is no longer allergic to nut."),
            ("My son Max has outgrown his egg allergy.", "The user's son Max is no longer allergic to egg."),
            ("My son doesn't have a nut allergy any more.", "The user's son is no longer allergic to nut."),
            ("My son no longer has a nut allergy.", "The user's son is no longer allergic to nut."),
            ("Our kids don't have a nut allergy after all.", "Our kids are not allergic to nut."),
            ("My daughter is no longer allergic to eggs.", "The user's daughter is no longer allergic to eggs."),
            ("My daughter isn't vegetarian any more.", "The user's daughter is no longer vegetarian."),
            ("My kids don't have asthma any more.", "The user's kids no longer have asthma."),
            ("turns out my wife doesn't have celiac disease", "The user's wife does not have celiac disease."),
            ("My son no longer has asthma.", "The user's son no longer has asthma."),
            ("Leo doesn't have asthma anymore.", "Leo no longer has asthma."),
            ("Mia isn't vegetarian anymore.", "Mia is no longer vegetarian."),
            ("Leo no longer has asthma.", "Leo no longer has asthma."),
        ] {
            let claims = stored(text);
            assert_eq!((claims[0].text.as_str(), claims[0].doubt), (said, Some(DENIAL)), "{text}: {claims:?}");
        }
    }

    #[test]
    fn a_denial_that_goes_on_ends_nothing() {
        for text in [
            "Leo isn't allergic to nuts, I hope",
            "Leo isn't allergic to nuts, it's anaphylaxis",
            "Leo isn't allergic to nuts... or is he",
            "my son doesn't have asthma, no wait he does",
            "Leo no longer has asthma in summer",
            "turns out i don't have epilepsy, i hope",
            "Leo doesn't have asthma. Kidding, he does.",
        ] {
            assert!(!stored(text).iter().any(|claim| claim.doubt == Some(DENIAL)), "{text}: {:?}", stored(text));
        }
    }
}
