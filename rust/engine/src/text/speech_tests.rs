//! The tests of [`super`]: tables of what asks, what states and what does not know.

use super::super::speech_lists::{IGNORANT, IGNORANT_ACCENTED};
use super::*;

/// Whether a text says that it does not know, and states nothing.
fn does_not_know(text: &str) -> bool {
    only(text, Clause::Ignorant)
}

#[test]
fn a_time_is_asked_for_or_not() {
    assert!(asks_when("When did she visit the museum?") && asks_when("how long did it take"));
    assert!(!asks_when("What was the port?") && !asks_when("how often, and how few"));
    for (text, asks) in [("'WHEN'?", true), ("how '' long", true), ("wh\u{e9}n", true), ("years, when's", false), ("when\u{65e5}", false)] {
        assert!(asks_when(text) == asks && asks_when(&format!("{text} \u{e9}")) == asks, "{text}");
    }
}

const ASKS: &[&str] = &[
    "which port does payments-api use?",
    "Which port does payments-api use",
    "what is my favourite editor",
    "contact person at Dr. Weiss?",
    "Hey, where did we park the car",
    "how many people work there",
    "who leads the platform team",
    "Do you remember the name of my dog",
    "is the server up",
    "can you tell me why",
    "tell me which region we deploy to",
    "how to restart it",
    "Hello! What should I cook tonight?",
    "remind me when the review is",
    "\u{bf}Cu\u{e1}l es mi editor favorito?",
    "cu\u{e1}l es mi editor",
    "Welchen Editor benutze ich?",
    "welchen editor nutze ich",
    "kannst du mir den Port sagen",
    "Quel est mon \u{e9}diteur pr\u{e9}f\u{e9}r\u{e9}",
    "est-ce que je prends du sucre",
    "Qual \u{e9} o meu editor",
    "dove abito",
    "\u{43a}\u{430}\u{43a}\u{43e}\u{439} \u{443} \u{43c}\u{435}\u{43d}\u{44f} \u{440}\u{435}\u{434}\u{430}\u{43a}\u{442}\u{43e}\u{440}",
    "\u{79c1}\u{306e}\u{72ac}\u{306e}\u{540d}\u{524d}\u{306f}\u{4f55}\u{3067}\u{3059}\u{304b}",
    "\u{4f60}\u{77e5}\u{9053}\u{7aef}\u{53e3}\u{5417}",
    "\u{652f}\u{4ed8}\u{670d}\u{52a1}\u{7528}\u{54ea}\u{4e2a}\u{7aef}\u{53e3}\u{ff1f}",
    "\u{c81c} \u{ac15}\u{c544}\u{c9c0} \u{c774}\u{b984}\u{c774} \u{bb50}\u{c608}\u{c694}?",
    "\u{623}\u{64a}\u{646} \u{623}\u{633}\u{643}\u{646}\u{61f}",
    "\u{645}\u{62a}\u{649} \u{645}\u{648}\u{639}\u{62f}\u{64a}",
    "And you?",
    "?",
    "sag mir meine Spindnummer",
    "Nenne mir meine Spindnummer",
    "kennst du meine Spindnummer",
    "donne-moi mon num\u{e9}ro de casier",
    "dime mi n\u{fa}mero de taquilla",
    "dimmi il mio numero di armadietto",
    "\u{441}\u{43a}\u{430}\u{436}\u{438} \u{43c}\u{43d}\u{435} \u{43d}\u{43e}\u{43c}\u{435}\u{440} \u{448}\u{43a}\u{430}\u{444}\u{447}\u{438}\u{43a}\u{430}",
    "\u{43d}\u{430}\u{43f}\u{43e}\u{43c}\u{43d}\u{438} \u{43d}\u{43e}\u{43c}\u{435}\u{440} \u{448}\u{43a}\u{430}\u{444}\u{447}\u{438}\u{43a}\u{430}",
    "\u{442}\u{44b} \u{43f}\u{43e}\u{43c}\u{43d}\u{438}\u{448}\u{44c} \u{43c}\u{43e}\u{439} \u{43d}\u{43e}\u{43c}\u{435}\u{440} \u{448}\u{43a}\u{430}\u{444}\u{447}\u{438}\u{43a}\u{430}",
    "\u{645}\u{627} \u{647}\u{648} \u{631}\u{642}\u{645} \u{62e}\u{632}\u{627}\u{646}\u{62a}\u{64a}",
    "\u{623}\u{62e}\u{628}\u{631}\u{646}\u{64a} \u{631}\u{642}\u{645} \u{62e}\u{632}\u{627}\u{646}\u{62a}\u{64a}",
    "\u{c81c} \u{c0ac}\u{bb3c}\u{d568} \u{bc88}\u{d638}\u{ac00} \u{bb50}\u{c608}\u{c694}",
    "\u{c0ac}\u{bb3c}\u{d568} \u{bc88}\u{d638} \u{c54c}\u{b824}\u{c918}",
    "\u{30ed}\u{30c3}\u{30ab}\u{30fc}\u{756a}\u{53f7}\u{3092}\u{6559}\u{3048}\u{3066}",
    "puedes decirme mi n\u{fa}mero de taquilla",
    "\u{544a}\u{8bc9}\u{6211}\u{6211}\u{7684}\u{50a8}\u{7269}\u{67dc}\u{53f7}\u{7801}",
];

