//! The write gate: which parts of a message deserve to be stored, in which form, and why the rest do not.
//!
//! Sentence by sentence, and clause by clause (`clauses`): guards first (`guards`: quotes, questions, what might be, jokes, code), then
//! rules (`rules`: slots, constraints, decisions), then a small linear model over the message (`model`), which says whether the rest
//! informs. Times that a sentence names from where it stands become days (`dates`). It reads English and stores nothing else. It is a pure
//! function of the text, the message before, the speaker and the time: it knows no store and asks no language model.
//!
//! docs/life.md has the rules, the constants and what they were fitted on.

mod answers;
mod assign;
mod assistant;
mod attribute;
mod beings;
mod beside;
mod blocks;
mod by_name;
mod changes;
mod claim;
mod clauses;
mod compose;
mod constraint;
mod corrects;
mod dates;
mod elsewhere;
mod family;
mod frames;
mod greeted;
mod guards;
mod habits;
mod handed;
mod health;
mod introduction;
mod languages;
mod left;
mod lexicon;
mod limit;
mod lists;
mod manner;
mod medicine;
mod model;
mod named;
mod off_record;
mod orders;
mod others;
mod otherwise;
mod over;
mod pastes;
mod person;
mod plain;
mod prefers;
mod question;
mod quoted;
mod reading;
mod relates;
mod relatives;
mod rest;
mod rules;
mod sentence;
mod shapes;
mod shift;
mod signs;
mod states;
mod taken_back;
mod tasks;
mod things;
mod together;
mod told;
mod tools;
mod values;
mod words;

#[cfg(test)]
mod answers_tests;
#[cfg(test)]
mod handed_tests;
#[cfg(test)]
mod kept_tests;
#[cfg(test)]
mod length_tests;
#[cfg(test)]
mod said_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod typed_tests;

pub(crate) use assign::MOST_MEASURED;
pub use assign::{is_of_thing_at_hand, merely_gives, value_before};
pub use attribute::has_several;
pub use beings::{is_being, is_living, may_be_being};
pub use blocks::without_blocks;
pub use by_name::{is_of_user, is_told, told_of, untold};
pub use claim::{Category, Claim, Heard, Speaker, Utterance};
pub use constraint::begins_as_order;
pub use guards::PASTE_BYTES;
pub use health::{is_allergy, is_degree};
pub use left::leaves;
pub use limit::Limits;
pub use medicine::{ends_medicine, takes};
pub use model::described;
pub use named::begins_with_name;
pub use orders::{Lift, Order, lift_of, order_of, says_value_of};
pub use otherwise::Change;
pub use over::ends_allergy;
pub use prefers::is_switch;
pub use relates::{Stated, of_slot, related};
pub use tools::Tool;
pub use values::{exclude, holds_beside, identifies, is_present, may_follow, present, spelled, spelling, takes_many};
pub use words::{Beginnings, contraction};

use std::cell::OnceCell;

use answers::Health;
use assistant::of_assistant;
use clauses::by_clauses;
use compose::{claimed, discarded, remainder};
use guards::Guard;
use languages::{Mixed, of_no_english};
use question::{MOST_QUESTION, question, with_question};
use reading::Reading;
use sentence::Sentence;
use words::{Span, Word, sentences, with_signs, within, words};

use crate::interrupt;
use crate::units::kept::Kept;

/// Why a claim waits that only says what is not so. Where what it denies is known, it ends that, and waits for nobody.
pub const DENIAL: &str = "a denial: it says what is not so";
/// Why a claim is not stored that only ends an order, where none is known that it speaks of.
pub const LIFTED: &str = "it ends an order, and none is known";
/// The reason of a claim that is a name by its form alone: "I'm Marta".
pub const INTRODUCTION: &str = "rule: introduction";
/// The reason of a claim that says who somebody is whom a message only mentions. A model's claim of the same words stands beside it.
const MENTIONED: &str = "a name that is mentioned";
/// Corrections of corrections that are followed.
const CORRECTIONS: usize = 3;
/// Sentences of a message that are read at most.
const MAX_SENTENCES: usize = 64;

/// It is kept of so many texts whether somebody asks in them not to keep it: 48 KiB.
const TEXTS_KEPT: usize = 1 << 10;

/// How far from a message the other side's words may stand that it answers, or that answer it.
const BESIDE: usize = 4;

/// The claims of a message among others. The words that the other side said last and says next stand beside it. `at` is the time that the
/// speaker's clock showed.
#[must_use]
pub fn judge_among(messages: &[Heard], place: usize, at: i64) -> Vec<Claim> {
    judge_at(messages, place, at, CORRECTIONS)
}

