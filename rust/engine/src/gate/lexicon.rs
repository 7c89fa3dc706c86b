//! Word lists of the gate. English; sorted by what they are for.

/// Words that greet, thank or agree.
pub const GREETINGS: [&str; 26] = [
    "wow",
    "hey",
    "hi",
    "thanks",
    "thank",
    "yeah",
    "haha",
    "awesome",
    "great",
    "cool",
    "nice",
    "congrats",
    "sounds",
    "good",
    "hello",
    "bye",
    "oh",
    "ok",
    "okay",
    "yes",
    "no",
    "sure",
    "absolutely",
    "totally",
    "glad",
    "love",
];

/// Words that name a time; months and weekdays are in `units/calendar.rs`.
pub const TIMES: [&str; 21] = [
    "yesterday",
    "today",
    "tomorrow",
    "week",
    "weeks",
    "month",
    "months",
    "year",
    "years",
    "ago",
    "last",
    "next",
    "since",
    "recently",
    "weekend",
    "morning",
    "night",
    "birthday",
    "tonight",
    "evening",
    "afternoon",
];

/// The speaker.
pub const FIRST: [&str; 14] = ["i", "my", "we", "our", "me", "i'm", "i've", "we're", "we've", "i'd", "i'll", "mine", "us", "we'll"];

/// Whom they speak to.
pub const SECOND: [&str; 7] = ["you", "your", "you're", "you've", "you'll", "yours", "you'd"];

/// Verbs in the past that do not end in "ed".
pub const PAST: [&str; 22] = [
    "was", "were", "went", "got", "had", "made", "took", "did", "found", "bought", "saw", "met", "came", "told", "gave", "felt", "lost",
    "won", "been", "began", "wrote", "sent",
];

/// Words that say nothing alone. Also what English is told by.
pub const FILLERS: [&str; 116] = [
    "the", "a", "an", "and", "or", "but", "of", "to", "in", "on", "at", "for", "with", "is", "are", "was", "were", "be", "been", "it",
    "that", "this", "so", "just", "as", "if", "not", "have", "has", "had", "do", "did", "does", "can", "will", "would", "i", "you", "we",
    "they", "he", "she", "my", "your", "our", "me", "them", "his", "her", "what", "how", "when", "where", "who", "why", "from", "by",
    "about", "up", "out", "there", "some", "more", "really", "very", "too", "all", "i'm", "it's", "don't", "that's", "i'd", "i've", "i'll",
    "let's", "we're", "want", "need", "like", "please", "get", "go", "know", "think", "could", "should", "one", "no", "yes", "any", "its",
    "am", "us", "also", "now", "then", "than", "here", "only", "use", "prefer", "never", "always", "because", "into", "after", "before",
    "which", "these", "those", "find", "book", "okay", "sure", "thanks", "name",
];

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
    ("database", &["postgres", "postgresql", "mysql", "sqlite", "mongodb", "redis", "cockroachdb", "dynamodb", "clickhouse"]),
];

/// Attributes of a person: "my NAME is ..." is the profile.
pub const PROFILE: [&str; 42] = [
    "name",
    "first name",
    "last name",
    "full name",
    "nickname",
    "birthday",
    "age",
    "timezone",
    "time zone",
    "job",
    "role",
    "title",
    "job title",
    "profession",
    "occupation",
    "team",
    "company",
    "employer",
    "manager",
    "boss",
    "wife",
    "husband",
    "partner",
    "son",
    "daughter",
    "dog",
    "cat",
    "email",
    "address",
    "phone number",
    "city",
    "country",
    "hometown",
    "native language",
    "language",
    "pronouns",
    "nationality",
    "diet",
    "blood type",
    "email address",
    "phone",
    "home",
];

/// Words after "my ... is" that are not attributes.
pub const NO_ATTRIBUTE: [&str; 22] = [
    "question",
    "problem",
    "issue",
    "point",
    "guess",
    "understanding",
    "thinking",
    "idea",
    "concern",
    "request",
    "plan",
    "suggestion",
    "bad",
    "only",
    "first",
    "next",
    "answer",
    "hope",
    "goal",
    "assumption",
    "theory",
    "mistake",
];
