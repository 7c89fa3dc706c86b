//! A statement as its words in their order, with their signs, and what it denies: whether two say the same, or one the reverse.
//!
//! "From A to B" is not "from B to A", and "C" is not "C++". The denials here are those of all of compaction. Not here: orders and
//! permissions in other words ([`super::wording`]).

use std::ops::Range;

use super::cues::words;
use super::terms::filler;

/// Words without which a statement says the same.
const IDLE: [&str; 24] = [
    "a", "an", "the", "please", "now", "then", "just", "so", "ok", "okay", "yes", "yeah", "also", "again", "well", "and", "thanks", "ein",
    "eine", "einen", "einem", "einer", "wieder", "bitte",
];
/// Pairs of words without which it does, too.
const IDLE_PAIRS: [[&str; 2]; 5] = [["after", "all"], ["any", "more"], ["any", "longer"], ["otra", "vez"], ["de", "nouveau"]];
/// Denials, each with what it leaves of the statement: "isn't" denies "is".
const DENIALS: [(&str, &str); 41] = [
    ("not", ""),
    ("no", ""),
    ("never", ""),
    ("isnt", "is"),
    ("arent", "are"),
    ("wasnt", "was"),
    ("werent", "were"),
    ("dont", "do"),
    ("doesnt", "does"),
    ("didnt", "did"),
    ("hasnt", "has"),
    ("havent", "have"),
    ("hadnt", "had"),
    ("wont", "will"),
    ("wouldnt", "would"),
    ("cant", "can"),
    ("cannot", "can"),
    ("couldnt", "could"),
    ("shouldnt", "should"),
    ("mustnt", "must"),
    ("neednt", "need"),
    ("nicht", ""),
    ("kein", ""),
    ("keine", ""),
    ("keinen", ""),
    ("keinem", ""),
    ("keiner", ""),
    ("nie", ""),
    ("niemals", ""),
    ("ne", ""),
    ("pas", ""),
    ("jamais", ""),
    ("nunca", ""),
    ("n\u{e3}o", ""),
    ("nao", ""),
    ("niet", ""),
    ("geen", ""),
    ("nooit", ""),
    ("\u{43d}\u{435}", ""),
    ("\u{43d}\u{435}\u{442}", ""),
    ("\u{43d}\u{438}\u{43a}\u{43e}\u{433}\u{434}\u{430}", ""),
];
/// Behind a denial these say that it was otherwise before: "not any more", "nicht mehr".
const OTHERWISE_BEFORE: [&str; 4] = ["longer", "anymore", "mehr", "plus"];
/// Verbs that only carry a denial: "doesn't need" denies "needs".
const SUPPORTS: [&str; 3] = ["do", "does", "did"];
/// Forms of verbs that follow no rule.
const FORMS: [[&str; 2]; 5] = [["have", "has"], ["have", "had"], ["do", "does"], ["do", "did"], ["have to", "has to"]];

/// A statement that begins or ends so is said again. Of one word, a mark must stand between.
const REMINDERS: [&str; 30] = [
    "as i said",
    "like i said",
    "as ive said",
    "as i have said",
    "as i told you",
    "like i told you",
    "as ive told you",
    "as i mentioned",
    "as mentioned",
    "as said",
    "as i say",
    "i said",
    "i repeat",
    "to repeat",
    "once again",
    "once more",
    "remember",
    "remember that",
    "remember to",
    "please remember",
    "please remember that",
    "please remember to",
    "reminder",
    "a reminder",
    "just a reminder",
    "dont forget to",
    "dont forget that",
    "keep in mind that",
    "wie gesagt",
    "nochmal",
];
/// Words whose objects may stand elsewhere in a statement.
const PREPOSITIONS: [&str; 44] = [
    "in", "on", "at", "to", "from", "of", "for", "with", "without", "by", "before", "after", "above", "below", "under", "over", "into",
    "via", "between", "about", "than", "through", "against", "until", "per", "behind", "near", "during", "von", "nach", "zu", "zum", "zur",
    "mit", "bei", "f\u{fc}r", "auf", "vor", "para", "por", "con", "sin", "pour", "avec",
];
/// Who is spoken of.
const PEOPLE: [&str; 22] = [
    "i", "im", "ive", "me", "my", "mine", "we", "us", "our", "you", "your", "he", "him", "his", "she", "her", "they", "their", "ich", "er",
    "sie", "wir",
];
/// Words that may stand anywhere in a rule, or stand for what it speaks of.
const MOVABLE: [&str; 6] = ["always", "it", "those", "these", "them", "that"];