const STATES: &[&str] = &[
    "The timeout is 30 ms. Is that ok?",
    "I live on Main St. Where is the bank?",
    "payments-api listens on 8443",
    "I moved to Lisbon. And you?",
    "What I need is rest",
    "When the server was down, we restarted it",
    "What a day it was",
    "Which is why we moved",
    "Do the dishes every evening",
    "Have a look at node-9",
    "I wonder, and it works: port 8443",
    "Never deploy on a Friday!",
    "Was ich brauche, ist Ruhe",
    "wie immer am Freitag",
    "Prefiero el t\u{e9}",
    "Como siempre, caf\u{e9}",
    "Yes",
    "\u{42f} \u{436}\u{438}\u{432}\u{443} \u{432} \u{41c}\u{43e}\u{441}\u{43a}\u{432}\u{435}",
    "\u{79c1}\u{306f}\u{6771}\u{4eac}\u{306b}\u{4f4f}\u{3093}\u{3067}\u{3044}\u{307e}\u{3059}\u{3002}",
    "The URL is https://a.io/?q=1 and it works",
    "How they did it is in the wiki.",
    "Where I live it rains.",
    "I don't know much about cars, but mine is a blue Volvo",
    "8443",
    "If I don't know a word, I look it up in Collins.",
    "Gib mir meine Berichte immer als PDF",
    "Ich kenne deine Stadt gut",
    "Du hast mir gesagt, dass es regnet",
    "\u{43d}\u{430}\u{43f}\u{43e}\u{43c}\u{43d}\u{438} \u{43c}\u{43d}\u{435} \u{43f}\u{43e}\u{437}\u{432}\u{43e}\u{43d}\u{438}\u{442}\u{44c} \u{43c}\u{430}\u{43c}\u{435}",
    "\u{441}\u{43a}\u{430}\u{436}\u{438} \u{43c}\u{430}\u{43c}\u{435}, \u{447}\u{442}\u{43e} \u{44f} \u{434}\u{43e}\u{43c}\u{430}",
    "dime siempre mi saldo en euros",
    "Ich mag deine Idee nicht",
];

