//! Files, differences between files, and the output of programs, which somebody pastes. They are known by their form ("@@ -1 +1 @@", "$ cat
//! motd") or by the line that names them: "the commit message says". A line that ends in a colon is read in `others`.

use super::lists::lists;
use super::others::{is_text, tells_of_oneself};
use super::words::{Span, Word, among, has, starts, words};
use crate::units::lines::lines;

lists! { "pastes":
    /// Names of what people at work paste, beside the texts of `others`.
    NAMED,
    /// Endings of the names of files.
    ENDINGS,
    /// Libraries whose names end as those of files do.
    LIBRARIES,
    /// Programs by which people write to each other.
    APPS,
    /// Last words of a line below which its text stands.
    SAYS,
}

/// Bytes of a line that names a text, at most.
const MOST_LEAD: usize = 90;
/// Words of a line that says only from whom a text is, at most.
const MOST_FROM: usize = 6;
/// How a line begins that ends with the name of a text.
const LEADS: [&str; 6] = ["here's", "here is", "this is", "below is", "from", "so here's"];
/// Programs that a line behind a bare "$" or ">>>" runs: an amount may stand there, or a quotation.
const PROGRAMS: [&str; 32] = [
    "cat",
    "ls",
    "cd",
    "pwd",
    "whoami",
    "uname",
    "echo",
    "grep",
    "find",
    "tail",
    "head",
    "git",
    "npm",
    "npx",
    "yarn",
    "pnpm",
    "pip",
    "python",
    "python3",
    "node",
    "cargo",
    "go",
    "make",
    "docker",
    "kubectl",
    "terraform",
    "curl",
    "ssh",
    "sudo",
    "import",
    "print",
    "cowsay",
];
/// Lines of a file of differences beside those that begin with a sign.
const OF_DIFF: [&str; 9] =
    ["diff --git ", "@@ ", "index ", "new file mode", "deleted file mode", "similarity index", "rename ", "--- ", "+++ "];
/// First words of a line that says what is to be done with the text below it, or when: "save to memory.md:".
const AIMS: [&str; 18] = [
    "for", "when", "whenever", "if", "save", "put", "add", "create", "write", "append", "store", "remember", "update", "see", "check",
    "note", "make", "how",
];
/// Names of files in which people write of themselves.
const OWN_FILES: [&str; 10] = ["memory", "user", "me", "bio", "about", "profile", "cv", "resume", "notes", "preferences"];
/// How somebody begins to speak for themselves again.
const ASIDES: [&str; 6] = ["btw", "by the way", "ps ", "ps:", "p.s.", "from now on"];

/// The parts of a message that are such a text by their form.
pub(super) fn parts(text: &str) -> Vec<Span> {
    if !text.contains('\n') {
        return Vec::new();
    }
    let mut out = if text.contains("\n+") || text.contains("\n-") { differences(text) } else { Vec::new() };
    if ["$ ", ">>> ", "# "].iter().any(|sign| text.contains(sign)) {
        out.extend(transcripts(text));
    }
    out
}

/// The parts of a text that say how two files differ: what stands behind such a header. Lines with signs alone may be a list.
fn differences(text: &str) -> Vec<Span> {
    let lines: Vec<(usize, &str)> = lines(text).collect();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < lines.len() {
        let opens = is_header(&lines, at);
        let mut end = at;
        while end < lines.len() && goes_on(&lines, end, opens) {
            end += 1;
        }
        if end > at && opens {
            let (start, last) = lines[end - 1];
            out.push(Span { start: lines[at].0, end: start + last.len() });
        }
        at = end.max(at + 1);
    }
    out
}

/// Whether a line opens a file of differences. A rule of hyphens alone opens none.
fn is_header(lines: &[(usize, &str)], at: usize) -> bool {
    let (_, line) = lines[at];
    let names_both = || line.starts_with("--- ") && lines.get(at + 1).is_some_and(|(_, next)| next.starts_with("+++ "));
    line.starts_with("diff --git ") || line.starts_with("@@ ") || names_both()
}

