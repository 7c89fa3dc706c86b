//! A given name behind a greeting, by its place alone: "hi, it's Yusuf", "Salam, Yusuf here", "Hi, Petra, backend dev". `introduction` and
//! `told` have those that say "I'm" or "my name is".

use super::guards::{self, Guard};
use super::introduction::{GIVEN, MOST_OF_ONE, ends_part, worked};
use super::lists::lists;
use super::sentence::Sentence;
use super::words::{Span, Word, among, starts, within};
use super::{Claim, Utterance, judge};

lists! { "greeted":
    /// Words that greet, before a name: "Salam, Yusuf here".
    GREETS,
    /// Words behind a name that say nothing: "this is Dele btw".
    BEHIND_NAME,
    /// First words of a part that goes on behind a trade: "teacher, | in Truro".
    BEHIND_TRADE,
}

/// The claims of a sentence that gives its speaker's name behind a greeting: "hi, it's Yusuf", "Salam, Yusuf here", "Hi, Petra, backend
/// dev". It is read as "I'm Yusuf".
pub(super) fn greeted(said: &Utterance<'_>, span: Span, own: &[Word]) -> Option<Vec<Claim>> {
    let words = within(own, span);
    let s = &Sentence { text: said.text, words };
    let behind = |at: usize| GREETS.iter().filter_map(|greeting| starts(words, at, greeting)).max();
    let at = std::iter::successors(behind(0), |at| behind(*at)).last().unwrap_or(0);
    let at = at + words[at..].iter().take_while(|word| word.is_mark()).count();
    let before = within(own, Span { start: 0, end: span.start });
    let greets = |before: &[Word]| {
        GREETS.iter().any(|greeting| starts(before, 0, greeting).is_some_and(|end| before[end..].iter().all(Word::is_mark)))
    };
    let is_greeted = at > 0 && before.is_empty() || greets(before);
    let is_first = said.before.trim().is_empty() && (before.is_empty() || greets(before));
    let (name, lead) = if at > 0 && s.word(at + 1) == "here" && s.parted(at) {
        (among(&GIVEN, s.word(at)).then_some(at)?, "")
    } else {
        (calls(s, at, is_greeted, is_first).or_else(|| named_by_trade(s, at, is_greeted))?, "I'm ")
    };
    if guards::of_sentence(said.text, span, words) != Guard::Open {
        return None;
    }
    let (start, end) = (words[name].start, words.iter().rev().find(|word| !word.is_mark())?.end);
    let is_idle = calls(s, at, is_greeted, is_first).is_some();
    let text = format!("{lead}{}.", &said.text[start..if is_idle { words[name].end } else { end }]);
    let mut read = judge(&Utterance { text: &text, speaker: said.speaker, before: "", after: "", at: said.at });
    let place = |at: usize| (at + start).saturating_sub(lead.len()).clamp(start, end);
    for claim in &mut read {
        claim.span = (place(claim.span.0), place(claim.span.1));
    }
    read.iter().any(|claim| claim.slot.as_deref() == Some("name")).then_some(read)
}

/// Where the name stands in "it's Yusuf" behind a greeting, and in "this is Dele btw". It is one of the list: "hi, it's Broken" names nobody.
fn calls(s: &Sentence<'_>, at: usize, is_greeted: bool, is_first: bool) -> Option<usize> {
    let name = s.behind(at, &["it's", "it is", "its", "this is"])?;
    let word = s.words.get(name)?;
    let idle = s.behind(name + 1, &BEHIND_NAME);
    let ends = s.words[idle.unwrap_or(name + 1)..].iter().all(Word::is_mark);
    (ends && among(&GIVEN, &word.lower) && (is_greeted || is_first && idle.is_some())).then_some(name)
}

