//! A sentence clause by clause: where one begins that claims something of its own, and the claim of each.

use super::compose::{claimed, discarded, doubt_of};
use super::frames::Frame;
use super::guards::Guard;
use super::reading::Reading;
use super::sentence::Sentence;
use super::words::{Span, Word, starts, with_signs, within, words as words_of};
use super::{
    Category, Claim, DENIAL, LIFTED, Utterance, beside, frames, guards, left, limit, medicine, model, others, over, rest, rules, signs,
    together,
};

/// Places of a sentence at most where a rule is asked whether a clause begins.
pub(super) const MOST_CLAUSES: usize = 32;

/// Parts of a sentence at most, each a claim of its own.
const MOST_PARTS: usize = 64;

/// A sentence, and what guards say of it.
#[derive(Debug, Clone, Copy)]
struct Whole {
    span: Span,
    guard: Guard,
    /// The first of its claims among those of its message.
    first: usize,
}

/// Reads a sentence clause by clause. Sentences that no rule reads are left to the model.
pub(super) fn by_clauses(said: &Utterance<'_>, span: Span, own: &[Word], claims: &mut Vec<Claim>, rest: &mut Vec<Span>) {
    if let Some((told, left)) = told_and_asked(said, span, own) {
        claims.extend(told);
        return rest.extend(left);
    }
    let frame = frames::frame(&Sentence { text: said.text, words: within(own, span) });
    let clauses = if frame.is_some_and(Frame::leads) { vec![span] } else { clauses(said.text, span, own) };
    let guard = guards::of_sentence(said.text, span, within(own, span));
    let whole = Whole { span, guard, first: claims.len() };
    for clause in clauses {
        match sentence(said, whole, clause, frame, own) {
            Some(claim) if frame.is_none() => apart(said, whole, clause, claim, own, claims),
            Some(claim) => claims.push(claim),
            None => rest.push(clause),
        }
    }
}

/// A sentence as the clauses that claim something each: "I live in Lisbon and | I prefer tea", "we use Go, | never deploy on Fridays".
/// A cut is made only where rules read what follows, so text that they do not know stays together. Behind a colon that is what one must
/// know of the user's health, where nobody else says it.
pub(super) fn clauses(text: &str, span: Span, own: &[Word]) -> Vec<Span> {
    let words = within(own, span);
    let (mut out, mut start, mut asked) = (Vec::new(), span.start, 0);
    if text[span.start..span.end].ends_with('?') {
        return vec![span];
    }
    let leads = limit::leading(&Sentence { text, words }); // "In 2020, | I moved to Porto" is one claim
    let instead = medicine::instead(&Sentence { text, words }); // "she stopped the lisinopril, | I'm on amlodipine now", too
    let with_others = |first: usize| together::subject(&words[first..]).map_or(0, |(behind, _)| first + behind);
    let mut subject = with_others(rules::preamble(&Sentence { text, words })); // "my wife and | I are ..." has one
    for at in 2..words.len().saturating_sub(1) {
        if at < subject || [leads, instead].contains(&Some(at)) {
            continue;
        }
        let before = &text[words[at - 1].end..words[at].start];
        let joined = ["and", "but", "so"].contains(&words[at - 1].lower.as_str());
        let begins = joined || signs::parts(before);
        if !(begins || before.contains(':')) || !rules::opens_clause(&words[at..]) || asked == MOST_CLAUSES {
            continue;
        }
        asked += 1;
        let reading = rules::read(&Sentence { text, words: &words[at..] });
        let told = |reading: Reading| {
            let supposed = left::is_supposed(&reading, &words[..at]);
            begins && !supposed || reading.is_of_health() && !others::is_announced(&text[span.start..words[at].start])
        };
        if reading.is_some_and(told) {
            let last = if joined { at - 2 } else { at - 1 };
            out.push(Span { start, end: signs::widened(text, start, words[last].end).1 });
            (start, subject) = (words[at].start, with_others(at));
        }
    }
    out.push(Span { start, end: span.end });
    out
}

/// The result of guards for a sentence and of rules for one clause of it; `None` leaves the clause to the model.
fn sentence(said: &Utterance<'_>, whole: Whole, span: Span, frame: Option<Frame>, own: &[Word]) -> Option<Claim> {
    let (text, words) = (&said.text[span.start..span.end], within(own, span));
    let sentence = within(own, whole.span);
    let doubt = match whole.guard {
        Guard::Discard(reason) => return Some(discarded(text, (span.start, span.end), reason)),
        Guard::Doubt(reason) => Some(reason),
        Guard::Open => None,
    };
    // Behind an "and" the request goes on: "forget that I live in Porto and my name is Ana".
    let goes_on = sentence.iter().rfind(|word| word.end <= span.start).is_some_and(|word| word.lower == "and");
    if guards::asks_to_forget(said.text, if goes_on { sentence } else { words }) {
        return Some(discarded(text, (span.start, span.end), "a request to forget"));
    }
    let asks = text.ends_with('?');
    let clause = Sentence { text: said.text, words };
    let found = Sentence { text: said.text, words: found_out(said.text, words) };
    let reading = match frame {
        _ if asks => rules::asked(&clause),
        Some(frame) => frames::read(frame, &clause),
        None => rules::read(&clause),
    };
    match (reading.map(|reading| told_of_order(said, words, reading)), doubt) {
        (Some(reading), doubt) => {
            let doubt = doubt.or_else(|| doubt_of(&reading));
            Some(claimed(said, span, words, reading, doubt))
        }
        (None, None) if guards::asks_for_work(words) => Some(discarded(text, (span.start, span.end), "a request to the model")),
        (None, doubt) if doubt.is_some() || !asks && guards::denies(found.words) => {
            let ends = if doubt.is_none() { over::denied(&found) } else { None };
            let doubt = doubt.unwrap_or(DENIAL);
            let category = if ends.is_some() { Category::Semantic } else { Category::Episodic };
            let text =
                if found.words.len() < words.len() { found.between(0, found.words.len()).map(|text| rules::capital(&text)) } else { None };
            let reading = Reading { ends, text, importance: 300, confidence: 500, ..Reading::new(category, doubt) };
            Some(claimed(said, span, words, reading, Some(doubt)))
        }
        (None, _) => None,
    }
}