/// Whether a line belongs to the differences before it. Behind an empty line that is so of what cannot be the point of a list.
fn goes_on(lines: &[(usize, &str)], at: usize, opened: bool) -> bool {
    let (_, line) = lines[at];
    let signed = line.starts_with(['+', '-']);
    if !opened {
        return signed;
    }
    let is_point = |line: &str| line.starts_with("- ") || line.starts_with("+ ");
    let of_diff = |line: &str| line.starts_with(['+', '-', ' ', '\t', '\\']) || OF_DIFF.iter().any(|opening| line.starts_with(opening));
    let behind_empty = || lines.get(at + 1).is_some_and(|(_, next)| of_diff(next) && !is_point(next));
    of_diff(line) || line.is_empty() && behind_empty()
}

/// The commands that a shell was given, each with its output up to an empty line.
fn transcripts(text: &str) -> Vec<Span> {
    let mut out: Vec<Span> = Vec::new();
    for (start, line) in lines(text) {
        if out.last().is_none_or(|last| start >= last.end) && is_prompt(line) {
            out.push(Span { start, end: text[start..].find("\n\n").map_or(text.len(), |end| start + end) });
        }
    }
    out
}

/// Whether a line begins as a shell's does: "$ ls", "dana@box:~$ ls", ">>> import os".
fn is_prompt(line: &str) -> bool {
    let Some((host, command)) = ["$ ", ">>> ", "# "].iter().find_map(|sign| line.split_once(sign)) else { return false };
    let is_program = || PROGRAMS.contains(&command.split([' ', '(']).next().unwrap_or_default());
    let is_host =
        host.is_empty() && !line.starts_with('#') && is_program() || host.contains('@') && host.contains(':') && !host.contains(' ');
    is_host && command.starts_with(|first: char| first.is_ascii_alphabetic() || matches!(first, '.' | '/' | '~'))
}

/// Whether words name a file, or another text of those at work.
pub(super) fn is_named(words: &[Word]) -> bool {
    // "For README.md:" stands before what is to be done with it.
    let is_aim = words.first().is_some_and(|first| AIMS.contains(&first.lower.as_str()));
    let of_app = |pair: &[Word]| {
        let (first, second) = (pair[0].lower.as_str(), pair[1].lower.as_str());
        first == "from" && among(&APPS, second) || among(&APPS, first) && second == "from"
    };
    !is_aim && (words.iter().any(is_file) || NAMED.iter().any(|name| has(words, name)) || words.windows(2).any(of_app))
}

/// Whether a word is the name of a file. "Node.js" is a library.
pub(super) fn is_file(word: &Word) -> bool {
    let parts = word.lower.rsplit_once('.');
    parts
        .is_some_and(|(name, ending)| among(&ENDINGS, ending) && !name.is_empty() && !among(&LIBRARIES, name) && !OWN_FILES.contains(&name))
}

/// Whether a line only names such a text, and tells nothing of its own: "from git show:".
pub(super) fn is_title(line: &str) -> bool {
    const MOST_TITLE: usize = 5;
    let words = words(line);
    words.len() <= MOST_TITLE && is_named(&words)
}

/// Whether a line without a colon says that a text of somebody else stands below it: "the readme says", "slack from Lena", "from the design
/// doc -", "here's the bug report", "notes.md".
pub(super) fn is_lead(line: &str) -> bool {
    let line = line.trim();
    if line.len() > MOST_LEAD || line.is_empty() || line.ends_with(['.', '?', '!', ',', ';']) || !may_lead(line) {
        return false;
    }
    let words = words(line);
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return false };
    let is_own = ["i", "i'm", "i've", "my", "our", "we", "we've"].contains(&first.lower.as_str());
    let named = is_named(&words);
    let says = among(&SAYS, &last.lower);
    // "I ran it and stdout shows"
    if is_own && !(named && says) || tells_of_oneself(&words) {
        return false;
    }
    let any = || named || words.iter().any(is_text);
    let ends_named = || is_file(last) || NAMED.iter().any(|name| name.rsplit(' ').next() == Some(last.lower.as_str()));
    let leads = || named && LEADS.iter().any(|lead| starts(&words, 0, lead).is_some()) && ends_named();
    let from = (1..words.len().min(4)).find(|at| words[*at].lower == "from");
    let is_from = || from.is_some_and(|at| words.len() > at + 1 && (among(&APPS, &words[at - 1].lower) || is_named(&words[at - 1..at])));
    match last.lower.as_str() {
        "below" | "follows" => any(),
        "is" | "was" | "are" | "were" => named,
        _ if says => words.len() > 1 && any(),
        _ if [" -", " \u{2013}", " \u{2014}"].iter().any(|dash| line.ends_with(dash)) => any(),
        _ => leads() || words.len() <= MOST_FROM && is_from() || words.len() <= 2 && is_file(last),
    }
}

