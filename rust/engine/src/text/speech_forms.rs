//! Statements in the form of questions, and questions in the form of orders, for [`super::speech`].
//!
//! ```text
//! tag      "My flight is LH1172, right?" is cut before its tag
//! tells    "can you note that ...", "did you know that ...", "remind me to ..."
//! numbers  a clause of five words or more with a number or a date that nothing but its mark makes a question
//! orders   "give me the name of ...", "sag mir, wie ...", "landlord name please"
//! ```

use super::speech::{Word, is_in, is_question_mark, text_at, without_closing_marks};
use super::speech_words::List;

/// A clause of fewer words is a question about its number: "And on 14 July?"
const LEAST_WORDS: usize = 5;
/// An order to tell has its noun among so many words.
const ORDER_WORDS: usize = 10;

/// Things that one asks for by their noun: "the name of my landlord".
pub(super) const ASKED_NOUNS: [&str; 28] = [
    "name",
    "names",
    "number",
    "numbers",
    "address",
    "addresses",
    "birthday",
    "email",
    "date",
    "password",
    "port",
    "phone",
    "namen",
    "adresse",
    "nummer",
    "telefonnummer",
    "datum",
    "geburtstag",
    "nom",
    "numero",
    "ladresse",
    "lindirizzo",
    "nombre",
    "direccion",
    "fecha",
    "nome",
    "indirizzo",
    "endereco",
];

/// Words for a speaker's own things: "sag mir meine ...", "donne-moi mon ...", "dimmi il mio ...".
const OWN: [&str; 19] = [
    "mein", "meine", "meinen", "meiner", "unser", "unsere", "unseren", "mon", "ma", "mes", "notre", "nos", "mi", "mis", "nuestro",
    "nuestra", "mio", "mia", "miei",
];
/// Behind "tell me" and "remind me" in Russian: what is asked for. Anything else is what is to be done.
const ASKED_IN_RUSSIAN: [&str; 17] = [
    "\u{43d}\u{43e}\u{43c}\u{435}\u{440}",
    "\u{438}\u{43c}\u{44f}",
    "\u{430}\u{434}\u{440}\u{435}\u{441}",
    "\u{434}\u{430}\u{442}\u{443}",
    "\u{43f}\u{430}\u{440}\u{43e}\u{43b}\u{44c}",
    "\u{43a}\u{43e}\u{434}",
    "\u{442}\u{435}\u{43b}\u{435}\u{444}\u{43e}\u{43d}",
    "\u{43a}\u{430}\u{43a}",
    "\u{43a}\u{430}\u{43a}\u{43e}\u{439}",
    "\u{43a}\u{430}\u{43a}\u{430}\u{44f}",
    "\u{43a}\u{430}\u{43a}\u{43e}\u{435}",
    "\u{43a}\u{430}\u{43a}\u{438}\u{435}",
    "\u{433}\u{434}\u{435}",
    "\u{43a}\u{43e}\u{433}\u{434}\u{430}",
    "\u{43a}\u{442}\u{43e}",
    "\u{441}\u{43a}\u{43e}\u{43b}\u{44c}\u{43a}\u{43e}",
    "\u{43c}\u{43e}\u{439}",
];

/// Tags that ask whether a statement holds, beside "isn't it" and its kin.
const TAGS: [&str; 73] = [
    "right",
    "correct",
    "ok",
    "okay",
    "yes",
    "yeah",
    "no",
    "eh",
    "huh",
    "hm",
    "got it",
    "did you get that",
    "did you get it",
    "do you get it",
    "get it",
    "got that",
    "is that right",
    "is that correct",
    "is that ok",
    "isnt that right",
    "is that so",
    "am i right",
    "you know",
    "you see",
    "understood",
    "remember",
    "dont you think",
    "dont you agree",
    "agreed",
    "alright",
    "all right",
    "sound good",
    "sounds good",
    "oder",
    "oder nicht",
    "nicht wahr",
    "nicht",
    "richtig",
    "stimmts",
    "stimmt",
    "stimmt das",
    "gell",
    "ne",
    "verstanden",
    "klar",
    "hast du das",
    "hast du verstanden",
    "nest ce pas",
    "daccord",
    "hein",
    "pas vrai",
    "compris",
    "tu vois",
    "cest ca",
    "verdad",
    "no es verdad",
    "cierto",
    "no es cierto",
    "vale",
    "de acuerdo",
    "entiendes",
    "entendido",
    "no es asi",
    "vero",
    "non e vero",
    "giusto",
    "capito",
    "va bene",
    "daccordo",
    "certo",
    "nao e",
    "nao e verdade",
    "ta bom",
];

