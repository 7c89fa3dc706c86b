"""Secrets and personal data: what a policy refuses, takes out and keeps, wherever a text is written."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

import memspan
import memspan.providers
import memspan.testing
from memspan import _core, _records

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

KEY = "AKIAIOSFODNN7EXAMPLE"


def test_a_secret_is_refused_by_default_and_leaves_no_trace(memspan_engine: memspan.Engine) -> None:
    user = memspan_engine.user("u")
    done = user.remember(f"the key is {KEY}", id="k-1")
    assert (done.action, done.memory.text, done.reason) == ("rejected", "", "the policy refuses: vendor key")
    assert repr(done) == 'Remembered("rejected", <stored nowhere>, reason="the policy refuses: vendor key")'
    assert (done.memory.id, done.memory.sequence) == ("k-1", 0)
    assert user.remember(f"the key is {KEY}").memory.id == ""
    assert list(user.memories()) == []
    assert user.remember("the key is in the vault", id="k-1").action == "added"  # the id was not used


def test_each_way_to_write_follows_the_policy(store: Path) -> None:
    policy = memspan.Policy(secrets="reject", personal_data="redact", transcripts=True)
    with memspan.open(store, policy=policy) as engine:
        user = engine.user("u")
        done = user.remember("write to ana@example.org")
        assert (done.action, done.memory.text) == ("redacted", "write to [e-mail address removed]")
        many = user.remember_many(["password=hunter22", "call 415-555-0132", "Prefers tea"])
        assert [one.action for one in many] == ["rejected", "redacted", "added"]
        memory = many[2].memory
        assert user.revise(memory.id, f"Prefers {KEY}").action == "rejected"
        assert user.get(memory.id).text == "Prefers tea"
        revised = user.revise(memory.id, "Prefers ana@example.org")
        assert (revised.action, revised.memory.text) == ("redacted", "Prefers [e-mail address removed]")
        report = engine.remember_many([{"scope": user, "text": f"key {KEY}"}, {"scope": user, "text": "mail b@c.org"}])
        assert (report.rejected, report.redacted) == (1, 1)
        session = user.session("s", model="gpt-4o")
        session.add({"role": "user", "content": [{"type": "text", "text": f"my key is {KEY}"}]})
        session.add_many([{"role": "assistant", "content": "card 4111 1111 1111 1111"}])
        assert session.messages[0].text == "my key is [vendor key removed]"
        assert session.messages[1].text == "card [payment card removed]"
        learned = user.learn([{"role": "user", "content": f"Remember that the deploy key is {KEY}"}])
        assert [one.action for one in learned] == ["rejected"]
        assert "rejected" in user.call_tool("remember", {"text": f"the key is {KEY}"})
        assert not any(KEY in memory.text or "@" in memory.text for memory in user.memories())


class Block:
    """A part of a message as an SDK makes it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def model_dump(self, **options: Any) -> dict[str, Any]:
        assert options == {"mode": "json"}
        return {"type": "text", "text": self.text}


@pytest.mark.parametrize(
    "content",
    [
        lambda said: ({"type": "text", "text": said},),
        lambda said: [Block("first"), Block(said)],
        lambda said: (Block("first"), Block(said)),
        lambda said: f"{said} " + "word " * 1_000_000,
    ],
    ids=["a tuple", "objects", "objects in a tuple", "a long text"],
)
def test_a_transcript_has_no_secret_in_whatever_shape_it_comes(store: Path, content: Any) -> None:
    with memspan.open(store, policy=memspan.Policy(transcripts=True)) as engine:
        session = engine.user("u").session("s", model="claude-opus-4-5")
        session.add({"role": "user", "content": content(f"my key is {KEY}")})
        [message] = session.messages
        assert KEY not in str(message.given)
        assert "[vendor key removed]" in str(message.given)


def test_allow_keeps_everything(store: Path) -> None:
    with memspan.open(store, policy=memspan.Policy(secrets="allow")) as engine:
        assert engine.user("u").remember(f"the key is {KEY}").action == "added"


def test_an_embedder_never_sees_what_is_refused(store: Path) -> None:
    class Spy(memspan.testing.FakeEmbedder):
        def embed(self, texts: Sequence[str], /) -> Any:
            assert not any(KEY in text for text in texts)
            return super().embed(texts)

    with memspan.open(store, embedder=Spy()) as engine:
        user = engine.user("u")
        assert user.remember(f"the key is {KEY}").action == "rejected"
        assert user.remember_many([f"the key is {KEY}"])[0].action == "rejected"
        assert user.learn([{"role": "user", "content": f"Remember that the key is {KEY}"}])[0].action == "rejected"
        memory = user.remember("Prefers tea").memory
        assert user.revise(memory.id, f"the key is {KEY}").action == "rejected"


