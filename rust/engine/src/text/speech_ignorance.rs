//! Whether a clause says that its own speaker does not know, for [`super::speech`].
//!
//! ```text
//! speaker   "I" or "we" in front of the negation, or nobody at all: "I could not find", "no idea", but not "ld cannot find"
//! verb      one of knowing, finding or having
//! object    information: a question ("who she is"), "that", "your ...", a record, a name, something in the notes
//! fixed     "there is nothing about ... in my notes", "you have not told me", "it is not on file"
//! abroad    phrases whose verb has the speaker in its form, and "keine Angaben", "no tengo el nombre" with a noun of information
//! ```
//!
//! "I'm unable to eat gluten" and "I don't recall any chest pain" tell something of the speaker and are statements.

use super::speech::{Word, begins, text_at};
use super::speech_forms::ASKED_NOUNS;
use super::speech_lists::IGNORANT_ACCENTED;
use super::speech_words::{List, Phrases};

/// The longest clause that can be one of not knowing, in words: longer ones tell of something.
const MOST_WORDS: usize = 24;
/// The noun of an object is looked for among so many words.
const OBJECT_WORDS: usize = 8;

/// Words that may stand between a speaker and the negation.
const BEFORE: [&str; 20] = [
    "really",
    "just",
    "still",
    "currently",
    "actually",
    "also",
    "honestly",
    "simply",
    "unfortunately",
    "do",
    "did",
    "am",
    "can",
    "could",
    "have",
    "was",
    "were",
    "will",
    "sadly",
    "had",
];
/// Words that may stand between the negation and its verb.
const BETWEEN: [&str; 16] = [
    "really",
    "actually",
    "currently",
    "yet",
    "seem",
    "to",
    "able",
    "be",
    "even",
    "fully",
    "quite",
    "exactly",
    "personally",
    "readily",
    "been",
    "directly",
];
/// Nouns of information, of anybody's.
const INFORMATION: [&str; 31] = [
    "information",
    "info",
    "record",
    "records",
    "recollection",
    "mention",
    "detail",
    "details",
    "memory",
    "memories",
    "knowledge",
    "entry",
    "entries",
    "answer",
    "answers",
    "idea",
    "clue",
    "data",
    "notes",
    "note",
    "reference",
    "references",
    "context",
    "informationen",
    "angaben",
    "daten",
    "hinweise",
    "aufzeichnungen",
    "ahnung",
    "notizen",
    "eintrag",
];
/// Nouns of what somebody has and asks for: "my locker code", "your shoe size".
const OWN_NOUNS: [&str; 12] =
    ["code", "codes", "passcode", "pin", "username", "size", "type", "pressure", "salary", "height", "weight", "card"];
/// Words that may stand behind a noun of information. Another makes it part of a longer name: "record player".
const BEHIND: [&str; 34] = [
    "about",
    "on",
    "of",
    "regarding",
    "for",
    "that",
    "in",
    "to",
    "available",
    "here",
    "yet",
    "from",
    "with",
    "at",
    "either",
    "sorry",
    "concerning",
    "stored",
    "right",
    "and",
    "or",
    "as",
    "what",
    "which",
    "who",
    "where",
    "when",
    "whether",
    "you",
    "related",
    "saved",
    "so",
    "anywhere",
    "because",
];
/// Where information is kept.
const SOURCES: [&str; 17] = [
    "notes",
    "memory",
    "memories",
    "records",
    "history",
    "conversation",
    "conversations",
    "chat",
    "chats",
    "messages",
    "context",
    "files",
    "data",
    "knowledge",
    "file",
    "record",
    "discussion",
];
/// Words that begin a question within a clause.
const INDIRECT: [&str; 17] = [
    "which", "what", "whats", "who", "whos", "whom", "whose", "where", "wheres", "when", "whens", "why", "how", "hows", "if", "whether",
    "exactly",
];
/// Determiners of what the other one asked for.
const OF_THE_OTHER: [&str; 8] = ["that", "this", "it", "your", "yours", "anything", "him", "them"];

/// Whether a clause, in lower case, says that its speaker does not know.
pub(super) fn is_ignorant(lower: &str, words: &[Word]) -> bool {
    if words.len() > MOST_WORDS {
        return false;
    }
    let has_phrase = || (0..words.len()).any(|at| begins(&words[at..], Phrases::Ignorant) && !tells_of_a_skill(words, at));
    let denies = words.iter().any(|word| word.known.is_in(List::Denials));
    denies && (denies_knowing(words) || has_phrase() || is_ignorant_abroad(words)) || is_ignorant_in_another_script(lower, words)
}

