//! Cues: the words that tell a decision, a constraint, a wish, a goal, an open question.
//!
//! A cue is one to four words, compared without case and apostrophes; of several in a text the strongest counts. Cues are English, with
//! some of other languages where one word says it; a text without any is ordinary and competes by what is in it. The list was written
//! from the vocabulary of requirements and meeting notes, and read against SGD's training dialogues (2026-11-22). Not here: scores.

use std::collections::HashMap;

use super::units::sentences;
use crate::process::Lazy;

/// The kinds of texts, the strongest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cue {
    /// Nothing in particular.
    None,
    /// It tells what is being worked on.
    Goal,
    /// Somebody wants something.
    Wish,
    /// Something was settled.
    Decision,
    /// Something must hold.
    Constraint,
}

const CONSTRAINTS: &[&str] = &[
    "must",
    "mustnt",
    "never",
    "always",
    "at most",
    "at least",
    "no more than",
    "no less than",
    "no later than",
    "not exceed",
    "exceed",
    "deadline",
    "due date",
    "cap is",
    "cap of",
    "limit is",
    "limit of",
    "limited to",
    "budget",
    "requires",
    "required",
    "requirement",
    "mandatory",
    "do not",
    "dont",
    "cannot",
    "cant",
    "may not",
    "not allowed",
    "forbidden",
    "prohibited",
    "without approval",
    "explicit approval",
    "only if",
    "has to",
    "have to",
    "needs to",
    "rule",
    "constraint",
    "policy",
    "allergic",
    "allergy",
    "no external",
    "unless",
    "until",
    "strictly",
    "keep under",
    "stay under",
    "not before",
    "not after",
    "by monday",
    "by tuesday",
    "by wednesday",
    "by thursday",
    "by friday",
    "by saturday",
    "by sunday",
    "before monday",
    "before tuesday",
    "before wednesday",
    "before thursday",
    "before friday",
    "before saturday",
    "before sunday",
    "safety",
    "compliance",
    "confidential",
    "secret",
    "off limits",
    "avoid",
    "only",
    "muss",
    "m\u{fc}ssen",
    "darf nicht",
    "d\u{fc}rfen",
    "niemals",
    "nie",
    "immer",
    "nur",
    "h\u{f6}chstens",
    "mindestens",
    "sp\u{e4}testens",
    "debe",
    "nunca",
    "doit",
    "jamais",
    "deve",
    "sempre",
    "\u{64a}\u{62c}\u{628}",
    "\u{645}\u{645}\u{646}\u{648}\u{639}",
];
const DECISIONS: &[&str] = &[
    "we go with",
    "well go with",
    "go with",
    "went with",
    "going with",
    "lets use",
    "lets go",
    "lets do",
    "agreed",
    "decided",
    "decision",
    "we will use",
    "well use",
    "we use",
    "chose",
    "chosen",
    "settled on",
    "approved",
    "confirmed",
    "confirm",
    "switch to",
    "switched to",
    "instead of",
    "from now on",
    "moved to",
    "rebased onto",
    "renamed",
    "we are calling",
    "accepted",
    "the plan is",
    "please book",
    "book it",
    "please reserve",
    "works for me",
    "sounds good",
    "final",
    "finalized",
    "signed off",
    "selected",
    "pick",
    "picked",
    "booked",
    "reserved",
    "rotated",
    "replaced",
    "deprecated",
    "migrated",
    "merged",
    "scheduled",
    "update",
    "ill take",
    "i will take",
    "entschieden",
    "beschlossen",
    "decidido",
    "acordado",
    "\u{642}\u{631}\u{631}\u{646}\u{627}",
    "\u{627}\u{62a}\u{641}\u{642}\u{646}\u{627}",
];
const WISHES: &[&str] = &[
    "i want",
    "i need",
    "we want",
    "we need",
    "user wants",
    "user needs",
    "prefer",
    "prefers",
    "preference",
    "preferred",
    "would like",
    "id like",
    "would rather",
    "id rather",
    "looking for",
    "should be",
    "should",
    "would prefer",
    "wants",
    "favorite",
    "favourite",
    "i like",
    "please use",
    "please make",
    "make sure",
    "ensure",
    "keep",
    "quiero",
    "necesito",
    "m\u{f6}chte",
    "brauche",
    "voudrais",
    "\u{623}\u{631}\u{64a}\u{62f}",
    "\u{623}\u{641}\u{636}\u{644}",
];
const GOALS: &[&str] = &[
    "goal",
    "next step",
    "next steps",
    "current task",
    "working on",
    "trying to",
    "todo",
    "in progress",
    "milestone",
    "objective",
    "the task",
    "we are building",
    "help me",
    "awaiting",
    "blocked",
    "fact",
    "note",
    "remember",
    "important",
    "reminder",
    "status",
];
const OPEN: &[&str] = &[
    "tbd",
    "tbc",
    "open question",
    "open questions",
    "to be decided",
    "to be confirmed",
    "not decided",
    "still need to",
    "need to decide",
    "need to figure",
    "let me check",
    "ill check",
    "will check",
    "get back to you",
    "unclear",
    "undecided",
    "havent decided",
    "awaiting",
    "unresolved",
    "unknown yet",
    "need to ask",
    "have to ask",
];
/// From a user, these ask for something as a question does.
const REQUESTS: &[&str] = &["figure out", "find out", "not sure", "dont know", "no idea"];
/// A sentence that begins so takes back or replaces something.
const CORRECTS_FIRST: &[&str] = &[
    "scratch that",
    "no wait",
    "wait no",
    "on second thought",
    "on second thoughts",
    "on reflection",
    "correction",
    "change of plan",
    "change of plans",
    "i changed my mind",
    "ive changed my mind",
    "i have changed my mind",
    "we changed our minds",
    "forget what i said",
    "revert that",
    "undo that",
    "new requirement",
    "were back to",
    "we are back to",
    "lets go back to",
    "doch nicht",
    "doch lieber",
    "korrektur",
    "plan\u{e4}nderung",
    "correcci\u{f3}n",
    "cambio de planes",
];
/// A sentence that begins so does, if what it speaks of was spoken of before.
const CORRECTS_SPOKEN: &[&str] = &[
    "actually",
    "forget that",
    "my mistake",
    "override",
    "back to",
    "not any more",
    "not anymore",
    "i meant",
    "make it",
    "make that",
    "swap them",
    "finalement",
    "en fait",
    "mejor",
    "en realidad",
    "anzi",
    "na verdade",
];
/// So does one that begins with one of these, or has one and orders what was spoken of.
const CORRECTS: &[&str] = &[
    "instead",
    "after all",
    "from today",
    "as of today",
    "as of now",
    "effective immediately",
    "no longer",
    "stattdessen",
    "ab sofort",
    "ab jetzt",
    "\u{e0} partir de maintenant",
    "a partir de ahora",
];
/// A sentence that begins so may do so, if it speaks of much that something settled speaks of.
const MAY_CORRECT: &[&str] = &["sorry", "never mind", "nevermind", "swap", "oops", "wait"];
/// A sentence that begins so does, if it allows what was spoken of.
const ALLOWS: &[&str] = &["you may", "you can", "feel free to", "go ahead and"];
/// Verbs of what was, behind "never", "always" and "only".
const PAST: &[&str] =
    &["ran", "saw", "came", "went", "took", "was", "were", "did", "had", "got", "gave", "knew", "ate", "fell", "wrote", "broke", "woke"];
