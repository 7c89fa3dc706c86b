//! Speech acts: whether a text only asks, or only says that it does not know. A question is not an answer, and neither is "Sorry, no idea."
//!
//! ```text
//! clauses   cut at . ! ? and their kin of other scripts, at line ends, and before "but", "aber", "pero" ...
//! asks      a question mark; a question word or a verb in front of its subject (English, German, French, Spanish, Portuguese,
//!           Italian, Russian); a particle at the end (Japanese, Chinese, Korean); a question word in front (Arabic)
//! ignorant  a phrase of not knowing, in fifteen languages
//! courtesy  a greeting, an apology, an offer: says nothing either way
//! states    everything else
//! ```
//!
//! A text asks where a clause asks and none states; it does not know where a clause says so and none states. So "I moved to Lisbon. And
//! you?" is a statement. It judges words, not truth, and where it cannot tell it takes a clause for a statement: a prompt would lose a
//! statement that is wrongly taken for a question. Source: the rules are our own; the tests have them as a table.

use unicode_normalization::UnicodeNormalization;

use super::speech_words::{
    BUT, CHINESE_QUESTIONS, COURTESY, IGNORANT_ACCENTED, Known, List, Phrases, QUESTION_ENDS, QUESTIONS_ACCENTED, known,
};

/// The longest clause that can be one of not knowing, in words: longer ones tell of something.
const MOST_IGNORANT_WORDS: usize = 24;
/// The most bytes of a text that are looked at: a longer one is neither a question nor an excuse.
const MOST_BYTES: usize = 2_000;

/// The speech act of a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clause {
    Asks,
    Ignorant,
    Courtesy,
    States,
}

/// Whether a text asks and states nothing.
#[must_use]
pub fn asks(text: &str) -> bool {
    only(text, Clause::Asks)
}

/// Whether a text asks for a time.
#[must_use]
pub fn asks_when(text: &str) -> bool {
    if !text.is_ascii() {
        return asks_when(&words(&text.to_lowercase()).join(" ").replace(|letter: char| !letter.is_ascii(), "x"));
    }
    let is = |word: &[u8], name: &str| word.iter().filter(|byte| **byte != b'\'').map(u8::to_ascii_lowercase).eq(name.bytes());
    let is_word = |word: &&[u8]| word.iter().any(u8::is_ascii_alphanumeric);
    let mut before: &[u8] = b"";
    text.as_bytes().split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'\'')).filter(is_word).any(|word| {
        let one = ["when", "date", "year", "month"].iter().any(|name| is(word, name));
        let two = is(before, "how") && is(word, "long") || is(before, "what") && is(word, "day");
        before = word;
        one || two
    })
}

/// Whether a text says that it does not know, and states nothing.
#[must_use]
pub fn does_not_know(text: &str) -> bool {
    only(text, Clause::Ignorant)
}

/// Whether a text greets, thanks or apologises, and asks and states nothing.
#[must_use]
pub fn is_courtesy(text: &str) -> bool {
    let clauses = if text.len() > MOST_BYTES { Vec::new() } else { clauses(text) };
    !clauses.is_empty() && clauses.into_iter().all(|clause| !is_marked_as_question(clause) && classify(clause) == Clause::Courtesy)
}

/// Whether a text has no word but those of greeting, thanking and acknowledging: "Noted, thanks!". Yes and no are answers.
#[must_use]
pub fn acknowledges(text: &str) -> bool {
    let words = if text.len() > MOST_BYTES { Vec::new() } else { words(&text.to_lowercase()) };
    let is_said = |word: &Known| word.is_in(List::Courtesy) || word.is_in(List::Acknowledgements);
    !words.is_empty() && words.iter().all(|word| is_said(known(word)))
}

/// Whether a text asks or says that it does not know, and states nothing: both questions at the price of one.
#[must_use]
pub fn answers_nothing(text: &str) -> bool {
    lack(text).is_some()
}

fn only(text: &str, wanted: Clause) -> bool {
    lack(text) == Some(wanted)
}

/// The speech act of a text that states nothing: it asks, or does not know. Most texts state something in their first clause.
fn lack(text: &str) -> Option<Clause> {
    if text.len() > MOST_BYTES {
        return None;
    }
    let mut lack = None;
    for clause in clauses(text) {
        match classify(clause) {
            Clause::States => return None,
            Clause::Courtesy => {}
            // "I don't know which one you mean. The old one?" is not knowing, and so is "Which one? I don't know."
            kind => lack = if lack == Some(Clause::Ignorant) { lack } else { Some(kind) },
        }
    }
    lack
}

