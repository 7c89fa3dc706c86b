//! Values in other languages beside English: "my phone is kaputt", "my wife is \u{c4}rztin", "my boss is im Urlaub". Each says how
//! something or somebody is, and is not its name.

use super::lists::lists;
use super::values::{is_of_living, last};
use super::words::{Word, among};

lists! { "elsewhere":
    /// Adjectives of other languages that say how something is: "kaputt".
    pub(super) OTHER_STATES,
    /// Words of other languages behind which a place or a state follows ("im Urlaub"), and no name of English.
    OTHER_PREPOSITIONS,
    /// Words behind which a place or a state follows, as in [`OTHER_PREPOSITIONS`], that are words of English or names as well. Of
    /// somebody, and of whom they work for, an article follows.
    LOOSE_PREPOSITIONS,
    /// Articles of other languages, and words in their place.
    OTHER_ARTICLES,
    /// Words of other languages for what somebody is: trades, peoples, and what they eat.
    OTHER_TRADES,
    /// Trades of other languages that are family names with a capital.
    OTHER_NAMES,
    /// Attributes that are devices and vehicles. A model is seldom called as a state of another language is.
    DEVICES,
    /// Attributes of which any word may be the name.
    CHOSEN,
}

/// "kaputt", "im Urlaub", "en el taller": how something is in another language. A date has digits ("am 3. Mai"), a cat may be called
/// Moe, and a film "Kaputt".
pub(super) fn is_state_elsewhere(attribute: &str, own: &[Word]) -> bool {
    let (first, counts) = (&own[0], own.iter().any(|word| word.lower.bytes().any(|byte| byte.is_ascii_digit())));
    let has_article = || among(&OTHER_ARTICLES, &own[1].lower);
    let is_loose = || among(&LOOSE_PREPOSITIONS, &first.lower) && (!may_be_called(attribute) || has_article());
    let leads = !first.capital && own.len() > 1 && !counts && (among(&OTHER_PREPOSITIONS, &first.lower) || is_loose());
    let is_plain = own.len() == 1
        && among(&OTHER_STATES, &first.lower)
        && !among(&CHOSEN, last(attribute))
        && (!first.capital || among(&DEVICES, last(attribute)));
    leads || is_plain
}

/// Whether an attribute is somebody, or what has a name that anybody chose: "au bon pain", "mit media lab".
fn may_be_called(attribute: &str) -> bool {
    const HOUSES: [&str; 9] = ["school", "university", "restaurant", "bakery", "hotel", "caf\u{e9}", "cafe", "bar", "band"];
    let last = last(attribute);
    is_of_living(attribute) || among(&CHOSEN, last) || among(&HOUSES, last)
}

/// Whether a word says in another language what somebody is. With a capital some are family names.
pub(super) fn is_trade_elsewhere(word: &str, capital: bool) -> bool {
    among(&OTHER_TRADES, word) || !capital && among(&OTHER_NAMES, word)
}

#[cfg(test)]
mod tests {
    use super::super::values::identifies;

    #[test]
    fn a_state_of_another_language_is_a_name_where_one_is_likelier() {
        for (attribute, value) in [
            ("phone", "kaputt"),
            ("phone", "Kaputt"),
            ("boss", "krank"),
            ("wife", "lehrer"),
            ("wife", "en el hospital"),
            ("boss", "bei der Arbeit"),
            ("boss", "im Urlaub"),
            ("car", "en reparaci\u{f3}n"),
            ("laptop", "bei Tom"),
            ("wife", "\u{c4}rztin"),
        ] {
            assert!(!identifies(attribute, value), "{attribute} is {value}");
        }
        for (attribute, value) in [
            ("boss", "Schweizer"),
            ("boss", "Doktor"),
            ("manager", "Lehrer"),
            ("boss", "Moe"),
            ("bike", "Kona"),
            ("band", "Kaputt"),
            ("employer", "WEG"),
            ("employer", "Knapp"),
            ("employer", "knapp"),
            ("city", "Rota"),
            ("hometown", "Leer"),
            ("username", "weg"),
            ("handle", "moe"),
            ("boss", "bei li"),
            ("wife", "alla smith"),
            ("sister", "em jones"),
            ("employer", "mit media lab"),
            ("employer", "au bon pain"),
        ] {
            assert!(identifies(attribute, value), "{attribute} is {value}");
        }
    }
}
