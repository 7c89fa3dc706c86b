//! Claims as people type them: contracted, in small letters, as lists, with a name in place of a role.

use super::*;

fn told(text: &str) -> Vec<(String, Category)> {
    kept(text).into_iter().map(|claim| (claim.text, claim.category)).collect()
}

#[test]
fn the_health_of_somebody_is_kept_where_the_verb_is_contracted() {
    for text in ["Oscar's allergic to peanuts", "Tom's vegan", "Mum's coeliac", "Oscar's got asthma", "Oscar's asthmatic and tired"] {
        assert_eq!(told(text), [(text.to_owned(), Category::Semantic)], "{text}");
    }
    assert_eq!(told("Could you please remember that Tom's vegan?"), [("Tom's vegan".to_owned(), Category::Semantic)]);
    for text in ["Tom's vegan restaurant is great", "Oscar's allergic reaction was bad", "Anna's allergic to cats, isn't she?"] {
        assert!(kept(text).iter().all(|claim| claim.reason == "model: it informs"), "{text}: {:?}", told(text));
    }
}

#[test]
fn nothing_is_kept_of_what_is_not_to_be() {
    for text in [
        "don't store this, but I take antidepressants",
        "please don't remember this but I'm pregnant",
        "don't remember this but my PIN is 4471",
        "I'm pregnant. Please don't save that.",
        "My son is Max, but don't write that down.",
        "Please don't save this: I'm seeing a therapist.",
        "my alarm code is changed, don't store it here: croquete99",
        "Off the record: I'm quitting my job at Acme.",
        "My PIN is 4471. Bitte nicht speichern.",
        "Merk dir das nicht: I take Prozac every day.",
        "I take Prozac every day, no lo guardes por favor.",
        "I'm allergic to latex. Ne garde pas cela.",
        "I'm allergic to latex. \u{41D}\u{435} \u{441}\u{43E}\u{445}\u{440}\u{430}\u{43D}\u{44F}\u{439} \u{44D}\u{442}\u{43E}.",
        "My PIN is 4471\u{3002}\u{4E0D}\u{8981}\u{4FDD}\u{5B58}\u{3002}",
        "I take Prozac every day, n\u{e3}o grave isso.",
    ] {
        assert!(told(text).is_empty(), "{text}: {:?}", told(text));
    }
    for text in [
        "We don't store it in the fridge, my kids are Ann and Bob",
        "I'm pregnant, don't forget that",
        "I don't remember that, my son is Max",
        "I'm allergic to latex. Ich kann das nicht speichern.",
        "I'm allergic to latex. Niet opslaan lukt niet in Word.",
        "I'm allergic to latex. \u{AB}Nicht speichern\u{BB}",
        "I'm allergic to latex. No guardes rencor.",
        "I'm allergic to latex. Wenn du willst, nicht speichern.",
        "I'm allergic to latex, n\u{e3}o grave.",
        "I'm allergic to latex. The placeholder, nicht speichern, is wrong.",
        "I'm allergic to latex. The app is German (nicht speichern).",
        "I'm allergic to latex. In Italian, non salvare.",
        "I'm allergic to latex. Speichern, nicht speichern.",
        "I'm allergic to latex. Kaydet, kaydetme.",
        "I'm allergic to latex. He replied, jangan simpan.",
        "I'm allergic to latex. My homework: no guardes, no anotes.",
    ] {
        assert!(!told(text).is_empty(), "{text}");
    }
}

/// A model that reads other languages than the gate does is told so by the reason.
#[test]
fn a_message_in_another_language_may_ask_not_to_be_kept() {
    let reasons = |text: &str| -> Vec<String> {
        let claims = judge(&Utterance { text, speaker: Speaker::User, before: "", after: "", at: AT });
        claims.into_iter().map(|claim| claim.reason).collect()
    };
    assert_eq!(reasons("Meine PIN ist 4471. Bitte nicht speichern."), ["a request not to keep it"]);
    assert_ne!(reasons("Meine PIN ist 4471. Ich kann sie nicht speichern."), ["a request not to keep it"]);
}

