#!/usr/bin/env python3
"""Fits what ranks memories, and how sure an answer is: constants of `recall/ranking.rs`, module `memories`.

    pip install numpy; maturin develop --release
    python tools/ranking/fit.py EVIDENCE.jsonl.gz [--test LOCOMO.json]

EVIDENCE is a file as `tools/transcripts/evidence.py` reads it, with the sources FriendsQA (Yang and Choi, 2019) and RealMemBench (2026),
both Apache-2.0. The folder `written` beside that script adds Talks and Assistants, which are ours. Every turn becomes a memory "speaker:
text". LOCOMO is only ever tested on: its licence (CC BY-NC 4.0) forbids shipping what is fitted to it.

The engine itself makes the features: of every question the first 100 hits and their `explain()`. The loss is that of a softmax over a
question's hits whose target is its evidence, in equal shares, with an L2 penalty; the weights above 0 then add up to 1. Adam, its steps
fixed, one thread. The questions of a source count COUNTS together. How sure an answer is: each question of FriendsQA and of Talks also
with its evidence forgotten, and with another speaker's name in it. The same file and the same engine give the same bytes. Printed:
recall@10 of the weights that the engine has; of weights fitted to the other conversations, for each quarter of these; of weights fitted to
one source alone; the lines to copy; then the same for the confidence.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).parent.parent / "transcripts"))

import evidence
import locomo_turns
import numpy as np
from softmax import K, Row, auroc, descend, left_out, recalls

import memspan
import memspan.testing

COUNTS = {"FriendsQA": 1.0, "RealMemBench": 0.25, "Talks": 0.5, "Assistants": 0.5}
"""The count of all questions of a source together; no other source is fitted to."""
HITS = 100
LOOKED_AT = 40
SURE = ("FriendsQA", "Talks")
"""Sources whose questions name people: how sure an answer is, is fitted to them."""
GRID = [(margin, by_name) for margin in (0.0, 1.0, 2.0, 3.0, 4.0, 5.0) for by_name in (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)]
"""Greater ones tell the wrong person a little better and a missing answer worse, and move confidences to 0 and 1."""
WEIGHTS = {"forgotten": 2.0, "swapped": 1.0}
"""What an answer that is not there counts, and one to somebody else's name."""
START, HOUR = datetime(2025, 1, 1, tzinfo=UTC), timedelta(hours=1)


@dataclass(frozen=True)
class Sure:
    """An answer: of which source, whether it was there, the log odds that its first hit has, and what stands beside it."""

    source: str
    case: str
    odds: float
    margin: float
    named: float


def features(hit: memspan.Recalled) -> dict[str, float]:
    why = hit.explain()
    further = {name: value for name, (value, _) in why.further.items()}
    return {"words": why.lexical_normalised, "meaning": why.cosine_normalised, **further}


def row(user: memspan.Scope, source: str, conversation: str, text: str, answers: frozenset[str]) -> Row:
    hits = user.recall(text, limit=HITS)
    found = [features(hit) for hit in hits]
    made = np.array([[one.get(name, 0.0) for name in NAMES] for one in found]).reshape(len(found), len(NAMES))
    is_evidence = np.array([hit.memory.metadata["turn"] in answers for hit in hits], bool)
    return Row(source, conversation, made, is_evidence, len(answers))


def sure(user: memspan.Scope, source: str, case: str, text: str) -> Sure | None:
    answer = user.recall(text, limit=HITS)
    if len(answer) < K:
        return None
    why = [hit.explain() for hit in answer]
    chance = (why[0].further["closeness"][0] + max(why[0].cosine or 0.0, 0.0)) / 2
    chance = min(max(chance, 0.02), 0.98)
    odds = float(np.log(chance / (1 - chance)))
    return Sure(source, case, odds, why[0].relevance - why[K - 1].relevance, named(why[:LOOKED_AT]))


def named(why: list[memspan.Explanation]) -> float:
    """How much closer those come that are about somebody whom the question names (`recall/sure.rs`)."""
    for feature in ("subject", "name"):
        closest = {True: 0.0, False: 0.0}
        for one in why:
            has, close = one.further[feature][0] > 0, one.further["closeness"][0]
            closest[has] = max(closest[has], close)
        if any(one.further[feature][0] > 0 for one in why):
            return closest[True] - closest[False]
    return 0.0


