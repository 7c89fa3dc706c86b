"""Graphs over the vectors of large scopes: what a user can see of them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import memspan

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

DIMENSIONS = 32


class Embedder:
    """A text's own direction, the same in every run."""

    name = "test/hashed"
    dimensions = DIMENSIONS

    def embed(self, texts: Sequence[str], /) -> np.ndarray:
        return np.array([np.random.default_rng(list(text.encode())).standard_normal(DIMENSIONS) for text in texts], dtype=np.float32)


def _open(path: Path, **rules: Any) -> memspan.Engine:
    graph = dataclasses.replace(memspan.GraphOptions(threshold=200), **rules)
    return memspan.open(path, embedder=Embedder(), graph=graph)


def test_a_large_scope_gets_a_graph_that_finds_what_the_scan_found(tmp_path: Path) -> None:
    texts = [f"memory {number:03d}" for number in range(400)]
    with _open(tmp_path / "store") as engine:
        user = engine.user("u-1")
        user.remember_many([{"text": text, "metadata": {"tens": text[-2]}, "id": text} for text in texts])
        engine.user("u-2").remember("a small scope")
        before = {text: [hit.memory.text for hit in user.recall(text, limit=3)] for text in texts[::20]}
        assert engine.maintain().graphs_built == 1
        assert engine.maintain().graphs_built == 0
        assert engine.metrics()["graphs_built"] == 1
        assert {text: [hit.memory.text for hit in user.recall(text, limit=3)] for text in before} == before
        assert {hit.memory.metadata["tens"] for hit in user.recall("memory 007", limit=40, where={"tens": "3"})} == {"3"}
        assert len(user.recall("memory 007", limit=40, where={"tens": "3"})) == 40
        # What is forgotten is gone, what is new or corrected is found, at once and without maintenance.
        user.forget("memory 040")
        assert "memory 040" not in [hit.memory.text for hit in user.recall("memory 040", limit=10)]
        user.remember("something new", id="new")
        user.revise("memory 060", text="something else")
        assert user.recall("something new")[0].memory.id == "new"
        assert user.recall("something else")[0].memory.id == "memory 060"
        assert engine.check().sound
    with _open(tmp_path / "store", rebuild_share=0.001) as engine:
        assert engine.maintain().graphs_built == 1, "three of four hundred is above the share"
        assert engine.check().sound
        engine.maintain(compact=True)
        assert engine.user("u-1").recall("something new")[0].memory.id == "new"


@pytest.mark.parametrize(
    "rules",
    [{"threshold": 0}, {"m": 3}, {"m": 65}, {"ef_construction": 8}, {"ef_search": 0}, {"rebuild_share": 0.0}, {"rebuild_share": 2.0}],
)
def test_rules_out_of_range_are_refused(tmp_path: Path, rules: dict[str, float]) -> None:
    with pytest.raises(memspan.InvalidInput, match=next(iter(rules))):
        _open(tmp_path / "store", **rules)
