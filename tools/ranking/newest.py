#!/usr/bin/env python3
"""Newest first without slots: the facts that it is fitted to and measured on, and `recall/ranking.rs`, module `memories::newest`.

    pip install numpy; maturin develop --release
    python tools/ranking/newest.py [--fit]

Each fact is a question about somebody and six ways to say its value. A store has one fact told, and changed 0, 1, 2 or 5 times in other
words, of one person who may be the user; beside it nine other facts of that person, ten of four others each, and 100 texts about other
things. Printed for each set of facts (`--only` takes names): the share of stores whose newest value stands before every older one, and the
share whose first hit is about the right person and the right thing.

--fit fits the constants to FITTED, MEASURED, LOOKED_AT and KEPT_BACK: pairs of a value and what is newer of the same person, each newer one
by its cosine with the question (both without the name of the person, by the built-in embedding) and its closeness; logistic regression,
Newton's method.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import random
import re
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
from developed import DEVELOPED
from facts import KEPT_BACK, LOOKED_AT
from unseen import UNSEEN
from untouched import UNTOUCHED

import memspan
import memspan.embedding
import memspan.testing

if TYPE_CHECKING:
    from collections.abc import Iterator

START = datetime(2024, 1, 1, tzinfo=UTC)
CHANGES = (0, 1, 2, 5)


@dataclass(frozen=True)
class Fact:
    """A question, ways to say its value, and values. {P}: my, Anna's; {I}: I, Anna; {me}: me, Anna; {v}: the value."""

    question: str
    ways: tuple[str, ...]
    values: tuple[str, ...]


FITTED: dict[str, Fact] = {
    "employer": Fact(
        "Where {do} {I} work?",
        (
            "{P} employer is {v}.",
            "{I} joined {v} as a senior engineer.",
            "{I} switched jobs and started at {v}.",
            "{I} left the old company and got hired by {v}.",
            "{P} new job is at {v}.",
            "{I} accepted an offer from {v}.",
        ),
        ("Acme", "Globex", "Initech", "Hooli", "Umbrella", "Stark Industries", "Wayne Corp"),
    ),
    "city": Fact(
        "Where {do} {I} live?",
        (
            "{P} home is in {v}.",
            "{I} moved to {v}.",
            "{I} relocated to {v} in spring.",
            "{I} got a flat in {v}.",
            "{P} new address is in {v}.",
            "{I} settled down in {v}.",
        ),
        ("Berlin", "Porto", "Oslo", "Madrid", "Vienna", "Dublin", "Prague"),
    ),
    "editor": Fact(
        "Which editor {do} {I} use?",
        (
            "{P} editor is {v}.",
            "{I} switched to {v} for writing code.",
            "{I} replaced the editor with {v}.",
            "{P} editor of choice became {v}.",
            "{I} went over to {v} for all editing.",
            "{I} started editing everything in {v}.",
        ),
        ("Vim", "Emacs", "Zed", "Helix", "Sublime", "PyCharm", "Kakoune"),
    ),
    "language": Fact(
        "Which programming language {do} {I} prefer?",
        (
            "{P} preferred programming language is {v}.",
            "{I} switched everything to {v}.",
            "{I} write all new code in {v} now.",
            "{P} favourite language became {v}.",
            "{I} gave up the old language for {v}.",
            "{I} rewrote the services in {v} and prefer it.",
        ),
        ("Python", "Go", "Rust", "Kotlin", "Elixir", "Scala", "Swift"),
    ),
    "car": Fact(
        "What car {do} {I} drive?",
        (
            "{P} car is a {v}.",
            "{I} bought a {v}.",
            "{I} traded the old car in for a {v}.",
            "{P} new car is a {v}.",
            "{I} leased a {v} last month.",
            "{I} sold the car and got a {v}.",
        ),
        ("Golf", "Corolla", "Fiesta", "Clio", "Octavia", "Civic", "Polo"),
    ),
    "diet": Fact(
        "What diet {do} {I} follow?",
        (
            "{P} diet is {v}.",
            "{I} went {v}.",
            "{I} decided to eat {v} from now on.",
            "{I} changed the diet to {v}.",
            "{P} meals are {v} these days.",
            "{I} gave that up and became {v}.",
        ),
        ("vegetarian", "vegan", "pescatarian", "keto", "gluten-free", "paleo", "low-carb"),
    ),
    "gym": Fact(
        "Which gym {do} {I} go to?",
        (
            "{P} gym is {v}.",
            "{I} signed up at {v}.",
            "{I} cancelled the membership and went to {v} to train.",
            "{P} workouts are at {v} now.",
            "{I} changed gyms to {v}.",
            "{I} started training at {v}.",
        ),
        ("FitNow", "Iron Hall", "PulseClub", "GymBox", "Basement", "CrossPoint", "Titan"),
    ),
    "doctor": Fact(
        "Who is {P} doctor?",
        (
            "{P} doctor is Dr. {v}.",
            "{I} changed doctors to Dr. {v}.",
            "{P} new physician is Dr. {v}.",
            "{I} registered with Dr. {v}.",
            "{P} GP retired and Dr. {v} took over.",
            "{I} see Dr. {v} for checkups now.",
        ),
        ("Meyer", "Okafor", "Silva", "Tanaka", "Novak", "Haddad", "Lindqvist"),
    ),
    "bank": Fact(
        "Which bank {do} {I} use?",
        (
            "{P} bank is {v}.",
            "{I} opened an account at {v}.",
            "{I} moved all the money to {v}.",
            "{P} salary goes to {v} now.",
            "{I} closed the old account and went to {v}.",
            "{P} new bank is {v}.",
        ),
        ("Sparkasse", "Monzo", "Revolut", "Santander", "Barclays", "Nordea", "Chase"),
    ),
    "phone": Fact(
        "What phone {do} {I} have?",
        (
            "{P} phone is a {v}.",
            "{I} got a new {v}.",
            "{I} upgraded the phone to a {v}.",
            "{P} phone broke and {I} bought a {v}.",
            "{P} new phone is a {v}.",
            "{I} swapped phones for a {v}.",
        ),
        ("Pixel", "iPhone", "Galaxy", "Fairphone", "Xperia", "OnePlus", "Moto"),
    ),
}

