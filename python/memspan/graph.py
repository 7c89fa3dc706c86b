"""A caller's options for graphs over vectors."""

from __future__ import annotations

from memspan._values import dataclass

__all__ = ["GraphOptions"]


@dataclass(frozen=True)
class GraphOptions:
    """How a scope of very many memories gets a graph over its vectors (HNSW), which `Engine.maintain` builds.

    Below the threshold, and until it is built, all vectors of a scope are compared. A graph answers sooner and approximately: it finds
    99 of 100 of the nearest, or more with a greater `ef_search`. Memories that were added or changed since are compared exactly, and
    filters lose nothing. The bench `crossover` measures from which size on it pays on a machine.

    Attributes:
        threshold: Memories with a vector from which on a scope gets a graph.
        m: Links of a node, M, 4 to 64. More links find more and take more memory: 384 bytes a memory for 16, at 256 dimensions.
        ef_construction: Nodes kept in sight while one is linked in, `m` to 4,096. A larger number makes a better graph, slower.
        ef_search: Nodes kept in sight by a search, 1 to 65,535. A larger number finds more, slower.
        rebuild_share: Share of added and changed memories from which on the graph is built anew, above 0 and at most 1.
    """

    threshold: int = 200_000
    m: int = 16
    ef_construction: int = 200
    ef_search: int = 128
    rebuild_share: float = 0.2
