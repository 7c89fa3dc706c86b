//! Rules for facts that somebody states of themselves in a short, plain sentence: "I'm married", "I use Vim", "we run on AWS", "I have a
//! car", "I don't smoke", "I studied physics".
//!
//! The sentence must be over with the fact. Talk about the task at hand is told by its nouns and small words: "I use this function", "I have
//! a question".

use super::Category;
use super::beings::is_kin;
use super::habits::AT_ONCE;
use super::lexicon::NUMBERS;
use super::lists::lists;
use super::prefers::slot_of;
use super::reading::Reading;
use super::sentence::Sentence;
use super::told::NO_NAMES;
use super::tools::{BACK_ON, Tool};
use super::words::{Word, among};
use crate::units::calendar::is_named;

lists! { "plain":
    /// How somebody says what they are.
    IS,
    /// Words between a subject and what is said of it.
    ADVERBS,
    /// How somebody stands to another by law, one way at a time.
    MARITAL,
    /// States that last.
    STATES,
    /// Words for somebody, behind an article.
    ONES,
    /// Plans and the like that somebody is on: "the Pro plan".
    SCHEMES,
    /// Posts that somebody has: "the admin of heron".
    OFFICES,
    /// Things that somebody has for long.
    THINGS,
    /// Things that somebody runs.
    FIRMS,
    /// How somebody says that they became what one is to another by law.
    GOT,
    /// How somebody says what they have.
    HAS,
    /// How somebody says what they do not have.
    LACKS,
    /// Verbs of what is used, known or spoken, before its name.
    USES,
    /// Such verbs of a team or a company.
    OTHERS_USE,
    /// Words with a capital behind such verbs that name nothing: "Option B", "Table 1".
    NO_TOOLS,
    /// Words by which a sentence is about the task at hand, or says more.
    OF_TASK,
    /// Words for how well somebody speaks or knows something.
    HOW_WELL,
    /// Verbs of habits, with nothing behind them.
    pub(super) ALONE,
    /// Such verbs of which "now" says that it is so from now on.
    OF_NOW,
    /// How somebody says that they do not.
    NOT,
    /// How somebody says where they come from.
    FROM,
    /// Parts of a company: "I'm from IT".
    DEPARTMENTS,
    /// How somebody says what they fear.
    FEARS,
    /// How somebody says what they studied.
    LEARNT,
    /// Things that people collect.
    COLLECTED,
    /// Things that people follow each day.
    FOLLOWED,
    /// Words behind those verbs that say how, when or how long, and not what.
    HOW,
}

/// Words of such a sentence at most.
const MOST_WORDS: usize = 9;
/// Words of a thing's name at most.
const MOST_NAME: usize = 3;

/// The reading of such a sentence.
pub(super) fn plain(s: &Sentence<'_>) -> Option<Reading> {
    let last = s.words.iter().rposition(|word| !word.is_mark())? + 1;
    let whole = (1..last).all(|at| !s.parted(at)) && s.words.last().is_none_or(|word| word.lower != "?");
    if !whole || last > MOST_WORDS {
        return None;
    }
    let s = &Sentence { text: s.text, words: &s.words[..last] };
    marital(s)
        .or_else(|| state(s))
        .or_else(|| possession(s))
        .or_else(|| used(s))
        .or_else(|| habit(s))
        .or_else(|| origin(s))
        .or_else(|| taste(s))
}

/// Behind the words that add nothing.
fn adverbs(s: &Sentence<'_>, mut at: usize) -> usize {
    while among(&ADVERBS, s.word(at)) {
        at += 1;
    }
    at
}

fn fact(rule: &'static str) -> Reading {
    Reading { importance: 600, ..Reading::new(Category::Semantic, rule) }
}