def swapped(text: str, names: list[str]) -> str | None:
    """The question with the name of another speaker in the place of the one that it names: nobody answered that."""
    for name in names:
        other = names[(names.index(name) + 1 + len(text)) % len(names)]
        if re.search(rf"\b{re.escape(name)}\b", text) and other != name:
            return re.sub(rf"\b{re.escape(name)}\b", other, text)
    return None


def answers_of(user: memspan.Scope, source: str, talk: dict[str, Any], questions: list[tuple[str, frozenset[str]]], row: Any) -> list[Sure]:
    """Of each question: as it is, with another's name, and with its evidence forgotten."""
    where = {memory.metadata["turn"]: memory.id for memory in user.memories()}
    names, made = sorted({name for name in talk["names"] if name.isalpha()}), []
    for text, turns in questions:
        made.append(sure(user, source, "answered", text))
        other = swapped(text, names) if len(names) > 1 else None
        if other is not None:
            made += [sure(user, source, "named", text), sure(user, source, "swapped", other)]
        for turn in sorted(turns & where.keys()):
            user.forget(where[turn])
        made.append(sure(user, source, "forgotten", text))
        for turn in sorted(turns & where.keys()):
            where[turn] = user.remember(**row(turn)).memory.id
    return [one for one in made if one is not None]


def fit_sure(answers: list[Sure]) -> tuple[float, float, float]:
    """MARGIN, USUAL_MARGIN and NAMED: the pair of the grid whose mean AUROC is highest."""
    usual = round(float(np.mean([one.margin for one in answers if one.case == "answered"])), 3)

    def mean(pair: tuple[float, float]) -> float:
        found = aurocs(answers, pair[0], usual, pair[1])
        return float(np.average(list(found.values()), weights=[WEIGHTS[case.split(", ")[1]] for case in found]))

    margin, by_name = max(GRID, key=mean)
    return margin, usual, by_name


def aurocs(answers: list[Sure], margin: float, usual: float, by_name: float) -> dict[str, float]:
    """By source and case: how often what is there is surer than what is not."""
    of: dict[tuple[str, str], list[float]] = {}
    for one in answers:
        of.setdefault((one.source, one.case), []).append(one.odds + margin * (one.margin - usual) + by_name * one.named)
    pairs = (("answered", "forgotten"), ("named", "swapped"), ("answered", "category 5"))
    every = {(source, yes, no) for source, _ in of for yes, no in pairs if (source, yes) in of and (source, no) in of}
    return {f"{source}, {no}": round(auroc(of[source, yes], of[source, no]), 3) for source, yes, no in sorted(every)}


def rows_of(path: Path, test: Path | None) -> tuple[list[Row], list[Sure]]:
    made: list[Row] = []
    answers: list[Sure] = []
    clock = memspan.testing.FakeClock()
    with tempfile.TemporaryDirectory() as folder, memspan.open(Path(folder) / "fit", clock=clock, durability="relaxed") as engine:
        for talk in evidence.conversations(path):
            clock.set(START)
            user = engine.user(f"{talk['source']}/{talk['id']}")
            made += asked_of(user, talk, clock)
            if talk["source"] in SURE:
                answers += answers_of(user, talk["source"], *told(talk))
        for number, talk in enumerate(locomo_turns.load(test) if test else []):
            user = engine.user(talk["id"])
            clock.set(max(turn["at"] for turn in talk["turns"]) + timedelta(days=1))
            user.remember_many(locomo_turns.row(turn, "episodic") for turn in talk["turns"])
            made += [row(user, "LoCoMo", talk["id"], asked["text"], frozenset(asked["evidence"])) for asked in talk["questions"]]
            turns = {turn["id"]: turn for turn in talk["turns"]}
            questions = [(asked["text"], frozenset(asked["evidence"])) for asked in talk["questions"]]
            answers += answers_of(user, "LoCoMo", {"names": []}, questions, lambda turn, of=turns: locomo_turns.row(of[turn], "episodic"))
            adversarial = [sure(user, "LoCoMo", "category 5", text) for text in locomo_turns.unanswerable(test)[number]]
            answers += [one for one in adversarial if one is not None]
    return made, answers


