//! A sentence is parted into the value that it gives, and the rest that it says beside it: "I live in Ghent | with my wife Els", "my name is Ana | and I'm diabetic".
//!
//! A value ends when its slot has another one, and what is said beside it may hold for years. So the clause of the value is cut off, and the
//! rest is a claim of its own, in words that do not state the value again. Words that only say how or when the value holds go with it: "my
//! alarm is at 7:30 | unless it rains". Where no cut is clean, and the rest tells of somebody's health, the whole sentence stands
//! beside the value.

use super::beings::{is_kin, is_living};
use super::clauses::MOST_CLAUSES;
use super::health::{is_degree, is_for_condition};
use super::lexicon::{FIRST, SECOND};
use super::lists::lists;
use super::reading::Reading;
use super::rules;
use super::sentence::Sentence;
use super::words::{Word, among, starts, words};
use crate::units::calendar::is_named;

lists! { "rest":
    /// Verbs behind the subject of a clause.
    VERBS,
    /// First words of a clause that speak of what was said before them, and so go with it.
    REFERS,
    /// Words for somebody who was named before.
    OF_OTHERS,
    /// Verbs of somebody whom the first clause names, behind "and".
    OF_THEM,
    /// Words behind which a reason or another detail follows.
    LEADS,
    /// Words behind "a nurse at" that name nobody who employs, where nothing is written with a capital.
    NO_FIRM,
    /// Those who are somewhere, and do not work there.
    LEARNERS,
    /// Words with which a clause goes on behind the name of a firm.
    BEHIND_FIRM,
}

/// The rest of a clause.
pub(super) struct Rest {
    /// The word behind the last of the clause that gives the value.
    pub over: usize,
    /// The first word of the rest.
    pub from: usize,
    /// The rest in words that stand alone; `None` where it is a clause that does.
    pub text: Option<String>,
    /// Whether these are those of the whole sentence.
    pub is_whole: bool,
}

/// The words of a rest.
enum Said {
    /// Its own, which stand alone.
    AsItIs,
    /// Other words, which do.
    Otherwise(String),
}

/// The rule of a rest that no other rule reads.
pub(super) const BESIDE: &str = "said beside a value";

/// The rest of a clause that gives a slot a value, or tells of health. `informs` says whether words that no rule reads say anything.
pub(super) fn rest(s: &Sentence<'_>, slot: Option<&str>, informs: &dyn Fn(&[Word]) -> bool) -> Option<Rest> {
    let skip = rules::preamble(s);
    let clause = Sentence { text: s.text, words: &s.words[skip..] };
    let found = (1..clause.words.len()).filter_map(|at| boundary(&clause, at)).take(MOST_CLAUSES);
    // A "who" that asks nothing goes on: "my wife is Els, who is diabetic".
    let more = |over: usize| clause.says_more(over) || among(&LEADS, clause.word(over));
    let cut = |(over, from): (usize, usize)| {
        let first = Sentence { text: s.text, words: clause.words.get(..over).filter(|_| more(over))? };
        let text = match alone(&clause, over, from, slot, informs)? {
            Said::AsItIs => None,
            Said::Otherwise(text) => Some(text),
        };
        let gives = rules::read(&first).filter(|reading| same_claim(reading, slot))?;
        // A sentence that stands whole beside its value leaves only the value itself in the slot.
        let is_whole = text.as_ref().is_some_and(|text| *text == whole(&clause));
        (!is_whole || gives.text.is_some()).then_some(Rest { over: over + skip, from: from + skip, text, is_whole })
    };
    found.filter(|(over, _)| *over > 1).find_map(cut)
}

/// Whether a reading says what the whole clause was read as: a value of the slot, or without one, something of the user's health.
fn same_claim(reading: &Reading, slot: Option<&str>) -> bool {
    reading.slot.as_deref() == slot && (slot.is_some() || reading.is_of_health())
}

/// Where a clause may be over before a word, and where the rest begins: behind a sign, "and", or before "with", "because" and "at Figma".
fn boundary(s: &Sentence<'_>, at: usize) -> Option<(usize, usize)> {
    let joins = |at: usize| ["and", "but", "so", "plus"].contains(&s.word(at));
    if joins(at - 1) {
        return Some((at - 1, at));
    }
    if !joins(at) && (s.parted(at) || among(&LEADS, s.word(at))) {
        return Some((at, at));
    }
    firm(s, at).map(|_| (at - usize::from(["working", "employed"].contains(&s.word(at - 1))), at))
}

