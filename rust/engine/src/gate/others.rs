//! Words of somebody else inside a user's message: quotations, pasted text, and text that a model is asked to work on. Nothing in them is
//! the user's own claim.

use super::beings::is_being;
use super::guards::{is_comparative, is_lasting, without_polite};
use super::lexicon::FIRST;
use super::lists::lists;
use super::pastes;
use super::quoted::is_from;
use super::rules::opens_clause;
use super::signs;
use super::told::TRADES;
use super::words::{Span, Word, among, has, starts, within, words};

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
    pub(super) POINTS,
    /// More verbs that ask for work on a text, or on what it says.
    WORKED_ON,
    /// Verbs that ask for a tale.
    INVENTS,
    /// Tales, and parts of one.
    TALES,
}

/// Words between an article and a tale, with the tale, at most: "a short funny story".
const MOST_BEFORE_TALE: usize = 3;

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
const PROSE: [&str; 8] = ["grammar", "spelling", "wording", "sentence", "sentences", "paragraph", "text", "punctuation"];

/// Signs that open a quotation.
const QUOTES: [char; 6] = ['"', '\'', '\u{201C}', '\u{2018}', '\u{AB}', '\u{201E}'];

/// Whether a sentence, or a clause of it, begins with a quotation of what somebody says of themselves: "As she put it, 'I live in Rome'".
/// `span` is the place of the sentence in its message, and has all of the words.
pub(super) fn quotes(text: &str, span: Span, words: &[Word]) -> bool {
    let of_own = words.first().is_some_and(|word| ["my", "our"].contains(&word.lower.as_str()));
    (0..words.len()).any(|at| {
        let Word { start, end, .. } = words[at];
        let between = &text[if at == 0 { span.start } else { words[at - 1].end }..start];
        let begins = at == 0 || !of_own && (between.contains(':') || signs::parts(between));
        begins
            && between
                .chars()
                .last()
                .is_some_and(|sign| QUOTES.contains(&sign) && opens_quotation(sign, &words[at..], &text[end..span.end]))
    })
}

/// Whether a sign opens a quotation before words. "'Cause I'm late" opens none, nor does a title: "Never Let Me Go".
fn opens_quotation(sign: char, words: &[Word], behind: &str) -> bool {
    let ends = |(place, _): (usize, &str)| behind[place + 1..].chars().next().is_none_or(|next| !next.is_alphanumeric());
    let closes = sign != '\'' || behind.match_indices(sign).any(ends);
    let title = words.get(1).is_some_and(|word| word.capital && !word.lower.starts_with('i'));
    closes && !title && opens_clause(words)
}

/// A part of a message that is somebody else's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// Its place.
    pub span: Span,
    /// Whether a colon says where it begins. Without one it may be the user's own.
    pub announced: bool,
}

/// The parts of a message that are somebody else's: what stands below a line that announces it, up to an empty line, what was pasted, and what
/// a model is asked to reword.
pub(super) fn parts(text: &str, sentences: &[Span], own: &[Word]) -> Vec<Part> {
    let of_form = pastes::parts(text);
    let mut out: Vec<Part> = pasted(text).into_iter().chain(of_form).map(|span| Part { span, announced: true }).collect();
    let mut at = 0;
    while at < sentences.len() {
        let span = sentences[at];
        at += 1;
        let tale = tells_tale(within(own, span)).then_some(Part { span, announced: true });
        let Some(rewording) = rewords(text, span, within(own, span)).or(tale) else { continue };
        let begin = at;
        let is_own = |span: Span| tale.is_some() && within(own, span).iter().any(|word| among(&FIRST, &word.lower));
        let goes_on = |at: usize| !text[sentences[at - 1].end..sentences[at].start].contains("\n\n") && !is_aside(own, sentences[at]);
        while at < sentences.len() && goes_on(at) && !is_own(sentences[at]) {
            at += 1;
        }
        out.push(rewording);
        if at > begin {
            out.push(Part { span: Span { start: sentences[begin].start, end: sentences[at - 1].end }, ..rewording });
        }
    }
    out
}

