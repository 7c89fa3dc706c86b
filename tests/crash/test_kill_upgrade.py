"""kill -9 while a store of each earlier format is brought to today's: it is the old one or the new one, and all that it held is found."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import memspan
from memspan.testing import FakeClock
from tests.golden.test_golden import FORMATS, assert_found

OPENER = """
import sys, memspan
print("ready", flush=True)
memspan.open(sys.argv[1], embedder=None)
print("done", flush=True)
sys.stdin.read()
"""
EARLIER = FORMATS[:-1]
KILLS = 3  # of one store, one behind the other, before it may come to its end


def opener(store: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", OPENER, str(store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def seconds_of_an_upgrade(golden: Path, folder: Path) -> float:
    process = opener(shutil.copytree(golden / "store", folder / "timed"))
    began = time.monotonic()
    assert process.stdout is not None
    assert process.stdout.readline() == "done\n"
    took = time.monotonic() - began
    process.communicate()
    return took


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("golden", EARLIER, ids=[golden.name for golden in EARLIER])
def test_an_upgrade_that_dies_is_gone_on_with(golden: Path, tmp_path: Path, rounds: int) -> None:
    chance = random.Random(int(golden.name[-1]))  # noqa: S311  the same chances in every run
    took = seconds_of_an_upgrade(golden, tmp_path)
    expected = json.loads((golden / "expected.json").read_text())["scopes"]
    in_the_middle = 0
    for number in range(max(rounds // 3, 3)):
        store = shutil.copytree(golden / "store", tmp_path / f"{number}.memspan")
        for _ in range(KILLS):
            process = opener(store)
            time.sleep(chance.random() * took)
            process.kill()
            out, _ = process.communicate()
            in_the_middle += "done" not in out
        with memspan.open(store, clock=FakeClock(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=40))) as engine:
            for scope in expected:
                assert_found(engine, scope)
        assert sorted(path.name.split("-")[0] for path in store.iterdir()) == ["CURRENT", "door", "gen", "lock", "open"]
        shutil.rmtree(store)
    assert in_the_middle > 0, "no upgrade was killed before its end"
