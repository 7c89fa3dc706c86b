//! Whether a question asks for something of the user's own life: "which editor do I use?", "what town do we live in?".
//!
//! Many answers to such a question share no word with it ("moved to VS Code"), and no other source has them. So a prompt takes the next
//! nearest memories as well. Who asks what to do ("how do I sort a list?", "what command do I run?"), asks about a text at hand ("is my
//! grammar correct?") or for a service ("can you check my code?"), asks the model.

use super::whose::is_person;
use crate::text::speech::asks;
use crate::units::clip::clip;

/// The most bytes of a message that is read for it, and the words of the longest question that looks something up: set.
const MOST_BYTES: usize = 600;
const MOST_WORDS: usize = 24;
/// Words before a question.
const LEADS: [&str; 14] = ["hey", "hi", "hello", "so", "ok", "okay", "and", "but", "btw", "oh", "um", "sorry", "well", "wait"];
/// Words that begin a question, and prepositions before such a word.
const ASKS: [&str; 15] =
    ["what", "whats", "which", "who", "whos", "whose", "whom", "where", "wheres", "when", "whens", "how", "hows", "why", "remind"];
const BEFORE: [&str; 8] = ["in", "at", "on", "by", "for", "with", "to", "from"];
const AUXILIARIES: [&str; 14] = ["do", "did", "does", "am", "is", "are", "was", "were", "have", "has", "had", "can", "should", "would"];
/// Words of who asks, also as they are typed without an apostrophe.
const OWN: [&str; 10] = ["i", "me", "my", "mine", "we", "us", "our", "ours", "im", "ive"];
/// Those of the family who are called so without "my": "where does mum live?"
const FAMILY: [&str; 10] = ["mum", "mom", "mummy", "mommy", "mama", "dad", "daddy", "papa", "grandma", "grandpa"];
/// Things at home or at work that people call so: "where's the car?"
const AT_HOME: [&str; 22] = [
    "car",
    "van",
    "bike",
    "cat",
    "dog",
    "kids",
    "twins",
    "baby",
    "boiler",
    "wifi",
    "bins",
    "landlord",
    "plumber",
    "electrician",
    "builder",
    "cleaner",
    "nanny",
    "vet",
    "nursery",
    "garage",
    "inlaws",
    "office",
];
/// Words by which "my" names one of many: "is my heart rate of 95 normal?", "is my dog allowed grapes?"
const JUDGES: [&str; 15] = [
    "joke",
    "quote",
    "horoscope",
    "affirmation",
    "puzzle",
    "quiz",
    "poem",
    "enough",
    "normal",
    "allowed",
    "rights",
    "legal",
    "healthy",
    "safe",
    "too",
];
/// Verbs of services that tell something, and make nothing: "can you remind me where ...".
const TELLS: [&str; 9] = ["tell", "remind", "recall", "remember", "list", "find", "give", "show", "check"];
/// Before the user they ask what to do, what may be done, or what comes of it.
const ADVISES: [&str; 9] = ["can", "could", "should", "shall", "would", "may", "might", "must", "if"];
/// Between the user and a verb they say that it is done each time.
const EACH_TIME: [&str; 6] = ["usually", "normally", "always", "still", "currently", "typically"];
/// Verbs behind "do I" that tell how somebody lives, or what they plan. Others ask what to do: "what do I put into the rice?"
const LIVES: [&str; 76] = [
    "pick",
    "drop",
    "donate",
    "bring",
    "park",
    "live",
    "work",
    "have",
    "like",
    "prefer",
    "love",
    "hate",
    "own",
    "drive",
    "use",
    "take",
    "drink",
    "eat",
    "wear",
    "pay",
    "owe",
    "earn",
    "weigh",
    "study",
    "teach",
    "speak",
    "play",
    "train",
    "sleep",
    "commute",
    "know",
    "want",
    "think",
    "vote",
    "watch",
    "read",
    "listen",
    "rent",
    "charge",
    "report",
    "travel",
    "bank",
    "support",
    "miss",
    "fear",
    "collect",
    "cook",
    "follow",
    "belong",
    "attend",
    "visit",
    "see",
    "keep",
    "go",
    "spend",
    "smoke",
    "sing",
    "ride",
    "fly",
    "leave",
    "arrive",
    "meet",
    "move",
    "finish",
    "land",
    "return",
    "feel",
    "volunteer",
    "celebrate",
    "believe",
    "enjoy",
    "dislike",
    "share",
    "bill",
    "date",
    "need",
];
/// Verbs behind "how do I" where "my" follows, or nothing.
const HABITS: [&str; 9] = ["take", "like", "drink", "eat", "spell", "pronounce", "earn", "feel", "prefer"];
/// Things at hand where they stand right behind "my": "my list" is one, and "my mailing list" and "my code for the door" are none.
const RIGHT_AT_HAND: [&str; 8] = ["code", "list", "table", "class", "answer", "letter", "app", "model"];
/// A text or a thing at hand that "my" names.
const AT_HAND: [&str; 34] = [
    "build",
    "error",
    "errors",
    "query",
    "sql",
    "grammar",
    "essay",
    "script",
    "function",
    "regex",
    "test",
    "tests",
    "cv",
    "resume",
    "sentence",
    "paragraph",
    "text",
    "draft",
    "program",
    "output",
    "loop",
    "variable",
    "variables",
    "branch",
    "commit",
    "pr",
    "join",
    "css",
    "html",
    "container",
    "string",
    "prompt",
    "translation",
    "spelling",
];
/// Words of questions about all of mankind, or about whether something is right.
const OF_ALL: [&str; 10] = ["universe", "moon", "species", "sun", "planet", "humans", "galaxy", "semicolon", "wrong", "correct"];
/// Times that "this" names.
const TIMES: [&str; 12] =
    ["week", "month", "year", "weekend", "morning", "afternoon", "evening", "time", "summer", "winter", "spring", "autumn"];

