//! Rules for a medicine that somebody begins, stops or takes more of: "my doctor switched me to losartan", "I'm off metformin", "losartan
//! was increased to 100 mg".
//!
//! A medicine ends only where a sentence says so of the user and by its name, and what is known says nothing but that the user takes it.

mod otherwise;

pub(super) use otherwise::{is_taken_in, otherwise};

use super::Category;
use super::beings::{is_being, is_kin};
use super::health::{self, DOSES, NO_MEDICINE, OFTEN};
use super::left::is_unsure;
use super::lists::lists;
use super::reading::Reading;
use super::rules;
use super::sentence::Sentence;
use super::words::{Word, among, starts, words};

lists! { "medicine":
    /// Medicines by their names.
    MEDICINES,
    /// Endings of the names of medicines.
    ENDINGS,
    /// Those who prescribe.
    PRESCRIBERS,
    /// Verbs of those who prescribe another medicine. Its name follows.
    SWITCH,
    /// Verbs of those who prescribe one.
    PUT,
    /// How somebody says that they take another one.
    SWITCHED,
    /// How somebody says that they have one in the place of another, which they name first.
    SWAPPED,
    /// The same of who leaves out "I": what they stopped.
    BARE_STOPPED,
    /// How much they take.
    BARE_DOSES,
    /// The one that they swapped.
    BARE_SWAPPED,
    /// Those who prescribe, without an article.
    BARE_PRESCRIBERS,
    /// Words that say that it was not meant, or that it goes on.
    MISTAKES,
    /// How somebody says that they take a new one.
    STARTED,
    /// How somebody says that they take one no more.
    STOPPED,
    /// Verbs of those who prescribe one no more, and say so of the user.
    TAKE_OFF,
    /// Verbs of those who prescribe a medicine no more, of which the medicine alone says whose it is.
    END,
    /// Verbs of those who prescribe another one in the place of the first.
    REPLACE,
    /// How a clause begins that says what the user takes instead.
    INSTEAD,
    /// How much of a medicine is taken now, where its name stands before it.
    IS_NOW,
    /// Verbs for a dose that is another one now. The new one follows.
    CHANGED,
    /// Verbs of those who change a dose.
    CHANGES,
    /// How somebody says how much they take now.
    NOW_TAKES,
    /// Verbs of a medicine that did not do, so that somebody has another one.
    FAILED,
    /// Words behind which the time or the reason follows.
    BEHIND,
    /// Words that say that it is not for good, or only then and there.
    PASSING,
    /// Units that only medicines are taken in.
    OF_MEDICINE,
    /// Words before a medicine in whose place there is another one.
    IN_PLACE_OF,
    /// Verbs of those who give one in the place of another.
    SWAPS,
    /// Words before "off" where the user is off a medicine.
    IS_OFF,
    /// Verbs of those who take one no more.
    QUITS,
    /// Words behind a medicine that is over.
    IS_OVER,
    /// Words behind a medicine that is over which may be said of a box: another medicine must follow.
    IS_GONE,
    /// Words behind a medicine whose dose is another one, which follows.
    ROSE,
    /// Words before "instead of" where somebody takes a medicine in the place of another.
    TAKEN_BY,
    /// Words with which they did so one time.
    ONE_TIME,
    /// Words behind the name of a medicine that are not a noun: "Eliquis now", not "the Eliquis price".
    GOES_ON,
    /// Words behind the name of a medicine that say how it was taken: "I stopped taking it with food".
    WITHIN,
    /// Words by which it is not so, not sure, or not for good.
    NOT_SO,
    /// Words that begin a sentence which says that the user takes what follows.
    TAKES,
}

/// The medicines of a sentence: the one that is taken now, and the one that it ends.
struct Change<'a> {
    taken: Option<&'a str>,
    ended: Option<&'a str>,
}

