//! The gate on what a hasty reader would cut in half, or put in the place of something else.

use super::*;
use crate::context::testing::Random;

const AT: i64 = 1_735_689_600_000_000; // Wednesday, 2025-01-01

/// The claims of a message that are not discarded.
fn kept(text: &str) -> Vec<Claim> {
    let claims = judge(&Utterance { text, speaker: Speaker::User, before: "", after: "", at: AT });
    claims.into_iter().filter(|claim| claim.category != Category::Discard).collect()
}

/// The only one of them.
fn one(text: &str) -> Claim {
    let mut claims = kept(text);
    assert_eq!(claims.len(), 1, "{text}: {claims:?}");
    claims.remove(0)
}

#[test]
fn a_sentence_that_says_more_than_its_value_is_kept_whole() {
    for (text, slot) in [
        ("I weigh 71 kg but want to reach 68 by June", Some("weight")),
        ("I'm 180 cm tall, without shoes", Some("height")),
        ("I'm Ilse, a potter from Bruges", Some("name")),
        ("I'm a paramedic, mostly on night shifts in Antwerp", Some("occupation")),
        ("I'm a nurse but on leave since May", Some("occupation")),
        ("I got a new job at Bosch, starting in May", Some("employer")),
        ("I started a new job as a teacher at Westfield High", Some("occupation")),
        ("I got a new job at Bosch but said no in the end", None),
        ("I'm a baker at weekends, not for a living", None),
        ("I've always been allergic to horses but never to cows", None),
        ("I've been allergic to latex since an operation", None),
    ] {
        let claim = one(text);
        assert_eq!((claim.text.as_str(), claim.slot.as_deref(), claim.doubt), (text, slot, None), "{claim:?}");
    }
    assert_eq!(one("I'm Ilse, nice to meet you").text, "The user's name is Ilse.");
    assert_eq!(one("I'm a paramedic, thanks").text, "The user works as a paramedic.");
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
fn who_moved_from_one_place_to_another_lives_in_the_second() {
    let (moved, why) = (one("We just moved from Lyon to Nantes btw"), one("I moved from Lyon to Nantes for work"));
    assert_eq!((moved.text.as_str(), moved.slot.as_deref()), ("The user lives in Nantes.", Some("home")));
    assert_eq!((why.text.as_str(), why.slot.as_deref()), ("I moved from Lyon to Nantes for work", Some("home")));
    for text in ["We moved from Heroku to Fly", "I moved from sales to support", "We moved from Postgres to MySQL for billing"] {
        assert!(kept(text).iter().all(|claim| claim.slot.as_deref() != Some("home")), "{text}");
    }
}

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
fn an_exception_is_no_purpose() {
    for (text, slot) in [
        ("I prefer Ruby, except for data work", Some("programming language")),
        ("I prefer tea, but not for breakfast", Some("hot drink")),
        ("I prefer Ruby rather than for data work", Some("programming language")),
        ("I prefer Ruby for data work", Some("programming language for data work")),
    ] {
        assert_eq!(one(text).slot.as_deref(), slot, "{text}");
    }
    assert_eq!(one("We use Redis, but not for queues").slot, None);
}

#[test]
fn who_moved_is_not_where_they_moved_to() {
    for (text, slot, stored) in [
        ("My grandparents moved to Bari", Some("grandparents' home"), "The user's grandparents live in Bari."),
        ("My ex moved to Oslo", Some("ex's home"), "The user's ex lives in Oslo."),
        ("My squad moved to Jira", None, "My squad moved to Jira"),
        ("Our bakery moved to Ghent", Some("bakery"), "Our bakery is in Ghent."),
        ("My appointment moved to 3 pm", Some("appointment"), "The user's appointment is 3 pm."),
        ("Our staging cluster moved to eu-3", Some("staging cluster"), "Our staging cluster is eu-3."),
    ] {
        let claim = one(text);
        assert_eq!((claim.slot.as_deref(), claim.text.as_str()), (slot, stored), "{claim:?}");
    }
}

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
fn small_letters_are_english_where_a_rule_reads_them() {
    for (text, slot) in [
        ("stop using markdown", Some("markdown")),
        ("avoid jargon", None),
        ("new phone: Pixel 9", Some("phone")),
        ("pronouns: she/her", Some("pronouns")),
        ("bella passed away yesterday", None),
    ] {
        let claim = one(text);
        assert_eq!((claim.slot.as_deref(), claim.reason.starts_with("rule: ")), (slot, true), "{text}: {claim:?}");
    }
    for text in ["voglio mangiare pizza stasera", "prefiero python", "npm install failed", "name: web", "status: done"] {
        assert_eq!(kept(text), [], "{text}");
    }
    let heard = ["my exam is on 3 June", "oops, sorry, 13 June, typo"];
    let heard: Vec<Heard> = (0..).zip(heard).map(|(index, text)| Heard::new(index, "user", text, Some(AT))).collect();
    assert_eq!(judge_among(&heard, 1, AT)[0].text, "The user's exam is on 13 June.");
}

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
fn what_something_is_to_do_is_not_its_value() {
    for text in [
        "Make the app crash.",
        "Make the function throw.",
        "Make the test skip.",
        "Make the modal close.",
        "Make the header stay on top.",
        "Make the test skip Windows.",
        "Make the build fail on Windows.",
        "Make the engine start.",
        "Make the tests pass.",
        "Make the service stop.",
        "Make the font match.",
        "Make the number of seats match.",
        "Make the reservation for four people.",
    ] {
        assert!(kept(text).iter().all(|claim| claim.slot.is_none()), "{text}: {:?}", kept(text));
    }
    for (text, slot) in [
        ("Make the party size 4.", "party size"),
        ("Make the font Arial.", "font"),
        ("Make the background blue.", "background"),
        ("Make my pickup city Ghent.", "pickup city"),
        ("Make the deadline next Friday.", "deadline"),
        ("Make the passenger Ann.", "passenger"),
        ("Make the second driver Tom.", "second driver"),
        ("Make the number of guests 5.", "number of guests"),
        ("Make my username joe42.", "username"),
        ("make the city paris", "city"),
    ] {
        assert_eq!(one(text).slot.as_deref(), Some(slot), "{text}");
    }
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
fn a_correction_takes_whole_words_and_one_moment() {
    let corrected = |texts: &[&str]| {
        let heard: Vec<Heard> = (0..).zip(texts).map(|(index, text)| Heard::new(index, "user", text, Some(AT))).collect();
        let claims = judge_among(&heard, heard.len() - 1, AT);
        claims.into_iter().filter(|claim| claim.replaces.is_some()).map(|claim| claim.text).collect::<Vec<_>>()
    };
    for (said, corrects, text) in [
        ("My dog is called Max.", "Actually it's Rex, not Max.", "The user's dog is called Rex."),
        ("My budget is $50.", "Sorry, it's $60, not $50.", "The user's budget is $60."),
        ("My party may be on Tuesday at Ann's place.", "Sorry, Thursday.", "My party may be on Thursday (2025-01-02) at Ann's place."),
        ("My exam is on 3 May.", "Sorry, 4 May.", "The user's exam is on 4 May."),
        ("My exam is in May.", "Sorry, June.", "The user's exam is in June."),
        ("My exam is on 4 March.", "Sorry, 4 March 2027.", "The user's exam is on 4 March 2027."),
        ("My exam is on 4 March 2027.", "Sorry, 5 March.", "The user's exam is on 5 March 2027."),
        ("My exam is on Friday, June 13.", "Sorry, June 20.", "My exam is on June 20."),
        ("My exam is on Friday at 9am.", "Sorry, 10am.", "The user's exam is on Friday (2025-01-03) at 10am."),
    ] {
        assert_eq!(corrected(&[said, corrects]), [text], "{said} {corrects}");
    }
    for (said, corrects) in [
        ("My dog is called Maxine.", "Actually it's Rex, not Max."),
        ("My flight is at 15:30.", "Sorry, it's 16:30, not 5:30."),
        ("We use MySQL for orders.", "Sorry, it's Postgres, not SQL."),
        ("My address is 15 Mill Lane.", "Sorry, it's 7, not 5."),
        ("I live in Porto.", "I meant Ghent, not Port."),
        ("My shift is from 9am to 5pm.", "Sorry, 6pm."),
        ("My course is on Monday and Friday.", "Sorry, Tuesday."),
        ("My exam is on June 13.", "Sorry, Thursday."),
        ("My exam is at 7am. My shift is from 9am to 5pm.", "Sorry, 6pm."),
    ] {
        assert_eq!(corrected(&[said, corrects]), [""; 0], "{said} {corrects}");
    }
}

#[test]
fn what_moved_to_a_numbered_place_is_not_that_place() {
    for text in [
        "My flight moved to gate B12.",
        "My flight was moved to Terminal 2",
        "My appointment moved to room 12",
        "My train moved to platform 9",
    ] {
        assert_eq!((one(text).slot, one(text).text.as_str()), (None, text), "{text}");
    }
    for (text, slot) in [
        ("My flight moved to TP999", "flight"),
        ("My exam moved to May 3", "exam"),
        ("My exam moved to next 3 May", "exam"),
        ("My appointment was moved to 3 pm", "appointment"),
        ("The room was moved to room 5", "room"),
    ] {
        assert_eq!(one(text).slot.as_deref(), Some(slot), "{text}");
    }
}

/// A rule was asked of every rest of a sentence, so that the time grew with its square.
#[test]
fn a_sentence_is_cut_at_a_bounded_number_of_places() {
    let text = "i, ".repeat(1_300);
    let whole = "i prefer tea, ".repeat(250);
    let own = words(&whole);
    assert_eq!(clauses(&whole, Span { start: 0, end: whole.len() }, &own).len(), MOST_CLAUSES + 1);
    assert_eq!(kept(&text).len(), 0);
}

#[test]
fn whatever_is_said_is_judged() {
    // Signs before, inside and behind words, cuts where no space is, and openings that rules look behind.
    const PIECES: [&str; 64] = [
        "I live in Rome",
        "my name is Ann",
        "'I am",
        "\"I live",
        "\u{201C}I prefer",
        "\u{2018}my",
        "\u{AB} je",
        "\u{201E}ich",
        "\u{1F600}",
        "\u{1F600}\u{1F600} ",
        "\u{4F60}\u{597D}\u{3002}",
        "\u{3002}",
        "\u{2026}",
        "\u{2014}",
        "rewrite",
        "Rewrite this",
        "draft an email",
        ": ",
        "fix the grammar",
        "please",
        "can you",
        "\n",
        "\n\n",
        "Here is the email I got:\n",
        "Hi, ",
        "moved to",
        "allergic to",
        "nuts",
        "I'm",
        "not",
        "but to",
        "except for",
        "?",
        "!",
        ".",
        ",",
        ";",
        "(",
        ")",
        "-",
        "/",
        "13 March",
        "typo",
        "sorry, ",
        "never use",
        "always",
        "e.g.",
        "3.5",
        "10:30",
        "'",
        "\"",
        "\u{2019}s",
        "\u{E9}t\u{E9}",
        "\u{130}",
        "\u{1E9E}",
        "Since I'm allergic to oats, what can I take?",
        "I take",
        "20 mg",
        "daily",
        "my son is",
        "stopped taking",
        "no longer",
        "```",
        "Bob: ",
    ];
    let mut random = Random::new(11);
    for _ in 0..20_000 {
        let count = 1 + random.below(8);
        let text: String = (0..count).map(|_| [PIECES[random.below(64) as usize], ["", " "][random.below(2) as usize]].concat()).collect();
        for claim in judge(&Utterance { text: &text, speaker: Speaker::User, before: "", after: "", at: AT }) {
            assert!(text.get(claim.span.0..claim.span.1).is_some(), "{text:?}: {claim:?}");
        }
    }
}
