//! The value of a sentence, its purpose, and its correction.

use super::*;

#[test]
fn a_sentence_that_says_more_than_its_value_is_kept_whole() {
    for (text, slot) in [
        ("I weigh 71 kg but want to reach 68 by June", Some("weight")),
        ("I'm 180 cm tall, without shoes", Some("height")),
        ("I'm a paramedic, mostly on night shifts in Antwerp", Some("occupation")),
        ("I'm a nurse but on leave since May", Some("occupation")),
        ("I got a new job at Bosch, starting in May", Some("employer")),
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
    assert_eq!(judge_among(&heard, 1, AT)[0].text, "The user's exam is on 13 June (2025-06-13).");
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
        ("The party is on Friday.", "No, it's on Saturday, not on Friday.", "The party is on Saturday (2025-01-04)."),
        ("The demo is on Friday at 3 pm.", "It's on Thursday, not Friday.", "The demo is on Thursday (2025-01-02) at 3 pm."),
        ("My exam is on Friday at 3 pm.", "It's at 4 pm, not 3 pm.", "The user's exam is on Friday (2025-01-03) at 4 pm."),
        ("My rent is 900 euros.", "It's 950 euros, not 900.", "The user's rent is 950 euros."),
        ("My rent is 900 euros.", "It's 950, not 900 euros.", "The user's rent is 950 euros."),
        ("My party may be on Tuesday at Ann's place.", "Sorry, Thursday.", "My party may be on Thursday (2025-01-02) at Ann's place."),
        ("My exam is on 3 May.", "Sorry, 4 May.", "The user's exam is on 4 May (2025-05-04)."),
        ("My exam is in May.", "Sorry, June.", "The user's exam is in June."),
        ("My exam is on 4 March.", "Sorry, 4 March 2027.", "The user's exam is on 4 March 2027 (2027-03-04)."),
        ("My exam is on 4 March 2027.", "Sorry, 5 March.", "The user's exam is on 5 March 2027 (2027-03-05)."),
        ("My exam is on Friday, June 13.", "Sorry, June 20.", "My exam is on June 20 (2025-06-20)."),
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
fn who_is_switched_is_no_attribute() {
    for text in ["I switched my dad from metformin to insulin.", "I moved my mom from Lisbon to Porto."] {
        assert!(kept(text).iter().all(|claim| claim.slot.is_none()), "{text}: {:?}", kept(text));
    }
    let claims = kept("I changed the from location to Vancouver.");
    assert!(claims.len() == 1 && claims[0].slot.as_deref() == Some("from location"), "{claims:?}");
    let claims = kept("I switched my editor from Vim to Zed.");
    assert!(claims.len() == 1 && claims[0].slot.as_deref() == Some("editor"), "{claims:?}");
}

#[test]
fn the_name_of_a_thing_is_not_the_users() {
    for text in ["Change the name to Foo.", "The name should be Zed.", "Set the timezone to UTC in the config file."] {
        assert!(kept(text).iter().all(|claim| claim.slot.is_none()), "{text}: {:?}", kept(text));
    }
    assert_eq!(one("Change my name to Zed.").slot.as_deref(), Some("name"));
}

#[test]
fn a_name_that_says_of_what_something_is_measured_may_be_long() {
    for (text, told, slot) in [
        (
            "the rate limit on the partner gateway was raised to 500 rps",
            "The rate limit on the partner gateway is 500 rps.",
            "rate limit on the partner gateway",
        ),
        (
            "our budget for the kitchen remodel went up to 15k",
            "Our budget for the kitchen remodel is 15k.",
            "budget for the kitchen remodel",
        ),
        (
            "change the timeout of the checkout service in staging to 45s",
            "The timeout of the checkout service in staging is 45s.",
            "timeout of the checkout service in staging",
        ),
    ] {
        let claim = one(text);
        assert_eq!((claim.text.as_str(), claim.slot.as_deref()), (told, Some(slot)), "{claim:?}");
    }
    for text in [
        "the argument with the neighbours on the third floor was raised to 2 lawyers",
        "the deadline for the grant application was pushed to some later day",
        "the man in the shop with the blue door is 80",
    ] {
        assert!(kept(text).iter().all(|claim| claim.slot.is_none()), "{text}: {:?}", kept(text));
    }
}

#[test]
fn how_something_is_in_another_language_takes_no_slot() {
    for text in [
        "My phone is kaputt.",
        "My phone is Kaputt.",
        "My boss is im Urlaub.",
        "My car is en el taller.",
        "My wife is \u{C4}rztin.",
        "My wife is m\u{FC}de.",
        "Call me ma\u{F1}ana.",
        "Call me sp\u{E4}ter, bitte.",
        "Call me am Montag.",
        "Call me \u{660E}\u{65E5}.",
    ] {
        assert!(kept(text).iter().all(|claim| claim.slot.is_none()), "{text}");
    }
    for (text, slot) in [
        ("My boss is tom.", "boss"),
        ("My wife is zo\u{EB}.", "wife"),
        ("My cat is Moe.", "cat"),
        ("Call me Morgen.", "name"),
        ("My hometown is el paso.", "hometown"),
        ("My birthday is on 3. Mai 1990.", "birthday"),
    ] {
        assert_eq!(one(text).slot.as_deref(), Some(slot), "{text}");
    }
}

#[test]
fn a_name_in_other_letters_is_read_behind_english_words() {
    for (text, slot, says) in [
        ("I live in \u{141}\u{F3}d\u{17A}.", "home", "The user lives in \u{141}\u{F3}d\u{17A}."),
        ("I live in \u{6771}\u{4EAC} now.", "home", "The user lives in \u{6771}\u{4EAC}."),
        ("My name is \u{418}\u{432}\u{430}\u{43D}.", "name", "The user's name is \u{418}\u{432}\u{430}\u{43D}."),
        ("My boss is \u{C7}a\u{11F}r\u{131}.", "boss", "The user's boss is \u{C7}a\u{11F}r\u{131}."),
    ] {
        let claim = one(text);
        assert_eq!((claim.slot.as_deref(), claim.text.as_str()), (Some(slot), says), "{text}");
    }
    for text in [
        "My boss is \u{432} \u{43E}\u{442}\u{43F}\u{443}\u{441}\u{43A}\u{435}.",
        "My boss is \u{51FA}\u{5F35}\u{4E2D}.",
        "\u{42F} \u{436}\u{438}\u{432}\u{443} \u{432} \u{41B}\u{43E}\u{43D}\u{434}\u{43E}\u{43D}\u{435}.",
        "I to m\u{F3}j d\u{F3}m \u{17C}\u{F3}\u{142}ty.",
        "Do I live in \u{6771}\u{4EAC}?",
        "Call me \u{674E}\u{96F7}.",
        "Call me \u{417}\u{430}\u{432}\u{442}\u{440}\u{430}.",
        "My nickname is \u{41C}\u{443}\u{440}\u{430}.",
        "My boss is \u{411}\u{43E}\u{43B}\u{435}\u{43D}.",
        "I live in \u{672A}\u{5B9A}.",
        "I live in \u{4F60}\u{5BB6}.",
        "I live in \u{5B66}\u{6821}.",
    ] {
        assert!(kept(text).iter().all(|claim| claim.slot.is_none()), "{text}");
    }
}
