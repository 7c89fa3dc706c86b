"""The border between Rust and Python only converts: it stays small, and nothing crosses it by place."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
BORDER = sorted((ROOT / "rust" / "python" / "src").glob("*.rs"))
STUB = ROOT / "python" / "memspan" / "_core.pyi"

MOST_LINES = 3_280
"""Of the border. Lower it when it shrinks; what raises it is better an entry of `shows!` or `calls!`, or belongs to the engine."""

MOST_LINES_OF_A_FILE = 450
LONGEST_LINE = 140
"""As rustfmt has it, which leaves the lines of tables alone."""

LONGEST_TUPLE = 2
"""A pair is read at a glance (a page and where the next begins); three fields have names."""


def tuples(source: str) -> list[str]:
    """The tuple types of a Rust source with more than two fields, other than those of functions of this source's own."""
    signatures = re.findall(r"-> ([^{;]*)[{;]", source) + re.findall(r"^(?:pub )?type \w+(?:<[^=]*>)? =\s*([^;]*);", source, re.MULTILINE)
    return [found for signature in signatures for found in re.findall(r"\(([^()]*)\)", signature) if fields(found) > LONGEST_TUPLE]


def fields(inner: str) -> int:
    while (plain := re.sub(r"<[^<>]*>", "", inner)) != inner:
        inner = plain
    return len([field for field in inner.split(",") if field.strip()])


def test_the_search_for_tuples_has_teeth() -> None:
    assert tuples("fn f() -> PyResult<(u64, Option<(A, B)>, String)> {") == []  # nested: found by the stub below
    assert tuples("type Row<'py> = (u64, Vec<(u8, u8)>, String);") == []
    assert tuples("fn f() -> PyResult<(u64, u64, String)> {") == ["u64, u64, String"]
    assert tuples("type Row = (u64, HashMap<u8, u8>, u8);") == ["u64, HashMap<u8, u8>, u8"]
    assert tuples("fn f() -> PyResult<(Vec<Memory>, Option<u32>)> {") == []


def test_the_border_stays_small() -> None:
    lines = {path.name: len(path.read_text().splitlines()) for path in BORDER}
    assert sum(lines.values()) <= MOST_LINES
    assert {name: count for name, count in lines.items() if count > MOST_LINES_OF_A_FILE} == {}


def test_no_line_of_the_border_is_longer_than_another() -> None:
    lines = {path.name: [line for line in path.read_text().splitlines() if len(line) > LONGEST_LINE] for path in BORDER}
    assert {name: long for name, long in lines.items() if long} == {}


def test_nothing_comes_back_as_a_tuple_of_many() -> None:
    assert {path.name: found for path in BORDER if (found := tuples(path.read_text()))} == {}


CONSTANT = re.compile(r"\bconst ([A-Z_]+): (?:[ui](?:8|16|32|64|size)|f64|Duration)\b")


def test_no_number_is_decided_in_the_border() -> None:
    # Python's own `datetime` sets the four of `time.rs`; the built-in embedding says its dimensions through a class.
    found = {name for path in BORDER for name in CONSTANT.findall(path.read_text())}
    assert found == {"FIRST", "LAST", "DAY", "SECOND", "DIMENSIONS"}


FORMS = ("rmp", "jiter", "serde_json")


def test_the_border_reads_and_writes_no_form_by_itself() -> None:
    manifest = (ROOT / "rust" / "python" / "Cargo.toml").read_text()
    assert [name for name in FORMS if re.search(rf"^{name}\b", manifest, re.MULTILINE)] == []


def names(table: str) -> list[str]:
    """The fields of an entry of `shows!` or `keeps!`: what stands before `=`, or alone, between commas that nothing encloses."""
    fields, depth = [""], 0
    for sign in table:
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            fields.append("")
        else:
            fields[-1] += sign
    return [field.split("=", maxsplit=1)[0].strip() for field in fields if field.strip()]


def entries(source: str) -> dict[str, list[str]]:
    """The class and the fields of every entry of a file's tables."""
    found = {}
    for match in re.finditer(r"^    \S.* as (\w+) \|it(?:, py)?\| \{", source, re.MULTILINE):
        end, depth = match.end(), 1
        while depth:
            depth += (source[end] in "([{") - (source[end] in ")]}")
            end += 1
        found[match[1]] = names(source[match.end() : end - 1])
    return found


def test_the_search_for_fields_has_teeth() -> None:
    source = "shows! {\n    (A, B) as Pair |it| { one = f(it.0, 1), two }\n    C as D |it, py| {\n        x = y\n    }\n}\n"
    assert entries(source) == {"Pair": ["one", "two"], "D": ["x"]}


def test_every_table_has_the_fields_of_its_class() -> None:
    more = {"Recalled": {"explanation"}, "Passage": {"explanation"}}  # made at each use, and no field
    tables = {name: fields for path in BORDER for name, fields in entries(path.read_text()).items()}
    homes = [importlib.import_module(f"memspan.{name}") for name in ("_results", "_records", "_kept")]
    assert len(tables) > 50
    for name, fields in tables.items():
        cls = next(getattr(home, name) for home in homes if hasattr(home, name))
        needed = {one.name for one in dataclasses.fields(cls)}
        assert set(fields) - more.get(name, set()) == needed, name


def long_tuples(tree: ast.AST) -> list[str]:
    """`tuple[...]` annotations with more than two fields, wherever they stand."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "tuple":
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if len(inner) > LONGEST_TUPLE:
                found.append(ast.unparse(node))
    return found


def test_the_stub_names_what_it_gives() -> None:
    tree = ast.parse(STUB.read_text())
    assert long_tuples(tree) == []
