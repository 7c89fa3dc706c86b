//! Orders that hold for a whole class of things, without a word that says so: "don't use mocks for the db", "errors must be wrapped", "no default
//! exports please", "don't merge without asking me". An order for the task at hand has the same verbs and points at one thing: "don't touch
//! that file", "no tests yet". In doubt an order is taken for one of those.

use super::Category;
use super::constraint::{INSTRUCTS, constraint, ends_in_past, is_past};
use super::guards::{asks_for_work, is_comparative};
use super::lexicon::PAST;
use super::lists::lists;
use super::orders::LANGUAGES;
use super::pastes::is_file;
use super::prefers::slot_of;
use super::reading::Reading;
use super::sentence::Sentence;
use super::signs::has_colon;
use super::tools::Tool;
use super::words::{Word, among, sentences, starts, within, words};
use crate::units::calendar::is_named;

lists! { "standing":
    /// Things that people make and use at work: more than one, or a mass.
    THINGS,
    /// Verbs of how work is done. Its purpose may stand behind them: "don't use mocks | for the db".
    CHOICES,
    /// Verbs of what is done to a thing.
    ACTS,
    /// Words that leave it to the user: "without asking".
    LICENCE,
    /// Words that point at one thing, or at this moment.
    OF_NOW,
    /// Words that no name of a class has.
    POINTED,
    /// States that end a task, or that are guessed: "tests must be fixed", "tests must be flaky".
    ENDED,
    /// Where and when one may never do something.
    BRANCHES,
    /// Words that say of an order that it is about answers.
    IN_ANSWERS,
    /// How such an order begins.
    BEGINS,
    /// Verbs of what an order may follow: "when you touch the api, ...".
    TOUCHES,
    /// How a condition begins that comes again.
    CONDITIONS,
    /// Tools, and ways to write, that are chosen among others.
    TOOLS,
    /// Verbs of what is done by a tool: "log with slog, not fmt.println".
    CHOSEN_BY,
}

/// Words of such an order at most.
const MOST_WORDS: usize = 24;
/// Words of the name of a class at most: "new third-party dependencies".
const MOST_CLASS: usize = 4;
/// Words by which one asks politely.
const PLEASE: [&str; 4] = ["please", "pls", "plz", "kindly"];
/// How an order begins that forbids.
const FORBIDS: [&str; 6] = ["don't", "do not", "we don't", "we do not", "you shouldn't", "you should not"];

/// The reading of such an order. `whole` has the words before it too: "no", which may open a sentence that goes on otherwise.
pub(super) fn standing(whole: &Sentence<'_>, s: &Sentence<'_>) -> Option<Reading> {
    let skipped = whole.words.len() - s.words.len();
    let is_no = skipped > 0 && whole.word(skipped - 1) == "no";
    let s = &Sentence { text: s.text, words: if is_no { &whole.words[skipped - 1..] } else { s.words } };
    if s.words.len() < 3 || s.words.len() > MOST_WORDS || s.words.last().is_some_and(|last| last.lower == "?") {
        return None;
    }
    let begin = s.behind(0, &PLEASE).unwrap_or(0);
    let s = &Sentence { text: s.text, words: &s.words[begin..] };
    if let Some(reading) = of_label(s) {
        return Some(reading);
    }
    read(s)
}

/// The reading of an order without a label.
fn read(s: &Sentence<'_>) -> Option<Reading> {
    if is_licensed(s) {
        return Some(rule());
    }
    if is_of_now(s) {
        return None;
    }
    if is_of_answers(s) {
        return (!is_beside_work(s)).then(|| Reading::new(Category::Preference, "how to answer"));
    }
    let preferred = preferred(s);
    let is_order =
        || forbids(s) || has_none(s) || must(s) || keeps(s) || has_order(s) || uses(s) || in_a_language(s) || is_by_tool(s) || follows(s);
    (preferred.is_some() || is_order()).then_some(())?;
    (!is_beside_work(s)).then(|| preferred.unwrap_or_else(rule))
}

fn rule() -> Reading {
    Reading::new(Category::Constraint, "rule")
}

/// Whether words point at one thing or at this moment.
fn is_of_now(s: &Sentence<'_>) -> bool {
    s.words.iter().any(|word| among(&OF_NOW, &word.lower) || is_named(&word.lower))
}

