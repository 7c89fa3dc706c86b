"""Phrases that a translation leaves behind in errors, docstrings, comments and documents. The rest of plain English needs a reader."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "python" / "memspan"
DOCUMENTS = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").glob("*.md"))]
RUST = [path for crate in ("engine", "python") for path in sorted((ROOT / "rust" / crate / "src").rglob("*.rs"))]

BANNED = {
    "is no X: say is not an X": re.compile(
        r"(?<!here )\b(?:is|are|was|were) no (?!longer|more|less|fewer|other|better|worse|need|doubt|way)[a-z`]"
    ),
    "did cost: say cost": re.compile(r"\bdid (?:cost|fit|have|come)\b"),
    "has not 16: say does not have 16": re.compile(r"\bha(?:s|ve) not (?:\d|an? |the )"),
    "the begin of: say the beginning of": re.compile(r"\b(?:the|from|its) begin\b"),
    "stopped to hold: say stopped holding": re.compile(r"\bstop(?:s|ped)? to (?:hold|be|work)\b"),
    "must be there and be: say must be present and": re.compile(r"\bmust be there and be\b"),
}
# Beginnings of paths whose comments and docstrings are not rewritten yet: none.
NOT_YET: tuple[str, ...] = ()
RUST_TEXT = re.compile(r"""b?'(?:\\.[^']*|[^'\\])'|"((?:[^"\\]|\\.)*)\"""")
TEST_CODE = re.compile(r"#\[cfg\(test\)\]\nmod \w+ \{.*", re.DOTALL)
RUST_COMMENT = re.compile(r"(?m)^[ \t]*//[/!]? ?(.*)$|^.*$")
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
SENTENCE = re.compile(r"(?<=[.!?])[*_]*\s+|\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) )|\|")
HEADLESS = re.compile(r"^What\b(?!')|\b[Ww]ho(?:m|so)?ever\b")
MARKUP = re.compile(r"^(?:[\s*_#>-]|\d+\.(?= ))+")


def faults(text: str) -> list[str]:
    plain = CODE.sub("`x`", text)
    return [
        f"{rule}: {plain[max(match.start() - 30, 0) : match.end() + 30]!r}"
        for rule, phrase in BANNED.items()
        for match in phrase.finditer(plain)
    ]


def headless(text: str) -> list[str]:
    """Sentences that begin with "What" and ask nothing, and those with "whoever": a noun in its place names the thing or the person."""
    sentences = [MARKUP.sub("", sentence).rstrip("*_: \n") for sentence in SENTENCE.split(CODE.sub("`x`", text))]
    return [sentence for sentence in sentences if HEADLESS.search(sentence) and not sentence.endswith("?")]


def faults_of_error(text: str) -> list[str]:
    """The same of one sentence, which has no columns."""
    return faults(text) + [f"two spaces: {match[0]!r}" for match in re.finditer(r"(?<!\\)[a-z,;:] {2,}[a-z]", text)]


def texts_of_rust(source: str) -> list[str]:
    """The sentences that a file can say: literals of five words and more, without those of its tests, its comments and `expect`."""
    plain = re.sub(r"\\\n\s*", "", TEST_CODE.sub("", source))  # a literal that goes on in the next line
    plain = re.sub(r"(?m)//.*$", "", plain)
    plain = re.sub(r'expect\("[^"]*"\)', "", plain)
    found = [re.sub(r"\s*\n\s*", " ", match[1]) for match in RUST_TEXT.finditer(plain) if match[1]]
    return [text for text in found if text.count(" ") >= 4]


def comments_of_rust(source: str) -> str:
    """The comments that have lines of their own, with an empty line where there is code between two."""
    return "\n".join(match[1] or "" for match in RUST_COMMENT.finditer(source))


def is_read(path: str) -> bool:
    return not path.startswith(NOT_YET)


def texts_of_python(source: str) -> list[str]:
    """Docstrings without their examples, and the constant parts of errors that are raised."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(re.sub(r"(?m)^\s*(?:>>>|\.\.\.).*$", "", ast.get_docstring(node) or ""))
        elif isinstance(node, ast.Raise):
            found += [part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return found


def test_the_search_finds_what_it_is_for() -> None:
    wrong = "It is no list, and what it did cost has not 16 bytes; at the begin it must be there and be one, until it stopped to hold."
    assert len(faults(wrong)) == len(BANNED)
    assert faults_of_error("close   the store") == ["two spaces: 'e   t'"]
    assert faults("There is no list. It is no longer there. `it is no list`") == []
    assert headless("What a match is worth. # What it is\n\n- **What was seen.** It is for whoever asks. What says so?") == [
        "What a match is worth.",
        "What it is",
        "What was seen.",
        "It is for whoever asks.",
    ]
    assert headless('What is where?\n\nWhat goes in,\nand what out? It says what it is. "What" is a word. What\'s new.') == []
    assert comments_of_rust("//! a\n/// b\nfn f() {} // c\n    // d") == "a\nb\n\nd"
    assert texts_of_rust('fn f() { g("a b c d e", \'"\', "short"); } // "not a text of it"') == ["a b c d e"]


def test_errors_of_the_engine_and_the_border() -> None:
    every = {
        str(path.relative_to(ROOT)): texts_of_rust(path.read_text())
        for path in RUST
        if "test" not in path.name and "properties" not in str(path)
    }
    assert sum(map(len, every.values())) > 300  # the search reads them at all
    assert {path: wrong for path, texts in every.items() if (wrong := [fault for text in texts for fault in faults_of_error(text)])} == {}


def test_comments_of_the_engine_and_the_border() -> None:
    every = {str(path.relative_to(ROOT)): comments_of_rust(path.read_text()) for path in RUST}
    assert sum(map(len, every.values())) > 500_000  # the search reads them at all
    assert {path: wrong for path, text in every.items() if is_read(path) and (wrong := faults(text) + headless(text))} == {}


def test_errors_and_docstrings_of_the_package() -> None:
    every = {str(path.relative_to(ROOT)): texts_of_python(path.read_text()) for path in [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi")]}
    assert {path: wrong for path, texts in every.items() if (wrong := [fault for text in texts for fault in faults(text)])} == {}
    read = {path: texts for path, texts in every.items() if is_read(path)}
    assert {path: wrong for path, texts in read.items() if (wrong := [fault for text in texts for fault in headless(text)])} == {}


@pytest.mark.parametrize("path", DOCUMENTS, ids=[path.name for path in DOCUMENTS])
def test_documents(path: Path) -> None:
    lines = [line for line in CODE.sub("`x`", path.read_text()).splitlines() if not line.startswith("|  ")]
    assert [fault for line in lines for fault in faults(line)] == []
    assert headless(path.read_text()) == []
