//! The one tool that a text says the user has, by its class: "I use Vim", "I browse with Firefox every day", "we moved to Azure". Of one class
//! somebody who switches has one, and the text need not name the one before.
//!
//! The classes beside those of the lexicon give no slot: a slot is named by what a tool is for, and a list of names is never whole.

use super::lists::lists;
use super::prefers::slot_of;
use super::sentence::Sentence;
use super::words::{Word, among, starts, words};

lists! { "tools":
    /// Verbs of those who have a tool, which they name next.
    HAS,
    /// The same with their subject.
    IS_ON,
    /// How somebody says that they went back to it.
    pub(super) BACK_ON,
    /// Verbs of those who went from one to another, before "to".
    SWITCHED,
    /// Words for such a class: "as my main editor".
    KINDS,
    /// How somebody says that they always use it.
    WHATEVER,
    EDITORS,
    BROWSERS,
    CLOUDS,
    SYSTEMS,
    CHATS,
    TRACKERS,
    NOTES,
    MAILS,
    MUSIC,
    PIPELINES,
    FORGES,
    SHELLS,
    PASSWORDS,
    PHONES,
    PACKAGES,
    FRONTENDS,
}

/// The classes, with the names of the lexicon where it has one of that name.
static CLASSES: [(&str, &[&str]); 16] = [
    ("editor", &EDITORS),
    ("browser", &BROWSERS),
    ("cloud", &CLOUDS),
    ("operating system", &SYSTEMS),
    ("chat", &CHATS),
    ("issue tracker", &TRACKERS),
    ("notes", &NOTES),
    ("mail", &MAILS),
    ("music", &MUSIC),
    ("continuous integration", &PIPELINES),
    ("forge", &FORGES),
    ("shell", &SHELLS),
    ("password manager", &PASSWORDS),
    ("phone", &PHONES),
    ("package manager", &PACKAGES),
    ("frontend", &FRONTENDS),
];
/// Words before the verb of such a text.
const ADVERBS: [&str; 12] =
    ["have", "just", "now", "recently", "finally", "actually", "mostly", "mainly", "usually", "always", "currently", "also"];
/// Words that add nothing behind a tool.
const IDLE: [&str; 6] = ["now", "again", "instead", "today", "recently", "currently"];

/// A tool that somebody has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// The class of things that it is one of.
    pub class: String,
    /// Whether the user has it since they went from another one to it.
    pub switched: bool,
    /// Whether it is one of "we".
    pub of_us: bool,
}

impl Tool {
    /// The one that a text names, if it says nothing else.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        if !text.starts_with(['I', 'i', 'W', 'w']) {
            return None; // as mostly, and it is not cut into words
        }
        let own = words(text);
        let s = &Sentence { text, words: &own };
        if !["i", "i'm", "i've", "we", "we're", "we've"].contains(&s.word(0)) {
            return None;
        }
        let (at, switched) = begin(s)?;
        let (class, end) = class_at(s, at)?;
        is_over(s, end).then(|| Self { class, switched, of_us: s.word(0).starts_with("we") })
    }

    /// Whether a word in small letters is a tool's name, or the name of something that is preferred.
    pub(super) fn names(word: &str) -> bool {
        Self::has_class(word) || slot_of(word, None).is_some()
    }

    /// Whether a word in small letters is the name of a tool of a known class.
    pub(super) fn has_class(word: &str) -> bool {
        CLASSES.iter().any(|(_, names)| among(names, word))
    }
}

/// Where the name of the tool begins, and whether the user went from another one to it.
fn begin(s: &Sentence<'_>) -> Option<(usize, bool)> {
    if let Some(at) = s.behind(0, &BACK_ON) {
        return Some((at, true));
    }
    if let Some(at) = s.behind(0, &IS_ON) {
        return Some((at + usize::from(s.word(at) == "now"), false));
    }
    let at = 1 + s.words.iter().skip(1).take(2).take_while(|word| among(&ADVERBS, &word.lower)).count();
    if let Some(verb) = s.behind(at, &SWITCHED) {
        return starts(s.words, verb, "to").map(|to| (to, true));
    }
    s.behind(at, &HAS).map(|at| (at, false))
}

/// The class of the tool that is named at a word, and where its name is over.
fn class_at(s: &Sentence<'_>, at: usize) -> Option<(String, usize)> {
    let named = CLASSES.iter().filter_map(|(class, names)| s.behind(at, names).map(|end| (*class, end))).max_by_key(|(_, end)| *end);
    if let Some((class, end)) = named {
        return Some((class.to_owned(), end));
    }
    slot_of(s.word(at), None).map(|class| (class, at + 1))
}

/// Whether nothing stands behind a tool that says more: "as my editor", "every day". Beside "at work" another one may stand, and what stands
/// behind it need not be all that is said.
fn is_over(s: &Sentence<'_>, mut at: usize) -> bool {
    if let Some(of) = s.behind(at, &["as my", "as our"]) {
        let which = of + usize::from(["main", "primary", "default", "daily", "only"].contains(&s.word(of)));
        at = s.behind(which, &KINDS).unwrap_or(at);
    }
    while at < s.words.len() && !s.words[at].is_mark() {
        match s.behind(at, &WHATEVER).or_else(|| among(&IDLE, s.word(at)).then_some(at + 1)) {
            Some(next) => at = next,
            None => return false,
        }
    }
    s.words[at..].iter().all(Word::is_mark)
}

#[cfg(test)]
mod tests {
    use super::Tool;

    #[test]
    fn a_tool_is_told_by_its_class() {
        let of = |text: &str| Tool::of(text).map(|tool| (tool.class, tool.switched));
        for (text, class, switched) in [
            ("I use Vim.", "editor", false),
            ("I use Vim as my editor.", "editor", false),
            ("I use VS Code as my main editor", "editor", false),
            ("I switched to Emacs.", "editor", true),
            ("I've just switched to Zed!", "editor", true),
            ("I now use Emacs.", "editor", false),
            ("We\u{2019}re on Fly.io now.", "cloud", false),
            ("We host on Heroku.", "cloud", false),
            ("We moved to Azure.", "cloud", true),
            ("I use Google Chrome every day.", "browser", false),
            ("I drink coffee every morning.", "hot drink", false),
            ("I switched to tea.", "hot drink", true),
            ("I'm back on Firefox now", "browser", true),
            ("We have finally migrated to GitHub Actions.", "continuous integration", true),
        ] {
            assert_eq!(of(text), Some((class.to_owned(), switched)), "{text}");
        }
        for text in [
            "I use Vim at work.",
            "I use Vim and Emacs.",
            "I switched to Emacs for Lisp.",
            "I use Vim, but only over ssh.",
            "You use Vim.",
            "I moved to Lisbon.",
            "I use this.",
            "I switched to the other one.",
            "I switched to Emacs but went back",
            "",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
