//! Rules for what somebody left: whom they worked for ("I quit Initech", "I was laid off from Initech", "I retired") and where they lived
//! ("I left Lisbon for Porto", "I moved out of Lisbon").
//!
//! A sentence ends the one that it names, where that is known, and nothing else. The claim keeps the user's words, so that the new value
//! stands there, too. If a sentence says more than when and why it was, it ends nothing: "I left Lisbon at 8".

use super::lexicon::NUMBERS;
use super::lists::lists;
use super::reading::Reading;
use super::sentence::Sentence;
use super::words::{Word, among, starts};
use super::{Category, DENIAL};
use crate::units::calendar::is_named;

lists! { "left":
    /// Verbs of those who work no more for somebody. The name follows.
    QUIT,
    /// Verbs of those who work for nobody any more.
    NO_WORK,
    /// The words of those verbs by which they are known, wherever they stand in a sentence.
    LEAVES,
    /// How somebody says that they work for nobody.
    IS_WITHOUT_WORK,
    /// Verbs of those who live no more in a place. Its name follows.
    GONE,
    /// Words for when somebody left for good.
    RECENTLY,
    /// Words for when somebody lost their work. Those who only went somewhere use them as well.
    THEN,
    /// Words before the reason.
    REASONS,
    /// Words that say that it may not be so, or is so no longer.
    UNSURE,
    /// Words of somebody who went somewhere and comes back.
    TRIPS,
    /// Days for which somebody goes away, and which are written as names.
    OCCASIONS,
}

/// The rule of those who left somebody for whom they worked, by its name.
pub(super) const LEFT_WORK: &str = "left an employer";
/// The rule of those who work for nobody.
pub(super) const WITHOUT_WORK: &str = "without work";
/// The rule of those who left something that may be an employer or a home.
const LEFT: &str = "left";

/// How somebody left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// They work no more for somebody, or live no more in a place.
    Gone,
    /// They left something, which they may have done for an hour.
    Left,
}

/// Whether a word is one by which the verbs of those who left are known: "laid" of "I was laid off".
#[must_use]
pub fn leaves(word: &str) -> bool {
    among(&LEAVES, word)
}

/// "I quit Initech", "I left Lisbon for Porto", "I retired".
pub(super) fn left(s: &Sentence<'_>) -> Option<Reading> {
    if let Some(at) = IS_WITHOUT_WORK.iter().find_map(|opening| starts(s.words, 0, opening)) {
        return is_over(s, at, How::Gone).then(without_work);
    }
    let at = verb(s)?;
    let behind = |phrases: &[&str]| phrases.iter().filter_map(|phrase| starts(s.words, at, phrase)).max();
    let named = |at: usize, how: How| {
        let (value, end) = named(s, at).filter(|_| how == How::Gone || s.words[at].capital)?; // "i left early" names nothing
        is_over(s, behind_new(s, end), how).then_some(value)
    };
    let reading =
        |rule: &'static str, ends: String| Reading { ends: Some(ends), importance: 700, ..Reading::new(Category::Episodic, rule) };
    let employer = behind(&QUIT).and_then(|at| named(at, How::Gone)).map(|ends| reading(LEFT_WORK, ends));
    employer
        .or_else(|| {
            behind(&NO_WORK).filter(|end| !retires_to(s, at, *end) && is_over(s, behind_new(s, *end), How::Gone)).map(|_| without_work())
        })
        .or_else(|| behind(&GONE).and_then(|at| named(at, How::Gone)).map(|ends| reading(LEFT, ends)))
        .or_else(|| starts(s.words, at, "left").and_then(|at| named(at, How::Left)).map(|ends| reading(LEFT, ends)))
}

/// The claim of somebody who works for nobody any more. It takes the slot of the employer.
fn without_work() -> Reading {
    Reading::new(Category::Profile, WITHOUT_WORK).slot("employer")
}

/// Whether somebody retired to bed, or early and slept: that ends no work.
fn retires_to(s: &Sentence<'_>, at: usize, end: usize) -> bool {
    s.word(at) == "retired" && ["to", "and", "after", "over"].contains(&s.word(end))
}

/// Whether words say that it may not be so: "I quit Initech, I think".
pub(super) fn is_unsure(words: &[Word]) -> bool {
    words.iter().any(|word| among(&UNSURE, &word.lower))
}

