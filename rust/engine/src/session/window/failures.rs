//! Lines that tell of a failure, for questions about one: "why did the install fail?" shares no word with "npm ERR! ERESOLVE could not
//! resolve ...".

/// How the words of a question about a failure begin.
const ASKS: [&str; 22] = [
    "fail",
    "error",
    "exception",
    "crash",
    "broke",
    "break",
    "wrong",
    "problem",
    "issue",
    "cause",
    "missing",
    "stopped",
    "conflict",
    "complain",
    "abort",
    "panic",
    "bug",
    "denied",
    "refused",
    "reject",
    "trouble",
    "warning",
];
/// Words that ask why something is not so, or cannot be so.
const NOT: [&str; 14] =
    ["not", "cannot", "can't", "cant", "couldn't", "couldnt", "doesn't", "doesnt", "didn't", "didnt", "isn't", "isnt", "won't", "wont"];
/// How the words of a line that tells of one begin.
const BEGINS: [&str; 14] = [
    "error",
    "fatal",
    "fail",
    "exception",
    "panic",
    "traceback",
    "crash",
    "abort",
    "denied",
    "refused",
    "cannot",
    "critical",
    "exhausted",
    "caused",
];
/// How the names of one end.
const ENDS: [&str; 3] = ["error", "exception", "failure"];
/// Words that are one as they stand.
const WHOLE: [&str; 5] = ["err", "warning", "unable", "insufficient", "missing"];
/// Words behind "not" or "could not" or "no such".
const PAIRS: [(&str, &str); 3] = [("not", "found"), ("could", "not"), ("no", "such")];
/// Words by which nothing failed: "0 errors", "failed: 0".
const NONE: [&str; 4] = ["0", "no", "without", "none"];

/// Whether a question is about a failure.
pub(super) fn asks(question: &str) -> bool {
    words(question).any(|word| begins_with_one(word, &ASKS) || is_one(word, &NOT))
}

/// Whether a line tells of one.
pub(super) fn tells(line: &str) -> bool {
    let mut before = "";
    let mut all = words(line).peekable();
    while let Some(word) = all.next() {
        let fails = begins_with_one(word, &BEGINS) || ENDS.iter().any(|end| ends_with(word, end)) || is_one(word, &WHOLE);
        let next = all.peek().copied().unwrap_or_default();
        if fails && !is_one(before, &NONE) && !is_one(next, &["0", "none"]) {
            return true;
        }
        if PAIRS.iter().any(|(first, second)| first.eq_ignore_ascii_case(word) && second.eq_ignore_ascii_case(next)) {
            return true;
        }
        before = word;
    }
    false
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|one: char| !one.is_alphanumeric() && one != '\'').filter(|word| !word.is_empty())
}

fn begins_with_one(word: &str, known: &[&str]) -> bool {
    known.iter().any(|begin| word.get(..begin.len()).is_some_and(|head| head.eq_ignore_ascii_case(begin)))
}

fn ends_with(word: &str, end: &str) -> bool {
    word.len().checked_sub(end.len()).and_then(|at| word.get(at..)).is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

fn is_one(word: &str, known: &[&str]) -> bool {
    known.iter().any(|one| one.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_about_a_failure_is_one() {
        for question in [
            "why did npm install fail?",
            "which header is missing?",
            "why doesn't it compile?",
            "did you see any errors in the logs?",
            "what was the root cause of the exception?",
            "which package could not be built?",
            "What went wrong?",
        ] {
            assert!(asks(question), "{question}");
        }
        for question in ["which port does staging use?", "what is the id of order 7?", "when is the release?", ""] {
            assert!(!asks(question), "{question}");
        }
    }

    #[test]
    fn a_line_that_tells_of_a_failure_is_one() {
        for line in [
            "npm ERR! ERESOLVE could not resolve peer react@17",
            "error[E0382]: borrow of moved value: `ledger`",
            "Caused by: java.lang.IllegalStateException: Ledger already closed",
            "ModuleNotFoundError: No module named 'yaml'",
            "3m  Warning  FailedScheduling  pod/ledger-0",
            "src/a.c:12:10: fatal error: zlib.h: No such file or directory",
            "bash: foo: command not found",
            "TEST FAILED tests/test_api.py::test_post",
        ] {
            assert!(tells(line), "{line}");
        }
        for line in [
            "npm WARN deprecated left-pad@1.0.0",
            "build finished with 0 errors",
            "no errors found",
            "tests: 12 passed, failed: 0",
            "INFO request served by node-3",
            "cc -O2 -c src/mod_3.c",
            "",
        ] {
            assert!(!tells(line), "{line}");
        }
    }
}