/// Whether other sentences of the message ask something, or for work: an order beside them may be about that alone.
fn is_beside_work(s: &Sentence<'_>) -> bool {
    let (Some(first), Some(last)) = (s.words.first(), s.words.last()) else { return false };
    let is_bare = |part: &str| !part.contains(char::is_alphanumeric);
    if is_bare(&s.text[..first.start]) && is_bare(&s.text[last.end..]) {
        return false;
    }
    let own = words(s.text);
    let is_other = |span: &&super::words::Span| !(span.start..span.end).contains(&first.start);
    let asks = |words: &[Word]| {
        let begin = words.first().map_or("", |word| word.lower.as_str());
        let ends = words.last().is_some_and(|last| last.lower == "?");
        ends || asks_for_work(words) || among(&ACTS, begin) || ["use", "give", "show", "tell", "help", "let's"].contains(&begin)
    };
    sentences(s.text).iter().filter(is_other).any(|span| asks(within(&own, *span)))
}

/// Behind the name of a class of things that begins at a word: "default exports", "any new dependencies".
fn class(s: &Sentence<'_>, at: usize) -> Option<usize> {
    let at = at + usize::from(s.word(at) == "any");
    let mut end = None;
    for place in at..s.words.len().min(at + MOST_CLASS) {
        let word = &s.words[place];
        if among(&POINTED, &word.lower) || word.is_mark() || word.is_number() || place > at && s.parted(place) {
            break;
        }
        if among(&THINGS, &word.lower) {
            end = Some(place + 1);
        }
    }
    end
}

/// Behind the name of a class that follows the first word, where that is one that may stand before it.
fn class_behind(s: &Sentence<'_>, is_first: bool) -> Option<usize> {
    if is_first { class(s, 1) } else { None }
}

/// Whether an order is over before a word, or a clause of it.
fn is_over(s: &Sentence<'_>, at: usize) -> bool {
    s.words.get(at).is_none_or(|word| word.is_mark() || among(&PLEASE, &word.lower)) || s.parted(at)
}

/// Whether one of the words of the clause that begins at a word names one thing: "to the parser".
fn names_one(s: &Sentence<'_>, at: usize) -> bool {
    let end = (at + 1..s.words.len()).find(|at| s.parted(*at)).unwrap_or(s.words.len());
    (at..end).any(|at| ["the", "my", "our", "your", "a", "an"].contains(&s.word(at)))
}

/// "Don't add dependencies without asking", "ask me before deploying": it is left to the user, whatever it is about. "Don't merge this without
/// asking" is about one thing.
fn is_licensed(s: &Sentence<'_>) -> bool {
    const POINTS: [&str; 10] = ["it", "this", "that", "them", "these", "those", "worry", "go", "leave", "come"];
    let says = |at: usize| LICENCE.iter().any(|phrase| starts(s.words, at, phrase).is_some());
    if let Some(verb) = s.behind(0, &FORBIDS).filter(|verb| verb + 2 < s.words.len()) {
        let licence = (verb + 1..s.words.len()).find(|at| says(*at));
        return licence.is_some_and(|licence| !(verb..licence).any(|at| among(&POINTS, s.word(at)) || is_named(s.word(at))));
    }
    let asked = s.behind(0, &["ask me", "ask", "check with me", "always ask", "tell me", "get my ok", "get my approval"]);
    let Some(act) = asked.filter(|at| s.word(*at) == "before").map(|at| at + 1) else { return false };
    let act = s.behind(act, &["you"]).unwrap_or(act);
    is_act(s.word(act)) && !is_of_now(s)
}

/// Whether a word is a verb of work, plain or with "ing".
fn is_act(word: &str) -> bool {
    let stem = word.strip_suffix("ing").unwrap_or(word);
    [&ACTS[..], &CHOICES[..]].iter().any(|verbs| verbs.iter().any(|known| is_form(stem, known)))
}

/// Whether a verb without its "ing" is a known one: "delet", "merg", "commit", "runn".
fn is_form(stem: &str, known: &str) -> bool {
    stem == known
        || known.strip_suffix('e') == Some(stem)
        || stem.strip_prefix(known).is_some_and(|rest| known.ends_with(rest) && rest.len() == 1)
}

/// "Don't use mocks for the db", "we don't use orms", "don't push to main": a class of things, or a place, that an act is never done with.
fn forbids(s: &Sentence<'_>) -> bool {
    let Some(at) = s.behind(0, &FORBIDS) else { return false };
    let at = at + usize::from(s.word(at) == "ever");
    let (chooses, acts) = (among(&CHOICES, s.word(at)), among(&ACTS, s.word(at)));
    if !(chooses || acts) {
        return false;
    }
    let placed = at + 1 + usize::from(s.word(at + 1) == "directly");
    let placed = placed + usize::from(class(s, placed) == Some(placed + 1));
    if ["to", "into", "on"].contains(&s.word(placed)) && among(&BRANCHES, s.word(placed + 1)) {
        return true;
    }
    let Some(end) = class(s, at + 1) else { return false };
    if chooses {
        return !["that", "until"].contains(&s.word(end));
    }
    // "Don't add tests" is about a task, and "don't add new dependencies" about all of them.
    let named = end > at + 2 || !is_over(s, end);
    s.word(0) != "we" && named && !names_one(s, end)
}