/// "I'm married", "we got divorced", "I'm no longer engaged".
pub(super) fn marital(s: &Sentence<'_>) -> Option<Reading> {
    let got = s.behind(0, &GOT);
    let opened = got.or_else(|| s.behind(0, &IS))?;
    let at = adverbs(s, opened);
    let end = s.behind(at, &MARITAL)?;
    let named = s.words.get(end + 1).is_some_and(|word| word.capital && slot_of(&word.lower, None).is_none());
    let degree = (opened..at).any(|at| ["really", "very"].contains(&s.word(at))); // "I'm really engaged"
    let when = ["last", "yesterday", "today", "this", "in"].contains(&s.word(end)) && s.words.len() <= end + 3;
    let is_more = s.word(end) == "to" && named || got.is_some() && when;
    let reading = Reading { importance: 600, ..Reading::new(Category::Profile, "marital status") };
    (!degree && (is_over(s, end) || is_more)).then(|| reading.slot("marital status"))
}

/// Whether nothing stands behind a word but what adds nothing.
fn is_over(s: &Sentence<'_>, at: usize) -> bool {
    let at = adverbs(s, at);
    at >= s.words.len() || s.words[at].is_mark()
}

/// "I'm left-handed", "I'm an introvert", "I'm Brazilian".
fn state(s: &Sentence<'_>) -> Option<Reading> {
    let at = adverbs(s, s.behind(0, &IS)?);
    let is_people = s.words.get(at).is_some_and(|word| word.capital) && s.behind(at, &NO_NAMES).is_some_and(|end| is_over(s, end));
    let is_state = s.behind(at, &STATES).is_some_and(|end| is_over(s, end));
    let is_one = || {
        let noun = |at: usize| s.behind(at, &ONES).filter(|end| is_over(s, *end) || ["of", "and"].contains(&s.word(*end)));
        ["a", "an"].contains(&s.word(at)) && (at + 1..=at + MOST_NAME).any(|at| noun(at).is_some())
    };
    let is_on_plan = || {
        let named = s.word(at) == "on" && ["the", "a"].contains(&s.word(at + 1)) && (at + 3..=at + 5).contains(&(s.words.len() - 1));
        named && s.words.last().is_some_and(|word| among(&SCHEMES, &word.lower))
    };
    let is_in_charge =
        || s.word(at) == "the" && among(&OFFICES, s.word(at + 1)) && ["of", "for"].contains(&s.word(at + 2)) && s.words.len() > at + 3;
    (is_state || is_people || is_one() || is_on_plan() || is_in_charge()).then(|| fact("what somebody is"))
}

/// "I have a car", "I run a bakery", "I have no kids".
fn possession(s: &Sentence<'_>) -> Option<Reading> {
    if let Some(at) = s.behind(0, &LACKS) {
        let at = at + usize::from(["a", "an", "any"].contains(&s.word(at)));
        let is_known = |at: usize| is_kin(s.word(at)) || among(&THINGS, s.word(at)) || among(&FIRMS, s.word(at));
        return (at + 1 == s.words.len() && is_known(at)).then(|| fact("what somebody does not have"));
    }
    let begun = s.behind(0, &HAS)?;
    let counted = |at: usize| {
        let article = ["a", "an", "my", "our", "several", "own"].contains(&s.word(at));
        article || among(&NUMBERS, s.word(at)) || s.words.get(at).is_some_and(Word::is_number)
    };
    let things: &[&str] = if s.word(begun - 1) == "run" { &FIRMS } else { &THINGS };
    let noun = (begun + 1..(begun + 1 + MOST_NAME).min(s.words.len()))
        .find(|at| among(things, s.word(*at).trim_end_matches('s')) || among(things, s.word(*at)))?;
    let goes_on = s.words.get(noun + 1).is_some_and(|next| ["in", "called", "named", "and", "at"].contains(&next.lower.as_str()));
    (counted(begun) && (goes_on || is_over(s, noun + 1))).then(|| fact("what somebody has"))
}

