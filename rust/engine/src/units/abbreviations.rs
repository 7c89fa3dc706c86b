//! Where a full stop ends no sentence: behind an abbreviation, and behind the number of a day before its month ("3. Mai"). Of English and
//! of languages that are written beside it.

use super::calendar::{MONTHS, is_named, is_short_month};

/// Abbreviations behind which a sentence goes on, whatever follows.
const SHORT: [&str; 39] = [
    "mr", "mrs", "ms", "dr", "dra", "st", "e.g", "i.e", "vs", "no", "approx", "prof", "sr", "sra", "srta", "aprox", "inkl", "bzw", "ggf",
    "evtl", "vgl", "bspw", "z.b", "d.h", "u.a", "o.a", "m.in", "t.ex", "p.ex", "bijv", "dhr", "mevr", "mme", "mlle", "dott", "dpto",
    "depto", "zob", "cca",
];
/// Those behind which it goes on with a number.
const NUMBERED: [&str; 18] = [
    "max", "min", "m\u{E1}x", "m\u{ED}n", "ca", "env", "nr", "num", "n\u{FA}m", "tel", "t\u{E9}l", "ust", "pag", "p\u{E1}g", "blz", "kl",
    "godz", "incl",
];
/// Abbreviations before a number that are names with a capital within a sentence.
const NAMES: [&str; 3] = ["max", "min", "ca"];
/// Those behind which it goes on with a name. They have a capital.
const NAMED: [&str; 7] = ["hr", "hrn", "fr", "frl", "ing", "lic", "pza"];
/// Those of streets, behind which their number or their name follows; behind one with a capital only where it is told where it is, by one
/// of [`AT`] before it or by a number behind its name.
const STREETS: [&str; 5] = ["str", "ul", "av", "avda", "avd"];
/// Words before a street.
const AT: [&str; 14] = ["on", "at", "in", "to", "near", "from", "en", "na", "an", "der", "la", "de", "przy", "p\u{E5}"];
/// Words behind which such a word is what something is called.
const CALLS: [&str; 7] = ["is", "called", "named", "a", "an", "type", "element"];
/// Words before the number of a day.
const BEFORE_DAY: [&str; 9] = ["on", "am", "den", "der", "the", "til", "le", "el", "dnia"];
/// Verbs behind a month that is a name: "2. Mai is my wife".
const VERBS: [&str; 28] = [
    "is", "was", "are", "were", "has", "had", "have", "lives", "lived", "works", "worked", "likes", "loves", "hates", "plays", "wants",
    "needs", "goes", "went", "comes", "came", "will", "can", "does", "did", "s", "isn", "and",
];
/// Months of other languages as they stand behind the number of a day.
const OTHER_MONTHS: [&str; 102] = [
    "januar",
    "j\u{E4}nner",
    "februar",
    "feber",
    "m\u{E4}rz",
    "mai",
    "juni",
    "juli",
    "oktober",
    "dezember", // German
    "januari",
    "februari",
    "maart",
    "mei",
    "augustus",
    "december", // Dutch
    "mars",
    "marts",
    "maj",
    "augusti",
    "desember", // Swedish, Danish and Norwegian
    "jan\u{FA}ar",
    "febr\u{FA}ar",
    "apr\u{ED}l",
    "ma\u{ED}",
    "j\u{FA}n\u{ED}",
    "j\u{FA}l\u{ED}",
    "\u{E1}g\u{FA}st",
    "n\u{F3}vember",
    "okt\u{F3}ber",
    "stycznia",
    "lutego",
    "marca",
    "kwietnia",
    "maja",
    "czerwca",
    "lipca",
    "sierpnia",
    "wrze\u{15B}nia",
    "pa\u{17A}dziernika",
    "listopada",
    "grudnia", // Polish
    "ledna",
    "\u{FA}nora",
    "b\u{159}ezna",
    "dubna",
    "kv\u{11B}tna",
    "\u{10D}ervna",
    "\u{10D}ervence",
    "srpna",
    "z\u{E1}\u{159}\u{ED}",
    "\u{159}\u{ED}jna",
    "listopadu",
    "prosince",
    "kv\u{11B}ten",
    "kv\u{11B}tnu", // Czech
    "janu\u{E1}ra",
    "febru\u{E1}ra",
    "apr\u{ED}la",
    "m\u{E1}ja",
    "j\u{FA}na",
    "j\u{FA}la",
    "augusta",
    "septembra",
    "okt\u{F3}bra",
    "novembra",
    "decembra", // Slovak
    "januarja",
    "februarja",
    "aprila",
    "junija",
    "julija",
    "avgusta",
    "oktobra", // Slovene
    "sije\u{10D}nja",
    "velja\u{10D}e",
    "o\u{17E}ujka",
    "travnja",
    "svibnja",
    "lipnja",
    "srpnja",
    "kolovoza",
    "rujna",
    "studenoga",
    "prosinca",
    "tammikuuta",
    "helmikuuta",
    "maaliskuuta",
    "huhtikuuta",
    "toukokuuta",
    "kes\u{E4}kuuta",
    "hein\u{E4}kuuta",
    "elokuuta",
    "syyskuuta",
    "lokakuuta",
    "marraskuuta",
    "joulukuuta", // Finnish
    "mrz",
    "okt",
    "dez", // in short
    "jaanuar",
    "veebruar", // Estonian
];

