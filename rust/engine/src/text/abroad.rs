//! Whether a text is in another language than English, by its small words: rules that compare English words leave it alone.

use super::filler::{self, number_of, packed};

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
static PACKED_SHARED: [u64; SHARED.len()] = packed(&SHARED);

/// Whether a text has more small words of other languages, or words with accents, than small words of English alone. A capital within it
/// begins a name, and so does a small word between two capitals belong to one: "Las Vegas", "Zo\u{eb}", "Acqua di Gio".
pub(crate) fn is_abroad(text: &str) -> bool {
    let (mut abroad, mut english, mut from) = (0, 0, 0);
    let mut words = std::iter::from_fn(|| next_word(text, &mut from)).take(MOST_WORDS).peekable();
    let (mut is_first, mut is_behind_name, has_accents) = (true, false, !text.is_ascii());
    while let Some(word) = words.next() {
        let number = number_of(word);
        let is_one_of = |packed: &[u64]| number.is_some_and(|number| packed.binary_search(&number).is_ok());
        let is_small = word.starts_with(char::is_lowercase);
        let is_accented = || has_accents && word.contains(|letter| ('\u{c0}'..='\u{24f}').contains(&letter));
        let mut is_of_name = || is_behind_name && words.peek().is_some_and(|next| next.starts_with(char::is_uppercase));
        // No word of English alone is one of the others, or has an accent.
        if is_one_of(&filler::PACKED) {
            english += usize::from(word == "I" || !is_one_of(&PACKED_SHARED));
        } else {
            let may_count = is_small && !is_of_name() || is_first;
            abroad += usize::from(may_count && is_one_of(&PACKED) || is_small && is_accented());
        }
        (is_first, is_behind_name) = (false, !is_small);
    }
    abroad > english
}

/// The next run of letters from there on. Bytes of ASCII are compared as bytes.
#[inline]
fn next_word<'t>(text: &'t str, from: &mut usize) -> Option<&'t str> {
    let bytes = text.as_bytes();
    let is_other = |byte: &u8| byte.is_ascii() && !byte.is_ascii_alphabetic();
    let begin = *from + bytes[*from..].iter().take_while(|byte| is_other(byte)).count();
    let end = begin + bytes[begin..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    if bytes.get(end).is_none_or(u8::is_ascii) {
        *from = end;
        return Some(&text[begin..end]).filter(|word| !word.is_empty());
    }
    *from = begin;
    next_of_any_letters(text, from)
}

/// The next run of letters from there on, where one of them is beyond ASCII.
#[inline(never)]
fn next_of_any_letters<'t>(text: &'t str, from: &mut usize) -> Option<&'t str> {
    let rest = text[*from..].trim_start_matches(|letter: char| !letter.is_alphabetic());
    let word = rest.split(|letter: char| !letter.is_alphabetic()).next()?;
    *from = text.len() - rest.len() + word.len();
    Some(word).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_letters() {
        for text in [
            "",
            " - ",
            "It's 5 o'clock, (now)!",
            "Zo\u{eb} \u{e0} l'\u{e9}t\u{e9}\u{2019}s caf\u{e9}",
            "\u{201c}quoted\u{201d} \u{2026}",
            "\u{2026}",
            "a\u{301}b x\u{4e2d}\u{6587}y\u{a0}z\u{1f600}",
            "\u{ff21}1\u{aa}",
        ] {
            let mut from = 0;
            let words: Vec<&str> = std::iter::from_fn(|| next_word(text, &mut from)).collect();
            let letters = text.split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty());
            assert_eq!(words, letters.collect::<Vec<_>>(), "{text:?}");
        }
    }

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
        assert!(
            SHARED.iter().all(|word| filler::is_filler(word.as_bytes())) && ABROAD.iter().all(|word| !filler::is_filler(word.as_bytes()))
        );
    }
}
