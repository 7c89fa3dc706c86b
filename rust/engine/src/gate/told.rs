//! Rules for what somebody tells of themselves in few words: what they may not eat, what they do, whom they have, what befell them; and how
//! they want to be answered.

use super::Category;
use super::guards::{among, has, starts};
use super::lexicon::NUMBERS;
use super::rules::{Reading, Sentence};
use super::words::Word;

/// The reading of a sentence that has one of these forms.
pub(super) fn of_oneself(s: &Sentence<'_>) -> Option<Reading> {
    health(s)
        .or_else(|| instruction(s))
        .or_else(|| job(s))
        .or_else(|| trade(s))
        .or_else(|| introduced(s))
        .or_else(|| kin(s))
        .or_else(|| measured(s))
        .or_else(|| occupied(s))
        .or_else(|| event(s))
}

/// Conditions of which a model should know before it recommends anything.
const CONDITIONS: [&str; 24] = [
    "diabetic",
    "celiac",
    "coeliac",
    "pregnant",
    "epileptic",
    "asthmatic",
    "autistic",
    "deaf",
    "blind",
    "dyslexic",
    "intolerant",
    "allergic",
    "allergy",
    "allergies",
    "intolerance",
    "disease",
    "diabetes",
    "asthma",
    "epilepsy",
    "adhd",
    "anemia",
    "hypertension",
    "disability",
    "cancer",
];
/// More of them, of several words.
const CONDITION_PHRASES: [&str; 8] = [
    "high blood pressure",
    "low blood pressure",
    "heart condition",
    "blood disorder",
    "colour blind",
    "color blind",
    "hard of hearing",
    "blood thinners",
];
/// Aids that are used by those who need them.
const AIDS: [&str; 9] = ["wheelchair", "cane", "crutches", "walker", "pacemaker", "inhaler", "epipen", "insulin", "braille"];
/// Words that follow "I can't eat" and name nothing to eat.
const NO_FOOD: [&str; 22] = [
    "another", "any", "anything", "right", "now", "it", "that", "this", "today", "much", "so", "more", "out", "there", "here", "before",
    "until", "when", "like", "at", "with", "alone",
];
/// Words that begin a sentence about one's health.
const OF_HEALTH: [&str; 10] = [
    "i'm",
    "i am",
    "i have",
    "i've got",
    "i have got",
    "i suffer from",
    "i've been diagnosed with",
    "i was diagnosed with",
    "i got diagnosed with",
    "i have been diagnosed with",
];
/// Words that begin a sentence about what one does not eat.
const EATS_NO: [&str; 14] = [
    "i can't eat",
    "i cannot eat",
    "i can not eat",
    "i can't have",
    "i cannot have",
    "i don't eat",
    "i do not eat",
    "i never eat",
    "i can't drink",
    "i cannot drink",
    "i don't drink",
    "i do not drink",
    "i never drink",
    "i'm not allowed to eat",
];

