#!/usr/bin/env python3
"""What share of a question's evidence stands in the prompt that the question brings, in a session that begins with it.

    python tools/transcripts/in_prompts.py LOCOMO.json [--limits 2000,4000,8000]

Every question of the categories 1 to 4 is asked in a new session. A turn counts where the first or the last 50 characters of its text stand
in a message of the prompt.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

import locomo

import memspan

LETTERS = 50


def shown(prompt: memspan.Prompt) -> str:
    """The text of every message."""
    contents = [message["content"] for message in prompt.to_openai()["messages"]]
    return "\n".join(one if isinstance(one, str) else " ".join(part.get("text", "") for part in one) for one in contents)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("data", type=Path)
    options.add_argument("--limits", default="2000,4000,8000", help="tokens of a prompt")
    chosen = options.parse_args()
    limits = [int(limit) for limit in chosen.limits.split(",")]
    shares: dict[int, list[float]] = {limit: [] for limit in limits}
    tokens: dict[int, list[int]] = {limit: [] for limit in limits}
    with tempfile.TemporaryDirectory() as folder, memspan.open(f"{folder}/a.memspan", durability="relaxed") as engine:
        for sample in locomo.conversations(chosen.data):
            user = engine.user(sample["sample_id"])
            questions = locomo.load(user, sample)
            said = {(one.id, at): message.text for one in user.sessions() for at, message in enumerate(user.session(one.id).messages)}
            session = user.session("asks", model="gpt-4o")
            for question in questions:
                if question.category not in locomo.JUDGED:
                    continue
                evidence = [said[place] for place in question.evidence]
                for limit in limits:
                    prompt = session.assemble(question.text, max_input_tokens=limit)
                    text = shown(prompt)
                    there = sum(one[:LETTERS] in text or one[-LETTERS:] in text for one in evidence)
                    shares[limit].append(there / len(evidence))
                    tokens[limit].append(prompt.total_tokens)
    for limit in limits:
        share, size = statistics.mean(shares[limit]), statistics.mean(tokens[limit])
        print(f"{limit:6,} tokens: {100 * share:.1f} % of the evidence, {size:,.0f} tokens used, {len(shares[limit])} questions")


if __name__ == "__main__":
    main()
