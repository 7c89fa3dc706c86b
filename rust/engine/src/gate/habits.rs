//! Rules for what somebody does again and again: "I work from home", "we deploy on Tuesdays", "I drive a Tesla now", "I'm on the Pro plan
//! now", "I smoke again".
//!
//! English says so by the plain present of a verb of habit. Other words tell what passes: "I'm leaving now", "I see it now", "I have to go
//! now", "I work from home today". Some things are also done once. They are a habit on certain days ("we deploy on Tuesdays"), or where the
//! text says that it is so now, and where, when or with what ("I test with pytest now").

use super::Category;
use super::changes::NOW;
use super::lexicon::PAST;
use super::lists::lists;
use super::prefers::slot_of;
use super::reading::Reading;
use super::sentence::Sentence;
use super::words::{among, starts};
use crate::units::calendar::{WEEKDAYS, is_named};

lists! { "habits":
    /// Verbs of what people do again and again.
    HABITS,
    /// Verbs of habits whose object has no article then: "I eat a sandwich now" passes.
    BARE,
    /// Verbs of what is done once as well.
    TASKS,
    /// Verbs of what somebody does not do for others, or at all.
    REFUSED,
    /// Words behind such a verb with which it says something else: "we don't make progress".
    IDIOMS,
    /// Verbs of [`TASKS`] that are a rule with "always".
    BILLED,
    /// Words behind them that say how well it goes.
    LATE,
    /// Words behind one of [`TASKS`] that say where, when or with what.
    WITH,
    /// Places to which one goes again and again.
    PLACES,
    /// Things that one takes again and again: "I take the bus now".
    RIDES,
    /// Words behind a verb by which it is about this moment, or about what was said before: "I drive home now", "I play it now".
    pub(super) AT_ONCE,
    /// Words behind the verb by which it is told of one time, of one day or of a condition: "I work from home today".
    ONCE,
    /// Times of which one is like another: "every morning".
    PERIODS,
    /// Words behind the subject that say what is wished, thought, possible or was so: "I used to run on Mondays".
    NO_HABIT,
    /// Words between the subject and its verb.
    ADVERBS,
    /// How somebody says what they are on.
    ON,
    /// Last words of what somebody is on for longer. "I'm on the train now" passes.
    PLANS,
}

/// The reading of a sentence that says what somebody does again and again, or is on from now on.
pub(super) fn habit(s: &Sentence<'_>) -> Option<Reading> {
    let reading = |reason| Reading { importance: 600, ..Reading::new(Category::Semantic, reason) };
    if refuses(s) || is_closed(s) {
        return Some(reading("what somebody does"));
    }
    let Some(end) = since(s) else {
        let last = s.words.iter().rposition(|word| !word.is_mark())? + 1;
        return does(s, last, true).then(|| reading("what somebody does"));
    };
    (does(s, end, false) || is_on(s, end)).then(|| reading("what somebody does now"))
}

/// Where a sentence is over that says that it is so now, without the words that say it: "now I drive a Tesla", "I drive a Tesla | since
/// March".
fn since(s: &Sentence<'_>) -> Option<usize> {
    const OTHERS: [&str; 4] = ["from now on", "these days", "nowadays", "again"];
    let last = s.words.iter().rposition(|word| !word.is_mark())? + 1;
    // A "now" before it is read as one of the words that stand before what is claimed.
    let before = s.text[..s.words[0].start].trim_end_matches([' ', ',']).rsplit(char::is_whitespace).next();
    let is_now = |word: &str| ["now", "nowadays"].iter().any(|now| word.eq_ignore_ascii_case(now));
    if before.is_some_and(is_now) || ["i", "we"].contains(&s.word(0)) && s.word(1) == "now" {
        return Some(last);
    }
    let ends = |now: &&str| last.checked_sub(now.split(' ').count()).filter(|at| starts(s.words, *at, now) == Some(last));
    let dated = |at: &usize| s.word(*at) == "since" && (is_named(s.word(at + 1)) || ["last", "this"].contains(&s.word(at + 1)));
    OTHERS.iter().chain(&NOW).find_map(ends).or_else(|| (2..last).find(dated))
}

