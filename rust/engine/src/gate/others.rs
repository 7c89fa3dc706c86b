//! Words of somebody else inside a user's message: quotations, pasted text, and text that a model is asked to work on. Nothing in them is
//! the user's own claim.

use super::guards::{is_lasting, without_polite};
use super::lists::lists;
use super::rules::opens_clause;
use super::words::{Span, Word, among, has, starts, words};

lists! { "others":
    /// Texts that somebody pastes.
    pub(super) TEXTS,
    /// How somebody announces what they tell of themselves: "some facts about me:".
    OWN,
    /// Verbs of those who give or get a text: "the mail that I got:".
    PASSED_ON,
    /// Verbs that ask a model to work on a text.
    REWORDS,
    /// Words by which somebody comes back from a text to what they tell themselves.
    ASIDE,
    /// Words that point at a text that follows.
    POINTS,
}

/// Verbs that ask to work on a text where they name one: "fix the grammar".
const MENDS: [&str; 5] = ["fix", "correct", "edit", "improve", "expand"];
/// Words for a program or a part of one.
const PROGRAMS: [&str; 16] = [
    "function",
    "code",
    "class",
    "method",
    "query",
    "script",
    "loop",
    "regex",
    "sql",
    "component",
    "test",
    "tests",
    "module",
    "program",
    "snippet",
    "endpoint",
];
/// Words for what is written.
const PROSE: [&str; 10] =
    ["following", "below", "grammar", "spelling", "wording", "sentence", "sentences", "paragraph", "text", "punctuation"];

/// Signs that open a quotation.
const QUOTES: [char; 6] = ['"', '\'', '\u{201C}', '\u{2018}', '\u{AB}', '\u{201E}'];

/// Whether a sentence, or a clause of it, begins with a quotation of what somebody says of themselves: "As she put it, 'I live in Rome'".
/// `span` is the place of the sentence in its message, and has all of the words.
pub(super) fn quotes(text: &str, span: Span, words: &[Word]) -> bool {
    let of_own = words.first().is_some_and(|word| ["my", "our"].contains(&word.lower.as_str()));
    (0..words.len()).any(|at| {
        let Word { start, end, .. } = words[at];
        let (word, between) = (&text[start..end], &text[if at == 0 { span.start } else { words[at - 1].end }..start]);
        let begins = at == 0 || !of_own && between.contains([',', ':', ';', '\u{2014}']);
        // A sign that is not of ASCII is part of the word.
        let sign = word.chars().next().filter(|sign| QUOTES.contains(sign)).or_else(|| between.chars().last());
        begins && sign.is_some_and(|sign| QUOTES.contains(&sign) && opens_quotation(sign, &words[at..], &text[end..span.end]))
    })
}

/// Whether a sign opens a quotation before words. "'Cause I'm late" opens none, nor does a title: "Never Let Me Go".
fn opens_quotation(sign: char, words: &[Word], behind: &str) -> bool {
    let ends = |(place, _): (usize, &str)| behind[place + 1..].chars().next().is_none_or(|next| !next.is_alphanumeric());
    let closes = sign != '\'' || behind.match_indices(sign).any(ends);
    let title = words.get(1).is_some_and(|word| word.capital && !word.lower.starts_with('i'));
    let first = Word { lower: words[0].lower.trim_start_matches(QUOTES).to_owned(), ..words[0].clone() };
    let opening: Vec<Word> = std::iter::once(first).chain(words[1..].iter().take(2).cloned()).collect();
    closes && !title && opens_clause(&opening)
}

/// The parts of a message that are somebody else's: what stands below a line that ends in a colon, up to an empty line, and what a model is
/// asked to reword.
pub(super) fn parts(text: &str, sentences: &[Span], own: &[Word]) -> Vec<Span> {
    let mut out = pasted(text);
    let mut at = 0;
    while at < sentences.len() {
        let span = sentences[at];
        at += 1;
        if !rewords(text, span, super::within(own, span)) {
            continue;
        }
        let begin = at;
        while at < sentences.len() && !text[sentences[at - 1].end..sentences[at].start].contains("\n\n") && !is_aside(own, sentences[at]) {
            at += 1;
        }
        if at > begin {
            out.push(Span { start: sentences[begin].start, end: sentences[at - 1].end });
        }
    }
    out
}

