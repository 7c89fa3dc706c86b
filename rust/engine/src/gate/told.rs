//! Rules for what somebody tells of themselves in few words: what they do, whom they have, what befell them.

use super::Category;
use super::beings::is_kin;
use super::health::of_health;
use super::introduction::{GIVEN, called};
use super::lexicon::{FILLERS, NUMBERS, TIMES};
use super::lists::lists;
use super::plain::marital;
use super::reading::Reading;
use super::sentence::Sentence;
use super::signs::{has_colon, is_apostrophe};
use super::values::{PREPOSITIONS, is_judged, is_no_name};
use super::words::{Word, among, has, starts};

lists! { "told":
    /// How somebody says that they have a new job.
    HIRED,
    /// Last words of what somebody is by trade.
    pub(super) TRADES,
    /// Those who lead others, where nothing stands behind the word: "a team lead", and not "a lead singer".
    LEADERS,
    /// Words that follow "I'm a" and say nothing lasting.
    NOT_LASTING,
    /// Words with a capital behind "I'm" that do not name a person: peoples, faiths and moods. The peoples are those of all states, in
    /// the forms that English has. The list leaves out words that are first names as often, as "Dane" and "Finn".
    pub(super) NO_NAMES,
    /// Words that say what somebody does for longer, or what they are at.
    DOES,
    /// Events that befall somebody.
    EVENTS,
    /// How somebody says with whom they go out.
    DATING,
}

/// The reading of a sentence that has one of these forms.
pub(super) fn of_oneself(s: &Sentence<'_>) -> Option<Reading> {
    of_health(s)
        .or_else(|| job(s))
        .or_else(|| trade(s))
        .or_else(|| introduced(s))
        .or_else(|| dating(s))
        .or_else(|| kin(s))
        .or_else(|| measured(s))
        .or_else(|| occupied(s))
        .or_else(|| marital(s))
        .or_else(|| event(s))
}

/// "I got a new job at Siemens", "I got a new job as a teacher". "... but turned it down" takes the place of nothing.
fn job(s: &Sentence<'_>) -> Option<Reading> {
    let opened = |openings: &[&str]| openings.iter().find_map(|opening| starts(s.words, 0, opening));
    let begun = opened(&HIRED)?;
    let verb = s.word(begun);
    let (value, end) = s.value(begun + 1)?;
    let (rule, text) = match verb {
        "as" => ("occupation", format!("The user works as {value}.")),
        "at" | "with" if s.words[begun + 1].capital => ("employer", format!("The user works for {value}.")),
        _ => return None,
    };
    if is_taken_back(s, end, &["but", "not", "though", "although", "however"]) {
        return Some(Reading::new(Category::Semantic, "how somebody works"));
    }
    let whole = !s.says_more(end) && (verb != "as" || !value.contains(" at "));
    Some(Reading::new(Category::Profile, rule).told(text, whole).slot(rule))
}

/// Whether one of some words stands behind a value and says that it is not quite so: "... but turned it down", "..., not by trade".
fn is_taken_back(s: &Sentence<'_>, end: usize, words: &[&str]) -> bool {
    s.words[end..].iter().any(|word| among(words, &word.lower))
}

/// Adjectives before a trade that leave it one: "a new teacher".
const OF_TRADE: [&str; 4] = ["new", "young", "old", "free"];

/// "I'm a nurse": the occupation where it is a trade, else a fact of somebody. "A terrible cook" names no trade.
fn trade(s: &Sentence<'_>) -> Option<Reading> {
    let at = ["i'm a", "i'm an", "i am a", "i am an", "i'm now a", "i became a", "i became an"]
        .iter()
        .find_map(|opening| starts(s.words, 0, opening))?;
    let (value, end) = s.value(at)?;
    let retired = among(&["retired", "former", "ex", "aspiring"], s.word(at));
    let place = (at..end.min(at + 4)).find(|place| among(&TRADES, s.word(*place)) || leads(s, at, *place))?;
    let judged = place > at && is_judged(s.word(at)) && !among(&OF_TRADE, s.word(at));
    if retired || among(&NOT_LASTING, s.word(at)) || end - place > 6 {
        return retired.then(|| Reading::new(Category::Profile, "what somebody is"));
    }
    if judged || is_taken_back(s, end, &["not", "never"]) {
        return Some(Reading::new(Category::Semantic, "what somebody is"));
    }
    let article = s.word(at - 1);
    let text = format!("The user works as {article} {value}.");
    Some(Reading::new(Category::Profile, "occupation").told(text, !s.says_more(end)).slot("occupation"))
}

