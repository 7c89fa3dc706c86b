//! A sentence in which somebody introduces themselves, part by part: "I'm Hannah, | 34, | living in Leeds | with my husband Tom", "I'm Raj, |
//! SRE at Finlo". The name stays when the rest changes, so each part is a claim of its own, read as a sentence that says it whole.
//!
//! Here is also who is spoken of by a pronoun: "Beth lives in Bristol. | She's allergic to shellfish" needs the sentence before it.

use super::compose::claimed;
use super::guards::{self, Guard};
use super::named::{health_of_somebody, somebody};
use super::reading::Reading;
use super::rest::BESIDE;
use super::sentence::Sentence;
use super::told::TRADES;
use super::words::{Span, Word, among, within};
use super::{Category, Claim, Utterance, family, frames, judge, rules};

/// Words up to the end of the name at most: "my friends call me Ana Maria, ...".
const MOST_NAME: usize = 8;
/// First words of a part that says nothing of its speaker.
const COURTESIES: [&str; 25] = [
    "nice", "pleased", "glad", "good", "great", "hi", "hello", "hey", "thanks", "thank", "here", "how", "sorry", "just", "your", "please",
    "let's", "what", "can", "not", "btw", "ps", "fyi", "ok", "ha",
];
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
    let (mut claims, mut unread) = (Vec::new(), Vec::new());
    let mut from = first;
    while from < end {
        let to = (from + 1..end).find(|at| s.parted(*at)).unwrap_or(end);
        let part = Sentence { text: said.text, words: &s.words[from..to] };
        let begun = claims.len();
        for (text, accepts) in told(&part, from == first) {
            let read = judge(&Utterance { text: &text, speaker: said.speaker, before: "", after: "", at: said.at });
            claims.extend(read.into_iter().filter(|claim| accepts.accept(claim)));
        }
        // A memory is known by its place in the message, so no two begin at the same word.
        for (place, claim) in claims[begun..].iter_mut().enumerate() {
            claim.span = (s.words[(from + place).min(to - 1)].start, s.words[to - 1].end);
        }
        let says = to > from + 1 || !unread.is_empty() || part.words[0].capital;
        if claims.len() == begun && says && !among(&COURTESIES, part.word(0)) {
            unread.push((from, to));
        }
        from = to;
    }
    if let (Some((from, _)), Some((_, to))) = (unread.first(), unread.last()) {
        let parts: Vec<String> = unread.iter().filter_map(|(from, to)| s.between(*from, *to)).map(|part| trimmed(&part)).collect();
        // "A potter from Bruges" stands alone.
        let is_one = ["a", "an"].contains(&s.word(*from));
        let who = if is_one { "I'm".to_owned() } else { format!("{},", trimmed(&name.between(0, first)?)) };
        let text = format!("{who} {}", parts.join(", "));
        let span = Span { start: s.words[*from].start, end: s.words[*to - 1].end };
        claims.push(claimed(said, span, &s.words[*from..*to], Reading::new(Category::Semantic, BESIDE).text(text), None));
    }
    if claims.is_empty() {
        return None;
    }
    claims.insert(0, claimed(said, Span { start: name.words[0].start, end: name.words[first - 1].end }, name.words, reading, None));
    Some(claims)
}

/// The claims of a sentence that was made of a part which are taken.
#[derive(Debug, Clone, Copy)]
enum Taken {
    /// Those of a rule.
    Read,
    /// Those of health alone.
    OfHealth,
}

impl Taken {
    fn accept(self, claim: &Claim) -> bool {
        let rule = claim.reason.strip_prefix("rule: ").filter(|_| claim.doubt.is_none());
        rule.is_some_and(|rule| matches!(self, Self::Read) || ["allergy", "health", "diet"].contains(&rule))
    }
}

