//! Rules for what those whom somebody has like, do and go through ("my wife Clara hates mushrooms", "my dad had a stroke"), and for how they
//! are called where nothing else is told of them: "what can I cook for my son Max?"

use super::Category;
use super::beings::is_kin;
use super::family::subject;
use super::lists::lists;
use super::reading::Reading;
use super::sentence::Sentence;
use super::values::is_no_name;
use super::words::{Span, among};
use crate::units::calendar::is_named;

lists! { "relatives":
    /// How somebody tells what another one likes or cannot stand.
    LIKES,
    /// How somebody tells what another one does each time, or has for long.
    DOES,
    /// How somebody tells what another one went through.
    WENT_THROUGH,
    /// Words behind these that make a moment of it: "my son got a lift".
    PASSES,
    /// Words before such a verb that leave it what it is.
    BESIDE,
}

/// Words before somebody that say which one of several it is.
const WHICH: [&str; 10] = ["little", "big", "older", "younger", "oldest", "youngest", "eldest", "twin", "baby", "elder"];
/// Words of such a sentence at most.
const MOST_WORDS: usize = 18;
/// Last words of a phrase that something must follow.
const LEADS: [&str; 13] = ["a", "an", "the", "his", "her", "their", "to", "from", "of", "with", "at", "in", "for"];
/// Verbs that nothing need follow.
const WHOLE: [&str; 3] = ["graduated", "retired", "quit"];
/// Places behind a verb where a word may make a moment of it.
const NEAR: usize = 3;

/// The reading of a sentence about one of the family or an animal at home.
pub(super) fn of_relatives(s: &Sentence<'_>) -> Option<Reading> {
    let (_, behind) = subject(s).filter(|(being, _)| is_kin(being))?;
    let plain = s.words.iter().filter(|word| !word.is_mark()).count();
    let asks = s.words.last().is_some_and(|word| word.lower == "?") || s.words.iter().any(|word| ["if", "when"].contains(&&*word.lower));
    if s.word(behind - 1).ends_with("'s") || asks || plain > MOST_WORDS {
        return None;
    }
    let verb = behind + usize::from(among(&BESIDE, s.word(behind)));
    let told = |phrases: &[&str]| {
        let end = s.behind(verb, phrases)?;
        let goes_on = s.words.get(end).is_some_and(|next| !next.is_mark());
        let is_whole = end > verb + 1 && !among(&LEADS, s.word(end - 1)) || among(&WHOLE, s.word(verb));
        (goes_on || is_whole).then_some(())?;
        (!(end..end + NEAR).any(|at| among(&PASSES, s.word(at)))).then_some(())
    };
    if told(&LIKES).or_else(|| told(&DOES)).is_some() {
        return Some(Reading { importance: 500, ..Reading::new(Category::Semantic, "of a relative") });
    }
    let through = told(&WENT_THROUGH);
    through.map(|()| Reading { importance: 600, ..Reading::new(Category::Episodic, "what befell somebody") })
}

