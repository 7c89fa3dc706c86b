//! Claims of one of several speakers, told of them by name: in a scope that many share, "I live in Lisbon" says where Priya lives, and
//! nothing of "the user". `untold` gives the words that its speaker would say alone.

use super::lists::lists;
use super::signs::parts;
use super::words::{Word, among, starts, words};
use super::{Category, Claim};

lists! { "by_name":
    /// States of a person with which a speaker begins who leaves out "I'm".
    STATES,
    /// Words behind such a state.
    FOLLOWS,
    /// Openings of speakers who leave out "I": "living in".
    OPENINGS,
    /// Words before what somebody did.
    BEFORE,
    /// Verbs of what somebody did, beside those that end in "ed".
    DID,
    /// Words that end in "ed" and begin no such statement.
    NO_DEED,
    /// How somebody says where they are, or what they are doing.
    WHERE,
    /// Verbs of another subject, which those words begin then: "moved files are listed below".
    OF_OTHERS,
}

/// Words behind the first in which a verb of another subject is looked for.
const MOST_SUBJECT: usize = 5;

/// Words of those who share the scope.
const OF_ALL: [&str; 9] = ["we", "we're", "we've", "we'd", "we'll", "our", "ours", "us", "ourselves"];
/// Words by which a speaker means themselves alone.
const OF_ONESELF: [&str; 9] = ["i", "i'm", "i've", "i'd", "i'll", "my", "me", "mine", "myself"];
/// How the gate begins what it makes of "I ...", and of an answer in a few words.
const OF_USER: &str = "The user";
const ASKED: &str = "Asked \u{201C}";
/// The letters between a name and what somebody has.
const OF_THEM: &str = "'s ";

/// A claim that somebody of that name made, who `said` all of its message. Where it is of themselves, it stands in no other one's place:
/// its slot is theirs, and it is nothing that every prompt must show.
#[must_use]
pub fn told_of(claim: Claim, said: &str, name: &str) -> Claim {
    let is_told = claim.text.starts_with(OF_USER) && !said.to_lowercase().contains("the user");
    if claim.category == Category::Discard || !is_told && !is_of_speaker(&claim.text) {
        return claim;
    }
    let shown = capital(name);
    let category = match claim.category {
        Category::Profile | Category::Constraint | Category::Preference => Category::Semantic,
        other => other,
    };
    Claim {
        text: if is_told { format!("{shown}{}", &claim.text[OF_USER.len()..]) } else { format!("{shown}: {}", claim.text) },
        slot: claim.slot.map(|slot| format!("{}{OF_THEM}{slot}", name.to_lowercase())),
        category,
        ..claim
    }
}

/// The words of a text that is told of somebody by name, as they would say them alone: the reverse of [`told_of`].
#[must_use]
pub fn untold(text: &str, name: &str) -> Option<String> {
    let (_, rest) = text.split_at_checked(capital(name).len()).filter(|(told, _)| same_name(told, name))?;
    if let Some(said) = rest.strip_prefix(": ") {
        return Some(said.to_owned());
    }
    // "Ana Lima lives in Rome" and "ana lima: I live in Rome" tell of somebody else than Ana.
    let is_longer = || rest[1..].starts_with(char::is_uppercase) || is_labelled(rest);
    (rest.starts_with(OF_THEM) || rest.starts_with(' ') && !is_longer()).then(|| format!("{OF_USER}{rest}"))
}

/// Whether a memory with that slot is told of any one of several speakers.
#[must_use]
pub fn is_told(text: &str, slot: Option<&str>) -> bool {
    let owner = slot.and_then(|slot| slot.split_once(OF_THEM)).map(|(owner, _)| owner);
    owner.is_some_and(|owner| text.to_lowercase().starts_with(owner)) || is_labelled(text)
}

