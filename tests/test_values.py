"""What is returned is a value: it can be copied, pickled, hashed and printed, and never changes."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

import memspan
from memspan.testing import FakeClock

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def values(user: memspan.Scope) -> list[object]:
    user.remember(
        "Lives in Lisbon", slot="home", id="first", metadata={"a": [1, b"x"]}, ttl_seconds=60, occurred_at=datetime(2024, 1, 1, tzinfo=UTC)
    )
    done = user.remember("Lives in Porto", slot="home")
    recall = user.recall("Porto")
    return [done, done.memory, user.get("first"), recall, recall[0], recall[0].explain(), recall[0].explain().terms[0]]


def test_copies_are_equal(values: list[object]) -> None:
    for value in values[:5]:
        assert copy.copy(value) == copy.deepcopy(value) == value
        assert copy.deepcopy({"state": [value]}) == {"state": [value]}


def test_memories_travel_to_other_processes(values: list[object], tmp_path: Path) -> None:
    for value in values[:3]:
        assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301  our own bytes
    (tmp_path / "memory").write_bytes(pickle.dumps(values[2]))
    code = "import pickle, sys; memory = pickle.load(open(sys.argv[1], 'rb')); print(memory.text, memory.superseded_by, memory.metadata)"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "memory")], capture_output=True, text=True, check=True)
    assert done.stdout == "Lives in Lisbon mem-2 {'a': [1, b'x']}\n"


def test_a_pickle_keeps_what_it_names_and_its_recalls(tmp_path: Path) -> None:
    with memspan.open(tmp_path / "s", clock=FakeClock()) as engine:
        user = engine.user("u")
        for text in ("The user runs every morning before work", "Every morning before work the user runs"):
            user.remember(text, "episodic")
        assert len(user.consolidate()) == 1
        for claim in ("blue", "vast"):
            user.learn([{"role": "user", "content": f"Remember that the sky is {claim}."}])
        user.recall("is the sky blue when the user runs every morning?")
        memories = list(user.memories())
        assert sorted((len(memory.derived_from), len(memory.disputes)) for memory in memories) == [(0, 1), (0, 1), (1, 0)]
        for memory in memories:
            again = pickle.loads(pickle.dumps(memory))  # noqa: S301  our own bytes
            assert again == memory
            assert (again.access_count, again.last_recalled_at) == (1, memory.last_recalled_at)


def test_fields_are_made_when_they_are_read_and_stay(user: memspan.Scope) -> None:
    memory = user.remember("Lives in Porto", slot="home", metadata={"k": ["v"]}).memory
    assert memory.text is memory.text
    memory.metadata["k"].append("mine")
    assert memory.metadata == {"k": ["v"]}
    with pytest.raises(AttributeError, match="'Memory' object has no attribute 'colour'"):
        getattr(memory, "colour")  # noqa: B009  what is tested
    again = pickle.loads(pickle.dumps(memory))  # noqa: S301  our own bytes
    again.metadata["k"].append("mine")
    assert (again.metadata, again.to_dict()) == ({"k": ["v"]}, memory.to_dict())
    assert list(memory.to_dict())[:3] == ["id", "text", "kind"]


def test_what_was_pickled_can_be_named_to_the_engine(user: memspan.Scope) -> None:
    memory = pickle.loads(pickle.dumps(user.remember("Lives in Porto").memory))  # noqa: S301  our own bytes
    assert user.relate("the user", "lives in", "Porto", memory=memory).memory_id == memory.id


def test_reprs_are_one_line(user: memspan.Scope) -> None:
    memory = user.remember('She said "no"\nand\tleft C:\\temp').memory
    assert repr(memory) == r'Memory("mem-1", "She said \"no\"\nand\tleft C:\\temp", kind="semantic")'


def test_nothing_can_be_set_or_made(values: list[object]) -> None:
    for value in values:
        for name in ("text", "colour"):
            with pytest.raises(AttributeError):
                setattr(value, name, "x")
        with pytest.raises(TypeError):
            type(value)()


def test_reprs_are_short_and_name_what_matters(user: memspan.Scope, values: list[object]) -> None:
    user.remember("x" * 10_000)
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "port " * 2_000})
    [hit] = user.search_transcripts("port")
    assert repr(hit) == f'TranscriptHit({hit.score:.3f}, "{"port " * 12}...", session="s-1", index=0)'
    kept = memspan.fit([{"role": "user", "content": "x " * 500}] * 3, model="gpt-4o")
    with session.lease() as lease:
        assert repr(lease) == "Lease(session='s-1', held=True)"
    captured = session.reply(session.assemble())
    for value in [*values, user.recall("x" * 10_000), user.slots, user, hit, kept, lease, captured]:
        assert repr(value).startswith(f"{type(value).__name__}(")
        assert len(repr(value)) < 400


def test_values_outlive_the_engine(store: Path) -> None:
    with memspan.open(store) as engine:
        engine.user("u").remember("Prefers tea")
        recall = engine.user("u").recall("tea")
    assert [(hit.memory.text, hit.tokens, hit.explain().score) for hit in recall] == [("Prefers tea", 3, 1.0)]
    assert repr(recall[0].scope) == "Scope(user 'u')"


def test_what_the_core_fills_belongs_to_the_module_of_its_call(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o", metadata={"channel": "web"})
    added = session.add({"role": "user", "content": "which port?"})
    document = user.collection("docs").add("ports.md", "payments-api: 8443", metadata={"team": ["billing"]}).document
    [info] = user.sessions()
    for value, module in [(added, "memspan.short_term"), (document, "memspan.collection"), (info, "memspan._results")]:
        assert (type(value).__module__, pickle.loads(pickle.dumps(value))) == (module, value)  # noqa: S301  our own bytes
        assert copy.deepcopy(value) == value
        assert {value: 1}[value] == 1
    match added:
        case memspan.Added(index, _, action):
            assert (index, action) == (0, "added")
    assert repr(added) == f"Added(index=0, tokens={added.tokens}, action='added', turn=0)"
    with pytest.raises(AttributeError):
        setattr(document, "metadata", {})  # noqa: B010  what is tested
    whole = user.collection("docs").get("ports.md")
    assert isinstance(whole, memspan.collection.DocumentInfo)
    assert (whole.text, whole.metadata, whole.id) == ("payments-api: 8443", {"team": ["billing"]}, document.id)


def test_a_call_says_what_was_billed_and_whether_its_prompt_is_kept(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "2 + 2?"})
    reply = memspan.testing.openai_response("4", input_tokens=12, output_tokens=1)
    call = session.add_response(reply, prompt=session.assemble()).calls[0]
    assert call == session.turns[0].calls[0]
    usage = call.usage
    assert usage is not None
    assert usage.raw is not None
    assert (call.turn, call.number, call.reply, call.sent, usage.input_tokens) == (0, 0, 1, True, 12)
    usage.raw["prompt_tokens"] = 0
    assert usage.raw == reply["usage"]


def test_whoever_reads_a_dict_of_a_value_gets_it_for_himself(user: memspan.Scope) -> None:
    user.remember("payments-api listens on port 8443")
    user.session("s-1", model="gpt-4o", metadata={"tags": ["web"]})
    [info] = user.sessions()
    why = user.recall("payments-api port")[0].explain()
    info.metadata["tags"].append("mine")
    why.parts["words"] = 9.0
    assert (info.metadata, why.parts["words"] <= 1.0) == ({"tags": ["web"]}, True)
