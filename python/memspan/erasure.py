"""Permanent removal: how long things are kept (`Retention`), and the receipt of `Scope.erase`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from memspan._core import Limits, ScopeCore
from memspan._fence import fenced, is_mapping, is_number, keep_plain, plain_number
from memspan._flags import shown
from memspan._records import ErasedCounts
from memspan._values import dataclass, field
from memspan.exceptions import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memspan.long_term import Scope

__all__ = ["ErasureReceipt", "Retention", "delete_old", "receipt"]

_KINDS = ("episodic", "semantic", "preference", "decision", "constraint", "task_outcome", "profile")


@fenced
@dataclass(frozen=True)
class Retention:
    """How long things are kept, no matter who wrote them. `Engine.maintain(retention=...)` deletes older ones.

    `KindRule.ttl_days` says at the write when a memory ends; this is applied to what is there, whenever it was written.

    Attributes:
        sessions_days: Sessions to which nothing was added for this many days are deleted, with their ledgers and notes. `None` keeps them.
        kinds: Memories of a kind are forgotten, with their history, once their newest revision is this many days old:
            `{"episodic": 90}`. A value that was superseded is forgotten this many days after that, and a memory that waits for
            approval this many days after it came. Kinds that are not named are kept.

    Ages are those of the clock. A record that was written while the clock was ahead is as old as the next one in its scope, or as the first
    maintenance with a retention that met it.

    Examples:
        >>> engine.maintain(retention=memspan.Retention(sessions_days=365, kinds={"episodic": 90})).sessions_deleted
        0
    """

    sessions_days: float | None = None
    kinds: Mapping[str, float] = field(default_factory=dict[str, float])

    def __post_init__(self) -> None:
        if not is_mapping(self.kinds) or not set(self.kinds) <= set(_KINDS):
            raise InvalidInput(
                f"making a Retention: kinds must map kinds to days, with kinds of {', '.join(_KINDS)}, and it is "
                f"{shown(self.kinds)}: change it"
            )
        named = [] if self.sessions_days is None else [("sessions_days", self.sessions_days)]
        for name, days in (*named, *self.kinds.items()):
            if not (is_number(days) and 0 <= days <= Limits.MAX_DAYS):
                raise InvalidInput(
                    f"making a Retention: {name} must be 0 to {Limits.MAX_DAYS:,.0f} days, and it is {shown(days)}: change it"
                )
        keep_plain(self, "sessions_days")
        object.__setattr__(self, "kinds", {kind: plain_number(days) for kind, days in self.kinds.items()})


def delete_old(scopes: Iterable[Scope], retention: Retention, now: datetime) -> tuple[int, int]:
    """Deletes what is older than its retention; how many sessions, and how many memories."""
    sessions = memories = 0
    for scope in scopes:
        core = scope._core  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        if retention.sessions_days is not None:
            sessions += core.delete_old_sessions(_before(now, retention.sessions_days))
        for kind, days in retention.kinds.items():
            memories += core.forget_old(ScopeCore.kind_bits(kind), _before(now, days))
    return sessions, memories


def _before(now: datetime, days: float) -> datetime:
    """So many days before; the first moment that there is where that would be before it."""
    try:
        return now - timedelta(days=days)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class ErasureReceipt(ErasedCounts):
    """The counts of an erased scope. They name nobody, so they may be kept where the scope's name may not.

    Attributes:
        memories: Current memories.
        revisions: Revisions that were no longer current, and the tombstones of forgotten memories.
        messages: Messages of its sessions.
        documents: Documents of its collections.
        ledger_entries: Calls of models, with what they were sent.
        terms: Values of its indexes of words.
        vectors: Vectors of memories and chunks, and blocks of vectors of messages.
        values: All values of the store that were its own.
        bytes_checked: Bytes of the rewritten store that were read afterwards, and in which nothing of it was met.
        reason: Why, as the caller said it; it is stored nowhere else.
        digest: SHA-256 of these fields, in hexadecimal.
    """

    reason: str | None
    digest: str


def receipt(erased: ErasedCounts, reason: str | None) -> ErasureReceipt:
    """The receipt of an erasure."""
    import hashlib  # noqa: PLC0415  what few calls need is not paid for at import

    digest = hashlib.sha256(repr((tuple(vars(erased).values()), reason)).encode("utf-8", "replace")).hexdigest()
    return ErasureReceipt(**vars(erased), reason=reason, digest=digest)
