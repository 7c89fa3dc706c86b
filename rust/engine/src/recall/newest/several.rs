//! Whether two memories that look alike tell of two things which both hold: of two tickets, two clients, two hotels, or of two things that
//! one may not eat. The newer one is then no newer value of the other.
//!
//! Who asks has looked whether the newer one says that something changed: "I switched to Emacs" and "I use Emacs now" are newer values of
//! "I use Vim".

use super::super::words::{is_any, normal, without_s};
use super::manner::says_change;
use super::restated::same;
use crate::gate::{Beginnings, takes_many};
use crate::text::is_filler;
use crate::units::calendar::is_named;

/// Words for where something runs. A state in one of them says nothing of another one, also where it is so since today.
const STAGES: [&str; 16] = [
    "prod",
    "production",
    "staging",
    "stage",
    "dev",
    "development",
    "qa",
    "preview",
    "sandbox",
    "ios",
    "android",
    "windows",
    "linux",
    "macos",
    "locally",
    "ci",
];
/// How they begin.
static STAGED: Beginnings = Beginnings::of(&[&STAGES]);
/// Verbs of what somebody does with several things at a time.
const MANY: [&str; 18] = [
    "speak", "speaks", "play", "plays", "like", "likes", "love", "loves", "enjoy", "enjoys", "hate", "hates", "know", "knows", "collect",
    "collects", "visited", "read",
];
/// The word that begins an order beside which another one stands. "Always use tabs" and "always use spaces" are two values of one.
const NEVER: &str = "never";
/// Prepositions behind the first word of a name: "hotel in Porto".
const OF: [&str; 7] = ["in", "at", "for", "of", "with", "to", "from"];
/// First words that are none.
const NO_NOUN: [&str; 20] = [
    "i", "we", "user", "he", "she", "they", "it", "you", "this", "that", "there", "went", "got", "left", "took", "is", "moved", "switched",
    "reply", "answer",
];
/// Words before a noun.
const OWNERS: [&str; 5] = ["my", "our", "the", "a", "an"];
/// Nouns of things that people have several of, each with a name or a number of its own.
const NOUNS: [&str; 30] = [
    "ticket",
    "issue",
    "task",
    "case",
    "client",
    "customer",
    "supplier",
    "vendor",
    "invoice",
    "order",
    "project",
    "server",
    "host",
    "account",
    "patient",
    "booking",
    "reservation",
    "contract",
    "subscription",
    "sensor",
    "camera",
    "machine",
    "employee",
    "candidate",
    "tenant",
    "course",
    "class",
    "book",
    "bug",
    "incident",
];
/// Verbs by which a text says how a thing is.
const SAYS: [&str; 6] = ["is", "are", "was", "were", "has", "will"];
/// Prepositions before a place, a purpose or those for whom something is so.
const LIMITS: [&str; 4] = ["in", "for", "on", "at"];
/// Words of such a limit, with its preposition, at most.
const LONGEST_LIMIT: usize = 6;
/// Times of a day.
const DAYTIMES: [&str; 8] = ["morning", "evening", "afternoon", "night", "noon", "breakfast", "lunch", "dinner"];
/// Verbs of where somebody is.
const RESIDES: [&str; 9] = ["work", "works", "live", "lives", "study", "studies", "stay", "stays", "meet"];
/// Words of a text among which the noun stands that it is about: "my old phone".
const SUBJECT: usize = 3;
/// Words of a text that are looked at.
const MOST_WORDS: usize = 24;

/// Whether a newer memory that [says nothing of a change](says_change) tells of another thing than an older one, whatever the question.
pub(super) fn are_two_things(new: &[&str], old: &[&str]) -> bool {
    let same = new.iter().zip(old).take_while(|(new, old)| new.eq_ignore_ascii_case(old)).count();
    let word = |at: usize| new.get(at).map_or_else(String::new, |word| normal(word));
    let takes_many = same >= 2 && (takes_many(&word(same - 2), &word(same - 1)) || MANY.contains(&&*word(same - 1)));
    takes_many || same >= 1 && word(0) == NEVER || have_other_names(new, old)
}