/// "Write a story.", "tell me a tale of two knights": what follows is of the tale, but for what the user says of themselves. A tale for
/// somebody of the user's may be followed by facts about them.
fn tells_tale(words: &[Word]) -> bool {
    let rest = without_polite(words);
    let word = |at: usize| rest.get(at).map_or("", |word| word.lower.as_str());
    let at = 1 + usize::from(["me", "us", "up"].contains(&word(1)));
    let invents = among(&INVENTS, word(0)) && ["a", "an", "another"].contains(&word(at));
    let tale = (at + 1..=at + MOST_BEFORE_TALE).find(|at| among(&TALES, word(*at)));
    let is_work = |tale: usize| word(tale - 1) == "user" || rest.iter().any(|word| ["my", "our"].contains(&word.lower.as_str()));
    invents && tale.is_some_and(|tale| !is_work(tale)) && !is_lasting(words)
}

/// "Rewrite this more formally.", "Draft a bio: ...": what follows is the text that is worked on.
fn rewords(text: &str, span: Span, words: &[Word]) -> Option<Part> {
    let rest = without_polite(words);
    let verb = rest.first().filter(|verb| among(&REWORDS, &verb.lower))?;
    let object = &rest[1..rest.len().min(8)];
    let owns = |pair: &[Word]| ["my", "the"].contains(&pair[0].lower.as_str()) && is_text(&pair[1]);
    let below = ["following", "below"];
    let prose = object.iter().any(|word| among(&PROSE, &word.lower)) || points(text, object, &below);
    if object.iter().any(|word| among(&PROGRAMS, &word.lower)) {
        return None; // what is said beside a program is said by its user
    }
    let ends = text[..span.end].ends_with(':');
    let announced = ends || text[verb.end..span.end].contains(": ");
    let mends = among(&MENDS, &verb.lower) && !prose; // a program may be mended, too
    let reworded = if mends { ends } else { announced || prose || points(text, object, &POINTS) || object.windows(2).any(owns) };
    (reworded && !is_lasting(words)).then_some(Part { span, announced })
}

/// Words behind "this" that name nothing: "rewrite this in plain words".
const BEHIND_THIS: [&str; 26] = [
    "in", "into", "to", "for", "from", "as", "so", "with", "without", "by", "using", "at", "up", "down", "like", "please", "and", "but",
    "if", "again", "a", "an", "one", "more", "less", "better",
];

/// Whether a word that points, as "this", points at a text: it stands alone, or before the name of one. "This recipe" names none.
pub(super) fn points(text: &str, object: &[Word], pointers: &[&str]) -> bool {
    (0..object.len()).filter(|at| among(pointers, &object[*at].lower)).any(|at| {
        let Some(next) = object.get(at + 1) else { return true };
        let alone = !text[object[at].end..next.start].trim().is_empty()
            || next.is_mark()
            || among(&BEHIND_THIS, &next.lower)
            || next.lower.ends_with("ly")
            || is_comparative(next);
        alone || object[at + 1..].iter().take(3).any(|word| is_text(word) || among(&PROSE, &word.lower) || among(pointers, &word.lower))
    })
}

/// Whether a word names a text, or several.
pub(super) fn is_text(word: &Word) -> bool {
    let lower = word.lower.as_str();
    among(&TEXTS, lower) || lower.strip_suffix('s').is_some_and(|one| among(&TEXTS, one))
}

pub(super) fn is_aside(own: &[Word], span: Span) -> bool {
    let words = within(own, span);
    ASIDE.iter().any(|opening| starts(words, 0, opening).is_some())
}

