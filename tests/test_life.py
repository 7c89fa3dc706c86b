"""What becomes of memories: merged, distilled, forgotten by rule; profile, tools for a model, relations, evaluation."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import memspan
from memspan import _core, _records, cli
from memspan.testing import FakeClock, openai_response

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = (
    "The user runs every morning before work",
    "Every morning before work the user runs",
    "The user is running every morning before work",
)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def engine(store: Path, clock: FakeClock) -> Any:
    with memspan.open(store, clock=clock) as opened:
        yield opened


# --- consolidation


def test_what_says_nearly_the_same_is_merged_once_and_nothing_is_lost(engine: memspan.Engine) -> None:
    user = engine.user("u")
    ids = [user.remember(text, "episodic").memory.id for text in TEXTS]
    user.remember("payments-api listens on port 8443", "episodic")
    user.remember("payments-api listens on port 9443", "episodic")
    planned = user.consolidate(dry_run=True)
    assert [cluster.by for cluster in planned] == ["rules"]
    assert len(list(user.memories())) == 5
    [cluster] = user.consolidate()
    assert cluster.memory is not None
    assert {memory.id for memory in cluster.originals} == set(ids)
    assert set(cluster.memory.derived_from) == set(ids) - {cluster.memory.id}
    assert {user.get(memory_id).state for memory_id in cluster.memory.derived_from} == {"superseded"}
    assert len(list(user.memories())) == 3
    assert len(user.consolidate()) == 0
    assert engine.check().sound


def test_events_of_two_days_are_not_merged(engine: memspan.Engine) -> None:
    user = engine.user("u")
    for month in (1, 6):
        user.remember("Had a migraine", "episodic", occurred_at=datetime(2024, month, 1, tzinfo=UTC))
    assert len(user.consolidate()) == 0
    user.remember("Had a migraine.", "episodic", occurred_at=datetime(2024, 6, 1, 20, tzinfo=UTC))
    assert [len(cluster.originals) for cluster in user.consolidate()] == [2], "the control"
    assert len(list(user.memories())) == 2


def test_a_model_distils_what_the_originals_bear_out(engine: memspan.Engine) -> None:
    user = engine.user("u")
    texts = ("Ana ran 5 km along the river on Monday", "Ana ran 5 km along the river on Tuesday", "Ana ran 5 km along the river on Friday")
    ids = [user.remember(text, "episodic").memory.id for text in texts]
    invented = user.consolidate(llm=lambda _messages, **_options: "Ana won the 5 km marathon.", closeness=0.7)
    assert (len(invented), invented.failed_calls) == (0, 1)
    done = user.consolidate(llm=lambda _messages, **_options: "Ana ran 5 km along the river on Monday Tuesday Friday.", closeness=0.7)
    assert [cluster.by for cluster in done] == ["model"]
    memory = done[0].memory
    assert memory is not None
    assert (memory.writer, set(memory.derived_from), memory.trust) == ("consolidation", set(ids), 3)
    gone = user.forget_from(source="user")
    assert memory.id in {one.id for one in gone}


@pytest.mark.parametrize("by_model", [True, False])
def test_what_a_model_made_of_a_redacted_message_goes_and_what_rules_merged_stays(engine: memspan.Engine, *, by_model: bool) -> None:
    user, sentence = engine.user("u"), "Ana ran 5 km along the river at noon, dawn and night."
    session = user.session("s", model="gpt-4o")
    texts = [f"Ana ran 5 km along the river at {time}" for time in ("noon", "dawn", "night")] if by_model else TEXTS
    session.add_many([{"role": "user", "content": f"Remember that {text}."} for text in texts])
    assert len(user.learn(session).stored) == 3
    done = user.consolidate(llm=(lambda _messages, **_options: sentence) if by_model else None, closeness=0.7)
    assert [cluster.by for cluster in done] == ["model" if by_model else "rules"]
    merged = done[0].memory
    assert merged is not None
    session.redact(1)
    assert [one.id for one in user.memories()] == ([] if by_model else [merged.id])


ROOMS = ("The guest visits room alpha", "The guest visits room alpha in Berlin", "The guest of the hotel visits room alpha in Berlin")
ROOM = "The hotel guest visits room alpha in Berlin."


def distilled(user: memspan.Scope, sentence: str) -> list[memspan.life.Cluster]:
    return list(user.consolidate(llm=lambda _messages, **_options: sentence, closeness=0.6))


def test_what_is_kept_stands_for_what_is_forgotten_sooner(engine: memspan.Engine, clock: FakeClock) -> None:
    """The longer text stood for both, and went when its time was over."""
    user = engine.user("u")
    lasting = user.remember("The garage code is 4471").memory
    user.remember("The garage code is really just 4471", importance=0.9, ttl_seconds=60)
    [cluster] = user.consolidate(closeness=0.6)
    assert (cluster.text, cluster.memory and cluster.memory.id) == (lasting.text, lasting.id)
    clock.advance(seconds=61)
    engine.maintain()
    assert [memory.text for memory in user.memories()] == [lasting.text]
    assert engine.check().sound


def test_a_distilled_memory_is_of_their_kind_time_and_metadata(engine: memspan.Engine) -> None:
    user = engine.user("u")
    days = [datetime(2026, 1, day, tzinfo=UTC) for day in (3, 9, 6)]
    for place, (text, day) in enumerate(zip(ROOMS, days, strict=True)):
        metadata = {"tenant": "x", "row": place, "of": {"a": 1}} | ({"only": True} if place else {})
        user.remember(text, "preference", metadata=metadata, occurred_at=day, importance=0.2 * place)
    [cluster] = distilled(user, ROOM)
    memory = cluster.memory
    assert memory is not None
    assert (memory.kind, memory.occurred_at, memory.metadata, memory.expires_at) == (
        "preference",
        days[1],
        {"tenant": "x", "of": {"a": 1}},
        None,
    )
    assert [hit.text for hit in user.recall("guest room", where={"tenant": "x"})] == [ROOM]
    assert engine.check().sound


def test_what_ends_is_distilled_with_what_ends_on_its_day_and_ends_first(engine: memspan.Engine, clock: FakeClock) -> None:
    """A model's sentence was kept for ever, whatever the originals' time to live."""
    user, day = engine.user("u"), 86_400.0
    ends = [user.remember(text, ttl_seconds=10 * day + place).memory.expires_at for place, text in enumerate(ROOMS)]
    [cluster] = distilled(user, ROOM)
    assert cluster.memory is not None
    assert cluster.memory.expires_at == min(end for end in ends if end is not None)
    for seconds in (None, 10 * day, 30 * day):
        other = engine.user(f"apart-{seconds}")
        for place, text in enumerate(ROOMS):
            other.remember(text, ttl_seconds=20 * day if place else seconds)
        assert distilled(other, ROOM) == [], "two of them are fewer than a model is asked about"
        assert len(list(other.memories())) == 3
    clock.advance(days=11)
    engine.maintain()
    assert list(user.memories()) == []
    assert engine.check().sound


def test_a_sentence_that_one_of_them_is_keeps_that_one(store: Path) -> None:
    """It was stored by half: every recall of the scope failed, and so did repairs by compaction."""
    with memspan.open(store, clock=FakeClock(), kinds={"semantic": memspan.life.KindRule(ttl_days=90)}) as engine:
        user = engine.user("u")
        ids = [user.remember(text).memory.id for text in ROOMS]
        [cluster] = distilled(user, ROOMS[2])
        assert cluster.memory is not None
        assert (cluster.memory.id, set(cluster.memory.derived_from)) == (ids[2], set(ids[:2]))
        assert [hit.memory.id for hit in user.recall("guest room")] == [ids[2]]
        assert engine.check().sound


def test_a_sentence_that_the_policy_changes_merges_nothing(store: Path) -> None:
    texts = ["Mails bob@example.com", "Mails bob@example.com daily", "Acme mails bob@example.com daily"]
    with memspan.open(store, clock=FakeClock()) as engine:
        engine.user("u").remember_many(texts)
    with memspan.open(store, clock=FakeClock(), policy=memspan.Policy(personal_data="redact")) as engine:
        user = engine.user("u")
        assert distilled(user, "Daily Acme mails bob@example.com.") == []
        assert [memory.text for memory in user.memories()] == texts
        assert user.remember("Cats sleep most of the day").memory.id == "mem-4"
        assert engine.check().sound


def test_what_a_stricter_policy_refuses_to_approve_waits_on(store: Path) -> None:
    key = "The deploy key is ghp_" + "a1B2" * 9
    with memspan.open(store, policy=memspan.Policy(secrets="allow")) as engine:
        assert engine.user("u").remember(key, "constraint", trust=0, source="document").action == "quarantined"
    with memspan.open(store) as engine:
        user = engine.user("u")
        [waiting] = user.quarantined()
        done = user.approve(waiting.id)
        assert (done.action, done.memory.id, done.reason) == ("rejected", waiting.id, "the policy refuses: vendor key")
        assert [memory.text for memory in user.quarantined()] == [key]
        assert engine.check().sound


CHECKOUT = ("Checkout runs on prod-1.", "Checkout of the shop runs on prod-1.", "The shop's checkout runs on prod-1 in Berlin.")


@pytest.mark.parametrize("by_model", [True, False])
def test_what_is_merged_says_how_things_are_related(engine: memspan.Engine, *, by_model: bool) -> None:
    """The relation ended with the memory that had said it first."""
    user = engine.user("u")
    texts = CHECKOUT if by_model else ("Checkout runs on prod-1.", "The checkout really runs on prod-1.")
    first, *_ = [user.remember(text).memory for text in texts]
    if not by_model:
        user.relate("checkout", "costs", "money", memory=first)
    before = user.neighbors("checkout")
    [cluster] = distilled(user, "Checkout runs on prod-1 in Berlin.") if by_model else user.consolidate(closeness=0.6)
    assert cluster.memory is not None
    assert cluster.memory.id != first.id
    after = user.neighbors("checkout")
    assert {(one.relation, one.object) for one in before} <= {(one.relation, one.object) for one in after}
    assert {one.memory_id for one in after} == {cluster.memory.id}
    assert after[0].since == before[0].since
    user.forget(cluster.memory.id)
    assert user.neighbors("checkout") == ()
    assert engine.check().sound


def test_what_another_memory_says_too_stays_where_one_is_forgotten(engine: memspan.Engine, clock: FakeClock) -> None:
    user = engine.user("u")
    user.remember_many([f"service-{number} runs on host-{number}" for number in range(40)])
    first = user.remember("Checkout runs on prod-1.").memory
    clock.advance(hours=1)
    second = user.remember("The checkout runs on prod-1. We like it.", ttl_seconds=60).memory
    user.forget(first.id)
    assert [(one.object, one.memory_id, one.since) for one in user.neighbors("checkout")] == [("prod-1", second.id, second.occurred_at)]
    third = user.remember("Our checkout runs on prod-1, mostly.").memory
    clock.advance(hours=1)
    engine.maintain()
    assert [(one.object, one.memory_id) for one in user.neighbors("checkout")] == [("prod-1", third.id)], "the second expired"
    user.forget(third.id)
    assert user.neighbors("checkout") == ()
    assert engine.check().sound


def test_clusters_are_those_of_scikit_learn() -> None:
    sklearn = pytest.importorskip("sklearn.cluster", reason="scikit-learn is the oracle: pip install scikit-learn")
    chance = np.random.default_rng(3)
    centres = chance.normal(size=(12, 16))
    vectors = np.concatenate([centre + chance.normal(scale=0.2, size=(25, 16)) for centre in centres] + [chance.normal(size=(100, 16))])
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    codes = np.round(vectors / np.abs(vectors).max(1, keepdims=True) * 127)
    codes /= np.linalg.norm(codes, axis=1, keepdims=True)
    for closeness in (0.85, 0.9, 0.95):
        theirs = sklearn.DBSCAN(eps=1 - closeness + 1e-12, min_samples=3, metric="cosine").fit_predict(codes)
        assert [-1 if one is None else one for one in _core.dbscan(vectors.tolist(), closeness, 3)] == theirs.tolist()


def naive_dbscan(vectors: np.ndarray, closeness: float, least: int) -> list[int | None]:
    """DBSCAN as its definition says, from scikit-learn's order of visits."""
    near = vectors @ vectors.T >= closeness
    labels: list[int | None] = [None] * len(vectors)
    count = 0
    for seed in range(len(vectors)):
        if labels[seed] is not None or near[seed].sum() < least:
            continue
        stack = [seed]
        while stack:
            at = stack.pop()
            if labels[at] is None:
                labels[at] = count
            if near[at].sum() >= least:
                stack += [int(other) for other in np.flatnonzero(near[at]) if labels[other] is None]
        count += 1
    return labels


