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
use super::words::{Word, among, has, starts, words};

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
    /// Verbs for a tone that a model is told to avoid: "don't sugarcoat things".
    TONED,
    /// Words for how answers are.
    ADJECTIVES,
    /// How somebody says what helps them, before what the model does.
    HELPS,
    /// How they say so behind answers of a kind: "short answers | work best for me".
    SUITS,
    /// Verbs for what a model does in all its answers, in their plain form and in the past.
    DOES,
    /// Verbs of [`DOES`] that may be of anything: "add salt", "use the back door".
    OF_ANYTHING,
    /// How a text is asked to be in words of a kind.
    WORDED,
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
const OMITS: [&str; 11] =
    ["don't", "do not", "avoid", "stop", "no more", "skip", "leave out", "no", "i don't need", "i do not need", "spare me"];
/// Words of a wish that holds for what is at hand.
const ONCE: [&str; 8] = ["this", "that", "it", "here", "now", "yet", "today", "tonight"];
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
    let of_head = || !once && of_answers(&head(s, at), at) || helps(&head(s, polite), polite);
    if of_one || !lasts && is_for_one_text(s) || !(of_answers(s, at) || !once && of_style(s, at) || is_wish(s) || of_head()) {
        return None;
    }
    let category = if lasts { Category::Constraint } else { Category::Preference };
    let reading = Reading::new(category, "how to answer");
    let counted = s.words.iter().any(Word::is_number) && ["words", "sentences", "lines"].iter().any(|unit| has(s.words, unit));
    Some(if counted { reading.slot("answer length") } else { reading })
}

/// A sentence up to the sign behind which a reason or another wish begins: "please no pep talk, | I just want the facts".
fn head<'a>(s: &Sentence<'a>, at: usize) -> Sentence<'a> {
    const BEGINS: [&str; 12] = ["i", "i'm", "i've", "it", "it's", "they", "just", "get", "no", "so", "because", "only"];
    let end = (at + 2..s.words.len()).find(|at| s.parted(*at) && among(&BEGINS, s.word(*at))).unwrap_or(s.words.len());
    Sentence { text: s.text, words: &s.words[..end] }
}

/// Whether words name what answers have or are made of: "bullet points", "metric units", "the steps".
pub(super) fn names_answers(words: &[Word]) -> bool {
    const OF_ANSWERS: [&str; 4] = ["steps", "examples", "sources", "questions"];
    let names = |word: &Word| [&STYLE[..], &ANSWERS, &OF_ANSWERS].iter().any(|list| among(list, &word.lower));
    words.iter().any(names) || LOOKS.iter().any(|look| has(words, look))
}

/// Whether a wish is for one text: "no cliches in the poem", "no jargon please, it's for my gran", "no preamble, just the regex". The words
/// may stand behind those of the sentence, up to its end.
fn is_for_one_text(s: &Sentence<'_>) -> bool {
    // "In a friendly tone", "in the same language"
    const OF_ALL: [&str; 10] = ["chat", "future", "rest", "style", "person", "voice", "way", "same", "manner", "change"];
    let Some((first, last)) = s.words.first().zip(s.words.last()) else { return false };
    let behind = &s.text[last.end..];
    let end = last.end + behind.find(['.', '!', '?', '\n']).unwrap_or(behind.len());
    let own = words(&s.text[first.start..end]);
    let word = |at: usize| own.get(at).map_or("", |word| word.lower.as_str());
    let of_all = |at: usize| [&ANSWERS[..], &KEPT, &STYLE, &OF_ALL].iter().any(|list| among(list, word(at)));
    let is_text = |at: usize| !word(at).is_empty() && !of_all(at) && !of_all(at + 1);
    let points = |at: usize| {
        let named = ["the", "a", "an", "my"].contains(&word(at + 1)) && is_text(at + 2);
        match word(at) {
            "in" | "for" => named,
            "it's" | "its" => ["a", "an", "the", "for"].contains(&word(at + 1)),
            "just" => word(at + 1) == "the" && is_text(at + 2),
            "one" | "1" => ["line", "liner"].contains(&word(at + 1)),
            _ => false,
        }
    };
    (0..own.len()).any(points)
}

/// Whether a verb that may be of anything is of answers: "keep things short", "ask me", "number the steps", not "add a pinch of salt".
fn is_of_answers(s: &Sentence<'_>, verb: usize) -> bool {
    let behind = &s.words[verb + 1..];
    let first = s.word(verb + 1) == "first" && verb + 2 >= s.words.len();
    let things = (verb + 2..s.words.len()).any(|at| s.word(at - 1) == "things" && among(&ADJECTIVES, s.word(at)));
    !among(&OF_ANYTHING, s.word(verb)) || first || things || behind.iter().any(|word| word.lower == "me") || names_answers(behind)
}