/// Where the name of a firm begins behind the "at" at a word: "a nurse at | Figma", "a developer at a company called | Freightly". "At heart",
/// "at a school" and "at the beach" name none, and nor does what goes on with a clause: "a nurse at Figma | yelled at me".
fn firm(s: &Sentence<'_>, at: usize) -> Option<usize> {
    const CALLED: usize = 6;
    let was = s.words[..at].iter().any(|word| ["was", "were", "former", "used"].contains(&word.lower.as_str()));
    if s.word(at) != "at" || among(&LEARNERS, s.word(at - 1)) || was {
        return None;
    }
    let is_name = |at: usize| s.words.get(at).is_some_and(|word| word.capital) && !is_named(s.word(at)) && !among(&NO_FIRM, s.word(at));
    let called = || (at + 2..s.words.len().min(at + CALLED)).find(|at| ["called", "named"].contains(&s.word(*at)));
    let first = match s.word(at + 1) {
        "a" | "an" => called()? + 1,
        _ => at + 1,
    };
    // "At Figma in Lisbon", and not "at Figma on maternity leave"
    let is_over = |at: usize| {
        let begins_place = s.words.get(at + 1).is_some_and(|word| word.capital && !word.lower.starts_with("i'") && word.lower != "i");
        !["in", "on", "for"].contains(&s.word(at)) || begins_place
    };
    let small = first == at + 1 && s.words.iter().all(|word| !word.capital);
    if small {
        let over = (first..s.words.len()).find(|at| s.words[*at].is_mark() || among(&BEHIND_FIRM, s.word(*at))).unwrap_or(s.words.len());
        let is_word = s.word(first).bytes().all(|byte| byte.is_ascii_alphabetic());
        let is_firm = over == first + 1 && is_word && !among(&NO_FIRM, s.word(first)) && s.names(first) && is_over(over);
        return is_firm.then_some(first);
    }
    let name = first + usize::from(s.word(first) == "the");
    let goes_on = |at: usize| is_name(at) || ["of", "and", "the"].contains(&s.word(at)) && (is_name(at + 1) || is_name(at + 2));
    let mut over = (name..s.words.len()).find(|at| !goes_on(*at) || *at > name && s.parted(*at)).unwrap_or(s.words.len());
    let ends = |at: usize| s.words.get(at).is_none_or(Word::is_mark) || among(&BEHIND_FIRM, s.word(at));
    // "St. Mary's | hospital"
    over += usize::from(!ends(over) && !s.parted(over) && ends(over + 1));
    let explains = over < s.words.len() && s.parted(over) && ["a", "an", "the"].contains(&s.word(over));
    // "At Figma, can you help me?"
    let asks = over < s.words.len() && s.parted(over) && !s.says_more(over);
    let is_code = over == name + 1 && s.word(name).len() <= 3 && s.word(name).bytes().any(|byte| byte.is_ascii_digit()); // "at L5"
    (is_name(name) && !is_code && is_over(over) && (ends(over) || explains || asks)).then_some(first)
}