fn is_ignorant_in_another_script(lower: &str, words: &[Word]) -> bool {
    let at = || words.iter().position(|word| word.text == "se").unwrap_or(words.len());
    let is_said = |phrase: &str| lower.match_indices(phrase).any(|(at, _)| is_of_the_speaker_there(lower, at, phrase));
    !lower.is_ascii() && IGNORANT_ACCENTED.iter().any(|phrase| is_said(phrase)) && !is_infinitive(text_at(words, at() + 1))
}

/// Whether a phrase that stands at `at` is whole, and the speaker's: "\u{43d}\u{435} \u{437}\u{43d}\u{430}\u{44e}\u{442}" says that others do not know, and so
/// does "\u{6211}\u{7238}\u{7238}\u{4e0d}\u{77e5}\u{9053}".
fn is_of_the_speaker_there(lower: &str, at: usize, phrase: &str) -> bool {
    const DENIED: [&str; 3] = ["\u{4e0d}\u{77e5}\u{9053}", "\u{4e0d}\u{6e05}\u{695a}", "\u{4e0d}\u{8bb0}\u{5f97}"];
    const ADVERBS: [char; 8] = ['\u{4e5f}', '\u{8fd8}', '\u{771f}', '\u{90fd}', '\u{5e76}', '\u{5176}', '\u{5b9e}', '\u{5c31}'];
    let is_cyrillic = |letter: char| ('\u{400}'..='\u{52f}').contains(&letter);
    if phrase.ends_with(|letter: char| letter.is_ascii() || is_cyrillic(letter) || letter == '\u{e9}') {
        return !lower[at + phrase.len()..].starts_with(char::is_alphabetic);
    }
    let before = lower[..at].trim_end_matches(ADVERBS);
    !DENIED.contains(&phrase)
        || before.ends_with('\u{6211}')
        || before.ends_with("\u{6211}\u{4eec}")
        || !before.ends_with(char::is_alphanumeric)
}

/// "No so nuotare", "no s\u{e9} nadar", "je ne sais pas nager": what the speaker cannot do. And "no recuerdo ning\u{fa}n dolor": what did not happen.
fn tells_of_a_skill(words: &[Word], at: usize) -> bool {
    const NONE: [&str; 7] = ["ningun", "ninguna", "nessun", "nessuna", "nenhum", "nenhuma", "aucun"];
    let is_french = text_at(words, at + 3) == "pas";
    let behind = words.get(at + if is_french { 4 } else { 1 }..).unwrap_or_default().iter().take(if is_french { 1 } else { 3 });
    (is_french || matches!(text_at(words, at), "no" | "non" | "nao"))
        && behind.clone().any(|word| NONE.contains(&&*word.text) || is_infinitive(&word.text))
        && !behind.clone().any(|word| matches!(&*word.text, "decir" | "dire" | "dizer"))
}

fn is_infinitive(word: &str) -> bool {
    word.len() > 4 && ["ar", "er", "ir", "are", "ere", "ire"].iter().any(|end| word.ends_with(end)) && word != "ayer"
}

/// Whether a negation of the clause is the speaker's, of knowing or finding, and its object is information.
fn denies_knowing(words: &[Word]) -> bool {
    (0..words.len()).filter(|at| words[*at].known.is_in(List::Denials)).any(|at| {
        let behind = &words[at + 1..];
        is_fixed(words, at, behind) || is_of_the_speaker(words, at) && lacks(text_at(words, at), behind)
    })
}

/// Where the words between a speaker and the word at `at` begin.
fn subject_end(words: &[Word], at: usize) -> usize {
    at - words[..at].iter().rev().take_while(|word| BEFORE.contains(&&*word.text)).count()
}

/// Whether "I" or "we", or nobody, is the subject of the negation at `at`.
fn is_of_the_speaker(words: &[Word], at: usize) -> bool {
    let end = subject_end(words, at);
    let is_speaker = |word: &str| matches!(word, "i" | "we" | "im" | "ive" | "weve" | "id" | "were");
    let is_of_others = |word: &Word| matches!(&*word.text, "you" | "my"); // of "thank you" and of "my apologies"
    let led = words[..end].iter().all(|word| word.known.is_in(List::Leads) || word.known.is_in(List::Courtesy) && !is_of_others(word));
    led || is_speaker(text_at(words, end - 1)) || text_at(words, at) == "were" && is_speaker(text_at(words, end))
}

