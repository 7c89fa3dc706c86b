"""Maintenance that runs by itself: one at a time, its report kept, and no error ends it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

import memspan
from memspan import cli

if TYPE_CHECKING:
    from pathlib import Path


def test_maintain_every_goes_on_until_it_is_interrupted(store: Path) -> None:
    with memspan.open(store) as engine:
        engine.user("u").remember("Prefers tea", ttl_seconds=0.1)
    time.sleep(0.2)
    command = [sys.executable, "-m", "memspan.cli", "maintain", str(store), "--every", "1s"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        reports = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) in {130, 0, 1}
    assert [report["expired"] for report in reports] == [1, 0]
    with memspan.open(store) as engine:
        assert list(engine.user("u").memories()) == []
        assert engine.maintenance().last is not None
    assert cli.main(["maintain", str(store), "--every", "0s"]) != 0


def test_one_maintainer_at_a_time_and_its_report_is_kept(memspan_engine: memspan.Engine) -> None:
    memspan_engine.user("u").remember("Prefers tea")
    with memspan_engine.maintenance(every=timedelta(hours=1)) as first:
        report = first.wait_for_report(30)
        with memspan_engine.maintenance(every=timedelta(hours=1)) as second, pytest.raises(memspan.StateError, match="another process"):
            second.wait_for_report(0.5)
    assert report.expired == 0
    last = memspan_engine.maintenance().last
    assert last is not None
    assert last["expired"] == 0
    with pytest.raises(memspan.InvalidInput, match="every="):
        memspan_engine.maintenance(every=0)


@pytest.mark.parametrize("raised", [RuntimeError("the clock broke"), ZeroDivisionError(), AssertionError()])
def test_whatever_raises_is_kept_and_told_and_tried_again(store: Path, caplog: pytest.LogCaptureFixture, raised: Exception) -> None:
    """An error of the caller's own clock ended the thread: no report, no `error`, and retention never ran again."""
    breaks = False

    def clock() -> datetime:
        if breaks:
            raise raised
        return datetime.now(UTC)

    with memspan.open(store, clock=clock) as engine:
        engine.user("u").remember("Prefers tea")
        breaks = True
        with engine.maintenance(every=1, retention=memspan.Retention(sessions_days=1)) as running:
            with pytest.raises(memspan.StateError, match="no report"):
                running.wait_for_report(0.5)
            assert running.error is raised
            assert "failed, and is tried again" in caplog.text
            breaks = False
            assert running.wait_for_report(30).expired == 0
            assert running.error is None


def test_no_link_is_followed_in_the_place_of_the_report(memspan_engine: memspan.Engine, tmp_path: Path) -> None:
    """The report was written over whatever file the link led to."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (memspan_engine.path / "maintenance").symlink_to(victim)
    with memspan_engine.maintenance(every=1) as running, pytest.raises(memspan.StateError):
        running.wait_for_report(0.5)
    assert isinstance(running.error, OSError)
    assert victim.read_text() == "precious"
    assert memspan_engine.maintenance().last is None
