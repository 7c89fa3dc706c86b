"""Embedders: what `memspan.open` needs of one, and what it tells when one fails.

Embedding happens before the engine is entered, never inside a transaction. A recall without a vector is answered by words alone
and says so; a memory without one is stored, found by its words, and embedded by `Engine.maintain`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memspan.long_term import Scope

__all__ = ["Embedder", "Event"]


@runtime_checkable
class Embedder(Protocol):
    """What `memspan.open(embedder=...)` needs.

    `embed` may be called from several threads at once. An optional attribute `revision` (a str) tells versions of a model apart: name,
    dimensions and revision together are the identity of its vectors in a store.

    Attributes:
        name: The model's name, 1 to 1,024 bytes.
        dimensions: The length of a vector, 1 to 8,192.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def dimensions(self) -> int: ...  # noqa: D102
    def embed(self, texts: Sequence[str], /) -> Any:
        """One row a text: an array of float32 or float64 of shape (len(texts), dimensions), or lists of floats. Any length but zero."""


@dataclass(frozen=True)
class Event:
    """Something that an operator wants to know: given to the `on_event` of `memspan.open`.

    Attributes:
        kind: "degraded": a recall was answered by words alone. "pending": memories were stored without a vector.
        reason: What the embedder did.
        scope: Whose memory it was; `None` where it was that of several scopes.
        memories: How many memories were stored without a vector; 0 for a recall.
    """

    kind: Literal["degraded", "pending"]
    reason: str
    scope: Scope | None
    memories: int = 0
