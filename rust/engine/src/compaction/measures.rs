//! Whether the numbers of a line have the units that its source gives them: "30 minutes" is not "30 seconds".
//!
//! A unit is one of [`UNITS`]: times, money, sizes, lengths, weights. It stands right behind its number in a line; in the source, where
//! people write "$30", "30s" and "30 to 60 seconds", before it or up to three words behind. A number that the source gives no unit may have
//! one that the source names elsewhere.

use std::collections::HashMap;

use super::check::NUMBER_WORDS;
use super::said::Said;

/// Words and signs for the same unit. A sign that stands for several is in several.
const UNITS: [&[&str]; 32] = [
    &["ms", "msec", "millis", "millisecond", "milliseconds", "millisekunde", "millisekunden"],
    &["s", "sec", "secs", "second", "seconds", "sekunde", "sekunden"],
    &["m", "min", "mins", "minute", "minutes", "minuten"],
    &["h", "hr", "hrs", "hour", "hours", "stunde", "stunden"],
    &["d", "day", "days", "tag", "tage", "tagen"],
    &["w", "wk", "wks", "week", "weeks", "woche", "wochen"],
    &["mo", "month", "months", "monat", "monate", "monaten"],
    &["y", "yr", "yrs", "year", "years", "jahr", "jahre", "jahren"],
    &["am"],
    &["pm"],
    &["$", "usd", "dollar", "dollars", "buck", "bucks"],
    &["€", "eur", "euro", "euros"],
    &["£", "gbp", "quid", "pound", "pounds", "lb", "lbs"],
    &["¥", "jpy", "yen"],
    &["chf", "franc", "francs", "franken"],
    &["cent", "cents"],
    &["%", "percent", "pct", "prozent"],
    &["b", "byte", "bytes"],
    &["k", "kb", "kib", "kilobyte", "kilobytes"],
    &["m", "mb", "mib", "megabyte", "megabytes"],
    &["g", "gb", "gib", "gigabyte", "gigabytes"],
    &["t", "tb", "tib", "terabyte", "terabytes"],
    &["mm", "millimetre", "millimetres", "millimeter", "millimeters"],
    &["cm", "centimetre", "centimetres", "centimeter", "centimeters"],
    &["m", "metre", "metres", "meter", "meters"],
    &["km", "kilometre", "kilometres", "kilometer", "kilometers"],
    &["mi", "mile", "miles", "meile", "meilen"],
    &["ft", "foot", "feet"],
    &["mcg", "µg", "ug", "microgram", "micrograms"],
    &["mg", "milligram", "milligrams"],
    &["g", "gram", "grams", "gramm"],
    &["kg", "kilo", "kilos", "kilogram", "kilograms"],
];
/// Words between a number of the source and its unit, and one more.
const REACH: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// Without its commas; number words are digits.
    Number(String),
    /// Folded, or a sign.
    Word(String),
    /// The end of a sentence.
    Stop,
}

/// The numbers and the words of a text.
#[derive(Debug)]
pub(super) struct Measures {
    tokens: Vec<Token>,
    /// The places of each number.
    numbers: HashMap<String, Vec<usize>>,
    /// The units that it names: a bit for each of [`UNITS`].
    named: u32,
}

impl Measures {
    pub(super) fn of(text: &str) -> Self {
        let (tokens, mut numbers, mut named) = (tokens(text), HashMap::<String, Vec<usize>>::new(), 0);
        for (at, token) in tokens.iter().enumerate() {
            match token {
                Token::Number(number) => numbers.entry(number.clone()).or_default().push(at),
                Token::Word(word) => named |= units_of(word),
                Token::Stop => {}
            }
        }
        Self { tokens, numbers, named }
    }
}

/// Where a number stands: a text and a place in it.
type Place<'s> = (&'s [Token], usize);