/// The words that a statement is read without.
pub(super) fn small_words() -> impl Iterator<Item = &'static str> {
    let denials = DENIALS.iter().map(|(word, _)| *word);
    denials.chain(IDLE).chain(IDLE_PAIRS.into_iter().flatten()).chain(OTHERWISE_BEFORE)
}

/// Whether a folded word denies.
pub(super) fn denies(word: &str) -> bool {
    DENIALS.iter().any(|(denial, _)| *denial == word)
}

pub(super) fn is_idle(word: &str) -> bool {
    IDLE.contains(&word)
}

/// Words behind a comma that limit what stands before it.
const CONDITIONS: [&str; 14] =
    ["if", "unless", "once", "when", "but", "only", "except", "provided", "after", "as", "until", "from", "wenn", "aber"];

/// How one statement stands to another of the same words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sense {
    Same,
    Turned,
}

#[derive(Debug, PartialEq, Eq)]
struct Word {
    text: String,
    /// The verb that carries its denial.
    support: Option<String>,
}

/// The words of a statement without idle ones and denials, and before which of them it denies.
#[derive(Debug, Default)]
pub(super) struct Stated {
    words: Vec<Word>,
    denied: Vec<usize>,
}

impl Stated {
    pub fn of(text: &str) -> Self {
        let raw = marked_words(behind_answer(text));
        let (mut stated, mut support, mut at) = (Self::default(), None, 0);
        while at < raw.len() {
            let word = &*raw[at];
            let next = raw.get(at + 1).map_or("", |next| next);
            at += 1;
            if IDLE_PAIRS.contains(&[word, next]) {
                at += 1;
            } else if matches!((word, next), ("have" | "has" | "need" | "needs", "to")) {
                stated.push(format!("{} to", if word.ends_with('s') { "has" } else { "have" }), &mut support);
                at += 1;
            } else if word == "do" && stated.words.is_empty() && support.is_none() {
                support = Some(word.to_owned()); // "Do call" orders no more than "Call"
            } else if let Some(left) = denial(word) {
                stated.deny(left, &mut support);
            } else if !(is_idle(word) || !stated.denied.is_empty() && OTHERWISE_BEFORE.contains(&word)) {
                stated.push(word.to_owned(), &mut support);
            }
        }
        stated
    }

    fn push(&mut self, text: String, support: &mut Option<String>) {
        self.words.push(Word { text, support: support.take() });
    }

    fn deny(&mut self, left: &str, support: &mut Option<String>) {
        if SUPPORTS.contains(&left) {
            *support = Some(left.to_owned());
        } else if !left.is_empty() {
            self.push(left.to_owned(), support);
        } else if self.words.last().is_some_and(|last| SUPPORTS.contains(&&*last.text)) {
            *support = self.words.pop().map(|word| word.text);
        }
        self.denied.push(self.words.len());
    }

    /// How it stands to another statement, if it says that or denies it in the same words and the same order, but for idle ones.
    pub fn sense(&self, other: &Self) -> Option<Sense> {
        let sense = match (self.denied.first(), other.denied.first()) {
            (Some(one), Some(two)) if one != two => return None,
            (Some(_), Some(_)) | (None, None) => Sense::Same,
            _ => Sense::Turned,
        };
        (!self.words.is_empty() && self.has_words_of(other, sense)).then_some(sense)
    }

