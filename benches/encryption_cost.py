"""What encryption costs: each call on a plain store and on an encrypted one in turn, medians and their ratio.

A recall may take 1.5 times as long and a write 1.2 times. `first` is the first recall of a process, when nothing is decrypted yet; `cold`
the first behind `open` in a process that opens stores again and again.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import memspan

if TYPE_CHECKING:
    from collections.abc import Callable

MOST = {"recall": 1.5, "first": 1.5, "cold": 1.5, "assemble": 1.5, "remember": 1.2, "session.add": 1.2}
KEY = bytes(range(32))
COLD = 20  # rounds of opening, at most


def texts(count: int) -> list[str]:
    return [f"service-{n % 97} in zone {n % 13} listens on port {8000 + n} since build {n * 7 % 1009}" for n in range(count)]


def opened(path: Path, encrypted: bool) -> memspan.Engine:
    return memspan.open(path, key=KEY) if encrypted else memspan.open(path)


def timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def calls(engine: memspan.Engine) -> dict[str, Callable[[int], object]]:
    """What is timed while a store is open, by its name."""
    user = engine.user("u")
    session = user.session("s", model="gpt-4o")
    return {
        "recall": lambda n: user.recall(f"which port does service-{n % 97} use?"),
        "remember": lambda n: user.remember(f"service-{n} moved to zone {n % 7}"),
        "session.add": lambda n: session.add({"role": "user", "content": f"Is service-{n} up?"}),
        "assemble": lambda _: session.assemble(),
    }


def cold(path: Path, encrypted: bool) -> float:
    with opened(path, encrypted) as engine:
        return timed(lambda: engine.user("u").recall("which port does service-7 use?"))


def first(path: Path, encrypted: bool) -> float:
    """`cold` in a process of its own."""
    command = [sys.executable, __file__, "--first", str(path), *(["--encrypted"] if encrypted else [])]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def measure(folder: Path, memories: int, rounds: int) -> dict[str, tuple[float, float]]:
    """Medians in microseconds, plain and encrypted."""
    paths = {encrypted: folder / f"encrypted-{encrypted}" for encrypted in (False, True)}
    for encrypted, path in paths.items():
        with opened(path, encrypted) as engine:
            engine.user("u").remember_many(texts(memories))
    found: dict[str, dict[bool, list[float]]] = {}
    for name, opens in (("first", first), ("cold", cold)):
        found[name] = {False: [], True: []}
        for _ in range(min(rounds, COLD)):
            for encrypted, path in paths.items():
                found[name][encrypted].append(opens(path, encrypted))
    engines = {encrypted: opened(path, encrypted) for encrypted, path in paths.items()}
    timing = {encrypted: calls(engine) for encrypted, engine in engines.items()}
    for name in timing[False]:
        found[name] = {False: [], True: []}
        for n in range(rounds):
            for encrypted, by_name in timing.items():
                found[name][encrypted].append(timed(partial(by_name[name], n)))
    for engine in engines.values():
        engine.close()
    return {name: (statistics.median(sides[False]) * 1e6, statistics.median(sides[True]) * 1e6) for name, sides in found.items()}


def main() -> int:
    """Runs it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--first", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--encrypted", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.first is not None:
        print(cold(options.first, options.encrypted))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), options.memories, options.rounds)
    dear = [name for name, (plain, encrypted) in found.items() if encrypted > MOST[name] * plain]
    print(f"{'':12} {'plain us':>10} {'encrypted':>10} {'ratio':>6} {'at most':>7}")
    for name, (plain, encrypted) in found.items():
        print(f"{name:12} {plain:10.1f} {encrypted:10.1f} {encrypted / plain:6.2f} {MOST[name]:7.1f}")
    return 1 if dear else 0


if __name__ == "__main__":
    sys.exit(main())
