"""`memspan.compact`: a conversation becomes a summary and its newest messages, without a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memspan import _core
from memspan._fence import guarded
from memspan._flags import check_messages
from memspan.compaction.values import Summary, summary_of
from memspan.compaction.writing import check_writer, write
from memspan.exceptions import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memspan.compaction.writing import Writer

__all__ = ["compact"]


@guarded
def compact(
    messages: Iterable[Any],
    previous: Summary | None = None,
    *,
    llm: Writer | None = None,
    model: str = "gpt-4o",
    max_tokens: int = 1_000,
    keep_exchanges: int = 3,
    timeout_seconds: float | None = None,
) -> Summary:
    """Compacts a conversation: no store, no session.

    Rolling: give the summary before and the messages since; `previous.recent` are compacted with them, so each message is given once.
    Without `llm` it is deterministic: the same input gives the same bytes in every process. A model's lines are held against the
    messages, and where it fails the rules do it alone.

    Cost: linear in the messages that are given, about 1 ms per 3,000 tokens.

    Args:
        messages: Messages of OpenAI's or Anthropic's shape. They are not changed. Leading system messages are left out.
        previous: The summary of what was said before.
        llm: Writes the summary: a function `(messages, *, max_tokens) -> str`, synchronous or not. Two calls at most per 24,000 tokens.
        model: Whose tokens are counted.
        max_tokens: The most that `Summary.text` may have.
        keep_exchanges: Newest exchanges that stay as they are, in `Summary.recent`.
        timeout_seconds: For each call of `llm`; 120 by default.

    Returns:
        The summary; `messages()` of it is what to send.

    Raises:
        InvalidInput: A message is not of a shape that a provider takes, or an argument breaks its rule.
        UnknownModel: The model is not in the registry.

    Examples:
        >>> talk = [{"role": "user", "content": f"Deploy build-{n} before Friday."} for n in range(9)]
        >>> summary = memspan.compact(talk, max_tokens=200)
        >>> "build-0" in summary.text, len(summary.recent), summary.messages()[0]["role"]
        (True, 3, 'system')
        >>> memspan.compact([{"role": "user", "content": "Thanks!"}], previous=summary, max_tokens=200).covers
        range(0, 7)
    """
    if previous is not None and not isinstance(previous, Summary):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(
            f"compacting: previous must be a memspan.Summary, got a {type(previous).__name__} (previous=): pass what compact() returned"
        )
    check_messages("compacting", messages)
    check_writer(llm, timeout_seconds)
    given = (*(() if previous is None else previous.recent), *messages)
    before = None if previous is None else previous.to_json()
    draft, end = _core.compaction_draft(given, model, before, keep_exchanges, max_tokens)
    write(draft, llm, timeout_seconds)
    return summary_of(draft.make().summary, model, given[end:])