    fn has_words_of(&self, other: &Self, sense: Sense) -> bool {
        let (mut ones, mut others) = (self.words.iter().peekable(), other.words.iter().peekable());
        loop {
            match (ones.peek(), others.peek()) {
                (None, None) => return true,
                (Some(one), Some(two)) if are_alike(one, two, sense) => {
                    ones.next();
                    others.next();
                }
                (Some(one), Some(two)) if one.support.as_deref() == Some(&two.text) => drop(others.next()),
                (Some(one), Some(two)) if two.support.as_deref() == Some(&one.text) => drop(ones.next()),
                _ => return false,
            }
        }
    }
}

/// "doesn't need" and "needs", and of statements that say the reverse "must" and "doesn't have to", too.
fn are_alike(one: &Word, other: &Word, sense: Sense) -> bool {
    let obliges = |word: &Word| matches!(&*word.text, "must" | "have to" | "has to");
    one.text == other.text
        || one.support.is_some() && is_form_of(&other.text, &one.text)
        || other.support.is_some() && is_form_of(&one.text, &other.text)
        || sense == Sense::Turned && obliges(one) && obliges(other)
}

/// Whether a word is another form of a verb.
fn is_form_of(word: &str, verb: &str) -> bool {
    let regular = word.strip_prefix(verb).is_some_and(|end| matches!(end, "s" | "es" | "ed" | "d"));
    let of_y =
        || verb.strip_suffix('y').zip(word.strip_suffix("ies").or_else(|| word.strip_suffix("ied"))).is_some_and(|(one, two)| one == two);
    regular || FORMS.contains(&[verb, word]) || of_y()
}

/// The rest of a denial, if the word is one.
fn denial(word: &str) -> Option<&'static str> {
    let of = |word: &str| DENIALS.iter().find(|(denial, _)| *denial == word).map(|(_, left)| *left);
    of(word).or_else(|| (word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_uppercase())).then(|| of(&word.to_lowercase()))?)
}

/// A text without the "No," that answers.
pub(super) fn behind_answer(text: &str) -> &str {
    let is_no = |answer: &&str| answer.eq_ignore_ascii_case("no") || answer.eq_ignore_ascii_case("nope");
    text.split_once([',', '.', '!']).filter(|(answer, _)| is_no(answer)).map_or(text, |(_, rest)| rest)
}

/// Whether a sentence denies one of another text in its words, or affirms what that denies: all of it, or what stands before a comma or a
/// reason. A rule that holds on a condition is not reversed.
pub(super) fn reverses(sentence: &str, earlier: &[&str]) -> bool {
    let part = |ends: &[&str]| {
        let (at, end) = ends.iter().filter_map(|end| Some((sentence.find(end)?, end))).min()?;
        let next = words(&sentence[at + end.len()..]).into_iter().next();
        next.is_none_or(|word| !CONDITIONS.contains(&&*word)).then(|| &sentence[..at])
    };
    let heads = [Some(sentence), part(&[", ", "; "]), part(&[" since ", " because "])];
    let earlier: Vec<Stated> = earlier.iter().map(|text| Stated::of(text)).collect();
    let turns = |head: &str| {
        let head = Stated::of(head);
        earlier.iter().any(|before| head.sense(before) == Some(Sense::Turned))
    };
    heads.into_iter().flatten().any(turns)
}

/// A statement in the words that count, where it has others: without what only says that it was said before ("As I said, ..."), and with
/// "n'est" as two words.
pub(super) fn bare(text: &str) -> Option<String> {
    let rest = without_reminder(text);
    let elides = ["n'", "n\u{2019}"].iter().any(|ne| text.match_indices(ne).any(|(at, _)| text[..at].ends_with(' ')));
    (elides || rest.len() < text.len()).then(|| if elides { marked_words(rest).join(" ") } else { rest.to_owned() })
}

