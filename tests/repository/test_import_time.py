"""What `import memspan` must not take along: each of these costs a millisecond or more, and few programs need it."""

from __future__ import annotations

import dataclasses
import inspect
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import memspan
from memspan._values import dataclass

HEAVY = {
    "asyncio",
    "concurrent.futures",
    "dataclasses",
    "difflib",
    "email",
    "http",
    "importlib.metadata",
    "importlib.resources",
    "inspect",
    "logging",
    "numpy",
    "pathlib",
    "random",
    "rich",
    "shutil",
    "socket",
    "subprocess",
    "tempfile",
    "urllib",
    "uuid",
    "zoneinfo",
}
ON_DEMAND = {
    f"memspan.{name}"
    for name in ("assistant", "cache", "cli", "detectors", "embedders", "evaluation", "maintenance", "providers", "testing")
}


def imported_by(code: str) -> set[str]:
    """The modules that are there after some code and were not before it, in a process of its own."""
    whole = f"import sys; before = set(sys.modules); {code}; print('\\n'.join(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-S", "-c", whole], capture_output=True, text=True, check=True, env=_environment())
    return set(done.stdout.split())


def _environment() -> dict[str, str]:
    return dict(os.environ) | {"PYTHONPATH": str(Path(memspan.__file__).parent.parent)}


def test_the_test_sees_what_is_imported() -> None:
    assert "dataclasses" in imported_by("import dataclasses")


def test_importing_memspan_takes_nothing_heavy_along() -> None:
    modules = imported_by("import memspan")
    assert "memspan.engine" in modules
    assert not modules & (HEAVY | ON_DEMAND)


@pytest.mark.parametrize("name", ["cache", "detectors", "embedders", "providers", "testing"])
def test_a_module_is_there_by_its_name(name: str) -> None:
    """`memspan.detectors` was an AttributeError until somebody imported it."""
    assert f"memspan.{name}" in imported_by(f"import memspan; memspan.{name}")


def test_values_are_those_that_dataclasses_would_make() -> None:
    grant: Any = memspan.Grant(1, weight=2)
    assert repr(grant) == "Grant(floor=1, weight=2, ceiling=None)"
    assert (grant == memspan.Grant(1, 2, None), hash(grant)) == (True, hash((1, 2, None)))
    assert grant != (1, 2, None)
    assert dataclasses.asdict(grant) == {"floor": 1, "weight": 2, "ceiling": None}
    assert dataclasses.replace(grant, floor=0) == memspan.Grant(0, 2)
    assert [field.name for field in dataclasses.fields(memspan.Grant)] == ["floor", "weight", "ceiling"]
    assert str(inspect.signature(memspan.Grant)) == "(floor: 'int' = 0, weight: 'int' = 4, ceiling: 'int | None' = None)"
    assert pickle.loads(pickle.dumps(grant)) == grant  # noqa: S301  our own bytes
    match grant:
        case memspan.Grant(floor, weight, _):
            assert (floor, weight) == (1, 2)


@pytest.mark.parametrize(("given", "named"), [((1, 2, None, 4), {}), ((), {"colour": 1}), ((1,), {"floor": 2})])
def test_a_value_is_made_of_its_fields_alone(given: tuple[Any, ...], named: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="argument"):
        memspan.Grant(*given, **named)
    with pytest.raises(TypeError, match="argument 'text'"):
        memspan.Item()  # type: ignore[call-arg]


def test_what_can_be_set_is_never_hashed() -> None:
    @dataclass()
    class Open:
        name: str

    one = Open("a")
    one.name = "b"
    assert one == Open("b")
    assert Open.__hash__ is None
