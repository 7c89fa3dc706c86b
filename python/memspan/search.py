"""One question to several sources: `Scope.search`. The engine searches, orders and leaves out (`session/sources.rs`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from memspan._flags import shown
from memspan._kept import Passage, Recalled
from memspan._values import dataclass
from memspan.answer import Answer, SourceName
from memspan.exceptions import InvalidInput
from memspan.transcript import TranscriptHit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, tzinfo

    from memspan.long_term import Scope

__all__ = ["AnyHit", "Conditions", "checked_sources", "search"]

AnyHit: TypeAlias = Recalled | TranscriptHit | Passage
"""A hit of any source."""

_SOURCES: tuple[SourceName, ...] = ("memories", "transcripts", "collections")


@dataclass(frozen=True)
class Conditions:
    """The limits that apply to every source."""

    where: Mapping[str, Any] | None
    since: datetime | None
    until: datetime | None
    min_score: float | None
    max_tokens: int | None
    relevant_only: bool
    timezone: tzinfo | None


def checked_sources(sources: Sequence[str]) -> tuple[SourceName, ...]:
    """The sources in the engine's order, each once."""
    one = isinstance(sources, str) or not isinstance(sources, Iterable)  # pyright: ignore[reportUnnecessaryIsInstance]  callers without types
    named: tuple[object, ...] = (sources,) if one else tuple(sources)
    unknown = [name for name in named if name not in _SOURCES]
    if unknown or not named:
        raise InvalidInput(
            f"searching: sources= names one or more of {', '.join(map(repr, _SOURCES))}, got {shown(sources)}: name what to search",
            sources=shown(sources),
        )
    return tuple(source for source in _SOURCES if source in named)


def search(scopes: tuple[Scope, ...], query: str, limit: int, sources: tuple[SourceName, ...], conditions: Conditions) -> Answer[AnyHit]:
    """Asks every source for `limit` hits, in one order. `scopes`: the one that was asked, and those searched along with it."""
    own = scopes[0]
    vector, why = own._store.query_vector(query, own)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    found = own._core.search(  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        scopes,
        query,
        list(sources),
        vector,
        why,
        {"limit": limit, **conditions.__dict__},
    )
    return Answer(found)