const IGNORANT_TEXTS: &[&str] = &[
    "Sorry, I don't know that.",
    "I\u{2019}m sorry, but I don\u{2019}t have any information about that.",
    "No idea!",
    "I don't know. Could you tell me?",
    "I'm not sure. Let me know if you find out!",
    "I couldn't find anything about your dog. Please tell me its name.",
    "Das weiß ich leider nicht.",
    "Ich habe keine Informationen dazu. Kannst du es mir sagen?",
    "Je ne sais pas, d\u{e9}sol\u{e9}.",
    "D\u{e9}sol\u{e9}, je n'ai pas cette information.",
    "Lo siento, no lo s\u{e9}.",
    "No tengo esa informaci\u{f3}n.",
    "N\u{e3}o sei.",
    "Non lo so, mi dispiace.",
    "\u{41a} \u{441}\u{43e}\u{436}\u{430}\u{43b}\u{435}\u{43d}\u{438}\u{44e}, \u{44f} \u{43d}\u{435} \u{437}\u{43d}\u{430}\u{44e}.",
    "\u{5bf9}\u{4e0d}\u{8d77}\u{ff0c}\u{6211}\u{4e0d}\u{77e5}\u{9053}\u{3002}",
    "\u{7533}\u{3057}\u{8a33}\u{3042}\u{308a}\u{307e}\u{305b}\u{3093}\u{3001}\u{308f}\u{304b}\u{308a}\u{307e}\u{305b}\u{3093}\u{3002}",
    "\u{c8c4}\u{c1a1}\u{d558}\u{c9c0}\u{b9cc} \u{baa8}\u{b974}\u{aca0}\u{c2b5}\u{b2c8}\u{b2e4}.",
    "\u{644}\u{627} \u{623}\u{639}\u{631}\u{641}",
    "\u{92e}\u{941}\u{91d}\u{947} \u{928}\u{939}\u{940}\u{902} \u{92a}\u{924}\u{93e}\u{964}",
    "Unfortunately I have no record of that.",
    "I don't know your deploy region.",
    "I don't have access to your calendar.",
    "You haven't told me yet.",
    "Ich kenne deine Spindnummer nicht.",
    "Du hast mir deine Spindnummer noch nicht genannt.",
    "Vous ne m'avez pas donn\u{e9} votre num\u{e9}ro de casier.",
    "Todav\u{ed}a no me has dicho tu n\u{fa}mero de taquilla.",
    "Non conosco il tuo numero di armadietto.",
    "Non mi hai ancora detto il tuo numero.",
    "\u{412}\u{44b} \u{435}\u{449}\u{451} \u{43d}\u{435} \u{441}\u{43a}\u{430}\u{437}\u{430}\u{43b}\u{438} \u{43c}\u{43d}\u{435} \u{43d}\u{43e}\u{43c}\u{435}\u{440} \u{448}\u{43a}\u{430}\u{444}\u{447}\u{438}\u{43a}\u{430}.",
    "\u{60a8}\u{8fd8}\u{6ca1}\u{6709}\u{544a}\u{8bc9}\u{6211}\u{60a8}\u{7684}\u{50a8}\u{7269}\u{67dc}\u{53f7}\u{7801}\u{3002}",
    "\u{30ed}\u{30c3}\u{30ab}\u{30fc}\u{756a}\u{53f7}\u{306f}\u{307e}\u{3060}\u{4f3a}\u{3063}\u{3066}\u{3044}\u{307e}\u{305b}\u{3093}\u{3002}",
    "\u{c0ac}\u{bb3c}\u{d568} \u{bc88}\u{d638}\u{b97c} \u{c544}\u{c9c1} \u{b9d0}\u{c500}\u{d558}\u{c9c0} \u{c54a}\u{c73c}\u{c168}\u{c5b4}\u{c694}.",
    "\u{644}\u{645} \u{62a}\u{62e}\u{628}\u{631}\u{646}\u{64a} \u{628}\u{631}\u{642}\u{645} \u{62e}\u{632}\u{627}\u{646}\u{62a}\u{643} \u{628}\u{639}\u{62f}.",
];

