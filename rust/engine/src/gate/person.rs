//! Rules for who somebody is: what they are called, how old they are, where they live and work, and where those live and work who are the
//! user's.

use super::Category;
use super::beings::is_living;
use super::lexicon::CLASSES;
use super::limit::does_besides;
use super::lists::lists;
use super::reading::Reading;
use super::sentence::Sentence;
use super::signs::straight;
use super::tools::Tool;
use super::values::{identifies, spelled};
use super::words::{Word, among, starts};
use crate::units::calendar::{MONTHS, WEEKDAYS, is_named};

lists! { "person":
    /// Names of things that teams move to, and nobody lives in.
    NO_HOME,
    /// Names of things that teams move to, of which some are places as well.
    BRANDS,
    /// How somebody says where they live.
    LIVES,
    /// How somebody says whom they work for.
    WORKS,
    /// How somebody says in which team they are.
    TEAMS,
    /// How somebody says where another one lives.
    OTHERS_LIVE,
    /// How somebody says whom another one works for.
    OTHERS_WORK,
    /// How somebody says what they are called.
    NAMES,
    /// Words behind "call me" that name nobody: "call me back", "call me old-fashioned".
    NO_CALL,
    /// Times of other languages, with a small letter or in another script: "call me ma\u{F1}ana".
    pub(super) OTHER_TIMES,
    /// Nouns behind "I work for a" that are nobody: "a living", "a while".
    NO_EMPLOYER,
    /// Words of what people join beside their work: "the running club".
    CLUBS,
}

pub(super) fn name(s: &Sentence<'_>) -> Option<Reading> {
    let at = NAMES.iter().find_map(|opening| starts(s.words, 0, opening))?;
    let thing = ["a", "an"].contains(&s.word(at)) || s.word(at) == "the" && s.words.get(at + 1).is_some_and(|word| !word.capital);
    let tells = |word: &Word| !word.capital || word.lower.chars().any(|letter| letter > '\u{24F}'); // Morgen is a name as well
    let is_time = s.word(at - 1) == "me" && s.words.get(at).is_some_and(|word| tells(word) && among(&OTHER_TIMES, &word.lower));
    if s.negated(at) || is_time || among(&NO_CALL, s.word(at)) || thing && !s.words[at].capital {
        return None;
    }
    let (value, end) = s.value(at)?;
    let value = value.strip_suffix(" again").unwrap_or(&value); // "call me Ana again"
    if let Some((first, _)) = value.split_once('/') {
        // "I go by they/them"
        let pronouns = among(&["he", "she", "they", "it", "ze", "xe", "any"], &first.to_lowercase());
        return pronouns.then(|| {
            Reading::new(Category::Profile, "pronouns")
                .told(format!("The user's pronouns are {value}."), !s.says_more(end))
                .slot("pronouns")
        });
    }
    let whole = !s.says_more(end);
    (end - at <= 4 && identifies("name", value))
        .then(|| Reading::new(Category::Profile, "name").told(format!("The user's name is {value}."), whole).slot("name"))
}

