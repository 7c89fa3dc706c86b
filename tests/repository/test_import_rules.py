"""Who may import whom. A rule that nothing holds is broken within a month."""

from __future__ import annotations

import ast
import json
import subprocess
from pathlib import Path

import pytest

import memspan

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "python" / "memspan"
FILES = sorted(PACKAGE.rglob("*.py"))
SEAMS = {
    *("memspan.stream.response_text", "memspan._core.Limits", "memspan._flags.shown"),
    *("memspan._twins.alone", "memspan._twins.each_alone", "memspan._copies.of_process"),
}
"""What providers take of the inside: one reading of a vendor's response, the one home of limits, how an error shows a value, how a plain
call is waited for, and how what holds connections refuses to be pickled."""


def imports(source: str, package: str) -> set[str]:
    """The dotted names that a module imports, wherever it does; relative ones resolved against its package."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            base = ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [node.module])]) if node.level else node.module or ""
            names.update(f"{base}.{alias.name}" for alias in node.names)
    return names


def imports_of(path: Path) -> set[str]:
    return imports(path.read_text(), ".".join(path.relative_to(PACKAGE.parent).parent.parts))


def is_public(name: str) -> bool:
    """Whether an imported `memspan...` name is on the package's face, or is a value type's module without a private part."""
    parts = name.split(".")[1:]
    return not parts or name in SEAMS or (parts[0] in memspan.__all__ and not any(part.startswith("_") for part in parts))


def breaches(source: str, package: str) -> set[str]:
    """Imports of memspan's inside that providers and integrations may not have; their own package is theirs."""
    own = ".".join(package.split(".")[:2])
    return {
        name
        for name in imports(source, package)
        if name.split(".")[0] == "memspan" and not name.startswith(own + ".") and name != own and not is_public(name)
    }


def test_the_rule_has_teeth() -> None:
    assert imports("from . import cli", "memspan") == {"memspan.cli"}
    assert imports("from ..engine import Engine", "memspan.providers") == {"memspan.engine.Engine"}
    assert breaches("from memspan._core import x", "memspan.providers") == {"memspan._core.x"}
    assert breaches("from memspan.engine import _hidden", "memspan.integrations.langchain") == {"memspan.engine._hidden"}
    assert breaches("from memspan import Error\nfrom .shapes import Shape", "memspan.providers") == set()


@pytest.mark.parametrize("folder", ["providers", "integrations"])
def test_the_outer_packages_use_the_public_api_alone(folder: str) -> None:
    for path in (PACKAGE / folder).rglob("*.py"):
        package = ".".join(path.relative_to(PACKAGE.parent).parent.parts)
        assert not breaches(path.read_text(), package), path


@pytest.mark.parametrize("path", [path for path in FILES if path.name != "__main__.py"], ids=str)
def test_nothing_imports_the_command_line(path: Path) -> None:
    names = imports_of(path)
    assert not {name for name in names if name == "memspan.cli" or name.startswith("memspan.cli.")}
    if path.name != "cli.py" and path.parent.name != "_cli":
        assert not {name for name in names if name.startswith("memspan._cli")}, "its commands are its own"


@pytest.fixture(scope="module")
def crates() -> dict[str, dict[str, bool]]:
    """For each crate of the workspace its dependencies, and whether each is needed at run time."""
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--offline", "--locked"]
    packages = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)["packages"]
    return {package["name"]: {each["name"]: each["kind"] is None for each in package["dependencies"]} for package in packages}


def test_the_binding_depends_on_the_engine_and_never_back(crates: dict[str, dict[str, bool]]) -> None:
    assert "memspan-engine" in crates["memspan-python"]
    assert "memspan-python" not in crates["memspan-engine"]


def test_the_engine_knows_no_python(crates: dict[str, dict[str, bool]]) -> None:
    assert not {"pyo3", "numpy", "pyo3-ffi"} & set(crates["memspan-engine"])
    assert not [path for path in (ROOT / "rust" / "engine").rglob("*.rs") if "pyo3" in path.read_text()]
