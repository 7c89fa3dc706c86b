//! Chunks against the rules that every one of them keeps, and against documents whose structure is known.
#![allow(clippy::format_collect, clippy::format_push_string)] // short texts: what reads best

use super::*;
use crate::tokens::{self, Encoding};

fn parts(text: &str, format: Format, target: usize) -> Vec<(String, String)> {
    chunk(text, format, target).into_iter().map(|chunk| (chunk.path.join(" > "), text[chunk.span].to_owned())).collect()
}

/// Chunks ascend, do not overlap, are not blank, and have every sign of the text that is not white space.
fn check_rules(text: &str, format: Format, target: usize) {
    let chunks = chunk(text, format, target);
    let mut end = 0;
    let mut kept = String::new();
    for chunk in &chunks {
        assert!(chunk.span.start >= end && chunk.span.start < chunk.span.end, "{chunk:?} behind {end}");
        let part = &text[chunk.span.clone()];
        assert_eq!(part.trim_end(), part.trim_end_matches(['\n', '\r', ' ', '\t']).trim_end());
        assert!(tokens::count(Encoding::O200k, part) <= target * 2 + 16, "{} tokens", tokens::count(Encoding::O200k, part));
        kept.push_str(part);
        end = chunk.span.end;
    }
    let bare = |text: &str| text.chars().filter(|sign| !sign.is_whitespace()).collect::<String>();
    assert_eq!(bare(&kept), bare(text));
}

#[test]
fn sections_have_their_headings_as_path() {
    let text = "# Handbook\n\nWelcome to the team.\n\n## Deploys\n\nWe deploy on weekdays. Never on a Friday, because nobody wants to be called on a Saturday.\n\n### Rollback\n\nRun `make rollback` and tell the channel what happened and why it did.\n\nPorts\n-----\n\nThe API listens on 8443, the metrics on 9100, and nothing else is open.\n";
    let found = parts(text, Format::Markdown, 24);
    let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["Handbook", "Handbook > Deploys", "Handbook > Deploys > Rollback", "Handbook > Ports"]);
    assert!(found[2].1.starts_with("### Rollback\n\nRun"));
    assert!(found[3].1.starts_with("Ports\n-----"));
    check_rules(text, Format::Markdown, 24);
}

#[test]
fn fences_tables_and_lists_that_fit_are_not_cut() {
    let fence = "```python\ndef f():\n\n    # no heading\n    return 1\n```";
    let table = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |";
    let list = "- one\n- two\n\n  still two\n- three";
    let filler = "Some words that fill the chunk up so that the next block does not fit into it any more, really. ";
    for block in [fence, table, list] {
        for words in 0..8 {
            let text = format!("# T\n\n{}\n\n{block}\n\nThe end.", filler.repeat(words).trim());
            let found = parts(&text, Format::Markdown, 48);
            assert!(found.iter().any(|(_, part)| part.contains(block)), "{words} {found:#?}");
            check_rules(&text, Format::Markdown, 48);
        }
    }
}

#[test]
fn code_shows_the_lines_that_enclose_it() {
    let body = "        value = self.items[name]\n        return value\n";
    let methods: String = (0..6).map(|n| format!("    @cached\n    def method_{n}(self, name):\n{body}\n")).collect();
    let text = format!("import os\n\n\nclass Store:\n    \"\"\"A store.\"\"\"\n\n{methods}\ndef top():\n    return 1\n");
    let found = parts(&text, Format::Code, 40);
    let third = found.iter().find(|(_, part)| part.contains("method_3")).expect("there");
    assert_eq!(third.0, "class Store:");
    assert!(third.1.trim_start().starts_with("@cached\n    def method_"), "{third:?}");
    let top = found.iter().find(|(_, part)| part.contains("def top")).expect("there");
    assert_eq!(top.0, "");
    check_rules(&text, Format::Code, 40);
    let rust = "impl Store {\n    /// Opens it.\n    pub fn open() -> Self {\n        Self\n    }\n\n    fn close(&self) {\n        drop(self);\n    }\n}\n\nfn main() {\n    run();\n}\n";
    let found = parts(rust, Format::Code, 20);
    let close = found.iter().find(|(_, part)| part.contains("fn close")).expect("there");
    assert_eq!(close.0, "impl Store {", "{found:#?}");
    check_rules(rust, Format::Code, 20);
}

#[test]
fn what_has_no_structure_is_cut_all_the_same() {
    for text in [
        "x".repeat(5_000),
        "é".repeat(5_000),
        "word ".repeat(3_000),
        "A sentence. ".repeat(1_000),
        "这是一个句子。".repeat(500),
        "\n".repeat(1_000),
        " ".repeat(1_000),
        String::new(),
        "```\nnever closed\n".repeat(3),
        "---\nfront: matter\n---\nbody".to_owned(),
        "line\r\nline\r\n\r\nline".to_owned(),
        "a\u{0}b\u{feff}c".to_owned(),
    ] {
        for format in [Format::Text, Format::Markdown, Format::Code] {
            check_rules(&text, format, 64);
        }
    }
}

#[test]
fn random_documents_keep_the_rules() {
    let lines = [
        "# A",
        "## B",
        "text of a line.",
        "",
        "",
        "- item",
        "  more",
        "| t | u |",
        "```",
        "def f(x):",
        "    return x",
        "class C:",
        "}",
        "  ",
        "\tx",
        "===",
    ];
    let mut state = 7_u64;
    let mut next = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    for _ in 0..300 {
        let text: String = (0..next(60)).map(|_| format!("{}\n", lines[next(lines.len())])).collect();
        for format in [Format::Text, Format::Markdown, Format::Code] {
            check_rules(&text, format, 16 + next(60));
        }
    }
}

#[test]
fn the_name_says_the_format() {
    for (id, text, format) in [
        ("notes/a.MD", "", Format::Markdown),
        ("src/lib.rs", "", Format::Code),
        ("a.txt", "# no heading", Format::Text),
        ("doc-1", "# Heading\n\ntext", Format::Markdown),
        ("doc-1", "plain", Format::Text),
        ("v1.2", "plain", Format::Text),
    ] {
        assert_eq!(Format::guess(id, text), format, "{id}");
    }
}
