"""Facts that should outlive a session go to memory before its messages leave the prompts.

Learning is `Scope.learn`: it reads the messages since the last time, so a repeated flush adds nothing. A function of the caller's may do
it instead; its memories get ids from the session and their texts, for the same reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from memspan._core import Limits
from memspan._fence import is_mapping, kind_of
from memspan.exceptions import InvalidInput

if TYPE_CHECKING:
    from memspan import _core
    from memspan.short_term import Session

__all__ = ["Flush", "check_flush", "flush"]

_MOST_ID = Limits.MAX_NAME_BYTES - 17
"""What leaves room for the digest of a memory."""

Flush: TypeAlias = bool | Callable[[tuple[tuple[int, str, str], ...]], Iterable[str | Mapping[str, Any]] | None] | None
"""Whether `Scope.learn` reads the session first. `None` leaves it to the policy, and a function learns by itself."""


def check_flush(learn: Flush) -> None:
    """Refuses what is no way to learn, whether or not there is something to learn from.

    Raises:
        InvalidInput: `learn` is neither a bool nor a function.
    """
    if not (learn is None or isinstance(learn, bool) or callable(learn)):
        raise InvalidInput(
            f"compacting: learn must be True, False, or a function of the messages that leave, got {kind_of(learn)} (learn=): pass one"
        )


def flush(session: Session, draft: _core.CompactionDraft | None, learn: Flush, *, policy: str) -> int:
    """Learns from a session before a compaction; how many memories that stored."""
    if learn is None:
        learn = policy == "compaction"
    if learn is True:
        return len(session.scope.learn(session).stored)
    if learn is False or draft is None:
        return 0
    messages = draft.messages()
    rows = learn(tuple((one.index, one.role, one.text) for one in messages))
    if rows is None:
        return 0
    if isinstance(rows, str | bytes | Mapping):
        raise InvalidInput(f"compacting: learn must return several memories, got one {kind_of(rows)} (learn=): return a list")  # pyright: ignore[reportUnknownArgumentType]  it asks for its type alone
    first = f"{session.id}#{messages[0].id or messages[0].index}" if messages else session.id
    if len(first.encode()) > _MOST_ID:
        first = _digest(first)
    named = [_memory_row(row, first) for row in rows]
    session.scope.remember_many(named)
    return len(named)


def _memory_row(row: Any, first: str) -> Any:
    """A memory of a flush; without an id it gets one of the first message and of its text, so that a second flush adds nothing."""
    fields: Any = {"text": row} if isinstance(row, str) else row
    if not is_mapping(fields) or fields.get("id") is not None:
        return fields
    return {**fields, "id": f"{first}/{_digest(str(fields.get('text')))[:16]}"}


def _digest(text: str) -> str:
    from hashlib import sha256  # noqa: PLC0415  few programs flush

    return sha256(text.encode("utf-8", "replace")).hexdigest()