/// Where somebody lives and works, how old they are.
pub(super) fn person(s: &Sentence<'_>) -> Option<Reading> {
    let at = |openings: &[&str]| openings.iter().find_map(|opening| starts(s.words, 0, opening));
    let profile = |rule, text: String, end, slot: &str| {
        Some(Reading::new(Category::Profile, rule).told(text, !s.says_more_than_when(end)).slot(slot))
    };
    if let Some(at) = at(&LIVES) {
        let (place, end) = s.value(at)?;
        // "I live in fear" and "I live in a small flat" say how somebody lives, and not where.
        let is_age = s.word(at).ends_with("'s") || s.words[at..].iter().any(|word| among(&["times", "world", "age", "era"], &word.lower));
        if let Some(home) = dwells(s, at) {
            return Some(home);
        }
        return Some(if s.names(at) && !is_age && !is_tool(s.word(at)) && !is_part_of_the_time(s, at) {
            home(s, &place, end)
        } else {
            Reading::new(Category::Semantic, "how somebody lives")
        });
    }
    if let Some(reading) = moved(s).or_else(|| team(s)) {
        return Some(reading);
    }
    if let Some(at) = at(&WORKS).or_else(|| joined(s)) {
        let (company, end) = s.value(at)?;
        if is_part_of_the_time(s, at) {
            return Some(Reading::new(Category::Semantic, "how somebody works"));
        }
        if s.word(at - 1) == "joined" && s.words[at..end].iter().any(|word| among(&CLUBS, &word.lower)) {
            return Some(Reading::new(Category::Semantic, "a club that somebody joined"));
        }
        let employs = among(&["a", "an", "the", "my", "our", "myself"], s.word(at)) && !is_no_employer(s, at, end);
        if !employs && !s.names(at) {
            return Some(Reading::new(Category::Semantic, "how somebody works"));
        }
        return profile("employer", format!("The user works for {company}."), end, "employer");
    }
    if let Some(at) = at(&["i work as", "i'm working as", "i now work as"]) {
        let (job, end) = s.value(at)?;
        return profile("occupation", format!("The user works as {job}."), end, "occupation");
    }
    let aged = at(&["i'm", "i am", "i turned", "i just turned"])?;
    let years = s.words.get(aged).filter(|word| word.is_number() && word.lower.len() <= 3)?;
    let says_age = starts(s.words, aged + 1, "years old").is_some() || s.word(1) == "turned" || s.word(1) == "just";
    if says_age {
        let end = starts(s.words, aged + 1, "years old").unwrap_or(aged + 1);
        return profile("age", format!("The user is {} years old.", years.lower), end, "age");
    }
    None
}

/// "I live in | a flat in Brno": the home is the place that a name is given for.
fn dwells(s: &Sentence<'_>, at: usize) -> Option<Reading> {
    const NEAR: usize = 6;
    const DWELLINGS: [&str; 14] = [
        "flat",
        "house",
        "apartment",
        "village",
        "town",
        "cottage",
        "studio",
        "condo",
        "bungalow",
        "farm",
        "loft",
        "suburb",
        "room",
        "place",
    ];
    let behind = |place: &usize| ["in", "near"].contains(&s.word(place - 1)) && among(&DWELLINGS, s.word(place - 2));
    let place = (at + 3..s.words.len().min(at + NEAR)).find(behind).filter(|_| ["a", "an", "the", "our"].contains(&s.word(at)))?;
    let is_home = is_place(s, place) && s.words[place].capital && !is_part_of_the_time(s, at) && !(at..place).any(|at| s.parted(at));
    is_home.then(|| Reading::new(Category::Profile, "home").slot("home"))
}

/// "We moved last month to Chepstow", "we relocated to Porto": words for when it was, and no others, stand before the place.
fn moved(s: &Sentence<'_>) -> Option<Reading> {
    const SUBJECTS: [&str; 4] = ["i", "we", "i've", "we've"];
    const TIMES: [&str; 7] = ["week", "month", "year", "weekend", "summer", "winter", "spring"];
    let verb = (1..=2).find(|at| among(&SUBJECTS, s.word(0)) && ["moved", "relocated"].contains(&s.word(*at)))?;
    let then = match (s.word(verb + 1), s.word(verb + 2)) {
        ("last" | "this", time) if among(&TIMES, time) || is_named(time) => verb + 3,
        ("in", month) if MONTHS.contains(&month) => verb + 3,
        ("yesterday" | "recently", _) => verb + 2,
        _ => verb + 1,
    };
    let direct = then == verb + 1;
    // "I moved to Leeds" is what somebody switched to.
    let place = (s.word(then) == "to" && !(direct && s.word(verb) == "moved")).then_some(then + 1)?;
    let (value, end) = s.value(place).filter(|_| is_place(s, place) && s.words[place].capital)?;
    let reading = home(s, &value, end);
    Some(if direct { reading } else { Reading { text: None, ..reading } })
}