/// Whether what stands behind a speaker's negation is a lack of information.
fn lacks(denial: &str, behind: &[Word]) -> bool {
    if denial == "no" {
        return begins_information(behind);
    }
    if matches!(denial, "forgot" | "forgotten") {
        return behind.first().is_some_and(|word| INDIRECT.contains(&&*word.text)) && text_at(behind, 1) != "to" || has_asked_noun(behind);
    }
    let between = behind.iter().take_while(|word| BETWEEN.contains(&&*word.text)).count();
    let verb = text_at(behind, between);
    let object = behind.get(between + 1..).unwrap_or_default();
    match verb {
        "know" | "recall" | "remember" => is_known_thing(object) && !(denial == "didnt" && tells_it(object)),
        "have" if denial == "havent" => false,
        "have" | "find" | "see" | "locate" | "retrieve" | "provide" | "got" => is_information(object),
        "access" => is_reached(object),
        "tell" | "say" | "determine" | "confirm" | "answer" | "identify" => is_said(object),
        "help" => object.is_empty() || text_at(object, 0) == "with" && OF_THE_OTHER.contains(&text_at(object, 1)),
        "sure" | "certain" => is_doubt(object),
        "aware" => object.is_empty() || text_at(object, 0) == "of" && is_known_thing(&object[1..]),
        "told" | "given" | "informed" if !tells_it(object) => object.is_empty() || is_known_thing(object) || has_information(object),
        "believe" | "think" => tells_of_the_other(object),
        _ => false,
    }
}

/// "I did not know that it was on 8443" tells where it was, "I didn't know you have a concertina" what you have.
fn tells_it(object: &[Word]) -> bool {
    text_at(object, 0) == "that" && object.len() > 2 || text_at(object, 0) == "you"
}

/// "(I don't believe) you have told me".
fn tells_of_the_other(object: &[Word]) -> bool {
    let object = if text_at(object, 0) == "that" { &object[1..] } else { object };
    let verb = match (text_at(object, 0), text_at(object, 1)) {
        ("you", "have" | "ever") => 2,
        ("youve" | "you", _) => 1,
        _ => return false,
    };
    matches!(text_at(object, verb), "told" | "mentioned" | "shared" | "said" | "given" | "ever")
}

/// Things that one may know: a question, what the other one asked for, a person or thing that both know.
fn is_known_thing(object: &[Word]) -> bool {
    let first = text_at(object, 0);
    match first {
        "" | "the" | "his" | "her" | "their" | "about" | "either" | "yet" | "sorry" | "offhand" | "you" => true,
        "how" => text_at(object, 1) != "to",
        "for" => matches!(text_at(object, 1), "sure" | "certain"),
        "much" => {
            object.len() == 1
                || text_at(object, 1) == "about" && (OF_THE_OTHER.contains(&text_at(object, 2)) || text_at(object, 2) == "you")
        }
        _ if INDIRECT.contains(&first) || OF_THE_OTHER.contains(&first) => true,
        "any" | "anyone" | "anybody" | "a" | "an" | "no" => has_information(object),
        _ => has_information(object) || has_asked_noun(object),
    }
}

/// Information that one may find or have.
fn is_information(object: &[Word]) -> bool {
    let (first, second) = (text_at(object, 0), text_at(object, 1));
    match first {
        "" => true,
        "that" | "this" | "it" if object.len() == 1 || BEHIND.contains(&second) => true,
        "anything" | "nothing" | "something" | "everything" | "much" => {
            object.len() == 1
                || matches!(second, "about" | "on" | "regarding" | "for" | "related" | "relevant" | "there" | "else")
                || second == "in" && has_source(object)
        }
        "access" => is_reached(if second == "to" { &object[2..] } else { &object[1..] }),
        _ => has_information(object) || has_source(object) || has_asked_noun(object),
    }
}

/// Things that one may have access to, if they are information.
fn is_reached(object: &[Word]) -> bool {
    let first = text_at(object, 0);
    object.is_empty()
        || OF_THE_OTHER.contains(&first)
        || matches!(first, "any" | "real" | "past" | "previous" | "personal" | "our" | "external" | "live" | "current" | "private")
        || has_information(object)
        || has_source(object)
}

fn is_said(object: &[Word]) -> bool {
    let object = if text_at(object, 0) == "you" { &object[1..] } else { object };
    let first = text_at(object, 0);
    matches!(first, "" | "that" | "this" | "it" | "your" | "from" | "without" | "the" | "for") && text_at(object, 1) != "best"
        || INDIRECT.contains(&first)
        || has_information(object)
        || has_asked_noun(object)
}

