//! The write gate: which parts of a message deserve to be stored, in which form, and why the rest do not.
//!
//! Sentence by sentence: guards first (`guards`: quotes, questions, what might be, jokes, code), then rules (`rules`: slots, constraints,
//! decisions), then a small linear model over the message (`model`), which says whether the rest informs. Times that a sentence names from
//! where it stands become days (`dates`). It reads English and stores nothing else. It is a pure function of the text, the message
//! before, the speaker and the time: it knows no store and asks no language model.
//!
//! docs/life.md has the rules, the constants and what they were fitted on.

mod answers;
mod assign;
mod attribute;
mod beings;
mod beside;
mod blocks;
mod changes;
mod claim;
mod constraint;
mod corrects;
mod dates;
mod frames;
mod guards;
mod health;
mod left;
mod lexicon;
mod lists;
mod manner;
mod medicine;
mod model;
mod orders;
mod others;
mod over;
mod person;
mod prefers;
mod reading;
mod relates;
mod rest;
mod rules;
mod sentence;
mod shapes;
mod signs;
mod together;
mod told;
mod values;
mod words;

#[cfg(test)]
mod answers_tests;
#[cfg(test)]
mod kept_tests;
#[cfg(test)]
mod said_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod typed_tests;

pub use beings::is_living;
pub use blocks::without_blocks;
pub use claim::{Category, Claim, Heard, Speaker, Utterance};
pub use constraint::begins_as_order;
pub use guards::PASTE_BYTES;
pub use health::is_degree;
pub use left::leaves;
pub use medicine::{ends_medicine, takes};
pub use model::described;
pub use orders::{Lift, Order, lift_of, order_of};
pub use over::ends_allergy;
pub use relates::{Stated, of_slot, related};
pub use values::{exclude, identifies, is_present, may_follow, present, spelled, spelling, takes_many};

use answers::Health;
use frames::Frame;
use guards::Guard;
use reading::Reading;
use sentence::Sentence;
use words::{Span, Word, sentences, words};

/// Why a claim waits that only says what is not so. Where what it denies is known, it ends that, and waits for nobody.
pub const DENIAL: &str = "a denial: it says what is not so";
/// Why a claim is not stored that only ends an order, where none is known that it speaks of.
pub const LIFTED: &str = "it ends an order, and none is known";
/// The reason of a claim that is a name by its form alone: "I'm Marta".
pub const INTRODUCTION: &str = "rule: introduction";
/// Corrections of corrections that are followed.
const CORRECTIONS: usize = 3;
/// Sentences of a message that are read at most.
const MAX_SENTENCES: usize = 64;
/// Places of a sentence at most where a rule is asked whether a clause begins.
const MOST_CLAUSES: usize = 32;
/// Claims of an assistant that are kept for approval, of one message.
const MAX_UNCONFIRMED: usize = 3;
/// From here on an assistant's sentence says enough to be worth approving, in thousandths of [`model::matters`].
const UNCONFIRMED_MATTERS: u16 = 600;

/// How far from a message the other side's words may stand that it answers, or that answer it.
const BESIDE: usize = 4;

/// The claims of a message among others. The words that the other side said last and says next stand beside it. `at` is the time that the
/// speaker's clock showed.
#[must_use]
pub fn judge_among(messages: &[Heard], place: usize, at: i64) -> Vec<Claim> {
    judge_at(messages, place, at, CORRECTIONS)
}

/// The same with so many corrections of corrections.
fn judge_at(messages: &[Heard], place: usize, at: i64, corrections: usize) -> Vec<Claim> {
    let Heard { speaker, text, at: said_at, .. } = &messages[place];
    let other = |message: &&Heard| message.speaker != *speaker && message.speaker != Speaker::Other;
    let before = messages[..place].iter().rev().take(BESIDE).find(other).map_or("", |message| message.text.as_str());
    let after = messages[place + 1..].iter().take(BESIDE).find(other).map_or("", |message| message.text.as_str());
    let earlier = || {
        let own = |at: &usize| messages[*at].speaker == *speaker;
        let since = |last: usize| said_at.zip(messages[last].at).map_or(0, |(now, then)| now - then);
        let last = (place.saturating_sub(BESIDE)..place).rev().find(own).filter(|_| corrections > 0);
        last.map_or_else(Vec::new, |last| judge_at(messages, last, at - since(last), corrections - 1))
    };
    judge_after(&Utterance { text, speaker: *speaker, before, after, at }, &earlier)
}