/// "I'm severely allergic to peanuts", "I have celiac disease", "I don't eat pork", "I use a wheelchair".
fn health(s: &Sentence<'_>) -> Option<Reading> {
    let reading = Some(Reading::new(Category::Constraint, "health"));
    if let Some(at) = EATS_NO.iter().find_map(|opening| starts(s.words, 0, opening)) {
        let is_food = s.words.get(at).is_some_and(|word| !word.is_mark() && !among(&NO_FOOD, &word.lower));
        let has = has(&s.words[..at], "have");
        let foods = [
            "dairy",
            "gluten",
            "nuts",
            "sugar",
            "alcohol",
            "caffeine",
            "lactose",
            "milk",
            "eggs",
            "meat",
            "pork",
            "seafood",
            "wheat",
            "soy",
            "shellfish",
        ];
        return reading.filter(|_| is_food && (!has || s.words[at..].iter().any(|word| among(&foods, &word.lower))));
    }
    if let Some(at) =
        ["i use a", "i use an", "i need a", "i wear a", "i wear", "i use"].iter().find_map(|opening| starts(s.words, 0, opening))
    {
        let hears = ["hearing aid", "hearing aids", "insulin pump", "screen reader", "oxygen tank"]
            .iter()
            .any(|aid| starts(s.words, at, aid).is_some());
        return reading.filter(|_| hears || among(&AIDS, s.word(at)) && at + 3 > s.words.len());
    }
    let at = OF_HEALTH.iter().find_map(|opening| starts(s.words, 0, opening))?;
    if s.negated(at) || s.words.len() > 16 {
        return None;
    }
    let near = &s.words[at..s.words.len().min(at + 5)];
    let condition = near.iter().position(|word| among(&CONDITIONS, &word.lower));
    let phrase = CONDITION_PHRASES.iter().any(|phrase| has(near, phrase));
    let doubted = near.iter().any(|word| among(&["no", "not", "question", "if", "friend", "about"], &word.lower));
    let diagnosed = has(&s.words[..at], "diagnosed");
    if let Some(to) = condition.filter(|place| near[*place].lower == "allergic").and_then(|place| starts(s.words, at + place + 1, "to")) {
        let (value, _) = s.value(to)?;
        let degree = s.between(at, to - 2).map(|degree| degree.to_lowercase()).unwrap_or_default();
        let adds = ["also", "too", "actually", "just", "and"].iter().any(|word| degree == *word) || degree.is_empty();
        let degree = if adds { String::new() } else { format!("{degree} ") };
        return reading.map(|reading| reading.text(format!("The user is {degree}allergic to {value}.")));
    }
    reading.filter(|_| (condition.is_some() || phrase || diagnosed) && !doubted)
}

/// How an answer is to be, in one word.
const ANSWERS: [&str; 14] = [
    "answer",
    "answers",
    "response",
    "responses",
    "reply",
    "replies",
    "explanation",
    "explanations",
    "summaries",
    "messages",
    "sentences",
    "things",
    "tone",
    "comments",
];
/// Words of style: "use metric units".
const STYLE: [&str; 34] = [
    "units",
    "spelling",
    "english",
    "metric",
    "imperial",
    "celsius",
    "fahrenheit",
    "markdown",
    "emojis",
    "emoji",
    "tone",
    "format",
    "hints",
    "tabs",
    "spaces",
    "bullet",
    "bullets",
    "tables",
    "jargon",
    "language",
    "words",
    "sentences",
    "pronouns",
    "exclamation",
    "headings",
    "clock",
    "kilometers",
    "kilometres",
    "miles",
    "euros",
    "dollars",
    "comments",
    "formatting",
    "grammar",
];
/// Habits that somebody may be told to stop.
const HABITS: [&str; 26] = [
    "using",
    "apologizing",
    "apologising",
    "saying",
    "asking",
    "calling",
    "adding",
    "writing",
    "giving",
    "suggesting",
    "repeating",
    "being",
    "ending",
    "starting",
    "sending",
    "explaining",
    "including",
    "answering",
    "responding",
    "speaking",
    "talking",
    "mentioning",
    "reminding",
    "thanking",
    "praising",
    "offering",
];
/// Verbs of things that somebody is told not to do each time.
const AVOIDED: [&str; 18] = [
    "use",
    "apologize",
    "apologise",
    "say",
    "ask",
    "call",
    "write",
    "give",
    "suggest",
    "repeat",
    "be",
    "end",
    "start",
    "include",
    "answer",
    "respond",
    "mention",
    "explain",
];