/// Those whom somebody leads by trade.
const GROUPS: [&str; 8] = ["team", "squad", "department", "division", "unit", "project", "lab", "company"];

/// Whether somebody leads others by their trade, which begins before a word: "a team lead", "a director at Shell". "A lead" names none.
fn leads(s: &Sentence<'_>, begin: usize, at: usize) -> bool {
    let next = s.words.get(at + 1);
    // "Lead of the platform squad", and not "director of the homeowners' association"
    let of_work = || s.words.last().is_some_and(|last| among(&GROUPS, &last.lower)) && !s.words[at..].iter().any(|word| word.lower == "my");
    let is_over = next.is_none_or(|next| match &*next.lower {
        "now" | "at" => true,
        "of" => of_work(),
        _ => next.is_mark(),
    });
    among(&LEADERS, s.word(at)) && (is_over || s.parted(at + 1)) && (at > begin || s.word(at) != "lead")
}

/// "I'm Maria", "Maria here", "This is Maria from the Atlas team": a name alone. In small letters it is one that people are given: "i'm maria".
fn introduced(s: &Sentence<'_>) -> Option<Reading> {
    if let Some(at) = of_team(s).or_else(|| (s.word(1) == "here").then_some(0)) {
        let over = at > 0 || s.words.len() == 2 || s.parted(2) || s.words[2].is_mark() || has_colon(s.text, s.words[1].end);
        return (over && among(&GIVEN, s.word(at))).then(|| called(&s.text[s.words[at].start..s.words[at].end]));
    }
    let at = ["i'm", "i am", "name's", "the name's"].iter().find_map(|opening| starts(s.words, 0, opening))?;
    let (value, end) = s.value(at)?;
    let is_name = |word: &Word| {
        let tail = &s.text[word.start..word.end];
        word.capital
            && tail.chars().skip(1).all(|letter| letter.is_lowercase() || letter == '-' || is_apostrophe(letter))
            && !is_no_name(&word.lower)
            && tail.len() > 1
    };
    let over = end == s.words.len() || s.parted(end) || s.words[end].is_mark();
    let known = crate::units::calendar::is_named(s.word(at)) || is_no_name(&value.to_lowercase());
    let is_given = end == at + 1 && among(&GIVEN, s.word(at));
    let named = is_given || end - at <= 2 && s.words[at..end].iter().all(is_name);
    (over && !known && named)
        .then(|| Reading::new(Category::Profile, "introduction").told(format!("The user's name is {value}."), !s.says_more(end)))
        .map(|reading| reading.slot("name"))
}

/// Where the name stands in "this is Dana from the Atlas team", and in "hi, this is Dana".
fn of_team(s: &Sentence<'_>) -> Option<usize> {
    const GREETS: [&str; 5] = ["hi", "hey", "hello", "yo", "morning"];
    let at = starts(s.words, 0, "this is")?;
    let last = s.words.iter().rposition(|word| !word.is_mark())?;
    let is_team = || s.word(at + 1) == "from" && among(&GROUPS, s.word(last)) && last <= at + 6;
    let before = s.text[..s.words[0].start].trim_end_matches([' ', ',', '!']).to_lowercase();
    let greets = || last == at && GREETS.iter().any(|greeting| before.ends_with(greeting));
    (is_team() || greets()).then_some(at)
}

/// "I'm dating Sam".
fn dating(s: &Sentence<'_>) -> Option<Reading> {
    let at = DATING.iter().find_map(|opening| starts(s.words, 0, opening))?;
    let named = s.words.get(at).is_some_and(|word| word.capital && !is_no_name(&word.lower));
    named.then(|| Reading::new(Category::Profile, "whom somebody has").slot("partner"))
}

/// "We have a dog called Rex", "I have two kids".
fn kin(s: &Sentence<'_>) -> Option<Reading> {
    let at = ["i have", "we have", "i've got", "we've got", "i got", "we got", "we adopted", "i adopted"]
        .iter()
        .find_map(|opening| starts(s.words, 0, opening))?;
    let counted =
        ["a", "an", "one", "several"].contains(&s.word(at)) || among(&NUMBERS, s.word(at)) || s.words.get(at).is_some_and(Word::is_number);
    let first = (at + 1..(at + 4).min(s.words.len())).find(|place| is_kin(s.word(*place)))?;
    let behind = (first..s.words.len()).find(|place| !is_kin(s.word(*place))).unwrap_or(s.words.len());
    (counted && is_head_before(s, behind) && s.words.len() <= 20).then(|| Reading::new(Category::Profile, "whom somebody has"))
}