def told(talk: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[str, frozenset[str]]], Any]:
    """The speakers of a conversation, its questions, and how to remember one of its turns again."""
    turns, at = {}, START
    for session in talk["sessions"]:
        for turn, speaker, text in session["turns"]:
            turns[turn] = {**memory(turn, speaker, text), "occurred_at": at}
        at += HOUR
    names = {speaker.split()[0] for session in talk["sessions"] for _, speaker, _ in session["turns"] if speaker}
    return {"names": names}, [(text, frozenset(of)) for text, _, of, _ in talk["questions"]], turns.__getitem__


def memory(turn: str, speaker: str, text: str) -> dict[str, Any]:
    return {"text": f"{speaker}: {text or ' '}", "kind": "episodic", "metadata": {"turn": turn}}


def asked_of(user: memspan.Scope, talk: dict[str, Any], clock: memspan.testing.FakeClock) -> list[Row]:
    """Remembers a conversation turn by turn, a session an hour, and asks each question when all that may answer it was said."""
    made: list[Row] = []
    waiting: dict[int | None, list[list[Any]]] = {}
    for asked in talk["questions"]:
        waiting.setdefault(asked[3], []).append(asked)

    def ask(questions: list[list[Any]]) -> None:
        made.extend(row(user, talk["source"], talk["id"], text, frozenset(answers)) for text, _, answers, _ in questions)

    for number, session in enumerate(talk["sessions"]):
        ask(waiting.pop(number, []))
        user.remember_many(memory(*turn) for turn in session["turns"])
        clock.advance(HOUR)
    for rest in waiting.values():
        ask(rest)
    return made


def fit(rows: list[Row], penalty: float = 0.02, steps: int = 300, rate: float = 0.05) -> np.ndarray:
    rows = [one for one in rows if one.is_evidence.any()]
    made = np.concatenate([one.made for one in rows])
    spread = made.std(0) + 1e-9
    return descend(rows, made / spread, COUNTS, penalty=penalty, steps=steps, rate=rate) / spread


def shares_of(weights: np.ndarray) -> np.ndarray:
    """The weights, those above 0 as shares of one."""
    return np.round(weights / weights[weights > 0].sum(), 3)


def ordered(rows: list[Row], weights: np.ndarray) -> list[Row]:
    return [one.cut(np.argsort(-(one.made @ weights), kind="stable")) for one in rows]


def report(rows: list[Row], answers: list[Sure]) -> None:
    own = [one for one in rows if one.source in COUNTS]
    others = [one for one in rows if one.source not in COUNTS]
    print("as the engine ranks:", recalls(rows), flush=True)
    left: list[Row] = []
    for out in left_out(own):
        left += ordered([one for one in own if one.talk in out], fit([one for one in own if one.talk not in out]))
    print("conversations left out:", recalls(left), flush=True)
    for source in COUNTS:
        weights = fit([one for one in own if one.source == source])
        print(f"fitted to {source} alone:", recalls(ordered([one for one in rows if one.source != source], weights)), flush=True)
    weights = fit(own)
    print("fitted to all:", recalls(ordered(own, weights)), "never fitted to:", recalls(ordered(others, weights)))
    print("\n".join(f"{name}: {weight:.3f}," for name, weight in zip(NAMES, shares_of(weights), strict=True)))
    margin, usual, by_name = fit_sure([one for one in answers if one.source in COUNTS])
    print("answered or not, AUROC, by the first hit alone:", aurocs(answers, 0.0, 0.0, 0.0))
    print("answered or not, AUROC:", aurocs(answers, margin, usual, by_name))
    print(f"MARGIN: {margin:.1f}, USUAL_MARGIN: {usual:.3f}, NAMED: {by_name:.1f}")


def names() -> list[str]:
    """The features in their order, from a recall."""
    with tempfile.TemporaryDirectory() as folder, memspan.open(Path(folder) / "names") as engine:
        user = engine.user("u")
        user.remember("the port is open")
        return list(features(user.recall("port")[0]))


NAMES: list[str] = names()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evidence", type=Path)
    parser.add_argument("--test", type=Path)
    given = parser.parse_args()
    report(*rows_of(given.evidence, given.test))


if __name__ == "__main__":
    main()
