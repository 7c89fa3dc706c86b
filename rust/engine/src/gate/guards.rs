//! Why something that was said is not stored, or is stored only after somebody has looked: quotes, questions, what might be, jokes,
//! code, pastes, the state of a task, instructions to the model, other languages.

use super::attribute::listed;
use super::lexicon::{FILLERS, NUMBERS};
use super::lists::lists;
use super::sentence::Sentence;
use super::signs::{has_colon, is_picture, parts};
use super::words::{Span, Word, among, has, starts};
use super::{model, others};

lists! { "guards":
    /// Phrases of what might be.
    HYPOTHETICAL,
    /// Phrases that ask for known facts about the user, and so claim nothing.
    OF_THE_USER,
    /// The beginnings of questions without a mark at their end.
    pub(super) ASKS,
    /// Words before a colon that name no speaker.
    pub(super) LABELS,
    /// Words of other languages that no English sentence has two of.
    FOREIGN,
    /// Function words and short verbs of other languages, of which one is enough where no word of English is met.
    FUNCTION_WORDS,
    /// How somebody begins who says how far a task is.
    TASK_STATE,
    /// Phrases that speak of a model's instructions.
    INSTRUCTIONS,
    /// Verbs of saying.
    REPORTED,
    /// Phrases that say that something is not known.
    NOT_KNOWN,
    /// Words that may stand before "forget" where somebody asks for it.
    POLITE,
    /// Verbs that ask a model for work, and tell it nothing of who asks. Verbs of errands ("find", "book", "play", "add") are none of
    /// them: what somebody wants found informs.
    pub(super) WORK,
    /// Phrases of several words that ask a model for work.
    WORK_PHRASES,
    /// Words that say that a request holds for more than once.
    LASTING,
    /// Comparatives that a text or a piece of work is asked to be.
    COMPARATIVES,
    /// More words that English is told by.
    MORE,
    /// Those words that other languages of Latin letters have as well, or take over.
    SHARED,
}

/// A longer message is a paste: a book, a log, a file.
pub const PASTE_BYTES: usize = 4_000;

/// The verdict on a sentence before any rule reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// It may be read.
    Open,
    /// It is not stored, for this reason.
    Discard(&'static str),
    /// It may be read, and its claims must be approved first, for this reason.
    Doubt(&'static str),
}

/// The end of a wish: "I would live in Rome if I could".
const CONDITIONS: [&str; 5] = ["if i could", "if i had", "if we could", "if we had", "if it were"];
const JOKES: [&str; 9] =
    ["just kidding", "jk", "yeah right", "as if", "only joking", "i'm joking", "i'm kidding", "not really", "said no one"];
/// How a sentence begins behind a denial that was only said, or is to be worked on: "That is what I told the army."
const REPORTS: [&str; 6] = ["that's what", "that is what", "at least that's what", "how do i say", "how do you say", "said no"];

/// The verdict on a sentence as a whole.
pub fn of_sentence(text: &str, span: Span, words: &[Word]) -> Guard {
    let sentence = &text[span.start..span.end];
    if words.is_empty() {
        return Guard::Discard("no words");
    }
    if is_code(sentence) {
        return Guard::Discard("code");
    }
    if INSTRUCTIONS.iter().any(|phrase| has(words, phrase)) {
        return Guard::Doubt("it speaks of the model's instructions");
    }
    if is_joke(sentence, words) {
        return Guard::Discard("a joke, by its mark");
    }
    if is_hypothetical(words) {
        return Guard::Discard("hypothetical");
    }
    if asks_of_user(sentence, words) {
        return Guard::Discard("a question about the user");
    }
    if is_task_state(words) {
        return Guard::Discard("state of a task");
    }
    if is_quoted(sentence) || others::quotes(text, span, words) {
        return Guard::Discard("a quotation");
    }
    if is_reported(words) || is_labelled(text, words) {
        return Guard::Doubt("words of somebody else");
    }
    Guard::Open
}

/// The reason not to read a sentence of any language: its form, or what it says of the model's instructions in English.
pub fn of_any_language(text: &str, span: Span, words: &[Word]) -> Option<&'static str> {
    let sentence = &text[span.start..span.end];
    match of_sentence(text, span, words) {
        Guard::Discard(reason @ ("code" | "a joke, by its mark" | "a quotation")) => Some(reason),
        Guard::Doubt(reason) if INSTRUCTIONS.iter().any(|phrase| has(words, phrase)) => Some(reason),
        _ if sentence.starts_with(['\u{AB}', '\u{201E}', '\u{300C}', '\u{300E}']) => Some("a quotation"),
        _ => None,
    }
}