/// The rest from a word on in words that stand alone; `None` where nothing can be parted there.
fn alone(s: &Sentence<'_>, over: usize, from: usize, slot: Option<&str>, informs: &dyn Fn(&[Word]) -> bool) -> Option<Said> {
    if s.word(from) == "at" {
        // "I'm a nurse | at Figma": the trade ends by another one, and the firm does not.
        let i = if s.words[0].capital { "I" } else { "i" };
        let works = |firm: usize| format!("{i} work at {}", behind(s, firm));
        return firm(s, from).filter(|_| slot == Some("occupation")).map(|firm| Said::Otherwise(works(firm)));
    }
    let joined = over < from;
    let shared = || if joined { shared(s, from, slot) } else { None };
    let text = shared()
        .or_else(|| slot.and_then(|slot| of_company(s, from, slot).or_else(|| of_name(s, from, slot)).or_else(|| of_them(s, from, slot))));
    if let Some(text) = text {
        return Some(Said::Otherwise(text));
    }
    // "I'm allergic to nuts and | Noa can't have lactose" has a subject of its own.
    let rest = &s.words[from..];
    if slot.is_none() && joined && ["i", "i'm", "i've"].contains(&s.word(0)) && rest[0].capital && is_clause(rest) {
        let says = rules::read(&Sentence { text: s.text, words: rest }).is_some() || tells(rest) || is_of_user(rest) || informs(rest);
        return says.then_some(Said::AsItIs);
    }
    let slot = slot?;
    // "I'm vegetarian, but I eat fish": an exception goes with the value.
    let is_exception = joined && s.word(from - 1) == "but" && !tells(rest);
    if (joined || s.parted(from)) && !is_exception && is_clause(rest) {
        let other = |reading: Reading| reading.slot.as_deref() != Some(slot);
        let read = rules::read(&Sentence { text: s.text, words: rest }).map(other);
        return read.unwrap_or_else(|| tells(rest) || is_of_user(rest) || informs(rest)).then_some(Said::AsItIs);
    }
    // "My wife is Els, who is diabetic" states a value in the words of its attribute, and would end with it.
    (is_for_condition(rest) && !["my", "our", "the"].contains(&s.word(0))).then(|| Said::Otherwise(whole(s)))
}

fn whole(s: &Sentence<'_>) -> String {
    behind(s, 0)
}

/// The text from a word to the end of its sentence.
fn behind(s: &Sentence<'_>, from: usize) -> String {
    s.between(from, s.words.len()).unwrap_or_default()
}

/// Whether words tell of health, or of somebody of the family.
fn tells(words: &[Word]) -> bool {
    is_for_condition(words) || words.iter().any(|word| is_kin(&word.lower))
}

/// Whether a clause is about the user, and speaks of nobody else that was named: "I see her on Mondays" needs the name.
fn is_of_user(words: &[Word]) -> bool {
    let own = words.iter().any(|word| among(&FIRST, &word.lower));
    own && !words.iter().any(|word| among(&REFERS, &word.lower) || among(&OF_OTHERS, &word.lower) || among(&SECOND, &word.lower))
}

/// Whether words are a clause with a subject and a verb, which speaks of nothing that was said before.
fn is_clause(words: &[Word]) -> bool {
    const MOST_SUBJECT: usize = 5;
    let first = words.first().map_or("", |word| word.lower.as_str());
    let own = ["i'm", "i've", "we're", "we've"].contains(&first);
    // In "Research and Development and we use Go" no clause begins with "Development".
    let goes_on = |word: &&Word| !["and", "but", "so", "or", "i", "we"].contains(&word.lower.as_str()) && !among(&LEADS, &word.lower);
    let verb = || words.iter().skip(1).take(MOST_SUBJECT).take_while(goes_on).any(|word| among(&VERBS, &word.lower));
    // "Tom and | I are vegan" begins before "I".
    let is_several = first == "i" && words.get(1).is_some_and(|word| ["are", "were", "aren't", "weren't"].contains(&word.lower.as_str()));
    !is_several && !among(&REFERS, first) && words.len() > 2 && (own || ["i", "we"].contains(&first) || verb())
}

/// "I'm a nurse and | diabetic", "I live in Porto and | work as a nurse": the subject is that of the clause before.
fn shared(s: &Sentence<'_>, from: usize, slot: Option<&str>) -> Option<String> {
    const IS: [&str; 5] = ["i'm", "i am", "we're", "we are", "i've been"];
    let is = IS.iter().any(|opening| starts(s.words, 0, opening).is_some());
    if !is && !["i", "we", "i've", "we've"].contains(&s.word(0)) {
        return None;
    }
    // "I live in Ghent and | Tom and I are vegan" has another subject.
    if s.words[from..].iter().any(|word| ["i", "we"].contains(&word.lower.as_str())) {
        return None;
    }
    // "I'm vegetarian and | Tom can't eat shellfish" speaks of somebody else.
    if s.words[from].capital && is_clause(&s.words[from..]) {
        return None;
    }
    let rest = behind(s, from);
    let told = |subject: &str| {
        let text = format!("{subject} {rest}");
        let reading = rules::read(&Sentence { text: &text, words: &words(&text) })?;
        let other = reading.slot.as_deref() != slot || slot.is_none();
        let named = reading.slot.as_deref() == Some("name");
        (other && !named && (slot.is_some() || reading.is_of_health())).then_some(text)
    };
    let near = &s.words[from..s.words.len().min(from + 3)];
    let state = is_degree(s.word(from)) || is_for_condition(near) && !near.iter().any(|word| among(&VERBS, &word.lower));
    if is && slot.is_some() && is_kin(s.word(from)) {
        return Some(format!("I'm {rest}")); // "I'm a baker and | mother of two"
    }
    (is && state).then(|| told("I'm")).flatten().or_else(|| told("I"))
}