/// "Keep answers under 100 words", "stop using emojis", "please use metric units", "you should always use type hints".
fn instruction(s: &Sentence<'_>) -> Option<Reading> {
    let at = ["please", "can you please", "could you please", "can you", "could you"]
        .iter()
        .find_map(|polite| starts(s.words, 0, polite))
        .unwrap_or(0);
    let rest = s.words.get(at..)?;
    let once = ["this", "that", "it", "here", "now", "yet"].iter().any(|word| has(rest, word)) || rest.len() > 14;
    let of_answers = rest.iter().any(|word| among(&ANSWERS, &word.lower));
    let of_style = rest.iter().any(|word| among(&STYLE, &word.lower));
    let behind = |phrase: &str| starts(s.words, at, phrase);
    let keeps = behind("keep").is_some() && of_answers;
    let stops = behind("stop").is_some_and(|next| among(&HABITS, s.word(next)));
    let avoids = behind("don't")
        .or_else(|| behind("do not"))
        .filter(|next| s.word(*next) != "call" || s.word(next + 1) != "me")
        .is_some_and(|next| among(&AVOIDED, s.word(next)) && (s.word(next) != "use" || of_style))
        || behind("avoid").is_some() && (of_style || of_answers);
    let uses = behind("use").is_some() && of_style && at + 6 > s.words.len();
    let answers =
        ["answer", "reply", "respond", "speak", "talk", "write"].contains(&s.word(at)) && s.word(at + 1) == "in" && s.words.len() <= at + 4;
    let answers = answers && s.words.get(at + 2).is_none_or(|next| !next.is_number());
    let must =
        ["you should always", "you should never", "you must not", "i want you to always", "i want you to never", "i need you to always"]
            .iter()
            .any(|opening| starts(s.words, 0, opening).is_some());
    (must || !once && (keeps || stops || avoids || uses || answers)).then(|| Reading::new(Category::Preference, "how to answer"))
}

/// "I got a new job at Siemens", "I got a new job as a teacher".
fn job(s: &Sentence<'_>) -> Option<Reading> {
    let opened = |openings: &[&str]| openings.iter().find_map(|opening| starts(s.words, 0, opening));
    let begun = opened(&[
        "i got a new job",
        "i got a job",
        "i've got a new job",
        "i have a new job",
        "i found a new job",
        "i found a job",
        "i started a new job",
        "i just got a new job",
        "i started",
        "i just started",
        "i just got a job",
        "i took a job",
        "i accepted a job",
    ])?;
    let verb = s.word(begun);
    let (value, _) = s.value(begun + 1)?;
    let profile = |rule, text: String, slot: &str| Some(Reading::new(Category::Profile, rule).text(text).slot(slot));
    match verb {
        "as" => profile("occupation", format!("The user works as {}.", value.split(" at ").next().unwrap_or(&value)), "occupation"),
        "at" | "with" if s.words[begun + 1].capital => profile("employer", format!("The user works for {value}."), "employer"),
        _ => None,
    }
}

/// Last words of what somebody is by trade.
const TRADES: [&str; 74] = [
    "nurse",
    "teacher",
    "engineer",
    "doctor",
    "developer",
    "programmer",
    "designer",
    "manager",
    "lawyer",
    "student",
    "chef",
    "cook",
    "pilot",
    "driver",
    "writer",
    "author",
    "journalist",
    "scientist",
    "researcher",
    "analyst",
    "accountant",
    "architect",
    "artist",
    "musician",
    "actor",
    "actress",
    "photographer",
    "carpenter",
    "plumber",
    "electrician",
    "mechanic",
    "farmer",
    "gardener",
    "baker",
    "butcher",
    "barber",
    "hairdresser",
    "waiter",
    "waitress",
    "barista",
    "bartender",
    "cashier",
    "clerk",
    "secretary",
    "assistant",
    "consultant",
    "therapist",
    "psychologist",
    "psychiatrist",
    "dentist",
    "pharmacist",
    "surgeon",
    "midwife",
    "paramedic",
    "firefighter",
    "policeman",
    "soldier",
    "officer",
    "professor",
    "lecturer",
    "librarian",
    "translator",
    "editor",
    "economist",
    "banker",
    "founder",
    "freelancer",
    "contractor",
    "technician",
    "administrator",
    "salesperson",
    "realtor",
    "biologist",
    "physicist",
];
/// Words that follow "I'm a" and say nothing lasting.
const NOT_LASTING: [&str; 20] = [
    "bit", "little", "lot", "tad", "fan", "big", "huge", "few", "mess", "fool", "genius", "wreck", "couple", "while", "minute", "day",
    "week", "million", "man", "woman",
];