MEASURED: dict[str, Fact] = {
    "database": Fact(
        "Which database {do} {I} use for the project?",
        (
            "{P} project runs on {v}.",
            "{I} migrated the data to {v}.",
            "{I} moved the project database over to {v}.",
            "{P} team chose {v} as the database.",
            "{I} replaced the database with {v}.",
            "{P} project stores everything in {v} now.",
        ),
        ("Postgres", "MySQL", "MongoDB", "Redis", "SQLite", "Cassandra", "CockroachDB"),
    ),
    "manager": Fact(
        "Who is {P} manager?",
        (
            "{P} manager is {v}.",
            "{v} took over as {P} manager.",
            "{I} now report to {v}.",
            "{P} new boss is {v}.",
            "After the reorganisation {P} manager became {v}.",
            "{I} got {v} as a new line manager.",
        ),
        ("Ruth", "Omar", "Greta", "Pavel", "Lucia", "Kenji", "Amara"),
    ),
    "drink": Fact(
        "What {do} {I} drink in the morning?",
        (
            "{P} morning drink is {v}.",
            "{I} switched to {v} in the morning.",
            "{I} start the day with {v} now.",
            "{I} gave that up for {v} at breakfast.",
            "{P} breakfast drink became {v}.",
            "{I} have {v} every morning these days.",
        ),
        ("coffee", "green tea", "matcha", "orange juice", "cocoa", "espresso", "mint tea"),
    ),
    "school": Fact(
        "Which school {do} {P} daughter go to?",
        (
            "{P} daughter goes to {v}.",
            "{P} daughter changed schools to {v}.",
            "{I} enrolled the daughter at {v}.",
            "{P} daughter started at {v} after the holidays.",
            "{P} daughter's new school is {v}.",
            "{P} daughter was accepted at {v}.",
        ),
        ("Lincoln Elementary", "Oak Hill", "Saint Mary", "Riverside", "Montessori House", "Westfield", "Park Lane"),
    ),
    "hobby": Fact(
        "What is {P} hobby?",
        (
            "{P} hobby is {v}.",
            "{I} took up {v}.",
            "{I} dropped the old hobby for {v}.",
            "{P} new hobby is {v}.",
            "{I} spend the weekends on {v} now.",
            "{P} spare time goes into {v}.",
        ),
        ("chess", "pottery", "climbing", "birdwatching", "woodworking", "salsa", "kayaking"),
    ),
    "team": Fact(
        "Which team {do} {I} support?",
        (
            "{P} favourite team is {v}.",
            "{I} became a fan of {v}.",
            "{I} support {v} now.",
            "{P} season ticket is for {v}.",
            "{I} changed sides and cheer for {v}.",
            "{P} new favourite club is {v}.",
        ),
        ("Arsenal", "Dortmund", "Benfica", "Ajax", "Celtic", "Roma", "Sevilla"),
    ),
    "meeting": Fact(
        "When is {P} weekly meeting?",
        (
            "{P} weekly meeting is on {v}.",
            "{I} moved the weekly meeting to {v}.",
            "The weekly meeting of {P} team was rescheduled to {v}.",
            "{P} weekly sync takes place on {v} now.",
            "{I} postponed the weekly meeting to {v}.",
            "{P} new slot for the weekly meeting is {v}.",
        ),
        ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    ),
    "pet": Fact(
        "What is the name of {P} dog?",
        (
            "{P} dog is called {v}.",
            "{I} renamed the dog {v}.",
            "{I} got another dog named {v}.",
            "{P} dog answers to {v} now.",
            "{P} new dog's name is {v}.",
            "{I} adopted a dog and named it {v}.",
        ),
        ("Bruno", "Luna", "Rex", "Bella", "Milo", "Daisy", "Rocky"),
    ),
    "browser": Fact(
        "Which browser {do} {I} use?",
        (
            "{P} browser is {v}.",
            "{I} went back to {v} for browsing.",
            "{I} installed {v} and made it the default browser.",
            "{P} default browser became {v}.",
            "{I} switched browsers to {v}.",
            "{I} do all browsing in {v} now.",
        ),
        ("Firefox", "Chrome", "Safari", "Vivaldi", "Brave", "Edge", "Opera"),
    ),
    "airline": Fact(
        "Which airline {do} {I} usually fly with?",
        (
            "{P} usual airline is {v}.",
            "{I} fly with {v} now.",
            "{I} changed airlines to {v}.",
            "{P} frequent flyer card is with {v}.",
            "{I} book all flights with {v} these days.",
            "{P} airline of choice became {v}.",
        ),
        ("Lufthansa", "KLM", "Emirates", "Qantas", "Ryanair", "Finnair", "Iberia"),
    ),
}

