"""The package's face: what `memspan` exports, what importing it costs, and what a debug build says."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import os
import pkgutil
import pydoc
import re
import subprocess
import sys
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import memspan

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(memspan.__path__, "memspan.")
    if "._" not in module.name  # private ones have no face
)


# The binding's door into the exceptions, and `open`: `from memspan import *` must leave the built-in one alone.
INTERNAL = {"from_engine", "open"}


def public_names(module: ModuleType) -> set[str]:
    """What a module defines itself, or, for a package, shows on its face."""
    prefix = module.__name__
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not isinstance(value, ModuleType) and (getattr(value, "__module__", "") or "").startswith(prefix)
    }


@pytest.mark.parametrize("name", ["memspan", *MODULES])
def test_all_is_complete_sorted_and_true(name: str) -> None:
    module = importlib.import_module(name)
    # As the linter orders them: constants, classes, functions.
    assert list(module.__all__) == sorted(set(module.__all__), key=lambda exported: (not exported.isupper(), exported))
    missing = [exported for exported in module.__all__ if not hasattr(module, exported)]
    assert not missing
    assert public_names(module) - INTERNAL <= set(module.__all__)


def test_the_face_is_small() -> None:
    assert len(memspan.__all__) <= 75


def test_a_star_import_leaves_the_built_in_open_alone() -> None:
    names: dict[str, object] = {}
    exec("from memspan import *", names)  # noqa: S102  what a user may type
    assert "open" not in names


@pytest.mark.parametrize("owner", [memspan.Scope, memspan.Session, memspan.Engine])
def test_a_class_has_what_its_parts_define_as_its_own(owner: type) -> None:
    calls = {name: member for name in dir(owner) if not name.startswith("_") and callable(member := getattr(owner, name))}
    assert len(calls) > 25
    assert {name: member.__qualname__ for name, member in calls.items()} == {name: f"{owner.__name__}.{name}" for name in calls}
    assert {name for name in dir(owner) if not name.startswith("_")} <= set(vars(owner))  # where help and the reference look


def test_every_exception_is_on_the_face() -> None:
    from memspan import exceptions

    assert set(exceptions.__all__) <= set(memspan.__all__)


def test_everything_on_the_face_has_a_docstring() -> None:
    undocumented = [name for name in memspan.__all__ if callable(getattr(memspan, name)) and not getattr(memspan, name).__doc__]
    assert not undocumented


@pytest.mark.parametrize(
    "heavy",
    [
        "asyncio",
        "concurrent.futures.thread",
        "hypothesis",
        "importlib.metadata",
        "numpy",
        "pytest",
        "rich",
        "sqlite3",
        "subprocess",
        "tempfile",
    ],
)
def test_importing_memspan_does_not_import(heavy: str) -> None:
    code = "import sys; before = set(sys.modules); import memspan; print(*sorted(set(sys.modules) - before))"
    imported = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert "memspan" in imported
    assert heavy not in imported


def test_the_version_is_the_one_of_the_installed_package() -> None:
    from importlib.metadata import version

    assert memspan.__version__ == version("memspan")


def test_the_build_under_test_is_the_one_that_was_asked_for() -> None:
    assert memspan.build_info()["profile"] == ("proof" if os.environ.get("MEMSPAN_PROOF") else "release")


def test_what_callers_see_is_declared_in_python() -> None:
    stub = ast.parse((Path(memspan.__file__).parent / "_core.pyi").read_text())
    assert {node.name for node in stub.body if isinstance(node, ast.ClassDef)} & set(memspan.__all__) == set()
    for cls in (memspan.Memory, memspan.Message, memspan.Recalled, memspan.Remembered, memspan.Passage):
        documented = set(re.findall(r"^    (\w+): ", inspect.getdoc(cls) or "", re.MULTILINE))
        assert {one.name for one in dataclasses.fields(cls)} - {"_number"} == documented, cls


def test_the_help_that_an_error_names_is_there() -> None:
    """It named `memspan.Slots.declare` and `memspan.load`, which are not there."""
    from memspan._fence import _place_of  # pyright: ignore[reportPrivateUsage]

    places = 0
    for name in ("memspan", *(one for one in MODULES if not one.endswith("__main__"))):
        module = importlib.import_module(name)
        for owner in [module, *(one for one in vars(module).values() if isinstance(one, type) and one.__module__ == name)]:
            for member in vars(owner).values():
                is_guarded = isinstance(member, FunctionType) and member.__code__.co_filename.endswith("_fence.py")
                if is_guarded and hasattr(member, "__wrapped__"):
                    place = _place_of(member.__wrapped__)
                    assert pydoc.locate(place) is member, place
                    places += 1
    assert places > 150