/// "I'm a nurse": the occupation where it is a trade, else a fact of somebody.
fn trade(s: &Sentence<'_>) -> Option<Reading> {
    let at = ["i'm a", "i'm an", "i am a", "i am an", "i'm now a", "i became a", "i became an"]
        .iter()
        .find_map(|opening| starts(s.words, 0, opening))?;
    let (value, end) = s.value(at)?;
    let retired = among(&["retired", "former", "ex", "aspiring"], s.word(at));
    let place = (at..end.min(at + 4)).find(|place| among(&TRADES, s.word(*place)))?;
    if retired || among(&NOT_LASTING, s.word(at)) || end - place > 6 {
        return retired.then(|| Reading::new(Category::Profile, "what somebody is"));
    }
    let article = s.word(at - 1);
    Some(Reading::new(Category::Profile, "occupation").text(format!("The user works as {article} {value}.")).slot("occupation"))
}

/// Words with a capital behind "I'm" that do not name a person: peoples, faiths and moods.
const NO_NAMES: [&str; 66] = [
    "german",
    "french",
    "spanish",
    "italian",
    "portuguese",
    "english",
    "british",
    "american",
    "canadian",
    "mexican",
    "brazilian",
    "indian",
    "chinese",
    "japanese",
    "korean",
    "russian",
    "ukrainian",
    "polish",
    "dutch",
    "belgian",
    "swiss",
    "austrian",
    "danish",
    "swedish",
    "norwegian",
    "finnish",
    "greek",
    "turkish",
    "irish",
    "scottish",
    "welsh",
    "australian",
    "african",
    "european",
    "asian",
    "israeli",
    "egyptian",
    "nigerian",
    "kenyan",
    "iranian",
    "pakistani",
    "thai",
    "vietnamese",
    "czech",
    "hungarian",
    "romanian",
    "bulgarian",
    "croatian",
    "serbian",
    "argentinian",
    "colombian",
    "chilean",
    "christian",
    "catholic",
    "muslim",
    "jewish",
    "hindu",
    "buddhist",
    "ok",
    "okay",
    "sorry",
    "done",
    "fine",
    "good",
    "back",
    "here",
];

/// "I'm Maria": a name alone.
fn introduced(s: &Sentence<'_>) -> Option<Reading> {
    let at = ["i'm", "i am", "this is", "it's"].iter().take(2).find_map(|opening| starts(s.words, 0, opening))?;
    let (value, end) = s.value(at)?;
    let is_name = |word: &Word| {
        let tail = &s.text[word.start..word.end];
        word.capital
            && tail.chars().skip(1).all(|letter| letter.is_lowercase() || letter == '-' || letter == '\'')
            && !among(&NO_NAMES, &word.lower)
            && tail.len() > 1
    };
    let over = end == s.words.len() || s.parted(end) || s.words[end].is_mark();
    let known = crate::units::calendar::is_named(s.word(at));
    (over && !known && end - at <= 2 && s.words[at..end].iter().all(is_name))
        .then(|| Reading::new(Category::Profile, "introduction").text(format!("The user's name is {value}.")).slot("name"))
}

/// Whom somebody has.
const KIN: [&str; 40] = [
    "dog",
    "dogs",
    "cat",
    "cats",
    "kid",
    "kids",
    "child",
    "children",
    "son",
    "sons",
    "daughter",
    "daughters",
    "brother",
    "brothers",
    "sister",
    "sisters",
    "wife",
    "husband",
    "girlfriend",
    "boyfriend",
    "baby",
    "twins",
    "horse",
    "horses",
    "rabbit",
    "rabbits",
    "parrot",
    "hamster",
    "puppy",
    "kitten",
    "pet",
    "pets",
    "grandchild",
    "grandchildren",
    "grandson",
    "granddaughter",
    "partner",
    "roommate",
    "twin",
    "stepson",
];