/// "(I'm not sure) which one", "about that"; not "about the red tiles".
fn is_doubt(object: &[Word]) -> bool {
    let (first, second) = (text_at(object, 0), text_at(object, 1));
    match first {
        "" | "yet" | "sorry" | "either" => true,
        "i" => matches!(second, "know" | "have" | "understand" | "remember" | "recall" | "follow"),
        "about" | "of" => {
            second.is_empty()
                || OF_THE_OTHER.contains(&second)
                || INDIRECT.contains(&second)
                || has_information(object)
                || has_asked_noun(object)
        }
        _ => INDIRECT.contains(&first),
    }
}

/// Whether a noun of information stands in front: "no record of that", not "no record player".
fn begins_information(words: &[Word]) -> bool {
    let first =
        words.iter().take_while(|word| matches!(&*word.text, "relevant" | "specific" | "such" | "further" | "more" | "other")).count();
    is_noun_at(words, first, &INFORMATION)
}

fn has_information(object: &[Word]) -> bool {
    (0..object.len().min(OBJECT_WORDS)).any(|at| is_noun_at(object, at, &INFORMATION))
}

/// "your landlord's name", "my locker code", "the number of"; not "a middle name".
fn has_asked_noun(object: &[Word]) -> bool {
    let is_own = || matches!(text_at(object, 0), "my" | "your");
    let is_of = |at: usize| object[1..at].iter().any(|word| BEHIND.contains(&&*word.text));
    is_own() && (1..object.len().min(OBJECT_WORDS)).any(|at| is_noun_at(object, at, &OWN_NOUNS) && !is_of(at))
        || !matches!(text_at(object, 0), "a" | "an" | "any" | "no" | "one" | "another")
            && (0..object.len().min(OBJECT_WORDS)).any(|at| is_noun_at(object, at, &ASKED_NOUNS))
}

fn is_noun_at(words: &[Word], at: usize, nouns: &[&str]) -> bool {
    nouns.contains(&text_at(words, at)) && (at + 1 == words.len() || BEHIND.contains(&text_at(words, at + 1)))
}

/// "in my notes", "on file".
fn has_source(words: &[Word]) -> bool {
    (0..words.len()).any(|at| match text_at(words, at) {
        "on" if matches!(text_at(words, at + 1), "file" | "record") => true,
        "in" | "from" | "on" | "through" if matches!(text_at(words, at + 1), "my" | "our" | "your" | "the" | "this" | "any" | "these") => {
            (at + 2..at + 4).any(|noun| SOURCES.contains(&text_at(words, noun)))
        }
        _ => false,
    })
}

/// Forms that say for themselves that nothing is known, whatever their subject: the denial stands at `at`.
fn is_fixed(words: &[Word], at: usize, behind: &[Word]) -> bool {
    let end = subject_end(words, at);
    let before = if end == 0 { "" } else { text_at(words, end - 1) };
    let is_you = matches!(before, "you" | "youve");
    let is_there = matches!(text_at(words, at.wrapping_sub(1)), "theres" | "is" | "are" | "was")
        && words[..at].iter().any(|word| word.text.starts_with("there"));
    let found =
        is_there || matches!(text_at(words, at.wrapping_sub(1)), "have" | "see" | "find" | "found") && is_of_the_speaker(words, at - 1);
    match text_at(words, at) {
        "nothing" => {
            let of = matches!(text_at(behind, 0), "about" | "on" | "regarding" | "in");
            of && (found || at == 0) && (has_source(behind) || OF_THE_OTHER.contains(&text_at(behind, 1)))
        }
        "no" => (is_there || found) && begins_information(behind),
        "havent" | "not" | "never" | "didnt" if is_you => has_not_told(behind),
        "hasnt" | "havent" | "not" | "isnt" | "wasnt" | "arent" | "werent" => is_not_on_record(behind),
        _ => false,
    }
}

/// "(you have not) told me", "mentioned it".
fn has_not_told(behind: &[Word]) -> bool {
    let behind = if matches!(text_at(behind, 0), "yet" | "actually" | "really") { &behind[1..] } else { behind };
    match text_at(behind, 0) {
        "told" | "tell" | "given" | "give" => matches!(text_at(behind, 1), "" | "me" | "us"),
        "said" | "say" => behind.len() == 1 || INDIRECT.contains(&text_at(behind, 1)),
        "mentioned" | "mention" | "shared" | "share" | "specified" | "specify" | "provided" | "provide" | "stated" => true,
        _ => false,
    }
}

