#!/usr/bin/env python3
"""Counting, ours against tiktoken: the same generated texts, in turns, medians and ratios.

    pip install tiktoken && python tools/bench_tiktoken.py

`cargo bench --bench count` times ours and writes the texts; tiktoken is timed here on each message of them, one Python call a
message. Both sides see every message for the first time. TIKTOKEN_CACHE_DIR may name a folder with tiktoken's files.
"""

import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import tiktoken

BENCH = ["cargo", "bench", "-q", "-p", "memspan-engine", "--bench", "count", "--"]
LINE = re.compile(r"^(unseen|1 MB) +(\w+) +(\w+) +([\d.]+) ", re.MULTILINE)


def ours() -> dict[tuple[str, str], float]:
    """Encoding and text to nanoseconds a byte, or milliseconds for the slow texts."""
    output = subprocess.run(BENCH, check=True, capture_output=True, text=True).stdout
    return {(name, text): float(cost) for _, name, text, cost in LINE.findall(output)}


def tiktokens(folder: Path) -> dict[tuple[str, str], float]:
    costs = {}
    for name in ("o200k_base", "cl100k_base"):
        encoding = tiktoken.get_encoding(name)
        for file in sorted(folder.glob("*.txt")):
            slow = file.stem.startswith("slow_")
            messages = [file.read_text()] if slow else file.read_text().split("\0")
            try:
                times = [cost(encoding, message) for message in messages]
            except BaseException as error:  # a panic inside tiktoken is no Exception
                print(f"tiktoken {name} on {file.stem}: {type(error).__name__}", file=sys.stderr)
                continue
            costs[name, file.stem.removeprefix("slow_")] = times[0] / 1e6 if slow else statistics.median(times)
    return costs


def cost(encoding: tiktoken.Encoding, message: str) -> float:
    """Nanoseconds a byte; of a megabyte, nanoseconds."""
    size = len(message.encode())
    start = time.perf_counter_ns()
    encoding.encode_ordinary(message)
    return (time.perf_counter_ns() - start) / (1 if size > 900_000 else size)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*BENCH, "--write", folder], check=True)
        pairs = [(ours(), tiktokens(Path(folder))) for _ in range(rounds)]
    for key in pairs[0][0]:
        mine = statistics.median(own[key] for own, _ in pairs)
        theirs = [rival[key] for _, rival in pairs if key in rival]
        ratio = f"{statistics.median(theirs):9.2f}  {statistics.median(theirs) / mine:6.1f}x" if theirs else "   panics"
        print(f"{key[0]:12} {key[1]:12} {mine:9.2f} {ratio}")


if __name__ == "__main__":
    main()