/// "Do I prefer Python?", "what is my timezone": it asks for what is known, and tells nothing.
fn asks_of_user(sentence: &str, words: &[Word]) -> bool {
    const TAGS: [&str; 4] = ["is that right ?", "is that correct ?", "is that so ?", "is that true ?"];
    let ends = |tag: &&str| words.len().checked_sub(tag.split(' ').count()).is_some_and(|at| at > 0 && starts(words, at, tag).is_some());
    if TAGS.iter().any(ends) {
        return true; // "I'm allergic to latex, is that right?"
    }
    let asks = sentence.ends_with('?') || among(&ASKS, &words[0].lower);
    asks && OF_THE_USER.iter().any(|phrase| has(words, phrase)) && !words.iter().any(|word| word.lower == "actually")
}

/// "Bob: my name is Bob.", `- [10:32] **Bob**: ...`: a name before what somebody said, behind the time at most.
fn is_labelled(text: &str, words: &[Word]) -> bool {
    let is_time = |word: &&Word| word.is_number() && word.lower.contains([':', '-', '/']) || ["am", "pm"].contains(&word.lower.as_str());
    let place = words.iter().take(3).take_while(is_time).count();
    let is_list = || listed(&Sentence { text, words }).is_some();
    let named = |label: &Word| label.capital && has_colon(text, label.end) && !among(&LABELS, &label.lower) && !is_list();
    starts(words, 0, "according to").is_some() || words.len() > place + 2 && named(&words[place])
}

/// Phrases that ask to forget something, or not to keep it.
const FORGET: [&str; 8] =
    ["forget", "stop remembering", "don't remember", "do not remember", "don't save", "do not save", "don't store", "do not store"];
/// Phrases that ask so where a fact that the model knows follows.
const REMOVE: [&str; 4] = ["delete", "erase", "remove", "clear"];
const KNOWN: [&str; 4] = ["your memory", "your memories", "you know about me", "you remember"];
/// Who tells something of their own behind a comma: "forget the pasta, I want pizza".
const TELLS: [&str; 10] = ["i", "i'm", "i've", "i'd", "i'll", "we", "we're", "we've", "we'll", "let's"];

/// "Forget that I live in Porto", "please delete my address from your memory": it tells nothing but what is to be known no longer.
pub fn asks_to_forget(text: &str, words: &[Word]) -> bool {
    let at = words.len() - without_polite(words).len();
    let forgets = FORGET.iter().any(|verb| starts(words, at, verb).is_some());
    let removes = REMOVE.iter().any(|verb| starts(words, at, verb).is_some()) && KNOWN.iter().any(|known| has(words, known));
    let tells = |pair: &[Word]| parts(&text[pair[0].end..pair[1].start]) && among(&TELLS, &pair[1].lower);
    (forgets || removes) && !words[at..].windows(2).any(tells)
}

/// Whether it asks for something to be done each time.
pub fn is_lasting(words: &[Word]) -> bool {
    LASTING.iter().any(|phrase| has(words, phrase))
}

/// The words of a request behind those that ask for it politely.
pub(super) fn without_polite(words: &[Word]) -> &[Word] {
    let mut at = 0;
    while let Some(next) = POLITE.iter().find_map(|opening| starts(words, at, opening)) {
        at = next;
    }
    &words[at..]
}

/// "Translate this into Dutch", "can you explain TCP?": work that a model is asked for now.
pub fn asks_for_work(words: &[Word]) -> bool {
    let at = words.len() - without_polite(words).len();
    let Some(verb) = words.get(at).map(|word| word.lower.as_str()) else { return false };
    let next = words.get(at + 1).map_or("", |word| word.lower.as_str());
    let is_noun = ["is", "are", "was", "were", "of", "has", "must", "should", "will"].contains(&next);
    let asks = among(&WORK, verb) && !is_noun && next != "it" || WORK_PHRASES.iter().any(|phrase| starts(words, at, phrase).is_some());
    let counts =
        starts(words, at, "give me").and_then(|next| words.get(next)).is_some_and(|word| word.is_number() || among(&NUMBERS, &word.lower))
            && !has(words, "tickets");
    let compares = verb == "make" && ["the", "this", "it", "my", "that"].contains(&next) && words.iter().skip(at + 2).any(is_comparative);
    (asks || counts || compares) && !is_lasting(words)
}