/// The words behind "it turns out", where they deny a condition.
fn found_out<'w>(text: &str, words: &'w [Word]) -> &'w [Word] {
    const FINDS: [&str; 4] = ["it turns out that", "it turns out", "turns out that", "turns out"];
    let Some(at) = FINDS.iter().find_map(|opening| starts(words, 0, opening)) else { return words };
    let denies = over::denied_condition(&Sentence { text, words: &words[at..] }, false).is_some();
    if denies { &words[at..] } else { words }
}

/// A sentence that only ends an order is stored where it ends one, unless it informs of something by itself: "you don't have to pick me up
/// any more".
fn told_of_order(said: &Utterance<'_>, words: &[Word], reading: Reading) -> Reading {
    let informs = || model::informs(words, said.before) > 0;
    if reading.rule != LIFTED || reading.slot.is_some() || !informs() {
        return reading;
    }
    Reading { category: Category::Episodic, importance: 400, rule: "it ends an order, or informs", ..reading }
}

/// A claim, and what its clause says beside the value that it gives, as a claim of its own: that holds where the value changes.
fn apart(said: &Utterance<'_>, whole: Whole, clause: Span, claim: Claim, own: &[Word], claims: &mut Vec<Claim>) {
    let words = within(own, clause);
    let is_told = claim.doubt.is_none() && claim.category != Category::Discard && !said.text[clause.start..clause.end].ends_with('?');
    let is_open = is_told && claims.len() - whole.first < MOST_PARTS;
    let informs = |words: &[Word]| model::informs(words, "") > 0;
    let cut = || rest::rest(&Sentence { text: said.text, words }, claim.slot.as_deref(), &informs);
    let Some(rest) = is_open.then(cut).flatten() else { return claims.push(claim) };
    let first = Span { start: clause.start, end: signs::widened(said.text, clause.start, words[rest.over - 1].end).1 };
    match sentence(said, whole, first, None, own) {
        Some(claim) => apart(said, whole, first, claim, own, claims),
        None => claims.push(claim),
    }
    let span = Span { start: words[rest.from].start, end: clause.end };
    match rest.text {
        // A sentence that is kept whole only tells what was so: the value in it may have another one.
        Some(text) if rest.is_whole => {
            claims.push(claimed(said, span, words, Reading::new(Category::Episodic, rest::BESIDE).text(text), None));
        }
        Some(text) => {
            let beside = words_of(&text);
            let read = rules::read(&Sentence { text: &text, words: &beside });
            let reading = read.unwrap_or_else(|| Reading::new(Category::Semantic, rest::BESIDE));
            let text = reading.text.clone().unwrap_or(text);
            let doubt = doubt_of(&reading);
            claims.push(claimed(said, span, words, reading.text(text), doubt));
        }
        None => match sentence(said, whole, span, None, own) {
            Some(claim) => apart(said, whole, span, claim, own, claims),
            None => claims.push(claimed(said, span, within(own, span), Reading::new(Category::Semantic, rest::BESIDE), None)),
        },
    }
}

/// The claims of what is told before a question, and what is left of the sentence: "I'm allergic to penicillin, can I take amoxicillin?".
fn told_and_asked(said: &Utterance<'_>, span: Span, own: &[Word]) -> Option<(Vec<Claim>, Vec<Span>)> {
    let words = within(own, span);
    let place = beside::told(&Sentence { text: said.text, words }, said.text[..span.end].ends_with('?'))?;
    let (begin, end) = place.words;
    let told = Span { start: words[begin].start, end: words[end - 1].end };
    let sentence = Sentence { text: said.text, words: &words[begin..end] };
    if guards::of_sentence(said.text, with_signs(span, words, begin, told), sentence.words) != Guard::Open
        || frames::frame(&sentence).is_some()
    {
        return None;
    }
    let (mut claims, mut rest) = (Vec::new(), Vec::new());
    for clause in clauses(said.text, told, own) {
        let words = within(own, clause);
        match beside::read(&Sentence { text: said.text, words }, place.facts) {
            Some((reading, end)) => {
                let span = Span { start: clause.start, end: if end < words.len() { words[end - 1].end } else { clause.end } };
                claims.push(claimed(said, span, &words[..end], reading, None));
            }
            None => rest.push(clause),
        }
    }
    rest.push(Span { start: words[end].start, end: span.end });
    (!claims.is_empty()).then_some((claims, rest))
}