/// "No default exports please": a class of things that no work has. Without "please" it may tell what there is ("no errors"), and one word may
/// be about the work at hand: "no comments please".
fn has_none(s: &Sentence<'_>) -> bool {
    let Some(end) = class_behind(s, s.word(0) == "no") else { return false };
    let last = s.words.iter().rposition(|word| !word.is_mark()).unwrap_or(0);
    let lasts = ["ever", "allowed"].contains(&s.word(end));
    lasts || among(&PLEASE, s.word(last)) && (end > 2 || end < last) && !names_one(s, end)
}

/// "Errors must be wrapped with %w", "all endpoints have to have tests". "Tests must be fixed" is a task, and "must be failing" a guess.
fn must(s: &Sentence<'_>) -> bool {
    let at = s.behind(0, &["all", "all new", "new"]).unwrap_or(0);
    let Some(end) = class(s, at) else { return false };
    let Some(verb) = s.behind(end, &["must", "must always", "must not", "must never", "have to", "should always", "should never", "shall"])
    else {
        return false;
    };
    let state = verb + usize::from(s.word(verb) == "be");
    let is_past = |at: usize| ends_in_past(s.word(at)) || among(&PAST, s.word(at));
    let guessed = s.word(verb) == "be" && s.word(state).ends_with("ing") || s.word(verb) == "have" && is_past(state + 1);
    verb < s.words.len() && !guessed && !among(&ENDED, s.word(state))
}

/// "Keep functions under 40 lines", "keep commits small".
fn keeps(s: &Sentence<'_>) -> bool {
    const HOW: [&str; 14] =
        ["under", "below", "small", "short", "simple", "pure", "flat", "tiny", "within", "at", "in", "sorted", "separate", "out"];
    class_behind(s, s.word(0) == "keep").is_some_and(|end| among(&HOW, s.word(end)) && !names_one(s, end))
}

/// "Squash commits before merging", "run tests before you push", "write tests first".
fn has_order(s: &Sentence<'_>) -> bool {
    let verb = s.word(0);
    if s.word(0) == "write" && class(s, 1).is_some_and(|end| s.word(end) == "first" && is_over(s, end + 1)) {
        return true;
    }
    let Some(end) = class_behind(s, among(&CHOICES, verb) || among(&ACTS, verb)) else { return false };
    let then = ["before", "after", "when", "whenever"].contains(&s.word(end));
    let act = end + 1 + usize::from(s.word(end + 1) == "you");
    then && is_act(s.word(act)) && !names_one(s, end)
}

/// "Use conventional commits": a kind of what there is in any work. "Use mocks" may be about one test.
fn uses(s: &Sentence<'_>) -> bool {
    let end = class_behind(s, s.word(0) == "use");
    let over = |at: usize| s.words.get(at).is_none_or(|word| word.is_mark() || among(&PLEASE, &word.lower));
    let goes_on = |end: usize| ["in", "for", "everywhere"].contains(&s.word(end)) && !names_one(s, end);
    end.is_some_and(|end| end > 2 && (over(end) || goes_on(end)) && !s.words[..end].iter().any(is_comparative))
}

/// "Comments in english only", "commit messages in English please": a class and its language.
fn in_a_language(s: &Sentence<'_>) -> bool {
    let Some(end) = class(s, 0).filter(|end| s.word(*end) == "in") else { return false };
    // "In British English"
    let Some(language) = (end + 1..end + 3).find(|at| among(&LANGUAGES, s.word(*at))) else { return false };
    ["only", "please", "pls", "always"].contains(&s.word(language + 1)) && is_over(s, language + 2)
}

