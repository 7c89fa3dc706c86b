"""The modules of the engine stand in layers, and ARCHITECTURE.md has the one table of them: a module knows only what stands below it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
ENGINE = ROOT / "rust" / "engine" / "src"
TABLE_ROW = re.compile(r"^\| (\d+) \| ((?:`\w+`(?:, )?)+) \|", re.MULTILINE)
TEST_MODULE = re.compile(r'#\[cfg\(test\)\]\n(?:#\[path = "(?P<path>[\w.]+)"\]\n)?(?:pub(?:\([\w: ]+\))? )?mod (?P<name>\w+);')
INLINE_TESTS = re.compile(r"^ *#\[cfg\(test\)\]\n(?: *#\[[^\n]*\]\n)*(?: *)mod \w+ \{.*?^\}", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"//[^\n]*")
TOP = re.compile(r"\bcrate::(?:(\w+)|\{([^;]*?)\};)", re.DOTALL)


def layers(page: str) -> dict[str, int]:
    """The layer of each module, as the table of the page says."""
    section = page.split("## Which module may know which?")[1].split("\n## ", maxsplit=1)[0]
    rows = [(name, int(layer)) for layer, names in TABLE_ROW.findall(section) for name in re.findall(r"\w+", names)]
    assert len(rows) == len(dict(rows)), "a module stands in the table twice"
    return dict(rows)


def product(source: str) -> str:
    """A file without its comments and its inline tests."""
    return COMMENT.sub("", INLINE_TESTS.sub("", source))


def known(source: str) -> set[str]:
    """The top-level modules that a file names; `crate::Error` and its like are of `error`."""
    names: set[str] = set()
    for single, group in TOP.findall(product(source)):
        flat = re.sub(r"\{[^{}]*\}", "", group)
        names.update([single] if single else (re.match(r"\s*(\w+)", part)[1] for part in flat.split(",") if part.strip()))  # type: ignore[index]
    return {name if name[0].islower() else "error" for name in names}


def files_of_tests(folder: Path) -> set[Path]:
    """The files, and the folders of files, that are compiled for tests alone."""
    found: set[Path] = set()
    for path in folder.rglob("*.rs"):
        base = path.parent if path.name in {"mod.rs", "lib.rs"} else path.with_suffix("")
        for match in TEST_MODULE.finditer(path.read_text()):
            file = match["path"]
            found.update([path.parent / file] if file else [base / f"{match['name']}.rs", base / match["name"]])
    return found


def module_of(path: Path) -> str:
    return path.relative_to(ENGINE).parts[0].removesuffix(".rs")


def edges() -> set[tuple[str, str, str]]:
    """From, to, file: every time that a file of one top-level module names another."""
    tests = files_of_tests(ENGINE)
    files = [path for path in ENGINE.rglob("*.rs") if path.name != "lib.rs" and not tests & {path, *path.parents}]
    arrows = ((module_of(path), name, str(path.relative_to(ROOT))) for path in files for name in known(path.read_text()))
    return {(one, other, file) for one, other, file in arrows if one != other}


def test_the_reading_has_teeth() -> None:
    source = """
use crate::store::{keys::Key, pages};
use crate::{Error, index::bm25, text};
// crate::session is only mentioned
fn f() -> crate::memory::Kind { crate::recall::x() }
#[cfg(test)]
mod tests {
    use crate::engine::Engine;
}
"""
    assert known(source) == {"store", "error", "index", "text", "memory", "recall"}
    assert layers("## Which module may know which?\n\n| 2 | `b`, `c` | x |\n| 1 | `a` | y |\n\n## Next\n| 3 | `d` | z |") == {
        "b": 2,
        "c": 2,
        "a": 1,
    }
    assert ENGINE / "session" / "properties.rs" in files_of_tests(ENGINE)
    assert len(edges()) > 300


def test_every_module_of_the_engine_stands_in_the_table_once() -> None:
    declared = set(re.findall(r"^pub mod (\w+);", (ENGINE / "lib.rs").read_text(), re.MULTILINE))
    assert set(layers((ROOT / "ARCHITECTURE.md").read_text())) == declared


def test_a_module_knows_only_what_stands_below_it() -> None:
    layer = layers((ROOT / "ARCHITECTURE.md").read_text())
    upward = sorted(
        f"{file}: {one} ({layer[one]}) names {other} ({layer[other]})" for one, other, file in edges() if layer[other] >= layer[one]
    )
    assert not upward, "\n".join(upward)
