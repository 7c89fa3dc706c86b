"""A memory to be written: the words for its kind, its source and its metadata, and the row of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memspan._values import dataclass

if TYPE_CHECKING:
    from datetime import datetime

    from memspan.long_term import Scope

__all__ = ["Kind", "Metadata", "NewMemory", "Source"]

Kind: TypeAlias = Literal["episodic", "semantic", "preference", "decision", "constraint", "task_outcome", "profile"]
"""The kinds of memories: an event, a fact, a taste, a decision, a rule that must hold, how a task ended, who somebody is."""

Source: TypeAlias = Literal["user", "tool", "assistant"]
"""Who said it, with the trust it has by default: user 3, tool 2, assistant 1; anything else 0."""

Metadata: TypeAlias = Mapping[str, Any]
"""Keys of text; values are None, bool, int (64 bits), float, str, bytes, and lists and dicts of these, at most 32 deep."""


@dataclass(frozen=True)
class NewMemory:
    """A row of `Engine.remember_many`: the arguments of `Scope.remember`, and whose memory it is.

    Attributes:
        scope: Whose memory it is. For `Scope.remember_many` it may be `None`.
    """

    scope: Scope | None
    text: str
    kind: Kind | str = "semantic"
    slot: str | None = None
    importance: float = 0.5
    confidence: float = 1.0
    trust: int | None = None
    source: Source | str = "user"
    id: str | None = None
    ttl_seconds: float | None = None
    occurred_at: datetime | None = None
    metadata: Metadata | None = None
    vector: Any = None