/// Whether a message asks for something of the user's own life.
pub(super) fn asks_of_own(message: &str) -> bool {
    sentences(clip(message, MOST_BYTES)).any(is_of_own)
}

/// The parts of a text that end at a mark, with it.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['.', '!', '?', ';', '\n']).filter(|part| !part.trim().is_empty())
}

/// The same of one sentence.
fn is_of_own(sentence: &str) -> bool {
    let plain = |word: &str| -> String { word.chars().filter(|one| one.is_alphanumeric()).flat_map(char::to_lowercase).collect() };
    let words: Vec<String> = sentence.split_whitespace().map(plain).filter(|word| !word.is_empty()).take(MOST_WORDS + 1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let words = &words[words.iter().take_while(|word| LEADS.contains(word)).count()..];
    if words.len() > MOST_WORDS {
        return false;
    }
    let (told, is_told) = told(words);
    let meant = told.first().map(|first| as_question_word(first, told));
    let is_mistyped = meant != told.first().copied();
    let told = &meant.into_iter().chain(told.iter().skip(1).copied()).collect::<Vec<_>>()[..];
    let behind = |rest: &[&str]| rest.first().is_some_and(|first| ASKS.contains(first));
    let told = if told.first().is_some_and(|first| BEFORE.contains(first)) && behind(&told[1..]) { &told[1..] } else { told };
    let begins = told.first().is_some_and(|first| ASKS.contains(first) || AUXILIARIES.contains(first));
    let is_own = |word: &&str| OWN.contains(word) || FAMILY.contains(&word.strip_suffix('s').unwrap_or(word));
    let at_home = |pair: &[&str]| pair[0] == "the" && (AT_HOME.contains(&pair[1]) || is_person(pair[1]));
    let speaks = told.iter().any(is_own) || told.windows(2).any(at_home) || is_recalled(words, told);
    let is_named = || {
        sentence.trim_end().ends_with('?')
            && matches!(told, ["my" | "our", ..] | ["name" | "address" | "number" | "date", "of", "my" | "our", ..])
    };
    let is_asked = is_told || is_mistyped || begins && (asks(sentence) || told[0].ends_with('s') && ASKS.contains(&told[0])) || is_named();
    speaks && is_asked && !is_at_hand(told) && !is_advice(told) && !is_of_any(told)
}

/// A question word that was typed with two letters in turn or without one: "waht", "wich", "hw". A word of its own behind it says that it asks.
fn as_question_word<'w>(first: &'w str, words: &[&'w str]) -> &'w str {
    let sorted = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    let lacks_one = |whole: &str| (1..whole.len()).any(|at| format!("{}{}", &whole[..at], &whole[at + 1..]) == first);
    let is_meant = |whole: &&&str| whole.starts_with(&first[..first.len().min(1)]) && (sorted(whole) == sorted(first) || lacks_one(whole));
    let asks = words.iter().skip(1).take(5).any(|word| AUXILIARIES.contains(word) || ["my", "our"].contains(word));
    if first == "were" && words.get(1).is_some_and(|next| ["do", "does", "did", "is"].contains(next)) {
        return "where";
    }
    if !first.is_ascii() || ASKS.contains(&first) || AUXILIARIES.contains(&first) || !asks {
        return first;
    }
    ASKS.iter().find(is_meant).map_or(first, |whole| *whole)
}

/// Whether the assistant is asked to bring back what it was told: "remind me when the MOT is due", "do you remember the name of that wine?"
fn is_recalled(words: &[&str], told: &[&str]) -> bool {
    let recalls = words.iter().take(4).any(|word| ["remind", "remember"].contains(word));
    let names = told.iter().any(|word| ["due", "expires", "renews", "ends", "opens", "closes", "parked"].contains(word));
    recalls && (names || matches!(told, ["whose" | "which" | "the" | "that", ..]))
}

/// Whether "my" names one of many: what holds if something is so, whether it is enough, how such things work, what a word means.
fn is_of_any(words: &[&str]) -> bool {
    let mine = words.iter().position(|word| ["my", "our"].contains(word));
    let judged = mine.is_some_and(|at| words[at..].iter().any(|word| JUDGES.contains(word)));
    let supposed = words.windows(2).any(|pair| pair[0] == "if" && OWN.contains(&pair[1]));
    let works = matches!(words, ["how", "does" | "do", "my" | "our", what, ..] if !is_person(what));
    let means = matches!(words, [.., "mean"] | [.., "stand", "for"] | [.., "made", "of"]);
    judged || supposed || works || means
}

/// The words that say what is to be told: behind "can you tell me", "do you know", "remind me"; and whether something stood before it.
fn told<'w, 's>(words: &'w [&'s str]) -> (&'w [&'s str], bool) {
    let service = matches!(words, ["can" | "could" | "would" | "will", "you" | "u", ..]);
    let at = if service { 2 } else { 0 };
    let at = at + usize::from(words.get(at) == Some(&"please"));
    match &words[at..] {
        ["do", "you" | "u", "know" | "remember", rest @ ..] => (rest, true),
        ["remind" | "tell", "me", rest @ ..] => (rest.strip_prefix(&["of"]).unwrap_or(rest), true),
        ["look", "up", rest @ ..] if service => (rest, true),
        ["i" | "ive", "forgot" | "forget" | "forgotten", rest @ ..]
        | ["i", "cant" | "cannot" | "dont", "remember" | "recall", rest @ ..] => (rest, looks_up(rest)),
        ["list" | "give" | "show", "me", rest @ ..] | ["list" | "give" | "show", rest @ ..] if !service => (rest, looks_up(rest)),
        [verb, "me", rest @ ..] | [verb, rest @ ..] if service && TELLS.contains(verb) => (rest, looks_up(rest)),
        _ => (words, false),
    }
}