/// Where the name of the list stands in "Hi, | Petra, | backend dev at Freightly": a trade follows, and nothing that somebody else does.
fn named_by_trade(s: &Sentence<'_>, at: usize, is_greeted: bool) -> Option<usize> {
    let is_of_others = |word: &Word| ["or", "my", "our", "your", "?"].contains(&word.lower.as_str());
    let name = s.words.get(at).filter(|word| is_greeted && among(&GIVEN, &word.lower))?;
    let asks = || s.words.last().is_some_and(|last| s.text[last.end..].starts_with('?'));
    if s.words[at..].iter().any(is_of_others) || asks() {
        return None;
    }
    let is_parted = |at: usize| at == 0 || s.parted(at) || s.words[at - 1].is_mark();
    if !is_parted(at) || at + 1 >= s.words.len() || !s.parted(at + 1) || name.is_mark() {
        return None;
    }
    let (mut from, mut trades) = (at + 1, 0);
    while from < s.words.len() && !s.words[from].is_mark() {
        let to = (from + 1..s.words.len()).find(|at| ends_part(s, *at) || s.words[*at].is_mark()).unwrap_or(s.words.len());
        let part = Sentence { text: s.text, words: &s.words[from..to] };
        let is_trade = !worked(&part).is_empty();
        trades += usize::from(is_trade);
        if !is_trade && (trades == 0 || to - from > MOST_OF_ONE || !among(&BEHIND_TRADE, part.word(0)) && !part.words[0].is_number()) {
            return None;
        }
        from = to;
    }
    (trades > 0).then_some(at)
}

#[cfg(test)]
mod tests {
    use crate::gate::tests::stored;

    #[test]
    fn a_name_stands_behind_a_greeting() {
        let name = |text: &str| stored(text).into_iter().find(|claim| claim.slot.as_deref() == Some("name")).map(|claim| claim.text);
        for (text, called) in [
            ("yo it's Dele. PhD student", "Dele"),
            ("hi it's Yusuf", "Yusuf"),
            ("hey, it's petra!", "petra"),
            ("this is Anna btw", "Anna"),
            ("Salam, Yusuf here, I own two food trucks", "Yusuf"),
            ("Good evening, Omar here. I moved.", "Omar"),
            ("Hi, Petra, backend dev at Freightly", "Petra"),
            ("Hello! Zara, teacher, in Truro", "Zara"),
        ] {
            assert_eq!(name(text), Some(format!("The user's name is {called}.")), "{text}: {:?}", stored(text));
        }
        let places: Vec<usize> = stored("Hi, Petra, backend dev at Freightly").iter().map(|claim| claim.span.0).collect();
        assert!(places.len() > 1 && places.windows(2).all(|pair| pair[0] < pair[1]), "{places:?}");
        for text in [
            "it's Friday",
            "hi, it's Friday",
            "hi, it's Christmas!",
            "this is Spotify",
            "hi, this is Spotify",
            "Hi Claude, teacher here",
            "Hi, Claude, nurse here",
            "Hi Anna, thanks for the mail.",
            "Hi, Anna, thanks for the mail.",
            "Hi! Anna, nurse at Guy's, told me to ask.",
            "hello, it's me again",
            "hey it's Berlin time here",
            "this is great btw",
            "it's Anna",
            "this is Anna",
            "is this Anna btw?",
            "hi, it's Anna's birthday",
            "hi, it's Anna who told me",
            "Salam, same here",
            "Hello! Teachers, nurses, doctors",
            "Hi, Nurse, teacher",
            "hi, it's Broken",
            "hi, it's Leeds",
            "hey, it's Mum!",
            "Hi, Thanks, nurse",
            "Hi, Former, teacher, 62",
            "Hi, Tom, teacher at my school",
            "Hello, Luna, nurse or doctor?",
            "Hi, Tom, nurse?",
            "Re: order\nHi, it's Tom",
        ] {
            assert_eq!(name(text), None, "{text}");
        }
        // The words may be of a picture later in a conversation.
        let later = crate::gate::judge(&crate::gate::Utterance {
            text: "this is Anna",
            speaker: crate::gate::Speaker::User,
            before: "Here is the picture.",
            after: "",
            at: 1_735_689_600_000_000,
        });
        assert!(later.iter().all(|claim| claim.slot.is_none()), "{later:?}");
    }
}