/// "It helps me if you number the steps", "I'd rather you asked me before assuming", "short answers work best for me": how answers are to
/// be, by what helps the user. "It helps me when it rains" and "if you come on Monday" are none, and "it helps if you add salt" is advice.
fn helps(s: &Sentence<'_>, at: usize) -> bool {
    let does = opens(s, at, &HELPS).is_some_and(|behind| {
        let verb = behind + usize::from(["didn't", "don't", "always", "never", "just", "not", "first"].contains(&s.word(behind)));
        let once = s.words[verb..].iter().any(|word| among(&ONCE, &word.lower)) || s.words.len() > MOST;
        among(&DOES, s.word(verb)) && s.words.len() > verb + 1 && !once && is_of_answers(s, verb)
    });
    let answers = (at..s.words.len().min(at + 4)).find(|noun| among(&ANSWERS, s.word(*noun)));
    let suit = answers.filter(|noun| *noun > at && (at..*noun).all(|word| among(&ADJECTIVES, s.word(word))));
    does || suit.and_then(|noun| opens(s, noun + 1, &SUITS)).is_some_and(|end| s.words[end..].iter().all(Word::is_mark))
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
    let points = s.words.iter().any(|word| word.lower == "this"); // "no emojis in this letter"
    let shaped = opens(s, at, &SHAPES).is_some_and(|from| {
        let named = from + usize::from(["your", "all", "the", "my"].contains(&s.word(from)));
        among(&ANSWERS, s.word(named)) && s.words.len() > named + 1
    });
    let spoken = speaks(s, at) && s.words.len() <= 10;
    let worded = opens(s, at, &WORDED)
        .and_then(|from| LOOKS.iter().find_map(|look| starts(s.words, from, look)))
        .is_some_and(|end| s.words[end..].iter().all(|word| word.is_mark() || word.lower == "please"));
    let omitted = opens(s, at, &OMITS).is_some_and(|from| from + 5 > s.words.len() || has(s.words, "answers") || has(s.words, "replies"))
        && looks
        && !points;
    let used = starts(s.words, at, "use").is_some_and(|from| opens(s, from, &LOOKS).is_some());
    let wanted = opens(s, at, &WANTS).is_some_and(|from| {
        let named = (from..from + 3).find(|at| !["all", "your", "the", "my"].contains(&s.word(*at)));
        named.is_some_and(|named| among(&ANSWERS, s.word(named))) && orders::order(s.words).is_some()
    });
    s.words.len() >= 3 && (shaped || spoken || worded || omitted || used || wanted)
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
        .is_some_and(|next| among(&AVOIDED, s.word(next)) && (s.word(next) != "use" || style) || is_toned(s, next));
    let avoids = starts(s.words, at, "avoid").is_some() && (style || answers);
    let uses = starts(s.words, at, "use").is_some() && style && rest.len() < 6;
    let speaks = opens(s, at, &IN).is_some_and(|next| s.words.get(next).is_none_or(|word| !word.is_number())) && rest.len() <= 4;
    keeps || stops || omits || avoids || uses || speaks
}

/// Whether a tone is spoken of that holds for all: "sugarcoat things", "lecture me", not "sugarcoat the letter".
fn is_toned(s: &Sentence<'_>, at: usize) -> bool {
    let over = s.words.get(at + 1).is_none_or(Word::is_mark) || s.parted(at + 1);
    among(&TONED, s.word(at)) && (over || ["me", "things", "it", "at", "please"].contains(&s.word(at + 1)))
}

#[cfg(test)]
mod tests {
    use crate::gate::Category;
    use crate::gate::tests::stored;

    #[test]
    fn a_wish_for_how_answers_are_binds_in_whatever_words() {
        for text in [
            "please no pep talk, I just want the facts when I ask something",
            "i find it way easier if you explain with analogies",
            "please write in simple words, no slang",
            "I don't need the preamble, get to the point",
            "short answers work best for me",
            "don't sugarcoat things",
            "it helps me if you number the steps",
            "It helps me when you use examples.",
            "don't lecture me",
            "I'd rather you asked me before assuming",
            "I like it when you keep things short",
            "no small talk please",
        ] {
            let claims = stored(text);
            let is_wish = claims.len() == 1 && claims[0].category == Category::Preference && claims[0].doubt.is_none();
            assert!(is_wish, "{text}: {claims:?}");
        }
        for text in
            ["skip the disclaimers from now on", "From now on suggest a test for each change", "omit the header whenever I ask for a table"]
        {
            let claims = stored(text);
            assert!(claims.len() == 1 && claims[0].category == Category::Constraint, "{text}: {claims:?}");
        }
    }

    #[test]
    fn a_wish_for_what_is_at_hand_and_what_only_looks_like_one_binds_nothing() {
        for text in [
            "please no more today",
            "please no spoilers",
            "skip the intro in this letter",
            "no slang in this letter",
            "it helps me when it rains",
            "it helps me if you come on Monday",
            "it helps me when you are around",
            "I'd rather you asked Tom about it",
            "I'd rather you used it today",
            "I like it when you laugh",
            "short answers work best in exams",
            "short answers work best for my students",
            "don't sugarcoat it",
            "write in simple words what this means",
            "I skip lunch from now on",
            "it helps if you add a pinch of salt",
            "it helps if you ask your doctor",
            "it helps me when you talk to Max",
            "I'd rather you used the back door",
            "I'd rather you kept the first paragraph",
            "I like it when you use butter",
            "no cliches in the poem",
            "no jargon please, it's for my gran",
            "no preamble, just the regex",
            "don't sugarcoat the letter to HR",
            "don't patronise the reader",
            "you said I hate Python",
        ] {
            let binds = |claim: &crate::gate::Claim| {
                claim.doubt.is_none() && [Category::Preference, Category::Constraint].contains(&claim.category)
            };
            assert!(!stored(text).iter().any(binds), "{text}: {:?}", stored(text));
        }
    }
}