def test_clusters_are_those_of_the_definition() -> None:
    chance = np.random.default_rng(4)
    vectors = np.concatenate([chance.normal(size=(1, 8)) + chance.normal(scale=0.25, size=(20, 8)) for _ in range(8)])
    codes = np.round(vectors / np.abs(vectors).max(1, keepdims=True) * 127)
    codes /= np.linalg.norm(codes, axis=1, keepdims=True)
    for closeness in (0.8, 0.9, 0.97):
        mine = _core.dbscan(vectors.astype(np.float32).tolist(), closeness, 4)
        theirs = naive_dbscan(codes, closeness, 4)
        assert [one is None for one in mine] == [one is None for one in theirs]
        core = (codes @ codes.T >= closeness).sum(1) >= 4
        assert [mine[at] for at in np.flatnonzero(core)] == [theirs[at] for at in np.flatnonzero(core)]


# --- kinds, stale memories


def test_kinds_expire_and_keep_to_their_cap(store: Path) -> None:
    clock = FakeClock()
    rules = {"episodic": memspan.KindRule(ttl_days=10), "semantic": memspan.KindRule(cap=2, half_life_days=30)}
    with memspan.open(store, clock=clock, kinds=rules) as engine:
        user = engine.user("u")
        user.remember("went to Rome", "episodic")
        user.remember("stays", "episodic", ttl_seconds=1e8)
        for number, importance in enumerate((0.9, 0.2, 0.5)):
            user.remember(f"fact {number}", importance=importance)
        assert engine.maintain().over_cap == 1
        assert [memory.text for memory in user.memories(kinds="semantic")] == ["fact 0", "fact 2"]
        clock.advance(days=11)
        assert [memory.text for memory in user.memories(kinds="episodic")] == ["stays"]
    with pytest.raises(memspan.InvalidInput, match="ttl_days"):
        memspan.KindRule(ttl_days=0)
    with pytest.raises(memspan.InvalidInput, match="a kind of memory is one of"):
        memspan.open(store, kinds={"gossip": memspan.KindRule()})


