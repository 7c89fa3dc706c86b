//! Clauses that say that something is over, or otherwise than it was: "we ripped out jenkins", "the sprint demo got shoved to Tuesday",
//! "Rye is on Saturdays now". A form that gives a slot its value is read by other rules. This one only finds what an older memory may be wrong about, by what
//! the clause names, and ends nothing.

use super::beings::is_being;
use super::guards::ASKS;
use super::lexicon::FILLERS;
use super::lists::lists;
use super::medicine;
use super::sentence::Sentence;
use super::shift::{Shift, norm, tells_apart};
use super::tools::Tool;
use super::values::PREPOSITIONS;
use super::words::{Word, among, has, words};
use crate::units::calendar::{MONTHS, WEEKDAYS, is_named};

lists! { "otherwise":
    /// Verbs of those who have or do something no more, before it.
    GAVE_UP,
    /// Verbs of [`GAVE_UP`] behind which the words for whom and where belong to it: "cancelled dinner with Sam".
    CALLED_OFF,
    /// Verbs of who or what is there no more, behind them.
    GONE,
    /// Words for what is otherwise than it was.
    BECAME,
    /// Things of the task at hand, which change all the time.
    OF_A_TASK,
    /// Words that name nothing.
    NO_CONTENT,
    /// Words by which it is not so, not sure, or so again.
    UNSURE,
    /// Words behind a thing that leave it over.
    STILL_OVER,
    /// Roles that somebody has for a user, for a time.
    ROLES,
    /// Animals that people have.
    PETS,
}

/// Words of a clause at most of which it is asked whether it tells of a change.
const MOST_TOLD: usize = 30;
/// Words of what is over at most.
const MOST_OVER: usize = 4;
/// Words before a verb that may be its subject.
const MOST_SUBJECT: usize = 4;
/// Where another value is of more words of content than this, one of them may be missing.
const LEAST_SHARED: usize = 2;

/// A value of a kind of which something has one at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Weekday(usize),
    /// An hour and what stands behind it.
    Time(String),
    /// A month and a day in it.
    Date(usize, String),
    Money(String),
    /// Whose it is, and the years.
    Age(String, String),
}

impl Value {
    /// Whether it and another one cannot both hold for one thing. An age is of whom it is said.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Age(who, _), Self::Age(whose, _)) => who == whose,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

/// Something that is otherwise than it was, as a clause says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// The words of each thing that the user has no more.
    over: Vec<Vec<String>>,
    /// The names of each one who is there no more.
    gone: Vec<Vec<String>>,
    /// The names of somebody, and of what they left.
    left: Vec<Vec<String>>,
    /// The name of an animal that died.
    dead: Option<String>,
    /// Words of content before the first comma.
    content: Vec<String>,
    values: Vec<Value>,
    /// The thing of a team's that is otherwise.
    shift: Option<Shift>,
    /// The medicines that the user takes no more, or otherwise.
    medicines: Vec<String>,
}