/// "shorter", "more formal": another form of what there is, and no value.
pub fn is_comparative(word: &Word) -> bool {
    let lower = word.lower.as_str();
    ["more", "less"].contains(&lower) || among(&COMPARATIVES, lower)
}

/// Whether it only says that what was said before it was a joke.
pub fn takes_back(words: &[Word]) -> bool {
    let plain: Vec<&str> = words.iter().filter(|word| !word.is_mark()).map(|word| &*word.lower).collect();
    let kids = plain.first() == Some(&"kidding") || matches!(plain[..], ["i", "wish"] | ["not"]); // "Kidding, he does."
    words.iter().filter(|word| !word.is_mark()).count() <= 4 && (kids || JOKES.iter().any(|phrase| has(words, phrase)))
}

/// Whether it says that what was denied before it was only said.
pub fn reports(words: &[Word]) -> bool {
    REPORTS.iter().any(|phrase| starts(words, 0, phrase).is_some())
}

fn is_joke(sentence: &str, words: &[Word]) -> bool {
    let end = sentence.trim_end_matches(['.', '!', ' ']);
    end.ends_with("/s") || sentence.contains('\u{1F644}') || sentence.contains('\u{1F643}') || JOKES.iter().any(|phrase| has(words, phrase))
}

fn is_hypothetical(words: &[Word]) -> bool {
    let opens = |phrase: &str| starts(words, 0, phrase).is_some();
    let wishes = (opens("i would") || opens("i'd") || opens("we would")) && CONDITIONS.iter().any(|phrase| has(words, phrase));
    // "Ask me before assuming" supposes nothing.
    let denied = |at: usize| at > 0 && among(&["before", "without", "of", "than", "stop", "avoid"], &words[at - 1].lower);
    let supposes = |phrase: &str| (0..words.len()).any(|at| starts(words, at, phrase).is_some() && !(phrase == "assuming" && denied(at)));
    wishes
        || HYPOTHETICAL.iter().any(|phrase| supposes(phrase))
        || ["if i", "if i'm", "if i've", "if i'd"].iter().any(|phrase| opens(phrase)) && !has(words, "please")
        || ["if we", "if we're", "if we've"].iter().any(|phrase| opens(phrase))
        || opens("if they")
}

/// "step 3 of 7", "3/7 done", and what is said while something runs.
fn is_task_state(words: &[Word]) -> bool {
    let steps = (0..words.len()).any(|at| {
        starts(words, at, "step").and_then(|next| words.get(next)).is_some_and(Word::is_number)
            && words.get(at + 2).is_none_or(|word| ["of", "is", "done"].contains(&word.lower.as_str()))
    });
    let short = words.iter().filter(|word| !word.is_mark()).count() <= 6;
    steps || short && TASK_STATE.iter().any(|phrase| starts(words, 0, phrase).is_some())
}

/// Whether somebody denies only that it is all, or always so: "I'm not just allergic to nuts", "I don't always work from home".
pub fn limits(words: &[Word]) -> bool {
    const LIMITS: [&str; 9] = ["just", "only", "merely", "simply", "solely", "always", "usually", "exclusively", "necessarily"];
    let own = words.first().is_some_and(|word| ["i", "i'm", "we", "we're", "my", "our"].contains(&word.lower.as_str()));
    let limits = |pair: &[Word]| (pair[0].lower == "not" || pair[0].lower.ends_with("n't")) && among(&LIMITS, &pair[1].lower);
    own && words.windows(2).any(limits)
}

/// Verbs whose denial only says what is not so. By contrast, a denied liking says something of a person.
const DENIED: [&str; 15] =
    ["live", "work", "use", "have", "own", "speak", "drive", "run", "study", "belong", "come", "support", "depend", "need", "prefer"];

