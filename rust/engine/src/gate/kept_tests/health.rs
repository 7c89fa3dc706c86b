//! Sentences about the allergies, conditions and medicines of somebody, and about food that they may not eat.

use super::*;

#[test]
fn health_is_kept_however_it_is_introduced() {
    for text in [
        "Reminder: I'm allergic to latex",
        "PS: I am allergic to latex",
        "Quick note: I'm allergic to latex!",
        "Once more, I'm allergic to latex",
        "im allergic to latex",
        "I just learned that I'm allergic to latex",
        "As I'm allergic to latex, use another material.",
        "I'm allergic to latex, which gloves should I buy?",
        "I'm allergic to latex, any tips for the dentist?",
        "Given that I'm allergic to latex, can I wear these?",
    ] {
        let claims = kept(text);
        let first = claims.first().unwrap_or_else(|| panic!("{text}"));
        assert_eq!((first.text.as_str(), first.category), ("The user is allergic to latex.", Category::Constraint), "{text}");
    }
    for text in [
        "I've got a pacemaker",
        "I'm epileptic, so no strobe lights please",
        "I'm colour-blind",
        "I take insulin every morning",
        "I was prescribed enalapril in May",
        "I'm on 20 mg of citalopram",
        "I'm a vegan",
        "We're all vegetarian, and Bo eats no eggs.",
    ] {
        assert!(one(text).reason.starts_with("rule: "), "{text}: {:?}", one(text));
    }
    let list = kept("I'm allergic to soy, sesame and wheat, what can I eat there?");
    assert_eq!(list[0].text, "The user is allergic to soy, sesame and wheat.");
    for text in ["I'm allergic to latex, am I?", "If I'm allergic to latex, what then?", "I'm allergic to latex, is that right?"] {
        assert!(kept(text).is_empty(), "{text}: {:?}", kept(text));
    }
    for text in ["I take the tram every day", "I'm on call every night"] {
        assert!(kept(text).iter().all(|claim| claim.reason != "rule: medicine"), "{text}");
    }
}

#[test]
fn who_is_allergic_to_another_thing_denies_the_first_and_says_the_second() {
    for text in ["I'm not allergic to bees, only to wasps", "I'm not allergic to bees but to hornets"] {
        let claim = one(text);
        assert_eq!((claim.text.as_str(), claim.doubt, claim.ends.as_deref()), (text, None, Some("allergic to bees")));
    }
    let over = one("I'm not allergic to bees any more, the shots worked");
    assert_eq!((over.doubt, over.ends.as_deref()), (Some(DENIAL), Some("allergic to bees")));
}

#[test]
fn a_condition_is_the_users_where_it_is_what_they_have() {
    for text in [
        "I have a blind spot for CSS.",
        "I have a presentation on asthma tomorrow.",
        "I have a customer with cancer.",
        "I've had it with this disease of meetings.",
        "I'm blind to typos.",
        "I have a deaf uncle.",
        "I have a son allergic to nuts.",
        "I've got a cancer screening on Monday.",
        "I have an app for diabetes.",
        "I have a talk on high blood pressure.",
    ] {
        assert!(kept(text).iter().all(|claim| claim.category != Category::Constraint), "{text}: {:?}", kept(text));
    }
    for text in [
        "I have asthma.",
        "I have a history of epilepsy.",
        "I've had diabetes since 2010.",
        "I have type 1 diabetes.",
        "I have diabetes mellitus.",
        "I have an allergy to bees.",
        "I have asthma attacks at night.",
        "I have celiac disease.",
        "I have trouble with my asthma.",
        "I have a heart condition and take pills.",
        "I have a nut allergy, so no satay please.",
        "I'm blind in one eye.",
        "I'm deaf.",
        "I use a wheelchair.",
        "I've got a pacemaker since May.",
        "I have a strong allergy against bees.",
        "I have an autoimmune disease affecting my joints.",
        "I have a deaf ear.",
        "I can't have dairy.",
    ] {
        assert_eq!(one(text).category, Category::Constraint, "{text}");
    }
}

#[test]
fn a_condition_that_is_over_ends_what_was_said_of_it() {
    for (text, ends, doubt) in [
        ("I'm no longer pregnant.", "pregnant", None),
        ("I am no longer asthmatic.", "asthmatic", None),
        ("I'm not pregnant anymore.", "pregnant", None),
        ("I'm no longer lactose intolerant.", "lactose intolerant", None),
        ("I'm not diabetic, that was a misdiagnosis.", "diabetic", Some(DENIAL)),
        ("I'm not colour blind after all.", "colour blind", Some(DENIAL)),
    ] {
        let claim = one(text);
        assert_eq!((claim.ends.as_deref(), claim.doubt, claim.category), (Some(ends), doubt, Category::Semantic), "{claim:?}");
    }
    for (text, stored) in [
        ("I can eat gluten now.", "The user can eat gluten."),
        ("I can drink milk again!", "The user can drink milk."),
        ("I can now eat nuts.", "The user can eat nuts."),
        ("I eat pork again.", "The user eats pork."),
        ("I can eat gluten now and then.", "I can eat gluten now and then."),
        ("I can eat gluten now, but only a little.", "I can eat gluten now, but only a little."),
    ] {
        let claim = one(text);
        assert_eq!((claim.text.as_str(), claim.category, claim.doubt), (stored, Category::Semantic, None), "{claim:?}");
    }
    for text in ["I can eat now.", "I can have a call now.", "I can eat anything now."] {
        assert!(kept(text).iter().all(|claim| claim.reason != "rule: not any more"), "{text}: {:?}", kept(text));
    }
}

#[test]
fn what_is_not_all_is_not_denied() {
    for text in ["I'm not just vegan.", "I don't always work from home.", "I'm not only allergic to nuts."] {
        for claim in kept(text) {
            assert!(claim.slot.is_none() && claim.ends.is_none() && claim.doubt.is_none(), "{text}: {claim:?}");
        }
    }
}

#[test]
fn a_condition_that_is_not_all_is_kept() {
    for text in [
        "I'm not just allergic to nuts but also to milk",
        "I'm not only diabetic, I'm asthmatic too",
        "My son is not just allergic to nuts",
    ] {
        assert!(kept(text).iter().any(|claim| claim.category == Category::Constraint && claim.ends.is_none()), "{text}: {:?}", kept(text));
    }
}

#[test]
fn a_condition_is_read_before_what_follows_of_it() {
    for text in [
        "I'm lactose intolerant so please no dairy in what you suggest",
        "I'm coeliac so if you suggest recipes please leave the cheese out",
        "I'm diabetic so if you ever suggest any desserts to me please do leave all of the sugar out of them",
        "I'm vegan so if you suggest any recipes in the next weeks please leave out cheese and eggs",
        "I have asthma so no perfume please",
        "I'm vegan so I brought my own lunch",
    ] {
        let is_binding = |claim: &Claim| [Category::Constraint, Category::Preference].contains(&claim.category);
        assert!(kept(text).iter().any(is_binding), "{text}: {:?}", kept(text));
    }
    for text in [
        "I'm so tired of no sugar",
        "I have no allergy so dairy is fine",
        "I have a friend with asthma so no perfume please",
        "I'm probably celiac so no bread",
        "I'm maybe celiac so no bread",
        "I'm hopefully pregnant so no wine",
        "I'm playing a diabetic so no cake",
        "I'm pretending to be celiac so no bread",
        "write a scene: I'm diabetic so no cake",
        "I'm intolerant of fools so no excuses",
    ] {
        assert!(kept(text).iter().all(|claim| claim.category != Category::Constraint), "{text}: {:?}", kept(text));
    }
}