impl Change {
    /// The change that a whole text tells of.
    #[cfg(test)]
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        Self::of_part(text, (0, text.len()))
    }

    /// The change that a part of a message tells of, by its bytes, if it surely tells of one.
    #[must_use]
    pub fn of_part(message: &str, part: (usize, usize)) -> Option<Self> {
        let text = message.get(part.0..part.1)?;
        let own = words(text);
        let s = &Sentence { text, words: &own };
        let is_unsure = |word: &Word| among(&UNSURE, &word.lower) || word.lower.ends_with("n't");
        let given_up = given_up(s);
        let (shift, medicines) = (Shift::of(s), medicine::otherwise(message, part));
        if own.len() > 2 * MOST_TOLD || given_up.is_none() && own.iter().any(is_unsure) || !changes(s, given_up.is_some()) {
            return (shift.is_some() || !medicines.is_empty()).then(|| Self { shift, medicines, ..Self::default() });
        }
        Some(Self {
            over: given_up.unwrap_or_else(|| over(s)),
            gone: gone(s),
            left: left(s),
            dead: dead(s),
            content: content(s),
            values: values(s),
            shift,
            medicines,
        })
    }

    /// Groups of words, of which a text that may be wrong has all of one, as [`Self::words_of`] gives them.
    #[must_use]
    pub fn groups(&self) -> Vec<Vec<String>> {
        let named = self.over.iter().chain(&self.gone).chain(&self.left).cloned().chain(self.dead.iter().map(|dead| vec![dead.clone()]));
        let medicines = self.medicines.iter().map(|named| vec![named.split(' ').next().unwrap_or_default().to_owned()]);
        // One word of the content may be missing.
        let but = |left_out: usize| (0..self.content.len()).filter(move |at| *at != left_out).map(|at| self.content[at].clone()).collect();
        let is_short = self.content.len() <= LEAST_SHARED;
        let content = (0..self.content.len()).map(|at| if is_short { self.content.clone() } else { but(at) });
        named.chain(medicines).chain(content).chain(self.shift.iter().flat_map(Shift::groups)).collect()
    }

    /// The words of a text in the forms in which they are compared.
    #[must_use]
    pub fn words_of(text: &str) -> Vec<String> {
        let forms = |word: Word| [bare(&word.lower), norm(&word.lower), word.lower];
        words(text).into_iter().flat_map(forms).collect()
    }

    /// Whether a text may be wrong about a thing of a team's. It does not matter who tells of its change.
    #[must_use]
    pub fn is_of_thing(&self, text: &str) -> bool {
        self.shift.as_ref().is_some_and(|shift| shift.is_of(text))
    }

    /// Whether a text says that the user takes a medicine that they take no more, or otherwise.
    #[must_use]
    pub fn is_of_medicine(&self, text: &str) -> bool {
        self.medicines.iter().any(|named| medicine::is_taken_in(text, named))
    }

    /// Whether a text may be wrong about what this says is otherwise: it names a thing of the user's that is over, it gives somebody who is gone
    /// a role, or it gives the same thing another value.
    #[must_use]
    pub fn is_of(&self, text: &str) -> bool {
        if self.is_of_thing(text) {
            return true;
        }
        let own = words(text);
        // "I switched from Volvo to a Polestar" says itself that the Volvo is gone.
        let is_left = |at: usize| at > 0 && own[at - 1].lower == "from" && own[at..].iter().any(|word| word.lower == "to");
        let has_word = |word: &String| (0..own.len()).any(|at| bare(&own[at].lower) == *word && !is_left(at));
        let has_all = |all: &Vec<String>| all.iter().all(has_word);
        let of_another = || own.iter().take(MOST_SUBJECT).any(|word| is_being(&bare(&word.lower)));
        let in_role = || own.iter().any(|word| among(&ROLES, &word.lower));
        let works = || own.iter().any(|word| ["work", "works", "working", "job", "employer"].contains(&word.lower.as_str()));
        let is_animal = || own.iter().any(|word| among(&PETS, &word.lower));
        if self.left.iter().any(has_all) && works() || self.dead.as_ref().is_some_and(has_word) && is_animal() {
            return true;
        }
        if self.over.iter().any(has_all) && !of_another() || self.gone.iter().any(has_all) && in_role() {
            return true;
        }
        let lacking = self.content.iter().filter(|word| !has_word(word)).count();
        let are_of_one = !self.content.is_empty() && (lacking == 0 || lacking == 1 && self.content.len() > LEAST_SHARED);
        if !are_of_one || tells_apart(&self.content, &own) {
            return false;
        }
        let known = values(&Sentence { text, words: &own });
        let is_other = |value: &Value| {
            let mut like = known.iter().filter(|other| value.is_like(other)).peekable();
            like.peek().is_some() && like.all(|other| !self.values.contains(other))
        };
        self.values.iter().any(is_other)
    }
}

/// A word without the ending of a possessive or a plural.
fn bare(word: &str) -> String {
    let word = word.strip_suffix("'s").unwrap_or(word);
    let plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
    word[..word.len() - usize::from(plural)].to_owned()
}

/// Whether a word is a number, and not a name that begins with one: "1password".
fn is_number(word: &Word) -> bool {
    word.is_number() && word.lower.chars().filter(|letter| letter.is_alphabetic()).count() < 3
}

/// Whether a word says what something is.
fn is_content(word: &Word) -> bool {
    let bare = bare(&word.lower);
    let is_day = is_named(&word.lower) || is_named(&bare) || is_number(word) || word.is_mark();
    bare.len() > 2
        && !is_day
        && !among(&PREPOSITIONS, &bare)
        && !among(&FILLERS, &bare)
        && !among(&NO_CONTENT, &bare)
        && !word.lower.contains("n't")
}