/// "I've moved to the identity team", "I'm on the payments team now": the team of somebody, of which they have one at a time.
fn team(s: &Sentence<'_>) -> Option<Reading> {
    const OTHERWISE: [&str; 23] = [
        "same",
        "whole",
        "wrong",
        "other",
        "new",
        "football",
        "gym",
        "quiz",
        "wedding",
        "swim",
        "fantasy",
        "losing",
        "winning",
        "soccer",
        "basketball",
        "hockey",
        "rugby",
        "cricket",
        "baseball",
        "volleyball",
        "debate",
        "pub",
        "hiring",
    ];
    let at = TEAMS.iter().find_map(|opening| starts(s.words, 0, opening))?;
    let end = (at + 1..s.words.len().min(at + 4)).find(|end| s.word(*end) == "team" && !(at..*end).any(|at| s.parted(at)))?;
    let is_one = !(at..end).any(|at| ["with", "of", "for", "from", "and"].contains(&s.word(at)) || among(&OTHERWISE, s.word(at)));
    let last = s.words.iter().rposition(|word| !word.is_mark() && word.lower != "now")? + 1;
    let named = s.between(at, end).filter(|_| is_one && last == end + 1)?;
    Some(Reading::new(Category::Profile, "what somebody does").text(format!("The user is on the {named} team.")).slot("team"))
}

/// Whether words that begin with an article or "my" name no employer, by their noun ("a good cause"), or because they end in "of it".
fn is_no_employer(s: &Sentence<'_>, at: usize, end: usize) -> bool {
    const OVER: [&str; 17] = [
        "of", "in", "with", "without", "that", "from", "at", "on", "to", "before", "after", "until", "during", "each", "every", "per", "or",
    ];
    let over = |at: &usize| among(&OVER, s.word(*at));
    let noun = (at + 1..end).find(over).unwrap_or(end) - 1;
    among(&NO_EMPLOYER, s.word(noun)) || starts(s.words, noun + 1, "of it").is_some()
}

/// Where the new employer begins: "I left Siemens and joined Bosch", "I quit my job to work for Bosch".
fn joined(s: &Sentence<'_>) -> Option<usize> {
    const JOINS: [&str; 8] =
        ["and joined", "to join", "and i joined", "and started at", "and now work at", "and now work for", "to work at", "to work for"];
    let left = ["i left", "i've left", "i quit", "i've quit"].iter().find_map(|opening| starts(s.words, 0, opening))?;
    let at = (left..s.words.len().min(left + 5)).find_map(|at| JOINS.iter().find_map(|joins| starts(s.words, at, joins)))?;
    s.words.get(at).filter(|word| word.capital).map(|_| at) // and not "to join my wife"
}

/// "At Lidl on Saturdays", "in Porto during the summer": beside where somebody works and lives otherwise.
fn is_part_of_the_time(s: &Sentence<'_>, at: usize) -> bool {
    const TIMES: [&str; 12] =
        ["weekends", "weekend", "evenings", "mornings", "nights", "summer", "summers", "winter", "winters", "holidays", "side", "semester"];
    let is_days = |word: &str| word.strip_suffix('s').is_some_and(|day| WEEKDAYS.contains(&day));
    let behind = |at: usize| ["on", "at", "in", "during", "every", "the"].contains(&s.word(at - 1));
    let is_time =
        |at: usize| behind(at) && (is_days(s.word(at)) || among(&TIMES, s.word(at)) || s.word(at - 1) == "every" && is_named(s.word(at)));
    let lives = ["live", "living", "stay"].contains(&s.word(1)) || ["live", "living"].contains(&s.word(2));
    let is_month = |at: usize| lives && s.word(at - 1) == "in" && MONTHS.contains(&s.word(at));
    let is_seldom = |at: usize| ["part-time", "sometimes", "occasionally", "seasonally"].contains(&s.word(at));
    // "I live in Leeds and | play padel on Mondays" says when something else is.
    let end = (at + 1..s.words.len()).find(|at| does_besides(s, *at)).unwrap_or(s.words.len());
    (at + 1..end).any(|at| is_time(at) || is_month(at) || is_seldom(at))
}