/// Whether "I" or "we" do something again and again. A sentence is `plain` that does not say that it is so now.
fn does(s: &Sentence<'_>, end: usize, plain: bool) -> bool {
    if !["i", "we"].contains(&s.word(0)) {
        return false;
    }
    let adds = |at: &usize| s.word(*at) != "now" && !among(&ADVERBS, s.word(*at));
    let Some(verb) = (1..end).find(adds) else { return false };
    let next = if verb + 1 < end { s.word(verb + 1) } else { "" };
    if next.is_empty() {
        return s.word(end) == "again" && !plain && among(&HABITS, s.word(verb));
    }
    let behind = s.word(verb + 2);
    let there = next == "to" && (among(&PLACES, behind) || is_regular(s, verb, end));
    let article = ["a", "an", "the", "my", "some"].contains(&next) && !(next == "the" && among(&RIDES, behind));
    let parted = || (verb + 1..end).any(|at| s.parted(at) || s.words[at].is_mark());
    if among(&AT_ONCE, next) && !there || among(&BARE, s.word(verb)) && article || parted() || is_at_work(s, verb, end) {
        return false;
    }
    // "I own the bug", but not "I take the bus", "I lead the payments team" or "I play the cello".
    let lasts = among(&RIDES, behind) || among(&PLANS, s.word(end - 1)) || s.word(verb) == "play" && verb + 3 == end;
    let is_certain = next == "the" && !lasts;
    if plain && (is_certain || (verb + 1..end).any(|at| among(&ONCE, s.word(at)))) {
        return false;
    }
    if ["get up at", "go to bed at"].iter().any(|habit| starts(s.words, verb, habit).is_some()) || is_regular(s, verb, end) {
        return true;
    }
    let manner = || there || among(&WITH, next) && verb + 2 < end && !among(&AT_ONCE, behind);
    let is_always = (1..verb).any(|at| ["always", "usually"].contains(&s.word(at))) && among(&BILLED, s.word(verb)) && !among(&LATE, next);
    among(&HABITS, s.word(verb)) || among(&TASKS, s.word(verb)) && (is_always || !plain && manner())
}

/// "We don't take cards", "we don't do gluten free, too much cross contamination": what somebody does not do, as a rule.
fn refuses(s: &Sentence<'_>) -> bool {
    let not = s.behind(0, &["we don't", "we do not", "i don't", "i do not", "we no longer", "i no longer"]);
    let Some(verb) = not.filter(|verb| among(&REFUSED, s.word(*verb))) else { return false };
    let end = (verb + 1..s.words.len()).find(|at| s.parted(*at) || s.words[*at].is_mark()).unwrap_or(s.words.len());
    let refers = ["any", "much", "well", "too", "very", "a", "an", "the", "my", "our", "what", "how", "enough", "sense", "more", "part"];
    let passes = |at: usize| among(&ONCE, s.word(at)) || ["yet", "now", "it", "anything", "you", "your"].contains(&s.word(at));
    end > verb + 1
        && !among(&AT_ONCE, s.word(verb + 1))
        && !among(&IDIOMS, s.word(verb + 1))
        && !refers.contains(&s.word(verb + 1))
        && !(verb + 1..end).any(passes)
}

/// "We're closed on Mondays".
fn is_closed(s: &Sentence<'_>) -> bool {
    let Some(at) = s.behind(0, &["we're", "we are", "i'm", "i am"]) else { return false };
    let is_days = |at: usize| {
        s.word(at).strip_suffix('s').is_some_and(|day| WEEKDAYS.contains(&day)) || ["weekends", "holidays"].contains(&s.word(at))
    };
    ["closed", "open", "off", "away", "free"].contains(&s.word(at)) && ["on", "at"].contains(&s.word(at + 1)) && is_days(at + 2)
}

/// Whether it says on which days, or how often: "I do yoga on Mondays", "I see a therapist every week". "I read every file" says neither.
fn is_regular(s: &Sentence<'_>, verb: usize, end: usize) -> bool {
    let day = |at: usize| s.word(at).strip_suffix('s').unwrap_or(s.word(at));
    let is_days = |at: usize| s.word(at - 1) == "on" && s.word(at).ends_with('s') && WEEKDAYS.contains(&day(at));
    let is_period = |at: usize| at < end && (WEEKDAYS.contains(&day(at)) || among(&PERIODS, day(at)));
    let is_often = |at: usize| s.word(at) == "every" && (is_period(at + 1) || is_period(at + 2));
    let is_past = among(&PAST, s.word(verb)) || s.word(verb).ends_with("ed") && !s.word(verb).ends_with("eed"); // "I feed my cats"
    let is_habit = !is_past && !among(&NO_HABIT, s.word(verb));
    is_habit && (verb + 1..end).any(|at| is_days(at) || is_often(at))
}

/// "I work on the report": what somebody does just now. "I work on the payments team" lasts.
fn is_at_work(s: &Sentence<'_>, verb: usize, end: usize) -> bool {
    starts(s.words, verb, "work on").is_some() && !among(&PLANS, s.word(end - 1)) && !is_named(s.word(verb + 2).trim_end_matches('s'))
}

/// Whether somebody is on something that lasts: "the Pro plan", or a tool that is known by its name.
fn is_on(s: &Sentence<'_>, end: usize) -> bool {
    let Some(at) = ON.iter().find_map(|opening| starts(s.words, 0, opening)).filter(|at| *at < end) else { return false };
    let lasts = among(&PLANS, s.word(end - 1)) && !["this", "that"].contains(&s.word(at));
    let is_tool = || end == at + 1 && slot_of(s.word(at), None).is_some();
    lasts || is_tool()
}

#[cfg(test)]
mod tests {
    use crate::gate::Category;
    use crate::gate::tests::stored;