/// "I moved to Ghent | with my wife Els": with whom somebody lives goes on where the home changes.
fn of_company(s: &Sentence<'_>, from: usize, slot: &str) -> Option<String> {
    let company = s.word(from) == "with" && s.words[from..].iter().take(5).any(|word| is_kin(&word.lower));
    let place = (1..from).find(|at| ["in", "to", "at", "near"].contains(&s.word(*at)))?;
    (company && slot == "home").then(|| Some(format!("{} {}", s.between(0, place)?, behind(s, from)))).flatten()
}

/// "I'm Ilse, | a potter from Bruges": what somebody is, whatever they are called.
fn of_name(s: &Sentence<'_>, from: usize, slot: &str) -> Option<String> {
    let is = slot == "name" && ["a", "an"].contains(&s.word(from)) && s.parted(from) && from + 1 < s.words.len();
    is.then(|| format!("I'm {}", behind(s, from)))
}

/// "My son is Max, | he's allergic to nuts": what is said of somebody, by what they are to the user.
fn of_them(s: &Sentence<'_>, from: usize, slot: &str) -> Option<String> {
    let verb = (2..from.min(6)).find(|at| ["is", "are"].contains(&s.word(*at)))?;
    if !["my", "our"].contains(&s.word(0)) || !is_living(slot) {
        return None;
    }
    let them = s.between(0, verb)?;
    let them = them.strip_suffix("'s name").unwrap_or(&them);
    match s.word(from) {
        "he" | "she" | "they" | "who" => (from + 2 < s.words.len()).then(|| format!("{them} {}", behind(s, from + 1))),
        "he's" | "she's" | "who's" => (from + 1 < s.words.len()).then(|| format!("{them}'s {}", behind(s, from + 1))),
        word => among(&OF_THEM, word).then(|| format!("{them} {}", behind(s, from))),
    }
}

#[cfg(test)]
mod tests {
    use crate::gate::tests::stored;

    /// The claims of a text, each with its slot.
    fn told(text: &str) -> Vec<(String, Option<String>)> {
        stored(text).into_iter().map(|claim| (claim.text, claim.slot)).collect()
    }