/// Whom a sentence only mentions by name, and the words that say so: "what can I cook for my son Max?", "my husband Paulo thinks ...". It takes
/// the place of no name that was told.
pub(super) fn called(s: &Sentence<'_>, span: Span) -> Option<(Reading, String, Span)> {
    const BEFORE: [&str; 6] = ["for", "with", "about", "and", "by", "from"];
    const BEHIND: [&str; 22] = [
        "and", "who", "is", "has", "to", "in", "on", "at", "tonight", "today", "tomorrow", "this", "next", "that", "as", "from", "because",
        "so", "when", "thinks", "says", "wants",
    ];
    const OF_WORKS: [&str; 10] = ["plot", "watch", "wrote", "film", "movie", "novel", "story", "song", "book", "campaign"];
    let sentence = &s.text[span.start..span.end];
    let is_of_others = sentence.contains(['"', '\u{201C}', '\u{ab}', '`', ':']) || s.words.iter().any(|word| among(&OF_WORKS, &word.lower));
    if is_of_others {
        return None;
    }
    let name = |at: usize| {
        let word = s.words.get(at).filter(|word| word.capital && !s.parted(at))?;
        let name = word.lower.strip_suffix("'s").unwrap_or(&word.lower);
        let is_one = name.chars().count() > 1 && s.text[word.start..word.start + name.len()].chars().skip(1).all(char::is_lowercase);
        let over = name.len() < word.lower.len()
            || s.words.get(at + 1).is_none_or(|next| next.is_mark() || s.parted(at + 1) || among(&BEHIND, &next.lower));
        (is_one && over && !is_kin(name) && !is_no_name(name) && !is_named(name)).then_some(word.start + name.len())
    };
    let mentioned = |at: usize| {
        let who = at + 1 + usize::from(among(&WHICH, s.word(at + 1)));
        let leads = at == 0 && !sentence.ends_with('?') || at > 0 && among(&BEFORE, s.word(at - 1)) && !s.words[at].capital;
        let is_who =
            ["my", "our"].contains(&s.word(at)) && is_kin(s.word(who)) && !["partner", "child", "parent", "parents"].contains(&s.word(who));
        if leads && is_who { name(who + 1).map(|end| (at, who, end)) } else { None }
    };
    let (at, who, end) = (0..s.words.len().saturating_sub(2)).find_map(mentioned)?;
    let (said, name) = (s.between(at + 1, who + 1)?, &s.text[s.words[who + 1].start..end]);
    let owner = if s.word(at) == "our" { "our" } else { "the user's" };
    let reading = Reading::new(Category::Semantic, "how somebody is called").text(format!("{name} is {owner} {said}."));
    Some((reading, name.to_owned(), Span { start: s.words[who + 1].start, end }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::tests::stored;

    #[test]
    fn what_those_at_home_like_do_and_go_through_is_kept() {
        for (text, category) in [
            ("my wife Clara hates mushrooms", Category::Semantic),
            ("My son Max loves dinosaurs.", Category::Semantic),
            ("Our daughter is into K-pop", Category::Semantic),
            ("my son plays chess", Category::Semantic),
            ("My husband really likes jazz", Category::Semantic),
            ("my daughter goes to the Lycée Molière", Category::Semantic),
            ("my cat Miso hates the vet", Category::Semantic),
            ("my dad had a stroke", Category::Episodic),
            ("my wife got a new job at Philips", Category::Episodic),
            ("my husband lost his job", Category::Episodic),
            ("my daughter passed her driving test", Category::Episodic),
            ("my daughter Lea started school", Category::Episodic),
            ("my son got into Leiden university", Category::Episodic),
            ("my brother just bought a house", Category::Episodic),
            ("my sister finally graduated", Category::Episodic),
        ] {
            let claims = stored(text);
            assert!(claims.len() == 1 && claims[0].category == category && claims[0].text.starts_with(&text[..4]), "{text}: {claims:?}");
        }
    }

    #[test]
    fn whoever_is_only_mentioned_is_known_by_name() {
        for (text, said) in [
            ("what can I cook for my son Max's birthday?", "Max is the user's son."),
            ("Can you suggest a gift for my wife Clara?", "Clara is the user's wife."),
            ("my husband Paulo thinks the pictures are too dark", "Paulo is the user's husband."),
            ("Write a birthday card for our little sister Ana.", "Ana is our little sister."),
        ] {
            let stored = stored(text);
            let claim = stored.iter().find(|claim| claim.text == said);
            assert!(claim.is_some_and(|claim| claim.slot.is_none() && claim.doubt.is_none()), "{text}: {stored:?}");
        }
        for text in [
            "translate: my sister Anna lives in Rome",
            "How do you say \u{201C}my brother Tom\u{201D} in French?",
            "what does my son Friday night?",
            "my ex wife Clara called, what do I say?",
            "my friend's wife Clara called, what do I say?",
            "is my dad English?",
            "should I buy my wife Dior perfume",
            "can i give my son Ibuprofen",
            "give me ideas for my husband Christmas present",
            "Why is my child Process killed?",
            "write an email to our partner Zalando",
            "what is the plot of My Cousin Vinny",
            "how do you say my wife Anna is ill in german",
            "I had to tell my wife No, was that wrong?",
            "my wife Clara hates mushrooms",
        ] {
            assert!(!stored(text).iter().any(|claim| claim.reason == crate::gate::MENTIONED), "{text}: {:?}", stored(text));
        }
    }

    #[test]
    fn what_passes_or_is_asked_is_none() {
        for text in [
            "my son got a lift",
            "my wife got a call",
            "my husband lost his keys",
            "my mother had a question",
            "my dog loves it",
            "does my son like chess?",
            "my son plays chess, is that normal at 4?",
            "when my son had a fever I panicked",
            "my wife's phone got a new battery",
            "my daughter got into the car",
            "my son started crying",
            "my dad turned off the router",
            "my wife prefers option B for the logo",
            "my son drives me crazy",
        ] {
            let read = |claim: &crate::gate::Claim| ["rule: of a relative", "rule: what befell somebody"].contains(&claim.reason.as_str());
            assert!(!stored(text).iter().any(read), "{text}: {:?}", stored(text));
        }
    }
}
