//! Rules: what a sentence of a user claims, where its form says it plainly. The rules of one subject are in one file, and here they are asked
//! in turn. Sentences that no rule reads are left to the model.

use std::cell::Cell;

use super::assign::assigned;
use super::attribute::{attribute, listed};
use super::changes::{changed, promoted, replaced};
use super::constraint::{constraint, is_past, lasting};
use super::family::of_family;
use super::guards::{LABELS, is_lasting, limits};
use super::health::{allergic, is_for_condition};
use super::left::left;
use super::limit::{Limits, leading};
use super::lists::lists;
use super::manner::manner;
use super::medicine::changed_medicine;
use super::named::{has_ended, health_of_named, mine_contracted, now_of_named, of_named};
use super::orders;
use super::over::{no_longer, not_allergic};
use super::person::{another, name, person};
use super::plain::plain;
use super::prefers::{instead_of, prefers, switched, uses};
use super::reading::Reading;
use super::relatives::of_relatives;
use super::sentence::Sentence;
use super::signs::has_colon;
use super::things::of_thing;
use super::together::together;
use super::told::of_oneself;
use super::words::{Word, among, has, starts};
use super::{Category, LIFTED};
use crate::interrupt;

lists! { "rules":
    /// Words before what is claimed.
    OPENINGS,
    /// How a decision begins.
    DECIDED,
    /// How somebody says that they want it otherwise.
    MINDS,
    /// Words that say how something ended.
    ENDED,
}

/// Readings within readings at most: "for the report, in March, ..." is read behind each of its limits.
const MOST_NESTED: usize = 8;

thread_local! {
    /// Those that are under way on this thread.
    static NESTED: Cell<usize> = const { Cell::new(0) };
}

/// A reading that is under way.
struct Nested;

impl Nested {
    /// Begins one; `None` where so many are under way.
    fn begin() -> Option<Self> {
        let under_way = NESTED.get();
        (under_way < MOST_NESTED).then(|| {
            NESTED.set(under_way + 1);
            Self
        })
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        NESTED.set(NESTED.get() - 1);
    }
}

/// The claims of a sentence; `None` where no rule reads it.
pub fn read(sentence: &Sentence<'_>) -> Option<Reading> {
    interrupt::step();
    let _nested = Nested::begin()?;
    let skip = preamble(sentence);
    let told = skip > 0 && is_request_to_remember(sentence, skip);
    let rest = Sentence { text: sentence.text, words: &sentence.words[skip..] };
    if limits(rest.words) {
        return of_not_all(&rest);
    }
    if let Some(reading) = within_limits(&rest) {
        return Some(reading);
    }
    if let Some(reading) = changed_mind(&rest) {
        return Some(reading);
    }
    let reading = together(&rest)
        .or_else(|| of_family(&rest))
        .or_else(|| if told { None } else { health_of_named(&rest) })
        .or_else(|| manner(sentence, &rest))
        .or_else(|| if sentence.word(0) == "no" { manner(sentence, sentence) } else { None }) // "no emojis please"
        .or_else(|| allergic(&rest))
        .or_else(|| constraint(&rest))
        .or_else(|| name(&rest)) // before what lasts: "Call me Annie from now on."
        .or_else(|| lasting(sentence, &rest))
        .or_else(|| changed_medicine(&rest))
        .or_else(|| not_allergic(&rest))
        .or_else(|| no_longer(&rest))
        .or_else(|| switched(&rest))
        .or_else(|| person(&rest))
        .or_else(|| left(&rest))
        .or_else(|| another(&rest))
        .or_else(|| prefers(&rest))
        .or_else(|| attribute(&rest))
        .or_else(|| decision(&rest))
        .or_else(|| if resets(&rest) { order(&rest) } else { None })
        .or_else(|| assigned(&rest))
        .or_else(|| uses(&rest))
        .or_else(|| outcome(&rest))
        .or_else(|| promoted(&rest))
        .or_else(|| of_oneself(&rest))
        .or_else(|| mine_contracted(&rest))
        .or_else(|| replaced(&rest))
        .or_else(|| listed(sentence))
        .or_else(|| if told { None } else { now_of_named(&rest) })
        .or_else(|| changed(&rest))
        .or_else(|| if told { None } else { plain(&rest).or_else(|| of_named(&rest)) })
        .or_else(|| of_relatives(&rest))
        .or_else(|| of_thing(&rest));
    let reading = reading.map(|reading| limited(&rest, ordered(sentence, &rest, reading)));
    let reading = reading.or_else(|| lifted(sentence)).or_else(|| order(sentence));
    match reading {
        Some(reading) => Some(reading),
        None if told && rest.words.len() >= 3 => {
            let text = rest.between(0, rest.words.len())?;
            Some(Reading { importance: 700, ..Reading::new(Category::Semantic, "asked to remember") }.text(capital(&text)))
        }
        None => None,
    }
}

