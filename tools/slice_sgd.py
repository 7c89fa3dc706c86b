"""Cuts the example conversation out of the Schema-Guided Dialogue set: dialogues strung together into sessions of one user.

    python tools/slice_sgd.py TRAIN.jsonl.gz examples/data/conversation.jsonl

TRAIN.jsonl.gz has one dialogue a line: `id`, `services`, and `turns` of `speaker`, `text` and, for the user, the `state` after it
(values by slot). The slice takes dialogues in the file's order, the first of each combination of services, then the next of each, until
about 1,000 messages are there, and strings them together into three sessions. Of the state it keeps what each message changed.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import defaultdict
from itertools import islice, zip_longest
from pathlib import Path

MESSAGES = 1_000
SESSIONS = (11, 11, None)  # dialogues of each; the last has the rest, more than a small window holds


def main() -> None:
    """Reads the dialogues and writes the sessions."""
    source, target = map(Path, sys.argv[1:])
    with gzip.open(source, "rt", encoding="utf-8") as file:
        chosen = choose([json.loads(line) for line in file])
    dialogues = iter(chosen)
    with target.open("w", encoding="utf-8") as out:
        for number, size in enumerate(SESSIONS, 1):
            messages = [row for dialogue in islice(dialogues, size) for row in rows(dialogue)]
            out.write(json.dumps({"session": f"s-{number}", "messages": messages}, ensure_ascii=False) + "\n")


def choose(dialogues: list[dict]) -> list[dict]:
    """One dialogue of each combination of services, then the next of each, up to the number of messages."""
    by_services: dict[tuple[str, ...], list[dict]] = defaultdict(list)
    for dialogue in dialogues:
        by_services[tuple(sorted(dialogue["services"]))].append(dialogue)
    in_turn = [dialogue for group in zip_longest(*by_services.values()) for dialogue in group if dialogue is not None]
    chosen, messages = [], 0
    for dialogue in in_turn:
        if messages >= MESSAGES:
            break
        chosen.append(dialogue)
        messages += len(dialogue["turns"])
    return chosen


def rows(dialogue: dict) -> list[dict]:
    """The messages of a dialogue, each with its source; those of the user with what they changed in the state."""
    known: dict[str, list[str]] = {}
    made = []
    for turn, said in enumerate(dialogue["turns"]):
        row = {"role": "user" if said["speaker"] == "user" else "assistant", "content": said["text"], "source": f"{dialogue['id']}/{turn}"}
        if facts := {slot: values[0] for slot, values in said.get("state", {}).items() if known.get(slot) != values}:
            row["facts"] = facts
        known = said.get("state", known)
        made.append(row)
    return made


if __name__ == "__main__":
    main()
