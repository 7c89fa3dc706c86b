"""Long tool results that the caller summarises: what prompts show of them instead of their beginning and their end.

The result is stored whole, and the summary is held against it: one that names an identifier, a number, a day, a name or a quotation that
the result lacks is not shown, nor one that is too long, empty or late. The beginning and the end are shown then, and `on_event` is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memspan import _core
from memspan.compaction.writing import WriterError, asked

if TYPE_CHECKING:
    from collections.abc import Callable

    from memspan.short_term import NewMessage
    from memspan.working import ToolResults

__all__ = ["shortened"]

TIMEOUT_SECONDS = 60.0
"""For each result."""


def shortened(core: _core.SessionCore, row: NewMessage, rule: ToolResults, report: Callable[[str], None]) -> list[tuple[int, str]]:
    """The summaries of a message's long results that may be shown, by their places."""
    short: list[tuple[int, str]] = []
    for place, text in core.long_results(row):
        try:
            short.append((place, _summary(rule, text)))
        except WriterError as error:
            report(f"summarising a tool result of {len(text):,} characters: {error}: its beginning and end are shown")
    return short


def _summary(rule: ToolResults, text: str) -> str:
    summarise: Any = rule.summarise
    told = asked(summarise, lambda: summarise(text, max_tokens=rule.max_tokens), TIMEOUT_SECONDS).strip()
    if not told:
        raise WriterError("the summary is empty")
    unsaid = _core.unsaid(told, text)
    if unsaid is not None:
        raise WriterError(unsaid.replace("its messages", "the result"))
    return told