/// "Log with slog, not fmt.println", "use pnpm instead of npm": one tool, and not another.
fn is_by_tool(s: &Sentence<'_>) -> bool {
    let with = among(&CHOSEN_BY, s.word(0)).then(|| s.behind(1, &["with", "via", "through", "using"])).flatten();
    let Some(at) = with.or_else(|| s.behind(0, &["use"])) else { return false };
    let Some((other, end)) = (at + 1..s.words.len().min(at + 4))
        .find_map(|end| s.behind(end, &["not", "instead of", "rather than", "over", "never"]).map(|other| (other, end)))
    else {
        return false;
    };
    let is_name = |from: usize, to: usize| {
        from < to && (from..to).all(|at| !among(&POINTED, s.word(at)) && !s.words[at].is_number() && !s.words[at].is_mark())
    };
    let last = (other + 1..s.words.len()).find(|at| is_over(s, *at)).unwrap_or(s.words.len());
    let is_call = |at: usize| s.word(at).contains('.') && !is_file(&s.words[at]);
    let is_tool = |at: usize| Tool::has_class(s.word(at)) || among(&TOOLS, s.word(at)) || is_call(at);
    let names = is_name(at, end) && is_name(other, last.min(s.words.len())) && last - other < MOST_CLASS;
    names && (with.is_some() || is_tool(at) || is_tool(other))
}

/// "When you touch the api, bump openapi.yaml too", "before you push, run make lint": what is to be done each time.
fn follows(s: &Sentence<'_>) -> bool {
    let Some(verb) = s.behind(0, &CONDITIONS).filter(|at| among(&TOUCHES, s.word(*at))) else { return false };
    let Some(act) = (verb + 1..s.words.len()).find(|at| s.parted(*at)) else { return false };
    // "When you add the flag, ..." is about one.
    let comes_again = s.word(verb) == "touch" || ["whenever", "each", "every", "any", "anytime"].contains(&s.word(0));
    if !comes_again && ["the", "my", "our"].iter().any(|article| s.words[verb..act].iter().any(|word| word.lower == *article)) {
        return false;
    }
    let act = s.behind(act, &PLEASE).or_else(|| s.behind(act, &["also", "then"])).unwrap_or(act);
    let asks = |word: &str| among(&ACTS, word) || among(&CHOICES, word) || among(&INSTRUCTS, word);
    asks(s.word(act)) && s.words.len() > act + 1
}

/// "Prefer early returns over nested ifs": what is to be taken, or what somebody likes who leaves out the "I".
fn preferred(s: &Sentence<'_>) -> Option<Reading> {
    let at = s.behind(0, &["prefer", "favor", "favour"])?;
    let over = (at + 1..s.words.len().min(at + 6)).find(|over| ["over", "to"].contains(&s.word(*over)))?;
    let pointed =
        among(&POINTED, s.word(at)) || (at..s.words.len()).any(|at| ["the", "one", "your", "you", "be", "do"].contains(&s.word(at)));
    let value = s.between(at, over).filter(|_| !pointed && over + 1 < s.words.len())?;
    Some(Reading { slot: slot_of(&value, None), ..Reading::new(Category::Preference, "prefers") })
}

/// "Be brief in your answers, no emojis": how all answers are to be.
fn is_of_answers(s: &Sentence<'_>) -> bool {
    let points = ["that", "the", "it", "them"].contains(&s.word(1));
    among(&BEGINS, s.word(0))
        && !points
        && (1..s.words.len()).any(|at| IN_ANSWERS.iter().any(|phrase| starts(s.words, at, phrase).is_some()))
}

/// Whether a word before a colon names a class of things, of which the words behind it are a rule: "tests: always run ...".
pub(super) fn is_label(word: &Word) -> bool {
    among(&THINGS, &word.lower) && !["log", "logs", "errors", "warnings", "messages", "quotes"].contains(&word.lower.as_str())
}

/// "Tests: always run make test before you push", "commit messages: imperative mood, max 72 chars".
fn of_label(s: &Sentence<'_>) -> Option<Reading> {
    const MOST_LABEL: usize = 3;
    let label = (0..s.words.len().min(MOST_LABEL)).find(|at| has_colon(s.text, s.words[*at].end))?;
    let one = s.word(label);
    let is_class = is_label(&s.words[label]) || label > 0 && one == "messages";
    let rest = Sentence { text: s.text, words: s.words.get(label + 1..).filter(|rest| is_class && rest.len() > 1)? };
    if constraint(&rest).is_some_and(|reading| reading.is_order()) {
        return Some(rule());
    }
    let is_rule = || limits(&rest) || forbids_behind(&rest);
    read(&rest).or_else(|| (!is_of_now(&rest) && is_rule() && !is_beside_work(s)).then(rule))
}

/// Whether a later part of words is what is never or always done: "stdlib first, never relative".
fn forbids_behind(s: &Sentence<'_>) -> bool {
    let begins = |at: usize| ["never", "always"].contains(&s.word(at)) && s.parted(at) && !is_past(&s.words[at..]);
    (1..s.words.len().saturating_sub(1)).any(begins)
}