/// Cues of scripts without spaces: they are found anywhere in a text.
const ANYWHERE: &[(&str, Cue)] = &[
    ("\u{5fc5}\u{987b}", Cue::Constraint),
    ("\u{4e0d}\u{80fd}", Cue::Constraint),
    ("\u{4e0d}\u{8981}", Cue::Constraint),
    ("\u{7981}\u{6b62}", Cue::Constraint),
    ("\u{6700}\u{591a}", Cue::Constraint),
    ("\u{6700}\u{5c11}", Cue::Constraint),
    ("\u{622a}\u{6b62}", Cue::Constraint),
    ("\u{9884}\u{7b97}", Cue::Constraint),
    ("\u{306a}\u{3051}\u{308c}\u{3070}", Cue::Constraint),
    ("\u{51b3}\u{5b9a}", Cue::Decision),
    ("\u{6c7a}\u{5b9a}", Cue::Decision),
    ("\u{6539}\u{7528}", Cue::Decision),
    ("\u{540c}\u{610f}", Cue::Decision),
    ("\u{786e}\u{8ba4}", Cue::Decision),
    ("\u{60f3}\u{8981}", Cue::Wish),
    ("\u{559c}\u{6b22}", Cue::Wish),
    ("\u{9700}\u{8981}", Cue::Wish),
];

/// By first word: the words behind it, and what they tell. Looked up, never iterated.
type Table = HashMap<&'static str, Vec<(Vec<&'static str>, Cue)>>;

static TABLE: Lazy<Table> = Lazy::new(|| {
    let mut table = Table::new();
    for (cues, cue) in [(CONSTRAINTS, Cue::Constraint), (DECISIONS, Cue::Decision), (WISHES, Cue::Wish), (GOALS, Cue::Goal)] {
        for text in cues {
            insert(&mut table, text, cue);
        }
    }
    table
});