/// The sentences that say of the speaker what a part says: "34" where it is the `first` part, "living in Leeds", "a nurse", "SRE at Finlo".
fn told(part: &Sentence<'_>, first: bool) -> Vec<(String, Taken)> {
    const STATES: [&str; 6] = ["living in", "working at", "working for", "from", "originally from", "married"];
    let part =
        &Sentence { text: part.text, words: &part.words[usize::from(part.words.len() > 1 && ["and", "but"].contains(&part.word(0)))..] };
    let end = part.words.len();
    let text = |from: usize, to: usize| trimmed(&part.between(from, to).unwrap_or_default());
    if part.word(0).parse().is_ok_and(|age: u32| age < 120) && (end == 1 || part.behind(1, &["years old", "yo"]) == Some(end)) {
        let age = format!("I'm {} years old.", part.word(0));
        return if first { vec![(age, Taken::Read)] } else { Vec::new() };
    }
    if ["my", "our", "please", "always", "never", "keep", "use", "call"].contains(&part.word(0)) {
        return vec![(format!("{}.", text(0, end)), Taken::Read)];
    }
    if part.behind(0, &STATES).is_some() {
        return vec![(format!("I'm {}.", text(0, end)), Taken::Read)];
    }
    let worked = worked(part);
    let is_clause = part.words.iter().any(|word| among(&OF_A_CLAUSE, &word.lower));
    if worked.is_empty() && !is_clause { vec![(format!("I'm {}.", text(0, end)), Taken::OfHealth)] } else { worked }
}

/// Words of a part that is a clause of its own: "he has diabetes".
const OF_A_CLAUSE: [&str; 12] = ["he", "she", "they", "it", "who", "is", "are", "has", "have", "you", "can", "his"];

/// The trade of somebody, and for whom they work: "a nurse", "SRE at Finlo on the payments team". A trade ends the words before "at", which name
/// nobody else: "former teacher" and "looking for a nurse" are none of the speaker's.
fn worked(part: &Sentence<'_>) -> Vec<(String, Taken)> {
    const NONE: [&str; 32] = [
        "not", "former", "formerly", "ex", "my", "your", "our", "his", "her", "their", "like", "son", "daughter", "mum", "mom", "mother",
        "father", "wife", "husband", "of", "is", "was", "for", "with", "the", "no", "future", "retired", "aspiring", "work", "friend",
        "new",
    ];
    let end = part.words.len();
    let from = usize::from(["a", "an"].contains(&part.word(0)));
    let at = (from + 1..end.saturating_sub(1)).find(|at| part.word(*at) == "at");
    let job = at.unwrap_or(end);
    // "A nurse from Porto"
    let trade_end = (from + 1..job).find(|at| ["from", "in", "on", "based"].contains(&part.word(*at))).unwrap_or(job);
    let is_trade = (from + 1..=from + 4).contains(&trade_end) && among(&TRADES, part.word(trade_end - 1));
    let is_own = |word: &Word| !among(&NONE, &word.lower) && !word.lower.ends_with("ing");
    if !is_trade || !part.words[from..trade_end].iter().all(is_own) {
        return Vec::new();
    }
    let text = |from: usize, to: usize| trimmed(&part.between(from, to).unwrap_or_default());
    let works = (format!("I work as {}.", text(0, job)), Taken::Read);
    let Some(at) = at else { return vec![works] };
    // "At a logistics company called Freightly"
    let called = (at + 2..end.saturating_sub(1)).find(|at| ["called", "named"].contains(&part.word(*at)));
    let firm = called.unwrap_or(at) + 1;
    let over = (firm..end).find(|at| !part.words[*at].capital).unwrap_or(end);
    let is_firm = over > firm && (over == end || ["on", "in", "for"].contains(&part.word(over)));
    // "The manager at Tesco yelled at me" tells of something else, and "a nurse at a clinic" names no employer.
    match (is_firm, part.words[at + 1].capital) {
        (true, _) => vec![works, (format!("I work at {}.", text(firm, end)), Taken::Read)],
        (false, true) => Vec::new(),
        (false, false) => vec![works],
    }
}

/// A part without the signs behind it.
fn trimmed(part: &str) -> String {
    part.trim_end_matches([',', ';', '.', ' ']).to_owned()
}

/// The claim of a sentence about the health of somebody by a pronoun, whom the sentence before it names, in words that name them: "My best
/// friend is Anna. | She has celiac disease" tells that Anna has it.
pub(super) fn of_pronoun(said: &Utterance<'_>, before: Option<Span>, span: Span, own: &[Word]) -> Option<Claim> {
    let words = within(own, span);
    let s = &Sentence { text: said.text, words };
    health_of_somebody(s)?;
    let before = before.filter(|before| !said.text[before.start..before.end].ends_with('?'))?;
    if guards::of_sentence(said.text, span, words) != Guard::Open {
        return None;
    }
    let who = named(&Sentence { text: said.text, words: within(own, before) })?;
    let verb = if s.word(0).ends_with("'s") { "'s" } else { "" };
    let text = format!("{who}{verb} {}", s.between(1, words.len())?);
    let read = judge(&Utterance { text: &text, speaker: said.speaker, before: "", after: "", at: said.at });
    let [claim] = <[Claim; 1]>::try_from(read).ok()?;
    (claim.category != Category::Discard).then_some(Claim { span: (span.start, span.end), ..claim })
}