/// Whether behind a service stands what is looked up: "my allergies", "what I said".
fn looks_up(rest: &[&str]) -> bool {
    rest.first().is_some_and(|first| ASKS.contains(first) || ["my", "our"].contains(first))
}

/// Whether words speak of a text or a thing at hand: "my grammar", "this query".
fn is_at_hand(words: &[&str]) -> bool {
    let near = |at: usize, known: &[&str]| words[at + 1..].iter().take(2).any(|word| known.contains(word));
    (0..words.len()).any(|at| match words[at] {
        word if OF_ALL.contains(&word) => true,
        "will" => words[..at].last() == Some(&"free"),
        "my" | "our" => {
            let right = words.get(at + 1).is_some_and(|next| RIGHT_AT_HAND.contains(next));
            near(at, &AT_HAND) || right && !words.get(at + 2).is_some_and(|next| ["for", "to", "at", "of"].contains(next))
        }
        "this" => !near(at, &TIMES),
        _ => false,
    })
}

/// Whether words ask what to do, or how it is done.
fn is_advice(words: &[&str]) -> bool {
    match words {
        ["how", "are", "i" | "we", ..] | ["how", "do" | "to"] => true,
        ["how", "i" | "we", behind @ ..] | ["how", "do" | "to", _, behind @ ..] => !is_habit(behind),
        ["why", behind @ ..] => !is_own_reason(behind),
        _ => (0..words.len()).any(|at| matches!(words[at], "i" | "we") && advises(words, at)),
    }
}

