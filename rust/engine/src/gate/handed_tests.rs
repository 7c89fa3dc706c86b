//! The gate on texts that somebody hands over to be worked on, and on the user's own words beside them.

use super::tests::stored;
use super::*;

const DOC: &str = "I moved to Ghent in May. I work as a welder at Volvo. I'm allergic to sesame.";
const LETTER: &str = "Dear Mr Okoro,\n\nI am a joiner and I live in Derry. I'm coeliac. Also, I run.\n\n\
     With best wishes,\nSiobhan Daly\n\nPS I moved to Cork.";
const MAIL: &str = "Hi Pat,\n\nwe moved to Leeds and I work at Arup now.\n\nI'm vegan. Could you cook?\n\nCheers,\nRosa";
const ARTICLE: &str =
    "The council approved the plan on Monday. Rents rise to 80 euros.\n\nThe mayor lives in Ghent and said that work begins in June.";

/// Requests that say that a text stands beside them.
const REQUESTS: [&str; 27] = [
    "summarise this for me:",
    "proofread this please",
    "can you shorten this text?",
    "make this sound friendlier:",
    "translate the following letter into French:",
    "translate into German please",
    "what is the gist of this text?",
    "fix the grammar in this text:",
    "Hi! Could you polish this a bit:",
    "clean up this paragraph:",
    "who wrote this letter and what does she want?",
    "tl;dr",
    "ELI5 this:",
    "is this email polite or rude?",
    "what's this article about?",
    "my sister sent me this. how should I answer?",
    "what do you think of this cover letter my friend wrote?",
    "Turn this into bullet points:",
    "make it shorter:",
    "extract all names from this text:",
    "classify the sentiment of the message below",
    "check the spelling of this email:",
    "I need you to translate this into Dutch:",
    "tidy this up:",
    "Hey, can you rewrite this more formally?",
    "how should i reply to this mail?",
    "Please summarise the following report. Keep it under 100 words.",
];

/// Words that are not such a request.
const NO_REQUESTS: [&str; 47] = [
    "a bit about me:",
    "for your notes:",
    "remember this:",
    "help me with this:",
    "I need a workout plan.",
    "can you help me with this email?",
    "help me write this email",
    "how do I send this email?",
    "draft an email to my landlord.",
    "write me a cover letter",
    "correct.",
    "Polish, please.",
    "check this",
    "fix this",
    "review this plan",
    "make this a habit for me",
    "make it quick",
    "what does this mean?",
    "what do you think?",
    "is this normal?",
    "does this make sense?",
    "is this message saved?",
    "did you get this message?",
    "how should I reply?",
    "how do I reply to my boss?",
    "translate 'good day' into Dutch",
    "how do you say this in Dutch?",
    "simplify the last answer",
    "shorten your last reply",
    "summarise this conversation",
    "can you summarise what you know about me?",
    "summarise the article I sent yesterday",
    "summarise this for my doctor",
    "turn this into a letter to my landlord",
    "what does the text on the label mean?",
    "simplify this recipe",
    "rewrite this function in Go",
    "always proofread this",
    "this article says coffee is bad for me",
    "my boss told me this morning that I may go",
    "explain this law to me",
    "list the documents I need",
    "who wrote this?",
    "does this letter need a stamp?",
    "what should I write in this letter?",
    "let me summarise:",
    "do you translate?",
];

fn told(text: &str) -> Vec<String> {
    stored(text).into_iter().filter(|claim| claim.doubt.is_none()).map(|claim| claim.text).collect()
}

#[test]
fn a_text_below_a_request_teaches_nothing() {
    for request in REQUESTS {
        for doc in [DOC, LETTER, MAIL, ARTICLE] {
            for between in ["\n\n", "\n"] {
                let text = format!("{request}{between}{doc}");
                assert!(told(&text).is_empty(), "{text}: {:?}", told(&text));
            }
        }
    }
}

#[test]
fn a_text_above_a_request_teaches_nothing() {
    for request in REQUESTS {
        for doc in [DOC, LETTER, MAIL, ARTICLE, "I'm a nurse. I live in Cork.\n\nKind regards,\nAoife Brennan"] {
            for between in ["\n\n", "\n"] {
                let text = format!("{doc}{between}{}", request.trim_end_matches(':'));
                assert!(told(&text).is_empty(), "{text}: {:?}", told(&text));
            }
        }
    }
}

#[test]
fn words_beside_anything_else_are_the_users_own() {
    for lead in NO_REQUESTS {
        for text in [format!("{lead}\n\n{DOC}"), format!("{DOC}\n\n{lead}")] {
            assert!(told(&text).contains(&"The user lives in Ghent.".to_owned()), "{text}: {:?}", told(&text));
        }
    }
}

