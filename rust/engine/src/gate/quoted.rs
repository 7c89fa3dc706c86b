//! Words of somebody else that begin or end inside a sentence: a quotation of several sentences (`my sister wrote: "Guess what. I work at
//! Equinor now."`), and a letter behind a colon ("Message from Karl: Hi Ana, I live in Bonn now."). `others` has those of whole sentences.

use std::ops::Range;

use super::beings::is_being;
use super::lexicon::FIRST;
use super::others::{self, POINTS, Part};
use super::rules::opens_clause;
use super::told::TRADES;
use super::words::{Span, Word, among, has, starts, within};

/// Quotation marks: what opens, and what closes.
const QUOTES: [(char, &[char]); 4] =
    [('"', &['"']), ('\u{201C}', &['\u{201D}']), ('\u{201E}', &['\u{201C}', '\u{201D}']), ('\u{AB}', &['\u{BB}'])];

/// Words with which a letter begins.
const GREETINGS: [&str; 12] = [
    "hi",
    "hello",
    "hey",
    "hallo",
    "dear",
    "good morning",
    "good day",
    "good afternoon",
    "good evening",
    "greetings",
    "thanks",
    "thank you",
];

/// How a question about a text begins: "is this polite enough: ..."
const ASKS: [&str; 11] = ["is", "are", "does", "do", "what", "what's", "how", "can", "could", "should", "would"];
/// Verbs by which a text is answered.
const ANSWERS: [&str; 5] = ["reply", "respond", "answer", "react", "explain"];
/// Words before the colon of a letter, at most.
const MOST_BEFORE: usize = 12;

/// The sentences of a message, cut where words of somebody else begin and end, and the places of these.
pub(super) fn cut(text: &str, sentences: Vec<Span>, own: &[Word]) -> (Vec<Span>, Vec<Part>) {
    if text.contains("```") {
        return (sentences, Vec::new());
    }
    let mut parts = quotations(text, &sentences, own);
    for (place, span) in sentences.iter().enumerate() {
        let is_quoted = parts.iter().any(|part| (part.span.start..part.span.end).contains(&span.start));
        if let Some((start, announced)) = letter(text, within(own, *span)).filter(|_| !is_quoted) {
            let goes_on = |pair: &&[Span]| !text[pair[0].end..pair[1].start].contains("\n\n") && !others::is_aside(own, pair[1]);
            let last = sentences[place..].windows(2).take_while(goes_on).count();
            parts.push(Part { span: Span { start, end: sentences[place + last].end }, announced });
        }
    }
    let spans = sentences.into_iter().flat_map(|span| pieces(text, span, &parts)).collect();
    (spans, parts)
}

/// A sentence in pieces, none of which stands in a part and out of it.
fn pieces(text: &str, span: Span, parts: &[Part]) -> Vec<Span> {
    let ends = parts.iter().flat_map(|part| [part.span.start, part.span.end]);
    let mut at: Vec<usize> = ends.filter(|at| (span.start + 1..span.end).contains(at)).chain([span.start, span.end]).collect();
    at.sort_unstable();
    at.dedup();
    let piece = |pair: &[usize]| {
        let piece = &text[pair[0]..pair[1]];
        let start = pair[0] + (piece.len() - piece.trim_start().len());
        piece.contains(char::is_alphanumeric).then(|| Span { start, end: start + piece.trim().len() })
    };
    at.windows(2).filter_map(piece).collect()
}

/// The quotations of several sentences in which somebody speaks of themselves.
fn quotations(text: &str, sentences: &[Span], own: &[Word]) -> Vec<Part> {
    let (mut found, mut from) = (Vec::new(), 0);
    while let Some((open, close)) = next_quotation(text, from) {
        let (span, before) = (Span { start: open, end: close }, std::mem::replace(&mut from, close));
        let has_several = sentences.iter().any(|sentence| (open + 1..close).contains(&sentence.start));
        let is_of_somebody = || within(own, span).iter().any(|word| among(&FIRST, &word.lower));
        if has_several && is_of_somebody() && is_of_another(text, sentences, own, before..open) {
            found.push(Part { span, announced: true });
        }
    }
    found
}

