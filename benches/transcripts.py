#!/usr/bin/env python3
"""How well and how fast `search_transcripts` finds what was said: LoCoMo's evidence turns, and searches over many messages.

    python benches/transcripts.py LOCOMO.json [--messages 50000]

LOCOMO.json is the file of the data set (Maharana et al., 2024; CC BY-NC 4.0). Printed: recall@5, 10 and 20 of the evidence turns of
categories 1 to 4 and by category, and the median and 99th percentile of a search; with --messages also those of searches in one scope with
so many messages of conversations from `corpus`, which are added without a sync and are no part of the figure.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "tools" / "transcripts"))

from locomo import CATEGORIES, JUDGED, conversations, load

import corpus
import memspan

KS = (5, 10, 20)


def times(label: str, seconds: list[float]) -> None:
    ordered = sorted(seconds)
    print(f"{label}: p50 {1e3 * statistics.median(ordered):.3f} ms, p99 {1e3 * ordered[int(0.99 * len(ordered))]:.3f} ms of {len(ordered)}")


def quality(engine: memspan.Engine, data: Path) -> None:
    shares: dict[int, list[list[float]]] = {}
    seconds = []
    for number, sample in enumerate(conversations(data)):
        user = engine.user(f"locomo-{number}")
        for asked in load(user, sample):
            began = time.perf_counter()
            hits = user.search_transcripts(asked.text, limit=max(KS))
            seconds.append(time.perf_counter() - began)
            places = [(hit.session_id, hit.index) for hit in hits]
            shares.setdefault(asked.category, []).append([len(asked.evidence.intersection(places[:k])) / len(asked.evidence) for k in KS])
    judged = [share for category in JUDGED for share in shares.get(category, [])]
    print(f"{len(judged)} questions:", ", ".join(f"R@{k} {100 * statistics.mean(s[at] for s in judged):.1f}" for at, k in enumerate(KS)))
    for category, those in sorted(shares.items()):
        print(f"  {CATEGORIES[category]}: R@10 {100 * statistics.mean(share[1] for share in those):.1f} of {len(those)}")
    times("a search", seconds)


def speed(engine: memspan.Engine, messages: int) -> None:
    user, seconds = engine.user("many"), []
    for first in range(0, messages, 500):
        user.session(f"s-{first}", model="gpt-4o").add_many(corpus.conversation(min(500, messages - first), first=first))
    texts = [user.session(f"s-{first}").messages[first % 400].text for first in range(0, messages, 500)]
    for number in range(400):
        words = texts[number % len(texts)].split()
        question = " ".join(words[number % max(len(words) - 6, 1) :][:6])
        began = time.perf_counter()
        user.search_transcripts(question, limit=10)
        seconds.append(time.perf_counter() - began)
    times(f"a search of {messages:,} messages", seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--messages", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, memspan.open(Path(folder) / "s.memspan", durability="relaxed") as engine:
        if given.data:
            quality(engine, given.data)
        if given.messages:
            speed(engine, given.messages)


if __name__ == "__main__":
    main()
