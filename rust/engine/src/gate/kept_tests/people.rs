//! Names, and what people and animals are beside them.

use super::*;

#[test]
fn what_somebody_is_names_nobody() {
    for text in ["I'm Sagittarius", "I'm Sales Director", "Call me a taxi", "Call me an Optimist", "I'm Capricorn, like my dad"] {
        assert!(kept(text).iter().all(|claim| claim.slot.as_deref() != Some("name")), "{text}: {:?}", kept(text));
    }
    let pronouns = one("I go by she/her");
    assert_eq!((pronouns.text.as_str(), pronouns.slot.as_deref()), ("The user's pronouns are she/her.", Some("pronouns")));
    for text in [
        "My wife is Welsh",
        "My son is a Capricorn",
        "My boss is COO",
        "My bike is green",
        "My favorite band is on tonight",
        "I live in Emacs",
        "I moved to Terraform",
        "I moved to Vodafone in May",
        "I've moved to Firefox",
        "We moved to Tesla",
        "I moved to Rabobank",
        "I work for a minute or two before lunch",
        "My time zone is set incorrectly on the tablet",
        "I'm a lousy driver",
    ] {
        assert!(kept(text).iter().all(|claim| claim.slot.is_none()), "{text}: {:?}", kept(text));
    }
    for (text, slot) in [
        ("My son is Leo", "son"),
        ("My hair is green", "hair"),
        ("Make the lights red", "lights"),
        ("I'm a new teacher", "occupation"),
        ("I go by Kit", "name"),
        ("I work for IBM", "employer"),
        ("I live in Java, Indonesia", "home"),
    ] {
        assert_eq!(one(text).slot.as_deref(), Some(slot), "{text}");
    }
}

#[test]
fn what_somebody_is_with_an_article_is_not_who_they_are() {
    for text in [
        "My wife is a Java developer.",
        "My wife is a Beatles fan.",
        "My sister is a Buddhist nun.",
        "My husband is a New Yorker.",
        "My grandma is Argentine.",
        "My nanny is Costa Rican.",
        "My wife is French-Canadian.",
        "My dog is a Labrador.",
        "My boss is a German citizen.",
        "My hamster is 2.",
        "My grandma is 80.",
    ] {
        let claim = one(text);
        assert_eq!((claim.slot, claim.doubt), (None, None), "{text}");
    }
    for (text, slot) in [
        ("My dog is a Labrador called Rex.", "dog"),
        ("My grandma is called Ruth.", "grandma"),
        ("My hamster is called Bo.", "hamster"),
        ("My stepdad is Tom.", "stepdad"),
        ("My phone is a Pixel 8.", "phone"),
        ("My wife is Ana-Lena.", "wife"),
    ] {
        assert_eq!(one(text).slot.as_deref(), Some(slot), "{text}");
    }
    for people in ["Peruvian", "Cuban", "Filipino", "Costa Rican", "Sri Lankan", "Afghan", "Zambian", "French-Canadian", "Ivorian"] {
        let text = format!("I'm {people}.");
        assert!(kept(&text).iter().all(|claim| claim.slot.is_none() && claim.category != Category::Profile), "{text}: {:?}", kept(&text));
    }
    for name in ["Dane", "Finn", "Ana", "Costa", "Jordan"] {
        assert_eq!(one(&format!("I'm {name}.")).slot.as_deref(), Some("name"), "{name}");
    }
}

#[test]
fn whom_somebody_has_is_a_being_and_not_a_thing_named_by_one() {
    for text in [
        "I have a dog.",
        "We got a puppy last week.",
        "We have two hamsters called Bo and Flo.",
        "I have a twin sister in Rome.",
        "I've got a grandma in Kyiv.",
    ] {
        assert_eq!((one(text).category, one(text).slot), (Category::Profile, None), "{text}");
    }
    for text in ["I have a pet peeve about tabs.", "I have a baby shower on Sunday.", "I have a dog show on May 3."] {
        assert!(kept(text).iter().all(|claim| claim.category != Category::Profile), "{text}: {:?}", kept(text));
    }
}

#[test]
fn the_number_of_another_is_that_of_the_verb() {
    for (text, slot, stored) in [
        ("My boss lives in Oslo.", "boss's home", "The user's boss lives in Oslo."),
        ("My boss works at Siemens.", "boss's employer", "The user's boss works for Siemens."),
        ("My boss moved to Oslo.", "boss's home", "The user's boss lives in Oslo."),
        ("My ex now lives in Oslo.", "ex's home", "The user's ex lives in Oslo."),
        ("My sisters live in Oslo.", "sisters' home", "The user's sisters live in Oslo."),
        ("My parents moved to Bari.", "parents' home", "The user's parents live in Bari."),
        ("My children live in Oslo.", "children's home", "The user's children live in Oslo."),
        ("My sisters work at Siemens.", "sisters' employer", "The user's sisters work for Siemens."),
        ("My grandma lives in Kyiv.", "grandma's home", "The user's grandma lives in Kyiv."),
        ("My mother lives in Kyiv.", "mother's home", "The user's mother lives in Kyiv."),
    ] {
        let claim = one(text);
        assert_eq!((claim.slot.as_deref(), claim.text.as_str()), (Some(slot), stored), "{claim:?}");
    }
}