fn without_reminder(text: &str) -> &str {
    let words = words(text);
    let is_phrase = |part: &[String], phrase: &str| phrase.split(' ').eq(part);
    let count_of = |phrase: &str| phrase.bytes().filter(|byte| *byte == b' ').count() + 1;
    let fits = |fits: &dyn Fn(usize, &str) -> bool| {
        let counted = REMINDERS.iter().map(|phrase| (count_of(phrase), *phrase)).filter(|(count, _)| *count < words.len());
        counted.filter(|(count, phrase)| fits(*count, phrase)).map(|(count, _)| count).max().unwrap_or(0)
    };
    let begins = fits(&|count, phrase| is_phrase(&words[..count], phrase));
    let ends = fits(&|count, phrase| begins + count < words.len() && is_phrase(&words[words.len() - count..], phrase));
    if begins + ends == 0 {
        return text;
    }
    let places = places(text);
    let is_marked = |at: usize| text[places[at - 1].end..places[at].start].contains([',', ':', ';', '.', '!']);
    let is_apart = |count: usize, at: usize| count > 1 || count == 1 && is_marked(at);
    let from = if is_apart(begins, begins) { places[begins - 1].end } else { 0 };
    let to = if is_apart(ends, words.len() - ends) { places[words.len() - ends - 1].end } else { text.len() };
    text[from..to].trim_start_matches([',', ':', ';', '.', '!', ' '])
}

/// Where the words of a text stand.
fn places(text: &str) -> Vec<Range<usize>> {
    let (mut places, mut from) = (Vec::new(), None);
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let is_part = c.is_alphanumeric() || matches!(c, '\'' | '\u{2019}');
        match from {
            None if is_part => from = Some(at),
            Some(start) if !is_part => {
                places.push(start..at);
                from = None;
            }
            _ => {}
        }
    }
    places
}

/// Whether a statement says what another says, with some of its parts elsewhere: "In Go, use tabs" and "Use tabs in Go". Both have the
/// same terms. Not "from A to B" and "from B to A", nor "A calls B" and "B calls A".
pub(super) fn rearranges(one: &str, other: &str) -> bool {
    let (mut one, mut other) = (Parts::of(one), Parts::of(other));
    let agrees = one.governed.iter().all(|(preposition, _)| {
        let of = |parts: &Parts| -> Vec<String> {
            let mut all: Vec<String> = parts.governed.iter().filter(|(by, _)| by == preposition).map(|(_, word)| word.clone()).collect();
            all.sort_unstable();
            all
        };
        let theirs = of(&other);
        theirs.is_empty() || theirs == of(&one)
    });
    let governed: Vec<String> = one.governed.iter().chain(&other.governed).map(|(_, word)| word.clone()).collect();
    for parts in [&mut one, &mut other] {
        parts.people.sort_unstable();
        parts.free.retain(|word| !governed.contains(word));
    }
    let (free, theirs) = (one.free, other.free);
    let is_turned = || free.len() > 2 && (1..free.len()).any(|at| free[at..].iter().chain(&free[..at]).eq(&theirs));
    agrees && one.people == other.people && free.len() == theirs.len() && (free == theirs || is_turned())
}

/// A statement as who is spoken of, the first word behind each preposition, and the others that say something.
#[derive(Debug, Default)]
struct Parts {
    people: Vec<String>,
    governed: Vec<(String, String)>,
    free: Vec<String>,
}

impl Parts {
    fn of(text: &str) -> Self {
        let (mut parts, mut by) = (Self::default(), None);
        for word in Stated::of(text).words {
            let word = word.text.to_lowercase();
            if PREPOSITIONS.contains(&&*word) {
                parts.governed.extend(by.replace(word).map(|by| (by, String::new())));
            } else if PEOPLE.contains(&&*word) {
                parts.people.push(word);
            } else if !filler(&word) && !MOVABLE.contains(&&*word) {
                match by.take() {
                    Some(by) => parts.governed.push((by, word)),
                    None => parts.free.push(word),
                }
            }
        }
        parts.governed.extend(by.map(|by| (by, String::new())));
        parts
    }
}