/// The claims of a message among others; `corrections` is how many corrections of corrections are followed.
fn judge_at(messages: &[Heard], place: usize, at: i64, corrections: usize) -> Vec<Claim> {
    interrupt::step();
    let Heard { speaker, by, text, at: said_at, .. } = &messages[place];
    let other = |message: &&Heard| message.speaker != *speaker && message.speaker != Speaker::Other;
    let before = messages[..place].iter().rev().take(BESIDE).find(other).map_or("", |message| message.text.as_str());
    let after = messages[place + 1..].iter().take(BESIDE).find(other).map_or("", |message| message.text.as_str());
    let of_last = || {
        let by_them = |other: &Option<String>| match (other, by) {
            (Some(other), Some(by)) => by_name::same_name(other, by),
            _ => other == by,
        };
        let own = |at: &usize| messages[*at].speaker == *speaker && by_them(&messages[*at].by);
        let since = |last: usize| said_at.zip(messages[last].at).map_or(0, |(now, then)| now - then);
        let last = (place.saturating_sub(BESIDE)..place).rev().find(own).filter(|_| corrections > 0);
        last.map_or_else(Vec::new, |last| judge_at(messages, last, at - since(last), corrections - 1))
    };
    let kept = OnceCell::new(); // every sentence may ask for it
    let earlier = || kept.get_or_init(of_last).as_slice();
    judge_after(&Utterance { text, speaker: *speaker, before, after, at }, &earlier)
}

/// The claims of a message, in order. Never empty: a part that is not stored is there with its reason.
#[must_use]
pub fn judge(said: &Utterance<'_>) -> Vec<Claim> {
    judge_after(said, &|| &[])
}

/// Whether somebody asks in a text not to keep what it says, or a part of it.
#[must_use]
pub fn is_off_record(text: &str) -> bool {
    static KNOWN: Kept<bool, TEXTS_KEPT> = Kept::empty();
    KNOWN.of(text, (), || off_record::may_ask(text) && off_record::end(text, &sentences(text), &words(text)).is_some(), |_| true)
}

/// The claims of the last message that the same speaker said before.
type Earlier<'a> = &'a dyn Fn() -> &'a [Claim];

/// The claims of a message that may correct what its speaker claimed in the one before.
fn judge_after(said: &Utterance<'_>, earlier: Earlier<'_>) -> Vec<Claim> {
    let whole = (0, said.text.len());
    let nothing = |reason: &str| vec![discarded(said.text, whole, reason)];
    match said.speaker {
        Speaker::Other => return nothing("neither the user's words nor the assistant's"),
        Speaker::Assistant => return of_assistant(said),
        Speaker::User => {}
    }
    if said.text.len() > PASTE_BYTES {
        return nothing("a paste: longer than 4,000 bytes");
    }
    let own = words(said.text);
    if own.is_empty() {
        return nothing("no words");
    }
    let asked = said.before.trim_end().ends_with('?');
    if let Some(claim) = taken(said, &own) {
        return vec![claim];
    }
    let is_other = !guards::is_english(said.text, &own, asked) && !is_read(said.text, &own);
    let mixed = is_other.then(|| Mixed::of(said.text, &own)).flatten();
    if is_other && mixed.is_none() {
        let claims = bare_correction(said, &own, earlier).unwrap_or_else(|| of_no_english(said, &own));
        return on_record(said, &sentences(said.text), &own, claims);
    }
    let mut claims = Vec::new();
    let mut rest: Vec<Span> = Vec::new();
    let (mut heard, mut spoken, mut last) = (Vec::new(), Vec::new(), None);
    let (spans, quoted) = quoted::cut(said.text, sentences(said.text).into_iter().take(MAX_SENTENCES).collect(), &own);
    let of_others = [quoted, handed::parts(said, &spans, &own), others::parts(said.text, &spans, &own)].concat();
    for (place, span) in spans.into_iter().enumerate() {
        interrupt::step();
        let text = &said.text[span.start..span.end];
        let of_mixed = || mixed.as_ref().and_then(|mixed| mixed.kept_out(said.text, span, &own));
        let out = kept_out(said, span, &of_others);
        heard.extend(Some(span).filter(|_| out.is_none())); // also in another language
        if let Some((reason, certain)) = out.or_else(of_mixed) {
            let health = if certain { None } else { health_of(said, span, &own) };
            claims.push(health.unwrap_or_else(|| discarded(text, (span.start, span.end), reason)));
            continue;
        }
        spoken.push(span);
        if guards::reports(within(&own, span)) {
            let only_said = |claim: &Claim| discarded(&said.text[claim.span.0..claim.span.1], claim.span, "a denial that was only said");
            claims.iter_mut().filter(|claim| claim.doubt == Some(DENIAL)).for_each(|claim| *claim = only_said(claim));
        }
        if guards::takes_back(within(&own, span)) {
            take_back(said, span, &mut claims, &mut rest);
        }
        let taken_back = || taken_back::taken_back(said, (span, place == 0), &own, &claims, earlier);
        if let Some(claim) = taken_back().or_else(|| corrected(said, span, &own, &claims, earlier)) {
            claims.push(claim);
            continue;
        }
        if place == 0
            && let Some(answer) = answered(said, span, &own)
        {
            claims.extend(answer);
            continue;
        }
        let before = last.replace(span);
        let introduced = || introduction::introduced(said, span, &own);
        if let Some(parts) = greeted::greeted(said, span, &own).or_else(introduced) {
            claims.extend(parts);
            continue;
        }
        if let Some(claim) = introduction::of_pronoun(said, before, span, &own) {
            claims.push(claim);
            continue;
        }
        by_clauses(said, span, &own, &mut claims, &mut rest);
    }
    remainder(said, &own, &rest, &mut claims);
    claims.extend(mentioned(said, &spoken, &own, &claims));
    claims.sort_by_key(|claim| claim.span);
    on_record(said, &heard, &own, claims)
}