/// "I'm off metformin", "the doctor switched me from lisinopril to losartan", "my metformin was raised to 850 mg".
pub(super) fn changed_medicine(s: &Sentence<'_>) -> Option<Reading> {
    let change = change(s)?;
    let unknown = |named: &str| change.ended.is_none_or(|ended| ended == named) && !is_medicine(named); // "the budget was raised to 100 g"
    let replaced = || s.words.iter().any(|word| is_medicine(&word.lower) && change.ended != Some(&word.lower));
    let reading = match change.taken {
        Some(named) if unknown(named) && !s.words.iter().any(|word| among(&OF_MEDICINE, &word.lower)) => return None,
        Some(_) => Reading::new(Category::Constraint, "medicine"),
        None if change.ended.is_some_and(is_medicine) && replaced() => Reading::new(Category::Constraint, "medicine"),
        None if change.ended.is_some_and(is_medicine) => Reading::new(Category::Semantic, "stopped a medicine"),
        None => return None,
    };
    Some(Reading { ends: change.ended.map(str::to_owned), importance: 800, ..reading })
}

fn change<'a>(s: &'a Sentence<'_>) -> Option<Change<'a>> {
    if s.words.len() > MOST_WORDS || is_unsure(s.words) || resumes(s.words) {
        return None;
    }
    let bare = [&BARE_STOPPED[..], &BARE_DOSES, &BARE_SWAPPED, &BARE_PRESCRIBERS].iter().find_map(|some| opened(s, 0, some));
    if bare.is_some_and(|behind| !is_of_oneself(s, behind)) {
        return None;
    }
    exchanged(s).map(|(_, change)| change).or_else(|| stopped(s)).or_else(|| dosed(s)).or_else(|| begun(s))
}

/// Behind those who prescribe, where they open a sentence: "my doctor", "GP". "She", "they" and a word without an article may speak for
/// anybody else's medicine where the sentence does not stand alone.
fn prescriber(s: &Sentence<'_>) -> Option<usize> {
    let behind = opened(s, 0, &PRESCRIBERS).or_else(|| opened(s, 0, &BARE_PRESCRIBERS))?;
    (!["she", "he", "they"].contains(&s.word(0)) || is_of_oneself(s, behind)).then_some(behind)
}

/// Where what the user takes instead is said behind what somebody ended: "she stopped the lisinopril, | I'm on amlodipine now". The two are
/// one change.
pub(super) fn instead(s: &Sentence<'_>) -> Option<usize> {
    exchanged(s).map(|(at, _)| at)
}

fn exchanged<'a>(s: &'a Sentence<'_>) -> Option<(usize, Change<'a>)> {
    let who = prescriber(s)?;
    let ended =
        opened(s, who, &TAKE_OFF).or_else(|| opened(s, who, &END)).map(|at| at + usize::from(["the", "my"].contains(&s.word(at))))?;
    let named = name(s, ended).filter(|named| is_medicine(named))?;
    let joined = |at: &usize| s.parted(*at) || ["and", "so", "but"].contains(&s.word(at - 1));
    let (at, behind) = (ended + 1..s.words.len()).filter(joined).find_map(|at| opened(s, at, &INSTEAD).map(|behind| (at, behind)))?;
    let passing = (ended + 1..at).any(|at| among(&PASSING, s.word(at)) && s.word(at + 1) != "good");
    let taken = name(s, behind).filter(|taken| !passing && *taken != named && (is_medicine(taken) || is_dosed(s, behind)))?;
    Some((at, Change { taken: Some(taken), ended: Some(named) }))
}

/// Whether a sentence without "I" is about who writes it: nothing stands before it, and it names nobody. "My mum is better. Came off metformin."
/// is about her.
fn is_of_oneself(s: &Sentence<'_>, behind: usize) -> bool {
    let opens = s.words.first().is_some_and(|first| ["", "now"].contains(&&*s.text[..first.start].trim().to_lowercase()));
    let other = |word: &Word| {
        let name = word.lower.strip_suffix("'s").unwrap_or(&word.lower);
        is_being(name) || is_kin(name) || ["she", "he", "her", "his", "him", "they", "them", "patient"].contains(&name)
    };
    opens && !is_mistaken(s) && !s.words[behind..].iter().any(other)
}

