"""What was measured, as a table: medians, their ratio, 99th percentiles, and the machine that they hold for."""

from __future__ import annotations

import os
import platform
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Samples = dict[str, list[float]]

T = TypeVar("T")
P = ParamSpec("P")
OURS = "memspan"


@dataclass(frozen=True)
class Row:
    """One line of the table: what was measured, in which unit, one list of samples a side. A side may be missing."""

    what: str
    unit: str
    samples: Samples
    note: str = ""

    @property
    def rival(self) -> str | None:
        """Whom memspan was measured against."""
        return next((name for name in self.samples if name != OURS), None)

    def cells(self) -> Iterator[str]:
        """Its columns."""
        scale = 1e3 if self.unit == "ms" else 1e-6
        names = [OURS] if self.rival is None else [OURS, self.rival]
        medians = [statistics.median(self.samples[name]) * scale for name in names]
        tails = [f"{_percentile(self.samples[name], 99) * scale:.3g}" if len(self.samples[name]) >= 100 else "" for name in names]
        yield self.what
        yield from _padded([f"{median:.3g} {self.unit}" for median in medians])
        yield f"{medians[1] / medians[0]:.1f}x" if self.rival else ""
        yield from _padded(tails)
        yield " / ".join(str(number) for number in dict.fromkeys(len(self.samples[name]) for name in names))
        yield self.rival or ""


def table(rows: Iterable[Row]) -> Iterator[str]:
    """The rows as Markdown."""
    yield "| what | memspan p50 | rival p50 | ratio | memspan p99 | rival p99 | n | rival |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        yield "| " + " | ".join(row.cells()) + " |" + (f"  {row.note}" if row.note else "")


def timed(samples: list[float], work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Does it, and notes the seconds."""
    started = time.perf_counter()
    done = work(*args, **kwargs)
    samples.append(time.perf_counter() - started)
    return done


def machine() -> str:
    """The machine that the figures hold for, and how busy it is."""
    names = [line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    system = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {system}"


def _padded(cells: list[str]) -> list[str]:
    return [*cells, ""][:2]


def _percentile(values: list[float], percent: int) -> float:
    return statistics.quantiles(values, n=100)[percent - 1]