/// Statements that look like questions or like not knowing.
const STATES_IN_DISGUISE: &[&str] = &[
    "My flight is LH1172, right?",
    "I live in Porto now, did you get that?",
    "Can you note that my passport number is X1234567?",
    "Could you please remember that I am allergic to peanuts?",
    "Did you know I was born in Tartu?",
    "Remind me of the dentist appointment on 14 July at 9:30.",
    "Just to confirm: a table for four at Nobu on Friday at 19:00?",
    "The build fails because ld cannot find libssl.so.3.",
    "kubectl could not find the config map payments-env in namespace prod-eu.",
    "I'm unable to eat gluten.",
    "I am unable to climb stairs since the knee surgery in March.",
    "My cardiologist could not find any arrhythmia on the 24-hour ECG.",
    "I don't recall any chest pain before 12 May.",
    "I'm not sure about the red tiles, we prefer the green ones from Ferro.",
    "Mein Flug ist LH1172, oder?",
    "Mon vol est le AF1172, n'est-ce pas ?",
    "Mi vuelo es el IB1172, \u{bf}verdad?",
    "Il mio volo \u{e8} AZ1172, vero?",
    "Kannst du dir merken, dass ich in Porto wohne?",
    "Peux-tu noter que j'habite \u{e0} Porto ?",
    "Puedes anotar que vivo en Oporto?",
    "Puoi ricordare che abito a Porto?",
    "Can you keep in mind that I only eat halal?",
    "Could you note down: my shoe size is 43?",
    "Would you please save my passport number X1234567?",
    "Can you remind me to call Anna at 5?",
    "Remind me to water the plants.",
    "Remind me that the rent is due.",
    "Did you know that my sister was born in Tartu?",
    "I can't find a flat in Porto.",
    "I couldn't find my keys.",
    "I don't have high blood pressure.",
    "I can't find the bug in the code.",
    "I don't have problems with my weight.",
    "I can't find jeans in my size.",
    "I forgot to check the tyre pressure.",
    "I couldn't find your brother.",
    "I do not have your parcel.",
    "I don't have a library card.",
    "I don't have your talent for languages, but I speak Dutch.",
    "We couldn't find the leak in the boiler.",
    "I don't know how to swim.",
    "I don't know anyone in Porto.",
    "I have no record player.",
    "I don't have a middle name.",
    "I don't have any allergies.",
    "I'm not aware of any allergies.",
    "Error: could not find module 'foo' in /usr/lib.",
    "The server has no information about the tenant.",
    "Anna doesn't know the port.",
    "Anna has no idea.",
    "My mother forgot the address.",
    "No s\u{e9} nadar.",
    "Non so nuotare.",
    "No tengo dinero.",
    "No tengo hermanos.",
    "Je n'ai pas de voiture.",
    "Er hat keine Ahnung von Autos.",
    "Ich habe keine Geschwister.",
    "So the review is on Friday at the office?",
    "You said the limit is 3 GB?",
    "I couldn't sleep, the neighbours were loud.",
    "I cannot eat nuts.",
    "git cannot access the remote.",
    "He was not told about the merger.",
    "I forgot my keys at the office.",
    "Give me short answers.",
    "Show me prices in euros from now on.",
    "Find attached the invoice number.",
    "I'd like to know my neighbours better.",
    "We were not told that the port moved to 9443.",
    "I'm not sure that will work on node-9.",
    "The name of the dog is Rex",
    "I never said that I like tea.",
    "It's not in the fridge.",
    "I can't help laughing.",
    "The invoice is not available to customers.",
    "We do not have access to the staging cluster.",
    "My flight is LH1172 right?",
    "You're 42, aren't you?",
    "My appointment is at 9:30 on 14 July, isn't it?",
];

