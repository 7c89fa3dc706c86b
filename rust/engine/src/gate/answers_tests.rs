//! The gate on what answers a question of a model's, and on what corrects a value by its form.

use super::*;

const AT: i64 = 1_735_689_600_000_000; // Wednesday, 2025-01-01

/// The claims of the last message of a talk between a user and a model.
fn talk(texts: &[(&str, &str)]) -> Vec<Claim> {
    let heard: Vec<Heard> = (0..).zip(texts).map(|(index, (role, text))| Heard::new(index, role, text, Some(AT))).collect();
    judge_among(&heard, heard.len() - 1, AT)
}

/// The claims of an answer that are stored.
fn answer(question: &str, said: &str) -> Vec<Claim> {
    let claims = talk(&[("assistant", question), ("user", said)]);
    claims.into_iter().filter(|claim| claim.category != Category::Discard && claim.doubt.is_none()).collect()
}

#[test]
fn a_value_alone_corrects_the_one_of_its_form() {
    for (said, corrects, text) in [
        ("My passport number is X4471220", "sorry, X4471229", "The user's passport number is X4471229."),
        ("My passport number is X4471220", "no, X4471229", "The user's passport number is X4471229."),
        ("My passport number is X4471220", "X4471229, sorry", "The user's passport number is X4471229."),
        ("My passport number is X4471220", "*X4471229", "The user's passport number is X4471229."),
        ("My passport number is X4471220", "oops, X4471229 not X4471220", "The user's passport number is X4471229."),
        ("My passport number is X4471220", "X4471229, not X4471220", "The user's passport number is X4471229."),
        ("My passport number is X4471220", "that should be X4471229", "The user's passport number is X4471229."),
        ("My passport number is X4471220", "I meant X4471229!", "The user's passport number is X4471229."),
        ("My passport number is X4471220", "wait, X4471229", "The user's passport number is X4471229."),
        ("My phone number is 0475 12 34 56", "sorry, 0475 12 34 65", "The user's phone number is 0475 12 34 65."),
        ("My phone number is 0475 12 34 56", "oops 0475123465", "The user's phone number is 0475123465."),
        ("My email is ana.k@acme.io", "sorry ana.c@acme.io", "The user's email is ana.c@acme.io."),
        ("My license plate is 1-ABC-234", "oops, 1-ABC-243", "The user's license plate is 1-ABC-243."),
        ("The ticket is OPS-771", "sorry, OPS-717", "The ticket is OPS-717."),
        ("The server is srv-14", "srv-41, typo", "The server is srv-41."),
        ("My budget is 1,450 euro", "sorry, 1,540", "The user's budget is 1,540 euro."),
        ("My budget is 1,450 euro", "sorry, 1,540 euro", "The user's budget is 1,540 euro."),
        ("My budget is \u{20AC}1,450", "sorry, \u{20AC}1,540", "The user's budget is \u{20AC}1,540."),
    ] {
        let claims = talk(&[("user", said), ("assistant", "Noted."), ("user", corrects)]);
        assert_eq!((claims.len(), claims[0].text.as_str()), (1, text), "{corrects}: {claims:?}");
        assert!(claims[0].replaces.is_some(), "{corrects}");
    }
    for (said, other) in [
        ("My passport number is X4471220", "OPS-771"),
        ("My passport number is X4471220", "ok, X4471229"),
        ("My passport number is X4471220", "sorry, 12"),
        ("My passport number is X4471220", "sorry, X4471229?"),
        ("The ticket is OPS-771", "sorry, ERR_SF_00390144"),
        ("The ticket is OPS-771", "sorry, the log says OPS-12 failed"),
        ("My commute takes 40 minutes", "wait 5 minutes"),
        ("I live in Ghent", "sorry, X4471229"),
        ("My budget is 1,450 euro", "sorry, 3"),
        ("What is OPS-771?", "sorry, OPS-717"),
        ("My email is ana.k@acme.io", "no, thanks"),
    ] {
        let claims = talk(&[("user", said), ("assistant", "Noted."), ("user", other)]);
        assert!(claims.iter().all(|claim| claim.replaces.is_none()), "{other}: {claims:?}");
    }
    for (said, between, other) in [
        ("My passport number is X4471220", "what does error E1042 mean?", "sorry, E1024"),
        ("My email is ana@acme.io", "draft a mail to bob@acme.io", "sorry, bob@acme.com"),
        ("I have 2 kids", "give me 5 recipes", "sorry, 6"),
    ] {
        let claims = talk(&[("user", said), ("assistant", "Noted."), ("user", between), ("assistant", "Done."), ("user", other)]);
        assert!(claims.iter().all(|claim| claim.replaces.is_none()), "{other}: {claims:?}");
    }
    let two = "My passport number is X4471220 and my wife's passport number is X5571220";
    assert!(talk(&[("user", two), ("assistant", "Noted."), ("user", "sorry, X4471229")]).iter().all(|claim| claim.replaces.is_none()));
    let asked = talk(&[("user", "We have 2 kids"), ("assistant", "For how many people?"), ("user", "no, 3")]);
    assert!(asked.iter().all(|claim| claim.replaces.is_none()), "{asked:?}");
}