/// Whether a line may say that a text of somebody else stands below it, by the ends of the line alone, which most lines do not pass, and
/// before they are cut into words.
fn may_lead(line: &str) -> bool {
    const ENDS: [&str; 9] = ["below", "follows", "is", "was", "are", "were", "-", "\u{2013}", "\u{2014}"];
    let last = line.rsplit(' ').next().unwrap_or_default();
    let any = |list: &[&str]| list.iter().any(|one| one.eq_ignore_ascii_case(last));
    let begins = |lead: &&str| line.get(..lead.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(lead));
    let leads = ["here", "so here", "this is", "below is", "from"].iter().any(begins);
    any(&ENDS) || any(&SAYS) || leads || line.contains(" from ") || last.contains('.')
}

/// Where a text is over that begins at a byte: at an empty line, unless the text goes on behind it in the form of a document, and at words by
/// which somebody comes back to themselves.
pub(super) fn end(text: &str, start: usize) -> usize {
    let mut at = start;
    loop {
        let over = text[at..].find("\n\n").map_or(text.len(), |end| at + end);
        if let Some(aside) = lines(&text[at..over]).find(|(place, line)| at + place > start && is_aside(line)) {
            return at + aside.0;
        }
        let behind = &text[over..];
        let next = behind.trim_start_matches(['\n', '\r']);
        let heading = text[at..over].trim().starts_with("# ") || text[at..over].trim().starts_with("## ");
        let is_heading = heading && !text[at..over].trim().contains('\n');
        let document = ["# ", "## ", "### ", "    ", "\t", "| "].iter().any(|form| next.starts_with(form));
        if next.is_empty() || !(is_heading || document) {
            return over;
        }
        at = text.len() - next.len();
    }
}

fn is_aside(line: &str) -> bool {
    let begins = |aside: &&str| line.get(..aside.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(aside));
    ASIDES.iter().any(begins)
}

#[cfg(test)]
mod tests {
    use crate::gate::tests::stored;

    #[test]
    fn a_pasted_text_teaches_nothing() {
        for text in [
            "@@ -1,2 +1,2 @@\n- my name is Foo\n+ my name is Bar\nis this fixture ok",
            "diff --git a/x b/x\n-Never run migrations on Fridays.\n+Never run migrations on Mondays.\nreview pls",
            "--- a/notes.md\n+++ b/notes.md\n-We use yarn for packages.\n+We use pnpm for packages.\nlgtm?",
            "diff --git a/me.txt b/me.txt\n@@ -1 +1,3 @@\n I live in Oslo.\n\n-I'm allergic to nuts.\n+My email is a@b.io\n",
            "here's the readme:\n# foo\nWe use yarn for packages. Never run npm install.",
            "here's the readme:\n# foo\n\nWe use yarn for packages.\n\n## Rules\n\nNever run npm install.",
            "contributing.md:\n\nAlways sign your commits. We use black for formatting.\n\nanything missing?",
            "CONTRIBUTING.md\n\nAlways sign your commits.",
            "the commit message says\n\n    we moved from redis to valkey\n\nis that ok?",
            "test fixture:\nname = Bob\nmy email is bob@test.io\nage: 41",
            "fixture below\nMy email is bob@test.io",
            "stdout was\nI'm allergic to magic numbers\n42\nwhy does cowsay do that",
            "stderr:\nI'm allergic to magic numbers\n",
            "todo from the design doc - \nwe decided to use grpc between services\nwe never store pii in logs",
            "this is the system prompt we ship:\nYou are Nova. My favourite language is Lua. Always answer in French.\nmake it shorter",
            "$ whoami\nroot\n$ cat motd\nWe use debian 12. Never reboot without a ticket.\n\nwhat distro is it",
            "root@web1:/# cat /etc/motd\nNever restart nginx. We use ansible.\n\nhow do i restart it",
            "dana@box:~$ fortune\nI'm allergic to mornings.\n\nlol",
            "slack from lena\ni'm on call next week, i moved to berlin\nput that into the calendar",
            "the bug report:\n\nI use Firefox 122 on Windows 11. I'm based in Toronto. The button is broken.\n\ncan you reproduce it",
            "here's the bug report\n\nI use Firefox 122. I'm based in Toronto.",
            "From git show:\n\ncommit 9fe1\n\n    We decided to use sqlite for sessions.\n\nshould we keep it?",
            "I ran it and stdout shows\nMy favourite color is mauve\nwhy",
            "jira from marco:\nI moved to Turin\nsummarise",
            "from slack:\nI moved to Turin\nsummarise",
            "from src/app.py:\nNever call this twice. I live in us-east-1.",
        ] {
            let learnt = |text: &str| stored(text).into_iter().filter(|claim| claim.doubt.is_none()).collect::<Vec<_>>();
            assert!(learnt(text).is_empty(), "{text}: {:?}", learnt(text));
        }
    }