def test_a_dry_run_of_forget_stale_names_what_the_call_removes(store: Path) -> None:
    """Recalls that were noted and not yet stored counted for the call and not for its dry run."""
    clock = FakeClock()
    with memspan.open(store, clock=clock) as engine:
        user = engine.user("u")
        user.remember("Prefers tea", importance=0.1)
        user.remember("payments-api listens on port 8443", importance=0.1)
        clock.advance(days=100)
        assert len(user.recall("tea", kinds="semantic", limit=1)) == 1
        planned = user.forget_stale(90, 0.4, dry_run=True)
        assert [memory.id for memory in user.forget_stale(90, 0.4)] == [memory.id for memory in planned]
        assert len(planned) == 1


# --- profile, tools


def test_a_profile_ends_before_the_first_memory_that_is_too_much(user: memspan.Scope) -> None:
    """It counted the whole text anew for each memory: 8,000 took 9.7 s with room for all."""
    user.remember_many([{"text": f"Prefers tea number {n}" + " of the best" * (n % 7), "kind": "preference"} for n in range(120)])
    lines = user.profile(max_tokens=100_000).text.splitlines()
    assert len(lines) == 120
    for most in (0, 1, 5, 40, 41, 300, 301, 302, 303, 900, 1_000):
        profile = user.profile(max_tokens=most)
        count = len(profile.memories)
        assert profile.text == "\n".join(lines[:count])
        assert memspan.count_tokens(profile.text) <= most
        assert memspan.count_tokens("\n".join(lines[: count + 1])) > most or count == 120