#[test]
fn whom_somebody_has_now_takes_the_slot() {
    for (text, slot, says) in [
        ("Oleg is my manager now", "manager", "The user's manager is Oleg."),
        ("Oleg is my new manager", "manager", "The user's manager is Oleg."),
        ("my new manager's Oleg", "manager", "The user's manager is Oleg."),
        ("my dentist's Dr Lee", "dentist", "The user's dentist is Dr Lee."),
        ("Dana left, my new manager's Oleg Roe", "manager", "The user's manager is Oleg Roe."),
        ("Lucy is now our accountant", "accountant", "Our accountant is Lucy."),
        ("changed our flour supplier, it's Moagem Ceres now", "flour supplier", "Our flour supplier is Moagem Ceres."),
        ("I prefer rust for scripts now", "programming language for scripts", "I prefer rust for scripts now"),
        ("we're living in York now", "home", "The user lives in York."),
        ("our accountant is Sr. Teixeira", "accountant", "Our accountant is Sr. Teixeira."),
        ("my doctor is Dr. med. Weber", "doctor", "The user's doctor is Dr. med. Weber."),
    ] {
        let claim = one(text);
        assert_eq!((claim.slot.as_deref(), claim.text.as_str()), (Some(slot), says), "{text}");
    }
    for text in ["my manager's Porsche broke down", "changed our tyres, it's cold now"] {
        assert!(kept(text).iter().all(|claim| claim.slot.is_none()), "{text}: {:?}", kept(text));
    }
}

#[test]
fn what_is_of_a_name_now_is_a_fact() {
    for (text, says) in [
        ("INC-482 is now assigned to Chen", "INC-482 is now assigned to Chen"),
        ("INC-482 got reassigned to Chen", "INC-482 is now assigned to Chen."),
        ("ledger-db now runs on db.r6g.2xlarge", "ledger-db now runs on db.r6g.2xlarge"),
        ("auth-gw moved to port 10443", "auth-gw moved to port 10443"),
        ("Chen owns auth-gw", "Chen owns auth-gw"),
        ("the demo is on thursday", "The demo is on thursday (2025-01-02)."),
        ("the runbook for ledger-worker lives at wiki/ledger", "the runbook for ledger-worker lives at wiki/ledger"),
    ] {
        assert_eq!(told(text), [(says.to_owned(), Category::Semantic)], "{text}");
    }
    for text in ["INC-219 is resolved", "PAY-881 is closed", "v2.4.0 is out", "PR-77 was merged by Kim"] {
        assert_eq!(one(text).category, Category::TaskOutcome, "{text}");
    }
    for text in ["OPS-7731 is blocked", "step-3 is out of order", "it is resolved"] {
        assert!(kept(text).iter().all(|claim| claim.category != Category::TaskOutcome), "{text}: {:?}", kept(text));
    }
}

#[test]
fn a_list_by_its_name_is_kept() {
    assert_eq!(told("allergies: peanuts, shellfish"), [("allergies: peanuts, shellfish".to_owned(), Category::Constraint)]);
    for text in ["kids: Mia (7), Oscar (4)", "Prices: flour 0.82, sugar 1.10", "our stack: python 3.12, postgres 16, redis 7"] {
        assert_eq!(told(text), [(text.to_owned(), Category::Semantic)], "{text}");
    }
    for text in ["allergies: none", "team: we need to talk", "stack: what is it?", "Kinder: Mia, Oscar"] {
        assert!(told(text).is_empty(), "{text}: {:?}", told(text));
    }
}

#[test]
fn what_somebody_does_not_do_as_a_rule_is_kept() {
    for text in [
        "we don't do gluten free, too much cross contamination",
        "we don't take cards",
        "I always quote prices without VAT to businesses",
        "we're closed on mondays",
    ] {
        assert_eq!(told(text), [(text.to_owned(), Category::Semantic)], "{text}");
    }
    for text in ["we don't know the answer", "we don't take that into account", "we don't do it yet", "I don't make sense today"] {
        assert!(told(text).iter().all(|(_, category)| *category != Category::Semantic), "{text}: {:?}", told(text));
    }
}

#[test]
fn a_wish_without_a_verb_is_one() {
    for text in ["no emojis please", "short answers please", "British spelling please", "metric units only"] {
        assert_eq!(told(text), [(text.to_owned(), Category::Preference)], "{text}");
    }
    for text in ["two answers please", "the other format please", "no refunds please"] {
        assert!(told(text).iter().all(|(_, category)| *category != Category::Preference), "{text}: {:?}", told(text));
    }
}