/// Questions that have a tag, a number or the form of an order.
const ASKS_IN_DISGUISE: &[&str] = &[
    "Any chance you recall my landlord's name?",
    "I'd like to know who my landlord is.",
    "landlord name?",
    "landlord name please",
    "Give me the name of my landlord.",
    "Look up my landlord's name.",
    "Please find my landlord's name",
    "My landlord's name again",
    "Remind me: landlord's name.",
    "Tell me my landlord's name",
    "Show me my landlord's name",
    "I was wondering what my landlord's name is",
    "Name of landlord",
    "Sag mir, wie mein Vermieter hei\u{df}t",
    "Wie hei\u{df}t mein Vermieter",
    "Dime el nombre de mi casero",
    "Dis-moi le nom de mon propri\u{e9}taire",
    "What is my flight number, ok?",
    "Can you note what the port is?",
    "Can you remember my birthday?",
    "Do you remember my order 4471?",
    "Which of these is right?",
    "Is that right?",
    "Right?",
    "And on 14 July?",
    "On 14 July, is there a meeting at 9:30?",
    "Are you free on 14 July at 9:30?",
    "For order 4471 did you get a refund?",
    "Any meeting on 14 July at 9:30?",
    "Remind me of my landlord's name",
    "Can you remind me what the port of node-9 is?",
    "\u{bf}Mi vuelo es el IB1172?",
    "Gib mir den Namen meines Vermieters",
    "Nenn mir die Adresse.",
    "Dammi il nome del padrone",
    "Donne-moi l'adresse du bureau.",
    "I want to know where the key is",
    "What was I doing on 14 July at the lake?",
    "The port of node-9 is what?",
    "Really?",
    "My flight number?",
    "Flight number of LH1172 please?",
    "You know?",
    "Did you know my landlord?",
    "Could you tell me that again?",
];

/// Not knowing in other words.
const IGNORANT_IN_OTHER_WORDS: &[&str] = &[
    "You haven't shared your landlord's name with me.",
    "I don't see your landlord's name in our conversation.",
    "I don't have your landlord's name on file.",
    "Your landlord's name isn't something I have.",
    "There is nothing about your landlord in my notes.",
    "I'm afraid that information isn't available to me.",
    "I have no details about your landlord.",
    "I wasn't given your landlord's name.",
    "I don't have that detail about your landlord.",
    "As an AI, I can't access personal information about your landlord unless you share it.",
    "I don't believe you've told me your landlord's name.",
    "Based on our conversation, you have not mentioned your landlord.",
    "I can't find your landlord's name in our chat history.",
    "Mir liegen keine Angaben zu Ihrem Vermieter vor.",
    "Je n'ai pas le nom de votre propri\u{e9}taire.",
    "No tengo el nombre de tu casero.",
    "I don't remember my landlord's name.",
    "I don't know my locker code.",
    "I'm sorry, I cannot find your locker code.",
    "I couldn't find your library card anywhere.",
    "I don't have your shoe size.",
    "I do not have any record of your address.",
    "I don't have access to your calendar.",
    "We have no information on that.",
    "There's no mention of your landlord in our chat.",
    "There are no notes about it.",
    "Nothing about that in my notes.",
    "I wasn't told.",
    "I have not been told your name.",
    "You have not mentioned it.",
    "Es gibt keine Aufzeichnungen dazu.",
    "Ich kenne den Namen Ihres Vermieters nicht.",
    "Leider keine Ahnung.",
    "Je n'ai aucune id\u{e9}e.",
    "N\u{e3}o tenho essa informa\u{e7}\u{e3}o.",
    "Non ho informazioni su questo.",
    "I could not find any information about that.",
    "I'm not certain which one.",
    "I cannot determine that.",
    "No clue.",
    "Not sure.",
    "Don't know.",
    "Couldn't find it.",
    "I'm unable to access your calendar.",
    "I am unable to answer that.",
    "I don't know, sorry.",
    "I'm not aware of that.",
    "I don't know where you live.",
];

#[test]
fn what_looks_like_another_speech_act_is_taken_for_what_it_is() {
    for text in STATES_IN_DISGUISE {
        assert!(!answers_nothing(text), "{text}");
    }
    for text in ASKS_IN_DISGUISE {
        assert!(asks(text) && !does_not_know(text), "{text}");
    }
    for text in IGNORANT_IN_OTHER_WORDS {
        assert!(does_not_know(text) && !asks(text), "{text}");
    }
}

