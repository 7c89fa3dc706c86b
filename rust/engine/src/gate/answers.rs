//! Answers to what a model asked about the user: "Where do you live?" - "Ghent" is said as "I live in Ghent.", which the same rules read as
//! where it is one sentence. "Yes" says what was asked: "Are you vegetarian?" - "yes".

use super::health::CONDITIONS;
use super::lexicon::{CLASSES, NUMBERS};
use super::lists::lists;
use super::rules::read;
use super::sentence::Sentence;
use super::told::TRADES;
use super::values::{PREPOSITIONS, TITLES};
use super::words::{Word, among, has, starts, words};

lists! { "answers":
    /// Words before a question.
    OPENINGS,
    /// Questions for where the user lives.
    HOME,
    /// Questions for their name.
    NAME,
    /// Questions for what they do by trade.
    JOB,
    /// The same, where they may do anything.
    DOES,
    /// Questions for whom they work for.
    EMPLOYER,
    /// Questions for their age.
    AGE,
    /// Questions for what they are allergic to.
    ALLERGY,
    /// Questions for what medicine they take.
    MEDICINE,
    /// Questions for what they do not eat, and for their health.
    DIET,
    /// How a question begins for a value of the user's.
    VALUE,
    /// Words behind a thing in a question for which one the user has: "which editor do you use?".
    OF_USER,
    /// Words before an answer.
    LEADS,
    /// Words with which an answer begins that names nothing.
    NONE,
    /// Words with which an answer begins that is a sentence of its own.
    OWN,
    /// Whole answers that say that it is so.
    YES,
    /// Words that go on behind a "yes".
    YES_BUT,
    /// Verbs and states of which somebody is asked about the talk, and not about who they are: "are you sure?", "do you want me to ...?".
    NOT_TOLD,
    /// Words in a question that make a "yes" say nothing by itself.
    REFERS,
    /// Things of the user's that are of the talk: "what's your question?".
    NOT_ASKED,
    /// Words of a question that asks what a task needs.
    OF_TASK,
    /// Words with which an answer begins that says what to do.
    DOES_TASK,
    /// Verbs of a sentence, and who does something.
    SPEAKS,
}

/// Words of an answer at most that is said as a sentence.
const MOST_ANSWER: usize = 16;
/// Words of a name for which a question asks at most.
const MOST_NAME: usize = 4;

/// An answer, said with its question.
pub(super) struct Answer {
    /// The user's sentence.
    pub statement: String,
    /// Whether it must give a slot a value, or be a constraint: the question asks for one.
    pub valued: bool,
}

/// Whether a question asks for the user's health, and for what medicine they take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Health {
    /// The things they must avoid.
    Avoids,
    /// The medicine they take.
    Takes,
}

/// A question without the words before it, and without its mark.
struct Question<'a> {
    text: &'a str,
    words: &'a [Word],
}

impl Question<'_> {
    fn asks(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| starts(self.words, 0, phrase).is_some())
    }

    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| word.lower.as_str())
    }

    fn between(&self, from: usize, to: usize) -> Option<&str> {
        (from < to).then(|| &self.text[self.words[from].start..self.words[to - 1].end])
    }
}