/// Whether the words behind "how do I" ask how somebody does something each time: "take my coffee", "get to work", "usually travel".
fn is_habit(behind: &[&str]) -> bool {
    match behind {
        [first, ..] if EACH_TIME.contains(first) => true,
        [verb] | [verb, "my" | "our", ..] => HABITS.contains(verb),
        ["get", "to", rest @ ..] => rest.len() < 3,
        _ => false,
    }
}

/// Whether the words behind "why" ask for a reason of the user's, or of somebody of theirs: "did I leave", "is my sister angry".
fn is_own_reason(behind: &[&str]) -> bool {
    match behind {
        ["am" | "are", "i" | "we", "getting" | "seeing", ..] => false,
        ["did" | "am" | "are" | "was" | "were", "i" | "we", ..] => true,
        [verb, "my" | "our", who, ..] => *verb != "do" && is_person(who),
        _ => false,
    }
}

/// Whether a question asks the user's part in it as advice; `at` is the place of "I" or "we".
fn advises(words: &[&str], at: usize) -> bool {
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let (before, verb) = (if at > 0 { word(at - 1) } else { "" }, word(at + 1));
    let each_time = EACH_TIME.contains(&verb);
    let may = match before {
        "can" => matches!(verb, "eat" | "drink" | "have"),
        "should" => verb == "be" || matches!(words, ["what", "time", ..]),
        "would" => each_time,
        _ => !ADVISES.contains(&before),
    };
    let needs = verb == "need" || verb == "have" && word(at + 2) == "to";
    let to_do = || ["do", "take", "be", "pay", "bring", "go", "call", "see"].contains(&word(at + 3));
    let is_plan = || matches!(word(0), "when" | "where") || word(0) == "what" && (to_do() || word(1) == "time");
    let is_act = before == "do"
        && !matches!(words, ["what", "time", ..])
        && !each_time
        && !needs
        && !LIVES.contains(&verb)
        && !is_living_by(&words[at + 1..]);
    let is_here = before == "do" && words.last() == Some(&"here") && verb != "live";
    !may || needs && !is_plan() || is_act || is_here
}