/// Whether a word at a place is a name. The first has a capital anyway.
fn is_name(words: &[Word], at: usize) -> bool {
    let word = &words[at];
    let is_own = word.lower == "i" || word.lower.starts_with("i'");
    word.capital && !is_own && !is_named(&word.lower) && (at > 0 || word.lower.ends_with("'s") || !among(&FILLERS, &word.lower))
}

/// Whether a sentence says that something is otherwise, as one that gives something up does.
fn changes(s: &Sentence<'_>, gives_up: bool) -> bool {
    let is = |at: usize| {
        let stands_for = ["that's", "it's", "there's", "let's", "what's", "here's", "who's", "this's"].contains(&s.word(at));
        ["is", "are", "i'm", "we're", "am"].contains(&s.word(at)) || s.word(at).ends_with("'s") && !stands_for
    };
    let is_now =
        |at: usize| s.word(at) == "now" && is_last(s, at + 1) && !["for", "right", "just", "not", "until"].contains(&s.word(at - 1));
    let supposes = ["if", "would", "could", "should", "might", "maybe", "what", "how", "when", "unless", "?"];
    let unsure = s.words.iter().any(|word| supposes.contains(&&*word.lower)) || among(&ASKS, s.word(0));
    let phrase = || GAVE_UP.iter().chain(&GONE).chain(&BECAME).any(|phrase| has(s.words, phrase));
    let turned = || (2..s.words.len()).any(|at| s.word(at - 1) == "turned" && age(s, at).is_some());
    !unsure && (gives_up || dead(s).is_some() || phrase() || turned() || (1..s.words.len()).any(|at| is_now(at) && (0..at).any(is)))
}

/// The age that a number gives, and whose it is: "Leo turned | 5", "my daughter is | 9 years old". "Leo is 8 kg heavy" and "the road turned 90
/// degrees" give none.
fn age(s: &Sentence<'_>, at: usize) -> Option<Value> {
    const BEHIND: [&str; 8] = ["years", "now", "and", "but", "today", "yesterday", "on", "this"];
    const OLDEST: u32 = 119;
    let who = at.checked_sub(2).filter(|who| is_name(s.words, *who) || is_being(s.word(*who)))?;
    let is_own = is_name(s.words, who) || who.checked_sub(1).is_some_and(|owner| ["my", "our", "user's"].contains(&s.word(owner)));
    let years = s.word(at).parse().is_ok_and(|years: u32| years <= OLDEST);
    let is_said = ["is", "turned"].contains(&s.word(at - 1)) && (is_last(s, at + 1) || BEHIND.contains(&s.word(at + 1)));
    (years && is_own && is_said && !is_named(s.word(at + 1))).then(|| Value::Age(bare(s.word(who)), s.word(at).to_owned()))
}

/// Whether a clause is over before a word.
fn is_last(s: &Sentence<'_>, at: usize) -> bool {
    s.words.get(at).is_none_or(|next| next.is_mark() || parted(s, at))
}

/// Whether a comma or the end of a sentence stands before a word.
fn parted(s: &Sentence<'_>, at: usize) -> bool {
    s.parted(at) || s.text[s.words[at - 1].end..s.words[at].start].contains(['.', ':', '!', '\n'])
}

/// Whether a clause that no rule reads says that something that it names is otherwise than it was. Something that was said before may be wrong
/// without it.
pub(super) fn tells_of_change(s: &Sentence<'_>) -> bool {
    let plain = s.words.iter().filter(|word| !word.is_mark()).count();
    let of_task = || s.words.iter().any(|word| among(&OF_A_TASK, &word.lower));
    let own = ["i", "i'm", "i've", "i'd", "we", "we're", "we've", "my", "our"];
    let says = |at: usize| is_name(s.words, at) || own.contains(&s.word(at)) || is_being(s.word(at));
    let says = || ["the", "our"].contains(&s.word(0)) || (0..s.words.len()).any(says);
    let names = |at: usize| {
        let word = s.word(at);
        is_name(s.words, at) || s.words[at].is_number() || is_named(&bare(word)) || Tool::names(word) || is_being(word)
    };
    let names = || (0..s.words.len()).any(names) || !over(s).is_empty();
    (3..=MOST_TOLD).contains(&plain) && changes(s, given_up(s).is_some()) && !of_task() && says() && names()
}