/// Whether both begin with one noun and another name: "Ticket OPS-7731" and "Ticket OPS-7815", "my flight to Porto" and "my flight to Lisbon".
pub(super) fn have_other_names(new: &[&str], old: &[&str]) -> bool {
    let owned = usize::from(new.first().is_some_and(|first| OWNERS.iter().any(|owner| first.eq_ignore_ascii_case(owner))));
    let (new, old) = (&new[owned..], old.get(owned..).unwrap_or_default());
    let same = new.iter().zip(old).take_while(|(new, old)| new.eq_ignore_ascii_case(old)).count();
    let of = |at: usize| OF.iter().any(|of| new[at].eq_ignore_ascii_case(of));
    let behind = same == 1 && owned == 0 || same == 2 && of(1);
    let Some((first, (own, other))) = new.first().zip(new.get(same).zip(old.get(same))).filter(|_| behind) else { return false };
    let is_name = |word: &str| {
        let named = word.starts_with(char::is_uppercase) || word.chars().any(|sign| sign.is_ascii_digit());
        named && !is_named(word.to_lowercase().trim_end_matches('s'))
    };
    let is_noun = || NOUNS.contains(&&*normal(first)) || same == 2 && !NO_NOUN.contains(&&*normal(first));
    is_name(own) && is_name(other) && is_noun()
}

/// The word of the question behind which a text has a noun, before it says how that is: "birthday" of "Leo's birthday party is on June 7".
pub(super) fn part_of<'t>(text: &[&'t str], asked: &[String]) -> Option<&'t str> {
    let is_noun = |word: &str| {
        let is_plain = word.starts_with(|letter: char| letter.is_lowercase()) && !word.ends_with("ly");
        is_plain && word != "title" && !is_filler(word.as_bytes()) && !says_change(&[word]) && !asked.contains(&normal(without_s(word)))
    };
    let is_part = |three: &&[&str]| {
        is_any(three[2], &SAYS) && is_noun(three[1]) && !is_filler(three[0].as_bytes()) && asked.contains(&normal(without_s(three[0])))
    };
    text.windows(3).take(SUBJECT).find(is_part).map(|three| three[0])
}

/// Whether a newer memory is about a [part](part_of) of the thing that an older one is about: "my phone number" says nothing of the phone.
pub(super) fn is_of_part(new: &[&str], old: &[&str], asked: &[String]) -> bool {
    let says = |word: &str| old.windows(2).take(SUBJECT).any(|pair| pair[0].eq_ignore_ascii_case(word) && is_any(pair[1], &SAYS));
    part_of(new, asked).is_some_and(says)
}

/// Whether each of two texts is of another stage: "`new_checkout` is on in staging", "... is off in prod now".
pub(super) fn are_of_other_stages(new: &[&str], old: &[&str]) -> bool {
    let lacks = |one: &[&str], other: &[&str]| {
        one.iter().any(|word| STAGED.may_have(word) && is_any(word, &STAGES) && !other.iter().any(|known| known.eq_ignore_ascii_case(word)))
    };
    lacks(new, old) && lacks(old, new)
}

/// Whether both may be so because each says where or for whom it is: "port 8443 in staging" and "port 9443 in production", "the limit for
/// images is 5" and "the limit for videos is 9". Who works or lives elsewhere does otherwise, too.
pub(super) fn have_other_limits(new: &[&str], old: &[&str]) -> bool {
    // Mostly they do not begin alike, as both of these must.
    let begin_alike = || new.first().zip(old.first()).is_some_and(|(new, old)| new.eq_ignore_ascii_case(old));
    let is_own_place = || new.iter().take(SUBJECT).any(|word| is_any(word, &RESIDES));
    begin_alike() && !is_own_place() && (end_in_other_limits(new, old) || are_of_other_subjects(new, old))
}

