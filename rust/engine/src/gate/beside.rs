//! Rules for facts that somebody tells of themselves beside a question: "I live in Ghent, what can I visit?", "since I'm allergic to nuts, what can I eat?".

use super::beings::{is_kin, is_living};
use super::guards::ASKS;
use super::left::{LEFT_WORK, WITHOUT_WORK};
use super::lexicon::NUMBERS;
use super::lists::lists;
use super::prefers::slot_of;
use super::reading::Reading;
use super::rules;
use super::sentence::Sentence;
use super::words::{among, starts};
use super::{Category, health};

lists! { "beside":
    /// Words of questions that ask whether it is so, and of nothing else: "don't I?", "is that not so?".
    TAG,
    /// Words by which a short question asks that.
    CHECKS,
    /// Words of questions about the words that were said: "how do you say that in French?".
    OF_WORDS,
    /// Words of what is about the task, about now, or about whom the user speaks to.
    NOW,
    /// Words behind "I use" that name no tool.
    NO_TOOL,
}

/// The part of a sentence that tells something, before the part that asks.
pub(super) struct Told {
    /// Its first word, and the first of the question.
    pub words: (usize, usize),
    /// Whether more than the user's health is plainly told.
    pub facts: bool,
}

/// Words of a question at most that asks whether what was told is so.
const MOST_CHECK: usize = 7;

/// The part that is told before a question, or behind "since": "Since I'm allergic to penicillin, | what can I take?".
pub(super) fn told(s: &Sentence<'_>, asks: bool) -> Option<Told> {
    const SINCE: [&str; 8] = ["since", "as", "because", "given that", "considering that", "now that", "knowing that", "seeing that"];
    let begin = rules::preamble(s);
    let since = SINCE.iter().find_map(|opening| starts(s.words, begin, opening));
    let begin = since.unwrap_or(begin);
    let plain = |at: usize| s.words[at..].iter().filter(|word| !word.is_mark()).count();
    let question = |at: usize| {
        let first = s.word(at + usize::from(["so", "and", "but"].contains(&s.word(at))));
        among(&ASKS, first) || ["any", "anything", "got"].contains(&first)
    };
    let ends = |at: &usize| s.parted(*at) && (since.is_some() || question(*at)) && plain(*at) > 2;
    let end = (begin + 2..s.words.len()).rev().find(ends)?;
    // "..., is that right?" asks whether it is so.
    let doubts = plain(end) <= 3 && s.words[end..].iter().any(|word| among(&["that", "it", "right", "correct", "true"], &word.lower));
    let facts = (asks || since.is_some()) && !is_tag(&Sentence { text: s.text, words: &s.words[end..] });
    (!doubts).then_some(Told { words: (begin, end), facts })
}

/// Whether a question only asks whether what was told is so, or how it is said.
fn is_tag(s: &Sentence<'_>) -> bool {
    let plain = || s.words.iter().filter(|word| !word.is_mark());
    let points = plain().any(|word| ["that", "this", "it"].contains(&word.lower.as_str()));
    if points && plain().any(|word| among(&OF_WORDS, &word.lower)) {
        return true;
    }
    plain().all(|word| among(&TAG, &word.lower)) || plain().count() <= MOST_CHECK && plain().any(|word| among(&CHECKS, &word.lower))
}

/// The reading of a clause before a question, and where it is over.
pub(super) fn read(s: &Sentence<'_>, facts: bool) -> Option<(Reading, usize)> {
    if let Some(reading) = rules::read(s).filter(Reading::is_of_health) {
        return Some((reading, s.words.len()));
    }
    let end = (1..s.words.len()).find(|at| s.parted(*at) && among(&ASKS, s.word(*at))).unwrap_or(s.words.len());
    let s = Sentence { text: s.text, words: &s.words[..end] };
    if !facts || s.words.iter().any(|word| among(&NOW, &word.lower)) {
        return None;
    }
    let reading = rules::read(&s).filter(|reading| is_sure(&s, reading)).or_else(|| used(&s))?;
    Some((reading, end))
}

/// Whether a reading says something of the user, or of their family, that holds also when the question is answered.
fn is_sure(s: &Sentence<'_>, reading: &Reading) -> bool {
    let does = |verbs: &[&str]| verbs.iter().any(|verb| starts(s.words, 0, verb).is_some());
    match reading.rule {
        "home" | "age" | "weight" | "height" | "name" | "pronouns" | "of another" | LEFT_WORK | WITHOUT_WORK => true,
        "employer" => does(&["i work", "i now work", "i'm working"]), // "I joined the call, where is everybody?"
        "occupation" => !s.words.iter().any(|word| word.lower.ends_with("ing")),
        "prefers" => reading.slot.is_some() && !does(&["i'd", "i would", "i'm"]),
        "switched" => reading.slot.is_some(),
        "used for" => reading.slot.is_some() && used(s).is_some(),
        "whom somebody has" => has_kin(s),
        "attribute" => {
            let own = [Category::Profile, Category::Preference].contains(&reading.category) && reading.slot.is_some();
            own || is_of_family(s)
        }
        _ => false,
    }
}