/// Whether a clause says that something is over, and the words before it only suppose that: "If I sell the house and | I quit Initech".
pub(super) fn is_supposed(reading: &Reading, before: &[Word]) -> bool {
    const SUPPOSES: [&str; 8] = ["if", "unless", "until", "when", "suppose", "imagine", "pretend", "dream"];
    let ends = [LEFT, LEFT_WORK, WITHOUT_WORK, DENIAL].contains(&reading.rule);
    ends && before.iter().any(|word| among(&SUPPOSES, &word.lower))
}

/// The verb of a sentence about the user: "I've just | quit".
fn verb(s: &Sentence<'_>) -> Option<usize> {
    const ADVERBS: [&str; 9] = ["have", "just", "recently", "finally", "actually", "officially", "already", "also", "sadly"];
    let subject = ["i", "we", "i've", "we've"].contains(&s.word(0));
    subject.then(|| 1 + s.words.iter().skip(1).take(2).take_while(|word| among(&ADVERBS, &word.lower)).count())
}

/// The name of the one that was left, and where that name is over: "Initech | in May", "the hospital | because ...".
fn named(s: &Sentence<'_>, at: usize) -> Option<(String, usize)> {
    const ENDS: [&str; 10] = ["at", "with", "by", "in", "on", "to", "after", "before", "during", "early"];
    let article = ["a", "an", "the"].contains(&s.word(at)) && at + 1 < s.words.len();
    let (_, end) = s.value(at).filter(|_| s.names(at) || article)?;
    let joins = |at: usize| s.word(at) == "and" && s.words.get(at + 1).is_some_and(|next| !next.capital);
    let when = |at: usize| starts_one_of(s, at, &RECENTLY).or_else(|| starts_one_of(s, at, &THEN)).or_else(|| dated(s, at));
    let over = |at: &usize| among(&ENDS, s.word(*at)) || joins(*at) || when(*at).or_else(|| long_ago(s, *at)).is_some();
    let end = (at + 1..end).find(over).unwrap_or(end);
    let first = s.words.get(at)?;
    // "I left Initech's office" names a part of it, "I left work" nobody.
    let part = s.words[at..end - 1].iter().any(|word| word.lower.ends_with("'s"));
    let counted = first.is_number() || among(&NUMBERS, &first.lower);
    let value = s.between(at, end)?;
    (!part && !counted && !is_named(&first.lower)).then_some((value, end))
}

/// Where the name of the new one is over: "for | Hooli", "for a new job at | Hooli". It has a capital: "for lunch" and
/// "for Christmas" name nothing.
fn behind_new(s: &Sentence<'_>, at: usize) -> usize {
    const JOBS: [&str; 8] = [
        "a job at",
        "a new job at",
        "a role at",
        "a new role at",
        "a position at",
        "a new position at",
        "an offer from",
        "a better job at",
    ];
    let Some(begin) = starts(s.words, at, "for").filter(|_| !s.parted(at)) else { return at };
    let begin = starts_one_of(s, begin, &JOBS).unwrap_or(begin);
    let capital = s.words.get(begin).is_some_and(|word| word.capital && !word.is_number());
    let is_day = is_named(s.word(begin)) || among(&OCCASIONS, s.word(begin));
    match named(s, begin) {
        Some((name, end)) if capital && !is_day && !name.ends_with("'s") && !is_event(&name) => end,
        _ => at,
    }
}

/// Whether a name is that of something one goes to: "Web Summit".
fn is_event(name: &str) -> bool {
    name.to_lowercase().split(' ').any(|word| among(&TRIPS, word))
}

fn starts_one_of(s: &Sentence<'_>, at: usize, phrases: &[&str]) -> Option<usize> {
    phrases.iter().find_map(|phrase| starts(s.words, at, phrase))
}

/// Where a date is over: "in May", "in May 2026", "last Friday".
fn dated(s: &Sentence<'_>, at: usize) -> Option<usize> {
    let named = ["in", "on", "last"].contains(&s.word(at)) && is_named(s.word(at + 1));
    let year = s.words.get(at + 2).is_some_and(|word| word.is_number() && word.lower.len() == 4);
    named.then_some(at + 2 + usize::from(year))
}