/// The things that the user has no more: each one behind a verb of [`GAVE_UP`].
fn over(s: &Sentence<'_>) -> Vec<Vec<String>> {
    let of = |at: usize| {
        let begin = s.behind(at, &GAVE_UP).filter(|_| is_own(s, at))?;
        thing(s, begin, s.behind(at, &CALLED_OFF).is_some())
    };
    let mut out: Vec<Vec<String>> = (0..s.words.len()).filter_map(of).collect();
    out.retain(|over| !over.is_empty() && !over.iter().any(|word| is_being(word)));
    out.dedup();
    out
}

/// The words of what the user was doing or was to do: "I'm not | flying to Rome | anymore", "we're no longer | flying to Rome". Who is not
/// going somewhere after all does not fly there either.
fn given_up(s: &Sentence<'_>) -> Option<Vec<Vec<String>>> {
    const ENDS: [&str; 4] = ["any more", "anymore", "any longer", "after all"];
    const TRIPS: [&str; 6] = ["going", "flying", "driving", "traveling", "travelling", "flight"];
    let not = s.behind(0, &["i'm not", "we're not", "i am not", "we are not"]);
    let begin = not.or_else(|| s.behind(0, &["i'm no longer", "we're no longer", "i am no longer", "we are no longer"]))?;
    let end = (begin..=s.words.len()).find(|at| is_last(s, *at) || s.behind(*at, &ENDS).is_some())?;
    let is_over = not.is_none() || s.behind(end, &ENDS).is_some_and(|behind| is_last(s, behind));
    let words = s.words.get(begin..end)?;
    let act = words.first().filter(|act| is_over && act.lower.ends_with("ing"))?;
    let over: Vec<String> = words[1..].iter().filter(|word| is_content(word)).map(|word| bare(&word.lower)).collect();
    let names = (1..=MOST_OVER).contains(&over.len()) && !over.iter().any(|word| is_being(word));
    let to_place = || act.lower == "going" && words[1].lower == "to" && words.get(2).is_some_and(|place| place.capital);
    let acts = if names && to_place() { &TRIPS[..] } else { &[act.lower.as_str()] };
    let with = |act: &&str| over.iter().cloned().chain([bare(act)]).collect();
    names.then(|| acts.iter().map(with).collect())
}

/// Whether the user is the subject of a verb, or nobody is named: "oh and | cancelled Netflix".
fn is_own(s: &Sentence<'_>, verb: usize) -> bool {
    for at in (0..verb).rev() {
        if s.text[s.words[at].end..s.words[at + 1].start].contains(['.', '!', ';', '\n']) {
            return true;
        }
        if ["i", "i've", "we", "we've", "i'm", "we're"].contains(&s.word(at)) {
            return true;
        }
        let is_other = ["he", "she", "they", "you", "it", "who", "someone", "somebody", "my", "our", "the"].contains(&s.word(at));
        if is_other || is_content(&s.words[at]) || is_name(s.words, at) {
            return false;
        }
    }
    true
}

/// Whether what stands behind a thing leaves it over: a comma, a reason, or what there is instead. "I dropped the Honda | at the garage" and "I
/// stopped ibuprofen | for two days" tell of a moment.
fn is_final(s: &Sentence<'_>, at: usize) -> bool {
    let instead = || s.words[at + 1..].iter().take(2).any(|word| word.capital || Tool::names(&word.lower));
    is_last(s, at) || among(&STILL_OVER, s.word(at)) || ["for", "with", "to"].contains(&s.word(at)) && instead()
}

/// The thing that is named at a word. One that "it" stands for is the first of the sentence: "the new plan cost too much so we cancelled it".
fn thing(s: &Sentence<'_>, mut at: usize, through: bool) -> Option<Vec<String>> {
    while ["my", "our", "the", "a", "an", "from", "on", "of", "using", "taking", "going", "to"].contains(&s.word(at)) {
        at += 1;
    }
    if ["it", "them", "that"].contains(&s.word(at)) {
        return s.words[..at].iter().find(|word| is_content(word) && !among(&GAVE_UP, &word.lower)).map(|word| vec![bare(&word.lower)]);
    }
    let (mut out, from) = (Vec::new(), at);
    while at < s.words.len().min(from + MOST_OVER) && !(at > from && parted(s, at)) {
        let joins = through && ["with", "at", "in", "of", "to"].contains(&s.word(at));
        if !is_content(&s.words[at]) && !joins {
            break;
        }
        out.extend((!joins).then(|| bare(s.word(at))));
        at += 1;
    }
    is_final(s, at).then_some(out)
}

