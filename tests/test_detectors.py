"""Detectors of the caller's: asked wherever the engine screens, and never half believed."""

import json
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import memspan
from memspan.detectors import Detector, DetectorError, Found, presidio
from memspan.life import Policy


def names(text: str) -> list[Found]:
    """Finds one person, wherever she is named."""
    return [Found(at, at + 4, "person") for at in range(len(text)) if text.startswith("Zoë ", at) or text[at:] == "Zoë."]


def anne(text: str) -> Iterable[tuple[int, int, str]]:
    start = text.find("Anne")
    return [] if start < 0 else [(start, start + 4, "person")]


@pytest.fixture
def opened(tmp_path: Path) -> Iterable[Callable[..., memspan.Scope]]:
    engines: list[memspan.Engine] = []

    def make(*detectors: Detector, **options: Any) -> memspan.Scope:
        policy = Policy(detectors=detectors, **{name: options.pop(name) for name in list(options) if name in Policy.__match_args__})
        engines.append(memspan.open(tmp_path / f"store-{len(engines)}", policy=policy, **options))
        return engines[-1].user("u")

    yield make
    for engine in engines:
        engine.close()


def test_what_is_found_is_redacted_and_the_action_says_so(opened: Callable[..., memspan.Scope]) -> None:
    user = opened(anne)
    done = user.remember("Ask Anne about €5 for ana@example.org")
    assert (done.action, done.memory.text) == ("redacted", "Ask [person removed] about €5 for ana@example.org")
    assert done.reason == "the policy took out: person"
    assert user.remember("Prefers tea").action == "added"
    letters = opened(names).remember("Because Zoë said so")
    assert letters.memory.text == "Because [person removed]said so", "places are characters, and not bytes"


def test_rejecting_stores_nothing_and_allowing_does_not_ask(opened: Callable[..., memspan.Scope]) -> None:
    user = opened(anne, detected="reject")
    done = user.remember("Ask Anne")
    assert (done.action, done.memory.text, list(user.memories())) == ("rejected", "", [])

    def never(_: str) -> list[Found]:
        raise AssertionError("it is not asked")

    assert opened(never, detected="allow").remember("Ask Anne").action == "added"


def test_every_way_in_asks_them(opened: Callable[..., memspan.Scope]) -> None:
    claim = {"message": 0, "quote": "Anne drives us to the lake", "category": "episodic", "text": "Anne drives us to the lake"}

    def writer(_: list[dict[str, str]], *, max_tokens: int) -> str:
        return json.dumps({"claims": [claim]})[:max_tokens]

    user = opened(anne, transcripts=True)
    memory = user.remember("Likes tea").memory
    assert user.revise(memory.id, "Likes Anne").memory.text == "Likes [person removed]"
    assert [one.memory.text for one in user.remember_many(["Met Anne", {"text": "Saw Anne"}])] == [
        "Met [person removed]",
        "Saw [person removed]",
    ]
    assert user.learn([{"role": "user", "content": "Call me Anne."}])[0].action == "redacted"
    learned = user.learn([{"role": "user", "content": "So Anne drives us to the lake on Sunday"}], llm=writer)
    assert [one.action for one in learned.stored] == ["redacted"]
    assert "[person removed]" in user.call_tool("remember", {"text": "Anne is a friend"})
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": [{"type": "text", "text": "I am Anne"}]})
    session.add_many([{"role": "user", "content": "Anne again"}])
    assert "Anne" not in str([message.given for message in session.messages])
    assert not any("Anne" in memory.text for memory in user.memories(states="all"))


def test_an_embedder_never_sees_what_was_found(opened: Callable[..., memspan.Scope]) -> None:
    seen: list[str] = []

    class Embedder:
        name, dimensions = "mine", 4

        def embed(self, texts: list[str], /) -> list[list[float]]:
            seen.extend(texts)
            return [[1.0, 0.0, 0.0, 0.0] for _ in texts]

    user = opened(anne, embedder=Embedder())
    memory = user.remember("Likes Anne").memory
    user.revise(memory.id, "Loves Anne")
    user.learn([{"role": "user", "content": "Call me Anne."}])
    user.call_tool("remember", {"text": "Anne is a friend"})
    user.remember_many(["Met Anne"])
    assert seen
    assert not any("Anne" in text for text in seen)


def boom(_: str) -> list[Found]:
    raise ValueError("no model")