/// The clauses of a text with their end marks.
fn clauses(text: &str) -> Vec<&str> {
    let (mut found, mut start) = (Vec::new(), 0);
    let mut characters = text.char_indices().peekable();
    while let Some((at, one)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        let ends = match one {
            '\n' | '\u{3002}' | '\u{ff1f}' | '\u{ff01}' | '\u{61f}' | '\u{964}' => true,
            '.' | '!' | '?' | '\u{2026}' | ';' => next.is_none_or(|next| next.is_whitespace() || next == '"' || next == '\u{201d}'),
            _ => false,
        };
        if ends {
            let end = at + one.len_utf8();
            split_at_but(&text[start..end], &mut found);
            start = end;
        }
    }
    split_at_but(&text[start..], &mut found);
    found
}

fn split_at_but<'t>(sentence: &'t str, found: &mut Vec<&'t str>) {
    let but_at = |at: usize| BUT.iter().find(|but| sentence[at..].starts_with(**but)).map(|but| (at, at + but.len()));
    let at = sentence.match_indices([' ', ',']).find_map(|(at, _)| but_at(at));
    let (first, rest) = at.map_or((sentence, ""), |(end, start)| (&sentence[..end], &sentence[start..]));
    found.extend([first, rest].into_iter().filter(|clause| clause.chars().any(|one| one.is_alphanumeric() || is_question_mark(one))));
}

fn is_question_mark(one: char) -> bool {
    matches!(one, '?' | '\u{ff1f}' | '\u{61f}' | '\u{37e}')
}

fn classify(clause: &str) -> Clause {
    let lower = clause.to_lowercase();
    let words: Vec<Word> = words(&lower).into_iter().map(Word::of).collect();
    if !is_courteous_start(&words) && is_ignorant(&lower, &words) {
        return Clause::Ignorant;
    }
    if is_question(&lower, &words) {
        return Clause::Asks;
    }
    if says_nothing(&lower, &words) { Clause::Courtesy } else { Clause::States }
}

/// Words in lower case, without accents and apostrophes: `don't` is `dont`.
fn words(lower: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for one in lower.chars() {
        match one {
            '\'' | '\u{2019}' => {}
            '\u{df}' => words.last_mut().expect("there is one").push_str("ss"),
            '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => {
                words.last_mut().expect("there is one").extend(one.nfd().filter(|part| !('\u{300}'..='\u{36f}').contains(part)));
            }
            _ if one.is_alphanumeric() || !one.is_ascii() && !one.is_whitespace() && !one.is_ascii_punctuation() => {
                words.last_mut().expect("there is one").push(one);
            }
            _ => words.push(String::new()),
        }
    }
    words.retain(|word| word.chars().any(char::is_alphanumeric));
    words
}

/// A word, with what it is known for.
struct Word {
    text: String,
    known: &'static Known,
}

impl Word {
    fn of(text: String) -> Self {
        Self { known: known(&text), text }
    }
}

fn text_at(words: &[Word], at: usize) -> &str {
    words.get(at).map_or("", |word| &word.text)
}

fn is_in(words: &[Word], at: usize, list: List) -> bool {
    words.get(at).is_some_and(|word| word.known.is_in(list))
}

/// Whether a phrase of a list stands in front.
fn begins(words: &[Word], list: Phrases) -> bool {
    let is_here = |phrase: &str| {
        let mut rest = words.iter();
        phrase.split(' ').all(|wanted| rest.next().is_some_and(|word| word.text == wanted))
    };
    words.first().is_some_and(|first| first.known.begins(list).any(is_here))
}

/// `if I don't know ...` tells of a condition.
fn is_courteous_start(words: &[Word]) -> bool {
    matches!(text_at(words, 0), "if" | "when" | "because" | "since")
}

fn is_ignorant(lower: &str, words: &[Word]) -> bool {
    let has_phrase = || (0..words.len()).any(|at| begins(&words[at..], Phrases::Ignorant));
    words.len() <= MOST_IGNORANT_WORDS && (has_phrase() || has_any(lower, &IGNORANT_ACCENTED))
}

/// Whether one of these stands in a text; each has a letter that is not ASCII.
fn has_any(text: &str, parts: &[&str]) -> bool {
    !text.is_ascii() && parts.iter().any(|part| text.contains(part))
}

