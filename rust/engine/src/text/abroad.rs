//! Whether a text is in another language than English, by its small words: rules that compare English words leave it alone.

use super::filler::{is_filler, is_one_of, packed};

/// Words that are looked at.
const MOST_WORDS: usize = 256;
/// Small words of German, Dutch, French, Spanish, Italian, Portuguese, Swedish, Polish, Turkish and Hindi in Latin letters that are none of
/// English, nor what is often typed for one.
#[rustfmt::skip]
const ABROAD: [&str; 207] = [
    "ist", "sind", "wer", "wie", "wo", "wann", "warum", "welche", "welcher", "welches", "mein", "meine", "meiner", "dein", "deine", "der",
    "das", "dem", "ich", "und", "oder", "nicht", "wird", "wurde", "bei", "zu", "mit", "het", "een", "wat", "waar", "mijn", "wanneer",
    "le", "les", "est", "et", "quel", "quelle", "mon", "mes", "ou", "qui", "quand", "du", "des", "une", "dans", "el", "los", "las", "una",
    "que", "es", "mi", "mis", "cual", "donde", "cuando", "como", "cuanto", "quien", "del", "il", "qual", "dove", "mio", "di", "minha",
    "meu", "welchen", "welchem", "wohin", "woher", "wogegen", "wem", "sein", "seine", "ihr", "ihre", "ein", "eine", "einen", "einem",
    "einer", "habe", "haben", "hatte", "auf", "aus", "auch", "kein", "keine", "nach", "von", "vom", "zum", "zur", "unser", "unsere",
    "steht", "liegt", "wohnt", "gibt", "hoe", "heb", "heeft", "hebben", "onze", "jouw", "zijn", "niet", "ik", "wij", "hij", "zij",
    "welke", "waarom", "bij", "naar", "voor", "werkt", "woont", "staat", "nous", "vous", "avec", "pour", "combien", "cette", "leur",
    "ses", "pourquoi", "aime", "habite", "tengo", "tiene", "por", "muy", "cuesta", "vive", "estoy", "nuestro", "che", "sono", "quanto",
    "della", "dello", "nella", "gli", "questo", "perche", "quale", "onde", "fica", "quem", "quando", "nao", "uma", "seu", "sua", "voce",
    "jag", "vem", "vad", "och", "inte", "det", "ett", "hur", "heter", "kto", "gdzie", "kiedy", "jaki", "jaka", "jakie", "czy", "jest",
    "moja", "moj", "nie", "sie", "czyja", "dla", "nerede", "hangi", "benim", "kac", "icin", "nasil", "bir", "degil", "neden", "nedir",
    "hai", "hain", "kaha", "kahan", "kaun", "kya", "kab", "kyun", "mera", "meri", "nahi", "aap",
];
/// Small words of English that one of these languages has, too.
const SHARED: [&str; 16] = ["a", "am", "an", "as", "at", "do", "had", "he", "i", "in", "is", "me", "of", "on", "so", "was"];

static PACKED: [u64; ABROAD.len()] = packed(&ABROAD);

/// Whether a text has more small words of other languages, or words with accents, than small words of English alone. A capital within it
/// begins a name, and so does a small word between two capitals belong to one: "Las Vegas", "Zo\u{eb}", "Acqua di Gio".
pub(crate) fn is_abroad(text: &str) -> bool {
    let (mut abroad, mut english, mut lower) = (0, 0, String::new());
    let mut words = text.split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty()).take(MOST_WORDS).peekable();
    let (mut is_first, mut is_behind_name) = (true, false);
    while let Some(word) = words.next() {
        lower.clear();
        lower.push_str(word);
        lower.make_ascii_lowercase();
        let is_small = word.starts_with(char::is_lowercase);
        let is_accented = || word.contains(|letter| ('\u{c0}'..='\u{24f}').contains(&letter));
        let mut is_of_name = || is_behind_name && words.peek().is_some_and(|next| next.starts_with(char::is_uppercase));
        let may_count = is_small && !is_of_name() || is_first;
        abroad += usize::from(is_small && is_accented() || may_count && is_one_of(&PACKED, lower.as_bytes()));
        english += usize::from(is_filler(lower.as_bytes()) && (word == "I" || !SHARED.contains(&lower.as_str())));
        (is_first, is_behind_name) = (false, !is_small);
    }
    abroad > english
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_abroad_by_its_small_words() {
        for text in ["Was frisst mein Hund?", "Welchen Code hat die Garage?", "code du garage", "Waar woont mijn zus?", "Jag bor i Lund"] {
            assert!(is_abroad(text), "{text}");
        }
        for text in [
            "Where does Zo\u{eb} live?",
            "Loves Las Vegas and Los Angeles",
            "I drive a Mercedes",
            "Wears Acqua di Gio",
            "Rio de Janeiro",
            "Jos\u{e9} likes M\u{e1}laga",
            "Does Ursula von der Leyen know the answer to it?",
            "dentist",
            "Was it open?",
            "",
        ] {
            assert!(!is_abroad(text), "{text}");
        }
        assert!(SHARED.iter().all(|word| is_filler(word.as_bytes())) && ABROAD.iter().all(|word| !is_filler(word.as_bytes())));
    }
}