/// Whether words give a measure that is never passed: "max 72 chars".
fn limits(s: &Sentence<'_>) -> bool {
    const UNITS: [&str; 9] = ["chars", "characters", "lines", "columns", "words", "spaces", "sentences", "letters", "cols"];
    let counted = |at: usize| s.words.get(at).is_some_and(Word::is_number) && among(&UNITS, s.word(at + 1));
    let most = ["max", "maximum", "at most", "under", "below", "up to", "no more than", "less than"];
    (0..s.words.len()).any(|at| s.behind(at, &most).is_some_and(counted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::tests::stored;

    fn is_pinned(text: &str) -> bool {
        stored(text).iter().any(|claim| matches!(claim.category, Category::Constraint | Category::Preference) && claim.doubt.is_none())
    }

    #[test]
    fn what_holds_for_a_class_of_things_is_a_standing_order() {
        let texts = [
            "don't use mocks for the db, we spin up a container instead",
            "Don't use mocks for the DB.",
            "tests: always run `make test-fast` before you push, the full suite takes 40 min",
            "Tests: never sleep in them.",
            "dont touch migrations/ without asking me",
            "don't add dependencies without asking",
            "Please don't merge anything without my approval.",
            "ask me before deleting files",
            "check with me before you bump dependencies",
            "no default exports pls",
            "No magic numbers, please!",
            "please squash commits before merging",
            "run tests before you push",
            "commit messages: imperative mood, max 72 chars",
            "be brief in your answers, no emojis",
            "Cite sources when you answer.",
            "prefer early returns over nested ifs",
            "keep functions under 40 lines",
            "keep commits small",
            "we don't use orms, raw sql only",
            "errors must be wrapped with %w, not logged and returned",
            "All endpoints must have tests.",
            "migrations must never drop columns",
            "log with slog, not fmt.println",
            "use pnpm instead of npm",
            "write tests first",
            "when you touch the api, bump openapi.yaml too",
            "before you push, run make lint",
            "use conventional commits",
            "comments in english only",
            "don't hardcode urls",
            "don't commit secrets",
            "don't push to main",
            "do not deploy on Fridays",
            "don't add any new dependencies",
            "don't add docstrings to test functions",
            "use uv instead of pip",
            "docs in british english only",
            "imports: stdlib first, never relative",
            "secrets must never be logged",
            "use type hints everywhere",
            "whenever you change the schema, regenerate the types",
        ];
        let missed: Vec<&str> = texts.into_iter().filter(|text| !is_pinned(text)).collect();
        assert!(missed.is_empty(), "{missed:#?}");
    }

    #[test]
    fn an_order_for_the_task_at_hand_is_none() {
        let texts = [
            "don't touch that file",
            "don't worry",
            "no problem",
            "don't use the old one here",
            "no idea why it fails",
            "no tests yet",
            "no luck",
            "no errors",
            "no errors in the logs",
            "don't merge this without asking me",
            "don't add tests for the parser",
            "don't use mocks here",
            "don't use mocks this time",
            "don't add comments for now",
            "don't bother",
            "don't forget the milk",
            "don't delete it",
            "don't run tests yet",
            "don't push commits on Friday",
            "tests must be failing because of the clock",
            "tests must be fixed",
            "errors must have been logged",
            "tests: 3 failed, 12 passed",
            "commits: 4be91d07c and two more",
            "errors: max retries exceeded",
            "keep the tests green",
            "keep going",
            "use the new branch",
            "use mocks",
            "use 5 instead of 3",
            "use the blue one, not the red one",
            "use Chicago instead of Boston",
            "write the tests first, then the docs",
            "run the tests before merging",
            "when you are done, tell me",
            "when you run it, it fails",
            "when you fix this, run tests again",
            "prefer not to say",
            "prefer the first one to the second",
            "we don't have tests",
            "write a handler for POST /refunds. don't use classes",
            "Fix the login bug. Don't add dependencies.",
            "Can you write a parser? no comments please",
            "ask me before the meeting",
            "comments in the code are wrong",
            "no comments please",
            "tests must be flaky",
            "errors must come from redis",
            "why do tests fail? don't use mocks",
            "give me a query. don't use subqueries",
            "don't add tests",
            "tests must have passed",
            "use better names",
            "use placeholder names, e.g. Bob",
            "use foo.py instead of bar.py",
            "use user_id instead of id",
            "run tests when you finish",
            "when you add the flag, update the docs",
            "put that in your replies",
            "imports: fixed two",
        ];
        let pinned: Vec<&str> = texts.into_iter().filter(|text| is_pinned(text)).collect();
        assert!(pinned.is_empty(), "{pinned:#?}");
    }
}