fn without_closing_marks(clause: &str) -> &str {
    clause.trim_end_matches(|one: char| one.is_whitespace() || matches!(one, '!' | '"' | '\'' | ')' | '\u{201d}' | '\u{300d}'))
}

/// Whether a clause ends with a question mark: it asks, or says that it does not know, and is not a courtesy.
fn is_marked_as_question(clause: &str) -> bool {
    without_closing_marks(clause).ends_with(is_question_mark)
}

fn is_question(lower: &str, words: &[Word]) -> bool {
    let end = without_closing_marks(lower);
    let bare = end.trim_end_matches(['\u{3002}', '.']);
    if is_marked_as_question(lower) || lower.trim_start().starts_with('\u{bf}') || QUESTION_ENDS.iter().any(|end| bare.ends_with(end)) {
        return true;
    }
    let leads = words.iter().take_while(|word| word.known.is_in(List::Leads)).count();
    let words = &words[leads..];
    let first = lower.split(|one: char| !one.is_alphanumeric()).find(|word| !word.is_empty()).unwrap_or_default();
    QUESTIONS_ACCENTED.contains(&first)
        || begins(words, Phrases::Questions)
        || is_english_question(words)
        || is_german_question(words)
        || has_any(bare, &CHINESE_QUESTIONS)
}

/// "which port does it use", "did we deploy", "how to restart it"; not "what I need is rest", "when the server was down".
fn is_english_question(words: &[Word]) -> bool {
    let word = |at| text_at(words, at);
    match word(0) {
        "how" if matches!(word(1), "to" | "many" | "much" | "long" | "often" | "old") => true,
        "what" | "how" | "which" | "whose" | "who" if matches!(word(1), "a" | "an") => false,
        "when" | "where" | "why" => is_in(words, 1, List::Auxiliaries) && word(1) != "is" || word(1) == "is" && words.len() > 2,
        "who" => words.len() <= 12 && words.len() > 1 && !is_in(words, 1, List::Subjects),
        "what" | "how" => auxiliary_before_subject(words, 1),
        "which" | "whose" => auxiliary_before_subject(words, 2),
        "do" | "have" | "may" | "might" => matches!(word(1), "you" | "we" | "they" | "i" | "anyone" | "anybody"),
        "is" | "are" | "was" | "were" | "does" | "did" | "can" | "could" | "will" | "would" | "should" | "has" | "had" | "isnt"
        | "arent" | "didnt" | "doesnt" | "dont" | "wasnt" | "cant" | "couldnt" | "wont" => {
            is_in(words, 1, List::Subjects) || is_in(words, 1, List::Determiners)
        }
        _ => false,
    }
}

/// Whether an auxiliary stands at `from` or within three words behind it, and no subject before it.
fn auxiliary_before_subject(words: &[Word], from: usize) -> bool {
    let before = words.iter().skip(1).take(from + 3);
    let at = before.clone().position(|word| word.known.is_in(List::Auxiliaries)).map(|at| at + 1);
    at.is_some_and(|at| at >= from && !words[1..at].iter().any(|word| word.known.is_in(List::Subjects)))
}

/// "wann war das", "kannst du"; not "was ich brauche", "wie immer".
fn is_german_question(words: &[Word]) -> bool {
    const ASK: [&str; 16] = [
        "wie", "was", "wer", "wo", "wann", "warum", "wieso", "wohin", "woher", "wem", "wessen", "welche", "welcher", "welches", "welchen",
        "welchem",
    ];
    const NOT_AFTER: [&str; 14] = ["ich", "du", "er", "sie", "es", "wir", "ihr", "man", "immer", "gesagt", "schon", "auch", "the", "a"];
    const VERBS: [&str; 17] = [
        "ist", "sind", "hat", "habt", "hast", "haben", "kann", "kannst", "konnen", "konnt", "weisst", "wisst", "war", "waren", "wird",
        "soll", "darf",
    ];
    let word = |at| text_at(words, at);
    let subject =
        |word: &str| matches!(word, "ich" | "du" | "er" | "sie" | "es" | "wir" | "ihr" | "man" | "der" | "die" | "das" | "mein" | "unser");
    ASK.contains(&word(0)) && words.len() > 2 && !NOT_AFTER.contains(&word(1)) && !is_in(words, 1, List::Auxiliaries)
        || VERBS.contains(&word(0)) && subject(word(1))
}

