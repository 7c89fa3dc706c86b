"""Summaries of sessions, searched by what they were made of.

A line of a summary names its messages, and these are in the index of the transcripts. Messages near to a question are found there, and the
lines that stand for them are shown. Nothing is stored twice, so a redaction reaches this search as it reaches the transcript.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memspan.exceptions import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspan.compaction.values import Summary, SummaryLine
    from memspan.long_term import Scope

__all__ = ["SessionSummary", "summaries"]

_HITS = 100
_NEAR = 0.5
"""The share of the best message's score that a message must reach: one below it is about something else."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """The newest summary of a session.

    Attributes:
        session_id: The session.
        summary: Its newest summary.
        lines: The lines that a question is near to, best first; without a question all of them.
        score: That of the best message behind them, 0 to 1; 0 without a question.
    """

    session_id: str
    summary: Summary
    lines: tuple[SummaryLine, ...]
    score: float = 0.0


def summaries(scope: Scope, query: str | None, limit: int) -> tuple[SessionSummary, ...]:
    """The summaries of a scope's sessions: newest session first, or those that a question is near to, best first."""
    found = _newest(scope) if query is None else _near(scope, query)
    return tuple(one for one, _ in zip(found, range(limit), strict=False))


def _newest(scope: Scope) -> Iterator[SessionSummary]:
    for info in scope.sessions(newest_first=True):
        summary = _summary_of(scope, info.id)
        if summary is not None:
            yield SessionSummary(info.id, summary, tuple(line for section in summary.sections for line in section.lines))


def _near(scope: Scope, query: str) -> Iterator[SessionSummary]:
    hits = scope.search_transcripts(query, limit=_HITS)
    best = max((hit.score for hit in hits), default=0.0)
    sessions: dict[str, dict[int, float]] = {}
    for hit in hits:
        if hit.score >= _NEAR * best:
            sessions.setdefault(hit.session_id, {})[hit.message.index] = hit.score
    for session_id, scores in sessions.items():
        summary = _summary_of(scope, session_id)
        lines = [] if summary is None else _lines(summary, scores)
        if summary is not None and lines:
            yield SessionSummary(session_id, summary, tuple(line for _, line in lines), lines[0][0])


def _lines(summary: Summary, scores: dict[int, float]) -> list[tuple[float, SummaryLine]]:
    """The lines that come from messages with a score, best first."""
    rated = [
        (max((scores.get(index, 0.0) for index in line.messages), default=0.0), line) for part in summary.sections for line in part.lines
    ]
    return sorted((one for one in rated if one[0] > 0), key=lambda one: -one[0])


def _summary_of(scope: Scope, session_id: str) -> Summary | None:
    try:
        return scope.session(session_id).summary
    except NotFound:  # it was deleted since
        return None
