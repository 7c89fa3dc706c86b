"""The reports of calls to the engine: builds, imports, maintenance, embedding again, checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

from memspan._values import dataclass

if TYPE_CHECKING:
    from memspan.exceptions import Error

__all__ = ["BuildInfo", "CheckReport", "ImportReport", "MaintenanceReport", "ReembedReport"]


class BuildInfo(TypedDict):
    """The build, and the machine it runs on.

    Attributes:
        version: Of memspan.
        profile: "release"; "debug", which is several times slower; or "proof", the debug build of the project's own CI.
        target: Processor and system.
        kernel: The code that compares vectors on this processor.
        abi3: Whether one build serves every Python from 3.11 on.
        format: The newest store format that it reads and writes.
    """

    version: str
    profile: Literal["release", "debug", "proof"]
    target: str
    kernel: str
    abi3: bool
    format: int


@dataclass(frozen=True)
class ImportReport:
    """The results of the rows of `Engine.remember_many`.

    Attributes:
        rows: How many there were.
        added: New memories.
        superseded: New memories that took the slot of an older one.
        duplicates: Rows that were there already.
        rejected: Rows whose id belongs to a forgotten memory, and those that the policy refuses.
        errors: Of the rows that could not be written: index, id if it has one, error. Empty with `on_error="raise"`.
        chunks: Transactions.
        redacted: New memories without what the policy takes out.
        quarantined: Rows that wait for `Scope.approve`: of an untrusted source, and of a kind that every prompt begins with.
        refused: Of the rejected rows: index, id if it has one, reason.
    """

    rows: int
    added: int
    superseded: int
    duplicates: int
    rejected: int
    errors: tuple[tuple[int, str | None, Error], ...]
    chunks: int
    redacted: int = 0
    quarantined: int = 0
    refused: tuple[tuple[int, str | None, str], ...] = ()


@dataclass(frozen=True)
class MaintenanceReport:
    """The report of `Engine.maintain`.

    Attributes:
        expired: Memories forgotten, current and superseded ones, and documents removed, because their time to live was over.
        vectors_made: Vectors made for memories and chunks that had none.
        vectors_pending: Memories and chunks that still have none of the engine's embedding, because the embedder failed; 0 without an
            embedder.
        recalls_stored: Memories whose buffered recalls were made durable.
        sessions_removed: Sessions cleared away that an interrupted delete or fork had left.
        compacted: Whether the store was rewritten.
        file_bytes: Bytes of the data file afterwards.
        collections_swept: Unfinished versions of documents, and remains of dropped collections, that were cleared away.
        graphs_built: Scopes and collections whose graph over vectors was built, or built anew.
        over_cap: Memories forgotten because their kind has more in a scope than its `KindRule` allows: the least valuable.
        sessions_deleted: Sessions deleted because their `Retention` was over.
        memories_forgotten: Memories forgotten for the same reason.
    """

    expired: int
    vectors_made: int
    vectors_pending: int
    recalls_stored: int
    sessions_removed: int
    compacted: bool
    file_bytes: int
    collections_swept: int = 0
    graphs_built: int = 0
    over_cap: int = 0
    sessions_deleted: int = 0
    memories_forgotten: int = 0


@dataclass(frozen=True)
class ReembedReport:
    """The report of `Engine.reembed`.

    Attributes:
        made: Vectors made.
        missing: Memories that still have none of this embedding: the embedder returned no usable vector of their text, or they were
            written meanwhile.
    """

    made: int
    missing: int


@dataclass(frozen=True)
class CheckReport:
    """The report of `Engine.check`: the values that it read, and its findings.

    Attributes:
        values: Values whose checksum was compared.
        scopes: Scopes.
        memories: Current memories.
        ended: Revisions that are no longer current, and the tombstones of forgotten memories.
        postings: Terms and keys of the index.
        vectors: Vectors.
        documents: Documents of collections.
        chunks: Their chunks.
        findings: The contradictions, one sentence each; empty for a sound store.
    """

    values: int
    scopes: int
    memories: int
    ended: int
    postings: int
    vectors: int
    documents: int
    chunks: int
    findings: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing was found."""
        return not self.findings
