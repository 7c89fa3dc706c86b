//! How the user wants to be answered: "keep answers under 100 words", "reply in French", "stop apologizing", "use metric units". Only what
//! speaks of all answers is read: "make the answer shorter" is about one.
//!
//! It is a preference, and a constraint where it says that it holds each time ("from now on", "always"), whichever form it has.

use super::Category;
use super::guards::is_lasting;
use super::lists::lists;
use super::orders;
use super::reading::Reading;
use super::sentence::Sentence;
use super::words::{Word, among, has, starts};

lists! { "manner":
    /// Features that an answer may have.
    LOOKS,
    /// Words of conventions: "use metric units".
    STYLE,
    /// How an answer may be given.
    WAYS,
    /// Habits that a model may be told to stop.
    HABITS,
    /// Verbs of what a model is told not to do.
    AVOIDED,
    /// Words for how answers are.
    ADJECTIVES,
}

/// Words that may stand before a wish.
const POLITE: [&str; 5] = ["please", "can you please", "could you please", "can you", "could you"];
/// Answers, more than one.
const ANSWERS: [&str; 9] =
    ["answers", "replies", "responses", "explanations", "summaries", "messages", "outputs", "sentences", "paragraphs"];
/// Other words for answers, of which "keep" speaks.
const KEPT: [&str; 7] = ["answer", "response", "reply", "explanation", "things", "tone", "comments"];
/// Verbs that ask for a manner.
const SHAPES: [&str; 7] = ["keep", "make", "write", "format", "limit", "give me", "phrase"];
/// Verbs that ask for a manner of answering.
const SPEAKS: [&str; 9] =
    ["answer me", "answer", "reply to me", "reply", "respond to me", "respond", "speak to me", "talk to me", "write to me"];
/// Verbs that ask for a language: "speak in French".
const IN: [&str; 3] = ["speak in", "talk in", "write in"];
/// Words before answers that somebody wants: "I want all answers in French".
const WANTS: [&str; 6] = ["i want", "i'd like", "i would like", "i need", "i prefer", "i'd prefer"];
/// Words that ask that something be left out.
const OMITS: [&str; 8] = ["don't", "do not", "avoid", "stop", "no more", "skip", "leave out", "no"];
/// Words of a wish that holds for what is at hand.
const ONCE: [&str; 6] = ["this", "that", "it", "here", "now", "yet"];
/// How somebody permits a way to speak again.
const PERMITS: [&str; 3] = ["you can", "you may", "you could"];
/// Words of a wish at most, where its form alone does not tell that it is one.
const MOST: usize = 14;

/// The manner that a sentence asks of every answer. `whole` has the words before it too, which may say that it lasts.
pub(super) fn manner(whole: &Sentence<'_>, s: &Sentence<'_>) -> Option<Reading> {
    let polite = POLITE.iter().filter_map(|polite| starts(s.words, 0, polite)).max().unwrap_or(0);
    let at = starts(s.words, polite, "always").unwrap_or(polite);
    let again = is_again(s);
    let permitted = PERMITS.iter().filter_map(|permits| starts(s.words, at, permits)).max().filter(|at| again && speaks(s, *at));
    let at = permitted.unwrap_or(at);
    let lasts = is_lasting(whole.words) || again && speaks(s, at);
    let of_one = s.text[s.words.first()?.start..s.words.last()?.end].contains(": ");
    let once = !lasts && s.words[at..].iter().any(|word| among(&ONCE, &word.lower)) || s.words.len() - at > MOST;
    if of_one || !(of_answers(s, at) || !once && of_style(s, at) || is_wish(s)) {
        return None;
    }
    let category = if lasts { Category::Constraint } else { Category::Preference };
    let reading = Reading::new(category, "how to answer");
    let counted = s.words.iter().any(Word::is_number) && ["words", "sentences", "lines"].iter().any(|unit| has(s.words, unit));
    Some(if counted { reading.slot("answer length") } else { reading })
}

/// The place behind the first of these phrases that begins at a word.
fn opens(s: &Sentence<'_>, at: usize, phrases: &[&str]) -> Option<usize> {
    phrases.iter().find_map(|phrase| starts(s.words, at, phrase))
}