    #[test]
    fn what_is_said_beside_a_value_is_a_claim_of_its_own() {
        for (text, slot, value, beside) in [
            ("My name is Ana and I'm diabetic", "name", "The user's name is Ana.", "I'm diabetic"),
            ("my name is ana and i'm diabetic", "name", "The user's name is ana.", "i'm diabetic"),
            ("I'm vegetarian and allergic to peanuts", "diet", "I'm vegetarian", "The user is allergic to peanuts."),
            (
                "I live in Ghent with my wife Els and our two kids, Mila and Bo",
                "home",
                "The user lives in Ghent.",
                "I live with my wife Els and our two kids, Mila and Bo",
            ),
            ("We moved to Ghent with the kids", "home", "The user lives in Ghent.", "We moved with the kids"),
            ("I live in Porto with my parents", "home", "The user lives in Porto.", "I live with my parents"),
            ("I'm vegetarian btw, and Joris is allergic to shellfish", "diet", "I'm vegetarian btw", "Joris is allergic to shellfish"),
            ("I'm vegetarian and Tom can't eat shellfish", "diet", "I'm vegetarian", "Tom can't eat shellfish"),
            ("I live in Ghent and Tom can't eat gluten", "home", "The user lives in Ghent.", "Tom can't eat gluten"),
            ("I live in Porto and work as a nurse.", "home", "The user lives in Porto.", "The user works as a nurse."),
            ("I live in Ghent and love hiking", "home", "The user lives in Ghent.", "I love hiking"),
            ("I live in Ghent and Joris lives in Lyon", "home", "The user lives in Ghent.", "Joris lives in Lyon"),
            ("I'm 34 years old and pregnant", "age", "The user is 34 years old.", "I'm pregnant"),
            ("I'm Ilse, a potter from Bruges", "name", "The user's name is Ilse.", "I'm a potter from Bruges"),
            ("I'm a baker and mother of two", "occupation", "The user works as a baker.", "I'm mother of two"),
            ("My standup is at 9:15 and the retro is at 3 pm", "standup", "The user's standup is at 9:15.", "The retro is at 3 pm"),
            ("My dentist is Dr. Claes, and I'm afraid of needles", "dentist", "The user's dentist is Dr. Claes.", "I'm afraid of needles"),
            ("I prefer tea; coffee gives me palpitations", "hot drink", "I prefer tea", "coffee gives me palpitations"),
            ("I prefer tea and my wife prefers coffee", "hot drink", "I prefer tea", "my wife prefers coffee"),
            (
                "Our staging db is pg-07, password rotation is every 30 days",
                "staging db",
                "Our staging db is pg-07.",
                "password rotation is every 30 days",
            ),
            ("My son is Max, he's allergic to nuts", "son", "The user's son is Max.", "My son's allergic to nuts"),
            ("My dog is Rex and is allergic to chicken", "dog", "The user's dog is Rex.", "The user's dog is allergic to chicken."),
            ("My boss is Tom, who hates meetings", "boss", "The user's boss is Tom.", "My boss hates meetings"),
            ("My wife's name is Els, she works at Bosch", "wife", "The user's wife is called Els.", "The user's wife works for Bosch."),
            ("I moved to Lisbon because I have asthma", "home", "The user lives in Lisbon.", "I moved to Lisbon because I have asthma"),
        ] {
            let claims = told(text);
            assert_eq!(claims.len(), 2, "{text}: {claims:?}");
            assert_eq!((claims[0].0.as_str(), claims[0].1.as_deref()), (value, Some(slot)), "{text}");
            assert_eq!(claims[1].0.trim_end_matches('.'), beside.trim_end_matches('.'), "{text}");
            assert_ne!(claims[1].1.as_deref(), Some(slot), "{text}");
        }
    }

    #[test]
    fn a_trade_and_whom_somebody_works_for_are_two_values() {
        for (text, trade, firm) in [
            ("I'm a nurse at Figma", "The user works as a nurse.", "The user works for Figma."),
            ("i'm a nurse at figma", "The user works as a nurse.", "The user works for figma."),
            ("I am a product designer at Blue Bottle now", "The user works as a product designer.", "The user works for Blue Bottle."),
            ("I work as an analyst at Shell.", "The user works as an analyst.", "The user works for Shell."),
            ("I started as a tester at Philips", "The user works as a tester.", "The user works for Philips."),
            ("I got a new job as a teacher at Westfield High", "The user works as a teacher.", "The user works for Westfield High."),
            ("I'm a nurse at St Mary's hospital", "The user works as a nurse.", "The user works for St Mary's hospital."),
            ("I'm a developer at a company called Freightly", "The user works as a developer.", "The user works for Freightly."),
            ("I'm a reporter and editor at the BBC", "The user works as a reporter and editor.", "The user works for the BBC."),
            ("I'm an engineer working at Procter and Gamble", "The user works as an engineer.", "The user works for Procter and Gamble."),
            ("I'm a nurse at Figma, I need help with a letter", "The user works as a nurse.", "The user works for Figma."),
            ("I'm a nurse at Figma in Lisbon", "The user works as a nurse.", "The user works for Figma in Lisbon."),
            ("I'm a nurse at Figma, a design company", "The user works as a nurse.", "I work at Figma, a design company"),
        ] {
            let slotted = |text: &str, slot: &str| (text.to_owned(), Some(slot.to_owned()));
            assert_eq!(told(text), [slotted(trade, "occupation"), slotted(firm, "employer")], "{text}");
        }
        let three: Vec<Option<String>> = told("I'm a nurse at Figma and diabetic").into_iter().map(|(_, slot)| slot).collect();
        assert_eq!(three, [Some("occupation".to_owned()), Some("employer".to_owned()), None]);
        for text in [
            "I'm a nurse at heart",
            "I'm a nurse at the moment",
            "i'm a nurse at heart",
            "i'm a student at uni",
            "i'm a doctor at sea",
            "I'm a doctor at night",
            "I'm a teacher at a school",
            "i'm a teacher at school",
            "I'm a waiter at the beach",
            "I'm a waiter at Christmas",
            "I'm a driver at 5 in the morning",
            "I'm a student at Oxford",
            "I'm a nurse at Figma yelled at the nurse",
            "I'm a writer at Starbucks most days",
            "I'm a bartender at my friend's wedding",
            "I'm a musician at Glastonbury this weekend",
            "My wife is a nurse at Figma",
            "I'm a nurse at Figma for two days",
            "I'm not a nurse at Figma",
            "I'm a former nurse at Figma",
            "I'm a nurse at ICU",
            "I'm an engineer at HQ",
            "I'm an engineer at L5",
            "I'm a waiter at Oktoberfest",
            "i'm a nurse at 80%",
            "i'm a nurse at brunch",
            "I'm a nurse at Figma on maternity leave",
            "I'm a nurse at Figma in my dreams",
        ] {
            let claims = told(text);
            assert!(!claims.iter().any(|(_, slot)| slot.as_deref() == Some("employer")), "{text}: {claims:?}");
        }
    }