/// The next pair of quotation marks from a byte on: where it opens, and behind where it closes. Signs of inches open none.
fn next_quotation(text: &str, from: usize) -> Option<(usize, usize)> {
    let mut signs = text[from..].char_indices().map(|(at, sign)| (from + at, sign));
    signs.find_map(|(at, sign)| {
        let (_, closing) = QUOTES.iter().find(|(open, _)| *open == sign)?;
        let begin = at + sign.len_utf8();
        let opens = !text[..at].ends_with(char::is_alphanumeric) && !text[begin..].starts_with(char::is_whitespace);
        let closes = |(place, sign): &(usize, &str)| {
            let (before, behind) = (&text[begin..begin + place], &text[begin + place + sign.len()..]);
            !before.is_empty() && !before.ends_with(char::is_whitespace) && !behind.starts_with(char::is_alphanumeric)
        };
        let (place, sign) = text[begin..].match_indices(*closing).find(closes).filter(|_| opens)?;
        Some((at, begin + place + sign.len()))
    })
}

/// Words by which somebody says a text is one for later, or what is to be said.
const OWN: [&str; 8] = ["always", "never", "don't", "when", "whenever", "if", "i", "we"];
/// Verbs of those who speak or write, right before what they say.
const SAYS: [&str; 16] = [
    "said", "says", "wrote", "writes", "texted", "replied", "answered", "posted", "messaged", "asked", "emailed", "mailed", "sent",
    "tweeted", "added", "yelled",
];

/// Whether the words before a quotation, which end where it opens, leave it to somebody else: there are none, or they end in a colon or
/// with a verb of another's. An order ("always end mails with ..."), the user's own ("I told her ...") and the name of a thing of theirs
/// do not.
fn is_of_another(text: &str, sentences: &[Span], own: &[Word], before: Range<usize>) -> bool {
    let open = before.end;
    let Some(sentence) = sentences.iter().find(|span| (span.start..span.end).contains(&open)) else { return false };
    let lead = within(own, Span { start: sentence.start.max(before.start), end: open });
    let Some(last) = lead.last() else { return true };
    let is_own = lead.iter().any(|word| OWN.contains(&word.lower.as_str())) || others::tells_of_oneself(lead);
    let ends = text[last.end..open].contains([':', ',']) || SAYS.contains(&last.lower.as_str());
    let told = lead.len() > 1 && ["me", "us"].contains(&last.lower.as_str());
    !is_own && (ends || told)
}

/// Where a letter begins behind a colon of a sentence, and whether it is announced or greets somebody. Otherwise it may be the user's own.
fn letter(text: &str, words: &[Word]) -> Option<(usize, bool)> {
    let ends = |at: &usize| text[words[at - 1].end..words[*at].start].starts_with(": ");
    let at = (1..words.len().min(MOST_BEFORE)).find(ends)?;
    let (lead, rest) = words.split_at(at);
    let greets = GREETINGS.iter().any(|greeting| starts(rest, 0, greeting).is_some());
    let of_oneself = opens_clause(rest) && among(&FIRST, &rest[0].lower);
    let points = lead.iter().any(|word| among(&POINTS, &word.lower));
    let verb = lead.iter().find(|word| !["please", "can", "you", "could", "help", "me"].contains(&word.lower.as_str()));
    let is_any = |known: &[&str]| verb.is_some_and(|verb| among(known, &verb.lower));
    // "Email from Bosch: I got the job!" is the user's own.
    let is_written = || points && is_any(&ANSWERS) || (0..at).any(|at| others::is_passed_on(lead, at));
    let is_sent = || others::is_from_another(lead) || is_from(lead) || points && (is_any(&ASKS) || others::works_on(lead));
    let begins = greets && (is_written() || is_sent()) || of_oneself && is_written();
    let announced = || greets || others::is_announced(&text[lead[0].start..lead[at - 1].end]);
    (begins && !others::tells_of_oneself(lead)).then(|| (rest[0].start, announced()))
}