/// The claims of a message without those that somebody asks in it not to keep. `heard` are its sentences in the user's own words.
fn on_record(said: &Utterance<'_>, heard: &[Span], own: &[Word], mut claims: Vec<Claim>) -> Vec<Claim> {
    if let Some(end) = off_record::end(said.text, heard, own) {
        let out = |claim: &Claim| discarded(&said.text[claim.span.0..claim.span.1], claim.span, "a request not to keep it");
        claims.iter_mut().filter(|claim| claim.span.0 < end).for_each(|claim| *claim = out(claim));
    }
    claims
}

/// How those are called whom a message mentions by name, where no claim of it has the name. Nothing is read of what was kept out, but of a
/// question, a request, and what says nothing else.
fn mentioned(said: &Utterance<'_>, spoken: &[Span], own: &[Word], claims: &[Claim]) -> Vec<Claim> {
    const READ: [&str; 4] = ["a question", "a question about the user", "a request to the model", "it informs of nothing"];
    let mut called: Vec<Claim> = Vec::new();
    for span in spoken {
        let words = within(own, *span);
        let Some((reading, name, place)) = relatives::called(&Sentence { text: said.text, words }, *span) else { continue };
        let has_name = |claim: &Claim| claim.text.contains(&name);
        let is_told = |claim: &Claim| claim.doubt.is_none_or(|doubt| doubt == DENIAL) && has_name(claim) && !claim.text.ends_with('?');
        let is_out = |claim: &Claim| claim.category == Category::Discard && !READ.contains(&&*claim.reason) && has_name(claim);
        let told = claims.iter().filter(|claim| claim.category != Category::Discard).chain(&called).any(is_told);
        if !told && !claims.iter().any(is_out) {
            let claim = claimed(said, place, words, reading, None);
            called.push(Claim { reason: MENTIONED.to_owned(), ..claim });
        }
    }
    called
}

/// The decision of a message that takes what the other side proposed: "agreed", "yes, let's do that". It says nothing without that.
fn taken(said: &Utterance<'_>, own: &[Word]) -> Option<Claim> {
    let proposal = changes::accepted(said.before, own)?;
    let [span] = <[Span; 1]>::try_from(sentences(said.text)).ok()?;
    let said_so = &said.text[span.start..span.end];
    let text =
        if proposal.ends_with('?') { with_question(proposal, said_so) } else { format!("Proposed \u{201C}{proposal}\u{201D}: {said_so}") };
    Some(claimed(said, span, own, Reading::new(Category::Decision, "a proposal that was taken").text(text), None))
}

/// The claim of a sentence that answers a question for the user's health: it is kept with its question, which says what it is about.
fn answered(said: &Utterance<'_>, span: Span, own: &[Word]) -> Option<Vec<Claim>> {
    let (text, own) = (&said.text[span.start..span.end], within(own, span));
    let question = question(said.before, own)?;
    if guards::of_sentence(said.text, span, own) != Guard::Open {
        return None;
    }
    let reading = match answers::of_health(question, own).filter(|_| question.len() <= MOST_QUESTION)? {
        Health::Avoids => Reading::new(Category::Constraint, "health"),
        Health::Takes => Reading { importance: 800, ..Reading::new(Category::Semantic, "medicine") },
    };
    let read = rules::read(&Sentence { text: said.text, words: own }).is_some();
    (!read).then(|| vec![claimed(said, span, own, reading.text(with_question(question, text)), None)])
}

