"""What `Scope.erase` gives back: how much there was of each kind, and a digest to be kept with the request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspan._values import dataclass

if TYPE_CHECKING:
    from memspan._core import ErasedCounts

__all__ = ["ErasureReceipt", "receipt"]


@dataclass(frozen=True)
class ErasureReceipt:
    """What was erased of a scope. It names nobody: it may be kept where the scope's name may not.

    Attributes:
        memories: Current memories.
        revisions: Revisions that were not current any more, and what was left of forgotten memories.
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

    memories: int
    revisions: int
    messages: int
    documents: int
    ledger_entries: int
    terms: int
    vectors: int
    values: int
    bytes_checked: int
    reason: str | None
    digest: str


def receipt(erased: ErasedCounts, reason: str | None) -> ErasureReceipt:
    """The receipt of an erasure."""
    import hashlib  # noqa: PLC0415  what few calls need is not paid for at import

    counts: tuple[int, ...] = erased.__reduce__()[1]
    digest = hashlib.sha256(repr((counts, reason)).encode("utf-8", "replace")).hexdigest()
    return ErasureReceipt(*counts, reason=reason, digest=digest)
