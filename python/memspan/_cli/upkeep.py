"""Commands that keep a store in order."""

from __future__ import annotations

import json
import signal
import sys
import time
from typing import TYPE_CHECKING

import memspan
from memspan._cli.opening import check_folder, key_of, open_store
from memspan._cli.printing import say

if TYPE_CHECKING:
    import argparse

__all__ = ["maintain", "reembed"]


def maintain(options: argparse.Namespace) -> int:
    """Maintains a store once, or until it is interrupted."""
    if options.every is not None:
        return _maintain_every(options, _seconds(options.every))
    with open_store(options, read_only=False) as engine:
        report = engine.maintain(compact=options.compact)
    say(options, vars(report), "\n".join(f"{name}: {value:,}" for name, value in vars(report).items()))
    return 0


def _seconds(text: str) -> float:
    """A time such as 90s, 30m, 24h or 7d."""
    units = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
    number, unit = text[:-1], text[-1:]
    if unit in units and number.isdecimal() and int(number) > 0:
        return int(number) * units[unit]
    raise memspan.InvalidInput(f"maintaining a store: --every is a whole number with s, m, h or d behind it, and it is {text!r}: write 24h")


def _maintain_every(options: argparse.Namespace, seconds: float) -> int:
    """Maintains until it is interrupted; each report is a line."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with open_store(options, read_only=False) as engine, engine.maintenance(seconds, compact=options.compact) as running:
        reported = None
        while True:
            time.sleep(0.2)
            if running.report is not None and running.report is not reported:
                reported = running.report
                print(json.dumps(vars(reported)), flush=True)


def reembed(options: argparse.Namespace) -> int:
    """Replaces the vectors of other embedders."""

    def progress(made: int, missing: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{made:,} of {missing:,}", end="" if made < missing else "\n", file=sys.stderr, flush=True)

    check_folder(options.store)
    with memspan.open(options.store, embedder=memspan.embedding.BuiltIn(), key=key_of(options)) as engine:
        report = engine.reembed(progress=progress)
    say(options, vars(report), "\n".join(f"{name}: {value:,}" for name, value in vars(report).items()))
    return 0