/// "(it is not) on file", "been mentioned yet", "available to me", "something I know".
fn is_not_on_record(behind: &[Word]) -> bool {
    let behind = if text_at(behind, 0) == "been" { &behind[1..] } else { behind };
    let (first, second) = (text_at(behind, 0), text_at(behind, 1));
    match first {
        "mentioned" | "shared" | "specified" | "provided" | "recorded" | "stated" | "discussed" => {
            matches!(second, "" | "yet" | "so" | "to" | "before" | "previously" | "here" | "anywhere") || has_source(behind)
        }
        "available" | "known" | "accessible" => second == "to" && matches!(text_at(behind, 2), "me" | "us"),
        "something" => matches!(second, "i" | "we") && matches!(text_at(behind, 2), "have" | "know" | "can"),
        "in" | "on" => has_source(&behind[..behind.len().min(4)]) && behind.len() <= 5,
        _ => false,
    }
}

/// German, French, Spanish, Italian, Portuguese: a denial, the speaker, and a noun of information.
fn is_ignorant_abroad(words: &[Word]) -> bool {
    /// "Du hast mir deine Nummer noch nicht genannt."
    const TOLD: [&str; 7] = ["genannt", "gesagt", "mitgeteilt", "verraten", "erzahlt", "gegeben", "erwahnt"];
    const LACK: [&[&str]; 13] = [
        &["no", "tengo"],
        &["no", "encuentro"],
        &["no", "veo"],
        &["non", "ho"],
        &["non", "trovo"],
        &["nao", "tenho"],
        &["nao", "encontro"],
        &["je", "nai", "pas"],
        &["je", "ne", "trouve", "pas"],
        &["je", "ne", "connais", "pas"],
        &["no", "conozco"],
        &["non", "conosco"],
        &["nao", "conheco"],
    ];
    let names = |words: &[Word]| words.iter().take(OBJECT_WORDS).any(|word| is_noun_abroad(&word.text));
    let lacks = |at: usize, lack: &[&str]| lack.iter().enumerate().all(|(place, one)| text_at(words, at + place) == *one);
    let is_lack = |at: usize| LACK.iter().any(|lack| lacks(at, lack) && names(&words[at + lack.len()..]));
    let speaks = |words: &[Word]| {
        words.iter().any(|word| matches!(&*word.text, "ich" | "mir" | "wir" | "uns" | "gibt"))
            || words.iter().all(|word| word.known.is_in(List::Courtesy) || word.known.is_in(List::Leads))
    };
    let is_german_lack = |at: usize| match text_at(words, at) {
        "keine" | "keinen" | "kein" | "keinerlei" => {
            speaks(&words[..at]) && (at + 1..at + 3).any(|noun| INFORMATION.contains(&text_at(words, noun)))
        }
        "nicht" => {
            let has = words.iter().any(|word| matches!(&*word.text, "habe" | "finde" | "kenne" | "weiss" | "sehe"));
            let before = |of: &[&str]| words[..at].iter().any(|word| of.contains(&&*word.text));
            let knows_own = before(&["kenne"]) && before(&["dein", "deine", "deinen", "ihren", "ihre", "eure", "euren"]);
            let is_told = before(&["du", "sie", "ihr"]) && before(&["mir", "uns"]) && TOLD.contains(&text_at(words, at + 1));
            has && before(&["ich"]) && (names(&words[..at]) || knows_own) || is_told
        }
        _ => false,
    };
    (0..words.len()).any(|at| is_lack(at) || is_german_lack(at))
}

fn is_noun_abroad(word: &str) -> bool {
    const NOUNS: [&str; 50] = [
        "name",
        "namen",
        "adresse",
        "nummer",
        "telefonnummer",
        "datum",
        "information",
        "informationen",
        "angaben",
        "nom",
        "adresse",
        "numero",
        "date",
        "information",
        "informations",
        "dinformation",
        "dinformations",
        "linformation",
        "details",
        "donnees",
        "dacces",
        "reponse",
        "nombre",
        "direccion",
        "fecha",
        "informacion",
        "dato",
        "datos",
        "detalles",
        "constancia",
        "registro",
        "registros",
        "acceso",
        "respuesta",
        "idea",
        "nome",
        "indirizzo",
        "informazioni",
        "informazione",
        "dati",
        "dettagli",
        "accesso",
        "risposta",
        "endereco",
        "informacao",
        "informacoes",
        "dados",
        "detalhes",
        "acesso",
        "resposta",
    ];
    NOUNS.contains(&word)
}