/// "We have a dog called Rex", "I have two kids".
fn kin(s: &Sentence<'_>) -> Option<Reading> {
    let at = ["i have", "we have", "i've got", "we've got", "i got", "we got", "we adopted", "i adopted"]
        .iter()
        .find_map(|opening| starts(s.words, 0, opening))?;
    let counted =
        ["a", "an", "one", "several"].contains(&s.word(at)) || among(&NUMBERS, s.word(at)) || s.words.get(at).is_some_and(Word::is_number);
    let whom = (at + 1..(at + 4).min(s.words.len())).find(|place| among(&KIN, s.word(*place)))?;
    let thing =
        s.words.get(whom + 1).is_some_and(|word| ["food", "show", "video", "seat", "question", "problem"].contains(&word.lower.as_str()));
    (counted && !thing && s.words.len() <= 20).then(|| Reading::new(Category::Profile, "whom somebody has"))
}

/// "I weigh 82 kg now", "I'm 180 cm tall".
fn measured(s: &Sentence<'_>) -> Option<Reading> {
    let number = |at: usize| s.words.get(at).is_some_and(Word::is_number);
    if let Some(at) = starts(s.words, 0, "i weigh").filter(|at| number(*at)) {
        return s
            .value(at)
            .map(|(value, _)| Reading::new(Category::Profile, "weight").text(format!("The user's weight is {value}.")).slot("weight"));
    }
    let at = starts(s.words, 0, "i'm").or_else(|| starts(s.words, 0, "i am")).filter(|at| number(*at) && has(s.words, "tall"))?;
    let tall = s.words.iter().position(|word| word.lower == "tall")?;
    let value = s.between(at, tall)?;
    Some(Reading::new(Category::Profile, "height").text(format!("The user's height is {value}.")).slot("height"))
}

/// Words that say what somebody does for longer, or what they are at.
const DOES: [&str; 14] = [
    "i'm learning",
    "i am learning",
    "i'm studying",
    "i am studying",
    "i study",
    "i work on",
    "i work in",
    "i work with",
    "i work from",
    "i'm reading",
    "i'm training for",
    "i'm with",
    "i volunteer at",
    "i teach",
];

/// "I'm learning German", "I work on the payments team": a fact of somebody.
fn occupied(s: &Sentence<'_>) -> Option<Reading> {
    let at = DOES.iter().find_map(|opening| starts(s.words, 0, opening))?;
    let names = s.words[at..].iter().any(|word| word.capital || word.lower == "team");
    let refers = ["it", "this", "that", "you", "how"].contains(&s.word(at));
    (!refers && names && s.words.len() <= 16).then(|| Reading::new(Category::Profile, "what somebody does"))
}

/// Events that befall somebody.
const EVENTS: [&str; 26] = [
    "died",
    "passed away",
    "got divorced",
    "got married",
    "got engaged",
    "are engaged",
    "got separated",
    "moved out",
    "moved in",
    "broke up",
    "broke my",
    "broke his",
    "broke her",
    "was born",
    "gave birth",
    "had surgery",
    "had a baby",
    "lost my job",
    "got fired",
    "got laid off",
    "was laid off",
    "got promoted",
    "was promoted",
    "retired",
    "graduated",
    "started eating",
];
/// Words for things that die and move as well, and are nobody.
const NOBODY: [&str; 14] = ["the", "it", "this", "that", "server", "battery", "process", "if", "when", "who", "what", "did", "has", "had"];

/// "Tom died yesterday", "we got divorced".
fn event(s: &Sentence<'_>) -> Option<Reading> {
    let somebody = s
        .words
        .first()
        .is_some_and(|word| !among(&NOBODY, &word.lower) && (word.capital || ["i", "we", "my", "our"].contains(&word.lower.as_str())));
    let happened = EVENTS.iter().any(|phrase| (1..s.words.len().min(5)).any(|at| starts(s.words, at, phrase).is_some()));
    let machine =
        s.words.iter().any(|word| among(&["laptop", "phone", "battery", "server", "computer", "process", "car", "tv", "app"], &word.lower));
    (somebody && happened && !machine && s.words.len() <= 16)
        .then(|| Reading { importance: 700, ..Reading::new(Category::Episodic, "what befell somebody") })
}
