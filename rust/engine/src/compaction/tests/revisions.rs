//! Statements that are denied, lifted, said again or corrected.

use super::*;

/// The summary of statements that are each answered with "OK.", within `limit` tokens.
fn within(statements: &[&str], limit: u64) -> Summary {
    let texts: Vec<&str> = statements.iter().flat_map(|text| [*text, "OK."]).collect();
    compact(None, &talk(&texts), &[], limit, &counter()).summary
}

/// A summary of two statements with talk of other things around them.
fn among(one: &str, other: &str, limit: u64) -> Summary {
    within(&["Help me plan.", one, "The standup was moved into the small room.", other, "The printer on floor 3 jams."], limit)
}

#[test]
fn a_fact_that_is_denied_in_its_words_goes() {
    for [one, other] in [
        ["The API needs auth.", "The API doesn't need auth."],
        ["The tests are green on main.", "The tests aren\u{2019}t green on main."],
        ["The parcel has arrived in Porto.", "The parcel hasn't arrived in Porto."],
        ["Marta will come to the demo.", "Marta won't come to the demo."],
        ["We must use the staging bucket.", "We mustn't use the staging bucket."],
        ["The hotel did charge the card.", "The hotel didn't charge the card."],
        ["The license covers Berlin.", "The license no longer covers Berlin."],
        ["The lift works.", "The lift does not work."],
        ["My knee hurts when I run.", "My knee doesn't hurt when I run."],
        ["We have a backup of db-3.", "We have no backup of db-3."],
        ["Es gibt Parkpl\u{e4}tze am Hotel.", "Es gibt keine Parkpl\u{e4}tze am Hotel."],
        ["El servicio api-3 funciona.", "El servicio api-3 no funciona."],
        ["Le contrat est sign\u{e9}.", "Le contrat n'est pas sign\u{e9}."],
        ["O contrato est\u{e1} assinado.", "O contrato n\u{e3}o est\u{e1} assinado."],
    ] {
        for [one, other] in [[one, other], [other, one]] {
            let summary = among(one, other, 400);
            assert_eq!(in_order(&summary, &[one, other]), [1], "{one} {other}\n{}", summary.text());
        }
    }
    for [one, other] in [
        ["The red bus stops at Main Street.", "The red bus does not stop at Mill Lane."],
        ["I don't drink coffee.", "You drink coffee."],
        ["Anna eats fish.", "Ben does not eat fish."],
        ["Kim did the dishes.", "Kim does the dishes."],
    ] {
        let summary = among(one, other, 400);
        assert!(summary.text().contains(one), "{one} {other}\n{}", summary.text());
    }
}

#[test]
fn what_was_forbidden_and_is_allowed_is_not_shown_alone_or_last() {
    for [one, other] in [
        ["I mustn't lift more than 5 kg.", "I may lift more than 5 kg again, Dr. Klein says."],
        ["I can't eat gluten.", "I can eat gluten again."],
        ["We can't hire contractors from Poland.", "We can hire contractors from Poland, legal agreed."],
        ["We must never email customers on Sundays.", "We can email customers on Sundays now."],
        ["Never deploy on Fridays.", "We can deploy on Fridays again."],
        ["You shouldn't log tokens of svc-4.", "It is fine to log tokens of svc-4 now."],
        ["You are not allowed to log tokens of svc-4.", "You're allowed to log tokens of svc-4 now."],
        ["The demo must run offline on the Pixel 6.", "The demo doesn't have to run offline on the Pixel 6."],
        ["I have to be home by 18:00 on Tuesdays.", "I no longer have to be home by 18:00 on Tuesdays."],
        ["The dog is not allowed in cabin 4.", "The dog is allowed in cabin 4."],
        ["On ne d\u{e9}ploie jamais le vendredi.", "On d\u{e9}ploie de nouveau le vendredi."],
        ["Wir m\u{fc}ssen das VPN nutzen.", "Wir m\u{fc}ssen das VPN nicht mehr nutzen."],
    ] {
        for limit in [400, 80, 50] {
            let summary = among(one, other, limit);
            let order = in_order(&summary, &[one, other]);
            assert!(order.is_empty() && limit < 80 || order.last() == Some(&1), "{one} {other}\n{}", summary.text());
        }
    }
    for [rule, plain] in [
        ["Don't restart worker-12.", "I can restart worker-12."],
        ["Never log tokens.", "We were allowed to log tokens."],
        ["Never log tokens.", "It is said to log tokens."],
        ["We can't book the Hotel Astoria.", "We can see the Hotel Astoria."],
    ] {
        assert_eq!(texts(&among(rule, plain, 400), Section::Constraints), [rule], "{plain}");
    }
}

#[test]
fn a_lifted_rule_does_not_outlive_what_lifts_it() {
    let rules: Vec<String> = (0..9).map(|at| format!("Never share the folder of team-{at} with vendor-{at}.")).collect();
    let mut said: Vec<&str> = rules.iter().map(|rule| &**rule).collect();
    said.push("You can share the folder of team-3 with vendor-3 again.");
    for limit in 60..300 {
        let text = within(&said, limit).text();
        assert!(!text.contains(&rules[3]) || text.contains(said[9]), "{limit}: {text}");
    }
}