#[test]
fn an_answer_about_health_is_kept_with_its_question() {
    for (question, said, category) in [
        ("Any allergies I should know of?", "peanuts", Category::Constraint),
        ("Any allergies I should know of?", "yes, peanuts and shellfish", Category::Constraint),
        ("Do you have any allergies?", "Just peanuts", Category::Constraint),
        ("Any dietary restrictions?", "gluten", Category::Constraint),
        ("Are you vegetarian?", "yes", Category::Constraint),
        ("Any allergies in your family?", "peanuts", Category::Constraint),
        ("Are you on any medication?", "levothyroxine, 75 mcg", Category::Semantic),
    ] {
        let claims = answer(question, said);
        let found: Vec<_> = claims.iter().map(|claim| (claim.category, claim.slot.as_deref(), claim.text.as_str())).collect();
        assert_eq!(found, [(category, None, format!("Asked \u{201C}{question}\u{201D}: {said}").as_str())], "{question} {said}");
    }
    for (question, said) in [
        ("Where do you live?", "thanks"),
        ("Where do you live?", "top secret"),
        ("Where do you live?", "Write me a poem"),
        ("Do you live in Europe?", "yes"),
        ("What's your name?", "whenever you like"),
        ("Where do you work?", "remotely"),
        ("Which editor do you use?", "the usual"),
        ("Any allergies?", "no"),
        ("Any allergies?", "ok"),
        ("Any allergies?", "all good"),
        ("Any allergies?", "zero"),
        ("Any allergies?", "prefer not to say"),
        ("Any allergies?", "Suggest a pasta recipe"),
        ("Do you have any allergies?", "nope"),
        ("Are you vegetarian or vegan?", "yes"),
        ("Are you vegetarian?", "no"),
        ("Are you sure?", "yes"),
    ] {
        let lasting = |claim: &Claim| {
            claim.slot.is_some() || matches!(claim.category, Category::Constraint | Category::Profile | Category::Preference)
        };
        assert!(!answer(question, said).iter().any(lasting), "{question} {said}: {:?}", answer(question, said));
    }
}

#[test]
fn an_answer_that_is_no_sentence_keeps_its_question() {
    for (question, said) in [
        ("Do you have kids?", "two, Mila is 7 and Bo is 10"),
        ("How do you travel to work?", "by train from Ghent to Brussels"),
        ("Which days do you work?", "every day except Wednesday and Sunday"),
    ] {
        let claims = answer(question, said);
        assert!(claims.len() == 1 && claims[0].text == format!("Asked \u{201C}{question}\u{201D}: {said}"), "{said}: {claims:?}");
    }
    for (question, said) in [
        ("What time would you like to go?", "6 o'clock in the evening thanks"),
        ("Where should I look?", "Find a place in Vallejo with live music"),
        ("What's your destination?", "Delhi is my final destination"),
        ("What's your location?", "Look for films in Mountain View"),
    ] {
        let claims = answer(question, said);
        assert!(claims.iter().all(|claim| claim.text.starts_with(said) && claim.slot.is_none()), "{said}: {claims:?}");
    }
    for said in ["I teach maths at a high school", "My sister is a nurse in Ghent", "We moved there two years ago"] {
        assert!(answer("What's new?", said).iter().all(|claim| !claim.text.starts_with("Asked")), "{said}");
    }
}