pub(super) fn home(s: &Sentence<'_>, place: &str, end: usize) -> Reading {
    // "We moved to York in May": the month says when.
    let dated = |when: &str| {
        when.split(' ').next().is_some_and(|word| word.starts_with(|first: char| first.is_ascii_digit()) || is_named(&word.to_lowercase()))
    };
    let place = place.rsplit_once(" in ").filter(|(_, when)| dated(when)).map_or(place, |(place, _)| place);
    // "I moved to Lisbon in the summer" does not live there in the summer.
    let moved = s.words.iter().take(5).any(|word| ["moved", "relocated"].contains(&word.lower.as_str()));
    let when = moved && [" in ", " during ", " on ", " at "].iter().any(|when| place.contains(when));
    let whole = !s.says_more_than_when(end) && !place.contains(" with ") && !when;
    Reading::new(Category::Profile, "home").told(format!("The user lives in {place}."), whole).slot("home")
}

/// Whether somebody who moved to what begins at a word lives there now: a name, of no tool, and where "we" moved, none that looks like one.
pub(super) fn is_place(s: &Sentence<'_>, at: usize) -> bool {
    let is_time = is_named(s.word(at)) || s.word(at).bytes().any(|byte| byte.is_ascii_digit()); // "to Friday", "to E4"
    let seems_tool = s.word(at).contains(['.', '-', '/']) || s.words[at..].iter().any(|word| word.is_number() && word.lower.len() < 4);
    s.names(at)
        && !is_time
        && !is_tool(s.word(at))
        && !serves(s, at)
        && !(["we", "we've"].contains(&s.word(0)) && (seems_tool || !s.words[at].capital))
}

/// Whether a word names what serves people ("Vodafone", "Firefox"), and nothing shows that it is a place: "Santander in Spain", "Fish Hoek".
fn serves(s: &Sentence<'_>, at: usize) -> bool {
    let capital = |at: usize| s.words.get(at).is_some_and(|word| word.capital && !is_named(&word.lower));
    let is_over = |at: usize| s.words.get(at).is_none_or(Word::is_mark);
    let is_explained = capital(at + 1) && (!s.parted(at + 1) || is_over(at + 2)) || s.word(at + 1) == "in" && capital(at + 2);
    (among(&BRANDS, s.word(at)) || Tool::has_class(s.word(at))) && !is_explained
}

/// Whether a word names what one works with, and nobody lives in: "VS Code", "Kubernetes".
fn is_tool(word: &str) -> bool {
    const OF_WORK: [&str; 3] = ["editor", "operating system", "database"];
    among(&NO_HOME, word) || CLASSES.iter().any(|(class, words)| OF_WORK.contains(class) && words.contains(&word))
}

/// "My mom lives in Kyiv", "my sister works at Google now": where those live and work who are the user's.
pub(super) fn another(s: &Sentence<'_>) -> Option<Reading> {
    let verb = (2..5).find(|at| s.word(0) == "my" && is_living(s.word(at - 1)))?;
    let behind = |verbs: &[&str]| verbs.iter().find_map(|phrase| starts(s.words, verb, phrase)).filter(|at| s.names(*at));
    let (at, does, slot) =
        behind(&OTHERS_LIVE).map(|at| (at, "lives in", "home")).or_else(|| behind(&OTHERS_WORK).map(|at| (at, "works for", "employer")))?;
    let (named, (value, end)) = (straight(&s.between(1, verb)?), s.value(at)?);
    let plural = is_of_several(&s.words[..at], verb);
    let does = match (plural, does) {
        (true, "lives in") => "live in",
        (true, _) => "work for",
        (false, does) => does,
    };
    let possessive = if plural && named.ends_with('s') { "'" } else { "'s" };
    let reading = Reading::new(Category::Semantic, "of another")
        .told(format!("The user's {named} {does} {value}."), !s.says_more_than_when(end))
        .slot(spelled(&format!("{}{possessive} {slot}", named.to_lowercase())));
    Some(reading)
}

/// Whether the verb of some words is one of several subjects: "live" is, "lives" is not. A past does not tell, and the word before it does.
fn is_of_several(words: &[Word], verb: usize) -> bool {
    let says = |verbs: &[&str]| words[verb..].iter().any(|word| among(verbs, &word.lower));
    let subject = words[verb - 1].lower.as_str();
    let ends = subject.ends_with('s') && !subject.ends_with("ss") || subject == "children";
    !says(&["lives", "works", "is", "has"]) && (says(&["live", "work", "are", "have"]) || ends)
}
