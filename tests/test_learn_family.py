"""The health of those whom the user has at home is pinned, however it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.talks import pinned

if TYPE_CHECKING:
    import memspan


MENU = "Plan the menu for Sunday dinner."


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("My son has a peanut allergy.", "My son has a peanut allergy."),
        ("My son Max has a peanut allergy.", "My son Max has a peanut allergy."),
        ("My son has a peanut allergy, what can I cook?", "My son has a peanut allergy"),
        ("My mother has celiac disease.", "My mother has celiac disease."),
        ("My daughter's allergic to eggs.", "My daughter's allergic to eggs."),
        ("My son Max can't eat gluten.", "My son Max can't eat gluten."),
        ("My kids can't eat gluten.", "My kids can't eat gluten."),
        ("My daughter is allergic to penicillin.", "The user's daughter is allergic to penicillin."),
        ("My daughter Lea is allergic to penicillin.", "The user's daughter Lea is allergic to penicillin."),
        ("My wife Clara is vegan.", "The user's wife Clara is vegan."),
        ("My wife and my son are allergic to nuts.", "My wife and my son are allergic to nuts."),
    ],
)
def test_health_of_the_family_is_pinned(user: memspan.Scope, text: str, stored: str) -> None:
    assert '<memory kind="constraint"' in pinned(user, MENU, text)
    assert [(memory.kind, memory.text) for memory in user.memories()] == [("constraint", stored)]


@pytest.mark.parametrize(
    "text", ["My boss's neighbour is allergic to cats.", "My colleague has a peanut allergy.", "My teacher's son has asthma."]
)
def test_health_of_other_people_is_not(user: memspan.Scope, text: str) -> None:
    assert pinned(user, MENU, text) == ""


def test_two_children_and_their_allergies_stand_beside_each_other(user: memspan.Scope) -> None:
    told = ["My daughter Lea is allergic to penicillin.", "My daughter Lea is allergic to nuts.", "My daughter Ida is allergic to nuts."]
    block = pinned(user, MENU, *told)
    assert [name in block for name in ("Lea is allergic to penicillin", "Lea is allergic to nuts", "Ida is allergic to nuts")] == [True] * 3


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("My son is allergic to eggs.", "My son is not allergic to eggs any more."),
        ("My son has an egg allergy.", "My son outgrew his egg allergy."),
        ("My son has an egg allergy.", "My son is no longer allergic to eggs."),
        ("My son has a nut allergy.", "My son doesn't have a nut allergy any more."),
        ("My wife is vegan.", "My wife is not vegan anymore."),
        ("My wife is pregnant.", "My wife is not pregnant any more."),
        ("My son Oscar is allergic to eggs.", "My son is not allergic to eggs any more."),
        ("my son Oscar has asthma", "my son outgrew his asthma"),
        ("My daughter Lea is vegetarian.", "My daughter isn't vegetarian anymore."),
    ],
)
def test_what_is_over_is_pinned_no_more(user: memspan.Scope, first: str, second: str) -> None:
    block = pinned(user, MENU, first, second)
    assert [memory.text for memory in user.memories() if " no longer " not in memory.text] == []
    assert first.partition(" ")[2] not in block


@pytest.mark.parametrize("denial", ["My daughter isn't vegetarian any more.", "My daughter Eva isn't vegetarian any more."])
def test_of_two_daughters_it_is_not_plain_which_one_eats_meat(user: memspan.Scope, denial: str) -> None:
    block = pinned(user, MENU, "My daughter Lea is vegetarian.", "My daughter Ida is vegetarian.", denial)
    assert [name in block for name in ("Lea is vegetarian", "Ida is vegetarian")] == [True, True]


TAKES = "i take metformin 500mg twice a day"


@pytest.mark.parametrize(
    "told", ["came off metformin last week", "swapped metformin for jardiance", "GP switched me from metformin to jardiance"]
)
def test_a_medicine_is_over_where_who_takes_it_leaves_out_i(user: memspan.Scope, told: str) -> None:
    assert TAKES not in pinned(user, MENU, TAKES, told)


@pytest.mark.parametrize(
    "told",
    [
        "My mum is doing better. Came off metformin last week.",
        "came off metformin last week, my mum",
        "came off metformin once and felt awful",
        "GP switched me from metformin to jardiance by mistake",
    ],
)
def test_a_medicine_of_others_or_by_mistake_ends_none(user: memspan.Scope, told: str) -> None:
    assert TAKES in pinned(user, MENU, TAKES, told)


BOTH = "I take Metoprolol 50 mg in the morning and Eliquis 5 mg twice a day."


def marks(user: memspan.Scope, known: str, told: str) -> bool:
    """Whether a memory is disputed by what is told after it, and stays."""
    pinned(user, MENU, known, told)
    older = next(memory for memory in user.memories() if memory.text == known)
    return bool(older.disputes)


@pytest.mark.parametrize("known", ["I take Eliquis 5 mg twice a day.", BOTH])
@pytest.mark.parametrize(
    "told",
    [
        "I'm on Xarelto now instead of Eliquis.",
        "Dr Hall swapped Eliquis for Xarelto.",
        "they raised my Eliquis to 10 mg",
        "Eliquis is gone, it's Xarelto now",
        "the cardiologist wants me off Eliquis, so I quit it",
        "Eliquis got replaced by Xarelto",
    ],
)
def test_a_medicine_that_is_taken_otherwise_is_disputed(user: memspan.Scope, known: str, told: str) -> None:
    assert marks(user, known, told)


@pytest.mark.parametrize("told", ["I stopped taking Eliquis last week.", "The doctor has taken me off Eliquis, I have Xarelto instead."])
def test_a_medicine_among_others_is_disputed_where_one_of_them_is_over(user: memspan.Scope, told: str) -> None:
    assert marks(user, BOTH, told)


@pytest.mark.parametrize(
    "told",
    [
        "Birgitta was taken off Eliquis",
        "My mum is doing better. Swapped Eliquis for Xarelto.",
        "should I stop Eliquis?",
        "forgot my Eliquis",
        "Xarelto too",
        "I'm off Eliquis for two days",
        "they raised the Eliquis price",
        "I stopped the Eliquis reminder",
        "my Eliquis is back to 5 mg",
        "my Eliquis is now in the drawer",
        "I took ibuprofen instead of Eliquis today",
        "in 2019 they swapped my Eliquis for Xarelto",
        "I plan to come off Eliquis",
    ],
)
def test_a_medicine_of_others_or_that_goes_on_is_not_disputed(user: memspan.Scope, told: str) -> None:
    assert not marks(user, BOTH, told)


@pytest.mark.parametrize(
    "told", ["i dont have asthma because of smoking", "I'm not asthmatic. That is what I told the army.", "i dont have asthma, i wish"]
)
def test_a_denial_of_a_cause_or_that_was_only_said_ends_no_illness(user: memspan.Scope, told: str) -> None:
    assert "i have asthma" in pinned(user, MENU, "i have asthma", told)
