"""One question to several sources: `Scope.search`.

Scores of one source compare its own hits with each other. So each hit is weighed by how sure its source is that its best hit answers the
question (`Answer.confidence`), and the weighed scores order all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memspan._core import Recalled
from memspan._values import dataclass
from memspan.answer import Answer, Known, SourceName
from memspan.collection import Passage
from memspan.exceptions import InvalidInput
from memspan.transcript import TranscriptHit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import tzinfo

    from memspan.long_term import Scope

__all__ = ["AnyHit", "Conditions", "checked_sources", "search"]

AnyHit: TypeAlias = Recalled | TranscriptHit | Passage
"""A hit of any source."""

_SOURCES: tuple[SourceName, ...] = ("memories", "transcripts", "collections")


@dataclass(frozen=True)
class Conditions:
    """What limits every source alike."""

    where: Mapping[str, Any] | None
    min_score: float | None
    max_tokens: int | None
    relevant_only: bool
    timezone: tzinfo | str | None


def checked_sources(sources: Sequence[str]) -> tuple[SourceName, ...]:
    """The sources in the engine's order, each once."""
    one = isinstance(sources, str) or not isinstance(sources, Iterable)  # pyright: ignore[reportUnnecessaryIsInstance]  callers without types
    named: tuple[object, ...] = (sources,) if one else tuple(sources)
    unknown = [name for name in named if name not in _SOURCES]
    if unknown or not named:
        raise InvalidInput(
            f"searching: sources= names one or more of {', '.join(map(repr, _SOURCES))}, got {sources!r}: name what to search",
            sources=repr(sources),
        )
    return tuple(source for source in _SOURCES if source in named)


def search(scopes: Sequence[Scope], query: str, limit: int, sources: tuple[SourceName, ...], conditions: Conditions) -> Answer[AnyHit]:
    """Asks every source for `limit` hits and orders them. `scopes`: the one that was asked, and those searched along with it."""
    answers = list(_answers(scopes, query, limit, sources, conditions))
    weighed = ((hit.score / (answer[0].score or 1.0) * answer.confidence, hit) for answer in answers for hit in answer)
    # Sorting is stable: of equal scores the source that comes first in `_SOURCES`.
    ordered = sorted(weighed, key=lambda one: -one[0])[:limit]
    degraded = next((answer.degraded_reason for answer in answers if answer.degraded), None)
    mode: Literal["hybrid", "lexical"] = "hybrid" if any(answer.mode == "hybrid" for answer in answers) else "lexical"
    confidence = max((answer.confidence for answer in answers), default=0.0)
    return Answer(tuple(_fitting(ordered, conditions)), Known(confidence, degraded, mode))


def _answers(
    scopes: Sequence[Scope], query: str, limit: int, sources: tuple[SourceName, ...], conditions: Conditions
) -> Iterator[Answer[AnyHit]]:
    own, *along = scopes
    # Asked even where memories are not searched: it checks every argument.
    memories = own.recall(
        query if "memories" in sources else "",
        limit,
        where=conditions.where,
        min_score=conditions.min_score,
        max_tokens=conditions.max_tokens,
        relevant_only=conditions.relevant_only,
        timezone=conditions.timezone,
        also=along,
    )
    if "memories" in sources:
        shared = {"where": conditions.where, "relevant_only": conditions.relevant_only, "timezone": conditions.timezone}
        yield own.recall(query, limit, **shared, also=along) if memories else memories
    if "transcripts" in sources:
        yield from (scope.search_transcripts(query, limit) for scope in scopes)
    if "collections" in sources:
        yield from (
            one.search(query, limit, where=conditions.where, relevant_only=conditions.relevant_only)
            for scope in scopes
            for one in scope.collections()
        )


def _fitting(ordered: Iterable[tuple[float, AnyHit]], conditions: Conditions) -> Iterator[AnyHit]:
    left = conditions.max_tokens
    for score, hit in ordered:
        if score < (conditions.min_score or 0.0):
            return
        if left is not None:
            left -= hit.tokens
            if left < 0:
                return
        yield hit.weighed(score)