/// Holds the numbers of a line with their units against the texts of its messages.
///
/// # Errors
/// The first that has another unit there.
pub(super) fn check(text: &str, said: &[&Said]) -> Result<(), String> {
    let line = tokens(text);
    for (at, token) in line.iter().enumerate() {
        let Token::Number(number) = token else { continue };
        let places = said.iter().flat_map(|one| {
            let measures = one.measures();
            measures.numbers.get(number).into_iter().flatten().map(|place| (&*measures.tokens, *place))
        });
        let places: Vec<Place> = places.collect();
        for word in [sign_before(&line, at), word_at(&line, at + 1)].into_iter().flatten() {
            if !is_given(word, &places, said) {
                return Err(format!("the unit of \"{number} {word}\" is not in its messages"));
            }
        }
        if let Some(rate) = rate_of(&line, at)
            && !places.is_empty()
            && places.iter().all(|(said, place)| rate_of(said, *place).is_some_and(|other| !is_same(rate, other)))
        {
            return Err(format!("\"{number} per {rate}\" is not in its messages"));
        }
    }
    Ok(())
}

/// Whether the source gives a number, which stands at some places of it, the unit `word`, or another word, which is not a unit.
fn is_given(word: &str, places: &[Place], said: &[&Said]) -> bool {
    if is_unit(word) {
        let named = || said.iter().any(|one| one.measures().named & units_of(word) != 0);
        let given = |(said, place): &Place| unit_of(said, *place, REACH).map_or_else(named, |unit| is_same(word, unit));
        return places.is_empty() || places.iter().any(given);
    }
    let with_another = !places.is_empty() && places.iter().all(|(said, place)| unit_of(said, *place, 1).is_some());
    !with_another || word.len() < 4 || said.iter().any(|one| one.words().has(word))
}

fn word_at(tokens: &[Token], at: usize) -> Option<&str> {
    tokens.get(at).and_then(|token| if let Token::Word(word) = token { Some(word.as_str()) } else { None })
}

/// The sign of money right before a number.
fn sign_before(tokens: &[Token], place: usize) -> Option<&str> {
    word_at(tokens, place.checked_sub(1)?).filter(|word| ["$", "\u{20AC}", "\u{A3}", "\u{A5}"].contains(word))
}

/// The unit of a rate whose number is at `place`: that of "100 requests per second".
fn rate_of(tokens: &[Token], place: usize) -> Option<&str> {
    let per = (place + 1..=place + REACH).take_while(|at| word_at(tokens, *at).is_some()).find(|at| word_at(tokens, *at) == Some("per"))?;
    word_at(tokens, per + 1).filter(|unit| is_unit(unit))
}

/// The unit of the number at `place`.
fn unit_of(said: &[Token], place: usize, reach: usize) -> Option<&str> {
    let behind = (place + 1..=place + reach).take_while(|at| said.get(*at).is_some_and(|token| *token != Token::Stop));
    let behind = behind.filter_map(|at| word_at(said, at)).find(|word| is_unit(word));
    sign_before(said, place).or(behind)
}

fn is_unit(word: &str) -> bool {
    units_of(word) != 0
}

fn is_same(word: &str, other: &str) -> bool {
    units_of(word) & units_of(other) != 0
}

/// The units that a word stands for: a bit for each of [`UNITS`].
fn units_of(word: &str) -> u32 {
    (0..UNITS.len()).filter(|at| UNITS[*at].contains(&word)).fold(0, |all, at| all | 1 << at)
}