#[test]
fn every_phrase_of_not_knowing_has_a_word_that_denies() {
    for phrase in IGNORANT {
        assert!(Word::all(phrase).iter().any(|word| word.known.is_in(List::Denials)), "{phrase}");
    }
}

#[test]
fn questions_are_told_from_statements() {
    for text in ASKS {
        assert!(asks(text) && !does_not_know(text), "{text}");
    }
    for text in STATES {
        assert!(!asks(text) && !does_not_know(text), "{text}");
    }
}

#[test]
fn what_does_not_know_is_told_from_what_does() {
    for text in IGNORANT_TEXTS {
        assert!(does_not_know(text) && !asks(text), "{text}");
    }
    for text in ["I don't know your region, but your stack is Python.", "I did not know that it was on 8443. It is on 9443 now."] {
        assert!(!does_not_know(text), "{text}");
    }
}

#[test]
fn who_lets_the_other_go_on_asks_nothing() {
    for text in ["ok, go on", "yes please", "Why?", "continue", "Sure, go ahead!", "no thanks", "and then?", "and now?", "thanks!", "Oui"] {
        assert!(goes_on(text), "{text}");
    }
    for text in ["Why Rust?", "go to Rome", "no nuts", "do I smoke?", "", "?", "who is next?"] {
        assert!(!goes_on(text), "{text}");
    }
}

#[test]
fn courtesies_say_nothing() {
    for text in ["thanks!", "Hello", "Hi there, good morning", "ok, thank you", "Danke!"] {
        assert!(acknowledges(text) && !asks(text) && !does_not_know(text), "{text}");
    }
    for text in ["Noted!", "Got it, thanks.", "ok", "Understood. Will do!", "Danke!"] {
        assert!(acknowledges(text), "{text}");
    }
    for text in [
        "Thank you for the help.",
        "No, that is all the help I need. Thanks!",
        "THanks so much for your help!",
        "No thank you. I appreciate the help you provided.",
        "Thanks a ton for the help. That's all I want.",
        "thanks for the info",
    ] {
        assert!(acknowledges(text), "{text}");
    }
    for text in [
        "Thanks for the recipe",
        "Thank you, my number is 5550147",
        "I need help",
        "Thanks to Ana's help I passed",
        "no, not that",
        "Thank you, I have no time today",
        "Thanks. I need help today.",
        "thanks, that helped with it",
        "The info is right, thanks",
        "Thanks, do I need your help?",
        "Thanks, I need it done",
        "Thanks for your help with my asthma",
    ] {
        assert!(!acknowledges(text), "{text}");
    }
    for text in ["- Congrats!", "wow", "Great idea!", "Sorry to hear that.", "Glad to hear it!", "You're welcome!", "Sounds good", "Saved."]
    {
        assert!(acknowledges(text), "{text}");
    }
    for text in [
        "Congratulations to Ana!",
        "my ideas",
        "Sounds like port 8443.",
        "Noted: payments-api listens on 8443",
        "yes",
        "no thanks",
        "ok, 8443",
        "",
        "!",
        "which one?",
        "how are you?",
        "Please tell me the status of payments-api.",
        "Let me know how payments-api is.",
        "Por favor, reinicia payments-api.",
    ] {
        assert!(!acknowledges(text), "{text}");
    }
}