/// Whether rules read a sentence of a message that may be English: "stop using tables" has no word that English is told by.
fn is_read(text: &str, own: &[Word]) -> bool {
    let read = |span: &Span| {
        let sentence = Sentence { text, words: within(own, *span) };
        rules::read(&sentence).is_some()
            || taken_back::opens(&sentence)
            || corrects::correction(&sentence).is_some()
            || shift::Shift::of(&sentence).is_some()
    };
    let in_other_letters = || sentences(text).len() == 1 && languages::gives_other_letters(&Sentence { text, words: own });
    guards::may_be_english(text, own) && sentences(text).iter().take(MAX_SENTENCES).any(read) || in_other_letters()
}

/// The claim of a message that is an opening and a value of a known form, which no word of English need be: "sorry, X4471229".
fn bare_correction(said: &Utterance<'_>, own: &[Word], earlier: Earlier<'_>) -> Option<Vec<Claim>> {
    let [span] = <[Span; 1]>::try_from(sentences(said.text)).ok()?;
    corrects::bare(&Sentence { text: said.text, words: within(own, span) })?;
    corrected(said, span, own, &[], earlier).map(|claim| vec![claim])
}

/// Why nothing of a sentence is read, and whether that is certain: code, words of somebody else, and what a model is asked to reword.
fn kept_out(said: &Utterance<'_>, span: Span, of_others: &[others::Part]) -> Option<(&'static str, bool)> {
    if is_fenced(said.text, span) {
        return Some(("code", true));
    }
    let of_another = |part: &&others::Part| (part.span.start..part.span.end).contains(&span.start);
    let part = of_others.iter().find(of_another)?;
    Some((if part.span == span { "a request to the model" } else { "words of somebody else" }, part.announced))
}

/// The claim about the user's health in a sentence that may be a text to work on: "shorten this. I'm allergic to nuts."
fn health_of(said: &Utterance<'_>, span: Span, own: &[Word]) -> Option<Claim> {
    let words = within(own, span);
    let (reading, at) = health::told_anywhere(&Sentence { text: said.text, words })?;
    let told = Span { start: words[at].start, end: span.end };
    let open = guards::of_sentence(said.text, with_signs(span, words, at, told), &words[at..]) == Guard::Open;
    open.then(|| claimed(said, told, &words[at..], reading, None))
}

/// Whether a sentence stands in a fence, or opens one.
fn is_fenced(text: &str, span: Span) -> bool {
    text.contains("```") && (text[span.start..span.end].starts_with("```") || text[..span.start].matches("```").count() % 2 == 1)
}

/// A text with the days that it names in brackets behind their words. `at` is when it was said.
#[must_use]
pub fn with_days(text: &str, at: i64) -> String {
    dates::resolved(text, &words(text), 0, at)
}

/// The claim that a sentence makes of an earlier one, which it corrects.
fn corrected(said: &Utterance<'_>, span: Span, own: &[Word], claims: &[Claim], earlier: Earlier<'_>) -> Option<Claim> {
    let (text, words) = (&said.text[span.start..span.end], within(own, span));
    let correction = corrects::correction(&Sentence { text: said.text, words }).filter(|_| !text.ends_with('?'))?;
    if guards::of_sentence(said.text, span, words) != Guard::Open {
        return None;
    }
    let claim = corrects::applied(&correction, claims, said.before).or_else(|| corrects::applied(&correction, earlier(), said.before))?;
    let own = self::words(&claim.text);
    let (text, days_ago) = (dates::resolved(&claim.text, &own, 0, said.at), dates::days_ago(&own, said.at));
    Some(Claim { text, span: (span.start, span.end), days_ago, ..claim })
}

/// Discards the sentence before one that says it was a joke: "I prefer Windows ME. Not really."
fn take_back(said: &Utterance<'_>, joke: Span, claims: &mut Vec<Claim>, rest: &mut Vec<Span>) {
    let last = claims.last().map(|claim| claim.span).max(rest.last().map(|span| (span.start, span.end)));
    let Some(before) = last.filter(|before| said.text[before.1..joke.start].trim().is_empty()) else { return };
    let is_told = |sentence: &Span| sentence.start <= before.0 && before.1 <= sentence.end;
    let told = sentences(said.text).into_iter().find(is_told).unwrap_or(Span { start: before.0, end: before.1 });
    claims.retain(|claim| claim.span.0 < told.start);
    rest.retain(|span| span.start < told.start);
    claims.push(discarded(&said.text[told.start..told.end], (told.start, told.end), "a joke, by its mark"));
}