PEOPLE: tuple[str | None, ...] = (None, "Anna", "Bob", "Chiara", "David")
ASKED_OF = PEOPLE[:4]
OTHER_TEXTS = (
    "The deploy window is {} at noon.",
    "Ticket {} was closed by support.",
    "The invoice {} is due in April.",
    "Server node-{} was restarted.",
    "Room {} has a broken projector.",
    "Recipe {} needs two cups of flour.",
    "The report {} covers the last quarter.",
    "Branch {} was merged by the release team.",
)

# Who and which fact a memory is about, and which value of it; None for other texts.
Told = tuple[tuple[str | None, str], int] | None


def say(template: str, who: str | None, value: str = "") -> str:
    words = ("my", "I", "me", "do", "am") if who is None else (f"{who}'s", who, who, "does", "is")
    text = template.replace("{v}", value)
    for name, word in zip(("{P}", "{I}", "{me}", "{do}", "{am}"), words, strict=True):
        text = text.replace(name, word)
    return text[0].upper() + text[1:]


def store(chance: random.Random, facts: dict[str, Fact], asked: tuple[str | None, str], changes: int) -> list[tuple[str, Told]]:
    """Texts in the order in which they are told, the values of what is asked for at random places among the others."""
    others = [(who, name) for who in PEOPLE for name in facts if (who, name) != asked]
    texts: list[tuple[str, Told]] = [(chance.choice(OTHER_TEXTS).format(chance.randrange(100, 9999)), None) for _ in range(100)]
    texts += [(say(chance.choice(facts[name].ways), who, chance.choice(facts[name].values)), ((who, name), 0)) for who, name in others]
    chance.shuffle(texts)
    fact = facts[asked[1]]
    ways = [fact.ways[0], *chance.sample(fact.ways[1:], changes)]
    values = chance.sample(fact.values, changes + 1)
    places = sorted(chance.sample(range(len(texts)), changes + 1))
    for at in reversed(range(changes + 1)):
        texts.insert(places[at], (say(ways[at], asked[0], values[at]), (asked, at)))
    return texts


