//! From a reading to a claim, and from what no rule reads to a claim of the model's.

use super::by_name::leaves_out_i;
use super::otherwise::tells_of_change;
use super::question::{MOST_QUESTION, asks_user, only_asks, question, with_question};
use super::reading::Reading;
use super::sentence::Sentence;
use super::shift::Shift;
use super::states::{is_of_computer, is_state};
use super::words::{Span, Word, within};
use super::{Category, Claim, DENIAL, LIFTED, Utterance, answers, dates, model, rules};

/// The importance of a change, in thousandths, and how sure it is, as of what a rule reads.
const CHANGED: u16 = 600;
const SURE: u16 = 900;
/// How far below nothing the first model may be of a message that asks nothing and of which no rule reads anything: what is not kept cannot
/// be found, and the rest is ranked. Set by leaving out files of `tools/gate/told`: .911 of what is worth keeping and .125 of the rest, and
/// .879 and .101 without.
const EASE: i64 = model::ONE / 2;
/// The gain of the first model where a message begins with a pronoun, and answers a question that only the user can or names a day: set.
const REFERS: i64 = 3 * model::ONE;

/// The claim of a reading, with the days that its text names. Doubt takes half of its confidence.
pub(super) fn claimed(said: &Utterance<'_>, span: Span, words: &[Word], reading: Reading, doubt: Option<&'static str>) -> Claim {
    let sentence = &said.text[span.start..span.end];
    let text = match &reading.text {
        Some(text) => dates::resolved_as(text, words, said.at),
        None => dates::resolved(sentence, words, span.start, said.at),
    };
    Claim {
        category: reading.category,
        text,
        slot: reading.slot,
        replaces: reading.replaces,
        ends: reading.ends,
        importance: reading.importance,
        confidence: if doubt.is_some() { reading.confidence / 2 } else { reading.confidence },
        span: (span.start, span.end),
        days_ago: dates::days_ago(words, said.at),
        reason: format!("rule: {}", reading.rule),
        doubt,
    }
}

/// A part that is not stored, and why: the first 400 bytes of it.
pub(super) fn discarded(text: &str, span: (usize, usize), reason: &str) -> Claim {
    let mut end = text.len().min(400);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Claim {
        category: Category::Discard,
        text: text[..end].to_owned(),
        slot: None,
        replaces: None,
        ends: None,
        importance: 0,
        confidence: 900,
        span,
        days_ago: 0,
        reason: reason.to_owned(),
        doubt: None,
    }
}

/// Why a reading waits by its rule.
pub(super) fn doubt_of(reading: &Reading) -> Option<&'static str> {
    [DENIAL, LIFTED].into_iter().find(|doubt| reading.rule == *doubt)
}

