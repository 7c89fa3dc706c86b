"""Every example that a reader can copy is run: docstrings, the typed stub, and the Python blocks of the documents.

A docstring example finds `memspan`, and an `engine` and `user` on a store of its own, in its namespace; all run in an empty folder.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from local_providers import local_providers

import memspan
from memspan.testing import FakeClock, temporary_engine

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "python" / "memspan"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
BLOCK = re.compile(r"^```python\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", re.DOTALL | re.MULTILINE)
"""A program, and what it prints where that stands right below it."""

DOCUMENTS = [path for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if BLOCK.search(path.read_text())]


def docstrings() -> list[tuple[str, str, int]]:
    """(path and name, docstring, line) of every docstring with an example, by parsing: the stub is found like the modules."""
    found = []
    for path in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi")]):
        for node in ast.walk(ast.parse(path.read_text())):
            text = ast.get_docstring(node) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) else None
            if text and ">>>" in text:
                found.append((f"{path.relative_to(PACKAGE)}:{getattr(node, 'name', '')}", text, getattr(node, "lineno", 1)))
    return found


EXAMPLES = docstrings()


@pytest.mark.parametrize(("name", "text", "line"), EXAMPLES, ids=[name for name, _, _ in EXAMPLES])
def test_docstring_example(name: str, text: str, line: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    importlib.import_module("memspan.testing")
    report: list[str] = []
    with temporary_engine(clock=FakeClock()) as engine:
        names = {"memspan": memspan, "engine": engine, "user": engine.user("u-42")}
        test = doctest.DocTestParser().get_doctest(text, names, name, name, line)
        doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append)
    assert not report, "".join(report)


@pytest.mark.timeout(600)
def test_the_programs_of_the_readme_type_check(tmp_path: Path) -> None:
    """Two of them took an attribute of what may be `None`."""
    pytest.importorskip("mypy")
    blocks = [block.group(1) for block in BLOCK.finditer((ROOT / "README.md").read_text())]
    program = "import memspan\nimport memspan.providers\n"
    for number, block in enumerate(blocks):
        program += f"\ndef program_{number}() -> None:\n{textwrap.indent(block, '    ')}"
    (tmp_path / "readme.py").write_text(program)
    place = Path(memspan.__file__).parent.parent
    path = {} if "site-packages" in place.parts else {"MYPYPATH": str(place)}  # mypy finds what is installed by itself
    options = ["--strict", "--follow-imports=silent", "--ignore-missing-imports", "--cache-dir", str(tmp_path / "cache")]
    command = [sys.executable, "-m", "mypy", *options, str(tmp_path / "readme.py")]
    done = subprocess.run(command, env={**os.environ, **path}, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_examples_are_found_at_all() -> None:
    assert {"exceptions.py:Error", "testing.py:FakeClock"} <= {name for name, _, _ in EXAMPLES}
    assert ROOT / "README.md" in DOCUMENTS
    assert any(block.group(2) for block in BLOCK.finditer((ROOT / "README.md").read_text()))


@pytest.mark.parametrize("path", DOCUMENTS, ids=[str(path.relative_to(ROOT)) for path in DOCUMENTS])
def test_document(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    text = path.read_text()
    names: dict[str, object] = {"__name__": "__example__"}
    with local_providers() as address:
        for vendor, base in {"OPENAI": f"{address}/v1", "ANTHROPIC": address}.items():
            monkeypatch.setenv(f"{vendor}_BASE_URL", base)
            monkeypatch.setenv(f"{vendor}_API_KEY", "local")
        for block in BLOCK.finditer(text):
            first = text[: block.start(1)].count("\n")  # so that a traceback names the line of the document
            capsys.readouterr()
            exec(compile("\n" * first + block.group(1), str(path), "exec"), names)  # noqa: S102  our own documents
            if block.group(2) is not None:
                assert capsys.readouterr().out == block.group(2)