/// The claims of a message, in order. Never empty: a part that is not stored is there with its reason.
#[must_use]
pub fn judge(said: &Utterance<'_>) -> Vec<Claim> {
    judge_after(said, &Vec::new)
}

/// The claims of the last message that the same speaker said before.
type Earlier<'a> = &'a dyn Fn() -> Vec<Claim>;

/// The same of a message that may correct what its speaker claimed in the one before.
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
    if !guards::is_english(said.text, &own, asked) && !is_read(said.text, &own) {
        return bare_correction(said, &own, earlier).unwrap_or_else(|| of_no_english(said, &own));
    }
    let mut claims = Vec::new();
    let mut rest: Vec<Span> = Vec::new();
    let spans: Vec<Span> = sentences(said.text).into_iter().take(MAX_SENTENCES).collect();
    let of_others = others::parts(said.text, &spans, &own);
    for (place, span) in spans.into_iter().enumerate() {
        let text = &said.text[span.start..span.end];
        if let Some((reason, certain)) = kept_out(said, span, &of_others) {
            let health = if certain { None } else { health_of(said, span, &own) };
            claims.push(health.unwrap_or_else(|| discarded(text, (span.start, span.end), reason)));
            continue;
        }
        if guards::takes_back(within(&own, span)) {
            take_back(said, span, &mut claims, &mut rest);
        }
        if let Some(claim) = corrected(said, span, &own, &claims, earlier) {
            claims.push(claim);
            continue;
        }
        if place == 0
            && let Some(answer) = answered(said, span, &own)
        {
            claims.extend(answer);
            continue;
        }
        by_clauses(said, span, &own, &mut claims, &mut rest);
    }
    remainder(said, &own, &rest, &mut claims);
    claims.sort_by_key(|claim| claim.span);
    claims
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
        rules::read(&sentence).is_some() || corrects::correction(&sentence).is_some()
    };
    guards::may_be_english(text, own) && sentences(text).iter().take(MAX_SENTENCES).any(read)
}

/// The claim of a message that is an opening and a value of a known form, which no word of English need be: "sorry, X4471229".
fn bare_correction(said: &Utterance<'_>, own: &[Word], earlier: Earlier<'_>) -> Option<Vec<Claim>> {
    let [span] = <[Span; 1]>::try_from(sentences(said.text)).ok()?;
    corrects::bare(&Sentence { text: said.text, words: within(own, span) })?;
    corrected(said, span, own, &[], earlier).map(|claim| vec![claim])
}

/// Why nothing of a message is stored that is not English. Guards that need no English say of each sentence why no model may claim it
/// either.
fn of_no_english(said: &Utterance<'_>, own: &[Word]) -> Vec<Claim> {
    const REASON: &str = "not English, as far as its words tell";
    let reason = |span: &Span| {
        let other = || guards::of_any_language(said.text, *span, within(own, *span)).unwrap_or(REASON);
        if is_fenced(said.text, *span) { "code" } else { other() }
    };
    let spans: Vec<Span> = sentences(said.text).into_iter().take(MAX_SENTENCES).collect();
    if spans.iter().all(|span| reason(span) == REASON) {
        return vec![discarded(said.text, (0, said.text.len()), REASON)];
    }
    spans.iter().map(|span| discarded(&said.text[span.start..span.end], (span.start, span.end), reason(span))).collect()
}

/// Reads a sentence clause by clause. Sentences that no rule reads are left to the model.
fn by_clauses(said: &Utterance<'_>, span: Span, own: &[Word], claims: &mut Vec<Claim>, rest: &mut Vec<Span>) {
    if let Some((told, left)) = told_and_asked(said, span, own) {
        claims.extend(told);
        return rest.extend(left);
    }
    let frame = frames::frame(&Sentence { text: said.text, words: within(own, span) });
    let clauses = if frame.is_some_and(Frame::leads) { vec![span] } else { clauses(said.text, span, own) };
    for clause in clauses {
        match sentence(said, span, clause, frame, own) {
            Some(claim) if frame.is_none() => apart(said, span, clause, claim, own, claims),
            Some(claim) => claims.push(claim),
            None => rest.push(clause),
        }
    }
}

