//! Words of somebody else, and texts that a user gives a model to work on.

use super::*;

#[test]
fn words_of_others_tell_nothing_of_the_user() {
    for text in [
        "\u{201C}I live in Mordor\u{201D} was on the poster",
        "As her coach likes to put it, 'I never lose on Sundays'",
        "The mail that I got:\nHello, my name is Zed and I live in Oslo.\nYours, Zed",
        "Proofread this paragraph: I work at Acme and I'm allergic to nuts",
        "Can you reword this for me? My name is Zed. I live in Oslo.",
    ] {
        assert!(kept(text).is_empty(), "{text}: {:?}", kept(text));
    }
    let own = kept("Shorten my letter. I live in Oslo.\n\nI live in Ghent.");
    assert_eq!(own.iter().map(|claim| claim.text.as_str()).collect::<Vec<_>>(), ["The user lives in Ghent."]);
    let aside = kept("Rephrase this text. I live in Oslo. By the way, my name is Ilse.");
    assert_eq!(aside.iter().map(|claim| claim.text.as_str()).collect::<Vec<_>>(), ["The user's name is Ilse."]);
    assert_eq!(kept("Some facts about me:\n- I live in Ghent\n- I'm allergic to nuts").len(), 2);
    assert_eq!(one("Translate 'good day' into Dutch. I'm allergic to nuts.").text, "The user is allergic to nuts.");
}

#[test]
fn a_line_with_a_colon_is_of_somebody_else_only_where_it_names_them() {
    for lead in [
        "Things to know:",
        "For your information:",
        "Important health information:",
        "To answer your question:",
        "I got a new laptop, so here is my setup:",
        "Please follow these guidelines:",
        "Let me tell you what I found out:",
    ] {
        let claims = kept(&format!("{lead}\nI'm allergic to peanuts.\nNever use emojis."));
        let texts: Vec<&str> = claims.iter().filter(|claim| claim.reason.starts_with("rule: ")).map(|claim| claim.text.as_str()).collect();
        assert_eq!(texts, ["The user is allergic to peanuts.", "Never use emojis."], "{lead}");
    }
    for lead in
        ["He put it like this:", "This is the ad:", "The email I got:", "What my boss wrote:", "I got this from Bob:", "In her words:"]
    {
        let claims = kept(&format!("{lead}\nI'm allergic to peanuts.\nI live in Rome."));
        assert!(!claims.iter().any(|claim| claim.reason.starts_with("rule: ")), "{lead}: {claims:?}");
    }
}

#[test]
fn a_speaker_before_a_colon_is_found_behind_signs_and_times() {
    for text in [
        "Bob: I live in Rome.",
        "- Bob: I live in Rome.",
        "**Bob**: I live in Rome.",
        "* **Bob:** I live in Rome.",
        "[10:32] Bob: I live in Rome.",
        "\u{2022} \u{C9}va: I live in Rome.",
    ] {
        assert_eq!(one(text).doubt, Some("words of somebody else"), "{text}");
    }
    for text in [
        "- Note: I'm allergic to nuts.",
        "**Note**: I'm allergic to nuts.",
        "**Reminder:** I'm allergic to nuts.",
        "- Allergies: I'm allergic to nuts.",
    ] {
        assert_eq!((one(text).text.as_str(), one(text).doubt), ("The user is allergic to nuts.", None), "{text}");
    }
}

#[test]
fn what_is_no_text_is_not_reworded_and_health_is_read_without_a_colon() {
    for text in [
        "Simplify this recipe. I'm allergic to nuts.",
        "Improve the following plan.\nI'm allergic to nuts.",
        "Correct this if wrong: I'm allergic to nuts.",
        "Shorten this. I'm allergic to nuts.",
        "Draft this for me and note that I'm allergic to nuts.",
        "Expand this menu, I'm allergic to nuts.",
        "Things to note for the menu: I'm allergic to nuts.",
    ] {
        let claims = kept(text);
        assert!(claims.iter().any(|claim| claim.text == "The user is allergic to nuts."), "{text}: {claims:?}");
    }
    for text in [
        "Rewrite this: I'm allergic to nuts.",
        "Improve the following text:\nI'm allergic to nuts.",
        "Simplify this. I live in Rome.",
        "Shorten this sentence, \"I'm allergic to nuts\"",
        "On the poster: I'm allergic to nuts.",
        "Bob's answer was this: I'm allergic to nuts.",
    ] {
        assert!(kept(text).iter().all(|claim| claim.doubt.is_some() || !claim.reason.starts_with("rule: ")), "{text}: {:?}", kept(text));
    }
}