fn end_in_other_limits(new: &[&str], old: &[&str]) -> bool {
    let limit = |text: &[&str]| {
        let at = text.iter().rposition(|word| is_any(word, &LIMITS))?;
        (at > 1 && (2..=LONGEST_LIMIT).contains(&(text.len() - at))).then_some(at)
    };
    let Some((own, other)) = limit(new).zip(limit(old)) else { return false };
    // Of what somebody has one of, another one is elsewhere: "my doctor is Dr Kay in Ghent". A dose is of its time.
    let is_owned = is_any(new[0], &["my", "our"]) || without_s(new[0]).len() < new[0].len();
    let is_of_time = |tail: &[&str]| tail.iter().any(|word| is_any(word, &DAYTIMES));
    let is_value = |tail: &[&str]| tail.iter().all(|word| word.starts_with(|sign: char| sign.is_ascii_digit()));
    new[own].eq_ignore_ascii_case(old[other])
        && new[0].eq_ignore_ascii_case(old[0])
        && !same(&new[own..], &old[other..])
        && !same(&new[..own], &old[..other])
        && !is_value(&new[own + 1..])
        && (!is_owned || is_of_time(&new[own..]))
}

/// "The limit for images" and "the limit for videos", before what both are.
fn are_of_other_subjects(new: &[&str], old: &[&str]) -> bool {
    let subject = |text: &[&str]| {
        let verb = text.iter().position(|word| is_any(word, &SAYS)).filter(|verb| (3..=LONGEST_LIMIT + 1).contains(verb))?;
        let at = text[..verb].iter().position(|word| is_any(word, &OF)).filter(|at| *at > 0 && at + 1 < verb)?;
        Some((at, verb))
    };
    let Some(((at, verb), (other, other_verb))) = subject(new).zip(subject(old)) else { return false };
    let plain = |part: &[&str]| -> Vec<String> {
        let nouns = part.iter().filter(|word| !is_filler(word.to_lowercase().as_bytes()));
        nouns.map(|word| normal(without_s(word)).trim_end_matches('s').to_owned()).collect()
    };
    same(&new[..=at], &old[..=other]) && plain(&new[at..verb]) != plain(&old[other..other_verb])
}

