"""The embedding that is built in: its tokens are those of another implementation, its vectors what the store has, its default safe."""

from __future__ import annotations

import logging
import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

import memspan
from memspan.embedding import BuiltIn
from memspan.testing import FakeEmbedder

if TYPE_CHECKING:
    from pathlib import Path

BUILT_IN = BuiltIn()
FACTS = ["payments-api listens on port 8443", "The user adopted a kitten last week", "Never deploy on a Friday"]
PARAPHRASE = "which pet does she have?"  # shares no word with the second fact


def vocabulary(repository: Path) -> dict[str, int]:
    """The tokens of the file that the engine is built with, read as its format says."""
    raw = (repository / "rust/engine/src/embedding/data/wordpiece.bin").read_bytes()
    count = int.from_bytes(raw[:4], "little")
    ends = np.frombuffer(raw, dtype="<u4", count=count, offset=4)
    texts = raw[4 + 4 * count + 2 * 65_536 :]
    tokens, start = {"[UNK]": 0}, 0
    for number, end in enumerate(ends.tolist()[1:], start=1):
        stop = end & 0x7FFF_FFFF
        tokens[("##" if end >> 31 else "") + texts[start:stop].decode()] = number
        start = stop
    return tokens


@pytest.fixture(scope="module")
def reference(repository: Path) -> Tokenizer:
    """BERT's uncased tokenizer as Hugging Face has it, on the same vocabulary."""
    tokenizer = Tokenizer(WordPiece(vocabulary(repository), unk_token="[UNK]", max_input_chars_per_word=100))  # noqa: S106  no password
    tokenizer.normalizer = BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return tokenizer


def check(reference: Tokenizer, text: str) -> None:
    assert BUILT_IN.tokens(text) == reference.encode(text).tokens, repr(text)


@pytest.mark.timeout(600)  # a second or two by itself, much more on a machine that does other things
def test_every_character_is_cut_like_the_reference_cuts_it(reference: Tokenizer) -> None:
    everywhere = [
        *range(0x3_2400),
        *range(0xE_0000, 0xE_0200),
        *range(0x3_2400, 0x11_0000, 997),
    ]  # above plane 3 almost nothing is assigned
    characters = [chr(code_point) for code_point in everywhere if not 0xD800 <= code_point < 0xE000]
    for first in range(0, len(characters), 64):
        check(reference, " ".join(f"x{c}y {c}" for c in characters[first : first + 64]))


ALPHABETS = [
    st.characters(codec="utf-8"),
    st.characters(max_codepoint=0x7F),
    st.sampled_from("aAeEiIoOuUßñçÅåéÉüÜøØłŁđž" + "\u0301\u0308\u030a\u0323\u0327\u0345\u1dc4\u20d0\u302e\u0f39\u1dfa"),
    st.sampled_from("αβγΣςσΩώабвгЁёЙйאבגدثक्षி가각힣각中文字ｶﾞ々"),
    st.sampled_from(
        ".,;:!?'\"()[]{}<>@#$%^&*-_=+\\|/`~¿¡«»„“”\u2018\u2019\u2013—…•€£¥©®™°" + " \t\r\n\u00a0\u2003\u200b\u200d\ufeff\ufffd\x00\x7f\x85"
    ),
    st.sampled_from(["un", "believ", "able", "##ing", "[UNK]", "[CLS]", "2024", "payments", "getUserById", "🙂", "👩‍🚀", "x" * 60]),
]


@pytest.mark.timeout(600)
@given(st.lists(st.one_of(ALPHABETS), max_size=60).map("".join))
def test_any_text_is_cut_like_the_reference_cuts_it(reference: Tokenizer, text: str) -> None:
    check(reference, text)


def test_prose_is_cut_like_the_reference_cuts_it(reference: Tokenizer, repository: Path) -> None:
    for path in sorted(repository.glob("docs/**/*.md")):
        for paragraph in path.read_text(encoding="utf-8").split("\n\n"):
            check(reference, paragraph)


def test_vectors_have_their_shape_and_length_one() -> None:
    rows = BUILT_IN.embed([*FACTS, "", "\x00", "🙂", "中文", "x" * 100_000])
    assert (rows.shape, rows.dtype.name, rows.flags.writeable) == ((8, BUILT_IN.dimensions), "float32", True)
    # What the table does not know points nowhere: it would be near to everything else that it does not know.
    assert np.allclose(np.linalg.norm(rows, axis=1), [1, 1, 1, 0, 0, 0, 0, 0], atol=1e-6)
    assert BUILT_IN.embed([]).shape == (0, BUILT_IN.dimensions)
    assert isinstance(BUILT_IN, memspan.Embedder)
    for wrong in ("text", b"text", ["\ud800"], [5]):
        with pytest.raises(memspan.InvalidInput):
            BUILT_IN.embed(wrong)  # type: ignore[arg-type]


def test_what_is_alike_is_near() -> None:
    rows = BUILT_IN.embed(["I adopted a kitten", "Which pet does she have?", "The server ran out of memory", "Never deploy on a Friday"])
    assert rows[0] @ rows[1] > max(rows[1] @ rows[2], rows[1] @ rows[3])