    #[test]
    fn what_somebody_does_from_now_on_is_kept() {
        for text in [
            "I drive a Tesla now.",
            "I now drive a Tesla.",
            "Now I drive a Tesla.",
            "I drive a Tesla these days.",
            "I drive a Tesla since March.",
            "I'm on the Pro plan now.",
            "We're on the free plan now.",
            "I'm on the night shift now.",
            "I'm on Linux now.",
            "I work from home now.",
            "I mostly work from home now.",
            "We deploy on Tuesdays now.",
            "We ship every Thursday now.",
            "I commute by train now.",
            "I walk to work now.",
            "I work on the payments team now.",
            "I work on Fridays now.",
            "I wear glasses now.",
            "I manage three people now.",
            "I take the bus now.",
            "I play the cello now.",
            "I wake up at 5 now.",
            "We meet on Zoom now.",
            "I pay by card now.",
            "I run on Mondays now.",
            "I do yoga on Mondays now.",
            "I see a therapist every week now.",
            "I get up at six now.",
            "We test with pytest now.",
            "I smoke again.",
            "I play tennis again.",
            "The standup got moved.",
            "The launch got postponed.",
            "My wife drives a Tesla now.",
        ] {
            let claims = stored(text);
            assert!(claims.len() == 1 && claims[0].reason.starts_with("rule: ") && claims[0].doubt.is_none(), "{text}: {claims:?}");
        }
    }

    #[test]
    fn what_somebody_does_again_and_again_is_kept_without_now() {
        for text in [
            "I work from home.",
            "I work in finance.",
            "I work night shifts.",
            "I commute by train.",
            "I mostly cycle to work.",
            "I drive an old Golf.",
            "I play the cello.",
            "I own a bakery in Ghent.",
            "I study law.",
            "I wear glasses.",
            "I drink oat milk.",
            "I take the bus to work.",
            "I coach the under-12 team.",
            "We deploy on Fridays.",
            "We ship every Wednesday.",
            "I see a therapist every week.",
            "I get up at six.",
            "I feed my cats every morning.",
            "I drink tea and coffee.",
            "I go to the gym on Mondays and Thursdays.",
        ] {
            let claims = stored(text);
            let is_kept = claims.len() == 1 && claims[0].category == Category::Semantic && claims[0].reason.starts_with("rule: ");
            assert!(is_kept && claims[0].doubt.is_none(), "{text}: {claims:?}");
        }
        for text in [
            "I work from home today.",
            "I work on the report.",
            "I drive home.",
            "I drive the kids to school tomorrow.",
            "I drink a coffee.",
            "I wear a blue shirt.",
            "I play it.",
            "I run the tests.",
            "I want it every day.",
            "I run the tests every time and they fail.",
            "I play the file and it stops.",
            "I read every file.",
            "I raise an exception every time.",
            "I play the role of a dungeon master.",
            "I own the bug.",
            "I manage the state with Redux.",
            "I drive through the tunnel.",
            "I handle errors by returning None here.",
            "We deploy the fix.",
            "I sleep when the build runs.",
            "I used to go to the gym on Mondays.",
            "I could call her every week.",
            "I forgot to water the plants every week.",
            "I wonder whether to run every day.",
            "Do I drive a Tesla?",
            "If I drive a Tesla, it's cheaper.",
        ] {
            let told = stored(text).into_iter().any(|claim| claim.reason.contains("what somebody does"));
            assert!(!told, "{text}: {:?}", stored(text));
        }
    }

    #[test]
    fn what_passes_is_not() {
        for text in [
            "I'm leaving now.",
            "I have to go now.",
            "I understand now.",
            "It works now.",
            "I see it now.",
            "I'm busy now.",
            "I need help now.",
            "I want a pizza now.",
            "I feel better now.",
            "I get it now.",
            "I know the answer now.",
            "I drive home now.",
            "I eat lunch now.",
            "I take a shower now.",
            "I run the tests now.",
            "I read the file now.",
            "I play it now.",
            "I'm on the train now.",
            "I'm on my way now.",
            "I'm on it now.",
            "I'm on page 5 now.",
            "I'm on vacation now.",
            "I try again.",
            "I do yoga now.",
            "I see a therapist now.",
            "I work on the report now.",
            "I walk to the store now.",
            "I drive to the airport now.",
            "I share my screen now.",
            "We deploy the fix now.",
            "I cook dinner now.",
            "I drink a coffee now.",
            "I wear a blue shirt now.",
            "I take the blame now.",
            "I run the tests again.",
            "Do I drive a Tesla now?",
            "Should I drive a Tesla now?",
            "If I drive a Tesla now, it's cheaper.",
            "Now I see.",
        ] {
            let told = stored(text).into_iter().any(|claim| claim.category == Category::Semantic || claim.reason.starts_with("rule: "));
            assert!(!told, "{text}: {:?}", stored(text));
        }
    }
}