#[test]
fn a_rule_that_is_said_again_pushes_none_out() {
    let rules = [
        ["Always use tabs for indentation in Go.", "In Go, always use tabs for indentation, as I said."],
        ["Never push to main without review.", "As I said, never push to main without a review."],
        ["Reports must be in PDF before Friday.", "Before Friday, reports must be in PDF, remember."],
        ["The budget for catering is 900 euros.", "As I told you, the catering budget is 900 euros."],
        ["Only Ann may approve refunds above 200.", "Refunds above 200: only Ann may approve those."],
        ["Backups must be kept for 30 days in eu-west-1.", "In eu-west-1, backups must be kept for 30 days."],
        ["Never call customers after 18:00.", "After 18:00, never call customers."],
        ["All dates must be ISO in exports.", "In exports, all dates must be ISO."],
        ["Vendor Kilo must not see salary data.", "As I said, Vendor Kilo must not see salary data."],
        ["The demo must run offline on the Pixel 6.", "On the Pixel 6, the demo must run offline."],
    ];
    let kept = |limit: u64| {
        let said: Vec<&str> = [0, 1, 0].iter().flat_map(|time| rules.iter().map(|rule| rule[*time])).collect();
        let text = within(&said, limit).text();
        rules.iter().filter(|rule| rule.iter().any(|one| text.contains(one))).count()
    };
    let once = |limit: u64| {
        let said: Vec<&str> = rules.iter().map(|rule| rule[0]).collect();
        let text = within(&said, limit).text();
        said.iter().filter(|rule| text.contains(**rule)).count()
    };
    for limit in [160, 200, 250] {
        assert!(kept(limit) + 1 >= once(limit), "{limit}: {} of {}", kept(limit), once(limit));
    }
    assert_eq!(kept(250), 10);
}

#[test]
fn a_correction_that_names_another_value_stands_with_what_it_corrects() {
    for [one, other] in [
        ["The port of the proxy must be 8080.", "Sorry, I meant 8443 for the proxy port."],
        ["My budget is 800 euros for the bike.", "Oops, 900 euros for the bike."],
        ["The limit is 30 guests in hall B.", "Sorry, 45 guests fit in hall B."],
        ["The meeting must be on Tuesday.", "The meeting is on Thursday instead."],
        ["The report must be in PDF.", "The client wants the report in Word instead."],
        ["We need a projector in room Ada.", "We have a projector in room Ada after all."],
        ["Only run the slow tests at night.", "Run the slow tests at noon instead."],
        ["I can't do Mondays for physio.", "Mondays work for physio after all."],
        ["We go with Kafka for events.", "NATS takes the events of Kafka instead."],
    ] {
        let summary = among(one, other, 400);
        assert_eq!(in_order(&summary, &[one, other]), [0, 1], "{one} {other}\n{}", summary.text());
        let of = |text: &str| summary.lines.iter().find(|line| &*line.text == text).map(|line| line.section);
        assert_eq!(of(one), of(other), "{one} {other}\n{}", summary.text());
    }
    let rules = [
        "The report must be done by Monday.",
        "Never deploy on Friday.",
        "My sister must take the bus at 9.",
        "The budget for the party is 500 euros.",
        "Don't restart worker-12.",
        "The cat must stay off the keyboard.",
    ];
    for plain in [
        "Sorry, I'm late with the report of Monday.",
        "Sorry, the report of Monday is not done.",
        "Sorry, the deploy of Friday hangs.",
        "The deploy of Friday is no longer red.",
        "My sister took the bus instead.",
        "We played cards with my sister on the bus instead.",
        "Sorry, I am late for the party.",
        "Sorry, job 786 is on worker-12 since 9.",
        "Wait, the cat is at the keyboard.",
        "The report is long after all.",
        "The report of worker-12 is long after all.",
        "The cat sat on the keyboard instead.",
    ] {
        let mut said = rules.to_vec();
        said.push(plain);
        assert_eq!(texts(&within(&said, 400), Section::Constraints), rules, "{plain}");
    }
}

#[test]
fn of_several_users_one_does_not_deny_what_another_says_of_himself() {
    let by = |index: u64, name: Option<&str>, text: &str| {
        let message = Message { name: name.map(Into::into), ..Message::text(Role::User, text) };
        Source { index, message: Arc::new(message) }
    };
    for [one, other] in [
        ["I am allergic to nuts.", "I am not allergic to nuts."],
        ["I want the aisle seat.", "I don't want the aisle seat."],
        ["I can't drive on Friday.", "I can drive on Friday."],
        ["I booked train 512.", "I have not booked train 512."],
    ] {
        let said = |first, second| {
            let summary = compact(None, &[by(0, first, one), by(1, second, other)], &[], 400, &counter()).summary;
            in_order(&summary, &[one, other])
        };
        let mut both = said(Some("ann"), Some("bob"));
        both.sort_unstable();
        assert_eq!(both, [0, 1], "{one} {other}");
        if !one.contains("booked") {
            assert_eq!(said(Some("ann"), Some("ann")), [1], "{one} {other}");
            assert_eq!(said(None, None), [1], "{one} {other}");
        }
        let before = compact(None, &[by(0, Some("ann"), one)], &[], 400, &counter()).summary;
        let text = compact(Some(&before), &[by(1, Some("bob"), other)], &[], 400, &counter()).summary.text();
        assert!(text.contains(one) && text.contains(other), "{text}");
    }
    let rule = [by(0, Some("ann"), "Never push to main."), by(1, Some("bob"), "You can push to main again.")];
    let summary = compact(None, &rule, &[], 400, &counter()).summary;
    assert_eq!(texts(&summary, Section::Constraints), ["Never push to main.", "You can push to main again."]);
}