def test_a_process_of_its_own_makes_the_same_bytes() -> None:
    code = f"import sys, memspan; sys.stdout.write(memspan.embedding.BuiltIn().embed({FACTS!r}).tobytes().hex())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert bytes.fromhex(done.stdout) == BUILT_IN.embed(FACTS).tobytes()


def test_it_is_the_default_and_finds_a_paraphrase(store: Path) -> None:
    with memspan.open(store) as engine:
        user = engine.user("u")
        user.remember(FACTS[0])
        user.remember_many(FACTS[1:2])
        memory = user.remember("to be revised").memory
        user.revise(memory.id, FACTS[2])
        metrics = engine.metrics()
        assert (metrics["memories"], metrics["vectors"]) == (3, 3)
        recall = user.recall(PARAPHRASE)
        assert (recall.mode, recall.degraded, recall[0].memory.text) == ("hybrid", False, FACTS[1])
        asked = BUILT_IN.embed_query(PARAPHRASE)
        for hit in recall:
            [stored] = BUILT_IN.embed([hit.memory.text])
            assert hit.explain().cosine == pytest.approx(float(asked @ stored), abs=1e-6)
        assert engine.check().sound
    with memspan.open(store, embedder=None) as engine:
        recall = engine.user("u").recall(PARAPHRASE)
        assert (recall.mode, recall.degraded, len(recall)) == ("lexical", False, 0)


def test_inside_the_engine_and_as_an_object_it_is_one_embedding(store: Path) -> None:
    class Wrapped(BuiltIn):
        """Called like any embedder, because it is not the class itself."""

    with memspan.open(store, embedder=Wrapped()) as engine:
        engine.user("u").remember_many(FACTS)
    answers = []
    for embedder in ("default", BuiltIn(), Wrapped()):
        with memspan.open(store, embedder=embedder) as engine:
            recall = engine.user("u").recall(PARAPHRASE)
            assert not recall.degraded
            answers.append([(hit.memory.text, hit.score) for hit in recall])
    assert answers[0] == answers[1] == answers[2]


def test_a_store_made_without_vectors_gets_them_from_maintenance(store: Path) -> None:
    with memspan.open(store, embedder=None) as engine:
        engine.remember_many({"scope": engine.user(f"u-{number % 3}"), "text": f"fact {number}"} for number in range(900))
        engine.user("u-0").remember_many(FACTS)
    with memspan.open(store) as engine:
        user = engine.user("u-0")
        before = user.recall("payments-api port")
        assert (before.degraded, before.mode, before[0].memory.text) == (True, "lexical", FACTS[0])
        assert "maintain()" in (before.degraded_reason or "")
        report = engine.maintain()
        assert (report.vectors_made, report.vectors_pending) == (903, 0)
        assert not user.recall(PARAPHRASE).degraded
        assert user.recall(PARAPHRASE)[0].memory.text == FACTS[1]
        assert engine.maintain().vectors_made == 0
        assert engine.check().sound


def test_what_is_said_twice_at_once_keeps_its_vector_while_a_store_changes_its_embedding(store: Path) -> None:
    with memspan.open(store) as engine:
        engine.user("u").remember("I like tea.")
    with memspan.open(store, embedder=FakeEmbedder(16, name="other")) as engine:
        session = engine.user("u").session("s", model="gpt-4o")
        for hour in range(2):
            at = datetime(2025, 1, 1, hour, tzinfo=UTC)
            session.add({"role": "user", "content": "My dog's name is Rex."}, created_at=at)
        assert [one.action for one in engine.user("u").learn(session)] == ["added", "reinforced"]
        assert engine.maintain().vectors_made == 1, "that of the tea"


def test_vectors_of_another_embedder_are_not_given_up_by_default(store: Path, caplog: pytest.LogCaptureFixture) -> None:
    other = FakeEmbedder(16, name="other")
    with memspan.open(store, embedder=other) as engine:
        engine.user("u").remember_many(FACTS)
    with caplog.at_level(logging.WARNING, "memspan"), memspan.open(store) as engine:
        assert "'other'" in caplog.text
        assert engine.user("u").recall("Friday").mode == "lexical"
        report = engine.maintain()
        assert (report.vectors_made, report.vectors_pending, engine.metrics()["vectors"]) == (0, 0, 3)
    with memspan.open(store, embedder=other) as engine:
        assert not engine.user("u").recall("Friday").degraded
    with memspan.open(store, embedder=BuiltIn()) as engine:
        assert engine.maintain().vectors_made == 3
        recall = engine.user("u").recall(PARAPHRASE)
        assert (recall.degraded, recall[0].memory.text) == (False, FACTS[1])


@pytest.mark.parametrize("embedder", ["builtin", "", 5, object()])
def test_an_embedder_that_is_none(store: Path, embedder: object) -> None:
    with pytest.raises(memspan.InvalidInput, match="embedder"):
        memspan.open(store, embedder=embedder)  # type: ignore[arg-type]
