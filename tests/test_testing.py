"""The things that memspan gives to the tests of others: they must do what they say when told to misbehave."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memspan
from memspan.testing import FakeClock, FakeEmbedder, FakeProvider, temporary_engine


def test_the_clock_stands_still_until_it_is_moved() -> None:
    clock = FakeClock()
    assert clock() == clock() == datetime(2025, 1, 1, tzinfo=UTC)
    assert clock.advance(hours=1) == clock() == datetime(2025, 1, 1, 1, tzinfo=UTC)
    clock.advance(timedelta(days=-1))
    assert clock() == datetime(2024, 12, 31, 1, tzinfo=UTC)


def test_a_naive_time_is_utc_and_an_aware_one_keeps_its_zone() -> None:
    naive = datetime(2024, 6, 1)  # noqa: DTZ001  the point of the test
    lisbon = timezone(timedelta(hours=1))
    clock = FakeClock(naive)
    assert clock() == naive.replace(tzinfo=UTC)
    clock.set(datetime(2024, 6, 1, tzinfo=lisbon))
    assert clock().utcoffset() == timedelta(hours=1)


def test_no_advance_is_lost_between_threads() -> None:
    clock = FakeClock()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: clock.advance(seconds=1), range(1_000)))
    assert clock() == datetime(2025, 1, 1, tzinfo=UTC) + timedelta(seconds=1_000)


def test_vectors_are_unit_length_and_near_where_words_are_shared() -> None:
    embedder = FakeEmbedder(dimensions=128)
    rows = embedder.embed(["payments-api listens on port 8443", "which port does payments-api use", "prefers tea", "", "???"])
    assert rows.dtype == np.float32
    assert rows.shape == (5, 128)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-6)
    assert rows[0] @ rows[1] > rows[0] @ rows[2]
    assert embedder.embed([]).shape == (0, 128)


def test_the_same_text_gives_the_same_bytes_in_another_process() -> None:
    code = "import sys; from memspan.testing import FakeEmbedder; sys.stdout.write(FakeEmbedder().embed([sys.argv[1]]).tobytes().hex())"
    text = "Änderung des ports 8443, naïve"
    other = subprocess.run([sys.executable, "-c", code, text], check=True, capture_output=True, text=True)
    assert other.stdout == FakeEmbedder().embed([text]).tobytes().hex()


def test_signs_that_cancel_out_still_give_a_direction() -> None:
    embedder = FakeEmbedder(dimensions=1)
    rows = embedder.embed([f"word{number}" for number in range(50)])
    assert np.all(np.abs(rows) == 1)


def test_it_breaks_as_often_as_told_and_counts_every_call() -> None:
    embedder = FakeEmbedder(dimensions=8)
    embedder.break_with("raise", times=2)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="told to fail"):
            embedder.embed(["a", "b"])
    assert embedder.embed(["a"]).shape == (1, 8)
    assert (embedder.calls, embedder.texts) == (3, 5)


def test_wrong_shapes_and_nan_last_until_mended() -> None:
    embedder = FakeEmbedder(dimensions=8)
    embedder.break_with("shape")
    assert embedder.embed(["a"]).shape == (1, 7)
    embedder.break_with("nan")
    assert np.isnan(embedder.embed(["a"])).any()
    embedder.mend()
    assert np.isfinite(embedder.embed(["a"])).all()


@pytest.mark.parametrize("release", ["mend", "break_with"])
def test_a_hanging_call_waits_until_it_is_let_go(release: str) -> None:
    embedder = FakeEmbedder()
    embedder.break_with("hang", times=1)
    waiting = threading.Thread(target=embedder.embed, args=(["a"],))
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    if release == "mend":
        embedder.mend()
    else:
        embedder.break_with("hang")
        embedder.mend()
    waiting.join(5)
    assert not waiting.is_alive()


def test_nonsense_is_refused() -> None:
    with pytest.raises(memspan.InvalidInput, match="at least 1, got 0"):
        FakeEmbedder(dimensions=0)
    with pytest.raises(memspan.InvalidInput, match="got 'explode'"):
        FakeEmbedder().break_with("explode")  # type: ignore[arg-type]


def test_a_temporary_engine_cleans_up_even_after_an_error() -> None:
    kept: list[Path] = []
    engines: list[memspan.Engine] = []

    def fail() -> None:
        with temporary_engine() as engine:
            engines.append(engine)
            kept.append(Path(engine.path))
            assert kept[0].is_dir()
            raise LookupError("on purpose")

    with pytest.raises(LookupError, match="on purpose"):
        fail()
    assert not kept[0].exists()
    with pytest.raises(memspan.Closed):
        engines[0].user("u-1").remember("too late")


def test_the_fixture_gives_an_engine_under_the_fake_clock(memspan_engine: memspan.Engine, memspan_clock: FakeClock) -> None:
    user = memspan_engine.user("u-1")
    first = user.remember("Prefers tea").memory
    memspan_clock.advance(days=3)
    second = user.remember("Prefers coffee").memory
    assert second.created_at - first.created_at == timedelta(days=3)


def test_importing_it_needs_no_pytest() -> None:
    code = (
        "import sys; sys.modules['pytest'] = None; import memspan.testing; assert not [m for m in sys.modules if m.startswith('_pytest')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_two_fake_providers_give_a_response_the_same_id(memspan_engine: memspan.Engine) -> None:
    """Ids were made of the provider's place in memory: of one that was made where another had been, replies were taken for stored ones."""
    user = memspan_engine.user("u")
    prompt = user.session("s", "gpt-4o").assemble()
    assert len({FakeProvider(["ok"]).complete(prompt)["id"] for _ in range(100)}) == 100


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("hello", "must be a list of results, got 'hello'"),
        ({"content": "x"}, "must be a list of results"),
        (5, "must be a list of results, got 5"),
        ([], "it is empty"),
        ([None], "entry 0 of the script must be a text, .* got None"),
        (["x", {"content": "x"}], "entry 1 of the script"),
        ([["weather"]], "entry 0 of the script"),
        ([[("weather", {}, 1)]], "entry 0 of the script"),
        ([[("weather", "{}")]], "entry 0 of the script"),
    ],
)
def test_a_script_that_gives_no_results_is_refused(script: Any, says: str) -> None:
    with pytest.raises(memspan.InvalidInput, match=f"^FakeProvider: .*{says}"):
        FakeProvider(script)


def test_what_a_function_of_a_script_returns_is_looked_at(memspan_engine: memspan.Engine) -> None:
    prompt = memspan_engine.user("u").session("s", "gpt-4o").assemble()
    with pytest.raises(memspan.InvalidInput, match=r"what the script's function returned must be a text, .* got 5"):
        FakeProvider([lambda _: 5]).complete(prompt)
    with pytest.raises(ValueError, match="overloaded"):
        FakeProvider([lambda _: ValueError("overloaded")]).complete(prompt)


def test_a_reply_names_the_model_that_was_asked(memspan_engine: memspan.Engine) -> None:
    prompt = memspan_engine.user("u").session("s", "claude-sonnet-4-5").assemble()
    provider = FakeProvider(["hi"])
    assert provider.complete(prompt)["model"] == "claude-sonnet-4-5"
    assert {chunk["model"] for chunk in provider.stream(prompt)} == {"claude-sonnet-4-5"}
    assert provider.complete(prompt, model="own-name")["model"] == "own-name"
    reply = memspan.Assistant(memspan_engine, provider, model="claude-sonnet-4-5").respond("u", "hi")
    assert reply.turn.model == "claude-sonnet-4-5"