/// "Rewrite this more formally.", "Draft a bio: ...": what follows is the text that is worked on.
pub(super) fn rewords(text: &str, span: Span, words: &[Word]) -> bool {
    let rest = without_polite(words);
    let Some(verb) = rest.first().filter(|verb| among(&REWORDS, &verb.lower)) else { return false };
    let object = &rest[1..rest.len().min(8)];
    let owns = |pair: &[Word]| ["my", "the"].contains(&pair[0].lower.as_str()) && among(&TEXTS, &pair[1].lower);
    let prose = object.iter().any(|word| among(&PROSE, &word.lower));
    if object.iter().any(|word| among(&PROGRAMS, &word.lower)) {
        return false; // what is said beside a program is said by its user
    }
    if among(&MENDS, &verb.lower) && !prose {
        return text[..span.end].ends_with(':'); // a program may be mended, too
    }
    let points = prose || object.iter().any(|word| among(&POINTS, &word.lower)) || object.windows(2).any(owns);
    let colon = text[..span.end].ends_with(':') || text[verb.end..span.end].contains(": ");
    (points || colon) && !is_lasting(words)
}

fn is_aside(own: &[Word], span: Span) -> bool {
    let words = super::within(own, span);
    ASIDE.iter().any(|opening| starts(words, 0, opening).is_some())
}

/// The texts below lines that announce them.
fn pasted(text: &str) -> Vec<Span> {
    let (mut out, mut at) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        at += line.len();
        if !line.trim_end().ends_with(':') || !line.ends_with('\n') || out.last().is_some_and(|last: &Span| at <= last.end) {
            continue;
        }
        let Some(announced) = announces(line) else { continue };
        let rest = &text[at..];
        let lead = rest.len() - rest.trim_start().len();
        if announced == Announced::Below && rest[..lead].contains('\n') {
            continue; // an empty line, and no name of what follows
        }
        let end = rest[lead..].find("\n\n").map_or(text.len(), |end| at + lead + end);
        if end > at + lead {
            out.push(Span { start: at + lead, end });
        }
    }
    out
}

/// The words of somebody else that a line with a colon at its end announces.
#[derive(Debug, PartialEq, Eq)]
enum Announced {
    /// A text, by what it is or how it came.
    Text,
    /// Something that stands below.
    Below,
}

/// The kind of text that a line announces; `None` where its writer tells of themselves below it.
fn announces(line: &str) -> Option<Announced> {
    let words = words(line);
    if OWN.iter().any(|phrase| has(&words, phrase)) {
        return None;
    }
    if words.iter().any(|word| among(&TEXTS, &word.lower) || among(&PASSED_ON, &word.lower)) {
        return Some(Announced::Text);
    }
    let own = words.iter().any(|word| among(&["i", "i'm", "i've", "i'd", "me", "my", "we", "our", "us"], &word.lower));
    (!own && words.len() > 2).then_some(Announced::Below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Span {
        Span { start: 0, end: text.len() }
    }

    fn quoted(text: &str) -> bool {
        quotes(text, whole(text), &words(text))
    }

    #[test]
    fn a_quotation_begins_a_sentence_or_a_clause() {
        for text in [
            "\"I work at Acme\" was the first line of the ad",
            "The coach likes to say, 'We never lose on Sundays'",
            "\u{201C}My name is Zed\u{201D} is how the book begins",
            "On the poster: \"I live in Mordor\" in red letters",
        ] {
            assert!(quoted(text), "{text}");
        }
        for text in [
            "'Cause I'm allergic to nuts",
            "\"Never Let Me Go\" is my favorite book",
            "My motto is: \"I never give up\"",
            "Call me \"Ana\"",
        ] {
            assert!(!quoted(text), "{text}");
        }
    }

    #[test]
    fn what_is_reworded_stands_behind_the_request() {
        let is = |text: &str| rewords(text, whole(text), &words(text));
        for text in
            ["Rewrite this in plain words.", "Draft a short bio: I'm Ana", "Please fix the grammar of this text.", "Proofread my essay."]
        {
            assert!(is(text), "{text}");
        }
        for text in [
            "Fix this bug.",
            "Rewrite this function in Go.",
            "Draft an email to my boss.",
            "Always translate this part.",
            "Translate 'good day' into Dutch.",
        ] {
            assert!(!is(text), "{text}");
        }
    }

    #[test]
    fn a_text_stands_below_the_line_that_announces_it() {
        let of = |text: &'static str| pasted(text).iter().map(|span| &text[span.start..span.end]).collect::<Vec<_>>();
        assert_eq!(of("The mail I got:\nHi, I'm Bob.\nBye\n\nWhat now?"), ["Hi, I'm Bob.\nBye"]);
        assert_eq!(of("This is the ad:\n\nI sell cars."), ["I sell cars."]);
        assert_eq!(of("He put it like this:\nI sell cars."), ["I sell cars."]);
        for own in
            ["Some facts about me:\nI'm Ana.", "Please remember:\n- my name is Ana", "I have two wishes:\nNo emojis.", "Hello:\nI'm Ana."]
        {
            assert!(of(own).is_empty(), "{own}");
        }
    }
}
