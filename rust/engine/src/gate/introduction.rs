//! A sentence in which somebody introduces themselves, part by part: "I'm Hannah, | 34, | living in Leeds | with my husband Tom", "I'm Raj, |
//! SRE at Finlo". The name stays when the rest changes, so each part is a claim of its own, read as a sentence that says it whole.
//!
//! Here is also who is spoken of by a pronoun: "Beth lives in Bristol. | She's allergic to shellfish" needs the sentence before it.

use super::compose::claimed;
use super::guards::{self, Guard};
use super::named::health_of_somebody;
use super::sentence::Sentence;
use super::told::TRADES;
use super::words::{Span, Word, among, within};
use super::{Claim, Utterance, frames, judge, rules};

/// Words up to the end of the name at most: "my friends call me Ana Maria, ...".
const MOST_NAME: usize = 8;
/// Words of such a sentence at most.
const MOST_WORDS: usize = 30;

/// The claims of a sentence that introduces its speaker and says more than the name, where rules read what it says more.
pub(super) fn introduced(said: &Utterance<'_>, span: Span, own: &[Word]) -> Option<Vec<Claim>> {
    let words = within(own, span);
    let whole = Sentence { text: said.text, words };
    let s = Sentence { text: said.text, words: &words[rules::preamble(&whole)..] };
    let end = s.words.iter().rposition(|word| !word.is_mark())? + 1;
    let goes_on = |word: &Word| ["i", "i'm", "i've", "we", "we're", "we've", "?"].contains(&word.lower.as_str());
    let first = (2..end.min(MOST_NAME)).find(|at| s.parted(*at))?;
    if end > MOST_WORDS || s.words[first..].iter().any(goes_on) {
        return None;
    }
    let name = Sentence { text: said.text, words: &s.words[..first] };
    let reading = rules::read(&name).filter(|reading| ["introduction", "name"].contains(&reading.rule))?;
    if guards::of_sentence(said.text, span, words) != Guard::Open || frames::frame(&whole).is_some() {
        return None;
    }
    let mut claims = Vec::new();
    let mut from = first;
    while from < end {
        let to = (from + 1..end).find(|at| s.parted(*at)).unwrap_or(end);
        let part = Sentence { text: said.text, words: &s.words[from..to] };
        let first = claims.len();
        for text in told(&part) {
            let read = judge(&Utterance { text: &text, speaker: said.speaker, before: "", after: "", at: said.at });
            let is_read = |claim: &Claim| claim.reason.starts_with("rule: ") && claim.doubt.is_none();
            claims.extend(read.into_iter().filter(is_read));
        }
        // A memory is known by its place in the message, so no two begin at the same word.
        for (place, claim) in claims[first..].iter_mut().enumerate() {
            claim.span = (s.words[(from + place).min(to - 1)].start, s.words[to - 1].end);
        }
        from = to;
    }
    if claims.is_empty() {
        return None;
    }
    claims.insert(0, claimed(said, Span { start: name.words[0].start, end: name.words[first - 1].end }, name.words, reading, None));
    Some(claims)
}

/// What a part says of its speaker, in sentences: "34", "living in Leeds", "a nurse", "SRE at Finlo".
fn told(part: &Sentence<'_>) -> Vec<String> {
    const STATES: [&str; 8] = ["living in", "based in", "working at", "working for", "from", "originally from", "married", "vegetarian"];
    let end = part.words.len();
    let text = |from: usize, to: usize| part.between(from, to).unwrap_or_default().trim_end_matches([',', ';', '.', ' ']).to_owned();
    let is_age = part.words[0].is_number() && part.word(0).len() <= 3 && (end == 1 || part.word(1).starts_with("year"));
    if is_age {
        return vec![format!("I'm {} years old.", part.word(0))];
    }
    if part.behind(0, &STATES).is_some() {
        return vec![format!("I'm {}.", text(0, end))];
    }
    let from = usize::from(["a", "an", "the"].contains(&part.word(0)));
    let at = (from + 1..end.saturating_sub(1)).find(|at| part.word(*at) == "at" && part.words[at + 1].capital);
    let job = at.unwrap_or(end);
    let is_trade = part.words[from..job].iter().any(|word| among(&TRADES, &word.lower) || is_initials(part.text, word));
    if !is_trade || job - from > 4 {
        return Vec::new();
    }
    let works = format!("I work as {}.", text(from, job));
    at.map_or_else(|| vec![works.clone()], |at| vec![works.clone(), format!("I work at {}.", text(at + 1, end))])
}

/// Whether a word is written in capitals: "SRE", "CTO".
fn is_initials(text: &str, word: &Word) -> bool {
    let letters = &text[word.start..word.end];
    (2..=4).contains(&letters.len()) && letters.bytes().all(|letter| letter.is_ascii_uppercase())
}

/// The claim of a sentence about the health of somebody whom the sentence before it names.
pub(super) fn of_pronoun(said: &Utterance<'_>, before: Option<Span>, span: Span, own: &[Word]) -> Option<Claim> {
    let words = within(own, span);
    let reading = health_of_somebody(&Sentence { text: said.text, words })?;
    let before = before
        .filter(|before| within(own, *before).iter().any(|word| word.capital) && !said.text[before.start..before.end].ends_with('?'))?;
    if guards::of_sentence(said.text, span, words) != Guard::Open {
        return None;
    }
    let text = format!("{} {}", &said.text[before.start..before.end], &said.text[span.start..span.end]);
    Some(claimed(said, span, words, reading.text(text), None))
}

#[cfg(test)]
mod tests {
    use crate::gate::tests::stored;

    #[test]
    fn an_introduction_is_parted() {
        let told =
            |text: &str| -> Vec<(String, Option<String>)> { stored(text).into_iter().map(|claim| (claim.text, claim.slot)).collect() };
        let slots = |text: &str| -> Vec<String> { told(text).into_iter().map(|(_, slot)| slot.unwrap_or_default()).collect() };
        assert_eq!(slots("Hi, I'm Raj, SRE at Finlo on the payments team."), ["name", "occupation", "employer"]);
        let hannah = told("Hi, I'm Hannah, 34, living in Leeds with my husband Tom");
        assert_eq!(hannah[0], ("The user's name is Hannah.".to_owned(), Some("name".to_owned())), "{hannah:?}");
        assert_eq!(hannah[1], ("The user is 34 years old.".to_owned(), Some("age".to_owned())), "{hannah:?}");
        assert_eq!(hannah[2], ("The user lives in Leeds.".to_owned(), Some("home".to_owned())), "{hannah:?}");
        assert_eq!(slots("My name is Ana, a nurse from Porto"), ["name", "occupation"]);
        for text in
            ["I'm Sam, nice to meet you", "I'm Sam, your new colleague", "I'm Sam, and I live in Leeds", "I'm tired, 34 tickets left"]
        {
            assert!(told(text).len() < 3, "{text}: {:?}", told(text));
        }
    }

    #[test]
    fn a_pronoun_has_the_name_that_stands_before_it() {
        let texts = |text: &str| -> Vec<String> { stored(text).into_iter().map(|claim| claim.text).collect() };
        let beth = "Beth lives in Bristol btw. she's allergic to shellfish";
        assert!(texts(beth).contains(&beth.to_owned()), "{:?}", texts(beth));
        assert!(texts("Tom came over. He can't eat gluten.").contains(&"Tom came over. He can't eat gluten.".to_owned()));
        assert!(!texts("Who is Tom? He's vegan.").iter().any(|text| text.contains("Who")), "{:?}", texts("Who is Tom? He's vegan."));
    }
}
