"""What pip gets: no dependency at run time, every part in its place, a debug build that owns up."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import distribution, entry_points, requires
from pathlib import Path
from typing import Any

import pytest

import memspan

ROOT = Path(__file__).parent.parent.parent
WARNING = "debug build"


def test_the_base_install_needs_nothing() -> None:
    assert [line for line in requires("memspan") or [] if "extra ==" not in line] == []


def test_importing_memspan_needs_nothing() -> None:
    code = """
import importlib.metadata, sys
before = set(sys.modules)
import memspan, memspan.testing
owners = importlib.metadata.packages_distributions()
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted({owner for name in new for owner in owners.get(name, [])}))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert set(done.stdout.split()) <= {"memspan"}


def test_everything_but_arrays_works_without_numpy(tmp_path: Path) -> None:
    code = """
import sys
sys.modules["numpy"] = None
import memspan
from memspan.testing import FakeEmbedder
rows = memspan.embedding.BuiltIn().embed(["port 8443", "tea"])
assert [len(row) for row in rows] == [256, 256], rows
with memspan.open(sys.argv[1], embedder=FakeEmbedder()) as engine:
    user = engine.user("u")
    user.remember("Prefers tea")
    user.remember("Runs on port 8443", vector=list(FakeEmbedder().embed(["port"])[0]))
    assert user.recall("tea").mode == "hybrid"
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.memspan")], check=True)


def test_importing_memspan_is_quick() -> None:
    # Instructions do not depend on what else the machine does; seconds do. So the test counts what is imported.
    code = "import sys; before = set(sys.modules); import memspan; print(len(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert int(done.stdout) <= 112


def test_types_plugin_and_licence_are_in_the_package() -> None:
    assert (Path(memspan.__file__).parent / "py.typed").is_file()
    assert entry_points(group="pytest11", name="memspan")
    metadata = distribution("memspan").metadata
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata.get_all("License-File") == [
        "LICENSE",
        "NOTICE",
        *sorted(f"licenses/{file.name}" for file in (ROOT / "licenses").iterdir()),
    ]


def test_every_linked_crate_that_asks_for_its_licence_text_is_named() -> None:
    """A crate that offers Apache-2.0 is used under that, whose text is LICENSE."""
    command = ["cargo", "metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", "x86_64-unknown-linux-gnu"]
    graph = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout)
    packages = {package["id"]: package for package in graph["packages"]}
    needs = {node["id"]: [one["pkg"] for one in node["deps"] if {"kind": None} in _kinds(one)] for node in graph["resolve"]["nodes"]}
    linked, waiting = set[str](), [one["id"] for one in graph["packages"] if one["name"] == "memspan-python"]
    while waiting:
        if (one := waiting.pop()) not in linked:
            linked.add(one)
            waiting += [need for need in needs[one] if "proc-macro" not in packages[need]["targets"][0]["kind"]]
    texts = "".join(file.read_text() for file in [*(ROOT / "licenses").iterdir(), ROOT / "NOTICE"])
    asking = {packages[one]["name"] for one in linked if not re.search(r"Apache-2\.0|Unicode-3\.0", packages[one]["license"])}
    assert len(asking) > 10, "the control"
    assert {name for name in asking if not re.search(rf"\b{name}\b", texts)} == set()


def _kinds(dependency: dict[str, Any]) -> list[dict[str, None]]:
    return [{"kind": one["kind"]} for one in dependency["dep_kinds"]]


def test_the_engine_is_small_enough_for_a_wheel() -> None:
    [module] = Path(memspan.__file__).parent.glob("_core*.so")
    assert module.stat().st_size < 40_000_000  # about half of it once zipped: a wheel stays under 20 MB


def test_a_debug_build_warns_on_import() -> None:
    # What a debug build says of itself is put into the release build that is here; `make soak` makes a real one.
    code = """
import importlib, memspan
release = memspan.build_info()
memspan._core.build_info = lambda: release | {"profile": "debug"}
importlib.reload(memspan)
"""
    done = subprocess.run([sys.executable, "-W", "always", "-c", code], check=True, capture_output=True, text=True)
    assert WARNING in done.stderr


@pytest.mark.timeout(600)  # builds the debug form, which nothing else needs
def test_a_debug_build_owns_up(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    if not request.config.getoption("--soak"):
        pytest.skip("compiles the engine once more: --soak")
    target = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
    build = ["cargo", "build", "--quiet", "--locked", "--package", "memspan-python"]
    environment = {k: v for k, v in os.environ.items() if k != "MEMSPAN_PROOF"} | {
        "PYO3_BUILD_EXTENSION_MODULE": "1",
        "PYO3_PYTHON": sys.executable,
    }
    subprocess.run(build, cwd=ROOT, env=environment, check=True)
    shutil.copytree(ROOT / "python" / "memspan", tmp_path / "memspan", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    [library] = [*(target / "debug").glob("lib_core.so"), *(target / "debug").glob("lib_core.dylib")]
    shutil.copy(library, tmp_path / "memspan" / "_core.abi3.so")
    code = "import memspan; print(memspan.__file__, memspan.build_info()['profile'])"
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", code],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == [str(tmp_path / "memspan" / "__init__.py"), "debug"]
    assert WARNING in done.stderr