#[test]
fn what_changed_is_stored() {
    for (text, category, slot) in [
        ("payments-api runs on port 9443 now", Category::Semantic, None),
        ("The nightly job starts at 3 now", Category::Semantic, None),
        ("Pieter owns the checkout service now", Category::Semantic, None),
        ("We're on GitHub Actions now", Category::Semantic, None),
        ("They reissued the order, the new number is A-21007", Category::Semantic, None),
        ("OPS-771 was merged into OPS-802", Category::Episodic, None),
        ("Turns out the bug is in lexer.py, not parser.py", Category::Semantic, None),
        ("I've been promoted to staff engineer", Category::Profile, Some("occupation")),
        ("I'm now lead data engineer", Category::Profile, Some("occupation")),
        ("The launch got cancelled", Category::Episodic, None),
        ("The trip to Rome was called off.", Category::Episodic, None),
        ("I use light mode now", Category::Preference, Some("theme")),
        ("I use Zed now", Category::Preference, Some("editor")),
        ("I cancelled Netflix", Category::Episodic, None),
        ("we changed our minds, we'll take the train", Category::Decision, None),
        ("Standup was moved to 9:30", Category::Semantic, Some("standup")),
        ("Lunch got moved to 1 pm.", Category::Semantic, Some("lunch")),
        ("Pieter took over from Sofie", Category::Episodic, None),
    ] {
        let claims = answer("", text);
        let found: Vec<_> = claims.iter().map(|claim| (claim.category, claim.slot.as_deref())).collect();
        assert_eq!(found, [(category, slot)], "{text}: {claims:?}");
    }
    for text in [
        "Run the tests now",
        "Fix bugs now",
        "Deploy payments-api on port 9443 now",
        "It runs on port 9443 now",
        "That was cancelled",
        "Was the launch cancelled?",
        "I cancelled it",
        "I use it now",
        "I'm now an hour late",
        "I'm now tired",
        "If the launch got cancelled we stay",
        "Which port is it now",
        "Start Docker now",
        "it was moved to 9:30",
    ] {
        let changed = |claim: &Claim| claim.reason == "rule: what changed" || claim.slot.is_some();
        assert!(!answer("", text).iter().any(changed), "{text}: {:?}", answer("", text));
    }
}

#[test]
fn a_proposal_that_was_taken_is_a_decision_with_its_words() {
    for (proposal, said) in [
        ("How about \"Golden Crumb\" for the bakery?", "love it, we go with that"),
        ("Both work. Shall we use Postgres 16 for the new service?", "yes, let's do that"),
        ("I propose to release on Friday, May 8.", "agreed"),
        ("I'd go with option B, the blue tiles.", "ok let's go with B"),
        ("We could name the branch feature/split-refunds.", "perfect"),
    ] {
        let claims = answer(proposal, said);
        let last = proposal.rsplit(". ").next().unwrap();
        let said_all = claims.first().is_some_and(|claim| claim.text.contains(&last[..18]) && claim.text.ends_with(said));
        assert!(claims.len() == 1 && claims[0].category == Category::Decision && said_all, "{said}: {claims:?}");
    }
    for (proposal, said) in [
        ("How about \"Golden Crumb\" for the bakery?", "ok, but shorter"),
        ("How about \"Golden Crumb\" for the bakery?", "no"),
        ("How about \"Golden Crumb\" for the bakery?", "great, thanks, maybe later"),
        ("Shall we go on?", "yes"),
        ("Golden Crumb is a bakery in Ghent.", "great"),
        ("Do you use Postgres 16?", "sure"),
        ("How about the song Wine for Me by Popcaan?", "Sounds good."),
        ("What about Courtesy Call by Thousand Foot Krutch?", "Yeah, that sounds good."),
    ] {
        assert!(answer(proposal, said).iter().all(|claim| claim.category != Category::Decision), "{said}");
    }
}

#[test]
fn an_offer_of_help_is_not_kept_with_what_answers_it() {
    let said = "It was four hours late on 3 June and we missed our train to Bari";
    for offer in [
        "Anything else?",
        "How can I help?",
        "How can I help you today?",
        "What can I do for you?",
        "Would you like more?",
        "Is there anything else I can help with?",
        "Great! Is there something else I can assist you with?",
        "What else would you like to know?",
        "Any other questions?",
    ] {
        let claims = answer(offer, said);
        assert!(!claims.is_empty() && claims.iter().all(|claim| claim.text.starts_with("It was")), "{offer}: {claims:?}");
    }
    for (question, said) in [
        ("Anything else you're allergic to?", said),
        ("How was the flight?", said),
        ("What else do you do?", "It is mostly plumbing for hospitals in Leeds"),
        ("Did the tablets help?", "They were useless, I threw them out on Monday"),
        ("What do you need the visa for?", "It is for a wedding in Delhi"),
    ] {
        let claims = answer(question, said);
        assert!(
            claims.iter().any(|claim| claim.text.starts_with("Asked") || claim.category == Category::Constraint),
            "{question}: {claims:?}"
        );
    }
}