def test_a_profile_has_what_is_known_now_within_its_tokens(user: memspan.Scope) -> None:
    user.remember("Never deploy on Fridays", "constraint")
    user.remember("Prefers Python", "preference", slot="language")
    user.remember("Prefers Go", "preference", slot="language")
    user.remember("Went to Rome", "episodic")
    profile = user.profile()
    assert profile.text == "Never deploy on Fridays\nPrefers Go"
    assert profile.slots == {"language": "Prefers Go"}
    assert memspan.count_tokens(user.profile(max_tokens=5).text) <= 5


@pytest.mark.parametrize("format", ["openai", "openai_responses", "anthropic", "gemini", "mcp"])
def test_schemas_are_json_of_the_providers_shape(user: memspan.Scope, format: Any) -> None:  # noqa: A002
    text = json.dumps(user.tools(format=format))
    assert text.count('"recall"') == 1
    assert '"constraint"' not in text
    assert '"constraint"' in json.dumps(user.tools(format=format, allow=["constraint"]))
    assert ("inputSchema" in text) == (format == "mcp")


def test_a_model_remembers_recalls_lists_and_forgets(user: memspan.Scope) -> None:
    done = json.loads(user.call_tool("remember", '{"text": "Prefers tea", "kind": "preference", "slot": "drink"}'))
    assert done["action"] == "added"
    [found] = json.loads(user.call_tool("recall", {"query": "tea"}))["memories"]
    assert (found["id"], found["slot"]) == (done["id"], "drink")
    assert json.loads(user.call_tool("list", {}))["of"] == 1
    assert user.get(done["id"]).writer == "tool"
    assert json.loads(user.call_tool("forget", {"memory_id": done["id"]})) == {"forgotten": True}
    assert json.loads(user.call_tool("list", "{}"))["memories"] == []


def test_a_model_takes_no_slot_from_the_user(user: memspan.Scope) -> None:
    user.remember("Prefers coffee", "preference", slot="drink")
    user.call_tool("remember", {"text": "Prefers tea", "kind": "preference", "slot": "drink"})
    assert user.slots["drink"].text == "Prefers coffee"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("delete_everything", {}),
        ("remember", {}),
        ("remember", {"text": 7}),
        ("remember", {"text": "x", "kind": "constraint"}),
        ("remember", {"text": "x", "user": "u-43"}),
        ("recall", {"query": "x", "limit": 10_000}),
        ("recall", {"query": "x", "limit": True}),
        ("recall", "{broken"),
        ("recall", "[1]"),
        ("forget", {"memory_id": "mem-999"}),
        ("list", {"kind": "gossip"}),
    ],
)
def test_a_models_mistake_is_a_reply(user: memspan.Scope, name: str, arguments: Any) -> None:
    assert "error" in json.loads(user.call_tool(name, arguments))
    assert list(user.memories()) == []


# --- relations


def test_relations_hold_from_when_to_when(memspan_engine: memspan.Engine) -> None:
    user = memspan_engine.user("u")
    memory = user.remember("payments-api runs on prod-eu-west-1").memory
    since = datetime(2024, 1, 1, tzinfo=UTC)
    first = user.relate("payments-api", "runs on", "prod-eu-west-1", since=since, memory=memory)
    assert user.relate("Payments-API", "Runs on", "PROD-eu-west-1") == first
    assert first.memory_id == memory.id
    ended = user.relate("payments-api", "runs on", "prod-eu-west-1", holds=False)
    assert ended.until is not None
    assert user.neighbors("payments-api") == ()
    assert user.neighbors("payments-api", at=since + timedelta(days=1)) == (ended,)
    for wrong in ("", "x" * 300, "..."):
        with pytest.raises(memspan.InvalidInput):
            user.relate(wrong, "is", "y") if wrong != "..." else user.relate("a", "b", "c", holds=False)
    assert memspan_engine.user("other").neighbors("payments-api", at=since + timedelta(days=1)) == ()
    assert memspan_engine.check().sound


def all_shortest(edges: list[tuple[str, str]], a: str, b: str, most: int) -> set[tuple[str, ...]]:
    """Every shortest path, breadth first over nodes."""
    paths: list[tuple[str, ...]] = [(a,)]
    for _ in range(most):
        paths = [
            (*path, other)
            for path in paths
            for one, two in edges
            for here, other in ((one, two), (two, one))
            if here == path[-1] and other not in path
        ]
        if found := {path for path in paths if path[-1] == b}:
            return found
    return set()


def test_paths_are_the_shortest(user: memspan.Scope) -> None:
    chance = random.Random(5)  # noqa: S311  the same chances in every run
    nodes = [f"n{number}" for number in range(9)]
    edges = sorted({tuple(sorted(chance.sample(nodes, 2))) for _ in range(12)})
    for one, two in edges:
        user.relate(one, "knows", two)
    for a in nodes:
        for b in nodes:
            if a != b:
                mine = set()
                for path in user.paths(a, b, max_hops=4):
                    walk = [a]
                    for edge in path:
                        walk.append(edge.object if edge.subject == walk[-1] else edge.subject)
                    mine.add(tuple(walk))
                assert mine == all_shortest(edges, a, b, 4), (a, b)  # type: ignore[arg-type]
    with pytest.raises(memspan.InvalidInput, match="max_hops"):
        user.paths("n0", "n1", max_hops=9)


