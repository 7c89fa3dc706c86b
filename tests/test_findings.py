"""`recall(over=...)`: one order of memories, messages and passages."""

from __future__ import annotations

import pytest

import memspan
from memspan import InvalidInput
from memspan.findings import Over  # noqa: TC001  a type in a body


@pytest.fixture
def user(memspan_engine: memspan.Engine) -> memspan.Scope:
    user = memspan_engine.user("u-42")
    user.remember("payments-api listens on port 8443 in prod-eu-west-1")
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "Ada Lovelace owns the billing dashboard since March"})
    session.add({"role": "assistant", "content": "Noted."})
    user.collection("handbook").add("deploys.md", "# Deploys\n\nWe deploy on Tuesdays, never on a Friday.\n", version="3")
    return user


@pytest.mark.parametrize(
    ("question", "source", "part"),
    [
        ("which port does payments-api use?", "memories", "8443"),
        ("who owns the billing dashboard?", "transcripts", "Ada"),
        ("when do we deploy?", "collections", "Tuesdays"),
    ],
)
def test_the_source_that_has_the_answer_comes_first(user: memspan.Scope, question: str, source: str, part: str) -> None:
    found = user.recall(question, over=("memories", "transcripts", "collections"))
    assert isinstance(found, memspan.Findings)
    assert found[0].source == source
    assert part in found[0].text
    assert found[0].tokens == memspan.count_tokens(found[0].text)
    assert found[0].explain()
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert 0 < found.confidence <= 1


def test_a_hit_is_what_its_own_search_gives(user: memspan.Scope) -> None:
    found = user.recall("when do we deploy?", over=("collections",))
    hit = found[0].hit
    assert isinstance(hit, memspan.Passage)
    assert (hit.document_id, hit.version) == ("deploys.md", "3")


def test_memories_alone_answer_as_ever(user: memspan.Scope) -> None:
    assert isinstance(user.recall("port", over=("memories",)), memspan.Recall)
    assert user.recall("port", over=("memories",)) == user.recall("port")


def test_other_scopes_are_searched_along(user: memspan.Scope, memspan_engine: memspan.Engine) -> None:
    acme = memspan_engine.shared("acme")
    acme.collection("rules").add("leave.md", "Parental leave is sixteen weeks.")
    assert not any("sixteen" in one.text for one in user.recall("parental leave", over=("collections",)))
    assert "sixteen" in user.recall("parental leave", also=[acme], over=("collections", "memories"))[0].text


def test_limits_hold_over_all_sources(user: memspan.Scope) -> None:
    over: tuple[Over, ...] = ("memories", "transcripts", "collections")
    assert len(user.recall("deploy payments-api dashboard", limit=2, over=over)) == 2
    assert len(user.recall("deploy payments-api dashboard", max_tokens=0, over=over)) == 0
    assert len(user.recall("", over=over)) == 0
    assert len(user.recall("deploy", limit=0, over=over)) == 0


@pytest.mark.parametrize("over", [(), ("memory",), ("memories", "web"), "documents"])
def test_an_unknown_source_is_refused(user: memspan.Scope, over: object) -> None:
    with pytest.raises(InvalidInput, match="over= names one or more of"):
        user.recall("port", over=over)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]


def test_conditions_of_memories_are_refused_for_others(user: memspan.Scope) -> None:
    with pytest.raises(InvalidInput, match="kinds, min_trust are conditions of memories"):
        user.recall("port", kinds="semantic", min_trust=1, over=("memories", "transcripts"))


@pytest.mark.parametrize(
    "wrong",
    [{"min_score": 5}, {"max_tokens": -1}, {"min_score": "x"}, {"timezone": "Nope/X"}, {"where": 5}, {"also": [5]}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_conditions_are_checked_whatever_is_searched(user: memspan.Scope, wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        user.recall("port", over=("transcripts",), **wrong)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