#[test]
fn a_change_of_mind_says_what_holds() {
    let claim = one("I changed my mind, answer in English please");
    assert_eq!(
        (claim.category, claim.slot.as_deref(), claim.text.as_str()),
        (Category::Constraint, Some("answer language"), "Answer in English please")
    );
    let claim = one("We changed our minds, we're using MySQL for billing");
    assert_eq!(claim.slot.as_deref(), Some("database for billing"));
    for text in ["I've changed my mind about the Oslo trip", "I changed my mind, make the title shorter"] {
        assert_eq!(one(text).category, Category::Decision, "{text}");
    }
}

#[test]
fn what_is_said_of_other_things_is_read_as_before() {
    for text in [
        "If the recipe has nuts, don't store it. My son Leo is 7 and allergic to nuts.",
        "I live in Oslo and use Vim. Fix this:\n```\n# do not store it, return it\n```",
        "Sorry, don't remember it. My name is Bob.",
        "My boss told me: do not store this. I work at Siemens.",
        "How do I tell Redis: don't store this? I work at Arup.",
        "I live in Cork. The old couch - don't keep it, sell it.",
        "Don't store that, it's wrong. My birthday is May 4.",
        "No, don't save that, my daughter is called Emma, not Ella.",
        "Please don't store it, hash it instead. My stack is Django and Postgres.",
        "We have a rule: please do not record that. I work at Aviva.",
        "Off the record is a good film. I live in York.",
        "Don't save that, save this: I'm vegan.",
    ] {
        assert!(!told(text).is_empty(), "{text}");
    }
    for text in [
        "allergies: causes, symptoms",
        "Allergies: can they be cured",
        "kids: at foo (bar.js:12), at baz (qux.js:3)",
        "Team: heute kein Meeting",
        "Staff: my name is Bob and I'm vegan.",
        "Hobbies: give me ideas",
        "stack: TypeError: x is not a function",
        "our team: tired, overworked, underpaid",
        "Prices: rising fast, everywhere",
    ] {
        let own = |claim: &Claim| claim.doubt.is_none() && (claim.reason == "rule: a list" || claim.category == Category::Constraint);
        assert!(!kept(text).iter().any(own), "{text}: {:?}", kept(text));
    }
    for text in [
        "CSV format please.",
        "Next answers please.",
        "Wrong answers only.",
        "Fix spelling please",
        "Draft an email to Tom. Friendly tone please.",
    ] {
        assert!(told(text).iter().all(|(_, category)| *category != Category::Preference), "{text}: {:?}", told(text));
    }
    for text in [
        "auth-gw is on fire.",
        "auth-gw is at 90% CPU.",
        "Google owns YouTube.",
        "Thread owns the lock.",
        "Tom owns it.",
        "Arsenal leads the table.",
    ] {
        assert!(kept(text).iter().all(|claim| claim.reason != "rule: of a name"), "{text}: {:?}", kept(text));
    }
    for text in ["I'm the CFO of Foo Ltd. Never use emojis.", "I work at Foo Ltd. Please answer in German."] {
        assert!(kept(text).iter().any(|claim| claim.reason.contains("rule: rule") || claim.reason.contains("how to answer")), "{text}");
    }
    for text in [
        "Can you remember that time we spoke about Rome?",
        "Could you note that in the file?",
        "Would you remember that Tom is vegan if I told you?",
    ] {
        assert!(kept(text).iter().all(|claim| claim.reason.starts_with("model: ")), "{text}: {:?}", kept(text));
    }
    for text in ["My vet's Monday", "My manager's Slack", "My wife's Scouse."] {
        assert!(kept(text).iter().all(|claim| claim.slot.is_none()), "{text}: {:?}", kept(text));
    }
}

#[test]
fn who_went_back_to_a_tool_or_traded_one_for_another_says_so() {
    let claim = one("I ditched clockify for toggl");
    assert_eq!((claim.replaces.as_deref(), claim.category), (Some("clockify"), Category::Preference), "{claim:?}");
    for text in ["i use firefox", "im back on firefox"] {
        assert_eq!(one(text).reason, "rule: what somebody uses", "{text}");
    }
    assert_eq!(one("my budget is 500 again").text, "The user's budget is 500.");
    for text in ["I dropped the kids off for the day", "I traded my car for a bike", "i use fish sauce", "im back on monday"] {
        let tool = |claim: &Claim| claim.replaces.is_some() || claim.reason == "rule: what somebody uses";
        assert!(!kept(text).iter().any(tool), "{text}: {:?}", kept(text));
    }
}
