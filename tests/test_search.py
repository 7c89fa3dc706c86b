"""`Scope.search`: one order of memories, messages and passages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

import memspan
import memspan.testing
from memspan import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

NOTHING = 12.33 / 50.25
"""The score of a message for which nothing speaks: docs/ranking.md."""


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
    found = user.search(question)
    assert isinstance(found, memspan.Answer)
    assert all(isinstance(hit, memspan.Hit) for hit in found)
    assert found[0].source == source
    assert part in found[0].text
    assert found[0].tokens == memspan.count_tokens(found[0].text)
    assert isinstance(found[0].explain(), memspan.Explanation)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert 0 < found.confidence <= 1


def test_a_hit_is_what_its_own_search_gives(user: memspan.Scope) -> None:
    hit = user.search("when do we deploy?", sources=("collections",))[0]
    assert isinstance(hit, memspan.Passage)
    assert (hit.document.id, hit.document.version) == ("deploys.md", "3")


def test_memories_alone_are_ordered_as_by_recall(user: memspan.Scope) -> None:
    user.remember("The staging port is 9443")
    assert [hit.text for hit in user.search("port", sources=("memories",))] == [hit.text for hit in user.recall("port")]


def test_other_scopes_are_searched_along(user: memspan.Scope, memspan_engine: memspan.Engine) -> None:
    acme = memspan_engine.shared("acme")
    acme.collection("rules").add("leave.md", "Parental leave is sixteen weeks.")
    assert not any("sixteen" in one.text for one in user.search("parental leave", sources=("collections",)))
    assert "sixteen" in user.search("parental leave", also=[acme], sources=("collections", "memories"))[0].text


def test_the_order_is_that_of_the_single_searches_weighed_by_how_sure_they_are(user: memspan.Scope) -> None:
    user.remember("The staging port is 9443")
    user.collection("notes").add("ports.md", "Every port below 1024 needs a permit.")
    question = "which port does payments-api use?"
    singles: list[memspan.Answer[Any]] = [user.recall(question), user.search_transcripts(question)]
    singles += [one.search(question) for one in user.collections()]

    def above(hit: Any) -> float:
        return float(hit.score) - (NOTHING if hit.source == "transcripts" else 0.0)

    weighed = [(above(hit) / above(answer[0]) * answer.confidence, hit.text) for answer in singles for hit in answer]
    expected = sorted(weighed, key=lambda one: -one[0])[:10]
    found = user.search(question)
    assert [hit.text for hit in found] == [text for _, text in expected]
    assert [hit.score for hit in found] == pytest.approx([score for score, _ in expected])
    assert found.confidence == pytest.approx(max(answer.confidence for answer in singles))


def test_times_hold_for_every_source(user: memspan.Scope) -> None:
    now = next(iter(user.memories())).created_at
    question = "payments-api dashboard deploy"
    assert {hit.source for hit in user.search(question)} == {"memories", "transcripts", "collections"}
    assert {hit.source for hit in user.search(question, since=now - timedelta(hours=1))} == {"memories", "transcripts", "collections"}
    assert len(user.search(question, until=now - timedelta(hours=1))) == 0
    assert len(user.collection("handbook").search("deploy", until=now - timedelta(hours=1))) == 0
    assert len(user.collection("handbook").search("deploy", since=now - timedelta(hours=1))) == 1


def test_metadata_holds_for_every_source(user: memspan.Scope) -> None:
    for team in ("red", "blue"):
        user.remember(f"the {team} deploy is on Monday", metadata={"team": team})
        user.collection("plans").add(team, f"The {team} deploy is planned.", metadata={"team": team})
        user.session(team, model="gpt-4o", metadata={"team": team}).add({"role": "user", "content": f"our {team} deploy failed"})
    found = user.search("which deploy?", where={"team": "red"})
    assert {hit.source for hit in found} == {"memories", "transcripts", "collections"}
    assert all("red" in hit.text for hit in found)
    assert [hit.session_id for hit in user.search_transcripts("deploy", where={"team": ["blue", "green"]})] == ["blue"]
    assert len(user.search_transcripts("deploy", where={"team": "green"})) == 0


def test_a_question_is_embedded_once_for_all_sources(tmp_path: Path) -> None:
    embedder = memspan.testing.FakeEmbedder(64)
    with memspan.open(tmp_path / "s.memspan", embedder=embedder) as engine:
        user = engine.user("u")
        user.remember("payments-api listens on 8443")
        for name in ("a", "b", "c"):
            user.collection(name).add("d", "ports and deploys")
        before = embedder.calls
        assert len(user.search("which port?")) > 0
        assert embedder.calls == before + 1


def test_limits_hold_over_all_sources(user: memspan.Scope) -> None:
    assert len(user.search("deploy payments-api dashboard", limit=2)) == 2
    assert len(user.search("deploy payments-api dashboard", max_tokens=0)) == 0
    assert len(user.search("")) == 0
    assert len(user.search("deploy", limit=0)) == 0


def test_a_shorter_answer_begins_a_longer_one(memspan_engine: memspan.Engine) -> None:
    user = memspan_engine.user("u-7")
    session = user.session("channel", model="gpt-4o")
    for text in ["We use Jira for tickets.", "We moved to Linear last week.", "I'm vegetarian.", "I live in York."]:
        session.add({"role": "user", "content": text})
        user.learn(session)
    whole = [hit.text for hit in user.search("What do we use?", limit=10)]
    assert len(whole) > 2
    for limit in range(1, len(whole)):
        assert [hit.text for hit in user.search("What do we use?", limit=limit)] == whole[:limit]


@pytest.mark.parametrize("sources", [(), ("memory",), ("memories", "web"), "documents"])
def test_an_unknown_source_is_refused(user: memspan.Scope, sources: object) -> None:
    with pytest.raises(InvalidInput, match="sources= names one or more of"):
        user.search("port", sources=sources)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "wrong",
    [{"min_score": 5}, {"max_tokens": -1}, {"min_score": "x"}, {"timezone": "Nope/X"}, {"where": 5}, {"also": [5]}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_conditions_are_checked_whatever_is_searched(user: memspan.Scope, wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        user.search("port", sources=("transcripts",), **wrong)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_the_question_itself_stands_behind_what_answers_it_in_any_source(user: memspan.Scope) -> None:
    user.remember("The staging cluster runs in Frankfurt.")
    question = "where does the staging cluster run?"
    user.session("asked", model="gpt-4o").add({"role": "user", "content": question})
    texts = [hit.text for hit in user.search(question)]
    assert texts.index("The staging cluster runs in Frankfurt.") < texts.index(question)


def test_messages_for_which_nothing_speaks_stand_behind_what_answers(user: memspan.Scope) -> None:
    talk = user.session("small talk", model="gpt-4o")
    for said, reply in (
        ("The weather is nice today.", "It is, enjoy it."),
        ("My passport expires soon.", "Then it is time to act."),
        ("I bought bread and cheese.", "Sounds like a good lunch."),
        ("The train home was late.", "That is annoying."),
    ):
        talk.add({"role": "user", "content": said})
        talk.add({"role": "assistant", "content": reply})
    user.remember("The passport is valid until 14 May 2031.")
    user.collection("docs").add("x.md", "# Travel documents\n\nValidity of passports ends ten years after the day of issue.")
    texts = [hit.text for hit in user.search("when does my passport expire?", 10)]
    places = [next(place for place, text in enumerate(texts) if part in text) for part in ("14 May 2031", "ten years", "weather")]
    assert places == sorted(places), texts


def test_a_message_about_another_identifier_is_doubted(user: memspan.Scope) -> None:
    for number, day in enumerate(("Monday", "Tuesday", "Friday")):
        user.session(f"order {number}", model="gpt-4o").add({"role": "user", "content": f"Order {48810 + number} was shipped on {day}."})
    user.remember("48899 left our dock on Thursday, 5 June.")
    assert any(hit.text.startswith("48899") for hit in user.search("when was order 48899 shipped?", 2))
    of_another, of_it = (user.search_transcripts(f"when was order {number} shipped?").confidence for number in (48899, 48811))
    assert of_another < 0.6 * of_it


def test_an_answer_to_an_identifier_of_the_message_before_is_not_doubted(user: memspan.Scope) -> None:
    talk = user.session("orders", model="gpt-4o")
    talk.add({"role": "user", "content": "Has order 48899 been shipped by now?"})
    talk.add({"role": "assistant", "content": "Slip TR-771 says that it was shipped on Thursday."})
    user.session("others", model="gpt-4o").add({"role": "user", "content": "The oven broke and was shipped to the shop."})
    before = user.search_transcripts("when was order 48899 shipped?").confidence
    talk.redact(0)
    assert user.search_transcripts("when was order 48899 shipped?").confidence < 0.6 * before


@pytest.mark.parametrize(
    ("told", "question"),
    [("Мой врач — доктор Иванова.", "Где лежит мой паспорт сейчас?"), ("我的医生是王大夫。", "我的航班是几点")],
)
def test_one_shared_word_makes_no_message_sure(memspan_engine: memspan.Engine, told: str, question: str) -> None:
    user = memspan_engine.user("foreign")
    user.session("s-1", model="gpt-4o").add({"role": "user", "content": told})
    assert user.search_transcripts(question).confidence < 0.5
    assert user.search_transcripts(told[:-1]).confidence > 0.8


def test_an_answer_without_hits_is_not_sure(user: memspan.Scope) -> None:
    user.remember("The staging cluster runs in Frankfurt.")
    found = user.search("where does the staging cluster run?", max_tokens=1)
    assert (len(found), found.confidence) == (0, 0.0)


@pytest.mark.parametrize(
    ("told", "question"),
    [
        (("PR-12 waits for review.", "PR-15 is merged."), "State of PR-12 and PR-15?"),
        (("ERR_CONN_42 means that the proxy is down.",), "I see ERR_CONN_42 at 10:15 on srv-9, what causes it?"),
        (("Our standup is in the blue room.",), "Where is our standup at 10:15?"),
    ],
)
def test_an_identifier_beside_the_question_doubts_no_answer(user: memspan.Scope, told: tuple[str, ...], question: str) -> None:
    for number, text in enumerate((*told, "The oven in the kitchen broke again.", "We sat by the river for an hour.")):
        user.session(f"told {number}", model="gpt-4o").add({"role": "user", "content": text})
    session = user.session("now", model="gpt-4o")
    session.add({"role": "user", "content": question})
    prompt = session.assemble().text
    assert all(text in prompt for text in told)


def test_a_prompt_shows_what_answers_a_long_question_in_chinese(memspan_engine: memspan.Engine) -> None:
    user = memspan_engine.user("foreign")
    noise = ("好的。", "今天下雨。", "我很累。", "谢谢你。", "明天见。", "我饿了。", "他走了。", "很好吃。")
    for number, text in enumerate(("备用钥匙在蓝色花盆下面。", *noise)):
        user.session(f"told {number}", model="gpt-4o").add({"role": "user", "content": text})
    session = user.session("now", model="gpt-4o")
    session.add({"role": "user", "content": "请问家里的备用钥匙放在哪里?"})
    assert "花盆" in session.assemble().text


def test_messages_that_were_dated_by_day_are_no_copies(user: memspan.Scope) -> None:
    day = datetime(2026, 3, 2, tzinfo=UTC)
    for name, text in (("one", "Task deploy: \u2705"), ("two", "Task deploy: \u274c")):
        user.session(name, model="gpt-4o").add({"role": "user", "content": text}, created_at=day)
    assert len(user.search_transcripts("what became of the task deploy?")) == 2


def test_a_learnt_text_is_there_once(user: memspan.Scope) -> None:
    session = user.session("plumbing", model="gpt-4o")
    said = [
        "Paid the plumber 240 euro for INV-3391",
        "The plumber comes on Mondays",
        "The plumber's name is Karel",
        "Karel the plumber has the spare key",
    ]
    for text in said:
        session.add({"role": "user", "content": text})
        session.add({"role": "assistant", "content": "ok"})
    user.learn(session)
    assert [memory.text.rstrip(".") for memory in user.memories()][-4:] == said, "the control"
    assert len({hit.text for hit in user.search("plumber", 2)}) == 2
    hits = user.search("plumber", 4)
    assert sorted(hit.text.rstrip(".") for hit in hits) == sorted(said)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert [hit.text for hit in user.search("plumber", 4, sources=("memories",))] == [hit.text for hit in user.recall("plumber", 4)]


@pytest.mark.parametrize(
    ("memory", "message", "count"),
    [
        ("The plumber is Karel.", "the plumber is Karel", 1),
        ("The plumber is Karel", "The plumber is Karel!", 1),
        ("The plumber is Karel.", "  The plumber is Karel. ", 1),
        ("The plumber is Karel", "The plumber is Karel?", 2),
        ("The plumber is karel", "The plumber is Karel", 2),
        ("The plumber costs 15", "The plumber costs 1.5", 2),
        ("The plumber costs 15", "The plumber costs -15", 2),
        ("The plumber is Karel.", "The plumber is Karel. He is late.", 2),
        ("The plumber is not Karel.", "The plumber is Karel.", 2),
    ],
)
def test_only_the_same_words_are_the_same_text(user: memspan.Scope, memory: str, message: str, count: int) -> None:
    user.remember(memory)
    user.session("s-2", model="gpt-4o").add({"role": "user", "content": message})
    assert len([hit for hit in user.search("the plumber") if "plumber" in hit.text]) == count


def test_two_messages_that_say_the_same_are_two(user: memspan.Scope) -> None:
    for day, name in enumerate(("s-2", "s-3"), 1):
        at = datetime(2026, 3, day, tzinfo=UTC)
        user.session(name, model="gpt-4o").add({"role": "user", "content": "The plumber is Karel"}, created_at=at)
    assert {hit.session_id for hit in user.search("plumber") if isinstance(hit, memspan.TranscriptHit)} == {"s-2", "s-3"}


@pytest.mark.parametrize(("ask", "doing"), [("recall", "recalling"), ("search", "searching")])
def test_an_error_names_the_call(user: memspan.Scope, ask: str, doing: str) -> None:
    """A search said "recalling", and a recall "searching"."""
    wrong: list[dict[str, Any]] = [{"min_score": 2}, {"min_score": float("nan")}, {"also": [user]}, {"also": user}, {"also": None}]
    for given in wrong:
        with pytest.raises(memspan.InvalidInput, match=f"^{doing}: "):
            getattr(user, ask)("tea", **given)