/// "I use Vim", "I speak Portuguese", "we deploy with Helm", "our team uses Kanban".
fn used(s: &Sentence<'_>) -> Option<Reading> {
    if s.behind(0, &BACK_ON).is_some() {
        let text = s.between(0, s.words.len())?;
        return Tool::of(&text).map(|_| fact("what somebody uses"));
    }
    let group = ["our", "my"].contains(&s.word(0)) && ["team", "company", "shop", "startup", "department"].contains(&s.word(1));
    let denied = s.behind(0, &NOT);
    let own = || denied.or_else(|| ["i", "we"].contains(&s.word(0)).then_some(1));
    let at = if group { s.behind(adverbs(s, 2), &OTHERS_USE)? } else { s.behind(adverbs(s, own()?), &USES)? };
    let verb = s.word(at - 1);
    let at = (at..s.words.len()).find(|at| verb == "use" || !among(&HOW_WELL, s.word(*at)))?;
    let (first, rest) = (s.words.get(at)?, &s.words[at..]);
    let class = slot_of(&first.lower, None);
    let is_language = ["write", "speak", "know"].contains(&verb) && among(&NO_NAMES, &first.lower);
    let named = first.capital && !among(&NO_TOOLS, &first.lower) && !is_named(&first.lower) && first.lower.len() > 1;
    let of_task = rest.iter().any(|word| among(&OF_TASK, &word.lower)) || rest.iter().skip(1).any(Word::is_number) && class.is_none();
    let is_code = verb != "write" || class.as_deref() == Some("programming language") || is_language;
    let named = named || rest.len() == 1 && Tool::names(&first.lower);
    let plain = denied.is_none() || rest.iter().skip(1).all(|word| word.capital); // "I don't know Python well"
    (plain && (named || class.is_some() || is_language) && !of_task && is_code && rest.len() <= MOST_NAME + 1)
        .then(|| fact("what somebody uses"))
}

/// "I smoke", "I don't drink", "I can't swim", "I smoke again".
fn habit(s: &Sentence<'_>) -> Option<Reading> {
    let is_new = s.words.last().is_some_and(|word| ["now", "again"].contains(&word.lower.as_str()));
    let can = || s.behind(0, &["i can", "we can"]).filter(|_| is_new);
    let at = s.behind(0, &NOT).or_else(can).or_else(|| ["i", "we"].contains(&s.word(0)).then_some(1))?;
    let verb = adverbs(s, at);
    let end = s.behind(verb, &ALONE).filter(|_| !s.words[verb].capital)?; // "I Gamble" is a part of "I work for Procter and Gamble"
    let again = end + 1 == s.words.len() && (s.word(end) == "again" || s.word(end) == "now" && among(&OF_NOW, s.word(verb)));
    (end == s.words.len() || again).then(|| fact("what somebody does"))
}

/// "I'm from Brazil", "I was born in 1990", "I studied physics", "I collect stamps", "I follow a keto diet".
fn origin(s: &Sentence<'_>) -> Option<Reading> {
    if let Some(at) = s.behind(0, &FROM) {
        let is_place = s.words.get(at).is_some_and(|word| word.capital && !among(&DEPARTMENTS, &word.lower) || word.is_number());
        return (is_place && !s.words[at..].iter().any(|word| word.lower == "to")).then(|| fact("where somebody is from"));
    }
    let collected = || s.behind(0, &["i collect"]).filter(|at| among(&COLLECTED, s.word(*at)));
    let is_followed = || s.words.last().is_some_and(|word| among(&FOLLOWED, &word.lower));
    let followed = || s.behind(0, &["i follow a", "i follow an"]).filter(|_| is_followed());
    let at = s.behind(0, &LEARNT).or_else(collected).or_else(followed)?;
    let first = s.words.get(at)?;
    let says_how = among(&HOW, &first.lower) || among(&AT_ONCE, &first.lower) || first.lower.ends_with("ly");
    let counted = s.words[at..].iter().any(|word| word.is_number() || among(&NUMBERS, &word.lower));
    (!says_how && !counted && s.words.len() - at <= MOST_NAME).then(|| fact("what somebody learnt"))
}