/// Whether no other noun stands behind whom somebody has, and makes a thing of them: "a dog show", "a pet peeve".
fn is_head_before(s: &Sentence<'_>, behind: usize) -> bool {
    let Some(word) = s.words.get(behind) else { return true };
    let lower = word.lower.as_str();
    let goes_on = among(&FILLERS, lower)
        || among(&PREPOSITIONS, lower)
        || among(&TIMES, lower)
        || ["ed", "ing", "ly"].iter().any(|end| lower.ends_with(end));
    word.capital || word.is_number() || word.is_mark() || s.parted(behind) || goes_on
}

/// "I weigh 82 kg now", "I'm 180 cm tall".
fn measured(s: &Sentence<'_>) -> Option<Reading> {
    let number = |at: usize| s.words.get(at).is_some_and(Word::is_number);
    let profile = |rule, value, end| {
        Reading::new(Category::Profile, rule).told(format!("The user's {rule} is {value}."), !s.says_more(end)).slot(rule)
    };
    if let Some(at) = starts(s.words, 0, "i weigh").filter(|at| number(*at)) {
        return s.value(at).map(|(value, end)| profile("weight", value, end));
    }
    let at = starts(s.words, 0, "i'm").or_else(|| starts(s.words, 0, "i am")).filter(|at| number(*at) && has(s.words, "tall"))?;
    let tall = s.words.iter().position(|word| word.lower == "tall")?;
    s.between(at, tall).map(|value| profile("height", value, tall + 1))
}

/// "I'm learning German", "I work on the payments team": a fact of somebody.
fn occupied(s: &Sentence<'_>) -> Option<Reading> {
    let at = DOES.iter().find_map(|opening| starts(s.words, 0, opening))?;
    let names = s.words[at..].iter().any(|word| word.capital || word.lower == "team");
    let refers = ["it", "this", "that", "you", "how"].contains(&s.word(at));
    (!refers && names && s.words.len() <= 16).then(|| Reading::new(Category::Profile, "what somebody does"))
}

/// Words for things that die and move as well, and are nobody.
const NOBODY: [&str; 14] = ["the", "it", "this", "that", "server", "battery", "process", "if", "when", "who", "what", "did", "has", "had"];

/// Whether a name in small letters stands before what befell it, in a sentence without capitals: "miso passed away". "Tests died" has none.
fn is_small_name(s: &Sentence<'_>) -> bool {
    const OF_PEOPLE: [&str; 6] = ["passed away", "was born", "gave birth", "got married", "got engaged", "got divorced"];
    let small = s.words.iter().all(|word| !word.capital) && !among(&NOBODY, s.word(0));
    small && OF_PEOPLE.iter().any(|event| starts(s.words, 1, event).is_some())
}

/// "Tom died yesterday", "we got divorced".
fn event(s: &Sentence<'_>) -> Option<Reading> {
    let somebody = s
        .words
        .first()
        .is_some_and(|word| !among(&NOBODY, &word.lower) && (word.capital || ["i", "we", "my", "our"].contains(&word.lower.as_str())))
        || is_small_name(s);
    let removed = starts(s.words, 0, "i had my").is_some_and(|at| (at + 1..s.words.len().min(at + 4)).any(|at| s.word(at) == "removed"));
    let happened = removed || EVENTS.iter().any(|phrase| (1..s.words.len().min(5)).any(|at| starts(s.words, at, phrase).is_some()));
    let machine =
        s.words.iter().any(|word| among(&["laptop", "phone", "battery", "server", "computer", "process", "car", "tv", "app"], &word.lower));
    (somebody && happened && !machine && s.words.len() <= 16)
        .then(|| Reading { importance: 700, ..Reading::new(Category::Episodic, "what befell somebody") })
}

#[cfg(test)]
mod tests {
    use crate::gate::tests::stored;

    #[test]
    fn who_leads_others_has_an_occupation() {
        let is_trade = |text: &str| stored(text).iter().any(|claim| claim.slot.as_deref() == Some("occupation"));
        for text in ["I'm now a team lead", "I'm a tech lead of the platform squad", "I'm a director at Shell", "I became a supervisor"] {
            assert!(is_trade(text), "{text}: {:?}", stored(text));
        }
        for text in ["I'm a lead singer", "I'm a lead", "I'm a big fan of team leads", "I'm a bad team lead", "I'm a team lead's nightmare"]
            .into_iter()
            .chain([
                "I'm a team lead in my raid group",
                "I'm a director of the homeowners' association",
                "I'm a supervisor for my niece's thesis",
            ])
        {
            assert!(!is_trade(text), "{text}: {:?}", stored(text));
        }
    }
}