/// Whether a question asks for several things at a time: "which hotels did I book?", "how much do my clients owe me?", "what are my meetings?".
pub(super) fn asks_for_several(question: &[&str]) -> bool {
    let is = |at: usize, words: &[&str]| question.get(at).is_some_and(|word| words.iter().any(|one| word.eq_ignore_ascii_case(one)));
    let is_plural = |word: &str| {
        let plain = without_s(word).to_lowercase();
        plain.len() > 3 && plain.ends_with('s') && !["ss", "us", "is", "'s"].iter().any(|end| plain.ends_with(end))
    };
    let plural = |at: usize| question.get(at).is_some_and(|word| is_plural(word));
    (0..question.len().min(MOST_WORDS)).any(|at| {
        let asked = is(at + 2, &["do", "did", "are", "am", "have", "were"]); // "what does" has none
        let listed = is(at, &["which", "what", "all", "list"]) && plural(at + 1) && (asked || !is(at, &["what"]));
        let owned = is(at, &["are", "do", "did", "all", "of"]) && is(at + 1, &["my", "our"]) && (plural(at + 2) || plural(at + 3));
        listed || owned
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::words::Words;

    fn two(old: &str, new: &str) -> bool {
        let (new, old) = (Words::of(new).bare, Words::of(old).bare);
        !says_change(&new) && are_two_things(&new, &old)
    }

    #[test]
    fn two_things_of_one_kind_are_told_from_two_values_of_one() {
        for (old, new) in [
            ("Ticket OPS-7731 is due on May 3", "Ticket OPS-7815 is due on May 9"),
            ("Client Hofmann owes me 1,240 euros", "Client Weiss owes me 612 euros"),
            ("Hotel in Lisbon: ref 4421", "Hotel in Porto: ref 8873"),
            ("I'm allergic to penicillin", "I'm allergic to latex"),
            ("Never deploy on Fridays", "Never deploy during a demo"),
            ("I speak French", "I speak German"),
            ("My flight to Lisbon is TP843", "My flight to Tokyo is JL408"),
            ("The hotel in Lisbon is Casa do Bairro", "The hotel in Porto is Pensao Duque"),
        ] {
            assert!(two(old, new), "{old} | {new}");
        }
        for (old, new) in [
            ("I use Vim", "I use Emacs"),
            ("I live in Porto", "I moved to Lisbon"),
            ("My editor is Vim", "My editor is Zed"),
            ("I speak French", "I now speak German at work"),
            ("Moved to Oslo", "Moved to Rome"),
            ("Bob works at Acme", "Bob works at Globex"),
            ("The deadline is May 3", "The deadline is May 9"),
            ("Our office is in Berlin", "Our office is in Munich"),
            ("Dr Kay is my doctor", "Dr Lee is my doctor"),
            ("Ana Roe is my manager", "Ana Lee is my manager"),
            ("Gate B12 is where we meet", "Gate C3 is where we meet"),
            ("Always use tabs", "Always use spaces"),
            ("My appointment on Tuesday is at 9", "My appointment on Wednesday is at 9"),
            ("My boss Ana likes tea", "My boss Tom likes tea"),
        ] {
            assert!(!two(old, new), "{old} | {new}");
        }
    }

    #[test]
    fn a_noun_behind_an_asked_word_names_another_thing() {
        let is_part = |new: &str, old: &str| {
            let asked = ["when", "is", "leo", "birthday", "phone", "rent", "doctor"].map(str::to_owned);
            is_of_part(&Words::of(new).bare, &Words::of(old).bare, &asked)
        };
        assert!(is_part("Leo's birthday party is on June 7", "Leo's birthday is on June 3"));
        assert!(is_part("My phone number is 555", "My phone is a Pixel"));
        for (new, old) in [
            ("My rent currently is 950", "My rent is 900"),
            ("My rent now is 950", "My rent is 900"),
            ("My doctor Lee is in Porto", "My doctor is Kay"),
            ("My phone number is 555", "My phone number is 444"),
            ("The rent went up to 950", "My rent is 900"),
        ] {
            assert!(!is_part(new, old), "{new}");
        }
    }

    #[test]
    fn what_is_so_in_two_places_is_so_in_both() {
        let limits = |old: &str, new: &str| have_other_limits(&Words::of(new).bare, &Words::of(old).bare);
        for (old, new) in [
            ("payments-api listens on port 8443 in prod-eu-west-1", "payments-api listens on port 9443 in prod-us-east-1"),
            ("The limit is 100 requests per minute for free users", "The limit is 1000 requests per minute for paid users"),
            ("We use pytest for unit tests", "We use playwright for end-to-end tests"),
            ("I take 10 mg in the morning", "I take 20 mg in the evening"),
            ("The size limit for images is 5 MB", "The size limit for videos is 500 MB"),
        ] {
            assert!(limits(old, new), "{new}");
        }
        for (old, new) in [
            ("payments-api listens on port 8443 in prod", "payments-api listens on port 9443 in prod"),
            ("I work as a nurse at Acme", "I work as a teacher at Globex"),
            ("The server is in Oslo", "The server is in Rome"),
            ("My doctor is Dr Kay in Ghent", "My doctor is Dr Lee in Bruges"),
            ("The price of the ticket is 5", "The price of tickets is 6"),
            ("The code of my door is 2580", "The code of the door is 1379"),
            ("The party is at Ana's on Friday at 9", "The party is at Tom's on Monday at 10"),
            ("Rent is 900", "Rent is 950"),
        ] {
            assert!(!limits(old, new), "{new}");
        }
    }

    #[test]
    fn a_question_for_several_things_has_a_plural() {
        let asks = |question: &str| asks_for_several(&Words::of(question).bare);
        for question in [
            "which hotels did I book?",
            "How much do my clients owe me?",
            "when are my tickets due?",
            "What are my next meetings?",
            "Which languages do I speak?",
        ] {
            assert!(asks(question), "{question}");
        }
        for question in
            ["Which hotel did I book?", "What is my boss's name?", "Where do I live?", "What does my sister do?", "Which bus do I take?"]
        {
            assert!(!asks(question), "{question}");
        }
    }
}
