//! Rules for what is over, and for what is denied: "I don't use Python any more", "I'm not vegan", "my name is not Bob".

use super::health::is_condition;
use super::lexicon::CLASSES;
use super::lists::lists;
use super::rules::Reading;
use super::sentence::Sentence;
use super::words::{among, starts};
use super::{Category, DENIAL};

lists! { "over":
    /// Verbs of what somebody does with something, or has: where they do not any more, what says that they do is over. Of others, as "I don't
    /// trust Acme any more", it says nothing.
    DOES,
}

/// "I don't use Python any more", "I no longer live in Berlin", "I'm not vegan anymore".
pub(super) fn no_longer(s: &Sentence<'_>) -> Option<Reading> {
    if !["i", "we", "i'm", "we're", "i've", "we've"].contains(&s.word(0)) {
        return None;
    }
    // "I don't need any more help" says nothing of what is over.
    let is_last = |at: usize| at >= s.words.len() || s.parted(at) || ["because", "since", "so", "but", "and"].contains(&s.word(at));
    let over = ["any more", "anymore", "any longer"]
        .iter()
        .any(|phrase| (2..s.words.len()).any(|at| starts(s.words, at, phrase).is_some_and(is_last)));
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
        reading.category = if begin > at || condition { Category::Semantic } else { reading.category };
        reading.ends = Some(value);
        return says_what.then_some(reading);
    }
    if !among(&DOES, s.word(at)) {
        let stops = s.word(at).ends_with("ing") && at + 1 == s.words.len();
        return (over || stops).then_some(reading);
    }
    let object = at + 1 + usize::from(["in", "at", "for", "to", "with"].contains(&s.word(at + 1)));
    reading.ends = s.value(object).map(|(value, _)| value);
    Some(reading)
}

/// Whether a word of a value is one of a class.
fn of_class(class: &str, value: &str) -> bool {
    let words = CLASSES.iter().find(|(name, _)| *name == class).map_or(&[][..], |(_, words)| *words);
    value.to_lowercase().split_whitespace().any(|word| words.contains(&word))
}

/// "I'm not allergic to nuts": what must hold does not, or does so no longer. "..., just to peanuts" says what holds instead, and is no
/// denial alone.
pub(super) fn not_allergic(s: &Sentence<'_>) -> Option<Reading> {
    const NOT: [&str; 5] =
        ["i'm not allergic to", "i am not allergic to", "i'm not actually allergic to", "i was never allergic to", "im not allergic to"];
    const NO_LONGER: [&str; 3] = ["i'm no longer allergic to", "i am no longer allergic to", "i'm not allergic any more to"];
    const INSTEAD: [&str; 4] = ["just", "only", "but", "rather"];
    let opened = |openings: &[&str]| openings.iter().find_map(|opening| starts(s.words, 0, opening));
    let at = opened(&NO_LONGER).or_else(|| opened(&NOT))?;
    let (value, end) = s.value(at)?;
    let value = without_after_all(&value);
    if !s.says_more(end) {
        return Some(Reading::new(Category::Constraint, DENIAL).text(format!("The user is not allergic to {value}.")));
    }
    let instead = s.words[end..].iter().any(|word| among(&INSTEAD, &word.lower));
    let mut reading = Reading::new(Category::Constraint, if instead { "allergic to another thing" } else { DENIAL });
    reading.ends = Some(format!("allergic to {value}"));
    Some(reading)
}

fn without_after_all(value: &str) -> &str {
    value.strip_suffix(" after all").unwrap_or(value)
}

/// The value that a denial names: "I don't live in Berlin", "I'm not vegan", "my name is not Bob".
pub fn denied(s: &Sentence<'_>) -> Option<String> {
    let opened = |openings: &[&str]| openings.iter().find_map(|opening| starts(s.words, 0, opening));
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