/// "I use Postgres 14": by a name, or by one that is known.
fn used(s: &Sentence<'_>) -> Option<Reading> {
    let at = ["i use", "we use", "i now use", "we now use"].iter().find_map(|opening| starts(s.words, 0, opening))?;
    let named = s.words.get(at)?.capital || slot_of(s.word(at), None).is_some();
    (named && !among(&NO_TOOL, s.word(at))).then(|| Reading::new(Category::Semantic, "used"))
}

/// "I have two kids", and not "I have a child process".
fn has_kin(s: &Sentence<'_>) -> bool {
    const BEHIND: [&str; 10] = ["called", "named", "who", "aged", "and", "in", "at", "with", "from", "under"];
    let kin = s.words.iter().position(|word| is_kin(&word.lower));
    kin.is_some_and(|at| s.words.get(at + 1).is_none_or(|next| among(&BEHIND, &next.lower)))
}

/// "My daughter is 4", "my son is diabetic": how old somebody of the family is, or what they have.
fn is_of_family(s: &Sentence<'_>) -> bool {
    let Some(verb) = s.words.iter().position(|word| ["is", "are"].contains(&word.lower.as_str())) else { return false };
    let living = verb > 0 && is_living(s.word(verb - 1));
    let numbered = s.words.get(verb + 1).is_some_and(|word| word.is_number() || among(&NUMBERS, &word.lower));
    let aged = numbered && (verb + 2 == s.words.len() || among(&["years", "months", "weeks", "and"], s.word(verb + 2)));
    living && (aged || s.words[verb..].iter().any(|word| among(&health::CONDITIONS, &word.lower)))
}

#[cfg(test)]
mod tests {
    use crate::gate::tests::stored;

    #[test]
    fn what_is_told_of_oneself_before_a_question_is_stored() {
        for (text, slot, told) in [
            ("I live in Ghent, what can I visit this weekend?", Some("home"), "The user lives in Ghent."),
            ("I'm a nurse, which shoes are good?", Some("occupation"), "The user works as a nurse."),
            ("I use Postgres 14, how do I upsert?", None, "I use Postgres 14"),
            ("i use vim, how do i exit?", None, "i use vim"),
            ("My daughter is 4, what games are fun?", None, "The user's daughter is 4."),
            ("My son is allergic to eggs, what can I bake?", None, "The user's son is allergic to eggs."),
            ("I'm vegetarian, what can I cook tonight?", Some("diet"), "I'm vegetarian"),
            ("Since I live in Ghent, what can I visit?", Some("home"), "The user lives in Ghent."),
            ("Hi, my name is Ana, can you help me?", Some("name"), "The user's name is Ana."),
            ("I work at Acme, who do I ask for a badge?", Some("employer"), "The user works for Acme."),
            ("I prefer tea, which one would you buy?", Some("hot drink"), "I prefer tea"),
            ("I have two kids, where could we go?", None, "I have two kids"),
            ("My mom lives in Kyiv, what time is it there?", Some("mom's home"), "The user's mom lives in Kyiv."),
            ("My timezone is CET, when does the call start?", Some("timezone"), "The user's timezone is CET."),
            ("I use Postgres for billing \u{2014} is it slow for reads?", Some("database for billing"), "I use Postgres for billing"),
        ] {
            let claims = stored(text);
            let found: Vec<_> = claims.iter().map(|claim| (claim.slot.as_deref(), claim.text.as_str(), claim.doubt)).collect();
            assert_eq!(found, [(slot, told, None)], "{text}");
        }
        let both = stored("I live in Ghent and I'm allergic to nuts, what can I eat there?");
        assert_eq!(
            both.iter().map(|claim| claim.text.as_str()).collect::<Vec<_>>(),
            ["The user lives in Ghent.", "The user is allergic to nuts."]
        );
    }

    #[test]
    fn what_is_only_asked_supposed_or_of_the_task_is_not() {
        for text in [
            "I live in Ghent, don't I?",
            "I live in Ghent, right?",
            "I'm a nurse, is that not so?",
            "I work at Acme, do you still know that?",
            "My name is Ana, did you remember that right?",
            "I live in Ghent, am I correct?",
            "\"I live in Ghent\", what does the first word do?",
            "\u{201C}I'm allergic to nuts\u{201D}, what does the speaker do?",
            "I live in Ghent, how do you say that in French?",
            "Call me Ishmael, who wrote that?",
            "If I live in Ghent, what can I visit?",
            "Suppose I live in Ghent, what can I visit?",
            "I have a question, what can I visit?",
            "I'm in Ghent, where can I eat?",
            "I use this function, why does it fail?",
            "I use the debugger, why does it stop?",
            "I use Postgres for this script, why does it fail?",
            "I have a child process, why does it hang?",
            "I joined the call, where is everybody?",
            "I want to live in Ghent, what do I need?",
            "I'm a doctor and you're a patient, what do you say?",
            "In my novel, I live in Rivendell, what do I see?",
            "My code is Python, why does it fail?",
            "My son is late, what do I do?",
            "My phone is dead, what do I do?",
            "My boss says I live in Ghent, what can I do?",
        ] {
            assert!(
                stored(text).iter().all(|claim| !claim.reason.starts_with("rule: ") || claim.doubt.is_some()),
                "{text}: {:?}",
                stored(text)
            );
        }
    }
}