/// Whether the full stop between two parts of a text ends no sentence. The first is the sentence as far as it goes.
#[must_use]
pub(crate) fn goes_on(before: &str, behind: &str) -> bool {
    let mut tokens = before.rsplit(char::is_whitespace);
    let word = tokens.next().unwrap_or_default().trim_start_matches(['(', '[', '"', '\u{201C}', '\u{201E}', '\u{AB}']);
    let behind = behind.trim_start_matches([' ', '\u{A0}']);
    if word.is_empty() || behind.is_empty() {
        return false;
    }
    let last = tokens.find(|token| !token.is_empty());
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        let says_am = last == Some("am") && tokens.find(|token| !token.is_empty()).is_some_and(|subject| subject.eq_ignore_ascii_case("i"));
        let is_day = |last: &str| BEFORE_DAY.contains(&last) && !says_am || is_named(last);
        return word.len() <= 2 && last.is_some_and(|last| is_of_month(behind, is_day(&last.trim_end_matches(',').to_lowercase())));
    }
    let lower = word.to_lowercase();
    let listed = |list: &[&str]| list.contains(&lower.as_str());
    if listed(&SHORT) || lower == "ex" && last.is_some_and(|last| ["p.", "P."].contains(&last)) {
        return true;
    }
    let next = |is: fn(char) -> bool| behind.starts_with(is);
    let (capital, shouted) = (word.starts_with(char::is_uppercase), !word.chars().any(char::is_lowercase));
    let before = last.unwrap_or_default().to_lowercase();
    let (is_short, is_compound) =
        (listed(&STREETS) && !CALLS.contains(&before.as_str()), capital && lower.len() > 4 && lower.ends_with("str"));
    let is_plain = last.is_none() || !(capital && listed(&NAMES));
    let counts = lower == "min" && last.is_some_and(|last| last.starts_with(|sign: char| sign.is_ascii_digit())); // "10 min. 3 of us left"
    let is_numbered = (is_short || is_compound || listed(&NUMBERED) && is_plain && !counts) && next(|sign| sign.is_ascii_digit());
    let has_number = behind.split(' ').nth(1).is_some_and(|word| word.starts_with(|sign: char| sign.is_ascii_digit()));
    let is_told = !capital && is_short || listed(&STREETS) && (has_number || AT.contains(&before.as_str()));
    let has_name = (capital && listed(&NAMED) || is_told) && next(char::is_uppercase);
    !shouted && (is_numbered || has_name)
}

/// Whether a text begins with a month, or with "of" and one. "May I ask" begins with none, and "Mai is my wife" only where the words before
/// the number say that it is a day.
fn is_of_month(mut text: &str, mut is_day: bool) -> bool {
    const SUBJECTS: [&str; 7] = ["i", "we", "you", "he", "she", "they", "it"];
    while let Some(rest) = text.strip_prefix("of").filter(|rest| !rest.starts_with(char::is_alphabetic)) {
        (text, is_day) = (rest.trim_start_matches(' '), true);
    }
    let (word, rest) = text.split_at(text.find(|letter: char| !letter.is_alphabetic()).unwrap_or(text.len()));
    let (word, rest) = (word.to_lowercase(), rest.trim_start_matches(' '));
    let next = rest.split(|letter: char| !letter.is_alphabetic()).find(|next| !next.is_empty()).unwrap_or_default().to_lowercase();
    let is_short = is_short_month(&word) && rest.starts_with(|sign: char| sign == '.' || sign.is_ascii_digit());
    let named = MONTHS.contains(&word.as_str()) || OTHER_MONTHS.contains(&word.as_str());
    let is_name = !is_day && VERBS.contains(&next.as_str()) || word == "may" && SUBJECTS.contains(&next.as_str());
    (is_short || named) && !is_name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_goes_on_behind_what_is_short() {
        let on = |text: &str| text.split_once('|').is_some_and(|(before, behind)| goes_on(before, behind));
        for text in [
            "it is on 3| Mai.",
            "on the 12| Oktober",
            "dnia 3| maja",
            "on the 3| of June",
            "er 3| Juni i Oslo",
            "due 24| Dez. 2026",
            "My wife is Fr| Klein",
            "Hr| Lee",
            "at Hauptstr| 5",
            "on Av| Col\u{F3}n 5",
            "na ul| Polna 5",
            "is ca| 500",
            "is max| 900",
            "Max| 4 people",
            "see Nr| 5",
            "the tel| 555 0100",
            "p. ex| Anna",
            "z.B| Anna",
            "is at Lange Str| 5",
            "pay on the 3| Mai is too late",
            "der Termin am 3| Mai is fixed",
            "on Monday, 3| Mai is free",
            "the flat in ul| Polna 5",
            "My address is Av| Col\u{F3}n 5",
            "the size is 5 av| 3",
            "Dr| Lee",
        ] {
            assert!(on(text), "{text}");
        }
        for text in [
            "We have 3| May I ask",
            "there are 3| Anna left",
            "3| Mai",
            "My son is Max| 3 of us",
            "I teach art| 2 kids came",
            "It took 1 hr| Tom left",
            "It took 10 min| 3 of us left",
            "San Jose, CA| 5 of us",
            "I love my Hr|",
            "the max| Tom left",
            "in 1990| April came",
            "my abs| 3 times",
            "I bank with ING| Tom does",
            "I have 2| Mai is my wife",
            "I am 29| Mei is my wife",
            "My son is 7| August was hot",
            "We get up at 6| June's up first",
            "My shoe size is 42| Of course I run",
            "on the 3| of us",
            "I live in San Jose, Ca| 3 kids live with me",
            "My boss is Art| 5 people report to him",
            "My friend is Sig| He lives in Porto",
            "The type is str| 3 fields use it",
            "The field is a str| Call me Tom",
            "The method is toStr| Call me Tom",
            "My instrument is a Str| 5 people play it",
            "Use to_str| 5 fields use it",
            "The element is ul| Never use ol",
            "My son is called Av| Call me Tom",
            "I live at Hauptstr| My boss is Tom",
            "I live on Elm Av| My boss is Tom",
        ] {
            assert!(!on(text), "{text}");
        }
    }
}