/// Where a time is over that is weeks or months ago: "three weeks ago". A job that was over years ago is another one than somebody has told of since.
fn long_ago(s: &Sentence<'_>, at: usize) -> Option<usize> {
    const UNITS: [&str; 5] = ["week", "weeks", "month", "months", "year"];
    let counted = s.words.get(at).is_some_and(|word| word.is_number() || among(&NUMBERS, &word.lower));
    (counted && UNITS.contains(&s.word(at + 1)) && s.word(at + 2) == "ago").then_some(at + 3)
}

/// Whether nothing but when and why stands behind a word.
fn is_over(s: &Sentence<'_>, mut at: usize, how: How) -> bool {
    let gone = how == How::Gone;
    while at < s.words.len() && !s.parted(at) {
        let then = || starts_one_of(s, at, &THEN).or_else(|| dated(s, at));
        let when = starts_one_of(s, at, &RECENTLY).or_else(|| long_ago(s, at)).or_else(|| gone.then(then).flatten());
        let Some(next) = when else { break };
        at = next;
    }
    let Some(rest) = s.words.get(at..).filter(|rest| !rest.is_empty()) else { return true };
    let joined = among(&REASONS, &rest[0].lower) || gone && ["to", "and", "after", "over"].contains(&rest[0].lower.as_str());
    let goes_on = s.parted(at) || rest[0].is_mark() || joined;
    let is_trip = |word: &Word| word.is_number() || is_named(&word.lower) || among(&TRIPS, &word.lower);
    goes_on && !is_unsure(rest) && (gone || !rest.iter().any(is_trip))
}

#[cfg(test)]
mod tests {
    use super::{NO_WORK, QUIT, leaves};
    use crate::gate::DENIAL;
    use crate::gate::tests::stored;

    /// The names that the claims of a text end. A sentence that names nobody ends the slot that it takes.
    fn ends(text: &str) -> Vec<String> {
        let claims = stored(text).into_iter().filter(|claim| claim.doubt.is_none_or(|doubt| doubt == DENIAL));
        claims.filter_map(|claim| claim.ends.or(claim.slot.filter(|slot| slot == "employer"))).collect()
    }

    #[test]
    fn each_verb_of_those_who_left_is_known_by_a_word() {
        for verb in QUIT.iter().chain(&NO_WORK) {
            // "Stopped" and "took" say it only with what is behind them.
            let is_of_more = ["stopped working", "took early retirement"].iter().any(|more| verb.starts_with(more));
            assert!(is_of_more || verb.split(' ').any(leaves), "{verb}");
        }
    }

    #[test]
    fn who_left_an_employer_ends_the_one_they_name() {
        for text in [
            "I quit Initech.",
            "I quit my job at Initech.",
            "I just quit my job at Initech!",
            "I've quit Initech",
            "Actually, I quit Initech last week.",
            "I was laid off from Initech.",
            "I got laid off by Initech yesterday",
            "I've been laid off from Initech",
            "I got fired from Initech",
            "I was fired by Initech on Friday.",
            "I was let go by Initech.",
            "I was laid off by Initech last Friday",
            "I quit Initech three weeks ago.",
            "I quit Initech in March 2026.",
            "I was made redundant at Initech in May.",
            "I resigned from Initech because the pay was bad.",
            "I lost my job at Initech.",
            "I retired from Initech last month.",
            "I left my job at Initech.",
            "I left Initech for Hooli.",
            "I left Initech for a new job at Hooli.",
            "I finally left Initech.",
            "I quit Initech to write a book.",
            "I quit Initech and started freelancing.",
            "I've resigned from Initech, so I have time now.",
            "I left Initech, it was time.",
            "I quit Initech, what should I put on my CV?",
        ] {
            assert_eq!(ends(text), ["Initech"], "{text}: {:?}", stored(text));
        }
    }

    #[test]
    fn who_has_no_work_any_more_takes_the_slot_of_the_employer() {
        for text in [
            "I retired.",
            "I retired early.",
            "I retired in May 2026.",
            "I've retired",
            "I quit my job.",
            "I quit my job last week.",
            "I got laid off.",
            "I was laid off yesterday",
            "We were laid off.",
            "I was fired!",
            "I lost my job.",
            "I got let go last month.",
            "I'm unemployed now.",
            "I'm retired now",
            "I am between jobs.",
            "I quit my job to travel.",
            "I got fired because I was late.",
            "I've been made redundant.",
            "I got laid off, what should I do now?",
        ] {
            assert_eq!(ends(text), ["employer"], "{text}: {:?}", stored(text));
        }
    }