/// The clause before its tag, of one that ends with a question mark: "right?", "isn't it?", "oder?".
pub(super) fn before_tag(lower: &str) -> Option<&str> {
    let end = without_closing_marks(lower).trim_end_matches(is_question_mark).trim_end();
    let cut = end.rfind([',', '\u{2013}', '\u{2014}']).or_else(|| end.rfind(" - "));
    let behind = |at: usize| end[at..].trim_start_matches([',', '\u{2013}', '\u{2014}', '-', ' ', '\u{bf}']);
    if let Some(at) = cut.filter(|at| is_tag(behind(*at))) {
        return Some(&end[..at]);
    }
    // Without a comma only "right" is one, and not behind a verb that asks for it: "which of them is right?"
    let head = end.strip_suffix(" right").or_else(|| end.strip_suffix(" correct"))?;
    let asks = |word: &str| matches!(word, "is" | "are" | "was" | "be" | "that" | "this" | "all" | "it" | "the");
    let own: Vec<Word> = Word::all(head);
    (own.len() > 3 && !asks(text_at(&own, own.len() - 1)) && !own.iter().any(|word| word.known.is_in(List::Interrogatives))).then_some(head)
}

fn is_tag(text: &str) -> bool {
    let words = Word::all(text);
    let joined = || words.iter().map(|word| &*word.text).collect::<Vec<_>>().join(" ");
    match words.len() {
        // "isn't it", "don't you", "have we"
        2 if is_in(&words, 0, List::Auxiliaries) => is_in(&words, 1, List::Subjects),
        3 if is_in(&words, 0, List::Auxiliaries) && text_at(&words, 2) == "not" => is_in(&words, 1, List::Subjects),
        1..=6 => TAGS.contains(&&*joined()),
        _ => false,
    }
}

/// Whether a clause tells something by asking that it be kept: "can you note that ...", "did you know that ...", "remind me to ...".
pub(super) fn tells(words: &[Word]) -> bool {
    let first = words.iter().take_while(|word| word.known.is_in(List::Leads)).count();
    let words = &words[first..];
    if !is_in(words, 0, List::Tellers) {
        return false;
    }
    match (text_at(words, 0), text_at(words, 1)) {
        ("remind", "me") => reminds(&words[2..]),
        ("did" | "do", "you") if text_at(words, 2) == "know" => informs(&words[3..]),
        ("do" | "did", "you") if matches!(text_at(words, 2), "remember" | "recall") => text_at(words, 3) == "that" && words.len() > 6,
        ("can" | "could" | "would" | "will", "you") => keeps(&words[2..]),
        _ => keeps_abroad(words),
    }
}

/// "(remind me) to call", "of the dentist on 14 July"; not "of my landlord's name", "what it was".
fn reminds(behind: &[Word]) -> bool {
    match text_at(behind, 0) {
        "to" | "that" => behind.len() > 1,
        "of" => behind.len() > 1 && (has_number(behind) || !has_noun(behind) && !asks_within(behind)),
        _ => has_number(behind) && !asks_within(behind),
    }
}

/// "(did you know) that X", "I was born in Tartu"; not "my landlord".
fn informs(behind: &[Word]) -> bool {
    match text_at(behind, 0) {
        "that" | "i" | "we" | "he" | "she" | "they" => behind.len() > 2,
        "my" | "our" | "the" => behind.len() > 3 && behind[2..].iter().any(|word| word.known.is_in(List::Auxiliaries)),
        _ => false,
    }
}

/// "(can you) please note that X", "remind me to X", "save X1234567".
fn keeps(behind: &[Word]) -> bool {
    let kind = |word: &&Word| matches!(&*word.text, "please" | "also" | "just" | "kindly" | "maybe" | "quickly");
    let behind = &behind[behind.iter().take_while(kind).count()..];
    let object = behind.get(1..).unwrap_or_default();
    let that = object.iter().take(5).position(|word| word.text == "that");
    let asks_first = || is_in(object, that.map_or(0, |at| at + 1), List::Interrogatives);
    let states = that.is_some_and(|at| object.len() > at + 2) && !asks_first();
    match text_at(behind, 0) {
        "remind" if text_at(object, 0) == "me" => reminds(&object[1..]),
        "remember" | "keep" | "make" => states,
        "note" | "save" | "record" | "store" | "memorize" | "memorise" | "log" | "add" | "write" | "jot" => {
            states || has_number(object) && !asks_within(object)
        }
        _ => false,
    }
}