/// "From my landlord", "a message from Karl", "forwarded message".
pub(super) fn is_from(lead: &[Word]) -> bool {
    let word = |at: usize| lead.get(at).map_or("", |word| word.lower.as_str());
    let forwarded = || ["forwarded", "fwd", "fw"].contains(&word(0)) && lead.len() <= 3;
    let is_somebody = |at: usize| {
        let owned = ["my", "our", "the", "a", "an"].contains(&word(at));
        let person = (at + 1..=at + 2).any(|at| is_being(word(at)) || among(&TRADES, word(at)));
        owned && person || lead.get(at).is_some_and(|name| name.capital && !among(&FIRST, &name.lower))
    };
    let sent = |at: usize| word(at) == "from" && (at == 0 || others::is_text(&lead[at - 1])) && is_somebody(at + 1);
    forwarded() || (0..lead.len()).any(sent) && !has(lead, "from me")
}

#[cfg(test)]
mod tests {
    use super::super::words::{sentences, words};
    use super::*;

    fn others_of(text: &str) -> Vec<&str> {
        cut(text, sentences(text), &words(text)).1.iter().map(|part| &text[part.span.start..part.span.end]).collect()
    }

    #[test]
    fn a_quotation_of_several_sentences_is_of_somebody() {
        let quoted = "\"Guess what. I work at Equinor now. I hate it.\"";
        for (begin, end) in [
            ("my sister wrote me: ", ""),
            ("Tom said: ", " and left."),
            ("", ""),
            ("Here is a mail from my landlord: ", "\n\nI live in Ghent."),
        ] {
            assert_eq!(others_of(&format!("{begin}{quoted}{end}")), [quoted], "{begin}");
        }
        assert_eq!(others_of("\u{201C}Dear Ana. I moved.\u{201D} that's the plumber"), ["\u{201C}Dear Ana. I moved.\u{201D}"]);
        assert_eq!(others_of("\u{AB}Dear Ana. I moved.\u{BB} and Tom wrote \u{201E}So. We agree.\u{201C}").len(), 2);
        for text in [
            "My desk is 60\" wide. My screen is 27\" and I like it.",
            "I like \"Emma\". I also like \"Dune\".",
            "Always sign with \"Best regards. Ana\"",
            "Never start with \"Great question! I am happy to help.\"",
            "When I say \"Go. I mean it.\" always answer in one line.",
            "I told my doctor \"I don't smoke. I don't drink.\"",
            "Please remember: \"I'm allergic to nuts. I carry an EpiPen.\"",
            "My band is called \"We are. I am.\"",
            "My favourite quote is \"I came. I saw.\"",
            "I said \"hi. I live in Ghent.",
            "He calls me \"Annie\". My name is \"Ana\".",
        ] {
            assert!(others_of(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_letter_stands_behind_a_colon() {
        for lead in [
            "Reply to this",
            "Answer this message for me",
            "From my landlord",
            "My boss writes",
            "Forwarded message",
            "Message from Karl",
            "Is this polite enough",
            "Here's what my cousin wrote",
        ] {
            assert_eq!(
                others_of(&format!("{lead}: Hi Ana, I live in Bonn. I prefer mail.")),
                ["Hi Ana, I live in Bonn. I prefer mail."],
                "{lead}"
            );
        }
        assert_eq!(others_of("My boss writes: I'm in Bonn now. We meet at 9.\n\nI live in Ghent."), ["I'm in Bonn now. We meet at 9."]);
        assert_eq!(others_of("Message from Karl: Hi Ana, I moved. By the way, I live in Ghent."), ["Hi Ana, I moved."]);
        for text in [
            "From my landlord: the rent goes up. I live in Delft.",
            "Remember this: I'm vegan.",
            "Message from me: I'm vegan.",
            "From now on: I want short answers.",
            "My name is this: Hi.",
            "Note: I'm vegan.",
            "Is this true: I get a refund.",
            "Letter from the hospital: I have surgery on May 4.",
            "Email from Bosch: I got the job! I start in May.",
            "Check this: I live in Ghent and I work in Brussels. Which tax do I pay?",
            "From Monday: I work at Bosch.",
            "One thing: I'm vegan.",
        ] {
            assert!(others_of(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn sentences_are_cut_where_words_of_others_begin_and_end() {
        let text = "So Tom said: \"No worries. I am vegan.\" and that was it. I live in Ghent.";
        let (spans, _) = cut(text, sentences(text), &words(text));
        let pieces: Vec<&str> = spans.iter().map(|span| &text[span.start..span.end]).collect();
        assert_eq!(pieces, ["So Tom said:", "\"No worries.", "I am vegan.\"", "and that was it.", "I live in Ghent."]);
    }
}