/// Behind "I changed my mind", where it begins at a word.
fn mind(s: &Sentence<'_>, at: usize) -> Option<usize> {
    MINDS.iter().find_map(|opening| starts(s.words, at, opening))
}

/// Whether a sentence says that somebody changed their mind, and nothing else.
pub(super) fn is_change_of_mind(s: &Sentence<'_>) -> bool {
    mind(s, 0) == Some(s.words.len())
}

/// "I changed my mind, answer in English please": what holds from now on stands behind it, and an order about how to answer lasts. Of what no
/// rule reads, it is a decision.
fn changed_mind(s: &Sentence<'_>) -> Option<Reading> {
    let is_parted = |at: usize| s.parted(at) || has_colon(s.text, s.words[at - 1].end);
    let at = mind(s, 0).filter(|at| *at < s.words.len() && is_parted(*at) && mind(s, *at).is_none())?;
    let behind = Sentence { text: s.text, words: &s.words[at..] };
    if manner(&behind, &behind).is_some() && orders::order(behind.words).is_some_and(|order| order.gives().is_some()) {
        let text = capital(&behind.between(0, behind.words.len())?);
        return Some(ordered(&behind, &behind, Reading::new(Category::Constraint, "rule")).text(text));
    }
    let says = |reading: &Reading| reading.is_order() || reading.slot.is_some() || reading.replaces.is_some();
    read(&behind).filter(says).or_else(|| decision(s))
}

/// "For implants, my dentist is Dr Lee", "in Python, always use tabs": what is read behind a time, a place or a purpose that stands before it.
pub(super) fn within_limits(s: &Sentence<'_>) -> Option<Reading> {
    let at = leading(s)?;
    let mut reading = read(&Sentence { text: s.text, words: &s.words[at..] })?;
    // "For the report, no bullets" is an order about that alone.
    let of_all = |word: &Word| among(&["all", "every", "answers", "replies", "responses"], &word.lower);
    if reading.is_order() && !is_lasting(&s.words[..at]) && !s.words[..at].iter().any(of_all) {
        (reading.slot, reading.ends) = (None, None);
    }
    let leaves = !reading.is_order() && reading.slot.as_deref().is_some_and(|slot| Limits::of_sentence(s).leave(slot));
    Some(if leaves { Reading { slot: None, text: None, ..reading } } else { reading })
}

/// A fact that holds within limits keeps them in its text, and gives no slot a value: "my dentist is Dr Lee for implants".
fn limited(s: &Sentence<'_>, mut reading: Reading) -> Reading {
    if !reading.is_order() && (reading.slot.is_some() || reading.text.is_some()) {
        let slot = reading.slot.as_deref().unwrap_or_default();
        if Limits::of_sentence(s).leave(slot) {
            (reading.slot, reading.text) = (None, None);
        }
    }
    reading
}