/// "What do I do for a living?", "when do I get paid?"
fn is_living_by(behind: &[&str]) -> bool {
    matches!(
        behind,
        ["do", "for", "a" | "work", ..]
            | ["get", "paid" | "up" | "off" | "home" | "delivered", ..]
            | ["write", "at", "work", ..]
            | ["start", "at" | "on" | "my", ..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_are(questions: &[&str], of_own: bool) {
        let otherwise: Vec<&&str> = questions.iter().filter(|question| asks_of_own(question) != of_own).collect();
        assert!(otherwise.is_empty(), "{otherwise:?}");
    }

    #[test]
    fn questions_about_the_users_own_life_are_told_from_those_to_the_model() {
        let own = [
            "which editor do I use?",
            "what town do we live in",
            "Who was my boss before I quit?",
            "do I eat meat?",
            "Where's my car parked?",
            "how do I take my coffee?",
            "how do I get to work?",
            "how much do I pay for electricity a month?",
            "Is my sister still vegan?",
            "why did I leave Freightly?",
            "why am i not drinking?",
            "why is my sister not talking to me?",
            "Can you remind me what our wifi is called?",
            "can you list my allergies?",
            "could you check what i said about the budget",
            "can you give me my landlord's number?",
            "I'm back. Which editor do I use? I keep forgetting.",
            "when is our anniversary?",
            "am I allergic to anything?",
            "am i allowed peanuts",
            "whats my wifi password",
            "wheres my passport again",
            "whens my flight",
            "do u know my name",
            "what meds do i have to take?",
            "when do i need to renew my passport?",
            "can i eat shellfish?",
            "where should i be on monday at 9?",
            "what time should i pick up hana?",
            "what would I normally order at starbucks?",
            "is there anything im allergic to?",
            "where does mum live?",
            "what's dad's birthday?",
            "What do I do for a living?",
            "by when do I have to be at the airport?",
            "how old is my daughter?",
        ];
        all_are(&own, true);
        let others = [
            "how do I sort a list in Python?",
            "How do we deploy to Kubernetes?",
            "how do I get the length of a string in js?",
            "how do i spell necessary?",
            "how much water do i put in rice?",
            "what command do i run to list containers?",
            "where do i find the logs?",
            "which sql join do i use here?",
            "should I use a mutex here?",
            "what can I cook with chickpeas?",
            "Can you check my code?",
            "is my grammar correct?",
            "what is wrong with this query, my join returns nothing?",
            "will my code run on python 2?",
            "can you tell me how i sort a list?",
            "can you tell me why my build is failing?",
            "please check my essay?",
            "help me write my cv?",
            "translate this to french for me?",
            "could you write me a poem about spring?",
            "what happens if I drop the table?",
            "what do i do if my build fails?",
            "why is my build failing?",
            "why do I get a segfault here?",
            "do I need a visa for Japan?",
            "do I have to rinse rice?",
            "what's the capital of France?",
            "Which editor does Anna use?",
            "I use Vim.",
            "what I need is rest.",
            "do we have free will?",
            "are we alone in the universe?",
            "what did I do wrong?",
            "what do I have to import for os.path?",
            "how are we today?",
            "thanks!",
            "",
        ];
        all_are(&others, false);
    }

    #[test]
    fn those_that_are_typed_in_haste_are_told_and_judgements_are_none() {
        let own = [
            "what's on my to-do list",
            "what's my code for the office door",
            "which mailing list did I join?",
            "waht is my blood type",
            "wich school did my kids go to",
            "were do i live",
            "hw many vacation days do i have left",
            "remind me when the MOT is due",
            "do you remember the name of that wine?",
            "where's the car?",
            "who is the landlord now?",
            "My sister's new address?",
            "name of my son's teacher?",
            "I forgot my locker number",
            "I can't remember where I put my birth certificate",
            "give me my landlord's number",
            "what time do I drop off Leo?",
            "Which charity do I donate to?",
            "Where does my mother live now?",
        ];
        all_are(&own, true);
        let others = [
            "what are my rights if my flight is cancelled?",
            "is my password strong enough if it has 8 characters",
            "is my heart rate of 95 normal?",
            "what is my dog allowed to eat?",
            "what happens if my visa expires?",
            "how does my microwave heat food?",
            "what does my dream about falling mean?",
            "What is my IP address made of?",
            "Why am I getting a segfault when I free the pointer twice?",
            "remind me how to reverse a list",
            "remind me when the roman empire fell",
            "give me my daily motivational quote",
            "give me a recipe for my mother",
            "I forgot to say thanks",
            "I don't remember saying that",
            "My code fails here?",
        ];
        all_are(&others, false);
    }
}