/// Whether a sentence says that something was not meant, or that it goes on.
fn is_mistaken(s: &Sentence<'_>) -> bool {
    let each = |at: usize| ["a", "daily", "each", "every", "per"].contains(&s.word(at)); // "twice a day"
    (0..s.words.len()).any(|at| among(&MISTAKES, s.word(at)) && !each(at + 1))
}

/// Whether words say that what was stopped goes on: "... but then started again".
pub(super) fn resumes(words: &[Word]) -> bool {
    words.iter().any(|word| ["again", "resumed", "restarted"].contains(&word.lower.as_str()))
}

/// Words of such a sentence at most.
const MOST_WORDS: usize = 24;

/// Whether a sentence says of a medicine that the user takes it no more, or another dose or another one in its place.
#[must_use]
pub fn ends_medicine(text: &str) -> bool {
    let words = words(text);
    let s = Sentence { text, words: &words };
    let skip = rules::preamble(&s);
    change(&Sentence { text, words: &words[skip..] }).is_some_and(|change| change.ended.is_some())
}

/// Whether a text says that the user takes a medicine, and nothing else that would be lost along with it.
#[must_use]
pub fn takes(text: &str, named: &str) -> bool {
    let words = words(text);
    let s = Sentence { text, words: &words };
    let skip = rules::preamble(&s);
    let s = Sentence { text, words: &words[skip..] };
    let taken = change(&s).map_or_else(|| health::taken(&s).and_then(|at| name(&s, at)), |change| change.taken);
    let Some(place) =
        taken.filter(|taken| taken.eq_ignore_ascii_case(named)).and_then(|taken| s.words.iter().rposition(|word| word.lower == taken))
    else {
        return false;
    };
    let other = |word: &&Word| word.lower != named.to_lowercase() && is_medicine(&word.lower);
    let more = |at: usize| ["i'm", "i've", "i", "have", "am", "my"].contains(&s.word(at)) && at > place && s.word(at - 1) != "for";
    let joins = |at: usize| {
        ["and", "plus", "or"].contains(&s.word(at))
            && !["evening", "night", "at", "one", "half", "dinner", "lunch", "the"].contains(&s.word(at + 1))
    };
    let behind = place..s.words.len();
    let ended = change(&s).and_then(|change| change.ended);
    !s.words.iter().filter(|word| ended.is_none_or(|ended| word.lower != ended)).any(|word| other(&word))
        && !behind.clone().any(more)
        && !behind.clone().any(joins)
}

/// Whether a word is the name of a medicine.
pub(super) fn is_medicine(word: &str) -> bool {
    among(&MEDICINES, word) || word.len() > 6 && ENDINGS.iter().any(|end| word.ends_with(end))
}

/// Behind a dose that begins at a word: "75 mcg", "75mcg".
pub(super) fn dose(s: &Sentence<'_>, at: usize) -> Option<usize> {
    let word = s.words.get(at)?;
    if word.is_number() && among(&DOSES, s.word(at + 1)) {
        return Some(at + 2);
    }
    let unit = word.lower.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
    (unit.len() < word.lower.len() && among(&DOSES, unit)).then_some(at + 1)
}

/// The medicine whose name begins at a word, behind a dose or before one: "20 mg of | citalopram", "losartan".
fn name<'a>(s: &'a Sentence<'_>, at: usize) -> Option<&'a str> {
    let at = dose(s, at).map_or(at, |end| end + usize::from(s.word(end) == "of"));
    let at = at + usize::from(["the", "my"].contains(&s.word(at)));
    let named = s.words.get(at).filter(|word| !word.is_mark() && !word.is_number() && !among(&NO_MEDICINE, &word.lower))?;
    Some(&named.lower)
}