/// "I'm not just allergic to nuts but also to milk": a condition holds, and more than it.
fn of_not_all(s: &Sentence<'_>) -> Option<Reading> {
    let is_health = is_for_condition(s.words) || has(s.words, "allergic") || has(s.words, "allergy");
    is_health.then(|| Reading { importance: 800, ..Reading::new(Category::Constraint, "health") })
}

/// "Could you answer in English from now on?": an order in the form of a question. A question tells nothing else.
pub fn asked(s: &Sentence<'_>) -> Option<Reading> {
    let at = ["can you", "could you", "would you", "will you", "can we", "could we", "may i ask you to"]
        .iter()
        .find_map(|opening| starts(s.words, 0, opening))?;
    let at = starts(s.words, at, "please").unwrap_or(at);
    let end = s.words.iter().rposition(|word| !word.is_mark())? + 1;
    let rest = Sentence { text: s.text, words: s.words.get(at..end)? };
    // "Could you please remember that Tom's vegan?" tells it.
    if let Some(told) = ["remember that", "note that", "keep in mind that"].iter().find_map(|phrase| starts(rest.words, 0, phrase)) {
        let told = Sentence { text: s.text, words: &rest.words[told..] };
        let supposes = told.words.iter().any(|word| ["if", "when", "unless"].contains(&word.lower.as_str()));
        let reading = if supposes || told.words.is_empty() { None } else { read(&told) }?;
        let text = reading.text.clone().or_else(|| told.between(0, told.words.len()))?;
        return Some(reading.text(capital(&text)));
    }
    let lasts = is_lasting(rest.words) || switches(&rest) || rest.word(0) == "stop"; // "could you answer in English?" is about one answer
    let reading = manner(&rest, &rest).or_else(|| lasting(&rest, &rest)).or_else(|| order(&rest)).filter(|one| lasts && one.is_order())?;
    let text = format!("{}.", capital(&rest.between(0, rest.words.len())?));
    Some(ordered(&rest, &rest, reading.text(text)))
}

/// An order with the slot of the thing that it is about, and with the order that it ends.
fn ordered(whole: &Sentence<'_>, s: &Sentence<'_>, mut reading: Reading) -> Reading {
    if reading.is_order() {
        let order = orders::order(whole.words).or_else(|| orders::order(s.words));
        reading.slot = reading.slot.or_else(|| order.and_then(|order| order.gives()).map(str::to_owned));
        reading.ends = orders::lift(whole.text, whole.words).map(|lift| ends(whole, lift));
        reading.replaces = reading.replaces.or_else(|| orders::denied_at_end(s)).filter(|_| reading.category == Category::Constraint);
    }
    reading
}

/// "Stop replying in German", "you can use emojis again": the end of an order. Of answers, to stop something is an order, too.
fn lifted(s: &Sentence<'_>) -> Option<Reading> {
    let lift = orders::lift(s.text, s.words)?;
    let wish = lift.order.is_some() && !lift.permits;
    let mut reading = Reading::new(Category::Preference, if wish { "how to answer" } else { LIFTED });
    reading.slot = lift.order.as_ref().filter(|order| order.is_of_slot()).map(|order| order.slot.to_owned());
    reading.ends = Some(ends(s, lift));
    Some(reading)
}

/// The words by which what a lift ends is known.
fn ends(s: &Sentence<'_>, lift: orders::Lift) -> String {
    lift.ends(&s.between(0, s.words.len()).unwrap_or_default())
}

/// "From now on, no tables please": an order that has no verb.
fn order(s: &Sentence<'_>) -> Option<Reading> {
    let lasts = || is_lasting(s.words) || switches(s) || orders::is_back(s.text, s.words);
    let order = orders::order(s.words).filter(|_| s.words.len() > 2 && lasts())?;
    let reading = Reading::new(Category::Constraint, "rule");
    Some(Reading { slot: order.gives().map(str::to_owned), ..reading })
}

