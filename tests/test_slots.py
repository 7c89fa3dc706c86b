"""Slots: one current value each, unless declared multi; what is less trusted or older never takes one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

import memspan

if TYPE_CHECKING:
    from memspan.testing import FakeClock


def test_a_new_value_supersedes(user: memspan.Scope) -> None:
    old = user.remember("Prefers Python for scripting", slot="Scripting-Language").memory
    done = user.remember("Prefers Go for scripting", slot="scripting-language")
    assert (done.action, done.memory.supersedes) == ("superseded", old.id)
    assert user.slots["SCRIPTING-LANGUAGE"] == done.memory
    assert [hit.memory for hit in user.recall("scripting")] == [done.memory]
    superseded = user.get(old.id)
    assert (superseded.state, superseded.superseded_by) == ("superseded", done.memory.id)


def test_ids_that_were_given_are_the_ones_that_are_named(user: memspan.Scope) -> None:
    user.remember("Lives in Lisbon", slot="home", id="first")
    second = user.remember("Lives in Porto", slot="home", id="second").memory
    assert second.supersedes == "first"
    assert user.recall("Porto")[0].memory.supersedes == "first"
    assert [memory.superseded_by for memory in user.history("second")] == ["second", None]


def test_lower_trust_goes_to_history_only(user: memspan.Scope) -> None:
    user.remember("Lives in Lisbon", slot="home", source="user")
    done = user.remember("Lives in Oslo", slot="home", source="assistant")
    assert done.action == "added"
    assert "trust 1 does not replace trust 3" in (done.reason or "")
    assert user.slots["home"].text == "Lives in Lisbon"
    assert len(user.recall("Oslo")) == 0
    assert user.get(done.memory.id).state == "superseded"


def test_an_older_event_goes_to_history_only(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    user.remember("Lives in Lisbon", slot="home")
    done = user.remember("Lives in Oslo", slot="home", occurred_at=memspan_clock() - timedelta(days=30))
    assert (done.action, done.memory.state) == ("added", "superseded")
    assert user.slots["home"].text == "Lives in Lisbon"


def test_forgetting_the_newest_does_not_bring_the_older_one_back(user: memspan.Scope) -> None:
    user.remember("Lives in Lisbon", slot="home")
    newest = user.remember("Lives in Porto", slot="home").memory
    user.forget(newest.id)
    assert "home" not in user.slots
    with pytest.raises(KeyError):
        user.slots["home"]
    assert len(user.recall("Lisbon")) == 0


def test_a_multi_slot_holds_several(user: memspan.Scope) -> None:
    user.slots.declare("Allergy", multi=True)
    assert user.slots["allergy"] == ()
    nuts = user.remember("Is allergic to nuts", slot="allergy").memory
    milk = user.remember("Is allergic to milk", slot="allergy").memory
    assert user.slots["allergy"] == user.slots.all("ALLERGY") == (nuts, milk)
    with pytest.raises(memspan.InvalidInput, match="several current values"):
        user.slots.declare("allergy", multi=False)
    user.forget(nuts.id)
    user.slots.declare("allergy", multi=False)
    assert user.slots["allergy"] == milk


def test_the_view_is_a_mapping(user: memspan.Scope) -> None:
    assert len(user.slots) == 0
    assert isinstance(user.slots, Mapping)
    user.remember("Lives in Porto", slot="home")
    user.remember("Prefers Go", slot="Straße")
    assert list(user.slots) == ["home", "strasse"]
    assert {name: memory.text for name, memory in user.slots.items()} == {"home": "Lives in Porto", "strasse": "Prefers Go"}
    assert "HOME" in user.slots
    assert "editor" not in user.slots
    assert 5 not in user.slots  # type: ignore[comparison-overlap]
    assert user.slots.get("editor") is None
    assert user.slots.all("editor") == ()
    assert repr(user.slots) == "Slots('home', 'strasse')"


@pytest.mark.parametrize("name", ["", "   ", "x" * 1_025, "\ud800"])
def test_names_that_cannot_be(user: memspan.Scope, name: str) -> None:
    with pytest.raises(memspan.InvalidInput):
        user.remember("Prefers tea", slot=name)
    with pytest.raises(memspan.InvalidInput):
        user.slots.declare(name, multi=True)
    assert list(user.memories()) == []


def test_revising_into_a_slot_supersedes_its_value(user: memspan.Scope) -> None:
    home = user.remember("Lives in Porto", slot="home").memory
    other = user.remember("Moved to Faro").memory
    user.revise(other.id, slot="home")
    assert user.slots["home"].id == other.id
    assert user.get(home.id).state == "superseded"