/// Whom a sentence is about, as it names them: "Beth", "my son Leo", "Anna" of "my best friend is Anna".
fn named(s: &Sentence<'_>) -> Option<String> {
    let Some((_, behind)) = family::subject(s) else {
        let behind = somebody(s).filter(|behind| is_verb(s.word(*behind)))?;
        return s.between(0, behind);
    };
    if s.word(behind - 1).ends_with("'s") {
        return None; // "my wife's birthday is May 3"
    }
    let is = ["is", "'s"].contains(&s.word(behind)) && s.words.get(behind + 1).is_some_and(|name| name.capital);
    let ends = s.words.get(behind + 2).is_none_or(|next| next.is_mark() || s.parted(behind + 2));
    if is { s.between(behind + 1, behind + 2).filter(|_| ends) } else { s.between(0, behind) }.map(|who| trimmed(&who))
}

/// Whether a word behind a name is a verb: "Beth | lives in Bristol", and not "Write | an email".
fn is_verb(word: &str) -> bool {
    const VERBS: [&str; 10] = ["is", "has", "was", "isn't", "can't", "came", "went", "got", "left", "does"];
    among(&VERBS, word) || word.len() > 3 && (word.ends_with('s') && !word.ends_with("'s") || word.ends_with("ed"))
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
        let marek = told("i'm Marek, backend dev at a logistics company called Freightly, mostly python and a bit of go");
        assert_eq!(marek[1].0, "The user works as backend dev.", "{marek:?}");
        assert_eq!(marek[2], ("The user works for Freightly.".to_owned(), Some("employer".to_owned())), "{marek:?}");
        assert_eq!(marek[3].0, "i'm Marek, mostly python and a bit of go", "{marek:?}");
        for (text, says) in [
            ("I'm Ann, a nurse, allergic to penicillin.", "The user is allergic to penicillin."),
            ("Hi, I'm Ann, 34, my daughter Mia is allergic to nuts.", "The user's daughter Mia is allergic to nuts."),
            ("I'm Ann, 40, and my email is bob@x.org", "The user's email is bob@x.org."),
            ("I'm Ann, mum of Leo, 7.", "I'm Ann, mum of Leo, 7"),
            ("I'm Jo, the manager at Tesco yelled at me.", "I'm Jo, the manager at Tesco yelled at me"),
        ] {
            let texts: Vec<String> = told(text).into_iter().map(|(text, _)| text).collect();
            assert!(texts.iter().any(|one| one.starts_with(says)), "{text}: {texts:?}");
        }
        for text in
            ["I'm Jo, former teacher", "I'm Jo, looking for a nurse", "I'm Jo, your SRE", "I'm Jo, Leeds, UK", "I'm Jo, son of a teacher"]
        {
            assert!(!slots(text).contains(&"occupation".to_owned()), "{text}: {:?}", told(text));
        }
        let frank = told("I'm Frank, 74, used to be a ship's engineer");
        assert_eq!(frank[2].0, "I'm Frank, used to be a ship's engineer", "{frank:?}");
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
        assert!(texts(beth).contains(&"Beth's allergic to shellfish".to_owned()), "{:?}", texts(beth));
        for (text, says) in [
            ("Tom came over. He can't eat gluten.", "Tom can't eat gluten"),
            ("My best friend is Anna. She has celiac disease.", "Anna has celiac disease"),
            ("My son Leo is 7. He has asthma.", "My son Leo has asthma"),
        ] {
            let claims = stored(text);
            assert!(claims.iter().any(|claim| claim.text == says && claim.slot.is_none()), "{text}: {claims:?}");
        }
        for text in [
            "Write an email to Anna. She has asthma.",
            "In the movie Up, Carl is old. He has diabetes.",
            "My wife's birthday is May 3. She has asthma.",
        ] {
            assert!(!stored(text).iter().any(|claim| claim.reason == "rule: health of others"), "{text}: {:?}", stored(text));
        }
        assert!(!texts("I went to Bristol. He's vegan.").iter().any(|text| text.contains("Bristol's")));
        assert!(!texts("Who is Tom? He's vegan.").iter().any(|text| text.contains("Who")), "{:?}", texts("Who is Tom? He's vegan."));
    }
}