/// The words of a text with their signs. Only capitals that begin a word are folded: the others may name something.
fn marked_words(text: &str) -> Vec<String> {
    text.split_whitespace()
        .map(|word| word.trim_start_matches(['"', '(', '\u{201c}']))
        .map(|word| word.trim_end_matches(['.', ',', ';', ':', '!', '?', '"', ')', '\u{201d}', '\u{3002}']))
        .flat_map(|word| {
            let bare = ["n'", "N'", "n\u{2019}", "N\u{2019}"].iter().find_map(|elided| word.strip_prefix(elided)); // n'est
            [if bare.is_some() { "ne" } else { "" }, bare.unwrap_or(word)]
        })
        .filter(|word| !word.is_empty())
        .map(|word| {
            let mut letters = word.chars();
            let first = letters.next().into_iter().flat_map(char::to_lowercase);
            let plain = letters.clone().all(|letter| !letter.is_uppercase());
            let folded: String = if plain { first.chain(letters).collect() } else { word.to_owned() };
            folded.replace(['\'', '\u{2019}'], "")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn restates(one: &str, other: &str) -> Option<Sense> {
        Stated::of(one).sense(&Stated::of(other))
    }

    #[test]
    fn the_same_words_in_the_same_order_say_the_same() {
        for [one, other] in [
            ["Use port 8080 for the proxy.", "please use port 8080 for the proxy"],
            ["Do restart api-3.", "Restart api-3!"],
            ["Never touch audit_log.", "Don't touch audit_log, please."],
            ["The tests aren't green.", "The tests are not green."],
            ["We can't use Docker.", "We cannot use Docker."],
            ["Ne red\u{e9}marre pas api-3.", "Ne red\u{e9}marre jamais api-3."],
        ] {
            assert_eq!([restates(one, other), restates(other, one)], [Some(Sense::Same); 2], "{one} {other}");
        }
        for [one, other] in [
            ["Bob sent the contract to Alice.", "Alice sent the contract to Bob."],
            ["I am allergic to peanuts.", "She is allergic to peanuts."],
            ["Use C for the firmware.", "Use C++ for the firmware."],
            ["The fee is $100.", "The fee is \u{20ac}100."],
            ["The freezer stays at -20 degrees.", "The freezer stays at 20 degrees."],
            ["Alert if the load is > 80.", "Alert if the load is < 80."],
            ["Turn the boiler on at 6.", "Turn the boiler off at 6."],
            ["The pill is before breakfast.", "The pill is after breakfast."],
            ["Send it to Ann, not to Bob.", "Send it not to Ann, to Bob."],
            ["Key aB3 is lost.", "Key Ab3 is lost."],
            ["Delete .env of api-3.", "Delete env of api-3."],
            ["Kim did the dishes.", "Kim does the dishes."],
            ["You mustn't use the VPN.", "You don't have to use the VPN."],
            ["I don't drink coffee.", "You drink coffee."],
            ["The room needs paint.", "The room doesn't need painters."],
            ["Use the NE corner.", "Use the corner."],
            ["Take the longer road.", "Take no road."],
            ["Not.", "No."],
        ] {
            assert_eq!([restates(one, other), restates(other, one)], [None; 2], "{one} {other}");
        }
    }

    #[test]
    fn denials_turn_what_they_deny() {
        for [one, other] in [
            ["Deploy on Friday.", "Don't deploy on Friday."],
            ["Never touch audit_log.", "Touch audit_log!"],
            ["Do NOT push to main.", "Push to main."],
            ["Ticket QX-9 is solved.", "Ticket QX-9 is not solved now."],
            ["The tests are green.", "The tests aren\u{2019}t green any more."],
            ["The API needs auth.", "The API doesn't need auth."],
            ["The API does not need auth.", "No, the API needs auth."],
            ["The hotel charged the card.", "The hotel didn't charge the card."],
            ["The hotel did charge the card.", "The hotel did not charge the card."],
            ["The room has a lift.", "The room doesn't have a lift."],
            ["Kim does yoga.", "Kim doesn't do yoga."],
            ["Marta will come.", "Marta won't come."],
            ["We must use the staging bucket.", "We mustn't use the staging bucket."],
            ["We must use the staging bucket.", "We don't have to use the staging bucket any more."],
            ["I can't eat gluten.", "I can eat gluten again."],
            ["I can't fly before 10 May.", "I can fly before 10 May after all."],
            ["We have a backup of db-3.", "We have no backup of db-3."],
            ["The license covers Berlin.", "The license no longer covers Berlin."],
            ["Wir haben ein Backup von db-3.", "Wir haben kein Backup von db-3 mehr."],
            ["El contrato est\u{e1} firmado.", "El contrato no est\u{e1} firmado."],
            ["Le contrat est sign\u{e9}.", "Le contrat n'est pas sign\u{e9}."],
            ["O contrato est\u{e1} assinado.", "O contrato n\u{e3}o est\u{e1} assinado."],
            ["Red\u{e9}marre le service api-3.", "Ne red\u{e9}marre pas le service api-3."],
        ] {
            assert_eq!([restates(one, other), restates(other, one)], [Some(Sense::Turned); 2], "{one} {other}");
        }
        assert!(reverses("We can hire contractors, legal agreed.", &["We can't hire contractors."]));
        assert!(reverses("We can hire contractors since legal agreed.", &["Listen.", "We can't hire contractors."]));
        for plain in [
            "We can hire contractors, if legal agrees.",
            "We can hire contractors, but only from Poland.",
            "We can hire Ann, legal agreed.",
            "Since we can hire contractors.",
            "Legal, we can hire contractors.",
        ] {
            assert!(!reverses(plain, &["We can't hire contractors."]), "{plain}");
        }
    }

    #[test]
    fn a_rule_is_said_again_behind_a_reminder_or_with_its_parts_elsewhere() {
        for [text, rule] in [
            ["As I said, never push to main.", "never push to main."],
            ["Never push to main, remember!", "Never push to main"],
            ["Reminder: -20 degrees at most.", "-20 degrees at most."],
            ["Remember to use tabs.", "use tabs."],
            ["Remember.", "Remember."],
            ["Remember Ann.", "Remember Ann."],
            ["Use what you remember.", "Use what you remember."],
            ["", ""],
        ] {
            assert_eq!(without_reminder(text), rule);
        }
        for [one, other] in [
            ["Use tabs for indentation in Go.", "In Go, use tabs for indentation, as I said."],
            ["Reports must be in PDF before Friday.", "Before Friday, reports must be in PDF."],
            ["The budget for catering is 900 euros.", "As I told you, the catering budget is 900 euros."],
            ["Only Ann may approve refunds above 200.", "Refunds above 200: only Ann may approve those."],
            ["Always answer Helga in French.", "And always answer in French to Helga."],
            ["Vendor Kilo must not see salary data.", "Salary data: Vendor Kilo must not see it."],
            ["Always keep replies under 200 words.", "Keep replies always under 200 words."],
        ] {
            let [one, other] = [one, other].map(without_reminder);
            assert!(rearranges(one, other) && rearranges(other, one), "{one} {other}");
        }
        for [one, other] in [
            ["The train must go from Lisbon to Porto.", "The train must go from Porto to Lisbon."],
            ["Node a must never write to b.", "Node b must never write to a."],
            ["I am allergic to peanuts.", "She is allergic to peanuts."],
            ["The Tigers must beat the Bears.", "The Bears must beat the Tigers."],
            ["Carla must trust Dave.", "Dave must trust Carla."],
            ["Send 3 boxes to dock 5.", "Send 5 boxes to dock 3."],
            ["Room 12 must seat 40 people.", "Room 40 must seat 12 people."],
            ["Version 4 of module 2 must be used.", "Version 2 of module 4 must be used."],
            ["Only Ann may approve refunds.", "Ann may only approve refunds."],
            ["Service alpha must call service beta.", "Service beta must call service alpha."],
            ["Ann must sit next to Ben, Cem opposite.", "Cem must sit next to Ben, Ann opposite."],
            ["Dana must not see the files of Eli.", "Eli must not see the files of Dana."],
            ["Tell Ann about Bob.", "Tell Bob about Ann."],
            ["Ann before Bob.", "Bob before Ann."],
        ] {
            assert!(!rearranges(one, other), "{one} {other}");
        }
    }
}