/// "My name is not Bob", "I don't live in Berlin": it says what is not so, and gives no value.
pub fn denies(words: &[Word]) -> bool {
    if limits(words) {
        return false;
    }
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    match word(0) {
        "my" | "our" => (2..words.len().min(7)).any(|at| {
            matches!(word(at), "isn't" | "aren't" | "wasn't")
                || matches!(word(at), "is" | "are" | "was") && matches!(word(at + 1), "not" | "no")
        }),
        "i'm" | "we're" => word(1) == "not",
        "don't" => word(1) == "call",
        "do" => word(1) == "not" && word(2) == "call",
        "i" | "we" => {
            let verb = match (word(1), word(2)) {
                ("don't" | "didn't", verb) => verb,
                ("do" | "did", "not") => word(3),
                ("am" | "are" | "was" | "were", "not") | ("never", _) => return true,
                _ => return false,
            };
            among(&DENIED, verb)
        }
        _ => false,
    }
}

/// Words before what is written somewhere: "the sign reads: ...".
const SHOWS: [&str; 4] = ["reads: \"", "states: \"", "reads: \u{201C}", "states: \u{201C}"];

/// More than half of it stands between quotation marks, or it says what is written somewhere.
fn is_quoted(sentence: &str) -> bool {
    let quoted: usize = [('"', '"'), ('\u{201C}', '\u{201D}')]
        .iter()
        .filter_map(|(open, close)| {
            let start = sentence.find(*open)? + open.len_utf8();
            sentence[start..].find(*close)
        })
        .sum();
    sentence.starts_with('>') || quoted * 2 > sentence.len() || SHOWS.iter().any(|shows| sentence.contains(shows))
}

/// "my boss said I hate Python": another subject than "I" and "we" before a verb of saying.
fn is_reported(words: &[Word]) -> bool {
    let Some(said) = words.iter().take(8).position(|word| among(&REPORTED, &word.lower)).filter(|said| *said > 0) else { return false };
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    // "as you said", and "they fish again, she says" at the end
    let is_last = || word(said) == "says" && words[said + 1..].iter().all(Word::is_mark);
    let is_aside = said > 1 && word(said - 2) == "as" || is_last();
    // "Ann said it is overdone, so I'm doing heat pumps": the end is the user's own.
    let concludes = (said + 2..words.len()).any(|at| word(at) == "so" && among(&CONCLUDES, word(at + 1)));
    // "I'd rather you asked me first": a wish has its verb in the past.
    let wishes = ["i'd rather you", "i would rather you", "i'd prefer it if you"].iter().any(|wish| starts(words, 0, wish) == Some(said));
    !is_aside && !concludes && !wishes && !["i", "we", "i've", "as"].contains(&word(said - 1)) && words[said].lower != words[0].lower
}

/// Words behind "so" with which a user goes on for themselves.
const CONCLUDES: [&str; 11] = ["i", "i'm", "i've", "i'll", "we", "we're", "we've", "we'll", "my", "our", "the"];

