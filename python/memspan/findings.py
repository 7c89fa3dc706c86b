"""One question to several sources: `Findings`, which `Scope.recall(over=...)` returns.

Scores of one source compare its own answers with each other. So each is weighed by how sure its source is that its best answer is one
(`Recall.confidence` and its like), and what the weighed scores say is the order of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from memspan.exceptions import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import tzinfo

    from memspan._core import Explanation, Recalled
    from memspan.collection import Collection, Passage
    from memspan.long_term import Scope
    from memspan.transcript import TranscriptHit

__all__ = ["Conditions", "Finding", "Findings", "Over", "checked_sources", "findings"]

Over: TypeAlias = Literal["memories", "transcripts", "collections"]
"""What can be searched: what was remembered, what was said, what was written."""

_SOURCES: tuple[Over, ...] = ("memories", "transcripts", "collections")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that was found, whatever it is.

    Attributes:
        source: "memories", "transcripts" or "collections".
        hit: The memory, message or passage, as its own search gives it.
        score: From 0 to 1: the hit's own score, weighed by how sure its source is. It is what `Findings` are ordered by.
        text: The text that was found.
    """

    source: Over
    hit: Recalled | TranscriptHit | Passage
    score: float
    text: str = field(repr=False)

    @property
    def tokens(self) -> int:
        """Tokens of the text (`o200k_base`)."""
        from memspan.counting import count_tokens  # noqa: PLC0415  what few calls need

        return count_tokens(self.text)

    def explain(self) -> Explanation | dict[str, float]:
        """What the hit's own score is made of."""
        return self.hit.explain()


class Findings(Sequence[Finding]):
    """Answers of several sources, the best first. Frozen.

    Attributes:
        confidence: From 0 to 1: that of the source that is most sure.
        degraded_reason: Why a source was searched without vectors that it has; `None` where none was.

    Examples:
        >>> _ = user.remember("payments-api listens on port 8443")
        >>> _ = user.session("s-1", model="gpt-4o").add({"role": "user", "content": "Who owns payments-api? Ada does."})
        >>> found = user.recall("who owns payments-api?", over=("memories", "transcripts"))
        >>> found[0].source, found[0].text
        ('transcripts', 'Who owns payments-api? Ada does.')
    """

    __slots__ = ("_found", "confidence", "degraded_reason")

    def __init__(self, found: Iterable[Finding], confidence: float, degraded_reason: str | None) -> None:
        self._found = tuple(found)
        self.confidence = confidence
        self.degraded_reason = degraded_reason

    @property
    def degraded(self) -> bool:
        """Whether a source was searched without vectors that it has."""
        return self.degraded_reason is not None

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Finding, ...]: ...
    def __getitem__(self, index: int | slice) -> Finding | tuple[Finding, ...]:
        return self._found[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Findings) and self._found == other._found

    def __hash__(self) -> int:
        return hash(tuple(one.text for one in self._found))

    def __repr__(self) -> str:
        best = f", best={self._found[0]!r}" if self._found else ""
        return f"Findings({len(self)} of {sorted({one.source for one in self._found})}, confidence={self.confidence:.3f}{best})"


@dataclass(frozen=True, slots=True)
class Conditions:
    """What holds for every source."""

    where: Mapping[str, Any] | None
    min_score: float | None
    max_tokens: int | None
    timezone: tzinfo | str | None
    of_memories: Mapping[str, object]


def checked_sources(over: Sequence[str]) -> tuple[Over, ...]:
    """The sources, in our order, each once."""
    named: tuple[object, ...] = (over,) if isinstance(over, str) or not isinstance(over, Iterable) else tuple(over)  # pyright: ignore[reportUnnecessaryIsInstance]  callers without types
    unknown = [one for one in named if one not in _SOURCES]
    if unknown or not named:
        raise InvalidInput(
            f"recalling: over= names one or more of {', '.join(map(repr, _SOURCES))}, got {over!r}: name what is to be searched",
            over=repr(over),
        )
    return tuple(source for source in _SOURCES if source in named)


def findings(scopes: Sequence[Scope], query: str, limit: int, sources: tuple[Over, ...], conditions: Conditions) -> Findings:
    """Asks every source for as many answers as are wanted, and puts them into one order. `scopes`: the one asked, and those along."""
    _check(scopes, sources, conditions)
    answers: list[_Answer] = []
    if "memories" in sources:
        answers.append(_memories(scopes, query, limit, conditions))
    if "transcripts" in sources:
        answers += [_said(scope, query, limit) for scope in scopes]
    if "collections" in sources:
        answers += [_written(one, query, limit, conditions) for scope in scopes for one in scope.collections()]
    # Sorting is stable: of equals the source that comes first.
    found = sorted((one for answer in answers for one in answer.found), key=lambda one: -one.score)[:limit]
    degraded = next((answer.degraded for answer in answers if answer.degraded is not None), None)
    return Findings(_fitting(found, conditions), max((answer.confidence for answer in answers), default=0.0), degraded)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What one source says."""

    found: list[Finding]
    confidence: float
    degraded: str | None = None


def _check(scopes: Sequence[Scope], sources: tuple[Over, ...], conditions: Conditions) -> None:
    given = sorted(name for name, value in conditions.of_memories.items() if value is not None)
    if given:
        raise InvalidInput(
            f"recalling: {', '.join(given)} are conditions of memories, and over= is {sources!r}: leave them out, or search memories alone",
            given=", ".join(given),
        )
    # An empty question finds nothing, and what cannot be is refused as it always is.
    own, *along = scopes
    one = conditions
    own.recall("", 0, where=one.where, min_score=one.min_score, max_tokens=one.max_tokens, timezone=one.timezone, also=along)


def _memories(scopes: Sequence[Scope], query: str, limit: int, conditions: Conditions) -> _Answer:
    own, *along = scopes
    recall = own.recall(query, limit, where=conditions.where, timezone=conditions.timezone, also=along)
    found = [Finding("memories", hit, hit.score * recall.confidence, hit.memory.text) for hit in recall]
    return _Answer(found, recall.confidence, recall.degraded_reason)


def _said(scope: Scope, query: str, limit: int) -> _Answer:
    said = scope.search_transcripts(query, limit)
    found = [Finding("transcripts", hit, hit.score / said[0].score * said[0].confidence, hit.text) for hit in said]
    return _Answer(found, said[0].confidence if said else 0.0)


def _written(collection: Collection, query: str, limit: int, conditions: Conditions) -> _Answer:
    passages = collection.search(query, limit, where=conditions.where)
    found = [Finding("collections", hit, hit.score * passages.confidence, hit.text) for hit in passages]
    return _Answer(found, passages.confidence, passages.degraded_reason)


def _fitting(found: Iterable[Finding], conditions: Conditions) -> Iterator[Finding]:
    left = conditions.max_tokens
    for one in found:
        if one.score < (conditions.min_score or 0.0):
            return
        if left is not None:
            left -= one.tokens
            if left < 0:
                return
        yield one