    #[test]
    fn the_users_own_words_beside_a_paste_are_kept() {
        for (text, own) in [
            ("- I'm vegan\n- I live in Ghent", "The user lives in Ghent."),
            ("+ I'm vegan\n+ I live in Ghent", "The user lives in Ghent."),
            ("* my name is Ana\n* I live in Ghent", "The user lives in Ghent."),
            ("+ I love the sea\n- I live in Ghent", "The user lives in Ghent."),
            ("@@ -1 +1 @@\n-a\n+b\n\nI live in Ghent.", "The user lives in Ghent."),
            ("@@ -1 +1 @@\n-a\n+b\nI live in Ghent.", "The user lives in Ghent."),
            ("@@ -1 +1 @@\n-a\n+b\n\n- I'm vegan\n- I live in Ghent", "The user lives in Ghent."),
            ("I live in Ghent.\n\n$ uname\nLinux", "The user lives in Ghent."),
            ("$ uname\nLinux\n\nI live in Ghent.", "The user lives in Ghent."),
            ("here's the readme:\n# foo\nNever run npm install.\n\nI live in Ghent.", "The user lives in Ghent."),
            ("the readme says\nNever run npm install.\nbtw I live in Ghent.", "The user lives in Ghent."),
            ("$ 50 is what I pay\nI live in Ghent.", "The user lives in Ghent."),
            ("this is what the doctor said\nI live in Ghent.", "The user lives in Ghent."),
            ("Got a message from Anna\nI live in Ghent.", "The user lives in Ghent."),
            ("prompt for today:\nI live in Ghent.", "The user lives in Ghent."),
            ("save to memory.md:\nI live in Ghent.", "The user lives in Ghent."),
            ("see notes.txt\nI live in Ghent.", "The user lives in Ghent."),
            ("- I'm vegan\n-I live in Ghent.\n+ no kids", "The user lives in Ghent."),
            ("+I love my job\n-I live in Ghent.", "The user lives in Ghent."),
            (">>> important\nI live in Ghent.", "The user lives in Ghent."),
            ("$ are tight.\nI live in Ghent.", "The user lives in Ghent."),
            ("How we use node.js:\nI live in Ghent.", "The user lives in Ghent."),
            ("My address is\nI live in Ghent.", "The user lives in Ghent."),
            ("For README.md:\nI live in Ghent.", "The user lives in Ghent."),
            ("About me\n---\nI live in Ghent.", "The user lives in Ghent."),
            ("I got back from the shop\nI live in Ghent.", "The user lives in Ghent."),
            ("Message from me:\nI live in Ghent.", "The user lives in Ghent."),
            ("terminal:\nI live in Ghent.", "The user lives in Ghent."),
            ("slack:\nI live in Ghent.", "The user lives in Ghent."),
            ("Weekly report:\nI live in Ghent.", "The user lives in Ghent."),
            ("I have a bug\nI live in Ghent.", "The user lives in Ghent."),
        ] {
            let texts: Vec<String> = stored(text).into_iter().map(|claim| claim.text).collect();
            assert!(texts.iter().any(|text| text == own), "{text}: {texts:?}");
        }
    }
}
