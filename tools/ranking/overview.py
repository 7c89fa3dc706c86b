#!/usr/bin/env python3
"""Measures questions that ask for what lies in a time, or for all about the user (`recall/overview.rs`), on `overview_questions.py`.

    python tools/ranking/overview.py

Printed for each set: of how many questions recall, the search of transcripts and the prompt of a new session give what answers, and
nothing of another day. Of questions about the user: recall begins with what binds, and the prompt shows the facts. Of all others: none is
taken for one of these. `--verbose` prints each question of DEVELOPED that fails.
"""

from __future__ import annotations

import argparse
import tempfile
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from overview_questions import (
    OTHERS_DEVELOPED,
    OTHERS_KEPT_BACK,
    TIME_DEVELOPED,
    TIME_KEPT_BACK,
    USER_DEVELOPED,
    USER_KEPT_BACK,
)

import memspan
import memspan.testing

if TYPE_CHECKING:
    from collections.abc import Iterable

NOW = datetime(2026, 6, 20, 18, tzinfo=UTC)
SAID = {
    "05-04": "I bought a red bicycle from Marco for 300 euros.",
    "05-24": "I ran a half marathon in Braga in 1:52.",
    "05-26": "My laptop broke and I ordered a ThinkPad.",
    "06-09": "The dentist pulled a tooth of mine.",
    "06-13": "We visited the Gulbenkian museum.",
    "06-15": "I planted tomatoes on the balcony.",
    "06-18": "We signed the lease for the flat in Porto.",
    "06-19": "I had dinner with Ana at Casa Lisboa.",
    "06-20": "I baked a sourdough loaf.",
}
# Asked in sessions of their own, on days that the questions ask about: they answer nothing.
ASKED = {
    "05-26": "What did I do yesterday?",
    "06-13": "What did I tell you last week?",
    "06-18": "Which bread is easy?",
    "06-19": "What happened in May?",
}
FACTS = (
    ("Is allergic to peanuts", "constraint"),
    ("Is called Joana Reis", "profile"),
    ("Prefers short answers", "preference"),
    ("Works as a nurse at Hospital da Luz", "semantic"),
    ("Has two daughters", "semantic"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    clock = memspan.testing.FakeClock(NOW)
    with tempfile.TemporaryDirectory() as folder, memspan.open(f"{folder}/store", clock=clock) as engine:
        user = engine.user("joana")
        fill(user, clock)
        sets = (
            ("developed", TIME_DEVELOPED, USER_DEVELOPED, OTHERS_DEVELOPED, options.verbose),
            ("kept back", TIME_KEPT_BACK, USER_KEPT_BACK, OTHERS_KEPT_BACK, False),
        )
        for name, time, about, others, verbose in sets:
            print_set(name, [of_time(user, question, days) for question, days in time.items()], list(time), verbose=verbose)
            print_set(f"{name}, the user", [of_user(user, question) for question in about], about, verbose=verbose)
            print_set(f"{name}, others", [{"left alone": is_left_alone(user, question)} for question in others], others, verbose=verbose)


def fill(user: memspan.Scope, clock: memspan.testing.FakeClock) -> None:
    """Sixty days of a user: something said on some of them, small talk on all, and facts from before."""
    clock.set(NOW - timedelta(days=60))
    user.remember_many([{"text": text, "kind": kind} for text, kind in FACTS])
    for days in range(59, -1, -1):
        clock.set((NOW - timedelta(days=days)).replace(hour=9))
        day = f"{clock():%m-%d}"
        for text in filter(None, (SAID.get(day), ASKED.get(day))):
            session = user.session(f"{day} {text[:9]}", model="gpt-4o")
            session.add_many([{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}])
        if day in SAID:
            user.remember(SAID[day], kind="episodic")
    clock.set(NOW)


def of_time(user: memspan.Scope, question: str, days: Iterable[str]) -> dict[str, bool]:
    """Whether each way to ask has all that was said on these days, and nothing of another."""
    wanted = {SAID[day] for day in days}
    ways = {"recall": [hit.text for hit in user.recall(question)], "transcripts": [hit.text for hit in user.search_transcripts(question)]}
    found = {name: answers(" ".join(texts), wanted) for name, texts in ways.items()}
    in_order = [text for text in ways["recall"] if text in wanted]
    return {
        **found,
        "in order": in_order == sorted(in_order, key=list(SAID.values()).index),
        "prompt": answers(prompt_of(user, question), wanted),
    }


def answers(text: str, wanted: set[str]) -> bool:
    return all((said in text) == (said in wanted) for said in SAID.values()) and not any(asked in text for asked in ASKED.values())


def of_user(user: memspan.Scope, question: str) -> dict[str, bool]:
    texts = [hit.text for hit in user.recall(question, 20)]
    shown = prompt_of(user, question)
    facts = [text for text, _ in FACTS]
    return {
        "recall": set(texts[:3]) == set(facts[:3]) and set(texts[:5]) == set(facts),
        "prompt": all(text in shown for text in facts) and "half marathon" in shown,
    }


def prompt_of(user: memspan.Scope, question: str) -> str:
    """The prompt of a new session without the question itself."""
    session = user.session("asked", model="gpt-4o")
    session.add({"role": "user", "content": question})
    text = session.assemble().text
    session.delete()
    return text.replace(question, "", 1) if text.count(question) == 1 else "".join(text.rsplit(question, 1))


def is_left_alone(user: memspan.Scope, question: str) -> bool:
    by_time = any(hit.score > 1 - 1e-6 for hit in user.search_transcripts(question))
    return not by_time and not any("overview" in hit.explain().parts for hit in user.recall(question))


def print_set(name: str, results: list[dict[str, bool]], questions: Iterable[str], *, verbose: bool) -> None:
    ways = results[0]
    print(f"{name:22}", *(f"{way} {sum(one[way] for one in results)}/{len(results)}" for way in ways), sep="   ")
    for question, result in zip(questions, results, strict=True):
        if verbose and not all(result.values()):
            print("   ", question, [way for way, right in result.items() if not right])


if __name__ == "__main__":
    main()
