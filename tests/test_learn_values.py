"""What rules make of a sentence says all of it: lists, signs, conditions, names. Days are those of a zone where one is given."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import memspan

LOS_ANGELES = timezone(timedelta(hours=-7))
EVENING = datetime(2026, 5, 3, 20, tzinfo=LOS_ANGELES)
"""A Sunday; in UTC it is 03:00 on Monday."""


@pytest.mark.parametrize(
    ("told", "text"),
    [
        ("I'm allergic to peanuts, tree nuts and shellfish.", "The user is allergic to peanuts, tree nuts and shellfish."),
        ("I'm allergic to dogs, mites, and pollen.", "The user is allergic to dogs, mites, and pollen."),
        ("I'm also severely allergic to milk.", "The user is severely allergic to milk."),
        ("I'm allergic to cats but not dogs.", "I'm allergic to cats but not dogs."),
        ("My freezer setting is -18 degrees.", "The user's freezer setting is -18 degrees."),
        ("Please change the threshold to -0.75", "The threshold is -0.75."),
        ("My budget is $500.", "The user's budget is $500."),
        ("My budget is €1,200 per month.", "The user's budget is €1,200 per month."),
        ("My discount is 20%.", "The user's discount is 20%."),
        ("My discount is 20 %.", "The user's discount is 20 %."),
        ("My fuel limit is < 5 litres.", "The user's fuel limit is < 5 litres."),
        ("My hours are 9:30 - 17:00.", "The user's hours are 9:30 - 17:00."),
        ("My alarm is at 7:30 unless it rains.", "My alarm is at 7:30 unless it rains."),
        ("My ratio is 1.5.", "The user's ratio is 1.5."),
        ("My number is (212) 555-0147.", "The user's number is (212) 555-0147."),
        ("My phone number is +49 151 23456789.", "The user's phone number is +49 151 23456789."),
        ("My handle is @maria_dev.", "The user's handle is @maria_dev."),
        ("My home directory is /srv/data/maria.", "The user's home directory is /srv/data/maria."),
        ("My env file is .env.production", "The user's env file is .env.production."),
        ("My endpoint is https://api.example.com/v2?tenant=7.", "My endpoint is https://api.example.com/v2?tenant=7."),
        ("My email is ana+news@example.org.", "The user's email is ana+news@example.org."),
        ("Our release is v2.0-rc1.", "Our release is v2.0-rc1."),
        ("My dog is a beagle (three years old).", "My dog is a beagle (three years old)."),
        ('My motto is "less is more" in all things.', 'The user\'s motto is "less is more" in all things.'),
        ("My favourite colours are red, green and blue.", "The user's favourite colours are red, green and blue."),
        ("I live in Lyon, France.", "The user lives in Lyon, France."),
        ("My flight to Boston is at 7 am.", "The user's flight to Boston is at 7 am."),
        ("My wife Joana is a lawyer.", "The user's wife Joana is a lawyer."),
        ("My flight was moved to 16:45.", "The user's flight is 16:45."),
        ("My meeting is never on Fridays.", None),
    ],
)
def test_what_is_stored_says_what_was_said(user: memspan.Scope, told: str, text: str | None) -> None:
    user.learn([{"role": "user", "content": told}])
    stored = [memory.text for memory in user.memories()]
    assert stored == [text] if text is not None else all("is on Fridays" not in one for one in stored)


def test_what_was_moved_ends_nothing(user: memspan.Scope) -> None:
    user.learn([{"role": "user", "content": text} for text in ("My flight is TP1234.", "My flight was moved to 16:45.")])
    assert [memory.text for memory in user.memories()] == ["The user's flight is TP1234.", "The user's flight is 16:45."]


@pytest.mark.parametrize(
    "told",
    [
        "Keep answers under 100 words.",
        "Please keep your replies short.",
        "Don't use emojis.",
        "Answer me in Portuguese.",
        "Please use metric units.",
    ],
)
def test_how_to_answer_is_a_preference(user: memspan.Scope, told: str) -> None:
    user.learn([{"role": "user", "content": told}])
    assert [(memory.kind, memory.text) for memory in user.memories()] == [("preference", told)]


def test_another_length_of_answers_takes_the_place_of_the_first(user: memspan.Scope) -> None:
    user.learn([{"role": "user", "content": f"Keep answers under {most} words."} for most in (100, 50)])
    assert [memory.text for memory in user.memories()] == ["Keep answers under 50 words."]


@pytest.mark.parametrize("told", ["Make the answer shorter.", "Answer in one word: is it raining?", "Reply in 5 minutes"])
def test_what_is_asked_of_one_answer_is_no_preference(user: memspan.Scope, told: str) -> None:
    user.learn([{"role": "user", "content": told}])
    assert [memory for memory in user.memories() if memory.kind == "preference"] == []


def told(user: memspan.Scope, source: Any, **options: Any) -> list[str]:
    return [one.text for one in user.learn(source, **options)]


@pytest.mark.parametrize("zone", [LOS_ANGELES, ZoneInfo("America/Los_Angeles"), "America/Los_Angeles"])
def test_days_are_those_of_the_zone(user: memspan.Scope, zone: Any) -> None:
    message = {"role": "user", "content": "My flight to Boston is tomorrow at 7 am.", "created_at": EVENING}
    session = user.session("s", model="gpt-4o")
    session.add({"role": "user", "content": message["content"]}, created_at=EVENING)
    there = ["The user's flight to Boston is tomorrow (2026-05-04) at 7 am."]
    assert told(user, [message], dry_run=True) == ["The user's flight to Boston is tomorrow (2026-05-05) at 7 am."]
    assert told(user, [message], timezone=zone, dry_run=True) == there
    assert told(user, session, timezone=zone) == there
    assert [memory.occurred_at for memory in user.memories()] == [EVENING.astimezone(UTC)]


def test_a_zone_that_nobody_knows_is_refused(user: memspan.Scope) -> None:
    for zone in ("Mars/Olympus", "", 7):
        with pytest.raises(memspan.InvalidInput, match="learning: timezone="):
            user.learn([], timezone=zone)  # type: ignore[arg-type]