/// Whether the verb of who is gone says all by itself: "Henrik left, ..." and "Ceres stopped delivering", and not "Anna left a comment".
fn is_for_good(s: &Sentence<'_>, behind: usize) -> bool {
    match s.word(behind - 1) {
        "left" | "quit" => is_last(s, behind) || s.behind(behind, &["us", "so", "and", "because", "the company"]).is_some(),
        "stopped" => s.word(behind).ends_with("ing"),
        _ => true,
    }
}

/// Those who stand before a verb of [`GONE`], by name.
fn gone(s: &Sentence<'_>) -> Vec<Vec<String>> {
    let named =
        |at: &usize| is_name(s.words, *at) && is_content(&s.words[*at]) && !["mr", "mrs", "ms", "dr", "prof"].contains(&s.word(*at));
    let of = |at: usize| {
        let behind = s.behind(at, &GONE).filter(|behind| is_for_good(s, *behind))?;
        Some((at.saturating_sub(MOST_SUBJECT)..behind).filter(named).map(|at| bare(s.word(at))).collect())
    };
    (0..s.words.len()).filter_map(of).filter(|names: &Vec<String>| !names.is_empty()).collect()
}

/// The name of an animal that died: "Biscuit died on Sunday", "we had to put Rex down". "Uncle Max died" and "Elvis died in 1977" name others.
fn dead(s: &Sentence<'_>) -> Option<String> {
    const DIED: [&str; 6] = ["died", "passed away", "has died", "has passed away", "was put down", "was put to sleep"];
    let named = |at: usize| is_name(s.words, at) && is_content(&s.words[at]) && !s.word(at).ends_with("'s");
    let is_one = |at: usize| {
        let before = at.checked_sub(1).map_or("", |before| s.word(before));
        let is_other = is_being(before) && !among(&PETS, before) || at > 0 && is_name(s.words, at - 1) || before == "character";
        named(at) && !is_other
    };
    let is_year = |word: &Word| word.is_number() && word.lower.len() == 4;
    let end = |at: usize| at >= s.words.len() || is_named(s.word(at)) || ["on", "last", "this", "yesterday", "today"].contains(&s.word(at));
    let put = |at: usize| s.behind(at, &["had to put"]).filter(|name| s.behind(name + 1, &["down", "to sleep"]).is_some_and(end));
    let who = |at: usize| at.checked_sub(1).filter(|_| s.behind(at, &DIED).is_some_and(|at| is_last(s, at) || end(at))).or_else(|| put(at));
    let at = (0..s.words.len()).find_map(who).filter(|at| is_one(*at) && !s.words.iter().any(is_year))?;
    Some(bare(s.word(at)))
}

/// Each one who left something with a name, with that: "Tom left Sky". "Tom left Lisbon yesterday" tells of a trip.
fn left(s: &Sentence<'_>) -> Vec<Vec<String>> {
    let named = |at: usize| at < s.words.len() && is_name(s.words, at) && is_content(&s.words[at]);
    let of = |at: usize| {
        let end = (at + 1..s.words.len()).find(|end| !named(*end) || parted(s, *end)).unwrap_or(s.words.len());
        let who = (at.saturating_sub(2)..at).find(|who| (*who..at).all(named))?;
        let is_left = s.word(at) == "left" && end > at + 1 && end <= at + 1 + MOST_OVER && is_last(s, end);
        is_left.then(|| (who..end).filter(|word| *word != at).map(|word| bare(s.word(word))).collect())
    };
    (1..s.words.len()).filter_map(of).collect()
}

/// The words of content before the first comma.
fn content(s: &Sentence<'_>) -> Vec<String> {
    let of_change = |word: &Word| {
        word.lower == "turned" || GAVE_UP.iter().chain(&GONE).chain(&BECAME).any(|phrase| phrase.split(' ').any(|part| part == word.lower))
    };
    let comma = (1..s.words.len()).find(|at| s.parted(*at)).unwrap_or(s.words.len());
    let first = s.words[..comma].iter();
    let mut out: Vec<String> = first.filter(|word| is_content(word) && !of_change(word)).map(|word| bare(&word.lower)).collect();
    out.sort();
    out.dedup();
    out
}

