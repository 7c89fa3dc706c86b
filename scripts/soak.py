"""Uses a store for a while, and refuses where memory, threads or descriptors grow.

Users come and go: each remembers, recalls, talks, forgets, and is erased; the store is maintained and compacted on the way. A sample of the
process is taken every second. Behind a fifth of the time all must be flat: the median of the last fifth may be above that of the second by
20 % and 8 MiB of memory, by 2 threads, by 4 descriptors.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import memspan

FORGOTTEN = 0.3  # share of what is remembered
LONGEST = 60  # messages of a session
ERASE, MAINTAIN, COMPACT = 200, 100, 400  # turns between two

PAGE = os.sysconf("SC_PAGE_SIZE")


def sample() -> tuple[int, int, int]:
    """Bytes of memory of its own, threads, descriptors."""
    resident, shared = map(int, Path("/proc/self/statm").read_text().split()[1:3])
    threads = len(list(Path("/proc/self/task").iterdir()))
    return (resident - shared) * PAGE, threads, len(list(Path("/proc/self/fd").iterdir()))


def turn(engine: memspan.Engine, chance: random.Random, number: int) -> None:
    """What one user does in a minute."""
    user = engine.user(f"u-{chance.randrange(40)}")
    port = 8000 + number % 1000
    memory = user.remember(f"service-{number % 97} listens on port {port} since build {number}").memory
    user.recall(f"which port does service-{number % 97} use?")
    session = user.session(f"s-{chance.randrange(3)}", "gpt-4o")
    session.add({"role": "user", "content": f"Is service-{number % 97} up on port {port}? " + "Tell me more. " * chance.randrange(40)})
    session.assemble()
    session.add({"role": "assistant", "content": f"It is, on port {port}."})
    if chance.random() < FORGOTTEN:
        user.forget(memory.id)
    if session.messages[-1].index > LONGEST:
        session.delete()
    if number % ERASE == ERASE - 1:
        user.erase(reason="soak")
    if number % MAINTAIN == MAINTAIN - 1:
        engine.maintain(compact=number % COMPACT == COMPACT - 1)


def flat(samples: list[tuple[int, int, int]]) -> list[str]:
    """What grew, one sentence each."""
    fifth = max(1, len(samples) // 5)
    grown = []
    for place, (name, share, room) in enumerate((("memory", 1.2, 8 << 20), ("threads", 1.0, 2), ("descriptors", 1.0, 4))):
        early, late = (statistics.median(one[place] for one in part) for part in (samples[fifth : 2 * fifth], samples[-fifth:]))
        print(f"{name}: {early:,.0f} early, {late:,.0f} late, {max(one[place] for one in samples):,} at most")
        if late > early * share + room:
            grown.append(f"{name} grew from {early:,.0f} to {late:,.0f}")
    return grown


def main() -> int:
    """Runs it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--encrypted", action="store_true")
    parser.add_argument("--leak", action="store_true", help="a control: leaks on purpose, and must be refused")
    options = parser.parse_args()
    chance, samples, number, leaked = random.Random(7), [], 0, []  # noqa: S311  the same in every run
    with tempfile.TemporaryDirectory() as folder:
        engine = memspan.open(Path(folder) / "soak.memspan", key=os.urandom(32) if options.encrypted else None, durability="relaxed")
        ends, next_sample = time.monotonic() + options.minutes * 60, 0.0
        while (now := time.monotonic()) < ends:
            turn(engine, chance, number)
            number += 1
            if options.leak:
                leaked.append(bytearray(os.urandom(64 << 10)))
            if now >= next_sample:
                samples.append(sample())
                next_sample = now + 1
        sound = engine.check().sound
        engine.close()
    print(f"{number:,} turns, {len(samples)} samples, sound: {sound}")
    grown = flat(samples)
    print("\n".join(grown) or "flat")
    return 0 if sound and not grown else 1


if __name__ == "__main__":
    sys.exit(main())