/// Whether it asks for a language or a way to speak: "answer in French".
fn speaks(s: &Sentence<'_>, at: usize) -> bool {
    let way = |from: usize| among(&WAYS, s.word(from)) && s.words.get(from + 1).is_none_or(|next| !next.is_number());
    opens(s, at, &SPEAKS).is_some_and(|from| from < s.words.len() && way(from))
}

/// Whether it ends with "again", which says that it lasts where it is a way to speak: "please answer in English again".
fn is_again(s: &Sentence<'_>) -> bool {
    let mut words = s.words.iter().rev().skip_while(|word| word.is_mark() || word.lower == "please");
    words.next().is_some_and(|word| word.lower == "again")
}

/// Whether its form says that all answers are spoken of: "keep your answers short", "reply in French", "no emojis in answers".
fn of_answers(s: &Sentence<'_>, at: usize) -> bool {
    let looks = LOOKS.iter().any(|look| has(s.words, look));
    let shaped = opens(s, at, &SHAPES).is_some_and(|from| {
        let named = from + usize::from(["your", "all", "the", "my"].contains(&s.word(from)));
        among(&ANSWERS, s.word(named)) && s.words.len() > named + 1
    });
    let spoken = speaks(s, at) && s.words.len() <= 10;
    let omitted =
        opens(s, at, &OMITS).is_some_and(|from| from + 5 > s.words.len() || has(s.words, "answers") || has(s.words, "replies")) && looks;
    let used = starts(s.words, at, "use").is_some_and(|from| opens(s, from, &LOOKS).is_some());
    let wanted = opens(s, at, &WANTS).is_some_and(|from| {
        let named = (from..from + 3).find(|at| !["all", "your", "the", "my"].contains(&s.word(*at)));
        named.is_some_and(|named| among(&ANSWERS, s.word(named))) && orders::order(s.words).is_some()
    });
    s.words.len() >= 3 && (shaped || spoken || omitted || used || wanted)
}

/// "Short answers please", "British spelling please", "metric units only": how answers are to be, in a message that says nothing else.
fn is_wish(s: &Sentence<'_>) -> bool {
    const NOUNS: [&str; 6] = ["units", "spelling", "spellings", "tone", "english", "language"];
    let Some(end) = s.words.iter().rposition(|word| !word.is_mark()) else { return false };
    let closes = ["please", "only", "always"].contains(&s.word(end)) && (2..=4).contains(&end);
    let noun = s.word(end.saturating_sub(1));
    let says_how = (0..end.saturating_sub(1)).all(|at| among(&ADJECTIVES, s.word(at)));
    let is_all = s.text[..s.words[0].start].trim().is_empty() && s.text[s.words[end].end..].trim_matches(['.', '!', ' ', '\n']).is_empty();
    closes && is_all && says_how && (among(&ANSWERS, noun) || among(&NOUNS, noun))
}

/// Whether it asks for a convention or a habit: "stop apologizing", "use metric units", "keep the tone formal".
fn of_style(s: &Sentence<'_>, at: usize) -> bool {
    let rest = &s.words[at..];
    let answers = rest.iter().any(|word| among(&ANSWERS, &word.lower) || among(&KEPT, &word.lower));
    let style = rest.iter().any(|word| among(&STYLE, &word.lower));
    let keeps = starts(s.words, at, "keep").is_some() && answers;
    let stops = starts(s.words, at, "stop").is_some_and(|next| among(&HABITS, s.word(next)));
    let omits = opens(s, at, &["don't", "do not"])
        .filter(|next| s.word(*next) != "call" || s.word(next + 1) != "me")
        .is_some_and(|next| among(&AVOIDED, s.word(next)) && (s.word(next) != "use" || style));
    let avoids = starts(s.words, at, "avoid").is_some() && (style || answers);
    let uses = starts(s.words, at, "use").is_some() && style && rest.len() < 6;
    let speaks = opens(s, at, &IN).is_some_and(|next| s.words.get(next).is_none_or(|word| !word.is_number())) && rest.len() <= 4;
    keeps || stops || omits || avoids || uses || speaks
}