/// Runs with a question as it is asked.
fn asked<T>(question: &str, read: impl FnOnce(&Question<'_>) -> Option<T>) -> Option<T> {
    let own = words(question);
    let end = own.iter().rposition(|word| !word.is_mark())? + 1;
    let mut at = 0;
    while let Some(next) = OPENINGS.iter().find_map(|opening| starts(&own[..end], at, opening)).filter(|next| *next < end) {
        at = next;
    }
    read(&Question { text: question, words: &own[at..end] })
}

/// The sentence that an answer is with its question; `None` where the answer stands alone, or says nothing.
pub(super) fn answer(question: &str, said: &str) -> Option<Answer> {
    let said = said.trim_end_matches(['.', '!', ' ']);
    let own = words(said);
    let alone = read(&Sentence { text: said, words: &own }).is_some();
    if said.ends_with('?') || own.is_empty() || own.len() > MOST_ANSWER || alone {
        return None;
    }
    asked(question, |question| of_yes(question, said, &own).or_else(|| of_value(question, said, &own)))
}

/// Whether an answer tells of the user's health what no rule reads: the question says what it is about.
pub(super) fn of_health(question: &str, said: &[Word]) -> Option<Health> {
    let first = said.get(leads(said)).map_or_else(|| said.first(), Some)?;
    let says = !among(&NONE, &first.lower) && !among(&OWN, &first.lower) && !has(said, "?") && said.len() <= MOST_ANSWER;
    asked(question, |question| {
        let chooses = question.words.iter().any(|word| word.lower == "or") && among(&YES, &said[0].lower);
        if chooses {
            None
        } else if question.asks(&MEDICINE) {
            Some(Health::Takes)
        } else {
            (question.asks(&ALLERGY) || question.asks(&DIET)).then_some(Health::Avoids)
        }
    })
    .filter(|_| says)
}

/// Whether an answer to a question about the user is a part of a sentence, which says nothing without it. A task says by
/// itself what it needs ("what time would you like?").
pub(super) fn is_fragment(question: &str, said: &[Word]) -> bool {
    let asked = words(question);
    let of_user = ["do you", "are you", "your"].iter().any(|phrase| has(&asked, phrase));
    let of_task = asked.iter().any(|word| among(&OF_TASK, &word.lower));
    let Some(first) = said.first().filter(|_| of_user && !of_task) else { return false };
    let lower = first.lower.as_str();
    let leads = first.is_number() || among(&PREPOSITIONS, lower) || among(&NUMBERS, lower);
    said.len() <= MOST_ANSWER && !among(&OWN, lower) && !among(&DOES_TASK, lower) && (leads || !speaks(said))
}

/// Whether words have a verb of a sentence, or somebody who does something.
fn speaks(own: &[Word]) -> bool {
    own.iter().any(|word| among(&SPEAKS, &word.lower) || word.lower.contains('\''))
}

/// How many words stand before what an answer names.
fn leads(own: &[Word]) -> usize {
    let mut at = 0;
    while let Some(next) = LEADS.iter().find_map(|lead| starts(own, at, lead)) {
        at = next;
    }
    at
}

/// "Are you vegetarian?" - "yes": "I'm vegetarian".
fn of_yes(question: &Question<'_>, said: &str, own: &[Word]) -> Option<Answer> {
    let agrees = YES.iter().filter_map(|yes| starts(own, 0, yes)).max()?;
    let rest = own.get(agrees).filter(|word| !word.is_mark());
    let behind = rest.map_or("", |word| &said[word.start..]);
    if rest.is_some_and(|word| !among(&YES_BUT, &word.lower))
        || question.words.iter().any(|word| among(&REFERS, &word.lower) && word.lower != "you")
    {
        return None;
    }
    let verb = question.word(2);
    let begin = match (question.word(0), question.word(1)) {
        ("are", "you") => ("I'm", 2),
        ("do", "you") => ("I", 2),
        _ => return None,
    };
    let again = question.words[2.min(question.words.len())..].iter().any(|word| ["you", "your"].contains(&word.lower.as_str()));
    if again || among(&NOT_TOLD, verb) || begin.0 == "I'm" && verb.ends_with("ing") {
        return None;
    }
    let is = question.between(2, question.words.len())?;
    let goes_on = if behind.is_empty() { String::new() } else { format!(", {behind}") };
    Some(Answer { statement: format!("{} {is}{goes_on}", begin.0), valued: false })
}

/// "Where do you live?" - "Ghent": "I live in Ghent".
fn of_value(question: &Question<'_>, said: &str, own: &[Word]) -> Option<Answer> {
    let at = leads(own);
    let first = own.get(at)?.lower.as_str();
    if among(&NONE, first) || among(&OWN, first) {
        return None;
    }
    let value = &said[own[at].start..];
    let small = !own.iter().any(|word| word.capital);
    let diet = CLASSES.iter().any(|(class, of)| *class == "diet" && of.contains(&first));
    let opening = opening(question, &own[at..])?;
    // In a sentence whose writer uses no capitals names have none.
    let opening = if small && !diet { opening.to_lowercase() } else { opening };
    let skipped =
        ["I live in", "i live in", "I work at", "i work at"].contains(&opening.as_str()) && ["in", "near", "at", "for"].contains(&first);
    let value = if skipped { &said[own.get(at + 1)?.start..] } else { value };
    let begins = own.get(at + usize::from(skipped)).map_or("", |word| word.lower.as_str());
    let placed = opening.to_lowercase() == "i live in" && (among(&PREPOSITIONS, begins) || ["my", "a", "an", "the"].contains(&begins));
    let behind = if opening.to_lowercase() == "i'm" && own[at].is_number() && !has(own, "years") { " years old" } else { "" };
    (!placed).then(|| Answer { statement: format!("{opening} {value}{behind}"), valued: true })
}

/// The words with which an answer is a sentence.
fn opening(question: &Question<'_>, answer: &[Word]) -> Option<String> {
    let first = answer[0].lower.as_str();
    let of_diet = CLASSES.iter().any(|(class, of)| *class == "diet" && of.contains(&first));
    let said = |opening: &str| Some(opening.to_owned());
    let (allergy, diet) = (question.asks(&ALLERGY), question.asks(&DIET));
    let trade = answer.iter().take(5).position(|word| among(&TRADES, &word.lower) || among(&TITLES, &word.lower));
    if (allergy || diet) && of_diet {
        return said("I'm");
    }
    if let Some(at) = answer.iter().take(4).position(|word| among(&CONDITIONS, &word.lower)).filter(|_| allergy || diet) {
        let allergies = answer[at].lower.starts_with("allerg") && answer[at].lower != "allergic";
        return match (allergies, ["a", "an"].contains(&first)) {
            (true, false) => said("I have a"),
            (true, true) => said("I have"),
            (false, _) => said("I'm"),
        };
    }
    if allergy {
        let several = question.words.iter().any(|word| ["or", "dietary", "restrictions", "preferences"].contains(&word.lower.as_str()));
        return (!several).then(|| "I'm allergic to".to_owned());
    }
    if question.asks(&MEDICINE) {
        return said("I take");
    }
    if question.words.iter().any(|word| ["and", "or"].contains(&word.lower.as_str())) {
        return None;
    }
    if question.asks(&HOME) {
        return said("I live in");
    }
    if question.asks(&NAME) && question.words.len() <= 6 {
        return said("My name is");
    }
    if question.asks(&EMPLOYER) {
        return said("I work at");
    }
    let job = question.asks(&JOB);
    if job || question.asks(&DOES) && question.words.len() <= 5 {
        if ["retired", "unemployed"].contains(&first) && answer.len() == 1 {
            return said("I'm");
        }
        let bare = !["a", "an", "the", "my", "head", "chief"].contains(&first);
        let article = if first.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
        return match trade {
            Some(_) if bare => Some(format!("I work as {article}")),
            None if !job => None,
            _ => said("I work as"),
        };
    }
    if question.asks(&AGE) {
        return answer[0].is_number().then(|| "I'm".to_owned());
    }
    let is_value = !speaks(answer)
        && !among(&DOES_TASK, first)
        && !has(answer, "search")
        && !question.words.iter().any(|word| among(&OF_TASK, &word.lower));
    is_value.then(|| attribute(question))?
}

/// "What's your shoe size?" asks for "my shoe size", as "which editor do you use?" does for "my editor".
fn attribute(question: &Question<'_>) -> Option<String> {
    let named = |from: usize, to: usize| {
        let name = &question.words[from..to];
        let plain =
            (1..=MOST_NAME).contains(&name.len()) && !name.iter().any(|word| among(&NOT_ASKED, &word.lower) || among(&REFERS, &word.lower));
        let joined = name
            .iter()
            .any(|word| ["of", "for", "in", "to", "on", "and", "is", "are", "do", "from", "with"].contains(&word.lower.as_str()));
        let name = question.between(from, to).filter(|_| plain && !joined)?;
        let are = name.ends_with('s') && !name.ends_with("ss") && !name.ends_with("us");
        Some(format!("My {name} {}", if are { "are" } else { "is" }))
    };
    if let Some(at) = VALUE.iter().find_map(|opening| starts(question.words, 0, opening)) {
        return named(at, question.words.len());
    }
    if !["which", "what"].contains(&question.word(0)) {
        return None;
    }
    let end = (2..question.words.len())
        .find(|at| OF_USER.iter().any(|phrase| starts(question.words, *at, phrase) == Some(question.words.len())))?;
    named(1, end)
}