/// Signs of a program, a shell or a log more than of speech.
pub fn is_code(sentence: &str) -> bool {
    let signs = sentence.bytes().filter(|byte| matches!(byte, b'{' | b'}' | b';' | b'=' | b'<' | b'>' | b'|' | b'\\' | b'$')).count();
    let calls = sentence.contains("()") || sentence.contains("):") || sentence.contains("=>") || sentence.contains("::");
    let opens = [
        "def ",
        "class ",
        "import ",
        "from __",
        "#include",
        "SELECT ",
        "$ ",
        "Traceback",
        "at com.",
        "function ",
        "const ",
        "[INFO",
        "[ERROR",
        "[WARN",
    ]
    .iter()
    .any(|opening| sentence.starts_with(opening) && (signs > 0 || !sentence.ends_with('.')));
    let is_log = sentence.len() > 20
        && sentence.as_bytes()[..4].iter().all(u8::is_ascii_digit)
        && sentence.as_bytes()[4] == b'-'
        && sentence.as_bytes()[..19].contains(&b':');
    let enclosed = |open: char, close: char| sentence.starts_with(open) && sentence.trim_end_matches([',', ';']).ends_with(close);
    let is_call = sentence.ends_with(')')
        && sentence
            .find('(')
            .is_some_and(|at| at > 0 && sentence[..at].bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')));
    let assigns = sentence.split_once('=').is_some_and(|(name, value)| is_identifier(name.trim()) && !value.starts_with('='));
    let behind_sign = sentence.trim_start_matches(['+', '-', ' ']); // of a line that was added or taken out
    let is_comment = ["//", "# ", "/*"].iter().any(|mark| behind_sign.starts_with(mark));
    if is_comment || is_call || assigns || enclosed('{', '}') || enclosed('[', ']') {
        return true;
    }
    opens && (signs > 0 || calls || sentence.starts_with("import ") || sentence.starts_with('['))
        || is_log
        || signs * 12 > sentence.len().max(24)
        || calls && signs > 0
}

/// Whether it is the name of a variable, and no words.
fn is_identifier(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')) && !name.is_empty()
}

fn is_contraction(word: &str) -> bool {
    ["'s", "'m", "'re", "'ve", "'ll", "'d", "n't"].iter().any(|ending| word.ends_with(ending))
}

/// Whether the words are English, as far as words tell. A short answer to a question is taken for what the question was in.
pub fn is_english(text: &str, words: &[Word], answers: bool) -> bool {
    let plain: Vec<&Word> = words.iter().filter(|word| !word.is_mark() && !word.is_number()).collect();
    let (foreign, letters) = letters(text);
    if letters == 0 || foreign * 5 > letters {
        return letters == 0 && answers;
    }
    if plain.iter().filter(|word| among(&FOREIGN, &word.lower)).count() >= 2 {
        return false;
    }
    let known = plain.iter().filter(|word| is_known(word)).count();
    // "allergies: peanuts, shellfish" has a word before its colon that is English.
    let is_list = || listed(&Sentence { text, words }).is_some() && may_be_english(text, words);
    // "Tom died yesterday." has no function word, and none of another language. It must begin and look like a sentence.
    let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_uppercase()) && !text.contains([':', '/', '@', '+', '(', ')']);
    let no_other = begins && may_be_english(text, words);
    // "came off metformin last week" has no function word, and words that people type in English.
    let is_typed = || {
        plain.len() > 2 && plain.iter().filter(|word| model::is_word(&word.lower)).count() * 2 >= plain.len() && may_be_english(text, words)
    };
    let has_known = if plain.len() <= 3 { answers || known > 0 } else { known * 6 >= plain.len() };
    has_known || no_other || is_list() || is_typed()
}

/// Whether words have nothing of another language, and look like a sentence. In small letters that is English only where a rule reads it:
/// "stop using tables", "timezone: CET".
pub fn may_be_english(text: &str, words: &[Word]) -> bool {
    let typed = |sign: char| matches!(sign, '\u{A0}' | '\u{2013}' | '\u{2014}' | '\u{2018}'..='\u{201D}' | '\u{2026}' | '\u{FE0F}');
    let plain_sign =
        |sign: char| sign.is_ascii_alphanumeric() || " ,.!?'-:/@+()&%;\"$\u{A3}\u{20AC}".contains(sign) || typed(sign) || is_picture(sign);
    text.chars().all(plain_sign) && !words.iter().any(|word| among(&FOREIGN, &word.lower) || among(&FUNCTION_WORDS, &word.lower))
}

/// How many words of a sentence are English and of no other language; none where it has one of another, or letters of one.
pub fn certain(text: &str, words: &[Word]) -> usize {
    let (foreign, letters) = letters(text);
    if foreign * 5 > letters || words.iter().any(|word| among(&FOREIGN, &word.lower) || among(&FUNCTION_WORDS, &word.lower)) {
        return 0;
    }
    words.iter().filter(|word| is_known(word) && !among(&SHARED, &word.lower)).count()
}

/// Letters outside ASCII of a text, and all of its letters.
fn letters(text: &str) -> (usize, usize) {
    let alphabetic = text.chars().filter(|letter| letter.is_alphabetic());
    alphabetic.fold((0, 0), |(foreign, all), letter| (foreign + usize::from(!letter.is_ascii()), all + 1))
}

/// Whether English is told by a word.
fn is_known(word: &Word) -> bool {
    among(&FILLERS, &word.lower) || is_contraction(&word.lower) || among(&MORE, &word.lower)
}

/// Whether an assistant says that it does not know.
pub fn is_unknown(words: &[Word]) -> bool {
    NOT_KNOWN.iter().any(|phrase| has(words, phrase))
}