/// Whether two names are one that was written in two ways: "Priya" and "priya".
pub(super) fn same_name(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// Whether the name of a speaker stands before what they said: "Priya: I use Vim."
fn is_labelled(text: &str) -> bool {
    text.split_once(": ").is_some_and(|(_, said)| is_of_speaker(said))
}

/// Whether a text says something of its speaker alone.
fn is_of_speaker(text: &str) -> bool {
    let words = words(text);
    let leaves_out = || leaves_out_i(&words) || tells_own(text, &words);
    text.starts_with(ASKED) || has_one_of(&words, &OF_ONESELF) || leaves_out() && !has_one_of(&words, &OF_ALL)
}

/// Whether a text says something of the user, alone or along with others: "Change the city to Rome." does not.
#[must_use]
pub fn is_of_user(text: &str) -> bool {
    text.starts_with(OF_USER) || is_of_speaker(text) || has_one_of(&words(text), &OF_ALL)
}

fn has_one_of(words: &[Word], list: &[&str]) -> bool {
    words.iter().any(|word| list.contains(&&*word.lower))
}

/// Whether a speaker leaves out "I" or "I'm": "Vegetarian since 2010.", "Living in Porto."
pub(super) fn leaves_out_i(words: &[Word]) -> bool {
    let has_state = words.first().is_some_and(|first| among(&STATES, &first.lower));
    let is_state = has_state && words.get(1).is_none_or(|next| among(&FOLLOWS, &next.lower));
    is_state || OPENINGS.iter().any(|opening| starts(words, 0, opening).is_some())
}

/// Whether a speaker says without "I" what they did, or where they are: "switched to zed", "off sick until thursday", "on call from monday".
fn tells_own(text: &str, words: &[Word]) -> bool {
    let at = words.iter().position(|word| !among(&BEFORE, &word.lower)).unwrap_or(words.len());
    let Some(first) = words.get(at).map(|word| word.lower.as_str()) else { return false };
    // "Ahmed owns billing" has a name.
    let names = words[at].capital && words.get(at + 1).is_some_and(|next| next.lower.ends_with('s') || next.lower.ends_with("ed"));
    let is_deed = || among(&DID, first) || !names && first.len() > 4 && first.ends_with("ed") && !among(&NO_DEED, first);
    if !is_deed() && !WHERE.iter().any(|opening| starts(words, at, opening).is_some()) {
        return false;
    }
    let clause =
        words.windows(2).skip(at).position(|pair| parts(&text[pair[0].end..pair[1].start])).map_or(words.len(), |rest| at + rest + 1);
    let subject = &words[at + 1..clause.min(at + 1 + MOST_SUBJECT)];
    !subject.iter().any(|word| among(&OF_OTHERS, &word.lower)) && !text.trim_end().ends_with('?')
}

/// A name of letters in small letters with a capital, as people write it.
fn capital(name: &str) -> String {
    let mut letters = name.chars();
    match letters.next() {
        Some(first) if name.chars().all(char::is_lowercase) => first.to_uppercase().chain(letters).collect(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Heard, judge_among};
    use super::*;

    fn told(text: &str) -> Claim {
        let heard = [Heard::new(0, "user", text, Some(0))];
        told_of(judge_among(&heard, 0, 0).remove(0), text, "priya")
    }

    #[test]
    fn what_speakers_say_of_themselves_is_theirs() {
        for (said, text, slot) in [
            ("I live in Lisbon.", "Priya lives in Lisbon.", Some("priya's home")),
            ("My phone number is 555-0101.", "Priya's phone number is 555-0101.", Some("priya's phone number")),
            ("I'm allergic to nuts.", "Priya is allergic to nuts.", None),
            ("I prefer tabs over spaces.", "Priya: I prefer tabs over spaces.", Some("priya's indentation")),
        ] {
            let claim = told(said);
            assert_eq!((&*claim.text, claim.slot.as_deref(), claim.category), (text, slot, Category::Semantic), "{said}");
        }
        for said in ["Remember that the user service runs on vega-05.", "We decided that the user gets an email."] {
            assert!(!told(said).text.contains("Priya"), "{said}");
        }
        let heard = [Heard::new(0, "assistant", "Any allergies?", Some(0)), Heard::new(1, "user", "yes, peanuts", Some(0))];
        let answer = told_of(judge_among(&heard, 1, 0).remove(0), "yes, peanuts", "priya");
        assert!(answer.text.starts_with("Priya: Asked") && answer.category == Category::Semantic, "{}", answer.text);
        let of_all = told("Never deploy on Fridays.");
        assert_eq!((&*of_all.text, of_all.category), ("Never deploy on Fridays.", Category::Constraint), "what is said of all stays");
        assert_eq!((capital("u-7"), capital("Ana"), capital("\u{e9}va")), ("u-7".into(), "Ana".into(), "\u{c9}va".into()));
    }

    #[test]
    fn who_leaves_out_i_speaks_of_themselves() {
        for said in ["Vegetarian since 2010.", "Diabetic since 2015.", "Married with two kids.", "Living in Porto.", "Born in 1980."] {
            assert_eq!(told(said).text, format!("Priya: {said}"));
        }
        for said in ["Deploys are on Fridays.", "Our office moved to Ghent."] {
            assert!(!told(said).text.contains("Priya"), "{said}");
        }
        for text in ["Vegetarian dishes are on page 2", "Single rooms are sold out", "Working from home is fine for all of us"] {
            assert!(!is_of_speaker(text), "{text}");
        }
    }

    #[test]
    fn what_somebody_did_without_i_is_told_of_them() {
        for text in [
            "switched to zed from emacs",
            "Moved to Kafka last year.",
            "off sick until thursday",
            "got promoted to staff",
            "just quit smoking",
            "taking over billing from marco",
            "on call from monday",
            "changed teams, identity is where it's at",
            "done with jira, tracking everything in linear now",
            "bought a moonlander keyboard",
            "back on friday",
            "out of office until may 3",
            "relocated to Porto in june",
        ] {
            assert!(is_of_speaker(text), "{text}");
        }
        for text in [
            "staging runs on 8443",
            "moved files are listed in MOVED.md",
            "shared folders live on the nas",
            "on call this week is tomas",
            "deprecated endpoints return 410",
            "need two approvals",
            "we moved to berlin",
            "taking over takes two days",
            "off is the default",
            "replaced our sentry with bugsnag",
        ] {
            assert!(!is_of_speaker(text), "{text}");
        }
    }

    #[test]
    fn what_is_told_by_name_is_read_as_its_speaker_says_it() {
        for said in ["I live in Lisbon.", "My phone number is 555-0101.", "I prefer tabs over spaces.", "I left Acme."] {
            let heard = [Heard::new(0, "user", said, Some(0))];
            let alone = judge_among(&heard, 0, 0).remove(0);
            let claim = told(said);
            assert_eq!(untold(&claim.text, "PRIYA").as_ref(), Some(&alone.text), "{said}");
            assert_eq!(untold(&claim.text, "tom"), None, "{said}");
            assert_eq!((&claim.ends, &claim.replaces), (&alone.ends, &alone.replaces), "{said}");
        }
        for text in ["Priya Lima lives in Rome.", "Priya Lima: I live in Rome.", "Priyanka lives in Rome.", "We live in Rome.", "Pri"] {
            assert_eq!(untold(text, "priya"), None, "{text}");
        }
        assert_eq!(untold("ana lima: I live in Rome.", "ana"), None);
        assert_eq!(untold("ana lima: I live in Rome.", "ana lima").as_deref(), Some("I live in Rome."));
        assert_eq!(untold("\u{c9}va is vegan.", "\u{e9}va").as_deref(), Some("The user is vegan."));
    }

    #[test]
    fn a_memory_is_told_of_a_speaker_by_its_words_or_its_slot() {
        for (text, slot) in [
            ("Priya: I use Vim.", None),
            ("Priya lives in Lisbon.", Some("priya's home")),
            ("Priya: Asked \u{201C}Any allergies?\u{201D}: yes", None),
        ] {
            assert!(is_told(text, slot), "{text}");
        }
        for (text, slot) in
            [("We use Vim.", None), ("Decided: the API runs on vega-05.", None), ("The user's mother lives in Rome.", Some("mom's home"))]
        {
            assert!(!is_told(text, slot), "{text}");
        }
    }

    #[test]
    fn nobody_corrects_what_somebody_else_said() {
        let said = |by: &str, text: &str| Heard::new(0, "user", text, Some(0)).said_by(Some(by.to_owned()));
        let heard = |by: &str| [said("priya", "My flight is at 15:30."), said(by, "Sorry, I meant 16:30.")];
        let replaced = |by: &str| judge_among(&heard(by), 1, 0).iter().any(|claim| claim.text.contains("flight"));
        assert!(replaced("priya") && replaced("Priya") && !replaced("tom"));
    }
}