#[test]
fn the_users_own_words_beside_a_text_are_kept() {
    for (text, own) in [
        ("fix this for me: he go home.\n\nI'm allergic to nuts, so keep that in mind".to_owned(), "allergic to nuts"),
        ("fix this for me:\n\nhe go home. she come.\n\nI'm allergic to nuts, so keep that in mind".to_owned(), "allergic to nuts"),
        ("fix this for me:\n\nI go home. He come.\n\nI'm allergic to nuts.".to_owned(), "allergic to nuts"),
        (format!("summarise this for me:\n\n{ARTICLE}\n\nI live in Bruges."), "Bruges"),
        (format!("summarise this for me:\n\n{DOC}\n\nbtw I live in Bruges."), "Bruges"),
        (format!("summarise this for me:\n\n{DOC} Btw, I live in Bruges."), "Bruges"),
        (format!("summarise this for me:\n\n{DOC}\n\nCan you keep it short? I live in Bruges."), "Bruges"),
        (format!("proofread this:\n\n{LETTER}\n\nI live in Bruges."), "Bruges"),
        (format!("proofread this:\n\n{MAIL}\n\nI live in Bruges."), "Bruges"),
        (format!("summarise this: {DOC}\n\nI live in Bruges."), "Bruges"),
        (format!("I live in Bruges.\n\nsummarise this:\n\n{DOC}"), "Bruges"),
        (format!("I live in Bruges. Summarise this:\n\n{DOC}"), "Bruges"),
        (format!("I live in Bruges.\n\n{ARTICLE}\n\nsummarise this"), "Bruges"),
        (format!("I live in Bruges.\n\nHere's the letter I got:\n\n{LETTER}\n\nwhat should I answer?"), "Bruges"),
        (format!("I live in Bruges.\n\nThe mail I got:\n\n{DOC}\n\ntl;dr"), "Bruges"),
        ("I'm allergic to nuts\n\ntranslate this into Portuguese".to_owned(), "nuts"),
        ("translate this into Portuguese\n\nI'm allergic to nuts".to_owned(), "nuts"),
        ("tl;dr: I live in Bruges.".to_owned(), "Bruges"),
        ("I had a rough year. tl;dr\n\nI live in Bruges.".to_owned(), "Bruges"),
        ("I got an email from Tom. He wants 900 euros. I live in Bruges.\n\nhow should I reply to this email?".to_owned(), "Bruges"),
        ("Hi Claude,\n\nI live in Bruges. I work as a welder.\n\nThanks,\nSam".to_owned(), "Bruges"),
        ("Dear Support,\n\nI live in Bruges. I work as a welder.\n\nKind regards,\nSam Vos\n\nVos bvba".to_owned(), "Bruges"),
        ("Subject: my move\n\nDear Support,\n\nI live in Bruges.\n\nKind regards,\nSam Vos".to_owned(), "Bruges"),
        ("what's the point of this article about Ghent, I wonder. I live in Bruges.".to_owned(), "Bruges"),
    ] {
        assert!(told(&text).iter().any(|told| told.contains(own)), "{text}: {:?}", told(&text));
        assert!(
            !told(&text).iter().any(|told| ["Ghent", "Derry", "Cork", "Leeds"].iter().any(|of| told.contains(of))),
            "{text}: {:?}",
            told(&text)
        );
    }
}

#[test]
fn a_letter_ends_with_its_name() {
    for lead in [
        "my neighbour has sent a strange thing.",
        "Look, my landlord sent me this!",
        "My friend sent me her cover letter, what do you think?",
    ] {
        for letter in [LETTER, MAIL] {
            let text = format!("{lead}\n\n{letter}");
            assert!(told(&text).iter().all(|told| !["Derry", "Leeds", "coeliac"].iter().any(|of| told.contains(of))), "{:?}", told(&text));
        }
    }
    assert!(told(&format!("{LETTER}\n\nwhat does she want?")).is_empty());
}

#[test]
fn a_summary_of_ones_own_leaves_the_story() {
    for own in
        ["tl;dr: no penicillin", "TL;DR need advice", "tl;dr help", "tldr fired", "TLDR: jobless vegan", "tl;dr: for now", "tl;dr bad year"]
    {
        for text in [format!("{DOC}\n\n{own}"), format!("{own}\n\n{DOC}")] {
            assert!(told(&text).contains(&"The user lives in Ghent.".to_owned()), "{text}: {:?}", told(&text));
        }
    }
    for asked in ["tl;dr", "TLDR please", "tl;dr?", "tl;dr this", "tl;dr for me please", "tldr of this article", "eli5 it please"] {
        for text in [format!("{DOC}\n\n{asked}"), format!("{asked}\n\n{DOC}")] {
            assert!(!told(&text).contains(&"The user lives in Ghent.".to_owned()), "{text}: {:?}", told(&text));
        }
    }
}