/// "I'm afraid of flying".
fn taste(s: &Sentence<'_>) -> Option<Reading> {
    let at = s.behind(0, &FEARS)?;
    let first = s.words.get(at)?;
    let of_task =
        among(&AT_ONCE, &first.lower) || ["the", "my", "your", "what", "losing", "breaking", "making"].contains(&first.lower.as_str());
    (!of_task && s.words.len() - at <= 2).then(|| Reading { importance: 600, ..Reading::new(Category::Preference, "taste") })
}

#[cfg(test)]
mod tests {
    use crate::gate::Category;
    use crate::gate::tests::stored;

    #[test]
    fn a_plain_fact_of_somebody_is_kept() {
        for text in [
            "I'm left-handed.",
            "I'm still self-employed.",
            "I'm an introvert.",
            "I'm a morning person.",
            "I'm a single mom of two.",
            "I'm Brazilian.",
            "I'm from Porto.",
            "I was born in 1990.",
            "I have a car.",
            "I have two old bikes.",
            "I run a small bakery in Ghent.",
            "I have no kids.",
            "I don't have a car.",
            "I use Vim.",
            "i use vim",
            "I mostly use Firefox and Chrome.",
            "We use Postgres.",
            "We run on AWS.",
            "We deploy with Helm.",
            "I know Python.",
            "I speak Portuguese.",
            "I write Rust.",
            "I code in Python.",
            "Our team uses Kanban.",
            "I smoke.",
            "I don't smoke.",
            "I smoke again.",
            "I can swim now.",
            "I don't use Windows.",
            "I don't speak German.",
            "I speak fluent Japanese.",
            "I know basic Python.",
            "I have a car now.",
            "I have a driver's license.",
            "I'm South African.",
            "I can't swim.",
            "I never cook.",
            "I studied physics.",
            "I have a PhD in physics.",
            "I collect stamps.",
            "I follow a low-carb diet.",
            "I'm afraid of flying.",
        ] {
            let claims = stored(text);
            let is_kept = |claim: &crate::gate::Claim| claim.reason.starts_with("rule: ") && claim.doubt.is_none();
            assert!(claims.len() == 1 && is_kept(&claims[0]), "{text}: {claims:?}");
        }
        let one = |text: &str| stored(text).remove(0);
        for text in [
            "I'm married.",
            "I'm happily married to Ben",
            "We're engaged!",
            "I'm divorced now.",
            "We got married!",
            "I got divorced last year.",
        ] {
            let claim = one(text);
            assert_eq!((claim.category, claim.slot.as_deref()), (Category::Profile, Some("marital status")), "{text}");
        }
    }

    #[test]
    fn what_is_of_the_task_or_of_this_moment_is_no_fact() {
        for text in [
            "I use this function.",
            "I use it.",
            "I use the debugger.",
            "I have a question.",
            "I have a bug.",
            "I have a car crash to report.",
            "I run a test.",
            "I run tests.",
            "I write code.",
            "I write an email.",
            "I know that.",
            "I know the answer.",
            "I know.",
            "I don't know.",
            "I don't have a clue.",
            "I don't have time.",
            "I can't see it.",
            "I'm single-threaded here.",
            "I'm engaged in a discussion.",
            "I'm a bit lost.",
            "I'm from the support team.",
            "I studied hard.",
            "I studied the logs.",
            "I'm afraid of breaking it.",
            "I'm afraid not.",
            "I drive now.",
            "Am I married?",
            "Do I use Vim?",
            "I use Vim?",
            "I use Option B.",
            "I use Table 1.",
            "I support Option A.",
            "We deploy on Friday.",
            "I know Python is slow.",
            "I follow a redirect.",
            "I collect errors.",
            "I studied three options.",
            "I'm from IT.",
            "I come from A to B.",
            "I'm married to Python at this point.",
            "We run it.",
            "We use it on AWS.",
            "We use a for loop.",
        ] {
            assert!(
                stored(text).iter().all(|claim| !claim.reason.starts_with("rule: ") || claim.doubt.is_some()),
                "{text}: {:?}",
                stored(text)
            );
        }
    }
}