/// A claim, and what its clause says beside the value that it gives, as a claim of its own: that holds where the value changes.
fn apart(said: &Utterance<'_>, whole: Span, clause: Span, claim: Claim, own: &[Word], claims: &mut Vec<Claim>) {
    let words = within(own, clause);
    let is_open = claim.doubt.is_none() && claim.category != Category::Discard && !said.text[clause.start..clause.end].ends_with('?');
    let informs = |words: &[Word]| model::informs(words, "", &[]) > 0;
    let cut = || rest::rest(&Sentence { text: said.text, words }, claim.slot.as_deref(), &informs);
    let Some(rest) = is_open.then(cut).flatten() else { return claims.push(claim) };
    let first = Span { start: clause.start, end: signs::widened(said.text, clause.start, words[rest.over - 1].end).1 };
    claims.push(sentence(said, whole, first, None, own).unwrap_or(claim));
    let span = Span { start: words[rest.from].start, end: clause.end };
    match rest.text {
        // A sentence that is kept whole only tells what was so: the value in it may have another one.
        Some(text) if rest.is_whole => {
            claims.push(claimed(said, span, words, Reading::new(Category::Episodic, rest::BESIDE).text(text), None));
        }
        Some(text) => {
            let beside = self::words(&text);
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

/// A part of a sentence with the signs before its first word, which may open a quotation.
fn with_signs(sentence: Span, words: &[Word], first: usize, part: Span) -> Span {
    Span { start: first.checked_sub(1).map_or(sentence.start, |before| words[before].end), ..part }
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

/// The claim that a sentence makes of an earlier one, which it corrects.
fn corrected(said: &Utterance<'_>, span: Span, own: &[Word], claims: &[Claim], earlier: Earlier<'_>) -> Option<Claim> {
    let (text, words) = (&said.text[span.start..span.end], within(own, span));
    let correction = corrects::correction(&Sentence { text: said.text, words }).filter(|_| !text.ends_with('?'))?;
    if guards::of_sentence(said.text, span, words) != Guard::Open {
        return None;
    }
    let claim = corrects::applied(&correction, claims, said.before).or_else(|| corrects::applied(&correction, &earlier(), said.before))?;
    let text = dates::resolved(&claim.text, &self::words(&claim.text), 0, said.at);
    Some(Claim { text, span: (span.start, span.end), ..claim })
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

/// The words of a span.
fn within(own: &[Word], span: Span) -> &[Word] {
    let from = own.partition_point(|word| word.start < span.start);
    &own[from..from + own[from..].partition_point(|word| word.end <= span.end)]
}

/// A sentence as the clauses that claim something each: "I live in Lisbon and | I prefer tea", "we use Go, | never deploy on Fridays".
/// A cut is made only where rules read what follows, so text that they do not know stays together. Behind a colon that is what one must
/// know of the user's health, where nobody else says it.
fn clauses(text: &str, span: Span, own: &[Word]) -> Vec<Span> {
    let words = within(own, span);
    let (mut out, mut start, mut asked) = (Vec::new(), span.start, 0);
    if text[span.start..span.end].ends_with('?') {
        return vec![span];
    }
    let with_others = |first: usize| together::subject(&words[first..]).map_or(0, |(behind, _)| first + behind);
    let mut subject = with_others(rules::preamble(&Sentence { text, words })); // "my wife and | I are ..." has one
    for at in 2..words.len().saturating_sub(1) {
        if at < subject {
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
fn sentence(said: &Utterance<'_>, whole: Span, span: Span, frame: Option<Frame>, own: &[Word]) -> Option<Claim> {
    let (text, words) = (&said.text[span.start..span.end], within(own, span));
    let doubt = match guards::of_sentence(said.text, whole, within(own, whole)) {
        Guard::Discard(reason) => return Some(discarded(text, (span.start, span.end), reason)),
        Guard::Doubt(reason) => Some(reason),
        Guard::Open => None,
    };
    let sentence = within(own, whole);
    // Behind an "and" the request goes on: "forget that I live in Porto and my name is Ana".
    let goes_on = sentence.iter().rfind(|word| word.end <= span.start).is_some_and(|word| word.lower == "and");
    if guards::asks_to_forget(said.text, if goes_on { sentence } else { words }) {
        return Some(discarded(text, (span.start, span.end), "a request to forget"));
    }
    let asks = text.ends_with('?');
    let clause = Sentence { text: said.text, words };
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
        (None, doubt) if doubt.is_some() || !asks && guards::denies(words) => {
            let ends = if doubt.is_none() { over::denied(&Sentence { text: said.text, words }) } else { None };
            let doubt = doubt.unwrap_or(DENIAL);
            let reading = Reading {
                category: if ends.is_some() { Category::Semantic } else { Category::Episodic },
                text: None,
                slot: None,
                replaces: None,
                ends,
                importance: 300,
                confidence: 500,
                rule: doubt,
            };
            Some(claimed(said, span, words, reading, Some(doubt)))
        }
        (None, _) => None,
    }
}

/// Why a reading waits by its rule.
fn doubt_of(reading: &Reading) -> Option<&'static str> {
    [DENIAL, LIFTED].into_iter().find(|doubt| reading.rule == *doubt)
}

/// A sentence that only ends an order is stored where it ends one, unless it informs of something by itself: "you don't have to pick me up
/// any more".
fn told_of_order(said: &Utterance<'_>, words: &[Word], reading: Reading) -> Reading {
    let informs = || model::informs(words, said.before, &self::words(said.before)) > 0;
    if reading.rule != LIFTED || reading.slot.is_some() || !informs() {
        return reading;
    }
    Reading { category: Category::Episodic, importance: 400, rule: "it ends an order, or informs", ..reading }
}

fn claimed(said: &Utterance<'_>, span: Span, words: &[Word], reading: Reading, doubt: Option<&'static str>) -> Claim {
    let sentence = &said.text[span.start..span.end];
    let text = match reading.text {
        Some(text) => dates::resolved(&text, &self::words(&text), 0, said.at),
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
        reason: format!("rule: {}", reading.rule),
        doubt,
    }
}

/// The clauses that no rule reads, as one text: stored where the model says that it informs. Questions beside statements are not part of
/// it.
fn remainder(said: &Utterance<'_>, own: &[Word], rest: &[Span], claims: &mut Vec<Claim>) {
    let asks = |span: &&Span| said.text[span.start..span.end].ends_with('?');
    let (questions, told): (Vec<&Span>, Vec<&Span>) = rest.iter().partition(asks);
    let is_rest = !claims.is_empty() && told.is_empty();
    for question in questions.iter().filter(|_| is_rest || !told.is_empty()) {
        claims.push(discarded(&said.text[question.start..question.end], (question.start, question.end), "a question"));
    }
    let rest: Vec<Span> = if told.is_empty() { questions } else { told }.into_iter().copied().collect();
    let (Some(first), Some(last), false) = (rest.first(), rest.last(), is_rest) else { return };
    let span = (first.start, last.end);
    let asked = words(said.before);
    let text: Vec<&str> = rest.iter().map(|span| &said.text[span.start..span.end]).collect();
    // A clause that a rule read or a guard kept out says nothing about the rest: "Hi there!" informs no more beside "Call me Ana."
    let left: Vec<Word> = rest.iter().flat_map(|span| within(own, *span)).cloned().collect();
    let alone = text.join(" ");
    let score = model::informs(&left, said.before, &asked);
    let matters = model::matters(&alone, &left, said.before);
    if score <= 0 {
        let reason = if text.iter().all(|text| text.ends_with('?')) { "a question" } else { "it informs of nothing" };
        let mut claim = discarded(&alone, span, reason);
        (claim.importance, claim.confidence) = (worth(matters), confidence(-score));
        return claims.push(claim);
    }
    let told: Vec<String> =
        rest.iter().map(|span| dates::resolved(&said.text[span.start..span.end], within(own, *span), span.start, said.at)).collect();
    claims.push(Claim {
        category: Category::Episodic,
        text: standing_alone(&told.join(" "), &left, said.before),
        slot: None,
        replaces: None,
        ends: None,
        importance: worth(matters),
        confidence: confidence(score),
        span,
        reason: "model: it informs".to_owned(),
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
    let needs = |question: &&str| (plain <= 4 || refers || answers::is_fragment(question, own)) && question.len() <= MOST_QUESTION;
    match question(before, own).filter(needs) {
        Some(question) => with_question(question, text),
        None => text.to_owned(),
    }
}

/// Bytes of a question at most that stands before its answer.
const MOST_QUESTION: usize = 200;

fn with_question(question: &str, answer: &str) -> String {
    format!("Asked \u{201C}{question}\u{201D}: {answer}")
}

/// The question that the other side asked last, where `answer` answers it.
fn question<'b>(before: &'b str, answer: &[Word]) -> Option<&'b str> {
    let last = sentences(before).into_iter().next_back().map(|span| &before[span.start..span.end])?;
    is_question(last, answer).then_some(last)
}

/// How an assistant tells something in the form of a question.
const TELLS: [&str; 5] = ["did you know", "do you know that", "did you notice", "are you aware", "do you remember that"];
/// How it asks whether what it just told is so.
const TAGS: [&str; 6] = ["right ?", "correct ?", "isn't it ?", "aren't you ?", "don't you ?", "is that right ?"];

/// How it asks for something without a question mark.
const WANTS: [&str; 8] = ["tell me", "let me know", "give me", "show me", "provide", "specify", "share", "confirm"];

/// Whether a sentence asks what `answer` answers. One that tells something and asks whether it is so is answered by yes or no: another
/// sentence of the user's would make the assistant's words the user's own.
fn is_question(sentence: &str, answer: &[Word]) -> bool {
    let own = words(sentence);
    let ends = |tag: &&str| own.len().checked_sub(tag.split(' ').count()).is_some_and(|at| words::starts(&own, at, tag).is_some());
    let tells = TELLS.iter().any(|phrase| words::starts(&own, 0, phrase).is_some()) || TAGS.iter().any(ends);
    let decides = agrees(answer) || answer.first().is_some_and(|word| ["no", "nope"].contains(&word.lower.as_str()));
    let at = usize::from(own.first().is_some_and(|word| word.lower == "please"));
    let wants = WANTS.iter().any(|phrase| words::starts(&own, at, phrase).is_some());
    (wants || own.last().is_some_and(|word| word.lower == "?")) && (!tells || decides)
}

/// An assistant's statement: a fact that somebody has to approve, unless the user just did.
fn of_assistant(said: &Utterance<'_>) -> Vec<Claim> {
    let mut claims = Vec::new();
    let confirmed = confirms(said.after);
    for span in sentences(said.text).into_iter().take(MAX_SENTENCES) {
        let text = &said.text[span.start..span.end];
        let own = words(text);
        if text.len() > 400
            || text.ends_with('?')
            || own.len() < 5
            || guards::is_code(text)
            || guards::is_unknown(&own)
            || claims.len() == MAX_UNCONFIRMED
        {
            continue;
        }
        let names = own.iter().skip(1).any(|word| word.is_number() || word.capital || word.lower.contains(['-', '_', '/']));
        let matters = model::matters(text, &own, "");
        let offers =
            own[0].lower.starts_with("i'") || ["i", "let", "would", "please", "sure", "here", "you"].contains(&own[0].lower.as_str());
        if names && matters >= UNCONFIRMED_MATTERS && !offers && guards::is_english(text, &own, false) {
            claims.push(Claim {
                category: Category::Semantic,
                text: dates::resolved(text, &own, 0, said.at),
                slot: None,
                replaces: None,
                ends: None,
                importance: 400,
                confidence: if confirmed { 700 } else { 400 },
                span: (span.start, span.end),
                reason: if confirmed { "the assistant said it, and the user agreed" } else { "the assistant said it" }.to_owned(),
                doubt: (!confirmed).then_some("the assistant said it, and nobody confirmed it"),
            });
        }
    }
    if claims.is_empty() {
        claims.push(discarded(said.text, (0, said.text.len()), "the assistant's words"));
    }
    claims
}

/// Whether the user's next message agrees, and does little else.
fn confirms(after: &str) -> bool {
    let own = words(after);
    own.len() <= 6 && agrees(&own)
}

/// Whether words begin by agreeing.
fn agrees(own: &[Word]) -> bool {
    let agreement = ["yes", "correct", "right", "exactly", "that's right", "that's correct", "yep", "indeed", "confirmed"];
    agreement.iter().any(|word| words::starts(own, 0, word).is_some())
}

fn discarded(text: &str, span: (usize, usize), reason: &str) -> Claim {
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
        reason: reason.to_owned(),
        doubt: None,
    }
}