    #[test]
    fn a_joke_takes_back_all_that_its_sentence_claimed() {
        assert_eq!(told("I live in Ghent with my wife Els. Just kidding."), []);
        assert_eq!(told("My name is Ana. I live in Ghent with my wife Els. Just kidding.").len(), 1);
    }

    #[test]
    fn two_facts_of_health_are_two_claims() {
        for (text, first, second) in [
            ("I'm allergic to nuts and Penicillin makes me sick", "The user is allergic to nuts.", "Penicillin makes me sick"),
            ("I have asthma and take albuterol every day", "I have asthma", "I take albuterol every day"),
            ("I'm diabetic and allergic to nuts", "I'm diabetic", "The user is allergic to nuts."),
            ("I'm allergic to nuts and diabetic", "The user is allergic to nuts.", "I'm diabetic"),
            ("I'm allergic to peanuts and have asthma", "The user is allergic to peanuts.", "I have asthma"),
        ] {
            let claims: Vec<String> = told(text).into_iter().map(|(text, _)| text).collect();
            assert_eq!(claims, [first, second], "{text}");
        }
    }

    #[test]
    fn what_says_how_or_when_a_value_holds_goes_with_it() {
        for text in [
            "My alarm is at 7:30 unless it rains",
            "Call me Annie from now on",
            "I'm a paramedic, mostly on night shifts in Antwerp",
            "I weigh 71 kg but want to reach 68 by June",
            "I moved from Lyon to Nantes for work",
            "I work at Acme, it's in Ghent",
            "My name is Ana, I hope you're well",
            "My name is Ana and I was wondering if you could help",
            "I switched from Python to Go and love it",
            "I switched to Zed because Vim gave me RSI",
            "My car is a Golf and it needs a new battery",
            "I live in Ghent, about 10 minutes from the station",
            "My phone number is 555-0147, but don't call before 9",
            "My therapist is Dr. Roels and I see her on Mondays",
            "My flight is LH2031 at 16:45, seat 14C",
        ] {
            let claims = told(text);
            assert_eq!(claims.len(), 1, "{text}: {claims:?}");
            assert!(claims[0].1.is_some() && claims[0].0 == text, "{text}: {claims:?}");
        }
        let several = told("I live in Ghent and Tom and I are vegan");
        assert!(several.iter().all(|(text, _)| !text.starts_with("I are") && !text.starts_with("I Tom")), "{several:?}");
        for text in ["My favourite colours are red, green and blue", "I live in Lyon, France", "I work for Procter and Gamble"] {
            assert_eq!(told(text).len(), 1, "{text}");
        }
    }
}