    #[test]
    fn who_left_a_home_ends_the_one_they_name() {
        for text in [
            "I left Lisbon for Porto.",
            "I've left Lisbon for Porto",
            "We left Lisbon for Porto last year.",
            "I left Lisbon for Porto because of the rents.",
            "I left Lisbon for good.",
            "I moved out of Lisbon.",
            "I just moved out of Lisbon",
            "We moved out of Lisbon last month.",
            "I moved away from Lisbon in May.",
            "I moved away from Lisbon to be with Ana.",
        ] {
            assert_eq!(ends(text), ["Lisbon"], "{text}: {:?}", stored(text));
        }
        for text in
            ["I just moved back to Porto.", "We moved back to Porto.", "I moved out of Lisbon to Porto.", "I've moved back to Porto"]
        {
            let claims = stored(text);
            assert_eq!((claims.len(), claims[0].slot.as_deref(), claims[0].text.as_str()), (1, Some("home"), "The user lives in Porto."));
        }
    }

    #[test]
    fn who_only_went_or_may_leave_or_stayed_ends_nothing() {
        for text in [
            "I was let go early today.",
            "I was let go early because of the snow.",
            "I'm out of work early today.",
            "I retired to bed.",
            "I retired early and slept till ten.",
            "I retired as treasurer of our club.",
            "I quit Lisbon as of next month.",
            "I quit Lisbon, they talked me out of it.",
            "We parted ways with Lisbon as a supplier.",
            "I left Lisbon for Porto, eta two hours.",
            "I left Lisbon for Web Summit.",
            "We left Lisbon for Porto so we could see the match.",
            "I left Lisbon for the weekend.",
            "I left Lisbon for a holiday.",
            "I left Lisbon at 8.",
            "I left Lisbon on Monday.",
            "I left Lisbon this morning.",
            "I left Lisbon yesterday.",
            "I left Lisbon for Porto at 8.",
            "I left Lisbon for Porto on Monday, back on Friday.",
            "I left Lisbon for Porto by train.",
            "I left Lisbon for Porto, the train was late.",
            "I left Lisbon for Porto with Ana.",
            "I left Lisbon for Christmas.",
            "I left Lisbon for Anna's wedding.",
            "I left Lisbon for Monday's meeting.",
            "I left Initech's office at five.",
            "I left my job at 5pm.",
            "i left lisbon for lunch",
            "I left Initech but came back.",
            "I never left Lisbon.",
            "I haven't left Initech.",
            "I didn't quit Initech.",
            "I was almost laid off.",
            "I was nearly fired from Initech.",
            "I was fired up about Initech.",
            "I was let down by Initech.",
            "I was not laid off.",
            "I let go of the rope.",
            "If I quit my job at Initech, what happens to my visa?",
            "If I sell the house and I quit my job at Initech, I can travel.",
            "When I quit Initech, I will travel.",
            "I might quit Initech.",
            "I'm thinking of quitting Initech.",
            "I want to quit my job.",
            "I'm going to leave Initech for Hooli.",
            "I will retire next year.",
            "I retire in May.",
            "My boss quit.",
            "My boss quit Initech.",
            "Ana left Initech for Hooli.",
            "My sister got laid off from Initech.",
            "She said I quit Initech.",
            "should I quit?",
            "Should I quit my job at Initech?",
            "Did I quit Initech?",
            "I quit Initech, didn't I?",
            "I quit smoking.",
            "I quit my job search.",
            "I left my jacket at Initech.",
            "I retired the old server.",
            "I quit Initech tomorrow.",
            "I quit Initech, just kidding.",
            "I quit Initech in my dream.",
            "In my novel, I quit Initech.",
            "I was laid off for a week.",
            "I got fired once.",
            "I retired in 2015.",
            "I quit my job at Initech if they move the office.",
            "I was laid off ten years ago.",
            "I quit my job at Initech 5 years ago.",
            "I quit Initech, or so they thought.",
            "Rewrite this: I quit Initech.",
            "\"I quit Initech\" was the title of the talk.",
        ] {
            assert!(ends(text).is_empty(), "{text}: {:?}", stored(text));
        }
    }
}