/// The values that words give, of kinds that something has one of.
fn values(s: &Sentence<'_>) -> Vec<Value> {
    let place = |names: &[&str], word: &str| names.iter().position(|name| *name == word);
    let mut out = Vec::new();
    for (at, one) in s.words.iter().enumerate() {
        let word = one.lower.as_str();
        let next = s.word(at + 1);
        if let Some(day) = place(&WEEKDAYS, word).or_else(|| word.strip_suffix('s').and_then(|day| place(&WEEKDAYS, day))) {
            out.push(Value::Weekday(day));
        }
        if let Some(month) = place(&MONTHS, word) {
            let beside =
                [at.checked_sub(1).and_then(|at| s.words.get(at)), s.words.get(at + 1)].into_iter().flatten().find(|day| day.is_number());
            out.extend(beside.map(|day| Value::Date(month, day.lower.trim_end_matches(|end: char| end.is_alphabetic()).to_owned())));
        }
        if !one.is_number() {
            continue;
        }
        out.extend(age(s, at));
        let sign = s.text[..one.start].chars().next_back();
        let units = ["euro", "euros", "pounds", "dollars", "bucks", "quid", "usd", "eur", "rupees"];
        if sign.is_some_and(|sign| ['$', '\u{20ac}', '\u{a3}', '\u{20b9}'].contains(&sign)) || units.contains(&next) {
            out.push(Value::Money(word.to_owned()));
        } else if word.contains(':') || word.ends_with("am") || word.ends_with("pm") || ["am", "pm", "o'clock"].contains(&next) {
            out.push(Value::Time(format!("{word} {}", if ["am", "pm"].contains(&next) { next } else { "" })));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_of(change: &str, known: &str) -> bool {
        Change::of(change).is_some_and(|change| change.is_of(known))
    }

    #[test]
    fn what_is_over_is_found_by_what_it_names() {
        for (change, known) in [
            ("so big news, we finally got rid of heroku over the weekend", "a routing service, deployed on heroku"),
            ("we ripped out jenkins. github actions does the job", "currently everything goes through jenkins"),
            ("oh and cancelled 1password, bitwarden now", "i use 1password for everything personal"),
            ("Also we finally dropped SumUp, the new terminal is from Viva", "right now we have SumUp and pay 1.69%"),
            ("I swapped Spotify for Apple Music.", "I listen to Spotify"),
            ("I sold my Honda and bought a Toyota.", "I drive a Honda Civic."),
            ("oh and Henrik left, Aisha's running the team these days", "my manager Henrik wants the demo on Thursdays"),
            ("Dona Gra\u{e7}a retires in June", "The accountant is Dona Gra\u{e7}a"),
            ("I gave up on Spanish and started Italian", "I'm learning Spanish."),
            ("Tom left Sky, he works at BT now", "Tom works at Sky"),
            ("Biscuit died on sunday", "we've got a cat called Biscuit"),
            ("our cat Biscuit passed away", "we've got a cat called Biscuit"),
            ("we had to put Rex down yesterday", "I have a dog named Rex"),
            ("I'm not flying to Rome anymore.", "I'm flying to Rome on November 20 (2026-11-20)."),
            ("I'm not flying to Rome after all.", "I'm flying to Rome on November 20 (2026-11-20)."),
            ("We're not going to Rome after all", "I'm flying to Rome on November 20 (2026-11-20)."),
            ("We're no longer renting the flat in Porto", "We are renting a flat in Porto for June"),
        ] {
            assert!(is_of(change, known), "{change} / {known}: {:?}", Change::of(change));
        }
    }

    #[test]
    fn what_stands_between_and_is_kept_out_is_no_part_of_a_change() {
        for between in ["forget that I like tea.", "My boss said she hates Mondays."] {
            let claims = crate::gate::tests::stored(&format!("We ripped out Jenkins. {between} GitHub Actions does the job."));
            let texts: Vec<&str> =
                claims.iter().filter(|claim| claim.category == crate::gate::Category::Episodic).map(|claim| &*claim.text).collect();
            assert!(texts.contains(&"We ripped out Jenkins. GitHub Actions does the job."), "{claims:?}");
        }
    }

    #[test]
    fn another_value_of_the_same_thing_is_found_by_its_kind() {
        for (change, known) in [
            ("and the sprint demo got shoved to Tuesday mornings", "my manager wants the sprint demo on Thursdays at 3pm"),
            ("Rye is on Saturdays now, nobody bought it", "we now have rye on Thursdays"),
            ("Theo's swimming moved to Fridays at 4.30 btw", "Theo's got swimming lessons on Saturdays at 9"),
            ("Leo turned 5 yesterday", "The user's son Leo is 4."),
            ("my daughter turned 10 on sunday", "The user's daughter is 9."),
            ("my mother turned 70", "The user's mother is 69."),
            ("Mia is 3 now", "Mia is 2 years old"),
            ("Elin is 4 now", "we have two kids, Jonas is 6 and Elin is 3"),
            ("Rex turned 9", "The user's dog Rex is 8."),
        ] {
            assert!(is_of(change, known), "{change} / {known}: {:?}", Change::of(change));
        }
    }

    #[test]
    fn what_names_something_else_is_no_change_of_it() {
        for (change, known) in [
            ("I dropped the kids at school", "My kids are Ann and Bob"),
            ("I cancelled dinner with Sam", "Dinner with Ann is on Friday"),
            ("I cancelled my dentist appointment", "My dentist is Dr Lee"),
            ("We got rid of heroku?", "deployed on heroku"),
            ("What if we dropped SumUp", "we have SumUp"),
            ("The gym is on Saturdays now", "choir is on Thursdays"),
            ("I switched to Emacs", "I use Vim"),
            ("Anna left a comment on my PR", "Anna is my manager"),
            ("Henrik left for lunch", "my manager is Henrik"),
            ("Ben stopped at Lidl", "my brother is Ben"),
            ("Luca retired last month.", "Luca is allergic to shellfish."),
            ("My dad came off warfarin.", "I take warfarin."),
            ("I came off warfarin.", "My dad is on warfarin."),
            ("My sister quit tennis.", "I play tennis."),
            ("I stopped ibuprofen for two days.", "I take ibuprofen for migraines."),
            ("I dropped my passport at the Embassy.", "My passport expires in 2030."),
            ("I left Lisbon yesterday.", "I was born in Lisbon."),
            ("I gave up my window seat for a kid.", "I prefer window seats."),
            ("Mia's piano moved to Tuesdays.", "Mia has ballet on Mondays at 4pm."),
            ("Anna's exam was moved to June 5.", "Anna was born on March 3, 1990."),
            ("Dinner with Ann got pushed to 8pm.", "Coffee with Ann is at 10am."),
            ("I didn't quit Acme.", "I work at Acme."),
            ("I nearly sold the Honda on Friday.", "I drive a Honda."),
            ("I quit tennis in 2015 and started again.", "I play tennis."),
            ("Sarah's dog died.", "Sarah is my therapist."),
            ("I left the keys at home", "my keys are red"),
            ("Helen moved to Harrogate", "Helen is allergic to nuts"),
            ("That's all for now.", "all is well"),
            ("We sold the Volvo.", "I switched from Volvo to a Polestar 2."),
            ("I sold the Android.", "I switched from Android to an iPhone 15."),
            ("Tom left Sky.", "Anna works at Sky."),
            ("I dreamt Tom left Sky.", "Tom works at Sky."),
            ("Elvis died in 1977", "I have a cat called Elvis."),
            ("My uncle Max died.", "I have a dog called Max."),
            ("I had to put Max down, he was too heavy.", "I have a dog called Max."),
            ("I put Tom down as a reference.", "My manager is Tom."),
            ("We put Max to sleep at 8 every night", "I have a dog called Max."),
            ("Tom left Lisbon yesterday.", "Tom was born in Lisbon."),
            ("I'm not flying to Rome anymore.", "I was born in Rome."),
            ("I'm not going to Rome after all.", "I was born in Rome."),
            ("I'm not flying to Rome.", "I'm flying to Rome on November 20 (2026-11-20)."),
            ("I'm not feeling well anymore.", "I'm feeling great today."),
            ("Leo turned 5 yesterday", "Leo's friend Tom is 6."),
            ("Leo turned 5 yesterday", "Mia is 4."),
            ("Leo turned 5", "The user's son Leo is 5."),
            ("Leo turned 5", "Leo is 18 kg"),
            ("Leo is 20 kg now", "Leo is 4"),
            ("Leo turned 5 pages", "Leo is 4"),
            ("The road turned 90", "The road is 12"),
            ("Leo is 5", "Leo is 4"),
            ("If Leo turned 5", "Leo is 4"),
        ] {
            assert!(!is_of(change, known), "{change} / {known}: {:?}", Change::of(change));
        }
    }
}