#[test]
fn a_letter_that_its_user_wrote_is_kept() {
    let letter = "Dear Acme,\n\nI live in Leeds. I'm diabetic.\n\nRegards,\nTom Webb";
    let own = |text: &str| assert!(told(text).iter().any(|told| told.contains("Leeds")), "{text}: {:?}", told(text));
    for lead in [
        "Urgent!",
        "Ticket 4411",
        "Complaint about order 4411",
        "Good morning! New week.",
        "ok here's my letter to the school",
        "this is the mail I sent my boss:",
        "I wrote this to my landlord, is it ok?",
        "I want to send this. ok?",
        "Wrote to HR today.",
        "Draft to my GP",
        "Can you send this to Dr Hall?",
        "my letter:",
        "email to my boss:",
    ] {
        own(&format!("{lead}\n\n{letter}"));
    }
    for behind in ["Can you reply today?", "When will they deliver?", "Please respond to this asap"] {
        own(&format!("{letter}\n\n{behind}"));
    }
    for lead in [
        "My boss wrote me back.",
        "summarise this",
        "The mail that I got:",
        "Email from my landlord",
        "how should I reply to this mail?",
        "I wrote to my landlord. He sent me this.",
        "got this today",
        "what does she want?",
        "is this a scam?",
        "can you help me reply?",
        "what do you think he wants?",
    ] {
        let text = format!("{lead}\n\n{letter}");
        assert!(told(&text).iter().all(|told| !told.contains("Leeds")), "{text}: {:?}", told(&text));
    }
}

#[test]
fn a_paragraph_that_says_why_is_the_users() {
    for why in [
        "For context, I'm a nurse and I live in Bruges.",
        "Context: I'm a nurse. I live in Bruges.",
        "Some background on me: I'm a nurse, I live in Bruges.",
        "My background: I'm a nurse, I live in Bruges.",
        "I'm asking because I live in Bruges.",
    ] {
        for text in [
            format!("{why}\n\n{ARTICLE}\n\ntranslate this please"),
            format!("translate this please\n\n{ARTICLE}\n\n{why}"),
            format!("translate this please\n\n{why}\n\n{ARTICLE}"),
            format!("tl;dr\n\n{DOC}\n\n{why}"),
        ] {
            let told = told(&text);
            assert!(told.iter().any(|told| told.contains("Bruges")), "{text}: {told:?}");
            assert!(!told.iter().any(|told| told.contains("Ghent")), "{text}: {told:?}");
        }
    }
    for of_somebody in [
        "My background is in nursing. I live in Bruges.",
        "Some background on the plan is in the report. I live in Bruges.",
        "Context matters. I live in Bruges.",
    ] {
        let text = format!("proofread this please\n\n{DOC}\n\n{of_somebody}\n\nI run.");
        assert!(told(&text).is_empty(), "{text}: {:?}", told(&text));
    }
}

#[test]
fn ones_own_paragraph_above_a_letter_is_kept() {
    let letter = "Hi all,\n\nI moved to Leeds. My team works at Arup.\n\nBest,\nTom";
    for own in ["I live in Bruges. I'm allergic to nuts.", "My son has asthma and we live in Bruges.", "Also, I live in Bruges."] {
        for text in [
            format!("Can you summarise this for me?\n\n{own}\n\n{letter}"),
            format!("proofread please:\n\n{own}\n\n{letter}"),
            format!("{own}\n\n{letter}\n\nCan you summarise this for me?"),
        ] {
            let told = told(&text);
            assert!(told.iter().any(|told| told.contains("Bruges")), "{text}: {told:?}");
            assert!(!told.iter().any(|told| ["Leeds", "Arup"].iter().any(|of| told.contains(of))), "{text}: {told:?}");
        }
    }
}

#[test]
fn ones_own_facts_may_be_worked_on() {
    for request in [
        "translate for the doctor:",
        "translate this for the pharmacist:",
        "rewrite for LinkedIn",
        "please rewrite this as a bio for LinkedIn",
        "tidy this up and save it",
        "sum it up so you know me",
        "fix the spelling please and save it",
        "clean up this dictation:",
    ] {
        for text in [format!("{request}\n\n{DOC}"), format!("{DOC}\n\n{}", request.trim_end_matches(':'))] {
            assert!(told(&text).contains(&"The user lives in Ghent.".to_owned()), "{text}: {:?}", told(&text));
        }
    }
    for request in ["translate this letter for the doctor:", "summarise this LinkedIn post:", "my friend wrote this, rewrite it as a bio:"]
    {
        assert!(told(&format!("{request}\n\n{DOC}")).is_empty(), "{request}");
    }
}

#[test]
fn it_may_be_what_the_model_said() {
    let said = |before| judge(&Utterance { text: &format!("{DOC}\n\nmake it shorter"), speaker: Speaker::User, before, after: "", at: 0 });
    let lives = |claims: &[Claim]| claims.iter().any(|claim| claim.slot.as_deref() == Some("home"));
    assert!(lives(&said("Here is your list: boots, a coat.")) && !lives(&said("")));
}
