"""What all benches share: a release build or nothing, one thread for every library, both sides loaded once.

Sizes come from the environment: MEMSPAN_BENCH_MEMORIES (100,000 by default). The tests run every bench on a few hundred, so that none rots.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # before numpy is imported, or it has no effect

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import corpus
import memspan
from sides import SIDES, Side

if TYPE_CHECKING:
    from collections.abc import Iterator

MEMORIES = int(os.environ.get("MEMSPAN_BENCH_MEMORIES", "100000"))


def pytest_sessionstart() -> None:
    profile = memspan.build_info()["profile"]
    if profile == "debug":
        raise pytest.UsageError(f"benches time a release build, this is a {profile} build: run `make bench`, or `make build` first")


def alternated(*names: str, passes: int = 3) -> pytest.MarkDecorator:
    """Runs a bench for each name, and all of them again: what slows the machine down for a while hits every side."""
    return pytest.mark.parametrize(("side", "_pass"), [(name, turn) for turn in range(passes) for name in names])


@pytest.fixture(scope="session")
def memories() -> int:
    return MEMORIES


@pytest.fixture(scope="session")
def rows() -> list[corpus.Memory]:
    return list(corpus.memories(MEMORIES))


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory, rows: list[corpus.Memory]) -> dict[str, Path]:
    """One loaded and closed store for each side."""
    made = {}
    for name, open_side in SIDES.items():
        made[name] = tmp_path_factory.mktemp(name)
        side = open_side(made[name])
        side.load(rows)
        side.close()
    return made


@pytest.fixture(scope="session")
def opened(folders: dict[str, Path]) -> Iterator[dict[str, Side]]:
    """Both sides, loaded and open."""
    sides = {name: SIDES[name](folder) for name, folder in folders.items()}
    yield sides
    for side in sides.values():
        with suppress(Exception):
            side.close()