#[test]
fn who_does_not_know_is_told_from_what_somebody_else_does_not() {
    for text in [
        "\u{41c}\u{43e}\u{438} \u{440}\u{43e}\u{434}\u{438}\u{442}\u{435}\u{43b}\u{438} \u{43d}\u{435} \u{437}\u{43d}\u{430}\u{44e}\u{442} \u{430}\u{43d}\u{433}\u{43b}\u{438}\u{439}\u{441}\u{43a}\u{43e}\u{433}\u{43e}.",
        "\u{6211}\u{7238}\u{7238}\u{4e0d}\u{77e5}\u{9053}\u{5bc6}\u{7801}\u{3002}",
        "Je ne sais pas nager.",
        "You did not know about the outage in Porto.",
        "I can't find anything in size 46.",
    ] {
        assert!(!does_not_know(text), "{text}");
    }
    for text in [
        "\u{42f} \u{43d}\u{435} \u{437}\u{43d}\u{430}\u{44e}, \u{433}\u{434}\u{435} \u{44d}\u{442}\u{43e}.",
        "\u{6211}\u{771f}\u{4e0d}\u{77e5}\u{9053}\u{3002}",
        "\u{62b1}\u{6b49}\u{ff0c}\u{4e0d}\u{77e5}\u{9053}\u{3002}",
        "Je ne sais pas.",
        "Je ne sais pas o\u{f9} il habite.",
        "Sorry, thanks, I did not know that.",
        "I can't find anything in my notes.",
    ] {
        assert!(does_not_know(text), "{text}");
    }
}

#[test]
fn a_value_behind_a_mark_states() {
    for text in [
        "Name of my landlord: Bob Miller",
        "Address of the clinic \u{2014} Elm Street",
        "Bob changed his number again.",
        "What fixed the bug was clearing the cache.",
        "Will, my brother, lives in Ghent.",
        "was told to take 20mg of Rivotril",
        "was in Rome last week",
        "had my appendix removed in 2019",
        "\u{6211}\u{6ca1}\u{4ec0}\u{4e48}\u{8fc7}\u{654f}",
        "\u{6211}\u{4e0d}\u{77e5}\u{9053}\u{4e3a}\u{4ec0}\u{4e48}\u{ff0c}\u{4f46}\u{662f}\u{6211}\u{5bf9}\u{82b1}\u{751f}\u{8fc7}\u{654f}\u{3002}",
    ] {
        assert!(!asks(text), "{text}");
    }
    for text in [
        "Name of my landlord",
        "phone number again",
        "What kind of dog do I have",
        "What database is it",
        "will my brother come",
        "was kostet das",
        "had you been there",
    ] {
        assert!(asks(text), "{text}");
    }
}

#[test]
fn what_is_skipped_has_nothing_of_the_lists() {
    assert!(IGNORANT_ACCENTED.iter().chain(&CHINESE_QUESTIONS).all(|part| !part.is_ascii()), "a text of ASCII is not searched for them");
    assert!(BUT.iter().all(|but| but.starts_with([' ', ',', '\u{ff0c}'])), "a clause is cut at these alone");
    assert_eq!(clauses("It is so , but no, aber ja but x"), ["It is so ", "no, aber ja but x"]);
}

#[test]
fn a_word_is_known_for_all_its_lists() {
    for (word, lists) in [("so", [true, false, true]), ("is", [false, true, false]), ("port", [false; 3])] {
        assert_eq!([List::Leads, List::Auxiliaries, List::Courtesy].map(|list| known(word).is_in(list)), lists, "{word}");
    }
    assert_eq!(known("bilmiyorum").begins(Phrases::Ignorant).collect::<Vec<_>>(), ["bilmiyorum"]);
    assert_eq!(known("any").begins(Phrases::Questions).collect::<Vec<_>>(), ["any idea"]);
    assert_eq!(known("any").begins(Phrases::Ignorant).next(), None);
}

#[test]
fn nothing_and_much_are_neither() {
    for text in ["", " ", "\u{1f600}", "...", &"why? ".repeat(1_000)] {
        assert!(!asks(text) && !does_not_know(text), "{text}");
    }
}

#[test]
fn two_questions_are_told_from_one() {
    for text in [
        "Which port does payments-api use, and what is the vault code?",
        "What is the vault code and when are deploys forbidden?",
        "Where is it? How old is it?",
        "Wo ist er, und wann kommt er?",
        "what's my plan, and who\u{2019}s on it",
    ] {
        assert!(asks_several(text), "{text}");
    }
    for text in ["What do I know about who came?", "Which port?", "Tell me what I said and did.", "", "I know where it is, and what."] {
        assert!(!asks_several(text), "{text}");
    }
}