/// The clauses that no rule reads, as one text: stored where the model says that it informs. Questions beside statements are not part of
/// it, and what asks for knowledge is never stored.
pub(super) fn remainder(said: &Utterance<'_>, own: &[Word], rest: &[Span], claims: &mut Vec<Claim>) {
    let only_asks = |span: &Span| only_asks(&Sentence { text: said.text, words: within(own, *span) });
    let asks = |span: &&Span| said.text[span.start..span.end].ends_with('?') || only_asks(span);
    let (questions, told): (Vec<&Span>, Vec<&Span>) = rest.iter().partition(asks);
    let is_rest = !claims.is_empty() && told.is_empty();
    for question in questions.iter().filter(|_| is_rest || !told.is_empty()) {
        claims.push(discarded(&said.text[question.start..question.end], (question.start, question.end), "a question"));
    }
    let mut rest: Vec<Span> = if told.is_empty() { questions } else { told }.into_iter().copied().collect();
    let of_rule = !claims.is_empty();
    rest.retain(|span| !of_rule || !rules::is_change_of_mind(&Sentence { text: said.text, words: within(own, *span) }));
    let (Some(first), Some(last), false) = (rest.first(), rest.last(), is_rest) else { return };
    let span = (first.start, last.end);
    let text: Vec<&str> = rest.iter().map(|span| &said.text[span.start..span.end]).collect();
    // A clause that a rule read or a guard kept out says nothing about the rest: "Hi there!" informs no more beside "Call me Ana."
    let words = |rest: &[Span]| -> Vec<Word> { rest.iter().flat_map(|span| within(own, *span)).cloned().collect() };
    let left = words(&rest);
    let alone = text.join(" ");
    // "It starts at 10 tomorrow" says when what was spoken of is.
    let refers = left.first().is_some_and(|word| ["it", "it's", "he", "she", "they"].contains(&&*word.lower));
    let answers = || question(said.before, &left).is_some_and(asks_user) || dates::names_day(&left, said.at);
    let score = model::informs(&left, said.before) + if refers && answers() { REFERS } else { 0 };
    let matters = model::matters(&alone, &left, said.before);
    let mut kept = (worth(matters), confidence(score), "model: it informs");
    let least = if of_rule || alone.ends_with('?') { 0 } else { -EASE };
    let is_asked = rest.iter().all(only_asks);
    if !is_asked && score <= least && leaves_out_i(&left) {
        kept = (worth(matters), SURE, "rule: who leaves out \"I\"");
    } else if is_asked || score <= least {
        let tells = |s: &Sentence<'_>| !is_asked && (tells_of_change(s) || Shift::of(s).is_some() || is_of_computer(s));
        let Some(at) = rest.iter().position(|span| tells(&Sentence { text: said.text, words: within(own, *span) })) else {
            let reason = if is_asked || text.iter().all(|text| text.ends_with('?')) { "a question" } else { "it informs of nothing" };
            let mut claim = discarded(&alone, span, reason);
            (claim.importance, claim.confidence) = (worth(matters), if is_asked { SURE } else { confidence(-score) });
            return claims.push(claim);
        };
        // "We ripped out jenkins. GitHub Actions does the job": the new value stands behind what is over.
        let nothing = |span: Span| discarded(&said.text[span.start..span.end], (span.start, span.end), "it informs of nothing");
        claims.extend(rest.drain(..at).map(nothing));
        kept = (CHANGED, SURE, "rule: what changed");
    }
    let left = words(&rest);
    let told: Vec<String> =
        rest.iter().map(|span| dates::resolved(&said.text[span.start..span.end], within(own, *span), span.start, said.at)).collect();
    let (importance, confidence, reason) = kept;
    // How a thing is holds until something else is said of it.
    let holds = |span: &Span| is_state(&Sentence { text: said.text, words: within(own, *span) });
    claims.push(Claim {
        category: if rest.iter().all(holds) { Category::Semantic } else { Category::Episodic },
        text: standing_alone(&told.join(" "), &left, said.before),
        slot: None,
        replaces: None,
        ends: None,
        importance,
        confidence,
        span: (rest.first().map_or(span.0, |first| first.start), span.1),
        days_ago: dates::days_ago(&left, said.at),
        reason: reason.to_owned(),
        doubt: None,
    });
}

/// The importance of what the second model says matters so much: the same scale for what is stored and for what is not.
fn worth(matters: u16) -> u16 {
    200 + matters / 2
}

/// A logit as a probability, in thousandths.
fn confidence(score: i64) -> u16 {
    (1000.0 / (1.0 + libm::exp(-(score as f64) / model::ONE as f64))) as u16
}

/// A short answer, or one that begins with a word that stands for something, with what was asked.
fn standing_alone(text: &str, own: &[Word], before: &str) -> String {
    let plain = own.iter().filter(|word| !word.is_mark()).count();
    let refers = own.first().is_some_and(|word| {
        ["it", "that", "this", "they", "he", "she", "those", "these", "there", "yes", "no"].contains(&word.lower.as_str())
    });
    let needs = |question: &&str| {
        !answers::is_offer(question) && (plain <= 4 || refers || answers::is_fragment(question, own)) && question.len() <= MOST_QUESTION
    };
    match question(before, own).filter(needs) {
        Some(question) => with_question(question, text),
        None => text.to_owned(),
    }
}