fn says_nothing(lower: &str, words: &[Word]) -> bool {
    words.iter().all(|word| word.known.is_in(List::Courtesy))
        || begins(words, Phrases::Offers)
        || words.len() <= 8 && COURTESY.iter().any(|part| lower.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_asked_for_or_not() {
        assert!(asks_when("When did she visit the museum?") && asks_when("how long did it take"));
        assert!(!asks_when("What was the port?") && !asks_when("how often, and how few"));
        for (text, asks) in
            [("'WHEN'?", true), ("how '' long", true), ("wh\u{e9}n", true), ("years, when's", false), ("when\u{65e5}", false)]
        {
            assert!(asks_when(text) == asks && asks_when(&format!("{text} \u{e9}")) == asks, "{text}");
        }
    }

    const ASKS: &[&str] = &[
        "which port does payments-api use?",
        "Which port does payments-api use",
        "what is my favourite editor",
        "Hey, where did we park the car",
        "how many people work there",
        "who leads the platform team",
        "Do you remember the name of my dog",
        "is the server up",
        "can you tell me why",
        "tell me which region we deploy to",
        "how to restart it",
        "Hello! What should I cook tonight?",
        "remind me when the review is",
        "\u{bf}Cu\u{e1}l es mi editor favorito?",
        "cu\u{e1}l es mi editor",
        "Welchen Editor benutze ich?",
        "welchen editor nutze ich",
        "kannst du mir den Port sagen",
        "Quel est mon \u{e9}diteur pr\u{e9}f\u{e9}r\u{e9}",
        "est-ce que je prends du sucre",
        "Qual \u{e9} o meu editor",
        "dove abito",
        "\u{43a}\u{430}\u{43a}\u{43e}\u{439} \u{443} \u{43c}\u{435}\u{43d}\u{44f} \u{440}\u{435}\u{434}\u{430}\u{43a}\u{442}\u{43e}\u{440}",
        "\u{79c1}\u{306e}\u{72ac}\u{306e}\u{540d}\u{524d}\u{306f}\u{4f55}\u{3067}\u{3059}\u{304b}",
        "\u{4f60}\u{77e5}\u{9053}\u{7aef}\u{53e3}\u{5417}",
        "\u{652f}\u{4ed8}\u{670d}\u{52a1}\u{7528}\u{54ea}\u{4e2a}\u{7aef}\u{53e3}\u{ff1f}",
        "\u{c81c} \u{ac15}\u{c544}\u{c9c0} \u{c774}\u{b984}\u{c774} \u{bb50}\u{c608}\u{c694}?",
        "\u{623}\u{64a}\u{646} \u{623}\u{633}\u{643}\u{646}\u{61f}",
        "\u{645}\u{62a}\u{649} \u{645}\u{648}\u{639}\u{62f}\u{64a}",
        "And you?",
        "?",
    ];

    const STATES: &[&str] = &[
        "payments-api listens on 8443",
        "I moved to Lisbon. And you?",
        "What I need is rest",
        "When the server was down, we restarted it",
        "What a day it was",
        "Which is why we moved",
        "Do the dishes every evening",
        "Have a look at node-9",
        "I wonder, and it works: port 8443",
        "Never deploy on a Friday!",
        "Was ich brauche, ist Ruhe",
        "wie immer am Freitag",
        "Prefiero el t\u{e9}",
        "Como siempre, caf\u{e9}",
        "Yes",
        "\u{42f} \u{436}\u{438}\u{432}\u{443} \u{432} \u{41c}\u{43e}\u{441}\u{43a}\u{432}\u{435}",
        "\u{79c1}\u{306f}\u{6771}\u{4eac}\u{306b}\u{4f4f}\u{3093}\u{3067}\u{3044}\u{307e}\u{3059}\u{3002}",
        "The URL is https://a.io/?q=1 and it works",
        "How they did it is in the wiki.",
        "Where I live it rains.",
        "I don't know much about cars, but mine is a blue Volvo",
        "8443",
        "If I don't know a word, I look it up in Collins.",
    ];

    const IGNORANT_TEXTS: &[&str] = &[
        "Sorry, I don't know that.",
        "I\u{2019}m sorry, but I don\u{2019}t have any information about that.",
        "No idea!",
        "I don't know. Could you tell me?",
        "I'm not sure. Let me know if you find out!",
        "I couldn't find anything about your dog. Please tell me its name.",
        "Das weiß ich leider nicht.",
        "Ich habe keine Informationen dazu. Kannst du es mir sagen?",
        "Je ne sais pas, d\u{e9}sol\u{e9}.",
        "D\u{e9}sol\u{e9}, je n'ai pas cette information.",
        "Lo siento, no lo s\u{e9}.",
        "No tengo esa informaci\u{f3}n.",
        "N\u{e3}o sei.",
        "Non lo so, mi dispiace.",
        "\u{41a} \u{441}\u{43e}\u{436}\u{430}\u{43b}\u{435}\u{43d}\u{438}\u{44e}, \u{44f} \u{43d}\u{435} \u{437}\u{43d}\u{430}\u{44e}.",
        "\u{5bf9}\u{4e0d}\u{8d77}\u{ff0c}\u{6211}\u{4e0d}\u{77e5}\u{9053}\u{3002}",
        "\u{7533}\u{3057}\u{8a33}\u{3042}\u{308a}\u{307e}\u{305b}\u{3093}\u{3001}\u{308f}\u{304b}\u{308a}\u{307e}\u{305b}\u{3093}\u{3002}",
        "\u{c8c4}\u{c1a1}\u{d558}\u{c9c0}\u{b9cc} \u{baa8}\u{b974}\u{aca0}\u{c2b5}\u{b2c8}\u{b2e4}.",
        "\u{644}\u{627} \u{623}\u{639}\u{631}\u{641}",
        "\u{92e}\u{941}\u{91d}\u{947} \u{928}\u{939}\u{940}\u{902} \u{92a}\u{924}\u{93e}\u{964}",
        "Unfortunately I have no record of that.",
        "I don't know your deploy region.",
        "I don't have access to your calendar.",
        "You haven't told me yet.",
    ];

    #[test]
    fn questions_are_told_from_statements() {
        for text in ASKS {
            assert!(asks(text) && !does_not_know(text), "{text}");
        }
        for text in STATES {
            assert!(!asks(text) && !does_not_know(text), "{text}");
        }
    }

    #[test]
    fn what_does_not_know_is_told_from_what_does() {
        for text in IGNORANT_TEXTS {
            assert!(does_not_know(text) && !asks(text), "{text}");
        }
        for text in ["I don't know your region, but your stack is Python.", "I did not know that it was on 8443. It is on 9443 now."] {
            assert!(!does_not_know(text), "{text}");
        }
    }

    #[test]
    fn courtesies_say_nothing() {
        for text in ["thanks!", "Hello", "Hi there, good morning", "ok, thank you", "Danke!"] {
            assert!(is_courtesy(text) && !asks(text) && !does_not_know(text), "{text}");
        }
        for text in ["Noted!", "Got it, thanks.", "ok", "Understood. Will do!", "Danke!"] {
            assert!(acknowledges(text), "{text}");
        }
        for text in ["Noted: payments-api listens on 8443", "yes", "no thanks", "ok, 8443", "", "!", "which one?"] {
            assert!(!acknowledges(text), "{text}");
        }
        assert!(!is_courtesy("thanks, the port is 8443") && !is_courtesy("") && !is_courtesy("how are you?"));
    }

    #[test]
    fn what_is_skipped_has_nothing_of_the_lists() {
        assert!(
            IGNORANT_ACCENTED.iter().chain(&CHINESE_QUESTIONS).all(|part| !part.is_ascii()),
            "a text of ASCII is not searched for them"
        );
        assert!(BUT.iter().all(|but| but.starts_with([' ', ','])), "a clause is cut at these alone");
        assert_eq!(clauses("It is so , but no, aber ja but x"), ["It is so ", "no, aber ja but x"]);
    }

    #[test]
    fn a_word_is_known_for_all_its_lists() {
        for (word, lists) in [("so", [true, false, true]), ("is", [false, true, false]), ("port", [false; 3])] {
            assert_eq!([List::Leads, List::Auxiliaries, List::Courtesy].map(|list| known(word).is_in(list)), lists, "{word}");
        }
        assert_eq!(known("aucune").begins(Phrases::Ignorant).collect::<Vec<_>>(), ["aucune idee"]);
        assert_eq!(known("any").begins(Phrases::Questions).collect::<Vec<_>>(), ["any idea"]);
        assert_eq!(known("any").begins(Phrases::Ignorant).next(), None);
    }

    #[test]
    fn nothing_and_much_are_neither() {
        for text in ["", " ", "\u{1f600}", "...", &"why? ".repeat(1_000)] {
            assert!(!asks(text) && !does_not_know(text), "{text}");
        }
    }
}