def test_paths_are_those_of_networkx(user: memspan.Scope) -> None:
    networkx = pytest.importorskip("networkx", reason="networkx is the oracle: pip install networkx")
    graph = networkx.gnm_random_graph(12, 18, seed=2)
    for one, two in graph.edges:
        user.relate(f"n{one}", "knows", f"n{two}")
    for a in graph.nodes:
        for b in graph.nodes:
            if a != b:
                theirs = len(list(networkx.all_shortest_paths(graph, a, b))) if networkx.has_path(graph, a, b) else 0
                assert len(user.paths(f"n{a}", f"n{b}", max_hops=8)) == theirs


def test_plain_statements_relate_and_lead_to_what_they_do_not_name(engine: memspan.Engine) -> None:
    user = engine.user("u")
    first = user.remember("checkout depends on payments-api").memory
    second = user.remember("payments-api runs on prod-eu-west-1").memory
    user.remember("The office plants are watered on Mondays")
    assert [(one.subject, one.relation, one.object, one.memory_id) for one in user.neighbors("payments-api")] == [
        ("checkout", "depends on", "payments-api", first.id),
        ("payments-api", "runs on", "prod-eu-west-1", second.id),
    ]
    hits = {hit.memory.id: hit for hit in user.recall("tell me about checkout", limit=5)}
    assert second.id in hits, "two steps away, without a word of the question"
    assert hits[second.id].explain().related == "checkout depends on payments-api, payments-api runs on prod-eu-west-1"
    assert "payments-api runs on prod-eu-west-1" in str(hits[second.id].explain())
    assert user.forget(first.id)
    assert [one.object for one in user.neighbors("payments-api")] == ["prod-eu-west-1"]
    assert all(hit.explain().related is None for hit in user.recall("tell me about checkout", limit=5)), "no relation leads there now"
    assert user.neighbors("checkout", at=datetime(2030, 1, 1, tzinfo=UTC)) == (), "forgotten with its memory"
    assert engine.check().sound


def test_a_relation_ends_with_what_said_it(engine: memspan.Engine) -> None:
    user = engine.user("u")
    user.remember("payments-api runs on prod-1", slot="home of payments-api")
    user.remember("payments-api runs on prod-2", slot="home of payments-api")
    assert [one.object for one in user.neighbors("payments-api")] == ["prod-2"]
    memory = user.remember("billing runs on prod-1").memory
    user.revise(memory.id, text="billing runs on prod-3")
    assert [one.object for one in user.neighbors("billing")] == ["prod-3"]
    user.learn([{"role": "user", "content": "My timezone is CET."}])
    assert [(one.relation, one.object) for one in user.neighbors("user")] == [("timezone", "CET")]
    user.remember("wiki runs on evil-host", source="web")
    assert user.neighbors("wiki") == (), "nobody vouches for it"
    assert engine.check().sound