/// Whether a name is followed or preceded by a dose, or by how often it is taken.
fn is_dosed(s: &Sentence<'_>, at: usize) -> bool {
    let often = (at..s.words.len().min(at + 6)).any(|at| OFTEN.iter().any(|often| starts(s.words, at, often).is_some()));
    often || (at..s.words.len().min(at + 4)).any(|at| dose(s, at).is_some())
}

/// Whether a sentence is over at a word, or says no more than since when.
fn is_over(s: &Sentence<'_>, at: usize) -> bool {
    let behind = at + usize::from(s.words.get(at).is_some_and(Word::is_mark));
    at >= s.words.len() || s.words[at..].iter().all(Word::is_mark) || BEHIND.iter().any(|phrase| starts(s.words, behind, phrase).is_some())
}

fn opened(s: &Sentence<'_>, at: usize, openings: &[&str]) -> Option<usize> {
    openings.iter().filter_map(|opening| starts(s.words, at, opening)).max()
}

/// "I'm off metformin since last week", "my doctor took me off statins".
fn stopped<'a>(s: &'a Sentence<'_>) -> Option<Change<'a>> {
    let off = opened(s, 0, &PRESCRIBERS).and_then(|at| opened(s, at, &TAKE_OFF));
    // "They stopped metformin" may be about anybody, also where it stands alone, and "they stopped my metformin" is not.
    let is_whose = |at: usize| !["she", "he", "they"].contains(&s.word(0)) || s.word(at) == "my";
    let at = off
        .or_else(|| prescriber(s).and_then(|at| opened(s, at, &END)).filter(|at| is_whose(*at)))
        .or_else(|| opened(s, 0, &STOPPED))
        .or_else(|| opened(s, 0, &BARE_STOPPED))?;
    let at = at + usize::from(["the", "my"].contains(&s.word(at)));
    let named = name(s, at)?;
    // "I don't take metformin in the evening" says how it is taken.
    let passing = |at: usize| among(&PASSING, s.word(at)) && s.word(at + 1) != "good";
    (is_over(s, at + 1) && !(at + 1..s.words.len()).any(passing)).then_some(Change { taken: None, ended: Some(named) })
}

/// "Losartan was increased to 100 mg", "my doctor raised the metformin to 850 mg", "I now take 850 mg of metformin".
fn dosed<'a>(s: &'a Sentence<'_>) -> Option<Change<'a>> {
    let same = |named: &'a str| Change { taken: Some(named), ended: Some(named) };
    // "Warfarin was increased to 7 mg" may be of anybody.
    let is_own = opened(s, 0, &["my", "i", "we", "doc", "the doc", "the doctor", "the doctors", "the gp", "the hospital"]).is_some()
        || opened(s, 0, &BARE_PRESCRIBERS).is_some();
    let told = |named: &'a str| if is_own { same(named) } else { Change { taken: Some(named), ended: None } };
    // "I'm on 100mcg of levothyroxine now"
    let now = s.words.iter().rev().find(|word| !word.is_mark()).is_some_and(|word| word.lower == "now");
    let is_on = || opened(s, 0, &["i'm on", "i am on", "i take", "i'm taking"]).filter(|_| now);
    if let Some(at) = opened(s, 0, &NOW_TAKES).or_else(|| opened(s, 0, &BARE_DOSES)).or_else(is_on).filter(|at| is_dosed(s, *at)) {
        return name(s, at).map(same);
    }
    // "Sertraline is up to 100 mg now" is said of what one takes oneself, where it stands alone.
    let is_now = || name(s, 0).filter(|named| is_medicine(named) && is_of_oneself(s, 1));
    if let Some(named) = is_now()
        && let Some(at) = opened(s, 1, &IS_NOW)
        && dose(s, at).is_some_and(|end| is_over(s, end) || s.word(end) == "now")
    {
        return Some(same(named));
    }
    let doctor =
        opened(s, 0, &PRESCRIBERS).or_else(|| opened(s, 0, &BARE_PRESCRIBERS)).filter(|at| among(&CHANGES, s.word(*at))).map(|at| at + 1);
    let at = doctor.or_else(|| opened(s, 0, &["i", "we"]).filter(|at| among(&CHANGES, s.word(*at))).map(|at| at + 1)).unwrap_or(0);
    // "The doc put my levothyroxine up to 75mcg"
    let put = opened(s, 0, &PRESCRIBERS).filter(|at| s.word(*at) == "put" && s.word(at + 1) == "my").map(|at| at + 1);
    let at = put.unwrap_or(at);
    let by_doctor = at > 0;
    let first = at + usize::from(["the", "my"].contains(&s.word(at)));
    let named = name(s, first)?;
    let behind = first + 1 + usize::from(["dose", "dosage", "prescription"].contains(&s.word(first + 1)));
    let to = if put.is_some() {
        opened(s, behind, &["up to", "down to", "back to"])
    } else if by_doctor {
        starts(s.words, behind, "to")
    } else {
        opened(s, behind, &CHANGED)
    };
    let to = to
        .or_else(|| starts(s.words, behind, "from").and_then(|from| (from..s.words.len()).find(|at| s.word(*at) == "to")).map(|at| at + 1));
    to.and_then(|to| dose(s, to)).filter(|end| is_over(s, *end)).map(|_| told(named))
}