/// "kannst du dir merken, dass ...", "puedes anotar que ...", "peux-tu noter que ...", "sapevi che ...".
fn keeps_abroad(words: &[Word]) -> bool {
    const KEEP: [&str; 30] = [
        "merken",
        "notieren",
        "speichern",
        "aufschreiben",
        "behalten",
        "erinnern",
        "du",
        "sie",
        "noter",
        "retenir",
        "enregistrer",
        "rappeler",
        "savais",
        "saviez",
        "tu",
        "vous",
        "anotar",
        "recordar",
        "guardar",
        "apuntar",
        "sabias",
        "sabia",
        "annotare",
        "ricordare",
        "ricordarti",
        "segnare",
        "sapevi",
        "lembrar",
        "salvar",
        "memoriser",
    ];
    let that = words.iter().take(7).position(|word| matches!(&*word.text, "dass" | "que" | "che"));
    let kept = |at: usize| at > 0 && KEEP.contains(&text_at(words, at - 1)) && words.len() > at + 2;
    that.is_some_and(kept)
}

/// Whether a clause that ends with a question mark states a number or a date, since nothing but the mark asks.
pub(super) fn states_a_number(lower: &str, words: &[Word]) -> bool {
    let first = words.iter().take_while(|word| word.known.is_in(List::Leads)).count();
    let words = &words[first..];
    let is_request = text_at(words, words.len().saturating_sub(1)) == "please";
    words.len() >= LEAST_WORDS
        && !is_request
        && (has_number(words) || words.iter().any(|word| is_day(&word.text)))
        && is_told(words)
        && !is_inverted(lower, words)
}

/// English or German words of a statement, and none of a question.
fn is_told(words: &[Word]) -> bool {
    const ENGLISH: [&str; 16] = ["the", "is", "are", "at", "for", "to", "of", "my", "your", "you", "it", "we", "with", "im", "i", "its"];
    const GERMAN: [&str; 14] = ["der", "die", "das", "ein", "eine", "mein", "meine", "am", "um", "im", "ich", "wir", "dein", "deine"];
    const ASKS: [&str; 28] = [
        "any",
        "anyone",
        "anybody",
        "anything",
        "want",
        "wanna",
        "need",
        "care",
        "ready",
        "up",
        "fancy",
        "mind",
        "got",
        "feel",
        "interested",
        "free",
        "name",
        "number",
        "address",
        "date",
        "time",
        "shall",
        "am",
        "know",
        "remember",
        "ever",
        "what",
        "who",
    ];
    let is_english = words.iter().any(|word| ENGLISH.contains(&&*word.text));
    !ASKS.contains(&text_at(words, 0)) && (is_english || GERMAN.contains(&text_at(words, 0))) && !asks_within(words)
}

/// "is it", "do we" anywhere; "is the" at the beginning of a part.
fn is_inverted(lower: &str, words: &[Word]) -> bool {
    let asks = |pair: &[Word]| pair[0].known.is_in(List::Auxiliaries) && pair[1].known.is_in(List::Subjects);
    let begins = |part: &str| {
        let words = Word::all(part);
        is_in(&words, 0, List::Auxiliaries) && (is_in(&words, 1, List::Determiners) || is_in(&words, 1, List::Subjects))
    };
    words.windows(2).any(asks) || is_in(words, 0, List::Auxiliaries) || lower.split([',', ':']).any(begins)
}

fn has_number(words: &[Word]) -> bool {
    words.iter().any(|word| word.text.bytes().any(|byte| byte.is_ascii_digit()))
}