/// Requests are goals here.
static OPEN_TABLE: Lazy<Table> = Lazy::new(|| {
    let mut table = Table::new();
    for (cues, cue) in [(OPEN, Cue::None), (REQUESTS, Cue::Goal)] {
        for text in cues {
            insert(&mut table, text, cue);
        }
    }
    table
});

/// A sure phrase is a constraint here, one that is sure of what was spoken of a decision, one that stands anywhere a wish, one that may
/// correct a goal, and one that allows nothing in particular.
static CORRECTION_TABLE: Lazy<Table> = Lazy::new(|| {
    let mut table = Table::new();
    let kinds = [(CORRECTS_FIRST, Cue::Constraint), (CORRECTS_SPOKEN, Cue::Decision), (CORRECTS, Cue::Wish), (MAY_CORRECT, Cue::Goal)];
    let kinds = kinds.into_iter().chain([(ALLOWS, Cue::None)]);
    for (cues, cue) in kinds {
        for text in cues {
            insert(&mut table, text, cue);
        }
    }
    table
});

fn insert(table: &mut Table, text: &'static str, cue: Cue) {
    let mut words = text.split(' ');
    let first = words.next().unwrap_or_default();
    table.entry(first).or_default().push((words.collect(), cue));
}

/// The strongest cue of a text.
#[must_use]
pub fn cue_of(text: &str) -> Cue {
    let words = words(text);
    let cue = matches(&TABLE, &words).max().unwrap_or(Cue::None);
    if text.is_ascii() {
        return cue;
    }
    ANYWHERE.iter().filter(|(word, _)| text.contains(word)).map(|(_, cue)| *cue).fold(cue, Cue::max)
}

/// Whether a text with a cue of constraints demands something. "I don't need it" and "we can't" tell of those who say so, "it never
/// finished" and "it must have failed on Monday" of what was, and "if we had it, we would always use it" of what is not.
#[must_use]
pub fn demands(text: &str) -> bool {
    let in_words = |sentence: &str| {
        let words = words(sentence);
        let demands = |at: usize| !tells(&words, at) && first_matches(&TABLE, &words[at..]).any(|cue| cue == Cue::Constraint);
        !supposes(&words) && (0..words.len()).any(demands)
    };
    let anywhere = || ANYWHERE.iter().any(|(word, cue)| *cue == Cue::Constraint && text.contains(word));
    sentences(text).into_iter().any(in_words) || !text.is_ascii() && anywhere()
}

/// Whether the cue at a place tells what its speaker does, or what was.
fn tells(words: &[String], at: usize) -> bool {
    let word = |at: usize| words.get(at).map_or("", |word| word.as_str());
    let before = if at > 0 { word(at - 1) } else { "" };
    match word(at) {
        "dont" | "cant" | "cannot" if matches!(before, "i" | "we") => true,
        "never" | "always" => at > 0 && (PAST.contains(&word(at + 1)) || ["wanted", "finished", "returned"].contains(&word(at + 1))),
        "only" => at > 0 && PAST.contains(&word(at + 1)),
        "must" if word(at + 1) == "have" => {
            let is_past = word(at + 2) == "been" || word(at + 2).ends_with("ed");
            is_past && matches!(word(at + 3), "" | "at" | "on" | "last" | "yesterday" | "overnight" | "again" | "since")
        }
        "deadline" => words.iter().any(|word| word == "missed") || word(at + 1) == "passed",
        "limit" => words[..at].iter().any(|word| word == "exceeded"),
        _ => false,
    }
}

/// Whether a sentence supposes what is not: "If I were vegan, I would never eat cheese".
fn supposes(words: &[String]) -> bool {
    let word = |at: usize| words.get(at).map_or("", |word| word.as_str());
    let has = |some: &[&str]| words.iter().any(|word| some.contains(&&**word));
    let unreal = word(0) == "if" && has(&["were", "had"]) && has(&["would", "could", "wouldnt", "couldnt"]);
    unreal || word(0) == "suppose" && matches!(word(1), "i" | "we" | "nobody" | "the" | "that")
}

/// Whether a text says that something is not settled.
#[must_use]
pub fn is_open(text: &str) -> bool {
    matches(&OPEN_TABLE, &words(text)).next().is_some()
}

/// Whether all that is open in a text is what it asks somebody to find out.
#[must_use]
pub fn is_request(text: &str) -> bool {
    let words = words(text);
    let cues: Vec<Cue> = matches(&OPEN_TABLE, &words).collect();
    !cues.is_empty() && cues.into_iter().all(|cue| cue == Cue::Goal)
}

/// How a sentence takes back or replaces something, the surest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Correction {
    /// It does where it allows what was forbidden: "You can use the old port".
    Allows,
    /// It does where it orders what was spoken of: "use the old port instead".
    Anywhere,
    /// It may: "Sorry, events go over NATS".
    Maybe,
    /// It does if what it speaks of was spoken of before: "Actually, events go over NATS".
    First,
    /// It does: "Scratch that, events go over NATS".
    Sure,
}

