//! The gate on what phones and word processors type: curly apostrophes and quotation marks, dashes, ellipses, emoji, other spaces.

use super::*;

const AT: i64 = 1_735_689_600_000_000; // Wednesday, 2025-01-01

fn judged(text: &str) -> Vec<Claim> {
    judge(&Utterance { text, speaker: Speaker::User, before: "", after: "", at: AT })
}

/// The texts and slots of what is stored.
fn kept(text: &str) -> Vec<(String, Option<String>)> {
    let claims = judged(text).into_iter().filter(|claim| claim.category != Category::Discard && claim.doubt.is_none());
    claims.map(|claim| (claim.text, claim.slot)).collect()
}

#[test]
fn signs_that_are_not_ascii_are_no_letters() {
    for (text, stored) in [
        ("I live in Porto \u{2014} call me Ana.", &["The user lives in Porto.", "The user's name is Ana."][..]),
        ("My name is Ana\u{2014}I live in Porto.", &["The user's name is Ana.", "The user lives in Porto."]),
        ("I live in Porto \u{2013} call me Ana.", &["The user lives in Porto.", "The user's name is Ana."]),
        ("I live in Porto \u{1F389} call me Ana \u{1F600}", &["The user lives in Porto.", "The user's name is Ana."]),
        ("My name is \u{201C}Ana\u{201D}.", &["The user's name is Ana."]),
        ("My name is \u{2018}Ana\u{2019}.", &["The user's name is Ana."]),
        ("I live in Porto\u{2026}", &["The user lives in Porto."]),
        ("I live in Porto\u{2026} My name is Ana.", &["The user lives in Porto.", "The user's name is Ana."]),
        ("I live in\u{A0}Lisbon.", &["The user lives in Lisbon."]),
        ("I live in Porto.\u{A0}Call me Ana.", &["The user lives in Porto.", "The user's name is Ana."]),
        ("I\u{202F}live\u{2009}in S\u{E3}o Jo\u{E3}o.", &["The user lives in S\u{E3}o Jo\u{E3}o."]),
        ("My budget is \u{20AC}500.", &["The user's budget is \u{20AC}500."]),
        ("My budget is 500\u{20AC}.", &["The user's budget is 500\u{20AC}."]),
        ("My freezer setting is \u{2212}18\u{B0}.", &["The user's freezer setting is \u{2212}18\u{B0}."]),
        ("My shift is 9am\u{2013}5pm.", &["The user's shift is 9am\u{2013}5pm."]),
        ("My favorite novel is \u{201C}Dune\u{201D}.", &["The user's favorite novel is Dune."]),
        ("I'm \u{C9}va.", &["The user's name is \u{C9}va."]),
        ("I live in Cafe\u{301}polis.", &["The user lives in Cafe\u{301}polis."]),
    ] {
        let texts: Vec<String> = kept(text).into_iter().map(|(text, _)| text).collect();
        assert_eq!(texts, stored, "{text}: {:?}", judged(text));
    }
    for text in ["\u{1F44D}", "\u{1F44D}\u{1F44D} \u{2026}", "\u{2764}\u{FE0F}", "\u{201C}\u{201D}"] {
        assert_eq!(kept(text), [], "{text}");
    }
}

/// Phones write U+2019, and some keyboards the letter U+02BC.
#[test]
fn an_apostrophe_is_one_in_each_of_its_forms() {
    for (text, slot, stored) in [
        ("My wife's name is Clara.", "wife", "The user's wife is called Clara."),
        ("My dog's vet is Dr. Ames.", "dog's vet", "The user's dog's vet is Dr. Ames."),
        ("My birthday's on May 3.", "birthday", "The user's birthday is on May 3."),
        ("My mother's sister lives in Kyiv.", "mother's sister's home", "The user's mother's sister lives in Kyiv."),
        ("The dog's name should be Rex.", "dog's name", "The dog's name is Rex."),
        ("I'd like my dog's room to be Ada", "dog's room", "The user's dog's room is Ada."),
        ("I'm a nurse.", "occupation", "The user works as a nurse."),
        ("Don't use emojis.", "emojis", "Don't use emojis."),
    ] {
        assert_eq!(kept(text), [(stored.to_owned(), Some(slot.to_owned()))], "{text}");
        for apostrophe in ["\u{2019}", "\u{2BC}"] {
            let typed = text.replace('\'', apostrophe);
            let claims: Vec<(String, Option<String>)> =
                kept(&typed).into_iter().map(|(text, slot)| (signs::straight(&text), slot)).collect();
            assert_eq!(claims, kept(text), "{typed}");
        }
    }
    for text in ["I don't live in Porto anymore.", "I'm not vegan anymore.", "I don't use Vim any more", "I'm not allergic to nuts."] {
        let ends = |text: &str| judged(text).into_iter().map(|claim| (claim.ends, claim.doubt, claim.category)).collect::<Vec<_>>();
        assert_eq!(ends(&text.replace('\'', "\u{2019}")), ends(text), "{text}");
    }
    let named = kept("My sister is Ana O\u{2019}Hara.");
    assert_eq!(named, [("The user's sister is Ana O\u{2019}Hara.".to_owned(), Some("sister".to_owned()))], "the words of a value stay");
}

#[test]
fn a_wish_for_what_was_just_spoken_of_is_no_lasting_preference() {
    let lasts = |text: &str| judged(text).iter().any(|claim| claim.category == Category::Preference);
    for text in ["No, I prefer it on this Saturday.", "I would prefer one that is held next Monday, thanks!", "I prefer them on the left."]
    {
        assert!(!lasts(text), "{text}");
    }
    for text in ["I prefer it when you ask first.", "I prefer tea.", "I would prefer short answers."] {
        assert!(lasts(text), "{text}");
    }
}
