#!/usr/bin/env python3
"""Measures what is learnt of the talk of users, and what paraphrased questions find of it, on `lives/`.

    python tools/ranking/lives.py [--only seen,kept_back] [--verbose] [--among SGD.jsonl.gz] [--dialogues 20]

Printed for each set: of how many questions the first five memories have the right value, and of those about a changed value how often
it stands before every older one; of how many the right value is in a current memory; how many prompts of 2,000 tokens in a new session
have the right value, how many show an older one that is not marked, how many show an older one and not the right one, and how many tokens
they have. `--verbose` prints the questions of `seen` that fail. With SGD.jsonl.gz (a dialogue of the Schema-Guided Dialogue set a line:
`turns` of `speaker` and `text`) so many dialogues of it follow each session, as talk of the same user that is about other things.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tempfile
from collections import Counter
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import memspan
import memspan.testing

if TYPE_CHECKING:
    from collections.abc import Iterator

SETS = Path(__file__).parent / "lives"
MODEL = "gpt-4o"
SYSTEM = "You are a helpful assistant."
MOST_TOKENS = 2_000
HITS = 5
# Dialogues are taken from so many places apart, so that those of a kind do not follow each other.
APART = 7
# How a prompt marks what may not hold any more.
MARKED = re.compile(r"newer_on=|disputed|superseded|valid_to=|until=|ended|known_until", re.IGNORECASE)


def has(pattern: str | None, text: str) -> bool:
    return pattern is not None and re.search(pattern, text, re.IGNORECASE) is not None


def is_old(question: dict[str, Any], text: str) -> bool:
    return has(question["old"], text) and not has(question["right"], text)


def dialogues(path: str | None, count: int) -> Iterator[list[list[dict[str, str]]]]:
    """The dialogues that follow each session, as messages."""
    if path is None:
        return cycle([[]])
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = list(islice(file, 0, None, APART))
    role = {"user": "user", "system": "assistant"}
    talks = cycle([{"role": role[turn["speaker"]], "content": turn["text"]} for turn in json.loads(line)["turns"]] for line in lines)
    return (list(islice(talks, count)) for _ in cycle([None]))


def talk(
    user: memspan.Scope, clock: memspan.testing.FakeClock, sessions: list[dict[str, Any]], among: Iterator[list[list[dict[str, str]]]]
) -> None:
    """Has a user's sessions, each turn learnt from as it was said, with other talk behind each, and six days behind them."""
    for number, one in enumerate(sessions):
        clock.set(datetime.fromisoformat(one["at"]).replace(tzinfo=UTC))
        session = user.session(f"s-{number}", model=MODEL, system=SYSTEM)
        for said, reply in one["turns"]:
            session.add({"role": "user", "content": said})
            clock.advance(seconds=20)
            session.add({"role": "assistant", "content": reply})
            clock.advance(seconds=5)
            user.learn(session)
            clock.advance(seconds=95)
        for place, messages in enumerate(next(among)):
            other = user.session(f"s-{number}-{place}", model=MODEL, system=SYSTEM)
            other.add_many(messages)
            clock.advance(seconds=60)
            user.learn(other)
    clock.advance(days=6)


def prompt_of(user: memspan.Scope, name: str, text: str) -> tuple[list[str], int]:
    """The lines of the prompt that a question brings in a new session, and its tokens."""
    session = user.session(name, model=MODEL, system=SYSTEM, budget=memspan.Budget(max_input_tokens=MOST_TOKENS))
    session.add({"role": "user", "content": text})
    prompt = session.assemble()
    messages = prompt.to_openai()["messages"]
    session.delete()
    contents = [[one["content"]] if isinstance(one["content"], str) else [part["text"] for part in one["content"]] for one in messages]
    return [line for parts in contents for part in parts for line in part.split("\n")], prompt.counted_tokens


def measure(life: dict[str, Any], name: str, among: Iterator[list[list[dict[str, str]]]]) -> tuple[Counter[str], list[str]]:
    figures: Counter[str] = Counter()
    failed = []
    clock = memspan.testing.FakeClock()
    with tempfile.TemporaryDirectory() as folder, memspan.open(f"{folder}/store", clock=clock, durability="relaxed") as engine:
        user = engine.user(name)
        talk(user, clock, life["sessions"], among)
        current = [memory.text for memory in user.memories()]
        for number, question in enumerate(life["questions"]):
            right = question["right"]
            hits = [hit.text for hit in user.recall(question["ask"], limit=HITS)]
            lines, tokens = prompt_of(user, f"q-{number}", question["ask"])
            places = [place for place, text in enumerate(hits) if has(right, text)]
            older = [place for place, text in enumerate(hits) if is_old(question, text)]
            shown = any(has(right, line) for line in lines)
            first = bool(places) and (not older or places[0] < older[0])
            figures.update(
                questions=1,
                changed=question["old"] is not None,
                found=bool(places),
                newest_first=question["old"] is not None and first,
                shown=shown,
                stale=any(is_old(question, line) and not MARKED.search(line.split(">")[0]) for line in lines),
                misled=not shown and any(is_old(question, line) for line in lines),
                kept=any(has(right, text) for text in current),
                tokens=tokens,
            )
            if not (first and shown):
                failed.append(f"{name}: {question['ask']}: {'shown' if shown else 'not shown'}, first {hits[:1]}")
    return figures, failed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="seen,kept_back", help="sets, by name")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--among", help="SGD.jsonl.gz")
    parser.add_argument("--dialogues", type=int, default=20)
    given = parser.parse_args()
    for name in given.only.split(","):
        figures: Counter[str] = Counter()
        failed: list[str] = []
        for user, life in json.loads((SETS / f"{name}.json").read_text(encoding="utf-8")).items():
            own, wrong = measure(life, user, dialogues(given.among, given.dialogues))
            figures.update(own)
            failed += wrong
        asked = figures["questions"]
        print(
            f"{name}: {asked} questions; in the first {HITS} memories {figures['found']}, "
            f"newest first {figures['newest_first']} of {figures['changed']} that changed; kept {figures['kept']}; "
            f"in a prompt of {MOST_TOKENS:,} tokens {figures['shown']}, with an unmarked older value {figures['stale']}, "
            f"with an older one alone {figures['misled']}, "
            f"{figures['tokens'] // asked:,} tokens used"
        )
        if given.verbose and name == "seen":
            print("\n".join(failed))


if __name__ == "__main__":
    main()
