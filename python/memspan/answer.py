"""Answers to a question: one shape, whatever was searched.

`Scope.recall`, `Scope.search_transcripts`, `Collection.search` and `Scope.search` all return an `Answer`: a frozen sequence of hits, best
first. Every hit is a `Hit`; it also has a field of its own: `Recalled.memory`, `TranscriptHit.message`, `Passage.document`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias, TypeVar, overload, runtime_checkable

if TYPE_CHECKING:
    from memspan._results import Explanation

__all__ = ["About", "Answer", "Hit", "SourceName"]

SourceName: TypeAlias = Literal["memories", "transcripts", "collections"]
"""The sources of a search: long-term memories, messages of sessions, documents of collections."""


@runtime_checkable
class Hit(Protocol):
    """The fields that every hit has.

    Attributes:
        text: The text that was found.
        score: 0 to 1: how the hit compares with the other hits of its answer. Scores of different questions do not compare.
        tokens: Tokens of the text, counted with `o200k_base` when read.
        source: "memories", "transcripts" or "collections".
    """

    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def score(self) -> float: ...  # noqa: D102
    @property
    def tokens(self) -> int: ...  # noqa: D102
    @property
    def source(self) -> SourceName: ...  # noqa: D102
    def explain(self) -> Explanation:
        """Every number behind the score."""
        ...


_HitT_co = TypeVar("_HitT_co", bound=Hit, covariant=True)


class About(Protocol):
    """The facts about an answer, and its hits. Each hit is made when it is asked for."""

    @property
    def hits(self) -> Sequence[Any]: ...  # noqa: D102
    @property
    def confidence(self) -> float: ...  # noqa: D102
    @property
    def degraded_reason(self) -> str | None: ...  # noqa: D102
    @property
    def mode(self) -> Literal["hybrid", "lexical"]: ...  # noqa: D102


class Answer(Sequence[_HitT_co], Generic[_HitT_co]):
    """The hits of a question, best first. Frozen. A slice of it is an answer too.

    Examples:
        >>> _ = user.remember_many(["payments-api listens on port 8443", "Prefers tea"])
        >>> answer = user.recall("payments-api port")
        >>> answer[0].text, answer.degraded, answer.mode
        ('payments-api listens on port 8443', False, 'hybrid')
    """

    __slots__ = ("_about", "_part")

    def __init__(self, about: About, part: Sequence[_HitT_co] | None = None) -> None:
        self._about = about
        self._part = part

    @property
    def _hits(self) -> Sequence[_HitT_co]:
        return self._about.hits if self._part is None else self._part

    @property
    def best(self) -> _HitT_co | None:
        """The first hit; `None` where there is none."""
        return self._hits[0] if self._hits else None

    @property
    def confidence(self) -> float:
        """0 to 1: how sure the engine is that the best hit answers the question; 0 without a hit. It is not a probability."""
        return self._about.confidence

    @property
    def degraded(self) -> bool:
        """Whether vectors that could have been used were missing."""
        return self._about.degraded_reason is not None

    @property
    def degraded_reason(self) -> str | None:
        """Why they were missing."""
        return self._about.degraded_reason

    @property
    def mode(self) -> Literal["hybrid", "lexical"]:
        """"hybrid" where words and vectors were searched, "lexical" where words alone."""  # fmt: skip
        return self._about.mode

    def explain(self) -> tuple[Explanation, ...]:
        """The explanation of every hit, in order. Cost: each text is analysed again."""
        return tuple(hit.explain() for hit in self._hits)

    def __len__(self) -> int:
        return len(self._hits)

    @overload
    def __getitem__(self, index: int) -> _HitT_co: ...
    @overload
    def __getitem__(self, index: slice) -> Answer[_HitT_co]: ...
    def __getitem__(self, index: int | slice) -> _HitT_co | Answer[_HitT_co]:
        return Answer(self._about, self._hits[index]) if isinstance(index, slice) else self._hits[index]

    def __iter__(self) -> Iterator[_HitT_co]:
        return iter(self._hits)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Answer):
            return NotImplemented
        theirs: Answer[Any] = other  # pyright: ignore[reportUnknownVariableType]
        return self.degraded == theirs.degraded and list(self._hits) == list(theirs._hits)

    def __hash__(self) -> int:
        return hash(tuple(hit.text for hit in self._hits))

    def __repr__(self) -> str:
        best = f", best={self.best!r}" if self._hits else ""
        degraded = f", degraded={self.degraded_reason!r}" if self.degraded else ""
        return f"Answer({len(self)} hits, {self.mode}, confidence={self.confidence:.3f}{degraded}{best})"
