"""What is said of the thing at hand: a setting of one thing takes no place of another thing's, and an order ends where it is taken back."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

import memspan
import memspan.testing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def talked(store: Path, *sessions: Sequence[str]) -> list[tuple[str, bool]]:
    """The current memories after these sessions of one user, two days apart, and whether prompts pin each."""
    clock = memspan.testing.FakeClock()
    with memspan.open(store, clock=clock) as engine:
        user = engine.user("dev")
        for number, texts in enumerate(sessions):
            session = user.session(f"s-{number}", model="gpt-4o")
            for text in texts:
                session.add({"role": "user", "content": text})
                session.add({"role": "assistant", "content": "Done."})
                user.learn(session)
                clock.advance(timedelta(minutes=5))
            clock.advance(timedelta(days=2))
        kinds = ("constraint", "preference", "profile")
        return [(memory.text, memory.kind in kinds) for memory in user.memories()]


@pytest.mark.parametrize(
    ("first", "second", "texts"),
    [
        ("move the port from 8081 to 8089", "Move the port from 6543 to 6544.", {"The port is 8089.", "The port is 6544."}),
        ("change the timeout to 8s", "change the timeout to 15s", {"The timeout is 8s.", "The timeout is 15s."}),
        ("set the batch size to 100", "set the batch size to 5000", {"The batch size is 100.", "The batch size is 5000."}),
        ("change the log level to debug", "The log level is warning.", {"The log level is debug.", "The log level is warning."}),
    ],
)
def test_a_setting_takes_no_place_of_what_another_session_spoke_of(tmp_path: Path, first: str, second: str, texts: set[str]) -> None:
    assert {text for text, _ in talked(tmp_path / "store", [first], [second])} == texts


@pytest.mark.parametrize(
    ("sessions", "texts"),
    [
        ([["change the port to 8089", "change the port to 8090"]], {"The port is 8090."}),
        ([["change the port to 8089"], ["change the port from 8089 to 8090"]], {"The port is 8090."}),
        (
            [["change the port to 8089"], ["change the port to 6544", "change the port to 6545"]],
            {"The port is 8089.", "The port is 6545."},
        ),
        ([["The staging port is 6543."], ["The staging port is 6544."]], {"The staging port is 6544."}),
        ([["The port is 6543."], ["The port is now 6544."]], {"The port is 6544."}),
        ([["The timeout is 30s."], ["The timeout was raised to 60s."]], {"The timeout is 60s."}),
        ([["The port is 6543."], ["Correction: the port is 6544."]], {"The port is 6544."}),
        ([["The memory limit is 2 GB."], ["The memory limit is 4 GB."]], {"The memory limit is 4 GB."}),
        ([["Set the font size to 12."], ["Set the font size to 14."]], {"The font size is 14."}),
        ([["Our default branch is master."], ["Our default branch is main."]], {"Our default branch is main."}),
        ([["change the party size to 4"], ["change the party size to 6"]], {"The party size is 6."}),
    ],
)
def test_a_setting_takes_the_place_where_it_is_of_the_same_thing(tmp_path: Path, sessions: list[list[str]], texts: set[str]) -> None:
    assert {text for text, _ in talked(tmp_path / "store", *sessions)} == texts


@pytest.mark.parametrize(
    ("order", "back", "held"),
    [
        ("Use tabs, not spaces, from now on.", "undo that, use spaces from now on", True),
        ("From now on run the tests with pytest -n 4.", "Forget that, run them with -n 8 from now on.", True),
        ("Use 4 spaces from now on.", "I changed my mind: use 2 spaces from now on.", True),
        ("Always run black before you commit.", "From now on run ruff format before you commit, not black.", True),
        ("Use tabs from now on.", "Forget that.", False),
    ],
)
def test_an_order_ends_where_it_is_taken_back(tmp_path: Path, order: str, back: str, held: bool) -> None:
    known = talked(tmp_path / "store", [order, back])
    assert order.rstrip(".") not in {text.rstrip(".") for text, _ in known}
    assert [is_pinned for _, is_pinned in known] == [held]


@pytest.mark.parametrize(
    "text",
    [
        "Undo that commit.",
        "Forget about the tests for now.",
        "Go back to the previous file.",
        "Undo that.",
        "Forget that, show me the diff.",
        "No, go back to spaces.",
        "undo that, you used spaces again",
        "You ignore what I said about tabs.",
        "I changed my mind, put it in utils.py.",
    ],
)
def test_an_order_stands_where_something_else_is_undone(tmp_path: Path, text: str) -> None:
    assert ("Use tabs, not spaces, from now on.", True) in talked(tmp_path / "store", ["Use tabs, not spaces, from now on.", text])


def test_the_newer_of_two_settings_has_the_slot(tmp_path: Path) -> None:
    clock = memspan.testing.FakeClock()
    with memspan.open(tmp_path / "store", clock=clock) as engine:
        user = engine.user("dev")
        for number, limit in enumerate((50, 80, 50)):
            session = user.session(f"s-{number}", model="gpt-4o")
            session.add({"role": "user", "content": f"Change the limit to {limit}."})
            user.learn(session)
            clock.advance(timedelta(days=2))
            assert user.slots["limit"].text == f"The limit is {limit}."
        known = {memory.text: memory.slot for memory in user.memories()}
        assert known == {"The limit is 50.": "limit", "The limit is 80.": None}
        assert engine.check().sound


def test_the_port_of_another_thing_marks_no_port_as_outdated(tmp_path: Path) -> None:
    clock = memspan.testing.FakeClock()
    with memspan.open(tmp_path / "store", clock=clock) as engine:
        user = engine.user("dev")
        sidecar = ["Today the Go sidecar.", "Move the port from 8081 to 8089."]
        database = ["The staging database moved.", "Move the port from 6543 to 6544."]
        for number, texts in enumerate((sidecar, database)):
            session = user.session(f"s-{number}", model="gpt-4o")
            for text in texts:
                session.add({"role": "user", "content": text})
                session.add({"role": "assistant", "content": "Done."})
                clock.advance(timedelta(minutes=5))
            user.learn(session)
            clock.advance(timedelta(days=2))
        asked = user.session("asked", model="gpt-4o")
        asked.add({"role": "user", "content": "which port does the sidecar listen on?"})
        prompt = "\n".join(str(message["content"]) for message in asked.assemble().to_openai()["messages"])
        assert "The port is 8089." in prompt
        assert "newer_on" not in prompt