/// "The doctor switched me to losartan 50 mg", "I was put on warfarin".
fn begun<'a>(s: &'a Sentence<'_>) -> Option<Change<'a>> {
    let by = |verbs: &[&str]| {
        let bare = |at: usize| if at == 0 { opened(s, 0, &BARE_PRESCRIBERS) } else { None };
        let who = |at: usize| PRESCRIBERS.iter().find_map(|who| starts(s.words, at, who)).or_else(|| bare(at));
        let doctor = |at: usize| who(at).and_then(|verb| opened(s, verb, verbs));
        let begins = |at: &usize| *at == 0 || s.parted(*at) || ["so", "and", "because"].contains(&s.word(at - 1));
        (0..s.words.len()).filter(begins).find_map(|at| doctor(at).map(|behind| (at, behind)))
    };
    // "Swapped metformin for jardiance"
    if let Some(ended) =
        opened(s, 0, &SWAPPED).or_else(|| opened(s, 0, &BARE_SWAPPED)).and_then(|at| name(s, at)).filter(|ended| is_medicine(ended))
    {
        let place = s.words.iter().position(|word| word.lower == ended)?;
        let taken = starts(s.words, place + 1, "for").or_else(|| starts(s.words, place + 1, "to")).and_then(|at| name(s, at))?;
        return Some(Change { taken: Some(taken), ended: Some(ended) });
    }
    // "They replaced metformin with ozempic"
    if let Some(at) = prescriber(s).and_then(|at| opened(s, at, &REPLACE)) {
        let first = at + usize::from(["the", "my"].contains(&s.word(at)));
        let ended = name(s, first).filter(|ended| is_medicine(ended))?;
        let taken = opened(s, first + 1, &["with", "by", "for"]).and_then(|at| name(s, at)).filter(|taken| *taken != ended)?;
        let place = s.words.iter().rposition(|word| word.lower == taken)? + 1;
        let over = dose(s, place).unwrap_or(place);
        return (is_over(s, over) || s.word(over) == "now").then_some(Change { taken: Some(taken), ended: Some(ended) });
    }
    let switched = by(&SWITCH).or_else(|| opened(s, 0, &SWITCHED).map(|behind| (0, behind)));
    let (begin, behind) = switched.or_else(|| by(&PUT)).or_else(|| opened(s, 0, &STARTED).map(|behind| (0, behind)))?;
    let (old, at) = match s.word(behind) {
        "from" | "off" => {
            let to = (behind..s.words.len()).find(|at| ["to", "onto"].contains(&s.word(*at)))?;
            (name(s, behind + 1).filter(|_| to <= behind + 5), to + 1)
        }
        "to" => (None, behind + 1),
        _ => (None, behind),
    };
    let taken = name(s, at)?;
    let instead = (at..s.words.len())
        .find_map(|at| opened(s, at, &["instead of", "in place of", "to replace", "and off"]))
        .and_then(|at| name(s, at));
    // "The lisinopril gave me a cough, so the doctor switched me to losartan": of the first it says why it is over.
    let first = usize::from(["the", "my"].contains(&s.word(0)));
    let failed = switched.is_some() && begin > first && opened(s, first + 1, &FAILED).is_some();
    let ended = old.or(instead).or_else(|| if failed { name(s, first) } else { None });
    let known = is_medicine(taken) || is_dosed(s, at) || ended.is_some_and(is_medicine);
    known.then_some(Change { taken: Some(taken), ended })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::tests::stored;

    #[test]
    fn a_medicine_that_is_new_or_dosed_otherwise_is_kept_as_one_that_is_taken() {
        for (text, ended) in [
            ("I take lisinopril 10 mg", None),
            ("i take 50mg of sertraline", None),
            ("I'm taking 50mg sertraline.", None),
            ("The lisinopril gave me a cough so the doctor switched me to losartan 50 mg", Some("lisinopril")),
            ("They switched me from lisinopril to losartan", Some("lisinopril")),
            ("I switched from lisinopril to losartan", Some("lisinopril")),
            ("The doctor put me on eliquis instead of warfarin", Some("warfarin")),
            ("My cardiologist put me on warfarin", None),
            ("I was put on warfarin", None),
            ("Losartan was increased to 100 mg today", None),
            ("My losartan was increased to 100 mg today", Some("losartan")),
            ("My doctor raised the metformin to 850 mg", Some("metformin")),
            ("My metformin went up to 850 mg", Some("metformin")),
            ("I now take 850 mg of metformin", Some("metformin")),
            ("dropped to 3mg of warfarin", Some("warfarin")),
            ("now on 50mg of sertraline", Some("sertraline")),
            ("swapped metformin for jardiance", Some("metformin")),
            ("GP switched me from warfarin to apixaban", Some("warfarin")),
            ("asthma nurse moved me off ventolin onto Symbicort 160 twice a day", Some("ventolin")),
            ("doc put my levothyroxine up to 75mcg yesterday", Some("levothyroxine")),
            ("i'm on 100mcg of levothyroxine now", Some("levothyroxine")),
            ("my doc upped my sertraline to 100mg", Some("sertraline")),
            ("GP raised the lisinopril to 10 mg", Some("lisinopril")),
            ("sertraline is up to 100 mg now", Some("sertraline")),
            ("Metformin is down to 500 mg", Some("metformin")),
            ("they replaced metformin with ozempic", Some("metformin")),
            ("My doctor replaced the metformin with ozempic 0.5 mg", Some("metformin")),
            ("she stopped the lisinopril, I'm on amlodipine 5 mg now", Some("lisinopril")),
            ("My doctor took me off lisinopril and I'm on amlodipine now", Some("lisinopril")),
            ("My cardiologist stopped the apixaban and put me on warfarin", Some("apixaban")),
        ] {
            let claims = stored(text);
            assert_eq!(claims.len(), 1, "{text}: {claims:?}");
            assert_eq!(
                (claims[0].category, claims[0].ends.as_deref(), claims[0].doubt),
                (Category::Constraint, ended, None),
                "{text} {claims:?}"
            );
        }
    }

    #[test]
    fn a_medicine_ends_where_the_user_says_that_they_take_it_no_more() {
        for text in [
            "I'm off metformin since last week",
            "I'm off metformin",
            "I stopped taking metformin",
            "I've stopped taking my metformin for good",
            "I no longer take metformin",
            "I don't take metformin any more",
            "I came off metformin last month",
            "I don't need metformin anymore",
            "My doctor took me off metformin",
            "I was taken off metformin yesterday",
            "came off metformin last week",
            "stopped the metformin altogether last week, feel ok",
            "finished my course of metformin",
            "My cardiologist stopped the metformin",
            "GP stopped metformin last week",
            "They stopped my metformin",
            "My doctor discontinued my metformin",
        ] {
            let claims = stored(text);
            assert_eq!(claims.iter().filter_map(|claim| claim.ends.as_deref()).collect::<Vec<_>>(), ["metformin"], "{text}: {claims:?}");
            assert!(ends_medicine(text), "{text}");
        }
        for text in [
            "I stopped taking metformin for a day",
            "I'm off metformin until Friday",
            "My mum is doing better. Came off metformin last week.",
            "Came off metformin last week (mum)",
            "stopped metformin yesterday because of contrast, restarting on monday",
            "came off metformin once and felt awful",
            "GP switched me from metformin to jardiance by mistake",
            "My mum saw her GP. GP switched me from metformin to jardiance, she says.",
            "I'm off metformin this week",
            "I don't take metformin with food",
            "My dad is off metformin",
            "My mother's metformin was increased to 850 mg",
            "My mother stopped taking metformin",
            "I don't take metformin in the evening",
            "I don't take metformin as often as I should",
            "I don't take metformin now, I take it at 8 pm",
            "I don't take metformin any later than 9",
            "I stopped taking metformin and then restarted it",
            "I'm off metformin, back on it on Monday",
            "I finished my metformin, need a refill",
            "I no longer take metformin and insulin together",
            "My doctor stopped metformin and then restarted it",
            "They stopped metformin",
            "She stopped metformin because of her surgery",
            "Metformin was increased to 850 mg for her",
            "The doctor prescribed my mother eliquis instead of metformin",
            "The hospital prescribed insulin instead of metformin for my mother",
            "I might stop taking metformin",
            "I almost stopped metformin",
            "I ran out of metformin",
            "I forgot to take my metformin",
            "I take metformin",
            "My doctor stopped metformin for two days",
            "My doctor stopped the metformin until the scan",
            "My mum had a fall. GP stopped the metformin",
            "My mum had a fall. They replaced metformin with insulin",
            "My mum had a fall. She stopped the metformin, I'm on insulin now",
            "My mum had a fall. Metformin is up to 850 mg now",
            "They replaced metformin with insulin for my mother",
            "They replaced metformin with insulin in the guidelines",
            "She stopped the metformin, my dad is on insulin now",
            "GP raised the metformin to 850 mg for my mum",
            "My doctor might replace metformin with insulin",
            "Metformin is up to 850 mg for her",
            "Metformin is up to 5 euros now",
            "The doctor put me on hold",
            "The budget was raised to 100 g",
            "I was moved to room 4",
            "I switched from Python to Go",
        ] {
            let ends = |claim: &crate::gate::Claim| claim.reason.contains("medicine") && claim.ends.is_some();
            assert!(!stored(text).iter().any(ends), "{text}: {:?}", stored(text));
        }
        let flour = stored("I take 200 g of flour and mix it with eggs");
        assert!(flour.iter().all(|claim| claim.category != Category::Constraint), "{flour:?}");
    }

    #[test]
    fn only_what_says_that_the_user_takes_it_and_no_more_may_end() {
        for text in [
            "I take metformin 500 mg twice a day",
            "I take 500 mg of metformin every morning and evening",
            "I'm on 500 mg of metformin",
            "I was prescribed metformin",
            "The doctor switched me from insulin to metformin",
            "Metformin was increased to 850 mg",
        ] {
            assert!(takes(text, "metformin") && takes(text, "Metformin"), "{text}");
        }
        for text in [
            "The user is allergic to metformin.",
            "Metformin gives me a rash",
            "My mother takes metformin 500 mg",
            "I take metformin 500 mg and warfarin daily",
            "I take metformin daily and I'm diabetic",
            "I take warfarin daily",
            "I don't take metformin any more",
        ] {
            assert!(!takes(text, "metformin"), "{text}");
        }
    }
}