/// Whether a sentence takes back or replaces something.
#[must_use]
pub fn correction(sentence: &str) -> Option<Correction> {
    let words = words(sentence);
    let first = first_matches(&CORRECTION_TABLE, &words).max().map(|cue| match cue {
        Cue::Constraint => Correction::Sure,
        Cue::Decision | Cue::Wish => Correction::First,
        Cue::Goal => Correction::Maybe,
        Cue::None => Correction::Allows,
    });
    first.max(matches(&CORRECTION_TABLE, &words).any(|cue| cue == Cue::Wish).then_some(Correction::Anywhere))
}

/// Whether a sentence asks.
#[must_use]
pub fn asks(sentence: &str) -> bool {
    let end = sentence.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ')' | '\u{201d}' | '*'));
    end.ends_with(['?', '\u{ff1f}', '\u{61f}'])
}

/// Whether a text begins with a label of its own: `FACT: ...`, `Safety rule: ...`.
#[must_use]
pub fn is_labelled(text: &str) -> bool {
    let Some((label, rest)) = text.split_once(':') else { return false };
    let fits = (3..=24).contains(&label.len()) && rest.starts_with(' ');
    let plain = label.chars().all(|c| c.is_alphabetic() || c == ' ');
    fits && plain && label.split(' ').count() <= 3 && label.starts_with(char::is_uppercase)
}

fn matches<'t>(table: &'t Table, words: &'t [String]) -> impl Iterator<Item = Cue> + 't {
    (0..words.len()).flat_map(move |at| first_matches(table, &words[at..]))
}

/// The cues that a text begins with.
fn first_matches<'t>(table: &'t Table, words: &'t [String]) -> impl Iterator<Item = Cue> + 't {
    let (first, rest) = words.split_first().map_or(("", words), |(first, rest)| (first.as_str(), rest));
    let behind = table.get(first).into_iter().flatten();
    behind.filter(move |(cue, _)| rest.len() >= cue.len() && cue.iter().zip(rest).all(|(one, other)| one == other)).map(|(_, cue)| *cue)
}

/// The words of a text, folded, without apostrophes.
pub(super) fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '\u{2019}'))
        .filter(|word| !word.is_empty())
        .map(|word| {
            if word.is_ascii() {
                return word.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| char::from(byte.to_ascii_lowercase())).collect();
            }
            word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cues_tell_what_a_text_is() {
        for (text, cue) in [
            ("We go with PostgreSQL.", Cue::Decision),
            ("Agreed, let's use tabs.", Cue::Decision),
            ("The job must finish before Friday.", Cue::Constraint),
            ("Never push to main.", Cue::Constraint),
            ("I'd like a table for two.", Cue::Wish),
            ("The next step is token refresh.", Cue::Goal),
            ("The sky is blue.", Cue::None),
            ("\u{6211}\u{4eec}\u{51b3}\u{5b9a}\u{7528}Rust", Cue::Decision),
            ("\u{5fc5}\u{987b}\u{5728}\u{5468}\u{4e94}\u{524d}", Cue::Constraint),
        ] {
            assert_eq!(cue_of(text), cue, "{text}");
        }
    }

    #[test]
    fn what_was_and_what_might_be_demand_nothing() {
        for told in [
            "The export of team-3 never finished on Friday.",
            "The cron job only ran once.",
            "I never saw such a sunset.",
            "It must have rained overnight.",
            "svc-9 exceeded its limit of 30 minutes on Monday.",
            "If I were vegan, I would never eat cheese.",
            "I don't need it.",
        ] {
            assert!(!demands(told), "{told}");
        }
        for rule in [
            "Never push to main.",
            "If you deploy, never use root.",
            "If a job had errors, always page me.",
            "My manager says we must not use React.",
            "The report must have a title.",
            "All images must have signed manifests.",
            "Retry only failed jobs.",
            "It never finished. Never restart it by hand.",
            "Secrets must never be logged.",
            "The limit is 30 minutes.",
            "Kim cannot eat nuts.",
            "The deadline is Friday.",
        ] {
            assert!(demands(rule), "{rule}");
        }
    }

    #[test]
    fn questions_and_labels() {
        assert!(asks("Which port?\" ") && asks("\u{4f60}\u{597d}\u{ff1f}") && !asks("Yes."));
        assert!(is_open("That is still TBD.") && is_open("I don't know yet") && !is_open("The answer is 8443"));
        assert!(is_labelled("SAFETY RULE: never") && is_labelled("Note: x") && !is_labelled("https://x") && !is_labelled("so this: that"));
    }
}