/// "Switch back to English": what is switched stays so.
fn switches(s: &Sentence<'_>) -> bool {
    let at = ["please", "let's", "ok", "okay", "now"].iter().find_map(|opening| starts(s.words, 0, opening)).unwrap_or(0);
    let to = ["switch to", "switch back to", "go back to", "change back to", "change to"];
    resets(s) || to.iter().any(|verb| starts(s.words, at, verb).is_some())
}

/// "Change the answer language to English": so are all answers. "Change the answer to English" is about one.
fn resets(s: &Sentence<'_>) -> bool {
    let at = ["please", "let's", "ok", "okay", "now"].iter().find_map(|opening| starts(s.words, 0, opening)).unwrap_or(0);
    let Some(verb) = ["change", "set", "switch"].iter().find_map(|verb| starts(s.words, at, verb)) else { return false };
    let of = verb + usize::from(["the", "your", "my"].contains(&s.word(verb)));
    ["answer", "reply", "response"].contains(&s.word(of)) && s.words.len() > of + 3 && s.word(of + 1) != "to"
}

/// Words that begin a clause of the user's own.
const SUBJECTS: [&str; 15] =
    ["i", "i'm", "i've", "i'd", "i'll", "my", "we", "we're", "we've", "we'll", "our", "call", "never", "always", "let's"];

/// Prepositions behind "never" and "always" with which a clause goes on.
const AFTER_NEVER: [&str; 12] = ["to", "in", "on", "at", "with", "for", "by", "about", "from", "before", "after", "of"];

/// Whether words begin a clause of their own: the user, or what is the user's, or a rule.
pub fn opens_clause(words: &[Word]) -> bool {
    let at = usize::from(words.first().is_some_and(|word| ["now", "currently", "nowadays"].contains(&word.lower.as_str())));
    // "... but never to dogs", "... but never tried it" go on with what was said.
    let goes_on = || {
        let opens = ["never", "always"].contains(&words[at].lower.as_str());
        opens && words.get(at + 1).is_some_and(|next| among(&AFTER_NEVER, &next.lower) || is_past(&words[at..]))
    };
    words.get(at).is_some_and(|word| among(&SUBJECTS, &word.lower)) && !goes_on()
}

/// Words before what is claimed: "remember that", "actually,", "by the way".
pub(super) fn preamble(sentence: &Sentence<'_>) -> usize {
    let mut at = 0;
    while let Some(next) = OPENINGS.iter().find_map(|opening| starts(sentence.words, at, opening)).or_else(|| labelled(sentence, at)) {
        at = next;
    }
    at
}

/// Where a label is over that says what follows: "Reminder: ...", "Quick note: ...".
fn labelled(s: &Sentence<'_>, at: usize) -> Option<usize> {
    let ends = |last: &usize| last + 1 < s.words.len() && has_colon(s.text, s.words[*last].end);
    (at..at + 2).find(ends).filter(|last| among(&LABELS, s.word(*last))).map(|last| last + 1)
}

fn is_request_to_remember(sentence: &Sentence<'_>, skip: usize) -> bool {
    let before = &sentence.words[..skip];
    ["remember", "mind", "note", "record", "reference", "fyi", "know"].iter().any(|word| has(before, word))
        && sentence.words.last().is_none_or(|word| word.lower != "?")
}

pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// "we decided to ...", "let's go with ...".
fn decision(s: &Sentence<'_>) -> Option<Reading> {
    let at = DECIDED.iter().find_map(|opening| starts(s.words, 0, opening))?;
    let reading = || Reading { replaces: instead_of(s), ..Reading::new(Category::Decision, "decided") };
    (at < s.words.len() && s.words.len() >= 4).then(reading)
}

/// "that fixed it", "the deploy failed", "INC-219 is closed": how something ended.
fn outcome(s: &Sentence<'_>) -> Option<Reading> {
    (s.words.len() >= 4 && ENDED.iter().any(|phrase| has(s.words, phrase)) || has_ended(s))
        .then(|| Reading::new(Category::TaskOutcome, "outcome"))
}