@pytest.mark.parametrize(
    ("detector", "rule"),
    [
        (boom, "raised ValueError: no model"),
        (lambda _: None, "raised TypeError"),
        (lambda text: [Found(0, len(text) + 1, "x")], r"0 <= start < end <= 11 and a name"),
        (lambda _: [(3, 3, "x")], "one is"),
        (lambda _: [(-1, 3, "x")], "one is"),
        (lambda _: [(True, 3, "x")], "one is"),
        (lambda _: [(0, 3)], "one is"),
        (lambda _: [(0, 3, "")], "one is"),
        (lambda _: [(0, 3, "x\ny")], "one is"),
        (lambda _: ["x"], "one is"),
        (lambda _: [(0, 1, "x")] * 20_000, "returned more"),
    ],
)
def test_what_fails_is_an_error_and_stores_nothing(opened: Callable[..., memspan.Scope], detector: Detector, rule: str) -> None:
    user = opened(detector, transcripts=True)
    session = user.session("s-1", model="gpt-4o")
    for call in (
        lambda: user.remember("Prefers tea"),
        lambda: user.remember_many(["Prefers tea"]),
        lambda: user.learn([{"role": "user", "content": "Call me Ana"}]),
        lambda: user.call_tool("remember", {"text": "Prefers tea"}),
        lambda: session.add({"role": "user", "content": "Prefers tea"}),
    ):
        with pytest.raises(DetectorError, match="nothing was stored"):
            call()
    with pytest.raises(DetectorError, match=rule) as caught:
        user.remember("Prefers tea")
    assert isinstance(caught.value, memspan.StateError)
    assert (list(user.memories()), len(session.messages)) == ([], 0)


def test_one_that_takes_too_long_is_left_behind(opened: Callable[..., memspan.Scope]) -> None:
    released = threading.Event()

    def slow(_: str) -> list[Found]:
        released.wait(30)
        return []

    user = opened(slow, detector_seconds=0.05)
    begin = time.monotonic()
    with pytest.raises(DetectorError, match=r"within 0\.05 seconds"):
        user.remember("Prefers tea")
    assert time.monotonic() - begin < 10
    assert list(user.memories()) == []
    released.set()


async def _later(_: str) -> list[Found]:
    return []


@pytest.mark.parametrize(
    "wrong",
    [{"detectors": anne}, {"detectors": "x"}, {"detectors": [1]}, {"detectors": [_later]}, {"detected": "drop"}, {"detector_seconds": 0}],
)
def test_a_policy_refuses_what_is_no_detector(wrong: dict[str, Any]) -> None:
    with pytest.raises(memspan.InvalidInput, match="making a policy"):
        Policy(**wrong)


def test_a_row_cannot_bring_findings_of_its_own(opened: Callable[..., memspan.Scope]) -> None:
    with pytest.raises(memspan.InvalidInput, match='"found" is none'):
        opened().remember_many([{"text": "x", "found": []}])


def test_without_presidio_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "presidio_analyzer", None)
    with pytest.raises(memspan.MissingExtra, match=r"pip install 'memspan\[presidio\]'") as caught:
        presidio()
    assert caught.value.extra == "presidio"


def test_an_analyzer_of_ones_own_is_asked(opened: Callable[..., memspan.Scope]) -> None:
    class Result:
        def __init__(self, start: int, end: int, entity_type: str, score: float) -> None:
            self.start, self.end, self.entity_type, self.score = start, end, entity_type, score

    class Analyzer:
        def analyze(self, *, text: str, entities: list[str] | None, language: str) -> list[Result]:
            assert (entities, language) == (["PERSON"], "en")
            return [Result(0, 4, "PERSON", 0.9), Result(5, len(text), "PERSON", 0.1)]

    user = opened(presidio(analyzer=Analyzer(), entities=["PERSON"]))
    assert user.remember("Anne sleeps").memory.text == "[person removed] sleeps"


def test_presidios_patterns_find_what_the_rules_do_not(opened: Callable[..., memspan.Scope]) -> None:
    pytest.importorskip("presidio_analyzer")
    user = opened(presidio())
    assert user.remember("The wallet is 16Yeky6GMjeNkAiNcBY7ZhrLoMSgg1BoyZ").memory.text == "The wallet is [crypto removed]"
    assert user.remember("Prefers tea in the morning").action == "added"


def test_a_detector_that_hangs_costs_one_thread_and_one_without_an_end_no_memory(opened: Callable[..., memspan.Scope]) -> None:
    go = threading.Event()

    def hangs(_: str) -> list[Found]:
        go.wait(20)
        return []

    def endless(_: str) -> Iterable[tuple[int, int, str]]:
        while True:
            yield (0, 1, "x")

    before = set(threading.enumerate())  # some of these may belong to earlier tests, and end meanwhile

    def added() -> set[threading.Thread]:
        return set(threading.enumerate()) - before

    user = opened(hangs, detector_seconds=0.1)
    for number in range(5):
        with pytest.raises(DetectorError, match="within"):
            user.remember(f"fact {number}")
    assert len(added()) == 1
    go.set()
    deadline = time.monotonic() + 10
    while added() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert user.remember("it has come back").action == "added"
    with pytest.raises(DetectorError, match="returned more"):
        opened(endless, detector_seconds=20).remember("a fact")


def test_a_detector_that_stores_what_it_reads_waits_for_nobody(opened: Callable[..., memspan.Scope]) -> None:
    def stores(text: str) -> list[Found]:
        user.remember(f"seen: {text}")
        return []

    user = opened(stores, detector_seconds=20)
    with pytest.raises(DetectorError, match="and it raised DetectorError"):
        user.remember("a fact")
    assert list(user.memories()) == []