def test_relations_without_a_time_are_those_that_hold_now(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    later = datetime(2999, 1, 1, tzinfo=UTC)
    user.relate("ana", "works at", "acme", since=later)
    assert (user.neighbors("ana"), user.paths("ana", "acme")) == ((), ())
    assert len(user.neighbors("ana", at=later)) == len(user.paths("ana", "acme", at=later)) == 1
    # Two writes of one reading of the clock: the second is later than the clock.
    user.remember_many(["checkout depends on payments-api", "payments-api runs on prod-1"])
    user.remember("billing depends on payments-api")
    memspan_clock.advance(timedelta(hours=-1))
    assert {one.subject for one in user.neighbors("payments-api")} == {"checkout", "payments-api", "billing"}
    assert len(user.paths("billing", "prod-1")) == 1


def test_a_relation_is_of_a_memory_of_its_scope(user: memspan.Scope, memspan_engine: memspan.Engine) -> None:
    own = user.remember("payments-api runs somewhere").memory
    alien = memspan_engine.user("other").remember("checkout runs somewhere").memory
    assert alien.id == own.id, "the control"
    with memspan.testing.temporary_engine() as elsewhere:
        strange = elsewhere.user("u-42").remember_many(["a first", "a second"])[1].memory
    for memory in (alien, strange):
        with pytest.raises(memspan.InvalidInput, match="of the same scope"):
            user.relate("k", "runs on", "m", memory=memory)
    assert user.neighbors("k") == ()
    revised = user.revise(own.id, "payments-api runs in prod-1").memory
    for place, memory in enumerate((own, revised)):
        assert user.relate(f"k-{place}", "runs on", "m", memory=memory).memory_id == own.id
    user.forget(own.id)
    assert user.neighbors("k-0") == ()
    with pytest.raises(memspan.InvalidInput, match="of the same scope"):
        user.relate("k-2", "runs on", "m", memory=revised)


def test_a_half_life_of_the_programs_and_doubt_move_what_decays(store: Path) -> None:
    clock = FakeClock()
    with memspan.open(store, clock=clock, kinds={"semantic": memspan.KindRule(half_life_days=10)}) as engine:
        user = engine.user("u")
        old = user.remember("the standup is in room Ada").memory
        clock.advance(days=60)
        new = user.remember("the standup is in room Bell").memory
        assert [hit.memory.id for hit in user.recall("which room is the standup in")] == [new.id, old.id]
        assert user.recall("which room is the standup in")[1].explain().recency < 0.6
        assert engine.check().sound


def test_what_is_disputed_says_so_in_a_prompt(engine: memspan.Engine) -> None:
    user = engine.user("u")
    user.learn([{"role": "user", "content": "Remember that the sky is blue."}])
    user.learn([{"role": "user", "content": "Remember that the sky is vast."}])
    session = user.session("s", model="gpt-4o")
    session.add({"role": "user", "content": "What is the sky?"})
    prompt = session.assemble()
    shown = str(prompt.to_openai())
    assert shown.count("disputed=") == 2
    turn = session.add_response(openai_response("Blue, or vast."), prompt=prompt)
    assert user.forget(next(iter(user.memories())).id)
    again = session.turn(turn.number).prompt
    assert again is not None
    assert str(again.to_openai()).count("disputed=") == 1, "what was shown stays as it was, less what is forgotten"
    session.add({"role": "user", "content": "And the sky now?"})
    assert "disputed=" not in session.assemble().to_openai()["messages"][-1]["content"]


def test_what_has_expired_disputes_nothing(tmp_path: Path) -> None:
    clock = FakeClock()
    kinds = {"semantic": memspan.KindRule(ttl_days=2), "episodic": memspan.KindRule(ttl_days=2)}
    with memspan.open(tmp_path / "s", clock=clock, kinds=kinds) as engine:
        user = engine.user("u")
        user.remember("payments-api listens on port 8443 in eu-1.", ttl_seconds=86_400 * 300, source="user")
        clock.advance(timedelta(hours=1))
        user.learn([{"role": "user", "content": "payments-api listens on port 9443."}])
        session = user.session("s", model="gpt-4o")
        session.add({"role": "user", "content": "Which port does payments-api listen on?"})
        assert str(session.assemble().to_openai()).count("disputed=") == 2
        clock.advance(timedelta(days=3))
        assert "disputed=" not in str(session.assemble().to_openai())


def test_what_is_disputed_among_pinned_memories_says_so_too(engine: memspan.Engine) -> None:
    user = engine.user("u")
    user.learn([{"role": "user", "content": "You must be brief."}])
    session = user.session("s", model="gpt-4o")
    session.add({"role": "user", "content": "hello"})
    first = session.assemble()
    assert "disputed=" not in str(first.to_openai())
    turn = session.add_response(openai_response("Hello."), prompt=first)
    user.learn([{"role": "user", "content": "You must be thorough."}])
    [brief, thorough] = user.memories("constraint")
    assert (brief.disputes, thorough.disputes) == ([thorough.id], [brief.id])
    session.add({"role": "user", "content": "and now?"})
    second = session.assemble()
    [before, now] = [prompt.to_openai()["messages"][0] for prompt in (first, second)]
    assert now == before, "what was pinned stays as it was until the epoch ends"
    assert str(second.to_openai()["messages"][-1]).count("disputed=") == 2
    again = session.turn(turn.number).prompt
    assert again is not None
    assert again.to_openai() == first.to_openai()
    other = user.session("s-2", model="gpt-4o")
    other.add({"role": "user", "content": "hello"})
    pinned = other.assemble()
    assert str(pinned.to_openai()["messages"][0]).count("disputed=") == 2
    reply = other.add_response(openai_response("Hello."), prompt=pinned)
    user.forget(thorough.id)
    shown = other.turn(reply.number).prompt
    assert shown is not None
    assert str(shown.to_openai()["messages"][0]).count("disputed=") == 1, "what was shown stays as it was, less what is forgotten"


def test_the_gate_is_counted(engine: memspan.Engine) -> None:
    user = engine.user("u")
    before = engine.metrics()
    user.learn([{"role": "user", "content": "Call me Ana. I prefer Vim. Hi there! My boss said I hate tea."}])
    user.remember("my password is hunter2!x")
    after = engine.metrics()
    grown = {
        name: after[name] - before[name] for name in after if name.startswith(("gate_", "texts_screened")) and after[name] != before[name]
    }
    assert grown == {
        "gate_seen": 4, "gate_profile": 1, "gate_preference": 1, "gate_discard": 1, "gate_episodic": 1, "gate_stored": 2,
        "gate_quarantined": 1, "texts_screened": 1,
    }  # fmt: skip


def test_what_a_deleted_session_taught_is_marked_nowhere(engine: memspan.Engine) -> None:
    user = engine.user("u")
    session = user.session("s", model="gpt-4o")
    session.add({"role": "user", "content": "Call me Ana."})
    user.learn(session)
    session.delete()
    again = user.session("s", model="gpt-4o")
    again.add({"role": "user", "content": "Call me Ana."})
    assert user._core.learn_mark("s").before == _records.Mark(0, 0, 0)


def test_unslotted_preferences_are_given_slots_to_choose(engine: memspan.Engine) -> None:
    user = engine.user("u")
    memory = user.remember("The user prefers Python for scripting", "preference").memory
    user.remember("The user prefers long walks", "preference")
    done = user.consolidate(dry_run=True)
    assert [(one.memory.id, one.slot) for one in done.proposals] == [(memory.id, "programming language for scripting")]
    user.revise(memory.id, slot=done.proposals[0].slot)
    assert user.consolidate().proposals == ()


# --- evaluation


@pytest.mark.parametrize(
    ("answer", "precision"),
    [("8443", 1.0), ("44", 0.0), ("caf\u00e9", 0.5), ("cafe\u0301", 0.5), ("CAF\u00c9", 0.5), ("port", 0.5), ("tea", 0.5)],
)
def test_an_answer_is_a_whole_number_in_any_unicode_form_or_one_memory(engine: memspan.Engine, answer: str, precision: float) -> None:
    user = engine.user("u")
    user.remember("The tea of the cafe\u0301 steams", id="tea")
    if answer in {"8443", "44"}:
        user = engine.user("v")
        user.remember("The cafe\u0301 listens on port 8443")
    else:
        user.remember("The caf\u00e9 teaches port and sherry" if answer == "port" else "The team of the kiosk steams tea")
    question = {"user": user.id, "question": "which caf\u00e9 or kiosk steams, teaches or listens?", "answers": [answer]}
    assert memspan.evaluate(engine, [question]).precision == precision
    with pytest.raises(memspan.InvalidInput, match='"newest" is a text and not empty, and in question 1 it is'):
        memspan.evaluate(engine, [{**question, "newest": ""}])


def test_evaluation_counts_what_answers(engine: memspan.Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    user = engine.user("u")
    port = user.remember("payments-api listens on port 8443").memory
    user.remember("The user prefers dark mode", "preference")
    questions = [
        {"user": "u", "question": "which port does payments-api use?", "answers": [port.id]},
        {"user": "u", "question": "which port does payments-api use?", "answers": ["9999"]},
    ]
    done = memspan.evaluate(engine, questions, limit=1)
    assert (done.questions, done.labelled, done.precision, done.coverage, done.duplicates) == (2, 2, 0.5, 0.5, 0.0)
    file = tmp_path / "q.jsonl"
    file.write_text("\n".join(map(json.dumps, questions)))
    engine.close()
    assert cli.main(["eval", str(engine.path), str(file), "--limit", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["precision"] == 0.5
    with memspan.open(engine.path) as again:
        with pytest.raises(memspan.InvalidInput, match="question 1"):
            memspan.evaluate(again, [{"question": "whose?"}])
        for wrong in ("8443", 8443, [""], [8443]):
            with pytest.raises(memspan.InvalidInput, match='"answers" is a list of texts or ids'):
                memspan.evaluate(again, [{**questions[0], "answers": wrong}])
        assert memspan.evaluate(again, [{**questions[0], "answers": None}]).labelled == 0
        with pytest.raises(memspan.NotFound, match="check its user"):
            memspan.evaluate(again, [{**questions[0], "user": "nobody"}])
        file.write_bytes(b'{"user": "u", "question": "port?"}\n{"user": "u", "question": "caf\xe9?"}\n')
        with pytest.raises(memspan.InvalidInput, match="a JSON object in UTF-8, and line 2 is not"):
            memspan.evaluate(again, file)
        file.write_bytes(b"\n")
        with pytest.raises(memspan.InvalidInput, match="must have questions, and it is empty"):
            memspan.evaluate(again, file)
        file.write_text(json.dumps({"user": "u", "question": "which\u2028port?"}, ensure_ascii=False))
        assert memspan.evaluate(again, file).questions == 1, "only a line feed ends a line"


def test_evaluation_bears_originals_that_were_forgotten(engine: memspan.Engine) -> None:
    user = engine.user("u")
    for number in range(3):
        user.remember(f"The user prefers dark roast coffee in the morning{'.' * number}", "preference")
    user.consolidate(closeness=0.6)
    [merged] = [memory for memory in user.memories() if memory.derived_from]
    user.forget(merged.derived_from[0])
    assert memspan.evaluate(engine, [{"user": "u", "question": "coffee?"}]).consolidation == 1.0


def test_evaluation_measures_the_gate_screening_merging_and_the_newest_value(engine: memspan.Engine) -> None:
    user = engine.user("u")
    for text in TEXTS:
        user.remember(text, "episodic")
    user.consolidate()
    for day, value in ((1, "eu-west-1"), (2, "us-east-2")):
        user.learn([{"role": "user", "content": f"The deploy region is {value}.", "created_at": datetime(2025, 1, day, tzinfo=UTC)}])
    rows: list[dict[str, Any]] = [
        {"user": "u", "question": "what is the deploy region?", "newest": "us-east-2"},
        {"user": "u", "message": "Call me Ana.", "informs": True},
        {"user": "u", "message": "What's the weather like?", "informs": False},
        {"user": "u", "message": "ok thanks", "informs": True},
        {"user": "u", "message": "pay with 4111 1111 1111 1111", "sensitive": True},
        {"user": "u", "message": "commit 3f2a9bc costs $12.50", "sensitive": False},
    ]
    done = memspan.evaluate(engine, rows)
    assert (done.questions, done.newest_first, done.consolidation) == (1, 1.0, 1.0)
    assert done.gate_f1 == pytest.approx(2 / 3)
    assert done.gate_auroc is not None
    assert 0.0 < done.gate_auroc <= 1.0
    assert (done.sensitive_found, done.false_alarms) == (1.0, 0.0)
    assert len(list(user.memories())) == 2, "messages are measured and not stored"
    assert str(done).count("\n") == 15


# --- the six failure modes of agent memory


def assemble(user: memspan.Scope, session_id: str, question: str) -> str:
    session = user.session(session_id, model="gpt-4o")
    session.add({"role": "user", "content": question})
    return json.dumps(session.assemble().to_openai(), ensure_ascii=False)


def test_cold_start(engine: memspan.Engine) -> None:
    """Before: a new session knows nothing of the last one. After: it knows what was learnt from it."""
    user = engine.user("u")
    assert "Lisbon" not in assemble(user, "before", "where do I live?")
    old = user.session("old", model="gpt-4o")
    old.add({"role": "user", "content": "I've moved to Lisbon."})
    user.learn(old)
    assert "lives in Lisbon" in assemble(user, "after", "where do I live?")


def test_pollution(engine: memspan.Engine) -> None:
    """Before: everything that is said is kept. After: greetings, questions and what an assistant did not know are not."""
    talk = [
        {"role": "user", "content": "Hi there!"},
        {"role": "assistant", "content": "Hello! How can I help?"},
        {"role": "user", "content": "What's my deploy region?"},
        {"role": "assistant", "content": "I don't know your deploy region."},
        {"role": "user", "content": "Our deploy region is eu-west-1."},
    ]
    before, user = engine.user("before"), engine.user("u")
    for message in talk:
        before.remember(message["content"], source=message["role"])
    asked = "What's my deploy region?"
    assert "I don't know your deploy region." in assemble(before, "polluted", asked), "an excuse is told again"
    learned = user.learn(talk)
    assert len(learned) == 5
    assert [memory.text for memory in user.memories()] == ["Our deploy region is eu-west-1."]
    assert [hit.memory.text for hit in user.recall(asked, 2)] == ["Our deploy region is eu-west-1."]
    assert "I don't know" not in assemble(user, "clean", asked)


def test_stale_override(engine: memspan.Engine) -> None:
    """Before: both values stand side by side, and the one that is told last looks newest. After: the newest event wins."""
    before, user = engine.user("before"), engine.user("u")
    for text, day in (("I live in Rome.", 9), ("I live in Oslo.", 3)):
        before.remember(text, occurred_at=datetime(2024, 5, day, tzinfo=UTC))
        user.learn([{"role": "user", "content": text, "created_at": datetime(2024, 5, day, tzinfo=UTC)}])
    assert [memory.text for memory in before.memories()] == ["I live in Rome.", "I live in Oslo."]
    assert user.slots["home"].text == "The user lives in Rome."
    assert [memory.text for memory in user.memories()] == ["The user lives in Rome."]
    assert "Oslo" not in assemble(user, "s", "where do I live?")


def test_working_state_leak(engine: memspan.Engine) -> None:
    """Before: the steps of one task turn up in the next session. After: they were never stored, and what a task keeps ends with it."""
    before, user = engine.user("before"), engine.user("u")
    state = ("Step 3 of 7 is done, moving on to the next step.", "hold on")
    for text in state:
        before.remember(text)
    assert "Step 3" in assemble(before, "next", "what is the next step to do?")
    user.learn([{"role": "user", "content": text} for text in state])
    with user.session("old", model="gpt-4o").task("review", ttl_seconds=60) as task:
        task.set("step", "Step 3 of 7")
    assert list(user.memories()) == []
    assert "Step 3" not in assemble(user, "next", "what is the next step to do?")


def test_overflow(store: Path) -> None:
    """Before: events pile up. After: a kind keeps to its cap, and the most valuable stay."""
    with memspan.open(store, kinds={"episodic": memspan.KindRule(cap=20)}) as engine:
        user = engine.user("u")
        user.remember_many([{"text": f"event {number}", "kind": "episodic", "importance": number / 100} for number in range(100)])
        assert len(list(user.memories())) == 100
        engine.maintain()
        assert [memory.text for memory in user.memories()] == [f"event {number}" for number in range(80, 100)]


def test_retrieval_noise(engine: memspan.Engine) -> None:
    """Before: the same thing said thrice is three memories, and takes three places. After: it is one, said three times."""
    before, user = engine.user("before"), engine.user("u")
    texts = [
        "Remember that the payments team prefers dark mode.",
        "Remember that payments team prefers dark mode",
        "Note that the payments team really prefers dark mode.",
    ]
    for day, text in enumerate(texts, 1):
        before.remember(text, occurred_at=datetime(2024, 5, day, tzinfo=UTC))
        user.learn([{"role": "user", "content": text, "created_at": datetime(2024, 5, day, tzinfo=UTC)}])
    assert len(list(before.memories())) == 3
    [memory] = user.memories()
    assert memory.reinforced == 2
    assert [hit.memory.id for hit in user.recall("dark mode of the payments team", 3)] == [memory.id]


@pytest.mark.parametrize("questions", [5, None, [{"user": "u", "question": "tea", "answers": 5}]])
def test_questions_of_another_kind_are_refused(engine: memspan.Engine, questions: Any) -> None:
    """evaluate(engine, 5) raised a plain TypeError.

    It is an error of memspan, which says where to look."""
    with pytest.raises(memspan.InvalidInput, match="evaluat"):
        memspan.evaluate(engine, questions)


def test_a_redaction_leaves_what_a_deleted_session_of_its_id_taught(store: Path) -> None:
    """It asked for the id of the session and the place of the message alone, and many a program has one session named "default"."""
    clock = FakeClock()
    with memspan.open(store, clock=clock) as engine:
        user = engine.user("u")
        user.session("default", model="gpt-4o").add({"role": "user", "content": "I live in Porto."})
        user.learn(user.session("default"))
        [known] = user.memories()
        user.session("default").delete()
        clock.advance(hours=1)
        again = user.session("default", model="gpt-4o")
        again.add({"role": "user", "content": "hello"})
        user.learn(again)
        again.redact(0)
        assert user.get(known.id).state == "current"
