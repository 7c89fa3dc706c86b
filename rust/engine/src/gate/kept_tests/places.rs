//! Who and what moved, and where to.

use super::*;

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

#[test]
fn where_somebody_is_at_times_takes_no_place_of_where_they_are() {
    for text in ["I work at Lidl on Saturdays.", "I work at Lidl on weekends.", "I live in Porto during the summer."] {
        let claims = kept(text);
        assert!(claims.len() == 1 && claims[0].slot.is_none(), "{text}: {claims:?}");
    }
    for (text, slot) in [
        ("I work at Acme.", "employer"),
        ("I live in Ghent since summer 2020.", "home"),
        ("I live in Leeds and play padel on Mondays.", "home"),
    ] {
        let claims = kept(text);
        assert_eq!(claims[0].slot.as_deref(), Some(slot), "{text}: {claims:?}");
        assert_eq!(claims.len(), 1 + usize::from(text.contains(" and ")), "{text}: {claims:?}");
    }
}

#[test]
fn a_home_is_read_behind_when_and_in_what_it_is() {
    for text in ["We moved last month to Chepstow.", "we relocated to Porto", "We live in a flat in Brno."] {
        assert_eq!(one(text).slot.as_deref(), Some("home"), "{text}");
    }
    assert_eq!(one("we relocated to Porto").text, "The user lives in Porto.");
    for text in [
        "We moved last week to Postgres.",
        "We moved the database last month to Oracle.",
        "moved to Done",
        "Moved to Trash this morning",
        "I moved this ticket to Review",
        "we moved this year's offsite to Lisbon",
        "I've been living in Excel all week",
        "we live in a world in Crisis",
        "We moved out to Deliveroo for lunch",
        "I moved back to the start",
        "We moved as planned to phase 2",
        "we live in a house in summer",
        "I live in a state of panic in May",
        "We didn't move last month to Chepstow",
    ] {
        assert!(kept(text).iter().all(|claim| claim.slot.as_deref() != Some("home")), "{text}: {:?}", kept(text));
    }
}

#[test]
fn somebody_is_on_one_team() {
    for (text, told) in [
        ("I've moved to the identity team", "The user is on the identity team."),
        ("I'm on the payments team now", "The user is on the payments team."),
    ] {
        let claim = one(text);
        assert_eq!((claim.text.as_str(), claim.slot.as_deref()), (told, Some("team")), "{claim:?}");
    }
    assert_eq!(one("My new job is at Monzo.").slot.as_deref(), Some("employer"));
    for text in ["my new job is at risk", "our new job is at 3pm in cron", "my job is with Docker mostly"] {
        assert!(kept(text).iter().all(|claim| claim.slot.as_deref() != Some("employer")), "{text}: {:?}", kept(text));
    }
    for text in [
        "I'm on the same team",
        "I joined the football team",
        "i moved to the data team in fantasy football",
        "I joined the meeting with the team",
        "I'm on the train",
    ] {
        assert!(kept(text).iter().all(|claim| claim.slot.as_deref() != Some("team")), "{text}: {:?}", kept(text));
    }
}