def answers(
    facts: dict[str, Fact], changes: int, kind: str, limit: int
) -> Iterator[tuple[tuple[str | None, str], list[tuple[memspan.Recalled, Told]]]]:
    """Every question with its hits, each with what it tells."""
    clock, chance = memspan.testing.FakeClock(START), random.Random(changes)  # noqa: S311
    with tempfile.TemporaryDirectory() as folder, memspan.open(f"{folder}/newest", clock=clock, durability="relaxed") as engine:
        for who in ASKED_OF:
            for name, fact in facts.items():
                clock.set(START)
                user, told = engine.user(f"{who}/{name}"), {}
                for text, what in store(chance, facts, (who, name), changes):
                    told[user.remember(text, kind=kind).memory.id] = what
                    clock.advance(timedelta(hours=8))
                yield (who, name), [(hit, told[hit.memory.id]) for hit in user.recall(say(fact.question, who), limit=limit)]


def measured(facts: dict[str, Fact], changes: int, kind: str) -> str:
    newest = right = count = 0
    names = list(facts)
    tens = ({name: facts[name] for name in names[at : at + 10]} for at in range(0, len(names), 10))
    for ten in tens:
        for asked, hits in answers(ten, changes, kind, 10):
            values = [told[1] for _, told in hits if told is not None and told[0] == asked]
            newest += values[:1] == [changes]
            right += bool(hits) and hits[0][1] is not None and hits[0][1][0] == asked
            count += 1
    shares = f"newest before every older one {newest / count:.3f}, right person and thing first {right / count:.3f}"
    return f"{changes} changes: {shares} (n = {count})"


def without(name: str | None, text: str) -> str:
    return text if name is None else re.sub(rf"\b{name}(?:'s)?\b", "", text)


def fit(groups: dict[str, dict[str, Fact]]) -> str:
    embedding = memspan.embedding.BuiltIn()
    made, target = [], []
    for facts in groups.values():
        for changes in CHANGES:
            for (who, name), hits in answers(facts, changes, "semantic", 26):
                question = np.array(embedding.embed_query(without(who, say(facts[name].question, who))))
                own = [(hit, told) for hit, told in hits if told is not None and told[0][0] == who]
                for old in (hit for hit, told in own if told[0] == (who, name)):
                    newer = [(hit, told) for hit, told in own if hit.memory.occurred_at > old.memory.occurred_at]
                    if not newer:
                        continue
                    texts = np.array(embedding.embed([without(who, hit.memory.text) for hit, _ in newer]))
                    closeness = [hit.explain().further["closeness"][0] for hit, _ in newer]
                    made += [[cosine, close, 1.0] for cosine, close in zip(texts @ question, closeness, strict=True)]
                    target += [float(told[0] == (who, name)) for _, told in newer]
    rows, goal, weights = np.array(made), np.array(target), np.zeros(3)
    for _ in range(50):
        share = 1 / (1 + np.exp(-rows @ weights))
        bend = (rows * (share * (1 - share))[:, None]).T @ rows + 1e-3 * np.eye(3)
        weights += np.linalg.solve(bend, rows.T @ (goal - share))
    return f"MEANING: {weights[0]:.1f}, CLOSENESS: {weights[1]:.1f}, LEAST: {-weights[2]:.1f} ({len(rows)} pairs)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--kind", default="semantic")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    written = {"LOOKED_AT": LOOKED_AT, "KEPT_BACK": KEPT_BACK, "DEVELOPED": DEVELOPED, "UNSEEN": UNSEEN, "UNTOUCHED": UNTOUCHED}
    fresh = {name: {fact: Fact(*row) for fact, row in rows.items()} for name, rows in written.items()}
    groups = {"FITTED": FITTED, "MEASURED": MEASURED, **fresh}
    if given.fit:
        print(fit({name: facts for name, facts in groups.items() if name not in {"DEVELOPED", "UNSEEN", "UNTOUCHED"}}), flush=True)
    for name, facts in groups.items():
        if given.only and name not in given.only.split(","):
            continue
        for changes in CHANGES:
            print(name, given.kind, measured(facts, changes, given.kind), flush=True)


if __name__ == "__main__":
    main()