@pytest.mark.parametrize("wrong", [{"secrets": "drop"}, {"personal_data": ""}, {"unconfirmed": "allow"}, {"learn": "always"}])
def test_a_policy_says_what_it_takes(wrong: dict[str, str]) -> None:
    with pytest.raises(memspan.InvalidInput, match="making a policy"):
        memspan.Policy(**wrong)  # type: ignore[arg-type]


def test_places_are_in_characters() -> None:
    text = "\u00e9\u00e9 ana@example.org"
    assert _core.screen(text) == [_records.SensitivePart("e-mail address", 3, 18)]


@pytest.mark.parametrize(
    "wrong", [{"policy": 5}, {"policy": {}}, {"kinds": 5}, {"kinds": ["episodic"]}, {"kinds": {"episodic": 1}}, {"llm": 5}]
)
def test_rules_of_another_kind_are_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    """open(policy=5) said that an int has no attribute 'secrets', and open(llm=5) was taken and failed at each `learn`.

    Each is refused before the store is touched, with what to give."""
    with pytest.raises(memspan.InvalidInput, match="opening a store"):
        memspan.open(tmp_path / "store", **wrong)
    assert not (tmp_path / "store").exists()


def test_what_is_true_or_false_is_a_bool(memspan_engine: memspan.Engine) -> None:
    """transcripts="no" turned it on, maintain(compact="no") compacted, and learn(dry_run="no") only said what it would do."""
    user = memspan_engine.user("u")
    user.remember("Prefers tea")
    talk = [{"role": "user", "content": "I live in Porto."}]
    calls: list[Callable[[Any], object]] = [
        lambda flag: memspan.Policy(transcripts=flag),
        lambda flag: memspan_engine.maintain(compact=flag),
        lambda flag: memspan_engine.maintenance(60, compact=flag),
        lambda flag: user.learn(talk, dry_run=flag),
        lambda flag: user.consolidate(dry_run=flag),
        lambda flag: user.memories(newest_first=flag),
        lambda flag: memspan.providers.OpenAI(object(), cache_key=flag),
    ]
    for call in calls:
        for flag in ("no", 0, None):
            with pytest.raises(memspan.InvalidInput, match="True or False"):
                call(flag)
        call(True)


def test_options_of_calls_are_checked_where_nothing_is_to_be_done(memspan_engine: memspan.Engine, tmp_path: Path) -> None:
    """compact(llm="gpt-4o") and compact(timeout_seconds=-1) were taken where nothing was due, open(embed_timeout_seconds=-1) always."""
    session = memspan_engine.user("u").session("s", model="gpt-4o")
    session.add({"role": "user", "content": "hi"})
    wrong: list[dict[str, Any]] = [{"llm": "gpt-4o"}, {"timeout_seconds": -1}, {"timeout_seconds": "x"}, {"timeout_seconds": True}]
    for options in wrong:
        for call in (session.compact, partial(session.brief, "x"), partial(session.switch_model, "gpt-4.1"), partial(memspan.compact, [])):
            with pytest.raises(memspan.InvalidInput, match="compacting"):
                call(**options)
    with pytest.raises(memspan.InvalidInput, match="learn must be"):
        session.compact(learn="no")  # type: ignore[arg-type]
    assert session.model == "gpt-4o"
    assert session.compact(keep_exchanges=0).covers == range(0)
    for number, open_options in enumerate(({"embed_timeout_seconds": -1}, {"embed_timeout_seconds": "x"}, {"clock": 5}, {"on_event": "x"})):
        with pytest.raises(memspan.InvalidInput, match="opening a store"):
            memspan.open(tmp_path / str(number), **open_options)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(memspan.InvalidInput, match="several"):
        session.recover(session.assemble(), "529 Overloaded", models="gpt-4.1")
    with pytest.raises(memspan.InvalidInput, match=r"making a compaction.*Compact\.at"):
        memspan.Compact(at=75)


def test_replies_are_stored_as_they_came(tmp_path: Path) -> None:
    """What transcripts=True says of replies: a tool is run with what the model wrote, and what was said can be read back."""
    with memspan.open(tmp_path / "s", policy=memspan.Policy(personal_data="redact", transcripts=True)) as engine:
        session = engine.user("u").session("s", model="gpt-4o")
        session.add({"role": "user", "content": "my mail is ana@example.com"})
        call = ("c-1", "send", {"to": "ana@example.com"})
        session.add_response(memspan.testing.openai_response("to ana@example.com", tool_calls=[call]), prompt=session.assemble())
        assert "ana@example.com" not in session.messages[0].text
        assert session.pending_tool_calls[0].arguments == {"to": "ana@example.com"}
        assert session.messages[1].content == "to ana@example.com"
        session.add({"role": "tool", "tool_call_id": "c-1", "content": "sent to ana@example.com"})
        assert "ana@example.com" not in session.messages[2].text
