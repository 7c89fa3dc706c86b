//! Orders and tastes, and what only has their form.

use super::*;

#[test]
fn what_is_said_by_the_way_is_no_rule_and_no_taste() {
    for text in [
        "Always that noise at night...",
        "Never noticed it",
        "Never seen this before",
        "Always my fault, right",
        "I hate you",
        "I love it when they sing",
        "I hate when it rains",
        "I like those",
        "I prefer option 2",
        "I'd prefer the latter",
        "I prefer the green one",
        "Make the engine start",
    ] {
        let pinned = |claim: &Claim| matches!(claim.category, Category::Constraint | Category::Preference) || claim.slot.is_some();
        assert!(!kept(text).iter().any(pinned), "{text}: {:?}", kept(text));
    }
    for (text, category) in [
        ("Never embed keys in the code", Category::Constraint),
        ("Always cite your sources", Category::Constraint),
        ("I love jazz", Category::Preference),
        ("I prefer the aisle seat", Category::Preference),
        ("I prefer version control with branches", Category::Preference),
    ] {
        assert_eq!(one(text).category, category, "{text}");
    }
    assert_eq!(one("Never had a chance to see Rome").category, Category::Episodic);
    assert!(kept("Make the cabin quiet").iter().all(|claim| claim.slot.is_none()));
    assert_eq!(one("Make the theme dark").slot.as_deref(), Some("theme"));
}

/// A list of six verbs once said which end in "ed" without being of the past, and "exceed" was none of them.
#[test]
fn an_order_is_told_from_a_past_by_the_form_of_its_verb() {
    for text in [
        "Never exceed 80 columns in Python.",
        "Always seed the random generator in tests.",
        "Never bleed state between tests.",
        "Always heed lint warnings.",
        "Always shred the documents.",
        "Never proceed without asking.",
        "Never breed test rabbits.",
        "Always embed the fonts.",
        "Never weed out small files.",
        "Always shed load early.",
    ] {
        assert_eq!(one(text).category, Category::Constraint, "{text}");
    }
    for text in ["Never agreed to such a thing", "Never freed enough time for it", "Always tried to see Rome", "Never typed that fast"] {
        assert_eq!(one(text).category, Category::Episodic, "{text}");
    }
    let clauses = kept("We use Kafka for events, never exceed 100 topics.");
    let texts: Vec<&str> = clauses.iter().map(|claim| claim.text.as_str()).collect();
    assert_eq!(texts, ["We use Kafka for events", "never exceed 100 topics."]);
}

#[test]
fn an_order_without_a_verb_places_a_part_of_what_is_written() {
    for text in [
        "Always a short summary at the end.",
        "Never a semicolon at the end of a line.",
        "Always the short answer first.",
        "Never a comma before a list.",
        "Never the word delve.",
        "Always a link in the caption.",
    ] {
        assert_eq!(one(text).category, Category::Constraint, "{text}");
    }
    for text in [
        "Always the same answer at the end.",
        "Always a good example at the start.",
        "Never a word about it.",
        "Always the last word.",
        "Never a dull day at the office.",
        "Always a queue at the end of the month.",
        "Always a comment on my shoes.",
        "Never the word I expected.",
        "Always it must be formal.",
    ] {
        assert!(kept(text).iter().all(|claim| claim.category != Category::Constraint), "{text}: {:?}", kept(text));
    }
}

#[test]
fn a_name_in_capitals_is_a_taste_and_one_to_choose() {
    for (text, slot) in [
        ("I enjoy US history.", None),
        ("I love The Wire.", None),
        ("I hate IT departments.", None),
        ("I prefer the Xbox One for games.", Some("games")),
        ("I prefer the Lumia One over the Pixel.", None),
    ] {
        let claim = one(text);
        assert_eq!((claim.category, claim.slot.as_deref()), (Category::Preference, slot), "{claim:?}");
    }
    for text in [
        "I LOVE IT",
        "I love IT",
        "I hate THIS so much",
        "I love You all",
        "I love us",
        "I prefer the first one for games",
        "I prefer the blue ones",
    ] {
        assert!(kept(text).iter().all(|claim| claim.category != Category::Preference), "{text}: {:?}", kept(text));
    }
}
