"""What is over is pinned no more: an employer, a home and an allergy that the user says they left or do not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.talks import pinned

if TYPE_CHECKING:
    import memspan

EMPLOYER = "I work at Initech."
HOME = "I live in Lisbon."
ALLERGY = "I'm allergic to penicillin."
HELD = {
    EMPLOYER: "The user works for Initech.",
    HOME: "The user lives in Lisbon.",
    ALLERGY: "The user is allergic to penicillin.",
}


BIO = "Write a short bio of me."


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (EMPLOYER, "I quit my job at Initech."),
        (EMPLOYER, "I quit Initech."),
        (EMPLOYER, "I left Initech for Hooli."),
        (EMPLOYER, "I was laid off from Initech."),
        (EMPLOYER, "I got fired from Initech"),
        (EMPLOYER, "I stopped working at Initech."),
        (EMPLOYER, "I retired."),
        (EMPLOYER, "I got laid off."),
        (HOME, "I left Lisbon for Porto."),
        (HOME, "I just moved back to Porto."),
        (HOME, "I moved out of Lisbon."),
        (ALLERGY, "I don't have a penicillin allergy after all."),
        (ALLERGY, "I don't have an allergy to penicillin any more."),
        (ALLERGY, "My penicillin allergy was a misdiagnosis."),
        (ALLERGY, "Turns out I'm not allergic to penicillin."),
        (ALLERGY, "I don't have a penicillin allergy after all, the test was negative."),
    ],
)
def test_what_is_over_is_pinned_no_more_and_found_in_history(user: memspan.Scope, first: str, second: str) -> None:
    block = pinned(user, BIO, first, second)
    assert HELD[first] not in block
    assert any(new in block for new in (second.rstrip("."), "lives in Porto", "not allergic to penicillin")) or "moved out" in second
    states = {memory.text: memory.state for memory in user.memories(states="all")}
    assert states[HELD[first]] == "superseded"
    assert not list(user.quarantined())


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (EMPLOYER, "I quit Globex."),
        (EMPLOYER, "I left Initech's office at five."),
        (EMPLOYER, "I was almost laid off."),
        (EMPLOYER, "If I quit my job at Initech, what then?"),
        (EMPLOYER, "I quit smoking."),
        (EMPLOYER, "My boss quit."),
        (EMPLOYER, "I moved out of Lisbon."),
        (HOME, "I left Lisbon."),
        (HOME, "I left Lisbon for the weekend."),
        (HOME, "I left Lisbon at 8."),
        (HOME, "I left Lisbon for Porto by train."),
        (HOME, "I never left Lisbon."),
        (HOME, "I quit Lisbon Labs."),
        (HOME, "I left Initech for Hooli."),
        (ALLERGY, "My sister doesn't have a penicillin allergy."),
        (ALLERGY, "I don't have a penicillin allergy card with me."),
        (ALLERGY, "I don't have a latex allergy."),
        (ALLERGY, "I don't have a severe penicillin allergy."),
        ("I'm allergic to penicillin and latex.", "I don't have a latex allergy."),
    ],
)
def test_what_is_not_over_stays_pinned(user: memspan.Scope, first: str, second: str) -> None:
    assert HELD.get(first, "penicillin and latex") in pinned(user, BIO, first, second)


def test_what_took_the_place_of_what_was_left_can_be_left(user: memspan.Scope) -> None:
    pinned(user, BIO, EMPLOYER, "I left Initech for Hooli.")
    assert [(memory.slot, memory.kind) for memory in user.memories()] == [("employer", "profile")]
    for said, held in [
        ("I left Initech.", "I left Initech for Hooli."),
        ("I quit Hooli.", "I quit Hooli."),
        ("I joined Globex.", "The user works for Globex."),
    ]:
        user.learn([{"role": "user", "content": said}])
        assert [memory.text for memory in user.memories() if memory.slot == "employer"] == [held]


@pytest.mark.parametrize(
    "said", ["I have a penicillin allergy.", "I have a severe penicillin allergy.", "I have an allergy to penicillin."]
)
@pytest.mark.parametrize(
    "over", ["I don't have a penicillin allergy.", "I'm not allergic to penicillin.", "I outgrew my penicillin allergy."]
)
def test_an_allergy_is_one_in_every_form(user: memspan.Scope, said: str, over: str) -> None:
    for text in (said, over):
        user.learn([{"role": "user", "content": text}])
    assert [memory.text for memory in user.memories()] == ["The user is not allergic to penicillin."]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("My son is allergic to nuts.", "I don't have a nut allergy, the test was negative."),
        ("My son is allergic to nuts.", "I outgrew my nut allergy."),
        ("I'm allergic to nuts.", "I never had a nut allergy and now I do."),
        ("I'm allergic to nuts.", "I don't have a nut allergy, I have a severe one."),
        ("I'm allergic to nuts.", "I don't have a nut allergy, it's anaphylaxis."),
        ("I'm allergic to nuts.", "I was misdiagnosed with a nut allergy, it's nuts and sesame."),
    ],
)
def test_no_allergy_is_lost_to_a_denial_of_another_or_one_that_is_taken_back(user: memspan.Scope, first: str, second: str) -> None:
    assert "allergic to nuts" in pinned(user, BIO, first)
    before = {memory.text for memory in user.memories()}
    session = user.session("later", model="gpt-4o")
    session.add({"role": "user", "content": second})
    session.add({"role": "assistant", "content": "Ok."})
    user.learn(session)
    assert before <= {memory.text for memory in user.memories()}


@pytest.mark.parametrize(
    ("first", "second", "kept", "gone"),
    [
        ("My name is Ana and I'm diabetic", "call me Annie", "I'm diabetic", "Ana."),
        ("I'm vegetarian and allergic to peanuts", "I'm vegan now", "The user is allergic to peanuts.", "I'm vegetarian"),
        ("I live in Ghent with my wife Els and our two kids, Mila and Bo", "We moved to Antwerp", "our two kids, Mila and Bo", "Ghent"),
        ("I'm vegetarian, and Joris is allergic to shellfish", "I'm vegan now", "Joris is allergic to shellfish", "I'm vegetarian"),
        ("My dentist is Dr. Claes, and I'm afraid of needles", "My dentist is now Dr. Maes", "I'm afraid of needles", "Claes"),
        ("My son is Max, he's allergic to nuts", "My son is called Maximilian", "My son's allergic to nuts", "Max."),
    ],
)
def test_a_new_value_ends_nothing_that_was_said_beside_the_old_one(
    user: memspan.Scope, first: str, second: str, kept: str, gone: str
) -> None:
    pinned(user, BIO, first, second)
    held = " | ".join(memory.text for memory in user.memories())
    assert kept in held
    assert gone not in held


@pytest.mark.parametrize(
    ("told_before", "told_now", "held"),
    [
        ("I take metformin 500 mg twice a day", "I'm off metformin since March", ["I'm off metformin since March"]),
        ("I take metformin 500 mg twice a day", "I no longer take metformin", ["I no longer take metformin"]),
        ("I take metformin 500 mg twice a day", "My metformin was increased to 850 mg", ["My metformin was increased to 850 mg"]),
        ("I take lisinopril 10 mg", "They switched me from lisinopril to losartan", ["They switched me from lisinopril to losartan"]),
        ("I take lisinopril 10 mg", "The doctor put me on losartan", ["I take lisinopril 10 mg", "The doctor put me on losartan"]),
        ("Metformin gives me a rash", "I stopped taking metformin", ["Metformin gives me a rash", "I stopped taking metformin"]),
        (
            "I take metformin 500 mg and warfarin daily",
            "I stopped taking metformin",
            ["I take metformin 500 mg and warfarin daily", "I stopped taking metformin"],
        ),
    ],
)
def test_a_medicine_ends_by_its_name_alone(user: memspan.Scope, told_before: str, told_now: str, held: list[str]) -> None:
    pinned(user, BIO, told_before, told_now)
    assert sorted(memory.text for memory in user.memories()) == sorted(held)


@pytest.mark.parametrize(
    ("fact", "told"),
    [
        ("I'm allergic to nuts.", "I'm not just allergic to nuts, I'm allergic to milk too."),
        ("My daughter is allergic to milk.", "We switched from milk to oat milk."),
        ("I'm allergic to nuts.", "I switched from nuts to seeds."),
        ("I work at Apple.", "I switched from Apple to Samsung."),
        ("I work at Acme.", "I work at Lidl on Saturdays."),
        ("I prefer light mode.", "I prefer dark chocolate."),
        ("We deploy staging on Fridays.", "We deploy prod on Tuesdays now."),
    ],
)
def test_what_is_said_of_another_thing_ends_nothing(user: memspan.Scope, fact: str, told: str) -> None:
    user.learn([{"role": "user", "content": fact}])
    before = [memory.text for memory in user.memories()]
    user.learn([{"role": "user", "content": told}])
    assert before
    assert before[0] in [memory.text for memory in user.memories()]