fn tokens(text: &str) -> Vec<Token> {
    let text = [("a.m.", "am"), ("p.m.", "pm"), ("A.M.", "am"), ("P.M.", "pm")]
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    let chars: Vec<char> = text.chars().collect();
    let (mut found, mut at) = (Vec::new(), 0);
    let run = |from: usize, goes_on: &dyn Fn(usize) -> bool| (from..chars.len()).find(|at| !goes_on(*at)).unwrap_or(chars.len());
    let is_digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
    while at < chars.len() {
        let end = match chars[at] {
            '0'..='9' => run(at, &|at| is_digit(at) || matches!(chars[at], '.' | ',') && is_digit(at + 1)),
            c if c.is_alphabetic() => run(at, &|at| chars[at].is_alphabetic()),
            _ => at + 1,
        };
        let piece = || chars[at..end].iter();
        match chars[at] {
            '0'..='9' if !is_of_a_name(&chars[..at]) => found.push(Token::Number(piece().filter(|c| **c != ',').collect())),
            c if c.is_alphabetic() => {
                let word: String = piece().flat_map(|c| c.to_lowercase()).collect();
                let number = NUMBER_WORDS.iter().find(|(name, _)| *name == word);
                found.push(number.map_or(Token::Word(word), |(_, digits)| Token::Number((*digits).to_owned())));
            }
            c @ ('$' | '€' | '£' | '¥' | '%') => found.push(Token::Word(c.into())),
            '.' | '!' | '?' | ';' | '\n' => found.push(Token::Stop),
            _ => {}
        }
        at = end;
    }
    found
}

/// Whether digits behind these characters are a part of a name: `v15`, `host-7`.
fn is_of_a_name(before: &[char]) -> bool {
    match before {
        [.., c] if c.is_alphabetic() || *c == '_' => true,
        [.., c, '-' | '/' | '.' | '#'] => c.is_alphabetic() || *c == '_',
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, said: &str) -> bool {
        check(text, &[&Said::new(said)]).is_ok()
    }

    #[test]
    fn another_unit_is_refused() {
        let source = "Increase the gateway timeout to 30 seconds. Pay Anna 100 dollars on arrival, and Bo $20.";
        for line in
            ["Timeout is 30 seconds.", "The 30-second timeout", "Anna gets 100 dollars", "Bo gets 20 dollars", "Anna gets 100 on arrival"]
        {
            assert!(said(line, source), "{line}");
        }
        for line in
            ["Timeout is 30 minutes.", "Anna gets 100 euros", "Bo gets 20 euros", "thirty hours", "the 30-minute timeout", "30 retries"]
        {
            assert!(!said(line, source), "{line}");
        }
    }

    #[test]
    fn signs_ranges_and_units_named_elsewhere_are_read() {
        assert!(said("takes 30 seconds", "it takes 30s") && !said("takes 30 minutes", "it takes 30s"));
        assert!(said("5 minutes at most", "wait 5m") && said("5 metres", "5 m of rope") && !said("5 kilometres", "5 m of rope"));
        assert!(said("from 30 seconds on", "30 to 60 seconds") && !said("from 30 hours on", "30 to 60 seconds"));
        assert!(said("a share of 5 percent", "5% of it") && !said("5 euros", "5% of it"));
        assert!(said("30 seconds", "timeouts are in seconds: set it to 30") && !said("30 hours", "set it to 30"));
        assert!(said("at 5 pm", "see you at 5pm") && !said("at 5 am", "see you at 5pm"));
        assert!(
            said("at 5 pm", "see you at 5 p.m.") && said("at 6 am", "see you at 6 a.m. sharp") && !said("at 5 am", "see you at 5 p.m.")
        );
    }

    #[test]
    fn signs_of_money_and_rates_are_units() {
        assert!(said("the plan costs $30", "it costs $30") && said("it costs $30", "30 dollars, they said"));
        assert!(!said("it costs \u{20AC}30", "it costs $30") && !said("it costs $30", "it is 30 euros"));
        assert!(said("5% of $30", "$30, and 5% of it"));
        let limits = "The API allows 100 requests per minute, and 5 uploads per day.";
        assert!(said("100 requests per minute", limits) && said("5 uploads per day", limits) && said("100 requests", limits));
        assert!(!said("100 requests per second", limits) && !said("5 uploads per hour", limits));
        assert!(said("100 calls per second", "the limit is 100 calls"), "the source names no rate");
    }

    #[test]
    fn numbers_without_a_unit_stand_before_any_word() {
        let source = "Let us use Postgres 15 on host-7. payments-api listens on port 8443.";
        for line in ["Postgres 15 chosen", "Port 8443 serves payments-api", "host-7 runs Postgres 15", "8443 days"] {
            assert_eq!(said(line, source), !line.ends_with("days"), "{line}");
        }
    }
}