/// The texts below lines that announce them.
fn pasted(text: &str) -> Vec<Span> {
    let (mut out, mut at) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        at += line.len();
        if !line.ends_with('\n') || out.last().is_some_and(|last: &Span| at <= last.end) {
            continue;
        }
        let has_colon = line.trim_end().ends_with(':');
        let named = || pastes::is_lead(line).then_some(Announced::Text);
        let Some(announced) = (if has_colon { announces(line) } else { named() }) else { continue };
        let rest = &text[at..];
        let lead = rest.len() - rest.trim_start().len();
        if announced == Announced::Below && rest[..lead].contains('\n') {
            continue; // an empty line, and no name of what follows
        }
        let begin = at + lead;
        let end = pastes::end(text, begin);
        if end > begin {
            let says_nothing = !has_colon || pastes::is_title(line);
            out.push(Span { start: if says_nothing { at - line.len() } else { begin }, end });
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

/// The kind of text that a line announces; `None` where its writer tells of themselves below it, or says no word of anybody else.
fn announces(line: &str) -> Option<Announced> {
    let words = words(line);
    if tells_of_oneself(&words) {
        return None;
    }
    if is_from(&words)
        || pastes::is_named(&words)
        || words.iter().any(|word| among(&TEXTS, &word.lower))
        || (0..words.len()).any(|at| is_passed_on(&words, at))
    {
        return Some(Announced::Text);
    }
    let own = words.iter().any(|word| among(&["i", "i'm", "i've", "i'd", "me", "my", "we", "our", "us"], &word.lower));
    (!own && (is_of_another(&words) || words.len() > 2 && is_worked_on(&words))).then_some(Announced::Below)
}

/// Whether words say how a text of somebody else came, or name somebody whose words follow.
pub(super) fn is_from_another(lead: &[Word]) -> bool {
    is_of_another(lead) || (0..lead.len()).any(|at| is_passed_on(lead, at))
}

/// Whether the words before a colon announce that somebody tells something of themselves: "some facts about me".
pub(super) fn tells_of_oneself(lead: &[Word]) -> bool {
    OWN.iter().any(|phrase| has(lead, phrase))
}

/// Whether a line, or the words before a colon, say that what follows is of somebody else.
pub(super) fn is_announced(line: &str) -> bool {
    announces(line).is_some()
}

/// Words between a subject and its verb.
const HELPERS: [&str; 11] = ["has", "have", "had", "just", "also", "once", "already", "then", "always", "recently", "ever"];
/// Words between a subject and its verb in the passive: "what was said".
const PASSIVE: [&str; 4] = ["was", "were", "been", "being"];
/// Words before a verb that name nobody else.
const NOT_ANOTHER: [&str; 24] = [
    "i", "i've", "i'd", "we", "we've", "we'd", "you", "you've", "to", "and", "or", "a", "an", "the", "this", "that", "these", "my", "our",
    "your", "what", "as", "not", "is",
];
/// Verbs that may be passive without a helper: of "symptoms described" nobody is the subject.
const PARTICIPLES: [&str; 12] =
    ["put", "posted", "sent", "stated", "mentioned", "described", "explained", "introduced", "phrased", "answered", "claimed", "told"];
/// Words behind a verb that is not passive.
const OBJECTS: [&str; 9] = ["me", "us", "you", "it", "this", "that", "him", "her", "them"];
/// Verbs of those who have a text of somebody else. Their subject is the user, or a pronoun: "symptoms found" has neither.
const HAVE_IT: [&str; 7] = ["got", "received", "found", "read", "copied", "pasted", "forwarded"];

/// Whether the word at a place says how a text of somebody else came: "what my boss wrote", "the mail that I got", "I got this from Bob".
pub(super) fn is_passed_on(words: &[Word], at: usize) -> bool {
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    if !among(&PASSED_ON, word(at)) {
        return false;
    }
    let before = |to: usize, skipped: &[&str]| words[..to].iter().rposition(|word| !among(skipped, &word.lower));
    let Some(subject) = before(at, &HELPERS) else { return false };
    if among(&PASSIVE, word(subject)) {
        return before(subject, &PASSIVE).is_some_and(|subject| !["i", "we", "you"].contains(&word(subject)));
    }
    let pronoun = ["he", "she", "they", "who", "somebody", "someone"].contains(&word(subject));
    if !among(&HAVE_IT, word(at)) {
        let another = !among(&NOT_ANOTHER, word(subject)) && !words[subject].is_mark();
        let active = || !among(&PARTICIPLES, word(at)) || among(&OBJECTS, word(at + 1));
        let named = || words[subject].capital && (subject > 0 || !word(subject).ends_with('s')); // "Symptoms described"
        let person = || named() || is_being(word(subject)) || among(&TRADES, word(subject));
        return pronoun || another && (active() || person());
    }
    let own = ["i", "we", "i've", "we've"].contains(&word(subject));
    let from = has(&words[at..], "from");
    let that = subject.checked_sub(1).map_or("", &word);
    let points = among(&POINTS, word(at + 1)) || ["it", "the"].contains(&word(at + 1)) && among(&POINTS, word(at + 2));
    pronoun
        || own && word(at + 1) != "out" && (["that", "which"].contains(&that) || from && (that == "what" || points || word(at + 1) == "it"))
}

/// How a line goes on with whom its text is of: "in HER words", "here is BOB'S take".
const LEADS: [&str; 6] = ["in", "here's", "here is", "here are", "this is", "these are"];
/// Verbs of somebody who is told of, and of whom nothing follows: "she needs to know:".
const NEEDS: [&str; 14] = ["is", "are", "was", "were", "needs", "need", "wants", "want", "should", "must", "has", "have", "can", "will"];

/// Whether a line names somebody else whose words follow: "He put it like this", "in her words", "Bob's take", "a few words from Bob".
fn is_of_another(words: &[Word]) -> bool {
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let speaks = ["he", "she", "they"].contains(&word(0)) && !among(&NEEDS, word(1));
    let at = LEADS.iter().find_map(|lead| starts(words, 0, lead)).unwrap_or(0);
    let short = ["it's", "that's", "here's", "there's", "what's", "who's", "let's", "how's", "where's", "today's", "tomorrow's"];
    let named = |owner: &Word| owner.capital && owner.lower.ends_with("'s") && !among(&short, &owner.lower);
    let from = |at: usize| words.get(at + 1).is_some_and(|of| of.capital || at > 0 && ["the", "a", "an"].contains(&of.lower.as_str()));
    let sent = (0..words.len()).any(|at| word(at) == "from" && from(at));
    speaks || ["his", "her", "their"].contains(&word(at)) || words.get(at).is_some_and(named) || sent
}

/// Words for what is made up, or put into a program.
const MADE_UP: [&str; 8] = ["input", "inputs", "test", "testing", "dummy", "placeholder", "persona", "character"];

/// Whether a line asks for work on what follows: "extract the name from this", "the profile to parse", "test input for the form".
fn is_worked_on(words: &[Word]) -> bool {
    let made_up = words.iter().any(|word| among(&MADE_UP, &word.lower));
    works_on(words) || made_up || words.windows(2).any(|pair| pair[0].lower == "to" && among(&WORKED_ON, &pair[1].lower))
}

/// Whether a request begins with a verb that asks for work on a text.
pub(super) fn works_on(words: &[Word]) -> bool {
    without_polite(words).first().is_some_and(|verb| among(&WORKED_ON, &verb.lower))
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
        let is = |text: &str| rewords(text, whole(text), &words(text)).is_some();
        for text in
            ["Rewrite this in plain words.", "Draft a short bio: I'm Ana", "Please fix the grammar of this text.", "Proofread my essay."]
        {
            assert!(is(text), "{text}");
        }
        for text in [
            "Simplify these.",
            "Rewrite this, please.",
            "Shorten this slightly",
            "Improve the following.",
            "Edit the text below.",
            "Summarize these two emails.",
            "Polish this short blurb.",
        ] {
            assert!(is(text), "{text}");
        }
        for text in [
            "Simplify this recipe.",
            "Improve the following recipe.",
            "Shorten this workout plan.",
            "Expand these ideas.",
            "Correct this if wrong: I'm Ana.",
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
        for line in [
            "He put it like this:",
            "In her words:",
            "Bob's take:",
            "A few words from Bob:",
            "What my boss wrote:",
            "The nurse told us:",
            "What was said:",
            "My sister explained:",
            "The coach put it like this:",
            "The customer says:",
            "This is what I got from Bob:",
            "I received this from HR:",
            "Something that I found:",
            "Extract all the names:",
            "Here is a profile to parse:",
            "Test input for the form:",
        ] {
            let text = format!("{line}\nI sell cars.");
            assert_eq!(pasted(&text).len(), 1, "{line}");
        }
        for own in [
            "Some facts about me:\nI'm Ana.",
            "Please remember:\n- my name is Ana",
            "I have two wishes:\nNo emojis.",
            "Hello:\nI'm Ana.",
            "Things to know:\nI'm Ana.",
            "For your information:\nI'm Ana.",
            "Important health information:\nI'm Ana.",
            "To answer your question:\nI'm Ana.",
            "Some background for you:\nI'm Ana.",
            "Here is some context:\nI'm Ana.",
            "I got a new laptop, so here is my setup:\nI'm Ana.",
            "Things that I found out:\nI'm Ana.",
            "As I said:\nI'm Ana.",
            "What you told us to give:\nI'm Ana.",
            "That said:\nI'm Ana.",
            "From experience so far:\nI'm Ana.",
            "Conditions described by nobody yet:\nI'm Ana.",
            "Restrictions mentioned earlier:\nI'm Ana.",
            "She needs to know:\nI'm Ana.",
            "Today's plan of mine:\nI'm Ana.",
            "Please follow these guidelines:\nNo emojis.",
            "Use the following style please:\nNo emojis.",
        ] {
            assert!(of(own).is_empty(), "{own}");
        }
    }
}