fn is_day(word: &str) -> bool {
    const DAYS: [&str; 17] = [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "april",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    DAYS.contains(&word)
}

fn asks_within(words: &[Word]) -> bool {
    words.iter().any(|word| word.known.is_in(List::Interrogatives) || matches!(&*word.text, "if" | "whether" | "or"))
}

fn has_noun(words: &[Word]) -> bool {
    words.iter().take(ORDER_WORDS).any(|word| ASKED_NOUNS.contains(&&*word.text))
}

/// Whether a clause orders to be told something: "give me the name of my landlord", "sag mir, wie er hei\u{df}t", "landlord name please".
pub(super) fn orders(lower: &str, words: &[Word]) -> bool {
    let first = words.iter().take_while(|word| word.known.is_in(List::Leads)).count();
    let words = &words[first..];
    if words.len() < 2 || words.len() > 2 * ORDER_WORDS {
        return false;
    }
    if words[0].known.is_in(List::Orders) {
        let lasts = |word: &Word| {
            matches!(
                &*word.text,
                "always"
                    | "never"
                    | "now"
                    | "every"
                    | "whenever"
                    | "future"
                    | "attached"
                    | "below"
                    | "immer"
                    | "nie"
                    | "toujours"
                    | "jamais"
                    | "siempre"
                    | "nunca"
                    | "sempre"
            )
        };
        return is_order(words) && !has_number(words) && !words.iter().any(lasts);
    }
    let last = text_at(words, words.len() - 1);
    let bare = || !has_number(words) && !words.iter().any(|word| word.known.is_in(List::Auxiliaries));
    let asked_last = || ASKED_NOUNS.contains(&text_at(words, words.len() - 2)) && bare();
    text_at(words, 1) == "of" && ASKED_NOUNS.contains(&text_at(words, 0)) && words.len() <= 8 && bare() && !has_value(lower)
        || last == "please" && words.len() <= 6 && asked_last()
        || last == "again" && words.len() <= 4 && asked_last() // "my son lost his phone again" tells
}

/// "name of my landlord: Bob Miller": whether something stands behind a colon or a dash.
fn has_value(lower: &str) -> bool {
    let behind = [": ", " - ", " \u{2013} ", " \u{2014} "].iter().find_map(|mark| lower.split_once(mark));
    behind.is_some_and(|(_, value)| value.contains(char::is_alphanumeric))
}

/// Whether a clause that begins like an order asks for a fact.
fn is_order(words: &[Word]) -> bool {
    let asks = |from: usize| {
        let behind = words.get(from..).unwrap_or_default();
        let german = |word: &Word| word.text == "was";
        behind.first().is_some_and(|word| word.known.is_in(List::Interrogatives) || matches!(&*word.text, "if" | "whether" | "was" | "ob"))
            || behind.iter().take(2).any(german)
    };
    let names = |from: usize| has_noun(words.get(from..).unwrap_or_default());
    let is_own = |at: usize| OWN.contains(&text_at(words, at));
    match (text_at(words, 0), text_at(words, 1), text_at(words, 2)) {
        ("tell" | "give" | "show", "me" | "us", _) => names(2) || asks(2) || is_in(words, 2, List::Determiners), // not "short answers"
        ("send" | "get" | "read" | "find" | "remind", "me" | "us", _) => names(2) || asks(2) && text_at(words, 0) != "send",
        ("look", "up", _) => names(2) || asks(2),
        ("dis" | "donne" | "dites" | "donnez", "moi" | "nous", _) => names(2) || asks(2) || is_own(2),
        ("find" | "list" | "check", _, _) => names(1),
        ("i", "wonder" | "wondered", _) => asks(2),
        ("im" | "i", "was" | "am" | "just" | "wondering" | "curious", _) => {
            let at = words.iter().take(4).position(|word| matches!(&*word.text, "wondering" | "curious"));
            at.is_some_and(|at| asks(at + 1))
        }
        ("id" | "i", "like" | "love" | "want" | "need" | "would", _) => {
            let at = words.iter().take(5).position(|word| word.text == "know");
            at.is_some_and(|at| at > 1 && text_at(words, at - 1) == "to" && asks(at + 1))
        }
        ("sag" | "sagt" | "sagen" | "nenn" | "nenne" | "gib" | "zeig" | "verrat" | "verrate", "mir" | "uns" | "sie", _) => {
            names(2) || asks(2) || asks(3) || is_own(2)
        }
        ("dime" | "dame" | "dimmi" | "dammi" | "diga" | "digame" | "deme", _, _) => names(1) || asks(1) || is_own(1) || is_own(2),
        _ if !words[0].text.is_ascii() => words.iter().take(4).any(|word| ASKED_IN_RUSSIAN.contains(&&*word.text)),
        _ => false,
    }
}
