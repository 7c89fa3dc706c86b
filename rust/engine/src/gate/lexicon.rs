//! Word lists of the gate. English; sorted by what they are for.

use super::lists::lists;

lists! { "lexicon":
    /// Words that greet, thank or agree.
    pub GREETINGS,
    /// Words that name a time; months and weekdays are in `units/calendar.rs`.
    pub TIMES,
    /// Verbs in the past that do not end in "ed".
    pub PAST,
    /// Words that say nothing alone. Also what English is told by.
    pub FILLERS,
    /// Attributes of a person: "my NAME is ..." is the profile.
    pub PROFILE,
    /// Words after "my ... is" that are not attributes.
    pub NO_ATTRIBUTE,
    /// Words for numbers.
    pub NUMBERS,
    /// Words that say how somebody or something is, and not what.
    pub STATES,
}

/// The speaker.
pub const FIRST: [&str; 14] = ["i", "my", "we", "our", "me", "i'm", "i've", "we're", "we've", "i'd", "i'll", "mine", "us", "we'll"];

/// Whom they speak to.
pub const SECOND: [&str; 7] = ["you", "your", "you're", "you've", "you'll", "yours", "you'd"];

/// Things of which somebody has one at a time: a word of the value names the slot.
pub const CLASSES: [(&str, &[&str]); 11] = [
    (
        "programming language",
        &[
            "python",
            "go",
            "golang",
            "rust",
            "java",
            "javascript",
            "typescript",
            "ruby",
            "kotlin",
            "swift",
            "c++",
            "c#",
            "perl",
            "php",
            "scala",
            "haskell",
            "elixir",
            "bash",
            "zig",
        ],
    ),
    ("editor", &["vim", "neovim", "emacs", "vscode", "vs", "pycharm", "intellij", "sublime", "zed", "cursor", "nano", "helix"]),
    ("operating system", &["linux", "macos", "windows", "ubuntu", "debian", "fedora", "arch", "nixos"]),
    ("theme", &["dark", "light"]),
    ("indentation", &["tabs", "spaces"]),
    ("units", &["metric", "imperial"]),
    ("temperature unit", &["celsius", "fahrenheit"]),
    ("hot drink", &["tea", "coffee", "espresso", "matcha"]),
    ("seat", &["aisle", "window"]),
    ("diet", &["vegetarian", "vegan", "pescatarian", "omnivore", "keto", "halal", "kosher"]),
    ("database", &["postgres", "postgresql", "mysql", "mariadb", "sqlite", "mongodb", "cockroachdb", "dynamodb"]),
];
