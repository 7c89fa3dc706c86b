"""The border between Rust and Python only converts: it stays small, and nothing crosses it by place."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
BORDER = sorted((ROOT / "rust" / "python" / "src").glob("*.rs"))
STUB = ROOT / "python" / "memspan" / "_core.pyi"

MOST_LINES = 3_640
"""Of the border. Lower it when it shrinks; what raises it is better an entry of `shows!` or `calls!`, or belongs to the engine."""

MOST_LINES_OF_A_FILE = 450
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


def test_nothing_comes_back_as_a_tuple_of_many() -> None:
    pickled = {"memory.rs"}  # what `__reduce__` gives to pickle has no names
    assert {path.name: found for path in BORDER if path.name not in pickled and (found := tuples(path.read_text()))} == {}


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
    allowed = {  # what a caller's own code is given, or gives: Python's protocols
        "tuple[Callable[..., Memory], tuple[int, bytes, str | None, str | None]]",
        "tuple[int, bytes, str | None, str | None]",
        "tuple[str, Memory, str | None]",
    }
    assert set(long_tuples(tree)) - allowed == set()
